//! Draws by material, and time that runs out against a side that cannot win, are claimed only where
//! that is so: from a position that rules call dead, no sequence of legal actions of both sides together
//! reaches a win, and none reaches a win of a side that they call hopeless.
//!
//! Every game of the catalogue, and every preset in every scope and with every value of its options, from
//! few pieces: all placements of three pieces in a corner, and random placements from which lines of
//! play are searched. `RULEMATE_FULL=1` takes the whole board, longer lines, and all pairs of presets.
//! Judgements of python-chess are in `tests/data/golden/material-python-chess.txt`.
//! Deliberately absent: whether all dead positions are found; only those of chess are
//! (`golden/material.txt`).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rulemate::internals::audit::combine::{Combination, pairs};
use rulemate::internals::derive::World;
use rulemate::internals::facts::{EntityId, GAME};
use rulemate::internals::moves::{Board, Contract, legal_moves};
use rulemate::internals::presets::{Catalogue, GameEntry, OptionType, PresetEntry};
use rulemate::internals::rules::RelId;

use crate::fixture::is_full;
use crate::random_rules::Choices;

/// What stands on the board: capitals are white. Each is also taken with the colours changed.
const MATERIAL: [&str; 15] = [
    "Kk", "KNk", "KBk", "KBkb", "KBBk", "KKk", "KKNkk", "KBBkb", "Kkr", "Kkp", "Kkq", "KNkq",
    "KBkr", "Bb", "BBb",
];

/// Files and ranks of the corner in which all placements of three pieces are looked at.
const CORNER: (i64, i64) = (4, 3);

struct Effort {
    /// Random placements of a material.
    seeds: usize,
    /// Positions from each of them.
    nodes: u32,
    /// Half-moves.
    depth: u32,
    corner: (i64, i64),
}

const SHORT: Effort = Effort { seeds: 6, nodes: 60, depth: 3, corner: CORNER };
const PAIR: Effort = Effort { seeds: 2, nodes: 40, depth: 3, corner: (0, 0) };
const LONG: Effort = Effort { seeds: 60, nodes: 4_000, depth: 6, corner: (8, 8) };
const LONG_PAIR: Effort = Effort { seeds: 10, nodes: 200, depth: 4, corner: CORNER };

/// The side that cannot win, or none where no side can.
type Claim = Option<i64>;

/// One material on the board of a game.
struct Search {
    world: World,
    contract: Contract,
    pieces: Vec<(EntityId, char)>,
    dead: RelId,
    hopeless: Option<RelId>,
    seen: HashMap<u64, u32>,
    nodes: u32,
}

/// A legal position with such pieces, to begin with: everything is placed again later.
fn any_fen(material: &str, board: Board) -> String {
    let mut ranks: Vec<String> = vec![board.files.to_string(); usize::from(board.ranks)];
    let first = usize::from(material.len() < ranks.len());
    for (at, letter) in material.chars().enumerate() {
        ranks[at + first] = format!("{letter}{}", board.files - 1);
    }
    format!("{} w - - 0 1", ranks.join("/"))
}

impl Search {
    fn new(
        catalogue: &Catalogue,
        game: &str,
        presets: &[String],
        material: &str,
    ) -> Result<Self, String> {
        let rules = catalogue.load(game, presets).map_err(|it| it.to_string())?;
        let fen = any_fen(material, rules.contract().board);
        let mut game = rules.start(Some(&fen)).map_err(|it| it.to_string())?;
        let contract = rules.contract().clone();
        let mut world = game.world_mut().clone();
        let program = world.program().clone();
        let named = |name: &str| program.relation_named(name);
        let dead = named("dead_material").ok_or("no relation dead_material")?;
        let mut at: Vec<_> = world.tuples(contract.at.rel);
        at.sort_by_key(|it| std::cmp::Reverse(it[1]));
        // By rank from above, as the letters were written.
        let id = |raw: i64| EntityId(u32::try_from(raw).unwrap_or_default());
        let pieces = at.iter().zip(material.chars()).map(|(it, letter)| (id(it[0]), letter));
        let pieces = pieces.collect();
        let hopeless = named("hopeless");
        let seen = HashMap::new();
        Ok(Self { world, contract, pieces, dead, hopeless, seen, nodes: 0 })
    }

    fn place(&mut self, squares: &[i64], turn: i64) {
        for (&(piece, _), &square) in self.pieces.iter().zip(squares) {
            self.world.set_raw(piece, self.contract.at.attr, Some(square));
        }
        self.world.set_raw(GAME, self.contract.turn.attr, Some(turn));
    }

    /// What rules claim of the position, unless it is over.
    fn claims(&mut self) -> Vec<Claim> {
        let mut claims = Vec::new();
        if self.world.any(self.dead) {
            claims.push(None);
        }
        if let Some(rel) = self.hopeless {
            claims.extend(self.world.tuples(rel).into_iter().map(|it| Some(it[0])));
        }
        claims
    }

    /// The side that has won, in a position with these legal moves.
    fn winner(&mut self, can_move: bool) -> Option<i64> {
        let mut rows = self.world.tuples(self.contract.over);
        if let Some(stuck) = self.contract.stuck
            && rows.is_empty()
            && !can_move
        {
            rows = self.world.tuples(stuck);
        }
        let outcome = *rows.first()?.first()?;
        let won = self.world.matching(self.contract.wins, &[None, Some(outcome)]);
        won.first().map(|it| it[0])
    }

    fn key(&mut self) -> u64 {
        let program = self.world.program().clone();
        let mut hasher = DefaultHasher::new();
        for &rel in &program.repetition {
            self.world.tuples(rel).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// A line of play that refutes a claim.
    fn refuted(&mut self, claim: Claim, depth: u32, choices: &mut Choices) -> Option<String> {
        self.nodes = self.nodes.saturating_sub(1);
        let mut moves = legal_moves(&mut self.world, &self.contract);
        if let Some(side) = self.winner(!moves.is_empty())
            && claim.is_none_or(|it| it == side)
        {
            return Some(String::new());
        }
        if depth == 0 || self.nodes == 0 {
            return None;
        }
        let key = self.key();
        if self.seen.insert(key, depth).is_some_and(|it| it >= depth) {
            return None;
        }
        while !moves.is_empty() {
            let mv = moves.swap_remove(choices.below(moves.len()));
            let text = rulemate::internals::moves::notation::to_uci(&mut self.world, &mv);
            let mark = self.world.mark();
            let line = match self.world.fire(mv.action, &mv.args) {
                Ok(()) => self.refuted(claim, depth - 1, choices),
                Err(_) => None,
            };
            self.world.rollback(mark);
            if let Some(line) = line {
                return Some(format!("{text} {line}"));
            }
            if self.nodes == 0 {
                break;
            }
        }
        None
    }

    fn shown(&mut self, squares: &[i64], turn: i64) -> String {
        let square = |raw: i64| {
            let board = self.contract.board;
            let (file, rank) = (board.file(raw), board.rank(raw) + 1);
            format!("{}{rank}", char::from(b'a' + u8::try_from(file).unwrap_or_default()))
        };
        let of =
            |(&(_, letter), &raw): (&(EntityId, char), &i64)| format!("{letter}{}", square(raw));
        let words: Vec<String> = self.pieces.iter().zip(squares).map(of).collect();
        format!("{}, {} to move", words.join(" "), ["white", "black"][turn as usize])
    }

    /// Searches from one placement. How many claims there were, or what refutes one.
    fn look(
        &mut self,
        squares: &[i64],
        turn: i64,
        effort: &Effort,
        choices: &mut Choices,
    ) -> Result<usize, String> {
        let mark = self.world.mark();
        self.place(squares, turn);
        let claims = self.claims();
        let mut refuted = None;
        for claim in &claims {
            self.nodes = effort.nodes;
            self.seen.clear();
            let line = self.refuted(*claim, effort.depth, choices);
            refuted = refuted.or(line.map(|it| (claim, it)));
        }
        self.world.rollback(mark);
        match refuted {
            None => Ok(claims.len()),
            Some((claim, line)) => {
                let shown = self.shown(squares, turn);
                let what = match claim {
                    None => "neither side can win".into(),
                    Some(side) => format!("{} cannot win", ["white", "black"][*side as usize]),
                };
                Err(format!("{shown}: {what}, but: {line}"))
            }
        }
    }

    fn at_random(&mut self, effort: &Effort, choices: &mut Choices) -> Result<usize, String> {
        let mut claimed = 0;
        for seed in 0..effort.seeds {
            // Most of them close together.
            let board = self.contract.board;
            let (files, ranks) = (i64::from(board.files), i64::from(board.ranks));
            let (wide, high, left, low) = match seed % 3 {
                0 => (files, ranks, 0, 0),
                _ => {
                    let mut at_end = |room: i64| (room - 4) * choices.below(2) as i64;
                    (4, 4, at_end(files), at_end(ranks))
                }
            };
            let mut squares: Vec<i64> = Vec::new();
            for &(_, letter) in &self.pieces {
                loop {
                    let rank = low + choices.below(high as usize) as i64;
                    let square = board.square(left + choices.below(wide as usize) as i64, rank);
                    let fits = !letter.eq_ignore_ascii_case(&'p') || (1..ranks - 1).contains(&rank);
                    if fits && !squares.contains(&square) {
                        squares.push(square);
                        break;
                    }
                }
            }
            claimed += self.look(&squares, choices.below(2) as i64, effort, choices)?;
        }
        Ok(claimed)
    }

    /// All placements of three pieces in a corner: the position itself is not won.
    fn in_the_corner(&mut self, effort: &Effort, choices: &mut Choices) -> Result<usize, String> {
        let board = self.contract.board;
        let files = effort.corner.0.min(i64::from(board.files));
        let ranks = effort.corner.1.min(i64::from(board.ranks));
        let squares: Vec<i64> = (0..ranks)
            .flat_map(|rank| (0..files).map(move |file| board.square(file, rank)))
            .collect();
        let still = Effort { seeds: 0, nodes: 1, depth: 0, corner: effort.corner };
        let mut claimed = 0;
        for &one in &squares {
            for &other in squares.iter().filter(|it| **it != one) {
                for &third in squares.iter().filter(|it| **it != one && **it != other) {
                    for turn in 0..2 {
                        claimed += self.look(&[one, other, third], turn, &still, choices)?;
                    }
                }
            }
        }
        Ok(claimed)
    }
}

/// The same with the colours changed, if that is something else.
fn both_ways(material: &str) -> Vec<String> {
    let swap = |it: char| match it.is_uppercase() {
        true => it.to_ascii_lowercase(),
        false => it.to_ascii_uppercase(),
    };
    let other: String = material.chars().rev().map(swap).collect();
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let same = sorted(material) == sorted(&other);
    std::iter::once(material.to_owned()).chain((!same).then_some(other)).collect()
}

/// Looks for refutations in one game; how many claims were looked at.
fn search(
    catalogue: &Catalogue,
    game: &str,
    presets: &[String],
    effort: &Effort,
) -> Result<usize, String> {
    let mut choices = Choices(7);
    let mut claimed = 0;
    let rules = catalogue.load(game, presets).map_err(|it| it.to_string())?;
    if rules.contract().board.ranks < 3 {
        return Ok(0); // there is no room for the materials
    }
    for material in MATERIAL.iter().flat_map(|it| both_ways(it)) {
        let at = |why: String| format!("{game} {}: {why}", presets.join(" "));
        // Some games have no piece with such a letter.
        let fen = any_fen(&material, rules.contract().board);
        if rules.start(Some(&fen)).is_err_and(|it| it.to_string().contains("expected a piece")) {
            continue;
        }
        let mut search = Search::new(catalogue, game, presets, &material).map_err(at)?;
        claimed += search.at_random(effort, &mut choices).map_err(at)?;
        if material.len() == 3 && material.contains(['N', 'B', 'n', 'b']) {
            claimed += search.in_the_corner(effort, &mut choices).map_err(at)?;
        }
    }
    Ok(claimed)
}

/// Each game, and each preset by itself, in every scope and with every value of its options. Nothing is
/// claimed of games of other families than chess.
fn cases(catalogue: &Catalogue) -> Vec<(String, Vec<String>)> {
    let chess = |it: &&GameEntry| it.family.as_deref() == Some("chess");
    let mut cases: Vec<(String, Vec<String>)> =
        catalogue.games().iter().filter(chess).map(|it| (it.name.clone(), Vec::new())).collect();
    let fits = |it: &&PresetEntry| it.family.as_deref().is_none_or(|it| it == "chess");
    for preset in catalogue.presets().iter().filter(fits) {
        let name = &preset.preset;
        let mut all: Vec<String> =
            ["white", "black", "both"].iter().map(|it| format!("{name}:{it}")).collect();
        let needed = catalogue.with_required(&[format!("{name}:both")]);
        let rules = catalogue.load("chess", &needed).unwrap_or_else(|it| panic!("{name}: {it}"));
        let game = rules.start(None).unwrap_or_else(|it| panic!("{name}: {it}"));
        for option in catalogue.options_of(game.program(), name) {
            let values: Vec<String> = match option.takes {
                OptionType::Bool => vec!["true".into(), "false".into()],
                OptionType::Word(words) => words,
                OptionType::Int(range) => vec![range.map_or(1, |it| it.0).to_string()],
                OptionType::List(_) => Vec::new(),
            };
            let with = |it: &String| format!("{name}:both:{}={it}", option.name);
            all.extend(values.iter().map(with));
        }
        let needed = |it: String| ("chess".to_owned(), catalogue.with_required(&[it]));
        cases.extend(all.into_iter().map(needed));
    }
    cases
}

fn outcome(found: Vec<Result<usize, String>>) -> usize {
    let wrong: Vec<&String> = found.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} refuted:\n{wrong:#?}", wrong.len());
    found.iter().filter(|it| it.as_ref().is_ok_and(|it| *it > 0)).count()
}

#[test]
fn nothing_wins_where_rules_say_so() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let effort = if is_full() { &LONG } else { &SHORT };
    let cases = cases(&catalogue);
    let found = cases.iter().map(|(game, presets)| search(&catalogue, game, presets, effort));
    let claiming = outcome(found.collect());
    assert!(claiming > 60, "{claiming} of {} claim anything", cases.len());
}

#[test]
fn nothing_wins_where_rules_say_so_of_pairs() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let effort = if is_full() { &LONG_PAIR } else { &PAIR };
    // Those that are played with few half-moves say that they go together: abilities, under which nothing is claimed.
    let is_drawn = |it: &Combination| it.game == "chess" && it.plies > 3;
    let all = pairs(&catalogue, is_full()).combinations.into_iter().filter(is_drawn);
    let found = all.filter_map(|it| {
        let presets = catalogue.with_required(&it.presets);
        // What does not go together is none of this test's business.
        catalogue.load("chess", &presets).ok()?;
        Some(search(&catalogue, "chess", &presets, effort))
    });
    let claiming = outcome(found.collect());
    assert!(claiming > 4, "{claiming} claim anything");
}

#[test]
fn python_chess_judges_alike() {
    let catalogue = Catalogue::embedded().unwrap_or_else(|it| panic!("{it}"));
    let mut compared = 0;
    for line in include_str!("../data/golden/material-python-chess.txt").lines() {
        if line.starts_with('#') {
            continue;
        }
        let [variant, dead, white, black, fen] = line.splitn(5, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let presets: &[&str] = match variant {
            "antichess" => &["suicide-chess:both:opposite_bishops=draw"],
            _ => &[],
        };
        let rules = catalogue.load(variant, presets).unwrap_or_else(|it| panic!("{it}"));
        let mut game = rules.start(Some(fen)).unwrap_or_else(|it| panic!("{fen}: {it}"));
        let program = game.program().clone();
        let named = |name: &str| program.relation_named(name).unwrap_or_else(|| panic!("{name}"));
        let (rel, hopeless) = (named("dead_material"), named("hopeless"));
        let world = game.world_mut();
        let found = [
            world.any(rel),
            !world.matching(hopeless, &[Some(0)]).is_empty(),
            !world.matching(hopeless, &[Some(1)]).is_empty(),
        ];
        assert_eq!(found, [dead, white, black].map(|it| it == "1"), "{variant} {fen}");
        compared += 1;
    }
    assert!(compared >= 500, "{compared}");
}
