//! Nonsense, made from what makes sense: requests, socket messages, texts of every format, rule
//! files. Nothing panics, nothing is answered with a failure of the server's own, and no rules run
//! over their fuel. For a second each, or for `RULEMATE_FUZZ_SECONDS`; `RULEMATE_FUZZ_SEED` tries
//! others. What is found is written to `tests/data/fuzz/TARGET` and tried first from then on.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode};
use rulemate::internals::derive::Backend;
use rulemate::internals::game::GameSnapshot;
use rulemate::internals::moves::notation::PgnReader;
use rulemate::internals::presets::save::Save;
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::server::Config;
use serde_json::{Value, json};

use super::api::{Server, hosted, run};
use super::store::Folder;
use super::uploads::ask;
use super::wire::request;
use crate::setup::effort;

/// The processor time that one text may take: far more than any does.
const FUEL: Duration = Duration::from_secs(30);

struct Fuzz {
    target: &'static str,
    random: fastrand::Rng,
    /// What is still to be tried because it was found before.
    found: Vec<Vec<u8>>,
    corpus: Vec<Vec<u8>>,
    until: Instant,
    tried: usize,
}

impl Fuzz {
    fn new(target: &'static str, corpus: Vec<Vec<u8>>) -> Self {
        let setting = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
        let seconds = setting("RULEMATE_FUZZ_SECONDS").unwrap_or(1);
        let random = fastrand::Rng::with_seed(setting("RULEMATE_FUZZ_SEED").unwrap_or(1));
        let files = fs::read_dir(folder(target)).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = files.map(|it| it.path()).collect();
        files.sort();
        let found = files.iter().map(|it| fs::read(it).unwrap()).collect();
        assert!(!corpus.is_empty(), "{target} begins with something");
        let until = Instant::now() + Duration::from_secs(seconds);
        Self { target, random, found, corpus, until, tried: 0 }
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        self.tried += 1;
        if let Some(found) = self.found.pop() {
            return Some(found);
        }
        (Instant::now() < self.until).then(|| self.damaged())
    }

    /// Something of the corpus, changed in a few places.
    fn damaged(&mut self) -> Vec<u8> {
        let mut bytes = self.random.choice(&self.corpus).cloned().unwrap_or_default();
        for _ in 0..self.random.u32(1..6) {
            self.damage(&mut bytes);
        }
        bytes
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        const WORDS: &[&str] = &[
            "0",
            "-1",
            "1",
            "64",
            "255",
            "32768",
            "65536",
            "2147483648",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551616",
            "1e999",
            "\"\"",
            "null",
            "[]",
            "{}",
            "not ",
            ":- ",
            "_",
            "e4",
            "a1",
            "z99",
            "'",
            "\"",
            "(",
            ")",
            "\u{0}",
            "\u{1F600}",
            "\n",
            "{\"entity\":4294967295}",
            "true",
            ",",
            ".",
            "%",
            "\\u0000",
            "\\ud800",
            "q#+",
            "=",
            ";",
            "count",
            "sum",
            "min",
            "spawn",
            "set",
            "rewind 99",
            "stop",
            "raise",
            "tries",
        ];
        let at = self.random.usize(..=bytes.len());
        match self.random.u32(..8) {
            0 => {
                let word = self.random.choice(WORDS).copied().unwrap_or_default();
                bytes.splice(at..at, word.bytes());
            }
            // A piece goes, comes twice, or comes from elsewhere.
            1 | 2 => {
                let end = self.end_after(bytes, at);
                bytes.drain(at..end);
            }
            3 => {
                let end = self.end_after(bytes, at);
                let piece = bytes[at..end].to_vec();
                let to = self.random.usize(..=bytes.len());
                bytes.splice(to..to, piece);
            }
            4 => {
                let other = self.random.choice(&self.corpus).cloned().unwrap_or_default();
                let from = self.random.usize(..=other.len());
                let end = self.end_after(&other, from);
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            5 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.random.u32(..8);
                }
            }
            // A number becomes another one.
            6 => {
                let starts = bytes.iter().position(u8::is_ascii_digit);
                if let Some(start) = starts {
                    let digits = bytes[start..].iter().take_while(|it| it.is_ascii_digit()).count();
                    let word = self.random.choice(WORDS).copied().unwrap_or_default();
                    bytes.splice(start..start + digits, word.bytes());
                }
            }
            // Two lines change places.
            _ => {
                let mut lines: Vec<&[u8]> = bytes.split(|it| *it == b'\n').collect();
                let (a, b) = (self.random.usize(..lines.len()), self.random.usize(..lines.len()));
                lines.swap(a, b);
                *bytes = lines.join(&b'\n');
            }
        }
        bytes.truncate(64 * 1024);
    }

    fn end_after(&mut self, bytes: &[u8], at: usize) -> usize {
        let longest = if self.random.bool() { 8 } else { 200 };
        (at + self.random.usize(1..=longest)).min(bytes.len())
    }

    /// What was found is kept as a file, and told.
    fn fail(&self, input: &[u8], why: &str) -> ! {
        let folder = folder(self.target);
        let file = folder.join(name_of(input));
        fs::create_dir_all(&folder).and_then(|()| fs::write(&file, input)).unwrap();
        panic!("{}: {why}; the input is kept in {}", self.target, file.display());
    }

    fn done(&self) {
        assert!(self.tried > 20, "{}: {} inputs are too few", self.target, self.tried);
    }
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fuzz").join(target)
}

/// A name that is the same for the same input.
fn name_of(input: &[u8]) -> String {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn texts(list: &[&str]) -> Vec<Vec<u8>> {
    list.iter().map(|it| it.as_bytes().to_vec()).collect()
}

/// All files below a folder of this repository whose names end so.
fn files(folder: &str, end: &str) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                it if it.is_dir() => folders.push(it),
                it if it.to_string_lossy().ends_with(end) => found.push(fs::read(it).unwrap()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn chess() -> Ruleset {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    catalogue.load::<&str>("chess", &[]).unwrap_or_else(|it| panic!("{it}"))
}

/// Runs a reader on every input; it may refuse, but not panic.
fn survives(mut fuzz: Fuzz, mut read: impl FnMut(&[u8])) {
    while let Some(input) = fuzz.next() {
        let before = effort();
        if catch_unwind(AssertUnwindSafe(|| read(&input))).is_err() {
            fuzz.fail(&input, "a panic");
        }
        if effort() - before > FUEL {
            fuzz.fail(&input, "it took too much");
        }
    }
    fuzz.done();
}

#[test]
fn positions_and_moves_as_text() {
    let rules = chess();
    let corpus = texts(&[
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\ne2e4",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\nO-O-O",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1\nb5b6",
        "4k3/P7/8/8/8/8/8/4K3 w - - 99 50\na7a8q",
        "4k3/P7/8/8/8/8/8/4K3 w - e3 0 1\na8=N+",
    ]);
    survives(Fuzz::new("position", corpus), |input| {
        let text = String::from_utf8_lossy(input);
        let (fen, mv) = text.split_once('\n').unwrap_or((&text, ""));
        if let Ok(mut game) = rules.start_on(Backend::Bits, Some(fen)) {
            // A refusal is as good as a move, as long as it is one.
            let _ = game.play_text(mv);
            game.fen();
        }
    });
}

#[test]
fn games_and_facts_as_text() {
    let rules = chess();
    let mut game = rules.start(None).unwrap();
    for uci in ["e2e4", "d7d5", "e4d5", "d8d5", "b1c3"] {
        game.play_text(uci).unwrap();
    }
    let kept = serde_json::to_string(&game.snapshot().unwrap()).unwrap();
    let mut corpus = vec![kept.into_bytes(), game.to_json().into_bytes()];
    corpus.extend(files("tests/data/games", ".pgn"));
    corpus.extend(files("tests/data/saves", ".bin"));
    corpus.extend(files("tests/data/saves", ".json"));
    survives(Fuzz::new("games", corpus), |input| {
        for game in PgnReader::new(input) {
            let _ = game.map(|it| it.to_pgn());
        }
        let _ = Save::read(input, "chess");
        let Ok(text) = std::str::from_utf8(input) else { return };
        if let Ok(mut game) = rules.resume_text(text) {
            game.listing();
        }
        let kept = serde_json::from_str::<GameSnapshot>(text).ok();
        if let Some(mut game) = kept.and_then(|it| rules.restore_snapshot(&it)) {
            game.view();
            game.takeback();
        }
    });
}

#[test]
fn requests() {
    let config = Config { uploads: true, ..Config::default() };
    hosted("fuzz-requests", config, async |server| {
        let (id, token) =
            server.make(json!({ "game": "double-move", "seat": "both", "chat": true })).await;
        let game = format!("/api/v1/games/{id}");
        let line = |method: &str, path: &str, body: &str| {
            format!("{method}\n{path}\n{token}\n{body}").into_bytes()
        };
        let clock = "\"clock\":{\"initial\":60000,\"increment\":1000,\"delay\":0}";
        let corpus = vec![
            line(
                "POST",
                "/api/v1/games",
                &format!(
                    "{{\"game\":\"chess\",\"presets\":[\"piece-hp:white:hp=3\"],\"seat\":\"random\",{clock}}}"
                ),
            ),
            line(
                "POST",
                "/api/v1/games",
                "{\"pgn\":\"[Variant \\\"Knightmate\\\"]\\n\\n1. e4 e5 2. Nc3 *\"}",
            ),
            line(
                "POST",
                "/api/v1/games",
                "{\"game\":\"chess960:position=518\",\"fen\":\"8/8/8/8/8/8/8/KQ5k w - - 0 1\"}",
            ),
            line(
                "POST",
                &format!("{game}/moves"),
                "{\"uci\":\"e2e4\",\"expected_ply\":0,\"client_move_id\":\"m\"}",
            ),
            line("POST", &format!("{game}/takeback"), "{\"id\":\"t\"}"),
            line(
                "POST",
                &format!("{game}/presets"),
                "{\"presets\":[\"coregal:white\",\"stamina\"]}",
            ),
            line("POST", &format!("{game}/chat"), "{\"text\":\"hello\"}"),
            line("POST", &format!("{game}/decline"), "{\"offer\":\"takeback\"}"),
            line("POST", &format!("{game}/join"), "{\"seat\":\"white\",\"name\":\"x\"}"),
            line("GET", &format!("{game}?ply=1"), ""),
            line("GET", &format!("{game}/explain?move=e2e4&ply=0"), ""),
            line("GET", &format!("{game}/explain?fact=attacks(e4,%20d5)"), ""),
            line("GET", &format!("{game}/explain?square=e4"), ""),
            line("GET", &format!("{game}/export?format=pgn"), ""),
            line("GET", "/api/v1/games?state=waiting&limit=3", ""),
            line(
                "POST",
                "/api/v1/presets/check",
                "{\"game\":\"chess\",\"presets\":[\"cannon\",\"piece-shield:both:shields=2\"]}",
            ),
            line(
                "POST",
                "/api/challenge/ben",
                "variant=knightmate&clock.limit=300&clock.increment=2&color=white",
            ),
            line("POST", &format!("/api/board/game/{id}/move/e2e4"), ""),
        ];
        let mut fuzz = Fuzz::new("requests", corpus);
        while let Some(input) = fuzz.next() {
            let Ok(text) = std::str::from_utf8(&input) else { continue };
            let Some(request) = request(&text.replace("GAME", &id)) else { continue };
            let path = request.uri().path().to_owned();
            // Streams do not end.
            if path.contains("stream") {
                continue;
            }
            let (status, body) = server.send(request).await;
            let told = body["error"].is_string() || body.is_string();
            if status == StatusCode::INTERNAL_SERVER_ERROR || (status.as_u16() >= 400 && !told) {
                fuzz.fail(&input, &format!("{status} {body}"));
            }
        }
        let (status, state) = server.get(&game).await;
        assert_eq!(status, StatusCode::OK, "{state}");
        let log = server.web.host.log(&id).await.unwrap();
        assert!(log.iter().enumerate().all(|(at, it)| it.v == at as u64 + 1));
        fuzz.done();
    });
}

#[test]
fn socket_messages() {
    let folder = Folder::new("fuzz-socket");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = super::socket::listen(&server).await;
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let auth = format!("{{\"t\":\"auth\",\"a\":0,\"d\":{{\"token\":\"{token}\"}}}}");
        let mut corpus = texts(&[
            "{\"t\":\"move\",\"a\":1,\"d\":{\"uci\":\"e2e4\",\"expected_ply\":0,\"client_move_id\":\"x\"}}",
            "{\"t\":\"ping\",\"a\":[1,2,{\"x\":null}]}",
        ]);
        corpus.push(auth.clone().into_bytes());
        let mut fuzz = Fuzz::new("socket", corpus);
        let mut client = super::socket::Client::to(address, &id, "?v=3").await;
        let mut said = 0;
        while let Some(input) = fuzz.next() {
            // Who says too much in a second is sent away: another one comes.
            if said > 14 {
                client = super::socket::Client::to(address, &id, "?v=0").await;
                client.say_text(&auth).await;
                said = 1;
            }
            said += 1;
            let text = String::from_utf8_lossy(&input).chars().take(1_000).collect::<String>();
            client.say_text(&text).await;
            if said % 6 != 0 {
                continue;
            }
            // It still answers, and says nothing but what it may say.
            client.say_text("{\"t\":\"ping\",\"a\":\"here\"}").await;
            said += 1;
            loop {
                let Some(heard) = client.hear().await else {
                    fuzz.fail(&input, "the server has closed");
                };
                let is_failure = heard["d"]["error"] == "internal";
                if is_failure || !(heard["t"].is_string()) {
                    fuzz.fail(&input, &heard.to_string());
                }
                if heard["t"] == "pong" && heard["a"] == "here" {
                    break;
                }
            }
        }
        fuzz.done();
    });
}

#[test]
fn uploaded_rules() {
    let config = Config { uploads: true, ..Config::default() };
    hosted("fuzz-rules", config, async |server| {
        let mut corpus = files("rules/presets", ".dl");
        corpus.extend(files("tests/data/rules", ".dl"));
        corpus.extend(files("tests/data/griffon", ".dl"));
        let mut fuzz = Fuzz::new("rules", corpus);
        let mut compiled = 0;
        while let Some(input) = fuzz.next() {
            // Under names of their own, or they would only clash with what they were made from.
            let text =
                String::from_utf8_lossy(&input).replace(".meta preset \"", ".meta preset \"x-");
            let body = json!({ "text": text, "keep": true });
            let (status, answer) = server.post("/api/v1/rules", "", body).await;
            let known = [200, 400, 413, 422].contains(&status.as_u16());
            if !known {
                fuzz.fail(&input, &format!("{status}: {answer}"));
            }
            let Some(rules) = answer["rules"].as_str() else { continue };
            compiled += 1;
            if let Err(why) = played(server, rules, &answer["name"]).await {
                fuzz.fail(&input, &why);
            }
            // One may keep so many, and no more.
            let path = format!("/api/v1/rules/{rules}");
            let (status, answer) = ask(server, Method::DELETE, &path, "").await;
            assert!(status.is_success(), "{answer}");
        }
        assert!(compiled > 0 || fuzz.tried < 200, "{} tried, none compiled", fuzz.tried);
        fuzz.done();
    });
}

/// Plays a little by uploaded rules: answered or refused, in time.
async fn played(server: &Server, rules: &str, name: &Value) -> Result<(), String> {
    let presets: Vec<&str> = name.as_str().into_iter().collect();
    let options = json!({ "game": "chess", "presets": presets, "rules": rules });
    let (status, made) = server.post("/api/v1/games", "", options).await;
    let mut told = (status, made);
    for ply in 0..4 {
        if told.0.is_server_error() {
            return Err(format!("{}: {}", told.0, told.1));
        }
        let Some(id) = told.1["id"].as_str().map(str::to_owned) else { return Ok(()) };
        let legal = told.1["legal"].as_array().cloned().unwrap_or_default();
        let Some(uci) = legal.get(ply * 5 % legal.len().max(1)).and_then(Value::as_str) else {
            return Ok(());
        };
        let (status, answer) = server.play(&id, "", uci).await;
        if status.is_server_error() {
            return Err(format!("{uci}: {status}: {answer}"));
        }
        told = server.get(&format!("/api/v1/games/{id}")).await;
    }
    Ok(())
}
