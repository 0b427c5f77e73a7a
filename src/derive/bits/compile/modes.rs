//! Decides which relations are maintained, and plans the rules of every mode.

use std::collections::BTreeSet;

use crate::rules::{Atom, Column, Literal, RelId, Role, Term, VarId};

use super::super::super::allowance::{self, Allowance};
use super::super::super::budget::{Exhausted, Resource};
use super::super::code::{Address, Op, Reg, RowSource, RowTerm, Rows, Space};
use super::super::error::PlanError;
use super::super::layout::{Dense, Store, sizes};
use super::super::planner::{FREE_LOOPS, GIVEN, Goal, Lit, depends_on, lit, weights};
use super::super::word::Word;
use super::{Compiler, LiveRule, Mode, is_atom_of, is_row_local};

/// The cost of making a plan for a request, in steps: most take some ten microseconds.
const PLAN: i64 = 1 << 11;

/// Maximum number of bit rows of a maintained relation.
const ROWS: usize = 1 << 12;

fn is_recursive(rel: RelId, live: &LiveRule<'_>) -> bool {
    live.reads().contains(&rel)
}

impl<'p, W: Word> Compiler<'p, W> {
    /// Plans the body of the rule or reaction that was begun, and charges the allowance for it. Returns the expected
    /// number of solutions.
    pub(super) fn plan(&mut self, body: Vec<Lit<'_>>, goal: &Goal<'_>) -> Result<f64, PlanError> {
        if !allowance::take(PLAN) {
            let resource = Allowance::exhausted().unwrap_or(Resource::Steps);
            return Err(Exhausted::new(self.program, resource, self.planner.owner as usize).into());
        }
        self.planner.plan(body, goal)
    }

    /// Decides which derived relations are maintained, and gives each that is not known a store.
    pub(super) fn place_derived(&mut self) {
        self.of_actions = self.reached_from_actions();
        for (at, relation) in (0..).zip(&self.program.relations) {
            if let Role::Given(_) = relation.role {
                let layout = &mut self.planner.layout;
                layout.place_derived(self.program, RelId(at), Space::Maintained);
            }
        }
        for stratum in &self.program.strata {
            for &rel in &stratum.relations {
                if self.known(rel) {
                    continue;
                }
                let maintained = stratum.relations.len() == 1 && self.can_be_maintained(rel);
                self.volatile[usize::from(rel.0)] = !maintained;
                let space = if maintained { Space::Maintained } else { Space::Frame };
                self.planner.layout.place_derived(self.program, rel, space);
                if maintained {
                    self.maintained.push(rel);
                }
            }
        }
    }

    /// The relations that the rows of actions depend on.
    fn reached_from_actions(&self) -> BTreeSet<RelId> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<RelId> = self.program.actions.iter().map(|it| it.rel).collect();
        while let Some(rel) = open.pop() {
            if reached.insert(rel) {
                open.extend(self.live[usize::from(rel.0)].iter().flat_map(LiveRule::reads));
            }
        }
        reached
    }

    /// Whether a relation can be maintained that is alone in its stratum.
    fn can_be_maintained(&self, rel: RelId) -> bool {
        let columns = &self.program.relation(rel).columns;
        let Some(sizes) = sizes(self.program, columns) else { return false };
        let rows: usize = sizes.iter().rev().skip(1).map(|&it| it as usize).product();
        let rules = &self.live[usize::from(rel.0)];
        let is_steady = |it: &RelId| *it == rel || !self.volatile[usize::from(it.0)];
        let is_fit = |it: &LiveRule<'_>| {
            !it.body.iter().any(|it| matches!(it, Literal::Aggregate(_)))
                && it.reads().iter().all(is_steady)
        };
        self.of_actions.contains(&rel)
            && rows <= ROWS
            && (1..=GIVEN.len()).contains(&columns.len())
            && rules.iter().all(is_fit)
            && (!rules.iter().any(|it| is_recursive(rel, it))
                || self.is_block(rel) && rules.iter().all(|it| is_row_local(rel, it)))
    }

    /// Whether a maintained relation is updated by block.
    pub(super) fn is_block(&self, rel: RelId) -> bool {
        let columns = &self.program.relation(rel).columns;
        columns.len() >= 2
            && self.program.is_entity(columns[0].ty)
            && self.live[usize::from(rel.0)]
                .iter()
                .all(|it| matches!(it.rule.args[0], Term::Var(_)))
    }

    /// Plans the rules of all relations that are not known, stratum by stratum, and decides the modes.
    pub(super) fn plan_relations(&mut self) -> Result<(), PlanError> {
        for at in 0..self.program.strata.len() {
            let relations = &self.program.strata[at].relations;
            if relations.iter().all(|it| self.known(*it)) {
                continue;
            }
            let rel = relations[0];
            let rules = relations.iter().flat_map(|it| &self.live[usize::from(it.0)]);
            let recursive = rules.flat_map(LiveRule::reads).any(|it| relations.contains(&it));
            if self.maintained.contains(&rel) {
                if self.is_block(rel) {
                    self.plan_block(rel)?;
                } else {
                    self.plan_tuple(rel)?;
                }
            } else if recursive && !self.is_one_fix(relations) {
                let fixpoint = self.plan_fixpoint(relations)?;
                for &rel in relations {
                    self.planner.estimates[usize::from(rel.0)] = weights::RECURSIVE;
                    self.modes[usize::from(rel.0)] = Mode::General { stratum: self.general.len() };
                }
                self.general.push(fixpoint);
            } else {
                self.plan_scratch(rel)?;
            }
        }
        Ok(())
    }

    /// Whether a stratum is one relation with one recursive rule, which stays within a row: that rule runs
    /// last, and needs no rounds.
    fn is_one_fix(&self, relations: &[RelId]) -> bool {
        let &[rel] = relations else { return false };
        let is_rows = matches!(self.planner.layout.stores[usize::from(rel.0)], Store::Dense(_));
        let mut fixes = self.live[usize::from(rel.0)].iter().filter(|it| is_recursive(rel, it));
        let (Some(fix), None) = (fixes.next(), fixes.next()) else { return false };
        let is_folded = |it: &&Literal| matches!(it, Literal::Aggregate(_));
        is_rows && is_row_local(rel, fix) && !fix.body.iter().any(is_folded)
    }

    /// Plans the rules of a relation that is derived on demand, the recursive one last.
    fn plan_scratch(&mut self, rel: RelId) -> Result<(), PlanError> {
        let mut rules = Vec::new();
        let mut expected = 0.0;
        let live = self.live[usize::from(rel.0)].clone();
        let (fixes, others): (Vec<_>, Vec<_>) =
            live.into_iter().partition(|it| is_recursive(rel, it));
        for live in others {
            rules.push(self.begin(&live)?);
            let goal = self.head(rel, &live.rule.args);
            expected += self.plan(live.literals(), &goal)?;
        }
        for live in fixes {
            rules.push(self.begin(&live)?);
            self.plan_fix(rel, &live)?;
            expected = weights::RECURSIVE;
        }
        self.planner.estimates[usize::from(rel.0)] = expected;
        self.modes[usize::from(rel.0)] = Mode::OnDemand { rules };
        Ok(())
    }

    /// The goal of adding to a relation.
    pub(super) fn head<'a>(&self, rel: RelId, args: &'a [Term]) -> Goal<'a> {
        match &self.planner.layout.stores[usize::from(rel.0)] {
            Store::Dense(dense) => Goal::Rows { dense: dense.clone(), args },
            Store::Sparse(store) => Goal::Tuple { store: *store, args },
            other => unreachable!("a derived relation is stored as {other:?}"),
        }
    }

    /// Plans the rules of a relation that is maintained by block, each with the block bound.
    fn plan_block(&mut self, rel: RelId) -> Result<(), PlanError> {
        let (mut rules, mut fixes, mut expected) = (Vec::new(), Vec::new(), 0.0);
        let live = self.live[usize::from(rel.0)].clone();
        let in_rounds = live.iter().filter(|it| is_recursive(rel, it)).count() > 1;
        for live in live {
            let Term::Var(block) = live.rule.args[0] else { unreachable!("checked by is_block") };
            let pc = self.begin(&live)?;
            self.planner.loops = 1; // over the blocks
            self.planner.bind(block);
            if is_recursive(rel, &live) {
                if in_rounds {
                    self.planner.loops = FREE_LOOPS; // over the blocks, and over the rounds
                }
                self.plan_fix(rel, &live)?;
                fixes.push((block.0 as Reg, pc));
            } else {
                let goal = self.head(rel, &live.rule.args);
                let planned = self.plan(live.literals(), &goal)?;
                expected += weights::BLOCKS * planned;
                rules.push((block.0 as Reg, pc));
            }
        }
        self.planner.estimates[usize::from(rel.0)] = expected.min(weights::MOST_BY_BLOCK);
        self.modes[usize::from(rel.0)] = Mode::Block { rules, fixes };
        Ok(())
    }

    /// A recursive rule that stays within one row: loops over the columns that are not bound, then the
    /// row's fixpoint.
    pub(super) fn plan_fix(&mut self, rel: RelId, live: &LiveRule<'p>) -> Result<(), PlanError> {
        let Store::Dense(dense) = self.planner.layout.stores[usize::from(rel.0)].clone() else {
            unreachable!("a row is placed before it is planned")
        };
        let args = &live.rule.args;
        let (_, keys) = args.split_last().unwrap_or((&Term::Wild, &[]));
        self.loop_over_keys(&dense, keys);
        self.planner.loops += 1;
        let at = live.body.iter().position(|it| is_atom_of(it, rel)).unwrap_or(0);
        let Literal::Atom(Atom { args: from, .. }) = live.body[at] else {
            unreachable!("checked by is_row_local")
        };
        let Some(Term::Var(from)) = from.last().copied() else {
            unreachable!("checked by is_row_local")
        };
        self.planner.bind(from);
        let row = dense.address(keys);
        let fix = self.planner.emit(Op::Fix { row, reg: from.0 as Reg, end: 0 });
        let body =
            (0..live.body.len()).filter(|it| *it != at).map(|it| lit(live.body[it])).collect();
        let goal = Goal::Rows { dense, args };
        self.planner.fetches_last = true;
        let planned = self.plan(body, &goal);
        self.planner.fetches_last = false;
        planned?;
        let end = self.planner.code.ops.len() as u32;
        self.planner.code.ops[fix] = Op::Fix { row, reg: from.0 as Reg, end };
        self.shorten_to_chase(fix, from);
        Ok(())
    }

    /// Emits loops over the keys that are not bound.
    fn loop_over_keys(&mut self, dense: &Dense, keys: &[Term]) {
        for (at, key) in keys.iter().enumerate() {
            let Some(var) = key.var().filter(|it| !self.planner.is_bound(*it)) else { continue };
            let support = dense.support.filter(|_| at == 0 && dense.space == Space::Frame);
            let row = match support {
                Some(base) => RowSource::At(Address::keyless(dense.space, base)),
                None => RowSource::All(dense.sizes[at] as u16),
            };
            let rows = self.planner.row_list(vec![RowTerm { negated: false, row }]);
            self.planner.emit(Op::Loop { reg: var.0 as Reg, rows });
            self.planner.bind(var);
            self.planner.loops += 1;
        }
    }

    /// Replaces a fixpoint by a chase, if its body is some tests of the member, then one step of a function.
    fn shorten_to_chase(&mut self, fix: usize, from: VarId) {
        let Op::Fix { row, reg, end } = self.planner.code.ops[fix] else { return };
        let mut tests = vec![RowTerm { negated: false, row: RowSource::All(W::WIDTH as u16) }];
        let mut step = None;
        for at in fix + 1..end as usize {
            match self.planner.code.ops[at] {
                Op::TestBit { row, bit, negated }
                    if bit == from.0 as Reg && step.is_none() && !row.uses(bit) =>
                {
                    tests.push(RowTerm { negated, row: RowSource::At(row) });
                }
                Op::Fetch { reg, fun } if step.is_none() && fun.n <= 2 => step = Some((reg, fun)),
                Op::EmitBit { row: head, bit, .. }
                    if at + 1 == end as usize
                        && head == row
                        && step.is_some_and(|(reg, _)| reg == bit) => {}
                _ => return,
            }
        }
        let Some((_, fun)) = step else { return };
        // A loop over all values of a key that begins just before belongs to the chase: its register and size. Without one
        // the chase is a loop of one.
        let (mut at, mut middle, mut size) = (fix, reg, 1);
        if let Some(before) = fix.checked_sub(1)
            && let Op::Loop { reg: key, rows: Rows { start, len: 1 } } =
                self.planner.code.ops[before]
            && let RowSource::All(keys) = self.planner.code.rows[start as usize].row
            && self.planner.code.owner[before] == self.planner.owner
            && !tests.iter().any(|it| depends_on(it, key))
        {
            (at, middle, size) = (before, key, keys);
        }
        let (first, stride) = row.apart(middle);
        let tests = self.planner.row_list(tests);
        self.planner.code.ops[at] = Op::Chase { row: first, middle, size, stride, reg, tests, fun };
        self.planner.code.ops.truncate(at + 1);
        self.planner.code.owner.truncate(at + 1);
    }

    /// Plans the checks of a relation that is maintained by tuple: for each rule, whether it concludes a given tuple.
    fn plan_tuple(&mut self, rel: RelId) -> Result<(), PlanError> {
        let mut checks = Vec::new();
        let mut expected = 0.0;
        for live in self.live[usize::from(rel.0)].clone() {
            let pc = self.begin(&live)?;
            self.planner.loops = FREE_LOOPS; // over the tuples
            let regs = self.bind_tuple(&live.rule.args, &self.program.relation(rel).columns)?;
            self.plan(live.literals(), &Goal::Found)?;
            checks.push((regs, pc));
            expected += self.guess(&live);
        }
        self.planner.estimates[usize::from(rel.0)] = expected;
        self.modes[usize::from(rel.0)] = Mode::Tuple { checks };
        Ok(())
    }

    /// A rough estimate of a rule's tuples: the smallest positive relation of the body.
    fn guess(&self, live: &LiveRule<'p>) -> f64 {
        let sizes = live.body.iter().filter_map(|it| match it {
            Literal::Atom(atom) if !atom.negated => {
                let total = self.planner.estimates[usize::from(atom.rel.0)];
                let fixed = atom.args.iter().any(|it| matches!(it, Term::Const(_)));
                Some(if fixed { total / weights::BY_CONSTANT } else { total })
            }
            _ => None,
        });
        sizes.reduce(f64::min).unwrap_or(1.0)
    }

    /// Assigns registers to the values of a tuple: variables get theirs, constants and repeated variables are
    /// compared.
    pub(super) fn bind_tuple(
        &mut self,
        args: &[Term],
        columns: &[Column],
    ) -> Result<Vec<Reg>, PlanError> {
        let types = columns.iter().map(|it| it.ty);
        let (regs, same) = self.planner.receive(args.iter().copied().zip(types))?;
        self.planner.emit_equal(&same);
        Ok(regs)
    }
}
