//! A session of facts together with everything that follows from them.
//!
//! All layers above read derived rows and write facts through [`World`]. It keeps the evaluator in
//! step with the facts: whatever is written, rolled back or committed, the rows read next are those
//! of the facts as they are now. Which evaluator answers is a matter of [`Backend`]; both must give
//! the same rows.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::bits::{BitPlan, EngineMark, Evaluator, Memo, PlanError};
use super::budget::{ACTIONS, Exhausted, Resource};
use super::call::Calls;
use super::frog::{Frog, Statics};
use super::given::{Before, Handed, HandedMark, Hands};
use super::materialised::{BitRows, Materialised};
use super::rows::{Rows, Tuple, collect, two_of_a_key};
use super::schedule::Schedule;
use super::trace::Trace;
use super::transaction::{Output, Refusal, write};
use super::watch::{RowChanges, Watch, Watches};
use crate::facts::{AttrId, Change, Domain, EntityId, FactError, GAME, Mark, Session, Value};
use crate::rules::{Event, Input, Program, RelId, Role, Was};

/// Which evaluator answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The product.
    Bits,
    /// The slow reference evaluator.
    Frog,
}

/// A program compiled for evaluation; shared by the sessions that run under it.
#[derive(Debug)]
pub struct Plan {
    program: Arc<Program>,
    bits: BitPlan,
    pub(super) schedule: Schedule,
    /// The order of reactions by the letter, for the reference evaluator.
    pub(super) letter: Schedule,
    /// What is handed to the evaluators, and the trials that batches read: merged ones, and by the letter.
    hands: Hands,
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
        let hands = Hands::of(&program);
        let trials = [&schedule, &letter].map(|it| hands.of_batches(&program, it));
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

    pub(super) fn hands(&self) -> &Hands {
        &self.hands
    }
}

/// A state of a world to return to. Marks nest like a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorldMark {
    facts: Mark,
    engine: Option<EngineMark>,
    handed: HandedMark,
}

/// Facts and what follows from them. See the module's head.
#[derive(Debug, Clone)]
pub struct World {
    pub(super) plan: Arc<Plan>,
    pub(super) facts: Session,
    pub(super) engine: Engine,
    pub(super) outputs: Vec<Output>,
    /// What ran out in a state that was taken back since.
    pub(super) limit: Option<Box<Exhausted>>,
    watches: Option<Box<Watches>>,
    /// The rows were dropped until [`World::reload`].
    unloaded: bool,
    /// Rows that are neither facts nor follow from rules.
    handed: Handed,
}

impl World {
    /// A world with no facts but the defaults of attributes of the game and of members of domains.
    pub fn new(plan: Arc<Plan>, backend: Backend) -> Self {
        let mut facts = Session::new(Arc::clone(&plan.program.schema));
        let start = facts.mark();
        for relation in &plan.program.relations {
            let Role::Input(input) = relation.role else { continue };
            let (attr, schema) = (input.attr(), Arc::clone(facts.schema()));
            let default = schema.attribute(attr).default;
            let members = schema.owners(attr).map_or(0, Domain::size) as u32;
            (0..members).map(EntityId).for_each(|it| {
                facts.set_raw(it, attr, default);
            });
            if matches!(input, Input::Game(_) | Input::GameFlag(_)) {
                facts.set_raw(GAME, attr, default);
            }
        }
        let mut engine = Engine::new(&plan, backend);
        if let Engine::Bits(bits) = &mut engine {
            bits.follow(facts.changes_since(start));
        }
        facts.commit();
        let handed = Handed::of(&plan.hands);
        Self {
            plan,
            facts,
            engine,
            outputs: Vec::new(),
            limit: None,
            watches: None,
            unloaded: false,
            handed,
        }
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.plan.program
    }

    /// Which evaluator answers.
    pub fn backend(&self) -> Backend {
        match &self.engine {
            Engine::Bits(_) => Backend::Bits,
            Engine::Frog(_) => Backend::Frog,
        }
    }

    pub fn facts(&self) -> &Session {
        &self.facts
    }

    /// Inserts or replaces the one value of an entity's attribute and returns the old one.
    ///
    /// # Errors
    /// A value of the wrong type or outside its domain is refused and nothing changes.
    pub fn insert(
        &mut self,
        entity: EntityId,
        attr: AttrId,
        value: Value,
    ) -> Result<Option<Value>, FactError> {
        self.facts.check_owner(entity, attr)?;
        let raw = self.facts.to_raw(attr, &value)?;
        let old = self.set_raw(entity, attr, Some(raw));
        Ok(old.map(|it| self.facts.to_value(attr, it)))
    }

    /// Takes a fact back and returns its value, if there was one.
    pub fn retract(&mut self, entity: EntityId, attr: AttrId) -> Option<Value> {
        let old = self.set_raw(entity, attr, None)?;
        Some(self.facts.to_value(attr, old))
    }

    /// Writes a raw value that the caller knows to be of the attribute's type; `None` retracts.
    pub fn set_raw(&mut self, entity: EntityId, attr: AttrId, new: Option<i64>) -> Option<i64> {
        let mark = self.facts.mark();
        let old = self.facts.set_raw(entity, attr, new);
        self.follow(mark);
        old
    }

    /// Writes as an effect of a reaction does: what lasts until the turn passes goes with it.
    pub(super) fn write(&mut self, entity: EntityId, attr: AttrId, new: Option<i64>) {
        let mark = self.facts.mark();
        write(&mut self.facts, &self.plan.program.expiry, entity, attr, new);
        self.follow(mark);
    }

    /// States what was so at a mark, for reactions that ask for it, until [`World::forget_before`]. An action
    /// that is played out in the middle of another one has a time before of its own.
    pub(super) fn remember(&mut self, since: Mark, rows: &Before) {
        let mark = self.facts.mark();
        for &Was { of, before } in &self.plan.program.was {
            self.facts.clear(&[before]);
            for (entity, raw) in self.facts.at(since, of) {
                self.facts.set_raw(entity, before, Some(raw));
            }
        }
        self.follow(mark);
        rows.iter().for_each(|(at, rows)| self.hand(*at, Arc::clone(rows)));
    }

    pub(super) fn forget_before(&mut self) {
        let mark = self.facts.mark();
        for it in &self.plan.program.was {
            self.facts.clear(&[it.before]);
        }
        self.follow(mark);
        self.hand_none();
    }

    /// [`World::write`] of a value that is checked.
    ///
    /// # Errors
    /// A value of the wrong type or outside its domain is refused and nothing changes.
    pub(super) fn state(
        &mut self,
        entity: EntityId,
        attr: AttrId,
        value: &Value,
    ) -> Result<(), FactError> {
        self.facts.check_owner(entity, attr)?;
        let raw = self.facts.to_raw(attr, value)?;
        self.write(entity, attr, Some(raw));
        Ok(())
    }

    /// Lets go of what lasts until an action begins.
    pub(super) fn begin_action(&mut self, trace: Option<&mut Trace>) {
        let expiry = &self.plan.program.expiry;
        if expiry.until_action.is_empty() {
            return;
        }
        let mark = self.facts.mark();
        self.facts.clear(&expiry.until_action);
        if let Some(trace) = trace {
            trace.expired = self.facts.changes_since(mark).to_vec();
        }
        self.follow(mark);
    }

    /// Creates an entity that has no facts yet: see [`Session::create`].
    pub fn create(&mut self) -> EntityId {
        let mark = self.facts.mark();
        let id = self.facts.create();
        self.follow(mark);
        id
    }

    /// Counts an entity in whose id was chosen: see [`Session::admit`].
    pub(super) fn admit(&mut self, id: EntityId) {
        let mark = self.facts.mark();
        self.facts.admit(id);
        self.follow(mark);
    }

    /// Retracts every fact of an entity.
    pub fn remove(&mut self, entity: EntityId) {
        let mark = self.facts.mark();
        self.facts.remove(entity);
        self.follow(mark);
    }

    /// Tells the evaluator what was written since a mark.
    #[inline]
    pub(super) fn follow(&mut self, mark: Mark) {
        let changes = self.facts.changes_since(mark);
        if !changes.is_empty() {
            self.handed.spoil();
        }
        match &mut self.engine {
            Engine::Bits(it) => it.follow(changes),
            Engine::Frog(_) if changes.is_empty() => {}
            Engine::Frog(it) => it.rows = None,
        }
    }

    pub fn mark(&mut self) -> WorldMark {
        let engine = match &mut self.engine {
            Engine::Bits(it) => Some(it.mark()),
            Engine::Frog(_) => None,
        };
        WorldMark { facts: self.facts.mark(), engine, handed: self.handed.mark() }
    }

    /// Restores the state of a mark.
    pub fn rollback(&mut self, mark: WorldMark) {
        if let Err(limit) = self.check() {
            self.limit = Some(Box::new(limit));
        }
        let changes = self.facts.changes_since(mark.facts);
        match &mut self.engine {
            Engine::Bits(it) => it.undo(changes),
            Engine::Frog(_) if changes.is_empty() => {}
            Engine::Frog(it) => it.rows = None,
        }
        self.facts.rollback(mark.facts);
        if let (Engine::Bits(it), Some(mark)) = (&mut self.engine, mark.engine) {
            it.rollback(mark);
        }
        self.hand_back(mark.handed);
    }

    /// Makes all writes final: earlier marks are no longer valid. What that did to watched
    /// relations is told by [`World::changes`] until the next commit.
    pub fn commit(&mut self) {
        if let Some(mut watches) = self.watches.take() {
            let rows = watches.relations().into_iter().map(|it| self.tuples(it)).collect();
            watches.advance(rows);
            self.watches = Some(watches);
        }
        self.facts.commit();
        self.handed.commit();
        if let Engine::Bits(it) = &mut self.engine {
            it.commit();
        }
    }

    /// What was read so far is true.
    ///
    /// # Errors
    /// Deriving it took more than a query may: rows were missing, here or in a state that was taken
    /// back, and what was read may be wrong. It stays so until [`World::forget_rows`]. Only rules
    /// that calculate in circles or join without end get there, so readers need not ask after each
    /// read: the code that hands an answer on does.
    pub fn check(&self) -> Result<(), Exhausted> {
        if let Some(limit) = &self.limit {
            return Err((**limit).clone());
        }
        match &self.engine {
            Engine::Bits(it) => match it.exhausted() {
                Some((what, owner)) => Err(Exhausted::new(self.program(), what, owner)),
                None => Ok(()),
            },
            Engine::Frog(it) => it.rows.as_ref().map_or(Ok(()), |it| it.check()),
        }
    }

    /// Remembers that a legal action could not be taken while many were looked at: what was read is
    /// not the whole, and [`World::check`] says so.
    pub fn note_refusal(&mut self, text: &str, why: &Refusal) {
        self.limit.get_or_insert_with(|| Box::new(Exhausted::action(text, why)));
    }

    /// Whether [`World::check`] has to tell that rows are missing. What is read from here on is of no
    /// use.
    #[inline]
    pub fn has_run_out(&self) -> bool {
        self.limit.as_ref().is_some_and(|it| it.resource != Resource::Action)
            || match &self.engine {
                Engine::Bits(it) => it.has_run_out(),
                Engine::Frog(it) => it.rows.as_ref().is_some_and(|it| it.has_run_out()),
            }
    }

    pub fn contains(&mut self, rel: RelId, tuple: &[i64]) -> bool {
        self.ready(rel);
        match &mut self.engine {
            Engine::Bits(it) => {
                it.ensure(rel);
                it.contains(rel, tuple)
            }
            Engine::Frog(_) => self.rows_as_they_are().contains(rel, tuple),
        }
    }

    /// Has the relation at least one row?
    pub fn any(&mut self, rel: RelId) -> bool {
        self.ready(rel);
        match &mut self.engine {
            Engine::Bits(it) => it.any(rel),
            Engine::Frog(it) => {
                !it.rows(&self.facts, &self.plan.hands, &self.handed).rows(rel).is_empty()
            }
        }
    }

    pub fn count(&mut self, rel: RelId) -> u64 {
        self.ready(rel);
        match &mut self.engine {
            Engine::Bits(it) => it.count(rel),
            Engine::Frog(it) => {
                it.rows(&self.facts, &self.plan.hands, &self.handed).rows(rel).len() as u64
            }
        }
    }

    /// All rows of a relation, ascending.
    pub fn tuples(&mut self, rel: RelId) -> Vec<Tuple> {
        let all = vec![None; self.plan.program.relation(rel).columns.len()];
        self.matching(rel, &all)
    }

    /// All rows of a relation that is shown whole or played out row by row, ascending. If there are
    /// more than may be, there are none, and [`World::check`] says so.
    pub fn listed(&mut self, rel: RelId) -> Vec<Tuple> {
        self.ready(rel);
        let Engine::Bits(it) = &mut self.engine else {
            let rows = self.tuples(rel);
            return self.few_enough(rel, rows);
        };
        it.ensure(rel);
        let all = vec![None; self.plan.program.relation(rel).columns.len()];
        let mut rows = Vec::new();
        let _ = it.for_each(rel, &all, &mut |tuple| {
            rows.push(tuple.iter().copied().collect());
            match rows.len() > ACTIONS {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        self.few_enough(rel, rows)
    }

    fn few_enough(&mut self, rel: RelId, rows: Vec<Tuple>) -> Vec<Tuple> {
        if rows.len() <= ACTIONS {
            return rows;
        }
        let limit = Exhausted::actions(self.program(), rel);
        self.limit.get_or_insert_with(|| Box::new(limit));
        Vec::new()
    }

    /// The first relation with a key that breaks its promise here, with two rows of one key. Statics
    /// keep theirs, or they would not have been loaded; the rest is for tests and audits to ask.
    pub fn broken_key(&mut self) -> Option<(RelId, [Tuple; 2])> {
        let program = Arc::clone(self.program());
        (0..).zip(&program.relations).find_map(|(at, relation)| {
            let rel = RelId(at);
            let derived = relation.functional && relation.role == Role::Derived;
            let rows = if derived { self.tuples(rel) } else { Vec::new() };
            two_of_a_key(&rows).map(|it| (rel, it.map(Tuple::clone)))
        })
    }

    /// The rows that match a pattern (`None` = anything), ascending.
    pub fn matching(&mut self, rel: RelId, pattern: &[Option<i64>]) -> Vec<Tuple> {
        self.ready(rel);
        match &mut self.engine {
            Engine::Bits(it) => {
                it.ensure(rel);
                let mut found = Vec::new();
                let _ = it.for_each(rel, pattern, &mut |tuple| {
                    found.push(tuple.iter().copied().collect());
                    ControlFlow::Continue(())
                });
                found
            }
            Engine::Frog(_) => collect(&self.rows_as_they_are(), rel, pattern),
        }
    }

    /// Keeps an eye on a relation from now on.
    pub fn watch(&mut self, rel: RelId) -> Watch {
        let rows = self.tuples(rel);
        self.watches.get_or_insert_default().add(rel, rows)
    }

    /// Ends a subscription.
    pub fn unwatch(&mut self, watch: Watch) {
        if let Some(watches) = &mut self.watches {
            watches.end(watch);
            if watches.is_empty() {
                self.watches = None;
            }
        }
    }

    /// The rows of watched relations that the last commit added and removed, by relation; relations
    /// that did not change are left out. What was rolled back before it is in neither.
    pub fn changes(&self) -> &[RowChanges] {
        self.watches.as_ref().map_or(&[], |it| &it.changes)
    }

    /// Every relation, computed; for proofs and audits.
    pub fn materialised(&mut self) -> Materialised<'_> {
        self.ready_all();
        self.rows_as_they_are()
    }

    /// The same, but trials only as they were last found.
    pub(super) fn rows_as_they_are(&mut self) -> Materialised<'_> {
        match &mut self.engine {
            Engine::Bits(it) => {
                let relations = self.plan.program.relations.len();
                let _span = tracing::debug_span!("materialise", relations).entered();
                for rel in 0..self.plan.program.relations.len() {
                    it.ensure(RelId(rel as u16));
                }
                Materialised::Bits(BitRows { program: &self.plan.program, rows: &**it })
            }
            Engine::Frog(it) => {
                Materialised::Frog(it.rows(&self.facts, &self.plan.hands, &self.handed))
            }
        }
    }

    /// Counts instructions by rule from now on (reactions after the rules), or stops counting.
    /// The reference evaluator counts nothing.
    pub fn count_operations(&mut self, on: bool) {
        if let Engine::Bits(it) = &mut self.engine {
            it.set_counting(on);
        }
    }

    /// Instructions run since counting began, by rule, then by reaction.
    pub fn operations(&self) -> Vec<u64> {
        match &self.engine {
            Engine::Bits(it) => it.counts(),
            Engine::Frog(_) => Vec::new(),
        }
    }

    /// Lists from now on what is derived anew of the relations that are kept, or stops.
    pub fn log_recomputation(&mut self, on: bool) {
        if let Engine::Bits(it) = &mut self.engine {
            it.set_logging(on);
        }
    }

    /// What was derived anew since listing began: the first column of a block of rows, or a whole
    /// row. (Relations that are derived on demand are not kept, and the reference evaluator keeps none.)
    pub fn recomputed(&self) -> Vec<(RelId, Tuple)> {
        match &self.engine {
            Engine::Bits(it) => it.log(),
            Engine::Frog(_) => Vec::new(),
        }
    }

    /// Forgets all derived rows: the next read derives them from scratch.
    pub fn forget_rows(&mut self) {
        self.limit = None;
        self.handed.spoil();
        match &mut self.engine {
            Engine::Bits(it) => it.forget(),
            Engine::Frog(it) => it.rows = None,
        }
    }

    /// Frees the memory of the derived rows until [`World::reload`], for a world that is not read for
    /// a while. Until then it still answers, only slowly: by the reference evaluator. No mark may be open.
    pub fn unload(&mut self) {
        if let Engine::Bits(_) = &self.engine {
            self.engine = Engine::new(&self.plan, Backend::Frog);
            self.unloaded = true;
        }
    }

    /// Undoes [`World::unload`]: rows are derived from scratch as they are read. Does nothing to a world that is loaded.
    pub fn reload(&mut self) {
        if !std::mem::take(&mut self.unloaded) {
            return;
        }
        let mut engine = Engine::new(&self.plan, Backend::Bits);
        if let Engine::Bits(bits) = &mut engine {
            let facts = self.facts.iter_raw();
            let stated = |(entity, attr, raw)| Change { entity, attr, old: None, new: Some(raw) };
            bits.follow(&facts.map(stated).collect::<Vec<Change>>());
            bits.commit();
        }
        self.engine = engine;
        self.tell_all_handed();
    }

    pub(super) fn handed(&self) -> &Handed {
        &self.handed
    }

    pub(super) fn handed_mut(&mut self) -> &mut Handed {
        &mut self.handed
    }

    /// The trials that batches read.
    pub(super) fn batch_trials(&self) -> &[u64] {
        match &self.engine {
            Engine::Bits(_) => &self.plan.trials[0],
            Engine::Frog(_) => &self.plan.trials[1],
        }
    }

    /// Has the evaluator take rows that are handed over.
    pub(super) fn take_rows(&mut self, rel: RelId, rows: &[Tuple]) {
        match &mut self.engine {
            Engine::Bits(it) => it.take_rows(rel, rows),
            Engine::Frog(it) => it.rows = None,
        }
    }

    /// The plans of all rules in words. The reference evaluator has none.
    pub fn plan_text(&self) -> String {
        match &self.engine {
            Engine::Bits(it) => it.dump(),
            Engine::Frog(_) => String::new(),
        }
    }

    /// Bytes held by the derived rows of this session, what is shared excluded.
    pub fn row_bytes(&self) -> usize {
        match &self.engine {
            Engine::Bits(it) => it.heap_bytes(),
            Engine::Frog(_) => 0,
        }
    }
}

/// The evaluator of a world, with the rows that it keeps.
#[derive(Debug)]
pub(super) enum Engine {
    Bits(Box<dyn Evaluator>),
    Frog(FrogEngine),
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
    fn new(plan: &Plan, backend: Backend) -> Self {
        match backend {
            Backend::Bits => Self::Bits(plan.bits.session()),
            Backend::Frog => Self::Frog(FrogEngine { statics: Arc::clone(&plan.frog), rows: None }),
        }
    }
}

/// The reference evaluator as a back end: what is read after a change is computed anew.
#[derive(Debug, Clone)]
pub(super) struct FrogEngine {
    statics: Arc<Statics>,
    rows: Option<Arc<Frog>>,
}

impl FrogEngine {
    fn rows(&mut self, facts: &Session, hands: &Hands, handed: &Handed) -> &Frog {
        self.rows.get_or_insert_with(|| {
            let handed: Vec<_> = handed.all(hands).collect();
            Arc::new(Frog::over(&self.statics, facts, &handed))
        })
    }
}
