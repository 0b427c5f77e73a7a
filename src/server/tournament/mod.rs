//! Tournaments of accounts: arenas and Swisses, whose games are games like any other.
//!
//! `pairs` finds opponents, `table` what time and results do to a tournament; both are pure. `kept` has the table in
//! the store, `keep` its games at the host. A table is one record, which changes from what it is: so a result counts
//! once and a round is drawn once, whatever node does it; a game has its id before it is made, and a node that finds it
//! missing makes it. Deliberately absent: teams, knock-outs, guests, uploaded rules.

mod keep;
mod kept;
pub mod pairs;
mod requests;
pub mod table;
mod view;

pub use keep::keep_tournaments;
pub(super) use requests::NewTournament;
pub use requests::end_tournament;
pub(super) use view::{Listed, Tournament};
