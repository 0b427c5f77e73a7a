//! Lists of statics, which are known: each tuple is code of its own.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::I64};
use cranelift_frontend::Variable;

use super::super::super::code::{Reg, RegList};
use super::super::super::compile::Compiled;
use super::super::super::machine::Scan;
use super::super::super::word::Word;
use super::super::lower::Lower;

/// Maximum number of tuples that code is made of.
const TUPLES: usize = 24;

/// Whether the list is one that code can be made of.
pub(super) fn is_short<W: Word>(c: &Compiled<W>, scan: u32) -> bool {
    let scan = &c.machine.scans[scan as usize];
    c.static_list(scan).is_some_and(|it| it.len() <= TUPLES)
}

impl<W: Word> Lower<'_, '_, W> {
    /// Runs the body for each tuple of a list; a solution goes on at the block.
    pub(in super::super) fn scan_static(&mut self, scan: &Scan, body: u32, found: Block) {
        let tuples = self.tuples(scan);
        let (bound, free) = (self.list_of(scan.bound), self.list_of(scan.free));
        for tuple in tuples {
            let next = self.b.create_block();
            self.unless_they_are(&bound, &tuple, next);
            for (&reg, &value) in free.iter().zip(&tuple[bound.len()..]) {
                let value = self.b.ins().iconst(I64, value);
                self.set_reg(reg, value);
            }
            self.inline(body, [next, found]);
            self.b.switch_to_block(next);
        }
    }

    /// A value that is not 0 if some tuple of a list begins so.
    pub(in super::super) fn static_scan_hits(&mut self, scan: &Scan) -> Value {
        let tuples = self.tuples(scan);
        let bound = self.list_of(scan.bound);
        let hits: Variable = self.b.declare_var(I64);
        let [zero, one] = [0, 1].map(|it| self.b.ins().iconst(I64, it));
        let end = self.b.create_block();
        self.b.def_var(hits, one);
        for tuple in tuples {
            let next = self.b.create_block();
            self.unless_they_are(&bound, &tuple, next);
            self.b.ins().jump(end, &[]);
            self.b.switch_to_block(next);
        }
        self.b.def_var(hits, zero);
        self.b.ins().jump(end, &[]);
        self.b.switch_to_block(end);
        self.b.use_var(hits)
    }

    /// Goes on if the registers have the first values of a tuple.
    fn unless_they_are(&mut self, bound: &[Reg], tuple: &[i64], other: Block) {
        for (&reg, &value) in bound.iter().zip(tuple) {
            let has = self.reg(reg);
            let is_it = self.b.ins().icmp_imm_s(IntCC::Equal, has, value);
            self.unless(is_it, other);
        }
    }

    fn tuples(&self, scan: &Scan) -> Vec<Vec<i64>> {
        let list = self.c.static_list(scan);
        list.into_iter().flat_map(|it| it.tuples()).map(<[i64]>::to_vec).collect()
    }

    fn list_of(&self, list: RegList) -> Vec<Reg> {
        self.c.machine.regs[list.start as usize..(list.start + list.len) as usize].to_vec()
    }
}
