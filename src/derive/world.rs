//! A session of facts together with everything that follows from them.
//!
//! All layers above read derived rows and write facts through [`World`]. It keeps the evaluator in
//! step with the facts: whatever is written, rolled back or committed, the rows read next are those
//! of the facts as they are now. Which evaluator answers is a matter of [`Backend`]; both must give
//! the same rows.

use std::ops::ControlFlow;
use std::sync::Arc;

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

/// Why a checked program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("{place}: no order of the literals of this rule binds all variables")]
    Stuck { place: String },
}

/// A program compiled for evaluation; shared by the sessions that run under it.
#[derive(Debug)]
pub struct Plan {
    program: Arc<Program>,
    frog: Arc<Statics>,
}

impl Plan {
    /// # Errors
    /// A rule that an evaluator cannot run.
    pub fn compile(program: Arc<Program>) -> Result<Self, PlanError> {
        let frog = Frog::statics(&program).map_err(|stuck| PlanError::Stuck {
            place: program.place(program.rule(stuck.rule).span),
        })?;
        Ok(Self { program, frog })
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
}

/// A state of a world to return to. Marks nest like a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorldMark {
    facts: Mark,
}

/// Facts and what follows from them. See the module's head.
#[derive(Debug, Clone)]
pub struct World {
    plan: Arc<Plan>,
    facts: Session,
    engine: Engine,
}

impl World {
    /// A world with no facts but the defaults of the game's attributes.
    pub fn new(plan: Arc<Plan>, backend: Backend) -> Self {
        let mut facts = Session::new(Arc::clone(&plan.program.schema));
        for relation in &plan.program.relations {
            if let Role::Input(Input::Game(attr) | Input::GameFlag(attr)) = relation.role {
                let default = facts.schema().attribute(attr).default;
                facts.set_raw(GAME, attr, default);
            }
        }
        facts.commit();
        let engine = Engine::new(&plan, backend);
        Self { plan, facts, engine }
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
        let old = self.facts.set_raw(entity, attr, new);
        if old != new {
            self.engine.changed();
        }
        old
    }

    /// Creates an entity that has no facts yet.
    pub fn create(&mut self) -> EntityId {
        self.engine.changed();
        self.facts.create()
    }

    /// Retracts every fact of an entity.
    pub fn remove(&mut self, entity: EntityId) {
        self.engine.changed();
        self.facts.remove(entity);
    }

    pub fn mark(&mut self) -> WorldMark {
        WorldMark { facts: self.facts.mark() }
    }

    /// Restores the state of a mark.
    pub fn rollback(&mut self, mark: WorldMark) {
        if !self.facts.changes_since(mark.facts).is_empty() {
            self.engine.changed();
        }
        self.facts.rollback(mark.facts);
    }

    /// Makes all writes final: earlier marks are no longer valid.
    pub fn commit(&mut self) {
        self.facts.commit();
    }

    pub fn contains(&mut self, rel: RelId, tuple: &[i64]) -> bool {
        self.materialised().contains(rel, tuple)
    }

    /// Has the relation at least one row?
    pub fn any(&mut self, rel: RelId) -> bool {
        self.count(rel) > 0
    }

    pub fn count(&mut self, rel: RelId) -> u64 {
        let Materialised::Frog(rows) = self.engine.materialise(&self.facts);
        rows.rows(rel).len() as u64
    }

    /// All rows of a relation, ascending.
    pub fn tuples(&mut self, rel: RelId) -> Vec<Tuple> {
        let Materialised::Frog(rows) = self.engine.materialise(&self.facts);
        rows.rows(rel).to_vec()
    }

    /// The rows that match a pattern (`None` = anything), ascending.
    pub fn matching(&mut self, rel: RelId, pattern: &[Option<i64>]) -> Vec<Tuple> {
        collect(&self.materialised(), rel, pattern)
    }

    /// Takes an action: the bodies of all its reactions are solved on the facts as they are, then
    /// the effects are applied in text order. Whether the action is legal is not asked.
    pub fn fire(&mut self, action: ActionId, args: &[i64]) {
        let writes = fire::writes(&self.materialised(), action, args);
        for write in writes {
            match write {
                fire::Write::Set(entity, attr, new) => {
                    self.set_raw(entity, attr, new);
                }
                fire::Write::Remove(entity) => self.remove(entity),
            }
        }
    }

    /// Every relation, computed; for proofs and audits.
    pub fn materialised(&mut self) -> Materialised<'_> {
        self.engine.materialise(&self.facts)
    }
}

/// The evaluator of a world, with the rows that it keeps.
#[derive(Debug, Clone)]
enum Engine {
    Frog(FrogEngine),
}

impl Engine {
    fn new(plan: &Plan, backend: Backend) -> Self {
        match backend {
            Backend::Bits | Backend::Frog => {
                Self::Frog(FrogEngine { statics: Arc::clone(&plan.frog), rows: None })
            }
        }
    }

    /// Facts were written.
    fn changed(&mut self) {
        match self {
            Self::Frog(it) => it.rows = None,
        }
    }

    /// Brings every relation up to date.
    fn materialise(&mut self, facts: &Session) -> Materialised<'_> {
        match self {
            Self::Frog(it) => Materialised::Frog(
                it.rows.get_or_insert_with(|| Frog::derive_with(&it.statics, facts)),
            ),
        }
    }
}

/// The referee as a back end: rows are computed anew when first read after a change.
#[derive(Debug, Clone)]
struct FrogEngine {
    statics: Arc<Statics>,
    rows: Option<Frog>,
}

/// Every relation of a world, as rows.
#[derive(Debug, Clone, Copy)]
pub enum Materialised<'w> {
    Frog(&'w Frog),
}

impl Rows for Materialised<'_> {
    fn program(&self) -> &Program {
        match self {
            Self::Frog(it) => it.program(),
        }
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        match self {
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
            Self::Frog(it) => it.for_each(rel, pattern, f),
        }
    }
}
