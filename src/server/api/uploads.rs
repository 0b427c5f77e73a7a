//! The list of uploaded rule sets of an account or a network, and removal from it.
//!
//! Deliberately absent: deleting the texts. A game keeps the rules that it was made with, for as long as
//! the store lasts.

use axum::Json;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Reply;
use super::extract::bearer;
use super::guard::Caller;
use crate::server::accounts::Account;
use crate::server::problem::Problem;
use crate::server::store::{Store, Upload};
use crate::server::web::Web;

/// Maximum number of rule sets of one owner.
pub(super) const RULE_SETS: usize = 20;

/// The endpoints of this file.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(remove))
}

/// The owner of rules that are kept: an account, if its token was sent, else the network that the
/// request comes from.
#[derive(Debug)]
pub(super) struct Owner(pub(super) String);

impl FromRequestParts<Web> for Owner {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        if bearer(parts).is_none() {
            let Ok(Caller(from)) = Caller::from_request_parts(parts, web).await;
            let from = from.map_or_else(|| "this machine".to_owned(), |it| it.to_string());
            return Ok(Self(format!("from {from}")));
        }
        Ok(Self(format!("account {}", Account::from_request_parts(parts, web).await?.id())))
    }
}

/// The rule sets that you keep, the oldest first: those of the account whose token is sent, else those
/// uploaded from your network without a token.
#[utoipa::path(get, path = "/api/v1/rules", operation_id = "list_rules", responses(
    (status = 200, description = "The rule sets that you keep, oldest first", body = Vec<Upload>),
    (status = 401, description = "The token is not that of an account", body = Problem),
))]
async fn list(web: Web, Owner(owner): Owner) -> Reply<Vec<Upload>> {
    Ok(Json(web.host.reads().ask(move |store| store.uploads(&owner)).await?))
}

/// Removes a rule set from the list of those that you keep, to make room for another. Games that were made
/// with it go on.
#[utoipa::path(delete, path = "/api/v1/rules/{rules}", operation_id = "remove_rules", params(("rules" = String, Path, description = "The id of a rule set")), responses(
    (status = 200, description = "It is removed from the list: `rules` is its id", body = Value),
    (status = 401, description = "The token is not that of an account", body = Problem),
    (status = 404, description = "It is not on your list", body = Problem),
))]
async fn remove(web: Web, Owner(owner): Owner, Path(rules): Path<String>) -> Reply<Value> {
    let remove = move |store: &mut dyn Store| {
        if store.drop_upload(&owner, &rules)? {
            return Ok(Json(json!({ "rules": rules })));
        }
        let message = "you keep no such rules: GET /api/v1/rules lists those that you do";
        Err(Problem::not_found("no_such_rules", message))
    };
    web.host.reads().request(remove).await
}

/// The problem that there is no room for another rule set.
pub(super) fn too_many() -> Problem {
    let message = format!(
        "you keep {RULE_SETS} rule sets, the maximum: make room with DELETE /api/v1/rules/ID"
    );
    Problem::conflict("too_many_rules", message)
}
