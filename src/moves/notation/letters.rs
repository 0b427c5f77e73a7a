//! The letters of the kinds of piece, read from the rules: once where they are static, else once per text.
//!
//! A kind's letter is a text of one sign or several: `p`, `+p`. Of two sides the first writes it in capitals;
//! of more, each writes its own sign before it, `Rp`: its initial, or as much of its name as no other side's begins
//! with ([`side_signs`]). No letter begins another ([`check_letters`]), so a row of them is read from left to right.

use std::sync::Arc;

use crate::derive::World;
use crate::facts::{Domain, DomainId, Shape};
use crate::rules::{Program, Role};

use super::super::contract::Contract;

/// The letters of the kinds of piece, as the rules give them.
#[derive(Debug)]
pub(in crate::moves) struct Letters {
    kinds: Vec<Letter>,
    /// What each side writes before its pieces. None of two sides, which capitals tell apart.
    sides: Vec<String>,
}

#[derive(Debug)]
struct Letter {
    kind: i64,
    /// As the second and the first of two sides write it.
    small: String,
    capital: String,
    /// As moves have it.
    san: String,
}

/// What a text begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) kind: i64,
    /// Of two sides, 0 for capitals.
    pub(super) side: i64,
    /// Bytes of the letter, and of what the side writes before it.
    pub(super) length: usize,
}

impl Letters {
    pub(super) fn of(world: &mut World, contract: &Contract) -> Arc<Self> {
        let program = world.program();
        let mut read = [Some(contract.letter), contract.san_letter].into_iter().flatten();
        if read.all(|it| program.relation(it).role == Role::Static) {
            return Arc::clone(
                contract.letters.get_or_init(|| Arc::new(Self::read(world, contract))),
            );
        }
        Arc::new(Self::read(world, contract))
    }

    fn read(world: &mut World, contract: &Contract) -> Self {
        let rows = world.tuples(contract.letter);
        let in_moves = contract.san_letter.map(|it| world.tuples(it)).unwrap_or_default();
        let texts = &world.program().texts;
        let text = |row: &[i64]| texts.get(usize::try_from(row[1]).ok()?).cloned();
        let letter = |row: &[i64]| {
            let small = text(row)?;
            let capital = small.to_ascii_uppercase();
            let other = in_moves.iter().find(|it| it[0] == row[0]).and_then(|it| text(it));
            let san = other.unwrap_or_else(|| capital.clone());
            Some(Letter { kind: row[0], capital, small, san })
        };
        let mut letters: Vec<Letter> =
            rows.iter().filter_map(|row| letter(row)).filter(|it| !it.small.is_empty()).collect();
        // Where one begins another all the same, the longer is meant.
        letters.sort_by_key(|it| (std::cmp::Reverse(it.small.len()), it.kind));
        let domain = world.program().schema.domain(contract.sides);
        let count = domain.size() as i64;
        let sides = match count {
            0..=2 => Vec::new(),
            _ => side_signs(domain).iter().map(|it| with_capital(it)).collect(),
        };
        Self { kinds: letters, sides }
    }

    /// The piece whose letter a text begins with.
    pub(super) fn begun(&self, text: &str) -> Option<Begun> {
        if !self.sides.is_empty() {
            let side = self.sides.iter().position(|it| text.starts_with(it.as_str()))?;
            let rest = &text[self.sides[side].len()..];
            let letter = self.kinds.iter().find(|it| rest.starts_with(&it.small))?;
            let length = text.len() - rest.len() + letter.small.len();
            return Some(Begun { kind: letter.kind, side: side as i64, length });
        }
        let begins = |small: bool| {
            let spelled =
                |it: &&Letter| text.starts_with(if small { &it.small } else { &it.capital });
            let letter = self.kinds.iter().find(spelled)?;
            Some(Begun { kind: letter.kind, side: i64::from(small), length: letter.small.len() })
        };
        begins(true).or_else(|| begins(false))
    }

    /// The kind whose letter, as moves have it, a text begins with, and the letter's length.
    pub(super) fn begun_in_capitals(&self, text: &str) -> Option<(i64, usize)> {
        let begun = self.kinds.iter().filter(|it| text.starts_with(&it.san));
        let letter = begun.max_by_key(|it| it.san.len())?;
        Some((letter.kind, letter.san.len()))
    }

    /// The kind that a letter in either case means.
    pub(super) fn kind(&self, letter: &str) -> Option<i64> {
        let is_meant = |it: &&Letter| it.san == letter || it.san.to_ascii_lowercase() == letter;
        self.kinds.iter().find(is_meant).map(|it| it.kind)
    }

    /// A piece of a side as a FEN has it: what the side writes before it, and its letter.
    pub(super) fn letter(&self, kind: i64, side: i64) -> Option<(&str, &str)> {
        let letter = self.kinds.iter().find(|it| it.kind == kind)?;
        if !self.sides.is_empty() {
            let side = self.sides.get(usize::try_from(side).ok()?)?;
            return Some((side, &letter.small));
        }
        Some(("", if side == 0 { &letter.capital } else { &letter.small }))
    }

    /// The letter of a kind in capitals, as moves have it.
    pub(super) fn capital(&self, kind: i64) -> Option<&str> {
        self.kinds.iter().find(|it| it.kind == kind).map(|it| it.san.as_str())
    }

    /// All letters in the order of the kinds, for messages: `pnbrqk`, or `p, +p` where some have several
    /// signs.
    pub(super) fn all(&self) -> String {
        let mut letters: Vec<&Letter> = self.kinds.iter().collect();
        letters.sort_by_key(|it| it.kind);
        let short = letters.iter().all(|it| it.small.chars().count() == 1);
        let texts: Vec<&str> = letters.iter().map(|it| it.small.as_str()).collect();
        let letters = texts.join(if short { "" } else { ", " });
        match self.sides.is_empty() {
            true => letters,
            false => format!("{letters}, after {}", self.sides.join(" or ")),
        }
    }
}

/// What tells each side from the others in a FEN: as much of its name as no other's begins with, the initial at
/// least.
pub(super) fn side_signs(sides: &Domain) -> Vec<String> {
    let Shape::Members(names) = &sides.shape else { return Vec::new() };
    let sign = |name: &String| {
        let ends = name.char_indices().skip(1).map(|it| it.0).chain([name.len()]);
        let is_own =
            |end: &usize| names.iter().filter(|it| it.starts_with(&name[..*end])).count() < 2;
        let end = ends.into_iter().find(is_own).unwrap_or(name.len());
        name[..end].to_ascii_lowercase()
    };
    names.iter().map(sign).collect()
}

fn with_capital(sign: &str) -> String {
    let mut signs = sign.chars();
    let first = signs.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(signs).collect()
}

/// Why letters cannot be read back from a FEN or a move.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LetterFault {
    #[error("{kind} has no letter, so no FEN could tell it: write `letter('{kind}, \"x\").`")]
    Missing { kind: String },
    #[error(
        "{kind} is written {text:?}: write it in small letters and signs, without capitals, digits, \
         blanks or any of {taken}"
    )]
    Odd { kind: String, text: String, taken: &'static str },
    #[error(
        "{kind} is written {text:?}, but {last:?} at the end of a move means something else: put the \
         sign before the letter"
    )]
    End { kind: String, text: String, last: char },
    #[error("{other} and {kind} are both written {text:?}: give one of them another letter")]
    Same { kind: String, other: String, text: String },
    #[error(
        "{kind} is written {text:?}, which begins {longer:?}, the letter of {other}: a FEN could not \
         tell them apart, so give one of them another letter"
    )]
    Begins { kind: String, text: String, other: String, longer: String },
    #[error(
        "{kind} is written {text:?}, but {sign:?} marks {marked}: give one of them another sign"
    )]
    Mark { kind: String, text: String, sign: char, marked: &'static str },
}

/// Signs that mean something else in FEN, SAN or lists of moves.
const TAKEN: &str = "/[](){},;=@$-.%\"";

/// Signs that comment on a move, or tell check and mate.
const COMMENTS: [char; 4] = ['+', '#', '!', '?'];

/// Whether every kind has a letter that can be read back: the first that has not.
///
/// # Errors
/// The kind, and what is wrong with its letter.
pub fn check_letters(world: &mut World, contract: &Contract) -> Result<(), LetterFault> {
    let program = world.program().clone();
    let mut known: Vec<(String, String)> = Vec::new();
    for kind in 0..program.schema.domain(contract.kinds).size() as i64 {
        let name = name_of(&program, contract.kinds, kind);
        let rows = world.matching(contract.letter, &[Some(kind), None]);
        let text = rows.first().and_then(|it| program.texts.get(usize::try_from(it[1]).ok()?));
        let Some(text) = text.cloned() else { return Err(LetterFault::Missing { kind: name }) };
        well_formed(contract, &name, &text)?;
        if let Some((_, other)) = known.iter().find(|it| it.0 == text) {
            return Err(LetterFault::Same { kind: name, other: other.clone(), text });
        }
        for (letter, other) in &known {
            let (other, letter) = (other.clone(), letter.clone());
            if letter.starts_with(&text) {
                return Err(LetterFault::Begins { kind: name, text, other, longer: letter });
            }
            if text.starts_with(&letter) {
                return Err(LetterFault::Begins {
                    kind: other,
                    text: letter,
                    other: name,
                    longer: text,
                });
            }
        }
        known.push((text, name));
    }
    Ok(())
}

fn name_of(program: &Program, kinds: DomainId, kind: i64) -> String {
    program.schema.domain(kinds).member_name(kind)
}

/// Whether a letter has no sign that means something else where it stands.
fn well_formed(contract: &Contract, kind: &str, text: &str) -> Result<(), LetterFault> {
    let (kind, text) = (kind.to_owned(), text.to_owned());
    let odd = |it: char| {
        !it.is_ascii_graphic() || it.is_uppercase() || it.is_numeric() || TAKEN.contains(it)
    };
    let Some(last) = text.chars().next_back().filter(|_| !text.chars().any(odd)) else {
        return Err(LetterFault::Odd { kind, text, taken: TAKEN });
    };
    if COMMENTS.contains(&last) {
        return Err(LetterFault::End { kind, text, last });
    }
    let marks = contract.marks.iter().map(|it| (it.sign, "pieces"));
    let mut signs = marks.chain(contract.walls.map(|it| (it.sign, "walls")));
    match signs.find(|it| text.starts_with(it.0)) {
        Some((sign, marked)) => Err(LetterFault::Mark { kind, text, sign, marked }),
        None => Ok(()),
    }
}
