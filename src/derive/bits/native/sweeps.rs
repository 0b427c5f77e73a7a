//! Loops over parallel rows, in machine code, without branches except the loop's own.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::I64};

use super::super::code::{Reg, Space};
use super::super::machine::{Demanded, Noted, Place, Sweep, SweepTerm};
use super::super::word::Word;
use super::call::{self, Helper};
use super::leaf::UNROLLED;
use super::lower::{Lower, keyless};
use super::rows::{Row, WORD_SHIFT};

/// Rows at equal distances, by the address of the first. Those of all members are in range.
struct StridedRows {
    first: Value,
    stride: u32,
}

/// A term, as far as it does not depend on the member.
pub(super) struct Side {
    rows: StridedRows,
    negated: bool,
}

impl<W: Word> Lower<'_, '_, W> {
    /// Adds the AND of accumulator and terms to the members' rows.
    pub(super) fn sweep(&mut self, sweep: &Sweep, mut members: Row) {
        if let Some(tests) = sweep.tests {
            let all = self.b.ins().iconst(I64, -1);
            let all = Row::from_elem(all, members.len());
            members = self.common(tests, &members, &all);
        }
        let fixed = self.acc();
        let sides = self.sides(sweep.terms, &members);
        let space = sweep.space();
        let rows = self.along(space, sweep.row, sweep.stride, &members);
        let grow = |it: &mut Self, member, found: &Row| {
            let address = it.row_along(&rows, member);
            it.grow_row(address, found);
        };
        let used = match sweep.support {
            Some((_, Noted::Members)) => self.for_each(&members, |it, member| {
                let found = it.found(&sides, member, &fixed);
                grow(it, member, &found);
                it.any(&found)
            }),
            // It matters only whether there are members, and a single row is grown only once.
            None | Some((_, Noted::Register(_))) => {
                let all = self.union_of(&members, |it, member| {
                    let found = it.found(&sides, member, &fixed);
                    if sweep.stride != 0 {
                        grow(it, member, &found);
                    }
                    found
                });
                if sweep.stride == 0 {
                    self.grow_row(rows.first, &all);
                }
                all
            }
        };
        let Some((base, noted)) = sweep.support else { return };
        let some = self.any(&used);
        self.when(some, |it| {
            let noted = match noted {
                Noted::Members => used,
                Noted::Register(reg) => it.one(reg),
            };
            let address = it.row_at(space, keyless(base));
            it.grow_row(address, &noted);
        });
    }

    /// Sets the members for which the AND of accumulator and terms is not empty.
    pub(super) fn gather(&mut self, sweep: &Sweep, members: &Row) {
        let acc = self.acc();
        let found = self.common(sweep.terms, members, &acc);
        let address = self.row_at(sweep.space(), sweep.row);
        self.grow_row(address, &found);
    }

    /// Empties the rows of a relation of the frame that are in use.
    pub(super) fn empty(&mut self, entry: &Demanded, used: &Row) {
        if entry.stride != 1 {
            if self.leaf.is_some() && entry.stride <= UNROLLED {
                return self.empty_blocks(entry, used);
            }
            let place = i64::from(entry.base) << 32 | i64::from(entry.stride);
            let place = self.b.ins().iconst(I64, place);
            self.pass(call::empty::<W> as Helper, place, used);
            return;
        }
        let rows = self.along(Space::Frame, keyless(entry.base), 1, used);
        self.for_each(used, |it, member| {
            let address = it.row_along(&rows, member);
            it.empty_row(address);
            member
        });
    }

    /// Narrows the accumulator to the members whose row has the bit, or does not have it.
    pub(super) fn filter(&mut self, term: &SweepTerm, bit: Reg) {
        let members = self.acc();
        let side = self.side(term, &members);
        let found = self.for_each(&members, |it, member| {
            let address = it.row_along(&side.rows, member);
            let (address, within) = it.word_of(address, bit);
            let word = it.load_word(address, 0);
            let word = if side.negated { it.b.ins().bnot(word) } else { word };
            it.b.ins().band(word, within)
        });
        self.set_acc(&found);
    }

    /// The members for which the AND of the terms and the fixed row is not empty.
    fn common(&mut self, terms: [SweepTerm; 2], members: &Row, fixed: &Row) -> Row {
        let sides = self.sides(terms, members);
        self.for_each(members, |it, member| {
            let found = it.found(&sides, member, fixed);
            it.any(&found)
        })
    }

    /// The AND of the fixed row and a member's rows.
    pub(super) fn found(&mut self, sides: &[Side], member: Value, fixed: &Row) -> Row {
        sides.iter().fold(fixed.clone(), |all, side| {
            let row = self.term(side, member);
            self.both(&all, &row)
        })
    }

    /// The terms; a duplicate is dropped.
    pub(super) fn sides(&mut self, terms: [SweepTerm; 2], members: &Row) -> Vec<Side> {
        let n = if terms[0] == terms[1] { 1 } else { 2 };
        terms[..n].iter().map(|it| self.side(it, members)).collect()
    }

    fn side(&mut self, term: &SweepTerm, members: &Row) -> Side {
        let rows = self.along(term.space, term.place, term.stride, members);
        Side { rows, negated: term.negated }
    }

    /// A member's row of a term.
    fn term(&mut self, side: &Side, member: Value) -> Row {
        let address = self.row_along(&side.rows, member);
        let row = self.load_row(address);
        match side.negated {
            true => row.iter().map(|it| self.b.ins().bnot(*it)).collect(),
            false => row,
        }
    }

    /// The rows of members. The first and the last one are checked to be in range, so that all are.
    fn along(&mut self, space: Space, first: Place, stride: u32, members: &Row) -> StridedRows {
        let (index, highest) = (self.index(first), self.highest(first));
        let most = highest.map(|it| it + u64::from(stride) * (W::WIDTH as u64 - 1));
        let first = self.row_at(space, first);
        if stride > 0 && most.is_none_or(|it| it >= self.bound_of_rows(space)) {
            let last = self.last(members);
            let offset = self.b.ins().imul_imm_s(last, i64::from(stride));
            let index = self.b.ins().iadd(index, offset);
            self.row_of(space, index);
        }
        StridedRows { first, stride }
    }

    /// The highest member, 0 if there is none.
    pub(super) fn last(&mut self, members: &Row) -> Value {
        let mut last = None;
        for (at, &word) in members.iter().enumerate() {
            let some = if at == 0 { self.b.ins().bor_imm_u(word, 1) } else { word };
            let above = self.b.ins().clz(some);
            let most = self.b.ins().iconst(I64, at as i64 * 64 + 63);
            let here = self.b.ins().isub(most, above);
            last = Some(match last {
                None => here,
                Some(lower) => self.b.ins().select(word, here, lower),
            });
        }
        last.unwrap_or_else(|| self.b.ins().iconst(I64, 0))
    }

    fn row_along(&mut self, rows: &StridedRows, member: Value) -> Value {
        if rows.stride == 0 {
            return rows.first;
        }
        let bytes = i64::from(rows.stride) << Self::ROW_SHIFT;
        let offset = self.b.ins().imul_imm_s(member, bytes);
        self.b.ins().iadd(rows.first, offset)
    }

    /// Runs the body for each member; returns the union of the results.
    pub(super) fn union_of(
        &mut self,
        members: &Row,
        body: impl FnOnce(&mut Self, Value) -> Row,
    ) -> Row {
        let all = self.zeroed_row();
        self.members(members, |it, member| {
            let found = body(it, member);
            let before = it.values(&all);
            let union = it.either(&before, &found);
            it.set(&all, &union);
        });
        self.values(&all)
    }

    /// Runs the body for each member; returns those with a result other than 0.
    fn for_each(&mut self, members: &Row, body: impl FnOnce(&mut Self, Value) -> Value) -> Row {
        self.union_of(members, |it, member| {
            let found = body(it, member);
            let some = it.b.ins().icmp_imm_s(IntCC::NotEqual, found, 0);
            let some = it.b.ins().uextend(I64, some);
            let some = it.b.ins().ishl(some, member);
            let word = it.b.ins().ushr_imm_u(member, WORD_SHIFT);
            it.spread(word, some)
        })
    }

    /// Does something for each member of a row. The test is after the body: Cranelift would place the body of
    /// a loop that begins with its test after everything that follows the loop.
    pub(super) fn members(&mut self, row: &Row, body: impl FnOnce(&mut Self, Value)) {
        let rest = self.declare();
        self.set(&rest, row);
        let [turn, end] = std::array::from_fn(|_| self.b.create_block());
        let some = self.any(row);
        self.b.ins().brif(some, turn, &[], end, &[]);
        self.b.switch_to_block(turn);
        let row = self.values(&rest);
        let (member, less) = self.pop(&row);
        self.set(&rest, &less);
        body(self, member);
        let less = self.values(&rest);
        let more = self.any(&less);
        self.b.ins().brif(more, turn, &[], end, &[]);
        self.b.switch_to_block(end);
    }

    /// Repeats something a number of times.
    pub(super) fn repeat(&mut self, times: u32, body: impl FnOnce(&mut Self, Value)) {
        let at = self.zeroed();
        let [head, end] = std::array::from_fn(|_| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let now = self.b.use_var(at);
        body(self, now);
        let next = self.b.ins().iadd_imm_s(now, 1);
        self.b.def_var(at, next);
        let more = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, next, i64::from(times));
        self.b.ins().brif(more, head, &[], end, &[]);
        self.b.switch_to_block(end);
    }
}
