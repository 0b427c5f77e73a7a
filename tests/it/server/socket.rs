//! The WebSocket: events without gaps, moves that are acknowledged, coming back, and those who do
//! not read. And nonsense of every kind sent to every address.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use futures_util::{SinkExt, StreamExt};
use rulemate::internals::server::core::TokenHash;
use rulemate::internals::server::{Config, router};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::accounts::{account, ask};
use super::api::{Server, hosted, run};
use super::store::Folder;

pub(super) struct Client(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    pub(super) async fn to(address: SocketAddr, id: &str, query: &str) -> Self {
        let url = format!("ws://{address}/ws/v1/games/{id}{query}");
        Self(connect_async(url).await.unwrap().0)
    }

    async fn say(&mut self, message: Value) {
        self.say_text(&message.to_string()).await;
    }

    pub(super) async fn say_text(&mut self, text: &str) {
        self.0.send(Message::text(text.to_owned())).await.unwrap();
    }

    /// The next message that is text; none if the server has closed.
    pub(super) async fn hear(&mut self) -> Option<Value> {
        loop {
            let next = timeout(Duration::from_secs(120), self.0.next()).await.expect("an answer");
            match next?.ok()? {
                Message::Text(text) => return serde_json::from_str(&text).ok(),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    async fn hear_all(&mut self, count: usize) -> Vec<Value> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.hear().await.expect("a message"));
        }
        all
    }
}

pub(super) async fn listen(server: &Server) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = router(server.web.clone()).into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    address
}

fn versions(events: &[Value]) -> Vec<u64> {
    events.iter().filter_map(|it| it["v"].as_u64()).collect()
}

#[test]
fn a_client_that_missed_too_much_gets_the_whole_state() {
    let folder = Folder::new("missed");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let (id, token) =
            server.make(json!({ "game": "chess", "seat": "both", "chat": true })).await;
        for _ in 0..300 {
            let said = json!({ "text": "hello" });
            server.post(&format!("/api/v1/games/{id}/chat"), &token, said).await;
        }
        // A few are at hand; the log has the others.
        for have in [303, 302, 293, 287, 286, 240, 47] {
            let mut recent = Client::to(address, &id, &format!("?v={have}")).await;
            let missed = versions(&recent.hear_all(303 - have).await);
            assert_eq!(missed, (have as u64 + 1..=303).collect::<Vec<u64>>());
        }
        let mut late = Client::to(address, &id, "?v=46").await;
        let state = late.hear().await.unwrap();
        assert_eq!((&state["t"], &state["v"]), (&json!("resync"), &json!(303)));
    });
}

/// What rules emit for clients comes with the action, to all watchers.
#[test]
fn effects_are_told() {
    let folder = Folder::new("effects");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let fen = "4k3/8/8/3p4/8/8/3R4/4K3 w - - 0 1";
        let game = json!({ "game": "explosive-rook", "seat": "both", "fen": fen });
        let (id, token) = server.make(game).await;
        let mut watcher = Client::to(address, &id, "?v=3").await;
        for uci in ["d2d3", "e8e7", "d3d5"] {
            let played = json!({ "uci": uci });
            server.post(&format!("/api/v1/games/{id}/moves"), &token, played).await;
        }
        let told = watcher.hear_all(3).await;
        assert_eq!(told[0]["d"].get("effects"), None);
        let explosion = json!([{ "name": "explosion", "args": { "square": "d5", "ttl": "600" } }]);
        assert_eq!(told[2]["d"]["effects"], explosion, "{}", told[2]);
    });
}

/// A device that was lost or stolen may have a socket open when it is logged out.
#[test]
fn a_device_that_is_logged_out_plays_no_more_by_its_open_socket() {
    let folder = Folder::new("socket-device");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let (phone, codes) = account(&server, "ann").await;
        let login = json!({ "name": "ann", "code": codes[0] });
        let (_, lost) = server.post("/api/v1/login", "", login).await;
        let lost = lost["token"].as_str().unwrap();
        let options = json!({ "game": "chess", "seat": "both" });
        let (_, made) = server.post("/api/v1/games", &phone, options).await;
        let id = made["id"].as_str().unwrap();
        let mut client = Client::to(address, id, &format!("?v={}", made["v"])).await;
        client.say(json!({ "t": "auth", "a": 1, "d": { "token": lost } })).await;
        assert_eq!(client.hear().await.unwrap()["t"], "ack");
        client.say(json!({ "t": "move", "a": 2, "d": { "uci": "e2e4" } })).await;
        let heard = client.hear_all(2).await;
        assert!(heard.iter().any(|it| it["t"] == "ack" && it["a"] == 2), "{heard:?}");
        let (status, _) = ask(&server, "DELETE", "/api/v1/account/devices/this", lost).await;
        assert_eq!(status, StatusCode::OK);
        client.say(json!({ "t": "move", "a": 3, "d": { "uci": "e7e5" } })).await;
        let refused = client.hear().await.unwrap();
        assert_eq!((&refused["t"], &refused["a"]), (&json!("error"), &json!(3)), "{refused}");
        assert_eq!(refused["d"]["error"], "account_gone");
        // The other device plays on.
        assert_eq!(server.play(id, &phone, "e7e5").await.0, StatusCode::OK);
    });
}

#[test]
fn events_come_without_gaps_and_moves_are_acknowledged() {
    let folder = Folder::new("socket");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let mut player = Client::to(address, &id, "?v=3").await;
        let mut watcher = Client::to(address, &id, "?v=0").await;
        assert_eq!(versions(&watcher.hear_all(3).await), [1, 2, 3], "what was missed");

        let said = json!({ "t": "move", "a": 1, "d": { "uci": "e2e4", "expected_ply": 0, "client_move_id": "x" } });
        player.say(said.clone()).await;
        let refused = player.hear().await.unwrap();
        assert_eq!(
            (&refused["t"], &refused["a"], &refused["d"]["error"]),
            (&json!("error"), &json!(1), &json!("token_missing"))
        );
        player.say(json!({ "t": "auth", "a": 0, "d": { "token": token } })).await;
        assert_eq!(player.hear().await.unwrap()["t"], "ack");
        player.say(said.clone()).await;
        let both = player.hear_all(2).await;
        assert!(both.iter().any(|it| it["t"] == "ack" && it["d"]["ply"] == 1), "{both:?}");
        assert!(both.iter().any(|it| it["t"] == "played" && it["v"] == 4), "{both:?}");
        player.say(said).await;
        assert_eq!(
            player.hear().await.unwrap()["d"],
            both.iter().find(|it| it["t"] == "ack").unwrap()["d"]
        );
        assert_eq!(watcher.hear().await.unwrap()["d"]["uci"], "e2e4");

        // The connection breaks, something happens, and who comes back gets exactly that.
        drop(watcher);
        for uci in ["e7e5", "d2d4"] {
            server.play(&id, &token, uci).await;
        }
        let mut again = Client::to(address, &id, "?v=4").await;
        assert_eq!(versions(&again.hear_all(2).await), [5, 6]);
        let mut anew = Client::to(address, &id, "?v=99").await;
        let resync = anew.hear().await.unwrap();
        assert_eq!(
            (&resync["t"], &resync["v"], &resync["d"]["ply"]),
            (&json!("resync"), &json!(6), &json!(3))
        );

        anew.say(json!("nonsense")).await;
        assert_eq!(anew.hear().await.unwrap()["d"]["error"], "malformed_json");
        anew.say(json!({ "t": "shout" })).await;
        assert_eq!(anew.hear().await.unwrap()["d"]["error"], "no_such_message");
        anew.say(json!({ "t": "x".repeat(5_000) })).await;
        assert_eq!(anew.hear().await, None, "a message that is too large ends the connection");
        let mut flood = Client::to(address, &id, "?v=6").await;
        for at in 0..40 {
            let ping = json!({ "t": "ping", "a": at }).to_string();
            if flood.0.send(Message::text(ping)).await.is_err() {
                break;
            }
        }
        let mut answers = 0;
        while flood.hear().await.is_some() {
            answers += 1;
        }
        assert!(answers < 40, "who sends too much is dropped");
        // The listener goes with the runtime.
        server.web.host.drain();
    });
}

#[test]
fn a_socket_of_another_origin_is_refused() {
    let folder = Folder::new("origin");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let (id, _) = server.make(json!({ "game": "chess" })).await;
        let from = |origin: &str| {
            let url = format!("ws://{address}/ws/v1/games/{id}");
            let mut request =
                tokio_tungstenite::tungstenite::client::IntoClientRequest::into_client_request(url)
                    .unwrap();
            request.headers_mut().insert("origin", origin.parse().unwrap());
            request
        };
        assert!(connect_async(from("https://elsewhere.example")).await.is_err());
        assert!(connect_async(from(&format!("http://{address}"))).await.is_ok());
        // The listener goes with the runtime.
        server.web.host.drain();
    });
}

#[test]
fn a_client_that_never_reads_delays_no_other() {
    hosted("slow", Config::default(), async |server| {
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let mut silent = server.web.host.watch(&id, Some(3), None).await.unwrap();
        let mut reading = server.web.host.watch(&id, Some(3), None).await.unwrap();
        let moves = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let mut seen = 0;
        for at in 0..100 {
            let (status, answer) = server.play(&id, &token, moves[at % 4]).await;
            assert!(status.is_success() || answer["error"] == "game_over", "{answer}");
            if !status.is_success() {
                break;
            }
            // Offers are events too: there are enough to fill a queue before the game is drawn.
            for _ in 0..4 {
                for act in ["draw", "decline"] {
                    let path = format!("/api/v1/games/{id}/{act}");
                    server.post(&path, &token, json!({ "offer": if act == "draw" { Value::Null } else { json!("draw") } })).await;
                    while reading.coming.try_recv().is_ok() {
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 64, "{seen} events");
        let mut waiting = 0;
        while silent.coming.recv().await.is_some() {
            waiting += 1;
        }
        assert_eq!(waiting, 64, "the queue is full and then closed");
        assert!(server.metrics().await.contains("rulemate_watchers_dropped_total 1\n"));
    });
}

/// Pings and pongs of the protocol count as messages do.
#[test]
fn a_client_that_pings_too_often_is_cut_off() {
    hosted("pings", Config::default(), async |server| {
        let address = listen(server).await;
        let (id, _) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        for frame in [Message::Ping(Default::default()), Message::Pong(Default::default())] {
            let mut client = Client::to(address, &id, "?v=3").await;
            // Not all may fall into the same second.
            for _ in 0..100 {
                let _ = client.0.feed(frame.clone()).await;
            }
            let _ = client.0.flush().await;
            let closed = timeout(Duration::from_secs(10), async {
                loop {
                    match client.0.next().await {
                        Some(Ok(Message::Close(frame))) => {
                            return frame.map(|it| u16::from(it.code));
                        }
                        Some(Ok(_)) => {}
                        _ => return None,
                    }
                }
            });
            assert_eq!(closed.await.expect("the server closes"), Some(4002));
        }
    });
}

/// As many watch as may: players come in all the same, and no stranger does.
#[test]
fn watchers_do_not_shut_players_out() {
    let folder = Folder::new("crowd");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let mut crowd = Vec::new();
        while let Ok(feed) = server.web.host.watch(&id, Some(3), None).await {
            crowd.push(feed);
        }
        assert_eq!(crowd.len(), 2_000);
        let auth = |token: &str| json!({ "t": "auth", "a": 1, "d": { "token": token } });
        for wrong in ["0123", ""] {
            let mut stranger = Client::to(address, &id, "?v=3").await;
            stranger.say(auth(wrong)).await;
            assert_eq!(stranger.hear().await.unwrap()["a"], 1);
            assert_eq!(stranger.hear().await, None, "closed");
        }
        let mut player = Client::to(address, &id, "?v=2").await;
        // A ping is no message: the first one may still authenticate.
        player.0.send(Message::Ping(Default::default())).await.unwrap();
        player.say(auth(&token)).await;
        assert_eq!(player.hear().await.unwrap()["t"], "ack");
        assert_eq!(player.hear().await.unwrap()["v"], 3, "what was missed");
        server.play(&id, &token, "e2e4").await;
        assert_eq!(player.hear().await.unwrap()["d"]["uci"], "e2e4");
        // The seats' own feeds are bounded too: the oldest goes.
        let seat = Some(TokenHash::of(&token));
        for _ in 0..32 {
            crowd.push(server.web.host.watch(&id, Some(4), seat.clone()).await.unwrap());
        }
        assert_eq!(player.hear().await, None);
        server.web.host.drain();
    });
}

/// Every address, with bodies, tokens and paths that make no sense: a status below 500, and the
/// game as it was.
#[test]
fn nonsense_breaks_nothing() {
    let config = Config { uploads: true, ..Config::default() };
    hosted("nonsense", config, async |server| {
        let (id, _) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let mut random = fastrand::Rng::with_seed(5);
        let paths = [
            "/api/v1/games",
            "/api/v1/games/ID",
            "/api/v1/games/ID/moves",
            "/api/v1/games/ID/join",
            "/api/v1/games/ID/draw",
            "/api/v1/games/ID/chat",
            "/api/v1/games/ID/explain?move=%00",
            "/api/v1/games/ID/explain?fact=at(_,_",
            "/api/v1/games/ID/explain?fact=at(_,_)",
            "/api/v1/games/ID/export?format=fen",
            "/api/v1/games/%FF/events?after=-1",
            "/api/v1/presets/check",
            "/api/v1/rules",
            "/api/v1/catalogue?rules=x",
            "/api/account",
            "/api/challenge/x",
            "/api/board/game/ID/move/e2e4",
            "/ws/v1/games/ID?v=q",
            "/page/../x",
        ];
        let words = [
            "{",
            "}",
            "[",
            "]",
            "\"game\"",
            ":",
            ",",
            "\"chess\"",
            "\"uci\"",
            "\"e2e4\"",
            "null",
            "-1",
            "1e999",
            "\"fen\"",
            "\"8/8/8/8/8/8/8/8 w - - 0 1\"",
            "\"presets\"",
            "[\"coregal:white:x=y\"]",
            "\"facts\"",
            "{}",
            "\"\\ud800\"",
            "\"text\"",
            "\".decl x(\"",
            "\u{1F44B}",
            "\u{0}",
            "\"seat\"",
        ];
        for at in 0..1_500 {
            let path =
                paths[at % paths.len()].replace("ID", if random.bool() { &id } else { "nobody" });
            let body: String = match random.u8(..3) {
                0 => (0..random.usize(..20)).map(|_| words[random.usize(..words.len())]).collect(),
                1 => {
                    let pair = |random: &mut fastrand::Rng| {
                        let (key, value) =
                            (random.usize(..words.len()), random.usize(..words.len()));
                        format!("{}:{}", words[key], words[value])
                    };
                    format!("{{{},{}}}", pair(&mut random), pair(&mut random))
                }
                _ => (0..random.usize(..60)).map(|_| random.char(..)).collect(),
            };
            let method = [Method::GET, Method::POST, Method::DELETE][random.usize(..3)].clone();
            let request =
                Request::builder().method(method).uri(&path).header("authorization", "Bearer x");
            let Ok(request) = request.body(Body::from(body.clone())) else { continue };
            let (status, answer) = server.send(request).await;
            assert!(status.as_u16() < 500, "{path} {body:?}: {status} {answer}");
        }
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!((&state["ply"], &state["v"]), (&json!(0), &json!(3)));
    });
}
