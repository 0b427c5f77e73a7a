//! `rulemate verify --pairs`: combinations of presets, each played at random.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

use crate::audit::combine::{Combination, Outcome, Played, Sample, pairs, shared_pairs, triples};
use crate::cli::Verdict;
use crate::cli::args::{Part, VerifyArgs};
use crate::cli::output::{Ink, Out, progress};
use crate::cli::setup;
use crate::presets::Catalogue;

/// The results of all combinations of a kind.
#[derive(Debug, Serialize, Default)]
struct Tally {
    what: &'static str,
    /// The number of all pairs or triples, not counting scopes.
    of: usize,
    /// The seed with which the combinations, or only their scopes, were drawn; `None` if all are played.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// The part of the combinations that is played (`--part`).
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Part>,
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
    for (what, mut sample) in kinds {
        if let Some(part) = args.part {
            sample.combinations = share(sample.combinations, part);
        }
        let all = &sample.combinations;
        let bar = progress(all.len() as u64, what);
        let outcomes = play_all(&catalogue, all, super::jobs(args), &|| bar.inc(1));
        bar.finish_and_clear();
        let tally = Tally { part: args.part, ..sum_up(what, &sample, outcomes) };
        verdict = verdict.max(Verdict::of(tally.failed > 0));
        print(&tally, args.json, out)?;
        out.flush()?;
    }
    Ok(verdict)
}

/// Number of consecutive combinations that one thread, or one part of a long run, takes at a time. With `--full` and
/// two sides, these are a pair of presets under all nine pairs of scopes, which share their rules.
const AT_A_TIME: usize = 9;

/// The combinations of a part.
fn share(all: Vec<Combination>, part: Part) -> Vec<Combination> {
    all.into_iter().enumerate().filter(|(at, _)| part.has(at / AT_A_TIME)).map(|it| it.1).collect()
}

/// Plays all combinations on several threads. Returns the outcome of each, with its index.
fn play_all(
    catalogue: &Catalogue,
    all: &[Combination],
    jobs: usize,
    done: &(dyn Fn() + Sync),
) -> Vec<(usize, Outcome)> {
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
    super::on_threads(jobs, work)
}

fn sum_up(what: &'static str, sample: &Sample, outcomes: Vec<(usize, Outcome)>) -> Tally {
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
    let part = tally.part.map(|it| format!(", part {it}")).unwrap_or_default();
    out.line(format_args!("{what}{part}: {played} played, {refused} refused, {failed} failed"))?;
    if let Some(seed) = tally.seed {
        let count = played + refused + failed;
        out.line(format_args!("  drawn with seed {seed}: {count} of {} {what}", tally.of))?;
    }
    out.line(format_args!(
        "  {} half-moves, {} changes of presets, {} moves taken and taken back, {} rows compared with datafrog",
        tally.half_moves, tally.switches, tally.moves_taken_back, tally.rows_compared
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_combination_once() {
        let one = |seed| Combination { game: "chess".into(), presets: Vec::new(), seed, plies: 1 };
        let all: Vec<_> = (0..100).map(one).collect();
        let part =
            |text: &str| share(all.clone(), text.parse().unwrap_or_else(|it| panic!("{it}")));
        let mut found = [part("1/3"), part("2/3"), part("3/3")].concat();
        assert_eq!(found.len(), 100);
        found.sort_by_key(|it| it.seed);
        assert_eq!(found, all);
        for wrong in ["0/3", "4/3", "1", "a/2", "1/0", "-1/2", "1/2/3"] {
            assert!(wrong.parse::<Part>().is_err(), "{wrong}");
        }
    }
}
