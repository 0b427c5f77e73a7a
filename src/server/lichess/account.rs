//! Accounts: a name and a token. The store keeps the name and the token's hash.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Plain;
use crate::server::ProblemBody;
use crate::server::api::Web;
use crate::server::api::extract::Body;
use crate::server::api::guard::Caller;
use crate::server::core::TokenHash;
use crate::server::host::new_token;
use crate::server::limit::Cost;
use crate::server::problem::Problem;

/// Somebody with an account.
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

/// Whose token it is.
pub(in crate::server) async fn name_of(
    web: &Web,
    token: &TokenHash,
) -> Result<Option<String>, Problem> {
    let key = format!("account-{}", token.text());
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
    let (key, kept) = (format!("account-{}", hash.text()), name.clone());
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

pub(super) async fn show(account: Account) -> Json<Value> {
    Json(json!({ "id": account.id(), "username": account.name, "perfs": {} }))
}
