//! Games from the store: a room made of a snapshot and the log, or of the log alone.
//!
//! Deliberately absent: when a game is loaded (`registry`), and what it stores afterwards (`live`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::begin::{restore_snapshot, start};
use super::board::Board;
use super::core::{Event, LogEntry, Room, setup_of};
use super::host::Host;
use super::problem::Problem;
use super::store::{Store, StoreError, StoredEvent};

/// Time after which the rest of a log is replayed in another job.
const PART: Duration = Duration::from_millis(100);

#[doc(hidden)]
impl Host {
    /// A game as its log records it.
    pub(super) async fn load(
        self: &Arc<Self>,
        id: &str,
    ) -> Result<(Room<Board>, Vec<LogEntry>), Problem> {
        let game = id.to_owned();
        let read = move |store: &mut dyn Store| Ok((store.snapshot(&game)?, store.read(&game, 0)?));
        let (snapshot, rows) = self.reads().ask(read).await?;
        let log = Arc::new(entries(id, &rows.ok_or_else(|| Problem::no_game(id))?)?);
        let mut room = self.replay(id, &log, snapshot).await?;
        match self.parked.timing(id, room.v()) {
            Some(timing) => room.restore_clocks(timing),
            // The time since the last event was not measured here: no side is charged for it.
            None => room.resume(self.now()),
        }
        Ok((room, Arc::unwrap_or_clone(log)))
    }

    /// The room of a log. Each event once fitted the time and the budget of one request, but a game may have thousands of
    /// them: it is replayed in parts, each of which is a job of its own.
    async fn replay(
        self: &Arc<Self>,
        id: &str,
        log: &Arc<Vec<LogEntry>>,
        mut snapshot: Option<(u64, String)>,
    ) -> Result<Room<Board>, Problem> {
        let damaged = |what: String| {
            tracing::error!(game = id, what, "a log that cannot be replayed");
            Problem::log_damaged(format!("game {id}: {what}"))
        };
        let setup = setup_of(log).ok_or_else(|| damaged("the log has no beginning".to_owned()))?;
        let (ruleset, catalogue) = self.rules_of(&setup.rules, &setup.game, &setup.presets).await?;
        let switches = log.iter().any(|it| matches!(it.event, Event::PresetsChanged { .. }));
        let lane = if switches { self.slow_lane(&setup.rules) } else { self.lane(&setup.rules) };
        let mut begun = None::<Room<Board>>;
        loop {
            let (ruleset, catalogue, setup) =
                (Arc::clone(&ruleset), Arc::clone(&catalogue), setup.clone());
            let (all, kept, from) = (Arc::clone(log), snapshot.clone(), begun.take());
            let part = move || -> Result<_, Problem> {
                let started = Instant::now();
                let is_enough = || started.elapsed() >= PART;
                let restored = || restore_snapshot(kept, &ruleset, &catalogue, &setup, &all);
                let mut room = match from.or_else(restored) {
                    Some(room) => room,
                    None => {
                        let (fen, facts) = (setup.fen.as_deref(), setup.facts.as_deref());
                        let board = start(&ruleset, Arc::clone(&catalogue), fen, facts)?;
                        Room::as_seen(0, board, setup.clone(), &all)
                    }
                };
                Ok(room.replay_some(&all, is_enough).map(|()| room))
            };
            match self.pool.attempt(lane, 1 + log.len(), part).await? {
                Ok(room) if room.unseen(log).is_empty() => return Ok(room),
                Ok(room) => begun = Some(room),
                // The log does not go on from the snapshot: all of it is played again.
                Err(_) if snapshot.is_some() => snapshot = None,
                Err((v, why)) => return Err(damaged(format!("event {v}: {}", why.sentence))),
            }
        }
    }
}

/// A log entry as the store keeps it.
pub(super) fn payload(entry: &LogEntry) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}

/// The log entries that the store has kept as [`payload`]s.
///
/// # Errors
/// One of them cannot be read.
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
