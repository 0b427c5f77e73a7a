//! The task that sees to tournaments: games that were drawn are made, those that are over are counted, and those that
//! nobody comes to are called off.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};

use super::kept::{LIVE, LIVES, busy, changes, see};
use super::table::{News, OPEN, Pairing, Phase, Table, Terms, Verdict};
use super::view::Listed;
use crate::server::core::{Act, Event, Input, LogEntry, Seat, TIMEOUT, TokenHash};
use crate::server::host::Host;
use crate::server::live::Lines;
use crate::server::new_game::GameOptions;
use crate::server::pool::Lane;
use crate::server::problem::Problem;
use crate::server::store::{GameState, Store, Summary};

/// How often a node looks after all tournaments. Results of games that it has in memory it hears of at once.
const LOOK: Duration = Duration::from_secs(3);
/// Who has not ended the first turn after so long has lost the game, in milliseconds: no clock runs until then.
const FIRST_TURN: u64 = 60_000;
/// A game in which nothing has happened for so long is asked whether a clock has fallen, in milliseconds: after a
/// restart nobody else may ask.
const QUIET: u64 = 60_000;
/// How often a change is tried while others change the same tournament.
const TRIES: usize = 8;

/// How a game has ended, for the tournament that it belongs to.
fn verdict(log: &[LogEntry]) -> Option<Verdict> {
    log.iter().find_map(|it| match &it.event {
        Event::Ended { outcome, by, .. } => Some(match (outcome.winner, by) {
            (Some(side), _) if outcome.reason == TIMEOUT && !has_played(log, 1 - side.min(1)) => {
                Verdict::Missed(1 - side.min(1))
            }
            (Some(side), _) => Verdict::Won(side),
            (None, Some(side)) if outcome.outcome == "none" => Verdict::Missed(*side),
            (None, _) => Verdict::Drawn,
        }),
        _ => None,
    })
}

fn has_played(log: &[LogEntry], by: usize) -> bool {
    log.iter().any(|it| matches!(&it.event, Event::Played { side, .. } if *side == by))
}

/// Counts what has ended, does what is due, and makes the games that are missing: the games under way.
pub(super) async fn advance(
    host: &Arc<Host>,
    id: &str,
) -> Result<Option<(Table, Vec<(Pairing, Option<Summary>)>)>, Problem> {
    for _ in 0..TRIES {
        let wanted = id.to_owned();
        let seen = host.reads().ask(move |store| see(store, &wanted)).await?;
        let Some((before, table, games)) = seen else { return Ok(None) };
        let mut ended = Vec::new();
        for (pairing, summary) in &games {
            if summary.as_ref().is_some_and(|it| it.state == GameState::Over) {
                let verdict = verdict(&host.log(&pairing.game).await?);
                ended.extend(verdict.map(|it| (pairing.game.clone(), it)));
            }
        }
        let (now, mut after) = (host.now(), table.clone());
        // A large round takes some milliseconds to be drawn: the threads for rules have them.
        let draw = move || {
            let mut news = News::new();
            for (game, verdict) in ended {
                news.extend(after.count(&game, verdict, now));
            }
            news.extend(after.advance(now));
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
        for pairing in &after.playing {
            let is_there = games.iter().any(|it| it.0.game == pairing.game && it.1.is_some());
            if !is_there {
                make(host, id, &after, pairing).await?;
            }
        }
        return Ok(Some((after, games)));
    }
    Err(busy())
}

/// Makes a game that was drawn; another node may have done so already.
async fn make(host: &Arc<Host>, id: &str, table: &Table, pairing: &Pairing) -> Result<(), Problem> {
    let Terms { game, presets, rules, clock, rated, .. } = table.terms.clone();
    let seat = |(side, &who): (usize, &usize)| {
        let player = &table.players[who];
        let token = TokenHash::of_account(&player.id);
        (side, Seat { name: player.name.clone(), token, computer: None })
    };
    let options = GameOptions {
        game,
        presets,
        rules: Some(rules),
        clock: Some(clock),
        chat: true,
        listed: true,
        rated,
        seats: pairing.players.iter().enumerate().map(seat).collect(),
        tournament: Some(id.to_owned()),
        ..GameOptions::default()
    };
    match host.create_as(pairing.game.clone(), options).await {
        Err(problem) if problem.code == "game_moved" => Ok(()),
        other => other.map(|_| ()),
    }
}

/// Looks after all tournaments for as long as there is a server.
pub async fn keep_tournaments(host: Weak<Host>) {
    let Some(all) = host.upgrade() else { return };
    let mut ended = all.ended.subscribe();
    let mut keeper = Keeper { since: all.now(), ..Keeper::default() };
    drop(all);
    loop {
        let next = Instant::now() + LOOK;
        let Some(all) = host.upgrade() else { return };
        if !all.is_draining() {
            keeper.look(&all).await;
        }
        drop(all);
        loop {
            let game = match timeout_at(next, ended.recv()).await {
                Ok(Ok(game)) => game,
                Ok(Err(RecvError::Closed)) => return,
                Ok(Err(RecvError::Lagged(_))) | Err(_) => break,
            };
            let Some(id) = keeper.games.remove(&game) else { continue };
            let Some(all) = host.upgrade() else { return };
            keeper.see_to(&all, &id).await;
        }
    }
}

/// What a node remembers of tournaments from one look to the next. All of it can be forgotten.
#[derive(Debug, Default)]
struct Keeper {
    /// When this node began to look.
    since: u64,
    /// The games under way, and the tournaments that they belong to.
    games: HashMap<String, String>,
    /// Games that are known to have begun in earnest.
    begun: HashSet<String>,
    looks: u64,
}

impl Keeper {
    async fn look(&mut self, host: &Arc<Host>) {
        let now = host.now();
        let list = |store: &mut dyn Store| store.records(LIVES, "", LIVE * 2);
        let found = match host.reads().ask(list).await {
            Ok(found) => found,
            Err(error) => return tracing::warn!(%error, "tournaments wait"),
        };
        self.looks += 1;
        self.games.clear();
        for (key, text) in found {
            let Some(id) = key.strip_prefix(LIVES) else { continue };
            let listed = serde_json::from_str::<Listed>(&text).ok();
            let waits =
                |it: &Listed| it.state == Phase::Open && it.starts.unwrap_or(it.made + OPEN) > now;
            if !listed.as_ref().is_some_and(waits) {
                self.see_to(host, id).await;
            }
        }
        let games = &self.games;
        self.begun.retain(|it| games.contains_key(it));
    }

    /// Brings a tournament to where it should be.
    async fn see_to(&mut self, host: &Arc<Host>, id: &str) {
        let (table, games) = match advance(host, id).await {
            Ok(Some(it)) => it,
            Ok(None) => return,
            Err(problem) => {
                return tracing::warn!(tournament = id, problem.message, "a tournament waits");
            }
        };
        self.games.extend(table.playing.iter().map(|it| (it.game.clone(), id.to_owned())));
        let now = host.now();
        for (pairing, summary) in games {
            let Some(summary) = summary.filter(|it| it.state != GameState::Over) else { continue };
            let game = &pairing.game;
            let done = if self.begun.contains(game) {
                let is_quiet =
                    now.saturating_sub(summary.updated) > QUIET && self.looks.is_multiple_of(10);
                if is_quiet { host.know_version(game, Some(0)).await } else { Ok(()) }
            } else if now.saturating_sub(pairing.at.max(self.since)) > FIRST_TURN {
                let done = call_off(host, &table, &pairing).await;
                if done.is_ok() {
                    self.begun.insert(game.clone());
                }
                done
            } else {
                Ok(())
            };
            if let Err(problem) = done {
                tracing::warn!(tournament = id, game, problem.message, "a game is left alone");
            }
        }
    }
}

/// Calls a game off if the side that begins has not come.
async fn call_off(host: &Arc<Host>, table: &Table, pairing: &Pairing) -> Result<(), Problem> {
    let state = host.state(&pairing.game, None, None, Lines::Texts).await?;
    if state["clock_runs"] == true || !state["result"].is_null() {
        return Ok(());
    }
    let side = state["turn"].as_u64().and_then(|it| usize::try_from(it).ok());
    let Some(who) = side.and_then(|it| pairing.players.get(it)) else { return Ok(()) };
    let token = TokenHash::of_account(&table.players[*who].id);
    let step = |act: Act| Input::Act { token: Some(token.clone()), id: None, act };
    match host.step(&pairing.game, step(Act::Abort)).await {
        Err(problem) if problem.status.is_server_error() => Err(problem),
        // Some actions of the first turn were played: it is lost like any other game.
        Err(_) => host.step(&pairing.game, step(Act::Resign)).await.map(|_| ()),
        Ok(_) => Ok(()),
    }
}
