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
mod interface;
mod journal;
mod lease;
#[cfg(feature = "postgres")]
mod listen;
mod lockfile;
#[cfg(feature = "postgres")]
mod postgres;
mod prune;
mod sqlite;
mod tables;
mod tally;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use utoipa::ToSchema;

pub use chain::Chain;
pub use interface::Store;
pub use journal::{Journal, Reads, Writer};
pub(in crate::server) use lease::ALL_NODES;
pub use lease::{Claim, Lease, Leases, News, Nodes};
pub use lockfile::{StoreLock, lock_store};
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use sqlite::{Sqlite, Temporary};

/// An event as it is stored: its number, counted from 1, its text, and the hash of the log up to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub seq: u64,
    pub payload: String,
    pub hash: String,
}

/// Events to be added to one game.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

/// A rule set that an account or a network keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = OwnRules)]
pub struct Upload {
    /// The account, or the IP network of a client without one.
    #[serde(skip)]
    pub owner: String,
    /// The id to make games with.
    pub rules: String,
    /// The name of the game or preset that the text defines.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GameState {
    /// A seat is free.
    #[default]
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

/// The next value of a counter, to be changed together with what is added to a list of limited length. Read before the list
/// is counted, it has two nodes that add at once notice each other: one of them has to count again ([`edited`]).
///
/// # Errors
/// The store cannot be reached.
pub(super) fn next_count(store: &mut dyn Store, key: String) -> Result<Change, StoreError> {
    let from = store.record(&key)?;
    let count: u64 = from.as_ref().and_then(|it| it.parse().ok()).unwrap_or_default();
    Ok(Change { key, from, to: Some(count.wrapping_add(1).to_string()) })
}

/// The findings of a check of a whole store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    pub games: u64,
    pub events: u64,
    /// What is wrong, a line each.
    pub faults: Vec<String>,
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
    if let Some(path) = file_of(url) {
        return Ok(Box::new(open_file(path)?));
    }
    let scheme = url.split_once("://").map_or(url, |it| it.0);
    let fault = match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => return Ok(Box::new(Postgres::open(url)?)),
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => {
            "this build has no PostgreSQL: build it with the feature `postgres`".to_owned()
        }
        _ => format!("stores are sqlite://PATH or postgres://..., not {scheme}"),
    };
    // A URL may hold a password: only its scheme is shown.
    Err(StoreError::Url { url: format!("{scheme}://..."), fault })
}

/// The file of a store; `None` for a database on a server, and for an unknown kind of URL.
pub fn file_of(url: &str) -> Option<&Path> {
    match url.split_once("://") {
        Some(("sqlite", path)) => Some(Path::new(path)),
        Some(_) => None,
        None => Some(Path::new(url)),
    }
}

/// A number as a database's integer, which is signed. No stored number is too large for that.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn number(int: i64) -> u64 {
    u64::try_from(int).unwrap_or_default()
}

/// A place in the list of games: when the game had last changed, if it says so, and its id.
fn place(text: &str) -> (Option<i64>, &str) {
    let timed = text.split_once('.').and_then(|(at, id)| Some((Some(at.parse().ok()?), id)));
    timed.unwrap_or((None, text))
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
