//! `rulemate uci` and `rulemate xboard`: lines in, lines out, until `quit` or the end of input.

use std::io::BufRead;

use super::Verdict;
use super::args::ProtocolArgs;
use super::output::{Out, trouble};
use super::setup;
use crate::presets::LoadError;
use crate::protocols::{Flow, TableError, Uci, Xboard};

pub(crate) fn uci(args: &ProtocolArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let uci = Uci::new(setup::catalogue(&args.rules)?, &args.game);
    let mut uci = uci.map_err(|why| unplayable(&why))?;
    converse(out, |line, say| uci.line(line, say))
}

pub(crate) fn xboard(args: &ProtocolArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let xboard = Xboard::new(setup::catalogue(&args.rules)?, &args.game);
    let mut xboard = xboard.map_err(|why| unplayable(&why))?;
    converse(out, |line, say| xboard.line(line, say))
}

/// The error for a game that cannot be played, with its fix.
fn unplayable(why: &TableError) -> anyhow::Error {
    let fix = match why {
        TableError::Load(LoadError::Game { .. } | LoadError::GameOption { .. })
        | TableError::Sides(..) => "`rulemate games` lists what can be played",
        _ => "`rulemate check` says more about a file",
    };
    trouble(why, fix)
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
