//! The en passant square in a FEN: read, stated as a fact, written.

use crate::derive::World;
use crate::facts::GAME;

use super::super::super::contract::Contract;
use super::super::fen::parts::{FenError, Part};
use super::Oddity;
use super::roles::Passing;

impl Passing {
    /// The en passant square, and where the rules have it, the square of the piece that passed.
    pub(super) fn read(&self, part: Part<'_>) -> Result<(Option<i64>, Option<i64>), FenError> {
        if part.text == "-" {
            return Ok((None, None));
        }
        let squares = part.rules.squares();
        if let Some(square) = squares.member(part.text) {
            return Ok((Some(square), None));
        }
        let pair = (1..part.text.len()).find_map(|at| {
            let (passed, victim) = (part.text.get(..at)?, part.text.get(at..)?);
            Some((squares.member(passed)?, squares.member(victim)?))
        });
        match (pair, self.victim) {
            (Some((passed, victim)), Some(_)) => Ok((Some(passed), Some(victim))),
            (Some(_), None) => Err(part.refuse("one square or -")),
            (None, _) => Err(part.refuse("a square of the board or -")),
        }
    }

    /// States the en passant square, unless no piece has just passed it by the rules.
    pub(super) fn place(
        &self,
        world: &mut World,
        contract: &Contract,
        passed: Option<i64>,
        victim: Option<i64>,
    ) -> Result<(), Oddity> {
        if let Some(input) = self.victim {
            world.set_raw(GAME, input.attr, victim);
        }
        let Some(square) = passed else {
            return Ok(());
        };
        world.set_raw(GAME, self.ep.attr, Some(square));
        if world.any(self.passed) {
            return Ok(());
        }
        world.set_raw(GAME, self.ep.attr, None);
        if let Some(input) = self.victim {
            world.set_raw(GAME, input.attr, None);
        }
        let squares = world.program().schema.domain(contract.board.domain);
        Err(Oddity::NothingPassed { square: squares.member_name(square) })
    }

    /// The en passant square if a capture there is legal, with the square of the piece that passed if the rules have it.
    pub(super) fn write(&self, world: &mut World, contract: &Contract) -> String {
        let Some(row) = world.first(self.same_passed, &[None]) else { return "-".into() };
        let squares = world.program().schema.domain(contract.board.domain);
        let victim = self.victim.and_then(|it| world.facts().get_raw(GAME, it.attr));
        let victim = victim.map(|it| squares.member_name(it)).unwrap_or_default();
        format!("{}{victim}", squares.member_name(row[0]))
    }
}
