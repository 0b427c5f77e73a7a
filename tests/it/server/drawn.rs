//! What a page is told so that it can draw any game: where actions start, lines, hexagons, stacks, zones, diagrams of
//! kinds; a game of three sides over HTTP; who is there; and that a closed tab is not a slow one.

use std::time::Duration;

use rulemate::internals::server::Config;
use serde_json::{Value, json};

use super::api::{Server, hosted, run};
use super::socket::{Client, listen};
use super::store::Folder;

/// The start position of a game, or another one, as a page gets it.
async fn drawn(server: &Server, wanted: Value) -> Value {
    let (status, found) = server.post("/api/v1/presets/check", "", wanted).await;
    assert_eq!(status, 200, "{found}");
    found
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The page asks so before it proposes other presets for a game under way: the game's own may change, too.
#[test]
fn what_is_to_be_active_is_checked_without_the_own_presets_of_the_game() {
    hosted("exactly", Config::default(), async |server| {
        for (game, presets, added, alone) in [
            ("3check", json!(["three-check:both:checks=5"]), 200, 200),
            ("duck", json!(["double-move"]), 422, 200),
            ("duck", json!(["duck", "double-move"]), 422, 422),
            ("atomiczh", json!([]), 200, 422),
        ] {
            for (exactly, wanted) in [(false, added), (true, alone)] {
                let body = json!({ "game": game, "presets": presets, "exactly": exactly });
                let (status, found) = server.post("/api/v1/presets/check", "", body).await;
                assert_eq!(status, wanted, "{game} {presets} {exactly}: {found}");
                if exactly && wanted == 200 {
                    assert_eq!(found["active"].as_array().unwrap().len(), 1, "{found}");
                }
            }
        }
    });
}

#[test]
fn actions_tell_who_acts_and_what_is_chosen() {
    hosted("actions", Config::default(), async |server| {
        let fen = "4k3/P7/8/8/8/8/8/4K2R w K - 0 1";
        let position =
            drawn(server, json!({ "game": "chess", "fen": fen })).await["position"].clone();
        let pieces = position["pieces"].as_array().unwrap();
        let at =
            |square: &str| pieces.iter().find(|it| it["square"] == square).unwrap()["id"].clone();
        let legal = position["legal"].as_array().unwrap();
        let action = |uci: &str| legal.iter().find(|it| it["uci"] == uci).unwrap();
        let queen = action("a7a8q");
        assert_eq!((&queen["action"], &queen["piece"]), (&json!("promote"), &at("a7")));
        assert_eq!(queen["choice"], json!(["queen"]));
        assert!(queen["says"].as_str().unwrap().contains("becomes a queen"), "{queen}");
        let step = action("e1e2");
        assert_eq!((&step["action"], &step["piece"]), (&json!("move"), &at("e1")));
        assert_eq!((step.get("choice"), step.get("says")), (None, None), "nothing is to be chosen");

        // The pieces of a stack, the carrier first; and what each may do.
        let fen = "6c4/11/11/11/11/11/11/4(FTI)6/11/11/11/2C8 r - - 0 1";
        let position =
            drawn(server, json!({ "game": "cotulenh", "fen": fen })).await["position"].clone();
        let pieces = position["pieces"].as_array().unwrap();
        let stack: Vec<&str> = pieces
            .iter()
            .filter(|it| it["square"] == "e5")
            .filter_map(|it| it["kind"].as_str())
            .collect();
        assert_eq!(stack, ["air-force", "tank", "infantry"]);
        let legal = position["legal"].as_array().unwrap();
        let of = |kind: &str| pieces.iter().find(|it| it["kind"] == kind).unwrap()["id"].clone();
        let step = legal.iter().find(|it| it["uci"] == "Te5>c5").unwrap();
        assert_eq!((&step["action"], &step["piece"]), (&json!("deploy"), &of("tank")));
    });
}

#[test]
fn boards_tell_their_lines_ground_and_zones() {
    hosted("boards", Config::default(), async |server| {
        let mill = drawn(server, json!({ "game": "nine-mens-morris" })).await["position"].clone();
        let lines = mill["lines"].as_array().unwrap();
        assert_eq!(lines.len(), 32, "each line between two points is there once");
        assert!(lines.contains(&json!(["a1", "d1"])));
        let hex = drawn(server, json!({ "game": "hex" })).await["position"].clone();
        assert_eq!((&hex["hexagons"], hex.get("lines")), (&json!(true), None));
        let position = drawn(server, json!({ "game": "cotulenh" })).await["position"].clone();
        assert_eq!(position.get("hexagons"), None);
        let count = |name: &str| {
            let marks = position["marks"].as_array().unwrap();
            marks.iter().find(|it| it["name"] == name).map(|it| names(&it["squares"]).len())
        };
        assert_eq!((count("sea"), count("coast"), count("river")), (Some(24), Some(16), Some(12)));
        // A ship defends its square and the four beside it.
        let pieces = position["pieces"].as_array().unwrap();
        let ship = pieces.iter().find(|it| it["square"] == "b2").unwrap();
        let zones = position["zones"].as_array().unwrap();
        let zone = zones.iter().find(|it| it["piece"] == ship["id"]).unwrap();
        assert_eq!(names(&zone["squares"]), ["a2", "b1", "b2", "b3", "c2"]);
    });
}

#[test]
fn every_kind_has_a_diagram_where_it_goes_somewhere() {
    let uploads = Config { uploads: true, ..Config::default() };
    hosted("diagrams", uploads, async |server| {
        let of = async |game: &str, presets: Value| {
            drawn(server, json!({ "game": game, "presets": presets, "diagrams": true })).await["diagrams"].clone()
        };
        let kind = |all: &Value, kind: &str| {
            all.as_array().unwrap().iter().find(|it| it["kind"] == kind).cloned().unwrap()
        };
        let chess = of("chess", json!([])).await;
        assert_eq!(chess.as_array().unwrap().len(), 6);
        let knight = kind(&chess, "knight");
        assert_eq!(names(&knight["goes"]), ["c3", "c5", "d2", "d6", "f2", "f6", "g3", "g5"]);
        assert_eq!(knight["captures"], json!([]));
        let pawn = kind(&chess, "pawn");
        assert_eq!(
            (names(&pawn["goes"]), names(&pawn["captures"])),
            (vec!["e5"], vec!["d5", "f5"])
        );
        assert_eq!(names(&kind(&chess, "queen")["goes"]).len(), 27);
        // What a preset changes is in its diagrams.
        let berolina = of("chess", json!(["berolina-pawns"])).await;
        assert_eq!(names(&kind(&berolina, "pawn")["goes"]), ["d5", "f5"]);
        // What moves only while a king is there has one; kinds that do not come up are left out, those that pieces
        // become are not.
        assert_eq!(of("atomic", json!([])).await.as_array().unwrap().len(), 6);
        let kinds = |all: &Value| -> Vec<String> {
            all.as_array()
                .unwrap()
                .iter()
                .map(|it| it["kind"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(
            kinds(&of("xiangqi", json!([])).await),
            ["pawn", "knight", "bishop", "rook", "king", "cannon", "advisor"]
        );
        assert!(kinds(&of("pawns-only", json!([])).await).contains(&"queen".to_owned()));
        // Ships stand on water: a square is found for them.
        let ships = kind(&of("cotulenh", json!([])).await, "navy");
        assert!(!names(&ships["goes"]).is_empty(), "{ships}");
        // What is no part of the board stays out of it, and a kind is called what the game calls it.
        let rook = kind(&of("omicron", json!([])).await, "rook");
        let goes = names(&rook["goes"]);
        assert!(goes.iter().all(|it| !it.starts_with(['a', 'l']) && !it.ends_with("10")), "{rook}");
        assert!(goes.len() > 10, "{rook}");
        let kyoto = of("kyotoshogi", json!([])).await;
        assert_eq!(kind(&kyoto, "promoted-silver")["name"], "bishop");
        // Whoever begins is drawn.
        let text = ".meta game \"black-begins\"\n.meta title \"Black begins\"\n.meta family \"chess\"\n\
                    .meta start \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1\"\n";
        let (_, kept) =
            server.post("/api/v1/rules", "", json!({ "text": text, "keep": true })).await;
        let game = json!({ "game": "black-begins", "rules": kept["rules"], "diagrams": true });
        let black = drawn(server, game).await["diagrams"].clone();
        assert_eq!(black.as_array().unwrap().len(), 6, "{kept}");
        let pawn = kind(&black, "pawn");
        assert_eq!(
            (names(&pawn["goes"]), names(&pawn["captures"])),
            (vec!["e3"], vec!["d3", "f3"])
        );
        // Nothing is drawn of a board without squares, nor unless it is asked for.
        assert_eq!(of("nim", json!([])).await, json!([]));
        assert_eq!(drawn(server, json!({ "game": "chess" })).await["diagrams"], Value::Null);
    });
}

#[test]
fn three_sides_sit_down_and_play() {
    let uploads = Config { uploads: true, ..Config::default() };
    hosted("three", uploads, async |server| {
        let text = include_str!("../../data/sides/three-in-a-row.dl");
        let (_, kept) =
            server.post("/api/v1/rules", "", json!({ "text": text, "keep": true })).await;
        let game = json!({ "game": "three-in-a-row", "rules": kept["rules"], "seat": "red" });
        let (id, red) = server.make(game).await;
        let join = async |side: &str| {
            let path = format!("/api/v1/games/{id}/join");
            let (_, joined) = server.post(&path, "", json!({ "seat": side })).await;
            joined["token"].as_str().unwrap_or_default().to_owned()
        };
        let tokens = [red, join("green").await, join("blue").await];
        let whole = ["a1", "b1", "c1", "a2", "b2", "d1", "a3"];
        for (at, to) in whole.into_iter().enumerate() {
            let (status, refused) = server.play(&id, &tokens[(at + 1) % 3], to).await;
            assert_eq!(status, 403, "another side's turn: {refused}");
            let (status, played) = server.play(&id, &tokens[at % 3], to).await;
            assert_eq!((status.as_u16(), &played["ply"]), (200, &json!(at + 1)), "{played}");
        }
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        assert_eq!(state["sides"], json!(["red", "green", "blue"]));
        assert_eq!(
            (&state["result"]["reason"], &state["result"]["winner"]),
            (&json!("row"), &json!(0))
        );
    });
}

#[test]
fn a_pong_tells_who_is_there() {
    let folder = Folder::new("presence");
    run(async {
        let server = Server::start(&folder, Config::default());
        let address = listen(&server).await;
        let (id, token) = server.make(json!({ "game": "chess", "seat": "black" })).await;
        let mut watcher = Client::to(address, &id, "?v=2").await;
        let mut player = Client::to(address, &id, "?v=2").await;
        let there = async |client: &mut Client| {
            client.say_text("{\"t\":\"ping\",\"a\":7}").await;
            let pong = client.hear().await.unwrap();
            assert_eq!((&pong["t"], &pong["a"]), (&json!("pong"), &json!(7)));
            pong["d"].clone()
        };
        assert_eq!(there(&mut watcher).await["sides"], json!([]));
        player.say_text(&json!({ "t": "auth", "a": 1, "d": { "token": token } }).to_string()).await;
        assert_eq!(player.hear().await.unwrap()["t"], "ack");
        assert_eq!(there(&mut watcher).await, json!({ "sides": [1], "sockets": 2 }));
        // Who has gone is not there, and was not too slow.
        drop(player);
        // Asked now and then: a socket may say only so much in a second.
        while there(&mut watcher).await["sockets"] != 1 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(there(&mut watcher).await["sides"], json!([]));
        server.post(&format!("/api/v1/games/{id}/join"), "", json!({})).await;
        assert_eq!(watcher.hear().await.unwrap()["t"], "seated");
        let metrics = server.metrics().await;
        assert!(metrics.contains("rulemate_watchers_dropped_total 0"), "{metrics}");
    });
}

/// What the FEN of a position leaves out is told by the rules of that position, whatever presets have come and gone since.
#[test]
fn what_fens_leave_out_is_told_by_the_rules_of_their_time() {
    hosted("left-out", Config::default(), async |server| {
        let made = json!({ "presets": ["coregal:white:turns=4"], "seat": "both" });
        let (id, token) = server.make(made).await;
        let left_out = async |ply: &str| {
            let path = format!("/api/v1/games/{id}{ply}");
            server.get(&path).await.1["fen_leaves_out"].clone()
        };
        let agree = async |act: &str, body: Value| {
            for _ in 0..2 {
                let path = format!("/api/v1/games/{id}/{act}");
                let (status, answer) = server.post(&path, &token, body.clone()).await;
                assert_eq!(status, 200, "{act}: {answer}");
            }
        };
        server.play(&id, &token, "e2e4").await;
        assert_eq!(left_out("").await, json!(["turns_remaining"]));
        agree("presets", json!({ "presets": [] })).await;
        server.play(&id, &token, "e7e5").await;
        assert_eq!(left_out("").await, json!([]));
        assert_eq!(left_out("?ply=1").await, json!(["turns_remaining"]));
        // The change of presets is taken back with the first action.
        agree("takeback", json!({})).await;
        agree("takeback", json!({})).await;
        server.play(&id, &token, "e2e4").await;
        assert_eq!(left_out("").await, json!(["turns_remaining"]));
    });
}
