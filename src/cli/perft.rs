//! `rulemate perft`: counts the tree of legal actions; the last line is `nodes N`.
//!
//! The tree below each first action is counted by itself, so that long counts show their progress.

use serde::Serialize;

use super::Verdict;
use super::args::PerftArgs;
use super::output::{Out, progress, trouble};
use super::setup::{self, Opened};
use crate::game::Game;
use crate::moves::notation::listing;
use crate::moves::{LegalityMode, perft, perft_by, perft_within_turn, prepare_count};

#[derive(Debug, Serialize)]
struct Answer {
    game: String,
    presets: Vec<String>,
    fen: String,
    depth: u32,
    /// Whether the depth counts whole turns.
    turns: bool,
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
    let Opened { mut game, name, presets, .. } = setup::open(&args.position)?;
    let branches = count(&mut game, args);
    game.check()?;
    let branches = branches?;
    let nodes = match args.depth {
        0 => 1,
        _ => branches.iter().map(|it| it.nodes).sum(),
    };
    if args.json {
        let divide = args.divide.then_some(branches);
        let (fen, depth, turns) = (game.fen(), args.depth, args.turns);
        out.json(&Answer { game: name, presets, fen, depth, turns, nodes, divide })?;
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

/// The count below each first action, sorted by the text of the action; none at depth 0.
fn count(game: &mut Game, args: &PerftArgs) -> anyhow::Result<Vec<Branch>> {
    let depth = args.depth;
    if depth == 0 {
        return Ok(Vec::new());
    }
    let contract = game.contract().clone();
    let world = game.world_mut();
    let mover = contract.mover(world.facts());
    let moves = listing(world, &contract);
    prepare_count(world, moves.len(), depth);
    let bar = progress(moves.len() as u64, "perft");
    let mut branches = Vec::new();
    for (uci, mv) in moves {
        let mark = world.mark();
        match world.fire(mv.action, &mv.args) {
            Ok(()) => {
                let nodes = if args.turns {
                    perft_within_turn(world, &contract, mover, depth).ok_or_else(|| {
                        trouble("a turn has too many actions", "leave --turns out")
                    })?
                } else if args.leaves {
                    perft_by(world, &contract, depth - 1, LegalityMode::Declared)
                } else {
                    perft(world, &contract, depth - 1)
                };
                branches.push(Branch { uci, nodes });
            }
            Err(why) => world.note_refusal(&uci, &why),
        }
        world.rollback(mark);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(branches)
}
