//! Refutations: how far each rule of a relation gets toward a goal that no row matches.
//!
//! For each rule the body is searched as the solver does it, but with negated literals last: if everything else in
//! a rule holds, its failure is explained by the row that forbids it. Of the partial matches that satisfy the most
//! literals, the one is kept whose other literals would need the cheapest changes (`near`).
//!
//! A recursive rule is followed from the goal back: a recursive literal that binds a variable is evaluated after
//! the others. By then they have bound what leads to the goal (the square before it, for a slide), so that each
//! match lacks another row of the recursive relation.

use std::ops::ControlFlow;

use super::context::{Context, match_head};
use crate::derive::solve::{self, Bindings};
use crate::rules::tree::{Attempt, Blocked, Datum, Lack, Refutation};
use crate::rules::{Atom, Literal, RelId, Role, Rule, VarId, term_vars};

/// A partial match, and the literal at which it ends.
struct Failure {
    /// Number of literals that the match satisfies before it.
    before: usize,
    literal: usize,
    bindings: Bindings,
}

/// The failures that got furthest so far, and how many more partial matches may be tried.
struct Search {
    furthest: Vec<Failure>,
    matches_left: usize,
    /// The literals on relations that are recursive with the head's.
    back: Vec<u16>,
}

/// Maximum number of equally far failures that are compared.
const RIVALS: usize = 64;

impl Context<'_> {
    /// The refutation of a goal that no row matches, `depth` levels of it.
    pub(super) fn refute(
        &mut self,
        rel: RelId,
        pattern: &[Option<i64>],
        depth: usize,
    ) -> Refutation {
        let lack = match self.program.relation(rel).role {
            Role::Input(_) => Lack::Fact { instead: self.instead(rel, pattern) },
            Role::Static | Role::Builtin(_) => Lack::Static { instead: self.instead(rel, pattern) },
            Role::Given(_) => Lack::Tried,
            Role::Derived if self.is_being_refuted(rel, pattern) => Lack::Circular,
            Role::Derived if depth == 0 || self.goals == 0 => Lack::Deeper,
            Role::Derived => {
                self.goals -= 1;
                self.path.push((rel, pattern.to_vec()));
                let rules = &self.program.relation(rel).rules;
                let attempts = rules.iter().map(|&it| {
                    let rule = self.program.rule(it);
                    self.attempt(rule, pattern, depth - 1)
                });
                let attempts = attempts.collect();
                self.path.pop();
                Lack::Rules(attempts)
            }
        };
        Refutation { goal: self.goal(rel, pattern), lack }
    }

    /// One level of the refutation of the goal that a negated premise denies; `None` if the relation is not derived.
    pub(super) fn shallow_refutation(
        &mut self,
        rel: RelId,
        pattern: &[Option<i64>],
    ) -> Option<Refutation> {
        let derived = self.program.relation(rel).role == Role::Derived;
        // Behind a negation nothing is circular, so it is a separate search.
        let outer = (std::mem::take(&mut self.path), std::mem::replace(&mut self.goals, 1));
        let refutation = derived.then(|| self.refute(rel, pattern, 1));
        (self.path, self.goals) = outer;
        refutation
    }

    fn is_being_refuted(&self, rel: RelId, pattern: &[Option<i64>]) -> bool {
        self.path.iter().any(|(goal, wanted)| *goal == rel && wanted == pattern)
    }

    /// The last column's value for the goal's key, where the relation is functional.
    pub(super) fn instead(&self, rel: RelId, pattern: &[Option<i64>]) -> Option<Datum> {
        let relation = self.program.relation(rel);
        let (_, key) = pattern.split_last()?;
        if !relation.functional || key.contains(&None) {
            return None;
        }
        let mut known = key.to_vec();
        known.push(None);
        let row = self.first(rel, &known)?;
        Some(self.datum(relation.columns.last()?.ty, *row.last()?))
    }

    fn attempt(&mut self, rule: &Rule, pattern: &[Option<i64>], depth: usize) -> Attempt {
        self.rows.read_for(usize::from(rule.id.0));
        let total = rule.body.len();
        let Some(bindings) = match_head(rule, pattern, 0) else {
            let (rule, bindings) = (self.quote(rule), Vec::new());
            return Attempt { rule, bindings, matched: 0, total, blocked: Blocked::Head };
        };
        let back = self.recursive_literals(rule);
        let mut search = Search { furthest: Vec::new(), matches_left: self.limits.matches, back };
        let rest: Vec<u16> = (0..total as u16).collect();
        self.reach(&rule.body, &rest, &mut bindings.clone(), &mut search);
        // On the last level the missing goal is not refuted, so the first failure will do.
        let furthest = match depth {
            0 => search.furthest.into_iter().next(),
            _ => self.nearest(rule, search.furthest),
        };
        let (matched, blocked, bindings) = match furthest {
            Some(it) => {
                // Literals that hold behind the first failing one count as well.
                let holds = |at: &usize| !self.fails(&rule.body, *at, &it.bindings);
                let matched = (0..total).filter(holds).count();
                (matched, self.blocked(rule, &it, depth), it.bindings)
            }
            // Only when the steps ran out: then there is an error instead of this answer.
            None => (0, Blocked::Head, bindings),
        };
        let bindings = self.bindings(&rule.vars, &bindings);
        Attempt { rule: self.quote(rule), bindings, matched, total, blocked }
    }

    fn blocked(&mut self, rule: &Rule, failure: &Failure, depth: usize) -> Blocked {
        let bindings = &failure.bindings;
        match &rule.body[failure.literal] {
            Literal::Compare(it) => Blocked::Compare(self.comparison(rule, it, bindings)),
            Literal::Aggregate(it) => Blocked::Aggregate(self.tally(rule, it, bindings)),
            Literal::Atom(atom) => {
                let pattern = solve::pattern(atom, bindings);
                match self.first(atom.rel, &pattern) {
                    Some(row) if atom.negated => {
                        // On the last level the row that forbids the goal is not proved.
                        let levels = if depth == 0 { 0 } else { self.limits.proof };
                        Blocked::Present(self.prove(atom.rel, &row, levels))
                    }
                    Some(_) => Blocked::Apart(self.goal(atom.rel, &pattern)),
                    None => Blocked::Missing(self.refute(atom.rel, &pattern, depth)),
                }
            }
        }
    }

    /// Whether a literal fails under the bindings. It does not if it holds, has rows, or cannot be decided yet.
    pub(super) fn fails(&self, body: &[Literal], at: usize, bindings: &Bindings) -> bool {
        let literal = &body[at];
        let is_positive = matches!(literal, Literal::Atom(atom) if !atom.negated);
        if !is_positive && !solve::is_test(body, at, bindings) {
            return false;
        }
        let found = &mut |_: &mut Bindings| ControlFlow::Break(());
        solve::literal_solutions(self.rows, literal, &mut bindings.clone(), found).is_continue()
    }

    /// Continues the search of the body from a partial match, and keeps the failures that get furthest.
    fn reach(&self, body: &[Literal], rest: &[u16], bindings: &mut Bindings, search: &mut Search) {
        search.matches_left = search.matches_left.saturating_sub(1);
        let Some(literal) = self.next(body, rest, bindings, &search.back) else { return };
        let later = solve::without(rest, literal);
        let literal = usize::from(literal);
        let mut any = false;
        let _ = solve::literal_solutions(self.rows, &body[literal], bindings, &mut |bindings| {
            any = true;
            self.reach(body, &later, bindings, search);
            match search.matches_left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        let before = body.len() - rest.len();
        let known = search.furthest.first().map(|it| it.before);
        if any || known.is_some_and(|it| it > before) {
            return;
        }
        if known.is_some_and(|it| it < before) {
            search.furthest.clear();
        }
        for (literal, bindings) in self.narrowed(body, literal, &later, bindings) {
            if search.furthest.len() < RIVALS {
                search.furthest.push(Failure { before, literal, bindings });
            }
        }
    }

    /// The bindings with which a literal fails, as far as a static behind it allows them; or that static, if it allows none.
    /// Otherwise the literal would be told to fail where no position could have it.
    fn narrowed(
        &self,
        body: &[Literal],
        literal: usize,
        later: &[u16],
        bindings: &Bindings,
    ) -> Vec<(usize, Bindings)> {
        let open = |atom: &Atom| -> Vec<VarId> {
            term_vars(&atom.args).filter(|it| bindings[usize::from(it.0)].is_none()).collect()
        };
        let is_static = |atom: &Atom| self.program.relation(atom.rel).is_static();
        let as_it_is = || vec![(literal, bindings.clone())];
        let Literal::Atom(failing) = &body[literal] else { return as_it_is() };
        if failing.negated || is_static(failing) {
            return as_it_is();
        }
        let wanted = open(failing);
        let narrows = |at: &&u16| match &body[usize::from(**at)] {
            Literal::Atom(it) if !it.negated && is_static(it) => {
                let free = open(it);
                free.len() < it.args.len() && free.iter().any(|it| wanted.contains(it))
            }
            _ => false,
        };
        let Some(at) = later.iter().find(narrows).map(|it| usize::from(*it)) else {
            return as_it_is();
        };
        let mut ways = Vec::new();
        let _ = solve::literal_solutions(self.rows, &body[at], &mut bindings.clone(), &mut |it| {
            ways.push((literal, it.clone()));
            if ways.len() < RIVALS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if ways.is_empty() { vec![(at, bindings.clone())] } else { ways }
    }

    /// Of equally far failures the one that needs the cheapest changes; the first of equal ones.
    fn nearest(&mut self, rule: &Rule, mut rivals: Vec<Failure>) -> Option<Failure> {
        if rivals.len() < 2 {
            return rivals.pop();
        }
        let costs: Vec<u32> = rivals.iter().map(|it| self.cost(rule, &it.bindings)).collect();
        let least = (0..rivals.len()).min_by_key(|&it| costs[it])?;
        Some(rivals.swap_remove(least))
    }

    /// The literal in `rest` to try next: first a positive atom or a comparison that binds no
    /// variable, in text order. Then, of the literals that bind some, recursive ones (`back`) after the others, what
    /// the solver would take; but if that may have many solutions, rather an atom that has no row whatever its
    /// unbound variables are. Negated literals, and aggregates that bind no variable, come last, since it is most
    /// informative that everything else holds.
    fn next(
        &self,
        body: &[Literal],
        rest: &[u16],
        bindings: &Bindings,
        back: &[u16],
    ) -> Option<u16> {
        let is_test = |it: u16| solve::is_test(body, usize::from(it), bindings);
        let is_late = |it: u16| match &body[usize::from(it)] {
            Literal::Atom(atom) => atom.negated,
            Literal::Aggregate(_) => is_test(it),
            Literal::Compare(_) => false,
        };
        let soon: Vec<u16> = rest.iter().copied().filter(|&it| !is_late(it)).collect();
        if let Some(test) = soon.iter().copied().find(|&it| is_test(it)) {
            return Some(test);
        }
        let first: Vec<u16> = soon.iter().copied().filter(|it| !back.contains(it)).collect();
        for some in [first, soon] {
            if let Some((chosen, many)) = solve::pick(self.program, body, &some, bindings) {
                let hopeless =
                    many.then(|| solve::atom_without_rows(self.rows, body, &some, bindings));
                return hopeless.flatten().or(Some(chosen));
            }
        }
        rest.iter().copied().find(|&it| is_test(it))
    }
}
