//! Near misses: the least cost of the changes that would give a goal a row.
//!
//! Refutations use it to choose between partial matches that get equally far. A likely change costs little: a piece
//! is more likely to move out of the way than to change its kind, and statics never change. The cost is only a guide:
//! the search for it may be cut short, and no explanation shows it.

use std::ops::ControlFlow;

use super::context::{Context, match_head};
use crate::derive::solve::{self, Bindings};
use crate::rules::{Atom, Literal, RelId, Role, Rule};

// The costs of changes.

/// No change of the facts would suffice.
const NEVER: u32 = 1000;
/// A row that a negated literal forbids would have to disappear.
const GONE: u32 = 1;
/// A comparison or an aggregate would need another value.
const OTHERWISE: u32 = 5;
/// A fact would have to be added.
const FACT: u32 = 20;
/// A property of an entity would have to differ, or a fact have another value.
const NATURE: u32 = 40;
/// Nothing is known: the search was cut short, or the engine gives the rows.
const UNKNOWN: u32 = 500;
/// A row would follow by a rule; the changes that the rule needs are added.
const DERIVED: u32 = 1;

/// Maximum number of solutions of one literal that are followed.
const WAYS: usize = 64;

impl Context<'_> {
    /// The cost of satisfying the literals of a rule that fail with these bindings.
    pub(super) fn cost(&mut self, rule: &Rule, bindings: &Bindings) -> u32 {
        (0..rule.body.len()).map(|at| self.literal_cost(rule, at, bindings)).sum()
    }

    /// The literals of a rule on relations that are recursive with its head.
    pub(super) fn recursive_literals(&self, rule: &Rule) -> Vec<u16> {
        let Some(stratum) = self.recursion(rule.head) else { return Vec::new() };
        let leads_back = |literal: &Literal| match literal {
            Literal::Atom(it) => !it.negated && stratum.relations.contains(&it.rel),
            Literal::Compare(_) | Literal::Aggregate(_) => false,
        };
        (0..).zip(&rule.body).filter(|it| leads_back(it.1)).map(|it| it.0).collect()
    }

    fn literal_cost(&mut self, rule: &Rule, at: usize, bindings: &Bindings) -> u32 {
        if !self.fails(&rule.body, at, bindings) {
            return 0;
        }
        match &rule.body[at] {
            Literal::Compare(_) | Literal::Aggregate(_) => OTHERWISE,
            Literal::Atom(it) if it.negated && self.is_property(it) => NATURE,
            Literal::Atom(it) if it.negated => GONE,
            Literal::Atom(it) => self.distance(it.rel, &solve::pattern(it, bindings)),
        }
    }

    /// Whether an atom is a property of one entity.
    fn is_property(&self, atom: &Atom) -> bool {
        let columns = &self.program.relation(atom.rel).columns;
        matches!(columns.as_slice(), [only] if self.program.is_entity(only.ty))
    }

    /// The cost of giving the goal a row.
    fn distance(&mut self, rel: RelId, pattern: &[Option<i64>]) -> u32 {
        match self.program.relation(rel).role {
            Role::Static | Role::Builtin(_) => return NEVER,
            Role::Input(_) => {
                let has_other_value = self.instead(rel, pattern).is_some();
                return if has_other_value { NATURE } else { FACT };
            }
            Role::Given(_) => return UNKNOWN,
            Role::Derived => {}
        }
        let key = (rel, pattern.to_vec());
        if let Some(known) = self.distances.get(&key) {
            return *known;
        }
        if self.measures_left == 0 {
            return UNKNOWN;
        }
        self.measures_left -= 1;
        // A row that supports only itself never holds.
        self.distances.insert(key.clone(), NEVER);
        let mut least = NEVER;
        for &id in &self.program.relation(rel).rules {
            let rule = self.program.rule(id);
            if let Some(mut bindings) = match_head(rule, pattern, 0) {
                let rest: Vec<u16> = (0..rule.body.len() as u16).collect();
                let back = self.recursive_literals(rule);
                self.lower(rule, &rest, &back, &mut bindings, DERIVED, &mut least);
            }
        }
        self.distances.insert(key, least);
        least
    }

    /// Lowers `least` to the least total found for a rule's body, where `cost` is that of the literals tried so far. Those
    /// in `rest` are tried with each binding that they allow.
    fn lower(
        &mut self,
        rule: &Rule,
        rest: &[u16],
        back: &[u16],
        bindings: &mut Bindings,
        cost: u32,
        least: &mut u32,
    ) {
        if cost >= *least {
            return;
        }
        let body = &rule.body;
        let Some(literal) = self.next_literal(rule, rest, back, bindings) else {
            *least = cost;
            return;
        };
        let later = solve::without(rest, literal);
        let literal = usize::from(literal);
        let mut ways: Vec<Bindings> = Vec::new();
        let _ = solve::literal_solutions(self.rows, &body[literal], bindings, &mut |it| {
            ways.push(it.clone());
            if ways.len() < WAYS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if ways.is_empty() {
            let more = self.literal_cost(rule, literal, bindings);
            return self.lower(rule, &later, back, bindings, cost + more, least);
        }
        for mut way in ways {
            self.lower(rule, &later, back, &mut way, cost, least);
        }
    }

    /// The literal in `rest` to evaluate next: first a static or comparison that binds nothing; then the
    /// solver's choice among those that bind a variable and are not recursive, else among all that are not recursive,
    /// else among all.
    fn next_literal(
        &self,
        rule: &Rule,
        rest: &[u16],
        back: &[u16],
        bindings: &Bindings,
    ) -> Option<u16> {
        let body = &rule.body;
        let is_fixed = |it: u16| match &body[usize::from(it)] {
            Literal::Atom(it) => self.program.relation(it.rel).is_static(),
            Literal::Compare(_) => true,
            Literal::Aggregate(_) => false,
        };
        let is_test = |it: u16| solve::is_test(body, usize::from(it), bindings);
        if let Some(test) = rest.iter().copied().find(|&it| is_fixed(it) && is_test(it)) {
            return Some(test);
        }
        let first: Vec<u16> = rest.iter().copied().filter(|it| !back.contains(it)).collect();
        let binding: Vec<u16> = first.iter().copied().filter(|&it| !is_test(it)).collect();
        let pick = |some: &[u16]| solve::pick(self.program, body, some, bindings);
        let chosen = pick(&binding).or_else(|| pick(&first)).or_else(|| pick(rest));
        chosen.map(|it| it.0)
    }
}
