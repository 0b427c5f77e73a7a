//! Scans of the lists of statics, whose tuples are known when code is made: a table finds them by prefix.
//!
//! Lists of the session that are derived after an action are empty here: code that would add a tuple to one gives up
//! instead, as it does where it comes to any other list.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types::I64};
use cranelift_frontend::Variable;

use super::super::super::compile::Compiled;
use super::super::super::machine::Scan;
use super::super::super::word::Word;
use super::super::lower::{Lower, WORD};

/// Maximum number of tuples of a list that has a table.
const TUPLES: usize = 1 << 14;

/// Maximum number of places of a table.
const PLACES: usize = 1 << 14;

/// For each scan of a program, its table, if it has one.
pub(super) struct Tables(Vec<Option<Table>>);

/// The tuples of a list by prefix.
struct Table {
    /// For each column of the prefix: one more than its largest value.
    sizes: Vec<usize>,
    /// For each prefix of values below these sizes: the offsets in bytes where its tuples begin and end.
    places: Vec<[i64; 2]>,
    /// The values of all tuples, without the prefix.
    values: Vec<i64>,
}

impl Tables {
    pub(super) fn of<W: Word>(c: &Compiled<W>) -> Self {
        Self(c.machine.scans.iter().map(|it| Table::of(c, it)).collect())
    }

    fn of_scan(&self, scan: u32) -> Option<&Table> {
        self.0.get(scan as usize)?.as_ref()
    }

    /// Whether the list of a scan has a table. Lists of the session have none, nor have all statics.
    pub(super) fn knows(&self, scan: u32) -> bool {
        self.of_scan(scan).is_some()
    }
}

impl Table {
    fn of<W: Word>(c: &Compiled<W>, scan: &Scan) -> Option<Self> {
        let list = c.static_list(scan).filter(|it| it.len() <= TUPLES)?;
        let known = scan.bound.len as usize;
        let mut sizes = vec![1_usize; known];
        for tuple in list.tuples() {
            for (size, &value) in sizes.iter_mut().zip(tuple) {
                *size = (*size).max(usize::try_from(value).ok()?.checked_add(1)?);
            }
        }
        let places = sizes.iter().try_fold(1_usize, |all, it| all.checked_mul(*it))?;
        if places > PLACES {
            return None;
        }
        let mut table = Self { sizes, places: vec![[0; 2]; places], values: Vec::new() };
        for tuple in list.tuples() {
            let place =
                tuple.iter().zip(&table.sizes).fold(0, |at, (it, size)| at * size + *it as usize);
            let start = table.values.len() as i64 * i64::from(WORD);
            table.values.extend(&tuple[known..]);
            // Tuples with the same prefix are consecutive. One that is all prefix has no values; it gets the room of a
            // word, since one that begins where it ends is none.
            let end = start + i64::from(WORD) * (tuple.len() - known).max(1) as i64;
            let [first, last] = &mut table.places[place];
            *first = if *last == 0 { start } else { *first };
            *last = end;
        }
        Some(table)
    }
}

impl<W: Word> Lower<'_, '_, W> {
    /// Runs the body for each tuple of a list; a solution goes on at `found`.
    pub(in super::super) fn scan_list(&mut self, scan: u32, body: u32, found: Block) {
        if !self.tables().knows(scan) {
            if !self.is_empty_list(scan) {
                self.give_up();
            }
            return;
        }
        let part = self.compiled.machine.scans[scan as usize];
        let end = self.b.create_block();
        let [start, last] = self.range(scan, end);
        let free = self.compiled.machine.registers(part.free);
        let at: Variable = self.b.declare_var(I64);
        self.b.def_var(at, start);
        let [head, turn, next] = std::array::from_fn(|_| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let now = self.b.use_var(at);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, now, last);
        self.b.ins().brif(more, turn, &[], end, &[]);
        self.b.switch_to_block(turn);
        let values = self.table_values(scan);
        let tuple = self.b.ins().iadd(values, now);
        for (at, &reg) in (0..).zip(free) {
            let value = self.load_number(tuple, at * WORD);
            self.set_reg(reg, value);
        }
        let after = self.b.ins().iadd_imm_s(now, i64::from(WORD) * free.len().max(1) as i64);
        self.b.def_var(at, after);
        self.inline(body, [next, found]);
        self.b.switch_to_block(next);
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(end);
    }

    /// Whether the list of a scan, which has no table, is known to be empty: it is derived after the action. What
    /// reactions read may have been derived before.
    fn is_empty_list(&mut self, scan: u32) -> bool {
        let store = self.compiled.machine.scans[scan as usize].store as usize;
        !self.compiled.list_is_static[store] && self.leaf().solving.is_none()
    }

    /// Goes on at `fails` if no tuple of a list has the prefix, or, negated, if one has.
    pub(super) fn test_list(&mut self, scan: u32, negated: bool, fails: Block) {
        if !self.tables().knows(scan) {
            if !self.is_empty_list(scan) {
                self.give_up();
            } else if !negated {
                self.leave(fails);
            }
            return;
        }
        let [none, next] = std::array::from_fn(|_| self.b.create_block());
        let [start, last] = self.range(scan, none);
        let some = self.b.ins().icmp(IntCC::SignedLessThan, start, last);
        let (hit, missed) = if negated { (fails, next) } else { (next, fails) };
        self.b.ins().brif(some, hit, &[], missed, &[]);
        self.b.switch_to_block(none);
        self.b.ins().jump(missed, &[]);
        self.b.switch_to_block(next);
    }

    /// Where the tuples begin and end that have the prefix in the registers: at the same place if there are none.
    /// Goes on at `none` if a value of the prefix is beyond those of all tuples.
    fn range(&mut self, scan: u32, none: Block) -> [Value; 2] {
        let bound =
            self.compiled.machine.registers(self.compiled.machine.scans[scan as usize].bound);
        let (sizes, places) = match self.tables().of_scan(scan) {
            Some(it) => (it.sizes.clone(), it.places.as_ptr() as i64),
            None => (Vec::new(), 0),
        };
        let mut place = self.b.ins().iconst(I64, 0);
        for (&reg, &size) in bound.iter().zip(&sizes) {
            let value = self.reg(reg);
            let inside = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, value, size as i64);
            self.unless(inside, none);
            let before = self.b.ins().imul_imm_s(place, size as i64);
            place = self.b.ins().iadd(before, value);
        }
        let offset = self.b.ins().ishl_imm_u(place, 4);
        let places = self.b.ins().iconst(I64, places);
        let address = self.b.ins().iadd(places, offset);
        [0, WORD].map(|at| self.load_number(address, at))
    }

    fn tables(&self) -> &Tables {
        &self.leaf.as_ref().expect("it is a function of leaves").shared.tables
    }

    fn table_values(&mut self, scan: u32) -> Value {
        let values = self.tables().of_scan(scan).map_or(0, |it| it.values.as_ptr() as i64);
        self.b.ins().iconst(I64, values)
    }
}
