//! Names of entities in sentences: a piece is called by its side, kind and square; one that stands nowhere, such as a piece
//! in hand, by side, kind and number.

use crate::facts::{AttrId, DomainId, EntityId};
use crate::rules::{Program, Type};

use super::contract::Contract;

/// The raw value of a fact, now or at another time.
pub type Lookup<'a> = &'a dyn Fn(EntityId, AttrId) -> Option<i64>;

/// The name of a raw value: of a piece on the board `the white knight on b1`, of one that stands nowhere `the white
/// knight #2`, of everything else its own name.
pub fn value_name(
    program: &Program,
    facts: Lookup<'_>,
    contract: &Contract,
    ty: Type,
    raw: i64,
) -> String {
    let entities = contract.entity_type(program);
    let piece = if entities == Some(ty) { piece_name(program, facts, contract, raw) } else { None };
    piece.unwrap_or_else(|| program.value_name(ty, raw))
}

fn piece_name(
    program: &Program,
    facts: Lookup<'_>,
    contract: &Contract,
    raw: i64,
) -> Option<String> {
    let entity = EntityId(u32::try_from(raw).ok()?);
    let word = |attr: AttrId, domain: DomainId| {
        let (ty, raw) = (Type::Domain(domain), facts(entity, attr)?);
        Some(program.word(ty, raw).map_or_else(|| program.value_name(ty, raw), str::to_owned))
    };
    let kind = word(contract.kind.attr, contract.kinds)?;
    let side = word(contract.color.attr, contract.sides)?;
    Some(match word(contract.at.attr, contract.board.domain) {
        Some(square) => format!("the {side} {kind} on {square}"),
        None => format!("the {side} {kind} #{raw}"),
    })
}
