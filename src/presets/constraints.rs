//! Which presets go together: what they require and what they cannot stand, by their metadata.
//!
//! Only presets that are active for the same side meet: `white` and `black` never do. Deliberately
//! absent: turning presets on and off in a game.

use super::catalogue::PresetEntry;

/// Whether two scopes have a side in common.
fn overlap(one: &str, other: &str) -> bool {
    one == other || one == "both" || other == "both"
}

/// Everything that is wrong with the presets themselves: names that there are not, an aversion that
/// the other one does not share, a circle of requirements.
pub(super) fn faults(presets: &[PresetEntry]) -> Vec<String> {
    let mut faults = Vec::new();
    let find = |name: &str| presets.iter().find(|it| it.preset == name);
    for entry in presets {
        let name = &entry.preset;
        for needed in entry.requires.iter().filter(|it| find(it).is_none()) {
            faults.push(format!("preset {name} requires {needed}, which there is not"));
        }
        for (other, _) in &entry.incompatible {
            match find(other) {
                None => faults.push(format!("preset {name} excludes {other}, which there is not")),
                Some(it) if it.incompatible.iter().all(|it| it.0 != *name) => {
                    faults
                        .push(format!("preset {name} excludes {other}, which does not exclude it"));
                }
                Some(_) => {}
            }
        }
        if let Some(circle) = circle(presets, entry) {
            faults.push(format!("presets require each other in a circle: {}", circle.join(" -> ")));
        }
    }
    faults
}

/// The way from a preset through what it requires back to itself, told by its first name only.
fn circle(presets: &[PresetEntry], start: &PresetEntry) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.preset.clone()]];
    while let Some(way) = ways.pop() {
        let last = presets.iter().find(|it| Some(&it.preset) == way.last())?;
        for next in &last.requires {
            let mut longer = way.clone();
            longer.push(next.clone());
            if *next == start.preset {
                let first = longer.iter().min() == Some(&start.preset);
                return first.then_some(longer);
            }
            if !way.contains(next) && presets.iter().any(|it| it.preset == *next) {
                ways.push(longer);
            }
        }
    }
    None
}

/// Every reason why these presets, each with its scope, cannot be active together.
pub(super) fn clashes(presets: &[PresetEntry], active: &[(&str, &str)]) -> Vec<String> {
    let mut clashes = Vec::new();
    for (at, &(name, scope)) in active.iter().enumerate() {
        let Some(entry) = presets.iter().find(|it| it.preset == name) else { continue };
        for needed in &entry.requires {
            let met = active.iter().any(|it| it.0 == needed && overlap(it.1, scope));
            if !met {
                clashes.push(format!("preset {name} requires {needed} for {scope}"));
            }
        }
        for &(other, other_scope) in &active[..at] {
            let aversion = entry.incompatible.iter().find(|it| it.0 == other);
            if let Some((_, reason)) = aversion.filter(|_| overlap(scope, other_scope)) {
                clashes.push(format!("presets {other} and {name} exclude each other: {reason}"));
            }
        }
    }
    clashes
}
