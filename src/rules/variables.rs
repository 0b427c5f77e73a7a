//! The variables of the parts of a rule.

use std::collections::BTreeSet;

use super::program::{Aggregate, Compare, Effect, Expr, Literal, MessagePart, Op, Term, VarId};

impl Term {
    /// The variable, if it is one.
    pub fn var(&self) -> Option<VarId> {
        match self {
            Self::Var(it) => Some(*it),
            Self::Const(_) | Self::Wild => None,
        }
    }
}

/// The variables among terms, in their order.
pub fn term_vars(terms: &[Term]) -> impl Iterator<Item = VarId> + '_ {
    terms.iter().filter_map(Term::var)
}

impl Expr {
    /// Adds the variables of the expression, in the order of their use.
    pub fn collect_vars(&self, vars: &mut impl Extend<VarId>) {
        match self {
            Self::Var(var) => vars.extend([*var]),
            Self::Const(_) => {}
            Self::Binary(_, lhs, rhs) => {
                lhs.collect_vars(vars);
                rhs.collect_vars(vars);
            }
        }
    }
}

impl Compare {
    /// Adds the variables of both sides.
    pub fn collect_vars(&self, vars: &mut impl Extend<VarId>) {
        self.lhs.collect_vars(vars);
        self.rhs.collect_vars(vars);
    }

    /// The side of `var = side` that gives the variable its value.
    pub fn side_for(&self, var: VarId) -> Option<&Expr> {
        let (lone, is_eq) = (Expr::Var(var), self.op == Op::Eq);
        [(&self.lhs, &self.rhs), (&self.rhs, &self.lhs)].into_iter().find_map(|(one, other)| {
            let mut vars = Vec::new();
            other.collect_vars(&mut vars);
            (is_eq && *one == lone && !vars.contains(&var)).then_some(other)
        })
    }
}

impl Literal {
    /// Adds the variables of the literal; of an aggregate, those that are not local to it.
    pub fn collect_vars(&self, vars: &mut impl Extend<VarId>) {
        match self {
            Self::Atom(atom) => vars.extend(term_vars(&atom.args)),
            Self::Compare(compare) => compare.collect_vars(vars),
            Self::Aggregate(aggregate) => {
                vars.extend(aggregate.shared_vars());
                vars.extend(term_vars(&aggregate.results));
            }
        }
    }
}

impl Aggregate {
    /// The variables of the body and the expressions that also occur outside the aggregate: they group its solutions.
    pub fn shared_vars(&self) -> BTreeSet<VarId> {
        let mut vars = BTreeSet::new();
        self.body.iter().for_each(|it| it.collect_vars(&mut vars));
        self.exprs.iter().for_each(|it| it.collect_vars(&mut vars));
        vars.retain(|it| !self.locals.contains(it));
        vars
    }
}

impl Effect {
    /// The variables whose values the effect needs, in the order of their use.
    pub fn needs(&self) -> Vec<VarId> {
        let mut vars = Vec::new();
        match self {
            Self::Set { args, .. }
            | Self::Retract { key: args, .. }
            | Self::Raise { args, .. }
            | Self::Pass { args }
            | Self::Emit { args, .. } => args.iter().for_each(|it| it.collect_vars(&mut vars)),
            Self::Remove { entity: expr } | Self::Rewind { turns: expr } => {
                expr.collect_vars(&mut vars);
            }
            Self::Veto { message } | Self::Note { message } => {
                vars.extend(message.0.iter().filter_map(|it| match it {
                    MessagePart::Value(var) => Some(*var),
                    MessagePart::Text(_) => None,
                }));
            }
            Self::Call { args, .. } => vars.extend(args),
            Self::Forget { preset, of } => {
                vars.push(*preset);
                vars.extend(of);
            }
            Self::Inherit { to, from } => vars.extend([to, from]),
            Self::Spawn { .. } | Self::Stop => {}
        }
        vars
    }
}
