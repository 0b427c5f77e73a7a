//! Rules that people keep: a list each, of a certain length, and room in it again.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use rulemate::internals::server::{Config, Library, Texts};
use serde_json::{Value, json};

use super::api::{Server, hosted, run};
use super::store::Folder;
use crate::switch::{large_sets, padding};

/// As many rule sets as one may have.
const ROOM: usize = 20;

fn preset(name: &str) -> Value {
    let text = format!(".meta preset \"{name}\"\n.domain Preset += {{ {name} }}\n");
    json!({ "text": text, "keep": true })
}

pub(super) async fn ask(
    server: &Server,
    method: Method,
    path: &str,
    token: &str,
) -> (StatusCode, Value) {
    let mut request = Request::builder().method(method).uri(path);
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    server.send(request.body(Body::empty()).unwrap()).await
}

#[test]
fn rule_sets_are_limited_by_owner_and_make_room() {
    hosted("keeping", Config { uploads: true, ..Config::default() }, async |server| {
        let rules = "/api/v1/rules";
        let (_, account) = server.post("/api/v1/accounts", "", json!({ "name": "ann" })).await;
        let ann = account["token"].as_str().unwrap();
        let mut kept = Vec::new();
        for at in 0..ROOM {
            let (status, answer) = server.post(rules, ann, preset(&format!("p{at}"))).await;
            assert_eq!((status, &answer["ok"]), (StatusCode::OK, &json!(true)), "{answer}");
            kept.push(answer["rules"].as_str().unwrap().to_owned());
        }
        let (status, answer) = server.post(rules, ann, preset("more")).await;
        assert_eq!(
            (status, &answer["error"]),
            (StatusCode::CONFLICT, &json!("too_many_rules")),
            "{answer}"
        );
        assert!(answer["message"].as_str().unwrap().contains("DELETE /api/v1/rules/"), "{answer}");
        // What was not kept is not known either: no game may begin that could not be loaded again.
        let text = preset("more")["text"].as_str().unwrap().to_owned();
        let base = Some(Library::new().unwrap().own_hash());
        let files = vec![("upload/upload.dl".to_owned(), text)];
        let (hash, _) = Texts { base, files, trusted: false }.stored();
        let made = json!({ "game": "chess", "rules": hash, "presets": ["more"], "seat": "both" });
        let (status, answer) = server.post("/api/v1/games", "", made.clone()).await;
        assert_eq!(
            (status, &answer["error"]),
            (StatusCode::UNPROCESSABLE_ENTITY, &json!("no_such_rules")),
            "{answer}"
        );
        // What is only checked, or kept already, needs no room; others have their own.
        let look = json!({ "text": preset("more")["text"] });
        assert_eq!(server.post(rules, ann, look).await.0, StatusCode::OK);
        assert_eq!(server.post(rules, ann, preset("p3")).await.1["rules"], json!(kept[3]));
        assert_eq!(server.post(rules, "", preset("more")).await.1["rules"], json!(hash));
        assert_eq!(server.post("/api/v1/games", "", made).await.0, StatusCode::CREATED);
        let (status, answer) = server.post(rules, "nonsense", preset("p1")).await;
        assert_eq!(
            (status, &answer["error"]),
            (StatusCode::UNAUTHORIZED, &json!("token_wrong")),
            "{answer}"
        );

        let made = json!({ "game": "chess", "rules": kept[0], "presets": ["p0"], "seat": "both" });
        let (id, token) = server.make(made).await;
        let (_, own) = ask(server, Method::GET, rules, ann).await;
        let mut listed: Vec<&str> =
            own.as_array().unwrap().iter().map(|it| it["rules"].as_str().unwrap()).collect();
        listed.sort_unstable();
        let mut all = kept.clone();
        all.sort_unstable();
        assert_eq!(listed, all);
        assert!(own.as_array().unwrap().iter().any(|it| it["name"] == "p7"), "{own}");
        let (_, others) = ask(server, Method::GET, rules, "").await;
        assert_eq!(others.as_array().map(Vec::len), Some(1), "{others}");

        // Room is made by the owner alone, and games go on.
        let first = format!("{rules}/{}", kept[0]);
        assert_eq!(ask(server, Method::DELETE, &first, "").await.0, StatusCode::NOT_FOUND);
        assert_eq!(ask(server, Method::DELETE, &first, ann).await.0, StatusCode::OK);
        let (status, answer) = ask(server, Method::DELETE, &first, ann).await;
        assert_eq!(
            (status, &answer["error"]),
            (StatusCode::NOT_FOUND, &json!("no_such_rules")),
            "{answer}"
        );
        assert_eq!(server.post(rules, ann, preset("more")).await.0, StatusCode::OK);
        assert_eq!(server.post(rules, ann, preset("p0")).await.0, StatusCode::CONFLICT);
        assert_eq!(server.play(&id, &token, "e2e4").await.0, StatusCode::OK);
    });
}

/// A text that does not have the hash that it is stored under is damaged. This one builds on itself.
#[test]
fn damaged_rules_are_not_known() {
    hosted("damaged", Config::default(), async |server| {
        let host = &server.web.host;
        let texts = Texts { base: Some("ring".into()), files: Vec::new(), trusted: false };
        let (_, text) = texts.stored();
        host.reads().ask(move |store| store.put_text("ring", &text)).await.unwrap();
        let known = tokio::time::timeout(Duration::from_secs(10), host.know_rules("ring")).await;
        let problem = known.expect("the search for its base ends").unwrap_err();
        assert_eq!(problem.code, "no_such_rules");
    });
}

/// A preset is checked with a game of its family, and with the presets that it requires; so it can be played.
#[test]
fn uploaded_presets_are_checked_where_they_fit() {
    hosted("fitting", Config { uploads: true, ..Config::default() }, async |server| {
        for (name, meta) in [
            ("plain", ""),
            ("pebbles", ".meta family \"stones\"\n"),
            ("courtly", ".meta requires \"coregal\"\n"),
        ] {
            let text = format!(".meta preset \"{name}\"\n{meta}.domain Preset += {{ {name} }}\n");
            let upload = json!({ "text": text, "keep": true });
            let (_, answer) = server.post("/api/v1/rules", "", upload).await;
            assert_eq!((&answer["ok"], &answer["name"]), (&json!(true), &json!(name)), "{answer}");
            // The answer says what a game of it is made of.
            let mut game = json!({ "seat": "both" });
            for field in ["game", "presets", "rules"] {
                game[field] = answer[field].clone();
            }
            assert_eq!(server.post("/api/v1/games", "", game).await.0, StatusCode::CREATED);
        }
        let text = ".meta preset \"lost\"\n.meta family \"nowhere\"\n.domain Preset += { lost }\n";
        let (_, answer) = server.post("/api/v1/rules", "", json!({ "text": text })).await;
        let told = answer["diagnostics"][0]["message"].as_str().unwrap_or_default();
        assert!(
            told.starts_with("preset lost is made for the family nowhere, which does not exist"),
            "{answer}"
        );
        assert_eq!(answer["ok"], false);
    });
}

/// Compiled rule sets that no game is played by make room for others by what they take in memory, however
/// few they are.
#[test]
fn compiled_rule_sets_are_kept_up_to_a_number_of_bytes() {
    const MB: usize = 1 << 20;
    let library = Library::new().unwrap();
    let files = padding().into_iter().map(|it| (it.path, it.text.to_string())).collect();
    let texts = Texts { base: Some(library.own_hash()), files, trusted: false };
    library.add(&texts).unwrap();
    let (hash, _) = texts.stored();
    let (mut made, mut most) = (0, 0);
    for (game, presets) in large_sets() {
        let rules = library.load(&hash, game, &presets).unwrap();
        made += rules.plan().heap_bytes();
        drop(rules);
        most = most.max(library.program_bytes());
        if made > 256 * MB {
            break;
        }
    }
    assert!(made > 256 * MB && most < 128 * MB, "{most} bytes of {made} are kept");
}

/// Texts are not taken for whole rules if those that they build on are missing.
#[test]
fn texts_whose_base_is_not_known_are_refused() {
    let library = Library::new().unwrap();
    let files = vec![("rules/presets/alone.dl".to_owned(), ".meta preset \"alone\"\n".to_owned())];
    let texts = Texts { base: Some("0".repeat(64)), files, trusted: false };
    let why = library.add(&texts).expect_err("there is nothing below it").to_string();
    assert!(why.starts_with("rules/presets/alone.dl:1: the rules 0000"), "{why}");
    assert!(library.catalogue(&texts.stored().0).is_none());
}

/// Rules of which a move takes a while, but not longer than it may.
const TOIL: &str = r#".meta preset "toil"
.domain Preset += { toil }
.input toil_n(n: Int) game attr "toil.n" = 0 "{n} moves were counted"
.decl toil_up(x: Int) "{x} is counted"
toil_up(x) :- toil_n(x).
toil_up(x + 1) :- toil_up(x), toil_n(n), x < n + 150000.
on move(_, _) when active('toil, _), toil_n(n), toil_up(n + 150000) do set toil_n(n + 1).
"#;

/// All moves together take longer than one request may: the game is there after a restart all the same.
#[test]
fn a_game_by_slow_rules_is_loaded_however_long_it_is() {
    let folder = Folder::new("toil");
    let config = Config { uploads: true, ..Config::default() };
    run(async {
        let server = Server::start(&folder, config.clone());
        let text = json!({ "path": "toil.dl", "text": TOIL, "keep": true });
        let (_, kept) = server.post("/api/v1/rules", "", text).await;
        let options = json!({ "rules": kept["rules"], "presets": ["toil"], "seat": "both" });
        let (id, token) = server.make(options).await;
        let pushes = ('a'..='h').map(|it| (it, 1)).chain(('a'..='d').map(|it| (it, 2)));
        let moves = pushes.flat_map(|(file, at)| {
            let (white, black) = ((1 + at, 2 + at), (8 - at, 7 - at));
            [white, black].map(|(from, to)| format!("{file}{from}{file}{to}"))
        });
        for uci in moves {
            let (status, answer) = loop {
                let played = server.play(&id, &token, &uci).await;
                // Other tests may take the time of this one.
                if played.0 != StatusCode::SERVICE_UNAVAILABLE {
                    break played;
                }
            };
            assert_eq!(status, StatusCode::OK, "{uci}: {answer}");
        }
        let (_, before) = server.get(&format!("/api/v1/games/{id}")).await;
        server.stop();
        let server = Server::start(&folder, config);
        let (status, again) = loop {
            let told = server.get(&format!("/api/v1/games/{id}")).await;
            if told.0 != StatusCode::REQUEST_TIMEOUT {
                break told;
            }
        };
        assert_eq!(status, StatusCode::OK, "{again}");
        assert_eq!((&again["moves"], &again["v"]), (&before["moves"], &before["v"]));
        server.stop();
    });
}
