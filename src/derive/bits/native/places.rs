//! Addresses of rows and values in machine code.
//!
//! An index is checked against a bound, unless the values that its registers can have keep it in range.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::I64};

use super::super::code::{Reg, Space};
use super::super::machine::Place;
use super::super::word::Word;
use super::lower::Lower;

impl<W: Word> Lower<'_, '_, W> {
    /// The number of a row or value: base plus keys times strides.
    pub(super) fn index(&mut self, at: Place) -> Value {
        let mut index = None;
        for (key, stride) in at.keys.into_iter().zip(at.strides) {
            if stride == 0 {
                continue;
            }
            let key = self.reg(key);
            let part = match stride {
                1 => key,
                _ => self.b.ins().imul_imm_s(key, i64::from(stride)),
            };
            index = Some(match index {
                None => part,
                Some(sum) => self.b.ins().iadd(sum, part),
            });
        }
        match index {
            None => self.b.ins().iconst(I64, i64::from(at.base)),
            Some(index) => self.b.ins().iadd_imm_s(index, i64::from(at.base)),
        }
    }

    /// The address of a row of the space, with a bounds check.
    pub(super) fn row_of(&mut self, space: Space, index: Value) -> Value {
        let (start, n) = self.rows_in(space);
        self.address(start, index, n, Self::ROW_SHIFT)
    }

    /// The address that the rows of a space are counted from, and the bound of their indices.
    fn rows_in(&mut self, space: Space) -> (Value, u64) {
        let start = match space {
            Space::Static => self.b.ins().iconst(I64, self.compiled.statics.rows.as_ptr() as i64),
            Space::Maintained => self.rows,
            Space::Frame => self.rows_of_frame,
        };
        (start, self.bound_of_rows(space))
    }

    /// The bound of the indices of rows of a space. The rows of the frame are numbered on from the maintained ones, so
    /// there is one bound for both.
    pub(super) fn bound_of_rows(&self, space: Space) -> u64 {
        match space {
            Space::Static => self.compiled.statics.rows.len() as u64,
            Space::Maintained | Space::Frame => self.rows_with_frame(),
        }
    }

    /// The address of an element of an array, with a bounds check. An element takes `1 << shift` bytes.
    fn address(&mut self, start: Value, index: Value, n: u64, shift: i64) -> Value {
        let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, index, n as i64);
        self.or_fault(inside);
        self.address_inside(start, index, shift)
    }

    fn address_inside(&mut self, start: Value, index: Value, shift: i64) -> Value {
        let offset = self.b.ins().ishl_imm_u(index, shift);
        self.b.ins().iadd(start, offset)
    }

    /// The address of the row at a place of the space, with the index checked as in [`Lower::address_at`].
    pub(super) fn row_at(&mut self, space: Space, at: Place) -> Value {
        let (start, n) = self.rows_in(space);
        self.address_at(start, at, n, Self::ROW_SHIFT)
    }

    /// The address of a place in an array of `n` elements. Its index is checked against `n`, unless its registers hold
    /// members of rows or constants, and the highest index that these allow is in range.
    pub(super) fn address_at(&mut self, start: Value, at: Place, n: u64, shift: i64) -> Value {
        let index = self.index(at);
        match self.highest(at) {
            Some(highest) if highest < n => self.address_inside(start, index, shift),
            _ => self.address(start, index, n, shift),
        }
    }

    /// The highest index that a place can have, if that is known from its registers.
    pub(super) fn highest(&self, at: Place) -> Option<u64> {
        let mut highest = u64::from(at.base);
        for (key, stride) in at.keys.into_iter().zip(at.strides) {
            if stride != 0 {
                highest += u64::from(stride) * self.highest_in(key)?;
            }
        }
        Some(highest)
    }

    fn highest_in(&self, reg: Reg) -> Option<u64> {
        match self.constants.get(&reg) {
            Some(&value) => u64::try_from(value).ok().filter(|it| *it < 1 << 32),
            None => self.members.contains(&reg).then_some(W::WIDTH as u64 - 1),
        }
    }
}
