//! Instructions that go through lists of tuples: those of statics, and those of the session.
//!
//! Deliberately absent: how lists are sorted (`lists`).

use super::code::RegList;
use super::compile::Compiled;
use super::lists::Sparse;
use super::machine::Scan;
use super::run::State;
use super::word::Word;

impl<W: Word> State<W> {
    fn list<'a>(&'a self, c: &'a Compiled<W>, store: u32) -> &'a Sparse {
        if c.list_is_static[store as usize] {
            &c.statics.sparse[store as usize]
        } else {
            &self.lists[store as usize]
        }
    }

    #[inline(never)]
    pub(super) fn scan_hits(&self, c: &Compiled<W>, scan: u32) -> bool {
        let scan = &c.machine.scans[scan as usize];
        let prefix = self.values(c, scan.bound);
        self.list(c, scan.store).range(scan.order as usize, &prefix).0 > 0
    }

    #[inline(never)]
    pub(super) fn scan(&mut self, c: &Compiled<W>, scan: u32, body: u32) -> bool {
        let Scan { store, order, bound, free } = c.machine.scans[scan as usize];
        let prefix = self.values(c, bound);
        if c.list_is_static[store as usize] {
            let (len, found) = c.statics.sparse[store as usize].range(order as usize, &prefix);
            return self.visit(c, [len, prefix.len()], found, free, body);
        }
        // The list is not written while it is read: a rule emits into `fresh`.
        let (len, found) = self.lists[store as usize].range(order as usize, &prefix);
        let found = found.to_vec();
        self.visit(c, [len, prefix.len()], &found, free, body)
    }

    /// Runs the body for each of so many tuples, whose first columns are known.
    fn visit(
        &mut self,
        c: &Compiled<W>,
        [len, known]: [usize; 2],
        found: &[i64],
        free: RegList,
        body: u32,
    ) -> bool {
        let arity = found.len().checked_div(len).unwrap_or(0);
        let regs = &c.machine.regs[free.start as usize..(free.start + free.len) as usize];
        let all = (0..len).map(|at| &found[at * arity + known..(at + 1) * arity]);
        for values in all {
            if !self.fuel.spend(1, c.machine.owner[body as usize]) {
                return false;
            }
            for (reg, &value) in regs.iter().zip(values) {
                self.regs[usize::from(*reg)] = value;
            }
            if self.exec(c, body) {
                return true;
            }
        }
        false
    }
}
