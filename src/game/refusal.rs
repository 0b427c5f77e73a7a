//! Refusals of moves and other requests: the reason in a line, and the finding that it is taken from.

use crate::derive::explain::{Finding, Limits, Proof, why_within};
use crate::derive::{Exhausted, Refusal, World};
use crate::moves::notation::MoveError;
use crate::moves::{Contract, Move, is_over};

use super::finding::{Describer, decide};
use super::record::GameResult;

/// Maximum number of changes of a game's rules.
pub const SWITCHES: usize = 1000;
/// Maximum number of different sets of rules in one game: each stays in memory as long as the game does.
pub const RULE_SETS: usize = 32;

/// Why a move was not played. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlayError {
    #[error("the game is over: {result}")]
    Over { result: GameResult },
    #[error(transparent)]
    Illegal(#[from] Box<IllegalMove>),
    #[error(transparent)]
    Text(#[from] MoveError),
    /// The move is legal, but its reactions cannot be carried out.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Limit(#[from] Exhausted),
}

/// A move that the rules do not allow here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text} is not legal: {}", reasons.join("; "))]
pub struct IllegalMove {
    /// The action that was refused.
    pub mv: Move,
    /// The move in UCI.
    pub text: String,
    /// The reasons, each in a sentence; at present there is always one.
    pub reasons: Vec<String>,
    /// The refusal that the rules declare, if they do.
    pub objection: Option<Objection>,
    /// The refutation of the move, or its trial.
    pub finding: Finding,
}

/// A refusal that the rules declare, with a code and a sentence: a row of the action's `refusals`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// The code, for programs.
    pub code: String,
    /// The reason as a sentence.
    pub sentence: String,
    /// The proof of the row.
    #[doc(hidden)]
    pub proof: Proof,
}

impl Objection {
    /// The refusal that the rules declare for a move that is not legal: of several the first, in the order of
    /// declaration.
    ///
    /// # Errors
    /// Finding it out exceeds the limits.
    pub(super) fn of(
        world: &mut World,
        contract: &Contract,
        mv: &Move,
        limits: Limits,
    ) -> Result<Option<Self>, Exhausted> {
        let program = world.program().clone();
        let Some(rel) = program.action(mv.action).refusals else { return Ok(None) };
        let reason = program.relation(rel).columns.last().map(|it| it.ty);
        let row = program.action(mv.action).row(&mv.args);
        let pattern: Vec<Option<i64>> = row.iter().copied().map(Some).chain([None]).collect();
        let (Some(row), Some(ty)) = (world.first(rel, &pattern), reason) else { return Ok(None) };
        let code = row.last().map(|&it| program.value_name(ty, it)).unwrap_or_default();
        let Some(proof) = why_within(&world.materialised(), rel, &row, limits)? else {
            return Ok(None);
        };
        let sentence = Describer { world, contract }.now(|view| proof.sentence(view));
        Ok(Some(Self { code, sentence, proof }))
    }

    /// The first of these moves for which the rules declare a refusal, with that refusal.
    ///
    /// # Errors
    /// Finding it out exceeds the limits.
    pub(super) fn first(
        world: &mut World,
        contract: &Contract,
        moves: &[Move],
        limits: Limits,
    ) -> Result<Option<(Move, Self)>, Exhausted> {
        for mv in moves {
            if let Some(it) = Self::of(world, contract, mv, limits)? {
                return Ok(Some((mv.clone(), it)));
            }
        }
        Ok(None)
    }
}

/// Why a game was not ended as asked. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EndError {
    #[error("the game is over: {result}")]
    Over { result: GameResult },
    #[error("this game has no side with the number {side}")]
    Side { side: i64 },
    #[error(
        "the rules of this game have no result for this: they need the input (`resigned`, `flagged` or \
         `claimed`), and a `result` that follows from it"
    )]
    Unknown,
    #[error("there is no draw to claim{}", offers(.offered))]
    NoClaim { offered: Vec<String> },
    #[error(transparent)]
    Limit(#[from] Exhausted),
}

/// Why a game does not go on by other rules. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SwitchError {
    #[error(
        "the game has changed its presets {SWITCHES} times, which is the maximum: start another game \
         from the position"
    )]
    TooOften,
    #[error(
        "the game was played by {RULE_SETS} different sets of presets, which is the maximum: go back \
         to one of them, or start another game from the position"
    )]
    TooMany,
    #[error(transparent)]
    Limit(#[from] Exhausted),
}

fn offers(offered: &[String]) -> String {
    match offered {
        [] => String::new(),
        _ => format!(" for that reason, but by {}", offered.join(", ")),
    }
}

impl IllegalMove {
    /// Finds out why a move is not legal.
    ///
    /// # Errors
    /// Finding it out exceeds the limits.
    pub(super) fn new(
        world: &mut World,
        contract: &Contract,
        mv: &Move,
        text: String,
    ) -> Result<Self, Exhausted> {
        let (_, finding) = decide(world, contract, mv, Limits::default())?;
        let (objection, reason) = if is_over(world, contract) {
            (None, "the game is over".to_owned())
        } else {
            let objection = Objection::of(world, contract, mv, Limits::default())?;
            let sentence = objection.as_ref().map(|it| it.sentence.clone());
            let reason = sentence.or_else(|| Describer { world, contract }.reason(&finding));
            (objection, reason.unwrap_or_else(|| "there is no such move".to_owned()))
        };
        Ok(Self { mv: mv.clone(), text, reasons: vec![reason], objection, finding })
    }
}
