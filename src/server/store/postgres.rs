//! The store for several nodes: PostgreSQL.
//!
//! Any node may append to any game: a row of the game is locked, and who expected another event is
//! told so and looks again. So no node owns a game, and none has to be missed when it dies. Appends
//! are announced with NOTIFY; nodes that have the game in memory read what is new.

use std::fmt;
use std::path::Path;

use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use postgres::{Client, NoTls, Statement, Transaction};
use tokio::sync::mpsc;

use super::{Append, Chain, Conflict, GameState, Health, Row, Store, StoreError, Summary, chain};

/// What is announced under: the game and its last event follow, `ID SEQ`.
const CHANNEL: &str = "rulemate_events";

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
";

/// Two nodes that make the tables at once would trip over each other.
const TABLES_LOCK: i64 = 0x7275_6c65_6d61_7465;

/// One connection to a database.
pub struct Postgres {
    url: String,
    /// None after it broke: the next question connects anew.
    client: Option<Connected>,
}

/// A connection with what is said on it again and again.
struct Connected {
    client: Client,
    /// None until the tables are there.
    appending: Option<Appending>,
}

/// The statements of an append.
struct Appending {
    make: Statement,
    head: Statement,
    event: Statement,
    game: Statement,
    snapshot: Statement,
    tell: Statement,
}

/// The address may hold a password: it is not shown.
impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("connected", &self.client.is_some()).finish()
    }
}

impl From<postgres::Error> for StoreError {
    fn from(error: postgres::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl Postgres {
    /// Connects, and makes the tables if they are not there.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let mut store = Self { url: url.to_owned(), client: None };
        store.with(|it| {
            let mut transaction = it.client.transaction()?;
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&TABLES_LOCK])?;
            transaction.batch_execute(TABLES)?;
            Ok(transaction.commit()?)
        })?;
        Ok(store)
    }

    /// Asks something; a connection that broke is not used again.
    fn with<T>(
        &mut self,
        question: impl FnOnce(&mut Connected) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connected = match self.client.take() {
            Some(it) if !it.client.is_closed() => it,
            _ => Connected { client: Client::connect(&self.url, NoTls)?, appending: None },
        };
        let answer = question(&mut connected);
        if !connected.client.is_closed() {
            self.client = Some(connected);
        }
        answer
    }
}

impl Store for Postgres {
    fn append(&mut self, batch: &[Append]) -> Result<Vec<Result<(), Conflict>>, StoreError> {
        // All nodes lock games in one order, or they would wait for each other.
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
            transaction.commit()?;
            Ok(done.into_iter().flatten().collect())
        })
    }

    fn read(&mut self, game: &str, after: u64) -> Result<Option<Vec<Row>>, StoreError> {
        self.with(|it| {
            // One snapshot for the head and the events, so that they belong together.
            let mut transaction = it
                .client
                .build_transaction()
                .isolation_level(postgres::IsolationLevel::RepeatableRead)
                .read_only(true)
                .start()?;
            let head = transaction
                .query_opt("SELECT seq, hash FROM games WHERE id = $1 AND seq > 0", &[&game])?;
            let Some(head) = head else { return Ok(None) };
            let last = Chain::at(number(head.get(0)), head.get(1));
            let sql = "SELECT seq, payload, hash FROM events WHERE game = $1 ORDER BY seq";
            let mut rows: Vec<Row> = transaction
                .query(sql, &[&game])?
                .iter()
                .map(|it| Row { seq: number(it.get(0)), payload: it.get(1), hash: it.get(2) })
                .collect();
            last.verify_all(game, &rows)?;
            rows.retain(|it| it.seq > after);
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

    fn list(&mut self, state: Option<GameState>, limit: usize) -> Result<Vec<Summary>, StoreError> {
        let (state, limit) = (state.map(GameState::word), int(limit as u64));
        let sql = "SELECT summary FROM games
                   WHERE listed AND seq > 0 AND ($1::TEXT IS NULL OR state = $1)
                   ORDER BY updated DESC LIMIT $2";
        let rows = self.with(|it| Ok(it.client.query(sql, &[&state, &limit])?))?;
        let read = |it: &postgres::Row| serde_json::from_str(it.get(0));
        let read: Result<_, serde_json::Error> = rows.iter().map(read).collect();
        read.map_err(|it| StoreError::Unavailable(it.to_string()))
    }

    fn put_text(&mut self, hash: &str, text: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO texts (hash, text) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.with(|it| Ok(it.client.execute(sql, &[&hash, &text]).map(|_| ())?))
    }

    fn text(&mut self, hash: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT text FROM texts WHERE hash = $1";
        self.with(|it| Ok(it.client.query_opt(sql, &[&hash])?.map(|it| it.get(0))))
    }

    fn backup(&mut self, _: &Path) -> Result<(), StoreError> {
        Err(StoreError::Unavailable("copy a database with PostgreSQL's own pg_dump".into()))
    }

    fn check(&mut self) -> Result<Health, StoreError> {
        let sql = "SELECT id FROM games WHERE seq > 0 ORDER BY id";
        let games = self.with(|it| Ok(it.client.query(sql, &[])?))?;
        let mut health = Health::default();
        for game in games {
            health.games += 1;
            match self.read(game.get(0), 0) {
                Ok(rows) => health.events += rows.map_or(0, |it| it.len() as u64),
                Err(fault) => health.faults.push(fault.to_string()),
            }
        }
        Ok(health)
    }
}

impl Appending {
    fn prepare(client: &mut Client) -> Result<Self, StoreError> {
        let mut prepare = |sql: &str| client.prepare(sql);
        Ok(Self {
            // The row is there to be locked, also for a game that two nodes make at once.
            make: prepare(
                "INSERT INTO games (id, seq, hash, state, listed, updated, summary)
                 VALUES ($1, 0, $2, 'waiting', FALSE, 0, '{}') ON CONFLICT DO NOTHING",
            )?,
            head: prepare("SELECT seq, hash FROM games WHERE id = $1 FOR UPDATE")?,
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
            tell: prepare("SELECT pg_notify($1, $2)")?,
        })
    }

    fn append(
        &self,
        transaction: &mut Transaction<'_>,
        append: &Append,
    ) -> Result<Result<(), Conflict>, StoreError> {
        let Append { game, expected, payloads, summary, snapshot } = append;
        if *expected == 0 {
            transaction.execute(&self.make, &[game, &Chain::new(game).hash()])?;
        }
        let head = transaction.query_opt(&self.head, &[game])?;
        let mut chain = match head {
            Some(row) => Chain::at(number(row.get(0)), row.get(1)),
            None => Chain::new(game),
        };
        if chain.seq() != *expected {
            let (game, expected, found) = (game.clone(), *expected, chain.seq());
            return Ok(Err(Conflict { game, expected, found }));
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
            transaction.execute(&self.tell, &[&CHANNEL, &news])?;
        }
        Ok(Ok(()))
    }
}

/// Tells which games have events that some node has appended, on a thread of its own. It connects
/// again when the connection breaks; what was missed meanwhile is told as game `*`.
///
/// # Errors
/// The database cannot be reached, or there are too many threads.
pub(super) fn listen(url: &str) -> Result<mpsc::Receiver<(String, u64)>, StoreError> {
    let mut client = connect_to_listen(url)?;
    let (news, inbox) = mpsc::channel(4096);
    let url = url.to_owned();
    let body = move || {
        while !news.is_closed() {
            if let Err(error) = pass_on(&mut client, &news) {
                tracing::warn!(%error, "no news from other nodes");
            }
            if news.is_closed() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(500));
            if let Ok(again) = connect_to_listen(&url) {
                client = again;
                // The receiver may be gone: then the loop ends.
                let _ = news.blocking_send(("*".to_owned(), 0));
            }
        }
    };
    let spawned = std::thread::Builder::new().name("news".to_owned()).spawn(body);
    spawned.map_err(|it| StoreError::Unavailable(it.to_string()))?;
    Ok(inbox)
}

fn connect_to_listen(url: &str) -> Result<Client, StoreError> {
    let mut client = Client::connect(url, NoTls)?;
    client.batch_execute(&format!("LISTEN {CHANNEL}"))?;
    Ok(client)
}

/// Passes news on until the connection breaks or nobody wants them.
fn pass_on(client: &mut Client, news: &mpsc::Sender<(String, u64)>) -> Result<(), StoreError> {
    let wait = std::time::Duration::from_millis(500);
    while !news.is_closed() {
        {
            let mut waiting = client.notifications();
            let mut all = waiting.timeout_iter(wait);
            while let Some(it) = all.next()? {
                let Some((game, seq)) = it.payload().split_once(' ') else { continue };
                let Ok(seq) = seq.parse() else { continue };
                if news.blocking_send((game.to_owned(), seq)).is_err() {
                    return Ok(());
                }
            }
        }
        if client.is_closed() {
            return Err(StoreError::Unavailable("the connection broke".into()));
        }
    }
    Ok(())
}

/// PostgreSQL's integers are signed; none of ours comes near the end of either.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn number(int: i64) -> u64 {
    u64::try_from(int).unwrap_or_default()
}
