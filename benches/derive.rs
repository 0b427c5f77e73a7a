//! One move and its undo: incremental beside from scratch beside the slow evaluator. All three must
//! count the same legal moves.

use criterion::{Criterion, criterion_group, criterion_main};
use rulemate::derive::{Backend, World};
use rulemate::game::Game;
use rulemate::moves::{Contract, Move, legal_moves};
use rulemate::presets::Catalogue;

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// The legal moves after each of kiwipete's 48 moves, and 48 times those of kiwipete itself.
const MOBILITY: usize = 2_039 + 48 * 48;

fn moves_and_undos(criterion: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the rules of this package");
    let rules = catalogue.load::<&str>("chess", &[]).expect("a game of this package");
    let mut group = criterion.benchmark_group("kiwipete, 48 moves and undos");
    group.sample_size(10);
    let start = |backend| rules.start_on(backend, Some(KIWIPETE)).expect("a position of chess");
    let mut game = start(Backend::Bits);
    group.bench_function("incremental", |it| it.iter(|| round(&mut game, |_| ())));
    group.bench_function("from scratch", |it| it.iter(|| round(&mut game, World::forget_rows)));
    let mut slow = start(Backend::Frog);
    group.bench_function("datafrog", |it| it.iter(|| round(&mut slow, |_| ())));
    group.finish();
}

/// Every move and its undo, with the legal moves asked for after each.
fn round(game: &mut Game, before: impl Fn(&mut World)) {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let moves = legal_moves(world, &contract);
    let sum: usize = moves.iter().map(|mv| step(world, &contract, mv, &before)).sum();
    assert_eq!(sum, MOBILITY);
}

fn step(world: &mut World, contract: &Contract, mv: &Move, before: &impl Fn(&mut World)) -> usize {
    let mark = world.mark();
    world.fire(mv.action, &mv.args);
    before(world);
    let after = legal_moves(world, contract).len();
    world.rollback(mark);
    before(world);
    after + legal_moves(world, contract).len()
}

criterion_group!(benches, moves_and_undos);
criterion_main!(benches);
