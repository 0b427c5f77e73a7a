//! Studies: made of a game or from the start, changed by their owner alone, read by all.

use axum::http::StatusCode;
use rulemate::internals::server::Config;
use rulemate::internals::server::store::open;
use serde_json::{Value, json};

use super::accounts::{account, ask, refused};
use super::api::{Server, hosted, run};
use super::store::Folder;
use crate::random_rules::Choices;

async fn make(server: &Server, token: &str, body: Value) -> Value {
    let (status, made) = server.post("/api/v1/studies", token, body).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    made
}

#[test]
fn a_study_has_variations_and_comments_and_one_owner() {
    let folder = Folder::new("study");
    let mut path = String::new();
    run(async {
        let server = Server::start(&folder, Config::default());
        let ((ann, _), (ben, _)) = (account(&server, "ann").await, account(&server, "ben").await);
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        let of = json!({ "of": id });
        refused(&server.post("/api/v1/studies", &ann, of.clone()).await, 409, "game_not_over");
        for uci in ["f2f3", "e7e5", "g2g4", "d8h4"] {
            server.play(&id, &token, uci).await;
        }
        refused(&server.post("/api/v1/studies", "", of.clone()).await, 401, "token_missing");
        let made = make(&server, &ann, of).await;
        let sans: Vec<&str> = made["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["san"].as_str().unwrap())
            .collect();
        assert_eq!(sans, ["f3", "e5", "g4", "Qh4#"]);
        assert_eq!(made["title"], "A study of Chess");
        path = format!("/api/v1/studies/{}", made["id"].as_str().unwrap());
        let moves = format!("{path}/moves");
        // What is there already is no new variation, however it is written.
        let (_, same) = server.post(&moves, &ann, json!({ "after": 2, "uci": "g4" })).await;
        assert_eq!(
            (&same["node"], same["study"]["nodes"].as_array().unwrap().len()),
            (&json!(3), 4)
        );
        let (_, added) = server.post(&moves, &ann, json!({ "after": 2, "uci": "Nh3" })).await;
        assert_eq!(
            (&added["node"], &added["study"]["nodes"][4]["uci"]),
            (&json!(5), &json!("g1h3"))
        );
        let (_, more) = server.post(&moves, &ann, json!({ "after": 5, "uci": "d7d5" })).await;
        assert_eq!(more["node"], 6);
        let illegal = server.post(&moves, &ann, json!({ "after": 5, "uci": "e1e5" })).await;
        refused(&illegal, 422, "illegal_move");
        let over = server.post(&moves, &ann, json!({ "after": 4, "uci": "a2a3" })).await;
        assert_eq!(over.0.as_u16(), 422, "{}", over.1);
        let nowhere = server.post(&moves, &ann, json!({ "after": 99, "uci": "a2a3" })).await;
        refused(&nowhere, 404, "no_such_node");
        let comments = format!("{path}/comments");
        for (node, text) in [(0, "A short game."), (5, "This \u{7}ho\u{200b}lds.\nFor now.")] {
            let said = json!({ "node": node, "text": text });
            assert_eq!(server.post(&comments, &ann, said).await.0, StatusCode::OK);
        }
        let long = json!({ "node": 0, "text": "x".repeat(1_001) });
        refused(&server.post(&comments, &ann, long).await, 400, "too_long");
        // Another account changes nothing of it.
        let before = server.get(&path).await.1;
        for (address, body) in [
            (&moves, json!({ "after": 0, "uci": "e2e4" })),
            (&comments, json!({ "node": 0, "text": "mine" })),
        ] {
            refused(&server.post(address, &ben, body).await, 403, "not_yours");
        }
        for address in [path.clone(), format!("{path}/nodes/5")] {
            refused(&ask(&server, "DELETE", &address, &ben).await, 403, "not_yours");
        }
        assert_eq!(server.get(&path).await.1, before);
        server.stop();

        let server = Server::start(&folder, Config::default());
        let (_, read) = server.get(&path).await;
        assert_eq!(read, before, "and after a restart");
        assert_eq!(
            (&read["comment"], &read["nodes"][4]["comment"]),
            (&json!("A short game."), &json!("This holds.\nFor now."))
        );
        let (_, mate) = server.get(&format!("{path}/nodes/4")).await;
        assert_eq!(
            (&mate["result"], &mate["position"]["legal"]),
            (&json!("checkmate"), &json!([]))
        );
        let (_, there) = server.get(&format!("{path}/nodes/6")).await;
        let fen = there["position"]["fen"].as_str().unwrap();
        assert!(fen.starts_with("rnbqkbnr/ppp2ppp/8/3pp3/8/5P1N/"), "{fen}");
        for node in ["7", "x", "-1"] {
            let status = server.get(&format!("{path}/nodes/{node}")).await.0.as_u16();
            assert!((400..500).contains(&status), "{node}: {status}");
        }
        let (_, pgn) = server.get(&format!("{path}/pgn")).await;
        let pgn = pgn.as_str().unwrap();
        let (tags, moves) = pgn.split_once("\n\n").unwrap();
        assert!(tags.contains("[Annotator \"ann\"]\n[RulesHash"), "{tags}");
        let expected =
            "{A short game.} 1. f3 e5 2. g4 (2. Nh3 {This holds. For now.} 2... d5) 2... Qh4# *\n";
        assert_eq!(moves.replace('\n', " ").trim_end(), expected.trim_end());
        // A variation goes with all that follows it, and nothing else does.
        let (_, cut) = ask(&server, "DELETE", &format!("{path}/nodes/5"), &ann).await;
        assert_eq!(cut["nodes"].as_array().unwrap().len(), 4);
        refused(
            &ask(&server, "DELETE", &format!("{path}/nodes/6"), &ann).await,
            404,
            "no_such_node",
        );
        let (_, own) = ask(&server, "GET", "/api/v1/studies", &ann).await;
        assert_eq!((own.as_array().unwrap().len(), &own[0]["game"]), (1, &json!("chess")));
        assert_eq!(ask(&server, "DELETE", &path, &ann).await.0, StatusCode::OK);
        refused(&server.get(&path).await, 404, "no_such_study");
        assert_eq!(ask(&server, "GET", "/api/v1/studies", &ann).await.1, json!([]));
        server.stop();
    });
    assert_eq!(open(&folder.url()).unwrap().check().unwrap().faults, Vec::<String>::new());
}

/// Games whose turns have several actions, and whose pieces lie in hand, are studied like any other.
#[test]
fn a_study_is_of_any_game_and_has_limits() {
    hosted("studies", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        for (game, presets, moves, pgn) in [
            ("double-move", json!([]), &["e2e4", "d2d4", "e7e5"][..], "1. e4,d4 e5 *"),
            ("crazyhouse", json!(["piece-hp"]), &["e2e4", "d7d5", "e4d5"], "1. e4 d5 2. exd5 *"),
        ] {
            let study = make(server, &ann, json!({ "game": game, "presets": presets })).await;
            let path = format!("/api/v1/studies/{}", study["id"].as_str().unwrap());
            let mut after = json!(0);
            for uci in moves {
                let body = json!({ "after": after, "uci": uci });
                let (status, added) = server.post(&format!("{path}/moves"), &ann, body).await;
                assert_eq!(status, StatusCode::OK, "{uci}: {added}");
                after = added["node"].clone();
            }
            let (_, there) = server.get(&format!("{path}/nodes/{after}")).await;
            assert!(there["position"]["legal"].as_array().unwrap().len() > 10, "{there}");
            let (_, told) = server.get(&format!("{path}/pgn")).await;
            assert!(told.as_str().unwrap().ends_with(&format!("\n\n{pgn}\n")), "{told}");
        }
        let wrong = server.post("/api/v1/studies", &ann, json!({ "game": "nosuchgame" })).await;
        refused(&wrong, 422, "no_such_game_name");
        let wrong = server.post("/api/v1/studies", &ann, json!({ "of": "nosuchgame" })).await;
        refused(&wrong, 404, "no_such_game");
        for _ in 2..50 {
            make(server, &ann, json!({})).await;
        }
        refused(&server.post("/api/v1/studies", &ann, json!({})).await, 409, "study_full");
    });
}

/// What follows an action of a study, without its numbers.
fn tree(study: &Value, after: u64) -> Vec<Value> {
    let nodes = study["nodes"].as_array().unwrap().iter();
    let next = nodes.filter(|it| it["after"] == json!(after));
    let told = |it: &Value| {
        let what = ["uci", "san", "side", "turn_goes_on", "comment", "nags"].map(|name| &it[name]);
        json!([what, tree(study, it["id"].as_u64().unwrap())])
    };
    next.map(told).collect()
}

fn moves_of(pgn: &Value) -> String {
    pgn.as_str().unwrap().split_once("\n\n").unwrap().1.to_owned()
}

/// A study that is written as PGN and read back is the same study.
async fn comes_back(server: &Server, token: &str, study: &Value) -> Value {
    let path = |it: &Value| format!("/api/v1/studies/{}/pgn", it["id"].as_str().unwrap());
    let (_, pgn) = server.get(&path(study)).await;
    let back = make(server, token, json!({ "pgn": pgn })).await;
    for name in ["title", "game", "presets", "rules", "fen", "sides", "comment"] {
        assert_eq!(back[name], study[name], "{name}\n{pgn}");
    }
    assert_eq!(tree(&back, 0), tree(study, 0), "{}", pgn.as_str().unwrap());
    let (_, again) = server.get(&path(&back)).await;
    assert_eq!(moves_of(&again), moves_of(&pgn));
    back
}

/// Random studies, of games with one action a turn and with several.
#[test]
fn a_study_comes_back_from_its_pgn() {
    hosted("study-back", Config::default(), async |server| {
        let mut choices = Choices(5);
        let games = ["chess", "double-move", "duck", "crazyhouse", "checkers", "hex"];
        for (at, game) in games.into_iter().enumerate() {
            let (ann, _) = account(server, &format!("ann{at}")).await;
            for _ in 0..2 {
                let mut study =
                    make(server, &ann, json!({ "game": game, "title": "On \"this\"" })).await;
                let path = format!("/api/v1/studies/{}", study["id"].as_str().unwrap());
                for _ in 0..24 {
                    let nodes = study["nodes"].as_array().unwrap();
                    // Often the last action, so that lines have a length.
                    let last = nodes.last().map_or(0, |it| it["id"].as_u64().unwrap());
                    let after = match choices.below(3) {
                        0 => choices.below(nodes.len() + 1) as u64,
                        _ => last,
                    };
                    let (_, there) = server.get(&format!("{path}/nodes/{after}")).await;
                    let legal = there["position"]["legal"].as_array().unwrap();
                    if legal.is_empty() {
                        continue;
                    }
                    let uci = &legal[choices.below(legal.len())]["uci"];
                    let body = json!({ "after": after, "uci": uci });
                    let (status, added) = server.post(&format!("{path}/moves"), &ann, body).await;
                    assert_eq!(status, StatusCode::OK, "{added}");
                    study = added["study"].clone();
                    if choices.one_in(3) {
                        let words = ["(so", "it", "]", "$1", "%", "\"e4\"", "1.", "goes)", "; 1-0"];
                        let text: Vec<_> =
                            (0..=choices.below(30)).map(|_| choices.pick(&words)).collect();
                        let node = if choices.one_in(5) { json!(0) } else { added["node"].clone() };
                        let body = json!({ "node": node, "text": text.join(" ") });
                        let said = server.post(&format!("{path}/comments"), &ann, body).await;
                        assert_eq!(said.0, StatusCode::OK, "{}", said.1);
                        study = said.1;
                    }
                }
                comes_back(server, &ann, &study).await;
            }
        }
    });
}

/// PGN has no facts: the FEN of the start stands for them, so that what was played fits when it is read.
#[test]
fn what_began_from_facts_comes_back_from_its_pgn() {
    hosted("facts-back", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        for uci in ["e2e4", "d7d5"] {
            assert_eq!(server.play(&id, &token, uci).await.0, StatusCode::OK);
        }
        let (_, facts) = server.get(&format!("/api/v1/games/{id}/export?format=facts")).await;
        // The facts count, not the FEN of a PGN beside them.
        let other = "[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\"]\n\n*";
        let made = json!({ "game": "chess", "seat": "both", "facts": facts, "pgn": other });
        let (id, token) = server.make(made).await;
        assert_eq!(server.play(&id, &token, "e4d5").await.0, StatusCode::OK);
        let path = format!("/api/v1/games/{id}");
        let (_, pgn) = server.get(&format!("{path}/export")).await;
        let (copy, _) = server.make(json!({ "pgn": pgn, "seat": "both" })).await;
        let (_, one) = server.get(&path).await;
        let (_, two) = server.get(&format!("/api/v1/games/{copy}")).await;
        for key in ["moves", "fen", "legal", "turn"] {
            assert_eq!(one[key], two[key], "{key}");
        }
        assert_eq!(
            server.post(&format!("{path}/resign"), &token, json!({})).await.0,
            StatusCode::OK
        );
        let study = make(server, &ann, json!({ "of": id })).await;
        let (_, of_study) =
            server.get(&format!("/api/v1/studies/{}/pgn", study["id"].as_str().unwrap())).await;
        let back = make(server, &ann, json!({ "pgn": of_study })).await;
        assert_eq!(tree(&back, 0), tree(&study, 0));
    });
}

/// Facts say that a preset of the game's own is switched off, which no tag of PGN does.
#[test]
fn a_start_from_facts_without_a_preset_of_the_game_keeps_that_in_pgn() {
    hosted("facts-switched", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let (id, token) = server.make(json!({ "game": "crazyhouse", "seat": "both" })).await;
        for _ in 0..2 {
            let path = format!("/api/v1/games/{id}/presets");
            let (status, told) = server.post(&path, &token, json!({ "presets": [] })).await;
            assert_eq!(status, StatusCode::OK, "{told}");
        }
        let (_, facts) = server.get(&format!("/api/v1/games/{id}/export?format=facts")).await;
        let made = json!({ "game": "crazyhouse", "seat": "both", "facts": facts });
        let (id, token) = server.make(made).await;
        for uci in ["e2e4", "d7d5", "e4d5"] {
            assert_eq!(server.play(&id, &token, uci).await.0, StatusCode::OK);
        }
        let path = format!("/api/v1/games/{id}");
        let (_, pgn) = server.get(&format!("{path}/export")).await;
        assert!(pgn.as_str().unwrap().contains("{[%presets]} 1. e4"), "{pgn}");
        let (copy, _) = server.make(json!({ "pgn": pgn, "seat": "both" })).await;
        let (_, one) = server.get(&path).await;
        let (_, two) = server.get(&format!("/api/v1/games/{copy}")).await;
        for key in ["moves", "fen", "legal", "active"] {
            assert_eq!(one[key], two[key], "{key}");
        }
        server.post(&format!("{path}/resign"), &token, json!({})).await;
        let study = make(server, &ann, json!({ "of": id })).await;
        let path = format!("/api/v1/studies/{}/pgn", study["id"].as_str().unwrap());
        let (_, pgn) = server.get(&path).await;
        assert!(pgn.as_str().unwrap().contains("{[%presets]} 1. e4"), "{pgn}");
    });
}

#[test]
fn a_study_is_made_of_a_pgn_and_a_bad_one_names_its_line() {
    hosted("study-pgn", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let pgn = "[Event \"Two ways\"]\n[Variant \"Double move\"]\n\n{First.} 1. e4,d4 $1 {[%action 1 $3 $6] Half.} {Whole.}\n            (1. e4,c4 $10) 1... e5 (1... c5 {Or so.}) *\n";
        let study = make(server, &ann, json!({ "pgn": pgn })).await;
        let told = |it: &Value| json!([it["uci"], it["comment"], it["nags"]]);
        let nodes: Vec<Value> = study["nodes"].as_array().unwrap().iter().map(told).collect();
        let expected = json!([
            ["e2e4", "Half.", [3, 6]],
            ["d2d4", "Whole.", [1]],
            ["c2c4", "", [10]],
            ["e7e5", "", null],
            ["c7c5", "Or so.", null]
        ]);
        assert_eq!(json!(nodes), expected);
        assert_eq!(
            (&study["title"], &study["game"], &study["comment"]),
            (&json!("Two ways"), &json!("double-move"), &json!("First."))
        );
        comes_back(server, &ann, &study).await;
        // A position of its own, with the second side to move; what is wanted goes before what the text says.
        let pgn = "[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\"]\n\n1... Kd7 2. e4 (2. e3)";
        let study = make(server, &ann, json!({ "pgn": pgn, "game": "kingofthehill" })).await;
        assert_eq!(study["game"], "kingofthehill");
        let study = make(server, &ann, json!({ "pgn": pgn, "title": "Mine" })).await;
        assert_eq!(
            (&study["title"], study["nodes"].as_array().unwrap().len()),
            (&json!("Mine"), 3)
        );
        comes_back(server, &ann, &study).await;

        let many = format!("1. e4{}", " (1. d4)".repeat(1_000));
        let long = format!("1. e4\n{{{}}}", "word ".repeat(300));
        for (pgn, code, place) in [
            ("", 422, "no game"),
            ("1. e4 e5\n2. Nf3 (2. Nf3 Nc6\n3. Ke5)", 422, "line 3, column 4: Ke5: not legal: "),
            ("1. e4\n(1. d4", 422, "line 2, column 1: the variation"),
            ("1. e4 e5 {no end", 422, "line 1, column 10: the comment"),
            (many.as_str(), 409, "1,000 actions"),
            (long.as_str(), 400, "line 1, column 4: a comment is too long"),
            ("[FEN \"nonsense\"]\n\n1. e4", 422, "piece placement of the FEN"),
            ("[Variant \"No such game\"]\n\n1. e4", 422, "no-such-game"),
        ] {
            let (status, told) = server.post("/api/v1/studies", &ann, json!({ "pgn": pgn })).await;
            assert_eq!(status.as_u16(), code, "{told}");
            let message = told["message"].as_str().unwrap().replace("1000", "1,000");
            assert!(message.contains(place), "{place}: {message}");
            assert!(!message.contains("game 1"), "of one game: {message}");
        }
        let both = json!({ "pgn": "1. e4", "of": "x" });
        refused(&server.post("/api/v1/studies", &ann, both).await, 422, "bad_study");
    });
}

/// Annotators show threats by null moves, which rules do not have: such a line stays as a comment, and the study is made.
#[test]
fn a_line_goes_on_in_words_from_a_null_move_on() {
    hosted("study-null", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let pgn = "1. e4 e5 2. Qh5 {Threat:} (2. Qh5 -- 3. Qxe5+ Be7) (2. Z0 (2. Nf3) 2... d5) 2... Nc6 *";
        let study = make(server, &ann, json!({ "pgn": pgn })).await;
        let told = |it: &Value| json!([it["san"], it["comment"]]);
        let nodes: Vec<Value> = study["nodes"].as_array().unwrap().iter().map(told).collect();
        let expected = json!([
            ["e4", ""],
            ["e5", "(Z0 d5)"],
            ["Qh5", "Threat: (-- Qxe5+ Be7)"],
            ["Nf3", ""],
            ["Nc6", ""]
        ]);
        assert_eq!(json!(nodes), expected);
        let study = make(server, &ann, json!({ "pgn": "1. -- e5" })).await;
        assert_eq!((&study["comment"], &study["nodes"]), (&json!("(-- e5)"), &json!([])));
    });
}

/// A study is played by one set of rules, so the moves after a change of presets would be read by the wrong ones.
#[test]
fn a_game_whose_presets_changed_is_no_study_by_its_pgn_either() {
    hosted("study-switched", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let (id, token) = server.make(json!({ "game": "chess", "seat": "both" })).await;
        for presets in [json!(["coregal"]), json!(["coregal"])] {
            let path = format!("/api/v1/games/{id}/presets");
            let (status, told) = server.post(&path, &token, json!({ "presets": presets })).await;
            assert_eq!(status, StatusCode::OK, "{told}");
        }
        let abort = format!("/api/v1/games/{id}/abort");
        assert_eq!(server.post(&abort, &token, json!({})).await.0, StatusCode::OK);
        let (_, pgn) = server.get(&format!("/api/v1/games/{id}/export")).await;
        assert!(pgn.as_str().unwrap().contains("[%presets coregal"), "{pgn}");
        for body in
            [json!({ "of": id }), json!({ "pgn": pgn }), json!({ "pgn": "1. e4 {[%presets]}" })]
        {
            let answer = server.post("/api/v1/studies", &ann, body).await;
            refused(&answer, 422, "rules_changed");
        }
    });
}

/// A position that has come five times ends the game, though actions would be legal there: the refusal tells the end.
#[test]
fn an_action_after_the_end_is_refused_because_the_game_is_over() {
    hosted("study-over", Config::default(), async |server| {
        let (ann, _) = account(server, "ann").await;
        let pgn = format!("{}Nf3", "Nf3 Nf6 Ng1 Ng8 ".repeat(4));
        for path in ["/api/v1/studies", "/api/v1/games"] {
            let answer = server.post(path, &ann, json!({ "pgn": pgn })).await;
            refused(&answer, 422, "bad_import");
            let message = answer.1["message"].as_str().unwrap();
            let over = "Nf3: the game is over: draw by fivefold repetition";
            assert!(message.ends_with(over), "{message}");
        }
    });
}
