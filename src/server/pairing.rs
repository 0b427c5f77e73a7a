//! Pairing: an account that asks for a rated game is paired with the account nearest in rating that waits for the same
//! game.
//!
//! A waiting account has a game with a free seat, and a record that names the game. To pair with this account is to
//! change the record, which only one request can do, on whichever node. Two accounts that begin to wait at the same
//! moment find each other as well: each looks again after writing its own record, and changes both. The account that
//! finds the other one leaves a record for a moment, too: other requests of it get the same game, not a second opponent.
//! Deliberately absent: guests, who have no ratings.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::accounts::{Account, is_closed};
use super::core::{Act, Control, Input, Setup};
use super::ids::{random_below, short_hash};
use super::moderation::is_blocked;
use super::options::GameOptions;
use super::problem::Problem;
use super::rating::{self, RatedRules};
use super::store::{Change, GameState, Store, StoreError};
use super::web::{Web, to_the_end};

/// Time for which a request is valid, in milliseconds: a client that still waits asks again, and keeps its game.
const PATIENCE: u64 = 10 * 60 * 1000;
/// Waiting time after which the difference of ratings no longer matters, in milliseconds.
const EAGER: u64 = 60 * 1000;
/// Time for an account that has found an opponent to take the seat, in milliseconds. After that the opponent waits again.
const JOINING: u64 = 10 * 1000;
/// The difference of ratings up to which players are paired at once.
const NEAR: f64 = 300.0;
/// Maximum number of requests that are examined.
const EXAMINED: usize = 200;
/// Maximum number of attempts to take a free seat, which another player may take at the same moment.
const TRIES: usize = 5;

/// The wanted game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pairing {
    /// The name of a game in the catalogue (chess if absent).
    game: Option<String>,
    /// Presets on top of the game's own.
    #[serde(default)]
    presets: Vec<String>,
    clock: Option<Control>,
}

/// The result of a request for an opponent.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Paired {
    /// The game: with an opponent, or with a free seat that waits for one.
    pub(super) id: String,
    pub(super) url: String,
    /// Whether an opponent is there. If not, asking again looks further.
    pub(super) paired: bool,
}

/// An account that waits, or takes the seat opposite one that waits, as the store keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Waiting {
    game: String,
    rating: f64,
    at: u64,
    /// Whether an opponent was found: the account receives the game with its next request.
    #[serde(default)]
    is_met: bool,
    /// When the opponent was found.
    #[serde(default)]
    met_at: u64,
    /// Whether the account takes a seat in the game of another one. Then the record is valid for [`JOINING`].
    #[serde(default)]
    is_joining: bool,
}

impl Waiting {
    /// How long the account has waited, in milliseconds.
    fn waited(&self, now: u64) -> u64 {
        now.saturating_sub(self.at)
    }

    /// Whether the request is no longer valid.
    fn is_over(&self, now: u64) -> bool {
        self.waited(now) > if self.is_joining { JOINING } else { PATIENCE }
    }

    /// Whether an opponent is about to take the seat.
    fn is_being_met(&self, now: u64) -> bool {
        self.is_met && now.saturating_sub(self.met_at) <= JOINING
    }

    /// The record as its game is now, with `is_met` if the opponent has come; `None` if the game is over. A player may
    /// have joined it by its link, and one who was found may never have come.
    fn checked(self, store: &mut dyn Store) -> Result<Option<Self>, StoreError> {
        let state = store.summary(&self.game)?.map(|it| it.state);
        Ok(match state {
            Some(GameState::Waiting) => Some(Self { is_met: false, ..self }),
            Some(GameState::Playing) => Some(Self { is_met: true, ..self }),
            Some(GameState::Over) | None => None,
        })
    }
}

/// A request for an opponent.
#[derive(Debug, Clone)]
struct Asking {
    /// The id of the account.
    id: String,
    rules: RatedRules,
    /// The prefix of the keys of all requests for the same game.
    prefix: String,
    now: u64,
}

/// A waiting account that may be paired with.
struct Candidate {
    /// The difference of ratings.
    distance: f64,
    key: String,
    /// The record as text.
    text: String,
    waiting: Waiting,
}

impl Asking {
    fn key(&self) -> String {
        format!("{}{}", self.prefix, self.id)
    }

    /// Whether the account has a seat in a game.
    fn is_seated(&self, store: &mut dyn Store, game: &str) -> Result<bool, StoreError> {
        let accounts = store.summary(game)?.map(|it| it.accounts).unwrap_or_default();
        Ok(accounts.iter().flatten().any(|it| *it == self.id))
    }

    /// The account's own record, if it has one. A request that is over begins anew, with the same game; if an opponent was
    /// found who never came, it goes on. The record is removed if there is an opponent, or the game is over.
    fn own(&self, store: &mut dyn Store) -> Result<Option<Waiting>, StoreError> {
        let Some(text) = store.record(&self.key())? else { return Ok(None) };
        let own = serde_json::from_str::<Waiting>(&text).ok();
        let was_met = own.as_ref().is_some_and(|it| it.is_met);
        let is_being_met = own.as_ref().is_some_and(|it| it.is_being_met(self.now));
        let own = own.map(|it| it.checked(store)).transpose()?.flatten();
        // Another player may have taken the seat that the account was about to take.
        let is_lost = match &own {
            Some(it) if it.is_joining && it.is_met => !self.is_seated(store, &it.game)?,
            _ => false,
        };
        let (own, to) = match own {
            Some(it) if it.is_joining && (is_lost || it.is_over(self.now)) => (None, None),
            Some(it) if it.is_joining => return Ok(Some(it)),
            Some(it) if it.is_met => (Some(it).filter(|it| !it.is_over(self.now)), None),
            Some(it) if !is_being_met && (was_met || it.is_over(self.now)) => {
                let at = if it.is_over(self.now) { self.now } else { it.at };
                let anew = Waiting { at, ..it };
                let to = serde_json::to_string(&anew).ok();
                (Some(anew), to)
            }
            Some(it) => return Ok(Some(it)),
            None => (None, None),
        };
        // If another request was faster, its change stands.
        store.change(&[Change { key: self.key(), from: Some(text), to }])?;
        Ok(own)
    }

    /// The waiting accounts that this one may be paired with, the nearest in rating first. Removes records that have no use
    /// any more.
    fn candidates(&self, store: &mut dyn Store, rating: f64) -> Result<Vec<Candidate>, StoreError> {
        let mut candidates = Vec::new();
        let records = store.records(&self.prefix, "", EXAMINED)?;
        // The accounts of requests that are over find their games by them, unless they leave no room for others.
        let is_full = records.len() == EXAMINED;
        for (key, text) in records {
            let Ok(waiting) = serde_json::from_str::<Waiting>(&text) else { continue };
            if waiting.is_being_met(self.now) {
                continue;
            }
            let is_over = waiting.is_over(self.now);
            let current = waiting.checked(store)?;
            let Some(waiting) = current.filter(|it| !is_over || !(it.is_met || is_full)) else {
                store.change(&[Change { key, from: Some(text), to: None }])?;
                continue;
            };
            let id = &key[self.prefix.len()..];
            let is_apart = is_over || waiting.is_met || id == self.id;
            if is_apart || is_blocked(store, &self.id, id)? || is_closed(store, id)? {
                continue;
            }
            let distance = (waiting.rating - rating).abs();
            if distance <= NEAR || waiting.waited(self.now) > EAGER {
                candidates.push(Candidate { distance, key, text, waiting });
            }
        }
        candidates.sort_by(|one, other| one.distance.total_cmp(&other.distance));
        Ok(candidates)
    }

    /// Pairs with the nearest waiting account; this account no longer waits then, but joins. Returns the game to join.
    fn meet(&self, store: &mut dyn Store) -> Result<Option<String>, StoreError> {
        let rating = rating::current(store, &self.id, &self.rules)?;
        let candidates = self.candidates(store, rating)?;
        let own = store.record(&self.key())?;
        let known = own.as_deref().and_then(|it| serde_json::from_str::<Waiting>(it).ok());
        if known.is_some_and(|it| it.is_met) {
            // Another request was faster: the account is sent the game when it asks again.
            return Ok(None);
        }
        for Candidate { key, text, waiting, .. } in candidates {
            let met = Waiting { is_met: true, met_at: self.now, ..waiting };
            let joining = Waiting { rating, at: self.now, is_joining: true, ..met.clone() };
            let to = |it: &Waiting| serde_json::to_string(it).ok();
            let changes = [
                Change { key, from: Some(text), to: to(&met) },
                Change { key: self.key(), from: own.clone(), to: to(&joining) },
            ];
            if store.change(&changes)? {
                return Ok(Some(met.game));
            }
        }
        Ok(None)
    }

    /// Removes the record that the account takes a seat in a game, which it did not get.
    fn give_up(&self, store: &mut dyn Store, game: &str) -> Result<(), StoreError> {
        let Some(text) = store.record(&self.key())? else { return Ok(()) };
        let own = serde_json::from_str::<Waiting>(&text);
        if own.is_ok_and(|it| it.is_joining && it.game == game) {
            store.change(&[Change { key: self.key(), from: Some(text), to: None }])?;
        }
        Ok(())
    }

    /// Puts the account on the list. If another of its requests was faster, the game of that one stays there, and is
    /// returned.
    fn wait(&self, store: &mut dyn Store, game: &str) -> Result<Option<String>, StoreError> {
        let rating = rating::current(store, &self.id, &self.rules)?;
        let (game, at) = (game.to_owned(), self.now);
        let waiting = Waiting { game, rating, at, is_met: false, met_at: 0, is_joining: false };
        let to = serde_json::to_string(&waiting).ok();
        if store.change(&[Change { key: self.key(), from: None, to }])? {
            return Ok(None);
        }
        let listed = store.record(&self.key())?;
        Ok(listed.and_then(|it| serde_json::from_str::<Waiting>(&it).ok()).map(|it| it.game))
    }
}

impl Web {
    /// Finds an opponent for a rated game, or waits for one.
    ///
    /// # Errors
    /// The clock is not valid, the game or its presets cannot be loaded, the game does not have two sides, or the
    /// account was made by an earlier version.
    pub(super) async fn pair(&self, account: &Account, wanted: Pairing) -> Result<Paired, Problem> {
        let Pairing { game, presets, clock } = wanted;
        if let Some(fault) = clock.and_then(|it| it.fault()) {
            return Err(Problem::unprocessable("bad_clock", fault));
        }
        account.can_count()?;
        let game = game.unwrap_or_else(|| "chess".to_owned());
        let own_rules = self.host.library.own_hash();
        let ruleset = self.host.ruleset(&own_rules, &game, &presets).await?;
        if ruleset.sides().len() != 2 {
            return Err(Problem::not_rated("have two sides"));
        }
        let rules = RatedRules::of(&ruleset, &presets, None);
        let start = ruleset.chosen_start().unwrap_or_default();
        let clock_text = serde_json::to_string(&clock).unwrap_or_default();
        let prefix =
            format!("pair {} ", short_hash(&format!("{} {start} {clock_text}", rules.name)));
        let asking = Asking { id: account.id(), rules, prefix, now: self.host.now() };
        let side = random_below(2)?;
        let setup = Setup {
            game,
            presets,
            rules: own_rules,
            clock,
            chat: true,
            listed: true,
            rated: true,
            ..Setup::default()
        };
        let seats = vec![(side, account.seat())];
        let options = GameOptions { setup, seats, ..GameOptions::default() };
        let (web, account) = (self.clone(), account.clone());
        // The store names a pair before the seat is taken: the player who waits must not be left without an opponent.
        to_the_end(async move { web.meet_or_wait(&account, asking, options).await }).await
    }

    /// Takes the seat opposite a waiting player, or makes a game that waits.
    async fn meet_or_wait(
        &self,
        account: &Account,
        asking: Asking,
        options: GameOptions,
    ) -> Result<Paired, Problem> {
        let looking = asking.clone();
        let own = self.host.reads().ask(move |store| looking.own(store)).await?;
        if let Some(it) = own.as_ref().filter(|it| it.is_met || it.is_joining) {
            return Ok(Paired::new(it.game.clone(), it.is_met));
        }
        let own_game = own.as_ref().map(|it| it.game.as_str());
        if let Some(id) = self.take_opposite_seat(account, &asking, own_game).await? {
            if let Some(it) = own {
                self.leave(account, &it.game).await;
            }
            return Ok(Paired::new(id, true));
        }
        if let Some(it) = own {
            return Ok(Paired::new(it.game, false));
        }
        let id = self.host.create(options).await?;
        if let Some(listed) = self.list(account, &asking, &id).await? {
            return Ok(Paired::new(listed, false));
        }
        match self.take_opposite_seat(account, &asking, Some(&id)).await? {
            None => Ok(Paired::new(id, false)),
            Some(other) => {
                self.leave(account, &id).await;
                Ok(Paired::new(other, true))
            }
        }
    }

    /// Aborts the game that an account has waited in, which is no longer needed, unless another player has just joined it
    /// by its link.
    async fn leave(&self, account: &Account, id: &str) {
        let game = id.to_owned();
        let found = self.host.reads().ask(move |store| store.summary(&game)).await;
        if found.is_ok_and(|it| it.is_none_or(|it| it.state != GameState::Waiting)) {
            return;
        }
        let abort = Input::act(account.token.clone(), Act::Abort);
        if let Err(problem) = self.host.step(id, abort).await {
            tracing::debug!(game = id, problem.message, "a game that waited goes on");
        }
    }

    /// Puts an account on the list with a game that it waits in. If another of its requests was faster, the game is
    /// aborted, and that of the other request is returned.
    async fn list(
        &self,
        account: &Account,
        asking: &Asking,
        game: &str,
    ) -> Result<Option<String>, Problem> {
        let (asking, own) = (asking.clone(), game.to_owned());
        let listed = self.host.reads().ask(move |store| asking.wait(store, &own)).await?;
        let listed = listed.filter(|it| it != game);
        if listed.is_some() {
            self.leave(account, game).await;
        }
        Ok(listed)
    }

    /// Takes the seat opposite a waiting player. Returns the game; `None` if no player waits. Then the account still waits
    /// in its `own` game.
    async fn take_opposite_seat(
        &self,
        account: &Account,
        asking: &Asking,
        own: Option<&str>,
    ) -> Result<Option<String>, Problem> {
        let (mut failed, mut has_met) = (None, false);
        for _ in 0..TRIES {
            let looking = asking.clone();
            let found = self.host.reads().ask(move |store| looking.meet(store)).await?;
            let Some(game) = found else { break };
            has_met = true;
            let (name, token) = (account.name.clone(), account.token.clone());
            let join = Input::Join { side: None, name, token, rated: true };
            let Err(problem) = self.host.step(&game, join).await else { return Ok(Some(game)) };
            let joining = asking.clone();
            self.host.reads().ask(move |store| joining.give_up(store, &game)).await?;
            if problem.status == StatusCode::SERVICE_UNAVAILABLE {
                failed = Some(problem);
                break;
            }
            // The seat is taken, or the request is over: try the next one.
        }
        if has_met && let Some(own) = own {
            // What came to nothing has taken the account off the list.
            self.list(account, asking, own).await?;
        }
        failed.map_or(Ok(None), Err)
    }
}

impl Paired {
    fn new(id: String, paired: bool) -> Self {
        Self { url: format!("/game/{id}"), id, paired }
    }
}
