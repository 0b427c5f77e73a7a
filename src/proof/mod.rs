//! The checker of proofs, from facts and rule text only; it shares no code with the search for proofs.
//!
//! A proof is a tree of rules with their bindings, as `explain --json` prints it. Each step is checked
//! against the program: the rule must be quoted as it is in its file, the bindings must make its head the row
//! that is proved, and each premise must match the literal in its place. Facts must be in the list of facts.
//! A tree of rules cannot prove that a row is absent, or that an aggregate takes in all rows: negations and
//! aggregates are decided by a model of the facts, computed stratum by stratum. Refutations are checked in the
//! same way: no row of the model matches the goal, and each rule fails where the tree says. The effects of an
//! action are computed again, by the letter of the rules, and must be those that the proof states.
//!
//! This layer imports facts and rules only. Deliberately absent: finding proofs; moves; whether a
//! refutation shows the match that gets furthest in a rule's body: any match that fails will do.

mod check;
mod join;
mod model;
mod refute;
mod table;
mod transact;
mod trial;

use std::fmt;
use std::sync::Arc;

pub use crate::rules::tree::{Finding, Proof, Refutation, Trial};

use self::model::Model;
use crate::facts::Session;
use crate::rules::{Program, RelId};

type Checked<T = ()> = Result<T, Fault>;

/// The statistics of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Number of rows proved, of goals refuted, and of reactions run again.
    pub steps: usize,
    /// Number of negated literals, of rows that would have forbidden an action, and of goals refuted, which the
    /// model decides: what is absent and has a refutation counts twice.
    pub absent: usize,
    pub comparisons: usize,
    /// Number of aggregates computed again.
    pub aggregates: usize,
    /// Number of effects of reactions, and of facts that expired as an action began, that were computed again.
    pub effects: usize,
    /// Number of rows and goals that the tree neither proves nor refutes because of its depth: the model alone decides
    /// them.
    pub open: usize,
    /// Number of trials that call code. What code does is not in the rules, so it is trusted from there on.
    pub code: usize,
}

impl std::ops::AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.absent += other.absent;
        self.comparisons += other.comparisons;
        self.aggregates += other.aggregates;
        self.effects += other.effects;
        self.open += other.open;
        self.code += other.code;
    }
}

/// The first step that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The steps above it, outermost first: a row with the number of a premise, or a goal with the number of a rule.
    pub path: Vec<String>,
    /// The row or the goal itself; empty if it is the premise or the rule that the path ends with.
    pub at: String,
    pub reason: String,
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(above) = self.path.last() {
            write!(f, "{above}: ")?;
        }
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        f.write_str(&self.reason)
    }
}

impl Fault {
    fn new(at: &str, reason: String) -> Self {
        Self { path: Vec::new(), at: at.to_string(), reason }
    }

    fn within(mut self, above: String) -> Self {
        self.path.insert(0, above);
        self
    }
}

/// A fault unless something holds.
fn ensure<E>(holds: bool, fault: impl FnOnce() -> E) -> Result<(), E> {
    if holds { Ok(()) } else { Err(fault()) }
}

/// Checks proofs about the facts of one moment at a time.
#[derive(Debug)]
pub struct Checker {
    program: Arc<Program>,
    model: Model,
    /// What the check under way has counted so far.
    report: Report,
}

impl Checker {
    /// A checker of proofs under a program, about these facts.
    pub fn new(program: &Arc<Program>, facts: &Session) -> Self {
        let model = Model::new(program, facts);
        Self { program: Arc::clone(program), model, report: Report::default() }
    }

    /// Continues with other facts of the same program. Nothing is computed before it is needed.
    pub fn change(&mut self, facts: &Session) {
        self.model.change(facts);
    }

    /// Checks a proof.
    ///
    /// # Errors
    /// The first step that is wrong.
    pub fn proof(&mut self, proof: &Proof) -> Result<Report, Fault> {
        self.report = Report::default();
        self.prove(proof).map(|_| self.report)
    }

    /// Checks a refutation.
    ///
    /// # Errors
    /// The first step that is wrong.
    pub fn refutation(&mut self, refutation: &Refutation) -> Result<Report, Fault> {
        self.report = Report::default();
        self.refute(refutation, &mut Vec::new()).map(|()| self.report)
    }

    /// The rows of a relation in the model, ascending.
    pub fn rows(&mut self, rel: RelId) -> Vec<Vec<i64>> {
        let mut rows: Vec<Vec<i64>> =
            self.model.table(rel).rows().iter().map(|it| it.to_vec()).collect();
        rows.sort_unstable();
        rows
    }

    /// An error if a relation was too large to compute, which decides nothing.
    fn check_size(&self) -> Result<(), Fault> {
        match self.model.too_large {
            None => Ok(()),
            Some(rel) => {
                let name = &self.program.relation(rel).name;
                Err(Fault::new(name, "it has too many rows to be computed".into()))
            }
        }
    }
}
