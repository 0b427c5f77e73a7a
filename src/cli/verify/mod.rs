//! `rulemate verify`: runs vector files and counts what passes.
//!
//! The rows of a file are shared out to threads, the largest first. Draws by counter, repetition and
//! material are ignored, as the vectors want it; every other result ends the tree.

mod suite;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use indicatif::ProgressBar;
use serde::Serialize;

use super::Verdict;
use super::args::VerifyArgs;
use super::output::{Ink, Out, progress, report, trouble};
use super::setup::{self, Library};
use crate::moves::notation::listing;
use crate::moves::perft;
use crate::presets::Ruleset;
use suite::{Ask, Row};

/// What became of one file.
#[derive(Debug, Serialize)]
struct Tally {
    file: String,
    game: String,
    passed: usize,
    failed: usize,
    skipped: usize,
    failures: Vec<Failure>,
}

/// A row that did not come out as the file says.
#[derive(Debug, Serialize)]
struct Failure {
    fen: String,
    #[serde(flatten)]
    fault: Fault,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Fault {
    Perft {
        depth: u32,
        expected: u64,
        found: u64,
    },
    Moves {
        missing: Vec<String>,
        extra: Vec<String>,
    },
    /// The position could not be set up.
    Setup {
        reason: String,
    },
}

pub(crate) fn run(args: &VerifyArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut library = Library::new()?;
    let mut verdict = Verdict::Fine;
    for path in &args.files {
        match verify(&mut library, args, path) {
            Ok(tally) => {
                verdict = verdict.max(Verdict::of(tally.failed > 0));
                print(&tally, args.json, out)?;
            }
            // The other files still run.
            Err(why) => {
                out.flush()?;
                report(&why);
                verdict = Verdict::Unreadable;
            }
        }
    }
    Ok(verdict)
}

fn verify(library: &mut Library, args: &VerifyArgs, path: &Path) -> anyhow::Result<Tally> {
    let suite = suite::read(path)?;
    let Some(game) = suite.game.as_deref().or(args.game.as_deref()) else {
        let cause = format!("{}: the file does not say which game it is about", path.display());
        return Err(trouble(cause, "name it with --game"));
    };
    let rules = library.load(game, &[]).map_err(|why| why.context(path.display().to_string()))?;
    let limit = args.max_nodes.unwrap_or(u64::MAX);
    let total = suite.rows.len();
    let mut rows: Vec<&Row> = suite.rows.iter().filter(|it| it.nodes() <= limit).collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.nodes()));
    let bar = progress(rows.len() as u64, "verify");
    bar.set_message(path.display().to_string());
    let failures = run_rows(&rules, &rows, jobs(args), &bar);
    bar.finish_and_clear();
    Ok(Tally {
        file: path.display().to_string(),
        game: game.to_owned(),
        passed: rows.len() - failures.len(),
        failed: failures.len(),
        skipped: total - rows.len(),
        failures,
    })
}

fn jobs(args: &VerifyArgs) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    args.jobs.unwrap_or_else(cores).max(1)
}

/// Runs the rows on so many threads; failures come in the order of the rows.
fn run_rows(rules: &Ruleset, rows: &[&Row], jobs: usize, bar: &ProgressBar) -> Vec<Failure> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failures = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(at) else { return failures };
            let fault = check(rules, row);
            failures.extend(fault.map(|fault| (at, Failure { fen: row.fen.clone(), fault })));
            bar.inc(1);
        }
    };
    let mut failures: Vec<(usize, Failure)> = thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for worker in workers {
            match worker.join() {
                Ok(found) => all.extend(found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    failures.sort_by_key(|it| it.0);
    failures.into_iter().map(|it| it.1).collect()
}

/// Runs a row; `None` if it comes out as it should.
fn check(rules: &Ruleset, row: &Row) -> Option<Fault> {
    let mut game = match setup::start(rules, Some(&row.fen)) {
        Ok(game) => game,
        Err(why) => return Some(Fault::Setup { reason: why.to_string() }),
    };
    let contract = rules.contract();
    match &row.ask {
        Ask::Perft { depth, nodes } => {
            let found = perft(game.world_mut(), contract, *depth);
            (found != *nodes).then_some(Fault::Perft { depth: *depth, expected: *nodes, found })
        }
        Ask::Moves(expected) => {
            let listed = listing(game.world_mut(), contract).into_iter().map(|it| it.0);
            let found: Vec<String> = listed.collect();
            let lacks = |from: &[String], it: &&String| !from.contains(it);
            let missing: Vec<_> = expected.iter().filter(|it| lacks(&found, it)).cloned().collect();
            let extra: Vec<_> = found.iter().filter(|it| lacks(expected, it)).cloned().collect();
            (found != *expected).then_some(Fault::Moves { missing, extra })
        }
    }
}

fn print(tally: &Tally, json: bool, out: &mut Out) -> anyhow::Result<()> {
    if json {
        return out.json_line(tally);
    }
    for Failure { fen, fault } in &tally.failures {
        out.line(out.ink(Ink::Bad, format_args!("failed {fen}")))?;
        match fault {
            Fault::Perft { depth, expected, found } => {
                out.line(format_args!(
                    "  depth {depth}: expected {expected} nodes, found {found}"
                ))?;
            }
            Fault::Moves { missing, extra } => {
                let list = |moves: &[String]| {
                    if moves.is_empty() { "none".into() } else { moves.join(" ") }
                };
                out.line(format_args!("  missing: {}", list(missing)))?;
                out.line(format_args!("  extra: {}", list(extra)))?;
            }
            Fault::Setup { reason } => out.line(format_args!("  {reason}"))?,
        }
    }
    let Tally { file, passed, failed, skipped, .. } = tally;
    out.line(format_args!("{file}: {passed} passed, {failed} failed, {skipped} skipped"))?;
    Ok(())
}
