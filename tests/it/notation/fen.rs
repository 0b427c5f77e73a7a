//! FEN: what is refused and where, what is dropped with a warning, what is written.

use rulemate::internals::moves::notation::chess::{CASTLING, CLOCK, EN_PASSANT, Oddity};
use rulemate::internals::moves::notation::{FenField, FenStyle, Warning, read_fen, write_fen};

use rulemate::internals::moves::legal_moves;
use rulemate::internals::moves::notation::{parse_san, parse_uci, to_san, to_uci};
use rulemate::internals::rules::{Source, compile};

use crate::setup::{Table, sources};

fn written(table: &mut Table, style: FenStyle) -> String {
    if let Some(castling) = &mut table.contract.notation.castling {
        castling.style = style;
    }
    write_fen(&mut table.world, &table.contract)
}

#[test]
fn refusals_name_the_field_and_the_place() {
    use FenField::{Further, MoveNumber, Placement, Turn};
    let cases = [
        ("", Placement, 0, "the end"),
        ("8/8/8/8/8/8/8 w - -", Placement, 13, "7 ranks"),
        ("8/8/8/8/8/8/8/8/8 w - -", Placement, 16, "one more rank"),
        ("8/8/8/7/8/8/8/8 w - -", Placement, 7, "7 squares in the rank"),
        ("8/8/8/9/8/8/8/8 w - -", Placement, 6, "9"),
        ("8/8/8/44/8/8/8/8 w - -", Placement, 6, "44"),
        ("8/8/8/08/8/8/8/8 w - -", Placement, 6, "08"),
        ("8/8/8/kkkkkkkkk/8/8/8/8 w - -", Placement, 14, "'k'"),
        ("8/8/8/3x4/8/8/8/8 w - -", Placement, 7, "'x'"),
        ("8/8/8/3é4/8/8/8/8 w - -", Placement, 7, "'é'"),
        ("8/8/8/8/8/8/8/8", Turn, 15, "the end"),
        ("8/8/8/8/8/8/8/8 white - -", Turn, 16, "\"white\""),
        ("8/8/8/8/8/8/8/8 w", CASTLING, 17, "the end"),
        ("8/8/8/8/8/8/8/8 w KX -", CASTLING, 19, "'X'"),
        ("8/8/8/8/8/8/8/8 w KK -", CASTLING, 19, "'K' again"),
        ("8/8/8/8/8/8/8/8 w -  e9", EN_PASSANT, 21, "\"e9\""),
        ("8/8/8/8/8/8/8/8 w - d3e9", EN_PASSANT, 20, "\"d3e9\""),
        ("8/8/8/8/8/8/8/8 w - - -1 1", CLOCK, 22, "\"-1\""),
        ("8/8/8/8/8/8/8/8 w - - 0 1000000000000000", MoveNumber, 24, "\"1000000000000000\""),
        ("8/8/8/8/8/8/8/8 w - - 99999999999999999999 1", CLOCK, 22, "\"99999999999999999999\""),
        ("8/8/8/8/8/8/8/8 w - - 0 1 hm=1", Further, 26, "\"hm=1\""),
        ("8/8/8/8/8/8/8/8 w - - 0 1 x", Further, 26, "\"x\""),
    ];
    let mut table = Table::of("chess");
    let before = table.world.facts().hash();
    for (fen, field, offset, found) in cases {
        let error = read_fen(&mut table.world, &table.contract, fen).expect_err(fen);
        let told = (error.field, error.offset, error.found.as_str());
        assert_eq!(told, (field, offset, found), "{fen}: {error}");
        assert_eq!(table.world.facts().hash(), before, "{fen} changed something");
    }
}

/// Numbers far from the greatest integer, so that rules can count on.
#[test]
fn numbers_of_further_fields_have_a_limit() {
    let mut table = Table::of("double-move");
    for (value, is_read) in [
        ("1", true),
        ("1000000000000000", false),
        ("-1000000000000000", false),
        ("9223372036854775807", false),
    ] {
        let fen = format!("4k3/8/8/8/8/8/8/4K3 w - - 0 1 hm={value}");
        let read = read_fen(&mut table.world, &table.contract, &fen).map(|_| ());
        assert_eq!(read.is_ok(), is_read, "{fen}");
        if let Err(error) = read {
            let told = (error.field, error.offset, error.expected.as_str());
            let expected = "a number from -999999999999999 to 999999999999999, or -";
            assert_eq!(told, (FenField::Further, 33, expected));
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    let mut table = Table::of("chess");
    for (fen, expected) in [
        ("", "the board, rank by rank"),
        ("8/8/8/8/8/8/8/8", "a side"),
        ("8/8/8/8/8/8/8/8 w", "castling letters or -"),
        ("8/8/8/8/8/8/8/8 w -", "a square or -"),
    ] {
        let error = read_fen(&mut table.world, &table.contract, fen).expect_err(fen);
        assert_eq!((error.offset, error.expected.as_str()), (fen.len(), expected));
    }
}

#[test]
fn a_board_full_of_pieces_has_no_room_for_its_entities() {
    let mut table = Table::of("chess");
    let before = table.world.facts().hash();
    let full = format!("{} w - - 0 1", ["pppppppp"; 8].join("/"));
    let error = read_fen(&mut table.world, &table.contract, &full).expect_err("too many");
    assert_eq!((error.field, error.found.as_str()), (FenField::Placement, "64 pieces"));
    assert_eq!(error.expected, "at most 63");
    assert_eq!(table.world.facts().hash(), before);
}

#[test]
fn what_cannot_be_a_fact_is_dropped_with_a_warning() {
    let no_rook = |right| Warning::Family(Oddity::NoRook { right });
    let no_castler = |right| Warning::Family(Oddity::NoCastler { right });
    let nothing = |square: &str| Warning::Family(Oddity::NothingPassed { square: square.into() });
    let cases = [
        // No rook on that wing, no king on the home rank, a rook that has its right.
        ("4k3/8/8/8/8/8/8/4K2R w KQ - 0 1", vec![no_rook('Q')], "K"),
        ("4k3/8/8/8/8/8/8/4K2R w A - 0 1", vec![no_rook('A')], "-"),
        ("4k3/8/8/8/4K3/8/8/R6R w KQ - 0 1", vec![no_castler('K'), no_castler('Q')], "-"),
        (
            "4k3/8/8/8/8/8/8/4K2R w KH - 0 1",
            vec![Warning::Family(Oddity::SameRook { right: 'H' })],
            "K",
        ),
        // The enemy's rook is no rook to castle with.
        ("4k3/8/8/8/8/8/8/4K2r w K - 0 1", vec![no_rook('K')], "-"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", vec![nothing("e6")], "-"),
        ("4k3/8/8/4p3/8/8/8/4K3 b - e6 0 1", vec![nothing("e6")], "-"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 0", vec![Warning::MoveNumberZero], "-"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", vec![Warning::Family(Oddity::OpponentInCheck)], "-"),
    ];
    let mut table = Table::of("chess");
    for (fen, warnings, rights) in cases {
        assert_eq!(table.load(fen).warnings, warnings, "{fen}");
        let text = written(&mut table, FenStyle::XFen);
        assert_eq!(text.split(' ').nth(2), Some(rights), "{fen}");
    }
}

#[test]
fn impossible_positions_load_as_long_as_they_are_facts() {
    let mut table = Table::of("chess");
    for fen in [
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "qqqqqqqq/qqq5/8/8/8/8/8/K7 w - - 0 1",
        "P6p/8/8/8/8/8/8/p6P b - - 17 9",
        "kk6/8/8/8/8/8/8/6KK w - - 0 1",
    ] {
        table.load(fen);
        assert_eq!(written(&mut table, FenStyle::XFen), fen);
    }
}

#[test]
fn clocks_may_be_left_out() {
    let mut table = Table::of("chess");
    for (fen, whole) in [
        ("4k3/8/8/8/8/8/8/4K3 b - -", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
        (" 4k3/8/8/8/8/8/8/4K3  w -\t- 7 ", "4k3/8/8/8/8/8/8/4K3 w - - 7 1"),
    ] {
        table.load(fen);
        assert_eq!(written(&mut table, FenStyle::XFen), whole);
    }
}

/// A game may be longer than any that was played.
#[test]
fn counters_are_read_and_go_on_whatever_their_size() {
    let mut table = Table::of("chess");
    for (number, next) in [(65_535_u64, 65_536_u64), (999_999_999_999_998, 999_999_999_999_999)] {
        table.load(&format!("4k3/8/8/8/8/8/8/4K3 b - - {number} {number}"));
        let legal = legal_moves(&mut table.world, &table.contract);
        table.play(&legal[0]);
        let fen = written(&mut table, FenStyle::XFen);
        assert!(fen.ends_with(&format!(" {next} {next}")), "{fen}");
        table.load(&fen);
        assert_eq!(written(&mut table, FenStyle::XFen), fen);
    }
    let mut table = Table::of("3check");
    let fen = |left: &str| format!("4k3/8/8/8/8/8/8/4K3 w - - {left} 0 1");
    table.load(&fen("3+999999999999999"));
    let contract = table.contract.clone();
    let refused = read_fen(&mut table.world, &contract, &fen("3+1000000000000000"));
    let why = refused.expect_err("no counter is as great").to_string();
    assert!(why.ends_with("N+N, from -999999999999999 to 999999999999999"), "{why}");
}

#[test]
fn castling_fields_are_read_in_three_dialects_and_written_in_two() {
    let mut table = Table::of("chess960");
    assert_eq!(table.contract.notation.castling.map(|it| it.style), Some(FenStyle::Shredder));
    for (read, x_fen, shredder) in [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "KQkq", "HAha"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "KQkq", "HAha"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w qH - 0 1", "Kq", "Ha"),
        // The inner rook of a wing needs its file in both.
        ("4k3/8/8/8/8/8/8/4KRR1 w F - 0 1", "F", "F"),
        ("4k3/8/8/8/8/8/8/4KRR1 w K - 0 1", "K", "G"),
        ("4k3/8/8/8/8/8/8/RR1RKR2 w BF - 0 1", "KB", "FB"),
    ] {
        assert_eq!(table.load(read).warnings, [], "{read}");
        for (style, rights) in [(FenStyle::XFen, x_fen), (FenStyle::Shredder, shredder)] {
            let text = written(&mut table, style);
            assert_eq!(text.split(' ').nth(2), Some(rights), "{read} {style:?}");
        }
    }
}

#[test]
fn of_several_castling_pieces_the_one_in_the_centre_castles() {
    let mut table = Table::of("chess");
    table.load("4k3/8/8/8/8/8/8/R2KK2R w KQ - 0 1");
    let (world, contract) = (&table.world, &table.contract);
    let facts = world.facts();
    let squares = facts.schema().domain(contract.board.domain);
    let castling = contract.notation.castling.expect("castling rights");
    for rook in facts.entities_with(castling.right.attr) {
        let king = facts.get_raw(rook, castling.right.attr).expect("a right");
        let king = rulemate::internals::facts::EntityId(king as u32);
        let square = facts.get_raw(king, contract.at.attr).expect("on the board");
        assert_eq!(squares.member_name(square), "e1");
    }
}

#[test]
fn en_passant_is_written_only_if_it_is_legal() {
    let mut table = Table::of("chess");
    for (fen, field) in [
        ("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1", "e6"),
        // No piece can capture.
        ("4k3/8/8/4p3/8/8/8/4K3 w - e6 0 1", "-"),
        // The capture would open the rank.
        ("4k3/8/8/r2PpK2/8/8/8/8 w - e6 0 1", "-"),
    ] {
        assert_eq!(table.load(fen).warnings, [], "{fen}");
        let text = written(&mut table, FenStyle::XFen);
        assert_eq!(text.split(' ').nth(3), Some(field), "{fen}");
    }
}

#[test]
fn loading_again_and_again_takes_no_more_entities() {
    let mut table = Table::of("antichess");
    let start = written(&mut table, FenStyle::XFen);
    let before = table.world.facts().hash();
    for _ in 0..5 {
        table.load("8/8/8/8/8/8/8/K6k b - - 3 4");
        table.load(&start);
        assert_eq!(table.world.facts().hash(), before);
    }
}

#[test]
fn a_wide_board_has_runs_and_ranks_of_two_digits() {
    let mut wide = sources("chess");
    for source in &mut wide {
        let mut text = source.text.replace("grid 8 8", "grid 12 10");
        if let Some(at) = text.find(".meta start") {
            text.truncate(at);
            let empty = ["12"; 9].join("/");
            text.push_str(&format!(".meta start \"{empty}/k10K w - - 0 1\"\n"));
        }
        source.text = text.into();
    }
    let mut table = Table::under(compile(wide).unwrap_or_else(|it| panic!("{it}")));
    let fen = "11r/12/12/12/12/12/R10R/12/12/1k8K1 w - - 3 7";
    assert_eq!(table.load(fen).warnings, []);
    assert_eq!(written(&mut table, FenStyle::XFen), fen);
    let (world, contract) = (&mut table.world, &table.contract);
    for (uci, san) in [("l4l10", "Rxl10"), ("a4a10", "Ra10"), ("a4k4", "Rak4"), ("k1k2", "Kk2")] {
        let mv = parse_uci(world, contract, uci).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(to_san(world, contract, &mv), san);
        let read = parse_san(world, contract, san).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(to_uci(world, &read), uci);
    }
    for (fen, offset) in [("13/12", 0), ("3k9/12", 2), ("5k5/12", 3)] {
        let error = read_fen(&mut table.world, &table.contract, fen).expect_err(fen);
        assert_eq!((error.field, error.offset), (FenField::Placement, offset), "{fen}");
    }
}

#[test]
fn further_attributes_are_read_and_written_where_the_rules_have_them() {
    let mut more = sources("chess");
    let text = ".meta fen \"hm=half_moves\"\n.meta fen \"passed ep_victim\"\n.meta fen \"hm=half_moves\"\n";
    more.push(Source { path: "more.dl".into(), text: text.into() });
    let mut table = Table::under(compile(more).unwrap_or_else(|it| panic!("{it}")));
    for (read, whole) in [
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 hm=0"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 hm=1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 hm=1"),
        ("4k3/8/8/8/8/8/8/4K3 w - - hm=1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 hm=1"),
        ("4k3/8/8/3Pp3/8/8/8/4K3 w - e6e5 0 1", "4k3/8/8/3Pp3/8/8/8/4K3 w - e6e5 0 1 hm=0"),
        ("4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1", "4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1 hm=0"),
    ] {
        assert_eq!(table.load(read).warnings, [], "{read}");
        assert_eq!(written(&mut table, FenStyle::XFen), whole);
    }
    let error = read_fen(&mut table.world, &table.contract, "8/8/8/8/8/8/8/8 w - - 0 1 hm=x");
    let error = error.expect_err("no number");
    assert_eq!((error.field, error.offset), (FenField::Further, 29));
}

/// A count of moves stands in place of the passed square and the clock where files say so; elsewhere a number is no
/// square.
#[test]
fn a_count_of_moves_is_read_and_written() {
    let counted = "8/4k3/8/8/1R6/4K3/8/8 w - 32 7 2";
    for game in ["makruk", "makpong", "asean", "cambodian"] {
        let mut table = Table::of(game);
        for (read, whole) in [
            (counted, counted),
            ("8/4k3/8/8/1R6/4K3/8/8 w - 32", "8/4k3/8/8/1R6/4K3/8/8 w - 32 0 1"),
            ("8/4k3/8/8/1R6/4K3/8/8 w - 0 7 2", "8/4k3/8/8/1R6/4K3/8/8 w - - 7 2"),
            (counted, counted),
            ("8/4k3/8/8/1R6/4K3/8/8 w - - 7 2", "8/4k3/8/8/1R6/4K3/8/8 w - - 7 2"),
        ] {
            assert_eq!(table.load(read).warnings, [], "{game} {read}");
            assert_eq!(written(&mut table, FenStyle::XFen), whole, "{game} {read}");
        }
    }
    let mut table = Table::of("chess");
    let error = read_fen(&mut table.world, &table.contract, counted).expect_err("no square");
    assert_eq!((error.field, error.found.as_str()), (EN_PASSANT, "\"32\""));
}

#[test]
fn an_empty_hand_is_read_where_there_are_no_hands() {
    let mut table = Table::of("chess");
    for hand in ["[]", "[-]", ""] {
        let fen = format!("4k3/8/8/8/8/8/8/4K3{hand} w - - 0 1");
        read_fen(&mut table.world, &table.contract, &fen).expect("a FEN");
        assert_eq!(written(&mut table, FenStyle::XFen), "4k3/8/8/8/8/8/8/4K3 w - - 0 1");
    }
    let full = "4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1";
    let error = read_fen(&mut table.world, &table.contract, full).expect_err("no hands");
    assert_eq!((error.offset, error.found.as_str()), (19, "'['"));
}
