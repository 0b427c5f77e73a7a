//! Counting trees, beside a peer engine where it is installed. Every count is asserted, and the
//! ratio of the two is printed under each group: ratios travel between machines, seconds do not.

#![allow(clippy::print_stderr, reason = "the ratio is what one runs this for")]

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use rulemate::internals::cli::bench::{Meter, Peer};
use rulemate::internals::game::Game;
use rulemate::internals::moves::perft;
use rulemate::internals::presets::Catalogue;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const LOSING: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1";

/// Game, position, its FEN, depth, nodes.
const TREES: [(&str, &str, &str, u32, u64); 3] = [
    ("chess", "start", START, 4, 197_281),
    ("chess", "kiwipete", KIWIPETE, 4, 4_085_603),
    ("antichess", "start", LOSING, 4, 153_299),
];

/// The time of all rounds, and their number.
#[derive(Default)]
struct Spent(Duration, u32);

impl Spent {
    fn add(&mut self, time: Duration) -> Duration {
        self.0 += time;
        self.1 += 1;
        time
    }

    fn mean(&self) -> f64 {
        self.0.as_secs_f64() / f64::from(self.1.max(1))
    }
}

fn trees(criterion: &mut Criterion) {
    let catalogue = Catalogue::embedded().expect("the rules of this package");
    let mut peer = Peer::start("fairy-stockfish");
    for (name, position, fen, depth, nodes) in TREES {
        let rules = catalogue.load::<&str>(name, &[]).expect("a game of this package");
        let mut game = rules.start(Some(fen)).expect("a position of the game");
        let mut group = criterion.benchmark_group(format!("{name}, {position}, depth {depth}"));
        group.sample_size(10);
        let (mut own, mut theirs) = (Spent::default(), Spent::default());
        group.bench_function("rulemate", |bencher| {
            bencher.iter_custom(|rounds| {
                (0..rounds).map(|_| own.add(count(&mut game, depth, nodes))).sum()
            });
        });
        if let Some(peer) = &mut peer {
            group.bench_function("fairy-stockfish", |bencher| {
                bencher.iter_custom(|rounds| {
                    (0..rounds).map(|_| theirs.add(ask(peer, name, fen, depth, nodes))).sum()
                });
            });
            eprintln!("rulemate is {:.2} times as fast\n", theirs.mean() / own.mean());
        }
        group.finish();
    }
}

/// A tree of a game whose rows have 256 bits, and one of chess: the time of a node of each.
fn wide(criterion: &mut Criterion) {
    const NODES: [(&str, u64); 2] = [("chess", 197_281), ("cotulenh", 1_578_799)];
    let catalogue = Catalogue::embedded().expect("the rules of this package");
    let mut group = criterion.benchmark_group("cotulenh, start, depth 3");
    group.sample_size(10);
    let mut spent = [Spent::default(), Spent::default()];
    for ((name, nodes), spent) in NODES.into_iter().zip(&mut spent) {
        let rules = catalogue.load::<&str>(name, &[]).expect("a game of this package");
        let mut game = rules.start(None).expect("its start");
        let depth = if name == "chess" { 4 } else { 3 };
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|rounds| {
                (0..rounds).map(|_| spent.add(count(&mut game, depth, nodes))).sum()
            });
        });
    }
    let [chess, own] = [0, 1].map(|it| spent[it].mean() / NODES[it].1 as f64);
    eprintln!("a node takes {:.2} times as long as one of chess\n", own / chess);
    group.finish();
}

fn count(game: &mut Game, depth: u32, nodes: u64) -> Duration {
    let contract = game.contract().clone();
    let meter = Meter::own();
    assert_eq!(perft(game.world_mut(), &contract, depth), nodes);
    meter.elapsed()
}

fn ask(peer: &mut Peer, variant: &str, fen: &str, depth: u32, nodes: u64) -> Duration {
    let answer = peer.perft(variant, fen, depth).expect("the peer answers");
    assert_eq!(answer.nodes, nodes);
    answer.time
}

criterion_group!(benches, trees, wide);
criterion_main!(benches);
