//! A read position as facts: pieces, rights and attributes of the game, and what had to be dropped.

use std::collections::BTreeSet;
use std::fmt;

use crate::derive::World;
use crate::facts::{EntityId, GAME, NEXT_ENTITY};
use crate::rules::Column;

use super::super::super::contract::{Castling, Contract, Passing};
use super::read::{Placed, Position, Right, RookOf};
use super::{FenError, FenField};

/// What a position says and facts cannot, or what is odd about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The right is dropped: no castling rook stands where the letter says.
    NoRook { right: char },
    /// The right is dropped: no castling piece stands on the home rank.
    NoCastler { right: char },
    /// The right is dropped: another letter has given the rook's right already.
    SameRook { right: char },
    /// The square is dropped: nothing has just passed it.
    NothingPassed { square: String },
    /// A piece of the side that is not to move could be captured although it is royal.
    OpponentInCheck,
    /// Move numbers start from 1; 0 is read as 1.
    MoveNumberZero,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRook { right } => {
                write!(f, "castling right {right} dropped: there is no such rook")
            }
            Self::NoCastler { right } => {
                write!(f, "castling right {right} dropped: no piece on the home rank castles")
            }
            Self::SameRook { right } => {
                write!(f, "castling right {right} dropped: the rook has its right already")
            }
            Self::NothingPassed { square } => {
                write!(f, "en passant square {square} dropped: nothing has just passed it")
            }
            Self::OpponentInCheck => f.write_str("opponent in check"),
            Self::MoveNumberZero => f.write_str("move number 0 read as 1"),
        }
    }
}

pub(super) fn place(
    world: &mut World,
    contract: &Contract,
    position: &Position,
) -> Result<Vec<Warning>, FenError> {
    clear(world, contract);
    let pieces = pieces(world, contract, position)?;
    let mut warnings = Vec::new();
    game(world, contract, position, &mut warnings);
    if let Some(roles) = &contract.castling {
        for right in &position.rights {
            warnings.extend(castling(world, contract, roles, &pieces, right).err());
        }
    }
    if let Some(roles) = &contract.passing {
        warnings.extend(passed(world, contract, roles, position).err());
    }
    let opponent = i64::from(position.turn == 0);
    if contract.exposed.is_some_and(|it| world.contains(it, &[opponent])) {
        warnings.push(Warning::OpponentInCheck);
    }
    match misplaced(world, contract) {
        Some(found) => {
            let expected = "a position of this game".into();
            Err(FenError { field: FenField::Whole, offset: 0, found, expected })
        }
        None => Ok(warnings),
    }
}

/// Why the rules refuse a position, by the sentence of the first row that says so.
fn misplaced(world: &mut World, contract: &Contract) -> Option<String> {
    let rel = contract.misplaced?;
    let row = world.tuples(rel).into_iter().min()?;
    let program = world.program();
    let relation = program.relation(rel);
    let said = |text: String, (column, raw): (&Column, &i64)| {
        let value = program.word(column.ty, *raw).map(String::from);
        let value = value.unwrap_or_else(|| program.value_name(column.ty, *raw));
        text.replace(&format!("{{{}}}", column.name), &value)
    };
    Some(relation.columns.iter().zip(&row).fold(relation.sentence.clone(), said))
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

/// Creates the pieces in the entities that are free, lowest first: positions may be read again and
/// again, and entities are few.
fn pieces(
    world: &mut World,
    contract: &Contract,
    position: &Position,
) -> Result<Vec<(EntityId, Placed)>, FenError> {
    let placed = &position.pieces;
    let ids = world.facts().ids();
    let mut free = (1..u32::from(contract.entities)).map(EntityId).filter(|it| !ids.is_taken(*it));
    let mut pieces = Vec::new();
    for &piece in placed {
        let Some(id) = free.next() else {
            return Err(FenError {
                field: FenField::Placement,
                offset: 0,
                found: format!("{} pieces", placed.len()),
                expected: format!("at most {}", pieces.len()),
            });
        };
        world.set_raw(id, contract.kind.attr, Some(piece.kind));
        world.set_raw(id, contract.color.attr, Some(piece.side));
        world.set_raw(id, contract.at.attr, piece.square);
        for (number, mark) in contract.marks.iter().enumerate() {
            if piece.marks & 1 << number != 0 {
                world.set_raw(id, mark.fact.attr, Some(1));
            }
        }
        for (field, told) in contract.fields.iter().zip(&position.further) {
            if let (true, Some(told), Some(square)) = (field.of_pieces, told, piece.square) {
                let named = told.named.iter().find(|it| it.0 == square);
                world.set_raw(id, field.fact.attr, named.map_or(told.value, |it| it.1));
            }
        }
        pieces.push((id, piece));
    }
    let last = pieces.iter().map(|it| it.0).fold(ids.highest_taken(), EntityId::max);
    world.set_raw(GAME, NEXT_ENTITY, Some(i64::from(last.0) + 1));
    Ok(pieces)
}

fn game(world: &mut World, contract: &Contract, position: &Position, warnings: &mut Vec<Warning>) {
    if position.fullmove == 0 {
        warnings.push(Warning::MoveNumberZero);
    }
    world.set_raw(GAME, contract.turn.attr, Some(position.turn));
    if let Some(clock) = contract.clock {
        world.set_raw(GAME, clock.attr, Some(position.clock));
    }
    if let Some(fullmove) = contract.fullmove {
        world.set_raw(GAME, fullmove.attr, Some(position.fullmove.max(1)));
    }
    if let Some(passing) = &contract.passing {
        world.set_raw(GAME, passing.ep.attr, None);
    }
    if let Some(occurrences) = contract.occurrences {
        let start = world.program().schema.attribute(occurrences.attr).default;
        world.set_raw(GAME, occurrences.attr, start);
    }
    for (field, told) in contract.fields.iter().zip(&position.further) {
        if !field.of_pieces {
            let start = world.program().schema.attribute(field.fact.attr).default;
            let value = told.as_ref().map_or(start, |it| it.value);
            world.set_raw(GAME, field.fact.attr, value);
        }
    }
}

/// Gives a rook its right to castle.
fn castling(
    world: &mut World,
    contract: &Contract,
    roles: &Castling,
    pieces: &[(EntityId, Placed)],
    right: &Right,
) -> Result<(), Warning> {
    let home = home_rank(world, roles, pieces, right.side);
    let castlers: Vec<_> =
        home.iter().filter(|it| world.contains(roles.castler, &[it.1.kind])).copied().collect();
    if castlers.is_empty() {
        return Err(Warning::NoCastler { right: right.letter });
    }
    let mut pairs = Vec::new();
    for &rook in &home {
        if world.contains(roles.castling_rook, &[rook.1.kind]) {
            pairs.extend(Pair::of_rook(world, contract, roles, &castlers, rook));
        }
    }
    let chosen = match right.rook {
        RookOf::File(file) => pairs.iter().find(|it| it.file == file),
        RookOf::Wing(wing) => pairs.iter().find(|it| it.wing == wing && it.is_outermost(&pairs)),
    };
    let Some(chosen) = chosen else {
        return Err(Warning::NoRook { right: right.letter });
    };
    let partner = roles.partner.attr;
    if world.facts().contains(chosen.rook, partner) {
        return Err(Warning::SameRook { right: right.letter });
    }
    world.set_raw(chosen.rook, partner, Some(i64::from(chosen.castler.0)));
    Ok(())
}

/// A rook and the piece that castles with it. The rook alone decides which that is, so that a right means the
/// same however it is written: see the module's head.
struct Pair {
    castler: EntityId,
    rook: EntityId,
    wing: i64,
    from: i64,
    file: i64,
}

impl Pair {
    /// The castling piece in the centre before others, then the nearest.
    fn of_rook(
        world: &mut World,
        contract: &Contract,
        roles: &Castling,
        castlers: &[(EntityId, Placed)],
        (rook, rook_at): (EntityId, Placed),
    ) -> Option<Self> {
        let board = contract.board;
        let file = board.file(rook_at.square?);
        let mut pairs = Vec::new();
        for &(castler, at) in castlers.iter().filter(|it| it.0 != rook) {
            let way = [at.square, rook_at.square, None];
            let wing = world.matching(roles.wing, &way).first().map(|it| it[2]);
            let from = at.square.map(|it| board.file(it));
            pairs.extend(wing.zip(from).map(|(wing, from)| Self {
                castler,
                rook,
                wing,
                from,
                file,
            }));
        }
        let off_centre = |it: &Self| it.from != i64::from(board.files) / 2;
        pairs.into_iter().min_by_key(|it| (off_centre(it), it.distance(it.file)))
    }

    fn distance(&self, file: i64) -> i64 {
        (self.from - file).abs()
    }

    /// No other rook of the wing is further from the castling piece.
    fn is_outermost(&self, pairs: &[Self]) -> bool {
        let is_out = |it: &Self| (it.file - self.from).signum() == (self.file - self.from).signum();
        let mut others = pairs.iter().filter(|it| is_out(it));
        !others.any(|it| self.distance(it.file) > self.distance(self.file))
    }
}

/// The pieces of a side on its home rank.
fn home_rank(
    world: &mut World,
    roles: &Castling,
    pieces: &[(EntityId, Placed)],
    side: i64,
) -> Vec<(EntityId, Placed)> {
    let opponent = i64::from(side == 0);
    pieces
        .iter()
        .filter(|it| {
            let is_home = |square| world.contains(roles.last_rank, &[opponent, square]);
            it.1.side == side && it.1.square.is_some_and(is_home)
        })
        .copied()
        .collect()
}

/// States the passed square, unless the rules then know of nothing that passed it.
fn passed(
    world: &mut World,
    contract: &Contract,
    roles: &Passing,
    position: &Position,
) -> Result<(), Warning> {
    if let Some(victim) = roles.victim {
        world.set_raw(GAME, victim.attr, position.victim);
    }
    let Some(square) = position.passed else {
        return Ok(());
    };
    world.set_raw(GAME, roles.ep.attr, Some(square));
    if world.any(roles.passed) {
        return Ok(());
    }
    world.set_raw(GAME, roles.ep.attr, None);
    if let Some(victim) = roles.victim {
        world.set_raw(GAME, victim.attr, None);
    }
    let squares = world.program().schema.domain(contract.board.domain);
    Err(Warning::NothingPassed { square: squares.member_name(square) })
}
