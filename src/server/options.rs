//! The options of a new game, and what was played of it elsewhere.

use super::core::{Control, Past, Recorded, Seat};

/// The options of a new game; what is not described here is as in [`Setup`](super::core::Setup).
#[derive(Debug, Clone, Default)]
pub struct GameOptions {
    pub game: String,
    pub presets: Vec<String>,
    pub fen: Option<String>,
    pub facts: Option<String>,
    /// The hash of the rule texts to play by: uploaded ones, or those of this program or of an earlier version of it.
    /// `None` means those of this program.
    pub rules: Option<String>,
    pub clock: Option<Control>,
    pub open: bool,
    pub chat: bool,
    pub listed: bool,
    pub rated: bool,
    /// The id of the tournament that it is a game of.
    pub tournament: Option<String>,
    /// The seats that are taken from the start, by side.
    pub seats: Vec<(usize, Seat)>,
    /// What was played of it elsewhere.
    pub import: Import,
}

/// What was played of a game elsewhere: nothing, unless it is imported.
#[derive(Debug, Clone, Default)]
pub struct Import {
    pub past: Vec<Past>,
    /// How it ended, if it has.
    pub ended: Option<Recorded>,
}
