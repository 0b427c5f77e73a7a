//! Limits on work and rows in evaluators, since rule text may come from strangers.
//!
//! A query (all that one read, one action or one mark makes an evaluator do) and a load (all
//! statics of a program) each have the same budget, and all that a request comes to has one together
//! (`allowance`). Running out is a value, [`Exhausted`]; the rows
//! at hand are then incomplete and not to be relied on. No time is measured here, so the same program
//! runs out at the same place on every machine; a server may end a request besides.

use std::fmt;

use super::transaction::Refusal;
use crate::rules::{Program, RelId, RuleId};

/// Join steps of a query, and of a load: entries into inner loops, by the width of the loop, and
/// tuples of lists.
pub(super) const STEPS: u64 = 1 << 24;
/// Steps of the reference evaluator, whose steps are rows.
pub(super) const REFEREE_STEPS: u64 = 1 << 22;
/// Looks at rows, and rows, of one explanation or question.
pub(super) const SEARCH_STEPS: u64 = 1 << 22;
/// Steps of a request: of all its queries, events, tries, trials and loads together.
pub(super) const REQUEST_STEPS: u64 = 1 << 26;
/// What a query costs a request, besides its steps.
pub(super) const QUERY: i64 = 64;
/// So many rows of the reference evaluator count as one step of a request: it derives all rows anew after each
/// write, where the other evaluator keeps them.
pub(super) const REFEREE_SHARE: u64 = 16;
/// Actions that may be possible at a time: tries, and rows of a relation that is shown whole.
pub(super) const ACTIONS: usize = 1 << 14;
/// Rows of one list.
pub(super) const ROWS: usize = 1 << 19;
/// Rows of all lists of one session together.
pub(super) const LIST_ROWS: usize = 4 * ROWS;
/// Rows of all statics of a program.
pub(super) const STATIC_ROWS: usize = 1 << 17;
/// Bytes of the tables of statics that a program has: of bits, and of tuples in other orders.
pub(super) const TABLE_BYTES: usize = 1 << 24;
/// Bytes of the rows of one session, without those that marks add.
pub(super) const SESSION_BYTES: usize = 1 << 23;
/// Bit rows of one session, and tables of statics.
pub(super) const BIT_ROWS: usize = 1 << 20;

/// What there was not enough of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    Steps,
    Rows,
    /// Whatever a legal action needs that could not be taken: entities, or an end of its events.
    Action,
    /// The request was ended from outside.
    Time,
    /// Actions that are possible at a time.
    Actions,
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
            Resource::Steps => "takes too many steps",
            Resource::Rows => "takes too many rows",
            Resource::Time => "takes too long",
            Resource::Action => {
                return write!(f, "{place} is legal, but cannot be played: {text}");
            }
            Resource::Actions => {
                let most = "the rules make too many actions possible at a time";
                return write!(f, "{place}: {most}, {ACTIONS} are the most: {text}");
            }
        };
        write!(f, "{place}: evaluating the rules {much}")?;
        match text.is_empty() {
            true => Ok(()),
            false => write!(f, "; this one spent most: {text}"),
        }
    }
}

impl Exhausted {
    /// A legal action that could not be taken.
    pub(super) fn action(text: &str, why: &Refusal) -> Self {
        let (place, text) = (text.to_owned(), why.to_string());
        Self { resource: Resource::Action, rule: None, place, text }
    }

    /// A relation has more rows than may be shown at a time.
    pub(super) fn actions(program: &Program, rel: RelId) -> Self {
        let span = program.relation(rel).span;
        let (place, text) = (program.place(span), program.quote(span));
        Self { resource: Resource::Actions, rule: None, place, text }
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
