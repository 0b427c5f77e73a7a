//! Messages between nodes that share a store: a request for a game that another node owns, its answer, and who is
//! connected to which game. They are sent through the store's notifications, so nodes need no connections to each
//! other.
//!
//! A message may be lost, or its receiver may die before answering. So a player's request ([`Input::Act`]) that is passed
//! on has an id, which its events carry: a second attempt finds that the request was carried out. The `number` of a
//! message only tells which request an answer is for.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use super::core::{Answer, Input};
use super::lock::lock;
use super::presence::Present;
use super::problem::Problem;
use super::store::{ALL_NODES, Leases};

/// A message from one node to another.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Message {
    Ask {
        from: String,
        number: u64,
        game: String,
        input: Input,
    },
    Answer {
        number: u64,
        done: Done,
    },
    /// Who is connected to the sender now, for each game where that has changed, or for all of the sender's games.
    Present {
        from: String,
        games: Vec<(String, Present)>,
    },
}

/// Maximum number of games in one message about presence, since the size of messages is limited.
const GAMES_PER_MESSAGE: usize = 60;

/// The result of a request that was passed on; `None` if the game now belongs to another node.
pub(super) type Done = Option<Result<Answer, SentProblem>>;

/// A problem as nodes send it to each other.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SentProblem {
    status: u16,
    code: String,
    message: String,
    more: Option<Value>,
}

/// This node's side of the exchange: its requests to others with their answers, and its answers to theirs.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) leases: Leases,
    /// Requests that other nodes have not answered yet.
    waiting: Mutex<HashMap<u64, oneshot::Sender<Done>>>,
    /// The number of the next request.
    next: AtomicU64,
}

impl Cluster {
    pub(super) fn new(leases: Leases) -> Self {
        Self { leases, waiting: Mutex::default(), next: AtomicU64::new(1) }
    }

    /// Passes a request on, and returns without waiting for the answer.
    ///
    /// # Errors
    /// The store cannot be reached, or the request is too long.
    pub(super) async fn ask(
        &self,
        node: &str,
        game: &str,
        input: &Input,
    ) -> Result<Asked<'_>, Problem> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (waiting, answer) = oneshot::channel();
        lock(&self.waiting).insert(number, waiting);
        let asked = Asked { cluster: self, number, answer };
        let (from, game) = (self.leases.node().to_string(), game.to_owned());
        let sent =
            self.send(node, &Message::Ask { from, number, game, input: input.clone() }).await?;
        if sent {
            return Ok(asked);
        }
        let message = "another server has this game, and the request is too long to be passed on";
        Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message))
    }

    /// Answers a request that another node has passed on. If the answer is too long for a message, its lists are left out,
    /// such as the refutation of a refused move. Returns whether it was sent.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub(super) async fn answer(
        &self,
        node: &str,
        number: u64,
        done: Done,
    ) -> Result<bool, Problem> {
        let mut message = Message::Answer { number, done };
        while !self.send(node, &message).await? {
            let Message::Answer { done: Some(Err(problem)), .. } = &mut message else {
                return Ok(false);
            };
            if !problem.drop_lists() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends a message to a node, or to [`ALL_NODES`]. Returns whether it was short enough.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub(super) async fn send(&self, node: &str, message: &Message) -> Result<bool, Problem> {
        let text = serde_json::to_string(message).map_err(|_| Problem::unavailable())?;
        Ok(self.leases.send(node, text).await?)
    }

    /// Tells all nodes who is connected to this one.
    pub(super) async fn send_presence(&self, news: &[(String, Present)]) {
        for games in news.chunks(GAMES_PER_MESSAGE) {
            let (from, games) = (self.leases.node().to_string(), games.to_vec());
            match self.send(ALL_NODES, &Message::Present { from, games }).await {
                Ok(true) => {}
                Ok(false) => {
                    tracing::warn!("a message about who is connected is too long to be sent")
                }
                // All of it is sent again after a while.
                Err(problem) => {
                    tracing::debug!(problem.message, "other nodes are not told who is connected")
                }
            }
        }
    }

    /// Hands an answer to the request that waits for it, if it still waits.
    pub(super) fn deliver_answer(&self, number: u64, done: Done) {
        if let Some(waiting) = lock(&self.waiting).remove(&number) {
            let _ = waiting.send(done);
        }
    }
}

/// A request that was passed on.
#[derive(Debug)]
pub(super) struct Asked<'c> {
    cluster: &'c Cluster,
    number: u64,
    pub(super) answer: oneshot::Receiver<Done>,
}

/// From then on nothing waits for the answer.
impl Drop for Asked<'_> {
    fn drop(&mut self) {
        lock(&self.cluster.waiting).remove(&self.number);
    }
}

impl SentProblem {
    /// Drops the lists among the details. Returns whether there were any.
    fn drop_lists(&mut self) -> bool {
        let Some(Value::Object(more)) = &mut self.more else { return false };
        let count = more.len();
        more.retain(|_, it| !it.is_array());
        more.len() < count
    }
}

impl From<Problem> for SentProblem {
    fn from(Problem { status, code, message, more }: Problem) -> Self {
        Self { status: status.as_u16(), code: code.into_owned(), message, more }
    }
}

impl From<SentProblem> for Problem {
    fn from(SentProblem { status, code, message, more }: SentProblem) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, code: code.into(), message, more }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The refutation of a move like e2e5 is longer than a message may be.
    #[test]
    fn a_refusal_that_is_too_long_is_told_without_its_lists() {
        let refused = Problem::unprocessable("illegal_move", "e2e5 is not legal");
        let more = json!({ "reason": "king_safety", "because": vec!["line"; 900] });
        let mut sent = SentProblem::from(refused.clone().with(more));
        assert!(sent.drop_lists());
        assert!(!sent.drop_lists(), "there is nothing left to drop");
        let expected = refused.with(json!({ "reason": "king_safety" }));
        assert_eq!(Problem::from(sent), expected);
    }
}
