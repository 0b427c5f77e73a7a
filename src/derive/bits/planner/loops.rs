//! Chooses loops by the estimated number of iterations.

use crate::rules::{Atom, RelId, Term, VarId};

use super::super::code::{Address, Op, Reg, RegList, RowSource, RowTerm, StoreId};
use super::super::error::PlanError;
use super::super::layout::{Dense, Store, size};
use super::super::word::Word;
use super::weights::{self, UNBOUNDED, chance};
use super::{Goal, Lit, Others, Planner, Rank, mentions, owner_place, remove_all, row_var};

/// A loop over one variable that a plan could open next.
struct VarLoop {
    var: VarId,
    /// Expected number of iterations.
    iterations: f64,
    /// The places of the literals that hold for all members of the rows' AND.
    covered: Vec<usize>,
    rows: Vec<RowTerm>,
}

impl<'p, W: Word> Planner<'p, W> {
    /// Opens a loop and removes the literals that it covers: over the first variable of `.plan` that is not
    /// bound, or else the loop with the fewest expected iterations.
    pub(super) fn open_loop(
        &mut self,
        rest: &mut Vec<Lit<'_>>,
        goal: &Goal<'_>,
    ) -> Result<f64, PlanError> {
        let unbound = self.unbound_vars(rest);
        let preferred = self.order.iter().copied().find(|it| unbound.contains(it));
        if let Some(preferred) = preferred.and_then(|it| self.loop_over(it, rest)) {
            return Ok(self.open(preferred, rest));
        }
        let mut best: Option<VarLoop> = None;
        for var in unbound {
            if let Some(found) = self.loop_over(var, rest)
                && best.as_ref().is_none_or(|it| found.iterations < it.iterations)
            {
                best = Some(found);
            }
        }
        if let Some((iterations, at)) = self.cheapest_atom(rest, row_var(goal))
            && best.as_ref().is_none_or(|it| iterations < it.iterations)
        {
            let Lit::Atom { atom, store } = &rest[at] else { unreachable!("only atoms") };
            match self.layout.stores[usize::from(atom.rel.0)].clone() {
                Store::Dense(dense) if store.is_none() => {
                    self.emit_loops_over_keys(atom, &dense);
                    if let Some(var) = self.ends_in_rows(rest, atom, row_var(goal)) {
                        return Ok(iterations / self.expected_of(var, &rest[at]));
                    }
                    self.emit_last_column(atom, &dense)?;
                }
                _ => self.emit_scan(atom, *store)?,
            }
            rest.remove(at);
            return Ok(iterations);
        }
        match best {
            Some(best) => Ok(self.open(best, rest)),
            None => Err(PlanError::Stuck { place: owner_place(self.program, self.owner) }),
        }
    }

    /// Opens the loop and removes the literals that it covers. Returns the expected number of its iterations.
    fn open(&mut self, opened: VarLoop, rest: &mut Vec<Lit<'_>>) -> f64 {
        self.emit_loop(opened.var, opened.rows);
        remove_all(rest, &opened.covered);
        opened.iterations
    }

    /// Loops over the rows of a dense relation that agree with the bound variables.
    fn emit_loops_over_keys(&mut self, atom: &Atom, dense: &Dense) {
        for (at, arg) in atom.args[..atom.args.len() - 1].iter().enumerate() {
            let Some(var) = arg.var().filter(|it| !self.is_bound(*it)) else { continue };
            let row = match (at, dense.support) {
                (0, Some(support)) => RowSource::At(Address::keyless(dense.space, support)),
                _ => RowSource::All(dense.sizes[at] as u16),
            };
            self.emit_loop(var, vec![RowTerm { negated: false, row }]);
        }
    }

    /// Loops over the members of a row of a dense relation, or tests the one that is bound.
    fn emit_last_column(&mut self, atom: &Atom, dense: &Dense) -> Result<(), PlanError> {
        let (last, keys) = (atom.args[atom.args.len() - 1], &atom.args[..atom.args.len() - 1]);
        let row = dense.address(keys);
        match last.var().filter(|it| !self.is_bound(*it)) {
            Some(var) => {
                let row = RowSource::At(row);
                self.emit_loop(var, vec![RowTerm { negated: false, row }]);
            }
            None => {
                let bit = self.reg(last)?;
                self.emit(Op::TestBit { row, bit, negated: false });
            }
        }
        Ok(())
    }

    /// The variable `row_var` of the head's row, if the rest of the plan consists of tests and of one AND of rows towards
    /// it, the atom's row among them.
    fn ends_in_rows(
        &mut self,
        rest: &[Lit<'_>],
        atom: &Atom,
        row_var: Option<VarId>,
    ) -> Option<VarId> {
        let last = atom.args[atom.args.len() - 1];
        let var = row_var.filter(|it| Term::Var(*it) == last && !self.is_bound(*it))?;
        let (rows, tests): (Vec<usize>, Vec<usize>) =
            (0..rest.len()).partition(|&it| mentions(&rest[it], var));
        let ends = self.rows_towards(var, rest, &rows).is_some()
            && tests.into_iter().all(|it| {
                self.readiness(&rest[it], Others::but(rest, it)).is_some_and(|it| it < Rank::Fetch)
            });
        ends.then_some(var)
    }

    /// The loop over one variable; `None` if its domain is not finite.
    fn loop_over(&mut self, var: VarId, rest: &[Lit<'_>]) -> Option<VarLoop> {
        let members = size(self.program, self.vars.types[usize::from(var.0)])?;
        let all = members as f64 * weights::WHOLE_DOMAIN;
        let (mut covered, mut rows, mut iterations) = (Vec::new(), Vec::new(), all);
        let mut superset: Option<(f64, RowTerm)> = None;
        let mut narrowing = Vec::new();
        for (at, lit) in rest.iter().enumerate().filter(|(_, it)| mentions(it, var)) {
            let others = Others::but(rest, at);
            if let Some(row) = self.row_term(var, lit, others) {
                iterations = if row.negated {
                    iterations * chance::NEGATED
                } else {
                    iterations.min(self.expected_of(var, lit))
                };
                covered.push(at);
                rows.push(row);
            } else if let Lit::Atom { atom, store } = lit
                && !atom.negated
                && let Some(col) = atom.args.iter().position(|it| *it == Term::Var(var))
                && let Some(row) = self.row_of(atom, *store, col, None)
            {
                // A superset covers no literal. Those of dense relations (the support, or a row of the
                // index) are the better ones.
                let is_dense =
                    matches!(self.layout.stores[usize::from(atom.rel.0)], Store::Dense(_));
                let factor = if is_dense { weights::DENSE_SUPERSET } else { weights::SUPERSET };
                let term = RowTerm { negated: false, row };
                if is_dense {
                    narrowing.push(term);
                }
                let expected = self.expected_of(var, lit).max(1.0) * factor;
                if superset.as_ref().is_none_or(|(known, _)| expected < *known) {
                    superset = Some((expected, term));
                }
            }
        }
        if !rows.iter().any(|it| !it.negated) {
            // Looping over a superset costs its iterations and covers no positive literal.
            let (expected, row) = superset
                .unwrap_or((all, RowTerm { negated: false, row: RowSource::All(members as u16) }));
            rows.insert(0, row);
            iterations = iterations.min(expected);
        } else if !narrowing.is_empty() {
            // These rows cover nothing more, but save iterations.
            iterations *= weights::NARROWED;
            rows.extend(narrowing);
        }
        let iterations = iterations.max(weights::LEAST_LOOP);
        Some(VarLoop { var, iterations, covered, rows })
    }

    /// The positive atom that is cheapest to scan tuple by tuple, if any can be: its expected iterations and its
    /// place. A dense one that has the variable `row_var` costs more: the head then cannot be computed as a row.
    fn cheapest_atom(&mut self, rest: &[Lit<'_>], row_var: Option<VarId>) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for (at, lit) in rest.iter().enumerate() {
            let Lit::Atom { atom, store } = lit else { continue };
            if atom.negated || atom.args.is_empty() {
                continue;
            }
            let total = self.estimates[usize::from(atom.rel.0)];
            let ready = atom.args.iter().filter(|it| self.is_ready(**it)).count() as i32;
            let is_dense = matches!(self.layout.stores[usize::from(atom.rel.0)], Store::Dense(_));
            let iterations = if is_dense && store.is_none() {
                let binds_row_var = row_var.is_some_and(|it| atom.args.contains(&Term::Var(it)));
                let row = if binds_row_var { weights::GIVEN_UP_ROW } else { 1.0 };
                total / weights::BY_COLUMN.powi(ready) * row + weights::ENTER_ROWS
            } else if self.list_of(atom.rel, *store).is_none() {
                continue;
            } else {
                let total = if store.is_some() { weights::FILLED_LIST } else { total };
                total / weights::BY_COLUMN.powi(ready) + weights::ENTER_LIST
            };
            if best.is_none_or(|(known, _)| iterations < known) {
                best = Some((iterations, at));
            }
        }
        best
    }

    /// Scans a list for the tuples that agree with the bound variables.
    fn emit_scan(&mut self, atom: &Atom, store: Option<StoreId>) -> Result<(), PlanError> {
        let Some(list) = self.list_of(atom.rel, store) else {
            unreachable!("checked by the caller")
        };
        let (order, bound) = self.prefix_of(atom, list)?;
        let mut free = Vec::new();
        for &term in &atom.args {
            if !self.is_ready(term) {
                let Term::Var(var) = term else { unreachable!("normalised") };
                free.push(var);
            }
        }
        free.iter().for_each(|it| self.bind(*it));
        let free: Vec<Reg> = free.iter().map(|it| it.0 as Reg).collect();
        let free = self.reg_list(&free);
        self.loops += 1;
        self.emit(Op::Scan { store: list, order, bound, free });
        Ok(())
    }

    /// The list of tuples that an atom can read; `None` if its relation is stored otherwise.
    pub(super) fn list_of(&mut self, rel: RelId, store: Option<StoreId>) -> Option<StoreId> {
        if store.is_some() {
            return store;
        }
        match self.layout.stores[usize::from(rel.0)] {
            Store::Sparse(id) => Some(id),
            Store::Static => Some(self.layout.static_list(self.program, rel)),
            _ => None,
        }
    }

    /// The order of a list in which the atom's columns with a value come first, and the registers of these values.
    pub(super) fn prefix_of(
        &mut self,
        atom: &Atom,
        list: StoreId,
    ) -> Result<(u32, RegList), PlanError> {
        let (ready, open): (Vec<u8>, Vec<u8>) =
            (0..atom.args.len() as u8).partition(|&it| self.is_ready(atom.args[usize::from(it)]));
        let bound: Vec<Term> = ready.iter().map(|&it| atom.args[usize::from(it)]).collect();
        let order = self.layout.order(list, [ready, open].concat());
        Ok((order, self.reg_list_of(&bound)?))
    }

    /// Expected number of members of the AND of the rows of these literals.
    pub(super) fn expected_row(&self, var: VarId, lits: &[Lit<'_>]) -> f64 {
        lits.iter()
            .map(|it| self.expected_of(var, it))
            .fold(f64::MAX, f64::min)
            .min(weights::MOST_MEMBERS)
    }

    /// Expected members of a literal's row towards the variable.
    pub(super) fn expected_of(&self, var: VarId, lit: &Lit<'_>) -> f64 {
        let Lit::Atom { atom, .. } = lit else { return f64::MAX };
        if atom.negated {
            return f64::MAX;
        }
        let total = self.estimates[usize::from(atom.rel.0)];
        let columns = &self.program.relation(atom.rel).columns;
        let mut members = size(self.program, self.vars.types[usize::from(var.0)])
            .map_or(weights::MOST_MEMBERS, |it| it as f64);
        let mut groups = 1.0;
        for (column, &term) in columns.iter().zip(&atom.args) {
            let size = size(self.program, column.ty).unwrap_or(UNBOUNDED) as f64;
            if term != Term::Var(var) {
                let is_ready = self.is_ready(term);
                groups *= size.min(if is_ready { weights::IN_USE } else { weights::PROJECTED });
            }
        }
        members = members.min((total / groups).max(total.min(1.0) * weights::LEAST_MEMBERS));
        members.max(weights::LEAST_MEMBERS)
    }
}
