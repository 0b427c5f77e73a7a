//! One game: set-up, moves as transactions, history, repetition and results.
//!
//! This layer must not know any preset or game by name, nor the time of day. The host of a game
//! (a terminal, a server) sees it through [`Game`].

#![warn(missing_docs)]

mod ask;
pub mod drawing;
mod end;
mod fact_text;
mod finding;
mod memory;
mod play;
mod record;
mod refusal;
mod refusal_codes;
mod repetition;
mod report;
mod snapshot;
mod turn;
mod view;
mod watching;

pub use crate::derive::explain::Finding;
pub use crate::derive::{Allowance, Exhausted, Resource, Stop, Watch};
pub use ask::{Answer, Because, Explanation, HeldFact};
pub use fact_text::QuestionError;
pub use finding::decide;
pub use memory::Memory;
pub use play::{Game, go_back};
pub use record::{GameResult, Record, Switch};
pub use refusal::{EndError, IllegalMove, Objection, PlayError, RULE_SETS, SWITCHES, SwitchError};
pub use repetition::{Place, position_key, state_recurrence};
pub use report::{ActionReport, ReportEffect, ReportEvent, ReportFact, ReportStep};
pub use snapshot::GameSnapshot;
pub use view::{
    ActionView, ArgumentView, FieldView, KindView, MarkedSquares, PieceView, PointView, Trait,
    View, Zone,
};
pub use watching::RowChange;
