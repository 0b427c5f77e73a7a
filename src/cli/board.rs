//! The board as text: chess symbols or plain letters.
//!
//! Letters without a chess symbol stay letters. In games where a letter of chess stands for another piece, all letters
//! do. Rules declare further signs: `.meta ground "~ RELATION"` (empty squares of the relation have the sign in place
//! of a dot), `.meta aura "' RELATION"` (the sign follows the content of each square of the relation),
//! `.meta divide "~ RELATION"` (a line between ranks where the relation has different values above and below).
//!
//! What a FEN tells besides (pieces in hand, the fields that rules add) stands below the board.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::game::{Game, KindView, PointView};
use crate::rules::{RelId, Type};

/// How pieces are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbols {
    Unicode,
    Ascii,
}

impl Symbols {
    /// Chess symbols, if the letters of a game that have one mean what they mean in chess: elsewhere an `n` may be a
    /// ship or a narwhal.
    pub(crate) fn of(game: &mut Game) -> Self {
        let kinds = game.kinds();
        // `None` for letters that chess does not have.
        let is_as_in_chess = |it: &KindView| {
            let at = LETTERS.iter().position(|letter| *letter == it.letter)?;
            Some(it.kind == KINDS[at])
        };
        let mut answers = kinds.iter().filter_map(is_as_in_chess).peekable();
        let means_chess = answers.peek().is_some() && answers.all(|it| it);
        if means_chess { Self::Unicode } else { Self::Ascii }
    }

    /// A piece as boards write it (a letter, perhaps with a `+` or `~`), with a chess symbol for a letter that has one.
    pub(crate) fn draw(self, text: &str) -> String {
        match self {
            Self::Ascii => text.to_owned(),
            Self::Unicode => text.chars().map(|it| symbol(it).unwrap_or(it)).collect(),
        }
    }
}

/// The board of a game: its squares, or its points, and what its FEN tells besides.
pub(crate) fn of(game: &mut Game, symbols: Symbols) -> String {
    let points = game.points();
    let cells = game.cells();
    let symbols = if symbols == Symbols::Unicode { Symbols::of(game) } else { symbols };
    let mut text = match game.contract().board.is_grid {
        true => draw(&cells, symbols, &Look::of(game)),
        false => draw_points(&points, &cells.concat(), symbols),
    };
    let fen = game.fen();
    for line in hands(&fen, &game.sides()).into_iter().chain(fields(game, &fen)) {
        text.push_str("\n ");
        text.push_str(&line);
    }
    text
}

/// The fields that rules add to a FEN, `seeds=4,c1:0 store=0,white:1`; numbers of both sides, `3+3`, get the name
/// of their attribute, `three-check.left=3+3`. `None` if there are none.
fn fields(game: &Game, fen: &str) -> Option<String> {
    let schema = &game.program().schema;
    let counters = game.contract().counters.map(|it| &schema.attribute(it.input.attr).name);
    let field = |word: &str| match counters {
        _ if word.contains('=') => Some(word.to_owned()),
        Some(name) if word.contains('+') => Some(format!("{name}={word}")),
        _ => None,
    };
    // The first word is the board, which may have such signs.
    let fields: Vec<String> = fen.split(' ').skip(1).filter_map(field).collect();
    (!fields.is_empty()).then(|| fields.join(" "))
}

/// A line with the pieces that each of two sides has in hand, by their letters and signs in a FEN; `None` if there are
/// none.
pub(crate) fn hands(fen: &str, sides: &[String]) -> Option<String> {
    let [first, second] = sides else { return None };
    let board = fen.split(' ').next()?;
    let held = board.split_once('[')?.1.trim_end_matches(']');
    let mut hands = [String::new(), String::new()];
    let mut signs = String::new();
    for letter in held.chars() {
        signs.push(letter);
        // Signs stand before the letter that they belong to.
        if letter.is_ascii_alphabetic() {
            hands[usize::from(letter.is_ascii_lowercase())].push_str(&std::mem::take(&mut signs));
        }
    }
    let hands = [first, second].into_iter().zip(hands).filter(|it| !it.1.is_empty());
    let hands: Vec<String> = hands.map(|(side, held)| format!("{side} {held}")).collect();
    (!hands.is_empty()).then(|| format!("in hand: {}", hands.join(", ")))
}

/// Draws points at their places, each with its name and its piece, `a1:M`.
fn draw_points(points: &[PointView], cells: &[Option<String>], symbols: Symbols) -> String {
    if points.is_empty() {
        return "(no board)".into();
    }
    let text = |at: usize| match cells.get(at).and_then(Option::as_deref) {
        Some(piece) => format!("{}:{}", points[at].name, cell(Some(piece), symbols)),
        None => points[at].name.clone(),
    };
    let columns: BTreeSet<i64> = points.iter().map(|it| it.x).collect();
    let rows: BTreeSet<i64> = points.iter().map(|it| it.y).collect();
    let width = (0..points.len()).map(|it| text(it).chars().count()).max().unwrap_or(0);
    let line = |y: i64| {
        let here = |x: i64| points.iter().position(|it| (it.x, it.y) == (x, y));
        let texts = columns.iter().map(|x| here(*x).map(text).unwrap_or_default());
        let line: Vec<String> = texts.map(|it| format!("{it:width$}")).collect();
        line.join(" ").trim_end().to_owned()
    };
    rows.into_iter().rev().map(line).collect::<Vec<_>>().join("\n")
}

/// The signs that rules declare, each with its squares.
#[derive(Debug, Default)]
struct Look {
    grounds: Vec<(char, BTreeSet<i64>)>,
    auras: Vec<(char, BTreeSet<i64>)>,
    /// Each with the value of every square.
    divides: Vec<(char, BTreeMap<i64, i64>)>,
    /// Whether each rank stands half a square to the right of the rank below.
    slants: bool,
}

impl Look {
    fn of(game: &mut Game) -> Self {
        let program = game.program().clone();
        let square = Type::Domain(game.contract().board.domain);
        let is_of_squares =
            |it: &RelId| program.relation(*it).columns.first().is_some_and(|it| it.ty == square);
        let mut look = Self { slants: game.has_hexagons(), ..Self::default() };
        let drawn = |key: &str| matches!(key, "ground" | "aura" | "divide");
        for meta in program.meta.iter().filter(|it| drawn(&it.key)) {
            let Some((sign, name)) = meta.value.split_once(' ') else { continue };
            let sign = sign.chars().next().filter(|_| sign.chars().count() == 1);
            let rel = program.relation_in(meta.span.source, name).filter(is_of_squares);
            let (Some(sign), Some(rel)) = (sign, rel) else { continue };
            let rows = game.world_mut().tuples(rel);
            let squares = rows.iter().filter_map(|it| it.first().copied());
            match meta.key.as_str() {
                "ground" => look.grounds.push((sign, squares.collect())),
                "aura" => look.auras.push((sign, squares.collect())),
                _ => {
                    let values = rows.iter().filter_map(|it| it.get(1).copied());
                    look.divides.push((sign, squares.zip(values).collect()));
                }
            }
        }
        look
    }

    fn cell(&self, square: i64, piece: Option<&str>, symbols: Symbols) -> String {
        let ground = self.grounds.iter().find(|it| it.1.contains(&square)).map(|it| it.0);
        let text = match (piece, ground) {
            (None, Some(sign)) => sign.to_string(),
            _ => cell(piece, symbols),
        };
        let auras = self.auras.iter().filter(|it| it.1.contains(&square)).map(|it| it.0);
        text.chars().chain(auras).collect()
    }

    /// The line between a rank and the one below it; `None` if no relation divides them.
    fn line(&self, rank: i64, files: usize, width: usize) -> Option<String> {
        let sign = |file: usize| {
            let above = rank * files as i64 + file as i64;
            let differs = |values: &BTreeMap<i64, i64>| {
                values.get(&above) != values.get(&(above - files as i64))
            };
            self.divides.iter().find(|it| differs(&it.1)).map_or(' ', |it| it.0)
        };
        let signs: Vec<char> = (0..files).map(sign).collect();
        let cell = |it: &char| format!("{:width$}", it.to_string());
        let text = signs.iter().map(cell).collect::<Vec<_>>().join(" ");
        signs.iter().any(|it| *it != ' ').then(|| format!("    {}", text.trim_end()))
    }
}

/// The board with its coordinates, its last rank at the top; empty squares are dots.
fn draw(ranks: &[Vec<Option<String>>], symbols: Symbols, look: &Look) -> String {
    let files = ranks.iter().map(Vec::len).max().unwrap_or(0);
    let cells = ranks.iter().enumerate().map(|(at, rank)| {
        let first = (ranks.len() - 1 - at) * files;
        let squares = (first as i64..).zip(rank);
        squares.map(|(it, piece)| look.cell(it, piece.as_deref(), symbols)).collect()
    });
    let cells: Vec<Vec<String>> = cells.collect();
    let width = cells.iter().flatten().map(|it| it.chars().count()).max().unwrap_or(1).max(1);
    // Half of a square and the blank behind it has to be a whole number of characters.
    let width = if look.slants { width | 1 } else { width };
    let slant = if look.slants { width.div_ceil(2) } else { 0 };
    let mut res = String::new();
    for (at, rank) in cells.iter().enumerate() {
        let row = rank.iter().map(|it| format!("{it:width$}")).collect::<Vec<_>>().join(" ");
        let number = ranks.len() - at;
        let indent = slant * (number - 1);
        // Writing to a string does not fail.
        let _ = writeln!(res, "{number:>2}  {:indent$}{}", "", row.trim_end());
        if let Some(line) = look.line(number as i64 - 1, files, width).filter(|_| number > 1) {
            let _ = writeln!(res, "{line}");
        }
    }
    let letters = ('a'..='z').take(files).map(|it| format!("{it:width$}"));
    let _ = write!(res, "    {}", letters.collect::<Vec<_>>().join(" ").trim_end());
    res
}

fn cell(piece: Option<&str>, symbols: Symbols) -> String {
    piece.map_or_else(|| ".".to_owned(), |it| symbols.draw(it))
}

/// The kinds of chess, with their letters and with the symbols of both sides.
const KINDS: [&str; 6] = ["king", "queen", "rook", "bishop", "knight", "pawn"];
const LETTERS: [&str; 6] = ["k", "q", "r", "b", "n", "p"];
const SYMBOLS: [[char; 6]; 2] = [['♔', '♕', '♖', '♗', '♘', '♙'], ['♚', '♛', '♜', '♝', '♞', '♟']];

/// The chess symbol of a FEN letter.
fn symbol(letter: char) -> Option<char> {
    let small = letter.to_ascii_lowercase();
    let at = LETTERS.iter().position(|it| it.starts_with(small))?;
    Some(SYMBOLS[usize::from(letter == small)][at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(text: &str) -> Vec<Option<String>> {
        text.split(' ').map(|it| Some(it.to_owned()).filter(|it| it != "-")).collect()
    }

    #[test]
    fn boards_are_drawn_with_coordinates() {
        let text = draw(&[rank("- - k"), rank("- K A")], Symbols::Unicode, &Look::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, [" 2  . . ♚", " 1  . ♔ A", "    a b c"]);
    }

    #[test]
    fn grounds_auras_and_divides_are_drawn() {
        let look = Look {
            grounds: vec![('~', [0, 3].into())],
            auras: vec![('*', [3, 5].into())],
            divides: vec![('=', [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 0)].into())],
            slants: false,
        };
        let text = draw(&[rank("- - k"), rank("- K A")], Symbols::Ascii, &look);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, [" 2  ~* .  k*", "    =  =", " 1  ~  K  A", "    a  b  c"]);
    }

    #[test]
    fn ranks_of_hexagons_slant() {
        let look = Look { slants: true, ..Look::default() };
        let text = draw(&[rank("- o"), rank("o -"), rank("- -")], Symbols::Ascii, &look);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, [" 3    . o", " 2   o .", " 1  . .", "    a b"]);
        let text = draw(&[rank("- Ro"), rank("- -")], Symbols::Ascii, &look);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, [" 2    .   Ro", " 1  .   .", "    a   b"]);
    }

    #[test]
    fn letters_of_several_signs_keep_their_squares() {
        let text = draw(&[rank("- +R k"), rank("- K Q~")], Symbols::Ascii, &Look::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, [" 2  .  +R k", " 1  .  K  Q~", "    a  b  c"]);
    }
}
