//! A session of facts together with everything that follows from them.
//!
//! All layers above read derived rows and write facts through [`World`]. It keeps the evaluator in step with
//! the facts: after any write, rollback or commit, the rows read next are those of the current facts.
//! [`Backend`] selects the evaluator; both must give the same rows.

use std::ops::ControlFlow;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::budget::{ACTIONS, Exhausted, Resource};
use super::evaluator::{Backend, Basis, Evaluator, EvaluatorMark};
use super::given::{Before, GivenMark, GivenRows};
use super::output::Output;
use super::plan::Plan;
use super::refusal::Refusal;
use super::rows::{Pattern, Rows, Tuple, Visit, two_of_a_key};
use super::trace::Trace;
use super::watch::{RowChanges, Watch, Watches};
use crate::facts::{AttrId, Change, Domain, EntityId, FactError, GAME, Mark, Session, Value};
use crate::rules::{Expiry, Input, Program, RelId, Role, Was};

/// A state of a world to return to, once at most. Marks nest like a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorldMark {
    facts: Mark,
    evaluator: EvaluatorMark,
    given_rows: GivenMark,
}

/// Facts and what follows from them.
#[derive(Debug, Clone)]
pub struct World {
    pub(super) plan: Arc<Plan>,
    pub(super) facts: Session,
    pub(super) evaluator: Box<dyn Evaluator>,
    backend: Backend,
    pub(super) outputs: Vec<Output>,
    /// What ran out beside what the evaluator reports: in a state that was rolled back since, or while rows were listed or
    /// actions examined.
    pub(super) limit: Option<Box<Exhausted>>,
    watches: Option<Box<Watches>>,
    /// Whether the rows were dropped until [`World::reload`].
    unloaded: bool,
    /// Rows that are neither facts nor follow from rules.
    pub(super) given_rows: GivenRows,
}

impl World {
    /// A world with no facts but the defaults of attributes of the game and of members of domains.
    pub fn new(plan: Arc<Plan>, backend: Backend) -> Self {
        let mut facts = Session::new(Arc::clone(&plan.program().schema));
        let start = facts.mark();
        for relation in &plan.program().relations {
            let Role::Input(input) = relation.role else { continue };
            let (attr, schema) = (input.attr(), Arc::clone(facts.schema()));
            let default = schema.attribute(attr).default;
            let members = schema.owners(attr).map_or(0, Domain::size) as u32;
            for member in (0..members).map(EntityId) {
                facts.set_raw(member, attr, default);
            }
            if matches!(input, Input::Game(_) | Input::GameFlag(_)) {
                facts.set_raw(GAME, attr, default);
            }
        }
        let mut evaluator = plan.evaluator(backend);
        evaluator.follow(facts.changes_since(start));
        facts.commit();
        let given_rows = GivenRows::of(plan.given_relations());
        Self {
            plan,
            facts,
            evaluator,
            backend,
            outputs: Vec::new(),
            limit: None,
            watches: None,
            unloaded: false,
            given_rows,
        }
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    pub fn program(&self) -> &Arc<Program> {
        self.plan.program()
    }

    /// The evaluator in use.
    pub fn backend(&self) -> Backend {
        self.backend
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
        self.writing(|facts| facts.insert(entity, attr, value))
    }

    /// Retracts a fact and returns its value, if there was one.
    pub fn retract(&mut self, entity: EntityId, attr: AttrId) -> Option<Value> {
        self.writing(|facts| facts.retract(entity, attr))
    }

    /// Writes a raw value that the caller knows to be of the attribute's type; `None` retracts.
    pub fn set_raw(&mut self, entity: EntityId, attr: AttrId, new: Option<i64>) -> Option<i64> {
        self.writing(|facts| facts.set_raw(entity, attr, new))
    }

    /// Writes as an effect of a reaction: facts that last until the turn passes expire with it.
    pub(super) fn write(&mut self, entity: EntityId, attr: AttrId, new: Option<i64>) {
        let mark = self.facts.mark();
        write(&mut self.facts, &self.plan.program().expiry, entity, attr, new);
        self.follow(mark);
    }

    /// Lets reactions read the facts at a mark, where their action began, and the rows from then, until
    /// [`World::forget_before`]. An action that is played out within another one has a mark of its own.
    pub(super) fn remember(&mut self, since: Mark, rows: &Before) {
        let mark = self.facts.mark();
        for &Was { of, before } in &self.plan.program().was {
            self.facts.clear(&[before]);
            for (entity, raw) in self.facts.raw_at(since, of) {
                self.facts.set_raw(entity, before, Some(raw));
            }
        }
        self.follow(mark);
        rows.iter().for_each(|(at, rows)| self.give(*at, Arc::clone(rows)));
    }

    pub(super) fn forget_before(&mut self) {
        let mark = self.facts.mark();
        for &Was { before, .. } in &self.plan.program().was {
            self.facts.clear(&[before]);
        }
        self.follow(mark);
        self.drop_rows_from_before();
    }

    /// As [`World::write`], but checks the value.
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

    /// Clears the facts that last until an action begins.
    pub(super) fn begin_action(&mut self, trace: Option<&mut Trace>) {
        let expiry = &self.plan.program().expiry;
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
        self.writing(Session::create)
    }

    /// See [`Session::advance_counter_past`]: for an entity whose id was chosen.
    pub(super) fn advance_counter_past(&mut self, id: EntityId) {
        self.writing(|facts| facts.advance_counter_past(id));
    }

    /// Retracts every fact of an entity.
    pub fn remove(&mut self, entity: EntityId) {
        self.writing(|facts| facts.remove(entity));
    }

    /// Writes facts, and notifies the evaluator of the changes.
    #[inline]
    fn writing<T>(&mut self, write: impl FnOnce(&mut Session) -> T) -> T {
        let mark = self.facts.mark();
        let done = write(&mut self.facts);
        self.follow(mark);
        done
    }

    /// Notifies the evaluator of the writes since a mark.
    #[inline]
    pub(super) fn follow(&mut self, mark: Mark) {
        let changes = self.facts.changes_since(mark);
        if !changes.is_empty() {
            self.given_rows.invalidate_trials();
        }
        self.evaluator.follow(changes);
    }

    pub fn mark(&mut self) -> WorldMark {
        let (facts, evaluator) = (self.facts.mark(), self.evaluator.mark());
        WorldMark { facts, evaluator, given_rows: self.given_rows.mark() }
    }

    /// Does something, and takes all that it writes back.
    pub fn taking_back<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.mark();
        let done = work(self);
        self.rollback(mark);
        done
    }

    /// Restores the state of a mark.
    pub fn rollback(&mut self, mark: WorldMark) {
        if let Err(limit) = self.check() {
            self.limit = Some(Box::new(limit));
        }
        self.evaluator.undo(self.facts.changes_since(mark.facts));
        self.facts.rollback(mark.facts);
        self.evaluator.rollback(mark.evaluator);
        self.restore_given(mark.given_rows);
    }

    /// Makes all writes final: earlier marks are no longer valid. [`World::changes`] reports the changes of
    /// watched relations until the next commit.
    pub fn commit(&mut self) {
        self.commit_keeping_room();
        self.evaluator.trim();
    }

    /// As [`World::commit`], but keeps the memory for writes that can be rolled back, because more of them follow.
    pub(crate) fn commit_keeping_room(&mut self) {
        if let Some(mut watches) = self.watches.take() {
            let rows = watches.relations().into_iter().map(|it| self.tuples(it)).collect();
            watches.advance(rows);
            self.watches = Some(watches);
        }
        self.facts.commit();
        self.given_rows.commit();
        self.evaluator.commit();
    }

    /// Checks that what was read so far is complete.
    ///
    /// # Errors
    /// Deriving it exceeded the budget of a query: rows were missing, here or in a state that was rolled
    /// back, and what was read may be wrong. This lasts until [`World::forget_rows`]. Only rules with endless
    /// arithmetic or joins get there, so readers need not check after each read: the code that returns an
    /// answer does.
    pub fn check(&self) -> Result<(), Exhausted> {
        if let Some(limit) = &self.limit {
            return Err((**limit).clone());
        }
        match self.evaluator.exhausted() {
            Some((what, owner)) => Err(Exhausted::new(self.program(), what, owner)),
            None => Ok(()),
        }
    }

    /// Remembers that a legal action could not be taken while many were examined: what was read is
    /// incomplete, and [`World::check`] reports it.
    pub fn note_refusal(&mut self, text: &str, why: &Refusal) {
        self.limit.get_or_insert_with(|| Box::new(Exhausted::action(text, why)));
    }

    /// Whether [`World::check`] will report missing rows. What is read from here on is meaningless.
    #[inline]
    pub fn has_run_out(&self) -> bool {
        self.limit.as_ref().is_some_and(|it| it.resource != Resource::Action)
            || self.evaluator.has_run_out()
    }

    /// The evaluator, and the sources that it may need.
    #[inline]
    pub(super) fn parts(&mut self) -> (&mut dyn Evaluator, Basis<'_>) {
        let Self { plan, facts, evaluator, given_rows, .. } = self;
        (&mut **evaluator, Basis { facts, given_relations: plan.given_relations(), given_rows })
    }

    pub fn contains(&mut self, rel: RelId, tuple: &[i64]) -> bool {
        self.ready(rel);
        let (evaluator, basis) = self.parts();
        evaluator.contains(basis, rel, tuple)
    }

    /// Whether the relation has at least one row.
    pub fn any(&mut self, rel: RelId) -> bool {
        self.ready(rel);
        let (evaluator, basis) = self.parts();
        evaluator.any(basis, rel)
    }

    pub fn count(&mut self, rel: RelId) -> u64 {
        self.ready(rel);
        let (evaluator, basis) = self.parts();
        evaluator.count(basis, rel)
    }

    /// All rows of a relation, ascending.
    pub fn tuples(&mut self, rel: RelId) -> Vec<Tuple> {
        let all = self.any_row(rel);
        self.matching(rel, &all)
    }

    /// Calls `f` with every row of a relation, ascending.
    pub fn for_each(&mut self, rel: RelId, f: &mut dyn FnMut(&[i64])) {
        let all = self.any_row(rel);
        self.visit(rel, &all, &mut |tuple| {
            f(tuple);
            ControlFlow::Continue(())
        });
    }

    /// Calls `f` with the rows that match a pattern, ascending, until it breaks.
    fn visit(&mut self, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) {
        self.ready(rel);
        let (evaluator, basis) = self.parts();
        evaluator.for_each(basis, rel, pattern, f);
    }

    /// The pattern that every row of a relation matches.
    fn any_row(&self, rel: RelId) -> SmallVec<[Option<i64>; 4]> {
        smallvec![None; self.program().relation(rel).columns.len()]
    }

    /// As [`World::tuples`], for a relation that is listed or played out row by row: if it has too many rows for that,
    /// the result is empty, and [`World::check`] reports it.
    pub fn listed(&mut self, rel: RelId) -> Vec<Tuple> {
        let all = self.any_row(rel);
        let mut rows = Vec::new();
        self.visit(rel, &all, &mut |tuple| {
            rows.push(Tuple::from_slice(tuple));
            if rows.len() > ACTIONS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if rows.len() <= ACTIONS {
            return rows;
        }
        let limit = Exhausted::actions(self.program(), rel);
        self.limit.get_or_insert_with(|| Box::new(limit));
        Vec::new()
    }

    /// The first relation whose `key` is violated here, with two rows of the same key. Statics are checked at
    /// load; other relations only by tests and audits.
    pub fn broken_key(&mut self) -> Option<(RelId, [Tuple; 2])> {
        let program = Arc::clone(self.program());
        (0..).zip(&program.relations).find_map(|(at, relation)| {
            if !relation.functional || relation.role != Role::Derived {
                return None;
            }
            let rows = self.tuples(RelId(at));
            two_of_a_key(&rows).map(|it| (RelId(at), it.map(Tuple::clone)))
        })
    }

    /// The rows that match a pattern (`None` = anything), ascending.
    pub fn matching(&mut self, rel: RelId, pattern: &[Option<i64>]) -> Vec<Tuple> {
        let mut found = Vec::new();
        self.visit(rel, pattern, &mut |tuple| {
            found.push(Tuple::from_slice(tuple));
            ControlFlow::Continue(())
        });
        found
    }

    /// The first of the rows that match a pattern.
    pub fn first(&mut self, rel: RelId, pattern: &[Option<i64>]) -> Option<Tuple> {
        let mut found = None;
        self.visit(rel, pattern, &mut |tuple| {
            found = Some(Tuple::from_slice(tuple));
            ControlFlow::Break(())
        });
        found
    }

    /// Watches a relation from now on.
    pub fn watch(&mut self, rel: RelId) -> Watch {
        let rows = self.tuples(rel);
        let name = &self.plan.program().relation(rel).name;
        self.watches.get_or_insert_default().add(name, rel, rows)
    }

    /// Ends a watch.
    pub fn unwatch(&mut self, watch: Watch) {
        if let Some(watches) = &mut self.watches {
            watches.end(watch, self.plan.program());
            if watches.is_empty() {
                self.watches = None;
            }
        }
    }

    /// Continues the watches of the world that this one replaces, usually with another program.
    /// [`World::replaced_rows`] tells what changed.
    pub(crate) fn take_over_watches(&mut self, from: &Self) {
        self.watches = None;
        let Some(watches) = &from.watches else { return };
        let program = Arc::clone(self.program());
        let rels = watches.names().into_iter().filter_map(|it| program.relation_named(&it));
        let rows = rels.map(|it| (it, self.tuples(it))).collect();
        self.watches = Some(Box::new(watches.under(from.program(), &program, rows)));
    }

    /// The rows of watched relations that came and went when this world replaced another: each in words, and whether it
    /// holds now. Empty after the next commit.
    pub(crate) fn replaced_rows(&self) -> impl Iterator<Item = &(String, bool)> {
        self.watches.iter().flat_map(|it| it.replaced.values().flatten())
    }

    /// The rows of watched relations that the last commit added and removed, by relation; relations
    /// that did not change are left out. Changes that were rolled back before it are not included.
    pub fn changes(&self) -> &[RowChanges] {
        self.watches.as_ref().map_or(&[], |it| &it.changes)
    }

    /// Every relation, computed; for proofs and audits.
    pub fn materialised(&mut self) -> &dyn Rows {
        self.ready_all();
        let (evaluator, basis) = self.parts();
        evaluator.materialised(basis)
    }

    /// Counts instructions by rule from now on (reactions after the rules), or stops counting.
    /// The reference evaluator counts nothing.
    pub fn count_operations(&mut self, on: bool) {
        self.evaluator.set_counting(on);
    }

    /// Instructions run since counting began, by rule, then by reaction.
    pub fn operations(&self) -> Vec<u64> {
        self.evaluator.counts()
    }

    /// Starts or stops recording the rows of maintained relations that are derived again.
    pub fn log_recomputation(&mut self, on: bool) {
        self.evaluator.set_logging(on);
    }

    /// The rows derived again since recording began: the first column of a block of rows, or a whole row.
    /// (Relations that are derived on demand are not included, and the reference evaluator maintains none.)
    pub fn recomputed(&self) -> Vec<(RelId, Tuple)> {
        self.evaluator.log()
    }

    /// Forgets all derived rows, and that a budget ran out: the next read derives the rows from scratch.
    pub fn forget_rows(&mut self) {
        self.limit = None;
        self.given_rows.invalidate_trials();
        self.evaluator.forget();
    }

    /// Frees the memory of the derived rows until [`World::reload`], for a world that is not read for
    /// a while. Until then it still answers, but slowly, by the reference evaluator. No mark may be open.
    pub fn unload(&mut self) {
        if self.backend() == Backend::Bits {
            self.use_evaluator(Backend::Frog);
            self.unloaded = true;
        }
    }

    /// Undoes [`World::unload`]: rows are derived from scratch as they are read. Does nothing to a world that is loaded.
    pub fn reload(&mut self) {
        if !std::mem::take(&mut self.unloaded) {
            return;
        }
        self.use_evaluator(Backend::Bits);
        let facts = self.facts.iter_raw();
        let stated = |(entity, attr, raw)| Change { entity, attr, old: None, new: Some(raw) };
        self.evaluator.follow(&facts.map(stated).collect::<Vec<Change>>());
        self.evaluator.commit();
        self.evaluator.trim();
        self.pass_on_all_given();
    }

    /// Switches to a new evaluator, which has not seen any facts yet.
    fn use_evaluator(&mut self, backend: Backend) {
        (self.evaluator, self.backend) = (self.plan.evaluator(backend), backend);
    }

    /// The plans of all rules as text. The reference evaluator has none.
    pub fn plan_text(&self) -> String {
        self.evaluator.dump()
    }

    /// Bytes held by the derived rows of this session, without shared parts.
    pub fn row_bytes(&self) -> usize {
        self.evaluator.heap_bytes()
    }
}

/// A write of an effect: facts that last until the turn passes expire as soon as it does.
#[inline]
pub(super) fn write(
    facts: &mut Session,
    expiry: &Expiry,
    entity: EntityId,
    attr: AttrId,
    new: Option<i64>,
) {
    let old = facts.set_raw(entity, attr, new);
    if old != new && Some(attr) == expiry.turn {
        facts.clear(&expiry.until_turn);
    }
}
