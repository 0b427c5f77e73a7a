//! The board as text: chess symbols or plain letters.
//!
//! A letter that has no chess symbol is drawn as it is, so games with pieces of their own show too.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::game::{Game, PointView};

/// How pieces are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbols {
    Unicode,
    Ascii,
}

/// The board of a game: its squares, or its points.
pub(crate) fn of(game: &mut Game, symbols: Symbols) -> String {
    let points = game.points();
    let cells = game.cells();
    if game.contract().board.is_grid {
        draw(&cells, symbols)
    } else {
        draw_points(&points, &cells.concat(), symbols)
    }
}

/// Points where they are drawn, each with its name and what stands there, `a1:M`; those that nothing divides
/// from the next are columns.
fn draw_points(points: &[PointView], cells: &[Option<String>], symbols: Symbols) -> String {
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
    if points.is_empty() {
        return "(no board)".into();
    }
    rows.into_iter().rev().map(line).collect::<Vec<_>>().join("\n")
}

/// The board with its coordinates, its last rank at the top; empty squares are dots.
pub(crate) fn draw(ranks: &[Vec<Option<String>>], symbols: Symbols) -> String {
    let files = ranks.iter().map(Vec::len).max().unwrap_or(0);
    let texts = ranks.iter().flatten().flatten();
    let width = texts.map(|it| it.chars().count()).max().unwrap_or(1).max(1);
    let mut res = String::new();
    for (at, rank) in ranks.iter().enumerate() {
        let cell = |it: &Option<String>| format!("{:width$}", cell(it.as_deref(), symbols));
        let row = rank.iter().map(cell).collect::<Vec<_>>().join(" ");
        // Writing to a string cannot fail.
        let _ = writeln!(res, "{:>2}  {}", ranks.len() - at, row.trim_end());
    }
    let letters = ('a'..='z').take(files).map(|it| format!("{it:width$}"));
    let _ = write!(res, "    {}", letters.collect::<Vec<_>>().join(" ").trim_end());
    res
}

fn cell(piece: Option<&str>, symbols: Symbols) -> String {
    let Some(text) = piece else { return ".".to_owned() };
    match symbols {
        Symbols::Ascii => text.to_owned(),
        Symbols::Unicode => glyphs(text),
    }
}

/// A letter with its signs, chess symbols in the place of letters that have one.
pub(crate) fn glyphs(text: &str) -> String {
    text.chars().map(|it| symbol(it).unwrap_or(it)).collect()
}

/// The chess symbol of a FEN letter.
fn symbol(letter: char) -> Option<char> {
    let letters = "KQRBNPkqrbnp";
    let at = letters.chars().position(|it| it == letter)?;
    "♔♕♖♗♘♙♚♛♜♝♞♟".chars().nth(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(text: &str) -> Vec<Option<String>> {
        text.split(' ').map(|it| Some(it.to_owned()).filter(|it| it != "-")).collect()
    }

    #[test]
    fn boards_are_drawn_with_coordinates() {
        let text = draw(&[rank("- - k"), rank("- K A")], Symbols::Unicode);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, [" 2  . . ♚", " 1  . ♔ A", "    a b c"]);
    }

    #[test]
    fn letters_of_several_signs_keep_their_squares() {
        let text = draw(&[rank("- +R k"), rank("- K Q~")], Symbols::Ascii);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines, [" 2  .  +R k", " 1  .  K  Q~", "    a  b  c"]);
    }
}
