//! All solutions of a body: nested loops over indexes. A join chooses its order, and takes the tables as they are, when
//! it is made.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::table::{Index, Row, Table};
use crate::rules::{
    Aggregate, Atom, Compare, Expr, Fold, Literal, Op, Program, RelId, Term, VarId, term_vars,
};

/// Values of variables so far, by variable.
pub(super) type Bindings = Vec<Option<i64>>;

/// The tables of all relations in a body.
pub(super) type Tables<'t> = &'t dyn Fn(RelId) -> Rc<Table>;

/// The literals in evaluation order.
pub(super) struct Join<'b> {
    steps: Vec<Step<'b>>,
}

enum Step<'b> {
    /// A positive atom, with the index by its columns that are bound when its turn comes; `None` if none is.
    Rows {
        atom: &'b Atom,
        table: Rc<Table>,
        index: Option<Rc<Index>>,
    },
    /// An atom without new variables, or a negated one.
    Test {
        atom: &'b Atom,
        table: Rc<Table>,
    },
    Compare(&'b Compare),
    Aggregate {
        aggregate: &'b Aggregate,
        inner: Join<'b>,
    },
}

/// The cost of a literal that cannot be evaluated yet.
const NEVER: usize = usize::MAX;

impl<'b> Join<'b> {
    /// Orders a body. `bound` are the variables with values before it.
    pub(super) fn new(
        program: &Program,
        tables: Tables<'_>,
        body: impl Iterator<Item = &'b Literal>,
        bound: &BTreeSet<VarId>,
    ) -> Self {
        let mut bound = bound.clone();
        let mut rest: Vec<&Literal> = body.collect();
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let costs = rest.iter().map(|it| cost(program, tables, it, &bound));
            let Some((at, _)) = costs.enumerate().min_by_key(|(_, cost)| *cost) else { break };
            let literal = rest.remove(at);
            steps.push(step(program, tables, literal, &bound));
            variables_bound_by(literal, &mut bound);
        }
        Self { steps }
    }

    /// Calls `visit` with every solution that extends the bindings, until it returns false. The bindings end with the
    /// call. Returns whether `visit` never returned false.
    pub(super) fn run(
        &self,
        bindings: &mut Bindings,
        visit: &mut dyn FnMut(&mut Bindings) -> bool,
    ) -> bool {
        self.run_from(0, bindings, visit)
    }

    fn run_from(
        &self,
        at: usize,
        bindings: &mut Bindings,
        visit: &mut dyn FnMut(&mut Bindings) -> bool,
    ) -> bool {
        let Some(step) = self.steps.get(at) else { return visit(bindings) };
        match step {
            Step::Test { atom, table } => {
                let holds = table.matches(&pattern(atom, bindings));
                if holds == atom.negated { true } else { self.run_from(at + 1, bindings, visit) }
            }
            Step::Rows { atom, table, index } => {
                let mut each = |row: &Row, bindings: &mut Bindings| {
                    with_values(&atom.args, row, bindings, &mut |it| {
                        self.run_from(at + 1, it, visit)
                    })
                };
                match index {
                    None => table.rows().iter().all(|row| each(row, bindings)),
                    Some(index) => {
                        let key: Row = pattern(atom, bindings).iter().flatten().copied().collect();
                        let found = index.get(&key).map(Vec::as_slice).unwrap_or_default();
                        found.iter().all(|&it| each(&table.rows()[it as usize], bindings))
                    }
                }
            }
            Step::Compare(compare) => match solve(compare, bindings) {
                Solved::No => true,
                Solved::Yes => self.run_from(at + 1, bindings, visit),
                Solved::Binds(var, raw) => {
                    with_values(&[Term::Var(var)], &[raw], bindings, &mut |it| {
                        self.run_from(at + 1, it, visit)
                    })
                }
            },
            Step::Aggregate { aggregate, inner } => match fold(aggregate, inner, bindings).1 {
                None => true,
                Some(values) => with_values(&aggregate.results, &values, bindings, &mut |it| {
                    self.run_from(at + 1, it, visit)
                }),
            },
        }
    }
}

/// The distinct solutions of an aggregate's body, as values of its local variables, and the aggregate's
/// results.
pub(super) fn fold(
    aggregate: &Aggregate,
    inner: &Join<'_>,
    bindings: &Bindings,
) -> (BTreeSet<Row>, Option<Row>) {
    let mut within = bindings.clone();
    aggregate.locals.iter().for_each(|it| within[usize::from(it.0)] = None);
    let mut members = BTreeSet::new();
    inner.run(&mut within, &mut |solution| {
        let local = aggregate.locals.iter().map(|it| solution[usize::from(it.0)].unwrap_or(0));
        members.insert(local.collect::<Row>());
        true
    });
    let values: Option<Vec<Row>> = members
        .iter()
        .map(|member| {
            for (var, &raw) in aggregate.locals.iter().zip(member) {
                within[usize::from(var.0)] = Some(raw);
            }
            aggregate.exprs.iter().map(|it| value(it, &within)).collect()
        })
        .collect();
    let result = match aggregate.fold {
        Fold::Count => Some([members.len() as i64].as_slice().into()),
        Fold::Min => values.and_then(|it| it.into_iter().min()),
        Fold::Max => values.and_then(|it| it.into_iter().max()),
        Fold::Sum => values.and_then(|it| {
            let sum = it.iter().try_fold(0i128, |sum, it| Some(sum + i128::from(*it.first()?)))?;
            let sum = i64::try_from(sum).ok().filter(|it| *it > i64::MIN)?;
            Some([sum].as_slice().into())
        }),
    };
    (members, result)
}

enum Solved {
    No,
    Yes,
    Binds(VarId, i64),
}

fn solve(compare: &Compare, bindings: &Bindings) -> Solved {
    let lone = |it: &Expr| match it {
        Expr::Var(var) if bindings[usize::from(var.0)].is_none() => Some(*var),
        Expr::Var(_) | Expr::Const(_) | Expr::Binary(..) => None,
    };
    let (lhs, rhs) = (value(&compare.lhs, bindings), value(&compare.rhs, bindings));
    match (lone(&compare.lhs), lone(&compare.rhs), lhs, rhs) {
        (Some(var), None, _, Some(raw)) | (None, Some(var), Some(raw), _)
            if compare.op == Op::Eq =>
        {
            Solved::Binds(var, raw)
        }
        (_, _, Some(lhs), Some(rhs)) if compare.op.holds(lhs, rhs) => Solved::Yes,
        _ => Solved::No,
    }
}

/// The value of an expression; `None` if a variable has no value, or a calculation has none.
pub(super) fn value(expr: &Expr, bindings: &[Option<i64>]) -> Option<i64> {
    match expr {
        Expr::Var(var) => bindings[usize::from(var.0)],
        Expr::Const(raw) => Some(*raw),
        Expr::Binary(op, lhs, rhs) => op.apply(value(lhs, bindings)?, value(rhs, bindings)?),
    }
}

/// The pattern of an atom's rows under bindings.
pub(super) fn pattern(atom: &Atom, bindings: &[Option<i64>]) -> Pattern {
    atom.args.iter().map(|it| known(*it, bindings)).collect()
}

/// The value of a term; `None` if it is a variable without one, or any value will do.
pub(super) fn known(term: Term, bindings: &[Option<i64>]) -> Option<i64> {
    match term {
        Term::Var(var) => bindings[usize::from(var.0)],
        Term::Const(raw) => Some(raw),
        Term::Wild => None,
    }
}

pub(super) type Pattern = smallvec::SmallVec<[Option<i64>; 6]>;

/// Calls `visit` with the variables among `terms` bound to `values`, unless a constant or a variable that is bound
/// already has another value. The bindings end with the call. Returns what `visit` returned; true if it was not called.
pub(super) fn with_values(
    terms: &[Term],
    values: &[i64],
    bindings: &mut Bindings,
    visit: &mut dyn FnMut(&mut Bindings) -> bool,
) -> bool {
    let mut fresh: smallvec::SmallVec<[VarId; 6]> = smallvec::SmallVec::new();
    let mut agree = true;
    for (term, &value) in terms.iter().zip(values) {
        match term {
            Term::Wild => {}
            Term::Const(raw) => agree &= *raw == value,
            Term::Var(var) => match bindings[usize::from(var.0)] {
                Some(known) => agree &= known == value,
                None => {
                    bindings[usize::from(var.0)] = Some(value);
                    fresh.push(*var);
                }
            },
        }
    }
    let goes_on = !agree || visit(bindings);
    fresh.iter().for_each(|it| bindings[usize::from(it.0)] = None);
    goes_on
}

/// Gives the variables among terms the values in their places, of which some may be open. False if a term cannot have
/// its value.
pub(super) fn bind(
    terms: &[Term],
    values: impl IntoIterator<Item = Option<i64>>,
    bindings: &mut [Option<i64>],
) -> bool {
    terms.iter().zip(values).all(|(term, value)| match (term, value) {
        (_, None) | (Term::Wild, _) => true,
        (Term::Const(raw), Some(value)) => *raw == value,
        (Term::Var(var), Some(value)) => {
            *bindings[usize::from(var.0)].get_or_insert(value) == value
        }
    })
}

fn step<'b>(
    program: &Program,
    tables: Tables<'_>,
    literal: &'b Literal,
    bound: &BTreeSet<VarId>,
) -> Step<'b> {
    match literal {
        Literal::Compare(it) => Step::Compare(it),
        Literal::Aggregate(aggregate) => {
            let inner = Join::new(program, tables, aggregate.body.iter(), bound);
            Step::Aggregate { aggregate, inner }
        }
        Literal::Atom(atom) => {
            let table = tables(atom.rel);
            if atom.negated || new_variables(atom, bound) == 0 {
                return Step::Test { atom, table };
            }
            let index = match known_columns(atom, bound) {
                0 => None,
                columns => Some(table.index(columns)),
            };
            Step::Rows { atom, table, index }
        }
    }
}

/// The cost of a literal as the next one: comparisons first, then atoms without new variables, lookups of a function,
/// aggregates, and then the atom with the fewest rows for one set of values in its bound columns.
fn cost(
    program: &Program,
    tables: Tables<'_>,
    literal: &Literal,
    bound: &BTreeSet<VarId>,
) -> usize {
    match literal {
        Literal::Compare(it) if is_ready(it, bound) => 0,
        Literal::Compare(_) => NEVER,
        Literal::Aggregate(it) if is_closed(it, bound) => 3,
        Literal::Aggregate(_) => NEVER,
        Literal::Atom(atom) => match new_variables(atom, bound) {
            0 => 1,
            _ if atom.negated => NEVER,
            _ => {
                let (table, columns) = (tables(atom.rel), known_columns(atom, bound));
                let functional = program.relation(atom.rel).functional;
                let keys = (1u32 << (atom.args.len() - 1)) - 1;
                match functional && columns & keys == keys {
                    true => 2,
                    false => 4 + table.rows_per_key(columns),
                }
            }
        },
    }
}

fn is_ready(compare: &Compare, bound: &BTreeSet<VarId>) -> bool {
    let known = |it: &Expr| {
        let mut vars = BTreeSet::new();
        it.collect_vars(&mut vars);
        vars.is_subset(bound)
    };
    let lone = |it: &Expr| compare.op == Op::Eq && matches!(it, Expr::Var(_));
    match (known(&compare.lhs), known(&compare.rhs)) {
        (true, true) => true,
        (true, false) => lone(&compare.rhs),
        (false, true) => lone(&compare.lhs),
        (false, false) => false,
    }
}

/// Whether every variable that an aggregate shares with the rest of its rule is bound.
fn is_closed(aggregate: &Aggregate, bound: &BTreeSet<VarId>) -> bool {
    aggregate.shared_vars().is_subset(bound)
}

fn new_variables(atom: &Atom, bound: &BTreeSet<VarId>) -> usize {
    let is_new = |it: &&Term| matches!(it, Term::Var(var) if !bound.contains(var));
    atom.args.iter().filter(is_new).count()
}

fn known_columns(atom: &Atom, bound: &BTreeSet<VarId>) -> u32 {
    let known = |it: &Term| match it {
        Term::Var(var) => bound.contains(var),
        Term::Const(_) => true,
        Term::Wild => false,
    };
    let columns = atom.args.iter().enumerate().filter(|(_, it)| known(it));
    columns.fold(0, |set, (at, _)| set | 1 << at)
}

/// Adds the variables that have values once the literal is satisfied.
fn variables_bound_by(literal: &Literal, bound: &mut BTreeSet<VarId>) {
    match literal {
        Literal::Atom(_) | Literal::Compare(_) => literal.collect_vars(bound),
        Literal::Aggregate(it) => bound.extend(term_vars(&it.results)),
    }
}

/// Whether every variable of a comparison has a value.
pub(super) fn is_bound(compare: &Compare, bindings: &Bindings) -> bool {
    is_known(&compare.lhs, bindings) && is_known(&compare.rhs, bindings)
}

/// Whether a comparison can be decided: all of its variables have values, or all of one side do, and the calculation
/// there has none (so the comparison does not hold).
pub(super) fn is_decided(compare: &Compare, bindings: &Bindings) -> bool {
    let is_void = |it: &Expr| is_known(it, bindings) && value(it, bindings).is_none();
    is_bound(compare, bindings) || is_void(&compare.lhs) || is_void(&compare.rhs)
}

/// Whether every variable of an expression has a value.
fn is_known(expr: &Expr, bindings: &Bindings) -> bool {
    let mut vars = BTreeSet::new();
    expr.collect_vars(&mut vars);
    vars.iter().all(|it| bindings[usize::from(it.0)].is_some())
}

/// Whether every variable that an aggregate shares with its rule has a value.
pub(super) fn is_closed_by(aggregate: &Aggregate, bindings: &Bindings) -> bool {
    is_closed(aggregate, &bound_in(bindings))
}

/// The variables that have values.
pub(super) fn bound_in(bindings: &Bindings) -> BTreeSet<VarId> {
    let bound = (0..bindings.len()).filter(|&it| bindings[it].is_some());
    bound.map(|it| VarId(it as u16)).collect()
}
