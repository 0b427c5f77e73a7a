//! The latency of `rulemate moves`: start the process, compile the rules, derive, print.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde::Serialize;

/// Wall times of single runs, in milliseconds.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    runs: usize,
    fastest: f64,
    median: f64,
}

pub(super) fn run(quick: bool) -> anyhow::Result<Figures> {
    let runs = if quick { 5 } else { 31 };
    let own = std::env::current_exe().context("the path of this program is not known")?;
    let mut times = Vec::new();
    for _ in 0..runs {
        let began = Instant::now();
        let ran = Command::new(&own).arg("moves").stdin(Stdio::null()).output()?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        let lines = ran.stdout.iter().filter(|&&it| it == b'\n').count();
        let said = String::from_utf8_lossy(&ran.stderr);
        ensure!(ran.status.success(), "`rulemate moves` failed: {}", said.trim());
        ensure!(lines == 20, "`rulemate moves` lists {lines} moves, not the 20 of chess");
    }
    times.sort_by(f64::total_cmp);
    Ok(Figures { runs, fastest: times[0], median: times[runs / 2] })
}

pub(super) fn lines(Figures { runs, fastest, median }: &Figures) -> Vec<String> {
    vec![format!("wall time of {runs} runs: median {median:.1}, fastest {fastest:.1}")]
}
