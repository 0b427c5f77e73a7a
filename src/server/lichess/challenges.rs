//! Open challenges, and the event streams that report them.
//!
//! They are held only in memory, with the games under way that the streams report. Deliberately absent: requests
//! (`challenge`, `stream`).

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::formats::person;
use super::terms::Terms;
use crate::server::accounts::Account;
use crate::server::lock::lock;
use crate::server::options::GameOptions;
use crate::server::problem::Problem;

/// Time that a challenge waits for an answer.
const LIFE: Duration = Duration::from_secs(3600);
/// Maximum number of pending challenges.
const WAITING: usize = 10_000;
/// Maximum number of pending challenges that one account has made.
const WAITING_OF_ACCOUNT: usize = 20;
/// Maximum number of an account's games that are read from the store.
pub(super) const GAMES: usize = 100;
/// Maximum number of an account's games that are held in memory.
const HELD: usize = 2 * GAMES;

/// Open challenges; the event streams of accounts, and their games under way.
#[derive(Debug)]
pub struct Challenges {
    /// Time that a challenge waits for an answer.
    life: Duration,
    /// By their ids.
    pub(super) waiting: Mutex<HashMap<String, Challenge>>,
    /// By the id of the account.
    pub(super) listeners: Mutex<HashMap<String, Vec<Listener>>>,
    /// Games under way, by the id of the account.
    games: Mutex<HashMap<String, Vec<Playing>>>,
}

/// A game under way, by its id, and the colour that an account plays.
pub(super) type Playing = (String, &'static str);

impl Default for Challenges {
    fn default() -> Self {
        Self::new(LIFE)
    }
}

pub(super) type Listener = mpsc::Sender<Bytes>;
/// A listener that does not keep its stream open.
pub(super) type WeakListener = mpsc::WeakSender<Bytes>;

/// A proposed game.
#[derive(Debug, Clone)]
pub(super) struct Challenge {
    pub(super) id: String,
    pub(super) from: Account,
    pub(super) to: Account,
    pub(super) terms: Terms,
    /// The challenger's colour.
    pub(super) color: &'static str,
    pub(super) made: Instant,
}

impl Challenge {
    pub(super) fn is_for(&self, user: &str) -> bool {
        self.to.id() == user
    }

    /// The challenge as an event of that kind.
    pub(super) fn event(&self, kind: &str) -> Value {
        let mut body = self.body();
        body["status"] = json!(match kind {
            "challengeCanceled" => "canceled",
            "challengeDeclined" => "declined",
            _ => "created",
        });
        json!({ "type": kind, "challenge": body })
    }

    pub(super) fn body(&self) -> Value {
        let mut body = self.terms.body(&self.id);
        body["challenger"] = person(&self.from);
        body["destUser"] = person(&self.to);
        body["color"] = json!(self.color);
        body["finalColor"] = json!(self.color);
        body
    }

    pub(super) fn options(&self, rules: String) -> GameOptions {
        let seat = usize::from(self.color == "black");
        self.terms.options(rules, vec![(seat, self.from.seat()), (1 - seat, self.to.seat())])
    }
}

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

    /// Adds a challenge to those that are pending, and notifies its players.
    ///
    /// # Errors
    /// Too many are pending already.
    pub(super) fn propose(&self, challenge: Challenge) -> Result<(), Problem> {
        self.forget_old();
        let mut waiting = lock(&self.waiting);
        let from = challenge.from.id();
        let own = waiting.values().filter(|it| it.from.id() == from).count();
        let too_many = |message: &str| {
            Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_challenges", message))
        };
        if own >= WAITING_OF_ACCOUNT {
            return too_many("too many of your challenges are pending: cancel some");
        }
        if waiting.len() >= WAITING {
            return too_many("too many challenges are pending");
        }
        // Under the lock, so that a stream that begins now either lists the challenge or is notified of it.
        self.notify_players(&challenge, "challenge");
        waiting.insert(challenge.id.clone(), challenge);
        Ok(())
    }

    /// Drops the challenges that had no answer in time, and notifies their players.
    pub(super) fn forget_old(&self) {
        let is_old = |it: &Challenge| it.made.elapsed() >= self.life;
        let old: Vec<Challenge> =
            lock(&self.waiting).extract_if(|_, it| is_old(it)).map(|it| it.1).collect();
        for challenge in old {
            self.notify_players(&challenge, "challengeCanceled");
        }
    }

    /// Sends an event about a challenge to its players, who may be one account.
    pub(super) fn notify_players(&self, challenge: &Challenge, kind: &str) {
        let (event, from) = (challenge.event(kind), challenge.from.id());
        self.notify(&from, &event);
        if !challenge.is_for(&from) {
            self.notify(&challenge.to.id(), &event);
        }
    }

    /// Opens an event stream of an account. `open` gets the first events (pending challenges to the account, and its games
    /// under way) and returns the listener, which gets all later events, and no event twice. Returns the second value
    /// that `open` returns.
    pub(super) fn listen<T>(
        &self,
        user: &str,
        stored: Vec<Playing>,
        open: impl FnOnce(&[Value]) -> (Listener, T),
    ) -> T {
        // Both stay locked until the listener is registered, so that no challenge and no game comes in between.
        let waiting = lock(&self.waiting);
        let mut games = lock(&self.games);
        let to_user = waiting.values().filter(|it| it.is_for(user));
        let mut first: Vec<Value> = to_user.map(|it| it.event("challenge")).collect();
        let own = self.add_games(&mut games, user, stored);
        first.extend(own.iter().map(|(id, color)| started(id, color)));
        let (listener, opened) = open(&first);
        lock(&self.listeners).entry(user.to_owned()).or_default().push(listener);
        opened
    }

    /// Ends an event stream of an account.
    pub(super) fn unlisten(&self, user: &str, listener: &WeakListener) {
        let Some(listener) = listener.upgrade() else { return };
        if let Some(all) = lock(&self.listeners).get_mut(user) {
            all.retain(|it| !it.same_channel(&listener));
        }
    }

    /// The games that an account plays: those that began here, and those from the store, which are now held here, too.
    pub(super) fn under_way(&self, user: &str, stored: Vec<Playing>) -> Vec<Playing> {
        self.add_games(&mut lock(&self.games), user, stored)
    }

    /// Adds games from the store to those held for an account, so that their ends will be reported. Returns all games held.
    fn add_games(
        &self,
        games: &mut HashMap<String, Vec<Playing>>,
        user: &str,
        stored: Vec<Playing>,
    ) -> Vec<Playing> {
        let own = games.entry(user.to_owned()).or_default();
        for game in stored {
            if own.iter().all(|it| it.0 != game.0) {
                self.hold(own, user, game);
            }
        }
        let held = own.clone();
        if held.is_empty() {
            games.remove(user);
        }
        held
    }

    /// Adds a game to those held for an account, which are locked, and reports its start.
    fn hold(&self, own: &mut Vec<Playing>, user: &str, game: Playing) {
        self.notify(user, &started(&game.0, game.1));
        own.push(game);
        own.drain(..own.len().saturating_sub(HELD));
    }

    /// Sends an event to all listeners of an account. A listener that has no room for it is dropped: its stream ends after
    /// the earlier events, instead of missing this one.
    pub(super) fn notify(&self, user: &str, event: &Value) {
        if let Some(listeners) = lock(&self.listeners).get_mut(user) {
            let text = line(event);
            listeners.retain(|it| it.try_send(text.clone()).is_ok());
        }
    }

    /// Holds a game that has begun for each of its players, who come with their colours, and reports its start.
    pub(super) fn begin(&self, id: &str, players: &[(String, &'static str)]) {
        for (user, color) in players {
            let mut all = lock(&self.games);
            let own = all.entry(user.clone()).or_default();
            if own.iter().all(|it| it.0 != id || it.1 != *color) {
                self.hold(own, user, (id.to_owned(), color));
            }
        }
    }

    /// No longer holds a game for an account, and reports its end.
    pub(super) fn end(&self, id: &str, user: &str) {
        let mut all = lock(&self.games);
        let Some(games) = all.get_mut(user) else { return };
        // An account that plays against itself has both seats.
        let ended: Vec<Playing> = games.extract_if(.., |it| it.0 == id).collect();
        if games.is_empty() {
            all.remove(user);
        }
        for (_, color) in ended {
            self.notify(user, &json!({ "type": "gameFinish", "game": game(id, color) }));
        }
    }
}

pub(super) fn line(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}

fn started(id: &str, color: &str) -> Value {
    json!({ "type": "gameStart", "game": game(id, color) })
}

/// A game under way.
pub(super) fn game(id: &str, color: &str) -> Value {
    json!({ "id": id, "gameId": id, "fullId": id, "color": color })
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::error::TryRecvError;

    use super::*;

    #[test]
    fn a_stream_that_misses_an_event_ends() {
        let challenges = Challenges::default();
        let mut inbox = challenges.listen("ann", Vec::new(), |_| mpsc::channel(2));
        for number in 0..3 {
            challenges.notify("ann", &json!(number));
        }
        assert_eq!(challenges.listeners(), 0);
        assert_eq!(inbox.try_recv(), Ok(line(&json!(0))));
        assert_eq!(inbox.try_recv(), Ok(line(&json!(1))));
        assert_eq!(inbox.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn a_game_against_oneself_ends_in_both_seats() {
        let challenges = Challenges::default();
        let both = [("ann".to_owned(), "white"), ("ann".to_owned(), "black")];
        challenges.begin("g", &both);
        assert_eq!(challenges.under_way("ann", Vec::new()).len(), 2);
        challenges.end("g", "ann");
        assert!(challenges.under_way("ann", Vec::new()).is_empty());
    }
}
