//! A compiled program: plans, stores, and their dependencies.
//!
//! Deliberately absent: making one (`compile`), and the rows of a session (`live`).

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::super::code::{Op, Reg, StoreId};
use super::super::general::Fixpoint;
use super::super::layout::{Statics, Store};
use super::super::lists::KnownRows;
use super::super::machine::{KeptId, Machine};
use super::super::native::Native;
use super::super::planner::Code;
use super::super::word::Word;
use crate::rules::{Program, RelId};

/// How the rows of a relation are computed.
#[derive(Debug, Clone)]
pub(in super::super) enum Mode {
    /// An input, a static, or empty: nothing to do.
    Given,
    /// Cleared and derived on demand.
    OnDemand { rules: Vec<u32> },
    /// Derived with its whole stratum by the semi-naive fixpoint of `general.rs`.
    General { stratum: usize },
    /// Maintained: a block (all rows of one value of the first column) is derived again when it may have
    /// changed. `fixes` are its recursive rules, each of which runs until it adds nothing more to a row.
    Block { rules: Vec<(Reg, u32)>, fixes: Vec<(Reg, u32)> },
    /// Maintained: a tuple is checked again when it may have changed.
    Tuple { checks: Vec<(Vec<Reg>, u32)> },
}

/// The consequences of a changed tuple of one relation for a maintained one.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Delta {
    pub(in super::super) reader: RelId,
    pub(in super::super) what: DeltaKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum DeltaKind {
    /// The reader's block is the value of this column. It is affected only if the kept rows `guards` contain it, since the
    /// rule needs them as well; a later change of these rows is reported itself.
    Block { col: usize, guards: Vec<u32> },
    /// Runs the plan with the tuple in these registers; `last`: whether the last column matters.
    Run { regs: Vec<Reg>, pc: u32, last: bool },
}

/// A relation derived on demand, with everything that it needs, as one stretch.
#[derive(Debug, Clone)]
pub(in super::super) struct OnDemand {
    pub(in super::super) start: u32,
    /// The other relations, one bit each.
    pub(in super::super) before: Vec<u64>,
}

/// How a maintained relation is kept up to date.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Maintained {
    pub(in super::super) rel: RelId,
    /// Whether whole blocks are derived anew; else single tuples are checked.
    pub(in super::super) by_block: bool,
    /// Its first row.
    pub(in super::super) base: u32,
    /// Number of rows of a block.
    pub(in super::super) stride: u32,
    /// The row of the blocks that have any member.
    pub(in super::super) support: u32,
    /// The first row of its index, if there is one: for each value of the last column, the blocks that have it.
    pub(in super::super) index: Option<u32>,
    /// The stretch that derives a block, or checks a tuple.
    pub(in super::super) derive: u32,
    /// The stretch of all its recursive rules, if a block has several: each may give the others new rows, so
    /// they run until nothing is new.
    pub(in super::super) recursive: Option<u32>,
    /// The stretch that finds what may hold without any fact, if it is kept by tuple.
    pub(in super::super) candidates: Option<u32>,
}

/// The maintained rows that must contain a block if a change is to affect it.
pub(in super::super) type Guards = SmallVec<[u32; 2]>;

/// The relations to be updated when a tuple of a relation is added or removed.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Readers {
    /// Readers whose block is the first column, with guards.
    pub(in super::super) blocks: Vec<(KeptId, Guards)>,
    /// The same for another column.
    pub(in super::super) others: Vec<(KeptId, usize, Guards)>,
    /// The stretch of plans that do not need the last column, and the stretch of those that do.
    pub(in super::super) once: Option<u32>,
    pub(in super::super) each: Option<u32>,
}

impl Readers {
    pub(in super::super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.need_block_only()
    }

    /// The stretches to be run with a changed tuple.
    #[cfg(feature = "native")]
    pub(in super::super) fn stretches(&self) -> impl Iterator<Item = u32> {
        self.once.into_iter().chain(self.each)
    }

    /// Whether no reader needs more of a changed tuple than the first column.
    pub(in super::super) fn need_block_only(&self) -> bool {
        self.others.is_empty() && self.once.is_none() && self.each.is_none()
    }
}

/// The plan of a reaction.
#[derive(Debug, Clone)]
pub(in super::super) struct ReactionPlan {
    /// For each of its bodies, the registers of its parameters and where its plan begins.
    pub(in super::super) plans: Vec<(Vec<Reg>, u32)>,
    /// Where the stretch of all these plans begins, once it is assembled.
    pub(in super::super) pc: u32,
    /// Its effects, by number in the code.
    pub(in super::super) code: u32,
    /// The relations that must be derived on demand before it is solved.
    pub(in super::super) needs: Vec<RelId>,
}

/// A program compiled for rows of one width.
#[derive(Debug, Default)]
pub(in super::super) struct Compiled<W> {
    pub(in super::super) program: Arc<Program>,
    pub(in super::super) code: Code,
    pub(in super::super) statics: Statics<W>,
    pub(in super::super) known: Vec<Option<Arc<KnownRows>>>,
    pub(in super::super) stores: Vec<Store>,
    pub(in super::super) modes: Vec<Mode>,
    pub(in super::super) readers: Vec<Readers>,
    pub(in super::super) machine: Machine,
    /// By relation, the stretch that derives it, or a block of it, or checks a tuple; `u32::MAX` if there is none.
    pub(in super::super) derive: Vec<u32>,
    /// By relation, the stretch that derives everything that it needs, itself included, if that is one stretch.
    pub(in super::super) schedules: Vec<Option<OnDemand>>,
    /// Maintained relations by their [`KeptId`], each after those that it reads.
    pub(in super::super) maintained: Vec<Maintained>,
    /// Those of them that may hold without any fact.
    pub(in super::super) unprompted: Vec<KeptId>,
    /// For each relation, what must be derived on demand before it is read, itself included.
    pub(in super::super) needs: Vec<Vec<RelId>>,
    /// By attribute, the inputs that read it, each with the place of the attribute among those that the input reads.
    pub(in super::super) inputs: Vec<Vec<(RelId, u16)>>,
    /// By batch of the schedule.
    pub(in super::super) batches: Vec<Vec<ReactionPlan>>,
    pub(in super::super) general: Vec<Fixpoint>,
    /// By relation, the first row of its index, if it has one.
    pub(in super::super) indexes: Vec<Option<u32>>,
    /// By relation, the number of tuples that the planner expected.
    pub(in super::super) estimates: Vec<f64>,
    /// By list of tuples, the orders of columns in which it is sorted.
    pub(in super::super) orders: Vec<Vec<Vec<u8>>>,
    pub(in super::super) list_is_static: Vec<bool>,
    /// Relations stored as lists, one bit each.
    pub(in super::super) list_relations: Vec<u64>,
    /// By attribute, the relations whose rows may depend on it, one bit each.
    pub(in super::super) affected: Vec<Vec<u64>>,
    pub(in super::super) kept_rows: usize,
    pub(in super::super) kept_funs: usize,
    pub(in super::super) frame_rows: usize,
    /// The instructions as machine code, once a session was busy enough.
    pub(in super::super) native: OnceLock<Option<Native>>,
}

impl<W: Word> Compiled<W> {
    /// A program without plans, for running those of its statics.
    pub(in super::super) fn bare(program: &Arc<Program>) -> Self {
        Self { program: Arc::clone(program), ..Self::default() }
    }

    /// Number of words with a bit for each relation of a frame, set if it is derived.
    #[inline]
    pub(in super::super) fn flags(&self) -> usize {
        self.stores.len().div_ceil(64)
    }

    /// Whether some plan reads the list.
    pub(in super::super) fn reads_list(&self, store: StoreId) -> bool {
        self.code.ops.iter().any(|op| {
            matches!(op, Op::Scan { store: it, .. } | Op::TestScan { store: it, .. } if *it == store)
        })
    }
}
