//! Proofs: a derivation of a row from the finished rows.
//!
//! Rows of earlier strata are true whatever this row rests on, so the first solution of the first
//! rule will do. Within a recursive stratum the search goes through the rows that could support
//! each other and settles them from the bottom, so that nothing supports itself and the height
//! (counted within the stratum) is the least.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

use super::context::{Context, match_head};
use super::data::{Ground, Premise, Proof};
use crate::derive::rows::Tuple;
use crate::derive::solve::{self, Bindings, solve};
use crate::facts::GAME;
use crate::rules::{Atom, Input, Literal, RelId, Role, Rule, RuleId, Term, VarId};

type Row = (RelId, Tuple);

/// One way to derive a row of a recursive relation.
struct Way {
    row: usize,
    rule: RuleId,
    bindings: Bindings,
    /// Supporting rows of the same stratum that are not settled yet.
    waits: usize,
}

/// The rows of a stratum that may have to do with the one that is asked for.
#[derive(Default)]
struct Web {
    rows: Vec<Row>,
    number: HashMap<Row, usize>,
    ways: Vec<Way>,
    /// By row: the ways that wait for it.
    supports: Vec<Vec<usize>>,
}

impl Web {
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
    /// The proof of what was asked. A static is taken apart here, and here only.
    pub(super) fn root(&mut self, rel: RelId, tuple: &[i64]) -> Proof {
        match self.program.relation(rel).role {
            Role::Static => self.by_rule(rel, tuple, self.limits.proof),
            Role::Input(_) | Role::Builtin(_) | Role::Derived => {
                self.prove(rel, tuple, self.limits.proof)
            }
        }
    }

    /// The proof of a row that holds, `depth` levels of it.
    pub(super) fn prove(&mut self, rel: RelId, tuple: &[i64], depth: usize) -> Proof {
        let ground = match &self.program.relation(rel).role {
            Role::Input(input) => fact(self, *input, tuple),
            Role::Static | Role::Builtin(_) => Ground::Static,
            Role::Derived if depth == 0 || self.proofs == 0 => Ground::Deeper,
            Role::Derived => return self.by_rule(rel, tuple, depth),
        };
        let relation = self.program.relation(rel).name.clone();
        Proof { relation, tuple: self.tuple(rel, tuple), ground }
    }

    fn by_rule(&mut self, rel: RelId, tuple: &[i64], depth: usize) -> Proof {
        self.proofs = self.proofs.saturating_sub(1);
        let ground = match self.derivation(rel, tuple) {
            None => Ground::Deeper,
            Some((rule, bindings)) => {
                let rule = self.program.rule(rule);
                let body = self.named_body(rule);
                let premises = body
                    .iter()
                    .map(|it| self.premise(rule, it, &bindings, depth.saturating_sub(1)))
                    .collect();
                let bindings = self.bindings(&rule.vars, &bindings);
                Ground::Rule { rule: self.quote(rule), bindings, premises }
            }
        };
        let relation = self.program.relation(rel).name.clone();
        Proof { relation, tuple: self.tuple(rel, tuple), ground }
    }

    /// The rule and the solution of its body that a row is derived by.
    fn derivation(&mut self, rel: RelId, tuple: &[i64]) -> Option<(RuleId, Bindings)> {
        if self.recursion(rel).is_some() {
            let row = (rel, Tuple::from_slice(tuple));
            self.settle(&row);
            return self.chosen.get(&row).cloned();
        }
        let goal: Vec<Option<i64>> = tuple.iter().copied().map(Some).collect();
        let rules = &self.program.relation(rel).rules;
        rules.iter().find_map(|&id| {
            let rule = self.program.rule(id);
            let mut bindings = match_head(rule, &goal, 0)?;
            let mut found = None;
            let _ = solve(self.rows, &rule.body, &mut bindings, &mut |solution| {
                found = Some((id, solution.to_vec()));
                ControlFlow::Break(())
            });
            found
        })
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
                match self.first(atom.rel, &pattern) {
                    Some(row) if !atom.negated => Premise::Holds(self.prove(atom.rel, &row, depth)),
                    _ => Premise::Absent {
                        goal: self.goal(atom.rel, &pattern),
                        refutation: self.short(atom.rel, &pattern),
                    },
                }
            }
        }
    }

    /// Chooses derivations for a row of a recursive relation and for all that it rests on.
    fn settle(&mut self, row: &Row) {
        if self.chosen.contains_key(row) {
            return;
        }
        let mut web = Web::default();
        web.add(row.clone());
        let mut at = 0;
        while at < web.rows.len() {
            self.find_ways(at, &mut web);
            at += 1;
        }
        let mut ready: VecDeque<usize> =
            (0..web.ways.len()).filter(|&it| web.ways[it].waits == 0).collect();
        while let Some(way) = ready.pop_front() {
            let Way { row: at, rule, ref bindings, .. } = web.ways[way];
            let key = &web.rows[at];
            if self.chosen.contains_key(key) {
                continue;
            }
            self.chosen.insert(key.clone(), (rule, bindings.clone()));
            for &next in &web.supports[at] {
                web.ways[next].waits -= 1;
                if web.ways[next].waits == 0 {
                    ready.push_back(next);
                }
            }
        }
    }

    /// Adds the ways to derive a row; if one needs nothing of the stratum, that one alone.
    fn find_ways(&self, at: usize, web: &mut Web) {
        let (rel, tuple) = web.rows[at].clone();
        let goal: Vec<Option<i64>> = tuple.iter().copied().map(Some).collect();
        let mut found: Vec<(RuleId, Bindings, Vec<Row>)> = Vec::new();
        for &id in &self.program.relation(rel).rules {
            let rule = self.program.rule(id);
            let body = self.named_body(rule);
            let Some(mut bindings) = match_head(rule, &goal, extra_vars(rule, &body)) else {
                continue;
            };
            let flow = solve(self.rows, &body, &mut bindings, &mut |solution| {
                let support = self.support(rel, &body, solution);
                let grounded = support.is_empty();
                if grounded {
                    found.clear();
                }
                found.push((id, solution.to_vec(), support));
                if grounded { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if flow.is_break() {
                break;
            }
        }
        for (rule, bindings, support) in found {
            let way = web.ways.len();
            web.ways.push(Way { row: at, rule, bindings, waits: support.len() });
            for row in support {
                let row = web.add(row);
                web.supports[row].push(way);
            }
        }
    }

    /// The distinct rows of the same stratum that a solution rests on and that are not settled.
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
    /// variable: it matters there which row is meant.
    fn named_body(&self, rule: &Rule) -> Vec<Literal> {
        let mut next = rule.vars.len() as u16;
        let mut body = rule.body.clone();
        for literal in &mut body {
            let Literal::Atom(atom) = literal else { continue };
            if atom.negated || !self.same_stratum(rule.head, atom.rel) {
                continue;
            }
            for arg in atom.args.iter_mut().filter(|it| **it == Term::Wild) {
                *arg = Term::Var(VarId(next));
                next += 1;
            }
        }
        body
    }
}

/// How many variables [`Context::named_body`] has added.
fn extra_vars(rule: &Rule, body: &[Literal]) -> usize {
    let wild = |body: &[Literal]| -> usize {
        let atoms = body.iter().filter_map(|it| match it {
            Literal::Atom(Atom { args, .. }) => Some(args),
            Literal::Compare(_) | Literal::Aggregate(_) => None,
        });
        atoms.flatten().filter(|it| **it == Term::Wild).count()
    };
    wild(&rule.body) - wild(body)
}

fn fact(context: &Context<'_>, input: Input, tuple: &[i64]) -> Ground {
    let entity = match input {
        Input::Key(_) | Input::Flag(_) => tuple.first().map_or(0, |&it| it as u32),
        Input::Game(_) | Input::GameFlag(_) => GAME.0,
    };
    let attribute = context.program.schema.attribute(input.attr()).name.clone();
    Ground::Fact { entity, attribute }
}
