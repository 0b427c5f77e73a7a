//! The usual form of SAN as data: piece, origin, destination, what the piece becomes. Nothing here knows the
//! position.

use crate::facts::Domain;

use super::super::super::finder::Board;
use super::super::MoveFault;
use super::super::chess::BECOMES_EXPECTED;
use super::super::letters::Letters;

/// A parsed text in the usual form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SanParts {
    /// `None` without a letter, which means a pawn-like piece.
    pub(super) kind: Option<i64>,
    pub(super) file: Option<i64>,
    pub(super) rank: Option<i64>,
    pub(super) to: i64,
    pub(super) becomes: Option<i64>,
    /// Whether `x` or `:` precedes the destination.
    pub(super) captures: bool,
}

impl SanParts {
    /// Whether it is written like the move of a pawn-like piece without a capture: as its destination alone.
    pub(super) fn is_destination_alone(&self) -> bool {
        self.kind.is_none() && self.file.is_none() && !self.captures
    }
}

/// Reads the usual form. Offsets of errors count from the start of `text`, which has no annotations.
pub(super) fn parse_usual(
    text: &str,
    board: Board,
    squares: &Domain,
    letters: &Letters,
) -> Result<SanParts, MoveFault> {
    let fault = |offset, expected: &str| MoveFault::Malformed { offset, expected: expected.into() };
    let end = text.rfind(|it: char| it.is_ascii_digit()).map(|it| it + 1);
    let end = end.ok_or_else(|| fault(text.len(), "a square"))?;
    let becomes = becomes(&text[end..], letters).map_err(|()| fault(end, BECOMES_EXPECTED))?;
    let (start, to) = destination(&text[..end], squares).map_err(|at| fault(at, "a square"))?;
    let (kind, origin) = match letters.leading_in_moves(text) {
        Some((kind, length)) => (Some(kind), length),
        None if text.starts_with(|it: char| it.is_ascii_uppercase()) => {
            return Err(fault(0, &format!("a piece ({})", letters.all_in_moves())));
        }
        None => (None, 0),
    };
    let way = text.get(origin..start).ok_or_else(|| fault(0, "a square"))?;
    let (file, rank) =
        origin_of(way, board).map_err(|at| fault(origin + at, "a file, a rank, x or a square"))?;
    let captures = way.ends_with(['x', ':']);
    Ok(SanParts { kind, file, rank, to, becomes, captures })
}

/// `=Q`, `/Q`, `(Q)`, `Q` or nothing.
fn becomes(text: &str, letters: &Letters) -> Result<Option<i64>, ()> {
    let letter = text.trim_start_matches(['=', '/', '(']).trim_end_matches(')');
    if text.is_empty() { Ok(None) } else { letters.kind(letter).map(Some).ok_or(()) }
}

/// The square at the end of the text, and where it starts. `Err` is where one was expected: at what is written like a
/// square but is not on the board, else at the start.
fn destination(text: &str, squares: &Domain) -> Result<(usize, i64), usize> {
    let start = text.rfind(|it: char| it.is_ascii_lowercase()).ok_or(0_usize)?;
    let is_spelled = text[start + 1..].bytes().all(|it| it.is_ascii_digit());
    let found = squares.member(&text[start..]).map(|to| (start, to));
    found.ok_or(if is_spelled { start } else { 0 })
}

/// The origin between piece and destination: a file, a rank, both, none; then `x`, `:`, `-`.
fn origin_of(text: &str, board: Board) -> Result<(Option<i64>, Option<i64>), usize> {
    let mut rest = text;
    let mut file = None;
    let mut rank = None;
    if let Some(letter) = rest.bytes().next().filter(u8::is_ascii_lowercase) {
        let number = i64::from(letter - b'a');
        if number < i64::from(board.files) {
            file = Some(number);
            rest = &rest[1..];
        }
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let number = rest[..digits].parse::<i64>().ok();
        let number = number.filter(|it| (1..=i64::from(board.ranks)).contains(it));
        rank = Some(number.ok_or(text.len() - rest.len())? - 1);
        rest = &rest[digits..];
    }
    match rest {
        "" | "x" | ":" | "-" => Ok((file, rank)),
        _ => Err(text.len() - rest.len()),
    }
}
