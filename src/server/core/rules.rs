//! The interface between a hosted game and its rules.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The reason of an outcome when a side has run out of time.
pub const TIMEOUT: &str = "timeout";

/// The rules of one game and the position on its board.
pub trait Rules {
    /// The number of sides, which are numbered from 0.
    fn sides(&self) -> usize;

    /// The side to move.
    fn side(&self) -> usize;

    /// Plays the action that a text means.
    ///
    /// # Errors
    /// There is no such legal action; nothing has changed.
    fn play(&mut self, text: &str) -> Result<Played, Refused>;

    /// The actions that the text of a turn means, each as [`Rules::play`] takes it.
    fn actions(&mut self, turn: &str) -> Vec<String> {
        turn.split(',').map(str::to_owned).collect()
    }

    /// Takes the last actions back.
    fn take_back(&mut self, actions: usize);

    /// The position as text, with its history, if it can be restored from that without playing the moves.
    fn snapshot(&self) -> Option<String> {
        None
    }

    /// How the game ended, if it has.
    fn outcome(&self) -> Option<Outcome>;

    /// The outcome if a side resigns.
    ///
    /// # Errors
    /// The rules do not know resigning.
    fn resign(&mut self, side: usize) -> Result<Outcome, Refused>;

    /// The outcome if a side runs out of time. Under rules that do not know time it loses as if it had
    /// resigned.
    ///
    /// # Errors
    /// The rules do not know resigning either.
    fn flag(&mut self, side: usize) -> Result<Outcome, Refused> {
        self.resign(side).map(|it| Outcome { reason: TIMEOUT.into(), ..it })
    }

    /// Whether a side is passed over when it would have the turn: it is not asked whether it agrees to an offer.
    fn sits_out(&mut self, _side: usize) -> bool {
        false
    }

    /// The outcome if a draw is claimed now, by the side to move.
    ///
    /// # Errors
    /// There is no draw to claim.
    fn claim(&mut self) -> Result<Outcome, Refused>;

    /// Checks whether these presets could be switched to from here on, before the other sides are asked to agree.
    ///
    /// # Errors
    /// They do not fit.
    fn check_presets(&self, _presets: &[String]) -> Result<(), Refused> {
        Ok(())
    }

    /// Switches to other presets, from this position on.
    ///
    /// # Errors
    /// They do not fit; nothing has changed.
    fn activate(&mut self, presets: &[String]) -> Result<(), Refused>;
}

/// An action that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    pub uci: String,
    pub san: String,
    pub side: usize,
    /// Whether the side's turn goes on.
    pub turn_goes_on: bool,
    /// The whole turn as one word, if it ends with this action and the rules have a word for it.
    pub turn: Option<String>,
    /// Notes of the rules about it.
    pub notes: Vec<String>,
    /// The effects that clients show.
    pub effects: Vec<Effect>,
}

/// An effect for clients that show the game, in words: `explosion` with `square` `d5` and `ttl` `600`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Effect {
    pub name: String,
    pub args: BTreeMap<String, String>,
}

/// How a game ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Outcome {
    /// In the words of the rules, for example `white_wins` or `draw`.
    pub outcome: String,
    /// For example `checkmate`, `resignation`, `timeout`.
    pub reason: String,
    /// The side that won; none for a draw.
    pub winner: Option<usize>,
}

impl Outcome {
    /// A draw, or no result at all.
    pub(super) fn without_winner(outcome: &str, reason: impl Into<String>) -> Self {
        Self { outcome: outcome.into(), reason: reason.into(), winner: None }
    }
}

/// A refusal by the rules: a sentence, and the lines of the refutation behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The code that the rules declare for it, if they do.
    pub reason: Option<String>,
    pub sentence: String,
    pub because: Vec<String>,
}

impl Refused {
    /// A refusal with a sentence alone.
    pub fn plain(sentence: impl Into<String>) -> Self {
        Self { reason: None, sentence: sentence.into(), because: Vec::new() }
    }
}
