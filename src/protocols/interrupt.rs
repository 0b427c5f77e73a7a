//! Ends a search, from the thread that reads the client's lines.

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

/// The clock of a search that ponders, so that its time counts only from a move on that the other side is expected to
/// play.
#[derive(Debug, Default)]
struct Clock {
    /// When the search ends, if the expected move was played.
    until: Option<Instant>,
    /// Whether the expected move was played.
    is_running: bool,
}

/// How a line ends a search that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The best action so far is the answer.
    AnswerNow,
    /// The expected move was played: the search ends within the time for its action.
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
                clock.stop_if_running(&self.stop);
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

    /// Whether this has ended a search or is about to, so that a later search needs an interrupt of its own.
    pub fn is_used(&self) -> bool {
        self.stop.is_stopped() || self.clock().is_running
    }

    /// Sets the time of the search that begins now: it counts from now on, but only if the expected move is played.
    pub(super) fn set_time(&self, time: Duration) {
        let mut clock = self.clock();
        clock.until = Instant::now().checked_add(time);
        clock.stop_if_running(&self.stop);
    }

    /// The signal that the search watches.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    /// Ends the search when its time is over, if the time is known and counts.
    fn stop_if_running(&self, stop: &Stop) {
        let Some(until) = self.until.filter(|_| self.is_running) else { return };
        let later = stop.clone();
        let waiting = thread::Builder::new().spawn(move || {
            thread::sleep(until.saturating_duration_since(Instant::now()));
            later.stop();
        });
        // Without a thread that waits, the search ends now.
        if waiting.is_err() {
            stop.stop();
        }
    }
}
