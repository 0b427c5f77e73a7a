//! Whole turns of a game as text, where the rules declare texts for turns ("words").
//!
//! Deliberately absent: how such a word is written and read (`moves`).

use super::play::Game;
use super::record::Record;
use crate::moves::{Move, turn_word};

impl Game {
    /// The last turn as one word, if another side is to move, the rules have words for turns, and the word is unambiguous.
    pub fn last_turn(&self) -> Option<String> {
        self.contract().turn_words.as_ref()?;
        let (last, earlier) = self.history().split_last().filter(|it| !it.0.turn_goes_on)?;
        let count = 1 + count_going_on(earlier);
        let turn = &self.history()[self.history().len() - count..];
        // A turn that ended in a rewind, or during which the rules changed, has no word.
        if last.rewound_to().is_some() || turn.iter().skip(1).any(|it| !it.switches().is_empty()) {
            return None;
        }
        let actions: Vec<Move> = turn.iter().map(|it| it.mv.clone()).collect();
        let mut before = self.clone();
        for _ in 0..count {
            before.takeback();
        }
        let contract = before.contract().clone();
        turn_word(before.world_mut(), &contract, &actions)
    }

    /// The number of actions of the turn under way; 0 between turns.
    pub fn actions_under_way(&self) -> usize {
        count_going_on(self.history())
    }
}

/// Number of actions at the end of the records after each of which the same side is to move.
fn count_going_on(records: &[Record]) -> usize {
    records.iter().rev().take_while(|it| it.turn_goes_on).count()
}
