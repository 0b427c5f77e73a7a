//! Accounts: a permanent name, a token for each device, and recovery codes. There is no
//! e-mail and no password: without a device and without a code, an account is lost.
//!
//! An account is a record of the store, with a further record for each of its tokens; all of them change together or not
//! at all. Tokens and codes are kept as hashes, codes by Argon2. A seat of an account belongs to the account, not to a
//! token, so any of its devices can play it. Accounts of earlier versions are two texts of the store in place of records:
//! they have one token and no codes, and cannot be changed. Deliberately absent: requests (`api`).

use argon2::{Algorithm, Argon2, Params, Version};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::core::{Seat, TokenHash};
use super::ids::{new_id, new_token};
use super::pool::Lane;
use super::problem::Problem;
use super::store::{Change, GameState, Store, StoreError, Summary};
use super::web::Web;

/// The prefix of account tokens; a token without it is not looked up.
const PREFIX: &str = "rma_";
/// Maximum number of devices of one account.
pub(super) const DEVICES: usize = 20;
/// Maximum number of an account's seats, the last ones, among which its games are searched for.
const SEATS: usize = 1_000;
/// Number of recovery codes of a new account.
const CODES: usize = 8;
/// Maximum number of characters of the name of a device.
const LABEL: usize = 40;
/// Names that would be mistaken for something else.
pub(super) const RESERVED: [&str; 3] = ["anonymous", "computer", "ai"];
/// The prefix of the names by which the computer is challenged. A level follows.
pub(super) const COMPUTER: &str = "computer-";

/// An account, as it is found by a token or by its name.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) name: String,
    /// The token hash in its seats: `account:ID`, or for an account of an earlier version the hash of its one token.
    pub(super) token: TokenHash,
    /// The hash of the device's token that it was found by; `None` if it was found by its name, or is of an earlier
    /// version.
    pub(super) device: Option<TokenHash>,
}

impl Account {
    /// The user id in lichess' terms.
    pub(super) fn id(&self) -> String {
        self.name.to_ascii_lowercase()
    }

    pub(super) fn seat(&self) -> Seat {
        Seat { name: self.name.clone(), token: self.token.clone(), computer: None }
    }

    /// Checks that rated games and tournaments can count for the account, which needs its id in its seats.
    ///
    /// # Errors
    /// It was made by an earlier version: its seats have the hash of its token.
    pub(super) fn can_count(&self) -> Result<(), Problem> {
        if self.token.account().is_some() {
            return Ok(());
        }
        let message = "this account was made by an earlier version: it cannot play rated games or tournaments; \
                       create another account for them";
        Err(Problem::conflict("account_too_old", message))
    }
}

/// An account as the store keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct AccountRecord {
    pub(super) name: String,
    pub(super) since: u64,
    /// Whether a program plays for it.
    #[serde(default)]
    pub(super) bot: bool,
    pub(super) salt: String,
    /// The hashes of unused codes.
    pub(super) codes: Vec<String>,
    pub(super) devices: Vec<Device>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Device {
    /// The hash of its token.
    pub(super) token: String,
    pub(super) label: String,
    pub(super) since: u64,
}

/// Closes an account for good: its devices are logged out and its codes are void, while its name stays taken. False if
/// there is no such account, or if it is of an earlier version, which cannot be closed.
///
/// # Errors
/// The store cannot be reached.
pub fn close_account(store: &mut dyn Store, name: &str) -> Result<bool, StoreError> {
    let id = name.to_ascii_lowercase();
    while let Some((before, mut record)) = stored(store, &id)? {
        let mut changes: Vec<Change> = record.devices.iter().map(|it| removal(it, &id)).collect();
        (record.devices, record.codes) = (Vec::new(), Vec::new());
        changes.push(Change { key: user_key(&id), from: Some(before), to: Some(text(&record)) });
        if store.change(&changes)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An account that was made, or a device that was logged in: what the client is sent this once.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Entrance {
    pub(super) name: String,
    /// The token of this device: `Authorization: Bearer TOKEN`.
    pub(super) token: String,
    /// Recovery codes of a new account, each good for one log-in. They are not sent again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) codes: Vec<String>,
    /// The number of codes that are left.
    pub(super) codes_left: usize,
}

/// An account as its holder sees it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Own {
    pub(super) id: String,
    pub(super) name: String,
    /// When it was made, in milliseconds since 1970.
    pub(super) since: u64,
    pub(super) devices: Vec<OwnDevice>,
    /// The number of recovery codes that are left.
    pub(super) codes_left: usize,
}

/// A device that is logged in.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct OwnDevice {
    /// The id to log it out with.
    pub(super) id: String,
    pub(super) label: String,
    /// When it was logged in, in milliseconds since 1970.
    pub(super) since: u64,
    /// Whether it is the device that sends the request.
    pub(super) this: bool,
}

pub(super) fn user_key(id: &str) -> String {
    format!("user {id}")
}

pub(super) fn device_key(hash: &str) -> String {
    format!("token {hash}")
}

/// The key of the record of an account's seat in a game, taken at that time; keys of later seats sort first.
pub(super) fn seat_key(id: &str, at: u64, game: &str) -> String {
    format!("{}{:016x} {game}", seat_prefix(id), u64::MAX - at)
}

fn seat_prefix(id: &str) -> String {
    format!("seat {id} ")
}

/// The record of an account: its text, and what it says.
pub(super) fn stored(
    store: &mut dyn Store,
    id: &str,
) -> Result<Option<(String, AccountRecord)>, StoreError> {
    let text = store.record(&user_key(id))?;
    let bad = |it: serde_json::Error| StoreError::Unavailable(format!("account {id}: {it}"));
    text.map(|it| serde_json::from_str(&it).map(|record| (it, record)).map_err(bad)).transpose()
}

/// The account that the token with this hash belongs to.
pub(super) fn by_token(
    store: &mut dyn Store,
    hash: &TokenHash,
) -> Result<Option<Account>, StoreError> {
    if let Some(id) = store.record(&device_key(hash.text()))? {
        let found = stored(store, &id)?.map(|it| it.1.name);
        let token = TokenHash::of_account(&id);
        return Ok(found.map(|name| Account { name, token, device: Some(hash.clone()) }));
    }
    let name = store.text(&format!("account-{}", hash.text()))?;
    Ok(name.map(|name| Account { name, token: hash.clone(), device: None }))
}

/// The account of a name.
pub(super) fn by_name(store: &mut dyn Store, name: &str) -> Result<Option<Account>, StoreError> {
    let id = name.to_ascii_lowercase();
    if let Some((_, record)) = stored(store, &id)? {
        let token = TokenHash::of_account(&id);
        return Ok(Some(Account { name: record.name, token, device: None }));
    }
    let found = store.text(&format!("user-{id}"))?;
    Ok(found.as_deref().and_then(|it| it.split_once(' ')).map(|(name, hash)| Account {
        name: name.to_owned(),
        token: TokenHash::from_text(hash.to_owned()),
        device: None,
    }))
}

/// Whether an account cannot act any more: it was closed, or its holder has lost it.
pub(super) fn is_closed(store: &mut dyn Store, id: &str) -> Result<bool, StoreError> {
    Ok(stored(store, id)?.is_some_and(|(_, it)| it.devices.is_empty() && it.codes.is_empty()))
}

/// Whether an account is marked as played by a program.
pub(super) fn is_bot(store: &mut dyn Store, id: &str) -> Result<bool, StoreError> {
    match stored(store, id)? {
        Some((_, record)) => Ok(record.bot),
        None => Ok(store.text(&format!("bot-{id}"))?.is_some()),
    }
}

/// The hash of a recovery code. Codes are random, 75 bits each, so they do not need the memory and time that hashing a
/// password takes, and checking one costs the server little.
pub(super) fn hash_of_code(code: &str, salt: &str) -> Option<String> {
    let params = Params::new(4096, 2, 1, Some(32)).ok()?;
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut hash = [0; 32];
    argon.hash_password_into(code.as_bytes(), salt.as_bytes(), &mut hash).ok()?;
    Some(HEXLOWER.encode(&hash))
}

/// A new device, with its token.
pub(super) fn new_device(label: Option<String>, since: u64) -> Result<(String, Device), Problem> {
    let label = label.unwrap_or_default();
    let label: String = label.chars().filter(|it| !it.is_control()).take(LABEL).collect();
    let token = format!("{PREFIX}{}", new_token()?);
    let hash = TokenHash::of(&token).text().to_owned();
    Ok((token, Device { token: hash, label, since }))
}

/// The change that logs a device of an account out.
pub(super) fn removal(device: &Device, id: &str) -> Change {
    Change { key: device_key(&device.token), from: Some(id.to_owned()), to: None }
}

/// The id of a device within its account: part of the hash of its token, from which the token cannot be
/// found.
pub(super) fn device_id(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// An account as text, for the store.
pub(super) fn text(record: &AccountRecord) -> String {
    serde_json::to_string(record).unwrap_or_default()
}

pub(super) fn wrong_code() -> Problem {
    let message = "no account of this name has this recovery code, or it was used already";
    Problem::unauthorized("code_wrong", message)
}

pub(super) fn too_old() -> Problem {
    let message = "this account was made by an earlier version: it has one token for good, and no recovery codes";
    Problem::conflict("account_too_old", message)
}

impl Web {
    /// The token hash in the seats that a token may act for, if there is a token: the seats of its account, or the one
    /// seat that has this token.
    ///
    /// # Errors
    /// The token has the form of an account's, but no account has it.
    pub(super) async fn credential(
        &self,
        token: Option<&str>,
    ) -> Result<Option<TokenHash>, Problem> {
        let Some(token) = token else { return Ok(None) };
        let account = self.account_of(token).await?;
        Ok(Some(account.map_or_else(|| TokenHash::of(token), |it| it.token)))
    }

    /// The account of a token; `None` if the token does not have the form of an account's.
    ///
    /// # Errors
    /// The token has that form, but no account has it.
    pub(super) async fn account_of(&self, token: &str) -> Result<Option<Account>, Problem> {
        if !token.starts_with(PREFIX) {
            return Ok(None);
        }
        let hash = TokenHash::of(token);
        let found = self.host.reads().ask(move |store| by_token(store, &hash)).await?;
        let message = "no account has this token any more: log in again";
        found.map(Some).ok_or_else(|| Problem::unauthorized("account_gone", message))
    }

    /// The games that an account has a seat in, the most recently joined first; only those in this state, and joined before
    /// the game `before`, if these are given.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub(super) async fn games_of(
        &self,
        id: &str,
        state: Option<GameState>,
        before: Option<String>,
        limit: usize,
    ) -> Result<Vec<Summary>, Problem> {
        let prefix = seat_prefix(id);
        let list = move |store: &mut dyn Store| {
            store.seated(&prefix, state, before.as_deref(), SEATS, limit)
        };
        Ok(self.host.reads().ask(list).await?)
    }

    /// Marks an account as played by a program, permanently.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub(super) async fn mark_as_bot(&self, account: &Account) -> Result<(), Problem> {
        if account.device.is_none() {
            let (key, name) = (format!("bot-{}", account.id()), account.name.clone());
            self.host.reads().ask(move |store| store.put_text(&key, &name)).await?;
            return Ok(());
        }
        let mark = |record: &mut AccountRecord, _: &mut Vec<Change>, _: &str| {
            record.bot = true;
            Ok(())
        };
        self.change_account(&account.id(), mark).await
    }

    /// Changes an account and further records, all or nothing. `edit` changes the account, adds the further changes to a
    /// list, and is given the account's id.
    pub(super) async fn change_account<T: Send + 'static>(
        &self,
        id: &str,
        edit: impl Fn(&mut AccountRecord, &mut Vec<Change>, &str) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let id = id.to_owned();
        let busy = || {
            let message = "this account is being changed by another request: try again";
            Problem::conflict("account_busy", message)
        };
        let change = move |store: &mut dyn Store| {
            let (before, mut record) = stored(store, &id)?.ok_or_else(too_old)?;
            let mut changes = Vec::new();
            let done = edit(&mut record, &mut changes, &id)?;
            let (key, to) = (user_key(&id), Some(text(&record)));
            changes.push(Change { key, from: Some(before), to });
            Ok((done, changes))
        };
        self.host.reads().edit(busy, change).await
    }

    /// New recovery codes, and their hashes.
    pub(super) async fn new_codes(
        &self,
        salt: &str,
    ) -> Result<(Vec<String>, Vec<String>), Problem> {
        let mut plain = Vec::with_capacity(CODES);
        for _ in 0..CODES {
            plain.push(new_id()?);
        }
        let (codes, salt) = (plain.clone(), salt.to_owned());
        let hash = move || codes.iter().map(|it| hash_of_code(it, &salt)).collect();
        let hashes: Option<Vec<String>> = self.host.pool.run(Lane::Work, hash).await?;
        let spaced = |it: &String| format!("{}-{}-{}", &it[..5], &it[5..10], &it[10..]);
        Ok((plain.iter().map(spaced).collect(), hashes.ok_or_else(Problem::internal)?))
    }
}
