//! Tournaments: who is paired with whom, what time and results do to the table; and whole tournaments by requests, on
//! servers that stop and share a store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use rulemate::internals::server::core::Control;
use rulemate::internals::server::store::open;
use rulemate::internals::server::tournament::pairs::{Contender, PATIENCE, Paired, arena, swiss};
use rulemate::internals::server::tournament::table::{
    Blocks, Counted, Kind, OPEN, PAUSE, PLAYERS, Phase, Table, Terms, Verdict,
};
use rulemate::internals::server::{Config, run_tournaments};
use serde_json::{Value, json};

use super::accounts::{account, ask, refused};
use super::api::{Server, hosted, run};
use super::kill::{Process, Wire};
use super::store::{Folder, test_database};

// --- who is paired ------------------------------------------------------------------------------

pub(super) fn none_blocked() -> Blocks {
    Blocks::new()
}

fn contender(who: usize) -> Contender {
    Contender { who, ..Contender::default() }
}

/// Players of whom some have met already.
pub(super) fn contenders(most: usize) -> impl Strategy<Value = Vec<Contender>> {
    let one = (0_u32..6, 1200_i32..1800, -2_i32..=2, any::<Option<bool>>(), 0_u32..2, 0_u64..60);
    let all = prop::collection::vec(one, 0..=most);
    let met = prop::collection::btree_set((0..most, 0..most), 0..=most * most / 4);
    (all, met).prop_map(|(all, met)| {
        let mut all: Vec<Contender> = all
            .into_iter()
            .enumerate()
            .map(|(who, (points, seed, balance, had_first, byes, waited))| {
                let waited = waited * 1_000;
                let met = Vec::new();
                Contender {
                    who,
                    points,
                    seed,
                    balance,
                    had_first,
                    byes,
                    met,
                    blocked: Vec::new(),
                    waited,
                }
            })
            .collect();
        for (one, other) in met {
            if one < other && other < all.len() {
                all[one].met.push(other);
                all[other].met.push(one);
            }
        }
        all
    })
}

/// Everybody is there exactly once.
fn is_whole(drawn: &Paired, count: usize) {
    let mut found: Vec<usize> = drawn.pairs.iter().flatten().copied().collect();
    found.extend(&drawn.left);
    found.sort_unstable();
    assert_eq!(found, (0..count).collect::<Vec<_>>(), "{drawn:?}");
}

fn repeats(all: &[Contender], pairs: &[[usize; 2]]) -> usize {
    pairs.iter().filter(|[one, other]| all[*one].met.contains(other)).count()
}

/// The fewest repeats of any way to pair those who are left over in `open`, one of whom may stay out.
fn fewest(all: &[Contender], open: &[usize], out: &[usize]) -> usize {
    let Some((&one, rest)) = open.split_first() else { return 0 };
    let without = |it: usize| rest.iter().copied().filter(|&o| o != it).collect::<Vec<_>>();
    let pairs = rest.iter().map(|&other| {
        usize::from(all[one].met.contains(&other)) + fewest(all, &without(other), out)
    });
    let alone = (open.len() % 2 == 1 && out.contains(&one)).then(|| fewest(all, rest, &[]));
    pairs.chain(alone).min().unwrap_or(usize::MAX / 2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// As few meet again as can be, by trying all pairings; the one who is left has had the fewest byes.
    #[test]
    fn no_two_players_meet_again_while_another_pairing_exists(all in contenders(7)) {
        let drawn = swiss(all.clone());
        is_whole(&drawn, all.len());
        prop_assert_eq!(drawn.left.len(), all.len() % 2);
        let least = all.iter().map(|it| it.byes).min().unwrap_or_default();
        prop_assert!(drawn.left.iter().all(|&it| all[it].byes == least));
        let open: Vec<usize> = (0..all.len()).collect();
        let out: Vec<usize> = open.iter().copied().filter(|&it| all[it].byes == least).collect();
        prop_assert_eq!(repeats(&all, &drawn.pairs), fewest(&all, &open, &out));
        prop_assert_eq!(swiss(all), drawn, "the same players are paired alike");
    }

    /// In an arena nobody meets the last opponent at once while others play; and of those who can be paired, none wait.
    #[test]
    fn an_arena_pairs_all_players_that_it_can(all in contenders(20), others: bool) {
        let drawn = arena(all.clone(), others);
        is_whole(&drawn, all.len());
        let allowed = |one: usize, other: usize| {
            let waited = all[one].waited.min(all[other].waited);
            !others || waited >= PATIENCE || !all[one].met.contains(&other)
        };
        for [one, other] in &drawn.pairs {
            prop_assert!(allowed(*one, *other));
        }
        for (at, &one) in drawn.left.iter().enumerate() {
            prop_assert!(drawn.left[at + 1..].iter().all(|&other| !allowed(one, other)));
        }
        if !others {
            prop_assert_eq!(drawn.left.len(), all.len() % 2);
        }
    }
}

#[test]
fn the_upper_half_meets_the_lower_and_points_meet_points() {
    let seeded =
        |who: usize, points: u32| Contender { seed: -(who as i32), points, ..contender(who) };
    let unordered = |drawn: Paired| -> BTreeSet<[usize; 2]> {
        drawn.pairs.into_iter().map(|[a, b]| [a.min(b), a.max(b)]).collect()
    };
    let first = swiss((0..6).map(|it| seeded(it, 0)).collect());
    let sides: BTreeSet<bool> = first.pairs.iter().map(|[a, b]| a < b).collect();
    assert_eq!(sides.len(), 2, "sides alternate from board to board");
    assert_eq!(unordered(first), BTreeSet::from([[0, 3], [1, 4], [2, 5]]));
    let second = swiss((0..4).map(|it| seeded(it, [0, 2, 0, 2][it])).collect());
    assert_eq!(unordered(second), BTreeSet::from([[0, 2], [1, 3]]));
    let odd = swiss((0..5).map(|it| seeded(it, [0, 2, 2, 2, 2][it])).collect());
    assert_eq!(odd.left, [0], "the one with the fewest points has the bye");
    assert_eq!(swiss(Vec::new()), Paired::default());
    assert_eq!(swiss(vec![contender(0)]).left, [0]);
}

#[test]
fn players_who_have_waited_are_paired_first() {
    let free = |who: usize, waited: u64| Contender { waited, ..contender(who) };
    assert_eq!(arena(vec![free(0, 0), free(1, 9_000), free(2, 6_000)], true).left, [0]);
    // Minutes count as seconds do, whatever the points.
    let last = Contender { points: 9, ..free(0, 200_000) };
    assert_eq!(arena(vec![free(1, 140_000), free(2, 150_000), last], true).left, [1]);
}

// --- the table ----------------------------------------------------------------------------------

fn table(kind: Kind, starts: Option<u64>) -> Table {
    let terms = Terms {
        title: "A test".into(),
        by: "ann".into(),
        game: "chess".into(),
        presets: Vec::new(),
        fen: None,
        rules: "x".into(),
        clock: Control { initial: 60_000, increment: 0, delay: 0 },
        rated: false,
        kind,
        starts,
    };
    Table::new(terms, "a seed".into(), 0)
}

pub(super) fn with_players(kind: Kind, count: usize) -> Table {
    let mut table = table(kind, None);
    for at in 0..count {
        table.join(&format!("p{at}"), &format!("P{at}"), 1500, 0).unwrap();
    }
    table
}

fn verdict(number: u8) -> Verdict {
    match number % 3 {
        0 => Verdict::Won(0),
        1 => Verdict::Won(1),
        _ => Verdict::Drawn,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A whole Swiss comes to its end, whatever its results; totals are right, nobody meets twice or has two byes
    /// where there are enough players for that, and sides are even.
    #[test]
    fn a_swiss_comes_to_its_end(count in 3_usize..=40, rounds in 1_u32..=9, results in prop::collection::vec(any::<u8>(), 200)) {
        let rounds = rounds.min(count as u32 / 2);
        let mut table = with_players(Kind::Swiss(rounds), count);
        let mut news = Vec::new();
        let mut now = 1_000;
        table.start(now).unwrap();
        while table.phase == Phase::Running {
            news.extend(table.advance(now, &none_blocked()));
            let seated: Vec<usize> = table.playing.iter().flat_map(|it| it.players).collect();
            prop_assert_eq!(seated.iter().collect::<BTreeSet<_>>().len(), seated.len());
            for pairing in table.playing.clone() {
                let result = results[pairing.number as usize % results.len()];
                news.extend(table.count(&pairing.game, verdict(result), now));
                prop_assert!(table.count(&pairing.game, Verdict::Drawn, now).is_empty(), "counted once");
            }
            now += PAUSE;
        }
        prop_assert_eq!(table.round, rounds);
        prop_assert_eq!(table.players.iter().map(|it| it.points).sum::<u32>(), 2 * rounds * count.div_ceil(2) as u32);
        let games: BTreeSet<u32> = news.iter().map(|it| it.number).collect();
        prop_assert_eq!(games.len(), rounds as usize * count.div_ceil(2));
        let mut met = BTreeSet::new();
        let mut sides: BTreeMap<&str, i32> = BTreeMap::new();
        for it in news.iter().filter(|it| it.game.is_some()) {
            let mut pair = it.players.clone();
            pair.sort();
            prop_assert!(met.insert(pair), "{:?} met twice", it.players);
            *sides.entry(&it.players[0]).or_default() += 1;
            *sides.entry(&it.players[1]).or_default() -= 1;
        }
        prop_assert!(sides.values().all(|it| it.abs() <= 2), "{sides:?}");
        for it in &table.players {
            prop_assert!(it.byes <= 1 && it.games + it.byes == rounds);
        }
        let order: Vec<u32> = table.order().iter().map(|it| it.points).collect();
        prop_assert!(order.is_sorted_by(|a, b| a >= b));
    }

    /// An arena pairs for as long as it lasts, counts what is under way at its end, and is over then.
    #[test]
    fn an_arena_comes_to_its_end(count in 2_usize..=20, results in prop::collection::vec(any::<u8>(), 100)) {
        let mut table = with_players(Kind::Arena(5), count);
        let mut news: Vec<Counted> = Vec::new();
        table.start(0).unwrap();
        let end = table.ends().unwrap();
        let mut now = 0;
        while table.phase == Phase::Running {
            let before = table.games;
            news.extend(table.advance(now, &none_blocked()));
            prop_assert!(now < end || table.games == before, "nobody is paired after the end");
            for pairing in table.playing.clone() {
                let result = results[(pairing.number as usize + now as usize) % results.len()];
                if result % 4 == 0 || now > end {
                    news.extend(table.count(&pairing.game, verdict(result / 4), now));
                }
            }
            now += 3_000;
        }
        prop_assert!(table.ended.unwrap() >= end && table.playing.is_empty());
        prop_assert_eq!(news.len(), table.games as usize, "every game counts, once");
        prop_assert_eq!(table.players.iter().map(|it| it.points).sum::<u32>(), 2 * table.games);
        prop_assert!(table.games >= count as u32 / 2);
        for it in &table.players {
            let own = news.iter().filter(|one| one.players.contains(&it.id));
            prop_assert_eq!(own.count(), it.games as usize);
        }
    }
}

#[test]
fn a_tournament_begins_when_it_should() {
    let mut nobody = table(Kind::Swiss(2), Some(5_000));
    nobody.advance(4_999, &none_blocked());
    assert_eq!(nobody.phase, Phase::Open);
    nobody.advance(5_000, &none_blocked());
    assert_eq!((nobody.phase, nobody.ended), (Phase::Over, Some(5_000)), "nobody came");

    let mut left = table(Kind::Swiss(2), None);
    assert_eq!(left.start(0).unwrap_err().code, "too_few_players");
    left.advance(OPEN - 1, &none_blocked());
    assert_eq!(left.phase, Phase::Open);
    left.advance(OPEN, &none_blocked());
    assert_eq!(left.phase, Phase::Over, "its maker forgot it");
    assert_eq!(left.join("ann", "Ann", 1500, 0).unwrap_err().code, "tournament_over");

    let mut full = with_players(Kind::Arena(1), PLAYERS);
    assert_eq!(full.join("one", "One", 1500, 0).unwrap_err().code, "tournament_full");
    full.withdraw("p5").unwrap();
    assert_eq!(full.withdraw("p5").unwrap_err().code, "not_joined");
    full.join("one", "One", 1500, 0).unwrap();
    full.start(PAUSE).unwrap();
    full.advance(PAUSE, &none_blocked());
    assert_eq!(full.playing.len(), PLAYERS / 2);
    assert_eq!(full.start(PAUSE).unwrap_err().code, "tournament_began");
}

#[test]
fn players_who_do_not_come_or_withdraw_are_not_paired() {
    let mut table = with_players(Kind::Swiss(3), 5);
    table.start(PAUSE).unwrap();
    let bye = table.advance(PAUSE, &none_blocked());
    assert_eq!((bye.len(), bye[0].game.as_ref(), bye[0].winner), (1, None, Some(0)));
    let first = table.playing[0].clone();
    let missed = table.count(&first.game, Verdict::Missed(0), 9_000).remove(0);
    assert_eq!((missed.winner, missed.forfeit), (Some(1), true));
    let second = table.playing[0].clone();
    let leaves = table.players[second.players[1]].id.clone();
    table.withdraw(&leaves).unwrap();
    assert_eq!(table.playing, std::slice::from_ref(&second), "a game under way goes on");
    table.count(&second.game, Verdict::Won(1), 9_000);
    assert!(
        table.advance(9_000, &none_blocked()).is_empty() && table.playing.is_empty(),
        "there is a pause"
    );
    table.advance(9_000 + PAUSE, &none_blocked());
    let away = [first.players[0], second.players[1]];
    let seated: Vec<usize> = table.playing.iter().flat_map(|it| it.players).collect();
    assert!(seated.len() == 2 && away.iter().all(|it| !seated.contains(it)), "{seated:?}");
    // Who comes back is paired again, with the points of before.
    table.join(&leaves, "X", 1500, 20_000).unwrap();
    assert_eq!(table.players.len(), 5);
    let game = table.playing[0].game.clone();
    table.count(&game, Verdict::Drawn, 20_000);
    table.advance(20_000 + PAUSE, &none_blocked());
    let who = second.players[1];
    assert!(
        table.playing.iter().any(|it| it.players.contains(&who)) || table.players[who].byes > 0
    );
    // With one player left it is over.
    let mut two = with_players(Kind::Swiss(3), 2);
    two.start(PAUSE).unwrap();
    two.advance(PAUSE, &none_blocked());
    let game = two.playing[0].game.clone();
    two.count(&game, Verdict::Missed(1), 6_000);
    two.advance(6_000, &none_blocked());
    assert_eq!(two.phase, Phase::Over);
}

// --- by requests --------------------------------------------------------------------------------

const CLOCK: &str = r#"{ "initial": 60000, "increment": 0 }"#;

pub(super) fn clock() -> Value {
    serde_json::from_str(CLOCK).unwrap()
}

pub(super) async fn make(server: &Server, token: &str, body: Value) -> String {
    let (status, made) = server.post("/api/v1/tournaments", token, body).await;
    assert_eq!(status.as_u16(), 201, "{made}");
    format!("/api/v1/tournaments/{}", made["id"].as_str().unwrap())
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Asks for a tournament until something holds of it.
pub(super) async fn wait(
    server: &Server,
    path: &str,
    what: &str,
    holds: impl Fn(&Value) -> bool,
) -> Value {
    for _ in 0..600 {
        let (_, it) = server.get(path).await;
        if holds(&it) {
            return it;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what}: {}", server.get(path).await.1);
}

/// Who plays each side of each game under way.
pub(super) fn boards(tournament: &Value) -> Vec<(String, [String; 2])> {
    let all = tournament["playing"].as_array().unwrap().iter();
    all.map(|it| (text(&it["game"]), [text(&it["players"][0]), text(&it["players"][1])])).collect()
}

/// The first of the two in the alphabet wins.
pub(super) async fn play_round(
    server: &Server,
    tokens: &BTreeMap<String, String>,
    tournament: &Value,
) {
    for (game, players) in boards(tournament) {
        let loser = players.iter().max().unwrap();
        for (side, uci) in ["e2e4", "e7e5"].iter().enumerate() {
            let (status, it) = server.play(&game, &tokens[&players[side]], uci).await;
            assert_eq!(status.as_u16(), 200, "{it}");
        }
        let resign = format!("/api/v1/games/{game}/resign");
        assert_eq!(server.post(&resign, &tokens[loser], json!({})).await.0.as_u16(), 200);
    }
}

pub(super) async fn accounts(server: &Server, names: &[&str]) -> BTreeMap<String, String> {
    let mut tokens = BTreeMap::new();
    for name in names {
        tokens.insert((*name).to_owned(), account(server, name).await.0);
    }
    tokens
}

pub(super) fn places(tournament: &Value) -> Vec<(String, f64, f64)> {
    let all = tournament["standings"].as_array().unwrap().iter();
    let number = |it: &Value| it.as_f64().unwrap();
    all.map(|it| (text(&it["id"]), number(&it["points"]), number(&it["tie_break"]))).collect()
}

/// A Swiss of five, on a server that stops after the first round was paired and comes back.
#[test]
fn a_swiss_is_played_by_requests() {
    let folder = Folder::new("swiss");
    let (mut path, mut tokens) = (String::new(), BTreeMap::new());
    let mut first = Value::Null;
    run(async {
        let server = Server::start(&folder, Config::default());
        tokens = accounts(&server, &["ann", "ben", "cyd", "dee", "eva"]).await;
        let wish =
            json!({ "title": "Club \u{7}evening", "clock": clock(), "rounds": 2, "rated": true });
        path = make(&server, &tokens["ann"], wish).await;
        for (name, token) in &tokens {
            let join = format!("{path}/join");
            let (status, it) = server.post(&join, token, json!({})).await;
            assert_eq!(status.as_u16(), 200, "{it}");
            assert!(it["standings"].as_array().unwrap().iter().any(|it| it["id"] == name.as_str()));
        }
        let start = format!("{path}/start");
        refused(&server.post(&start, &tokens["ben"], json!({})).await, 403, "not_yours");
        let (status, it) = server.post(&start, &tokens["ann"], json!({})).await;
        assert_eq!((status.as_u16(), &it["state"]), (200, &json!("running")), "{it}");
        assert_eq!((&it["title"], boards(&it).len()), (&json!("Club evening"), 2));
        refused(&server.post(&start, &tokens["ann"], json!({})).await, 409, "tournament_began");
        first = it;
        let (_, state) = server.get(&format!("/api/v1/games/{}", boards(&first)[0].0)).await;
        assert_eq!((&state["rated"], &state["tournament"]), (&json!(true), &first["id"]));
        assert_eq!(state["accounts"], json!(boards(&first)[0].1));
        let back = format!("/api/v1/games/{}/takeback", boards(&first)[0].0);
        server.play(&boards(&first)[0].0, &tokens[&boards(&first)[0].1[0]], "d2d4").await;
        let asked = server.post(&back, &tokens[&boards(&first)[0].1[0]], json!({})).await;
        refused(&asked, 409, "rated_stays");
        server.stop();
    });
    run(async {
        let server = Server::start(&folder, Config::default());
        tokio::spawn(run_tournaments(Arc::downgrade(&server.web.host)));
        let (_, again) = server.get(&path).await;
        assert_eq!(boards(&again), boards(&first), "as it was");
        for (at, (game, players)) in boards(&first).into_iter().enumerate() {
            let loser = players.iter().max().unwrap();
            if at > 0 {
                server.play(&game, &tokens[&players[0]], "e2e4").await;
            }
            server.play(&game, &tokens[&players[1]], "e7e5").await;
            let resign = format!("/api/v1/games/{game}/resign");
            assert_eq!(server.post(&resign, &tokens[loser], json!({})).await.0.as_u16(), 200);
        }
        let is_paired = |it: &Value| it["round"] == 2 && boards(it).len() == 2;
        let second = wait(&server, &path, "a second round", is_paired).await;
        let games = |it: &Value| boards(it).into_iter().map(|it| it.0).collect::<BTreeSet<_>>();
        assert!(games(&first).is_disjoint(&games(&second)));
        play_round(&server, &tokens, &second).await;
        let over = wait(&server, &path, "the end", |it| it["state"] == "over").await;
        let places = places(&over);
        let total: f64 = places.iter().map(|it| it.1).sum();
        assert_eq!((total, &over["winner"]), (6.0, &json!("ann")), "{places:?}");
        let (_, played) = server.get(&format!("{path}/games")).await;
        let played = played.as_array().unwrap();
        assert_eq!(played.len(), 6);
        let of = |round: u32| played.iter().filter(move |it| it["round"] == round).count();
        assert_eq!((of(1), of(2)), (3, 3));
        let (_, last) = server.get(&format!("{path}/games?from=4&limit=1")).await;
        assert_eq!(last, json!([played[4]]));
        // An empty page would be the last one.
        let (_, first) = server.get(&format!("{path}/games?limit=0")).await;
        assert_eq!(first, json!([played[0]]));
        for it in played.iter().filter(|it| it["game"].is_string()) {
            let winner = it["winner"].as_u64().unwrap() as usize;
            let best = it["players"].as_array().unwrap().iter().map(text).min();
            assert_eq!(Some(text(&it["players"][winner])), best, "{it}");
        }
        let (_, list) = server.get("/api/v1/tournaments").await;
        assert_eq!((list.as_array().unwrap().len(), &list[0]["winner"]), (1, &json!("ann")));
        for (act, code) in [("join", "tournament_over"), ("withdraw", "tournament_over")] {
            let answer = server.post(&format!("{path}/{act}"), &tokens["ann"], json!({})).await;
            refused(&answer, 409, code);
        }
        server.stop();
    });
    let mut store = open(&folder.url()).unwrap();
    assert_eq!(store.check().unwrap().faults, Vec::<String>::new());
    assert!(store.records("tournaments of ", "", 9).unwrap().is_empty());
    // The ratings of its games are settled as those of others.
    assert_eq!(store.records("unrated ", "", 9).unwrap().len(), 4);
}

/// An arena goes on pairing; a game that is called off is lost, and who did so is not paired any more.
#[test]
fn an_arena_pairs_again_and_again() {
    hosted("arena", Config::default(), async |server| {
        tokio::spawn(run_tournaments(Arc::downgrade(&server.web.host)));
        let tokens = accounts(server, &["ann", "ben", "cyd"]).await;
        let wish = json!({ "game": "knightmate", "clock": clock(), "minutes": 60 });
        let path = make(server, &tokens["ann"], wish).await;
        for token in tokens.values() {
            server.post(&format!("{path}/join"), token, json!({})).await;
        }
        let (_, it) = server.post(&format!("{path}/start"), &tokens["ann"], json!({})).await;
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut last: Option<BTreeSet<String>> = None;
        assert_eq!(it["title"], "Arena: Knightmate");
        for _ in 0..3 {
            let is_new = |it: &Value| boards(it).iter().any(|it| !seen.contains(&it.0));
            let now = wait(server, &path, "another game", is_new).await;
            let pair = BTreeSet::from(boards(&now)[0].1.clone());
            assert_ne!(last.as_ref(), Some(&pair), "not the same two in a row");
            seen.extend(boards(&now).into_iter().map(|it| it.0));
            for (game, players) in boards(&now) {
                let resign = format!("/api/v1/games/{game}/resign");
                let loser = players.iter().max().unwrap();
                server.post(&resign, &tokens[loser], json!({})).await;
            }
            last = Some(pair);
        }
        let is_new = |it: &Value| boards(it).iter().any(|it| !seen.contains(&it.0));
        let now = wait(server, &path, "another game", is_new).await;
        let (game, players) = boards(&now).remove(0);
        let abort = format!("/api/v1/games/{game}/abort");
        server.post(&abort, &tokens[&players[1]], json!({})).await;
        let gone = |it: &Value| {
            let all = it["standings"].as_array().unwrap();
            all.iter().any(|it| it["id"] == players[1].as_str() && it["away"] == true)
        };
        let now = wait(server, &path, "a game that is called off", gone).await;
        let points: f64 = places(&now).iter().map(|it| it.1).sum();
        let games = now["standings"].as_array().unwrap().iter().map(|it| &it["games"]);
        assert_eq!(points, games.map(|it| it.as_f64().unwrap()).sum::<f64>());
        let (_, played) = server.get(&format!("{path}/games")).await;
        let last = played.as_array().unwrap().last().unwrap();
        assert_eq!((&last["forfeit"], &last["winner"]), (&json!(true), &json!(0)));
    });
}

#[test]
fn what_is_wrong_with_a_tournament_is_said() {
    hosted("tournaments", Config::default(), async |server| {
        let tokens = accounts(server, &["ann", "ben"]).await;
        let (ann, ben) = (&tokens["ann"], &tokens["ben"]);
        let right = json!({ "clock": clock(), "rounds": 3 });
        let now = server.web.host.now();
        for (name, value, status, code) in [
            ("clock", json!({ "initial": 1_000 }), 422, "bad_clock"),
            ("clock", json!({ "initial": 60_000, "increment": 999_999 }), 422, "bad_clock"),
            ("clock", json!({ "initial": 99_999_999 }), 422, "bad_clock"),
            ("rounds", json!(0), 422, "bad_length"),
            ("rounds", json!(21), 422, "bad_length"),
            ("rounds", Value::Null, 422, "bad_length"),
            ("minutes", json!(5), 422, "bad_length"),
            ("starts", json!(now - 1_000), 422, "bad_start"),
            ("starts", json!(now + 31 * 24 * 60 * 60 * 1_000), 422, "bad_start"),
            ("title", json!("x".repeat(61)), 400, "too_long"),
            ("game", json!("nosuchgame"), 422, "no_such_game_name"),
            ("presets", json!(["nosuchpreset"]), 422, "bad_preset"),
            ("nonsense", json!(1), 400, "malformed_json"),
            ("clock", Value::Null, 400, "malformed_json"),
        ] {
            let mut wish = right.clone();
            wish[name] = value.clone();
            let answer = server.post("/api/v1/tournaments", ann, wish).await;
            refused(&answer, status, code);
        }
        assert_eq!(server.get("/api/v1/tournaments").await.1, json!([]), "nothing has changed");
        let path = make(server, ann, right.clone()).await;
        refused(
            &server.post(&format!("{path}/start"), ann, json!({})).await,
            409,
            "too_few_players",
        );
        refused(&server.post(&format!("{path}/withdraw"), ben, json!({})).await, 409, "not_joined");
        refused(&ask(server, "DELETE", &path, ben).await, 403, "not_yours");
        for _ in 1..3 {
            make(server, ann, right.clone()).await;
        }
        let more = server.post("/api/v1/tournaments", ann, right.clone()).await;
        refused(&more, 409, "too_many_tournaments");
        let told = more.1["message"].as_str().unwrap_or_default();
        assert!(told.contains("3 of yours are not over"), "{told}");
        assert_eq!(ask(server, "DELETE", &path, ann).await.0.as_u16(), 200);
        refused(&server.get(&path).await, 404, "no_such_tournament");
        refused(&server.get(&format!("{path}/games")).await, 404, "no_such_tournament");
        make(server, ann, right).await;
    });
}

/// Two nodes look after the same tournaments, and one is killed as a round is paired: every round is paired once, and
/// every result counts once.
#[test]
#[ignore = "needs PostgreSQL: RULEMATE_TEST_POSTGRES"]
fn a_tournament_goes_on_at_another_node() {
    let url = test_database("tournament");
    let (mut one, two) = (Process::start(&url, &[]), Process::start(&url, &[]));
    let ask = |node: &str, method: &str, path: &str, token: &str, body: &Value| {
        let bearer = format!("authorization: Bearer {token}\r\n");
        let headers = if token.is_empty() { "" } else { &bearer };
        let answer = Wire::to(node).unwrap().ask_with(method, path, headers, &body.to_string());
        answer.unwrap()
    };
    let mut tokens = BTreeMap::new();
    for at in 0..8 {
        let name = format!("player{at}");
        // Five accounts from one address at a time: this machine's own are not counted.
        let (_, made) = ask(&two.address, "POST", "/api/v1/accounts", "", &json!({ "name": name }));
        tokens.insert(name, text(&made["token"]));
    }
    let wish = json!({ "clock": clock(), "rounds": 3 });
    let maker = &tokens["player0"];
    let (status, made) = ask(&one.address, "POST", "/api/v1/tournaments", maker, &wish);
    assert_eq!(status, 201, "{made}");
    let path = format!("/api/v1/tournaments/{}", text(&made["id"]));
    let joined = thread::scope(|scope| {
        let join = |(at, token): (usize, &String)| {
            let node = if at % 2 == 0 { &one.address } else { &two.address };
            let (path, token) = (format!("{path}/join"), token.clone());
            scope.spawn(move || ask(node, "POST", &path, &token, &json!({})).0)
        };
        let all: Vec<_> = tokens.values().enumerate().map(join).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(joined, [200; 8]);
    let mut wire = Wire::to(&one.address).unwrap();
    let headers = format!("authorization: Bearer {maker}\r\n");
    let start = format!("{path}/start");
    let asked = start.clone();
    let starting = thread::spawn(move || wire.ask_with("POST", &asked, &headers, "{}").is_some());
    thread::sleep(Duration::from_millis(20));
    one.kill();
    starting.join().unwrap();
    // If that was too soon, it begins here.
    ask(&two.address, "POST", &start, maker, &json!({}));
    let look = |path: &str, holds: &dyn Fn(&Value) -> bool| {
        for _ in 0..600 {
            let (_, it) = ask(&two.address, "GET", path, "", &Value::Null);
            if holds(&it) {
                return it;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{path}: {}", ask(&two.address, "GET", path, "", &Value::Null).1);
    };
    for round in 1..=3 {
        let now = look(&path, &|it| it["round"] == round && boards(it).len() == 4);
        for (game, players) in boards(&now) {
            let game = format!("/api/v1/games/{game}");
            look(&game, &|it| it["status"] == "playing");
            let loser = &tokens[players.iter().max().unwrap()];
            let (status, it) =
                ask(&two.address, "POST", &format!("{game}/resign"), loser, &json!({}));
            assert_eq!(status, 200, "{it}");
        }
    }
    let over = look(&path, &|it| it["state"] == "over");
    assert_eq!(places(&over)[0].1, 3.0, "{over}");
    assert_eq!(places(&over).iter().map(|it| it.1).sum::<f64>(), 12.0);
    let played = look(&format!("{path}/games"), &|it| it.is_array());
    assert_eq!(played.as_array().unwrap().len(), 12);
    drop(two);
    assert_eq!(open(&url).unwrap().check().unwrap().faults, Vec::<String>::new());
}
