//! The plans of a stratum that is computed by the general fixpoint.

use crate::rules::RelId;

use super::assemble::Assembler;
use super::code::StoreId;
use super::error::PlanError;
use super::layout::Sizes;

/// One relation of the stratum: all its tuples, and those of the last round.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) rel: RelId,
    pub(super) full: StoreId,
    pub(super) delta: StoreId,
    /// The sizes of its columns, if they are finite and there are at most [`MAX_POSSIBLE`] possible tuples.
    pub(super) sizes: Option<Sizes>,
}

/// One plan of a rule.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    /// Where the plan begins: in the planner's code, and after [`Fixpoint::assemble`] in the machine.
    pub(super) pc: u32,
    /// Whether it reads nothing of the stratum, and so runs in the first round only.
    pub(super) runs_once: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Fixpoint {
    pub(super) relations: Vec<Member>,
    pub(super) variants: Vec<Variant>,
}

impl Fixpoint {
    /// Lowers the plans: they begin in the machine from then on.
    pub(super) fn assemble(&mut self, assembler: &mut Assembler<'_>) -> Result<(), PlanError> {
        for variant in &mut self.variants {
            variant.pc = assembler.stretch(&[variant.pc])?;
        }
        Ok(())
    }
}

/// Maximum number of possible tuples of a relation for which a bit for each notes whether it was found. Beyond it a hash
/// set costs less, since most strata have few tuples.
pub(super) const MAX_POSSIBLE: usize = 1 << 17;
