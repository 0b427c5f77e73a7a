//! The en passant square in a FEN: read, stated as a fact, written.

use crate::derive::World;
use crate::facts::GAME;

use super::super::super::contract::Contract;
use super::super::fen::parts::{FenError, Part};
use super::Oddity;
use super::roles::Passing;

impl Passing {
<<<<<<< HEAD
    /// The en passant square, and the square of the piece that passed if the FEN tells it.
=======
    /// The en passant square and, where the rules have it, the second square: that of the piece that passed, or another that
    /// it passed.
>>>>>>> leftouts
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
<<<<<<< HEAD
        let (passed, victim) = pair.ok_or_else(|| part.refuse("a square of the board or -"))?;
        Ok((Some(passed), Some(victim)))
=======
        match pair {
            Some((passed, second)) if self.two || self.victim.is_some() => {
                Ok((Some(passed), Some(second)))
            }
            Some(_) => Err(part.refuse("one square or -")),
            None => Err(part.refuse("a square of the board or -")),
        }
>>>>>>> leftouts
    }

    /// States the en passant square, unless no piece has just passed it by the rules.
    pub(super) fn place(
        &self,
        world: &mut World,
        contract: &Contract,
        passed: Option<i64>,
        second: Option<i64>,
    ) -> Result<(), Oddity> {
<<<<<<< HEAD
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
=======
        if let Some(input) = self.victim {
            world.set_raw(GAME, input.attr, second);
        }
        let Some(square) = passed else {
            return Ok(());
        };
        // Of two passed squares one is the fact, and the rules conclude the other.
        let other = second.filter(|_| self.two);
        let all = [Some(square), other];
        for square in all.into_iter().flatten() {
            world.set_raw(GAME, self.ep.attr, Some(square));
            let mut squares = all.into_iter().flatten();
            if squares.all(|it| world.first(self.passed, &[None, None, Some(it)]).is_some()) {
                return Ok(());
            }
        }
        world.set_raw(GAME, self.ep.attr, None);
        if let Some(input) = self.victim {
            world.set_raw(GAME, input.attr, None);
>>>>>>> leftouts
        }
        state(world, None, None);
        let Some(square) = passed else { return Ok(()) };
        let squares = world.program().schema.domain(contract.board.domain);
        let names = all.into_iter().flatten().map(|it| squares.member_name(it));
        Err(Oddity::NothingPassed { square: names.collect() })
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
