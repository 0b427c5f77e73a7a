//! The computer as a player of a hosted game: it answers what is asked of it, and the game goes on whatever becomes of
//! its engine.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use rulemate::internals::server::Config;
use serde_json::{Value, json};

use super::api::{Server, hosted};

/// Asks for a game until something holds of it.
async fn until(server: &Server, id: &str, holds: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..2_400 {
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        if holds(&state) {
            return state;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it never came to that");
}

/// An engine that dies, and one that finds nothing because the rules used all up: the game goes on, with a sentence
/// where there is a chat.
#[test]
fn a_game_goes_on_when_the_engine_dies() {
    let config = Config { engine: |_, _, _| panic!("an engine that dies"), ..Config::default() };
    hosted("engine-dies", config, async |server| {
        let made = json!({ "game": "chess", "seat": "white", "computer": 8, "chat": true });
        let (id, token) = server.make(made).await;
        let played = |state: &Value| state["moves"].as_array().map_or(0, Vec::len);
        for (at, uci) in ["e2e4", "d2d4"].into_iter().enumerate() {
            assert_eq!(server.play(&id, &token, uci).await.0, StatusCode::OK);
            let state = until(server, &id, |it| played(it) == 2 * at + 2).await;
            assert!(state["result"].is_null(), "{state}");
        }
        let (_, events) = server.get(&format!("/api/v1/games/{id}/events?after=0")).await;
        assert!(events.to_string().contains("could not think"), "{events}");
        // Others are not concerned.
        assert_eq!(server.get("/api/v1/games").await.0, StatusCode::OK);
    });
}

/// Programs challenge the computer as on lichess, or by the names that its levels have.
#[test]
fn the_computer_accepts_challenges() {
    hosted("challenged", Config::default(), async |server| {
        let (_, ann) = server.post("/api/v1/accounts", "", json!({ "name": "ann" })).await;
        let ann = ann["token"].as_str().expect("a token").to_owned();
        let challenge = async |path: &str, asked: Value| {
            let request = Request::post(path)
                .header("authorization", format!("Bearer {ann}"))
                .header("content-type", "application/json");
            server.send(request.body(Body::from(asked.to_string())).unwrap()).await
        };
        let ai = "/api/challenge/ai";
        for (path, asked, code) in [
            (ai, json!({}), "bad_level"),
            (ai, json!({ "level": 9 }), "bad_level"),
            (ai, json!({ "level": 1, "rated": true }), "cannot_be_rated"),
            (ai, json!({ "level": 1, "variant": "nonsense" }), "no_such_game_name"),
            ("/api/challenge/computer-9", json!({}), "no_such_user"),
            ("/api/challenge/computer-02", json!({}), "no_such_user"),
            ("/api/challenge/computer-+2", json!({}), "no_such_user"),
            ("/api/challenge/computer-2", json!({ "days": 15 }), "bad_clock"),
            (ai, json!({ "level": 1, "days": 0 }), "bad_clock"),
            (ai, json!({ "level": 1, "days": "three" }), "bad_clock"),
            (ai, json!({ "level": 1, "clock.limit": -5 }), "bad_clock"),
            (ai, json!({ "level": 1, "clock.limit": 300, "clock.increment": "two" }), "bad_clock"),
            (ai, json!({ "level": 1, "clock.increment": 2 }), "bad_clock"),
        ] {
            let (status, answer) = challenge(path, asked).await;
            assert!(status.is_client_error(), "{answer}");
            assert_eq!(answer["code"], code, "{answer}");
        }
        let played = |state: &Value| state["moves"].as_array().map_or(0, Vec::len);
        let asked = json!({ "level": 1, "color": "white", "variant": "knightmate" });
        let (status, made) = challenge(ai, asked).await;
        assert_eq!((status, &made["source"]), (StatusCode::CREATED, &json!("ai")), "{made}");
        let id = made["id"].as_str().expect("an id");
        let path = format!("/api/board/game/{id}/move/e2e4");
        assert_eq!(server.post(&path, &ann, json!({})).await.0, StatusCode::OK);
        let state = until(server, id, |it| played(it) == 2).await;
        assert_eq!(state["seats"], json!(["ann", "Computer, level 1"]));
        let asked =
            json!({ "color": "black", "days": 3, "clock.limit": null, "clock.increment": "" });
        let (status, made) = challenge("/api/challenge/Computer-2", asked).await;
        let time = json!({ "type": "correspondence", "daysPerTurn": 3 });
        assert_eq!((&made["speed"], &made["timeControl"]), (&json!("correspondence"), &time));
        assert_eq!((status, &made["status"]), (StatusCode::OK, &json!("accepted")), "{made}");
        let state = until(server, made["id"].as_str().expect("an id"), |it| played(it) == 1).await;
        assert_eq!(state["seats"], json!(["Computer, level 2", "ann"]));
        // The names are nobody's.
        let taken = server.post("/api/v1/accounts", "", json!({ "name": "computer-2" })).await;
        assert_eq!(taken.1["error"], "bad_name", "{}", taken.1);
    });
}

#[test]
fn the_computer_plays_the_other_seat() {
    hosted("computer", Config::default(), async |server| {
        for (made, code) in [
            (json!({ "computer": 1 }), "no_opponent"),
            (json!({ "seat": "both", "computer": 1 }), "no_opponent"),
            (json!({ "seat": "white", "computer": 9 }), "bad_level"),
        ] {
            let (status, answer) = server.post("/api/v1/games", "", made).await;
            assert_eq!(
                (status, answer["error"].as_str()),
                (StatusCode::UNPROCESSABLE_ENTITY, Some(code))
            );
        }
        let played = |state: &Value| state["moves"].as_array().map_or(0, Vec::len);
        let made = json!({ "game": "chess", "seat": "white", "computer": 1 });
        let (id, token) = server.make(made).await;
        assert_eq!(server.play(&id, &token, "e2e4").await.0, StatusCode::OK);
        let state = until(server, &id, |it| played(it) == 2).await;
        assert_eq!(state["seats"][1], "Computer, level 1");
        // What is asked back is granted; a draw is not, nor are other presets.
        let act = |name: &str| format!("/api/v1/games/{id}/{name}");
        let presets = json!({ "presets": ["coregal"] });
        for (name, body) in [("draw", json!({})), ("presets", presets)] {
            assert_eq!(server.post(&act(name), &token, body).await.0, StatusCode::OK);
            let state = until(server, &id, |it| it["offers"][name].is_null()).await;
            assert!(state["result"].is_null() && played(&state) == 2, "{name}: {state}");
        }
        assert_eq!(server.post(&act("takeback"), &token, json!({})).await.0, StatusCode::OK);
        until(server, &id, |it| played(it) < 2 && it["offers"]["takeback"].is_null()).await;
        assert_eq!(server.post(&act("resign"), &token, json!({})).await.0, StatusCode::OK);
        // It plays again, with the seats turned, and has the first move then.
        let (_, answer) = server.post(&act("rematch"), &token, json!({})).await;
        assert!(answer["v"].is_number(), "{answer}");
        let state = until(server, &id, |it| it["rematch"].is_string()).await;
        let next = state["rematch"].as_str().expect("an id").to_owned();
        let state = until(server, &next, |it| played(it) == 1).await;
        assert_eq!(state["seats"][0], "Computer, level 1");
    });
}
