//! Refusals of a hosted game: a stable code, a sentence, and nothing changed.

use super::rules::{Outcome, Refused};

/// Why nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "this needs the token of a seat: send it as `Authorization: Bearer TOKEN`, or in a socket's `auth`"
    )]
    NoToken,
    #[error("the token is not that of a seat in this game")]
    WrongToken,
    #[error("it is not your turn")]
    NotYourTurn,
    #[error("only the side to move may claim a draw: wait for your turn, or offer a draw")]
    ClaimOutOfTurn,
    #[error("the move was made for ply {asked}, but the game is at ply {ply}")]
    StalePly { asked: usize, ply: usize },
    #[error("the game is over: {}", .0.reason.replace('_', " "))]
    Over(Outcome),
    #[error("this game has a rematch already")]
    RematchMade,
    #[error("the game is not over yet")]
    NotOver,
    #[error("{}", .0.sentence)]
    Illegal(Refused),
    /// The rules refuse something other than a move, such as a claim or an activation.
    #[error("{}", .0.sentence)]
    NotAllowed(Refused),
    #[error("the seat is taken")]
    SeatTaken,
    #[error("all seats of this game are taken")]
    AllTaken,
    #[error("this game has no seats to take: anyone may move for the side whose turn it is")]
    OpenBoard,
    #[error("there is no seat {0} in this game")]
    NoSeat(usize),
    #[error("there is nothing to take back")]
    NothingToTakeBack,
    #[error("there is no such offer")]
    NoOffer,
    #[error("the offer stands already")]
    OfferStands,
    #[error("this game is rated: only accounts can play it, so log in first")]
    AccountNeeded,
    #[error("this game is rated: join it with `rated`: true if you agree to that")]
    RatedUnasked,
    #[error("a rated game has two different players: this account has a seat in it already")]
    RatedAlone,
    #[error(
        "this game is rated, or one of a tournament: no turn is taken back, and its presets stay the same"
    )]
    RatedStays,
    #[error("chat is off in this game")]
    ChatOff,
    #[error("{what} is too long: {limit} {unit} at most")]
    TooLong { what: &'static str, limit: usize, unit: &'static str },
    #[error(
        "{what} has characters that cannot be seen, such as control characters or marks of direction: \
         leave them out"
    )]
    Unprintable { what: &'static str },
    #[error("no more {} from you {when}", .what.name())]
    TooMany { what: Talk, when: &'static str },
    /// The number of events in the log.
    #[error("the game's log has no room for this: it has {0} events already")]
    Full(u64),
}

/// What a side may do only so often in a game, or before the next move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Talk {
    /// An offer of any kind. The answers of the other sides are counted with it.
    Offer,
    /// Moves that are taken back, with the event that does it.
    Takeback {
        moves: usize,
    },
    Message,
}

impl Talk {
    /// Its name in sentences, in the plural.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Offer => "offers",
            Self::Takeback { .. } => "takebacks",
            Self::Message => "messages",
        }
    }
}

impl Refusal {
    /// The stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoToken => "token_missing",
            Self::WrongToken => "token_wrong",
            Self::NotYourTurn => "not_your_turn",
            Self::ClaimOutOfTurn => "claim_out_of_turn",
            Self::StalePly { .. } => "stale_ply",
            Self::Over(_) | Self::RematchMade => "game_over",
            Self::NotOver => "game_not_over",
            Self::Illegal(_) => "illegal_move",
            Self::NotAllowed(_) => "rules_refuse",
            Self::SeatTaken | Self::AllTaken | Self::OpenBoard => "seat_taken",
            Self::NoSeat(_) => "no_such_seat",
            Self::NothingToTakeBack => "nothing_to_take_back",
            Self::NoOffer => "no_such_offer",
            Self::OfferStands => "offer_stands",
            Self::AccountNeeded => "account_needed",
            Self::RatedUnasked => "rated_game",
            Self::RatedAlone => "rated_alone",
            Self::RatedStays => "rated_stays",
            Self::ChatOff => "chat_off",
            Self::TooLong { .. } => "too_long",
            Self::Unprintable { .. } => "unprintable",
            Self::TooMany { what: Talk::Offer, .. } => "too_many_offers",
            Self::TooMany { what: Talk::Takeback { .. }, .. } => "too_many_takebacks",
            Self::TooMany { what: Talk::Message, .. } => "too_many_messages",
            Self::Full(_) => "game_full",
        }
    }
}
