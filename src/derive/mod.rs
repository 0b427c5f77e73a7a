//! Derivation: evaluators of a checked program over the facts of a session.
//!
//! This layer must not know moves, players, or what a square is in chess.

mod allowance;
mod bits;
mod budget;
mod call;
mod count;
mod evaluator;
pub mod explain;
mod frog;
mod given;
mod leaves;
mod metered;
mod output;
mod plan;
mod query;
mod reference;
mod refusal;
mod rows;
mod schedule;
mod solve;
mod take;
mod trace;
mod transaction;
mod trials;
mod watch;
mod world;

pub use allowance::{Allowance, Stop};
pub use bits::{Memo, PlanError};
pub use budget::{Exhausted, Resource};
pub use call::{Calls, Moment};
pub use evaluator::Backend;
pub use frog::{Frog, Statics};
pub use leaves::Leaves;
pub use plan::Plan;
pub use query::{Abbreviation, Query, QueryError, Solutions};
pub use refusal::{CallFault, DEPTH, EVENTS, Refusal};
pub use rows::{Rows, Tuple, collect};
pub use solve::{Bindings, solve};
pub use trace::{Done, Said, SaidPart, Step, Trace};
pub use watch::{RowChanges, Watch};
pub use world::{World, WorldMark};
