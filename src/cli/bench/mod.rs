//! `rulemate bench`: the tables of the README, peers included when installed.
//!
//! Figures are of this machine and this run; what travels are the ratios.

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

use serde::Serialize;

use super::Verdict;
use super::args::{BenchArgs, RulesArgs};
use super::output::{Ink, Out, progress};
use super::setup::Library;
pub use meter::Meter;
pub use peer::{Count as PeerCount, Peer};

/// The peer, by its command.
const PEER: &str = "fairy-stockfish";

#[derive(Debug, Serialize)]
struct Answer {
    processor: String,
    measure: &'static str,
    peer: Option<String>,
    perft: Vec<perft::Figures>,
    derive: Vec<derive::Figures>,
    presets: Vec<presets::Figures>,
    activate: Vec<activate::Figures>,
    explain: Vec<explain::Figures>,
    hosted: hosted::Figures,
    memory: memory::Figures,
    startup: startup::Figures,
    audit: audit::Figures,
}

pub(crate) fn run(args: &BenchArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut library = Library::new(&RulesArgs::default())?;
    let mut peer = Peer::start(PEER);
    let bar = progress(perft::count() + 8, "bench");
    // First of all: what the others leave behind would be filled before the process grows.
    let memory = memory::run(&mut library, args.quick).inspect(|_| bar.inc(1))?;
    let answer = Answer {
        processor: meter::processor(),
        measure: meter::unit(),
        perft: perft::run(&mut library, &mut peer, args.quick, || bar.inc(1))?,
        derive: derive::run(&mut library, args.quick).inspect(|_| bar.inc(1))?,
        presets: presets::run(&mut library, args.quick).inspect(|_| bar.inc(1))?,
        activate: activate::run(args.quick).inspect(|_| bar.inc(1))?,
        explain: explain::run(&mut library, args.quick).inspect(|_| bar.inc(1))?,
        hosted: hosted::run(&mut library, args.quick).inspect(|_| bar.inc(1))?,
        memory,
        startup: startup::run(args.quick).inspect(|_| bar.inc(1))?,
        audit: audit::run(&mut library).inspect(|_| bar.inc(1))?,
        peer: peer.map(|it| it.name.clone()),
    };
    bar.finish_and_clear();
    if args.json {
        out.json(&answer)?;
    } else {
        print(&answer, out)?;
    }
    Ok(Verdict::Fine)
}

fn print(answer: &Answer, out: &mut Out) -> anyhow::Result<()> {
    let profile = if cfg!(debug_assertions) { "; a debug build: no figures to quote" } else { "" };
    out.line(format_args!("{}, one core, {}{profile}", answer.processor, answer.measure))?;
    let peer = answer.peer.as_deref().unwrap_or("no peer installed");

    head(out, "Counting trees, million nodes a second")?;
    out.line(format_args!(
        "{:22}{:>6}{:>13}{:>11}  {:>11}{:>8}  {:>16}",
        "game, position", "depth", "nodes", "rulemate", "peer", "ratio", "code made in, ms"
    ))?;
    for row in &answer.perft {
        let optional = |it: Option<f64>| it.map_or("-".to_owned(), |it| format!("{it:.2}"));
        let name = format!("{}, {}", row.game, row.position);
        let (theirs, ratio) = (optional(row.peer_speed), optional(row.ratio()));
        out.line(format_args!(
            "{name:22}{:>6}{:>13}{:>11.2}  {theirs:>11}{ratio:>8}  {:>16}",
            row.depth,
            row.nodes,
            row.speed,
            row.native.map_or("interpreted".into(), |it| format!("{it:.0}"))
        ))?;
    }
    out.line(format_args!("peer: {peer}"))?;

    head(out, "Deriving the legal moves of chess, microseconds a position")?;
    out.line(format_args!(
        "{:22}{:>19}{:>14}{:>8}",
        "position", "after move or undo", "from scratch", "ratio"
    ))?;
    for row in &answer.derive {
        let ratio = row.scratch / row.incremental;
        out.line(format_args!(
            "{:22}{:>19.2}{:>14.2}{ratio:>8.2}",
            row.position, row.incremental, row.scratch
        ))?;
    }

    head(out, "Legal moves under each preset, beside chess in the same run")?;
    presets::print(&answer.presets, out)?;

    head(out, "Presets in the middle of a game, legal moves listed, milliseconds")?;
    activate::print(&answer.activate, out)?;

    head(out, "Explaining a move of chess, tree complete, microseconds")?;
    for row in &answer.explain {
        let questions = format!("{} questions", row.questions);
        out.line(format_args!("{:22}{questions:>19}{:>14.1}", row.question, row.time))?;
    }

    head(out, "A hosted move of chess, microseconds")?;
    hosted::print(&answer.hosted, out)?;
    head(out, "Memory of a live game of chess, kilobytes")?;
    memory::print(&answer.memory, out)?;
    head(out, "Start-up: `rulemate moves`, milliseconds")?;
    startup::print(&answer.startup, out)?;
    head(out, "Audits of chess")?;
    audit::print(&answer.audit, out)?;
    Ok(())
}

fn head(out: &mut Out, text: &str) -> anyhow::Result<()> {
    out.line("")?;
    let text = out.ink(Ink::Strong, text);
    Ok(out.line(text)?)
}
