//! The tables of a store, in SQL that SQLite and PostgreSQL understand: a kind of store implements only how statements are
//! run ([`Tables`]).
//!
//! Deliberately absent: the operations of a store (`interface`).

use super::check::Check;
use super::tally::{PROBES, Tallies, Tally};
use super::{Append, Chain, Conflict, StoreError, StoredEvent, Upload, chain, int, number};

use Value::{Int, Text, Truth};

/// Creates the tables that are missing. A kind of store adds `{key}` to the type of the keys of records, which are ordered
/// by their bytes, and `{end}` to each table.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL,
    state TEXT NOT NULL,
    listed BOOLEAN NOT NULL,
    updated BIGINT NOT NULL,
    summary TEXT NOT NULL
){end};
CREATE INDEX IF NOT EXISTS games_by_time ON games (listed, updated DESC);
CREATE TABLE IF NOT EXISTS events (
    game TEXT NOT NULL,
    seq BIGINT NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (game, seq)
){end};
CREATE TABLE IF NOT EXISTS snapshots (
    game TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    snapshot TEXT NOT NULL,
    hash TEXT NOT NULL
){end};
CREATE TABLE IF NOT EXISTS texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL){end};
CREATE TABLE IF NOT EXISTS uploads (
    owner TEXT NOT NULL,
    rules TEXT NOT NULL,
    name TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (owner, rules)
){end};
CREATE TABLE IF NOT EXISTS records (key TEXT{key} PRIMARY KEY, value TEXT NOT NULL){end};
CREATE TABLE IF NOT EXISTS tallies (
    name TEXT PRIMARY KEY,
    rows BIGINT NOT NULL,
    digest TEXT NOT NULL
){end};
";

/// The statements that make the tables.
pub(super) fn making(key: &str, end: &str) -> String {
    TABLES.replace("{key}", key).replace("{end}", end)
}

/// A value of a statement's parameter.
#[derive(Debug, Clone, Copy)]
pub enum Value<'v> {
    Text(&'v str),
    Nullable(Option<&'v str>),
    Int(i64),
    Truth(bool),
}

/// A row that a query finds; its columns are counted from 0.
pub trait Row {
    fn text(&self, at: usize) -> Result<String, StoreError>;
    fn nullable(&self, at: usize) -> Result<Option<String>, StoreError>;
    fn int(&self, at: usize) -> Result<i64, StoreError>;
    /// A truth value as a number.
    fn truth(&self, at: usize) -> Result<i64, StoreError>;
}

/// The tables of a store, within a transaction or without one.
pub trait Tables {
    /// Executes a statement, whose parameters are written `?1`. Returns the number of rows that it changed.
    fn run(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError>;

    /// Calls `see` with each row that a query finds.
    fn each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        see: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>;

    /// Locks a game, and returns its last event, and whether the append's lease of it holds.
    fn lock_game(&mut self, append: &Append) -> Result<(Chain, bool), StoreError>;

    /// The end of a query for rows that are to be changed, so that no other transaction changes them meanwhile.
    fn for_update(&self) -> &'static str {
        ""
    }

    /// What follows a part of a key that is compared with an id: keys have an order of their own, but the index of games
    /// has that of the database.
    fn as_id(&self) -> &'static str {
        ""
    }

    /// Waits for other transactions that add to the rule sets of this owner.
    fn lock_owner(&mut self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Tells other nodes that a game has new events, up to this one.
    fn announce(&mut self, _: &str, _: u64) -> Result<(), StoreError> {
        Ok(())
    }

    /// What is wrong with the database as a whole.
    fn flaw(&mut self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// Ends the transaction, and makes its changes durable.
    fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

impl dyn Tables + '_ {
    /// What `read` makes of each row that a query finds.
    pub(super) fn all<T>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: impl Fn(&dyn Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        self.each(sql, values, &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// What `read` makes of the only row that a query can find.
    pub(super) fn first<T>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: impl Fn(&dyn Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.all(sql, values, read)?.pop())
    }

    /// The texts in the first column of the rows that a query finds.
    pub(super) fn texts(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<String>, StoreError> {
        self.all(sql, values, |row| row.text(0))
    }

    /// The texts in the first two columns of the rows that a query finds.
    pub(super) fn pairs(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<(String, String)>, StoreError> {
        self.all(sql, values, |row| Ok((row.text(0)?, row.text(1)?)))
    }

    /// Calls `see` with the two columns of each row of a table.
    pub(super) fn each_pair(
        &mut self,
        sql: &str,
        mut see: impl FnMut(&str, &str),
    ) -> Result<(), StoreError> {
        self.each(sql, &[], &mut |row| {
            see(&row.text(0)?, &row.text(1)?);
            Ok(())
        })
    }

    /// The last event of a game, as the table of games has it.
    pub(super) fn head(&mut self, game: &str) -> Result<Option<Chain>, StoreError> {
        let read = |row: &dyn Row| Ok(Chain::at(number(row.int(0)?), row.text(1)?));
        self.first("SELECT seq, hash FROM games WHERE id = ?1", &[Text(game)], read)
    }

    pub(super) fn rows_after(
        &mut self,
        game: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = "SELECT seq, payload, hash FROM events WHERE game = ?1 AND seq > ?2
                   ORDER BY seq LIMIT ?3";
        self.all(sql, &[Text(game), Int(int(after)), Int(int(limit as u64))], |row| {
            Ok(StoredEvent { seq: number(row.int(0)?), payload: row.text(1)?, hash: row.text(2)? })
        })
    }

    pub(super) fn upload_of(
        &mut self,
        owner: &str,
        rules: &str,
    ) -> Result<Option<Upload>, StoreError> {
        let lock = self.for_update();
        let sql = format!("{ALL_UPLOADS} WHERE owner = ?1 AND rules = ?2{lock}");
        self.first(&sql, &[Text(owner), Text(rules)], upload)
    }

    /// Keeps a text, and returns the change of the tally. `None` if its hash has another text.
    pub(super) fn put_text(&mut self, hash: &str, text: &str) -> Result<Option<Tally>, StoreError> {
        let mut change = Tally::default();
        let sql = "INSERT INTO texts (hash, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        if self.run(sql, &[Text(hash), Text(text)])? > 0 {
            change.add_text(hash, text);
            return Ok(Some(change));
        }
        let known = self.texts(TEXT_OF, &[Text(hash)])?.pop();
        Ok(known.is_none_or(|it| it == text).then_some(change))
    }

    /// Adds a change of a table to its tally. A damaged tally is left as it is, so that the check finds it.
    pub(super) fn tally(&mut self, table: &str, change: &Tally) -> Result<(), StoreError> {
        if change.is_empty() {
            return Ok(());
        }
        let sql = format!("SELECT rows, digest FROM tallies WHERE name = ?1{}", self.for_update());
        let found =
            self.first(&sql, &[Text(table)], |row| Ok(Tally::read(row.int(0)?, &row.text(1)?)))?;
        let Some(mut now) = found.flatten() else { return Ok(()) };
        now.join(change);
        let sql = "UPDATE tallies SET rows = ?2, digest = ?3 WHERE name = ?1";
        self.run(sql, &[Text(table), Int(now.rows()), Text(&now.digest())])?;
        Ok(())
    }

    pub(super) fn put_tally(&mut self, name: &str, tally: Tally) -> Result<(), StoreError> {
        let sql = "INSERT INTO tallies (name, rows, digest) VALUES (?1, ?2, ?3)
                   ON CONFLICT (name) DO UPDATE SET rows = ?2, digest = ?3";
        self.run(sql, &[Text(name), Int(tally.rows()), Text(&tally.digest())])?;
        Ok(())
    }

    /// Counts all tallies anew, since tables that were made before there were tallies have none.
    pub(super) fn make_tallies(&mut self) -> Result<(), StoreError> {
        let mut tallies = Tallies::default();
        self.texts(ALL_GAMES, &[])?.iter().for_each(|it| tallies.games.add_game(it));
        self.each_pair(ALL_TEXTS, |key, text| tallies.texts.add_text(key, text))?;
        self.all(ALL_UPLOADS, &[], upload)?.iter().for_each(|it| tallies.uploads.add_upload(it));
        self.each_pair(ALL_RECORDS, |key, value| tallies.records.add_record(key, value))?;
        for (name, tally) in tallies.by_table() {
            self.put_tally(name, tally)?;
        }
        self.put_tally(PROBES, Tally::of_probes(0))
    }

    /// Feeds every row but the tallies into a check: events and snapshots one game at a time, the others table by table.
    /// From the table of games it takes the end of each log only.
    pub(super) fn feed(&mut self, check: &mut Check) -> Result<(), StoreError> {
        for id in self.texts(ALL_GAMES, &[])? {
            if let Some(head) = self.head(&id)? {
                check.game(&id, &head, &self.rows_after(&id, 0, usize::MAX)?);
            }
        }
        let of_events = self.texts("SELECT DISTINCT game FROM events", &[])?;
        of_events.iter().for_each(|it| check.game_of_events(it));
        for game in self.texts(ALL_SNAPSHOTS, &[])? {
            let sql = "SELECT seq, snapshot, hash FROM snapshots WHERE game = ?1";
            self.each(sql, &[Text(&game)], &mut |row| {
                check.snapshot(&game, number(row.int(0)?), &row.text(1)?, &row.text(2)?);
                Ok(())
            })?;
        }
        self.each_pair(ALL_TEXTS, |key, text| check.text(key, text))?;
        self.all(ALL_UPLOADS, &[], upload)?.iter().for_each(|it| check.upload(it));
        self.each_pair(ALL_RECORDS, |key, value| check.record(key, value))
    }

    pub(super) fn append(&mut self, append: &Append) -> Result<Result<(), Conflict>, StoreError> {
        let Append { game, expected, payloads, summary, snapshot, .. } = append;
        let (mut chain, is_ours) = self.lock_game(append)?;
        if chain.seq() != *expected {
            let (game, expected, found) = (game.clone(), *expected, chain.seq());
            return Ok(Err(Conflict::Outdated { game, expected, found }));
        }
        if !is_ours {
            return Ok(Err(Conflict::Lost { game: game.clone() }));
        }
        for payload in payloads {
            let row = chain.next(payload);
            let sql = "INSERT INTO events (game, seq, payload, hash) VALUES (?1, ?2, ?3, ?4)";
            let values = [Text(game), Int(int(row.seq)), Text(&row.payload), Text(&row.hash)];
            self.run(sql, &values)?;
        }
        let sql = "INSERT INTO games (id, seq, hash, state, listed, updated, summary)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                   ON CONFLICT (id) DO UPDATE SET seq = ?2, hash = ?3, state = ?4, listed = ?5,
                       updated = ?6, summary = ?7";
        let values = [
            Text(game),
            Int(int(chain.seq())),
            Text(chain.hash()),
            Text(summary.state.word()),
            Truth(summary.listed),
            Int(int(summary.updated)),
            Text(&serde_json::to_string(summary).unwrap_or_default()),
        ];
        self.run(sql, &values)?;
        if let Some(text) = snapshot {
            let sql = "INSERT INTO snapshots (game, seq, snapshot, hash) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (game) DO UPDATE SET seq = ?2, snapshot = ?3, hash = ?4";
            let hash = chain::hash_of_snapshot(game, chain.seq(), text);
            self.run(sql, &[Text(game), Int(int(chain.seq())), Text(text), Text(&hash)])?;
        }
        if !payloads.is_empty() {
            self.announce(game, chain.seq())?;
        }
        Ok(Ok(()))
    }
}

pub(super) const ALL_GAMES: &str = "SELECT id FROM games ORDER BY id";
pub(super) const ALL_SNAPSHOTS: &str = "SELECT game FROM snapshots ORDER BY game";
pub(super) const ALL_TEXTS: &str = "SELECT hash, text FROM texts";
pub(super) const TEXT_OF: &str = "SELECT text FROM texts WHERE hash = ?1";
pub(super) const ALL_RECORDS: &str = "SELECT key, value FROM records";
pub(super) const RECORD_OF: &str = "SELECT value FROM records WHERE key = ?1";
pub(super) const ALL_UPLOADS: &str = "SELECT owner, rules, name, at FROM uploads";

/// A row of [`ALL_UPLOADS`].
pub(super) fn upload(row: &dyn Row) -> Result<Upload, StoreError> {
    let (owner, rules, name) = (row.text(0)?, row.text(1)?, row.nullable(2)?);
    Ok(Upload { owner, rules, name, at: number(row.int(3)?) })
}
