//! Tournaments over HTTP: making, viewing, joining, leaving and ending one.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::extract::{Body, Query};
use super::guard::Caller;
use crate::server::ProblemBody;
use crate::server::accounts::Account;
use crate::server::limit::Cost;
use crate::server::problem::Problem;
use crate::server::tournament::table::Counted;
use crate::server::tournament::{Listed, NewTournament, Tournament};
use crate::server::web::Web;

/// Number of games in an answer unless another is asked for, and the maximum.
const PAGE: usize = 100;
const LONGEST: usize = 500;

/// Makes a tournament. Its maker does not play unless they join.
#[utoipa::path(post, path = "/api/v1/tournaments", operation_id = "create_tournament", security(("account" = [])), request_body = NewTournament, responses(
    (status = 201, description = "The tournament; `/tournament/ID` shows it", body = Tournament),
    (status = 400, description = "Its title is too long", body = ProblemBody),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 409, description = "Too many tournaments are not over: the maximum is 3 per account and 50 in total", body = ProblemBody),
    (status = 422, description = "The game, its presets, the clock, the length or the start do not work", body = ProblemBody),
))]
pub(super) async fn create(
    State(web): State<Web>,
    caller: Caller,
    account: Account,
    Body(new): Body<NewTournament>,
) -> Result<(StatusCode, Json<Tournament>), Problem> {
    web.admit(&caller, Cost::Game)?;
    Ok((StatusCode::CREATED, Json(web.make_tournament(&account, new).await?)))
}

/// The tournaments: those under way, those to come, and the last 20 that are over.
#[utoipa::path(get, path = "/api/v1/tournaments", operation_id = "tournaments", responses(
    (status = 200, description = "The tournaments", body = Vec<Listed>),
))]
pub(super) async fn list(State(web): State<Web>) -> Result<Json<Vec<Listed>>, Problem> {
    Ok(Json(web.tournaments().await?))
}

/// A tournament: its standings, and the games under way.
#[utoipa::path(get, path = "/api/v1/tournaments/{tournament}", operation_id = "tournament", params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "Everything except the games that are over", body = Tournament),
    (status = 404, description = "There is no such tournament", body = ProblemBody),
))]
pub(super) async fn show(
    State(web): State<Web>,
    Path(id): Path<String>,
) -> Result<Json<Tournament>, Problem> {
    Ok(Json(web.tournament(&id).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FromNumber {
    /// The number of the first game that is wanted.
    #[serde(default)]
    from: u32,
    /// The maximum number of games in the answer: 100 if absent, 500 at most.
    limit: Option<usize>,
}

/// The games of a tournament that are over, by number. A page that is not full is the last one; the next page
/// starts at the last number plus one. Games may end out of order, so a game of a lower number may be added
/// later.
#[utoipa::path(get, path = "/api/v1/tournaments/{tournament}/games", operation_id = "tournament_games", params(("tournament" = String, Path, description = "The tournament"), FromNumber), responses(
    (status = 200, description = "The games", body = Vec<Counted>),
    (status = 404, description = "There is no such tournament", body = ProblemBody),
))]
pub(super) async fn games(
    State(web): State<Web>,
    Path(id): Path<String>,
    Query(FromNumber { from, limit }): Query<FromNumber>,
) -> Result<Json<Vec<Counted>>, Problem> {
    let limit = limit.unwrap_or(PAGE).min(LONGEST);
    Ok(Json(web.tournament_games(&id, from, limit).await?))
}

/// Joins a tournament, before it begins or while it is under way; a player who has withdrawn can join again.
#[utoipa::path(post, path = "/api/v1/tournaments/{tournament}/join", operation_id = "join_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "The tournament with its new player", body = Tournament),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 404, description = "There is no such tournament", body = ProblemBody),
    (status = 409, description = "It is over, or has 128 players, or the account is of an earlier version", body = ProblemBody),
))]
pub(super) async fn join(
    State(web): State<Web>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Tournament>, Problem> {
    Ok(Json(web.join_tournament(&account, &id).await?))
}

/// Withdraws from a tournament: the player is no longer paired. A game under way goes on.
#[utoipa::path(post, path = "/api/v1/tournaments/{tournament}/withdraw", operation_id = "leave_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "The tournament", body = Tournament),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 404, description = "There is no such tournament", body = ProblemBody),
    (status = 409, description = "It is over, or the account has not joined it", body = ProblemBody),
))]
pub(super) async fn withdraw(
    State(web): State<Web>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Tournament>, Problem> {
    Ok(Json(web.leave_tournament(&account, &id).await?))
}

/// Starts a tournament, before its time if it has one.
#[utoipa::path(post, path = "/api/v1/tournaments/{tournament}/start", operation_id = "start_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "The tournament with its first games", body = Tournament),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 403, description = "Another account made it", body = ProblemBody),
    (status = 404, description = "There is no such tournament", body = ProblemBody),
    (status = 409, description = "It has begun, or fewer than two have joined", body = ProblemBody),
))]
pub(super) async fn start(
    State(web): State<Web>,
    caller: Caller,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Tournament>, Problem> {
    web.admit(&caller, Cost::Game)?;
    Ok(Json(web.start_tournament(&account, &id).await?))
}

/// Ends a tournament early: there are no more pairings; games under way are played to their end, and count.
#[utoipa::path(post, path = "/api/v1/tournaments/{tournament}/end", operation_id = "end_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "The tournament: over, or with `ends` and the games that are still played", body = Tournament),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 403, description = "Another account made it", body = ProblemBody),
    (status = 404, description = "There is no such tournament", body = ProblemBody),
    (status = 409, description = "It has not begun, or is over", body = ProblemBody),
))]
pub(super) async fn end(
    State(web): State<Web>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Tournament>, Problem> {
    Ok(Json(web.end_tournament(&account, &id).await?))
}

/// Removes a tournament that has not begun.
#[utoipa::path(delete, path = "/api/v1/tournaments/{tournament}", operation_id = "remove_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "It is removed: `tournament` is its id", body = Value),
    (status = 401, description = "The token is not that of an account", body = ProblemBody),
    (status = 403, description = "Another account made it", body = ProblemBody),
    (status = 404, description = "There is no such tournament", body = ProblemBody),
    (status = 409, description = "It has begun", body = ProblemBody),
))]
pub(super) async fn remove(
    State(web): State<Web>,
    account: Account,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    web.drop_tournament(&account, &id).await?;
    Ok(Json(json!({ "tournament": id })))
}
