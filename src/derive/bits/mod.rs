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
mod fixpoint;
mod general;
mod frames;
mod live;
mod tries;
mod leaves;
mod engine;
mod dump;
#[cfg(feature = "native")]
mod native;
#[cfg(not(feature = "native"))]
#[path = "native/absent.rs"]
mod native;

use std::sync::Arc;

use super::evaluator::Evaluator;
use super::schedule::Schedule;
use crate::rules::{Dependencies, Program};

use compile::Compiled;
pub use error::PlanError;
pub use memo::Memo;

use word::{Wide, Word};

/// A compiled program, at the narrowest row width that fits its domains.
#[derive(Debug)]
pub(super) struct BitPlan(Widths);

#[derive(Debug)]
enum Widths {
    W64(Arc<Compiled<u64>>),
    W128(Arc<Compiled<Wide<2>>>),
    W256(Arc<Compiled<Wide<4>>>),
}

impl BitPlan {
    /// Rows have room for `at_least` members, whatever the domains need.
    pub(super) fn compile(
        program: &Arc<Program>,
        schedule: &Schedule,
        depends: &Dependencies,
        at_least: usize,
        memo: &Memo,
    ) -> Result<Self, PlanError> {
        let largest = program.schema.domains().iter().map(|it| it.size()).max().unwrap_or(1);
        let program = Arc::clone(program);
        let memo = memo.clone();
        let widths = match largest.max(at_least) {
            0..=64 => Widths::W64(Arc::new(compile::compile(program, schedule, depends, memo)?)),
            65..=128 => Widths::W128(Arc::new(compile::compile(program, schedule, depends, memo)?)),
            129..=256 => {
                Widths::W256(Arc::new(compile::compile(program, schedule, depends, memo)?))
            }
            larger => {
                return Err(PlanError::TooLarge {
                    place: "the program".into(),
                    what: format!("rows of {larger} members; they have 256 at most"),
                });
            }
        };
        Ok(Self(widths))
    }

    /// Makes machine code if possible. Returns whether there is machine code.
    pub(super) fn make_native(&self) -> bool {
        match &self.0 {
            Widths::W64(it) => it.make_native(),
            Widths::W128(it) => it.make_native(),
            Widths::W256(it) => it.make_native(),
        }
    }

    /// Bytes of the program, including parts that it may share with others.
    pub(super) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Widths::W64(it) => it.heap_bytes(),
            Widths::W128(it) => it.heap_bytes(),
            Widths::W256(it) => it.heap_bytes(),
        }
    }

    /// The evaluator of a new session, which has no facts yet.
    pub(super) fn session(&self) -> Box<dyn Evaluator> {
        fn engine<W: Word>(compiled: &Arc<Compiled<W>>) -> Box<dyn Evaluator> {
            Box::new(engine::Engine::new(Arc::clone(compiled)))
        }
        match &self.0 {
            Widths::W64(it) => engine(it),
            Widths::W128(it) => engine(it),
            Widths::W256(it) => engine(it),
        }
    }
}
