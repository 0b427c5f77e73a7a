//! The function of an action: solves its reactions and carries out their writes; then, in the last ply, counts and
//! takes everything back. Above it the writes stay, unless the function gives up.

use std::ops::Range;
use std::sync::Arc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, Value, types::I64};
use cranelift_frontend::Variable;

use super::super::super::code::{EffectCode, ExprId, ExprNode, ReactionCode, Reg};
use super::super::super::compile::{Compiled, ReactionPlan};
use super::super::super::layout::{Dense, NONE, Store};
use super::super::super::planner::GIVEN;
use super::super::super::word::Word;
use super::super::call::Context;
use super::super::lower::{Lower, WORD, keyless};
use super::super::rows::Row;
use super::UNROLLED;
use crate::derive::leaves::Leaves;
use crate::facts::AttrId;
use crate::rules::{Arith, RelId};

/// Maximum number of distinct writes of one effect, over all solutions of its reaction.
const SOLUTIONS: usize = 2;

/// A reaction whose body is being solved.
#[derive(Clone)]
pub(super) struct Solving {
    /// Its number in the code.
    code: u32,
    /// Whether a solution does more than the code here can, see [`super::Wanted::does_more`].
    gives_up: bool,
    writes: Vec<Write>,
    spawning: Option<Spawning>,
}

/// The only solution of a reaction that creates entities: those of several would have to be in order.
#[derive(Clone)]
struct Spawning {
    is_found: Variable,
    /// The values of the reaction's named variables.
    named: Vec<Variable>,
}

/// The writes of one effect of a reaction, one for each solution.
#[derive(Clone)]
struct Write {
    what: What,
    entity: ExprId,
    /// `None` retracts.
    value: Option<ExprId>,
    /// Number of distinct writes so far.
    found: Variable,
    entities: [Variable; SOLUTIONS],
    values: [Variable; SOLUTIONS],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Attribute(AttrId),
    /// All attributes of the entity.
    Everything,
}

/// The write of an effect; `None` if it is not a write.
fn write_of(effect: &EffectCode) -> Option<(What, ExprId, Option<ExprId>)> {
    match effect {
        EffectCode::Write { attr, entity, value } => {
            Some((What::Attribute(*attr), *entity, *value))
        }
        EffectCode::Remove { entity } => Some((What::Everything, *entity, None)),
        _ => None,
    }
}

/// The registers of the entities that a solution of a reaction creates, in their order.
pub(super) fn spawned(code: &ReactionCode) -> impl Iterator<Item = Reg> {
    code.effects.iter().filter_map(|it| match it {
        EffectCode::Spawn { reg } => Some(*reg),
        _ => None,
    })
}

/// The attributes that a reaction writes; `None` if it removes entities, which may have any.
pub(super) fn written<W: Word>(c: &Compiled<W>, code: u32) -> Option<Vec<AttrId>> {
    let effects = c.code.effects[code as usize].effects.iter();
    let of = |it: (What, ExprId, Option<ExprId>)| match it.0 {
        What::Attribute(attr) => Some(attr),
        What::Everything => None,
    };
    effects.filter_map(write_of).map(of).collect()
}

impl<W: Word> Lower<'_, '_, W> {
    /// Fills the function of an action. The facts of the `cleared` attributes of the game go as it begins; the first batch
    /// does not read them.
    pub(super) fn after(&mut self, batches: Range<usize>, cleared: &[AttrId]) {
        let (compiled, shared) = (self.compiled, Arc::clone(&self.leaf().shared));
        for (number, batch) in batches.enumerate() {
            let plans = compiled.batches[batch].iter();
            let plans: Vec<&ReactionPlan> =
                plans.filter(|it| shared.matters[it.code as usize]).collect();
            if number > 0 && plans.is_empty() {
                continue;
            }
            let args: Vec<Value> =
                (0..GIVEN.len() as i32).map(|at| self.shared(Context::ARGS + at * WORD)).collect();
            // Relations derived on demand were derived before the action, and stay valid until the first
            // write.
            self.enter_frame(if number == 0 {
                Context::FRAME_BEFORE
            } else {
                Context::FRAME_AFTER
            });
            if number > 0 {
                let needs: Vec<RelId> = plans.iter().flat_map(|it| it.needs.clone()).collect();
                self.derive_all(&needs, &mut Vec::new());
            }
            let mut solved = Vec::new();
            for plan in plans {
                self.set_given(&args);
                solved.push(self.solve(plan));
            }
            self.enter_frame(Context::FRAME_AFTER);
            if number == 0 {
                cleared.iter().for_each(|it| self.clear(*it));
            }
            for writes in &solved {
                writes.iter().for_each(|it| self.write(it));
            }
            let catch_up = self.leaf().catch_up;
            self.call_without_entity(catch_up);
        }
        match self.leaf().count {
            Some(count) => {
                self.call_without_entity(count);
                self.end(Self::take_back);
            }
            None => self.end_by(Self::store_undo_top, Self::take_back),
        }
    }

    /// Retracts the fact of an attribute of the game, if anything depends on it.
    fn clear(&mut self, attr: AttrId) {
        let Some(&change) = self.leaf().changes.get(&attr) else { return };
        let game = self.b.ins().iconst(I64, 0);
        let none = self.b.ins().iconst(I64, NONE);
        self.call_leaf(change, [game, none]);
    }

    fn call_without_entity(&mut self, function: FuncRef) {
        let none = self.b.ins().iconst(I64, 0);
        self.call_leaf(function, [none, none]);
    }

    /// Solves the body of a reaction. Returns what its solutions write; gives up at a solution that does
    /// more.
    fn solve(&mut self, plan: &ReactionPlan) -> Vec<Write> {
        let code = &self.compiled.code.effects[plan.code as usize];
        let mut writes = Vec::new();
        let mut spawning = None;
        let gives_up = self.leaf().shared.does_more[plan.code as usize];
        if !gives_up {
            for (what, entity, value) in code.effects.iter().filter_map(write_of) {
                if let What::Attribute(attr) = what
                    && !self.leaf().changes.contains_key(&attr)
                {
                    continue; // nothing that is counted depends on it
                }
                let found = self.zeroed();
                let [entities, values] =
                    std::array::from_fn(|_| std::array::from_fn(|_| self.zeroed()));
                writes.push(Write { what, entity, value, found, entities, values });
            }
            if spawned(code).next().is_some() {
                let named = code.named.iter().map(|_| self.zeroed()).collect();
                spawning = Some(Spawning { is_found: self.zeroed(), named });
            }
        }
        let solving = Solving { code: plan.code, gives_up, writes: writes.clone(), spawning };
        self.leaf().solving = Some(solving);
        self.run(plan.pc);
        self.leaf().solving = None;
        writes
    }

    /// Adds what a solution of the body writes; gives up if the reaction does more than write and create entities.
    /// `named`: the list of registers that have the values of its named variables.
    pub(super) fn add_solution(&mut self, named: u32) {
        let Some(solving) = self.leaf().solving.clone() else { return };
        if solving.gives_up {
            return self.give_up();
        }
        let regs = self.compiled.machine.list(named);
        let code = &self.compiled.code.effects[solving.code as usize];
        let values: Vec<Value> = regs.iter().map(|it| self.reg(*it)).collect();
        let mut named: Vec<(Reg, Value)> =
            code.named.iter().copied().zip(values.iter().copied()).collect();
        let Some(spawning) = &solving.spawning else {
            return self.add_writes(&solving.writes, &named);
        };
        let known = self.b.create_block();
        self.if_found(spawning, &values, known);
        named.extend(self.spawn(code));
        self.add_writes(&solving.writes, &named);
        self.b.ins().jump(known, &[]);
        self.b.switch_to_block(known);
    }

    /// Goes to the block if the solution of a reaction that creates entities was found before; gives up if another one
    /// was. Notes it otherwise.
    fn if_found(&mut self, spawning: &Spawning, values: &[Value], known: Block) {
        let [first, again] = std::array::from_fn(|_| self.b.create_block());
        let is_found = self.b.use_var(spawning.is_found);
        self.b.ins().brif(is_found, again, &[], first, &[]);
        self.b.switch_to_block(again);
        let bail = self.leaf().bail;
        for (&variable, &value) in spawning.named.iter().zip(values) {
            let has = self.b.use_var(variable);
            let is_same = self.b.ins().icmp(IntCC::Equal, has, value);
            self.unless(is_same, bail);
        }
        self.b.ins().jump(known, &[]);
        self.b.switch_to_block(first);
        let one = self.b.ins().iconst(I64, 1);
        self.b.def_var(spawning.is_found, one);
        for (&variable, &value) in spawning.named.iter().zip(values) {
            self.b.def_var(variable, value);
        }
    }

    /// Assigns ids to the entities that a solution creates; gives up if there are too few. Returns the registers of the
    /// entities with the ids.
    fn spawn(&mut self, code: &ReactionCode) -> Vec<(Reg, Value)> {
        let first = self.shared(Context::NEXT_ID);
        let mut assigned = Vec::new();
        for (at, reg) in (0..).zip(spawned(code)) {
            assigned.push((reg, self.b.ins().iadd_imm_s(first, at)));
        }
        let next = self.b.ins().iadd_imm_s(first, assigned.len() as i64);
        let end = self.shared(Context::END_OF_IDS);
        let are_enough = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, next, end);
        let bail = self.leaf().bail;
        self.unless(are_enough, bail);
        self.share(Context::NEXT_ID, next);
        assigned
    }

    /// Adds what a solution writes.
    fn add_writes(&mut self, writes: &[Write], named: &[(Reg, Value)]) {
        // If effects of different solutions might write the same facts, their order would matter, so only one solution is
        // taken.
        let attrs: Vec<What> = writes.iter().map(|it| it.what).collect();
        let is_new = |(at, it): (usize, &What)| !attrs[..at].contains(it);
        let may_reorder = writes.len() == 1
            || !attrs.contains(&What::Everything) && attrs.iter().enumerate().all(is_new);
        for write in writes {
            let entity = self.value_of(write.entity, named);
            let value = match write.value {
                Some(it) => self.value_of(it, named),
                None => self.b.ins().iconst(I64, NONE),
            };
            self.add_write(write, [entity, value], if may_reorder { SOLUTIONS } else { 1 });
        }
    }

    /// Adds a write of a solution to those known; gives up if there are `most` others already.
    fn add_write(&mut self, write: &Write, [entity, value]: [Value; 2], most: usize) {
        let next = self.b.create_block();
        for at in 0..most {
            let n = self.b.use_var(write.found);
            let is_free = self.b.ins().icmp_imm_s(IntCC::Equal, n, at as i64);
            let [free, taken] = std::array::from_fn(|_| self.b.create_block());
            self.b.ins().brif(is_free, free, &[], taken, &[]);
            self.b.switch_to_block(free);
            self.b.def_var(write.entities[at], entity);
            self.b.def_var(write.values[at], value);
            let n = self.b.ins().iconst(I64, at as i64 + 1);
            self.b.def_var(write.found, n);
            self.b.ins().jump(next, &[]);
            self.b.switch_to_block(taken);
            self.if_same(write, at, [entity, value], next);
        }
        let bail = self.leaf().bail;
        self.b.ins().jump(bail, &[]);
        self.b.switch_to_block(next);
    }

    /// Goes to the block if the write is known already; gives up if it is known with another value.
    fn if_same(&mut self, write: &Write, at: usize, [entity, value]: [Value; 2], known: Block) {
        let [same, other] = std::array::from_fn(|_| self.b.create_block());
        let has = self.b.use_var(write.entities[at]);
        let is_same = self.b.ins().icmp(IntCC::Equal, has, entity);
        self.b.ins().brif(is_same, same, &[], other, &[]);
        self.b.switch_to_block(same);
        let has = self.b.use_var(write.values[at]);
        let is_same = self.b.ins().icmp(IntCC::Equal, has, value);
        let bail = self.leaf().bail;
        self.b.ins().brif(is_same, known, &[], bail, &[]);
        self.b.switch_to_block(other);
    }

    /// The value of an effect's expression; gives up if it has none.
    fn value_of(&mut self, expr: ExprId, named: &[(Reg, Value)]) -> Value {
        match self.compiled.code.exprs[expr.0 as usize] {
            ExprNode::Reg(reg) => {
                let known = named.iter().find(|it| it.0 == reg).map(|it| it.1);
                known.unwrap_or_else(|| self.reg(reg))
            }
            ExprNode::Binary(op, lhs, rhs) => {
                let (lhs, rhs) = (self.value_of(lhs, named), self.value_of(rhs, named));
                let bail = self.leaf().bail;
                self.calculate(op, [lhs, rhs], bail)
            }
        }
    }

    /// The value of an expression of an instruction; goes to the block if there is none.
    pub(super) fn expr(&mut self, expr: ExprId, none: Block) -> Value {
        match self.compiled.machine.exprs[expr.0 as usize] {
            ExprNode::Reg(reg) => self.reg(reg),
            ExprNode::Binary(op, lhs, rhs) => {
                let sides = [lhs, rhs].map(|it| self.expr(it, none));
                self.calculate(op, sides, none)
            }
        }
    }

    /// The result of [`Arith::apply`]; goes to the block if there is none.
    fn calculate(&mut self, op: Arith, [lhs, rhs]: [Value; 2], none: Block) -> Value {
        let (value, overflows) = match op {
            Arith::Add => self.b.ins().sadd_overflow(lhs, rhs),
            Arith::Sub => self.b.ins().ssub_overflow(lhs, rhs),
            Arith::Mul => self.b.ins().smul_overflow(lhs, rhs),
            Arith::Div | Arith::Mod => return self.divide(op, [lhs, rhs], none),
        };
        self.leave_if(overflows, none);
        let is_none = self.b.ins().icmp_imm_s(IntCC::Equal, value, NONE);
        self.leave_if(is_none, none);
        value
    }

    /// A quotient, rounded down, or its remainder.
    fn divide(&mut self, op: Arith, [lhs, rhs]: [Value; 2], none: Block) -> Value {
        // Two divisions would trap: by 0, and of the lowest number by -1. That number is `NONE`, which no value is.
        self.unless(rhs, none);
        let is_lowest = self.b.ins().icmp_imm_s(IntCC::Equal, lhs, i64::MIN);
        self.leave_if(is_lowest, none);
        let rest = self.b.ins().srem(lhs, rhs);
        let signs = self.b.ins().bxor(rest, rhs);
        let differ = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
        let is_below = self.b.ins().band(differ, some);
        match op {
            Arith::Div => {
                let quotient = self.b.ins().sdiv(lhs, rhs);
                let less = self.b.ins().iadd_imm_s(quotient, -1);
                self.b.ins().select(is_below, less, quotient)
            }
            _ => {
                let more = self.b.ins().iadd(rest, rhs);
                self.b.ins().select(is_below, more, rest)
            }
        }
    }

    /// Carries out the writes of a reaction's solutions.
    fn write(&mut self, write: &Write) {
        for at in 0..SOLUTIONS {
            let n = self.b.use_var(write.found);
            let there = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, n, at as i64);
            self.when(there, |it| {
                let entity = it.b.use_var(write.entities[at]);
                let value = it.b.use_var(write.values[at]);
                let changes = it.changes_of(write.what);
                changes.into_iter().for_each(|change| it.call_leaf(change, [entity, value]));
            });
        }
    }

    /// The functions of the attributes that a write concerns.
    fn changes_of(&mut self, what: What) -> Vec<FuncRef> {
        let schema = &self.compiled.program.schema;
        let of_entities = |attr: &AttrId| schema.owners(*attr).is_none();
        let changes = &self.leaf.as_ref().expect("it is a function of leaves").changes;
        let mut found: Vec<_> = match what {
            What::Attribute(attr) => changes.iter().filter(|it| *it.0 == attr).collect(),
            What::Everything => changes.iter().filter(|it| of_entities(it.0)).collect(),
        };
        found.sort_unstable_by_key(|it| it.0.0);
        found.into_iter().map(|it| *it.1).collect()
    }

    // --- the count ------------------------------------------------------------------------------

    /// Derives what relations need, unless it was derived here before.
    fn derive_all(&mut self, needs: &[RelId], derived: &mut Vec<RelId>) {
        for &need in needs {
            if !derived.contains(&need) {
                derived.push(need);
                self.run(self.compiled.derive[usize::from(need.0)]);
            }
        }
    }

    /// Fills the function that counts the rows; 0 if the game is over.
    pub(super) fn count_leaves(&mut self, leaves: &Leaves) {
        let mut derived = Vec::new();
        let all = self.zeroed();
        let end = self.b.create_block();
        if let Some(over) = self.some_row(leaves.over, &mut derived) {
            self.leave_if(over, end);
        }
        for &odd in &leaves.odd {
            let bail = self.leaf().bail;
            if let Some(some) = self.some_row(odd, &mut derived) {
                self.leave_if(some, bail);
            }
        }
        for &(_, rel) in &leaves.counted {
            self.derive_all(&self.compiled.needs[usize::from(rel.0)], &mut derived);
            if let Store::Dense(dense) = &self.compiled.stores[usize::from(rel.0)] {
                self.count_rows(dense, all);
            }
        }
        self.b.ins().jump(end, &[]);
        self.b.switch_to_block(end);
        let all = self.b.use_var(all);
        self.share(Context::COUNT, all);
        self.end(Self::store_undo_top);
    }

    /// A value that is not 0 if a relation has rows; `None` if it never has any.
    fn some_row(&mut self, rel: RelId, derived: &mut Vec<RelId>) -> Option<Value> {
        self.derive_all(&self.compiled.needs[usize::from(rel.0)], derived);
        let Store::Dense(dense) = &self.compiled.stores[usize::from(rel.0)] else { return None };
        let row = self.row_at(dense.space, keyless(dense.support.unwrap_or(dense.base)));
        let row = self.load_row(row);
        Some(self.any(&row))
    }

    /// Adds the number of a relation's rows to `all`.
    fn count_rows(&mut self, dense: &Dense, all: Variable) {
        let Some(support) = dense.support else {
            let row = self.row_at(dense.space, keyless(dense.base));
            let row = self.load_row(row);
            self.add_members(&row, all);
            return;
        };
        let support = self.row_at(dense.space, keyless(support));
        let members = self.load_row(support);
        let stride = dense.stride();
        self.members(&members, |it, member| {
            let first = it.block_row(dense.space, dense.base, stride, member);
            if stride <= UNROLLED {
                (0..stride).for_each(|at| it.add_row(first, at, all));
                return;
            }
            it.repeat(stride, |it, at| {
                let offset = it.b.ins().ishl_imm_u(at, Self::ROW_SHIFT);
                let row = it.b.ins().iadd(first, offset);
                it.add_row(row, 0, all);
            });
        });
    }

    fn add_row(&mut self, first: Value, at: u32, all: Variable) {
        let address = self.row_in_block(first, at);
        let row = self.load_row(address);
        self.add_members(&row, all);
    }

    fn add_members(&mut self, row: &Row, all: Variable) {
        for &word in row {
            let n = self.b.ins().popcnt(word);
            let sum = self.b.use_var(all);
            let sum = self.b.ins().iadd(sum, n);
            self.b.def_var(all, sum);
        }
    }
}
