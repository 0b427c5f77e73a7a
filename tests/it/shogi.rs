//! Shogi, beyond what the vectors of Fairy-Stockfish have: repetition, the mate by a dropped pawn, and where pieces
//! promote.
//!
//! Results are those of pyffish 0.0.90 (`is_optional_game_end`, `game_result`).

use std::sync::Arc;

use rulemate::internals::game::{Game, Stop};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::opponent::{Budget, Knowledge, Lessons, Level, Opponent, Score};

fn catalogue() -> Catalogue {
    Catalogue::embedded().expect("the catalogue")
}

fn start(name: &str, fen: Option<&str>) -> Game {
    let rules = catalogue().load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
    rules.start(fen).unwrap_or_else(|it| panic!("{it}"))
}

/// Plays up to the end, and tells how many actions that took and how it ended.
fn played(game: &mut Game, moves: &str) -> (usize, String) {
    for text in moves.split_whitespace() {
        if game.result().is_some() {
            break;
        }
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    let ended = game.result().map_or_else(|| "-".into(), ToString::to_string);
    (game.history().len(), ended)
}

const ROOK: &str = "4k4/R8/9/9/9/9/9/9/5K3[] w - - 0 1";
/// Four actions after which the position is the same: with checks, and with one move that gives none.
const CHECKS: &str = "a8a9 e9e8 a9a8 e8e9 ";
const QUIET: &str = "a8a7 e9e8 a7a8 e8e9 ";

#[test]
fn the_fourth_occurrence_is_a_draw_unless_one_side_gave_check_all_the_time() {
    let draw = "draw by fourfold repetition";
    let black = "black wins by perpetual check";
    for (fen, moves, plies, expected) in [
        (Some(ROOK), CHECKS.repeat(2) + "a8a9 e9e8 a9a8", 11, "-"),
        (Some(ROOK), CHECKS.repeat(3), 12, black),
        (Some(ROOK), QUIET.repeat(3), 12, draw),
        (Some(ROOK), CHECKS.repeat(2) + QUIET + CHECKS, 12, draw),
        (Some(ROOK), CHECKS.to_owned() + QUIET + &CHECKS.repeat(3), 12, draw),
        // The position first occurred before the checks began.
        (Some(ROOK), "a8b8 e9d9 b8a8 d9e9 ".to_owned() + &CHECKS.repeat(3), 12, draw),
        // What came before its first occurrence does not count.
        (
            Some(ROOK),
            "f1f2 e9d9 a8a7 d9e9 a7a8 e9f9 ".to_owned() + &"a8a9 f9f8 a9a8 f8f9 ".repeat(3),
            18,
            black,
        ),
        (
            Some("5k3/9/9/9/9/9/9/r8/4K4[] b - - 0 1"),
            "a2a1 e1e2 a1a2 e2e1 ".repeat(3),
            12,
            "white wins by perpetual check",
        ),
        (None, "h2g2 b8c8 g2h2 c8b8 ".repeat(3), 12, draw),
    ] {
        let mut game = start("shogi", fen);
        assert_eq!(played(&mut game, &moves), (plies, expected.to_owned()), "{moves}");
        assert!(game.claims().is_empty(), "{moves}");
    }
}

/// In minishogi White, who begins, loses by repetition, but not against perpetual check.
#[test]
fn the_fourth_occurrence_loses_for_white_in_minishogi() {
    for (game, fen, cycle, result) in [
        ("minishogi", None, "d1e2 b5a4 e2d1 a4b5 ", "black wins by fourfold repetition"),
        ("minishogi-fairy", None, "d1e2 b5a4 e2d1 a4b5 ", "black wins by fourfold repetition"),
        (
            "minishogi",
            Some("2k2/5/5/r4/2K2[] b - - 0 1"),
            "a2a1 c1c2 a1a2 c2c1 ",
            "white wins by perpetual check",
        ),
    ] {
        let mut game = start(game, fen);
        assert_eq!(played(&mut game, &cycle.repeat(3)), (12, result.to_owned()));
        assert!(game.claims().is_empty());
    }
    let mut dobutsu = start("dobutsu", None);
    let ended = (8, "draw by threefold repetition".to_owned());
    assert_eq!(played(&mut dobutsu, &"b1c2 b4a3 c2b1 a3b4 ".repeat(3)), ended);
}

/// Since when a position has been there is taken back with the action, and survives a save; a game that goes on from
/// the facts of a position goes on counting.
#[test]
fn since_when_a_position_has_been_there_is_part_of_the_game() {
    let rules = catalogue().load::<&str>("shogi", &[]).expect("it loads");
    let mut game = rules.start(Some(ROOK)).expect("it starts");
    let since = |game: &mut Game| {
        let relation = game.program().relation_named("since_first").expect("it is declared");
        game.world_mut().tuples(relation).iter().map(|it| it[0]).collect::<Vec<i64>>()
    };
    played(&mut game, &CHECKS.repeat(2));
    assert_eq!(since(&mut game), [8]);
    game.takeback();
    assert_eq!(since(&mut game), [4]);
    game.play_text("e8e9").expect("it is legal");
    assert_eq!(since(&mut game), [8]);

    let save = Save::of(&game, &rules, Content::default()).expect("it replays");
    let (read, doubt) = Save::read(&save.write(Form::Binary), "").expect("it can be read");
    assert_eq!(doubt, None);
    let restored = read.restore(&catalogue(), RulesFrom::Here).expect("it loads");
    let mut restored = restored.game;
    assert_eq!(played(&mut restored, CHECKS), (12, "black wins by perpetual check".into()));

    let mut later = Game::from_facts(game.world().clone(), Arc::clone(game.contract()));
    assert_eq!(played(&mut later, CHECKS), (4, "black wins by perpetual check".into()));
    let mut later = Game::from_facts(game.world().clone(), Arc::clone(game.contract()));
    assert_eq!(played(&mut later, QUIET), (4, "draw by fourfold repetition".into()));
}

/// So does a search: what came before the first position that it knows decides what the last repetition is.
#[test]
fn a_search_knows_since_when_its_first_position_has_been_there() {
    let rules = catalogue().load::<&str>("shogi", &[]).expect("it loads");
    let lessons = Lessons { actions: 300, longest: 100, time: None };
    let knowledge = Knowledge::learn(&rules.start(None).expect("it starts"), lessons, 1);
    for (before, score) in [(QUIET, Score::Hundredths(0)), (CHECKS, Score::Wins(1))] {
        let mut game = rules.start(Some(ROOK)).expect("a position");
        played(&mut game, &before.repeat(2));
        let mut later = Game::from_facts(game.world().clone(), Arc::clone(game.contract()));
        played(&mut later, "a8a9 e9e8 a9a8");
        let last = vec![later.find_move("e8e9").expect("it is legal")];
        let mut opponent = Opponent::new(knowledge.clone(), Level::HIGHEST, 1).among(last);
        let budget = Budget { nodes: 200, depth: 1, time: None };
        let choice = opponent.choose(&later, budget, &Stop::default()).expect("an action");
        assert_eq!(choice.score, score, "{before}");
    }
}

#[test]
fn no_pawn_that_is_dropped_mates() {
    let fen = "7nk/9/7GG/9/9/9/9/9/4K4[P] w - - 0 1";
    assert!(start("shogi", Some(fen)).play_text("P@i8").is_err());
    let why =
        crate::cli::rulemate(&["explain", "--game", "shogi", "--fen", fen, "--why-not", "P@i8"]);
    let told = "P@i8 is not legal: after it the pawn that was dropped gives mate, which it may not";
    assert!(why.out.starts_with(told), "{}{}", why.out, why.err);
    // A pawn that is moved may mate, and a dropped one may give check.
    assert!(start("shogi", Some("7nk/9/7GP/8G/9/9/9/9/4K4[] w - - 0 1")).play_text("i7i8").is_ok());
    let mut game = start("shogi", Some("8k/9/7GG/9/9/9/9/9/4K4[P] w - - 0 1"));
    assert_eq!(played(&mut game, "P@i8"), (1, "-".into()));
    let mut game = start("shogi-fairy", Some(fen));
    assert_eq!(played(&mut game, "P@i8"), (1, "black wins by pawn drop mate".into()));
}

/// The sign of a promotion is the same for all kinds; a refusal is about the one that the piece becomes.
#[test]
fn a_promotion_that_is_refused_is_that_of_the_piece() {
    let mut game = start("shogi", Some("8k/4P4/1N7/L8/4S4/9/9/9/4K4[PLN] w - - 0 1"));
    for (text, why) in [
        ("e5d6+", "silver on e5 does not promote on d6: it neither enters nor leaves the zone"),
        ("e5e7+", "silver on e5 does not promote on e7: it does not go there"),
        ("e1e2+", "king on e1 does not promote on e2: its kind does not"),
    ] {
        let answer = game.why_move(text).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(answer.summary, format!("{text} is not legal: the white {why}"));
        assert!(game.play_text(text).is_err(), "{text} is not played without the promotion");
    }
}

/// Pieces promote where they enter or leave the last three ranks, must where they could never move again, and are not
/// dropped there.
#[test]
fn pieces_promote_in_the_far_zone() {
    let fen = "8k/4P4/1N7/L8/4S4/9/9/9/4K4[PLN] w - - 0 1";
    let mut game = start("shogi", Some(fen));
    let all: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
    let of = |start: &str| {
        let mut found: Vec<&str> = all.iter().filter_map(|it| it.strip_prefix(start)).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(of("e8"), ["e9+"]);
    assert_eq!(of("b7"), ["a9+", "c9+"]);
    assert_eq!(of("a6"), ["a7", "a7+", "a8", "a8+", "a9+"]);
    assert_eq!(of("e5"), ["d4", "d6", "e6", "f4", "f6"]);
    assert!(of("P@").iter().all(|it| !it.starts_with('e') && !it.ends_with('9')), "{all:?}");
    assert!(of("L@").contains(&"c8") && !of("L@").contains(&"c9"), "{all:?}");
    assert!(of("N@").contains(&"c7") && !of("N@").contains(&"c8"), "{all:?}");
    let error = |fen| {
        let rules = catalogue().load::<&str>("shogi", &[]).expect("it loads");
        rules.start(Some(fen)).map(|_| ()).expect_err("two pawns").to_string()
    };
    let doubled = "k8/9/4P4/9/4P4/9/9/9/4K4[] w - - 0 1";
    let told = error(doubled);
    assert!(told.ends_with("white has two pawns on file 5"), "{told}");
    // Pawns that step diagonally come to files where others stand.
    let rules = catalogue().load("shogi", &["berolina-pawns"]).expect("it loads");
    rules.start(Some(doubled)).unwrap_or_else(|it| panic!("{it}"));
}

/// Presets of abilities refuse positions, too: each file does so by a relation of its own.
#[test]
fn abilities_go_on_games_with_drops() {
    for game in ["minishogi", "shogi"] {
        let rules = catalogue().load(game, &["scorch"]).unwrap_or_else(|it| panic!("{it}"));
        let mut started = rules.start(None).expect("it starts");
        assert!(!started.listing().is_empty());
        let pawns = match game {
            "shogi" => "k8/9/4P4/9/4P4/9/9/9/4K4[] w - - 0 1",
            _ => "k4/2P2/2P2/5/4K[] w - - 0 1",
        };
        let told = rules.start(Some(pawns)).map(|_| ()).expect_err("two pawns").to_string();
        assert!(told.contains("white has two pawns on file"), "{told}");
        let idle = format!("{} steps=1", started.fen());
        let told = rules.start(Some(&idle)).map(|_| ()).expect_err("nobody's steps").to_string();
        assert!(told.contains("no piece has begun the turn"), "{told}");
    }
}
