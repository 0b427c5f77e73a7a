//! The time of the machine and of games, in milliseconds since 1970.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A day, in milliseconds.
pub const DAY: u64 = 24 * 60 * 60 * 1_000;

/// Time as games see it: milliseconds since 1970, never backward, however the machine's clock is
/// set.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    wall: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { start: Instant::now(), wall: wall_clock() }
    }
}

impl Clock {
    pub fn now(&self) -> u64 {
        self.wall + millis(self.start.elapsed())
    }
}

/// The machine's clock: milliseconds since 1970.
pub fn wall_clock() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
