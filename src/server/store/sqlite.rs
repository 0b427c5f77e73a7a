//! The store that needs no setup: one SQLite file with a write-ahead log, every commit synced to disk.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ErrorCode, ToSql, Transaction, params_from_iter};

use super::tables::{Row, Tables, Value, making};
use super::{Append, Chain, Store, StoreError};

/// Raised when there are new tables. A store of an earlier format gets them when it is opened; one of a later format is
/// refused.
const FORMAT: i64 = 5;

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

/// The file of a database, which is removed when this is dropped.
#[derive(Debug)]
pub struct Temporary(pub PathBuf);

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
    fn once(&mut self) -> Result<Box<dyn Tables + '_>, StoreError> {
        Ok(Box::new(On::Plain(&self.connection)))
    }

    fn look(&mut self) -> Result<Box<dyn Tables + '_>, StoreError> {
        Ok(Box::new(On::Within(self.connection.transaction()?)))
    }

    fn write(&mut self) -> Result<Box<dyn Tables + '_>, StoreError> {
        Ok(Box::new(On::Within(writing(&mut self.connection)?)))
    }

    fn backup(&mut self, to: &Path) -> Result<(), StoreError> {
        copy_to(self.original.as_ref().map_or(&self.connection, |it| &it.connection), to)
    }

    fn earlier_format(&self) -> Option<i64> {
        self.original.as_ref().map(|it| it.format)
    }
}

/// A connection, or a transaction on it.
enum On<'c> {
    Plain(&'c Connection),
    Within(Transaction<'c>),
}

impl Deref for On<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Plain(it) => it,
            Self::Within(it) => it,
        }
    }
}

impl Tables for On<'_> {
    fn run(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        Ok(self.prepare_cached(sql)?.execute(params_from_iter(values))? as u64)
    }

    fn each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        see: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = self.prepare_cached(sql)?;
        let mut found = statement.query(params_from_iter(values))?;
        while let Some(row) = found.next()? {
            see(row)?;
        }
        Ok(())
    }

    /// The transaction has locked the whole file, which has no nodes, and so no leases.
    fn lock_game(&mut self, append: &Append) -> Result<(Chain, bool), StoreError> {
        let tables: &mut dyn Tables = self;
        Ok((tables.head(&append.game)?.unwrap_or_else(|| Chain::new(&append.game)), true))
    }

    fn flaw(&mut self) -> Result<Option<String>, StoreError> {
        let sound: String = self.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        Ok((sound != "ok").then_some(sound))
    }

    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        match *self {
            Self::Plain(_) => Ok(()),
            Self::Within(it) => Ok(it.commit()?),
        }
    }
}

impl Row for rusqlite::Row<'_> {
    fn text(&self, at: usize) -> Result<String, StoreError> {
        Ok(self.get(at)?)
    }

    fn nullable(&self, at: usize) -> Result<Option<String>, StoreError> {
        Ok(self.get(at)?)
    }

    fn int(&self, at: usize) -> Result<i64, StoreError> {
        Ok(self.get(at)?)
    }

    fn truth(&self, at: usize) -> Result<i64, StoreError> {
        self.int(at)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Value::Text(it) => it.to_sql(),
            Value::Nullable(it) => it.to_sql(),
            Value::Int(it) => it.to_sql(),
            Value::Truth(it) => it.to_sql(),
        }
    }
}

/// A connection to a store, and the store's format: 0 for an empty database.
///
/// # Errors
/// As [`Sqlite::open`].
fn connect(path: &Path) -> Result<(Connection, i64), StoreError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    // All statements of a store, and not only the last few.
    connection.set_prepared_statement_cache_capacity(64);
    let url = || path.display().to_string();
    if is_foreign(&connection)? {
        let fault = "it is a database of another program".to_owned();
        return Err(StoreError::Url { url: url(), fault });
    }
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > FORMAT {
        return Err(StoreError::Newer { url: url(), found, known: FORMAT });
    }
    Ok((connection, found))
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
    let mut tables: Box<On<'_>> = Box::new(On::Within(writing(connection)?));
    tables.execute_batch(&making("", " WITHOUT ROWID"))?;
    let all: &mut dyn Tables = tables.as_mut();
    all.make_tallies()?;
    tables.pragma_update(None, "user_version", FORMAT)?;
    tables.commit()
}
