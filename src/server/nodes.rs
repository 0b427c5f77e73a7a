//! A host as one of several nodes on a store: it reads what others append, answers their requests, sends them
//! which players are present, and releases its games when it stops.
//!
//! Deliberately absent: the messages (`cluster`), and which node owns a game (`store::lease`, `live`).

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::cluster::{Cluster, Done, Message};
use super::core::Input;
use super::host::Host;
use super::live::command::Command;
use super::presence::SEND_INTERVAL;
use super::store::{Membership, News};

#[doc(hidden)]
impl Host {
    /// Makes this server one of several that share the store, and handles messages from the others until it
    /// stops.
    pub async fn join(self: Arc<Self>, others: Membership) {
        let Membership { leases, mut news } = others;
        if self.cluster.set(Cluster::new(leases)).is_err() {
            tracing::error!("this server has joined the others already");
            return;
        }
        let mut timer = tokio::time::interval(SEND_INTERVAL);
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let news = tokio::select! {
                news = news.recv() => news,
                _ = timer.tick() => {
                    self.send_presence().await;
                    continue;
                }
            };
            let Some(news) = news else { return };
            match news {
                News::Appended { game, seq } => {
                    self.inbox_of(&game).into_iter().for_each(|it| pass_on(it, seq));
                }
                // Every game checks the store for itself.
                News::Missed => {
                    self.inboxes().into_iter().for_each(|it| pass_on(it, u64::MAX));
                }
                News::Message(text) => self.open(&text),
            }
        }
    }

    /// Sends the other nodes which players have connected and disconnected here.
    async fn send_presence(&self) {
        if let Some(cluster) = self.cluster() {
            cluster.send_presence(&self.presence.news(Instant::now())).await;
        }
    }

    /// Handles a message from another node.
    fn open(self: &Arc<Self>, text: &str) {
        let Some(cluster) = self.cluster() else { return };
        match serde_json::from_str(text) {
            Ok(Message::Answer { number, done }) => cluster.answered(number, done),
            Ok(Message::Ask { from, number, game, input }) => {
                let host = Arc::clone(self);
                tokio::spawn(async move { host.serve_node(&from, number, &game, input).await });
            }
            // A node also receives what it sends to all.
            Ok(Message::Present { from, .. }) if *from == **cluster.leases.node() => {}
            Ok(Message::Present { from, games }) => {
                self.presence.record_news(&from, games, Instant::now());
            }
            Err(error) => tracing::warn!(%error, "a message of another node cannot be read"),
        }
    }

    /// Carries out a request of another node, if the game is here.
    async fn serve_node(self: Arc<Self>, from: &str, number: u64, game: &str, input: Input) {
        let answer = self.ask(game, |reply| Command::PassedOn { input, reply }).await;
        let done = Done::of(answer.and_then(|it| it).transpose());
        let Some(cluster) = self.cluster() else { return };
        // A node that gets no answer looks up the owner of the game.
        if let Err(problem) = cluster.send(from, &Message::Answer { number, done }).await {
            tracing::warn!(game, problem.message, "an answer to another node is lost");
        }
    }

    /// Releases the games of this node, so that others can claim them at once.
    pub async fn retire(&self) {
        if let Some(cluster) = self.cluster()
            && let Err(error) = cluster.leases.retire().await
        {
            tracing::warn!(%error, "the other nodes take over when they do not hear of us");
        }
    }
}

/// Notifies a game that there may be events up to this one. It is not waited for, since it may itself wait
/// for other nodes.
fn pass_on(inbox: mpsc::Sender<Box<Command>>, seq: u64) {
    let news = Box::new(Command::News { seq });
    if let Err(mpsc::error::TrySendError::Full(news)) = inbox.try_send(news) {
        // A game that was evicted at this moment is read again anyway.
        tokio::spawn(async move { drop(inbox.send(news).await) });
    }
}
