//! The board as text, drawn from the placement field of a FEN: chess symbols or plain letters.
//!
//! A letter that has no chess symbol is drawn as it is, so games with pieces of their own show too.

use std::fmt::Write;

/// How pieces are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbols {
    Unicode,
    Ascii,
}

/// The board of a FEN with its coordinates, white at the bottom; empty squares are dots.
pub(crate) fn draw(fen: &str, symbols: Symbols) -> String {
    let ranks = cells(fen);
    let files = ranks.iter().map(Vec::len).max().unwrap_or(0);
    let mut res = String::new();
    for (at, rank) in ranks.iter().enumerate() {
        let row: Vec<String> = rank.iter().map(|it| cell(*it, symbols)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(res, "{:>2}  {}", ranks.len() - at, row.join(" "));
    }
    let letters: Vec<String> = ('a'..='z').take(files).map(String::from).collect();
    let _ = write!(res, "    {}", letters.join(" "));
    res
}

/// The ranks of a placement field, top rank first; `None` is an empty square.
pub(crate) fn cells(fen: &str) -> Vec<Vec<Option<char>>> {
    let placement = fen.split_whitespace().next().unwrap_or("");
    placement.split('/').map(rank).collect()
}

fn rank(text: &str) -> Vec<Option<char>> {
    let mut res = Vec::new();
    let mut empty = 0;
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            empty = empty * 10 + digit as usize;
            continue;
        }
        res.extend(vec![None; std::mem::take(&mut empty)]);
        if c.is_alphabetic() {
            res.push(Some(c));
        }
    }
    res.extend(vec![None; empty]);
    res
}

fn cell(piece: Option<char>, symbols: Symbols) -> String {
    let Some(letter) = piece else { return ".".to_owned() };
    match symbols {
        Symbols::Ascii => letter.to_string(),
        Symbols::Unicode => symbol(letter).unwrap_or(letter).to_string(),
    }
}

/// The chess symbol of a FEN letter.
pub(crate) fn symbol(letter: char) -> Option<char> {
    let letters = "KQRBNPkqrbnp";
    let at = letters.chars().position(|it| it == letter)?;
    "♔♕♖♗♘♙♚♛♜♝♞♟".chars().nth(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_drawn_with_coordinates() {
        let text = draw("4k3/8/8/8/8/8/4P3/4K2A w - - 0 1", Symbols::Unicode);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], " 8  . . . . ♚ . . .");
        assert_eq!(lines[7], " 1  . . . . ♔ . . A");
        assert_eq!(lines[8], "    a b c d e f g h");
    }

    #[test]
    fn wide_boards_have_empty_runs_of_two_digits() {
        let text = draw("12/R10r w", Symbols::Ascii);
        assert_eq!(text.lines().nth(1), Some(" 1  R . . . . . . . . . . r"));
    }
}
