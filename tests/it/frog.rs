//! The datafrog evaluator and the world over it: programs that are not chess, and chess.

use std::sync::Arc;

use rulemate::derive::{Frog, Tuple, World};
use rulemate::facts::{GAME, Value};

use crate::board::{KIWIPETE, START, chess, position, program, rel, world};

/// The rows of a relation, as text.
fn rows(world: &mut World, name: &str) -> Vec<String> {
    let program = Arc::clone(world.program());
    let rel = rel(&program, name);
    world.tuples(rel).iter().map(|it| program.tuple_name(rel, it)).collect()
}

fn perft(world: &mut World, depth: usize) -> u64 {
    let program = Arc::clone(world.program());
    let mut nodes = 0;
    for action in &program.actions {
        if depth == 1 {
            nodes += world.count(action.rel);
            continue;
        }
        for row in world.tuples(action.rel) {
            let mark = world.mark();
            world.fire(action.id, &row);
            nodes += perft(world, depth - 1);
            world.rollback(mark);
        }
    }
    nodes
}

#[test]
fn chess_start_and_kiwipete() {
    let program = chess();
    let mut start = world(&program);
    position(&mut start, START);
    assert_eq!(start.count(rel(&program, "move")), 20);
    assert_eq!(perft(&mut start, 2), 400);

    let mut kiwipete = world(&program);
    position(&mut kiwipete, KIWIPETE);
    assert_eq!(perft(&mut kiwipete, 1), 48);
    let hash = kiwipete.facts().hash();
    assert_eq!(perft(&mut kiwipete, 2), 2039);
    assert_eq!(kiwipete.facts().hash(), hash);
}

#[test]
#[ignore]
fn speed() {
    let program = chess();
    for fen in [START, KIWIPETE] {
        let mut it = world(&program);
        position(&mut it, fen);
        let statics = Frog::statics(&program).unwrap();
        let t = std::time::Instant::now();
        Frog::derive_with(&statics, it.facts());
        eprintln!("first {:?}", t.elapsed());
        let t = std::time::Instant::now();
        for _ in 0..200 {
            Frog::derive_with(&statics, it.facts());
        }
        eprintln!("{:?}", t.elapsed() / 200);
    }
}
