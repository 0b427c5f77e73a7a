//! Limits on offers and chat, so that the log of a game always has room for moves and for an end.
//!
//! Each side has its own share. An offer is counted together with its answer, a takeback with the moves that
//! it removes, so declining, accepting or playing a move again costs nothing. The counts follow from the log
//! alone.

use super::refusal::{Refusal, Talk};

/// Maximum number of offers by one side until the game reaches a new ply.
const OFFERS: u32 = 20;
/// Maximum number of chat messages by one side until the game reaches a new ply.
const MESSAGES: u32 = 300;
/// Maximum number of events of all sides that are neither moves on the board nor an end.
const ALL: u64 = 6_000;
/// Number of these events that are reserved for the time after the end.
const AFTER: u64 = 300;

/// The use of limits by one side.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    /// Since the game last had a new ply.
    offers: u32,
    messages: u32,
    /// In events, since the game began.
    all: u64,
}

impl Talk {
    /// Maximum number of events that it leads to in a game of that many sides.
    fn events(self, sides: usize) -> u64 {
        match self {
            Self::Offer => sides.max(2) as u64,
            Self::Takeback { moves } => 1 + moves as u64,
            Self::Message => 1,
        }
    }
}

/// The use of limits by all sides of a game.
#[derive(Debug)]
pub(super) struct Ledger {
    sides: Vec<Used>,
    /// The greatest number of moves reached so far.
    furthest: usize,
    /// Whether the game is over, so that no new ply follows.
    is_over: bool,
}

impl Ledger {
    pub(super) fn new(sides: usize) -> Self {
        Self { sides: vec![Used::default(); sides], furthest: 0, is_over: false }
    }

    /// Checks that a side has room for one more offer, takeback or message.
    ///
    /// # Errors
    /// The side has none, until the next new ply or for the rest of the game.
    pub(super) fn admits(&self, side: usize, what: Talk) -> Result<(), Refusal> {
        let used = self.sides.get(side).copied().unwrap_or_default();
        let share = ALL / self.sides.len().max(1) as u64;
        let is_game_full = used.all + what.events(self.sides.len()) > share;
        let is_ply_full = match what {
            Talk::Offer => used.offers >= OFFERS,
            Talk::Message => used.messages >= MESSAGES,
            Talk::Takeback { .. } => false,
        };
        let when = match (is_game_full, is_ply_full) {
            (false, false) => return Ok(()),
            (false, true) if !self.is_over => "before the next move",
            _ => "in this game",
        };
        Err(Refusal::TooMany { what, when })
    }

    /// Counts one more offer, takeback or message.
    pub(super) fn add(&mut self, side: usize, what: Talk) {
        let events = what.events(self.sides.len());
        let Some(used) = self.sides.get_mut(side) else { return };
        used.all += events;
        match what {
            Talk::Offer => used.offers += 1,
            Talk::Message => used.messages += 1,
            Talk::Takeback { .. } => {}
        }
    }

    /// Releases the reserve when the game is over, to agree on another game.
    pub(super) fn release_reserve(&mut self) {
        self.is_over = true;
        let sides = self.sides.len().max(1) as u64;
        for used in &mut self.sides {
            *used = Used { all: used.all.min((ALL - AFTER) / sides), ..Used::default() };
        }
    }

    /// Records the number of moves that the game has now.
    pub(super) fn set_ply(&mut self, ply: usize) {
        if ply > self.furthest {
            self.furthest = ply;
            for used in &mut self.sides {
                (used.offers, used.messages) = (0, 0);
            }
        }
    }
}
