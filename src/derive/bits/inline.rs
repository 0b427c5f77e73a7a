//! Inlining: a relation with one simple rule is replaced by the rule's body where other rules read it.
//!
//! A relation of two columns or more with one rule, whose body consists of atoms over the head's own variables, is
//! replaced by that body in positive literals: `legal(p, t) :- goes(p, t), !unsafe(p, t).` costs its readers one more
//! row in an AND instead of a table. Negated literals, aggregates, reactions and queries still read the relation
//! itself, which is derived for them. The datafrog evaluator does not inline.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::rules::{Atom, Literal, Program, RelId, Role, Rule, Term, Var, VarId};

/// A literal is not replaced if the rule's body up to there, with the replacement, would be longer than this.
const MAX_BODY: usize = 24;

/// The rules of the program, by number, with simple rules inlined in their bodies.
pub(super) fn inlined(program: &Program) -> Vec<Cow<'_, Rule>> {
    let mut rules: Vec<Cow<'_, Rule>> = program.rules.iter().map(Cow::Borrowed).collect();
    // Lower strata first, so that an inlined body has been inlined itself.
    for stratum in &program.strata {
        for &rel in &stratum.relations {
            for &id in &program.relation(rel).rules {
                let at = usize::from(id.0);
                if let Some(rule) = substituted(program, &rules, &rules[at]) {
                    rules[at] = Cow::Owned(rule);
                }
            }
        }
    }
    rules
}

/// The rule with inlined literals; `None` if there is nothing to inline.
fn substituted(program: &Program, rules: &[Cow<'_, Rule>], rule: &Rule) -> Option<Rule> {
    let is_simple = |literal: &Literal| match literal {
        Literal::Atom(atom) => !atom.negated && simple_rule(program, rules, atom.rel).is_some(),
        _ => false,
    };
    if !rule.body.iter().any(is_simple) {
        return None;
    }
    let mut rule = rule.clone();
    let body = std::mem::take(&mut rule.body);
    for literal in body {
        match &literal {
            Literal::Atom(atom) if !atom.negated && atom.rel != rule.head => {
                match simple_rule(program, rules, atom.rel) {
                    // A chain of such relations could double the body at every step.
                    Some(inner) if rule.body.len() + inner.body.len() <= MAX_BODY => {
                        replace(program, &mut rule, atom, inner)
                    }
                    _ => rule.body.push(literal),
                }
            }
            _ => rule.body.push(literal),
        }
    }
    Some(rule)
}

/// The relation's only rule, if its head is distinct variables and its body atoms over these.
fn simple_rule<'r>(program: &Program, rules: &'r [Cow<'_, Rule>], rel: RelId) -> Option<&'r Rule> {
    let relation = program.relation(rel);
    let [only] = relation.rules.as_slice() else { return None };
    let rule: &Rule = &rules[usize::from(only.0)];
    let distinct: BTreeSet<VarId> = rule.args.iter().filter_map(Term::var).collect();
    let plain = |literal: &Literal| match literal {
        Literal::Atom(atom) => atom.rel != rel && atom.args.iter().all(|it| rule.args.contains(it)),
        _ => false,
    };
    (relation.role == Role::Derived
        && rule.args.len() >= 2
        && distinct.len() == rule.args.len()
        && !rule.body.is_empty()
        && rule.body.iter().all(plain))
    .then_some(rule)
}

/// Adds the body of the rule `inner` to a rule, with the arguments of the atom in place of those of its head.
fn replace(program: &Program, rule: &mut Rule, atom: &Atom, inner: &Rule) {
    let mut args = atom.args.clone();
    let is_twice = |atom: &Atom, term: Term| atom.args.iter().filter(|it| **it == term).count() > 1;
    let needs_variable = |term: Term| match inner.body.as_slice() {
        [Literal::Atom(only)] => is_twice(only, term),
        _ => true,
    };
    for (at, arg) in args.iter_mut().enumerate() {
        // A wildcard that is used more than once becomes a variable: two wildcards need not have the same value.
        if *arg == Term::Wild && needs_variable(inner.args[at]) {
            let ty = program.relation(atom.rel).columns[at].ty;
            rule.vars.push(Var { name: format!("_inlined{}", rule.vars.len()), ty });
            *arg = Term::Var(VarId((rule.vars.len() - 1) as u16));
        }
    }
    for literal in &inner.body {
        let Literal::Atom(part) = literal else { continue };
        let given =
            |term: &Term| inner.args.iter().position(|it| it == term).map_or(*term, |at| args[at]);
        let args = part.args.iter().map(given).collect();
        rule.body.push(Literal::Atom(Atom { args, ..part.clone() }));
    }
}
