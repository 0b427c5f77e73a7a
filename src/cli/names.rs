//! What things are called on the terminal: values in proofs, sides, moves with their numbers.

use crate::derive::World;
use crate::facts::GAME;
use crate::game::{Game, value_name};
use crate::moves::Contract;
use crate::rules::Type;

/// What a raw value is called: a piece on the board `the white knight on b1`, everything else by
/// its own name.
pub(crate) fn name(world: &World, contract: &Contract, ty: Type, raw: i64) -> String {
    let get = |entity, attr| world.facts().get_raw(entity, attr);
    value_name(world.program(), &get, contract, ty, raw)
}

/// The type of the columns that pieces stand in.
pub(crate) fn entity_type(world: &World, contract: &Contract) -> Type {
    world.program().relation(contract.at.rel).columns[0].ty
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
