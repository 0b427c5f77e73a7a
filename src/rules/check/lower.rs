//! The second walk over a clause: constants become raw values, nested expressions variables.
//!
//! Literals keep their text order. The comparison that gives a nested expression's variable its value stands right
//! before the literal that uses the variable, or at the end of the body if the head uses it.
//! Deliberately absent: safety of variables (`safety`).

use super::super::ast::{self, Clause, ExprKind};
use super::super::mistake;
use super::super::program::{
    Aggregate, Arith, Atom, Compare, Expr, Fold, Literal, Op, RelId, Role, Span, Term, Type, VarId,
};
use super::rule::{Body, OUTER, Scope, Subject, scope_of};

impl<'t> Body<'_, 't> {
    /// The checked head and body, if nothing is wrong with them.
    pub(super) fn lower_clause(
        &mut self,
        clause: &Clause<'t>,
        head: Option<RelId>,
        planned: &[VarId],
    ) -> Option<(Vec<Term>, Vec<Literal>)> {
        if self.too_large {
            return None;
        }
        self.check_single_uses();
        let mut body = self.lower_body(&clause.body, OUTER);
        let mut after = Vec::new();
        let args = head.map(|head| self.terms(&clause.head, head, OUTER, &mut after));
        body.append(&mut after);
        let concluded = head.iter().flat_map(|_| &clause.head.args);
        for arg in concluded.filter(|it| matches!(it.kind, ExprKind::Wild)) {
            self.cx.report(mistake::wildcard_in_head(arg.span));
            self.unresolved = true;
        }
        let args = args.flatten()?;
        if self.unresolved {
            return None;
        }
        let reasons = clause.because.map(|it| self.vars_of_text(it)).unwrap_or_default();
        let planned = planned.iter().copied().map(Term::Var);
        let needed: Vec<Term> = args.iter().copied().chain(reasons).chain(planned).collect();
        self.check_bound(&body, &[], &needed).then_some((args, body))
    }

    pub(super) fn lower_body(&mut self, body: &[ast::Literal<'t>], scope: Scope) -> Vec<Literal> {
        let mut out = Vec::new();
        for literal in body {
            let lowered = match literal {
                ast::Literal::Atom { atom, negated } => {
                    self.lower_atom(atom, *negated, scope, &mut out)
                }
                ast::Literal::Compare(compare) => self.lower_comparison(compare, scope, &mut out),
            };
            if lowered.is_none() {
                self.unresolved = true;
            }
        }
        out
    }

    fn lower_atom(
        &mut self,
        atom: &ast::Atom<'t>,
        negated: bool,
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<()> {
        let mut rel = self.cx.known(atom.name)?;
        let args = self.terms(atom, rel, scope, out)?;
        if let Some(span) = atom.was {
            let Some(before) = self.before(atom, rel, span) else {
                self.unresolved = true;
                return None;
            };
            rel = before;
        }
        out.push(Literal::Atom(Atom { rel, args, negated, span: atom.span }));
        Some(())
    }

    /// The relation of an atom after `was`: its rows are those from before the action.
    fn before(&mut self, atom: &ast::Atom<'t>, rel: RelId, span: Span) -> Option<RelId> {
        if !self.is_reaction {
            self.cx.report(mistake::was_outside_reaction(span));
            return None;
        }
        if matches!(self.cx.relation(rel).role, Role::Static | Role::Builtin(_)) {
            let declared = self.cx.relation(rel).span;
            self.cx.report(mistake::was_of_static(atom.name, declared));
            return None;
        }
        self.cx.before(rel)
    }

    /// The arguments of an atom by its columns.
    pub(super) fn terms(
        &mut self,
        atom: &ast::Atom<'t>,
        subject: impl Into<Subject>,
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<Vec<Term>> {
        let types = self.cx.subject(subject.into()).types.clone();
        let mut terms = Vec::new();
        for (arg, ty) in atom.args.iter().zip(&types) {
            terms.push(ty.and_then(|ty| self.term(arg, ty, scope, out)));
        }
        let terms: Option<Vec<Term>> = terms.into_iter().collect();
        if terms.is_none() {
            self.unresolved = true;
        }
        terms
    }

    pub(super) fn term(
        &mut self,
        arg: &ast::Expr<'t>,
        ty: Type,
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<Term> {
        match &arg.kind {
            ExprKind::Wild => Some(Term::Wild),
            ExprKind::Var(name) => Some(Term::Var(self.var(name, scope))),
            ExprKind::Binary(..) if ty != Type::Int => {
                let report = mistake::wrong_type(arg.span, self.cx.type_name(ty), "Int");
                self.cx.report(report);
                None
            }
            _ => Some(match self.lower_expr(arg, ty, scope)? {
                Expr::Const(raw) => Term::Const(raw),
                // A generated variable equals the expression.
                rhs => {
                    let (var, span) = (self.fresh(ty, scope, arg.span), arg.span);
                    let lhs = Expr::Var(var);
                    out.push(Literal::Compare(Compare { op: Op::Eq, lhs, rhs, span }));
                    Term::Var(var)
                }
            }),
        }
    }

    /// The raw value of a constant, which must be of that type.
    fn constant(&mut self, expr: &ast::Expr<'t>, ty: Type) -> Option<i64> {
        let report = match (&expr.kind, ty) {
            (ExprKind::Const(name), Type::Domain(id)) => {
                return self.cx.find_member(id, name, expr.span);
            }
            (ExprKind::Int(value), Type::Int) => return Some(*value),
            (ExprKind::Text(text), Type::Text) => return Some(self.cx.text(text)),
            (kind, ty) => {
                let found = match kind {
                    ExprKind::Int(_) => "a number",
                    ExprKind::Text(_) => "a text",
                    _ => "a constant of a domain",
                };
                mistake::wrong_type(expr.span, self.cx.type_name(ty), found)
            }
        };
        self.cx.report(report);
        None
    }

    pub(super) fn lower_expr(
        &mut self,
        expr: &ast::Expr<'t>,
        ty: Type,
        scope: Scope,
    ) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Var(name) => Some(Expr::Var(self.var(name, scope))),
            ExprKind::Wild => {
                self.cx.report(mistake::wildcard_in_expression(expr.span));
                None
            }
            ExprKind::Binary(op, lhs, rhs) => {
                let [lhs, rhs] = [lhs, rhs].map(|it| self.lower_expr(it, Type::Int, scope));
                Some(fold_constants(*op, lhs?, rhs?))
            }
            ExprKind::Tuple(_) => {
                self.cx.report(mistake::tuple_inside(expr.span));
                None
            }
            ExprKind::Aggregate(_) => {
                self.cx.report(mistake::aggregate_inside(expr.span));
                None
            }
            _ => self.constant(expr, ty).map(Expr::Const),
        }
    }

    // --- comparisons -----------------------------------------------------------------------------

    fn lower_comparison(
        &mut self,
        compare: &ast::Compare<'t>,
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<()> {
        let ast::Compare { lhs, op, rhs, span } = compare;
        let (left, right) = (self.types_of(lhs, scope), self.types_of(rhs, scope));
        if left.len() != right.len() {
            self.cx.report(mistake::result_count(lhs.span, left.len(), rhs.span, right.len()));
            return None;
        }
        match (&lhs.kind, &rhs.kind) {
            (ExprKind::Aggregate(first), ExprKind::Aggregate(second)) => {
                let (&[left], &[right]) = (left.as_slice(), right.as_slice()) else {
                    self.cx.report(mistake::compared_results(*span));
                    return None;
                };
                self.lower_two_folds(compare, [first, second], [left, right], scope, out)
            }
            (ExprKind::Aggregate(aggregate), _) => {
                self.lower_fold(aggregate, *op, rhs, &left, scope, out)
            }
            (_, ExprKind::Aggregate(aggregate)) => {
                self.lower_fold(aggregate, flip(*op), lhs, &right, scope, out)
            }
            (ExprKind::Tuple(_), _) | (_, ExprKind::Tuple(_)) => {
                self.cx.report(mistake::tuple_without_fold(*span));
                None
            }
            _ => self.lower_plain(compare, scope, out),
        }
    }

    /// A comparison of two aggregates, each with one result. The types of the results are known or have a mistake.
    fn lower_two_folds(
        &mut self,
        compare: &ast::Compare<'t>,
        [first, second]: [&ast::Aggregate<'t>; 2],
        types: [Option<Type>; 2],
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<()> {
        let [left, Some(ty)] = types else {
            self.report_untyped(second);
            return None;
        };
        if left.is_some_and(|it| !self.have_one_type(compare, it, ty)) {
            return None;
        }
        let ast::Compare { lhs, op, rhs, span } = compare;
        let right = self.fresh(ty, scope, rhs.span);
        self.lower_aggregate(second, vec![Term::Var(right)], scope, out)?;
        let left = self.fresh(ty, scope, lhs.span);
        self.lower_aggregate(first, vec![Term::Var(left)], scope, out)?;
        let (lhs, rhs) = (Expr::Var(left), Expr::Var(right));
        out.push(Literal::Compare(Compare { op: *op, lhs, rhs, span: *span }));
        Some(())
    }

    /// Whether the two sides have the same type; reports it if not.
    fn have_one_type(&mut self, compare: &ast::Compare<'t>, left: Type, right: Type) -> bool {
        if left != right {
            let (left, right) = (self.cx.type_name(left), self.cx.type_name(right));
            let report = mistake::compare_types(compare.lhs.span, left, compare.rhs.span, right);
            self.cx.report(report);
        }
        left == right
    }

    /// A comparison without aggregates.
    fn lower_plain(
        &mut self,
        compare: &ast::Compare<'t>,
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<()> {
        let &ast::Compare { ref lhs, op, ref rhs, span } = compare;
        let ty = match (self.type_of(lhs, scope), self.type_of(rhs, scope)) {
            (Some(left), Some(right)) if !self.have_one_type(compare, left, right) => return None,
            (Some(ty), _) | (_, Some(ty)) => ty,
            (None, None) => {
                let explained =
                    self.has_reported_mistake(lhs, scope) | self.has_reported_mistake(rhs, scope);
                if !self.unresolved && !explained {
                    self.cx.report(mistake::unknown_type(span));
                }
                return None;
            }
        };
        if ty == Type::Text && !matches!(op, Op::Eq | Op::Ne) {
            self.cx.report(mistake::ordered_texts(span));
            return None;
        }
        let (lhs, rhs) = (self.lower_expr(lhs, ty, scope), self.lower_expr(rhs, ty, scope));
        out.push(Literal::Compare(Compare { op, lhs: lhs?, rhs: rhs?, span }));
        Some(())
    }

    /// Reports the folded expressions that have no type, unless that follows from mistakes that have been reported.
    fn report_untyped(&mut self, aggregate: &ast::Aggregate<'t>) {
        let scope = scope_of(aggregate);
        for expr in &aggregate.exprs {
            let explained =
                self.type_of(expr, scope).is_some() || self.has_reported_mistake(expr, scope);
            if !explained && !self.unresolved {
                self.cx.report(mistake::unknown_type(expr.span));
            }
        }
    }

    /// Whether an expression has no type because of a mistake that has been reported. Those of `_` and of several values
    /// are reported here.
    fn has_reported_mistake(&mut self, expr: &ast::Expr<'t>, scope: Scope) -> bool {
        match &expr.kind {
            ExprKind::Tuple(_) => {
                self.cx.report(mistake::tuple_inside(expr.span));
                true
            }
            ExprKind::Wild => {
                self.cx.report(mistake::wildcard_in_expression(expr.span));
                true
            }
            ExprKind::Var(name) => {
                let id = self.var(name, scope);
                self.info(id).reported
            }
            _ => false,
        }
    }

    /// A fold compared with terms or an expression.
    fn lower_fold(
        &mut self,
        aggregate: &ast::Aggregate<'t>,
        op: Op,
        other: &ast::Expr<'t>,
        types: &[Option<Type>],
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<()> {
        let Some(types) = types.iter().copied().collect::<Option<Vec<Type>>>() else {
            self.report_untyped(aggregate);
            return None;
        };
        if op == Op::Eq {
            let parts = match &other.kind {
                ExprKind::Tuple(parts) => parts.as_slice(),
                _ => std::slice::from_ref(other),
            };
            let mut results = Vec::new();
            for (part, ty) in parts.iter().zip(types) {
                results.push(self.result(part, ty, scope, out));
            }
            let results = results.into_iter().collect::<Option<Vec<Term>>>()?;
            return self.lower_aggregate(aggregate, results, scope, out);
        }
        let &[ty] = types.as_slice() else {
            self.cx.report(mistake::ordered_results(other.span));
            return None;
        };
        if !self.has_type(other, ty, scope) {
            return None;
        }
        let result = self.fresh(ty, scope, aggregate.span);
        let rhs = self.lower_expr(other, ty, scope);
        self.lower_aggregate(aggregate, vec![Term::Var(result)], scope, out)?;
        let (lhs, span) = (Expr::Var(result), aggregate.span);
        out.push(Literal::Compare(Compare { op, lhs, rhs: rhs?, span }));
        Some(())
    }

    /// One result of a fold. A wildcard takes any value.
    fn result(
        &mut self,
        part: &ast::Expr<'t>,
        ty: Type,
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<Term> {
        if !self.has_type(part, ty, scope) {
            return None;
        }
        match self.term(part, ty, scope, out)? {
            Term::Wild => Some(Term::Var(self.fresh(ty, scope, part.span))),
            term => Some(term),
        }
    }

    /// Whether a variable or an expression may be of that type; reports it if not. Constants are checked as they become
    /// values.
    fn has_type(&mut self, expr: &ast::Expr<'t>, ty: Type, scope: Scope) -> bool {
        if matches!(expr.kind, ExprKind::Var(_) | ExprKind::Binary(..))
            && let Some(found) = self.type_of(expr, scope)
            && found != ty
        {
            let (wanted, found) = (self.cx.type_name(ty), self.cx.type_name(found));
            let report = mistake::wrong_type(expr.span, wanted, found);
            self.cx.report(report);
            return false;
        }
        true
    }

    fn lower_aggregate(
        &mut self,
        aggregate: &ast::Aggregate<'t>,
        results: Vec<Term>,
        scope: Scope,
        out: &mut Vec<Literal>,
    ) -> Option<()> {
        // The first walk has reported an aggregate inside another.
        if scope != OUTER {
            return None;
        }
        let inner = scope_of(aggregate);
        let body = self.lower_body(&aggregate.body, inner);
        let mut exprs = Vec::new();
        if matches!(aggregate.fold, Fold::Min | Fold::Max) {
            self.report_untyped(aggregate);
        }
        for expr in &aggregate.exprs {
            let ty = match aggregate.fold {
                Fold::Min | Fold::Max => self.type_of(expr, inner),
                Fold::Count | Fold::Sum => Some(Type::Int),
            };
            if ty == Some(Type::Text) {
                self.cx.report(mistake::folded_texts(expr.span));
            }
            exprs.push(ty.and_then(|ty| self.lower_expr(expr, ty, inner)));
        }
        let locals = (0..self.vars.len() as u16)
            .map(VarId)
            .filter(|it| self.vars[usize::from(it.0)].scope == inner)
            .collect();
        out.push(Literal::Aggregate(Aggregate {
            fold: aggregate.fold,
            exprs: exprs.into_iter().collect::<Option<_>>()?,
            body,
            results,
            locals,
            span: aggregate.span,
        }));
        Some(())
    }
}

/// An expression, or its value if both operands are constants and the result is in range.
fn fold_constants(op: Arith, lhs: Expr, rhs: Expr) -> Expr {
    if let (&Expr::Const(a), &Expr::Const(b)) = (&lhs, &rhs)
        && let Some(value) = op.apply(a, b)
    {
        return Expr::Const(value);
    }
    Expr::Binary(op, Box::new(lhs), Box::new(rhs))
}

/// `5 < n` is `n > 5`.
fn flip(op: Op) -> Op {
    match op {
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        Op::Eq | Op::Ne => op,
    }
}
