//! `rulemate uci` and `rulemate xboard`: lines in, lines out, until `quit` or the end of input.
//!
//! A thread reads the lines, so that a line that comes during a search can end the search. Other lines wait for their
//! turn.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::Verdict;
use super::args::ProtocolArgs;
use super::output::{Out, trouble};
use super::setup;
use crate::presets::LoadError;
use crate::protocols::{Ending, Flow, Interrupt, TableError, Uci, Xboard};

/// A search takes at least this long even if the client ends it at once, so that its answer is worth something.
const MOMENT: Duration = Duration::from_millis(200);

pub(crate) fn uci(args: &ProtocolArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let uci = Uci::new(setup::catalogue(&args.rules)?, &args.game);
    let mut uci = uci.map_err(|why| unplayable(&why))?;
    let manners = Manners { ending: Uci::ending, is_search: Uci::is_search, at_once: Uci::at_once };
    converse(out, manners, |line, interrupt, say| {
        uci.ended_by(interrupt);
        uci.line(line, say)
    })
}

pub(crate) fn xboard(args: &ProtocolArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let xboard = Xboard::new(setup::catalogue(&args.rules)?, &args.game);
    let mut xboard = xboard.map_err(|why| unplayable(&why))?;
    // Nothing is answered during a search: after the answer to `ping`, the client expects no move of an earlier line.
    let manners = Manners { ending: Xboard::ending, is_search: |_| false, at_once: |_| None };
    converse(out, manners, |line, interrupt, say| {
        xboard.ended_by(interrupt);
        xboard.line(line, say)
    })
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

/// How a protocol treats lines that come during a search.
struct Manners {
    /// How a line ends the search that is under way.
    ending: fn(&str) -> Option<Ending>,
    /// Whether a line begins a search during which others are answered.
    is_search: fn(&str) -> bool,
    /// The answer that a line gets during such a search.
    at_once: fn(&str) -> Option<&'static str>,
}

/// A line of the client, and the interrupt of the search for its answer.
type Heard = (io::Result<String>, Interrupt);

/// Answers the lines of standard input one after the other.
fn converse(
    out: &mut Out,
    manners: Manners,
    mut answer: impl FnMut(&str, Interrupt, &mut dyn FnMut(&str)) -> Flow,
) -> anyhow::Result<Verdict> {
    let (sender, lines) = channel();
    // The number of lines that were passed on and are not answered yet.
    let open = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&open);
    let reader = thread::Builder::new().spawn(move || read(&manners, &sender, &count));
    reader.context("a thread for the client's lines")?;
    for (line, interrupt) in lines {
        let mut said = Ok(());
        let flow = answer(&line.context("standard input")?, interrupt, &mut |text| {
            if said.is_ok() {
                // The client waits for the answer, and follows a search as it goes on.
                said = text
                    .split('\n')
                    .try_for_each(|it| out.line(it))
                    .and_then(|()| Ok(out.flush()?));
            }
        });
        said?;
        open.fetch_sub(1, Ordering::SeqCst);
        if flow == Flow::Quit {
            break;
        }
    }
    Ok(Verdict::Fine)
}

/// Reads lines until the end of input, and passes them on.
fn read(manners: &Manners, sender: &Sender<Heard>, open: &AtomicUsize) {
    let mut input = io::stdin().lock();
    let mut interrupt = Interrupt::default();
    // Whether the line that was passed on last is a search, so that no other line waits behind it; and when it came.
    let (mut is_search_last, mut came) = (false, Instant::now());
    let end = |interrupt: &mut Interrupt, came: Instant, ending: Ending| {
        // The search goes on for its time, and a later line can still end it.
        if ending == Ending::AnswerInTime {
            return interrupt.end(ending);
        }
        if ending == Ending::AnswerNow && open.load(Ordering::SeqCst) > 0 {
            thread::sleep(MOMENT.saturating_sub(came.elapsed()));
        }
        // Later lines get an interrupt of their own.
        std::mem::take(interrupt).end(ending);
    };
    loop {
        let mut bytes = Vec::new();
        let line = match input.read_until(b'\n', &mut bytes) {
            Ok(0) => return end(&mut interrupt, came, Ending::AnswerNow),
            // Names of players and of files need not be UTF-8.
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned()),
            Err(why) => Err(why),
        };
        let is_failed = line.is_err();
        if let Ok(line) = &line {
            let is_searching = is_search_last && open.load(Ordering::SeqCst) > 0;
            if is_searching && let Some(answer) = (manners.at_once)(line) {
                let mut out = io::stdout().lock();
                if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
                    return;
                }
                continue;
            }
            let ending = (manners.ending)(line);
            if let Some(ending) = ending {
                end(&mut interrupt, came, ending);
            }
            let is_search = (manners.is_search)(line);
            if is_search && interrupt.is_used() {
                interrupt = Interrupt::default();
            }
            let goes_on = is_searching && ending == Some(Ending::AnswerInTime);
            (is_search_last, came) = (goes_on || is_search, Instant::now());
        }
        open.fetch_add(1, Ordering::SeqCst);
        if sender.send((line, interrupt.clone())).is_err() || is_failed {
            return;
        }
    }
}
