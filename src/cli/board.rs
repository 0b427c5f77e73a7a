//! The board as text: chess symbols or plain letters.
//!
//! A letter that has no chess symbol is drawn as it is, so games with pieces of their own show too.

use std::fmt::Write;

/// How pieces are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbols {
    Unicode,
    Ascii,
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
