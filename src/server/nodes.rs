//! A host as one of several nodes on a store: it reads events that other nodes append, answers their requests, tells
//! them who is present here, and releases its games when it stops.
//!
//! Deliberately absent: the messages (`cluster`), and which node owns a game (`store::lease`, `live`).

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::cluster::{Cluster, Message, SentProblem};
use super::core::Input;
use super::host::Host;
use super::live::command::Command;
use super::lock::lock;
use super::presence::SEND_INTERVAL;
use super::store::{Membership, News};

#[doc(hidden)]
impl Host {
    /// Makes this server one of several that share the store. Handles news from the others, and sends them its own,
    /// until it stops.
    pub async fn join(self: Arc<Self>, membership: Membership) {
        let Membership { leases, mut news } = membership;
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
                    if let Some(cluster) = self.cluster() {
                        cluster.send_presence(&self.presence.news(Instant::now())).await;
                    }
                    continue;
                }
            };
            let Some(news) = news else { return };
            match news {
                News::Appended { game, seq } => {
                    if let Some(inbox) = lock(&self.live).get(&game) {
                        notify(inbox, seq);
                    }
                }
                // Every game checks the store for itself.
                News::Missed => lock(&self.live).values().for_each(|it| notify(it, u64::MAX)),
                News::Message(text) => self.handle(&text),
            }
        }
    }

    /// Handles a message from another node.
    fn handle(self: &Arc<Self>, text: &str) {
        let Some(cluster) = self.cluster() else { return };
        match serde_json::from_str(text) {
            Ok(Message::Answer { number, done }) => cluster.deliver_answer(number, done),
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

    /// Carries out a request of another node, if this node owns the game or can claim it.
    async fn serve_node(self: Arc<Self>, from: &str, number: u64, game: &str, input: Input) {
        let answer = self.ask(game, |reply| Command::PassedOn { input, reply }).await;
        let done = answer.flatten().transpose().map(|it| it.map_err(SentProblem::from));
        let Some(cluster) = self.cluster() else { return };
        // A node that gets no answer asks again if the game has another owner by then, and gives up otherwise.
        match cluster.answer(from, number, done).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!(game, "an answer is too long for another node"),
            Err(problem) => {
                tracing::warn!(game, problem.message, "an answer to another node is lost");
            }
        }
    }

    /// Releases the games of this node, so that others can claim them at once.
    pub async fn retire(&self) {
        if let Some(cluster) = self.cluster()
            && let Err(error) = cluster.leases.retire().await
        {
            tracing::warn!(%error, "games are not released: other nodes take over when they no longer hear from us");
        }
    }
}

/// Notifies a game that the store may have its events up to number `seq`. Does not wait for the game, which may itself
/// wait for other nodes.
fn notify(inbox: &mpsc::Sender<Box<Command>>, seq: u64) {
    let news = Box::new(Command::News { seq });
    if let Err(mpsc::error::TrySendError::Full(news)) = inbox.try_send(news) {
        let inbox = inbox.clone();
        // A game that is evicted meanwhile reads the store anyway when it is loaded again.
        tokio::spawn(async move { drop(inbox.send(news).await) });
    }
}
