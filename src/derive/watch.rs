//! Watched relations: the rows that were added and removed from one commit to the next.
//!
//! The rows of a watched relation are kept as they were at the last commit and compared with those
//! of the next, so that changes that were taken back in between do not show, and both evaluators report the
//! same. Relations without a watch cost nothing.

use slotmap::SlotMap;

use super::rows::Tuple;
use crate::rules::RelId;

/// The changes of a watched relation in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowChanges {
    pub rel: RelId,
    /// Rows that hold now and did not, ascending.
    pub added: Vec<Tuple>,
    /// Rows that held and no longer do, ascending.
    pub removed: Vec<Tuple>,
}

slotmap::new_key_type! {
    /// A subscription to a relation. It ends with [`World::unwatch`](super::World::unwatch); a second call
    /// has no effect.
    pub struct Watch;
}

#[derive(Debug, Clone)]
struct Watched {
    rel: RelId,
    /// As of the last commit, ascending.
    rows: Vec<Tuple>,
}

/// The watched relations of a world, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Watches {
    handles: SlotMap<Watch, RelId>,
    watched: Vec<Watched>,
    /// The changes of the last commit; relations that did not change are left out.
    pub(super) changes: Vec<RowChanges>,
}

impl Watches {
    pub(super) fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    pub(super) fn relations(&self) -> Vec<RelId> {
        self.watched.iter().map(|it| it.rel).collect()
    }

    /// Adds a watcher; `rows` are those of the relation now.
    pub(super) fn add(&mut self, rel: RelId, rows: Vec<Tuple>) -> Watch {
        if let Err(at) = self.watched.binary_search_by_key(&rel, |it| it.rel) {
            self.watched.insert(at, Watched { rel, rows });
        }
        self.handles.insert(rel)
    }

    pub(super) fn end(&mut self, watch: Watch) {
        let Some(rel) = self.handles.remove(watch) else { return };
        if !self.handles.values().any(|it| *it == rel) {
            self.watched.retain(|it| it.rel != rel);
            self.changes.retain(|it| it.rel != rel);
        }
    }

    /// Sets the rows of all watched relations, in the order of [`Watches::relations`].
    pub(super) fn advance(&mut self, rows: Vec<Vec<Tuple>>) {
        self.changes.clear();
        for (watched, rows) in self.watched.iter_mut().zip(rows) {
            let changes = RowChanges {
                rel: watched.rel,
                added: without(&rows, &watched.rows),
                removed: without(&watched.rows, &rows),
            };
            if !changes.added.is_empty() || !changes.removed.is_empty() {
                self.changes.push(changes);
                watched.rows = rows;
            }
        }
    }
}

/// The rows of one ascending list that are not in another.
fn without(rows: &[Tuple], others: &[Tuple]) -> Vec<Tuple> {
    let mut others = others.iter().peekable();
    let is_missing = |row: &&Tuple| {
        while others.next_if(|it| it < row).is_some() {}
        others.peek() != Some(row)
    };
    rows.iter().filter(is_missing).cloned().collect()
}
