//! Games of other sides than White and Black, and of more than two: counted against a search of this file's own,
//! saved, audited and explained, in every text with the names that the game gives its sides.

use rulemate::internals::audit;
use rulemate::internals::game::Game;
use rulemate::internals::moves::perft;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::protocols::TableError;
use rulemate::internals::rules::Source;

use crate::cli::{rulemate, rulemate_reading};
use crate::fixture::rows;
use crate::random_rules::Choices;

const FOLDER: &str = "tests/data/sides";

/// The games of this package and those of the folder.
fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    catalogue.add_path(FOLDER.as_ref()).expect("rule files");
    catalogue
}

fn start(name: &str, fen: Option<&str>) -> Game {
    let rules = catalogue().load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{name}: {it}"));
    rules.start(fen).unwrap_or_else(|it| panic!("{name}: {it}"))
}

fn count(name: &str, fen: Option<&str>, depth: u32) -> u64 {
    let mut game = start(name, fen);
    let contract = game.contract().clone();
    perft(game.world_mut(), &contract, depth)
}

/// Stones on sixteen squares, by side; who is to move, and who comes after whom.
#[derive(Clone)]
struct Stones {
    squares: [Option<usize>; 16],
    turn: usize,
    next: [usize; 3],
}

impl Stones {
    fn is_won(&self) -> bool {
        let at = |file: i32, rank: i32| {
            let inside = (0..4).contains(&file) && (0..4).contains(&rank);
            if inside { self.squares[(rank * 4 + file) as usize] } else { None }
        };
        (0..16).any(|it| {
            let (file, rank) = (it % 4, it / 4);
            [(1, 0), (0, 1), (1, 1), (1, -1)].into_iter().any(|(dx, dy)| {
                let first = at(file, rank);
                first.is_some()
                    && first == at(file + dx, rank + dy)
                    && first == at(file + 2 * dx, rank + 2 * dy)
            })
        })
    }

    fn count(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        if self.is_won() {
            return 0;
        }
        let free = (0..16).filter(|it| self.squares[*it].is_none());
        free.map(|it| {
            let mut next = self.clone();
            next.squares[it] = Some(self.turn);
            next.turn = self.next[self.turn];
            next.count(depth - 1)
        })
        .sum()
    }
}

#[test]
fn a_game_of_three_sides_has_the_tree_of_a_search_of_its_own() {
    let (red, green, blue) = (Some(0), Some(1), Some(2));
    let mut squares = [None; 16];
    // As the FEN has it: its last rank first.
    squares[12..15].copy_from_slice(&[red, green, blue]);
    squares[9..12].copy_from_slice(&[red, green, blue]);
    for (name, next, letter) in [("three-in-a-row", [1, 2, 0], "r"), ("backwards", [2, 0, 1], "r")]
    {
        let fen = format!("RoGoBo1/1RoGoBo/4/4 {letter} 3");
        let position = Stones { squares, turn: 0, next };
        for depth in 1..=5 {
            assert_eq!(count(name, Some(&fen), depth), position.count(depth), "{name} {depth}");
        }
    }
    assert_eq!(count("three-in-a-row", None, 3), 16 * 15 * 14);
    // Each turn puts one more of the others out.
    let counts: Vec<u64> = (1..=4).map(|it| count("last-one-in", None, it)).collect();
    assert_eq!(counts, [3, 3 * 2, 3 * 2, 0]);
}

#[test]
fn the_turn_goes_round_as_the_rules_say() {
    let turns = |name: &str, moves: &str| -> Vec<String> {
        let mut game = start(name, None);
        let sides = game.sides();
        let side =
            |game: &Game| sides[usize::try_from(game.side().unwrap_or(0)).unwrap_or(0)].clone();
        let mut turns = vec![side(&game)];
        for text in moves.split(' ') {
            game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
            turns.push(side(&game));
        }
        turns
    };
    assert_eq!(turns("three-in-a-row", "a1 a2 a3 b1"), ["red", "green", "blue", "red", "green"]);
    assert_eq!(turns("backwards", "a1 a2 a3 b1"), ["red", "blue", "green", "red", "blue"]);
    assert_eq!(turns("last-one-in", "south north"), ["north", "east", "west"]);
    let mut game = start("last-one-in", None);
    for text in ["east", "west", "south"] {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    assert_eq!(game.result().map(ToString::to_string).as_deref(), Some("north wins by alone"));
    // A round ends with the last side, though that sits out.
    assert_eq!(game.fen(), "1 n 3");
    let mut game = start("three-in-a-row", None);
    for (moves, fen) in
        [("a1", "4/4/4/Ro3 g 1"), ("b1", "4/4/4/RoGo2 b 1"), ("c1", "4/4/4/RoGoBo1 r 2")]
    {
        game.play_text(moves).expect("a free square");
        assert_eq!(game.fen(), fen);
    }
}

/// Random games to their end, under both evaluators, from saves and from their FEN.
#[test]
fn games_of_several_sides_are_saved_audited_and_read_back() {
    let catalogue = catalogue();
    for (name, presets) in [
        ("three-in-a-row", &[][..]),
        ("three-in-a-row", &["double-move:green"]),
        ("backwards", &[]),
        ("last-one-in", &[]),
    ] {
        let rules = catalogue.load(name, presets).unwrap_or_else(|it| panic!("{name}: {it}"));
        for seed in 0..4 {
            let mut choices = Choices(seed);
            let mut game = rules.start(None).expect("it starts");
            while game.result().is_none() {
                let fen = game.fen();
                let mut again = rules.start(Some(&fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
                assert_eq!(again.fen(), fen);
                let moves = game.listing();
                let mv = moves[choices.below(moves.len())].1.clone();
                game.play(&mv).unwrap_or_else(|it| panic!("{name}: {it}"));
            }
            let save = Save::of(&game, &rules, Content::default()).expect("a save");
            for form in [Form::Json, Form::Binary] {
                let bytes = save.write(form);
                let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
                let tally = tally.unwrap_or_else(|it| panic!("{name}, seed {seed}: {it}"));
                assert_eq!(tally.plies, game.history().len(), "{name}");
            }
        }
    }
}

#[test]
fn the_command_line_calls_sides_by_their_names() {
    let play = ["play", "three-in-a-row", "--rules", FOLDER, "--ascii"];
    let session = rulemate_reading(&play, "a1\nb1\nc1\nwhy a1\nmoves\nquit\n");
    assert!(session.out.contains("red> a1") && session.out.contains("blue> c1"), "{}", session.out);
    assert!(session.out.contains("RoGoBo") || session.out.contains("Ro Go Bo"), "{}", session.out);
    let random = [&play[..], &["--random", "all", "--seed", "5"]].concat();
    let played = rulemate_reading(&random, "").out;
    assert!(played.contains(" wins by row") || played.contains("draw by full board"), "{played}");
    let wrong = rulemate_reading(&[&play[..], &["--random", "white"]].concat(), "");
    assert!(wrong.err.contains("three-in-a-row has no side white"), "{}", wrong.err);
    assert!(wrong.err.contains("red, green, blue, both"), "{}", wrong.err);
    let moves = rulemate(&["moves", "--game", "last-one-in", "--rules", FOLDER, "--json"]);
    assert!(moves.out.contains("\"east\"") && !moves.out.contains("\"north\""), "{}", moves.out);
    let why = ["explain", "a1", "--game", "three-in-a-row", "--rules", FOLDER, "--moves", "a1"];
    let why = rulemate(&why);
    assert!(why.out.contains("a1"), "{} {}", why.out, why.err);
    let pgn = ["audit", "tests/data/games/kasparov-deep-blue-1997.pgn", "--game", "three-in-a-row"];
    let pgn = rulemate(&[&pgn[..], &["--rules", FOLDER]].concat());
    assert!(pgn.out.contains("PGN knows games of two sides"), "{} {}", pgn.out, pgn.err);
}

/// Of more than two sides, rules say who wins when one gives up; else that side loses, and no side wins.
#[test]
fn resigning_leaves_no_winner_unless_rules_say_so() {
    let result = |game: &mut Game, side: i64| game.resign(side).map(ToString::to_string).ok();
    let mut game = start("three-in-a-row", None);
    assert_eq!(result(&mut game, 1).as_deref(), Some("green loses by resignation"));
    assert_eq!(game.result().and_then(|it| it.winner), None);
    let mut game = start("three-in-a-row", None);
    let flagged = game.flag(2).map(ToString::to_string);
    assert_eq!(flagged.as_deref(), Ok("blue loses by timeout"));
    let mut catalogue = catalogue();
    let text = std::fs::read_to_string(format!("{FOLDER}/three-in-a-row.dl")).expect("a file");
    let text =
        text.replace("\"three-in-a-row\"", "\"heirs\"") + "\nprofits(c, o) :- next_side(c, o).\n";
    catalogue.add(Source { path: "heirs.dl".into(), text: text.into() }).expect("a game");
    let rules = catalogue.load::<&str>("heirs", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    assert_eq!(result(&mut game, 1).as_deref(), Some("blue wins by resignation"));
}

#[test]
fn protocols_of_two_sides_refuse_others_in_words() {
    let table = rulemate::internals::protocols::EngineGame::new(catalogue(), "three-in-a-row");
    let why = table.map(|_| ()).expect_err("it is refused");
    assert!(matches!(why, TableError::Sides(..)), "{why}");
    assert!(why.to_string().contains("red, green, blue, and this protocol knows two"), "{why}");
}

#[test]
fn sides_that_cannot_be_told_apart_are_refused() {
    let refused = |sides: &str| {
        let mut catalogue = catalogue();
        let text = std::fs::read_to_string(format!("{FOLDER}/three-in-a-row.dl")).expect("a file");
        let text = text
            .replace("\"three-in-a-row\"", "\"mine\"")
            .replace("red, green, blue", sides)
            .replace("4/4/4/4 r 1", "4/4/4/4 a 1");
        catalogue.add(Source { path: "mine.dl".into(), text: text.into() }).expect("a game");
        catalogue.load::<&str>("mine", &[]).map(|_| ()).expect_err("it is refused").to_string()
    };
    assert_eq!(refused("ann"), "mine.dl:6: a game has 2 to 8 sides, not 1");
    assert_eq!(
        refused("ann, bob, bob_2"),
        "mine.dl:6: bob begins bob_2, so a FEN could not tell them apart: rename one"
    );
    assert_eq!(
        refused("ann, draw"),
        "mine.dl:6: draw is no name of a side: it means something else in results or scopes"
    );
}

/// Sides whose names begin alike are told by as much of them as is needed: in the FEN, before the pieces of more than
/// two sides, and in whatever is read back.
#[test]
fn sides_with_one_initial_are_told_by_more_of_their_names() {
    let mut catalogue = catalogue();
    let text = std::fs::read_to_string(format!("{FOLDER}/three-in-a-row.dl")).expect("a file");
    let text = text
        .replace("\"three-in-a-row\"", "\"mine\"")
        .replace("red, green, blue", "blue, black, brown")
        .replace("4/4/4/4 r 1", "4/4/4/4 blu 1");
    catalogue.add(Source { path: "mine.dl".into(), text: text.into() }).expect("a game");
    let text = std::fs::read_to_string("rules/games/noughts-and-crosses.dl").expect("a file");
    let text = text
        .replace("\"noughts-and-crosses\"", "\"two\"")
        .replace(".meta alias \"tictactoe\"\n", "")
        .replace("\"tic-tac-toe\"", "\"twosome\"")
        .replace("w 1\"", "bla 1\"\n.meta sides \"black, blue\"");
    catalogue.add(Source { path: "two.dl".into(), text: text.into() }).expect("a game");
    for (name, moves, fens) in [
        (
            "mine",
            ["a1", "b1", "c1"],
            ["4/4/4/Bluo3 bla 1", "4/4/4/BluoBlao2 br 1", "4/4/4/BluoBlaoBro1 blu 2"],
        ),
        ("two", ["a1", "b1", "c1"], ["3/3/O2 blu 1", "3/3/Oo1 bla 2", "3/3/OoO blu 2"]),
    ] {
        let rules = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(None).expect("it starts");
        for (text, fen) in moves.iter().zip(fens) {
            game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
            assert_eq!(game.fen(), fen);
            let again = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}")).fen();
            assert_eq!(again, fen);
        }
    }
}

/// Two sides of other names: capitals tell them apart, as ever.
#[test]
fn two_sides_of_other_names_are_written_in_two_cases() {
    let mut catalogue = catalogue();
    let text = std::fs::read_to_string("rules/games/noughts-and-crosses.dl").expect("a file");
    let text = text
        .replace("\"noughts-and-crosses\"", "\"suns-and-moons\"")
        .replace(".meta alias \"tictactoe\"\n", "")
        .replace("\"tic-tac-toe\"", "\"moons\"")
        .replace("w 1\"", "s 1\"\n.meta sides \"sun, moon\"");
    catalogue.add(Source { path: "suns.dl".into(), text: text.into() }).expect("a game");
    let rules = catalogue.load::<&str>("suns-and-moons", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    for text in ["a1", "b1", "a2", "b2"] {
        game.play_text(text).expect("a free square");
    }
    assert_eq!(game.fen(), "3/Oo1/Oo1 s 3");
    game.play_text("a3").expect("a free square");
    assert_eq!(game.result().map(ToString::to_string).as_deref(), Some("sun wins by row"));
}

/// A side that puts itself out took the last action all the same.
#[test]
fn a_side_that_leaves_has_taken_the_last_action() {
    let leave = r#"
.meta game "leave"
.meta title "Who stays"
.meta board "1x1"
.meta sides "red, green, blue"
.meta start "1 r 1"
.domain Reason += { alone }
.input out(side: Side) of Side attr out "{side} is out"
sits_out(c) :- out(c).
.action go(side: Side) legality rules uci "{side}" san "{side}" "{side} goes"
go(c) :- turn(c).
movable() :- go(_).
on go(c) do set out(c).
finish(o, 'alone) :- turn(c), wins(c, o), count { out(x) } = 2.
"#;
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    catalogue.add(Source { path: "mine/leave.dl".into(), text: leave.into() }).expect("a game");
    let rules = catalogue.load::<&str>("leave", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
    for (text, mover, turn) in [("red", "red", "green"), ("green", "green", "blue")] {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        assert_eq!(rows(game.world_mut(), "mover"), [format!("mover({mover})")]);
        assert_eq!(rows(game.world_mut(), "turn"), [format!("turn({turn})")]);
    }
    assert_eq!(game.result().map(ToString::to_string).as_deref(), Some("blue wins by alone"));
}
