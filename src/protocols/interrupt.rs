//! The end of a search that a client no longer wants, from the thread that reads the client's lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::opponent::Stop;

/// Ends the search for the answer to a line. Copies end the same search.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    stop: Stop,
    abandoned: Arc<AtomicBool>,
}

/// How a line ends a search that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The best action so far is the answer.
    AnswerNow,
    /// No answer is wanted.
    Abandon,
}

impl Interrupt {
    /// Ends the search.
    pub fn end(&self, ending: Ending) {
        if ending == Ending::Abandon {
            self.abandoned.store(true, Ordering::Relaxed);
        }
        self.stop.stop();
    }

    /// Whether no answer is wanted any more.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// What the search looks at.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }
}
