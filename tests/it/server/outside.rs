//! What others see of games without playing: frames in pages of listed origins, and webhooks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use hmac::{Hmac, KeyInit, Mac};
use rulemate::internals::server::{Config, Hooks, Names, Web, router};
use serde_json::{Value, json};
use sha2::Sha256;
use tower::ServiceExt;

use super::api::hosted;

#[test]
fn a_game_stands_in_frames_of_listed_origins_and_nothing_else_does() {
    hosted("frames", Config::default(), async |server| {
        let policy = async |names: &Arc<Names>, path: &str| {
            let web = Web { names: Arc::clone(names), ..server.web.clone() };
            let request = Request::get(path).body(Body::empty()).unwrap();
            let answer = router(web).oneshot(request).await.unwrap();
            answer.headers()["content-security-policy"].to_str().unwrap().to_owned()
        };
        let unlisted = policy(&server.web.names, "/embed/game/abc").await;
        assert!(unlisted.ends_with("frame-ancestors 'none'"), "no origin is listed");
        let origins = ["https://Club.example".to_owned(), "http://localhost:8000".to_owned()];
        let names = Arc::new(Names::default().framed_by(&origins).unwrap());
        let framed = policy(&names, "/embed/game/abc").await;
        assert!(framed.ends_with("frame-ancestors https://club.example http://localhost:8000"));
        assert!(framed.contains("default-src 'none'") && framed.contains("script-src 'self'"));
        for path in ["/", "/game/abc", "/user/ann", "/api/v1/games", "/embedded", "/x/embed/"] {
            assert!(policy(&names, path).await.ends_with("frame-ancestors 'none'"), "{path}");
        }
    });
}

/// Somebody who wants to know: what came, and what is answered to it.
#[derive(Clone, Default)]
struct Receiver {
    heard: Arc<Mutex<Vec<(String, HeaderMap, String)>>>,
}

impl Receiver {
    /// `/late` answers 503 twice before it takes anything, `/away` sends elsewhere.
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = Router::new().fallback(take).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        format!("http://{address}")
    }

    fn at(&self, path: &str) -> Vec<(HeaderMap, Value)> {
        let heard = self.heard.lock().unwrap();
        let own = heard.iter().filter(|it| it.0 == path);
        own.map(|it| (it.1.clone(), serde_json::from_str(&it.2).unwrap())).collect()
    }

    async fn wait(&self, path: &str, count: usize) -> Vec<(HeaderMap, Value)> {
        for _ in 0..3_000 {
            let found = self.at(path);
            if found.len() >= count {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{path} has heard {:?}", self.at(path));
    }
}

async fn take(State(receiver): State<Receiver>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let text = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
    let path = parts.uri.path().to_owned();
    let mut heard = receiver.heard.lock().unwrap();
    heard.push((path.clone(), parts.headers, text));
    let count = heard.iter().filter(|it| it.0 == path).count();
    match path.as_str() {
        "/late" if count <= 2 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        "/away" => Redirect::temporary("/elsewhere").into_response(),
        _ => StatusCode::NO_CONTENT.into_response(),
    }
}

const SECRET: &str = "a secret of some length";

#[test]
fn webhooks_are_told_of_games_that_begin_and_end_by_signed_requests() {
    hosted("hooks", Config::default(), async |server| {
        let receiver = Receiver::default();
        let base = receiver.start().await;
        // One of the addresses leads nowhere: the others are told all the same.
        let paths = ["/now", "/late", "/away"].map(|it| format!("{base}{it}"));
        let addresses = [&["http://127.0.0.1:1/".to_owned()][..], &paths].concat();
        let hooks = Hooks::new(&addresses, SECRET).unwrap().waiting(Duration::from_millis(1));
        server.web.host.set_hooks(&hooks).unwrap();

        let seat = json!({ "game": "chess", "seat": "white", "name": "Ann", "chat": true });
        let (id, white) = server.make(seat).await;
        let join = format!("/api/v1/games/{id}/join");
        let (_, joined) = server.post(&join, "", json!({ "name": "Ben" })).await;
        let black = joined["token"].as_str().unwrap().to_owned();
        let chat = format!("/api/v1/games/{id}/chat");
        server.post(&chat, &black, json!({ "text": "\"t\":\"ended\"" })).await;
        for (at, uci) in ["f2f3", "e7e5", "g2g4", "d8h4"].into_iter().enumerate() {
            server.play(&id, [&white, &black][at % 2], uci).await;
        }
        // An open board has no seats that could be taken.
        server.make(json!({ "game": "chess" })).await;

        for path in ["/now", "/late"] {
            let late = if path == "/late" { 2 } else { 0 };
            let heard = receiver.wait(path, 2 + late).await;
            for (headers, body) in &heard {
                let text = |name: &str| headers[name].to_str().unwrap().to_owned();
                assert_eq!(text("x-rulemate-event"), body["event"].as_str().unwrap());
                assert!(text("x-rulemate-delivery").starts_with(&id));
                let raw = receiver.heard.lock().unwrap();
                let raw = raw.iter().find(|it| it.1 == *headers).unwrap().2.clone();
                let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(SECRET.as_bytes()).unwrap();
                mac.update(format!("{}.{raw}", text("x-rulemate-time")).as_bytes());
                let signed: String =
                    mac.finalize().into_bytes().iter().map(|it| format!("{it:02x}")).collect();
                assert_eq!(text("x-rulemate-signature"), format!("sha256={signed}"));
            }
            let (begun, over) = (&heard[late].1, &heard[late + 1].1);
            assert_eq!(
                (&begun["event"], &begun["game"]["ply"]),
                (&json!("game_started"), &json!(0))
            );
            assert_eq!(begun["game"]["players"], json!(["Ann", "Ben"]));
            assert_eq!(
                (&over["event"], &over["result"]["winner"]),
                (&json!("game_ended"), &json!(1))
            );
            assert_eq!(over["game"]["id"], json!(id));
        }
        // A redirect is not followed: it is tried again, as often as anything, for each of the two news.
        receiver.wait("/away", 10).await;
        assert_eq!(receiver.at("/elsewhere").len(), 0);
        let texts = receiver.heard.lock().unwrap();
        assert!(texts.iter().all(|it| !it.2.contains(&white) && !it.2.contains(&black)));
    });
}
