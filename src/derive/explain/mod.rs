//! Explanations, made on demand: why a row holds, and why it does not.
//!
//! Nothing is recorded while rows are derived; a question is answered by searching the finished rows for a
//! derivation, or for the furthest partial match of each rule. Deliberately absent: an independent check of
//! proofs (`proof`).

mod context;
mod headline;
mod near;
mod text;
mod trial;
mod trial_text;
mod why;
mod why_not;

pub use crate::rules::tree::{
    Attempt, Binding, Blocked, Comparison, Datum, Effect, Finding, Goal, Ground, Lack, Outcome,
    Premise, Proof, Quote, Reacted, Refutation, Tally, Trial, TurnEnd, Turning,
};
pub use text::{Line, Names, Source, View};
pub use trial::{Case, steps, try_out, try_turn};

use std::ops::ControlFlow;

use super::budget::{Exhausted, SEARCH_STEPS};
use super::metered::Metered;
use super::rows::Rows;
use crate::rules::RelId;

/// The limits of an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Levels of a proof. Only long recursion can reach the default, with which the JSON of an explanation is not too deep
    /// to be read.
    pub proof: usize,
    /// Levels of a refutation.
    pub refutation: usize,
    /// Number of goals of a refutation that are expanded, in all. Where a proof in it rests on a negated premise, the goal
    /// that this denies is expanded, too, and not counted.
    pub goals: usize,
    /// Number of rows that are proved by a rule, in all. A row that supports several others is proved, and counted, for
    /// each of them.
    pub rows: usize,
    /// Number of solutions of one rule that is not recursive, and of rows that match one premise, that are compared by
    /// height.
    pub alternatives: usize,
    /// Number of solutions of rules in all, those of recursive rules included. After that the first solution of a rule
    /// that is not recursive is taken, and the first row that matches a premise.
    pub tries: usize,
    /// Number of lookups and of rows read, in all, or what the caller's allowance has left if that is less. Running out
    /// is an error.
    pub steps: u64,
    /// Number of partial matches of one rule that are examined before the furthest so far is taken.
    pub matches: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            proof: 96,
            refutation: 20,
            goals: 128,
            rows: 4096,
            alternatives: 64,
            tries: 1024,
            matches: 4096,
            steps: SEARCH_STEPS,
        }
    }
}

/// The proof of a row: a derivation without circularity. `None` if the row does not hold.
///
/// The derivation is one of least height, among the alternatives that the limits allow. What is beyond the levels and
/// rows of the limits is left open ([`Ground::Deeper`]). If the steps run out, the row itself is left open;
/// [`why_within`] returns an error instead.
pub fn why(rows: &dyn Rows, rel: RelId, tuple: &[i64]) -> Option<Proof> {
    let limits = Limits::default();
    why_within(rows, rel, tuple, limits).unwrap_or_else(|_| {
        let meter = Metered::new(rows, limits.steps);
        Some(context::Context::new(&meter, limits).left_open(rel, tuple))
    })
}

/// [`why()`], within limits.
///
/// # Errors
/// The steps ran out.
pub fn why_within(
    rows: &dyn Rows,
    rel: RelId,
    tuple: &[i64],
    limits: Limits,
) -> Result<Option<Proof>, Exhausted> {
    if !rows.contains(rel, tuple) {
        return Ok(None);
    }
    let meter = Metered::new(rows, limits.steps);
    let proof = context::Context::new(&meter, limits).root(rel, tuple);
    meter.check().map(|()| Some(proof))
}

/// The refutation of a pattern (`None` = anything) that no row matches: how far each rule gets. `None` if a
/// row does match. What is beyond the levels and goals of the limits is left open ([`Lack::Deeper`]). If the steps run
/// out, the goal itself is left open; [`why_not_within`] returns an error instead.
pub fn why_not(rows: &dyn Rows, rel: RelId, pattern: &[Option<i64>]) -> Option<Refutation> {
    let limits = Limits::default();
    why_not_within(rows, rel, pattern, limits).unwrap_or_else(|_| {
        let meter = Metered::new(rows, limits.steps);
        let goal = context::Context::new(&meter, limits).goal(rel, pattern);
        Some(Refutation { goal, lack: Lack::Deeper })
    })
}

/// [`why_not()`], within limits.
///
/// # Errors
/// The steps ran out.
pub fn why_not_within(
    rows: &dyn Rows,
    rel: RelId,
    pattern: &[Option<i64>],
    limits: Limits,
) -> Result<Option<Refutation>, Exhausted> {
    if rows.for_each(rel, pattern, &mut |_| ControlFlow::Break(())).is_break() {
        return Ok(None);
    }
    let meter = Metered::new(rows, limits.steps);
    let refutation = context::Context::new(&meter, limits).refute(rel, pattern, limits.refutation);
    meter.check().map(|()| Some(refutation))
}
