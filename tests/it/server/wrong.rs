//! Every address, with everything that can be wrong with a request: a status, a stable code, a
//! sentence, and nothing has changed. Against the real server at its most talkative, whose log is
//! then searched for secrets. The table has every address of `/openapi.json`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rulemate::internals::server::Config;
use serde_json::{Value, json};

use super::api::hosted;
use super::kill::Wire;
use super::store::Folder;

/// What a request needs to be taken.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Seat,
    Account,
}

/// A request that is right but for the game, which is over.
struct Row {
    method: &'static str,
    /// As `/openapi.json` has it.
    path: &'static str,
    /// With `GAME` for the game's id.
    address: &'static str,
    /// Something that could be sent; nothing if the body is not read.
    body: &'static str,
    needs: Needs,
}

const fn row(
    method: &'static str,
    path: &'static str,
    address: &'static str,
    body: &'static str,
    needs: Needs,
) -> Row {
    Row { method, path, address, body, needs }
}

const GAME: &str = "/api/v1/games/{id}";
const ACT: &str = "/api/v1/games/{id}/{act}";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("POST", "/api/v1/games", "/api/v1/games", "{\"game\":\"chess\"}", Needs::Nothing),
    row("GET", "/api/v1/games", "/api/v1/games", "", Needs::Nothing),
    row("GET", GAME, "/api/v1/games/GAME", "", Needs::Nothing),
    row("POST", "/api/v1/games/{id}/join", "/api/v1/games/GAME/join", "{}", Needs::Nothing),
    row("POST", "/api/v1/games/{id}/moves", "/api/v1/games/GAME/moves", "{\"uci\":\"e2e4\"}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/resign", "{}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/abort", "{}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/claim", "{}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/draw", "{}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/takeback", "{}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/decline", "{\"offer\":\"draw\"}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/presets", "{\"presets\":[]}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/chat", "{\"text\":\"x\"}", Needs::Seat),
    row("POST", ACT, "/api/v1/games/GAME/rematch", "{}", Needs::Seat),
    row("GET", "/api/v1/games/{id}/lines", "/api/v1/games/GAME/lines", "", Needs::Nothing),
    row("GET", "/api/v1/games/{id}/events", "/api/v1/games/GAME/events", "", Needs::Nothing),
    row("GET", "/api/v1/games/{id}/explain", "/api/v1/games/GAME/explain?move=e2e4", "", Needs::Nothing),
    row("GET", "/api/v1/games/{id}/advice", "/api/v1/games/GAME/advice", "", Needs::Nothing),
    row("GET", "/api/v1/games/{id}/export", "/api/v1/games/GAME/export", "", Needs::Nothing),
    row("GET", "/api/v1/catalogue", "/api/v1/catalogue", "", Needs::Nothing),
    row("POST", "/api/v1/presets/check", "/api/v1/presets/check", "{\"game\":\"chess\"}", Needs::Nothing),
    row("POST", "/api/v1/rules", "/api/v1/rules", "{\"text\":\"\"}", Needs::Nothing),
    row("GET", "/api/v1/rules", "/api/v1/rules", "", Needs::Nothing),
    row("DELETE", "/api/v1/rules/{rules}", "/api/v1/rules/nosuchrules", "", Needs::Nothing),
    row("POST", "/api/v1/accounts", "/api/v1/accounts", "{\"name\":\"ann\"}", Needs::Nothing),
    row("POST", "/api/v1/login", "/api/v1/login", "{\"name\":\"ann\",\"code\":\"x\"}", Needs::Nothing),
    row("GET", "/api/v1/account", "/api/v1/account", "", Needs::Account),
    row("POST", "/api/v1/account/codes", "/api/v1/account/codes", "", Needs::Account),
    row("GET", "/api/v1/account/games", "/api/v1/account/games", "", Needs::Account),
    row("DELETE", "/api/v1/account/devices/{device}", "/api/v1/account/devices/x", "", Needs::Account),
    row("GET", "/api/v1/users/{name}", "/api/v1/users/nosuchuser", "", Needs::Nothing),
    row("GET", "/api/v1/games/{id}/rating", "/api/v1/games/GAME/rating", "", Needs::Nothing),
    row("GET", "/api/v1/account/blocks", "/api/v1/account/blocks", "", Needs::Account),
    row("POST", "/api/v1/account/blocks", "/api/v1/account/blocks", "{\"name\":\"ben\"}", Needs::Account),
    row("DELETE", "/api/v1/account/blocks/{name}", "/api/v1/account/blocks/ben", "", Needs::Account),
    row("POST", "/api/v1/games/{id}/report", "/api/v1/games/GAME/report", "{\"text\":\"x\"}", Needs::Nothing),
    row("POST", ACT, "/api/v1/games/GAME/hush", "{}", Needs::Seat),
    row("POST", "/api/v1/pairings", "/api/v1/pairings", "{}", Needs::Account),
    row("GET", "/api/v1/leaders", "/api/v1/leaders?rules=chess", "", Needs::Nothing),
    row("POST", "/api/v1/studies", "/api/v1/studies", "{}", Needs::Account),
    row("GET", "/api/v1/studies", "/api/v1/studies", "", Needs::Account),
    row("GET", "/api/v1/studies/{study}", "/api/v1/studies/none", "", Needs::Nothing),
    row("GET", "/api/v1/studies/{study}/pgn", "/api/v1/studies/none/pgn", "", Needs::Nothing),
    row("DELETE", "/api/v1/studies/{study}", "/api/v1/studies/none", "", Needs::Account),
    row("GET", "/api/v1/studies/{study}/nodes/{node}", "/api/v1/studies/none/nodes/0", "", Needs::Nothing),
    row("DELETE", "/api/v1/studies/{study}/nodes/{node}", "/api/v1/studies/none/nodes/1", "", Needs::Account),
    row("POST", "/api/v1/studies/{study}/moves", "/api/v1/studies/none/moves", "{\"after\":0,\"uci\":\"e2e4\"}", Needs::Account),
    row("POST", "/api/v1/studies/{study}/comments", "/api/v1/studies/none/comments", "{\"node\":0,\"text\":\"x\"}", Needs::Account),
    row("POST", "/api/v1/tournaments", "/api/v1/tournaments", "{\"rounds\":3,\"clock\":{\"initial\":1}}", Needs::Account),
    row("GET", "/api/v1/tournaments", "/api/v1/tournaments", "", Needs::Nothing),
    row("GET", "/api/v1/tournaments/{tournament}", "/api/v1/tournaments/none", "", Needs::Nothing),
    row("DELETE", "/api/v1/tournaments/{tournament}", "/api/v1/tournaments/none", "", Needs::Account),
    row("GET", "/api/v1/tournaments/{tournament}/games", "/api/v1/tournaments/none/games", "", Needs::Nothing),
    row("POST", "/api/v1/tournaments/{tournament}/join", "/api/v1/tournaments/none/join", "", Needs::Account),
    row("POST", "/api/v1/tournaments/{tournament}/withdraw", "/api/v1/tournaments/none/withdraw", "", Needs::Account),
    row("POST", "/api/v1/tournaments/{tournament}/end", "/api/v1/tournaments/none/end", "", Needs::Account),
    row("POST", "/api/v1/tournaments/{tournament}/start", "/api/v1/tournaments/none/start", "", Needs::Account),
    row("GET", "/ws/v1/games/{id}", "/ws/v1/games/GAME", "", Needs::Nothing),
    row("GET", "/healthz", "/healthz", "", Needs::Nothing),
    row("GET", "/readyz", "/readyz", "", Needs::Nothing),
    // What lichess' clients use is described by lichess.
    row("GET", "", "/api/account", "", Needs::Account),
    row("POST", "", "/api/challenge/ben", "{}", Needs::Account),
    row("POST", "", "/api/challenge/ai", "{\"level\":1}", Needs::Account),
    row("POST", "", "/api/challenge/GAME/accept", "", Needs::Account),
    row("POST", "", "/api/challenge/GAME/decline", "", Needs::Account),
    row("POST", "", "/api/challenge/GAME/cancel", "", Needs::Account),
    row("GET", "", "/api/stream/event", "", Needs::Account),
    row("GET", "", "/api/board/game/stream/GAME", "", Needs::Account),
    row("POST", "", "/api/board/game/GAME/move/e2e4", "", Needs::Account),
    row("POST", "", "/api/board/game/GAME/resign", "", Needs::Account),
    row("POST", "", "/api/board/game/GAME/draw/yes", "", Needs::Account),
    row("GET", "", "/api/bot/game/stream/GAME", "", Needs::Account),
    row("POST", "", "/api/bot/game/GAME/move/e2e4", "", Needs::Account),
    row("GET", "", "/game/export/GAME", "", Needs::Nothing),
];

/// What makes a request one for a WebSocket.
pub(super) const HANDSHAKE: &str = "connection: upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// A server whose log is read along.
struct Talkative {
    child: Child,
    address: String,
    log: Option<thread::JoinHandle<String>>,
}

impl Talkative {
    fn start(folder: &Folder) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rulemate"))
            .args(["serve", "--listen", "127.0.0.1:0", "--store", &folder.url()])
            .args(["--uploads", "--log", "trace"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut bytes = Vec::new();
            errors.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address, log: Some(log) }
    }

    /// One request on a connection of its own.
    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
        let mut wire = Wire::to(&self.address).unwrap();
        let headers = match token {
            "" => String::new(),
            it => format!("authorization: Bearer {it}\r\n"),
        };
        let headers = match body.starts_with('{') {
            true => format!("{headers}content-type: application/json\r\n"),
            false => headers,
        };
        let headers = match path.starts_with("/ws/") {
            true => format!("{headers}{HANDSHAKE}"),
            false => headers,
        };
        let answer = wire.ask_with(method, path, &headers, body);
        answer.unwrap_or_else(|| panic!("{method} {path}: no answer"))
    }

    /// Its log, when it has stopped.
    fn stop(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.log.take().unwrap().join().unwrap()
    }
}

impl Drop for Talkative {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A game under way, and who knows what of it.
struct Scene {
    server: Talkative,
    id: String,
    white: String,
    black: String,
    /// Of somebody who plays somewhere else.
    stranger: String,
    account: String,
}

impl Scene {
    fn new(folder: &Folder) -> Self {
        let server = Talkative::start(folder);
        let token = |answer: &Value| answer["token"].as_str().unwrap_or_default().to_owned();
        let game = "{\"game\":\"chess\",\"seat\":\"white\",\"listed\":true}";
        let (_, made) = server.ask("POST", "/api/v1/games", "", game);
        let id = made["id"].as_str().unwrap().to_owned();
        let (_, joined) = server.ask("POST", &format!("/api/v1/games/{id}/join"), "", "{}");
        let (_, other) = server.ask("POST", "/api/v1/games", "", game);
        let account = |name: &str| {
            let body = json!({ "name": name }).to_string();
            token(&server.ask("POST", "/api/v1/accounts", "", &body).1)
        };
        let (ann, ben) = (account("ann"), account("ben"));
        assert!(ann.len() == 68 && ben.len() == 68);
        let (white, black, stranger) = (token(&made), token(&joined), token(&other));
        Self { server, id, white, black, stranger, account: ann }
    }

    /// Everything that could have changed.
    fn state(&self) -> String {
        let (_, mut state) = self.server.ask("GET", &format!("/api/v1/games/{}", self.id), "", "");
        state.as_object_mut().unwrap().remove("now");
        let events = self.server.ask("GET", &format!("/api/v1/games/{}/events", self.id), "", "");
        let (_, list) = self.server.ask("GET", "/api/v1/games", "", "");
        format!("{state} {} {list}", events.1)
    }

    fn token(&self, needs: Needs) -> &str {
        match needs {
            Needs::Nothing => "",
            Needs::Seat => &self.white,
            Needs::Account => &self.account,
        }
    }

    fn refused(&self, fault: &str, row: &Row, answer: &(u16, Value), expected: &[(u16, &str)]) {
        let (status, body) = answer;
        let what = format!("{fault}: {} {}: {status} {body}", row.method, row.address);
        // Lichess' clients read the sentence where ours read the code.
        let (code, sentence) = match body["code"].as_str() {
            Some(code) => (code, &body["error"]),
            None => (body["error"].as_str().unwrap_or_default(), &body["message"]),
        };
        assert!(expected.contains(&(*status, code)), "{what}");
        assert!(sentence.as_str().is_some_and(|it| it.len() > 5), "{what}");
    }
}

fn has_body(row: &Row) -> bool {
    row.method == "POST" && !row.body.is_empty()
}

#[test]
fn every_address_refuses_what_is_wrong_and_nothing_changes() {
    let folder = Folder::new("table");
    let scene = Scene::new(&folder);
    let (_, openapi) = scene.server.ask("GET", "/openapi.json", "", "");
    let described: BTreeSet<&str> =
        openapi["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let tabled: BTreeSet<&str> =
        ROWS.iter().map(|it| it.path).filter(|it| !it.is_empty()).collect();
    assert_eq!(tabled, described, "the table has every address of /openapi.json");
    for row in ROWS.iter().filter(|it| it.address.contains("GAME") && !it.path.is_empty()) {
        let operation = &openapi["paths"][row.path][row.method.to_lowercase()];
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.contains_key("404"), "{} {}: no such game", row.method, row.path);
        let parameters = operation["parameters"].as_array().unwrap();
        // A socket's `v` is the last event that the client has.
        if !row.path.starts_with("/ws") && parameters.iter().any(|it| it["name"] == "v") {
            assert!(answers.contains_key("409"), "{} {}: no such event", row.method, row.path);
        }
    }

    let before = scene.state();
    for row in ROWS {
        let address = row.address.replace("GAME", &scene.id);
        let token = scene.token(row.needs);
        let ask = |address: &str, token: &str, body: &str| {
            scene.server.ask(row.method, address, token, body)
        };
        if row.address.contains("GAME") {
            let nowhere = row.address.replace("GAME", "nosuchgame");
            let answer = ask(&nowhere, token, row.body);
            let codes = [(404, "no_such_game"), (404, "no_such_challenge")];
            scene.refused("unknown game", row, &answer, &codes);
        }
        if row.needs != Needs::Nothing {
            let wrong = [(401, "token_wrong"), (403, "token_wrong"), (400, "token_wrong")];
            let answer = ask(&address, &"0".repeat(64), row.body);
            scene.refused("wrong token", row, &answer, &wrong);
            scene.refused("no token", row, &ask(&address, "", row.body), &[(401, "token_missing")]);
        }
        if row.needs == Needs::Seat {
            let answer = ask(&address, &scene.stranger, row.body);
            scene.refused("another game's seat", row, &answer, &[(403, "token_wrong")]);
        }
        if has_body(row) {
            let malformed = [(400, "malformed_json")];
            for body in ["{\"uci\":", "{]", "{\"\\ud800\":1}", "{\"a\":1}{", "{\"game\":7,\"a\":"] {
                scene.refused("malformed", row, &ask(&address, token, body), &malformed);
            }
            let large = format!("{{\"text\":\"{}\"}}", "x".repeat(70_000));
            let answer = ask(&address, token, &large);
            scene.refused("oversized", row, &answer, &[(413, "body_too_large")]);
        }
        if has_body(row) && !row.path.is_empty() && row.path != "/api/v1/accounts" {
            let unknown = "{\"nonsense\":1}";
            let answer = ask(&address, token, unknown);
            scene.refused("unknown field", row, &answer, &[(400, "malformed_json")]);
        }
        let is_deleted = ROWS.iter().any(|it| it.path == row.path && it.method == "DELETE");
        let method = if row.method == "GET" && !is_deleted { "DELETE" } else { "PUT" };
        let answer = scene.server.ask(method, &address, token, "");
        scene.refused("wrong method", row, &answer, &[(405, "method_not_allowed")]);
        let is_for_lichess = answer.1["code"].is_string();
        assert_eq!(is_for_lichess, row.path.is_empty(), "{}: the form of its clients", row.address);
    }
    let rules = ROWS.iter().find(|it| it.method == "DELETE").unwrap();
    let answer = scene.server.ask("DELETE", rules.address, "", "");
    scene.refused("unknown rules", rules, &answer, &[(404, "no_such_rules")]);
    for (method, address) in [("POST", "/api/v1/rules"), ("GET", "/api/v1/rules")] {
        let answer = scene.server.ask(method, address, &scene.white, "{\"text\":\"\"}");
        scene.refused("no account", rules, &answer, &[(401, "token_wrong")]);
    }
    let moves = format!("/api/v1/games/{}/moves", scene.id);
    let play = &ROWS[4];
    let answer = scene.server.ask("POST", &moves, &scene.black, play.body);
    scene.refused("wrong seat", play, &answer, &[(403, "not_your_turn")]);
    for ply in ["1", "7", "4294967296"] {
        let body = format!("{{\"uci\":\"e2e4\",\"expected_ply\":{ply}}}");
        // Whichever side is to move: a client that has not seen the last moves does not know.
        for token in [&scene.white, &scene.black] {
            let answer = scene.server.ask("POST", &moves, token, &body);
            scene.refused("stale ply", play, &answer, &[(409, "stale_ply")]);
            assert_eq!(answer.1["ply"], 0);
        }
    }
    for row in ["", "/lines", "/explain?move=e2e4", "/export"] {
        let with = if row.contains('?') { '&' } else { '?' };
        let address = format!("/api/v1/games/{}{row}{with}v=99", scene.id);
        let answer = scene.server.ask("GET", &address, "", "");
        scene.refused("unknown version", play, &answer, &[(409, "no_such_version")]);
        assert_eq!(answer.1["v"], 3);
    }
    let join = format!("/api/v1/games/{}/join", scene.id);
    let answer = scene.server.ask("POST", &join, "", "{}");
    scene.refused("no free seat", &ROWS[3], &answer, &[(409, "seat_taken")]);
    assert_eq!(scene.state(), before, "nothing has changed");

    let (status, _) = scene.server.ask("POST", &moves, &scene.white, play.body);
    assert_eq!(status, 200, "and the game goes on");
    let secrets = [&scene.white, &scene.black, &scene.stranger, &scene.account].map(Clone::clone);
    let log = scene.server.stop();
    assert!(log.len() > 1_000, "the log has something in it");
    for secret in secrets {
        assert!(secret.len() >= 64);
        assert!(!log.contains(&secret), "a token is in the log");
    }
}

/// Sends the head of a request, then a body that does not end, slowly or fast; what comes back.
fn endless(address: &str, row: &Row, token: &str, pace: Option<Duration>) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let (method, path) = (row.method, row.address.replace("GAME", "nosuchgame"));
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = stream.try_clone().unwrap();
    let answer = thread::spawn(move || {
        let mut bytes = [0; 2048];
        let mut text = String::new();
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            text += &String::from_utf8_lossy(&bytes[..count]);
            if text.contains("\r\n\r\n{") {
                break;
            }
        }
        text
    });
    let chunk = match pace {
        None => format!("1000\r\n{}\r\n", " ".repeat(4096)),
        Some(_) => "1\r\n \r\n".to_owned(),
    };
    while !answer.is_finished() {
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
        thread::sleep(pace.unwrap_or_default());
    }
    answer.join().unwrap()
}

#[test]
fn uploads_that_never_end_are_ended() {
    let folder = Folder::new("endless");
    let scene = Scene::new(&folder);
    let before = scene.state();
    thread::scope(|scope| {
        for row in ROWS.iter().filter(|it| has_body(it)) {
            let (address, token) = (&scene.server.address, scene.token(row.needs));
            scope.spawn(move || {
                let answer = endless(address, row, token, None);
                assert!(answer.starts_with("HTTP/1.1 413"), "fast: {}: {answer}", row.address);
                assert!(answer.contains("body_too_large"), "{}: {answer}", row.address);
            });
            scope.spawn(move || {
                let answer = endless(address, row, token, Some(Duration::from_millis(200)));
                assert!(answer.starts_with("HTTP/1.1 408"), "slow: {}: {answer}", row.address);
                assert!(answer.contains("request_timeout"), "{}: {answer}", row.address);
            });
        }
        // Heads that never end, and connections without one.
        for text in ["", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nx: "] {
            let address = &scene.server.address;
            scope.spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
                stream.write_all(text.as_bytes()).unwrap();
                // Closed is closed, politely or not; what ends here may only be the waiting.
                let ended = stream.read_to_end(&mut Vec::new()).err().map(|it| it.kind());
                let waits = [ErrorKind::WouldBlock, ErrorKind::TimedOut];
                assert!(ended.is_none_or(|it| !waits.contains(&it)), "{text:?} is kept waiting");
            });
        }
    });
    assert_eq!(scene.state(), before, "nothing has changed");
    scene.server.stop();
}

/// A text that means no action at all is refused by a name too, where rules have one for it.
#[test]
fn a_text_that_means_nothing_has_the_name_that_rules_give_it() {
    hosted("faults", Config::default(), async |server| {
        let (id, token) = server.make(json!({ "game": "ability-chess", "seat": "both" })).await;
        let rows = [
            ("e5e6", "no_piece"),
            ("zz:e2e4", "illegal"),
            ("a1a9", "illegal"),
            ("a1b1", "friendly"),
        ];
        for (text, reason) in rows {
            let answer = server.play(&id, &token, text).await;
            let told = (answer.0.as_u16(), &answer.1["error"], &answer.1["reason"]);
            assert_eq!(told, (422, &json!("illegal_move"), &json!(reason)), "{text}: {}", answer.1);
        }
    });
}
