//! Protocols that existing programs speak: UCI and the Chess Engine Communication Protocol (xboard).
//!
//! Each adapter takes a client's lines one by one and hands back the lines of its answer. It does no input or output, so
//! that tests drive whole conversations; the only files that it reads are rule files that a client names (UCI's
//! `VariantPath`). The adapters share the game being played (`table`) and the letters in which clients write its pieces
//! (`dialect`). The opponent (`opponent`) searches within the clock and the other limits that the client gives, and within
//! the budget of its level. The reader of the client's lines can end the search (`interrupt`).

mod dialect;
mod interrupt;
mod table;
mod uci;
mod xboard;

pub use dialect::{Dialect, DialectError};
pub use interrupt::{Ending, Interrupt};
pub use table::{EngineGame, TableError, Thought, Wanted};
pub use uci::Uci;
pub use xboard::Xboard;

/// Whether the conversation goes on after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoesOn,
    Quit,
}
