//! The time to activate presets in a game that began without them, before its first move, and to list the legal
//! moves afterwards. Three changes are measured, one after the other: the first activation, when this set of presets
//! has never been compiled, the deactivation, and the second activation.
//!
//! The time is wall time, the least of several runs. Most other tables have CPU time, but the clock of CPU time is too
//! coarse for a few milliseconds. The moves are compared with those of a game that had the presets from its start.

use std::time::Instant;

use anyhow::ensure;
use serde::Serialize;

use crate::cli::args::DEFAULT_GAME;
use crate::game::Game;
use crate::presets::{Catalogue, LoadError};

/// A line of the table, about many sets of presets: each preset with those that it requires, or pairs of the slowest of
/// these sets.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    what: &'static str,
    sets: usize,
    /// Milliseconds.
    median: f64,
    worst: f64,
    worst_set: String,
}

/// Number of slowest sets of which each pair is measured, too.
const SLOWEST: usize = 6;

pub(super) fn run(quick: bool) -> anyhow::Result<Vec<Figures>> {
    let catalogue = Catalogue::embedded()?;
    let runs = if quick { 2 } else { 9 };
    let mut singles = Vec::new();
    for preset in super::presets::fitting(&catalogue) {
        let set = catalogue.with_required(&[&preset.preset]);
        singles.extend(shortest(&catalogue, set, runs)?);
    }
    let mut slowest: Vec<&Times> = singles.iter().collect();
    slowest.sort_by(|a, b| b.first.total_cmp(&a.first));
    slowest.truncate(SLOWEST);
    let mut pairs = Vec::new();
    for (at, first) in slowest.iter().enumerate() {
        for second in &slowest[at + 1..] {
            if let Some(set) = joined(&first.set, &second.set) {
                pairs.extend(shortest(&catalogue, set, runs)?);
            }
        }
    }
    Ok(vec![
        row("on, the first time", singles.iter().map(|it| (it.first, it))),
        row("two of the slowest", pairs.iter().map(|it| (it.first, it))),
        row("on again", singles.iter().map(|it| (it.again, it))),
        row("off", singles.iter().map(|it| (it.off, it))),
    ])
}

/// The union of two sets. `None` if one contains the other: it was measured by itself.
fn joined(first: &[String], second: &[String]) -> Option<Vec<String>> {
    let rest: Vec<String> = second.iter().filter(|it| !first.contains(it)).cloned().collect();
    let is_pair = !rest.is_empty() && first.iter().any(|it| !second.contains(it));
    is_pair.then(|| [first, rest.as_slice()].concat())
}

/// The times of a set of presets, in milliseconds: to activate it first, to deactivate it, and to activate it again.
struct Times {
    set: Vec<String>,
    first: f64,
    off: f64,
    again: f64,
}

/// The shortest times of several runs. `None` if the presets of the set do not go together.
fn shortest(catalogue: &Catalogue, set: Vec<String>, runs: usize) -> anyhow::Result<Option<Times>> {
    let expected = match catalogue.load(DEFAULT_GAME, &set) {
        Ok(rules) => moves(&mut rules.start(None)?),
        Err(LoadError::Set(_)) => return Ok(None),
        Err(why) => return Err(why.into()),
    };
    let mut best = [f64::MAX; 3];
    for _ in 0..runs {
        let times = times(&set, &expected)?;
        best = std::array::from_fn(|at| best[at].min(times[at]));
    }
    let [first, off, again] = best;
    Ok(Some(Times { set, first, off, again }))
}

/// Milliseconds to activate a set, to deactivate it, and to activate it again.
fn times(set: &[String], expected: &[String]) -> anyhow::Result<[f64; 3]> {
    // A catalogue that has compiled the game, and nothing else.
    let catalogue = Catalogue::embedded()?;
    let mut rules = catalogue.load::<&str>(DEFAULT_GAME, &[])?;
    let mut game = rules.start(None)?;
    let plain = moves(&mut game);
    let mut times = [0.0; 3];
    for (time, (wanted, expected)) in
        times.iter_mut().zip([(set, expected), (&[], &plain), (set, expected)])
    {
        let started = Instant::now();
        rules = catalogue.set_active(&rules, &mut game, wanted)?;
        let found = game.listing();
        *time = started.elapsed().as_secs_f64() * 1e3;
        let found: Vec<String> = found.into_iter().map(|it| it.0).collect();
        ensure!(found == *expected, "{wanted:?}: the moves are {found:?}, expected {expected:?}");
    }
    Ok(times)
}

fn moves(game: &mut Game) -> Vec<String> {
    game.listing().into_iter().map(|it| it.0).collect()
}

fn row<'t>(what: &'static str, times: impl Iterator<Item = (f64, &'t Times)>) -> Figures {
    let mut times: Vec<(f64, &Times)> = times.collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = times.get(times.len() / 2).map_or(0.0, |it| it.0);
    let (worst, worst_set) =
        times.last().map_or((0.0, String::new()), |it| (it.0, it.1.set.join(" ")));
    Figures { what, sets: times.len(), median, worst, worst_set }
}

pub(super) fn lines(rows: &[Figures]) -> Vec<String> {
    let line = |Figures { what, sets, median, worst, worst_set }: &Figures| {
        format!("{what:22}{sets:>4} sets: median {median:.2}, worst {worst:.2} ({worst_set})")
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_what_both_require_once() {
        let set = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(joined(&set("a b"), &set("a c")), Some(set("a b c")));
        assert_eq!(joined(&set("a"), &set("b c")), Some(set("a b c")));
        assert_eq!(joined(&set("a b"), &set("a")), None);
        assert_eq!(joined(&set("a"), &set("a b")), None);
    }
}
