//! Which presets bring a file into a program.
//!
//! Deliberately absent: which of them are active, which facts say.

use std::collections::BTreeSet;

use super::Program;
use super::domains::PRESETS;
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

/// The files that a file includes, each as the first of the places where it may be.
fn included_by(program: &Program, sources: &[Source], at: usize) -> Vec<usize> {
    let lines = program.meta.iter();
    let lines = lines.filter(|it| usize::from(it.span.source) == at && it.key == "include");
    let find = |path: &String| sources.iter().position(|it| it.path == *path);
    let paths = lines.filter_map(|it| included(&sources[at].path, &it.value));
    paths.filter_map(|it| it.iter().find_map(find)).collect()
}
