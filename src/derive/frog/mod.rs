//! The slow, obvious evaluator: every relation of a checked program on the `datafrog` crate, from
//! scratch each time.
//!
//! It is the reference that the fast evaluator is compared with, so it shares no code of evaluation with that one or with
//! the tuple-at-a-time solver, and computes statics by itself. A relation is computed on first use, with those that it
//! depends on.
//! Deliberately absent: anything incremental.

mod plan;
mod run;

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use self::plan::{Plans, Stuck};
use self::run::{Index, Runner, StepBudget, Tuples};
use super::allowance;
use super::budget::{Exhausted, Resource, STATIC_ROWS};
use super::rows::{Pattern, Rows, Tuple, Visit, fits};
use crate::facts::Session;
use crate::rules::{Input, Program, RelId, Role};

/// The position-independent parts, made on demand: the plans of the rules, and the statics with their
/// indexes. Shared by the sessions that run under the program.
pub struct Statics {
    program: Arc<Program>,
    plans: OnceLock<Result<Plans, Stuck>>,
    rows: OnceLock<StaticRows>,
}

struct StaticRows {
    tables: Vec<OnceLock<Tuples>>,
    indexes: Vec<Index>,
    exhausted: Option<(Resource, usize)>,
}

impl std::fmt::Debug for Statics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statics").field("plans", &self.plans).finish_non_exhaustive()
    }
}

impl Statics {
    /// Computes nothing yet, so that a program that never uses the reference evaluator does not pay for it.
    pub fn later(program: &Arc<Program>) -> Self {
        Self { program: Arc::clone(program), plans: OnceLock::new(), rows: OnceLock::new() }
    }

    fn planned(&self) -> &Result<Plans, Stuck> {
        self.plans.get_or_init(|| Plans::new(&self.program))
    }

    fn rows(&self) -> &StaticRows {
        self.rows.get_or_init(|| allowance::aside(|| self.compute()))
    }

    fn compute(&self) -> StaticRows {
        let program = &self.program;
        let tables: Vec<OnceLock<Tuples>> = vec![OnceLock::new(); program.relations.len()];
        let plans = match self.planned() {
            Ok(plans) => plans,
            // The checks at load refuse such a rule. If there is one all the same, nothing is derived, and the rule is
            // reported as having taken too many steps.
            Err(Stuck { rule }) => {
                let exhausted = Some((Resource::Steps, usize::from(rule.0)));
                return StaticRows { tables, indexes: Vec::new(), exhausted };
            }
        };
        for (table, relation) in tables.iter().zip(&program.relations) {
            if let Role::Builtin(rows) = &relation.role {
                let rows = rows.iter().map(|it| Tuple::from_slice(it)).collect();
                table.get_or_init(|| sorted(rows));
            }
        }
        let indexes = vec![Index::default(); plans.accesses.len()];
        let budget = StepBudget::new(program);
        let size = |table: &OnceLock<Tuples>| table.get().map_or(0, |it| it.len());
        let mut rows: usize = tables.iter().map(size).sum();
        let runner = Runner {
            program,
            plans,
            tables: &tables,
            indexes: &indexes,
            fixed: None,
            budget: &budget,
        };
        for stratum in program.strata.iter().filter(|it| it.is_static) {
            runner.stratum(stratum);
            let new = stratum.relations.iter().map(|it| size(&tables[usize::from(it.0)]));
            rows += new.sum::<usize>();
            if rows > STATIC_ROWS {
                budget.run_out(Resource::Rows);
            }
        }
        StaticRows { tables, indexes, exhausted: budget.exhausted() }
    }
}

/// Every relation of a program over the facts of one session at one time.
pub struct Frog {
    statics: Arc<Statics>,
    /// By relation: the rows computed so far.
    tables: Vec<OnceLock<Tuples>>,
    /// By access.
    indexes: Vec<Index>,
    budget: Mutex<StepBudget>,
}

impl std::fmt::Debug for Frog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let finished = self.tables.iter().filter(|it| it.get().is_some()).count();
        f.debug_struct("Frog").field("finished", &finished).finish_non_exhaustive()
    }
}

impl Frog {
    /// The rows that follow from the facts, and from given rows of relations, which ascend. Each relation is computed on
    /// first use.
    pub fn over(
        statics: &Arc<Statics>,
        facts: &Session,
        given: &[(RelId, &Arc<Vec<Tuple>>)],
    ) -> Self {
        let mut tables = statics.rows().tables.clone();
        for (table, relation) in tables.iter_mut().zip(&statics.program.relations) {
            if let Role::Input(input) = &relation.role {
                *table = sorted(input_rows(*input, facts)).into();
            }
        }
        for &(rel, rows) in given {
            tables[usize::from(rel.0)] = Arc::clone(rows).into();
        }
        let accesses = statics.planned().as_ref().map_or(0, |it| it.accesses.len());
        Self {
            statics: Arc::clone(statics),
            tables,
            indexes: vec![Index::default(); accesses],
            budget: Mutex::new(StepBudget::new(&statics.program)),
        }
    }

    /// Computes a relation with those that it depends on, unless that has been done.
    fn finish(&self, rel: RelId) {
        let fixed = self.statics.rows();
        let (None, Ok(plans)) = (self.tables[usize::from(rel.0)].get(), self.statics.planned())
        else {
            return;
        };
        if fixed.exhausted.is_some() {
            return;
        }
        let program = &*self.statics.program;
        let name = &*program.relation(rel).name;
        let _span = tracing::debug_span!("derive", by = "datafrog", relation = name).entered();
        let runner = Runner {
            program,
            plans,
            tables: &self.tables,
            indexes: &self.indexes,
            fixed: Some(&fixed.indexes),
            budget: &self.budget(),
        };
        plans.strata_of(rel).into_iter().for_each(|it| runner.stratum(&program.strata[it]));
    }

    fn budget(&self) -> MutexGuard<'_, StepBudget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that the computed rows are complete.
    ///
    /// # Errors
    /// The rules exceeded the budget of the reference evaluator: rows are missing.
    pub fn check(&self) -> Result<(), Exhausted> {
        match self.exhausted() {
            Some((resource, rule)) => Err(Exhausted::new(&self.statics.program, resource, rule)),
            None => Ok(()),
        }
    }

    pub(super) fn exhausted(&self) -> Option<(Resource, usize)> {
        self.statics.rows().exhausted.or(self.budget().exhausted())
    }

    /// The rows of a relation, ascending.
    pub fn rows(&self, rel: RelId) -> &[Tuple] {
        self.finish(rel);
        self.tables[usize::from(rel.0)].get().map_or(&[], |it| it)
    }
}

impl Rows for Frog {
    fn program(&self) -> &Program {
        &self.statics.program
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        self.rows(rel).binary_search_by(|it| it[..].cmp(tuple)).is_ok()
    }

    fn for_each(&self, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) -> ControlFlow<()> {
        let prefix: Tuple = pattern.iter().map_while(|it| *it).collect();
        let rest = &pattern[prefix.len()..];
        let rows = self.rows(rel);
        let first = rows.partition_point(|it| it[..prefix.len()] < prefix[..]);
        for row in &rows[first..] {
            let (head, tail) = row.split_at(prefix.len());
            if head != &prefix[..] {
                break;
            }
            if fits(rest, tail) {
                f(row)?;
            }
        }
        ControlFlow::Continue(())
    }
}

fn sorted(mut rows: Vec<Tuple>) -> Tuples {
    rows.sort_unstable();
    rows.dedup();
    Arc::new(rows)
}

/// The rows of an input relation, read from the facts.
fn input_rows(input: Input, facts: &Session) -> Vec<Tuple> {
    let row = |attr| move |it| input.row(it, attr, facts.get_raw(it, attr)?);
    input.attrs().flat_map(|attr| facts.entities_with(attr).filter_map(row(attr))).collect()
}
