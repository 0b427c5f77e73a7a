//! The inputs of a hosted game, its outputs, and the parts of its state that clients see.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::event::{LogEntry, OfferKind, TokenHash};
use super::refusal::Refusal;

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// The action that the text means; with the number of actions that the client has seen.
    Move {
        uci: String,
        expected_ply: Option<usize>,
    },
    Resign,
    /// Calls off a game that has hardly begun.
    Abort,
    /// Claims a draw that the rules give.
    Claim,
    /// Offers a draw, or accepts one.
    Draw,
    /// Takes the first part of one's own turn back, or asks for the last turn to be taken back, or
    /// grants that.
    Takeback,
    /// Grants a takeback that the other side asks for; never asks for one.
    GrantTakeback,
    /// Asks for other presets from here on, or agrees to the ones asked for.
    Presets(Vec<String>),
    /// Declines an offer, or withdraws one's own.
    Decline(OfferKind),
    /// Offers another game, or accepts the offer: then the new game gets this id.
    Rematch {
        game: String,
    },
    Say(String),
    /// Switches the chat off, for all and for good.
    Hush,
}

/// An input of a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// A player takes a free seat, any or a certain one; in a rated game only with `rated` set.
    Join { side: Option<usize>, name: String, token: TokenHash, rated: bool },
    /// A request of a client. A repeated `id` is carried out only once.
    Act { token: Option<TokenHash>, id: Option<String>, act: Act },
    /// Time has passed.
    Tick,
}

impl Input {
    /// A request that its sender does not repeat, so that it needs no id.
    pub(in crate::server) fn act(token: TokenHash, act: Act) -> Self {
        Self::Act { token: Some(token), id: None, act }
    }
}

/// The answer to a request that was granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Answer {
    /// The number of the event that the request led to. If the game ended by it, the end is the next event.
    pub v: u64,
    /// The number of actions played after it.
    pub ply: usize,
    /// The side that it was done for.
    pub side: usize,
    /// The id of the rematch, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
}

/// The result of an input.
#[derive(Debug)]
pub struct Output {
    /// To be stored before anything else is done.
    pub events: Vec<LogEntry>,
    /// For the client that sent the input, once the events are stored. `None` for [`Input::Tick`].
    pub answer: Option<Result<Answer, Refusal>>,
}

/// One action that was played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Line {
    #[schema(value_type = String)]
    pub uci: Box<str>,
    #[schema(value_type = String)]
    pub san: Box<str>,
    pub side: usize,
    /// Whether the side's turn goes on.
    pub turn_goes_on: bool,
    /// Notes of the rules about it.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub notes: Box<[String]>,
    /// When it was played, in milliseconds since 1970.
    pub at: u64,
    /// The time that each side had left after it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clocks: Option<Box<[u64]>>,
}

/// The offers that stand, each with the side that made it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Offers {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<usize>,
    /// The asking side, and the number of actions that would be left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takeback: Option<(usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presets: Option<(usize, Vec<String>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rematch: Option<usize>,
    /// The sides that have agreed to an offer that others, besides its maker, have yet to answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agreed: Vec<(OfferKind, usize)>,
}

impl Offers {
    /// The side that made an offer, if the offer stands.
    pub(in crate::server) fn maker(&self, offer: OfferKind) -> Option<usize> {
        match offer {
            OfferKind::Draw => self.draw,
            OfferKind::Takeback => self.takeback.map(|(by, _)| by),
            OfferKind::Presets => self.presets.as_ref().map(|(by, _)| *by),
            OfferKind::Rematch => self.rematch,
        }
    }

    /// Whether an offer stands that a side has made or agreed to.
    pub(in crate::server) fn has_agreed(&self, side: usize, offer: OfferKind) -> bool {
        self.maker(offer) == Some(side) || self.agreed.contains(&(offer, side))
    }

    /// Removes an offer, with the agreement of sides to it.
    pub(super) fn remove(&mut self, offer: OfferKind) {
        match offer {
            OfferKind::Draw => self.draw = None,
            OfferKind::Takeback => self.takeback = None,
            OfferKind::Presets => self.presets = None,
            OfferKind::Rematch => self.rematch = None,
        }
        self.agreed.retain(|it| it.0 != offer);
    }
}
