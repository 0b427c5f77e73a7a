//! The instructions that rules compile to, and the addresses of rows.
//!
//! A rule is a straight list of instructions. A loop runs everything after it once per member; a test that
//! fails ends the current iteration of the innermost loop. The last instruction emits. Deliberately absent:
//! anything that decides an order; that is the planner's work.

use std::ops::Range;

use crate::facts::AttrId;
use crate::rules::{Arith, EventId, Fold, Op as Comparison};

/// A register. Variables count up from 0; constants of the whole program live at the top.
pub(super) type Reg = u8;
/// Number of registers; indexing by [`Reg`] needs no check.
pub(super) const REGS: usize = 256;

/// The memory that a row is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Space {
    /// Statics: shared by all sessions.
    Static,
    /// Inputs and maintained relations: kept across actions, journaled.
    Maintained,
    /// Recomputed on demand: one frame per mark.
    Frame,
}

/// Maximum number of keys of an address. Relations with more columns before the last are lists of tuples.
pub(super) const MAX_KEYS: usize = 4;

/// The address of one row (or one function value): base plus registers times strides. Unused keys have stride 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub(super) base: u32,
    pub(super) space: Space,
    /// Number of keys in use.
    pub(super) n: u8,
    pub(super) regs: [Reg; MAX_KEYS],
    pub(super) strides: [u32; MAX_KEYS],
}

impl Address {
    /// A row without keys.
    pub(super) fn keyless(space: Space, base: u32) -> Self {
        Self { base, space, n: 0, regs: [0; MAX_KEYS], strides: [0; MAX_KEYS] }
    }

    /// Whether the register is one of the keys.
    pub(super) fn uses(&self, reg: Reg) -> bool {
        self.regs[..usize::from(self.n)].contains(&reg)
    }

    /// The address without the register, and the register's stride.
    pub(super) fn apart(mut self, reg: Reg) -> (Self, u32) {
        let keys = (0..usize::from(self.n)).filter(|&it| self.regs[it] == reg);
        let stride = keys.map(|it| std::mem::take(&mut self.strides[it])).sum();
        (self, stride)
    }

    /// Undoes [`Self::apart`]: the address with the register's stride again.
    pub(super) fn with_stride(mut self, reg: Reg, stride: u32) -> Self {
        if let Some(key) = (0..usize::from(self.n)).find(|&it| self.regs[it] == reg) {
            self.strides[key] = stride;
        }
        self
    }

    /// The address without unused keys.
    pub(super) fn compressed(self) -> Self {
        let mut kept = Self::keyless(self.space, self.base);
        for key in (0..usize::from(self.n)).filter(|&it| self.strides[it] != 0) {
            kept.regs[usize::from(kept.n)] = self.regs[key];
            kept.strides[usize::from(kept.n)] = self.strides[key];
            kept.n += 1;
        }
        kept
    }
}

/// One operand of an AND over rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowTerm {
    pub(super) negated: bool,
    pub(super) row: RowSource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowSource {
    At(Address),
    /// The row with just the register's value.
    Only(Reg),
    /// All members below the number.
    All(u16),
}

/// A run of [`RowTerm`]s in the pool, positive ones first. Only a run in a `LoopEmit` may have negated ones alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Rows {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// A list of tuples, see `lists.rs`.
pub(super) type StoreId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExprId(pub(super) u32);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ExprNode {
    Reg(Reg),
    Binary(Arith, ExprId, ExprId),
}

/// The support of a relation's rows: the values of the first column that have a non-empty row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Support {
    pub(super) space: Space,
    pub(super) base: u32,
    pub(super) first: Reg,
}

/// A list of registers in the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RegList {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl RegList {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// An instruction of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Op {
    // Loops over the members of the AND: the register becomes each member.
    Loop { reg: Reg, rows: Rows },
    LoopEmit(LoopEmit),
    // The register becomes the function's value; ends if there is none.
    Fetch { reg: Reg, fun: Address },
    // Pays for entering the loop that follows; ends if the budget is used up.
    Spend { steps: u16 },
    // The function's value equals the register's; if negated, it differs or is missing.
    TestFun { fun: Address, value: Reg, negated: bool },
    // The function has a value.
    TestHas { fun: Address, negated: bool },
    TestBit { row: Address, bit: Reg, negated: bool },
    // The AND has a member.
    TestAny { rows: Rows, negated: bool },
    // The sub-plan from `pc + 1` up to `end` has a solution.
    TestSub { end: u32, negated: bool },
    Compare { op: Comparison, lhs: Reg, rhs: Reg },
    CompareExpr { op: Comparison, lhs: ExprId, rhs: ExprId },
    Let { reg: Reg, expr: ExprId },
    // The same for a folded value: if it is missing, the fold has no value.
    Value { reg: Reg, expr: ExprId },
    // The register becomes the number of members of the AND.
    Count { reg: Reg, rows: Rows },
    // Solutions of the sub-plan up to `end` (its `Collect`) are folded into the registers.
    Fold { fold: Fold, end: u32, results: RegList },
    // Ends a folded sub-plan: `key` has the locals that distinguish solutions.
    Collect { key: RegList, values: RegList },
    // For each tuple of the list, sorted so that the bound columns come first, that agrees with `bound`: the other
    // columns go to `free`.
    Scan { store: StoreId, order: u32, bound: RegList, free: RegList },
    // Such a tuple exists.
    TestScan { store: StoreId, order: u32, bound: RegList, negated: bool },
    // Row fixpoint: the body up to `end` runs for each member of the row, new members included.
    Fix { row: Address, reg: Reg, end: u32 },
    // The same if the body is some tests of the member, then one step of a function; for each of `size` rows, `stride`
    // apart, with `middle` counting them.
    Chase { row: Address, middle: Reg, size: u16, stride: u32, reg: Reg, tests: Rows, fun: Address },
    // The AND is added to the head's row.
    EmitRow { row: Address, support: Option<Support>, rows: Rows },
    EmitBit { row: Address, support: Option<Support>, bit: Reg },
    EmitTuple { store: StoreId, values: RegList },
    // A solution exists: ends the plan, or the sub-plan of a `TestSub`, with all loops and scans in it.
    Found,
    // The head tuple may have changed: it must be checked again.
    Suspect { relation: u16, values: RegList },
    // The block of the register's value may have changed.
    Dirty { relation: u16, block: Reg },
    // One solution of a reaction's body.
    React { reaction: u32 },
}

/// A loop whose body is one `EmitRow`: for each member of the AND of `rows`, `fixed` AND `moving` is added to the head's
/// row at `row` plus the member times `stride`. Neither `row` nor `fixed` depends on the register. If the `first` of the
/// support is `reg`, the support gets the members for which anything was added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LoopEmit {
    pub(super) reg: Reg,
    pub(super) rows: Rows,
    pub(super) row: Address,
    pub(super) stride: u32,
    pub(super) support: Option<Support>,
    pub(super) fixed: Rows,
    pub(super) moving: Rows,
}

/// The effects of a reaction for each solution of its body.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReactionCode {
    /// Its number in the program.
    pub(super) reaction: usize,
    /// The registers of its named variables.
    pub(super) named: Vec<Reg>,
    pub(super) effects: Vec<EffectCode>,
}

/// An effect, with expressions over the registers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EffectCode {
    // A fact is stated, or retracted if there is no value.
    Write { attr: AttrId, entity: ExprId, value: Option<ExprId> },
    Remove { entity: ExprId },
    Spawn { reg: Reg },
    Raise { event: EventId, args: Vec<ExprId> },
    Stop,
    Pass { args: Vec<ExprId> },
    Emit { event: EventId, args: Vec<ExprId> },
    // A rarer effect, such as a veto, a note or a call: the effect of that number in the reaction.
    Rarer { effect: usize },
    Rewind { turns: ExprId },
}
