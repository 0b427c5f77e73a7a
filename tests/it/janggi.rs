//! Janggi, beyond the vectors of Fairy-Stockfish: games that end by two passes, by bikjang (the generals go on facing
//! each other), by repetition, perpetual check or going to and fro, or without captures, and what the FEN has of that. Results are those of pyffish 0.0.90.

use rulemate::internals::derive::explain::Limits;
use rulemate::internals::game::Game;

use crate::fixture::{play, start, texts};

const JANGGI: [&str; 4] = ["janggi", "janggi-traditional", "janggi-modern", "janggi-casual"];

fn ended(game: &Game) -> &str {
    game.result().map_or("-", |it| &it.outcome)
}

#[test]
fn two_passes_and_bikjang_end_a_game() {
    let alone = "3k5/9/9/9/9/9/9/9/4K4/9 w - - 0 1";
    let ahead = "3k5/9/9/9/9/9/9/9/4K4/R8 w - - 0 1";
    let even = "3k5/r8/9/9/9/9/9/9/4K4/R8 w - - 0 1";
    for (fen, moves, outcomes) in [
        // White brings the generals face to face, Black passes: bikjang. In `even` each side has a chariot, so the point and
        // a half that Black is given decides.
        (ahead, "e2d2 d10d10", ["white_wins", "draw", "-", "-"]),
        (even, "e2d2 d10d10", ["black_wins", "draw", "-", "-"]),
        // Black's general steps aside.
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
fn repetition_and_moves_without_a_capture_end_a_game() {
    let late = |plies| {
        format!("rnba1abnr/4k4/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/4K4/RNBA1ABNR w - - {plies} 70")
    };
    let to_and_fro = "a1a2 a10a9 a2a1 a9a10";
    let by_turns = "a1a2 a10a9 i1i2 i10i9 a2a1 a9a10 i2i1 i9i10";
    for (game, cycle, times, plies, outcome) in [
        ("janggi", to_and_fro, 2, 99, "black_wins"),
        ("janggi-traditional", to_and_fro, 2, 99, "draw"),
        ("janggi-modern", by_turns, 3, 199, "black_wins"),
        ("janggi-casual", to_and_fro, 2, 99, "draw"),
    ] {
        let mut repeated = start(game, None);
        for _ in 0..times {
            assert_eq!(ended(&repeated), "-", "{game}");
            play(&mut repeated, cycle);
        }
        assert_eq!(ended(&repeated), outcome, "{game}");
        let mut counted = start(game, Some(&late(plies)));
        assert_eq!(ended(&counted), "-", "{game}");
        play(&mut counted, "e2e2");
        assert_eq!(ended(&counted), outcome, "{game}");
    }
}

/// Perpetual check loses, whatever points say.
#[test]
fn perpetual_check_loses() {
    let rook = "4k4/9/R8/9/9/9/9/9/9/3K5 w - - 0 1";
    for name in ["janggi", "janggi-traditional", "janggi-casual"] {
        let mut game = start(name, Some(rook));
        play(&mut game, "a8a10 e10e9 a10a9 e9e10 a9a10 e10e9 a10a9 e9e10");
        assert_eq!(ended(&game), "-", "{name}");
        play(&mut game, "a9a10");
        assert_eq!(ended(&game), "black_wins", "{name}");
        assert_eq!(game.result().map(|it| &*it.reason), Some("perpetual_check"), "{name}");
    }
}

/// In modern janggi a side loses by the fifth move to and fro with one piece, whatever the other side does meanwhile.
/// Passing once before the last of them makes no difference, passing earlier does, and generals go as they like.
#[test]
fn going_to_and_fro_loses_in_modern_janggi() {
    for (before, last, outcome) in [
        ("a1a2 a10a9 a2a1 a9a10 a1a2 a10a9 a2a1 a9a10", "a1a2", "black_wins"),
        ("a4b4 a10a9 a1a2 a9a10 a2a1 a10a9 a1a2 a9a10 a2a1", "a10a9", "white_wins"),
        ("a4b4 a7b7 a1a2 a10a9 a2a1 a9a10 a1a2 a10a9 a2a1 a9a10 e2e2 i7h7", "a1a2", "black_wins"),
        ("a4b4 a7b7 a1a2 a10a9 a2a1 a9a10 a1a2 a10a9 e2e2 i7h7 a2a1 i10i9 a1a2 i9i10", "a2a1", "-"),
        ("e2e1 a10a9 e1e2 a9a10 e2e1 i10i9 e1e2 i9i10", "e2e1", "-"),
    ] {
        let mut game = start("janggi-modern", None);
        play(&mut game, before);
        assert_eq!(ended(&game), "-", "{before}");
        play(&mut game, last);
        assert_eq!(ended(&game), outcome, "{before} {last}");
    }
}

/// A side in check may pass only if the generals face each other.
#[test]
fn passing_is_refused_in_check() {
    let checked = "3k5/9/9/9/r8/9/9/9/9/r3K4 w - - 0 1";
    let mut game = start("janggi", Some(checked));
    assert_eq!(texts(&mut game), ["e1e2"]);
    let faced = checked.replace("3k5", "4k4");
    let mut game = start("janggi", Some(&faced));
    assert_eq!(texts(&mut game), ["e1e1"]);
    let explained = game.explain_move("e1e2", Limits::default()).expect("a move");
    assert!(explained.summary.contains("the generals face each other"), "{}", explained.summary);
    play(&mut game, "e1e1");
    assert_eq!(ended(&game), "black_wins");
}

/// A FEN has the number of passes in a row, and says if the game is over by bikjang; else it has no field of its own.
#[test]
fn a_fen_has_passes_and_bikjang() {
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
