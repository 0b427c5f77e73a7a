//! The front door of the real server: whose request it is when a proxy passes it on, which hosts and
//! origins are let in, how often, and what is not for everybody.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::future::join_all;
use rulemate::internals::server::{Challenges, Config, Limits, Rate, Web, router};
use serde_json::{Value, json};
use tokio::time::timeout;
use tower::ServiceExt;

use super::api::{Server, run};
use super::kill::{Process, Wire};
use super::store::Folder;
use super::wrong::HANDSHAKE;

/// An answer as it came: its status, its head, its body.
struct Raw {
    status: u16,
    head: String,
    body: String,
}

impl Raw {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|it| it.split_once(": "));
        lines.filter(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1).next()
    }

    fn code(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        body["error"].as_str().unwrap_or_default().to_owned()
    }
}

/// Sends a text as it is, and reads until the server closes.
fn raw(address: &str, text: &str) -> Raw {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or_default();
    Raw { status, head: head.to_owned(), body: body.to_owned() }
}

/// A request with these headers, on a connection of its own.
fn request(address: &str, method: &str, path: &str, headers: &str, body: &str) -> Raw {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\n{headers}connection: close\r\n");
    raw(address, &format!("{head}content-length: {length}\r\n\r\n{body}"))
}

/// The status of a request that a proxy passes on with these lines of `X-Forwarded-For`.
fn forwarded(wire: &mut Wire, path: &str, body: &str, lines: &[&str]) -> u16 {
    let headers: String = lines.iter().map(|it| format!("x-forwarded-for: {it}\r\n")).collect();
    let method = if body.is_empty() { "GET" } else { "POST" };
    wire.ask_with(method, path, &headers, body).unwrap().0
}

/// How many of so many requests are let in.
fn let_in(wire: &mut Wire, count: usize, lines: impl Fn(usize) -> Vec<String>) -> usize {
    let ask = |at: usize| {
        let lines = lines(at);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        forwarded(wire, "/healthz", "", &lines) == 200
    };
    (0..count).map(ask).filter(|it| *it).count()
}

#[test]
fn a_proxy_says_whose_request_it_is_and_what_clients_forge_before_it_counts_for_nothing() {
    let folder = Folder::new("proxy");
    let server = Process::start(&folder.url(), &["--behind-proxy", "--rate", "0.01"]);
    let mut wire = Wire::to(&server.address).unwrap();
    let own = |it: &str| vec![it.to_owned()];
    // A hundredth a second, and never fewer than one at a time.
    assert!(let_in(&mut wire, 40, |_| own("203.0.113.7")) < 40, "one address is counted");
    assert_eq!(let_in(&mut wire, 1, |_| own("203.0.113.8")), 1, "others are not");
    // What the client has sent stands before what the proxy adds: in one line, or in lines of its own.
    let forged = |at: usize| vec![format!("198.51.100.{at}, 203.0.113.7")];
    assert_eq!(let_in(&mut wire, 40, forged), 0, "a forged address in the same line");
    let lines = |at: usize| vec![format!("198.51.100.{at}"), "203.0.113.7".to_owned()];
    assert_eq!(let_in(&mut wire, 40, lines), 0, "a forged line");
    // A subscriber has a whole network of IPv6: it is one address.
    let six = |at: usize| own(&format!("2001:db8:1:2::{at:x}"));
    assert!(let_in(&mut wire, 40, six) < 40, "neighbours are counted together");
    assert_eq!(let_in(&mut wire, 1, |_| own("2001:db8:1:3::1")), 1, "the next network is another");
    let mapped = |_| own("::ffff:203.0.113.7");
    assert_eq!(let_in(&mut wire, 40, mapped), 0, "the same address in IPv6's clothes");
    // What says of no client whose it is is the proxy's own: it does not pass uncounted.
    let nonsense = |at: usize| own(&format!("nonsense {at}"));
    assert!(let_in(&mut wire, 40, nonsense) < 40, "nonsense is counted");
}

#[test]
fn without_a_proxy_no_header_says_whose_request_it_is() {
    let folder = Folder::new("noproxy");
    let server = Process::start(&folder.url(), &["--rate", "0.01"]);
    let mut wire = Wire::to(&server.address).unwrap();
    let forged = |_: usize| vec!["203.0.113.7".to_owned()];
    assert_eq!(let_in(&mut wire, 400, forged), 400, "this machine's own are not counted");
}

#[test]
fn sockets_behind_a_proxy_are_counted_by_client() {
    let folder = Folder::new("proxysockets");
    let server = Process::start(&folder.url(), &["--behind-proxy", "--rate", "1000"]);
    let mut wire = Wire::to(&server.address).unwrap();
    let (_, made) = wire.ask("POST", "/api/v1/games", "{\"game\":\"chess\"}").unwrap();
    let path = format!("/ws/v1/games/{}", made["id"].as_str().unwrap());
    let mut open = Vec::new();
    let mut socket = |client: &str| {
        let mut wire = Wire::to(&server.address).unwrap();
        let headers = format!("x-forwarded-for: {client}\r\n{HANDSHAKE}");
        let status = wire.ask_with("GET", &path, &headers, "").unwrap().0;
        if status == 101 {
            open.push(wire);
        }
        status
    };
    let statuses: Vec<u16> = (0..101).map(|_| socket("203.0.113.7")).collect();
    assert!(statuses[..100].iter().all(|it| *it == 101), "{statuses:?}");
    assert_eq!(statuses[100], 429, "a client has 100 of them");
    assert_eq!(socket("203.0.113.8"), 101, "others are not counted with it");
}

/// Rules that are kept without an account are those of the network that they come from, and no other's.
#[test]
fn rules_without_an_account_belong_to_a_network() {
    let folder = Folder::new("owners");
    let server = Process::start(&folder.url(), &["--behind-proxy", "--uploads"]);
    let mut wire = Wire::to(&server.address).unwrap();
    let text = ".meta preset \"mine\"\n.domain Preset += { mine }\n";
    let body = json!({ "text": text, "keep": true }).to_string();
    let lines = ["203.0.113.5, 2001:db8:1:2::7"];
    assert_eq!(forwarded(&mut wire, "/api/v1/rules", &body, &lines), 200);
    for (client, kept) in [
        ("2001:db8:1:2::7", 1),
        ("2001:db8:1:2:ffff::1", 1),
        ("2001:db8:1:3::7", 0),
        ("203.0.113.5", 0),
        ("::ffff:198.51.100.1", 0),
    ] {
        let headers = format!("x-forwarded-for: {client}\r\n");
        let (_, listed) = wire.ask_with("GET", "/api/v1/rules", &headers, "").unwrap();
        assert_eq!(listed.as_array().map(Vec::len), Some(kept), "{client}: {listed}");
    }
}

#[test]
fn whatever_makes_a_game_counts_as_making_one() {
    let folder = Folder::new("chains");
    let server = Process::start(&folder.url(), &["--behind-proxy", "--rate", "40"]);
    let mut wire = Wire::to(&server.address).unwrap();
    let mut ask = |path: &str, token: &str, body: Value, client: &str| {
        let own = if client.is_empty() { "203.0.113.99" } else { client };
        let headers = format!("x-forwarded-for: {own}\r\nauthorization: Bearer {token}\r\n");
        wire.ask_with("POST", path, &headers, &body.to_string()).unwrap()
    };
    let other = |at: usize| format!("198.51.{}.{}", at / 250, at % 250);
    // A chain of rematches.
    let seat = json!({ "game": "chess", "seat": "both" });
    let (_, made) = ask("/api/v1/games", "", seat, &other(0));
    let token = made["token"].as_str().unwrap().to_owned();
    let mut id = made["id"].as_str().unwrap().to_owned();
    let mut rematches = 0;
    for at in 1..100 {
        // What is not made by the client comes from elsewhere, so that it alone is counted.
        ask(&format!("/api/v1/games/{id}/resign"), &token, json!({}), &other(2 * at));
        ask(&format!("/api/v1/games/{id}/rematch"), &token, json!({}), &other(2 * at + 1));
        let path = format!("/api/v1/games/{id}/re%6Datch");
        let (status, answer) = ask(&path, &token, json!({}), "203.0.113.7");
        let Some(next) = answer["game"].as_str() else {
            assert_eq!((status, &answer["error"]), (429, &json!("too_many_requests")), "{answer}");
            break;
        };
        id = next.to_owned();
        rematches = at;
    }
    assert!((10..99).contains(&rematches), "{rematches} rematches");
    // Challenges, by account: from everywhere.
    let [ann, ben] = ["ann", "ben"].map(|name| {
        let (_, made) = ask("/api/v1/accounts", "", json!({ "name": name }), &other(900));
        made["token"].as_str().unwrap().to_owned()
    });
    let mut accepted = 0;
    for at in 1..100 {
        let (status, made) = ask("/api/challenge/ben", &ann, json!({}), &other(1000 + 2 * at));
        if status == 429 {
            break;
        }
        let path = format!("/api/challenge/{}/accept", made["id"].as_str().unwrap());
        let (status, answer) = ask(&path, &ben, json!({}), &other(1001 + 2 * at));
        if status == 429 {
            break;
        }
        assert_eq!(status, 200, "{answer}");
        accepted = at;
    }
    assert!((10..99).contains(&accepted), "{accepted} challenges");
    // Accounts are not for the taking either.
    let many =
        (0..40).map(|at| ask("/api/v1/accounts", "", json!({ "name": format!("a{at}") }), "").0);
    assert!(many.filter(|it| *it == 201).count() < 10, "accounts by the dozen");
}

#[test]
fn a_name_that_is_not_the_servers_is_refused_even_with_an_origin_of_that_name() {
    let folder = Folder::new("hosts");
    let server = Process::start(&folder.url(), &["--host", "Games.Example"]);
    let address = &server.address;
    let body = "{\"game\":\"chess\"}";
    let post = |headers: &str| request(address, "POST", "/api/v1/games", headers, body);
    let rebound = post("host: evil.example\r\norigin: http://evil.example\r\n");
    assert_eq!((rebound.status, &*rebound.code()), (421, "unknown_host"), "{}", rebound.body);
    assert!(rebound.body.contains("--host"), "{}", rebound.body);
    let long = post(&format!("host: {}.example\r\n", "x".repeat(2_000)));
    assert!(long.status == 421 && long.body.len() < 400, "not all of it is sent back");
    for host in
        ["evil.example:8088", "localhost.evil.example", "evil.example.", "a@localhost", "", "[::1"]
    {
        let read = request(address, "GET", "/healthz", &format!("host: {host}\r\n"), "");
        assert!(matches!(read.status, 400 | 421), "{host}: {}", read.status);
    }
    let two = "host: localhost\r\nhost: evil.example\r\n";
    assert!(matches!(request(address, "GET", "/healthz", two, "").status, 400 | 421), "two hosts");
    let target = raw(
        address,
        "GET http://evil.example/healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    );
    assert_eq!(target.status, 421, "a target of another host");
    for host in [
        address.as_str(),
        "localhost",
        "LOCALHOST:1",
        "localhost.",
        "127.0.0.1:8088",
        "[::1]:80",
        "192.0.2.1",
        "games.example",
        "games.example:443",
    ] {
        let made = post(&format!("host: {host}\r\norigin: http://{host}\r\n"));
        assert_eq!(made.status, 201, "{host}: {}", made.body);
    }
    let mixed = post("host: localhost\r\norigin: http://games.example\r\n");
    assert_eq!((mixed.status, &*mixed.code()), (403, "origin_refused"), "{}", mixed.body);
}

#[test]
fn pages_of_listed_origins_may_use_the_api_and_no_others() {
    let folder = Folder::new("cors");
    let origin = "https://site.example";
    let server = Process::start(&folder.url(), &["--origin", origin]);
    let address = &server.address;
    let preflight = |origin: &str| {
        let asked = "access-control-request-method: POST\r\n\
                     access-control-request-headers: authorization,content-type\r\n";
        let headers = format!("host: localhost\r\norigin: {origin}\r\n{asked}");
        request(address, "OPTIONS", "/api/v1/games", &headers, "")
    };
    let allowed = preflight(origin);
    assert_eq!(allowed.status, 200, "{}", allowed.head);
    assert_eq!(allowed.header("access-control-allow-origin"), Some(origin));
    let methods = allowed.header("access-control-allow-methods").unwrap_or_default();
    assert!(["GET", "POST", "DELETE"].iter().all(|it| methods.contains(it)), "{methods}");
    let headers = allowed.header("access-control-allow-headers").unwrap_or_default();
    assert!(["authorization", "content-type"].iter().all(|it| headers.contains(it)), "{headers}");
    assert_eq!(preflight("https://other.example").header("access-control-allow-origin"), None);
    let ask = |origin: &str, method: &str, path: &str, body: &str| {
        let headers = format!("host: localhost\r\norigin: {origin}\r\n");
        request(address, method, path, &headers, body)
    };
    let read = ask(origin, "GET", "/api/v1/games", "");
    assert_eq!(read.header("access-control-allow-origin"), Some(origin), "{}", read.head);
    let made = ask(origin, "POST", "/api/v1/games", "{\"game\":\"chess\"}");
    assert_eq!((made.status, made.header("access-control-allow-origin")), (201, Some(origin)));
    let foreign = ask("https://other.example", "POST", "/api/v1/games", "{}");
    assert_eq!((foreign.status, foreign.header("access-control-allow-origin")), (403, None));
    // What is refused can be read by the page, too.
    let wrong = ask(origin, "POST", "/api/v1/games", "{");
    assert_eq!((wrong.status, wrong.header("access-control-allow-origin")), (400, Some(origin)));
}

#[test]
fn clients_that_have_to_wait_are_told_how_long() {
    let folder = Folder::new("retry");
    let server = Process::start(&folder.url(), &["--behind-proxy", "--rate", "0.01"]);
    let headers = "host: localhost\r\nx-forwarded-for: 203.0.113.7\r\n";
    let refused = (0..50)
        .map(|_| request(&server.address, "GET", "/healthz", headers, ""))
        .find(|it| it.status == 429)
        .expect("a limit");
    let wait = refused.header("retry-after").and_then(|it| it.parse::<u64>().ok());
    assert!(wait.is_some_and(|it| (1..=100).contains(&it)), "{}", refused.head);
}

#[test]
fn counters_have_a_listener_of_their_own() {
    let folder = Folder::new("metrics");
    let server = Process::start(&folder.url(), &["--metrics", "127.0.0.1:0"]);
    let ask = |address: &str, path: &str| request(address, "GET", path, "host: localhost\r\n", "");
    assert_eq!(ask(&server.address, "/metrics").status, 404, "not for everybody");
    let address = server.metrics.as_deref().expect("an address");
    let told = ask(address, "/metrics");
    assert_eq!(told.status, 200);
    assert!(told.body.contains("rulemate_games_live 0\n"), "{}", told.body);
    assert_eq!(ask(address, "/api/v1/games").status, 404, "and nothing else");
    let rebound = request(address, "GET", "/metrics", "host: evil.example\r\n", "");
    assert_eq!(rebound.status, 421);
}

/// What is in front of a server is a proxy of this machine only if it comes from this machine.
#[test]
fn a_proxy_is_believed_from_this_machine_alone_however_its_address_is_written() {
    let folder = Folder::new("peers");
    run(async {
        let mut server = Server::start(&folder, Config::default());
        let slow = Rate { per_second: 1e-6, burst: 10.0 };
        let let_in = async |server: &Server, peer: &str, client: &dyn Fn(usize) -> String| {
            let mut count = 0;
            for at in 0..20 {
                let request = Request::get("/healthz").header("x-forwarded-for", client(at));
                let mut request = request.body(Body::empty()).unwrap();
                let peer: IpAddr = peer.parse().unwrap();
                request.extensions_mut().insert(ConnectInfo(SocketAddr::from((peer, 1))));
                count += usize::from(server.send(request).await.0 == StatusCode::OK);
            }
            count
        };
        let one = |_| "203.0.113.7".to_owned();
        let many = |at| format!("203.0.113.{at}");
        for local in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "127.9.9.9"] {
            server.web.limits = Arc::new(Limits::new(slow, slow, true));
            assert_eq!(let_in(&server, local, &one).await, 10, "{local}: one client");
            assert_eq!(let_in(&server, local, &many).await, 19, "{local}: one of them is known");
            server.web.limits = Arc::new(Limits::new(slow, slow, false));
            assert_eq!(let_in(&server, local, &one).await, 20, "{local}: no proxy is there");
        }
        for remote in ["192.0.2.9", "::ffff:192.0.2.9", "2001:db8::9"] {
            server.web.limits = Arc::new(Limits::new(slow, slow, true));
            assert_eq!(let_in(&server, remote, &many).await, 10, "{remote} says who it is");
        }
        server.stop();
    });
}

async fn account(server: &Server, name: &str) -> String {
    let (_, made) = server.post("/api/v1/accounts", "", json!({ "name": name })).await;
    made["token"].as_str().unwrap().to_owned()
}

#[test]
fn challenges_are_few_and_end_by_themselves() {
    let folder = Folder::new("expiry");
    run(async {
        let mut server = Server::start(&folder, Config::default());
        let (ann, ben) = (account(&server, "ann").await, account(&server, "ben").await);
        server.web.challenges = Arc::new(Challenges::new(Duration::ZERO));
        let (_, made) = server.post("/api/challenge/ben", &ann, json!({})).await;
        let accept = format!("/api/challenge/{}/accept", made["id"].as_str().unwrap());
        let (status, answer) = server.post(&accept, &ben, json!({})).await;
        assert_eq!((status.as_u16(), &answer["code"]), (404, &json!("no_such_challenge")));
        server.web.challenges = Arc::new(Challenges::default());
        let slow = Rate { per_second: 1e-6, burst: 1e6 };
        server.web.limits = Arc::new(Limits::new(slow, slow, false));
        let mut waiting = 0;
        let refused = loop {
            let (status, answer) = server.post("/api/challenge/ben", &ann, json!({})).await;
            if status != StatusCode::OK {
                break answer;
            }
            waiting += 1;
        };
        assert_eq!((waiting, &refused["code"]), (20, &json!("too_many_challenges")), "{refused}");
        // Another account has its own.
        assert_eq!(server.post("/api/challenge/ann", &ben, json!({})).await.0, StatusCode::OK);
        server.stop();
    });
}

/// The response to a request for the events of an account.
async fn events(web: Web, token: String) -> Response<Body> {
    let request = Request::get("/api/stream/event")
        .header("authorization", format!("Bearer {token}"))
        .body(Body::empty())
        .unwrap();
    router(web).oneshot(request).await.unwrap()
}

/// The next event of a stream, between whose events are empty lines.
async fn next_event(stream: &mut BodyDataStream) -> Value {
    let event = async {
        loop {
            let line = stream.next().await.expect("the stream goes on").unwrap();
            if let Ok(event) = serde_json::from_slice(&line) {
                return event;
            }
        }
    };
    timeout(Duration::from_secs(60), event).await.expect("an event")
}

/// A stream of events for each of these tokens, begun one after the other.
async fn streams_of(server: &Server, tokens: &[&str]) -> Vec<BodyDataStream> {
    let mut streams = Vec::new();
    for token in tokens {
        let answer = events(server.web.clone(), (*token).to_owned()).await;
        streams.push(answer.into_body().into_data_stream());
    }
    streams
}

/// The next event of each stream is of this kind, and about this game.
async fn all_have(streams: &mut [BodyDataStream], kind: &str, game: &Value) {
    for stream in streams {
        let event = next_event(stream).await;
        assert_eq!((&event["type"], &event["game"]["id"]), (&json!(kind), game), "{event}");
    }
}

/// Streams that begin while challenges are made have each of them once, from their first events or later.
#[test]
fn a_stream_misses_no_challenge_and_has_none_twice() {
    let folder = Folder::new("once");
    run(async {
        let mut server = Server::start(&folder, Config::default());
        let slow = Rate { per_second: 1e-6, burst: 1e6 };
        server.web.limits = Arc::new(Limits::new(slow, slow, false));
        let (ann, ben) = (account(&server, "ann").await, account(&server, "ben").await);
        let challenge = |token: &str| {
            let request = Request::post("/api/challenge/ben")
                .header("authorization", format!("Bearer {token}"))
                .body(Body::from("{}"))
                .unwrap();
            let web = server.web.clone();
            tokio::spawn(async move { router(web).oneshot(request).await.unwrap().status() })
        };
        let (mut made, mut opened) = (Vec::new(), Vec::new());
        for at in 0..19 {
            made.push(challenge(&ann));
            if at % 3 == 0 {
                opened.push(tokio::spawn(events(server.web.clone(), ben.clone())));
            }
        }
        for status in join_all(made).await {
            assert_eq!(status.unwrap(), StatusCode::OK);
        }
        let streams: Vec<_> = join_all(opened).await.into_iter().map(Result::unwrap).collect();
        // All others are made by now, so no stream has any of them behind this one.
        let (_, last) = server.post("/api/challenge/ben", &ann, json!({})).await;
        for stream in streams {
            let mut stream = stream.into_body().into_data_stream();
            let mut found = Vec::new();
            while found.last() != Some(&last["id"]) {
                let event = next_event(&mut stream).await;
                assert_eq!(event["type"], "challenge", "{event}");
                assert!(!found.contains(&event["challenge"]["id"]), "{event}");
                found.push(event["challenge"]["id"].clone());
            }
            assert_eq!(found.len(), 20);
        }
        server.stop();
    });
}

/// A stream reports the end of a game that only the store knew when the stream began.
#[test]
fn a_game_from_before_a_restart_is_reported_to_end() {
    let folder = Folder::new("finish");
    run(async {
        let server = Server::start(&folder, Config::default());
        let (ann, ben) = (account(&server, "ann").await, account(&server, "ben").await);
        let (_, made) = server.post("/api/challenge/ben", &ann, json!({})).await;
        let id = made["id"].as_str().unwrap();
        let accept = format!("/api/challenge/{id}/accept");
        assert_eq!(server.post(&accept, &ben, json!({})).await.0, StatusCode::OK);
        server.stop();
        let server = Server::start(&folder, Config::default());
        // The second one finds the game where the first has left it.
        let mut streams = streams_of(&server, &[&ann, &ann]).await;
        all_have(&mut streams, "gameStart", &made["id"]).await;
        let resign = format!("/api/board/game/{id}/resign");
        assert_eq!(server.post(&resign, &ben, json!({})).await.0, StatusCode::OK);
        all_have(&mut streams, "gameFinish", &made["id"]).await;
        drop(streams);
        server.stop();
    });
}

/// A stream reports games that begin otherwise than by a challenge: by a search for an opponent, and by a rematch.
#[test]
fn a_game_that_begins_without_a_challenge_is_reported() {
    let folder = Folder::new("begun");
    run(async {
        let server = Server::start(&folder, Config::default());
        let (ann, ben) = (account(&server, "ann").await, account(&server, "ben").await);
        let mut streams = streams_of(&server, &[&ann, &ann, &ben]).await;
        let terms = json!({ "game": "chess" });
        let (_, made) = server.post("/api/v1/pairings", &ann, terms.clone()).await;
        let (_, met) = server.post("/api/v1/pairings", &ben, terms).await;
        assert_eq!((&met["id"], &met["paired"]), (&made["id"], &json!(true)), "{met}");
        let first = made["id"].as_str().unwrap();
        let resign = format!("/api/board/game/{first}/resign");
        assert_eq!(server.post(&resign, &ben, json!({})).await.0, StatusCode::OK);
        let mut second = Value::Null;
        for token in [&ann, &ben] {
            let path = format!("/api/v1/games/{first}/rematch");
            (_, second) = server.post(&path, token, json!({})).await;
        }
        for (kind, game) in [
            ("gameStart", &made["id"]),
            ("gameFinish", &made["id"]),
            ("gameStart", &second["game"]),
        ] {
            all_have(&mut streams, kind, game).await;
        }
        drop(streams);
        server.stop();
    });
}

#[test]
fn streams_that_are_gone_leave_nothing_behind() {
    let folder = Folder::new("streams");
    run(async {
        let server = Server::start(&folder, Config::default());
        let ann = account(&server, "ann").await;
        let listen = async || events(server.web.clone(), ann.clone()).await;
        let kept = listen().await;
        for _ in 0..50 {
            let answer = listen().await;
            assert_eq!(answer.status(), StatusCode::OK);
            assert_eq!(server.web.challenges.listeners(), 2);
            drop(answer);
        }
        assert_eq!(server.web.challenges.listeners(), 1, "those that are open");
        drop(kept);
        assert_eq!(server.web.challenges.listeners(), 0);
        assert!(server.metrics().await.contains("rulemate_open 0\n"));
        server.stop();
    });
}

#[test]
fn clocks_that_never_fall_are_refused() {
    let folder = Folder::new("clocks");
    run(async {
        let server = Server::start(&folder, Config::default());
        let day = 24 * 60 * 60 * 1000_u64;
        let ask = async |clock: Value| {
            let wanted = json!({ "game": "chess", "clock": clock });
            let (status, answer) = server.post("/api/v1/games", "", wanted).await;
            (status.as_u16(), answer["error"].as_str().unwrap_or_default().to_owned())
        };
        let bad = (422, "bad_clock".to_owned());
        assert_eq!(ask(json!({ "initial": u64::MAX })).await, bad);
        assert_eq!(ask(json!({ "initial": 30 * day + 1 })).await, bad);
        assert_eq!(ask(json!({ "initial": 1, "increment": 7 * day + 1 })).await, bad);
        assert_eq!(ask(json!({ "initial": 1, "delay": u64::MAX })).await, bad);
        let long = json!({ "initial": 30 * day, "increment": 7 * day, "delay": 7 * day });
        assert_eq!(ask(long).await.0, 201);
        let (ann, _) = (account(&server, "ann").await, account(&server, "ben").await);
        let challenge = Request::post("/api/challenge/ben")
            .header("authorization", format!("Bearer {ann}"))
            .body(Body::from(format!("clock.limit={}", u64::MAX)));
        let (_, answer) = server.send(challenge.unwrap()).await;
        assert_eq!(answer["code"], "bad_clock", "{answer}");
        server.stop();
    });
}

/// Asks until an answer is so. There is no time in it: what does not come keeps the test waiting.
fn until(mut ask: impl FnMut() -> bool) {
    while !ask() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_second_server_on_one_file_is_refused_and_the_first_goes_on() {
    let folder = Folder::new("second");
    let mut server = Process::start(&folder.url(), &[]);
    let mut wire = Wire::to(&server.address).unwrap();
    let game = "{\"game\":\"chess\"}";
    assert_eq!(wire.ask("POST", "/api/v1/games", game).unwrap().0, 201);
    // Another way to the same file.
    std::os::unix::fs::symlink(folder.0.join("games.db"), folder.0.join("same.db")).unwrap();
    let same = folder.0.join("same.db").display().to_string();
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_rulemate")).args(args).output().unwrap();
        let told = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        (output.status.code(), told)
    };
    for url in [&folder.url(), &same] {
        let (code, told) = run(&["serve", "--listen", "127.0.0.1:0", "--store", url]);
        assert_eq!(code, Some(2), "{told}");
        let process = format!("served by another process (process {})", server.id());
        assert!(told.contains(&process) && told.contains("help: "), "{told}");
    }
    // What only reads may.
    let copy = folder.0.join("copy.db").display().to_string();
    let (code, told) = run(&["backup", &copy, "--store", &folder.url()]);
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = run(&["doctor", "--store", &folder.url()]);
    assert!(code.is_some() && !told.contains("BAD store"), "{told}");
    // And for scripts, as JSON.
    let json = |args: &[&str]| -> serde_json::Value {
        let (_, told) = run(args);
        serde_json::from_str(&told).unwrap_or_else(|it| panic!("{it}: {told}"))
    };
    let other = folder.0.join("other.db").display().to_string();
    let copied = json(&["backup", &other, "--store", &folder.url(), "--json"]);
    assert_eq!((&copied["games"], &copied["faults"]), (&1.into(), &serde_json::json!([])));
    let looked = json(&["doctor", "--store", &folder.url(), "--quick", "--json"]);
    let looks = looked["looks"].as_array().unwrap();
    assert!(
        looks
            .iter()
            .any(|it| it["ok"] == true && it["text"].as_str().unwrap().starts_with("store: "))
    );
    assert_eq!(looked["ok"] == true, looks.iter().all(|it| it["ok"] == true));
    assert_eq!(wire.ask("POST", "/api/v1/games", game).unwrap().0, 201);
    // When it is gone, however it ended, the next one may.
    server.kill();
    let mut next = Process::start(&folder.url(), &[]);
    assert!(next.terminate());
    assert!(Process::start(&folder.url(), &[]).terminate());
}

/// A file that may not grow, as on a disk that is full: the server says so, loses nothing, and goes on
/// when there is room again.
#[test]
fn a_disk_that_is_full_is_told_and_nothing_acknowledged_is_lost() {
    let folder = Folder::new("full");
    assert!(Process::start(&folder.url(), &[]).terminate());
    // Blocks of 512 bytes: the write-ahead log ends at 2 MB.
    let server = Process::start_by("ulimit -f 4096; trap '' XFSZ; exec \"$@\"", &folder.url());
    let mut wire = Wire::to(&server.address).unwrap();
    assert_eq!(wire.ask("GET", "/readyz", "").unwrap().0, 200);
    let mut acknowledged = Vec::new();
    let refused = 'full: loop {
        let (status, made) = wire.ask("POST", "/api/v1/games", "{\"game\":\"chess\"}").unwrap();
        if status != 201 {
            break (status, made);
        }
        let id = made["id"].as_str().unwrap().to_owned();
        acknowledged.push((id.clone(), 0));
        for (ply, uci) in ["g1f3", "g8f6", "f3g1", "f6g8"].iter().enumerate() {
            let body = json!({ "uci": uci, "expected_ply": ply }).to_string();
            let moves = format!("/api/v1/games/{id}/moves");
            let (status, answer) = wire.ask("POST", &moves, &body).unwrap();
            if status != 200 {
                break 'full (status, answer);
            }
            acknowledged.last_mut().unwrap().1 = ply + 1;
        }
    };
    assert_eq!((refused.0, &refused.1["error"]), (503, &json!("store_unavailable")));
    // What was found last holds for a second; then it is looked again.
    until(|| wire.ask("GET", "/readyz", "").unwrap().0 == 503);
    assert_eq!(wire.ask("GET", "/healthz", "").unwrap().0, 200);
    assert!(acknowledged.len() > 10, "{} games", acknowledged.len());
    drop(server);
    let server = Process::start(&folder.url(), &[]);
    super::kill::check(&server.address, &acknowledged, 0);
    let mut wire = Wire::to(&server.address).unwrap();
    assert_eq!(wire.ask("GET", "/readyz", "").unwrap().0, 200);
}

/// Two requests in the clothes of one, by lengths that contradict each other: never are both heard.
#[test]
fn no_request_is_smuggled_within_another() {
    let folder = Folder::new("smuggling");
    let server = Process::start(&folder.url(), &[]);
    let inner = "POST /api/v1/games HTTP/1.1\r\nhost: localhost\r\ncontent-length: 16\r\n\r\n{\"game\":\"chess\"}";
    let games = || {
        let store = rulemate::internals::server::store::open(&folder.url());
        store.unwrap().games().unwrap().len()
    };
    let length = inner.len();
    let heads = [
        format!("content-length: 0\r\ncontent-length: {length}\r\n\r\n{inner}"),
        format!("content-length: 0, {length}\r\n\r\n{inner}"),
        format!("content-length: {length}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("transfer-encoding: chunked\r\ncontent-length: {length}\r\n\r\n0\r\n\r\n{inner}"),
        format!("transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{inner}"),
        format!("transfer-encoding: identity\r\ntransfer-encoding: x\r\n\r\n0\r\n\r\n{inner}"),
        format!("transfer-encoding : chunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("content-length: +0\r\n\r\n{inner}"),
        format!("content-length: -1\r\n\r\n{inner}"),
        format!("content-length: 0x0\r\n\r\n{inner}"),
        format!("content-length:\r\n 0\r\n\r\n{inner}"),
        format!("x: y\r\n\r\n\0{inner}"),
        format!("x: y\n\n\r\0{inner}"),
        format!("transfer-encoding: chunked\r\n\r\n0;\n\r\nX{inner}"),
        format!("transfer-encoding: chunked\r\n\r\nfffffffffffffffff0\r\n\r\n{inner}"),
    ];
    for head in &heads {
        for version in ["1.1", "1.0"] {
            let outer = format!("POST /api/v1/presets/check HTTP/{version}\r\nhost: localhost\r\n");
            let mut stream = TcpStream::connect(&server.address).unwrap();
            stream.write_all(format!("{outer}{head}").as_bytes()).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut answers = Vec::new();
            // Closed is closed, politely or not.
            let _ = stream.read_to_end(&mut answers);
            let answers = String::from_utf8_lossy(&answers).into_owned();
            assert_eq!(games(), 0, "HTTP/{version} {head:?}: {answers}");
        }
    }
    assert_eq!(request(&server.address, "GET", "/healthz", "host: localhost\r\n", "").status, 200);
}

/// Names and messages with markup in them are text everywhere: the API says so, and the page has no way
/// to make markup of a text. Two browsers look at the result (`tests/e2e/play.mjs`).
#[test]
fn markup_in_names_and_messages_stays_text() {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/server/page"));
    let ways = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "createContextualFragment",
        "DOMParser",
        "srcdoc",
        "javascript:",
        "setHTML",
    ];
    let mut scripts = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        scripts += usize::from(path.extension().is_some_and(|it| it == "js"));
        for way in ways {
            assert!(!text.contains(way), "{}: {way}", path.display());
        }
    }
    assert!(scripts >= 5, "{scripts} scripts");
    run(async {
        let folder = Folder::new("markup");
        let server = Server::start(&folder, Config::default());
        let markup = "<img src=x onerror=alert(1)>";
        let options = json!({ "game": "chess", "seat": "both", "name": markup, "chat": true, "listed": true });
        let (id, token) = server.make(options).await;
        let chat = format!("/api/v1/games/{id}/chat");
        assert_eq!(server.post(&chat, &token, json!({ "text": markup })).await.0, StatusCode::OK);
        for path in ["", "/events", "/export", "/export?format=log"] {
            let request = Request::get(format!("/api/v1/games/{id}{path}")).body(Body::empty());
            let answer = router(server.web.clone()).oneshot(request.unwrap()).await.unwrap();
            let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
            assert!(!kind.contains("html"), "{path}: {kind}");
            assert_eq!(answer.headers()["x-content-type-options"], "nosniff", "{path}");
        }
        server.stop();
    });
}
