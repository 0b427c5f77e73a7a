//! Taking actions and raising events in a world: to their end, or up to the stage that decides a trial.
//!
//! An action whose reactions are one batch that only writes facts needs no transaction; any other runs as one.
//! Deliberately absent: what a batch does (`bits`, `reference`), and applying it (`transaction`).

use std::ops::Range;

use super::given::Before;
use super::output::Output;
use super::refusal::Refusal;
use super::schedule::{Batch, Schedule};
use super::trace::Trace;
use super::transaction::{Cut, Transaction};
use super::world::{World, WorldMark, write};
use crate::facts::{EntityId, Ids, Mark};
use crate::rules::{ActionId, Event, EventId};

/// The beginning of a transaction.
struct Begun {
    /// What a refusal goes back to; `None` where facts alone have to be taken back.
    mark: Option<WorldMark>,
    since: Mark,
    /// Rows that its reactions read as they are now.
    before: Before,
}

impl World {
    /// Takes an action: its reactions run, stage by stage. Its legality is not checked.
    ///
    /// # Errors
    /// Why the action fails. Nothing has changed.
    pub fn fire(&mut self, action: ActionId, args: &[i64]) -> Result<(), Refusal> {
        let event = Event::Action(action);
        let args = &*self.program().action(action).whole(args);
        let batches = self.batches(event);
        if batches.len() == 1 && self.batch(batches.start).plain {
            self.begin_action(None);
            self.fire_plain(batches.start, args);
            return Ok(());
        }
        self.transact(event, args, None, None)
    }

    /// Plays an action out: takes it up to the stage that the action declares (`until STAGE`), or to its end, and
    /// calls `looks` on the world there. `looks` returns whether to carry out the rest, too.
    ///
    /// # Errors
    /// As [`World::fire`], even if the refusal comes after the call of `looks`.
    pub fn play_out(
        &mut self,
        action: ActionId,
        args: &[i64],
        looks: &mut dyn FnMut(&mut World) -> bool,
    ) -> Result<(), Refusal> {
        let batch = self.schedule().cut(action);
        if batch == usize::MAX {
            self.fire(action, args)?;
            looks(self);
            return Ok(());
        }
        let args = &*self.program().action(action).whole(args);
        let cut = Cut { batch, looks: &mut |world, _| looks(world) };
        self.transact(Event::Action(action), args, None, Some(cut))
    }

    /// Takes an action and returns a trace, up to a refusal if there is one; if refused, nothing has changed. Calls
    /// `looks` at the end of the stages that are played out, with the number of steps so far; with `None` if the action
    /// ends there.
    pub fn play_out_traced(
        &mut self,
        action: ActionId,
        args: &[i64],
        looks: &mut dyn FnMut(&mut World, Option<usize>),
    ) -> (Trace, Result<(), Refusal>) {
        let mut trace = Trace::default();
        let args = &*self.program().action(action).whole(args);
        let mut look = |world: &mut World, steps: Option<usize>| {
            looks(world, steps);
            true
        };
        let cut = Cut { batch: self.schedule().cut(action), looks: &mut look };
        let done = self.transact(Event::Action(action), args, Some(&mut trace), Some(cut));
        (trace, done)
    }

    /// Takes an action and returns a trace.
    ///
    /// # Errors
    /// As [`World::fire`].
    pub fn fire_traced(&mut self, action: ActionId, args: &[i64]) -> Result<Trace, Refusal> {
        let mut trace = Trace::default();
        let args = &*self.program().action(action).whole(args);
        self.transact(Event::Action(action), args, Some(&mut trace), None)?;
        Ok(trace)
    }

    /// Raises an event from outside of reactions, and returns a trace.
    ///
    /// # Errors
    /// As [`World::fire`].
    pub fn raise(&mut self, event: EventId, args: &[i64]) -> Result<Trace, Refusal> {
        let mut trace = Trace::default();
        self.transact(Event::Raised(event), args, Some(&mut trace), None)?;
        Ok(trace)
    }

    /// Changes facts and raises an event about that, as one transaction: by `was`, reactions ask what there was before.
    ///
    /// # Errors
    /// As [`World::fire`].
    pub fn raise_after(
        &mut self,
        change: &mut dyn FnMut(&mut Self),
        event: EventId,
        args: &[i64],
    ) -> Result<(), Refusal> {
        let event = Event::Raised(event);
        let before = self.before(event);
        let begun = Begun { mark: Some(self.mark()), since: self.facts.mark(), before };
        change(self);
        self.carry_out(event, args, begun, None, None)
    }

    /// Runs an event to its end, or up to the cut, as a transaction: if it is refused, nothing has changed.
    fn transact<'t>(
        &mut self,
        event: Event,
        args: &[i64],
        mut trace: Option<&'t mut Trace>,
        cut: Option<Cut<'t>>,
    ) -> Result<(), Refusal> {
        let schedule = self.schedule();
        let can_fail = schedule.batches[schedule.of(event)].iter().any(|it| !it.plain);
        let before = self.before(event);
        let mark = can_fail.then(|| self.mark());
        let begun = Begun { mark, since: self.facts.mark(), before };
        if let Event::Action(_) = event {
            self.begin_action(trace.as_deref_mut());
        }
        self.carry_out(event, args, begun, trace, cut)
    }

    /// Runs the batches of a transaction that has begun.
    fn carry_out<'t>(
        &mut self,
        event: Event,
        args: &[i64],
        Begun { mark, since, before }: Begun,
        trace: Option<&'t mut Trace>,
        cut: Option<Cut<'t>>,
    ) -> Result<(), Refusal> {
        let mut transaction = Transaction::new(self, since, before, trace, cut);
        let done = transaction.run(event, args);
        if done.is_ok() {
            transaction.end_trial(false);
            self.forget_before();
        }
        match (&done, mark) {
            (Err(_), Some(mark)) => self.rollback(mark),
            // Plain batches cannot refuse, but the budget may have run out.
            (Err(_), None) => self.take_back(since),
            (Ok(()), _) => {}
        }
        done
    }

    /// Writes the facts as they were at a mark, where the evaluator was not marked.
    fn take_back(&mut self, since: Mark) {
        let changes = self.facts.changes_since(since).to_vec();
        for change in changes.iter().rev() {
            self.set_raw(change.entity, change.attr, change.old);
        }
    }

    /// Runs an action whose reactions are one batch that only writes facts.
    fn fire_plain(&mut self, batch: usize, args: &[i64]) {
        let outputs = self.solve(batch, args, &mut Ids::default(), false);
        let mark = self.facts.mark();
        for output in &outputs {
            match output {
                Output::Write { attr, entity, value } => {
                    let expiry = &self.plan.program().expiry;
                    write(&mut self.facts, expiry, EntityId(*entity as u32), *attr, *value);
                }
                Output::Remove { entity } => self.facts.remove(EntityId(*entity as u32)),
                // A plain batch has no other outputs.
                Output::Other(_) => {}
            }
        }
        self.follow(mark);
        self.give_back(outputs);
    }

    fn schedule(&self) -> &Schedule {
        self.plan.schedule_of(self.backend())
    }

    pub(super) fn batches(&self, event: Event) -> Range<usize> {
        self.schedule().of(event)
    }

    pub(super) fn batch(&self, batch: usize) -> &Batch {
        &self.schedule().batches[batch]
    }

    /// The outputs of a batch on the current facts. Entities that it creates have these ids.
    pub(super) fn solve(
        &mut self,
        batch: usize,
        args: &[i64],
        ids: &mut Ids,
        traced: bool,
    ) -> Vec<Output> {
        self.ready_batch(batch);
        let mut outputs = std::mem::take(&mut self.outputs);
        let (evaluator, basis) = self.parts();
        let done = evaluator.react(basis, batch, args, ids, traced, &mut outputs);
        if let Err(limit) = done {
            self.limit.get_or_insert_with(|| Box::new(limit));
        }
        outputs
    }

    /// Takes the list of outputs back once they are applied, to reuse its memory for the next batch.
    pub(super) fn give_back(&mut self, mut outputs: Vec<Output>) {
        outputs.clear();
        if outputs.capacity() > self.outputs.capacity() {
            self.outputs = outputs;
        }
    }
}
