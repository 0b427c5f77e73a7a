//! The store for several nodes: PostgreSQL.
//!
//! An append locks the row of its game. It is refused with a conflict if its node expected another number of events, or
//! has lost the game to another node (`lease.rs`). Appends are announced with NOTIFY: nodes that have the game in memory
//! read the new events.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use postgres::types::ToSql;
use postgres::{Client, NoTls, Statement, Transaction};

use super::check::Check;
use super::lease::LEASE;
use super::listen::{EVENTS_CHANNEL, channel_of};
use super::prune::{self, SETTLED};
use super::tally::{GAMES, PROBES, RECORDS, TEXTS, Tallies, Tally, UPLOADS, empty_records};
use super::{
    Append, Chain, Change, Claim, Conflict, GameState, Health, Lease, Nodes, Store, StoreError,
    StoredEvent, Summary, Upload, Whole, after_all, chain, int, number, read_summary,
};

/// Raised when there are new tables. A store of an earlier format gets them when it is opened; one of a later format is
/// refused.
const FORMAT: i64 = 1;

/// A game whose `seq` is 0 is being made: its row is there to be locked.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL,
    state TEXT NOT NULL,
    listed BOOLEAN NOT NULL,
    updated BIGINT NOT NULL,
    summary TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS games_by_time ON games (listed, updated DESC);
CREATE TABLE IF NOT EXISTS events (
    game TEXT NOT NULL,
    seq BIGINT NOT NULL,
    payload TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (game, seq)
);
CREATE TABLE IF NOT EXISTS snapshots (
    game TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    snapshot TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS nodes (id TEXT PRIMARY KEY, until TIMESTAMPTZ NOT NULL);
ALTER TABLE games ADD COLUMN IF NOT EXISTS owner TEXT;
ALTER TABLE games ADD COLUMN IF NOT EXISTS epoch BIGINT NOT NULL DEFAULT 0;
CREATE INDEX IF NOT EXISTS games_by_owner ON games (owner) WHERE owner IS NOT NULL;
CREATE TABLE IF NOT EXISTS uploads (
    owner TEXT NOT NULL,
    rules TEXT NOT NULL,
    name TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (owner, rules)
);
CREATE TABLE IF NOT EXISTS tallies (
    name TEXT PRIMARY KEY,
    rows BIGINT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS records (key TEXT COLLATE \"C\" PRIMARY KEY, value TEXT NOT NULL);
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

/// A connection with its prepared statements.
struct Connected {
    client: Client,
    /// `None` until the first append.
    appending: Option<Appending>,
}

/// The statements of an append.
struct Appending {
    make: Statement,
    head: Statement,
    event: Statement,
    game: Statement,
    snapshot: Statement,
    notify: Statement,
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
        store.with(|it| {
            let mut transaction = it.client.transaction()?;
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&TABLES_LOCK])?;
            let found = format_of(&mut transaction)?;
            if found > FORMAT {
                // The URL may contain a password.
                let url = "the database".into();
                return Err(StoreError::Newer { url, found, known: FORMAT });
            }
            // Tables of the current format are not even locked, since other nodes may be at work.
            if found < FORMAT {
                transaction.batch_execute(TABLES)?;
                make_tallies(&mut transaction)?;
                transaction.batch_execute("DELETE FROM store_format")?;
                transaction.execute("INSERT INTO store_format VALUES ($1)", &[&FORMAT])?;
            }
            Ok(transaction.commit()?)
        })?;
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

    /// Runs a request; a connection that broke is not used again.
    fn with<T>(
        &mut self,
        request: impl FnOnce(&mut Connected) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connected = match self.client.take() {
            Some(it) if !it.client.is_closed() => it,
            _ => {
                let mut client = Client::connect(&self.url, NoTls)?;
                if self.quick {
                    client.batch_execute("SET synchronous_commit = off")?;
                }
                Connected { client, appending: None }
            }
        };
        let answer = request(&mut connected);
        if !connected.client.is_closed() {
            self.client = Some(connected);
        }
        answer
    }

    /// The ids of games that a query finds.
    fn ids(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<String>, StoreError> {
        let rows = self.with(|it| Ok(it.client.query(sql, values)?))?;
        Ok(rows.iter().map(|it| it.get(0)).collect())
    }
}

impl Store for Postgres {
    fn append(&mut self, batch: &[Append]) -> Result<Vec<Result<(), Conflict>>, StoreError> {
        // All nodes lock games in the same order, or they could deadlock.
        let mut order: Vec<usize> = (0..batch.len()).collect();
        order.sort_by(|&a, &b| batch[a].game.cmp(&batch[b].game));
        self.with(|Connected { client, appending }| {
            let appending = match appending {
                Some(it) => it,
                None => appending.insert(Appending::prepare(client)?),
            };
            let mut transaction = client.transaction()?;
            let mut done: Vec<Option<Result<(), Conflict>>> = vec![None; batch.len()];
            for &at in &order {
                done[at] = Some(appending.append(&mut transaction, &batch[at])?);
            }
            let done: Vec<_> = done.into_iter().flatten().collect();
            // After all games, and records by key, so that all nodes lock in the same order.
            tally(&mut transaction, GAMES, &Tally::of_new_games(batch, &done))?;
            let mut records = Tally::default();
            let mut keys: Vec<&String> = empty_records(batch, &done).collect();
            keys.sort();
            for key in keys {
                let sql = "INSERT INTO records (key, value) VALUES ($1, '') ON CONFLICT DO NOTHING";
                if transaction.execute(sql, &[key])? > 0 {
                    records.add_record(key, "");
                }
            }
            tally(&mut transaction, RECORDS, &records)?;
            transaction.commit()?;
            Ok(done)
        })
    }

    fn page(
        &mut self,
        game: &str,
        after: u64,
        limit: usize,
    ) -> Result<Option<Vec<StoredEvent>>, StoreError> {
        self.with(|it| {
            // One view of the head and the events, so that they belong together.
            let mut transaction = one_view(&mut it.client)?;
            let Some(last) = head(&mut transaction, game)? else { return Ok(None) };
            if after >= last.seq() || limit == 0 {
                return Ok(Some(Vec::new()));
            }
            let begin = match after {
                0 => Some(Chain::new(game)),
                _ => {
                    let sql = "SELECT hash FROM events WHERE game = $1 AND seq = $2";
                    let row = transaction.query_opt(sql, &[&game, &int(after)])?;
                    row.map(|it| Chain::at(after, it.get(0)))
                }
            };
            let rows = rows_after(&mut transaction, game, after, limit)?;
            let begin = begin.ok_or_else(|| chain::missing(game, after))?;
            begin.verify_page(game, &rows, limit, &last)?;
            Ok(Some(rows))
        })
    }

    fn snapshot(&mut self, game: &str) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT seq, snapshot, hash FROM snapshots WHERE game = $1";
        let Some(row) = self.with(|it| Ok(it.client.query_opt(sql, &[&game])?))? else {
            return Ok(None);
        };
        let (seq, text, hash): (u64, String, String) = (number(row.get(0)), row.get(1), row.get(2));
        let is_whole = hash == chain::hash_of_snapshot(game, seq, &text);
        Ok(is_whole.then_some((seq, text)))
    }

    fn list(
        &mut self,
        state: Option<GameState>,
        after: Option<&str>,
        limit: usize,
        stale: u64,
    ) -> Result<Vec<Summary>, StoreError> {
        let (state, limit, stale) = (state.map(GameState::word), int(limit as u64), int(stale));
        let sql = "SELECT id, summary FROM games
                   WHERE listed AND seq > 0 AND ($1::TEXT IS NULL OR state = $1)
                     AND (state = 'over' OR updated >= $4)
                   AND ($3::TEXT IS NULL
                        OR (updated, id) < (SELECT updated, id FROM games WHERE id = $3))
                   ORDER BY updated DESC, id DESC LIMIT $2";
        let rows =
            self.with(|it| Ok(it.client.query(sql, &[&state, &limit, &after, &stale])?))?;
        rows.iter().map(|it| read_summary(it.get(0), it.get(1))).collect()
    }

    fn put_text(&mut self, hash: &str, text: &str) -> Result<bool, StoreError> {
        self.with(|it| {
            let mut transaction = it.client.transaction()?;
            let Some(change) = put_text(&mut transaction, hash, text)? else { return Ok(false) };
            tally(&mut transaction, TEXTS, &change)?;
            transaction.commit()?;
            Ok(true)
        })
    }

    fn text(&mut self, hash: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM texts WHERE hash = $1";
        self.with(|it| Ok(it.client.query_opt(sql, &[&hash])?.map(|it| it.get(0))))
    }

    fn add_upload(
        &mut self,
        upload: &Upload,
        text: &str,
        limit: usize,
    ) -> Result<bool, StoreError> {
        let Upload { owner, rules, name, at } = upload;
        self.with(|it| {
            let mut transaction = it.client.transaction()?;
            // One at a time per owner, or two requests could exceed the limit together.
            let lock = "SELECT pg_advisory_xact_lock(hashtext($1))";
            transaction.execute(lock, &[owner])?;
            let count = "SELECT count(*) FROM uploads WHERE owner = $1 AND rules <> $2";
            let others: i64 = transaction.query_one(count, &[owner, rules])?.get(0);
            if number(others) >= limit as u64 {
                return Ok(false);
            }
            let Some(texts) = put_text(&mut transaction, rules, text)? else {
                return Ok(false);
            };
            let mut change = Tally::default();
            if let Some(old) = upload_of(&mut transaction, owner, rules)? {
                change.drop_upload(&old);
            }
            change.add_upload(upload);
            let sql = "INSERT INTO uploads (owner, rules, name, at) VALUES ($1, $2, $3, $4)
                       ON CONFLICT (owner, rules) DO UPDATE SET name = $3, at = $4";
            transaction.execute(sql, &[owner, rules, name, &int(*at)])?;
            tally(&mut transaction, TEXTS, &texts)?;
            tally(&mut transaction, UPLOADS, &change)?;
            transaction.commit()?;
            Ok(true)
        })
    }

    fn uploads(&mut self, owner: &str) -> Result<Vec<Upload>, StoreError> {
        let sql = "SELECT owner, rules, name, at FROM uploads WHERE owner = $1 ORDER BY at, rules";
        let rows = self.with(|it| Ok(it.client.query(sql, &[&owner])?))?;
        Ok(rows.iter().map(upload).collect())
    }

    fn drop_upload(&mut self, owner: &str, rules: &str) -> Result<bool, StoreError> {
        self.with(|it| {
            let mut transaction = it.client.transaction()?;
            let Some(old) = upload_of(&mut transaction, owner, rules)? else { return Ok(false) };
            let mut change = Tally::default();
            change.drop_upload(&old);
            let sql = "DELETE FROM uploads WHERE owner = $1 AND rules = $2";
            transaction.execute(sql, &[&owner, &rules])?;
            tally(&mut transaction, UPLOADS, &change)?;
            transaction.commit()?;
            Ok(true)
        })
    }

    fn record(&mut self, key: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM records WHERE key = $1";
        self.with(|it| Ok(it.client.query_opt(sql, &[&key])?.map(|it| it.get(0))))
    }

    fn records(
        &mut self,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "SELECT key, value FROM records WHERE key >= $1 AND key < $2 AND key > $3
                   ORDER BY key LIMIT $4";
        let (end, limit) = (after_all(prefix), int(limit as u64));
        let rows = self.with(|it| Ok(it.client.query(sql, &[&prefix, &end, &after, &limit])?))?;
        Ok(rows.iter().map(|it| (it.get(0), it.get(1))).collect())
    }

    fn change(&mut self, changes: &[Change]) -> Result<bool, StoreError> {
        // All nodes change records in the same order, or they could deadlock.
        let mut ordered: Vec<&Change> = changes.iter().collect();
        ordered.sort_by(|one, other| one.key.cmp(&other.key));
        self.with(|it| {
            let mut transaction = it.client.transaction()?;
            let mut change = Tally::default();
            for Change { key, from, to } in ordered {
                let rows = match (from, to) {
                    (None, None) => {
                        let sql = "SELECT 1 FROM records WHERE key = $1";
                        if transaction.query_opt(sql, &[key])?.is_some() {
                            return Ok(false);
                        }
                        continue;
                    }
                    (None, Some(to)) => {
                        let sql = "INSERT INTO records (key, value) VALUES ($1, $2)
                                   ON CONFLICT DO NOTHING";
                        transaction.execute(sql, &[key, to])?
                    }
                    (Some(from), None) => {
                        let sql = "DELETE FROM records WHERE key = $1 AND value = $2";
                        transaction.execute(sql, &[key, from])?
                    }
                    (Some(from), Some(to)) => {
                        let sql = "UPDATE records SET value = $3 WHERE key = $1 AND value = $2";
                        transaction.execute(sql, &[key, from, to])?
                    }
                };
                if rows == 0 {
                    return Ok(false);
                }
                from.iter().for_each(|it| change.drop_record(key, it));
                to.iter().for_each(|it| change.add_record(key, it));
            }
            tally(&mut transaction, RECORDS, &change)?;
            transaction.commit()?;
            Ok(true)
        })
    }

    fn summary(&mut self, game: &str) -> Result<Option<Summary>, StoreError> {
        let sql = "SELECT summary FROM games WHERE id = $1 AND seq > 0";
        let row = self.with(|it| Ok(it.client.query_opt(sql, &[&game])?))?;
        row.map(|it| read_summary(game, it.get(0))).transpose()
    }

    fn older(&mut self, before: u64) -> Result<Vec<String>, StoreError> {
        let sql = format!(
            "SELECT id FROM games WHERE seq > 0 AND updated < $1 AND {SETTLED} ORDER BY id"
        );
        self.ids(&sql, &[&int(before)])
    }

    fn forget(&mut self, games: &[String], before: u64) -> Result<usize, StoreError> {
        self.with(|it| {
            let mut transaction = it.client.transaction()?;
            let pruned = prune::postgres(&mut transaction, games, int(before))?;
            tally(&mut transaction, GAMES, &pruned.of_games)?;
            tally(&mut transaction, RECORDS, &pruned.of_records)?;
            transaction.commit()?;
            Ok(pruned.games)
        })
    }

    fn games(&mut self) -> Result<Vec<String>, StoreError> {
        self.ids("SELECT id FROM games WHERE seq > 0 ORDER BY id", &[])
    }

    fn whole(&mut self, game: &str) -> Result<Option<Whole>, StoreError> {
        self.with(|it| {
            let mut transaction = one_view(&mut it.client)?;
            let sql = "SELECT state, listed, updated, summary FROM games WHERE id = $1 AND seq > 0";
            let Some(row) = transaction.query_opt(sql, &[&game])? else { return Ok(None) };
            let rows = rows_after(&mut transaction, game, 0, usize::MAX)?;
            let listed = i64::from(row.get::<_, bool>(1));
            let (state, updated, summary) = (row.get(0), row.get(2), row.get(3));
            Ok(Some(Whole { state, listed, updated, summary, rows }))
        })
    }

    fn games_with_snapshot(&mut self) -> Result<Vec<String>, StoreError> {
        self.ids("SELECT game FROM snapshots ORDER BY game", &[])
    }

    fn backup(&mut self, _: &Path) -> Result<(), StoreError> {
        Err(StoreError::Copy("PostgreSQL's own pg_dump copies a database".into()))
    }

    fn probe(&mut self) -> Result<(), StoreError> {
        self.with(|it| {
            let mut transaction = it.client.transaction()?;
            let sql = "SELECT rows FROM tallies WHERE name = $1 FOR UPDATE";
            let count = transaction.query_opt(sql, &[&PROBES])?.map_or(0, |it| it.get::<_, i64>(0));
            put_tally(&mut transaction, PROBES, Tally::of_probes(count.wrapping_add(1)))?;
            Ok(transaction.commit()?)
        })
    }

    fn check(&mut self) -> Result<Health, StoreError> {
        self.with(|it| {
            let mut transaction = one_view(&mut it.client)?;
            let mut check = Check::default();
            feed(&mut transaction, &mut check)?;
            let tallies = transaction.query("SELECT name, rows, digest FROM tallies", &[])?;
            Ok(check.end(tallies.iter().map(|it| (it.get(0), it.get(1), it.get(2)))))
        })
    }
}

/// A transaction that reads all tables as they are at one moment.
fn one_view(client: &mut Client) -> Result<Transaction<'_>, postgres::Error> {
    let builder = client.build_transaction();
    builder.isolation_level(postgres::IsolationLevel::RepeatableRead).read_only(true).start()
}

/// The end of a game's chain, if there is such a game.
fn head(transaction: &mut Transaction<'_>, game: &str) -> Result<Option<Chain>, StoreError> {
    let sql = "SELECT seq, hash FROM games WHERE id = $1 AND seq > 0";
    let head = transaction.query_opt(sql, &[&game])?;
    Ok(head.map(|it| Chain::at(number(it.get(0)), it.get(1))))
}

fn rows_after(
    transaction: &mut Transaction<'_>,
    game: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    let sql = "SELECT seq, payload, hash FROM events WHERE game = $1 AND seq > $2
               ORDER BY seq LIMIT $3";
    let read = |it: &postgres::Row| StoredEvent {
        seq: number(it.get(0)),
        payload: it.get(1),
        hash: it.get(2),
    };
    let rows = transaction.query(sql, &[&game, &int(after), &int(limit as u64)])?;
    Ok(rows.iter().map(read).collect())
}

fn upload(row: &postgres::Row) -> Upload {
    Upload { owner: row.get(0), rules: row.get(1), name: row.get(2), at: number(row.get(3)) }
}

fn upload_of(
    transaction: &mut Transaction<'_>,
    owner: &str,
    rules: &str,
) -> Result<Option<Upload>, StoreError> {
    let sql =
        "SELECT owner, rules, name, at FROM uploads WHERE owner = $1 AND rules = $2 FOR UPDATE";
    Ok(transaction.query_opt(sql, &[&owner, &rules])?.as_ref().map(upload))
}

/// Keeps a text, and returns the change of the tally. `None` if its hash has another text.
fn put_text(
    transaction: &mut Transaction<'_>,
    hash: &str,
    text: &str,
) -> Result<Option<Tally>, StoreError> {
    let mut change = Tally::default();
    let sql = "INSERT INTO texts (hash, text) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    if transaction.execute(sql, &[&hash, &text])? > 0 {
        change.add_text(hash, text);
        return Ok(Some(change));
    }
    let known = transaction.query_opt("SELECT text FROM texts WHERE hash = $1", &[&hash])?;
    Ok(known.is_none_or(|it| it.get::<_, &str>(0) == text).then_some(change))
}

/// Adds a change of a table to its tally. A damaged tally is left as it is, so that the check finds it.
fn tally(transaction: &mut Transaction<'_>, table: &str, change: &Tally) -> Result<(), StoreError> {
    if change.is_empty() {
        return Ok(());
    }
    let sql = "SELECT rows, digest FROM tallies WHERE name = $1 FOR UPDATE";
    let found = transaction.query_opt(sql, &[&table])?;
    let Some(mut now) = found.and_then(|it| Tally::read(it.get(0), it.get(1))) else {
        return Ok(());
    };
    now.join(change);
    let sql = "UPDATE tallies SET rows = $2, digest = $3 WHERE name = $1";
    transaction.execute(sql, &[&table, &now.rows(), &now.digest()])?;
    Ok(())
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

/// Counts all tallies anew, since tables that were made before there were tallies have none.
fn make_tallies(transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
    transaction
        .batch_execute("LOCK TABLE games, texts, uploads, records IN SHARE ROW EXCLUSIVE MODE")?;
    let mut tallies = Tallies::default();
    for row in transaction.query("SELECT id FROM games WHERE seq > 0", &[])? {
        tallies.games.add_game(row.get(0));
    }
    for row in transaction.query("SELECT hash, text FROM texts", &[])? {
        tallies.texts.add_text(row.get(0), row.get(1));
    }
    for row in transaction.query("SELECT owner, rules, name, at FROM uploads", &[])? {
        tallies.uploads.add_upload(&upload(&row));
    }
    for row in transaction.query("SELECT key, value FROM records", &[])? {
        tallies.records.add_record(row.get(0), row.get(1));
    }
    for (name, tally) in tallies.by_table() {
        put_tally(transaction, name, tally)?;
    }
    put_tally(transaction, PROBES, Tally::of_probes(0))
}

fn put_tally(
    transaction: &mut Transaction<'_>,
    name: &str,
    tally: Tally,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO tallies (name, rows, digest) VALUES ($1, $2, $3)
               ON CONFLICT (name) DO UPDATE SET rows = $2, digest = $3";
    transaction.execute(sql, &[&name, &tally.rows(), &tally.digest()])?;
    Ok(())
}

/// Feeds every row into a check: events and snapshots one game at a time, the others table by table.
fn feed(transaction: &mut Transaction<'_>, check: &mut Check) -> Result<(), StoreError> {
    let games = "SELECT id, seq, hash FROM games WHERE seq > 0 ORDER BY id";
    for row in transaction.query(games, &[])? {
        let id: String = row.get(0);
        let head = Chain::at(number(row.get(1)), row.get(2));
        check.game(&id, &head, &rows_after(transaction, &id, 0, usize::MAX)?);
    }
    for row in transaction.query("SELECT DISTINCT game FROM events", &[])? {
        check.game_of_events(row.get(0));
    }
    for game in transaction.query("SELECT game FROM snapshots", &[])? {
        let sql = "SELECT game, seq, snapshot, hash FROM snapshots WHERE game = $1";
        for row in transaction.query(sql, &[&game.get::<_, &str>(0)])? {
            check.snapshot(row.get(0), number(row.get(1)), row.get(2), row.get(3));
        }
    }
    for row in transaction.query("SELECT hash, text FROM texts", &[])? {
        check.text(row.get(0), row.get(1));
    }
    for row in transaction.query("SELECT owner, rules, name, at FROM uploads", &[])? {
        check.upload(&upload(&row));
    }
    for row in transaction.query("SELECT key, value FROM records", &[])? {
        check.record(row.get(0), row.get(1));
    }
    Ok(())
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
        self.with(|it| Ok(it.client.execute(sql, &[&node, &lease]).map(|_| ())?))
    }

    fn claim(&mut self, game: &str, node: &Arc<str>) -> Result<Option<Claim>, StoreError> {
        let sql = "UPDATE games SET owner = $2, epoch = epoch + 1
                   WHERE id = $1 AND seq > 0 AND (owner IS NULL OR owner = $2 OR NOT EXISTS
                       (SELECT 1 FROM nodes WHERE nodes.id = games.owner AND until > clock_timestamp()))
                   RETURNING epoch, seq";
        self.with(|it| {
            if let Some(row) = it.client.query_opt(sql, &[&game, &&**node])? {
                let (epoch, seq) = (number(row.get(0)), number(row.get(1)));
                let lease = Lease { node: Arc::clone(node), epoch };
                return Ok(Some(Claim::Ours { lease, seq }));
            }
            let owner = "SELECT owner FROM games WHERE id = $1 AND seq > 0";
            let row = it.client.query_opt(owner, &[&game])?;
            // The owner may have released the game since the claim failed: then the name is empty, and the caller claims
            // again.
            let name = |it: postgres::Row| it.get::<_, Option<&str>>(0).unwrap_or_default().into();
            Ok(row.map(|it| Claim::Theirs(name(it))))
        })
    }

    fn release(&mut self, game: &str, lease: &Lease) -> Result<(), StoreError> {
        let sql = "UPDATE games SET owner = NULL WHERE id = $1 AND owner = $2 AND epoch = $3";
        let (node, epoch) = (&*lease.node, int(lease.epoch));
        self.with(|it| Ok(it.client.execute(sql, &[&game, &node, &epoch]).map(|_| ())?))
    }

    fn retire(&mut self, node: &str) -> Result<(), StoreError> {
        self.with(|it| {
            it.client.execute("UPDATE games SET owner = NULL WHERE owner = $1", &[&node])?;
            Ok(it.client.execute("DELETE FROM nodes WHERE id = $1", &[&node]).map(|_| ())?)
        })
    }

    fn send(&mut self, node: &str, message: &str) -> Result<bool, StoreError> {
        if message.len() > MESSAGE {
            return Ok(false);
        }
        let channel = channel_of(node);
        self.with(|it| {
            it.client.execute("SELECT pg_notify($1, $2)", &[&channel, &message])?;
            Ok(true)
        })
    }
}

impl Appending {
    fn prepare(client: &mut Client) -> Result<Self, StoreError> {
        let mut prepare = |sql: &str| client.prepare(sql);
        Ok(Self {
            // The row is made before it is locked, so that two nodes that make the same game wait for each other, too.
            make: prepare(
                "INSERT INTO games (id, seq, hash, state, listed, updated, summary, owner, epoch)
                 VALUES ($1, 0, $2, 'waiting', FALSE, 0, '{}', $3, $4) ON CONFLICT DO NOTHING",
            )?,
            head: prepare("SELECT seq, hash, owner, epoch FROM games WHERE id = $1 FOR UPDATE")?,
            event: prepare(
                "INSERT INTO events (game, seq, payload, hash) VALUES ($1, $2, $3, $4)",
            )?,
            game: prepare(
                "UPDATE games SET seq = $2, hash = $3, state = $4, listed = $5, updated = $6,
                 summary = $7 WHERE id = $1",
            )?,
            snapshot: prepare(
                "INSERT INTO snapshots (game, seq, snapshot, hash) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (game) DO UPDATE SET seq = $2, snapshot = $3, hash = $4",
            )?,
            notify: prepare("SELECT pg_notify($1, $2)")?,
        })
    }

    fn append(
        &self,
        transaction: &mut Transaction<'_>,
        append: &Append,
    ) -> Result<Result<(), Conflict>, StoreError> {
        let Append { game, expected, payloads, summary, snapshot, lease, empty_records: _ } =
            append;
        let owner = lease.as_ref().map(|it| (&*it.node, int(it.epoch)));
        if *expected == 0 {
            let (owner, epoch) = (owner.map(|it| it.0), owner.map_or(0, |it| it.1));
            let start = Chain::new(game);
            transaction.execute(&self.make, &[game, &start.hash(), &owner, &epoch])?;
        }
        let head = transaction.query_opt(&self.head, &[game])?;
        let mut chain = match &head {
            Some(row) => Chain::at(number(row.get(0)), row.get(1)),
            None => Chain::new(game),
        };
        if chain.seq() != *expected {
            let (game, expected, found) = (game.clone(), *expected, chain.seq());
            return Ok(Err(Conflict::Outdated { game, expected, found }));
        }
        if let (Some(lease), Some(row)) = (owner, &head)
            && (row.get::<_, Option<&str>>(2), row.get::<_, i64>(3)) != (Some(lease.0), lease.1)
        {
            return Ok(Err(Conflict::Lost { game: game.clone() }));
        }
        for payload in payloads {
            let row = chain.next(payload);
            let values: [&(dyn ToSql + Sync); 4] = [game, &int(row.seq), &row.payload, &row.hash];
            transaction.execute(&self.event, &values)?;
        }
        let text = serde_json::to_string(summary).unwrap_or_default();
        transaction.execute(
            &self.game,
            &[
                game,
                &int(chain.seq()),
                &chain.hash(),
                &summary.state.word(),
                &summary.listed,
                &int(summary.updated),
                &text,
            ],
        )?;
        if let Some(text) = snapshot {
            let hash = chain::hash_of_snapshot(game, chain.seq(), text);
            transaction.execute(&self.snapshot, &[game, &int(chain.seq()), text, &hash])?;
        }
        if !payloads.is_empty() {
            let news = format!("{game} {}", chain.seq());
            transaction.execute(&self.notify, &[&EVENTS_CHANNEL, &news])?;
        }
        Ok(Ok(()))
    }
}
