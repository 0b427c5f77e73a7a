//! Keeping it true: evaluators of a checked program over the facts of a session.
//!
//! This layer must not know moves, players, or squares as chess.

mod bits;
pub mod explain;
mod fire;
mod frog;
mod query;
mod rows;
mod solve;
mod world;

pub use bits::PlanError;
pub use frog::{Frog, Statics, Stuck};
pub use query::{Abbreviation, Answer, FromRaw, FromRow, Query, QueryError, WrongTypes};
pub use rows::{Rows, Tuple, collect};
pub use solve::{Bindings, solve};
pub use world::{Backend, BitRows, Materialised, Plan, World, WorldMark};
