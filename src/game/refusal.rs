//! Why something was refused: the reason in a line, and the finding that it is taken from.

use crate::derive::explain::{Finding, Limits};
use crate::derive::{Exhausted, Refusal, World};
use crate::moves::notation::MoveError;
use crate::moves::{Contract, Move, is_over};

use super::finding::{Teller, decide};
use super::play::{RULE_SETS, SWITCHES};
use super::record::GameResult;

/// Why a move was not played. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    #[error("the game is over: {result}")]
    Over { result: GameResult },
    #[error(transparent)]
    Illegal(#[from] Box<IllegalMove>),
    #[error(transparent)]
    Text(#[from] MoveError),
    /// The move is legal, and its reactions do not come to an end.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Limit(#[from] Exhausted),
}

/// A move that the rules do not allow here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text} is not legal: {}", reasons.join("; "))]
pub struct IllegalMove {
    pub mv: Move,
    /// The move in UCI.
    pub text: String,
    pub reasons: Vec<String>,
    /// How far each rule for the move gets, or what it would lead to.
    pub finding: Finding,
}

/// Why a game was not ended as asked. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndError {
    #[error("the game is over: {result}")]
    Over { result: GameResult },
    #[error("no side of this game is called {side}")]
    Side { side: i64 },
    #[error("the rules of this game know nothing of it")]
    Unknown,
    #[error("there is no draw to claim{}", offers(.offered))]
    NoClaim { offered: Vec<String> },
    #[error(transparent)]
    Limit(#[from] Exhausted),
}

/// Why a game does not go on by other rules. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    /// Looks for what a move lacks.
    ///
    /// # Errors
    /// Finding it out takes too much.
    pub(super) fn new(
        world: &mut World,
        contract: &Contract,
        mv: &Move,
        text: String,
    ) -> Result<Self, Exhausted> {
        let over = is_over(world, contract);
        let (_, finding) = decide(world, contract, mv, Limits::default())?;
        let reason = Teller { world, contract }.reason(&finding);
        let reason = match over {
            true => "the game is over".to_owned(),
            false => reason.unwrap_or_else(|| "there is no such move".to_owned()),
        };
        Ok(Self { mv: mv.clone(), text, reasons: vec![reason], finding })
    }
}
