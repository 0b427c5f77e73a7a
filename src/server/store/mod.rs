//! Where games are kept: a log of events for each game, append-only and chained by hashes.
//!
//! A [`Store`] is blocking and belongs to one thread; [`Journal`] and [`Reads`] are the threads and
//! what the rest of the server talks to. An append says which event it expects to come after and
//! under which [`Lease`] it is made, so two owners of one game cannot both write; it is durable when
//! it returns.
//! Beside the logs there are records, which change: accounts, ratings. A change names what it changes from,
//! so that nothing is done twice.
//! Deliberately absent: changing or deleting an event. A takeback is an event too; an old game is forgotten whole.

mod chain;
mod check;
mod journal;
mod lease;
#[cfg(feature = "postgres")]
mod listen;
mod lockfile;
#[cfg(feature = "postgres")]
mod postgres;
mod prune;
mod sqlite;
mod tally;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use utoipa::ToSchema;

pub use chain::Chain;
pub use journal::{Journal, Reads, Writer};
pub(in crate::server) use lease::ALL_NODES;
pub use lease::{Claim, Lease, Leases, News, Nodes};
pub use lockfile::{StoreLock, lock_store};
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use sqlite::Sqlite;

/// An event as it is stored: its number, counted from 1, its text, and the hash of all until it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub seq: u64,
    pub payload: String,
    pub hash: String,
}

/// Events to be added to one game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    pub game: String,
    /// The number of the last event so far; 0 makes the game.
    pub expected: u64,
    pub payloads: Vec<String>,
    /// The state of the game after these events.
    pub summary: Summary,
    /// The game after these events as facts, to be loaded faster than from its events alone. The
    /// last one is kept.
    pub snapshot: Option<String>,
    /// The right to append, where several nodes share a store.
    pub lease: Option<Lease>,
    /// Keys of empty records that are made with these events; existing ones stay.
    pub marks: Vec<String>,
}

/// A record that is to change: something small that is kept under a key, beside the logs of games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub key: String,
    /// What it has to be now; none for one that is not there.
    pub from: Option<String>,
    /// What it is to be; none to remove it.
    pub to: Option<String>,
}

/// A game in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Summary {
    pub id: String,
    /// The game's name in the catalogue.
    pub game: String,
    pub presets: Vec<String>,
    pub state: GameState,
    /// The players by side; null is a free seat.
    pub players: Vec<Option<String>>,
    /// The ids of the accounts that sit there, if any do; null for other players.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<Option<String>>,
    /// Whether its end changes the ratings of the accounts that play it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rated: bool,
    /// Actions played.
    pub ply: usize,
    /// How it ended, in words.
    pub result: Option<String>,
    /// When it last changed, in milliseconds since 1970.
    pub updated: u64,
    /// Whether lists show it.
    #[serde(skip)]
    pub listed: bool,
}

/// A summary as it is stored.
fn read_summary(game: &str, text: &str) -> Result<Summary, StoreError> {
    let damaged = |it: serde_json::Error| StoreError::Damaged {
        game: game.to_owned(),
        seq: 0,
        fault: format!("its summary: {it}"),
    };
    serde_json::from_str(text).map_err(damaged)
}

/// A rule set that an account keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    pub owner: String,
    /// The hash of its text.
    pub rules: String,
    /// The game or the preset that it is.
    pub name: Option<String>,
    /// When it was kept, in milliseconds since 1970.
    pub at: u64,
}

/// All that a store has of a game, unverified, as it was at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The columns of the game's row that its summary is found by.
    pub state: String,
    pub listed: i64,
    pub updated: i64,
    /// The summary as text.
    pub summary: String,
    pub rows: Vec<StoredEvent>,
}

/// Where a game stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GameState {
    /// A seat is free.
    Waiting,
    Playing,
    Over,
}

impl GameState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Playing => "playing",
            Self::Over => "over",
        }
    }
}

/// Another node has written to the game.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    #[error("game {game} is at event {found}, not {expected}")]
    Moved { game: String, expected: u64, found: u64 },
    #[error("game {game} belongs to another node")]
    Lost { game: String },
}

/// Why a store does not do what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    #[error("the log of game {game} is damaged at event {seq}: {fault}")]
    Damaged { game: String, seq: u64, fault: String },
    #[error("{url} is no store: {fault}")]
    Url { url: String, fault: String },
    #[error(
        "{url} is served by another process{}: stop that one, or let several share a postgres:// store",
        process.as_ref().map(|it| format!(" ({it})")).unwrap_or_default()
    )]
    Taken { url: String, process: Option<String> },
}

/// Maximum number of attempts at a change while others change the same records.
const TRIES: usize = 8;

/// Changes records from what they are: `edit` reads them, and gives its answer and the changes, or why nothing is
/// changed. It is called anew when another change came between. `None` if others were faster each time.
///
/// # Errors
/// The store is away.
pub fn edited<T, E>(
    store: &mut dyn Store,
    mut edit: impl FnMut(&mut dyn Store) -> Result<Result<(T, Vec<Change>), E>, StoreError>,
) -> Result<Option<Result<T, E>>, StoreError> {
    for _ in 0..TRIES {
        let (answer, changes) = match edit(store)? {
            Ok(it) => it,
            Err(why) => return Ok(Some(Err(why))),
        };
        if store.change(&changes)? {
            return Ok(Some(Ok(answer)));
        }
    }
    Ok(None)
}

/// What a check of a whole store found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    pub games: u64,
    pub events: u64,
    /// What is wrong, a line each.
    pub faults: Vec<String>,
}

/// A log of events for each game.
pub trait Store: Send {
    /// Adds to several games in one durable transaction. A conflict concerns its own game alone.
    ///
    /// # Errors
    /// Nothing was stored.
    fn append(&mut self, batch: &[Append]) -> Result<Vec<Result<(), Conflict>>, StoreError>;

    /// The events of a game after a number, in order, their hashes verified. None if there is no
    /// such game.
    ///
    /// # Errors
    /// The store is away, or the log is not what was written.
    fn read(&mut self, game: &str, after: u64) -> Result<Option<Vec<StoredEvent>>, StoreError>;

    /// The events of a game after a number, in order, `limit` at most; their hashes are verified, those
    /// before are not. None if there is no such game.
    ///
    /// # Errors
    /// The store is away, or this part of the log is not what was written.
    fn page(
        &mut self,
        game: &str,
        after: u64,
        limit: usize,
    ) -> Result<Option<Vec<StoredEvent>>, StoreError>;

    /// The last snapshot of a game, and the event after which it was taken. None if there is none,
    /// or if it is not what was written: a log tells the same, only slower.
    ///
    /// # Errors
    /// The store is away.
    fn snapshot(&mut self, game: &str) -> Result<Option<(u64, String)>, StoreError>;

    /// Listed games, the last changed first; those that come after the game `before` if it is given. Games
    /// that are not over, and in which nothing has happened since `stale`, are left out.
    ///
    /// # Errors
    /// The store is away.
    fn list(
        &mut self,
        state: Option<GameState>,
        before: Option<&str>,
        limit: usize,
        stale: u64,
    ) -> Result<Vec<Summary>, StoreError>;

    /// Keeps a text under its hash (the rules that games are played by), durably.
    ///
    /// # Errors
    /// The store is away.
    fn put_text(&mut self, hash: &str, text: &str) -> Result<(), StoreError> {
        self.put_texts(&[(hash, text)]).map(|_| ())
    }

    /// Keeps all these texts, or none if there is another one under some of their keys: then false.
    ///
    /// # Errors
    /// The store is away.
    fn put_texts(&mut self, texts: &[(&str, &str)]) -> Result<bool, StoreError>;

    /// A text that was kept.
    ///
    /// # Errors
    /// The store is away.
    fn text(&mut self, hash: &str) -> Result<Option<String>, StoreError>;

    /// Puts a rule set on its owner's list, or changes what the list says of it, and keeps its text.
    /// False if there are so many others on the list already.
    ///
    /// # Errors
    /// The store is away.
    fn add_upload(&mut self, upload: &Upload, text: &str, limit: usize)
    -> Result<bool, StoreError>;

    /// An owner's list of rule sets, the oldest first.
    ///
    /// # Errors
    /// The store is away.
    fn uploads(&mut self, owner: &str) -> Result<Vec<Upload>, StoreError>;

    /// Takes a rule set from its owner's list; its text stays. False if it is not on it.
    ///
    /// # Errors
    /// The store is away.
    fn drop_upload(&mut self, owner: &str, rules: &str) -> Result<bool, StoreError>;

    /// The record of a key.
    ///
    /// # Errors
    /// The store is away.
    fn record(&mut self, key: &str) -> Result<Option<String>, StoreError>;

    /// Records whose keys begin with `prefix` (ASCII, not empty) and come after `after`, by key, `limit` at most:
    /// keys and values.
    ///
    /// # Errors
    /// The store is away.
    fn records(
        &mut self,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, String)>, StoreError>;

    /// Makes all these changes durably, or none if some record is not what its change says it is: then
    /// false.
    ///
    /// # Errors
    /// The store is away.
    fn change(&mut self, changes: &[Change]) -> Result<bool, StoreError>;

    /// What a list says of a game.
    ///
    /// # Errors
    /// The store is away.
    fn summary(&mut self, game: &str) -> Result<Option<Summary>, StoreError>;

    /// The games in which nothing has happened since `before`, and for which nothing is left to be done.
    ///
    /// # Errors
    /// The store is away.
    fn older(&mut self, before: u64) -> Result<Vec<String>, StoreError>;

    /// Forgets those of these games in which still nothing has happened since `before`, with all that records say
    /// of them: their number.
    ///
    /// # Errors
    /// Nothing was forgotten.
    fn forget(&mut self, games: &[String], before: u64) -> Result<usize, StoreError>;

    /// All games.
    ///
    /// # Errors
    /// The store is away.
    fn games(&mut self) -> Result<Vec<String>, StoreError>;

    /// All that there is of a game.
    ///
    /// # Errors
    /// The store is away.
    fn whole(&mut self, game: &str) -> Result<Option<Whole>, StoreError>;

    /// The games that have a snapshot.
    ///
    /// # Errors
    /// The store is away.
    fn kept_games(&mut self) -> Result<Vec<String>, StoreError>;

    /// Writes a copy that can be opened like the store itself.
    ///
    /// # Errors
    /// The store is away, or the file is there or cannot be written.
    fn backup(&mut self, to: &Path) -> Result<(), StoreError>;

    /// Writes something small durably, to see whether anything can be stored.
    ///
    /// # Errors
    /// Nothing can.
    fn probe(&mut self) -> Result<(), StoreError>;

    /// Holds every row of every table against its hash, the rows that it belongs to and the tally of
    /// its table.
    ///
    /// # Errors
    /// The store is away.
    fn check(&mut self) -> Result<Health, StoreError>;
}

/// Opens the store of a URL: `sqlite://PATH`, a plain path, or `postgres://...` for several nodes.
///
/// # Errors
/// There is no such store, and none can be made.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    match url.split_once("://") {
        Some(("sqlite", path)) => Ok(Box::new(Sqlite::open(Path::new(path))?)),
        None => Ok(Box::new(Sqlite::open(Path::new(url))?)),
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => Ok(Box::new(Postgres::open(url)?)),
        #[cfg(not(feature = "postgres"))]
        Some((scheme @ ("postgres" | "postgresql"), _)) => {
            let fault = "this build has no PostgreSQL: build it with the feature `postgres`".into();
            Err(StoreError::Url { url: format!("{scheme}://..."), fault })
        }
        Some((scheme, _)) => {
            let fault = format!("stores are sqlite://PATH or postgres://..., not {scheme}");
            // A URL may hold a password: only its scheme is shown.
            Err(StoreError::Url { url: format!("{scheme}://..."), fault })
        }
    }
}

/// The keys that begin with a prefix end before this one.
fn after_all(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    if let Some(last) = end.pop() {
        end.push(char::from_u32(u32::from(last) + 1).unwrap_or(char::MAX));
    }
    end
}

/// What a node has of a store that it shares with others.
#[derive(Debug)]
pub struct Membership {
    pub leases: Leases,
    pub news: mpsc::Receiver<News>,
}

/// Joins the nodes that share a store, under a name that no other node has or had. None for a store that
/// has no other nodes.
///
/// # Errors
/// The store is away.
#[cfg_attr(
    not(feature = "postgres"),
    expect(unused_variables, reason = "a store in SQLite has no nodes")
)]
pub fn join(url: &str, node: Arc<str>) -> Result<Option<Membership>, StoreError> {
    match url.split_once("://") {
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => {
            let news = listen::listen(url, &node)?;
            let leases = Leases::start(Box::new(Postgres::open_for_nodes(url)?), node)?;
            Ok(Some(Membership { leases, news }))
        }
        _ => Ok(None),
    }
}
