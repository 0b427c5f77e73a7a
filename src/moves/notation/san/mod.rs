//! Moves as SAN (standard algebraic notation), written and read for every game.
//!
//! Actions that declare a `san` template are written by it. Other actions with columns named `piece` and `to` (and perhaps
//! `promotion`) have the usual form on boards of files and ranks. All others are written as in UCI, and so are moves that
//! would be ambiguous. In chess, writing gives the exact FIDE form. Reading accepts common variants: missing
//! or superfluous `+ # ! ?`, `x`, `e.p.`, too much disambiguation, `e8Q` and `e8(Q)`, zeros in castling, and UCI.

mod read;
mod text;
mod write;

pub use read::parse_san;
pub use write::{SanDraft, san_listing, to_san};
