//! Tournaments that do not go as planned: players who do not come or block each other, logs that are damaged, an end
//! before the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rulemate::internals::server::tournament::pairs::{Contender, arena, swiss};
use rulemate::internals::server::tournament::table::{Blocks, Kind, PAUSE, Phase, Verdict};
use rulemate::internals::server::{Config, run_tournaments};
use serde_json::{Value, json};

use super::accounts::{ask, refused};
use super::api::{Server, hosted, run};
use super::store::Folder;
use super::tournament::{
    accounts, boards, clock, contenders, make, none_blocked, places, play_round, text, wait,
    with_players,
};
use crate::cli::rulemate;

// --- who blocks whom ----------------------------------------------------------------------------

/// The fewest pairs that block each other, of any way to pair those in `open`; one stays out if they are odd.
fn fewest(all: &[Contender], open: &[usize]) -> usize {
    let Some((&one, rest)) = open.split_first() else { return 0 };
    let without = |it: usize| rest.iter().copied().filter(|&o| o != it).collect::<Vec<_>>();
    let pair = |&other: &usize| {
        usize::from(all[one].blocked.contains(&other)) + fewest(all, &without(other))
    };
    let alone = (open.len() % 2 == 1).then(|| fewest(all, rest));
    rest.iter().map(pair).chain(alone).min().unwrap_or(usize::MAX / 2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// In a Swiss those who block each other meet only if there is no other pairing; in an arena never.
    #[test]
    fn pairings_respect_blocks(
        mut all in contenders(7),
        blocks in prop::collection::btree_set((0_usize..7, 0_usize..7), 0..12),
        others: bool,
    ) {
        for (one, other) in blocks {
            if one < other && other < all.len() {
                all[one].blocked.push(other);
                all[other].blocked.push(one);
            }
        }
        let clashes = |pairs: &[[usize; 2]]| {
            pairs.iter().filter(|[one, other]| all[*one].blocked.contains(other)).count()
        };
        let open: Vec<usize> = (0..all.len()).collect();
        let drawn = swiss(all.clone());
        prop_assert_eq!(drawn.left.len(), all.len() % 2);
        prop_assert_eq!(clashes(&drawn.pairs), fewest(&all, &open));
        prop_assert_eq!(clashes(&arena(all.clone(), others).pairs), 0);
    }
}

/// Three rounds of four, of whom two block each other: the others meet them again instead.
#[test]
fn players_are_not_paired_with_those_they_block() {
    hosted("tournament-blocks", Config::default(), async |server| {
        tokio::spawn(run_tournaments(Arc::downgrade(&server.web.host)));
        let tokens = accounts(server, &["ann", "ben", "cyd", "dee"]).await;
        // Without the block, these two would meet in the first round.
        let block = json!({ "name": "ann" });
        let (status, it) = server.post("/api/v1/account/blocks", &tokens["cyd"], block).await;
        assert_eq!(status.as_u16(), 200, "{it}");
        let path = running(server, &tokens, json!({ "clock": clock(), "rounds": 3 })).await;
        for round in 1..=3 {
            let is_paired = |it: &Value| it["round"] == round && boards(it).len() == 2;
            let now = wait(server, &path, "a round", is_paired).await;
            for (_, mut players) in boards(&now) {
                players.sort();
                assert_ne!(players, ["ann", "cyd"], "round {round}");
            }
            play_round(server, &tokens, &now).await;
        }
        let over = wait(server, &path, "the end", |it| it["state"] == "over").await;
        assert_eq!(places(&over).iter().map(|it| it.1).sum::<f64>(), 6.0);
    });
}

/// Without this, a player who blocks all others would have a point for each round, and win without a game.
#[test]
fn blocking_all_others_does_not_win_a_tournament() {
    let others = || (1..5).map(|it| format!("p{it}"));
    let mine: Blocks = others().map(|it| ("p0".to_owned(), it)).collect();
    let theirs: Blocks = others().map(|it| (it, "p0".to_owned())).collect();
    for (blocks, points) in [(mine, 2), (theirs, 8)] {
        let mut table = with_players(Kind::Swiss(4), 5);
        table.start(PAUSE).unwrap();
        let mut worth = Vec::new();
        for round in 1..=4 {
            let news = table.advance(round * PAUSE, &blocks);
            worth.extend(news.iter().map(|it| (it.players.clone(), it.winner)));
            for pairing in table.playing.clone() {
                table.count(&pairing.game, Verdict::Drawn, round * PAUSE);
            }
        }
        table.advance(5 * PAUSE, &blocks);
        assert_eq!(table.phase, Phase::Over);
        let own = table.players.iter().find(|it| it.id == "p0").unwrap();
        // A bye by which no one else is passed over is worth a point, and so is one that others are to blame for.
        assert_eq!((own.byes, own.points, worth.len()), (4, points, 4));
        let given = worth.iter().filter(|it| it.1 == Some(0)).count();
        assert_eq!(given as u32 * 2, points);
    }
}

// --- an end before the end ----------------------------------------------------------------------

#[test]
fn what_is_under_way_at_an_early_end_counts() {
    for kind in [Kind::Swiss(9), Kind::Arena(60)] {
        let mut table = with_players(kind, 4);
        table.start(PAUSE).unwrap();
        table.advance(PAUSE, &none_blocked());
        assert_eq!(table.playing.len(), 2);
        table.stop(9_000).unwrap();
        table.stop(10_000).unwrap();
        assert_eq!((table.phase, table.ends()), (Phase::Running, Some(9_000)));
        let game = table.playing[0].game.clone();
        table.count(&game, Verdict::Won(0), 9_000);
        table.advance(99_000, &none_blocked());
        assert_eq!((table.playing.len(), table.phase), (1, Phase::Running), "nobody is paired");
        assert_eq!(table.join("p0", "P0", 1500, 0).unwrap_err().code, "tournament_over");
        let game = table.playing[0].game.clone();
        table.count(&game, Verdict::Drawn, 99_000);
        table.advance(99_000, &none_blocked());
        assert_eq!((table.phase, table.ended), (Phase::Over, Some(99_000)));
        assert_eq!(table.players.iter().map(|it| it.points).sum::<u32>(), 4);
        assert_eq!(table.stop(99_000).unwrap_err().code, "tournament_over");
    }
    // Between two rounds it is over at once.
    let mut table = with_players(Kind::Swiss(9), 2);
    table.start(PAUSE).unwrap();
    table.advance(PAUSE, &none_blocked());
    let game = table.playing[0].game.clone();
    table.count(&game, Verdict::Won(1), 9_000);
    table.stop(9_001).unwrap();
    assert_eq!((table.phase, table.ended), (Phase::Over, Some(9_001)));
}

/// Makes a tournament, has all join, and starts it.
async fn running(server: &Server, tokens: &BTreeMap<String, String>, wish: Value) -> String {
    let maker = tokens.values().next().unwrap();
    let path = make(server, maker, wish).await;
    for token in tokens.values() {
        let (status, it) = server.post(&format!("{path}/join"), token, json!({})).await;
        assert_eq!(status.as_u16(), 200, "{it}");
    }
    let (status, it) = server.post(&format!("{path}/start"), maker, json!({})).await;
    assert_eq!(status.as_u16(), 200, "{it}");
    path
}

/// Nobody waits for a player whose account was closed.
#[test]
fn a_closed_account_is_not_paired() {
    let folder = Folder::new("tournament-closed");
    run(async {
        let server = Server::start(&folder, Config::default());
        tokio::spawn(run_tournaments(Arc::downgrade(&server.web.host)));
        let tokens = accounts(&server, &["ann", "ben", "cyd", "dee"]).await;
        let path = running(&server, &tokens, json!({ "clock": clock(), "rounds": 2 })).await;
        let now = wait(&server, &path, "a round", |it| boards(it).len() == 2).await;
        let told = rulemate(&["moderate", "--store", &folder.url(), "--close", "ben"]);
        assert_eq!(told.code, 0, "{}", told.err);
        // What is under way goes on: whoever plays the closed account resigns here, so that the round is over.
        for (game, players) in boards(&now) {
            let loser = players.iter().filter(|it| *it != "ben").max().unwrap();
            let resign = format!("/api/v1/games/{game}/resign");
            let (status, it) = server.post(&resign, &tokens[loser], json!({})).await;
            assert_eq!(status.as_u16(), 200, "{it}");
        }
        let is_next = |it: &Value| it["round"] == 2 && !boards(it).is_empty();
        let now = wait(&server, &path, "the second round", is_next).await;
        assert_eq!(boards(&now).len(), 1, "{now}");
        assert!(boards(&now).iter().all(|it| !it.1.contains(&"ben".to_owned())), "{now}");
        let is_ben = |it: &&Value| it["id"] == "ben";
        let ben = now["standings"].as_array().unwrap().iter().find(is_ben).unwrap();
        assert_eq!(ben["away"], true);
        server.stop();
    });
}

/// Its maker ends a tournament, or the operator of the server does, while the server runs.
#[test]
fn a_tournament_is_ended_early() {
    let folder = Folder::new("tournament-end");
    run(async {
        let server = Server::start(&folder, Config::default());
        tokio::spawn(run_tournaments(Arc::downgrade(&server.web.host)));
        let tokens = accounts(&server, &["ann", "ben", "cyd", "dee"]).await;
        let (ann, ben) = (&tokens["ann"], &tokens["ben"]);
        let open = make(&server, ann, json!({ "clock": clock(), "rounds": 3 })).await;
        let end = |path: &str| format!("{path}/end");
        refused(&server.post(&end(&open), ann, json!({})).await, 409, "tournament_open");
        let path = running(&server, &tokens, json!({ "clock": clock(), "rounds": 9 })).await;
        refused(&server.post(&end(&path), ben, json!({})).await, 403, "not_yours");
        refused(&server.post(&end(&path), "", json!({})).await, 401, "token_missing");
        let (status, it) = server.post(&end(&path), ann, json!({})).await;
        assert_eq!((status.as_u16(), &it["state"]), (200, &json!("running")), "{it}");
        let it = wait(&server, &path, "its games", |it| boards(it).len() == 2).await;
        assert!(it["ends"].as_u64() <= it["now"].as_u64(), "{it}");
        play_round(&server, &tokens, &it).await;
        let over = wait(&server, &path, "the end", |it| it["state"] == "over").await;
        assert_eq!((&over["round"], &over["winner"]), (&json!(1), &json!("ann")));
        assert_eq!(places(&over).iter().map(|it| it.1).sum::<f64>(), 2.0);
        refused(&server.post(&end(&path), ann, json!({})).await, 409, "tournament_over");

        // The operator ends any.
        let arena = running(&server, &tokens, json!({ "clock": clock(), "minutes": 60 })).await;
        let moderate = |path: &str| {
            let id = path.rsplit('/').next().unwrap();
            rulemate(&["moderate", "--json", "--store", &folder.url(), "--end", id])
        };
        for path in [&arena, &open] {
            let told = moderate(path);
            assert_eq!(told.code, 0, "{}", told.err);
            let told: Value = serde_json::from_str(&told.out).unwrap();
            assert_eq!(told["ended"][0], *path.rsplit('/').next().unwrap());
        }
        for over in [&path, &arena] {
            let told = moderate(over);
            assert!(
                told.code != 0 && told.err.contains("that is not over or ending"),
                "{}",
                told.err
            );
        }
        assert_eq!(server.get(&open).await.1["state"], "over");
        let now = wait(&server, &arena, "its games", |it| boards(it).len() == 2).await;
        assert_eq!(now["state"], "running");
        refused(
            &server.post(&format!("{arena}/join"), ann, json!({})).await,
            409,
            "tournament_over",
        );
        play_round(&server, &tokens, &now).await;
        let over = wait(&server, &arena, "the end", |it| it["state"] == "over").await;
        assert_eq!(places(&over).iter().map(|it| it.1).sum::<f64>(), 4.0);
        server.stop();
    });
    let mut store = rulemate::internals::server::store::open(&folder.url()).unwrap();
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
    assert!(store.records("tournaments of ", "", 9).unwrap().is_empty());
}

// --- games that cannot be read ------------------------------------------------------------------

/// Three games are damaged while the server is down: the log of one under way and of one that is over, and what
/// lists say of a third. The Swiss goes on without them, and says so.
#[test]
fn a_swiss_goes_on_without_a_game_that_cannot_be_read() {
    let folder = Folder::new("tournament-damage");
    let config = || Config { first_turn: Duration::from_secs(1), ..Config::default() };
    let (mut path, mut tokens, mut first) = (String::new(), BTreeMap::new(), Value::Null);
    run(async {
        let server = Server::start(&folder, Config::default());
        tokens = accounts(&server, &["ann", "ben", "cyd", "dee", "eva", "flo"]).await;
        path = running(&server, &tokens, json!({ "clock": clock(), "rounds": 2 })).await;
        first = server.get(&path).await.1;
        let resign = format!("/api/v1/games/{}/resign", boards(&first)[1].0);
        server.post(&resign, &tokens[&boards(&first)[1].1[0]], json!({})).await;
        server.stop();
    });
    let games: Vec<String> = boards(&first).into_iter().map(|it| it.0).collect();
    assert_eq!(games.len(), 3);
    let file = rusqlite::Connection::open(folder.0.join("games.db")).unwrap();
    for game in &games[..2] {
        let done =
            file.execute("UPDATE events SET payload = '{' WHERE game = ?1 AND seq = 1", [game]);
        assert_eq!(done, Ok(1));
    }
    let done = file.execute("UPDATE games SET summary = '{' WHERE id = ?1", [&games[2]]);
    assert_eq!(done, Ok(1));
    drop(file);
    run(async {
        let server = Server::start(&folder, config());
        tokio::spawn(run_tournaments(Arc::downgrade(&server.web.host)));
        let second =
            wait(&server, &path, "a second round", |it| it["round"] == 2 && boards(it).len() == 3)
                .await;
        assert!(places(&second).iter().all(|it| it.1 == 0.5), "{second}");
        let (_, played) = server.get(&format!("{path}/games")).await;
        let told: BTreeSet<String> = played
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| {
                it["unreadable"] == true && it["winner"].is_null() && it["forfeit"] == false
            })
            .map(|it| text(&it["game"]))
            .collect();
        assert_eq!(told, games.into_iter().collect(), "{played}");
        server.stop();
    });
}

// --- players who do not come --------------------------------------------------------------------

fn is_away(tournament: &Value, who: &str) -> bool {
    let all = tournament["standings"].as_array().unwrap();
    all.iter().any(|it| it["id"] == who && it["away"] == true)
}

fn seated(tournament: &Value) -> BTreeSet<String> {
    boards(tournament).into_iter().flat_map(|it| it.1).collect()
}

/// Who does not come loses the game and is left out, of a Swiss and of an arena, until he says that he is back.
#[test]
fn players_who_do_not_come_are_left_out_until_they_are_back() {
    let config = Config { first_turn: Duration::from_secs(5), ..Config::default() };
    let folder = Folder::new("no-show");
    run(async {
        let server = Server::start(&folder, config);
        tokio::spawn(run_tournaments(Arc::downgrade(&server.web.host)));
        let tokens = accounts(&server, &["ann", "ben", "cyd", "dee"]).await;
        let clock = json!({ "initial": 5_000, "increment": 60_000 });
        let swiss = json!({ "clock": clock, "rounds": 3, "rated": true });
        let path = running(&server, &tokens, swiss).await;

        // The side that begins does not come.
        let first = wait(&server, &path, "a first round", |it| boards(it).len() == 2).await;
        let (missed, [absent, other]) = boards(&first).remove(0);
        let mut rest = first.clone();
        rest["playing"].as_array_mut().unwrap().remove(0);
        play_round(&server, &tokens, &rest).await;
        let is_paired =
            |round: u32| move |it: &Value| it["round"] == round && !boards(it).is_empty();
        let second = wait(&server, &path, "a second round", is_paired(2)).await;
        assert!(is_away(&second, &absent) && !seated(&second).contains(&absent), "{second}");
        assert_eq!(boards(&second).len(), 1, "of three, one has no opponent");
        let (_, game) = server.get(&format!("/api/v1/games/{missed}")).await;
        assert_eq!(
            (&game["result"]["outcome"], &game["ply"]),
            (&json!("none"), &json!(0)),
            "{game}"
        );
        let (_, played) = server.get(&format!("{path}/games")).await;
        let lost = played.as_array().unwrap().iter().find(|it| it["game"] == missed.as_str());
        let lost = lost.unwrap_or_else(|| panic!("{played}"));
        assert_eq!((&lost["forfeit"], &lost["winner"]), (&json!(true), &json!(1)));
        let points =
            |it: &Value, who: &str| places(it).into_iter().find(|it| it.0 == who).unwrap().1;
        assert_eq!((points(&second, &absent), points(&second, &other) >= 1.0), (0.0, true));

        // He says that he is back; now the second side does not come, and its clock runs out.
        let (status, it) = server.post(&format!("{path}/join"), &tokens[&absent], json!({})).await;
        assert_eq!(status.as_u16(), 200, "{it}");
        assert!(!is_away(&it, &absent));
        let (late, [here, gone]) = boards(&second).remove(0);
        assert_eq!(server.play(&late, &tokens[&here], "e2e4").await.0.as_u16(), 200);
        let third = wait(&server, &path, "a third round", is_paired(3)).await;
        assert!(is_away(&third, &gone) && !seated(&third).contains(&gone), "{third}");
        assert!(seated(&third).contains(&absent) || points(&third, &absent) == 1.0, "{third}");
        play_round(&server, &tokens, &third).await;
        wait(&server, &path, "the end", |it| it["state"] == "over").await;

        // An arena goes on without who does not come.
        let path = running(&server, &tokens, json!({ "clock": clock, "minutes": 60 })).await;
        let first = wait(&server, &path, "games", |it| boards(it).len() == 2).await;
        let (missed, [absent, other]) = boards(&first).remove(0);
        for (game, [white, _]) in boards(&first).into_iter().skip(1) {
            assert_eq!(server.play(&game, &tokens[&white], "e2e4").await.0.as_u16(), 200);
            let resign = format!("/api/v1/games/{game}/resign");
            assert_eq!(server.post(&resign, &tokens[&white], json!({})).await.0.as_u16(), 200);
        }
        let now =
            wait(&server, &path, "a game that is called off", |it| is_away(it, &absent)).await;
        assert_eq!((points(&now, &absent), points(&now, &other) >= 2.0), (0.0, true));
        let again = wait(&server, &path, "another game", |it| seated(it).contains(&other)).await;
        assert!(boards(&again).iter().all(|it| it.0 != missed));
        assert!(!seated(&again).contains(&absent), "{again}");
        server.post(&format!("{path}/join"), &tokens[&absent], json!({})).await;
        for (game, players) in boards(&again) {
            let resign = format!("/api/v1/games/{game}/resign");
            server.post(&resign, &tokens[&players[0]], json!({})).await;
        }
        wait(&server, &path, "he plays again", |it| seated(it).contains(&absent)).await;
        refused(&ask(&server, "DELETE", &path, &tokens["ann"]).await, 409, "tournament_began");
        server.stop();
    });
    // What was called off changes no rating: of the Swiss, the games that were played do.
    let mut store = rulemate::internals::server::store::open(&folder.url()).unwrap();
    let unrated = store.records("unrated ", "", 99).unwrap();
    assert!(!unrated.is_empty());
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
}
