//! Why something was refused: every reason, and what to ask for a proof.
//!
//! The full refutation is made on demand from the row that [`IllegalMove`] names, by whoever
//! explains.

use crate::derive::{Rows, Tuple, World};
use crate::moves::notation::MoveError;
use crate::moves::{Contract, Move, is_pseudo};
use crate::rules::RelId;

use super::reasons::{reasons, sentence};
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
}

/// A move that the rules do not allow here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text} is not legal: {}", reasons.join("; "))]
pub struct IllegalMove {
    pub mv: Move,
    pub text: String,
    pub reasons: Vec<String>,
    /// The row that does not hold: the question for an explanation.
    pub rel: RelId,
    pub row: Tuple,
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
}

fn offers(offered: &[String]) -> String {
    match offered {
        [] => String::new(),
        _ => format!(" for that reason, but by {}", offered.join(", ")),
    }
}

impl IllegalMove {
    /// Looks for what a move lacks.
    pub(super) fn new(world: &mut World, contract: &Contract, mv: &Move, text: String) -> Self {
        let program = world.program().clone();
        let action = program.action(mv.action);
        let tried = is_pseudo(world, mv);
        let rel = match action.tries {
            Some(tries) if !tried => tries,
            _ => action.rel,
        };
        let mover = contract.mover(world.facts()).unwrap_or_default();
        let rows = world.materialised();
        let reasons = if tried && rows.contains(action.rel, &mv.args) {
            // The rules allow it: it was refused for what it would lead to.
            vec![format!("after it {}", sentence(&rows, contract, contract.exposed, &[mover]))]
        } else {
            reasons(&rows, contract, rel, &mv.args)
        };
        Self { mv: mv.clone(), text, reasons, rel, row: mv.args.clone() }
    }
}
