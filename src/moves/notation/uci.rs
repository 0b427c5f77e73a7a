//! UCI text of moves, as the templates of the actions spell it.
//!
//! Castling is also read in the other common form, whichever the game writes: castling piece takes
//! rook, or castling piece to its destination.

use crate::derive::World;
use crate::facts::EntityId;
use crate::rules::Program;

use super::super::action::{Move, is_legal, is_over, is_pseudo, legal_moves};
use super::super::contract::Contract;
use super::super::template::{Stop, arguments, render, spell};
use super::{MoveError, MoveFault};

/// The UCI text of a move.
pub fn to_uci(world: &mut World, mv: &Move) -> String {
    let program = world.program().clone();
    render(world, &program.action(mv.action).uci, mv.action, &mv.args)
}

/// The legal moves with their texts, sorted by text.
pub fn listing(world: &mut World, contract: &Contract) -> Vec<(String, Move)> {
    let moves = legal_moves(world, contract);
    let mut rows: Vec<_> = moves.into_iter().map(|it| (to_uci(world, &it), it)).collect();
    rows.sort();
    rows
}

/// The legal move that a text means.
///
/// # Errors
/// The text is malformed, or means no legal move, or several.
pub fn parse_uci(world: &mut World, contract: &Contract, text: &str) -> Result<Move, MoveError> {
    if is_over(world, contract) {
        return Err(MoveError::new(text, MoveFault::Over));
    }
    let mut stop = None;
    let candidates = match candidates(world, contract, text) {
        Ok(candidates) => candidates,
        Err(at) => {
            stop = Some(at);
            // Promotion letters are often written in upper case.
            candidates(world, contract, &text.to_ascii_lowercase()).unwrap_or_default()
        }
    };
    let legal = candidates.iter().find(|it| is_legal(world, contract, it)).cloned();
    if let Some(mv) = legal {
        return Ok(mv);
    }
    if let Some(mv) = castling_otherwise(world, contract, text)? {
        return Ok(mv);
    }
    Err(MoveError::new(text, fault(candidates, stop)))
}

fn fault(candidates: Vec<Move>, stop: Option<Stop>) -> MoveFault {
    match (candidates.is_empty(), stop) {
        (false, _) => MoveFault::Illegal { candidates },
        (true, Some(Stop { offset, expected })) => MoveFault::Malformed { offset, expected },
        // Well-formed, and yet no piece could be looked up from its square.
        (true, None) => MoveFault::NoSuchPiece,
    }
}

/// The moves, legal or not, that are written like this; tries first, castling as it is written
/// next.
///
/// # Errors
/// No action's text looks like this.
fn candidates(world: &mut World, contract: &Contract, text: &str) -> Result<Vec<Move>, Stop> {
    let program = world.program().clone();
    let mut furthest: Option<Stop> = None;
    let mut spelled = false;
    let mut moves = Vec::new();
    for action in &program.actions {
        match spell(world, &action.uci, action.id, text) {
            Ok(spellings) => {
                spelled = true;
                for spelling in spellings {
                    let rows = arguments(world, &action.uci, action.id, &spelling);
                    moves.extend(rows.into_iter().map(|args| Move { action: action.id, args }));
                }
            }
            Err(stop) => furthest = Some(further(furthest, stop)),
        }
    }
    if !spelled {
        return Err(furthest.unwrap_or(Stop { offset: 0, expected: "nothing".into() }));
    }
    moves.retain(|it| is_written_so(world, contract, &program, it));
    moves.sort_by_cached_key(|it| {
        (!is_pseudo(world, it), !is_castling(contract, world, &program, it))
    });
    Ok(moves)
}

fn further(known: Option<Stop>, new: Stop) -> Stop {
    match known {
        Some(known) if known.offset > new.offset => known,
        Some(known) if known.offset == new.offset => {
            let expected = match known.expected.contains(&new.expected) {
                true => known.expected,
                false => format!("{} or {}", known.expected, new.expected),
            };
            Stop { offset: known.offset, expected }
        }
        _ => new,
    }
}

/// The rook of a castling move: the argument named `rook`, if it may castle.
fn castling_rook(contract: &Contract, world: &World, program: &Program, mv: &Move) -> Option<i64> {
    let rook = mv.arg(program, "rook")?;
    let id = EntityId(u32::try_from(rook).ok()?);
    let partner = contract.castling?.partner;
    world.facts().contains(id, partner.attr).then_some(rook)
}

fn is_castling(contract: &Contract, world: &World, program: &Program, mv: &Move) -> bool {
    castling_rook(contract, world, program, mv).is_some()
}

/// A castling move names the square that the game writes; any other square is another move.
fn is_written_so(world: &mut World, contract: &Contract, program: &Program, mv: &Move) -> bool {
    let to = mv.arg(program, "to");
    match (contract.castling, castling_rook(contract, world, program, mv), to) {
        (Some(roles), Some(rook), Some(to)) => world.contains(roles.castling_text, &[rook, to]),
        _ => true,
    }
}

/// The legal castling move whose piece stands on the text's first square and whose rook stands on,
/// or whose destination is, the second.
fn castling_otherwise(
    world: &mut World,
    contract: &Contract,
    text: &str,
) -> Result<Option<Move>, MoveError> {
    let program = world.program().clone();
    let mut found = Vec::new();
    for mv in legal_moves(world, contract) {
        if is_castling(contract, world, &program, &mv)
            && castling_texts(world, contract, &program, &mv).iter().any(|it| it == text)
        {
            found.push(mv);
        }
    }
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => {
            let candidates = found.iter().map(|it| to_uci(world, it)).collect();
            Err(MoveError::new(text, MoveFault::Ambiguous { candidates }))
        }
    }
}

/// Both common texts of a castling move.
fn castling_texts(
    world: &mut World,
    contract: &Contract,
    program: &Program,
    mv: &Move,
) -> Vec<String> {
    let facts = world.facts();
    let entity = |raw: i64| u32::try_from(raw).ok().map(EntityId);
    let rook = castling_rook(contract, world, program, mv).and_then(entity);
    let partner_of = |it| facts.get_raw(it, contract.castling?.partner.attr);
    let piece = rook.and_then(partner_of).and_then(entity);
    let (Some(rook), Some(piece)) = (rook, piece) else {
        return Vec::new();
    };
    let from = facts.get_raw(piece, contract.at.attr);
    let corner = facts.get_raw(rook, contract.at.attr);
    let mark = world.mark();
    let fired = world.fire(mv.action, &mv.args);
    let to = fired.ok().and_then(|()| world.facts().get_raw(piece, contract.at.attr));
    world.rollback(mark);
    let squares = program.schema.domain(contract.board.domain);
    let Some(from) = from.map(|it| squares.member_name(it)) else {
        return Vec::new();
    };
    [corner, to]
        .into_iter()
        .flatten()
        .map(|it| format!("{from}{}", squares.member_name(it)))
        .collect()
}
