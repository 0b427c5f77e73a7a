//! How fast trees of moves are counted, every count asserted, beside a peer of the same run.
//!
//! The peer (`fairy-stockfish`, if installed) is a separate process; criterion times both by wall
//! time. Deliberately absent: the tables of the README (`rulemate bench`, by CPU time).

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use rulemate::moves::perft;
use rulemate::presets::Catalogue;

const CHESS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const KNIGHTMATE: &str = "rkbqnbkr/pppppppp/8/8/8/8/PPPPPPPP/RKBQNBKR w KQkq - 0 1";
const ANTICHESS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1";

struct Tree {
    name: &'static str,
    game: &'static str,
    fen: &'static str,
    depth: u32,
    nodes: u64,
    /// The peer's name for the game, and the position in its letters.
    peer: (&'static str, &'static str),
}

const TREES: [Tree; 5] = [
    Tree {
        name: "start-4",
        game: "chess",
        fen: CHESS,
        depth: 4,
        nodes: 197_281,
        peer: ("chess", CHESS),
    },
    Tree {
        name: "kiwipete-3",
        game: "chess",
        fen: KIWIPETE,
        depth: 3,
        nodes: 97_862,
        peer: ("chess", KIWIPETE),
    },
    Tree {
        name: "kiwipete-4",
        game: "chess",
        fen: KIWIPETE,
        depth: 4,
        nodes: 4_085_603,
        peer: ("chess", KIWIPETE),
    },
    Tree {
        name: "knightmate-4",
        game: "knightmate",
        fen: KNIGHTMATE,
        depth: 4,
        nodes: 139_774,
        // There the royal knight has the letter k, and the king that is not royal the letter m.
        peer: ("knightmate", "rmbqkbmr/pppppppp/8/8/8/8/PPPPPPPP/RMBQKBMR w KQkq - 0 1"),
    },
    Tree {
        name: "antichess-4",
        game: "antichess",
        fen: ANTICHESS,
        depth: 4,
        nodes: 153_299,
        peer: ("antichess", ANTICHESS),
    },
];

/// A running engine that speaks UCI.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Debian puts engines in `/usr/games`, which need not be in the path.
    fn start() -> Option<Self> {
        let start = |program: &str| {
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()
        };
        let mut child = start("/usr/games/fairy-stockfish").or_else(|| start("fairy-stockfish"))?;
        let (input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        Some(Self { child, input, output })
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the peer listens");
        self.input.flush().expect("the peer listens");
    }

    /// The rest of the first line that starts like this.
    fn hear(&mut self, start: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).expect("text") > 0, "the peer has ended");
            if let Some(rest) = line.strip_prefix(start) {
                return rest.trim().to_owned();
            }
        }
    }

    fn set_up(&mut self, tree: &Tree) {
        let (variant, fen) = tree.peer;
        self.say(&format!("setoption name UCI_Variant value {variant}"));
        self.say(&format!("position fen {fen}"));
        self.say("isready");
        self.hear("readyok");
    }

    fn perft(&mut self, depth: u32) -> u64 {
        self.say(&format!("go perft {depth}"));
        self.hear("Nodes searched:").parse().expect("a number")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.say("quit");
        let _ = self.child.wait();
    }
}

fn own(group: &mut BenchmarkGroup<'_, WallTime>, tree: &Tree) {
    let catalogue = Catalogue::embedded().expect("the embedded rules");
    let rules = catalogue.load::<&str>(tree.game, &[]).expect("an embedded game");
    let mut game = rules.start(Some(tree.fen)).expect("a position");
    let contract = rules.contract().clone();
    group.bench_function("rulemate", |bench| {
        bench.iter(|| assert_eq!(perft(game.world_mut(), &contract, tree.depth), tree.nodes));
    });
}

fn trees(criterion: &mut Criterion) {
    let mut peer = Peer::start();
    for tree in &TREES {
        let mut group = criterion.benchmark_group(tree.name);
        group.sample_size(10).throughput(Throughput::Elements(tree.nodes));
        own(&mut group, tree);
        if let Some(peer) = &mut peer {
            peer.set_up(tree);
            group.bench_function("fairy-stockfish", |bench| {
                bench.iter(|| assert_eq!(peer.perft(tree.depth), tree.nodes));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, trees);
criterion_main!(benches);
