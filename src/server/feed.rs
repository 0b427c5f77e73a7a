//! The messages that watchers of a game are sent.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// What happens in a game, for one watcher: the events that were missed, then new ones.
#[derive(Debug)]
pub struct Feed {
    pub missed: Vec<Arc<str>>,
    /// Ends when the game is evicted, or when too much waits to be read.
    pub coming: mpsc::Receiver<Arc<str>>,
}

/// Sends a message to all feeds, and drops those that take no more: returns the number of feeds that are too slow.
pub(super) fn tell(feeds: &mut Vec<mpsc::Sender<Arc<str>>>, frame: &Arc<str>) -> usize {
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
