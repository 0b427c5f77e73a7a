//! The bit evaluator of one session, behind one interface for all row widths.
//!
//! Deliberately absent: how rows are kept true (`live.rs`).

use std::ops::ControlFlow;
use std::sync::Arc;

use super::super::transaction::Output;
use crate::facts::{Change, Ids};
use crate::rules::{ActionId, RelId};

use super::super::budget::Resource;
use super::super::leaves::Leaves;
use super::super::rows::Tuple;
use super::compile::Compiled;
use super::frames::EngineMark;
use super::layout::Store;
use super::lists::Fixed;
use super::live::{Live, row_of};
use super::word::Word;

/// The bit evaluator behind one width of rows.
pub(in crate::derive) trait Evaluator: std::fmt::Debug + Send + Sync {
    /// Facts have changed, in this order.
    fn follow(&mut self, changes: &[Change]);
    /// Changes are taken back, the last first, before [`Evaluator::rollback`].
    fn undo(&mut self, changes: &[Change]);
    /// The rows of a relation that neither facts nor rules say, ascending.
    fn take_rows(&mut self, rel: RelId, rows: &[Tuple]);
    fn mark(&mut self) -> EngineMark;
    fn rollback(&mut self, mark: EngineMark);
    fn commit(&mut self);
    /// Makes a relation readable by [`Evaluator::contains`] and [`Evaluator::for_each`].
    fn ensure(&mut self, rel: RelId);
    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool;
    fn count(&mut self, rel: RelId) -> u64;
    fn any(&mut self, rel: RelId) -> bool;
    fn for_each(
        &self,
        rel: RelId,
        pattern: &[Option<i64>],
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) -> ControlFlow<()>;
    /// What the reactions of a batch do, in text order. New entities have the ids that are given.
    fn react(
        &mut self,
        batch: usize,
        args: &[i64],
        ids: &mut Ids,
        traced: bool,
        outputs: &mut Vec<Output>,
    );
    /// See `World::leaves_below`.
    fn leaves_below(
        &mut self,
        leaves: &Arc<Leaves>,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64>;
    fn set_counting(&mut self, on: bool);
    /// Instructions run since counting began, by rule, reactions after the rules.
    fn counts(&self) -> Vec<u64>;
    fn set_logging(&mut self, on: bool);
    /// What was derived anew of kept relations since logging began.
    fn log(&self) -> Vec<(RelId, Tuple)>;
    fn heap_bytes(&self) -> usize;
    fn dump(&self) -> String;
    /// Forgets all derived rows, maintained ones too: the next read derives from scratch.
    fn forget(&mut self);
    /// What ran out while rows were derived, and the owner that spent most.
    fn exhausted(&self) -> Option<(Resource, usize)>;
    /// Whether anything ran out.
    fn has_run_out(&self) -> bool;
    fn boxed_clone(&self) -> Box<dyn Evaluator>;
}

/// A compiled program with the rows of one session.
#[derive(Debug, Clone)]
pub(super) struct Engine<W> {
    c: Arc<Compiled<W>>,
    live: Live<W>,
}

impl<W: Word> Engine<W> {
    pub(super) fn new(c: Arc<Compiled<W>>) -> Self {
        let live = Live::new(&c);
        Self { c, live }
    }
}

impl<W: Word> Evaluator for Engine<W> {
    fn follow(&mut self, changes: &[Change]) {
        for &change in changes {
            self.live.change(&self.c, change);
        }
    }

    fn undo(&mut self, changes: &[Change]) {
        for change in changes.iter().rev() {
            for &(rel, member) in &self.c.inputs[usize::from(change.attr.0)] {
                let at = [i64::from(change.entity.0), i64::from(member)];
                self.live.write_input(&self.c, rel, at, change.new, change.old);
            }
        }
    }

    fn take_rows(&mut self, rel: RelId, rows: &[Tuple]) {
        self.live.take_rows(&self.c, rel, rows);
    }

    fn mark(&mut self) -> EngineMark {
        self.live.mark(&self.c)
    }

    fn rollback(&mut self, mark: EngineMark) {
        self.live.rollback(&self.c, mark);
    }

    fn commit(&mut self) {
        self.live.commit(&self.c);
    }

    fn ensure(&mut self, rel: RelId) {
        self.live.make_ready(&self.c, rel);
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        if let Store::Dense(dense) = &self.c.stores[usize::from(rel.0)] {
            let (row, last) = row_of(dense, tuple);
            return self.live.row(dense, row).has(last);
        }
        let pattern: Vec<Option<i64>> = tuple.iter().map(|it| Some(*it)).collect();
        self.for_each(rel, &pattern, &mut |_| ControlFlow::Break(())).is_break()
    }

    fn count(&mut self, rel: RelId) -> u64 {
        self.live.make_ready(&self.c, rel);
        if let Store::Dense(dense) = &self.c.stores[usize::from(rel.0)] {
            return self.live.count(dense);
        }
        let mut n = 0;
        let all = vec![None; self.c.program.relation(rel).columns.len()];
        let _ = self.for_each(rel, &all, &mut |_| {
            n += 1;
            ControlFlow::Continue(())
        });
        n
    }

    fn any(&mut self, rel: RelId) -> bool {
        self.live.make_ready(&self.c, rel);
        if let Store::Dense(dense) = &self.c.stores[usize::from(rel.0)] {
            return self.live.any(dense);
        }
        let all = vec![None; self.c.program.relation(rel).columns.len()];
        self.for_each(rel, &all, &mut |_| ControlFlow::Break(())).is_break()
    }

    fn for_each(
        &self,
        rel: RelId,
        pattern: &[Option<i64>],
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let list = match &self.c.stores[usize::from(rel.0)] {
            Store::Dense(dense) => return self.live.dense_tuples(dense, pattern, f),
            Store::Key { .. } | Store::Game { .. } => {
                return self.live.function_tuples(&self.c, rel, pattern, f);
            }
            Store::Static => {
                self.c.known[usize::from(rel.0)].as_deref().map_or(&[][..], Fixed::tuples)
            }
            Store::Sparse(store) => &self.live.s.lists[*store as usize].tuples,
            Store::Nowhere => &[],
        };
        sorted_matches(list, pattern, 0, f)
    }

    fn react(
        &mut self,
        batch: usize,
        args: &[i64],
        ids: &mut Ids,
        traced: bool,
        outputs: &mut Vec<Output>,
    ) {
        std::mem::swap(&mut self.live.s.ids, ids);
        self.live.s.traced = traced;
        self.live.react(&self.c, batch, args, outputs);
        std::mem::swap(&mut self.live.s.ids, ids);
    }

    fn leaves_below(
        &mut self,
        leaves: &Arc<Leaves>,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        self.live.leaves_below(&self.c, leaves, rest)
    }

    fn set_counting(&mut self, on: bool) {
        let owners = self.c.program.rules.len() + self.c.program.reactions.len();
        self.live.s.counts = on.then(|| vec![0; owners]);
    }

    fn counts(&self) -> Vec<u64> {
        self.live.s.counts.clone().unwrap_or_default()
    }

    fn set_logging(&mut self, on: bool) {
        self.live.log = on.then(Vec::new);
    }

    fn log(&self) -> Vec<(RelId, Tuple)> {
        self.live.log.clone().unwrap_or_default()
    }

    fn heap_bytes(&self) -> usize {
        self.live.heap_bytes()
    }

    fn dump(&self) -> String {
        super::dump::plans(&self.c)
    }

    fn boxed_clone(&self) -> Box<dyn Evaluator> {
        Box::new(self.clone())
    }

    fn forget(&mut self) {
        self.live.forget(&self.c);
    }

    fn has_run_out(&self) -> bool {
        self.live.s.fuel.is_out()
    }

    fn exhausted(&self) -> Option<(Resource, usize)> {
        self.live.s.fuel.exhausted()
    }
}

/// Lists of so few tuples are read through.
const SHORT: usize = 12;

/// The tuples of an ascending list that match, those before column `at` known to. What is bound is
/// found by bisection; a column that is open before one that is bound is gone through value by value.
fn sorted_matches(
    list: &[Tuple],
    pattern: &[Option<i64>],
    at: usize,
    f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let open = pattern[at..].iter().all(Option::is_none);
    if open || list.len() <= SHORT {
        let fits = |it: &&Tuple| {
            open || pattern.iter().zip(*it).all(|(want, is)| want.is_none_or(|it| it == *is))
        };
        return list.iter().filter(fits).try_for_each(|it| f(it));
    }
    let mut rest = list;
    if let Some(value) = pattern[at] {
        rest = &rest[rest.partition_point(|it| it[at] < value)..];
        let end = rest.partition_point(|it| it[at] == value);
        return sorted_matches(&rest[..end], pattern, at + 1, f);
    }
    while let Some(first) = rest.first() {
        let end = rest.partition_point(|it| it[at] == first[at]);
        sorted_matches(&rest[..end], pattern, at + 1, f)?;
        rest = &rest[end..];
    }
    ControlFlow::Continue(())
}
