//! Steps where several nodes share the store: a step is done here if this node owns the game, or can claim it, and is
//! passed on to the owner otherwise. Events that other nodes have stored are read first.
//!
//! Deliberately absent: the step itself (`storing`), and how ownership is stored (`store::lease`).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::super::board::Board;
use super::super::core::{Answer, Input, Room};
use super::super::ids::new_token;
use super::super::problem::Problem;
use super::super::store::Claim;
use super::{LOOK, Live, RoomSlot, frame};

/// Maximum number of attempts at a step when other nodes are faster.
const TRIES: usize = 4;
/// Maximum time to wait for the answer of another node.
const PATIENCE: Duration = Duration::from_secs(8);

impl Live {
    /// Reads the events that other nodes have stored.
    pub(super) async fn catch_up(&mut self) -> Result<(), Problem> {
        let entries = self.host.log_page(&self.id, self.room.v(), usize::MAX).await?;
        let (requests, now) = (1 + entries.len(), self.host.now());
        let follow = move |room: &mut Room<Board>| room.follow(now, &entries).map(|()| entries);
        let (followed, ran_out) = self.rules(self.lane, requests, follow).await?;
        let Ok(entries) = followed else {
            // Some of the events may be played: watchers would never get those.
            self.room = RoomSlot(None);
            return Err(ran_out.unwrap_or_else(Problem::unavailable));
        };
        entries.iter().for_each(|it| self.send_frame(frame(it)));
        Ok(())
    }

    /// Replaces the room, which knows more than was stored, by one made from the log.
    async fn reload(&mut self) -> Result<(), Problem> {
        let (room, entries) = self.host.load(&self.id).await?;
        self.room = RoomSlot(Some(Box::new(room)));
        let sent = self.sent;
        for entry in entries.iter().filter(|it| it.v > sent) {
            self.send_frame(frame(entry));
        }
        Ok(())
    }

    /// Claims the game for this node, and reads the events that others have appended. Returns the live node that owns the
    /// game already, if there is one.
    pub(super) async fn claim(&mut self) -> Result<Option<Arc<str>>, Problem> {
        let host = Arc::clone(&self.host);
        let Some(cluster) = host.cluster() else { return Ok(None) };
        if self.lease.as_ref().is_some_and(|it| cluster.leases.hold_since(it.1)) {
            return Ok(None);
        }
        let asked = std::time::Instant::now();
        match cluster.leases.claim(&self.id).await? {
            None => Err(Problem::no_game(&self.id)),
            Some(Claim::Theirs(node)) => {
                self.lease = None;
                Ok(Some(node))
            }
            Some(Claim::Ours { lease, seq }) => {
                // A game that was evicted with a running clock is parked, and still this node's.
                let is_parked = host.parked.timing(&self.id, seq).is_some();
                let was_ours = seq == self.room.v() && (self.lease.is_some() || is_parked);
                if seq > self.room.v() {
                    self.catch_up().await?;
                }
                if !was_ours {
                    // How long the game had no owner is not known, so that time is charged to no side.
                    let now = self.host.now();
                    if let Some(room) = &mut self.room.0 {
                        room.resume(now);
                    }
                }
                self.lease = Some((lease, asked));
                Ok(None)
            }
        }
    }

    /// Releases the game: from here on, other nodes may claim it.
    pub(super) fn release(&mut self) {
        if let (Some(cluster), Some((lease, _))) = (self.host.cluster(), self.lease.take()) {
            cluster.leases.release(&self.id, lease);
        }
    }

    /// Does a step here, or through the node that owns the game. The inner result is the game's own answer.
    pub(super) async fn step(
        &mut self,
        mut input: Input,
    ) -> Result<Result<Answer, Problem>, Problem> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(answer) = self.step_here(input.clone()).await? {
                return Ok(answer);
            }
            // If the owner dies, the step may be sent twice: its id tells the game that it is the same.
            if let Input::Act { id: id @ None, .. } = &mut input {
                *id = Some(format!("~{}", &new_token()?[..32]));
            }
            if let Some(node) = self.claim().await?
                && let Some(answer) = self.pass_on(&node, &input).await?
            {
                return Ok(answer);
            }
        }
        Err(Problem::unavailable())
    }

    /// Passes a step to another node. `None` if that node no longer owns the game.
    async fn pass_on(
        &mut self,
        node: &str,
        input: &Input,
    ) -> Result<Option<Result<Answer, Problem>>, Problem> {
        self.unload();
        let host = Arc::clone(&self.host);
        let Some(cluster) = host.cluster() else { return Ok(None) };
        let started = Instant::now();
        let mut asked = match cluster.ask(node, &self.id, input).await {
            Ok(asked) => asked,
            Err(problem) => return Ok(Some(Err(problem))),
        };
        while started.elapsed() < PATIENCE {
            match tokio::time::timeout(LOOK, &mut asked.answer).await {
                Ok(done) => {
                    let answer = done.ok().flatten().map(|it| it.map_err(Problem::from));
                    // A client must get the events before the answer that they led to.
                    if answer.is_some() {
                        self.catch_up().await?;
                    }
                    return Ok(answer);
                }
                Err(_) if self.claim().await?.as_deref() == Some(node) => {}
                Err(_) => return Ok(None),
            }
        }
        Err(Problem::unavailable())
    }

    /// Does a step, stores its events, and sends them; `None` if another node owns the game. If another node was faster,
    /// its events are read and the step is tried again.
    pub(super) async fn step_here(
        &mut self,
        input: Input,
    ) -> Result<Option<Result<Answer, Problem>>, Problem> {
        for _ in 0..TRIES {
            if self.claim().await?.is_some() {
                return Ok(None);
            }
            if let Some(answer) = self.try_step(input.clone()).await? {
                return Ok(Some(answer));
            }
            self.lease = None;
            self.reload().await?;
        }
        Err(Problem::conflict("game_moved", "other servers keep changing this game: ask again"))
    }
}
