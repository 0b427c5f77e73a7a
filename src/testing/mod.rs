//! For tests of games and rules: sessions that are easy to set up, questions as assertions, proofs as
//! text for snapshots, and what was computed again.
//!
//! Everything here panics with the reason where a test is wrong, as tests want it. With the feature
//! `testing` there is also a strategy for `proptest`; see `reachable`. `docs/testing.md` shows it all.
//! Deliberately absent: anything that a program other than a test should use.
//!
#![doc = include_str!("../../docs/testing.md")]

#[cfg(feature = "testing")]
mod strategy;

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "testing")]
pub use strategy::{Reachable, reachable};

use crate::derive::explain::{Finding, why, why_not};
use crate::derive::{Abbreviation, Query};
use crate::facts::{AttrId, DomainId, EntityId, GAME, NEXT_ENTITY};
use crate::game::Game;
use crate::presets::{Catalogue, Ruleset};
use crate::rules::{RelId, Rule, Type};

/// Fails unless the question has an answer: `assert_derives!(session, "attacks(?p, e4)")`.
#[macro_export]
macro_rules! assert_derives {
    ($session:expr, $query:expr $(,)?) => {
        if let Err(why) = $session.expect(&$query, true) {
            panic!("{why}");
        }
    };
}

/// Fails if the question has an answer, and prints its proof.
#[macro_export]
macro_rules! assert_not_derives {
    ($session:expr, $query:expr $(,)?) => {
        if let Err(why) = $session.expect(&$query, false) {
            panic!("{why}");
        }
    };
}

/// A piece on a board, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The entity that has its facts.
    pub entity: EntityId,
    /// The name of its side: `white`.
    pub side: String,
    /// The name of its kind: `knight`.
    pub kind: String,
}

/// `white knight`.
impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.side, self.kind)
    }
}

/// The rows that were derived again during some work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recomputed {
    /// Maintained relations, each with the part that was derived again: the first column of a block of rows,
    /// or a whole row. Entities are named as they were before.
    pub parts: Vec<(String, String)>,
    /// Number of instructions by rule: the relation that it concludes, its place, the number.
    pub operations: Vec<(String, String, u64)>,
}

impl Recomputed {
    /// The parts of one relation that were derived again.
    pub fn of(&self, relation: &str) -> Vec<&str> {
        let parts = self.parts.iter().filter(|it| it.0 == relation);
        parts.map(|it| it.1.as_str()).collect()
    }

    /// Instructions of all rules.
    pub fn total(&self) -> u64 {
        self.operations.iter().map(|it| it.2).sum()
    }
}

/// A game under test.
#[derive(Debug, Clone)]
pub struct Session {
    rules: Arc<Ruleset>,
    game: Game,
}

impl Session {
    /// A game from its start.
    ///
    /// # Panics
    /// There is no such game.
    pub fn new(game: &str) -> Self {
        Self::with(game, &[], None)
    }

    /// A game from a position.
    ///
    /// # Panics
    /// There is no such game, or the position is not valid.
    pub fn at(game: &str, fen: &str) -> Self {
        Self::with(game, &[], Some(fen))
    }

    /// A game with further presets, from a position or from its start.
    ///
    /// # Panics
    /// There is no such game or preset, or the position is not valid.
    pub fn with(game: &str, presets: &[&str], fen: Option<&str>) -> Self {
        let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
        let rules = catalogue.load(game, presets).unwrap_or_else(|it| panic!("{it}"));
        Self::under(Arc::new(rules), fen)
    }

    /// A game of compiled rules.
    ///
    /// # Panics
    /// The position is not valid.
    pub fn under(rules: Arc<Ruleset>, fen: Option<&str>) -> Self {
        let game = rules.start(fen).unwrap_or_else(|it| panic!("{it}"));
        Self { rules, game }
    }

    /// The rules of the game.
    pub fn rules(&self) -> &Arc<Ruleset> {
        &self.rules
    }

    /// The game itself.
    pub fn game(&mut self) -> &mut Game {
        &mut self.game
    }

    /// Plays moves, in UCI or SAN.
    ///
    /// # Panics
    /// One of them is not legal.
    pub fn play(&mut self, moves: &str) -> &mut Self {
        for mv in moves.split_whitespace() {
            if let Err(why) = self.game.play_text(mv) {
                panic!("{mv}: {why}");
            }
        }
        self
    }

    /// The piece on a square.
    ///
    /// # Panics
    /// There is no such square.
    pub fn piece_at(&mut self, square: &str) -> Option<Piece> {
        let contract = self.game.contract().clone();
        let raw = self.member(contract.board.domain, square);
        let world = self.game.world_mut();
        let row = world.first(contract.at.rel, &[None, Some(raw)])?;
        let entity = EntityId(u32::try_from(*row.first()?).ok()?);
        let program = world.program().clone();
        let word = |attr: AttrId, domain| {
            let raw = world.facts().get_raw(entity, attr)?;
            Some(program.value_name(Type::Domain(domain), raw))
        };
        let side = word(contract.color.attr, contract.sides)?;
        let kind = word(contract.kind.attr, contract.kinds)?;
        Some(Piece { entity, side, kind })
    }

    /// Removes everything from the board. The history is dropped.
    pub fn clear_board(&mut self) -> &mut Self {
        let at = self.game.contract().at.attr;
        let world = self.game.world_mut();
        let pieces: Vec<EntityId> = world.facts().entities_with(at).collect();
        for piece in pieces {
            world.remove(piece);
        }
        self.refresh()
    }

    /// Puts a piece on a square, `place("white knight", "e4")`, and removes a piece that stands there. The history is
    /// dropped.
    ///
    /// # Panics
    /// There is no such side, kind or square, or no room for another piece.
    pub fn place(&mut self, piece: &str, square: &str) -> &mut Self {
        let Some((side, kind)) = piece.split_once(' ') else {
            panic!("{piece:?} is no piece: write a side and a kind, as in \"white knight\"");
        };
        let contract = self.game.contract().clone();
        let side = self.member(contract.sides, side);
        let kind = self.member(contract.kinds, kind);
        let raw = self.member(contract.board.domain, square);
        if let Some(old) = self.piece_at(square) {
            self.game.world_mut().remove(old.entity);
        }
        let world = self.game.world_mut();
        let ids = world.facts().ids();
        let free = (1..u32::from(contract.entities)).map(EntityId).find(|it| !ids.is_taken(*it));
        let Some(entity) = free else { panic!("there is no room for a {piece}") };
        for (attr, raw) in
            [(contract.kind.attr, kind), (contract.color.attr, side), (contract.at.attr, raw)]
        {
            world.set_raw(entity, attr, Some(raw));
        }
        let next = world.facts().get_raw(GAME, NEXT_ENTITY).unwrap_or(1);
        world.set_raw(GAME, NEXT_ENTITY, Some(next.max(i64::from(entity.0) + 1)));
        self.refresh()
    }

    /// Sets the side to move.
    ///
    /// # Panics
    /// There is no such side.
    pub fn to_move(&mut self, side: &str) -> &mut Self {
        let contract = self.game.contract();
        let (attr, sides) = (contract.turn.attr, contract.sides);
        let raw = self.member(sides, side);
        self.game.world_mut().set_raw(GAME, attr, Some(raw));
        self.refresh()
    }

    /// Starts the game again from the facts that were written.
    fn refresh(&mut self) -> &mut Self {
        let world = self.game.world_mut().clone();
        let names = Arc::clone(self.game.rule_names());
        let game = Game::from_facts(world, Arc::clone(self.game.contract()));
        self.game = game.with_rule_names(names);
        self
    }

    fn member(&self, domain: DomainId, name: &str) -> i64 {
        let domain = self.game.program().schema.domain(domain);
        domain.member(name).unwrap_or_else(|| panic!("{} has no member {name}", domain.name))
    }

    /// A question about the position.
    ///
    /// # Panics
    /// It is not a valid question about this game.
    #[doc(hidden)]
    pub fn query(&self, text: &str) -> Query {
        let contract = self.game.contract();
        let short = Abbreviation { rel: contract.at.rel, values: contract.board.domain };
        Query::compile(self.game.program(), text, Some(short)).unwrap_or_else(|it| panic!("{it}"))
    }

    /// The answers to a question: the values of its variables in words, pieces by square.
    pub fn answers(&mut self, text: &str) -> Vec<Vec<String>> {
        let query = self.query(text);
        let answer = query.answer(&self.game.world_mut().materialised());
        let answer = answer.unwrap_or_else(|it| panic!("{it}"));
        let name = |(at, &raw): (usize, &i64)| self.game.name(answer.columns[at].1, raw);
        answer.rows.iter().map(|row| row.iter().enumerate().map(name).collect()).collect()
    }

    /// Checks whether a question has an answer, for the assertions.
    ///
    /// # Errors
    /// Not as expected: the question with the proof of its answer, or with the refutation of its parts.
    pub fn expect(&mut self, text: &str, holds: bool) -> Result<(), String> {
        let query = self.query(text);
        let found = query.holds(&self.game.world_mut().materialised());
        let found = found.map_err(|it| it.to_string())?;
        match (found, holds) {
            (true, true) | (false, false) => Ok(()),
            (true, false) => Err(format!("{text} is derived:\n{}", self.proof(text))),
            (false, true) => Err(format!("{text} is not derived:\n{}", self.refutation(&query))),
        }
    }

    /// The proof of the first answer to a question, for snapshots; empty if there is none.
    pub fn proof(&mut self, text: &str) -> String {
        let query = self.query(text);
        let proofs: Vec<_> = {
            let rows = self.game.world_mut().materialised();
            let support = query.support(&rows);
            support.iter().filter_map(|(rel, row)| why(&rows, *rel, row)).collect()
        };
        self.game.tree(&Finding::Proved(proofs))
    }

    fn refutation(&mut self, query: &Query) -> String {
        let refutations: Vec<_> = {
            let rows = self.game.world_mut().materialised();
            let goals = query.unmet(&rows);
            goals.iter().filter_map(|(rel, goal)| why_not(&rows, *rel, goal)).collect()
        };
        match refutations.is_empty() {
            true => "each part holds for some values, but not all for the same".to_owned(),
            false => self.game.tree(&Finding::Refuted(refutations)),
        }
    }

    /// Does some work, reads every relation afterwards, and returns the rows that were derived again.
    pub fn recomputed(&mut self, work: impl FnOnce(&mut Self)) -> Recomputed {
        let before = self.clone();
        let world = self.game.world_mut();
        let _ = world.materialised();
        world.log_recomputation(true);
        world.count_operations(true);
        work(self);
        let world = self.game.world_mut();
        let _ = world.materialised();
        let (log, operations) = (world.recomputed(), world.operations());
        world.log_recomputation(false);
        world.count_operations(false);
        Recomputed {
            parts: log.iter().map(|(rel, row)| before.part(*rel, row)).collect(),
            operations: self.by_rule(&operations),
        }
    }

    fn part(&self, rel: RelId, row: &[i64]) -> (String, String) {
        let relation = self.game.program().relation(rel);
        let columns = relation.columns.iter().zip(row);
        let words: Vec<String> = columns.map(|(it, &raw)| self.game.name(it.ty, raw)).collect();
        (relation.name.clone(), words.join(", "))
    }

    fn by_rule(&self, operations: &[u64]) -> Vec<(String, String, u64)> {
        let program = self.game.program();
        let counted = program.rules.iter().zip(operations).filter(|(_, count)| **count > 0);
        let head = |rule: &Rule| program.relation(rule.head).name.clone();
        counted.map(|(rule, &count)| (head(rule), program.place(rule.span), count)).collect()
    }
}
