//! Why something was refused: the reason in a line, and the refutation that it is taken from.

use crate::derive::explain::{Refutation, View, why, why_not};
use crate::derive::{Exhausted, Refusal, World};
use crate::moves::notation::MoveError;
use crate::moves::{Contract, Move};
use crate::rules::{RelId, Type};

use super::names::value_name;
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
    /// How far each rule for the move gets; `None` if the rules allow it and it was refused for
    /// what it would lead to.
    pub refutation: Option<Refutation>,
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
        let rel = world.program().action(mv.action).rel;
        let row: Vec<Option<i64>> = mv.args.iter().copied().map(Some).collect();
        let refutation = why_not(&world.materialised(), rel, &row);
        let reason = match &refutation {
            Some(it) => reason(world, contract, it),
            None => afterwards(world, contract, mv),
        };
        Self { mv: mv.clone(), text, reasons: vec![reason], refutation }
    }
}

fn reason(world: &World, contract: &Contract, refutation: &Refutation) -> String {
    let names = |ty: Type, raw: i64| name_now(world, contract, ty, raw);
    let view = View { program: world.program(), names: &names, negations: false };
    refutation.reason(view).unwrap_or_else(|| refutation.summary(view))
}

fn name_now(world: &World, contract: &Contract, ty: Type, raw: i64) -> String {
    let get = |entity, attr| world.facts().get_raw(entity, attr);
    value_name(world.program(), &get, contract, ty, raw)
}

/// What would be so after the move, and must not be; or why a reaction refuses it.
fn afterwards(world: &mut World, contract: &Contract, mv: &Move) -> String {
    let mover = contract.mover(world.facts()).unwrap_or_default();
    let mark = world.mark();
    let reason = match world.fire(mv.action, &mv.args) {
        Ok(()) => format!("after it {}", prove(world, contract, contract.untenable, mover)),
        Err(Refusal::Veto { said }) => said.render(&|ty, raw| name_now(world, contract, ty, raw)),
        Err(other) => other.to_string(),
    };
    world.rollback(mark);
    reason
}

fn prove(world: &mut World, contract: &Contract, rel: RelId, mover: i64) -> String {
    let proof = why(&world.materialised(), rel, &[mover]);
    let program = world.program();
    let names = |ty: Type, raw: i64| name_now(world, contract, ty, raw);
    let view = View { program, names: &names, negations: false };
    proof.map(|it| it.headline(view)).unwrap_or_else(|| program.tuple_name(rel, &[mover]))
}
