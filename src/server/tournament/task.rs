//! The task that runs tournaments: it creates the games of each pairing, counts those that are over, and
//! aborts those whose players do not show up.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::time::Instant;

use super::records::{Found, LIVE, LIVE_PREFIX, Stored, busy, changes, load};
use super::table::{News, OPEN, Pairing, Phase, Table, Terms, Verdict};
use super::view::Listed;
use crate::server::core::{Act, Event, Input, LogEntry, Seat, Setup, TIMEOUT, TokenHash};
use crate::server::host::Host;
use crate::server::live::Lines;
use crate::server::options::GameOptions;
use crate::server::pool::Lane;
use crate::server::problem::Problem;
use crate::server::rating::next_ended;
use crate::server::store::{GameState, Store, Summary};
use crate::server::time::millis;

/// Interval at which a node checks all tournaments. It learns the results of games in its memory at once.
const INTERVAL: Duration = Duration::from_secs(3);
/// A game in which nothing has happened for this long, in milliseconds, is loaded to see whether a flag has fallen:
/// after a restart there may be no other request for it.
const QUIET: u64 = 60_000;
/// Quiet games are loaded at one check in so many.
const QUIET_CHECKS: u64 = 10;
/// Maximum number of attempts at a change while other nodes change the same tournament.
const TRIES: usize = 8;
/// Number of consecutive failures before a game is given up.
const FAULTS: u32 = 5;

/// How a game has ended, for the tournament that it belongs to.
fn verdict(log: &[LogEntry]) -> Option<Verdict> {
    let (outcome, by) = log.iter().find_map(|it| match &it.event {
        Event::Ended { outcome, by, .. } => Some((outcome, *by)),
        _ => None,
    })?;
    Some(match (outcome.winner, by) {
        (Some(winner), _) => {
            let loser = 1 - winner.min(1);
            let is_missed = outcome.reason == TIMEOUT && !has_played(log, loser);
            if is_missed { Verdict::Missed(loser) } else { Verdict::Won(winner) }
        }
        (None, Some(side)) if outcome.outcome == "none" => Verdict::Missed(side),
        (None, _) => Verdict::Drawn,
    })
}

fn has_played(log: &[LogEntry], by: usize) -> bool {
    log.iter().any(|it| matches!(&it.event, Event::Played { side, .. } if *side == by))
}

/// A tournament after a check.
#[derive(Debug)]
pub(in crate::server) struct Advanced {
    pub(in crate::server) table: Table,
    /// The games that were under way before.
    games: Vec<(Pairing, Found)>,
    /// The games that could not be made.
    unmade: Vec<(String, Problem)>,
}

/// Whether a problem with a game is permanent: its log is damaged, or its rules are gone.
fn is_permanent(problem: &Problem) -> bool {
    matches!(problem.status, StatusCode::INTERNAL_SERVER_ERROR | StatusCode::UNPROCESSABLE_ENTITY)
}

/// How a game has ended, if it has.
async fn ending(
    host: &Arc<Host>,
    game: &str,
    found: &Found,
    is_given_up: bool,
) -> Result<Option<Verdict>, Problem> {
    match found {
        Found::Game(it) if it.state == GameState::Over => match host.log(game).await {
            Ok(log) => Ok(Some(verdict(&log).unwrap_or(Verdict::Unreadable))),
            Err(problem) if is_permanent(&problem) => Ok(Some(Verdict::Unreadable)),
            Err(problem) => Err(problem),
        },
        Found::Unreadable => Ok(Some(Verdict::Unreadable)),
        Found::Game(_) | Found::Nothing => Ok(is_given_up.then_some(Verdict::Unreadable)),
    }
}

/// The games that have ended, each with how.
async fn verdicts(
    host: &Arc<Host>,
    id: &str,
    games: &[(Pairing, Found)],
    given_up: &impl Fn(&str) -> bool,
) -> Result<Vec<(String, Verdict)>, Problem> {
    let mut ended = Vec::new();
    for (Pairing { game, .. }, found) in games {
        let verdict = ending(host, game, found, given_up(game)).await?;
        if verdict == Some(Verdict::Unreadable) {
            tracing::error!(tournament = id, game, "a game cannot be read: it counts as drawn");
        }
        ended.extend(verdict.map(|it| (game.clone(), it)));
    }
    Ok(ended)
}

/// Counts the games that have ended, does what is due, and creates missing games. Games for which `given_up`
/// is true count as unreadable. `None` if there is no such tournament.
pub(in crate::server) async fn advance(
    host: &Arc<Host>,
    id: &str,
    given_up: impl Fn(&str) -> bool,
) -> Result<Option<Advanced>, Problem> {
    for _ in 0..TRIES {
        let wanted = id.to_owned();
        let stored = host.reads().ask(move |store| load(store, &wanted)).await?;
        let Some(Stored { text: before, table, games, blocks, closed }) = stored else {
            return Ok(None);
        };
        let ended = verdicts(host, id, &games, &given_up).await?;
        let (now, mut after) = (host.now(), table.clone());
        // Pairing a large round takes some milliseconds, so it runs on the threads for rules.
        let draw = move || {
            let mut news = News::new();
            for (game, verdict) in ended {
                news.extend(after.count(&game, verdict, now));
            }
            for id in closed {
                // Only a tournament that is over refuses a withdrawal, and it pairs no players.
                let _ = after.withdraw(&id);
            }
            news.extend(after.advance(now, &blocks));
            (after, news)
        };
        let (after, news) = host.pool.run(Lane::Work, draw).await?;
        if after != table {
            let (wanted, kept) = (id.to_owned(), after.clone());
            let keep = move |store: &mut dyn Store| {
                let all = changes(store, &wanted, before, &kept, &news)?;
                store.change(&all)
            };
            if !host.reads().ask(keep).await? {
                // Another node, or a player who joins, was faster.
                continue;
            }
        }
        let unmade = make_missing(host, id, &after, &games).await;
        return Ok(Some(Advanced { table: after, games, unmade }));
    }
    Err(busy())
}

/// Creates the games under way that were not found. Returns those that could not be created.
async fn make_missing(
    host: &Arc<Host>,
    id: &str,
    table: &Table,
    games: &[(Pairing, Found)],
) -> Vec<(String, Problem)> {
    let mut unmade = Vec::new();
    for pairing in &table.playing {
        let is_there = |(one, found): &(Pairing, Found)| {
            one.game == pairing.game && !matches!(found, Found::Nothing)
        };
        if !games.iter().any(is_there)
            && let Err(problem) = make(host, id, table, pairing).await
        {
            unmade.push((pairing.game.clone(), problem));
        }
    }
    unmade
}

/// Creates the game of a pairing; another node may have done so already.
async fn make(host: &Arc<Host>, id: &str, table: &Table, pairing: &Pairing) -> Result<(), Problem> {
    let Terms { game, presets, fen, rules, clock, rated, .. } = table.terms.clone();
    let seat = |(side, &who): (usize, &usize)| {
        let player = &table.players[who];
        let token = TokenHash::of_account(&player.id);
        (side, Seat { name: player.name.clone(), token, computer: None })
    };
    let setup = Setup {
        game,
        presets,
        fen,
        rules,
        clock: Some(clock),
        chat: true,
        listed: true,
        rated,
        tournament: Some(id.to_owned()),
        ..Setup::default()
    };
    let seats = pairing.players.iter().enumerate().map(seat).collect();
    let options = GameOptions { setup, seats, ..GameOptions::default() };
    match host.create_as(&pairing.game, options).await {
        Err(problem) if problem.code == "game_moved" => Ok(()),
        other => other,
    }
}

/// Runs all tournaments for as long as the server runs.
pub async fn run_tournaments(host: Weak<Host>) {
    let Some(first) = host.upgrade() else { return };
    let mut ended = first.ended.subscribe();
    let mut memory = NodeMemory { since: first.now(), ..NodeMemory::default() };
    drop(first);
    loop {
        let next = Instant::now() + INTERVAL;
        let Some(strong) = host.upgrade() else { return };
        if !strong.is_draining() {
            memory.check_all(&strong).await;
        }
        drop(strong);
        loop {
            let game = match next_ended(&mut ended, next).await {
                Ok(Some(game)) => game,
                Ok(None) => break,
                Err(_) => return,
            };
            let Some(id) = memory.games.remove(&game) else { continue };
            let Some(strong) = host.upgrade() else { return };
            memory.check(&strong, &id).await;
        }
    }
}

/// What a node remembers about tournaments from one check to the next. All of it may be lost without harm.
#[derive(Debug, Default)]
struct NodeMemory {
    /// When this node started.
    since: u64,
    /// The tournament of each game under way.
    games: HashMap<String, String>,
    /// Games that are known to have had their first turn.
    begun: HashSet<String>,
    /// How often in a row a game could not be made or read.
    faults: HashMap<String, u32>,
    /// Number of checks of all tournaments so far.
    checks: u64,
}

impl NodeMemory {
    /// Brings the tournaments that are due up to date.
    async fn check_all(&mut self, host: &Arc<Host>) {
        let now = host.now();
        let list = |store: &mut dyn Store| store.records(LIVE_PREFIX, "", LIVE * 2);
        let found = match host.reads().ask(list).await {
            Ok(found) => found,
            Err(error) => return tracing::warn!(%error, "the tournaments cannot be listed"),
        };
        self.checks += 1;
        self.games.clear();
        for (key, text) in found {
            let Some(id) = key.strip_prefix(LIVE_PREFIX) else { continue };
            let listed = serde_json::from_str::<Listed>(&text).ok();
            let waits =
                |it: &Listed| it.state == Phase::Open && it.starts.unwrap_or(it.made + OPEN) > now;
            if !listed.as_ref().is_some_and(waits) {
                self.check(host, id).await;
            }
        }
        let games = &self.games;
        self.begun.retain(|it| games.contains_key(it));
        self.faults.retain(|it, _| games.contains_key(it));
    }

    /// Brings a tournament up to date.
    async fn check(&mut self, host: &Arc<Host>, id: &str) {
        let given_up = |game: &str| self.faults.get(game).is_some_and(|&it| it >= FAULTS);
        let Advanced { table, games, unmade } = match advance(host, id, given_up).await {
            Ok(Some(it)) => it,
            Ok(None) => return,
            Err(problem) => {
                return tracing::warn!(
                    tournament = id,
                    problem.message,
                    "a tournament cannot be checked"
                );
            }
        };
        self.games.extend(table.playing.iter().map(|it| (it.game.clone(), id.to_owned())));
        for (game, problem) in unmade {
            self.failed(id, &game, &problem);
        }
        for (pairing, found) in games {
            let Found::Game(summary) = found else { continue };
            let game = &pairing.game;
            match self.look_after(host, &table, &pairing, &summary).await {
                None => {}
                Some(Ok(())) => drop(self.faults.remove(game)),
                Some(Err(problem)) => self.failed(id, game, &problem),
            }
        }
    }

    /// Calls a game off if its first turn is late; loads it if nothing has happened in it for long, or if that failed
    /// before. `None` if neither is due.
    async fn look_after(
        &mut self,
        host: &Arc<Host>,
        table: &Table,
        pairing: &Pairing,
        summary: &Summary,
    ) -> Option<Result<(), Problem>> {
        let (game, now) = (&pairing.game, host.now());
        if summary.state == GameState::Over {
            return None;
        }
        if self.begun.contains(game) {
            let is_quiet = now.saturating_sub(summary.updated) > QUIET;
            let is_due = is_quiet && self.checks.is_multiple_of(QUIET_CHECKS);
            let is_loaded = is_due || self.faults.contains_key(game);
            return if is_loaded { Some(host.know_version(game, Some(0)).await) } else { None };
        }
        if now.saturating_sub(pairing.at.max(self.since)) <= millis(host.config.first_turn) {
            return None;
        }
        let done = call_off(host, table, pairing).await;
        if done.is_ok() {
            self.begun.insert(game.clone());
        }
        Some(done)
    }

    /// Counts a failure to make or read a game if it looks permanent: after [`FAULTS`] in a row the game is given up.
    fn failed(&mut self, id: &str, game: &str, problem: &Problem) {
        tracing::warn!(tournament = id, game, problem.message, "a game cannot be made or read");
        if is_permanent(problem) {
            *self.faults.entry(game.to_owned()).or_default() += 1;
        }
    }
}

/// Aborts a game if the side to move first has not shown up.
async fn call_off(host: &Arc<Host>, table: &Table, pairing: &Pairing) -> Result<(), Problem> {
    let state = host.state(&pairing.game, None, None, Lines::Texts).await?;
    if state["clock_runs"] == true || !state["result"].is_null() {
        return Ok(());
    }
    let side = state["turn"].as_u64().and_then(|it| usize::try_from(it).ok());
    let Some(who) = side.and_then(|it| pairing.players.get(it)) else { return Ok(()) };
    let token = TokenHash::of_account(&table.players[*who].id);
    match host.step(&pairing.game, Input::act(token.clone(), Act::Abort)).await {
        Err(problem) if problem.status.is_server_error() => Err(problem),
        // The game cannot be aborted, since some actions of the first turn were played: it is lost.
        Err(_) => host.step(&pairing.game, Input::act(token, Act::Resign)).await.map(|_| ()),
        Ok(_) => Ok(()),
    }
}
