//! Imported games: what was played elsewhere is played again here.
//!
//! Deliberately absent: reading it from a text.

use super::event::LogEntry;
use super::refusal::Refusal;
use super::room::{EVENTS, Room};
use super::rules::{Outcome, Rules};

/// How a game ended that was played elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The side that won, the first or the second; none for a draw.
    pub winner: Option<usize>,
    pub reason: String,
}

/// What was done in a game elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Past {
    /// A turn, in UCI or SAN: its actions, with commas between them.
    Turn(String),
    /// Other presets from then on.
    Presets(Vec<String>),
}

impl<R: Rules> Room<R> {
    /// Does what was done elsewhere before, moves each for the side whose turn it is, and ends the
    /// game as it ended there, if the rules have not ended it.
    ///
    /// # Errors
    /// What is refused, by its number from 0; the room is then of no use any more.
    pub fn lead_in(
        &mut self,
        past: &[Past],
        ended: Option<Recorded>,
    ) -> Result<Vec<LogEntry>, (usize, Refusal)> {
        let mut events = Vec::new();
        for (at, it) in past.iter().enumerate() {
            if self.v() >= EVENTS / 2 {
                return Err((at, Refusal::Full(EVENTS / 2)));
            }
            let by = self.rules().side();
            let done = match it {
                Past::Turn(text) => self.play_turn(&mut events, by, text),
                Past::Presets(presets) => self.set_presets(&mut events, by, presets.clone(), None),
            };
            done.map_err(|it| (at, it))?;
        }
        if let Some(Recorded { winner, reason }) = ended.filter(|_| self.outcome().is_none()) {
            // How the rules call it if this side wins: as if the other had given up.
            let won = winner.map(|it| self.rules_mut().resign(usize::from(it == 0)));
            let outcome = match won {
                Some(Ok(outcome)) => Outcome { reason, ..outcome },
                _ => Outcome { outcome: "draw".into(), reason, winner: None },
            };
            self.end(&mut events, outcome, None, None);
        }
        Ok(events)
    }

    /// Plays the actions of a turn, one after the other. Where a text has a comma of its own, only the rules know it.
    fn play_turn(
        &mut self,
        events: &mut Vec<LogEntry>,
        by: usize,
        text: &str,
    ) -> Result<(), Refusal> {
        let actions = self.rules_mut().actions(text);
        actions.iter().try_for_each(|it| {
            if self.v() >= EVENTS / 2 {
                return Err(Refusal::Full(EVENTS / 2));
            }
            self.play(events, by, it, None, None)
        })
    }
}
