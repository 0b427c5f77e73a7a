//! Proofs and refutations as the checker reads them: the JSON that `explain --json` prints.
//!
//! These types are the checker's own, so that it shares nothing with what finds proofs. Fields that
//! are not named here carry nothing that a check needs.

use serde::Deserialize;

/// A raw value and its name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Datum {
    pub raw: i64,
    pub name: String,
}

/// A variable of a rule and its value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    pub var: String,
    pub value: Datum,
}

/// Rows of a relation; `None` stands for any value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    pub relation: String,
    pub args: Vec<Option<Datum>>,
}

/// A clause of rule text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quote {
    pub rule: u16,
    pub place: String,
    pub text: String,
}

/// Why a row holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub relation: String,
    pub tuple: Vec<Datum>,
    pub ground: Ground,
}

/// What a row rests on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    Fact { entity: u32, attribute: String },
    Static,
    Rule { rule: Quote, bindings: Vec<Binding>, premises: Vec<Premise> },
    Deeper,
}

/// How a literal of a rule is satisfied.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(rename_all = "snake_case")]
pub enum Premise {
    Holds(Proof),
    Absent { goal: Goal, refutation: Option<Refutation> },
    Compare(Comparison),
    Aggregate(Tally),
}

/// A comparison with the values of its sides.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub text: String,
    pub lhs: Option<Datum>,
    pub op: String,
    pub rhs: Option<Datum>,
}

/// An aggregate: its distinct members and what they come to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    pub text: String,
    pub members: Vec<Vec<Binding>>,
    pub value: Option<Vec<i64>>,
}

/// Why no row of a goal holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refutation {
    pub goal: Goal,
    pub lack: Lack,
}

/// What is missing for a goal.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    Fact { instead: Option<Datum> },
    Static { instead: Option<Datum> },
    Rules(Vec<Attempt>),
    Circular,
    Deeper,
}

/// A partial match of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    pub rule: Quote,
    pub bindings: Vec<Binding>,
    pub matched: usize,
    pub total: usize,
    pub blocked: Blocked,
}

/// The literal at which a partial match ends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(rename_all = "snake_case")]
pub enum Blocked {
    Head,
    Missing(Refutation),
    Present(Proof),
    Compare(Comparison),
    Aggregate(Tally),
}
