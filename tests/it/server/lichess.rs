//! lichess' API: what its streams tell.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::http::Request;
use rulemate::internals::server::Config;
use serde_json::{Value, json};

use super::accounts::{account, ask};
use super::api::hosted;

/// A game ends at any moment while the stream of it begins: the stream says so, and ends.
#[test]
fn a_stream_of_a_game_misses_nothing_that_happens_while_it_begins() {
    hosted("stream", Config::default(), async |server| {
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "ben").await);
        for polls in 0..8 {
            let (_, asked) = server.post("/api/challenge/ben", &ann, json!({})).await;
            let id = asked["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
            server.post(&format!("/api/challenge/{id}/accept"), &ben, json!({})).await;
            let path = format!("/api/board/game/stream/{id}");
            let mut stream = pin!(ask(server, "GET", &path, &ben));
            for _ in 0..polls {
                let polled = poll_fn(|it| Poll::Ready(stream.as_mut().poll(it).is_ready())).await;
                assert!(!polled, "the game goes on");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let resign = format!("/api/v1/games/{id}/resign");
            assert_eq!(server.post(&resign, &ann, json!({})).await.0.as_u16(), 200);
            let told = tokio::time::timeout(Duration::from_secs(10), stream).await;
            let (_, told) = told.unwrap_or_else(|_| panic!("{polls}: the stream does not end"));
            let text = told.as_str().map_or_else(|| told.to_string(), str::to_owned);
            let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
            let state = if last["type"] == "gameFull" { &last["state"] } else { &last };
            assert_eq!(state["status"], "resign", "{polls}: {text}");
        }
    });
}

/// A device that was lost may have a stream of events open when it is logged out.
#[test]
fn the_stream_of_events_of_a_device_that_is_logged_out_ends() {
    hosted("stream-device", Config::default(), async |server| {
        let (phone, codes) = account(server, "ann").await;
        let login = json!({ "name": "ann", "code": codes[0] });
        let (_, lost) = server.post("/api/v1/login", "", login).await;
        let lost = lost["token"].as_str().unwrap();
        let mut ended = pin!(ask(server, "GET", "/api/stream/event", lost));
        let mut goes_on = pin!(ask(server, "GET", "/api/stream/event", &phone));
        for stream in [ended.as_mut(), goes_on.as_mut()] {
            let begins = tokio::time::timeout(Duration::from_millis(300), stream).await;
            assert!(begins.is_err(), "{begins:?}");
        }
        let (status, _) = ask(server, "DELETE", "/api/v1/account/devices/this", lost).await;
        assert_eq!(status.as_u16(), 200);
        let wait = tokio::time::timeout(Duration::from_secs(30), ended);
        tokio::select! {
            told = wait => assert!(told.is_ok(), "the stream does not end"),
            _ = &mut goes_on => panic!("the stream of the other device ends"),
        }
    });
}

/// A guest may be called like an account, which may be a BOT. A game is as old as its first event, whenever it is asked for.
#[test]
fn a_game_tells_accounts_from_guests_and_when_it_was_made() {
    hosted("stream-players", Config::default(), async |server| {
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "ben").await);
        for bot in [&ann, &ben] {
            let (status, _) = ask(server, "POST", "/api/bot/account/upgrade", bot).await;
            assert_eq!(status.as_u16(), 200);
        }
        let (id, guest) = server.make(json!({ "seat": "white", "name": "Ann" })).await;
        let at = |rest: &str| format!("/api/v1/games/{id}/{rest}");
        assert_eq!(server.post(&at("join"), &ben, json!({})).await.0.as_u16(), 200);
        assert_eq!(server.post(&at("resign"), &guest, json!({})).await.0.as_u16(), 200);
        let (_, log) = server.get(&at("export?format=log")).await;
        let first: Value =
            serde_json::from_str(log.as_str().unwrap().lines().next().unwrap()).unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
        for token in [&ann, &ben] {
            let (_, full) =
                ask(server, "GET", &format!("/api/board/game/stream/{id}"), token).await;
            let white = json!({ "id": null, "name": "Ann", "title": null, "rating": null });
            let black = json!({ "id": "ben", "name": "ben", "title": "BOT", "rating": null });
            assert_eq!((&full["white"], &full["black"]), (&white, &black), "{full}");
            assert_eq!(full["createdAt"], first["at"], "{full}");
        }
    });
}

/// A time of every turn's own, less than a day: lichess has no word for it, but bots go by what is left.
#[test]
fn the_time_of_a_turn_is_what_is_left_of_it() {
    hosted("stream-delay", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let clock = json!({ "initial": 0, "delay": 60_000 });
        let (id, both) = server.make(json!({ "seat": "both", "clock": clock })).await;
        let resign = format!("/api/v1/games/{id}/resign");
        assert_eq!(server.post(&resign, &both, json!({})).await.0.as_u16(), 200);
        let path = format!("/api/board/game/stream/{id}");
        let (_, full) = ask(server, "GET", &path, &ann).await;
        assert_eq!(
            (&full["state"]["wtime"], &full["speed"]),
            (&json!(60_000), &json!("classical"))
        );
    });
}

/// A claim is a draw, so it wins nothing; what is said has a text, as everywhere else.
#[test]
fn a_victory_is_not_claimed_as_a_draw_and_nothing_is_said_without_a_text() {
    hosted("claim-victory", Config::default(), async |server| {
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "ben").await);
        let fen = "7k/8/8/8/8/8/8/R6K w - - 100 80";
        let terms = json!({ "fen": fen, "color": "white" });
        let request =
            Request::post("/api/challenge/ben").header("authorization", format!("Bearer {ann}"));
        let request = request.header("content-type", "application/json");
        let (_, asked) = server.send(request.body(terms.to_string().into()).unwrap()).await;
        let id = asked["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
        server.post(&format!("/api/challenge/{id}/accept"), &ben, json!({})).await;
        let at = |act: &str| format!("/api/board/game/{id}/{act}");
        for nothing in [json!({}), json!({ "room": "player", "text": " " })] {
            let (status, told) = server.post(&at("chat"), &ann, nothing).await;
            assert_eq!((status.as_u16(), &told["code"]), (400, &json!("missing_field")), "{told}");
        }
        let (status, _) = server.post(&at("chat"), &ann, json!({ "text": "hello" })).await;
        assert_eq!(status.as_u16(), 200);
        let (status, told) = server.post(&at("claim-victory"), &ann, json!({})).await;
        assert_eq!((status.as_u16(), &told["code"]), (404, &json!("no_such_act")), "{told}");
        assert_eq!(server.post(&at("claim-draw"), &ann, json!({})).await.0.as_u16(), 200);
    });
}

/// A draw is offered with a move, and accepted with one; what is said to spectators is not said to the other side.
#[test]
fn a_move_offers_a_draw_and_spectators_are_not_players() {
    hosted("draw-by-move", Config::default(), async |server| {
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "ben").await);
        let request =
            Request::post("/api/challenge/ben").header("authorization", format!("Bearer {ann}"));
        let terms = "color=white&rated=True&clock.limit=60";
        let (_, asked) = server.send(request.body(terms.into()).unwrap()).await;
        assert_eq!(asked["rated"], true, "{asked}");
        let id = asked["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
        server.post(&format!("/api/challenge/{id}/accept"), &ben, json!({})).await;
        let play = async |token: &str, rest: &str| {
            let path = format!("/api/bot/game/{id}/move/{rest}");
            let (status, told) = server.post(&path, token, json!({})).await;
            assert_eq!(status.as_u16(), 200, "{rest}: {told}");
            server.get(&format!("/api/v1/games/{id}")).await.1
        };
        assert_eq!(play(&ann, "e2e4?offeringDraw=false").await["offers"], json!({}));
        let state = play(&ben, "e7e5?offeringDraw=True").await;
        assert_eq!((&state["ply"], &state["offers"]["draw"]), (&json!(2), &json!(1)), "{state}");
        let chat = format!("/api/bot/game/{id}/chat");
        let aside = json!({ "room": "spectator", "text": "I am losing" });
        assert_eq!(server.post(&chat, &ann, aside).await.0.as_u16(), 200);
        let (_, log) = server.get(&format!("/api/v1/games/{id}/export?format=log")).await;
        assert!(!log.as_str().unwrap().contains("losing"), "{log}");
        let state = play(&ann, "g1f3?offeringDraw=true").await;
        assert_eq!((&state["ply"], &state["result"]["reason"]), (&json!(2), &json!("agreement")));
    });
}
