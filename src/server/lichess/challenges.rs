//! Open challenges, and the event streams that report them.
//!
//! Both are held only in memory. Deliberately absent: requests (`challenge`, `stream`).

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::words::{seat_of, speed, time_control, variant};
use crate::server::accounts::Account;
use crate::server::core::Control;
use crate::server::library::lock;
use crate::server::options::GameOptions;
use crate::server::problem::Problem;

/// Time that a challenge waits for an answer.
const LIFE: Duration = Duration::from_secs(3600);

/// Open challenges, and the event streams that report them.
#[derive(Debug)]
pub struct Challenges {
    /// Time that a challenge waits for an answer.
    life: Duration,
    pub(super) waiting: Mutex<HashMap<String, Challenge>>,
    pub(super) listeners: Mutex<HashMap<String, Vec<Listener>>>,
    /// Games of each account that are going on.
    games: Mutex<HashMap<String, Vec<Playing>>>,
}

/// A game that is going on, by its id, and the colour that an account plays.
pub(super) type Playing = (String, &'static str);

impl Challenges {
    /// No challenges yet; each will wait this long for an answer.
    pub fn new(life: Duration) -> Self {
        let (waiting, listeners, games) = Default::default();
        Self { life, waiting, listeners, games }
    }

    /// The number of streams of events.
    pub fn listeners(&self) -> usize {
        lock(&self.listeners).values().map(Vec::len).sum()
    }
}

impl Default for Challenges {
    fn default() -> Self {
        Self::new(LIFE)
    }
}

/// Maximum number of pending challenges, of all accounts and of one.
const WAITING: usize = 10_000;

const OF_ONE: usize = 20;

/// A proposed game.
#[derive(Debug, Clone)]
pub(super) struct Challenge {
    pub(super) id: String,
    pub(super) from: Account,
    pub(super) to: Account,
    pub(super) variant: String,
    pub(super) fen: Option<String>,
    pub(super) clock: Option<Control>,
    pub(super) rated: bool,
    /// The challenger's colour.
    pub(super) color: &'static str,
    pub(super) made: Instant,
}

impl Challenge {
    pub(super) fn is_for(&self, user: &str) -> bool {
        self.to.id() == user
    }

    pub(super) fn event(&self, kind: &str) -> Value {
        json!({ "type": kind, "challenge": self.body() })
    }

    pub(super) fn body(&self) -> Value {
        let person = |it: &Account| json!({ "id": it.id(), "name": it.name, "online": true });
        json!({
            "id": self.id, "url": format!("/game/{}", self.id), "status": "created",
            "challenger": person(&self.from), "destUser": person(&self.to), "rated": self.rated,
            "variant": variant(&self.variant), "speed": speed(self.clock), "timeControl": time_control(self.clock),
            "color": self.color, "finalColor": self.color, "initialFen": self.fen,
        })
    }

    pub(super) fn options(&self) -> GameOptions {
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

impl Challenges {
    /// Adds a challenge to those that are pending, and notifies both players.
    ///
    /// # Errors
    /// Too many are pending already.
    pub(super) fn propose(&self, challenge: Challenge) -> Result<(), Problem> {
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
        let (event, to) = (challenge.event("challenge"), challenge.to.id());
        waiting.insert(challenge.id.clone(), challenge);
        // Under the lock, so that a stream that begins now either lists the challenge or is notified of it.
        self.notify(&to, &event);
        self.notify(&from, &event);
        Ok(())
    }

    /// A challenge without an answer in time is dropped; both players are notified.
    pub(super) fn forget_old(&self) {
        let is_old = |it: &Challenge| it.made.elapsed() >= self.life;
        let old: Vec<Challenge> =
            lock(&self.waiting).extract_if(|_, it| is_old(it)).map(|it| it.1).collect();
        for challenge in old {
            let event = challenge.event("challengeCanceled");
            self.notify(&challenge.from.id(), &event);
            self.notify(&challenge.to.id(), &event);
        }
    }
}

/// Maximum number of an account's games that are read from the store.
pub(super) const GAMES: usize = 100;
/// Maximum number of an account's games that are held in memory.
const HELD: usize = 2 * GAMES;

pub(super) type Listener = mpsc::Sender<Bytes>;

pub(super) fn line(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}

pub(super) fn started(id: &str, color: &str) -> Value {
    game_event("gameStart", id, color)
}

pub(super) fn game_event(kind: &str, id: &str, color: &str) -> Value {
    json!({ "type": kind, "game": { "id": id, "gameId": id, "fullId": id, "color": color } })
}

impl Challenges {
    /// Registers a listener, which `open` makes of its first events: the challenges to the account that wait for an
    /// answer, and its games under way. It is notified of whatever comes later, and of nothing twice.
    pub(super) fn listen<T>(
        &self,
        user: &str,
        stored: Vec<Playing>,
        open: impl FnOnce(&[Value]) -> (Listener, T),
    ) -> (Listener, T) {
        // Both stay locked until the listener is registered: no challenge and no game comes in between.
        let waiting = lock(&self.waiting);
        let mut games = lock(&self.games);
        let to_user = waiting.values().filter(|it| it.is_for(user));
        let mut first: Vec<Value> = to_user.map(|it| it.event("challenge")).collect();
        let own = self.add_games(&mut games, user, stored);
        first.extend(own.iter().map(|(id, color)| started(id, color)));
        let (sender, opened) = open(&first);
        lock(&self.listeners).entry(user.to_owned()).or_default().push(sender.clone());
        (sender, opened)
    }

    /// The games that an account plays: those that began here, and those that are in the store.
    pub(super) fn under_way(&self, user: &str, stored: Vec<Playing>) -> Vec<Playing> {
        self.add_games(&mut lock(&self.games), user, stored)
    }

    /// Adds games in the store to those of an account, so that it is notified of their ends as well. Returns all.
    fn add_games(
        &self,
        games: &mut HashMap<String, Vec<Playing>>,
        user: &str,
        stored: Vec<Playing>,
    ) -> Vec<Playing> {
        let mut own = games.remove(user).unwrap_or_default();
        for (id, color) in stored {
            if own.iter().all(|it| it.0 != id) {
                self.notify(user, &started(&id, color));
                own.push((id, color));
            }
        }
        own.drain(..own.len().saturating_sub(HELD));
        if !own.is_empty() {
            games.insert(user.to_owned(), own.clone());
        }
        own
    }

    /// Sends an event to all listeners of an account.
    pub(super) fn notify(&self, user: &str, event: &Value) {
        if let Some(listeners) = lock(&self.listeners).get_mut(user) {
            let text = line(event);
            listeners.retain(|it| it.try_send(text.clone()).is_ok());
        }
    }

    pub(super) fn begin(&self, id: &str, players: &[(String, &'static str)]) {
        for (user, color) in players {
            let mut all = lock(&self.games);
            let games = all.entry(user.clone()).or_default();
            if games.iter().any(|it| it.0 == id && it.1 == *color) {
                continue;
            }
            if games.len() >= HELD {
                games.remove(0);
            }
            games.push((id.to_owned(), color));
            // Under the lock, as in `propose`.
            self.notify(user, &started(id, color));
        }
    }

    pub(super) fn end(&self, id: &str, user: &str) {
        let mut all = lock(&self.games);
        let Some(games) = all.get_mut(user) else { return };
        let Some(at) = games.iter().position(|it| it.0 == id) else { return };
        let (_, color) = games.remove(at);
        if games.is_empty() {
            all.remove(user);
        }
        self.notify(user, &game_event("gameFinish", id, color));
    }
}
