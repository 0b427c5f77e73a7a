//! Protocols that existing programs speak: UCI and the Chess Engine Communication Protocol (xboard).
//!
//! Each adapter is a function from a line to lines: no input or output happens here, so tests drive
//! whole conversations. Their common parts are here too: the game being played (`table`) and the letters in
//! which clients write its pieces (`dialect`). For a move, the opponent (`opponent`) thinks for as long as
//! the client's clock allows.

mod dialect;
mod table;
mod uci;
mod xboard;

pub use dialect::{Dialect, DialectError};
pub use table::{EngineGame, TableError, Thought};
pub use uci::Uci;
pub use xboard::Xboard;

/// Whether the session goes on after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoesOn,
    Quit,
}
