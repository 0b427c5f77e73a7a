//! `/openapi.json` beside what the server answers: addresses, schemas, kinds of content, and no secret in any of it.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use rulemate::internals::server::{Config, router};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::accounts::account;
use super::api::hosted;

#[test]
fn the_description_has_every_address_and_no_secret_leaves() {
    let config = Config { uploads: true, ..Config::default() };
    hosted("openapi", config, async |server| {
        let (_, description) = server.get("/openapi.json").await;
        let paths = description["paths"].as_object().unwrap();
        for path in ["/api/v1/games", "/api/v1/games/{id}", "/api/v1/games/{id}/moves"] {
            assert!(paths.contains_key(path), "{paths:?}");
        }
        assert_eq!(server.get("/healthz").await.0, StatusCode::OK);
        assert_eq!(server.get("/readyz").await.0, StatusCode::OK);
        let (id, token) =
            server.make(json!({ "game": "chess", "seat": "both", "listed": true })).await;
        server.play(&id, &token, "e2e4").await;
        let metrics = server.metrics().await;
        assert!(metrics.contains("rulemate_moves_total 1\n"), "{metrics}");
        let mut seen = String::new();
        for path in ["", "/events", "/export?format=log", "/export?format=facts"] {
            seen += &server.get(&format!("/api/v1/games/{id}{path}")).await.1.to_string();
        }
        seen += &server.get("/api/v1/games").await.1.to_string();
        assert!(seen.contains(&id) && seen.contains("e2e4"));
        assert!(!seen.contains(&token) && !seen.contains("\"token\""));
        let page = Request::get("/").body(Body::empty()).unwrap();
        let answer = router(server.web.clone()).oneshot(page).await.unwrap();
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
    });
}

/// Lists of two kinds had one description, and what is exported was described as plain text.
#[test]
fn answers_are_as_the_description_has_them() {
    hosted("described", Config::default(), async |server| {
        let (_, description) = server.get("/openapi.json").await;
        let responses = |path: &str| &description["paths"][path]["get"]["responses"];
        let (ann, _) = account(server, "ann").await;
        let clock = json!({ "initial": 60_000 });
        let tournament = json!({ "game": "chess", "clock": clock, "minutes": 10 });
        for (path, body) in
            [("/api/v1/studies", json!({ "game": "chess" })), ("/api/v1/tournaments", tournament)]
        {
            let (status, made) = server.post(path, &ann, body).await;
            assert_eq!(status, StatusCode::CREATED, "{made}");
            // The scheme of a token may be written in small letters.
            let request = Request::get(path).header("authorization", format!("bearer {ann}"));
            let (_, listed) = server.send(request.body(Body::empty()).unwrap()).await;
            let schema = &responses(path)["200"]["content"]["application/json"]["schema"];
            let name = schema["items"]["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            let schema = &description["components"]["schemas"][name];
            let known = schema["properties"].as_object().unwrap();
            let entry = listed[0].as_object().unwrap();
            assert!(entry.keys().all(|it| known.contains_key(it)), "{path}: {entry:?}");
            for key in schema["required"].as_array().unwrap() {
                assert!(entry.contains_key(key.as_str().unwrap()), "{path}: {key} of {entry:?}");
            }
        }
        let (id, _) = server.make(json!({ "game": "chess" })).await;
        for format in ["pgn", "fen", "facts", "log"] {
            let path = format!("/api/v1/games/{id}/export?format={format}");
            let request = Request::get(path).body(Body::empty()).unwrap();
            let answer = router(server.web.clone()).oneshot(request).await.unwrap();
            let kind = answer.headers()["content-type"].to_str().unwrap();
            let kinds = &responses("/api/v1/games/{id}/export")["200"]["content"];
            assert!(kinds[kind.split(';').next().unwrap()].is_object(), "{kind}: {kinds}");
        }
        // The acknowledgement of a token has no move.
        let done = &description["components"]["schemas"]["Done"]["oneOf"];
        let is_bare = |it: &Value| it.get("$ref").is_none() && it.get("required").is_none();
        assert!(done.as_array().is_some_and(|it| it.iter().any(is_bare)), "{done}");
        let (_, told) = server.post("/api/v1/games", "", json!([])).await;
        let message = told["message"].as_str().unwrap();
        assert!(message.ends_with("expected an object at line 1 column 2"), "{message}");
        let (_, told) = server.get("/api/v1/games?limit=-1").await;
        assert_eq!(told["message"], "the query: limit: expected a whole number, 0 or more");
        // A request that cannot be read is refused at any address.
        let lines = responses("/api/v1/games/{id}/lines");
        assert!(lines["default"]["content"]["application/json"].is_object(), "{lines}");
    });
}
