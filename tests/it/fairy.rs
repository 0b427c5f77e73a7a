//! Games that Fairy-Stockfish plays, too: its counts of move trees, lists of legal moves, SAN and ends
//! of games are ours.
//!
//! Each file of `tests/data/vectors/fairy` is run in part, or whole with `RULEMATE_FULL=1`. Where the
//! oracle judges otherwise than the rules do, a game of ours follows it (`.meta oracle`). It marks mate alone by `#`,
//! where we mark all that wins. Deliberately absent: its draws by counters, which the files leave out.

use std::collections::{BTreeMap, BTreeSet};

use rulemate::internals::derive::World;
use rulemate::internals::game::Game;
use rulemate::internals::moves::notation::{parse_san, to_san};
use rulemate::internals::moves::{Contract, Move, parse_turn, perft, perft_of_turns, turns};
use rulemate::internals::presets::{Catalogue, Ruleset};
use serde::Deserialize;

/// Files without texts to compare, since the oracle writes moves otherwise; the folder's README says how.
const WITHOUT_TEXTS: [&str; 9] = [
    "allwayspawns",
    "amazons",
    "cowboys",
    "dobutsu",
    "dragon-chess",
    "legan",
    "pawnback",
    "pawnsideways",
    "petrified",
];

/// Files in which `+` is not compared; the folder's README says why.
const WITHOUT_MARKS: [&str; 8] = [
    "atomiczh",
    "backrank",
    "chak",
    "crowdedxiangqi",
    "maharajah",
    "maharajah2",
    "mounted",
    "spartan",
];

/// Nodes of a row that is counted without `RULEMATE_FULL=1`.
const FEW: u64 = 25_000;

#[derive(Deserialize)]
struct Vectors {
    variant: String,
    perft: Vec<PerftRow>,
    legal_moves: Vec<MovesRow>,
    san: Vec<SanRow>,
    ends: Vec<EndRow>,
}

#[derive(Deserialize)]
struct PerftRow {
    fen: String,
    depth: u32,
    nodes: u64,
}

#[derive(Deserialize)]
struct MovesRow {
    fen: String,
    moves: BTreeSet<String>,
}

#[derive(Deserialize)]
struct SanRow {
    fen: String,
    /// By the text in UCI.
    san: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct EndRow {
    fen: String,
    result: String,
}

/// The files, by the name that the oracle gives the game.
fn names() -> Vec<String> {
    let folder = std::fs::read_dir("tests/data/vectors/fairy").unwrap_or_else(|it| panic!("{it}"));
    let files = folder.map(|it| it.unwrap_or_else(|it| panic!("{it}")).file_name());
    let mut names: Vec<String> = files
        .filter_map(|it| Some(it.to_str()?.strip_suffix(".public.json")?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() > 100, "{names:?}");
    names
}

fn vectors(name: &str) -> Vectors {
    let path = format!("tests/data/vectors/fairy/{name}.public.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{path}: {it}"));
    serde_json::from_str(&text).unwrap_or_else(|it| panic!("{path}: {it}"))
}

/// The game that judges as the oracle does.
fn game_of(catalogue: &Catalogue, variant: &str) -> String {
    let oracle = format!("Fairy-Stockfish {variant}");
    let follower = catalogue.games().iter().find(|it| it.oracles.contains(&oracle));
    follower.map_or_else(|| variant.to_owned(), |it| it.name.clone())
}

fn take(world: &mut World, mv: &Move) {
    world.fire(mv.action, &mv.args).unwrap_or_else(|it| panic!("{it}"));
}

fn is_won_without_mate(world: &mut World, contract: &Contract) -> bool {
    let program = world.program().clone();
    let reason = program.relation(contract.over).columns[1].ty;
    let ends = world.tuples(contract.over);
    ends.iter().any(|it| {
        program.value_name(reason, it[1]) != "checkmate"
            && !world.matching(contract.wins, &[None, Some(it[0])]).is_empty()
    })
}

/// What was compared of one file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    trees: usize,
    lists: usize,
    texts: usize,
    ends: usize,
}

/// One file, compared with what the rules say.
struct Run {
    name: String,
    /// A turn of several actions is one move of the oracle's.
    in_turns: bool,
    rules: Ruleset,
    faults: Vec<String>,
}

impl Run {
    fn start(&self, fen: &str) -> Game {
        let game = self.rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        assert_eq!(game.warnings(), [], "{} {fen}", self.name);
        game
    }

    fn expect<T: PartialEq + std::fmt::Debug>(&mut self, fen: &str, found: &T, expected: &T) {
        if found != expected {
            let fault = format!("{} {fen}: found {found:?}, expected {expected:?}", self.name);
            self.faults.push(fault);
        }
    }

    fn tree(&mut self, row: &PerftRow) {
        let mut game = self.start(&row.fen);
        let contract = game.contract().clone();
        let nodes = match self.in_turns {
            true => perft_of_turns(game.world_mut(), &contract, row.depth).expect("turns end"),
            false => perft(game.world_mut(), &contract, row.depth),
        };
        game.check().unwrap_or_else(|it| panic!("{}: {it}", row.fen));
        self.expect(&row.fen, &(row.depth, nodes), &(row.depth, row.nodes));
    }

    fn list(&mut self, row: &MovesRow) {
        let mut game = self.start(&row.fen);
        let contract = game.contract().clone();
        let listed = turns(game.world_mut(), &contract, usize::MAX);
        let found: BTreeSet<String> = listed.turns.into_iter().map(|it| it.0).collect();
        let expected = row.moves.clone();
        let missing: Vec<&String> = found.symmetric_difference(&expected).collect();
        self.expect(&row.fen, &missing, &Vec::new());
    }

    /// Each move is written as the oracle writes it, and what it writes is read as that move.
    fn texts(&mut self, row: &SanRow) {
        let mut game = self.start(&row.fen);
        let contract = game.contract().clone();
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        let mut won: BTreeSet<String> = BTreeSet::new();
        for (uci, actions) in turns(game.world_mut(), &contract, usize::MAX).turns {
            let world = game.world_mut();
            let (mark, mut texts) = (world.mark(), Vec::new());
            for mv in &actions {
                texts.push(to_san(world, &contract, mv));
                take(world, mv);
            }
            if is_won_without_mate(world, &contract) {
                won.insert(uci.clone());
            }
            world.rollback(mark);
            let san = texts.join(",");
            let read = match actions.as_slice() {
                [only] => parse_san(world, &contract, &san).map(|it| it == *only),
                _ => parse_turn(world, &contract, &san).map(|it| it == actions),
            };
            assert_eq!(read, Ok(true), "{} {}: {san}", self.name, row.fen);
            found.insert(uci, san);
        }
        for (uci, san) in &row.san {
            let (uci, mut san) = (uci.clone(), san.clone());
            let mut ours = found.remove(&uci).unwrap_or_default();
            if won.contains(&uci) {
                // We mark all that wins, the oracle mate alone.
                ours = ours.trim_end_matches('#').into();
                san = san.trim_end_matches('+').into();
            }
            if self.in_turns || WITHOUT_MARKS.contains(&&*self.name) {
                // We mark all attacks on royal pieces, the oracle some; or we mark attacks on a king that may be captured.
                ours = ours.replace('+', "");
                san = san.replace('+', "");
            }
            self.expect(&row.fen, &ours, &san);
        }
        self.expect(&row.fen, &found, &BTreeMap::new());
    }

    fn end(&mut self, row: &EndRow) {
        let game = self.start(&row.fen);
        let sides = game.program().schema.domain(game.contract().sides);
        let found = game.result().map(|it| match it.winner {
            Some(side) => sides.member_name(side),
            None => "draw".into(),
        });
        self.expect(&row.fen, &found, &Some(row.result.clone()));
    }
}

fn run(catalogue: &Catalogue, name: &str, full: bool) -> (Compared, Vec<String>) {
    let vectors = vectors(name);
    let rules = catalogue.load::<&str>(&game_of(catalogue, &vectors.variant), &[]);
    let rules = rules.unwrap_or_else(|it| panic!("{name}: {it}"));
    let in_turns = vectors.legal_moves.iter().any(|it| it.moves.iter().any(|it| it.contains(',')));
    let mut run = Run { name: name.to_owned(), in_turns, rules, faults: Vec::new() };
    let mut compared = Compared::default();
    // The duck has some 40 squares for each move, so its files are large.
    let (lists, texts) = if in_turns && !full { (4, 1) } else { (usize::MAX, usize::MAX) };
    for row in vectors.perft.iter().filter(|it| full || it.nodes <= FEW) {
        run.tree(row);
        compared.trees += 1;
    }
    for row in vectors.legal_moves.iter().take(lists) {
        run.list(row);
        compared.lists += 1;
    }
    for row in vectors.san.iter().take(texts) {
        run.texts(row);
        compared.texts += 1;
    }
    for row in &vectors.ends {
        run.end(row);
        compared.ends += 1;
    }
    if full {
        let all = (vectors.perft.len(), vectors.legal_moves.len(), vectors.san.len());
        assert_eq!((compared.trees, compared.lists, compared.texts), all, "{name}");
    }
    (compared, run.faults)
}

/// Compares every second file, from this one on.
fn compare_from(first: usize) {
    let full = crate::fixture::is_full();
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let mut all = Vec::new();
    for name in names().iter().skip(first).step_by(2) {
        let (compared, faults) = run(&catalogue, name, full);
        let Compared { trees, lists, texts, .. } = compared;
        let has_texts = texts > 0 || WITHOUT_TEXTS.contains(&name.as_str());
        assert!(trees > 0 && lists > 0 && has_texts, "{name}: {compared:?}");
        all.extend(faults);
    }
    assert!(all.is_empty(), "{} differ:\n{}", all.len(), all.join("\n"));
}

#[test]
fn the_oracle_counts_lists_writes_and_ends_alike() {
    compare_from(0);
}

/// The other half of the files, so that both halves run at a time.
#[test]
fn the_oracle_counts_lists_writes_and_ends_alike_in_the_other_games() {
    compare_from(1);
}

/// All variants that pyffish 0.0.90 has are games here, by their names, aliases or `.meta oracle`.
#[test]
fn all_variants_of_the_oracle_are_played() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let plain = |name: &str| name.replace('-', "");
    let names: BTreeSet<String> = (catalogue.games().iter())
        .flat_map(|it| [&it.name].into_iter().chain(&it.aliases).chain(&it.oracles))
        .map(|it| plain(it.strip_prefix("Fairy-Stockfish ").unwrap_or(it)))
        .collect();
    let all = include_str!("../data/vectors/fairy/variants.txt").lines();
    let missing: Vec<&str> = all.filter(|it| !names.contains(&plain(it))).collect();
    // Its own test of all pieces: fairy. Othello with the colours exchanged: flipello.
    assert_eq!(missing, ["fairy", "flipello"]);
}

/// So are those of its configuration that are listed: the name there, and the name of the game.
#[test]
fn variants_of_the_configuration_are_played() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for line in include_str!("../data/vectors/fairy/variants-ini.txt").lines() {
        let (variant, game) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        let names = [variant, game].map(|it| catalogue.find_game(it).map(|it| &it.name));
        let names = names.map(|it| it.unwrap_or_else(|it| panic!("{line}: {it}")));
        assert_eq!(names[0], names[1], "{line}");
    }
}

/// What a mate is worth in shatar depends on the checks that led to it, which no FEN tells. Outcomes are those of pyffish.
#[test]
fn a_mate_of_shatar_is_worth_what_led_to_it() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let rules = catalogue.load::<&str>("shatar", &[]).unwrap_or_else(|it| panic!("{it}"));
    for (fen, moves, outcome, reason) in [
        ("1k2B3/p7/8/K7/8/2J5/8/8 w - - 0 1", "c3b3 b8a8 e8c6", "white_wins", "checkmate"),
        ("6k1/5pB1/7K/3B3P/8/8/8/8 w - - 0 1", "d5g2 f7f6 g2d5", "draw", "niol"),
        ("k7/Bp6/N1p5/K2B4/8/8/8/8 w - - 0 1", "a5b6 c6c5 a6c7", "black_wins", "mate_by_knight"),
        ("7k/1r6/2K5/8/8/8/P7/8 w - - 0 1", "c6b7", "draw", "robado"),
    ] {
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        for mv in moves.split(' ') {
            game.play_text(mv).unwrap_or_else(|it| panic!("{fen} {mv}: {it}"));
        }
        let end = game.result().unwrap_or_else(|| panic!("{fen} {moves}: no end"));
        assert_eq!((&*end.outcome, &*end.reason), (outcome, reason), "{fen} {moves}");
    }
}

/// In tori shogi whoever brings about a position for the fourth time has lost, and so for the third time in mansindam, where
/// perpetual check makes no difference, and in pandemonium; in yari shogi the third time draws.
#[test]
fn repetition_ends_kin_of_shogi_each_in_its_way() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for (name, moves, plies, outcome) in [
        ("torishogi", "d2e2 d6c6 e2d2 c6d6", 12, "white_wins"),
        ("yarishogi", "d1e2 d9c8 e2d1 c8d9", 8, "draw"),
        ("kyotoshogi", "c1c2 c5c4 c2c1 c4c5", 12, "draw"),
        ("mansindam", "e1e2 e9e8 e2e1 e8e9", 8, "white_wins"),
        ("pandemonium", "d1d2 d9d8 d2d1 d8d9", 8, "white_wins"),
    ] {
        let rules = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
        for mv in moves.split(' ').cycle().take(plies) {
            assert_eq!(game.result(), None, "{name}");
            game.play_text(mv).unwrap_or_else(|it| panic!("{name} {mv}: {it}"));
        }
        assert_eq!(game.result().map(|it| &*it.outcome), Some(outcome), "{name}");
    }
}

/// White gives check with each move, and Black brings about the position for the third time: who of them has lost, mansindam
/// and pandemonium judge each in its way.
#[test]
fn perpetual_check_loses_in_pandemonium_and_not_in_mansindam() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let fen = "4k4/+R8/9/9/9/9/9/9/4K4[] w - - 0 1";
    for (name, outcome) in [("mansindam", "white_wins"), ("pandemonium", "black_wins")] {
        let rules = catalogue.load::<&str>(name, &[]).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{it}"));
        for mv in ["a8a9", "e9e8", "a9a8", "e8e9"].into_iter().cycle().take(8) {
            assert_eq!(game.result(), None, "{name}");
            game.play_text(mv).unwrap_or_else(|it| panic!("{name} {mv}: {it}"));
        }
        assert_eq!(game.result().map(|it| &*it.outcome), Some(outcome), "{name}");
    }
}

/// Presets that are about kinds or royal pieces mind what a game begins with: White has no rooks, horses and cannons in
/// manchu chess, and there is no prince at first in sho shogi.
#[test]
fn presets_do_not_end_games_for_pieces_that_were_never_there() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for (name, preset) in [
        ("manchu", "extinction-chess:both:target=all"),
        ("shoshogi", "suicide-chess"),
        ("shoshogi", "capture-all"),
    ] {
        let rules = catalogue.load(name, &[preset]).unwrap_or_else(|it| panic!("{it}"));
        let game = rules.start(None).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(game.result(), None, "{name} {preset}");
    }
}

/// A game says with which presets it does not go, as modules and presets do, and why.
#[test]
fn games_refuse_presets_that_say_the_opposite() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    for (name, preset, why) in [
        ("losers", "capture-all", "losing pieces wins in one and loses in the other"),
        ("courier", "suicide-chess", "losing pieces wins in one and loses in the other"),
        ("spartan", "horde", "the game itself says which kings are royal"),
        ("petrified", "duck", "the duck and a square that is taken out have one sign on the board"),
    ] {
        let refused = catalogue.load(name, &[preset]).map(|_| ()).expect_err("it is refused");
        assert_eq!(refused.to_string(), format!("{preset} and {name} are incompatible: {why}"));
    }
}
