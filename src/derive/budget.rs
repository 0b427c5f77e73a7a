//! How much work, and how many rows, rules may ask of an evaluator: rule text comes from strangers.
//!
//! A query (all that one read, one action or one mark makes an evaluator do) and a load (all
//! statics of a program) each have the same budget. Running out is a value, [`Exhausted`]; the rows
//! at hand are then incomplete and nobody may go by them. No time is measured, so the same program
//! runs out at the same place on every machine.

use std::fmt;

use super::transaction::Refusal;
use crate::rules::{Program, RuleId};

/// Join steps of a query, and of a load: entries into inner loops, by the width of the loop, and
/// tuples of lists.
pub(super) const STEPS: u64 = 1 << 24;
/// Steps of the referee, whose steps are rows.
pub(super) const REFEREE_STEPS: u64 = 1 << 22;
/// Looks at rows, and rows, of one explanation or question.
pub(super) const SEARCH_STEPS: u64 = 1 << 22;
/// Rows of one list, and of all statics of a program together.
pub(super) const ROWS: usize = 1 << 19;
/// Bit rows of one session, and tables of statics.
pub(super) const BIT_ROWS: usize = 1 << 20;

/// What there was not enough of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    Steps,
    Rows,
    /// Whatever a legal action needs that could not be taken: entities, or an end of its events.
    Action,
}

/// The rules asked for more than an evaluator gives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Exhausted {
    pub resource: Resource,
    /// The rule that spent most; `None` for a reaction or an action.
    pub rule: Option<RuleId>,
    /// The file and line of that rule or reaction; the text of the action.
    pub place: String,
    /// Its text, white space folded; why the action was refused.
    pub text: String,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, text, .. } = self;
        let much = match self.resource {
            Resource::Steps => "many steps",
            Resource::Rows => "many rows",
            Resource::Action => {
                return write!(f, "{place} is legal, but cannot be played: {text}");
            }
        };
        write!(f, "{place}: evaluating the rules takes too {much}; this one spent most: {text}")
    }
}

impl Exhausted {
    /// A legal action that could not be taken.
    pub(super) fn action(text: &str, why: &Refusal) -> Self {
        let (place, text) = (text.to_owned(), why.to_string());
        Self { resource: Resource::Action, rule: None, place, text }
    }

    /// `owner` counts rules, then reactions.
    pub(super) fn new(program: &Program, resource: Resource, owner: usize) -> Self {
        let rule = program.rules.get(owner);
        let reaction = program.reactions.get(owner.wrapping_sub(program.rules.len()));
        let span = rule.map(|it| it.span).or_else(|| reaction.map(|it| it.span));
        let (place, text) = match span {
            Some(span) => (program.place(span), program.quote(span)),
            None => ("the program".into(), String::new()),
        };
        Self { resource, rule: rule.map(|it| it.id), place, text }
    }
}
