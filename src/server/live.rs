//! One live game: the task that owns its room, stores its events and sends them to watchers.
//!
//! Nothing leaves this task before the events behind it are durable. If they cannot be stored, the
//! room knows more than the log, so it is thrown away and loaded again at the next request.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::board::Board;
use super::cluster::Done;
use super::computer::Attention;
use super::core::{Answer, Event, Input, LogEntry, Room, Rules, TokenHash};
pub use super::feed::Feed;
use super::feed::tell;
use super::host::Host;
use super::ids::new_token;
use super::library::lock;
use super::loader::payload;
use super::parked::Running;
use super::pool::{Lane, failed, spent};
use super::problem::Problem;
use super::state::{self, marks, summary};
use super::store::{Append, Claim, Lease};
use crate::game::Game;

/// Maximum number of recent events in memory, for clients that reconnect.
const RECENT: usize = 16;
/// Maximum number of events that are read from the log for them; a client that missed more gets the whole state.
const MISSED: u64 = 256;
/// The maximum length of a message, in bytes, and of all that is sent to a client that comes back;
/// beyond it the state is asked for over HTTP.
pub(super) const FRAME: usize = 256 * 1024;
/// How many of the last actions are sent with the whole state.
const RESYNC: usize = 100;
/// Maximum number of messages that wait for one watcher; a slower one is dropped.
const BACKLOG: usize = 64;
/// Maximum number of watchers of one game, and of feeds that its players have beside them.
const WATCHERS: usize = 2_000;
const PLAYERS: usize = 32;

/// How often a step is tried while other nodes are faster.
const TRIES: usize = 4;
/// How often the owner of a game is looked up when it does not answer, and for how long.
pub(super) const LOOK: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(8);

/// A snapshot is taken every so many actions, and at the end.
const KEEP: usize = 64;
/// As many actions are played again rather than kept.
const WORTH: usize = 4;

/// What is answered to another node; none if the game is not here.
type Passed = Option<Answer>;

type Reply<T> = oneshot::Sender<Result<T, Problem>>;

/// What a game is asked.
#[derive(Debug)]
pub(super) enum Command {
    Step {
        input: Input,
        reply: Reply<Answer>,
    },
    State {
        token: Option<TokenHash>,
        ply: Option<usize>,
        lines: Lines,
        reply: Reply<Value>,
    },
    /// Some of the actions that were played.
    Lines {
        from: usize,
        limit: usize,
        reply: Reply<Value>,
    },
    /// The last event that is known here, which is the one asked for if there is such an event; if not,
    /// what tells of those that come.
    Version {
        v: u64,
        reply: Reply<(u64, Option<watch::Receiver<u64>>)>,
    },
    Watch {
        have: Option<u64>,
        token: Option<TokenHash>,
        reply: Reply<Feed>,
    },
    /// A copy of the game after some actions, to ask it things.
    Branch {
        ply: Option<usize>,
        reply: Reply<Branched>,
    },
    /// A step that another node passes on.
    Asked {
        input: Input,
        reply: Reply<Passed>,
    },
    /// Another node may have stored events up to this one.
    News {
        seq: u64,
    },
}

/// How much of what was played is told with the state of a game.
#[derive(Debug, Clone, Copy)]
pub enum Lines {
    /// The last actions.
    Last(usize),
    /// The texts of all, and nothing more of any.
    Texts,
}

/// A copy of a game, and where it may be asked things.
#[derive(Debug)]
pub(super) struct Branched {
    pub(super) game: Box<Game>,
    pub(super) lane: Lane,
}

/// Where the room of a game is: at home, but while the threads that rules run on have it. The game's
/// task waits for it then. Should they lose it, the task ends at once.
struct Home(Option<Box<Room<Board>>>);

impl Deref for Home {
    type Target = Room<Board>;

    fn deref(&self) -> &Room<Board> {
        match &self.0 {
            Some(room) => room,
            // The job that had it has failed in the middle: the game's task ends as the job did.
            None => std::panic::resume_unwind(Box::new("a game's room is lost")),
        }
    }
}

struct Live {
    host: Arc<Host>,
    id: String,
    room: Home,
    /// Where its rules run: moves and views, and what takes longer.
    lane: Lane,
    slow_lane: Lane,
    /// The last events as they are sent.
    frames: VecDeque<Arc<str>>,
    /// The number of all events.
    told: u64,
    watchers: Vec<mpsc::Sender<Arc<str>>>,
    /// Feeds of players: watchers do not take their place.
    players: Vec<mpsc::Sender<Arc<str>>>,
    /// Tells requests that wait for an event of the last one that is known here, as long as any wait.
    later: Option<watch::Sender<u64>>,
    /// The number of actions in the last snapshot that this task has taken.
    kept: usize,
    /// The last event when it began.
    begun: u64,
    /// What it appends under, where several nodes share the store, and when that was given; none if
    /// another one may own it.
    lease: Option<(Lease, std::time::Instant)>,
    /// The clock is not looked at before: another node owns the game.
    look: Instant,
    computer: Attention,
}

/// A game that has to be loaded first.
pub(super) async fn load_and_run(
    host: Arc<Host>,
    id: String,
    mut inbox: mpsc::Receiver<Box<Command>>,
) {
    match host.load(&id).await {
        Ok((room, entries)) => run(host, id, room, &entries, None, inbox).await,
        Err(problem) => {
            host.drop_game(&id, &mut inbox);
            while let Some(command) = inbox.recv().await {
                command.refuse(&problem);
            }
        }
    }
}

/// Runs a game until there are no more requests for it.
pub(super) fn run(
    host: Arc<Host>,
    id: String,
    room: Room<Board>,
    entries: &[LogEntry],
    lease: Option<Lease>,
    inbox: mpsc::Receiver<Box<Command>>,
) -> impl Future<Output = ()> + Send + use<> {
    let last = entries.len().saturating_sub(RECENT);
    let frames = entries[last..].iter().map(frame).collect();
    let told = entries.len() as u64;
    let begun = room.v();
    let rules = &room.setup().rules;
    let (lane, slow_lane) = (host.lane(rules), host.slow_lane(rules));
    let live = Live {
        host,
        id,
        room: Home(Some(Box::new(room))),
        lane,
        slow_lane,
        frames,
        told,
        watchers: Vec::new(),
        players: Vec::new(),
        later: None,
        kept: 0,
        begun,
        lease: lease.map(|it| (it, std::time::Instant::now())),
        look: Instant::now(),
        computer: Attention::default(),
    };
    live.serve(inbox)
}

impl Command {
    fn refuse(self, problem: &Problem) {
        let problem = problem.clone();
        // A caller that has stopped waiting does not need the answer.
        match self {
            Self::Step { reply, .. } => drop(reply.send(Err(problem))),
            Self::State { reply, .. } | Self::Lines { reply, .. } => {
                drop(reply.send(Err(problem)));
            }
            Self::Version { reply, .. } => drop(reply.send(Err(problem))),
            Self::Watch { reply, .. } => drop(reply.send(Err(problem))),
            Self::Branch { reply, .. } => drop(reply.send(Err(problem))),
            Self::Asked { reply, .. } => drop(reply.send(Err(problem))),
            Self::News { .. } => {}
        }
    }
}

impl Live {
    async fn serve(mut self, mut inbox: mpsc::Receiver<Box<Command>>) {
        let mut asked = Instant::now();
        // A clock that runs is measured from here on, by whichever node owns the game.
        if self.room.clock_runs()
            && let Err(problem) = self.owner().await
        {
            tracing::debug!(
                game = self.id,
                problem.message,
                "the owner of the game will be looked up again"
            );
            if self.is_lost() {
                return self.host.drop_game(&self.id, &mut inbox);
            }
        }
        self.attend();
        self.unload();
        loop {
            let wake = self.wakes_at(asked);
            let command = tokio::select! {
                biased;
                command = inbox.recv() => command,
                () = tokio::time::sleep_until(wake) => {
                    if self.fallen() && (self.tick().await.is_err() || self.is_lost()) {
                        return self.host.drop_game(&self.id, &mut inbox);
                    }
                    self.attend();
                    self.unload();
                    self.forget_gone();
                    if self.is_idle(asked) && inbox.is_empty() {
                        self.keep().await;
                    }
                    let running = self.running();
                    let is_parked = running.is_some();
                    if self.is_idle(asked) && self.host.evict(&self.id, &mut inbox, running) {
                        // A game whose clock runs stays this node's: here it is known when it falls.
                        if !is_parked {
                            self.release();
                        }
                        return;
                    }
                    continue;
                }
            };
            // There are no more requests: the server drains.
            let Some(command) = command else { return };
            asked = Instant::now();
            if self.answer(*command).await.is_err() || self.is_lost() {
                return self.host.drop_game(&self.id, &mut inbox);
            }
            self.attend();
            if inbox.is_empty() {
                self.unload();
            }
        }
    }

    /// Has the computer do its part, where this node owns the game.
    fn attend(&mut self) {
        if self.lease.is_some() || self.host.cluster().is_none() {
            self.computer.attend(&self.host, &self.id, &self.room);
        }
    }

    /// When to look at the clock, or whether any client is connected.
    fn wakes_at(&self, asked: Instant) -> Instant {
        let now = Instant::now();
        let (due, look) = (asked + self.host.patience(), now + self.host.next_look());
        let idle = if due > now { due.min(look) } else { look };
        match self.room.deadline() {
            None => idle,
            Some(at) => {
                let left = at.saturating_sub(self.host.now());
                idle.min(self.look.max(now + Duration::from_millis(left.max(1))))
            }
        }
    }

    /// Has the threads for it ask the rules, with the steps of so many requests. With what is to be said
    /// if that takes too much.
    ///
    /// # Errors
    /// Nothing was done. The game cannot go on if its room is gone.
    async fn rules<T: Send + 'static>(
        &mut self,
        lane: Lane,
        requests: usize,
        ask: impl FnOnce(&mut Room<Board>) -> T + Send + 'static,
    ) -> Result<(T, Option<Problem>), Problem> {
        // Whatever becomes of the job, the room can be had back from here, unless the job has failed in
        // the middle of it.
        let lent = Arc::new(Mutex::new(self.room.0.take()));
        let held = Arc::clone(&lent);
        let work = move || {
            let mut held = lock(&held);
            let room = held.as_deref_mut()?;
            room.rules_mut().game_mut().reload();
            let answer = ask(room);
            // What ran out is told now: the next question is one of its own.
            let checked = room.rules_mut().game_mut().check();
            Some((answer, checked.err().map(|it| it.resource)))
        };
        let done = self.host.pool.run_all(lane, requests, work).await;
        self.room = Home(lent.lock().ok().and_then(|mut it| it.take()));
        let (done, ran_out) = done?;
        let (answer, exhausted) = done.ok_or_else(failed)?;
        Ok((answer, ran_out.or_else(|| exhausted.map(spent))))
    }

    /// [`Live::rules`] for a question that has no answer if it takes too much.
    async fn ask<T: Send + 'static>(
        &mut self,
        ask: impl FnOnce(&mut Room<Board>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, ran_out) = self.rules(self.lane, 1, ask).await?;
        ran_out.map_or(answer, Err)
    }

    /// Drops what follows from the facts. It is most of what a game holds, and is derived again
    /// in less time than it takes to store a move.
    fn unload(&mut self) {
        if let Some(room) = &mut self.room.0 {
            room.rules_mut().game_mut().unload();
        }
    }

    /// # Errors
    /// The game cannot go on from here.
    async fn tick(&mut self) -> Result<(), ()> {
        // The node that owns the game looks after its clock.
        match self.owner().await {
            Ok(None) => self.step(Input::Tick).await.map(|_| ()).map_err(|_| ()),
            Ok(Some(_)) => {
                self.look = Instant::now() + LOOK;
                Ok(())
            }
            Err(_) => Err(()),
        }
    }

    fn fallen(&self) -> bool {
        let fallen = self.room.deadline().is_some_and(|at| at <= self.host.now());
        fallen && Instant::now() >= self.look
    }

    fn is_idle(&self, asked: Instant) -> bool {
        let is_watched = !self.watchers.is_empty() || !self.players.is_empty();
        asked.elapsed() >= self.host.patience() && !is_watched
    }

    /// The clocks that run, where this node looks after them.
    fn running(&self) -> Option<Running> {
        let is_ours = self.lease.is_some() || self.host.cluster().is_none();
        let (timing, deadline) = self.room.timing().zip(self.room.deadline())?;
        is_ours.then(|| Running { v: self.room.v(), timing, deadline })
    }

    /// # Errors
    /// The events could not be stored: the game cannot go on from here.
    async fn answer(&mut self, command: Command) -> Result<(), ()> {
        match command {
            Command::Step { input, reply } => match self.step(input).await {
                Ok(answer) => drop(reply.send(answer)),
                Err(problem) => {
                    drop(reply.send(Err(problem)));
                    return Err(());
                }
            },
            Command::Asked { input, reply } => match self.step_here(input).await {
                Ok(answer) => drop(reply.send(answer.transpose())),
                Err(problem) => {
                    drop(reply.send(Err(problem)));
                    return Err(());
                }
            },
            Command::State { token, ply, lines, reply } => {
                drop(reply.send(self.state(token, ply, lines).await));
            }
            Command::Lines { from, limit, reply } => {
                drop(reply.send(Ok(state::lines(&self.room, from, limit))));
            }
            Command::Version { v, reply } => {
                drop(reply.send(self.version(v).await));
            }
            Command::Watch { have, token, reply } => {
                drop(reply.send(self.watch(have, token).await));
            }
            Command::Branch { ply, reply } => drop(reply.send(self.branched(ply).await)),
            Command::News { seq } if seq > self.room.v() => {
                return self.catch_up().await.map(|_| ()).map_err(|_| ());
            }
            Command::News { .. } => {}
        }
        Ok(())
    }

    async fn version(&mut self, v: u64) -> Result<(u64, Option<watch::Receiver<u64>>), Problem> {
        if v > self.room.v() {
            self.catch_up().await?;
        }
        let known = self.room.v();
        let later = (v > known)
            .then(|| self.later.get_or_insert_with(|| watch::channel(known).0).subscribe());
        Ok((known, later))
    }

    /// Reads what other nodes have stored. Tells whether there was anything.
    async fn catch_up(&mut self) -> Result<bool, Problem> {
        let entries = self.host.log_after(&self.id, self.room.v()).await?;
        let (requests, now) = (1 + entries.len(), self.host.now());
        let follow = move |room: &mut Room<Board>| room.follow(now, &entries).map(|()| entries);
        let (followed, ran_out) = self.rules(self.lane, requests, follow).await?;
        let entries = followed.map_err(|_| ran_out.unwrap_or_else(Problem::unavailable))?;
        entries.iter().for_each(|it| self.tell(frame(it)));
        Ok(!entries.is_empty())
    }

    /// Forgets what could not be stored, and knows what others have.
    async fn reload(&mut self) -> Result<(), Problem> {
        let (room, entries) = self.host.load(&self.id).await?;
        self.room = Home(Some(Box::new(room)));
        let told = usize::try_from(self.told).unwrap_or(usize::MAX);
        for entry in entries.iter().skip(told) {
            self.tell(frame(entry));
        }
        Ok(())
    }

    /// The node that owns the game, unless it is this one: it is claimed if it has no owner that
    /// lives, and what others have appended is taken in. None also where there are no other nodes.
    async fn owner(&mut self) -> Result<Option<Arc<str>>, Problem> {
        let host = Arc::clone(&self.host);
        let Some(cluster) = host.cluster() else { return Ok(None) };
        if self.lease.as_ref().is_some_and(|it| cluster.leases.hold_since(it.1)) {
            return Ok(None);
        }
        let asked = std::time::Instant::now();
        match cluster.leases.claim(&self.id).await? {
            None => Err(Problem::no_game(&self.id)),
            Some(Claim::Theirs(node)) => {
                self.lease = None;
                Ok(Some(node))
            }
            Some(Claim::Ours { lease, seq }) => {
                // It was this node's all the time, in memory or out of it.
                let is_parked = host.parked.timing(&self.id, seq).is_some();
                let was_ours = seq == self.room.v() && (self.lease.is_some() || is_parked);
                if seq > self.room.v() {
                    self.catch_up().await?;
                }
                if !was_ours {
                    // How long the game had no owner is not known: that time is charged to no side.
                    let now = self.host.now();
                    if let Some(room) = &mut self.room.0 {
                        room.resume(now);
                    }
                }
                self.lease = Some((lease, asked));
                Ok(None)
            }
        }
    }

    /// Others may have the game from here on.
    fn release(&mut self) {
        if let (Some(cluster), Some((lease, _))) = (self.host.cluster(), self.lease.take()) {
            cluster.leases.release(&self.id, lease);
        }
    }

    /// Does a step, or has it done by the node that owns the game. The inner result is the game's own
    /// answer.
    async fn step(&mut self, mut input: Input) -> Result<Result<Answer, Problem>, Problem> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(answer) = self.step_here(input.clone()).await? {
                return Ok(answer);
            }
            // It may be done twice if its owner dies over it, and is recognised by its name.
            if let Input::Act { id: id @ None, .. } = &mut input {
                *id = Some(format!("~{}", &new_token()?[..32]));
            }
            if let Some(node) = self.owner().await?
                && let Some(answer) = self.pass_on(&node, &input).await?
            {
                return Ok(answer);
            }
        }
        Err(Problem::unavailable())
    }

    /// Has a step done by another node. None if that does not own the game any more.
    async fn pass_on(
        &mut self,
        node: &str,
        input: &Input,
    ) -> Result<Option<Result<Answer, Problem>>, Problem> {
        self.unload();
        let host = Arc::clone(&self.host);
        let Some(cluster) = host.cluster() else { return Ok(None) };
        let started = Instant::now();
        let mut asked = match cluster.ask(node, &self.id, input).await {
            Ok(asked) => asked,
            Err(problem) => return Ok(Some(Err(problem))),
        };
        while started.elapsed() < PATIENCE {
            match tokio::time::timeout(LOOK, &mut asked.answer).await {
                Ok(done) => {
                    let answer = done.map_or(None, Done::answer);
                    // A client that hears the answer has heard what led to it.
                    if answer.is_some() {
                        self.catch_up().await?;
                    }
                    return Ok(answer);
                }
                Err(_) if self.owner().await?.as_deref() == Some(node) => {}
                Err(_) => return Ok(None),
            }
        }
        Err(Problem::unavailable())
    }

    /// Steps, stores, and tells; none if another node owns the game. Where two servers have one file,
    /// the other may be faster: then its events come first and the step is tried again.
    async fn step_here(
        &mut self,
        input: Input,
    ) -> Result<Option<Result<Answer, Problem>>, Problem> {
        for _ in 0..TRIES {
            if self.owner().await?.is_some() {
                return Ok(None);
            }
            if let Some(answer) = self.try_step(input.clone()).await? {
                return Ok(Some(answer));
            }
            self.lease = None;
            self.reload().await?;
        }
        let status = axum::http::StatusCode::CONFLICT;
        Err(Problem::new(status, "game_moved", "others were faster, again and again: ask again"))
    }

    /// The game as facts, now and then, so that it is loaded from there.
    fn snapshot(&mut self) -> Option<String> {
        let plies = self.room.lines().len();
        let is_over = self.room.outcome().is_some() && plies > 0;
        if plies < self.kept + KEEP && !(is_over && plies != self.kept) {
            return None;
        }
        self.kept = plies;
        self.room.rules().keep()
    }

    /// Stores a snapshot of the game before it is evicted, if it has gone on since.
    async fn keep(&mut self) {
        let plies = self.room.lines().len();
        let is_ours = self.lease.is_some() || self.host.cluster().is_none();
        if plies < self.kept + WORTH || self.room.v() == self.begun || !is_ours {
            return;
        }
        self.kept = plies;
        let Some(snapshot) = self.room.rules().keep() else { return };
        let append = Append {
            game: self.id.clone(),
            expected: self.room.v(),
            payloads: Vec::new(),
            summary: summary(&self.id, &self.room),
            snapshot: Some(snapshot),
            lease: self.lease.as_ref().map(|it| it.0.clone()),
            marks: Vec::new(),
        };
        // Without it the game is loaded from its log, which may have gone on elsewhere.
        match self.host.writer.append(append).await {
            Ok(Ok(()) | Err(_)) => {}
            Err(error) => tracing::warn!(game = self.id, %error, "no snapshot"),
        }
    }

    async fn try_step(&mut self, input: Input) -> Result<Option<Result<Answer, Problem>>, Problem> {
        let started = std::time::Instant::now();
        let is_move = matches!(&input, Input::Act { act: super::core::Act::Move { .. }, .. });
        // Other presets are rules to be compiled.
        let act = match &input {
            Input::Act { act, .. } => Some(act),
            Input::Join { .. } | Input::Tick => None,
        };
        let is_switch = matches!(act, Some(super::core::Act::Presets(_)));
        let lane = if is_switch { self.slow_lane } else { self.lane };
        let mut refused = None;
        // Time that the request waits for a thread is the player's as much as time on the network.
        let now = self.host.now();
        let step = move |room: &mut Room<Board>| room.step(now, input);
        let (mut output, ran_out) = match self.rules(lane, 1, step).await {
            Ok(done) => done,
            Err(problem) if self.is_lost() => return Err(problem),
            // Nothing was done.
            Err(problem) => return Ok(Some(Err(problem))),
        };
        // It is refused, but not for what the rules say.
        if let (Some(problem), Some(Err(_))) = (ran_out, &output.answer) {
            output.answer = None;
            refused = Some(problem);
        }
        if !output.events.is_empty() {
            let expected = output.events[0].v - 1;
            let append = Append {
                game: self.id.clone(),
                expected,
                payloads: output.events.iter().map(payload).collect(),
                summary: summary(&self.id, &self.room),
                snapshot: self.snapshot(),
                lease: self.lease.as_ref().map(|it| it.0.clone()),
                marks: marks(&self.id, &self.room, &output.events),
            };
            // Many wait here when the disk is slow.
            self.unload();
            if self.host.writer.append(append).await?.is_err() {
                return Ok(None);
            }
            self.host.announce(&self.id, &self.room, &output.events);
            for entry in &output.events {
                self.tell(frame(entry));
            }
        }
        let answer = match output.answer {
            _ if refused.is_some() => Err(refused.unwrap_or_else(failed)),
            None => Ok(Answer { v: self.room.v(), ply: 0, side: 0, game: None }),
            Some(answer) => answer.map_err(Problem::from),
        };
        if is_move {
            self.host.metrics.moved(answer.is_ok(), started.elapsed());
        }
        Ok(Some(answer))
    }

    fn tell(&mut self, frame: Arc<str>) {
        for feeds in [&mut self.watchers, &mut self.players] {
            self.host.metrics.dropped(tell(feeds, &frame));
        }
        if self.frames.len() == RECENT {
            self.frames.pop_front();
        }
        self.frames.push_back(frame);
        self.told += 1;
        if self.room.0.as_ref().is_some_and(|it| it.outcome().is_some()) {
            let _ = self.host.ended.send(self.id.clone());
        }
        if let Some(later) = &self.later {
            later.send_replace(self.told);
        }
    }

    fn forget_gone(&mut self) {
        for feeds in [&mut self.watchers, &mut self.players] {
            feeds.retain(|it| !it.is_closed());
        }
        self.later = self.later.take().filter(|it| it.receiver_count() > 0);
    }

    async fn watch(
        &mut self,
        have: Option<u64>,
        token: Option<TokenHash>,
    ) -> Result<Feed, Problem> {
        self.forget_gone();
        let plays = token.is_some_and(|it| !self.room.sides_of(&it).is_empty());
        if !plays && self.watchers.len() >= WATCHERS {
            let status = axum::http::StatusCode::TOO_MANY_REQUESTS;
            return Err(Problem::new(status, super::socket::FULL, "too many watch this game"));
        }
        let (sender, coming) = mpsc::channel(BACKLOG);
        let missed = match have {
            Some(have) if have <= self.told && self.told - have <= MISSED => {
                let missed = self.missed(have).await?;
                match missed.iter().map(|it| it.len()).sum::<usize>() <= FRAME {
                    true => missed,
                    false => vec![self.resync().await?],
                }
            }
            // Without a version, or with one that is too old or was never given out: all anew.
            _ => vec![self.resync().await?],
        };
        let feeds = if plays { &mut self.players } else { &mut self.watchers };
        if plays && feeds.len() >= PLAYERS {
            // A player has come back again and again: the oldest connection is the one that is dead.
            feeds.remove(0);
        }
        feeds.push(sender);
        Ok(Feed { missed, coming })
    }

    /// The events after one.
    async fn missed(&self, have: u64) -> Result<Vec<Arc<str>>, Problem> {
        let first = self.told - self.frames.len() as u64;
        if let Some(known) = have.checked_sub(first) {
            let known = usize::try_from(known).unwrap_or(usize::MAX);
            return Ok(self.frames.iter().skip(known).cloned().collect());
        }
        // The log may have more already: that is told when this game takes it in.
        let log = self.host.log_after(&self.id, have).await?;
        Ok(log.iter().take_while(|it| it.v <= self.told).map(frame).collect())
    }

    async fn resync(&mut self) -> Result<Arc<str>, Problem> {
        let v = self.room.v();
        let state = self.state(None, None, Lines::Last(RESYNC)).await?;
        let all = json!({ "v": v, "t": "resync", "d": state }).to_string();
        if all.len() <= FRAME {
            return Ok(all.into());
        }
        Ok(json!({ "v": v, "t": "resync" }).to_string().into())
    }

    async fn state(
        &mut self,
        token: Option<TokenHash>,
        ply: Option<usize>,
        lines: Lines,
    ) -> Result<Value, Problem> {
        let (id, now) = (self.id.clone(), self.host.now());
        self.ask(move |room| {
            let past = match ply.filter(|&it| it != room.lines().len()) {
                None => None,
                Some(_) => Some(branch(room, ply)?),
            };
            state::of(&id, room, past, token.as_ref(), lines, now)
        })
        .await
    }

    async fn branched(&mut self, ply: Option<usize>) -> Result<Branched, Problem> {
        let lane = self.slow_lane;
        let game = self.ask(move |room| branch(room, ply).map(Box::new)).await?;
        Ok(Branched { game, lane })
    }

    /// The room is gone: a job has failed.
    fn is_lost(&self) -> bool {
        self.room.0.is_none()
    }
}

/// A copy of the game as it was after some actions.
fn branch(room: &Room<Board>, ply: Option<usize>) -> Result<Game, Problem> {
    let plies = room.lines().len();
    let game = room.rules().game();
    game.branch(ply.unwrap_or(plies))
        .ok_or_else(|| Problem::bad("no_such_ply", format!("the game has {plies} actions")))
}

/// An event as it is sent to watchers.
fn frame(entry: &LogEntry) -> Arc<str> {
    entry.public().to_string().into()
}

/// How a game began, from its log.
pub(super) fn created(log: &[LogEntry]) -> Option<&super::core::Setup> {
    match log.first().map(|it| &it.event) {
        Some(Event::Created(setup)) => Some(setup),
        _ => None,
    }
}
