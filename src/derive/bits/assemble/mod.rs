//! Lowers plans to the instructions of the interpreter.
//!
//! Deliberately absent: choices of order; instructions keep the order of the plan.

mod rows;
mod sweeps;

use super::code::{
    Address, ExprId, ExprNode, LoopEmit, Op, REGS, Reg, RegList, Rows, Space, Support,
};
use super::error::PlanError;
use super::machine::{Chase, Demanded, Inst, KeptId, Machine, SLOTS, Scan, Skip};
use super::planner::{Code, GIVEN, owner_place};
use crate::rules::Program;
use sweeps::Swept;

/// Adds an item to one of the machine's pools. Returns its number there.
fn add<T>(pool: &mut Vec<T>, item: T) -> u32 {
    pool.push(item);
    (pool.len() - 1) as u32
}

/// Lowers plans one by one into one machine.
#[derive(Debug)]
pub(super) struct Assembler<'c> {
    program: &'c Program,
    code: &'c Code,
    /// The numbers of maintained relations, by relation.
    kept_ids: &'c [KeptId],
    pub(super) machine: Machine,
    /// The rule or reaction that is being lowered.
    owner: u32,
    /// Number of open loops, those of enclosing plans included.
    depth: usize,
    /// A register that is always 0.
    zero: Reg,
    /// For each register of the plan, the one to use instead: a plan about one tuple reads the tuple's values in
    /// the registers in which they are given.
    alias: [Reg; REGS],
}

fn no_alias() -> [Reg; REGS] {
    std::array::from_fn(|it| it as Reg)
}

/// A loop that is being lowered: where its body begins and which jumps end at its `Next`.
struct Open {
    reg: Reg,
    slot: u8,
    body: usize,
    fails: Vec<usize>,
}

impl<'c> Assembler<'c> {
    pub(super) fn new(program: &'c Program, code: &'c Code, kept_ids: &'c [KeptId]) -> Self {
        let zero = code.constants.iter().find(|it| it.0 == 0).map_or(0, |it| it.1);
        let machine = Machine::default();
        Self { program, code, kept_ids, machine, owner: 0, depth: 0, zero, alias: no_alias() }
    }

    /// Lowers the plans that begin at these instructions, one after the other, as a stretch; returns where it
    /// begins.
    pub(super) fn stretch(&mut self, plans: &[u32]) -> Result<u32, PlanError> {
        let start = self.machine.insts.len() as u32;
        for &pc in plans {
            self.plan(pc as usize, self.code.ops.len())?;
        }
        self.push(Inst::Halt);
        Ok(start)
    }

    /// Lowers plans about one tuple, one after the other, as a stretch; returns where it begins. Each comes with the
    /// registers that the tuple's values are for, and where it begins itself.
    pub(super) fn given<'r>(
        &mut self,
        plans: impl IntoIterator<Item = (&'r [Reg], u32)>,
    ) -> Result<u32, PlanError> {
        let start = self.machine.insts.len() as u32;
        for (regs, pc) in plans {
            self.owner = self.code.owner[pc as usize];
            if regs.len() <= GIVEN.len() {
                for (&reg, from) in regs.iter().zip(GIVEN) {
                    self.alias[usize::from(reg)] = from;
                }
            } else {
                let regs = self.pool_list(regs);
                self.push(Inst::Args { regs });
            }
            self.plan(pc as usize, self.code.ops.len())?;
            self.alias = no_alias();
        }
        self.push(Inst::Halt);
        Ok(start)
    }

    pub(super) fn push(&mut self, inst: Inst) -> usize {
        self.machine.insts.push(inst);
        self.machine.owner.push(self.owner);
        self.machine.insts.len() - 1
    }

    /// Lowers a list of instructions up to its last, or up to `end`.
    fn plan(&mut self, mut pc: usize, end: usize) -> Result<(), PlanError> {
        let depth = self.depth;
        let mut fails = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        while pc < end {
            self.owner = self.code.owner[pc];
            let op = self.code.ops[pc];
            pc += 1;
            let fails = open.last_mut().map_or(&mut fails, |it| &mut it.fails);
            match op {
                Op::Loop { reg, rows } => {
                    self.and_some(&[rows], fails);
                    self.filters(reg, &mut pc, end, fails);
                    let Some(opened) = self.open(reg, pc, end, fails)? else { break };
                    open.push(opened);
                }
                Op::LoopEmit(it) => {
                    let opened = self.loop_emit(it, fails)?;
                    open.extend(opened);
                    break;
                }
                Op::TestSub { end, negated } => {
                    let at = self.push(Inst::Sub { negated, body: 0, skip: 0 });
                    let body = self.within(pc, end as usize)?;
                    self.machine.insts[at] = Inst::Sub { negated, body, skip: 0 };
                    fails.push(at);
                    pc = end as usize;
                }
                Op::Fold { fold, end, results } => {
                    let results = self.list(results);
                    let at = self.push(Inst::Halt);
                    let body = self.within(pc, end as usize)?;
                    self.machine.insts[at] = Inst::Fold { fold, results, body, skip: 0 };
                    fails.push(at);
                    pc = end as usize;
                }
                Op::Fix { row, reg, end } => {
                    let frame = row.space == Space::Frame;
                    let row = self.place(row);
                    let at = self.push(Inst::Halt);
                    let body = self.within(pc, end as usize)?;
                    self.machine.insts[at] = match frame {
                        true => Inst::FixF { at: row, reg, body },
                        false => Inst::FixK { at: row, reg, body },
                    };
                    break;
                }
                Op::Scan { store, order, bound, free } => {
                    let (bound, free) = (self.regs(bound), self.regs(free));
                    let scan = Scan { store, order, bound, free };
                    let scan = add(&mut self.machine.scans, scan);
                    let at = self.push(Inst::Halt);
                    let body = self.within(pc, end)?;
                    self.machine.insts[at] = Inst::Scan { scan, body };
                    break;
                }
                other => {
                    if !self.step(other, fails) {
                        break;
                    }
                }
            }
        }
        while let Some(last) = open.pop() {
            self.land(&last.fails)?;
            let back = self.skip(self.machine.insts.len() - last.body)?;
            self.push(Inst::Next { reg: last.reg, slot: last.slot, back });
        }
        self.land(&fails)?;
        self.depth = depth;
        Ok(())
    }

    /// Lowers the tests of bits at the beginning of a loop's body that narrow the loop's members, and leaves `pc` behind
    /// them.
    fn filters(&mut self, reg: Reg, pc: &mut usize, end: usize, fails: &mut Vec<usize>) {
        while let Some(Op::TestBit { row, bit, negated }) = self.code.ops[..end].get(*pc)
            && *bit != reg
            && let Some(term) = self.filter(row, *negated, reg)
        {
            let term = add(&mut self.machine.terms, term);
            let bit = self.alias(*bit);
            fails.push(self.push(Inst::Filter { term, bit, skip: 0 }));
            *pc += 1;
        }
    }

    /// Opens a loop over the accumulator, with its body at `pc`; `None` if loop and body became one instruction, which is
    /// the last of the plan.
    fn open(
        &mut self,
        reg: Reg,
        pc: usize,
        end: usize,
        fails: &mut Vec<usize>,
    ) -> Result<Option<Open>, PlanError> {
        if let Some((tests, row)) = self.gathered(pc, end, reg)
            && self.gather(reg, tests, row, fails)?
        {
            return Ok(None);
        }
        let slot = self.slot()?;
        if let Some(swept) = self.swept(pc, end, reg) {
            fails.push(self.push(Inst::Save { slot, skip: 0 }));
            self.push(Inst::LoadFirst { n: u16::MAX });
            self.sweep(reg, slot, swept);
            return Ok(None);
        }
        fails.push(self.push(Inst::Loop { reg, slot, skip: 0 }));
        Ok(Some(Open { reg, slot, body: self.machine.insts.len(), fails: Vec::new() }))
    }

    /// Lowers a loop whose body is one `EmitRow`: to a sweep if it can be one, else to a loop, which is left open.
    fn loop_emit(
        &mut self,
        LoopEmit { reg, rows, row, stride, support, fixed, moving }: LoopEmit,
        fails: &mut Vec<usize>,
    ) -> Result<Option<Open>, PlanError> {
        self.and_some(&[rows], fails);
        let slot = self.slot()?;
        let Some(terms) = self.sweep_terms(&self.code.rows[moving.range()], reg) else {
            fails.push(self.push(Inst::Loop { reg, slot, skip: 0 }));
            let body = self.machine.insts.len();
            let mut fails = Vec::new();
            self.emit_row(row.with_stride(reg, stride), support, [fixed, moving], &mut fails);
            return Ok(Some(Open { reg, slot, body, fails }));
        };
        fails.push(self.push(Inst::Save { slot, skip: 0 }));
        if fixed.len == 0 {
            self.push(Inst::LoadFirst { n: u16::MAX });
        } else {
            self.and_some(&[fixed], fails);
            self.test_some(fails);
        }
        self.sweep(reg, slot, Swept { row, stride, support, terms, tests: None });
        Ok(None)
    }

    /// Lowers a nested plan; returns its length.
    fn within(&mut self, pc: usize, end: usize) -> Result<Skip, PlanError> {
        let start = self.machine.insts.len();
        let owner = self.owner;
        self.plan(pc, end)?;
        self.push(Inst::Halt);
        self.owner = owner;
        self.skip(self.machine.insts.len() - start)
    }

    /// A distance as a jump.
    fn skip(&self, by: usize) -> Result<Skip, PlanError> {
        Skip::try_from(by).map_err(|_| self.too_large("a plan that is too long".into()))
    }

    /// The error that what is being lowered is too large.
    fn too_large(&self, what: String) -> PlanError {
        PlanError::TooLarge { place: owner_place(self.program, self.owner), what }
    }

    /// Sets the targets of jumps to the current place.
    fn land(&mut self, fails: &[usize]) -> Result<(), PlanError> {
        for &at in fails {
            let by = self.skip(self.machine.insts.len() - at)?;
            if let Some(skip) = self.machine.insts[at].skip_mut() {
                *skip = by;
            }
        }
        Ok(())
    }

    fn slot(&mut self) -> Result<u8, PlanError> {
        if self.depth == SLOTS {
            return Err(self.too_large(format!("more than {SLOTS} loops within each other")));
        }
        self.depth += 1;
        Ok((self.depth - 1) as u8)
    }

    /// Lowers a relation that is derived on demand: its entry, and its plans one after the other.
    pub(super) fn relation(&mut self, entry: Demanded, plans: &[u32]) -> Result<u32, PlanError> {
        let start = self.machine.insts.len();
        if let Some(&first) = plans.first() {
            self.owner = self.code.owner[first as usize];
        }
        let number = self.machine.entries.len();
        self.push(Inst::Enter { entry: number as u32 });
        self.machine.entries.push(entry);
        for &pc in plans {
            self.plan(pc as usize, self.code.ops.len())?;
        }
        self.machine.entries[number].len = (self.machine.insts.len() - start) as u32;
        self.push(Inst::Halt);
        Ok(start as u32)
    }

    /// One stretch for several relations, which begin at these places. They are copied unchanged, since all
    /// jumps are relative and none leaves its relation.
    pub(super) fn chain(&mut self, starts: &[u32]) -> u32 {
        let start = self.machine.insts.len() as u32;
        for &at in starts {
            let at = at as usize;
            let len = match self.machine.insts[at] {
                Inst::Enter { entry } => self.machine.entries[entry as usize].len as usize,
                other => unreachable!("a relation begins with {other:?}"),
            };
            self.machine.insts.extend_from_within(at..at + len);
            self.machine.owner.extend_from_within(at..at + len);
            self.owner = self.machine.owner[at];
        }
        self.push(Inst::Halt);
        start
    }

    /// The number of a list of registers in the machine, made from a list of the plan.
    fn list(&mut self, list: RegList) -> u32 {
        let code = self.code;
        self.pool_list(&code.regs[list.range()])
    }

    fn pool_list(&mut self, regs: &[Reg]) -> u32 {
        let list = self.pool(regs);
        add(&mut self.machine.lists, list)
    }

    /// A list of the plan's registers in the pool of the machine.
    fn regs(&mut self, list: RegList) -> RegList {
        let code = self.code;
        self.pool(&code.regs[list.range()])
    }

    /// Adds registers to the pool, each as its alias.
    fn pool(&mut self, regs: &[Reg]) -> RegList {
        let start = self.machine.regs.len() as u32;
        self.machine.regs.extend(regs.iter().map(|&it| self.alias[usize::from(it)]));
        RegList { start, len: regs.len() as u32 }
    }

    fn alias(&self, reg: Reg) -> Reg {
        self.alias[usize::from(reg)]
    }

    fn expr(&mut self, expr: ExprId) -> ExprId {
        let node = match self.code.exprs[expr.0 as usize] {
            ExprNode::Reg(reg) => ExprNode::Reg(self.alias(reg)),
            ExprNode::Binary(op, lhs, rhs) => {
                let lhs = self.expr(lhs);
                let rhs = self.expr(rhs);
                ExprNode::Binary(op, lhs, rhs)
            }
        };
        ExprId(add(&mut self.machine.exprs, node))
    }

    /// Lowers an instruction that opens no loop. Returns false if it is the last of its plan.
    fn step(&mut self, op: Op, fails: &mut Vec<usize>) -> bool {
        match op {
            Op::Fetch { reg, fun } => fails.push(self.fetch(reg, fun)),
            Op::TestFun { fun, value, negated } => {
                let (at, value) = (self.place(fun), self.alias(value));
                let skip = 0;
                fails.push(self.push(match (fun.space == Space::Static, negated) {
                    (true, false) => Inst::IsS { at, value, skip },
                    (true, true) => Inst::IsNotS { at, value, skip },
                    (false, false) => Inst::IsK { at, value, skip },
                    (false, true) => Inst::IsNotK { at, value, skip },
                }));
            }
            Op::TestHas { fun, negated } => {
                let at = self.place(fun);
                let skip = 0;
                fails.push(self.push(match (fun.space == Space::Static, negated) {
                    (true, false) => Inst::HasS { at, skip },
                    (true, true) => Inst::LacksS { at, skip },
                    (false, false) => Inst::HasK { at, skip },
                    (false, true) => Inst::LacksK { at, skip },
                }));
            }
            Op::TestBit { row, bit, negated } => {
                let (bit, skip) = (self.alias(bit), 0);
                if let Some((base, key)) = self.one_key(&row)
                    && row.space != Space::Static
                {
                    fails.push(self.push(match (row.space, negated) {
                        (Space::Frame, false) => Inst::InF1 { base, key, bit, skip },
                        (Space::Frame, true) => Inst::OutF1 { base, key, bit, skip },
                        (_, false) => Inst::InK1 { base, key, bit, skip },
                        (_, true) => Inst::OutK1 { base, key, bit, skip },
                    }));
                    return true;
                }
                let at = self.place(row);
                fails.push(self.push(match (row.space, negated) {
                    (Space::Static, false) => Inst::InS { at, bit, skip },
                    (Space::Static, true) => Inst::OutS { at, bit, skip },
                    (Space::Maintained, false) => Inst::InK { at, bit, skip },
                    (Space::Maintained, true) => Inst::OutK { at, bit, skip },
                    (Space::Frame, false) => Inst::InF { at, bit, skip },
                    (Space::Frame, true) => Inst::OutF { at, bit, skip },
                }));
            }
            Op::TestAny { rows, negated: false } => {
                self.and_some(&[rows], fails);
                self.test_some(fails);
            }
            Op::TestAny { rows, negated: true } => {
                self.and(&[rows]);
                fails.push(self.push(Inst::TestNone { skip: 0 }));
            }
            Op::Compare { op, lhs, rhs } => {
                let (lhs, rhs) = (self.alias(lhs), self.alias(rhs));
                fails.push(self.push(Inst::Compare { op, lhs, rhs, skip: 0 }));
            }
            Op::CompareExpr { op, lhs, rhs } => {
                let (lhs, rhs) = (self.expr(lhs), self.expr(rhs));
                fails.push(self.push(Inst::CompareExpr { op, lhs, rhs, skip: 0 }));
            }
            Op::Let { reg, expr } => {
                let expr = self.expr(expr);
                fails.push(self.push(Inst::Let { reg, expr, skip: 0 }));
            }
            Op::Value { reg, expr } => {
                let expr = self.expr(expr);
                self.push(Inst::Value { reg, expr });
            }
            Op::Spend { steps } => {
                self.push(Inst::Spend { steps });
            }
            Op::Count { reg, rows } => {
                self.and(&[rows]);
                self.push(Inst::Count { reg });
            }
            Op::TestScan { store, order, bound, negated } => {
                let (bound, free) = (self.regs(bound), RegList { start: 0, len: 0 });
                let scan = Scan { store, order, bound, free };
                let scan = add(&mut self.machine.scans, scan);
                fails.push(self.push(Inst::TestScan { scan, negated, skip: 0 }));
            }
            last => {
                self.last(last, fails);
                return false;
            }
        }
        true
    }

    /// Lowers the last instruction of a plan.
    fn last(&mut self, op: Op, fails: &mut Vec<usize>) {
        match op {
            Op::EmitRow { row, support, rows } => {
                self.emit_row(row, support, [rows, Rows { start: 0, len: 0 }], fails);
            }
            Op::EmitBit { row, support, bit } => {
                let (at, bit) = (self.place(row), self.alias(bit));
                self.push(match row.space {
                    Space::Frame => Inst::BitF { at, bit },
                    _ => Inst::BitK { at, bit },
                });
                self.note(support);
            }
            Op::EmitTuple { store, values } => {
                let values = self.list(values);
                self.push(Inst::EmitTuple { store, values });
            }
            Op::Collect { key, values } => {
                let (key, values) = (self.list(key), self.list(values));
                self.push(Inst::Collect { key, values });
            }
            Op::Suspect { relation, values } => {
                let values = self.list(values);
                let kept_id = self.kept_ids[usize::from(relation)];
                self.push(Inst::Suspect { kept_id, values });
            }
            Op::Dirty { relation, block } => {
                let (kept_id, block) = (self.kept_ids[usize::from(relation)], self.alias(block));
                self.push(Inst::Dirty { kept_id, block });
            }
            Op::React { reaction } => {
                let code = self.code;
                let named = self.pool_list(&code.effects[reaction as usize].named);
                self.push(Inst::React { named });
            }
            Op::Chase { row, middle, size, stride, reg, tests, fun } => {
                self.and(&[tests]);
                let (first, step) = fun.apart(reg);
                let chase = Chase {
                    frame: row.space == Space::Frame,
                    row: self.place(row.compressed()),
                    middle,
                    size,
                    stride,
                    member: reg,
                    is_static: fun.space == Space::Static,
                    fun: self.two_keys(first.compressed()),
                    step,
                };
                let chase = add(&mut self.machine.chases, chase);
                self.push(Inst::Chase { chase });
            }
            found => {
                debug_assert_eq!(found, Op::Found, "an instruction without a lowering");
                self.push(Inst::Found);
            }
        }
    }

    /// Adds the first column's value to the support.
    fn note(&mut self, support: Option<Support>) {
        if let Some(Support { space, base, first }) = support {
            let bit = self.alias(first);
            self.push(match space {
                Space::Frame => Inst::NoteF { base, bit },
                _ => Inst::NoteK { base, bit },
            });
        }
    }

    fn fetch(&mut self, reg: Reg, fun: Address) -> usize {
        let skip = 0;
        if fun.space != Space::Static
            && let Some((base, key)) = self.one_key(&fun)
        {
            return self.push(Inst::FetchK1 { base, key, reg, skip });
        }
        let at = self.place(fun);
        self.push(match fun.space {
            Space::Static => Inst::FetchS { at, reg, skip },
            _ => Inst::FetchK { at, reg, skip },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::{RowSource, RowTerm};
    use super::*;
    use crate::rules::{Source, compile};

    #[test]
    fn entering_a_loop_is_paid_for_once() {
        let text = ".domain Side { white, black }\n".into();
        let program = compile(vec![Source { path: "sides.dl".into(), text }]).expect("it compiles");
        let mut code = Code::new();
        code.rows.push(RowTerm { negated: false, row: RowSource::All(2) });
        let rows = Rows { start: 0, len: 1 };
        code.ops = vec![
            Op::Loop { reg: 0, rows },
            Op::Loop { reg: 1, rows },
            Op::Spend { steps: 1 },
            Op::Loop { reg: 2, rows },
            Op::Found,
        ];
        code.owner = vec![0; code.ops.len()];
        let mut assembler = Assembler::new(&program, &code, &[]);
        assembler.stretch(&[0]).expect("a short plan");
        let is_paid = |it: &&Inst| matches!(it, Inst::Spend { .. });
        assert_eq!(assembler.machine.insts.iter().filter(is_paid).count(), 1);
    }
}
