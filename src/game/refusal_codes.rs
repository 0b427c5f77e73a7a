//! Error codes for refused actions, which the rules declare and programs read.

use crate::derive::explain::Limits;
use crate::moves::BETWEEN;
use crate::moves::notation::{MoveError, MoveFault};

use super::play::Game;
use super::refusal::{Objection, PlayError};

impl Game {
    /// The error code that the rules declare for a refused text, if they do. Of several actions, the refused one is asked
    /// about in the position after those before it.
    pub fn code_of(&mut self, text: &str, why: &PlayError) -> Option<String> {
        if text.contains(BETWEEN) {
            let mut later = self.clone();
            let _ = text.rmatch_indices(BETWEEN).find(|it| later.play_text(&text[..it.0]).is_ok());
            return later.code_of("", why);
        }
        match why {
            PlayError::Over { .. } => self.fault_code(&MoveFault::Over),
            PlayError::Illegal(it) => it.objection.as_ref().map(|it| it.code.clone()),
            PlayError::Text(MoveError { reason: MoveFault::Illegal { candidates }, .. }) => {
                let contract = self.contract().clone();
                let limits = Limits::default();
                let found = Objection::first(self.world_mut(), &contract, candidates, limits);
                found.ok().flatten().map(|it| it.1.code)
            }
            PlayError::Text(it) => self.fault_code(&it.reason),
            PlayError::Refused(_) | PlayError::Limit(_) => None,
        }
    }

    /// The error code for a text that means no action, from a line `.meta fault "WHICH CODE"`. WHICH is `text` for a text
    /// that fits no action, or several; `piece` for a text that names no piece; and `over` for any text after the end of
    /// the game.
    pub(super) fn fault_code(&self, fault: &MoveFault) -> Option<String> {
        let which = match fault {
            MoveFault::Malformed { .. } | MoveFault::Ambiguous { .. } => "text",
            MoveFault::NoSuchPiece => "piece",
            MoveFault::Over => "over",
            _ => return None,
        };
        let mut faults = self.program().meta.iter().filter(|it| it.key == "fault");
        faults.find_map(|it| Some(it.value.strip_prefix(which)?.strip_prefix(' ')?.to_owned()))
    }
}
