//! One hosted game as a function: (state, time, input) to (state, outputs).
//!
//! Everything that must be right when messages are lost, duplicated or late is decided here: which side may
//! do what, whether a move was seen before, whose clock runs, what is offered. Nothing here reads
//! a clock, sends a byte or knows a store; the tests drive it with a simulated network.
//! Deliberately absent: the rules of any game, which come in through [`Rules`].

mod answers;
mod clock;
mod event;
mod past;
mod refusal;
mod request;
mod room;
mod rules;
mod seats;
mod talk;
mod timing;

pub use clock::{Clocks, Control};
pub use event::{Event, LogEntry, OfferKind, Seat, Setup, TokenHash};
pub(super) use event::{constant_time_eq, outcome_of, seats_of, setup_of};
pub use past::{Past, Recorded};
pub use refusal::{Refusal, Talk};
pub use request::{Act, Answer, Input, Line, Offers, Output};
pub(super) use room::EVENTS;
pub use room::Room;
pub use rules::{Effect, Outcome, Played, Refused, Rules, TIMEOUT};
pub use timing::Timing;
