//! SAN: the exact form, the forms that are forgiven, and why a text is refused.

use rulemate::internals::moves::notation::{
    MoveError, MoveFault, parse_san, parse_uci, to_san, to_uci,
};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Source;

use crate::setup::Table;

fn read(table: &mut Table, text: &str) -> Result<String, MoveError> {
    let mv = parse_san(&mut table.world, &table.contract, text)?;
    Ok(to_uci(&mut table.world, &mv))
}

fn write(table: &mut Table, uci: &str) -> String {
    let mv = parse_uci(&mut table.world, &table.contract, uci);
    let mv = mv.unwrap_or_else(|error| panic!("{error}"));
    to_san(&mut table.world, &table.contract, &mv)
}

#[test]
fn the_exact_form() {
    let cases = [
        // Captures, promotions, check and mate.
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", "exd5"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "a8=N"),
        ("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", "axb8=Q+"),
        ("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1", "d5e6", "dxe6"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", "Ra8#"),
        ("7k/5Q2/8/6K1/8/8/8/8 w - - 0 1", "g5g6", "Kg6"),
        // Castling, also with check.
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "O-O"),
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", "O-O-O+"),
        // By file, by rank, by both, and not at all when the other is pinned.
        ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "a1d1", "Rd1"),
        ("4k3/8/8/8/8/4K3/8/R6R w - - 0 1", "a1d1", "Rad1"),
        ("4k3/8/8/R7/8/4K3/8/R7 w - - 0 1", "a1a3", "R1a3"),
        ("6k1/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "Qh4e1"),
        ("4k3/4r3/8/8/8/4N3/8/N3K3 w - - 0 1", "a1c2", "Nc2"),
    ];
    let mut table = Table::of("chess");
    for (fen, uci, san) in cases {
        table.load(fen);
        assert_eq!(write(&mut table, uci), san, "{fen}");
        assert_eq!(read(&mut table, san).as_deref(), Ok(uci), "{fen}");
    }
}

#[test]
fn what_people_and_programs_write() {
    let cases = [
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", "ed5 e4xd5 exd5+ exd5!? Pe4xd5 e4d5 e4:d5"),
        ("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1", "d5e6", "dxe6e.p. dxe6ep d5xe6"),
        ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", "a8=Q a8Q a8(Q) a8/Q a8=q a8q a7a8q a7-a8=Q"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "O-O 0-0 o-o O-O+ e1g1 e1h1"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", "O-O-O 0-0-0 0-0-0!"),
        ("4k3/8/8/8/8/8/8/4KN2 w - - 0 1", "f1g3", "Ng3 Nfg3 N1g3 Nf1g3 Nf1-g3 Nxg3 Ng3# f1g3"),
    ];
    let mut table = Table::of("chess");
    for (fen, uci, texts) in cases {
        table.load(fen);
        for text in texts.split(' ') {
            assert_eq!(read(&mut table, text).as_deref(), Ok(uci), "{text}");
        }
    }
    table.load("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1");
    assert_eq!(read(&mut table, " dxe6 e.p.+ ").as_deref(), Ok("d5e6"));
}

/// python-chess writes drops of pawns so.
#[test]
fn drops_of_pawns_may_have_no_letter() {
    let mut table = Table::of("crazyhouse");
    table.load("4k3/8/8/8/8/8/8/R3K3[PN] w Q - 0 1");
    for (text, uci) in [("@e4", "P@e4"), ("P@e4", "P@e4"), ("@f7+", "P@f7"), ("N@e4", "N@e4")] {
        assert_eq!(read(&mut table, text).as_deref(), Ok(uci), "{text}");
    }
    assert_eq!(write(&mut table, "P@f7"), "P@f7+");
}

#[test]
fn two_meanings_are_ambiguous() {
    let mut table = Table::of("chess");
    for (fen, text, meanings) in [
        ("4k3/8/8/8/8/4K3/8/R6R w - - 0 1", "Rd1", vec!["Rad1", "Rhd1"]),
        ("8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a8", vec!["a8=N", "a8=B", "a8=R", "a8=Q"]),
    ] {
        table.load(fen);
        let error = read(&mut table, text).expect_err(text);
        let MoveFault::Ambiguous { mut candidates } = error.reason else { panic!("{error}") };
        candidates.sort();
        let mut meanings = meanings;
        meanings.sort_unstable();
        assert_eq!(candidates, meanings);
    }
}

#[test]
fn a_refusal_carries_what_was_meant() {
    let cases = [
        // Forbidden by safety; out of reach; the pawn on the file; castling blocked or lost.
        ("4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1", "Nc3", "e2c3"),
        ("4k3/8/8/8/8/8/4N3/4K3 w - - 0 1", "Ne5", "e2e5"),
        ("4k3/8/8/8/8/8/3PP3/4K3 w - - 0 1", "e5", "e2e5"),
        ("4k3/8/8/8/8/8/8/R3KB1R w KQ - 0 1", "O-O", "e1g1"),
        ("4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1", "O-O", "e1g1"),
    ];
    let mut table = Table::of("chess");
    for (fen, text, meant) in cases {
        table.load(fen);
        let error = read(&mut table, text).expect_err(text);
        let mv = error.candidate().unwrap_or_else(|| panic!("{error}")).clone();
        assert_eq!(to_uci(&mut table.world, &mv), meant, "{text}");
    }
    // The right is lost: the rook of the wing is all that can be named.
    table.load("4k3/8/8/8/8/8/8/R3K2R w Q - 0 1");
    let error = read(&mut table, "O-O").expect_err("no right");
    let mv = error.candidate().expect("a rook").clone();
    let rook = mv.arg(table.world.program(), "rook").expect("castling");
    let square = table.world.matching(table.contract.at.rel, &[Some(rook), None])[0][1];
    let squares = table.world.program().schema.domain(table.contract.board.domain);
    assert_eq!(squares.member_name(square), "h1");
}

/// Of several pieces that a text may mean, the one that something keeps from going there explains the refusal, not one
/// that does not reach the square.
#[test]
fn what_is_forbidden_is_meant_before_what_is_out_of_reach() {
    let must_capture = "rnbqkbnr/p1pppppp/8/1p6/2P5/8/PP1PPPPP/RNBQKBNR w - - 0 1";
    let duck_on_f3 = "rnbqkbnr/pppppppp/8/8/8/5*2/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for (game, fen, text, meant) in [
        ("antichess", must_capture, "Nf3", "g1f3"),
        ("duck", duck_on_f3, "Nf3", "g1f3"),
        // The text could also place the duck, but it is not the duck's turn.
        ("duck", duck_on_f3, "f3", "f2f3"),
        ("duck", duck_on_f3, "e5", "e2e5"),
    ] {
        let mut table = Table::at(game, fen);
        let error = read(&mut table, text).expect_err(text);
        let mv = error.candidate().unwrap_or_else(|| panic!("{game}: {error}")).clone();
        assert_eq!(to_uci(&mut table.world, &mv), meant, "{game}: {text}");
    }
}

#[test]
fn text_that_is_no_move() {
    let mut table = Table::of("chess");
    table.load("4k3/8/8/8/8/8/4N3/4K3 w - - 0 1");
    for (text, offset) in [
        ("", 0),
        ("Nx", 2),
        (" Nx ", 2),
        ("Zc3", 0),
        ("N?c3", 1),
        ("Nyc3", 1),
        ("c9", 0),
        ("Nf9", 1),
        ("Ndxi4", 3),
        ("e2i3", 2),
        ("quee!1", 0),
        ("e8=QQ", 2),
        ("é4", 0),
        ("-", 1),
        ("--", 2),
    ] {
        let error = read(&mut table, text).expect_err(text);
        let MoveFault::Malformed { offset: found, .. } = error.reason else {
            panic!("{text}: {error}")
        };
        assert_eq!((found, error.text.as_str()), (offset, text.trim()));
    }
    let error = read(&mut table, "Bc3").expect_err("no bishop");
    assert_eq!(error.reason, MoveFault::NoSuchPiece);
}

/// Two kinds without a letter: their moves to one square are told apart as those of one kind are. `e4` was the text of both,
/// and read as the first.
#[test]
fn moves_without_a_letter_are_told_apart_across_kinds() {
    let text = std::fs::read_to_string("rules/games/wolf.dl").expect("the game");
    let text = text.replace(" san_letter('sergeant, \"S\").", "");
    let text = text.replace("game \"wolf\"", "game \"unlettered\"");
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    catalogue.add(Source { path: "unlettered.dl".into(), text: text.into() }).expect("a game");
    let rules = catalogue.load::<&str>("unlettered", &[]).unwrap_or_else(|it| panic!("{it}"));
    let fen = "4k3/8/8/8/8/8/8/3SP3/8/4K3 w - - 0 1";
    let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
    for (text, uci) in [("de4", "d3e4"), ("ee4", "e3e4"), ("d4", "d3d4")] {
        let mut after = game.clone();
        let record = after.play_text(text).unwrap_or_else(|it| panic!("{text}: {it}"));
        assert_eq!((record.uci.to_string(), record.san.to_string()), (uci.into(), text.into()));
    }
    let why = game.play_text("e4").expect_err("it may be either").to_string();
    assert!(why.contains("de4") && why.contains("ee4"), "{why}");
}
