//! Games: making them, playing them, asking about them.

use axum::Json;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Body, Query, Token};
use super::guard::Caller;
use super::requests::{
    Acting, After, Asking, At, Exporting, FromLine, Joining, Listing, Moving, NewGame, Ply,
};
use super::{Reply, USUAL_GAME};
use crate::game::{Game, QuestionError};
use crate::opponent::Level;
use crate::server::accounts::Account;
use crate::server::core::{Act, Answer, Input, LogEntry, Seat, Setup, TokenHash};
use crate::server::ids::{new_token, random_below};
use crate::server::limit::Cost;
use crate::server::live::command::Lines;
use crate::server::options::{GameOptions, Import};
use crate::server::pool::Lane;
use crate::server::problem::Problem;
use crate::server::store::{Store, Summary};
use crate::server::transcript;
use crate::server::web::Web;

/// The name of a player who gives none.
const ANONYMOUS: &str = "Anonymous";
/// Default number of games in a list.
const LIST: usize = 50;
/// Maximum number of games in a list.
const MAX_LIST: usize = 200;
/// Default number of events, or of actions that were played, in an answer.
const PAGE: usize = 500;
/// Maximum number of events, or of actions that were played, in an answer.
const MAX_PAGE: usize = 1_000;

/// The endpoints of this file.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(state))
        .routes(routes!(lines))
        .routes(routes!(join))
        .routes(routes!(play))
        .routes(routes!(act))
        .routes(routes!(events))
        .routes(routes!(explain))
        .routes(routes!(advice))
        .routes(routes!(export))
}

/// Creates a game.
#[utoipa::path(post, path = "/api/v1/games", operation_id = "create_game", request_body = NewGame, responses(
    (status = 201, description = "The state of the game, with the `token` of your seat if you have one and no account", body = Value),
    (status = 401, description = "A token was sent, and is not that of an account", body = Problem),
    (status = 422, description = "The game, its presets or the position cannot be loaded, or the clock is not valid", body = Problem),
))]
async fn create(
    web: Web,
    caller: Caller,
    account: Option<Account>,
    Body(mut new): Body<NewGame>,
) -> Result<Response, Problem> {
    web.admit(&caller, Cost::Game)?;
    if let Some(fault) = new.clock.and_then(|it| it.fault()) {
        return Err(Problem::unprocessable("bad_clock", fault));
    }
    let is_rated = rated(&new, account.as_ref())?;
    let import = match new.pgn.take() {
        None => Import::default(),
        Some(text) => from_pgn(&web, text, &mut new).await?,
    };
    let setup = Setup {
        open: new.seat.is_none(),
        facts: new.facts.map(|it| it.to_string()),
        game: new.game.unwrap_or_else(|| USUAL_GAME.to_owned()),
        presets: new.presets,
        fen: new.fen,
        rules: new.rules.unwrap_or_else(|| web.host.library.own_hash()),
        clock: new.clock,
        chat: new.chat,
        listed: new.listed && new.seat.is_some(),
        rated: is_rated,
        ..Setup::default()
    };
    let mut options = GameOptions { setup, seats: Vec::new(), import };
    let (mut seat_token, mut guest_token) = (None, None);
    if let Some(wanted) = &new.seat {
        let names = sides(&web, &options.setup).await?;
        if is_rated && names.len() != 2 {
            return Err(Problem::not_rated("have two sides"));
        }
        let (seat, token) = seat_of(account, new.name)?;
        options.seats = seats(&names, wanted, &seat, new.computer)?;
        (seat_token, guest_token) = (Some(seat.token), token);
    } else if new.computer.is_some() {
        let message = "the computer needs an opponent with a seat: give `seat`";
        return Err(Problem::unprocessable("no_opponent", message));
    }
    let id = web.host.create(options).await?;
    let mut state = state_of_new(&web, &id, seat_token).await?;
    state["token"] = json!(guest_token);
    let location = [(header::LOCATION, format!("/api/v1/games/{id}"))];
    Ok((StatusCode::CREATED, location, Json(state)).into_response())
}

/// The state of a game that was just created, with its page and what was left out of its position.
async fn state_of_new(web: &Web, id: &str, seat: Option<TokenHash>) -> Result<Value, Problem> {
    let mut state = web.host.state(id, seat, None, Lines::Last(PAGE)).await?;
    let warnings = |game: &mut Game| {
        Ok(game.warnings().iter().map(ToString::to_string).collect::<Vec<String>>())
    };
    state["warnings"] = json!(web.host.question(id, None, warnings).await?);
    state["url"] = json!(format!("/game/{id}"));
    Ok(state)
}

/// Whether a new game is to be rated.
fn rated(new: &NewGame, account: Option<&Account>) -> Result<bool, Problem> {
    if !new.rated {
        return Ok(false);
    }
    let is_own = new.fen.is_none() && new.facts.is_none() && new.pgn.is_none();
    match new.seat.as_deref() {
        _ if account.is_none() => Err(Problem::not_rated("be between accounts: log in first")),
        None | Some("both" | "all") => {
            Err(Problem::not_rated("be between two players: give one `seat`"))
        }
        _ if new.computer.is_some() => {
            Err(Problem::not_rated("be between two people, without the computer"))
        }
        _ if !is_own => Err(Problem::not_rated("start from the game's own position")),
        _ => Ok(true),
    }
}

/// The seats of a new game: those that its creator has asked for, and on request the others for the computer.
fn seats(
    names: &[String],
    wanted: &str,
    own: &Seat,
    level: Option<u8>,
) -> Result<Vec<(usize, Seat)>, Problem> {
    let sides = sides_named(names, wanted)?;
    let mut seats: Vec<_> = sides.iter().map(|&side| (side, own.clone())).collect();
    if let Some(level) = level {
        for side in (0..names.len()).filter(|it| !sides.contains(it)) {
            seats.push((side, computer(level)?));
        }
        if seats.len() == sides.len() {
            let message = "no seat is left for the computer: give one `seat`";
            return Err(Problem::unprocessable("no_opponent", message));
        }
    }
    Ok(seats)
}

/// The seat of an account, or of a guest: then with a new token to play it.
fn seat_of(
    account: Option<Account>,
    name: Option<String>,
) -> Result<(Seat, Option<String>), Problem> {
    if let Some(account) = account {
        return Ok((account.seat(), None));
    }
    let token = new_token()?;
    let name = name.filter(|it| !it.trim().is_empty());
    let name = name.unwrap_or_else(|| ANONYMOUS.to_owned());
    Ok((Seat { name, token: TokenHash::of(&token), computer: None }, Some(token)))
}

/// A seat of the computer.
fn computer(level: u8) -> Result<Seat, Problem> {
    let bad = || Problem::unprocessable("bad_level", "the computer plays at a level from 1 to 8");
    crate::server::computer::seat(Level::new(level).ok_or_else(bad)?)
}

/// Fills in from a PGN what the request leaves out.
async fn from_pgn(web: &Web, text: String, new: &mut NewGame) -> Result<Import, Problem> {
    let bad = |it: String| Problem::unprocessable("bad_import", it);
    let read = move || transcript::read(&text);
    let (origin, import) = web.host.pool.run(Lane::Work, read).await?.map_err(bad)?;
    new.game = new.game.take().or(origin.game);
    new.fen = new.fen.take().or(origin.fen);
    if new.presets.is_empty() {
        new.presets = origin.presets;
    }
    if let Some(hash) = origin.rules.filter(|_| new.rules.is_none())
        && web.host.know_rules(&hash).await.is_ok()
    {
        new.rules = Some(hash);
    }
    Ok(import)
}

/// The names of the sides of a game that is not created yet.
async fn sides(web: &Web, setup: &Setup) -> Result<Vec<String>, Problem> {
    let Setup { rules, game, presets, .. } = setup;
    Ok(web.host.rules_of(rules, game, presets).await?.0.sides())
}

/// The sides that a `seat` parameter means.
fn sides_named(names: &[String], seat: &str) -> Result<Vec<usize>, Problem> {
    match seat {
        "both" | "all" => Ok((0..names.len()).collect()),
        "random" => Ok(vec![random_below(names.len())?]),
        name => Ok(vec![side_named(names, name, ", random or both")?]),
    }
}

/// The side of that name; `more` are other words that may stand for a seat, for the error.
fn side_named(names: &[String], name: &str, more: &str) -> Result<usize, Problem> {
    names.iter().position(|it| it == name).ok_or_else(|| {
        let names = names.join(", ");
        let message = format!("there is no seat {name:?}: a seat is {names}{more}");
        Problem::unprocessable("no_such_seat", message)
    })
}

/// Games that are listed, the last changed first.
#[utoipa::path(get, path = "/api/v1/games", operation_id = "list_games", params(Listing), responses(
    (status = 200, description = "Newest first", body = Vec<Summary>),
))]
async fn list(web: Web, Query(query): Query<Listing>) -> Reply<Vec<Summary>> {
    let limit = query.limit.unwrap_or(LIST).clamp(1, MAX_LIST);
    let stale = web.host.now().saturating_sub(web.host.config.abandoned);
    let list =
        move |store: &mut dyn Store| store.list(query.state, query.before.as_deref(), limit, stale);
    Ok(Json(web.host.reads().ask(list).await?))
}

/// The state of a game: `moves` played, `legal` ones, the position, clocks, offers, result.
#[utoipa::path(get, path = "/api/v1/games/{id}", params(("id" = String, Path, description = "The game"), At), responses(
    (status = 200, description = "The state as it is, or as it was after `ply` actions", body = Value),
    (status = 409, description = "Event `v` has not occurred within two seconds; the answer's `v` is the last one", body = Problem),
))]
async fn state(
    web: Web,
    Path(id): Path<String>,
    Query(at): Query<At>,
    Token(token): Token,
) -> Reply<Value> {
    web.host.know_version(&id, at.v).await?;
    let lines = Lines::Last(at.lines.unwrap_or(PAGE).min(MAX_PAGE));
    Ok(Json(web.host.state(&id, token, at.ply, lines).await?))
}

/// The actions that were played, a page at a time: `from` is the number of those before `lines`, `ply`
/// of all.
#[utoipa::path(get, path = "/api/v1/games/{id}/lines", params(("id" = String, Path, description = "The game"), FromLine), responses(
    (status = 200, description = "`lines`: the actions from that number on, each with `uci`, `san`, `side`", body = Value),
    (status = 409, description = "Event `v` has not occurred within two seconds; the answer's `v` is the last one", body = Problem),
))]
async fn lines(web: Web, Path(id): Path<String>, Query(query): Query<FromLine>) -> Reply<Value> {
    web.host.know_version(&id, query.v).await?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    Ok(Json(web.host.lines(&id, query.from, limit).await?))
}

/// Takes a free seat.
#[utoipa::path(post, path = "/api/v1/games/{id}/join", params(("id" = String, Path, description = "The game")), request_body = Joining, responses(
    (status = 200, description = "`side` and the `token` of your seat: null for an account, whose own token plays it", body = Value),
    (status = 401, description = "A token was sent, and is not that of an account", body = Problem),
    (status = 403, description = "The game is rated, and you have no account; or a player of it blocks you", body = Problem),
    (status = 409, description = "The seat is taken, the game is over, or it is rated and you have not agreed to that", body = Problem),
    (status = 422, description = "The game has no such seat", body = Problem),
))]
async fn join(
    web: Web,
    Path(id): Path<String>,
    account: Option<Account>,
    Body(joining): Body<Joining>,
) -> Reply<Value> {
    if let Some(account) = &account {
        may_join(&web, account, &id).await?;
    }
    let side = match &joining.seat {
        None => None,
        Some(name) => Some(side_named(&list_of(&web, &id, "sides").await?, name, "")?),
    };
    let (seat, token) = seat_of(account, joining.name)?;
    let input = Input::Join { side, name: seat.name, token: seat.token, rated: joining.rated };
    let Answer { v, ply, side, .. } = web.host.step(&id, input).await?;
    Ok(Json(json!({ "v": v, "ply": ply, "side": side, "token": token })))
}

/// Checks that no account with a seat in the game blocks this one.
pub(in crate::server) async fn may_join(
    web: &Web,
    account: &Account,
    id: &str,
) -> Result<(), Problem> {
    let others: Vec<Option<String>> = list_of(web, id, "accounts").await?;
    web.may_play_with(account, others.into_iter().flatten().collect()).await
}

/// A list in the state of a game, by its name there.
async fn list_of<T: DeserializeOwned>(web: &Web, id: &str, name: &str) -> Result<Vec<T>, Problem> {
    let mut state = web.host.state(id, None, None, Lines::Last(0)).await?;
    Ok(serde_json::from_value(state[name].take()).unwrap_or_default())
}

/// Plays an action. The answer is sent when it is durable.
#[utoipa::path(post, path = "/api/v1/games/{id}/moves", params(("id" = String, Path, description = "The game")), request_body = Moving, security(("seat" = [])), responses(
    (status = 200, description = "It is stored: the number of the event, and its result", body = Answer),
    (status = 401, description = "No token was sent, or that of an account which is gone", body = Problem),
    (status = 403, description = "The token is not that of a seat of the game, or the seat may not do that, or not now", body = Problem),
    (status = 409, description = "Made for another ply (`ply` says which it is), or the game is over", body = Problem),
    (status = 422, description = "Not legal; `because` explains why, `reason` is the rules' name for that", body = Problem),
))]
async fn play(
    web: Web,
    Path(id): Path<String>,
    Token(token): Token,
    Body(Moving { uci, expected_ply, client_move_id }): Body<Moving>,
) -> Reply<Answer> {
    let act = Act::Move { uci, expected_ply };
    Ok(Json(web.host.step(&id, Input::Act { token, id: client_move_id, act }).await?))
}

/// Does something else: `resign`, `abort`, `claim` (a draw that the rules give the side to move),
/// `draw` (offer or accept), `takeback` (one's own unfinished turn, or ask or grant), `presets` (ask
/// or agree), `decline` (an offer), `rematch`, `chat`, `hush` (switches the chat off, for good).
#[utoipa::path(post, path = "/api/v1/games/{id}/{act}", params(("id" = String, Path, description = "The game"), ("act" = String, Path, description = "What is done")), request_body = Acting, security(("seat" = [])), responses(
    (status = 200, description = "It is stored: the number of the event, and its result", body = Answer),
    (status = 401, description = "No token was sent, or that of an account which is gone", body = Problem),
    (status = 403, description = "The token is not that of a seat of the game, or the seat may not do that, or not now", body = Problem),
    (status = 404, description = "There is no such game, or no such act", body = Problem),
    (status = 409, description = "There is nothing to answer, or the game is over", body = Problem),
    (status = 422, description = "A field is missing or not valid", body = Problem),
))]
async fn act(
    web: Web,
    Path((id, act)): Path<(String, String)>,
    caller: Caller,
    Token(token): Token,
    Body(acting): Body<Acting>,
) -> Reply<Answer> {
    let missing = |what: &str| Problem::bad("missing_field", format!("{act} needs `{what}`"));
    let said = acting.text.filter(|it| !it.trim().is_empty());
    let wanted = match act.as_str() {
        "resign" => Act::Resign,
        "abort" => Act::Abort,
        "claim" => Act::Claim,
        "draw" => Act::Draw,
        "takeback" => Act::Takeback,
        "decline" => Act::Decline(acting.offer.ok_or_else(|| missing("offer"))?),
        "presets" => Act::Presets(acting.presets.ok_or_else(|| missing("presets"))?),
        "hush" => Act::Hush,
        "chat" => Act::Say(said.ok_or_else(|| missing("text"))?),
        "rematch" => Act::Rematch { game: web.host.rematch_id(&id) },
        _ => {
            let message = format!("there is no act {act}");
            return Err(Problem::not_found("no_such_act", message));
        }
    };
    let is_rematch = matches!(wanted, Act::Rematch { .. });
    match wanted {
        // An offer costs as much as its acceptance, which makes a game.
        Act::Rematch { .. } => web.admit(&caller, Cost::Game)?,
        // If the presets are agreed on, they are compiled.
        Act::Presets(_) => web.admit(&caller, Cost::Compiling)?,
        _ => {}
    }
    let input = Input::Act { token, id: acting.id, act: wanted };
    let answer = web.host.step(&id, input).await?;
    if is_rematch && let Some(game) = &answer.game {
        web.host.make_rematch(&id, game).await?;
    }
    Ok(Json(answer))
}

/// The events of a game: `{v, at, t, d}` each, numbered without gaps, a page at a time.
#[utoipa::path(get, path = "/api/v1/games/{id}/events", params(("id" = String, Path, description = "The game"), After), responses(
    (status = 200, description = "Events in order, each with its number `v`, its kind `t` and its data `d`", body = Vec<Value>),
))]
async fn events(
    web: Web,
    Path(id): Path<String>,
    Query(After { after, limit }): Query<After>,
) -> Reply<Vec<Value>> {
    let limit = limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let log = web.host.log_page(&id, after, limit).await?;
    Ok(Json(log.iter().map(LogEntry::public).collect()))
}

/// Explains why a move is legal or a fact holds, or why not, or what holds about a square.
#[utoipa::path(get, path = "/api/v1/games/{id}/explain", params(("id" = String, Path, description = "The game"), Asking), responses(
    (status = 200, description = "`holds`, `summary` and the `lines` of the proof; of a square its `rows`", body = Value),
    (status = 400, description = "The question is not valid; `message` states why", body = Problem),
    (status = 409, description = "Event `v` has not occurred within two seconds; the answer's `v` is the last one", body = Problem),
))]
async fn explain(web: Web, Path(id): Path<String>, Query(asking): Query<Asking>) -> Reply<Value> {
    web.host.know_version(&id, asking.v).await?;
    let ply = asking.ply;
    let bad = |it: QuestionError| Problem::bad("bad_question", it.to_string());
    let answer = match (asking.mv, asking.fact, asking.square) {
        (Some(text), _, _) => {
            let ask = move |game: &mut Game| game.why_move(&text).map_err(bad);
            json!(web.host.question(&id, ply, ask).await?)
        }
        (_, Some(text), _) => {
            let ask = move |game: &mut Game| game.why_fact(&text).map_err(bad);
            json!(web.host.question(&id, ply, ask).await?)
        }
        (_, _, Some(text)) => {
            let square = text.clone();
            let ask = move |game: &mut Game| game.rows_about(&square).map_err(bad);
            json!({ "square": text, "rows": web.host.question(&id, ply, ask).await? })
        }
        _ => return Err(Problem::bad("missing_field", "ask for a `move`, a `fact` or a `square`")),
    };
    Ok(Json(answer))
}

/// The actions that the computer recommends, with reasons. Refused while two people play.
#[utoipa::path(get, path = "/api/v1/games/{id}/advice", params(("id" = String, Path, description = "The game"), Ply), responses(
    (status = 200, description = "The best actions first, three at most: `uci`, `san`, the `chance` to win in percent, `reasons`", body = Vec<Value>),
    (status = 403, description = "Two people play this game, and it is not over", body = Problem),
))]
async fn advice(
    web: Web,
    caller: Caller,
    Path(id): Path<String>,
    Query(Ply { ply }): Query<Ply>,
    Token(token): Token,
) -> Reply<Value> {
    web.admit(&caller, Cost::Compiling)?;
    Ok(Json(json!(web.host.advice(&id, token, ply).await?)))
}

const PGN: &str = "application/x-chess-pgn; charset=utf-8";

/// The game as a text: PGN, the FEN or the facts of the position, or its log.
#[utoipa::path(get, path = "/api/v1/games/{id}/export", params(("id" = String, Path, description = "The game"), Exporting), responses(
    (status = 200, description = "The text", content(
        (String = "application/x-chess-pgn"), (String = "text/plain"), (Value = "application/json"), (String = "application/x-ndjson"),
    )),
    (status = 400, description = "There is no such format", body = Problem),
    (status = 409, description = "Event `v` has not occurred within two seconds; the answer's `v` is the last one", body = Problem),
))]
async fn export(
    web: Web,
    Path(id): Path<String>,
    Query(query): Query<Exporting>,
) -> Result<Response, Problem> {
    web.host.know_version(&id, query.v).await?;
    let text = |kind: &'static str, text: String| {
        let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, "inline")];
        (headers, text).into_response()
    };
    let position =
        |f: fn(&mut Game) -> String| web.host.question(&id, None, move |game| Ok(f(game)));
    let answer = match query.format.as_deref().unwrap_or("pgn") {
        "pgn" => pgn(&id, web.host.pgn(&id).await?),
        "fen" => text("text/plain; charset=utf-8", position(|game| game.fen()).await? + "\n"),
        "facts" => text("application/json", position(|game| game.to_json()).await?),
        "log" => return log(web, id).await,
        other => {
            let message = format!("there is no format {other}: use pgn, fen, facts or log");
            return Err(Problem::bad("no_such_format", message));
        }
    };
    Ok(answer)
}

/// A PGN that browsers save by the name of its game or study.
pub(super) fn pgn(id: &str, text: String) -> Response {
    let disposition = format!("attachment; filename=\"rulemate-{id}.pgn\"");
    let headers =
        [(header::CONTENT_TYPE, PGN.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    (headers, text).into_response()
}

/// The whole log, one event per line, read from the store as it is sent.
async fn log(web: Web, id: String) -> Result<Response, Problem> {
    let page = async |web: &Web, id: &str, after: u64| {
        let log = web.host.log_page(id, after, PAGE).await?;
        let text: String = log.iter().map(|it| format!("{}\n", it.public())).collect();
        // A page that is not full is the last one.
        let next = log.last().map(|it| it.v).filter(|_| log.len() == PAGE);
        Ok::<_, Problem>((text, next))
    };
    let (first, next) = page(&web, &id, 0).await?;
    let rest = futures_util::stream::unfold((web, id, next), move |(web, id, next)| async move {
        let (text, next) = match page(&web, &id, next?).await {
            Ok(it) => it,
            // A truncated answer must not look complete.
            Err(problem) => return Some((Err(problem.message), (web, id, None))),
        };
        Some((Ok(text), (web, id, next)))
    });
    let all = futures_util::stream::once(std::future::ready(Ok(first))).chain(rest);
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, axum::body::Body::from_stream(all)).into_response())
}
