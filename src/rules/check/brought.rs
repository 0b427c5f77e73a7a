//! Which presets bring a file into a program, and what it states on their account.
//!
//! Deliberately absent: which of them are active, which facts say.

use std::collections::{BTreeMap, BTreeSet};

use super::domains::PRESETS;
use super::{Program, Role};
use crate::facts::AttrId;
use crate::rules::source::{Source, included};

/// For each file the presets that bring it, by their raw values; `None` for a file that is there without any of them.
pub(super) fn brought(program: &Program, sources: &[Source]) -> Vec<Option<Vec<i64>>> {
    let presets = program.schema.domain_named(PRESETS).map(|it| program.schema.domain(it));
    let has = |at: usize, key: &str| {
        program.meta.iter().any(|it| usize::from(it.span.source) == at && it.key == key)
    };
    let includes: Vec<Vec<usize>> =
        (0..sources.len()).map(|it| included_by(program, sources, it)).collect();
    let shared: BTreeSet<usize> = includes.iter().flatten().copied().collect();
    let mut brought = vec![Some(Vec::new()); sources.len()];
    for at in 0..sources.len() {
        let by = program.preset_of(at as u16).and_then(|it| presets?.member(it));
        // A module comes with the files that include it; without any, it was added for other reasons.
        if by.is_none() && shared.contains(&at) && has(at, "module") {
            continue;
        }
        let mut open = vec![at];
        let mut seen = BTreeSet::new();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                match (by, &mut brought[file]) {
                    (None, it) => *it = None,
                    (Some(preset), Some(all)) => all.push(preset),
                    (Some(_), None) => {}
                }
                open.extend(&includes[file]);
            }
        }
    }
    brought
}

/// For each preset (its raw value) the attributes that are there on account of presets alone, and that it does not
/// state itself: those of modules. Options are left out, and facts that expire by themselves. None in programs without the
/// line `.meta forget "modules"`.
pub(super) fn of_modules(program: &Program, brought: &[Option<Vec<i64>>]) -> Vec<(i64, AttrId)> {
    if !program.meta.iter().any(|it| it.key == "forget" && it.value == "modules") {
        return Vec::new();
    }
    let mut bringers: BTreeMap<u16, Option<BTreeSet<i64>>> = BTreeMap::new();
    for relation in &program.relations {
        let Role::Input(input) = relation.role else { continue };
        let is_option = relation.columns.first().is_some_and(|it| it.name == "activation");
        let by = brought.get(usize::from(relation.span.source)).and_then(Option::as_ref);
        for attr in input.attrs() {
            let all = bringers.entry(attr.0).or_insert_with(|| Some(BTreeSet::new()));
            match (by.filter(|_| !is_option), all) {
                (Some(by), Some(all)) => all.extend(by),
                (_, all) => *all = None,
            }
        }
    }
    let stays = |attr: AttrId| {
        let is_own = program.stated.iter().any(|it| it.1 == attr);
        is_own || program.expiry.takes_back(attr) || program.is_before(attr)
    };
    let all = bringers.into_iter().filter_map(|(attr, by)| Some((AttrId(attr), by?)));
    let all = all.filter(|it| !stays(it.0));
    all.flat_map(|(attr, by)| by.into_iter().map(move |it| (it, attr))).collect()
}

/// The files that a file includes, each as the first of the places where it may be.
fn included_by(program: &Program, sources: &[Source], at: usize) -> Vec<usize> {
    let lines = program.meta.iter();
    let lines = lines.filter(|it| usize::from(it.span.source) == at && it.key == "include");
    let find = |path: &String| sources.iter().position(|it| it.path == *path);
    let paths = lines.filter_map(|it| included(&sources[at].path, &it.value));
    paths.filter_map(|it| it.iter().find_map(find)).collect()
}
