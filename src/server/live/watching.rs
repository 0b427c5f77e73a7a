//! Watchers of a game: they are sent each event, and what they missed when they reconnect.
//!
//! Deliberately absent: sockets (`socket`).

use std::sync::Arc;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::super::core::TokenHash;
use super::super::problem::Problem;
use super::super::socket::TOO_MANY_WATCHERS;
use super::{Lines, Live, RECENT, frame};

/// Maximum number of events that a client is sent one by one when it reconnects; one that missed more gets the whole
/// state.
const MISSED: u64 = 256;
/// Maximum number of actions that are sent with the whole state: the last ones.
const RESYNC: usize = 100;
/// Maximum number of messages that wait for one watcher; a slower one is dropped.
const BACKLOG: usize = 64;
/// Maximum number of watchers of one game.
const WATCHERS: usize = 2_000;
/// Maximum number of feeds of the players of one game.
const PLAYERS: usize = 32;
/// Maximum length of a message, in bytes, and of everything that is sent to a client that reconnects; a
/// longer state must be fetched over HTTP.
pub(in crate::server) const FRAME: usize = 256 * 1024;

/// The feed of one watcher: the events that were missed, then new ones.
#[derive(Debug)]
pub struct Feed {
    pub missed: Vec<Arc<str>>,
    /// Ends when the game is evicted, or when the watcher falls too far behind.
    pub coming: mpsc::Receiver<Arc<str>>,
}

/// Sends a message to all feeds, and drops those that are full or closed: returns the number of full ones.
fn send_to_all(feeds: &mut Vec<mpsc::Sender<Arc<str>>>, frame: &Arc<str>) -> usize {
    let mut slow = 0;
    feeds.retain(|it| match it.try_send(Arc::clone(frame)) {
        Ok(()) => true,
        Err(TrySendError::Full(_)) => {
            slow += 1;
            false
        }
        // A tab that was closed is not slow.
        Err(TrySendError::Closed(_)) => false,
    });
    slow
}

impl Live {
    /// Sends an event to all watchers, and its number to requests that wait for it.
    pub(super) fn send_frame(&mut self, frame: Arc<str>) {
        for feeds in [&mut self.watchers, &mut self.players] {
            self.host.metrics.dropped(send_to_all(feeds, &frame));
        }
        if self.frames.len() == RECENT {
            self.frames.pop_front();
        }
        self.frames.push_back(frame);
        self.sent += 1;
        if self.room.0.as_ref().is_some_and(|it| it.outcome().is_some()) {
            let _ = self.host.ended.send(self.id.clone());
        }
        if let Some(later) = &self.later {
            later.send_replace(self.sent);
        }
    }

    /// Drops the watchers and waiting requests that are gone.
    pub(super) fn forget_gone(&mut self) {
        for feeds in [&mut self.watchers, &mut self.players] {
            feeds.retain(|it| !it.is_closed());
        }
        self.later = self.later.take().filter(|it| it.receiver_count() > 0);
    }

    pub(super) async fn watch(
        &mut self,
        have: Option<u64>,
        token: Option<TokenHash>,
    ) -> Result<Feed, Problem> {
        self.forget_gone();
        if have.is_some_and(|it| it > self.sent) {
            // The client may have got that event from another node.
            self.catch_up().await?;
        }
        let plays = token.is_some_and(|it| !self.room.sides_of(&it).is_empty());
        if !plays && self.watchers.len() >= WATCHERS {
            let status = axum::http::StatusCode::TOO_MANY_REQUESTS;
            return Err(Problem::new(status, TOO_MANY_WATCHERS, "too many watch this game"));
        }
        let (sender, coming) = mpsc::channel(BACKLOG);
        let missed = match have {
            Some(have) if have <= self.sent && self.sent - have <= MISSED => {
                let missed = self.missed(have).await?;
                match missed.iter().map(|it| it.len()).sum::<usize>() <= FRAME {
                    true => missed,
                    false => vec![self.resync().await?],
                }
            }
            // No number, or the number of an event that is too old or does not exist.
            _ => vec![self.resync().await?],
        };
        let feeds = if plays { &mut self.players } else { &mut self.watchers };
        if plays && feeds.len() >= PLAYERS {
            // Players have reconnected again and again: the oldest connection is most likely dead. If it is not, its
            // client reconnects.
            feeds.remove(0);
        }
        feeds.push(sender);
        Ok(Feed { missed, coming })
    }

    /// The events after the one with this number.
    async fn missed(&self, have: u64) -> Result<Vec<Arc<str>>, Problem> {
        let before_frames = self.sent - self.frames.len() as u64;
        if let Some(known) = have.checked_sub(before_frames) {
            let known = usize::try_from(known).unwrap_or(usize::MAX);
            return Ok(self.frames.iter().skip(known).cloned().collect());
        }
        // Later events of the log are sent when this game reads them.
        let log = self.host.log_page(&self.id, have, usize::MAX).await?;
        Ok(log.iter().take_while(|it| it.v <= self.sent).map(frame).collect())
    }

    /// The whole state as a message, or a message that it must be fetched.
    async fn resync(&mut self) -> Result<Arc<str>, Problem> {
        let v = self.room.v();
        let state = self.state(None, None, Lines::Last(RESYNC)).await?;
        let mut message = json!({ "v": v, "t": "resync", "d": state }).to_string();
        if message.len() > FRAME {
            message = json!({ "v": v, "t": "resync" }).to_string();
        }
        Ok(message.into())
    }
}
