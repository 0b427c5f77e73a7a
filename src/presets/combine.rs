//! Checks of sets of activations: no preset twice for one side, none that excludes another,
//! none without what it requires.
//!
//! Deliberately absent: activating a set (`switch`).

use crate::derive::{Refusal, World};
use crate::facts::FactError;
use crate::game::SwitchError;
use crate::rules::{Program, metas};

use super::activation::{Activation, ActivationError};
use super::catalogue::Catalogue;
use super::error::LoadError;

/// One reason why a set of activations cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetFault {
    #[error(transparent)]
    Activation(#[from] ActivationError),
    #[error("{first} and {second} are one preset, twice for one side")]
    Twice { first: String, second: String },
    #[error("{first} and {second} are incompatible: {reason}")]
    Incompatible { first: String, second: String, reason: String },
    #[error("{activation} requires {preset} for a side that it applies to")]
    Requires { activation: String, preset: String },
    #[error("the rules do not go together: {0}")]
    Rules(Box<LoadError>),
    #[error("a fact of the game says {attribute} = {value}, which the new rules do not know")]
    Unknown { attribute: String, value: String },
    #[error(transparent)]
    Fact(#[from] FactError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Switch(#[from] SwitchError),
}

/// Why activations were refused: every reason. Nothing has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", lines(.faults))]
pub struct SetError {
    pub faults: Vec<SetFault>,
}

fn lines(faults: &[SetFault]) -> String {
    let lines: Vec<String> = faults.iter().map(SetFault::to_string).collect();
    lines.join("; ")
}

impl Catalogue {
    /// Where a rule file says what stands against a set of activations: `rules/presets/timid.dl:4`.
    pub fn place_of(&self, fault: &SetFault) -> Option<String> {
        let preset = |it: &str| it.split(':').next().unwrap_or_default().to_owned();
        match fault {
            SetFault::Incompatible { first, second, .. } => {
                let (first, second) = (preset(first), preset(second));
                let line = |of: &str, other: &str| {
                    self.meta_place(of, "incompatible", &|it| preset(it) == other)
                };
                line(&first, &second).or_else(|| line(&second, &first))
            }
            SetFault::Requires { activation, preset: required } => {
                self.meta_place(&preset(activation), "requires", &|it| it == required)
            }
            SetFault::Refused(Refusal::Veto { said }) => Some(said.place.clone()),
            _ => None,
        }
    }

    /// The place of a `.meta` line in a preset's file.
    fn meta_place(&self, preset: &str, key: &str, says: &dyn Fn(&str) -> bool) -> Option<String> {
        let source = self.source_of(preset)?;
        let found = metas(source).into_iter().find(|it| it.key == key && says(&it.value))?;
        Some(format!("{}:{}", source.path, found.span.line))
    }
}

impl From<SetFault> for SetError {
    fn from(fault: SetFault) -> Self {
        Self { faults: vec![fault] }
    }
}

/// For each scope by name, the sides that it takes in, as the rules say.
#[derive(Debug, Clone, Default)]
pub(super) struct Scopes(Vec<(String, Vec<i64>)>);

impl Scopes {
    /// Reads `in_scope(scope, side)`; without it, scopes overlap if they are the same.
    pub(super) fn of(program: &Program, world: &mut World) -> Self {
        let mut scopes: Vec<(String, Vec<i64>)> = Vec::new();
        let Some(rel) = program.relation_named("in_scope") else { return Self::default() };
        let columns = &program.relation(rel).columns;
        for row in world.tuples(rel) {
            let (&[scope, side], Some(column)) = (row.as_slice(), columns.first()) else {
                continue;
            };
            let name = program.value_name(column.ty, scope);
            match scopes.iter_mut().find(|it| it.0 == name) {
                Some((_, sides)) => sides.push(side),
                None => scopes.push((name, vec![side])),
            }
        }
        Self(scopes)
    }

    fn overlap(&self, a: &str, b: &str) -> bool {
        let sides = |name: &str| self.0.iter().find(|it| it.0 == name).map(|it| &it.1);
        a == b
            || match (sides(a), sides(b)) {
                (Some(a), Some(b)) => a.iter().any(|it| b.contains(it)),
                _ => false,
            }
    }
}

/// Everything that is wrong with a set of activations.
pub(super) fn check(
    catalogue: &Catalogue,
    scopes: &Scopes,
    activations: &[Activation],
) -> Vec<SetFault> {
    let mut faults = Vec::new();
    for (at, first) in activations.iter().enumerate() {
        for second in &activations[at + 1..] {
            if scopes.overlap(&first.scope, &second.scope) {
                faults.extend(clash(catalogue, first, second));
            }
        }
        let Ok(entry) = catalogue.find_preset(&first.preset) else { continue };
        for required in &entry.requires {
            let serves = |it: &&Activation| {
                it.preset == *required && scopes.overlap(&it.scope, &first.scope)
            };
            if !activations.iter().any(|it| serves(&it)) {
                let (activation, preset) = (first.to_string(), required.clone());
                faults.push(SetFault::Requires { activation, preset });
            }
        }
    }
    faults
}

/// The reason why two activations for one side cannot be together, if there is one.
fn clash(catalogue: &Catalogue, first: &Activation, second: &Activation) -> Option<SetFault> {
    let names = (first.to_string(), second.to_string());
    if first.preset == second.preset {
        return Some(SetFault::Twice { first: names.0, second: names.1 });
    }
    let reason = |one: &Activation, other: &Activation| {
        let entry = catalogue.find_preset(&one.preset).ok()?;
        let found = entry.incompatible.iter().find(|it| it.0 == other.preset);
        found.map(|it| it.1.clone())
    };
    let reason = reason(first, second).or_else(|| reason(second, first))?;
    Some(SetFault::Incompatible { first: names.0, second: names.1, reason })
}
