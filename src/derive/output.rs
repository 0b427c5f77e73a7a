//! The effects of a batch of reactions with their values, as evaluators give them to transactions.
//!
//! Deliberately absent: finding them (`bits`, `reference`), and applying them (`transaction`).

use std::collections::VecDeque;

use super::rows::Tuple;
use super::trace::Said;
use crate::facts::AttrId;
use crate::rules::{EventId, Type};

/// One effect of a batch, with its values. A write without a value retracts the fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    Write { attr: AttrId, entity: i64, value: Option<i64> },
    Remove { entity: i64 },
    Other(Box<Other>),
}

/// The rarer effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Other {
    // The effects up to the next of these are those of one solution; `values` are those of the reaction's named variables.
    // Only if a trace is requested.
    Solution { reaction: usize, values: Tuple },
    Spawn { entity: i64 },
    Forget { preset: i64, of: Option<(Type, i64)> },
    Inherit { to: i64, from: i64 },
    Raise { reaction: usize, event: EventId, args: Tuple },
    Stop,
    Pass { args: Tuple },
    Veto { said: Said },
    Emit { event: EventId, args: Tuple },
    Note { said: Said },
    Rewind { turns: i64 },
    // A call of code: the effect with that number in its reaction.
    Call { reaction: usize, effect: usize, args: Tuple },
}

/// An event that is waiting to be handled.
pub(super) struct Raised {
    pub(super) event: EventId,
    pub(super) args: Tuple,
    /// The reaction that raised it.
    pub(super) by: usize,
}

/// What the effects of a batch decide about what follows it.
#[derive(Default)]
pub(super) struct Flow {
    /// Events to be handled before the next batch.
    pub(super) raised: VecDeque<Raised>,
    /// Whether later batches are left out.
    pub(super) stop: bool,
    /// Other arguments for later batches.
    pub(super) pass: Option<Tuple>,
}
