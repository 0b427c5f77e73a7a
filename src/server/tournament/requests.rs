//! Requests about tournaments: to make, view, join, leave, start, end and remove one.

use serde::Deserialize;
use utoipa::ToSchema;

use super::records::{
    LIVE, LIVE_PREFIX, OVER_PREFIX, busy, changes, game_key, games_of, key, live_key,
    no_tournament, own_key, read, text,
};
use super::table::{Counted, Kind, Phase, Table, Terms};
use super::task::advance;
use super::view::{Listed, Tournament};
use crate::server::accounts::Account;
use crate::server::core::Control;
use crate::server::ids::{new_id, new_token};
use crate::server::problem::Problem;
use crate::server::rating;
use crate::server::store::{Change, Store, StoreError, edited};
use crate::server::study_tree::printable;
use crate::server::time::DAY;
use crate::server::web::Web;

/// Maximum number of tournaments of one account that are not over.
const OWN: usize = 3;
/// Maximum number of tournaments that are over in a list.
const LISTED: usize = 20;
/// Milliseconds within which the games of a round are created.
const MAKING: u64 = 10_000;
/// Maximum number of characters of a title.
const TITLE: usize = 60;
/// Maximum length of an arena in minutes and of a Swiss in rounds, and how far ahead a tournament may be
/// made.
const MINUTES: u32 = 360;
const ROUNDS: u32 = 20;
const AHEAD: u64 = 30 * DAY;
/// The shortest and the longest clocks, in milliseconds.
const INITIAL: std::ops::RangeInclusive<u64> = 5_000..=3 * 60 * 60 * 1_000;
const ADDED: u64 = 3 * 60 * 1_000;

/// A new tournament: an arena with its `minutes`, or a Swiss with its `rounds`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::server) struct NewTournament {
    /// At most 60 characters; one is made up if it is absent.
    #[serde(default)]
    title: String,
    /// The name of a game in the catalogue (chess if absent).
    game: Option<String>,
    /// Presets on top of the game's own.
    #[serde(default)]
    presets: Vec<String>,
    /// 5 seconds to 3 hours, with 3 minutes a turn at most.
    clock: Control,
    /// Whether its games change the ratings of their players.
    #[serde(default)]
    rated: bool,
    /// The length of an arena in minutes, 360 at most: players who are free are paired again and again.
    minutes: Option<u32>,
    /// The number of rounds of a Swiss, 20 at most; the next is drawn when all games of a round are over.
    rounds: Option<u32>,
    /// When it begins, in milliseconds since 1970, within 30 days; if absent, when its maker starts it, within a day.
    starts: Option<u64>,
}

impl Web {
    /// Makes a tournament.
    ///
    /// # Errors
    /// Its options are not valid, or there are too many tournaments.
    pub(in crate::server) async fn make_tournament(
        &self,
        account: &Account,
        asked: NewTournament,
    ) -> Result<Tournament, Problem> {
        let NewTournament { title, game, presets, clock, rated, minutes, rounds, starts } = asked;
        let game = game.unwrap_or_else(|| "chess".to_owned());
        let now = self.host.now();
        let kind = match (minutes, rounds) {
            (Some(it), None) if (1..=MINUTES).contains(&it) => Kind::Arena(it),
            (None, Some(it)) if (1..=ROUNDS).contains(&it) => Kind::Swiss(it),
            _ => {
                let message = format!(
                    "say how long it is: 1 to {MINUTES} `minutes` of an arena, or 1 to {ROUNDS} `rounds` of a Swiss"
                );
                return Err(Problem::unprocessable("bad_length", message));
            }
        };
        if !INITIAL.contains(&clock.initial) || clock.increment.max(clock.delay) > ADDED {
            let message =
                "a tournament has a clock: 5 seconds to 3 hours, and up to 3 minutes a turn";
            return Err(Problem::unprocessable("bad_clock", message));
        }
        if starts.is_some_and(|it| it < now || it > now + AHEAD) {
            let message = "it begins within 30 days from now, or whenever you start it";
            return Err(Problem::unprocessable("bad_start", message));
        }
        let rules = self.host.library.own_hash();
        let ruleset = self.host.ruleset(&rules, &game, &presets).await?;
        if ruleset.sides().len() != 2 {
            let message = "tournaments are of games with two sides";
            return Err(Problem::unprocessable("bad_game", message));
        }
        let (game, fen) = (ruleset.game().name.clone(), ruleset.chosen_start().map(str::to_owned));
        let title = printable(&title, TITLE, "a title")?.replace('\n', " ");
        let title = match (title.is_empty(), kind) {
            (false, _) => title,
            (true, Kind::Arena(_)) => format!("Arena: {}", ruleset.game().title),
            (true, Kind::Swiss(_)) => format!("Swiss: {}", ruleset.game().title),
        };
        let by = account.id();
        let terms = Terms { title, by, game, presets, fen, rules, clock, rated, kind, starts };
        let (id, table) = (new_id()?, Table::new(terms, new_token()?, now));
        let view = table.view(&id, now);
        let make = move |store: &mut dyn Store| {
            let of = own_key(&table.terms.by, "");
            let full = store.records(&of, "", OWN)?.len() >= OWN
                || store.records(LIVE_PREFIX, "", LIVE)?.len() >= LIVE;
            let all = [
                Change { key: key(&id), from: None, to: text(&table) },
                Change { key: live_key(&id), from: None, to: text(&table.listed(&id)) },
                Change { key: own_key(&table.terms.by, &id), from: None, to: Some(String::new()) },
            ];
            Ok(!full && store.change(&all)?)
        };
        match self.host.reads().ask(make).await? {
            true => Ok(view),
            false => {
                let message = format!(
                    "there are too many tournaments that are not over: {OWN} of an account and {LIVE} of all at most"
                );
                Err(Problem::conflict("too_many_tournaments", message))
            }
        }
    }

    /// The tournaments: those that are not over, and the last ones that are.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub(in crate::server) async fn tournaments(&self) -> Result<Vec<Listed>, Problem> {
        let list = |store: &mut dyn Store| {
            let mut found = store.records(LIVE_PREFIX, "", LIVE)?;
            found.extend(store.records(OVER_PREFIX, "", LISTED)?);
            Ok(found)
        };
        let found = self.host.reads().ask(list).await?;
        let mut all: Vec<Listed> =
            found.iter().filter_map(|it| serde_json::from_str(&it.1).ok()).collect();
        // Running tournaments first, then those to come; those that are over are in order already.
        all.sort_by_key(|it| match it.state {
            Phase::Running => (0, it.began.unwrap_or_default()),
            Phase::Open => (1, it.starts.unwrap_or(it.made)),
            Phase::Over => (2, 0),
        });
        Ok(all)
    }

    /// The tournament of that id.
    ///
    /// # Errors
    /// There is no such tournament, or the store cannot be reached.
    pub(in crate::server) async fn tournament(&self, id: &str) -> Result<Tournament, Problem> {
        let (wanted, now) = (id.to_owned(), self.host.now());
        let look = move |store: &mut dyn Store| {
            let Some((_, mut table)) = read(store, &wanted)? else { return Ok(None) };
            // A game that was just paired may not be created yet: players are not sent to it.
            let mut playing = Vec::new();
            for it in std::mem::take(&mut table.playing) {
                if it.at + MAKING < now || !matches!(store.summary(&it.game), Ok(None)) {
                    playing.push(it);
                }
            }
            table.playing = playing;
            Ok(Some(table))
        };
        let table = self.host.reads().ask(look).await?;
        Ok(table.ok_or_else(|| no_tournament(id))?.view(id, now))
    }

    /// Games of a tournament that are over, from a number on.
    ///
    /// # Errors
    /// There is no such tournament.
    pub(in crate::server) async fn tournament_games(
        &self,
        id: &str,
        from: u32,
        limit: usize,
    ) -> Result<Vec<Counted>, Problem> {
        let wanted = id.to_owned();
        let list = move |store: &mut dyn Store| {
            let prefix = games_of(&wanted);
            let after = from.checked_sub(1).map(|it| game_key(&wanted, it)).unwrap_or_default();
            let found = store.records(&prefix, &after, limit)?;
            let is_none = found.is_empty() && store.record(&key(&wanted))?.is_none();
            Ok((!is_none).then_some(found))
        };
        let found = self.host.reads().ask(list).await?.ok_or_else(|| no_tournament(id))?;
        Ok(found.iter().filter_map(|it| serde_json::from_str(&it.1).ok()).collect())
    }

    /// An account joins, or comes back.
    ///
    /// # Errors
    /// There is no such tournament, it is over, or it is full; or the account is of an earlier version.
    pub(in crate::server) async fn join_tournament(
        &self,
        account: &Account,
        id: &str,
    ) -> Result<Tournament, Problem> {
        account.can_count()?;
        let account = account.clone();
        self.change_tournament(id, move |store, table, now| {
            let rules = rating::rules_of(&table.terms.game, &table.terms.presets, None);
            let seed = rating::current(store, &account.id(), &rules)?.round() as i32;
            table.join(&account.id(), &account.name, seed, now)
        })
        .await
    }

    /// An account leaves.
    ///
    /// # Errors
    /// There is no such tournament, it is over, or the account is not in it.
    pub(in crate::server) async fn leave_tournament(
        &self,
        account: &Account,
        id: &str,
    ) -> Result<Tournament, Problem> {
        let player = account.id();
        self.change_tournament(id, move |_, table, _| table.withdraw(&player)).await
    }

    /// Its maker starts a tournament.
    ///
    /// # Errors
    /// There is no such tournament, it belongs to another account, it has begun, or too few players have
    /// joined.
    pub(in crate::server) async fn start_tournament(
        &self,
        account: &Account,
        id: &str,
    ) -> Result<Tournament, Problem> {
        let maker = account.id();
        let start = move |_: &mut dyn Store, table: &mut Table, now: u64| {
            own(table, &maker)?;
            table.start(now)
        };
        let begun = self.change_tournament(id, start).await?;
        match advance(&self.host, id, |_| false).await {
            Ok(Some(it)) => Ok(it.table.view(id, self.host.now())),
            // It has begun: the first round is drawn at the next check.
            _ => Ok(begun),
        }
    }

    /// Its maker ends a tournament that is under way.
    ///
    /// # Errors
    /// There is no such tournament, it belongs to another account, it has not begun, or it is over.
    pub(in crate::server) async fn end_tournament(
        &self,
        account: &Account,
        id: &str,
    ) -> Result<Tournament, Problem> {
        let maker = account.id();
        let stop = move |_: &mut dyn Store, table: &mut Table, now: u64| {
            if table.phase == Phase::Open && table.terms.by == maker {
                let message = "the tournament has not begun: remove it instead";
                return Err(Problem::conflict("tournament_open", message));
            }
            own(table, &maker)?;
            table.stop(now)
        };
        self.change_tournament(id, stop).await
    }

    /// Its maker removes a tournament that has not begun.
    ///
    /// # Errors
    /// There is no such tournament, it belongs to another account, or it has begun.
    pub(in crate::server) async fn drop_tournament(
        &self,
        account: &Account,
        id: &str,
    ) -> Result<(), Problem> {
        let (id, maker) = (id.to_owned(), account.id());
        let remove = move |store: &mut dyn Store| {
            edited(store, busy, |store| {
                let (before, table) = read(store, &id)?.ok_or_else(|| no_tournament(&id))?;
                own(&table, &maker)?;
                if table.phase != Phase::Open {
                    let message = "the tournament has begun: it stays";
                    return Err(Problem::conflict("tournament_began", message));
                }
                let mut gone = vec![Change { key: key(&id), from: Some(before), to: None }];
                for key in [live_key(&id), own_key(&maker, &id)] {
                    let from = store.record(&key)?;
                    gone.push(Change { key, from, to: None });
                }
                Ok(((), gone))
            })
        };
        self.host.reads().request(remove).await
    }

    async fn change_tournament(
        &self,
        id: &str,
        edit: impl Fn(&mut dyn Store, &mut Table, u64) -> Result<(), Problem> + Send + 'static,
    ) -> Result<Tournament, Problem> {
        let (id, now) = (id.to_owned(), self.host.now());
        let change = move |store: &mut dyn Store| {
            edited(store, busy, |store| {
                let (before, mut table) = read(store, &id)?.ok_or_else(|| no_tournament(&id))?;
                let was = table.clone();
                edit(store, &mut table, now)?;
                let all = match table == was {
                    true => Vec::new(),
                    false => changes(store, &id, before, &table, &[])?,
                };
                Ok((table.view(&id, now), all))
            })
        };
        self.host.reads().request(change).await
    }
}

/// Ends a tournament of any account. False if there is none, or it is over already.
///
/// # Errors
/// The store cannot be reached.
pub fn end_tournament(store: &mut dyn Store, id: &str, now: u64) -> Result<bool, StoreError> {
    let busy = || StoreError::Unavailable("others are changing the tournament".to_owned());
    edited(store, busy, |store| {
        let Some((before, mut table)) = read(store, id)? else { return Ok((false, Vec::new())) };
        let ends = table.stop(now).is_ok();
        let all = if ends { changes(store, id, before, &table, &[])? } else { Vec::new() };
        Ok((ends, all))
    })
}

fn own(table: &Table, maker: &str) -> Result<(), Problem> {
    if table.terms.by == maker {
        return Ok(());
    }
    let message = "only the account that made a tournament starts, ends or removes it";
    Err(Problem::forbidden("not_yours", message))
}
