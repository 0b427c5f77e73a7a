//! A session of facts together with everything that follows from them.
//!
//! All layers above read derived rows and write facts through [`World`]. It keeps the evaluator in
//! step with the facts: whatever is written, rolled back or committed, the rows read next are those
//! of the facts as they are now. Which evaluator answers is a matter of [`Backend`]; both must give
//! the same rows.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use super::bits::{BitPlan, EngineMark, Evaluator, Output, PlanError};
use super::fire;
use super::frog::{Frog, Statics};
use super::rows::{Rows, Tuple, collect};
use crate::facts::{AttrId, EntityId, FactError, GAME, Mark, Session, Value};
use crate::rules::{ActionId, Input, Program, RelId, Role};

/// Which evaluator answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The product.
    Bits,
    /// The slow referee.
    Frog,
}

/// A program compiled for evaluation; shared by the sessions that run under it.
#[derive(Debug)]
pub struct Plan {
    program: Arc<Program>,
    bits: BitPlan,
    /// The referee's statics, computed when the referee is first asked for.
    frog: OnceLock<Arc<Statics>>,
}

impl Plan {
    /// # Errors
    /// A rule that the bit evaluator cannot run, with its place.
    pub fn compile(program: Arc<Program>) -> Result<Self, PlanError> {
        Self::compile_wide(program, 0)
    }

    /// As [`Plan::compile`], with rows of at least so many members (64, 128, 256): for tests and
    /// measurements of the wider rows.
    ///
    /// # Errors
    /// As [`Plan::compile`]; also a width above 256.
    pub fn compile_wide(program: Arc<Program>, width: usize) -> Result<Self, PlanError> {
        let bits = BitPlan::compile(&program, width)?;
        Ok(Self { program, bits, frog: OnceLock::new() })
    }

    fn frog(&self) -> Arc<Statics> {
        let statics = self.frog.get_or_init(|| {
            Frog::statics(&self.program).unwrap_or_else(|stuck| {
                let place = self.program.place(self.program.rule(stuck.rule).span);
                panic!("{place}: the checker accepted a rule that has no order of evaluation")
            })
        });
        Arc::clone(statics)
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
}

/// A state of a world to return to. Marks nest like a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorldMark {
    facts: Mark,
    engine: Option<EngineMark>,
}

/// Facts and what follows from them. See the module's head.
#[derive(Debug, Clone)]
pub struct World {
    plan: Arc<Plan>,
    facts: Session,
    engine: Engine,
    outputs: Vec<Output>,
}

impl World {
    /// A world with no facts but the defaults of the game's attributes.
    pub fn new(plan: Arc<Plan>, backend: Backend) -> Self {
        let mut facts = Session::new(Arc::clone(&plan.program.schema));
        let start = facts.mark();
        for relation in &plan.program.relations {
            if let Role::Input(Input::Game(attr) | Input::GameFlag(attr)) = relation.role {
                let default = facts.schema().attribute(attr).default;
                facts.set_raw(GAME, attr, default);
            }
        }
        let mut engine = Engine::new(&plan, backend);
        if let Engine::Bits(bits) = &mut engine {
            for change in facts.changes_since(start) {
                bits.change(*change);
            }
        }
        facts.commit();
        Self { plan, facts, engine, outputs: Vec::new() }
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.plan.program
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
        self.facts.check_entity(entity)?;
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

    /// Creates an entity that has no facts yet.
    pub fn create(&mut self) -> EntityId {
        let mark = self.facts.mark();
        let id = self.facts.create();
        self.follow(mark);
        id
    }

    /// Retracts every fact of an entity.
    pub fn remove(&mut self, entity: EntityId) {
        let mark = self.facts.mark();
        self.facts.remove(entity);
        self.follow(mark);
    }

    /// Tells the evaluator what was written since a mark.
    #[inline]
    fn follow(&mut self, mark: Mark) {
        for &change in self.facts.changes_since(mark) {
            match &mut self.engine {
                Engine::Bits(it) => it.change(change),
                Engine::Frog(it) => it.rows = None,
            }
        }
    }

    pub fn mark(&mut self) -> WorldMark {
        let engine = match &mut self.engine {
            Engine::Bits(it) => Some(it.mark()),
            Engine::Frog(_) => None,
        };
        WorldMark { facts: self.facts.mark(), engine }
    }

    /// Restores the state of a mark.
    pub fn rollback(&mut self, mark: WorldMark) {
        let engine = &mut self.engine;
        self.facts.rollback_with(mark.facts, |change| match engine {
            Engine::Bits(it) => it.undo(change),
            Engine::Frog(it) => it.rows = None,
        });
        if let (Engine::Bits(it), Some(mark)) = (&mut self.engine, mark.engine) {
            it.rollback(mark);
        }
    }

    /// Makes all writes final: earlier marks are no longer valid.
    pub fn commit(&mut self) {
        self.facts.commit();
        if let Engine::Bits(it) = &mut self.engine {
            it.commit();
        }
    }

    pub fn contains(&mut self, rel: RelId, tuple: &[i64]) -> bool {
        match &mut self.engine {
            Engine::Bits(it) => {
                it.ensure(rel);
                it.contains(rel, tuple)
            }
            Engine::Frog(_) => self.materialised().contains(rel, tuple),
        }
    }

    /// Has the relation at least one row?
    pub fn any(&mut self, rel: RelId) -> bool {
        match &mut self.engine {
            Engine::Bits(it) => it.any(rel),
            Engine::Frog(it) => !it.rows(&self.facts).rows(rel).is_empty(),
        }
    }

    pub fn count(&mut self, rel: RelId) -> u64 {
        match &mut self.engine {
            Engine::Bits(it) => it.count(rel),
            Engine::Frog(it) => it.rows(&self.facts).rows(rel).len() as u64,
        }
    }

    /// All rows of a relation, ascending.
    pub fn tuples(&mut self, rel: RelId) -> Vec<Tuple> {
        let all = vec![None; self.plan.program.relation(rel).columns.len()];
        self.matching(rel, &all)
    }

    /// The rows that match a pattern (`None` = anything), ascending.
    pub fn matching(&mut self, rel: RelId, pattern: &[Option<i64>]) -> Vec<Tuple> {
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
            Engine::Frog(_) => collect(&self.materialised(), rel, pattern),
        }
    }

    /// Takes an action: the bodies of all its reactions are solved on the facts as they are, then
    /// the effects are applied in text order. Whether the action is legal is not asked.
    pub fn fire(&mut self, action: ActionId, args: &[i64]) {
        let Engine::Bits(bits) = &mut self.engine else {
            for write in fire::writes(&self.materialised(), action, args) {
                match write {
                    fire::Write::Set(entity, attr, new) => {
                        self.set_raw(entity, attr, new);
                    }
                    fire::Write::Remove(entity) => self.remove(entity),
                }
            }
            return;
        };
        let mut outputs = std::mem::take(&mut self.outputs);
        bits.react(action, args, &mut outputs);
        for output in outputs.drain(..) {
            match output {
                Output::Set { attr, entity, value } => {
                    self.set_raw(EntityId(entity as u32), attr, Some(value));
                }
                Output::Retract { attr, entity } => {
                    self.set_raw(EntityId(entity as u32), attr, None);
                }
                Output::Remove { entity } => self.remove(EntityId(entity as u32)),
            }
        }
        self.outputs = outputs;
    }

    /// Every relation, computed; for proofs and audits.
    pub fn materialised(&mut self) -> Materialised<'_> {
        match &mut self.engine {
            Engine::Bits(it) => {
                for rel in 0..self.plan.program.relations.len() {
                    it.ensure(RelId(rel as u16));
                }
                Materialised::Bits(BitRows { program: &self.plan.program, rows: &**it })
            }
            Engine::Frog(it) => Materialised::Frog(it.rows(&self.facts)),
        }
    }

    /// Counts instructions by rule from now on (reactions after the rules), or stops counting.
    /// The referee counts nothing.
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

    /// Forgets all derived rows: the next read derives them from scratch.
    pub fn forget_rows(&mut self) {
        match &mut self.engine {
            Engine::Bits(it) => it.forget(),
            Engine::Frog(it) => it.rows = None,
        }
    }

    /// The plans of all rules in words. The referee has none.
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
enum Engine {
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
            Backend::Frog => Self::Frog(FrogEngine { statics: plan.frog(), rows: None }),
        }
    }
}

/// The referee as a back end: rows are computed anew when first read after a change.
#[derive(Debug, Clone)]
struct FrogEngine {
    statics: Arc<Statics>,
    rows: Option<Frog>,
}

impl FrogEngine {
    fn rows(&mut self, facts: &Session) -> &Frog {
        self.rows.get_or_insert_with(|| Frog::derive_with(&self.statics, facts))
    }
}

/// The materialised rows of the bit evaluator.
#[derive(Debug, Clone, Copy)]
pub struct BitRows<'w> {
    program: &'w Program,
    rows: &'w dyn Evaluator,
}

/// Every relation of a world, as rows.
#[derive(Debug, Clone, Copy)]
pub enum Materialised<'w> {
    Bits(BitRows<'w>),
    Frog(&'w Frog),
}

impl Rows for Materialised<'_> {
    fn program(&self) -> &Program {
        match self {
            Self::Bits(it) => it.program,
            Self::Frog(it) => it.program(),
        }
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        match self {
            Self::Bits(it) => it.rows.contains(rel, tuple),
            Self::Frog(it) => it.contains(rel, tuple),
        }
    }

    fn for_each(
        &self,
        rel: RelId,
        pattern: &[Option<i64>],
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self {
            Self::Bits(it) => it.rows.for_each(rel, pattern, f),
            Self::Frog(it) => it.for_each(rel, pattern, f),
        }
    }
}
