//! Memory use of a game, by purpose.

use super::play::Game;
use super::record::Record;

/// Bytes of one game, as an estimate: without the parts that snapshots share with each other, and without what all games
/// of a rule set share (program, plan, schema).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The facts as they are now, their journal included.
    pub facts: usize,
    /// The rows derived from the facts, and what keeps these rows up to date.
    pub derived: usize,
    /// The facts of the start, and the records of what was played, with their changes and snapshots.
    pub history: usize,
}

impl Memory {
    /// The sum of all bytes.
    pub fn total(&self) -> usize {
        self.facts + self.derived + self.history
    }
}

impl Game {
    /// Bytes held by this game.
    #[doc(hidden)]
    pub fn memory(&self) -> Memory {
        let records: usize = self.history().iter().map(Record::heap_bytes).sum();
        let table = self.history_capacity() * size_of::<Record>();
        Memory {
            facts: self.facts().heap_bytes(),
            derived: self.world().row_bytes(),
            history: self.start().own_bytes() + table + records,
        }
    }
}
