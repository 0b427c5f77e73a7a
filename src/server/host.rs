//! The host: the state that all live games share, and the games in memory.
//!
//! A game is loaded from the store at the first request for it, and evicted when none has come for a while. At any time
//! at most one task here owns a game, and the store refuses what a second owner would write. Deliberately absent: how a
//! game is asked (`registry`), made (`new_game`) and loaded (`loader`), where its rules come from (`compiler`), and other
//! nodes (`nodes`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc};

use super::cluster::Cluster;
use super::learned::{Engine, Learned, think};
use super::library::Library;
use super::live::command::Command;
use super::lock::lock;
use super::metrics::Metrics;
use super::parked::{Parked, Running};
use super::pool::Pool;
use super::presence::Presence;
use super::ready::Ready;
use super::store::{Journal, Reads, Store, StoreError, Writer};
use super::time::{Clock, DAY};
use super::webhooks::WebhookQueues;

/// Capacity of each of the channels that announce beginnings and ends of games.
const ANNOUNCEMENTS: usize = 1_024;

/// The options of a server.
#[derive(Debug, Clone)]
pub struct Config {
    /// How long a game stays in memory without requests and watchers; less while more than half of `live` games are
    /// there.
    pub idle: Duration,
    /// How long an answer waits for an event that the request names.
    pub wait: Duration,
    /// Maximum number of games in memory.
    pub live: usize,
    /// Whether rules may be uploaded. Rules that are in the store already are played in any case.
    pub uploads: bool,
    /// Milliseconds without an event after which an unfinished game is no longer listed.
    pub abandoned: u64,
    /// Time for the first turn of a game of a tournament, during which no clock runs. A player who takes longer loses.
    pub first_turn: Duration,
    /// The engine of the computer player.
    pub engine: Engine,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(60),
            wait: Duration::from_secs(2),
            live: 20_000,
            uploads: false,
            abandoned: 14 * DAY,
            first_turn: Duration::from_secs(60),
            engine: think,
        }
    }
}

/// The state of a server.
#[derive(Debug)]
pub struct Host {
    /// The rules that games are played by.
    pub library: Arc<Library>,
    #[doc(hidden)]
    pub clock: Clock,
    #[doc(hidden)]
    pub metrics: Metrics,
    /// The configuration of the server.
    pub config: Config,
    pub(super) writer: Writer,
    reads: Reads,
    /// The inboxes of the games in memory, by id.
    pub(super) live: Mutex<HashMap<String, mpsc::Sender<Box<Command>>>>,
    draining: AtomicBool,
    pub(super) parked: Parked,
    pub(super) ready: Ready,
    pub(super) presence: Presence,
    /// Set if other nodes share the store.
    pub(super) cluster: OnceLock<Cluster>,
    /// The threads that rules run on.
    pub(super) pool: Pool,
    /// The computer's knowledge about games.
    pub(super) learned: Arc<Learned>,
    /// Games as they begin.
    pub(super) begun: broadcast::Sender<Begun>,
    /// The ids of games as they end.
    pub(super) ended: broadcast::Sender<String>,
    /// Webhooks that are notified of games.
    pub(super) hooks: OnceLock<WebhookQueues>,
}

/// A game whose last seat was taken, with the ids of the accounts on its sides.
#[derive(Debug, Clone)]
pub(super) struct Begun {
    pub id: String,
    pub accounts: Vec<Option<String>>,
}

impl Host {
    /// Starts a server on a store, with one connection that writes and one that reads. Returns the host, and the
    /// journal, which must be finished when the host is gone.
    ///
    /// # Errors
    /// The store cannot be reached, or the machine is out of threads.
    pub fn start(
        library: Library,
        mut writing: Box<dyn Store>,
        reading: Box<dyn Store>,
        config: Config,
    ) -> Result<(Arc<Self>, Journal), StoreError> {
        for offer in [library.package(), &library.own()] {
            let (hash, text) = offer.texts.stored();
            writing.put_text(&hash, &text)?;
        }
        let threads = |it: std::io::Error| StoreError::Unavailable(it.to_string());
        let journal = Journal::start(writing).map_err(threads)?;
        let reads = Reads::start(reading).map_err(threads)?;
        let host = Self {
            library: Arc::new(library),
            clock: Clock::default(),
            metrics: Metrics::default(),
            config,
            writer: journal.writer(),
            reads,
            live: Mutex::default(),
            draining: AtomicBool::new(false),
            parked: Parked::default(),
            ready: Ready::default(),
            presence: Presence::default(),
            cluster: OnceLock::new(),
            pool: Pool::start().map_err(threads)?,
            learned: Arc::default(),
            begun: broadcast::channel(ANNOUNCEMENTS).0,
            ended: broadcast::channel(ANNOUNCEMENTS).0,
            hooks: OnceLock::new(),
        };
        Ok((Arc::new(host), journal))
    }

    /// Milliseconds since 1970.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    #[doc(hidden)]
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    pub(super) fn cluster(&self) -> Option<&Cluster> {
        self.cluster.get()
    }

    /// The number of games in memory.
    pub fn live_games(&self) -> usize {
        lock(&self.live).len()
    }

    /// Whether the server no longer accepts games.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Stops accepting new games and all other requests that need rules, and evicts all games in memory.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.pool.close();
        lock(&self.live).clear();
    }

    /// Removes a game whose task has ended from the games in memory.
    pub(super) fn forget_closed(&self, id: &str) {
        let mut live = lock(&self.live);
        if live.get(id).is_some_and(mpsc::Sender::is_closed) {
            live.remove(id);
        }
    }

    /// Evicts a game if its inbox is not in use, and remembers running clocks, so that their flags fall in time. Returns
    /// whether it was evicted.
    pub(super) fn evict(
        self: &Arc<Self>,
        id: &str,
        inbox: &mut mpsc::Receiver<Box<Command>>,
        running: Option<Running>,
    ) -> bool {
        let mut live = lock(&self.live);
        // An open inbox in the map is this one, since a game has one task. After `drain` the map is empty.
        let is_listed = live.get(id).is_some_and(|it| !it.is_closed());
        if is_in_use(inbox) {
            return false;
        }
        inbox.close();
        if let Some(running) = running {
            self.park(id, running);
        }
        if is_listed {
            live.remove(id);
        }
        true
    }

    /// Drops a game that cannot go on, regardless of its inbox.
    pub(super) fn drop_game(&self, id: &str, inbox: &mut mpsc::Receiver<Box<Command>>) {
        inbox.close();
        self.forget_closed(id);
    }
}

/// Whether an inbox has a command, or a reserved place for one that is about to come.
fn is_in_use<T>(inbox: &mpsc::Receiver<T>) -> bool {
    inbox.capacity() < inbox.max_capacity()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request that has a place would be lost with the game.
    #[test]
    fn a_game_with_a_reserved_place_is_not_evicted() {
        let (sender, mut inbox) = mpsc::channel(2);
        assert!(!is_in_use(&inbox));
        let place = sender.try_reserve_owned().unwrap();
        assert!(is_in_use(&inbox));
        place.send(());
        assert!(is_in_use(&inbox) && inbox.try_recv().is_ok() && !is_in_use(&inbox));
    }
}
