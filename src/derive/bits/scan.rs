//! Lists of tuples in the interpreter: scans of those of statics and of the session, and refilling the latter.
//!
//! Deliberately absent: how lists are sorted (`lists`).

use std::sync::Arc;

use super::super::rows::Tuple;
use super::code::StoreId;
use super::compile::Compiled;
use super::lists::{Sorted, Sparse};
use super::machine::Scan;
use super::run::State;
use super::word::Word;

impl<W: Word> Compiled<W> {
    /// The list of a scan, in its order, if it is a static.
    #[cfg(feature = "native")]
    pub(super) fn static_list(&self, scan: &Scan) -> Option<&Arc<Sorted>> {
        self.list_is_static[scan.store as usize].then(|| self.list(&self.statics.sparse, scan))?
    }

    fn list<'a>(&self, lists: &'a [Sparse], scan: &Scan) -> Option<&'a Arc<Sorted>> {
        let store = scan.store as usize;
        let order = self.orders[store].get(scan.order as usize).map_or(&[][..], Vec::as_slice);
        lists[store].sorted(scan.order as usize, order)
    }
}

impl<W: Word> State<W> {
    /// The list of a scan, in its order.
    fn list<'a>(&'a self, c: &'a Compiled<W>, scan: &Scan) -> Option<&'a Arc<Sorted>> {
        let is_static = c.list_is_static[scan.store as usize];
        c.list(if is_static { &c.statics.sparse } else { &self.lists }, scan)
    }

    /// Replaces the tuples of a list of the session. Returns an empty buffer for the next tuples.
    pub(super) fn refill(
        &mut self,
        c: &Compiled<W>,
        store: StoreId,
        tuples: Vec<Tuple>,
    ) -> Vec<Tuple> {
        let orders = c.orders[store as usize].len();
        self.lists[store as usize].fill(tuples, orders)
    }

    /// Whether the list has a tuple with the values of the bound columns.
    #[inline(never)]
    pub(super) fn scan_hits(&self, c: &Compiled<W>, scan: u32) -> bool {
        let scan = &c.machine.scans[scan as usize];
        let prefix = self.values(c, scan.bound);
        self.list(c, scan).is_some_and(|it| it.range(&prefix).0 > 0)
    }

    /// Runs the body for each tuple with the values of the bound columns. Returns true if a `Found` stopped it.
    #[inline(never)]
    pub(super) fn scan(&mut self, c: &Compiled<W>, scan: u32, body: u32) -> bool {
        let scan = c.machine.scans[scan as usize];
        let prefix = self.values(c, scan.bound);
        // A handle of its own, since the body may change the state.
        let Some(list) = self.list(c, &scan).map(Arc::clone) else { return false };
        let (len, found) = list.range(&prefix);
        let arity = found.len().checked_div(len).unwrap_or(0);
        let regs = c.machine.registers(scan.free);
        for at in 0..len {
            let values = &found[at * arity + prefix.len()..(at + 1) * arity];
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
