//! One live game: the task that owns its room, stores its events and sends them to watchers.
//!
//! Nothing leaves this task before the events behind it are durable. If they cannot be stored, the
//! room knows more than the log, so it is thrown away and loaded again at the next request. Here is the task itself:
//! how it waits, and how it asks the rules. What it does is in `ownership`, `storing` and `watching`.

pub(super) mod command;
mod ownership;
mod storing;
mod watching;

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::board::Board;
use super::computer::CurrentTask;
use super::core::{Input, LogEntry, Room, TokenHash};
use super::flags::time_between_looks;
use super::host::Host;
use super::library::lock;
use super::parked::Running;
use super::pool::{Lane, failed, spent};
use super::problem::Problem;
use super::state;
use super::store::Lease;
use crate::game::Game;
pub use command::Lines;
pub(super) use command::{Branched, Command};
pub(super) use watching::FRAME;
pub use watching::Feed;

/// Maximum number of recent events in memory, for clients that reconnect.
const RECENT: usize = 16;
/// Interval at which the owner of a game is looked up when it does not answer.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// The room of a game, unless it is lent to the threads that rules run on. The game's
/// task waits for it then. Should they lose it, the task ends at once.
struct RoomSlot(Option<Box<Room<Board>>>);

impl Deref for RoomSlot {
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
    room: RoomSlot,
    /// The lanes of the pool that its rules run on: `lane` for moves and views, `slow_lane` for longer work.
    lane: Lane,
    slow_lane: Lane,
    /// The last events as they are sent.
    frames: VecDeque<Arc<str>>,
    /// Number of events sent to watchers so far.
    sent: u64,
    watchers: Vec<mpsc::Sender<Arc<str>>>,
    /// Feeds of players, which have places apart from those of watchers.
    players: Vec<mpsc::Sender<Arc<str>>>,
    /// Notifies requests that wait for a later event of the latest one; `None` if there are no such requests.
    later: Option<watch::Sender<u64>>,
    /// The number of actions in the last snapshot that this task has taken.
    kept: usize,
    /// The number of the last event when this task began.
    begun: u64,
    /// The lease that it appends under, where several nodes share the store, and when that was granted;
    /// `None` if another node may own the game.
    lease: Option<(Lease, std::time::Instant)>,
    /// The clock is not checked before this time, if another node owns the game.
    look: Instant,
    computer: CurrentTask,
}

/// Loads a game, then runs it.
pub(super) async fn load_and_run(
    host: Arc<Host>,
    id: String,
    mut inbox: mpsc::Receiver<Box<Command>>,
) {
    match host.load(&id).await {
        Ok((room, entries)) => {
            storing::make_agreed_rematch(&host, &id, &entries).await;
            run(host, id, room, &entries, None, inbox).await
        }
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
    let sent = entries.len() as u64;
    let begun = room.v();
    let rules = &room.setup().rules;
    let (lane, slow_lane) = (host.lane(rules), host.slow_lane(rules));
    let live = Live {
        host,
        id,
        room: RoomSlot(Some(Box::new(room))),
        lane,
        slow_lane,
        frames,
        sent,
        watchers: Vec::new(),
        players: Vec::new(),
        later: None,
        kept: 0,
        begun,
        lease: lease.map(|it| (it, std::time::Instant::now())),
        look: Instant::now(),
        computer: CurrentTask::default(),
    };
    live.serve(inbox)
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
                    if self.flag_has_fallen() && (self.tick().await.is_err() || self.is_lost()) {
                        return self.host.drop_game(&self.id, &mut inbox);
                    }
                    self.attend();
                    self.unload();
                    self.forget_gone();
                    if self.is_idle(asked) && inbox.is_empty() {
                        self.store_snapshot().await;
                    }
                    let running = self.running();
                    let is_parked = running.is_some();
                    if self.is_idle(asked) && self.host.evict(&self.id, &mut inbox, running) {
                        // This node keeps owning a game whose clock runs, since it knows when the flag falls.
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
        if self.is_ours() {
            self.computer.attend(&self.host, &self.id, &self.room);
        }
    }

    /// Whether this node owns the game, as far as it knows.
    fn is_ours(&self) -> bool {
        self.lease.is_some() || self.host.cluster().is_none()
    }

    /// When to look at the clock, or whether any client is connected.
    fn wakes_at(&self, asked: Instant) -> Instant {
        let now = Instant::now();
        let look = now + time_between_looks(self.host.config.idle);
        let due = asked + self.host.idle_time();
        let idle = if due > now { due.min(look) } else { look };
        match self.room.deadline() {
            None => idle,
            Some(at) => {
                let left = at.saturating_sub(self.host.now());
                idle.min(self.look.max(now + Duration::from_millis(left.max(1))))
            }
        }
    }

    /// Runs a job on the threads for rules, with the budget of that many requests. Returns its result, and
    /// the problem to report if the budget ran out.
    ///
    /// # Errors
    /// The job was not run. The game cannot go on if its room is lost.
    async fn rules<T: Send + 'static>(
        &mut self,
        lane: Lane,
        requests: usize,
        ask: impl FnOnce(&mut Room<Board>) -> T + Send + 'static,
    ) -> Result<(T, Option<Problem>), Problem> {
        // The room can be taken back from here however the job ends, unless it has panicked.
        let lent = Arc::new(Mutex::new(self.room.0.take()));
        let held = Arc::clone(&lent);
        let work = move || {
            let mut held = lock(&held);
            let room = held.as_deref_mut()?;
            room.rules_mut().game_mut().reload();
            let answer = ask(room);
            // An exhausted budget is reported now: the next question has one of its own.
            let checked = room.rules_mut().game_mut().check();
            Some((answer, checked.err().map(|it| it.resource)))
        };
        let done = self.host.pool.run_all(lane, requests, work).await;
        self.room = RoomSlot(lent.lock().ok().and_then(|mut it| it.take()));
        let (done, ran_out) = done?;
        let (answer, exhausted) = done.ok_or_else(failed)?;
        Ok((answer, ran_out.or_else(|| exhausted.map(spent))))
    }

    /// [`Live::rules`] for a job whose result is of no use if the budget ran out.
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

    /// Lets the rules see that a clock has run out, if this node owns the game.
    ///
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

    fn flag_has_fallen(&self) -> bool {
        let flag_has_fallen = self.room.deadline().is_some_and(|at| at <= self.host.now());
        flag_has_fallen && Instant::now() >= self.look
    }

    fn is_idle(&self, asked: Instant) -> bool {
        let is_watched = !self.watchers.is_empty() || !self.players.is_empty();
        asked.elapsed() >= self.host.idle_time() && !is_watched
    }

    /// The clocks that run, where this node looks after them.
    fn running(&self) -> Option<Running> {
        let (timing, deadline) = self.room.timing().zip(self.room.deadline())?;
        self.is_ours().then(|| Running { v: self.room.v(), timing, deadline })
    }

    /// Carries out a command and sends the reply.
    ///
    /// # Errors
    /// The events could not be stored: the game cannot go on from here.
    async fn answer(&mut self, command: Command) -> Result<(), ()> {
        match command {
            Command::Step { input, reply } => {
                let done = self.step(input).await;
                let goes_on = done.is_ok();
                drop(reply.send(done.flatten()));
                return goes_on.then_some(()).ok_or(());
            }
            Command::PassedOn { input, reply } => {
                let done = self.step_here(input).await;
                let goes_on = done.is_ok();
                drop(reply.send(done.and_then(Option::transpose)));
                return goes_on.then_some(()).ok_or(());
            }
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
                return self.catch_up().await.map_err(|_| ());
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
