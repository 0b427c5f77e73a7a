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
const SHORTEST_SEARCH: Duration = Duration::from_millis(200);

pub(crate) fn uci(args: &ProtocolArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let uci = Uci::new(setup::catalogue(&args.rules)?, &args.game);
    let mut uci = uci.map_err(|why| unplayable(&why))?;
    let during_search =
        DuringSearch { ending: Uci::ending, is_search: Uci::is_search, at_once: Uci::at_once };
    converse(out, during_search, |line, interrupt, say| {
        uci.ended_by(interrupt);
        uci.line(line, say)
    })
}

pub(crate) fn xboard(args: &ProtocolArgs, out: &mut Out) -> anyhow::Result<Verdict> {
    let xboard = Xboard::new(setup::catalogue(&args.rules)?, &args.game);
    let mut xboard = xboard.map_err(|why| unplayable(&why))?;
    // Nothing is answered during a search: after the answer to `ping`, the client expects no move of an earlier line.
    let during_search =
        DuringSearch { ending: Xboard::ending, is_search: |_| false, at_once: |_| None };
    converse(out, during_search, |line, interrupt, say| {
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
struct DuringSearch {
    /// How a line ends the search that is under way.
    ending: fn(&str) -> Option<Ending>,
    /// Whether a line begins a search during which others are answered.
    is_search: fn(&str) -> bool,
    /// The answer that a line gets during such a search.
    at_once: fn(&str) -> Option<&'static str>,
}

/// A line of the client, and the interrupt of the search for its answer.
type ClientLine = (io::Result<String>, Interrupt);

/// Answers the lines of standard input one after the other.
fn converse(
    out: &mut Out,
    during_search: DuringSearch,
    mut answer: impl FnMut(&str, Interrupt, &mut dyn FnMut(&str)) -> Flow,
) -> anyhow::Result<Verdict> {
    let (sender, lines) = channel();
    let open = Arc::new(AtomicUsize::new(0));
    let reader = Reader {
        during_search,
        sender,
        open: Arc::clone(&open),
        interrupt: Interrupt::default(),
        is_search_last: false,
        came: Instant::now(),
    };
    let spawned = thread::Builder::new().spawn(move || reader.run());
    spawned.context("a thread for the client's lines")?;
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

/// Reads the client's lines and passes them on.
struct Reader {
    during_search: DuringSearch,
    sender: Sender<ClientLine>,
    /// The number of lines that were passed on and are not answered yet.
    open: Arc<AtomicUsize>,
    /// Goes along with each line; ends the search for its answer.
    interrupt: Interrupt,
    /// Whether the line that was passed on last is a search, so that no other line waits behind it.
    is_search_last: bool,
    /// When that line came.
    came: Instant,
}

impl Reader {
    /// Reads until the end of input, or until no answer can be given any more.
    fn run(mut self) {
        let mut input = io::stdin().lock();
        loop {
            let mut bytes = Vec::new();
            match input.read_until(b'\n', &mut bytes) {
                Ok(0) => return self.end_search(Ending::AnswerNow),
                Ok(_) => {
                    // Names of players and of files need not be UTF-8.
                    let line = String::from_utf8_lossy(&bytes);
                    if !self.hear(line.trim_end_matches(['\r', '\n'])) {
                        return;
                    }
                }
                Err(why) => {
                    self.pass_on(Err(why));
                    return;
                }
            }
        }
    }

    /// Answers a line at once, or passes it on. Returns whether to go on reading.
    fn hear(&mut self, line: &str) -> bool {
        let is_searching = self.is_search_last && self.open.load(Ordering::SeqCst) > 0;
        if is_searching && let Some(answer) = (self.during_search.at_once)(line) {
            let mut out = io::stdout().lock();
            return writeln!(out, "{answer}").and_then(|()| out.flush()).is_ok();
        }
        let ending = (self.during_search.ending)(line);
        if let Some(ending) = ending {
            self.end_search(ending);
        }
        let is_search = (self.during_search.is_search)(line);
        if is_search && self.interrupt.is_used() {
            self.interrupt = Interrupt::default();
        }
        let goes_on = is_searching && ending == Some(Ending::AnswerInTime);
        self.is_search_last = goes_on || is_search;
        self.came = Instant::now();
        self.pass_on(Ok(line.to_owned()))
    }

    fn end_search(&mut self, ending: Ending) {
        // The search goes on for its time, and a later line can still end it.
        if ending == Ending::AnswerInTime {
            return self.interrupt.end(ending);
        }
        if ending == Ending::AnswerNow && self.open.load(Ordering::SeqCst) > 0 {
            thread::sleep(SHORTEST_SEARCH.saturating_sub(self.came.elapsed()));
        }
        // Later lines get an interrupt of their own.
        std::mem::take(&mut self.interrupt).end(ending);
    }

    /// Returns whether lines are still wanted.
    fn pass_on(&self, line: io::Result<String>) -> bool {
        self.open.fetch_add(1, Ordering::SeqCst);
        self.sender.send((line, self.interrupt.clone())).is_ok()
    }
}
