//! Tournaments as the store keeps them: the table in one record, an entry in each list that the tournament is in, and a
//! record for each game that was counted. All of them change together.

use super::table::{Blocks, Counted, Pairing, Phase, Table};
use crate::server::accounts::is_closed;
use crate::server::moderation::blocked_by;
use crate::server::problem::Problem;
use crate::server::store::{Change, Store, StoreError, Summary, edited};

/// Maximum number of tournaments that are not over.
pub(in crate::server) const LIVE: usize = 50;

pub(in crate::server) fn key(id: &str) -> String {
    format!("tournament {id}")
}

pub(in crate::server) fn live_key(id: &str) -> String {
    format!("{LIVE_PREFIX}{id}")
}

/// Prefix of the keys of tournaments that are not over.
pub(in crate::server) const LIVE_PREFIX: &str = "tournaments live ";
/// Prefix of the keys of tournaments that are over.
pub(in crate::server) const OVER_PREFIX: &str = "tournaments over ";

/// The key of the number of tournaments that were ever made.
pub(in crate::server) const MADE: &str = "tournaments made";

/// The key of a tournament that is over; keys of later ends sort first.
fn over_key(id: &str, ended: u64) -> String {
    format!("{OVER_PREFIX}{:016x} {id}", u64::MAX - ended)
}

pub(in crate::server) fn own_key(owner: &str, id: &str) -> String {
    format!("tournaments of {owner} {id}")
}

pub(in crate::server) fn game_key(id: &str, number: u32) -> String {
    format!("{}{number:08}", games_of(id))
}

pub(in crate::server) fn games_of(id: &str) -> String {
    format!("tournament-game {id} ")
}

pub(in crate::server) fn text<T: serde::Serialize>(it: &T) -> Option<String> {
    serde_json::to_string(it).ok()
}

pub(in crate::server) fn read(
    store: &mut dyn Store,
    id: &str,
) -> Result<Option<(String, Table)>, StoreError> {
    let found = store.record(&key(id))?;
    Ok(found.and_then(|text| serde_json::from_str(&text).ok().map(|table| (text, table))))
}

/// The changes of records for a table that was changed; `news` are the games that the change has counted.
pub(in crate::server) fn changes(
    store: &mut dyn Store,
    id: &str,
    before: String,
    after: &Table,
    news: &[Counted],
) -> Result<Vec<Change>, StoreError> {
    let mut all = vec![Change { key: key(id), from: Some(before), to: text(after) }];
    let (live, listed) = (live_key(id), text(&after.listed(id)));
    let from = store.record(&live)?;
    if after.phase == Phase::Over {
        let own = own_key(&after.terms.by, id);
        let from_own = store.record(&own)?;
        let over = over_key(id, after.ended.unwrap_or_default());
        all.push(Change { key: live, from, to: None });
        all.push(Change { key: own, from: from_own, to: None });
        all.push(Change { key: over, from: None, to: listed });
    } else if from != listed {
        all.push(Change { key: live, from, to: listed });
    }
    for it in news {
        all.push(Change { key: game_key(id, it.number), from: None, to: text(it) });
    }
    Ok(all)
}

/// A game of a tournament, as the store has it.
#[derive(Debug, Clone)]
pub(in crate::server) enum Found {
    /// The game is not created yet.
    Nothing,
    Game(Summary),
    Unreadable,
}

/// A tournament as the store has it.
#[derive(Debug)]
pub(in crate::server) struct Stored {
    pub(in crate::server) text: String,
    pub(in crate::server) table: Table,
    pub(in crate::server) games: Vec<(Pairing, Found)>,
    /// The accounts that are blocked by players who may be paired.
    pub(in crate::server) blocks: Blocks,
    /// The players whose accounts were closed.
    pub(in crate::server) closed: Vec<String>,
}

/// Reads a tournament, with everything that a check of it needs.
pub(in crate::server) fn load(
    store: &mut dyn Store,
    id: &str,
) -> Result<Option<Stored>, StoreError> {
    let Some((text, table)) = read(store, id)? else { return Ok(None) };
    let mut games = Vec::new();
    for it in &table.playing {
        let found = match store.summary(&it.game) {
            Err(StoreError::Damaged { .. }) => Found::Unreadable,
            other => other?.map_or(Found::Nothing, Found::Game),
        };
        games.push((it.clone(), found));
    }
    let (mut blocks, mut closed) = (Blocks::new(), Vec::new());
    for id in table.may_be_paired() {
        // An account that cannot be read is no reason to stop a tournament.
        if matches!(is_closed(store, &id), Ok(true)) {
            closed.push(id);
            continue;
        }
        let others = blocked_by(store, &id)?;
        blocks.extend(others.into_iter().map(|other| (id.clone(), other)));
    }
    Ok(Some(Stored { text, table, games, blocks, closed }))
}

pub(in crate::server) fn no_tournament(id: &str) -> Problem {
    let message = format!("there is no tournament {id:.40}");
    Problem::not_found("no_such_tournament", message)
}

pub(in crate::server) fn busy() -> Problem {
    let message = "this tournament is being changed by another request: try again";
    Problem::conflict("tournament_busy", message)
}

/// Ends a tournament of any account. False if there is none, or it is over or was ended already.
///
/// # Errors
/// The store cannot be reached.
pub fn end_tournament(store: &mut dyn Store, id: &str, now: u64) -> Result<bool, StoreError> {
    let busy = || StoreError::Unavailable("another request is changing it: try again".to_owned());
    edited(store, busy, |store| {
        let Some((before, mut table)) = read(store, id)? else { return Ok((false, Vec::new())) };
        let ends = table.stopped.is_none() && table.stop(now).is_ok();
        let all = if ends { changes(store, id, before, &table, &[])? } else { Vec::new() };
        Ok((ends, all))
    })
}
