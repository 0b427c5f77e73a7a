//! The cost of bringing the derived rows up to date after one move and its undo, and of deriving them from scratch. The
//! legal moves are counted both ways, and the counts must be the same.

use anyhow::ensure;
use serde::Serialize;

use super::meter::Meter;
use crate::cli::setup::{self, Library};
use crate::derive::World;
use crate::moves::{Contract, LegalityMode, Move, legal_moves, perft};

pub(super) const POSITIONS: &[(&str, &str)] = &[
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
];

/// A line of the table; times in microseconds for a position.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    position: &'static str,
    /// The time to play a move, count, undo it and count again, halved: for one position.
    incremental: f64,
    /// The same with every row forgotten before each question.
    scratch: f64,
}

pub(super) fn run(library: &mut Library, quick: bool) -> anyhow::Result<Vec<Figures>> {
    let rules = library.load("chess", &[])?;
    let rounds = if quick { 200 } else { 500 };
    let mut rows = Vec::new();
    for (position, fen) in POSITIONS {
        let mut game = setup::start(&rules, Some(fen))?;
        let contract = game.contract().clone();
        let world = game.world_mut();
        world.plan().make_native();
        // The first round pays for tables that are made once.
        measure(world, &contract, 1, |_| ());
        let (incremental, counted) = measure(world, &contract, rounds, |_| ());
        let (scratch, expected) = measure(world, &contract, rounds, World::forget_rows);
        ensure!(counted == expected, "incremental counts {counted}, from scratch {expected}");
        rows.push(Figures { position, incremental, scratch });
    }
    Ok(rows)
}

pub(super) fn lines(rows: &[Figures]) -> Vec<String> {
    let head = format!(
        "{:22}{:>19}{:>14}{:>8}",
        "position", "after move or undo", "from scratch", "ratio"
    );
    let line = |Figures { position, incremental, scratch }: &Figures| {
        let ratio = scratch / incremental;
        format!("{position:22}{incremental:>19.2}{scratch:>14.2}{ratio:>8.2}")
    };
    [head].into_iter().chain(rows.iter().map(line)).collect()
}

/// Microseconds for a position, and the sum of all counts. `before` runs before each count.
fn measure(
    world: &mut World,
    contract: &Contract,
    rounds: u32,
    before: impl Fn(&mut World),
) -> (f64, u64) {
    let moves = legal_moves(world, contract);
    let (mut sum, mut positions) = (0, 0);
    let meter = Meter::own();
    for _ in 0..rounds {
        let round = count_moves_and_undo(world, contract, &moves, &before);
        sum += round.0;
        positions += round.1;
    }
    (meter.elapsed().as_secs_f64() * 1e6 / positions.max(1) as f64, sum)
}

/// Counts the legal moves after each move and after its undo. Returns the sum of the counts and their number.
pub(super) fn count_moves_and_undo(
    world: &mut World,
    contract: &Contract,
    moves: &[Move],
    before: impl Fn(&mut World),
) -> (u64, u64) {
    let (mut sum, mut positions) = (0, 0);
    for mv in moves {
        world.taking_back(|world| {
            if world.fire(mv.action, &mv.args).is_ok() {
                before(world);
                sum += mobility(world, contract);
                positions += 1;
            }
        });
        before(world);
        sum += mobility(world, contract);
        positions += 1;
    }
    (sum, positions)
}

/// The number of legal moves, as cheaply as the rules allow.
fn mobility(world: &mut World, contract: &Contract) -> u64 {
    match plays_out(contract) {
        true => legal_moves(world, contract).len() as u64,
        false => perft(world, contract, 1),
    }
}

/// Whether some moves are played out to see whether they are legal.
pub(super) fn plays_out(contract: &Contract) -> bool {
    !LegalityMode::Declared.is_by_rules(contract)
}
