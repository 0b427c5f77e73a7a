//! The latency of `rulemate moves`: start the process, compile the rules, derive, print.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde::Serialize;

use crate::cli::output::Out;

/// Wall times of single runs, in milliseconds.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) runs: usize,
    pub(crate) fastest: f64,
    pub(crate) median: f64,
}

pub(crate) fn run(quick: bool) -> anyhow::Result<Figures> {
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

pub(crate) fn print(row: &Figures, out: &mut Out) -> anyhow::Result<()> {
    let Figures { runs, fastest, median } = row;
    out.line(format_args!("wall time of {runs} runs: median {median:.1}, fastest {fastest:.1}"))
}
