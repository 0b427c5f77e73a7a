//! Names of entities, and the sentences of rows.
//!
//! A piece on the board is called by its side, kind and square. A piece on no square is called by its side, kind and
//! number; in games with hands it is in hand, and its number is left out unless another piece in hand is the same.

use crate::facts::{AttrId, DomainId, EntityId, filled};
use crate::rules::{Program, RelId, Type};

use super::contract::Contract;

/// The raw value of a fact, now or at another time.
pub type Lookup<'a> = &'a dyn Fn(EntityId, AttrId) -> Option<i64>;

/// The name of a raw value: of a piece on the board `the white knight on b1`, of a piece on no square `the white
/// knight #2`, `the white knight in hand` or `the white knight #2 in hand`, of everything else its own name.
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

/// The sentence of a relation's row, with the values in words.
pub fn row_sentence(
    program: &Program,
    facts: Lookup<'_>,
    contract: &Contract,
    rel: RelId,
    row: &[i64],
) -> String {
    let relation = program.relation(rel);
    let value = |key: &str| {
        let (column, &raw) = relation.columns.iter().zip(row).find(|it| it.0.name == key)?;
        let word = program.word(column.ty, raw).map(str::to_owned);
        Some(word.unwrap_or_else(|| value_name(program, facts, contract, column.ty, raw)))
    };
    filled(&relation.sentence, &value)
}

/// The entity that a raw value stands for.
pub(super) fn entity_of(raw: i64) -> Option<EntityId> {
    u32::try_from(raw).ok().map(EntityId)
}

fn piece_name(
    program: &Program,
    facts: Lookup<'_>,
    contract: &Contract,
    raw: i64,
) -> Option<String> {
    let entity = entity_of(raw)?;
    let word = |attr: AttrId, domain: DomainId| {
        let (ty, raw) = (Type::Domain(domain), facts(entity, attr)?);
        Some(program.word(ty, raw).map_or_else(|| program.value_name(ty, raw), str::to_owned))
    };
    let kind = word(contract.kind.attr, contract.kinds)?;
    let side = word(contract.color.attr, contract.sides)?;
    Some(match word(contract.at.attr, contract.board.domain) {
        Some(square) => format!("the {side} {kind} on {square}"),
        None if !contract.has_pocket() => format!("the {side} {kind} #{raw}"),
        None if is_alone_in_hand(facts, contract, entity) => format!("the {side} {kind} in hand"),
        None => format!("the {side} {kind} #{raw} in hand"),
    })
}

/// Whether no other piece on no square is of the same kind and side.
fn is_alone_in_hand(facts: Lookup<'_>, contract: &Contract, piece: EntityId) -> bool {
    let look =
        |entity| [contract.kind, contract.color, contract.at].map(|it| facts(entity, it.attr));
    let own = look(piece);
    let mut others = (1..u32::from(contract.entities)).map(EntityId).filter(|it| *it != piece);
    !others.any(|it| look(it) == own)
}
