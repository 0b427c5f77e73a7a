//! UCI text of moves, as the templates of the actions spell it.
//!
//! Castling has two common forms: the castling piece goes to the rook's square, or to its own destination. Both are read,
//! whichever of them the game writes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::super::action::{
    LegalityMode, Move, is_legal, is_over, is_pseudo, legal_moves, open_moves,
};
use super::super::contract::Contract;
use super::super::names::entity_of;
use super::super::template::{
    Spelling, SquarePart, Stop, moves_of, moves_of_pieces, render, spellings_of,
};
use super::chess::{is_written_so, moves_two, written_otherwise};
use super::{MoveError, MoveFault};
use crate::derive::World;
use crate::rules::ActionId;

/// The UCI text of a move.
pub fn to_uci(world: &mut World, mv: &Move) -> String {
    let program = world.program().clone();
    render(world, &program.action(mv.action).uci, mv, SquarePart::Whole)
}

/// The legal moves with their texts, sorted by text.
pub fn listing(world: &mut World, contract: &Contract) -> Vec<(String, Move)> {
    let moves = legal_moves(world, contract);
    with_texts(world, moves)
}

/// The actions of the side to move, even if the game is over, with their texts, sorted by text.
pub fn open_listing(world: &mut World, contract: &Contract) -> Vec<(String, Move)> {
    let moves = open_moves(world, contract, LegalityMode::Declared);
    with_texts(world, moves)
}

fn with_texts(world: &mut World, moves: Vec<Move>) -> Vec<(String, Move)> {
    let mut rows: Vec<_> = moves.into_iter().map(|it| (to_uci(world, &it), it)).collect();
    rows.sort();
    rows
}

/// The legal move that a text means.
///
/// # Errors
/// The text is malformed, or means no legal move, or several.
pub fn parse_uci(world: &mut World, contract: &Contract, text: &str) -> Result<Move, MoveError> {
    let text = text.trim();
    if is_over(world, contract) {
        return Err(MoveError::new(text, MoveFault::Over));
    }
    let mut stop = None;
    let candidates = match candidates(world, contract, text) {
        Ok(candidates) => candidates,
        Err(at) => {
            stop = Some(at);
            let lower = may_be_lowered(text).then(|| text.to_ascii_lowercase());
            let found = lower.and_then(|it| candidates(world, contract, &it).ok());
            found.unwrap_or_default()
        }
    };
    if let Some(mv) = meant(world, contract, &candidates, text)? {
        return Ok(mv);
    }
    if let Some(mv) = written_otherwise(world, contract, text)? {
        return Ok(mv);
    }
    Err(MoveError::new(text, fault(last_resort_first(world, candidates, text), stop)))
}

/// Whether capitals of a text may stand for small letters: promotion letters are often written so, `a7a8Q`, and sometimes
/// whole texts. But a capital before small letters is the letter of a piece in SAN: `B2d3` is no move from b2.
fn may_be_lowered(text: &str) -> bool {
    let is_small = |it: char| it.is_ascii_lowercase();
    !text.starts_with(|it: char| it.is_ascii_uppercase()) || !text.contains(is_small)
}

/// The legal one of the moves that a text fits: preferably one whose UCI is exactly this text, else the one of the lowest
/// `rank`.
///
/// # Errors
/// Several have the lowest rank.
fn meant(
    world: &mut World,
    contract: &Contract,
    candidates: &[Move],
    text: &str,
) -> Result<Option<Move>, MoveError> {
    let mut legal: Vec<&Move> = Vec::new();
    for mv in candidates {
        if legal.contains(&mv) || !is_legal(world, contract, mv) {
            continue;
        }
        if to_uci(world, mv) == text {
            return Ok(Some(mv.clone()));
        }
        legal.push(mv);
    }
    // Actions may declare which of them a text means first.
    let program = world.program();
    let lowest = legal.iter().map(|it| program.action(it.action).rank).min();
    legal.retain(|it| Some(program.action(it.action).rank) == lowest);
    match legal.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some((*only).clone())),
        several => {
            let candidates = several.iter().map(|it| to_uci(world, it)).collect();
            Err(MoveError::new(text, MoveFault::Ambiguous { candidates }))
        }
    }
}

/// The moves that a text may mean, in the order in which they may explain why it is refused: if none has exactly this
/// text, those of the highest rank come first.
fn last_resort_first(world: &mut World, mut candidates: Vec<Move>, text: &str) -> Vec<Move> {
    if !candidates.iter().any(|it| to_uci(world, it) == text) {
        let program = world.program();
        candidates.sort_by_key(|it| Reverse(program.action(it.action).rank));
    }
    candidates
}

fn fault(candidates: Vec<Move>, stop: Option<Stop>) -> MoveFault {
    match (candidates.is_empty(), stop) {
        (false, _) => MoveFault::Illegal { candidates },
        (true, Some(Stop { offset, expected })) => MoveFault::Malformed { offset, expected },
        // The text is well-formed, but there is no such piece on its square.
        (true, None) => MoveFault::NoSuchPiece,
    }
}

/// The moves, legal or not, that a text fits: first those that are pseudo-legal, then castling, then those whose UCI is
/// exactly this text, then those of the lowest rank, then those of pieces in hand. Castling in the form that the game
/// does not write is not among them (`written_otherwise`).
///
/// # Errors
/// No action's text looks like this.
fn candidates(world: &mut World, contract: &Contract, text: &str) -> Result<Vec<Move>, Stop> {
    let program = world.program().clone();
    let mut furthest = Stop::default();
    let mut matches = Vec::new();
    let mut moves = Vec::new();
    for action in &program.actions {
        for template in [&action.uci].into_iter().chain(&action.also) {
            match spellings_of(world, template, action.id, text) {
                Ok(spellings) => {
                    for spelling in spellings {
                        moves.extend(moves_of(world, action.id, &spelling));
                        matches.push((action.id, spelling));
                    }
                }
                Err(stop) => furthest.add(stop.offset, &stop.expected),
            }
        }
    }
    if matches.is_empty() {
        if furthest == Stop::default() {
            furthest.add(0, "nothing");
        }
        return Err(furthest);
    }
    if moves.is_empty() {
        moves = of_unnamed_pieces(world, contract, &matches);
    }
    moves.retain(|it| is_written_so(world, contract, it));
    moves.sort_by_cached_key(|it| {
        let is_other = to_uci(world, it) != text;
        let rank = program.action(it.action).rank;
        let in_hand = is_from_hand(world, contract, it);
        (!is_pseudo(world, it), !moves_two(world, contract, it), is_other, rank, !in_hand)
    });
    Ok(moves)
}

/// The moves of a text that does not name their piece, of all pieces of the side to move: if the rules list none of them,
/// they say why not.
fn of_unnamed_pieces(
    world: &mut World,
    contract: &Contract,
    matches: &[(ActionId, Spelling<'_>)],
) -> Vec<Move> {
    let Some(entities) = contract.entity_type(world.program()) else { return Vec::new() };
    let (facts, color) = (world.facts(), contract.color.attr);
    let mover = contract.mover(facts);
    let own = facts.entities_with(color).filter(|it| facts.get_raw(*it, color) == mover);
    let own: BTreeSet<i64> = own.map(|it| i64::from(it.0)).collect();
    let mut moves = Vec::new();
    for &(action, ref spelling) in matches {
        moves.extend(moves_of_pieces(world, action, spelling, &own, entities));
    }
    moves
}

/// Whether the piece of a move is in the hand of the side to move. A text without the piece's square also fits pieces on
/// the board and in other hands, but means such a piece.
fn is_from_hand(world: &World, contract: &Contract, mv: &Move) -> bool {
    let facts = world.facts();
    let piece = mv.arg(world.program(), "piece").and_then(entity_of);
    piece.filter(|_| contract.has_pocket()).is_some_and(|it| {
        facts.get_raw(it, contract.at.attr).is_none()
            && facts.get_raw(it, contract.color.attr) == contract.mover(facts)
    })
}
