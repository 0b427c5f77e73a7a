//! Loops over parallel rows, as one instruction.
//!
//! The body of such a loop only tests rows and adds rows to others. The rows of a relation for consecutive members lie
//! at equal distances, so one address and a stride say where those of all members are.

use std::borrow::Borrow;

use super::super::code::{Address, Op, Reg, RowSource, RowTerm, Rows, Space, Support};
use super::super::error::PlanError;
use super::super::machine::{Inst, Noted, Sweep, SweepTerm};
use super::super::planner::depends_on;
use super::{Assembler, add};

/// A loop as a sweep.
pub(super) struct Swept {
    /// The head's row, without the loop's register, and that register's stride in it.
    pub(super) row: Address,
    pub(super) stride: u32,
    pub(super) support: Option<Support>,
    /// The rows whose AND is added to the head's row.
    pub(super) terms: [SweepTerm; 2],
    /// The rows whose AND is tested for each member.
    pub(super) tests: Option<[SweepTerm; 2]>,
}

impl Assembler<'_> {
    /// The rows in which a bit is tested, one for each member of a loop over the register; `None` if it is one row for
    /// all of them, or its address has more than two keys beside the register.
    pub(super) fn filter(&self, row: &Address, negated: bool, reg: Reg) -> Option<SweepTerm> {
        let term = self.sweep_term(&RowTerm { negated, row: RowSource::At(*row) }, reg)?;
        (term.stride != 0).then_some(term)
    }

    /// Emits one instruction that adds, for each member in the slot, the AND of the accumulator and the member's rows to
    /// the head's row.
    pub(super) fn sweep(&mut self, reg: Reg, slot: u8, swept: Swept) {
        let Swept { row, stride, support, terms, tests } = swept;
        let frame = row.space == Space::Frame;
        let row = self.place(row.compressed());
        let support = support.map(|it| match it.first == reg {
            true => (it.base, Noted::Members),
            false => (it.base, Noted::Register(self.alias(it.first))),
        });
        let sweep = Sweep { frame, row, stride, terms, tests, support };
        let sweep = add(&mut self.machine.sweeps, sweep);
        self.push(Inst::Sweep { sweep, slot });
    }

    /// Recognises a loop whose body tests rows of the member and then adds rows of the member to the head's row.
    pub(super) fn swept(&self, pc: usize, end: usize, reg: Reg) -> Option<Swept> {
        let ops = self.code.ops.get(pc..end.min(pc + 2))?;
        let [Op::TestAny { rows: tests, negated: false }, Op::EmitRow { row, support, rows }] = ops
        else {
            return None;
        };
        let [tests, rows] = [tests, rows].map(|it| &self.code.rows[it.range()]);
        let (row, stride) = row.apart(reg);
        let (tests, terms) = (self.sweep_terms(tests, reg)?, self.sweep_terms(rows, reg)?);
        Some(Swept { row, stride, support: *support, terms, tests: Some(tests) })
    }

    /// Recognises a loop whose body tests rows of the member and sets the member's bit in a row: those rows,
    /// and the row.
    pub(super) fn gathered(&self, pc: usize, end: usize, reg: Reg) -> Option<(Rows, Address)> {
        let ops = self.code.ops.get(pc..end.min(pc + 2))?;
        let [Op::TestAny { rows, negated: false }, Op::EmitBit { row, support: None, bit }] = ops
        else {
            return None;
        };
        (*bit == reg && !row.uses(reg) && row.n <= 2).then_some((*rows, *row))
    }

    /// Emits a loop that [`Self::gathered`] recognises as one instruction. Returns false, and emits nothing, unless the
    /// rows that depend on the member are one or two, each a [`SweepTerm`].
    pub(super) fn gather(
        &mut self,
        reg: Reg,
        tests: Rows,
        row: Address,
        fails: &mut Vec<usize>,
    ) -> Result<bool, PlanError> {
        let code = self.code;
        let terms = &code.rows[tests.range()];
        let (moving, fixed): (Vec<&RowTerm>, Vec<&RowTerm>) =
            terms.iter().partition(|it| depends_on(it, reg));
        let Some(terms) = self.sweep_terms(&moving, reg) else { return Ok(false) };
        let slot = self.slot()?;
        fails.push(self.push(Inst::Save { slot, skip: 0 }));
        let start = self.machine.insts.len();
        self.and_terms(&fixed);
        if !fixed.is_empty() {
            self.fail_early(start, fails);
            self.test_some(fails);
        }
        let (frame, row) = (row.space == Space::Frame, self.two_keys(row));
        let sweep = Sweep { frame, row, stride: 0, terms, tests: None, support: None };
        let sweep = add(&mut self.machine.sweeps, sweep);
        self.push(Inst::Gather { sweep, slot });
        Ok(true)
    }

    /// The one or two terms of the body of a loop over the register, a single one twice; `None` if there are none or
    /// more, or one is no [`SweepTerm`].
    pub(super) fn sweep_terms<T: Borrow<RowTerm>>(
        &self,
        terms: &[T],
        reg: Reg,
    ) -> Option<[SweepTerm; 2]> {
        let term = |it: &T| self.sweep_term(it.borrow(), reg);
        match terms {
            [only] => term(only).map(|it| [it, it]),
            [one, two] => Some([term(one)?, term(two)?]),
            _ => None,
        }
    }

    /// A term of the body of a loop over the register, with the stride from one member's row to the next; `None` if it
    /// has no address, or one with more than two keys beside the register.
    fn sweep_term(&self, term: &RowTerm, reg: Reg) -> Option<SweepTerm> {
        let address = match term.row {
            RowSource::At(address) => address,
            RowSource::Only(_) | RowSource::All(_) => return None,
        };
        let (address, stride) = address.apart(reg);
        let address = address.compressed();
        (address.n <= 2).then(|| SweepTerm {
            space: address.space,
            negated: term.negated,
            place: self.two_keys(address),
            stride,
        })
    }
}
