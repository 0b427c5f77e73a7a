//! Games that come back from base facts are the games that came from playing every move: the
//! position, what may be done, repetitions, what a takeback leads to.

use std::time::Duration;

use axum::http::StatusCode;
use rulemate::internals::game::{Game, GameSnapshot};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::server::Config;
use rulemate::internals::server::store::open;
use serde_json::json;

use super::api::{Server, run};
use super::store::Folder;
use super::tournament::{accounts, boards, clock, make};

const PLIES: usize = 40;

/// All that can be seen of a game without going back in it.
fn told(game: &mut Game) -> (String, String, Vec<String>, u64) {
    let history = game.history().iter();
    let one = |it: &rulemate::internals::game::Record| {
        let (notes, snapshot) = (it.notes().to_vec(), it.hash());
        let way = (it.side, it.turn_goes_on, it.key, it.rewound_to());
        format!("{} {} {:?} {way:?} {notes:?} {snapshot:x}", it.uci, it.san, it.mv)
    };
    let history = history.map(one).collect();
    let view = serde_json::to_string(&game.view()).unwrap();
    (format!("{:?}", game.result()), view, history, game.hash())
}

fn again(rules: &Ruleset, game: &Game) -> Option<Game> {
    let text = serde_json::to_string(&game.snapshot()?).unwrap();
    let kept: GameSnapshot = serde_json::from_str(&text).unwrap();
    rules.restore_snapshot(&kept)
}

/// Plays at random, some moves to and fro so that positions repeat.
fn play(game: &mut Game, random: &mut fastrand::Rng, plies: usize) {
    for _ in 0..plies {
        let legal = game.listing();
        let Some((_, mv)) = random.choice(&legal) else { return };
        game.play(mv).unwrap();
    }
}

#[test]
fn a_game_kept_as_facts_is_the_game_that_was_played() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let mut random = fastrand::Rng::with_seed(7);
    let mut plies = 0;
    for entry in catalogue.games() {
        let rules = catalogue.load::<&str>(&entry.name, &[]).unwrap_or_else(|it| panic!("{it}"));
        let mut played = rules.start(None).unwrap();
        play(&mut played, &mut random, PLIES);
        let mut back = again(&rules, &played).unwrap_or_else(|| panic!("{} is kept", entry.name));
        assert_eq!(told(&mut back), told(&mut played), "{}", entry.name);
        plies += played.history().len();
        // A game at rest is still that game, and has less to hold.
        let held = back.memory().derived;
        back.unload();
        assert!(back.memory().derived < held / 10, "{}", entry.name);
        if plies.is_multiple_of(5) {
            assert_eq!(told(&mut back), told(&mut played), "{}, at rest", entry.name);
        }
        back.reload();
        assert_eq!(told(&mut back), told(&mut played), "{}, after a rest", entry.name);
        // Both go on alike, and back again.
        for _ in 0..3 {
            let legal = played.listing();
            let Some((uci, mv)) = random.choice(&legal) else { break };
            played.play(mv).unwrap();
            back.play_text(uci).unwrap_or_else(|it| panic!("{}: {uci}: {it}", entry.name));
        }
        assert_eq!(told(&mut back), told(&mut played), "{}, going on", entry.name);
        while played.takeback().is_some() {
            assert!(back.takeback().is_some());
            if played.history().len().is_multiple_of(9) {
                assert_eq!(told(&mut back), told(&mut played), "{}, taken back", entry.name);
            }
        }
    }
    assert!(plies > 1_000, "{plies} moves in all");
}

#[test]
fn repetitions_before_a_snapshot_count() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>("chess", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap();
    for uci in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"] {
        game.play_text(uci).unwrap();
    }
    let mut back = again(&rules, &game).unwrap();
    assert!(back.claims().is_empty());
    back.play_text("f6g8").unwrap();
    assert_eq!(back.claims().len(), 1, "the position stands for the third time");
}

#[test]
fn what_cannot_be_kept_is_played_again() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>("chess", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap();
    game.play_text("e2e4").unwrap();
    // Another program, or facts that do not come to their hash.
    let other = catalogue.load::<&str>("knightmate", &[]).unwrap_or_else(|it| panic!("{it}"));
    let kept = game.snapshot().unwrap();
    assert!(other.restore_snapshot(&kept).is_none());
    let text = serde_json::to_string(&kept).unwrap();
    let wrong: GameSnapshot =
        serde_json::from_str(&text.replacen("\"e4\"]", "\"e3\"]", 1)).unwrap();
    assert!(rules.restore_snapshot(&wrong).is_none());
    // A rewind to a position that was not yet there: whoever followed it would go round for ever.
    let side = "\"turn_goes_on\":false";
    let wrong = text.replacen(side, &format!("{side},\"rewound_to\":1"), 1);
    assert!(rules.restore_snapshot(&serde_json::from_str(&wrong).unwrap()).is_none());
    // Rules that were changed on the way.
    catalogue.set_active(&rules, &mut game, &["coregal:white"]).unwrap();
    assert!(game.snapshot().is_none());
}

#[test]
fn a_game_is_loaded_from_its_snapshot_and_the_events_after_it() {
    let folder = Folder::new("snapshots");
    run(async {
        let idle = Duration::from_millis(500);
        let server = Server::start(&folder, Config { idle, ..Config::default() });
        let made = json!({ "game": "knightmate", "seat": "both", "chat": true });
        let (id, token) = server.make(made).await;
        let path = format!("/api/v1/games/{id}");
        for ply in 0..70 {
            let (_, state) = server.get(&path).await;
            let legal = state["legal"].as_array().unwrap();
            let uci = legal[ply * 7 % legal.len()].as_str().unwrap().to_owned();
            assert_eq!(server.play(&id, &token, &uci).await.0, StatusCode::OK);
        }
        server.post(&format!("{path}/chat"), &token, json!({ "text": "well" })).await;
        let (_, before) = server.get(&path).await;
        wait_until_evicted(&server).await;
        let mut store = open(&folder.url()).unwrap();
        let (seq, text) = store.snapshot(&id).unwrap().expect("there is a snapshot");
        assert_eq!(seq, before["v"].as_u64().unwrap(), "taken as the game was let go");
        let (_, after) = server.get(&path).await;
        assert_eq!(without_time(after), without_time(before.clone()));

        // A snapshot of another game is not believed, nor a damaged one: the log tells all.
        server.post(&format!("{path}/takeback"), &token, json!({})).await;
        server.post(&format!("{path}/takeback"), &token, json!({})).await;
        let (_, taken_back) = server.get(&path).await;
        assert_eq!(taken_back["ply"], 69);
        wait_until_evicted(&server).await;
        let file = rusqlite::Connection::open(folder.0.join("games.db")).unwrap();
        file.execute("UPDATE snapshots SET snapshot = ?1", [&text[..text.len() / 2]]).unwrap();
        assert_eq!(store.snapshot(&id).unwrap(), None);
        let (_, from_log) = server.get(&path).await;
        assert_eq!(without_time(from_log), without_time(taken_back));
        server.stop();
    });
}

/// How players ended a game is not among its facts, whether the game has stayed in memory or not.
#[test]
fn a_game_that_players_ended_has_the_same_facts_when_it_is_loaded() {
    run(async {
        let folder = Folder::new("ended");
        let server = Server::start(&folder, Config::default());
        let mut ended = Vec::new();
        for act in ["resign", "claim", "flag"] {
            let clock = json!({ "initial": if act == "flag" { 1 } else { 60_000 } });
            let options = json!({ "game": "chess", "seat": "both", "clock": clock });
            let (id, token) = server.make(options).await;
            for ply in 0..8 {
                let uci = ["g1f3", "g8f6", "f3g1", "f6g8"][ply % 4];
                server.play(&id, &token, uci).await;
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            if act != "flag" {
                let path = format!("/api/v1/games/{id}/{act}");
                assert_eq!(server.post(&path, &token, json!({})).await.0, StatusCode::OK);
            }
            let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
            assert!(state["result"].is_object(), "{act}: {state}");
            assert_eq!(state["fen_leaves_out"], json!([]), "{act}");
            let (_, facts) = server.get(&format!("/api/v1/games/{id}/export?format=facts")).await;
            ended.push((id, state, facts));
        }
        server.stop();
        let server = Server::start(&folder, Config::default());
        for (id, state, facts) in ended {
            let (_, again) = server.get(&format!("/api/v1/games/{id}")).await;
            assert_eq!(without_time(again), without_time(state));
            let path = format!("/api/v1/games/{id}/export?format=facts");
            assert_eq!(server.get(&path).await.1, facts);
            // Whoever goes on from there has a game that is not over.
            let options = json!({ "game": "chess", "seat": "both", "facts": facts });
            let (next, _) = server.make(options).await;
            let (_, state) = server.get(&format!("/api/v1/games/{next}")).await;
            assert_eq!(state["result"], json!(null));
        }
        server.stop();
    });
}

/// Plays a game on a server, and lets it go with a snapshot.
async fn leave_a_game(folder: &Folder, game: &str) -> String {
    let idle = Duration::from_millis(20);
    let server = Server::start(folder, Config { idle, ..Config::default() });
    let (id, token) = server.make(json!({ "game": game, "seat": "both" })).await;
    for ply in 0..9 {
        let (_, state) = server.get(&format!("/api/v1/games/{id}")).await;
        let legal = state["legal"].as_array().unwrap();
        let uci = legal[ply * 7 % legal.len()].as_str().unwrap().to_owned();
        assert_eq!(server.play(&id, &token, &uci).await.0, StatusCode::OK);
    }
    wait_until_evicted(&server).await;
    server.stop();
    id
}

#[test]
fn the_doctor_finds_a_snapshot_that_is_not_what_its_log_says() {
    let folder = Folder::new("doctor");
    let doctor = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rulemate"));
        let done = command.args(["doctor", "--store", &folder.url()]).args(more).output().unwrap();
        let told = String::from_utf8(done.stdout).unwrap();
        let is_bad = |it: &&str| it.starts_with("BAD ");
        let bad: Vec<String> = told.lines().filter(is_bad).map(str::to_owned).collect();
        assert_eq!(done.status.code(), Some(i32::from(!bad.is_empty())), "{told}");
        // How fast the disk is while other tests run is not asked here.
        (bad.iter().filter(|it| !it.contains("disk: ")).count(), told)
    };
    run(async {
        leave_a_game(&folder, "knightmate").await;
        let id = leave_a_game(&folder, "double-move").await;
        let (bad, told) = doctor(&[]);
        assert!(told.contains("snapshots: 2 are what their logs say"), "{told}");
        assert!(told.contains("summaries: 2 are what their logs say"), "{told}");
        assert_eq!(bad, 0, "{told}");
        // Somebody who knows how snapshots are hashed has changed one.
        let mut store = open(&folder.url()).unwrap();
        let (seq, text) = store.snapshot(&id).unwrap().unwrap();
        let changed = text.replacen("\"uci\":\"", "\"uci\":\"x", 1);
        let mut hasher = blake3::Hasher::new();
        hasher.update(id.as_bytes()).update(&seq.to_le_bytes()).update(changed.as_bytes());
        let hash = hasher.finalize().to_hex().to_string();
        let file = rusqlite::Connection::open(folder.0.join("games.db")).unwrap();
        let write = "UPDATE snapshots SET snapshot = ?1, hash = ?2 WHERE game = ?3";
        file.execute(write, [&changed, &hash, &id]).unwrap();
        let (bad, told) = doctor(&[]);
        let fault = format!("the snapshot of game {id}: it is not what the log comes to");
        assert!(told.contains(&fault) && told.contains("snapshots: 1 are"), "{told}");
        assert_eq!(bad, 1, "{told}");
        assert_eq!(doctor(&["--quick"]).0, 0, "the log itself is whole");
    });
}

async fn wait_until_evicted(server: &Server) {
    while server.web.host.live_games() > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn without_time(mut state: serde_json::Value) -> serde_json::Value {
    if let Some(state) = state.as_object_mut() {
        state.remove("now");
    }
    state
}

/// The log tells a start position that was chosen by its number, since the game's name alone leads to the usual one: the game
/// comes back though it has no snapshot, and its rematch, PGN, studies and tournaments begin there, too.
#[test]
fn a_numbered_start_position_is_that_of_the_log() {
    let folder = Folder::new("numbered");
    let numbered = "chess960:position=909";
    let start = "rkqbrnbn/pppppppp/8/8/8/8/PPPPPPPP/RKQBRNBN w KQkq - 0 1";
    // Positions of this game tell their rights by files.
    let fen = start.replace("KQkq", "EAea");
    let mut played = (String::new(), String::new());
    run(async {
        let server = Server::start(&folder, Config::default());
        let (id, token) = server.make(json!({ "game": numbered, "seat": "both" })).await;
        for uci in ["h1g3", "h8g6"] {
            assert_eq!(server.play(&id, &token, uci).await.0, StatusCode::OK);
        }
        // From the usual one nothing is to be told.
        let (usual, _) = server.make(json!({ "game": "chess960" })).await;
        let (_, state) = server.get(&format!("/api/v1/games/{usual}")).await;
        assert_eq!(state["start_fen"], json!(null));
        played = (id, token);
        server.stop();
    });
    let file = rusqlite::Connection::open(folder.0.join("games.db")).unwrap();
    file.execute("DELETE FROM snapshots", []).unwrap();
    drop(file);
    run(async {
        let server = Server::start(&folder, Config::default());
        let (id, token) = played;
        let path = format!("/api/v1/games/{id}");
        let (status, state) = server.get(&path).await;
        assert_eq!((status, &state["start_fen"]), (StatusCode::OK, &json!(start)), "{state}");
        assert_eq!(state["moves"], json!(["h1g3", "h8g6"]));
        let (_, pgn) = server.get(&format!("{path}/export")).await;
        let pgn = pgn.as_str().unwrap().to_owned();
        assert!(pgn.contains(&format!("[FEN \"{start}\"]")), "{pgn}");
        let (again, _) = server.make(json!({ "pgn": pgn, "seat": "both" })).await;
        let (_, copy) = server.get(&format!("/api/v1/games/{again}")).await;
        assert_eq!(copy["fen"], state["fen"]);
        for act in ["resign", "rematch", "rematch"] {
            let (status, it) = server.post(&format!("{path}/{act}"), &token, json!({})).await;
            assert_eq!(status, StatusCode::OK, "{it}");
        }
        let (_, over) = server.get(&path).await;
        let rematch = format!("/api/v1/games/{}", over["rematch"].as_str().unwrap());
        assert_eq!(server.get(&rematch).await.1["fen"], json!(fen));

        let tokens = accounts(&server, &["ann", "ben"]).await;
        for source in [json!({ "game": numbered }), json!({ "of": id })] {
            let (_, study) = server.post("/api/v1/studies", &tokens["ann"], source).await;
            let path = format!("/api/v1/studies/{}/nodes/0", study["id"].as_str().unwrap());
            assert_eq!(server.get(&path).await.1["position"]["fen"], json!(fen), "{study}");
        }
        let wish = json!({ "game": numbered, "clock": clock(), "rounds": 1 });
        let tournament = make(&server, &tokens["ann"], wish).await;
        for token in tokens.values() {
            server.post(&format!("{tournament}/join"), token, json!({})).await;
        }
        let (_, it) = server.post(&format!("{tournament}/start"), &tokens["ann"], json!({})).await;
        let (_, state) = server.get(&format!("/api/v1/games/{}", boards(&it)[0].0)).await;
        assert_eq!(state["fen"], json!(fen), "{it}");
        server.stop();
    });
}
