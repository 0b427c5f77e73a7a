//! Sends requests to games: each game in memory is a task of its own, started at the first request for the game.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::board::Board;
use super::core::{Answer, Input, LogEntry, Room, TokenHash};
use super::host::Host;
use super::library::lock;
use super::live::command::{Branched, Command};
use super::live::{self, Feed};
use super::problem::Problem;
use super::store::Lease;
use crate::game::Game;

/// Number of requests that the inbox of one game holds; further ones wait for a place in it.
const INBOX: usize = 256;
/// Maximum number of attempts to reach a game that is evicted at the same moment.
const TRIES: usize = 3;

/// Where commands for a game go, with a reserved place if there is one.
type Inbox = (mpsc::Sender<Box<Command>>, Option<mpsc::OwnedPermit<Box<Command>>>);

#[doc(hidden)]
impl Host {
    /// Sends an input to a game; when the answer comes, its events are durable.
    ///
    /// # Errors
    /// There is no such game, the game refuses, or the store cannot be reached.
    pub async fn step(self: &Arc<Self>, id: &str, input: Input) -> Result<Answer, Problem> {
        self.ask(id, |reply| Command::Step { input, reply }).await?
    }

    /// The feed of a game from an event on.
    ///
    /// # Errors
    /// There is no such game, or it has too many watchers and the token is not that of a seat.
    pub async fn watch(
        self: &Arc<Self>,
        id: &str,
        have: Option<u64>,
        token: Option<TokenHash>,
    ) -> Result<Feed, Problem> {
        self.ask(id, |reply| Command::Watch { have, token, reply }).await?
    }

    /// Asks about a position of a game.
    ///
    /// # Errors
    /// There is no such game, it has fewer actions, or the question is not valid or takes too long.
    pub async fn question<T: Send + 'static>(
        self: &Arc<Self>,
        id: &str,
        ply: Option<usize>,
        question: impl FnOnce(&mut Game) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let branched = self.ask(id, |reply| Command::Branch { ply, reply }).await??;
        let Branched { mut game, lane } = branched;
        // Proofs may take a while: they are found on a copy, in parallel with the game.
        self.pool.run(lane, move || question(&mut game)).await?
    }

    /// A copy of a game as it is now, or as it was after some actions.
    ///
    /// # Errors
    /// There is no such game, or it has fewer actions.
    pub(super) async fn copy_of(
        self: &Arc<Self>,
        id: &str,
        ply: Option<usize>,
    ) -> Result<Box<Game>, Problem> {
        let branched = self.ask(id, |reply| Command::Branch { ply, reply }).await??;
        Ok(branched.game)
    }

    /// Sends a command to a game and waits for the answer; the game is loaded if it has to be.
    ///
    /// # Errors
    /// The game cannot be reached. What the game answers, a refusal too, is the value.
    pub(super) async fn ask<T>(
        self: &Arc<Self>,
        id: &str,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Problem> {
        let mut command = Some(command);
        for _ in 0..TRIES {
            let place = match self.inbox(id)? {
                (_, Some(place)) => place,
                (inbox, None) => match inbox.reserve_owned().await {
                    Ok(place) => place,
                    Err(_) => {
                        // The game was evicted at this moment.
                        self.forget_closed(id);
                        continue;
                    }
                },
            };
            let Some(command) = command.take() else { break };
            let (reply, answer) = oneshot::channel();
            place.send(Box::new(command(reply)));
            return answer.await.map_err(|_| Problem::unavailable());
        }
        Err(Problem::unavailable())
    }

    /// The inbox of a game, which is loaded if need be. In that case a place in the inbox is reserved, since the
    /// inbox is closed if it turns out that there is no such game: the request is told so then.
    fn inbox(self: &Arc<Self>, id: &str) -> Result<Inbox, Problem> {
        let mut live = lock(&self.live);
        if let Some(sender) = live.get(id) {
            return Ok((sender.clone(), None));
        }
        if live.len() >= self.config.live {
            let status = axum::http::StatusCode::SERVICE_UNAVAILABLE;
            return Err(Problem::new(status, "server_full", "too many games are in play"));
        }
        let (sender, inbox) = mpsc::channel(INBOX);
        let place = sender.clone().try_reserve_owned().ok();
        live.insert(id.to_owned(), sender.clone());
        tokio::spawn(live::load_and_run(Arc::clone(self), id.to_owned(), inbox));
        Ok((sender, place))
    }

    /// Starts the task of a game that was just made, unless a request for it has loaded it from the store already.
    pub(super) fn adopt(
        self: &Arc<Self>,
        id: &str,
        room: Room<Board>,
        entries: &[LogEntry],
        lease: Option<Lease>,
    ) {
        let mut live = lock(&self.live);
        if live.get(id).is_some_and(|it| !it.is_closed()) {
            return;
        }
        let (sender, inbox) = mpsc::channel(INBOX);
        live.insert(id.to_owned(), sender);
        drop(live);
        tokio::spawn(live::run(Arc::clone(self), id.to_owned(), room, entries, lease, inbox));
    }
}
