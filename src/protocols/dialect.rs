//! The letters in which clients write the pieces of a game, where they differ from ours.
//!
//! A game's rule file says `.meta client_letters "kn mk"`: the client's `k` is our `n`, its `m` our `k`. So that no two
//! letters become the same, the letters that are left over are a pair, too: the client's `n` is our `m`. Case is kept.
//! Squares and castling are the same in both.

/// A mapping of piece letters, the client's to ours; other letters are unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dialect {
    /// In lower case: the client's letter, ours.
    pairs: Vec<(char, char)>,
}

/// An invalid mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not two lower-case letters, the client's and ours, neither of which is mapped already"
)]
pub struct DialectError {
    pub text: String,
}

impl Dialect {
    /// Our own letters.
    pub const fn none() -> Self {
        Self { pairs: Vec::new() }
    }

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
        // In "kn mk" the client's `n` has no pair yet, and would become our `n`, as the client's `k` does. It gets the
        // letter of ours that is left over, `m`, which is at the other end of the chain of pairs.
        for at in 0..pairs.len() {
            let theirs = pairs[at].1;
            if pairs.iter().any(|it| it.0 == theirs) {
                continue;
            }
            let mut ours = theirs;
            while let Some(before) = pairs.iter().find(|it| it.1 == ours) {
                ours = before.0;
            }
            pairs.push((theirs, ours));
        }
        Ok(Self { pairs })
    }

    /// `k for n, m for k, n for m`: the client's letters and ours, where they differ; `None` if they do not.
    pub fn letters(&self) -> Option<String> {
        let different = self.pairs.iter().filter(|(theirs, ours)| theirs != ours);
        let words: Vec<String> =
            different.map(|(theirs, ours)| format!("{theirs} for {ours}")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// A client's FEN in our letters. Only the placement field has letters of pieces.
    pub fn fen_to_ours(&self, fen: &str) -> String {
        with_placement(fen, |it| self.to_ours(it))
    }

    /// Our FEN in the client's letters.
    pub fn fen_to_theirs(&self, fen: &str) -> String {
        with_placement(fen, |it| self.to_theirs(it))
    }

    /// A client's move, in UCI or SAN, in our letters.
    pub fn move_to_ours(&self, text: &str) -> String {
        letters_of_move(text, |it| self.to_ours(it))
    }

    /// Our move, in UCI or SAN, in the client's letters.
    pub fn move_to_theirs(&self, text: &str) -> String {
        letters_of_move(text, |it| self.to_theirs(it))
    }

    fn to_ours(&self, theirs: char) -> char {
        let pair = self.pairs.iter().find(|it| it.0 == theirs.to_ascii_lowercase());
        with_case_of(theirs, pair.map(|it| it.1))
    }

    fn to_theirs(&self, ours: char) -> char {
        let pair = self.pairs.iter().find(|it| it.1 == ours.to_ascii_lowercase());
        with_case_of(ours, pair.map(|it| it.0))
    }
}

/// The FEN with the letters of its placement field mapped.
fn with_placement(fen: &str, map: impl Fn(char) -> char) -> String {
    let end = fen.find(' ').unwrap_or(fen.len());
    let (placement, rest) = fen.split_at(end);
    placement.chars().map(map).collect::<String>() + rest
}

fn with_case_of(model: char, found: Option<char>) -> char {
    match found {
        Some(it) if model.is_ascii_uppercase() => it.to_ascii_uppercase(),
        Some(it) => it,
        None => model,
    }
}

/// The move with its letters of pieces mapped; actions of a turn are joined by commas.
fn letters_of_move(text: &str, map: impl Fn(char) -> char) -> String {
    text.split(',').map(|it| letters_of_action(it, &map)).collect::<Vec<_>>().join(",")
}

/// Maps the letters of an action: a capital at the beginning (`Nf3`, `N@f3`), a letter after a sign (`e8=Q`, `e8(Q)`,
/// `e8/Q`), and a letter at the end, after a square (`e7e8q`). Castling has none.
fn letters_of_action(action: &str, map: impl Fn(char) -> char) -> String {
    if action.starts_with(['O', 'o', '0']) && action.contains('-') {
        return action.into();
    }
    let end = action.trim_end_matches(['+', '#', '!', '?']).len();
    let mut before = None;
    let mut mapped = String::with_capacity(action.len());
    for (at, letter) in action.char_indices() {
        let is_piece = letter.is_ascii_alphabetic()
            && match before {
                None => letter.is_ascii_uppercase(),
                Some('=' | '/' | '(') => true,
                Some(it) => it.is_ascii_digit() && at + letter.len_utf8() == end,
            };
        mapped.push(if is_piece { map(letter) } else { letter });
        before = Some(letter);
    }
    mapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_both_ways() {
        let dialect = Dialect::parse("kn mk").unwrap();
        assert_eq!(dialect.fen_to_ours("rmb1K2m w KQkq - 0 1"), "rkb1N2k w KQkq - 0 1");
        assert_eq!(dialect.fen_to_theirs("rkb1N2k w KQkq - 0 1"), "rmb1K2m w KQkq - 0 1");
        assert_eq!(dialect.move_to_ours("e7e8m"), "e7e8k");
        assert_eq!(dialect.move_to_theirs("e7e8k,a2a3"), "e7e8m,a2a3");
    }

    #[test]
    fn every_letter_of_one_side_is_one_of_the_other() {
        let dialect = Dialect::parse("kn mk").unwrap();
        assert_eq!(dialect.letters().unwrap(), "k for n, m for k, n for m");
        for letter in 'a'..='z' {
            assert_eq!(dialect.to_theirs(dialect.to_ours(letter)), letter);
        }
        let swapped = Dialect::parse("ab ba").unwrap();
        assert_eq!(swapped.letters().unwrap(), "a for b, b for a");
        assert_eq!(Dialect::parse("kk").unwrap().letters(), None, "a letter that is the same");
    }

    #[test]
    fn letters_are_found_where_moves_have_them() {
        let dialect = Dialect::parse("kn mk").unwrap();
        for (theirs, ours) in [
            ("Kb3", "Nb3"),
            ("M@f7", "K@f7"),
            ("a8=M+", "a8=K+"),
            ("axb8=M#", "axb8=K#"),
            ("a8(M)", "a8(K)"),
            ("a7a8m", "a7a8k"),
            ("a7a8n", "a7a8m"),
            ("e1g1", "e1g1"),
            ("O-O", "O-O"),
            ("0000", "0000"),
            ("e2e4,k@e5", "e2e4,k@e5"),
            ("K1d2,a7a8m", "N1d2,a7a8k"),
        ] {
            assert_eq!(dialect.move_to_ours(theirs), ours);
            assert_eq!(dialect.move_to_theirs(ours), theirs);
        }
    }

    #[test]
    fn what_is_no_mapping_is_named() {
        for text in ["k", "knm", "K N", "kn kq", "kn qn"] {
            assert!(Dialect::parse(text).is_err(), "{text}");
        }
        assert_eq!(Dialect::parse("").unwrap(), Dialect::default());
    }
}
