//! Two nodes on one store: any of them takes requests for any game, one owns it, each hears of the
//! other, and the games of one that dies are taken over. On one SQLite file always; on PostgreSQL,
//! with leases, news between the nodes and real processes that are killed, where
//! `RULEMATE_TEST_POSTGRES` names a database.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::future::join_all;
use rulemate::internals::server::Config;
use rulemate::internals::server::store::{
    Append, Change, Claim, Conflict, Lease, Nodes, Postgres, Store, open,
};
use serde_json::{Value, json};

use super::accounts::account;
use super::api::{Server, run};
use super::kill::{Acknowledged, Process, Wire, check, load};
use super::long::long_game;
use super::socket::Client;
use super::store::{Folder, append, payloads, test_database};

#[test]
fn two_servers_on_one_file_do_not_overwrite_each_other() {
    let folder = Folder::new("nodes");
    run(async {
        let one = Server::start(&folder, Config::default());
        let two = Server::start(&folder, Config::default());
        let (id, token) = one.make(json!({ "game": "chess", "seat": "both" })).await;
        assert_eq!(two.play(&id, &token, "e2e4").await.0, StatusCode::OK);
        // The first has not heard of it (a file sends no news), but it cannot write over it.
        let stale = json!({ "uci": "d2d4", "expected_ply": 0 });
        let (status, answer) = one.post(&format!("/api/v1/games/{id}/moves"), &token, stale).await;
        assert_eq!((status, &answer["ply"]), (StatusCode::CONFLICT, &json!(1)), "{answer}");
        let (status, answer) = one.play(&id, &token, "e7e5").await;
        assert_eq!((status, &answer["ply"]), (StatusCode::OK, &json!(2)), "{answer}");
        let stale = json!({ "uci": "d7d5", "expected_ply": 1 });
        let (status, answer) = two.post(&format!("/api/v1/games/{id}/moves"), &token, stale).await;
        assert_eq!(
            (status, &answer["error"]),
            (StatusCode::CONFLICT, &json!("stale_ply")),
            "{answer}"
        );
        // A client that knows an event from the first is not sent back before it by the second.
        assert_eq!(one.play(&id, &token, "g1f3").await.0, StatusCode::OK);
        let (_, state) = one.get(&format!("/api/v1/games/{id}")).await;
        let feed = two.web.host.watch(&id, state["v"].as_u64(), None).await.unwrap();
        assert!(feed.missed.is_empty(), "{:?}", feed.missed);
        one.stop();
        two.stop();
    });
}

/// Events of another server of which the second cannot be played: a game is not shown after the first alone, which no
/// watcher was sent.
#[test]
fn events_of_others_are_read_all_or_none() {
    let folder = Folder::new("all-or-none");
    run(async {
        let one = Server::start(&folder, Config::default());
        let two = Server::start(&folder, Config::default());
        let (id, token) = one.make(json!({ "game": "chess", "seat": "both" })).await;
        assert_eq!(two.play(&id, &token, "e2e4").await.0, StatusCode::OK);
        let mut store = open(&folder.url()).unwrap();
        let last = payloads(store.as_mut(), &id, 0).pop().unwrap();
        let mut impossible: Value = serde_json::from_str(&last).unwrap();
        let v = impossible["v"].as_u64().unwrap();
        impossible["v"] = json!(v + 1);
        impossible["d"]["uci"] = json!("e2e5");
        let more = append(&id, v, &[&impossible.to_string()]);
        assert_eq!(store.append(&[more]).unwrap(), [Ok(())]);
        let path = format!("/api/v1/games/{id}");
        let (status, answer) = one.get(&format!("{path}?v={}", v + 1)).await;
        assert!(status.is_server_error(), "{status} {answer}");
        let (status, answer) = one.get(&path).await;
        assert!(status.is_server_error(), "{status} {answer}");
        one.stop();
        two.stop();
    });
}

/// Requests to two servers at the same moment exceed no limit of an account together.
#[test]
fn two_servers_at_once_keep_to_the_limits_of_an_account() {
    let folder = Folder::new("node-limits");
    run(async {
        let one = Server::start(&folder, Config::default());
        let two = Server::start(&folder, Config::default());
        let mut store = open(&folder.url()).unwrap();
        let clock = json!({ "initial": 60_000, "increment": 0, "delay": 0 });
        let body = json!({ "clock": clock, "minutes": 10 });
        for name in ["ann", "ben", "cyd", "dan", "eve"] {
            let (token, _) = account(&one, name).await;
            let make = |at: usize| {
                let server = if at.is_multiple_of(2) { &one } else { &two };
                server.post("/api/v1/tournaments", &token, body.clone())
            };
            let answers = join_all((0..10).map(make)).await;
            let made = answers.iter().filter(|it| it.0 == StatusCode::CREATED).count();
            let kept = store.records(&format!("tournaments of {name} "), "", 20).unwrap().len();
            assert!(made <= 3 && kept == made, "{name}: {made} made, {kept} kept");
        }
        one.stop();
        two.stop();
    });
}

/// The limits of what is blocked and reported: of one place that is left, requests to two servers at the same moment
/// take one.
fn the_last_place_is_taken_once(url: &str) {
    const NAMES: [&str; 5] = ["ann", "ben", "cyd", "dan", "eve"];
    let mut store = open(url).unwrap();
    let mut fill = |prefix: &str, count: usize| {
        let made = |at: usize| {
            let key = format!("{prefix}{at}");
            Change { key, from: None, to: Some(String::new()) }
        };
        assert!(store.change(&(0..count).map(made).collect::<Vec<_>>()).unwrap());
    };
    NAMES.iter().for_each(|it| fill(&format!("block {it} x"), 199));
    fill("report x ", 999);
    // PostgreSQL's client waits on a runtime of its own, which no task of another may do.
    let (one, two) = (Server::on(url, Config::default()), Server::on(url, Config::default()));
    run(async {
        let others: Vec<String> = (0..6).map(|it| format!("other{it}")).collect();
        let mut games = Vec::new();
        for name in &others {
            account(&one, name).await;
            games.push(one.make(json!({ "game": "chess" })).await.0);
        }
        let server = |at: usize| if at.is_multiple_of(2) { &one } else { &two };
        for name in NAMES {
            let (token, _) = account(&one, name).await;
            let token = token.as_str();
            let block = |(at, other): (usize, &String)| {
                let body = json!({ "name": other });
                server(at).post("/api/v1/account/blocks", token, body)
            };
            let answers = join_all(others.iter().enumerate().map(block)).await;
            let blocked = answers.iter().filter(|it| it.0 == StatusCode::OK).count();
            assert_eq!(blocked, 1, "{name}: {answers:?}");
        }
        let report = async |at: usize, game: &String| {
            let path = format!("/api/v1/games/{game}/report");
            server(at).post(&path, "", json!({ "text": "rude" })).await
        };
        let answers = join_all(games.iter().enumerate().map(|it| report(it.0, it.1))).await;
        let kept = answers.iter().filter(|it| it.0 == StatusCode::OK).count();
        assert_eq!(kept, 1, "{answers:?}");
    });
    one.stop();
    two.stop();
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
}

#[test]
fn the_last_place_in_a_file_is_taken_once() {
    the_last_place_is_taken_once(&Folder::new("last-place").url());
}

#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn the_last_place_in_a_database_is_taken_once() {
    the_last_place_is_taken_once(&test_database("lastplace"));
}

/// Games under way on a node that is killed: every acknowledged move is there, and every game goes
/// on at the other node.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn games_go_on_at_another_node_and_nothing_is_lost() {
    let url = test_database("takeover");
    let (mut one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let acknowledged = Acknowledged::default();
    let players: Vec<_> = (0..6)
        .map(|_| {
            let (address, acknowledged) = (one.address.clone(), Arc::clone(&acknowledged));
            std::thread::spawn(move || load(&address, &acknowledged))
        })
        .collect();
    let is_over = || players.iter().all(std::thread::JoinHandle::is_finished);
    while acknowledged.lock().unwrap().len() < 20 && !is_over() {
        std::thread::sleep(Duration::from_millis(5));
    }
    one.kill();
    for player in players {
        player.join().unwrap();
    }
    let before = acknowledged.lock().unwrap().clone();
    assert!(before.len() >= 20, "{} games", before.len());
    check(&two.address, &before, 0);
    let mut wire = Wire::to(&two.address).unwrap();
    let mut went_on = 0;
    for (id, _) in &before {
        let path = format!("/api/v1/games/{id}");
        let (_, state) = wire.ask("GET", &path, "").unwrap();
        let Some(uci) = state["legal"][0].as_str() else { continue };
        let body = json!({ "uci": uci, "expected_ply": state["ply"] }).to_string();
        let (status, answer) = wire.ask("POST", &format!("{path}/moves"), &body).unwrap();
        assert_eq!(status, 200, "{answer}");
        went_on += 1;
    }
    assert!(went_on >= 20, "{went_on} games went on");
}

#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn a_node_that_has_lost_a_game_cannot_append_to_it() {
    let url = test_database("leases");
    let (mut one, mut two) = (Postgres::open(&url).unwrap(), Postgres::open(&url).unwrap());
    let (a, b): (Arc<str>, Arc<str>) = ("aa".into(), "bb".into());
    let lease = |node: &Arc<str>, epoch| Lease { node: Arc::clone(node), epoch };
    let under =
        |lease: &Lease, at| Append { lease: Some(lease.clone()), ..append("g", at, &["x"]) };
    one.renew(&a).unwrap();
    two.renew(&b).unwrap();
    assert_eq!(two.claim("g", &b).unwrap(), None, "there is no such game yet");
    let first = lease(&a, 1);
    assert_eq!(
        one.append(&[under(&first, 0)]).unwrap(),
        [Ok(())],
        "a node that makes a game owns it"
    );
    assert_eq!(two.claim("g", &b).unwrap(), Some(Claim::Theirs(Arc::clone(&a))));
    let lost = || [Err(Conflict::Lost { game: "g".into() })];
    assert_eq!(two.append(&[under(&lease(&b, 1), 1)]).unwrap(), lost(), "not without a claim");
    // The owner is not heard of any more.
    let mut claim = None;
    while !matches!(claim, Some(Claim::Ours { .. })) {
        std::thread::sleep(Duration::from_millis(20));
        claim = two.claim("g", &b).unwrap();
    }
    let second = lease(&b, 2);
    assert_eq!(claim, Some(Claim::Ours { lease: second.clone(), seq: 1 }));
    two.renew(&b).unwrap();
    // It wakes up, knows the last event, and has nothing to say.
    assert_eq!(one.append(&[under(&first, 1)]).unwrap(), lost());
    assert_eq!(two.append(&[under(&second, 1)]).unwrap(), [Ok(())]);
    one.renew(&a).unwrap();
    assert_eq!(one.claim("g", &a).unwrap(), Some(Claim::Theirs(Arc::clone(&b))));
    // A game that is let go is anybody's at once; an old lease of the new owner is worth nothing.
    one.release("g", &first).unwrap();
    assert_eq!(one.claim("g", &a).unwrap(), Some(Claim::Theirs(Arc::clone(&b))));
    two.release("g", &second).unwrap();
    let third = lease(&a, 3);
    assert_eq!(one.claim("g", &a).unwrap(), Some(Claim::Ours { lease: third.clone(), seq: 2 }));
    assert_eq!(one.append(&[under(&first, 2)]).unwrap(), lost());
    assert_eq!(one.append(&[under(&third, 2)]).unwrap(), [Ok(())]);
    one.retire(&a).unwrap();
    assert!(matches!(two.claim("g", &b).unwrap(), Some(Claim::Ours { seq: 3, .. })));
    assert!(!one.send("bb", &"x".repeat(8_000)).unwrap(), "too long");
    assert!(one.send("bb", "hear").unwrap());
}

/// The refutation of a move is longer than a message between nodes.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn an_illegal_move_is_refused_through_another_node() {
    let url = test_database("refusal");
    let (one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let made = json!({ "game": "chess", "seat": "both" }).to_string();
    let (_, made) = Wire::to(&one.address).unwrap().ask("POST", "/api/v1/games", &made).unwrap();
    let path = format!("/api/v1/games/{}/moves", made["id"].as_str().unwrap());
    let headers = format!("authorization: Bearer {}\r\n", made["token"].as_str().unwrap());
    let mut wire = Wire::to(&two.address).unwrap();
    let (status, refused) = wire.ask_with("POST", &path, &headers, "{\"uci\":\"e2e5\"}").unwrap();
    assert_eq!((status, &refused["error"]), (422, &json!("illegal_move")), "{refused}");
    assert!(refused["message"].as_str().unwrap().starts_with("e2e5 is not legal"), "{refused}");
}

/// Of two players at two nodes, each is told that the other is there.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn players_at_two_nodes_are_present_for_each_other() {
    let url = test_database("presence");
    let (one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let made = json!({ "game": "chess", "seat": "both" }).to_string();
    let (_, made) = Wire::to(&one.address).unwrap().ask("POST", "/api/v1/games", &made).unwrap();
    let id = made["id"].as_str().unwrap();
    let auth = json!({ "t": "auth", "a": 1, "d": { "token": made["token"] } }).to_string();
    run(async {
        let mut player = Client::to(one.address.parse().unwrap(), id, "?v=9").await;
        let mut watcher = Client::to(two.address.parse().unwrap(), id, "?v=9").await;
        player.say_text(&auth).await;
        let present = async |client: &mut Client| {
            client.say_text("{\"t\":\"ping\",\"a\":7}").await;
            loop {
                let heard = client.hear().await.unwrap();
                if heard["t"] == "pong" {
                    return heard["d"].clone();
                }
            }
        };
        let all = json!({ "sides": [0, 1], "sockets": 2 });
        while present(&mut watcher).await != all {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        drop(player);
        while present(&mut watcher).await != json!({ "sides": [], "sockets": 1 }) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
}

/// An owner that stood still while another node took its game over goes on with it: by asking.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn an_owner_that_was_away_knows_that_it_has_lost_its_game() {
    let url = test_database("paused");
    let (one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let mut first = Wire::to(&one.address).unwrap();
    let mut second = Wire::to(&two.address).unwrap();
    let body = json!({ "game": "chess", "clock": { "initial": 600_000 } }).to_string();
    let (_, made) = first.ask("POST", "/api/v1/games", &body).unwrap();
    let path = format!("/api/v1/games/{}", made["id"].as_str().unwrap());
    let play = |wire: &mut Wire, ply: usize, uci: &str| {
        let body = json!({ "uci": uci, "expected_ply": ply }).to_string();
        let (status, answer) = wire.ask("POST", &format!("{path}/moves"), &body).unwrap();
        assert_eq!((status, &answer["ply"]), (200, &json!(ply + 1)), "{answer}");
    };
    play(&mut first, 0, "e2e4");
    play(&mut second, 1, "e7e5");
    one.signal("-STOP");
    play(&mut second, 2, "g1f3");
    play(&mut second, 3, "b8c6");
    one.signal("-CONT");
    play(&mut first, 4, "f1b5");
    play(&mut second, 5, "a7a6");
    play(&mut first, 6, "b5a4");
    // A node that stops in order is not waited for: its games have no owner when it is gone.
    let mut two = two;
    drop(second);
    assert!(two.terminate());
    let mut database = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let owners = "SELECT count(*) FROM games WHERE owner IS NOT NULL
                  AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = games.owner)";
    assert_eq!(database.query_one(owners, &[]).unwrap().get::<_, i64>(0), 0, "left with an owner");
    let nodes = database.query_one("SELECT count(*) FROM nodes", &[]).unwrap();
    assert_eq!(nodes.get::<_, i64>(0), 1, "the one that goes on");
    play(&mut first, 7, "g8f6");
}

#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn a_node_takes_over_from_one_that_was_killed() {
    let url = test_database("nodes");
    let (mut one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let mut first = Wire::to(&one.address).unwrap();
    let mut second = Wire::to(&two.address).unwrap();
    let (_, made) = first.ask("POST", "/api/v1/games", "{\"game\":\"chess\"}").unwrap();
    let path = format!("/api/v1/games/{}", made["id"].as_str().unwrap());
    let moves = ["g1f3", "g8f6", "f3g1", "f6g8", "b1c3", "b8c6", "c3b1", "c6b8"];
    for (ply, uci) in moves.iter().enumerate() {
        let body = json!({ "uci": uci, "expected_ply": ply }).to_string();
        let wire = if ply % 2 == 0 { &mut first } else { &mut second };
        // The other node may not have heard yet: then the ply is stale, and one asks again.
        loop {
            let (status, answer) = wire.ask("POST", &format!("{path}/moves"), &body).unwrap();
            if status == 200 {
                break;
            }
            assert_eq!(answer["error"], "stale_ply", "{answer}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    one.kill();
    let body = json!({ "uci": "e2e4", "expected_ply": moves.len() }).to_string();
    let (status, answer) = second.ask("POST", &format!("{path}/moves"), &body).unwrap();
    assert_eq!(status, 200, "{answer}");
    let (_, state) = second.ask("GET", &path, "").unwrap();
    assert_eq!(state["ply"], moves.len() + 1);
}

/// What was acknowledged at one node is seen at the other by a client that names it, at once.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn a_move_that_was_acknowledged_is_seen_at_every_node() {
    let url = test_database("seen");
    let (one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let mut wires = [Wire::to(&one.address).unwrap(), Wire::to(&two.address).unwrap()];
    let (_, made) = wires[0].ask("POST", "/api/v1/games", "{\"game\":\"chess\"}").unwrap();
    let path = format!("/api/v1/games/{}", made["id"].as_str().unwrap());
    for (ply, uci) in long_game(80).iter().enumerate() {
        let body = json!({ "uci": uci, "expected_ply": ply }).to_string();
        let (at, other) = (ply / 3 % 2, 1 - ply / 3 % 2);
        let (status, answer) = wires[at].ask("POST", &format!("{path}/moves"), &body).unwrap();
        assert_eq!(status, 200, "{answer}");
        for node in [other, at] {
            let address = format!("{path}?v={}", answer["v"]);
            let (status, state) = wires[node].ask("GET", &address, "").unwrap();
            assert_eq!((status, &state["ply"]), (200, &json!(ply + 1)), "{state}");
        }
    }
}

/// A program that plays for an account hears of its games on another node than that which has them.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn a_stream_of_events_tells_of_games_on_another_node() {
    let url = test_database("streams");
    let (one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let mut wire = Wire::to(&one.address).unwrap();
    let mut account = |name: &str| {
        let body = json!({ "name": name }).to_string();
        let (_, made) = wire.ask("POST", "/api/v1/accounts", &body).unwrap();
        format!("authorization: Bearer {}\r\n", made["token"].as_str().unwrap())
    };
    let (ann, ben) = (account("ann"), account("ben"));
    let mut stream = TcpStream::connect(&two.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!("GET /api/stream/event HTTP/1.1\r\nhost: localhost\r\n{ben}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut hears = |word: &str| lines.any(|it| it.unwrap().contains(word));
    assert!(hears("x-ndjson"));
    let made = json!({ "game": "chess", "seat": "white" }).to_string();
    let (_, made) = wire.ask_with("POST", "/api/v1/games", &ann, &made).unwrap();
    let path = format!("/api/v1/games/{}", made["id"].as_str().unwrap());
    let (status, _) = wire.ask_with("POST", &format!("{path}/join"), &ben, "{}").unwrap();
    assert!(status == 200 && hears("gameStart"));
    let (status, _) = wire.ask_with("POST", &format!("{path}/resign"), &ann, "{}").unwrap();
    assert!(status == 200 && hears("gameFinish"));
}
