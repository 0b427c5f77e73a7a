//! The instructions of the interpreter: short, with every address explicit.
//!
//! The planner makes plans of [`super::code::Op`], which are easier to read and to change; `assemble` lowers them to
//! these. An AND becomes a load and instructions that narrow the accumulator. A loop ends in an instruction of its own,
//! and a test that fails jumps to it, without a call per iteration. Plans that always run together are stored one after
//! the other, as one stretch.

use crate::rules::{Fold, Op as Comparison};

use super::code::{Address, ExprId, ExprNode, Reg, RegList, Space, StoreId};

/// Maximum number of open loops, those of nested plans included.
pub(super) const SLOTS: usize = 64;

/// The distance of a jump, or the length of a body. A forward jump's is filled in when its target is known.
pub(super) type Skip = u16;

/// The number of a maintained relation in the order of updates.
pub(super) type KeptId = u16;

/// The place of a row or a value: base plus two registers times strides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) base: u32,
    pub(super) strides: [u16; 2],
    pub(super) keys: [Reg; 2],
}

/// A place with one key, of stride 1, and where to go on if nothing is left of the accumulator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) base: u32,
    pub(super) key: Reg,
    pub(super) skip: Skip,
}

/// The capital at the end of many names tells the [`Space`]: `S` static, `K` maintained (kept), `F` frame.
/// A `1` behind it: the place has one key, of stride 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Inst {
    // --- the accumulator: load a row, narrow to what the row has (`And`), or to what it does not have (`Drop`). Those with
    // a `1` fail if nothing is left.
    LoadS1(Near),
    LoadK1(Near),
    LoadF1(Near),
    LoadS(Place),
    LoadK(Place),
    LoadF(Place),
    AndS1(Near),
    AndK1(Near),
    AndF1(Near),
    AndS(Place),
    AndK(Place),
    AndF(Place),
    DropS1(Near),
    DropK1(Near),
    DropF1(Near),
    DropS(Place),
    DropK(Place),
    DropF(Place),
    LoadOne { key: Reg },
    AndOne { key: Reg },
    DropOne { key: Reg },
    LoadFirst { n: u16 },
    AndFirst { n: u16 },

    // --- what is done with the accumulator
    // For each member: opens the loop that ends at its `Next`.
    Loop { reg: Reg, slot: u8, skip: Skip },
    Next { reg: Reg, slot: u8, back: Skip },
    // Saves the accumulator in a slot; goes on if it has members.
    Save { slot: u8, skip: Skip },
    TestSome { skip: Skip },
    TestNone { skip: Skip },
    Count { reg: Reg },
    // Adds the accumulator to the row, or jumps if the accumulator is empty.
    GrowK { at: Place, skip: Skip },
    GrowF { at: Place, skip: Skip },
    // The same with one key and stride 1, and with a member added to the support.
    GrowK1 { base: u32, key: Reg, support: u32, bit: Reg, skip: Skip },
    GrowF1 { base: u32, key: Reg, support: u32, bit: Reg, skip: Skip },
    BitK { at: Place, bit: Reg },
    BitF { at: Place, bit: Reg },
    // Adds one member to a row, independent of the accumulator: the support of a relation.
    NoteK { base: u32, bit: Reg },
    NoteF { base: u32, bit: Reg },
    // A whole loop over the saved members, whose body is rows side by side; see [`Sweep`].
    Sweep { sweep: u32, slot: u8 },
    // Sets in the sweep's row the saved members for which the accumulator AND the terms is not empty.
    Gather { sweep: u32, slot: u8 },
    // Narrows the accumulator to the members whose row in the term has the bit.
    Filter { term: u32, bit: Reg, skip: Skip },

    // --- functions and tests
    FetchK1 { base: u32, key: Reg, reg: Reg, skip: Skip },
    FetchK { at: Place, reg: Reg, skip: Skip },
    FetchS { at: Place, reg: Reg, skip: Skip },
    IsK { at: Place, value: Reg, skip: Skip },
    IsS { at: Place, value: Reg, skip: Skip },
    IsNotK { at: Place, value: Reg, skip: Skip },
    IsNotS { at: Place, value: Reg, skip: Skip },
    HasK { at: Place, skip: Skip },
    HasS { at: Place, skip: Skip },
    LacksK { at: Place, skip: Skip },
    LacksS { at: Place, skip: Skip },
    InS { at: Place, bit: Reg, skip: Skip },
    InK { at: Place, bit: Reg, skip: Skip },
    InF { at: Place, bit: Reg, skip: Skip },
    OutS { at: Place, bit: Reg, skip: Skip },
    OutK { at: Place, bit: Reg, skip: Skip },
    OutF { at: Place, bit: Reg, skip: Skip },
    InK1 { base: u32, key: Reg, bit: Reg, skip: Skip },
    InF1 { base: u32, key: Reg, bit: Reg, skip: Skip },
    OutK1 { base: u32, key: Reg, bit: Reg, skip: Skip },
    OutF1 { base: u32, key: Reg, bit: Reg, skip: Skip },
    Compare { op: Comparison, lhs: Reg, rhs: Reg, skip: Skip },
    CompareExpr { op: Comparison, lhs: ExprId, rhs: ExprId, skip: Skip },
    Let { reg: Reg, expr: ExprId, skip: Skip },
    // As `Let`, but a missing value is recorded for the fold.
    Value { reg: Reg, expr: ExprId },
    // Takes steps out of the budget.
    Spend { steps: u16 },
    // For an address of more than two keys: the register becomes the sum of keys times strides, without the first key's.
    SumKeys { reg: Reg, address: u32 },

    // --- plans within plans: the body follows, and is `body` instructions long, with the `Halt` that ends it
    Sub { negated: bool, body: Skip, skip: Skip },
    Fold { fold: Fold, results: u32, body: Skip, skip: Skip },
    FixK { at: Place, reg: Reg, body: Skip },
    FixF { at: Place, reg: Reg, body: Skip },
    Scan { scan: u32, body: Skip },
    // Such a tuple exists. Neither this nor `Chase` has a body.
    TestScan { scan: u32, negated: bool, skip: Skip },
    Chase { chase: u32 },

    // A relation derived on demand begins: it is emptied, or skipped if it is up to date.
    Enter { entry: u32 },

    // --- ends
    Collect { key: u32, values: u32 },
    EmitTuple { store: StoreId, values: u32 },
    // Tuples and blocks of maintained relations that may have changed; a relation is given by its number.
    Suspect { kept_id: KeptId, values: u32 },
    Dirty { kept_id: KeptId, block: Reg },
    // A solution of a reaction's body, in these registers.
    React { named: u32 },
    // The arguments of the action go to these registers.
    Args { regs: u32 },
    // A solution exists: ends the plan, or the body of a `Sub`, with all loops and scans in it.
    Found,
    Halt,
}

/// For each saved member: adds the accumulator AND the terms to the row at `row` plus the member times
/// `stride`. The row is maintained or in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sweep {
    pub(super) frame: bool,
    pub(super) row: Place,
    pub(super) stride: u32,
    /// One or two terms; a single one is given twice.
    pub(super) terms: [SweepTerm; 2],
    /// One or two more terms: members for which their AND is empty are skipped.
    pub(super) tests: Option<[SweepTerm; 2]>,
    /// The row of the relation's support, and what is noted in it if anything was added.
    pub(super) support: Option<(u32, Noted)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noted {
    /// The members for which something was added.
    Members,
    /// The value of the register.
    Register(Reg),
}

/// A row for each member: the place of the first member's, and the distance to the next member's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SweepTerm {
    pub(super) space: Space,
    pub(super) negated: bool,
    pub(super) place: Place,
    pub(super) stride: u32,
}

/// See `Op::Chase`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chase {
    pub(super) frame: bool,
    pub(super) row: Place,
    pub(super) middle: Reg,
    pub(super) size: u16,
    pub(super) stride: u32,
    pub(super) member: Reg,
    /// Whether the function is static.
    pub(super) is_static: bool,
    /// The address of the function's value for the first member, and the distance between members.
    pub(super) fun: Place,
    pub(super) step: u32,
}

/// A relation derived on demand: its number, its rows, and the length of its instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Demanded {
    pub(super) rel: u16,
    pub(super) base: u32,
    pub(super) stride: u32,
    pub(super) support: Option<u32>,
    pub(super) len: u32,
}

/// See `Op::Scan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scan {
    pub(super) store: StoreId,
    pub(super) order: u32,
    pub(super) bound: RegList,
    pub(super) free: RegList,
}

/// The assembled plans of a program.
#[derive(Debug, Clone, Default)]
pub(super) struct Machine {
    pub(super) insts: Vec<Inst>,
    /// For each instruction, the rule or reaction it belongs to.
    pub(super) owner: Vec<u32>,
    pub(super) sweeps: Vec<Sweep>,
    pub(super) terms: Vec<SweepTerm>,
    pub(super) chases: Vec<Chase>,
    pub(super) scans: Vec<Scan>,
    pub(super) addresses: Vec<Address>,
    pub(super) lists: Vec<RegList>,
    pub(super) regs: Vec<Reg>,
    pub(super) exprs: Vec<ExprNode>,
    pub(super) entries: Vec<Demanded>,
}

impl Machine {
    #[inline]
    pub(super) fn registers(&self, list: RegList) -> &[Reg] {
        &self.regs[list.range()]
    }

    /// The registers of the list of that number.
    #[inline]
    pub(super) fn list(&self, list: u32) -> &[Reg] {
        self.registers(self.lists[list as usize])
    }
}

impl Inst {
    /// Whether only the interpreter carries the instruction out: machine code calls it, and that of leaves gives up.
    #[cfg(feature = "native")]
    pub(super) fn needs_interpreter(&self) -> bool {
        matches!(
            self,
            Self::Fold { .. }
                | Self::FixK { .. }
                | Self::FixF { .. }
                | Self::Value { .. }
                | Self::Collect { .. }
                | Self::EmitTuple { .. }
                | Self::Args { .. }
        )
    }

    /// The jump that the instruction makes when it fails; `None` if it cannot fail.
    pub(super) fn skip_mut(&mut self) -> Option<&mut Skip> {
        match self {
            Self::Loop { skip, .. }
            | Self::Save { skip, .. }
            | Self::TestSome { skip }
            | Self::TestNone { skip }
            | Self::GrowK1 { skip, .. }
            | Self::GrowF1 { skip, .. }
            | Self::GrowK { skip, .. }
            | Self::Filter { skip, .. }
            | Self::LoadS1(Near { skip, .. })
            | Self::LoadK1(Near { skip, .. })
            | Self::LoadF1(Near { skip, .. })
            | Self::AndS1(Near { skip, .. })
            | Self::AndK1(Near { skip, .. })
            | Self::AndF1(Near { skip, .. })
            | Self::DropS1(Near { skip, .. })
            | Self::DropK1(Near { skip, .. })
            | Self::DropF1(Near { skip, .. })
            | Self::GrowF { skip, .. }
            | Self::FetchK1 { skip, .. }
            | Self::FetchK { skip, .. }
            | Self::FetchS { skip, .. }
            | Self::IsK { skip, .. }
            | Self::IsS { skip, .. }
            | Self::IsNotK { skip, .. }
            | Self::IsNotS { skip, .. }
            | Self::HasK { skip, .. }
            | Self::HasS { skip, .. }
            | Self::LacksK { skip, .. }
            | Self::LacksS { skip, .. }
            | Self::InS { skip, .. }
            | Self::InK { skip, .. }
            | Self::InF { skip, .. }
            | Self::OutS { skip, .. }
            | Self::OutK { skip, .. }
            | Self::OutF { skip, .. }
            | Self::InK1 { skip, .. }
            | Self::InF1 { skip, .. }
            | Self::OutK1 { skip, .. }
            | Self::OutF1 { skip, .. }
            | Self::Compare { skip, .. }
            | Self::CompareExpr { skip, .. }
            | Self::Let { skip, .. }
            | Self::Sub { skip, .. }
            | Self::Fold { skip, .. }
            | Self::TestScan { skip, .. } => Some(skip),
            _ => None,
        }
    }
}

impl Sweep {
    /// The space of the rows that it adds to.
    #[cfg(feature = "native")]
    pub(super) fn space(&self) -> Space {
        if self.frame { Space::Frame } else { Space::Maintained }
    }

    /// Which terms are static; `None` if neither is.
    #[inline]
    pub(super) fn static_terms(&self) -> Option<[bool; 2]> {
        let of = self.terms.map(|it| it.space == Space::Static);
        of.contains(&true).then_some(of)
    }
}
