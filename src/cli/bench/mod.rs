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

use clap::ValueEnum;
use serde::Serialize;

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
    tables: Tables,
}

/// The requested tables.
#[derive(Debug, Default, Serialize)]
struct Tables {
    #[serde(skip_serializing_if = "Option::is_none")]
    perft: Option<Vec<perft::Figures>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    derive: Option<Vec<derive::Figures>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presets: Option<Vec<presets::Figures>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activate: Option<Vec<activate::Figures>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Vec<explain::Figures>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hosted: Option<hosted::Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<memory::Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    startup: Option<startup::Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<audit::Figures>,
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

fn measure(args: &BenchArgs, library: &mut Library, peers: &mut [Peer]) -> anyhow::Result<Tables> {
    let is_wanted = |it: BenchTable| args.only.is_empty() || args.only.contains(&it);
    let all = BenchTable::value_variants().iter().copied();
    let wanted: Vec<BenchTable> = all.filter(|it| is_wanted(*it)).collect();
    let rows = if is_wanted(BenchTable::Perft) { perft::count() } else { 0 };
    let bar = progress(rows + wanted.len() as u64, "bench");
    let quick = args.quick;
    let mut tables = Tables::default();
    // Comes first: later, games would take memory that other tables have freed, and the process would not grow.
    if is_wanted(BenchTable::Memory) {
        tables.memory = Some(memory::run(library, quick)?);
    }
    for table in wanted {
        match table {
            BenchTable::Perft => {
                tables.perft = Some(perft::run(library, peers, quick, || bar.inc(1))?);
            }
            BenchTable::Derive => tables.derive = Some(derive::run(library, quick)?),
            BenchTable::Presets => {
                tables.presets = Some(presets::run(library, &args.preset, quick)?)
            }
            BenchTable::Activate => tables.activate = Some(activate::run(quick)?),
            BenchTable::Explain => tables.explain = Some(explain::run(library, quick)?),
            BenchTable::Hosted => tables.hosted = Some(hosted::run(library, quick)?),
            BenchTable::Memory => {}
            BenchTable::Startup => tables.startup = Some(startup::run(quick)?),
            BenchTable::Audit => tables.audit = Some(audit::run(library)?),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(tables)
}

fn print(answer: &Answer, out: &mut Out) -> anyhow::Result<()> {
    let profile = if cfg!(debug_assertions) { "; a debug build: no figures to quote" } else { "" };
    out.line(format_args!("{}, one core, {}{profile}", answer.processor, answer.measure))?;
    let tables = &answer.tables;
    let title = "Counting trees, million nodes a second";
    table(tables.perft.as_deref(), title, out, |it, out| perft::print(it, &answer.peers, out))?;
    let title = "Deriving the legal moves of chess, microseconds a position";
    table(tables.derive.as_deref(), title, out, derive::print)?;
    let title = "Legal moves under each preset, beside chess in the same run";
    table(tables.presets.as_deref(), title, out, presets::print)?;
    let title = "Presets in the middle of a game, legal moves listed, milliseconds of wall time";
    table(tables.activate.as_deref(), title, out, activate::print)?;
    let title = "Explaining a move of chess, tree complete, microseconds";
    table(tables.explain.as_deref(), title, out, explain::print)?;
    let title = "A hosted move of chess, microseconds";
    table(tables.hosted.as_ref(), title, out, hosted::print)?;
    let title = "Memory of a live game of chess, kilobytes";
    table(tables.memory.as_ref(), title, out, memory::print)?;
    let title = "Start-up: `rulemate moves`, milliseconds";
    table(tables.startup.as_ref(), title, out, startup::print)?;
    table(tables.audit.as_ref(), "Audits of chess", out, audit::print)
}

/// Prints a table under its title, if it was requested.
fn table<T: ?Sized>(
    found: Option<&T>,
    title: &str,
    out: &mut Out,
    print: impl FnOnce(&T, &mut Out) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some(found) = found else { return Ok(()) };
    out.line("")?;
    out.line(out.ink(Ink::Strong, title))?;
    print(found, out)
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
