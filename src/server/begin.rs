//! The start of games: new ones, imported ones, and those restored from a snapshot. All of it evaluates
//! rules, so it runs on the threads for rules (`pool`).

use std::sync::Arc;

use super::board::Board;
use super::core::{Event, LogEntry, Past, Refusal, Room, Setup};
use super::options::{GameOptions, Import};
use super::problem::Problem;
use super::transcript::needs_two_sides;
use crate::presets::{Catalogue, Ruleset};

/// A new game, with its first events.
pub(super) fn begin(
    now: u64,
    ruleset: &Ruleset,
    catalogue: Arc<Catalogue>,
    GameOptions { setup, seats, import }: GameOptions,
) -> Result<(Room<Board>, Vec<LogEntry>), Problem> {
    // The stored name of a game stands for its usual start. Another start that was chosen with the name (such as
    // `chess960:position=909`) is stored as a FEN. Facts are a start of their own, in place of either.
    let chosen = || ruleset.chosen_start().map(str::to_owned);
    let fen = setup.fen.or_else(chosen).filter(|_| setup.facts.is_none());
    let board = start(ruleset, catalogue, fen.as_deref(), setup.facts.as_deref())?;
    let (sides, game) = (board.game().sides(), ruleset.game().name.clone());
    let setup = Setup { sides, game, fen, ..setup };
    let is_import = !import.past.is_empty() || import.ended.is_some();
    if is_import && setup.sides.len() != 2 {
        return Err(needs_two_sides(&setup.game, &setup.sides));
    }
    let (mut room, mut entries) = Room::create(now, board, setup, &seats)?;
    if is_import {
        entries.extend(lead_in(&mut room, import)?);
    }
    Ok((room, entries))
}

/// Replays the part of a game that was played elsewhere.
fn lead_in(
    room: &mut Room<Board>,
    Import { past, ended }: Import,
) -> Result<Vec<LogEntry>, Problem> {
    let refused = |(at, why): (usize, Refusal)| {
        let turns = past[..at].iter().filter(|it| matches!(it, Past::Turn(_))).count();
        let what = match &past[at] {
            Past::Presets(presets) => format!("presets {}", presets.join(" ")),
            Past::Turn(text) => text.clone(),
        };
        let message = format!("turn {} of the PGN, {what}: {why}", turns + 1);
        Problem::unprocessable("bad_import", message)
    };
    room.lead_in(&past, ended).map_err(refused)
}

/// The game of a log as it was when a snapshot was taken; `None` if the snapshot is of another log or of other rules.
pub(super) fn restore_snapshot(
    snapshot: Option<(u64, String)>,
    ruleset: &Ruleset,
    catalogue: &Arc<Catalogue>,
    setup: &Setup,
    log: &[LogEntry],
) -> Option<Room<Board>> {
    let (seen, text) = snapshot?;
    let board = Board::from_snapshot(&text, Arc::clone(catalogue), ruleset)?;
    let at = log.iter().position(|it| it.v == seen)?;
    let plies = log[..=at].iter().fold(0, |plies, it| match &it.event {
        Event::Played { .. } => plies + 1,
        Event::TakenBack { to, .. } => *to,
        _ => plies,
    });
    (plies == board.game().history().len()).then(|| Room::as_seen(seen, board, setup.clone(), log))
}

/// A board at its start: from facts, from a FEN, or from the usual position.
pub(super) fn start(
    ruleset: &Ruleset,
    catalogue: Arc<Catalogue>,
    fen: Option<&str>,
    facts: Option<&str>,
) -> Result<Board, Problem> {
    let started = match facts {
        Some(text) => catalogue.resume_text(ruleset, text),
        None => ruleset.start(fen).map(|it| (ruleset.clone(), it)),
    };
    let (ruleset, mut game) =
        started.map_err(|it| Problem::unprocessable("bad_position", it.to_string()))?;
    // Rules that exceed a budget do so when moves are first listed.
    game.legal_moves();
    game.check().map_err(|it| Problem::unprocessable("rules_exhausted", it.to_string()))?;
    Ok(Board::new(game, catalogue, ruleset))
}
