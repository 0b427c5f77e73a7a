//! UCI text.

use rulemate::internals::moves::notation::{MoveError, MoveFault, parse_uci, to_uci};
use rulemate::internals::moves::parse_either;

use crate::setup::Table;

fn parsed(game: &str, fen: &str, text: &str) -> Result<String, MoveError> {
    let mut table = Table::of(game);
    table.load(fen);
    let mv = parse_uci(&mut table.world, &table.contract, text)?;
    Ok(to_uci(&mut table.world, &mv))
}

#[test]
fn castling_is_read_in_both_forms_and_written_in_one() {
    let open = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    for (text, chess, shuffled) in
        [("e1g1", "e1g1", "e1h1"), ("e1h1", "e1g1", "e1h1"), ("e1c1", "e1c1", "e1a1")]
    {
        assert_eq!(parsed("chess", open, text).as_deref(), Ok(chess));
        assert_eq!(parsed("chess960", open, text).as_deref(), Ok(shuffled));
    }
    // A step to the square that castling also leads to is a step.
    let beside = "4k3/8/8/8/8/8/8/5K1R w H - 0 1";
    assert_eq!(parsed("chess960", beside, "f1g1").as_deref(), Ok("f1g1"));
    assert_eq!(parsed("chess960", beside, "f1h1").as_deref(), Ok("f1h1"));
}

#[test]
fn promotion_letters_may_be_capital() {
    let fen = "8/P3k3/8/8/8/8/8/4K3 w - - 0 1";
    assert_eq!(parsed("chess", fen, "a7a8Q").as_deref(), Ok("a7a8q"));
    assert_eq!(parsed("chess", fen, "a7a8n").as_deref(), Ok("a7a8n"));
}

/// A capital before small letters is the letter of a piece, as in SAN, and not a file.
#[test]
fn a_bishop_is_not_the_file_of_that_letter() {
    let fen = "4k3/8/8/8/2B5/8/1NB5/4K3 w - - 0 1";
    let error = parsed("chess", fen, "B2d3").expect_err("it is SAN");
    assert!(matches!(error.reason, MoveFault::Malformed { .. }), "{error}");
    let mut table = Table::of("chess");
    table.load(fen);
    for (text, meant) in
        [("B2d3", "c2d3"), ("B4d3", "c4d3"), ("Nd3", "b2d3"), ("b2d3", "b2d3"), ("B2D3", "b2d3")]
    {
        let mv = parse_either(&mut table.world, &table.contract, text);
        let mv = mv.unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(to_uci(&mut table.world, &mv), meant, "{text}");
    }
    // Where no bishop can go there, no other piece is meant.
    table.load("4k3/8/8/8/8/8/1N6/4K3 w - - 0 1");
    assert!(parse_either(&mut table.world, &table.contract, "B2d3").is_err());
}

#[test]
fn malformed_text_is_told_where() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for (text, place, wanted) in [
        ("", 0, "a square"),
        ("z2e4", 0, "a square"),
        ("e2", 2, "a square"),
        ("e2-e4", 2, "a square"),
        ("e2e9", 2, "a square"),
        ("e2e4é", 4, "the end or a letter"),
        ("0000", 0, "a square"),
    ] {
        let error = parsed("chess", start, text).expect_err(text);
        let MoveFault::Malformed { offset, expected } = &error.reason else { panic!("{error}") };
        assert_eq!((*offset, expected.as_str()), (place, wanted), "{text}");
        assert_eq!(error.text, text);
    }
}

#[test]
fn blanks_around_a_move_are_no_part_of_it() {
    let chess = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let error = parsed("chess", chess, "  e2e9 ").expect_err("off the board");
    let MoveFault::Malformed { offset, .. } = error.reason else { panic!("{error}") };
    assert_eq!((offset, error.text.as_str()), (2, "e2e9"));
    // Without its last sign, this is another move.
    let mut table = Table::at("shogi", "4k4/9/9/4P4/9/9/9/9/4K4[-] w 1");
    let mv = parse_either(&mut table.world, &table.contract, " e6e7+ ").expect("a legal move");
    assert_eq!(to_uci(&mut table.world, &mv), "e6e7+");
}

#[test]
fn what_a_text_lacks_is_told_with_its_article() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let mut table = Table::with("ability-chess", "loadout-draft", start);
    for (text, wanted) in [("a1+nothing", "an ability"), ("a1~nothing", "an element")] {
        let error = parse_uci(&mut table.world, &table.contract, text).expect_err(text);
        let MoveFault::Malformed { offset, expected } = &error.reason else { panic!("{error}") };
        assert_eq!((*offset, expected.as_str()), (3, wanted), "{text}");
    }
}

#[test]
fn an_illegal_move_comes_with_what_was_meant() {
    for (fen, text, meant) in [
        // Geometry, safety, castling that is blocked, castling through an attack.
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e5", "move"),
        ("4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1", "e2c3", "move"),
        ("4k3/8/8/8/8/8/8/4KB1R w K - 0 1", "e1g1", "castle"),
        ("4kr2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "castle"),
        ("8/P3k3/8/8/8/8/8/K7 w - - 0 1", "a7b8q", "promote"),
    ] {
        let mut table = Table::of("chess");
        table.load(fen);
        let error = parse_uci(&mut table.world, &table.contract, text).expect_err(text);
        let mv = error.candidate().unwrap_or_else(|| panic!("{error}")).clone();
        let program = table.world.program();
        let action = &program.relation(program.action(mv.action).rel).name;
        assert_eq!(action, meant, "{text}");
        assert_eq!(to_uci(&mut table.world, &mv), text);
    }
}

#[test]
fn no_move_starts_on_an_empty_square() {
    let error = parsed("chess", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "d4d5").expect_err("empty");
    assert_eq!(error.reason, MoveFault::NoSuchPiece);
}
