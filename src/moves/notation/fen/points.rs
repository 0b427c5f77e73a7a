//! Boards without files and ranks in a FEN: the name of each point that is not empty, with what stands there,
//! `a1:M,d7:m`; `-` for an empty board. Where the rules have stacks, several pieces on a point are `a1:(Mm)`.

use super::super::super::contract::Contract;
use super::parts::{self, FenError, Part, Placed};
use super::stack;
use crate::rules::Program;

/// Reads the pieces that stand on points.
pub(super) fn read(part: Part<'_>, text: &str) -> Result<Vec<Placed>, FenError> {
    let (rules, points) = (part.rules, part.rules.squares());
    let has_stacks = rules.contract.stack.is_some();
    let mut pieces: Vec<Placed> = Vec::new();
    let mut offset = 0;
    for word in text.split(',').filter(|_| text != "-") {
        let form = "POINT:PIECE, separated by commas, or -";
        let (name, standing) =
            word.split_once(':').ok_or_else(|| part.error(offset, format!("{word:?}"), form))?;
        let point = points.member(name).ok_or_else(|| {
            part.error(offset, format!("{name:?}"), "the name of a point of the board")
        })?;
        if pieces.iter().any(|it| it.square == Some(point)) {
            return Err(part.error(offset, format!("{name:?} again"), "each point once"));
        }
        let mut rest = standing;
        let place = offset + name.len() + 1;
        let placed = match standing.starts_with(stack::OPEN) && has_stacks {
            true => stack::read(rules, &mut rest),
            false => parts::piece(rules, &mut rest).map(|it| vec![it]),
        };
        let placed = placed.ok_or_else(|| {
            let stack = if has_stacks { ", or two or more in `(` and `)`" } else { "" };
            part.error(place, format!("{standing:?}"), format!("{}{stack}", rules.letters.piece()))
        })?;
        if !rest.is_empty() {
            let one = if has_stacks { "one piece or stack" } else { "one piece" };
            let form = format!("{one} after the name");
            return Err(part.error(place, format!("{standing:?}"), form));
        }
        pieces.extend(placed.into_iter().map(|it| Placed { square: Some(point), ..it }));
        offset += word.len() + 1;
    }
    Ok(pieces)
}

/// Writes the pieces on points, in the order in which the rules declare the points.
pub(super) fn write(program: &Program, contract: &Contract, cells: &[Option<String>]) -> String {
    let points = program.schema.domain(contract.board.domain);
    let pieces = (0..).zip(cells).filter_map(|(point, piece)| {
        Some(format!("{}:{}", points.member_name(point), piece.as_ref()?))
    });
    let pieces: Vec<String> = pieces.collect();
    if pieces.is_empty() { "-".into() } else { pieces.join(",") }
}
