//! Every relation of a world, computed: what proofs, audits and the reactions of the reference evaluator read.
//!
//! Deliberately absent: computing it (`world`).

use std::ops::ControlFlow;

use super::bits::Evaluator;
use super::frog::Frog;
use super::rows::Rows;
use crate::rules::{Program, RelId};

/// The materialised rows of the bit evaluator.
#[derive(Debug, Clone, Copy)]
pub struct BitRows<'w> {
    pub(super) program: &'w Program,
    pub(super) rows: &'w dyn Evaluator,
}

/// Every relation of a world, as rows.
#[derive(Debug, Clone, Copy)]
pub enum Materialised<'w> {
    Bits(BitRows<'w>),
    Frog(&'w Frog),
}

impl Rows for Materialised<'_> {
    fn program(&self) -> &Program {
        match self {
            Self::Bits(it) => it.program,
            Self::Frog(it) => it.program(),
        }
    }

    fn contains(&self, rel: RelId, tuple: &[i64]) -> bool {
        match self {
            Self::Bits(it) => it.rows.contains(rel, tuple),
            Self::Frog(it) => it.contains(rel, tuple),
        }
    }

    fn for_each(
        &self,
        rel: RelId,
        pattern: &[Option<i64>],
        f: &mut dyn FnMut(&[i64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self {
            Self::Bits(it) => it.rows.for_each(rel, pattern, f),
            Self::Frog(it) => it.for_each(rel, pattern, f),
        }
    }
}
