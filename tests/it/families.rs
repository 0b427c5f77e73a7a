//! Games of any family, and of none: counted, played to their end, written down and read back. What is
//! made for another family is refused in words.
//!
//! Counts: Othello's and checkers' are the usual perft tables. Stones of noughts and crosses, Connect Four and
//! Hex have every free place until a row is made, so the first plies are products of free places. Gardner's and
//! Capablanca's chess are `fairy` vectors. Griffon and barrel chess were counted by a generator of our own in
//! another language, written for this: board arrays, moves taken and taken back.

use std::path::Path;

use rulemate::internals::audit;
use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::to_san;
use rulemate::internals::moves::{Move, perft, turns};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::presets::save::{Content, Form, RulesFrom, Save};
use rulemate::internals::rules::Source;

use crate::random_rules::Choices;

/// The games that stand on no chess, and those that stand on another board, with presets for all games.
const GAMES: [(&str, &[&str]); 25] = [
    ("noughts-and-crosses", &[]),
    ("connect-four", &[]),
    ("hex", &[]),
    ("othello", &[]),
    ("checkers", &[]),
    ("checkers", &["piece-hp"]),
    ("checkers", &["piece-shield:white", "piece-hp"]),
    ("gardner", &[]),
    ("capablanca", &[]),
    ("crazyhouse", &[]),
    ("xiangqi", &["piece-shield"]),
    ("minishogi", &[]),
    ("minishogi", &["piece-hp:white"]),
    ("minishogi", &["stamina"]),
    ("shogi", &[]),
    ("griffon", &[]),
    ("barrel", &[]),
    ("checkers", &["stamina", "double-move"]),
    ("connect-four", &["double-move"]),
    ("othello", &["piece-hp", "poisoned-squares"]),
    ("hex", &["stamina", "double-move:white"]),
    ("cotulenh", &[]),
    ("cotulenh", &["piece-hp", "piece-shield", "poisoned-squares"]),
    ("cotulenh", &["stamina", "double-move"]),
    (
        "cotulenh",
        &[
            "other-readings:both:headquarter=true,carried_defence=true,duels=true,last_guard=true,\
             late_parry=true,landing=false",
            "lost-arms",
        ],
    ),
];

fn catalogue() -> Catalogue {
    Catalogue::embedded().expect("the catalogue")
}

fn with(files: &[(&str, &str)]) -> Catalogue {
    let mut catalogue = catalogue();
    for (path, text) in files {
        let source = Source { path: (*path).into(), text: (*text).into() };
        catalogue.add(source).expect("metadata that makes sense");
    }
    catalogue
}

fn san(game: &mut Game, mv: &Move) -> String {
    let contract = game.contract().clone();
    to_san(game.world_mut(), &contract, mv)
}

fn refusal(catalogue: &Catalogue, game: &str, presets: &[&str]) -> String {
    catalogue.load(game, presets).map(|_| ()).expect_err("it is refused").to_string()
}

fn count(game: &str, depth: u32) -> u64 {
    let rules = catalogue().load::<&str>(game, &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let contract = game.contract().clone();
    perft(game.world_mut(), &contract, depth)
}

#[test]
fn trees_of_games_without_chess_have_the_known_sizes() {
    for (game, counts) in [
        ("noughts-and-crosses", &[9, 72, 504, 3024, 15120, 54720][..]),
        ("connect-four", &[7, 49, 343, 2401, 16807]),
        ("hex", &[121, 121 * 120]),
        ("othello", &[4, 12, 56, 244, 1396, 8200]),
        ("gardner", &[7, 53, 506, 4775]),
        ("capablanca", &[28, 784, 25228]),
        ("griffon", &[20, 400, 8682]),
        ("barrel", &[38, 1444, 55462]),
    ] {
        for (depth, nodes) in (1..).zip(counts) {
            assert_eq!(count(game, depth), *nodes, "{game}, depth {depth}");
        }
    }
}

/// A piece from a preset's file, one more from a tutorial's, and pieces that take two blows, on one board.
#[test]
fn presets_with_pieces_of_their_own_stack() {
    let scouts = std::fs::read_to_string("tests/data/first-preset/scouts.dl").expect("a file");
    let catalogue = with(&[("mine/scouts.dl", &scouts)]);
    let many = "r3k2r/p1ppgpb1/bn2pnp1/3PN3/1p2P3/2N2G1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let counted = |presets: &[&str], fen: Option<&str>, depth: u32| {
        let rules = catalogue.load("griffon", presets).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(fen).expect("it starts");
        let contract = game.contract().clone();
        perft(game.world_mut(), &contract, depth)
    };
    assert_eq!(counted(&[], Some(many), 2), 1997);
    assert_eq!(counted(&["scouts"], None, 3), 8842);
    assert_eq!(counted(&["scouts"], Some(many), 2), 2171);
    let rules = catalogue.load("griffon", &["scouts", "piece-hp"]).expect("they go together");
    let mut game = rules.start(None).expect("it starts");
    let mut choices = Choices(3);
    while game.result().is_none() && game.history().len() < 24 {
        let moves = game.listing();
        let mv = moves[choices.below(moves.len())].1.clone();
        game.play(&mv).unwrap_or_else(|it| panic!("{it}"));
    }
    let bytes = Save::of(&game, &rules, Content::default()).expect("a save").write(Form::Json);
    let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
    assert_eq!(tally.map(|it| it.plies).map_err(|it| it.to_string()), Ok(game.history().len()));
}

/// A turn of checkers is all jumps of one piece, so the tables count turns.
#[test]
fn turns_of_checkers_are_as_many_as_in_the_tables() {
    let rules = catalogue().load::<&str>("checkers", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let contract = game.contract().clone();
    let mut nodes = Vec::new();
    for depth in 1..=5 {
        nodes.push(perft(game.world_mut(), &contract, depth));
    }
    // No jump of several steps comes up before the sixth ply.
    assert_eq!(nodes, [7, 49, 302, 1469, 7361]);
    assert_eq!(turns(game.world_mut(), &contract, 100).turns.len(), 7);
}

/// Random games to their end, by both evaluators (the audit plays them again under datafrog and checks
/// each proof); at each ply the FEN says what the facts say.
#[test]
fn random_games_end_and_come_back_from_saves_and_fen() {
    let full = crate::fixture::is_full();
    let catalogue = catalogue();
    for (name, presets) in GAMES {
        let rules = catalogue.load(name, presets).unwrap_or_else(|it| panic!("{name}: {it}"));
        for seed in 0..if full { 100 } else { 1 } {
            let mut choices = Choices(seed);
            let mut game = rules.start(None).expect("it starts");
            let longest = if full { 400 } else { 30 };
            while game.result().is_none() && game.history().len() < longest {
                let fen = game.fen();
                let mut again = rules.start(Some(&fen)).unwrap_or_else(|it| panic!("{name}: {it}"));
                assert_eq!(again.fen(), fen, "{name}");
                let moves = game.listing();
                if rules.unsaid(&mut game).is_empty() {
                    let texts = |all: &[(String, _)]| -> Vec<String> {
                        all.iter().map(|it: &(String, _)| it.0.clone()).collect()
                    };
                    assert_eq!(texts(&moves), texts(&again.listing()), "{name}: {fen}");
                }
                assert!(!moves.is_empty(), "{name} goes on, but there is no move: {fen}");
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
fn results_are_those_of_the_games() {
    let ended = |game: &str, moves: &str| {
        let rules = catalogue().load::<&str>(game, &[]).expect("it loads");
        let mut game = rules.start(None).expect("it starts");
        for text in moves.split(' ') {
            game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        }
        game.result().map(|it| it.to_string())
    };
    let is = |text: &str| Some(text.to_owned());
    assert_eq!(ended("noughts-and-crosses", "a1 b1 a2 b2 a3"), is("white wins by row"));
    assert_eq!(ended("noughts-and-crosses", "a1 b1 a2 b2"), None);
    let drawn = "b2 a1 a3 c1 b1 b3 a2 c2 c3";
    assert_eq!(ended("noughts-and-crosses", drawn), is("draw by full board"));
    assert_eq!(ended("connect-four", "a1 b1 a2 b2 a3 b3 a4"), is("white wins by row"));
}

#[test]
fn what_is_made_for_another_family_is_refused_in_words() {
    let catalogue = catalogue();
    assert_eq!(
        refusal(&catalogue, "hex", &["coregal"]),
        "preset coregal is made for games of the family chess, and hex is of the family stones"
    );
    let games = with(&[
        ("mine/lost.dl", ".meta game \"lost\"\n.meta family \"ches\"\n.meta start \"8 w\"\n"),
        (
            "mine/mixed.dl",
            ".meta game \"mixed\"\n.meta family \"stones\"\n.meta layout \"orthodox\"\n",
        ),
        (
            "mine/eager.dl",
            ".meta preset \"eager\"\n.domain Preset += { eager }\n\
             forbidden(p, t) :- active('eager, _), own(p), attacks(p, t).\n",
        ),
    ]);
    assert_eq!(
        refusal(&games, "lost", &[]),
        "game lost is made for the family ches, which does not exist; did you mean chess?"
    );
    assert_eq!(
        refusal(&games, "mixed", &[]),
        "layout orthodox is made for games of the family chess, and mixed is of the family stones"
    );
    let own = ".meta game \"own\"\n.meta start \"8/8/8/8/8/8/8/8 w\"\nforbidden(p, t) :- own(p), at(p, t).\n";
    assert_eq!(
        refusal(&with(&[("mine/own.dl", own)]), "own", &[]),
        "game own speaks of forbidden, which the family chess has, and own is of no family: \
         `.meta family \"chess\"` names the family that rules are made for, \
         `.decl` declares a relation of their own"
    );
    let for_all = "forbidden(p, t) :- own(p), at(p, t).\n";
    assert_eq!(
        refusal(&with(&[("mine/all.dl", for_all)]), "hex", &[]),
        "mine/all.dl speaks of forbidden, which the family chess has, and hex is of the family stones: \
         `.meta family \"chess\"` names the family that rules are made for, \
         `.decl` declares a relation of their own"
    );
    games.load("chess", &["eager"]).expect("chess has all that it speaks of");
    assert_eq!(
        refusal(&games, "hex", &["eager"]),
        "preset eager speaks of forbidden, which the family chess has, and hex is of the family stones: \
         `.meta family \"chess\"` names the family that rules are made for, \
         `.decl` declares a relation of their own"
    );
}

/// A kind without a letter, with an odd one, or with another's would be lost in a FEN.
#[test]
fn letters_are_checked() {
    let game = |letter: &str| {
        let text = format!(
            ".meta game \"it\"\n.meta layout \"orthodox\"\n.domain Kind += {{ camel }}\n{letter}\n"
        );
        with(&[("mine/it.dl", &text)])
            .load::<&str>("it", &[])
            .map(|_| ())
            .map_err(|it| it.to_string())
    };
    assert_eq!(game("letter('camel, \"c\")."), Ok(()));
    let none = "camel has no letter, so no FEN could name it: write `letter('camel, \"x\").`";
    assert_eq!(game(""), Err(none.into()));
    for (letter, why) in [
        (
            "n",
            "knight and camel are both written \"n\", so a game cannot have both: give one of them another letter",
        ),
        (
            "nx",
            "knight is written \"n\", and the letter of camel, \"nx\", begins with that: a FEN \
             could not tell them apart, so give one of them another letter",
        ),
        (
            "C",
            "camel is written \"C\": write it in small letters and signs, without capitals, digits, blanks \
             or any of /[](){},;=@$-",
        ),
        ("c2", "camel is written \"c2\": write it in small letters and signs"),
        ("", "camel is written \"\": write it in small letters and signs"),
        ("c=", "camel is written \"c=\": write it in small letters and signs"),
        (
            "c+",
            "camel is written \"c+\", but '+' at the end of a move means something else: put the sign before \
             the letter",
        ),
    ] {
        let refused = game(&format!("letter('camel, \"{letter}\")."));
        let refused = refused.expect_err("it is refused");
        assert!(refused.starts_with(why), "{refused}");
    }
    for (letter, why) in [
        (
            "B",
            "bishop is written \"B\" in moves, but knight is written \"B\" there: neither may begin",
        ),
        (
            "CX",
            "camel is written \"C\" in moves, but knight is written \"CX\" there: neither may begin",
        ),
        (
            "h",
            "knight is written \"h\" in moves, but letters in moves are capitals and signs, without",
        ),
        ("N2", "knight is written \"N2\" in moves, but letters in moves are capitals and signs"),
        ("N+", "knight is written \"N+\" in moves, but letters in moves are capitals and signs"),
        ("", "knight is written \"\" in moves, but letters in moves are capitals and signs"),
    ] {
        let texts = format!("letter('camel, \"c\").\nsan_letter('knight, \"{letter}\").");
        let refused = game(&texts).expect_err("it is refused");
        assert!(refused.starts_with(why), "{refused}");
    }
    assert_eq!(game("letter('camel, \"c\").\nsan_letter('knight, \"+H\")."), Ok(()));
    let mark = "letter('camel, \"+c\").\n.meta fen \"mark +=tired\"\n\
                .input tired(piece: Entity) flag attr tired \"{piece} is tired\"";
    let marked = "camel is written \"+c\", but '+' marks pieces: give one of them another sign";
    assert_eq!(game(mark), Err(marked.into()));
}

/// Horses and elephants of xiangqi are H and E in moves, N and B on the board.
#[test]
fn a_piece_that_no_move_has_is_answered_by_the_letters_of_moves() {
    let rules = catalogue().load::<&str>("xiangqi", &[]).expect("it loads");
    let mut game = rules.start(None).expect("it starts");
    let refused = game.find_move("Zf3").expect_err("no piece is written Z").to_string();
    assert!(refused.contains("expected a piece (PHERQKCA)"), "{refused}");
}

#[test]
fn sizes_are_checked() {
    let game = |size: &str| {
        let text = format!(
            ".meta game \"it\"\n.meta family \"stones\"\n.meta start \"3/3/3 w\"\n{size}\n"
        );
        refusal(&with(&[("mine/it.dl", &text)]), "it", &[])
    };
    assert!(game(".meta board \"ten\"").contains("\"ten\" is no size"));
    assert!(game(".meta board \"oct 8\"").starts_with("mine/it.dl:4: there is no board \"oct 8\""));
    assert!(game(".meta board \"20x8\"").contains("16 files"));
    assert!(game(".meta entities \"many\"").contains("\"many\" is no size"));
    assert!(game(".meta entities \"5000\"").contains("128 entities"));
}

/// Pieces in hand and signs after letters are read as they are written, and what is none is refused.
#[test]
fn a_fen_tells_hands_and_marks() {
    let rules = catalogue().load::<&str>("crazyhouse", &[]).expect("it loads");
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
        "4k3/8/8/3Q~4/8/8/8/4K3[PPNbbq] b - - 0 40",
    ] {
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        assert_eq!(game.fen(), fen);
        assert!(rules.unsaid(&mut game).is_empty());
    }
    let bare = "4k3/8/8/8/8/8/8/4K3 w - - 0 1";
    assert_eq!(
        rules.start(Some(bare)).expect("no hand is an empty one").fen().matches("[]").count(),
        1
    );
    for (hand, why) in [
        ("[N", "expected `]` after the pieces in hand"),
        ("[N3]", "found '3'"),
        ("[X]", "found 'X'"),
    ] {
        let fen = format!("4k3/8/8/8/8/8/8/4K3{hand} w - - 0 1");
        let refused = rules.start(Some(&fen)).map(|_| ()).expect_err(hand).to_string();
        assert!(refused.contains(why), "{refused}");
    }
    for (lines, why) in [
        ("mark /=tired", "the mark tired is \"/\", not one sign of punctuation"),
        ("mark (=tired", "the mark tired is \"(\", not one sign of punctuation"),
        (
            "mark *=tired|prefix *=tired",
            "the mark * stands for tired after a letter and for tired before a letter",
        ),
        ("mark *=tired|wall *=hole", "the sign * stands for tired and for hole"),
        ("wall *=hole|wall #=hole", "the word wall stands for hole as * and for hole as #"),
        ("wall hole", "the sign of walls is \"hole\", not one sign of punctuation other than"),
        ("?tired=tired", "may have pieces as values, and none of pieces a `?` before its key"),
        ("dashes 2|dashes 2|dashes 3", "the word dashes stands for 2 and for 3"),
    ] {
        let lines: String = lines.split('|').map(|it| format!(".meta fen \"{it}\"\n")).collect();
        let game = format!(
            ".meta game \"odd\"\n.meta layout \"orthodox\"\n{lines}\
             .input tired(piece: Entity) flag attr tired \"{{piece}} is tired\"\n\
             .input hole(square: Square) of Square attr hole \"{{square}} is a hole\"\n"
        );
        let refused = refusal(&with(&[("mine/odd.dl", &game)]), "odd", &[]);
        assert!(refused.contains(why), "{refused}");
    }
}

/// Crazyhouse drops kinds that it does not know by the letters that FEN has for them.
#[test]
fn kinds_of_other_files_are_dropped_by_their_letters() {
    let rules = catalogue().load("capablanca", &["crazyhouse"]).expect("it loads");
    let fen = "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR[AC] w KQkq - 0 1";
    let mut game = rules.start(Some(fen)).expect("it starts");
    let texts: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
    for text in ["A@e4", "C@e4"] {
        assert!(texts.iter().any(|it| it == text), "{text}");
        assert!(game.find_move(text).is_ok(), "{text}");
    }
}

/// A piece comes into hand as it dies: not when a capture only wounds it, and not when it dies of what another's capture
/// sets off.
#[test]
fn what_survives_its_capture_does_not_come_into_hand() {
    for (preset, moves, hand) in [
        ("piece-hp", "e2e4 d7d5 e4d5", "[]"),
        ("piece-hp", "e2e4 d7d5 e4d5 a7a6 e4d5", "[P]"),
        ("piece-shield", "e2e4 d7d5 e4d5", "[]"),
        ("atomic", "e2e4 d7d5 e4d5", "[P]"),
        ("atomic", "b1c3 b8c6 c3b5 h7h6 b5a7", "[P]"),
    ] {
        let rules = catalogue().load("crazyhouse", &[preset]).expect("it loads");
        let mut game = rules.start(None).expect("it starts");
        for text in moves.split(' ') {
            game.play_text(text).unwrap_or_else(|it| panic!("{preset}: {text}: {it}"));
        }
        assert!(game.fen().contains(&format!("{hand} ")), "{preset}, {moves}: {}", game.fen());
    }
    for (preset, hand) in [("piece-hp", "[]"), ("piece-hp:both:hp=1", "[R]")] {
        let rules = catalogue().load("minishogi", &[preset]).expect("it loads");
        let mut game = rules.start(Some("4k/5/2r2/2P2/K4[] w - - 0 1")).expect("it starts");
        game.play_text("c2c3").unwrap_or_else(|it| panic!("{preset}: {it}"));
        assert!(game.fen().contains(&format!("{hand} ")), "{preset}: {}", game.fen());
    }
}

/// Letters of several signs: on the board, in hand, in moves, and on the boards that are drawn.
#[test]
fn letters_of_several_signs_are_read_as_they_are_written() {
    let rules = catalogue().load::<&str>("minishogi", &[]).expect("it loads");
    for fen in [
        "rbsgk/4p/5/P4/KGSBR[] w - - 0 1",
        "2k1s/1+r3/K3g/2r1+B/b+p1+p1[Sg] w - - 0 44",
        "+R3k/5/2+s2/5/K3+P[PPSbbg] b - - 0 9",
    ] {
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        assert_eq!(game.fen(), fen);
        for (uci, mv) in game.listing() {
            let san = san(&mut game, &mv);
            assert_eq!(game.find_move(&uci).ok().as_ref(), Some(&mv), "{uci}");
            assert_eq!(game.find_move(&san).ok().as_ref(), Some(&mv), "{san}");
        }
    }
    let empty = rules.start(Some("rbsgk/4p/5/P4/KGSBR[-] w - - 0 1")).expect("an empty hand").fen();
    assert_eq!(empty, "rbsgk/4p/5/P4/KGSBR[] w - - 0 1");
    let odd = rules.start(Some("+gbsgk/4p/5/P4/KGSBR[] w - - 0 1")).map(|_| ()).expect_err("no +g");
    assert!(odd.to_string().contains("found '+', expected a piece (p, n, b,"), "{odd}");
    let mut game = rules.start(Some("3k1/4P/2+s2/5/K3+R[P] w - - 0 9")).expect("it starts");
    for (text, written) in [("e4e5+", "P-11+"), ("P@c4", "P*32"), ("e1d1", "+R-25")] {
        let mv = game.find_move(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        assert_eq!(san(&mut game, &mv), written);
    }
    let pgn = "[Variant \"minishogi\"]\n[SetUp \"1\"]\n[FEN \"3k1/4P/2+s2/5/K3+R[P] w - - 0 9\"]\n\n\
               9. P-11+ K-32 10. +R-25 K-41 11. P*43 *\n";
    let path = crate::cli::scratch("signs.pgn", pgn);
    let judged = crate::cli::rulemate(&["referee", &path]);
    assert_eq!(judged.code, 0, "{}{}", judged.out, judged.err);
    assert!(judged.out.starts_with(&format!("{path}#1 ok *\n")), "{}", judged.out);
    let cells = game.cells();
    assert_eq!(cells[2][2].as_deref(), Some("+s"));
    assert_eq!(cells[4][4].as_deref(), Some("+R"));
}

/// A field that is left out where it is as at the start is there where it has no value.
#[test]
fn a_quiet_field_is_left_out_only_with_its_default() {
    let text = ".meta game \"told\"\n.meta layout \"orthodox\"\n.meta family \"chess\"\n\
                .meta fen \"?heat=heat\"\n.input heat(n: Int) game attr heat = 0 \"the heat is {n}\"\n";
    let rules = with(&[("mine/told.dl", text)]);
    let rules = rules.load::<&str>("told", &[]).unwrap_or_else(|it| panic!("{it}"));
    let bare = "4k3/8/8/8/8/8/8/4K3 w - - 0 1";
    for (field, written) in
        [("", ""), (" heat=0", ""), (" heat=3", " heat=3"), (" heat=-", " heat=-")]
    {
        let mut game = rules.start(Some(&format!("{bare}{field}"))).expect("it starts");
        assert_eq!(game.fen(), format!("{bare}{written}"));
    }
}

/// What a file declares of pieces and of the game is in the FEN, and comes back from it; what makes no
/// sense is refused with its place.
#[test]
fn a_fen_tells_what_files_declare() {
    let text = ".meta game \"told\"\n.meta layout \"orthodox\"\n.meta family \"chess\"\n\
                .meta fen \"wet=wet\"\n.meta fen \"mood=mood\"\n.meta fen \"gate=gate\"\n.meta fen \"prefix !=brave\"\n\
                .domain Mood { calm, angry }\n\
                .input wet() game attr wet \"it is wet\"\n\
                .input gate(square: Square) game attr gate \"{square} is the gate\"\n\
                .input mood(piece: Entity, mood: Mood) key attr mood \"{piece} is {mood}\"\n\
                .input brave(piece: Entity) flag attr brave \"{piece} is brave\"\n\
                .decl misplaced(square: Square) \"the gate {square} is taken\"\n\
                misplaced(s) :- gate(s), occupied(s).\n\
                on move(p, _) when kind(p, 'pawn) do set brave(p), set mood(p, 'angry), set wet().\n";
    let rules = with(&[("mine/told.dl", text)]);
    let rules = rules.load::<&str>("told", &[]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).expect("it starts");
    game.play_text("e2e4").expect("it is legal");
    let fen =
        "rnbqkbnr/pppppppp/8/8/4!P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 wet=true mood=-,e4:angry";
    assert_eq!(game.fen(), fen);
    assert!(rules.unsaid(&mut game).is_empty());
    let start =
        |fen: &str| rules.start(Some(fen)).map(|mut it| it.fen()).map_err(|it| it.to_string());
    let bare = "4k3/8/8/8/4!P!3/8/8/4K3 w - - 0 1";
    assert_eq!(
        start(bare),
        Err("piece placement of the FEN, byte 13: found '!', expected a piece (pnbrqk) or a number of \
             empty squares".into())
    );
    let bare = "4k3/8/8/8/4P3/8/8/4K3 w - - 0 1";
    for (fields, found) in [
        ("mood=calm", Ok("mood=calm")),
        ("gate=d5 wet=false", Ok("wet=false gate=d5")),
        ("mood=calm,e4:-,e8:angry", Ok("mood=-,e1:calm,e8:angry")),
        ("mood=sad", Err("found \"sad\", expected calm, angry, or -")),
        ("mood=calm,e4", Err("found \"\", expected calm, angry, or -")),
        (
            "mood=calm,x9:calm",
            Err("found \"x9\", expected a square, each once, and `:VALUE` after it"),
        ),
        ("mood=calm,e4:calm,e4:-", Err("found \"e4\", expected a square, each once")),
        ("wet=2", Err("found \"2\", expected false, true, or -")),
        ("gate=j9", Err("found \"j9\", expected a square, or -")),
        ("gate=e4", Err("the position is none of this game: the gate e4 is taken")),
        ("gates=d5", Err("expected wet=VALUE or mood=VALUE or gate=VALUE or the end")),
    ] {
        let told = start(&format!("{bare} {fields}"));
        match (told, found) {
            (Ok(told), Ok(found)) => assert_eq!(told, format!("{bare} {found}")),
            (Err(told), Err(found)) => assert!(told.contains(found), "{fields}: {told}"),
            (told, _) => panic!("{fields}: {told:?}"),
        }
    }
    let text = ".meta game \"odd\"\n.meta layout \"orthodox\"\n.meta fen \"who=partner\"\n";
    let refused = refusal(&with(&[("mine/odd.dl", text)]), "odd", &[]);
    assert!(
        refused.contains(
            "not an attribute of the game, of pieces or of a domain's members, whose values"
        ) && refused.contains(
            "are numbers or members of a domain; only an attribute of the game may have pieces as values"
        ),
        "{refused}"
    );
    let shogi = catalogue().load::<&str>("minishogi", &[]).expect("it loads");
    let doubled =
        shogi.start(Some("k4/2p2/2p2/5/4K[] w - - 0 1")).map(|_| ()).expect_err("two pawns");
    assert!(doubled.to_string().ends_with("black has two pawns on file 3"), "{doubled}");
    let text = ".meta game \"barred\"\n.meta layout \"orthodox\"\n.meta family \"chess\"\n\
                .decl misplaced(piece: Entity, to: Square) \"{piece} may not be on {to}\"\n\
                misplaced(p, s) :- at(p, s), kind(p, 'pawn), rank(s, 5).\n";
    let barred = with(&[("mine/barred.dl", text)]);
    let barred = barred.load::<&str>("barred", &[]).unwrap_or_else(|it| panic!("{it}"));
    let barred = barred.start(Some("4k3/8/8/4P3/8/8/8/4K3 w - - 0 1")).map(|_| ());
    let told = barred.expect_err("a pawn on e5").to_string();
    assert!(told.ends_with("the white pawn on e5 may not be on e5"), "{told}");
}

/// After every turn of every game, what its FEN sets up has the same facts but for the history. (Within a turn
/// of several actions a FEN need not tell who has begun it.)
#[test]
fn the_fen_of_every_game_tells_all_of_it() {
    let full = crate::fixture::is_full();
    let catalogue = catalogue();
    let mut plies = 0;
    for entry in catalogue.games() {
        let rules = catalogue.load::<&str>(&entry.name, &[]).expect("it loads");
        for seed in 0..if full { 50 } else { 1 } {
            let mut choices = Choices(seed);
            let mut game = rules.start(None).expect("it starts");
            while game.result().is_none() && game.history().len() < if full { 200 } else { 16 } {
                let begun = game.program().relation_named("mid_turn");
                if !begun.is_some_and(|it| game.world_mut().any(it)) {
                    assert!(rules.unsaid(&mut game).is_empty(), "{}: {}", entry.name, game.fen());
                }
                let moves = game.listing();
                let mv = moves[choices.below(moves.len())].1.clone();
                game.play(&mv).unwrap_or_else(|it| panic!("{}: {it}", entry.name));
                plies += 1;
            }
        }
    }
    assert!(plies > 600, "{plies}");
}

/// A pawn that is dropped may not mate; by the rules of Fairy-Stockfish it may, and loses.
#[test]
fn no_pawn_that_is_dropped_mates() {
    let fen = "3k1/R1s2/2ggp/s4/2KR+B[pb] b - - 1 35";
    let listed = |game: &str| {
        let rules = catalogue().load::<&str>(game, &[]).expect("it loads");
        rules.start(Some(fen)).expect("it starts")
    };
    let is_mate = |it: &(String, _)| it.0 == "P@c2";
    assert!(!listed("minishogi").listing().iter().any(is_mate));
    let mut game = listed("minishogi-fairy");
    game.play_text("P@c2").expect("it may be dropped");
    assert_eq!(
        game.result().map(|it| it.to_string()).as_deref(),
        Some("white wins by pawn drop mate")
    );
}

/// Ten lines that speak of nothing but what all games have go on any of them.
#[test]
fn a_preset_for_all_games_goes_on_every_family() {
    let quick = ".meta preset \"quick\"\n.meta name \"Quick\"\n.meta description \"Ten plies, then a draw\"\n\
         .domain Preset += { quick }\n.domain Reason += { quick }\n\
         .input played(n: Int) game attr \"quick.played\" = 0 \"{n} actions were taken\"\n\
         on any in count when active('quick, _), played(n) do set played(n + 1).\n\
         finish('draw, 'quick) :- active('quick, _), played(n), n >= 10.\n";
    let catalogue = with(&[("mine/quick.dl", quick)]);
    for name in ["chess", "hex", "checkers", "othello", "antichess", "cotulenh"] {
        let rules = catalogue.load(name, &["quick"]).unwrap_or_else(|it| panic!("{name}: {it}"));
        let mut game = rules.start(None).expect("it starts");
        let mut choices = Choices(7);
        for ply in 0..10 {
            assert!(game.result().is_none(), "{name}, ply {ply}");
            let moves = game.listing();
            let mv = moves[choices.below(moves.len())].1.clone();
            game.play(&mv).unwrap_or_else(|it| panic!("{name}: {it}"));
        }
        assert_eq!(
            game.result().map(|it| it.to_string()).as_deref(),
            Some("draw by quick"),
            "{name}"
        );
    }
}

/// A preset may have parts for games of some families: their reactions are the preset's, their options too.
#[test]
fn a_preset_of_several_files_goes_on_each_family_with_its_part() {
    let whole = ".meta preset \"toll\"\n.meta name \"Toll\"\n.meta description \"What it counts ends the game\"\n\
         .domain Preset += { toll }\n.domain Reason += { toll }\n\
         .input paid(n: Int) game attr \"toll.paid\" = 0 \"{n} are paid\"\n\
         .input price(activation: Entity, n: Int) key attr \"toll.price\" = 2 \"{n} are due\"\n\
         finish('draw, 'toll) :- paid(n), preset(e, 'toll), price(e, m), n >= m.\n";
    let moves = ".meta part \"toll\"\n.meta family \"chess\"\n\
         on move(p, _) in count when kind(p, 'pawn), paid(n) do set paid(n + 1).\n";
    let walks = ".meta part \"toll\"\n.meta family \"draughts\"\n\
         .input slow(activation: Entity) flag attr \"toll.slow\" = false \"men pay twice\"\n\
         on walk(_, _) in count when paid(n), !slow(_) do set paid(n + 1).\n\
         on walk(_, _) in count when paid(n), slow(_) do set paid(n + 2).\n";
    let files = [("mine/toll.dl", whole), ("mine/moves.dl", moves), ("mine/walks.dl", walks)];
    let catalogue = with(&files);
    let ended = |game: &str, preset: &str, moves: &[&str]| {
        let rules = catalogue.load(game, &[preset]).unwrap_or_else(|it| panic!("{game}: {it}"));
        let mut game = rules.start(None).expect("it starts");
        for text in moves {
            game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        }
        let bytes = Save::of(&game, &rules, Content::default()).expect("a save").write(Form::Json);
        let tally = audit::save(&bytes, "", &catalogue, RulesFrom::Here, &mut |_| {});
        assert_eq!(tally.map_err(|it| it.to_string()).map(|it| it.plies), Ok(moves.len()));
        game.result().map(|it| it.to_string())
    };
    let over = Some("draw by toll".to_owned());
    assert_eq!(ended("chess", "toll", &["g1f3", "e7e5", "f3g1"]), None);
    assert_eq!(ended("chess", "toll", &["e2e4", "e7e5"]), over);
    assert_eq!(ended("checkers", "toll", &["a3b4"]), None);
    assert_eq!(ended("checkers", "toll:both:slow=true", &["a3b4"]), over);
    assert_eq!(ended("connect-four", "toll", &["a1", "b1"]), None);
    let refused = refusal(&catalogue, "chess", &["toll:both:slow=true"]);
    assert!(refused.contains("slow"), "{refused}");

    let mut catalogue = self::catalogue();
    let mut add = |text: &str| {
        let source = Source { path: "mine/part.dl".into(), text: text.into() };
        catalogue.add(source).map_err(|it| it.to_string())
    };
    assert_eq!(
        add(".meta part \"stamina\"\n"),
        Err("mine/part.dl:1: a part of a preset says for which games: `.meta family \"NAME\"`"
            .into())
    );
    assert_eq!(
        add(".meta part \"stamina\"\n.meta family \"chess\"\n.meta preset \"mine\"\n"),
        Err("mine/part.dl:3: a part of a preset is no preset".into())
    );
    assert_eq!(
        add(".meta part \"double-move\"\n.meta family \"chess\"\n"),
        Err("mine/part.dl:1: rules/presets/double-move.chess.dl has the name double-move.chess already: \
              choose another one".into())
    );
    let alone = with(&[("mine/part.dl", ".meta part \"stamia\"\n.meta family \"chess\"\n")]);
    assert_eq!(
        refusal(&alone, "chess", &["stamina"]),
        "mine/part.dl is a part of preset stamia, which does not exist; did you mean stamina?"
    );
}

/// Tired men stay, poison works on stones, and a turn has two half-moves, on boards without chess.
#[test]
fn shared_presets_do_what_they_say_on_other_families() {
    let played = |game: &str, presets: &[&str], fen: Option<&str>, moves: &str| {
        let rules = catalogue().load(game, presets).unwrap_or_else(|it| panic!("{game}: {it}"));
        let mut game = rules.start(fen).expect("it starts");
        for text in moves.split_whitespace() {
            game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        }
        game
    };
    let can = |game: &mut Game, from: &str| game.listing().iter().any(|it| it.0.starts_with(from));
    let men = Some("1o6/8/8/8/8/8/8/O5O1 w 1");
    let mut tired = played("checkers", &["stamina"], men, "a1b2 b8a7 b2c3 a7b6");
    assert!(!can(&mut tired, "c3") && can(&mut tired, "g1"));
    assert!(can(&mut played("checkers", &[], men, "a1b2 b8a7 b2c3 a7b6"), "c3"));
    let mut game = played("connect-four", &["double-move"], None, "a1 b1");
    assert_eq!(game.fen(), "7/7/7/7/7/OO5 b 1");
    game.play_text("c1").expect("Black's first");
    assert!(game.fen().ends_with(" b 1 hm=1"), "{}", game.fen());
    let poison = ["piece-hp", "poisoned-squares:both:squares=b2"];
    let mut game = played("noughts-and-crosses", &poison, None, "b2 a1");
    assert_eq!(game.fen(), "3/3/o2 w 2 hp=2", "what stood on b2 is gone");
    // A pawn that must promote is held back as other pieces are.
    let before = |fen| played("minishogi", &["double-move"], Some(fen), "");
    assert!(can(&mut before("4k/P4/5/5/4K[] w - - 0 1"), "a4"));
    assert!(!can(&mut before("k4/P4/5/5/4K[] w - - 0 1"), "a4"), "no king is captured");
    let mut game = played("minishogi", &["stamina"], None, "e1e3 a5a4 e3e1 a4a5");
    assert!(!can(&mut game, "e1") && can(&mut game, "d1"));
}

/// What fields of pieces cannot say is said to be left out; what they can say comes back, however large.
#[test]
fn fields_of_a_fen_say_what_they_leave_out() {
    let file = ".meta preset \"tally\"\n.meta name \"Tally\"\n.meta description \"Counts what has moved\"\n\
                .meta fen \"n=count\"\n.meta fen \"w=weight\"\n.domain Preset += { tally }\n\
                .input count(n: Int) game attr \"tally.count\" = 7 \"{n} so far\"\n\
                .input weight(piece: Entity, n: Int) key attr \"tally.weight\" = 0 \"{piece} weighs {n}\"\n\
                on any in after when active('tally, _), count(n) do set count(n * 100000 - 900000).\n\
                on any in after when active('tally, _), !count(_), at(p, s), file(s, 5), rank(s, 1) do set weight(p, 0 - 70000).\n\
                on any in after when active('tally, _), count(n), n < 0 do retract count().\n";
    let catalogue = with(&[("mine/tally.dl", file)]);
    let rules = catalogue.load("crazyhouse", &["tally"]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).expect("it starts");
    for (text, field) in [("e2e4", " n=-200000"), ("d7d5", " n=-"), ("e4d5", " n=- w=-,e1:-70000")]
    {
        game.play_text(text).expect("a move");
        let fen = game.fen();
        assert!(fen.ends_with(field), "{fen}");
        let mut again = rules.start(Some(&fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        assert_eq!(again.fen(), fen);
        assert_eq!(rules.unsaid(&mut game), Vec::<String>::new(), "{fen}");
    }
    // In hand a piece is on no square that a field could name.
    let file = file.replace("at(p, s), file(s, 5), rank(s, 1)", "kind(p, _), !at(p, _)");
    let catalogue = with(&[("mine/tally.dl", &file)]);
    let rules = catalogue.load("minishogi", &["tally"]).unwrap_or_else(|it| panic!("{it}"));
    let mut game = rules.start(None).expect("it starts");
    for text in ["a2a3", "a5a4", "c1c2", "b5c4", "e1e4", "e5e4"] {
        game.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
    }
    assert_eq!(rules.unsaid(&mut game), ["tally.weight"], "{}", game.fen());
}

/// Rule files are one family's, the core's or a game's: the core speaks of nothing that only chess has.
#[test]
fn the_core_knows_no_chess() {
    let words = [
        "castl", "passant", "promot", "king", "pawn", "rook", "bishop", "queen", "knight",
        "halfmove",
    ];
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/core");
    for entry in std::fs::read_dir(core).expect("a folder") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a file");
        for (number, line) in text.lines().enumerate() {
            let line = line.split('%').next().unwrap_or_default();
            let mut spoken = line.split(|it: char| !it.is_ascii_alphabetic());
            let found = spoken.find(|it| words.iter().any(|word| it.starts_with(word)));
            assert_eq!(found, None, "{}:{}: {line}", path.display(), number + 1);
        }
    }
}
