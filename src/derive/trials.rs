//! Gives rows to the evaluator of a world: those from before an action, and those of trials, which are
//! played out here.

use std::sync::Arc;

use super::given::{Before, GivenMark, SharedRows};
use super::world::World;
use crate::facts::{Ids, Mark};
use crate::rules::{Event, Given, RelId, Role, TrialRelation};

impl World {
    /// Runs the trials that a relation depends on, unless their rows are up to date.
    #[inline]
    pub(super) fn ready(&mut self, rel: RelId) {
        self.run_stale(self.plan().given_relations().trials(rel));
    }

    /// Runs the trials that a batch depends on, unless their rows are up to date.
    #[inline]
    pub(super) fn ready_batch(&mut self, batch: usize) {
        self.run_stale(self.batch(batch).trials);
    }

    /// Runs every trial whose rows are out of date.
    pub(super) fn ready_all(&mut self) {
        self.run_stale(u64::MAX);
    }

    /// Runs those of these trials, one bit each, whose rows are out of date.
    #[inline]
    fn run_stale(&mut self, trials: u64) {
        if trials & !self.given_rows.fresh != 0 {
            self.run_trials(trials);
        }
    }

    #[inline(never)]
    fn run_trials(&mut self, trials: u64) {
        for at in 0..self.program().trials.len() {
            if trials >> at & 1 == 1 && self.given_rows.fresh >> at & 1 == 0 {
                self.run_trial(at);
            }
        }
    }

    /// Plays out every candidate of a trial, and gives those that pass.
    fn run_trial(&mut self, at: usize) {
        let program = Arc::clone(self.program());
        let trial = &program.trials[at];
        let action = program.action(trial.action);
        let candidates = action.candidates();
        let mut rows = self.listed(trial.from.unwrap_or(candidates));
        if trial.from.is_some() {
            rows.retain(|it| self.contains(candidates, it));
        }
        let before = self.before(Event::Raised(trial.event));
        rows.retain(|it| !self.has_run_out() && self.survives(trial, it, &before));
        let number = self.plan().given_relations().number(trial.rel).unwrap_or_default();
        self.give(number, Arc::new(rows));
        // Incomplete rows are found again at the next read.
        if !self.has_run_out() {
            self.given_rows.fresh |= 1 << at;
        }
    }

    /// Whether a candidate passes: its action can be played out, and the trial's condition holds after that.
    fn survives(&mut self, trial: &TrialRelation, args: &[i64], before: &Before) -> bool {
        let event = Event::Raised(trial.event);
        let (mark, since) = (self.mark(), self.facts().mark());
        let mut holds = false;
        // If the action cannot be taken, the condition is not evaluated.
        let _ = self.play_out(trial.action, args, &mut |world| {
            holds = world.condition_holds(event, args, since, before);
            false
        });
        self.rollback(mark);
        holds
    }

    /// Whether the condition of a trial holds.
    fn condition_holds(
        &mut self,
        event: Event,
        args: &[i64],
        since: Mark,
        before: &Before,
    ) -> bool {
        self.batches(event).any(|batch| {
            if self.batch(batch).looks_back {
                self.remember(since, before);
            }
            let outputs = self.solve(batch, args, &mut Ids::default(), false);
            let holds = !outputs.is_empty();
            self.give_back(outputs);
            holds
        })
    }

    /// The current rows of relations that an action or event may read by `was`.
    pub(super) fn before(&mut self, event: Event) -> Before {
        if !self.plan().given_relations().looks_back() {
            return Before::new();
        }
        let plan = Arc::clone(self.plan());
        let read = plan.given_relations().read_by(event).iter();
        read.map(|&(at, rel)| (at, Arc::new(self.tuples(rel)))).collect()
    }

    /// Gives rows, by the number of their relation.
    pub(super) fn give(&mut self, at: usize, rows: SharedRows) {
        if self.given_rows.rows[at] == rows {
            return;
        }
        let old = std::mem::replace(&mut self.given_rows.rows[at], rows);
        self.given_rows.journal.push((at, old));
        self.pass_on_given(at);
    }

    /// Restores the given rows of a mark.
    pub(super) fn restore_given(&mut self, mark: GivenMark) {
        while self.given_rows.journal.len() > mark.journal {
            let Some((at, old)) = self.given_rows.journal.pop() else { break };
            self.given_rows.rows[at] = old;
            self.pass_on_given(at);
        }
        self.given_rows.fresh = mark.fresh;
    }

    /// Drops the rows from before the action, which are no longer read.
    pub(super) fn drop_rows_from_before(&mut self) {
        if !self.plan().given_relations().looks_back() {
            return;
        }
        let plan = Arc::clone(self.plan());
        for (at, &rel) in plan.given_relations().rels.iter().enumerate() {
            if let Role::Given(Given::Before(_)) = plan.program().relation(rel).role {
                self.give(at, SharedRows::default());
            }
        }
    }

    /// Passes the given rows of a relation to the evaluator.
    pub(super) fn pass_on_given(&mut self, at: usize) {
        let rel = self.plan().given_relations().rels[at];
        let rows = Arc::clone(&self.given_rows.rows[at]);
        self.evaluator.take_rows(rel, &rows);
    }

    /// Passes all given rows to the evaluator.
    pub(super) fn pass_on_all_given(&mut self) {
        (0..self.plan().given_relations().rels.len()).for_each(|at| self.pass_on_given(at));
    }
}
