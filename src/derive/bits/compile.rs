//! From a checked program to plans: what is empty, what is known at load, what is maintained, what
//! is derived on demand.
//!
//! * A relation without clauses is empty; literals on it fall away before planning.
//! * A relation that depends on statics alone is computed here, once.
//! * A relation that an action needs, and that does not depend on a fact of the game itself that
//!   reactions change (the side to move, a counter), is maintained: by block if its first column is an entity, else by
//!   tuple.
//! * Everything else is derived on demand, from scratch.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::facts::Shape;
use crate::rules::{
    Atom, Effect, Event, Expr, Input, Literal, Program, RelId, Role, Rule, RuleId, Term, Type,
    VarId,
};

use super::super::rows::Tuple;
use super::code::{Address, EffectCode, Op, Reg, RowSource, RowTerm, Rows, Space, StoreId};
use super::general::{self, Variant};
use super::layout::{Layout, Sparse, Statics, Store, size};
use super::planner::{Code, Goal, Lit, PlanError, Planner, depends_on, lit};
use super::word::Word;

/// How the rows of a relation come to be.
#[derive(Debug, Clone)]
pub(super) enum Mode {
    /// An input, a static, or empty: nothing to do.
    Given,
    /// Cleared and derived when asked for.
    Scratch { rules: Vec<u32> },
    /// Derived with its whole stratum by the semi-naive fixpoint of `general.rs`.
    General { stratum: usize },
    /// Kept: a block (all rows of one value of the first column) is derived again when it may have
    /// changed.
    Block { rules: Vec<(Reg, u32)>, fixes: Vec<(Reg, u32)> },
    /// Kept: a tuple is checked again when it may have changed.
    Tuple { checks: Vec<(Vec<Reg>, u32)> },
}

/// What a changed tuple of one relation means for another, maintained one.
#[derive(Debug, Clone)]
pub(super) struct Delta {
    pub(super) consumer: RelId,
    pub(super) what: DeltaKind,
}

#[derive(Debug, Clone)]
pub(super) enum DeltaKind {
    /// The consumer's block is the value of this column.
    Block(usize),
    /// Run the plan with the tuple in these registers.
    Run { regs: Vec<Reg>, pc: u32 },
}

/// A reaction's plan: the registers of its parameters, and the relations it reads on demand.
#[derive(Debug, Clone)]
pub(super) struct ReactionPlan {
    pub(super) params: Vec<Reg>,
    pub(super) pc: u32,
    pub(super) needs: Vec<RelId>,
}

/// A program compiled for rows of one width.
#[derive(Debug)]
pub(super) struct Compiled<W> {
    pub(super) program: Arc<Program>,
    pub(super) code: Code,
    pub(super) statics: Statics<W>,
    pub(super) known: Vec<Option<Vec<Tuple>>>,
    pub(super) stores: Vec<Store>,
    pub(super) modes: Vec<Mode>,
    pub(super) deltas: Vec<Vec<Delta>>,
    /// Maintained relations, each after those that it reads.
    pub(super) maintained: Vec<RelId>,
    /// For each relation, what must be derived on demand before it is read, itself included.
    pub(super) needs: Vec<Vec<RelId>>,
    pub(super) inputs: Vec<Vec<RelId>>,
    pub(super) reactions: Vec<Vec<ReactionPlan>>,
    pub(super) general: Vec<general::Fixpoint>,
    pub(super) indexes: Vec<Option<u32>>,
    /// What the planner expected, by relation.
    pub(super) estimates: Vec<f64>,
    pub(super) orders: Vec<Vec<Vec<u8>>>,
    pub(super) list_is_static: Vec<bool>,
    /// Relations kept as lists: a bit each.
    pub(super) list_relations: Vec<u64>,
    pub(super) kept_rows: usize,
    pub(super) kept_funs: usize,
    pub(super) frame_rows: usize,
}

/// Operation counts of reactions follow those of rules.
pub(super) fn reaction_owner(program: &Program, reaction: usize) -> u32 {
    (program.rules.len() + reaction) as u32
}

pub(super) fn compile<W: Word>(program: Arc<Program>) -> Result<Compiled<W>, PlanError> {
    let shared = super::inline::inlined(&program);
    let mut compiler = Compiler {
        program: &shared,
        planner: Planner::<W>::new(&shared),
        modes: vec![Mode::Given; shared.relations.len()],
        live: vec![Vec::new(); shared.relations.len()],
        volatile: vec![false; shared.relations.len()],
        hot: BTreeSet::new(),
        deltas: vec![Vec::new(); shared.relations.len()],
        maintained: Vec::new(),
        general: Vec::new(),
    };
    compiler.inputs();
    compiler.prune_and_settle()?;
    compiler.place();
    compiler.plan_relations()?;
    compiler.plan_deltas()?;
    let reactions = compiler.plan_reactions()?;
    let needs = compiler.needs();
    let Compiler { planner, modes, deltas, maintained, general, .. } = compiler;
    let mut layout = planner.layout;
    let mut code = planner.code;
    shift_frames(&mut code, &mut layout);
    let reactions = attach_needs(&program, reactions, &needs);
    let mut inputs = vec![Vec::new(); program.schema.attributes().len()];
    for (at, relation) in program.relations.iter().enumerate() {
        if let Role::Input(input) = &relation.role {
            inputs[usize::from(input.attr().0)].push(RelId(at as u16));
        }
    }
    let indexes = (0..program.relations.len())
        .map(|it| layout.indexes.get(&RelId(it as u16)).copied())
        .collect();
    let mut list_relations = vec![0; program.relations.len().div_ceil(64)];
    for (at, store) in layout.stores.iter().enumerate() {
        if matches!(store, Store::Sparse(_)) {
            list_relations[at / 64] |= 1u64 << (at % 64);
        }
    }
    Ok(Compiled {
        code,
        statics: layout.statics,
        known: layout.known,
        stores: layout.stores,
        modes,
        deltas,
        maintained,
        needs,
        inputs,
        reactions,
        general,
        indexes,
        estimates: planner.estimates,
        orders: layout.orders,
        list_is_static: layout.sparse_static,
        list_relations,
        kept_rows: layout.kept_rows as usize,
        kept_funs: layout.kept_funs as usize,
        frame_rows: layout.frame_rows as usize,
        program,
    })
}

struct Compiler<'p, W> {
    program: &'p Program,
    planner: Planner<'p, W>,
    modes: Vec<Mode>,
    /// For each relation, the rules that can fire, with the literals that can fail.
    live: Vec<Vec<LiveRule<'p>>>,
    /// Depends on a fact of the game, an aggregate, or something that is not maintained.
    volatile: Vec<bool>,
    hot: BTreeSet<RelId>,
    deltas: Vec<Vec<Delta>>,
    maintained: Vec<RelId>,
    general: Vec<general::Fixpoint>,
}

#[derive(Debug, Clone)]
struct LiveRule<'p> {
    rule: &'p Rule,
    body: Vec<&'p Literal>,
}

impl LiveRule<'_> {
    fn types(&self) -> Vec<Type> {
        self.rule.vars.iter().map(|it| it.ty).collect()
    }
}

impl<'p, W: Word> Compiler<'p, W> {
    fn inputs(&mut self) {
        for (at, relation) in self.program.relations.iter().enumerate() {
            if let Role::Input(input) = relation.role {
                let rel = RelId(at as u16);
                self.planner.layout.place_input(self.program, rel, input);
                let of_game = matches!(input, Input::Game(_) | Input::GameFlag(_));
                self.volatile[at] = of_game && self.is_written(rel);
                self.planner.estimates[at] = match input {
                    Input::Key(_) => match size(self.program, relation.columns[1].ty) {
                        Some(values) if values < 4 => 32.0,
                        _ => 30.0,
                    },
                    Input::Flag(_) => 3.0,
                    Input::Game(_) | Input::GameFlag(_) => 1.0,
                };
            }
        }
    }

    /// Whether some reaction changes the input: what none does is as good as constant.
    fn is_written(&self, input: RelId) -> bool {
        self.program.reactions.iter().flat_map(|it| &it.effects).any(|effect| match effect {
            Effect::Set { rel, .. } | Effect::Retract { rel, .. } => *rel == input,
            Effect::Remove { .. } => false,
        })
    }

    /// Drops what can never hold, and computes what statics alone decide.
    fn prune_and_settle(&mut self) -> Result<(), PlanError> {
        for (at, relation) in self.program.relations.iter().enumerate() {
            if let Role::Builtin(tuples) = &relation.role {
                let tuples = tuples.iter().map(|it| it.iter().copied().collect()).collect();
                self.settle(RelId(at as u16), tuples);
            }
        }
        for stratum in &self.program.strata {
            let mut known = true;
            for &rel in &stratum.relations {
                let live = self.live_rules(rel, &stratum.relations);
                known &= live.iter().all(|it| self.reads_known(&it.body, &stratum.relations));
                self.live[usize::from(rel.0)] = live;
            }
            if known {
                let found = self.solve_static(&stratum.relations)?;
                for (&rel, tuples) in stratum.relations.iter().zip(found) {
                    self.settle(rel, tuples);
                }
            } else {
                // Not empty, whatever it will be.
                for &rel in &stratum.relations {
                    self.planner.layout.stores[usize::from(rel.0)] = Store::Sparse(StoreId::MAX);
                }
            }
        }
        Ok(())
    }

    fn settle(&mut self, rel: RelId, tuples: Vec<Tuple>) {
        self.planner.estimates[usize::from(rel.0)] = tuples.len() as f64;
        self.planner.layout.set_known(rel, tuples);
    }

    fn is_empty(&self, rel: RelId) -> bool {
        self.known(rel) && self.planner.layout.known_tuples(rel).is_empty()
    }

    fn live_rules(&self, rel: RelId, own: &[RelId]) -> Vec<LiveRule<'p>> {
        let mut live = Vec::new();
        for &id in &self.program.relation(rel).rules {
            let rule = self.program.rule(id);
            let mut body = Vec::new();
            let mut can_fire = true;
            for literal in &rule.body {
                match literal {
                    Literal::Atom(atom) if !own.contains(&atom.rel) && self.is_empty(atom.rel) => {
                        can_fire &= atom.negated;
                    }
                    Literal::Atom(atom) if atom.args.is_empty() && self.known(atom.rel) => {
                        can_fire &= !atom.negated;
                    }
                    other => body.push(other),
                }
            }
            if can_fire {
                live.push(LiveRule { rule, body });
            }
        }
        live
    }

    fn known(&self, rel: RelId) -> bool {
        self.planner.layout.is_known(rel)
    }

    fn reads_known(&self, body: &[&Literal], own: &[RelId]) -> bool {
        relations_of(body).iter().all(|it| own.contains(it) || self.known(*it))
    }

    /// Computes a stratum that depends on statics alone.
    fn solve_static(&mut self, relations: &[RelId]) -> Result<Vec<Vec<Tuple>>, PlanError> {
        let ground: Option<Vec<Vec<Tuple>>> = relations
            .iter()
            .map(|rel| self.live[usize::from(rel.0)].iter().map(ground_fact).collect())
            .collect();
        if let Some(facts) = ground {
            return Ok(facts);
        }
        let fixpoint = self.plan_fixpoint(relations)?;
        let layout = &mut self.planner.layout;
        // Lent to the machine for the run, not copied: there are many such strata.
        let mut probe = Compiled::bare(self.program);
        probe.code = std::mem::take(&mut self.planner.code);
        probe.statics = std::mem::take(&mut layout.statics);
        probe.orders = std::mem::take(&mut layout.orders);
        probe.list_is_static = std::mem::take(&mut layout.sparse_static);
        let mut state = super::run::State::new(&probe);
        general::run(&probe, &mut state, &fixpoint);
        layout.statics = probe.statics;
        layout.orders = probe.orders;
        layout.sparse_static = probe.list_is_static;
        self.planner.code = probe.code;
        Ok(fixpoint
            .relations
            .iter()
            .map(|it| std::mem::take(&mut state.lists[it.full as usize].tuples))
            .collect())
    }

    /// Plans the semi-naive fixpoint of a stratum: every rule once, then once per recursive atom
    /// with that atom reading only what is new.
    fn plan_fixpoint(&mut self, relations: &[RelId]) -> Result<general::Fixpoint, PlanError> {
        let stores: Vec<general::Member> = relations
            .iter()
            .map(|&rel| {
                let arity = self.program.relation(rel).columns.len();
                general::Member {
                    rel,
                    full: self.planner.layout.new_sparse(arity, false),
                    delta: self.planner.layout.new_sparse(arity, false),
                }
            })
            .collect();
        let mut variants = Vec::new();
        for member in &stores {
            for live in self.live[usize::from(member.rel.0)].clone() {
                let recursive: Vec<usize> = (0..live.body.len())
                    .filter(|&it| {
                        matches!(live.body[it], Literal::Atom(atom) if relations.contains(&atom.rel))
                    })
                    .collect();
                let new_ones: Vec<Option<usize>> = if recursive.is_empty() {
                    vec![None]
                } else {
                    recursive.iter().map(|&it| Some(it)).collect()
                };
                for new in new_ones {
                    self.planner.begin(&live.types(), u32::from(live.rule.id.0));
                    let body = (0..live.body.len())
                        .map(|at| match live.body[at] {
                            Literal::Atom(atom) => {
                                let store = stores
                                    .iter()
                                    .find(|it| it.rel == atom.rel)
                                    .map(|it| if new == Some(at) { it.delta } else { it.full });
                                Lit::Atom { atom: atom.clone(), store }
                            }
                            other => lit(other),
                        })
                        .collect();
                    let pc = self.planner.code.ops.len() as u32;
                    let goal = Goal::Tuple { store: member.full, args: &live.rule.args };
                    self.plan(body, &goal, live.rule.id)?;
                    variants.push(Variant { pc, first: new.is_none() });
                }
            }
        }
        Ok(general::Fixpoint { relations: stores, variants })
    }

    fn plan(
        &mut self,
        body: Vec<Lit<'p>>,
        goal: &Goal<'_>,
        rule: RuleId,
    ) -> Result<f64, PlanError> {
        self.planner.plan(body, goal).map_err(|mut error| {
            error.place = self.program.place(self.program.rule(rule).span);
            error
        })
    }

    /// Chooses a mode and a store for every relation that is not known.
    fn place(&mut self) {
        self.hot = self.reached_from_actions();
        for stratum in &self.program.strata {
            for &rel in &stratum.relations {
                if self.known(rel) {
                    continue;
                }
                let maintained = self.can_be_maintained(rel, stratum.relations.len() > 1);
                self.volatile[usize::from(rel.0)] = !maintained;
                let space = if maintained { Space::Kept } else { Space::Frame };
                self.planner.layout.place_derived(self.program, rel, space);
                if maintained {
                    self.maintained.push(rel);
                }
            }
        }
    }

    fn reached_from_actions(&self) -> BTreeSet<RelId> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<RelId> = self.program.actions.iter().map(|it| it.rel).collect();
        while let Some(rel) = open.pop() {
            if reached.insert(rel) {
                for live in &self.live[usize::from(rel.0)] {
                    open.extend(relations_of(&live.body));
                }
            }
        }
        reached
    }

    fn can_be_maintained(&self, rel: RelId, mutual: bool) -> bool {
        let relation = self.program.relation(rel);
        let finite = relation.columns.iter().all(|it| size(self.program, it.ty).is_some());
        let rules = &self.live[usize::from(rel.0)];
        let recursive = rules.iter().any(|it| relations_of(&it.body).contains(&rel));
        let rows = relation.columns.split_last().map_or(1, |(_, keys)| {
            keys.iter().filter_map(|it| size(self.program, it.ty)).product()
        });
        self.hot.contains(&rel)
            && !mutual
            && finite
            && rows <= 1 << 12
            && !relation.columns.is_empty()
            && rules.iter().all(|it| {
                it.body.iter().all(|literal| !matches!(literal, Literal::Aggregate(_)))
                    && relations_of(&it.body)
                        .iter()
                        .all(|read| *read == rel || !self.volatile[usize::from(read.0)])
            })
            && (!recursive || self.is_block(rel) && rules.iter().all(|it| is_row_local(rel, it)))
    }

    /// Whether a maintained relation is kept by block.
    fn is_block(&self, rel: RelId) -> bool {
        let columns = &self.program.relation(rel).columns;
        let entities = columns.first().is_some_and(|it| match it.ty {
            Type::Domain(id) => {
                matches!(self.program.schema.domain(id).shape, Shape::Entities { .. })
            }
            _ => false,
        });
        columns.len() >= 2
            && entities
            && self.live[usize::from(rel.0)]
                .iter()
                .all(|it| matches!(it.rule.args[0], Term::Var(_)))
    }

    fn plan_relations(&mut self) -> Result<(), PlanError> {
        for at in 0..self.program.strata.len() {
            let relations = &self.program.strata[at].relations;
            if relations.iter().all(|it| self.known(*it)) {
                continue;
            }
            let rel = relations[0];
            let recursive = relations.iter().any(|rel| {
                self.live[usize::from(rel.0)]
                    .iter()
                    .any(|it| relations_of(&it.body).iter().any(|read| relations.contains(read)))
            });
            if self.maintained.contains(&rel) {
                if self.is_block(rel) {
                    self.plan_block(rel)?;
                } else {
                    self.plan_tuple(rel)?;
                }
            } else if recursive {
                let fixpoint = self.plan_fixpoint(relations)?;
                for &rel in relations {
                    self.planner.estimates[usize::from(rel.0)] = 64.0;
                    self.modes[usize::from(rel.0)] = Mode::General { stratum: self.general.len() };
                }
                self.general.push(fixpoint);
            } else {
                self.plan_scratch(rel)?;
            }
        }
        Ok(())
    }

    fn plan_scratch(&mut self, rel: RelId) -> Result<(), PlanError> {
        let mut rules = Vec::new();
        let mut expected = 0.0;
        for live in self.live[usize::from(rel.0)].clone() {
            self.planner.begin(&live.types(), u32::from(live.rule.id.0));
            rules.push(self.planner.code.ops.len() as u32);
            let goal = self.head(rel, &live.rule.args);
            expected +=
                self.plan(live.body.iter().map(|it| lit(it)).collect(), &goal, live.rule.id)?;
        }
        self.planner.estimates[usize::from(rel.0)] = expected;
        self.modes[usize::from(rel.0)] = Mode::Scratch { rules };
        Ok(())
    }

    fn head<'a>(&self, rel: RelId, args: &'a [Term]) -> Goal<'a> {
        match &self.planner.layout.stores[usize::from(rel.0)] {
            Store::Dense(dense) => Goal::Rows { dense: dense.clone(), args },
            Store::Sparse(store) => Goal::Tuple { store: *store, args },
            other => unreachable!("a derived relation is stored as {other:?}"),
        }
    }

    fn plan_block(&mut self, rel: RelId) -> Result<(), PlanError> {
        let (mut rules, mut fixes, mut expected) = (Vec::new(), Vec::new(), 0.0);
        for live in self.live[usize::from(rel.0)].clone() {
            let Term::Var(block) = live.rule.args[0] else { unreachable!("checked by is_block") };
            self.planner.begin(&live.types(), u32::from(live.rule.id.0));
            self.planner.bind(block);
            let pc = self.planner.code.ops.len() as u32;
            if relations_of(&live.body).contains(&rel) {
                self.plan_fix(rel, &live)?;
                fixes.push((block.0 as Reg, pc));
            } else {
                let goal = self.head(rel, &live.rule.args);
                let body = live.body.iter().map(|it| lit(it)).collect();
                expected += 24.0 * self.plan(body, &goal, live.rule.id)?;
                rules.push((block.0 as Reg, pc));
            }
        }
        self.planner.estimates[usize::from(rel.0)] = expected.min(300.0);
        self.modes[usize::from(rel.0)] = Mode::Block { rules, fixes };
        Ok(())
    }

    /// A recursive rule that stays within one row: loops over the middle columns, then the row's
    /// fixpoint.
    fn plan_fix(&mut self, rel: RelId, live: &LiveRule<'p>) -> Result<(), PlanError> {
        let Store::Dense(dense) = self.planner.layout.stores[usize::from(rel.0)].clone() else {
            unreachable!("maintained relations are dense")
        };
        let args = &live.rule.args;
        let (_, keys) = args.split_last().unwrap_or((&Term::Wild, &[]));
        for (at, key) in keys.iter().enumerate().skip(1) {
            if let Term::Var(var) = *key
                && !self.planner.is_bound(var)
            {
                let row = RowTerm { negated: false, row: RowSource::All(dense.sizes[at] as u16) };
                let rows = self.push_rows(&[row]);
                self.planner.emit(Op::Loop { reg: var.0 as Reg, rows });
                self.planner.bind(var);
            }
        }
        let at = live.body.iter().position(|it| reads(it, rel)).unwrap_or(0);
        let Literal::Atom(Atom { args: from, .. }) = live.body[at] else {
            unreachable!("checked by is_row_local")
        };
        let Some(Term::Var(from)) = from.last().copied() else {
            unreachable!("checked by is_row_local")
        };
        self.planner.bind(from);
        let row = self.planner.address(&dense, keys)?;
        let fix = self.planner.emit(Op::Fix { row, reg: from.0 as Reg, end: 0 });
        let body =
            (0..live.body.len()).filter(|it| *it != at).map(|it| lit(live.body[it])).collect();
        let goal = Goal::Rows { dense, args };
        self.planner.fetch_first = true;
        let planned = self.plan(body, &goal, live.rule.id);
        self.planner.fetch_first = false;
        planned?;
        let end = self.planner.code.ops.len() as u32;
        self.planner.code.ops[fix] = Op::Fix { row, reg: from.0 as Reg, end };
        self.shorten_to_chase(fix, from);
        Ok(())
    }

    /// Some tests of the member and one step of a function need no interpreter.
    fn shorten_to_chase(&mut self, fix: usize, from: VarId) {
        let Op::Fix { row, reg, end } = self.planner.code.ops[fix] else { return };
        let mut tests = vec![RowTerm { negated: false, row: RowSource::All(W::WIDTH as u16) }];
        let mut step = None;
        for at in fix + 1..end as usize {
            match self.planner.code.ops[at] {
                Op::TestBit { row, bit, negated }
                    if bit == from.0 as Reg && step.is_none() && !uses(&row, bit) =>
                {
                    tests.push(RowTerm { negated, row: RowSource::At(row) });
                }
                Op::Fetch { reg, fun } if step.is_none() => step = Some((reg, fun)),
                Op::EmitBit { row: head, bit, .. }
                    if at + 1 == end as usize
                        && head == row
                        && step.is_some_and(|(reg, _)| reg == bit) => {}
                _ => return,
            }
        }
        let Some((_, fun)) = step else { return };
        let mut chase = (fix, row, reg, 1, 0);
        if let Some(before) = fix.checked_sub(1)
            && let Op::Loop { reg: middle, rows: Rows { start, len: 1 } } =
                self.planner.code.ops[before]
            && let RowSource::All(size) = self.planner.code.rows[start as usize].row
            && self.planner.code.owner[before] == self.planner.owner
            && !tests.iter().any(|it| depends_on(it, middle))
        {
            let mut first = row;
            let mut stride = 0;
            for key in (0..usize::from(row.n)).filter(|it| row.regs[*it] == middle) {
                stride += std::mem::take(&mut first.strides[key]);
            }
            chase = (fix - 1, first, middle, size, stride);
        }
        let (at, row, middle, size, stride) = chase;
        let tests = self.push_rows(&tests);
        self.planner.code.ops[at] = Op::Chase { row, middle, size, stride, reg, tests, fun };
        self.planner.code.ops.truncate(at + 1);
        self.planner.code.owner.truncate(at + 1);
    }

    fn push_rows(&mut self, rows: &[RowTerm]) -> Rows {
        let start = self.planner.code.rows.len() as u32;
        self.planner.code.rows.extend_from_slice(rows);
        Rows { start, len: rows.len() as u32 }
    }

    fn plan_tuple(&mut self, rel: RelId) -> Result<(), PlanError> {
        let mut checks = Vec::new();
        let mut expected = 0.0;
        for live in self.live[usize::from(rel.0)].clone() {
            self.planner.begin(&live.types(), u32::from(live.rule.id.0));
            let pc = self.planner.code.ops.len() as u32;
            let regs = self.bind_tuple(&live.rule.args, rel)?;
            let body = live.body.iter().map(|it| lit(it)).collect();
            self.plan(body, &Goal::Found, live.rule.id)?;
            checks.push((regs, pc));
            expected += self.guess(&live);
        }
        self.planner.estimates[usize::from(rel.0)] = expected;
        self.modes[usize::from(rel.0)] = Mode::Tuple { checks };
        Ok(())
    }

    /// The smallest positive relation of the body bounds what the rule concludes, roughly.
    fn guess(&self, live: &LiveRule<'p>) -> f64 {
        let smallest = live
            .body
            .iter()
            .filter_map(|it| match it {
                Literal::Atom(atom) if !atom.negated => {
                    let total = self.planner.estimates[usize::from(atom.rel.0)];
                    let fixed = atom.args.iter().any(|it| matches!(it, Term::Const(_)));
                    Some(if fixed { total / 4.0 } else { total })
                }
                _ => None,
            })
            .fold(f64::MAX, f64::min);
        if smallest == f64::MAX { 1.0 } else { smallest }
    }

    /// Gives the values of a tuple registers: variables take theirs, constants and repeated
    /// variables are compared.
    fn bind_tuple(&mut self, args: &[Term], rel: RelId) -> Result<Vec<Reg>, PlanError> {
        let mut regs = Vec::new();
        let mut same = Vec::new();
        for (at, &arg) in args.iter().enumerate() {
            match arg {
                Term::Var(var) if !self.planner.is_bound(var) => {
                    self.planner.bind(var);
                    regs.push(var.0 as Reg);
                }
                other => {
                    let ty = self.program.relation(rel).columns[at].ty;
                    let var = self.planner.fresh(ty)?;
                    self.planner.bind(var);
                    regs.push(var.0 as Reg);
                    if other != Term::Wild {
                        same.push((var.0 as Reg, self.planner.reg(other)?));
                    }
                }
            }
        }
        for (lhs, rhs) in same {
            self.planner.emit(Op::Compare { op: crate::rules::Op::Eq, lhs, rhs });
        }
        Ok(regs)
    }

    fn plan_deltas(&mut self) -> Result<(), PlanError> {
        self.planner.may_index = true;
        for consumer in self.maintained.clone() {
            for live in self.live[usize::from(consumer.0)].clone() {
                for at in 0..live.body.len() {
                    if let Literal::Atom(atom) = live.body[at]
                        && !self.known(atom.rel)
                    {
                        self.plan_delta(consumer, &live, at, atom)?;
                    }
                }
            }
        }
        self.planner.may_index = false;
        Ok(())
    }

    fn plan_delta(
        &mut self,
        consumer: RelId,
        live: &LiveRule<'p>,
        at: usize,
        atom: &'p Atom,
    ) -> Result<(), PlanError> {
        let block = self.is_block(consumer).then(|| live.rule.args[0]);
        if atom.rel == consumer {
            return Ok(()); // a change within a block stays in it
        }
        if let Some(block) = block
            && let Some(col) = atom.args.iter().position(|it| *it == block)
        {
            let what = DeltaKind::Block(col);
            self.deltas[usize::from(atom.rel.0)].push(Delta { consumer, what });
            return Ok(());
        }
        self.planner.begin(&live.types(), u32::from(live.rule.id.0));
        let pc = self.planner.code.ops.len() as u32;
        let regs = self.bind_tuple(&atom.args, atom.rel)?;
        let goal = match block {
            Some(block) => Goal::Dirty { relation: consumer, block },
            None => Goal::Suspect { relation: consumer, args: &live.rule.args },
        };
        let body = self.delta_body(consumer, live, at, block);
        self.plan(body, &goal, live.rule.id)?;
        let what = DeltaKind::Run { regs, pc };
        self.deltas[usize::from(atom.rel.0)].push(Delta { consumer, what });
        Ok(())
    }

    /// What is left to find the tuples that a change may concern; a superset will do, so whatever
    /// only narrows it is left out.
    fn delta_body(
        &self,
        consumer: RelId,
        live: &LiveRule<'p>,
        at: usize,
        block: Option<Term>,
    ) -> Vec<Lit<'p>> {
        let bound = |term: &Term| match term {
            Term::Var(var) => self.planner.is_bound(*var),
            Term::Const(_) => true,
            Term::Wild => false,
        };
        let heads: Vec<Term> = block.map_or_else(|| live.rule.args.clone(), |it| vec![it]);
        if heads.iter().all(bound) {
            return Vec::new();
        }
        let positive = |it: &usize| {
            *it != at && matches!(live.body[*it], Literal::Atom(atom) if !atom.negated)
        };
        // One literal that joins the change to the block is enough, if a row answers it.
        if let Some(block) = block {
            for it in (0..live.body.len()).filter(positive) {
                let Literal::Atom(atom) = live.body[it] else { continue };
                let joined = atom.args.first() == Some(&block)
                    && atom.args.last().is_some_and(bound)
                    && (atom.rel == consumer || self.maintained.contains(&atom.rel));
                if joined && atom.args.len() >= 2 {
                    let mut atom = atom.clone();
                    let last = atom.args.len() - 1;
                    for arg in &mut atom.args[1..last] {
                        *arg = Term::Wild;
                    }
                    return vec![Lit::Atom { atom, store: None }];
                }
            }
        }
        (0..live.body.len())
            .filter(|it| {
                positive(it) && !reads(live.body[*it], consumer)
                    || matches!(live.body[*it], Literal::Compare(_))
            })
            .map(|it| lit(live.body[it]))
            .collect()
    }

    fn plan_reactions(&mut self) -> Result<Vec<(usize, ReactionPlan)>, PlanError> {
        let mut plans = Vec::new();
        for (at, reaction) in self.program.reactions.iter().enumerate() {
            let types: Vec<Type> = reaction.vars.iter().map(|it| it.ty).collect();
            self.planner.begin(&types, reaction_owner(self.program, at));
            let pc = self.planner.code.ops.len() as u32;
            let params = match reaction.event {
                Event::Action(id) => {
                    let rel = self.program.action(id).rel;
                    self.bind_tuple(&reaction.params, rel)?
                }
                Event::Any => Vec::new(),
            };
            let body: Vec<&Literal> = reaction.body.iter().collect();
            let Some(body) = self.prune_body(&body) else { continue };
            let mut needs = BTreeSet::new();
            let mut effects = Vec::new();
            for effect in &reaction.effects {
                let (code, exprs) = self.effect(effect)?;
                effects.push(code);
                for expr in exprs {
                    super::planner::expr_vars(&expr, &mut needs);
                }
            }
            let number = self.planner.code.effects.len() as u32;
            self.planner.code.effects.push(effects);
            let goal = Goal::React { reaction: number, needs: needs.into_iter().collect() };
            self.planner.plan(body.iter().map(|it| lit(it)).collect(), &goal).map_err(
                |mut error| {
                    error.place = self.program.place(reaction.span);
                    error
                },
            )?;
            plans.push((at, ReactionPlan { params, pc, needs: relations_of(&body) }));
        }
        Ok(plans)
    }

    fn prune_body(&self, body: &[&'p Literal]) -> Option<Vec<&'p Literal>> {
        let mut kept = Vec::new();
        for literal in body {
            match literal {
                Literal::Atom(atom) if self.is_empty(atom.rel) && !atom.negated => return None,
                Literal::Atom(atom) if self.is_empty(atom.rel) => {}
                other => kept.push(*other),
            }
        }
        Some(kept)
    }

    fn effect(&mut self, effect: &Effect) -> Result<(EffectCode, Vec<Expr>), PlanError> {
        let game = Expr::Const(0);
        let truth = Expr::Const(1);
        let (entity, value, rel) = match effect {
            Effect::Remove { entity } => {
                let code = EffectCode::Remove { entity: self.planner.expr(entity)? };
                return Ok((code, vec![entity.clone()]));
            }
            Effect::Set { rel, args } => match input_of(self.program, *rel) {
                Input::Key(_) => (args[0].clone(), Some(args[1].clone()), *rel),
                Input::Flag(_) => (args[0].clone(), Some(truth), *rel),
                Input::Game(_) => (game, Some(args[0].clone()), *rel),
                Input::GameFlag(_) => (game, Some(truth), *rel),
            },
            Effect::Retract { rel, key } => match input_of(self.program, *rel) {
                Input::Key(_) | Input::Flag(_) => (key[0].clone(), None, *rel),
                Input::Game(_) | Input::GameFlag(_) => (game, None, *rel),
            },
        };
        let attr = input_of(self.program, rel).attr();
        let entity_id = self.planner.expr(&entity)?;
        let code = match &value {
            Some(value) => {
                EffectCode::Set { attr, entity: entity_id, value: self.planner.expr(value)? }
            }
            None => EffectCode::Retract { attr, entity: entity_id },
        };
        Ok((code, std::iter::once(entity).chain(value).collect()))
    }

    /// For each relation, what must be derived on demand before it is read, in order.
    fn needs(&self) -> Vec<Vec<RelId>> {
        let order: Vec<RelId> =
            self.program.strata.iter().flat_map(|it| it.relations.iter().copied()).collect();
        let mut needs: Vec<BTreeSet<RelId>> = vec![BTreeSet::new(); self.program.relations.len()];
        for stratum in &self.program.strata {
            let mut all = BTreeSet::new();
            for &rel in &stratum.relations {
                if matches!(
                    self.modes[usize::from(rel.0)],
                    Mode::Given | Mode::Block { .. } | Mode::Tuple { .. }
                ) {
                    continue;
                }
                all.insert(rel);
                for live in &self.live[usize::from(rel.0)] {
                    for read in relations_of(&live.body) {
                        all.extend(needs[usize::from(read.0)].iter().copied());
                    }
                }
            }
            for &rel in &stratum.relations {
                needs[usize::from(rel.0)] = all.clone();
            }
        }
        needs
            .into_iter()
            .map(|all| order.iter().copied().filter(|it| all.contains(it)).collect())
            .collect()
    }
}

/// Frames come after the kept rows, whose number is known only now.
fn shift_frames<W>(code: &mut Code, layout: &mut Layout<W>) {
    let by = layout.kept_rows;
    let shift = |address: &mut Address| {
        if address.space == Space::Frame {
            address.base += by;
        }
    };
    for op in &mut code.ops {
        match op {
            Op::TestBit { row, .. } | Op::Fix { row, .. } | Op::Chase { row, .. } => shift(row),
            Op::EmitRow { row, support, .. }
            | Op::EmitBit { row, support, .. }
            | Op::LoopEmit { row, support, .. } => {
                shift(row);
                if let Some(support) = support
                    && support.space == Space::Frame
                {
                    support.base += by;
                }
            }
            _ => {}
        }
    }
    for term in &mut code.rows {
        match &mut term.row {
            RowSource::At(address) => shift(address),
            RowSource::Next { space: Space::Frame, base, .. } => *base += by,
            _ => {}
        }
    }
    for store in &mut layout.stores {
        if let Store::Dense(dense) = store
            && dense.space == Space::Frame
        {
            dense.base += by;
            dense.support = dense.support.map(|it| it + by);
        }
    }
}

/// Reactions by action, with what they read on demand.
fn attach_needs(
    program: &Program,
    plans: Vec<(usize, ReactionPlan)>,
    needs: &[Vec<RelId>],
) -> Vec<Vec<ReactionPlan>> {
    let mut by_action = vec![Vec::new(); program.actions.len()];
    for (at, mut plan) in plans {
        let mut all = Vec::new();
        for rel in &plan.needs {
            for need in &needs[usize::from(rel.0)] {
                if !all.contains(need) {
                    all.push(*need);
                }
            }
        }
        plan.needs = all;
        match program.reactions[at].event {
            Event::Action(id) => by_action[usize::from(id.0)].push(plan),
            Event::Any => by_action.iter_mut().for_each(|it| it.push(plan.clone())),
        }
    }
    by_action
}

impl<W: Word> Compiled<W> {
    /// Nothing compiled yet: for running the plans of statics.
    fn bare(program: &Program) -> Self {
        let empty = Program {
            sources: Vec::new(),
            schema: Arc::clone(&program.schema),
            relations: Vec::new(),
            rules: Vec::new(),
            strata: Vec::new(),
            actions: Vec::new(),
            reactions: Vec::new(),
            repetition: Vec::new(),
            meta: Vec::new(),
            texts: Vec::new(),
            relation_names: Default::default(),
        };
        Self {
            program: Arc::new(empty),
            code: Code::default(),
            statics: Statics::default(),
            known: Vec::new(),
            stores: Vec::new(),
            modes: Vec::new(),
            deltas: Vec::new(),
            maintained: Vec::new(),
            needs: Vec::new(),
            inputs: Vec::new(),
            reactions: Vec::new(),
            general: Vec::new(),
            indexes: Vec::new(),
            estimates: Vec::new(),
            orders: Vec::new(),
            list_is_static: Vec::new(),
            list_relations: Vec::new(),
            kept_rows: 0,
            kept_funs: 0,
            frame_rows: 0,
        }
    }

    /// Whether some plan reads the list.
    pub(super) fn reads_list(&self, store: StoreId) -> bool {
        self.code.ops.iter().any(|op| {
            matches!(op, Op::Scan { store: it, .. } | Op::TestScan { store: it, .. } if *it == store)
        })
    }
}

fn input_of(program: &Program, rel: RelId) -> Input {
    match program.relation(rel).role {
        Role::Input(input) => input,
        _ => unreachable!("the checker lets effects change inputs only"),
    }
}

fn ground_fact(live: &LiveRule<'_>) -> Option<Tuple> {
    if !live.body.is_empty() {
        return None;
    }
    live.rule
        .args
        .iter()
        .map(|it| if let Term::Const(value) = it { Some(*value) } else { None })
        .collect()
}

fn reads(literal: &Literal, rel: RelId) -> bool {
    matches!(literal, Literal::Atom(atom) if atom.rel == rel)
}

fn uses(address: &super::code::Address, reg: Reg) -> bool {
    address.regs[..usize::from(address.n)].contains(&reg)
}

/// One recursive atom, positive, that differs from the head in its last column only.
fn is_row_local(rel: RelId, live: &LiveRule<'_>) -> bool {
    let mut recursive = live.body.iter().filter_map(|it| match it {
        Literal::Atom(atom) if atom.rel == rel => Some(atom),
        _ => None,
    });
    let Some(atom) = recursive.next() else { return true };
    let keys = atom.args.len() - 1;
    recursive.next().is_none()
        && !atom.negated
        && atom.args[..keys] == live.rule.args[..keys]
        && matches!(atom.args[keys], Term::Var(var) if !live.rule.args.contains(&Term::Var(var))
            && !atom.args[..keys].contains(&Term::Var(var)))
}

fn relations_of(body: &[&Literal]) -> Vec<RelId> {
    let mut found = Vec::new();
    for literal in body {
        match literal {
            Literal::Atom(atom) => found.push(atom.rel),
            Literal::Compare(_) => {}
            Literal::Aggregate(aggregate) => {
                let inner: Vec<&Literal> = aggregate.body.iter().collect();
                found.extend(relations_of(&inner));
            }
        }
    }
    found
}

/// Lists are refilled by this: the orders of each.
pub(super) fn refill<W>(
    compiled: &Compiled<W>,
    store: StoreId,
    list: &mut Sparse,
    tuples: Vec<Tuple>,
) {
    list.fill(tuples, &compiled.orders[store as usize]);
}
