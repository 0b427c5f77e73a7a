//! How fast trees are counted, compared with peers in the same run.
//!
//! Every count is asserted, so a figure cannot come from a wrong answer.

use std::time::Duration;

use anyhow::ensure;
use serde::Serialize;

use super::meter::Meter;
use super::peer::Peer;
use crate::cli::setup::{self, Library};
use crate::game::Game;
use crate::moves::perft;

/// A tree to count.
struct Tree {
    game: &'static str,
    position: &'static str,
    fen: &'static str,
    /// The depth and the number of nodes for a short run, and for a full one.
    quick: (u32, u64),
    full: (u32, u64),
    /// The game and the position as peers write them; `None` if none of them plays the game.
    peer: Option<(&'static str, &'static str)>,
    /// Number of our actions that peers count as one.
    in_one: u32,
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const KNIGHTMATE: &str = "rkbqnbkr/pppppppp/8/8/8/8/PPPPPPPP/RKBQNBKR w KQkq - 0 1";
const ANTICHESS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1";
const POCKETS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1";
const SHOGI: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL[] w - - 0 1";
const MINISHOGI: &str = "rbsgk/4p/5/P4/KGSBR[] w - - 0 1";
const XIANGQI: &str = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
const JANGGI: &str = "rnba1abnr/4k4/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/4K4/RNBA1ABNR w - - 0 1";
const COTULENH: &str = "6c4/1n2fh1hf2/3a2s2a1/2n1gt1tg2/2ie2m2ei/11/11/2IE2M2EI/2N1GT1TG2/3A2S2A1/1N2FH1HF2/6C4 r - - 0 1";
const CAPABLANCA: &str = "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR w KQkq - 0 1";

const TREES: &[Tree] = &[
    Tree::of("chess", START, (5, 4_865_609), (6, 119_060_324)),
    Tree { position: "kiwipete", ..Tree::of("chess", KIWIPETE, (4, 4_085_603), (5, 193_690_690)) },
    Tree {
        // Peers write k for the royal knight and m for the king, which is not royal.
        peer: Some(("knightmate", "rmbqkbmr/pppppppp/8/8/8/8/PPPPPPPP/RMBQKBMR w KQkq - 0 1")),
        ..Tree::of("knightmate", KNIGHTMATE, (5, 3_249_033), (6, 74_568_983))
    },
    Tree::of("antichess", ANTICHESS, (5, 2_732_672), (5, 2_732_672)),
    Tree { peer: None, ..Tree::of("coregal", START, (4, 195_896), (5, 4_756_867)) },
    Tree::of("crazyhouse", POCKETS, (4, 197_281), (5, 4_888_832)),
    Tree::of("atomic", START, (4, 197_326), (5, 4_864_979)),
    Tree {
        peer: Some(("duck", START)),
        in_one: 2,
        ..Tree::of("duck-fairy", START, (4, 379_440), (6, 249_921_262))
    },
    Tree::of("minishogi", MINISHOGI, (4, 35_401), (5, 533_203)),
    Tree::of("shogi", SHOGI, (4, 719_731), (5, 19_861_490)),
    Tree::of("xiangqi", XIANGQI, (4, 3_290_240), (4, 3_290_240)),
    Tree::of("janggi", JANGGI, (4, 1_065_277), (5, 35_243_995)),
    Tree::of("capablanca", CAPABLANCA, (4, 805_128), (5, 28_741_319)),
    Tree { peer: None, ..Tree::of("cotulenh", COTULENH, (2, 13_460), (3, 1_578_799)) },
];

impl Tree {
    /// The tree of a game's start, for a game that peers have under the same name and with the same letters.
    const fn of(
        game: &'static str,
        fen: &'static str,
        quick: (u32, u64),
        full: (u32, u64),
    ) -> Self {
        let peer = Some((game, fen));
        Self { game, position: "start", fen, quick, full, peer, in_one: 1 }
    }
}

/// A line of the table.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    game: &'static str,
    position: &'static str,
    depth: u32,
    nodes: u64,
    /// Milliseconds for generating the machine code of the rules: 0 if an earlier row did, `None` if rules are
    /// interpreted. The code that counts leaves is in neither figure: it is generated in the first round, which is
    /// therefore not the fastest.
    native: Option<f64>,
    /// Million nodes a second.
    speed: f64,
    /// The speed of each peer, in their order; `None` for a peer that does not play the game.
    peers: Vec<Option<f64>>,
}

/// Counts every tree in several rounds, by Rulemate and by the peers; the speed is that of the fastest round.
pub(super) fn run(
    library: &mut Library,
    peers: &mut [Peer],
    quick: bool,
    mut done: impl FnMut(),
) -> anyhow::Result<Vec<Figures>> {
    let mut rows = Vec::new();
    for tree in TREES {
        rows.push(measure(library, peers, tree, quick)?);
        done();
    }
    Ok(rows)
}

pub(super) fn lines(rows: &[Figures], peers: &[String]) -> Vec<String> {
    let columns: String =
        (1..=peers.len()).map(|it| format!("{:>11}{:>8}", format!("peer {it}"), "ratio")).collect();
    let mut lines = vec![format!(
        "{:22}{:>6}{:>13}{:>11}{columns}  {:>16}",
        "game, position", "depth", "nodes", "rulemate", "code made in, ms"
    )];
    for Figures { game, position, depth, nodes, native, speed, peers } in rows {
        let name = format!("{game}, {position}");
        let pair = |it: &Option<f64>| match it {
            Some(peer) => format!("{peer:>11.2}{:>8.2}", speed / peer),
            None => format!("{:>11}{:>8}", "-", "-"),
        };
        let columns: String = peers.iter().map(pair).collect();
        let native = native.map_or("interpreted".into(), |it| format!("{it:.0}"));
        lines.push(format!("{name:22}{depth:>6}{nodes:>13}{speed:>11.2}{columns}  {native:>16}"));
    }
    lines.extend((1..).zip(peers).map(|(number, name)| format!("peer {number}: {name}")));
    if peers.is_empty() {
        lines.push("no peer is installed".to_owned());
    }
    lines
}

/// The number of trees.
pub(super) fn count() -> u64 {
    TREES.len() as u64
}

fn measure(
    library: &mut Library,
    peers: &mut [Peer],
    tree: &Tree,
    quick: bool,
) -> anyhow::Result<Figures> {
    let (depth, nodes) = if quick { tree.quick } else { tree.full };
    let rounds = if quick { 3 } else { 2 };
    let what = format!("{}, {}", tree.game, tree.position);
    let rules = library.load(tree.game, &[])?;
    let mut game = setup::start(&rules, Some(tree.fen))?;
    let meter = Meter::own();
    let native = game.world_mut().plan().make_native().then(|| meter.elapsed().as_secs_f64() * 1e3);
    let mut own = Duration::MAX;
    let mut theirs = vec![None; peers.len()];
    for _ in 0..rounds {
        let (found, time) = timed(&mut game, depth)?;
        ensure!(found == nodes, "{what}, depth {depth}: {found} nodes, not {nodes}");
        own = own.min(time);
        let Some((variant, fen)) = tree.peer else { continue };
        for (peer, best) in peers.iter_mut().zip(&mut theirs).filter(|it| it.0.knows(variant)) {
            let depth = depth / tree.in_one;
            let answer = peer.perft(variant, fen, depth)?;
            let (name, found) = (&peer.name, answer.nodes);
            ensure!(found == nodes, "{name}: {what}, depth {depth}: {found} nodes, not {nodes}");
            *best = Some(best.map_or(answer.time, |it: Duration| it.min(answer.time)));
        }
    }
    Ok(Figures {
        game: tree.game,
        position: tree.position,
        depth,
        nodes,
        native,
        speed: speed(nodes, own),
        peers: theirs.into_iter().map(|it| it.map(|it| speed(nodes, it))).collect(),
    })
}

/// The number of leaves, and how long it took to count them.
fn timed(game: &mut Game, depth: u32) -> anyhow::Result<(u64, Duration)> {
    let contract = game.contract().clone();
    let meter = Meter::own();
    let found = perft(game.world_mut(), &contract, depth);
    game.check()?;
    Ok((found, meter.elapsed()))
}

fn speed(nodes: u64, time: Duration) -> f64 {
    nodes as f64 / time.as_secs_f64().max(1e-9) / 1e6
}
