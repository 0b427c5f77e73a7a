//! `rulemate verify`: runs vector files and counts what passes.
//!
//! The rows of a file are distributed over threads, the largest first, split into parts. As the vectors expect, trees
//! are counted beyond draws by counter, repetition and material, but not beyond any other end of the game.

mod combine;
mod corrections;
mod game;
mod question;
mod requests;
mod script;
mod suite;
mod turns;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use indicatif::ProgressBar;
use serde::Serialize;

use super::args::VerifyArgs;
use super::output::{Ink, Out, progress, trouble};
use super::setup::{self, Library};
use super::{Verdict, for_each_file};
use crate::facts::printable;
use crate::game::Game;
use crate::moves::notation::{listing, san_listing, to_uci};
use crate::moves::{perft, perft_of_turns};
use crate::presets::Ruleset;
use crate::rules::plural;
use corrections::Corrections;
use question::{Ask, Row, Trust, uci_and_san};
use suite::Reading;

/// The result of one file.
#[derive(Debug, Serialize)]
struct Tally {
    file: String,
    game: String,
    passed: usize,
    /// Number of rows that pass because of a correction; `passed` does not count them.
    corrected: usize,
    /// The number of these rows by conflict. A row may belong to several.
    corrections: BTreeMap<String, usize>,
    failed: usize,
    skipped: usize,
    failures: Vec<Failure>,
}

/// A row whose answer differs from the expected one.
#[derive(Debug, Serialize)]
struct Failure {
    fen: String,
    #[serde(flatten)]
    fault: Fault,
}

/// The fault of a value that is not the expected one.
fn differs(what: &'static str, expected: String, found: String) -> Option<Fault> {
    (expected != found).then_some(Fault::Differs { what, expected, found })
}

/// The texts of a list that another one lacks.
pub(super) fn lacking(all: &[String], other: &[String]) -> Vec<String> {
    all.iter().filter(|it| !other.contains(it)).cloned().collect()
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Fault {
    Perft {
        depth: u32,
        expected: u64,
        found: u64,
    },
    /// Actions, by their texts.
    Moves {
        missing: Vec<String>,
        extra: Vec<String>,
    },
    End {
        expected: String,
        found: String,
    },
    /// A number or text that differs from the expected one.
    Differs {
        what: &'static str,
        expected: String,
        found: String,
    },
    /// There is no answer: the position could not be set up, an action of the row is not legal, a limit was
    /// exceeded.
    Setup {
        reason: String,
    },
}

pub(crate) fn run(args: &VerifyArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let pairs = if args.pairs { combine::run(args, out)? } else { Verdict::Fine };
    Ok(pairs.max(files(args, out)?))
}

fn files(args: &VerifyArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut library = Library::new(&args.rules)?;
    let corrections = Corrections::read(&args.corrections)?;
    for_each_file(&args.files, out, |path, out| {
        let tally = verify(&mut library, args, &corrections, path)?;
        print(&tally, args.json, out)?;
        Ok(Verdict::of(tally.failed > 0))
    })
}

fn verify(
    library: &mut Library,
    args: &VerifyArgs,
    corrections: &Corrections,
    path: &Path,
) -> anyhow::Result<Tally> {
    let trust = if args.recorded { Trust::Recorded } else { Trust::Corrected };
    let (catalogue, game) = (library.catalogue(), args.game.as_deref());
    let reading = Reading { trust, game, catalogue, corrections };
    let suite = suite::read(path, reading)?;
    let Some(game) = reading.game_of(&suite) else {
        let cause = format!("{}: the file does not say which game it is about", path.display());
        return Err(trouble(cause, "name it with --game"));
    };
    let rules = library.load(&game, &[]).map_err(|why| why.context(path.display().to_string()))?;
    let limit = args.max_nodes.unwrap_or(u64::MAX);
    let total = suite.rows.len();
    let kept = suite.rows.iter().enumerate().filter(|it| it.1.nodes() <= limit);
    let (numbers, rows): (Vec<usize>, Vec<&Row>) = kept.unzip();
    let bar = progress(rows.len() as u64, "verify");
    bar.set_message(printable(&path.display().to_string()).into_owned());
    let found = run_rows(&rules, &rows, jobs(args), &bar);
    bar.finish_and_clear();
    let right = numbers.iter().zip(&found).filter(|it| it.1.is_none());
    let as_corrected: Vec<_> = right.filter_map(|it| suite.corrected.get(it.0)).collect();
    let mut corrections = BTreeMap::new();
    for conflict in as_corrected.iter().copied().flatten() {
        *corrections.entry(conflict.clone()).or_default() += 1;
    }
    let failures: Vec<Failure> = found.into_iter().flatten().collect();
    Ok(Tally {
        file: path.display().to_string(),
        game,
        passed: rows.len() - failures.len() - as_corrected.len(),
        corrected: as_corrected.len(),
        corrections,
        failed: failures.len(),
        skipped: total - rows.len(),
        failures,
    })
}

fn jobs(args: &VerifyArgs) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    args.jobs.unwrap_or_else(cores).max(1)
}

/// Runs the rows on several threads. Returns the failure of each row, if it has one.
fn run_rows(
    rules: &Ruleset,
    rows: &[&Row],
    jobs: usize,
    bar: &ProgressBar,
) -> Vec<Option<Failure>> {
    let tasks = tasks(rules, rows);
    bar.set_length(tasks.len() as u64);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = outcome(rules, rows[task.row], task.branch);
            let unanswered = |reason| Outcome::Judged(Some(Fault::Setup { reason }));
            done.push((task.row, outcome.unwrap_or_else(unanswered)));
            bar.inc(1);
        }
        done
    };
    let mut found: Vec<Option<Outcome>> = rows.iter().map(|_| None).collect();
    for (row, part) in on_threads(jobs, work) {
        found[row] = Some(match found[row].take() {
            None => part,
            Some(earlier) => earlier.and(part),
        });
    }
    let failure = |(row, found): (&&Row, Option<Outcome>)| {
        let fault = found?.judged(&row.ask)?;
        Some(Failure { fen: row.fen.clone(), fault })
    };
    rows.iter().zip(found).map(failure).collect()
}

/// Does the work on several threads. Returns the results of all of them.
fn on_threads<T: Send>(jobs: usize, work: impl Fn() -> Vec<T> + Copy + Send) -> Vec<T> {
    thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for worker in workers {
            match worker.join() {
                Ok(found) => all.extend(found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

/// A row, or the part of it below one of its first actions.
struct Task {
    row: usize,
    branch: Option<usize>,
    /// Estimated number of nodes.
    size: u64,
}

/// Rows with this many nodes or more are split by their first actions.
const LARGE: u64 = 1_000_000;

/// The tasks that the rows are split into, the largest first.
fn tasks(rules: &Ruleset, rows: &[&Row]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let branches = if row.nodes() < LARGE { 0 } else { branches(rules, row) };
        match branches {
            0 => tasks.push(Task { row: at, branch: None, size: row.nodes() }),
            _ => tasks.extend((0..branches).map(|it| Task {
                row: at,
                branch: Some(it),
                size: row.nodes() / branches as u64,
            })),
        }
    }
    tasks.sort_by_key(|it| std::cmp::Reverse(it.size));
    tasks
}

/// The number of first actions of a row that counts a tree.
fn branches(rules: &Ruleset, row: &Row) -> usize {
    match (&row.ask, setup::start(rules, Some(&row.fen))) {
        (Ask::Perft { depth: 1.., .. }, Ok(mut game)) => {
            listing(game.world_mut(), rules.contract()).len()
        }
        _ => 0,
    }
}

/// What came of a row, or of a part of it.
enum Outcome {
    /// The number of nodes of a tree, which is judged when all parts of the row are counted.
    Nodes(u64),
    /// The fault of any other answer, if it has one.
    Judged(Option<Fault>),
}

impl Outcome {
    /// Joins the outcomes of two parts of a row.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nodes(a), Self::Nodes(b)) => Self::Nodes(a + b),
            (judged @ Self::Judged(_), _) | (_, judged) => judged,
        }
    }

    /// The fault of a whole row, if it has one.
    fn judged(self, ask: &Ask) -> Option<Fault> {
        match (self, ask) {
            (Self::Judged(fault), _) => fault,
            (Self::Nodes(found), Ask::Perft { depth, nodes } | Ask::Turns { depth, nodes }) => {
                (found != *nodes).then_some(Fault::Perft { depth: *depth, expected: *nodes, found })
            }
            // No other row counts nodes.
            (Self::Nodes(_), _) => None,
        }
    }
}

/// Asks the engine, and compares its answer with the expected one.
///
/// # Errors
/// There is no answer, for this reason.
fn outcome(rules: &Ruleset, row: &Row, branch: Option<usize>) -> Result<Outcome, String> {
    if let Ask::Script(script) = &row.ask {
        return requests::run(rules, script).map(Outcome::Judged);
    }
    let mut game = match (setup::start(rules, Some(&row.fen)), &row.ask) {
        (Ok(game), _) => game,
        (Err(_), Ask::Fen { reads, strict }) => {
            return Ok(Outcome::Judged(fen_fault(reads.as_deref(), *strict, None)));
        }
        (Err(why), _) => return Err(why.to_string()),
    };
    let outcome = ask(rules, &mut game, &row.ask, branch);
    // Beyond a limit the answer means nothing.
    game.check().map_err(|it| it.to_string())?;
    outcome
}

fn ask(
    rules: &Ruleset,
    game: &mut Game,
    question: &Ask,
    branch: Option<usize>,
) -> Result<Outcome, String> {
    let (world, contract) = (game.world_mut(), rules.contract());
    let fault = match question {
        Ask::Perft { depth, .. } => return nodes(game, *depth, branch).map(Outcome::Nodes),
        Ask::Turns { depth, .. } => {
            let nodes = perft_of_turns(world, contract, *depth);
            return nodes.map(Outcome::Nodes).ok_or_else(|| "a turn goes on for too long".into());
        }
        Ask::San(expected) => {
            let rows = san_listing(world, contract).into_iter();
            let mut texts: Vec<String> =
                rows.map(|(san, mv)| uci_and_san(&to_uci(world, &mv), &san)).collect();
            texts.sort();
            list_fault(expected, &texts)
        }
        Ask::Moves(expected) => {
            let rows = listing(world, contract).into_iter();
            list_fault(expected, &rows.map(|it| it.0).collect::<Vec<_>>())
        }
        Ask::TurnsListed(expected) => list_fault(expected, &turns::listed(world, contract, false)),
        Ask::TurnsInSan(expected) => list_fault(expected, &turns::listed(world, contract, true)),
        Ask::Endings { only, expected } => {
            list_fault(expected, &turns::endings(world, contract, only))
        }
        Ask::End(expected) => end_fault(expected, end_of(game)),
        Ask::Standing(expected) => end_fault(expected, turns::standing(game)),
        Ask::Outcomes { path, only, deep, expected } => {
            let found = turns::outcomes(world, contract, path, only.as_deref(), *deep)?;
            turns::compare(expected, found)
        }
        Ask::Turn(turn) => turns::judge(turn, turns::play(game, turn)?),
        Ask::Text { text, after, strict } => {
            let is_played = game.play_text(text).is_ok();
            fen_fault(after.as_deref(), *strict, is_played.then(|| game.fen()))
        }
        Ask::UnderWay { path, fen } => {
            differs("FEN", fen.clone(), turns::under_way(rules, game, path)?)
        }
        Ask::Fen { reads, strict } => fen_fault(reads.as_deref(), *strict, Some(game.fen())),
        // A script is run without this game.
        Ask::Script(_) => None,
    };
    Ok(Outcome::Judged(fault))
}

/// The number of leaves of the tree of a game, or of the part of it below one of its first actions.
fn nodes(game: &mut Game, depth: u32, branch: Option<usize>) -> Result<u64, String> {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let Some(branch) = branch else { return Ok(perft(world, &contract, depth)) };
    let moves = listing(world, &contract);
    let Some((_, mv)) = moves.get(branch) else { return Ok(0) };
    world.fire(mv.action, &mv.args).map_err(|why| why.to_string())?;
    Ok(perft(world, &contract, depth - 1))
}

/// Which side has won, by its name; `draw`, or `none` if the game goes on.
fn end_of(game: &Game) -> String {
    let Some(result) = game.result() else { return "none".into() };
    let sides = game.program().schema.domain(game.contract().sides);
    result.winner.map_or_else(|| "draw".into(), |it| sides.member_name(it))
}

fn end_fault(expected: &str, found: String) -> Option<Fault> {
    (found != expected).then(|| Fault::End { expected: expected.to_owned(), found })
}

fn list_fault(expected: &[String], found: &[String]) -> Option<Fault> {
    let (missing, extra) = (lacking(expected, found), lacking(found, expected));
    (found != expected).then_some(Fault::Moves { missing, extra })
}

/// The fault of a FEN; `None` stands for a refusal, which is right in any case unless `strict`.
fn fen_fault(expected: Option<&str>, strict: bool, found: Option<String>) -> Option<Fault> {
    if found.is_none() && !strict {
        return None;
    }
    let refusal = || "a refusal".to_owned();
    let expected = expected.map_or_else(refusal, str::to_owned);
    differs("FEN", expected, found.unwrap_or_else(refusal))
}

fn print(tally: &Tally, json: bool, out: &mut Out) -> anyhow::Result<()> {
    if json {
        return out.json_line(tally);
    }
    for Failure { fen, fault } in &tally.failures {
        out.line(out.ink(Ink::Bad, format_args!("failed {fen}")))?;
        match fault {
            Fault::Perft { depth, expected, found } => {
                let expected = plural(*expected as usize, "node");
                out.line(format_args!("  depth {depth}: expected {expected}, found {found}"))?;
            }
            Fault::Moves { missing, extra } => {
                let list = |moves: &[String]| {
                    if moves.is_empty() { "none".into() } else { moves.join(" ") }
                };
                out.line(format_args!("  missing: {}", list(missing)))?;
                out.line(format_args!("  extra: {}", list(extra)))?;
            }
            Fault::End { expected, found } => {
                out.line(format_args!("  result: expected {expected}, found {found}"))?;
            }
            Fault::Differs { what, expected, found } => {
                out.line(format_args!("  {what}: expected {expected}, found {found}"))?;
            }
            Fault::Setup { reason } => out.line(format_args!("  {reason}"))?,
        }
    }
    let Tally { file, passed, corrected, corrections, failed, skipped, .. } = tally;
    let by_conflict: Vec<String> =
        corrections.iter().map(|(conflict, rows)| format!("{conflict} {rows}")).collect();
    let corrected = match corrected {
        0 => String::new(),
        rows => format!("{rows} corrected ({}), ", by_conflict.join(", ")),
    };
    out.line(format_args!("{file}: {passed} passed, {corrected}{failed} failed, {skipped} skipped"))
}
