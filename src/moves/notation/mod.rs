//! Notation, read and written: moves as UCI and SAN, positions as FEN, games as PGN.
//!
//! Everything is driven by the roles of the contract and by the templates of the actions, so one
//! reader and one writer serve every game.

pub mod chess;
mod fen;
pub(super) mod letters;
mod pgn;
mod read_letters;
mod san;
mod uci;

use super::action::Move;

pub use chess::{FenStyle, Oddity, Roles};
pub(super) use fen::rows_as_text;
pub use fen::{
    FenError, FenField, NamedField, Setup, Warning, cells, misplaced, pieces_by_square, read_fen,
    read_turn, split_turn, write_fen, write_turn,
};
pub use pgn::{FirstMove, PgnError, PgnFault, PgnGame, PgnMove, PgnReader, PgnResult};
pub use read_letters::{LetterFault, check_letters, letter_of};
pub use san::{SanDraft, parse_san, san_listing, to_san};
pub use uci::{listing, open_listing, parse_uci, to_uci};

/// Why a text is not a move here. The position is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", shown(.text))]
pub struct MoveError {
    /// The text as it was given, without spaces around it; offsets count from its start.
    pub text: String,
    /// What is wrong with it.
    pub reason: MoveFault,
}

/// What is wrong with a move's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum MoveFault {
    /// The text does not have the form of any action.
    #[error("malformed at byte {offset}, expected {expected}")]
    Malformed { offset: usize, expected: String },
    /// The side to move has no such piece on that square.
    #[error("there is no such piece")]
    NoSuchPiece,
    /// More than one legal move may be meant; their full texts.
    #[error("ambiguous, it may mean {}", candidates.join(", "))]
    Ambiguous { candidates: Vec<String> },
    /// A capture by a pawn-like piece that is written like a move without capture; the full texts.
    #[error("it captures, which is to be written: {}", written.join(", "))]
    Capture { written: Vec<String> },
    /// The moves that may have been meant, the likeliest first; the rules can explain why each is not legal.
    #[error("not legal here")]
    Illegal { candidates: Vec<Move> },
    /// The turn is over before this action.
    #[error("the turn is over before it")]
    NextTurn,
    /// The game is over, so no move is legal.
    #[error("the game is over")]
    Over,
}

fn shown(text: &str) -> &str {
    if text.is_empty() { "an empty text" } else { text }
}

impl MoveError {
    fn new(text: &str, reason: MoveFault) -> Self {
        Self { text: text.trim().into(), reason }
    }

    /// The moves that may have been meant, the likeliest first.
    pub fn candidates(&self) -> &[Move] {
        match &self.reason {
            MoveFault::Illegal { candidates } => candidates,
            _ => &[],
        }
    }

    /// The move that was most likely meant, to explain why it is not legal.
    pub fn candidate(&self) -> Option<&Move> {
        self.candidates().first()
    }
}
