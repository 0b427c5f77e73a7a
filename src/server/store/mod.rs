//! Where games are kept: a log of events for each game, append-only and chained by hashes.
//!
//! A [`Store`] is blocking and belongs to one thread; [`Journal`] and [`Reads`] are those threads, which the
//! rest of the server uses. An append names the event that it expects to follow and the [`Lease`] under which
//! it is made, so two owners of one game cannot both write; it is durable when it returns. Besides the logs
//! there are mutable records: accounts, ratings. A change names the old value (compare-and-swap), so that
//! nothing is done twice. Deliberately absent: changing or deleting an event. A takeback is an event too; an
//! old game is removed as a whole.

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

/// An event as it is stored: its number, counted from 1, its text, and the hash of the log up to it.
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
    /// The facts of the game after these events, from which it loads faster than from its events. Only the
    /// last snapshot is kept.
    pub snapshot: Option<String>,
    /// The right to append, where several nodes share a store.
    pub lease: Option<Lease>,
    /// Keys of empty records that are made with these events; existing ones stay.
    pub empty_records: Vec<String>,
}

/// A change of a record: a small value under a key, besides the logs of games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub key: String,
    /// The value that it must have now; `None` if it must not exist.
    pub from: Option<String>,
    /// The new value; `None` to remove the record.
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
    /// The ids of the accounts that have these seats, if any do; null for other players.
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

fn read_summary(game: &str, text: &str) -> Result<Summary, StoreError> {
    serde_json::from_str(text).map_err(|it| chain::damaged(game, 0, &format!("its summary: {it}")))
}

/// A rule set that is kept for an account, or for the IP network of a client without an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    pub owner: String,
    /// Its id: the hash of its text.
    pub rules: String,
    /// The name of the game or preset that it defines.
    pub name: Option<String>,
    /// When it was kept, in milliseconds since 1970.
    pub at: u64,
}

/// A game's row and all its events, unverified, read in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The columns of the game's row by which lists find it.
    pub state: String,
    pub listed: i64,
    pub updated: i64,
    /// The summary as text.
    pub summary: String,
    pub rows: Vec<StoredEvent>,
}

/// The state of a game.
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

/// Why an append to a game is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The last event is another one than the append expects: another node has written to the game.
    #[error("game {game} is at event {found}, not {expected}")]
    Outdated { game: String, expected: u64, found: u64 },
    /// The lease no longer holds: another node has claimed the game.
    #[error("game {game} belongs to another node")]
    Lost { game: String },
}

/// Why a request to a store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("the store cannot be reached: {0}")]
    Unavailable(String),
    #[error("the copy cannot be made: {0}")]
    Copy(String),
    #[error("the log of game {game} is damaged at event {seq}: {fault}")]
    Damaged { game: String, seq: u64, fault: String },
    #[error("the store's file is damaged: {0}")]
    Broken(String),
    #[error("{url} is no store: {fault}")]
    Url { url: String, fault: String },
    #[error(
        "{url} is of a newer Rulemate: its format is {found}, this program knows those up to {known}"
    )]
    Newer { url: String, found: i64, known: i64 },
    #[error(
        "{url} is served by another process{}: stop that one, or let several share a postgres:// store",
        process.as_ref().map(|it| format!(" ({it})")).unwrap_or_default()
    )]
    Taken { url: String, process: Option<String> },
}

/// Maximum number of attempts at a change while other nodes change the same records.
const TRIES: usize = 8;

/// Changes records atomically: `edit` reads them, and returns its answer and the changes. It is called again if other
/// changes were faster.
///
/// # Errors
/// That of `edit`; or `busy`, if other changes were faster each time: then nothing is changed. Or the store cannot be
/// reached.
pub fn edited<T, E: From<StoreError>>(
    store: &mut dyn Store,
    busy: impl FnOnce() -> E,
    mut edit: impl FnMut(&mut dyn Store) -> Result<(T, Vec<Change>), E>,
) -> Result<T, E> {
    for _ in 0..TRIES {
        let (answer, changes) = edit(store)?;
        if store.change(&changes)? {
            return Ok(answer);
        }
    }
    Err(busy())
}

/// The findings of a check of a whole store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    pub games: u64,
    pub events: u64,
    /// What is wrong, a line each.
    pub faults: Vec<String>,
}

/// A log of events for each game.
pub trait Store: Send {
    /// Appends to several games in one durable transaction. A conflict affects its own game alone.
    ///
    /// # Errors
    /// The store cannot be reached. Nothing was stored; but if the commit failed, all of it may have been.
    fn append(&mut self, batch: &[Append]) -> Result<Vec<Result<(), Conflict>>, StoreError>;

    /// The events of a game after a number, in order, their hashes verified. `None` if there is no such game.
    ///
    /// # Errors
    /// The store cannot be reached, or the log is not what was written.
    fn read(&mut self, game: &str, after: u64) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        // From the first event on, since `page` does not verify the hashes of those before.
        let Some(mut events) = self.page(game, 0, usize::MAX)? else { return Ok(None) };
        events.retain(|it| it.seq > after);
        Ok(Some(events))
    }

    /// The events of a game after a number, in order, `limit` at most; their hashes are verified, those
    /// before are not. `None` if there is no such game.
    ///
    /// # Errors
    /// The store cannot be reached, or this part of the log is not what was written.
    fn page(
        &mut self,
        game: &str,
        after: u64,
        limit: usize,
    ) -> Result<Option<Vec<StoredEvent>>, StoreError>;

    /// The last snapshot of a game, and the event after which it was taken. `None` if there is none, or if it
    /// is damaged: the log gives the same game, only slower.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn snapshot(&mut self, game: &str) -> Result<Option<(u64, String)>, StoreError>;

    /// Listed games, the last changed first; only those behind the game `after` in this order, if it is given. Games
    /// that are not over, and in which nothing has happened since the time `stale`, are left out.
    ///
    /// # Errors
    /// The store cannot be reached, or a summary is not what was written.
    fn list(
        &mut self,
        state: Option<GameState>,
        after: Option<&str>,
        limit: usize,
        stale: u64,
    ) -> Result<Vec<Summary>, StoreError>;

    /// Keeps a text under its hash (the rules that games are played by), durably. False if another text has that hash
    /// already.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn put_text(&mut self, hash: &str, text: &str) -> Result<bool, StoreError>;

    /// A text that was kept.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn text(&mut self, hash: &str) -> Result<Option<String>, StoreError>;

    /// Puts a rule set on its owner's list, or updates its entry, and keeps its text. False if the list has
    /// `limit` others already, or if another text has that hash.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn add_upload(&mut self, upload: &Upload, text: &str, limit: usize)
    -> Result<bool, StoreError>;

    /// An owner's list of rule sets, the oldest first.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn uploads(&mut self, owner: &str) -> Result<Vec<Upload>, StoreError>;

    /// Takes a rule set from its owner's list; its text stays. False if it is not on it.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn drop_upload(&mut self, owner: &str, rules: &str) -> Result<bool, StoreError>;

    /// The record of a key.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn record(&mut self, key: &str) -> Result<Option<String>, StoreError>;

    /// Records whose keys begin with `prefix` (ASCII, not empty) and come after `after`, by key, `limit` at most:
    /// keys and values.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn records(
        &mut self,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, String)>, StoreError>;

    /// Makes all these changes durably; or returns false and makes none if a record does not have the
    /// expected value.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn change(&mut self, changes: &[Change]) -> Result<bool, StoreError>;

    /// The summary of a game.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn summary(&mut self, game: &str) -> Result<Option<Summary>, StoreError>;

    /// The games in which nothing has happened since `before`, except those whose ratings have yet to be settled.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn older(&mut self, before: u64) -> Result<Vec<String>, StoreError>;

    /// Removes those of these games that [`Store::older`] still lists, with the records of their seats, ratings and
    /// reports. Returns how many games it removed.
    ///
    /// # Errors
    /// The store cannot be reached; then nothing is removed.
    fn forget(&mut self, games: &[String], before: u64) -> Result<usize, StoreError>;

    /// All games.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn games(&mut self) -> Result<Vec<String>, StoreError>;

    /// Everything that is stored of a game.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn whole(&mut self, game: &str) -> Result<Option<Whole>, StoreError>;

    /// The games that have a snapshot.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn games_with_snapshot(&mut self) -> Result<Vec<String>, StoreError>;

    /// The format of a store that was opened by [`open_to_read`], if it is an earlier one.
    fn earlier_format(&self) -> Option<i64> {
        None
    }

    /// Writes a copy that can be opened like the store itself.
    ///
    /// # Errors
    /// The store cannot be reached, or the file is there or cannot be written.
    fn backup(&mut self, to: &Path) -> Result<(), StoreError>;

    /// Writes something small durably, to see whether the store can be written.
    ///
    /// # Errors
    /// It cannot.
    fn probe(&mut self) -> Result<(), StoreError>;

    /// Checks every row of every table against its hash, the rows that it refers to and the tally of its
    /// table (the number of its rows and a digest of them).
    ///
    /// # Errors
    /// The store cannot be reached.
    fn check(&mut self) -> Result<Health, StoreError>;
}

/// Opens the store of a URL: `sqlite://PATH`, a plain path, or `postgres://...` for several nodes. A store of an earlier
/// format is brought to the current one, which earlier versions refuse.
///
/// # Errors
/// There is no such store, and none can be made.
pub fn open(url: &str) -> Result<Box<dyn Store>, StoreError> {
    open_by(url, Sqlite::open)
}

/// Opens the store of a URL for a program that only looks at it or copies it: a file of an earlier format stays as it is,
/// and a temporary copy in the current format is read. In PostgreSQL, tables that are missing are created.
///
/// # Errors
/// There is no such store, or it cannot be copied.
pub fn open_to_read(url: &str) -> Result<Box<dyn Store>, StoreError> {
    open_by(url, Sqlite::open_to_read)
}

/// Opens the store of a URL; if it is a file, by `open_file`.
fn open_by(
    url: &str,
    open_file: fn(&Path) -> Result<Sqlite, StoreError>,
) -> Result<Box<dyn Store>, StoreError> {
    match url.split_once("://") {
        Some(("sqlite", path)) => Ok(Box::new(open_file(Path::new(path))?)),
        None => Ok(Box::new(open_file(Path::new(url))?)),
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

/// A number as a database's integer, which is signed. No stored number is too large for that.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn number(int: i64) -> u64 {
    u64::try_from(int).unwrap_or_default()
}

/// The upper bound (exclusive) of the keys that begin with a prefix.
fn after_all(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    if let Some(last) = end.pop() {
        end.push(char::from_u32(u32::from(last) + 1).unwrap_or(char::MAX));
    }
    end
}

/// A node's membership in a store that it shares with others.
#[derive(Debug)]
pub struct Membership {
    pub leases: Leases,
    pub news: mpsc::Receiver<News>,
}

/// Joins the nodes that share a store, under a name that no other node has or had. `None` for a store that
/// cannot be shared.
///
/// # Errors
/// The store cannot be reached.
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
