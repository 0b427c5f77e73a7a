//! Notifications between the nodes of one PostgreSQL database: a connection that listens, on a thread of its
//! own.
//!
//! Notifications may be lost without harm: after it has reconnected, a node gets [`News::Missed`], and reads the store.

use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, NoTls, Notification};
use tokio::sync::mpsc;

use super::lease::ALL_NODES;
use super::{News, StoreError};

/// The channel on which all nodes are notified of new events. Its messages are a game and its last event, `ID SEQ`.
pub(super) const EVENTS_CHANNEL: &str = "rulemate_events";

/// The channel for messages to one node, or to `ALL_NODES`. Its name consists of letters and digits, so it needs no
/// quotes.
pub(super) fn channel_of(node: &str) -> String {
    format!("rulemate_node_{node}")
}

/// How often the thread looks whether it is still needed, and the pause before it reconnects.
const PAUSE: Duration = Duration::from_millis(500);
/// Maximum number of news that wait to be read.
const QUEUE: usize = 4096;

/// Starts the thread that passes on which games have new events, and the messages to this node. It reconnects when the
/// connection breaks.
///
/// # Errors
/// The database cannot be reached, or there are too many threads.
pub(super) fn listen(url: &str, node: &str) -> Result<mpsc::Receiver<News>, StoreError> {
    let mut client = connect(url, node)?;
    let (news, inbox) = mpsc::channel(QUEUE);
    let (url, node) = (url.to_owned(), node.to_owned());
    let body = move || {
        while !news.is_closed() {
            if let Err(error) = pass_on(&mut client, &news) {
                tracing::warn!(%error, "no news from other nodes");
            }
            if news.is_closed() {
                return;
            }
            std::thread::sleep(PAUSE);
            if let Ok(again) = connect(&url, &node) {
                client = again;
                // The receiver may be gone: then the loop ends.
                let _ = news.blocking_send(News::Missed);
            }
        }
    };
    let spawned = std::thread::Builder::new().name("news".to_owned()).spawn(body);
    spawned.map_err(|it| StoreError::Unavailable(it.to_string()))?;
    Ok(inbox)
}

fn connect(url: &str, node: &str) -> Result<Client, StoreError> {
    let mut client = Client::connect(url, NoTls)?;
    let (own, all) = (channel_of(node), channel_of(ALL_NODES));
    client.batch_execute(&format!("LISTEN {EVENTS_CHANNEL}; LISTEN {own}; LISTEN {all}"))?;
    Ok(client)
}

/// Passes news on until the connection breaks or no receiver is left.
fn pass_on(client: &mut Client, news: &mpsc::Sender<News>) -> Result<(), StoreError> {
    while !news.is_closed() {
        {
            let mut waiting = client.notifications();
            let mut all = waiting.timeout_iter(PAUSE);
            while let Some(it) = all.next()? {
                let Some(it) = read(&it) else { continue };
                if news.blocking_send(it).is_err() {
                    return Ok(());
                }
            }
        }
        if client.is_closed() {
            return Err(StoreError::Unavailable("the connection broke".into()));
        }
    }
    Ok(())
}

fn read(notification: &Notification) -> Option<News> {
    if notification.channel() != EVENTS_CHANNEL {
        return Some(News::Message(notification.payload().to_owned()));
    }
    let (game, seq) = notification.payload().split_once(' ')?;
    Some(News::Appended { game: game.to_owned(), seq: seq.parse().ok()? })
}
