//! Protocols that existing programs speak: UCI and the Chess Engine Communication Protocol (xboard).
//!
//! Each adapter is a function from a line to lines: no input or output happens here, so tests drive
//! whole conversations. What both share is here too: the game on the table and the dialect in which
//! clients write its pieces. Asked for a move, it thinks (`opponent`) for as long as the client's clock allows.

mod dialect;
mod table;
mod uci;
mod xboard;

pub use dialect::{Dialect, DialectError};
pub use table::{EngineGame, TableError, Thought};
pub use uci::Uci;
pub use xboard::Xboard;

/// Whether the conversation goes on after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoesOn,
    Quit,
}
