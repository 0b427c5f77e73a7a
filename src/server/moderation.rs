//! Moderation: players report games to the operator, and block each other.
//!
//! Deliberately absent: deciding anything, as reports are kept for a person to read, with `rulemate moderate`;
//! closing accounts (`accounts`); and switching the chat of a game off, which is a request to the game.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::accounts::{Account, by_name};
use super::api::accounts::no_user;
use super::problem::Problem;
use super::store::{Change, Store, StoreError, next_count};
use super::web::Web;

/// Maximum number of unread reports.
const REPORTS: usize = 1_000;
/// Maximum number of characters of a report.
pub(super) const REPORT_LENGTH: usize = 500;
/// Maximum number of accounts that one account can block.
const BLOCKS: usize = 200;

/// A report about a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    #[serde(default)]
    pub game: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The account that reports it; none for guests.
    pub by: Option<String>,
    pub text: String,
}

/// The prefix of the keys of reports. The game's id and a word for the reporter follow.
const KEY: &str = "report ";
/// The key of the number of reports that were ever made.
const REPORTS_MADE: &str = "reports-made";

/// The changes that keep a report of a game by `reporter`, in place of an earlier one.
///
/// # Errors
/// The store has the maximum number of reports, or cannot be reached.
pub(super) fn reporting(
    store: &mut dyn Store,
    game: &str,
    reporter: &str,
    report: &Report,
) -> Result<Vec<Change>, Problem> {
    let key = format!("{KEY}{game} {reporter}");
    let from = store.record(&key)?;
    let mut changes = Vec::new();
    if from.is_none() {
        changes.push(next_count(store, REPORTS_MADE.to_owned())?);
        if store.records(KEY, "", REPORTS)?.len() >= REPORTS {
            let message = "too many reports wait to be read: write to those who run the server";
            return Err(Problem::not_now("too_many_reports", message));
        }
    }
    changes.push(Change { key, from, to: serde_json::to_string(report).ok() });
    Ok(changes)
}

/// The unread reports, in the order of the ids of their games. Those that cannot be read are left out.
///
/// # Errors
/// The store cannot be reached.
pub fn reports(store: &mut dyn Store) -> Result<Vec<Report>, StoreError> {
    let found = store.records(KEY, "", REPORTS)?;
    let read = |(key, text): (String, String)| {
        let game = key.split(' ').nth(1).unwrap_or_default().to_owned();
        Some(Report { game, ..serde_json::from_str(&text).ok()? })
    };
    Ok(found.into_iter().filter_map(read).collect())
}

/// Removes all reports of a game, once the operator has read them. Returns their number.
///
/// # Errors
/// The store cannot be reached.
pub fn forget_reports(store: &mut dyn Store, game: &str) -> Result<usize, StoreError> {
    let mut count = 0;
    for (key, text) in store.records(&format!("{KEY}{game} "), "", REPORTS)? {
        count += usize::from(store.change(&[Change { key, from: Some(text), to: None }])?);
    }
    Ok(count)
}

fn block_key(id: &str, other: &str) -> String {
    format!("{}{other}", block_prefix(id))
}

fn blocks(store: &mut dyn Store, id: &str, other: &str) -> Result<bool, StoreError> {
    Ok(store.record(&block_key(id, other))?.is_some())
}

/// Whether one of two accounts blocks the other.
pub(super) fn is_blocked(
    store: &mut dyn Store,
    one: &str,
    other: &str,
) -> Result<bool, StoreError> {
    Ok(blocks(store, one, other)? || blocks(store, other, one)?)
}

fn block_prefix(id: &str) -> String {
    format!("block {id} ")
}

/// The key of the number of accounts that an account has ever blocked.
fn blocks_made_key(id: &str) -> String {
    format!("blocks-made {id}")
}

/// The changes by which the account `id` blocks or unblocks another one.
///
/// # Errors
/// There is no such account, it is the same one, too many are blocked, or the store cannot be reached.
fn blocking(
    store: &mut dyn Store,
    id: &str,
    other: &str,
    is_on: bool,
) -> Result<Vec<Change>, Problem> {
    let other = by_name(store, other)?.ok_or_else(|| no_user(other))?.id();
    if is_on && other == id {
        return Err(Problem::conflict("own_account", "an account cannot block itself"));
    }
    let key = block_key(id, &other);
    let (from, to) = (store.record(&key)?, is_on.then(String::new));
    let mut changes = Vec::new();
    if is_on && from.is_none() {
        changes.push(next_count(store, blocks_made_key(id))?);
        if store.records(&block_prefix(id), "", BLOCKS)?.len() >= BLOCKS {
            let message = format!("you block {BLOCKS} accounts already: unblock one first");
            return Err(Problem::conflict("too_many_blocks", message));
        }
    }
    if from != to {
        changes.push(Change { key, from, to });
    }
    Ok(changes)
}

fn busy() -> Problem {
    let message = "your blocks are being changed by other requests: try again";
    Problem::conflict("blocks_busy", message)
}

/// The ids of the accounts that an account blocks.
pub(super) fn blocked_by(store: &mut dyn Store, id: &str) -> Result<Vec<String>, StoreError> {
    let prefix = block_prefix(id);
    let found = store.records(&prefix, "", BLOCKS)?;
    Ok(found.into_iter().map(|it| it.0[prefix.len()..].to_owned()).collect())
}

impl Web {
    /// The accounts that an account blocks.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub(super) async fn blocked(&self, account: &Account) -> Result<Vec<String>, Problem> {
        let id = account.id();
        Ok(self.host.reads().ask(move |store| blocked_by(store, &id)).await?)
    }

    /// Blocks or unblocks an account. Returns the ids of all that are blocked then.
    ///
    /// # Errors
    /// There is no such account, it is the same one, or too many are blocked.
    pub(super) async fn block(
        &self,
        account: &Account,
        other: &str,
        is_on: bool,
    ) -> Result<Vec<String>, Problem> {
        let (id, other) = (account.id(), other.to_owned());
        let reads = self.host.reads();
        reads.edit(busy, move |store| Ok(((), blocking(store, &id, &other, is_on)?))).await?;
        self.blocked(account).await
    }

    /// Checks that an account may play with others.
    ///
    /// # Errors
    /// One of them blocks it.
    pub(super) async fn may_play_with(
        &self,
        account: &Account,
        others: Vec<String>,
    ) -> Result<(), Problem> {
        let id = account.id();
        let look = move |store: &mut dyn Store| {
            for other in others {
                if blocks(store, &other, &id)? {
                    let message = format!("{other} does not want to play with you");
                    return Err(Problem::forbidden("blocked", message));
                }
            }
            Ok(())
        };
        self.host.reads().request(look).await
    }
}
