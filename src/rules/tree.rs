//! Proofs and refutations as plain data: names as text, values raw and in words, so that they can be
//! stored and read without the program.
//!
//! This is what those who find proofs and the checker of proofs have in common, and all of it. An
//! unknown field is refused: nothing in a stored proof goes unread.
//! Deliberately absent: finding, checking and showing them.

use serde::{Deserialize, Serialize};

/// A raw value and its name: `12` and `e2`; entities are named by number, `#12`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Datum {
    pub raw: i64,
    pub name: String,
}

/// A variable of a rule and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    pub var: String,
    pub value: Datum,
}

/// Rows of a relation; `None` stands for any value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    pub relation: String,
    pub args: Vec<Option<Datum>>,
}

/// A clause of rule text, as proofs quote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quote {
    /// The rule's number in its program.
    pub rule: u16,
    /// `rules/core/attack.dl:12`.
    pub place: String,
    pub text: String,
}

/// Why a row holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub relation: String,
    pub tuple: Vec<Datum>,
    pub ground: Ground,
}

/// What a row rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ground {
    /// A fact of the session: an entity's attribute (entity 0 is the game).
    Fact { entity: u32, attribute: String },
    /// It holds in every position.
    Static,
    /// A rule and what satisfies its body, in text order.
    Rule { rule: Quote, bindings: Vec<Binding>, premises: Vec<Premise> },
    /// It holds, but the proof would be deeper than was asked for.
    Deeper,
}

/// How a literal of a rule is satisfied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Premise {
    Holds(Proof),
    /// A negated literal: no such row. The refutation is of depth one.
    Absent {
        goal: Goal,
        refutation: Option<Refutation>,
    },
    Compare(Comparison),
    Aggregate(Tally),
}

/// A comparison with the values of its sides; `None` is arithmetic without a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub text: String,
    pub lhs: Option<Datum>,
    pub op: String,
    pub rhs: Option<Datum>,
}

/// An aggregate: its distinct members and what they come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    pub text: String,
    pub members: Vec<Vec<Binding>>,
    /// `None`: it has no value (the least of nothing).
    pub value: Option<Vec<i64>>,
}

/// Why no row of a goal holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refutation {
    pub goal: Goal,
    pub lack: Lack,
}

/// What is missing for a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Lack {
    /// No such fact. Where the last column is a function of the others: the value that is there
    /// instead.
    Fact { instead: Option<Datum> },
    /// No such row in any position; with the value that is there instead.
    Static { instead: Option<Datum> },
    /// How far each rule of the relation gets.
    Rules(Vec<Attempt>),
    /// The goal is being refuted already: nothing but itself could support it.
    Circular,
    /// The refutation would be deeper than was asked for.
    Deeper,
}

/// The furthest-reaching partial match of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    pub rule: Quote,
    pub bindings: Vec<Binding>,
    /// How many literals of the body do not fail with these bindings, wherever they come in it.
    pub matched: usize,
    pub total: usize,
    pub blocked: Blocked,
}

/// The first literal that fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Blocked {
    /// The rule concludes other rows than those of the goal.
    Head,
    /// A positive literal has no row.
    Missing(Refutation),
    /// A negated literal has a row.
    Present(Proof),
    Compare(Comparison),
    Aggregate(Tally),
}
