//! `rulemate uci` and `rulemate xboard`: lines in, lines out, until `quit` or the end of input.

use std::io::BufRead;

use super::Verdict;
use super::args::ProtocolArgs;
use super::output::{OrFix, Out};
use super::setup;
use crate::protocols::{Flow, Uci, Xboard};

const FIX: &str = "`rulemate games` lists what can be played";

pub(crate) fn uci(args: &ProtocolArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut uci = Uci::new(setup::catalogue(&args.rules)?, &args.game).or_fix(FIX)?;
    converse(out, |line, say| uci.line(line, say))
}

pub(crate) fn xboard(args: &ProtocolArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let mut xboard = Xboard::new(setup::catalogue(&args.rules)?, &args.game).or_fix(FIX)?;
    converse(out, |line, say| xboard.line(line, say))
}

fn converse(
    out: &mut Out,
    mut answer: impl FnMut(&str, &mut dyn FnMut(&str)) -> Flow,
) -> anyhow::Result<Verdict> {
    for line in std::io::stdin().lock().lines() {
        let mut said = Vec::new();
        let flow = answer(&line?, &mut |text| said.push(text.to_owned()));
        for text in said {
            out.line(format_args!("{text}"))?;
        }
        // The client waits for the answer.
        out.flush()?;
        if flow == Flow::Quit {
            break;
        }
    }
    Ok(Verdict::Fine)
}
