//! Reading games: their states, the actions that were played, their logs and PGN; and waiting until this node knows an
//! event that the client has seen elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::begin::start;
use super::core::{EVENTS, Event, LogEntry, Setup, TokenHash};
use super::host::Host;
use super::live::LOOK;
use super::live::command::{Command, Lines};
use super::loader::entries;
use super::problem::Problem;
use super::transcript::pgn;

#[doc(hidden)]
impl Host {
    /// The state of a game as it is, or as it was after some number of actions.
    ///
    /// # Errors
    /// There is no such game, it has fewer actions, its rules take too long, or it cannot be reached.
    pub async fn state(
        self: &Arc<Self>,
        id: &str,
        token: Option<TokenHash>,
        ply: Option<usize>,
        lines: Lines,
    ) -> Result<Value, Problem> {
        self.ask(id, |reply| Command::State { token, ply, lines, reply }).await?
    }

    /// A page of the actions that were played.
    ///
    /// # Errors
    /// There is no such game, or it cannot be reached.
    pub async fn lines(
        self: &Arc<Self>,
        id: &str,
        from: usize,
        limit: usize,
    ) -> Result<Value, Problem> {
        self.ask(id, |reply| Command::Lines { from, limit, reply }).await?
    }

    /// Makes sure that this node knows a game up to the event `v`. If another node has stored that event and its
    /// notification has not arrived yet, it is read from the store. An event that is not there either is waited
    /// for, up to a limit.
    ///
    /// # Errors
    /// There is no such game, it has no such event in time, or the store cannot be reached.
    pub async fn know_version(self: &Arc<Self>, id: &str, v: Option<u64>) -> Result<(), Problem> {
        let Some(v) = v else { return Ok(()) };
        // No game has more than `EVENTS` events: a later one is not worth waiting for.
        let wait = if v > EVENTS { Duration::ZERO } else { self.config.wait };
        let started = Instant::now();
        let have = loop {
            let (have, later) = self.ask(id, |reply| Command::Version { v, reply }).await??;
            if have >= v {
                return Ok(());
            }
            let left = wait.saturating_sub(started.elapsed());
            let Some(mut later) = later.filter(|_| !left.is_zero()) else { break have };
            // The store is asked again at intervals: not every store notifies of what others write.
            let heard = timeout(left.min(LOOK), later.wait_for(|it| *it >= v)).await;
            if heard.is_ok_and(|it| it.is_err()) {
                // The game was evicted at this moment.
                tokio::time::sleep(left.min(LOOK)).await;
            }
        };
        let message = format!("the game is at event {have}: there is no event {v} yet");
        let problem = Problem::conflict("no_such_version", message);
        Err(problem.with(json!({ "v": have })))
    }

    /// A game as PGN.
    ///
    /// # Errors
    /// As [`Host::log`] and [`Host::start_of_facts`], or the game has more than two sides.
    pub(super) async fn pgn(self: &Arc<Self>, id: &str) -> Result<String, Problem> {
        let mut log = self.log(id).await?;
        if let Some(LogEntry { event: Event::Created(setup), .. }) = log.first_mut()
            && let Some(facts) = setup.facts.take()
        {
            let Setup { rules, game, presets, .. } = &*setup;
            let (fen, active) = self.start_of_facts(rules, game, presets, facts).await?;
            setup.fen = Some(fen);
            let switched = |presets| Event::PresetsChanged { by: 0, presets, id: None };
            let switch = active.map(|it| LogEntry { event: switched(it), ..log[0].clone() });
            log.splice(1..1, switch);
        }
        pgn(id, &log)
    }

    /// A start that is given as facts, which PGN cannot state: its FEN, and the presets that are active there if they are
    /// not those that the game begins with.
    ///
    /// # Errors
    /// The rules cannot be loaded, or the facts are not a position of the game.
    pub(super) async fn start_of_facts(
        self: &Arc<Self>,
        rules: &str,
        game: &str,
        presets: &[String],
        facts: String,
    ) -> Result<(String, Option<Vec<String>>), Problem> {
        let (ruleset, catalogue) = self.rules_of(rules, game, presets).await?;
        let look = move || {
            let mut board = start(&ruleset, catalogue, None, Some(&facts))?;
            let game = board.game_mut();
            let active = (!ruleset.governs(game)).then(|| game.rule_names().to_vec());
            Ok((game.fen(), active))
        };
        self.pool.run(self.slow_lane(rules), look).await?
    }

    /// The log of a game.
    ///
    /// # Errors
    /// There is no such game, the store cannot be reached, or what it has of the log is damaged.
    pub async fn log(&self, id: &str) -> Result<Vec<LogEntry>, Problem> {
        self.log_page(id, 0, usize::MAX).await
    }

    /// The log of a game after the event `after`, `limit` events at most.
    ///
    /// # Errors
    /// As [`Host::log`].
    pub async fn log_page(
        &self,
        id: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LogEntry>, Problem> {
        let game = id.to_owned();
        let rows = self.reads().ask(move |store| store.page(&game, after, limit)).await?;
        entries(id, &rows.ok_or_else(|| Problem::no_game(id))?)
    }
}
