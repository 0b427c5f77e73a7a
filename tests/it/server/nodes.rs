//! Two nodes on one store: any of them takes requests for any game, one owns it, each hears of the
//! other, and the games of one that dies are taken over. On one SQLite file always; on PostgreSQL,
//! with leases, news between the nodes and real processes that are killed, where
//! `RULEMATE_TEST_POSTGRES` names a database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use rulemate::server::Config;
use rulemate::server::store::{Append, Claim, Conflict, Lease, Nodes, Postgres, Store};
use serde_json::json;

use super::api::{Server, run};
use super::kill::{Acknowledged, Process, Wire, check, load};
use super::store::{Folder, append, test_database};

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
        one.stop();
        two.stop();
    });
}

/// Games under way on a node that is killed: every acknowledged move is there, and every game goes
/// on at the other node.
#[test]
fn games_go_on_at_another_node_and_nothing_is_lost() {
    let Some(url) = test_database("takeover") else { return };
    let (mut one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let acknowledged = Acknowledged::default();
    let players: Vec<_> = (0..6)
        .map(|_| {
            let (address, acknowledged) = (one.address.clone(), Arc::clone(&acknowledged));
            std::thread::spawn(move || load(&address, &acknowledged))
        })
        .collect();
    let started = Instant::now();
    while acknowledged.lock().unwrap().len() < 20 && started.elapsed().as_secs() < 60 {
        std::thread::sleep(Duration::from_millis(5));
    }
    one.kill();
    let killed = Instant::now();
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
    let took = killed.elapsed();
    assert!(went_on >= 20 && took < Duration::from_secs(10), "{went_on} games in {took:?}");
}

#[test]
fn who_has_lost_a_game_cannot_append_to_it() {
    let Some(url) = test_database("leases") else { return };
    let (mut one, mut two) = (Postgres::open(&url).unwrap(), Postgres::open(&url).unwrap());
    let (a, b): (Arc<str>, Arc<str>) = ("aa".into(), "bb".into());
    let lease = |node: &Arc<str>, epoch| Lease { node: Arc::clone(node), epoch };
    let under =
        |lease: &Lease, at| Append { lease: Some(lease.clone()), ..append("g", at, &["x"]) };
    one.renew(&a).unwrap();
    two.renew(&b).unwrap();
    assert_eq!(two.claim("g", &b).unwrap(), None, "there is no such game yet");
    let first = lease(&a, 1);
    assert_eq!(one.append(&[under(&first, 0)]).unwrap(), [Ok(())], "who makes a game owns it");
    assert_eq!(two.claim("g", &b).unwrap(), Some(Claim::Theirs(Arc::clone(&a))));
    let lost = || [Err(Conflict::Lost { game: "g".into() })];
    assert_eq!(two.append(&[under(&lease(&b, 1), 1)]).unwrap(), lost(), "not without a claim");
    // The owner is not heard of any more.
    let (silent, mut claim) = (Instant::now(), None);
    while !matches!(claim, Some(Claim::Ours { .. })) && silent.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
        claim = two.claim("g", &b).unwrap();
    }
    let second = lease(&b, 2);
    assert_eq!(claim, Some(Claim::Ours { lease: second.clone(), seq: 1 }));
    assert!(silent.elapsed() < Duration::from_secs(2), "{:?}", silent.elapsed());
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

/// An owner that stood still while another node took its game over goes on with it: by asking.
#[test]
fn an_owner_that_was_away_knows_that_it_has_lost_its_game() {
    let Some(url) = test_database("paused") else { return };
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
    let stopped = Instant::now();
    play(&mut second, 2, "g1f3");
    let took = stopped.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    play(&mut second, 3, "b8c6");
    one.signal("-CONT");
    play(&mut first, 4, "f1b5");
    play(&mut second, 5, "a7a6");
    play(&mut first, 6, "b5a4");
    // Who stops in order is not waited for.
    let mut two = two;
    drop(second);
    let stopping = Instant::now();
    assert!(two.terminate());
    let ended = Instant::now();
    play(&mut first, 7, "g8f6");
    assert!(ended.elapsed() < Duration::from_secs(1), "{:?} {:?}", ended.elapsed(), stopping);
}

#[test]
fn a_node_takes_over_from_one_that_was_killed() {
    let Some(url) = test_database("nodes") else { return };
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
        let started = Instant::now();
        loop {
            let (status, answer) = wire.ask("POST", &format!("{path}/moves"), &body).unwrap();
            if status == 200 {
                break;
            }
            assert_eq!(answer["error"], "stale_ply", "{answer}");
            assert!(started.elapsed() < Duration::from_secs(10), "news do not arrive");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let killed = Instant::now();
    one.kill();
    let body = json!({ "uci": "e2e4", "expected_ply": moves.len() }).to_string();
    let (status, answer) = second.ask("POST", &format!("{path}/moves"), &body).unwrap();
    assert_eq!(status, 200, "{answer}");
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(4), "{took:?}");
    let (_, state) = second.ask("GET", &path, "").unwrap();
    assert_eq!(state["ply"], moves.len() + 1);
}
