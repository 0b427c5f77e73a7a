//! Proofs: a derivation of a row from the finished rows, of minimal height.
//!
//! The height of a row that no rule derives (a fact, a static, a row that was played out) is 0. The height of any other
//! row is one more than that of the highest row that it rests on. Derivations are chosen from the lowest rows up, those
//! of a recursive stratum all at once, so that nothing supports itself. The number of alternatives that are compared is
//! limited, for each rule and in all; beyond that the first one found is taken. In a recursive stratum all solutions of
//! a rule are examined, since the first may be circular.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::ControlFlow;

use super::context::{Choice, Context, match_head};
use crate::derive::rows::{Rows, Tuple};
use crate::derive::solve::{self, Bindings, solve};
use crate::rules::tree::{Ground, Premise, Proof};
use crate::rules::{Input, Literal, RelId, Role, Rule, RuleId, Term, VarId};

type Row = (RelId, Tuple);

/// A derivation of a row: a solution of the body of one of its rules.
struct Derivation {
    row: usize,
    rule: RuleId,
    bindings: Bindings,
    /// The greatest known height of a row that it rests on.
    base: usize,
    /// Number of rows of the same stratum that it rests on and that have no chosen derivation yet.
    waits_for: usize,
}

/// The rows of one stratum that a row may rest on, with the derivations that are compared. Some may be circular;
/// `settle` chooses others.
#[derive(Default)]
struct DerivationGraph {
    rows: Vec<Row>,
    number: HashMap<Row, usize>,
    derivations: Vec<Derivation>,
    /// By row: the derivations that wait for it.
    supports: Vec<Vec<usize>>,
}

impl DerivationGraph {
    fn add(&mut self, row: Row) -> usize {
        let Self { rows, number, supports, .. } = self;
        *number.entry(row).or_insert_with_key(|row| {
            rows.push(row.clone());
            supports.push(Vec::new());
            rows.len() - 1
        })
    }
}

impl Context<'_> {
    /// The proof of the row that was asked for. A row of a static is proved by rules here alone: below it is
    /// [`Ground::Static`].
    pub(super) fn root(&mut self, rel: RelId, tuple: &[i64]) -> Proof {
        match self.program.relation(rel).role {
            Role::Static => self.by_rule(rel, tuple, self.limits.proof),
            Role::Input(_) | Role::Builtin(_) | Role::Derived | Role::Given(_) => {
                self.prove(rel, tuple, self.limits.proof)
            }
        }
    }

    /// A row that holds, without its proof.
    pub(super) fn left_open(&self, rel: RelId, tuple: &[i64]) -> Proof {
        self.grounded(rel, tuple, Ground::Deeper)
    }

    fn grounded(&self, rel: RelId, tuple: &[i64], ground: Ground) -> Proof {
        let relation = self.program.relation(rel).name.clone();
        Proof { relation, tuple: self.tuple(rel, tuple), ground }
    }

    /// The proof of a row that holds, `depth` levels of it.
    pub(super) fn prove(&mut self, rel: RelId, tuple: &[i64], depth: usize) -> Proof {
        let ground = match &self.program.relation(rel).role {
            Role::Input(input) => fact(self, *input, tuple),
            Role::Static | Role::Builtin(_) => Ground::Static,
            Role::Given(_) => Ground::Tried,
            Role::Derived if depth == 0 || self.proofs == 0 => Ground::Deeper,
            Role::Derived => return self.by_rule(rel, tuple, depth),
        };
        self.grounded(rel, tuple, ground)
    }

    fn by_rule(&mut self, rel: RelId, tuple: &[i64], depth: usize) -> Proof {
        self.proofs = self.proofs.saturating_sub(1);
        let ground = match self.derivation(rel, tuple) {
            None => Ground::Deeper,
            Some((rule, bindings)) => {
                let rule = self.program.rule(rule);
                let (body, _) = self.named_body(rule);
                let premises = body
                    .iter()
                    .map(|it| self.premise(rule, it, &bindings, depth.saturating_sub(1)))
                    .collect();
                let bindings = self.bindings(&rule.vars, &bindings);
                Ground::Rule { rule: self.quote(rule), bindings, premises }
            }
        };
        self.grounded(rel, tuple, ground)
    }

    /// The rule and the solution of its body that a row is derived by.
    fn derivation(&mut self, rel: RelId, tuple: &[i64]) -> Option<(RuleId, Bindings)> {
        let row = (rel, Tuple::from_slice(tuple));
        self.settle(&row);
        self.chosen.get(&row).map(|it| (it.rule, it.bindings.clone()))
    }

    /// The height of a row that holds.
    fn height(&mut self, rel: RelId, tuple: &[i64]) -> usize {
        if self.program.relation(rel).role != Role::Derived {
            return 0;
        }
        let row = (rel, Tuple::from_slice(tuple));
        self.settle(&row);
        self.chosen.get(&row).map_or(1, |it| it.height)
    }

    /// The lowest row that matches, the first of equal ones, with its height.
    fn lowest(&mut self, rel: RelId, pattern: &[Option<i64>]) -> Option<(Tuple, usize)> {
        if let Some(row) = pattern.iter().copied().collect::<Option<Tuple>>() {
            if !self.rows.contains(rel, &row) {
                return None;
            }
            let height = self.height(rel, &row);
            return Some((row, height));
        }
        let derived = self.program.relation(rel).role == Role::Derived;
        let enough = if derived { self.limits.alternatives } else { 1 };
        let mut rows: Vec<Tuple> = Vec::new();
        let _ = self.rows.for_each(rel, pattern, &mut |row| {
            rows.push(Tuple::from_slice(row));
            if rows.len() >= enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let mut best: Option<(Tuple, usize)> = None;
        for row in rows {
            // No derived row is lower than 1.
            if best.as_ref().is_some_and(|it| it.1 <= 1 || self.tries == 0) {
                break;
            }
            let height = self.height(rel, &row);
            if best.as_ref().is_none_or(|it| height < it.1) {
                best = Some((row, height));
            }
        }
        best
    }

    fn premise(
        &mut self,
        rule: &Rule,
        literal: &Literal,
        bindings: &Bindings,
        depth: usize,
    ) -> Premise {
        match literal {
            Literal::Compare(it) => Premise::Compare(self.comparison(rule, it, bindings)),
            Literal::Aggregate(it) => Premise::Aggregate(self.tally(rule, it, bindings)),
            Literal::Atom(atom) => {
                let pattern = solve::pattern(atom, bindings);
                let row = if atom.negated { None } else { self.lowest(atom.rel, &pattern) };
                match row {
                    Some((row, _)) => Premise::Holds(self.prove(atom.rel, &row, depth)),
                    None => Premise::Absent {
                        goal: self.goal(atom.rel, &pattern),
                        refutation: self.shallow_refutation(atom.rel, &pattern),
                    },
                }
            }
        }
    }

    /// Chooses derivations for a row and for all rows of its stratum that it rests on.
    fn settle(&mut self, row: &Row) {
        if self.chosen.contains_key(row) {
            return;
        }
        let mut graph = DerivationGraph::default();
        graph.add(row.clone());
        let mut at = 0;
        while at < graph.rows.len() {
            self.find_derivations(at, &mut graph);
            at += 1;
        }
        let ready = graph.derivations.iter().enumerate().filter(|it| it.1.waits_for == 0);
        let mut ready: BinaryHeap<Reverse<(usize, usize)>> =
            ready.map(|(at, it)| Reverse((it.base + 1, at))).collect();
        while let Some(Reverse((height, derivation))) = ready.pop() {
            let Derivation { row: at, rule, ref bindings, .. } = graph.derivations[derivation];
            let key = &graph.rows[at];
            if self.chosen.contains_key(key) {
                continue;
            }
            let bindings = bindings.clone();
            self.chosen.insert(key.clone(), Choice { rule, bindings, height });
            for &next in &graph.supports[at] {
                let waiting = &mut graph.derivations[next];
                waiting.waits_for -= 1;
                waiting.base = waiting.base.max(height);
                if waiting.waits_for == 0 {
                    ready.push(Reverse((waiting.base + 1, next)));
                }
            }
        }
    }

    /// Adds derivations of a row: the lowest of those that wait for no row of the stratum, and all that wait, unless none
    /// of these can be lower.
    fn find_derivations(&mut self, at: usize, graph: &mut DerivationGraph) {
        let (rel, tuple) = graph.rows[at].clone();
        let goal: Vec<Option<i64>> = tuple.iter().copied().map(Some).collect();
        let mut found: Vec<(Derivation, Vec<Row>)> = Vec::new();
        let mut lowest = usize::MAX;
        for &id in &self.program.relation(rel).rules {
            let rule = self.program.rule(id);
            self.rows.read_for(usize::from(id.0));
            let (body, added) = self.named_body(rule);
            let Some(mut bindings) = match_head(rule, &goal, added) else { continue };
            let mut solutions: Vec<Bindings> = Vec::new();
            let enough = match self.recursion(rel) {
                // The first derivation may be circular.
                Some(_) => usize::MAX,
                None if self.tries == 0 => 1,
                None => self.limits.alternatives,
            };
            let _ = solve(self.rows, &body, &mut bindings, &mut |solution| {
                solutions.push(solution.to_vec());
                let is_enough = solutions.len() >= enough;
                if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            for bindings in solutions {
                self.tries = self.tries.saturating_sub(1);
                let support = self.support(rel, &body, &bindings);
                // A row that rests on a derived row has a height of at least 2.
                if !support.is_empty() && lowest <= 2 {
                    continue;
                }
                let base = self.base(rel, &body, &bindings);
                if support.is_empty() && base + 1 < lowest {
                    lowest = base + 1;
                    found.retain(|it| it.0.waits_for > 0 && lowest > 2);
                } else if support.is_empty() {
                    continue;
                }
                let derivation =
                    Derivation { row: at, rule: id, bindings, base, waits_for: support.len() };
                found.push((derivation, support));
                if lowest == 1 {
                    break;
                }
            }
            if lowest == 1 || lowest < usize::MAX && self.tries == 0 {
                break;
            }
        }
        for (derivation, support) in found {
            let number = graph.derivations.len();
            graph.derivations.push(derivation);
            for row in support {
                let row = graph.add(row);
                graph.supports[row].push(number);
            }
        }
    }

    /// The greatest height among the rows that a solution rests on, without rows of the same stratum that have no
    /// chosen derivation yet.
    fn base(&mut self, rel: RelId, body: &[Literal], solution: &[Option<i64>]) -> usize {
        let mut base = 0;
        for literal in body {
            let Literal::Atom(atom) = literal else { continue };
            if atom.negated || self.program.relation(atom.rel).role != Role::Derived {
                continue;
            }
            let pattern = solve::pattern(atom, solution);
            base = base.max(if self.same_stratum(rel, atom.rel) {
                let row = pattern.iter().copied().collect::<Option<Tuple>>();
                let known = row.and_then(|it| self.chosen.get(&(atom.rel, it)));
                known.map_or(0, |it| it.height)
            } else {
                self.lowest(atom.rel, &pattern).map_or(0, |it| it.1)
            });
        }
        base
    }

    /// The distinct rows of the same stratum that a solution rests on and that have no chosen derivation yet.
    fn support(&self, rel: RelId, body: &[Literal], solution: &[Option<i64>]) -> Vec<Row> {
        let mut support: Vec<Row> = Vec::new();
        for literal in body {
            let Literal::Atom(atom) = literal else { continue };
            if atom.negated || !self.same_stratum(rel, atom.rel) {
                continue;
            }
            let row: Tuple = atom.args.iter().filter_map(|&it| solve::term(it, solution)).collect();
            let row = (atom.rel, row);
            if !support.contains(&row) && !self.chosen.contains_key(&row) {
                support.push(row);
            }
        }
        support
    }

    fn same_stratum(&self, a: RelId, b: RelId) -> bool {
        self.recursion(a).is_some_and(|it| it.relations.contains(&b))
    }

    /// A rule's body in which each `_` of a relation of the rule's own recursive stratum is a
    /// variable, since it matters there which row is meant; and the number of these variables.
    fn named_body<'b>(&self, rule: &'b Rule) -> (Cow<'b, [Literal]>, usize) {
        if self.recursion(rule.head).is_none() {
            return (Cow::Borrowed(&rule.body), 0);
        }
        let mut added = 0;
        let mut body = rule.body.clone();
        for literal in &mut body {
            let Literal::Atom(atom) = literal else { continue };
            if atom.negated || !self.same_stratum(rule.head, atom.rel) {
                continue;
            }
            for arg in atom.args.iter_mut().filter(|it| **it == Term::Wild) {
                *arg = Term::Var(VarId((rule.vars.len() + added) as u16));
                added += 1;
            }
        }
        (Cow::Owned(body), added)
    }
}

fn fact(context: &Context<'_>, input: Input, tuple: &[i64]) -> Ground {
    let entity = input.owner(tuple).map_or(0, |it| it as u32);
    let member = if let Input::List(..) = input { tuple.last().map_or(0, |&it| it) } else { 0 };
    let attr = input.attrs().nth(member as usize).unwrap_or(input.attr());
    let attribute = context.program.schema.attribute(attr).name.clone();
    Ground::Fact { entity, attribute }
}
