//! Why something was refused: every reason, and what to ask for a proof.
//!
//! Reasons are the sentences of the relations that would have had to hold. The full refutation is
//! made on demand from the row that [`IllegalMove`] names, by whoever explains.

use crate::derive::{Tuple, World};
use crate::facts::EntityId;
use crate::moves::notation::MoveError;
use crate::moves::{Contract, Move, is_pseudo};
use crate::rules::{Column, Program, RelId, Type};

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
        let reason = if tried && world.contains(action.rel, &mv.args) {
            "it would leave the mover's side exposed".to_string()
        } else {
            format!("it is not so that {}", sentence(world, contract, rel, &mv.args))
        };
        Self { mv: mv.clone(), text, reasons: vec![reason], rel, row: mv.args.clone() }
    }
}

/// A row in the words of its relation; pieces go by their squares.
pub(super) fn sentence(world: &World, contract: &Contract, rel: RelId, row: &[i64]) -> String {
    let program = world.program();
    let relation = program.relation(rel);
    if relation.sentence.is_empty() {
        return program.tuple_name(rel, row);
    }
    let mut text = relation.sentence.clone();
    for (column, &raw) in relation.columns.iter().zip(row) {
        let word = word(world, contract, program, column, raw);
        text = text.replace(&format!("{{{}}}", column.name), &word);
    }
    text
}

fn word(
    world: &World,
    contract: &Contract,
    program: &Program,
    column: &Column,
    raw: i64,
) -> String {
    let facts = world.facts();
    let is_entity = column.ty == program.relation(contract.at.rel).columns[0].ty;
    let square = u32::try_from(raw)
        .ok()
        .filter(|_| is_entity)
        .and_then(|it| facts.get_raw(EntityId(it), contract.at.attr));
    match square {
        Some(square) => {
            let square = program.value_name(Type::Domain(contract.board.domain), square);
            format!("the piece on {square}")
        }
        None => program.value_name(column.ty, raw),
    }
}
