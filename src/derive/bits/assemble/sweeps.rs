//! Loops over parallel rows, as one instruction.
//!
//! The body of such a loop only tests rows and adds rows to others. The rows of a relation for consecutive members lie
//! at equal distances, so one address and a stride say where those of all members are.

use super::super::code::{Address, Op, Reg, RowSource, RowTerm, Rows, Space, Support};
use super::super::error::PlanError;
use super::super::machine::{Inst, Noted, Sweep, SweepTerm};
use super::super::planner::depends_on;
use super::Assembler;

/// A loop as a sweep: tests of the member, the head's row with its support, and the rows that are added to
/// the head's row.
type Swept = ([SweepTerm; 2], Address, Option<Support>, [SweepTerm; 2]);

impl Assembler<'_> {
    /// The rows in which a bit is tested, one for each member of a loop over the register; `None` if it is one row for
    /// all of them, or its address has more than two keys beside the register.
    pub(super) fn filter(&self, row: &Address, negated: bool, reg: Reg) -> Option<SweepTerm> {
        let term = self.sweep_term(&RowTerm { negated, row: RowSource::At(*row) }, reg)?;
        (term.stride != 0).then_some(term)
    }

    pub(super) fn term_number(&mut self, term: SweepTerm) -> u32 {
        self.machine.terms.push(term);
        (self.machine.terms.len() - 1) as u32
    }

    /// Emits one instruction that adds, for each member in the slot, the AND of the accumulator and the member's rows to
    /// the head's row.
    #[expect(clippy::too_many_arguments, reason = "they are the parts of one instruction")]
    pub(super) fn sweep(
        &mut self,
        reg: Reg,
        slot: u8,
        row: Address,
        stride: u32,
        support: Option<Support>,
        terms: [SweepTerm; 2],
        tests: Option<[SweepTerm; 2]>,
    ) {
        let frame = row.space == Space::Frame;
        let row = self.place(compressed(row));
        let support = support.map(|it| match it.first == reg {
            true => (it.base, Noted::Members),
            false => (it.base, Noted::Register(self.alias(it.first))),
        });
        self.machine.sweeps.push(Sweep { frame, row, stride, terms, tests, support });
        let sweep = (self.machine.sweeps.len() - 1) as u32;
        self.push(Inst::Sweep { sweep, slot });
    }

    /// Recognises a loop whose body tests rows of the member and then adds rows of the member: the tests, the
    /// head's row with its support, and the rows.
    pub(super) fn swept(&self, pc: usize, end: usize, reg: Reg) -> Option<Swept> {
        let ops = self.code.ops.get(pc..end.min(pc + 2))?;
        let [Op::TestAny { rows: tests, negated: false }, Op::EmitRow { row, support, rows }] = ops
        else {
            return None;
        };
        Some((self.sweep_terms(*tests, reg)?, *row, *support, self.sweep_terms(*rows, reg)?))
    }

    /// Recognises a loop whose body tests rows of the member and sets the member's bit in a row: those rows,
    /// and the row.
    pub(super) fn gathered(&self, pc: usize, end: usize, reg: Reg) -> Option<(Rows, Address)> {
        let ops = self.code.ops.get(pc..end.min(pc + 2))?;
        let [Op::TestAny { rows, negated: false }, Op::EmitBit { row, support: None, bit }] = ops
        else {
            return None;
        };
        let is_fixed = !row.regs[..usize::from(row.n)].contains(&reg);
        (*bit == reg && is_fixed && row.n <= 2).then_some((*rows, *row))
    }

    /// Emits a loop that [`Self::gathered`] recognises as one instruction. `None`, and nothing is emitted, unless the rows
    /// that depend on the member are one or two, each a [`SweepTerm`].
    pub(super) fn gather(
        &mut self,
        reg: Reg,
        tests: Rows,
        row: Address,
        fails: &mut Vec<usize>,
    ) -> Result<Option<()>, PlanError> {
        let code = self.code;
        let terms = &code.rows[tests.range()];
        let (moving, fixed): (Vec<&RowTerm>, Vec<&RowTerm>) =
            terms.iter().partition(|it| depends_on(it, reg));
        let moving: Option<Vec<SweepTerm>> =
            moving.iter().map(|it| self.sweep_term(it, reg)).collect();
        let terms = match moving.as_deref() {
            Some([only]) => [*only, *only],
            Some([one, two]) => [*one, *two],
            _ => return Ok(None),
        };
        let slot = self.slot()?;
        fails.push(self.push(Inst::Save { slot, skip: 0 }));
        let start = self.machine.insts.len();
        self.and_terms(&fixed);
        if !fixed.is_empty() {
            self.exits(start, fails);
            self.some(fails);
        }
        let (frame, row) = (row.space == Space::Frame, self.two_keys(row));
        let sweep = Sweep { frame, row, stride: 0, terms, tests: None, support: None };
        self.machine.sweeps.push(sweep);
        let sweep = (self.machine.sweeps.len() - 1) as u32;
        self.push(Inst::Gather { sweep, slot });
        Ok(Some(()))
    }

    /// The one or two terms of the body of a loop over the register, a single one twice; `None` if there are none or
    /// more, or one is no [`SweepTerm`].
    pub(super) fn sweep_terms(&self, rows: Rows, reg: Reg) -> Option<[SweepTerm; 2]> {
        let terms = &self.code.rows[rows.range()];
        match terms {
            [only] => self.sweep_term(only, reg).map(|it| [it, it]),
            [one, two] => Some([self.sweep_term(one, reg)?, self.sweep_term(two, reg)?]),
            _ => None,
        }
    }

    /// A term of the body of a loop over the register, with the stride from one member's row to the next; `None` if it
    /// has no address, or one with more than two keys beside the register.
    pub(super) fn sweep_term(&self, term: &RowTerm, reg: Reg) -> Option<SweepTerm> {
        let address = match term.row {
            RowSource::Next { space, base, key } => {
                Address { base, space, n: 1, regs: [key, 0, 0, 0], strides: [1, 0, 0, 0] }
            }
            RowSource::At(address) => address,
            RowSource::Only(_) | RowSource::All(_) => return None,
        };
        let (address, stride) = apart(address, reg);
        let address = compressed(address);
        (address.n <= 2).then(|| SweepTerm {
            space: address.space,
            negated: term.negated,
            place: self.two_keys(address),
            stride,
        })
    }
}

/// The address without unused keys.
pub(super) fn compressed(address: Address) -> Address {
    let mut kept = Address { n: 0, regs: [0; 4], strides: [0; 4], ..address };
    for key in (0..usize::from(address.n)).filter(|&it| address.strides[it] != 0) {
        kept.regs[usize::from(kept.n)] = address.regs[key];
        kept.strides[usize::from(kept.n)] = address.strides[key];
        kept.n += 1;
    }
    kept
}

/// The address without the register, and the register's stride.
pub(super) fn apart(mut address: Address, reg: Reg) -> (Address, u32) {
    let keys = (0..usize::from(address.n)).filter(|&it| address.regs[it] == reg);
    let stride = keys.map(|it| std::mem::take(&mut address.strides[it])).sum();
    (address, stride)
}

/// Undoes [`apart`]: the address with the register's stride again.
pub(super) fn with_stride(mut row: Address, reg: Reg, stride: u32) -> Address {
    if let Some(key) = (0..usize::from(row.n)).find(|&it| row.regs[it] == reg) {
        row.strides[key] = stride;
    }
    row
}
