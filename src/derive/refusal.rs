//! Reasons why an action fails.

use super::budget::Exhausted;
use super::trace::Said;

pub use crate::rules::limits::{RAISED as EVENTS, RAISED_DEEP as DEPTH};

/// Why an action failed. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Refusal {
    /// A reaction vetoed it.
    #[error("{said}")]
    Veto {
        #[doc(hidden)]
        said: Said,
    },
    /// Events raise events too deep, usually without end. `cycle` has the innermost ones, from where they begin to repeat
    /// (all, if they do not), each as `event (place of the reaction that raises it)`.
    #[error("events raise events more than {DEPTH} deep: {}", cycle.join(" -> "))]
    Cycle { cycle: Vec<String> },
    #[error("more than {EVENTS} events are raised; the last is raised at {place}")]
    Events { place: String },
    #[error("there is no room for another entity: {cap} are the most")]
    Entities { cap: u32 },
    /// What it would do exceeds a budget.
    #[error(transparent)]
    Limit(Box<Exhausted>),
    /// Code that a reaction calls is missing, or made an invalid request.
    #[error("{place} calls {name}, but {fault}")]
    Call {
        place: String,
        name: String,
        #[doc(hidden)]
        fault: CallFault,
    },
}

/// What is wrong with a call, behind `PLACE calls NAME, but`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CallFault {
    #[error("no code is registered for that")]
    Unregistered,
    #[error("its code names an unknown {what}, {name}")]
    Unknown { what: &'static str, name: String },
    #[error("{name} is no {wanted}")]
    Type { name: String, wanted: &'static str },
    #[error("{0}")]
    Fact(String),
    #[error("{word} is only for events that are raised, and this is an action")]
    Outside { word: &'static str },
}
