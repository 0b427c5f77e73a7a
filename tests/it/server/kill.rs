//! The real server under load, killed without warning and started again: every move that was
//! acknowledged is there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::store::Folder;

/// How often the server is killed; `RULEMATE_KILL_CYCLES` says another number.
const CYCLES: usize = 100;
/// Players at a time, each with a board of its own.
const PLAYERS: usize = 8;
/// What is played again and again, short of the draw by repetition.
const MOVES: [&str; 4] = ["g1f3", "g8f6", "f3g1", "f6g8"];
const PLIES: usize = 12;

/// A server process.
pub(super) struct Process {
    child: Child,
    pub(super) address: String,
    /// Where its counters are, if it was told to show them.
    pub(super) metrics: Option<String>,
}

impl Process {
    pub(super) fn start(store: &str, more: &[&str]) -> Self {
        Self::run(Command::new(env!("CARGO_BIN_EXE_rulemate")), store, more)
    }

    /// Started by a shell, by a line that ends in `exec "$@"`.
    pub(super) fn start_by(line: &str, store: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", line, "sh", env!("CARGO_BIN_EXE_rulemate")]);
        Self::run(shell, store, &[])
    }

    /// Started with these variables of its environment.
    pub(super) fn start_in(names: &[(&str, &str)], store: &str, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rulemate"));
        command.envs(names.iter().copied());
        Self::run(command, store, more)
    }

    /// The number of the process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn run(mut command: Command, store: &str, more: &[&str]) -> Self {
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--store", store, "--log", "error"])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stdout.take().unwrap());
        let mut address = || {
            let mut line = String::new();
            told.read_line(&mut line).unwrap();
            let address =
                line.trim().trim_start_matches("counters: ").trim_start_matches("http://");
            address.trim_end_matches("metrics").trim_end_matches('/').to_owned()
        };
        let own = address();
        assert!(!own.is_empty(), "the server did not start");
        let metrics = more.contains(&"--metrics").then(address);
        Self { child, address: own, metrics }
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, and waits for that.
    pub(super) fn terminate(&mut self) -> bool {
        self.signal("-TERM");
        self.child.wait().unwrap().success()
    }

    pub(super) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that speaks just enough HTTP.
pub(super) struct Wire(BufReader<TcpStream>);

impl Wire {
    pub(super) fn to(address: &str) -> Option<Self> {
        let stream = TcpStream::connect(address).ok()?;
        // The machine may have much else to do.
        stream.set_read_timeout(Some(Duration::from_secs(120))).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self(BufReader::new(stream)))
    }

    /// Status and body; none if the connection broke.
    pub(super) fn ask(&mut self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        self.ask_with(method, path, "", body)
    }

    /// The same with more headers, a line each. A body that is no JSON is a text.
    pub(super) fn ask_with(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Option<(u16, Value)> {
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{headers}");
        let text = format!("{head}content-length: {length}\r\n\r\n{body}");
        self.0.get_mut().write_all(text.as_bytes()).ok()?;
        let mut line = String::new();
        self.0.read_line(&mut line).ok()?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut length = 0;
        loop {
            line.clear();
            self.0.read_line(&mut line).ok()?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(it) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = it.trim().parse().ok()?;
            }
        }
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }
}

/// Games and how many of their moves were acknowledged.
pub(super) type Acknowledged = Arc<Mutex<Vec<(String, usize)>>>;

#[test]
fn no_acknowledged_move_is_lost_when_the_server_is_killed() {
    let folder = Folder::new("kill");
    let mut moves = 0;
    let mut before: Vec<(String, usize)> = Vec::new();
    let cycles = std::env::var("RULEMATE_KILL_CYCLES").ok().and_then(|it| it.parse().ok());
    let cycles = cycles.unwrap_or(CYCLES);
    for cycle in 0..cycles {
        let mut server = Process::start(&folder.url(), &[]);
        check(&server.address, &before, cycle);
        let acknowledged = Acknowledged::default();
        let players: Vec<_> = (0..PLAYERS)
            .map(|_| {
                let (address, acknowledged) = (server.address.clone(), Arc::clone(&acknowledged));
                thread::spawn(move || load(&address, &acknowledged))
            })
            .collect();
        // Not before something was done, and then at another moment in each cycle.
        let is_over = || players.iter().all(thread::JoinHandle::is_finished);
        let done = || {
            let games = acknowledged.lock().unwrap();
            games.len() >= PLAYERS && games.iter().map(|it| it.1).sum::<usize>() > PLAYERS
        };
        while !done() && !is_over() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis((cycle * 7 % 40) as u64));
        server.kill();
        for player in players {
            player.join().unwrap();
        }
        before = acknowledged.lock().unwrap().clone();
        moves += before.iter().map(|it| it.1).sum::<usize>();
    }
    let mut server = Process::start(&folder.url(), &[]);
    check(&server.address, &before, cycles);
    assert!(server.terminate(), "an orderly end");
    let health = rulemate::internals::server::store::open(&folder.url()).unwrap().check().unwrap();
    assert_eq!(health.faults, Vec::<String>::new());
    assert!(moves > cycles * PLAYERS, "{moves} moves in all");
    // A long run wants to know what it has seen.
    let _ = writeln!(std::io::stderr(), "{cycles} kills, {moves} moves acknowledged, none lost");
}

/// Plays until the connection breaks.
pub(super) fn load(address: &str, acknowledged: &Acknowledged) -> Option<()> {
    let mut wire = Wire::to(address)?;
    loop {
        let (status, made) = wire.ask("POST", "/api/v1/games", "{\"game\":\"chess\"}")?;
        assert_eq!(status, 201, "{made}");
        let id = made["id"].as_str()?.to_owned();
        let at = {
            let mut all = acknowledged.lock().unwrap();
            all.push((id.clone(), 0));
            all.len() - 1
        };
        for ply in 0..PLIES {
            let body = json!({ "uci": MOVES[ply % 4], "expected_ply": ply }).to_string();
            let (status, answer) = wire.ask("POST", &format!("/api/v1/games/{id}/moves"), &body)?;
            assert_eq!(status, 200, "{answer}");
            acknowledged.lock().unwrap()[at].1 = ply + 1;
        }
    }
}

pub(super) fn check(address: &str, acknowledged: &[(String, usize)], cycle: usize) {
    let mut wire = Wire::to(address).unwrap();
    for (id, plies) in acknowledged {
        let (status, state) = wire.ask("GET", &format!("/api/v1/games/{id}"), "").unwrap();
        assert_eq!(status, 200, "cycle {cycle}: game {id} is lost: {state}");
        let moves = state["moves"].as_array().unwrap();
        assert!(moves.len() >= *plies, "cycle {cycle}: {id} has {} of {plies}", moves.len());
        for (ply, mv) in moves.iter().enumerate() {
            assert_eq!(mv, MOVES[ply % 4], "cycle {cycle}: {id}, ply {ply}");
        }
    }
}
