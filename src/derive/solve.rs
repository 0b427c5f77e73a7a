//! All solutions of a body, tuple at a time, over any materialised rows.
//!
//! Proofs, questions and the reference evaluator's reactions need small queries whose variables are mostly bound; a
//! backtracking search answers them without a plan. Deliberately absent: deriving rows (the evaluators do that, and
//! share no code with this file).

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::rows::{Rows, Tuple};
use crate::rules::{Aggregate, Atom, Compare, Expr, Fold, Literal, Op, Program, Term, VarId};

/// Values of variables so far, by variable.
pub type Bindings = Vec<Option<i64>>;

/// Literals of a body, by number.
pub(super) type Rest = SmallVec<[u16; 16]>;
type Found<'f> = &'f mut dyn FnMut(&[Option<i64>]) -> ControlFlow<()>;
type Extended<'f> = &'f mut dyn FnMut(&mut Bindings) -> ControlFlow<()>;

/// Calls `f` with every solution of `body` that extends `bindings`, each once, until it breaks.
///
/// `bindings` has one place per variable of the rule; it is restored before the call returns.
/// A literal that never becomes ready (no checked rule has one) has no solution.
pub fn solve(
    rows: &dyn Rows,
    body: &[Literal],
    bindings: &mut Bindings,
    f: Found<'_>,
) -> ControlFlow<()> {
    let rest: Rest = (0..body.len() as u16).collect();
    Search { rows, body }.extend(&rest, bindings, f)
}

/// The value of an expression; `None` if a variable is unbound or the arithmetic has no value.
pub(super) fn value(expr: &Expr, bindings: &[Option<i64>]) -> Option<i64> {
    match expr {
        Expr::Var(var) => bindings[usize::from(var.0)],
        Expr::Const(raw) => Some(*raw),
        Expr::Binary(op, lhs, rhs) => op.apply(value(lhs, bindings)?, value(rhs, bindings)?),
    }
}

/// The value of a term that is bound or constant.
pub(super) fn term(term: Term, bindings: &[Option<i64>]) -> Option<i64> {
    match term {
        Term::Var(var) => bindings[usize::from(var.0)],
        Term::Const(raw) => Some(raw),
        Term::Wild => None,
    }
}

/// Binds the variables among terms to the values in their places, of which some may be open. False if a term cannot
/// have its value.
pub(super) fn bind(
    terms: &[Term],
    values: impl IntoIterator<Item = Option<i64>>,
    bindings: &mut [Option<i64>],
) -> bool {
    terms.iter().zip(values).all(|(&term, value)| match (term, value) {
        (_, None) | (Term::Wild, _) => true,
        (Term::Const(it), Some(raw)) => it == raw,
        (Term::Var(var), Some(raw)) => *bindings[usize::from(var.0)].get_or_insert(raw) == raw,
    })
}

/// The literal among `rest` to try next: first comparisons, atoms without new variables, lookups by key
/// and aggregates, in this order, which have one solution at most; then the atom with the fewest new variables (a static
/// counts as if it had two more), among equal ones that with the most bound arguments. Also returns whether the literal
/// may have many solutions, so that looking ahead pays off.
pub(super) fn pick(
    program: &Program,
    body: &[Literal],
    rest: &[u16],
    bindings: &[Option<i64>],
) -> Option<(u16, bool)> {
    let ranks = rest.iter().map(|&at| (at, rank(program, body, usize::from(at), bindings)));
    let (at, best) = ranks.min_by_key(|(_, rank)| *rank)?;
    (best < NOT_READY).then_some((at, best >= GENERATOR))
}

/// All literals of `rest` but one.
pub(super) fn without(rest: &[u16], literal: u16) -> Rest {
    rest.iter().copied().filter(|it| *it != literal).collect()
}

/// Whether the literal at a place of a body binds no new variable.
pub(super) fn is_test(body: &[Literal], at: usize, bindings: &[Option<i64>]) -> bool {
    match &body[at] {
        Literal::Atom(atom) => unbound(atom, bindings) == 0,
        Literal::Compare(it) => all_bound(&it.lhs, bindings) && all_bound(&it.rhs, bindings),
        Literal::Aggregate(it) => {
            let results = it.results.iter().all(|&it| term(it, bindings).is_some());
            results && groups_bound(body, it, bindings)
        }
    }
}

const NOT_READY: usize = usize::MAX;
/// The rank from which on a literal may have many solutions.
const GENERATOR: usize = 100;

/// The first positive atom among `rest` that has no row, whatever its unbound variables are.
pub(super) fn atom_without_rows(
    rows: &dyn Rows,
    body: &[Literal],
    rest: &[u16],
    bindings: &[Option<i64>],
) -> Option<u16> {
    rest.iter().copied().find(|&at| match &body[usize::from(at)] {
        Literal::Atom(atom) => !atom.negated && !has_row(rows, atom, bindings),
        Literal::Compare(_) | Literal::Aggregate(_) => false,
    })
}

/// The rank of a literal: the lower, the sooner it should be tried.
fn rank(program: &Program, body: &[Literal], at: usize, bindings: &[Option<i64>]) -> usize {
    match &body[at] {
        Literal::Compare(compare) if is_ready(compare, bindings) => 0,
        Literal::Aggregate(aggregate) if groups_bound(body, aggregate, bindings) => 4,
        Literal::Compare(_) | Literal::Aggregate(_) => NOT_READY,
        Literal::Atom(atom) if atom.negated => match unbound(atom, bindings) {
            0 => 1,
            _ => NOT_READY,
        },
        Literal::Atom(atom) => match unbound(atom, bindings) {
            0 => 2,
            1 if is_lookup(program, atom, bindings) => 3,
            new => {
                let bound = atom.args.iter().filter(|&&it| term(it, bindings).is_some()).count();
                // Statics are tables of a whole board; relations that depend on facts are mostly small.
                let is_large = program.relation(atom.rel).is_static();
                let spread = if is_large { new + 2 } else { new };
                GENERATOR + 100 * spread - bound.min(99)
            }
        },
    }
}

/// Number of arguments of an atom that are unbound variables.
fn unbound(atom: &Atom, bindings: &[Option<i64>]) -> usize {
    atom.args
        .iter()
        .filter(|it| matches!(it, Term::Var(var) if bindings[usize::from(var.0)].is_none()))
        .count()
}

/// Whether the key columns of a functional relation are all bound.
fn is_lookup(program: &Program, atom: &Atom, bindings: &[Option<i64>]) -> bool {
    program.relation(atom.rel).functional
        && atom
            .args
            .split_last()
            .is_some_and(|(_, key)| key.iter().all(|&it| term(it, bindings).is_some()))
}

/// Whether a comparison can be decided, since all its variables are bound, or is an equation that gives its only unbound
/// variable, alone on one side, a value.
fn is_ready(compare: &Compare, bindings: &[Option<i64>]) -> bool {
    match (all_bound(&compare.lhs, bindings), all_bound(&compare.rhs, bindings)) {
        (true, true) => true,
        (true, false) => compare.op == Op::Eq && matches!(compare.rhs, Expr::Var(_)),
        (false, true) => compare.op == Op::Eq && matches!(compare.lhs, Expr::Var(_)),
        (false, false) => false,
    }
}

fn all_bound(expr: &Expr, bindings: &[Option<i64>]) -> bool {
    match expr {
        Expr::Var(var) => bindings[usize::from(var.0)].is_some(),
        Expr::Const(_) => true,
        Expr::Binary(_, lhs, rhs) => all_bound(lhs, bindings) && all_bound(rhs, bindings),
    }
}

/// Whether every variable that the aggregate shares with the rest of the body is bound.
fn groups_bound(body: &[Literal], aggregate: &Aggregate, bindings: &[Option<i64>]) -> bool {
    let is_bound = |var: VarId| bindings[usize::from(var.0)].is_some();
    let vars = aggregate.shared_vars();
    vars.into_iter().all(|it| is_bound(it) || !occurs_beside(body, aggregate, it))
}

/// Whether the variable occurs in a literal of the body other than the aggregate. If not, no other
/// literal can bind it, and there is nothing to wait for: arguments of an event are bound from the start.
fn occurs_beside(body: &[Literal], aggregate: &Aggregate, var: VarId) -> bool {
    let is_it = |it: &Literal| matches!(it, Literal::Aggregate(it) if std::ptr::eq(it, aggregate));
    let mut vars = Vec::new();
    body.iter().filter(|it| !is_it(it)).for_each(|it| it.collect_vars(&mut vars));
    vars.contains(&var)
}

struct Search<'r> {
    rows: &'r dyn Rows,
    body: &'r [Literal],
}

impl Search<'_> {
    fn extend(&self, rest: &[u16], bindings: &mut Bindings, f: Found<'_>) -> ControlFlow<()> {
        if rest.is_empty() {
            return f(bindings);
        }
        let Some((chosen, many)) = pick(self.rows.program(), self.body, rest, bindings) else {
            return ControlFlow::Continue(());
        };
        if many && atom_without_rows(self.rows, self.body, rest, bindings).is_some() {
            return ControlFlow::Continue(());
        }
        let later = without(rest, chosen);
        literal_solutions(self.rows, &self.body[usize::from(chosen)], bindings, &mut |bindings| {
            self.extend(&later, bindings, f)
        })
    }
}

/// Calls `f` for every way to satisfy one literal that is ready, each once, with the bindings extended by it. They are
/// restored after each call.
pub(super) fn literal_solutions(
    rows: &dyn Rows,
    literal: &Literal,
    bindings: &mut Bindings,
    f: Extended<'_>,
) -> ControlFlow<()> {
    match literal {
        Literal::Atom(atom) if atom.negated => match has_row(rows, atom, bindings) {
            true => ControlFlow::Continue(()),
            false => f(bindings),
        },
        Literal::Atom(atom) => atom_solutions(rows, atom, bindings, f),
        Literal::Compare(compare) => compare_solution(compare, bindings, f),
        Literal::Aggregate(aggregate) => {
            let Some(values) = fold(rows, aggregate, bindings) else {
                return ControlFlow::Continue(());
            };
            unify(&aggregate.results, &values, bindings, f)
        }
    }
}

/// The pattern of an atom's rows under the bindings.
pub(super) fn pattern(atom: &Atom, bindings: &[Option<i64>]) -> SmallVec<[Option<i64>; 6]> {
    atom.args.iter().map(|&it| term(it, bindings)).collect()
}

fn has_row(rows: &dyn Rows, atom: &Atom, bindings: &[Option<i64>]) -> bool {
    let pattern = pattern(atom, bindings);
    if let Some(tuple) = pattern.iter().copied().collect::<Option<Tuple>>() {
        return rows.contains(atom.rel, &tuple);
    }
    rows.for_each(atom.rel, &pattern, &mut |_| ControlFlow::Break(())).is_break()
}

fn atom_solutions(
    rows: &dyn Rows,
    atom: &Atom,
    bindings: &mut Bindings,
    f: Extended<'_>,
) -> ControlFlow<()> {
    if unbound(atom, bindings) == 0 {
        return match has_row(rows, atom, bindings) {
            true => f(bindings),
            false => ControlFlow::Continue(()),
        };
    }
    let pattern = pattern(atom, bindings);
    if !atom.args.contains(&Term::Wild) {
        return rows.for_each(atom.rel, &pattern, &mut |row| unify(&atom.args, row, bindings, f));
    }
    // Rows that differ only under a wildcard are one solution.
    let mut seen: Vec<Tuple> = Vec::new();
    let _ = rows.for_each(atom.rel, &pattern, &mut |row| {
        let named = row.iter().zip(&atom.args).map(|(&it, arg)| match arg {
            Term::Wild => 0,
            Term::Var(_) | Term::Const(_) => it,
        });
        seen.push(named.collect());
        ControlFlow::Continue(())
    });
    seen.sort_unstable();
    seen.dedup();
    seen.iter().try_for_each(|row| unify(&atom.args, row, bindings, f))
}

/// Calls `f` with the variables among `terms` bound to `values`, unless a term has another value already.
/// The variables that it bound are unbound again afterwards.
fn unify(
    terms: &[Term],
    values: &[i64],
    bindings: &mut Bindings,
    f: Extended<'_>,
) -> ControlFlow<()> {
    let mut fresh: SmallVec<[VarId; 6]> = SmallVec::new();
    let mut agree = true;
    for (&part, &value) in terms.iter().zip(values) {
        match (part, term(part, bindings)) {
            (Term::Wild, _) => {}
            (Term::Var(var), None) => {
                bindings[usize::from(var.0)] = Some(value);
                fresh.push(var);
            }
            (_, known) => agree &= known == Some(value),
        }
    }
    let flow = if agree { f(bindings) } else { ControlFlow::Continue(()) };
    fresh.iter().for_each(|var| bindings[usize::from(var.0)] = None);
    flow
}

fn compare_solution(
    compare: &Compare,
    bindings: &mut Bindings,
    f: Extended<'_>,
) -> ControlFlow<()> {
    let sides = [(&compare.lhs, &compare.rhs), (&compare.rhs, &compare.lhs)];
    for (target, source) in sides {
        if let Expr::Var(var) = target
            && compare.op == Op::Eq
            && bindings[usize::from(var.0)].is_none()
        {
            return match value(source, bindings) {
                Some(value) => unify(&[Term::Var(*var)], &[value], bindings, f),
                None => ControlFlow::Continue(()),
            };
        }
    }
    match (value(&compare.lhs, bindings), value(&compare.rhs, bindings)) {
        (Some(lhs), Some(rhs)) if compare.op.holds(lhs, rhs) => f(bindings),
        _ => ControlFlow::Continue(()),
    }
}

/// The distinct solutions of an aggregate's body, as values of its named local variables.
pub(super) fn members(rows: &dyn Rows, aggregate: &Aggregate, bindings: &Bindings) -> Vec<Tuple> {
    let mut inner = bindings.clone();
    aggregate.locals.iter().for_each(|var| inner[usize::from(var.0)] = None);
    let mut found: Vec<Tuple> = Vec::new();
    let _ = solve(rows, &aggregate.body, &mut inner, &mut |solution| {
        let local = aggregate.locals.iter().map(|var| solution[usize::from(var.0)].unwrap_or(0));
        found.push(local.collect());
        ControlFlow::Continue(())
    });
    found.sort_unstable();
    found.dedup();
    found
}

/// The results of an aggregate whose groups are bound; `None` if it has no value.
pub(super) fn fold(rows: &dyn Rows, aggregate: &Aggregate, bindings: &Bindings) -> Option<Tuple> {
    let members = members(rows, aggregate, bindings);
    let mut inner = bindings.clone();
    let mut values: Vec<Tuple> = Vec::with_capacity(members.len());
    for member in members {
        for (var, raw) in aggregate.locals.iter().zip(member) {
            inner[usize::from(var.0)] = Some(raw);
        }
        values.push(aggregate.exprs.iter().map(|it| value(it, &inner)).collect::<Option<_>>()?);
    }
    match aggregate.fold {
        Fold::Min => values.into_iter().min(),
        Fold::Max => values.into_iter().max(),
        Fold::Count => Some(Tuple::from_slice(&[values.len() as i64])),
        Fold::Sum => {
            let total: i128 = values.iter().map(|it| i128::from(it[0])).sum();
            let total = i64::try_from(total).ok().filter(|it| *it > i64::MIN)?;
            Some(Tuple::from_slice(&[total]))
        }
    }
}
