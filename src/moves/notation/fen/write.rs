//! Writes a position as FEN.

use crate::derive::World;
use crate::facts::{EntityId, GAME, Session};
use crate::rules::Program;

use super::super::super::contract::Contract;
use super::super::super::finder::{About, Fact, Field, Mark};
use super::super::chess::FenStyle;
use super::super::letters::{Letters, side_signs};
use super::super::read_letters::letters_of;
use super::counters;
use super::points;
use super::stack::{self, PiecesBySquare};

/// The position as FEN, with the fields that the rules declare. The en passant square is written only if a
/// capture there is legal.
pub fn write_fen(world: &mut World, contract: &Contract, style: FenStyle) -> String {
    let program = world.program().clone();
    let mut fields = vec![placement(world, contract), turn(&program, contract, world.facts())];
    fields.extend(vec!["-".to_owned(); contract.dashes]);
    fields.extend(contract.notation.write(world, contract, &program, style));
    fields.extend(counters::write(world, contract, false));
    fields.extend(contract.notation.write_clock(world));
    let by_square = stack::pieces_by_square(world, contract);
    let facts = world.facts();
    let number = |it: Fact| facts.get_raw(GAME, it.attr).unwrap_or(1).to_string();
    fields.extend(contract.fullmove.map(number));
    fields.extend(counters::write(world, contract, true));
    let text = |it| further(&program, contract, facts, &by_square, it);
    fields.extend(contract.fields.iter().filter_map(text));
    fields.join(" ")
}

/// A field declared by `.meta fen`, as `key=value`; `None` if there is no value, or only the default of a
/// quiet field. `-` is a missing value. A field about squares or members states the most common value first,
/// then each exception: `key=usual,square:value`.
fn further(
    program: &Program,
    contract: &Contract,
    facts: &Session,
    by_square: &PiecesBySquare,
    field: &Field,
) -> Option<String> {
    let attr = field.fact.attr;
    let squares = program.schema.domain(contract.board.domain);
    let text = |it: Option<i64>| match it {
        // A piece is written as its square.
        Some(raw) if Some(field.ty) == contract.entity_type(program) => {
            let piece = u32::try_from(raw).ok().map(EntityId);
            let square = piece.and_then(|it| facts.get_raw(it, contract.at.attr));
            square.map_or_else(|| "-".into(), |it| squares.member_name(it))
        }
        Some(raw) => program.value_name(field.ty, raw),
        None => "-".into(),
    };
    let usual = program.schema.attribute(attr).default;
    if field.about == About::Game {
        let value = facts.get_raw(GAME, attr);
        if field.quiet && (value.is_none() || value == usual) {
            return None;
        }
        return value.or(usual).map(|_| format!("{}={}", field.key, text(value)));
    }
    let of_pieces = |(square, pieces): (&i64, &Vec<EntityId>)| -> Vec<(i64, Option<i64>)> {
        pieces.iter().map(|it| (*square, facts.get_raw(*it, attr))).collect()
    };
    let of_member = |it| (i64::from(it), facts.get_raw(EntityId(it), attr));
    let (places, values): (_, Vec<(i64, Option<i64>)>) = match field.about {
        About::Members(domain) => {
            let members = 0..program.schema.domain(domain).size() as u32;
            (domain, members.map(of_member).collect())
        }
        About::Pieces | About::Game => {
            (contract.board.domain, by_square.iter().flat_map(of_pieces).collect())
        }
    };
    let is_about_members = matches!(field.about, About::Members(_));
    values.iter().find_map(|it| it.1).or(usual.filter(|_| is_about_members))?;
    let count = |value: Option<i64>| values.iter().filter(|it| it.1 == value).count();
    let usual =
        values.iter().map(|it| it.1).max_by_key(|it| (count(*it), std::cmp::Reverse(*it)))?;
    let mut words = vec![format!("{}={}", field.key, text(usual))];
    let squares = program.schema.domain(places);
    for (at, (square, value)) in values.iter().enumerate() {
        // On a square with several pieces, those before an exception are listed too, which keeps their order.
        let mut rest = values[at..].iter().take_while(|it| it.0 == *square);
        if rest.all(|it| it.1 == usual) {
            continue;
        }
        words.push(format!("{}:{}", squares.member_name(*square), text(*value)));
    }
    Some(words.join(","))
}

/// The board in FEN order, last rank first: for each square the letter of the piece there, with its signs.
pub fn cells(world: &mut World, contract: &Contract) -> Vec<Vec<Option<String>>> {
    let letters = letters_of(world, contract);
    let board = contract.board;
    let by_square = stack::pieces_by_square(world, contract);
    let facts = world.facts();
    let mut squares = vec![None; usize::from(board.files) * usize::from(board.ranks)];
    for (square, pieces) in by_square {
        let letter = |it: &EntityId| letter_of(facts, contract, &letters, *it);
        let Some(cell) = usize::try_from(square).ok().and_then(|it| squares.get_mut(it)) else {
            continue;
        };
        *cell = match (contract.stack, pieces.as_slice()) {
            (Some(_), [_, _, ..]) => {
                let letters: String = pieces.iter().map(letter).collect();
                Some(format!("{}{letters}{}", stack::OPEN, stack::CLOSE))
            }
            (_, pieces) => pieces.last().map(letter),
        };
    }
    for wall in contract.walls.iter() {
        let is_walled = |square: usize| {
            let member = u32::try_from(square).map(EntityId);
            member.is_ok_and(|it| facts.get_raw(it, wall.fact.attr) == Some(1))
        };
        for (_, cell) in squares.iter_mut().enumerate().filter(|it| is_walled(it.0)) {
            *cell = Some(wall.sign.to_string());
        }
    }
    let mut squares = squares.into_iter();
    let rank = |_| squares.by_ref().take(usize::from(board.files)).collect();
    let mut ranks: Vec<Vec<_>> = (0..board.ranks).map(rank).collect();
    ranks.reverse();
    ranks
}

fn placement(world: &mut World, contract: &Contract) -> String {
    let cells = cells(world, contract);
    let rows: Vec<String> = match contract.board.is_grid {
        true => cells.iter().map(|it| row(it)).collect(),
        false => vec![points::write(world.program(), contract, &cells.concat())],
    };
    let mut text = rows.join("/");
    if contract.pocket {
        let letters = letters_of(world, contract);
        text += &in_hand(world.facts(), contract, &letters);
    }
    text
}

/// The pieces in hand (those without a square), `[QNp]`: one side after the other, in the order of their
/// kinds.
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
    let letter = |&(side, kind): &(i64, i64)| {
        let (sign, letter) = letters.letter(kind, side).unwrap_or(("", "?"));
        [sign, letter]
    };
    let all: String = pieces.iter().flat_map(letter).collect();
    format!("[{all}]")
}

/// The letter of a piece with the signs that follow it; `?` for a kind that the rules give no letter.
fn letter_of(facts: &Session, contract: &Contract, letters: &Letters, piece: EntityId) -> String {
    let kind = facts.get_raw(piece, contract.kind.attr);
    let side = facts.get_raw(piece, contract.color.attr);
    let is_set = |it: &&Mark| facts.get_raw(piece, it.fact.attr) == Some(1);
    let signs = |before: bool| {
        let marks = contract.marks.iter().filter(move |it| it.before == before).filter(is_set);
        marks.map(|it| it.sign)
    };
    let mut text: String = signs(true).collect();
    match kind.zip(side).and_then(|(kind, side)| letters.letter(kind, side)) {
        Some((sign, letter)) => text.extend([sign, letter]),
        None => text.push('?'),
    }
    text.extend(signs(false));
    text
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
    let signs = side_signs(program.schema.domain(contract.sides));
    let side = contract.mover(facts).and_then(|it| usize::try_from(it).ok());
    side.and_then(|it| signs.get(it)).map_or_else(|| "-".into(), String::clone)
}
