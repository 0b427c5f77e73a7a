//! The bit evaluator of one session, behind one interface for all row widths.
//!
//! Deliberately absent: how rows are kept up to date (`live.rs`).

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::facts::{Change, Ids, NextIds};
use crate::rules::{ActionId, Program, RelId};

use super::super::budget::{Exhausted, Resource};
use super::super::evaluator::{Basis, Evaluator, EvaluatorMark};
use super::super::leaves::Leaves;
use super::super::output::Output;
use super::super::rows::{Pattern, Rows, Tuple, Visit, fits};
use super::compile::Compiled;
use super::layout::Store;
use super::lists::KnownRows;
use super::live::{Live, row_of};
use super::word::Word;

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

    fn any_row(&self, rel: RelId) -> Vec<Option<i64>> {
        vec![None; self.c.program.relation(rel).columns.len()]
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

    fn mark(&mut self) -> EvaluatorMark {
        self.live.mark(&self.c)
    }

    fn rollback(&mut self, mark: EvaluatorMark) {
        self.live.rollback(&self.c, mark);
    }

    fn commit(&mut self) {
        self.live.commit(&self.c);
    }

    fn trim(&mut self) {
        self.live.trim(&self.c);
    }

    #[inline]
    fn contains(&mut self, _basis: Basis<'_>, rel: RelId, tuple: &[i64]) -> bool {
        self.live.make_ready(&self.c, rel);
        Rows::contains(self, rel, tuple)
    }

    fn count(&mut self, _basis: Basis<'_>, rel: RelId) -> u64 {
        self.live.make_ready(&self.c, rel);
        if let Store::Dense(dense) = &self.c.stores[usize::from(rel.0)] {
            return self.live.count(dense);
        }
        let mut count = 0;
        let _ = Rows::for_each(self, rel, &self.any_row(rel), &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        count
    }

    fn any(&mut self, _basis: Basis<'_>, rel: RelId) -> bool {
        self.live.make_ready(&self.c, rel);
        if let Store::Dense(dense) = &self.c.stores[usize::from(rel.0)] {
            return self.live.any(dense);
        }
        Rows::for_each(self, rel, &self.any_row(rel), &mut |_| ControlFlow::Break(())).is_break()
    }

    fn for_each(&mut self, _basis: Basis<'_>, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) {
        self.live.make_ready(&self.c, rel);
        let _ = Rows::for_each(self, rel, pattern, f);
    }

    fn materialised(&mut self, _basis: Basis<'_>) -> &dyn Rows {
        let relations = self.c.program.relations.len();
        let _span = tracing::debug_span!("materialise", relations).entered();
        (0..relations).for_each(|rel| self.live.make_ready(&self.c, RelId(rel as u16)));
        self
    }

    fn react(
        &mut self,
        _basis: Basis<'_>,
        batch: usize,
        args: &[i64],
        ids: &mut Ids,
        traced: bool,
        outputs: &mut Vec<Output>,
    ) -> Result<(), Exhausted> {
        std::mem::swap(&mut self.live.s.ids, ids);
        self.live.s.traced = traced;
        self.live.react(&self.c, batch, args, outputs);
        std::mem::swap(&mut self.live.s.ids, ids);
        Ok(())
    }

    fn leaves_below(
        &mut self,
        leaves: &Arc<Leaves>,
        depth: u32,
        next_ids: NextIds,
        rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        self.live.leaves_below(&self.c, leaves, depth, next_ids, rest)
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

/// The rows as they were last derived. Readers make sure before that what they read is up to date.
impl<W: Word> Rows for Engine<W> {
    fn program(&self) -> &Program {
        &self.c.program
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        if let Store::Dense(dense) = &self.c.stores[usize::from(rel.0)] {
            // A question may name an entity that cannot exist.
            let is_in_range = |(&it, &size): (&i64, &u32)| (0..i64::from(size)).contains(&it);
            if !tuple.iter().zip(&dense.sizes).all(is_in_range) {
                return false;
            }
            let (row, last) = row_of(dense, tuple);
            return self.live.row(dense, row).has(last);
        }
        let pattern: Vec<Option<i64>> = tuple.iter().map(|it| Some(*it)).collect();
        Rows::for_each(self, rel, &pattern, &mut |_| ControlFlow::Break(())).is_break()
    }

    fn for_each(&self, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) -> ControlFlow<()> {
        let list = match &self.c.stores[usize::from(rel.0)] {
            Store::Dense(dense) => return self.live.dense_tuples(dense, pattern, f),
            Store::Key { .. } | Store::Game { .. } => {
                return self.live.function_tuples(&self.c, rel, pattern, f);
            }
            Store::Static => {
                self.c.known[usize::from(rel.0)].as_deref().map_or(&[][..], KnownRows::tuples)
            }
            Store::Sparse(store) => &self.live.s.lists[*store as usize].tuples,
            Store::Nowhere => &[],
        };
        sorted_matches(list, pattern, 0, f)
    }
}

/// Lists of at most this many tuples are scanned.
const SHORT: usize = 12;

/// Calls `f` with the tuples of an ascending list that match; all of them match in the columns before `at`. The value
/// of a bound column is found by bisection; an open column before a bound one is enumerated value by value.
fn sorted_matches(
    list: &[Tuple],
    pattern: Pattern<'_>,
    at: usize,
    f: Visit<'_>,
) -> ControlFlow<()> {
    let open = pattern[at..].iter().all(Option::is_none);
    if open || list.len() <= SHORT {
        return list.iter().filter(|it| open || fits(pattern, it)).try_for_each(|it| f(it));
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
