//! Traces: which reactions an action ran, on which event, and what each of them did.
//!
//! Values are raw; displays give them names. An effect's justification is its step:
//! the reaction, the values of its variables, and the event that it reacted to.
//! Deliberately absent: making them (`transaction`).

use std::fmt;

use super::rows::Tuple;
use crate::facts::{Change, EntityId, push_word, with_plurals};
use crate::rules::{Event, EventId, MessagePart, Program, Reaction, Type, VarId};

/// The steps of an action, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The facts that expired as the action began: those that last until the next action.
    pub expired: Vec<Change>,
    pub steps: Vec<Step>,
}

/// One solution of one reaction, and its effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The event that it reacted to: the action or a raised event, with the arguments as they were then.
    pub event: Event,
    pub args: Tuple,
    /// How deep the event is nested: 0 for the action, 1 for an event that a reaction to it raised, and so on.
    pub depth: usize,
    /// The event's place among those of the action, in the order in which they began to be handled; 0 is the action.
    pub number: u32,
    /// The reaction's number in the program; its stage, owner and place are there.
    pub reaction: usize,
    /// The values of its named variables, in the order of [`Reaction::named`].
    pub values: Tuple,
    pub done: Vec<Done>,
}

/// An effect of a reaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// A fact was added, replaced or retracted.
    Changed(Change),
    Spawned(EntityId),
    Raised {
        event: EventId,
        args: Tuple,
    },
    Stopped,
    Passed {
        args: Tuple,
    },
    Emitted {
        event: EventId,
        args: Tuple,
    },
    Noted {
        said: Said,
    },
    /// The action was refused. Always the last of a trace.
    Vetoed {
        said: Said,
    },
    /// The game is to go back that many whole turns, the one under way included.
    Rewound {
        turns: i64,
    },
    /// Code that is registered for the preset was called; its effects follow.
    Called {
        name: String,
        args: Tuple,
    },
}

/// A message of a reaction: a veto's reason or a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The place of the reaction.
    pub place: String,
    pub parts: Vec<SaidPart>,
    /// The text with plain names of values, for callers without better ones.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaidPart {
    Text(String),
    Value { ty: Type, raw: i64 },
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Said {
    /// The message of a reaction with the values of its variables.
    pub(super) fn new(
        program: &Program,
        reaction: &Reaction,
        parts: &[MessagePart],
        value: impl Fn(VarId) -> i64,
    ) -> Self {
        let part = |part: &MessagePart| match part {
            MessagePart::Text(text) => SaidPart::Text(text.clone()),
            MessagePart::Value(var) => {
                let ty = reaction.vars[usize::from(var.0)].ty;
                SaidPart::Value { ty, raw: value(*var) }
            }
        };
        let parts: Vec<SaidPart> = parts.iter().map(part).collect();
        let mut said = Self { place: program.place(reaction.span), parts, text: String::new() };
        said.text = said.render(&|ty, raw| program.value_name(ty, raw));
        said
    }

    /// A message of called code.
    pub(super) fn plain(place: String, text: &str) -> Self {
        Self { place, parts: vec![SaidPart::Text(text.into())], text: text.into() }
    }

    /// The text, with values named by the caller.
    pub fn render(&self, names: &dyn Fn(Type, i64) -> String) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                SaidPart::Text(it) => text.push_str(it),
                SaidPart::Value { ty, raw } => push_word(&mut text, &names(*ty, *raw)),
            }
        }
        with_plurals(text)
    }
}

impl Trace {
    /// Everything done, with the step that did it.
    pub fn done(&self) -> impl Iterator<Item = (&Step, &Done)> {
        self.steps.iter().flat_map(|step| step.done.iter().map(move |done| (step, done)))
    }

    /// The number of whole turns that the game is to go back, by the last reaction that rewinds.
    pub fn rewind(&self) -> Option<i64> {
        let turns = |done: &Done| match done {
            Done::Rewound { turns } => Some(*turns),
            _ => None,
        };
        self.done().filter_map(|it| turns(it.1)).last()
    }

    /// Whether nothing but facts changed, and only by reactions of the core and the game, not of presets or modules.
    pub fn is_plain(&self, program: &Program) -> bool {
        let owned = |it: &Step| program.reactions[it.reaction].owner.is_some();
        self.expired.is_empty()
            && !self.steps.iter().any(owned)
            && self.done().all(|it| matches!(it.1, Done::Changed(_)))
    }

    /// Bytes on the heap, without texts and without tuples that are too long to be stored in place.
    pub fn heap_bytes(&self) -> usize {
        let done: usize = self.steps.iter().map(|it| it.done.capacity()).sum();
        self.steps.capacity() * size_of::<Step>()
            + self.expired.capacity() * size_of::<Change>()
            + done * size_of::<Done>()
    }
}
