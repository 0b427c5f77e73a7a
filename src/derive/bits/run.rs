//! The interpreter: runs instructions over the rows of one session.
//!
//! Deliberately absent: when to run what (`live.rs`) and how instructions are made.

use super::code::{ExprId, ExprNode, REGS, Reg, RegList, Space};
use super::compile::Compiled;
use super::fuel::Fuel;
use super::layout::NONE;
use super::lists::Sparse;
use super::machine::{Chase, Demanded, Inst, KeptId, Noted, Place, SLOTS, Sweep, SweepTerm};
use super::planner::GIVEN;
use super::word::Word;
use crate::facts::Ids;
use crate::rules::{Arith, Fold};

use super::super::budget::{ROWS, Resource};
use super::super::rows::Tuple;

/// The rows of one session and the machine's registers.
#[derive(Debug, Clone)]
pub(super) struct State<W> {
    /// Inputs and maintained relations, then the frames of relations derived on demand (`frames.rs`).
    pub(super) rows: Vec<W>,
    /// Values of input functions.
    pub(super) funs: Vec<i64>,
    /// Where the current frame's rows begin, counted from the first frame's.
    pub(super) frame: usize,
    /// Whether each relation of a frame is derived, one bit each, frame after frame; and where the current
    /// frame's bits begin.
    pub(super) ready: Vec<u64>,
    pub(super) ready_at: usize,
    /// The lists of tuples, and what plans have added to each since it was filled.
    pub(super) lists: Vec<Sparse>,
    pub(super) fresh: Vec<Vec<Tuple>>,
    pub(super) regs: [i64; REGS],
    /// The remaining members of open loops.
    slots: [W; SLOTS],
    /// A row that machine code passes to a helper.
    #[cfg_attr(not(feature = "native"), expect(dead_code, reason = "machine code alone reads it"))]
    pub(super) passed: W,
    /// The arguments of the action whose reactions run.
    pub(super) args: Tuple,
    /// By [`KeptId`]: the tuples (`suspects`) or blocks (`dirty`) of each maintained relation that may have changed.
    /// Relations with any have a bit in `due`.
    pub(super) suspects: Vec<Vec<[i64; GIVEN.len()]>>,
    pub(super) dirty: Vec<W>,
    pub(super) due: Vec<u64>,
    /// Values of the named variables of a reaction's solutions, one solution after the other; and how many solutions
    /// there are.
    pub(super) solutions: Vec<i64>,
    pub(super) solved: usize,
    /// The ids for entities that effects create.
    pub(super) ids: Ids,
    /// Whether an output for each solution precedes its effects, for traces.
    pub(super) traced: bool,
    /// The solutions of the current fold: for each its key, then its values.
    collected: Vec<Vec<i64>>,
    /// Whether an expression of the current fold had no value.
    lacks_value: bool,
    pub(super) fuel: Fuel,
    /// Number of instructions run, by owner, if that was requested. One that goes over members counts once more for each.
    pub(super) counts: Option<Vec<u64>>,
}

impl<W: Word> State<W> {
    pub(super) fn new(compiled: &Compiled<W>) -> Self {
        let kept = compiled.maintained.len();
        let mut regs = [0; REGS];
        for &(value, reg) in &compiled.code.constants {
            regs[usize::from(reg)] = value;
        }
        Self {
            // The second frame is there for the first write that can be rolled back. Growing takes time, zeroed memory
            // that nothing touches takes none where rows are of 64 bits; wider ones are written once.
            rows: vec![W::default(); compiled.kept_rows + 2 * compiled.frame_rows],
            funs: vec![NONE; compiled.kept_funs],
            frame: 0,
            ready: vec![0; compiled.flags()],
            ready_at: 0,
            lists: vec![Sparse::default(); compiled.orders.len()],
            fresh: vec![Vec::new(); compiled.orders.len()],
            regs,
            slots: [W::default(); SLOTS],
            passed: W::default(),
            args: Tuple::new(),
            suspects: vec![Vec::new(); kept],
            dirty: vec![W::default(); kept],
            due: vec![0; kept.div_ceil(64)],
            solutions: Vec::new(),
            solved: 0,
            ids: Ids::default(),
            traced: false,
            collected: Vec::new(),
            lacks_value: false,
            fuel: Fuel::new(),
            counts: None,
        }
    }

    #[inline(always)]
    pub(super) fn reg(&self, reg: Reg) -> i64 {
        self.regs[usize::from(reg)]
    }

    #[inline(always)]
    fn at(&self, place: &Place) -> usize {
        let by = |it: usize| self.reg(place.keys[it]) as usize * usize::from(place.strides[it]);
        place.base as usize + by(0) + by(1)
    }

    /// One key with stride 1.
    #[inline(always)]
    fn near(&self, base: u32, key: Reg) -> usize {
        base as usize + self.reg(key) as usize
    }

    /// The value of one of these expressions; `None` if its arithmetic has none.
    #[inline]
    pub(super) fn expr(&self, exprs: &[ExprNode], expr: ExprId) -> Option<i64> {
        match exprs[expr.0 as usize] {
            ExprNode::Reg(reg) => Some(self.reg(reg)),
            ExprNode::Binary(op, lhs, rhs) => self.binary(exprs, op, [lhs, rhs]),
        }
    }

    #[inline(never)]
    fn binary(&self, exprs: &[ExprNode], op: Arith, sides: [ExprId; 2]) -> Option<i64> {
        op.apply(self.expr(exprs, sides[0])?, self.expr(exprs, sides[1])?)
    }

    #[inline(never)]
    pub(super) fn values(&self, c: &Compiled<W>, list: RegList) -> Tuple {
        let regs = c.machine.registers(list);
        let mut few = [0; 4];
        if regs.len() > few.len() {
            return regs.iter().map(|&it| self.reg(it)).collect();
        }
        for (value, &reg) in few.iter_mut().zip(regs) {
            *value = self.reg(reg);
        }
        Tuple::from_buf_and_len(few, regs.len())
    }

    /// Runs a stretch. Returns true if a `Found` stopped it.
    #[inline]
    pub(super) fn exec(&mut self, c: &Compiled<W>, pc: u32) -> bool {
        match c.native.get() {
            Some(Some(native)) if self.counts.is_none() => match native.entry(pc) {
                Some(code) => code.run(self, c),
                None => self.interpret(c, pc),
            },
            _ => self.interpret(c, pc),
        }
    }

    #[inline(never)]
    fn interpret(&mut self, c: &Compiled<W>, pc: u32) -> bool {
        let pc = pc as usize;
        if self.counts.is_some() { self.run::<true>(c, pc) } else { self.run::<false>(c, pc) }
    }

    /// Counts instructions, on request.
    #[inline(always)]
    fn note<const COUNT: bool>(&mut self, c: &Compiled<W>, pc: usize, n: u32) {
        if COUNT && let Some(counts) = &mut self.counts {
            counts[c.machine.owner[pc] as usize] += u64::from(n);
        }
    }

    fn run<const COUNT: bool>(&mut self, c: &Compiled<W>, mut pc: usize) -> bool {
        let insts = c.machine.insts.as_slice();
        let statics = c.statics.rows.as_slice();
        let frame = self.frame;
        let mut acc = W::default();
        /// Goes on if the condition holds, else jumps as the instruction says.
        macro_rules! check {
            ($holds:expr, $skip:expr) => {
                if !$holds {
                    pc += usize::from(*$skip);
                    continue;
                }
            };
        }
        /// Sets the accumulator to the row; goes on if it has members.
        macro_rules! narrow {
            ($at:expr, $row:expr) => {{
                acc = $row;
                check!(!acc.is_empty(), &$at.skip);
            }};
        }
        loop {
            self.note::<COUNT>(c, pc, 1);
            match &insts[pc] {
                Inst::LoadS1(at) => narrow!(at, statics[self.near(at.base, at.key)]),
                Inst::LoadK1(at) => narrow!(at, self.rows[self.near(at.base, at.key)]),
                Inst::LoadF1(at) => narrow!(at, self.rows[self.near(at.base, at.key) + frame]),
                Inst::AndS1(at) => narrow!(at, acc.and(statics[self.near(at.base, at.key)])),
                Inst::AndK1(at) => narrow!(at, acc.and(self.rows[self.near(at.base, at.key)])),
                Inst::AndF1(at) => {
                    narrow!(at, acc.and(self.rows[self.near(at.base, at.key) + frame]))
                }
                Inst::DropS1(at) => narrow!(at, acc.and_not(statics[self.near(at.base, at.key)])),
                Inst::DropK1(at) => narrow!(at, acc.and_not(self.rows[self.near(at.base, at.key)])),
                Inst::DropF1(at) => {
                    narrow!(at, acc.and_not(self.rows[self.near(at.base, at.key) + frame]))
                }
                Inst::LoadS(at) => acc = statics[self.at(at)],
                Inst::LoadK(at) => acc = self.rows[self.at(at)],
                Inst::LoadF(at) => acc = self.rows[self.at(at) + frame],
                Inst::AndS(at) => acc = acc.and(statics[self.at(at)]),
                Inst::AndK(at) => acc = acc.and(self.rows[self.at(at)]),
                Inst::AndF(at) => acc = acc.and(self.rows[self.at(at) + frame]),
                Inst::DropS(at) => acc = acc.and_not(statics[self.at(at)]),
                Inst::DropK(at) => acc = acc.and_not(self.rows[self.at(at)]),
                Inst::DropF(at) => acc = acc.and_not(self.rows[self.at(at) + frame]),
                Inst::LoadOne { key } => acc = W::one(self.reg(*key) as usize),
                Inst::AndOne { key } => acc = acc.and(W::one(self.reg(*key) as usize)),
                Inst::DropOne { key } => acc = acc.and_not(W::one(self.reg(*key) as usize)),
                Inst::LoadFirst { n } => acc = W::first(usize::from(*n)),
                Inst::AndFirst { n } => acc = acc.and(W::first(usize::from(*n))),
                Inst::Loop { reg, slot, skip } => match acc.pop() {
                    Some(member) => {
                        self.regs[usize::from(*reg)] = member as i64;
                        self.slots[usize::from(*slot) % SLOTS] = acc;
                    }
                    None => {
                        pc += usize::from(*skip);
                        continue;
                    }
                },
                Inst::Next { reg, slot, back } => {
                    if let Some(member) = self.slots[usize::from(*slot) % SLOTS].pop() {
                        self.regs[usize::from(*reg)] = member as i64;
                        pc -= usize::from(*back);
                        continue;
                    }
                }
                Inst::Save { slot, skip } => {
                    check!(!acc.is_empty(), skip);
                    self.slots[usize::from(*slot) % SLOTS] = acc;
                }
                Inst::TestSome { skip } => check!(!acc.is_empty(), skip),
                Inst::TestNone { skip } => check!(acc.is_empty(), skip),
                Inst::Count { reg } => self.regs[usize::from(*reg)] = i64::from(acc.count()),
                Inst::GrowK { at, skip } => {
                    check!(!acc.is_empty(), skip);
                    let at = self.at(at);
                    self.rows[at] = self.rows[at].or(acc);
                }
                Inst::GrowF { at, skip } => {
                    check!(!acc.is_empty(), skip);
                    let at = self.at(at) + frame;
                    self.rows[at] = self.rows[at].or(acc);
                }
                Inst::GrowK1 { base, key, support, bit, skip } => {
                    check!(!acc.is_empty(), skip);
                    let at = self.near(*base, *key);
                    self.rows[at] = self.rows[at].or(acc);
                    self.add(*support as usize, *bit);
                }
                Inst::GrowF1 { base, key, support, bit, skip } => {
                    check!(!acc.is_empty(), skip);
                    let at = self.near(*base, *key) + frame;
                    self.rows[at] = self.rows[at].or(acc);
                    self.add(*support as usize + frame, *bit);
                }
                Inst::BitK { at, bit } => self.add(self.at(at), *bit),
                Inst::BitF { at, bit } => self.add(self.at(at) + frame, *bit),
                Inst::NoteK { base, bit } => self.add(*base as usize, *bit),
                Inst::NoteF { base, bit } => self.add(*base as usize + frame, *bit),
                Inst::Sweep { sweep, slot } => {
                    let members = self.slots[usize::from(*slot) % SLOTS];
                    self.note::<COUNT>(c, pc, members.count());
                    self.sweep(statics, &c.machine.sweeps[*sweep as usize], members, acc);
                }
                Inst::Filter { term, bit, skip } => {
                    self.note::<COUNT>(c, pc, acc.count());
                    let bit = self.reg(*bit) as usize;
                    acc = self.filter(statics, &c.machine.terms[*term as usize], acc, bit);
                    check!(!acc.is_empty(), skip);
                }
                Inst::Gather { sweep, slot } => {
                    let members = self.slots[usize::from(*slot) % SLOTS];
                    self.note::<COUNT>(c, pc, members.count());
                    let sweep = &c.machine.sweeps[*sweep as usize];
                    let found = self.common(statics, sweep.terms, members, acc);
                    let at = self.at(&sweep.row) + if sweep.frame { frame } else { 0 };
                    self.rows[at] = self.rows[at].or(found);
                }
                Inst::FetchK1 { base, key, reg, skip } => {
                    let value = self.funs[self.near(*base, *key)];
                    check!(value != NONE, skip);
                    self.regs[usize::from(*reg)] = value;
                }
                Inst::FetchK { at, reg, skip } => {
                    let value = self.funs[self.at(at)];
                    check!(value != NONE, skip);
                    self.regs[usize::from(*reg)] = value;
                }
                Inst::FetchS { at, reg, skip } => {
                    let value = c.statics.funs[self.at(at)];
                    check!(value != NONE, skip);
                    self.regs[usize::from(*reg)] = value;
                }
                Inst::IsK { at, value, skip } => {
                    check!(self.funs[self.at(at)] == self.reg(*value), skip);
                }
                Inst::IsS { at, value, skip } => {
                    check!(c.statics.funs[self.at(at)] == self.reg(*value), skip);
                }
                Inst::IsNotK { at, value, skip } => {
                    check!(self.funs[self.at(at)] != self.reg(*value), skip);
                }
                Inst::IsNotS { at, value, skip } => {
                    check!(c.statics.funs[self.at(at)] != self.reg(*value), skip);
                }
                Inst::HasK { at, skip } => check!(self.funs[self.at(at)] != NONE, skip),
                Inst::HasS { at, skip } => check!(c.statics.funs[self.at(at)] != NONE, skip),
                Inst::LacksK { at, skip } => check!(self.funs[self.at(at)] == NONE, skip),
                Inst::LacksS { at, skip } => check!(c.statics.funs[self.at(at)] == NONE, skip),
                Inst::InS { at, bit, skip } => {
                    check!(statics[self.at(at)].has(self.reg(*bit) as usize), skip);
                }
                Inst::InK { at, bit, skip } => {
                    check!(self.rows[self.at(at)].has(self.reg(*bit) as usize), skip);
                }
                Inst::InF { at, bit, skip } => {
                    check!(self.rows[self.at(at) + frame].has(self.reg(*bit) as usize), skip);
                }
                Inst::OutS { at, bit, skip } => {
                    check!(!statics[self.at(at)].has(self.reg(*bit) as usize), skip);
                }
                Inst::OutK { at, bit, skip } => {
                    check!(!self.rows[self.at(at)].has(self.reg(*bit) as usize), skip);
                }
                Inst::OutF { at, bit, skip } => {
                    check!(!self.rows[self.at(at) + frame].has(self.reg(*bit) as usize), skip);
                }
                Inst::InK1 { base, key, bit, skip } => {
                    let row = self.rows[self.near(*base, *key)];
                    check!(row.has(self.reg(*bit) as usize), skip);
                }
                Inst::InF1 { base, key, bit, skip } => {
                    let row = self.rows[self.near(*base, *key) + frame];
                    check!(row.has(self.reg(*bit) as usize), skip);
                }
                Inst::OutK1 { base, key, bit, skip } => {
                    let row = self.rows[self.near(*base, *key)];
                    check!(!row.has(self.reg(*bit) as usize), skip);
                }
                Inst::OutF1 { base, key, bit, skip } => {
                    let row = self.rows[self.near(*base, *key) + frame];
                    check!(!row.has(self.reg(*bit) as usize), skip);
                }
                Inst::Compare { op, lhs, rhs, skip } => {
                    check!(op.holds(self.reg(*lhs), self.reg(*rhs)), skip);
                }
                Inst::Spend { steps } => {
                    if COUNT && let Some(counts) = &mut self.counts {
                        counts[c.machine.owner[pc] as usize] -= 1; // no work of the rule's
                    }
                    if !self.fuel.spend(i64::from(*steps), c.machine.owner[pc]) {
                        return false;
                    }
                }
                Inst::SumKeys { reg, address } => {
                    let address = &c.machine.addresses[*address as usize];
                    let keys = 1..usize::from(address.n);
                    self.regs[usize::from(*reg)] = keys
                        .map(|it| self.reg(address.regs[it]) * i64::from(address.strides[it]))
                        .sum();
                }
                Inst::Sub { negated, body, skip } => {
                    check!(self.exec(c, pc as u32 + 1) != *negated, skip);
                    pc += usize::from(*body);
                }
                Inst::Fold { body, skip, .. } => {
                    check!(self.step(c, pc), skip);
                    pc += usize::from(*body);
                }
                Inst::FixK { body, .. } | Inst::FixF { body, .. } => {
                    self.step(c, pc);
                    pc += usize::from(*body);
                }
                Inst::Scan { body, .. } => {
                    if self.step(c, pc) {
                        return true;
                    }
                    pc += usize::from(*body);
                }
                Inst::CompareExpr { skip, .. }
                | Inst::Let { skip, .. }
                | Inst::TestScan { skip, .. } => check!(self.step(c, pc), skip),
                Inst::Chase { chase } => {
                    self.chase(c, &c.machine.chases[*chase as usize], acc);
                }
                Inst::Value { .. }
                | Inst::EmitTuple { .. }
                | Inst::Collect { .. }
                | Inst::Suspect { .. }
                | Inst::React { .. }
                | Inst::Args { .. } => {
                    self.step(c, pc);
                }
                Inst::Dirty { kept_id, block } => {
                    let block = W::one(self.reg(*block) as usize);
                    self.mark_dirty(*kept_id, block);
                }
                Inst::Enter { entry } => {
                    let entry = &c.machine.entries[*entry as usize];
                    if !self.enter(entry) {
                        pc += entry.len as usize;
                        continue;
                    }
                }
                Inst::Found => return true,
                Inst::Halt => return false,
            }
            pc += 1;
        }
    }

    /// Runs one of the instructions that take more than a few steps; machine code calls this for most of them. Returns,
    /// for a scan, whether a `Found` stopped it; for others, whether the test holds or there is a value.
    pub(super) fn step(&mut self, c: &Compiled<W>, pc: usize) -> bool {
        let (body, exprs) = (pc as u32 + 1, c.machine.exprs.as_slice());
        match c.machine.insts[pc] {
            Inst::CompareExpr { op, lhs, rhs, .. } => {
                return match (self.expr(exprs, lhs), self.expr(exprs, rhs)) {
                    (Some(lhs), Some(rhs)) => op.holds(lhs, rhs),
                    _ => false,
                };
            }
            Inst::Let { reg, expr, .. } => match self.expr(exprs, expr) {
                Some(value) => self.regs[usize::from(reg)] = value,
                None => return false,
            },
            Inst::Value { reg, expr } => {
                let value = self.expr(exprs, expr);
                self.lacks_value |= value.is_none();
                self.regs[usize::from(reg)] = value.unwrap_or(0);
            }
            Inst::Fold { fold, results, .. } => {
                return self.fold(c, fold, body, c.machine.lists[results as usize]);
            }
            Inst::FixK { at, reg, .. } => self.fix(c, self.at(&at), reg, body),
            Inst::FixF { at, reg, .. } => self.fix(c, self.at(&at) + self.frame, reg, body),
            Inst::Scan { scan, .. } => return self.scan(c, scan, body),
            Inst::TestScan { scan, negated, .. } => return self.scan_hits(c, scan) != negated,
            Inst::EmitTuple { store, values } => self.emit_tuple(c, pc, store, values),
            Inst::Collect { key, values } => self.collect(c, pc, key, values),
            Inst::Suspect { kept_id, values } => self.suspect(c, pc, kept_id, values),
            Inst::React { named } => self.react(c, pc, named),
            Inst::Args { regs } => self.load_args(c, regs),
            other => debug_assert!(false, "{other:?} is run elsewhere"),
        }
        true
    }

    /// Marks blocks of a maintained relation as possibly changed.
    #[inline(always)]
    pub(super) fn mark_dirty(&mut self, kept_id: KeptId, blocks: W) {
        let slot = &mut self.dirty[usize::from(kept_id)];
        *slot = slot.or(blocks);
        self.mark_due(kept_id);
    }

    #[inline(always)]
    pub(super) fn mark_due(&mut self, kept_id: KeptId) {
        self.due[usize::from(kept_id / 64)] |= 1 << (kept_id % 64);
    }

    #[inline(always)]
    fn add(&mut self, at: usize, bit: Reg) {
        self.rows[at] = self.rows[at].or(W::one(self.reg(bit) as usize));
    }

    /// Empties a relation that is to be derived, and marks it as derived. False if it is up to date.
    #[inline(always)]
    fn enter(&mut self, entry: &Demanded) -> bool {
        let word = &mut self.ready[self.ready_at + usize::from(entry.rel) / 64];
        let bit = 1 << (entry.rel % 64);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.clear(entry.base, entry.stride, entry.support);
        true
    }

    /// Empties a relation of the current frame.
    #[inline(always)]
    pub(super) fn clear(&mut self, base: u32, stride: u32, support: Option<u32>) {
        let at = self.frame + support.unwrap_or(base) as usize;
        let used = std::mem::take(&mut self.rows[at]);
        if support.is_some() && !used.is_empty() {
            self.empty(base, used, stride);
        }
    }

    /// Empties rows of the current frame: only those in use.
    #[inline(never)]
    pub(super) fn empty(&mut self, base: u32, mut used: W, stride: u32) {
        let (base, stride) = (self.frame + base as usize, stride as usize);
        if stride == 1 {
            while let Some(first) = used.pop() {
                self.rows[base + first] = W::default();
            }
            return;
        }
        while let Some(first) = used.pop() {
            let start = base + first * stride;
            self.rows[start..start + stride].fill(W::default());
        }
    }

    /// Runs a sweep over parallel rows of the members.
    #[inline(never)]
    fn sweep(&mut self, statics: &[W], sweep: &Sweep, mut members: W, fixed: W) {
        let frame = if sweep.frame { self.frame } else { 0 };
        let start = self.at(&sweep.row) + frame;
        let stride = sweep.stride as usize;
        let [(first, by, flip), (second, by2, flip2)] = sweep.terms.map(|it| self.side(&it));
        if let Some(tests) = sweep.tests {
            members = self.common(statics, tests, members, W::splat(true));
        }
        let rows = self.rows.as_mut_slice();
        let mut used = W::default();
        let one_row = sweep.terms[0] == sweep.terms[1];
        if stride == 0 && one_row && sweep.terms[0].space != Space::Static {
            // The rows of all members in one: a union.
            let mut all = W::default();
            while let Some(member) = members.pop() {
                let row = rows[first + member * by].xor(flip);
                all = all.or(row);
                if !row.and(fixed).is_empty() {
                    used = used.or(W::one(member));
                }
            }
            rows[start] = rows[start].or(all.and(fixed));
        } else if let Some(is_static) = sweep.static_terms() {
            while let Some(member) = members.pop() {
                let read = |at: usize, term: usize| match is_static[term] {
                    true => statics[at],
                    false => rows[at],
                };
                let one = read(first + member * by, 0).xor(flip);
                let row = one.and(read(second + member * by2, 1).xor(flip2)).and(fixed);
                if !row.is_empty() {
                    let slot = &mut rows[start + member * stride];
                    *slot = slot.or(row);
                    used = used.or(W::one(member));
                }
            }
        } else if one_row {
            while let Some(member) = members.pop() {
                let row = rows[first + member * by].xor(flip).and(fixed);
                if !row.is_empty() {
                    let slot = &mut rows[start + member * stride];
                    *slot = slot.or(row);
                    used = used.or(W::one(member));
                }
            }
        } else {
            while let Some(member) = members.pop() {
                let one = rows[first + member * by].xor(flip);
                let row = one.and(rows[second + member * by2].xor(flip2)).and(fixed);
                if !row.is_empty() {
                    let slot = &mut rows[start + member * stride];
                    *slot = slot.or(row);
                    used = used.or(W::one(member));
                }
            }
        }
        if let Some((base, noted)) = sweep.support
            && !used.is_empty()
        {
            if let Noted::Register(reg) = noted {
                used = W::one(self.reg(reg) as usize);
            }
            let at = base as usize + frame;
            self.rows[at] = self.rows[at].or(used);
        }
    }

    /// The members for which the AND of the terms and the fixed row is not empty.
    #[inline(never)]
    fn common(&self, statics: &[W], terms: [SweepTerm; 2], mut members: W, fixed: W) -> W {
        let [(first, by, flip), (second, by2, flip2)] = terms.map(|it| self.side(&it));
        let is_static = terms.map(|it| it.space == Space::Static);
        let mut used = W::default();
        while let Some(member) = members.pop() {
            let read =
                |at: usize, term: usize| if is_static[term] { statics[at] } else { self.rows[at] };
            let one = read(first + member * by, 0).xor(flip);
            let row = one.and(read(second + member * by2, 1).xor(flip2)).and(fixed);
            if !row.is_empty() {
                used = used.or(W::one(member));
            }
        }
        used
    }

    /// The members whose row has the bit.
    #[inline(never)]
    fn filter(&self, statics: &[W], term: &SweepTerm, mut members: W, bit: usize) -> W {
        let (first, by, _) = self.side(term);
        let rows = if term.space == Space::Static { statics } else { &self.rows };
        let mut found = W::default();
        while let Some(member) = members.pop() {
            if rows[first + member * by].has(bit) != term.negated {
                found = found.or(W::one(member));
            }
        }
        found
    }

    /// The first row of a term, its stride, and the mask that negates it.
    #[inline(always)]
    fn side(&self, term: &SweepTerm) -> (usize, usize, W) {
        let frame = if term.space == Space::Frame { self.frame } else { 0 };
        (self.at(&term.place) + frame, term.stride as usize, W::splat(term.negated))
    }

    #[inline(never)]
    fn load_args(&mut self, c: &Compiled<W>, regs: u32) {
        for (&reg, &value) in c.machine.list(regs).iter().zip(&self.args) {
            self.regs[usize::from(reg)] = value;
        }
    }

    #[inline(never)]
    fn emit_tuple(&mut self, c: &Compiled<W>, pc: usize, store: u32, values: u32) {
        if !self.has_room(c, pc, self.fresh[store as usize].len()) {
            return;
        }
        let tuple = self.values(c, c.machine.lists[values as usize]);
        self.fresh[store as usize].push(tuple);
    }

    #[inline(never)]
    fn collect(&mut self, c: &Compiled<W>, pc: usize, key: u32, values: u32) {
        if !self.has_room(c, pc, self.collected.len()) {
            return;
        }
        let [key, values] = [key, values].map(|it| c.machine.lists[it as usize]);
        let mut found: Vec<i64> = self.values(c, key).to_vec();
        found.extend(self.values(c, values));
        self.collected.push(found);
    }

    #[inline(never)]
    pub(super) fn suspect(&mut self, c: &Compiled<W>, pc: usize, kept_id: KeptId, values: u32) {
        if !self.has_room(c, pc, self.suspects[usize::from(kept_id)].len()) {
            return;
        }
        let mut tuple = [0; GIVEN.len()];
        for (value, &reg) in tuple.iter_mut().zip(c.machine.list(values)) {
            *value = self.reg(reg);
        }
        self.suspects[usize::from(kept_id)].push(tuple);
        self.mark_due(kept_id);
    }

    /// Charges one more row of a list that has `len` rows. False if the list is full or the budget used up.
    #[inline]
    fn has_room(&mut self, c: &Compiled<W>, pc: usize, len: usize) -> bool {
        let owner = c.machine.owner[pc];
        if len >= ROWS {
            self.fuel.run_out(Resource::Rows, owner);
        }
        self.fuel.spend(1, owner)
    }

    /// Adds to each row what a function leads to from its members, applied again and again as long as the member before
    /// it is passable.
    #[inline(never)]
    pub(super) fn chase(&mut self, c: &Compiled<W>, chase: &Chase, passable: W) {
        let mut at = self.at(&chase.row) + if chase.frame { self.frame } else { 0 };
        for value in 0..i64::from(chase.size) {
            let mut rest = self.rows[at];
            if !rest.is_empty() {
                self.regs[usize::from(chase.middle)] = value;
                self.regs[usize::from(chase.member)] = 0;
                let first = self.at(&chase.fun);
                let step = chase.step as usize;
                let funs = if chase.is_static { &c.statics.funs } else { &self.funs };
                let mut known = rest;
                while let Some(member) = rest.pop() {
                    let mut from = member;
                    while passable.has(from) {
                        let to = funs[first + from * step];
                        if to == NONE || known.has(to as usize) {
                            break;
                        }
                        from = to as usize;
                        known = known.or(W::one(from));
                    }
                }
                self.rows[at] = known;
            }
            at += chase.stride as usize;
        }
    }

    /// Runs the body for each member of the row, those that it adds included.
    #[inline(never)]
    fn fix(&mut self, c: &Compiled<W>, at: usize, reg: Reg, body: u32) {
        let mut done = W::default();
        loop {
            let mut rest = self.rows[at].and_not(done);
            let Some(member) = rest.pop() else { return };
            done = done.or(W::one(member));
            self.regs[usize::from(reg)] = member as i64;
            self.exec(c, body);
        }
    }

    #[inline(never)]
    fn fold(&mut self, c: &Compiled<W>, fold: Fold, body: u32, results: RegList) -> bool {
        let outer = (std::mem::take(&mut self.collected), std::mem::take(&mut self.lacks_value));
        self.exec(c, body);
        let mut found = std::mem::replace(&mut self.collected, outer.0);
        if std::mem::replace(&mut self.lacks_value, outer.1) {
            return false;
        }
        found.sort_unstable();
        found.dedup();
        let results = c.machine.registers(results);
        let values = |it: &Vec<i64>| it[it.len() - results.len()..].to_vec();
        let folded = match fold {
            Fold::Count => Some(vec![found.len() as i64]),
            Fold::Sum => {
                let sum: i128 = found.iter().map(|it| i128::from(it[it.len() - 1])).sum();
                i64::try_from(sum).ok().filter(|it| *it != NONE).map(|it| vec![it])
            }
            Fold::Min => found.iter().map(values).min(),
            Fold::Max => found.iter().map(values).max(),
        };
        let Some(folded) = folded else { return false };
        for (&reg, value) in results.iter().zip(folded) {
            self.regs[usize::from(reg)] = value;
        }
        true
    }

    /// Adds a solution of a reaction's body. The limit is on the values of all solutions.
    #[inline]
    pub(super) fn react(&mut self, c: &Compiled<W>, pc: usize, named: u32) {
        if !self.has_room(c, pc, self.solutions.len()) {
            return;
        }
        self.solved += 1;
        for &reg in c.machine.list(named) {
            self.solutions.push(self.regs[usize::from(reg)]);
        }
    }
}
