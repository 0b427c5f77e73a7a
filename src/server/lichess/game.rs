//! One game in lichess' form.

use axum::body::Bytes;
use axum::extract::{Path, Query};
use axum::http::header;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::account::{Account, title};
use super::challenges::{Listener, line};
use super::formats::{color_of, form, is_true, speed, variant};
use super::stream::lines;
use super::{LichessProblem, Reply, ok};
use crate::server::api::guard::Caller;
use crate::server::core::{Act, Control, Input, OfferKind, TIMEOUT};
use crate::server::live::Feed;
use crate::server::live::command::Lines;
use crate::server::problem::Problem;
use crate::server::web::Web;

/// The whole game first, then its state after every event; the stream ends with the game.
pub(super) async fn stream(
    web: Web,
    Path(id): Path<String>,
    caller: Caller,
    account: Account,
) -> Result<Response, LichessProblem> {
    let place = web.hold_open(&caller)?;
    let state = web.host.state(&id, Some(account.token.clone()), None, Lines::Texts).await?;
    let have = state["v"].as_u64();
    let feed = web.host.watch(&id, have, Some(account.token.clone())).await?;
    let full = full(&web, &id, &account, &state).await?;
    let (sender, answer) = lines(&[full], place);
    if state["result"].is_null() {
        tokio::spawn(follow(web, id, account, feed, sender));
    } else {
        web.challenges.end(&id, &account.id());
    }
    Ok(answer)
}

/// The player of a side, as `account` is told. Only accounts have ids and titles: a guest may be called like one.
async fn player(
    web: &Web,
    account: &Account,
    state: &Value,
    side: usize,
) -> Result<Value, Problem> {
    let name = state["seats"][side].as_str().unwrap_or("Anonymous");
    // The seats of an account of an earlier version do not tell its id.
    let is_own = state["you"].as_array().is_some_and(|it| it.contains(&json!(side)));
    let id =
        if is_own { Some(account.id()) } else { state["accounts"][side].as_str().map(Into::into) };
    let title = match &id {
        Some(id) => title(web, id).await?,
        None => None,
    };
    Ok(json!({ "id": id, "name": name, "title": title, "rating": null }))
}

fn chat_line(names: &Value, message: &Value) -> Value {
    let by = message["by"].as_u64().and_then(|it| names.get(usize::try_from(it).ok()?));
    let name = by.and_then(Value::as_str).unwrap_or("Anonymous");
    json!({ "type": "chatLine", "room": "player", "username": name, "text": message["text"] })
}

/// Streams the events of a game to an account: its state after each of them, the whole game when a seat is taken, and its chat.
async fn follow(web: Web, id: String, account: Account, feed: Feed, sender: Listener) {
    // The events between the state that was sent and the feed come first.
    let Feed { missed: mut frames, mut coming } = feed;
    loop {
        if frames.is_empty() {
            tokio::select! {
                frame = coming.recv() => match frame {
                    Some(frame) => frames.push(frame),
                    None => return,
                },
                () = sender.closed() => return,
            }
        }
        // All events that are there are handled together: if the game is over, the stream ends after them.
        while let Ok(frame) = coming.try_recv() {
            frames.push(frame);
        }
        let news = frames.drain(..).filter_map(|it| serde_json::from_str::<Value>(&it).ok());
        let (said, news): (Vec<Value>, Vec<Value>) = news.partition(|it| it["t"] == "said");
        let token = Some(account.token.clone());
        let Ok(state) = web.host.state(&id, token, None, Lines::Texts).await else { return };
        let said = said.iter().map(|it| chat_line(&state["seats"], &it["d"]));
        let mut unsent: Vec<Value> = said.collect();
        if news.iter().any(|it| it["t"] == "seated") {
            let Ok(full) = full(&web, &id, &account, &state).await else { return };
            unsent.push(full);
        }
        if !news.is_empty() {
            unsent.push(game_state(&state));
        }
        for value in &unsent {
            if sender.send(line(value)).await.is_err() {
                return;
            }
        }
        if !news.is_empty() && !state["result"].is_null() {
            web.challenges.end(&id, &account.id());
            return;
        }
    }
}

/// The whole game, as `account` is told.
async fn full(web: &Web, id: &str, account: &Account, state: &Value) -> Result<Value, Problem> {
    let (white, black) =
        (player(web, account, state, 0).await?, player(web, account, state, 1).await?);
    // The first event of a game is its creation.
    let made = web.host.log_page(id, 0, 1).await?.first().map(|it| it.at);
    let control = control(state);
    let days = control.and_then(|it| it.days_a_turn());
    let timed = control.filter(|_| days.is_none());
    let clock = timed.map(|it| json!({ "initial": it.initial, "increment": it.increment }));
    let mut body = json!({
        "type": "gameFull", "id": id, "rated": state["rated"],
        "variant": variant(state["game"].as_str().unwrap_or_default()),
        "clock": clock, "speed": speed(control), "perf": { "name": "Variant" },
        "createdAt": made, "white": white, "black": black,
        "initialFen": state["start_fen"].as_str().unwrap_or("startpos"),
        "state": game_state(state),
    });
    if let Some(days) = days {
        body["daysPerTurn"] = json!(days);
    }
    Ok(body)
}

fn control(state: &Value) -> Option<Control> {
    serde_json::from_value(state["clock"].clone()).ok()
}

/// The milliseconds that a side has left.
fn time_left(state: &Value, control: Option<Control>, side: usize) -> u64 {
    // lichess has no games without a clock: it sends about a month.
    let Some(control) = control else { return 2_147_483_647 };
    if !control.is_by_turn() {
        return state["clocks"][side].as_u64().unwrap_or_default();
    }
    match (state["deadline"].as_u64(), state["now"].as_u64()) {
        (Some(deadline), Some(now)) if state["turn"] == side => deadline.saturating_sub(now),
        _ => control.delay,
    }
}

fn game_state(state: &Value) -> Value {
    let moves = state["moves"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let control = control(state);
    let increment = control.map_or(0, |it| it.increment);
    // An offer is the side that made it, or a list that begins with this side.
    let offered = |by: u64, kind: &str| {
        let offer = &state["offers"][kind];
        offer.as_u64().or(offer[0].as_u64()) == Some(by)
    };
    let mut body = json!({
        "type": "gameState", "moves": moves.collect::<Vec<_>>().join(" "),
        "wtime": time_left(state, control, 0), "btime": time_left(state, control, 1), "winc": increment, "binc": increment,
        "status": status(&state["result"]),
        "wdraw": offered(0, "draw"), "bdraw": offered(1, "draw"),
        "wtakeback": offered(0, "takeback"), "btakeback": offered(1, "takeback"),
    });
    if let Some(winner) = state["result"]["winner"].as_u64() {
        body["winner"] = json!(color_of(usize::from(winner != 0)));
    }
    body
}

/// The status of a game, in lichess' terms.
fn status(result: &Value) -> &'static str {
    let Some(reason) = result["reason"].as_str() else { return "started" };
    match reason {
        "checkmate" => "mate",
        "resignation" => "resign",
        "stalemate" => "stalemate",
        TIMEOUT => "outoftime",
        "aborted" => "aborted",
        _ if result["winner"].is_null() => "draw",
        _ => "variantEnd",
    }
}

async fn step(web: &Web, id: &str, account: &Account, act: Act) -> Reply {
    web.host.step(id, Input::act(account.token.clone(), act)).await?;
    Ok(ok())
}

/// The query of a request to move.
#[derive(Debug, Deserialize)]
pub(super) struct Offering {
    /// Whether a draw is offered with the move; or accepted in its place, if the other side has offered one.
    #[serde(rename = "offeringDraw")]
    draw: Option<String>,
}

pub(super) async fn play(
    web: Web,
    Path((id, uci)): Path<(String, String)>,
    Query(Offering { draw }): Query<Offering>,
    account: Account,
) -> Reply {
    let offers = draw.is_some_and(|it| is_true(&it));
    if offers && is_offered(&web, &id, &account).await? {
        return step(&web, &id, &account, Act::Draw).await;
    }
    let played = step(&web, &id, &account, Act::Move { uci, expected_ply: None }).await?;
    if offers {
        // The move stands even if no draw can be offered, since the game is over.
        let _ = step(&web, &id, &account, Act::Draw).await;
    }
    Ok(played)
}

/// Whether it is the account's turn, and another side has offered a draw.
async fn is_offered(web: &Web, id: &str, account: &Account) -> Result<bool, Problem> {
    let state = web.host.state(id, Some(account.token.clone()), None, Lines::Last(0)).await?;
    let (turn, offer) = (&state["turn"], &state["offers"]["draw"]);
    let is_own_turn = state["you"].as_array().is_some_and(|it| it.contains(turn));
    Ok(is_own_turn && !offer.is_null() && offer != turn && offer[0] != *turn)
}

pub(super) async fn act(
    web: Web,
    Path((id, act)): Path<(String, String)>,
    account: Account,
    body: Bytes,
) -> Reply {
    let act = match act.as_str() {
        "resign" => Act::Resign,
        "abort" => Act::Abort,
        "claim-draw" => Act::Claim,
        "chat" => {
            let said = chat_field(&body, "text").filter(|it| !it.trim().is_empty());
            let said = said.ok_or_else(|| Problem::bad("missing_field", "chat needs `text`"))?;
            if chat_field(&body, "room").as_deref() == Some("spectator") {
                // There is no room that the players do not read: it is not for them.
                return Ok(ok());
            }
            Act::Say(said)
        }
        _ => return Err(unknown().into()),
    };
    step(&web, &id, &account, act).await
}

pub(super) async fn answer(
    web: Web,
    Path((id, act, answer)): Path<(String, String, String)>,
    account: Account,
) -> Reply {
    let yes = matches!(answer.as_str(), "yes" | "true");
    let act = match (act.as_str(), yes) {
        ("draw", true) => Act::Draw,
        ("draw", false) => Act::Decline(OfferKind::Draw),
        ("takeback", true) => Act::Takeback,
        ("takeback", false) => Act::Decline(OfferKind::Takeback),
        _ => return Err(unknown().into()),
    };
    step(&web, &id, &account, act).await
}

fn unknown() -> Problem {
    Problem::not_found("no_such_act", "there is nothing at this address")
}

/// A field of a chat message, from JSON or from a form.
fn chat_field(body: &Bytes, name: &str) -> Option<String> {
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        return value[name].as_str().map(str::to_owned);
    }
    form(body)?.into_iter().find(|it| it.0 == name).map(|it| it.1)
}

pub(super) async fn export(
    web: Web,
    Path(id): Path<String>,
) -> Result<([(header::HeaderName, &'static str); 1], String), LichessProblem> {
    let pgn = web.host.pgn(&id).await?;
    Ok(([(header::CONTENT_TYPE, "application/x-chess-pgn")], pgn))
}
