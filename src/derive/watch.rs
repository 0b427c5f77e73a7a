//! Watched relations: the rows that were added and removed from one commit to the next.
//!
//! The rows of a watched relation are kept as they were at the last commit and compared with those
//! of the next, so that changes that were taken back in between do not show, and both evaluators report the
//! same. Relations without a watch cost nothing.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use slotmap::SlotMap;

use super::rows::Tuple;
use crate::rules::{Program, RelId};

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
    /// A watch of a relation, ended by `World::unwatch`. To end it again has no effect.
    pub struct Watch;
}

#[derive(Debug, Clone)]
struct Watched {
    rel: RelId,
    /// As of the last commit, ascending.
    rows: Vec<Tuple>,
}

/// The watches of a world.
#[derive(Debug, Clone, Default)]
pub(super) struct Watches {
    /// By name, since a watch outlasts its program.
    handles: SlotMap<Watch, String>,
    /// Ascending by relation.
    watched: Vec<Watched>,
    /// The changes of the last commit; relations that did not change are left out.
    pub(super) changes: Vec<RowChanges>,
    /// The changes since the program was replaced, until the next commit: by relation, rows in words, and whether they
    /// hold now.
    pub(super) replaced: BTreeMap<String, Vec<(String, bool)>>,
}

impl Watches {
    pub(super) fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    pub(super) fn relations(&self) -> Vec<RelId> {
        self.watched.iter().map(|it| it.rel).collect()
    }

    /// The names of all relations for which there are handles, each once, ascending.
    pub(super) fn names(&self) -> BTreeSet<String> {
        self.handles.values().cloned().collect()
    }

    /// Adds a watch; `rows` are those of the relation now.
    pub(super) fn add(&mut self, name: &str, rel: RelId, rows: Vec<Tuple>) -> Watch {
        self.keep(rel, rows);
        self.handles.insert(name.into())
    }

    fn keep(&mut self, rel: RelId, rows: Vec<Tuple>) {
        if let Err(at) = self.watched.binary_search_by_key(&rel, |it| it.rel) {
            self.watched.insert(at, Watched { rel, rows });
        }
    }

    /// Ends a watch in a program.
    pub(super) fn end(&mut self, watch: Watch, program: &Program) {
        let Some(name) = self.handles.remove(watch) else { return };
        if !self.handles.values().any(|it| *it == name) {
            let rel = program.relation_named(&name);
            self.watched.retain(|it| Some(it.rel) != rel);
            self.changes.retain(|it| Some(it.rel) != rel);
            self.replaced.remove(&name);
        }
    }

    /// Sets the rows of all watched relations, in the order of [`Watches::relations`].
    pub(super) fn advance(&mut self, rows: Vec<Vec<Tuple>>) {
        self.changes.clear();
        self.replaced.clear();
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

    /// The same watches under another program, which may number relations and values in another way: `rows` are those
    /// of the relations that it has. A relation that it does not have has no rows until a later program has it.
    pub(super) fn under(
        &self,
        before: &Program,
        now: &Program,
        rows: BTreeMap<RelId, Vec<Tuple>>,
    ) -> Self {
        let in_words = |program: &Program, rel: RelId, rows: &[Tuple]| -> Vec<String> {
            rows.iter().map(|it| program.tuple_name(rel, it)).collect()
        };
        let mut replaced = BTreeMap::new();
        for name in self.names() {
            let was = before.relation_named(&name);
            let was = self.watched.iter().find(|it| Some(it.rel) == was);
            let was = was.map_or_else(Vec::new, |it| in_words(before, it.rel, &it.rows));
            let is = now.relation_named(&name).and_then(|it| Some((it, rows.get(&it)?)));
            let is = is.map_or_else(Vec::new, |(rel, rows)| in_words(now, rel, rows));
            let only = |these: &[String], others: &[String], holds: bool| -> Vec<(String, bool)> {
                let others: HashSet<&String> = others.iter().collect();
                let only = these.iter().filter(|it| !others.contains(it));
                only.map(|it| (it.clone(), holds)).collect()
            };
            let mut changes = only(&is, &was, true);
            changes.extend(only(&was, &is, false));
            replaced.insert(name, changes);
        }
        let handles = self.handles.clone();
        let mut watches = Self { handles, watched: Vec::new(), changes: Vec::new(), replaced };
        rows.into_iter().for_each(|(rel, rows)| watches.keep(rel, rows));
        watches
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
