//! Parts of a FEN: its fields and words with their places, pieces, numbers, and their errors.

use std::fmt;

use crate::facts::{Domain, Shape};
use crate::rules::Program;

use super::super::super::contract::Contract;
use super::super::super::finder::Mark;
use super::super::letters::{LeadingPiece, Letters};

/// A field that only some families have: its name, and what is expected in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedField {
    pub name: &'static str,
    pub expected: &'static str,
}

/// A field of a FEN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenField {
    Placement,
    Turn,
    MoveNumber,
    /// Numbers of the sides.
    Counters,
    /// A field that only some families have.
    Named(NamedField),
    /// A field that the game declares.
    Further,
    /// The position as a whole, which the rules of the game exclude.
    Whole,
    /// The text as a whole, which differs from the form in which the game writes the position.
    Form,
    /// The text of a turn under way.
    UnderWay,
}

impl fmt::Display for FenField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Placement => "piece placement",
            Self::Turn => "side to move",
            Self::Counters => "counters of the sides",
            Self::Named(it) => it.name,
            Self::MoveNumber => "move number",
            Self::Further => "further field",
            Self::Whole => "position",
            Self::Form => "form",
            Self::UnderWay => "turn under way",
        })
    }
}

/// Why a text is not a FEN for these rules. The position is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", message(self))]
pub struct FenError {
    #[doc(hidden)]
    pub field: FenField,
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// The text found there.
    pub found: String,
    /// The text expected there.
    pub expected: String,
}

fn message(error: &FenError) -> String {
    let FenError { field, offset, found, expected } = error;
    match field {
        FenField::Whole => format!("the position is none of this game: {found}"),
        _ => format!("{field} of the FEN, byte {offset}: found {found}, expected {expected}"),
    }
}

/// The rules that a FEN is read by.
#[derive(Clone, Copy)]
pub(in super::super) struct FenRules<'a> {
    pub(in super::super) program: &'a Program,
    pub(in super::super) contract: &'a Contract,
    pub(super) letters: &'a Letters,
}

impl<'a> FenRules<'a> {
    /// The squares of the board.
    pub(in super::super) fn squares(self) -> &'a Domain {
        self.program.schema.domain(self.contract.board.domain)
    }
}

/// A field's text and where it begins.
#[derive(Clone, Copy)]
pub(in super::super) struct Part<'a> {
    pub(super) field: FenField,
    pub(super) offset: usize,
    pub(in super::super) text: &'a str,
    pub(in super::super) rules: FenRules<'a>,
}

impl Part<'_> {
    pub(in super::super) fn error(
        &self,
        at: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> FenError {
        FenError {
            field: self.field,
            offset: self.offset + at,
            found: found.into(),
            expected: expected.into(),
        }
    }

    pub(in super::super) fn refuse(&self, expected: impl Into<String>) -> FenError {
        self.error(0, format!("{:?}", self.text), expected)
    }
}

/// The words of a FEN, read one after another.
pub(in super::super) struct Parts<'a> {
    pub(super) rules: FenRules<'a>,
    pub(super) text: &'a str,
    pub(super) words: Vec<(usize, &'a str)>,
    pub(super) next: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn take(&mut self, field: FenField) -> Option<Part<'a>> {
        let &(offset, text) = self.words.get(self.next)?;
        self.next += 1;
        Some(Part { field, offset, text, rules: self.rules })
    }

    /// A counter, unless the next word is a further field already.
    pub(in super::super) fn number(&mut self, field: FenField) -> Option<Part<'a>> {
        self.take_if(field, |it| !it.contains('=') && !it.starts_with('+'))
    }

    /// The next word, if it fits.
    pub(super) fn take_if(
        &mut self,
        field: FenField,
        fits: impl Fn(&str) -> bool,
    ) -> Option<Part<'a>> {
        if self.next_is(fits) { self.take(field) } else { None }
    }

    /// Whether there is a next word that fits.
    pub(in super::super) fn next_is(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.words.get(self.next).is_some_and(|it| fits(it.1))
    }

    pub(in super::super) fn required(&mut self, field: FenField) -> Result<Part<'a>, FenError> {
        self.take(field).ok_or_else(|| FenError {
            field,
            offset: self.text.len(),
            found: "the end".into(),
            expected: match field {
                FenField::Placement => "the board, rank by rank".into(),
                FenField::Turn => "a side".into(),
                FenField::Named(field) => field.expected.into(),
                _ => "a word".into(),
            },
        })
    }
}

/// A piece that a FEN places on a square or in hand.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Placed {
    /// `None` if it is in hand.
    pub(in super::super) square: Option<i64>,
    pub(in super::super) kind: i64,
    pub(in super::super) side: i64,
    /// The signs beside its letter, a bit for each of [`Contract::marks`].
    pub(super) marks: u32,
}

/// The piece that a text begins with, with the signs beside its letter, and without a square. `rest` is what follows it.
pub(super) fn piece(rules: FenRules<'_>, rest: &mut &str) -> Option<Placed> {
    let mut marks = signs(rules.contract, rest, |it| it.is_prefix);
    let LeadingPiece { kind, side, length } = rules.letters.leading_piece(rest)?;
    *rest = &rest[length..];
    marks |= signs(rules.contract, rest, |it| !it.is_prefix);
    Some(Placed { square: None, kind, side, marks })
}

/// The signs that a text begins with, each once, as bits of [`Placed::marks`]. `rest` is what follows them.
fn signs(contract: &Contract, rest: &mut &str, stands_here: impl Fn(&Mark) -> bool) -> u32 {
    let mut found = 0;
    let is_next = |rest: &str| {
        contract.marks.iter().position(|it| stands_here(it) && rest.starts_with(it.sign))
    };
    while let Some(number) = is_next(rest).filter(|it| found & 1 << it == 0) {
        found |= 1 << number;
        *rest = &rest[contract.marks[number].sign.len_utf8()..];
    }
    found
}

/// The initial of a domain's member, in lower case.
pub(in super::super) fn initial(domain: &Domain, member: i64) -> Option<char> {
    domain.member_name(member).chars().next().map(|it| it.to_ascii_lowercase())
}

pub(in super::super) fn initials(domain: &Domain) -> impl Iterator<Item = (i64, char)> + '_ {
    let size = match domain.shape {
        Shape::Members(_) => domain.size() as i64,
        Shape::Grid { .. } | Shape::Entities { .. } => 0,
    };
    (0..size).filter_map(|it| Some((it, initial(domain, it)?)))
}

/// The greatest number that a counter of a FEN may have: far from the greatest integer, so that rules can count on.
pub(super) const MAX_COUNTER: i64 = 999_999_999_999_999;

/// Reads a counter, which has only digits.
pub(in super::super) fn number(part: Part<'_>, digits: &str, at: usize) -> Result<i64, FenError> {
    let value = Some(digits).filter(|it| it.bytes().all(|it| it.is_ascii_digit()));
    let value = value.and_then(|it| it.parse().ok()).filter(|it| *it <= MAX_COUNTER);
    value.ok_or_else(|| {
        part.error(at, format!("{digits:?}"), format!("a number up to {MAX_COUNTER}"))
    })
}
