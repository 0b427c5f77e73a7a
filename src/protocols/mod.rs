//! Protocols that existing programs speak: UCI and the Chess Engine Communication Protocol (xboard).
//!
//! Each adapter takes a client's lines one by one and hands back the lines of its answer. It neither reads them from
//! anywhere nor prints, so tests drive whole conversations; the only files that it reads are rule files that a
//! client names (UCI's `VariantPath`). Their common parts are here too: the game being played (`table`) and the letters
//! in which clients write its pieces (`dialect`). For a move, the opponent (`opponent`) thinks within the clock and the
//! other limits that the client gives, and within the budget of its level. The reader of the lines may end a search when
//! a line comes that wants it (`interrupt`).

mod dialect;
mod interrupt;
mod table;
mod uci;
mod xboard;

pub use dialect::{Dialect, DialectError};
pub use interrupt::{Ending, Interrupt};
pub use table::{EngineGame, TableError, Thought};
pub use uci::Uci;
pub use xboard::Xboard;

/// Whether the conversation goes on after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoesOn,
    Quit,
}
