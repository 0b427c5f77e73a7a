//! The letters in which clients write the pieces of a game, where they differ from ours.
//!
//! A game's rule file says `.meta client_letters "kn mk"`: the client's `k` is our `n`, its `m` our
//! `k`. Case carries over, so does the letter of a promotion. Squares and castling are the same in
//! both. Deliberately absent: the letters of any game.

/// A mapping of piece letters, the client's to ours; letters that it does not name stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dialect {
    /// In lower case: the client's letter, ours.
    pairs: Vec<(char, char)>,
}

/// A mapping that is no mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no pair of lower-case letters, the client's and ours, each used once")]
pub struct DialectError {
    pub text: String,
}

impl Dialect {
    /// Reads `"kn mk"`.
    ///
    /// # Errors
    /// A word that is not two lower-case letters, or a letter that is mapped twice.
    pub fn parse(text: &str) -> Result<Self, DialectError> {
        let mut pairs: Vec<(char, char)> = Vec::new();
        for word in text.split_whitespace() {
            let fault = || DialectError { text: word.into() };
            let letters: Vec<char> = word.chars().collect();
            let &[theirs, ours] = letters.as_slice() else { return Err(fault()) };
            let known = |it: &(char, char)| it.0 == theirs || it.1 == ours;
            let lower = theirs.is_ascii_lowercase() && ours.is_ascii_lowercase();
            if !lower || pairs.iter().any(known) {
                return Err(fault());
            }
            pairs.push((theirs, ours));
        }
        Ok(Self { pairs })
    }

    /// A client's FEN in our letters; only the placement field has pieces.
    pub fn fen_to_ours(&self, fen: &str) -> String {
        self.placement(fen, |it| self.to_ours(it))
    }

    /// Our FEN in the client's letters.
    pub fn fen_to_theirs(&self, fen: &str) -> String {
        self.placement(fen, |it| self.to_theirs(it))
    }

    /// A client's UCI move in our letters.
    pub fn uci_to_ours(&self, uci: &str) -> String {
        promotion(uci, |it| self.to_ours(it))
    }

    /// Our UCI move in the client's letters.
    pub fn uci_to_theirs(&self, uci: &str) -> String {
        promotion(uci, |it| self.to_theirs(it))
    }

    fn placement(&self, fen: &str, map: impl Fn(char) -> char) -> String {
        let end = fen.find(' ').unwrap_or(fen.len());
        let (placement, rest) = fen.split_at(end);
        placement.chars().map(map).collect::<String>() + rest
    }

    fn to_ours(&self, theirs: char) -> char {
        let pair = self.pairs.iter().find(|it| it.0 == theirs.to_ascii_lowercase());
        in_case_of(theirs, pair.map(|it| it.1))
    }

    fn to_theirs(&self, ours: char) -> char {
        let pair = self.pairs.iter().find(|it| it.1 == ours.to_ascii_lowercase());
        in_case_of(ours, pair.map(|it| it.0))
    }
}

fn in_case_of(model: char, found: Option<char>) -> char {
    match found {
        Some(it) if model.is_ascii_uppercase() => it.to_ascii_uppercase(),
        Some(it) => it,
        None => model,
    }
}

/// The move with the letter after its second square mapped; actions of a turn are joined by commas.
fn promotion(uci: &str, map: impl Fn(char) -> char) -> String {
    let one = |action: &str| match action.char_indices().last() {
        Some((at, last)) if last.is_ascii_alphabetic() => format!("{}{}", &action[..at], map(last)),
        _ => action.to_string(),
    };
    uci.split(',').map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_both_ways() {
        let dialect = Dialect::parse("kn mk").unwrap();
        assert_eq!(dialect.fen_to_ours("rmb1K2m w KQkq - 0 1"), "rkb1N2k w KQkq - 0 1");
        assert_eq!(dialect.fen_to_theirs("rkb1N2k w KQkq - 0 1"), "rmb1K2m w KQkq - 0 1");
        assert_eq!(dialect.uci_to_ours("e7e8m"), "e7e8k");
        assert_eq!(dialect.uci_to_theirs("e7e8k,a2a3"), "e7e8m,a2a3");
    }

    #[test]
    fn what_is_no_mapping_is_named() {
        for text in ["k", "knm", "K N", "kn kq", "kn qn"] {
            assert!(Dialect::parse(text).is_err(), "{text}");
        }
        assert_eq!(Dialect::parse("").unwrap(), Dialect::default());
    }
}
