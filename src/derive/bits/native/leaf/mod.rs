//! Counting leaves in machine code: the number of actions after an action, without taking it.
//!
//! A count of the last ply needs one number per action. The function of an action solves its reactions,
//! writes their effects only to the rows, updates the relations that the count reads, derives and counts, and
//! takes everything back: no fact is written, and instead of a journal there is a list of the machine words that were
//! overwritten. All of it is made for the program as a whole: what is counted decides which relations are updated
//! at all. In a ply above the last ([`Ply::Above`]) more relations are updated, nothing is counted, and the
//! writes stay until they are taken back.
//!
//! Deliberately absent, so that the caller takes the actions:
//! * programs whose count needs fixpoints or given rows, or aggregates after each action
//!   (`wanted` finds these);
//! * single actions, whose functions bail out: their reactions do more than write facts and create the entities of one
//!   solution, or the code meets an aggregate, adds a tuple to a list, or exceeds a limit.

mod after;
mod catch_up;
mod changes;
mod held;
pub(super) mod mirrors;
mod scans;
mod undo;
mod wanted;

use std::collections::HashMap;
use std::sync::Arc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, Value, types::I32, types::I64};
use cranelift_frontend::{FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};

use super::super::compile::{Compiled, Maintained};
use super::super::machine::{Inst, KeptId};
use super::super::planner::GIVEN;
use super::super::word::Word;
use super::Native;
use super::call::{self, ActionCode, Context, FAULT, HALTED, TakeBack};
use super::chase::Ways;
use super::lower::{Lower, WORD, condition};
use super::rows::Row;
use crate::derive::leaves::Leaves;
use crate::facts::AttrId;
use scans::Tables;
use wanted::Wanted;

/// A further result of functions of leaves: a limit was exceeded, or the case is not supported. The function of an
/// action has then taken all writes back; the functions that it calls leave that to it.
const BAILED: i64 = 3;

/// Maximum number of suspects of one relation after a batch of reactions: tuples that may have changed, so that they must
/// be checked again.
const SUSPECTS: u64 = 48;

/// Maximum number of rows of a block for which code is unrolled. A program whose count reads a maintained relation with
/// larger blocks gets no code.
pub(super) const UNROLLED: u32 = 16;

/// The ply that functions are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ply {
    /// Actions after it are counted.
    Last,
    /// Actions after it are taken, by such functions as well.
    Above,
}

/// The functions of a program for one ply.
pub(super) struct LeafCode {
    /// By action.
    pub(super) actions: Vec<Option<ActionCode>>,
    /// Restores what functions of a ply above the last have overwritten.
    pub(super) take_back: Option<TakeBack>,
    /// Code reads its tables.
    pub(super) shared: Arc<Shared>,
    _memory: call::Memory,
}

impl std::fmt::Debug for LeafCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let actions = self.actions.iter().flatten().count();
        f.debug_struct("LeafCode").field("actions", &actions).finish_non_exhaustive()
    }
}

impl LeafCode {
    /// The code of a ply for counting the requested leaves; `native` has that of the stretches already. `None` if it
    /// cannot be made.
    pub(super) fn compile<W: Word>(
        c: &Compiled<W>,
        native: &Native,
        leaves: &Leaves,
        ply: Ply,
    ) -> Option<Self> {
        let span = tracing::debug_span!("leaves", instructions = c.machine.insts.len());
        let _entered = span.enter();
        let tables = Tables::of(c);
        let ways = native.ways.downcast_ref::<Ways<W>>()?;
        let made = Wanted::of(c, leaves, ply, &tables)
            .and_then(|wanted| Maker::new(c, ways, wanted, tables)?.make(leaves, ply));
        match made {
            Ok(code) => Some(code),
            Err(reason) => {
                tracing::debug!(%reason, ?ply, "leaves are counted by taking the actions");
                None
            }
        }
    }
}

/// What the functions of a program for one ply share.
pub(super) struct Shared {
    /// By [`KeptId`], whether the relation is updated.
    kept: Vec<bool>,
    /// By reaction, see [`Wanted::does_more`].
    does_more: Vec<bool>,
    /// Where the suspects of a relation are stored, see [`SUSPECTS`]: the first word, which has their number, and the
    /// number of values of each.
    suspects: HashMap<KeptId, (i32, usize)>,
    /// Number of words for the suspects of all relations.
    pub(super) suspect_words: usize,
    /// By reaction, see [`Wanted::matters`].
    matters: Vec<bool>,
    tables: Tables,
}

/// What lowering a function of leaves needs besides what lowering a stretch needs.
pub(super) struct LeafState {
    /// The context that all functions share, see [`call::Context`].
    context: Value,
    /// Where the next word is saved. It is in the context while another function runs.
    top: Variable,
    /// The block to go to in order to give up.
    bail: Block,
    /// By attribute, the function that writes it.
    changes: HashMap<AttrId, FuncRef>,
    /// The function that updates the maintained relations.
    catch_up: FuncRef,
    /// The function that derives and counts; `None` in plies above the last.
    count: Option<FuncRef>,
    shared: Arc<Shared>,
    /// The reaction whose body is being solved, with its writes so far.
    solving: Option<after::Solving>,
    /// The rows of the block that is being derived, if they are held in values.
    held: Option<held::Held>,
}

/// Makes the functions of a program.
struct Maker<'c, W> {
    compiled: &'c Compiled<W>,
    ways: &'c Ways<W>,
    shared: Arc<Shared>,
    /// The relations that are updated, in their order.
    kept_ids: Vec<KeptId>,
    module: JITModule,
    functions: FunctionBuilderContext,
    changes: Vec<(AttrId, FuncId)>,
    catch_up: FuncId,
    count: Option<FuncId>,
}

impl<'c, W: Word> Maker<'c, W> {
    fn new(
        c: &'c Compiled<W>,
        ways: &'c Ways<W>,
        Wanted { attrs, kept_ids, does_more, matters }: Wanted,
        tables: Tables,
    ) -> Result<Self, String> {
        let mut module = super::module()?;
        let (mut suspects, mut suspect_words) = (HashMap::new(), 0);
        let mut kept = vec![false; c.maintained.len()];
        for &kept_id in &kept_ids {
            let Maintained { rel, by_block, .. } = c.maintained[usize::from(kept_id)];
            kept[usize::from(kept_id)] = true;
            if !by_block {
                let arity = c.program.relation(rel).columns.len();
                suspects.insert(kept_id, (suspect_words as i32, arity));
                suspect_words += 1 + SUSPECTS as usize * arity;
            }
        }
        let catch_up = declare(&mut module, "catch_up")?;
        let mut changes = Vec::new();
        for attr in attrs {
            changes.push((attr, declare(&mut module, &format!("write{}", attr.0))?));
        }
        Ok(Self {
            compiled: c,
            ways,
            shared: Arc::new(Shared { kept, does_more, suspects, suspect_words, matters, tables }),
            kept_ids,
            functions: FunctionBuilderContext::new(),
            changes,
            catch_up,
            count: None,
            module,
        })
    }

    fn make(mut self, leaves: &Leaves, ply: Ply) -> Result<LeafCode, String> {
        for (attr, id) in self.changes.clone() {
            self.define(id, |it| it.change(attr))?;
        }
        let kept_ids = std::mem::take(&mut self.kept_ids);
        self.define(self.catch_up, |it| it.catch_up(&kept_ids))?;
        let count_or_take_back = declare(&mut self.module, "count_or_take_back")?;
        match ply {
            Ply::Last => {
                self.count = Some(count_or_take_back);
                self.define(count_or_take_back, |it| it.count_leaves(leaves))?;
            }
            Ply::Above => self.define(count_or_take_back, |it| it.end(Lower::take_back))?,
        }
        let mut actions = Vec::new();
        for (at, batches) in leaves.batches.iter().enumerate() {
            let Some(batches) = batches else {
                actions.push(None);
                continue;
            };
            let id = declare(&mut self.module, &format!("after{at}"))?;
            self.define(id, |it| it.after(batches.clone(), &leaves.cleared))?;
            actions.push(Some(id));
        }
        self.module.finalize_definitions().map_err(|it| it.to_string())?;
        let code = |id: FuncId| self.module.get_finalized_function(id);
        let entry = |id: FuncId| ActionCode::new(code(id));
        let actions = actions.into_iter().map(|it| it.map(entry)).collect();
        let take_back = (ply == Ply::Above).then(|| TakeBack::new(code(count_or_take_back)));
        Ok(LeafCode {
            actions,
            take_back,
            shared: self.shared,
            _memory: call::Memory::new(self.module),
        })
    }

    fn define(
        &mut self,
        id: FuncId,
        body: impl FnOnce(&mut Lower<'_, '_, W>),
    ) -> Result<(), String> {
        let mut context = self.module.make_context();
        context.func.signature = call::signature(&self.module, 3);
        let module = &mut self.module;
        let mut refer = |id: FuncId| module.declare_func_in_func(id, &mut context.func);
        let changes = self.changes.iter().map(|(attr, id)| (*attr, refer(*id))).collect();
        let (catch_up, count) = (refer(self.catch_up), self.count.map(&mut refer));
        let mut lower = Lower::new(
            &mut context.func,
            &mut self.functions,
            &self.module,
            self.compiled,
            self.ways,
        );
        let bail = lower.b.create_block();
        lower.b.set_cold_block(bail);
        let [shared] = lower.params();
        let top = lower.b.declare_var(I64);
        lower.registers = Some(HashMap::new());
        lower.leaf = Some(LeafState {
            context: shared,
            top,
            bail,
            changes,
            catch_up,
            count,
            shared: Arc::clone(&self.shared),
            solving: None,
            held: None,
        });
        // Running out of the budget means giving up. The block that is being derived then stays empty, as in the
        // interpreter: from here on `World::check` fails, until all rows are derived anew.
        lower.halted = bail;
        lower.take_context();
        body(&mut lower);
        lower.finish(&self.module);
        super::define(&mut self.module, id, &mut context)
    }
}

fn declare(module: &mut JITModule, name: &str) -> Result<FuncId, String> {
    let signature = call::signature(module, 3);
    let declared = module.declare_function(name, Linkage::Local, &signature);
    declared.map_err(|it| it.to_string())
}

impl<W: Word> Lower<'_, '_, W> {
    pub(super) fn leaf(&mut self) -> &mut LeafState {
        self.leaf.as_mut().expect("it is a function of leaves")
    }

    /// Loads the addresses from the context.
    fn take_context(&mut self) {
        self.state = self.shared(Context::STATE);
        self.program = self.shared(Context::PROGRAM);
        self.rows = self.shared(Context::ROWS);
        self.funs = self.shared(Context::FUNS);
        self.enter_frame(Context::FRAME_AFTER);
        self.load_undo_top();
    }

    /// From here on rows of the frame are those of the given frame.
    fn enter_frame(&mut self, field: i32) {
        self.rows_of_frame = self.shared(field);
    }

    /// Loads a field of the context.
    fn shared(&mut self, field: i32) -> Value {
        let context = self.leaf().context;
        self.load_number(context, field)
    }

    /// Stores a field of the context.
    fn share(&mut self, field: i32, value: Value) {
        let context = self.leaf().context;
        self.store_number(context, field, value);
    }

    /// Ends a function: it has reached its end here, or comes from where it gives up or meets an index out of range. In
    /// each case `last` is done before it returns.
    fn end(&mut self, last: fn(&mut Self)) {
        self.end_by(last, last);
    }

    /// Ends a function, with another last step if it did not reach its end.
    fn end_by(&mut self, last: fn(&mut Self), failed: fn(&mut Self)) {
        let (bail, fault) = (self.leaf().bail, self.fault);
        let done = self.b.create_block();
        self.b.ins().jump(done, &[]);
        for (block, last, result) in
            [(done, last, HALTED), (bail, failed, BAILED), (fault, failed, FAULT)]
        {
            self.b.switch_to_block(block);
            last(self);
            let result = self.b.ins().iconst(I32, result);
            self.b.ins().return_(&[result]);
        }
    }

    /// Runs a stretch and goes on.
    fn run(&mut self, start: u32) {
        let next = self.b.create_block();
        self.inline(start, [next, next]);
        self.b.switch_to_block(next);
    }

    /// Inlines a stretch here. It goes on at `halted` at its end, and at `found` at a solution.
    fn inline(&mut self, start: u32, [halted, found]: [Block; 2]) {
        let outer = std::mem::take(&mut self.blocks);
        let mut members = super::flow::members(&self.compiled.machine, start);
        members.extend(self.members.iter().copied());
        let members = std::mem::replace(&mut self.members, members);
        self.create_blocks(&super::flow::targets(&self.compiled.machine, start).jumps);
        self.stretch(start as usize, [halted, found]);
        (self.blocks, self.members) = (outer, members);
        self.left = false;
    }

    /// Puts a tuple in the registers where stretches expect it.
    fn set_given(&mut self, tuple: &[Value]) {
        for (reg, &value) in GIVEN.into_iter().zip(tuple) {
            self.set_reg(reg, value);
        }
    }

    /// Calls a function of leaves; goes on if it reached its end.
    fn call_leaf(&mut self, function: FuncRef, [a, b]: [Value; 2]) {
        let fault = self.fault;
        let &mut LeafState { context, bail, .. } = self.leaf();
        self.store_undo_top();
        let call = self.b.ins().call(function, &[context, a, b]);
        let result = self.b.inst_results(call)[0];
        self.load_undo_top();
        let [failed, next] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(failed);
        self.b.ins().brif(result, failed, &[], next, &[]);
        self.b.switch_to_block(failed);
        let is_fault = self.b.ins().icmp_imm_s(IntCC::Equal, result, FAULT);
        self.b.ins().brif(is_fault, fault, &[], bail, &[]);
        self.b.switch_to_block(next);
    }

    /// Lowers an instruction that differs when leaves are counted. Returns whether it does.
    pub(super) fn of_leaf(&mut self, inst: Inst, pc: usize) -> bool {
        if self.of_held(inst, pc) {
            return true;
        }
        match inst {
            Inst::Enter { entry } => {
                self.start_over(&self.compiled.machine.entries[entry as usize])
            }
            Inst::Dirty { kept_id, block } => {
                let block = self.one(block);
                self.note_dirty(kept_id, &block);
            }
            Inst::Suspect { kept_id, values } => self.note_suspect(kept_id, values),
            Inst::React { named } => self.add_solution(named),
            Inst::CompareExpr { op, lhs, rhs, skip } => {
                let fails = self.target(pc + usize::from(skip));
                let [lhs, rhs] = [lhs, rhs].map(|it| self.expr(it, fails));
                let holds = self.b.ins().icmp(condition(op), lhs, rhs);
                self.unless(holds, fails);
            }
            Inst::Let { reg, expr, skip } => {
                let fails = self.target(pc + usize::from(skip));
                let value = self.expr(expr, fails);
                self.set_reg(reg, value);
            }
            Inst::TestScan { scan, negated, skip } => {
                let fails = self.target(pc + usize::from(skip));
                self.test_list(scan, negated, fails);
            }
            // Only the interpreter carries these out, and lists of the session have to stay empty.
            Inst::EmitTuple { .. }
            | Inst::Value { .. }
            | Inst::Collect { .. }
            | Inst::Args { .. } => self.give_up(),
            _ => return false,
        }
        true
    }

    /// Goes to the block that gives up.
    pub(super) fn give_up(&mut self) {
        let bail = self.leaf().bail;
        self.leave(bail);
    }

    /// Records that blocks of a maintained relation may have changed.
    fn note_dirty(&mut self, kept_id: KeptId, blocks: &Row) {
        if !self.leaf().shared.kept[usize::from(kept_id)] {
            return;
        }
        let address = self.dirty(kept_id);
        self.grow_row(address, blocks);
    }

    /// The address of the row of blocks that may have changed.
    fn dirty(&mut self, kept_id: KeptId) -> Value {
        let dirty = self.shared(Context::DIRTY);
        self.b.ins().iadd_imm_s(dirty, i64::from(kept_id) << Self::ROW_SHIFT)
    }

    /// Records that a tuple of a maintained relation may have changed.
    fn note_suspect(&mut self, kept_id: KeptId, values: u32) {
        let Some(&(start, arity)) = self.leaf().shared.suspects.get(&kept_id) else { return };
        let regs = self.compiled.machine.list(values);
        let values: Vec<Value> = regs.iter().take(arity).map(|it| self.reg(*it)).collect();
        let all = self.shared(Context::SUSPECTS);
        let n = self.load_number(all, start * WORD);
        let bail = self.leaf().bail;
        let room = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, n, SUSPECTS as i64);
        self.unless(room, bail);
        let offset = self.b.ins().imul_imm_s(n, arity as i64 * i64::from(WORD));
        let at = self.b.ins().iadd(all, offset);
        for (column, value) in (1..).zip(values) {
            self.store_number(at, (start + column) * WORD, value);
        }
        let n = self.b.ins().iadd_imm_s(n, 1);
        self.store_number(all, start * WORD, n);
    }
}
