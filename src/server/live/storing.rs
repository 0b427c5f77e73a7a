//! A step and what it stores: its events, at intervals a snapshot of the game, and a rematch that the players agreed on.
//!
//! Deliberately absent: which node does the step (`ownership`).

use std::sync::Arc;

use super::super::board::Board;
use super::super::core::{Act, Answer, Event, Input, LogEntry, Room, Rules};
use super::super::host::Host;
use super::super::loader::payload;
use super::super::problem::Problem;
use super::super::state::{empty_records, summary};
use super::super::store::Append;
use super::super::time::DAY;
use super::{Live, frame};

/// Number of actions between snapshots; the last one is taken when the game is over.
const INTERVAL: usize = 64;
/// A game that is evicted gets a snapshot only if at least this many actions came after the last one: fewer are quickly
/// played again when the game is loaded.
const WORTH: usize = 4;
/// For this many milliseconds after the players agreed on a rematch, it is made again if it is missing: the server may
/// have been killed before it made it. A rematch that is missing later was pruned.
const REMATCH: u64 = DAY;

/// Makes the rematch that the players agreed on with one of these events, if it is missing.
pub(super) async fn make_agreed_rematch(host: &Arc<Host>, id: &str, events: &[LogEntry]) {
    let agreed = events.iter().rev().find_map(|it| match &it.event {
        Event::Rematched { game, .. } => Some((it.at, game)),
        _ => None,
    });
    let Some((_, rematch)) = agreed.filter(|it| host.now().saturating_sub(it.0) < REMATCH) else {
        return;
    };
    if let Err(problem) = host.make_rematch(id, rematch).await {
        tracing::warn!(game = id, problem.message, "a rematch could not be made");
    }
}

impl Live {
    /// A snapshot to load the game from, if one is due.
    fn snapshot_if_due(&mut self) -> Option<String> {
        let plies = self.room.lines().len();
        let is_over = self.room.outcome().is_some();
        let is_due = plies >= self.snapshot_plies + INTERVAL;
        let is_last = is_over && plies > 0 && plies != self.snapshot_plies;
        if !is_due && !is_last {
            return None;
        }
        self.snapshot_plies = plies;
        self.room.rules().snapshot()
    }

    /// Stores a snapshot before the game is evicted, if events came since it was loaded, and at least [`WORTH`] actions
    /// since the last snapshot that this task has taken (since the start of the game if there was none).
    pub(super) async fn store_snapshot(&mut self) {
        let plies = self.room.lines().len();
        let is_unchanged = self.room.v() == self.loaded_v;
        if plies < self.snapshot_plies + WORTH || is_unchanged || !self.is_ours() {
            return;
        }
        self.snapshot_plies = plies;
        let Some(snapshot) = self.room.rules().snapshot() else { return };
        let append = self.append(&[], Some(snapshot));
        // The append is refused if another node has appended events meanwhile. A game without a snapshot is loaded from
        // its events, which only takes longer.
        match self.host.writer.append(append).await {
            Ok(Ok(()) | Err(_)) => {}
            Err(error) => tracing::warn!(game = self.id, %error, "no snapshot"),
        }
    }

    /// An append of these events, which are the last ones of the room.
    fn append(&self, events: &[LogEntry], snapshot: Option<String>) -> Append {
        Append {
            game: self.id.clone(),
            expected: self.room.v() - events.len() as u64,
            payloads: events.iter().map(payload).collect(),
            summary: summary(&self.id, &self.room),
            snapshot,
            lease: self.lease.as_ref().map(|it| it.0.clone()),
            empty_records: empty_records(&self.id, &self.room, events),
        }
    }

    /// Stores the events of a step, then sends them. Returns false if they are refused: another node has stored events
    /// meanwhile, or owns the game.
    async fn publish(&mut self, events: &[LogEntry]) -> Result<bool, Problem> {
        let snapshot = self.snapshot_if_due();
        let append = self.append(events, snapshot);
        // When the disk is slow, many games wait here: meanwhile they need no memory for derived rows.
        self.unload();
        if self.host.writer.append(append).await?.is_err() {
            return Ok(false);
        }
        self.host.announce(&self.id, &self.room, events);
        // Made before clients hear of it, and here, since the client that agreed may be gone.
        make_agreed_rematch(&self.host, &self.id, events).await;
        for entry in events {
            self.send_frame(frame(entry));
        }
        Ok(true)
    }

    /// Does a step, stores its events and sends them. `None` if another node has stored events meanwhile, or owns the
    /// game: the room must be loaded again.
    pub(super) async fn try_step(
        &mut self,
        input: Input,
    ) -> Result<Option<Result<Answer, Problem>>, Problem> {
        let started = std::time::Instant::now();
        let is_move = matches!(&input, Input::Act { act: Act::Move { .. }, .. });
        // The rules with other presets must be compiled first, which takes long.
        let is_switch = matches!(&input, Input::Act { act: Act::Presets(_), .. });
        let lane = if is_switch { self.slow_lane } else { self.lane };
        // The time of the step: the time until a thread is free and the events are stored is charged to the side that
        // moves next.
        let now = self.host.now();
        let step = move |room: &mut Room<Board>| room.step(now, input);
        let (output, ran_out) = match self.rules(lane, 1, step).await {
            Ok(done) => done,
            Err(problem) if self.is_lost() => return Err(problem),
            // Nothing was done.
            Err(problem) => return Ok(Some(Err(problem))),
        };
        // A refusal after a budget ran out is for that reason, not by the rules.
        let out_of_budget = ran_out.filter(|_| matches!(output.answer, Some(Err(_))));
        if !output.events.is_empty() && !self.publish(&output.events).await? {
            return Ok(None);
        }
        let answer = match (out_of_budget, output.answer) {
            (Some(problem), _) => Err(problem),
            (None, None) => Ok(Answer { v: self.room.v(), ply: 0, side: 0, game: None }),
            (None, Some(answer)) => answer.map_err(Problem::from),
        };
        match &answer {
            _ if !is_move => {}
            Ok(_) => self.host.metrics.moved(started.elapsed()),
            Err(_) => self.host.metrics.move_refused(),
        }
        Ok(Some(answer))
    }
}
