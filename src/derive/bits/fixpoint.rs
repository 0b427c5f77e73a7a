//! The plans of a stratum that is computed by the general fixpoint.

use crate::rules::RelId;

use super::assemble::Assembler;
use super::code::StoreId;
use super::error::PlanError;

/// One relation of the stratum: all its tuples, and those of the last round.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) rel: RelId,
    pub(super) full: StoreId,
    pub(super) delta: StoreId,
    /// The sizes of its columns, if they are finite and there are few possible tuples.
    pub(super) space: Option<Vec<u32>>,
}

/// One plan of a rule. `first`: whether it reads nothing of the stratum and runs once.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub(super) pc: u32,
    pub(super) first: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Fixpoint {
    pub(super) relations: Vec<Member>,
    pub(super) variants: Vec<Variant>,
}

impl Fixpoint {
    /// Lowers the plans, which are replaced by places in the machine.
    pub(super) fn assemble(&mut self, assembler: &mut Assembler<'_>) -> Result<(), PlanError> {
        for variant in &mut self.variants {
            variant.pc = assembler.stretch(&[variant.pc])?;
        }
        Ok(())
    }
}

/// Relations with more possible tuples than this are not kept as bits: allocating the bits would cost more
/// than most strata have tuples.
pub(super) const SPACE: usize = 1 << 17;
