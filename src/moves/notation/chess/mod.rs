//! The parts of notation that are specific to chess: castling rights, en passant captures, the half-move
//! clock, checks, promotions. Each is a role that rules may declare; what they do not declare is not written.
//!
//! This is the only folder below `presets` whose code has terms of chess. Deliberately absent: which kinds of
//! piece castle, capture en passant or promote, which only rules know.

mod castling;
mod moves;
mod passing;
pub(in crate::moves) mod roles;

use std::collections::BTreeSet;

use crate::derive::World;
use crate::facts::{EntityId, GAME};

use super::super::contract::Contract;
use super::super::finder::AttrInput;
use super::super::names::entity_of;
use super::fen::parts::{FenError, FenField, NamedField, Parts, Placed, number};

pub use roles::{Castling, FenStyle, Passing, Roles};

pub(super) use castling::Right;
pub(super) use moves::{
    begins_with_zeros, comment_on_passing, is_written_so, more_candidates, moves_two,
    strikes_beside, with_capital_o, without_comments, written_otherwise,
};

/// The column of an action that says what its piece becomes.
pub(super) const BECOMES: &str = "promotion";

/// What is expected after the destination in the text of a move, for error messages.
pub(super) const BECOMES_EXPECTED: &str = "a promotion such as =Q, or the end";

/// The fields that the FEN of chess has besides what all games have.
pub const CASTLING: FenField =
    FenField::Named(NamedField { name: "castling", expected: "castling letters or -" });
pub const EN_PASSANT: FenField =
    FenField::Named(NamedField { name: "en passant", expected: "a square or -" });
pub const CLOCK: FenField =
    FenField::Named(NamedField { name: "half-move clock", expected: "a number" });

/// The values of these fields as read: whether they can be facts is checked later.
#[derive(Debug, Default)]
pub(super) struct Fields {
    rights: Vec<Right>,
    passed: Option<i64>,
    victim: Option<i64>,
    clock: i64,
    /// The limit of a count that stands in place of the passed square. The clock is what was counted.
    limit: Option<i64>,
}

/// A part of a FEN that cannot be a fact, or that is odd.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Oddity {
    /// The right is dropped: no castling rook stands where the letter says.
    #[error("castling right {right} dropped: there is no such rook")]
    NoRook { right: char },
    /// The right is dropped: no castling piece stands on the home rank.
    #[error("castling right {right} dropped: no piece on the home rank castles")]
    NoCastler { right: char },
    /// The right is dropped: another letter has stated the rook's right already.
    #[error("castling right {right} dropped: the rook has its right already")]
    SameRook { right: char },
    /// The letter is dropped: no piece stands on that file of the home rank.
    #[error("file {file} of an unmoved piece dropped: nothing stands there")]
    NothingUnmoved { file: char },
    /// The square is dropped: nothing has just passed it.
    #[error("en passant square {square} dropped: nothing has just passed it")]
    NothingPassed { square: String },
    /// A royal piece of the side that is not to move could be captured.
    #[error("opponent in check")]
    OpponentInCheck,
}

impl Roles {
    /// Reads the FEN fields of these roles.
    pub(super) fn read(&self, parts: &mut Parts<'_>) -> Result<Fields, FenError> {
        let mut fields = Fields::default();
        // Our rules may have castling and en passant captures in a game that other programs know without: their FEN has
        // neither field, so a counter is next.
        if self.castling.is_some() && parts.next_is(|it| it.bytes().all(|it| it.is_ascii_digit())) {
            return Ok(fields);
        }
        if let Some(roles) = &self.castling {
            fields.rights = roles.read(parts.required(CASTLING)?)?;
        }
        if let Some(roles) = &self.passing {
            let part = parts.required(EN_PASSANT)?;
            match self.is_limit(part.text) {
                true => fields.limit = Some(number(part, part.text, 0)?).filter(|it| *it > 0),
                false => (fields.passed, fields.victim) = roles.read(part)?,
            }
        }
        Ok(fields)
    }

    /// Whether a text in place of the passed square is the limit of a count.
    fn is_limit(&self, text: &str) -> bool {
        self.count.is_some() && text.bytes().all(|it| it.is_ascii_digit())
    }

    /// Reads the half-move clock. It is apart from the other fields because counters of the sides may stand before it.
    pub(super) fn read_clock(
        &self,
        parts: &mut Parts<'_>,
        fields: &mut Fields,
    ) -> Result<(), FenError> {
        if self.clock.is_some()
            && let Some(part) = parts.number(CLOCK)
        {
            fields.clock = number(part, part.text, 0)?;
        }
        Ok(())
    }

    /// Sets the facts that a FEN gives for these roles, and returns what was dropped or is odd.
    pub(super) fn place(
        &self,
        world: &mut World,
        contract: &Contract,
        pieces: &[(EntityId, Placed)],
        fields: &Fields,
        turn: i64,
    ) -> Vec<Oddity> {
        let mut odd = Vec::new();
        let counted = fields.limit.map(|_| fields.clock);
        if let Some(count) = self.count {
            world.set_raw(GAME, count.limit.attr, fields.limit);
            world.set_raw(GAME, count.counted.attr, counted);
        }
        if let Some(clock) = self.clock {
            let moves = if counted.is_some() { 0 } else { fields.clock };
            world.set_raw(GAME, clock.attr, Some(moves));
        }
        if let Some(roles) = &self.passing {
            world.set_raw(GAME, roles.ep.attr, None);
        }
        if let Some(roles) = &self.castling {
            for right in &fields.rights {
                odd.extend(roles.place(world, contract, pieces, right).err());
            }
        }
        if let Some(roles) = &self.passing {
            odd.extend(roles.place(world, contract, fields.passed, fields.victim).err());
        }
        if is_other_exposed(world, contract, Some(turn)) {
            odd.push(Oddity::OpponentInCheck);
        }
        odd
    }

    /// Writes the FEN fields of these roles.
    pub(super) fn write(&self, world: &mut World, contract: &Contract) -> Vec<String> {
        let mut fields = Vec::new();
        if let Some(roles) = &self.castling {
            fields.push(roles.write(world, contract));
        }
        if let Some(roles) = &self.passing {
            let limit = self.count.and_then(|it| raw(world, it.limit));
            fields.push(limit.map_or_else(|| roles.write(world, contract), |it| it.to_string()));
        }
        fields
    }

    /// Writes the half-move clock, or what was counted instead.
    pub(super) fn write_clock(&self, world: &World) -> Option<String> {
        let count = self.count.filter(|it| raw(world, it.limit).is_some()).map(|it| it.counted);
        count.or(self.clock).map(|it| raw(world, it).unwrap_or(0).to_string())
    }

    /// The royal pieces in rows of `check` and `ignored_check`: those of the side to move that are attacked.
    pub fn threatened(&self, world: &mut World, contract: &Contract) -> BTreeSet<EntityId> {
        let program = world.program().clone();
        let entities = contract.entity_type(&program);
        let mut royal = BTreeSet::new();
        for rel in self.checks.into_iter().flatten() {
            let columns = &program.relation(rel).columns;
            // The attacker comes first, so the attacked piece is the last column of entities.
            if let Some(at) = columns.iter().rposition(|it| Some(it.ty) == entities) {
                let rows = world.tuples(rel);
                royal.extend(rows.iter().filter_map(|it| entity_of(*it.get(at)?)));
            }
        }
        royal
    }

    /// Whether a piece could go to a square if nothing forbade it. If the text of an illegal move may mean several pieces,
    /// it likely means such a piece.
    pub(super) fn goes(&self, world: &mut World, piece: EntityId, to: i64) -> bool {
        self.goes.is_some_and(|rel| world.contains(rel, &[i64::from(piece.0), to]))
    }

    /// The suffix of the move that `mover` has just made: `+` if the side to move is in check, or, if that is still
    /// `mover`, if another side is.
    pub(super) fn suffix(
        &self,
        world: &mut World,
        contract: &Contract,
        mover: Option<i64>,
    ) -> &'static str {
        let checked = match contract.mover(world.facts()) == mover {
            false => self.in_check.is_some_and(|it| world.any(it)),
            // The turn goes on, so `in_check` is about the mover.
            true => is_other_exposed(world, contract, mover),
        };
        if checked { "+" } else { "" }
    }
}

/// The value of a fact of the game.
fn raw(world: &World, input: AttrInput) -> Option<i64> {
    world.facts().get_raw(GAME, input.attr)
}

/// Whether royal pieces of a side other than this one are threatened.
fn is_other_exposed(world: &mut World, contract: &Contract, side: Option<i64>) -> bool {
    let mut others = (0..contract.side_count(world.program())).filter(|it| Some(*it) != side);
    contract.exposed.is_some_and(|exposed| others.any(|it| world.contains(exposed, &[it])))
}
