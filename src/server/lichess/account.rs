//! Accounts in lichess' form.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::json;

use super::{LichessProblem, Reply, ok};
use crate::server::accounts::{self, by_name, by_token, is_bot, is_closed};
use crate::server::api::accounts::no_user;
use crate::server::api::guard::Caller;
use crate::server::core::TokenHash;
use crate::server::limit::Cost;
use crate::server::problem::Problem;
use crate::server::store::Store;
use crate::server::web::Web;

/// The account whose token a request sends. A request without one is refused in lichess' form.
#[derive(Debug, Clone)]
pub(super) struct Account(pub(super) accounts::Account);

impl std::ops::Deref for Account {
    type Target = accounts::Account;

    fn deref(&self) -> &accounts::Account {
        &self.0
    }
}

impl FromRequestParts<Web> for Account {
    type Rejection = LichessProblem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, LichessProblem> {
        Ok(Self(accounts::Account::from_request_parts(parts, web).await?))
    }
}

/// The code of the problem that an account is closed.
pub(super) const CLOSED: &str = "account_closed";

/// The account of a name, or the problem that there is none, or that it is closed.
pub(super) async fn find(web: &Web, name: &str) -> Result<Account, Problem> {
    let name = name.to_owned();
    let look = move |store: &mut dyn Store| {
        let account = by_name(store, &name)?.ok_or_else(|| no_user(&name))?;
        if is_closed(store, &account.id())? {
            let message = format!("the account {} is closed", account.name);
            return Err(Problem::conflict(CLOSED, message));
        }
        Ok(Account(account))
    };
    web.host.reads().request(look).await
}

pub(super) async fn show(web: Web, account: Account) -> Reply {
    let title = title(&web, &account.id()).await?;
    Ok(Json(json!({ "id": account.id(), "username": account.name, "title": title, "perfs": {} })))
}

/// `BOT` for accounts that are marked as played by a program.
pub(super) async fn title(web: &Web, id: &str) -> Result<Option<&'static str>, Problem> {
    let id = id.to_owned();
    Ok(web.host.reads().ask(move |store| is_bot(store, &id)).await?.then_some("BOT"))
}

/// Marks an account as played by a program, permanently.
pub(super) async fn upgrade(web: Web, account: Account) -> Reply {
    web.mark_as_bot(&account).await?;
    Ok(ok())
}

/// Maximum number of tokens of one request: as on lichess.
const TOKENS: usize = 1000;
/// Maximum number of bytes of such a request. A token has 68, and a comma after it.
pub(super) const TOKENS_BODY: usize = 80 * TOKENS;

/// The accounts of comma-separated tokens.
pub(super) async fn test_tokens(web: Web, caller: Caller, body: String) -> Reply {
    // Each token is looked up, so a request is as dear as one that compiles rules.
    web.admit(&caller, Cost::Compiling)?;
    let tokens: Vec<&str> = body.split(',').map(str::trim).collect();
    if tokens.len() > TOKENS {
        let message = format!("{} tokens; {TOKENS} at a time at most", tokens.len());
        return Err(Problem::bad("too_many_tokens", message).into());
    }
    let hashes: Vec<TokenHash> = tokens.iter().map(|it| TokenHash::of(it)).collect();
    let look = move |store: &mut dyn Store| {
        let id = |hash: &TokenHash| Ok(by_token(store, hash)?.map(|it| it.id()));
        hashes.iter().map(id).collect::<Result<Vec<_>, _>>()
    };
    let ids = web.host.reads().ask(look).await?;
    let scopes = "board:play,bot:play,challenge:read,challenge:write";
    let account = |id: String| json!({ "userId": id, "scopes": scopes, "expires": null });
    let found = tokens.iter().zip(ids);
    Ok(Json(found.map(|(token, it)| ((*token).to_owned(), json!(it.map(account)))).collect()))
}
