//! Sends requests to games: each game in memory is a task of its own, started at the first request for the game.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::board::Board;
use super::core::{Answer, Input, LogEntry, Room, TokenHash};
use super::host::Host;
use super::live::command::{Branched, Command};
use super::live::{self, Feed};
use super::lock::lock;
use super::problem::Problem;
use super::store::Lease;
use crate::game::Game;

/// Number of requests that the inbox of one game holds; further ones wait for a place in it.
const INBOX: usize = 256;
/// Maximum number of attempts to reach a game that is evicted at the same moment.
const TRIES: usize = 3;

/// A reserved place in the inbox of a game.
type Place = mpsc::OwnedPermit<Box<Command>>;

/// The inbox of a game.
enum Inbox {
    Loading(Place),
    Open(mpsc::Sender<Box<Command>>),
}

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

    /// Asks about the position of a game now, or after `ply` actions.
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

    /// A copy of a game as it is now, or as it was after `ply` actions.
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
    /// The game cannot be reached. Refusals by the game are part of its answer.
    pub(super) async fn ask<T>(
        self: &Arc<Self>,
        id: &str,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Problem> {
        let place = self.place_in_inbox(id).await?;
        let (reply, answer) = oneshot::channel();
        place.send(Box::new(command(reply)));
        answer.await.map_err(|_| Problem::unavailable())
    }

    /// Waits for a place in the inbox of a game, which is loaded if need be.
    async fn place_in_inbox(self: &Arc<Self>, id: &str) -> Result<Place, Problem> {
        for _ in 0..TRIES {
            match self.inbox(id)? {
                Inbox::Loading(place) => return Ok(place),
                Inbox::Open(inbox) => match inbox.reserve_owned().await {
                    Ok(place) => return Ok(place),
                    // The game was evicted at this moment.
                    Err(_) => self.forget_closed(id),
                },
            }
        }
        Err(Problem::unavailable())
    }

    /// The inbox of a game, which is loaded if need be. In that case a place is reserved before the loading begins: if
    /// there is no such game, the inbox is closed, and only requests that have a place are told so.
    fn inbox(self: &Arc<Self>, id: &str) -> Result<Inbox, Problem> {
        let mut live = lock(&self.live);
        if let Some(inbox) = live.get(id) {
            return Ok(Inbox::Open(inbox.clone()));
        }
        if live.len() >= self.config.live {
            return Err(Problem::not_now("server_full", "too many games are in play"));
        }
        let (sender, inbox) = mpsc::channel(INBOX);
        let place = sender.clone().try_reserve_owned().map_err(|_| Problem::unavailable())?;
        live.insert(id.to_owned(), sender);
        tokio::spawn(live::load_and_run(Arc::clone(self), id.to_owned(), inbox));
        Ok(Inbox::Loading(place))
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
