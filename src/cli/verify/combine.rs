//! `rulemate verify --pairs`: combinations of presets, each played at random.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Serialize;

use crate::audit::combine::{Combination, Outcome, Played, Sample, pairs, shared_pairs, triples};
use crate::cli::Verdict;
use crate::cli::args::VerifyArgs;
use crate::cli::output::{Ink, Out, progress};
use crate::cli::setup;
use crate::presets::Catalogue;

/// The results of all combinations of a kind.
#[derive(Debug, Serialize, Default)]
struct Tally {
    what: &'static str,
    /// The number of all pairs or triples, not counting scopes.
    of: usize,
    /// The seed of the sample; `None` if all are played.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    played: usize,
    refused: usize,
    failed: usize,
    half_moves: u64,
    switches: u64,
    moves_taken_back: u64,
    rows_compared: u64,
    failures: BTreeMap<String, String>,
}

pub(super) fn run(args: &VerifyArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let catalogue = setup::catalogue(&args.rules)?;
    let mut verdict = Verdict::Fine;
    let among = if args.shared { shared_pairs } else { pairs };
    let mut kinds = vec![("pairs", among(&catalogue, args.full))];
    if args.triples > 0 {
        kinds.push(("triples", triples(&catalogue, args.triples)));
    }
    for (what, sample) in kinds {
        let all = &sample.combinations;
        let bar = progress(all.len() as u64, what);
        let outcomes = play_all(&catalogue, all, super::jobs(args), &|| bar.inc(1));
        bar.finish_and_clear();
        let tally = count(what, &sample, outcomes);
        verdict = verdict.max(Verdict::of(tally.failed > 0));
        print(&tally, args.json, out)?;
        out.flush()?;
    }
    Ok(verdict)
}

/// Plays all combinations on several threads, each of which takes some consecutive ones at a time.
fn play_all(
    catalogue: &Catalogue,
    all: &[Combination],
    jobs: usize,
    done: &(dyn Fn() + Sync),
) -> Vec<(usize, Outcome)> {
    // With `--full`, a pair of presets under all pairs of scopes: nine with two sides, which share their rules.
    const AT_A_TIME: usize = 9;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut outcomes = Vec::new();
        loop {
            let from = next.fetch_add(AT_A_TIME, Ordering::Relaxed);
            if from >= all.len() {
                return outcomes;
            }
            for (at, it) in all.iter().enumerate().skip(from).take(AT_A_TIME) {
                outcomes.push((at, it.play(catalogue)));
                done();
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut outcomes = work();
        for worker in workers {
            match worker.join() {
                Ok(more) => outcomes.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        outcomes
    })
}

fn count(what: &'static str, sample: &Sample, outcomes: Vec<(usize, Outcome)>) -> Tally {
    let mut tally = Tally { what, of: sample.of, seed: sample.seed, ..Tally::default() };
    let mut sum = Played::default();
    for (at, outcome) in outcomes {
        match outcome {
            Outcome::Played(played) => {
                tally.played += 1;
                sum += played;
            }
            Outcome::Refused(_) => tally.refused += 1,
            Outcome::Failed(why) => {
                tally.failed += 1;
                tally.failures.insert(sample.combinations[at].to_string(), why);
            }
        }
    }
    tally.half_moves = sum.plies;
    tally.switches = sum.switches;
    tally.moves_taken_back = sum.moves;
    tally.rows_compared = sum.rows;
    tally
}

fn print(tally: &Tally, json: bool, out: &mut Out) -> anyhow::Result<()> {
    if json {
        return out.json_line(tally);
    }
    for (presets, why) in &tally.failures {
        out.line(out.ink(Ink::Bad, format_args!("failed {presets}")))?;
        out.line(format_args!("  {why}"))?;
    }
    let Tally { what, played, refused, failed, .. } = tally;
    out.line(format_args!("{what}: {played} played, {refused} refused, {failed} failed"))?;
    if let Some(seed) = tally.seed {
        let count = played + refused + failed;
        out.line(format_args!("  a sample by the seed {seed}: {count} of {} {what}", tally.of))?;
    }
    out.line(format_args!(
        "  {} half-moves, {} switches, {} moves taken and taken back, {} rows compared with datafrog",
        tally.half_moves, tally.switches, tally.moves_taken_back, tally.rows_compared
    ))?;
    Ok(())
}
