//! One live game: the task that owns its room, stores its events and sends them to watchers.
//!
//! Nothing leaves this task before the events behind it are durable. If they cannot be stored, the
//! room knows more than the log, so it is discarded, and loaded again at the next request. This file has the task's loop
//! and its calls to the rules; its steps are in `ownership`, `storing` and `watching`.

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
use super::lock::lock;
use super::parked::Running;
use super::pool::{Lane, spent};
use super::problem::Problem;
use super::state;
use super::store::Lease;
use crate::game::Game;
use crate::presets::plural;
pub use command::Lines;
pub(super) use command::{Branched, Command};
pub(super) use watching::FRAME;
pub use watching::Feed;

/// Maximum number of recent events in memory, for clients that reconnect.
const RECENT: usize = 16;
/// Interval of attempts: to find the owner of a game, to read events of other nodes, to check a clock after a refusal.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// The room of a game; empty while the threads that rules run on have it, for which the game's task waits. If a job on
/// them panics, the room is lost, and the task ends.
struct RoomSlot(Option<Box<Room<Board>>>);

impl Deref for RoomSlot {
    type Target = Room<Board>;

    fn deref(&self) -> &Room<Board> {
        match &self.0 {
            Some(room) => room,
            None => std::panic::resume_unwind(Box::new("a game's room is lost")),
        }
    }
}

struct Live {
    host: Arc<Host>,
    id: String,
    room: RoomSlot,
    /// The lane of the pool for moves and views.
    lane: Lane,
    /// The lane of the pool for longer work.
    slow_lane: Lane,
    /// The last events as they are sent.
    frames: VecDeque<Arc<str>>,
    /// Number of events sent to watchers so far.
    sent: u64,
    watchers: Vec<mpsc::Sender<Arc<str>>>,
    /// The feeds of players, which have a limit of their own.
    players: Vec<mpsc::Sender<Arc<str>>>,
    /// Sends the number of the latest event to requests that wait for a later one; `None` if there are no such requests.
    later: Option<watch::Sender<u64>>,
    /// The number of actions in the last snapshot that this task has taken.
    snapshot_plies: usize,
    /// The number of the last event when this task began.
    loaded_v: u64,
    /// The lease that it appends under, where several nodes share the store, and the time when it asked for it;
    /// `None` if another node may own the game.
    lease: Option<(Lease, std::time::Instant)>,
    /// The clock is not checked before this time: another node owns the game, or a check was refused.
    next_look: Instant,
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
    let loaded_v = room.v();
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
        snapshot_plies: 0,
        loaded_v,
        lease: lease.map(|it| (it, std::time::Instant::now())),
        next_look: Instant::now(),
        computer: CurrentTask::default(),
    };
    live.serve(inbox)
}

impl Live {
    async fn serve(mut self, mut inbox: mpsc::Receiver<Box<Command>>) {
        let mut last_command = Instant::now();
        // The node that owns the game measures its clock from here on.
        if self.room.clock_runs()
            && let Err(problem) = self.claim().await
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
            let wake = self.wakes_at(last_command);
            let command = tokio::select! {
                biased;
                command = inbox.recv() => command,
                () = tokio::time::sleep_until(wake) => match self.look(last_command, &mut inbox).await {
                    true => continue,
                    false => return,
                },
            };
            // There are no more requests: the server drains.
            let Some(command) = command else { return };
            last_command = Instant::now();
            if !self.answer(*command).await || self.is_lost() {
                return self.host.drop_game(&self.id, &mut inbox);
            }
            self.attend();
            if inbox.is_empty() {
                self.unload();
            }
        }
    }

    /// Lets a flag fall that is due, and evicts the game if it is idle. Returns whether the game's task goes on.
    async fn look(
        &mut self,
        last_command: Instant,
        inbox: &mut mpsc::Receiver<Box<Command>>,
    ) -> bool {
        if self.flag_has_fallen() && (!self.tick().await || self.is_lost()) {
            self.host.drop_game(&self.id, inbox);
            return false;
        }
        self.attend();
        self.unload();
        self.forget_gone();
        if !self.is_idle(last_command) {
            return true;
        }
        if inbox.is_empty() {
            self.store_snapshot().await;
        }
        let running = self.running();
        let is_parked = running.is_some();
        if !self.host.evict(&self.id, inbox, running) {
            return true;
        }
        // This node keeps owning a game whose clock runs, since it knows when the flag falls.
        if !is_parked {
            self.release();
        }
        false
    }

    /// Lets the computer think or act if it has a seat, where this node owns the game.
    fn attend(&mut self) {
        if self.is_ours() {
            self.computer.attend(&self.host, &self.id, &self.room);
        }
    }

    /// Whether this node owns the game, as far as it knows.
    fn is_ours(&self) -> bool {
        self.lease.is_some() || self.host.cluster().is_none()
    }

    /// When to check the clock, or whether any client is still connected.
    fn wakes_at(&self, last_command: Instant) -> Instant {
        let now = Instant::now();
        let look = now + time_between_looks(self.host.config.idle);
        let due = last_command + self.host.idle_time();
        let idle = if due > now { due.min(look) } else { look };
        match self.room.deadline() {
            None => idle,
            Some(at) => {
                let left = at.saturating_sub(self.host.now());
                idle.min(self.next_look.max(now + Duration::from_millis(left.max(1))))
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
        // The room is taken back from here whether the job ran or not. If the job panicked, the mutex is poisoned.
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
        let done = self.host.pool.run_with_budget(lane, requests, work).await;
        self.room = RoomSlot(lent.lock().ok().and_then(|mut it| it.take()));
        let (done, ran_out) = done?;
        let (answer, exhausted) = done.ok_or_else(Problem::internal)?;
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

    /// Drops the derived rows. They are most of a game's memory, and deriving them again takes less time than storing a
    /// move.
    fn unload(&mut self) {
        if let Some(room) = &mut self.room.0 {
            room.rules_mut().game_mut().unload();
        }
    }

    /// Ends the game if the time of a side has run out and this node owns the game. Returns false if the game's task
    /// cannot go on.
    async fn tick(&mut self) -> bool {
        let done = match self.claim().await {
            Ok(None) => self.step(Input::Tick).await.map(|it| it.is_ok()),
            Ok(Some(_)) => Ok(false),
            Err(problem) => Err(problem),
        };
        // Another node looks after the clock, or the threads for rules have no room for this game.
        if let Ok(false) = done {
            self.next_look = Instant::now() + LOOK;
        }
        done.is_ok()
    }

    fn flag_has_fallen(&self) -> bool {
        Instant::now() >= self.next_look
            && self.room.deadline().is_some_and(|at| at <= self.host.now())
    }

    fn is_idle(&self, last_command: Instant) -> bool {
        let is_watched = !self.watchers.is_empty() || !self.players.is_empty();
        last_command.elapsed() >= self.host.idle_time() && !is_watched
    }

    /// The clocks that run, where this node looks after them.
    fn running(&self) -> Option<Running> {
        let (timing, deadline) = self.room.timing().zip(self.room.deadline())?;
        self.is_ours().then(|| Running { v: self.room.v(), timing, deadline })
    }

    /// Carries out a command and sends the reply. Returns false if the game's task cannot go on: events could not be
    /// stored or read.
    async fn answer(&mut self, command: Command) -> bool {
        match command {
            Command::Step { input, reply } => {
                let done = self.step(input).await;
                let goes_on = done.is_ok();
                drop(reply.send(done.flatten()));
                return goes_on;
            }
            Command::PassedOn { input, reply } => {
                let done = self.step_here(input).await;
                let goes_on = done.is_ok();
                drop(reply.send(done.and_then(Option::transpose)));
                return goes_on;
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
            Command::News { seq } => return seq <= self.room.v() || self.catch_up().await.is_ok(),
        }
        true
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
            let is_past = ply.is_some_and(|it| it != room.lines().len());
            let past = is_past.then(|| branch(room, ply)).transpose()?;
            state::of(&id, room, past, token.as_ref(), lines, now)
        })
        .await
    }

    async fn branched(&mut self, ply: Option<usize>) -> Result<Branched, Problem> {
        let lane = self.slow_lane;
        let game = self.ask(move |room| branch(room, ply).map(Box::new)).await?;
        Ok(Branched { game, lane })
    }

    /// Whether the room is lost, or discarded because it differs from the log.
    fn is_lost(&self) -> bool {
        self.room.0.is_none()
    }
}

/// A copy of the game as it was after some actions.
fn branch(room: &Room<Board>, ply: Option<usize>) -> Result<Game, Problem> {
    let plies = room.lines().len();
    let game = room.rules().game();
    game.branch(ply.unwrap_or(plies)).ok_or_else(|| {
        Problem::bad("no_such_ply", format!("the game has {}", plural(plies, "action")))
    })
}

/// An event as it is sent to watchers.
fn frame(entry: &LogEntry) -> Arc<str> {
    entry.public().to_string().into()
}
