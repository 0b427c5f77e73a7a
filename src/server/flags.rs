//! Eviction of idle games: how long they stay in memory, and how the flags of those whose clocks run still
//! fall in time.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::JoinSet;

use super::core::Input;
use super::host::Host;
use super::library::lock;
use super::parked::{Due, Running};

/// Maximum time between two checks whether an idle game is to be evicted.
const LOOK: Duration = Duration::from_secs(5);
/// The minimum: a game that somebody watches stays, however often it is checked.
const SHORTEST_LOOK: Duration = Duration::from_millis(10);

impl Host {
    /// Remembers the clocks of a game that leaves memory, and makes sure that its flag falls in time.
    pub(super) fn park(self: &Arc<Self>, id: &str, running: Running) {
        let mut games = lock(&self.parked.games);
        games.put(id, running.deadline, running);
        if !std::mem::replace(&mut games.is_watched, true) {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
        drop(games);
        self.parked.changed.notify_one();
    }

    /// How long an idle game stays in memory: as configured while memory holds at most half of the games that it may
    /// hold, and less and less the more it holds beyond that.
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

/// Has the flags of games out of memory fall in time, as long as there are such games and the server runs.
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
                            tracing::warn!(
                                game = id,
                                problem.message,
                                "a flag that is due did not fall; it is tried again"
                            );
                        }
                        host.parked.checked(&id, now, looked.is_ok());
                    });
                }
                while looks.join_next().await.is_some() {}
            }
        }
    }
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
