//! A program compiled for evaluation, by either evaluator.

use std::sync::Arc;

use super::bits::{BitPlan, Memo, PlanError};
use super::call::Calls;
use super::evaluator::{Backend, Evaluator};
use super::frog::Statics;
use super::given::GivenRelations;
use super::reference::Reference;
use super::schedule::Schedule;
use crate::rules::{Event, Program};

/// A program compiled for evaluation; shared by the sessions that run under it.
#[derive(Debug)]
pub struct Plan {
    program: Arc<Program>,
    bits: BitPlan,
    pub(super) schedule: Schedule,
    /// The order of reactions by the letter, for the reference evaluator.
    letter: Arc<Schedule>,
    /// What is handed to the evaluators, and the trials that batches read: merged ones, and by the letter.
    hands: GivenRelations,
    trials: [Vec<u64>; 2],
    /// The reference evaluator, which plans and computes its statics when it is first asked for rows.
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

    /// As [`Plan::compile`], with rows of statics from programs that were compiled with the same
    /// memo before.
    ///
    /// # Errors
    /// As [`Plan::compile`].
    pub fn compile_sharing(program: Arc<Program>, memo: &Memo) -> Result<Self, PlanError> {
        Self::compile_as(program, 0, memo)
    }

    /// As [`Plan::compile`], with rows of at least so many members (64, 128, 256): for tests and
    /// measurements of the wider rows.
    ///
    /// # Errors
    /// As [`Plan::compile`]; also a width above 256.
    pub fn compile_wide(program: Arc<Program>, width: usize) -> Result<Self, PlanError> {
        Self::compile_as(program, width, &Memo::default())
    }

    fn compile_as(program: Arc<Program>, width: usize, memo: &Memo) -> Result<Self, PlanError> {
        let (relations, rules) = (program.relations.len(), program.rules.len());
        let _span = tracing::debug_span!("plan", relations, rules).entered();
        let (schedule, letter) = (Schedule::merged(&program), Schedule::by_the_letter(&program));
        let bits = BitPlan::compile(&program, &schedule, width, memo)?;
        let frog = Arc::new(Statics::later(&program));
        let hands = GivenRelations::of(&program);
        let trials = [&schedule, &letter].map(|it| hands.of_batches(&program, it));
        let letter = Arc::new(letter);
        Ok(Self { program, bits, schedule, letter, hands, trials, frog, calls: None })
    }

    /// The same, with code for what reactions call.
    pub fn with_calls(self, calls: Arc<dyn Calls>) -> Self {
        Self { calls: Some(calls), ..self }
    }

    pub(super) fn calls(&self) -> Option<&Arc<dyn Calls>> {
        self.calls.as_ref()
    }

    /// Makes machine code of the rules now, and not only when a session has been busy for long.
    /// False where there is none: a processor that is not known, or the feature `native` is off.
    pub fn make_native(&self) -> bool {
        self.bits.make_native()
    }

    /// Bytes that the program takes in memory, with what it may share with others: an estimate.
    pub fn heap_bytes(&self) -> usize {
        // The text itself is shared; its tree is some times as large.
        let text: usize = self.program.sources.iter().map(|it| it.text.len()).sum();
        self.bits.heap_bytes() + 4 * text
    }

    /// How many batches of reactions each action takes.
    pub fn batches(&self) -> Vec<usize> {
        let actions = self.program.actions.iter();
        actions.map(|it| self.schedule.of(Event::Action(it.id)).len()).collect()
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub(super) fn given_relations(&self) -> &GivenRelations {
        &self.hands
    }

    /// An evaluator for a new session, which has no facts yet.
    pub(super) fn evaluator(&self, backend: Backend) -> Box<dyn Evaluator> {
        match backend {
            Backend::Bits => self.bits.session(),
            Backend::Frog => {
                Box::new(Reference::new(Arc::clone(&self.frog), Arc::clone(&self.letter)))
            }
        }
    }

    /// How an evaluator runs reactions. They agree on what reactions do, not on how many batches that takes.
    pub(super) fn schedule_of(&self, backend: Backend) -> &Schedule {
        match backend {
            Backend::Bits => &self.schedule,
            Backend::Frog => &self.letter,
        }
    }

    /// The trials that each batch of such a schedule reads.
    pub(super) fn trials_of(&self, backend: Backend) -> &[u64] {
        match backend {
            Backend::Bits => &self.trials[0],
            Backend::Frog => &self.trials[1],
        }
    }
}
