//! Games: how they end, what a refused move changes (nothing), what takeback restores (all).

use std::collections::BTreeSet;

use rulemate::internals::derive::Backend;
use rulemate::internals::facts::{Change, Document, SavedOwner, Snapshot};
use rulemate::internals::game::{EndError, Game, PlayError};
use rulemate::internals::moves::Move;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Source;

fn start(text: &str, fen: Option<&str>) -> Game {
    let mut words = text.split_whitespace();
    let name = words.next().expect("a game");
    let extra: Vec<&str> = words.collect();
    let catalogue = Catalogue::embedded().expect("our own metadata");
    let ruleset = catalogue.load(name, &extra).expect(text);
    ruleset.start(fen).expect(text)
}

fn ended(game: &Game) -> String {
    game.result().map_or_else(|| "-".into(), ToString::to_string)
}

/// A line of moves, `xN` in front: N times.
fn play_line(game: &mut Game, line: &str) {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let mut times = 1;
    if let Some(count) = words[0].strip_prefix('x') {
        times = count.parse().expect("a number after x");
        words.remove(0);
    }
    for text in words.repeat(times) {
        game.play_text(text).unwrap_or_else(|error| panic!("{text} of {line}: {error}"));
    }
}

/// Plays a block of `golden/results.txt`.
fn check_ending(block: &str) {
    let of = |key: &str| {
        let lines = block.lines().filter_map(move |it| it.split_once(' ').filter(|it| it.0 == key));
        lines.map(|it| it.1.trim()).collect::<Vec<_>>()
    };
    let name = of("name")[0];
    let mut game = start(of("game")[0], of("fen").first().copied());
    assert_eq!(ended(&game), "-", "{name}: at the start");
    for line in of("moves") {
        play_line(&mut game, line);
    }
    assert_eq!(ended(&game), of("result")[0], "{name}: {}", game.fen());
    assert_eq!(game.claims().join(" "), of("claims").concat(), "{name}");
    assert_eq!(game.legal_moves().is_empty(), game.result().is_some(), "{name}");
}

#[test]
fn golden_endings() {
    let text = include_str!("../data/golden/results.txt");
    let blocks: Vec<&str> = text.split("\n\n").filter(|it| it.starts_with("name ")).collect();
    for block in &blocks {
        check_ending(block);
    }
    assert!(blocks.len() > 20);
}

#[test]
fn dead_positions_by_material() {
    for line in
        include_str!("../data/golden/material.txt").lines().filter(|it| !it.starts_with('#'))
    {
        let (judgement, fen) = line.split_once(' ').expect("a word and a position");
        let game = start("chess", Some(fen.trim()));
        let wanted = if judgement == "dead" { "draw by insufficient material" } else { "-" };
        assert_eq!(ended(&game), wanted, "{fen}");
    }
    // A griffon beside the king can mate; all else is as in chess.
    for (fen, wanted) in [
        ("4k3/8/8/8/8/8/8/N3K3 w - - 0 1", "draw by insufficient material"),
        ("4k3/8/8/8/8/8/8/G3K3 w - - 0 1", "-"),
    ] {
        assert_eq!(ended(&start("griffon", Some(fen))), wanted, "{fen}");
    }
}

/// Whose time runs out, in which position, and what follows.
const FALLS: [(&str, &str, i64, &str); 16] = [
    ("chess", "4k3/8/8/8/8/8/8/R3K3 b - - 0 1", 1, "white wins by timeout"),
    ("chess", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 0, "draw by timeout"),
    ("chess", "4k3/8/8/8/8/8/P7/4K3 w - - 0 1", 0, "draw by timeout"),
    ("chess", "4k3/8/8/8/8/8/P7/1N2K3 b - - 0 1", 1, "white wins by timeout"),
    // a knight mates nobody who has a queen, but may mate who has a pawn
    ("chess", "3qk3/8/8/8/8/8/8/1N2K3 b - - 0 1", 1, "draw by timeout"),
    ("chess", "4k3/3p4/8/8/8/8/8/1N2K3 b - - 0 1", 1, "white wins by timeout"),
    ("chess", "3rk3/8/8/8/8/8/8/2B1K3 b - - 0 1", 1, "draw by timeout"),
    ("chess960", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 0, "draw by timeout"),
    ("berolina", "4k3/8/8/8/8/8/P7/4K3 w - - 0 1", 0, "draw by timeout"),
    ("dual-king", "k2k4/8/8/8/8/8/P7/4K3 b - - 0 1", 1, "white wins by timeout"),
    ("chess stamina", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 0, "black wins by timeout"),
    // where captures win, and where pieces do not matter
    ("capture-to-win", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", 0, "black wins by timeout"),
    ("knightmate", "4n3/8/8/8/8/8/8/R3N3 w - - 0 1", 0, "black wins by timeout"),
    ("antichess", "8/8/2b5/8/8/8/8/R1B5 w - - 0 1", 0, "black wins by timeout"),
    ("antichess", "8/8/2b5/8/8/8/8/B1B5 w - - 0 1", 0, "black wins by timeout"),
    (
        "antichess suicide-chess:both:opposite_bishops=draw",
        "8/8/2b5/8/8/8/8/1BB5 w - - 0 1",
        0,
        "black wins by timeout",
    ),
];

#[test]
fn time_that_runs_out_is_for_rules_to_judge() {
    for (game, fen, side, wanted) in FALLS {
        let mut game = start(game, Some(fen));
        assert_eq!(ended(&game), "-", "{fen}: at the start");
        game.flag(side).unwrap_or_else(|it| panic!("{fen}: {it}"));
        assert_eq!(ended(&game), wanted, "{fen}");
        let again = game.flag(side).map(|_| ());
        assert!(matches!(again, Err(EndError::Over { .. })), "{fen}");
    }
    let mut game = start("chess", None);
    let hash = game.hash();
    assert!(matches!(game.flag(2).map(|_| ()), Err(EndError::Side { side: 2 })));
    assert_eq!((game.hash(), game.result()), (hash, None), "a refusal changes nothing");
    // A bishop of each colour for White: its light one is never captured.
    let option = "antichess suicide-chess:both:opposite_bishops=draw";
    let mut game = start(option, Some("8/8/3b4/8/8/8/8/1BB5 b - - 0 1"));
    assert_eq!(game.flag(1).expect("it falls").to_string(), "draw by timeout");
}

/// How players ended a game is no part of its position, which the FEN is to state.
#[test]
fn a_fen_leaves_out_nothing_of_a_game_that_players_ended() {
    let catalogue = Catalogue::embedded().expect("our own metadata");
    let rules = catalogue.load::<&str>("chess", &[]).unwrap_or_else(|it| panic!("{it}"));
    for by_time in [false, true] {
        let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
        let ended = if by_time { game.flag(0) } else { game.resign(0) };
        assert!(ended.is_ok());
        assert_eq!(rules.unsaid(&mut game), [""; 0]);
    }
}

#[test]
fn bishops_that_cannot_meet_are_drawn_if_asked_for() {
    let option = "antichess suicide-chess:both:opposite_bishops=draw";
    let fen = "8/8/8/2b5/8/8/1p6/B7 w - - 0 1";
    for (game, wanted) in [("antichess", "-"), (option, "-")] {
        let mut game = start(game, Some(fen));
        game.play_text("a1b2").expect("it has to capture");
        // Both stand on dark squares.
        assert_eq!(ended(&game), wanted);
    }
    let fen = "8/8/2b5/8/8/8/1p6/B7 w - - 0 1";
    for (game, wanted) in [("antichess", "-"), (option, "draw by insufficient material")] {
        let mut game = start(game, Some(fen));
        game.play_text("a1b2").expect("it has to capture");
        assert_eq!(ended(&game), wanted);
    }
}

/// Positions of issue 12 in which a draw was declared though a win was near: the game, the position,
/// and, where there is one, a line that wins.
const NOT_DEAD: [(&str, &str, &str); 12] = [
    ("capture-to-win", "4k3/8/8/8/8/8/4n3/4K3 w - - 0 1", "e1e2"),
    ("dual-king", "k7/8/k7/3N4/8/8/8/K6K w - - 0 1", ""),
    ("double-move-rc", "4k3/8/8/8/4N3/8/8/4K3 w - - 0 1", "e4f6 f6e8"),
    ("weak-dual-king", "4k3/8/8/8/8/8/8/K6K w - - 0 1", ""),
    ("weak-dual-king-last-royal", "4k2k/8/8/8/8/8/8/KN5K w - - 0 1", ""),
    ("monster-kingcapture", "4k3/8/8/8/8/8/8/KN6 w - - 0 1", ""),
    ("knights-leap-twice", "4k3/8/8/8/8/8/8/KN6 w - - 0 1", ""),
    ("piece-hp", "8/8/8/8/8/8/1k6/K7 w - - 0 1", "a1b2 b2a3 a1b2 a3a2 b2a2"),
    ("king-heals", "8/8/8/8/8/8/1k6/KN6 w - - 0 1", ""),
    ("berserker", "8/8/8/8/8/8/1k6/KN6 w - - 0 1", ""),
    ("poisoned-squares", "8/8/8/8/8/8/1k6/KN6 w - - 0 1", ""),
    ("stamina", "4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1", ""),
];

#[test]
fn a_draw_is_not_declared_where_a_win_is_near() {
    for (name, fen, line) in NOT_DEAD {
        let mut game = start(name, Some(fen));
        assert_eq!(ended(&game), "-", "{name} {fen}");
        for text in line.split_whitespace() {
            assert_eq!(ended(&game), "-", "{name} {fen} before {text}");
            game.play_text(text).unwrap_or_else(|it| panic!("{name} {fen}: {text}: {it}"));
        }
        let won = game.result().is_some_and(|it| it.winner == Some(0));
        assert_eq!(won, !line.is_empty(), "{name} {fen} {}", ended(&game));
    }
}

#[test]
fn an_illegal_move_changes_no_fact() {
    let mut game = start("chess", None);
    let (hash, facts) = (game.hash(), game.facts().all_facts());
    for text in ["e2e5", "e1e2", "e7e5", "a1a8", "e9e4", "", "e2e4q"] {
        assert!(game.play_text(text).is_err(), "{text}");
    }
    let nowhere = Move { args: [99, -4].into_iter().collect(), ..game.legal_moves()[0].clone() };
    assert!(game.play(&nowhere).is_err());
    assert_eq!((game.hash(), game.facts().all_facts()), (hash, facts));
    assert!(game.history().is_empty());
}

/// Why the move from one square to another is refused; the row is that of the piece there.
fn refusal(text: &str, fen: Option<&str>, uci: &str) -> String {
    let mut game = start(text, fen);
    let error = match game.find_move(uci).expect_err(uci) {
        PlayError::Text(error) => error,
        other => panic!("{other}"),
    };
    let candidate = error.candidate().expect("a piece stands there").clone();
    let Err(PlayError::Illegal(refusal)) = game.play(&candidate) else { panic!("{uci} is legal") };
    assert_eq!(refusal.mv, candidate);
    assert!(matches!(refusal.finding, rulemate::internals::game::Finding::Refuted(_)));
    assert_eq!(refusal.text, uci);
    // The places of rules move with every edit.
    let reason = refusal.reasons.join("; ");
    reason.split(" [rules/").next().unwrap_or_default().to_string()
}

#[test]
fn a_refusal_says_why() {
    let cases = [
        (
            "chess",
            Some("4k3/4r3/8/8/8/8/4N3/4K3 w - - 0 1"),
            "e2c3",
            "the white knight on e2 is pinned: if it leaves the line, the black rook on e7 attacks the \
             white king on e1",
        ),
        ("chess", None, "e1e2", "the white pawn on e2 stands there"),
        ("chess", None, "e2e5", "e5 is not the next square ahead of the white pawn on e2"),
        (
            "chess",
            Some("4k3/8/8/8/8/4n3/4P3/4K3 w - - 0 1"),
            "e2e4",
            "the black knight on e3 stands in the way",
        ),
        ("chess", None, "e7e5", "the black pawn on e7 does not belong to the side to move"),
        (
            "chess",
            Some("rn2k2r/8/8/8/8/8/8/RN2K2R w KQkq - 0 1"),
            "e1c1",
            "a piece stands in the way of castling with the white rook on a1: the white knight on b1 \
             stands in the way",
        ),
        (
            "antichess",
            Some("8/8/8/3p4/4P3/8/P7/8 w - - 0 1"),
            "a2a3",
            "the white pawn on a2 going to a3 captures nothing, and it must: the white pawn on e4 can \
             capture, and an enemy piece stands on d5",
        ),
    ];
    let found = cases.map(|(game, fen, uci, _)| refusal(game, fen, uci));
    assert_eq!(found, cases.map(|it| it.3.to_string()));
}

#[test]
fn takeback_restores_everything() {
    let catalogue = Catalogue::embedded().expect("our own metadata");
    for (seed, entry) in (1..).zip(catalogue.games()) {
        let ruleset = catalogue.load(&entry.name, &[] as &[&str]).expect(&entry.name);
        let mut game = ruleset.start(None).expect(&entry.name);
        let mut before = vec![state(&mut game)];
        let mut random = Random(seed);
        while game.history().len() < 24 && game.result().is_none() {
            let moves = game.legal_moves();
            game.play(&moves[random.below(moves.len())]).expect("a legal move");
            before.push(state(&mut game));
            let last = &game.history()[game.history().len() - 1];
            assert_eq!(last.hash(), game.hash());
            assert_eq!(game.position(game.history().len()), Snapshot::new(game.facts()));
        }
        let half = before.len() / 2;
        let mut branch = game.branch(half).expect("played that far");
        assert_eq!(state(&mut branch), before[half]);
        while game.takeback().is_some() {
            before.pop();
            assert_eq!(Some(&state(&mut game)), before.last(), "{}", entry.name);
        }
        assert_eq!(before.len(), 1);
    }
}

/// All that a player sees, and the hash of all that there is.
fn state(game: &mut Game) -> (String, u64, Vec<(String, Move)>, String) {
    (game.fen(), game.hash(), game.listing(), ended(game))
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn records_tell_what_was_played() {
    let mut game = start("chess", None);
    play_line(&mut game, "e2e4 e5 Nf3");
    let texts: Vec<(&str, &str)> = game.history().iter().map(|it| (&*it.uci, &*it.san)).collect();
    assert_eq!(texts, [("e2e4", "e4"), ("e7e5", "e5"), ("g1f3", "Nf3")]);
    let sides: Vec<i64> = game.history().iter().map(|it| it.side).collect();
    assert_eq!(sides, [0, 1, 0]);
    assert!(game.history().iter().all(|it| !it.turn_goes_on));
    let played: Vec<Change> = game.history()[1].delta.changes().collect();
    let (before, after) = (game.position(1), game.position(2));
    let facts = before.iter_raw().chain(after.iter_raw()).map(|(entity, attr, _)| (entity, attr));
    let changes = facts.collect::<BTreeSet<_>>().into_iter().map(|(entity, attr)| {
        let (old, new) = (before.get_raw(entity, attr), after.get_raw(entity, attr));
        Change { entity, attr, old, new }
    });
    assert_eq!(played, changes.filter(|it| it.old != it.new).collect::<Vec<_>>());
    let attributes: Vec<&str> =
        played.iter().map(|it| game.program().schema.attribute(it.attr).name.as_str()).collect();
    assert!(attributes.contains(&"turn") && attributes.contains(&"position"), "{attributes:?}");
}

#[test]
fn nothing_is_played_after_the_end() {
    let mut game = start("chess", None);
    play_line(&mut game, "f2f3 e7e5 g2g4 d8h4");
    let error = game.play_text("e2e4").expect_err("over");
    assert_eq!(error.to_string(), "the game is over: black wins by checkmate");
    assert!(matches!(game.resign(0), Err(EndError::Over { .. })));
    game.takeback();
    assert_eq!(ended(&game), "-");
    game.play_text("e8e7").expect("legal");
}

#[test]
fn resigning_ends_the_game_for_the_other_side() {
    let mut game = start("antichess", None);
    play_line(&mut game, "e2e3");
    assert_eq!(game.resign(7), Err(EndError::Side { side: 7 }));
    assert_eq!(game.resign(1).map(|it| it.winner), Ok(Some(0)));
    assert_eq!(ended(&game), "white wins by resignation");
    assert!(game.legal_moves().is_empty());
    game.takeback();
    assert_eq!(ended(&game), "-");
}

#[test]
fn a_draw_is_claimed_only_when_there_is_one() {
    let mut game = start("chess", None);
    let hash = game.hash();
    let error = game.claim_draw(None).expect_err("nothing to claim");
    assert_eq!(error.to_string(), "there is no draw to claim");
    assert_eq!(game.hash(), hash);
    play_line(&mut game, "x2 g1f3 g8f6 f3g1 f6g8");
    let error = game.claim_draw(Some("fifty_moves")).expect_err("another reason");
    assert_eq!(
        error.to_string(),
        "there is no draw to claim for that reason, but by threefold_repetition"
    );
    game.claim_draw(None).expect("threefold");
    assert_eq!(ended(&game), "draw by threefold repetition");
    let error = game.claim_draw(Some("fifty_moves")).expect_err("it is over");
    assert_eq!(error.to_string(), "the game is over: draw by threefold repetition");
}

/// A preset of this test: White has two actions a turn.
const TWICE: &str = r#"
.meta preset "twice"
.domain Preset += { twice }
.meta fen "hm=half_moves"
turn_goes_on() :- half_moves(0), turn(c), active('twice, c).
mid_turn() :- half_moves(n), n > 0.
"#;

#[test]
fn a_turn_may_have_several_actions() {
    let mut catalogue = Catalogue::embedded().expect("our own metadata");
    let source = Source { path: "twice.dl".into(), text: TWICE.into() };
    catalogue.add(source).expect("well formed");
    let ruleset = catalogue.load("chess", &["twice:white"]).expect("loads");
    let mut game = ruleset.start(None).expect("starts");
    play_line(&mut game, "e2e4 d2d4 e7e5 d4e5");
    let turns: Vec<(i64, bool)> =
        game.history().iter().map(|it| (it.side, it.turn_goes_on)).collect();
    assert_eq!(turns, [(0, true), (0, false), (1, false), (0, true)]);
    assert!(game.fen().ends_with("hm=1"), "{}", game.fen());
    game.takeback();
    game.takeback();
    assert_eq!(game.side(), Some(1));
}

#[test]
fn both_evaluators_play_the_same_game() {
    let catalogue = Catalogue::embedded().expect("our own metadata");
    for (seed, entry) in (100..).zip(catalogue.games()) {
        let ruleset = catalogue.load(&entry.name, &[] as &[&str]).expect(&entry.name);
        let mut fast = ruleset.start_on(Backend::Bits, None).expect(&entry.name);
        let mut slow = ruleset.start_on(Backend::Frog, None).expect(&entry.name);
        let mut random = Random(seed);
        for _ in 0..3 {
            assert_eq!(state(&mut fast), state(&mut slow), "{}", entry.name);
            let moves = fast.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = &moves[random.below(moves.len())];
            let (fast, slow) = (fast.play(mv).expect("legal"), slow.play(mv).expect("legal"));
            assert_eq!((fast.key, &fast.san), (slow.key, &slow.san));
        }
    }
}

/// Saves may state anything that the schema allows: two pieces on a square, a right to castle with
/// nobody, no side to move. Such games need make no sense, but they load, and both evaluators see
/// the same moves.
#[test]
fn any_facts_can_be_resumed() {
    let catalogue = Catalogue::embedded().expect("our own metadata");
    let ruleset = catalogue.load("giveaway", &[] as &[&str]).expect("loads");
    let document =
        Document::parse(&ruleset.start(None).expect("starts").to_json()).expect("a save");
    let mut random = Random(7);
    let mut resumed = 0;
    for _ in 0..80 {
        let mut broken = document.clone();
        for _ in 0..random.below(12) {
            let at = 1 + random.below(broken.facts.len() - 1);
            let attribute = broken.facts[at].attribute.clone();
            let values: Vec<_> = document.values_of(&attribute).cloned().collect();
            match random.below(3) {
                0 => drop(broken.facts.remove(at)),
                1 => broken.facts[at].entity = SavedOwner::Entity(random.below(40) as u32),
                _ => broken.facts[at].value = values[random.below(values.len())].clone(),
            }
        }
        let fast = ruleset.resume(&broken, Backend::Bits);
        let slow = ruleset.resume(&broken, Backend::Frog);
        match (fast, slow) {
            (Ok(mut fast), Ok(mut slow)) => {
                resumed += 1;
                assert_eq!(fast.legal_moves(), slow.legal_moves(), "{}", fast.to_json());
                assert_eq!(ended(&fast), ended(&slow));
                if let Some(mv) = fast.legal_moves().first() {
                    fast.play(mv).expect("legal");
                    slow.play(mv).expect("legal");
                    assert_eq!(fast.hash(), slow.hash());
                }
            }
            (fast, slow) => assert_eq!(fast.err(), slow.err()),
        }
    }
    assert!(resumed > 20, "{resumed}");
}

#[test]
fn a_long_game_fits_its_budget() {
    let mut game = start("chess", None);
    let mut random = Random(3);
    while game.history().len() < 100 {
        let moves = game.legal_moves();
        game.play(&moves[random.below(moves.len())]).expect("a legal move");
    }
    let memory = game.memory();
    assert!(memory.total() <= 256 * 1024, "{memory:?}");
    assert!(memory.history <= 96 * 1024, "{memory:?}");
}
