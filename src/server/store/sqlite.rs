//! The store that needs no setup: one SQLite file with a write-ahead log, every commit synced to disk.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, params};

use super::check::Check;
use super::prune::{self, SETTLED};
use super::tally::{GAMES, PROBES, RECORDS, TEXTS, Tallies, Tally, UPLOADS, empty_records};
use super::{
    Append, Chain, Change, Conflict, GameState, Health, Store, StoreError, StoredEvent, Summary,
    Upload, Whole, after_all, chain, int, number, read_summary,
};

/// Raised when there are new tables. A store of an earlier format gets them when it is opened; one of a later format is
/// refused.
const FORMAT: i64 = 5;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    state TEXT NOT NULL,
    listed INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    summary TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS games_by_time ON games (listed, updated DESC);
CREATE TABLE IF NOT EXISTS events (
    game TEXT NOT NULL,
    seq INTEGER NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (game, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS snapshots (
    game TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    snapshot TEXT NOT NULL,
    hash TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (
    hash TEXT PRIMARY KEY,
    text TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uploads (
    owner TEXT NOT NULL,
    rules TEXT NOT NULL,
    name TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (owner, rules)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tallies (
    name TEXT PRIMARY KEY,
    rows INTEGER NOT NULL,
    digest TEXT NOT NULL
) WITHOUT ROWID;
";

/// One connection to the file.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    /// The store that `connection` is to a copy of.
    original: Option<Original>,
}

/// A store of an earlier format, which is not changed.
#[derive(Debug)]
struct Original {
    connection: Connection,
    format: i64,
    /// The copy, removed after the connection to it is closed.
    _copy: Temporary,
}

/// A database that is removed when this is dropped.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            // A missing file need not be removed.
            let _ = std::fs::remove_file(with_ending(&self.0, end));
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Broken(error.to_string())
            }
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

impl Sqlite {
    /// Opens the file, or creates it. A store of an earlier format gets the tables that it lacks.
    ///
    /// # Errors
    /// The file is not a database or is another program's, or it has a later format, or cannot be created.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let (mut connection, found) = connect(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        if found < FORMAT {
            make_tables(&mut connection)?;
        }
        if (1..FORMAT).contains(&found) {
            tracing::info!(
                from = found,
                to = FORMAT,
                "the store is in a newer format now, which earlier versions refuse"
            );
        }
        Ok(Self { connection, original: None })
    }

    /// Opens the file to look at it. A store of an earlier format stays as it is: a copy in the current format is made
    /// beside it and read instead, and removed when this is dropped.
    ///
    /// # Errors
    /// As [`Sqlite::open`]; or the copy cannot be made.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let (connection, format) = connect(path)?;
        if !(1..FORMAT).contains(&format) {
            return Self::open(path);
        }
        let copy = Temporary(with_ending(path, &format!("-copy-{}", std::process::id())));
        copy_to(&connection, &copy.0)?;
        let current = Self::open(&copy.0)?.connection;
        let original = Some(Original { connection, format, _copy: copy });
        Ok(Self { connection: current, original })
    }
}

impl Store for Sqlite {
    fn append(&mut self, batch: &[Append]) -> Result<Vec<Result<(), Conflict>>, StoreError> {
        let transaction = writing(&mut self.connection)?;
        let mut done = Vec::with_capacity(batch.len());
        for append in batch {
            done.push(append_one(&transaction, append)?);
        }
        tally(&transaction, GAMES, &Tally::of_new_games(batch, &done))?;
        let mut records = Tally::default();
        for key in empty_records(batch, &done) {
            let sql = "INSERT INTO records (key, value) VALUES (?1, '') ON CONFLICT DO NOTHING";
            if transaction.prepare_cached(sql)?.execute([key])? > 0 {
                records.add_record(key, "");
            }
        }
        tally(&transaction, RECORDS, &records)?;
        transaction.commit()?;
        Ok(done)
    }

    fn page(
        &mut self,
        game: &str,
        after: u64,
        limit: usize,
    ) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        // One transaction for the head and the events, so that they belong together.
        let transaction = self.connection.transaction()?;
        let Some(last) = head(&transaction, game)? else { return Ok(None) };
        if after >= last.seq() || limit == 0 {
            return Ok(Some(Vec::new()));
        }
        let begin = match after {
            0 => Some(Chain::new(game)),
            _ => {
                let sql = "SELECT hash FROM events WHERE game = ?1 AND seq = ?2";
                let mut statement = transaction.prepare_cached(sql)?;
                let hash = statement.query_row(params![game, int(after)], |row| row.get(0));
                hash.optional()?.map(|it| Chain::at(after, it))
            }
        };
        let rows = rows_after(&transaction, game, after, limit)?;
        begin.ok_or_else(|| chain::missing(game, after))?.verify_page(game, &rows, limit, &last)?;
        Ok(Some(rows))
    }

    fn snapshot(&mut self, game: &str) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT seq, snapshot, hash FROM snapshots WHERE game = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let read = |row: &rusqlite::Row<'_>| Ok((number(row.get(0)?), row.get(1)?, row.get(2)?));
        let found: Option<(u64, String, String)> = statement.query_row([game], read).optional()?;
        Ok(found.and_then(|(seq, text, hash)| {
            (hash == chain::hash_of_snapshot(game, seq, &text)).then_some((seq, text))
        }))
    }

    fn list(
        &mut self,
        state: Option<GameState>,
        after: Option<&str>,
        limit: usize,
        stale: u64,
    ) -> Result<Vec<Summary>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, summary FROM games WHERE listed = 1 AND (?1 IS NULL OR state = ?1)
             AND (state = 'over' OR updated >= ?4)
             AND (?3 IS NULL OR (updated, id) < (SELECT updated, id FROM games WHERE id = ?3))
             ORDER BY updated DESC, id DESC LIMIT ?2",
        )?;
        let state = state.map(GameState::word);
        let limit = int(limit as u64);
        let texts = statement.query_map(params![state, limit, after, int(stale)], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        texts
            .map(|it| it.map_err(StoreError::from).and_then(|it| read_summary(&it.0, &it.1)))
            .collect()
    }

    fn put_text(&mut self, hash: &str, text: &str) -> Result<bool, StoreError> {
        let transaction = writing(&mut self.connection)?;
        if !put_text(&transaction, hash, text)? {
            return Ok(false);
        }
        transaction.commit()?;
        Ok(true)
    }

    fn text(&mut self, hash: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM texts WHERE hash = ?1";
        Ok(self.connection.query_row(sql, [hash], |row| row.get(0)).optional()?)
    }

    fn add_upload(
        &mut self,
        upload: &Upload,
        text: &str,
        limit: usize,
    ) -> Result<bool, StoreError> {
        let Upload { owner, rules, name, at } = upload;
        let transaction = writing(&mut self.connection)?;
        let sql = "SELECT count(*) FROM uploads WHERE owner = ?1 AND rules <> ?2";
        let others: i64 = transaction.query_row(sql, params![owner, rules], |row| row.get(0))?;
        if number(others) >= limit as u64 || !put_text(&transaction, rules, text)? {
            return Ok(false);
        }
        let mut change = Tally::default();
        if let Some(old) = upload_of(&transaction, owner, rules)? {
            change.drop_upload(&old);
        }
        change.add_upload(upload);
        tally(&transaction, UPLOADS, &change)?;
        let sql = "INSERT OR REPLACE INTO uploads (owner, rules, name, at) VALUES (?1, ?2, ?3, ?4)";
        transaction.execute(sql, params![owner, rules, name, int(*at)])?;
        transaction.commit()?;
        Ok(true)
    }

    fn uploads(&mut self, owner: &str) -> Result<Vec<Upload>, StoreError> {
        let sql = "SELECT owner, rules, name, at FROM uploads WHERE owner = ?1 ORDER BY at, rules";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([owner], upload)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn drop_upload(&mut self, owner: &str, rules: &str) -> Result<bool, StoreError> {
        let transaction = writing(&mut self.connection)?;
        let Some(old) = upload_of(&transaction, owner, rules)? else { return Ok(false) };
        let mut change = Tally::default();
        change.drop_upload(&old);
        tally(&transaction, UPLOADS, &change)?;
        let sql = "DELETE FROM uploads WHERE owner = ?1 AND rules = ?2";
        transaction.execute(sql, params![owner, rules])?;
        transaction.commit()?;
        Ok(true)
    }

    fn record(&mut self, key: &str) -> Result<Option<String>, StoreError> {
        let mut statement =
            self.connection.prepare_cached("SELECT value FROM records WHERE key = ?1")?;
        Ok(statement.query_row([key], |row| row.get(0)).optional()?)
    }

    fn records(
        &mut self,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2 AND key > ?3
                   ORDER BY key LIMIT ?4";
        let mut statement = self.connection.prepare_cached(sql)?;
        let values = params![prefix, after_all(prefix), after, int(limit as u64)];
        let found = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    fn change(&mut self, changes: &[Change]) -> Result<bool, StoreError> {
        let transaction = writing(&mut self.connection)?;
        let mut difference = Tally::default();
        for Change { key, from, to } in changes {
            let sql = "SELECT value FROM records WHERE key = ?1";
            let now: Option<String> =
                transaction.query_row(sql, [key], |row| row.get(0)).optional()?;
            if now != *from {
                return Ok(false);
            }
            now.iter().for_each(|it| difference.drop_record(key, it));
            match to {
                None => transaction.execute("DELETE FROM records WHERE key = ?1", [key])?,
                Some(value) => {
                    difference.add_record(key, value);
                    let sql = "INSERT OR REPLACE INTO records (key, value) VALUES (?1, ?2)";
                    transaction.execute(sql, [key, value])?
                }
            };
        }
        tally(&transaction, RECORDS, &difference)?;
        transaction.commit()?;
        Ok(true)
    }

    fn summary(&mut self, game: &str) -> Result<Option<Summary>, StoreError> {
        let mut statement =
            self.connection.prepare_cached("SELECT summary FROM games WHERE id = ?1")?;
        let text: Option<String> = statement.query_row([game], |row| row.get(0)).optional()?;
        text.map(|it| read_summary(game, &it)).transpose()
    }

    fn older(&mut self, before: u64) -> Result<Vec<String>, StoreError> {
        let sql = format!("SELECT id FROM games WHERE updated < ?1 AND {SETTLED} ORDER BY id");
        ids(&self.connection, &sql, [int(before)])
    }

    fn forget(&mut self, games: &[String], before: u64) -> Result<usize, StoreError> {
        let transaction = writing(&mut self.connection)?;
        let pruned = prune::sqlite(&transaction, games, int(before))?;
        tally(&transaction, GAMES, &pruned.of_games)?;
        tally(&transaction, RECORDS, &pruned.of_records)?;
        transaction.commit()?;
        Ok(pruned.games)
    }

    fn games(&mut self) -> Result<Vec<String>, StoreError> {
        ids_of_games(&self.connection)
    }

    fn whole(&mut self, game: &str) -> Result<Option<Whole>, StoreError> {
        let transaction = self.connection.transaction()?;
        let sql = "SELECT state, listed, updated, summary FROM games WHERE id = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            let (state, listed, updated) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Whole { state, listed, updated, summary: row.get(3)?, rows: Vec::new() })
        };
        let found = transaction.query_row(sql, [game], read).optional()?;
        let Some(found) = found else { return Ok(None) };
        Ok(Some(Whole { rows: rows_after(&transaction, game, 0, usize::MAX)?, ..found }))
    }

    fn games_with_snapshot(&mut self) -> Result<Vec<String>, StoreError> {
        ids(&self.connection, "SELECT game FROM snapshots ORDER BY game", [])
    }

    fn earlier_format(&self) -> Option<i64> {
        self.original.as_ref().map(|it| it.format)
    }

    fn backup(&mut self, to: &Path) -> Result<(), StoreError> {
        copy_to(self.original.as_ref().map_or(&self.connection, |it| &it.connection), to)
    }

    fn probe(&mut self) -> Result<(), StoreError> {
        let transaction = writing(&mut self.connection)?;
        let sql = "SELECT rows FROM tallies WHERE name = ?1";
        let count: Option<i64> =
            transaction.query_row(sql, [PROBES], |row| row.get(0)).optional()?;
        let next = Tally::of_probes(count.unwrap_or_default().wrapping_add(1));
        put_tally(&transaction, PROBES, next)?;
        Ok(transaction.commit()?)
    }

    fn check(&mut self) -> Result<Health, StoreError> {
        // All tables as they are at one moment, whatever a server writes meanwhile.
        let transaction = self.connection.transaction()?;
        let mut check = Check::default();
        let sound: String =
            transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if sound != "ok" {
            check.fault(sound);
        }
        feed(&transaction, &mut check)?;
        let mut statement = transaction.prepare("SELECT name, rows, digest FROM tallies")?;
        let tallies = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let tallies: Vec<(String, i64, String)> = tallies.collect::<Result<_, _>>()?;
        Ok(check.end(tallies))
    }
}

/// A connection to a store, and the store's format: 0 for an empty database.
///
/// # Errors
/// As [`Sqlite::open`].
fn connect(path: &Path) -> Result<(Connection, i64), StoreError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    let url = || path.display().to_string();
    if is_foreign(&connection)? {
        let fault = "it is a database of another program".to_owned();
        return Err(StoreError::Url { url: url(), fault });
    }
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match found > FORMAT {
        true => Err(StoreError::Newer { url: url(), found, known: FORMAT }),
        false => Ok((connection, found)),
    }
}

/// A transaction that writes: before it reads anything, it waits for other writers.
fn writing(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
}

/// Copies a whole database, as it is at one moment.
fn copy_to(from: &Connection, to: &Path) -> Result<(), StoreError> {
    let not_text = || StoreError::Copy("its name must be UTF-8".into());
    let to = to.to_str().ok_or_else(not_text)?;
    let copied = from.execute("VACUUM INTO ?1", [to]);
    copied.map(|_| ()).map_err(|it| StoreError::Copy(it.to_string()))
}

fn with_ending(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

/// Whether a database has tables, but none of a store.
fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    let sql =
        "SELECT count(*) > 0 AND sum(name = 'games') = 0 FROM sqlite_master WHERE type = 'table'";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Creates the tables that are missing, and counts all tallies anew.
fn make_tables(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = writing(connection)?;
    transaction.execute_batch(TABLES)?;
    let mut tallies = Tallies::default();
    ids_of_games(&transaction)?.iter().for_each(|it| tallies.games.add_game(it));
    each_pair(&transaction, ALL_TEXTS, |key, text| tallies.texts.add_text(key, text))?;
    all_uploads(&transaction)?.iter().for_each(|it| tallies.uploads.add_upload(it));
    each_pair(&transaction, ALL_RECORDS, |key, value| tallies.records.add_record(key, value))?;
    for (name, tally) in tallies.by_table() {
        put_tally(&transaction, name, tally)?;
    }
    put_tally(&transaction, PROBES, Tally::of_probes(0))?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    Ok(transaction.commit()?)
}

fn put_tally(transaction: &Transaction<'_>, name: &str, tally: Tally) -> rusqlite::Result<usize> {
    let sql = "INSERT OR REPLACE INTO tallies (name, rows, digest) VALUES (?1, ?2, ?3)";
    transaction.execute(sql, params![name, tally.rows(), tally.digest()])
}

/// Feeds the rows of all tables but the tallies into a check. From the table of games it takes the end of each log only.
fn feed(connection: &Connection, check: &mut Check) -> Result<(), StoreError> {
    for id in ids_of_games(connection)? {
        if let Some(head) = head(connection, &id)? {
            check.game(&id, &head, &rows_after(connection, &id, 0, usize::MAX)?);
        }
    }
    let of_events = ids(connection, "SELECT DISTINCT game FROM events", [])?;
    of_events.iter().for_each(|it| check.game_of_events(it));
    let mut statement = connection.prepare("SELECT game, seq, snapshot, hash FROM snapshots")?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let (game, text, hash): (String, String, String) = (row.get(0)?, row.get(2)?, row.get(3)?);
        check.snapshot(&game, number(row.get(1)?), &text, &hash);
    }
    each_pair(connection, ALL_TEXTS, |key, text| check.text(key, text))?;
    all_uploads(connection)?.iter().for_each(|it| check.upload(it));
    each_pair(connection, ALL_RECORDS, |key, value| check.record(key, value))
}

fn ids_of_games(connection: &Connection) -> Result<Vec<String>, StoreError> {
    ids(connection, "SELECT id FROM games ORDER BY id", [])
}

/// The ids of games that a query finds.
fn ids(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map(values, |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// The queries for all texts and all records.
const ALL_TEXTS: &str = "SELECT hash, text FROM texts";
const ALL_RECORDS: &str = "SELECT key, value FROM records";

/// Calls `see` with the two columns of each row of a query.
fn each_pair(
    connection: &Connection,
    sql: &str,
    mut see: impl FnMut(&str, &str),
) -> Result<(), StoreError> {
    let mut statement = connection.prepare(sql)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let (one, other): (String, String) = (row.get(0)?, row.get(1)?);
        see(&one, &other);
    }
    Ok(())
}

fn all_uploads(connection: &Connection) -> Result<Vec<Upload>, StoreError> {
    let mut statement = connection.prepare("SELECT owner, rules, name, at FROM uploads")?;
    let found = statement.query_map([], upload)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn upload_of(
    connection: &Connection,
    owner: &str,
    rules: &str,
) -> Result<Option<Upload>, StoreError> {
    let sql = "SELECT owner, rules, name, at FROM uploads WHERE owner = ?1 AND rules = ?2";
    Ok(connection.query_row(sql, [owner, rules], upload).optional()?)
}

fn upload(row: &rusqlite::Row<'_>) -> rusqlite::Result<Upload> {
    let at = number(row.get(3)?);
    Ok(Upload { owner: row.get(0)?, rules: row.get(1)?, name: row.get(2)?, at })
}

/// Stores texts, in the tally, too. False if another text has one of their keys: then the transaction must not be
/// committed.
fn put_text(transaction: &Transaction<'_>, hash: &str, text: &str) -> Result<bool, StoreError> {
    let sql = "SELECT text FROM texts WHERE hash = ?1";
    let known: Option<String> = transaction.query_row(sql, [hash], |row| row.get(0)).optional()?;
    if let Some(known) = known {
        return Ok(known == text);
    }
    let sql = "INSERT INTO texts (hash, text) VALUES (?1, ?2)";
    transaction.execute(sql, params![hash, text])?;
    let mut change = Tally::default();
    change.add_text(hash, text);
    tally(transaction, TEXTS, &change)?;
    Ok(true)
}

/// Adds a change of a table to its tally. A damaged tally is left as it is, so that the check finds it.
fn tally(transaction: &Transaction<'_>, table: &str, change: &Tally) -> Result<(), StoreError> {
    if change.is_empty() {
        return Ok(());
    }
    let sql = "SELECT rows, digest FROM tallies WHERE name = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
    let found = transaction.prepare_cached(sql)?.query_row([table], read).optional()?;
    let Some(mut now) = found.and_then(|it| Tally::read(it.0, &it.1)) else { return Ok(()) };
    now.join(change);
    let sql = "UPDATE tallies SET rows = ?2, digest = ?3 WHERE name = ?1";
    transaction.prepare_cached(sql)?.execute(params![table, now.rows(), now.digest()])?;
    Ok(())
}

fn append_one(
    transaction: &Transaction<'_>,
    append: &Append,
) -> Result<Result<(), Conflict>, StoreError> {
    // A file has no nodes, so there are no leases.
    let Append { game, expected, payloads, summary, snapshot, .. } = append;
    let mut chain = head(transaction, game)?.unwrap_or_else(|| Chain::new(game));
    if chain.seq() != *expected {
        let (game, expected, found) = (game.clone(), *expected, chain.seq());
        return Ok(Err(Conflict::Outdated { game, expected, found }));
    }
    let mut insert = transaction
        .prepare_cached("INSERT INTO events (game, seq, payload, hash) VALUES (?1, ?2, ?3, ?4)")?;
    for payload in payloads {
        let row = chain.next(payload);
        insert.execute(params![game, int(row.seq), row.payload, row.hash])?;
    }
    let text = serde_json::to_string(summary).unwrap_or_default();
    transaction
        .prepare_cached(
            "INSERT INTO games (id, seq, hash, state, listed, updated, summary)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET seq = ?2, hash = ?3, state = ?4, listed = ?5,
                 updated = ?6, summary = ?7",
        )?
        .execute(params![
            game,
            int(chain.seq()),
            chain.hash(),
            summary.state.word(),
            summary.listed,
            int(summary.updated),
            text
        ])?;
    if let Some(text) = snapshot {
        let sql =
            "INSERT OR REPLACE INTO snapshots (game, seq, snapshot, hash) VALUES (?1, ?2, ?3, ?4)";
        let hash = chain::hash_of_snapshot(game, chain.seq(), text);
        transaction.prepare_cached(sql)?.execute(params![game, int(chain.seq()), text, hash])?;
    }
    Ok(Ok(()))
}

/// The last event of a game, as the table of games has it.
fn head(connection: &Connection, game: &str) -> Result<Option<Chain>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT seq, hash FROM games WHERE id = ?1")?;
    let found = statement.query_row([game], |row| Ok(Chain::at(number(row.get(0)?), row.get(1)?)));
    Ok(found.optional()?)
}

fn rows_after(
    connection: &Connection,
    game: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, payload, hash FROM events WHERE game = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let rows = statement.query_map(params![game, int(after), int(limit as u64)], |row| {
        Ok(StoredEvent { seq: number(row.get(0)?), payload: row.get(1)?, hash: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
