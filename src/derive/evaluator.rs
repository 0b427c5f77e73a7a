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
use crate::facts::{Change, Ids, Session};
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
/// It is notified of each change of the facts and of supplied rows. It may derive rows when they are read,
/// from those changes or from the [`Basis`], which agree.
pub(super) trait Evaluator: Debug + Send + Sync {
    /// Applies changes of facts, in this order.
    fn follow(&mut self, changes: &[Change]);
    /// Undoes changes, the last first, before [`Evaluator::rollback`].
    fn undo(&mut self, changes: &[Change]);
    /// Sets the rows of a relation that are supplied, ascending.
    fn take_rows(&mut self, rel: RelId, rows: &[Tuple]);
    /// Marks the state. An evaluator that derives from scratch after each change has nothing to mark.
    fn mark(&mut self) -> EvaluatorMark {
        EvaluatorMark::default()
    }
    /// Returns to the state at the mark.
    fn rollback(&mut self, _mark: EvaluatorMark) {}
    /// Drops all marks.
    fn commit(&mut self) {}
    /// Forgets all derived rows: the next read derives them from scratch.
    fn forget(&mut self);

    fn contains(&mut self, basis: Basis<'_>, rel: RelId, tuple: &[i64]) -> bool;
    fn any(&mut self, basis: Basis<'_>, rel: RelId) -> bool;
    fn count(&mut self, basis: Basis<'_>, rel: RelId) -> u64;
    /// Calls `f` with every row that matches the pattern, ascending, until it breaks.
    fn for_each(&mut self, basis: Basis<'_>, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>);
    /// Every relation, computed.
    fn materialised(&mut self, basis: Basis<'_>) -> &dyn Rows;

    /// The outputs of the reactions of a batch, in text order. New entities get the given ids.
    ///
    /// # Errors
    /// Solving them exceeded a budget; some outputs are missing.
    fn react(
        &mut self,
        basis: Basis<'_>,
        batch: usize,
        args: &[i64],
        ids: &mut Ids,
        traced: bool,
        outputs: &mut Vec<Output>,
    ) -> Result<(), Exhausted>;
    /// See `World::leaves_below`. `None` if leaves are counted one by one.
    fn leaves_below(
        &mut self,
        _leaves: &Arc<Leaves>,
        _depth: u32,
        _rest: &mut Vec<(ActionId, Tuple)>,
    ) -> Option<u64> {
        None
    }

    /// The resource that ran out while rows were derived, and the owner that spent most: the number of a rule, or of a reaction
    /// after the rules.
    fn exhausted(&self) -> Option<(Resource, usize)>;
    /// Whether anything ran out.
    fn has_run_out(&self) -> bool;

    // Statistics, which an evaluator need not keep.

    /// Counts instructions from now on, or stops.
    fn set_counting(&mut self, _on: bool) {}
    /// Instructions run since counting began, by rule, reactions after the rules.
    fn counts(&self) -> Vec<u64> {
        Vec::new()
    }
    /// Starts or stops recording the rows of maintained relations that are derived again.
    fn set_logging(&mut self, _on: bool) {}
    /// The rows derived again since recording began.
    fn log(&self) -> Vec<(RelId, Tuple)> {
        Vec::new()
    }
    /// The plans of all rules as text.
    fn dump(&self) -> String {
        String::new()
    }
    /// Bytes of the derived rows, what sessions share excluded.
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
