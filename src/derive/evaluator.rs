//! The interface of evaluators: the changes that a world reports to them, and the rows that it asks them for.
//!
//! The bit evaluator (`bits`) and the reference evaluator (`reference`) implement it, and must give the same answers.
//! Deliberately absent: when rows are read, and the facts themselves (`world`).

use std::fmt::Debug;
use std::sync::Arc;

use super::budget::{Exhausted, Resource};
use super::given::{GivenRelations, GivenRows};
use super::leaves::Leaves;
use super::output::Output;
use super::rows::{Pattern, Rows, Tuple, Visit};
use crate::facts::{Change, Ids, NextIds, Session};
use crate::rules::{ActionId, RelId};

/// The kinds of evaluators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The bit evaluator.
    Bits,
    /// The slow reference evaluator.
    Frog,
}

/// The sources of a world's rows, besides its program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Basis<'w> {
    pub(super) facts: &'w Session,
    pub(super) given_relations: &'w GivenRelations,
    pub(super) given_rows: &'w GivenRows,
}

/// The state of an evaluator at a mark. An evaluator that derives from scratch after each change stores
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct EvaluatorMark {
    pub(super) journal: usize,
    pub(super) depth: usize,
    /// Whether an earlier mark has the same frame.
    pub(super) marked: bool,
}

/// An evaluator of the rows that follow from the facts of one session.
///
/// It is notified of each change of the facts and of given rows. It may derive rows when they are read,
/// from those changes or from the [`Basis`], which agree.
pub(super) trait Evaluator: Debug + Send + Sync {
    /// Applies changes of facts, in this order.
    fn follow(&mut self, changes: &[Change]);
    /// Undoes changes, which are given oldest first, from the last one on; [`Evaluator::rollback`] follows.
    fn undo(&mut self, changes: &[Change]);
    /// Replaces all rows of a given relation by these, which are ascending.
    fn take_rows(&mut self, rel: RelId, rows: &[Tuple]);
    /// Marks the state. An evaluator that derives from scratch after each change has nothing to mark.
    fn mark(&mut self) -> EvaluatorMark {
        EvaluatorMark::default()
    }
    /// Returns to the state at a mark.
    fn rollback(&mut self, _mark: EvaluatorMark) {}
    /// Drops all marks.
    fn commit(&mut self) {}
    /// Frees memory that only further writes would need. All writes are final.
    fn trim(&mut self) {}
    /// Forgets all derived rows, and that a budget ran out: the next read derives them from scratch.
    fn forget(&mut self);

    fn contains(&mut self, basis: Basis<'_>, rel: RelId, tuple: &[i64]) -> bool;
    fn any(&mut self, basis: Basis<'_>, rel: RelId) -> bool;
    fn count(&mut self, basis: Basis<'_>, rel: RelId) -> u64;
    /// Calls `f` with every row that matches the pattern, ascending, until it breaks.
    fn for_each(&mut self, basis: Basis<'_>, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>);
    /// All relations, computed now or when they are first read.
    fn materialised(&mut self, basis: Basis<'_>) -> &dyn Rows;

    /// Adds the outputs of the reactions of a batch, in the order in which they are to be applied. New entities get these
    /// ids.
    ///
    /// # Errors
    /// Solving them exceeded a budget of their own; some outputs are missing. An evaluator that charges the budget of
    /// derived rows says so by [`Evaluator::exhausted`] instead.
    fn react(
        &mut self,
        basis: Basis<'_>,
        batch: usize,
        args: &[i64],
        ids: &mut Ids,
        traced: bool,
        outputs: &mut Vec<Output>,
    ) -> Result<(), Exhausted>;
    /// See `World::leaves_below`. `None` if every action has to be taken.
    fn leaves_below(
        &mut self,
        _leaves: &Arc<Leaves>,
        _depth: u32,
        _next_ids: NextIds,
        _rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        None
    }

    /// The resource that ran out, and the owner to blame: the number of a rule, or the number of rules plus that of a
    /// reaction; any other number if none is to blame.
    fn exhausted(&self) -> Option<(Resource, usize)>;
    /// Whether anything ran out.
    fn has_run_out(&self) -> bool {
        self.exhausted().is_some()
    }

    // Statistics, which an evaluator need not keep.

    /// Counts instructions from now on, or stops.
    fn set_counting(&mut self, _on: bool) {}
    /// Instructions run since counting began, by rule, reactions after the rules.
    fn counts(&self) -> Vec<u64> {
        Vec::new()
    }
    /// Starts or stops recording what of maintained relations is derived again.
    fn set_logging(&mut self, _on: bool) {}
    /// The tuples derived again since recording began; of a block, its first column alone.
    fn log(&self) -> Vec<(RelId, Tuple)> {
        Vec::new()
    }
    /// The plans as text.
    fn dump(&self) -> String {
        String::new()
    }
    /// Bytes of the derived rows, without what sessions share.
    fn heap_bytes(&self) -> usize {
        0
    }

    fn boxed_clone(&self) -> Box<dyn Evaluator>;
}

impl Clone for Box<dyn Evaluator> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}
