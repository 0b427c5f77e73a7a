//! The en passant square in a FEN: read, stated as a fact, written.

use crate::derive::World;
use crate::facts::GAME;

use super::super::super::contract::Contract;
use super::super::fen::parts::{FenError, Part};
use super::Oddity;
use super::roles::Passing;

impl Passing {
    /// The en passant square, and the square of the piece that passed if the FEN tells it.
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
        let (passed, victim) = pair.ok_or_else(|| part.refuse("a square of the board or -"))?;
        Ok((Some(passed), Some(victim)))
    }

    /// States the en passant square, unless no piece has just passed it by the rules.
    pub(super) fn place(
        &self,
        world: &mut World,
        contract: &Contract,
        passed: Option<i64>,
        victim: Option<i64>,
    ) -> Result<(), Oddity> {
        let state = |world: &mut World, passed, victim| {
            world.set_raw(GAME, self.ep.attr, passed);
            if let Some(input) = self.victim {
                world.set_raw(GAME, input.attr, victim);
            }
        };
        // Fairy-Stockfish writes the two squares in the order of the board.
        for (passed, victim) in [(passed, victim), (victim, passed)] {
            state(world, passed, victim);
            if passed.is_some() && world.first(self.passed, &[None, victim, passed]).is_some() {
                return Ok(());
            }
        }
        state(world, None, None);
        let Some(square) = passed else { return Ok(()) };
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
