//! Time control: how much time each side has, computed from times that are passed in.
//!
//! Time is charged by turn, not by action: a turn of several actions gains its increment and uses
//! its delay once. A correspondence game has a delay of some days for every turn, and no other time.
//! No side is charged before the first turn of the game is over, before all seats are taken, or for the time from
//! the last event before a restart of the server until the next request for the game.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::super::time::DAY;

/// A time control, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Control {
    /// The time that each side starts with.
    pub initial: u64,
    /// Added after every turn (Fischer).
    #[serde(default)]
    pub increment: u64,
    /// Free at the start of every turn (simple delay).
    #[serde(default)]
    pub delay: u64,
}

/// The longest time control, in milliseconds, so that every clock runs out eventually.
const LONGEST: Control = Control { initial: 30 * DAY, increment: 7 * DAY, delay: 14 * DAY };

impl Control {
    /// What is wrong with the time control, if anything.
    pub fn fault(&self) -> Option<String> {
        if self.initial == 0 && self.delay == 0 {
            let why = "the clock leaves no time for a first turn: give `initial` or `delay` in ms";
            return Some(why.to_owned());
        }
        let given = [
            ("initial", self.initial, LONGEST.initial),
            ("increment", self.increment, LONGEST.increment),
            ("delay", self.delay, LONGEST.delay),
        ];
        let (name, value, most) = given.into_iter().find(|it| it.1 > it.2)?;
        let days = most / DAY;
        Some(format!(
            "the clock's {name} of {value} ms is too long: {most} ms ({days} days) at most"
        ))
    }

    /// A control of that many days for every turn.
    pub fn correspondence(days: u64) -> Self {
        Self { initial: 0, increment: 0, delay: days.saturating_mul(DAY) }
    }

    /// Whether every turn has the same time, of which nothing is left over for the next.
    pub fn is_by_turn(&self) -> bool {
        self.initial == 0 && self.increment == 0
    }

    /// The days for every turn, if it is a correspondence control.
    pub fn days_a_turn(&self) -> Option<u64> {
        (self.is_by_turn() && self.delay >= DAY).then_some(self.delay / DAY)
    }
}

/// The running clock after a time without a server. The next event records it, since the earlier events do not tell
/// that this time was charged to no side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// The time that the side to move had left at `since`, in milliseconds.
    pub left: u64,
    /// When its turn began, later by the time that is not charged.
    pub since: u64,
}

/// The clocks of one game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    control: Control,
    /// The time that each side had when its turn began.
    left: Vec<u64>,
    /// Whose clock runs, and when its turn began, later by the time that is not charged.
    running: Option<(usize, u64)>,
    /// Whether the running clock was resumed, and no event has recorded it yet.
    is_resumed: bool,
}

impl Clocks {
    pub fn new(control: Control, sides: usize) -> Self {
        Self { control, left: vec![control.initial; sides], running: None, is_resumed: false }
    }

    /// The time that each side has left at `now`.
    pub fn at(&self, now: u64) -> Vec<u64> {
        let mut left = self.left.clone();
        if let Some((side, since)) = self.running
            && let Some(own) = left.get_mut(side)
        {
            *own = own.saturating_sub(self.charged(since, now));
        }
        left
    }

    fn charged(&self, since: u64, now: u64) -> u64 {
        now.saturating_sub(since).saturating_sub(self.control.delay)
    }

    /// When the running clock falls, and whose it is.
    pub fn deadline(&self) -> Option<(usize, u64)> {
        let (side, since) = self.running?;
        let left = self.left.get(side)?;
        Some((side, since.saturating_add(self.control.delay).saturating_add(*left)))
    }

    /// Ends a turn and begins the next.
    pub fn end_turn(&mut self, next: usize, now: u64) {
        if let Some((side, since)) = self.running {
            let charged = self.charged(since, now);
            if let Some(own) = self.left.get_mut(side) {
                *own = own.saturating_sub(charged).saturating_add(self.control.increment);
            }
        }
        self.running = Some((next, now));
    }

    /// Sets the remaining times that an event recorded; the clock of `side` runs from `now` on.
    pub fn restore(&mut self, left: &[u64], side: Option<usize>, now: u64) {
        self.left = left.to_vec();
        self.running = side.map(|it| (it, now));
        self.is_resumed = false;
    }

    /// Starts the clock of a side, if none runs.
    pub fn start(&mut self, side: usize, now: u64) {
        self.running = self.running.or(Some((side, now)));
    }

    /// Lets the running clock go on at `now` from what it showed at `last`: the time between is charged to no side.
    pub fn resume(&mut self, last: u64, now: u64) {
        if let Some((_, since)) = &mut self.running {
            *since = since.saturating_add(now.saturating_sub(last));
            self.is_resumed = true;
        }
    }

    /// What the next event is to record, if the running clock was resumed since the last one.
    pub fn resumed(&self) -> Option<Resumed> {
        let (side, since) = self.running.filter(|_| self.is_resumed)?;
        Some(Resumed { left: *self.left.get(side)?, since })
    }

    /// Sets the running clock to the state that an event recorded.
    pub fn restore_resumed(&mut self, Resumed { left, since }: Resumed) {
        if let Some((side, from)) = &mut self.running
            && let Some(own) = self.left.get_mut(*side)
        {
            (*own, *from) = (left, since);
        }
        self.is_resumed = false;
    }

    pub fn runs(&self) -> bool {
        self.running.is_some()
    }
}

/// How far a time is ahead of another.
pub(super) fn difference(time: u64, other: u64) -> i64 {
    time.checked_signed_diff(other).unwrap_or(0)
}
