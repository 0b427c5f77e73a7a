//! Requests about accounts: making them, logging in and out, new codes, and the account of a token.
//!
//! Deliberately absent: how accounts are stored (`accounts`).

use super::accounts::{
    Account, AccountRecord, CODES, COMPUTER, DEVICES, Device, Entrance, Own, OwnDevice, PREFIX,
    RESERVED, by_token, device_id, device_key, gone, hash_of_code, new_device, removal, seats_of,
    stored, text, too_old, user_key, wrong_code,
};
use super::core::{TokenHash, same};
use super::ids::{ID_LETTERS, new_id, new_token};
use super::pool::{Lane, failed};
use super::problem::Problem;
use super::store::{Change, Store, Summary, edited};
use super::web::Web;

impl Web {
    /// The hash of the seats that a token, if there is one, may act for: those of its account, or the one seat that it is
    /// the token of.
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

    /// The account of a token; `None` for a token that does not have the form of an account's.
    ///
    /// # Errors
    /// It has that form, but no account has it.
    pub(super) async fn account_of(&self, token: &str) -> Result<Option<Account>, Problem> {
        if !token.starts_with(PREFIX) {
            return Ok(None);
        }
        let hash = TokenHash::of(token);
        let found = self.host.reads().ask(move |store| by_token(store, &hash)).await?;
        found.map(Some).ok_or_else(gone)
    }

    /// The games that an account has a seat in, the most recently joined first.
    ///
    /// # Errors
    /// The store cannot be reached.
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

    /// Makes an account and logs its first device in.
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
            return Err(Problem::conflict("name_taken", "the name is taken"));
        }
        Ok(Entrance { name, token, codes_left: codes.len(), codes })
    }

    /// Logs a device in by a recovery code, which is used up.
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
        let (_, known) = found.ok_or_else(wrong_code)?;
        let code: String =
            code.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        if code.len() != ID_LETTERS {
            return Err(wrong_code());
        }
        let salt = known.salt.clone();
        let hash = move || hash_of_code(&code, &salt);
        let hash = self.host.pool.run(Lane::Work, hash).await?.ok_or_else(failed)?;
        let (token, device) = new_device(device, self.host.now())?;
        let enter = move |record: &mut AccountRecord, changes: &mut Vec<Change>, id: &str| {
            let at = record.codes.iter().position(|it| same(it, &hash)).ok_or_else(wrong_code)?;
            record.codes.remove(at);
            while record.devices.len() >= DEVICES {
                // The oldest device is logged out: it is no longer in use, or can log in again.
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

    /// Logs a device out; `this` is the device that sends the request.
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
                Problem::not_found("no_such_device", message)
            };
            let at = record.devices.iter().position(is_wanted).ok_or_else(none)?;
            changes.push(removal(&record.devices.remove(at), id));
            Ok(record.devices.len())
        };
        self.change_account(&account.id(), leave).await
    }

    /// Marks an account as played by a program, permanently.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub(super) async fn mark_as_bot(&self, account: &Account) -> Result<(), Problem> {
        if account.device.is_none() {
            let (key, name) = (format!("bot-{}", account.id()), account.name.clone());
            return Ok(self.host.reads().ask(move |store| store.put_text(&key, &name)).await?);
        }
        let mark = |record: &mut AccountRecord, _: &mut Vec<Change>, _: &str| {
            record.bot = true;
            Ok(())
        };
        self.change_account(&account.id(), mark).await
    }

    /// An account as its holder sees it.
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
        let busy = || {
            let message = "others are changing this account at the moment: try again";
            Problem::conflict("account_busy", message)
        };
        let change = move |store: &mut dyn Store| {
            edited(store, busy, |store| {
                let (before, mut record) = stored(store, &id)?.ok_or_else(too_old)?;
                let mut changes = Vec::new();
                let done = edit(&mut record, &mut changes, &id)?;
                let (key, to) = (user_key(&id), Some(text(&record)));
                changes.push(Change { key, from: Some(before), to });
                Ok((done, changes))
            })
        };
        self.host.reads().request(change).await
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
