//! Turns a position that was read into facts: pieces, walls, attributes of the game, and what its family adds.
//! Reports what had to be dropped, or is odd.

use std::collections::BTreeSet;

use crate::derive::World;
use crate::facts::{AttrId, EntityId, GAME, NEXT_ENTITY};
use crate::rules::RelId;

use super::super::super::contract::Contract;
use super::super::super::finder::About;
use super::super::super::names::row_sentence;
use super::super::chess::Oddity;
use super::parts::Placed;
use super::read::Position;
use super::{FenError, FenField, Setup, counters};

/// A part of a position that cannot be a fact, or that is odd.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// A warning about what only some families have.
    #[error(transparent)]
    Family(Oddity),
    /// Move numbers start from 1; 0 is read as 1.
    #[error("move number 0 read as 1")]
    MoveNumberZero,
    /// The game is over before its first action. The text says by what.
    #[error("{0}")]
    Over(String),
}

pub(super) fn place(
    world: &mut World,
    contract: &Contract,
    position: &Position,
) -> Result<Setup, FenError> {
    clear(world, contract);
    let pieces = pieces(world, contract, position)?;
    attributes(world, contract, position);
    further(world, contract, position, &pieces);
    counters::place(world, contract, position.counters.as_ref());
    walls(world, contract, &position.walls);
    let odd = contract.notation.place(world, contract, &pieces, &position.family, position.turn);
    let zero = (position.fullmove == 0).then_some(Warning::MoveNumberZero);
    let warnings = zero.into_iter().chain(odd.into_iter().map(Warning::Family)).collect();
    match misplaced(world, contract) {
        Some(found) => {
            let expected = "a position of this game".into();
            Err(FenError { field: FenField::Whole, offset: 0, found, expected })
        }
        None => Ok(Setup { warnings, stated: stated(world, contract, position, &pieces) }),
    }
}

/// The facts of the further fields that the text has, once they have been placed. Fields say nothing about pieces in hand.
fn stated(
    world: &World,
    contract: &Contract,
    position: &Position,
    pieces: &[(EntityId, Placed)],
) -> Vec<(EntityId, AttrId, Option<i64>)> {
    let mut stated = Vec::new();
    let fields = contract.fields.iter().zip(&position.further).filter(|it| it.1.is_some());
    for (field, _) in fields {
        let owners: Vec<EntityId> = match field.about {
            About::Game => vec![GAME],
            About::Pieces => {
                pieces.iter().filter(|it| it.1.square.is_some()).map(|it| it.0).collect()
            }
            About::Members(domain) => {
                let count = world.program().schema.domain(domain).size() as u32;
                (0..count).map(EntityId).collect()
            }
        };
        let attr = field.input.attr;
        stated.extend(owners.iter().map(|&it| (it, attr, world.facts().get_raw(it, attr))));
    }
    stated
}

/// Why the rules refuse a position: the sentence of the first row of a relation `misplaced`. `None` if there is none.
pub fn misplaced(world: &mut World, contract: &Contract) -> Option<String> {
    let first = |&rel: &RelId| Some((rel, world.tuples(rel).into_iter().next()?));
    let (rel, row) = contract.misplaced.iter().find_map(first)?;
    let facts = |entity: EntityId, attr: AttrId| world.facts().get_raw(entity, attr);
    Some(row_sentence(world.program(), &facts, contract, rel, &row))
}

/// Takes all pieces off the board and out of hands.
fn clear(world: &mut World, contract: &Contract) {
    let facts = world.facts();
    let placed = facts.entities_with(contract.at.attr);
    let pieces: BTreeSet<EntityId> =
        placed.chain(facts.entities_with(contract.kind.attr)).collect();
    for piece in pieces {
        world.remove(piece);
    }
}

/// Creates the pieces, each with the lowest free id: positions may be read again and again, and the number of ids is
/// limited.
fn pieces(
    world: &mut World,
    contract: &Contract,
    position: &Position,
) -> Result<Vec<(EntityId, Placed)>, FenError> {
    let placed = &position.pieces;
    let ids = world.facts().ids();
    let mut free = (1..u32::from(contract.entities)).map(EntityId).filter(|it| !ids.is_taken(*it));
    let mut pieces = Vec::new();
    for (at, &piece) in placed.iter().enumerate() {
        let Some(id) = free.next() else {
            return Err(FenError {
                field: FenField::Placement,
                offset: 0,
                found: format!("{} pieces", placed.len()),
                expected: format!("at most {}", pieces.len()),
            });
        };
        place_piece(world, contract, id, piece);
        for (field, read) in contract.fields.iter().zip(&position.further) {
            if field.about == About::Pieces
                && let (Some(read), Some(square)) = (read, piece.square)
            {
                // The values named for one square apply to its pieces in order.
                let before = placed[..at].iter().filter(|it| it.square == Some(square)).count();
                let mut named = read.named.iter().filter(|it| it.0 == square).skip(before);
                world.set_raw(id, field.input.attr, named.next().map_or(read.value, |it| it.1));
            }
        }
        pieces.push((id, piece));
    }
    let last = pieces.iter().map(|it| it.0).fold(ids.highest_taken(), EntityId::max);
    world.set_raw(GAME, NEXT_ENTITY, Some(i64::from(last.0) + 1));
    Ok(pieces)
}

fn place_piece(world: &mut World, contract: &Contract, id: EntityId, piece: Placed) {
    world.set_raw(id, contract.kind.attr, Some(piece.kind));
    world.set_raw(id, contract.color.attr, Some(piece.side));
    world.set_raw(id, contract.at.attr, piece.square);
    for (number, mark) in contract.marks.iter().enumerate() {
        if piece.marks & 1 << number != 0 {
            world.set_raw(id, mark.input.attr, Some(1));
        }
    }
}

/// Takes squares out of the board, and puts all others back.
fn walls(world: &mut World, contract: &Contract, walled: &[i64]) {
    let Some(walls) = contract.walls else { return };
    let start = world.program().schema.attribute(walls.input.attr).default;
    for square in 0..u32::from(contract.board.files) * u32::from(contract.board.ranks) {
        let value = if walled.contains(&i64::from(square)) { Some(1) } else { start.map(|_| 0) };
        world.set_raw(EntityId(square), walls.input.attr, value);
    }
}

/// Sets the side to move, the number of the move, and how often the position has occurred.
fn attributes(world: &mut World, contract: &Contract, position: &Position) {
    world.set_raw(GAME, contract.turn.attr, Some(position.turn));
    if let Some(fullmove) = contract.fullmove {
        world.set_raw(GAME, fullmove.attr, Some(position.fullmove.max(1)));
    }
    for input in contract.recurrence() {
        let start = world.program().schema.attribute(input.attr).default;
        world.set_raw(GAME, input.attr, start);
    }
}

/// Sets the further fields, except those of pieces, which `pieces` has set.
fn further(
    world: &mut World,
    contract: &Contract,
    position: &Position,
    pieces: &[(EntityId, Placed)],
) {
    for (field, read) in contract.fields.iter().zip(&position.further) {
        let attr = field.input.attr;
        let start = world.program().schema.attribute(attr).default;
        let mut value = read.as_ref().map_or(start, |it| it.value);
        if Some(field.ty) == contract.entity_type(world.program()) {
            // The value that was read is the square of a piece.
            let on = |square: i64| pieces.iter().find(|it| it.1.square == Some(square));
            value = value.and_then(on).map(|it| i64::from(it.0.0));
        }
        match field.about {
            About::Game => {
                world.set_raw(GAME, attr, value);
            }
            About::Pieces => {}
            About::Members(domain) => {
                let named = read.as_ref().map(|it| it.named.as_slice()).unwrap_or_default();
                for member in 0..world.program().schema.domain(domain).size() as u32 {
                    let own = named.iter().find(|it| it.0 == i64::from(member));
                    world.set_raw(EntityId(member), attr, own.map_or(value, |it| it.1));
                }
            }
        }
    }
}
