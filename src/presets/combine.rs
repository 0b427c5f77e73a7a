//! Checks of sets of activations: no preset twice for one side, none that excludes another,
//! none without what it requires.
//!
//! Deliberately absent: activating a set (`switch`).

use crate::derive::Refusal;

use super::activation::{Activation, preset_of};
use super::catalogue::Catalogue;
use super::error::{LoadError, SetFault};
use super::scopes::Scopes;

impl Catalogue {
    /// The place in a rule file that forbids a set of activations: `rules/presets/timid.dl:4`.
    #[doc(hidden)]
    pub fn place_of(&self, fault: &SetFault) -> Option<String> {
        match fault {
            SetFault::Incompatible { first, second, .. } => {
                let (first, second) = (preset_of(first), preset_of(second));
                let line = |of: &str, other: &str| {
                    self.meta_place(of, "incompatible", &|it| preset_of(it) == other)
                };
                line(first, second).or_else(|| line(second, first))
            }
            SetFault::Requires { activation, preset: required } => {
                self.meta_place(preset_of(activation), "requires", &|it| it == required)
            }
            SetFault::Refused(Refusal::Veto { said }) => Some(said.place.clone()),
            SetFault::Rules(fault) => match &**fault {
                LoadError::Set(error) => error.faults.iter().find_map(|it| self.place_of(it)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The place of a `.meta` line of a preset or game: in its own file, its layout's, or one that these include.
    fn meta_place(&self, name: &str, key: &str, says: &dyn Fn(&str) -> bool) -> Option<String> {
        let preset = self.preset_named(name).map(|it| it.source);
        let game = self.find_game(name).ok();
        let layout = game.and_then(|it| self.layout_of(it));
        let own = [preset, game.map(|it| it.source), layout.map(|it| it.source)];
        let own: Vec<usize> = own.into_iter().flatten().collect();
        let all = self.with_included(&own).unwrap_or_default();
        own.into_iter().chain(all).find_map(|file| {
            let found = self.metas_of(file, key).find(|it| says(&it.value))?;
            Some(format!("{}:{}", self.sources[file].path, found.span.line))
        })
    }
}

/// All faults of a set of activations.
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
        let Some(entry) = catalogue.preset_named(&first.preset) else { continue };
        for required in &entry.requires {
            let serves =
                |it: &Activation| it.preset == *required && scopes.overlap(&it.scope, &first.scope);
            if !activations.iter().any(serves) {
                let (activation, preset) = (first.to_string(), required.clone());
                faults.push(SetFault::Requires { activation, preset });
            }
        }
    }
    faults
}

/// The reason why two activations for one side exclude each other, if they do.
fn clash(catalogue: &Catalogue, first: &Activation, second: &Activation) -> Option<SetFault> {
    let texts = || (first.to_string(), second.to_string());
    if first.preset == second.preset {
        let (first, second) = texts();
        return Some(SetFault::Twice { first, second });
    }
    let reason = |one: &Activation, other: &Activation| {
        let entry = catalogue.preset_named(&one.preset)?;
        let found = entry.incompatible.iter().find(|it| it.0 == other.preset);
        found.map(|it| it.1.clone())
    };
    let reason = reason(first, second).or_else(|| reason(second, first))?;
    let (first, second) = texts();
    Some(SetFault::Incompatible { first, second, reason })
}
