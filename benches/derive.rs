//! What the evaluator costs in its parts: rows after one move and its undo against rows from
//! scratch, what may be done under abilities and in CoTuLenh against moves of chess, a proof, and the way from rule
//! text to a plan. The answers are asserted.
//!
//! Deliberately absent: whole trees (`perft.rs`).

#![allow(clippy::print_stderr, reason = "the ratio is what one runs this for")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rulemate::internals::cli::bench::Meter;
use rulemate::internals::derive::explain::{why, why_not};
use rulemate::internals::derive::{Plan, World};
use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::listing;
use rulemate::internals::moves::{
    Contract, Move, is_over, is_played_out, legal_moves, pseudo_moves,
};
use rulemate::internals::presets::{Catalogue, Ruleset};
use rulemate::internals::rules::{Program, compile, embedded_folder, embedded_sources};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
/// The number of its legal moves, and of those of all positions one move later.
const MOVES: u64 = 48;
const REPLIES: u64 = 2039;

/// The same board; each piece has two abilities and an element.
const LOADED: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 \
    bastion=-,a8:true,d5:true,e2:true overload=-,a8:true,e6:true,e2:true \
    belligerent=-,e8:true,e5:true,f2:true poisonous-meat=-,e8:true,f6:true,f2:true \
    blaze-rush=-,h8:true,b4:true,g2:true quantum-kill=-,h8:true,g6:true,g2:true \
    block-piece=-,a7:true,e4:true,h2:true quantum-step=-,a7:true,d5:true,h2:true \
    chain-kill=-,c7:true,c3:true,a1:true radiant-vision=-,c7:true,e5:true,a1:true \
    do-over=-,d7:1,f3:1,e1:1 resurrection=-,d7:true,b4:true,e1:true \
    double-kill=-,e7:true,h3:true,h1:true scatter-shot=-,e7:true,e4:true,h1:true \
    flood-wake=-,f7:true,a2:true schrodingers-laugh=-,f7:true,c3:true \
    gale-lift=-,g7:true,b2:true scorch=-,g7:true,f3:true indomitable=-,a6:true,c2:true \
    side-step=-,a6:true,h3:true mist-shroud=-,b6:true,d2:true stalwart=-,b6:true,a2:true \
    tailwind=-,e6:true,b2:true temporal-lock=-,f6:true,c2:true umbral-step=-,g6:true,d2:true \
    element=-,a8:light,e8:shadow,h8:fire,a7:water,c7:earth,d7:air,e7:lightning,f7:light,g7:shadow,a6:fire,b6:water,e6:earth,f6:air,g6:lightning,d5:light,e5:shadow,b4:fire,e4:water,c3:earth,f3:air,h3:lightning,a2:light,b2:shadow,c2:fire,d2:water,e2:earth,f2:air,g2:lightning,h2:light,a1:shadow,e1:fire,h1:water";
/// The number of its requests, and of those of all positions one request later.
const REQUESTS: usize = 53;
const LATER: usize = 1791;

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

/// Lists what may be done after each move. Only the listing is timed.
fn list_replies(game: &mut Game, expected: [usize; 2]) -> Duration {
    let contract = game.contract().clone();
    let world = game.world_mut();
    let moves = legal_moves(world, &contract);
    let (mut found, mut spent) = (0, Duration::ZERO);
    for mv in &moves {
        let mark = world.mark();
        world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        let meter = Meter::own();
        found += legal_moves(world, &contract).len();
        spent += meter.elapsed();
        world.rollback(mark);
    }
    assert_eq!([moves.len(), found], expected);
    spent / moves.len() as u32
}

/// Lists of actions beside those of chess, which rules decide: of a game whose pieces all have abilities, and of one whose
/// board has 132 squares. Some of these actions are played out.
fn listings(criterion: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the embedded rules");
    let loaded = catalogue.load::<&str>("ability-chess", &[]).expect("an embedded game");
    let loaded = loaded.start(Some(LOADED)).expect("a position");
    let wide = catalogue.load::<&str>("cotulenh", &[]).expect("an embedded game");
    let wide = wide.start(None).expect("its start");
    let games = [
        ("chess", kiwipete(), [MOVES as usize, REPLIES as usize]),
        ("ability-chess", loaded, [REQUESTS, LATER]),
        ("cotulenh", wide, [116, 13_460]),
    ];
    let mut group = criterion.benchmark_group("listing");
    group.sample_size(20);
    let mut spent: [(Duration, u32); 3] = Default::default();
    for ((name, mut game, expected), spent) in games.into_iter().zip(&mut spent) {
        game.world_mut().plan().make_native();
        group.bench_function(name, |bench| {
            bench.iter_custom(|rounds| {
                let times = (0..rounds).map(|_| list_replies(&mut game, expected));
                let sum: Duration = times.sum();
                spent.0 += sum;
                spent.1 += rounds as u32;
                sum
            });
        });
    }
    let [chess, loaded, wide] =
        spent.map(|(time, rounds)| time.as_secs_f64() / f64::from(rounds.max(1)));
    eprintln!(
        "a position with full loadouts takes {:.1} times as long as one of chess, one of CoTuLenh {:.1} times\n",
        loaded / chess,
        wide / chess
    );
    group.finish();
}

/// Tells how much of a position with full loadouts, and of those one request later, rules decide. Nothing is timed.
fn shares(_: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the embedded rules");
    let rules = catalogue.load::<&str>("ability-chess", &[]).expect("an embedded game");
    let mut game = rules.start(Some(LOADED)).expect("a position");
    let contract = game.contract().clone();
    let world = game.world_mut();
    let (mut known, mut all) = (0, 0);
    let mut count = |world: &mut World| {
        let requests = pseudo_moves(world);
        let by_rules = requests.iter().filter(|it| !is_played_out(world, &contract, it));
        known += by_rules.count();
        all += requests.len();
    };
    count(world);
    for mv in legal_moves(world, &contract) {
        let mark = world.mark();
        world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
        count(world);
        world.rollback(mark);
    }
    eprintln!(
        "with full loadouts rules decide {known} of {all} requests without playing them out\n"
    );
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

criterion_group!(benches, rows, listings, shares, explanations, loading);
criterion_main!(benches);
