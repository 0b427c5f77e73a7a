//! What things are called in proofs and facts: a piece by its side, kind and square.

use crate::derive::World;
use crate::facts::{EntityId, GAME};
use crate::game::Game;
use crate::moves::Contract;
use crate::rules::Type;

/// What a raw value is called: a piece on the board `the white knight on b1`, everything else by
/// its own name.
pub(crate) fn name(world: &World, contract: &Contract, ty: Type, raw: i64) -> String {
    let plain = || world.program().value_name(ty, raw);
    if ty != entity_type(world, contract) {
        return plain();
    }
    piece(world, contract, raw).unwrap_or_else(plain)
}

/// The type of the columns that pieces stand in.
pub(crate) fn entity_type(world: &World, contract: &Contract) -> Type {
    world.program().relation(contract.at.rel).columns[0].ty
}

fn piece(world: &World, contract: &Contract, raw: i64) -> Option<String> {
    let entity = EntityId(u32::try_from(raw).ok()?);
    let (facts, program) = (world.facts(), world.program());
    let value = |attr, domain| {
        let raw = facts.get_raw(entity, attr)?;
        Some(program.value_name(Type::Domain(domain), raw))
    };
    let square = value(contract.at.attr, contract.board.domain)?;
    let kind = value(contract.kind.attr, contract.kinds)?;
    let side = value(contract.color.attr, contract.sides)?;
    Some(format!("the {side} {kind} on {square}"))
}

/// What a side is called.
pub(crate) fn side(game: &Game, side: i64) -> String {
    game.program().value_name(Type::Domain(game.contract().sides), side)
}

/// A move about to be played with its number: `3. Nf3`, or `3... Nf6` for the second side.
pub(crate) fn numbered(game: &Game, text: &str) -> String {
    let number = game.facts().get_raw(GAME, game.contract().fullmove.attr).unwrap_or(1);
    let dots = if game.side() == Some(0) { "." } else { "..." };
    format!("{number}{dots} {text}")
}
