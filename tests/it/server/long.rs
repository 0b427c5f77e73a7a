//! Long games and full logs: a state of any length reaches the client, lists come in pages,
//! answers are not older than what was seen, and what is asked for is looked at before it is stored.

use std::time::Duration;

use axum::http::StatusCode;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::server::Config;
use serde_json::{Value, json};

use super::api::{Server, hosted, run};
use super::socket::{Client, listen};
use super::store::Folder;

/// Half-moves of a game of chess that nothing ends: pieces wander, and a pawn steps now and then.
pub(super) fn long_game(plies: usize) -> Vec<String> {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>("chess", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap();
    let mut random = fastrand::Rng::with_seed(12);
    let mut moves = Vec::new();
    for ply in 0..plies {
        let view = game.view();
        let on = |square: &Option<String>| {
            view.pieces.iter().find(|it| Some(&it.square) == square.as_ref())
        };
        let quiet: Vec<_> = view.legal.iter().filter(|it| on(&it.to).is_none()).collect();
        let is_pawn = |it: &Option<String>| on(it).is_some_and(|it| it.kind == "pawn");
        let (pawns, others): (Vec<_>, Vec<_>) = quiet.into_iter().partition(|it| is_pawn(&it.from));
        // Out of some checks there is nothing but a capture.
        let any: Vec<_> = view.legal.iter().collect();
        let wanted = if ply % 80 == 79 { [pawns, others, any] } else { [others, pawns, any] };
        let choice = wanted.iter().find(|it| !it.is_empty()).expect("a move");
        let uci = loop {
            let uci = random.choice(choice).expect("one of them").uci.clone();
            game.play_text(&uci).unwrap();
            if game.result().is_none() {
                break uci;
            }
            game.takeback();
        };
        moves.push(uci);
    }
    moves
}

fn pgn(moves: &[String]) -> String {
    let turns = moves.chunks(2).enumerate().map(|(at, it)| format!("{}. {}", at + 1, it.join(" ")));
    format!("[Variant \"chess\"]\n\n{} *\n", turns.collect::<Vec<_>>().join("\n"))
}

fn ucis(lines: &Value) -> Vec<String> {
    lines.as_array().unwrap().iter().map(|it| it["uci"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_game_of_1500_half_moves_is_told() {
    let folder = Folder::new("long");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let moves = long_game(1_500);
        let (id, token) = server.make(json!({ "pgn": pgn(&moves), "seat": "both" })).await;
        let path = format!("/api/v1/games/{id}");

        // Over a socket: the whole state at once, short; then the game goes on.
        for query in ["", "?v=0", "?v=99999"] {
            let mut socket = Client::to(address, &id, query).await;
            let state = socket.hear().await.expect("a state");
            assert_eq!((&state["t"], &state["d"]["ply"]), (&json!("resync"), &json!(1_500)));
            assert_eq!(state["d"]["lines_from"], 1_400);
            assert_eq!(ucis(&state["d"]["history"]), moves[1_400..]);
            let (_, ply) = server.get(&format!("{path}?lines=0")).await;
            let next = ply["legal"][0].as_str().unwrap();
            socket.say_text(&json!({ "t": "auth", "d": { "token": token } }).to_string()).await;
            assert_eq!(socket.hear().await.unwrap()["t"], "ack");
            let said = json!({ "t": "move", "a": 1, "d": { "uci": next } });
            socket.say_text(&said.to_string()).await;
            let heard = [socket.hear().await.unwrap(), socket.hear().await.unwrap()];
            assert!(heard.iter().any(|it| it["t"] == "played"), "{heard:?}");
            server.post(&format!("{path}/takeback"), &token, json!({})).await;
            server.post(&format!("{path}/takeback"), &token, json!({})).await;
        }

        // Over HTTP: as much of it as is asked for, and the rest in pages.
        for (query, from) in
            [("", 1_000), ("?lines=1000", 500), ("?lines=9999", 500), ("?lines=0", 1_500)]
        {
            let (status, state) = server.get(&format!("{path}{query}")).await;
            assert_eq!((status, &state["lines_from"]), (StatusCode::OK, &json!(from)));
            assert_eq!(ucis(&state["history"]), moves[from..]);
            assert_eq!(state["moves"].as_array().unwrap().len(), 1_500 - from);
        }
        for (limit, size) in [("", 500), ("&limit=7", 7), ("&limit=100000", 1_000)] {
            let mut told = Vec::new();
            while told.len() < 1_500 {
                let (_, page) =
                    server.get(&format!("{path}/lines?from={}{limit}", told.len())).await;
                assert_eq!((&page["from"], &page["ply"]), (&json!(told.len()), &json!(1_500)));
                let lines = ucis(&page["lines"]);
                assert!(lines.len() == size || told.len() + lines.len() == 1_500);
                told.extend(lines);
            }
            assert_eq!(told, moves);
        }
        let (_, page) = server.get(&format!("{path}/lines?from=4000")).await;
        assert_eq!((&page["from"], &page["lines"]), (&json!(1_500), &json!([])));
        // An empty page would be the last one.
        let (_, page) = server.get(&format!("{path}/lines?limit=0")).await;
        assert_eq!(ucis(&page["lines"]), moves[..1]);

        // Events come in pages, too, without gaps; the log as a text is whole.
        for (limit, size) in [("", 500), ("&limit=9", 9), ("&limit=100000", 1_000)] {
            let mut events: Vec<Value> = Vec::new();
            loop {
                let path = format!("{path}/events?after={}{limit}", events.len());
                let (_, page) = server.get(&path).await;
                let page = page.as_array().unwrap().clone();
                assert!(page.len() <= size);
                let is_last = page.len() < size;
                events.extend(page);
                if is_last {
                    break;
                }
            }
            assert!(events.iter().enumerate().all(|(at, it)| it["v"] == at as u64 + 1));
            let (_, log) = server.get(&format!("{path}/export?format=log")).await;
            let lines: Vec<Value> =
                log.as_str().unwrap().lines().map(|it| serde_json::from_str(it).unwrap()).collect();
            assert_eq!(lines, events);
        }
        server.web.host.drain();
    });
}

/// Few events may be long: a client that has missed them is sent no more than a message may hold.
#[test]
fn what_was_missed_is_sent_up_to_a_number_of_bytes() {
    let folder = Folder::new("missed");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let options = json!({ "game": "chess", "seat": "both", "chat": true });
        let (id, token) = server.make(options).await;
        let say = json!({ "text": "\u{1F600}".repeat(300) });
        for _ in 0..240 {
            let (status, answer) =
                server.post(&format!("/api/v1/games/{id}/chat"), &token, say.clone()).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
        let mut socket = Client::to(address, &id, "?v=3").await;
        let first = socket.hear().await.expect("a message");
        assert_eq!((&first["t"], &first["v"]), (&json!("resync"), &json!(243)));
        // Of the last few there are not too many bytes.
        let mut socket = Client::to(address, &id, "?v=200").await;
        for v in 201..=243 {
            let said = socket.hear().await.expect("a message");
            assert_eq!((&said["t"], &said["v"]), (&json!("said"), &json!(v)));
        }
        server.web.host.drain();
    });
}

#[test]
fn presets_that_do_not_exist_are_not_asked_for() {
    hosted("asked", Config::default(), async |server| {
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let path = format!("/api/v1/games/{id}");
        let (_, before) = server.get(&format!("{path}/events")).await;
        let long = "x".repeat(60_000);
        for (presets, code) in [
            (json!([long]), "too_long"),
            (json!(vec!["coregal"; 5_000]), "too_long"),
            (json!(["nonsense"]), "rules_refuse"),
            (json!(["coregal:"]), "rules_refuse"),
            (json!(["coregal:white", "\u{1}"]), "rules_refuse"),
        ] {
            let (status, answer) = server
                .post(&format!("{path}/presets"), &token, json!({ "presets": presets }))
                .await;
            assert!(status.is_client_error(), "{answer}");
            assert_eq!(answer["error"], code, "{answer}");
        }
        assert_eq!(server.get(&format!("{path}/events")).await.1, before, "nothing has changed");
        let wanted = json!({ "presets": ["coregal:white"] });
        let (status, _) = server.post(&format!("{path}/presets"), &token, wanted).await;
        assert_eq!(status, StatusCode::OK);
        // What a game starts from is short, too, but for its facts.
        for body in [json!({ "game": long }), json!({ "game": "chess", "fen": long })] {
            let (status, answer) = server.post("/api/v1/games", "", body).await;
            assert!(status.is_client_error(), "{answer}");
        }
    });
}

/// Nobody is asked to agree to what is refused then.
#[test]
fn presets_that_do_not_fit_are_not_asked_for() {
    hosted("unfit", Config::default(), async |server| {
        for (game, presets, why) in [
            ("hex", json!(["atomic"]), "is made for games of the family chess"),
            ("xiangqi", json!([]), "the rules of xiangqi need preset cannon"),
            ("chess", json!(["atomic", "atomic:white"]), "twice for one side"),
            ("chess", json!(["king-heals"]), "requires piece-hp"),
        ] {
            let (id, token) = server.make(json!({ "game": game, "seat": "both" })).await;
            let path = format!("/api/v1/games/{id}");
            let asked = json!({ "presets": presets });
            let (status, answer) = server.post(&format!("{path}/presets"), &token, asked).await;
            assert_eq!((status.as_u16(), answer["error"].as_str()), (422, Some("rules_refuse")));
            assert!(answer["message"].as_str().unwrap().contains(why), "{answer}");
            assert_eq!(server.get(&path).await.1["offers"], json!({}));
        }
    });
}

/// Two nodes, one of which has not heard: a request that names the event that was seen is not told less.
#[test]
fn answers_are_not_older_than_what_was_seen() {
    let folder = Folder::new("versions");
    run(async {
        let config = Config { wait: Duration::from_millis(10), ..Config::default() };
        let one = Server::start(&folder, config.clone());
        let two = Server::start(&folder, config);
        let (id, token) = one.make(json!({ "game": "chess", "seat": "both" })).await;
        let path = format!("/api/v1/games/{id}");
        for (ply, uci) in ["e2e4", "e7e5", "g1f3", "b8c6"].into_iter().enumerate() {
            // Both have the game in memory; a file sends no news.
            two.get(&path).await;
            let (_, answer) = one.play(&id, &token, uci).await;
            let v = answer["v"].as_u64().unwrap();
            let (status, state) = two.get(&format!("{path}?v={v}")).await;
            assert_eq!((status, &state["ply"]), (StatusCode::OK, &json!(ply + 1)), "{state}");
            one.get(&path).await;
            let why = format!("{path}/explain?move=e2e4&ply={}&v={v}", ply + 1);
            assert_eq!(two.get(&why).await.0, StatusCode::OK);
            let (status, page) = two.get(&format!("{path}/lines?v={v}")).await;
            assert_eq!((status, &page["ply"]), (StatusCode::OK, &json!(ply + 1)));
            // There is no such event, and none comes: that is said.
            let (status, answer) = two.get(&format!("{path}?v={}", v + 1)).await;
            assert_eq!(
                (status, &answer["error"]),
                (StatusCode::CONFLICT, &json!("no_such_version"))
            );
            assert_eq!(answer["v"], v);
        }
        one.stop();
        two.stop();
    });
}

/// An answer that is to know an event waits for it, whichever server stores it.
#[test]
fn answers_wait_for_an_event_that_is_to_come() {
    let folder = Folder::new("awaited");
    run(async {
        let config = Config { wait: Duration::from_secs(600), ..Config::default() };
        let one = Server::start(&folder, config.clone());
        let two = Server::start(&folder, config);
        let (id, token) = one.make(json!({ "game": "chess", "seat": "both" })).await;
        let path = format!("/api/v1/games/{id}");
        let (_, mut state) = one.get(&path).await;
        for (ply, uci) in ["e2e4", "e7e5", "g1f3"].into_iter().enumerate() {
            let v = state["v"].as_u64().unwrap() + 1;
            let asked = [format!("{path}?v={v}"), format!("{path}/lines?v={v}")];
            let [state_of, lines_of] = &asked;
            let all =
                async { tokio::join!(one.get(state_of), one.get(lines_of), two.get(state_of)) };
            let mut all = std::pin::pin!(all);
            // However long one looks, nothing is answered before the event is there.
            let looked = tokio::time::timeout(Duration::from_millis(100), &mut all).await;
            assert!(looked.is_err(), "answered too soon: {looked:?}");
            let (status, answer) = one.play(&id, &token, uci).await;
            assert_eq!((status, &answer["v"]), (StatusCode::OK, &json!(v)), "{answer}");
            let (here, lines, there) = all.await;
            for (status, answer) in [&here, &lines, &there] {
                assert_eq!((*status, &answer["ply"]), (StatusCode::OK, &json!(ply + 1)));
            }
            state = here.1;
        }
        // No game has so many events: no request waits for them.
        let (status, answer) = one.get(&format!("{path}?v=1000000")).await;
        assert_eq!((status, &answer["error"]), (StatusCode::CONFLICT, &json!("no_such_version")));
        one.stop();
        two.stop();
    });
}

#[test]
fn the_list_of_games_has_pages() {
    hosted("pages", Config::default(), async |server| {
        let mut made = Vec::new();
        for _ in 0..55 {
            let body = json!({ "game": "chess", "seat": "both", "listed": true });
            made.push(server.make(body).await.0);
        }
        let mut listed: Vec<String> = Vec::new();
        loop {
            let before = listed.last().map(|it| format!("&before={it}")).unwrap_or_default();
            let (_, page) = server.get(&format!("/api/v1/games?limit=5{before}")).await;
            let page = page.as_array().unwrap().clone();
            assert!(page.len() <= 5, "{} games", page.len());
            listed.extend(page.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
            if page.len() < 5 {
                break;
            }
        }
        let (_, some) = server.get("/api/v1/games").await;
        assert_eq!(some.as_array().map(Vec::len), Some(50), "if nothing is asked for");
        let (_, all) = server.get("/api/v1/games?limit=100000").await;
        let all: Vec<&str> =
            all.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
        assert_eq!(listed, all);
        listed.sort();
        made.sort();
        assert_eq!(listed, made, "each game once");
    });
}
