//! Why a checked program cannot be compiled for the bit evaluator.

use super::super::budget::Exhausted;

/// Why a checked program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlanError {
    /// Too many variables, constants or rows for the machine.
    #[error("{place}: {what}")]
    TooLarge { place: String, what: String },
    #[error("{place}: no order of evaluation binds all variables of the rule")]
    Stuck { place: String },
    /// Computing the statics exceeded a budget.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// Two rows of a static have the same key.
    #[error("{place}: {relation} has a key, but {first} and {second} both hold")]
    NotFunctional { place: String, relation: String, first: String, second: String },
}
