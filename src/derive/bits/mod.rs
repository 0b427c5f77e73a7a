//! The bit evaluator: relations as bit rows, joins as ANDs, kept true from change to change.
//!
//! `compile` turns a program into plans (`planner`) over stores (`layout`); `engine` keeps the rows
//! of one session up to date by running them (`run`). `general` is the slow road for what does not
//! fit rows. It knows nothing of chess.

mod word;
mod code;
mod layout;
mod planner;
mod compile;
mod run;
mod general;
mod engine;
mod dump;

use std::sync::Arc;

use crate::rules::Program;

pub(super) use compile::Compiled;
pub(super) use engine::{EngineMark, Evaluator};
pub use planner::PlanError;
pub(super) use run::Output;

use word::{Wide, Word};

/// A compiled program, at the narrowest row width that fits its domains.
#[derive(Debug)]
pub(super) enum BitPlan {
    W64(Arc<Compiled<u64>>),
    W128(Arc<Compiled<Wide<2>>>),
    W256(Arc<Compiled<Wide<4>>>),
}

impl BitPlan {
    pub(super) fn compile(program: &Arc<Program>, at_least: usize) -> Result<Self, PlanError> {
        let largest = program.schema.domains().iter().map(|it| it.size()).max().unwrap_or(1);
        let program = Arc::clone(program);
        match largest.max(at_least) {
            0..=64 => Ok(Self::W64(Arc::new(compile::compile(program)?))),
            65..=128 => Ok(Self::W128(Arc::new(compile::compile(program)?))),
            129..=256 => Ok(Self::W256(Arc::new(compile::compile(program)?))),
            larger => Err(PlanError {
                place: "the program".into(),
                what: format!("a domain with {larger} members; rows hold 256"),
            }),
        }
    }

    /// The rows of a new, empty session.
    pub(super) fn session(&self) -> Box<dyn Evaluator> {
        fn engine<W: Word>(compiled: &Arc<Compiled<W>>) -> Box<dyn Evaluator> {
            Box::new(engine::Engine::new(Arc::clone(compiled)))
        }
        match self {
            Self::W64(it) => engine(it),
            Self::W128(it) => engine(it),
            Self::W256(it) => engine(it),
        }
    }
}
