//! What the evaluator costs in its parts: rows after one move and its undo against rows from
//! scratch, a proof, and the way from rule text to a plan. The answers are asserted.
//!
//! Deliberately absent: whole trees (`perft.rs`).

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rulemate::derive::explain::{why, why_not};
use rulemate::derive::{Plan, World};
use rulemate::game::Game;
use rulemate::moves::notation::listing;
use rulemate::moves::{Contract, Move, is_over};
use rulemate::presets::{Catalogue, Ruleset};
use rulemate::rules::{Program, compile, embedded_folder, embedded_sources};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
/// Its legal moves, and those of the positions one move later.
const MOVES: u64 = 48;
const REPLIES: u64 = 2039;

fn chess() -> Ruleset {
    let catalogue = Catalogue::embedded().expect("the embedded rules");
    catalogue.load::<&str>("chess", &[]).expect("an embedded game")
}

fn kiwipete() -> Game {
    chess().start(Some(KIWIPETE)).expect("a position")
}

fn mobility(world: &mut World, contract: &Contract) -> u64 {
    if is_over(world, contract) {
        return 0;
    }
    let program = Arc::clone(world.program());
    program.actions.iter().map(|it| world.count(it.rel)).sum()
}

/// Takes every move, counts the replies, takes it back, counts again.
fn there_and_back(
    world: &mut World,
    contract: &Contract,
    moves: &[(String, Move)],
    before: impl Fn(&mut World),
) -> (u64, u64) {
    let (mut replies, mut again) = (0, 0);
    for (_, mv) in moves {
        let mark = world.mark();
        world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        before(world);
        replies += mobility(world, contract);
        world.rollback(mark);
        before(world);
        again += mobility(world, contract);
    }
    (replies, again)
}

fn rows(criterion: &mut Criterion) {
    let mut game = kiwipete();
    let contract = game.contract().clone();
    let world = game.world_mut();
    let moves = listing(world, &contract);
    let expected = (REPLIES, MOVES * MOVES);
    let mut group = criterion.benchmark_group("rows");
    // Two positions a move.
    group.throughput(Throughput::Elements(2 * MOVES));
    group.bench_function("incremental", |bench| {
        bench.iter(|| assert_eq!(there_and_back(world, &contract, &moves, |_| ()), expected));
    });
    group.bench_function("from-scratch", |bench| {
        bench.iter(|| {
            let found = there_and_back(world, &contract, &moves, World::forget_rows);
            assert_eq!(found, expected);
        });
    });
    group.finish();
}

fn explanations(criterion: &mut Criterion) {
    let mut game = kiwipete();
    let castling = game.find_move("e1g1").expect("a legal move");
    let mut group = criterion.benchmark_group("explain");
    let world = game.world_mut();
    let rel = world.program().action(castling.action).rel;
    let pattern: Vec<Option<i64>> = castling.args.iter().copied().map(Some).collect();
    group.bench_function("a-legal-move", |bench| {
        bench.iter(|| {
            let proof = why(&world.materialised(), rel, &castling.args);
            assert!(black_box(proof).is_some());
        });
    });
    world.fire(castling.action, &castling.args).unwrap_or_else(|it| panic!("{it}"));
    group.bench_function("an-illegal-move", |bench| {
        bench.iter(|| {
            let refutation = why_not(&world.materialised(), rel, &pattern);
            assert!(black_box(refutation).is_some());
        });
    });
    group.finish();
}

fn program() -> Program {
    let mut sources = embedded_folder("rules/core");
    sources.extend(embedded_folder("rules/chess"));
    sources.extend(embedded_sources(&["rules/games/chess.dl"]));
    compile(sources).expect("the embedded rules")
}

fn loading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    group.bench_function("rule-text-to-program", |bench| {
        bench.iter(|| assert!(!black_box(program()).rules.is_empty()));
    });
    let program = Arc::new(program());
    group.bench_function("program-to-plan", |bench| {
        bench.iter(|| assert!(black_box(Plan::compile(Arc::clone(&program))).is_ok()));
    });
    group.finish();
}

criterion_group!(benches, rows, explanations, loading);
criterion_main!(benches);
