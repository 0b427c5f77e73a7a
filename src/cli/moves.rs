//! `rulemate moves`: the legal actions of a position, one per line, sorted.
//!
//! The list is empty where the rules say that the game is over (`terminal`). Other results do not empty it:
//! draws by counter, repetition and material, resignations, lost time. With `--turns` each line is a whole
//! turn, its actions joined by commas.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Verdict;
use super::args::MovesArgs;
use super::output::{Out, trouble, warn};
use super::setup::{self, Opened};
use crate::game::Game;
use crate::moves::notation::{listing, to_san};
use crate::moves::{self, Move, refusal};

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
    /// Why it cannot be played although it is legal.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

pub(crate) fn run(args: &MovesArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut opened = setup::open(&args.position)?;
    if args.turns {
        return turns(opened, args.json, out);
    }
    let game = &mut opened.game;
    let contract = game.contract().clone();
    let moves = listing(game.world_mut(), &contract);
    game.check()?;
    if !args.json {
        for (uci, _) in &moves {
            out.line(uci)?;
        }
        warn_of_refusals(game, &moves);
        game.check()?;
        return Ok(Verdict::Fine);
    }
    let entry = |(uci, mv): (String, Move)| {
        let world = game.world_mut();
        let refused = refusal(world, &contract, &mv).map(|it| it.to_string());
        let program = world.program().clone();
        let action = program.relation(program.action(mv.action).rel).name.clone();
        Entry { uci, san: to_san(world, &contract, &mv), action, refused }
    };
    let moves = moves.into_iter().map(entry).collect();
    game.check()?;
    let fen = game.fen();
    out.json(&Answer { game: opened.name, presets: opened.presets, fen, moves })?;
    Ok(Verdict::Fine)
}

/// Warns about legal actions that cannot be played, once for each reason.
fn warn_of_refusals(game: &mut Game, moves: &[(String, Move)]) {
    let contract = game.contract().clone();
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (uci, mv) in moves {
        if let Some(why) = refusal(game.world_mut(), &contract, mv) {
            reasons.entry(why.to_string()).or_default().push(uci);
        }
    }
    for (why, texts) in reasons {
        warn(format!("legal, but cannot be played: {} ({why})", texts.join(", ")));
    }
}

/// Maximum number of whole turns that are listed.
const MAX_TURNS: usize = 100_000;

#[derive(Debug, Serialize)]
struct TurnsAnswer {
    game: String,
    presets: Vec<String>,
    fen: String,
    turns: Vec<String>,
    /// Whether the list is complete.
    complete: bool,
}

fn turns(opened: Opened, json: bool, out: &mut Out) -> anyhow::Result<Verdict> {
    let Opened { mut game, name, presets, .. } = opened;
    let contract = game.contract().clone();
    let found = moves::turns(game.world_mut(), &contract, MAX_TURNS);
    game.check()?;
    let mut turns: Vec<String> = found.turns.into_iter().map(|it| it.0).collect();
    turns.sort();
    let complete = found.complete;
    if json {
        out.json(&TurnsAnswer { game: name, presets, fen: game.fen(), turns, complete })?;
        return Ok(Verdict::Fine);
    }
    for turn in turns {
        out.line(turn)?;
    }
    match complete {
        true => Ok(Verdict::Fine),
        false => Err(trouble(
            format!(
                "the list is not complete: there are more than {MAX_TURNS} turns, or some that are too \
                 long to be followed to their end"
            ),
            "leave --turns out to list single actions instead of whole turns",
        )),
    }
}
