//! The time for a complete explanation: why a move is legal, and why one is not.
//!
//! All moves of some positions are explained, the legal ones and those that leave a king attacked. Each answer must be
//! complete. The average time may be at most [`MAX_AVERAGE`], except in a debug build.

use anyhow::ensure;
use serde::Serialize;

use super::meter::Meter;
use crate::cli::setup::{self, Library};
use crate::derive::World;
use crate::derive::explain::{why, why_not};
use crate::moves::{Contract, Move, is_legal, legal_moves, pseudo_moves};

const POSITIONS: &[&str] = &[
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
    "4k3/8/8/8/4r3/8/4N3/4K3 w - - 0 1",
    "4r2k/8/8/8/1b6/8/3PB3/4K2R w K - 0 1",
];

/// Microseconds that an answer may take on average.
const MAX_AVERAGE: f64 = 200.0;

/// A line of the table.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    question: &'static str,
    /// Number of different questions.
    questions: usize,
    /// Microseconds for one answer.
    time: f64,
}

pub(super) fn run(library: &mut Library, quick: bool) -> anyhow::Result<Vec<Figures>> {
    let rules = library.load("chess", &[])?;
    let rounds = if quick { 20 } else { 40 };
    let mut proofs = Tally::default();
    let mut refutations = Tally::default();
    for fen in POSITIONS {
        let mut game = setup::start(&rules, Some(fen))?;
        let contract = game.contract().clone();
        let world = game.world_mut();
        let legal = legal_moves(world, &contract);
        let illegal = illegal_moves(world, &contract);
        proofs.add(rounds, &legal, |mv| {
            let rel = world.program().action(mv.action).rel;
            why(&world.materialised(), rel, &mv.args).is_some_and(|it| it.is_complete())
        })?;
        refutations.add(rounds, &illegal, |mv| {
            let rel = world.program().action(mv.action).rel;
            let row: Vec<Option<i64>> = mv.args.iter().copied().map(Some).collect();
            why_not(&world.materialised(), rel, &row).is_some_and(|it| it.is_complete())
        })?;
    }
    let rows = vec![proofs.row("why a move is legal"), refutations.row("why a move is not")];
    for Figures { question, time, .. } in &rows {
        let slow = *time > MAX_AVERAGE && !cfg!(debug_assertions);
        ensure!(!slow, "{question}: {time:.1} microseconds, and {MAX_AVERAGE} are allowed");
    }
    Ok(rows)
}

pub(super) fn lines(rows: &[Figures]) -> Vec<String> {
    let line = |Figures { question, questions, time }: &Figures| {
        let questions = format!("{questions} questions");
        format!("{question:22}{questions:>19}{time:>14.1}")
    };
    rows.iter().map(line).collect()
}

/// The moves that leave a king attacked.
fn illegal_moves(world: &mut World, contract: &Contract) -> Vec<Move> {
    let pseudo_legal = pseudo_moves(world);
    pseudo_legal.into_iter().filter(|it| !is_legal(world, contract, it)).collect()
}

#[derive(Default)]
struct Tally {
    /// Number of different questions.
    questions: usize,
    /// Number of answers: each question is asked in several rounds.
    asked: usize,
    seconds: f64,
}

impl Tally {
    fn add(
        &mut self,
        rounds: usize,
        moves: &[Move],
        mut ask: impl FnMut(&Move) -> bool,
    ) -> anyhow::Result<()> {
        let meter = Meter::own();
        let mut answered = 0;
        for _ in 0..rounds {
            answered += moves.iter().filter(|it| ask(it)).count();
        }
        self.seconds += meter.elapsed().as_secs_f64();
        self.questions += moves.len();
        self.asked += rounds * moves.len();
        ensure!(
            answered == rounds * moves.len(),
            "a move without an explanation, or one with a part left open"
        );
        Ok(())
    }

    fn row(&self, question: &'static str) -> Figures {
        let time = self.seconds * 1e6 / self.asked.max(1) as f64;
        Figures { question, questions: self.questions, time }
    }
}
