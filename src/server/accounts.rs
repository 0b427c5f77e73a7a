//! Accounts: a name that lasts, tokens for some devices, and codes that let the holder in again. There is no
//! e-mail and no password: without a device and without a code, an account is lost.
//!
//! An account is a record of the store, and a record for each of its tokens; both change together or not at all.
//! Tokens and codes are kept as hashes, codes by Argon2. A seat of an account is known by the account, not by a
//! token, so any of its devices plays it. Accounts of earlier versions, which are two texts that never change, have
//! their one token and no codes.

use argon2::{Algorithm, Argon2, Params, Version};
use axum::http::StatusCode;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::api::Web;
use super::core::TokenHash;
use super::ids::{ID_LETTERS, new_id, new_token};
use super::pool::{Lane, failed};
use super::problem::Problem;
use super::store::{Change, Store, StoreError, Summary, edited};

/// What the token of an account begins with: a request that sends another one is not looked up.
const PREFIX: &str = "rma_";
/// The maximum number of devices of one account, and the number of its recovery codes.
const DEVICES: usize = 20;
const CODES: usize = 8;
/// Characters of what a device is called.
const LABEL: usize = 40;
/// Names that would be taken for something else.
const RESERVED: [&str; 3] = ["anonymous", "computer", "ai"];
/// What the computer's names begin with, by which it is challenged. A level follows.
pub(super) const COMPUTER: &str = "computer-";

/// The holder of an account.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) name: String,
    /// The hash that its seats have.
    pub(super) token: TokenHash,
    /// The hash of the token that was sent, if one was.
    device: Option<TokenHash>,
}

impl Account {
    /// What lichess calls the id of a user.
    pub(super) fn id(&self) -> String {
        self.name.to_ascii_lowercase()
    }
}

/// An account as the store keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct AccountRecord {
    name: String,
    since: u64,
    /// A program plays for it.
    #[serde(default)]
    bot: bool,
    salt: String,
    /// The hashes of codes that were not used yet.
    codes: Vec<String>,
    devices: Vec<Device>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Device {
    /// The hash of its token.
    token: String,
    label: String,
    since: u64,
}

/// Closes an account for good: its devices are logged out and its codes are void, while its name stays taken. False if
/// there is no such account.
///
/// # Errors
/// The store is away.
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

/// An account that was made, or a device that was let in: what is told this once.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Entrance {
    pub(super) name: String,
    /// The token of this device: `Authorization: Bearer TOKEN`.
    pub(super) token: String,
    /// Recovery codes, each good for one log-in: of a new account. They are not told again.
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
    /// When it was let in, in milliseconds since 1970.
    pub(super) since: u64,
    /// Whether it is the one that asks.
    pub(super) this: bool,
}

fn user_key(id: &str) -> String {
    format!("user {id}")
}

fn device_key(hash: &str) -> String {
    format!("token {hash}")
}

/// The key of the record that an account sat down in a game; the keys of later ones come first.
pub(super) fn seat_key(id: &str, at: u64, game: &str) -> String {
    format!("{}{:016x} {game}", seats_of(id), u64::MAX - at)
}

fn seats_of(id: &str) -> String {
    format!("seat {id} ")
}

fn stored(store: &mut dyn Store, id: &str) -> Result<Option<(String, AccountRecord)>, StoreError> {
    let text = store.record(&user_key(id))?;
    let bad = |it: serde_json::Error| StoreError::Unavailable(format!("account {id}: {it}"));
    text.map(|it| serde_json::from_str(&it).map(|record| (it, record)).map_err(bad)).transpose()
}

/// The account that a token, by its hash, belongs to.
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

/// Whether an account has said that a program plays for it.
pub(super) fn is_bot(store: &mut dyn Store, id: &str) -> Result<bool, StoreError> {
    match stored(store, id)? {
        Some((_, record)) => Ok(record.bot),
        None => Ok(store.text(&format!("bot-{id}"))?.is_some()),
    }
}

impl Web {
    /// What the seats have that a token may act for: those of its account, or the one seat that it is the token of.
    ///
    /// # Errors
    /// The token is made like that of an account, but no account has it.
    pub(super) async fn credential(&self, token: &str) -> Result<TokenHash, Problem> {
        match self.account_of(token).await? {
            Some(account) => Ok(account.token),
            None => Ok(TokenHash::of(token)),
        }
    }

    /// The account of a token; none for a token that is not made like one.
    ///
    /// # Errors
    /// It is made like one, but no account has it.
    pub(super) async fn account_of(&self, token: &str) -> Result<Option<Account>, Problem> {
        if !token.starts_with(PREFIX) {
            return Ok(None);
        }
        let hash = TokenHash::of(token);
        let found = self.host.reads().ask(move |store| by_token(store, &hash)).await?;
        found.map(Some).ok_or_else(gone)
    }

    /// The games that an account has a seat in, those first in which it sat down last.
    ///
    /// # Errors
    /// The store is away.
    pub(super) async fn games_of(&self, id: &str, limit: usize) -> Result<Vec<Summary>, Problem> {
        let prefix = seats_of(id);
        let list = move |store: &mut dyn Store| {
            let mut found: Vec<Summary> = Vec::new();
            for (key, _) in store.records(&prefix, "", limit)? {
                let Some(game) = key.rsplit(' ').next() else { continue };
                let is_new = found.iter().all(|it| it.id != game);
                found.extend(store.summary(game)?.filter(|_| is_new));
            }
            Ok(found)
        };
        Ok(self.host.reads().ask(list).await?)
    }

    /// Makes an account and lets its first device in.
    ///
    /// # Errors
    /// The name is not allowed, or is taken.
    pub(super) async fn make_account(
        &self,
        name: String,
        device: Option<String>,
    ) -> Result<Entrance, Problem> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        let id = name.to_ascii_lowercase();
        if !name.chars().all(is_plain) || !(2..=20).contains(&name.len()) {
            let message = "a name has 2 to 20 letters, digits, - or _";
            return Err(Problem::unprocessable("bad_name", message));
        }
        if RESERVED.contains(&id.as_str()) || id.starts_with(COMPUTER) {
            let message = format!("the name {name} is not given away: choose another one");
            return Err(Problem::unprocessable("bad_name", message));
        }
        let salt = new_token()?;
        let (codes, hashes) = self.new_codes(&salt).await?;
        let (token, device) = new_device(device, self.host.now())?;
        let since = self.host.now();
        let token_record = device_key(&device.token);
        let record = AccountRecord {
            name: name.clone(),
            since,
            bot: false,
            salt,
            codes: hashes,
            devices: vec![device],
        };
        let user = id.clone();
        let make = move |store: &mut dyn Store| {
            if store.text(&format!("user-{user}"))?.is_some() {
                return Ok(false);
            }
            store.change(&[
                Change { key: user_key(&user), from: None, to: Some(text(&record)) },
                Change { key: token_record, from: None, to: Some(user) },
            ])
        };
        if !self.host.reads().ask(make).await? {
            return Err(Problem::new(StatusCode::CONFLICT, "name_taken", "the name is taken"));
        }
        Ok(Entrance { name, token, codes_left: codes.len(), codes })
    }

    /// Lets a device in by a recovery code, which is used up by that.
    ///
    /// # Errors
    /// There is no such account, or it has no such code.
    pub(super) async fn log_in(
        &self,
        name: &str,
        code: &str,
        device: Option<String>,
    ) -> Result<Entrance, Problem> {
        let id = name.to_ascii_lowercase();
        let user = id.clone();
        let found = self.host.reads().ask(move |store| stored(store, &user)).await?;
        let (_, known) = found.ok_or_else(not_let_in)?;
        let code: String =
            code.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        if code.len() != ID_LETTERS {
            return Err(not_let_in());
        }
        let salt = known.salt.clone();
        let hash = move || hash_of_code(&code, &salt);
        let hash = self.host.pool.run(Lane::Work, hash).await?.ok_or_else(failed)?;
        let (token, device) = new_device(device, self.host.now())?;
        let enter = move |record: &mut AccountRecord, changes: &mut Vec<Change>, id: &str| {
            let at = record.codes.iter().position(|it| same(it, &hash)).ok_or_else(not_let_in)?;
            record.codes.remove(at);
            while record.devices.len() >= DEVICES {
                // The one that has been there for longest is not used any more, or logs in again.
                let old = record.devices.remove(0);
                changes.push(removal(&old, id));
            }
            let key = device_key(&device.token);
            changes.push(Change { key, from: None, to: Some(id.to_owned()) });
            record.devices.push(device.clone());
            Ok(record.codes.len())
        };
        let codes_left = self.change_account(&id, enter).await?;
        Ok(Entrance { name: known.name, token, codes: Vec::new(), codes_left })
    }

    /// Gives an account new recovery codes; the old ones are void.
    ///
    /// # Errors
    /// The account is of an earlier version.
    pub(super) async fn renew_codes(&self, account: &Account) -> Result<Vec<String>, Problem> {
        let salt = new_token()?;
        let (codes, hashes) = self.new_codes(&salt).await?;
        let renew = move |record: &mut AccountRecord, _: &mut Vec<Change>, _: &str| {
            (record.salt, record.codes) = (salt.clone(), hashes.clone());
            Ok(())
        };
        self.change_account(&account.id(), renew).await?;
        Ok(codes)
    }

    /// Logs a device out: the one that asks for `this`.
    ///
    /// # Errors
    /// There is no such device.
    pub(super) async fn log_out(&self, account: &Account, device: &str) -> Result<usize, Problem> {
        let own = account.device.as_ref().map(|it| device_id(it.text()).to_owned());
        let wanted = if device == "this" { own } else { Some(device.to_owned()) };
        let leave = move |record: &mut AccountRecord, changes: &mut Vec<Change>, id: &str| {
            let is_wanted = |it: &Device| Some(device_id(&it.token)) == wanted.as_deref();
            let none = || {
                let message = "the account has no such device: GET /api/v1/account lists them";
                Problem::new(StatusCode::NOT_FOUND, "no_such_device", message)
            };
            let at = record.devices.iter().position(is_wanted).ok_or_else(none)?;
            changes.push(removal(&record.devices.remove(at), id));
            Ok(record.devices.len())
        };
        self.change_account(&account.id(), leave).await
    }

    /// An account says that a program plays for it, for good.
    ///
    /// # Errors
    /// The store is away.
    pub(super) async fn be_a_bot(&self, account: &Account) -> Result<(), Problem> {
        if account.device.is_none() {
            let (key, name) = (format!("bot-{}", account.id()), account.name.clone());
            return Ok(self.host.reads().ask(move |store| store.put_text(&key, &name)).await?);
        }
        let be = |record: &mut AccountRecord, _: &mut Vec<Change>, _: &str| {
            record.bot = true;
            Ok(())
        };
        self.change_account(&account.id(), be).await
    }

    /// What the holder of an account sees of it.
    ///
    /// # Errors
    /// The account is of an earlier version.
    pub(super) async fn own_account(&self, account: &Account) -> Result<Own, Problem> {
        let id = account.id();
        let user = id.clone();
        let found = self.host.reads().ask(move |store| stored(store, &user)).await?;
        let (_, record) = found.ok_or_else(too_old)?;
        let this = account.device.as_ref().map(TokenHash::text);
        let devices = record.devices.into_iter().map(|it| OwnDevice {
            id: device_id(&it.token).to_owned(),
            this: this == Some(it.token.as_str()),
            label: it.label,
            since: it.since,
        });
        Ok(Own {
            id,
            name: record.name,
            since: record.since,
            devices: devices.collect(),
            codes_left: record.codes.len(),
        })
    }

    /// Changes an account and the records that go with it, all or nothing.
    async fn change_account<T: Send + 'static>(
        &self,
        id: &str,
        edit: impl Fn(&mut AccountRecord, &mut Vec<Change>, &str) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let id = id.to_owned();
        let change = move |store: &mut dyn Store| {
            let done = edited(store, |store| {
                let Some((before, mut record)) = stored(store, &id)? else {
                    return Ok(Err(too_old()));
                };
                let mut changes = Vec::new();
                Ok(edit(&mut record, &mut changes, &id).map(|done| {
                    let (key, to) = (user_key(&id), Some(text(&record)));
                    changes.push(Change { key, from: Some(before), to });
                    (done, changes)
                }))
            })?;
            let message = "others change this account at the moment: ask again";
            let busy = || Err(Problem::new(StatusCode::CONFLICT, "account_busy", message));
            Ok(done.unwrap_or_else(busy))
        };
        self.host.reads().ask(change).await?
    }

    /// New recovery codes, and their hashes.
    async fn new_codes(&self, salt: &str) -> Result<(Vec<String>, Vec<String>), Problem> {
        let mut plain = Vec::with_capacity(CODES);
        for _ in 0..CODES {
            plain.push(new_id()?);
        }
        let (codes, salt) = (plain.clone(), salt.to_owned());
        let hash = move || codes.iter().map(|it| hash_of_code(it, &salt)).collect();
        let hashes: Option<Vec<String>> = self.host.pool.run(Lane::Work, hash).await?;
        let spaced = |it: &String| format!("{}-{}-{}", &it[..5], &it[5..10], &it[10..]);
        Ok((plain.iter().map(spaced).collect(), hashes.ok_or_else(failed)?))
    }
}

/// Codes are random, 75 bits each: what a password needs in memory and time is not needed here, so that the
/// check costs a stranger's server little.
fn hash_of_code(code: &str, salt: &str) -> Option<String> {
    let params = Params::new(4096, 2, 1, Some(32)).ok()?;
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut hash = [0; 32];
    argon.hash_password_into(code.as_bytes(), salt.as_bytes(), &mut hash).ok()?;
    Some(HEXLOWER.encode(&hash))
}

/// Compares without telling by its duration how much is equal.
fn same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    one.len() == other.len() && pairs.fold(0, |acc, (a, b)| acc | (a ^ b)) == 0
}

fn new_device(label: Option<String>, since: u64) -> Result<(String, Device), Problem> {
    let label = label.unwrap_or_default();
    let label: String = label.chars().filter(|it| !it.is_control()).take(LABEL).collect();
    let token = format!("{PREFIX}{}", new_token()?);
    let hash = TokenHash::of(&token).text().to_owned();
    Ok((token, Device { token: hash, label, since }))
}

fn removal(device: &Device, id: &str) -> Change {
    Change { key: device_key(&device.token), from: Some(id.to_owned()), to: None }
}

/// What a device is called by its account: part of the hash of its token, of which nothing can be made.
fn device_id(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn text(record: &AccountRecord) -> String {
    serde_json::to_string(record).unwrap_or_default()
}

fn gone() -> Problem {
    let message = "this device is logged out: log in again";
    Problem::new(StatusCode::UNAUTHORIZED, "account_gone", message)
}

fn not_let_in() -> Problem {
    let message = "no account of this name has this recovery code, or it was used already";
    Problem::new(StatusCode::UNAUTHORIZED, "code_wrong", message)
}

fn too_old() -> Problem {
    let message = "this account was made by an earlier version: it has its one token, and no codes";
    Problem::new(StatusCode::CONFLICT, "account_too_old", message)
}
