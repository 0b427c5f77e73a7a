//! Squares that hold several pieces, `(FTI)`: reads such stacks, and sorts pieces in the order in which they are written.

use std::collections::BTreeMap;

use crate::derive::World;
use crate::facts::EntityId;

use super::super::super::contract::Contract;
use super::parts::{FenRules, Placed, piece};

/// The characters before and after the pieces of a square.
pub(super) const OPEN: char = '(';
pub(super) const CLOSE: char = ')';

/// Reads a stack of two pieces or more, in any order, from the start of `rest`. On `None`, `rest` starts with what is
/// wrong.
pub(super) fn read(rules: FenRules<'_>, rest: &mut &str) -> Option<Vec<Placed>> {
    let mut pieces = Vec::new();
    *rest = rest.strip_prefix(OPEN)?;
    while pieces.len() < 2 || !rest.starts_with(CLOSE) {
        pieces.push(piece(rules, rest)?);
    }
    *rest = rest.strip_prefix(CLOSE)?;
    Some(pieces)
}

/// The pieces on the board, each with its square, in the order of the squares. Those of one square are in the order
/// in which they are written: by the numbers that the rules give to their kinds, then by side, then by entity.
pub fn pieces_by_square(world: &mut World, contract: &Contract) -> Vec<(i64, EntityId)> {
    let rows = contract.stack.map(|it| world.tuples(it)).unwrap_or_default();
    let numbers: BTreeMap<i64, i64> = rows.iter().map(|row| (row[0], row[1])).collect();
    let facts = world.facts();
    let on_board = facts.entities_with(contract.at.attr);
    let mut pieces: Vec<(i64, EntityId)> =
        on_board.filter_map(|it| Some((facts.get_raw(it, contract.at.attr)?, it))).collect();
    let number = |it: EntityId| numbers.get(&facts.get_raw(it, contract.kind.attr)?);
    pieces.sort_by_cached_key(|&(square, it)| {
        (square, number(it), facts.get_raw(it, contract.color.attr), it)
    });
    pieces
}
