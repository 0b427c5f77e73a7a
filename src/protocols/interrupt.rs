//! The end of a search that a client no longer wants, from the thread that reads the client's lines.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::opponent::Stop;

/// Ends the search for the answer to a line. Copies end the same search.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    stop: Stop,
    abandoned: Arc<AtomicBool>,
    clock: Arc<Mutex<Clock>>,
}

/// The clock of a search that ponders.
#[derive(Debug, Default)]
struct Clock {
    /// When the time for the action will be over, once the expected move was played.
    until: Option<Instant>,
    /// Whether the expected move was played.
    is_running: bool,
}

/// How a line ends a search that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The best action so far is the answer.
    AnswerNow,
    /// The move that was expected was played: the search ends within the time for the action.
    AnswerInTime,
    /// No answer is wanted.
    Abandon,
}

impl Interrupt {
    /// Ends the search.
    pub fn end(&self, ending: Ending) {
        match ending {
            Ending::AnswerInTime => {
                let mut clock = self.clock();
                clock.is_running = true;
                if let Some(until) = clock.until {
                    self.stop_at(until);
                }
                return;
            }
            Ending::Abandon => self.abandoned.store(true, Ordering::Relaxed),
            Ending::AnswerNow => (),
        }
        self.stop.stop();
    }

    /// Whether no answer is wanted any more.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Whether it has ended a search or is about to, so that a later search needs another one.
    pub fn is_used(&self) -> bool {
        self.stop.is_stopped() || self.clock().is_running
    }

    /// The search that begins now has as much time from now on, if the move that it expects is played.
    pub(super) fn ponders(&self, time: Duration) {
        let mut clock = self.clock();
        let until = Instant::now().checked_add(time);
        clock.until = until;
        if clock.is_running
            && let Some(until) = until
        {
            self.stop_at(until);
        }
    }

    /// What the search looks at.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    fn stop_at(&self, until: Instant) {
        let stop = self.stop.clone();
        let waiting = thread::Builder::new().spawn(move || {
            thread::sleep(until.saturating_duration_since(Instant::now()));
            stop.stop();
        });
        // Without a thread that waits, the search ends now.
        if waiting.is_err() {
            self.stop.stop();
        }
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
