//! Boards without files and ranks in a FEN: the pieces with the names of their points, `a1:M,d7:m`, or `-`.

use super::super::super::contract::Contract;
use super::super::letters::Letters;
use super::parts::{self, FenError, Part, Placed};
use crate::rules::Program;

/// Reads the pieces that stand on points.
pub(super) fn read(
    program: &Program,
    contract: &Contract,
    letters: &Letters,
    part: Part<'_>,
    text: &str,
) -> Result<Vec<Placed>, FenError> {
    let points = program.schema.domain(contract.board.domain);
    let mut pieces = Vec::new();
    let mut offset = 0;
    for word in text.split(',').filter(|_| text != "-") {
        let known = || "POINT:PIECE, divided by commas, or -";
        let (name, piece) =
            word.split_once(':').ok_or_else(|| part.error(offset, format!("{word:?}"), known()))?;
        let point = points.member(name).ok_or_else(|| {
            part.error(offset, format!("{name:?}"), "the name of a point of the board")
        })?;
        let mut rest = piece;
        let place = offset + name.len() + 1;
        let placed = parts::piece(contract, letters, &mut rest).ok_or_else(|| {
            part.error(place, format!("{piece:?}"), format!("a piece ({})", letters.all()))
        })?;
        if !rest.is_empty() {
            return Err(part.error(place, format!("{piece:?}"), "one piece after the name"));
        }
        pieces.push(Placed { square: Some(point), ..placed });
        offset += word.len() + 1;
    }
    Ok(pieces)
}

/// Writes them, in the order in which the rules name the points.
pub(super) fn write(program: &Program, contract: &Contract, cells: &[Option<String>]) -> String {
    let points = program.schema.domain(contract.board.domain);
    let pieces = (0..).zip(cells).filter_map(|(point, piece)| {
        Some(format!("{}:{}", points.member_name(point), piece.as_ref()?))
    });
    let pieces: Vec<String> = pieces.collect();
    if pieces.is_empty() { "-".into() } else { pieces.join(",") }
}
