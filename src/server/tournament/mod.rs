//! Tournaments of accounts: arenas and Swisses, whose games are games like any other.
//!
//! `pairs` finds opponents, `table` computes how time and results change a tournament; both are pure. `records`
//! has the table in the store, `task` its games at the host. A table is one record, changed by
//! compare-and-swap: so a result counts once and a round is drawn once, whichever node does it; a game has
//! its id before it is created, and a node that finds it missing creates it. Deliberately absent: teams,
//! knock-outs, guests, uploaded rules.

pub mod pairs;
mod records;
mod requests;
pub mod table;
mod task;
mod view;

pub(super) use requests::NewTournament;
pub use requests::end_tournament;
pub use task::run_tournaments;
pub(super) use view::{Listed, Tournament};
