//! The server under load: thousands of games, two sockets each, moves at a steady rate, each of them durable before it
//! is acknowledged. `cargo bench --bench load -- --games 2000 --rate 1000`
//!
//! With `--accounts 400` every second game is rated: two of 400 accounts play it, and one of them resigns at the end.
//! `RULEMATE` in the environment names another program to measure.
//!
//! The loader runs beside the server and takes its share of the machine. What is measured is the
//! time from sending a move to its acknowledgement, with the rule engine in the loop.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

type Failure = Box<dyn Error + Send + Sync>;
type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A hundred half-moves of chess, drawn at random once.
const LINE: &str = "\
    e2e3 b8a6 d2d3 a6b8 b1a3 g8h6 a3c4 e7e6 b2b3 f7f5 c4d6 c7d6 a2a4 d8h4 d1g4 b7b5 e3e4 b8c6 \
    g4h3 h4f2 e1d1 f8e7 a4a5 e7f6 g1f3 f6e5 a1b1 f2g2 h1g1 c6a5 e4f5 a5c4 c1f4 e5f6 f5e6 c4e3 \
    f4e3 d7e6 h3h6 f6d8 h6g7 d8e7 d1c1 e7g5 g7b2 c8d7 e3g5 g2g5 c1d1 g5h6 b2a2 h6f6 d1c1 f6h6 \
    g1g5 e8f7 f3h4 d7c6 c2c4 h6h4 f1g2 f7e7 c1c2 c6d5 b3b4 a8e8 g5g3 e8d8 g3e3 h4g4 c2d2 g4f3 \
    c4b5 h7h5 a2a6 d8a8 g2f1 f3f5 a6d6 e7f6 d2c3 f6g6 d6g3 f5g4 b1d1 h8h7 g3c7 g4d1 d3d4 h7c7 \
    f1c4 d5c6 e3e4 a8d8 c3b2 d1a4 e4e3 g6g5 e3e6 a4a6";

#[derive(Debug, Clone)]
struct Options {
    games: usize,
    /// Moves a second, of all games together.
    rate: f64,
    seconds: u64,
    /// Accounts that play every second game.
    accounts: usize,
}

impl Options {
    fn read() -> Self {
        // Without options (as in `cargo test`) a small run shows that all of it works.
        let mut options = Self { games: 20, rate: 40.0, seconds: 2, accounts: 6 };
        let args: Vec<String> = std::env::args().collect();
        if args.iter().any(|it| it == "--games") {
            options.accounts = 0;
        }
        for pair in args.windows(2) {
            match pair[0].as_str() {
                "--games" => options.games = pair[1].parse().unwrap_or(options.games),
                "--rate" => options.rate = pair[1].parse().unwrap_or(options.rate),
                "--accounts" => options.accounts = pair[1].parse().unwrap_or(options.accounts),
                "--seconds" => options.seconds = pair[1].parse().unwrap_or(options.seconds),
                _ => {}
            }
        }
        options
    }
}

/// The server's process, which ends with this one.
struct Server {
    child: Child,
    address: String,
    folder: std::path::PathBuf,
}

impl Server {
    fn start() -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("rulemate-load-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let store = format!("sqlite://{}", folder.join("games.db").display());
        let program = std::env::var("RULEMATE");
        let mut child = Command::new(program.as_deref().unwrap_or(env!("CARGO_BIN_EXE_rulemate")))
            .args(["serve", "--listen", "127.0.0.1:0", "--store", &store, "--log", "error"])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("no output")?;
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Ok(Self { child, address, folder })
    }

    fn memory(&self) -> Option<u64> {
        memory(self.child.id())
    }
}

/// Resident memory of a process, in kilobytes.
fn memory(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|it| it.starts_with("VmRSS"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Notes the maximum of a process's memory until the task is aborted.
async fn watch(process: u32, most: Arc<AtomicU64>) {
    let mut tick = tokio::time::interval(Duration::from_millis(250));
    loop {
        tick.tick().await;
        most.fetch_max(memory(process).unwrap_or_default(), Ordering::Relaxed);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

async fn ask(
    address: &str,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Value,
) -> Result<Value, Failure> {
    let mut stream = TcpStream::connect(address).await?;
    let body = body.to_string();
    let bearer = token.map(|it| format!("\r\nauthorization: Bearer {it}")).unwrap_or_default();
    let head =
        format!("{method} /api/v1/{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close{bearer}");
    let text = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (_, body) = answer.split_once("\r\n\r\n").ok_or("no body")?;
    Ok(serde_json::from_str(body)?)
}

fn text(value: &Value, key: &str) -> Result<String, Failure> {
    Ok(value[key].as_str().ok_or_else(|| format!("there is no {key}: {value}"))?.to_owned())
}

/// A game, and the tokens of its seats.
#[derive(Debug, Clone)]
struct Table {
    id: String,
    tokens: [String; 2],
    is_rated: bool,
}

async fn make(address: &str) -> Result<Table, Failure> {
    let wish = json!({ "game": "chess", "seat": "both" });
    let made = ask(address, "POST", "games", None, wish).await?;
    let token = text(&made, "token")?;
    Ok(Table { id: text(&made, "id")?, tokens: [token.clone(), token], is_rated: false })
}

/// A rated game between two accounts.
async fn make_rated(address: &str, tokens: [String; 2]) -> Result<Table, Failure> {
    let wish = json!({ "game": "chess", "seat": "white", "rated": true });
    let made = ask(address, "POST", "games", Some(&tokens[0]), wish).await?;
    let id = text(&made, "id")?;
    let join = json!({ "rated": true });
    ask(address, "POST", &format!("games/{id}/join"), Some(&tokens[1]), join).await?;
    Ok(Table { id, tokens, is_rated: true })
}

async fn sit(address: &str, id: &str, token: &str) -> Result<Socket, Failure> {
    let (mut socket, _) = connect_async(format!("ws://{address}/ws/v1/games/{id}?v=3")).await?;
    let auth = json!({ "t": "auth", "a": -1, "d": { "token": token } });
    socket.send(Message::text(auth.to_string())).await?;
    Ok(socket)
}

/// Waits for the acknowledgement of a move, past the events that come between.
async fn acknowledged(socket: &mut Socket, ply: usize) -> Result<(), Failure> {
    loop {
        let Some(message) = socket.next().await else { return Err("the server has gone".into()) };
        let Ok(text) = message?.into_text() else { continue };
        let Ok(said) = serde_json::from_str::<Value>(&text) else { continue };
        match said["t"].as_str() {
            Some("ack") if said["a"] == ply => return Ok(()),
            Some("error") => return Err(text.to_string().into()),
            _ => {}
        }
    }
}

/// Plays one game at its pace until the time is over; one that is rated is resigned then.
async fn play(
    address: String,
    table: Table,
    mut seats: [Socket; 2],
    pace: Duration,
    offset: Duration,
    until: Instant,
    times: Arc<Mutex<Vec<Duration>>>,
) -> Result<(), Failure> {
    tokio::time::sleep(offset).await;
    let mut tick = tokio::time::interval(pace);
    for (ply, uci) in LINE.split_whitespace().enumerate() {
        tick.tick().await;
        if Instant::now() >= until {
            break;
        }
        let id = format!("m{ply}");
        let data = json!({ "uci": uci, "expected_ply": ply, "client_move_id": id });
        let said = json!({ "t": "move", "a": ply, "d": data }).to_string();
        let sent = Instant::now();
        let socket = &mut seats[ply % 2];
        socket.send(Message::text(said)).await?;
        acknowledged(socket, ply).await?;
        if let Ok(mut times) = times.lock() {
            times.push(sent.elapsed());
        }
    }
    if table.is_rated {
        let path = format!("games/{}/resign", table.id);
        ask(&address, "POST", &path, Some(&table.tokens[0]), json!({})).await?;
    }
    Ok(())
}

/// The sum of the numbers of games that each rating of each account is based on.
async fn settled(address: &str, accounts: usize) -> Result<u64, Failure> {
    let mut games = 0;
    for at in 0..accounts {
        let told = ask(address, "GET", &format!("users/player{at}"), None, json!({})).await?;
        let all = told["ratings"].as_array().ok_or("no ratings")?;
        games += all.iter().filter_map(|it| it["games"].as_u64()).sum::<u64>();
    }
    Ok(games)
}

async fn run(options: Options) -> Result<(), Failure> {
    let server = Server::start()?;
    let empty = server.memory().unwrap_or_default();
    let mut accounts = Vec::new();
    for at in 0..options.accounts {
        let wish = json!({ "name": format!("player{at}") });
        let made = ask(&server.address, "POST", "accounts", None, wish).await?;
        accounts.push(text(&made, "token")?);
    }
    let mut tables = Vec::new();
    for at in 0..options.games {
        let player = |it: usize| accounts[it % accounts.len()].clone();
        tables.push(match accounts.len() > 1 && at % 2 == 1 {
            true => make_rated(&server.address, [player(at), player(at + 1)]).await?,
            false => make(&server.address).await?,
        });
    }
    let with_games = server.memory().unwrap_or_default();
    let mut sockets = Vec::new();
    for Table { id, tokens: [one, other], .. } in &tables {
        let seats = [sit(&server.address, id, one).await?, sit(&server.address, id, other).await?];
        sockets.push(seats);
    }
    let with_sockets = server.memory().unwrap_or_default();
    let per = |more: u64, count: usize| more as f64 / count.max(1) as f64;
    let games = options.games;
    println!(
        "{games} games of {:.0} KB, {} sockets of {:.0} KB, on an empty server of {empty} KB",
        per(with_games.saturating_sub(empty), games),
        2 * games,
        per(with_sockets.saturating_sub(with_games), 2 * games),
    );
    let times = Arc::new(Mutex::new(Vec::new()));
    let pace = Duration::from_secs_f64(games as f64 / options.rate);
    let started = Instant::now();
    let until = started + Duration::from_secs(options.seconds);
    let most = Arc::new(AtomicU64::new(0));
    let watching = tokio::spawn(watch(server.child.id(), Arc::clone(&most)));
    let mut playing = JoinSet::new();
    for (at, (table, seats)) in tables.into_iter().zip(sockets).enumerate() {
        let offset = pace.mul_f64(at as f64 / games as f64);
        let (address, times) = (server.address.clone(), Arc::clone(&times));
        playing.spawn(play(address, table, seats, pace, offset, until, times));
    }
    let mut failed = 0;
    while let Some(ended) = playing.join_next().await {
        if let Err(error) = ended? {
            failed += 1;
            println!("a game has failed: {error}");
        }
    }
    let took = started.elapsed().as_secs_f64();
    watching.abort();
    let most = most.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let played = server.memory().unwrap_or_default();
    if options.accounts > 1 {
        let rated = settled(&server.address, options.accounts).await?;
        println!("{} accounts, {rated} ratings changed", options.accounts);
    }
    let mut times = times.lock().map_err(|_| "a player has failed")?.clone();
    times.sort_unstable();
    let at = |share: f64| {
        let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times.get(place).map_or(f64::NAN, |it| it.as_secs_f64() * 1e3)
    };
    println!(
        "{:.0} durable moves/s asked, {:.0} done; milliseconds p50 {:.1}, p95 {:.1}, p99 {:.1}; \
         {failed} games failed; {} KB at the end",
        options.rate,
        times.len() as f64 / took,
        at(0.5),
        at(0.95),
        at(0.99),
        played,
    );
    println!(
        "after {:.0} moves a game: {:.0} KB a game at most while all moved, {:.0} KB after it; load \
         average {}",
        times.len() as f64 / games as f64,
        per(with_games.saturating_sub(empty) + most.saturating_sub(with_sockets), games),
        per(with_games.saturating_sub(empty) + played.saturating_sub(with_sockets), games),
        std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim(),
    );
    if failed > 0 || times.is_empty() { Err("not every game was played".into()) } else { Ok(()) }
}

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(Options::read()))
}
