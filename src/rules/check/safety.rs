//! Whether some order of a body binds every variable before it is needed.
//!
//! Deliberately absent: choosing a good order; planners do.

use foldhash::HashSet;

use super::super::mistake;
use super::super::program::{Aggregate, Compare, Expr, Literal, Op, Term, VarId};
use super::super::variables::term_vars;
use super::rule::{Body, OUTER, Use};

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
        let mut unbound = self.settle(body, &mut bound);
        unbound.extend(term_vars(needed).filter(|it| !bound.contains(it)));
        self.report_unbound(unbound, given)
    }

    /// Reports each unbound variable that has a name in the text, once. Returns whether none is unbound.
    pub(super) fn report_unbound(&mut self, unbound: Vec<VarId>, given: &[VarId]) -> bool {
        let safe = unbound.is_empty();
        let has_given = !given.is_empty();
        let named: Vec<VarId> = unbound.iter().copied().filter(|&it| !self.info(it).made).collect();
        for id in named {
            let var = self.info(id);
            if var.reported {
                continue;
            }
            var.reported = true;
            let needs_value = |&&(_, place): &&(_, Use)| place != Use::Atom && place != Use::Param;
            let place = var.uses.iter().find(needs_value).or_else(|| var.uses.first()).copied();
            let (name, ty) = (var.name.clone(), var.ty);
            let operand = var.uses.iter().any(|it| it.1 == Use::Value);
            let Some((span, place)) = place else { continue };
            let member = self.cx.as_member(&name, ty);
            let report = match place {
                Use::Head => mistake::unbound_in_head(&name, span, member.as_deref(), operand),
                Use::Effect => mistake::unbound_in_effect(&name, span, member.as_deref()),
                Use::Because => mistake::unbound_in("because", &name, span, member.as_deref()),
                Use::Plan => mistake::unbound_in(".plan", &name, span, member.as_deref()),
                _ => {
                    let negated = place == Use::Negated;
                    mistake::unbound(&name, span, member.as_deref(), has_given, operand, negated)
                }
            };
            self.cx.report(report);
        }
        safe
    }

    /// Takes literals in any order that works. Returns variables that are needed but not bound.
    fn settle(&self, body: &[Literal], bound: &mut Bound) -> Vec<VarId> {
        let mut left: Vec<&Literal> = body.iter().collect();
        let mut unbound = Vec::new();
        loop {
            let before = left.len();
            left.retain(|literal| !self.take(literal, bound, &mut unbound));
            if left.is_empty() {
                return unbound;
            }
            if left.len() == before {
                break;
            }
        }
        for literal in left {
            let mut needed = Vec::new();
            self.outside_vars(literal, &mut needed);
            unbound.extend(needed.into_iter().filter(|it| !bound.contains(it)));
        }
        unbound
    }

    /// Binds what a literal binds, if all that it needs is bound.
    fn take(&self, literal: &Literal, bound: &mut Bound, unbound: &mut Vec<VarId>) -> bool {
        match literal {
            Literal::Atom(atom) if atom.negated => {
                term_vars(&atom.args).all(|it| bound.contains(&it))
            }
            Literal::Atom(atom) => {
                bound.extend(term_vars(&atom.args));
                true
            }
            Literal::Compare(compare) => take_compare(compare, bound),
            Literal::Aggregate(aggregate) => {
                let mut shared = Vec::new();
                self.shared(aggregate, &mut shared);
                if shared.iter().any(|it| !bound.contains(it)) {
                    return false;
                }
                let mut inside = bound.clone();
                unbound.extend(self.settle(&aggregate.body, &mut inside));
                let mut folded = Vec::new();
                aggregate.exprs.iter().for_each(|it| it.collect_vars(&mut folded));
                unbound.extend(folded.into_iter().filter(|it| !inside.contains(it)));
                bound.extend(term_vars(&aggregate.results));
                true
            }
        }
    }

    /// The variables of a literal; of an aggregate, those that also occur outside of it.
    fn outside_vars(&self, literal: &Literal, out: &mut Vec<VarId>) {
        match literal {
            Literal::Atom(atom) => out.extend(term_vars(&atom.args)),
            Literal::Compare(compare) => compare.collect_vars(out),
            Literal::Aggregate(aggregate) => self.shared(aggregate, out),
        }
    }

    /// The variables of an aggregate that also occur outside of it.
    fn shared(&self, aggregate: &Aggregate, out: &mut Vec<VarId>) {
        let mut inner = Vec::new();
        aggregate.body.iter().for_each(|it| self.outside_vars(it, &mut inner));
        aggregate.exprs.iter().for_each(|it| it.collect_vars(&mut inner));
        out.extend(inner.into_iter().filter(|it| self.vars[usize::from(it.0)].scope == OUTER));
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
