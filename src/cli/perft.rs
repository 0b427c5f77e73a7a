//! `rulemate perft`: counts the tree of legal actions; the last line is `nodes N`.
//!
//! The count goes by first actions, so that long counts show their progress.

use serde::Serialize;

use super::Verdict;
use super::args::{PerftArgs, PositionArgs};
use super::output::{Out, progress};
use super::setup;
use crate::game::Game;
use crate::moves::notation::listing;
use crate::moves::perft;

#[derive(Debug, Serialize)]
struct Answer {
    game: String,
    presets: Vec<String>,
    fen: String,
    depth: u32,
    nodes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    divide: Option<Vec<Branch>>,
}

#[derive(Debug, Serialize)]
struct Branch {
    uci: String,
    nodes: u64,
}

pub(crate) fn run(args: &PerftArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut game = setup::open(&args.position)?;
    let branches = count(&mut game, args.depth);
    game.check()?;
    let nodes = match args.depth {
        0 => 1,
        _ => branches.iter().map(|it| it.nodes).sum(),
    };
    if args.json {
        let PositionArgs { game: name, presets, .. } = args.position.clone();
        let divide = args.divide.then_some(branches);
        let (fen, depth) = (game.fen(), args.depth);
        out.json(&Answer { game: name, presets, fen, depth, nodes, divide })?;
        return Ok(Verdict::Fine);
    }
    if args.divide {
        for Branch { uci, nodes } in &branches {
            out.line(format_args!("{uci} {nodes}"))?;
        }
    }
    out.line(format_args!("nodes {nodes}"))?;
    Ok(Verdict::Fine)
}

/// The count below each first action, sorted by its text.
fn count(game: &mut Game, depth: u32) -> Vec<Branch> {
    if depth == 0 {
        return Vec::new();
    }
    let contract = game.contract().clone();
    let world = game.world_mut();
    let moves = listing(world, &contract);
    let bar = progress(moves.len() as u64, "perft");
    let mut branches = Vec::new();
    for (uci, mv) in moves {
        let mark = world.mark();
        match world.fire(mv.action, &mv.args) {
            Ok(()) => branches.push(Branch { uci, nodes: perft(world, &contract, depth - 1) }),
            Err(why) => world.note_refusal(&uci, &why),
        }
        world.rollback(mark);
        bar.inc(1);
    }
    bar.finish_and_clear();
    branches
}
