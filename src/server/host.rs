//! The host: the registry of all live games, each a task of its own, and what they share.
//!
//! A game is loaded from its log at the first request for it, and evicted when there are no more of them. At any time
//! there is at most one owner of a game here, and the store refuses a second. Deliberately absent: how a game is made
//! (`new_game`) and loaded (`loader`), where its rules come from (`compiler`), and other nodes (`nodes`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{broadcast, mpsc, oneshot};

use super::board::Board;
use super::cluster::Cluster;
use super::computer::{Engine, Learned, thought};
use super::core::{Answer, Input, LogEntry, Room, TokenHash};
use super::library::{Library, lock};
use super::live::{self, Branched, Command, Feed};
use super::metrics::Metrics;
use super::parked::{Parked, Running};
use super::pool::Pool;
use super::presence::Presence;
use super::problem::Problem;
use super::ready::Ready;
use super::store::{Journal, Lease, Reads, Store, StoreError, Writer};
use super::webhooks::WebhookQueues;
use crate::game::{Answer as Finding, Game};

/// Maximum number of requests that wait for one game.
const INBOX: usize = 256;
/// A day, in milliseconds.
pub const DAY: u64 = 24 * 60 * 60 * 1_000;
/// How many ends of games wait to be heard of.
const ENDINGS: usize = 1_024;
/// How often a game that was just evicted is asked for again.
const TRIES: usize = 3;

/// Where commands for a game go, and a place there that is taken already.
type Inbox = (mpsc::Sender<Box<Command>>, Option<mpsc::OwnedPermit<Box<Command>>>);

/// What a server may be told.
#[derive(Debug, Clone)]
pub struct Config {
    /// How long a game stays in memory without a request for it.
    pub idle: Duration,
    /// How long an answer waits for an event that the request names.
    pub wait: Duration,
    /// Maximum number of games in memory.
    pub live: usize,
    /// Whether strangers' rules are compiled and played.
    pub uploads: bool,
    /// The number of milliseconds after which a game that is not over, and in which nothing happens, is
    /// listed no more.
    pub abandoned: u64,
    /// Who has not ended the first turn of a game of a tournament after so long has lost it: no clock runs until then.
    pub first_turn: Duration,
    /// What thinks for the computer.
    pub engine: Engine,
}

impl Default for Config {
    fn default() -> Self {
        let (idle, wait) = (Duration::from_secs(60), Duration::from_secs(2));
        let first_turn = Duration::from_secs(60);
        Self {
            idle,
            wait,
            live: 20_000,
            uploads: false,
            abandoned: 14 * DAY,
            first_turn,
            engine: thought,
        }
    }
}

/// Time as games see it: milliseconds since 1970, never backward, however the machine's clock is
/// set.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    wall: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { start: Instant::now(), wall: wall_clock() }
    }
}

impl Clock {
    pub fn now(&self) -> u64 {
        self.wall + millis(self.start.elapsed())
    }
}

/// The machine's clock: milliseconds since 1970.
pub fn wall_clock() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// All that a server has.
#[derive(Debug)]
pub struct Host {
    pub library: Arc<Library>,
    pub clock: Clock,
    pub metrics: Metrics,
    pub config: Config,
    pub(super) writer: Writer,
    reads: Reads,
    live: Mutex<HashMap<String, mpsc::Sender<Box<Command>>>>,
    draining: AtomicBool,
    pub(super) parked: Parked,
    pub(super) ready: Ready,
    pub(super) presence: Presence,
    /// Where other nodes share the store.
    pub(super) cluster: OnceLock<Cluster>,
    /// Where rules run.
    pub(super) pool: Pool,
    /// What the computer knows of games.
    pub(super) learned: Arc<Learned>,
    /// The ids of games as they end.
    pub(super) ended: broadcast::Sender<String>,
    /// Webhooks that are told of games.
    pub(super) hooks: OnceLock<WebhookQueues>,
}

impl Host {
    /// A server on a store: the host, and the journal to finish when it is gone.
    ///
    /// # Errors
    /// The store is away, or the machine is out of threads.
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
            ended: broadcast::channel(ENDINGS).0,
            hooks: OnceLock::new(),
        };
        Ok((Arc::new(host), journal))
    }

    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    pub(super) fn cluster(&self) -> Option<&Cluster> {
        self.cluster.get()
    }

    /// How many games are in memory.
    pub fn live_games(&self) -> usize {
        lock(&self.live).len()
    }

    /// Whether the server takes no new games any more.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Takes no new games from here on, and evicts all games that are in memory.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.pool.close();
        lock(&self.live).clear();
    }

    /// Does something in a game; the answer is durable.
    ///
    /// # Errors
    /// There is no such game, the game refuses, or the store is away.
    pub async fn step(self: &Arc<Self>, id: &str, input: Input) -> Result<Answer, Problem> {
        self.ask(id, |reply| Command::Step { input, reply }).await?
    }

    /// What happens in a game from an event on.
    ///
    /// # Errors
    /// There is no such game, or too many watch it and the token is of no seat.
    pub async fn watch(
        self: &Arc<Self>,
        id: &str,
        have: Option<u64>,
        token: Option<TokenHash>,
    ) -> Result<Feed, Problem> {
        self.ask(id, |reply| Command::Watch { have, token, reply }).await?
    }

    /// Asks about a position of a game.
    ///
    /// # Errors
    /// There is no such game, or the question makes no sense.
    pub async fn question<T: Send + 'static>(
        self: &Arc<Self>,
        id: &str,
        ply: Option<usize>,
        question: impl FnOnce(&mut crate::game::Game) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let game = self.ask(id, |reply| Command::Branch { ply, reply }).await??;
        let Branched { mut game, lane } = game;
        // Proofs may take a while: they are found on a copy, beside the game.
        self.pool.run(lane, move || question(&mut game)).await?
    }

    /// A copy of a game as it is now, or as it was after some actions.
    ///
    /// # Errors
    /// There is no such game.
    pub(super) async fn copy_of(
        self: &Arc<Self>,
        id: &str,
        ply: Option<usize>,
    ) -> Result<Box<Game>, Problem> {
        let branched = self.ask(id, |reply| Command::Branch { ply, reply }).await??;
        Ok(branched.game)
    }

    /// Why a move is legal or not.
    ///
    /// # Errors
    /// As [`Host::question`].
    pub async fn why_move(
        self: &Arc<Self>,
        id: &str,
        ply: Option<usize>,
        text: String,
    ) -> Result<Finding, Problem> {
        let ask = move |game: &mut crate::game::Game| {
            game.why_move(&text).map_err(|it| Problem::bad("bad_question", it.to_string()))
        };
        self.question(id, ply, ask).await
    }

    /// Where to send what is for a game, if it is in memory.
    pub(super) fn inbox_of(&self, id: &str) -> Option<mpsc::Sender<Box<Command>>> {
        lock(&self.live).get(id).cloned()
    }

    /// The same of every game that is in memory.
    pub(super) fn inboxes(&self) -> Vec<mpsc::Sender<Box<Command>>> {
        lock(&self.live).values().cloned().collect()
    }

    /// Sends a command to a game and waits for the answer; the game is loaded if it has to be.
    ///
    /// # Errors
    /// The game cannot be reached. What it answers itself is in the value.
    pub(super) async fn ask<T>(
        self: &Arc<Self>,
        id: &str,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Problem> {
        let mut command = Some(command);
        for _ in 0..TRIES {
            let place = match self.inbox(id)? {
                (_, Some(place)) => place,
                (inbox, None) => match inbox.reserve_owned().await {
                    Ok(place) => place,
                    Err(_) => {
                        // The game was evicted at this very moment.
                        self.forget_closed(id);
                        continue;
                    }
                },
            };
            let Some(command) = command.take() else { break };
            let (reply, answer) = oneshot::channel();
            place.send(Box::new(command(reply)));
            return answer.await.map_err(|_| Problem::unavailable());
        }
        Err(Problem::unavailable())
    }

    fn forget_closed(&self, id: &str) {
        let mut live = lock(&self.live);
        if live.get(id).is_some_and(mpsc::Sender::is_closed) {
            live.remove(id);
        }
    }

    /// Where to send what is for a game; it is loaded if it has to be. Then there is a place in its
    /// inbox already, which holds even if there turns out to be no such game.
    fn inbox(self: &Arc<Self>, id: &str) -> Result<Inbox, Problem> {
        let mut live = lock(&self.live);
        if let Some(inbox) = live.get(id) {
            return Ok((inbox.clone(), None));
        }
        if live.len() >= self.config.live {
            let status = axum::http::StatusCode::SERVICE_UNAVAILABLE;
            return Err(Problem::new(status, "server_full", "too many games are in play"));
        }
        let (sender, inbox) = mpsc::channel(INBOX);
        let place = sender.clone().try_reserve_owned().ok();
        live.insert(id.to_owned(), sender.clone());
        tokio::spawn(live::load_and_run(Arc::clone(self), id.to_owned(), inbox));
        Ok((sender, place))
    }

    /// Takes in a game that was just made.
    pub(super) fn adopt(
        self: &Arc<Self>,
        id: &str,
        room: Room<Board>,
        entries: &[LogEntry],
        lease: Option<Lease>,
    ) {
        let (sender, inbox) = mpsc::channel(INBOX);
        lock(&self.live).insert(id.to_owned(), sender);
        tokio::spawn(live::run(Arc::clone(self), id.to_owned(), room, entries, lease, inbox));
    }

    /// Unloads a game if no message is under way to it; of clocks that run it knows when one falls.
    /// Otherwise it has to go on.
    pub(super) fn evict(
        self: &Arc<Self>,
        id: &str,
        inbox: &mut mpsc::Receiver<Box<Command>>,
        running: Option<Running>,
    ) -> bool {
        let mut live = lock(&self.live);
        let ours = live.get(id).is_some_and(|it| !it.is_closed());
        if !inbox.is_empty() {
            return false;
        }
        inbox.close();
        running.into_iter().for_each(|it| self.park(id, it));
        if ours {
            live.remove(id);
        }
        true
    }

    /// Forgets a game whatever is in its inbox: it cannot go on.
    pub(super) fn drop_game(&self, id: &str, inbox: &mut mpsc::Receiver<Box<Command>>) {
        inbox.close();
        self.forget_closed(id);
    }
}
