//! What it takes to make a preset active in the middle of a game, its legal moves listed: the first time,
//! when nobody has compiled such a set before, and again.
//!
//! Wall time, the least of several runs: a few milliseconds are too short for the clock of CPU time.
//! The moves are compared with those of a game that had the preset from its start.

use std::time::Instant;

use anyhow::ensure;
use serde::Serialize;

use crate::cli::args::DEFAULT_GAME;
use crate::cli::output::Out;
use crate::cli::setup::Library;
use crate::game::Game;
use crate::presets::Catalogue;

/// A line of the table: over all presets, each with what it requires.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) what: &'static str,
    pub(crate) sets: usize,
    /// Milliseconds.
    pub(crate) median: f64,
    pub(crate) worst: f64,
    pub(crate) worst_set: String,
}

pub(crate) fn run(library: &mut Library, quick: bool) -> anyhow::Result<Vec<Row>> {
    let catalogue = Catalogue::embedded()?;
    let (mut first, mut again, mut off) = (Vec::new(), Vec::new(), Vec::new());
    for preset in catalogue.presets() {
        let set = catalogue.with_required(&[&preset.preset]);
        let expected = moves(&mut library.load(DEFAULT_GAME, &set)?.start(None)?);
        let mut best = [f64::MAX; 3];
        for _ in 0..if quick { 2 } else { 9 } {
            let times = times(&set, &expected)?;
            best = std::array::from_fn(|at| best[at].min(times[at]));
        }
        for (all, time) in [&mut first, &mut off, &mut again].into_iter().zip(best) {
            all.push((time, preset.preset.clone()));
        }
    }
    Ok(vec![row("on, the first time", first), row("on again", again), row("off", off)])
}

/// Milliseconds to make a set active, to take it off, and to make it active again.
fn times(set: &[String], expected: &[String]) -> anyhow::Result<[f64; 3]> {
    // One that has compiled the game, and nothing else.
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
        ensure!(found == *expected, "{wanted:?} leaves the moves {found:?}");
    }
    Ok(times)
}

fn moves(game: &mut Game) -> Vec<String> {
    game.listing().into_iter().map(|it| it.0).collect()
}

fn row(what: &'static str, mut times: Vec<(f64, String)>) -> Row {
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = times.get(times.len() / 2).map_or(0.0, |it| it.0);
    let sets = times.len();
    let (worst, worst_set) = times.pop().unwrap_or_default();
    Row { what, sets, median, worst, worst_set }
}

pub(crate) fn print(rows: &[Row], out: &mut Out) -> anyhow::Result<()> {
    for Row { what, sets, median, worst, worst_set } in rows {
        out.line(format_args!(
            "{what:22}{sets:>4} presets: median {median:.2}, worst {worst:.2} ({worst_set})"
        ))?;
    }
    Ok(())
}
