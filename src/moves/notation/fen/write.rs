//! Writes a position as FEN.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::derive::World;
use crate::facts::{EntityId, GAME, Session};
use crate::rules::Program;

use super::super::super::contract::Contract;
use super::super::super::finder::{About, AttrInput, CountersForm, Field, Walls};
use super::super::super::names::entity_of;
use super::super::letters::{Letters, side_signs};
use super::super::read_letters::letters_of;
use super::counters;
use super::points;
use super::stack;

/// The position as FEN, with the fields that the rules declare. The en passant square is written only if a
/// capture there is legal.
pub fn write_fen(world: &mut World, contract: &Contract) -> String {
    let program = world.program().clone();
    let mut fields = vec![placement(world, contract), turn(&program, contract, world.facts())];
    fields.extend(vec!["-".to_owned(); contract.dashes]);
    fields.extend(contract.notation.write(world, contract));
    fields.extend(counters::write(world, contract, CountersForm::Plain));
    fields.extend(contract.notation.write_clock(world));
    let has_fields_of_pieces = contract.fields.iter().any(|it| it.about == About::Pieces);
    let by_square = match has_fields_of_pieces {
        true => stack::pieces_by_square(world, contract),
        false => Vec::new(),
    };
    let facts = world.facts();
    let number = |it: AttrInput| facts.get_raw(GAME, it.attr).unwrap_or(1).to_string();
    fields.extend(contract.fullmove.map(number));
    fields.extend(counters::write(world, contract, CountersForm::Signed));
    let further = Further { program: &program, contract, facts, by_square };
    fields.extend(contract.fields.iter().filter_map(|it| further.field(it)));
    fields.join(" ")
}

/// The facts from which further fields are written.
struct Further<'a> {
    program: &'a Program,
    contract: &'a Contract,
    facts: &'a Session,
    /// The pieces on the board, each with its square; empty if no field is about pieces.
    by_square: Vec<(i64, EntityId)>,
}

impl Further<'_> {
    /// A field declared by `.meta fen`, as `key=value`; `-` is a missing value. A field about pieces or members states
    /// the most common value first, then each exception, by the piece's square or by the member:
    /// `key=usual,square:value`.
    ///
    /// `None` if there is neither a value nor a default (for a field about pieces: if none of them has a value); for a
    /// quiet field, and for one that only presets declare that are not active, also if all values are the default, which
    /// a reader takes for a missing field.
    fn field(&self, field: &Field) -> Option<String> {
        let start = self.program.schema.attribute(field.input.attr).default;
        let sleeps = field.files.iter().all(|it| self.program.sleeps(*it, self.facts));
        let values = self.values(field);
        if (field.is_quiet || sleeps) && values.iter().all(|it| it.1 == start) {
            return None;
        }
        let start = start.filter(|_| field.about != About::Pieces);
        values.iter().find_map(|it| it.1).or(start)?;
        let count = |value: Option<i64>| values.iter().filter(|it| it.1 == value).count();
        let usual = values.iter().map(|it| it.1).max_by_key(|it| (count(*it), Reverse(*it)))?;
        let places = match field.about {
            About::Members(domain) => domain,
            About::Pieces | About::Game => self.contract.board.domain,
        };
        let mut text = format!("{}={}", field.key, self.value(field, usual));
        for (at, &(place, value)) in values.iter().enumerate() {
            // On a square with several pieces, those before an exception are listed too, since values are read in their
            // order.
            let mut rest = values[at..].iter().take_while(|it| it.0 == place);
            if !rest.all(|it| it.1 == usual) {
                let name = self.program.schema.domain(places).member_name(place);
                text += &format!(",{name}:{}", self.value(field, value));
            }
        }
        Some(text)
    }

    /// The values of a field, each with the square or member that it belongs to; the one value of a field about the game
    /// belongs to none.
    fn values(&self, field: &Field) -> Vec<(i64, Option<i64>)> {
        let value = |it| self.facts.get_raw(it, field.input.attr);
        match field.about {
            About::Game => vec![(0, value(GAME))],
            About::Pieces => self.by_square.iter().map(|it| (it.0, value(it.1))).collect(),
            About::Members(domain) => {
                let members = 0..self.program.schema.domain(domain).size() as u32;
                members.map(|it| (i64::from(it), value(EntityId(it)))).collect()
            }
        }
    }

    /// The text of a value; of a piece it is its square.
    fn value(&self, field: &Field, value: Option<i64>) -> String {
        let Some(raw) = value else { return "-".into() };
        if Some(field.ty) != self.contract.entity_type(self.program) {
            return self.program.value_name(field.ty, raw);
        }
        let square = entity_of(raw).and_then(|it| self.facts.get_raw(it, self.contract.at.attr));
        let squares = self.program.schema.domain(self.contract.board.domain);
        square.map_or_else(|| "-".into(), |it| squares.member_name(it))
    }
}

/// The board in FEN order, last rank first: for each square that is not empty the text that a FEN has for it (a letter
/// with its signs, a stack in parentheses, the sign of a wall). Points are one row.
pub fn cells(world: &mut World, contract: &Contract) -> Vec<Vec<Option<String>>> {
    let cells = Cells::new(world, contract);
    let cell = |square: i64| {
        let mut text = String::new();
        cells.push(square, cells.pieces_from(square), &mut text);
        (!text.is_empty()).then_some(text)
    };
    let files = i64::from(contract.board.files);
    let ranks = (0..i64::from(contract.board.ranks)).rev();
    ranks.map(|rank| (rank * files..(rank + 1) * files).map(cell).collect()).collect()
}

/// The board, to write its squares.
struct Cells<'a> {
    contract: &'a Contract,
    facts: &'a Session,
    letters: Arc<Letters>,
    by_square: Vec<(i64, EntityId)>,
}

impl<'a> Cells<'a> {
    fn new(world: &'a mut World, contract: &'a Contract) -> Self {
        let letters = letters_of(world, contract);
        let by_square = stack::pieces_by_square(world, contract);
        Self { contract, facts: world.facts(), letters, by_square }
    }

    /// The pieces on a square and on those after it.
    fn pieces_from(&self, square: i64) -> &[(i64, EntityId)] {
        &self.by_square[self.by_square.partition_point(|it| it.0 < square)..]
    }

    /// Writes what is on a square: nothing if it is empty. `pieces` begins with those on it. Returns the pieces on
    /// the squares after it.
    fn push<'p>(
        &self,
        square: i64,
        pieces: &'p [(i64, EntityId)],
        text: &mut String,
    ) -> &'p [(i64, EntityId)] {
        let count = pieces.iter().take_while(|it| it.0 == square).count();
        let (here, after) = pieces.split_at(count);
        if let Some(wall) = self.contract.walls.as_ref().filter(|it| self.is_walled(it, square)) {
            text.push(wall.sign);
        } else if self.contract.stack.is_some() && here.len() > 1 {
            text.push(stack::OPEN);
            here.iter().for_each(|it| self.push_piece(it.1, text));
            text.push(stack::CLOSE);
        } else if let Some((_, piece)) = here.last() {
            self.push_piece(*piece, text);
        }
        after
    }

    fn is_walled(&self, wall: &Walls, square: i64) -> bool {
        entity_of(square).is_some_and(|it| self.facts.get_raw(it, wall.input.attr) == Some(1))
    }

    /// Writes the letter of a piece with the signs that belong to it; `?` for a piece without a kind or a side, or of a
    /// kind that the rules give no letter.
    fn push_piece(&self, piece: EntityId, text: &mut String) {
        let raw = |it: AttrInput| self.facts.get_raw(piece, it.attr);
        let marks = || self.contract.marks.iter().filter(|it| raw(it.input) == Some(1));
        text.extend(marks().filter(|it| it.is_prefix).map(|it| it.sign));
        let (kind, side) = (raw(self.contract.kind), raw(self.contract.color));
        match kind.zip(side).and_then(|(kind, side)| self.letters.letter(kind, side)) {
            Some((sign, letter)) => text.extend([sign, letter]),
            None => text.push('?'),
        }
        text.extend(marks().filter(|it| !it.is_prefix).map(|it| it.sign));
    }

    /// The first field of a FEN for a board of squares, without the pieces in hand.
    fn rows(&self) -> String {
        let (files, ranks) = (self.contract.board.files, self.contract.board.ranks);
        let mut text = String::new();
        for rank in (0..i64::from(ranks)).rev() {
            let first = rank * i64::from(files);
            let (mut pieces, mut empty) = (self.pieces_from(first), 0);
            let mut cell = String::new();
            for square in first..first + i64::from(files) {
                pieces = self.push(square, pieces, &mut cell);
                if cell.is_empty() {
                    empty += 1;
                } else {
                    push_run(&mut text, &mut empty);
                    text.push_str(&cell);
                    cell.clear();
                }
            }
            push_run(&mut text, &mut empty);
            if rank > 0 {
                text.push('/');
            }
        }
        text
    }
}

fn placement(world: &mut World, contract: &Contract) -> String {
    let mut text = match contract.board.is_grid {
        true => Cells::new(world, contract).rows(),
        false => {
            points::write(&world.program().clone(), contract, &cells(world, contract).concat())
        }
    };
    if contract.has_pocket() {
        let letters = letters_of(world, contract);
        let hand = in_hand(world.facts(), contract, &letters);
        let sleeps = |it: &u16| world.program().sleeps(*it, world.facts());
        if hand != "[]" || !contract.pocket_files.iter().all(sleeps) {
            text += &hand;
        }
    }
    text
}

/// The pieces in hand (those without a square), `[NQp]`: one side after the other, in the order in which rules declare
/// their kinds.
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

/// Writes the number of empty squares since the last piece, if there are any, and sets it to 0.
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
