//! Checks the definitions of all presets of a catalogue, each by itself and against the others: names, mutual
//! exclusions, requirements, attributes. All faults are reported at once.
//!
//! Deliberately absent: what is active in a game (`combine`).

use std::collections::HashMap;
use std::iter;

use crate::facts::{meant, nearest};
use crate::rules::{InputHead, Source, inputs};

use super::activation::{TURNS, joined};
use super::entry::{PartEntry, PresetEntry};

/// A fault in the definition of a preset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DefinitionFault {
    #[error("preset {preset} {verb} {name}, which does not exist{}", meant(.near))]
    Unknown { preset: String, verb: &'static str, name: String, near: Option<String> },
    #[error("preset {preset} is incompatible with {other}, which does not say so of {preset}")]
    OneSided { preset: String, other: String },
    #[error("{path} is a part of preset {preset}, which does not exist{}", meant(.near))]
    Part { path: String, preset: String, near: Option<String> },
    #[error(
        "preset {preset} has an option {option}, which cannot be chosen: in an activation, \
         {option} says how long it lasts"
    )]
    Reserved { preset: String, option: &'static str },
    #[error("presets require each other: {}", cycle.join(" -> "))]
    Cycle { cycle: Vec<String> },
    #[error(
        "attribute {attribute} is {first} in preset {first_preset} and {second} in preset \
         {second_preset}"
    )]
    Clash {
        attribute: String,
        first: String,
        first_preset: String,
        second: String,
        second_preset: String,
    },
}

/// The faults in the definitions of presets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", joined(.faults))]
pub struct DefinitionError {
    /// The faults: of names and exclusions, in the order of the presets; then of parts, of cycles, of inputs.
    pub faults: Vec<DefinitionFault>,
}

/// All faults of the presets.
///
/// With `is_part`, the catalogue has only some of the presets, as a save has those of its game: excluded ones may then be
/// unknown.
pub(super) fn check(
    presets: &[PresetEntry],
    parts: &[PartEntry],
    sources: &[Source],
    is_part: bool,
) -> Vec<DefinitionFault> {
    let mut faults = Vec::new();
    for preset in presets {
        find_unknown(preset, presets, is_part, &mut faults);
        find_one_sided(preset, presets, &mut faults);
    }
    for part in parts {
        if presets.iter().all(|it| it.preset != part.preset) {
            let near = nearest(&part.preset, presets.iter().map(|it| it.preset.as_str()));
            let path = sources[part.source].path.clone();
            let (preset, near) = (part.preset.clone(), near.map(String::from));
            faults.push(DefinitionFault::Part { path, preset, near });
        }
    }
    find_cycles(presets, &mut faults);
    check_inputs(presets, parts, sources, &mut faults);
    faults
}

fn find_unknown(
    preset: &PresetEntry,
    presets: &[PresetEntry],
    is_part: bool,
    faults: &mut Vec<DefinitionFault>,
) {
    let required = preset.requires.iter().map(|it| ("requires", it));
    let excluded = preset.incompatible.iter().filter(|_| !is_part);
    let excluded = excluded.map(|it| ("is incompatible with", &it.0));
    for (verb, name) in required.chain(excluded) {
        if presets.iter().all(|it| it.preset != *name) {
            let near = nearest(name, presets.iter().map(|it| it.preset.as_str()));
            faults.push(DefinitionFault::Unknown {
                preset: preset.preset.clone(),
                verb,
                name: name.clone(),
                near: near.map(String::from),
            });
        }
    }
}

fn find_one_sided(
    preset: &PresetEntry,
    presets: &[PresetEntry],
    faults: &mut Vec<DefinitionFault>,
) {
    for (name, _) in &preset.incompatible {
        let other = presets.iter().find(|it| it.preset == *name);
        if other.is_some_and(|it| it.incompatible.iter().all(|it| it.0 != preset.preset)) {
            let (preset, other) = (preset.preset.clone(), name.clone());
            faults.push(DefinitionFault::OneSided { preset, other });
        }
    }
}

/// Finds cycles of requirements. A cycle begins with its first preset in the order of the catalogue; for each preset that
/// cycles begin with, at least one of them is found.
fn find_cycles(presets: &[PresetEntry], faults: &mut Vec<DefinitionFault>) {
    let at: HashMap<&str, usize> =
        presets.iter().enumerate().map(|(at, it)| (it.preset.as_str(), at)).collect();
    for start in 0..presets.len() {
        let mut paths = vec![vec![start]];
        let mut seen = vec![false; presets.len()];
        while let Some(path) = paths.pop() {
            let Some(&last) = path.last() else { continue };
            let required = presets[last].requires.iter().filter_map(|it| at.get(it.as_str()));
            for next in required.filter(|it| **it >= start) {
                if *next == start {
                    let names = path.iter().chain([&start]);
                    let cycle = names.map(|&it| presets[it].preset.clone()).collect();
                    faults.push(DefinitionFault::Cycle { cycle });
                } else if !std::mem::replace(&mut seen[*next], true) {
                    let mut longer = path.clone();
                    longer.push(*next);
                    paths.push(longer);
                }
            }
        }
    }
}

/// Finds options called `turns`, which every activation has, and attributes that two presets export with different
/// types, even if these presets exclude each other.
fn check_inputs(
    presets: &[PresetEntry],
    parts: &[PartEntry],
    sources: &[Source],
    faults: &mut Vec<DefinitionFault>,
) {
    // By exported attribute, its type and its preset where it is declared first.
    let mut declared: HashMap<String, (String, &PresetEntry)> = HashMap::new();
    for preset in presets {
        let reserved = format!("{}.{TURNS}", preset.preset);
        let parts = parts.iter().filter(|it| it.preset == preset.preset).map(|it| it.source);
        for input in iter::once(preset.source).chain(parts).flat_map(|it| inputs(&sources[it])) {
            if input.attribute == reserved {
                let (preset, option) = (preset.preset.clone(), TURNS);
                faults.push(DefinitionFault::Reserved { preset, option });
            }
            if !input.exported {
                continue;
            }
            let ty = type_of(&input);
            let (first, first_preset) =
                declared.entry(input.attribute.clone()).or_insert_with(|| (ty.clone(), preset));
            if *first != ty {
                faults.push(DefinitionFault::Clash {
                    attribute: input.attribute,
                    first: first.clone(),
                    first_preset: first_preset.preset.clone(),
                    second: ty,
                    second_preset: preset.preset.clone(),
                });
            }
        }
    }
}

/// The type and the owner of an input: `Int of entities`.
fn type_of(input: &InputHead) -> String {
    let keys = usize::from(input.of_entities || input.of.is_some());
    let value = input.columns.get(keys).map_or("Bool", |it| it.1.as_str());
    let owner = match &input.of {
        Some(domain) => domain,
        None if input.of_entities => "entities",
        None => "the game",
    };
    format!("{value} of {owner}")
}
