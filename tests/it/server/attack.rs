//! The real server under attack, while others play: uploads that ask for steps, rows, memory and time,
//! presets that are changed again and again, games with all of that in their texts. Others are answered,
//! and rightly; the server's memory has an end, and it stops when it is told to.
//!
//! Nothing here is held against the clock: who is answered first is. `RULEMATE_FULL=1` has 200 others
//! play, for longer, and prints how long they waited.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::kill::{Process, Wire};
use super::store::Folder;

use crate::fixture::is_full;

/// What others play, short of the draw by repetition.
const MOVES: [&str; 4] = ["g1f3", "g8f6", "f3g1", "f6g8"];
const PLIES: usize = 8;
/// The time that others take for a move, in the full form.
const PAUSE: Duration = Duration::from_millis(900);
/// Games that attack at a time.
const HOSTILE: usize = 10;
/// The most memory that the server may have had, in kilobytes.
const MEMORY: u64 = 1 << 20;

fn attack(name: &str) -> String {
    let path = format!("{}/tests/data/rules/attack/{name}.dl", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(Path::new(&path)).unwrap()
}

/// The most memory that a process has had, in kilobytes, if the system tells.
fn peak(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|it| it.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Keeps rules at a server. None if it refuses them.
fn upload(address: &str, name: &str) -> Option<String> {
    let body = json!({ "text": attack(name), "path": format!("{name}.dl"), "keep": true });
    let (status, answer) =
        Wire::to(address)?.ask("POST", "/api/v1/rules", &body.to_string()).unwrap();
    assert!(status == 200 || status == 422 || status == 503, "{name}: {status} {answer}");
    answer["rules"].as_str().map(str::to_owned)
}

/// What the attackers share.
struct Attack {
    address: String,
    /// The rules of each name.
    rules: Vec<(&'static str, Option<String>)>,
    over: AtomicBool,
    /// Requests of theirs that wait for an answer, and that were answered.
    waiting: AtomicUsize,
    answered: AtomicUsize,
    /// The most bytes of one answer, and statuses.
    largest: AtomicUsize,
    statuses: Mutex<std::collections::BTreeMap<u16, usize>>,
}

impl Attack {
    /// Asks, and whatever is answered is fine, but for a failure of the server's own.
    fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        let mut wire = Wire::to(&self.address)?;
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let answer = wire.ask(method, path, body);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        self.answered.fetch_add(1, Ordering::SeqCst);
        let (status, answer) = answer?;
        *self.statuses.lock().unwrap().entry(status).or_default() += 1;
        assert_ne!(status, 500, "{method} {path}: {answer}");
        self.largest.fetch_max(answer.to_string().len(), Ordering::SeqCst);
        Some((status, answer))
    }

    fn game(&self, body: &Value) -> Option<String> {
        let (_, made) = self.ask("POST", "/api/v1/games", &body.to_string())?;
        made["id"].as_str().map(str::to_owned)
    }

    /// One attacker, of several kinds.
    fn run(&self, number: usize) {
        let rules = |name: &str| {
            let known = self.rules.iter().find(|it| it.0 == name);
            known.and_then(|it| it.1.clone())
        };
        while !self.over.load(Ordering::SeqCst) {
            match number % 6 {
                0 | 1 => self.play("flood", rules("flood")),
                2 => self.play("rows", rules("rows")),
                3 => self.change_presets(),
                4 => self.import(),
                _ => {
                    for name in ["cube", "slow"] {
                        let body = json!({ "text": attack(name), "path": "it.dl" });
                        self.ask("POST", "/api/v1/rules", &body.to_string());
                    }
                }
            }
        }
    }

    fn play(&self, preset: &str, rules: Option<String>) {
        let wanted = json!({ "game": "chess", "rules": rules, "presets": [preset] });
        let Some(id) = self.game(&wanted) else { return };
        for mv in MOVES {
            self.ask("GET", &format!("/api/v1/games/{id}"), "");
            let body = json!({ "uci": mv }).to_string();
            self.ask("POST", &format!("/api/v1/games/{id}/moves"), &body);
            self.ask("GET", &format!("/api/v1/games/{id}/explain?move=e2e4"), "");
        }
    }

    fn change_presets(&self) {
        let Some(id) = self.game(&json!({ "game": "chess" })) else { return };
        for presets in sets().take(100) {
            let body = json!({ "presets": presets }).to_string();
            for _ in 0..2 {
                self.ask("POST", &format!("/api/v1/games/{id}/presets"), &body);
            }
            if self.over.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    fn import(&self) {
        let changes: Vec<String> = sets()
            .cycle()
            .take(1200)
            .map(|it| format!("{{[%presets {}]}}", it.join(" ")))
            .collect();
        let text = format!("[Variant \"chess\"]\n\n{}\n*\n", changes.join("\n"));
        self.game(&json!({ "pgn": text }));
    }
}

/// Sets of presets that go with chess, two of them at a time.
fn sets() -> impl Iterator<Item = Vec<&'static str>> + Clone {
    const ONES: [&str; 6] =
        ["piece-shield", "king-heals", "piece-hp", "poisoned-squares", "cannon", "knight-immunity"];
    const OTHERS: [&str; 6] = [
        "berserker",
        "explosive-rook",
        "queen-splits",
        "double-move",
        "knights-leap-twice",
        "stamina",
    ];
    ONES.into_iter().flat_map(|one| OTHERS.into_iter().map(move |other| vec![one, other]))
}

/// One who plays chess until told to stop. How long each answer took.
fn others(address: String, over: Arc<AtomicBool>, plies: Arc<AtomicUsize>) -> Vec<Duration> {
    let mut wire = Wire::to(&address).unwrap();
    let mut waited = Vec::new();
    let mut timed = |wire: &mut Wire, method: &str, path: &str, body: &str| {
        let started = Instant::now();
        let (status, answer) = wire.ask(method, path, body).expect("an answer");
        waited.push(started.elapsed());
        assert!(status == 200 || status == 201, "{method} {path}: {status} {answer}");
        answer
    };
    while !over.load(Ordering::SeqCst) {
        let made = timed(&mut wire, "POST", "/api/v1/games", "{\"game\":\"chess\"}");
        let path = format!("/api/v1/games/{}", made["id"].as_str().unwrap());
        for ply in 0..PLIES {
            let body = json!({ "uci": MOVES[ply % 4], "expected_ply": ply }).to_string();
            let answer = timed(&mut wire, "POST", &format!("{path}/moves"), &body);
            assert_eq!(answer["ply"], ply + 1);
            plies.fetch_add(1, Ordering::SeqCst);
            if is_full() {
                thread::sleep(PAUSE);
            }
        }
        let state = timed(&mut wire, "GET", &path, "");
        let expected: Vec<&str> = MOVES.iter().cycle().take(PLIES).copied().collect();
        assert_eq!((&state["moves"], &state["result"]), (&json!(expected), &Value::Null));
        assert_eq!(state["legal"].as_array().map(Vec::len), Some(20));
    }
    waited
}

#[test]
fn other_games_go_on_while_the_server_is_attacked() {
    let folder = Folder::new("attack");
    let mut server = Process::start(&folder.url(), &["--uploads"]);
    let (address, id) = (server.address.clone(), server.id());
    let names = ["flood", "rows", "cube", "slow"];
    let rules = names.map(|it| (it, upload(&address, it))).to_vec();
    assert!(rules[0].1.is_some() && rules[1].1.is_some(), "these compile: {rules:?}");
    let attack = Arc::new(Attack {
        address: address.clone(),
        rules,
        over: AtomicBool::new(false),
        waiting: AtomicUsize::new(0),
        answered: AtomicUsize::new(0),
        largest: AtomicUsize::new(0),
        statuses: Mutex::default(),
    });
    let attackers: Vec<JoinHandle<()>> = (0..HOSTILE)
        .map(|number| {
            let attack = Arc::clone(&attack);
            thread::spawn(move || attack.run(number))
        })
        .collect();
    let (over, plies) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let others_at_once = if is_full() { 200 } else { 8 };
    let players: Vec<JoinHandle<Vec<Duration>>> = (0..others_at_once)
        .map(|number| {
            let (address, over, plies) = (address.clone(), Arc::clone(&over), Arc::clone(&plies));
            // Games of strangers do not move in step: they begin throughout the time of one move.
            let begin = if is_full() { PAUSE * number / others_at_once } else { Duration::ZERO };
            thread::spawn(move || {
                thread::sleep(begin);
                others(address, over, plies)
            })
        })
        .collect();

    // Health is answered while requests of the attackers wait for their answers.
    let (plies_wanted, attacks_wanted) = if is_full() { (12_000, 300) } else { (300, 40) };
    let mut meanwhile = 0;
    let done = || {
        plies.load(Ordering::SeqCst) >= plies_wanted
            && attack.answered.load(Ordering::SeqCst) >= attacks_wanted
    };
    while !done() || meanwhile < 20 {
        let before = attack.answered.load(Ordering::SeqCst);
        let health = Wire::to(&address).unwrap().ask("GET", "/healthz", "");
        assert_eq!(health.map(|it| it.0), Some(200));
        let same = attack.answered.load(Ordering::SeqCst) == before;
        meanwhile += usize::from(same && attack.waiting.load(Ordering::SeqCst) > 0);
        assert!(!players.iter().any(JoinHandle::is_finished), "one of the others has failed");
        thread::sleep(Duration::from_millis(10));
    }
    over.store(true, Ordering::SeqCst);
    let mut waited: Vec<Duration> =
        players.into_iter().flat_map(|it| it.join().expect("others are answered")).collect();
    waited.sort_unstable();

    // The attack still goes on.
    let peak = peak(id);
    let stopping = Instant::now();
    let stopped = server.terminate();
    let stopping = stopping.elapsed();
    attack.over.store(true, Ordering::SeqCst);
    for attacker in attackers {
        attacker.join().expect("no attack makes the server fail");
    }
    if is_full() {
        let of = |share: usize| waited[(waited.len() - 1) * share / 1000];
        show(&format!(
            "{} answers to others: p50 {:?}, p99 {:?}, p99.9 {:?}, most {:?}; {} plies; {} attacks \
             answered: {:?}, the largest {} bytes; memory {peak:?} KB; stopped in {stopping:?}",
            waited.len(),
            of(500),
            of(990),
            of(999),
            of(1000),
            plies.load(Ordering::SeqCst),
            attack.answered.load(Ordering::SeqCst),
            attack.statuses.lock().unwrap(),
            attack.largest.load(Ordering::SeqCst),
        ));
    }
    assert!(stopped, "an orderly end");
    assert!(peak.is_none_or(|it| it < MEMORY), "the server took {peak:?} KB");
    assert!(attack.largest.load(Ordering::SeqCst) < 4 << 20, "an answer of megabytes");
    let health = rulemate::internals::server::store::open(&folder.url()).unwrap().check().unwrap();
    assert_eq!(health.faults, Vec::<String>::new());
}

#[expect(clippy::print_stderr, reason = "figures for whoever asked for them")]
fn show(text: &str) {
    eprintln!("{text}");
}
