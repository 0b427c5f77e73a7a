//! Accounts as their holders use them: several devices, recovery codes, games that any device plays; and ratings,
//! which a game changes exactly once.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::http::StatusCode;
use rulemate::internals::server::store::open;
use rulemate::internals::server::{Config, settle_games};
use serde_json::{Value, json};

use super::api::{Server, hosted, run};
use super::store::{Folder, test_database};

pub(super) async fn account(server: &Server, name: &str) -> (String, Vec<String>) {
    let body = json!({ "name": name, "device": "a phone" });
    let (status, made) = server.post("/api/v1/accounts", "", body).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let codes = serde_json::from_value(made["codes"].clone()).unwrap();
    (made["token"].as_str().unwrap().to_owned(), codes)
}

async fn log_in(server: &Server, name: &str, code: &str) -> (StatusCode, Value) {
    server.post("/api/v1/login", "", json!({ "name": name, "code": code })).await
}

pub(super) async fn ask(
    server: &Server,
    method: &str,
    path: &str,
    token: &str,
) -> (StatusCode, Value) {
    let request = axum::http::Request::builder().method(method).uri(path);
    let request = request.header("authorization", format!("Bearer {token}"));
    server.send(request.body(axum::body::Body::empty()).unwrap()).await
}

pub(super) fn refused(answer: &(StatusCode, Value), status: u16, code: &str) {
    assert_eq!((answer.0.as_u16(), answer.1["error"].as_str()), (status, Some(code)), "{answer:?}");
    assert!(answer.1["message"].as_str().is_some_and(|it| it.len() > 10), "{answer:?}");
}

#[test]
fn an_account_plays_its_seat_from_any_of_its_devices() {
    let folder = Folder::new("devices");
    run(async {
        let server = Server::start(&folder, Config::default());
        let (phone, codes) = account(&server, "Ann").await;
        assert_eq!(codes.len(), 8);
        let options = json!({ "game": "chess", "seat": "white", "name": "somebody else" });
        let (_, made) = server.post("/api/v1/games", &phone, options).await;
        assert_eq!((&made["token"], &made["you"]), (&Value::Null, &json!([0])), "its own token");
        assert_eq!(made["seats"][0], "Ann", "an account has its own name");
        assert_eq!(made["accounts"], json!(["ann", null]));
        let id = made["id"].as_str().unwrap();
        // A guest of the same name is no account.
        let join = format!("/api/v1/games/{id}/join");
        let (_, guest) = server.post(&join, "", json!({ "name": "Ann" })).await;
        let guest = guest["token"].as_str().unwrap().to_owned();
        // Spaces and capitals of a code do not matter; it is good once.
        let written = codes[3].to_uppercase().replace('-', " ");
        let (status, desk) = log_in(&server, "ANN", &written).await;
        assert_eq!((status, &desk["codes_left"]), (StatusCode::OK, &json!(7)));
        let desk = desk["token"].as_str().unwrap().to_owned();
        refused(&log_in(&server, "ann", &codes[3]).await, 401, "code_wrong");
        refused(&log_in(&server, "ben", &codes[2]).await, 401, "code_wrong");
        refused(&log_in(&server, "ann", "").await, 401, "code_wrong");
        for (token, uci) in [(&phone, "e2e4"), (&guest, "e7e5"), (&desk, "d2d4")] {
            assert_eq!(server.play(id, token, uci).await.0, StatusCode::OK, "{uci}");
        }
        server.stop();

        let server = Server::start(&folder, Config::default());
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!(state["accounts"], json!(["ann", null]), "and after a restart");
        assert_eq!(server.play(id, &guest, "d7d5").await.0, StatusCode::OK);
        let (_, games) = ask(&server, "GET", "/api/v1/account/games?state=playing", &desk).await;
        assert_eq!((games[0]["id"].as_str(), games[1].is_null()), (Some(id), true), "{games}");
        // Clients of lichess' API hear of it, too.
        let (_, playing) = ask(&server, "GET", "/api/account/playing", &desk).await;
        assert_eq!(playing["nowPlaying"][0]["gameId"].as_str(), Some(id), "{playing}");
        let (_, own) = ask(&server, "GET", "/api/v1/account", &desk).await;
        assert_eq!(
            (&own["codes_left"], &own["devices"][0]["label"]),
            (&json!(7), &json!("a phone"))
        );
        assert_eq!(
            (&own["devices"][0]["this"], &own["devices"][1]["this"]),
            (&json!(false), &json!(true))
        );
        let first =
            format!("/api/v1/account/devices/{}", own["devices"][0]["id"].as_str().unwrap());
        let (_, left) = ask(&server, "DELETE", &first, &desk).await;
        assert_eq!(left, json!({ "devices": 1 }));
        refused(&ask(&server, "DELETE", &first, &desk).await, 404, "no_such_device");
        refused(&server.play(id, &phone, "e4d5").await, 401, "account_gone");
        assert_eq!(server.play(id, &desk, "e4d5").await.0, StatusCode::OK);
        // Other codes: those that were told before are of no use any more.
        let (_, other) = ask(&server, "POST", "/api/v1/account/codes", &desk).await;
        refused(&log_in(&server, "ann", &codes[0]).await, 401, "code_wrong");
        let code = other["codes"][7].as_str().unwrap();
        assert_eq!(log_in(&server, "ann", code).await.0, StatusCode::OK);
        let (_, left) = ask(&server, "DELETE", "/api/v1/account/devices/this", &desk).await;
        assert_eq!(left, json!({ "devices": 1 }));
        refused(&ask(&server, "GET", "/api/v1/account", &desk).await, 401, "account_gone");
        server.stop();
    });
    let mut store = open(&folder.url()).unwrap();
    let whole: Vec<(String, String)> = store.records("user ", "", 9).unwrap();
    assert!(!whole.is_empty() && store.check().unwrap().faults.is_empty());
}

#[test]
fn an_account_has_a_name_of_its_own_and_a_limited_number_of_devices() {
    hosted("names", Config::default(), async |server| {
        for name in ["a", "with space", "", "computer", "Anonymous", &"x".repeat(21), "Ä1"] {
            let answer = server.post("/api/v1/accounts", "", json!({ "name": name })).await;
            refused(&answer, 422, "bad_name");
        }
        let (first, mut codes) = account(server, "ann").await;
        let taken = server.post("/api/v1/accounts", "", json!({ "name": "ANN" })).await;
        refused(&taken, 409, "name_taken");
        let mut last = first.clone();
        for _ in 0..20 {
            if codes.is_empty() {
                let (_, more) = ask(server, "POST", "/api/v1/account/codes", &last).await;
                codes = serde_json::from_value(more["codes"].clone()).unwrap();
            }
            let (status, entered) = log_in(server, "ann", &codes.pop().unwrap()).await;
            assert_eq!(status, StatusCode::OK, "{entered}");
            last = entered["token"].as_str().unwrap().to_owned();
        }
        let (_, own) = ask(server, "GET", "/api/v1/account", &last).await;
        assert_eq!(own["devices"].as_array().unwrap().len(), 20);
        refused(&ask(server, "GET", "/api/v1/account", &first).await, 401, "account_gone");
    });
}

/// Accounts that earlier versions have made are two texts: their token goes on, and their name stays theirs.
#[test]
fn accounts_of_earlier_versions_go_on() {
    let folder = Folder::new("earlier");
    let token = "7".repeat(64);
    let hash = rulemate::internals::server::core::TokenHash::of(&token).text().to_owned();
    let texts =
        [("user-old".to_owned(), format!("Old {hash}")), (format!("account-{hash}"), "Old".into())];
    let mut store = open(&folder.url()).unwrap();
    for (key, text) in &texts {
        assert!(store.put_text(key, text).unwrap());
    }
    drop(store);
    run(async {
        let server = Server::start(&folder, Config::default());
        let (status, shown) = ask(&server, "GET", "/api/account", &token).await;
        assert_eq!((status, &shown["id"]), (StatusCode::OK, &json!("old")));
        let taken = server.post("/api/v1/accounts", "", json!({ "name": "old" })).await;
        refused(&taken, 409, "name_taken");
        refused(&ask(&server, "GET", "/api/v1/account", &token).await, 409, "account_too_old");
        let (ann, _) = account(&server, "ann").await;
        let (_, asked) = server.post("/api/challenge/old", &ann, json!({})).await;
        let id = asked["id"].as_str().unwrap();
        let accept = format!("/api/challenge/{id}/accept");
        assert_eq!(server.post(&accept, &token, json!({})).await.0, StatusCode::OK);
        let (first, second) = match asked["color"] == "white" {
            true => (&ann, &token),
            false => (&token, &ann),
        };
        for (token, uci) in [(first, "e2e4"), (second, "e7e5")] {
            let path = format!("/api/board/game/{id}/move/{uci}");
            assert_eq!(server.post(&path, token, json!({})).await.0, StatusCode::OK, "{uci}");
        }
        assert_eq!(
            ask(&server, "POST", "/api/bot/account/upgrade", &token).await.0,
            StatusCode::OK
        );
        let (_, shown) = server.get("/api/v1/users/Old").await;
        assert_eq!(shown["title"], "BOT");
        // Its seats are not those of an account: nothing that counts for accounts begins with it.
        let rated = json!({ "game": "chess", "seat": "white", "rated": true });
        refused(&server.post("/api/v1/games", &token, rated).await, 422, "cannot_be_rated");
        let (_, waits) = server.post("/api/v1/pairings", &ann, json!({})).await;
        let asked = server.post("/api/v1/pairings", &token, json!({})).await;
        refused(&asked, 409, "account_too_old");
        let (_, still) = server.post("/api/v1/pairings", &ann, json!({})).await;
        assert_eq!((&still["id"], &still["paired"]), (&waits["id"], &json!(false)));
        let made = json!({ "rounds": 2, "clock": { "initial": 60_000 } });
        let (_, made) = server.post("/api/v1/tournaments", &ann, made).await;
        let join = format!("/api/v1/tournaments/{}/join", made["id"].as_str().unwrap());
        refused(&server.post(&join, &token, json!({})).await, 409, "account_too_old");
        assert_eq!(server.post(&join, &ann, json!({})).await.0, StatusCode::OK);
        server.stop();
    });
}

/// Clients of lichess' API may ask for as many tokens at once as there, and these are longer.
#[test]
fn a_thousand_tokens_are_tested_at_once() {
    let folder = Folder::new("tokens");
    run(async {
        let server = Server::start(&folder, Config::default());
        let (ann, _) = account(&server, "Ann").await;
        let ask = async |count: usize| {
            let other = format!("rma_{}", "7".repeat(64));
            let tokens = [vec![other; count - 1], vec![ann.clone()]].concat().join(",");
            let request = axum::http::Request::post("/api/token/test");
            server.send(request.body(axum::body::Body::from(tokens)).unwrap()).await
        };
        let (status, found) = ask(1000).await;
        assert_eq!((status, &found[&ann]["userId"]), (StatusCode::OK, &json!("ann")), "{found}");
        let (status, problem) = ask(1001).await;
        assert_eq!((status.as_u16(), &problem["code"]), (400, &json!("too_many_tokens")));
        // They cost more than an ordinary request, of which a network has 200 at once.
        let from = std::net::SocketAddr::from(([192, 0, 2, 1], 1));
        let mut admitted = 0;
        let refused = loop {
            let mut request =
                axum::http::Request::post("/api/token/test").body("x".into()).unwrap();
            request.extensions_mut().insert(axum::extract::ConnectInfo(from));
            let answer = server.send(request).await;
            if answer.0 != StatusCode::OK {
                break answer;
            }
            admitted += 1;
        };
        assert_eq!((refused.0.as_u16(), &refused.1["code"]), (429, &json!("too_many_requests")));
        assert!((60..150).contains(&admitted), "{admitted} requests");
        server.stop();
    });
}

/// A rated game of two accounts, with some moves.
async fn rated(server: &Server, body: Value, tokens: [&str; 2], moves: &[&str]) -> String {
    let mut options = json!({ "seat": "white", "rated": true });
    options.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    let (status, made) = server.post("/api/v1/games", tokens[0], options).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(made["rated"], true);
    let id = made["id"].as_str().unwrap().to_owned();
    let join = format!("/api/v1/games/{id}/join");
    let (status, joined) = server.post(&join, tokens[1], json!({ "rated": true })).await;
    assert_eq!(status, StatusCode::OK, "{joined}");
    for (at, uci) in moves.iter().enumerate() {
        let (status, answer) = server.play(&id, tokens[at % 2], uci).await;
        assert_eq!(status, StatusCode::OK, "{uci}: {answer}");
    }
    id
}

const MATE: [&str; 4] = ["f2f3", "e7e5", "g2g4", "d8h4"];

/// What became of ratings by a game, when it is known.
async fn settled(server: &Server, id: &str) -> Value {
    for _ in 0..2_000 {
        let (status, told) = server.get(&format!("/api/v1/games/{id}/rating")).await;
        if status == StatusCode::OK {
            return told;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the game is not settled");
}

async fn rating(server: &Server, name: &str) -> Value {
    server.get(&format!("/api/v1/users/{name}")).await.1["ratings"].clone()
}

#[test]
fn a_rated_game_is_agreed_on_by_two_accounts() {
    hosted("agreed", Config::default(), async |server| {
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "ben").await);
        let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
        for (token, body) in [
            ("", json!({ "seat": "white" })),
            (&*ann, json!({})),
            (&ann, json!({ "seat": "both" })),
            (&ann, json!({ "seat": "white", "computer": 1 })),
            (&ann, json!({ "seat": "white", "fen": fen })),
        ] {
            let mut options = json!({ "game": "chess", "rated": true });
            options.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            refused(&server.post("/api/v1/games", token, options).await, 422, "cannot_be_rated");
        }
        let options = json!({ "game": "chess", "seat": "white", "rated": true });
        let (_, made) = server.post("/api/v1/games", &ann, options).await;
        let id = made["id"].as_str().unwrap();
        let join = format!("/api/v1/games/{id}/join");
        refused(&server.post(&join, "", json!({ "rated": true })).await, 403, "account_needed");
        refused(&server.post(&join, &ben, json!({})).await, 409, "rated_game");
        let own = json!({ "rated": true, "seat": "black" });
        refused(&server.post(&join, &ann, own).await, 409, "rated_alone");
        assert_eq!(server.post(&join, &ben, json!({ "rated": true })).await.0, StatusCode::OK);
        assert_eq!(server.play(id, &ann, "e2e4").await.0, StatusCode::OK);
        for (act, body) in [("takeback", json!({})), ("presets", json!({ "presets": [] }))] {
            let answer = server.post(&format!("/api/v1/games/{id}/{act}"), &ann, body).await;
            refused(&answer, 409, "rated_stays");
        }
        let (_, list) = ask(server, "GET", "/api/v1/account/games", &ben).await;
        assert_eq!(
            (&list[0]["rated"], &list[0]["accounts"]),
            (&json!(true), &json!(["ann", "ben"]))
        );
    });
}

#[test]
fn a_rated_game_changes_ratings_by_its_rule_set() {
    hosted("rated", Config::default(), async |server| {
        tokio::spawn(settle_games(Arc::downgrade(&server.web.host)));
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "Ben").await);
        let tokens = [&*ann, &*ben];
        let lost = rated(server, json!({ "game": "chess" }), tokens, &MATE).await;
        // Glickman's own numbers for two players that are new.
        let told = settled(server, &lost).await;
        let players = json!([
            { "id": "ann", "before": 1500, "after": 1338 },
            { "id": "ben", "before": 1500, "after": 1662 },
        ]);
        assert_eq!(told, json!({ "rules": "chess", "players": players }));
        // A game with presets is another rule set; one that was hardly begun counts for nothing.
        let presets = json!({ "game": "chess", "presets": ["coregal:white"] });
        let drawn = rated(server, presets, tokens, &["e2e4", "e7e5"]).await;
        for token in tokens {
            let draw = format!("/api/v1/games/{drawn}/draw");
            assert_eq!(server.post(&draw, token, json!({})).await.0, StatusCode::OK);
        }
        assert_eq!(settled(server, &drawn).await["players"][0]["after"], 1500);
        for (moves, act) in [(&MATE[..1], "resign"), (&[], "abort")] {
            let short = rated(server, json!({ "game": "chess" }), tokens, moves).await;
            let end = format!("/api/v1/games/{short}/{act}");
            assert_eq!(server.post(&end, &ann, json!({})).await.0, StatusCode::OK);
        }
        // The rematch of a rated game is one.
        for token in tokens {
            let rematch = format!("/api/v1/games/{lost}/rematch");
            assert_eq!(server.post(&rematch, token, json!({})).await.0, StatusCode::OK);
        }
        let (_, first) = server.get(&format!("/api/v1/games/{lost}")).await;
        let again = first["rematch"].as_str().unwrap();
        for (at, uci) in MATE.iter().enumerate() {
            assert_eq!(server.play(again, tokens[1 - at % 2], uci).await.0, StatusCode::OK);
        }
        assert_eq!(settled(server, again).await["players"][0]["id"], "ben");
        let ratings = rating(server, "ann").await;
        let of = |at: usize| (ratings[at]["rules"].as_str(), ratings[at]["games"].as_u64());
        assert_eq!(of(0), (Some("chess"), Some(2)), "{ratings}");
        assert_eq!(of(1), (Some("chess coregal:white"), Some(1)), "{ratings}");
        let none = server.get("/api/v1/games/nosuchgame/rating").await;
        refused(&none, 404, "no_such_game");
    });
}

/// The server dies between the end of games and their ratings; others come, several at once, again and again: each
/// game is counted once.
#[test]
fn a_rated_game_is_counted_once_whatever_dies() {
    let folder = Folder::new("once");
    counted_once(&folder.url());
}

#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn a_rated_game_is_counted_once_by_several_nodes() {
    counted_once(&test_database("ratings"));
}

fn counted_once(url: &str) {
    // PostgreSQL's client waits on a runtime of its own, which no task of another may do.
    let start = || {
        let server = || Server::on(url, Config::default());
        thread::scope(|scope| scope.spawn(server).join().unwrap())
    };
    run(async {
        let server = start();
        let ((ann, _), (ben, _)) = (account(&server, "ann").await, account(&server, "ben").await);
        let mut games = Vec::new();
        for _ in 0..6 {
            games.push(rated(&server, json!({ "game": "chess" }), [&ann, &ben], &MATE).await);
        }
        assert_eq!(rating(&server, "ann").await, json!([]), "nothing settles them here");
        server.stop();
        let mut before = Value::Null;
        for _ in 0..3 {
            // Four servers on one store, each of which looks for what is left.
            let all: Vec<Server> = (0..4).map(|_| start()).collect();
            let tasks =
                all.iter().map(|it| tokio::spawn(settle_games(Arc::downgrade(&it.web.host))));
            let tasks: Vec<_> = tasks.collect();
            for id in &games {
                settled(&all[0], id).await;
            }
            let ratings = [rating(&all[1], "ann").await, rating(&all[2], "ben").await];
            assert_eq!((&ratings[0][0]["games"], &ratings[1][0]["games"]), (&json!(6), &json!(6)));
            assert!(before.is_null() || before == json!(ratings), "{before} {ratings:?}");
            before = json!(ratings);
            for task in tasks {
                task.abort();
                let _ = task.await;
            }
            all.into_iter().for_each(Server::stop);
        }
    });
    let mut store = open(url).unwrap();
    assert_eq!(store.records("unrated ", "", 9).unwrap(), []);
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
}

/// A game of correspondence goes on while its player joins many others.
#[test]
fn a_game_under_way_is_found_behind_a_hundred_later_ones() {
    hosted("older-games", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let options = json!({ "game": "1d-chess", "seat": "white" });
        let (_, first) = server.post("/api/v1/games", &ann, options.clone()).await;
        let id = first["id"].as_str().unwrap();
        let join = format!("/api/v1/games/{id}/join");
        assert_eq!(server.post(&join, "", json!({})).await.0, StatusCode::OK);
        tokio::time::sleep(Duration::from_millis(2)).await;
        for _ in 0..100 {
            server.post("/api/v1/games", &ann, options.clone()).await;
        }
        let listed = async |which: &str| {
            let path = format!("/api/v1/account/games{which}");
            let (_, games) = ask(server, "GET", &path, &ann).await;
            let ids = games.as_array().unwrap().iter().map(|it| it["id"].clone());
            ids.collect::<Vec<Value>>()
        };
        let last = listed("").await;
        assert!(last.len() == 100 && !last.contains(&json!(id)), "{last:?}");
        assert_eq!(listed("?state=waiting").await, last);
        assert_eq!(listed("?state=playing").await, [json!(id)]);
        let oldest = last[99].as_str().unwrap();
        assert_eq!(listed(&format!("?before={oldest}")).await, [json!(id)]);
        assert_eq!(listed(&format!("?before={id}")).await, Vec::<Value>::new());
        assert_eq!(listed("?before=nosuchgame").await, Vec::<Value>::new());
        let tenth = last[9].as_str().unwrap();
        assert_eq!(listed(&format!("?limit=5&before={tenth}")).await, last[10..15].to_vec());
        let (_, playing) = ask(server, "GET", "/api/account/playing", &ann).await;
        assert_eq!(playing["nowPlaying"][0]["gameId"], id, "{playing}");
    });
}
