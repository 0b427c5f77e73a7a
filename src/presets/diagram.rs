//! Diagrams of how each kind of piece moves, found by evaluating the rules: alone on the board, or with another
//! piece of its side if it needs one, and with an enemy near it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::ruleset::Ruleset;
use crate::derive::Allowance;
use crate::game::{Game, KindView, PieceView};

/// The squares that a piece of one kind can move to from a square.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagram {
    /// The kind's name in the rules.
    pub kind: String,
    /// Its letter in a FEN.
    pub letter: String,
    /// Its name for people.
    pub name: String,
    /// Whether a side depends on a piece of this kind at the start.
    pub vital: bool,
    /// Where it stands.
    pub square: String,
    /// The squares that it can move to if there is no enemy.
    pub goes: Vec<String>,
    /// The squares near it, two steps away at most, that it can only move to by capturing.
    pub captures: Vec<String>,
}

/// Maximum number of squares that are tried for a piece that may not stand everywhere.
const PLACES: usize = 12;
/// Distance from a piece within which enemies are placed, one after the other, to see whether it captures
/// them.
const NEAR: usize = 2;
/// Number of actions of the game that is played to see which kinds occur.
const WALK: usize = 80;

impl Ruleset {
    /// A diagram of every kind of piece that occurs in the game and moves, as the side to move at the start has it.
    /// Empty for boards without files and ranks, and for games of more than two sides.
    pub fn diagrams(&self) -> Vec<Diagram> {
        let _allowance = Allowance::open();
        let Ok(mut game) = self.start(None) else { return Vec::new() };
        let view = game.view();
        // A FEN tells two sides apart by capitals, as `set_up` writes them, and more sides by signs.
        if !view.points.is_empty() || view.files == 0 || self.sides().len() > 2 {
            return Vec::new();
        }
        let own = view.pieces.iter().filter(|it| it.side == Some(view.turn));
        let mut parts = DiagramParts {
            rules: self,
            files: usize::from(view.files),
            ranks: usize::from(view.ranks),
            rest: rest_of(&view.fen),
            signs: signs_of(&mut game, &view.pieces),
            start: own.filter_map(|it| Some((it.kind.clone(), place_of(&it.square)?))).collect(),
            is_second: view.turn == 1,
            foe: view.kinds.first().map(|it| it.letter.clone()).unwrap_or_default(),
            companion: None,
            vital: view.pieces.iter().filter(|it| it.vital).map(|it| it.kind.clone()).collect(),
        };
        let seen = parts.kinds_seen(game);
        let kinds: Vec<&KindView> =
            view.kinds.iter().filter(|it| seen.contains(&it.kind)).collect();
        let mut found: Vec<Option<Diagram>> = kinds.iter().map(|it| parts.diagram(it)).collect();
        // If a piece cannot move without another one, the companion is a piece that moves alone.
        parts.companion = found.iter().flatten().next().map(|it| it.letter.clone());
        for (diagram, kind) in found.iter_mut().zip(kinds) {
            if diagram.is_none() && parts.companion.is_some() {
                *diagram = parts.diagram(kind);
            }
        }
        found.into_iter().flatten().collect()
    }
}

/// What follows the board in a FEN, with empty hands if it has hands.
fn rest_of(fen: &str) -> String {
    let (board, rest) = fen.split_once(' ').unwrap_or((fen, ""));
    let hands = if board.contains('[') { "[]" } else { "" };
    format!("{hands} {rest}")
}

/// The signs that a FEN writes for squares without a piece, as where a square is no part of the board.
fn signs_of(game: &mut Game, pieces: &[PieceView]) -> BTreeMap<Place, String> {
    let taken: BTreeSet<Place> = pieces.iter().filter_map(|it| place_of(&it.square)).collect();
    let rows = game.cells().into_iter().rev().enumerate();
    let cells = rows.flat_map(|(rank, row)| {
        row.into_iter().enumerate().filter_map(move |(file, cell)| Some(((file, rank), cell?)))
    });
    cells.filter(|it| !taken.contains(&it.0)).collect()
}

/// The common parts of all diagrams of a game.
struct DiagramParts<'a> {
    rules: &'a Ruleset,
    files: usize,
    ranks: usize,
    rest: String,
    /// The signs of squares without a piece, which all positions have in common.
    signs: BTreeMap<Place, String>,
    /// The start squares of the kinds of the side to move.
    start: Vec<(String, Place)>,
    /// Whether the side to move is the second one, whose letters are small.
    is_second: bool,
    /// The letter of the enemy: a piece of the first kind.
    foe: String,
    /// The letter of another piece of the same side, placed in a corner.
    companion: Option<String>,
    /// Kinds of which a piece is vital at the start.
    vital: BTreeSet<String>,
}

type Place = (usize, usize);

impl DiagramParts<'_> {
    /// The diagram of a kind; `None` if no place is found from which it moves without capturing.
    fn diagram(&self, kind: &KindView) -> Option<Diagram> {
        let at_start = self.start.iter().filter(|it| it.0 == kind.kind).map(|it| it.1);
        let mut places = self.places().take(1).chain(at_start).chain(self.places().take(PLACES));
        let (place, square, goes) = places.find_map(|place| {
            let square = square_at(place);
            let goes = reached(&mut self.set_up(place, &kind.letter, None)?, &square);
            (!goes.is_empty()).then_some((place, square, goes))
        })?;
        let near = |it: &Place| it.0.abs_diff(place.0).max(it.1.abs_diff(place.1)) <= NEAR;
        let others = self.places().filter(|it| near(it) && *it != place);
        let captures = others.filter(|&it| {
            let name = square_at(it);
            let game = || self.set_up(place, &kind.letter, Some(it));
            !goes.contains(&name)
                && game().is_some_and(|mut it| reached(&mut it, &square).contains(&name))
        });
        let mut captures: Vec<String> = captures.map(square_at).collect();
        captures.sort_unstable();
        captures.dedup();
        let (kind, letter, name) = (kind.kind.clone(), kind.letter.clone(), kind.name.clone());
        let vital = self.vital.contains(&kind);
        Some(Diagram { vital, kind, letter, name, square, goes, captures })
    }

    /// The kinds that are on the board at the start and in a game, and those that a piece becomes near the last rank.
    fn kinds_seen(&self, mut game: Game) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut letters = BTreeSet::new();
        for step in 0..WALK {
            let view = game.view();
            letters.extend(view.pieces.iter().map(|it| it.letter.clone()));
            seen.extend(view.pieces.into_iter().map(|it| it.kind));
            seen.extend(view.legal.iter().flat_map(|it| it.choice.clone()));
            // Neighbours in the list are similar, so it is traversed in long steps.
            let chosen = view.legal.get((step * 31 + 7) % view.legal.len().max(1));
            if chosen.is_none_or(|it| game.play_text(&it.uci).is_err()) {
                break;
            }
        }
        for letter in letters {
            let second_last = self.ranks.saturating_sub(2);
            let rank = if self.is_second { 1.min(second_last) } else { second_last };
            let place = (self.files / 2, rank);
            let choices = self.set_up(place, &letter, None).map(|mut it| it.reachable());
            seen.extend(choices.into_iter().flatten().flat_map(|it| it.choice));
        }
        seen
    }

    /// Squares by their distance from the middle, as file and rank from 0.
    fn places(&self) -> impl Iterator<Item = Place> {
        let (files, ranks) = (self.files, self.ranks);
        let (x, y) = (files / 2, (ranks - 1) / 2);
        let mut all: Vec<Place> =
            (0..files).flat_map(|file| (0..ranks).map(move |rank| (file, rank))).collect();
        all.sort_by_key(|it| it.0.abs_diff(x).max(it.1.abs_diff(y)));
        // A board's first file may be special, so it is tried early.
        all.insert(1.min(all.len()), (0, y));
        all.into_iter()
    }

    /// A piece's letter in the case of its side: the side to move if `is_own`, or the other.
    fn written(&self, letter: &str, is_own: bool) -> String {
        if is_own == self.is_second { letter.to_lowercase() } else { letter.to_uppercase() }
    }

    /// A position with one piece, its companion, and an enemy on `foe` if given; `None` if a piece cannot stand there.
    fn set_up(&self, place: Place, letter: &str, foe: Option<Place>) -> Option<Game> {
        if [Some(place), foe].into_iter().flatten().any(|it| self.signs.contains_key(&it)) {
            return None;
        }
        let cell = |file: usize, rank: usize| {
            let here = (file, rank);
            match &self.companion {
                _ if here == place => self.written(letter, true),
                _ if Some(here) == foe => self.written(&self.foe, false),
                Some(companion) if here == (0, 0) => self.written(companion, true),
                _ => self.signs.get(&here).map_or("1", String::as_str).to_owned(),
            }
        };
        let rank = |rank: usize| -> String {
            let row: String = (0..self.files).map(|file| cell(file, rank)).collect();
            fen_row(&row)
        };
        let rows: Vec<String> = (0..self.ranks).rev().map(rank).collect();
        self.rules.start(Some(&format!("{}{}", rows.join("/"), self.rest))).ok()
    }
}

/// A row of a FEN from its squares, of which empty ones are each a `1`: `11p1` becomes `2p1`.
pub(crate) fn fen_row(row: &str) -> String {
    let letters: Vec<char> = row.chars().collect();
    let runs = letters.chunk_by(|a, b| a == b);
    let text = |run: &[char]| match run {
        ['1', ..] => run.len().to_string(),
        _ => run.iter().collect(),
    };
    runs.map(text).collect()
}

fn square_at((file, rank): (usize, usize)) -> String {
    let letter = (b'a'..=b'z').nth(file).map(char::from).unwrap_or('?');
    format!("{letter}{}", rank + 1)
}

fn place_of(square: &str) -> Option<Place> {
    let file = (b'a'..=b'z').position(|it| square.starts_with(char::from(it)))?;
    let rank: usize = square.get(1..)?.parse().ok()?;
    Some((file, rank.checked_sub(1)?))
}

/// The squares that the piece on a square can move to, even if the game is over.
fn reached(game: &mut Game, square: &str) -> Vec<String> {
    let all = game.reachable().into_iter();
    let from_there = all.filter(|it| it.from.as_deref() == Some(square));
    let mut squares: Vec<String> = from_there.filter_map(|it| it.to).collect();
    squares.sort_unstable();
    squares.dedup();
    squares
}
