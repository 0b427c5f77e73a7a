//! Facts as the text of a FEN.

use crate::derive::World;
use crate::facts::{EntityId, GAME, Session};
use crate::rules::{Program, Type};

use super::super::super::contract::{Castling, Contract, Fact, Field, Mark, Passing};
use super::super::letters::Letters;
use super::CastlingStyle;
use super::read::initial;

/// The position as FEN: the fields that the rules have something for. The en passant square is written
/// only if a capture there is legal.
pub fn write_fen(world: &mut World, contract: &Contract, style: CastlingStyle) -> String {
    let program = world.program().clone();
    let mut fields = vec![placement(world, contract), turn(&program, contract, world.facts())];
    if let Some(roles) = &contract.castling {
        fields.push(rights(world, contract, roles, &program, style));
    }
    if let Some(roles) = &contract.passing {
        fields.push(passed(world, contract, roles, &program));
    }
    let facts = world.facts();
    for (counter, absent) in [(contract.clock, 0), (contract.fullmove, 1)] {
        let value = |it: Fact| facts.get_raw(GAME, it.attr).unwrap_or(absent).to_string();
        fields.extend(counter.map(value));
    }
    fields.extend(contract.fields.iter().filter_map(|it| further(&program, contract, facts, it)));
    fields.join(" ")
}

/// A further field, unless there is nothing to say, or a number is too large to be read again.
fn further(
    program: &Program,
    contract: &Contract,
    facts: &Session,
    field: &Field,
) -> Option<String> {
    let attr = field.fact.attr;
    let is_told = |it: i64| field.ty != Type::Int || u16::try_from(it).is_ok();
    let text = |it: Option<i64>| match it {
        Some(raw) => program.value_name(field.ty, raw),
        None => "-".into(),
    };
    if !field.of_pieces {
        let value = facts.get_raw(GAME, attr).filter(|it| is_told(*it))?;
        return Some(format!("{}={}", field.key, text(Some(value))));
    }
    let on_board = facts.entities_with(contract.at.attr);
    let mut values: Vec<(i64, Option<i64>)> = on_board
        .filter_map(|it| Some((facts.get_raw(it, contract.at.attr)?, facts.get_raw(it, attr))))
        .collect();
    values.sort_unstable();
    let known = || values.iter().filter_map(|it| it.1);
    if known().next().is_none() || !known().all(is_told) {
        return None;
    }
    let count = |value: Option<i64>| values.iter().filter(|it| it.1 == value).count();
    let usual =
        values.iter().map(|it| it.1).max_by_key(|it| (count(*it), std::cmp::Reverse(*it)))?;
    let mut words = vec![format!("{}={}", field.key, text(usual))];
    let squares = program.schema.domain(contract.board.domain);
    for (square, value) in values.iter().filter(|it| it.1 != usual) {
        words.push(format!("{}:{}", squares.member_name(*square), text(*value)));
    }
    Some(words.join(","))
}

/// The board as a FEN tells it, its last rank first: of each square the letter of what stands there, with
/// its signs.
pub fn cells(world: &mut World, contract: &Contract) -> Vec<Vec<Option<String>>> {
    let letters = Letters::of(world, contract);
    let board = contract.board;
    let facts = world.facts();
    let mut squares = vec![None; usize::from(board.files) * usize::from(board.ranks)];
    for piece in facts.entities_with(contract.at.attr) {
        let at = facts.get_raw(piece, contract.at.attr).and_then(|it| usize::try_from(it).ok());
        if let Some(square) = at.and_then(|it| squares.get_mut(it)) {
            *square = Some(letter_of(facts, contract, &letters, piece));
        }
    }
    squares.chunks(usize::from(board.files)).rev().map(<[_]>::to_vec).collect()
}

fn placement(world: &mut World, contract: &Contract) -> String {
    let cells = cells(world, contract);
    let rows: Vec<String> = cells.iter().map(|it| row(it)).collect();
    let letters = Letters::of(world, contract);
    let facts = world.facts();
    let hand = if contract.pocket { in_hand(facts, contract, &letters) } else { String::new() };
    format!("{}{hand}", rows.join("/"))
}

/// The pieces that stand nowhere, `[QNp]`: side by side, in the order of their kinds.
fn in_hand(facts: &Session, contract: &Contract, letters: &Letters) -> String {
    let nowhere = |it: &EntityId| !facts.contains(*it, contract.at.attr);
    let pieces = facts.entities_with(contract.kind.attr).filter(nowhere);
    let mut pieces: Vec<_> = pieces
        .filter_map(|it| {
            let side = facts.get_raw(it, contract.color.attr)?;
            Some((side, facts.get_raw(it, contract.kind.attr)?))
        })
        .collect();
    pieces.sort_unstable();
    let all: String = pieces.iter().map(|it| letters.letter(it.1, it.0).unwrap_or("?")).collect();
    format!("[{all}]")
}

/// The letter of a piece with the signs that follow it; `?` for a kind that the rules give no letter.
fn letter_of(facts: &Session, contract: &Contract, letters: &Letters, piece: EntityId) -> String {
    let kind = facts.get_raw(piece, contract.kind.attr);
    let side = facts.get_raw(piece, contract.color.attr);
    let letter = kind.zip(side).and_then(|(kind, side)| letters.letter(kind, side)).unwrap_or("?");
    let is_set = |it: &&Mark| facts.get_raw(piece, it.fact.attr) == Some(1);
    let signs = |before: bool| {
        let marks = contract.marks.iter().filter(is_set).filter(move |it| it.before == before);
        marks.map(|it| it.sign)
    };
    signs(true).chain(letter.chars()).chain(signs(false)).collect()
}

fn row(squares: &[Option<String>]) -> String {
    let mut text = String::new();
    let mut empty = 0;
    for square in squares {
        match square {
            None => empty += 1,
            Some(letter) => {
                push_run(&mut text, &mut empty);
                text.push_str(letter);
            }
        }
    }
    push_run(&mut text, &mut empty);
    text
}

fn push_run(text: &mut String, empty: &mut usize) {
    if *empty > 0 {
        text.push_str(&empty.to_string());
    }
    *empty = 0;
}

fn turn(program: &Program, contract: &Contract, facts: &Session) -> String {
    let side = contract.mover(facts);
    let letter = side.and_then(|it| initial(program.schema.domain(contract.sides), it));
    letter.unwrap_or('-').to_string()
}

/// A right to castle, as it is sorted and written.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Written {
    side: i64,
    wing: i64,
    /// 0 for the outermost rook of the wing.
    inner: usize,
    file: i64,
}

fn rights(
    world: &mut World,
    contract: &Contract,
    roles: &Castling,
    program: &Program,
    style: CastlingStyle,
) -> String {
    let rooks: Vec<EntityId> = world.facts().entities_with(roles.partner.attr).collect();
    let mut written: Vec<Written> =
        rooks.into_iter().filter_map(|it| right(world, contract, roles, it)).collect();
    written.sort();
    if written.is_empty() {
        return "-".into();
    }
    let wings = program.schema.domain(roles.wings);
    written.iter().map(|it| letter(it, wings, style)).collect()
}

fn letter(right: &Written, wings: &crate::facts::Domain, style: CastlingStyle) -> char {
    let file = u8::try_from(right.file).ok().and_then(|it| b'a'.checked_add(it)).map(char::from);
    let by_wing = style == CastlingStyle::XFen && right.inner == 0;
    let letter = if by_wing { initial(wings, right.wing) } else { file }.unwrap_or('?');
    if right.side == 0 { letter.to_ascii_uppercase() } else { letter }
}

fn right(
    world: &mut World,
    contract: &Contract,
    roles: &Castling,
    rook: EntityId,
) -> Option<Written> {
    let facts = world.facts();
    let castler = facts.get_raw(rook, roles.partner.attr)?;
    let castler = EntityId(u32::try_from(castler).ok()?);
    let side = facts.get_raw(rook, contract.color.attr)?;
    let from = facts.get_raw(castler, contract.at.attr)?;
    let corner = facts.get_raw(rook, contract.at.attr)?;
    let wing = wing_of(world, roles, from, corner)?;
    let board = contract.board;
    let distance = |square: i64| (board.file(square) - board.file(from)).abs();
    let inner = rooks_of(world, contract, roles, side, rook)
        .into_iter()
        .filter(|&it| distance(it) > distance(corner))
        .filter(|&it| wing_of(world, roles, from, it) == Some(wing))
        .count();
    Some(Written { side, wing, inner, file: board.file(corner) })
}

fn wing_of(world: &mut World, roles: &Castling, from: i64, rook: i64) -> Option<i64> {
    world.matching(roles.wing, &[Some(from), Some(rook), None]).first().map(|it| it[2])
}

/// The squares of a side's other castling rooks.
fn rooks_of(
    world: &mut World,
    contract: &Contract,
    roles: &Castling,
    side: i64,
    but: EntityId,
) -> Vec<i64> {
    let facts = world.facts();
    let others: Vec<(i64, i64)> = facts
        .entities_with(contract.at.attr)
        .filter(|&it| it != but && facts.get_raw(it, contract.color.attr) == Some(side))
        .filter_map(|it| {
            let kind = facts.get_raw(it, contract.kind.attr)?;
            Some((kind, facts.get_raw(it, contract.at.attr)?))
        })
        .collect();
    others
        .into_iter()
        .filter(|&(kind, _)| world.contains(roles.castling_rook, &[kind]))
        .map(|(_, square)| square)
        .collect()
}

fn passed(world: &mut World, contract: &Contract, roles: &Passing, program: &Program) -> String {
    let squares = program.schema.domain(contract.board.domain);
    let legal = world.tuples(roles.same_passed);
    let Some(square) = legal.first().and_then(|it| it.first()) else {
        return "-".into();
    };
    let victim = roles.victim.and_then(|it| world.facts().get_raw(GAME, it.attr));
    let victim = victim.map(|it| squares.member_name(it)).unwrap_or_default();
    format!("{}{victim}", squares.member_name(*square))
}
