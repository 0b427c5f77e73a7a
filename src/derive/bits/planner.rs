//! Join planning: the body of a rule becomes a list of instructions.
//!
//! Greedy, one literal at a time: tests that are ready, then function values, then the loop with the
//! fewest expected turns; ties go to the text's order. The last column of the head is not looped
//! over where the rest of the body can be read as rows: it is the AND of those rows. All choices
//! rest on estimates that are exact for statics and guessed for the rest, so plans can be printed
//! (`dump.rs`) and operation counts are asserted in tests.

use std::collections::BTreeSet;

use crate::rules::{
    Aggregate, Atom, Compare, Expr, Fold, Literal, Op as Comparison, Program, RelId, Term, Type,
    VarId,
};

use super::code::{
    Address, EffectCode, ExprId, ExprNode, Op, REGS, Reg, RegList, RowSource, RowTerm, Rows, Space,
    StoreId, Support,
};
use super::layout::{Dense, Layout, Store, size};
use super::word::Word;

/// Everything compiled so far: instructions and the pools they point into.
#[derive(Debug, Clone, Default)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    pub(super) rows: Vec<RowTerm>,
    pub(super) regs: Vec<Reg>,
    pub(super) exprs: Vec<ExprNode>,
    pub(super) effects: Vec<Vec<EffectCode>>,
    /// Constants and the registers that hold them, from the top down.
    pub(super) constants: Vec<(i64, Reg)>,
    /// For each instruction, the rule or reaction it belongs to (for counts and dumps).
    pub(super) owner: Vec<u32>,
}

/// What a plan does with each solution.
#[derive(Debug, Clone)]
pub(super) enum Goal<'a> {
    /// The tuple belongs to the dense relation.
    Rows {
        dense: Dense,
        args: &'a [Term],
    },
    /// The tuple belongs to the list.
    Tuple {
        store: StoreId,
        args: &'a [Term],
    },
    /// One solution is enough.
    Found,
    /// The tuple is to be checked again.
    Suspect {
        relation: RelId,
        args: &'a [Term],
    },
    /// The block is to be derived again.
    Dirty {
        relation: RelId,
        block: Term,
    },
    React {
        reaction: u32,
        needs: Vec<VarId>,
    },
    Collect {
        key: Vec<VarId>,
        values: &'a [Expr],
    },
}

/// A literal on its way into a plan. An atom may read another store than its relation's.
#[derive(Debug, Clone)]
pub(super) enum Lit<'a> {
    Atom {
        atom: Atom,
        store: Option<StoreId>,
    },
    Compare(&'a Compare),
    /// `var op var` that the planner itself added.
    Same(VarId, VarId),
    Aggregate(&'a Aggregate),
}

/// Plans bodies for one program.
pub(super) struct Planner<'p, W> {
    pub(super) program: &'p Program,
    pub(super) layout: Layout<W>,
    pub(super) code: Code,
    /// Expected number of tuples by relation.
    pub(super) estimates: Vec<f64>,
    /// Indexes from last to first column may be asked for (plans that run when facts change).
    pub(super) may_index: bool,
    pub(super) owner: u32,
    /// Prefer one function value to a row with one member, also for the head's last column.
    pub(super) fetch_first: bool,
    vars: VarTable,
    /// Variables that the goal of the plan at hand reads.
    wanted: BTreeSet<VarId>,
}

/// The variables of the rule at hand and which of them have values.
#[derive(Debug, Default)]
struct VarTable {
    types: Vec<Type>,
    bound: Vec<bool>,
}

/// Too many variables or constants for the registers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct PlanError {
    pub place: String,
    pub what: String,
}

/// The cost rank of a function's value among the literals that open no loop.
const FETCH: u32 = 3;

/// Variables of one rule, wildcards included.
const MAX_VARS: usize = 160;

impl<'p, W: Word> Planner<'p, W> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self {
            program,
            layout: Layout::new(program),
            code: Code::default(),
            estimates: vec![0.0; program.relations.len()],
            may_index: false,
            owner: 0,
            fetch_first: false,
            vars: VarTable::default(),
            wanted: BTreeSet::new(),
        }
    }

    /// Starts a rule: its variables are registers from 0 up.
    pub(super) fn begin(&mut self, types: &[Type], owner: u32) {
        self.vars = VarTable { types: types.to_vec(), bound: vec![false; types.len()] };
        self.owner = owner;
    }

    pub(super) fn bind(&mut self, var: VarId) {
        self.vars.bound[usize::from(var.0)] = true;
    }

    /// A new variable, for a wildcard or a value that a plan needs.
    pub(super) fn fresh(&mut self, ty: Type) -> Result<VarId, PlanError> {
        if self.vars.types.len() >= MAX_VARS {
            return Err(PlanError {
                place: format!("rule {}", self.owner),
                what: format!("more than {MAX_VARS} variables and wildcards"),
            });
        }
        self.vars.types.push(ty);
        self.vars.bound.push(false);
        Ok(VarId((self.vars.types.len() - 1) as u16))
    }

    pub(super) fn emit(&mut self, op: Op) -> usize {
        self.code.ops.push(op);
        self.code.owner.push(self.owner);
        self.code.ops.len() - 1
    }

    pub(super) fn constant(&mut self, value: i64) -> Result<Reg, PlanError> {
        if let Some(&(_, reg)) = self.code.constants.iter().find(|(it, _)| *it == value) {
            return Ok(reg);
        }
        let reg = REGS - 1 - self.code.constants.len();
        if reg < MAX_VARS {
            return Err(PlanError {
                place: "the program".into(),
                what: format!("more than {} different constants", REGS - MAX_VARS),
            });
        }
        self.code.constants.push((value, reg as Reg));
        Ok(reg as Reg)
    }

    /// Plans a body and returns the expected number of solutions.
    pub(super) fn plan(&mut self, body: Vec<Lit<'p>>, goal: &Goal<'_>) -> Result<f64, PlanError> {
        let outer = std::mem::replace(&mut self.wanted, wanted(goal));
        let planned = self.plan_steps(body, goal);
        self.wanted = outer;
        planned
    }

    fn plan_steps(&mut self, body: Vec<Lit<'p>>, goal: &Goal<'_>) -> Result<f64, PlanError> {
        let mut rest = self.normalise(body)?;
        let mut turns = 1.0;
        loop {
            if let Some(at) = self.next_ready(&rest, vector_of(goal)) {
                let lit = rest.remove(at);
                turns *= self.emit_ready(&lit, &rest)?;
            } else if let Some((used, rows)) = self.existential(&rest) {
                let rows = self.row_list(rows);
                self.emit(Op::TestAny { rows, negated: false });
                remove_all(&mut rest, &used);
                turns *= 0.5;
            } else if let Some(expected) = self.vector_finish(&rest, goal)? {
                return Ok(turns * expected);
            } else if rest.is_empty() {
                self.finish(goal)?;
                return Ok(turns);
            } else {
                turns *= self.open_loop(&mut rest, goal)?;
            }
        }
    }

    /// Gives every wildcard of a positive atom, and every second occurrence of a variable within an
    /// atom, a variable of its own.
    fn normalise(&mut self, body: Vec<Lit<'p>>) -> Result<Vec<Lit<'p>>, PlanError> {
        let mut result = Vec::new();
        for lit in body {
            let Lit::Atom { mut atom, store } = lit else {
                result.push(lit);
                continue;
            };
            let mut seen = BTreeSet::new();
            for at in 0..atom.args.len() {
                let ty = self.program.relation(atom.rel).columns[at].ty;
                match atom.args[at] {
                    Term::Wild if !atom.negated => atom.args[at] = Term::Var(self.fresh(ty)?),
                    Term::Var(var) if !atom.negated && !seen.insert(var) => {
                        let twin = self.fresh(ty)?;
                        atom.args[at] = Term::Var(twin);
                        result.push(Lit::Same(var, twin));
                    }
                    _ => {}
                }
            }
            result.push(Lit::Atom { atom, store });
        }
        Ok(result)
    }

    pub(super) fn is_bound(&self, var: VarId) -> bool {
        self.vars.bound[usize::from(var.0)]
    }

    fn is_ready(&self, term: Term) -> bool {
        match term {
            Term::Var(var) => self.is_bound(var),
            Term::Const(_) => true,
            Term::Wild => false,
        }
    }

    /// A value that nothing else of the rule asks for.
    fn is_private(&self, term: Term, others: &[Lit<'p>]) -> bool {
        match term {
            Term::Wild => true,
            Term::Const(_) => false,
            Term::Var(var) => {
                !self.is_bound(var)
                    && !self.wanted.contains(&var)
                    && others.iter().all(|it| !vars_of(it).contains(&var))
            }
        }
    }

    // --- literals that open no loop -------------------------------------------------------------

    fn next_ready(&mut self, rest: &[Lit<'p>], vector: Option<VarId>) -> Option<usize> {
        // Values of the head's last column stay rows if all that is said of them are rows.
        let vector = vector.filter(|_| !self.fetch_first).filter(|&var| {
            let used: Vec<usize> =
                (0..rest.len()).filter(|&it| vars_of(&rest[it]).contains(&var)).collect();
            self.rows_towards(var, rest, &used).is_some()
        });
        let mut best = None;
        for at in 0..rest.len() {
            let mut others = rest.to_vec();
            let lit = others.remove(at);
            if let Some(cost) = self.readiness(&lit, &others)
                && !(cost == FETCH && vector.is_some_and(|it| vars_of(&lit).contains(&it)))
                && best.is_none_or(|(known, _)| cost < known)
            {
                best = Some((cost, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// How dear a literal is that can be settled now; `None` if it cannot.
    fn readiness(&mut self, lit: &Lit<'p>, others: &[Lit<'p>]) -> Option<u32> {
        match lit {
            Lit::Same(a, b) => (self.is_bound(*a) || self.is_bound(*b)).then_some(0),
            Lit::Compare(compare) => match self.unbound_of(compare).as_slice() {
                [] => Some(0),
                [var] if bound_side(compare, *var).is_some() => Some(0),
                _ => None,
            },
            Lit::Aggregate(aggregate) => {
                outer_vars(aggregate).iter().all(|it| self.is_bound(*it)).then_some(6)
            }
            Lit::Atom { atom, store } => {
                let open: Vec<usize> =
                    (0..atom.args.len()).filter(|&it| !self.is_ready(atom.args[it])).collect();
                let private = open.iter().all(|&it| self.is_private(atom.args[it], others));
                if open.is_empty() {
                    Some(1)
                } else if atom.negated {
                    private.then_some(2)
                } else if private && self.row_of(atom, *store, open[0], others, true).is_some() {
                    Some(2)
                } else if self.is_fetch(atom, *store, &open) {
                    Some(FETCH)
                } else {
                    None
                }
            }
        }
    }

    fn is_fetch(&mut self, atom: &Atom, store: Option<StoreId>, open: &[usize]) -> bool {
        let relation = self.program.relation(atom.rel);
        store.is_none()
            && open.len() == 1
            && open[0] + 1 == atom.args.len()
            && relation.functional
            && match self.layout.stores[usize::from(atom.rel.0)] {
                Store::Key { .. } | Store::Game { .. } => true,
                Store::Static => self.layout.static_fun(self.program, atom.rel).is_some(),
                Store::Nowhere | Store::Dense(_) | Store::Sparse(_) => false,
            }
    }

    /// Emits a literal that [`Self::readiness`] accepted; returns the expected factor of solutions.
    fn emit_ready(&mut self, lit: &Lit<'p>, others: &[Lit<'p>]) -> Result<f64, PlanError> {
        match lit {
            Lit::Same(a, b) => {
                if self.is_bound(*a) && self.is_bound(*b) {
                    let (lhs, rhs) = (a.0 as Reg, b.0 as Reg);
                    self.emit(Op::Compare { op: Comparison::Eq, lhs, rhs });
                    return Ok(0.3);
                }
                let (from, to) = if self.is_bound(*a) { (a, b) } else { (b, a) };
                let expr = self.expr(&Expr::Var(*from))?;
                self.emit(Op::Let { reg: to.0 as Reg, expr });
                self.bind(*to);
                Ok(1.0)
            }
            Lit::Compare(compare) => self.emit_compare(compare),
            Lit::Aggregate(aggregate) => self.emit_aggregate(aggregate),
            Lit::Atom { atom, store } => self.emit_test(atom, *store, others),
        }
    }

    fn emit_compare(&mut self, compare: &Compare) -> Result<f64, PlanError> {
        if let [var] = self.unbound_of(compare).as_slice()
            && let Some(side) = bound_side(compare, *var)
        {
            let expr = self.expr(side)?;
            self.emit(Op::Let { reg: var.0 as Reg, expr });
            self.bind(*var);
            return Ok(1.0);
        }
        let lhs = self.expr(&compare.lhs)?;
        let rhs = self.expr(&compare.rhs)?;
        match (self.code.exprs[lhs.0 as usize], self.code.exprs[rhs.0 as usize]) {
            (ExprNode::Reg(lhs), ExprNode::Reg(rhs)) => {
                self.emit(Op::Compare { op: compare.op, lhs, rhs })
            }
            _ => self.emit(Op::CompareExpr { op: compare.op, lhs, rhs }),
        };
        Ok(if compare.op == Comparison::Ne { 0.9 } else { 0.4 })
    }

    fn emit_test(
        &mut self,
        atom: &Atom,
        store: Option<StoreId>,
        others: &[Lit<'p>],
    ) -> Result<f64, PlanError> {
        let negated = atom.negated;
        let open: Vec<usize> =
            (0..atom.args.len()).filter(|&it| !self.is_ready(atom.args[it])).collect();
        if !negated
            && self.is_fetch(atom, store, &open)
            && !self.is_private(atom.args[open[0]], others)
        {
            let fun = self.fun_address(atom)?;
            let Term::Var(var) = atom.args[open[0]] else {
                unreachable!("only variables are open")
            };
            self.emit(Op::Fetch { reg: var.0 as Reg, fun });
            self.bind(var);
            return Ok(1.0);
        }
        let chance = if negated { 0.7 } else { 0.3 };
        if open.is_empty() && store.is_none() {
            if self.is_fun(atom.rel) {
                let fun = self.fun_address(atom)?;
                let value = self.reg(atom.args[atom.args.len() - 1])?;
                self.emit(Op::TestFun { fun, value, negated });
                return Ok(chance);
            }
            if atom.args.is_empty() {
                return self.emit_proposition(atom).map(|()| chance);
            }
            let last = atom.args.len() - 1;
            let bit = self.reg(atom.args[last])?;
            let dense = match &self.layout.stores[usize::from(atom.rel.0)] {
                Store::Dense(dense) => Some(dense.clone()),
                Store::Static => {
                    let mask = (1 << last) - 1;
                    self.layout.static_rows(self.program, atom.rel, last, mask)
                }
                _ => None,
            };
            if let Some(dense) = dense {
                let row = self.address(&dense, &atom.args[..last])?;
                self.emit(Op::TestBit { row, bit, negated });
                return Ok(chance);
            }
        }
        if let Some(&first) = open.first() {
            if self.is_fetch(atom, store, &open) {
                let fun = self.fun_address(atom)?;
                self.emit(Op::TestHas { fun, negated });
                return Ok(chance);
            }
            if let Some(row) = self.row_of(atom, store, first, others, true) {
                let rows = self.row_list(vec![RowTerm { negated: false, row }]);
                self.emit(Op::TestAny { rows, negated });
                return Ok(chance);
            }
        }
        if let Some(list) = self.list_of(atom.rel, store) {
            let ready: Vec<usize> = (0..atom.args.len()).filter(|it| !open.contains(it)).collect();
            let order = self.list_order(list, &ready, atom.args.len());
            let bound =
                self.reg_list_of(&ready.iter().map(|&it| atom.args[it]).collect::<Vec<_>>())?;
            self.emit(Op::TestScan { store: list, order, bound, negated });
            return Ok(chance);
        }
        // A projection that no table answers: look for one solution.
        let at = self.emit(Op::TestSub { end: 0, negated });
        let saved = self.vars.bound.clone();
        let positive = Lit::Atom { atom: Atom { negated: false, ..atom.clone() }, store };
        self.plan(vec![positive], &Goal::Found)?;
        self.vars.bound.truncate(saved.len());
        self.vars.types.truncate(saved.len());
        self.vars.bound = saved;
        let end = self.code.ops.len() as u32;
        self.code.ops[at] = Op::TestSub { end, negated };
        Ok(chance)
    }

    fn emit_proposition(&mut self, atom: &Atom) -> Result<(), PlanError> {
        let negated = atom.negated;
        if let Store::Dense(dense) = self.layout.stores[usize::from(atom.rel.0)].clone() {
            let row = self.address(&dense, &[])?;
            let bit = self.constant(0)?;
            self.emit(Op::TestBit { row, bit, negated });
        } else {
            // Known at load: empty or true; `prune` has left only the literals that can fail.
            let holds = !self.layout.known_tuples(atom.rel).is_empty();
            if holds == negated {
                let (lhs, rhs) = (self.constant(0)?, self.constant(1)?);
                self.emit(Op::Compare { op: Comparison::Eq, lhs, rhs });
            }
        }
        Ok(())
    }

    // --- aggregates -----------------------------------------------------------------------------

    fn emit_aggregate(&mut self, aggregate: &'p Aggregate) -> Result<f64, PlanError> {
        let mut results = Vec::new();
        let mut tests = Vec::new();
        for &term in &aggregate.results {
            match term {
                Term::Var(var) if !self.is_bound(var) => {
                    self.bind(var);
                    results.push(var.0 as Reg);
                }
                other => {
                    let var = self.fresh(Type::Int)?;
                    self.bind(var);
                    results.push(var.0 as Reg);
                    tests.push((var.0 as Reg, self.reg(other)?));
                }
            }
        }
        // The results have no value while the body is solved.
        let body: Vec<Lit<'p>> = aggregate.body.iter().map(lit).collect();
        if !self.emit_count(aggregate, &body, &results)? {
            let results = self.reg_list(&results);
            let at = self.emit(Op::Fold { fold: aggregate.fold, end: 0, results });
            let goal = Goal::Collect { key: aggregate.locals.clone(), values: &aggregate.exprs };
            let saved = self.vars.bound.clone();
            self.plan(body, &goal)?;
            self.vars.bound.truncate(saved.len());
            self.vars.types.truncate(saved.len());
            self.vars.bound = saved;
            let end = self.code.ops.len() as u32;
            self.code.ops[at] = Op::Fold { fold: aggregate.fold, end, results };
        }
        for &(lhs, rhs) in &tests {
            self.emit(Op::Compare { op: Comparison::Eq, lhs, rhs });
        }
        Ok(if tests.is_empty() { 1.0 } else { 0.3 })
    }

    /// Counts by one AND where the body is rows towards its only local variable.
    fn emit_count(
        &mut self,
        aggregate: &Aggregate,
        body: &[Lit<'p>],
        results: &[Reg],
    ) -> Result<bool, PlanError> {
        let (Fold::Count, [local]) = (aggregate.fold, aggregate.locals.as_slice()) else {
            return Ok(false);
        };
        let outer = std::mem::replace(&mut self.wanted, BTreeSet::from([*local]));
        let body = self.normalise(body.to_vec())?;
        let all: Vec<usize> = (0..body.len()).collect();
        let rows = self.rows_towards(*local, &body, &all);
        self.wanted = outer;
        let Some(rows) = rows else { return Ok(false) };
        let rows = self.row_list(rows);
        self.emit(Op::Count { reg: results[0], rows });
        Ok(true)
    }

    /// The literals of the body with these numbers as rows towards one variable, if each can be
    /// read so.
    fn rows_towards(
        &mut self,
        var: VarId,
        body: &[Lit<'p>],
        used: &[usize],
    ) -> Option<Vec<RowTerm>> {
        let mut rows = Vec::new();
        for &at in used {
            let mut others = body.to_vec();
            let lit = others.remove(at);
            rows.push(self.row_term(var, &lit, &others)?);
        }
        rows.iter().any(|it| !it.negated).then_some(rows)
    }

    /// A literal as a row towards the variable, everything else in it having a value.
    fn row_term(&mut self, var: VarId, lit: &Lit<'p>, others: &[Lit<'p>]) -> Option<RowTerm> {
        match lit {
            Lit::Atom { atom, store } => {
                let col = atom.args.iter().position(|it| *it == Term::Var(var))?;
                let row = self.row_of(atom, *store, col, others, true)?;
                Some(RowTerm { negated: atom.negated, row })
            }
            Lit::Compare(compare) if compare.op == Comparison::Ne => {
                let other = match (&compare.lhs, &compare.rhs) {
                    (Expr::Var(it), other) | (other, Expr::Var(it)) if *it == var => other,
                    _ => return None,
                };
                let reg = match other {
                    Expr::Var(it) if self.is_bound(*it) => it.0 as Reg,
                    Expr::Const(value) => self.constant(*value).ok()?,
                    _ => return None,
                };
                Some(RowTerm { negated: true, row: RowSource::Only(reg) })
            }
            _ => None,
        }
    }

    /// The row of an atom towards one of its columns. Other columns have values, or (when `exact`
    /// is asked for) are private to the atom; without `exact` they may be anything, and the row is
    /// then a superset.
    fn row_of(
        &mut self,
        atom: &Atom,
        store: Option<StoreId>,
        col: usize,
        others: &[Lit<'p>],
        exact: bool,
    ) -> Option<RowSource> {
        if store.is_some() || self.is_ready(atom.args[col]) {
            return None;
        }
        let mut ready = Vec::new();
        for at in (0..atom.args.len()).filter(|&it| it != col) {
            if self.is_ready(atom.args[at]) {
                ready.push(at);
            } else if exact && !self.is_private(atom.args[at], others) {
                return None;
            }
        }
        let last = atom.args.len() - 1;
        match self.layout.stores[usize::from(atom.rel.0)].clone() {
            Store::Static => {
                let mask = ready.iter().fold(0, |all, it| all | 1 << it);
                let dense = self.layout.static_rows(self.program, atom.rel, col, mask)?;
                let keys: Vec<Term> = ready.iter().map(|&it| atom.args[it]).collect();
                self.address(&dense, &keys).ok().map(RowSource::At)
            }
            Store::Dense(dense) => {
                if col == last && ready.len() == last {
                    return self.address(&dense, &atom.args[..last]).ok().map(RowSource::At);
                }
                if col == 0 && ready.is_empty() {
                    let base = dense.support?;
                    return Some(RowSource::At(plain(dense.space, base)));
                }
                let usable = dense.space == Space::Kept && self.may_index && col == 0;
                if usable && ready.contains(&last) && (!exact || ready.len() == 1) {
                    let base = self.layout.index(self.program, atom.rel)?;
                    return self.one_key(Space::Kept, base, atom.args[last]).map(RowSource::At);
                }
                None
            }
            Store::Key { present, inverse, .. } if col == 0 => {
                if ready.is_empty() {
                    return Some(RowSource::At(plain(Space::Kept, present)));
                }
                self.one_key(Space::Kept, inverse?, atom.args[1]).map(RowSource::At)
            }
            _ => None,
        }
    }

    // --- ends and loops -------------------------------------------------------------------------

    /// A variable that nobody wants and all whose literals are rows: one test of their AND.
    fn existential(&mut self, rest: &[Lit<'p>]) -> Option<(Vec<usize>, Vec<RowTerm>)> {
        for var in self.unbound_vars(rest) {
            if self.wanted.contains(&var) {
                continue;
            }
            let used: Vec<usize> =
                (0..rest.len()).filter(|&it| vars_of(&rest[it]).contains(&var)).collect();
            if let Some(rows) = self.rows_towards(var, rest, &used) {
                return Some((used, rows));
            }
        }
        None
    }

    /// Ends the plan with an AND into the head's row, if all that is left are rows towards the
    /// head's last column.
    fn vector_finish(
        &mut self,
        rest: &[Lit<'p>],
        goal: &Goal<'_>,
    ) -> Result<Option<f64>, PlanError> {
        let Goal::Rows { dense, args } = goal else { return Ok(None) };
        let Some((Term::Var(last), keys)) = args.split_last() else { return Ok(None) };
        let ready = keys.iter().all(|it| self.is_ready(*it));
        if self.is_bound(*last) || !ready || rest.is_empty() {
            return Ok(None);
        }
        let all: Vec<usize> = (0..rest.len()).collect();
        let Some(rows) = self.rows_towards(*last, rest, &all) else { return Ok(None) };
        let expected = self.expected_row(*last, rest);
        let rows = self.row_list(rows);
        let row = self.address(dense, keys)?;
        let support = self.support(dense, keys)?;
        self.emit(Op::EmitRow { row, support, rows });
        self.fuse();
        Ok(Some(expected))
    }

    /// Makes one instruction of a loop and the `EmitRow` after it.
    fn fuse(&mut self) {
        let at = self.code.ops.len();
        let [.., Op::Loop { reg, rows }, Op::EmitRow { row, support, rows: emitted }] =
            self.code.ops[..at]
        else {
            return;
        };
        let mut head = row;
        let mut stride = 0;
        for key in 0..usize::from(row.n) {
            if row.regs[key] == reg {
                stride += row.strides[key];
                head.strides[key] = 0;
            }
        }
        let all = emitted.start as usize..(emitted.start + emitted.len) as usize;
        let (moving, fixed): (Vec<RowTerm>, Vec<RowTerm>) =
            self.code.rows[all].iter().partition(|it| depends_on(it, reg));
        let fixed = self.row_list(fixed);
        let moving = self.row_list(moving);
        self.code.ops.truncate(at - 2);
        self.code.owner.truncate(at - 2);
        self.emit(Op::LoopEmit { reg, rows, row: head, stride, support, fixed, moving });
    }

    fn finish(&mut self, goal: &Goal<'_>) -> Result<(), PlanError> {
        match goal {
            Goal::Rows { dense, args } => {
                let (bit, keys) = match args.split_last() {
                    Some((last, keys)) => (self.reg(*last)?, keys),
                    None => (self.constant(0)?, *args),
                };
                let row = self.address(dense, keys)?;
                let support = self.support(dense, keys)?;
                self.emit(Op::EmitBit { row, support, bit });
            }
            Goal::Tuple { store, args } => {
                let values = self.reg_list_of(args)?;
                self.emit(Op::EmitTuple { store: *store, values });
            }
            Goal::Found => {
                self.emit(Op::Found);
            }
            Goal::Suspect { relation, args } => {
                let values = self.reg_list_of(args)?;
                self.emit(Op::Suspect { relation: relation.0, values });
            }
            Goal::Dirty { relation, block } => {
                let block = self.reg(*block)?;
                self.emit(Op::Dirty { relation: relation.0, block });
            }
            Goal::React { reaction, .. } => {
                self.emit(Op::React { reaction: *reaction });
            }
            Goal::Collect { key, values } => {
                let key: Vec<Reg> = key.iter().map(|it| it.0 as Reg).collect();
                let key = self.reg_list(&key);
                let mut regs = Vec::new();
                for value in *values {
                    let expr = self.expr(value)?;
                    let var = self.fresh(Type::Int)?;
                    self.emit(Op::Let { reg: var.0 as Reg, expr });
                    regs.push(var.0 as Reg);
                }
                let values = self.reg_list(&regs);
                self.emit(Op::Collect { key, values });
            }
        }
        Ok(())
    }

    /// Opens the loop with the fewest expected turns and takes out the literals that it settles.
    fn open_loop(&mut self, rest: &mut Vec<Lit<'p>>, goal: &Goal<'_>) -> Result<f64, PlanError> {
        let mut best: Option<(f64, VarId, Vec<usize>, Vec<RowTerm>)> = None;
        for var in self.unbound_vars(rest) {
            if let Some((turns, used, rows)) = self.loop_over(var, rest)
                && best.as_ref().is_none_or(|(known, ..)| turns < *known)
            {
                best = Some((turns, var, used, rows));
            }
        }
        if let Some((turns, at)) = self.cheapest_atom(rest, vector_of(goal))
            && best.as_ref().is_none_or(|(known, ..)| turns < *known)
        {
            let Lit::Atom { atom, store } = rest.remove(at) else { unreachable!("only atoms") };
            match self.layout.stores[usize::from(atom.rel.0)].clone() {
                Store::Dense(dense) if store.is_none() => self.emit_dense_scan(&atom, &dense)?,
                _ => self.emit_scan(&atom, store)?,
            }
            return Ok(turns);
        }
        let Some((turns, var, used, rows)) = best else {
            return Err(PlanError {
                place: format!("rule {}", self.owner),
                what: "no order of evaluation binds all its variables".into(),
            });
        };
        let rows = self.row_list(rows);
        self.emit(Op::Loop { reg: var.0 as Reg, rows });
        self.bind(var);
        remove_all(rest, &used);
        Ok(turns)
    }

    /// Loops over all tuples of a dense relation that agree with what has a value.
    fn emit_dense_scan(&mut self, atom: &Atom, dense: &Dense) -> Result<(), PlanError> {
        let last = atom.args.len() - 1;
        let last_is_ready = self.is_ready(atom.args[last]);
        for (at, &arg) in atom.args.iter().enumerate() {
            let Term::Var(var) = arg else { continue };
            if self.is_bound(var) {
                continue;
            }
            let row = if at == last {
                RowSource::At(self.address(dense, &atom.args[..last])?)
            } else if let (0, Some(support)) = (at, dense.support) {
                RowSource::At(plain(dense.space, support))
            } else {
                RowSource::All(dense.sizes[at] as u16)
            };
            let rows = self.row_list(vec![RowTerm { negated: false, row }]);
            self.emit(Op::Loop { reg: var.0 as Reg, rows });
            self.bind(var);
        }
        if last_is_ready {
            let bit = self.reg(atom.args[last])?;
            let row = self.address(dense, &atom.args[..last])?;
            self.emit(Op::TestBit { row, bit, negated: false });
        }
        Ok(())
    }

    /// The loop over one variable: expected turns, literals settled, rows.
    fn loop_over(
        &mut self,
        var: VarId,
        rest: &[Lit<'p>],
    ) -> Option<(f64, Vec<usize>, Vec<RowTerm>)> {
        let members = size(self.program, self.vars.types[usize::from(var.0)])?;
        let all = members as f64 * 8.0;
        let (mut used, mut rows, mut turns) = (Vec::new(), Vec::new(), all);
        let mut weak: Option<(f64, RowTerm)> = None;
        let mut supports = Vec::new();
        for at in 0..rest.len() {
            if !vars_of(&rest[at]).contains(&var) {
                continue;
            }
            let mut others = rest.to_vec();
            let lit = others.remove(at);
            if let Some(row) = self.row_term(var, &lit, &others) {
                turns =
                    if row.negated { turns * 0.7 } else { turns.min(self.expected_of(var, &lit)) };
                used.push(at);
                rows.push(row);
            } else if let Lit::Atom { atom, store } = &lit
                && !atom.negated
                && let Some(col) = atom.args.iter().position(|it| *it == Term::Var(var))
                && let Some(row) = self.row_of(atom, *store, col, &others, false)
            {
                // A superset settles nothing; the support of a relation is the better kind.
                let support =
                    matches!(self.layout.stores[usize::from(atom.rel.0)], Store::Dense(_));
                let factor = if support { 1.2 } else { 8.0 };
                let term = RowTerm { negated: false, row };
                if support {
                    supports.push(term);
                }
                let expected = self.expected_of(var, &lit).max(1.0) * factor;
                if weak.as_ref().is_none_or(|(known, _)| expected < *known) {
                    weak = Some((expected, term));
                }
            }
        }
        if !rows.iter().any(|it| !it.negated) {
            // Looping over a superset costs its turns and settles nothing positive.
            let (expected, row) = weak
                .unwrap_or((all, RowTerm { negated: false, row: RowSource::All(members as u16) }));
            rows.insert(0, row);
            turns = turns.min(expected);
        } else if !supports.is_empty() {
            // Settles nothing more, but spares turns.
            turns *= 0.6;
            rows.extend(supports);
        }
        Some((turns.max(0.5), used, rows))
    }

    /// The positive atom with the fewest expected tuples among those that can be walked whole.
    /// To walk one that has the head's last column gives the whole row up.
    fn cheapest_atom(&mut self, rest: &[Lit<'p>], vector: Option<VarId>) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for (at, lit) in rest.iter().enumerate() {
            let Lit::Atom { atom, store } = lit else { continue };
            if atom.negated || atom.args.is_empty() {
                continue;
            }
            let total = self.estimates[usize::from(atom.rel.0)];
            let ready = atom.args.iter().filter(|it| self.is_ready(**it)).count() as i32;
            let is_dense = matches!(self.layout.stores[usize::from(atom.rel.0)], Store::Dense(_));
            let turns = if is_dense && store.is_none() {
                let whole = vector.is_some_and(|it| atom.args.contains(&Term::Var(it)));
                total / 6f64.powi(ready) * if whole { 6.0 } else { 1.0 } + 0.3
            } else if self.list_of(atom.rel, *store).is_none() {
                continue;
            } else {
                let total = if store.is_some() { 4.0 } else { total };
                total / 6f64.powi(ready) + 0.6
            };
            if best.is_none_or(|(known, _)| turns < known) {
                best = Some((turns, at));
            }
        }
        best
    }

    fn emit_scan(&mut self, atom: &Atom, store: Option<StoreId>) -> Result<(), PlanError> {
        let Some(list) = self.list_of(atom.rel, store) else {
            unreachable!("checked by the caller")
        };
        let ready: Vec<usize> =
            (0..atom.args.len()).filter(|&it| self.is_ready(atom.args[it])).collect();
        let order = self.list_order(list, &ready, atom.args.len());
        let bound = self.reg_list_of(&ready.iter().map(|&it| atom.args[it]).collect::<Vec<_>>())?;
        let mut free = Vec::new();
        for at in (0..atom.args.len()).filter(|it| !ready.contains(it)) {
            let Term::Var(var) = atom.args[at] else { unreachable!("normalised") };
            self.bind(var);
            free.push(var.0 as Reg);
        }
        let free = self.reg_list(&free);
        self.emit(Op::Scan { store: list, order, bound, free });
        Ok(())
    }

    fn list_of(&mut self, rel: RelId, store: Option<StoreId>) -> Option<StoreId> {
        if store.is_some() {
            return store;
        }
        match self.layout.stores[usize::from(rel.0)] {
            Store::Sparse(id) => Some(id),
            Store::Static => Some(self.layout.static_list(self.program, rel)),
            _ => None,
        }
    }

    fn list_order(&mut self, list: StoreId, ready: &[usize], arity: usize) -> u32 {
        let mut order: Vec<u8> = ready.iter().map(|&it| it as u8).collect();
        order.extend((0..arity).filter(|it| !ready.contains(it)).map(|it| it as u8));
        self.layout.order(list, order)
    }

    // --- estimates ------------------------------------------------------------------------------

    fn expected_row(&self, var: VarId, lits: &[Lit<'p>]) -> f64 {
        lits.iter().map(|it| self.expected_of(var, it)).fold(f64::MAX, f64::min).min(64.0)
    }

    /// Expected members of a literal's row towards the variable.
    fn expected_of(&self, var: VarId, lit: &Lit<'p>) -> f64 {
        let Lit::Atom { atom, .. } = lit else { return f64::MAX };
        if atom.negated {
            return f64::MAX;
        }
        let total = self.estimates[usize::from(atom.rel.0)];
        let columns = &self.program.relation(atom.rel).columns;
        let mut members =
            size(self.program, self.vars.types[usize::from(var.0)]).unwrap_or(64) as f64;
        let mut groups = 1.0;
        for (column, &term) in columns.iter().zip(&atom.args) {
            let size = size(self.program, column.ty).unwrap_or(8) as f64;
            if term == Term::Var(var) {
                continue;
            }
            if !self.is_ready(term) {
                groups *= size.min(3.0); // projected away: several tuples to a member
            } else {
                // Of a large domain not every member is in use.
                groups *= size.min(32.0);
            }
        }
        members = members.min((total / groups).max(total.min(1.0) * 0.3));
        members.max(0.3)
    }

    // --- addresses and pools --------------------------------------------------------------------

    fn is_fun(&mut self, rel: RelId) -> bool {
        match self.layout.stores[usize::from(rel.0)] {
            Store::Key { .. } | Store::Game { .. } => true,
            Store::Static => {
                self.program.relation(rel).functional
                    && self.layout.static_fun(self.program, rel).is_some()
            }
            _ => false,
        }
    }

    fn fun_address(&mut self, atom: &Atom) -> Result<Address, PlanError> {
        match self.layout.stores[usize::from(atom.rel.0)] {
            Store::Key { fun, .. } => Ok(self
                .one_key(Space::Kept, fun, atom.args[0])
                .unwrap_or_else(|| plain(Space::Kept, fun))),
            Store::Game { fun } => Ok(plain(Space::Kept, fun)),
            _ => {
                let Some(dense) = self.layout.static_fun(self.program, atom.rel) else {
                    unreachable!("checked by is_fun")
                };
                self.address(&dense, &atom.args[..atom.args.len() - 1])
            }
        }
    }

    fn one_key(&mut self, space: Space, base: u32, key: Term) -> Option<Address> {
        let dense =
            Dense { space, base, strides: vec![1], sizes: Vec::new(), rows: 0, support: None };
        self.address(&dense, &[key]).ok()
    }

    pub(super) fn address(&self, dense: &Dense, keys: &[Term]) -> Result<Address, PlanError> {
        let mut address = plain(dense.space, dense.base);
        for (&key, &stride) in keys.iter().zip(&dense.strides) {
            match key {
                Term::Const(value) => address.base += value as u32 * stride,
                Term::Var(var) => {
                    let at = usize::from(address.n);
                    if at == address.regs.len() {
                        return Err(PlanError {
                            place: format!("rule {}", self.owner),
                            what: "a relation with more than four variable key columns".into(),
                        });
                    }
                    address.regs[at] = var.0 as Reg;
                    address.strides[at] = stride;
                    address.n += 1;
                }
                Term::Wild => unreachable!("wildcards have no address"),
            }
        }
        Ok(address)
    }

    fn support(&mut self, dense: &Dense, keys: &[Term]) -> Result<Option<Support>, PlanError> {
        let (Some(base), Some(&first)) = (dense.support, keys.first()) else { return Ok(None) };
        Ok(Some(Support { space: dense.space, base, first: self.reg(first)? }))
    }

    pub(super) fn reg(&mut self, term: Term) -> Result<Reg, PlanError> {
        match term {
            Term::Var(var) => Ok(var.0 as Reg),
            Term::Const(value) => self.constant(value),
            Term::Wild => unreachable!("wildcards have no register"),
        }
    }

    fn reg_list_of(&mut self, terms: &[Term]) -> Result<RegList, PlanError> {
        let regs: Result<Vec<Reg>, PlanError> = terms.iter().map(|&it| self.reg(it)).collect();
        Ok(self.reg_list(&regs?))
    }

    pub(super) fn reg_list(&mut self, regs: &[Reg]) -> RegList {
        let start = self.code.regs.len() as u32;
        self.code.regs.extend_from_slice(regs);
        RegList { start, len: regs.len() as u32 }
    }

    /// Puts rows into the pool, a positive one first.
    fn row_list(&mut self, mut rows: Vec<RowTerm>) -> Rows {
        rows.sort_by_key(|it| (it.negated, matches!(it.row, RowSource::All(_))));
        let start = self.code.rows.len() as u32;
        let len = rows.len() as u32;
        self.code.rows.extend(rows.into_iter().map(shorten));
        Rows { start, len }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Result<ExprId, PlanError> {
        let node = match expr {
            Expr::Var(var) => ExprNode::Reg(var.0 as Reg),
            Expr::Const(value) => ExprNode::Reg(self.constant(*value)?),
            Expr::Binary(op, lhs, rhs) => {
                let lhs = self.expr(lhs)?;
                let rhs = self.expr(rhs)?;
                ExprNode::Binary(*op, lhs, rhs)
            }
        };
        self.code.exprs.push(node);
        Ok(ExprId((self.code.exprs.len() - 1) as u32))
    }

    fn unbound_of(&self, compare: &Compare) -> Vec<VarId> {
        let mut vars = BTreeSet::new();
        expr_vars(&compare.lhs, &mut vars);
        expr_vars(&compare.rhs, &mut vars);
        vars.into_iter().filter(|it| !self.is_bound(*it)).collect()
    }

    /// Unbound variables of positive atoms, in text order.
    fn unbound_vars(&self, rest: &[Lit<'p>]) -> Vec<VarId> {
        let mut vars = Vec::new();
        for lit in rest {
            if let Lit::Atom { atom, .. } = lit
                && !atom.negated
            {
                for &term in &atom.args {
                    if let Term::Var(var) = term
                        && !self.is_bound(var)
                        && !vars.contains(&var)
                    {
                        vars.push(var);
                    }
                }
            }
        }
        vars
    }
}

/// A literal of the program as the planner takes it.
pub(super) fn lit(literal: &Literal) -> Lit<'_> {
    match literal {
        Literal::Atom(atom) => Lit::Atom { atom: atom.clone(), store: None },
        Literal::Compare(compare) => Lit::Compare(compare),
        Literal::Aggregate(aggregate) => Lit::Aggregate(aggregate),
    }
}

fn plain(space: Space, base: u32) -> Address {
    Address { space, n: 0, regs: [0; 4], base, strides: [0; 4] }
}

/// Gives an address with one key and stride 1 its short form.
fn shorten(term: RowTerm) -> RowTerm {
    match term.row {
        RowSource::At(address) if address.n == 1 && address.strides[0] == 1 => {
            let Address { space, base, regs, .. } = address;
            RowTerm { row: RowSource::Next { space, base, key: regs[0] }, ..term }
        }
        _ => term,
    }
}

/// Whether a row changes with the register.
pub(super) fn depends_on(term: &RowTerm, reg: Reg) -> bool {
    match term.row {
        RowSource::Next { key, .. } | RowSource::Only(key) => key == reg,
        RowSource::At(address) => address.regs[..usize::from(address.n)].contains(&reg),
        RowSource::All(_) => false,
    }
}

fn remove_all(rest: &mut Vec<Lit<'_>>, used: &[usize]) {
    let mut at = 0;
    rest.retain(|_| {
        at += 1;
        !used.contains(&(at - 1))
    });
}

/// The variable that the goal could take as a whole row.
fn vector_of(goal: &Goal<'_>) -> Option<VarId> {
    match goal {
        Goal::Rows { args, .. } => match args.split_last() {
            Some((Term::Var(var), keys)) if !keys.contains(&Term::Var(*var)) => Some(*var),
            _ => None,
        },
        _ => None,
    }
}

fn wanted(goal: &Goal<'_>) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    match goal {
        Goal::Rows { args, .. } | Goal::Tuple { args, .. } | Goal::Suspect { args, .. } => {
            vars.extend(
                args.iter()
                    .filter_map(|it| if let Term::Var(var) = it { Some(*var) } else { None }),
            );
        }
        Goal::Found => {}
        Goal::Dirty { block, .. } => {
            if let Term::Var(var) = block {
                vars.insert(*var);
            }
        }
        Goal::React { needs, .. } => vars.extend(needs.iter().copied()),
        Goal::Collect { key, values } => {
            vars.extend(key.iter().copied());
            for value in *values {
                expr_vars(value, &mut vars);
            }
        }
    }
    vars
}

/// The side of `var = side` that gives the variable its value.
fn bound_side(compare: &Compare, var: VarId) -> Option<&Expr> {
    if compare.op != Comparison::Eq {
        return None;
    }
    match (&compare.lhs, &compare.rhs) {
        (Expr::Var(it), side) | (side, Expr::Var(it)) if *it == var => {
            let mut vars = BTreeSet::new();
            expr_vars(side, &mut vars);
            (!vars.contains(&var)).then_some(side)
        }
        _ => None,
    }
}

pub(super) fn expr_vars(expr: &Expr, vars: &mut BTreeSet<VarId>) {
    match expr {
        Expr::Var(var) => {
            vars.insert(*var);
        }
        Expr::Const(_) => {}
        Expr::Binary(_, lhs, rhs) => {
            expr_vars(lhs, vars);
            expr_vars(rhs, vars);
        }
    }
}

/// The named variables of a literal, those of an aggregate that are not its own included.
fn vars_of(lit: &Lit<'_>) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    match lit {
        Lit::Same(a, b) => vars.extend([*a, *b]),
        Lit::Atom { atom, .. } => atom_vars(atom, &mut vars),
        Lit::Compare(compare) => {
            expr_vars(&compare.lhs, &mut vars);
            expr_vars(&compare.rhs, &mut vars);
        }
        Lit::Aggregate(aggregate) => {
            vars = outer_vars(aggregate);
            for term in &aggregate.results {
                if let Term::Var(var) = term {
                    vars.insert(*var);
                }
            }
        }
    }
    vars
}

fn atom_vars(atom: &Atom, vars: &mut BTreeSet<VarId>) {
    for term in &atom.args {
        if let Term::Var(var) = term {
            vars.insert(*var);
        }
    }
}

/// The variables that group an aggregate: those of its body that are not local.
pub(super) fn outer_vars(aggregate: &Aggregate) -> BTreeSet<VarId> {
    let mut vars = BTreeSet::new();
    for literal in &aggregate.body {
        vars.extend(vars_of(&lit(literal)));
    }
    for expr in &aggregate.exprs {
        expr_vars(expr, &mut vars);
    }
    vars.retain(|it| !aggregate.locals.contains(it));
    vars
}
