//! The reference evaluator of one session: after a change everything is computed from scratch when read.
//!
//! Reactions are solved tuple at a time over its rows (`fire`).
//! Deliberately absent: how rows are computed (`frog`).

use std::sync::Arc;

use super::budget::{Exhausted, REFERENCE_STEPS, Resource};
use super::evaluator::{Basis, Evaluator};
use super::fire;
use super::frog::{Frog, Statics};
use super::metered::Metered;
use super::output::Output;
use super::rows::{Pattern, Rows, Tuple, Visit};
use super::schedule::Schedule;
use crate::facts::{Change, Ids};
use crate::rules::RelId;

#[derive(Debug, Clone)]
pub(super) struct Reference {
    statics: Arc<Statics>,
    schedule: Arc<Schedule>,
    /// The rows for the current facts, once one was read.
    rows: Option<Arc<Frog>>,
    /// The budget that ran out for rows that were dropped since.
    ran_out: Option<(Resource, usize)>,
}

impl Reference {
    pub(super) fn new(statics: Arc<Statics>, schedule: Arc<Schedule>) -> Self {
        Self { statics, schedule, rows: None, ran_out: None }
    }

    fn drop_rows(&mut self) {
        self.ran_out = self.exhausted();
        self.rows = None;
    }

    fn rows(&mut self, basis: Basis<'_>) -> &Frog {
        self.rows.get_or_insert_with(|| {
            let given: Vec<_> = basis.given_rows.all(basis.given_relations).collect();
            Arc::new(Frog::over(&self.statics, basis.facts, &given))
        })
    }
}

impl Evaluator for Reference {
    fn follow(&mut self, changes: &[Change]) {
        if !changes.is_empty() {
            self.drop_rows();
        }
    }

    fn undo(&mut self, changes: &[Change]) {
        self.follow(changes);
    }

    fn take_rows(&mut self, _rel: RelId, _rows: &[Tuple]) {
        self.drop_rows();
    }

    fn forget(&mut self) {
        (self.rows, self.ran_out) = (None, None);
    }

    fn contains(&mut self, basis: Basis<'_>, rel: RelId, tuple: &[i64]) -> bool {
        self.rows(basis).contains(rel, tuple)
    }

    fn any(&mut self, basis: Basis<'_>, rel: RelId) -> bool {
        !self.rows(basis).rows(rel).is_empty()
    }

    fn count(&mut self, basis: Basis<'_>, rel: RelId) -> u64 {
        self.rows(basis).rows(rel).len() as u64
    }

    fn for_each(&mut self, basis: Basis<'_>, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) {
        let _ = self.rows(basis).for_each(rel, pattern, f);
    }

    /// Each relation is computed when it is first read.
    fn materialised(&mut self, basis: Basis<'_>) -> &dyn Rows {
        self.rows(basis)
    }

    fn react(
        &mut self,
        basis: Basis<'_>,
        batch: usize,
        args: &[i64],
        ids: &mut Ids,
        traced: bool,
        outputs: &mut Vec<Output>,
    ) -> Result<(), Exhausted> {
        let schedule = Arc::clone(&self.schedule);
        let meter = Metered::new(self.rows(basis), REFERENCE_STEPS);
        let reactions = &schedule.batches[batch].reactions;
        outputs.extend(fire::outputs(&meter, reactions, args, ids, traced));
        meter.check()
    }

    fn exhausted(&self) -> Option<(Resource, usize)> {
        self.ran_out.or_else(|| self.rows.as_ref()?.exhausted())
    }

    fn boxed_clone(&self) -> Box<dyn Evaluator> {
        Box::new(self.clone())
    }
}
