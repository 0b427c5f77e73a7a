//! Error codes for refused actions, which the rules declare and programs read.

use crate::derive::explain::Limits;
use crate::moves::notation::{MoveError, MoveFault};

use super::play::Game;
use super::refusal::{Objection, PlayError};

impl Game {
    /// The error code that the rules declare for a refused action, if they do.
    pub fn code_of(&mut self, why: &PlayError) -> Option<String> {
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
