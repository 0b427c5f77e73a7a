//! Whether some order of a body binds every variable before it is needed.
//!
//! Deliberately absent: choosing a good order; planners do.

use foldhash::HashSet;

use super::super::mistake::{self, Unbound};
use super::super::program::{Compare, Expr, Literal, Op, Term, VarId};
use super::super::variables::term_vars;
use super::rule::{Body, Use};

type Bound = HashSet<VarId>;

impl Body<'_, '_> {
    /// Checks a body that starts with some variables bound, and that it binds those that are needed after it: by the
    /// head, the reason and the plan of a rule, or by the effects of a reaction. Returns whether all are bound.
    pub(super) fn check_bound(
        &mut self,
        body: &[Literal],
        given: &[VarId],
        needed: &[Term],
    ) -> bool {
        let mut bound: Bound = given.iter().copied().collect();
        let mut unbound = settle(body, &mut bound);
        unbound.extend(term_vars(needed).filter(|it| !bound.contains(it)));
        self.report_unbound(unbound, given)
    }

    /// Reports each unbound variable that has a name in the text, once. Returns whether none is unbound.
    fn report_unbound(&mut self, unbound: Vec<VarId>, given: &[VarId]) -> bool {
        let is_safe = unbound.is_empty();
        for id in unbound {
            let var = self.info(id);
            if var.reported || var.word.is_none() {
                continue;
            }
            var.reported = true;
            let needs_value = |&&(_, usage): &&(_, Use)| usage != Use::Atom && usage != Use::Param;
            let usage = var.uses.iter().find(needs_value).or_else(|| var.uses.first()).copied();
            let (name, ty) = (var.name.clone(), var.ty);
            let is_operand = var.uses.iter().any(|it| it.1 == Use::Value);
            let Some((span, usage)) = usage else { continue };
            let member = self.cx.as_member(&name, ty);
            let member = member.as_deref();
            let report = match usage.unbound(&name, span, member) {
                Some(it) if usage == Use::Head && is_operand => mistake::with_rule_of_equals(it),
                Some(it) => it,
                None => mistake::unbound(Unbound {
                    name: &name,
                    span,
                    member,
                    has_params: !given.is_empty(),
                    is_operand,
                    is_negated: usage == Use::Negated,
                }),
            };
            self.cx.report(report);
        }
        is_safe
    }
}

/// Takes literals in any order that works. Returns variables that are needed but not bound.
fn settle(body: &[Literal], bound: &mut Bound) -> Vec<VarId> {
    let mut left: Vec<&Literal> = body.iter().collect();
    let mut unbound = Vec::new();
    loop {
        let before = left.len();
        left.retain(|literal| !take(literal, bound, &mut unbound));
        if left.is_empty() {
            return unbound;
        }
        if left.len() == before {
            break;
        }
    }
    for literal in left {
        let mut needed = Vec::new();
        match literal {
            Literal::Atom(atom) => needed.extend(term_vars(&atom.args)),
            Literal::Compare(compare) => compare.collect_vars(&mut needed),
            Literal::Aggregate(aggregate) => needed.extend(aggregate.shared_vars()),
        }
        unbound.extend(needed.into_iter().filter(|it| !bound.contains(it)));
    }
    unbound
}

/// Binds the variables that a literal gives values, if all that it needs are bound. Returns whether they are.
fn take(literal: &Literal, bound: &mut Bound, unbound: &mut Vec<VarId>) -> bool {
    match literal {
        Literal::Atom(atom) if atom.negated => term_vars(&atom.args).all(|it| bound.contains(&it)),
        Literal::Atom(atom) => {
            bound.extend(term_vars(&atom.args));
            true
        }
        Literal::Compare(compare) => take_compare(compare, bound),
        Literal::Aggregate(aggregate) => {
            if aggregate.shared_vars().iter().any(|it| !bound.contains(it)) {
                return false;
            }
            let mut inside = bound.clone();
            unbound.extend(settle(&aggregate.body, &mut inside));
            let mut folded = Vec::new();
            aggregate.exprs.iter().for_each(|it| it.collect_vars(&mut folded));
            unbound.extend(folded.into_iter().filter(|it| !inside.contains(it)));
            bound.extend(term_vars(&aggregate.results));
            true
        }
    }
}

fn take_compare(compare: &Compare, bound: &mut Bound) -> bool {
    let mut needed = Vec::new();
    compare.collect_vars(&mut needed);
    needed.retain(|it| !bound.contains(it));
    if needed.is_empty() {
        return true;
    }
    let lone = |expr: &Expr| matches!(expr, Expr::Var(id) if needed == [*id]);
    if compare.op == Op::Eq && (lone(&compare.lhs) || lone(&compare.rhs)) {
        bound.extend(needed);
        return true;
    }
    false
}
