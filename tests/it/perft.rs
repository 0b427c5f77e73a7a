//! Counts of move trees against published lists, under a limit of nodes; `RULEMATE_FULL=1` takes
//! every row.

use rulemate::internals::moves::{LegalityMode, divide, perft, perft_by, read_perft_list};

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

#[test]
fn counting_playing_and_simulating_agree() {
    for (game, depth) in [("chess", 2), ("knightmate", 2), ("coregal", 2), ("antichess", 2)] {
        let mut table = Table::of(game);
        let (world, contract) = (&mut table.world, &table.contract);
        let counted = perft(world, contract, depth);
        for mode in [LegalityMode::Declared, LegalityMode::Rules, LegalityMode::Simulate] {
            assert_eq!(perft_by(world, contract, depth, mode, false), counted, "{game} {mode:?}");
        }
        let divided = divide(world, contract, depth);
        assert_eq!(divided.iter().map(|it| it.1).sum::<u64>(), counted, "{game}");
        assert!(divided.is_sorted(), "{game}");
    }
}
