//! Challenges: a game proposed to a player, who accepts or declines.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::account::{Account, find};
use super::{Challenges, Plain, computer, ok};
use crate::server::api::Web;
use crate::server::api::games::may_join;
use crate::server::api::guard::Caller;
use crate::server::core::{Control, Input, Seat};
use crate::server::ids::new_id;
use crate::server::library::lock;
use crate::server::limit::Cost;
use crate::server::new_game::GameOptions;
use crate::server::problem::Problem;

/// The maximum number of challenges that wait at a time, of all accounts and of one.
const WAITING: usize = 10_000;
const OF_ONE: usize = 20;

/// A game proposed.
#[derive(Debug, Clone)]
pub(super) struct Challenge {
    id: String,
    from: Account,
    to: Account,
    variant: String,
    fen: Option<String>,
    clock: Option<Control>,
    rated: bool,
    /// The challenger's colour.
    color: &'static str,
    made: Instant,
}

impl Challenge {
    pub(super) fn is_for(&self, user: &str) -> bool {
        self.to.id() == user
    }

    pub(super) fn event(&self, kind: &str) -> Value {
        json!({ "type": kind, "challenge": self.body() })
    }

    fn body(&self) -> Value {
        let person = |it: &Account| json!({ "id": it.id(), "name": it.name, "online": true });
        json!({
            "id": self.id, "url": format!("/game/{}", self.id), "status": "created",
            "challenger": person(&self.from), "destUser": person(&self.to), "rated": self.rated,
            "variant": variant(&self.variant), "speed": speed(self.clock), "timeControl": time_control(self.clock),
            "color": self.color, "finalColor": self.color, "initialFen": self.fen,
        })
    }

    fn options(&self) -> GameOptions {
        let first = usize::from(self.color == "black");
        GameOptions {
            game: self.variant.clone(),
            fen: self.fen.clone(),
            clock: self.clock,
            rated: self.rated,
            seats: vec![(first, seat_of(&self.from)), (1 - first, seat_of(&self.to))],
            chat: true,
            ..GameOptions::default()
        }
    }
}

/// The seat of an account.
pub(super) fn seat_of(account: &Account) -> Seat {
    Seat { name: account.name.clone(), token: account.token.clone(), computer: None }
}

pub(super) fn time_control(clock: Option<Control>) -> Value {
    match clock {
        None => json!({ "type": "unlimited" }),
        Some(it) => json!({
            "type": "clock", "limit": it.initial / 1000, "increment": it.increment / 1000,
            "show": format!("{}+{}", it.initial / 60_000, it.increment / 1000),
        }),
    }
}

/// How fast a game is, in lichess' words: by the time that a side has for forty moves.
pub(super) fn speed(clock: Option<Control>) -> &'static str {
    let Some(clock) = clock else { return "correspondence" };
    match clock.initial.saturating_add(clock.increment.saturating_mul(40)) / 1000 {
        0..30 => "ultraBullet",
        30..180 => "bullet",
        180..480 => "blitz",
        480..1500 => "rapid",
        _ => "classical",
    }
}

/// What a challenge asks for, to whatever player.
pub(super) struct Terms {
    pub(super) variant: String,
    pub(super) fen: Option<String>,
    pub(super) clock: Option<Control>,
    pub(super) rated: bool,
    /// How many sides play.
    pub(super) sides: usize,
}

impl Terms {
    /// # Errors
    /// There is no such game or position, or the clock makes no sense: refused now, not when it is accepted.
    pub(super) async fn read(web: &Web, fields: &Map<String, Value>) -> Result<Self, Problem> {
        let variant = match text(fields, "variant").unwrap_or("standard") {
            "standard" | "fromPosition" => "chess".to_owned(),
            other => other.to_owned(),
        };
        let rules = web.host.library.own_hash();
        let ruleset = web.host.ruleset(&rules, &variant, &[]).await?;
        let fen = text(fields, "fen").map(str::to_owned);
        if let Some(fen) = fen.clone() {
            let ruleset = Arc::clone(&ruleset);
            let start = move || ruleset.start(Some(&fen)).map(|_| ());
            let started = web.host.pool.run(web.host.slow_lane(&rules), start).await?;
            started.map_err(|it| Problem::unprocessable("bad_position", it.to_string()))?;
        }
        let clock = number(fields, "clock.limit").map(|limit| Control {
            initial: limit.saturating_mul(1000),
            increment: number(fields, "clock.increment").unwrap_or(0).saturating_mul(1000),
            delay: 0,
        });
        if let Some(fault) = clock.and_then(|it| it.fault()) {
            return Err(Problem::unprocessable("bad_clock", fault));
        }
        let rated = match fields.get("rated") {
            Some(Value::Bool(it)) => *it,
            other => other.and_then(Value::as_str) == Some("true"),
        };
        let sides = ruleset.sides().len();
        if rated && (fen.is_some() || sides != 2) {
            return Err(Problem::not_rated("of two sides, from the game's own position"));
        }
        Ok(Self { variant, fen, clock, rated, sides })
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key).and_then(Value::as_str).filter(|it| !it.is_empty())
}

/// A variant as lichess writes one.
pub(super) fn variant(game: &str) -> Value {
    let key = if game == "chess" { "standard" } else { game };
    json!({ "key": key, "name": key, "short": key })
}

/// What is asked for, as a form or as JSON.
pub(super) fn fields(headers: &HeaderMap, body: &Bytes) -> Result<Map<String, Value>, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") {
        let read = serde_json::from_slice::<Value>(body);
        let read = read.map_err(|it| Problem::bad("malformed_json", it.to_string()))?;
        return Ok(read.as_object().cloned().unwrap_or_default());
    }
    let uri = format!("/?{}", String::from_utf8_lossy(body)).parse();
    let bad = || Problem::bad("bad_form", "the form cannot be read");
    let uri: axum::http::Uri = uri.map_err(|_| bad())?;
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri);
    let pairs = pairs.map_err(|_| bad())?.0;
    Ok(pairs.into_iter().map(|(key, value)| (key, Value::String(value))).collect())
}

pub(super) fn number(fields: &Map<String, Value>, key: &str) -> Option<u64> {
    match fields.get(key)? {
        Value::Number(it) => it.as_u64(),
        Value::String(it) => it.parse().ok(),
        _ => None,
    }
}

/// The colour that the challenger wants, or else one by chance, as the game's id has it.
pub(super) fn color(fields: &Map<String, Value>, id: &str) -> &'static str {
    match text(fields, "color") {
        Some("white") => "white",
        Some("black") => "black",
        _ if id.bytes().next_back().is_some_and(|it| it % 2 == 0) => "white",
        _ => "black",
    }
}

pub(super) async fn create(
    State(web): State<Web>,
    Path(user): Path<String>,
    caller: Caller,
    from: Account,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, Plain> {
    web.admit(&caller, Cost::Game)?;
    web.admit_account(&from.id(), Cost::Game)?;
    let fields = fields(&headers, &body)?;
    if let Some(level) = computer::level_of(&user) {
        return Ok(Json(computer::challenged(&web, &from, level, &fields).await?));
    }
    let to = find(&web, &user).await?;
    let Terms { variant, fen, clock, rated, .. } = Terms::read(&web, &fields).await?;
    web.may_play_with(&from, vec![to.id()]).await?;
    let are_two = from.id() != to.id();
    if rated && !(are_two && [&from, &to].iter().all(|it| it.token.account().is_some())) {
        let what = "between two accounts, neither of them of an earlier version";
        return Err(Problem::not_rated(what).into());
    }
    let id = new_id()?;
    let color = color(&fields, &id);
    let made = Instant::now();
    let challenge = Challenge { id, from, to, variant, fen, clock, rated, color, made };
    web.challenges.propose(challenge.clone())?;
    let event = challenge.event("challenge");
    web.challenges.tell(&challenge.to.id(), &event);
    web.challenges.tell(&challenge.from.id(), &event);
    let mut body = challenge.body();
    body["challenge"] = body.clone();
    Ok(Json(body))
}

/// A game with two free seats, for the first two who accept it, here or on the page.
pub(super) async fn open(
    State(web): State<Web>,
    caller: Caller,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, Plain> {
    web.admit(&caller, Cost::Game)?;
    let Terms { variant: game, fen, clock, rated, .. } =
        Terms::read(&web, &fields(&headers, &body)?).await?;
    let (wanted, told) = (variant(&game), fen.clone());
    if rated {
        return Err(Problem::not_rated("between two accounts: challenge one").into());
    }
    let options = GameOptions { game, fen, clock, chat: true, ..GameOptions::default() };
    let id = web.host.create(options).await?;
    let url = format!("/game/{id}");
    Ok(Json(json!({
        "id": id, "url": url, "status": "created", "challenger": null, "destUser": null,
        "rated": false, "variant": wanted, "speed": speed(clock), "timeControl": time_control(clock),
        "color": "random", "initialFen": told,
        "urlWhite": format!("{url}?color=white"), "urlBlack": format!("{url}?color=black"),
    })))
}

impl Challenges {
    /// # Errors
    /// Too many wait already.
    fn propose(&self, challenge: Challenge) -> Result<(), Problem> {
        self.forget_old();
        let mut waiting = lock(&self.waiting);
        let from = challenge.from.id();
        let own = waiting.values().filter(|it| it.from.id() == from).count();
        if own >= OF_ONE || waiting.len() >= WAITING {
            let message = match own >= OF_ONE {
                true => "too many of your challenges wait: cancel some",
                false => "too many challenges wait",
            };
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(Problem::new(status, "too_many_challenges", message));
        }
        waiting.insert(challenge.id.clone(), challenge);
        Ok(())
    }

    /// A challenge without an answer in time is no more; both are told.
    pub(super) fn forget_old(&self) {
        let is_old = |it: &Challenge| it.made.elapsed() >= self.life;
        let old: Vec<Challenge> =
            lock(&self.waiting).extract_if(|_, it| is_old(it)).map(|it| it.1).collect();
        for challenge in old {
            let event = challenge.event("challengeCanceled");
            self.tell(&challenge.from.id(), &event);
            self.tell(&challenge.to.id(), &event);
        }
    }
}

fn take(web: &Web, id: &str, by: impl Fn(&Challenge) -> bool) -> Result<Challenge, Problem> {
    web.challenges.forget_old();
    let mut waiting = lock(&web.challenges.waiting);
    let none = || Problem::new(StatusCode::NOT_FOUND, "no_such_challenge", "no such challenge");
    if !waiting.get(id).is_some_and(&by) {
        return Err(none());
    }
    waiting.remove(id).ok_or_else(none)
}

/// The seat that is wanted of an open challenge.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    color: Option<String>,
}

/// Takes a free seat of a game, if there is such a game.
async fn sit(
    web: &Web,
    id: &str,
    wanted: Wanted,
    account: Account,
    none: Problem,
) -> Result<Json<Value>, Plain> {
    let side = match wanted.color.as_deref() {
        Some("white") => Some(0),
        Some("black") => Some(1),
        _ => None,
    };
    match may_join(web, &account, id).await {
        Err(problem) if problem.status == StatusCode::NOT_FOUND => return Err(none.into()),
        other => other?,
    }
    let input = Input::Join {
        side,
        name: account.name.clone(),
        token: account.token.clone(),
        rated: false,
    };
    let answer = match web.host.step(id, input).await {
        Err(problem) if problem.status == StatusCode::NOT_FOUND => return Err(none.into()),
        other => other?,
    };
    let color = if answer.side == 0 { "white" } else { "black" };
    web.challenges.begin(id, &[(account.id(), color)]);
    Ok(ok())
}

pub(super) async fn accept(
    State(web): State<Web>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
    caller: Caller,
    account: Account,
) -> Result<Json<Value>, Plain> {
    web.admit(&caller, Cost::Game)?;
    web.admit_account(&account.id(), Cost::Game)?;
    let challenge = match take(&web, &id, |it| it.is_for(&account.id())) {
        Ok(challenge) => challenge,
        Err(none) => return sit(&web, &id, wanted, account, none).await,
    };
    // The game has the challenge's id, as clients expect.
    if let Err(problem) = web.host.create_as(id.clone(), challenge.options()).await {
        // It may be accepted when what stands in the way is gone.
        lock(&web.challenges.waiting).insert(id, challenge);
        return Err(problem.into());
    }
    let other = if challenge.color == "white" { "black" } else { "white" };
    web.challenges
        .begin(&id, &[(challenge.from.id(), challenge.color), (challenge.to.id(), other)]);
    Ok(ok())
}

/// By whom it was made to: declined; by whom it was made: withdrawn.
pub(super) async fn decline(
    State(web): State<Web>,
    Path(id): Path<String>,
    account: Account,
) -> Result<Json<Value>, Plain> {
    let user = account.id();
    let challenge = take(&web, &id, |it| it.is_for(&user) || it.from.id() == user)?;
    let kind = if challenge.is_for(&user) { "challengeDeclined" } else { "challengeCanceled" };
    let event = challenge.event(kind);
    web.challenges.tell(&challenge.from.id(), &event);
    web.challenges.tell(&challenge.to.id(), &event);
    Ok(ok())
}
