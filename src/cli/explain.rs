//! `rulemate explain`: proofs and refutations of moves and facts, down to rule file and line.
//!
//! The exit code is the answer: findings mean that what was asked for is not so.

use std::io::Write;

use serde::Serialize;

use super::Verdict;
use super::args::ExplainArgs;
use super::evidence::Evidence;
use super::fact::{self, Asked};
use super::names;
use super::output::{OrFix, Out, trouble};
use super::{setup, svg};
use crate::derive::World;
use crate::derive::explain::{Limits, Proof, Refutation, View, why_not_within, why_within};
use crate::game::{Game, PlayError};
use crate::moves::notation::{MoveError, MoveFault, parse_san, parse_uci};
use crate::moves::{BETWEEN, Contract, Move, is_over};
use crate::rules::RelId;

/// What was found out about a question.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finding {
    /// It is so, for each row that was asked for.
    Proved(Vec<Proof>),
    /// It is not so.
    Refuted(Vec<Refutation>),
    /// There is nothing to take apart: the text names no piece of the side to move, or the like.
    Unfounded,
}

/// An answer, as `--json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    pub(crate) question: String,
    /// Whether the move is legal, or the fact holds.
    pub(crate) holds: bool,
    /// The answer in a line.
    pub(crate) summary: String,
    pub(crate) finding: Finding,
}

/// An answer with all that is needed to check it.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    position: Evidence,
}

pub(crate) fn run(args: &ExplainArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut game = setup::open(&args.position)?;
    let limits = match args.depth {
        Some(depth) => Limits { proof: depth, refutation: depth, ..Limits::default() },
        None => Limits::default(),
    };
    let (answer, expected) = match (&args.legal, &args.why_not, &args.fact) {
        (Some(text), _, _) => (explain_move_within(&mut game, text, limits)?, true),
        (_, Some(text), _) => (explain_move_within(&mut game, text, limits)?, false),
        (_, _, Some(text)) => (explain_fact(&mut game, text, limits)?, true),
        _ => return Err(trouble("nothing to explain", "give a move, --why-not or --fact")),
    };
    game.check()?;
    if args.json {
        let position = Evidence::of(&mut game, &args.position);
        out.json(&Printed { answer: &answer, position })?;
    } else if args.svg {
        out.line(svg::draw(&mut game, &answer.finding))?;
    } else {
        out.line(&answer.summary)?;
        write!(out, "{}", tree(&mut game, &answer.finding))?;
    }
    Ok(Verdict::of(answer.holds != expected))
}

impl Answer {
    fn yes(question: &str, verdict: &str, proofs: Vec<Proof>) -> Self {
        let summary = format!("{question} {verdict}");
        let finding = Finding::Proved(proofs);
        Self { question: question.to_owned(), holds: true, summary, finding }
    }

    fn no(question: &str, verdict: &str, finding: Finding) -> Self {
        let summary = format!("{question} {verdict}");
        Self { question: question.to_owned(), holds: false, summary, finding }
    }
}

/// Proves that a move is legal, or refutes it.
pub(crate) fn explain_move(game: &mut Game, text: &str) -> anyhow::Result<Answer> {
    explain_move_within(game, text, Limits::default())
}

/// Of a turn of several actions the last is explained; those before it are played.
fn explain_move_within(game: &mut Game, text: &str, limits: Limits) -> anyhow::Result<Answer> {
    if let Some((before, last)) = text.rsplit_once(BETWEEN) {
        game.play_text(before).or_fix("of a turn only the last action may be illegal")?;
        return explain_move_within(game, last, limits);
    }
    let contract = game.contract().clone();
    let world = game.world_mut();
    if is_over(world, &contract) {
        let proofs = prove_all(world, contract.over, &[None, None], limits);
        return Ok(Answer::no(text, "is not legal: the game is over", Finding::Proved(proofs)));
    }
    match read_move(world, &contract, text) {
        Ok(mv) => {
            let rel = world.program().action(mv.action).rel;
            let pattern: Vec<Option<i64>> = mv.args.iter().copied().map(Some).collect();
            Ok(Answer::yes(text, "is legal", prove_all(world, rel, &pattern, limits)))
        }
        Err(error) if matches!(error.reason, MoveFault::Malformed { .. }) => {
            Err(trouble(error, "write a move in UCI (e2e4) or SAN (e4)"))
        }
        Err(error) => {
            let refutation = error.candidate().and_then(|it| refute_move(world, it, limits));
            let (reason, finding) = match refutation {
                Some(it) => (summary(world, &contract, &it), Finding::Refuted(vec![it])),
                None => (error.reason.to_string(), Finding::Unfounded),
            };
            Ok(Answer::no(text, &format!("is not legal: {reason}"), finding))
        }
    }
}

/// Why the row of a move's action does not hold.
fn refute_move(world: &mut World, mv: &Move, limits: Limits) -> Option<Refutation> {
    let rel = world.program().action(mv.action).rel;
    let pattern: Vec<Option<i64>> = mv.args.iter().copied().map(Some).collect();
    why_not_within(&world.materialised(), rel, &pattern, limits)
}

/// Proves every row that a fact may mean, or refutes them all.
fn explain_fact(game: &mut Game, text: &str, limits: Limits) -> anyhow::Result<Answer> {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let Asked { rel, patterns } = fact::read(world, &contract, text)?;
    let proofs: Vec<Proof> =
        patterns.iter().flat_map(|pattern| prove_all(world, rel, pattern, limits)).collect();
    if !proofs.is_empty() {
        return Ok(Answer::yes(text, "holds", proofs));
    }
    if patterns.is_empty() {
        let verdict = "does not hold: nothing stands there";
        return Ok(Answer::no(text, verdict, Finding::Unfounded));
    }
    let rows = world.materialised();
    let refutations =
        patterns.iter().filter_map(|it| why_not_within(&rows, rel, it, limits)).collect();
    Ok(Answer::no(text, "does not hold", Finding::Refuted(refutations)))
}

fn prove_all(world: &mut World, rel: RelId, pattern: &[Option<i64>], limits: Limits) -> Vec<Proof> {
    let rows = world.matching(rel, pattern);
    let all = world.materialised();
    rows.iter().filter_map(|row| why_within(&all, rel, row, limits)).collect()
}

/// Plays the move that a text means. A move that can be named but is not legal is refused with its
/// refutation.
pub(crate) fn play_text(game: &mut Game, text: &str) -> Result<(), PlayError> {
    let played = game.play_text(text).map(|_| ());
    if let Err(PlayError::Text(error)) = &played
        && let Some(candidate) = error.candidate()
        && let Err(refusal) = game.play(candidate)
    {
        return Err(refusal);
    }
    played
}

/// Reads a move as UCI, and if it has not that form, as SAN.
fn read_move(world: &mut World, contract: &Contract, text: &str) -> Result<Move, MoveError> {
    match parse_uci(world, contract, text) {
        Err(MoveError { reason: MoveFault::Malformed { .. }, .. }) => {
            parse_san(world, contract, text)
        }
        other => other,
    }
}

/// A finding as an indented tree; pieces go by their squares.
pub(crate) fn tree(game: &mut Game, finding: &Finding) -> String {
    let contract = game.contract().clone();
    let world = &*game.world_mut();
    let names = |ty, raw| names::name(world, &contract, ty, raw);
    let view = View { program: world.program(), names: &names, negations: false };
    match finding {
        Finding::Proved(proofs) => proofs.iter().map(|it| it.render(view)).collect(),
        Finding::Refuted(all) => all.iter().map(|it| it.render(view)).collect(),
        Finding::Unfounded => String::new(),
    }
}

/// The reason that a refutation comes down to, in a line.
fn summary(world: &World, contract: &Contract, refutation: &Refutation) -> String {
    let names = |ty, raw| names::name(world, contract, ty, raw);
    let view = View { program: world.program(), names: &names, negations: false };
    refutation.reason(view).unwrap_or_else(|| refutation.summary(view))
}
