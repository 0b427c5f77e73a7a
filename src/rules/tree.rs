//! Proofs and refutations as plain data: names as text, values raw and by name, so that they can be stored
//! and read without the program.
//!
//! A row has a proof, a goal without rows a refutation, and an action that its rules alone do not decide a
//! trial: its effects, step by step, and what holds after them. These types are all that the code that finds
//! proofs shares with the checker. An unknown field is refused, so nothing in a stored proof goes unread.
//! Deliberately absent: finding, checking and showing them.

use serde::{Deserialize, Serialize};

use super::program::{Column, Program, Span, Type};
use crate::facts::Change;

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

/// A clause of rule text, as proofs quote it: a rule, or a reaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quote {
    /// The clause's number among the rules of its program, or among its reactions.
    pub rule: u16,
    /// `rules/chess/attack.dl:12`.
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

/// The ground of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ground {
    /// A fact of the session: an entity's attribute (entity 0 is the game). Where the attribute is of
    /// members of a domain, their number stands for the entity.
    Fact { entity: u32, attribute: String },
    /// A static, which holds in every position.
    Static,
    /// A row of a trial, for which an action was played out.
    Tried,
    /// A rule and what satisfies its body, in text order.
    Rule { rule: Quote, bindings: Vec<Binding>, premises: Vec<Premise> },
    /// It holds, but the proof would be deeper than the limit.
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

/// A comparison with the values of its sides; `None` if its arithmetic has no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub text: String,
    pub lhs: Option<Datum>,
    pub op: String,
    pub rhs: Option<Datum>,
}

/// An aggregate: its distinct members and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    pub text: String,
    pub members: Vec<Vec<Binding>>,
    /// `None` if it has no value (such as the minimum of nothing).
    pub value: Option<Vec<i64>>,
}

/// Why no row matches a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refutation {
    pub goal: Goal,
    pub lack: Lack,
}

/// The reason why a goal has no row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Lack {
    /// There is no such fact. If the last column is a function of the others, the value that it has instead.
    Fact { instead: Option<Datum> },
    /// There is no such row in any position. `instead` is as for facts.
    Static { instead: Option<Datum> },
    /// No action that was played out gives such a row of a trial.
    Tried,
    /// How far each rule of the relation gets.
    Rules(Vec<Attempt>),
    /// The goal is being refuted already: only itself could support it.
    Circular,
    /// The refutation would be deeper than the limit.
    Deeper,
}

/// The furthest-reaching partial match of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    pub rule: Quote,
    pub bindings: Vec<Binding>,
    /// Number of literals of the body that do not fail with these bindings, also after the first that fails.
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
    /// A variable occurs twice in a positive literal: there are rows of this goal, but none with the same
    /// value in both places.
    Apart(Goal),
    /// A negated literal has a row.
    Present(Proof),
    Compare(Comparison),
    Aggregate(Tally),
}

/// The answer to a question, with its justification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Finding {
    /// It holds: a proof for each row in question.
    #[doc(hidden)]
    Proved(Vec<Proof>),
    /// It does not hold.
    #[doc(hidden)]
    Refuted(Vec<Refutation>),
    /// It is decided by playing the action out.
    #[doc(hidden)]
    Tried(Box<Trial>),
    /// It is decided in the middle of the action.
    #[doc(hidden)]
    Turned(Box<Turning>),
    /// There is nothing to prove or refute: for example, the text names no piece of the side to move.
    Unfounded,
}

/// An action that is played out because its rules alone do not decide it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    pub action: Goal,
    /// The proof that it is pseudo-legal.
    pub tried: Proof,
    /// Why this action is played out although its kind is decided by rules; `None` for other kinds.
    pub because: Option<Proof>,
    /// The facts that expire as it begins: those that last until the next action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expired: Vec<Effect>,
    /// The steps, in order.
    pub steps: Vec<Reacted>,
    /// Number of steps before the decision, if the action declares `until STAGE` and goes on after that
    /// stage; otherwise all steps come before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<usize>,
    pub outcome: Outcome,
}

/// Whether the mover keeps the turn after an action: the action played out up to the moment when reactions
/// ask, and the answer then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turning {
    pub trial: Trial,
    /// Number of its steps before that moment.
    pub steps: usize,
    pub end: TurnEnd,
}

/// The answer, on the facts of that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TurnEnd {
    Kept(Proof),
    Passed(Refutation),
}

/// The outcome of an action that is played out. Proofs and refutations are about the facts after it, or after
/// the stage that decides it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The mover may not leave the position as it is.
    Untenable(Proof),
    /// Nothing forbids it.
    Tenable { goal: Goal, refutation: Option<Refutation> },
    /// The last step vetoes it.
    Refused,
    /// It is endless, or there is no room for it.
    Endless { reason: String },
}

/// The justification of some effects: the reaction, the values of its variables, and the action or event that it
/// reacted to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reacted {
    /// The action or event, with its arguments as they were then.
    pub event: String,
    pub args: Vec<Datum>,
    /// Number of events between the action and this one.
    pub depth: usize,
    pub reaction: Quote,
    pub bindings: Vec<Binding>,
    pub effects: Vec<Effect>,
}

/// An effect of a reaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// A fact is added, replaced or retracted; entity 0 is the game. Where the attribute is of members
    /// of a domain, their number stands for the entity.
    Changed {
        entity: u32,
        attribute: String,
        old: Option<Datum>,
        new: Option<Datum>,
    },
    Spawned {
        entity: u32,
    },
    Raised {
        event: String,
        args: Vec<Datum>,
    },
    /// The event is stopped.
    Stopped,
    /// Later batches of the event see these arguments.
    Passed {
        args: Vec<Datum>,
    },
    Emitted {
        event: String,
        args: Vec<Datum>,
    },
    Noted {
        said: String,
    },
    /// The action is vetoed.
    Vetoed {
        said: String,
    },
    /// The game is to go back that many whole turns.
    Rewound {
        turns: i64,
    },
    /// Code was called; its effects follow. They cannot be checked by the rules.
    Called {
        name: String,
    },
}

impl Turning {
    pub fn keeps(&self) -> bool {
        matches!(self.end, TurnEnd::Kept(_))
    }
}

impl Proof {
    /// Whether nothing is left open because of the depth. (Denied literals are always shown to one level
    /// only.)
    pub fn is_complete(&self) -> bool {
        match &self.ground {
            Ground::Fact { .. } | Ground::Static | Ground::Tried => true,
            Ground::Deeper => false,
            Ground::Rule { premises, .. } => premises.iter().all(|it| match it {
                Premise::Holds(it) => it.is_complete(),
                Premise::Absent { .. } | Premise::Compare(_) | Premise::Aggregate(_) => true,
            }),
        }
    }
}

impl Refutation {
    /// Whether nothing is left open because of the depth.
    pub fn is_complete(&self) -> bool {
        match &self.lack {
            Lack::Fact { .. } | Lack::Static { .. } | Lack::Tried | Lack::Circular => true,
            Lack::Deeper => false,
            Lack::Rules(attempts) => attempts.iter().all(|it| match &it.blocked {
                Blocked::Head | Blocked::Apart(_) | Blocked::Compare(_) | Blocked::Aggregate(_) => {
                    true
                }
                Blocked::Missing(it) => it.is_complete(),
                Blocked::Present(it) => it.is_complete(),
            }),
        }
    }
}

impl Datum {
    pub fn of(program: &Program, ty: Type, raw: i64) -> Self {
        Self { raw, name: program.value_name(ty, raw) }
    }

    /// The values of a row with such columns.
    pub fn row(program: &Program, columns: &[Column], row: &[i64]) -> Vec<Self> {
        columns.iter().zip(row).map(|(column, &raw)| Self::of(program, column.ty, raw)).collect()
    }
}

impl Quote {
    /// The clause of that number, quoted.
    pub fn of(program: &Program, number: usize, span: Span) -> Self {
        Self { rule: number as u16, place: program.place(span), text: program.quote(span) }
    }
}

impl Effect {
    pub fn changed(program: &Program, change: Change) -> Self {
        let datum = |raw| Datum { raw, name: program.fact_value_name(change.attr, raw) };
        Self::Changed {
            entity: change.entity.0,
            attribute: program.schema.attribute(change.attr).name.clone(),
            old: change.old.map(datum),
            new: change.new.map(datum),
        }
    }
}

impl Goal {
    /// The goal for a single row.
    pub fn of(relation: &str, row: &[Datum]) -> Self {
        Self { relation: relation.to_owned(), args: row.iter().cloned().map(Some).collect() }
    }
}

/// `attacks(#3, e4)`, with `_` for open values.
impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let args = self.args.iter().map(|it| it.as_ref().map_or("_", |it| it.name.as_str()));
        write!(f, "{}({})", self.relation, args.collect::<Vec<_>>().join(", "))
    }
}
