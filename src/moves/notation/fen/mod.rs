//! Positions as FEN: piece placement, side, castling rights, en passant, clocks, and what a game
//! declares beyond.
//!
//! **What rules declare**, each a line `.meta fen "..."`: `shredder` (castling in file letters),
//! `KEY=RELATION` (one more field: of an attribute of the game `KEY=VALUE`; of pieces `KEY=VALUE,SQUARE:VALUE`,
//! the value of all pieces on the board but those that are named after it, `-` for none), `passed RELATION`
//! (the passed square may be followed by the square of the piece that passed it), `pocket` (pieces that stand
//! nowhere are in hand, and follow the board in brackets: `[QNp]`), `mark SIGN=RELATION` (a flag of pieces, as a
//! sign after their letter: `Q~`), `prefix SIGN=RELATION` (the same before it). Castling rights, the passed
//! square and the counters are there if the rules have them.
//!
//! **Policy for impossible positions.** A position is loaded if its facts can be stated: no royal
//! piece, eleven of a kind, any piece on any rank are all fine. What cannot be a fact is dropped with
//! a [`Warning`]: a castling right with no rook or no castling piece on the home rank, an en passant
//! square that no piece has just passed. The side that is not to move may stand in check; that is a
//! warning too. Text that is not FEN is a [`FenError`], and then nothing has changed; so is a position with
//! rows of a relation `misplaced`, with the sentence of the first.
//!
//! **Castling letters.** `K` and `Q` (the initials of the wings) mean the outermost rook of the
//! wing, a file letter means the rook on that file, both on the side's home rank, which is its
//! enemy's last. If several castling pieces stand there, a rook castles with the one on the file right of
//! the middle (the e-file of eight), or else with the nearest, whichever letter is used.

mod place;
mod read;
mod write;

use std::fmt;

use crate::derive::World;
use crate::rules::Program;

use super::super::contract::{Contract, fen_lines};
use super::letters::Letters;

pub use place::Warning;
pub use write::{cells, write_fen};

/// How castling rights are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CastlingStyle {
    /// `KQkq`; a file letter only where the rook is not the outermost of its wing.
    #[default]
    XFen,
    /// File letters always.
    Shredder,
}

impl CastlingStyle {
    /// The style that a game declares: `.meta fen "shredder"`, else X-FEN.
    pub fn declared(program: &Program) -> Self {
        let shredder = fen_lines(program).any(|it| it == "shredder");
        if shredder { Self::Shredder } else { Self::XFen }
    }
}

/// A field of a FEN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenField {
    Placement,
    Turn,
    Castling,
    EnPassant,
    Clock,
    MoveNumber,
    /// A field that the game declares.
    Further,
    /// All of them together.
    Whole,
}

impl fmt::Display for FenField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Placement => "piece placement",
            Self::Turn => "side to move",
            Self::Castling => "castling",
            Self::EnPassant => "en passant",
            Self::Clock => "half-move clock",
            Self::MoveNumber => "move number",
            Self::Further => "further field",
            Self::Whole => "position",
        })
    }
}

/// Why a text is no FEN for these rules. The position is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", said(self))]
pub struct FenError {
    pub field: FenField,
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    pub found: String,
    pub expected: String,
}

fn said(error: &FenError) -> String {
    let FenError { field, offset, found, expected } = error;
    match field {
        FenField::Whole => format!("the position is none of this game: {found}"),
        _ => format!("{field} of the FEN, byte {offset}: found {found}, expected {expected}"),
    }
}

/// What reading a FEN had to leave out or wonder at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    pub warnings: Vec<Warning>,
}

/// Replaces the pieces and the game's attributes by those of the text.
///
/// Facts of other entities stay, and so do attributes of the game that no FEN tells, but for the
/// count of occurrences, which starts again. Writes are journaled and not committed.
///
/// # Errors
/// The text is no FEN for these rules; nothing has changed.
pub fn read_fen(world: &mut World, contract: &Contract, text: &str) -> Result<Setup, FenError> {
    let letters = Letters::of(world, contract);
    let program = world.program().clone();
    let position = read::position(&program, contract, &letters, text)?;
    let mark = world.mark();
    match place::place(world, contract, &position) {
        Ok(warnings) => Ok(Setup { warnings }),
        Err(error) => {
            world.rollback(mark);
            Err(error)
        }
    }
}
