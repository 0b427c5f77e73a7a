//! Games that Fairy-Stockfish plays, too: its counts of move trees, lists of legal moves, SAN and ends
//! of games are ours.
//!
//! Each file of `tests/data/vectors/fairy` is run in part, or whole with `RULEMATE_FULL=1`. Where the
//! oracle writes something otherwise, [`Dialect`] puts it into our letters; where it judges otherwise,
//! the place is named here. Deliberately absent: its draws by counters, which the files leave out.

use std::collections::{BTreeMap, BTreeSet};

use rulemate::derive::World;
use rulemate::game::Game;
use rulemate::moves::notation::{parse_san, to_san, to_uci};
use rulemate::moves::{Contract, Move, is_over, legal_moves, parse_turn, perft};
use rulemate::presets::{Catalogue, Ruleset};
use serde::Deserialize;

/// The files, by the name that the oracle gives the game.
const GAMES: [&str; 13] = [
    "3check",
    "5check",
    "atomic",
    "capablanca",
    "crazyhouse",
    "duck",
    "gardner",
    "horde",
    "kingofthehill",
    "makruk",
    "minishogi",
    "racingkings",
    "xiangqi",
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

fn vectors(name: &str) -> Vectors {
    let path = format!("tests/data/vectors/fairy/{name}.public.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{path}: {it}"));
    serde_json::from_str(&text).unwrap_or_else(|it| panic!("{path}: {it}"))
}

/// What the oracle writes otherwise than we do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Ours,
    /// The checks that are left stand before the clock: `2+3`. We write those that were given.
    ChecksLeft(u32),
    /// Horses and elephants have other letters in SAN than on the board.
    Xiangqi,
    /// SAN is that of shogi: files from the right and ranks from the top, both in digits; a whole square
    /// where a file would do; `+` for a promotion, `=` for none. Castling rights and the passed square may be
    /// missing from a FEN.
    Shogi,
    /// The duck's square follows a comma in SAN, and it is placed even once the game is over.
    Duck,
}

impl Dialect {
    fn of(variant: &str) -> Self {
        match variant {
            "3check" => Self::ChecksLeft(3),
            "5check" => Self::ChecksLeft(5),
            "duck" => Self::Duck,
            "xiangqi" => Self::Xiangqi,
            "minishogi" => Self::Shogi,
            _ => Self::Ours,
        }
    }

    /// The game that judges as the oracle does.
    fn game(self, variant: &str) -> &str {
        match self {
            Self::Shogi => "minishogi-fairy",
            _ => variant,
        }
    }

    fn fen(self, theirs: &str) -> String {
        let fields: Vec<&str> = theirs.split(' ').collect();
        if let (Self::Shogi, [board, turn, clock, number]) = (self, fields.as_slice()) {
            return format!("{board} {turn} - - {clock} {number}");
        }
        let (Self::ChecksLeft(all), [board, turn, rights, passed, left, clock, number]) =
            (self, fields.as_slice())
        else {
            return theirs.into();
        };
        let left: Vec<u32> = left.split('+').filter_map(|it| it.parse().ok()).collect();
        let [white, black] = left[..] else { panic!("{theirs}") };
        let given = format!("wc={} bc={}", all - white, all - black);
        format!("{board} {turn} {rights} {passed} {clock} {number} {given}")
    }

    fn san(self, theirs: &str) -> String {
        match self {
            Self::Duck => theirs.replace(',', ",@"),
            Self::Xiangqi => theirs.replace('H', "N").replace('E', "B"),
            _ => theirs.into(),
        }
    }

    /// The moves as the oracle counts them, with how to take each: a turn is one move.
    fn turns(self, world: &mut World, contract: &Contract) -> Vec<(String, Vec<Move>)> {
        let mut turns = Vec::new();
        for mv in legal_moves(world, contract) {
            let text = to_uci(world, &mv);
            if self != Self::Duck {
                turns.push((text, vec![mv]));
                continue;
            }
            let mark = world.mark();
            take(world, &mv);
            for duck in legal_moves(world, contract) {
                let turn = format!("{text},{}", to_uci(world, &duck));
                turns.push((turn, vec![mv.clone(), duck]));
            }
            if is_over(world, contract) {
                for square in empty_squares(world) {
                    let arrived = &text[2..4];
                    turns.push((format!("{text},{arrived}{square}"), vec![mv.clone()]));
                }
            }
            world.rollback(mark);
        }
        turns
    }

    /// The number of sequences of moves, as the oracle counts them.
    fn perft(self, world: &mut World, contract: &Contract, depth: u32) -> u64 {
        if self != Self::Duck {
            return perft(world, contract, depth);
        }
        let mut nodes = 0;
        for mv in legal_moves(world, contract) {
            let mark = world.mark();
            take(world, &mv);
            nodes += match (is_over(world, contract), depth) {
                (true, 1) => empty_squares(world).len() as u64,
                (true, _) => 0,
                (false, 1) => perft(world, contract, 1),
                (false, _) => {
                    let ducks = legal_moves(world, contract);
                    ducks.iter().map(|duck| self.below(world, contract, duck, depth)).sum()
                }
            };
            world.rollback(mark);
        }
        nodes
    }

    fn below(self, world: &mut World, contract: &Contract, duck: &Move, depth: u32) -> u64 {
        let mark = world.mark();
        take(world, duck);
        let nodes = self.perft(world, contract, depth - 1);
        world.rollback(mark);
        nodes
    }
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

fn empty_squares(world: &mut World) -> Vec<String> {
    let program = world.program().clone();
    let named = |name: &str| program.relation_named(name).unwrap_or_else(|| panic!("{name}"));
    let (rank, occupied) = (named("rank"), named("occupied"));
    let column = program.relation(occupied).columns[0].ty;
    let squares: Vec<i64> = world.tuples(rank).iter().map(|it| it[0]).collect();
    let empty = squares.into_iter().filter(|it| !world.contains(occupied, &[*it]));
    empty.map(|it| program.value_name(column, it)).collect()
}

/// The parts of a move in our SAN, but for check and mate: the piece, `?` if its origin is told, `x` for a capture,
/// the square, `+` for a promotion.
fn parts_of_ours(san: &str) -> String {
    let bare = san.trim_end_matches(['+', '#']);
    let (way, promotion) = match bare.split_once('=') {
        Some((way, _)) => (way, "+"),
        None => (bare, ""),
    };
    let (before, to) = way.split_at(way.len() - 2);
    let letter = before.find(|it: char| it.is_ascii_uppercase()).map_or(0, |it| it + 1);
    let (piece, origin) = before.split_at(letter);
    let sign = origin.matches(['x', '@']).collect::<String>();
    let told = if origin.len() > sign.len() { "?" } else { "" };
    format!("{piece}{told}{sign}{to}{promotion}")
}

/// The same parts of a move in the SAN of shogi, on five files.
fn parts_of_shogi(san: &str) -> String {
    let bare = san.trim_end_matches(['+', '=']);
    let promotion = if san.ends_with('+') { "+" } else { "" };
    let (before, to) = bare.split_at(bare.len() - 2);
    let digits: Vec<u8> = to.bytes().map(|it| it - b'0').collect();
    let file = char::from(b'a' + 5 - digits[0]);
    let (piece, sign) = before.split_at(before.len() - 1);
    let told = if piece.ends_with(|it: char| it.is_ascii_digit()) { "?" } else { "" };
    let piece = piece.trim_end_matches(|it: char| it.is_ascii_digit());
    let sign = sign.replace('-', "").replace('*', "@");
    format!("{piece}{told}{sign}{file}{}{promotion}", 6 - digits[1])
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
    dialect: Dialect,
    rules: Ruleset,
    faults: Vec<String>,
}

impl Run {
    fn start(&self, fen: &str) -> Game {
        let ours = self.dialect.fen(fen);
        let game = self.rules.start(Some(&ours)).unwrap_or_else(|it| panic!("{ours}: {it}"));
        assert_eq!(game.warnings(), [], "{} {ours}", self.name);
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
        let nodes = self.dialect.perft(game.world_mut(), &contract, row.depth);
        game.check().unwrap_or_else(|it| panic!("{}: {it}", row.fen));
        self.expect(&row.fen, &(row.depth, nodes), &(row.depth, row.nodes));
    }

    fn list(&mut self, row: &MovesRow) {
        let mut game = self.start(&row.fen);
        let contract = game.contract().clone();
        let turns = self.dialect.turns(game.world_mut(), &contract);
        let found: BTreeSet<String> = turns.into_iter().map(|it| it.0).collect();
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
        for (uci, actions) in self.dialect.turns(game.world_mut(), &contract) {
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
            let is_whole = self.dialect != Dialect::Duck || actions.len() == 2;
            let read = match actions.as_slice() {
                [only] => parse_san(world, &contract, &san).map(|it| it == *only),
                _ => parse_turn(world, &contract, &san).map(|it| it == actions),
            };
            assert_eq!(read, Ok(true), "{} {}: {san}", self.name, row.fen);
            // The duck that is placed after the end has no action of ours.
            let after = uci.get(uci.len() - 2..).filter(|_| !is_whole);
            let after = after.map(|it| format!(",@{it}")).unwrap_or_default();
            let (body, mark) = match san.strip_suffix('#') {
                Some(body) => (body, "#"),
                None => (san.as_str(), ""),
            };
            found.insert(uci, format!("{body}{after}{mark}"));
        }
        for (uci, san) in &row.san {
            let (uci, mut san) = (uci.clone(), self.dialect.san(san));
            let mut ours = found.remove(&uci).unwrap_or_default();
            if self.dialect == Dialect::Shogi {
                (ours, san) = (parts_of_ours(&ours), parts_of_shogi(&san));
                won.remove(&uci);
            }
            if won.contains(&uci) {
                // We mark all that wins, the oracle mate alone.
                let won = ours.strip_suffix('#').map(str::to_owned);
                ours = won.unwrap_or_else(|| panic!("{} {}: {ours}", self.name, row.fen));
                san = san.trim_end_matches('+').into();
            }
            if self.dialect == Dialect::Duck {
                // We mark attacks on a king that may be captured.
                ours = ours.replace('+', "");
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

fn run(name: &str, full: bool) -> (Compared, Vec<String>) {
    let vectors = vectors(name);
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let dialect = Dialect::of(&vectors.variant);
    let rules = catalogue.load::<&str>(dialect.game(&vectors.variant), &[]);
    let rules = rules.unwrap_or_else(|it| panic!("{name}: {it}"));
    let mut run = Run { name: name.to_owned(), dialect, rules, faults: Vec::new() };
    let mut compared = Compared::default();
    // The duck has some 40 squares for each move, so its files are large.
    let (lists, texts) = match (full, dialect) {
        (false, Dialect::Duck) => (4, 1),
        _ => (usize::MAX, usize::MAX),
    };
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

#[test]
fn the_oracle_counts_lists_writes_and_ends_alike() {
    let full = std::env::var_os("RULEMATE_FULL").is_some();
    let mut all = Vec::new();
    for name in GAMES {
        let (compared, faults) = run(name, full);
        let Compared { trees, lists, texts, .. } = compared;
        assert!(trees > 0 && lists > 0 && texts > 0, "{name}: {compared:?}");
        all.extend(faults);
    }
    assert!(all.is_empty(), "{} differ:\n{}", all.len(), all.join("\n"));
}
