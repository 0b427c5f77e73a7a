//! Counts of move trees against published lists, under a limit of nodes; `RULEMATE_FULL=1` takes
//! every row.

use rulemate::internals::moves::{LegalityMode, divide, perft, perft_by, read_perft_list};
use rulemate::internals::presets::Catalogue;
use rulemate::internals::rules::Source;

use crate::setup::Table;

/// Rows with more nodes wait for `RULEMATE_FULL=1`.
fn limit(small: u64) -> u64 {
    if crate::fixture::is_full() { u64::MAX } else { small }
}

fn check_list(game: &str, list: &str, small: u64) {
    let mut table = Table::of(game);
    for record in read_perft_list(list).expect("a list") {
        table.load(&record.epd);
        for &(depth, nodes) in record.counts.iter().filter(|it| it.1 <= limit(small)) {
            let found = perft(&mut table.world, &table.contract, depth);
            assert_eq!(found, nodes, "{game}, {}, depth {depth}", record.id);
        }
    }
}

#[test]
fn tricky_positions_of_chess() {
    check_list("chess", include_str!("../data/perft/tricky.perft"), 700);
}

#[test]
fn endgames_without_captures_to_refuse() {
    check_list("antichess", include_str!("../data/perft/giveaway.perft"), 700);
}

/// A legal action that has no room for what it makes is no leaf, and the count tells of it, though rules decide all.
#[test]
fn leaves_that_cannot_be_taken_are_told() {
    let text = ".meta game \"full\"\n.meta family \"stones\"\n.meta board \"9x8\"\n\
                .meta start \"9/9/9/9/9/9/9/9 w 1\"\nfree(t) :- file(t, _), !occupied(t).\n";
    let mut catalogue = Catalogue::embedded().expect("the catalogue");
    let source = Source { path: "mine/full.dl".into(), text: text.into() };
    catalogue.add(source).expect("metadata that makes sense");
    let rules = catalogue.load::<&str>("full", &[]).unwrap_or_else(|it| panic!("{it}"));
    // 62 stones of 63: there is room for one more, and for none after it.
    let fen = format!("{}OOOOOOOO1/9 w 1", "OOOOOOOOO/".repeat(6));
    let mut game = rules.start(Some(&fen)).unwrap_or_else(|it| panic!("{it}"));
    let contract = rules.contract().clone();
    let world = game.world_mut();
    assert_eq!(perft(world, &contract, 1), 10);
    assert_eq!(world.check(), Ok(()));
    assert_eq!(perft(world, &contract, 2), 0);
    let why = world.check().expect_err("none of them can be played").to_string();
    assert!(why.contains("there is no room for another entity"), "{why}");
}

#[test]
fn counting_playing_and_simulating_agree() {
    for (game, depth) in [("chess", 2), ("knightmate", 2), ("coregal", 2), ("antichess", 2)] {
        let mut table = Table::of(game);
        let (world, contract) = (&mut table.world, &table.contract);
        let counted = perft(world, contract, depth);
        for mode in [LegalityMode::Declared, LegalityMode::Rules, LegalityMode::Simulate] {
            assert_eq!(perft_by(world, contract, depth, mode), counted, "{game} {mode:?}");
        }
        let divided = divide(world, contract, depth);
        assert_eq!(divided.iter().map(|it| it.1).sum::<u64>(), counted, "{game}");
        assert!(divided.is_sorted(), "{game}");
    }
}
