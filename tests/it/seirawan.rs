//! Seirawan chess, beyond the vectors of Fairy-Stockfish: the FENs of positions along a game, what is read of a FEN,
//! and gating beside a pin. FENs are those of pyffish 0.0.90.

use rulemate::internals::moves::notation::Warning;
use rulemate::internals::moves::notation::chess::Oddity;

use crate::fixture::{play, start, texts};

/// The castling rights are followed by the files of the other pieces that have not moved, as long as their side has a
/// piece in hand.
#[test]
fn fens_along_a_game_are_those_of_fairy_stockfish() {
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

/// Castling rights and the files of unmoved pieces are read in any order. A castling right says that its king and rook
/// have not moved. A file with no piece on the home rank is dropped, with a warning.
#[test]
fn files_of_unmoved_pieces_are_read_among_castling_rights() {
    let dropped = |file| vec![Warning::Family(Oddity::NothingUnmoved { file })];
    for (fen, warnings, rights) in [
        ("rnbqkbnr/8/8/8/8/8/8/RNBQKBNR[EHeh] w KQBCDFGkqbcdfg -", vec![], "KQBCDFGkqbcdfg"),
        ("rnbqkbnr/8/8/8/8/8/8/RNBQKBNR[EHeh] w gkGK -", vec![], "KGkg"),
        // The king has moved to f1, and the rooks have not moved; then the rooks are gone, and the king has not moved.
        ("4k3/8/8/8/8/8/8/R1BQ1K1R[EH] w HADC -", vec![], "ACDH"),
        ("4k3/8/8/8/8/8/8/1NB1K3[EH] w EB -", vec![], "BE"),
        ("4k3/8/8/8/8/8/8/1NB1K3[EH] w DB -", dropped('D'), "B"),
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

/// A piece that is gated cannot replace a pinned one: the knight may not move, though a hawk would then block the check.
#[test]
fn a_move_that_is_not_legal_alone_gates_nothing() {
    let pinned = "4k3/8/8/8/8/8/8/r2NK3[HE] w D - 0 1";
    let mut game = start("seirawan", Some(pinned));
    let legal = texts(&mut game);
    assert!(legal.iter().all(|it| it.starts_with("e1")), "{legal:?}");
}
