//! Sending messages to the watchers of a game.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// The feed of one watcher: the events that were missed, then new ones.
#[derive(Debug)]
pub struct Feed {
    pub missed: Vec<Arc<str>>,
    /// Ends when the game is evicted, or when the watcher falls too far behind.
    pub coming: mpsc::Receiver<Arc<str>>,
}

/// Sends a message to all feeds, and drops those that are full or closed: returns the number of full ones.
pub(super) fn send_to_all(feeds: &mut Vec<mpsc::Sender<Arc<str>>>, frame: &Arc<str>) -> usize {
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
