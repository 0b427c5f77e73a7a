//! Transactions: runs the reactions to an action or an event, stage by stage and batch by batch.
//!
//! A batch is solved by the evaluator; here its effects are applied, and the events that it raised are
//! handled, one after the other, before the next batch begins. Actions of one batch that only writes facts take a
//! shorter path (`World::fire`). Deliberately absent: which batches there are (`schedule`).

use std::sync::Arc;

use super::call::{Call, CallState};
use super::given::Before;
use super::output::{Flow, Other, Output, Raised};
use super::refusal::{DEPTH, EVENTS, Refusal};
use super::rows::Tuple;
use super::trace::{Done, Step, Trace};
use super::world::World;
use crate::facts::{AttrId, EntityId, FactError, Ids, Mark, Session, Value};
use crate::rules::{Event, EventId, RelId};

pub(super) struct Transaction<'w, 't> {
    pub(super) world: &'w mut World,
    pub(super) trace: Option<&'t mut Trace>,
    /// The events under way, outermost first, with the reactions that raised them.
    under_way: Vec<(EventId, usize)>,
    /// Number of raised events handled so far, those under way included.
    events: usize,
    /// The number of the event that is being handled, see [`Step::number`].
    number: usize,
    /// Whether a rewind was requested: then nothing runs after the batch that requested it.
    rewinds: bool,
    /// Whether the evaluator has been given the facts and rows from before the action.
    looks_back: bool,
    /// Rows from before the action, which reactions may read.
    before: Before,
    fresh: Fresh,
    /// Where the world is looked at, if the action is played out; `None` once that was done.
    cut: Option<Cut<'t>>,
}

/// The end of the stages of an action that are played out (`until STAGE`), where the world is looked at.
pub(super) struct Cut<'t> {
    /// The first batch after them. It may be one past the action's last batch.
    pub(super) batch: usize,
    /// Looks at the world at the cut, given the number of steps traced so far; or at the action's end if that comes
    /// first, given `None`. Returns whether to run the rest.
    pub(super) looks: &'t mut dyn FnMut(&mut World, Option<usize>) -> bool,
}

/// The ids for the entities that a transaction creates: none that was in use at any moment of it.
struct Fresh {
    /// The mark where the transaction began.
    since: Mark,
    /// Computed when the first one is needed.
    ids: Option<Ids>,
}

impl Fresh {
    fn ids(&mut self, world: &World) -> &mut Ids {
        let ids = self.ids.get_or_insert_with(|| world.facts().ids());
        ids.follow(world.facts(), self.since);
        ids
    }
}

/// The state of a transaction for the code that it calls.
struct Called<'w> {
    world: &'w mut World,
    fresh: &'w mut Fresh,
}

impl CallState for Called<'_> {
    fn facts(&self) -> &Session {
        self.world.facts()
    }

    fn tuples(&mut self, rel: RelId) -> Vec<Tuple> {
        self.world.tuples(rel)
    }

    fn set(&mut self, entity: EntityId, attr: AttrId, value: &Value) -> Result<(), FactError> {
        self.world.state(entity, attr, value)
    }

    fn retract(&mut self, entity: EntityId, attr: AttrId) {
        self.world.write(entity, attr, None);
    }

    fn remove(&mut self, entity: EntityId) {
        self.world.remove(entity);
    }

    fn spawn(&mut self) -> Option<EntityId> {
        let entity = self.fresh.ids(self.world).give()?;
        self.world.advance_counter_past(entity);
        Some(entity)
    }
}

impl<'w, 't> Transaction<'w, 't> {
    /// A transaction that began at a mark.
    pub(super) fn new(
        world: &'w mut World,
        since: Mark,
        before: Before,
        trace: Option<&'t mut Trace>,
        cut: Option<Cut<'t>>,
    ) -> Self {
        let fresh = Fresh { since, ids: None };
        Self {
            world,
            trace,
            under_way: Vec::new(),
            events: 0,
            number: 0,
            rewinds: false,
            looks_back: false,
            before,
            fresh,
            cut,
        }
    }

    /// Calls [`Cut::looks`], unless that was done. Returns whether to run the rest.
    pub(super) fn end_trial(&mut self, is_at_cut: bool) -> bool {
        let steps = is_at_cut.then(|| self.trace.as_ref().map_or(0, |it| it.steps.len()));
        self.cut.take().is_none_or(|it| (it.looks)(self.world, steps))
    }

    /// Runs the batches of an action or event.
    pub(super) fn run(&mut self, event: Event, args: &[i64]) -> Result<(), Refusal> {
        let mut args = Tuple::from_slice(args);
        let number = self.events;
        let batches = self.world.batches(event);
        for batch in batches.clone() {
            if self.is_cut_before(batch) && !self.end_trial(true) {
                break;
            }
            let outputs = self.solve(batch, &args)?;
            self.number = number;
            let mut flow = Flow::default();
            let applied = outputs.iter().try_for_each(|it| self.apply(event, &args, it, &mut flow));
            self.world.give_back(outputs);
            applied?;
            for raised in flow.raised {
                if !self.rewinds {
                    self.handle(raised)?;
                }
            }
            if flow.stop || self.rewinds {
                break;
            }
            if let Some(passed) = flow.pass {
                args = passed;
            }
        }
        // If no reaction of the later stages can ever fire, no batch comes after the cut.
        if self.is_cut_before(batches.end) && !self.rewinds {
            self.end_trial(true);
        }
        Ok(())
    }

    /// The outputs of a batch on the current facts.
    fn solve(&mut self, batch: usize, args: &[i64]) -> Result<Vec<Output>, Refusal> {
        if !self.looks_back && self.world.batch(batch).looks_back {
            self.looks_back = true;
            self.world.remember(self.fresh.since, &self.before);
        }
        let mut none = Ids::default();
        let ids = match self.world.batch(batch).spawns {
            true => self.fresh.ids(self.world),
            false => &mut none,
        };
        let outputs = self.world.solve(batch, args, ids, self.trace.is_some());
        if self.world.has_run_out()
            && let Err(limit) = self.world.check()
        {
            self.world.give_back(outputs);
            return Err(Refusal::Limit(Box::new(limit)));
        }
        Ok(outputs)
    }

    /// Whether the cut is before this batch of the action. While an event is handled it never is, though the event's
    /// first batch may have the number of the cut, which may be one past the action's last batch.
    fn is_cut_before(&self, batch: usize) -> bool {
        self.under_way.is_empty() && self.cut.as_ref().is_some_and(|it| it.batch == batch)
    }

    fn handle(&mut self, raised: Raised) -> Result<(), Refusal> {
        let Raised { event, args, by } = raised;
        self.events += 1;
        if self.events > EVENTS {
            return Err(Refusal::Events { place: self.place(by) });
        }
        self.under_way.push((event, by));
        if self.under_way.len() > DEPTH {
            return Err(Refusal::Cycle { cycle: self.cycle() });
        }
        self.run(Event::Raised(event), &args)?;
        self.under_way.pop();
        Ok(())
    }

    fn place(&self, reaction: usize) -> String {
        let program = self.world.program();
        program.place(program.reactions[reaction].span)
    }

    /// The innermost events, back to where they begin to repeat.
    fn cycle(&self) -> Vec<String> {
        let Some((last, before)) = self.under_way.split_last() else { return Vec::new() };
        let start = before.iter().rposition(|it| it == last).unwrap_or_default();
        let name = |&(event, by): &(EventId, usize)| {
            format!("{} ({})", self.world.program().event(event).name, self.place(by))
        };
        self.under_way[start..].iter().map(name).collect()
    }

    fn apply(
        &mut self,
        event: Event,
        args: &Tuple,
        output: &Output,
        flow: &mut Flow,
    ) -> Result<(), Refusal> {
        let since = self.world.facts().mark();
        match output {
            Output::Write { attr, entity, value } => {
                self.world.write(EntityId(*entity as u32), *attr, *value);
            }
            Output::Remove { entity } => self.world.remove(EntityId(*entity as u32)),
            Output::Other(other) => self.apply_other(event, args, other, flow)?,
        }
        if let Some(step) = self.trace.as_mut().and_then(|it| it.steps.last_mut()) {
            let changes = self.world.facts().changes_since(since);
            step.done.extend(changes.iter().copied().map(Done::Changed));
        }
        Ok(())
    }

    fn apply_other(
        &mut self,
        event: Event,
        args: &Tuple,
        other: &Other,
        flow: &mut Flow,
    ) -> Result<(), Refusal> {
        let done = match other {
            Other::Solution { reaction, values } => {
                self.begin_step(event, args, *reaction, values);
                return Ok(());
            }
            Other::Spawn { entity } => self.spawn(EntityId(*entity as u32))?,
            Other::Forget { preset, of } => {
                let program = Arc::clone(self.world.program());
                for (entity, attr, raw) in program.forgotten(*preset, *of, self.world.facts()) {
                    self.world.write(entity, attr, raw);
                }
                return Ok(());
            }
            Other::Inherit { to, from } => {
                let (to, from) = (EntityId(*to as u32), EntityId(*from as u32));
                let program = Arc::clone(self.world.program());
                for (attr, raw) in program.inherited(to, from, self.world.facts()) {
                    self.world.write(to, attr, Some(raw));
                }
                return Ok(());
            }
            Other::Raise { reaction, event, args } => {
                let (event, args) = (*event, args.clone());
                flow.raised.push_back(Raised { event, args: args.clone(), by: *reaction });
                Done::Raised { event, args }
            }
            Other::Stop => {
                flow.stop = true;
                Done::Stopped
            }
            Other::Pass { args } => {
                flow.pass = Some(args.clone());
                Done::Passed { args: args.clone() }
            }
            Other::Veto { said } => {
                self.done(Done::Vetoed { said: said.clone() });
                return Err(Refusal::Veto { said: said.clone() });
            }
            Other::Emit { event, args } => Done::Emitted { event: *event, args: args.clone() },
            Other::Note { said } => Done::Noted { said: said.clone() },
            Other::Rewind { turns } => {
                self.rewinds = true;
                Done::Rewound { turns: *turns }
            }
            Other::Call { reaction, effect, args: values } => {
                let call = Call { event, args, by: *reaction, effect: *effect, values };
                let plan = Arc::clone(self.world.plan());
                let mut state = Called { world: self.world, fresh: &mut self.fresh };
                let done = call.run(plan.program(), plan.calls(), &mut state, flow);
                if let Err(Refusal::Veto { said }) = &done {
                    self.done(Done::Vetoed { said: said.clone() });
                }
                done?.into_iter().for_each(|it| self.done(it));
                return Ok(());
            }
        };
        self.done(done);
        Ok(())
    }

    /// Adds a step to the trace: a solution of a reaction.
    fn begin_step(&mut self, event: Event, args: &Tuple, reaction: usize, values: &Tuple) {
        let (depth, number) = (self.under_way.len(), self.number as u32);
        let Some(trace) = &mut self.trace else { return };
        let (args, values) = (args.clone(), values.clone());
        trace.steps.push(Step { event, args, depth, number, reaction, values, done: Vec::new() });
    }

    fn spawn(&mut self, id: EntityId) -> Result<Done, Refusal> {
        let facts = self.world.facts();
        if facts.check_entity(id).is_err() {
            return Err(Refusal::Entities { cap: facts.schema().entity_cap() });
        }
        self.world.advance_counter_past(id);
        Ok(Done::Spawned(id))
    }

    /// Adds to the last step of the trace.
    fn done(&mut self, done: Done) {
        if let Some(step) = self.trace.as_mut().and_then(|it| it.steps.last_mut()) {
            step.done.push(done);
        }
    }
}
