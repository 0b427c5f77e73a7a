//! Literals as rows towards one variable, with everything else bound.
//!
//! The row of a literal towards a variable has the values of the variable for which the literal holds. So the
//! AND of such rows has the values for which all the literals hold.

use smallvec::SmallVec;

use crate::rules::{Atom, Expr, Op as Comparison, Term, VarId};

use super::super::code::{Address, LoopEmit, Op, Reg, RowSource, RowTerm, Space, StoreId};
use super::super::error::PlanError;
use super::super::layout::Store;
use super::super::word::Word;
use super::address::one_key;
use super::{Goal, Lit, Others, Planner, depends_on, mentions};

impl<'p, W: Word> Planner<'p, W> {
    /// The literals at these places of the body as rows towards one variable, if each is such a row, and not
    /// all of them are negated.
    pub(super) fn rows_towards(
        &mut self,
        var: VarId,
        body: &[Lit<'_>],
        used: &[usize],
    ) -> Option<Vec<RowTerm>> {
        let mut rows = Vec::new();
        for &at in used {
            rows.push(self.row_term(var, &body[at], Others::but(body, at))?);
        }
        rows.iter().any(|it| !it.negated).then_some(rows)
    }

    /// A literal as a row towards the variable, with everything else in it bound or private to it.
    pub(super) fn row_term(
        &mut self,
        var: VarId,
        lit: &Lit<'_>,
        others: Others<'_, '_>,
    ) -> Option<RowTerm> {
        match lit {
            Lit::Atom { atom, store } => {
                let col = atom.args.iter().position(|it| *it == Term::Var(var))?;
                let row = self.row_of(atom, *store, col, Some(others))?;
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

    /// The row of an atom towards one of its columns. With the `others` of the body, the atom's other columns must be
    /// bound or private to it; without, they may be anything, and the row is a superset.
    pub(super) fn row_of(
        &mut self,
        atom: &Atom,
        store: Option<StoreId>,
        col: usize,
        others: Option<Others<'_, '_>>,
    ) -> Option<RowSource> {
        if store.is_some() || self.is_ready(atom.args[col]) {
            return None;
        }
        let mut ready: SmallVec<[usize; 8]> = SmallVec::new();
        for at in (0..atom.args.len()).filter(|&it| it != col) {
            if self.is_ready(atom.args[at]) {
                ready.push(at);
            } else if others.is_some_and(|it| !self.is_private(atom.args[at], it)) {
                return None;
            }
        }
        let last = atom.args.len() - 1;
        match self.layout.stores[usize::from(atom.rel.0)].clone() {
            Store::Static => {
                let mask = ready.iter().fold(0, |all, it| all | 1 << it);
                let dense = self.layout.static_rows(self.program, atom.rel, col, mask)?;
                let keys: SmallVec<[Term; 8]> = ready.iter().map(|&it| atom.args[it]).collect();
                Some(RowSource::At(dense.address(&keys)))
            }
            Store::Dense(dense) => {
                if col == last && ready.len() == last {
                    return Some(RowSource::At(dense.address(&atom.args[..last])));
                }
                if col == 0 && ready.is_empty() {
                    let base = dense.support?;
                    return Some(RowSource::At(Address::keyless(dense.space, base)));
                }
                let usable = dense.space == Space::Maintained && self.may_index && col == 0;
                if usable && ready.contains(&last) && (others.is_none() || ready.len() == 1) {
                    let base = self.layout.index(self.program, atom.rel)?;
                    return Some(RowSource::At(one_key(Space::Maintained, base, atom.args[last])));
                }
                None
            }
            Store::Key { present, inverse, .. } if col == 0 => {
                if ready.is_empty() {
                    return Some(RowSource::At(Address::keyless(Space::Maintained, present)));
                }
                Some(RowSource::At(one_key(Space::Maintained, inverse?, atom.args[1])))
            }
            _ => None,
        }
    }

    /// Looks for an unbound variable that the goal does not need, with only literals that are rows towards it. Returns
    /// the places of these literals, and the rows: the literals hold if the AND of the rows is not empty.
    pub(super) fn existential(&mut self, rest: &[Lit<'_>]) -> Option<(Vec<usize>, Vec<RowTerm>)> {
        for var in self.unbound_vars(rest) {
            if self.wanted.contains(&var) {
                continue;
            }
            let used: Vec<usize> = (0..rest.len()).filter(|&it| mentions(&rest[it], var)).collect();
            if let Some(rows) = self.rows_towards(var, rest, &used) {
                return Some((used, rows));
            }
        }
        None
    }

    /// Ends the plan with an AND into the head's row, if all remaining literals are rows towards the head's
    /// last column.
    pub(super) fn finish_as_row(
        &mut self,
        rest: &[Lit<'_>],
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
        let row = dense.address(keys);
        let support = self.support(dense, keys)?;
        self.emit(Op::EmitRow { row, support, rows });
        self.fuse();
        Ok(Some(expected))
    }

    /// Fuses a loop and the `EmitRow` after it into one instruction.
    fn fuse(&mut self) {
        let at = self.code.ops.len();
        let [.., Op::Loop { reg, rows }, Op::EmitRow { row, support, rows: emitted }] =
            self.code.ops[..at]
        else {
            return;
        };
        let (head, stride) = row.apart(reg);
        let (moving, fixed): (Vec<RowTerm>, Vec<RowTerm>) =
            self.code.rows[emitted.range()].iter().partition(|it| depends_on(it, reg));
        let fixed = self.row_list(fixed);
        let moving = self.row_list(moving);
        self.code.ops.truncate(at - 2);
        self.code.owner.truncate(at - 2);
        let fused = LoopEmit { reg, rows, row: head, stride, support, fixed, moving };
        self.emit(Op::LoopEmit(fused));
    }
}
