//! What requests about accounts share: the account of a token, its games, its recovery codes, and changes of it.
//!
//! Deliberately absent: how accounts are stored (`accounts`), and the requests (`api`).

use super::accounts::{
    Account, AccountRecord, CODES, PREFIX, by_token, gone, hash_of_code, seats_of, stored, text,
    too_old, user_key,
};
use super::core::TokenHash;
use super::ids::new_id;
use super::pool::{Lane, failed};
use super::problem::Problem;
use super::store::{Change, Store, Summary, edited};
use super::web::Web;

impl Web {
    /// The hash of the seats that a token, if there is one, may act for: those of its account, or the one seat that
    /// it is the token of.
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

    /// Changes an account and the records that go with it, all or nothing.
    pub(super) async fn change_account<T: Send + 'static>(
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
        Ok((plain.iter().map(spaced).collect(), hashes.ok_or_else(failed)?))
    }
}
