//! The bit evaluator: relations as bit rows, joins as ANDs, maintained incrementally.
//!
//! `compile` turns a program into plans (`planner`) over stores (`layout`); `live` keeps the rows
//! of one session up to date by running them (`run`); `engine` is the interface. `general` is the slow path
//! for recursion that is mutual or leaves its row. Nothing here is specific to chess.

mod word;
mod fuel;
mod code;
mod machine;
mod assemble;
mod layout;
mod lists;
mod inline;
mod memo;
mod error;
mod planner;
mod compile;
mod read;
mod run;
mod scan;
mod effects;
mod general;
mod frames;
mod live;
mod engine;
mod dump;
#[cfg(feature = "native")]
mod native;
#[cfg(not(feature = "native"))]
#[path = "native/absent.rs"]
mod native;

use std::fmt::Debug;
use std::sync::Arc;

use super::evaluator::Evaluator;
use super::schedule::Schedule;
use crate::rules::{Dependencies, Program};

use code::Op;
use compile::Compiled;
pub use error::PlanError;
use machine::Inst;
pub use memo::Memo;

use word::{Wide, Word};

/// A compiled program, whatever the width of its rows.
pub(super) trait BitPlan: Debug + Send + Sync {
    /// Makes machine code, if possible and not done yet. Returns whether there is machine code.
    fn make_native(&self) -> bool;
    /// Bytes of the program, including parts that it may share with others.
    fn heap_bytes(&self) -> usize;
    /// The evaluator of a new session, which has no facts yet.
    fn session(self: Arc<Self>) -> Box<dyn Evaluator>;
}

impl<W: Word> BitPlan for Compiled<W> {
    fn make_native(&self) -> bool {
        self.native.get_or_init(|| native::Native::compile(self)).is_some()
    }

    fn heap_bytes(&self) -> usize {
        let known: usize = self.known.iter().flatten().map(|it| it.heap_bytes()).sum();
        let code = self.machine.insts.capacity() * (size_of::<Inst>() + size_of::<u32>())
            + self.code.ops.capacity() * (size_of::<Op>() + size_of::<u32>());
        self.statics.heap_bytes() + known + code
    }

    fn session(self: Arc<Self>) -> Box<dyn Evaluator> {
        Box::new(engine::Engine::new(self))
    }
}

/// Compiles a program at the narrowest row width that fits its domains, with room for `at_least` members.
pub(super) fn compile(
    program: &Arc<Program>,
    schedule: &Schedule,
    depends: &Dependencies,
    at_least: usize,
    memo: &Memo,
) -> Result<Arc<dyn BitPlan>, PlanError> {
    let largest = program.schema.domains().iter().map(|it| it.size()).max().unwrap_or(1);
    Ok(match largest.max(at_least) {
        0..=64 => Arc::new(compile::compile::<u64>(program, schedule, depends, memo)?),
        65..=128 => Arc::new(compile::compile::<Wide<2>>(program, schedule, depends, memo)?),
        129..=256 => Arc::new(compile::compile::<Wide<4>>(program, schedule, depends, memo)?),
        larger => {
            let what = format!("rows of {larger} members; they have 256 at most");
            return Err(PlanError::TooLarge { place: "the program".into(), what });
        }
    })
}
