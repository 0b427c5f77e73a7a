//! Evicted games with a running clock: the clocks, and when each flag falls. A flag falls in time even if nothing
//! requests the game, and the clocks of a game that is loaded again have run on meanwhile.
//!
//! Deadlines are kept in memory only. After a restart a game's clock goes on at the next request for the game: the time
//! between is charged to no side.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use super::core::Timing;
use super::lock::lock;

/// Maximum number of games that are remembered. Beyond it, games whose flags fall last are forgotten: their clocks go on
/// as after a restart.
const GAMES: usize = 500_000;
/// Maximum number of games whose flags are handled at a time.
const AT_ONCE: usize = 8;
/// Time to wait after a flag could not be stored, in milliseconds.
const AGAIN: u64 = 5_000;

/// The running clocks of an evicted game.
#[derive(Debug, Clone)]
pub(super) struct Running {
    /// The number of the game's last event when it was evicted. A game that has a later event was loaded since.
    pub(super) v: u64,
    pub(super) timing: Timing,
    /// When the flag falls.
    pub(super) deadline: u64,
}

/// Games whose clocks run while they are out of memory.
#[derive(Debug, Default)]
pub(super) struct Parked {
    games: Mutex<Games>,
    pub(super) changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Games {
    /// By id, with the time at which each game is to be checked.
    all: HashMap<String, (u64, Running)>,
    /// The games by the time at which they are to be checked.
    queue: BTreeSet<(u64, String)>,
    /// Whether a task waits for the first game of the queue.
    is_watched: bool,
}

impl Games {
    /// Remembers a game, to be checked at the time `due`.
    fn put(&mut self, id: &str, due: u64, running: Running) {
        self.remove(id);
        self.queue.insert((due, id.to_owned()));
        self.all.insert(id.to_owned(), (due, running));
        if self.all.len() > GAMES
            && let Some((_, last)) = self.queue.pop_last()
        {
            self.all.remove(&last);
        }
    }

    fn remove(&mut self, id: &str) -> Option<Running> {
        let (due, running) = self.all.remove(id)?;
        self.queue.remove(&(due, id.to_owned()));
        Some(running)
    }
}

/// What the task that waits for flags is to do next.
pub(super) enum Due {
    /// Check these games, whose flags may have fallen.
    Now(Vec<String>),
    /// Wait for this time.
    In(Duration),
    /// End: no clock runs.
    Nothing,
}

impl Parked {
    /// Remembers a game. Returns whether a task that waits for flags must be started.
    pub(super) fn park(&self, id: &str, running: Running) -> bool {
        let mut games = lock(&self.games);
        games.put(id, running.deadline, running);
        self.changed.notify_one();
        !std::mem::replace(&mut games.is_watched, true)
    }

    /// The clocks of a game, if its last event is still `v`.
    pub(super) fn timing(&self, id: &str, v: u64) -> Option<Timing> {
        let games = lock(&self.games);
        games.all.get(id).filter(|it| it.1.v == v).map(|it| it.1.timing.clone())
    }

    /// What to do next. A task that gets [`Due::Nothing`] must end: the next game that is parked starts another one.
    pub(super) fn due(&self, now: u64) -> Due {
        let mut games = lock(&self.games);
        let Some(first) = games.queue.first().map(|it| it.0) else {
            games.is_watched = false;
            return Due::Nothing;
        };
        if first > now {
            return Due::In(Duration::from_millis(first - now));
        }
        let fallen = games.queue.iter().take_while(|it| it.0 <= now).take(AT_ONCE);
        Due::Now(fallen.map(|it| it.1.clone()).collect())
    }

    /// Forgets a game after a check that began at `now`; if the check failed, the game is checked again after a while. If
    /// the game has been parked again since, that entry stays.
    pub(super) fn checked(&self, id: &str, now: u64, has_succeeded: bool) {
        let mut games = lock(&self.games);
        if games.all.get(id).is_none_or(|it| it.0 > now) {
            return;
        }
        if let Some(running) = games.remove(id).filter(|_| !has_succeeded) {
            games.put(id, now + AGAIN, running);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::core::{Clocks, Control};
    use super::*;

    fn running(deadline: u64) -> Running {
        let control = Control { initial: 1, increment: 0, delay: 0 };
        let timing = Timing { clocks: Clocks::new(control, 2), now: 0, ahead: 0 };
        Running { v: 3, timing, deadline }
    }

    #[test]
    fn flags_fall_in_order_and_what_is_not_done_comes_again() {
        let parked = Parked::default();
        for (id, deadline) in [("late", 900), ("soon", 100), ("next", 200)] {
            lock(&parked.games).put(id, deadline, running(deadline));
        }
        lock(&parked.games).put("late", 300, running(300));
        assert!(matches!(parked.due(50), Due::In(it) if it.as_millis() == 50));
        assert!(matches!(parked.due(250), Due::Now(it) if it == ["soon", "next"]));
        parked.checked("soon", 250, true);
        parked.checked("next", 250, false);
        assert!(matches!(parked.due(250), Due::In(it) if it.as_millis() == 50), "the late one");
        parked.checked("late", 250, true);
        assert!(parked.timing("late", 3).is_some(), "parked anew since");
        assert!(parked.timing("late", 4).is_none(), "it has gone on");
        assert!(matches!(parked.due(5_250), Due::Now(it) if it == ["late", "next"]));
        for id in ["late", "next"] {
            parked.checked(id, 5_250, true);
        }
        assert!(matches!(parked.due(9_999), Due::Nothing));
    }
}
