//! The relations and attributes by which a game is played, found by name.
//!
//! The relations of boards and notation are in [`Contract`]; here are those about how a game ends. All are
//! looked up once, when a game's rules are loaded, and their shapes are checked. Deliberately absent: the
//! relations that only say how a board is drawn, which `view` finds by name.

use std::sync::Arc;

use crate::facts::AttrId;
use crate::moves::notation::FenStyle;
use crate::moves::{Contract, ContractError, Fault};
use crate::rules::{Input, Program, RelId, Role, Type};

/// The relations and attributes that a game needs.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The relations that the layer of moves reads by name.
    pub moves: Arc<Contract>,
    /// `resigned(side)`: set by [`Game::resign`](super::Game::resign); the rules decide the result.
    pub resigned: Option<AttrId>,
    /// `claimed(reason)`: set by [`Game::claim_draw`](super::Game::claim_draw).
    pub claimed: Option<AttrId>,
    /// `flagged(side)`: set by [`Game::flag`](super::Game::flag).
    pub flagged: Option<AttrId>,
    /// How a FEN writes the field that has two forms.
    pub style: FenStyle,
}

impl Terms {
    /// Finds everything. An input for an end of the game may be missing: then the game cannot end in that way.
    ///
    /// # Errors
    /// Names every relation of the contract that is missing or has another shape; if there is none, every input for an
    /// end of the game that has another shape.
    pub fn resolve(program: &Program) -> Result<Self, ContractError> {
        let moves = Contract::resolve(program)?;
        let mut faults = Vec::new();
        let reason = program.relation(moves.claim).columns.first().map(|it| it.ty);
        let side = Some(Type::Domain(moves.sides));
        let resigned = input_of(program, "resigned", ("a side", side), &mut faults);
        let claimed =
            input_of(program, "claimed", ("a reason, as `claim` has it", reason), &mut faults);
        let flagged = input_of(program, "flagged", ("a side", side), &mut faults);
        if !faults.is_empty() {
            return Err(ContractError { faults });
        }
        let moves = Arc::new(moves);
        Ok(Self { moves, resigned, claimed, flagged, style: FenStyle::declared(program) })
    }
}

/// The attribute of the game that an input of one column reads, if the rules have the input. The column is given in words
/// and by its type.
fn input_of(
    program: &Program,
    name: &'static str,
    (column, ty): (&'static str, Option<Type>),
    faults: &mut Vec<Fault>,
) -> Option<AttrId> {
    let rel: RelId = program.relation_named(name)?;
    let relation = program.relation(rel);
    match relation.role {
        Role::Input(Input::Game(attr)) if relation.columns.first().map(|it| it.ty) == ty => {
            Some(attr)
        }
        _ => {
            faults.push(Fault::Shape {
                relation: name.to_owned(),
                expected: format!("an input of the game whose one column is {column}"),
                found: "a relation of another shape".into(),
            });
            None
        }
    }
}
