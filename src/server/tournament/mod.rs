//! Tournaments of accounts: arenas and Swisses, whose games are games like any other.
//!
//! `pairs` finds opponents, `table` computes how time and results change a tournament; both are pure. `records`
//! reads and writes the table in the store, `task` creates its games at the host and counts those that are over. A
//! table is one record, changed by compare-and-swap: so a result counts once and a round is paired once, whichever
//! node does it. The id of a game is in the table before the game is created; a node that finds no game of that id
//! creates it. Deliberately absent: teams, knock-outs, guests, uploaded rules.

pub mod pairs;
pub(super) mod records;
pub mod table;
mod task;
mod view;

pub use records::end_tournament;
pub(super) use task::advance;
pub use task::run_tournaments;
pub(super) use view::{Listed, Tournament};
