//! Moves of chess as text: castling in the forms that people and programs write, en passant captures, and
//! annotations of a move.

use std::collections::BTreeSet;

use crate::derive::{Tuple, World};
use crate::rules::{ActionId, TemplatePart, Type};

use super::super::super::action::{Move, column_of, legal_moves};
use super::super::super::contract::{Contract, Standing};
use super::super::super::names::entity_of;
use super::super::super::template::{Spelling, keys_of};
use super::super::uci::to_uci;
use super::super::{MoveError, MoveFault};
use super::Castling;

/// The rook of a castling move: the argument named `rook`, if it may castle.
fn castling_rook(world: &World, contract: &Contract, mv: &Move) -> Option<i64> {
    let rook = mv.arg(world.program(), "rook")?;
    let right = contract.notation.castling?.right;
    world.facts().contains(entity_of(rook)?, right.attr).then_some(rook)
}

/// Whether a move is castling, which moves two pieces.
pub(in super::super) fn moves_two(world: &World, contract: &Contract, mv: &Move) -> bool {
    castling_rook(world, contract, mv).is_some()
}

/// Whether the square of a castling move is the one that the game writes for it. True of all other moves.
pub(in super::super) fn is_written_so(world: &mut World, contract: &Contract, mv: &Move) -> bool {
    let to = mv.arg(world.program(), "to");
    match (contract.notation.castling, castling_rook(world, contract, mv), to) {
        (Some(roles), Some(rook), Some(to)) => world.contains(roles.castling_text, &[rook, to]),
        _ => true,
    }
}

/// The legal castling move that a text means in either common form: the text is the square of the castling piece, then
/// that of the rook or the piece's destination.
pub(in super::super) fn written_otherwise(
    world: &mut World,
    contract: &Contract,
    text: &str,
) -> Result<Option<Move>, MoveError> {
    let mut found = legal_moves(world, contract);
    found.retain(|it| {
        moves_two(world, contract, it)
            && castling_texts(world, contract, it).iter().any(|it| it == text)
    });
    if found.len() > 1 {
        let candidates = found.iter().map(|it| to_uci(world, it)).collect();
        return Err(MoveError::new(text, MoveFault::Ambiguous { candidates }));
    }
    Ok(found.pop())
}

/// Both common texts of a castling move.
fn castling_texts(world: &mut World, contract: &Contract, mv: &Move) -> Vec<String> {
    let facts = world.facts();
    let rook = castling_rook(world, contract, mv).and_then(entity_of);
    let partner_of = |it| facts.get_raw(it, contract.notation.castling?.right.attr);
    let piece = rook.and_then(partner_of).and_then(entity_of);
    let (Some(rook), Some(piece)) = (rook, piece) else {
        return Vec::new();
    };
    let from = facts.get_raw(piece, contract.at.attr);
    let corner = facts.get_raw(rook, contract.at.attr);
    let to = world.taking_back(|world| {
        world.fire(mv.action, &mv.args).ok()?;
        world.facts().get_raw(piece, contract.at.attr)
    });
    let squares = world.program().schema.domain(contract.board.domain);
    let text = |to| Some(format!("{}{}", squares.member_name(from?), squares.member_name(to?)));
    [corner, to].into_iter().filter_map(text).collect()
}

/// The castling moves with the rooks on the wing that a text names, even if they are not pseudo-legal (the way is
/// blocked, the right is lost).
pub(in super::super) fn more_candidates(
    world: &mut World,
    contract: &Contract,
    action: ActionId,
    spelling: &Spelling<'_>,
) -> Vec<Move> {
    let Some(roles) = contract.notation.castling else { return Vec::new() };
    let program = world.program().clone();
    let wings = wings(world, &roles, spelling);
    let columns = &program.relation(program.action(action).rel).columns;
    let rook_at = column_of(&program, action, "rook");
    let to_at = column_of(&program, action, "to");
    let (Some(rook_at), Some(to_at), 2) = (rook_at, to_at, columns.len()) else {
        return Vec::new();
    };
    let mut moves = Vec::new();
    for rook in rooks(world, contract, &roles, &wings) {
        let id = i64::from(rook.piece.0);
        let written = world.first(roles.castling_text, &[Some(id), None]);
        let mut args = Tuple::from_slice(&[0, 0]);
        args[rook_at] = id;
        args[to_at] = written.map_or(rook.square, |row| row[1]);
        moves.push(Move { action, args });
    }
    moves
}

/// The wings among the values of a spelling's lookups.
fn wings(world: &mut World, roles: &Castling, spelling: &Spelling<'_>) -> BTreeSet<i64> {
    let program = world.program().clone();
    let mut wings = BTreeSet::new();
    for &(index, value) in &spelling.values {
        let Some(TemplatePart::Lookup(table, inner)) = spelling.parts.get(index) else {
            continue;
        };
        let TemplatePart::Lookup(inner_table, _) = inner.as_ref() else {
            continue;
        };
        let ty = program.relation(*inner_table).columns.last().map(|it| it.ty);
        if ty == Some(Type::Domain(roles.wings)) {
            let step = TemplatePart::Lookup(*table, Box::new(TemplatePart::Column(0)));
            wings.extend(keys_of(world, &step, BTreeSet::from([value])).1);
        }
    }
    wings
}

/// The mover's rooks that stand on one of the wings of a piece that castles.
fn rooks(
    world: &mut World,
    contract: &Contract,
    roles: &Castling,
    wings: &BTreeSet<i64>,
) -> Vec<Standing> {
    let mover = contract.mover(world.facts());
    let mut own = contract.pieces_of(world.facts(), mover);
    let castlers = own.iter().filter(|it| world.contains(roles.castler, &[it.kind]));
    let origins: Vec<i64> = castlers.map(|it| it.square).collect();
    let is_on_wing = |world: &mut World, square: i64| {
        let mut ways = origins.iter().flat_map(|from| wings.iter().map(move |wing| (*from, *wing)));
        ways.any(|(from, wing)| world.contains(roles.wing, &[from, square, wing]))
    };
    own.retain(|it| {
        world.contains(roles.castling_rook, &[it.kind]) && is_on_wing(world, it.square)
    });
    own
}

/// Whether a move is an en passant capture: it counts as a capture even if the captured piece survives.
pub(in super::super) fn strikes_beside(world: &World, contract: &Contract, mv: &Move) -> bool {
    let action = contract.notation.passing.and_then(|it| it.action);
    action == Some(world.program().action(mv.action).rel)
}

/// The trimmed text without annotations of the move.
pub(in super::super) fn without_comments(text: &str) -> &str {
    let mut bare = text.trim();
    loop {
        let shorter =
            bare.trim_end_matches(['+', '#', '!', '?']).trim_end_matches("e.p.").trim_end();
        let shorter = match shorter.strip_suffix("ep") {
            Some(move_only) if move_only.trim_end().ends_with(|it: char| it.is_ascii_digit()) => {
                move_only.trim_end()
            }
            _ => shorter,
        };
        if shorter.len() == bare.len() {
            return bare;
        }
        bare = shorter;
    }
}

/// Castling with zeros or small letters, in the form that the rules write; other texts unchanged.
pub(in super::super) fn with_capital_o(text: &str) -> String {
    let is_castling = text.contains('-') && text.chars().all(|it| "0Oo-".contains(it));
    if is_castling { text.replace(['0', 'o'], "O") } else { text.into() }
}

/// Whether a text begins with castling written with zeros.
pub(in super::super) fn begins_with_zeros(text: &str) -> bool {
    text.starts_with("0-0")
}

/// The length of the redundant `e.p.` after an en passant capture.
pub(in super::super) fn comment_on_passing(text: &str) -> Option<usize> {
    ["e.p.", "e.p"].into_iter().find(|it| text.starts_with(it)).map(str::len)
}

#[cfg(test)]
mod tests {
    use super::{with_capital_o, without_comments as bare};

    #[test]
    fn comments_on_a_move_are_no_part_of_it() {
        for (text, move_only) in [
            (" Nf3+!? ", "Nf3"),
            ("exd6 e.p.", "exd6"),
            ("exd6e.p.+", "exd6"),
            ("exd6ep", "exd6"),
            ("e8=Q#", "e8=Q"),
            ("+", ""),
        ] {
            assert_eq!(bare(text), move_only, "{text}");
        }
    }

    #[test]
    fn castling_is_read_with_zeros() {
        assert_eq!(with_capital_o("0-0-0"), "O-O-O");
        assert_eq!(with_capital_o("o-o"), "O-O");
        assert_eq!(with_capital_o("0"), "0");
    }
}
