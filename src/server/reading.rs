//! Reading games: their states, the actions that were played, their logs; and waiting until an answer is
//! fresh enough.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::core::{EVENTS, LogEntry, TokenHash};
use super::host::Host;
use super::live::LOOK;
use super::live::command::{Command, Lines};
use super::loader::entries;
use super::problem::Problem;

#[doc(hidden)]
impl Host {
    /// The state of a game as it is, or as it was after some number of actions.
    ///
    /// # Errors
    /// There is no such game, it has fewer actions, its rules take too long, or it cannot be reached.
    pub async fn state(
        self: &Arc<Self>,
        id: &str,
        token: Option<TokenHash>,
        ply: Option<usize>,
        lines: Lines,
    ) -> Result<Value, Problem> {
        self.ask(id, |reply| Command::State { token, ply, lines, reply }).await?
    }

    /// A page of the actions that were played.
    ///
    /// # Errors
    /// There is no such game, or it cannot be reached.
    pub async fn lines(
        self: &Arc<Self>,
        id: &str,
        from: usize,
        limit: usize,
    ) -> Result<Value, Problem> {
        self.ask(id, |reply| Command::Lines { from, limit, reply }).await?
    }

    /// Makes sure that a game is known here up to an event. Acknowledged events are in the store: they are
    /// read from there if another node has stored them and its notification has not arrived yet. An event
    /// that is not there either is waited for, up to a limit.
    ///
    /// # Errors
    /// There is no such game, it has no such event in time, or the store cannot be reached.
    pub async fn know_version(self: &Arc<Self>, id: &str, v: Option<u64>) -> Result<(), Problem> {
        let Some(v) = v else { return Ok(()) };
        // More than `EVENTS` no game ever has: not worth waiting for.
        let wait = if v > EVENTS { Duration::ZERO } else { self.config.wait };
        let started = Instant::now();
        let have = loop {
            let (have, later) = self.ask(id, |reply| Command::Version { v, reply }).await??;
            if have >= v {
                return Ok(());
            }
            let left = wait.saturating_sub(started.elapsed());
            let Some(mut later) = later.filter(|_| !left.is_zero()) else { break have };
            // The store is asked again at intervals: not every store notifies of what others write.
            let heard = timeout(left.min(LOOK), later.wait_for(|it| *it >= v)).await;
            if heard.is_ok_and(|it| it.is_err()) {
                // The game was evicted at this moment.
                tokio::time::sleep(left.min(LOOK)).await;
            }
        };
        let message = format!("the game is at event {have}: there is no event {v} yet");
        let problem = Problem::conflict("no_such_version", message);
        Err(problem.with(json!({ "v": have })))
    }

    /// The log of a game.
    ///
    /// # Errors
    /// There is no such game, the store cannot be reached, or what it has of the log is damaged.
    pub async fn log(&self, id: &str) -> Result<Vec<LogEntry>, Problem> {
        self.log_page(id, 0, usize::MAX).await
    }

    /// The log of a game after the event of a number, `limit` events at most.
    ///
    /// # Errors
    /// As [`Host::log`].
    pub async fn log_page(
        &self,
        id: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>, Problem> {
        let game = id.to_owned();
        let rows = self.reads().ask(move |store| store.page(&game, after, limit)).await?;
        entries(id, &rows.ok_or_else(|| Problem::no_game(id))?)
    }
}
