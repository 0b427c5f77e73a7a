//! The host of all live games, each a task of its own, and of the store behind them.
//!
//! A game is loaded from its log at the first request for it, and unloaded when there are no more of
//! more. At any time there is at most one owner of a game here, and the store refuses a second.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{broadcast, mpsc, oneshot};

use super::begin::{begin, bring_back, start};
use super::board::Board;
use super::cluster::{Cluster, Done, Message};
use super::computer::Learned;
use super::core::{Answer, Control, Input, LogEntry, Past, Recorded, Room, Seat, TokenHash};
use super::ids::{ID_LETTERS, new_id, spelled};
use super::library::{Library, Texts, lock};
use super::live::{self, Branched, Command, Feed};
use super::metrics::Metrics;
use super::parked::{Parked, Running};
use super::pool::{Lane, Pool};
use super::presence::Presence;
use super::problem::Problem;
use super::ready::Ready;
use super::state::{marks, summary};
use super::store::{
    Append, Journal, Lease, Membership, News, Reads, Store, StoreError, StoredEvent, Upload, Writer,
};
use super::webhooks::WebhookQueues;
use crate::game::{Answer as Finding, Game};
use crate::presets::{Catalogue, CatalogueError, LoadError, Ruleset, Source};

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
}

impl Default for Config {
    fn default() -> Self {
        let (idle, wait) = (Duration::from_secs(60), Duration::from_secs(2));
        Self { idle, wait, live: 20_000, uploads: false, abandoned: 14 * DAY }
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

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// What a new game is made of.
#[derive(Debug, Clone, Default)]
pub struct GameOptions {
    pub game: String,
    pub presets: Vec<String>,
    pub fen: Option<String>,
    pub facts: Option<String>,
    /// The hash of uploaded rules.
    pub rules: Option<String>,
    pub clock: Option<Control>,
    pub open: bool,
    pub chat: bool,
    pub listed: bool,
    pub rated: bool,
    /// The tournament that it is a game of.
    pub tournament: Option<String>,
    /// The seats that are taken from the start, by side.
    pub seats: Vec<(usize, Seat)>,
    /// What was played elsewhere already.
    pub import: Import,
}

/// A game that was played elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Import {
    pub past: Vec<Past>,
    /// How it ended, if it has.
    pub ended: Option<Recorded>,
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
    cluster: OnceLock<Cluster>,
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

    /// Makes a game. It is durable when its id is returned.
    ///
    /// # Errors
    /// The game cannot be made of these options, or the store is away.
    pub async fn create(self: &Arc<Self>, options: GameOptions) -> Result<String, Problem> {
        self.create_as(new_id()?, options).await
    }

    /// Makes a game of a certain id.
    ///
    /// # Errors
    /// As [`Host::create`], or there is such a game.
    pub async fn create_as(
        self: &Arc<Self>,
        id: String,
        options: GameOptions,
    ) -> Result<String, Problem> {
        if self.is_draining() || self.live_games() >= self.config.live {
            let status = axum::http::StatusCode::SERVICE_UNAVAILABLE;
            return Err(Problem::new(status, "server_full", "no new games at the moment"));
        }
        let rules = options.rules.clone().unwrap_or_else(|| self.library.own_hash());
        self.know_rules(&rules).await?;
        let ruleset = self.ruleset(&rules, &options.game, &options.presets).await?;
        let catalogue = self.catalogue_of(&rules)?;
        let lane = match options.import.past.is_empty() {
            true => self.lane(&rules),
            false => self.slow_lane(&rules),
        };
        let (now, set, requests) =
            (self.now(), Arc::clone(&ruleset), 1 + options.import.past.len());
        let make = move || begin(now, &set, catalogue, rules, options);
        let (made, ran_out) = self.pool.run_all(lane, requests, make).await?;
        let (room, entries) = ran_out.map_or(made, Err)?;
        let summary = summary(&id, &room);
        let payloads = entries.iter().map(payload).collect();
        let node = self.cluster().map(|it| Arc::clone(it.leases.node()));
        let lease = node.map(|node| Lease { node, epoch: 1 });
        let append = Append {
            game: id.clone(),
            expected: 0,
            payloads,
            summary,
            snapshot: None,
            lease: lease.clone(),
            marks: marks(&id, &room, &entries),
        };
        self.writer.append(append).await??;
        self.announce(&id, &room, &entries);
        self.metrics.created();
        tracing::info!(game = id, kind = ruleset.game().name, "a game is made");
        self.adopt(&id, room, &entries, lease);
        Ok(id)
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

    /// Where moves and views of games by these rules are worked out.
    pub(super) fn lane(&self, rules: &str) -> Lane {
        if self.library.is_foreign(rules) { Lane::Foreign } else { Lane::Play }
    }

    /// Where what takes longer is.
    pub(super) fn slow_lane(&self, rules: &str) -> Lane {
        if self.library.is_foreign(rules) { Lane::Foreign } else { Lane::Work }
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

    /// Makes this server one of several that share the store, and listens to the others until they
    /// are gone.
    pub async fn join(self: Arc<Self>, others: Membership) {
        let Membership { leases, mut news } = others;
        if self.cluster.set(Cluster::new(leases)).is_err() {
            tracing::error!("this server has joined the others already");
            return;
        }
        while let Some(news) = news.recv().await {
            match news {
                News::Appended { game, seq } => {
                    let inbox = lock(&self.live).get(&game).cloned();
                    inbox.into_iter().for_each(|it| pass_on(it, seq));
                }
                // Every game looks for itself.
                News::Missed => {
                    let all: Vec<_> = lock(&self.live).values().cloned().collect();
                    all.into_iter().for_each(|it| pass_on(it, u64::MAX));
                }
                News::Message(text) => self.open(&text),
            }
        }
    }

    /// What another node has sent.
    fn open(self: &Arc<Self>, text: &str) {
        let Some(cluster) = self.cluster() else { return };
        match serde_json::from_str(text) {
            Ok(Message::Answer { number, done }) => cluster.answered(number, done),
            Ok(Message::Ask { from, number, game, input }) => {
                let host = Arc::clone(self);
                tokio::spawn(async move { host.serve_other(&from, number, &game, input).await });
            }
            Err(error) => tracing::warn!(%error, "a message of another node cannot be read"),
        }
    }

    /// Does what another node asks, if the game is here.
    async fn serve_other(self: Arc<Self>, from: &str, number: u64, game: &str, input: Input) {
        let answer = self.ask(game, |reply| Command::Asked { input, reply }).await;
        let done = Done::of(answer.and_then(|it| it).transpose());
        let Some(cluster) = self.cluster() else { return };
        // A node that gets no answer looks up the owner of the game.
        if let Err(problem) = cluster.send(from, &Message::Answer { number, done }).await {
            tracing::warn!(game, problem.message, "an answer to another node is lost");
        }
    }

    /// Lets others have the games of this node at once.
    pub async fn retire(&self) {
        if let Some(cluster) = self.cluster()
            && let Err(error) = cluster.leases.retire().await
        {
            tracing::warn!(%error, "the other nodes take over when they do not hear of us");
        }
    }

    /// Offers other files of this machine, on top of the package's, for games that begin from now on.
    ///
    /// # Errors
    /// Their metadata makes no sense, or the store is away: then what was offered before still is.
    pub async fn offer(&self, files: Vec<Source>) -> Result<(), Problem> {
        let library = Arc::clone(&self.library);
        let make = move || library.offer_of(&files);
        let offer = self.pool.run(Lane::Work, make).await?.map_err(bad_rules)?;
        let (hash, text) = offer.texts.stored();
        self.reads.ask(move |store| store.put_text(&hash, &text)).await?;
        self.library.offer(offer);
        Ok(())
    }

    /// Keeps rules for their owner and makes them known. None if the owner has too many already.
    ///
    /// # Errors
    /// Their metadata makes no sense, or the store is away.
    pub async fn keep_rules(
        &self,
        texts: Texts,
        owner: String,
        name: Option<String>,
        limit: usize,
    ) -> Result<Option<String>, Problem> {
        let (hash, text) = texts.stored();
        let library = Arc::clone(&self.library);
        let add = move || library.add(&texts).map(|_| ());
        self.pool.run(Lane::Foreign, add).await?.map_err(bad_rules)?;
        let upload = Upload { owner, rules: hash.clone(), name, at: self.now() };
        let keep = move |store: &mut dyn Store| store.add_upload(&upload, &text, limit);
        Ok(self.reads.ask(keep).await?.then_some(hash))
    }

    /// Whether rules from outside compile with what they build on: the name of the game or preset
    /// that they are, or what is wrong. Compiling is done beside the games.
    ///
    /// # Errors
    /// It could not be tried.
    pub async fn check_rules(
        self: &Arc<Self>,
        texts: Texts,
    ) -> Result<Result<Option<String>, Problem>, Problem> {
        let library = Arc::clone(&self.library);
        let fit = move || {
            let catalogue = library.catalogue_with(&texts);
            super::api::fit(&catalogue.map_err(bad_rules)?, &texts)
        };
        self.pool.run(Lane::Foreign, fit).await
    }

    /// The id of the game that would follow: always the same, so that two who accept at once get
    /// one game.
    pub fn rematch_id(&self, id: &str) -> String {
        // The first game's log is chained to its id, which cannot be guessed: nor can this one.
        let hash = blake3::hash(format!("rematch of {id}").as_bytes());
        spelled(&hash.as_bytes()[..ID_LETTERS])
    }

    /// Makes the rematch of a game: the same, with the seats turned.
    ///
    /// # Errors
    /// The store is away.
    pub async fn make_rematch(self: &Arc<Self>, id: &str, game: &str) -> Result<(), Problem> {
        let log = self.log(id).await?;
        let Some(setup) = live::created(&log) else { return Err(Problem::no_game(id)) };
        let sides = setup.sides.len().max(1);
        let seats = log.iter().filter_map(|it| match &it.event {
            super::core::Event::Seated { side, seat } => Some(((side + 1) % sides, seat.clone())),
            _ => None,
        });
        let options = GameOptions {
            game: setup.game.clone(),
            presets: setup.presets.clone(),
            fen: setup.fen.clone(),
            facts: setup.facts.clone(),
            rules: Some(setup.rules.clone()),
            clock: setup.clock,
            open: setup.open,
            chat: setup.chat && !log.iter().any(|it| it.event.kind() == "hushed"),
            listed: setup.listed,
            rated: setup.rated,
            tournament: None,
            seats: seats.collect(),
            import: Import::default(),
        };
        match self.create_as(game.to_owned(), options).await {
            // Another request was faster, or the answer was lost: the game is there.
            Err(problem) if problem.code == "game_moved" => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Makes the rules of a hash known, from the store if need be.
    ///
    /// # Errors
    /// There are none, or the store is away.
    pub async fn know_rules(&self, hash: &str) -> Result<(), Problem> {
        let mut missing = vec![hash.to_owned()];
        let mut found: Vec<Texts> = Vec::new();
        while let Some(hash) = missing.pop() {
            if self.library.catalogue(&hash).is_some() {
                continue;
            }
            let wanted = hash.clone();
            let text = self.reads.ask(move |store| store.text(&wanted)).await?;
            let texts = text.and_then(|it| serde_json::from_str::<Texts>(&it).ok());
            let unknown =
                || Problem::unprocessable("no_such_rules", format!("there are no rules {hash}"));
            let texts = texts.ok_or_else(unknown)?;
            missing.extend(texts.base.clone());
            found.push(texts);
        }
        if found.is_empty() {
            return Ok(());
        }
        let library = Arc::clone(&self.library);
        let add = move || found.iter().rev().try_for_each(|it| library.add(it).map(|_| ()));
        self.pool.run(Lane::Work, add).await?.map_err(bad_rules)
    }

    pub(super) fn catalogue_of(&self, rules: &str) -> Result<Arc<Catalogue>, Problem> {
        let unknown = || Problem::unprocessable("no_such_rules", format!("no rules {rules}"));
        self.library.catalogue(rules).ok_or_else(unknown)
    }

    /// A compiled game. Compiling is done beside the games.
    ///
    /// # Errors
    /// The game cannot be loaded.
    pub async fn ruleset(
        self: &Arc<Self>,
        rules: &str,
        game: &str,
        presets: &[String],
    ) -> Result<Arc<Ruleset>, Problem> {
        if let Some(known) = self.library.known(rules, game, presets) {
            return Ok(known);
        }
        let lane = self.slow_lane(rules);
        let (library, rules, game, presets) =
            (Arc::clone(&self.library), rules.to_owned(), game.to_owned(), presets.to_vec());
        let load = move || library.load(&rules, &game, &presets);
        self.pool.run(lane, load).await?.map_err(|it| load_problem(&it))
    }

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

    fn adopt(
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

    /// A game as its log tells it.
    pub(super) async fn load(
        self: &Arc<Self>,
        id: &str,
    ) -> Result<(Room<Board>, Vec<LogEntry>), Problem> {
        let game = id.to_owned();
        let read = move |store: &mut dyn Store| Ok((store.snapshot(&game)?, store.read(&game, 0)?));
        let (snapshot, rows) = self.reads.ask(read).await?;
        let log = entries(id, &rows.ok_or_else(|| Problem::no_game(id))?)?;
        let damaged = |what: String| {
            tracing::error!(game = id, what, "a log that cannot be replayed");
            let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
            Problem::new(status, "log_damaged", format!("game {id}: {what}"))
        };
        let Some(super::core::Event::Created(setup)) = log.first().map(|it| &it.event) else {
            return Err(damaged("the log has no beginning".to_owned()));
        };
        self.know_rules(&setup.rules).await?;
        let ruleset = self.ruleset(&setup.rules, &setup.game, &setup.presets).await?;
        let catalogue = self.catalogue_of(&setup.rules)?;
        let setup = setup.clone();
        let switches =
            log.iter().any(|it| matches!(it.event, super::core::Event::PresetsChanged { .. }));
        let lane = match switches {
            true => self.slow_lane(&setup.rules),
            false => self.lane(&setup.rules),
        };
        let requests = 1 + log.len();
        let replay = move || -> Result<_, Problem> {
            if let Some(room) = bring_back(snapshot, &ruleset, &catalogue, &setup, &log) {
                return Ok((Ok(room), log));
            }
            let board = start(&ruleset, catalogue, setup.fen.as_deref(), setup.facts.as_deref())?;
            let room = Room::replay(board, setup, &log);
            Ok((room, log))
        };
        // What took all that one request may take takes no more when it is done again.
        let (replayed, ran_out) = self.pool.run_all(lane, requests, replay).await?;
        let (room, log) = ran_out.map_or(replayed, Err)?;
        let mut room = room.map_err(|(v, why)| damaged(format!("event {v}: {}", why.sentence)))?;
        match self.parked.timing(id, room.v()) {
            Some(timing) => room.go_on(timing),
            // Reading it may have taken a while.
            None => room.resume(self.now()),
        }
        Ok((room, log))
    }
}

/// Tells a game that there may be events up to this one. Nothing waits for it: it may itself wait for
/// what other nodes say.
fn pass_on(inbox: mpsc::Sender<Box<Command>>, seq: u64) {
    let news = Box::new(Command::News { seq });
    if let Err(mpsc::error::TrySendError::Full(news)) = inbox.try_send(news) {
        // A game that was evicted at this moment is read anew anyway.
        tokio::spawn(async move { drop(inbox.send(news).await) });
    }
}

/// What is wrong with the game that is asked for.
pub(super) fn load_problem(error: &LoadError) -> Problem {
    if let LoadError::Full { .. } = error {
        let status = axum::http::StatusCode::SERVICE_UNAVAILABLE;
        return Problem::new(status, "rules_full", error.to_string());
    }
    let code = match error {
        LoadError::Game { .. } => "no_such_game_name",
        LoadError::Rules(_) => "rules_clash",
        LoadError::Activation(_) => "bad_preset",
        _ => "bad_game",
    };
    let problem = Problem::unprocessable(code, error.to_string());
    match error {
        LoadError::Rules(found) => {
            problem.with(serde_json::json!({ "diagnostics": found.to_json() }))
        }
        _ => problem,
    }
}

fn bad_rules(error: CatalogueError) -> Problem {
    Problem::unprocessable("bad_rules", error.to_string())
}

pub(super) fn payload(entry: &LogEntry) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}

pub(super) fn entries(id: &str, rows: &[StoredEvent]) -> Result<Vec<LogEntry>, Problem> {
    let read = |row: &StoredEvent| {
        let entry: Result<LogEntry, _> = serde_json::from_str(&row.payload);
        let damaged = |it: serde_json::Error| StoreError::Damaged {
            game: id.to_owned(),
            seq: row.seq,
            fault: it.to_string(),
        };
        entry.map_err(|it| damaged(it).into())
    };
    rows.iter().map(read).collect()
}
