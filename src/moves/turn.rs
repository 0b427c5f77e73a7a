//! Turns of several actions: whole turns written out, and read as text with commas (`e2e4,d2d4`).
//!
//! The rules say after each action whether the turn goes on: the side to move then goes on. Where they say
//! that a turn may not stop (`unfinished()`), a sequence of actions that ends there is no turn.
//! Everything is played on the world and taken back.

use std::collections::HashSet;

use crate::derive::World;

use super::action::{LegalityMode, Move, is_over, open_moves};
use super::contract::Contract;
use super::notation::{MoveError, MoveFault, listing, parse_san, parse_uci, to_uci};
use super::words::read_word;

/// What stands between the actions of a turn in text.
pub const BETWEEN: char = ',';

/// Maximum number of actions of a turn that are looked at; it may have more.
pub(super) const LONGEST: usize = 32;

/// Whole turns, and whether these are all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turns {
    /// The text of each turn, with its actions; in the order of the texts of the actions.
    pub turns: Vec<(String, Vec<Move>)>,
    /// No turn was left out.
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
            // A legal action that cannot be taken begins no turn here: some turns are missing.
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

    fn add(&self, found: &mut Turns) {
        found.turns.push((self.texts.join(&BETWEEN.to_string()), self.path.clone()));
    }
}

/// A turn may stop at this position.
pub(crate) fn may_stop(world: &mut World, contract: &Contract) -> bool {
    !contract.unfinished.iter().any(|&it| world.any(it))
}

/// Whether the side to move has a turn that it can finish. Always so where rules let every turn stop, and in the
/// middle of a turn that may not stop: the side may take that one back.
pub(super) fn has_turn(world: &mut World, contract: &Contract) -> bool {
    if contract.unfinished.is_empty() || !may_stop(world, contract) {
        return true;
    }
    let mover = contract.mover(world.facts());
    can_finish(world, contract, mover, 0, &mut HashSet::new())
}

/// Whether some sequence of actions ends the turn. A position that was looked at is not looked at again.
fn can_finish(
    world: &mut World,
    contract: &Contract,
    mover: Option<i64>,
    taken: usize,
    seen: &mut HashSet<u64>,
) -> bool {
    let moves = open_moves(world, contract, LegalityMode::Declared);
    if moves.is_empty() {
        return taken > 0 && may_stop(world, contract);
    }
    // Turns that are longer, or cannot be searched, are assumed to end.
    if taken >= LONGEST || world.has_run_out() {
        return true;
    }
    moves.iter().any(|mv| {
        let mark = world.mark();
        let ends = world.fire(mv.action, &mv.args).is_ok()
            && (!goes_on(world, contract, mover)
                || seen.insert(world.facts().hash())
                    && can_finish(world, contract, mover, taken + 1, seen));
        world.rollback(mark);
        ends
    })
}

/// The same side is to move, and the game is not over.
pub(super) fn goes_on(world: &mut World, contract: &Contract, mover: Option<i64>) -> bool {
    contract.mover(world.facts()) == mover && !is_over(world, contract)
}

/// The text of the actions of a turn, from the first on.
pub fn turn_text(world: &mut World, actions: &[Move]) -> String {
    action_texts(world, actions).join(&BETWEEN.to_string())
}

/// The texts of actions that follow each other, in UCI.
pub fn action_texts(world: &mut World, actions: &[Move]) -> Vec<String> {
    let mark = world.mark();
    let mut texts = Vec::new();
    for mv in actions {
        texts.push(to_uci(world, mv));
        if world.fire(mv.action, &mv.args).is_err() {
            break;
        }
    }
    world.rollback(mark);
    texts
}

/// The legal actions that a text with commas means, in UCI or SAN; all of them of one turn. The turn
/// may go on after them. A whole turn may be told by one word as well, if the rules have words for turns.
///
/// # Errors
/// The first part of the text that means no legal action, or that comes after the end of the turn.
pub fn parse_turn(
    world: &mut World,
    contract: &Contract,
    text: &str,
) -> Result<Vec<Move>, MoveError> {
    let mark = world.mark();
    let parsed = parse_actions(world, contract, text);
    world.rollback(mark);
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
        // Playing it tells why; there is no position to read the rest in.
        if refused {
            break;
        }
    }
    Ok(actions)
}

/// Maximum number of commas in the text of an action.
const COMMAS: usize = 8;

/// The first action of what stands between commas, and how many of the parts it took: a text of an action may have
/// commas of its own (`swap:#1,#2`).
///
/// # Errors
/// No text that begins here means a legal action.
fn parse_first(
    world: &mut World,
    contract: &Contract,
    parts: &[&str],
) -> Result<(Move, usize), MoveError> {
    let mut refused: Option<MoveError> = None;
    for taken in 1..=parts.len().min(1 + COMMAS) {
        let text = parts[..taken].join(&BETWEEN.to_string());
        match parse_either(world, contract, text.trim()) {
            Ok(mv) => return Ok((mv, taken)),
            Err(error) => {
                let is_text = !matches!(error.reason, MoveFault::Malformed { .. });
                // The fault of a text that is written like an action says more than that of another.
                let is_better = refused
                    .as_ref()
                    .is_none_or(|it| is_text && matches!(it.reason, MoveFault::Malformed { .. }));
                if is_better {
                    refused = Some(error);
                }
            }
        }
    }
    let empty = || MoveError { text: String::new(), reason: MoveFault::NoSuchPiece };
    Err(refused.unwrap_or_else(empty))
}

/// The legal move that a text means in UCI or SAN.
///
/// # Errors
/// There is none; the fault is that of the form that the text has.
pub fn parse_either(world: &mut World, contract: &Contract, text: &str) -> Result<Move, MoveError> {
    let uci = match parse_uci(world, contract, text) {
        Ok(mv) => return Ok(mv),
        Err(error) => error,
    };
    let san = match parse_san(world, contract, text) {
        Ok(mv) => return Ok(mv),
        Err(error) => error,
    };
    let is_uci = !matches!(uci.reason, MoveFault::Malformed { .. });
    Err(if is_uci { uci } else { san })
}
