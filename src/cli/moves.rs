//! `rulemate moves`: the legal actions of a position, one per line, sorted.
//!
//! Draws by counter, repetition and material do not end the list; every other result does.

use serde::Serialize;

use super::Verdict;
use super::args::{MovesArgs, PositionArgs};
use super::output::Out;
use super::setup;
use crate::moves::Move;
use crate::moves::notation::{listing, to_san};

#[derive(Debug, Serialize)]
struct Answer {
    game: String,
    presets: Vec<String>,
    fen: String,
    moves: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    uci: String,
    san: String,
    action: String,
}

pub(crate) fn run(args: &MovesArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut game = setup::open(&args.position)?;
    let contract = game.contract().clone();
    let moves = listing(game.world_mut(), &contract);
    game.check()?;
    if !args.json {
        for (uci, _) in moves {
            out.line(uci)?;
        }
        return Ok(Verdict::Fine);
    }
    let entry = |(uci, mv): (String, Move)| {
        let world = game.world_mut();
        let program = world.program().clone();
        let action = program.relation(program.action(mv.action).rel).name.clone();
        Entry { uci, san: to_san(world, &contract, &mv), action }
    };
    let moves = moves.into_iter().map(entry).collect();
    let PositionArgs { game: name, presets, .. } = args.position.clone();
    out.json(&Answer { game: name, presets, fen: game.fen(), moves })?;
    Ok(Verdict::Fine)
}
