//! Games from the store: a room made of a snapshot and the log, or of the log alone.
//!
//! Deliberately absent: when a game is loaded (`host`), and what it stores afterwards (`live`).

use std::sync::Arc;

use axum::http::StatusCode;

use super::begin::{restore_snapshot, start};
use super::board::Board;
use super::core::{Event, LogEntry, Room, created};
use super::host::Host;
use super::problem::Problem;
use super::store::{Store, StoreError, StoredEvent};

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
        let log = entries(id, &rows.ok_or_else(|| Problem::no_game(id))?)?;
        let damaged = |what: String| {
            tracing::error!(game = id, what, "a log that cannot be replayed");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Problem::new(status, "log_damaged", format!("game {id}: {what}"))
        };
        let Some(setup) = created(&log) else {
            return Err(damaged("the log has no beginning".to_owned()));
        };
        self.know_rules(&setup.rules).await?;
        let ruleset = self.ruleset(&setup.rules, &setup.game, &setup.presets).await?;
        let catalogue = self.catalogue_of(&setup.rules)?;
        let setup = setup.clone();
        let switches = log.iter().any(|it| matches!(it.event, Event::PresetsChanged { .. }));
        let lane = match switches {
            true => self.slow_lane(&setup.rules),
            false => self.lane(&setup.rules),
        };
        let requests = 1 + log.len();
        let replay = move || -> Result<_, Problem> {
            if let Some(room) = restore_snapshot(snapshot, &ruleset, &catalogue, &setup, &log) {
                return Ok((Ok(room), log));
            }
            let board = start(&ruleset, catalogue, setup.fen.as_deref(), setup.facts.as_deref())?;
            let room = Room::replay(board, setup, &log);
            Ok((room, log))
        };
        // Each event once fitted the budget of one request, so all of them fit that of as many (up to the pool's limit).
        let (replayed, ran_out) = self.pool.run_all(lane, requests, replay).await?;
        let (room, log) = ran_out.map_or(replayed, Err)?;
        let mut room = room.map_err(|(v, why)| damaged(format!("event {v}: {}", why.sentence)))?;
        match self.parked.timing(id, room.v()) {
            Some(timing) => room.restore_clocks(timing),
            // The time since its last event was not measured here: no side is charged for it.
            None => room.resume(self.now()),
        }
        Ok((room, log))
    }
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
