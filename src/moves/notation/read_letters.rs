//! Reads the letters of the kinds of piece from the rules (once if they are static, else whenever a FEN or a move is
//! read or written), and checks that they can be read back.

use std::sync::Arc;

use crate::derive::World;
use crate::facts::DomainId;
use crate::rules::{Program, RelId, Role};

use super::super::contract::Contract;
use super::letters::{Letter, Letters};

/// The letters that the rules give now.
pub(super) fn letters_of(world: &mut World, contract: &Contract) -> Arc<Letters> {
    let program = world.program();
    let mut rels = [Some(contract.letter), contract.san_letter].into_iter().flatten();
    if rels.all(|it| program.relation(it).role == Role::Static) {
        return Arc::clone(contract.letters.get_or_init(|| Arc::new(read(world, contract))));
    }
    Arc::new(read(world, contract))
}

fn read(world: &mut World, contract: &Contract) -> Letters {
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
    let kinds = rows.iter().filter_map(|row| letter(row)).filter(|it| !it.small.is_empty());
    Letters::new(kinds.collect(), world.program().schema.domain(contract.sides))
}

/// Why letters cannot be read back from a FEN or a move.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LetterFault {
    #[error("{kind} has no letter, so no FEN could name it: write `letter('{kind}, \"x\").`")]
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
    #[error(
        "{other} and {kind} are both written {text:?}, so a game cannot have both: give one of them another letter"
    )]
    Same { kind: String, other: String, text: String },
    #[error(
        "{kind} is written {text:?}, and the letter of {other}, {longer:?}, begins with that: a FEN \
         could not tell them apart, so give one of them another letter"
    )]
    Begins { kind: String, text: String, other: String, longer: String },
    #[error(
        "{kind} is written {text:?}, but {sign:?} marks {marked}: give one of them another sign"
    )]
    Mark { kind: String, text: String, sign: char, marked: &'static str },
    #[error("{kind} is written {text:?} in moves, but {fault}")]
    InMoves { kind: String, text: String, fault: String },
}

/// Characters that mean something else in FEN, SAN or lists of moves.
const TAKEN: &str = "/[](){},;=@$-.%\"";

/// Signs that comment on a move, or mark check and mate.
const COMMENTS: [char; 4] = ['+', '#', '!', '?'];

/// Checks that every kind has a letter that can be read back, on boards and in moves. A letter of signs alone (`*`) has no
/// capital: if there are two sides, it always means a piece of the second.
///
/// # Errors
/// Names the first kind whose letter cannot be used, and what is wrong with it.
pub fn check_letters(world: &mut World, contract: &Contract) -> Result<(), LetterFault> {
    let program = world.program().clone();
    let mut known: Vec<(String, String)> = Vec::new();
    let mut in_moves: Vec<(String, String)> = Vec::new();
    for kind in 0..program.schema.domain(contract.kinds).size() as i64 {
        let name = name_of(&program, contract.kinds, kind);
        let Some(text) = letter_of(world, contract, kind) else {
            return Err(LetterFault::Missing { kind: name });
        };
        well_formed(contract, &name, &text)?;
        let clashes = |it: &&(String, String)| it.0.starts_with(&text) || text.starts_with(&it.0);
        if let Some((letter, other)) = known.iter().find(clashes).cloned() {
            let mut pair = [(text, name), (letter, other)];
            pair.sort_by_key(|it| it.0.len());
            let [(text, kind), (longer, other)] = pair;
            return Err(match text == longer {
                true => LetterFault::Same { kind, text, other },
                false => LetterFault::Begins { kind, text, other, longer },
            });
        }
        let other = contract.san_letter.and_then(|it| text_of(world, it, kind));
        other.iter().try_for_each(|it| fit_for_moves(&name, it))?;
        let san = other.unwrap_or_else(|| text.to_ascii_uppercase());
        let begins = |it: &&(String, String)| it.0.starts_with(&san) || san.starts_with(&it.0);
        if let Some((letter, other)) = in_moves.iter().find(begins) {
            let fault = format!(
                "{other} is written {letter:?} there: neither may begin the other, so give one of them \
                 another `san_letter`"
            );
            return Err(LetterFault::InMoves { kind: name, text: san, fault });
        }
        in_moves.push((san, name.clone()));
        known.push((text, name));
    }
    Ok(())
}

/// The letter of a kind in a FEN, in lower case.
pub fn letter_of(world: &mut World, contract: &Contract, kind: i64) -> Option<String> {
    text_of(world, contract.letter, kind)
}

/// The text that a relation has for a kind.
fn text_of(world: &mut World, rel: RelId, kind: i64) -> Option<String> {
    let rows = world.matching(rel, &[Some(kind), None]);
    let at = usize::try_from(rows.first()?[1]).ok()?;
    world.program().texts.get(at).cloned()
}

fn name_of(program: &Program, kinds: DomainId, kind: i64) -> String {
    program.schema.domain(kinds).member_name(kind)
}

/// Checks that a letter has no character that would mean something else.
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

/// Checks that a letter of its own for moves has no character that would mean something else there.
fn fit_for_moves(kind: &str, text: &str) -> Result<(), LetterFault> {
    let odd = |it: char| {
        !it.is_ascii_graphic() || it.is_lowercase() || it.is_numeric() || TAKEN.contains(it)
    };
    if !text.is_empty() && !text.contains(odd) && !text.ends_with(COMMENTS) {
        return Ok(());
    }
    let comments: String = COMMENTS.iter().collect();
    let fault = format!(
        "letters in moves are capitals and signs, without small letters, digits, blanks or any of {TAKEN}, and \
         with none of {comments} at the end"
    );
    Err(LetterFault::InMoves { kind: kind.to_owned(), text: text.to_owned(), fault })
}
