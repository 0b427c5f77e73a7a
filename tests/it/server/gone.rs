//! Clients that go away in the middle of a request: what the request has begun is finished, so that nobody else is left
//! with half of it.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::http::StatusCode;
use rulemate::internals::server::Config;
use rulemate::internals::server::core::{Act, Input, TokenHash};
use serde_json::json;

use super::accounts::account;
use super::api::{Server, hosted, run};
use super::store::Folder;

/// Polls a future so many times, a moment apart, and drops it, as the server does when a client is gone.
async fn dropped_after(polls: usize, future: impl Future) {
    let mut future = pin!(future);
    for _ in 0..polls {
        if poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The account that waited is told that it is paired: then the other one sits there.
#[test]
fn a_pair_is_complete_though_the_client_that_asked_is_gone() {
    hosted("gone-pair", Config::default(), async |server| {
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "ben").await);
        for polls in 1..=10 {
            let terms = json!({ "clock": { "initial": 60_000 + polls } });
            let ask =
                async |token: &str| server.post("/api/v1/pairings", token, terms.clone()).await.1;
            assert_eq!(ask(&ann).await["paired"], false);
            dropped_after(polls, ask(&ben)).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
            let told = ask(&ann).await;
            let path = format!("/api/v1/games/{}", told["id"].as_str().unwrap());
            // Who is told so before the other one has sat down sees that soon.
            let mut status = json!(null);
            for _ in 0..100 {
                if told["paired"] == true && status != "playing" {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    status = server.get(&path).await.1["status"].clone();
                }
            }
            assert!(told["paired"] == false || status == "playing", "{polls}: {told} {status}");
        }
    });
}

#[test]
fn a_challenge_is_not_lost_though_the_client_that_accepts_is_gone() {
    hosted("gone-challenge", Config::default(), async |server| {
        let ((ann, _), (ben, _)) = (account(server, "ann").await, account(server, "ben").await);
        for polls in 1..=8 {
            let (_, asked) = server.post("/api/challenge/ben", &ann, json!({})).await;
            let id = asked["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
            let accept = format!("/api/challenge/{id}/accept");
            dropped_after(polls, server.post(&accept, &ben, json!({}))).await;
            let game = format!("/api/v1/games/{id}");
            for _ in 0..10 {
                if server.get(&game).await.0 != StatusCode::OK {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
            let (status, answer) = server.post(&accept, &ben, json!({})).await;
            assert_eq!(status, StatusCode::OK, "{polls}: {answer}");
            assert_eq!(server.get(&game).await.0, StatusCode::OK, "{polls}");
        }
    });
}

/// A game that is over, and the tokens of its players.
async fn over(server: &Server) -> (String, [String; 2]) {
    let (id, white) = server.make(json!({ "game": "chess", "seat": "white" })).await;
    let (_, joined) = server.post(&format!("/api/v1/games/{id}/join"), "", json!({})).await;
    let black = joined["token"].as_str().unwrap().to_owned();
    let (status, _) = server.post(&format!("/api/v1/games/{id}/resign"), &white, json!({})).await;
    assert_eq!(status, StatusCode::OK);
    (id, [white, black])
}

/// The request ends right after the game has answered, as when the client closes its connection.
#[test]
fn a_rematch_is_made_though_the_client_that_agreed_is_gone() {
    hosted("rematch", Config::default(), async |server| {
        let (id, tokens) = over(server).await;
        let host = &server.web.host;
        for token in &tokens {
            let act = Act::Rematch { game: host.rematch_id(&id) };
            let token = Some(TokenHash::of(token));
            host.step(&id, Input::Act { token, id: None, act }).await.unwrap();
        }
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        let next = state["rematch"].as_str().unwrap();
        let (status, answer) = server.play(next, &tokens[1], "e2e4").await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    });
}

/// Who asks for a game at the moment when it is made follows the task that goes on, not one that is replaced.
#[test]
fn a_client_that_follows_a_game_while_it_is_made_is_not_cut_off() {
    hosted("made", Config::default(), async |server| {
        let host = &server.web.host;
        for _ in 0..30 {
            let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
            let next = host.rematch_id(&id);
            let follower = tokio::spawn({
                let (host, next) = (Arc::clone(host), next.clone());
                async move {
                    loop {
                        if let Ok(feed) = host.watch(&next, None, None).await {
                            return feed;
                        }
                    }
                }
            });
            let rematch = || Act::Rematch { game: next.clone() };
            for act in [Act::Resign, rematch(), rematch()] {
                let token = Some(TokenHash::of(&token));
                host.step(&id, Input::Act { token, id: None, act }).await.unwrap();
            }
            host.make_rematch(&id, &next).await.unwrap();
            let mut feed = follower.await.unwrap();
            let (status, answer) = server.play(&next, &token, "e2e4").await;
            assert_eq!(status, StatusCode::OK, "{answer}");
            let frame = tokio::time::timeout(Duration::from_secs(5), feed.coming.recv()).await;
            assert!(frame.unwrap().is_some_and(|it| it.contains("\"played\"")));
        }
    });
}

#[test]
fn a_rematch_that_could_not_be_made_is_made_when_its_game_is_loaded() {
    let folder = Folder::new("rematch-later");
    run(async {
        // There is room for one game.
        let server = Server::start(&folder, Config { live: 1, ..Config::default() });
        let (id, tokens) = over(&server).await;
        let rematch = format!("/api/v1/games/{id}/rematch");
        assert_eq!(server.post(&rematch, &tokens[0], json!({})).await.0, StatusCode::OK);
        let (status, answer) = server.post(&rematch, &tokens[1], json!({})).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{answer}");
        server.stop();
        let server = Server::start(&folder, Config::default());
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        let next = state["rematch"].as_str().unwrap();
        let (status, answer) = server.play(next, &tokens[1], "e2e4").await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        server.stop();
    });
}
