//! The en passant square in a FEN: read, stated as a fact, written.

use crate::derive::World;
use crate::facts::GAME;

use super::super::super::contract::Contract;
use super::super::fen::parts::{FenError, Part};
use super::Oddity;
use super::roles::Passing;

impl Passing {
    /// The en passant square, and a second one if the FEN tells it: that of the piece that passed, or another that it
    /// passed.
    pub(super) fn read(&self, part: Part<'_>) -> Result<(Option<i64>, Option<i64>), FenError> {
        if part.text == "-" {
            return Ok((None, None));
        }
        let squares = part.rules.squares();
        if let Some(square) = squares.member(part.text) {
            return Ok((Some(square), None));
        }
        let pair = (1..part.text.len()).find_map(|at| {
            let (passed, second) = (part.text.get(..at)?, part.text.get(at..)?);
            Some((squares.member(passed)?, squares.member(second)?))
        });
        let (passed, second) = pair.ok_or_else(|| part.refuse("a square of the board or -"))?;
        Ok((Some(passed), Some(second)))
    }

    /// States the en passant square, unless no piece has just passed it by the rules.
    pub(super) fn place(
        &self,
        world: &mut World,
        contract: &Contract,
        passed: Option<i64>,
        second: Option<i64>,
    ) -> Result<(), Oddity> {
        let state = |world: &mut World, passed, victim| {
            world.set_raw(GAME, self.ep.attr, passed);
            if let Some(input) = self.victim {
                world.set_raw(GAME, input.attr, victim);
            }
        };
        // Fairy-Stockfish writes two squares in the order of the board. Of two passed squares one is the fact, and the
        // rules conclude the other.
        for (passed, second) in [(passed, second), (second, passed)] {
            let victim = second.filter(|_| !self.two);
            state(world, passed, victim);
            let mut has_passed = |victim, square: Option<i64>| {
                square.is_some() && world.first(self.passed, &[None, victim, square]).is_some()
            };
            if has_passed(victim, passed) && (victim == second || has_passed(None, second)) {
                return Ok(());
            }
        }
        state(world, None, None);
        let Some(square) = passed else { return Ok(()) };
        let squares = world.program().schema.domain(contract.board.domain);
        let names = [Some(square), second.filter(|_| self.two)].into_iter().flatten();
        Err(Oddity::NothingPassed { square: names.map(|it| squares.member_name(it)).collect() })
    }

    /// The squares on which a capture en passant is legal, with the square of the piece that passed if the rules have it.
    pub(super) fn write(&self, world: &mut World, contract: &Contract) -> String {
        let passed = world.tuples(self.same_passed);
        let Some(first) = passed.first() else { return "-".into() };
        let last = passed.last().filter(|_| self.two && passed.len() > 1);
        let victim = self.victim.and_then(|it| world.facts().get_raw(GAME, it.attr));
        let squares = world.program().schema.domain(contract.board.domain);
        let all = [Some(first[0]), last.map(|it| it[0]), victim];
        all.into_iter().flatten().map(|it| squares.member_name(it)).collect()
    }
}
