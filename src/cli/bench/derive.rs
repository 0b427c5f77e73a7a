//! What it costs to bring the derived rows up to date: after one move and its undo, and from
//! scratch. Both answer the same question (how many legal moves?), and the answers are compared.

use anyhow::ensure;
use serde::Serialize;

use super::meter::Meter;
use crate::cli::setup::{self, Library};
use crate::derive::World;
use crate::moves::Contract;
use crate::moves::notation::listing;

pub(super) const POSITIONS: &[(&str, &str)] = &[
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
];

/// A line of the table; times in microseconds for a position.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) position: &'static str,
    /// Take a move, ask, take it back, ask again: half of it, for one position.
    pub(crate) incremental: f64,
    /// The same with every row forgotten before each question.
    pub(crate) scratch: f64,
}

pub(crate) fn run(library: &mut Library, quick: bool) -> anyhow::Result<Vec<Row>> {
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
        let (kept, scratch) = (
            measure(world, &contract, rounds, |_| ()),
            measure(world, &contract, rounds, World::forget_rows),
        );
        ensure!(kept.1 == scratch.1, "incremental counts {}, from scratch {}", kept.1, scratch.1);
        rows.push(Row { position, incremental: kept.0, scratch: scratch.0 });
    }
    Ok(rows)
}

/// Microseconds for a position, and the sum of all counts.
fn measure(
    world: &mut World,
    contract: &Contract,
    rounds: u32,
    before: impl Fn(&mut World),
) -> (f64, u64) {
    let moves = listing(world, contract);
    let (mut sum, mut positions) = (0, 0);
    let meter = Meter::own();
    for _ in 0..rounds {
        for (_, mv) in &moves {
            let mark = world.mark();
            if world.fire(mv.action, &mv.args).is_ok() {
                before(world);
                sum += mobility(world, contract);
            }
            world.rollback(mark);
            before(world);
            sum += mobility(world, contract);
            positions += 2;
        }
    }
    (meter.elapsed().as_secs_f64() * 1e6 / f64::from(positions.max(1)), sum)
}

/// The number of legal moves.
fn mobility(world: &mut World, contract: &Contract) -> u64 {
    if world.any(contract.over) {
        return 0;
    }
    let program = world.program().clone();
    program.actions.iter().map(|it| world.count(it.rel)).sum()
}
