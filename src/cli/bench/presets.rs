//! What each preset adds to the cost of a position: counting the legal moves after one move and after its
//! undo, beside chess in the same run. Where rules tell what is legal, rows are counted, and the cost
//! is that of deriving them; where they do not, moves are played out.
//!
//! The counts of each preset are compared with those from rows derived afresh, and at the root with
//! those of datafrog.

use anyhow::ensure;
use serde::Serialize;

use super::derive::{POSITIONS, plays_out, there_and_back};
use super::meter::Meter;
use crate::cli::args::DEFAULT_GAME;
use crate::cli::output::Out;
use crate::cli::setup::{self, Library};
use crate::derive::{Backend, World};
use crate::moves::{Contract, legal_moves};
use crate::presets::{Catalogue, Ruleset};

/// A line of the table.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) preset: String,
    /// Some moves are played out to see whether they are legal.
    pub(crate) plays_out: bool,
    /// Microseconds for a position.
    pub(crate) time: f64,
    /// Of the time for a position of chess.
    pub(crate) ratio: f64,
    /// Legal moves that were counted in a round.
    pub(crate) moves: u64,
}

pub(crate) fn run(library: &mut Library, quick: bool) -> anyhow::Result<Vec<Row>> {
    let catalogue = Catalogue::embedded()?;
    let mut sets = vec![("(none)".to_owned(), Vec::new())];
    for it in catalogue.presets() {
        sets.push((it.preset.clone(), catalogue.with_required(&[&it.preset])));
    }
    let mut rows: Vec<Row> = Vec::new();
    for (preset, active) in sets {
        let rules = library.load(DEFAULT_GAME, &active)?;
        let (time, moves) = cost(&rules, quick)?;
        let plays_out = plays_out(rules.contract());
        let ratio = rows.first().map_or(1.0, |chess| time / chess.time);
        rows.push(Row { preset, plays_out, time, ratio, moves });
    }
    Ok(rows)
}

/// Microseconds for a position, and the legal moves of one round.
fn cost(rules: &Ruleset, quick: bool) -> anyhow::Result<(f64, u64)> {
    let (mut time, mut positions, mut moves) = (0.0, 0, 0);
    for (name, fen) in POSITIONS {
        let mut game = setup::start(rules, Some(fen))?;
        let contract = game.contract().clone();
        let world = game.world_mut();
        let afresh = round(world, &contract, World::forget_rows);
        let kept = round(world, &contract, |_| ());
        ensure!(kept == afresh, "{name}: incremental counts {kept:?}, afresh {afresh:?}");
        let mut slow = rules.start_on(Backend::Frog, Some(fen))?;
        let expected = legal_moves(slow.world_mut(), &contract).len();
        let found = legal_moves(world, &contract).len();
        ensure!(found == expected, "{name}: {found} legal moves, datafrog counts {expected}");
        // All in machine code, as the plans of long runs are.
        world.plan().make_native();
        let meter = Meter::own();
        let mut rounds = 0;
        // Long enough for the clock, whatever a round takes.
        let enough = if quick { 0.05 } else { 0.25 };
        while meter.elapsed().as_secs_f64() < enough {
            round(world, &contract, |_| ());
            rounds += 1;
        }
        time += meter.elapsed().as_secs_f64() / f64::from(rounds);
        positions += kept.1;
        moves += kept.0;
    }
    Ok((time * 1e6 / positions.max(1) as f64, moves))
}

/// [`there_and_back`] of all moves of the position.
fn round(world: &mut World, contract: &Contract, before: impl Fn(&mut World)) -> (u64, u64) {
    let moves = legal_moves(world, contract);
    there_and_back(world, contract, &moves, before)
}

pub(crate) fn print(rows: &[Row], out: &mut Out) -> anyhow::Result<()> {
    out.line(format_args!(
        "{:24}{:>12}{:>14}{:>9}",
        "preset", "plays out", "us a position", "ratio"
    ))?;
    for row in rows {
        let Row { preset, plays_out, time, ratio, .. } = row;
        let plays_out = if *plays_out { "yes" } else { "-" };
        out.line(format_args!("{preset:24}{plays_out:>12}{time:>14.2}{ratio:>9.2}"))?;
    }
    Ok(())
}
