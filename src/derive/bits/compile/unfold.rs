//! Unfolding: where a reaction asks a relation about a value that is known, it reads the relation's rules instead.
//!
//! A relation that is derived on demand is derived whole, for all pieces, when a reaction asks what it says of one.
//! So an atom whose first argument is narrow (a constant, or a variable of few values) is replaced by the bodies of
//! the relation's rules, one plan for each, with the atom's terms in place of the head's. Solutions are distinguished
//! by the variables that the reaction names, so it makes no difference that the bodies bind other variables as well,
//! or find a solution twice. Deliberately absent: negated atoms, since a join cannot require that no rule holds;
//! maintained relations, which are rows already; recursion.

use std::collections::BTreeSet;

use crate::rules::{
    Atom, Compare, Expr, Input, Literal, Op, Program, Reaction, RelId, Role, Term, Type, VarId,
};

use super::super::layout::size;
use super::super::word::Word;
use super::{Compiler, LiveRule, Mode, is_atom_of};

/// Maximum number of rules of a relation that is unfolded.
const MAX_RULES: usize = 3;
/// Maximum number of bodies of a reaction after unfolding.
const MAX_BODIES: usize = 6;
/// Maximum number of literals of a body.
const MAX_LITERALS: usize = 24;
/// Maximum number of variables of a body.
const MAX_BODY_VARS: usize = 96;
/// Maximum number of variables and wildcards of a body: fewer than of a plan, since the planner adds variables.
const MAX_WITH_WILDCARDS: usize = 128;
/// Where an input has at least this many values, few entities share each of them, as few pieces share a square.
const MANY_VALUES: usize = 16;

/// A body of a reaction, with the types of its variables: those of the reaction first.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) types: Vec<Type>,
    pub(super) literals: Vec<Literal>,
}

impl<W: Word> Compiler<'_, W> {
    /// The bodies that together have the same solutions as the body of a reaction.
    pub(super) fn unfolded(&self, reaction: &Reaction, body: &[&Literal]) -> Vec<Body> {
        let types = reaction.vars.iter().map(|it| it.ty).collect();
        let whole = Body { types, literals: body.iter().map(|&it| it.clone()).collect() };
        let params: BTreeSet<VarId> = reaction.params.iter().filter_map(Term::var).collect();
        let (mut open, mut done) = (vec![whole], Vec::new());
        while let Some(body) = open.pop() {
            match self.unfold_one(&body, &params) {
                Some(bodies) if open.len() + done.len() + bodies.len() <= MAX_BODIES => {
                    open.extend(bodies);
                }
                _ => done.push(body),
            }
        }
        done
    }

    /// The bodies that replace a body when one of its atoms is unfolded; `None` if no atom can be, or if one of these
    /// bodies would be too large.
    fn unfold_one(&self, body: &Body, params: &BTreeSet<VarId>) -> Option<Vec<Body>> {
        let narrow = narrow_vars(self.program, &body.literals, params);
        let (at, atom, rules) = body.literals.iter().enumerate().find_map(|(at, literal)| {
            let Literal::Atom(atom) = literal else { return None };
            let rules = self.rules_to_unfold(atom.rel)?;
            let is_narrow = atom.args.first().is_some_and(|it| is_narrow(it, &narrow));
            (is_narrow && !atom.negated).then_some((at, atom, rules))
        })?;
        let others = || body.literals[..at].iter().chain(&body.literals[at + 1..]).cloned();
        let mut bodies = Vec::new();
        for live in rules {
            let rest = Body { types: body.types.clone(), literals: others().collect() };
            bodies.extend(unfold(rest, live, atom)?);
        }
        Some(bodies)
    }

    /// The rules of a relation, if they can be read instead of it: they are few and not recursive, and no head has a
    /// variable twice.
    fn rules_to_unfold(&self, rel: RelId) -> Option<&[LiveRule<'_>]> {
        let rules = self.live[usize::from(rel.0)].as_slice();
        let is_plain = |it: &LiveRule<'_>| {
            let head: Vec<VarId> = it.rule.args.iter().filter_map(Term::var).collect();
            head.iter().collect::<BTreeSet<_>>().len() == head.len()
                && !it.body.iter().any(|literal| is_atom_of(literal, rel))
        };
        let is_on_demand = matches!(self.modes[usize::from(rel.0)], Mode::OnDemand { .. });
        let is_fit = is_on_demand && !rules.is_empty() && rules.len() <= MAX_RULES;
        (is_fit && rules.iter().all(is_plain)).then_some(rules)
    }
}

/// Whether a term is a constant or one of the narrow variables.
fn is_narrow(term: &Term, narrow: &BTreeSet<VarId>) -> bool {
    match term {
        Term::Var(var) => narrow.contains(var),
        Term::Const(_) => true,
        Term::Wild => false,
    }
}

/// The variables that have few values once the parameters have theirs: the parameters, those of inputs about the game,
/// and those of inputs whose entity is narrow, or whose value is narrow and shared by few entities.
fn narrow_vars(program: &Program, body: &[Literal], params: &BTreeSet<VarId>) -> BTreeSet<VarId> {
    let mut narrow = params.clone();
    loop {
        let before = narrow.len();
        for literal in body {
            let Literal::Atom(atom) = literal else { continue };
            let is_narrow = |at: usize| is_narrow(&atom.args[at], &narrow);
            let relation = program.relation(atom.rel);
            let has_few_rows = match relation.role {
                _ if atom.negated => false,
                Role::Input(Input::Key(_)) => {
                    let values = size(program, relation.columns[1].ty);
                    is_narrow(0) || is_narrow(1) && values.is_some_and(|it| it >= MANY_VALUES)
                }
                Role::Input(Input::Game(_)) => true,
                _ => false,
            };
            if has_few_rows {
                narrow.extend(atom.args.iter().filter_map(Term::var));
            }
        }
        if narrow.len() == before {
            return narrow;
        }
    }
}

/// The rest of a body, with the body of a rule in place of an atom. The list is empty if the head and the atom have
/// different constants in one place: there is no solution then. `None` if the body would be too large.
fn unfold(mut body: Body, live: &LiveRule<'_>, atom: &Atom) -> Option<Vec<Body>> {
    let rule = live.rule;
    // By variable of the rule, what stands for it in the body.
    let mut terms: Vec<Option<Term>> = vec![None; rule.vars.len()];
    for (&head, &arg) in rule.args.iter().zip(&atom.args) {
        match (head, arg) {
            (_, Term::Wild) | (Term::Wild, _) => {}
            (Term::Var(var), arg) => terms[usize::from(var.0)] = Some(arg),
            (Term::Const(head), Term::Const(arg)) if head == arg => {}
            (Term::Const(_), Term::Const(_)) => return Some(Vec::new()),
            (Term::Const(value), Term::Var(var)) => {
                let (lhs, rhs) = (Expr::Var(var), Expr::Const(value));
                let equal = Compare { op: Op::Eq, lhs, rhs, span: atom.span };
                body.literals.push(Literal::Compare(equal));
            }
        }
    }
    for &literal in &live.body {
        let mut literal = literal.clone();
        literal.substitute(&mut |var| {
            // A variable of the rule's own becomes a new one of the body.
            *terms[usize::from(var.0)].get_or_insert_with(|| {
                body.types.push(rule.vars[usize::from(var.0)].ty);
                Term::Var(VarId((body.types.len() - 1) as u16))
            })
        });
        body.literals.push(literal);
    }
    let variables = body.types.len();
    let fits = body.literals.len() <= MAX_LITERALS
        && variables <= MAX_BODY_VARS
        && variables + wildcards(&body.literals) <= MAX_WITH_WILDCARDS;
    fits.then(|| vec![body])
}

/// Number of wildcards in literals.
fn wildcards(literals: &[Literal]) -> usize {
    let of = |literal: &Literal| match literal {
        Literal::Atom(atom) => atom.args.iter().filter(|it| **it == Term::Wild).count(),
        Literal::Compare(_) => 0,
        Literal::Aggregate(aggregate) => wildcards(&aggregate.body),
    };
    literals.iter().map(of).sum()
}
