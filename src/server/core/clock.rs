//! Time control: how much time each side has, kept from times that are passed in.
//!
//! Time is charged by turn, not by action: a turn of several actions gains its increment and uses
//! its delay once. Correspondence is a delay of days with nothing beside it: so long for every turn.
//! No side is charged before the first turn of the game is over, nor for the time
//! that a server was away.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How time is given, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Control {
    /// What each side starts with.
    pub initial: u64,
    /// Added after every turn (Fischer).
    #[serde(default)]
    pub increment: u64,
    /// Free at the start of every turn (simple delay).
    #[serde(default)]
    pub delay: u64,
}

/// The longest clocks, in milliseconds: no game takes longer, and every clock falls some day.
const LONGEST: Control = Control { initial: 30 * DAY, increment: 7 * DAY, delay: 14 * DAY };
const DAY: u64 = 24 * 60 * 60 * 1000;

impl Control {
    /// What is wrong with it, if something is.
    pub fn fault(&self) -> Option<String> {
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

    /// So many days for every turn.
    pub fn correspondence(days: u64) -> Self {
        Self { initial: 0, increment: 0, delay: days.saturating_mul(DAY) }
    }

    /// The days that a side has for every turn, of correspondence.
    pub fn days_a_turn(&self) -> Option<u64> {
        let is_by_turn = self.initial == 0 && self.increment == 0;
        (is_by_turn && self.delay >= DAY).then_some(self.delay / DAY)
    }
}

/// The clocks of one game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clocks {
    control: Control,
    /// What each side had when its turn began.
    left: Vec<u64>,
    /// Whose clock runs, and since when.
    running: Option<(usize, u64)>,
}

impl Clocks {
    pub fn new(control: Control, sides: usize) -> Self {
        Self { control, left: vec![control.initial; sides], running: None }
    }

    /// What each side has left at a time.
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

    /// A turn ends and the next begins.
    pub fn turn_over(&mut self, next: usize, now: u64) {
        if let Some((side, since)) = self.running {
            let charged = self.charged(since, now);
            if let Some(own) = self.left.get_mut(side) {
                *own = own.saturating_sub(charged).saturating_add(self.control.increment);
            }
        }
        self.running = Some((next, now));
    }

    /// What was left as an event recorded it, the clock of `side` running from `now` on.
    pub fn restore(&mut self, left: &[u64], side: Option<usize>, now: u64) {
        self.left = left.to_vec();
        self.running = side.map(|it| (it, now));
    }

    /// Counts from `now` on what runs: the time until then is charged to no side.
    pub fn resume(&mut self, last: u64, now: u64) {
        if let Some((side, _)) = self.running {
            self.left = self.at(last);
            self.running = Some((side, now));
        }
    }

    pub fn runs(&self) -> bool {
        self.running.is_some()
    }
}
