//! The options of a new game, and what was played of it elsewhere.

use super::core::{Past, Recorded, Seat, Setup};

/// The options of a new game.
#[derive(Debug, Clone, Default)]
pub struct GameOptions {
    /// The names of the sides are not needed: the rules have them.
    pub setup: Setup,
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
