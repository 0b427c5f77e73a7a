//! The report on an action that was played, as plain data with names: for displays of effects, and for the question what
//! an action did (`trace` in `rulemate play`). It is made only on request.
//!
//! Deliberately absent: proofs of the action (saves have them), and the records themselves (`record`).

use serde::Serialize;

use crate::derive::{Done, Step};
use crate::facts::{Change, SavedOwner, Snapshot, owner};
use crate::moves::{Contract, value_name};
use crate::rules::{Event, Program, Type};

use super::play::Game;
use super::record::Record;

/// An action with all that it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionReport {
    /// Its text in UCI.
    pub uci: String,
    /// Its text in SAN.
    pub san: String,
    /// Facts that expired as it began: those that last until the next action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expired: Vec<ReportFact>,
    /// The steps of the reactions, in order. Empty if all that happened is that reactions of the core and the game
    /// changed facts: no preset took part, nothing expired, and no event was raised.
    pub steps: Vec<ReportStep>,
    /// The facts that have changed.
    pub facts: Vec<ReportFact>,
    /// The events that were emitted for displays of the game, in order.
    pub emitted: Vec<ReportEvent>,
    /// Sentences that reactions noted; if the action ended in a rewind, only those of the reaction that rewound.
    pub notes: Vec<String>,
    /// How the game ended, if this was its last action: by this action, or after it by a resignation, a claim or a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// One solution of one reaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportStep {
    /// The preset that has the reaction; none for the core and the game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The stage of the reaction.
    pub stage: String,
    /// The action or event that it reacted to.
    pub on: ReportEvent,
    /// The place of the reaction.
    pub place: String,
    /// Its effects, in order.
    pub did: Vec<ReportEffect>,
}

/// An action or an event with its arguments in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportEvent {
    /// Its name in the rules.
    pub name: String,
    /// Names of columns with values in words.
    pub args: Vec<(String, String)>,
}

/// One thing that a reaction did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportEffect {
    /// A fact was added, replaced or retracted.
    Changed(ReportFact),
    /// An entity was made.
    Spawned(u32),
    /// An event was raised.
    Raised(ReportEvent),
    /// The event was stopped.
    Stopped,
    /// The event goes on with other arguments.
    Passed(ReportEvent),
    /// An event for displays of the game was emitted; nothing reacts to it.
    Emitted(ReportEvent),
    /// A sentence was added to the record.
    Noted(String),
    /// The game goes back that many turns.
    Rewound(i64),
    /// Code was called, by this name.
    Called(String),
    /// The action was refused, for this reason. No report has it: only actions that were played have reports.
    Vetoed(String),
}

/// A fact that has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportFact {
    /// The number of the entity that has the fact, or the name of a member of a domain (a side, a square).
    pub entity: SavedOwner,
    /// By name.
    pub attribute: String,
    /// The value before, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// The value now, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
}

impl Game {
    /// The report on the action of that number, the first being 0.
    pub fn report(&self, at: usize) -> Option<ActionReport> {
        let record = self.history().get(at)?;
        let before = self.position_before(at);
        let (program, contract) = self.rules_of(record);
        let reporter = Reporter { program, before, contract, record };
        let steps: Vec<ReportStep> =
            record.trace().iter().flat_map(|it| &it.steps).map(|it| reporter.step(it)).collect();
        let emitted = |it: &ReportEffect| match it {
            ReportEffect::Emitted(event) => Some(event.clone()),
            _ => None,
        };
        let is_last = at + 1 == self.history().len();
        let result = self.result().filter(|_| is_last).map(ToString::to_string);
        Some(ActionReport {
            uci: record.uci.to_string(),
            san: record.san.to_string(),
            emitted: steps.iter().flat_map(|it| &it.did).filter_map(emitted).collect(),
            expired: record
                .trace()
                .iter()
                .flat_map(|it| &it.expired)
                .map(|it| reporter.fact(it))
                .collect(),
            facts: record.delta.changes().map(|it| reporter.fact(&it)).collect(),
            notes: record.notes().iter().map(ToString::to_string).collect(),
            steps,
            result,
        })
    }
}

/// An action with the names of its time.
struct Reporter<'g> {
    program: &'g Program,
    contract: &'g Contract,
    before: Snapshot,
    record: &'g Record,
}

impl Reporter<'_> {
    fn step(&self, step: &Step) -> ReportStep {
        let reaction = &self.program.reactions[step.reaction];
        let preset = reaction.owner.and_then(|it| self.program.preset_of(it));
        ReportStep {
            preset: preset.map(str::to_owned),
            stage: self.program.stage(reaction.stage).name.clone(),
            on: self.event(step.event, &step.args),
            place: self.program.place(reaction.span),
            did: step.done.iter().map(|it| self.effect(it, step)).collect(),
        }
    }

    fn effect(&self, done: &Done, step: &Step) -> ReportEffect {
        match done {
            Done::Changed(it) => ReportEffect::Changed(self.fact(it)),
            Done::Spawned(it) => ReportEffect::Spawned(it.0),
            Done::Raised { event, args } => {
                ReportEffect::Raised(self.event(Event::Raised(*event), args))
            }
            Done::Stopped => ReportEffect::Stopped,
            Done::Passed { args } => ReportEffect::Passed(self.event(step.event, args)),
            Done::Emitted { event, args } => {
                ReportEffect::Emitted(self.event(Event::Raised(*event), args))
            }
            Done::Noted { said } => ReportEffect::Noted(said.render(&|ty, raw| self.name(ty, raw))),
            Done::Rewound { turns } => ReportEffect::Rewound(*turns),
            Done::Called { name, .. } => ReportEffect::Called(name.clone()),
            Done::Vetoed { said } => {
                ReportEffect::Vetoed(said.render(&|ty, raw| self.name(ty, raw)))
            }
        }
    }

    fn event(&self, event: Event, args: &[i64]) -> ReportEvent {
        let columns = self.program.event_columns(event).iter().zip(args);
        ReportEvent {
            name: self.program.event_name(event).to_string(),
            args: columns.map(|(it, &raw)| (it.name.clone(), self.name(it.ty, raw))).collect(),
        }
    }

    /// Names pieces as before the action, and new pieces as after it.
    fn name(&self, ty: Type, raw: i64) -> String {
        let facts = |entity, attr| {
            let then = self.before.get_raw(entity, attr);
            then.or_else(|| self.record.delta.of(entity, attr)?.new)
        };
        value_name(self.program, &facts, self.contract, ty, raw)
    }

    fn fact(&self, change: &Change) -> ReportFact {
        let attribute = self.program.schema.attribute(change.attr);
        ReportFact {
            entity: owner(&self.program.schema, change.attr, change.entity),
            attribute: attribute.name.clone(),
            was: change.old.map(|it| self.program.fact_value_name(change.attr, it)),
            is: change.new.map(|it| self.program.fact_value_name(change.attr, it)),
        }
    }
}
