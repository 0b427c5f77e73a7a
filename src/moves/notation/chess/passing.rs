//! The passed square in a FEN: read, stated as a fact, written.

use crate::derive::World;
use crate::facts::GAME;
use crate::rules::{Program, RelId};

use super::super::super::contract::{Contract, Fact, Finder, Slot, Source};
use super::super::super::declared::{called, fen_notes};
use super::super::fen::{FenError, Part};
use super::Oddity;

/// The relations about captures in passing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passing {
    /// The square that was passed, as a fact of the game.
    pub ep: Fact,
    /// The square of the piece that can be captured so, where the FEN tells it.
    pub victim: Option<Fact>,
    pub passed: RelId,
    pub same_passed: RelId,
    /// The action: what it captures stands beside the square that it goes to.
    pub action: Option<RelId>,
}

impl Passing {
    /// What a capture in passing takes, in games that note the square that was passed.
    pub(super) fn find(finder: &mut Finder<'_>) -> Option<Self> {
        use Slot::{Entity, Square};
        let ep = finder.game("ep", Square);
        let victim = Self::victim(finder);
        let passed = finder.rules("passed", &[Entity, Square, Square]);
        let same_passed = finder.rules("same_passed", &[Square]);
        let action = finder.if_there("en_passant", &[Entity, Square]);
        Some(Self { ep: ep?, victim, passed: passed?, same_passed: same_passed?, action })
    }

    /// `.meta fen "passed RELATION"`: the passed square may be followed by the square of the piece
    /// that passed it.
    fn victim(finder: &mut Finder<'_>) -> Option<Fact> {
        let passed = |it: (_, u16)| Some((str::strip_prefix(it.0, "passed ")?, it.1));
        let (name, file) = fen_notes(finder.program).find_map(passed)?;
        let name = called(finder.program, file, name);
        finder.input(&name, Source::Game, &[Slot::Square])
    }

    /// The passed square, and where the rules have it the square of the piece that passed.
    pub(super) fn read(
        &self,
        program: &Program,
        contract: &Contract,
        part: Part<'_>,
    ) -> Result<(Option<i64>, Option<i64>), FenError> {
        if part.text == "-" {
            return Ok((None, None));
        }
        let squares = program.schema.domain(contract.board.domain);
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

    /// States the passed square, unless the rules then know of nothing that passed it.
    pub(super) fn place(
        &self,
        world: &mut World,
        contract: &Contract,
        passed: Option<i64>,
        victim: Option<i64>,
    ) -> Result<(), Oddity> {
        if let Some(fact) = self.victim {
            world.set_raw(GAME, fact.attr, victim);
        }
        let Some(square) = passed else {
            return Ok(());
        };
        world.set_raw(GAME, self.ep.attr, Some(square));
        if world.any(self.passed) {
            return Ok(());
        }
        world.set_raw(GAME, self.ep.attr, None);
        if let Some(fact) = self.victim {
            world.set_raw(GAME, fact.attr, None);
        }
        let squares = world.program().schema.domain(contract.board.domain);
        Err(Oddity::NothingPassed { square: squares.member_name(square) })
    }

    pub(super) fn write(
        &self,
        world: &mut World,
        contract: &Contract,
        program: &Program,
    ) -> String {
        let squares = program.schema.domain(contract.board.domain);
        let legal = world.tuples(self.same_passed);
        let Some(square) = legal.first().and_then(|it| it.first()) else {
            return "-".into();
        };
        let victim = self.victim.and_then(|it| world.facts().get_raw(GAME, it.attr));
        let victim = victim.map(|it| squares.member_name(it)).unwrap_or_default();
        format!("{}{victim}", squares.member_name(*square))
    }
}
