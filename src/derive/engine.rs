//! The evaluator of a world: the bit evaluator or the reference evaluator, asked in the same way.
//!
//! Deliberately absent: which rows are read when, and what becomes of the facts (`world`).

use std::ops::ControlFlow;
use std::sync::Arc;

use super::bits::{EngineMark, Evaluator};
use super::budget::Exhausted;
use super::frog::{Frog, Statics};
use super::given::{GivenRelations, GivenRows};
use super::materialised::{BitRows, Materialised};
use super::plan::Plan;
use super::rows::{Rows, Tuple};
use crate::facts::{Change, Session};
use crate::rules::{Program, RelId};

/// Which evaluator answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The product.
    Bits,
    /// The slow reference evaluator.
    Frog,
}

/// What the rows of a world follow from, beside its program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Basis<'w> {
    pub(super) facts: &'w Session,
    pub(super) hands: &'w GivenRelations,
    pub(super) handed: &'w GivenRows,
}

/// The evaluator of a world, with the rows that it keeps.
#[derive(Debug)]
pub(super) enum Engine {
    Bits(Box<dyn Evaluator>),
    Frog(Reference),
}

impl Clone for Engine {
    fn clone(&self) -> Self {
        match self {
            Self::Bits(it) => Self::Bits(it.boxed_clone()),
            Self::Frog(it) => Self::Frog(it.clone()),
        }
    }
}

impl Engine {
    pub(super) fn new(plan: &Plan, backend: Backend) -> Self {
        match backend {
            Backend::Bits => Self::Bits(plan.bits.session()),
            Backend::Frog => Self::Frog(Reference { statics: Arc::clone(&plan.frog), rows: None }),
        }
    }

    pub(super) fn backend(&self) -> Backend {
        match self {
            Self::Bits(_) => Backend::Bits,
            Self::Frog(_) => Backend::Frog,
        }
    }

    /// Facts have changed, in this order.
    #[inline]
    pub(super) fn follow(&mut self, changes: &[Change]) {
        match self {
            Self::Bits(it) => it.follow(changes),
            Self::Frog(_) if changes.is_empty() => {}
            Self::Frog(it) => it.rows = None,
        }
    }

    /// Changes are taken back, the last first, before [`Engine::rollback`].
    pub(super) fn undo(&mut self, changes: &[Change]) {
        match self {
            Self::Bits(it) => it.undo(changes),
            Self::Frog(_) => self.follow(changes),
        }
    }

    /// Takes rows of a relation that are handed over.
    pub(super) fn take_rows(&mut self, rel: RelId, rows: &[Tuple]) {
        match self {
            Self::Bits(it) => it.take_rows(rel, rows),
            Self::Frog(it) => it.rows = None,
        }
    }

    /// The reference evaluator has no marks: it derives anew.
    pub(super) fn mark(&mut self) -> Option<EngineMark> {
        match self {
            Self::Bits(it) => Some(it.mark()),
            Self::Frog(_) => None,
        }
    }

    pub(super) fn rollback(&mut self, mark: Option<EngineMark>) {
        if let (Self::Bits(it), Some(mark)) = (self, mark) {
            it.rollback(mark);
        }
    }

    pub(super) fn commit(&mut self) {
        if let Self::Bits(it) = self {
            it.commit();
        }
    }

    /// Forgets all derived rows.
    pub(super) fn forget(&mut self) {
        match self {
            Self::Bits(it) => it.forget(),
            Self::Frog(it) => it.rows = None,
        }
    }

    /// # Errors
    /// Deriving rows that were read took more than a query may.
    pub(super) fn check(&self, program: &Program) -> Result<(), Exhausted> {
        match self {
            Self::Bits(it) => match it.exhausted() {
                Some((what, owner)) => Err(Exhausted::new(program, what, owner)),
                None => Ok(()),
            },
            Self::Frog(it) => it.rows.as_ref().map_or(Ok(()), |it| it.check()),
        }
    }

    #[inline]
    pub(super) fn has_run_out(&self) -> bool {
        match self {
            Self::Bits(it) => it.has_run_out(),
            Self::Frog(it) => it.rows.as_ref().is_some_and(|it| it.has_run_out()),
        }
    }

    #[inline]
    pub(super) fn contains(&mut self, basis: Basis<'_>, rel: RelId, tuple: &[i64]) -> bool {
        match self {
            Self::Bits(it) => {
                it.ensure(rel);
                it.contains(rel, tuple)
            }
            Self::Frog(it) => it.rows(basis).contains(rel, tuple),
        }
    }

    #[inline]
    pub(super) fn any(&mut self, basis: Basis<'_>, rel: RelId) -> bool {
        match self {
            Self::Bits(it) => it.any(rel),
            Self::Frog(it) => !it.rows(basis).rows(rel).is_empty(),
        }
    }

    pub(super) fn count(&mut self, basis: Basis<'_>, rel: RelId) -> u64 {
        match self {
            Self::Bits(it) => it.count(rel),
            Self::Frog(it) => it.rows(basis).rows(rel).len() as u64,
        }
    }

    /// Calls `f` with every row that matches the pattern, ascending, until it breaks.
    pub(super) fn for_each(
        &mut self,
        basis: Basis<'_>,
        rel: RelId,
        pattern: &[Option<i64>],
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) {
        let _ = match self {
            Self::Bits(it) => {
                it.ensure(rel);
                it.for_each(rel, pattern, f)
            }
            Self::Frog(it) => it.rows(basis).for_each(rel, pattern, f),
        };
    }

    /// Every relation, computed.
    pub(super) fn materialised<'w>(
        &'w mut self,
        program: &'w Program,
        basis: Basis<'_>,
    ) -> Materialised<'w> {
        match self {
            Self::Bits(it) => {
                let relations = program.relations.len();
                let _span = tracing::debug_span!("materialise", relations).entered();
                (0..relations).for_each(|rel| it.ensure(RelId(rel as u16)));
                Materialised::Bits(BitRows { program, rows: &**it })
            }
            Self::Frog(it) => Materialised::Frog(it.rows(basis)),
        }
    }

    /// Counts instructions by rule from now on, or stops: the bit evaluator only, as all that follows.
    pub(super) fn set_counting(&mut self, on: bool) {
        if let Self::Bits(it) = self {
            it.set_counting(on);
        }
    }

    pub(super) fn counts(&self) -> Vec<u64> {
        self.bits().map_or_else(Vec::new, |it| it.counts())
    }

    pub(super) fn set_logging(&mut self, on: bool) {
        if let Self::Bits(it) = self {
            it.set_logging(on);
        }
    }

    pub(super) fn log(&self) -> Vec<(RelId, Tuple)> {
        self.bits().map_or_else(Vec::new, |it| it.log())
    }

    /// The plans of all rules in words.
    pub(super) fn dump(&self) -> String {
        self.bits().map_or_else(String::new, |it| it.dump())
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bits().map_or(0, |it| it.heap_bytes())
    }

    fn bits(&self) -> Option<&dyn Evaluator> {
        match self {
            Self::Bits(it) => Some(&**it),
            Self::Frog(_) => None,
        }
    }
}

/// The reference evaluator: what is read after a change is computed anew.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    statics: Arc<Statics>,
    rows: Option<Arc<Frog>>,
}

impl Reference {
    fn rows(&mut self, basis: Basis<'_>) -> &Frog {
        self.rows.get_or_insert_with(|| {
            let handed: Vec<_> = basis.handed.all(basis.hands).collect();
            Arc::new(Frog::over(&self.statics, basis.facts, &handed))
        })
    }
}
