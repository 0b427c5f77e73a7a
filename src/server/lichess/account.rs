//! Accounts: a name and a token. The store keeps the name and the token's hash.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{Plain, ok};
use crate::server::ProblemBody;
use crate::server::api::Web;
use crate::server::api::extract::Body;
use crate::server::api::guard::Caller;
use crate::server::core::TokenHash;
use crate::server::host::new_token;
use crate::server::limit::Cost;
use crate::server::problem::Problem;

/// The holder of an account.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) token: TokenHash,
}

impl Account {
    /// What lichess calls the id of a user.
    pub(super) fn id(&self) -> String {
        self.name.to_ascii_lowercase()
    }
}

impl FromRequestParts<Web> for Account {
    type Rejection = Plain;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Plain> {
        let header = parts.headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
        let token = header.and_then(|it| it.strip_prefix("Bearer ")).map(str::trim);
        let missing = "this needs an account's token: send it as `Authorization: Bearer TOKEN`";
        let none = || Problem::new(StatusCode::UNAUTHORIZED, "token_missing", missing);
        let hash = TokenHash::of(token.ok_or_else(none)?);
        let wrong = || Problem::new(StatusCode::UNAUTHORIZED, "token_wrong", "no such token");
        let name = name_of(web, &hash).await?.ok_or_else(wrong)?;
        Ok(Self { name, token: hash })
    }
}

fn account_key(token: &TokenHash) -> String {
    format!("account-{}", token.text())
}

/// Whose token it is.
pub(in crate::server) async fn name_of(
    web: &Web,
    token: &TokenHash,
) -> Result<Option<String>, Problem> {
    let key = account_key(token);
    Ok(web.host.reads().ask(move |store| store.text(&key)).await?)
}

/// The token of a user that exists.
pub(super) async fn find(web: &Web, name: &str) -> Result<Account, Problem> {
    let key = format!("user-{}", name.to_ascii_lowercase());
    let found = web.host.reads().ask(move |store| store.text(&key)).await?;
    let none = || Problem::new(StatusCode::NOT_FOUND, "no_such_user", format!("no user {name}"));
    let (name, hash) = found
        .as_deref()
        .and_then(|it| it.split_once(' '))
        .map(|(name, hash)| (name.to_owned(), hash.to_owned()))
        .ok_or_else(none)?;
    Ok(Account { name, token: TokenHash::from_text(hash) })
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::server) struct NewAccount {
    /// 2 to 20 letters, digits, `-` or `_`.
    name: String,
}

/// Makes an account for clients of lichess' API: its token is shown this once.
#[utoipa::path(post, path = "/api/v1/accounts", operation_id = "create_account", request_body = NewAccount, responses(
    (status = 201, description = "`name` and `token`", body = Value),
    (status = 409, description = "The name is taken", body = ProblemBody),
))]
pub(in crate::server) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Body(NewAccount { name }): Body<NewAccount>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let plain = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-');
    if !plain || !(2..=20).contains(&name.len()) {
        let message = "a name has 2 to 20 letters, digits, - or _";
        return Err(Problem::unprocessable("bad_name", message));
    }
    web.admit(&caller, Cost::Account)?;
    let token = new_token()?;
    let hash = TokenHash::of(&token);
    let (user, value) =
        (format!("user-{}", name.to_ascii_lowercase()), format!("{name} {}", hash.text()));
    let (key, kept) = (account_key(&hash), name.clone());
    let mine = web
        .host
        .reads()
        .ask(move |store| {
            // A text that is there stays: the first to ask has the name.
            store.put_texts(&[(&user, &value), (&key, &kept)])
        })
        .await?;
    if !mine {
        return Err(Problem::new(StatusCode::CONFLICT, "name_taken", "the name is taken"));
    }
    Ok((StatusCode::CREATED, Json(json!({ "name": name, "token": token }))))
}

pub(super) async fn show(State(web): State<Web>, account: Account) -> Result<Json<Value>, Plain> {
    let title = title(&web, &account.id()).await?;
    Ok(Json(json!({ "id": account.id(), "username": account.name, "title": title, "perfs": {} })))
}

fn bot_key(id: &str) -> String {
    format!("bot-{id}")
}

/// `BOT`, of accounts that said so of themselves.
pub(super) async fn title(web: &Web, id: &str) -> Result<Option<&'static str>, Problem> {
    let key = bot_key(id);
    Ok(web.host.reads().ask(move |store| store.text(&key)).await?.map(|_| "BOT"))
}

/// An account says that a program plays for it, for good.
pub(super) async fn upgrade(
    State(web): State<Web>,
    account: Account,
) -> Result<Json<Value>, Plain> {
    let (key, name) = (bot_key(&account.id()), account.name);
    web.host.reads().ask(move |store| store.put_text(&key, &name)).await?;
    Ok(ok())
}

/// Whose the tokens are, which come as text with commas between them: 1,000 at most, as on lichess.
pub(super) async fn test(State(web): State<Web>, body: String) -> Result<Json<Value>, Plain> {
    const MOST: usize = 1000;
    let tokens: Vec<&str> = body.split(',').map(str::trim).collect();
    if tokens.len() > MOST {
        let message = format!("{} tokens; {MOST} at a time at most", tokens.len());
        return Err(Problem::bad("too_many_tokens", message).into());
    }
    let hashes: Vec<TokenHash> = tokens.iter().map(|it| TokenHash::of(it)).collect();
    let keys: Vec<String> = hashes.iter().map(account_key).collect();
    let names = web
        .host
        .reads()
        .ask(move |store| keys.iter().map(|it| store.text(it)).collect::<Result<Vec<_>, _>>());
    let told = |name: Option<String>| {
        name.map(|it| {
            let scopes = "board:play,bot:play,challenge:read,challenge:write";
            json!({ "userId": it.to_ascii_lowercase(), "scopes": scopes, "expires": null })
        })
    };
    let found = tokens.iter().zip(names.await?);
    Ok(Json(found.map(|(token, name)| ((*token).to_owned(), json!(told(name)))).collect()))
}
