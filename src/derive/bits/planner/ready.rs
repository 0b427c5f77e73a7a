//! Literals that open no loop: tests, values of functions, aggregates.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use crate::rules::{Aggregate, Atom, Compare, Expr, Fold, Op as Comparison, Term, Type, VarId};

use super::super::code::{ExprNode, Op, Reg, RowTerm, StoreId};
use super::super::error::PlanError;
use super::super::layout::Store;
use super::super::word::Word;
use super::weights::chance;
use super::{Goal, Lit, Others, Planner, Rank, lit, mentions};

impl<'p, W: Word> Planner<'p, W> {
    /// The place of the literal to emit next; `None` if none is ready. `row_var` is the variable that the head could take
    /// as a row.
    pub(super) fn next_ready(&mut self, rest: &[Lit<'_>], row_var: Option<VarId>) -> Option<usize> {
        // The variable of the head's last column is not fetched if all literals about it can be read as rows.
        let row_var = row_var.filter(|_| !self.fetches_last).filter(|&var| {
            let used: Vec<usize> = (0..rest.len()).filter(|&it| mentions(&rest[it], var)).collect();
            self.rows_towards(var, rest, &used).is_some()
        });
        let mut best = None;
        for (at, lit) in rest.iter().enumerate() {
            if let Some(rank) = self.readiness(lit, Others::but(rest, at))
                && !(rank == Rank::Fetch && row_var.is_some_and(|it| mentions(lit, it)))
                && best.is_none_or(|(known, _)| rank < known)
            {
                best = Some((rank, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// The rank of a literal that can be evaluated now; `None` if it cannot.
    pub(super) fn readiness(&mut self, lit: &Lit<'_>, others: Others<'_, '_>) -> Option<Rank> {
        match lit {
            Lit::Same(a, b) => (self.is_bound(*a) || self.is_bound(*b)).then_some(Rank::Comparison),
            Lit::Compare(compare) => match self.unbound_of(compare).as_slice() {
                [] => Some(Rank::Comparison),
                [var] if compare.side_for(*var).is_some() => Some(Rank::Comparison),
                _ => None,
            },
            Lit::Aggregate(aggregate) => {
                let is_ready = aggregate.shared_vars().iter().all(|it| self.is_bound(*it));
                is_ready.then_some(Rank::Aggregate)
            }
            Lit::Atom { atom, store } => {
                let open = self.open_columns(atom);
                let Some(&first) = open.first() else { return Some(Rank::Test) };
                let private = open.iter().all(|&it| self.is_private(atom.args[it], others));
                if atom.negated {
                    private.then_some(Rank::Existence)
                } else if private && self.row_of(atom, *store, first, Some(others)).is_some() {
                    Some(Rank::Existence)
                } else {
                    self.is_fetch(atom, *store, &open).then_some(Rank::Fetch)
                }
            }
        }
    }

    /// The columns of an atom without a value yet.
    fn open_columns(&self, atom: &Atom) -> SmallVec<[usize; 8]> {
        (0..atom.args.len()).filter(|&it| !self.is_ready(atom.args[it])).collect()
    }

    /// Whether an atom gives the value of a function, with only the value's column open.
    fn is_fetch(&mut self, atom: &Atom, store: Option<StoreId>, open: &[usize]) -> bool {
        store.is_none()
            && open.len() == 1
            && open[0] + 1 == atom.args.len()
            && self.is_function(atom.rel)
    }

    /// Emits a literal that [`Self::readiness`] accepted. Returns by how much it is expected to multiply the solutions.
    pub(super) fn emit_ready(
        &mut self,
        lit: &Lit<'_>,
        others: Others<'_, '_>,
    ) -> Result<f64, PlanError> {
        match lit {
            Lit::Same(a, b) => {
                if self.is_bound(*a) && self.is_bound(*b) {
                    let (lhs, rhs) = (a.0 as Reg, b.0 as Reg);
                    self.emit(Op::Compare { op: Comparison::Eq, lhs, rhs });
                    return Ok(chance::REPEATED);
                }
                let (from, to) = if self.is_bound(*a) { (a, b) } else { (b, a) };
                let expr = self.expr(&Expr::Var(*from))?;
                self.emit(Op::Let { reg: to.0 as Reg, expr });
                self.bind(*to);
                Ok(1.0)
            }
            Lit::Compare(compare) => self.emit_compare(compare),
            Lit::Aggregate(aggregate) => self.emit_aggregate(aggregate),
            Lit::Atom { atom, store } => self.emit_atom(atom, *store, others),
        }
    }

    fn emit_compare(&mut self, compare: &Compare) -> Result<f64, PlanError> {
        if let [var] = self.unbound_of(compare).as_slice()
            && let Some(side) = compare.side_for(*var)
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
        Ok(if compare.op == Comparison::Ne { chance::NOT_EQUAL } else { chance::COMPARED })
    }

    fn emit_atom(
        &mut self,
        atom: &Atom,
        store: Option<StoreId>,
        others: Others<'_, '_>,
    ) -> Result<f64, PlanError> {
        let negated = atom.negated;
        let open = self.open_columns(atom);
        let is_fetch = self.is_fetch(atom, store, &open);
        if !negated && is_fetch && !self.is_private(atom.args[open[0]], others) {
            let fun = self.function_address(atom);
            let Term::Var(var) = atom.args[open[0]] else {
                unreachable!("only variables are open")
            };
            self.emit(Op::Fetch { reg: var.0 as Reg, fun });
            self.bind(var);
            return Ok(1.0);
        }
        let chance = if negated { chance::NEGATED } else { chance::ATOM };
        if open.is_empty() && store.is_none() && self.emit_tuple_test(atom)? {
            return Ok(chance);
        }
        if is_fetch {
            let fun = self.function_address(atom);
            self.emit(Op::TestHas { fun, negated });
        } else if let Some(&first) = open.first()
            && let Some(row) = self.row_of(atom, store, first, Some(others))
        {
            let rows = self.row_list(vec![RowTerm { negated: false, row }]);
            self.emit(Op::TestAny { rows, negated });
        } else if let Some(list) = self.list_of(atom.rel, store) {
            let (order, bound) = self.prefix_of(atom, list)?;
            self.emit(Op::TestScan { store: list, order, bound, negated });
        } else {
            // A projection without a table: search for one solution.
            let at = self.emit(Op::TestSub { end: 0, negated });
            let positive = Lit::Atom { atom: Atom { negated: false, ..atom.clone() }, store };
            let end = self.plan_within(vec![positive], &Goal::Found)?;
            self.code.ops[at] = Op::TestSub { end, negated };
        }
        Ok(chance)
    }

    /// Emits the test of an atom whose columns all have values. Returns false, and emits nothing, if its relation has
    /// neither a table of bits nor one of values.
    fn emit_tuple_test(&mut self, atom: &Atom) -> Result<bool, PlanError> {
        let negated = atom.negated;
        let Some((&value, keys)) = atom.args.split_last() else {
            self.emit_proposition(atom)?;
            return Ok(true);
        };
        if self.is_function(atom.rel) {
            let fun = self.function_address(atom);
            let value = self.reg(value)?;
            self.emit(Op::TestFun { fun, value, negated });
            return Ok(true);
        }
        let bit = self.reg(value)?;
        let dense = match &self.layout.stores[usize::from(atom.rel.0)] {
            Store::Dense(dense) => Some(dense.clone()),
            Store::Static => {
                let mask = (1 << keys.len()) - 1;
                self.layout.static_rows(self.program, atom.rel, keys.len(), mask)
            }
            _ => None,
        };
        let Some(dense) = dense else { return Ok(false) };
        let row = dense.address(keys);
        self.emit(Op::TestBit { row, bit, negated });
        Ok(true)
    }

    /// Emits the test of an atom without arguments.
    fn emit_proposition(&mut self, atom: &Atom) -> Result<(), PlanError> {
        let negated = atom.negated;
        if let Store::Dense(dense) = self.layout.stores[usize::from(atom.rel.0)].clone() {
            let row = dense.address(&[]);
            let bit = self.constant(0)?;
            self.emit(Op::TestBit { row, bit, negated });
        } else {
            // Known at load: a literal that holds needs no instruction, another one needs a test that always fails.
            let holds = self.layout.known_len(atom.rel) > 0;
            if holds == negated {
                let (lhs, rhs) = (self.constant(0)?, self.constant(1)?);
                self.emit(Op::Compare { op: Comparison::Eq, lhs, rhs });
            }
        }
        Ok(())
    }

    fn emit_aggregate(&mut self, aggregate: &Aggregate) -> Result<f64, PlanError> {
        let (results, tests) = self.receive(aggregate.results.iter().map(|&it| (it, Type::Int)))?;
        // The results count as bound, but get their values after the body, which does not mention them.
        let body: Vec<Lit<'_>> = aggregate.body.iter().map(lit).collect();
        if !self.emit_count(aggregate, &body, &results)? {
            let results = self.reg_list(&results);
            let at = self.emit(Op::Fold { fold: aggregate.fold, end: 0, results });
            let goal = Goal::Collect { key: aggregate.locals.clone(), values: &aggregate.exprs };
            let end = self.plan_within(body, &goal)?;
            self.code.ops[at] = Op::Fold { fold: aggregate.fold, end, results };
        }
        self.emit_equal(&tests);
        Ok(if tests.is_empty() { 1.0 } else { chance::AGGREGATE })
    }

    /// Assigns a register to the incoming value of each term: for an unbound variable its own, which binds it, else a new
    /// one. Returns the registers, and the pairs of them that must have the same value.
    pub(in super::super) fn receive(
        &mut self,
        terms: impl IntoIterator<Item = (Term, Type)>,
    ) -> Result<(Vec<Reg>, Vec<[Reg; 2]>), PlanError> {
        let (mut regs, mut same) = (Vec::new(), Vec::new());
        for (term, ty) in terms {
            let unbound = term.var().filter(|it| !self.is_bound(*it));
            let var = match unbound {
                Some(var) => var,
                None => self.fresh(ty)?,
            };
            self.bind(var);
            regs.push(var.0 as Reg);
            if unbound.is_none() && term != Term::Wild {
                same.push([var.0 as Reg, self.reg(term)?]);
            }
        }
        Ok((regs, same))
    }

    pub(in super::super) fn emit_equal(&mut self, same: &[[Reg; 2]]) {
        for &[lhs, rhs] in same {
            self.emit(Op::Compare { op: Comparison::Eq, lhs, rhs });
        }
    }

    /// Emits a count as one AND, if the body is rows towards its only local variable. Returns whether it is.
    fn emit_count(
        &mut self,
        aggregate: &Aggregate,
        body: &[Lit<'_>],
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
}
