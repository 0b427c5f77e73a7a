//! The interpreter: runs instructions over the rows of one session.
//!
//! Deliberately absent: when to run what (`maintain.rs`) and how instructions came about.

use super::code::{
    Address, ExprId, ExprNode, Op, REGS, Reg, RegList, RowSource, RowTerm, Rows, Space, Support,
};
use super::compile::Compiled;
use super::fuel::Fuel;
use super::layout::{NONE, Sparse};
use super::word::Word;
use crate::rules::Fold;

use super::super::budget::{ROWS, Resource};
use super::super::rows::Tuple;

/// The rows of one session and the machine's registers.
#[derive(Debug, Clone)]
pub(super) struct State<W> {
    /// Inputs and maintained relations, then the frames of relations derived on demand: one frame
    /// per mark.
    pub(super) rows: Vec<W>,
    /// Values of input functions.
    pub(super) funs: Vec<i64>,
    /// Where the current frame's rows begin, counted from the first frame's.
    pub(super) frame: usize,
    pub(super) lists: Vec<Sparse>,
    pub(super) fresh: Vec<Vec<Tuple>>,
    pub(super) regs: Box<[i64; REGS]>,
    pub(super) suspects: Vec<Vec<Tuple>>,
    pub(super) dirty: Vec<W>,
    /// Values of the named variables of a reaction's solutions, one solution after the other.
    pub(super) solutions: Vec<i64>,
    pub(super) solved: usize,
    /// The id of the next entity that an effect makes.
    pub(super) next_entity: i64,
    /// Effects say which solution they belong to.
    pub(super) traced: bool,
    collected: Vec<Vec<i64>>,
    /// An expression of what is being folded had no value.
    lacks_value: bool,
    pub(super) fuel: Fuel,
    /// Instructions run, by owner; counted only when asked for.
    pub(super) counts: Option<Vec<u64>>,
}

impl<W: Word> State<W> {
    pub(super) fn new(compiled: &Compiled<W>) -> Self {
        let relations = compiled.program.relations.len();
        let mut regs = Box::new([0; REGS]);
        for &(value, reg) in &compiled.code.constants {
            regs[usize::from(reg)] = value;
        }
        Self {
            rows: vec![W::default(); compiled.kept_rows + compiled.frame_rows],
            funs: vec![NONE; compiled.kept_funs],
            frame: 0,
            lists: vec![Sparse::default(); compiled.orders.len()],
            fresh: vec![Vec::new(); compiled.orders.len()],
            regs,
            suspects: vec![Vec::new(); relations],
            dirty: vec![W::default(); relations],
            solutions: Vec::new(),
            solved: 0,
            next_entity: 0,
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
    fn offset(&self, address: &Address) -> usize {
        let by = |it: usize| self.reg(address.regs[it]) as usize * address.strides[it] as usize;
        let mut at = address.base as usize + by(0) + by(1);
        if address.n > 2 {
            at += by(2) + by(3);
        }
        if address.space == Space::Frame {
            at += self.frame;
        }
        at
    }

    #[inline(always)]
    fn load(&self, c: &Compiled<W>, address: &Address) -> W {
        let at = self.offset(address);
        let rows = if address.space == Space::Static { &c.statics.rows } else { &self.rows };
        rows[at]
    }

    #[inline(always)]
    fn slot(&mut self, space: Space, at: usize) -> &mut W {
        let frame = if space == Space::Frame { self.frame } else { 0 };
        &mut self.rows[at + frame]
    }

    #[inline(always)]
    fn fun(&self, c: &Compiled<W>, address: &Address) -> i64 {
        let at = self.offset(address);
        let funs = if address.space == Space::Static { &c.statics.funs } else { &self.funs };
        funs[at]
    }

    #[inline(always)]
    fn and(&self, c: &Compiled<W>, rows: Rows) -> W {
        let terms = &c.code.rows[rows.start as usize..(rows.start + rows.len) as usize];
        let mut all = W::splat(true);
        for term in terms {
            let row = match &term.row {
                RowSource::Next { space, base, key } => {
                    let at = *base as usize + self.reg(*key) as usize;
                    match space {
                        Space::Static => c.statics.rows[at],
                        Space::Kept => self.rows[at],
                        Space::Frame => self.rows[at + self.frame],
                    }
                }
                RowSource::At(address) => self.load(c, address),
                RowSource::Only(reg) => W::one(self.reg(*reg) as usize),
                RowSource::All(n) => W::first(usize::from(*n)),
            };
            all = all.and(row.xor(W::splat(term.negated)));
        }
        all
    }

    pub(super) fn expr(&self, c: &Compiled<W>, expr: ExprId) -> Option<i64> {
        match c.code.exprs[expr.0 as usize] {
            ExprNode::Reg(reg) => Some(self.reg(reg)),
            ExprNode::Binary(op, lhs, rhs) => op.apply(self.expr(c, lhs)?, self.expr(c, rhs)?),
        }
    }

    #[inline(never)]
    fn values(&self, c: &Compiled<W>, list: RegList) -> Tuple {
        c.code.regs[list.start as usize..(list.start + list.len) as usize]
            .iter()
            .map(|&it| self.reg(it))
            .collect()
    }

    #[inline(always)]
    fn grow(&mut self, row: &Address, support: &Option<Support>, by: W) {
        let at = self.offset(row);
        self.rows[at] = self.rows[at].or(by);
        if let Some(support) = support {
            let first = W::one(self.reg(support.first) as usize);
            let slot = self.slot(support.space, support.base as usize);
            *slot = slot.or(first);
        }
    }

    fn list<'a>(&'a self, c: &'a Compiled<W>, store: u32) -> &'a Sparse {
        if c.list_is_static[store as usize] {
            &c.statics.sparse[store as usize]
        } else {
            &self.lists[store as usize]
        }
    }

    /// Runs from an instruction on. True when a `Found` stopped it.
    #[inline]
    pub(super) fn exec(&mut self, c: &Compiled<W>, pc: usize) -> bool {
        if self.counts.is_some() { self.run::<true>(c, pc) } else { self.run::<false>(c, pc) }
    }

    fn run<const COUNT: bool>(&mut self, c: &Compiled<W>, mut pc: usize) -> bool {
        loop {
            if COUNT && let Some(counts) = &mut self.counts {
                counts[c.code.owner[pc] as usize] += 1;
            }
            match &c.code.ops[pc] {
                Op::Fetch { reg, fun } => {
                    let value = self.fun(c, fun);
                    if value == NONE {
                        return false;
                    }
                    self.regs[usize::from(*reg)] = value;
                }
                Op::TestBit { row, bit, negated } => {
                    let bit = self.reg(*bit);
                    if self.load(c, row).has(bit as usize) == *negated {
                        return false;
                    }
                }
                Op::Loop { reg, rows } => {
                    let mut members = self.and(c, *rows);
                    // The commonest body needs no call.
                    match &c.code.ops[pc + 1] {
                        Op::TestBit { row, bit, negated } if !COUNT => {
                            while let Some(member) = members.pop() {
                                self.regs[usize::from(*reg)] = member as i64;
                                let bit = self.reg(*bit) as usize;
                                if self.load(c, row).has(bit) != *negated
                                    && self.run::<COUNT>(c, pc + 2)
                                {
                                    return true;
                                }
                            }
                        }
                        _ => {
                            while let Some(member) = members.pop() {
                                self.regs[usize::from(*reg)] = member as i64;
                                if self.run::<COUNT>(c, pc + 1) {
                                    return true;
                                }
                            }
                        }
                    }
                    return false;
                }
                Op::LoopEmit { reg, rows, row, stride, support, fixed, moving } => {
                    let mut members = self.and(c, *rows);
                    if members.is_empty() {
                        return false;
                    }
                    let fixed = self.and(c, *fixed);
                    if fixed.is_empty() {
                        return false;
                    }
                    let start = self.offset(row);
                    let mut used = W::default();
                    let side_by_side = if COUNT { None } else { self.neighbours(c, *moving, *reg) };
                    if let Some([first, second]) = side_by_side {
                        // The commonest case by far: rows of the member, one after the other.
                        while let Some(member) = members.pop() {
                            let by = self.rows[first.0 + member].xor(first.1);
                            let by = fixed.and(by).and(self.rows[second.0 + member].xor(second.1));
                            if !by.is_empty() {
                                let at = start + member * *stride as usize;
                                self.rows[at] = self.rows[at].or(by);
                                used = used.or(W::one(member));
                            }
                        }
                    }
                    while let Some(member) = members.pop() {
                        if COUNT && let Some(counts) = &mut self.counts {
                            counts[c.code.owner[pc] as usize] += 1;
                        }
                        self.regs[usize::from(*reg)] = member as i64;
                        let by = fixed.and(self.and(c, *moving));
                        if !by.is_empty() {
                            let at = start + member * *stride as usize;
                            self.rows[at] = self.rows[at].or(by);
                            used = used.or(W::one(member));
                        }
                    }
                    if let Some(support) = support
                        && !used.is_empty()
                    {
                        if support.first != *reg {
                            used = W::one(self.reg(support.first) as usize);
                        }
                        let slot = self.slot(support.space, support.base as usize);
                        *slot = slot.or(used);
                    }
                    return false;
                }
                Op::Spend { steps } => {
                    if COUNT && let Some(counts) = &mut self.counts {
                        counts[c.code.owner[pc] as usize] -= 1; // no work of the rule's
                    }
                    if !self.fuel.spend(i64::from(*steps), c.code.owner[pc]) {
                        return false;
                    }
                }
                Op::EmitRow { row, support, rows } => {
                    let by = self.and(c, *rows);
                    if !by.is_empty() {
                        self.grow(row, support, by);
                    }
                    return false;
                }
                Op::EmitBit { row, support, bit } => {
                    let by = W::one(self.reg(*bit) as usize);
                    self.grow(row, support, by);
                    return false;
                }
                Op::TestFun { fun, value, negated } => {
                    if (self.fun(c, fun) == self.reg(*value)) == *negated {
                        return false;
                    }
                }
                Op::TestHas { fun, negated } => {
                    if (self.fun(c, fun) != NONE) == *negated {
                        return false;
                    }
                }
                Op::TestAny { rows, negated } => {
                    if self.and(c, *rows).is_empty() != *negated {
                        return false;
                    }
                }
                Op::Compare { op, lhs, rhs } => {
                    if !op.holds(self.reg(*lhs), self.reg(*rhs)) {
                        return false;
                    }
                }
                Op::CompareExpr { op, lhs, rhs } => {
                    match (self.expr(c, *lhs), self.expr(c, *rhs)) {
                        (Some(lhs), Some(rhs)) if op.holds(lhs, rhs) => {}
                        _ => return false,
                    }
                }
                Op::Let { reg, expr } => match self.expr(c, *expr) {
                    Some(value) => self.regs[usize::from(*reg)] = value,
                    None => return false,
                },
                Op::Value { reg, expr } => {
                    let value = self.expr(c, *expr);
                    self.lacks_value |= value.is_none();
                    self.regs[usize::from(*reg)] = value.unwrap_or(0);
                }
                Op::Count { reg, rows } => {
                    self.regs[usize::from(*reg)] = i64::from(self.and(c, *rows).count());
                }
                Op::Chase { row, middle, size, stride, reg, tests, fun } => {
                    let passable = self.and(c, *tests);
                    let mut at = self.offset(row);
                    for value in 0..i64::from(*size) {
                        if !self.rows[at].is_empty() {
                            self.regs[usize::from(*middle)] = value;
                            self.chase(c, at, passable, *reg, fun);
                        }
                        at += *stride as usize;
                    }
                    return false;
                }
                Op::Fix { row, reg, .. } => {
                    // Nothing follows a fixpoint but the end of its loops.
                    self.fix(c, row, *reg, pc + 1);
                    return false;
                }
                Op::TestSub { end, negated } => {
                    if self.exec(c, pc + 1) == *negated {
                        return false;
                    }
                    pc = *end as usize;
                    continue;
                }
                Op::Fold { fold, end, results } => {
                    if !self.fold(c, *fold, pc + 1, *results) {
                        return false;
                    }
                    pc = *end as usize;
                    continue;
                }
                Op::Scan { store, order, bound, free } => {
                    return self.scan(c, *store, *order, *bound, *free, pc + 1);
                }
                Op::TestScan { store, order, bound, negated } => {
                    if self.scan_hits(c, *store, *order, *bound) == *negated {
                        return false;
                    }
                }
                Op::EmitTuple { store, values } => {
                    self.emit_tuple(c, pc, *store, *values);
                    return false;
                }
                Op::Collect { key, values } => {
                    self.collect(c, pc, *key, *values);
                    return false;
                }
                Op::Found => return true,
                Op::Suspect { relation, values } => {
                    self.suspect(c, pc, *relation, *values);
                    return false;
                }
                Op::Dirty { relation, block } => {
                    let block = W::one(self.reg(*block) as usize);
                    let slot = &mut self.dirty[usize::from(*relation)];
                    *slot = slot.or(block);
                    return false;
                }
                Op::React { reaction } => {
                    self.react(c, pc, *reaction);
                    return false;
                }
            }
            pc += 1;
        }
    }

    #[inline(never)]
    fn scan_hits(&self, c: &Compiled<W>, store: u32, order: u32, bound: RegList) -> bool {
        let prefix = self.values(c, bound);
        !self.list(c, store).range(order as usize, &prefix).is_empty()
    }

    #[inline(never)]
    fn emit_tuple(&mut self, c: &Compiled<W>, pc: usize, store: u32, values: RegList) {
        if self.has_room(c, pc, self.fresh[store as usize].len()) {
            let tuple = self.values(c, values);
            self.fresh[store as usize].push(tuple);
        }
    }

    #[inline(never)]
    fn collect(&mut self, c: &Compiled<W>, pc: usize, key: RegList, values: RegList) {
        if self.has_room(c, pc, self.collected.len()) {
            let mut found: Vec<i64> = self.values(c, key).to_vec();
            found.extend(self.values(c, values));
            self.collected.push(found);
        }
    }

    #[inline(never)]
    fn suspect(&mut self, c: &Compiled<W>, pc: usize, relation: u16, values: RegList) {
        if self.has_room(c, pc, self.suspects[usize::from(relation)].len()) {
            let tuple = self.values(c, values);
            self.suspects[usize::from(relation)].push(tuple);
        }
    }

    /// Pays for one more row of a list that has so many.
    fn has_room(&mut self, c: &Compiled<W>, pc: usize, rows: usize) -> bool {
        let owner = c.code.owner[pc];
        if rows >= ROWS {
            self.fuel.run_out(Resource::Rows, owner);
        }
        self.fuel.spend(1, owner)
    }

    /// Where the rows begin that lie side by side by the register, and what flips them; one row is
    /// given twice. `None` if there are more, or others.
    #[inline(always)]
    fn neighbours(&self, c: &Compiled<W>, rows: Rows, reg: Reg) -> Option<[(usize, W); 2]> {
        let one = |term: &RowTerm| match term.row {
            RowSource::Next { space: Space::Kept, base, key } if key == reg => {
                Some((base as usize, W::splat(term.negated)))
            }
            RowSource::Next { space: Space::Frame, base, key } if key == reg => {
                Some((base as usize + self.frame, W::splat(term.negated)))
            }
            _ => None,
        };
        match &c.code.rows[rows.start as usize..(rows.start + rows.len) as usize] {
            [only] => one(only).map(|it| [it, it]),
            [first, second] => Some([one(first)?, one(second)?]),
            _ => None,
        }
    }

    /// Follows a function from each member of the row while the tests hold.
    #[inline(never)]
    fn chase(&mut self, c: &Compiled<W>, at: usize, passable: W, reg: Reg, fun: &Address) {
        // The function's value for member 0, and how far apart the members' values are.
        self.regs[usize::from(reg)] = 0;
        let first = self.offset(fun);
        let stride: usize = (0..usize::from(fun.n))
            .filter(|&it| fun.regs[it] == reg)
            .map(|it| fun.strides[it] as usize)
            .sum();
        let funs = if fun.space == Space::Static { &c.statics.funs } else { &self.funs };
        let mut known = self.rows[at];
        let mut rest = known;
        while let Some(member) = rest.pop() {
            let mut from = member;
            while passable.has(from) {
                let to = funs[first + from * stride];
                if to == NONE || known.has(to as usize) {
                    break;
                }
                from = to as usize;
                known = known.or(W::one(from));
            }
        }
        self.rows[at] = known;
    }

    /// Runs the body for each member of the row, those that it adds included.
    #[inline(never)]
    fn fix(&mut self, c: &Compiled<W>, row: &Address, reg: Reg, body: usize) {
        let at = self.offset(row);
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
    fn scan(
        &mut self,
        c: &Compiled<W>,
        store: u32,
        order: u32,
        bound: RegList,
        free: RegList,
        body: usize,
    ) -> bool {
        let prefix = self.values(c, bound);
        // The list is not written while it is read: a rule emits into `fresh`.
        let found: Vec<Tuple> = self.list(c, store).range(order as usize, &prefix).to_vec();
        let regs = free.start as usize..(free.start + free.len) as usize;
        let owner = c.code.owner[body];
        for tuple in found {
            if !self.fuel.spend(1, owner) {
                return false;
            }
            for (reg, &value) in c.code.regs[regs.clone()].iter().zip(&tuple[prefix.len()..]) {
                self.regs[usize::from(*reg)] = value;
            }
            if self.exec(c, body) {
                return true;
            }
        }
        false
    }

    #[inline(never)]
    fn fold(&mut self, c: &Compiled<W>, fold: Fold, body: usize, results: RegList) -> bool {
        let outer = (std::mem::take(&mut self.collected), std::mem::take(&mut self.lacks_value));
        self.exec(c, body);
        let mut found = std::mem::replace(&mut self.collected, outer.0);
        if std::mem::replace(&mut self.lacks_value, outer.1) {
            return false;
        }
        found.sort_unstable();
        found.dedup();
        let results = &c.code.regs[results.start as usize..(results.start + results.len) as usize];
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

    /// One more solution.
    #[inline]
    fn react(&mut self, c: &Compiled<W>, pc: usize, reaction: u32) {
        if !self.has_room(c, pc, self.solutions.len()) {
            return;
        }
        self.solved += 1;
        for &reg in &c.code.effects[reaction as usize].named {
            let value = self.reg(reg);
            self.solutions.push(value);
        }
    }
}
