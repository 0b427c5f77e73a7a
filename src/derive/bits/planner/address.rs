//! Addresses of rows and values, and the pools that instructions refer to.

use smallvec::SmallVec;

use crate::rules::{Atom, Compare, Expr, RelId, Term, VarId, term_vars};

use super::super::code::{
    Address, ExprId, ExprNode, Reg, RegList, RowSource, RowTerm, Rows, Space, Support,
};
use super::super::error::PlanError;
use super::super::layout::{Dense, Store};
use super::super::word::Word;
use super::{Lit, Planner};

impl<'p, W: Word> Planner<'p, W> {
    /// Whether a relation is stored as a function: the value is its last column, and the keys are the others. The table of
    /// a static function is made by this.
    pub(in super::super) fn is_function(&mut self, rel: RelId) -> bool {
        match self.layout.stores[usize::from(rel.0)] {
            Store::Key { .. } | Store::Game { .. } => true,
            Store::Static => {
                self.program.relation(rel).functional
                    && self.layout.static_fun(self.program, rel).is_some()
            }
            _ => false,
        }
    }

    /// The address of the value of a function for the keys in an atom.
    pub(super) fn function_address(&mut self, atom: &Atom) -> Address {
        match self.layout.stores[usize::from(atom.rel.0)] {
            Store::Key { fun, .. } => one_key(Space::Maintained, fun, atom.args[0]),
            Store::Game { fun } => Address::keyless(Space::Maintained, fun),
            _ => {
                let Some(dense) = self.layout.static_fun(self.program, atom.rel) else {
                    unreachable!("checked by is_function and is_fetch")
                };
                dense.address(&atom.args[..atom.args.len() - 1])
            }
        }
    }

    /// The support of rows with these keys, for emitting one of them.
    pub(in super::super) fn support(
        &mut self,
        dense: &Dense,
        keys: &[Term],
    ) -> Result<Option<Support>, PlanError> {
        let (Some(base), Some(&first)) = (dense.support, keys.first()) else { return Ok(None) };
        Ok(Some(Support { space: dense.space, base, first: self.reg(first)? }))
    }

    /// The register that has the value of a term.
    pub(in super::super) fn reg(&mut self, term: Term) -> Result<Reg, PlanError> {
        match term {
            Term::Var(var) => Ok(var.0 as Reg),
            Term::Const(value) => self.constant(value),
            Term::Wild => unreachable!("wildcards have no register"),
        }
    }

    pub(super) fn reg_list_of(&mut self, terms: &[Term]) -> Result<RegList, PlanError> {
        let regs: Result<Vec<Reg>, PlanError> = terms.iter().map(|&it| self.reg(it)).collect();
        Ok(self.reg_list(&regs?))
    }

    pub(super) fn reg_list(&mut self, regs: &[Reg]) -> RegList {
        let start = self.code.regs.len() as u32;
        self.code.regs.extend_from_slice(regs);
        RegList { start, len: regs.len() as u32 }
    }

    /// Puts rows into the pool: positive ones first, and of these whole domains last.
    pub(in super::super) fn row_list(&mut self, mut rows: Vec<RowTerm>) -> Rows {
        rows.sort_by_key(|it| (it.negated, matches!(it.row, RowSource::All(_))));
        let start = self.code.rows.len() as u32;
        let len = rows.len() as u32;
        self.code.rows.extend(rows);
        Rows { start, len }
    }

    /// Puts an expression into the pool.
    pub(in super::super) fn expr(&mut self, expr: &Expr) -> Result<ExprId, PlanError> {
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

    /// The variables of a comparison that are not bound, in ascending order.
    pub(super) fn unbound_of(&self, compare: &Compare) -> SmallVec<[VarId; 4]> {
        let mut vars = SmallVec::new();
        compare.collect_vars(&mut vars);
        vars.retain(|it| !self.is_bound(*it));
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Unbound variables of positive atoms, in the order of the literals.
    pub(super) fn unbound_vars(&self, rest: &[Lit<'_>]) -> Vec<VarId> {
        let mut vars = Vec::new();
        for lit in rest {
            let Lit::Atom { atom: Atom { negated: false, args, .. }, .. } = lit else { continue };
            for var in term_vars(args) {
                if !self.is_bound(var) && !vars.contains(&var) {
                    vars.push(var);
                }
            }
        }
        vars
    }
}

impl Dense {
    /// The address of the row with these keys.
    pub(in super::super) fn address(&self, keys: &[Term]) -> Address {
        let mut address = Address::keyless(self.space, self.base);
        for (&key, &stride) in keys.iter().zip(&self.strides) {
            match key {
                Term::Const(value) => address.base += value as u32 * stride,
                Term::Var(var) => {
                    let at = usize::from(address.n);
                    address.regs[at] = var.0 as Reg;
                    address.strides[at] = stride;
                    address.n += 1;
                }
                Term::Wild => unreachable!("wildcards have no address"),
            }
        }
        address
    }
}

/// The address of a row or a value by one key, in a table that has one for each value of the key.
pub(super) fn one_key(space: Space, base: u32, key: Term) -> Address {
    let keyless = Address::keyless(space, base);
    match key {
        Term::Const(value) => Address { base: base + value as u32, ..keyless },
        Term::Var(var) => {
            Address { n: 1, regs: [var.0 as Reg, 0, 0, 0], strides: [1, 0, 0, 0], ..keyless }
        }
        Term::Wild => unreachable!("wildcards have no address"),
    }
}
