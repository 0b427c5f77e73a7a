//! `rulemate bench`: the tables of the README, peers included when installed.
//!
//! Figures are of this machine and this run; only the ratios are portable.

mod activate;
mod audit;
mod derive;
mod explain;
mod hosted;
mod memory;
mod meter;
mod peer;
mod perft;
mod presets;
mod startup;

use std::collections::BTreeMap;

use clap::ValueEnum;
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::Value;

use super::Verdict;
use super::args::{BenchArgs, BenchTable, RulesArgs};
use super::output::{Ink, Out, progress};
use super::setup::Library;
use crate::game::Game;
use crate::moves::Move;
pub use meter::Meter;
pub use peer::{Count as PeerCount, Peer};

/// Half-moves of the games that `hosted` and `memory` play.
const PLIES: usize = 80;

#[derive(Debug, Serialize)]
struct Answer {
    processor: String,
    measure: &'static str,
    peers: Vec<String>,
    #[serde(flatten)]
    tables: BTreeMap<BenchTable, Table>,
}

/// A table that was measured.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Table {
    #[serde(skip)]
    title: &'static str,
    figures: Value,
    /// The figures for people.
    #[serde(skip)]
    lines: Vec<String>,
}

impl Table {
    fn of<F: Serialize>(
        title: &'static str,
        figures: F,
        lines: impl FnOnce(&F) -> Vec<String>,
    ) -> anyhow::Result<Self> {
        Ok(Self { title, figures: serde_json::to_value(&figures)?, lines: lines(&figures) })
    }
}

pub(crate) fn run(args: &BenchArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut library = Library::new(&RulesArgs::default())?;
    let mut peers: Vec<Peer> = args.peer.iter().filter_map(|it| Peer::start(it)).collect();
    let answer = Answer {
        processor: meter::processor(),
        measure: meter::quantity(),
        tables: measure(args, &mut library, &mut peers)?,
        peers: peers.iter().map(|it| it.name.clone()).collect(),
    };
    if args.json {
        out.json(&answer)?;
    } else {
        print(&answer, out)?;
    }
    Ok(Verdict::Fine)
}

/// The requested tables.
fn measure(
    args: &BenchArgs,
    library: &mut Library,
    peers: &mut [Peer],
) -> anyhow::Result<BTreeMap<BenchTable, Table>> {
    let is_wanted = |it: &BenchTable| args.only.is_empty() || args.only.contains(it);
    let all = BenchTable::value_variants().iter().copied();
    let mut wanted: Vec<BenchTable> = all.filter(is_wanted).collect();
    // Comes first: later, games would take memory that other tables have freed, and the process would not grow.
    wanted.sort_by_key(|it| *it != BenchTable::Memory);
    let rows = if is_wanted(&BenchTable::Perft) { perft::count() } else { 0 };
    let bar = progress(rows + wanted.len() as u64, "bench");
    let mut tables = BTreeMap::new();
    for table in wanted {
        tables.insert(table, measure_one(table, args, library, peers, &bar)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(tables)
}

fn measure_one(
    table: BenchTable,
    args: &BenchArgs,
    library: &mut Library,
    peers: &mut [Peer],
    bar: &ProgressBar,
) -> anyhow::Result<Table> {
    let quick = args.quick;
    match table {
        BenchTable::Perft => {
            let names: Vec<String> = peers.iter().map(|it| it.name.clone()).collect();
            let rows = perft::run(library, peers, quick, || bar.inc(1))?;
            let title = "Counting trees, million nodes a second";
            Table::of(title, rows, |it| perft::lines(it, &names))
        }
        BenchTable::Derive => {
            let title = "Deriving the legal moves of chess, microseconds a position";
            Table::of(title, derive::run(library, quick)?, |it| derive::lines(it))
        }
        BenchTable::Presets => {
            let title = "Legal moves under each preset, beside chess in the same run";
            let rows = presets::run(library, &args.preset, quick)?;
            Table::of(title, rows, |it| presets::lines(it))
        }
        BenchTable::Activate => {
            let title =
                "Presets in the middle of a game, legal moves listed, milliseconds of wall time";
            Table::of(title, activate::run(quick)?, |it| activate::lines(it))
        }
        BenchTable::Explain => {
            let title = "Explaining a move of chess, tree complete, microseconds";
            Table::of(title, explain::run(library, quick)?, |it| explain::lines(it))
        }
        BenchTable::Hosted => {
            let title = "A hosted move of chess, microseconds";
            Table::of(title, hosted::run(library, quick)?, hosted::lines)
        }
        BenchTable::Memory => {
            let title = "Memory of a live game of chess, kilobytes";
            Table::of(title, memory::run(library, quick)?, memory::lines)
        }
        BenchTable::Startup => {
            let title = "Start-up: `rulemate moves`, milliseconds";
            Table::of(title, startup::run(quick)?, startup::lines)
        }
        BenchTable::Audit => Table::of("Audits of chess", audit::run(library)?, audit::lines),
    }
}

fn print(answer: &Answer, out: &mut Out) -> anyhow::Result<()> {
    let profile = if cfg!(debug_assertions) { "; a debug build: no figures to quote" } else { "" };
    out.line(format_args!("{}, one core, {}{profile}", answer.processor, answer.measure))?;
    for Table { title, lines, .. } in answer.tables.values() {
        out.line("")?;
        out.line(out.ink(Ink::Strong, title))?;
        lines.iter().try_for_each(|it| out.line(it))?;
    }
    Ok(())
}

/// Plays at most `plies` half-moves, the same each time, spread over the lists of legal moves.
fn play_on(game: &mut Game, plies: usize) -> anyhow::Result<Vec<Move>> {
    let mut moves = Vec::new();
    while moves.len() < plies && game.result().is_none() {
        let mut listed = game.listing();
        let (_, mv) = listed.swap_remove(moves.len() * 7 % listed.len());
        game.play(&mv)?;
        moves.push(mv);
    }
    Ok(moves)
}
