//! Conversations in UCI and with xboard. A conversation costs the rules of a game to begin, so each thread
//! has one that goes on; it is taken back to its start before every input.

use std::cell::RefCell;

use rulemate::internals::protocols::{Ending, Interrupt, Uci, Xboard};

use super::catalogue;

/// The maximum number of lines of one input.
const LINES: usize = 24;

pub(crate) fn uci(input: &[u8]) {
    thread_local! {
        static CONVERSATION: RefCell<Option<Uci>> = const { RefCell::new(None) };
    }
    let new = || Uci::new(catalogue().clone(), "chess").unwrap_or_else(|it| panic!("{it}"));
    CONVERSATION.with_borrow_mut(|it| {
        let uci = it.get_or_insert_with(new);
        let text = String::from_utf8_lossy(input);
        let reset = [
            "stop",
            "setoption name UCI_Chess960 value false",
            "setoption name UCI_Variant value chess",
        ];
        let lines = text.lines().filter(|it| is_harmless(it)).take(LINES);
        uci.ended_by(ended());
        for line in reset.into_iter().chain(lines) {
            uci.line(line, &mut |said| assert!(!said.contains('\n'), "{line:?}: {said:?}"));
        }
    });
}

/// Ends searches as they begin: nothing else would end `go infinite`.
fn ended() -> Interrupt {
    let interrupt = Interrupt::default();
    interrupt.end(Ending::AnswerNow);
    interrupt
}

/// Counting deep takes as long as it takes, and files are not ours to read.
fn is_harmless(line: &str) -> bool {
    let lower = line.to_lowercase();
    let deep = |word: &str| word.parse::<u64>().is_ok_and(|it| it > 1);
    let counts = lower.contains("perft") && lower.split_whitespace().any(deep);
    !counts && !lower.contains("variantpath")
}

pub(crate) fn xboard(input: &[u8]) {
    thread_local! {
        static CONVERSATION: RefCell<Option<Xboard>> = const { RefCell::new(None) };
    }
    let new = || Xboard::new(catalogue().clone(), "chess").unwrap_or_else(|it| panic!("{it}"));
    CONVERSATION.with_borrow_mut(|it| {
        let xboard = it.get_or_insert_with(new);
        let text = String::from_utf8_lossy(input);
        xboard.ended_by(ended());
        for line in ["new", "force"].into_iter().chain(text.lines().take(LINES)) {
            xboard.line(line, &mut |said| assert!(!said.contains('\n'), "{line:?}: {said:?}"));
        }
    });
}
