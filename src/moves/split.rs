//! Makes rules that tell which rows of an action have to be played out because of a preset's reactions to it, so that
//! the others need not be.
//!
//! If a preset's reaction writes what safety depends on, every row of an action is played out, unless the
//! preset's file says otherwise, by `.meta legality "rules"` or by rules that conclude the action's `simulates`
//! relation for the rows concerned (see `safety`). Such rules can often be made from the bodies of these
//! reactions: a reaction does nothing to a row that does not meet its condition. This is done for a preset if each of
//! these reactions has a condition that may fail.
//!
//! The rules are evaluated before the action, but the reaction is solved in the middle of it, when other reactions
//! have written facts. So a literal of the body is kept only if, whenever it holds as the reaction is solved, it also
//! held before the action:
//!
//! * a literal of any kind, if nothing that it depends on has been written in between;
//! * a positive atom whose facts can only have become fewer, or that follows from such facts without negation
//!   (but of statics) and aggregates;
//! * `was R(...)`, as `R(...)`, unless `R` depends on facts that expire as an action begins.
//!
//! All other literals are left out. The condition is then weaker, so more rows are played out than necessary, never
//! fewer. A condition may be the same for all rows: then all of them are played out where it holds, and none where it
//! does not.
//!
//! Deliberately absent: what a reaction does to a row that meets its condition (it is played out); aggregates
//! over what may have been written, since their values before the action may have been higher or lower.

use std::collections::BTreeSet;

use crate::facts::AttrId;
use crate::rules::{
    Action, Aggregate, Atom, Attributes, Column, Compare, Dependencies, Effect, Event, Expr, Given,
    Legality, Literal, Program, Reaction, RelId, Role, Rule, RuleId, Term, Var, VarId, term_vars,
    writes,
};

use super::safety::View;

/// Maximum number of literals kept of a body.
const KEPT: usize = 12;

/// Adds the rules for all actions whose safety is decided by rules. See the module's head.
pub fn split(program: &mut Program) {
    let Some(untenable) = program.relation_named("untenable") else { return };
    let rules = {
        let depends = Dependencies::of(program);
        let view = View::new(program, &depends, untenable);
        let declared = program.actions.iter().filter(|it| it.legality == Legality::Rules);
        declared.flat_map(|it| of_action(&view, it)).collect::<Vec<_>>()
    };
    if !rules.is_empty() {
        program.add_rules(rules);
    }
}

/// The rules for one action; none for a preset with a reaction that may affect every row.
fn of_action(view: &View<'_>, action: &Action) -> Vec<Rule> {
    let own = view.reactions_to(action);
    if view.expires_unforeseen(action).is_some() || own.iter().any(|it| view.may_veto(it)) {
        return Vec::new();
    }
    let unforeseen: Vec<&Reaction> =
        own.iter().copied().filter(|it| view.is_unforeseen(action, it)).collect();
    let owners: BTreeSet<Option<u16>> = unforeseen.iter().map(|it| it.owner).collect();
    let mut rules = Vec::new();
    for owner in owners {
        let theirs = unforeseen.iter().filter(|it| it.owner == owner);
        let found: Option<Vec<Rule>> =
            theirs.map(|it| rule(view, action, it, &earlier(view, &own, it)?)).collect();
        rules.extend(found.unwrap_or_default());
    }
    rules
}

/// The attributes that may have been written between the beginning of the action and the solving of a reaction. Batches
/// of other owners in its stage count as earlier, whatever their order.
struct Earlier {
    /// Attributes that may have new facts.
    set: Attributes,
    /// Attributes whose facts may have changed in any way.
    written: Attributes,
}

/// The attributes that earlier reactions may write; `None` if they call code, which may write anything.
fn earlier(view: &View<'_>, own: &[&Reaction], reaction: &Reaction) -> Option<Earlier> {
    let program = view.program;
    let (mut set, mut written) = (Attributes::default(), expired(program));
    let is_earlier = |it: &&&Reaction| {
        it.stage < reaction.stage || it.stage == reaction.stage && it.owner != reaction.owner
    };
    for first in own.iter().filter(is_earlier) {
        for consequence in view.consequences(first) {
            written.extend(&writes(program, consequence));
            for effect in &consequence.effects {
                match effect {
                    Effect::Set { rel, .. } => {
                        if let Role::Input(input) = program.relation(*rel).role {
                            input.attrs().for_each(|it| set.insert(it));
                        }
                    }
                    Effect::Inherit { .. } => {
                        program.stated.iter().for_each(|it| set.insert(it.1));
                    }
                    Effect::Spawn { .. } => defaults(program).for_each(|it| set.insert(it)),
                    Effect::Call { .. } => return None,
                    _ => {}
                }
            }
        }
    }
    written.extend(&set);
    Some(Earlier { set, written })
}

/// The attributes whose facts expire as an action begins.
fn expired(program: &Program) -> Attributes {
    let mut gone = Attributes::default();
    program.expiry.until_action.iter().for_each(|&it| gone.insert(it));
    gone
}

/// The attributes that a new entity has by default.
fn defaults(program: &Program) -> impl Iterator<Item = AttrId> + '_ {
    program.schema.attribute_ids().filter(|it| program.schema.attribute(*it).default.is_some())
}

/// The literals that are kept of a reaction's body, each behind the literals that give values to the variables that it
/// needs. The variables in `params` have values from the beginning.
fn conditions(
    view: &View<'_>,
    body: &[Literal],
    earlier: &Earlier,
    params: &BTreeSet<VarId>,
) -> Vec<Literal> {
    let (mut kept, mut bound) = (Vec::new(), params.clone());
    let mut left: Vec<&Literal> = body.iter().collect();
    while kept.len() < KEPT {
        let mut found = left.iter().enumerate();
        let next = found.find_map(|(at, it)| Some((at, as_before(view, it, earlier, &bound)?)));
        let Some((at, literal)) = next else { break };
        left.remove(at);
        literal.collect_vars(&mut bound);
        kept.push(literal);
    }
    kept
}

/// The literal to evaluate before the action in place of this one. `None` if this one may hold as the reaction is solved
/// without having held before the action, or if it needs variables that have no values yet. (A positive atom needs no
/// values, and a comparison may give a value to a variable.)
fn as_before(
    view: &View<'_>,
    literal: &Literal,
    earlier: &Earlier,
    bound: &BTreeSet<VarId>,
) -> Option<Literal> {
    match literal {
        Literal::Atom(atom) if atom.negated => {
            is_bound(atom, bound).then(|| unchanged(view, atom, earlier)).flatten()
        }
        Literal::Atom(atom) => unchanged(view, atom, earlier).or_else(|| {
            let (program, set) = (view.program, &earlier.set);
            let held = !program.is_hidden(atom.rel)
                && was_there(program, atom.rel, set, &mut BTreeSet::new());
            held.then(|| literal.clone())
        }),
        Literal::Compare(compare) => {
            let Compare { lhs, rhs, .. } = compare;
            let is_test = [lhs, rhs].into_iter().all(|it| is_computable(it, bound));
            let binds = |it: &Expr| match it {
                Expr::Var(var) => compare.side_for(*var).is_some_and(|it| is_computable(it, bound)),
                Expr::Const(_) | Expr::Binary(..) => false,
            };
            (is_test || binds(lhs) || binds(rhs)).then(|| literal.clone())
        }
        Literal::Aggregate(fold) => {
            let body = fold.body.iter().map(|it| match it {
                Literal::Atom(it) => unchanged(view, it, earlier),
                Literal::Compare(_) => Some(it.clone()),
                Literal::Aggregate(_) => None,
            });
            let body = body.collect::<Option<Vec<Literal>>>()?;
            let has_groups = fold.shared_vars().is_subset(bound);
            has_groups.then(|| Literal::Aggregate(Aggregate { body, ..fold.clone() }))
        }
    }
}

/// The atom to evaluate before the action in place of this one, if there is one with the same rows: the atom itself if
/// nothing that it depends on is written before the reaction is solved; `R(...)` for `was R(...)`.
fn unchanged(view: &View<'_>, atom: &Atom, earlier: &Earlier) -> Option<Literal> {
    let program = view.program;
    let is_same = |rel: RelId, except: &Attributes| !view.depends.reads(rel).intersects(except);
    let rel = if program.is_hidden(atom.rel) {
        was(program, atom.rel).filter(|it| is_same(*it, &expired(program)))
    } else {
        Some(atom.rel).filter(|it| is_same(*it, &earlier.written))
    }?;
    Some(Literal::Atom(Atom { rel, ..atom.clone() }))
}

/// `R`, if the relation is `was R`.
fn was(program: &Program, rel: RelId) -> Option<RelId> {
    let relation = program.relation(rel);
    match relation.role {
        Role::Given(Given::Before(of)) => Some(of),
        Role::Input(input) if program.is_before(input.attr()) => {
            program.relation_named(relation.name.strip_prefix("was ")?)
        }
        _ => None,
    }
}

/// `simulates(p, t) :- pseudo_legal(p, t), CONDITION.`; `None` if no condition is left that may fail, or if the action
/// has no such relations.
fn rule(view: &View<'_>, action: &Action, reaction: &Reaction, earlier: &Earlier) -> Option<Rule> {
    let program = view.program;
    let (simulates, pseudo_legal) = action.simulates.zip(action.pseudo_legal)?;
    let any = vec![Term::Wild; action.listed()];
    let params = match reaction.event {
        Event::Any => &any,
        _ => reaction.params.get(..action.listed())?,
    };
    let bound: BTreeSet<VarId> = term_vars(params).collect();
    let kept = conditions(view, &reaction.body, earlier, &bound);
    let has_value = params.iter().any(|it| matches!(it, Term::Const(_)));
    if !has_value && !kept.iter().any(|it| selects(program, it, &bound)) {
        return None;
    }
    let mut names = Names { from: reaction, vars: Vec::new(), known: Vec::new() };
    let params = params.iter().zip(&program.relation(simulates).columns);
    let args: Vec<Term> = params.map(|(param, column)| names.in_head(param, column)).collect();
    let first = Atom { rel: pseudo_legal, args: args.clone(), negated: false, span: reaction.span };
    let rest = kept.into_iter().map(|it| names.renamed(it));
    let body = std::iter::once(Literal::Atom(first)).chain(rest).collect();
    // The program numbers it.
    let id = RuleId(0);
    Some(Rule {
        id,
        head: simulates,
        args,
        body,
        vars: names.vars,
        because: None,
        order: Vec::new(),
        span: reaction.span,
    })
}

/// Whether a literal may fail: for some rows and not for others, or for all rows at once. Nothing is evaluated: a literal
/// with a variable of the row (`params`) is assumed to fail for some rows.
fn selects(program: &Program, literal: &Literal, params: &BTreeSet<VarId>) -> bool {
    let may_fail_for_all = match literal {
        Literal::Atom(it) if program.relation(it.rel).is_static() => false,
        Literal::Atom(it) => it.negated || it.args.iter().all(|it| matches!(it, Term::Const(_))),
        Literal::Compare(_) => true,
        Literal::Aggregate(it) => it.results.iter().all(|it| matches!(it, Term::Const(_))),
    };
    let mut vars = BTreeSet::new();
    literal.collect_vars(&mut vars);
    may_fail_for_all || !vars.is_disjoint(params)
}

/// Whether a row of this relation that is there when a reaction is solved was there before the action, too.
fn was_there(program: &Program, rel: RelId, set: &Attributes, seen: &mut BTreeSet<RelId>) -> bool {
    let relation = program.relation(rel);
    match relation.role {
        Role::Static | Role::Builtin(_) => true,
        Role::Input(input) => !input.attrs().any(|it| set.contains(it)),
        Role::Derived => {
            if !seen.insert(rel) {
                return true;
            }
            let mut bodies = relation.rules.iter().flat_map(|&it| &program.rule(it).body);
            bodies.all(|it| match it {
                Literal::Atom(it) if it.negated => program.relation(it.rel).is_static(),
                Literal::Atom(it) => was_there(program, it.rel, set, seen),
                Literal::Compare(_) => true,
                Literal::Aggregate(_) => false,
            })
        }
        Role::Given(_) => false,
    }
}

/// Whether all variables of an atom have values.
fn is_bound(atom: &Atom, bound: &BTreeSet<VarId>) -> bool {
    term_vars(&atom.args).all(|it| bound.contains(&it))
}

/// Whether all variables of an expression have values.
fn is_computable(expr: &Expr, bound: &BTreeSet<VarId>) -> bool {
    let mut vars = BTreeSet::new();
    expr.collect_vars(&mut vars);
    vars.is_subset(bound)
}

/// The variables of a rule that is made from a reaction. They are numbered anew, since the rule does not have all of the
/// reaction's variables.
struct Names<'r> {
    from: &'r Reaction,
    vars: Vec<Var>,
    /// Variables of the reaction, each with its number in the rule.
    known: Vec<(VarId, VarId)>,
}

impl Names<'_> {
    fn of(&mut self, id: VarId) -> VarId {
        if let Some((_, known)) = self.known.iter().find(|it| it.0 == id) {
            return *known;
        }
        let var = self.from.vars[usize::from(id.0)].clone();
        let new = self.push(var);
        self.known.push((id, new));
        new
    }

    /// The term in the head for a parameter of the reaction: a variable of its own if the reaction does not name one.
    fn in_head(&mut self, param: &Term, column: &Column) -> Term {
        match param {
            Term::Var(it) => Term::Var(self.of(*it)),
            Term::Const(it) => Term::Const(*it),
            Term::Wild => {
                Term::Var(self.push(Var { name: format!("_{}", column.name), ty: column.ty }))
            }
        }
    }

    fn push(&mut self, var: Var) -> VarId {
        self.vars.push(var);
        VarId((self.vars.len() - 1) as u16)
    }

    fn renamed(&mut self, mut literal: Literal) -> Literal {
        literal.substitute(&mut |it| Term::Var(self.of(it)));
        literal
    }
}
