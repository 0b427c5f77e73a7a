//! Lowers our instructions to Cranelift's.
//!
//! A stretch becomes one function. The accumulator and the open loops are values of it, one for each word of
//! a row; registers are values, too, or stay in memory, where calls find them (`registers`). Rows and values of
//! functions are accessed only after a bounds check, unless the index cannot be out of range (`places`). An index out
//! of range ends the stretch with a fault.

use std::collections::{BTreeSet, HashMap, HashSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::{
    AbiParam, AliasRegion, AliasRegionData, Block, Function, InstBuilder, MemFlagsData, SigRef,
    Signature, Value,
    types::{I32, I64},
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::Module;

use super::super::code::{Reg, Space};
use super::super::compile::Compiled;
use super::super::layout::NONE;
use super::super::machine::{Demanded, Inst, Near, Place};
use super::super::word::Word;
use super::call::{self, FAULT, FOUND, Fields, HALTED, Helper};
use super::chase::Ways;
use super::flow;
use super::leaf::LeafState;
use super::registers::Registers;
use super::rows::{Row, RowVars};
use crate::rules::Op as Comparison;

/// Size in bytes of a register, and of a word of a row.
pub(super) const WORD: i32 = 8;

pub(super) struct Lower<'f, 'c, W> {
    /// Where the code goes.
    pub(super) b: FunctionBuilder<'f>,
    pub(super) compiled: &'c Compiled<W>,
    pub(super) fields: Fields,
    pub(super) regs_region: AliasRegion,
    pub(super) registers: Registers,
    pub(super) rows_region: AliasRegion,
    pub(super) state: Value,
    pub(super) program: Value,
    pub(super) rows: Value,
    pub(super) funs: Value,
    ready: Value,
    /// The address from which rows of the frame are numbered.
    pub(super) rows_of_frame: Value,
    pub(super) acc: RowVars,
    pub(super) slots: HashMap<u8, RowVars>,
    pub(super) constants: HashMap<Reg, i64>,
    /// Registers that hold members of rows and nothing else: they are below the width.
    pub(super) members: HashSet<Reg>,
    /// For each instruction that jumps end at, its block.
    pub(super) blocks: HashMap<usize, Block>,
    pub(super) fault: Block,
    pub(super) halted: Block,
    pub(super) found: Block,
    /// Whether the last instruction jumped, so that the next one is not reached from it.
    pub(super) left: bool,
    /// The ways of chases, see [`super::chase`].
    pub(super) ways: &'c Ways<W>,
    /// The further state of a function that counts leaves.
    pub(super) leaf: Option<LeafState>,
    /// The signature of helpers, once one is called.
    signature: Option<SigRef>,
    /// A signature without parameters and results.
    plain: Signature,
}

impl<'f, 'c, W: Word> Lower<'f, 'c, W> {
    /// A new function, with its parameters and nothing else yet.
    pub(super) fn new(
        function: &'f mut Function,
        context: &'f mut FunctionBuilderContext,
        module: &JITModule,
        c: &'c Compiled<W>,
        ways: &'c Ways<W>,
    ) -> Self {
        let [regs_region, rows_region] = [(0, "registers"), (1, "rows")].map(|(user_id, name)| {
            let data = AliasRegionData { user_id, description: name.into() };
            function.dfg.alias_regions.insert(data)
        });
        let mut b = FunctionBuilder::new(function, context);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let acc: RowVars = (0..Self::WORDS).map(|_| b.declare_var(I64)).collect();
        let [fault, halted, found] = std::array::from_fn(|_| b.create_block());
        b.set_cold_block(fault);
        let zero = b.ins().iconst(I64, 0);
        acc.iter().for_each(|it| b.def_var(*it, zero));
        let constants = c.code.constants.iter().map(|&(value, reg)| (reg, value)).collect();
        Self {
            b,
            compiled: c,
            fields: Fields::of::<W>(),
            regs_region,
            registers: None,
            rows_region,
            state: zero,
            program: zero,
            rows: zero,
            funs: zero,
            ready: zero,
            rows_of_frame: zero,
            acc,
            slots: HashMap::new(),
            constants,
            members: HashSet::new(),
            blocks: HashMap::new(),
            fault,
            halted,
            found,
            left: false,
            ways,
            leaf: None,
            signature: None,
            plain: module.make_signature(),
        }
    }

    /// Fills the function with the stretch that begins at `start`. It is closed if no other stretch uses its
    /// registers.
    pub(super) fn function(&mut self, start: u32, is_closed: bool) {
        self.take_parameters();
        if is_closed {
            self.hold_registers();
        }
        self.body(start);
    }

    /// Takes the parameters of a stretch. A frame that is not in range is a fault at once.
    fn take_parameters(&mut self) {
        let n_rows;
        [self.state, self.program, self.rows, n_rows, self.funs, self.ready] = self.params();
        let frame = self.field(self.fields.frame);
        // From here on, the index of a maintained row or of one of the frame has a constant bound.
        let bound = self.rows_with_frame() as i64;
        let end = self.b.ins().iadd_imm_s(frame, bound);
        let enough = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, n_rows);
        self.or_fault(enough);
        let offset = self.b.ins().ishl_imm_u(frame, Self::ROW_SHIFT);
        self.rows_of_frame = self.b.ins().iadd(self.rows, offset);
    }

    /// The parameters of the function that has just begun.
    pub(super) fn params<const N: usize>(&self) -> [Value; N] {
        let entry = self.b.func.layout.entry_block().expect("the function has begun");
        std::array::from_fn(|it| self.b.func.dfg.block_params(entry)[it])
    }

    /// Ends the function.
    pub(super) fn finish(mut self, module: &JITModule) {
        self.b.seal_all_blocks();
        self.b.finalize(module.target_config());
    }

    /// Number of maintained rows and rows of one frame, together.
    pub(super) fn rows_with_frame(&self) -> u64 {
        (self.compiled.kept_rows + self.compiled.frame_rows) as u64
    }

    /// Lowers the stretch, and ends the function for each of its results.
    fn body(&mut self, start: u32) {
        self.create_blocks(&flow::targets(&self.compiled.machine, start).jumps);
        self.members = flow::members(&self.compiled.machine, start);
        self.stretch(start as usize, [self.halted, self.found]);
        for (block, result) in [(self.halted, HALTED), (self.found, FOUND), (self.fault, FAULT)] {
            self.b.switch_to_block(block);
            let result = self.b.ins().iconst(I32, result);
            self.b.ins().return_(&[result]);
        }
    }

    pub(super) fn create_blocks(&mut self, targets: &BTreeSet<usize>) {
        for &target in targets {
            let block = self.b.create_block();
            self.blocks.insert(target, block);
        }
    }

    /// Lowers instructions up to the end of their stretch, which goes on at `halted`; a solution
    /// goes on at `found`.
    pub(super) fn stretch(&mut self, mut pc: usize, [halted, found]: [Block; 2]) {
        loop {
            self.arrive(pc);
            match self.compiled.machine.insts[pc] {
                Inst::Halt => {
                    self.leave(halted);
                    return;
                }
                Inst::Found => self.leave(found),
                Inst::Sub { negated, body, skip } => {
                    let holds = self.target(pc + 1 + usize::from(body));
                    let fails = self.target(pc + usize::from(skip));
                    self.stretch(pc + 1, if negated { [holds, fails] } else { [fails, holds] });
                    pc += usize::from(body);
                }
                Inst::Scan { scan, body } if self.leaf.is_some() => {
                    self.scan_list(scan, pc as u32 + 1, found);
                    pc += usize::from(body);
                }
                // Only the interpreter carries these out.
                Inst::Fold { body, .. } | Inst::FixK { body, .. } | Inst::FixF { body, .. }
                    if self.leaf.is_some() =>
                {
                    self.give_up();
                    pc += usize::from(body);
                }
                Inst::Scan { body, .. } => {
                    let hit = self.step(pc);
                    self.leave_if(hit, found);
                    pc += usize::from(body);
                }
                Inst::Fold { body, skip, .. } => {
                    let done = self.step(pc);
                    self.check(done, pc, skip);
                    pc += usize::from(body);
                }
                Inst::FixK { body, .. } | Inst::FixF { body, .. } => {
                    self.step(pc);
                    pc += usize::from(body);
                }
                inst => self.instruction(inst, pc),
            }
            pc += 1;
        }
    }

    /// Begins a block for an instruction that is the target of a jump, or that the previous one does not lead
    /// to.
    fn arrive(&mut self, pc: usize) {
        let block = self.blocks.get(&pc).copied();
        if let (Some(block), false) = (block, self.left) {
            self.b.ins().jump(block, &[]);
        }
        if block.is_some() || self.left {
            let block = block.unwrap_or_else(|| self.b.create_block());
            self.b.switch_to_block(block);
            self.left = false;
        }
    }

    /// Jumps to the block. What follows is not reached from here.
    pub(super) fn leave(&mut self, to: Block) {
        self.b.ins().jump(to, &[]);
        self.left = true;
    }

    /// The block of an instruction that jumps end at.
    pub(super) fn target(&self, pc: usize) -> Block {
        self.blocks[&pc]
    }

    /// Goes on in a new block if the condition holds, else at the other.
    pub(super) fn unless(&mut self, condition: Value, other: Block) {
        let next = self.b.create_block();
        self.b.ins().brif(condition, next, &[], other, &[]);
        self.b.switch_to_block(next);
    }

    /// Jumps to the block if the condition holds, else goes on in a new one.
    pub(super) fn leave_if(&mut self, condition: Value, to: Block) {
        let next = self.b.create_block();
        self.b.ins().brif(condition, to, &[], next, &[]);
        self.b.switch_to_block(next);
    }

    /// Does something more if the condition holds.
    pub(super) fn when(&mut self, condition: Value, more: impl FnOnce(&mut Self)) {
        let next = self.b.create_block();
        self.unless(condition, next);
        more(self);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// Goes on if the condition holds, else ends the stretch with a fault.
    pub(super) fn or_fault(&mut self, condition: Value) {
        self.unless(condition, self.fault);
    }

    /// Goes on if the condition holds, else where the instruction says.
    pub(super) fn check(&mut self, condition: Value, pc: usize, skip: u16) {
        let other = self.target(pc + usize::from(skip));
        self.unless(condition, other);
    }

    fn instruction(&mut self, inst: Inst, pc: usize) {
        use IntCC::{Equal, NotEqual};
        use Space::{Frame, Maintained, Static};
        if self.leaf.is_some() && self.of_leaf(inst, pc) {
            return;
        }
        match inst {
            Inst::LoadS1(at) => self.or_skip(Self::load, Static, at, pc),
            Inst::LoadK1(at) => self.or_skip(Self::load, Maintained, at, pc),
            Inst::LoadF1(at) => self.or_skip(Self::load, Frame, at, pc),
            Inst::AndS1(at) => self.or_skip(Self::and, Static, at, pc),
            Inst::AndK1(at) => self.or_skip(Self::and, Maintained, at, pc),
            Inst::AndF1(at) => self.or_skip(Self::and, Frame, at, pc),
            Inst::DropS1(at) => self.or_skip(Self::drop, Static, at, pc),
            Inst::DropK1(at) => self.or_skip(Self::drop, Maintained, at, pc),
            Inst::DropF1(at) => self.or_skip(Self::drop, Frame, at, pc),
            Inst::LoadS(at) => self.load(Static, at),
            Inst::LoadK(at) => self.load(Maintained, at),
            Inst::LoadF(at) => self.load(Frame, at),
            Inst::AndS(at) => self.and(Static, at),
            Inst::AndK(at) => self.and(Maintained, at),
            Inst::AndF(at) => self.and(Frame, at),
            Inst::DropS(at) => self.drop(Static, at),
            Inst::DropK(at) => self.drop(Maintained, at),
            Inst::DropF(at) => self.drop(Frame, at),
            Inst::LoadOne { key } => {
                let one = self.one(key);
                self.set_acc(&one);
            }
            Inst::AndOne { key } => {
                let one = self.one(key);
                self.narrow(&one);
            }
            Inst::DropOne { key } => {
                let one = self.one(key);
                self.narrow_to_others(&one);
            }
            Inst::LoadFirst { n } => {
                let all = self.first(n);
                self.set_acc(&all);
            }
            Inst::AndFirst { n } => {
                let all = self.first(n);
                self.narrow(&all);
            }
            Inst::Loop { reg, slot, skip } => {
                self.some(pc, skip);
                let acc = self.acc();
                self.take(&acc, reg, slot);
            }
            Inst::Next { reg, slot, back } => {
                let rest = self.saved(slot);
                let some = self.any(&rest);
                let (turn, next) = (self.b.create_block(), self.b.create_block());
                self.b.ins().brif(some, turn, &[], next, &[]);
                self.b.switch_to_block(turn);
                self.take(&rest, reg, slot);
                let body = self.target(pc - usize::from(back));
                self.b.ins().jump(body, &[]);
                self.b.switch_to_block(next);
            }
            Inst::Save { slot, skip } => {
                self.some(pc, skip);
                let acc = self.acc();
                let slot = self.slot(slot);
                self.set(&slot, &acc);
            }
            Inst::TestSome { skip } => self.some(pc, skip),
            Inst::TestNone { skip } => {
                let acc = self.acc();
                let any = self.any(&acc);
                let none = self.b.ins().icmp_imm_s(IntCC::Equal, any, 0);
                self.check(none, pc, skip);
            }
            Inst::Count { reg } => {
                let acc = self.acc();
                let counts: Row = acc.iter().map(|it| self.b.ins().popcnt(*it)).collect();
                let first = counts[0];
                let count = counts[1..].iter().fold(first, |all, it| self.b.ins().iadd(all, *it));
                self.set_reg(reg, count);
            }
            Inst::GrowK { at, skip } => self.grow(Maintained, at, pc, skip),
            Inst::GrowF { at, skip } => self.grow(Frame, at, pc, skip),
            Inst::GrowK1 { base, key, support, bit, skip } => {
                self.grow(Maintained, near(base, key), pc, skip);
                self.note(Maintained, keyless(support), bit);
            }
            Inst::GrowF1 { base, key, support, bit, skip } => {
                self.grow(Frame, near(base, key), pc, skip);
                self.note(Frame, keyless(support), bit);
            }
            Inst::BitK { at, bit } => self.note(Maintained, at, bit),
            Inst::BitF { at, bit } => self.note(Frame, at, bit),
            Inst::NoteK { base, bit } => self.note(Maintained, keyless(base), bit),
            Inst::NoteF { base, bit } => self.note(Frame, keyless(base), bit),
            Inst::Sweep { sweep, slot } => {
                let members = self.saved(slot);
                self.sweep(&self.compiled.machine.sweeps[sweep as usize], members);
            }
            Inst::Gather { sweep, slot } => {
                let members = self.saved(slot);
                self.gather(&self.compiled.machine.sweeps[sweep as usize], &members);
            }
            Inst::Filter { term, bit, skip } => {
                self.filter(&self.compiled.machine.terms[term as usize], bit);
                self.some(pc, skip);
            }
            Inst::FetchK1 { base, key, reg, skip } => {
                self.fetch(Maintained, near(base, key), reg, pc, skip);
            }
            Inst::FetchK { at, reg, skip } => self.fetch(Maintained, at, reg, pc, skip),
            Inst::FetchS { at, reg, skip } => self.fetch(Static, at, reg, pc, skip),
            Inst::IsK { at, value, skip } => self.compare(Equal, Maintained, at, value, pc, skip),
            Inst::IsS { at, value, skip } => self.compare(Equal, Static, at, value, pc, skip),
            Inst::IsNotK { at, value, skip } => {
                self.compare(NotEqual, Maintained, at, value, pc, skip);
            }
            Inst::IsNotS { at, value, skip } => self.compare(NotEqual, Static, at, value, pc, skip),
            Inst::HasK { at, skip } => self.compare_none(NotEqual, Maintained, at, pc, skip),
            Inst::HasS { at, skip } => self.compare_none(NotEqual, Static, at, pc, skip),
            Inst::LacksK { at, skip } => self.compare_none(Equal, Maintained, at, pc, skip),
            Inst::LacksS { at, skip } => self.compare_none(Equal, Static, at, pc, skip),
            Inst::InS { at, bit, skip } => self.is_in(Static, at, bit, pc, skip),
            Inst::InK { at, bit, skip } => self.is_in(Maintained, at, bit, pc, skip),
            Inst::InF { at, bit, skip } => self.is_in(Frame, at, bit, pc, skip),
            Inst::OutS { at, bit, skip } => self.is_out(Static, at, bit, pc, skip),
            Inst::OutK { at, bit, skip } => self.is_out(Maintained, at, bit, pc, skip),
            Inst::OutF { at, bit, skip } => self.is_out(Frame, at, bit, pc, skip),
            Inst::InK1 { base, key, bit, skip } => {
                self.is_in(Maintained, near(base, key), bit, pc, skip);
            }
            Inst::InF1 { base, key, bit, skip } => {
                self.is_in(Frame, near(base, key), bit, pc, skip);
            }
            Inst::OutK1 { base, key, bit, skip } => {
                self.is_out(Maintained, near(base, key), bit, pc, skip);
            }
            Inst::OutF1 { base, key, bit, skip } => {
                self.is_out(Frame, near(base, key), bit, pc, skip);
            }
            Inst::Compare { op, lhs, rhs, skip } => {
                let (lhs, rhs) = (self.reg(lhs), self.reg(rhs));
                let holds = self.b.ins().icmp(condition(op), lhs, rhs);
                self.check(holds, pc, skip);
            }
            Inst::CompareExpr { skip, .. }
            | Inst::Let { skip, .. }
            | Inst::TestScan { skip, .. } => {
                let holds = self.step(pc);
                self.check(holds, pc, skip);
            }
            Inst::Spend { steps } => self.spend(steps, pc),
            Inst::SumKeys { reg, address } => {
                let address = self.compiled.machine.addresses[address as usize];
                let mut sum = self.b.ins().iconst(I64, 0);
                for it in 1..usize::from(address.n) {
                    let key = self.reg(address.regs[it]);
                    let part = self.b.ins().imul_imm_s(key, i64::from(address.strides[it]));
                    sum = self.b.ins().iadd(sum, part);
                }
                self.set_reg(reg, sum);
            }
            Inst::Chase { chase } => self.chase(chase),
            Inst::Enter { entry } => {
                let entry = self.compiled.machine.entries[entry as usize];
                let past = self.target(pc + entry.len as usize);
                self.enter(&entry, past);
            }
            Inst::Dirty { kept_id, block } => {
                let kept_id = self.b.ins().iconst(I64, i64::from(kept_id));
                let block = self.one(block);
                self.pass(call::mark_dirty::<W> as Helper, kept_id, &block);
            }
            Inst::Value { .. }
            | Inst::Collect { .. }
            | Inst::EmitTuple { .. }
            | Inst::Args { .. } => {
                self.step(pc);
            }
            Inst::Suspect { kept_id, values } => {
                let what = i64::from(kept_id) << 32 | i64::from(values);
                self.flush_list(values);
                let args = [pc as i64, what].map(|it| self.b.ins().iconst(I64, it));
                self.call(call::suspect::<W> as Helper, &args);
            }
            Inst::React { named } => {
                self.flush_list(named);
                let args = [pc as i64, i64::from(named)].map(|it| self.b.ins().iconst(I64, it));
                self.call(call::react::<W> as Helper, &args);
            }
            // Part of `stretch`.
            Inst::Halt
            | Inst::Found
            | Inst::Sub { .. }
            | Inst::Fold { .. }
            | Inst::FixK { .. }
            | Inst::FixF { .. }
            | Inst::Scan { .. } => {}
        }
    }

    // --- registers, fields, calls ---------------------------------------------------------------

    pub(super) fn memory(region: AliasRegion) -> MemFlagsData {
        MemFlagsData::trusted().with_alias_region(Some(region))
    }

    /// A number in memory that is no part of a row and no register.
    pub(super) fn load_number(&mut self, address: Value, offset: i32) -> Value {
        self.b.ins().load(I64, MemFlagsData::trusted(), address, Offset32::new(offset))
    }

    pub(super) fn store_number(&mut self, address: Value, offset: i32, number: Value) {
        self.b.ins().store(MemFlagsData::trusted(), number, address, Offset32::new(offset));
    }

    pub(super) fn field(&mut self, at: i32) -> Value {
        self.load_number(self.state, at)
    }

    fn slot(&mut self, slot: u8) -> RowVars {
        if let Some(known) = self.slots.get(&slot) {
            return known.clone();
        }
        let new = self.declare();
        self.slots.insert(slot, new.clone());
        new
    }

    /// The members in a slot.
    pub(super) fn saved(&mut self, slot: u8) -> Row {
        let vars = self.slot(slot);
        self.values(&vars)
    }

    /// Takes the lowest member out of a row that has some: it goes to the register, the rest to the
    /// slot.
    fn take(&mut self, row: &Row, reg: Reg, slot: u8) {
        let (member, rest) = self.pop(row);
        self.set_reg(reg, member);
        let slot = self.slot(slot);
        self.set(&slot, &rest);
    }

    /// Calls a helper with a row, which is passed in the state.
    pub(super) fn pass(&mut self, helper: Helper, what: Value, row: &Row) {
        for (at, word) in (0..).zip(row) {
            self.store_number(self.state, self.fields.passed + at * WORD, *word);
        }
        self.call(helper, &[what, what]);
    }

    /// Has the interpreter run an instruction. Returns its answer.
    pub(super) fn step(&mut self, pc: usize) -> Value {
        let pc = self.b.ins().iconst(I64, pc as i64);
        let none = self.b.ins().iconst(I64, 0);
        self.call(call::step::<W> as Helper, &[pc, none])
    }

    pub(super) fn call(&mut self, helper: Helper, args: &[Value; 2]) -> Value {
        let b = &mut self.b;
        let signature = match self.signature {
            Some(it) => it,
            None => {
                let mut signature = self.plain.clone();
                signature.params.extend([AbiParam::new(I64); 4]);
                signature.returns.push(AbiParam::new(I64));
                *self.signature.insert(b.import_signature(signature))
            }
        };
        let helper = b.ins().iconst(I64, helper as usize as i64);
        let args = [self.state, self.program, args[0], args[1]];
        let call = b.ins().call_indirect(signature, helper, &args);
        b.inst_results(call)[0]
    }

    fn spend(&mut self, steps: u16, pc: usize) {
        let left = self.field(self.fields.fuel_left);
        let left = self.b.ins().iadd_imm_s(left, -i64::from(steps));
        self.store_number(self.state, self.fields.fuel_left, left);
        let (empty, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(empty);
        let out = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.b.ins().brif(out, empty, &[], next, &[]);
        self.b.switch_to_block(empty);
        let owner = self.b.ins().iconst(I64, i64::from(self.compiled.machine.owner[pc]));
        let goes_on = self.call(call::next_slice::<W> as Helper, &[owner, owner]);
        self.b.ins().brif(goes_on, next, &[], self.halted, &[]);
        self.b.switch_to_block(next);
    }

    /// Goes on if a relation has yet to be derived: it is emptied, and marked as derived.
    fn enter(&mut self, entry: &Demanded, past: Block) {
        let at = i32::from(entry.rel) / 64 * WORD;
        let word = self.load_number(self.ready, at);
        let bit = self.b.ins().iconst(I64, 1i64 << (entry.rel % 64));
        let done = self.b.ins().band(word, bit);
        self.leave_if(done, past);
        let word = self.b.ins().bor(word, bit);
        self.store_number(self.ready, at, word);
        self.start_over(entry);
    }

    /// Begins to derive a relation: empties it.
    pub(super) fn start_over(&mut self, entry: &Demanded) {
        let row = self.row_at(Space::Frame, keyless(entry.support.unwrap_or(entry.base)));
        let used = self.load_row(row);
        self.empty_row(row);
        if entry.support.is_some() {
            let some = self.any(&used);
            self.when(some, |it| it.empty(entry, &used));
        }
    }

    // --- rows and values ------------------------------------------------------------------------

    pub(super) fn narrow(&mut self, row: &Row) {
        let acc = self.acc();
        let acc = self.both(&acc, row);
        self.set_acc(&acc);
    }

    fn narrow_to_others(&mut self, row: &Row) {
        let acc = self.acc();
        let acc = self.without(&acc, row);
        self.set_acc(&acc);
    }

    fn load(&mut self, space: Space, at: Place) {
        let row = self.row(space, at);
        self.set_acc(&row);
    }

    fn and(&mut self, space: Space, at: Place) {
        let row = self.row(space, at);
        self.narrow(&row);
    }

    fn drop(&mut self, space: Space, at: Place) {
        let row = self.row(space, at);
        self.narrow_to_others(&row);
    }

    pub(super) fn some(&mut self, pc: usize, skip: u16) {
        let acc = self.acc();
        let any = self.any(&acc);
        self.check(any, pc, skip);
    }

    /// Loads or narrows the accumulator by a place with one key; goes on if it has members then.
    fn or_skip(&mut self, how: fn(&mut Self, Space, Place), space: Space, at: Near, pc: usize) {
        how(self, space, near(at.base, at.key));
        self.some(pc, at.skip);
    }

    fn grow(&mut self, space: Space, at: Place, pc: usize, skip: u16) {
        self.some(pc, skip);
        let address = self.row_at(space, at);
        let acc = self.acc();
        self.grow_row(address, &acc);
    }

    fn note(&mut self, space: Space, at: Place, bit: Reg) {
        let address = self.row_at(space, at);
        let (address, within) = self.word_of(address, bit);
        let word = self.load_word(address, 0);
        let word = self.b.ins().bor(word, within);
        self.store_word(address, 0, word);
    }

    /// A value that is not 0 if the row has the member in the register.
    fn bit(&mut self, space: Space, at: Place, bit: Reg) -> Value {
        let address = self.row_at(space, at);
        let (address, within) = self.word_of(address, bit);
        let word = self.load_word(address, 0);
        self.b.ins().band(word, within)
    }

    fn is_in(&mut self, space: Space, at: Place, bit: Reg, pc: usize, skip: u16) {
        let has = self.bit(space, at, bit);
        self.check(has, pc, skip);
    }

    fn is_out(&mut self, space: Space, at: Place, bit: Reg, pc: usize, skip: u16) {
        let has = self.bit(space, at, bit);
        let other = self.target(pc + usize::from(skip));
        self.leave_if(has, other);
    }

    /// The value of a function: a static one, or an input.
    fn fun(&mut self, space: Space, at: Place) -> Value {
        let (start, n) = match space {
            Space::Static => {
                let statics = &self.compiled.statics.funs;
                (self.b.ins().iconst(I64, statics.as_ptr() as i64), statics.len())
            }
            Space::Maintained | Space::Frame => (self.funs, self.compiled.kept_funs),
        };
        let address = self.address_at(start, at, n as u64, 3);
        self.load_number(address, 0)
    }

    fn fetch(&mut self, space: Space, at: Place, reg: Reg, pc: usize, skip: u16) {
        let value = self.fun(space, at);
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, value, NONE);
        self.check(some, pc, skip);
        self.set_reg(reg, value);
    }

    /// Goes on if the function's value compares like this with the register's.
    fn compare(&mut self, how: IntCC, space: Space, at: Place, value: Reg, pc: usize, skip: u16) {
        let found = self.fun(space, at);
        let value = self.reg(value);
        let holds = self.b.ins().icmp(how, found, value);
        self.check(holds, pc, skip);
    }

    /// Goes on if the function's value compares like this with [`NONE`].
    fn compare_none(&mut self, how: IntCC, space: Space, at: Place, pc: usize, skip: u16) {
        let found = self.fun(space, at);
        let holds = self.b.ins().icmp_imm_s(how, found, NONE);
        self.check(holds, pc, skip);
    }
}

/// A place with one key and stride 1.
fn near(base: u32, key: Reg) -> Place {
    Place { base, strides: [1, 0], keys: [key, 0] }
}

/// A place without keys.
pub(super) fn keyless(base: u32) -> Place {
    Place { base, strides: [0, 0], keys: [0, 0] }
}

pub(super) fn condition(op: Comparison) -> IntCC {
    match op {
        Comparison::Eq => IntCC::Equal,
        Comparison::Ne => IntCC::NotEqual,
        Comparison::Lt => IntCC::SignedLessThan,
        Comparison::Le => IntCC::SignedLessThanOrEqual,
        Comparison::Gt => IntCC::SignedGreaterThan,
        Comparison::Ge => IntCC::SignedGreaterThanOrEqual,
    }
}
