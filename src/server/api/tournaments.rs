//! Tournaments over HTTP: creating, viewing, joining, withdrawing, starting and ending.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Body, Query};
use super::guard::Caller;
use super::{Reply, USUAL_GAME};
use crate::server::accounts::Account;
use crate::server::core::Control;
use crate::server::ids::{new_id, new_token};
use crate::server::limit::Cost;
use crate::server::problem::Problem;
use crate::server::rating;
use crate::server::store::{Change, Store, next_count};
use crate::server::study_tree::printable;
use crate::server::time::DAY;
use crate::server::tournament::records::{
    LIVE, LIVE_PREFIX, MADE, OVER_PREFIX, busy, changes, game_key, games_of, key, live_key,
    no_tournament, own_key, read, text,
};
use crate::server::tournament::table::{Counted, Kind, Phase, Table, Terms};
use crate::server::tournament::{Listed, Tournament, advance};
use crate::server::web::Web;

/// Default number of games in an answer.
const PAGE: usize = 100;
/// Maximum number of games in an answer.
const MAX_PAGE: usize = 500;
/// Maximum number of tournaments of one account that are not over.
const LIVE_OF_ACCOUNT: usize = 3;
/// Maximum number of tournaments in a list that are over.
const LISTED_OVER: usize = 20;
/// A game that is paired but not created yet is not shown for this long, in milliseconds.
const CREATION_GRACE: u64 = 10_000;
/// Maximum number of characters of a title.
const TITLE: usize = 60;
/// Maximum length of an arena, in minutes.
const MINUTES: u32 = 360;
/// Maximum number of rounds of a Swiss.
const ROUNDS: u32 = 20;
/// How far ahead the start of a tournament may be set, in milliseconds.
const MAX_START_DELAY: u64 = 30 * DAY;
/// The initial times that a clock may have, in milliseconds.
const INITIAL_TIMES: std::ops::RangeInclusive<u64> = 5_000..=3 * 60 * 60 * 1_000;
/// Maximum increment or delay of a clock, in milliseconds.
const MAX_INCREMENT: u64 = 3 * 60 * 1_000;

/// The endpoints of this file.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(show, remove))
        .routes(routes!(games))
        .routes(routes!(join))
        .routes(routes!(withdraw))
        .routes(routes!(start))
        .routes(routes!(end))
}

/// A new tournament: an arena with its `minutes`, or a Swiss with its `rounds`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewTournament {
    /// At most 60 characters; if absent, the kind of tournament and the title of its game.
    #[serde(default)]
    title: String,
    /// The name of a game in the catalogue (chess if absent).
    game: Option<String>,
    /// Presets on top of the game's own.
    #[serde(default)]
    presets: Vec<String>,
    /// Initial time 5 seconds to 3 hours; increment or delay up to 3 minutes.
    clock: Control,
    /// Whether its games change the ratings of their players.
    #[serde(default)]
    rated: bool,
    /// The length of an arena in minutes, 360 at most: players who are free are paired again and again.
    minutes: Option<u32>,
    /// The number of rounds of a Swiss, 20 at most: the next round is paired when all games of a round are over.
    rounds: Option<u32>,
    /// When it begins, in milliseconds since 1970, within 30 days; if absent, its maker must start it within a day.
    starts: Option<u64>,
}

/// Creates a tournament. Its maker does not play unless they join.
#[utoipa::path(post, path = "/api/v1/tournaments", operation_id = "create_tournament", security(("account" = [])), request_body = NewTournament, responses(
    (status = 201, description = "The tournament; `/tournament/ID` shows it", body = Tournament),
    (status = 400, description = "Its title is too long", body = Problem),
    (status = 409, description = "The account has 3 tournaments that are not over, or the server has 50: the maximum", body = Problem),
    (status = 422, description = "The game or its presets cannot be loaded, the game does not have two sides, or the clock, the length or `starts` is out of range", body = Problem),
))]
async fn create(
    web: Web,
    caller: Caller,
    account: Account,
    Body(new): Body<NewTournament>,
) -> Result<(StatusCode, Json<Tournament>), Problem> {
    web.admit(&caller, Cost::Game)?;
    let NewTournament { title, game, presets, clock, rated, minutes, rounds, starts } = new;
    let game = game.unwrap_or_else(|| USUAL_GAME.to_owned());
    let now = web.host.now();
    let kind = kind(minutes, rounds)?;
    check_times(&clock, starts, now)?;
    let rules = web.host.library.own_hash();
    let ruleset = web.host.ruleset(&rules, &game, &presets).await?;
    if ruleset.sides().len() != 2 {
        let message = "a tournament needs a game with two sides";
        return Err(Problem::unprocessable("bad_game", message));
    }
    let (game, fen) = (ruleset.game().name.clone(), ruleset.chosen_start().map(str::to_owned));
    let mut title = printable(&title, TITLE, "a title")?.replace('\n', " ");
    if title.is_empty() {
        let name = if matches!(kind, Kind::Arena(_)) { "Arena" } else { "Swiss" };
        title = format!("{name}: {}", ruleset.game().title);
    }
    let by = account.id();
    let terms = Terms { title, by, game, presets, fen, rules, clock, rated, kind, starts };
    let (id, table) = (new_id()?, Table::new(terms, new_token()?, now));
    let view = table.view(&id, now);
    web.host.reads().edit(busy, move |store| add(store, &id, &table)).await?;
    Ok((StatusCode::CREATED, Json(view)))
}

fn kind(minutes: Option<u32>, rounds: Option<u32>) -> Result<Kind, Problem> {
    match (minutes, rounds) {
        (Some(it), None) if (1..=MINUTES).contains(&it) => Ok(Kind::Arena(it)),
        (None, Some(it)) if (1..=ROUNDS).contains(&it) => Ok(Kind::Swiss(it)),
        _ => {
            let message = format!(
                "give either `minutes` (1 to {MINUTES}, an arena) or `rounds` (1 to {ROUNDS}, a Swiss)"
            );
            Err(Problem::unprocessable("bad_length", message))
        }
    }
}

/// Checks that the clock is one for tournaments, and that the start is neither past nor too far ahead.
fn check_times(clock: &Control, starts: Option<u64>, now: u64) -> Result<(), Problem> {
    if !INITIAL_TIMES.contains(&clock.initial) || clock.increment.max(clock.delay) > MAX_INCREMENT {
        let message = "the clock needs 5 seconds to 3 hours at first, and an increment or delay of up to 3 minutes";
        return Err(Problem::unprocessable("bad_clock", message));
    }
    if starts.is_some_and(|it| it < now || it > now + MAX_START_DELAY) {
        let message = "`starts` must be within 30 days from now; leave it out to start the tournament yourself";
        return Err(Problem::unprocessable("bad_start", message));
    }
    Ok(())
}

/// The changes that add a new tournament to the store.
///
/// # Errors
/// Its maker or the server has the maximum number of tournaments that are not over.
fn add(store: &mut dyn Store, id: &str, table: &Table) -> Result<((), Vec<Change>), Problem> {
    let too_many = |which: String| {
        Err(Problem::conflict("too_many_tournaments", format!("too many tournaments: {which}")))
    };
    let count = next_count(store, MADE.to_owned())?;
    let maker = &table.terms.by;
    if store.records(&own_key(maker, ""), "", LIVE_OF_ACCOUNT)?.len() >= LIVE_OF_ACCOUNT {
        return too_many(format!("{LIVE_OF_ACCOUNT} of yours are not over: end or remove one"));
    }
    if store.records(LIVE_PREFIX, "", LIVE)?.len() >= LIVE {
        return too_many(format!("{LIVE} on this server are not over: try again later"));
    }
    let all = vec![
        count,
        Change { key: key(id), from: None, to: text(table) },
        Change { key: live_key(id), from: None, to: text(&table.listed(id)) },
        Change { key: own_key(maker, id), from: None, to: Some(String::new()) },
    ];
    Ok(((), all))
}

/// The tournaments: those under way, those to come, and the last 20 that are over.
#[utoipa::path(get, path = "/api/v1/tournaments", operation_id = "tournaments", responses(
    (status = 200, description = "The tournaments", body = Vec<Listed>),
))]
async fn list(web: Web) -> Reply<Vec<Listed>> {
    let list = |store: &mut dyn Store| {
        let mut found = store.records(LIVE_PREFIX, "", LIVE)?;
        found.extend(store.records(OVER_PREFIX, "", LISTED_OVER)?);
        Ok(found)
    };
    let found = web.host.reads().ask(list).await?;
    let mut all: Vec<Listed> =
        found.iter().filter_map(|it| serde_json::from_str(&it.1).ok()).collect();
    // Running tournaments first, then those to come; those that are over are in order already.
    all.sort_by_key(|it| match it.state {
        Phase::Running => (0, it.began.unwrap_or_default()),
        Phase::Open => (1, it.starts.unwrap_or(it.made)),
        Phase::Over => (2, 0),
    });
    Ok(Json(all))
}

/// A tournament: its standings, and the games under way.
#[utoipa::path(get, path = "/api/v1/tournaments/{tournament}", operation_id = "tournament", params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "Everything except the games that are over", body = Tournament),
))]
async fn show(web: Web, Path(id): Path<String>) -> Reply<Tournament> {
    let now = web.host.now();
    let look = move |store: &mut dyn Store| {
        let (_, mut table) = read(store, &id)?.ok_or_else(|| no_tournament(&id))?;
        // A game that was just paired may not be created yet: players are not sent to it.
        table.playing.retain(|it| {
            it.at + CREATION_GRACE < now || !matches!(store.summary(&it.game), Ok(None))
        });
        Ok(Json(table.view(&id, now)))
    };
    web.host.reads().request(look).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FromNumber {
    /// The lowest number of a game to list.
    #[serde(default)]
    from: u32,
    /// The maximum number of games in the answer: 100 if absent, 1 to 500.
    limit: Option<usize>,
}

/// The games of a tournament that are over, by number. A page that is not full is the last one; the next page
/// starts at the last number plus one. Games may end out of order, so a game of a lower number may be added
/// later.
#[utoipa::path(get, path = "/api/v1/tournaments/{tournament}/games", operation_id = "tournament_games", params(("tournament" = String, Path, description = "The tournament"), FromNumber), responses(
    (status = 200, description = "The games", body = Vec<Counted>),
))]
async fn games(
    web: Web,
    Path(id): Path<String>,
    Query(FromNumber { from, limit }): Query<FromNumber>,
) -> Reply<Vec<Counted>> {
    let limit = limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let list = move |store: &mut dyn Store| {
        let after = from.checked_sub(1).map(|it| game_key(&id, it)).unwrap_or_default();
        let found = store.records(&games_of(&id), &after, limit)?;
        if found.is_empty() && store.record(&key(&id))?.is_none() {
            return Err(no_tournament(&id));
        }
        Ok(Json(found.iter().filter_map(|it| serde_json::from_str(&it.1).ok()).collect()))
    };
    web.host.reads().request(list).await
}

/// Joins a tournament, before it begins or while it is under way; a player who has withdrawn can join again.
#[utoipa::path(post, path = "/api/v1/tournaments/{tournament}/join", operation_id = "join_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "The tournament with its new player", body = Tournament),
    (status = 409, description = "It is over, it has 128 players, or the account was made by an earlier version", body = Problem),
))]
async fn join(web: Web, account: Account, Path(id): Path<String>) -> Reply<Tournament> {
    account.can_count()?;
    let wanted = id.clone();
    let look =
        move |store: &mut dyn Store| read(store, &wanted)?.ok_or_else(|| no_tournament(&wanted));
    let Terms { game, presets, rules, .. } = web.host.reads().request(look).await?.1.terms;
    let rules = web.host.rated_rules(&rules, &game, &presets).await?;
    change(&web, &id, move |store, table, now| {
        let seed = rating::current(store, &account.id(), &rules)?.round() as i32;
        table.join(&account.id(), &account.name, seed, now)
    })
    .await
}

/// Withdraws from a tournament: the player is no longer paired. A game under way goes on.
#[utoipa::path(post, path = "/api/v1/tournaments/{tournament}/withdraw", operation_id = "leave_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "The tournament", body = Tournament),
    (status = 409, description = "It is over, or the account has not joined it", body = Problem),
))]
async fn withdraw(web: Web, account: Account, Path(id): Path<String>) -> Reply<Tournament> {
    let player = account.id();
    change(&web, &id, move |_, table, _| table.withdraw(&player)).await
}

/// Starts a tournament, before its time if it has one.
#[utoipa::path(post, path = "/api/v1/tournaments/{tournament}/start", operation_id = "start_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "The tournament with its first games", body = Tournament),
    (status = 403, description = "Another account made it", body = Problem),
    (status = 409, description = "It has already begun, or fewer than two players have joined", body = Problem),
))]
async fn start(
    web: Web,
    caller: Caller,
    account: Account,
    Path(id): Path<String>,
) -> Reply<Tournament> {
    web.admit(&caller, Cost::Game)?;
    let maker = account.id();
    let start = move |_: &mut dyn Store, table: &mut Table, now: u64| {
        check_owner(table, &maker)?;
        table.start(now)
    };
    let begun = change(&web, &id, start).await?;
    match advance(&web.host, &id, |_| false).await {
        Ok(Some(it)) => Ok(Json(it.table.view(&id, web.host.now()))),
        // The background task will pair the first round the next time it runs.
        _ => Ok(begun),
    }
}

/// Ends a tournament early: there are no more pairings; games under way are played to their end, and count.
#[utoipa::path(post, path = "/api/v1/tournaments/{tournament}/end", operation_id = "end_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "The tournament: over, or with `ends` and the games that are still played", body = Tournament),
    (status = 403, description = "Another account made it", body = Problem),
    (status = 409, description = "It has not begun, or is over", body = Problem),
))]
async fn end(web: Web, account: Account, Path(id): Path<String>) -> Reply<Tournament> {
    let maker = account.id();
    let stop = move |_: &mut dyn Store, table: &mut Table, now: u64| {
        check_owner(table, &maker)?;
        if table.phase == Phase::Open {
            let message = "the tournament has not begun: remove it instead";
            return Err(Problem::conflict("tournament_open", message));
        }
        table.stop(now)
    };
    change(&web, &id, stop).await
}

/// Removes a tournament that has not begun.
#[utoipa::path(delete, path = "/api/v1/tournaments/{tournament}", operation_id = "remove_tournament", security(("account" = [])), params(("tournament" = String, Path, description = "The tournament")), responses(
    (status = 200, description = "It is removed: `tournament` is its id", body = Value),
    (status = 403, description = "Another account made it", body = Problem),
    (status = 409, description = "It has begun and cannot be removed", body = Problem),
))]
async fn remove(web: Web, account: Account, Path(id): Path<String>) -> Reply<Value> {
    let maker = account.id();
    let remove = move |store: &mut dyn Store| {
        let (before, table) = read(store, &id)?.ok_or_else(|| no_tournament(&id))?;
        check_owner(&table, &maker)?;
        if table.phase != Phase::Open {
            let message = "the tournament has begun and cannot be removed: end it instead";
            return Err(Problem::conflict("tournament_began", message));
        }
        let mut gone = vec![Change { key: key(&id), from: Some(before), to: None }];
        for key in [live_key(&id), own_key(&maker, &id)] {
            let from = store.record(&key)?;
            gone.push(Change { key, from, to: None });
        }
        Ok((Json(json!({ "tournament": id })), gone))
    };
    web.host.reads().edit(busy, remove).await
}

/// Makes an edit of a tournament, which may refuse it. Returns the tournament after it.
async fn change(
    web: &Web,
    id: &str,
    edit: impl Fn(&mut dyn Store, &mut Table, u64) -> Result<(), Problem> + Send + 'static,
) -> Reply<Tournament> {
    let (id, now) = (id.to_owned(), web.host.now());
    let change = move |store: &mut dyn Store| {
        let (before, mut table) = read(store, &id)?.ok_or_else(|| no_tournament(&id))?;
        let was = table.clone();
        edit(store, &mut table, now)?;
        let all = if table == was { Vec::new() } else { changes(store, &id, before, &table, &[])? };
        Ok((Json(table.view(&id, now)), all))
    };
    web.host.reads().edit(busy, change).await
}

fn check_owner(table: &Table, maker: &str) -> Result<(), Problem> {
    if table.terms.by == maker {
        return Ok(());
    }
    let message = "only the account that made a tournament may start, end or remove it";
    Err(Problem::forbidden("not_yours", message))
}
