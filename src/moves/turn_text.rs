//! Whole turns as text: written out, and read with commas between their actions (`e2e4,d2d4`).
//!
//! Everything is played on the world and taken back.

use crate::derive::World;

use super::action::{Move, is_over};
use super::contract::Contract;
use super::notation::{MoveError, MoveFault, listing, parse_san, parse_uci, to_uci};
use super::turn::{LONGEST, goes_on, may_stop};
use super::turn_words::{read_word, texts_with_last, turn_texts};

/// The separator between the actions of a turn.
pub const BETWEEN: char = ',';

/// Whole turns, and whether the list is complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turns {
    /// The text of each turn, with its actions; sorted by the text of the first action, then of the second, and so on.
    pub turns: Vec<(String, Vec<Move>)>,
    /// Whether it is certain that no turn was left out.
    pub complete: bool,
}

/// The turns that the side to move may take, up to a number of them.
///
/// A turn ends when another side is to move, when the game is over, or when there is no action and the rules
/// let it stop.
pub fn turns(world: &mut World, contract: &Contract, limit: usize) -> Turns {
    let mut found = Turns { turns: Vec::new(), complete: true };
    if !is_over(world, contract) {
        let mover = contract.mover(world.facts());
        let mut search = Search { contract, mover, limit, path: Vec::new(), texts: Vec::new() };
        search.go_on(world, &mut found);
    }
    found
}

struct Search<'c> {
    contract: &'c Contract,
    mover: Option<i64>,
    limit: usize,
    path: Vec<Move>,
    texts: Vec<String>,
}

impl Search<'_> {
    /// Adds every turn that begins with the actions so far; the turn is known to go on.
    fn go_on(&mut self, world: &mut World, found: &mut Turns) {
        let moves = listing(world, self.contract);
        if moves.is_empty() && !self.path.is_empty() && may_stop(world, self.contract) {
            self.add(found);
        }
        for (text, mv) in moves {
            if found.turns.len() >= self.limit {
                found.complete = false;
                return;
            }
            let mark = world.mark();
            // A legal action that cannot be taken: its turns are missing from the list.
            if let Err(why) = world.fire(mv.action, &mv.args) {
                world.rollback(mark);
                world.note_refusal(&text, &why);
                found.complete = false;
                continue;
            }
            self.path.push(mv);
            self.texts.push(text);
            match goes_on(world, self.contract, self.mover) {
                true if self.path.len() >= LONGEST => found.complete = false,
                true => self.go_on(world, found),
                false => self.add(found),
            }
            self.path.pop();
            self.texts.pop();
            world.rollback(mark);
        }
    }

    /// Adds the turn of the actions so far.
    fn add(&self, found: &mut Turns) {
        found.turns.push((self.texts.join(&BETWEEN.to_string()), self.path.clone()));
    }
}

/// The texts of consecutive actions, in UCI, up to and with the first that cannot be taken.
pub fn action_texts(world: &mut World, actions: &[Move]) -> Vec<String> {
    world.taking_back(|world| {
        let mut texts = Vec::new();
        for mv in actions {
            texts.push(to_uci(world, mv));
            if world.fire(mv.action, &mv.args).is_err() {
                break;
            }
        }
        texts
    })
}

/// The legal actions of one turn, in UCI or SAN with commas between them; the turn may go on after them. A whole turn may
/// be written as one word as well, if the rules have words for turns.
///
/// # Errors
/// Names the first part of the text that does not mean a legal action, or that comes after the end of the turn.
pub fn parse_turn(
    world: &mut World,
    contract: &Contract,
    text: &str,
) -> Result<Vec<Move>, MoveError> {
    let parsed = world.taking_back(|world| parse_actions(world, contract, text));
    parsed.or_else(|why| read_word(world, contract, text).ok_or(why))
}

fn parse_actions(
    world: &mut World,
    contract: &Contract,
    text: &str,
) -> Result<Vec<Move>, MoveError> {
    let mover = contract.mover(world.facts());
    let mut actions: Vec<Move> = Vec::new();
    let parts: Vec<&str> = text.split(BETWEEN).collect();
    let mut at = 0;
    while at < parts.len() {
        if !actions.is_empty() && contract.mover(world.facts()) != mover {
            return Err(MoveError { text: parts[at].trim().into(), reason: MoveFault::NextTurn });
        }
        let (mv, taken) = parse_first(world, contract, &parts[at..])?;
        at += taken;
        let refused = world.fire(mv.action, &mv.args).is_err();
        actions.push(mv);
        // There is no position to read the rest in. When these actions are played, the refusal of the last is reported.
        if refused {
            break;
        }
    }
    Ok(actions)
}

/// Maximum number of commas in the text of an action.
const COMMAS: usize = 8;

/// The first action of comma-separated parts, and the number of parts that it took: the text of an action may
/// contain commas (`swap:#1,#2`).
///
/// # Errors
/// No text that begins here means a legal action.
fn parse_first(
    world: &mut World,
    contract: &Contract,
    parts: &[&str],
) -> Result<(Move, usize), MoveError> {
    let mut errors = Vec::new();
    for taken in 1..=parts.len().min(1 + COMMAS) {
        let text = parts[..taken].join(&BETWEEN.to_string());
        match parse_either(world, contract, text.trim()) {
            Ok(mv) => return Ok((mv, taken)),
            Err(error) => errors.push(error),
        }
    }
    // The error of a text that has the form of an action says more than others; of equals, the first is returned.
    let is_malformed = |it: &MoveError| matches!(it.reason, MoveFault::Malformed { .. });
    let first = errors.into_iter().min_by_key(is_malformed);
    // Never: there is at least one part.
    let no_parts = || MoveError { text: String::new(), reason: MoveFault::NoSuchPiece };
    Err(first.unwrap_or_else(no_parts))
}

/// The legal move that a text means in UCI, or in SAN if it does not have the form of UCI.
///
/// # Errors
/// No legal move is meant.
pub fn parse_either(world: &mut World, contract: &Contract, text: &str) -> Result<Move, MoveError> {
    match parse_uci(world, contract, text) {
        Err(MoveError { text: uci, reason: MoveFault::Malformed { offset, expected } }) => {
            parse_san(world, contract, text).map_err(|san| match san.reason {
                // The text comes further as UCI.
                MoveFault::Malformed { offset: before, .. } if before < offset => {
                    MoveError { text: uci, reason: MoveFault::Malformed { offset, expected } }
                }
                _ => san,
            })
        }
        // A text like `e5d6+` may be SAN, too, but of another move: `+` is a promotion in UCI, and a check in SAN.
        read => read,
    }
}

/// The word for the turn of these actions, which begins in this position: of the words that the rules' templates give,
/// the first that leads to the same position when it is read. `None` if there is no such word.
pub fn turn_word(world: &mut World, contract: &Contract, actions: &[Move]) -> Option<String> {
    let words = contract.turn_words.as_ref()?;
    let (last, first) = actions.split_last()?;
    let start = world.mark();
    // A turn has no word if no template has anything to write after one of its actions (the last may end the turn).
    let has_word = first.iter().all(|it| {
        world.fire(it.action, &it.args).is_ok()
            && turn_texts(world, words).iter().any(Option::is_some)
    });
    let texts_and_end = has_word.then(|| {
        let before = turn_texts(world, words);
        let texts = texts_with_last(world, words, last, &before);
        world.fire(last.action, &last.args).ok().map(|()| (texts, world.facts().hash()))
    });
    world.rollback(start);
    let (texts, end) = texts_and_end.flatten()?;
    texts.into_iter().flatten().find(|it| {
        let Ok(read) = parse_turn(world, contract, it) else { return false };
        world.taking_back(|world| {
            read.iter().all(|it| world.fire(it.action, &it.args).is_ok())
                && world.facts().hash() == end
        })
    })
}
