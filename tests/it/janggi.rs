//! Janggi and seirawan, beyond the vectors of Fairy-Stockfish: games that end by passing, by generals that face each
//! other and by counts, what a FEN tells of that, and FENs along a game. Results and FENs are those of pyffish 0.0.90.

use rulemate::internals::derive::explain::Limits;
use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::Warning;
use rulemate::internals::moves::notation::chess::Oddity;
use rulemate::internals::presets::Catalogue;

const JANGGI: [&str; 4] = ["janggi", "janggi-traditional", "janggi-modern", "janggi-casual"];

fn start(game: &str, fen: Option<&str>) -> Game {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>(game, &[]).unwrap_or_else(|it| panic!("{game}: {it}"));
    rules.start(fen).unwrap_or_else(|it| panic!("{game}: {it}"))
}

fn play(game: &mut Game, moves: &str) {
    for mv in moves.split(' ') {
        game.play_text(mv).unwrap_or_else(|it| panic!("{mv}: {it}"));
    }
}

fn ended(game: &Game) -> &str {
    game.result().map_or("-", |it| &it.outcome)
}

#[test]
fn passing_and_generals_that_face_each_other_end_games_of_janggi() {
    let alone = "3k5/9/9/9/9/9/9/9/4K4/9 w - - 0 1";
    let ahead = "3k5/9/9/9/9/9/9/9/4K4/R8 w - - 0 1";
    let even = "3k5/r8/9/9/9/9/9/9/4K4/R8 w - - 0 1";
    for (fen, moves, outcomes) in [
        // White faces the other general, Black passes. A chariot each, so Black has a point and a half more.
        (ahead, "e2d2 d10d10", ["white_wins", "draw", "-", "-"]),
        (even, "e2d2 d10d10", ["black_wins", "draw", "-", "-"]),
        // Black goes away.
        (ahead, "e2d2 d10e10 a1a2", ["-"; 4]),
        // Two passes.
        (ahead, "e2e2 d10d10", ["white_wins", "draw", "white_wins", "draw"]),
        (alone, "e2e2 d10d10", ["black_wins", "draw", "black_wins", "draw"]),
        (alone, "e2e2 d10d9 e2e2", ["-"; 4]),
    ] {
        for (game, outcome) in JANGGI.into_iter().zip(outcomes) {
            let mut it = start(game, Some(fen));
            play(&mut it, moves);
            assert_eq!(ended(&it), outcome, "{game} {fen} {moves}");
        }
    }
}

#[test]
fn counts_end_games_of_janggi() {
    let late = |plies| {
        format!("rnba1abnr/4k4/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/4K4/RNBA1ABNR w - - {plies} 70")
    };
    let to_and_fro = "a1a2 a10a9 a2a1 a9a10";
    for (game, times, plies, outcome) in [
        ("janggi", 2, 99, "black_wins"),
        ("janggi-traditional", 2, 99, "draw"),
        ("janggi-modern", 3, 199, "black_wins"),
        ("janggi-casual", 2, 99, "draw"),
    ] {
        let mut repeated = start(game, None);
        for _ in 0..times {
            assert_eq!(ended(&repeated), "-", "{game}");
            play(&mut repeated, to_and_fro);
        }
        assert_eq!(ended(&repeated), outcome, "{game}");
        let mut counted = start(game, Some(&late(plies)));
        assert_eq!(ended(&counted), "-", "{game}");
        play(&mut counted, "e2e2");
        assert_eq!(ended(&counted), outcome, "{game}");
    }
}

/// Nobody passes in check, but for generals that face each other.
#[test]
fn passing_is_refused_in_check() {
    let checked = "3k5/9/9/9/r8/9/9/9/9/r3K4 w - - 0 1";
    let mut game = start("janggi", Some(checked));
    let legal: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
    assert_eq!(legal, ["e1e2"]);
    let faced = checked.replace("3k5", "4k4");
    let mut game = start("janggi", Some(&faced));
    let legal: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
    assert_eq!(legal, ["e1e1"]);
    let explained = game.explain_move("e1e2", Limits::default()).expect("a move");
    assert!(explained.summary.contains("the generals face each other"), "{}", explained.summary);
    play(&mut game, "e1e1");
    assert_eq!(ended(&game), "black_wins");
}

/// Who has passed, and that a game is over by bikjang, is in the FEN; of other positions it is that of others.
#[test]
fn a_fen_of_janggi_tells_of_passes() {
    let mut game = start("janggi", Some("3k5/9/9/9/9/9/9/9/4K4/R8 w - - 0 1"));
    play(&mut game, "e2e2");
    assert_eq!(game.fen(), "3k5/9/9/9/9/9/9/9/4K4/R8 b - - 1 1 passed=1");
    let mut again = start("janggi", Some(&game.fen()));
    play(&mut again, "d10d10");
    assert_eq!(ended(&again), "white_wins");
    play(&mut game, "d10d9");
    assert_eq!(game.fen(), "9/3k5/9/9/9/9/9/9/4K4/R8 w - - 2 2");
    play(&mut game, "e2d2 d9d9");
    let over = game.fen();
    assert_eq!(ended(&start("janggi", Some(&over))), "white_wins", "{over}");
}

/// The castling rights of seirawan are followed by the files of the other pieces that have not moved, as long as
/// something is in hand.
#[test]
fn fens_of_seirawan_are_those_of_others() {
    for (moves, placement, rights) in [
        ("g1f3h", "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKBHR", "KQBCDFkqbcdfg"),
        (
            "e2e4 e7e5 g1f3 g8f6 f1e2 f8e7 e1g1h",
            "rnbqk2r/ppppbppp/5n2/4p3/4P3/5N2/PPPPBPPP/RNBQHRK1",
            "ABCDkqbcd",
        ),
        (
            "e2e4 e7e5 g1f3 g8f6 f1e2 f8e7 h1e1h",
            "rnbqk2r/ppppbppp/5n2/4p3/4P3/5N2/PPPPBPPP/RNBQ1RKH",
            "ABCDkqbcd",
        ),
        (
            "e2e4 e7e5 e1e2 e8e7",
            "rnbq1bnr/ppppkppp/8/4p3/4P3/8/PPPPKPPP/RNBQ1BNR",
            "ABCDFGHabcdfgh",
        ),
        (
            "e2e4 d7d5 e4d5 d8d5 b1c3h d5a2 a1a2",
            "rnb1kbnr/ppp1pppp/8/8/8/2N5/RPPP1PPP/1HBQKBNR",
            "KCDFGkqbcfg",
        ),
        ("b1c3h b8c6h g1f3e g8f6e", "rhbqkber/pppppppp/2n2n2/8/8/2N2N2/PPPPPPPP/RHBQKBER", "KQkq"),
    ] {
        let mut game = start("seirawan", None);
        play(&mut game, moves);
        let fen = game.fen();
        let fields: Vec<&str> = fen.split(' ').collect();
        assert_eq!(fields[0].split('[').next(), Some(placement), "{moves}");
        assert_eq!(fields[2], rights, "{moves}");
        let mut again = start("seirawan", Some(&fen));
        assert_eq!((again.fen(), again.listing().len()), (fen.clone(), game.listing().len()));
        assert_eq!(again.warnings(), []);
    }
}

/// Files of pieces that have not moved are read in any order and beside rights to castle, which mean that rook and king
/// have not moved either. A file on which nothing stands is dropped.
#[test]
fn files_of_unmoved_pieces_stand_among_castling_rights() {
    let lone = |file| vec![Warning::Family(Oddity::NothingUnmoved { file })];
    for (fen, warnings, rights) in [
        ("rnbqkbnr/8/8/8/8/8/8/RNBQKBNR[EHeh] w KQBCDFGkqbcdfg -", vec![], "KQBCDFGkqbcdfg"),
        ("rnbqkbnr/8/8/8/8/8/8/RNBQKBNR[EHeh] w gkGK -", vec![], "KGkg"),
        // The king has gone to f1, and its rooks have not moved; the rooks have gone, and the king has not moved.
        ("4k3/8/8/8/8/8/8/R1BQ1K1R[EH] w HADC -", vec![], "ACDH"),
        ("4k3/8/8/8/8/8/8/1NB1K3[EH] w EB -", vec![], "BE"),
        ("4k3/8/8/8/8/8/8/1NB1K3[EH] w DB -", lone('D'), "B"),
        ("4k3/8/8/8/8/8/8/4K3[EH] w - -", vec![], "-"),
    ] {
        let mut game = start("seirawan", Some(&format!("{fen} 0 1")));
        assert_eq!(game.warnings(), warnings, "{fen}");
        let text = game.fen();
        assert_eq!(text.split(' ').nth(2), Some(rights), "{fen}");
        let mut again = start("seirawan", Some(&text));
        assert_eq!((again.fen(), again.warnings()), (text, &[][..]));
    }
}

/// What is gated blocks no check: a knight that is pinned stays, though a hawk could take its place.
#[test]
fn nothing_is_gated_where_the_move_alone_is_not_legal() {
    let pinned = "4k3/8/8/8/8/8/8/r2NK3[HE] w D - 0 1";
    let mut game = start("seirawan", Some(pinned));
    let legal: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
    assert!(legal.iter().all(|it| it.starts_with("e1")), "{legal:?}");
}
