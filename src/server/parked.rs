//! Evicted games with a running clock: what the clocks are, and when each falls.
//! A flag falls in time though nothing asks for the game, and a game that comes back goes on with its
//! clocks as they were.
//!
//! A deadline is remembered for as long as the process lives. After a restart a game's clock goes on
//! when the game is next asked for: the time between is charged to neither side.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::core::{Input, Timing};
use super::host::Host;
use super::library::lock;

/// The maximum number of games that are remembered: of more, those whose flags fall last are forgotten,
/// as if the server had started anew.
const GAMES: usize = 500_000;
/// The maximum number of games whose flags are looked after at a time.
const AT_ONCE: usize = 8;
/// How long to wait after a flag could not be stored, in milliseconds.
const AGAIN: u64 = 5_000;
/// Maximum time between two looks whether an idle game is to be evicted.
const LOOK: Duration = Duration::from_secs(5);

/// A game's clocks as they run.
#[derive(Debug, Clone)]
pub(super) struct Running {
    /// The event after which they run so.
    pub(super) v: u64,
    pub(super) timing: Timing,
    pub(super) deadline: u64,
}

/// Games whose clocks run while they are out of memory.
#[derive(Debug, Default)]
pub(super) struct Parked {
    games: Mutex<Games>,
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Games {
    /// With the time at which each is to be looked at.
    all: HashMap<String, (u64, Running)>,
    queue: BTreeSet<(u64, String)>,
    /// Whether a task waits for the first of the queue.
    is_watched: bool,
}

impl Games {
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

/// What there is to do.
enum Due {
    /// These flags may have fallen.
    Now(Vec<String>),
    In(Duration),
    Nothing,
}

impl Parked {
    /// How time goes in a game after an event.
    pub(super) fn timing(&self, id: &str, v: u64) -> Option<Timing> {
        let games = lock(&self.games);
        games.all.get(id).filter(|it| it.1.v == v).map(|it| it.1.timing.clone())
    }

    fn due(&self, now: u64) -> Due {
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

    /// A game was looked at. If that failed, it is looked at again after a while. It may have been parked anew since.
    fn done(&self, id: &str, now: u64, is_done: bool) {
        let mut games = lock(&self.games);
        if games.all.get(id).is_none_or(|it| it.0 > now) {
            return;
        }
        if let Some(running) = games.remove(id).filter(|_| !is_done) {
            games.put(id, now + AGAIN, running);
        }
    }
}

impl Host {
    /// Remembers the clocks of a game that leaves memory, and sees to it that a flag falls in time.
    pub(super) fn park(self: &Arc<Self>, id: &str, running: Running) {
        let mut games = lock(&self.parked.games);
        games.put(id, running.deadline, running);
        if !std::mem::replace(&mut games.is_watched, true) {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
        drop(games);
        self.parked.changed.notify_one();
    }

    /// How long a game stays in memory that nothing asks for: the less, the fuller it is.
    pub(super) fn patience(&self) -> Duration {
        let (live, most) = (self.live_games(), self.config.live.max(1));
        match live <= most / 2 {
            true => self.config.idle,
            false => self.config.idle.mul_f64(most.saturating_sub(live) as f64 / most as f64 * 2.0),
        }
    }

    /// The time until an idle game looks again whether it is to be evicted.
    pub(super) fn next_look(&self) -> Duration {
        self.config.idle.min(LOOK)
    }
}

/// Waits for flags to fall, as long as there are any and the server is there.
async fn watch(host: Weak<Host>) {
    loop {
        let Some(host) = host.upgrade().filter(|it| !it.is_draining()) else { return };
        let now = host.now();
        match host.parked.due(now) {
            Due::Nothing => return,
            Due::In(wait) => {
                let changed = Arc::clone(&host.parked.changed);
                drop(host);
                // An earlier flag may come in between.
                let _ = tokio::time::timeout(wait, changed.notified()).await;
            }
            Due::Now(games) => {
                let mut looks = JoinSet::new();
                for id in games {
                    let host = Arc::clone(&host);
                    looks.spawn(async move {
                        let looked = host.step(&id, Input::Tick).await;
                        if let Err(problem) = &looked {
                            tracing::warn!(game = id, problem.message, "a flag does not fall yet");
                        }
                        host.parked.done(&id, now, looked.is_ok());
                    });
                }
                while looks.join_next().await.is_some() {}
            }
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
        parked.done("soon", 250, true);
        parked.done("next", 250, false);
        assert!(matches!(parked.due(250), Due::In(it) if it.as_millis() == 50), "the late one");
        parked.done("late", 250, true);
        assert!(parked.timing("late", 3).is_some(), "parked anew since");
        assert!(parked.timing("late", 4).is_none(), "it has gone on");
        assert!(matches!(parked.due(5_250), Due::Now(it) if it == ["late", "next"]));
        for id in ["late", "next"] {
            parked.done(id, 5_250, true);
        }
        assert!(matches!(parked.due(9_999), Due::Nothing));
    }
}
