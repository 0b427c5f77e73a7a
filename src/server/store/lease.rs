//! Leases: which node owns a game where several share a store, and the thread that renews them.
//!
//! Each node renews all its leases at intervals. It owns the games that it has claimed until another node claims
//! them, which is possible as soon as the owner has not renewed for [`LEASE`], or has released them. Every
//! claim increments the game's epoch, and an append names its epoch: an owner that was cut off and does not
//! know that it has lost its games cannot append to them. The database's clock decides when leases end; by its own
//! clock, a node only measures how long ago it renewed. Deliberately absent: comparing the clocks of nodes.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::StoreError;
use crate::server::lock::lock;

/// Time for which no other node can claim a node's games after it last renewed its leases.
pub(super) const LEASE: Duration = Duration::from_millis(1200);
/// Time after which a node renews its leases.
const RENEW: Duration = Duration::from_millis(300);

/// The name under which [`Nodes::send`] reaches every node, the sender among them.
pub(in crate::server) const ALL_NODES: &str = "all";

/// A node's right to append to a game, until another node takes the game over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub node: Arc<str>,
    pub epoch: u64,
}

/// The result of claiming a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The game belongs to this node from here on; `seq` is its last event.
    Ours { lease: Lease, seq: u64 },
    /// The game belongs to another live node. The name is empty if that node has just released the game.
    Theirs(Arc<str>),
}

/// A store that several nodes share.
///
/// # Errors
/// Every method fails if the store cannot be reached.
pub trait Nodes: Send {
    /// Renews the leases of a node.
    fn renew(&mut self, node: &str) -> Result<(), StoreError>;

    /// Makes a node the owner of a game, if no other live node owns it. `None` if there is no such game.
    fn claim(&mut self, game: &str, node: &Arc<str>) -> Result<Option<Claim>, StoreError>;

    /// Releases a game, if the lease still holds.
    fn release(&mut self, game: &str, lease: &Lease) -> Result<(), StoreError>;

    /// Releases all games of a node, and marks the node as gone.
    fn retire(&mut self, node: &str) -> Result<(), StoreError>;

    /// Sends a message to a node, or to all of them (`ALL_NODES`), without confirmation. False if it is too
    /// long.
    fn send(&mut self, node: &str, message: &str) -> Result<bool, StoreError>;
}

/// News from other nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A game has new events, up to this one.
    Appended { game: String, seq: u64 },
    /// Some notifications may have been missed.
    Missed,
    /// A message to this node.
    Message(String),
}

type Job = Box<dyn FnOnce(&mut dyn Nodes) + Send>;

/// The renewals of this node's leases, by its own clock.
#[derive(Debug)]
struct Renewals {
    /// All renewals since then were in time.
    since: Instant,
    last: Instant,
    /// Whether this node has released all its games, since it ends.
    is_retired: bool,
}

/// The thread that renews the leases of this node, claims and releases games for it, and sends its messages.
///
/// # Errors
/// What is asked of it fails if the store cannot be reached.
#[derive(Debug, Clone)]
pub struct Leases {
    node: Arc<str>,
    renewals: Arc<Mutex<Renewals>>,
    queue: Sender<Job>,
}

impl Leases {
    /// Starts the thread. It ends when the last handle is gone.
    ///
    /// # Errors
    /// The store cannot be reached, or there are too many threads.
    pub fn start(mut nodes: Box<dyn Nodes>, node: Arc<str>) -> Result<Self, StoreError> {
        let now = Instant::now();
        nodes.renew(&node)?;
        let renewals = Arc::new(Mutex::new(Renewals { since: now, last: now, is_retired: false }));
        let (queue, inbox) = channel();
        let (own, shared) = (Arc::clone(&node), Arc::clone(&renewals));
        let body = move || keep_alive(nodes.as_mut(), &own, &shared, &inbox);
        let spawned = std::thread::Builder::new().name("leases".to_owned()).spawn(body);
        spawned.map_err(|it| StoreError::Unavailable(it.to_string()))?;
        Ok(Self { node, renewals, queue })
    }

    /// The name of this node.
    pub fn node(&self) -> &Arc<str> {
        &self.node
    }

    /// Whether a game that this node claimed certainly still belongs to it. `asked` is the time before it sent the
    /// claim. If the answer is no, only a new claim can tell.
    pub fn hold_since(&self, asked: Instant) -> bool {
        let renewals = lock(&self.renewals);
        renewals.since <= asked && renewals.last.elapsed() < LEASE
    }

    /// Claims a game for this node.
    pub async fn claim(&self, game: &str) -> Result<Option<Claim>, StoreError> {
        let (game, node) = (game.to_owned(), Arc::clone(&self.node));
        self.ask(move |nodes| nodes.claim(&game, &node)).await
    }

    /// Releases a game, without waiting until that is done.
    pub fn release(&self, game: &str, lease: Lease) {
        let game = game.to_owned();
        self.post(Box::new(move |nodes| {
            if let Err(error) = nodes.release(&game, &lease) {
                tracing::warn!(game, %error, "a game is not released: it stays ours until we are gone");
            }
        }));
    }

    /// Sends a message to a node. False if it is too long.
    pub async fn send(&self, node: &str, message: String) -> Result<bool, StoreError> {
        let node = node.to_owned();
        self.ask(move |nodes| nodes.send(&node, &message)).await
    }

    /// Releases all games, so that other nodes can claim them at once.
    pub async fn retire(&self) -> Result<(), StoreError> {
        let (node, renewals) = (Arc::clone(&self.node), Arc::clone(&self.renewals));
        self.ask(move |nodes| {
            nodes.retire(&node)?;
            lock(&renewals).is_retired = true;
            Ok(())
        })
        .await
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn Nodes) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, answer) = oneshot::channel();
        // A caller that has stopped waiting does not need the answer.
        self.post(Box::new(move |nodes| drop(done.send(question(nodes)))));
        let gone = || StoreError::Unavailable("the thread of leases has stopped".into());
        answer.await.map_err(|_| gone())?
    }

    fn post(&self, job: Job) {
        if self.queue.send(job).is_err() {
            tracing::error!("the thread of leases has stopped");
        }
    }
}

impl Renewals {
    /// Records that the leases were renewed; `asked` is the time before the request.
    fn note(&mut self, asked: Instant) {
        // If the renewal was late, other nodes may have owned the games meanwhile: earlier claims are void.
        if self.last.elapsed() >= LEASE {
            self.since = asked;
        }
        self.last = asked;
    }
}

/// Runs jobs, and renews the leases in between.
fn keep_alive(
    nodes: &mut dyn Nodes,
    node: &str,
    renewals: &Mutex<Renewals>,
    inbox: &Receiver<Job>,
) {
    let mut due = Instant::now() + RENEW;
    loop {
        match inbox.recv_timeout(due.saturating_duration_since(Instant::now())) {
            Ok(job) => job(nodes),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if Instant::now() >= due {
            due = Instant::now() + RENEW;
            // A node that renewed after it has retired would be waited for again.
            if lock(renewals).is_retired {
                continue;
            }
            let asked = Instant::now();
            match nodes.renew(node) {
                Ok(()) => lock(renewals).note(asked),
                Err(error) => {
                    tracing::warn!(%error, "leases are not renewed: others may soon take our games over");
                }
            }
        }
    }
}
