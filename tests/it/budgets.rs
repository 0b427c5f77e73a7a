//! How much work the evaluator may do: instructions for a position, by game, over a fixed tree.
//!
//! A wrong join order gives right answers at many times the work, and no other test sees it. The
//! budgets are what was measured and 15 % on top. `UPDATE_BUDGETS=1 cargo test budgets --
//! --nocapture` prints fresh figures. Deliberately absent: time, which depends on the machine.

use rulemate::internals::moves::perft;
use rulemate::internals::rules::Program;

use crate::setup::Table;

const START: &str = "start";
const ABILITY: &str = "chess, kiwipete";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// Game, position, nodes at depth 3, instructions for a position as measured.
const MEASURED: [(&str, &str, u64, f64); 9] = [
    ("chess", START, 8902, 423.0),
    ("chess", KIWIPETE, 97_862, 489.0),
    ("chess960", START, 8902, 423.0),
    ("knightmate", START, 6765, 440.0),
    ("knightmate-classic", START, 8626, 463.0),
    ("coregal", START, 8882, 599.0),
    ("antichess", START, 8067, 528.0),
    ("giveaway", START, 8067, 536.0),
    ("racingkings", START, 11_264, 721.0),
];

/// A game for each preset, nodes at depth 2 from kiwipete, where most of them meet something; and
/// instructions for a position.
const PRESETS: [(&str, u64, f64); 30] = [
    ("berolina", 2386, 596.0),
    ("berolina-2", 2398, 603.0),
    ("bouncing-1", 2304, 961.0),
    ("bouncing-2", 2307, 1112.0),
    ("wrap-board", 2599, 977.0),
    ("capture-all", 2049, 468.0),
    ("capture-to-win", 1701, 512.0),
    ("extinction", 2049, 569.0),
    ("suicide", 62, 784.0),
    ("double-move", 2326, 731.0),
    ("monster", 2326, 653.0),
    ("dual-king", 2039, 497.0),
    ("weak-dual-king", 2049, 481.0),
    ("cannon", 2039, 745.0),
    ("knight-immunity", 1943, 611.0),
    ("knights-leap-twice", 3795, 1566.0),
    ("piece-hp", 2048, 741.0),
    ("king-heals", 2048, 815.0),
    ("piece-shield", 2045, 1736.0),
    ("poisoned-squares", 2048, 820.0),
    ("berserker", 2048, 826.0),
    ("queen-splits", 2039, 786.0),
    ("explosive-rook", 2039, 775.0),
    ("stamina", 2039, 702.0),
    ("kingofthehill", 2039, 576.0),
    ("3check", 2039, 599.0),
    ("horde", 2039, 614.0),
    ("atomic", 1939, 1198.0),
    ("makruk", 1907, 748.0),
    ("duck", 1544, 571.0),
];

/// The same for abilities on all pieces of chess: nodes at depth 2, and instructions for a position. Playing moves out to
/// see whether they are legal costs several times as much.
const ABILITIES: [(&str, u64, f64); 6] = [
    ("block-piece", 123_023, 6735.0),
    ("chain-kill", 2039, 2135.0),
    ("double-kill", 2036, 2365.0),
    ("loadout-drawn", 2277, 7061.0),
    ("stalwart", 1995, 5618.0),
    ("umbral-step", 2323, 3629.0),
];

const DEPTH: u32 = 3;
const SLACK: f64 = 1.15;

/// The rules that take most, with their share.
fn top(program: &Program, counts: &[u64]) -> String {
    let total = counts.iter().sum::<u64>().max(1);
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&it| std::cmp::Reverse(counts[it]));
    let line = |&at: &usize| {
        let span = match program.rules.get(at) {
            Some(rule) => rule.span,
            None => program.reactions[at - program.rules.len()].span,
        };
        format!("  {:2} % {}", counts[at] * 100 / total, program.place(span))
    };
    order.iter().take(5).map(line).collect::<Vec<_>>().join("\n")
}

/// Instructions by rule over the tree, and the number of positions that were derived: all but the
/// leaves, which are counted in the position above them.
fn measure(table: &mut Table, nodes: u64, depth: u32) -> (Vec<u64>, u64) {
    let Table { world, contract } = table;
    let positions = (0..depth).map(|depth| perft(world, contract, depth)).sum();
    world.forget_rows();
    world.count_operations(true);
    assert_eq!(perft(world, contract, depth), nodes);
    (world.operations(), positions)
}

#[test]
fn work_for_a_position_stays_in_its_budget() {
    let update = std::env::var_os("UPDATE_BUDGETS").is_some();
    let mut over = Vec::new();
    let presets = PRESETS.map(|(game, nodes, measured)| (game, KIWIPETE, nodes, measured, 2));
    let games = MEASURED.map(|(game, fen, nodes, measured)| (game, fen, nodes, measured, DEPTH));
    let abilities = ABILITIES.map(|(it, nodes, measured)| (it, ABILITY, nodes, measured, 2));
    for (game, fen, nodes, measured, depth) in games.into_iter().chain(presets).chain(abilities) {
        let mut table = match fen {
            START => Table::of(game),
            ABILITY => Table::with("chess", game, KIWIPETE),
            _ => Table::at(game, fen),
        };
        let (counts, positions) = measure(&mut table, nodes, depth);
        let found = counts.iter().sum::<u64>() as f64 / positions as f64;
        let line =
            format!("{game}, {fen}: {found:.0} instructions a position, {measured} measured");
        let shares = top(table.world.program(), &counts);
        if update {
            show(&format!("{line}\n{shares}"));
        } else if found > measured * SLACK {
            over.push(format!("{line}; most of it:\n{shares}"));
        }
    }
    assert!(over.is_empty(), "over budget:\n{}", over.join("\n"));
}

#[expect(clippy::print_stderr, reason = "figures for whoever asked for them")]
fn show(text: &str) {
    eprintln!("{text}");
}
