//! Pairing over HTTP, and the leaders of a rule set.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Reply;
use super::extract::{Body, Query};
use super::guard::Caller;
use crate::server::accounts::Account;
use crate::server::limit::Cost;
use crate::server::pairing::{Paired, Pairing};
use crate::server::problem::Problem;
use crate::server::rating::{self, Leader, RatedRules};
use crate::server::web::Web;

/// The endpoints of this file.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(pair)).routes(routes!(leaders))
}

/// Finds an opponent for a rated game: the account nearest in rating that waits for the same game. If there
/// is none, makes a listed game that waits for one. Ask again every few seconds to look further: the answer
/// is the same game, until an opponent is found.
#[utoipa::path(post, path = "/api/v1/pairings", operation_id = "pair", security(("account" = [])), request_body = Pairing, responses(
    (status = 200, description = "The game, and whether an opponent is there", body = Paired),
    (status = 409, description = "The account was made by an earlier version", body = Problem),
    (status = 422, description = "The game or its presets cannot be loaded, the game does not have two sides, or the clock is not valid", body = Problem),
))]
async fn pair(
    web: Web,
    caller: Caller,
    account: Account,
    Body(wanted): Body<Pairing>,
) -> Reply<Paired> {
    web.admit(&caller, Cost::Game)?;
    Ok(Json(web.pair(&account, wanted).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Leading {
    /// The rule set: a game and the presets on top of it, with spaces between them, written in any way.
    rules: String,
}

/// The best players of a rule set, the highest rating first; those whose rating is provisional are left out.
#[utoipa::path(get, path = "/api/v1/leaders", operation_id = "leaders", params(Leading), responses(
    (status = 200, description = "50 accounts at most", body = Vec<Leader>),
))]
async fn leaders(
    web: Web,
    caller: Caller,
    Query(Leading { rules }): Query<Leading>,
) -> Reply<Vec<Leader>> {
    let now = web.host.now();
    let rules = rule_set(&web, &caller, rules).await?;
    Ok(Json(web.host.reads().ask(move |store| rating::leaders(store, &rules, now)).await?))
}

/// The rule set of a name, however its presets are written. Rules that cannot be loaded have the name that is asked for.
async fn rule_set(web: &Web, caller: &Caller, name: String) -> Result<RatedRules, Problem> {
    let mut words = name.split(' ').map(str::to_owned);
    let (game, presets) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
    if presets.is_empty() {
        return Ok(RatedRules::named(name));
    }
    let own = web.host.library.own_hash();
    if web.host.library.known(&own, &game, &presets).is_none() {
        web.admit(caller, Cost::Compiling)?;
    }
    match web.host.rated_rules(&own, &game, &presets).await {
        Err(problem) if problem.status.is_server_error() => Err(problem),
        Err(_) => Ok(RatedRules::named(name)),
        found => found,
    }
}
