//! Rows in machine code: one value for each word.
//!
//! Deliberately absent: addresses of rows and bounds checks (`places`).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::{InstBuilder, Value, types::I64};
use cranelift_frontend::Variable;
use smallvec::SmallVec;

use super::super::code::{Reg, Space};
use super::super::machine::Place;
use super::super::word::Word;
use super::lower::{Lower, WORD};

/// Bits of a word, as a power of two.
pub(super) const WORD_SHIFT: i64 = 6;

/// The words of a row, the lowest members first.
pub(super) type Row = SmallVec<[Value; 4]>;
/// A row that changes: a variable for each word.
pub(super) type RowVars = SmallVec<[Variable; 4]>;

impl<W: Word> Lower<'_, '_, W> {
    /// Words of a row: 1, 2 or 4.
    pub(super) const WORDS: usize = W::WIDTH / 64;
    /// Bytes of a row, as a power of two.
    pub(super) const ROW_SHIFT: i64 = 3 + Self::WORDS.ilog2() as i64;

    /// A new variable that is 0.
    pub(super) fn zeroed(&mut self) -> Variable {
        let (new, zero) = (self.b.declare_var(I64), self.b.ins().iconst(I64, 0));
        self.b.def_var(new, zero);
        new
    }

    /// A new row that changes, empty for now.
    pub(super) fn zeroed_row(&mut self) -> RowVars {
        (0..Self::WORDS).map(|_| self.zeroed()).collect()
    }

    pub(super) fn declare(&mut self) -> RowVars {
        (0..Self::WORDS).map(|_| self.b.declare_var(I64)).collect()
    }

    pub(super) fn values(&mut self, vars: &RowVars) -> Row {
        vars.iter().map(|it| self.b.use_var(*it)).collect()
    }

    pub(super) fn set(&mut self, vars: &RowVars, row: &Row) {
        vars.iter().zip(row).for_each(|(it, word)| self.b.def_var(*it, *word));
    }

    pub(super) fn acc(&mut self) -> Row {
        let acc = self.acc.clone();
        self.values(&acc)
    }

    pub(super) fn set_acc(&mut self, row: &Row) {
        let acc = self.acc.clone();
        self.set(&acc, row);
    }

    /// The lowest member of a row that is not empty, and the row without it.
    pub(super) fn pop(&mut self, row: &Row) -> (Value, Row) {
        let lowest: Row = row.iter().map(|it| self.b.ins().ctz(*it)).collect();
        let less: Row = row.iter().map(|it| self.without_lowest(*it)).collect();
        let last = row.len() - 1;
        // From the highest word down, so that the lowest with members decides.
        let mut member = self.b.ins().iadd_imm_s(lowest[last], last as i64 * 64);
        for at in (0..last).rev() {
            let here = self.b.ins().iadd_imm_s(lowest[at], at as i64 * 64);
            member = self.b.ins().select(row[at], here, member);
        }
        // A word loses its lowest member if the lower words have none.
        let (mut rest, mut below) = (Row::new(), row[0]);
        rest.push(less[0]);
        for at in 1..=last {
            rest.push(self.b.ins().select(below, row[at], less[at]));
            below = self.b.ins().bor(below, row[at]);
        }
        (member, rest)
    }

    fn without_lowest(&mut self, word: Value) -> Value {
        let less = self.b.ins().iadd_imm_s(word, -1);
        self.b.ins().band(word, less)
    }

    /// A value that is not 0 if the row has members.
    pub(super) fn any(&mut self, row: &Row) -> Value {
        row[1..].iter().fold(row[0], |all, it| self.b.ins().bor(all, *it))
    }

    pub(super) fn both(&mut self, row: &Row, other: &Row) -> Row {
        row.iter().zip(other).map(|(a, b)| self.b.ins().band(*a, *b)).collect()
    }

    pub(super) fn either(&mut self, row: &Row, other: &Row) -> Row {
        row.iter().zip(other).map(|(a, b)| self.b.ins().bor(*a, *b)).collect()
    }

    pub(super) fn without(&mut self, row: &Row, other: &Row) -> Row {
        row.iter().zip(other).map(|(a, b)| self.b.ins().band_not(*a, *b)).collect()
    }

    pub(super) fn differ(&mut self, row: &Row, other: &Row) -> Row {
        row.iter().zip(other).map(|(a, b)| self.b.ins().bxor(*a, *b)).collect()
    }

    /// The number of the word that a member is in, and a word with only the member's bit.
    fn place_of(&mut self, member: Value) -> (Value, Value) {
        let one = self.b.ins().iconst(I64, 1);
        let within = self.b.ins().ishl(one, member); // shifts by the member modulo 64
        let word = self.b.ins().ushr_imm_u(member, WORD_SHIFT);
        (self.b.ins().band_imm_s(word, Self::WORDS as i64 - 1), within)
    }

    /// The row that has `within` as the word of that number, and all other words empty.
    pub(super) fn spread(&mut self, word: Value, within: Value) -> Row {
        if Self::WORDS == 1 {
            return Row::from_elem(within, 1);
        }
        let none = self.b.ins().iconst(I64, 0);
        let here = |at: usize, it: &mut Self| {
            let is = it.b.ins().icmp_imm_s(IntCC::Equal, word, at as i64);
            it.b.ins().select(is, within, none)
        };
        (0..Self::WORDS).map(|at| here(at, self)).collect()
    }

    /// The address of the word that the member in a register is in, and a word with only the member's bit.
    /// `address` is that of the row.
    pub(super) fn word_of(&mut self, address: Value, member: Reg) -> (Value, Value) {
        let member = self.reg(member);
        self.word_with(address, member)
    }

    /// As [`Self::word_of`], for a member that is in no register.
    pub(super) fn word_with(&mut self, address: Value, member: Value) -> (Value, Value) {
        let (word, within) = self.place_of(member);
        if Self::WORDS == 1 {
            return (address, within);
        }
        let offset = self.b.ins().ishl_imm_u(word, 3);
        (self.b.ins().iadd(address, offset), within)
    }

    pub(super) fn load_row(&mut self, address: Value) -> Row {
        (0..Self::WORDS as i32).map(|at| self.load_word(address, at * WORD)).collect()
    }

    pub(super) fn load_word(&mut self, address: Value, offset: i32) -> Value {
        self.b.ins().load(I64, Self::memory(self.rows_region), address, Offset32::new(offset))
    }

    pub(super) fn store_word(&mut self, address: Value, offset: i32, word: Value) {
        let flags = Self::memory(self.rows_region);
        self.b.ins().store(flags, word, address, Offset32::new(offset));
    }

    pub(super) fn store_row(&mut self, address: Value, row: &Row) {
        for (at, &word) in (0..).zip(row) {
            self.store_word(address, at * WORD, word);
        }
    }

    pub(super) fn grow_row(&mut self, address: Value, by: &Row) {
        for (at, &by) in (0..).zip(by) {
            let word = self.load_word(address, at * WORD);
            let word = self.b.ins().bor(word, by);
            self.store_word(address, at * WORD, word);
        }
    }

    pub(super) fn empty_row(&mut self, address: Value) {
        let zero = self.b.ins().iconst(I64, 0);
        (0..Self::WORDS as i32).for_each(|at| self.store_word(address, at * WORD, zero));
    }

    pub(super) fn row(&mut self, space: Space, at: Place) -> Row {
        let address = self.row_at(space, at);
        self.load_row(address)
    }

    pub(super) fn one(&mut self, bit: Reg) -> Row {
        let bit = self.reg(bit);
        self.one_of(bit)
    }

    pub(super) fn one_of(&mut self, member: Value) -> Row {
        let (word, within) = self.place_of(member);
        self.spread(word, within)
    }

    pub(super) fn first(&mut self, n: u16) -> Row {
        let of = |at: usize| <u64 as Word>::first(usize::from(n).saturating_sub(64 * at));
        (0..Self::WORDS).map(|at| self.b.ins().iconst(I64, of(at) as i64)).collect()
    }
}
