//! The store for several nodes: PostgreSQL.
//!
//! An append locks the row of its game. It is refused with a conflict if its node expected another number of events, or
//! has lost the game to another node (`lease.rs`). Appends are announced with NOTIFY: nodes that have the game in memory
//! read the new events.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use postgres::types::ToSql;
use postgres::{Client, NoTls, Statement, Transaction};

use super::lease::LEASE;
use super::listen::{EVENTS_CHANNEL, channel_of};
use super::tables::Value::{Int, Nullable, Text, Truth};
use super::tables::{Row, Tables, Value, making};
use super::{Append, Chain, Claim, Lease, Nodes, Store, StoreError, int, number};

/// Raised when there are new tables. A store of an earlier format gets them when it is opened; one of a later format is
/// refused.
const FORMAT: i64 = 1;

/// What a store has for its nodes, beside the tables of every store. A game whose `seq` is 0 is being made: its row is
/// there to be locked, and no other transaction sees it.
const FOR_NODES: &str = "
CREATE TABLE IF NOT EXISTS nodes (id TEXT PRIMARY KEY, until TIMESTAMPTZ NOT NULL);
ALTER TABLE games ADD COLUMN IF NOT EXISTS owner TEXT;
ALTER TABLE games ADD COLUMN IF NOT EXISTS epoch BIGINT NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS games_by_owner ON games (owner) WHERE owner IS NOT NULL;
CREATE TABLE IF NOT EXISTS store_format (number BIGINT NOT NULL);
";

/// Maximum number of bytes of a message between nodes, a little less than NOTIFY takes.
const MESSAGE: usize = 7_900;

/// Key of the lock that keeps two nodes from creating the tables at once.
const TABLES_LOCK: i64 = 0x7275_6c65_6d61_7465;

/// One connection to a database.
pub struct Postgres {
    url: String,
    /// Whether its commits may return before they are on disk.
    quick: bool,
    /// `None` before the first request and after the connection broke: the next request connects.
    client: Option<Connected>,
}

/// A connection with its prepared statements, by their texts.
struct Connected {
    client: Client,
    statements: HashMap<String, Statement>,
}

/// A connection or a transaction on it, with the connection's prepared statements.
struct On<'c> {
    client: Held<'c>,
    statements: &'c mut HashMap<String, Statement>,
}

enum Held<'c> {
    Plain(&'c mut Client),
    Within(Transaction<'c>),
}

/// The URL may contain a password, so it is not shown.
impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("connected", &self.client.is_some()).finish()
    }
}

impl From<postgres::Error> for StoreError {
    fn from(error: postgres::Error) -> Self {
        // The database's own message says more than the general one.
        let message = error.as_db_error().map(|it| it.message().to_owned());
        Self::Unavailable(message.unwrap_or_else(|| error.to_string()))
    }
}

impl Postgres {
    /// Connects, and creates the tables if they do not exist.
    ///
    /// # Errors
    /// The database cannot be reached, has a later format, or refuses to create the tables.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let mut store = Self { url: url.to_owned(), quick: false, client: None };
        let Connected { client, statements } = store.connected()?;
        let mut transaction = client.transaction()?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&TABLES_LOCK])?;
        let found = format_of(&mut transaction)?;
        if found > FORMAT {
            // The URL may contain a password.
            let url = "the database".into();
            return Err(StoreError::Newer { url, found, known: FORMAT });
        }
        // Tables of the current format are not even locked, since other nodes may be at work.
        if found < FORMAT {
            transaction.batch_execute(&making(" COLLATE \"C\"", ""))?;
            transaction.batch_execute(FOR_NODES)?;
            let lock = "LOCK TABLE games, texts, uploads, records IN SHARE ROW EXCLUSIVE MODE";
            transaction.batch_execute(lock)?;
            transaction.batch_execute("DELETE FROM store_format")?;
            transaction.execute("INSERT INTO store_format VALUES ($1)", &[&FORMAT])?;
        }
        let mut tables: Box<dyn Tables + '_> =
            Box::new(On { client: Held::Within(transaction), statements });
        if found < FORMAT {
            tables.make_tallies()?;
        }
        tables.commit()?;
        Ok(store)
    }

    /// A connection for leases and messages between nodes, which does not wait for the disk. No append is on disk before
    /// the claim that allows it: the database's log has them in this order.
    ///
    /// # Errors
    /// As [`Postgres::open`].
    pub(super) fn open_for_nodes(url: &str) -> Result<Self, StoreError> {
        let store = Self::open(url)?;
        Ok(Self { quick: true, client: None, ..store })
    }

    /// The connection, made anew if it broke.
    fn connected(&mut self) -> Result<&mut Connected, StoreError> {
        let connected = match self.client.take() {
            Some(it) if !it.client.is_closed() => it,
            _ => {
                let mut client = Client::connect(&self.url, NoTls)?;
                if self.quick {
                    client.batch_execute("SET synchronous_commit = off")?;
                }
                Connected { client, statements: HashMap::new() }
            }
        };
        Ok(self.client.insert(connected))
    }
}

impl Store for Postgres {
    fn once(&mut self) -> Result<Box<dyn Tables + '_>, StoreError> {
        let Connected { client, statements } = self.connected()?;
        Ok(Box::new(On { client: Held::Plain(client), statements }))
    }

    fn look(&mut self) -> Result<Box<dyn Tables + '_>, StoreError> {
        let Connected { client, statements } = self.connected()?;
        Ok(Box::new(On { client: Held::Within(one_view(client)?), statements }))
    }

    fn write(&mut self) -> Result<Box<dyn Tables + '_>, StoreError> {
        let Connected { client, statements } = self.connected()?;
        Ok(Box::new(On { client: Held::Within(client.transaction()?), statements }))
    }

    fn backup(&mut self, _: &Path) -> Result<(), StoreError> {
        Err(StoreError::Copy("PostgreSQL's own pg_dump copies a database".into()))
    }
}

/// A transaction that reads all tables as they are at one moment.
fn one_view(client: &mut Client) -> Result<Transaction<'_>, postgres::Error> {
    let builder = client.build_transaction();
    builder.isolation_level(postgres::IsolationLevel::RepeatableRead).read_only(true).start()
}

impl On<'_> {
    fn statement(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let text = sql.replace('?', "$");
        let statement = match &mut self.client {
            Held::Plain(it) => it.prepare(&text)?,
            Held::Within(it) => it.prepare(&text)?,
        };
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn query(&mut self, sql: &str, values: &[Value<'_>]) -> Result<Vec<postgres::Row>, StoreError> {
        // No text in the database has a zero byte, which keys from clients may have: a query with one would fail.
        if values.iter().any(|it| matches!(it, Text(it) | Nullable(Some(it)) if it.contains('\0')))
        {
            return Ok(Vec::new());
        }
        let (statement, values) = (self.statement(sql)?, parameters(values));
        Ok(match &mut self.client {
            Held::Plain(it) => it.query(&statement, &values)?,
            Held::Within(it) => it.query(&statement, &values)?,
        })
    }
}

impl Tables for On<'_> {
    fn run(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let (statement, values) = (self.statement(sql)?, parameters(values));
        Ok(match &mut self.client {
            Held::Plain(it) => it.execute(&statement, &values)?,
            Held::Within(it) => it.execute(&statement, &values)?,
        })
    }

    fn each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        see: &mut dyn FnMut(&dyn Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.query(sql, values)?.iter().try_for_each(|row| see(row))
    }

    fn lock_game(&mut self, append: &Append) -> Result<(Chain, bool), StoreError> {
        let Append { game, expected, lease, .. } = append;
        let lease = lease.as_ref().map(|it| (&*it.node, int(it.epoch)));
        if *expected == 0 {
            // The row is made before it is locked, so that two nodes that make the same game wait for each other, too.
            let sql =
                "INSERT INTO games (id, seq, hash, state, listed, updated, summary, owner, epoch)
                 VALUES (?1, 0, ?2, 'waiting', FALSE, 0, '{}', ?3, ?4) ON CONFLICT DO NOTHING";
            let (owner, epoch) = (lease.map(|it| it.0), lease.map_or(0, |it| it.1));
            let start = Chain::new(game);
            self.run(sql, &[Text(game), Text(start.hash()), Nullable(owner), Int(epoch)])?;
        }
        let sql = "SELECT seq, hash, owner, epoch FROM games WHERE id = ?1 FOR UPDATE";
        let Some(row) = self.query(sql, &[Text(game)])?.pop() else {
            return Ok((Chain::new(game), true));
        };
        let owner = (row.try_get::<_, Option<&str>>(2)?, row.try_get::<_, i64>(3)?);
        let is_ours = lease.is_none_or(|it| owner == (Some(it.0), it.1));
        Ok((Chain::at(number(row.int(0)?), row.text(1)?), is_ours))
    }

    fn for_update(&self) -> &'static str {
        " FOR UPDATE"
    }

    fn as_id(&self) -> &'static str {
        " COLLATE \"default\""
    }

    fn lock_owner(&mut self, owner: &str) -> Result<(), StoreError> {
        self.run("SELECT pg_advisory_xact_lock(hashtext(?1))", &[Text(owner)])?;
        Ok(())
    }

    fn announce(&mut self, game: &str, seq: u64) -> Result<(), StoreError> {
        let news = format!("{game} {seq}");
        self.run("SELECT pg_notify(?1, ?2)", &[Text(EVENTS_CHANNEL), Text(&news)])?;
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<(), StoreError> {
        match self.client {
            Held::Plain(_) => Ok(()),
            Held::Within(it) => Ok(it.commit()?),
        }
    }
}

fn parameters<'v>(values: &'v [Value<'_>]) -> Vec<&'v (dyn ToSql + Sync)> {
    let parameter = |it: &'v Value<'_>| -> &'v (dyn ToSql + Sync) {
        match it {
            Text(it) => it,
            Nullable(it) => it,
            Int(it) => it,
            Truth(it) => it,
        }
    };
    values.iter().map(parameter).collect()
}

impl Row for postgres::Row {
    fn text(&self, at: usize) -> Result<String, StoreError> {
        Ok(self.try_get(at)?)
    }

    fn nullable(&self, at: usize) -> Result<Option<String>, StoreError> {
        Ok(self.try_get(at)?)
    }

    fn int(&self, at: usize) -> Result<i64, StoreError> {
        Ok(self.try_get(at)?)
    }

    fn truth(&self, at: usize) -> Result<i64, StoreError> {
        Ok(self.try_get::<_, bool>(at)?.into())
    }
}

/// The format of a store; 0 before it has one.
fn format_of(transaction: &mut Transaction<'_>) -> Result<i64, StoreError> {
    let sql = "SELECT to_regclass('store_format') IS NOT NULL";
    if !transaction.query_one(sql, &[])?.get::<_, bool>(0) {
        return Ok(0);
    }
    let row = transaction.query_opt("SELECT number FROM store_format", &[])?;
    Ok(row.map_or(0, |it| it.get(0)))
}

impl Nodes for Postgres {
    fn renew(&mut self, node: &str) -> Result<(), StoreError> {
        // The rows of nodes that ended long ago are removed.
        let sql =
            "WITH gone AS (DELETE FROM nodes WHERE until < clock_timestamp() - INTERVAL '1 hour')
                   INSERT INTO nodes (id, until)
                   VALUES ($1, clock_timestamp() + $2 * INTERVAL '1 millisecond')
                   ON CONFLICT (id) DO UPDATE SET until = EXCLUDED.until";
        let lease = LEASE.as_millis() as f64;
        self.connected()?.client.execute(sql, &[&node, &lease])?;
        Ok(())
    }

    fn claim(&mut self, game: &str, node: &Arc<str>) -> Result<Option<Claim>, StoreError> {
        let sql = "UPDATE games SET owner = $2, epoch = epoch + 1
                   WHERE id = $1 AND seq > 0 AND (owner IS NULL OR owner = $2 OR NOT EXISTS
                       (SELECT 1 FROM nodes WHERE nodes.id = games.owner AND until > clock_timestamp()))
                   RETURNING epoch, seq";
        let Connected { client, .. } = self.connected()?;
        if let Some(row) = client.query_opt(sql, &[&game, &&**node])? {
            let (epoch, seq) = (number(row.get(0)), number(row.get(1)));
            let lease = Lease { node: Arc::clone(node), epoch };
            return Ok(Some(Claim::Ours { lease, seq }));
        }
        let owner = "SELECT owner FROM games WHERE id = $1 AND seq > 0";
        let row = client.query_opt(owner, &[&game])?;
        // The owner may have released the game since the claim failed: then the name is empty, and the caller claims
        // again.
        let name = |it: postgres::Row| it.get::<_, Option<&str>>(0).unwrap_or_default().into();
        Ok(row.map(|it| Claim::Theirs(name(it))))
    }

    fn release(&mut self, game: &str, lease: &Lease) -> Result<(), StoreError> {
        let sql = "UPDATE games SET owner = NULL WHERE id = $1 AND owner = $2 AND epoch = $3";
        let (node, epoch) = (&*lease.node, int(lease.epoch));
        self.connected()?.client.execute(sql, &[&game, &node, &epoch])?;
        Ok(())
    }

    fn retire(&mut self, node: &str) -> Result<(), StoreError> {
        let Connected { client, .. } = self.connected()?;
        client.execute("UPDATE games SET owner = NULL WHERE owner = $1", &[&node])?;
        client.execute("DELETE FROM nodes WHERE id = $1", &[&node])?;
        Ok(())
    }

    fn send(&mut self, node: &str, message: &str) -> Result<bool, StoreError> {
        if message.len() > MESSAGE {
            return Ok(false);
        }
        let channel = channel_of(node);
        let Connected { client, .. } = self.connected()?;
        client.execute("SELECT pg_notify($1, $2)", &[&channel, &message])?;
        Ok(true)
    }
}
