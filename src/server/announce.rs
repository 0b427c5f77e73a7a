//! Notifies webhooks of games that begin and end, and event streams of games that begin.

use serde_json::json;

use super::board::Board;
use super::core::{Event, LogEntry, Room};
use super::host::{Begun, Host};
use super::state::{accounts, summary};
use super::webhooks::{Hooks, WebhookQueues};

#[doc(hidden)]
impl Host {
    /// Notifies these addresses of games that begin and end from now on. Only the first call counts; others are logged.
    ///
    /// # Errors
    /// An address has `https`, and this machine has no root certificates.
    pub fn set_hooks(&self, hooks: &Hooks) -> std::io::Result<()> {
        if self.hooks.set(WebhookQueues::open(hooks)?).is_err() {
            tracing::error!("there are webhooks already");
        }
        Ok(())
    }

    /// Notifies webhooks and streams if a game begins or ends with these events, which are stored already.
    pub(super) fn announce(&self, id: &str, room: &Room<Board>, events: &[LogEntry]) {
        let has = |test: fn(&Event) -> bool| events.iter().any(|it| test(&it.event));
        let is_full = room.seats().iter().all(Option::is_some);
        // A seat that is taken stays so: a game begins once.
        let begins = is_full && has(|it| matches!(it, Event::Seated { .. }));
        if begins {
            // There may be no stream that receives it.
            let _ = self.begun.send(Begun { id: id.to_owned(), accounts: accounts(room) });
        }
        let Some(queues) = self.hooks.get() else { return };
        let ends = has(|it| matches!(it, Event::Ended { .. }));
        let news = [begins.then_some("game_started"), ends.then_some("game_ended")];
        for kind in news.into_iter().flatten() {
            let (at, game, result) = (self.now(), summary(id, room), room.outcome());
            let body = json!({ "event": kind, "at": at, "game": game, "result": result });
            queues.put(kind, id, &body.to_string());
        }
    }
}
