//! The cost of a position under each preset, beside chess in the same run: the time to count the legal moves after one
//! move and after its undo, and the time to count the leaves of a tree. If rules decide which moves are legal, moves
//! are counted as rows, and the cost is that of deriving them; otherwise they are listed, and some are played out.
//!
//! Each count is made a second time, more slowly, and must be the same: moves with rows derived from scratch, those of
//! the root by datafrog, leaves by taking each one.

use anyhow::{Context, ensure};
use serde::Serialize;

use super::derive::{POSITIONS, count_moves_and_undo, plays_out};
use super::meter::Meter;
use crate::cli::args::DEFAULT_GAME;
use crate::cli::setup::{self, Library};
use crate::derive::{Backend, World};
use crate::moves::{Contract, LegalityMode, is_over, legal_moves, perft, perft_by};
use crate::presets::{Catalogue, PresetEntry, Ruleset};

/// A line of the table.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    preset: String,
    /// Whether some moves are played out to see whether they are legal.
    plays_out: bool,
    /// Microseconds for a position.
    time: f64,
    /// Ratio to the time for a position of chess.
    ratio: f64,
    /// Legal moves that were counted in a round.
    moves: u64,
    /// Nanoseconds for a leaf of a tree, and the number of leaves counted.
    leaf: f64,
    leaves: u64,
    /// Ratio to the time for a leaf of chess.
    leaf_ratio: f64,
}

/// The root for presets that end the game in [`POSITIONS`], where a king is on the rank at which a race ends.
const RACE: (&str, &str) = ("race", "8/8/8/8/8/8/krbnNBRK/qrbnNBRQ w - - 0 1");

/// The cost of a position, in the units of [`Figures`].
struct Cost {
    time: f64,
    moves: u64,
    leaf: f64,
    leaves: u64,
}

/// The table of all presets, or of those in `only`.
pub(super) fn run(
    library: &mut Library,
    only: &[String],
    quick: bool,
) -> anyhow::Result<Vec<Figures>> {
    let catalogue = Catalogue::embedded()?;
    let all: Vec<&String> = fitting(&catalogue).map(|it| &it.preset).collect();
    for preset in only {
        ensure!(
            all.contains(&preset),
            "no preset `{preset}` fits {DEFAULT_GAME}; see `rulemate presets`"
        );
    }
    let mut sets = vec![("(none)".to_owned(), Vec::new())];
    for preset in all.into_iter().filter(|it| only.is_empty() || only.contains(it)) {
        sets.push((preset.clone(), catalogue.with_required(&[preset])));
    }
    let mut rows: Vec<Figures> = Vec::new();
    let chess = library.load(DEFAULT_GAME, &[])?;
    // The times of chess in a race, measured when the first preset needs them.
    let mut chess_race = None;
    for (preset, active) in sets {
        let rules = library.load(DEFAULT_GAME, &active)?;
        let (cost, [chess_time, chess_leaf]) = match cost(&rules, POSITIONS, quick)? {
            // The first row is that of chess itself.
            Some(cost) => {
                let of_chess = rows.first().map_or(cost.times(), |it| [it.time, it.leaf]);
                (cost, of_chess)
            }
            None => {
                let of_chess = match chess_race {
                    Some(known) => known,
                    None => *chess_race.insert(cost_of_race(&chess, quick)?.times()),
                };
                (cost_of_race(&rules, quick)?, of_chess)
            }
        };
        rows.push(Figures {
            preset,
            plays_out: plays_out(rules.contract()),
            time: cost.time,
            ratio: cost.time / chess_time,
            moves: cost.moves,
            leaf: cost.leaf,
            leaves: cost.leaves,
            leaf_ratio: cost.leaf / chess_leaf,
        });
    }
    Ok(rows)
}

/// The presets that fit the default game: others are for games of another family.
pub(super) fn fitting(catalogue: &Catalogue) -> impl Iterator<Item = &PresetEntry> {
    let game = catalogue.games().iter().find(|it| it.name == DEFAULT_GAME);
    let family = game.and_then(|it| it.family.as_deref());
    catalogue
        .presets()
        .iter()
        .filter(move |it| it.family.is_none() || it.family.as_deref() == family)
}

impl Cost {
    fn times(&self) -> [f64; 2] {
        [self.time, self.leaf]
    }
}

/// The cost in the position of a race.
fn cost_of_race(rules: &Ruleset, quick: bool) -> anyhow::Result<Cost> {
    cost(rules, &[RACE], quick)?.context("the game is over in the position of a race, too")
}

/// The cost of a position under these rules, on average over the roots and the positions after their moves. `None` if
/// the game is over in a root: the cost is compared with that of chess from the same roots.
fn cost(rules: &Ruleset, roots: &[(&str, &str)], quick: bool) -> anyhow::Result<Option<Cost>> {
    let (mut time, mut positions, mut moves) = (0.0, 0, 0);
    let (mut leaf, mut leaves) = (0.0, 0);
    for (name, fen) in roots {
        let mut game = setup::start(rules, Some(fen))?;
        let contract = game.contract().clone();
        let world = game.world_mut();
        let afresh = round(world, &contract, World::forget_rows);
        let kept = round(world, &contract, |_| ());
        ensure!(kept == afresh, "{name}: incremental counts {kept:?}, afresh {afresh:?}");
        let mut slow = rules.start_on(Backend::Frog, Some(fen))?;
        let expected = legal_moves(slow.world_mut(), &contract).len();
        let here = legal_moves(world, &contract).len();
        ensure!(here == expected, "{name}: {here} legal moves, datafrog counts {expected}");
        if is_over(world, &contract) {
            return Ok(None);
        }
        // Machine code, as long runs have it.
        world.plan().make_native();
        // Seconds: long enough for the resolution of the clock, however short a round is.
        let enough = if quick { 0.05 } else { 0.25 };
        time += repeated(enough, || {
            round(world, &contract, |_| ());
        });
        moves += kept.0;
        positions += kept.1;
        let taken = perft_by(world, &contract, 2, LegalityMode::Declared);
        let mut counted = taken;
        leaf += repeated(enough, || counted = perft(world, &contract, 2));
        ensure!(counted == taken, "{name}: {counted} leaves counted, {taken} taken");
        leaves += taken;
    }
    let time = time * 1e6 / positions.max(1) as f64;
    let leaf = leaf * 1e9 / leaves.max(1) as f64;
    Ok(Some(Cost { time, moves, leaf, leaves }))
}

/// Seconds per run of `work`, which is repeated for at least `enough` seconds. Of several parts of that time, the one
/// with the fastest runs counts: other programs on the machine only make runs slower.
fn repeated(enough: f64, mut work: impl FnMut()) -> f64 {
    const PARTS: u32 = 5;
    let mut least = f64::MAX;
    for _ in 0..PARTS {
        let meter = Meter::own();
        let mut rounds = 0;
        while meter.elapsed().as_secs_f64() < enough / f64::from(PARTS) {
            work();
            rounds += 1;
        }
        least = least.min(meter.elapsed().as_secs_f64() / f64::from(rounds.max(1)));
    }
    least
}

/// [`count_moves_and_undo`] of all moves of the position.
fn round(world: &mut World, contract: &Contract, before: impl Fn(&mut World)) -> (u64, u64) {
    let moves = legal_moves(world, contract);
    count_moves_and_undo(world, contract, &moves, before)
}

pub(super) fn lines(rows: &[Figures]) -> Vec<String> {
    let head = format!(
        "{:24}{:>12}{:>14}{:>9}{:>13}{:>9}",
        "preset", "plays out", "us a position", "ratio", "ns a leaf", "ratio"
    );
    let line = |row: &Figures| {
        let Figures { preset, plays_out, time, ratio, leaf, leaf_ratio, .. } = row;
        let plays_out = if *plays_out { "yes" } else { "-" };
        format!("{preset:24}{plays_out:>12}{time:>14.2}{ratio:>9.2}{leaf:>13.1}{leaf_ratio:>9.2}")
    };
    [head].into_iter().chain(rows.iter().map(line)).collect()
}
