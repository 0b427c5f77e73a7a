//! Moves as SAN (standard algebraic notation), written and read for every game.
//!
//! Actions with columns named `piece` and `to` (and perhaps `promotion`) have the usual form; other
//! actions are written by their `san` template, or as in UCI if they declare none. Writing gives the exact
//! FIDE form. Reading accepts common variants: missing or superfluous `+ # ! ?`, `x`, `e.p.`, too much
//! disambiguation, `e8Q` and `e8(Q)`, zeros in castling, and UCI.

mod read;
mod text;
mod write;

pub use read::parse_san;
pub use write::{SanDraft, san_listing, to_san};
