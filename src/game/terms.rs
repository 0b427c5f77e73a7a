//! The relations and attributes that a game reads and writes by name: the one place where rules and this layer meet.
//!
//! The relations of boards and notation are in [`Contract`]; here are those about playing a game. All are
//! looked up once, when a game's rules are loaded, and their shapes are checked.

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
    /// The style of the FEN fields that have two forms.
    pub style: FenStyle,
}

impl Terms {
    /// Finds everything.
    ///
    /// # Errors
    /// Names every relation that is missing or has another shape.
    pub fn resolve(program: &Program) -> Result<Self, ContractError> {
        let moves = Contract::resolve(program)?;
        let mut faults = Vec::new();
        let reason = program.relation(moves.claim).columns.first().map(|it| it.ty);
        let side = Some(Type::Domain(moves.sides));
        let resigned = input_of(program, "resigned", side, &mut faults);
        let claimed = input_of(program, "claimed", reason, &mut faults);
        let flagged = input_of(program, "flagged", side, &mut faults);
        if !faults.is_empty() {
            return Err(ContractError { faults });
        }
        let moves = Arc::new(moves);
        Ok(Self { moves, resigned, claimed, flagged, style: FenStyle::declared(program) })
    }
}

/// The attribute of the game behind a relation of one column, where the rules have it.
fn input_of(
    program: &Program,
    name: &'static str,
    ty: Option<Type>,
    faults: &mut Vec<Fault>,
) -> Option<AttrId> {
    let rel: RelId = program.relation_named(name)?;
    let relation = program.relation(rel);
    match relation.role {
        Role::Input(Input::Game(attr)) if relation.columns.first().map(|it| it.ty) == ty => {
            Some(attr)
        }
        _ => {
            let expected = "an attribute of the game with the column that results have".into();
            faults.push(Fault::Shape {
                relation: name.to_owned(),
                expected,
                found: "something else".into(),
            });
            None
        }
    }
}
