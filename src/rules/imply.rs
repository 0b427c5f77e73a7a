//! Whether the text of a rule proves that each row it concludes is in another relation, too, for any
//! facts.
//!
//! A body is expanded (a relation with a single rule holds because of that rule's body), and the rules of the
//! other relation are matched against it. A yes is a proof. A no only means that the text does not show it:
//! there is no arithmetic, keys are not used, and the search is bounded. Deliberately absent: what the
//! checker does with the answer (`check`).

use std::cell::Cell;
use std::collections::BTreeSet;

use super::program::{
    Atom, Compare, Expr, Literal, Op, RelId, Relation, Role, Rule, Stratum, Term, VarId,
};

/// Maximum number of literals of an expanded body.
const LITERALS: usize = 96;
/// Maximum depth of rules on the side to be proved.
const DEPTH: usize = 4;
/// Maximum depth of case distinctions by the rules of a relation.
const SPLITS: usize = 2;
/// Maximum number of rules of such a relation.
const CASES: usize = 8;
/// Maximum number of steps of one search.
const STEPS: u32 = 1 << 12;
/// Maximum number of steps of all searches about one program.
const ALL_STEPS: u32 = 1 << 16;

/// The rules of a program, searched for such proofs.
#[derive(Debug)]
pub(super) struct Implications<'p> {
    relations: &'p [Relation],
    rules: &'p [Rule],
    recursive: BTreeSet<RelId>,
    /// The steps left for this search.
    steps: Cell<u32>,
    /// The steps left for later ones.
    left: Cell<u32>,
}

/// The literals assumed to hold, over variables of their own. Only negated literals have wildcards.
#[derive(Debug, Clone, Default)]
struct Known {
    literals: Vec<Literal>,
    variables: u16,
    /// Whether some of it can never hold.
    is_impossible: bool,
}

/// The values of a rule's variables, as terms of the assumptions.
type Values = Vec<Option<Term>>;

impl<'p> Implications<'p> {
    pub(super) fn new(relations: &'p [Relation], rules: &'p [Rule], strata: &[Stratum]) -> Self {
        let recursive = strata.iter().filter(|it| it.recursive);
        let recursive = recursive.flat_map(|it| it.relations.iter().copied()).collect();
        Self { relations, rules, recursive, steps: Cell::new(0), left: Cell::new(ALL_STEPS) }
    }

    /// Whether every row that the rule concludes is a row of the other relation, too.
    pub(super) fn concludes_only(&self, rule: &Rule, other: RelId) -> bool {
        let steps = self.left.get().min(STEPS);
        self.steps.set(steps);
        let mut known = Known { variables: rule.vars.len() as u16, ..Known::default() };
        let mut values: Values =
            (0..known.variables).map(|it| Some(Term::Var(VarId(it)))).collect();
        known.add(&rule.body, &mut values);
        self.expand(&mut known, 0);
        let shown = self.shows(&known, other, &rule.args, SPLITS);
        self.left.set(self.left.get() - (steps - self.steps.get()));
        shown
    }

    /// The rules that conclude the relation; `None` if its rows have another source.
    fn rules_of(&self, rel: RelId) -> Option<impl Iterator<Item = &'p Rule> + Clone> {
        let relation = &self.relations[usize::from(rel.0)];
        match relation.role {
            Role::Static | Role::Derived => {
                Some(relation.rules.iter().map(|it| &self.rules[usize::from(it.0)]))
            }
            Role::Input(_) | Role::Builtin(_) | Role::Given(_) => None,
        }
    }

    /// Spends a step; returns whether there was one left.
    fn step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    /// Adds what holds because a relation has only one rule.
    fn expand(&self, known: &mut Known, from: usize) {
        let mut at = from;
        while at < known.literals.len().min(LITERALS) {
            if let Literal::Atom(atom) = &known.literals[at]
                && !atom.negated
                && !self.recursive.contains(&atom.rel)
                && let Some(mut rules) = self.rules_of(atom.rel)
            {
                let args = atom.args.clone();
                match (rules.next(), rules.next()) {
                    (None, _) => known.is_impossible = true,
                    (Some(rule), None) => known.add_rule_body(rule, &args),
                    _ => {}
                }
            }
            at += 1;
        }
    }

    /// Whether the row follows from the assumptions, directly or by case distinction.
    fn shows(&self, known: &Known, rel: RelId, args: &[Term], splits: usize) -> bool {
        if known.is_impossible || self.holds(known, rel, args, DEPTH) {
            return true;
        }
        splits > 0
            && known.literals.iter().any(|it| self.shows_by_cases(known, it, rel, args, splits))
    }

    fn shows_by_cases(
        &self,
        known: &Known,
        literal: &Literal,
        rel: RelId,
        args: &[Term],
        splits: usize,
    ) -> bool {
        let Literal::Atom(atom) = literal else { return false };
        if atom.negated || self.recursive.contains(&atom.rel) {
            return false;
        }
        let Some(mut rules) = self.rules_of(atom.rel) else { return false };
        let cases = rules.clone().take(CASES + 1).count();
        (2..=CASES).contains(&cases)
            && rules.clone().all(|it| !it.body.is_empty())
            && rules.all(|rule| {
                if !self.step() {
                    return false;
                }
                let mut case = known.clone();
                // It is put last: a further distinction tries the other literals first.
                case.literals.retain(|it| it != literal);
                let from = case.literals.len();
                case.add_rule_body(rule, &atom.args);
                case.literals.push(literal.clone());
                self.expand(&mut case, from);
                self.shows(&case, rel, args, splits - 1)
            })
    }

    /// Whether the row is assumed, or a rule concludes it from the assumptions.
    fn holds(&self, known: &Known, rel: RelId, args: &[Term], depth: usize) -> bool {
        let is_row = |it: &Literal| {
            matches!(it, Literal::Atom(atom) if !atom.negated && atom.rel == rel
                && atom.args.iter().zip(args).all(|(a, b)| *b == Term::Wild || a == b))
        };
        if known.literals.iter().any(is_row) {
            return true;
        }
        let Some(mut rules) = self.rules_of(rel).filter(|_| depth > 0) else { return false };
        rules.any(|rule| {
            let mut values: Values = vec![None; rule.vars.len()];
            let fits = rule.args.iter().zip(args).all(|(head, arg)| match (head, arg) {
                (_, Term::Wild) => true,
                (Term::Var(var), _) => *values[usize::from(var.0)].get_or_insert(*arg) == *arg,
                _ => head == arg,
            });
            if !fits || !self.step() {
                return false;
            }
            // Literals that bind variables come first.
            let mut body: Vec<&Literal> = rule.body.iter().collect();
            body.sort_by_key(|it| match it {
                Literal::Atom(atom) => u8::from(atom.negated) * 2,
                Literal::Compare(_) => 1,
                Literal::Aggregate(_) => 3,
            });
            self.body_holds(known, &body, &values, depth)
        })
    }

    /// Whether all literals hold for some values of the variables that have none.
    fn body_holds(&self, known: &Known, body: &[&Literal], values: &Values, depth: usize) -> bool {
        let Some((first, rest)) = body.split_first() else { return true };
        if !self.step() {
            return false;
        }
        match first {
            Literal::Atom(atom) if atom.negated => {
                let Some(goal) = given(&atom.args, values) else { return false };
                self.is_denied(known, atom.rel, &goal)
                    && self.body_holds(known, rest, values, depth)
            }
            Literal::Atom(atom) => {
                let found = known.literals.iter().any(|it| {
                    extended(it, atom, values)
                        .is_some_and(|it| self.body_holds(known, rest, &it, depth))
                });
                found
                    || given(&atom.args, values).is_some_and(|goal| {
                        self.holds(known, atom.rel, &goal, depth - 1)
                            && self.body_holds(known, rest, values, depth)
                    })
            }
            Literal::Compare(compare) => match bound(compare, values) {
                Some(values) => self.body_holds(known, rest, &values, depth),
                None => {
                    known.compares(compare, values) && self.body_holds(known, rest, values, depth)
                }
            },
            Literal::Aggregate(_) => false,
        }
    }

    /// Whether the assumptions exclude such a row.
    fn is_denied(&self, known: &Known, rel: RelId, goal: &[Term]) -> bool {
        let denies = |it: &Literal| {
            matches!(it, Literal::Atom(atom) if atom.negated && atom.rel == rel
                && atom.args.iter().zip(goal).all(|(a, b)| *a == Term::Wild || a == b))
        };
        known.literals.iter().any(denies)
            || self.rules_of(rel).is_some_and(|mut rules| rules.next().is_none())
    }
}

impl Known {
    /// Adds a body; variables without a value get one of their own.
    fn add(&mut self, body: &[Literal], values: &mut Values) {
        for literal in body {
            let literal = match literal {
                Literal::Atom(atom) => {
                    let args = atom.args.iter().map(|&it| self.term(it, values, atom.negated));
                    Literal::Atom(Atom { args: args.collect(), ..atom.clone() })
                }
                Literal::Compare(it) => {
                    let lhs = self.expr(&it.lhs, values);
                    let rhs = self.expr(&it.rhs, values);
                    Literal::Compare(Compare { lhs, rhs, ..it.clone() })
                }
                Literal::Aggregate(_) => continue,
            };
            self.literals.push(literal);
        }
    }

    /// Adds the body of the rule that a row holds by.
    fn add_rule_body(&mut self, rule: &Rule, args: &[Term]) {
        let mut values: Values = vec![None; rule.vars.len()];
        for (head, arg) in rule.args.iter().zip(args) {
            match head {
                Term::Var(var) => {
                    values[usize::from(var.0)].get_or_insert(*arg);
                }
                // The row cannot hold by this rule.
                Term::Const(_) if matches!(arg, Term::Const(_)) && head != arg => {
                    self.is_impossible = true;
                }
                Term::Const(_) | Term::Wild => {}
            }
        }
        self.add(&rule.body, &mut values);
    }

    fn fresh(&mut self) -> Term {
        self.variables += 1;
        Term::Var(VarId(self.variables - 1))
    }

    fn term(&mut self, term: Term, values: &mut Values, negated: bool) -> Term {
        match term {
            Term::Var(var) => match values[usize::from(var.0)] {
                Some(known) => known,
                None => {
                    let fresh = self.fresh();
                    values[usize::from(var.0)] = Some(fresh);
                    fresh
                }
            },
            Term::Wild if !negated => self.fresh(),
            Term::Const(_) | Term::Wild => term,
        }
    }

    fn expr(&mut self, expr: &Expr, values: &mut Values) -> Expr {
        match expr {
            Expr::Var(var) => match self.term(Term::Var(*var), values, false) {
                Term::Const(it) => Expr::Const(it),
                Term::Var(it) => Expr::Var(it),
                Term::Wild => expr.clone(),
            },
            Expr::Const(_) => expr.clone(),
            Expr::Binary(op, lhs, rhs) => {
                let lhs = self.expr(lhs, values);
                let rhs = self.expr(rhs, values);
                Expr::Binary(*op, Box::new(lhs), Box::new(rhs))
            }
        }
    }

    /// Whether the comparison is assumed, or holds for all values.
    fn compares(&self, compare: &Compare, values: &Values) -> bool {
        let (Some(lhs), Some(rhs)) = (valued(&compare.lhs, values), valued(&compare.rhs, values))
        else {
            return false;
        };
        if let (Expr::Const(lhs), Expr::Const(rhs)) = (&lhs, &rhs) {
            return compare.op.holds(*lhs, *rhs);
        }
        self.literals.iter().any(|it| {
            matches!(it, Literal::Compare(known)
                if known.op == compare.op && known.lhs == lhs && known.rhs == rhs)
        })
    }
}

/// The arguments as terms of the assumptions; `None` if some have no value yet.
fn given(args: &[Term], values: &Values) -> Option<Vec<Term>> {
    let value = |it: &Term| match it {
        Term::Var(var) => values[usize::from(var.0)],
        Term::Const(_) | Term::Wild => Some(*it),
    };
    args.iter().map(value).collect()
}

/// The values that unify the atom with the assumed literal.
fn extended(known: &Literal, atom: &Atom, values: &Values) -> Option<Values> {
    let Literal::Atom(known) = known else { return None };
    if known.negated || known.rel != atom.rel {
        return None;
    }
    let mut values = values.clone();
    let fits = atom.args.iter().zip(&known.args).all(|(arg, is)| match arg {
        Term::Var(var) => *values[usize::from(var.0)].get_or_insert(*is) == *is,
        Term::Const(_) => arg == is,
        Term::Wild => true,
    });
    fits.then_some(values)
}

/// The values with a variable bound by the comparison.
fn bound(compare: &Compare, values: &Values) -> Option<Values> {
    let term = |expr: &Expr| match expr {
        Expr::Var(var) => values[usize::from(var.0)],
        Expr::Const(it) => Some(Term::Const(*it)),
        Expr::Binary(..) => None,
    };
    let (var, value) = match (compare.op, &compare.lhs, &compare.rhs) {
        (Op::Eq, Expr::Var(var), other) if values[usize::from(var.0)].is_none() => {
            (var, term(other))
        }
        (Op::Eq, other, Expr::Var(var)) if values[usize::from(var.0)].is_none() => {
            (var, term(other))
        }
        _ => return None,
    };
    let mut values = values.clone();
    values[usize::from(var.0)] = Some(value?);
    Some(values)
}

fn valued(expr: &Expr, values: &Values) -> Option<Expr> {
    Some(match expr {
        Expr::Var(var) => match values[usize::from(var.0)]? {
            Term::Var(it) => Expr::Var(it),
            Term::Const(it) => Expr::Const(it),
            Term::Wild => return None,
        },
        Expr::Const(_) => expr.clone(),
        Expr::Binary(op, lhs, rhs) => {
            let (lhs, rhs) = (valued(lhs, values)?, valued(rhs, values)?);
            Expr::Binary(*op, Box::new(lhs), Box::new(rhs))
        }
    })
}
