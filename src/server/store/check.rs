//! Verifies the rows of a store, which each kind of store feeds in: against their hashes, the rows that they belong to,
//! and the tallies of their tables.
//!
//! Deliberately absent: what the events of a log mean, which `server::verify` checks.

use std::collections::{BTreeMap, BTreeSet};

use super::tally::{PROBES, Tallies, Tally};
use super::{Chain, Health, StoredEvent, Upload, chain};

/// A check under way: games first, then the other tables, then the tallies.
#[derive(Debug, Default)]
pub(super) struct Check {
    health: Health,
    /// The last event of each game.
    games: BTreeMap<String, u64>,
    /// The keys of the texts that are stored by hash.
    texts: BTreeSet<String>,
    /// The other texts, by key.
    named: BTreeMap<String, String>,
    tallies: Tallies,
}

impl Check {
    pub(super) fn fault(&mut self, fault: String) {
        self.health.faults.push(fault);
    }

    pub(super) fn game(&mut self, id: &str, head: &Chain, rows: &[StoredEvent]) {
        self.health.games += 1;
        self.health.events += rows.len() as u64;
        self.tallies.games.add_game(id);
        self.games.insert(id.to_owned(), head.seq());
        if head.seq() == 0 {
            self.fault(format!("game {id} has no events"));
        }
        if let Err(fault) = Chain::new(id).verify_page(id, rows, usize::MAX, head) {
            self.fault(fault.to_string());
        }
    }

    /// Checks that the game of some events has a row.
    pub(super) fn game_of_events(&mut self, game: &str) {
        if !self.games.contains_key(game) {
            self.fault(format!("there are events of a game {game:?} that does not exist"));
        }
    }

    pub(super) fn snapshot(&mut self, game: &str, seq: u64, text: &str, hash: &str) {
        if hash != chain::hash_of_snapshot(game, seq, text) {
            self.fault(format!("the snapshot of game {game:?} is not what was written"));
        }
        match self.games.get(game) {
            None => {
                self.fault(format!("there is a snapshot of a game {game:?} that does not exist"))
            }
            Some(&last) if seq > last => {
                self.fault(format!(
                    "the snapshot of game {game} is of event {seq}, the last is {last}"
                ));
            }
            Some(_) => {}
        }
    }

    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.tallies.texts.add_text(key, text);
        if ["user-", "account-", "bot-"].iter().any(|it| key.starts_with(it)) {
            self.named.insert(key.to_owned(), text.to_owned());
            return;
        }
        if blake3::hash(text.as_bytes()).to_hex().as_str() != key {
            self.fault(format!("the text {key:?} is not what was written: its hash is another"));
        }
        self.texts.insert(key.to_owned());
    }

    /// Checks an upload; the texts must have been fed before.
    pub(super) fn upload(&mut self, upload: &Upload) {
        self.tallies.uploads.add_upload(upload);
        if !self.texts.contains(&upload.rules) {
            let Upload { owner, rules, .. } = upload;
            self.fault(format!("there is no text of the rules {rules:?} that {owner:?} keeps"));
        }
    }

    pub(super) fn record(&mut self, key: &str, value: &str) {
        self.tallies.records.add_record(key, value);
    }

    /// Checks the accounts of earlier versions: each is two texts that name each other (`user-` and `account-`), and a
    /// third one (`bot-`) if it is a program's.
    fn accounts(&mut self) {
        let alone = self.named.iter().filter(|it| !self.has_counterpart(it.0, it.1));
        let fault = |(key, _): (&String, &String)| {
            if key.starts_with("bot-") {
                return format!("there is no account that the text {key:?} is about");
            }
            format!("the text {key:?} is half of an account; the other half is gone, or another")
        };
        let faults: Vec<String> = alone.map(fault).collect();
        self.health.faults.extend(faults);
    }

    /// Whether the text that belongs to this one is there: the other half of its account, or the account of a `bot-`.
    fn has_counterpart(&self, key: &str, text: &str) -> bool {
        let named = |key: String| self.named.get(&key).map(String::as_str);
        if let Some(bot) = key.strip_prefix("bot-") {
            let user = named(format!("user-{bot}")).and_then(|it| it.split_once(' '));
            return user.is_some_and(|(name, _)| name == text);
        }
        if let Some(user) = key.strip_prefix("user-") {
            let Some((name, hash)) = text.split_once(' ') else { return false };
            return name.to_lowercase() == user && named(format!("account-{hash}")) == Some(name);
        }
        let hash = key.strip_prefix("account-").unwrap_or_default();
        named(format!("user-{}", text.to_lowercase())) == Some(&*format!("{text} {hash}"))
    }

    /// Checks the accounts, compares the tables with the tallies in the store, and returns what was found.
    pub(super) fn end(
        mut self,
        tallies: impl IntoIterator<Item = (String, i64, String)>,
    ) -> Health {
        self.accounts();
        let counted = self.tallies.by_table();
        let mut stored = BTreeMap::new();
        for (table, rows, digest) in tallies {
            if table == PROBES || counted.iter().any(|it| it.0 == table) {
                stored.insert(table, (rows, digest));
            } else {
                self.fault(format!(
                    "there is a tally of {table:?}, which is no table with a tally"
                ));
            }
        }
        let is_probed = |it: &(i64, String)| it.1 == Tally::of_probes(it.0).digest();
        if !stored.get(PROBES).is_some_and(is_probed) {
            self.fault(
                "the row of probes, which test whether the store can be written to, is damaged or gone"
                    .to_owned(),
            );
        }
        for (table, found) in counted {
            let fault = match stored.get(table) {
                Some((rows, digest)) if (*rows, digest) == (found.rows(), &found.digest()) => {
                    continue;
                }
                Some((rows, _)) if *rows != found.rows() => {
                    format!("{table}: {} rows are there, but {rows} were written", found.rows())
                }
                Some(_) => format!("{table}: some row is not what was written"),
                None => format!("{table}: the tally of its rows is gone"),
            };
            self.fault(fault);
        }
        self.health
    }
}
