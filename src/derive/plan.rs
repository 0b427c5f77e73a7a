//! A program compiled for evaluation, by either evaluator.

use std::sync::Arc;

use super::bits::{self, BitPlan, Memo, PlanError};
use super::call::Calls;
use super::evaluator::{Backend, Evaluator};
use super::frog::Statics;
use super::given::GivenRelations;
use super::reference::Reference;
use super::schedule::Schedule;
use crate::rules::{Dependencies, Event, Program};

/// A program compiled for evaluation; shared by the sessions that run under it.
#[derive(Debug)]
pub struct Plan {
    program: Arc<Program>,
    bits: Arc<dyn BitPlan>,
    /// The merged schedule of reactions, for the bit evaluator.
    pub(super) schedule: Schedule,
    /// The unmerged schedule, for the reference evaluator.
    unmerged: Arc<Schedule>,
    given_relations: GivenRelations,
    /// The plans and statics of the reference evaluator, made on first use.
    frog: Arc<Statics>,
    /// The code that reactions call.
    calls: Option<Arc<dyn Calls>>,
}

impl Plan {
    /// # Errors
    /// A rule that the bit evaluator cannot run, with its place.
    pub fn compile(program: Arc<Program>) -> Result<Self, PlanError> {
        Self::compile_sharing(program, &Memo::default())
    }

    /// As [`Plan::compile`], reusing rows of statics from programs that were compiled with the same memo.
    ///
    /// # Errors
    /// As [`Plan::compile`].
    pub fn compile_sharing(program: Arc<Program>, memo: &Memo) -> Result<Self, PlanError> {
        Self::compile_wide(program, 0, memo)
    }

    /// As [`Plan::compile_sharing`], with rows of at least `width` members (64, 128, 256), for tests and measurements
    /// of wider rows.
    ///
    /// # Errors
    /// As [`Plan::compile`]; also a width above 256.
    pub fn compile_wide(
        program: Arc<Program>,
        width: usize,
        memo: &Memo,
    ) -> Result<Self, PlanError> {
        let (relations, rules) = (program.relations.len(), program.rules.len());
        let _span = tracing::debug_span!("plan", relations, rules).entered();
        let depends = Dependencies::of(&program);
        let given_relations = GivenRelations::of(&program);
        let schedule = Schedule::merged(&program, &given_relations, &depends);
        let unmerged = Arc::new(Schedule::unmerged(&program, &given_relations, &depends));
        let bits = bits::compile(&program, &schedule, &depends, width, memo)?;
        let frog = Arc::new(Statics::later(&program));
        Ok(Self { program, bits, schedule, unmerged, given_relations, frog, calls: None })
    }

    /// The same, with the code that reactions call.
    pub fn with_calls(self, calls: Arc<dyn Calls>) -> Self {
        Self { calls: Some(calls), ..self }
    }

    pub(super) fn calls(&self) -> Option<&Arc<dyn Calls>> {
        self.calls.as_ref()
    }

    /// Makes machine code for the rules now, rather than when a session has set many marks. False if that is not
    /// possible: the processor is not supported, or the feature `native` is off.
    pub fn make_native(&self) -> bool {
        self.bits.make_native()
    }

    /// Estimated bytes of the program in memory, including parts that it may share with others.
    pub fn heap_bytes(&self) -> usize {
        // The text itself is shared; its tree is several times as large.
        let text: usize = self.program.sources.iter().map(|it| it.text.len()).sum();
        self.bits.heap_bytes() + 4 * text
    }

    /// Number of batches of reactions of each action, under the bit evaluator.
    pub fn batches(&self) -> Vec<usize> {
        let actions = self.program.actions.iter();
        actions.map(|it| self.schedule.of(Event::Action(it.id)).len()).collect()
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub(super) fn given_relations(&self) -> &GivenRelations {
        &self.given_relations
    }

    /// An evaluator for a new session, which has no facts yet.
    pub(super) fn evaluator(&self, backend: Backend) -> Box<dyn Evaluator> {
        match backend {
            Backend::Bits => Arc::clone(&self.bits).session(),
            Backend::Frog => {
                Box::new(Reference::new(Arc::clone(&self.frog), Arc::clone(&self.unmerged)))
            }
        }
    }

    /// The schedule of reactions for an evaluator. Evaluators agree on the effects of reactions, not on the
    /// number of batches.
    pub(super) fn schedule_of(&self, backend: Backend) -> &Schedule {
        match backend {
            Backend::Bits => &self.schedule,
            Backend::Frog => &self.unmerged,
        }
    }
}
