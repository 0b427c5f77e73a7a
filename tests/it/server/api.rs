//! The HTTP API as clients see it: a whole game, every kind of wrong request, what leaves the
//! server, what is left when it starts again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use rulemate::internals::server::store::{Journal, open};
use rulemate::internals::server::{Config, Host, Library, Limits, Web, metrics_router, router};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::store::Folder;

/// A server without a socket.
pub(super) struct Server {
    pub(super) web: Web,
    journal: Journal,
}

impl Server {
    pub(super) fn start(folder: &Folder, config: Config) -> Self {
        Self::on(&folder.url(), config)
    }

    pub(super) fn on(url: &str, config: Config) -> Self {
        let (writing, reading) = (open(url).unwrap(), open(url).unwrap());
        let (host, journal) =
            Host::start(Library::new().unwrap(), writing, reading, config).unwrap();
        let web = Web {
            host,
            limits: Arc::new(Limits::default()),
            challenges: Arc::default(),
            names: Arc::default(),
        };
        Self { web, journal }
    }

    pub(super) fn stop(self) {
        self.web.host.drain();
        drop(self.web);
        self.journal.finish();
    }

    pub(super) async fn send(&self, request: Request<Body>) -> (StatusCode, Value) {
        let answer = router(self.web.clone()).oneshot(request).await.unwrap();
        let status = answer.status();
        let bytes = to_bytes(answer.into_body(), 1 << 22).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        (status, value)
    }

    pub(super) async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub(super) async fn post(&self, path: &str, token: &str, body: Value) -> (StatusCode, Value) {
        let mut request = Request::post(path);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// What its counters say.
    pub(super) async fn metrics(&self) -> String {
        let request = Request::get("/metrics").body(Body::empty()).unwrap();
        let answer = metrics_router(self.web.clone()).oneshot(request).await.unwrap();
        let bytes = to_bytes(answer.into_body(), 1 << 22).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// Makes a game; its id and the token.
    pub(super) async fn make(&self, body: Value) -> (String, String) {
        let (status, made) = self.post("/api/v1/games", "", body).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let text = |key: &str| made[key].as_str().unwrap_or_default().to_owned();
        (text("id"), text("token"))
    }

    pub(super) async fn play(&self, id: &str, token: &str, uci: &str) -> (StatusCode, Value) {
        self.post(&format!("/api/v1/games/{id}/moves"), token, json!({ "uci": uci })).await
    }
}

pub(super) fn run<F: Future<Output = ()>>(test: F) {
    let builder =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    builder.unwrap().block_on(test);
}

/// A test against a server of its own, which is stopped when the test is over.
pub(super) fn hosted(name: &str, config: Config, test: impl AsyncFnOnce(&Server)) {
    let folder = Folder::new(name);
    run(async {
        let server = Server::start(&folder, config);
        test(&server).await;
        server.stop();
    });
}

fn expect(answer: &(StatusCode, Value), status: u16, code: &str) {
    let (found, body) = answer;
    assert_eq!((found.as_u16(), body["error"].as_str().unwrap_or("")), (status, code), "{body}");
    assert!(body["message"].as_str().is_some_and(|it| it.len() > 5), "a sentence: {body}");
}

#[test]
fn a_game_is_played_to_its_end() {
    hosted("whole", Config::default(), async |server| {
        let (id, white) =
            server.make(json!({ "game": "chess", "seat": "white", "name": "Ann" })).await;
        let join = format!("/api/v1/games/{id}/join");
        let (_, joined) = server.post(&join, "", json!({ "name": "Ben" })).await;
        let black = joined["token"].as_str().unwrap().to_owned();
        assert_eq!(joined["side"], 1);
        for (token, uci) in [(&white, "f2f3"), (&black, "e7e5"), (&white, "g4"), (&black, "Qh4")] {
            let (status, answer) = server.play(&id, token, uci).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!(state["moves"], json!(["f2f3", "e7e5", "g2g4", "d8h4"]));
        assert_eq!(state["result"]["reason"], "checkmate");
        assert_eq!(state["result"]["winner"], 1);
        assert_eq!(state["seats"], json!(["Ann", "Ben"]));
        assert_eq!(state["legal"], json!([]));
        let (_, past) = server.get(&format!("/api/v1/games/{id}?ply=1")).await;
        assert!(past["fen"].as_str().unwrap().starts_with("rnbqkbnr/pppppppp/8/8/8/5P2/"));
        let (_, pgn) = server.get(&format!("/api/v1/games/{id}/export")).await;
        let pgn = pgn.as_str().unwrap();
        assert!(pgn.contains("1. f3 e5 2. g4 Qh4# 0-1"), "{pgn}");
        assert!(pgn.contains("[White \"Ann\"]") && pgn.contains("[RulesHash \"blake3:"), "{pgn}");
        // A rematch has the seats turned, and both tokens still fit.
        assert_eq!(state["position"]["checks"], json!(["e1"]), "the king that is mated");
        let rematch = format!("/api/v1/games/{id}/rematch");
        server.post(&rematch, &white, json!({})).await;
        let (_, accepted) = server.post(&rematch, &black, json!({})).await;
        let next = accepted["game"].as_str().unwrap();
        let (status, answer) = server.play(next, &black, "e2e4").await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    });
}

#[test]
fn signs_that_cannot_be_seen_are_refused() {
    hosted("unseen", Config::default(), async |server| {
        let (id, token) =
            server.make(json!({ "game": "chess", "seat": "white", "chat": true })).await;
        let at = |what: &str| format!("/api/v1/games/{id}/{what}");
        for text in ["Ann\u{202e}", "\u{1b}[2J", "a\u{0}b", "a\nb"] {
            let made = json!({ "game": "chess", "seat": "white", "name": text });
            expect(&server.post("/api/v1/games", "", made).await, 400, "unprintable");
            let joined = server.post(&at("join"), "", json!({ "name": text })).await;
            expect(&joined, 400, "unprintable");
            let said = server.post(&at("chat"), &token, json!({ "text": text })).await;
            expect(&said, 400, "unprintable");
        }
        let (status, answer) =
            server.post(&at("join"), "", json!({ "name": "Zoë 👩\u{200d}🔬" })).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    });
}

#[test]
fn wrong_requests_get_a_code_a_sentence_and_change_nothing() {
    hosted("wrong", Config::default(), async |server| {
        let (id, white) = server.make(json!({ "game": "chess", "seat": "white" })).await;
        let moves = format!("/api/v1/games/{id}/moves");
        let uci = json!({ "uci": "e2e4" });
        expect(&server.get("/api/v1/games/nosuchgame").await, 404, "no_such_game");
        expect(&server.get("/nowhere").await, 404, "no_such_address");
        let browse = |path: &str| {
            Request::get(path).header("accept", "text/html,*/*").body(Body::empty()).unwrap()
        };
        let (status, page) = server.send(browse("/nowhere")).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert!(page.as_str().is_some_and(|it| it.starts_with("<!doctype html>")), "{page}");
        expect(&server.send(browse("/api/v1/nowhere")).await, 404, "no_such_address");
        expect(&server.get("/api/v1/games/%FF").await, 400, "bad_request");
        expect(&server.get(&format!("/ws/v1/games/{id}?v=x")).await, 400, "bad_request");
        let plain = server.get(&format!("/ws/v1/games/{id}")).await;
        expect(&plain, 400, "bad_request");
        assert!(plain.1["message"].as_str().unwrap().contains("WebSockets"), "{}", plain.1);
        let put = Request::put("/api/v1/games").body(Body::empty()).unwrap();
        expect(&server.send(put).await, 405, "method_not_allowed");
        expect(&server.post(&moves, "", uci.clone()).await, 401, "token_missing");
        expect(&server.post(&moves, "0123", uci.clone()).await, 403, "token_wrong");
        expect(&server.play(&id, &white, "e2e5").await, 422, "illegal_move");
        expect(&server.play(&id, &white, "hello").await, 422, "illegal_move");
        let stale = json!({ "uci": "e2e4", "expected_ply": 7 });
        let answer = server.post(&moves, &white, stale).await;
        expect(&answer, 409, "stale_ply");
        assert_eq!(answer.1["ply"], 0);
        let bad = Request::post(&moves).body(Body::from("{\"uci\":")).unwrap();
        expect(&server.send(bad).await, 400, "malformed_json");
        expect(&server.post(&moves, &white, json!({ "uci": 7 })).await, 400, "malformed_json");
        expect(&server.post(&moves, &white, json!({ "ucy": "e2e4" })).await, 400, "malformed_json");
        let large = json!({ "uci": "x".repeat(70_000) });
        expect(&server.post(&moves, &white, large).await, 413, "body_too_large");
        let draw = format!("/api/v1/games/{id}/decline");
        expect(&server.post(&draw, &white, json!({ "offer": "draw" })).await, 409, "no_such_offer");
        let shout = format!("/api/v1/games/{id}/shout");
        expect(&server.post(&shout, &white, json!({})).await, 404, "no_such_act");
        let chat = format!("/api/v1/games/{id}/chat");
        expect(&server.post(&chat, &white, json!({ "text": "hi" })).await, 409, "chat_off");
        let unknown = server.post("/api/v1/games", "", json!({ "game": "chss" })).await;
        expect(&unknown, 422, "no_such_game_name");
        assert!(unknown.1["message"].as_str().unwrap().contains("did you mean chess"));
        let preset = server.post("/api/v1/games", "", json!({ "presets": ["corregal"] })).await;
        expect(&preset, 422, "bad_preset");
        let fen = server.post("/api/v1/games", "", json!({ "fen": "8/8 w" })).await;
        expect(&fen, 422, "bad_position");
        expect(&server.get(&format!("/api/v1/games/{id}?ply=9")).await, 400, "no_such_ply");
        expect(&server.get(&format!("/api/v1/games/{id}?ply=x")).await, 400, "bad_query");
        expect(&server.post("/api/v1/rules", "", json!({ "text": "" })).await, 403, "uploads_off");
        let foreign = Request::post(&moves)
            .header("origin", "https://elsewhere.example")
            .header("host", "localhost:8088")
            .body(Body::from(uci.to_string()))
            .unwrap();
        expect(&server.send(foreign).await, 403, "origin_refused");
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!((&state["ply"], &state["v"]), (&json!(0), &json!(2)), "nothing has changed");
        assert_eq!(server.play(&id, &white, "e2e4").await.0, StatusCode::OK);
        expect(&server.play(&id, &white, "d2d4").await, 403, "not_your_turn");
    });
}

#[test]
fn a_repetition_is_claimed_by_the_side_to_move() {
    hosted("claim", Config::default(), async |server| {
        let (id, white) = server.make(json!({ "game": "chess", "seat": "white" })).await;
        let join = format!("/api/v1/games/{id}/join");
        let (_, joined) = server.post(&join, "", json!({ "name": "Ben" })).await;
        let black = joined["token"].as_str().unwrap().to_owned();
        let claim = format!("/api/v1/games/{id}/claim");
        for uci in ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(2) {
            let token = if uci.ends_with(['3', '1']) { &white } else { &black };
            let (status, answer) = server.play(&id, token, uci).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
        let path = format!("/api/v1/games/{id}");
        let (_, before) = server.get(&path).await;
        expect(&server.post(&claim, &black, json!({})).await, 403, "claim_out_of_turn");
        let (_, after) = server.get(&path).await;
        assert_eq!((&before["v"], &before["result"]), (&after["v"], &Value::Null));
        assert_eq!(after["result"], Value::Null);
        let (status, answer) = server.post(&claim, &white, json!({})).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let (_, state) = server.get(&path).await;
        assert_eq!(state["result"]["reason"], "threefold_repetition");
        expect(&server.post(&claim, &black, json!({})).await, 409, "game_over");
    });
}

/// A game of which the time of the side that moves second runs out: how it ended, its PGN, and what
/// clients of lichess are told.
async fn fallen(server: &Server, fen: &str, uci: &str) -> (Value, String, Value) {
    let clock = json!({ "initial": 100, "increment": 0, "delay": 0 });
    let body = json!({ "game": "chess", "fen": fen, "seat": "both", "clock": clock });
    let (id, token) = server.make(body).await;
    let (status, answer) = server.play(&id, &token, uci).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let result = loop {
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        if !state["result"].is_null() {
            break state["result"].clone();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let (_, pgn) = server.get(&format!("/api/v1/games/{id}/export")).await;
    let (_, account) = server.post("/api/v1/accounts", "", json!({ "name": uci })).await;
    let told = Request::get(format!("/api/board/game/stream/{id}"))
        .header("authorization", format!("Bearer {}", account["token"].as_str().unwrap()));
    let (_, told) = server.send(told.body(Body::empty()).unwrap()).await;
    let told = match told {
        Value::String(lines) => serde_json::from_str(lines.lines().next().unwrap()).unwrap(),
        whole => whole,
    };
    (result, pgn.as_str().unwrap().to_owned(), told["state"].clone())
}

#[test]
fn time_that_runs_out_is_judged_by_the_rules() {
    hosted("fall", Config::default(), async |server| {
        // Black has a king alone.
        let (result, pgn, told) = fallen(server, "4k3/8/8/8/8/8/8/R3K3 b - - 0 1", "e8e7").await;
        assert_eq!(result, json!({ "outcome": "draw", "reason": "timeout", "winner": null }));
        assert!(pgn.contains("[Termination \"time forfeit\"]"), "{pgn}");
        assert!(pgn.contains("[Result \"1/2-1/2\"]"), "{pgn}");
        assert_eq!((&told["status"], &told["winner"]), (&json!("outoftime"), &Value::Null));
        // It comes back as it was.
        let (id, _) = server.make(json!({ "pgn": pgn, "seat": "both" })).await;
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!(state["result"], result);
        let (result, pgn, told) = fallen(server, "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a2").await;
        assert_eq!((&result["reason"], &result["winner"]), (&json!("timeout"), &json!(0)));
        assert!(pgn.contains("[Result \"1-0\"]"), "{pgn}");
        assert_eq!((&told["status"], &told["winner"]), (&json!("outoftime"), &json!("white")));
        let lichess = pgn.replace("time forfeit", "Time forfeit");
        let (id, _) = server.make(json!({ "pgn": lichess, "seat": "both" })).await;
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!(state["result"], result);
    });
}

#[test]
fn a_move_that_comes_twice_is_answered_alike_and_played_once() {
    hosted("twice", Config::default(), async |server| {
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let moves = format!("/api/v1/games/{id}/moves");
        let body = json!({ "uci": "e2e4", "expected_ply": 0, "client_move_id": "m1" });
        let first = server.post(&moves, &token, body.clone()).await;
        assert_eq!(first.0, StatusCode::OK);
        assert_eq!(server.post(&moves, &token, body).await, first);
        let other = json!({ "uci": "d2d4", "expected_ply": 0, "client_move_id": "m2" });
        expect(&server.post(&moves, &token, other).await, 409, "stale_ply");
    });
}

#[test]
fn open_boards_need_no_token() {
    hosted("open", Config::default(), async |server| {
        let (id, token) = server.make(json!({ "game": "knightmate" })).await;
        assert!(token.is_empty());
        for uci in ["e2e4", "e7e5"] {
            assert_eq!(server.play(&id, "", uci).await.0, StatusCode::OK);
        }
    });
}

#[test]
fn presets_change_in_the_middle_of_a_game() {
    let folder = Folder::new("presets");
    run(async {
        let server = Server::start(&folder, Config::default());
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let presets = format!("/api/v1/games/{id}/presets");
        let race = json!({ "presets": ["racing-kings"] });
        let told = server.post(&presets, &token, race).await.1.to_string();
        assert!(told.contains("would be over now: black wins by race won"), "{told}");
        server.play(&id, &token, "e2e4").await;
        let wanted = json!({ "presets": ["coregal:white"] });
        assert_eq!(server.post(&presets, &token, wanted.clone()).await.0, StatusCode::OK);
        let (_, asked) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!((&asked["active"], asked["offers"]["presets"].is_null()), (&json!([]), false));
        assert_eq!(server.post(&presets, &token, wanted).await.0, StatusCode::OK);
        let (_, agreed) = server.get(&format!("/api/v1/games/{id}")).await;
        assert!(agreed["active"].to_string().contains("coregal:white"), "{agreed}");
        // Taken back past the change, the game is what it was before.
        let back = format!("/api/v1/games/{id}/takeback");
        for _ in 0..2 {
            server.post(&back, &token, json!({})).await;
        }
        let (_, undone) = server.get(&format!("/api/v1/games/{id}")).await;
        let told = (&undone["ply"], &undone["presets"], &undone["active"]);
        assert_eq!(told, (&json!(0), &json!([]), &json!([])), "{undone}");
        server.play(&id, &token, "e2e4").await;
        let wanted = json!({ "presets": ["coregal:white"] });
        for _ in 0..2 {
            server.post(&presets, &token, wanted.clone()).await;
        }
        server.play(&id, &token, "e7e5").await;
        let (_, before) = server.get(&format!("/api/v1/games/{id}")).await;
        server.stop();
        let server = Server::start(&folder, Config::default());
        let (_, after) = server.get(&format!("/api/v1/games/{id}")).await;
        for key in ["active", "moves", "fen", "legal"] {
            assert_eq!(after[key], before[key], "{key}");
        }
        server.stop();
    });
}

/// What is taken away of a game: PGN with a name for its file, the time control and the clocks; FEN in UTF-8.
#[test]
fn what_is_exported_has_a_name_and_its_clocks() {
    hosted("exports", Config::default(), async |server| {
        let clock = json!({ "initial": 60_000, "increment": 2_000 });
        let (id, token) = server.make(json!({ "seat": "both", "clock": clock })).await;
        for uci in ["e2e4", "e7e5", "g1f3"] {
            assert_eq!(server.play(&id, &token, uci).await.0, StatusCode::OK);
        }
        let export = async |id: &str, format: &str| {
            let path = format!("/api/v1/games/{id}/export?format={format}");
            let request = Request::get(path).body(Body::empty()).unwrap();
            let answer = router(server.web.clone()).oneshot(request).await.unwrap();
            let head = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
            let heads = (head("content-type"), head("content-disposition"));
            let bytes = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
            (heads, String::from_utf8(bytes.to_vec()).unwrap())
        };
        let ((kind, shown), pgn) = export(&id, "pgn").await;
        assert_eq!(kind, "application/x-chess-pgn; charset=utf-8");
        assert_eq!(shown, format!("attachment; filename=\"rulemate-{id}.pgn\""));
        assert!(pgn.contains("[TimeControl \"60+2\"]"), "{pgn}");
        assert_eq!(pgn.matches("[%clk 0:0").count(), 3, "{pgn}");
        let ((kind, _), fen) = export(&id, "fen").await;
        assert_eq!(kind, "text/plain; charset=utf-8");
        assert!(fen.starts_with("rnbqkbnr/pppp1ppp/"), "{fen}");

        // By correspondence a turn has its days, of which nothing is left over.
        let clock = json!({ "initial": 0, "delay": 3 * 86_400_000 });
        let (id, token) = server.make(json!({ "seat": "both", "clock": clock })).await;
        assert_eq!(server.play(&id, &token, "e2e4").await.0, StatusCode::OK);
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        let left = state["deadline"].as_u64().unwrap() - state["now"].as_u64().unwrap();
        assert!((2 * 86_400_000..=3 * 86_400_000).contains(&left), "{state}");
        let (_, pgn) = export(&id, "pgn").await;
        assert!(pgn.contains("[TimeControl \"1/259200\"]") && !pgn.contains("%clk"), "{pgn}");
    });
}

#[test]
fn games_go_on_after_a_restart_and_after_eviction() {
    let folder = Folder::new("restart");
    run(async {
        let idle = Duration::from_millis(20);
        let server = Server::start(&folder, Config { idle, ..Config::default() });
        let clock = json!({ "initial": 60_000, "increment": 0 });
        let made = json!({ "game": "chess", "seat": "both", "presets": ["coregal:white"], "clock": clock });
        let (id, token) = server.make(made).await;
        for uci in ["e2e4", "e7e5", "d2d3"] {
            assert_eq!(server.play(&id, &token, uci).await.0, StatusCode::OK);
        }
        let (untimed, other) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        server.play(&untimed, &other, "e2e4").await;
        let (_, before) = server.get(&format!("/api/v1/games/{id}")).await;
        leave_memory(&server).await;
        let (_, again) = server.get(&format!("/api/v1/games/{untimed}")).await;
        assert_eq!(again["moves"], json!(["e2e4"]));
        // A clock runs on while its game is out of memory.
        let (_, back) = server.get(&format!("/api/v1/games/{id}")).await;
        for key in ["moves", "fen", "seats", "v", "presets", "legal"] {
            assert_eq!(back[key], before[key], "{key}");
        }
        let left = |state: &Value, side: usize| state["clocks"][side].as_u64().unwrap();
        let gone = back["now"].as_u64().unwrap() - before["now"].as_u64().unwrap();
        assert_eq!(left(&back, 1), left(&before, 1) - gone, "not a moment is given away");
        assert_eq!(left(&back, 0), left(&before, 0));
        server.web.host.drain();
        server.stop();

        let server = Server::start(&folder, Config::default());
        let (_, after) = server.get(&format!("/api/v1/games/{id}")).await;
        for key in ["moves", "fen", "seats", "v", "presets", "legal"] {
            assert_eq!(after[key], before[key], "{key}");
        }
        assert_eq!(server.play(&id, &token, "d7d6").await.0, StatusCode::OK);
        server.stop();
    });
}

/// Waits until no game is in memory.
async fn leave_memory(server: &Server) {
    while server.web.host.live_games() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Games with long clocks do not fill the memory, and a flag falls in time though nothing asks.
#[test]
fn a_flag_falls_though_its_game_has_left_memory() {
    let folder = Folder::new("flag");
    run(async {
        let config = Config { idle: Duration::from_millis(20), live: 12, ..Config::default() };
        let server = Server::start(&folder, config);
        let make = async |clock: u64| {
            let clock = json!({ "initial": clock });
            let made = json!({ "game": "chess", "seat": "both", "clock": clock });
            let (id, token) = server.make(made).await;
            for uci in ["e2e4", "e7e5", "d2d4"] {
                let (status, answer) = server.play(&id, &token, uci).await;
                // A short clock may have fallen by now.
                assert!(status == StatusCode::OK || answer["error"] == "game_over", "{answer}");
            }
            id
        };
        let mut long = Vec::new();
        for _ in 0..8 {
            long.push(make(10 * 24 * 3600 * 1000).await);
        }
        leave_memory(&server).await;
        let mut short = Vec::new();
        for clock in [900, 700, 500] {
            short.push(make(clock).await);
        }
        // The store is asked, not the server: that would wake the game.
        let ended = |id: &str| {
            let rows = open(&folder.url()).unwrap().read(id, 0).unwrap().unwrap();
            rows.last().is_some_and(|it| it.payload.contains("\"timeout\""))
        };
        while !short.iter().all(|it| ended(it)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        leave_memory(&server).await;
        assert!(!long.iter().any(|it| ended(it)), "the others have time");
        server.stop();
    });
}

#[test]
fn explanations_name_the_squares() {
    hosted("why", Config::default(), async |server| {
        let fen = "3rk3/8/8/8/8/8/8/Q3K3 w - - 0 1";
        let made =
            json!({ "game": "chess", "presets": ["coregal:white"], "fen": fen, "seat": "both" });
        let (id, _) = server.make(made).await;
        let ask = |query: &str| format!("/api/v1/games/{id}/explain?{query}");
        let (_, no) = server.get(&ask("move=a1d1")).await;
        assert_eq!(no["holds"], false);
        let lines = no["lines"].as_array().unwrap();
        assert!(
            lines.iter().any(|it| it["squares"].as_array().unwrap().contains(&json!("d8"))),
            "{no}"
        );
        assert!(lines.iter().any(|it| it["place"].as_str().is_some_and(|it| it.contains(".dl:"))));
        let (_, yes) = server.get(&ask("move=a1a2")).await;
        assert_eq!(yes["holds"], true, "{yes}");
        let (_, fact) = server.get(&ask("fact=attacks(d8,d1)")).await;
        assert_eq!(fact["holds"], true, "{fact}");
        let (_, square) = server.get(&ask("square=d8")).await;
        assert!(!square["rows"].as_array().unwrap().is_empty());
        expect(&server.get(&ask("fact=atacks(d8,d1)")).await, 400, "bad_question");
        expect(&server.get(&ask("square=z9")).await, 400, "bad_question");
        expect(&server.get(&ask("")).await, 400, "missing_field");
    });
}

#[test]
fn uploaded_rules_are_checked_kept_and_played() {
    let folder = Folder::new("upload");
    run(async {
        let server = Server::start(&folder, Config { uploads: true, ..Config::default() });
        let wrong = ".meta preset \"odd\"\n.domain Preset += { odd }\nroyal_kind(c, 'kong) :- active('odd, c).\n";
        let (_, answer) = server.post("/api/v1/rules", "", json!({ "text": wrong })).await;
        assert_eq!(answer["ok"], false);
        assert_eq!(answer["diagnostics"][0]["line"], 3, "{answer}");
        let right = "% archbishops\n.meta preset \"archbishops\"\n.domain Preset += { archbishops }\nleap('bishop, 1, 2).\n";
        let body = json!({ "text": right, "keep": true });
        let (_, answer) = server.post("/api/v1/rules", "", body).await;
        assert_eq!(
            (&answer["ok"], &answer["name"]),
            (&json!(true), &json!("archbishops")),
            "{answer}"
        );
        let rules = answer["rules"].as_str().unwrap();
        let made =
            json!({ "game": "chess", "rules": rules, "presets": ["archbishops"], "seat": "both" });
        let (id, token) = server.make(made).await;
        assert_eq!(server.play(&id, &token, "f1g3").await.0, StatusCode::OK);
        server.web.host.drain();
        server.stop();
        // The rules are in the store: a server that never saw the upload plays on.
        let server = Server::start(&folder, Config::default());
        assert_eq!(server.play(&id, &token, "e7e5").await.0, StatusCode::OK);
        server.stop();
    });
}

/// Rules of several files: the modules go with the file that includes them.
#[test]
fn uploaded_rules_bring_along_what_they_include() {
    hosted("included", Config { uploads: true, ..Config::default() }, async |server| {
        let text = ".meta preset \"leapers\"\n.meta include \"lib/leaps.dl\"\n.domain Preset += { leapers }\n";
        let leaps = ".meta module \"leaps\"\nleap('bishop, 1, 2).\n";
        let (_, alone) = server.post("/api/v1/rules", "", json!({ "text": text })).await;
        assert_eq!(alone["ok"], false);
        let told = alone["diagnostics"][0]["message"].as_str().unwrap_or_default();
        assert!(told.contains("leaps.dl") && told.contains("cannot be included"), "{alone}");
        let included = json!([{ "path": "../lib/leaps.dl", "text": leaps }]);
        let body = json!({ "text": text, "included": included, "keep": true });
        let (_, answer) = server.post("/api/v1/rules", "", body).await;
        assert_eq!((&answer["ok"], &answer["name"]), (&json!(true), &json!("leapers")), "{answer}");
        let made = json!({ "rules": answer["rules"], "presets": ["leapers"], "seat": "both" });
        let (id, token) = server.make(made).await;
        assert_eq!(server.play(&id, &token, "f1g3").await.0, StatusCode::OK);
    });
}

#[test]
fn a_game_is_imported_from_pgn_and_goes_on() {
    hosted("import", Config::default(), async |server| {
        let made = json!({ "game": "double-move", "seat": "both" });
        let (id, token) = server.make(made).await;
        for uci in ["e2e4", "d2d4", "e7e5", "d7d5", "g1f3"] {
            assert_eq!(server.play(&id, &token, uci).await.0, StatusCode::OK);
        }
        let export = |id: &str| format!("/api/v1/games/{id}/export");
        let (_, pgn) = server.get(&export(&id)).await;
        let (copy, token) = server.make(json!({ "pgn": pgn, "seat": "both" })).await;
        let (_, one) = server.get(&format!("/api/v1/games/{id}")).await;
        let (_, two) = server.get(&format!("/api/v1/games/{copy}")).await;
        for key in ["game", "moves", "fen", "legal", "active", "turn", "rules"] {
            assert_eq!(one[key], two[key], "{key}");
        }
        assert_eq!(server.play(&copy, &token, "f3e5").await.0, StatusCode::OK);

        let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 12";
        let (id, token) = server.make(json!({ "fen": fen, "seat": "both" })).await;
        server.play(&id, &token, "e8e7").await;
        assert!(server.get(&export(&id)).await.1.as_str().unwrap().ends_with("\n12... Ke7 *\n"));
        // Presets that came and went are comments, and come back.
        let (id, token) = server.make(json!({ "game": "double-move", "seat": "both" })).await;
        let presets = format!("/api/v1/games/{id}/presets");
        for step in ["double-move piece-shield:white", "e2e4", "", "d2d4", "e7e5", "coregal"] {
            if step.contains(|it: char| it.is_ascii_digit()) {
                assert_eq!(server.play(&id, &token, step).await.0, StatusCode::OK, "{step}");
                continue;
            }
            let wanted: Vec<&str> = step.split_whitespace().collect();
            for _ in 0..2 {
                let asked = server.post(&presets, &token, json!({ "presets": wanted })).await;
                assert_eq!(asked.0, StatusCode::OK, "{step}: {}", asked.1);
            }
        }
        let (_, pgn) = server.get(&export(&id)).await;
        // Other programs join comments that follow each other.
        let joined = pgn.as_str().unwrap().replace("[%presets]}", "so [%presets] [%clk 0:05:00]}");
        let text = pgn.as_str().unwrap().replace('\n', " ");
        let begun = "{[%presets double-move piece-shield:white]} 1. e4 {[%presets]}";
        assert!(text.contains(begun) && text.contains("e5 {[%presets coregal]}"), "{text}");
        let (copy, _) = server.make(json!({ "pgn": joined, "seat": "both" })).await;
        let (_, one) = server.get(&format!("/api/v1/games/{id}")).await;
        let (_, two) = server.get(&format!("/api/v1/games/{copy}")).await;
        for key in ["moves", "fen", "legal", "active", "turn", "presets"] {
            assert_eq!(one[key], two[key], "{key}");
        }

        // An end that the rules do not know is as it is recorded.
        let resigned = "[Variant \"Knightmate\"]\n[Termination \"resignation\"]\n\n1. e4 e5 0-1\n";
        let (over, _) = server.make(json!({ "pgn": resigned })).await;
        let (_, state) = server.get(&format!("/api/v1/games/{over}")).await;
        let result = json!({ "outcome": "black_wins", "reason": "resignation", "winner": 1 });
        assert_eq!(state["result"], result, "{state}");
        let import = |pgn: &str| json!({ "pgn": pgn });
        for (pgn, said) in [
            ("1. e4 Qh4", "turn 2 of the PGN, Qh4"),
            ("[Variant \"Nonsense\"]\n\n1. e4 *", "there is no game nonsense"),
            ("", "no game in the PGN"),
            ("1. e4 {open", "line 1, column 7"),
            ("1. e4 {[%presets nothing]} e5", "turn 2 of the PGN, presets nothing: "),
        ] {
            let (status, answer) = server.post("/api/v1/games", "", import(pgn)).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
            assert!(answer["message"].as_str().unwrap().contains(said), "{pgn}: {answer}");
        }
    });
}

#[test]
fn one_address_that_asks_too_much_waits_and_others_do_not() {
    hosted("rates", Config::default(), async |server| {
        let from = |address: [u8; 4], path: &str, body: &str| {
            let mut request = match body {
                "" => Request::get(path).body(Body::empty()).unwrap(),
                body => Request::post(path).body(Body::from(body.to_owned())).unwrap(),
            };
            request.extensions_mut().insert(ConnectInfo(SocketAddr::from((address, 1))));
            server.send(request)
        };
        let (mut admitted, started) = (0, Instant::now());
        let refused = loop {
            let answer = from([192, 0, 2, 1], "/healthz", "").await;
            if answer.0 != StatusCode::OK {
                break answer;
            }
            admitted += 1;
        };
        expect(&refused, 429, "too_many_requests");
        // 200 at once, and 40 more each second.
        let most = 200 + 40 * (started.elapsed().as_secs() + 1);
        assert!((200..=most).contains(&admitted), "{admitted} requests, at most {most}");
        assert_eq!(from([192, 0, 2, 2], "/healthz", "").await.0, StatusCode::OK);
        let mut made = 0;
        while from([192, 0, 2, 3], "/api/v1/games", "{\"game\":\"chess\"}").await.0
            == StatusCode::CREATED
        {
            made += 1;
        }
        assert!((20..60).contains(&made), "{made} games");
        let metrics = server.metrics().await;
        assert!(metrics.contains("rulemate_rate_limited_total 2\n"), "{metrics}");
    });
}

/// A refusal that rules have a name for is told by its name and in its sentence.
#[test]
fn a_refusal_has_the_name_that_rules_give_it() {
    const HOPS: &str = r#"
.meta preset "hops"
.meta family "chess"
.meta name "Hops"
.meta description "A piece may hop one square forward"
.domain Preset += { hops }
.domain Refusal { too_far "that is too far" }
.action hop(piece: Entity, to: Square) refusals hop_refused legality rules uci "{at(piece)}^{to}" "{piece} hops to {to}"
hop(p, t) :- active('hops, c), color(p, c), own(p), at(p, s), step('n, s, t), !occupied(t).
on hop(p, t) do set at(p, t).
.decl hop_refused(piece: Entity, to: Square, why: Refusal) "{piece} cannot hop to {to}: {why}"
hop_refused(p, t, 'too_far) :- at(p, s), rank(s, r), rank(t, q), q > r + 1.
"#;
    hosted("named", Config { uploads: true, ..Config::default() }, async |server| {
        let (_, kept) =
            server.post("/api/v1/rules", "", json!({ "text": HOPS, "keep": true })).await;
        let made = json!({
            "game": "chess", "rules": kept["rules"], "presets": ["hops"], "seat": "both",
        });
        let (id, token) = server.make(made).await;
        let answer = server.play(&id, &token, "e2^e5").await;
        expect(&answer, 422, "illegal_move");
        assert_eq!(answer.1["reason"], "too_far", "{}", answer.1);
        let sentence = "e2^e5 is not legal: the white pawn on e2 cannot hop to e5: that is too far";
        assert_eq!(answer.1["message"], sentence, "{}", answer.1);
        let answer = server.play(&id, &token, "e2^d3").await;
        expect(&answer, 422, "illegal_move");
        assert_eq!(answer.1.get("reason"), None, "{}", answer.1);
        let (status, answer) = server.play(&id, &token, "e2^e3").await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    });
}

/// What cannot be so is told: an action for which there is no room, what had to be left out of a
/// position, and what a FEN leaves out.
#[test]
fn want_of_room_and_what_positions_lack_is_told() {
    const NO_ROOM: &str = "there is no room for another entity: 64 are the most";
    hosted("told", Config { uploads: true, ..Config::default() }, async |server| {
        let text = include_str!("../../data/hatch/preset.dl");
        let (_, kept) =
            server.post("/api/v1/rules", "", json!({ "text": text, "keep": true })).await;
        let made = json!({
            "game": "chess", "rules": kept["rules"], "presets": ["hatch"], "seat": "both",
            "fen": "rnbqkbnr/pppppppp/PpPpPp2/PpPpPpPp/PpPpPpPp/PpPpPpPp/PPPPPPPP/RNBQKBNR w KQkq - 30 16",
        });
        let (id, token) = server.make(made).await;
        let path = format!("/api/v1/games/{id}");
        let (_, before) = server.get(&path).await;
        let legal = before["position"]["legal"].as_array().unwrap();
        let refused: Vec<&str> = legal
            .iter()
            .filter(|it| it["refused"] == NO_ROOM)
            .filter_map(|it| it["uci"].as_str())
            .collect();
        assert_eq!(refused, ["B@g6", "B@h6", "P@g6", "P@h6"], "{legal:?}");
        let (status, answer) = server.play(&id, &token, "P@h6").await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains(NO_ROOM), "{answer}");
        let (_, after) = server.get(&path).await;
        assert_eq!((&after["fen"], &after["moves"]), (&before["fen"], &json!([])));
        let (status, answer) = server.play(&id, &token, "a2b3").await;
        assert_eq!(status, StatusCode::OK, "{answer}");

        let fen = "4k3/8/8/8/8/8/8/4K3 w K - 0 1";
        let options = json!({ "game": "chess", "fen": fen, "seat": "both" });
        let (_, made) = server.post("/api/v1/games", "", options).await;
        assert_eq!(made["warnings"], json!(["castling right K dropped: there is no such rook"]));
        let (id, token) = server.make(json!({ "game": "capture-to-win", "seat": "both" })).await;
        let path = format!("/api/v1/games/{id}");
        assert_eq!(server.get(&path).await.1["fen_leaves_out"], json!([]));
        for text in ["e2e4", "d7d5", "e4d5"] {
            server.play(&id, &token, text).await;
        }
        let told = server.get(&path).await.1["fen_leaves_out"].clone();
        assert_eq!(told, json!(["capture-to-win.winner"]));
    });
}
