//! The letters of the kinds of piece, for reading and writing.
//!
//! A kind's letter is a text of one or several characters: `p`, `+p`. If there are two sides, the letters of the first
//! are capitals; if there are more, each side has a sign before its letters, `Rp`: its initial, or the shortest
//! prefix of its name that is unique ([`side_signs`]). No letter is a prefix of another (`check_letters`), so
//! a row of them can be read from left to right. Deliberately absent: reading letters from the rules, and
//! checking them (`read_letters`).

use crate::facts::{Domain, Shape};

/// The letters of the kinds of piece, as the rules give them.
#[derive(Debug)]
pub(in crate::moves) struct Letters {
    kinds: Vec<Letter>,
    /// The sign of each side, written before its pieces. Empty for two sides, which capitals distinguish.
    sides: Vec<String>,
}

/// The letters of one kind.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) kind: i64,
    /// For the second of two sides, and for each of more than two.
    pub(super) small: String,
    /// For the first of two sides.
    pub(super) capital: String,
    /// In moves.
    pub(super) san: String,
}

/// The piece that a text begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeadingPiece {
    pub(super) kind: i64,
    /// With two sides, 0 for capitals.
    pub(super) side: i64,
    /// Bytes of the letter with the side's sign before it.
    pub(super) length: usize,
}

impl Letters {
    pub(super) fn new(mut kinds: Vec<Letter>, sides: &Domain) -> Self {
        // In rules that have not been checked, a letter may be a prefix of another: then the longer one is meant.
        kinds.sort_by_key(|it| (std::cmp::Reverse(it.small.len()), it.kind));
        let sides = match sides.size() {
            0..=2 => Vec::new(),
            _ => side_signs(sides).iter().map(|it| with_capital(it)).collect(),
        };
        Self { kinds, sides }
    }

    /// The piece whose letter a text begins with.
    pub(super) fn leading_piece(&self, text: &str) -> Option<LeadingPiece> {
        if !self.sides.is_empty() {
            let side = self.sides.iter().position(|it| text.starts_with(it.as_str()))?;
            let rest = &text[self.sides[side].len()..];
            let letter = self.kinds.iter().find(|it| rest.starts_with(&it.small))?;
            let length = text.len() - rest.len() + letter.small.len();
            return Some(LeadingPiece { kind: letter.kind, side: side as i64, length });
        }
        let begins = |small: bool| {
            let spelled =
                |it: &&Letter| text.starts_with(if small { &it.small } else { &it.capital });
            let letter = self.kinds.iter().find(spelled)?;
            Some(LeadingPiece {
                kind: letter.kind,
                side: i64::from(small),
                length: letter.small.len(),
            })
        };
        begins(true).or_else(|| begins(false))
    }

    /// The kind whose letter, as written in moves, a text begins with; and the letter's length.
    pub(super) fn leading_in_moves(&self, text: &str) -> Option<(i64, usize)> {
        let leading = self.kinds.iter().filter(|it| text.starts_with(&it.san));
        let letter = leading.max_by_key(|it| it.san.len())?;
        Some((letter.kind, letter.san.len()))
    }

    /// The kind that has this letter in moves, in capitals or in small letters.
    pub(super) fn kind(&self, letter: &str) -> Option<i64> {
        let is_meant = |it: &&Letter| it.san == letter || it.san.to_ascii_lowercase() == letter;
        self.kinds.iter().find(is_meant).map(|it| it.kind)
    }

    /// A piece as a FEN writes it: the side's sign, and the letter.
    pub(super) fn letter(&self, kind: i64, side: i64) -> Option<(&str, &str)> {
        let letter = self.kinds.iter().find(|it| it.kind == kind)?;
        if !self.sides.is_empty() {
            let side = self.sides.get(usize::try_from(side).ok()?)?;
            return Some((side, &letter.small));
        }
        Some(("", if side == 0 { &letter.capital } else { &letter.small }))
    }

    /// The letter of a kind as it is written in moves.
    pub(super) fn in_moves(&self, kind: i64) -> Option<&str> {
        self.kinds.iter().find(|it| it.kind == kind).map(|it| it.san.as_str())
    }

    /// A piece with all letters in the order of the kinds, for messages about a FEN: `a piece (pnbrqk)`, or
    /// `a piece (p, +p)` where some have several characters; with the signs of the sides if there are more than two.
    pub(super) fn piece(&self) -> String {
        if self.kinds.is_empty() {
            return "a piece (no kind has a letter yet: write `letter('KIND, \"x\").`)".to_owned();
        }
        let letters = self.listed(|it| &it.small);
        match self.sides.is_empty() {
            true => format!("a piece ({letters})"),
            false => format!("a piece ({letters}, after {})", self.sides.join(" or ")),
        }
    }

    /// All letters in the order of the kinds, for messages about moves.
    pub(super) fn all_in_moves(&self) -> String {
        self.listed(|it| &it.san)
    }

    fn listed(&self, spelling: impl Fn(&Letter) -> &str) -> String {
        let mut letters: Vec<&Letter> = self.kinds.iter().collect();
        letters.sort_by_key(|it| it.kind);
        let texts: Vec<&str> = letters.into_iter().map(spelling).collect();
        let short = texts.iter().all(|it| it.chars().count() == 1);
        texts.join(if short { "" } else { ", " })
    }
}

/// The sign of each side in a FEN, in small letters, as in the field of the side to move: the shortest prefix of its name
/// that no other side's name has, at least the initial.
pub(super) fn side_signs(sides: &Domain) -> Vec<String> {
    let Shape::Members(names) = &sides.shape else { return Vec::new() };
    let sign = |name: &String| {
        let mut ends = name.char_indices().skip(1).map(|it| it.0).chain([name.len()]);
        let is_own =
            |end: &usize| names.iter().filter(|it| it.starts_with(&name[..*end])).count() < 2;
        let end = ends.find(is_own).unwrap_or(name.len());
        name[..end].to_ascii_lowercase()
    };
    names.iter().map(sign).collect()
}

fn with_capital(sign: &str) -> String {
    let mut characters = sign.chars();
    let first = characters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}
