//! Watches of relations: the rows that are added and removed as a game is played, in the words of its rules.

use super::fact_text::{QuestionError, relation_meant};
use super::play::Game;
use crate::derive::Watch;

/// A row that was added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowChange {
    /// The row, as `attacks(b4, d2)`.
    pub row: String,
    /// Whether the row was added. Otherwise it was removed.
    pub holds: bool,
}

impl Game {
    /// Watches a relation until [`Game::unwatch`], also while actions are taken back and presets come and go. While other
    /// presets leave the rules without the relation, it has no rows.
    ///
    /// # Errors
    /// The rules of this game have no relation of that name.
    pub fn watch(&mut self, relation: &str) -> Result<Watch, QuestionError> {
        let rel = relation_meant(self.program(), relation)?;
        Ok(self.world_mut().watch(rel))
    }

    /// Ends a watch.
    pub fn unwatch(&mut self, watch: Watch) {
        self.world_mut().unwatch(watch);
    }

    /// The rows of watched relations that the last change of the game added or removed, by relation, added rows first. A
    /// change is an action, the taking back of one, or a change of presets; each action of a text is a change.
    pub fn changes(&self) -> Vec<RowChange> {
        let replaced = self.world().replaced_rows();
        let mut found: Vec<RowChange> =
            replaced.map(|(row, holds)| RowChange { row: row.clone(), holds: *holds }).collect();
        for change in self.world().changes() {
            let came = change.added.iter().map(|it| (it, true));
            for (row, holds) in came.chain(change.removed.iter().map(|it| (it, false))) {
                found.push(RowChange { row: self.program().tuple_name(change.rel, row), holds });
            }
        }
        found
    }
}
