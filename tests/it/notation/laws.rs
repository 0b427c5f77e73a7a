//! Laws that hold for any text and any line of play.

use std::cell::RefCell;

use proptest::prelude::*;
use rulemate::internals::moves::notation::{
    FenStyle, PgnReader, listing, parse_san, parse_uci, read_fen, san_listing, write_fen,
};
use rulemate::internals::moves::{legal_moves, parse_either};

use crate::damage::{damage, damaged, damages};
use crate::setup::Table;

const GAMES: [&str; 5] = ["chess", "chess960", "knightmate", "coregal", "giveaway"];

const FENS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "nrbbqkrn/pR1p1ppp/8/2P5/5p2/8/P1PPP1PP/N1BBQKRN b Ggb - 0 4",
    "4k3/8/8/3Pp3/8/8/8/4K3 w - e6 0 1",
    "8/P3k3/8/8/8/8/8/4K3 w - - 12 99",
];

const MOVES: [&str; 10] =
    ["e4", "Nf3", "exd5", "O-O", "e8=Q+", "Nbd7", "R1xa3!?", "e2e4", "e7e8q", "dxe6 e.p."];

const PGN: &str = "[Event \"A \\\"b\\\"\"]\n[Result \"*\"]\n\n1. e4 {c} e5 (1... c5 $3) 2. Nf3! *\n\n[X \"y\"]\n1-0";

#[test]
fn damaged_fens_are_read_or_refused_and_change_all_or_nothing() {
    let table = RefCell::new(Table::of("chess960"));
    proptest!(|(fen in proptest::sample::select(&FENS), damages in damages())| {
        let text = damaged(fen, &damages);
        let table = &mut *table.borrow_mut();
        let (world, contract) = (&mut table.world, &table.contract);
        let before = world.facts().hash();
        match read_fen(world, contract, &text) {
            Ok(_) => {
                let once = write_fen(world, contract);
                prop_assert!(read_fen(world, contract, &once).is_ok());
                prop_assert_eq!(write_fen(world, contract), once);
            }
            Err(error) => {
                prop_assert_eq!(world.facts().hash(), before);
                prop_assert!(error.offset <= text.len());
            }
        }
    });
}

#[test]
fn damaged_moves_are_read_or_refused() {
    let mut table = Table::of("chess");
    table.load(FENS[1]);
    let table = RefCell::new(table);
    proptest!(|(text in proptest::sample::select(&MOVES), damages in damages())| {
        let text = damaged(text, &damages);
        let table = &mut *table.borrow_mut();
        let legal = legal_moves(&mut table.world, &table.contract);
        for parsed in [
            parse_san(&mut table.world, &table.contract, &text),
            parse_uci(&mut table.world, &table.contract, &text),
        ] {
            match parsed {
                Ok(mv) => prop_assert!(legal.contains(&mv)),
                Err(error) => prop_assert!(error.to_string().starts_with(&error.text)),
            }
        }
    });
}

proptest! {
    #[test]
    fn damaged_games_are_read_or_refused(damages in proptest::collection::vec(damage(), 1..12)) {
        let text = damaged(PGN, &damages);
        for game in PgnReader::new(text.as_bytes()) {
            match game {
                Ok(game) => {
                    let again = PgnReader::new(game.to_pgn().as_bytes()).count();
                    prop_assert!(again >= 1);
                }
                Err(error) => prop_assert!(error.line >= 1 && error.column >= 1),
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let games = PgnReader::new(&bytes).count();
        prop_assert!(games <= bytes.len());
    }
}

/// Plays the choices from the start and calls `check` in every position.
fn playout(game: &str, choices: &[u16], mut check: impl FnMut(&mut Table)) {
    let mut table = Table::of(game);
    for &choice in choices {
        check(&mut table);
        let moves = legal_moves(&mut table.world, &table.contract);
        if moves.is_empty() {
            return;
        }
        table.play(&moves[usize::from(choice) % moves.len()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5))]

    #[test]
    fn a_written_position_is_read_back(
        game in proptest::sample::select(&GAMES),
        choices in proptest::collection::vec(any::<u16>(), 40),
    ) {
        let mut copy = Table::of(game);
        playout(game, &choices, |table| {
            for style in [FenStyle::XFen, FenStyle::Shredder] {
                for contract in [&mut table.contract, &mut copy.contract] {
                    contract.notation.castling.iter_mut().for_each(|it| it.style = style);
                }
                let fen = write_fen(&mut table.world, &table.contract);
                assert_eq!(copy.load(&fen).warnings, [], "{fen}");
                assert_eq!(write_fen(&mut copy.world, &copy.contract), fen);
            }
            let texts = |it: &mut Table| -> Vec<String> {
                listing(&mut it.world, &it.contract).into_iter().map(|it| it.0).collect()
            };
            assert_eq!(texts(&mut copy), texts(table));
        });
    }

    #[test]
    fn written_moves_are_unique_and_read_back(
        game in proptest::sample::select(&GAMES),
        choices in proptest::collection::vec(any::<u16>(), 25),
    ) {
        playout(game, &choices, |table| {
            let (world, contract) = (&mut table.world, &table.contract);
            for (text, mv) in listing(world, contract) {
                assert_eq!(parse_uci(world, contract, &text), Ok(mv), "{text}");
            }
            let rows = san_listing(world, contract);
            assert!(rows.windows(2).all(|it| it[0].0 != it[1].0), "{rows:?}");
            for (text, mv) in rows {
                assert_eq!(parse_san(world, contract, &text).as_ref(), Ok(&mv), "{text}");
                assert_eq!(parse_either(world, contract, &text), Ok(mv), "{text}");
            }
        });
    }
}
