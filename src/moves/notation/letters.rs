//! The letters of the kinds of piece, read from the rules once per text.
//!
//! A kind's letter is a text of one sign or several: `p`, `+p`. Of two sides the first writes it in capitals;
//! of more, each writes its own initial before it, `Rp`. No letter begins another ([`check_letters`]), so a
//! row of them is read from left to right.

use crate::derive::World;
use crate::facts::DomainId;
use crate::rules::Program;

use super::super::contract::Contract;

/// The letters of the kinds of piece, as the rules give them.
pub(super) struct Letters {
    kinds: Vec<Letter>,
    /// What each side writes before its pieces. None of two sides, which capitals tell apart.
    sides: Vec<String>,
}

struct Letter {
    kind: i64,
    /// As the second and the first of two sides write it.
    small: String,
    capital: String,
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
    pub(super) fn of(world: &mut World, contract: &Contract) -> Self {
        let rows = world.tuples(contract.letter);
        let texts = &world.program().texts;
        let letter = |row: &[i64]| {
            let small = texts.get(usize::try_from(row[1]).ok()?)?.clone();
            Some(Letter { kind: row[0], capital: small.to_ascii_uppercase(), small })
        };
        let mut letters: Vec<Letter> =
            rows.iter().filter_map(|row| letter(row)).filter(|it| !it.small.is_empty()).collect();
        // Where one begins another all the same, the longer is meant.
        letters.sort_by_key(|it| (std::cmp::Reverse(it.small.len()), it.kind));
        let domain = world.program().schema.domain(contract.sides);
        let count = domain.size() as i64;
        let first = |it: i64| domain.member_name(it).chars().take(1).collect::<String>();
        let sides = match count {
            0..=2 => Vec::new(),
            _ => (0..count).map(|it| first(it).to_ascii_uppercase()).collect(),
        };
        Self { kinds: letters, sides }
    }

    /// The piece whose letter a text begins with.
    pub(super) fn begun(&self, text: &str) -> Option<Begun> {
        if !self.sides.is_empty() {
            let (sign, rest) = (text.get(..1)?, text.get(1..)?);
            let side = self.sides.iter().position(|it| it == sign)? as i64;
            let letter = self.kinds.iter().find(|it| rest.starts_with(&it.small))?;
            return Some(Begun { kind: letter.kind, side, length: 1 + letter.small.len() });
        }
        let begins = |small: bool| {
            let spelled =
                |it: &&Letter| text.starts_with(if small { &it.small } else { &it.capital });
            let letter = self.kinds.iter().find(spelled)?;
            Some(Begun { kind: letter.kind, side: i64::from(small), length: letter.small.len() })
        };
        begins(true).or_else(|| begins(false))
    }

    /// The piece whose letter a text begins with in capitals, and the letter's length.
    pub(super) fn begun_in_capitals(&self, text: &str) -> Option<(i64, usize)> {
        let letter = self.kinds.iter().find(|it| text.starts_with(&it.capital))?;
        Some((letter.kind, letter.capital.len()))
    }

    /// The kind that a letter in either case means.
    pub(super) fn kind(&self, letter: &str) -> Option<i64> {
        self.kinds.iter().find(|it| it.small == letter || it.capital == letter).map(|it| it.kind)
    }

    /// A piece of a side as a FEN has it.
    pub(super) fn letter(&self, kind: i64, side: i64) -> Option<String> {
        let letter = self.kinds.iter().find(|it| it.kind == kind)?;
        if !self.sides.is_empty() {
            let side = self.sides.get(usize::try_from(side).ok()?)?;
            return Some(format!("{side}{}", letter.small));
        }
        Some(if side == 0 { letter.capital.clone() } else { letter.small.clone() })
    }

    /// The letter of a kind in capitals, as moves have it.
    pub(super) fn capital(&self, kind: i64) -> Option<&str> {
        self.kinds.iter().find(|it| it.kind == kind).map(|it| it.capital.as_str())
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
        "{kind} is written {text:?}, but {sign:?} marks pieces: give one of them another \
         sign"
    )]
    Mark { kind: String, text: String, sign: char },
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
    match contract.marks.iter().find(|it| text.starts_with(it.sign)) {
        Some(mark) => Err(LetterFault::Mark { kind, text, sign: mark.sign }),
        None => Ok(()),
    }
}
