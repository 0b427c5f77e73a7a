//! Checks one clause: which variables belong to which aggregates, and their types.
//!
//! A first walk over the tree (here) finds variables and types; a second (`lower`) builds the
//! checked rule. Deliberately absent: whether a variable that occurs more than once is bound (`safety`).

use foldhash::{HashMap, HashMapExt, HashSet};

use super::super::ast::{Aggregate, Atom, Clause, Compare, Expr, ExprKind, Literal, Name};
use super::super::diagnostic::Diagnostic;
use super::super::limits::{self, LimitError};
use super::super::mistake;
use super::super::program::{EventId, Fold, RelId, Role, Rule, RuleId, Span, Type, Var, VarId};
use super::{Checker, Info, Types};

/// Maximum number of variables of a rule that are searched one by one; more are indexed.
const FEW: usize = 24;

/// The part of a body that a variable belongs to: one aggregate, or everything outside of aggregates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Scope {
    /// Different for each aggregate, and 0 outside of aggregates.
    id: u32,
    /// Whether it is the scope of a `count` or `sum`: there each value of a variable counts, so it is no mistake if the
    /// variable occurs only once.
    multiplies: bool,
}

/// The scope outside all aggregates.
pub(super) const OUTER: Scope = Scope { id: 0, multiplies: false };

/// The role of an occurrence of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Head,
    Param,
    /// An argument of a positive atom.
    Atom,
    /// An argument of a negated atom.
    Negated,
    /// An operand of a comparison, an operand of arithmetic in a positive atom, or a value that an aggregate folds.
    Value,
    Effect,
    /// Named by the text of `because`.
    Because,
    /// Named by `.plan`.
    Plan,
}

impl Use {
    /// The mistake that the head, an effect, `because` or `.plan` uses a variable that nothing binds.
    pub(super) fn unbound(
        self,
        name: &str,
        span: Span,
        member: Option<&str>,
    ) -> Option<Diagnostic> {
        match self {
            Self::Head => Some(mistake::unbound_in_head(name, span, member)),
            Self::Effect => Some(mistake::unbound_in_effect(name, span, member)),
            Self::Because => Some(mistake::unbound_in("because", name, span, member)),
            Self::Plan => Some(mistake::unbound_in(".plan", name, span, member)),
            Self::Param | Self::Atom | Self::Negated | Self::Value => None,
        }
    }
}

/// The declaration that an atom's arguments are checked against.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject {
    Relation(RelId),
    Event(EventId),
    /// An action with its unlisted arguments.
    Whole(RelId),
}

impl From<RelId> for Subject {
    fn from(id: RelId) -> Self {
        Self::Relation(id)
    }
}

#[derive(Default)]
pub(super) struct VarInfo<'t> {
    pub(super) name: String,
    pub(super) ty: Option<Type>,
    /// The place that the type comes from.
    ty_span: Span,
    /// [`OUTER`], or the scope of the aggregate that the variable is local to ([`scope_of`]).
    pub(super) scope: Scope,
    pub(super) uses: Vec<(Span, Use)>,
    /// Whether a mistake with it has been reported.
    pub(super) reported: bool,
    /// The name as the rule has it; `None` if the checker generated the variable.
    pub(super) word: Option<&'t str>,
}

/// The number of literals of one form in a body.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    count: usize,
    /// The first one beyond the limit.
    excess: Option<Span>,
}

impl Counted {
    fn add(&mut self, span: Span, limit: usize) {
        self.count += 1;
        if self.count == limit + 1 {
            self.excess = Some(span);
        }
    }
}

/// A body that is being checked.
pub(super) struct Body<'c, 't> {
    pub(super) cx: &'c mut Checker<'t>,
    pub(super) vars: Vec<VarInfo<'t>>,
    /// The variables after the first [`FEW`].
    ids: HashMap<(Scope, &'t str), VarId>,
    /// Names that occur outside aggregates.
    outer: Vec<&'t str>,
    /// The same names as a set, made when it is first asked for.
    outer_set: Option<HashSet<&'t str>>,
    atoms: Counted,
    comparisons: Counted,
    /// Whether it is the body of a reaction.
    pub(super) is_reaction: bool,
    /// Whether something in it could not be resolved, so that no rule is made of it. Mistakes that may only follow from
    /// that (unbound variables, unknown types) are not reported.
    pub(super) unresolved: bool,
    /// Whether it exceeds a limit, so that it is not examined further.
    pub(super) too_large: bool,
    /// The number of variables that the checker generated.
    generated: usize,
}

impl<'t> Checker<'t> {
    pub(super) fn clause(&mut self, clause: &Clause<'t>) {
        let head = self.head(clause);
        let mut body = Body::new(self);
        body.note_outer(&clause.head.args, &clause.body);
        clause.because.into_iter().for_each(|it| body.note_text(it));
        body.collect_atom(&clause.head, head.map(Subject::from), Use::Head, OUTER);
        body.collect_body(&clause.body);
        if let Some(text) = clause.because {
            body.collect_text(text, Use::Because);
        }
        clause.plan.iter().for_each(|it| body.collect_name(*it, None, Use::Plan));
        let order = body.ids_of(&clause.plan);
        let lowered = body.lower_clause(clause, head, &order);
        let vars = body.into_vars();
        let (Some(head), Some((args, body))) = (head, lowered) else {
            return;
        };
        let id = RuleId(self.rules.len() as u16);
        let because = clause.because.map(|it| it.text.into());
        self.rules.push(Rule { id, head, args, body, vars, because, order, span: clause.span });
    }

    /// The relation that a clause concludes, if there is one of that name. Reports a relation that no clause, or no
    /// clause of this file, may conclude.
    fn head(&mut self, clause: &Clause<'t>) -> Option<RelId> {
        let name = clause.head.name;
        let Some(id) = self.find(name) else {
            // The relation that is probably meant is not told to have no rules, too.
            let near = self.nearest_of(name, || {
                self.relation_ids.visible(&self.scopes, name.span).into_iter().collect()
            });
            let meant = near.and_then(|it| self.known(Name { text: it, ..name }));
            self.concluded.extend(meant);
            return None;
        };
        self.concluded.insert(id);
        let relation = self.relation(id);
        let declared = relation.span;
        match relation.role {
            Role::Input(_) => self.report(mistake::input_in_head(name, declared)),
            Role::Given(_) => self.report(mistake::trial_in_head(name, declared)),
            Role::Builtin(_) => self.report(mistake::builtin_in_head(name, declared)),
            _ if !relation.open && declared.source != name.span.source => {
                self.report(mistake::closed_relation(name, declared));
            }
            _ => {}
        }
        if self.relation(id).role == Role::Static {
            self.check_static(name, &clause.body);
        }
        Some(id)
    }

    /// Statics are computed once, so they may not depend on what changes.
    fn check_static(&mut self, head: Name<'t>, body: &[Literal<'t>]) {
        for literal in body {
            match literal {
                Literal::Atom { atom, .. } => {
                    let Some(id) = self.known(atom.name) else {
                        continue;
                    };
                    let relation = self.relation(id);
                    if matches!(relation.role, Role::Input(_) | Role::Derived | Role::Given(_)) {
                        let report = mistake::static_depends(head, atom.name, relation.span);
                        self.report(report);
                    }
                }
                Literal::Compare(Compare { lhs, rhs, .. }) => {
                    for side in [lhs, rhs] {
                        if let ExprKind::Aggregate(aggregate) = &side.kind {
                            self.check_static(head, &aggregate.body);
                        }
                    }
                }
            }
        }
    }

    /// The declaration that an atom's arguments are checked against.
    pub(super) fn subject(&self, subject: Subject) -> &Info<'t> {
        match subject {
            Subject::Relation(id) => self.info(id),
            Subject::Event(id) => &self.events[usize::from(id.0)],
            Subject::Whole(id) => self.whole.get(&id).unwrap_or_else(|| self.info(id)),
        }
    }
}

impl<'c, 't> Body<'c, 't> {
    pub(super) fn new(cx: &'c mut Checker<'t>) -> Self {
        Self {
            cx,
            vars: Vec::new(),
            ids: HashMap::new(),
            outer: Vec::new(),
            outer_set: None,
            atoms: Counted::default(),
            comparisons: Counted::default(),
            is_reaction: false,
            unresolved: false,
            too_large: false,
            generated: 0,
        }
    }

    pub(super) fn into_vars(self) -> Vec<Var> {
        let var = |it: VarInfo<'t>| Var { name: it.name, ty: it.ty.unwrap_or(Type::Int) };
        self.vars.into_iter().map(var).collect()
    }

    /// Notes the variables that occur outside aggregates; all others are local to theirs.
    pub(super) fn note_outer(&mut self, args: &[Expr<'t>], body: &[Literal<'t>]) {
        for arg in args {
            self.note_expr(arg);
        }
        for literal in body {
            match literal {
                Literal::Atom { atom, .. } => atom.args.iter().for_each(|it| self.note_expr(it)),
                Literal::Compare(Compare { lhs, rhs, .. }) => {
                    self.note_expr(lhs);
                    self.note_expr(rhs);
                }
            }
        }
    }

    /// Notes the variables of an expression, without those in aggregates.
    pub(super) fn note_expr(&mut self, expr: &Expr<'t>) {
        match &expr.kind {
            ExprKind::Var(name) => self.note_outer_name(name),
            ExprKind::Binary(_, lhs, rhs) => {
                self.note_expr(lhs);
                self.note_expr(rhs);
            }
            ExprKind::Tuple(parts) => parts.iter().for_each(|it| self.note_expr(it)),
            _ => {}
        }
    }

    /// Notes the name of a variable outside aggregates.
    pub(super) fn note_outer_name(&mut self, name: &'t str) {
        self.outer.push(name);
        self.outer_set = None;
    }

    /// Notes a use of a variable by a bare name.
    pub(super) fn collect_name(&mut self, name: Name<'t>, ty: Option<Type>, usage: Use) {
        let id = self.var(name.text, OUTER);
        self.info(id).uses.push((name.span, usage));
        if let Some(ty) = ty {
            self.unify(id, ty, name.span);
        }
    }

    /// The variables that bare names stand for.
    pub(super) fn ids_of(&mut self, names: &[Name<'t>]) -> Vec<VarId> {
        names.iter().map(|it| self.var(it.text, OUTER)).collect()
    }

    /// The variable that a name stands for in a scope: the one outside aggregates if the name occurs there, too. Adds the
    /// variable at its first use.
    pub(super) fn var(&mut self, name: &'t str, scope: Scope) -> VarId {
        let scope = if scope != OUTER && self.is_outer(name) { OUTER } else { scope };
        let is_it = |it: &VarInfo<'t>| it.scope == scope && it.word == Some(name);
        if let Some(at) = self.vars.iter().take(FEW).position(is_it) {
            return VarId(at as u16);
        }
        let next = VarId(self.vars.len() as u16);
        if self.vars.len() >= FEW {
            let known = *self.ids.entry((scope, name)).or_insert(next);
            if known != next {
                return known;
            }
        }
        self.vars.push(VarInfo {
            name: name.to_string(),
            scope,
            word: Some(name),
            ..VarInfo::default()
        });
        next
    }

    /// Whether the name also occurs outside aggregates.
    fn is_outer(&mut self, name: &str) -> bool {
        let outer = &self.outer;
        self.outer_set.get_or_insert_with(|| outer.iter().copied().collect()).contains(name)
    }

    /// A new variable with a generated name, for a nested expression or the result of an aggregate.
    pub(super) fn fresh(&mut self, ty: Type, scope: Scope, span: Span) -> VarId {
        let name = loop {
            self.generated += 1;
            let name = format!("_{}", self.generated);
            if !self.vars.iter().any(|it| it.name == name) {
                break name;
            }
        };
        self.vars.push(VarInfo { name, ty: Some(ty), ty_span: span, scope, ..VarInfo::default() });
        VarId((self.vars.len() - 1) as u16)
    }

    pub(super) fn info(&mut self, id: VarId) -> &mut VarInfo<'t> {
        &mut self.vars[usize::from(id.0)]
    }

    pub(super) fn ty(&self, id: VarId) -> Option<Type> {
        self.vars[usize::from(id.0)].ty
    }

    /// Sets a variable's type, or reports that the variable has another.
    fn unify(&mut self, id: VarId, ty: Type, span: Span) {
        let var = self.info(id);
        match var.ty {
            None => (var.ty, var.ty_span) = (Some(ty), span),
            Some(old) if old != ty && !var.reported => {
                var.reported = true;
                let (name, old_span) = (var.name.clone(), var.ty_span);
                let (old, new) = (self.cx.type_name(old), self.cx.type_name(ty));
                let report = mistake::type_clash(&name, new, span, old, old_span);
                self.cx.report(report);
                self.unresolved = true;
            }
            Some(_) => {}
        }
    }

    // --- the first walk --------------------------------------------------------------------------

    pub(super) fn collect_body(&mut self, body: &[Literal<'t>]) {
        self.collect(body, OUTER);
        self.check_size();
        self.infer(body);
    }

    fn collect(&mut self, body: &[Literal<'t>], scope: Scope) {
        for literal in body {
            match literal {
                Literal::Atom { atom, negated } => {
                    let rel = self.cx.find(atom.name);
                    let usage = if *negated { Use::Negated } else { Use::Atom };
                    self.atoms.add(atom.span, limits::BODY_ATOMS);
                    self.collect_atom(atom, rel.map(Subject::from), usage, scope);
                }
                Literal::Compare(Compare { lhs, rhs, span, .. }) => {
                    self.comparisons.add(*span, limits::BODY_COMPARISONS);
                    self.collect_expr(lhs, None, Use::Value, scope);
                    self.collect_expr(rhs, None, Use::Value, scope);
                }
            }
        }
    }

    /// Reports the limits that the body exceeds, each at the first literal that is too much.
    fn check_size(&mut self) {
        let (atoms, comparisons) = (self.atoms, self.comparisons);
        let atoms = atoms.excess.map(|span| (LimitError::BodyAtoms(atoms.count), span));
        let comparisons =
            comparisons.excess.map(|span| (LimitError::BodyComparisons(comparisons.count), span));
        for (error, span) in atoms.into_iter().chain(comparisons) {
            self.cx.exceeds(error, span);
            (self.unresolved, self.too_large) = (true, true);
        }
    }

    /// Notes the uses of the variables in an atom. Without a subject, which was not found, they get no types.
    pub(super) fn collect_atom(
        &mut self,
        atom: &Atom<'t>,
        subject: Option<Subject>,
        usage: Use,
        scope: Scope,
    ) {
        let types = match subject {
            Some(subject) => self.cx.subject(subject).types.clone(),
            None => Types::new(),
        };
        match subject {
            Some(subject) if types.len() != atom.args.len() => {
                let relation = &self.cx.subject(subject).relation;
                let report =
                    mistake::arity(atom.name, types.len(), atom.args.len(), atom.span, relation);
                self.cx.report(report);
                self.unresolved = true;
            }
            None => self.unresolved = true,
            _ if types.contains(&None) => self.unresolved = true,
            _ => {}
        }
        let fits = types.len() == atom.args.len();
        for (at, arg) in atom.args.iter().enumerate() {
            let ty = types.get(at).copied().flatten().filter(|_| fits);
            self.collect_expr(arg, ty, usage, scope);
        }
    }

    pub(super) fn collect_expr(
        &mut self,
        expr: &Expr<'t>,
        ty: Option<Type>,
        usage: Use,
        scope: Scope,
    ) {
        match &expr.kind {
            ExprKind::Var(name) => {
                let id = self.var(name, scope);
                self.info(id).uses.push((expr.span, usage));
                if let Some(ty) = ty {
                    self.unify(id, ty, expr.span);
                }
            }
            ExprKind::Binary(_, lhs, rhs) => {
                // Inside an expression nothing is bound, and everything is a number.
                let usage = if usage == Use::Atom { Use::Value } else { usage };
                self.collect_expr(lhs, Some(Type::Int), usage, scope);
                self.collect_expr(rhs, Some(Type::Int), usage, scope);
            }
            ExprKind::Tuple(parts) => {
                for part in parts {
                    self.collect_expr(part, None, usage, scope);
                }
            }
            ExprKind::Aggregate(aggregate) => self.collect_aggregate(aggregate, scope),
            ExprKind::Wild | ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Text(_) => {}
        }
    }

    fn collect_aggregate(&mut self, aggregate: &Aggregate<'t>, scope: Scope) {
        if scope != OUTER {
            self.cx.report(mistake::nested_aggregate(aggregate.span));
            self.unresolved = true;
            return;
        }
        let scope = scope_of(aggregate);
        let ty = (aggregate.fold == Fold::Sum).then_some(Type::Int);
        self.collect(&aggregate.body, scope);
        for expr in &aggregate.exprs {
            self.collect_expr(expr, ty, Use::Value, scope);
        }
    }

    /// Propagates types across comparisons until nothing changes.
    fn infer(&mut self, body: &[Literal<'t>]) {
        let mut comparisons = Vec::new();
        gather(body, OUTER, &mut comparisons);
        for _ in 0..=comparisons.len().min(limits::BODY_COMPARISONS) {
            let mut changed = false;
            for &(Compare { lhs, rhs, .. }, scope) in &comparisons {
                let (left, right) = (self.types_of(lhs, scope), self.types_of(rhs, scope));
                if left.len() == right.len() {
                    changed |= self.spread(lhs, &right, scope);
                    changed |= self.spread(rhs, &left, scope);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Gives untyped variables of one side the types of the other.
    fn spread(&mut self, side: &Expr<'t>, types: &[Option<Type>], scope: Scope) -> bool {
        let parts = match &side.kind {
            ExprKind::Tuple(parts) => parts.as_slice(),
            _ => std::slice::from_ref(side),
        };
        let mut changed = false;
        for (part, ty) in parts.iter().zip(types) {
            let (ExprKind::Var(name), Some(ty)) = (&part.kind, ty) else {
                continue;
            };
            let id = self.var(name, scope);
            if self.ty(id).is_none() {
                self.unify(id, *ty, part.span);
                changed = true;
            }
        }
        changed
    }

    /// The types of an expression's results, as far as they are known.
    pub(super) fn types_of(&mut self, expr: &Expr<'t>, scope: Scope) -> Vec<Option<Type>> {
        match &expr.kind {
            ExprKind::Tuple(parts) => parts.iter().map(|it| self.type_of(it, scope)).collect(),
            ExprKind::Aggregate(aggregate) => match aggregate.fold {
                Fold::Count | Fold::Sum => vec![Some(Type::Int)],
                Fold::Min | Fold::Max => {
                    let scope = scope_of(aggregate);
                    aggregate.exprs.iter().map(|it| self.type_of(it, scope)).collect()
                }
            },
            _ => vec![self.type_of(expr, scope)],
        }
    }

    pub(super) fn type_of(&mut self, expr: &Expr<'t>, scope: Scope) -> Option<Type> {
        match &expr.kind {
            ExprKind::Var(name) => {
                let id = self.var(name, scope);
                self.ty(id)
            }
            ExprKind::Int(_) | ExprKind::Binary(..) => Some(Type::Int),
            ExprKind::Text(_) => Some(Type::Text),
            ExprKind::Wild | ExprKind::Const(_) | ExprKind::Tuple(_) | ExprKind::Aggregate(_) => {
                None
            }
        }
    }

    /// Reports variables that occur once, which should be wildcards or are misspelt.
    pub(super) fn check_single_uses(&mut self) {
        for at in 0..self.vars.len() {
            let var = &self.vars[at];
            let &[(span, usage)] = var.uses.as_slice() else {
                continue;
            };
            let (Some(word), false) = (var.word, var.reported) else {
                continue;
            };
            let counted = var.scope.multiplies && usage == Use::Atom;
            let exempt = word.starts_with('_')
                && !matches!(usage, Use::Head | Use::Effect | Use::Because | Use::Plan);
            if usage == Use::Param || counted || exempt {
                continue;
            }
            let member = self.cx.as_member(word, var.ty);
            let report = usage
                .unbound(word, span, member.as_deref())
                .unwrap_or_else(|| mistake::single_use(word, span, member.as_deref()));
            self.cx.report(report);
            self.vars[at].reported = true;
        }
    }
}

/// The scope of an aggregate.
pub(super) fn scope_of(aggregate: &Aggregate<'_>) -> Scope {
    let multiplies = matches!(aggregate.fold, Fold::Count | Fold::Sum);
    Scope { id: aggregate.span.start + 1, multiplies }
}

/// All comparisons of a body, those inside aggregates included, with their scopes.
fn gather<'a, 't>(
    body: &'a [Literal<'t>],
    scope: Scope,
    found: &mut Vec<(&'a Compare<'t>, Scope)>,
) {
    for literal in body {
        let Literal::Compare(compare) = literal else { continue };
        found.push((compare, scope));
        for side in [&compare.lhs, &compare.rhs] {
            if let (ExprKind::Aggregate(aggregate), OUTER) = (&side.kind, scope) {
                gather(&aggregate.body, scope_of(aggregate), found);
            }
        }
    }
}
