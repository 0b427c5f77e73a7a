//! Records of the actions that were played, and the game's result.

use std::fmt;
use std::sync::Arc;

use crate::derive::{Trace, World};
use crate::facts::{Delta, Snapshot};
use crate::moves::{Contract, Move, deciding};

/// One action that was played, and what it changed.
#[derive(Debug, Clone)]
pub struct Record {
    /// The action itself.
    pub mv: Move,
    /// Its text in UCI.
    pub uci: Box<str>,
    /// Its text in SAN.
    pub san: Box<str>,
    /// The side that took the action.
    pub side: i64,
    /// Whether the same side is to move after the action.
    pub turn_goes_on: bool,
    /// The key of the position after it: equal where the rules call a position a repetition of another.
    pub key: u64,
    /// The facts that it changed.
    #[doc(hidden)]
    pub delta: Delta,
    /// The facts after it, kept for the last few actions only. [`Game::position`] finds them for any action.
    ///
    /// [`Game::position`]: super::Game::position
    pub(super) snapshot: Option<Box<Snapshot>>,
    /// The index of the set of rules that it was played by.
    pub(super) rule_set: u32,
    /// The parts that only few actions have, boxed to keep the others small.
    pub(super) extra: Option<Box<Extra>>,
}

/// A change of the rules between two actions.
#[derive(Debug, Clone)]
pub struct Switch {
    /// The names of the new rules, as the caller gave them.
    pub names: Arc<[String]>,
    /// The facts right after it.
    pub facts: Snapshot,
    /// The index of the new set of rules.
    pub(super) rule_set: u32,
}

impl Switch {
    fn heap_bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|it| it.len() + size_of::<String>()).sum();
        names + self.facts.own_bytes()
    }
}

/// The parts of a record that only few actions have.
#[derive(Debug, Clone, Default)]
pub(super) struct Extra {
    /// Changes of the rules since the action before.
    pub(super) switches: Vec<Switch>,
    pub(super) rewound_to: Option<usize>,
    pub(super) notes: Vec<Box<str>>,
    pub(super) trace: Option<Arc<Trace>>,
}

impl Extra {
    /// Boxes it, unless it is empty.
    pub(super) fn boxed(self) -> Option<Box<Self>> {
        let is_empty = self.switches.is_empty()
            && self.rewound_to.is_none()
            && self.notes.is_empty()
            && self.trace.is_none();
        (!is_empty).then(|| Box::new(self))
    }

    fn heap_bytes(&self) -> usize {
        let notes: usize = self.notes.iter().map(|it| it.len() + size_of::<Box<str>>()).sum();
        let switches = self.switches.capacity() * size_of::<Switch>()
            + self.switches.iter().map(Switch::heap_bytes).sum::<usize>();
        size_of::<Self>() + notes + switches + self.trace.as_ref().map_or(0, |it| it.heap_bytes())
    }
}

impl Record {
    /// Notes of the rules about the action.
    pub fn notes(&self) -> &[Box<str>] {
        self.extra.as_ref().map_or(&[], |it| &it.notes)
    }

    /// The trace of its reactions, if it has more than changes of facts by the core and the game: events, effects
    /// for displays, reactions of presets, facts that expired.
    #[doc(hidden)]
    pub fn trace(&self) -> Option<&Trace> {
        self.extra.as_ref()?.trace.as_deref()
    }

    /// If the action ended in a rewind, the number of actions that led to the position that it brought back.
    pub fn rewound_to(&self) -> Option<usize> {
        self.extra.as_ref()?.rewound_to
    }

    /// Changes of the rules since the action before.
    #[doc(hidden)]
    pub fn switches(&self) -> &[Switch] {
        self.extra.as_ref().map_or(&[], |it| &it.switches)
    }

    /// The hash of all facts after the action.
    pub fn hash(&self) -> u64 {
        self.delta.hash()
    }

    /// Bytes that only this record holds.
    pub(super) fn heap_bytes(&self) -> usize {
        let spilled =
            if self.mv.args.spilled() { self.mv.args.capacity() * size_of::<i64>() } else { 0 };
        let extra = self.extra.as_ref().map_or(0, |it| it.heap_bytes());
        let snapshot =
            self.snapshot.as_ref().map_or(0, |it| size_of::<Snapshot>() + it.own_bytes());
        self.uci.len() + self.san.len() + spilled + extra + snapshot + self.delta.heap_bytes()
    }
}

/// The result of a game, in the names of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameResult {
    /// For example `white_wins` or `draw`.
    pub outcome: String,
    /// For example `stalemate`.
    pub reason: String,
    /// The side that won; `None` for a draw.
    pub winner: Option<i64>,
}

impl GameResult {
    /// The result of the position on the board, if the rules give one: of several the first by
    /// outcome, then by reason, in the order of their declaration.
    pub(super) fn read(world: &mut World, contract: &Contract) -> Option<Self> {
        let decides = deciding(world, contract);
        let row = world.first(decides, &[None, None])?;
        let (&outcome, &reason) = (row.first()?, row.get(1)?);
        let winner = world.first(contract.wins, &[None, Some(outcome)]);
        let program = world.program();
        let columns = &program.relation(contract.result).columns;
        Some(Self {
            outcome: program.value_name(columns.first()?.ty, outcome),
            reason: program.value_name(columns.get(1)?.ty, reason),
            winner: winner.and_then(|it| it.first().copied()),
        })
    }
}

/// `white wins by no piece left`: the names with spaces for underscores.
impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{} by {}", self.outcome, self.reason);
        f.write_str(&text.replace('_', " "))
    }
}
