//! Imported games: games played elsewhere are replayed here.
//!
//! Deliberately absent: parsing the records (`transcript`).

use super::event::LogEntry;
use super::refusal::Refusal;
use super::room::{EVENTS, Room};
use super::rules::{Outcome, Rules};
pub use crate::presets::Past;

/// How a game ended that was played elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The side that won, the first or the second; none for a draw.
    pub winner: Option<usize>,
    pub reason: String,
}

impl<R: Rules> Room<R> {
    /// Replays a record, each turn for the side to move, and ends the game with the recorded result, if the
    /// rules have not ended it.
    ///
    /// # Errors
    /// The index of the entry that is refused, and why; the room must then be discarded.
    pub fn lead_in(
        &mut self,
        past: &[Past],
        ended: Option<Recorded>,
    ) -> Result<Vec<LogEntry>, (usize, Refusal)> {
        // What was played elsewhere has taken no time here: the clocks are as at the start.
        let clocks = self.clocks.take();
        let done = self.replay_past(past, ended);
        self.clocks = clocks;
        done.map(|()| std::mem::take(&mut self.events))
    }

    fn replay_past(
        &mut self,
        past: &[Past],
        ended: Option<Recorded>,
    ) -> Result<(), (usize, Refusal)> {
        for (at, it) in past.iter().enumerate() {
            if self.v() >= EVENTS / 2 {
                return Err((at, Refusal::Full(self.v())));
            }
            let by = self.rules().side();
            let done = match it {
                Past::Turn(text) => self.play_turn(by, text),
                Past::Presets(presets) => self.set_presets(by, presets.clone(), None),
            };
            done.map_err(|it| (at, it))?;
        }
        if let Some(Recorded { winner, reason }) = ended.filter(|_| self.outcome().is_none()) {
            // The rules have a side win when the other one resigns.
            let won = winner.map(|it| self.rules_mut().resign(usize::from(it == 0)));
            let outcome = match won {
                Some(Ok(outcome)) => Outcome { reason, ..outcome },
                _ => Outcome::without_winner("draw", reason),
            };
            self.end(outcome, None, None);
        }
        Ok(())
    }

    /// Plays the actions of a turn, one after the other. The rules split the text, since an action may have a
    /// comma in its own.
    fn play_turn(&mut self, by: usize, text: &str) -> Result<(), Refusal> {
        let actions = self.rules_mut().actions(text);
        actions.iter().try_for_each(|it| {
            if self.v() >= EVENTS / 2 {
                return Err(Refusal::Full(self.v()));
            }
            self.play(by, it, None, None)
        })
    }
}
