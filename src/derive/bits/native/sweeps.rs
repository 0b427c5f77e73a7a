//! Loops over rows side by side, in machine code: no branch but the loop's own.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::I64};

use super::super::code::{Reg, Space};
use super::super::machine::{Entry, Noted, Place, Sweep, SweepTerm};
use super::super::word::Word;
use super::call::{self, Helper};
use super::lower::{Lower, WORD, alone};

/// Rows a stride apart: the address of the first, known to reach to the last member's.
struct Along {
    first: Value,
    stride: u32,
}

/// A term with what stays the same from member to member.
struct Side {
    rows: Along,
    negated: bool,
}

impl<W: Word> Lower<'_, '_, W> {
    /// The members' rows grow by what the accumulator and the terms have in common.
    pub(super) fn sweep(&mut self, sweep: &Sweep, mut members: Value) {
        if let Some(tests) = sweep.tests {
            let all = self.b.ins().iconst(I64, -1);
            members = self.common(tests, members, all);
        }
        let fixed = self.b.use_var(self.acc);
        let sides = self.sides(sweep.terms, members);
        let space = sweep.space();
        let rows = self.along(space, sweep.row, sweep.stride, members);
        let used = self.for_each(members, |it, member| {
            let found = it.found(&sides, member, fixed);
            let address = it.row_along(&rows, member);
            it.grow_row(address, found);
            found
        });
        let Some((base, noted)) = sweep.support else { return };
        self.when(used, |it| {
            let noted = match noted {
                Noted::Members => used,
                Noted::Register(reg) => it.one(reg),
            };
            let address = it.row_at(space, alone(base));
            it.grow_row(address, noted);
        });
    }

    /// Notes the members for whom the accumulator and the terms have something in common.
    pub(super) fn gather(&mut self, sweep: &Sweep, members: Value) {
        let acc = self.b.use_var(self.acc);
        let found = self.common(sweep.terms, members, acc);
        let address = self.row_at(sweep.space(), sweep.row);
        self.grow_row(address, found);
    }

    /// Empties the rows of a relation of the frame that are in use.
    pub(super) fn empty(&mut self, entry: &Entry, used: Value) {
        if entry.stride != 1 {
            let place = i64::from(entry.base) << 32 | i64::from(entry.stride);
            let place = self.b.ins().iconst(I64, place);
            self.call(call::empty::<W> as Helper, &[place, used]);
            return;
        }
        let rows = self.along(Space::Frame, alone(entry.base), 1, used);
        self.for_each(used, |it, member| {
            let address = it.row_along(&rows, member);
            it.empty_row(address);
            member
        });
    }

    /// Narrows the accumulator to the members whose row has the bit, or has it not.
    pub(super) fn filter(&mut self, term: &SweepTerm, bit: Reg) {
        let members = self.b.use_var(self.acc);
        let one = self.one(bit);
        let side = self.side(term, members);
        let found = self.for_each(members, |it, member| {
            let row = it.term(&side, member);
            it.b.ins().band(row, one)
        });
        self.b.def_var(self.acc, found);
    }

    fn common(&mut self, terms: [SweepTerm; 2], members: Value, fixed: Value) -> Value {
        let sides = self.sides(terms, members);
        self.for_each(members, |it, member| it.found(&sides, member, fixed))
    }

    fn found(&mut self, sides: &[Side], member: Value, fixed: Value) -> Value {
        sides.iter().fold(fixed, |all, side| {
            let row = self.term(side, member);
            self.b.ins().band(all, row)
        })
    }

    /// The terms; one that is given twice is one.
    fn sides(&mut self, terms: [SweepTerm; 2], members: Value) -> Vec<Side> {
        let n = if terms[0] == terms[1] { 1 } else { 2 };
        terms[..n].iter().map(|it| self.side(it, members)).collect()
    }

    fn side(&mut self, term: &SweepTerm, members: Value) -> Side {
        let rows = self.along(term.space, term.place, term.stride, members);
        Side { rows, negated: term.negated }
    }

    /// A member's row of a term.
    fn term(&mut self, side: &Side, member: Value) -> Value {
        let address = self.row_along(&side.rows, member);
        let row = self.load_row(address);
        if side.negated { self.b.ins().bnot(row) } else { row }
    }

    /// The rows of members, the first and the last of which are known to be there: so are all.
    fn along(&mut self, space: Space, first: Place, stride: u32, members: Value) -> Along {
        let index = self.index(first);
        let first = self.row_of(space, index);
        if stride > 0 {
            let some = self.b.ins().bor_imm_u(members, 1);
            let above = self.b.ins().clz(some);
            let most = self.b.ins().iconst(I64, 63);
            let last = self.b.ins().isub(most, above);
            let offset = self.b.ins().imul_imm_s(last, i64::from(stride));
            let index = self.b.ins().iadd(index, offset);
            self.row_of(space, index);
        }
        Along { first, stride }
    }

    fn row_along(&mut self, rows: &Along, member: Value) -> Value {
        if rows.stride == 0 {
            return rows.first;
        }
        let offset = self.b.ins().imul_imm_s(member, i64::from(rows.stride) * i64::from(WORD));
        self.b.ins().iadd(rows.first, offset)
    }

    /// Runs the body for each member; those for whom it has something.
    fn for_each(&mut self, members: Value, body: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let [rest, used] = std::array::from_fn(|_| self.b.declare_var(I64));
        let none = self.b.ins().iconst(I64, 0);
        self.b.def_var(rest, members);
        self.b.def_var(used, none);
        let [head, turn, end] = std::array::from_fn(|_| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let row = self.b.use_var(rest);
        self.b.ins().brif(row, turn, &[], end, &[]);
        self.b.switch_to_block(turn);
        let (member, less) = self.pop(row);
        self.b.def_var(rest, less);
        let found = body(self, member);
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, found, 0);
        let some = self.b.ins().uextend(I64, some);
        let some = self.b.ins().ishl(some, member);
        let all = self.b.use_var(used);
        let all = self.b.ins().bor(all, some);
        self.b.def_var(used, all);
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(end);
        self.b.use_var(used)
    }
}
