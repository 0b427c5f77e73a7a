//! Parses a FEN; nothing here touches facts.

use crate::facts::{Domain, Shape, article};
use crate::rules::{Type, plural};

use super::super::super::finder::{About, CountersForm, Field};
use super::super::chess::Fields;
use super::super::letters::{LeadingPiece, side_signs};
use super::parts::{FenError, FenField, FenRules, MAX_COUNTER, Part, Parts, Placed, number, piece};
use super::{counters, points, stack};

/// Maximum number of members of a domain that an error lists.
const FEW: usize = 8;

/// The contents of a FEN as read: whether they can be facts is checked later.
#[derive(Debug)]
pub(super) struct Position {
    /// Those in hand, then the others by square, lowest first.
    pub(super) pieces: Vec<Placed>,
    /// The squares that are taken out of the board.
    pub(super) walls: Vec<i64>,
    pub(super) turn: i64,
    /// The number of each side, if the text has them.
    pub(super) counters: Option<counters::Numbers>,
    /// The fields that only some families have.
    pub(super) family: Fields,
    pub(super) fullmove: i64,
    /// The value of each field that the game declares.
    pub(super) further: Vec<Option<FieldValue>>,
}

/// The value of a further field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldValue {
    /// For the game, or for all pieces that are not named; `None` is `-`.
    pub(super) value: Option<i64>,
    /// For the pieces on named squares.
    pub(super) named: Vec<(i64, Option<i64>)>,
}

pub(super) fn position(rules: FenRules<'_>, text: &str) -> Result<Position, FenError> {
    let contract = rules.contract;
    let mut parts = Parts { rules, text, words: words(text), next: 0 };
    let mut walls = Vec::new();
    let pieces = placement(parts.required(FenField::Placement)?, &mut walls)?;
    let turn = turn(parts.required(FenField::Turn)?)?;
    for _ in 0..contract.dashes {
        let part = parts.required(FenField::Further)?;
        if part.text != "-" {
            return Err(part.refuse("-"));
        }
    }
    let mut family = contract.notation.read(&mut parts)?;
    let counters = counters::read(&mut parts, CountersForm::Plain)?;
    contract.notation.read_clock(&mut parts, &mut family)?;
    let mut position = Position {
        pieces,
        walls,
        turn,
        counters,
        family,
        fullmove: 1,
        further: vec![None; contract.fields.len()],
    };
    if contract.fullmove.is_some()
        && let Some(part) = parts.number(FenField::MoveNumber)
    {
        position.fullmove = number(part, part.text, 0)?;
    }
    if let Some(numbers) = counters::read(&mut parts, CountersForm::Signed)? {
        position.counters = Some(numbers);
    }
    while let Some(part) = parts.take(FenField::Further) {
        further(part, &mut position)?;
    }
    Ok(position)
}

/// A further field, `KEY=VALUE` or `KEY=VALUE,PLACE:VALUE,...`: one that the game declares, and at most once.
fn further(part: Part<'_>, position: &mut Position) -> Result<(), FenError> {
    let contract = part.rules.contract;
    let (key, text) = part.text.split_once('=').unwrap_or((part.text, ""));
    let mut fields = contract.fields.iter().zip(&mut position.further);
    let Some((field, place)) = fields.find(|it| it.0.key == key && it.1.is_none()) else {
        return Err(part.refuse(open_fields(&contract.fields, &position.further)));
    };
    // A field of the game has one value, which may contain commas.
    let (first, rest) = match text.split_once(',').filter(|_| field.about != About::Game) {
        Some((first, rest)) => (first, Some(rest)),
        None => (text, None),
    };
    let mut offset = key.len() + 1;
    if field.about != About::Game && first.contains(':') {
        let expected = format!("the usual value, or -, before what differs: `{key}=-,{first}`");
        return Err(part.error(offset, format!("{first:?}"), expected));
    }
    let value = match Some(field.ty) == contract.entity_type(part.rules.program) {
        true => piece_on(&position.pieces, part, (first, offset))?,
        false => value_of(field, part, first, offset)?,
    };
    offset += first.len() + 1;
    let mut named = Vec::new();
    for text in rest.into_iter().flat_map(|it| it.split(',')) {
        let value = named_value(field, (&position.pieces, &named), part, (text, offset))?;
        named.push(value);
        offset += text.len() + 1;
    }
    *place = Some(FieldValue { value, named });
    Ok(())
}

/// The further fields that may still follow, for an error message.
fn open_fields(fields: &[Field], found: &[Option<FieldValue>]) -> String {
    let open = fields.iter().zip(found).filter(|it| it.1.is_none());
    let value = |it: &Field| if it.ty == Type::Int { "N" } else { "VALUE" };
    let fields: String = open.map(|it| format!("{}={} or ", it.0.key, value(it.0))).collect();
    format!("{fields}the end")
}

/// `PLACE:VALUE` in the list of a field. The place is a square with pieces, which may be named once for each of them,
/// or, where the field is about members of a domain, a member, which may be named once.
fn named_value(
    field: &Field,
    (pieces, named): (&[Placed], &[(i64, Option<i64>)]),
    part: Part<'_>,
    (text, offset): (&str, usize),
) -> Result<(i64, Option<i64>), FenError> {
    let (place, value) = text.split_once(':').unwrap_or((text, ""));
    let is_about_pieces = field.about == About::Pieces;
    let FenRules { program, contract, .. } = part.rules;
    let places = program.schema.domain(match field.about {
        About::Members(domain) => domain,
        About::Pieces | About::Game => contract.board.domain,
    });
    let name = places.name.to_lowercase();
    let times = |it: i64| match is_about_pieces {
        true => pieces.iter().filter(|piece| piece.square == Some(it)).count(),
        false => 1,
    };
    let found = places.member(place);
    if found.is_some_and(|it| times(it) == 0) {
        let expected = format!("a {name} that a piece stands on");
        return Err(part.error(offset, format!("{place:?}"), expected));
    }
    let is_open = |it: &i64| named.iter().filter(|known| known.0 == *it).count() < times(*it);
    let at = found.filter(is_open).ok_or_else(|| {
        let expected = match contract.stack.filter(|_| is_about_pieces) {
            None => format!("a {name}, each once, and `:VALUE` after it"),
            Some(_) => format!("a {name}, once for each piece on it, and `:VALUE` after it"),
        };
        part.error(offset, format!("{place:?}"), expected)
    })?;
    Ok((at, value_of(field, part, value, offset + place.len() + 1)?))
}

/// The square of a piece as a value of a further field; `-` is none.
fn piece_on(
    pieces: &[Placed],
    part: Part<'_>,
    (text, at): (&str, usize),
) -> Result<Option<i64>, FenError> {
    if text == "-" {
        return Ok(None);
    }
    let is_occupied = |it: &i64| pieces.iter().any(|piece| piece.square == Some(*it));
    let square = part.rules.squares().member(text).filter(is_occupied).map(Some);
    square
        .ok_or_else(|| part.error(at, format!("{text:?}"), "a square that a piece stands on, or -"))
}

/// A value of a further field; `-` is none.
fn value_of(field: &Field, part: Part<'_>, text: &str, at: usize) -> Result<Option<i64>, FenError> {
    let domain = match (text, field.ty) {
        ("-", _) => return Ok(None),
        (_, Type::Domain(id)) => part.rules.program.schema.domain(id),
        _ => {
            let is_fit = |it: &i64| (-MAX_COUNTER..=MAX_COUNTER).contains(it);
            let value = text.parse().ok().filter(is_fit).map(Some);
            let expected = || format!("a number from -{MAX_COUNTER} to {MAX_COUNTER}, or -");
            return value.ok_or_else(|| part.error(at, format!("{text:?}"), expected()));
        }
    };
    let member = domain.member(text).map(Some);
    member.ok_or_else(|| part.error(at, format!("{text:?}"), values(domain)))
}

/// The values that a field with members of a domain may have, for messages: the members' names, if they are few.
fn values(domain: &Domain) -> String {
    let name = domain.name.to_lowercase();
    match &domain.shape {
        Shape::Members(names) if names.len() <= FEW => format!("{}, or -", names.join(", ")),
        _ => format!("{} {name}, or -", article(&name)),
    }
}

/// The words of a text with their offsets.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut end = 0;
    let words = text.split_ascii_whitespace();
    words
        .map(|word| {
            let offset = end + text[end..].find(word).unwrap_or_default();
            end = offset + word.len();
            (offset, word)
        })
        .collect()
}

fn placement(part: Part<'_>, walls: &mut Vec<i64>) -> Result<Vec<Placed>, FenError> {
    let contract = part.rules.contract;
    let board = contract.board;
    let (rows, hand) = match part.text.find('[').filter(|_| contract.has_pocket()) {
        Some(at) => (&part.text[..at], Some(at)),
        None => (without_empty_hand(part.text), None),
    };
    let mut pieces = Vec::new();
    let mut offset = 0;
    let mut rank = i64::from(board.ranks);
    if !board.is_grid {
        pieces = points::read(part, rows)?;
        rank = 0;
    }
    for row in rows.split('/').filter(|_| board.is_grid) {
        rank -= 1;
        if rank < 0 {
            return Err(part.error(offset, "one more rank", format!("{} ranks", board.ranks)));
        }
        read_rank(part, (offset, row), rank, (&mut pieces, walls))?;
        offset += row.len() + 1;
    }
    if rank > 0 {
        let found = plural(rows.split('/').count(), "rank");
        return Err(part.error(rows.len(), found, format!("{} ranks", board.ranks)));
    }
    if let Some(at) = hand {
        in_hand(part, at, &mut pieces)?;
    }
    pieces.sort_by_key(|it: &Placed| it.square);
    Ok(pieces)
}

/// Other programs write an empty hand where a game has none, and so does a game in which pieces came into hand before.
fn without_empty_hand(text: &str) -> &str {
    ["[]", "[-]"].iter().find_map(|it| text.strip_suffix(it)).unwrap_or(text)
}

/// The pieces in hand, `[QNp]`, from the bracket on; `[-]` is an empty hand, as other programs write it.
fn in_hand(part: Part<'_>, start: usize, pieces: &mut Vec<Placed>) -> Result<(), FenError> {
    let letters = part.rules.letters;
    let text = &part.text[start + 1..];
    let Some(inside) = text.strip_suffix(']') else {
        return Err(part.error(part.text.len(), "the end", "`]` after the pieces in hand"));
    };
    let mut rest = if inside == "-" { "" } else { inside };
    while let Some(sign) = rest.chars().next() {
        let at = start + 1 + inside.len() - rest.len();
        let LeadingPiece { kind, side, length } = letters.leading_piece(rest).ok_or_else(|| {
            let known = format!("{} or `]`", letters.piece());
            part.error(at, format!("{sign:?}"), known)
        })?;
        pieces.push(Placed { square: None, kind, side, marks: 0 });
        rest = &rest[length..];
    }
    Ok(())
}

/// Reads one rank: pieces and stacks, walls, and runs of empty squares.
fn read_rank(
    part: Part<'_>,
    (start, row): (usize, &str),
    rank: i64,
    (pieces, walls): (&mut Vec<Placed>, &mut Vec<i64>),
) -> Result<(), FenError> {
    let contract = part.rules.contract;
    let board = contract.board;
    let files = i64::from(board.files);
    let end = start + row.len();
    let mut file = 0;
    let mut rest = row;
    while let Some(sign) = rest.chars().next() {
        let at = end - rest.len();
        if sign.is_ascii_digit() {
            file += read_run(part, &mut rest, at, files - file)?;
            continue;
        }
        if contract.walls.is_some_and(|it| sign == it.sign && file < files) {
            walls.push(board.square(file, rank));
            file += 1;
            rest = &rest[sign.len_utf8()..];
            continue;
        }
        let before = rest;
        let standing = read_standing(part, &mut rest, sign, end)?;
        if file >= files {
            let text = &before[..before.len() - rest.len()];
            let found = match text.len() == sign.len_utf8() {
                true => format!("{sign:?}"),
                false => format!("{text:?}"),
            };
            return Err(part.error(at, found, format!("{files} squares a rank")));
        }
        let square = Some(board.square(file, rank));
        pieces.extend(standing.into_iter().map(|it| Placed { square, ..it }));
        file += 1;
    }
    if file < files {
        let found = format!("{file} squares in the rank");
        return Err(part.error(end, found, format!("{files}")));
    }
    Ok(())
}

/// Reads the number of a run of empty squares, for which a rank has that much room left.
fn read_run(part: Part<'_>, rest: &mut &str, at: usize, room: i64) -> Result<i64, FenError> {
    let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let (run, after) = rest.split_at(digits);
    *rest = after;
    let empty = run.parse().ok().filter(|it| (1..=room).contains(it) && !run.starts_with('0'));
    empty.ok_or_else(|| part.error(at, run, format!("a run of at most {room} empty squares")))
}

/// Reads the pieces on one square: a stack or a single piece, which begins with `sign`. The rank ends at the offset `end`.
fn read_standing(
    part: Part<'_>,
    rest: &mut &str,
    sign: char,
    end: usize,
) -> Result<Vec<Placed>, FenError> {
    let FenRules { contract, letters, .. } = part.rules;
    let start = end - rest.len();
    if sign == stack::OPEN && contract.stack.is_some() {
        return stack::read(part.rules, rest).ok_or_else(|| {
            let known = format!("{} or `{}`", letters.piece(), stack::CLOSE);
            let odd = rest.chars().next().map_or("the end".into(), |it| format!("{it:?}"));
            part.error(end - rest.len(), odd, known)
        });
    }
    let piece = piece(part.rules, rest).ok_or_else(|| {
        let known = format!("{} or a number of empty squares", letters.piece());
        part.error(start, format!("{sign:?}"), known)
    })?;
    Ok(vec![piece])
}

fn turn(part: Part<'_>) -> Result<i64, FenError> {
    let signs = side_signs(part.rules.program.schema.domain(part.rules.contract.sides));
    let found = signs.iter().position(|it| part.text == it);
    found.map(|it| it as i64).ok_or_else(|| part.refuse(signs.join(" or ")))
}
