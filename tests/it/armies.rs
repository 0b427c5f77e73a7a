//! Games whose sides have armies of their own, beyond the vectors of Fairy-Stockfish: what several moves lead to, and
//! what players are told.

use rulemate::internals::game::Game;
use rulemate::internals::presets::Catalogue;

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

/// Perpetual check loses in synochess and shinobi, and the third time of a position draws; in empire chess the side that
/// is to move in it has lost.
#[test]
fn repetitions_end_games_each_in_its_way() {
    let rook = "4k3/8/8/8/8/8/8/R4K2[] w - - 0 1";
    for (name, fen, moves, plies, outcome, reason) in [
        ("synochess", rook, "a1a8 e8e7 a8a7 e7e8 a7a8", 9, "black_wins", "perpetual_check"),
        ("synochess", rook, "a1a2 e8e7 a2a1 e7e8", 8, "draw", "threefold_repetition"),
        ("shinobi", rook, "a1a8 e8e7 a8a7 e7e8 a7a8", 9, "black_wins", "perpetual_check"),
        (
            "empire",
            "4k3/8/8/8/8/8/8/T4K2 w - - 0 1",
            "a1a2 e8e7 a2a1 e7e8",
            8,
            "black_wins",
            "threefold_repetition",
        ),
    ] {
        let mut game = start(name, Some(fen));
        let moves: Vec<&str> = moves.split(' ').collect();
        // The last four moves come again.
        let cycle = moves.iter().chain(moves[moves.len() - 4..].iter().cycle());
        for mv in cycle.take(plies) {
            assert_eq!(game.result(), None, "{name}");
            play(&mut game, mv);
        }
        let end = game.result().unwrap_or_else(|| panic!("{name} {moves:?}: no end"));
        assert_eq!((&*end.outcome, &*end.reason), (outcome, reason), "{name} {moves:?}");
    }
}

/// What may not be played, and why. Fairy-Stockfish lets a capture in passing leave the kings face to face.
#[test]
fn refusals_are_in_words_of_the_game() {
    for (name, fen, text, reason) in [
        (
            "empire",
            "8/8/6K1/5pP1/8/2E3k1/8/8 w - f6 0 1",
            "g5f6",
            "nothing stands between the kings",
        ),
        ("empire", "4k3/8/8/8/8/8/4S3/4K3 w - - 0 1", "e2d2", "all that stands between the kings"),
        ("synochess", "8/8/8/5k2/8/8/6P1/4K2R[] w K - 0 1", "e1f1", "would face"),
        ("synochess", "8/8/8/5k2/8/8/6P1/4K2R[] w K - 0 1", "e1g1", "faces the enemy king"),
        (
            "orda",
            "4k3/8/8/8/8/8/8/L3K3 w - - 0 1",
            "a1a4",
            "could capture on a4, but does not go there otherwise",
        ),
        ("dragonfly", "3k3/7/7/7/7/7/3K3[P] w - - 0 1", "P@a3", "pawns are not dropped"),
        (
            "grandhouse",
            "4k5/10/10/10/10/10/10/10/10/4K5[P] w - - 0 1",
            "P@a8",
            "not dropped where they may be promoted",
        ),
    ] {
        let mut game = start(name, Some(fen));
        let listed: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
        assert!(!listed.contains(&text.into()), "{name}: {listed:?}");
        let why = game.explain_move(text, Default::default()).expect("a move").summary;
        assert!(why.contains(reason), "{name} {text}: {why}");
    }
}

/// Pawns of grandhouse become what their side has in hand, too: only pieces on the board count.
#[test]
fn pieces_in_hand_do_not_keep_pawns_from_promoting() {
    for (fen, promotes) in [
        ("4k5/10/P9/10/10/10/10/10/10/4K5[Q] w - - 0 1", true),
        ("4k5/10/P9/10/10/10/10/10/10/4KQ4[] w - - 0 1", false),
    ] {
        let mut game = start("grandhouse", Some(fen));
        let listed: Vec<String> = game.listing().into_iter().map(|it| it.0).collect();
        assert_eq!(listed.contains(&"a8a9q".into()), promotes, "{fen}: {listed:?}");
    }
}

/// A pawn that takes three steps passes two squares. A FEN has those on which a capture is legal, and is read with either of
/// them or both.
#[test]
fn a_pawn_of_wildebeest_chess_is_captured_on_both_squares_that_it_passes() {
    for (before, passed, captures) in [
        ("5k5/11/11/11/11/3p1p5/3p7/11/4P6/5K5 w - - 0 1", "e3e4", "d4e3 d5e4 f5e4"),
        ("5k5/11/11/11/11/3p7/11/11/4P6/5K5 w - - 0 1", "e4", "d5e4"),
        ("5k5/11/11/11/11/11/3p7/11/4P6/5K5 w - - 0 1", "e3", "d4e3"),
        ("5k5/11/11/11/11/11/11/11/4P6/5K5 w - - 0 1", "-", ""),
    ] {
        let mut game = start("wildebeest", Some(before));
        play(&mut game, "e2e5");
        let fen = game.fen();
        assert_eq!(fen.split(' ').nth(3), Some(passed), "{fen}");
        for capture in captures.split_terminator(' ') {
            let mut again = start("wildebeest", Some(&fen));
            assert_eq!(again.fen(), fen);
            play(&mut again, capture);
            assert!(!again.fen().contains('P'), "{capture}: the pawn is still there");
        }
    }
    let mut game = start("wildebeest", Some("5k5/11/11/11/11/3p1p5/3pP6/11/11/5K5 b - e3e4 0 1"));
    assert_eq!(game.fen().split(' ').nth(3), Some("-"), "a piece stands on the second square");
}
