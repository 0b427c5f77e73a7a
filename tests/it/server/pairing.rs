//! Opponents: paired by what they want to play and by rating, whatever node they ask; and the leaders of a rule set.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use rulemate::internals::server::store::{Change, open};
use rulemate::internals::server::{Config, close_account, settle_games};
use serde_json::{Value, json};

use super::accounts::{account, refused};
use super::api::{Server, hosted, run};
use super::store::Folder;

async fn pair(server: &Server, token: &str, terms: &Value) -> (String, bool) {
    let (status, found) = server.post("/api/v1/pairings", token, terms.clone()).await;
    assert_eq!(status.as_u16(), 200, "{found}");
    let id = found["id"].as_str().unwrap().to_owned();
    assert_eq!(found["url"], format!("/game/{id}"));
    (id, found["paired"] == true)
}

async fn seats(server: &Server, id: &str) -> Vec<String> {
    let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
    assert_eq!(state["rated"], true, "{state}");
    serde_json::from_value::<Vec<Option<String>>>(state["accounts"].clone())
        .unwrap()
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn players_who_want_the_same_game_are_paired() {
    hosted("pairing", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let (ben, _) = account(server, "ben").await;
        let (cyd, _) = account(server, "cyd").await;
        let blitz = json!({ "clock": { "initial": 180_000, "increment": 2_000, "delay": 0 } });
        let (waits, paired) = pair(server, &ann, &blitz).await;
        assert!(!paired);
        assert_eq!(pair(server, &ann, &blitz).await, (waits.clone(), false), "asked again");
        // Another clock, other presets: another game.
        let (other, paired) = pair(server, &ben, &json!({})).await;
        assert!(!paired && other != waits);
        let (shields, paired) = pair(server, &ben, &json!({ "presets": ["piece-shield"] })).await;
        assert!(!paired && shields != other);
        // Who blocks another does not meet that one, on either side.
        let blocks = json!({ "name": "ann" });
        server.post("/api/v1/account/blocks", &cyd, blocks).await;
        let (apart, paired) = pair(server, &cyd, &blitz).await;
        assert!(!paired && apart != waits);
        // Two wait, as good as each other: one of them is met.
        let (met, paired) = pair(server, &ben, &blitz).await;
        assert!(paired && (met == waits || met == apart));
        let (told, paired) = pair(server, if met == waits { &ann } else { &cyd }, &blitz).await;
        assert!(paired && told == met, "the one who waited is told");
        let mut players = seats(server, &met).await;
        players.sort();
        assert_eq!(
            players,
            [if met == waits { "ann" } else { "ben" }, if met == waits { "ben" } else { "cyd" }]
        );
        // Whose seat was taken by a link is no longer met: the next one waits.
        let join = format!("/api/v1/games/{shields}/join");
        server.post(&join, &cyd, json!({ "rated": true })).await;
        let shield = json!({ "presets": ["piece-shield"] });
        let (fresh, paired) = pair(server, &ann, &shield).await;
        assert!(!paired && fresh != shields);
        for (token, terms, code, status) in [
            ("", json!({}), "token_missing", 401),
            (&ann, json!({ "game": "nosuchgame" }), "no_such_game_name", 422),
            (
                &ann,
                json!({ "clock": { "initial": 999_999_999_999_u64, "increment": 0, "delay": 0 } }),
                "bad_clock",
                422,
            ),
        ] {
            let answer = server.post("/api/v1/pairings", token, terms.clone()).await;
            refused(&answer, status, code);
        }
    });
}

/// A game that waits is called off, or somebody comes by its link: nobody is sent to the former, and its maker stays in
/// the latter.
#[test]
fn games_that_wait_no_longer_are_not_met() {
    hosted("waits-no-longer", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let (ben, _) = account(server, "ben").await;
        let (cyd, _) = account(server, "cyd").await;
        let (waits, _) = pair(server, &ann, &json!({})).await;
        let at = |id: &str, act: &str| format!("/api/v1/games/{id}/{act}");
        assert_eq!(server.post(&at(&waits, "abort"), &ann, json!({})).await.0.as_u16(), 200);
        let rated = json!({ "rated": true });
        refused(&server.post(&at(&waits, "join"), &cyd, rated.clone()).await, 409, "game_over");
        let (other, paired) = pair(server, &ben, &json!({})).await;
        assert!(!paired && other != waits);
        assert_eq!(pair(server, &ann, &json!({})).await, (other, true));
        let atomic = json!({ "game": "atomic" });
        let (waits, _) = pair(server, &ann, &atomic).await;
        assert_eq!(server.post(&at(&waits, "join"), &cyd, rated).await.0.as_u16(), 200);
        let (other, paired) = pair(server, &ben, &atomic).await;
        assert!(!paired && other != waits);
        assert_eq!(pair(server, &ann, &atomic).await, (waits.clone(), true));
        let (_, state) = server.get(&format!("/api/v1/games/{waits}")).await;
        assert_eq!(state["status"], "playing");
    });
}

/// A request is valid for ten minutes. Who asks again later still has one game that waits, not two.
#[test]
fn who_asks_again_after_long_keeps_the_game_that_waits() {
    let folder = Folder::new("asks-again");
    let age = || {
        let mut store = open(&folder.url()).unwrap();
        for (key, text) in store.records("pair ", "", 20).unwrap() {
            let mut waiting: Value = serde_json::from_str(&text).unwrap();
            waiting["at"] = json!(waiting["at"].as_u64().unwrap() - 11 * 60 * 1000);
            let change = Change { key, from: Some(text), to: Some(waiting.to_string()) };
            assert!(store.change(&[change]).unwrap());
        }
    };
    run(async {
        let server = Server::start(&folder, Config::default());
        let (ann, _) = account(&server, "ann").await;
        let (ben, _) = account(&server, "ben").await;
        let (waits, _) = pair(&server, &ann, &json!({})).await;
        age();
        assert_eq!(pair(&server, &ann, &json!({})).await, (waits.clone(), false));
        age();
        let (other, paired) = pair(&server, &ben, &json!({})).await;
        assert!(!paired && other != waits, "ann may have gone");
        assert_eq!(pair(&server, &ann, &json!({})).await, (other, true));
        let (_, state) = server.get(&format!("/api/v1/games/{waits}")).await;
        assert_eq!(state["status"], "over", "it is called off");
        server.stop();
    });
}

/// An opponent was found, but the node failed before it took the seat: neither is the one who waits told of an opponent,
/// nor is the seat kept for good.
#[test]
fn an_opponent_who_never_came_is_none() {
    let folder = Folder::new("never-came");
    run(async {
        let server = Server::start(&folder, Config::default());
        let (ann, _) = account(&server, "ann").await;
        let (ben, _) = account(&server, "ben").await;
        let (waits, _) = pair(&server, &ann, &json!({})).await;
        let meet = |at: u64| {
            let mut store = open(&folder.url()).unwrap();
            let (key, text) = store.records("pair ", "", 20).unwrap().pop().unwrap();
            let mut waiting: Value = serde_json::from_str(&text).unwrap();
            waiting["is_met"] = json!(true);
            waiting["met_at"] = json!(at);
            let change = Change { key, from: Some(text), to: Some(waiting.to_string()) };
            assert!(store.change(&[change]).unwrap());
        };
        // Just now: the opponent is on the way.
        meet(server.web.host.now());
        assert_eq!(pair(&server, &ann, &json!({})).await, (waits.clone(), false));
        let (other, paired) = pair(&server, &ben, &json!({})).await;
        assert!(!paired && other != waits);
        let abort = format!("/api/v1/games/{other}/abort");
        assert_eq!(server.post(&abort, &ben, json!({})).await.0.as_u16(), 200);
        // Half a minute ago: nobody comes any more.
        let mut store = open(&folder.url()).unwrap();
        for (key, text) in store.records("pair ", "", 20).unwrap() {
            if text.contains(&other) {
                assert!(store.change(&[Change { key, from: Some(text), to: None }]).unwrap());
            }
        }
        meet(server.web.host.now() - 30_000);
        assert_eq!(pair(&server, &ann, &json!({})).await, (waits.clone(), false));
        meet(server.web.host.now() - 30_000);
        assert_eq!(pair(&server, &ben, &json!({})).await, (waits.clone(), true));
        assert_eq!(pair(&server, &ann, &json!({})).await, (waits, true));
        server.stop();
    });
}

/// Many ask at the same time, and again until they are paired: each is in one game, with one other.
#[test]
fn all_who_ask_at_once_are_paired_once() {
    let folder = Folder::new("pairings");
    run(async {
        let server = Server::start(&folder, Config::default());
        let mut tokens = Vec::new();
        for at in 0..10 {
            tokens.push(account(&server, &format!("player{at}")).await.0);
        }
        let terms = json!({ "game": "atomic" });
        let mut found: Vec<Option<String>> = vec![None; tokens.len()];
        for _ in 0..10 {
            let asked = tokens.iter().map(|it| pair(&server, it, &terms));
            let asked = asked.enumerate().filter(|it| found[it.0].is_none()).map(|it| it.1);
            let answers = join_all(asked).await;
            for (id, _) in answers.iter().filter(|it| it.1) {
                for player in seats(&server, id).await {
                    let at: usize = player.trim_start_matches("player").parse().unwrap();
                    assert!(found[at].as_ref().is_none_or(|it| it == id), "{player} plays twice");
                    found[at] = Some(id.clone());
                }
            }
            if found.iter().all(Option::is_some) {
                break;
            }
        }
        let mut games: Vec<String> = found.into_iter().flatten().collect();
        assert_eq!(games.len(), 10, "{games:?}");
        games.sort();
        games.dedup();
        assert_eq!(games.len(), 5);
        server.stop();
    });
    let mut store = open(&folder.url()).unwrap();
    // All who are left on the list were met: they are told so when they ask again.
    let left = store.records("pair ", "", 20).unwrap();
    assert!(left.iter().all(|it| it.1.contains("\"is_met\":true")), "{left:?}");
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
}

/// Requests of one account at the same moment, as by a click on two devices, leave it in one game that waits.
#[test]
fn an_account_that_asks_many_times_at_once_waits_in_one_game() {
    hosted("pairing-once", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let terms = json!({});
        let answers = join_all((0..8).map(|_| pair(server, &ann, &terms))).await;
        let (_, listed) = server.get("/api/v1/games?state=waiting").await;
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        let waits = listed[0]["id"].as_str().unwrap().to_owned();
        assert!(answers.iter().all(|it| *it == (waits.clone(), false)), "{answers:?}");
        let (ben, _) = account(server, "ben").await;
        assert_eq!(pair(server, &ben, &terms).await, (waits, true));
    });
}

/// Requests of one account at the same moment, while two wait: it meets one of them, and every request leads to that game.
#[test]
fn an_account_that_asks_many_times_at_once_meets_one_opponent() {
    hosted("pairing-meets-once", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let (ben, _) = account(server, "ben").await;
        let (cyd, _) = account(server, "cyd").await;
        server.post("/api/v1/account/blocks", &ben, json!({ "name": "ann" })).await;
        let terms = json!({});
        for token in [&ann, &ben] {
            assert!(!pair(server, token, &terms).await.1);
        }
        let answers = join_all((0..8).map(|_| pair(server, &cyd, &terms))).await;
        let (met, _) = answers.iter().find(|it| it.1).expect("two wait").clone();
        assert!(answers.iter().all(|it| it.0 == met), "{answers:?}");
        let (_, games) = server.get("/api/v1/games?state=playing").await;
        assert_eq!(games.as_array().map(Vec::len), Some(1), "{games}");
        let (_, games) = server.get("/api/v1/games?state=waiting").await;
        assert_eq!(games.as_array().map(Vec::len), Some(1), "{games}");
    });
}

/// An account that is closed while it waits could never play.
#[test]
fn a_closed_account_neither_waits_nor_challenges() {
    let folder = Folder::new("pairing-closed");
    run(async {
        let server = Server::start(&folder, Config::default());
        let ((ann, _), (ben, _)) = (account(&server, "ann").await, account(&server, "ben").await);
        let (waits, _) = pair(&server, &ann, &json!({})).await;
        let (_, asked) = server.post("/api/challenge/ben", &ann, json!({})).await;
        assert!(close_account(open(&folder.url()).unwrap().as_mut(), "ann").unwrap());
        let (other, paired) = pair(&server, &ben, &json!({})).await;
        assert!(!paired && other != waits);
        let accept = format!("/api/challenge/{}/accept", asked["id"].as_str().unwrap());
        let (status, told) = server.post(&accept, &ben, json!({})).await;
        assert_eq!((status.as_u16(), &told["code"]), (400, &json!("account_closed")), "{told}");
        server.stop();
    });
}

/// An alias is the game itself, and a numbered start position has the ratings of its game: a win sets two accounts that are
/// new further apart than are paired at once.
#[test]
fn a_game_is_the_same_by_each_of_its_names() {
    hosted("pairing-names", Config::default(), async |server| {
        tokio::spawn(settle_games(Arc::downgrade(&server.web.host)));
        let (ann, _) = account(server, "ann").await;
        let (ben, _) = account(server, "ben").await;
        let (waits, _) = pair(server, &ann, &json!({ "game": "3check" })).await;
        assert_eq!(pair(server, &ben, &json!({ "game": "three-check" })).await, (waits, true));
        let numbered = json!({ "game": "chess960:position=518", "seat": "white", "rated": true });
        let (_, made) = server.post("/api/v1/games", &ann, numbered).await;
        let id = made["id"].as_str().unwrap().to_owned();
        server.post(&format!("/api/v1/games/{id}/join"), &ben, json!({ "rated": true })).await;
        for (at, uci) in ["f2f3", "e7e5", "g2g4", "d8h4"].iter().enumerate() {
            server.play(&id, if at % 2 == 0 { &ann } else { &ben }, uci).await;
        }
        while server.get(&format!("/api/v1/games/{id}/rating")).await.0.as_u16() != 200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let numbered = json!({ "game": "chess960:position=518" });
        assert!(!pair(server, &ann, &numbered).await.1);
        assert!(!pair(server, &ben, &numbered).await.1, "ben is far better");
    });
}

/// A set of presets is one set however it is written: for pairing, for ratings, and for ratings that an earlier version
/// kept under the set as it was written.
#[test]
fn presets_are_the_same_in_each_spelling() {
    let folder = Folder::new("spelled");
    run(async {
        let server = Server::start(&folder, Config::default());
        tokio::spawn(settle_games(Arc::downgrade(&server.web.host)));
        let (ann, _) = account(&server, "ann").await;
        let (ben, _) = account(&server, "ben").await;
        let spelled = |all: [&str; 2]| json!({ "presets": all });
        let (waits, _) = pair(&server, &ann, &spelled(["coregal", "piece-shield"])).await;
        let other = spelled(["piece-shield:both", "coregal:both"]);
        assert_eq!(pair(&server, &ben, &other).await, (waits, true));
        let kept = |key: &str, rating: f64| {
            let at = server.web.host.now();
            let kept = json!({ "rating": rating, "deviation": 60.0, "volatility": 0.06, "games": 40, "at": at });
            let change = Change { key: key.to_owned(), from: None, to: Some(kept.to_string()) };
            assert!(open(&folder.url()).unwrap().change(&[change]).unwrap());
        };
        kept("rating ann chess coregal:both", 2000.0);
        let made = json!({ "presets": ["coregal:both"], "seat": "white", "rated": true });
        let (_, made) = server.post("/api/v1/games", &ann, made).await;
        let id = made["id"].as_str().unwrap().to_owned();
        let join = format!("/api/v1/games/{id}/join");
        server.post(&join, &ben, json!({ "rated": true })).await;
        for (at, uci) in ["f2f3", "e7e5", "g2g4"].iter().enumerate() {
            server.play(&id, if at % 2 == 0 { &ann } else { &ben }, uci).await;
        }
        server.post(&format!("/api/v1/games/{id}/resign"), &ben, json!({})).await;
        let rating = loop {
            let (status, rating) = server.get(&format!("/api/v1/games/{id}/rating")).await;
            if status.as_u16() == 200 {
                break rating;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        assert_eq!(
            (&rating["rules"], &rating["players"][0]["before"]),
            (&json!("chess coregal"), &json!(2000))
        );
        let (_, player) = server.get("/api/v1/users/ann").await;
        assert_eq!(player["ratings"].as_array().unwrap().len(), 1, "{player}");
        assert_eq!(player["ratings"][0]["rules"], "chess coregal");
        for spelling in ["coregal", "coregal:both"] {
            let (_, best) = server.get(&format!("/api/v1/leaders?rules=chess+{spelling}")).await;
            assert_eq!(best[0]["id"], "ann", "{spelling}: {best}");
        }
        server.stop();
    });
}

/// The best players of a rule set are told, each once; a rating that says little yet is none.
#[test]
fn leaders_are_in_order() {
    hosted("leaders", Config::default(), async |server| {
        tokio::spawn(settle_games(Arc::downgrade(&server.web.host)));
        let (ann, _) = account(server, "ann").await;
        let (ben, _) = account(server, "ben").await;
        let leaders = "/api/v1/leaders?rules=chess";
        let moves = ["f2f3", "e7e5", "g2g4", "d8h4"];
        let mut before = 0;
        for game in 0..60 {
            // Each wins and loses by turns: so the ratings become known soon.
            let (loses, wins) = if game % 2 == 0 { (&ann, &ben) } else { (&ben, &ann) };
            let made = json!({ "seat": "white", "rated": true });
            let (_, made) = server.post("/api/v1/games", loses, made).await;
            let id = made["id"].as_str().unwrap().to_owned();
            let join = format!("/api/v1/games/{id}/join");
            server.post(&join, wins, json!({ "rated": true })).await;
            for (at, uci) in moves.iter().enumerate() {
                server.play(&id, if at % 2 == 0 { loses } else { wins }, uci).await;
            }
            while server.get(&format!("/api/v1/games/{id}/rating")).await.0.as_u16() != 200 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let (_, found) = server.get(leaders).await;
            let found = found.as_array().unwrap().clone();
            before = found.len();
            if before == 2 {
                break;
            }
        }
        assert_eq!(before, 2, "the ratings of both are known by now");
        let (_, found) = server.get(leaders).await;
        let rating = |at: usize| found[at]["rating"].as_i64();
        assert!(rating(0) >= rating(1) && found[0]["id"] != found[1]["id"], "{found}");
        for it in found.as_array().unwrap() {
            let name = it["id"].as_str().unwrap();
            let (_, player) = server.get(&format!("/api/v1/users/{name}")).await;
            let known = &player["ratings"][0];
            assert_eq!((&it["rating"], &it["games"]), (&known["rating"], &known["games"]));
        }
        let (_, none) = server.get("/api/v1/leaders?rules=atomic").await;
        assert_eq!(none, json!([]));
    });
}
