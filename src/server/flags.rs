//! Eviction of idle games: how long they stay in memory, and how the flags of evicted games still fall in time.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::JoinSet;

use super::core::Input;
use super::host::Host;
use super::parked::{Due, Running};

/// Maximum time between two checks whether an idle game is to be evicted.
const LOOK: Duration = Duration::from_secs(5);
/// Minimum time between two such checks, for games that are idle, but watched, and therefore stay.
const SHORTEST_LOOK: Duration = Duration::from_millis(10);

impl Host {
    /// Remembers the clocks of a game that leaves memory, and makes sure that its flag falls in time.
    pub(super) fn park(self: &Arc<Self>, id: &str, running: Running) {
        if self.parked.park(id, running) {
            tokio::spawn(watch_flags(Arc::downgrade(self)));
        }
    }

    /// How long an idle game stays in memory: as configured while at most half of the maximum number of games are there;
    /// beyond that, the shorter the more there are.
    pub(super) fn idle_time(&self) -> Duration {
        let (live, most) = (self.live_games(), self.config.live.max(1));
        match live <= most / 2 {
            true => self.config.idle,
            false => self.config.idle.mul_f64(most.saturating_sub(live) as f64 / most as f64 * 2.0),
        }
    }
}

/// The time until an idle game checks again whether it is to be evicted.
pub(super) fn time_between_looks(idle: Duration) -> Duration {
    idle.clamp(SHORTEST_LOOK, LOOK)
}

/// Makes the flags of evicted games fall in time, until no such game has a running clock or the server stops.
async fn watch_flags(host: Weak<Host>) {
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
                let mut checks = JoinSet::new();
                for id in games {
                    checks.spawn(check_flag(Arc::clone(&host), id, now));
                }
                while checks.join_next().await.is_some() {}
            }
        }
    }
}

async fn check_flag(host: Arc<Host>, id: String, now: u64) {
    let checked = host.step(&id, Input::Tick).await;
    if let Err(problem) = &checked {
        tracing::warn!(game = id, problem.message, "a due flag did not fall; it is tried again");
    }
    host.parked.checked(&id, now, checked.is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the minimum, games that are watched would be checked without a pause.
    #[test]
    fn idle_games_are_checked_now_and_then() {
        assert_eq!(time_between_looks(Duration::ZERO), SHORTEST_LOOK);
        assert_eq!(time_between_looks(Duration::from_secs(1)), Duration::from_secs(1));
        assert_eq!(time_between_looks(Duration::from_secs(60)), LOOK);
    }
}
