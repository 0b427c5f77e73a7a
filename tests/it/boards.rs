//! Boards without files and ranks: points and lines that the rules name, and no board at all; and bowls of seeds, where
//! numbers are moved instead of pieces. Counted against programs that share nothing with ours, written down, read back,
//! drawn and explained.
//!
//! Counts: `tests/data/boards/morris.py` for Nine Men's Morris, `kalah.py` for Kalah; Nim is counted by this file.

use std::collections::HashMap;

use rulemate::internals::audit;
use rulemate::internals::game::Game;
use rulemate::internals::moves::perft;
use rulemate::internals::presets::Catalogue;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::rules::Source;

use crate::cli::{rulemate, rulemate_reading};
use crate::random_rules::Choices;

fn catalogue() -> Catalogue {
    Catalogue::embedded().expect("the catalogue")
}

fn start(name: &str, fen: Option<&str>) -> Game {
    let rules = catalogue().load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{name}: {it}"));
    rules.start(fen).unwrap_or_else(|it| panic!("{name}: {it}"))
}

fn count(game: &mut Game, depth: u32) -> u64 {
    let contract = game.contract().clone();
    perft(game.world_mut(), &contract, depth)
}

#[test]
fn nine_mens_morris_has_the_tree_of_a_generator_of_its_own() {
    assert_eq!(compare_trees("nine-mens-morris", "tests/data/boards/morris.perft"), 8);
}

/// Seeds are sown one by one there: laps around the board, the last seed in the store, in an empty bowl, where it began.
#[test]
fn kalah_has_the_tree_of_a_program_that_sows_seed_by_seed() {
    assert_eq!(compare_trees("kalah", "tests/data/boards/kalah.perft"), 12);
}

/// Compares the trees of the positions in a file with what another program has counted. Returns how many positions.
fn compare_trees(name: &str, file: &str) -> usize {
    let full = crate::fixture::is_full();
    let text = std::fs::read_to_string(file).expect("a file");
    let mut lines = 0;
    for line in text.lines() {
        let mut parts = line.split(" ; ");
        let fen = parts.next().expect("a position");
        let mut game = start(name, Some(fen));
        assert_eq!(game.fen(), fen);
        for part in parts {
            let (depth, nodes) = part[1..].split_once(' ').expect("a depth and a count");
            let nodes: u64 = nodes.parse().expect("a count");
            if full || nodes < 20_000 {
                assert_eq!(count(&mut game, depth.parse().expect("a depth")), nodes, "{line}");
            }
        }
        lines += 1;
    }
    lines
}

#[test]
fn nim_has_as_many_games_as_heaps_can_be_emptied_in() {
    /// The number of ways to take from some heaps so many times.
    fn ways(heaps: [i64; 3], depth: u32, known: &mut HashMap<([i64; 3], u32), u64>) -> u64 {
        if depth == 0 {
            return 1;
        }
        if let Some(&count) = known.get(&(heaps, depth)) {
            return count;
        }
        let mut count = 0;
        for heap in 0..3 {
            for left in 0..heaps[heap] {
                let mut after = heaps;
                after[heap] = left;
                count += ways(after, depth - 1, known);
            }
        }
        known.insert((heaps, depth), count);
        count
    }
    let mut game = start("nim", None);
    for depth in 1..=4 {
        let expected = ways([3, 4, 5], depth, &mut HashMap::new());
        assert_eq!(count(&mut game, depth), expected, "{depth}");
    }
    // Heaps of one stone each are emptied in any order, and no game is longer.
    let mut game = start("nim", Some("- w 1 heap=1"));
    let counts: Vec<u64> = (1..=4).map(|it| count(&mut game, it)).collect();
    assert_eq!(counts, [3, 6, 6, 0]);
}

#[test]
fn games_without_squares_are_saved_audited_and_read_back() {
    let catalogue = catalogue();
    for (name, presets, longest) in [
        ("nine-mens-morris", &[][..], 60),
        ("nine-mens-morris", &["stamina"], 30),
        ("nim", &[], 20),
        ("nim", &["double-move:white"], 20),
        ("kalah", &[], 80),
        ("kalah", &["double-move:white"], 40),
    ] {
        let rules = catalogue.load(name, presets).unwrap_or_else(|it| panic!("{name}: {it}"));
        for seed in 0..3 {
            let mut choices = Choices(seed);
            let mut game = rules.start(None).expect("it starts");
            while game.result().is_none() && game.history().len() < longest {
                let fen = game.fen();
                let mut again = rules.start(Some(&fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
                assert_eq!(again.fen(), fen);
                let moves = game.listing();
                if presets.is_empty() {
                    let texts = |all: &[(String, _)]| -> Vec<String> {
                        all.iter().map(|it: &(String, _)| it.0.clone()).collect()
                    };
                    assert_eq!(texts(&moves), texts(&again.listing()), "{fen}");
                }
                let (text, mv) = moves[choices.below(moves.len())].clone();
                assert_eq!(game.find_move(&text).as_ref().ok(), Some(&mv), "{text}");
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
fn fens_of_points_are_refused_with_the_place() {
    let rules = catalogue().load::<&str>("nine-mens-morris", &[]).expect("it loads");
    for (fen, said) in [
        ("a1 w 1", "piece placement of the FEN, byte 0: found \"a1\", expected POINT:PIECE"),
        ("a1:M,z9:m w 1", "byte 5: found \"z9\", expected the name of a point"),
        ("a1:x w 1", "byte 3: found \"x\", expected a piece (m)"),
        ("a1:Mm w 1", "byte 3: found \"Mm\", expected one piece"),
        ("a1:(Mm) w 1", "byte 3: found \"(Mm)\", expected a piece (m)"),
        ("a1:M,d1:m,a1:m w 1", "byte 10: found \"a1\" again, expected each point once"),
        ("8/8 w 1", "expected POINT:PIECE"),
        ("- w 1 left=9,red:2", "found \"red\", expected a side, each once"),
        ("- w 1 left=9,white:x", "found \"x\""),
    ] {
        let why = rules.start(Some(fen)).map(|_| ()).expect_err(fen).to_string();
        assert!(why.contains(said), "{fen}: {why}");
    }
}

/// Fairy-Stockfish writes where the pawn stands, too, if a passed square alone need not tell it.
#[test]
fn a_passed_square_is_read_with_the_square_of_its_pawn_in_any_order() {
    let berolina = "rnbqkbnr/p1pppppp/8/2Pp4/8/8/PP1PPPPP/RNBQKBNR w KQkq";
    let other = "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq";
    for (name, fields, read, written) in [
        ("berolina", berolina, "d5c6", "c6d5"),
        ("berolina", berolina, "c6d5", "c6d5"),
        ("pawnsideways", other, "d5d6", "d6"),
        ("pawnsideways", other, "d6d5", "d6"),
        ("pawnsideways", other, "d6e5", "-"),
    ] {
        let mut game = start(name, Some(&format!("{fields} {read} 0 3")));
        assert_eq!(game.fen(), format!("{fields} {written} 0 3"), "{name}: {read}");
    }
}

#[test]
fn what_is_in_check_is_shown_as_attacked() {
    for (name, fen, square) in [
        ("chess", "3k4/2B5/8/8/8/8/8/3K4 b - - 0 1", "d8"),
        ("atomic", "2rk4/2B5/8/8/8/8/8/3K4 b - - 0 1", "d8"),
        ("duck", "3k4/2B5/8/8/8/8/8/3K4 b - - 0 1", "d8"),
        ("monster", "4k3/8/8/8/8/8/8/r3K3 w - - 0 1", "e1"),
        ("cotulenh", "6c4/11/6T4/11/11/11/11/11/11/11/11/5C5 b - - 0 1", "g12"),
    ] {
        assert_eq!(start(name, Some(fen)).view().checks, [square], "{name}");
    }
}

#[test]
fn points_are_drawn_where_the_rules_say_or_as_a_list() {
    let mut game = start("nine-mens-morris", Some("a1:M,d1:m w 1 left=8"));
    let view = game.view();
    assert_eq!((view.points.len(), view.points[0].name.as_str()), (24, "a1"));
    let corner = view.points.iter().find(|it| it.name == "g7").expect("a corner");
    assert_eq!((corner.x, corner.y), (7, 7));
    let put = view.legal.iter().find(|it| it.uci == "g7").expect("a free point");
    assert_eq!((put.from.as_deref(), put.to.as_deref()), (None, Some("g7")));
    assert!(start("nim", None).view().points.is_empty());
    assert!(start("chess", None).view().points.is_empty());
    let play = ["play", "nine-mens-morris", "--ascii"];
    let drawn = rulemate_reading(&play, "a1\nd1\nwhy a1\nwhy g7\nquit\n").out;
    assert!(drawn.contains("\na1:M           d1:m           g1"), "{drawn}");
    assert!(drawn.contains("\n     b6        d6        f6\n"), "{drawn}");
    assert!(drawn.contains("a man is put on g7"), "{drawn}");
    let nim = rulemate_reading(&["play", "nim"], "a3\nb4\nc5\nquit\n").out;
    assert!(nim.contains("(no board)\n heap=0,b:4,c:5\n"), "{nim}");
    assert!(nim.contains("white wins by last stone"), "{nim}");
    let says = start("nim", None).view().legal[0].says.clone();
    assert_eq!(says.as_deref(), Some("a turn takes 1 stone from heap a"));
    // The last seed went into the store: White goes on.
    let kalah = rulemate_reading(&["play", "kalah"], "c1\nf1\nquit\n").out;
    let fields = " seeds=4,c1:0,d1:5,e1:5,f1:5 store=0,white:1 hm=1";
    assert!(kalah.contains(&format!("\n{fields}\nwhite> f1\n")), "{kalah}");
    let json = rulemate(&["moves", "--game", "nine-mens-morris", "--json"]);
    assert!(json.out.contains("\"g7\""), "{} {}", json.out, json.err);
    let svg = rulemate(&["explain", "a1", "--game", "nine-mens-morris", "--svg"]);
    assert!(svg.out.contains(">a1</text>"), "{} {}", svg.out, svg.err);
    assert_eq!(svg.out.matches("<line").count(), 32, "each line once");
    // Each of eleven ranks of hexagons stands half a square to the right of the one below.
    let svg = rulemate(&["explain", "a1", "--game", "hex", "--svg"]).out;
    assert!(svg.contains("viewBox=\"0 0 808 568\""), "{svg}");
    assert!(svg.contains("<rect x=\"260\" y=\"20\""), "{svg}");
}

/// Letters are drawn as chess symbols only where they mean pieces of chess: the `n` of others may be a ship or a narwhal.
#[test]
fn pictures_have_chess_symbols_where_letters_mean_them() {
    let knights = |game: &str, action: &str| {
        let svg = rulemate(&["explain", action, "--game", game, "--svg"]).out;
        assert!(svg.starts_with("<svg"), "{svg}");
        svg.matches(['♘', '♞']).count()
    };
    assert_eq!(knights("chess", "e2e4"), 4);
    assert_eq!(knights("cotulenh", "Ad3c2"), 0);
    // The first has kings and queens, too.
    for (game, rank) in [("cetus", "\n 2  . . B . . ."), ("chess", "\n 1  ♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖\n")]
    {
        let drawn = rulemate_reading(&["play", game], "quit\n").out;
        assert!(drawn.contains(rank), "{drawn}");
    }
    let fen = "4k3/8/8/8/8/8/8/4K3[NNp] w - - 0 1";
    let svg = rulemate(&["explain", "N@e4", "--game", "crazyhouse", "--fen", fen, "--svg"]).out;
    assert!(svg.contains(">in hand: white NN, black p</text>"), "{svg}");
}

/// A number for each side has the name of its attribute, and pieces in hand have their signs.
#[test]
fn what_a_fen_tells_besides_the_board_stands_below_it() {
    let counted = rulemate_reading(&["play", "three-check", "--ascii"], "quit\n").out;
    assert!(
        counted.contains("\n    a b c d e f g h\n three-check.left=3+3\nwhite> quit"),
        "{counted}"
    );
    let fen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL[G+Pg] w - - 0 1";
    let held = rulemate_reading(&["play", "shogi", "--ascii", "--fen", fen], "quit\n").out;
    assert!(held.contains("\n in hand: white G+P, black g\nwhite> quit"), "{held}");
}

/// A preset for all games goes on points too; one that asks for squares is refused in words.
#[test]
fn presets_that_need_squares_say_so() {
    let mut catalogue = catalogue();
    let text = ".meta preset \"coast\"\n.domain Preset += { coast }\n\
        .decl coastal(piece: Entity) \"{piece} stands at the edge\"\ncoastal(p) :- at(p, s), edge(_, s).\n";
    catalogue.add(Source { path: "coast.dl".into(), text: text.into() }).expect("a preset");
    let refused = |game: &str, preset: &str| {
        catalogue.load(game, &[preset]).map(|_| ()).expect_err("it is refused").to_string()
    };
    assert_eq!(
        refused("nine-mens-morris", "coast"),
        "preset coast speaks of edge, which boards of files and ranks have, and nine-mens-morris has none"
    );
    // A list of squares is one of points there.
    let points = ["piece-hp", "poisoned-squares:both:squares=a1+d7"];
    catalogue.load("nine-mens-morris", &points).expect("both are points of it");
    assert!(refused("nim", "atomic").contains("atomic"), "{}", refused("nim", "atomic"));
    let mut wrong = self::catalogue();
    let text = ".meta game \"odd\"\n.meta board \"ring 8\"\n.meta start \"- w 1\"\n";
    wrong.add(Source { path: "odd.dl".into(), text: text.into() }).expect("a game");
    let why = wrong.load::<&str>("odd", &[]).map(|_| ()).expect_err("it is refused").to_string();
    assert!(
        why.starts_with("odd.dl:2: there is no board \"ring 8\"") && why.contains("graph"),
        "{why}"
    );
}

/// Names of points may have any length, and one may begin another.
#[test]
fn points_have_the_names_that_the_rules_give_them() {
    let mut catalogue = catalogue();
    let text = r#"% lake: two boats on a round lake.
.meta game "lake"
.meta title "Lake"
.meta board "graph"
.meta start "in:B,inlet:b w 1"
.domain Square += { in, inlet, north-shore, south }
.domain Kind += { boat }
letter('boat, "b").
link('in, 'inlet). link('inlet, 'north-shore). link('north-shore, 'south). link('south, 'in).
.action sail(piece: Entity, to: Square) legality rules uci "{at(piece)}>{to}" "{piece} sails to {to}"
sail(p, t) :- own(p), at(p, s), adjacent(s, t), !occupied(t).
movable() :- sail(_, _).
on sail(p, t) do set at(p, t).
"#;
    catalogue.add(Source { path: "lake.dl".into(), text: text.into() }).expect("a game");
    let rules = catalogue.load::<&str>("lake", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    game.play_text("in>south").unwrap_or_else(|it| panic!("{it}"));
    game.play_text("inlet>north-shore").unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(game.fen(), "north-shore:b,south:B w 2");
    let view = game.view();
    let sail = view.legal.iter().find(|it| it.uci == "south>in").expect("a way");
    assert_eq!((sail.from.as_deref(), sail.to.as_deref()), (Some("south"), Some("in")));
}

/// Where a file says `stack`, points hold several pieces, as squares do.
#[test]
fn points_hold_stacks_where_the_rules_say_so() {
    let mut catalogue = catalogue();
    let text = r#"% pond: boats that may meet.
.meta game "pond"
.meta title "Pond"
.meta board "graph"
.meta start "in:B,inlet:b w 1"
.meta fen "stack written"
.domain Square += { in, inlet, south }
.domain Kind += { boat }
letter('boat, "b").
.static written(kind: Kind, n: Int) "a {kind} is written in place {n}"
written('boat, 1).
link('in, 'inlet). link('inlet, 'south). link('south, 'in).
.action sail(piece: Entity, to: Square) legality rules uci "{at(piece)}>{to}" "{piece} sails to {to}"
sail(p, t) :- own(p), at(p, s), adjacent(s, t).
movable() :- sail(_, _).
on sail(p, t) do set at(p, t).
"#;
    catalogue.add(Source { path: "pond.dl".into(), text: text.into() }).expect("a game");
    let rules = catalogue.load::<&str>("pond", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    game.play_text("in>inlet").unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(game.fen(), "inlet:(Bb) b 1");
    for fen in ["inlet:(Bb) b 1", "inlet:(bB) b 1"] {
        let mut again = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        assert_eq!(again.fen(), "inlet:(Bb) b 1", "{fen}");
        again.play_text("inlet>south").unwrap_or_else(|it| panic!("{fen}: {it}"));
        assert_eq!(again.fen(), "inlet:B,south:b w 2", "{fen}");
    }
    for (fen, said) in [
        ("inlet:(B) b 1", "expected a piece (b), or two or more in `(` and `)`"),
        ("inlet:(Bb b 1", "expected a piece (b), or two or more in `(` and `)`"),
        ("inlet:(Bb)B b 1", "expected one piece or stack after the name"),
        ("inlet:B,inlet:b b 1", "expected each point once"),
    ] {
        let why = rules.start(Some(fen)).map(|_| ()).expect_err(fen).to_string();
        assert!(why.contains(said), "{fen}: {why}");
    }
}

#[test]
fn a_game_without_letters_is_told_so_when_its_fen_has_a_piece() {
    let text = ".meta game \"puddle\"\n.meta board \"2x1\"\n.meta start \"B1 w 1\"\n";
    let mut catalogue = catalogue();
    catalogue.add(Source { path: "puddle.dl".into(), text: text.into() }).expect("a game");
    let rules = catalogue.load::<&str>("puddle", &[]).expect("it loads");
    let why = rules.start(None).map(|_| ()).expect_err("no letter").to_string();
    assert!(
        why.contains("expected a piece (no kind has a letter yet: write `letter('KIND,"),
        "{why}"
    );
}

/// The first and the last file are neighbours on boards of any width, and leaps of a side that is not in scope stay on
/// the board.
#[test]
fn boards_of_other_widths_wrap_round_and_bounce() {
    let catalogue = catalogue();
    let gardner = "2k2/5/5/5/RN2K w - - 0 1";
    let capablanca = "5k4/10/10/10/10/10/10/R4K3B w - - 0 1";
    let (small, wide) = ("4k/5/5/4p/K1B2 w - - 0 1", "k9/10/10/10/9p/10/10/K1B7 w - - 0 1");
    for (name, preset, fen, legal, illegal) in [
        ("gardner", "wrap-board", gardner, ["b1e2", "e1a2"], "b1d1"),
        ("gardner", "wrap-board:black", gardner, ["b1d2", "b1a3"], "b1e2"),
        ("capablanca", "wrap-board", capablanca, ["j1a2", "j1b3"], "a1j1"),
        ("gardner", "bouncing-pieces", small, ["c1b4", "c1d4"], "c1b3"),
        ("capablanca", "bouncing-pieces", wide, ["c1f8", "c1j8"], "c1d4"),
        ("gardner", "bouncing-pieces-2", small, ["c1a3", "c1e3"], "c1b4"),
    ] {
        let rules = catalogue.load(name, &[preset]).unwrap_or_else(|it| panic!("{name}: {it}"));
        let game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{name}: {it}"));
        for text in legal {
            let played = game.clone().play_text(text).map(|_| ());
            assert!(played.is_ok(), "{name}, {preset}: {text}: {played:?}");
        }
        assert!(game.clone().play_text(illegal).is_err(), "{name}, {preset}: {illegal}");
    }
    // A rook goes round to the other side of its king.
    let rules = catalogue.load("capablanca", &["wrap-board"]).unwrap_or_else(|it| panic!("{it}"));
    let fen = "5k4/10/10/10/10/10/10/R4K4 w - - 0 1";
    let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
    game.play_text("a1g1").unwrap_or_else(|it| panic!("{it}"));
}

/// Presets that speak of squares find them on boards of every size: the middle, and from where queens castle.
#[test]
fn presets_about_squares_go_on_small_and_large_boards() {
    let catalogue = catalogue();
    for (game, fen, mv, wins) in [
        ("losalamos", "k5/6/6/1K4/6/6 w - - 0 1", "b3b4", None),
        ("losalamos", "k5/6/6/6/2K3/6 w - - 0 1", "c2c3", Some("white_wins")),
        ("micro", "k3/4/4/1K2/4[] w 0 1", "b2b3", Some("white_wins")),
        ("embassy", "k9/10/10/10/10/3K6/10/10 w - - 0 1", "d3d4", None),
        ("embassy", "k9/10/10/10/10/4K5/10/10 w - - 0 1", "e3e4", Some("white_wins")),
    ] {
        let rules = catalogue.load(game, &["king-of-the-hill"]);
        let rules = rules.unwrap_or_else(|it| panic!("{game}: {it}"));
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        if game.result().is_none() {
            game.play_text(mv).unwrap_or_else(|it| panic!("{fen} {mv}: {it}"));
        }
        assert_eq!(game.result().map(|it| &*it.outcome), wins, "{fen} {mv}");
    }
    // Without queens, without room for a queen that castles, and with it.
    for (game, fen, castles) in [
        ("minishogi", "4k/5/5/5/K4[] w 0 1", false),
        ("losalamos", "4k1/6/6/6/6/R2Q1K w - - 0 1", false),
        ("chancellor", "4k4/9/9/9/9/9/9/9/R2Q3KR w - - 0 1", true),
    ] {
        let rules = catalogue.load(game, &["coregal:both:queen_castles=true"]);
        let rules = rules.unwrap_or_else(|it| panic!("{game}: {it}"));
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        let listed: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
        assert_eq!(listed.contains(&"d1a1".to_owned()), castles, "{fen}: {listed:?}");
    }
}
