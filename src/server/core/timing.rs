//! The clocks of a room: when they run, and what they show.
//!
//! A clock runs only after the first turn, which is free, and while all seats are taken, so that no game is lost on time
//! before all players have come.
//! Deliberately absent: what a turn costs (`clock`).

use super::clock::{Clocks, difference};
use super::request::Line;
use super::room::Room;
use super::rules::Rules;

/// The clocks of a game that is out of memory.
#[derive(Debug, Clone)]
pub struct Timing {
    pub(in crate::server) clocks: Clocks,
    /// As in [`Room`].
    pub(in crate::server) now: u64,
    /// As in [`Room`].
    pub(in crate::server) ahead: i64,
}

impl<R: Rules> Room<R> {
    /// Resumes the clocks after a time that was not measured here: it is charged to no side.
    pub fn resume(&mut self, now: u64) {
        let time = self.time(now);
        if let Some(clocks) = &mut self.clocks {
            clocks.resume(self.now, time);
        }
        self.now = time;
        self.ahead = difference(time, now);
    }

    /// The game's own time: it never goes backward, even if the clock of this machine does.
    pub(super) fn time(&self, now: u64) -> u64 {
        now.saturating_add_signed(self.ahead).max(self.now)
    }

    /// The clocks and times of the game, if a clock runs.
    pub fn timing(&self) -> Option<Timing> {
        let clocks = self.clocks.clone().filter(Clocks::runs)?;
        Some(Timing { clocks, now: self.now, ahead: self.ahead })
    }

    /// Restores clocks that have run on while the game was out of memory.
    pub fn restore_clocks(&mut self, Timing { clocks, now, ahead }: Timing) {
        self.clocks = Some(clocks);
        (self.now, self.ahead) = (now, ahead);
    }

    /// The time that each side has left.
    pub fn clocks(&self, now: u64) -> Option<Vec<u64>> {
        self.clocks.as_ref().map(|it| it.at(self.time(now)))
    }

    /// Whether a clock runs.
    pub fn clock_runs(&self) -> bool {
        self.clocks.as_ref().is_some_and(Clocks::runs)
    }

    /// When the running clock runs out.
    pub fn deadline(&self) -> Option<u64> {
        let (_, at) = self.clocks.as_ref()?.deadline()?;
        Some(at.saturating_sub_signed(self.ahead))
    }

    /// Sets the times that an event recorded. The clock of the side to move runs from there on, if one may run.
    pub(super) fn set_clocks(&mut self, left: Option<&[u64]>, at: u64) {
        let side = Some(self.rules.side()).filter(|_| self.may_clock_run());
        if let (Some(own), Some(left)) = (&mut self.clocks, left) {
            own.restore(left, side, at);
        }
    }

    /// Starts the clock of the side to move when a seat is taken, if one may run from then on.
    pub(super) fn start_clock(&mut self, at: u64) {
        if self.outcome.is_none() && self.may_clock_run() {
            let side = self.rules.side();
            self.clocks.iter_mut().for_each(|it| it.start(side, at));
        }
    }

    /// Whether all seats are taken, or there are none, and a turn was played here: imported turns have no clocks.
    fn may_clock_run(&self) -> bool {
        let is_timed_turn = |it: &Line| !it.turn_goes_on && it.clocks.is_some();
        let is_full = self.setup.open || self.seats.iter().all(Option::is_some);
        is_full && self.lines.iter().any(is_timed_turn)
    }
}
