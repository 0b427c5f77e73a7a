//! Limits on work and rows in evaluators, since rule text may be untrusted.
//!
//! A query (the work of one read, of one batch of reactions or of one mark) and a load (all statics of a program)
//! each have the same budget, and a request has one for all its work (`allowance`). Running out is a value,
//! [`Exhausted`]; the rows are then incomplete and must not be relied on. Time is not measured here, so the same
//! program runs out at the same place on every machine; a server may also stop a request.

use std::fmt;

use crate::rules::{Program, RelId, RuleId, Span};

/// Maximum number of join steps of a query, and of a load. Each tuple that is added to a list or read from one is a step;
/// entering a loop within two others costs a step for every 16 members that it may have.
pub(super) const STEPS: u64 = 1 << 24;
/// Maximum number of steps of a query of the reference evaluator: one for each row that it creates, and a few for each
/// round of a rule; in the bodies of reactions, one for each lookup, and one for each row found.
pub(super) const REFERENCE_STEPS: u64 = 1 << 22;
/// Maximum number of steps of one explanation or question: one for each lookup, and one for each row found.
pub(super) const SEARCH_STEPS: u64 = 1 << 22;
/// Maximum number of steps of a request: of all its queries, loads and explanations together.
pub(super) const REQUEST_STEPS: u64 = 1 << 26;
/// Number of steps that each query costs its request beside its own, so that many small queries run out, too.
pub(super) const QUERY: i64 = 64;
/// The number of rows of the reference evaluator that count as one step of a request: it derives all rows
/// again after each write, while the other evaluator maintains them.
pub(super) const REFERENCE_SHARE: u64 = 16;
/// Maximum number of rows of a relation that is listed as a whole, such as the pseudo-legal rows of one action.
pub(super) const ACTIONS: usize = 1 << 14;
/// Maximum number of rows of one list.
pub(super) const ROWS: usize = 1 << 19;
/// Maximum number of rows of all lists of one session.
pub(super) const LIST_ROWS: usize = 4 * ROWS;
/// Maximum number of rows of all statics of a program.
pub(super) const STATIC_ROWS: usize = 1 << 17;
/// Maximum size in bytes of the bit rows of a program's statics, and as much again of their tuples in other orders.
pub(super) const TABLE_BYTES: usize = 1 << 24;
/// Maximum size of the rows of one session in bytes, without the frames that marks add.
pub(super) const SESSION_BYTES: usize = 1 << 23;
/// Maximum number of bit rows of one session, and of values in a program's tables of functional statics.
pub(super) const BIT_ROWS: usize = 1 << 20;

/// The resource that ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Steps of evaluation.
    Steps,
    /// Derived rows.
    Rows,
    /// A legal action could not be taken, for example for lack of entity ids or because of endless events.
    Action,
    /// The request was stopped from outside.
    Time,
    /// Too many possible actions, or other rows that are listed as a whole.
    Actions,
}

/// The rules exceeded a budget of the evaluator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Exhausted {
    /// The resource that ran out.
    pub resource: Resource,
    /// The rule that spent most, or whose rows were too many; `None` if it is no rule, see `place`.
    #[doc(hidden)]
    pub rule: Option<RuleId>,
    /// The file and line of that rule, of a reaction, or of the relation that has too many rows; or the text of the
    /// action. "the program" if nothing in particular is to blame.
    pub place: String,
    /// The text of what stands there, white space folded; or why the action was refused.
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
                let many = "this has too many rows to list (possible actions, for example)";
                return write!(f, "{place}: {many}; {ACTIONS} are the most: {text}");
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
    pub(super) fn action(text: &str, why: &impl fmt::Display) -> Self {
        let (place, text) = (text.to_owned(), why.to_string());
        Self { resource: Resource::Action, rule: None, place, text }
    }

    /// A relation has more rows than may be listed.
    pub(super) fn actions(program: &Program, rel: RelId) -> Self {
        let span = program.relation(rel).span;
        let (place, text) = (program.place(span), program.quote(span));
        Self { resource: Resource::Actions, rule: None, place, text }
    }

    /// Rules and reactions are numbered as for [`owner_span`].
    pub(super) fn new(program: &Program, resource: Resource, owner: usize) -> Self {
        let (place, text) = match owner_span(program, owner) {
            Some(span) => (program.place(span), program.quote(span)),
            None => ("the program".into(), String::new()),
        };
        Self { resource, rule: program.rules.get(owner).map(|it| it.id), place, text }
    }
}

/// The place of the rule of that number, or, after all rules, of the reaction; other numbers have none.
pub(super) fn owner_span(program: &Program, owner: usize) -> Option<Span> {
    let reaction = || program.reactions.get(owner.checked_sub(program.rules.len())?);
    let rule = program.rules.get(owner).map(|it| it.span);
    rule.or_else(|| reaction().map(|it| it.span))
}
