//! The order in which relations can be computed: strongly connected components, and no cycle
//! through negation or an aggregate.
//!
//! Inputs and relations that the loader provides (`file`, `rank`) are in no stratum. Deliberately absent: an
//! order of the rules within a stratum.

use std::collections::VecDeque;

use super::diagnostic::Diagnostic;
use super::mistake::{self, Reads};
use super::program::{Literal, Program, RelId, Relation, Role, Rule, RuleId, Span, Stratum};

/// A relation that another's rule reads.
#[derive(Debug, Clone, Copy)]
struct Edge {
    to: usize,
    /// How it is read: a negated or folded relation must be complete before.
    reads: Reads,
    span: Span,
}

impl Program {
    /// Adds rules for existing relations, unless they would create forbidden cycles. Their numbers are
    /// assigned here.
    pub fn add_rules(&mut self, rules: Vec<Rule>) {
        let first = self.rules.len();
        let numbered = (first as u16..).zip(rules);
        self.rules.extend(numbered.map(|(id, rule)| Rule { id: RuleId(id), ..rule }));
        let mut cycles = Vec::new();
        let strata = stratify(&self.relations, &self.rules, &mut cycles);
        if !cycles.is_empty() {
            self.rules.truncate(first);
            return;
        }
        self.strata = strata;
        for rule in &self.rules[first..] {
            self.relations[usize::from(rule.head.0)].rules.push(rule.id);
        }
    }
}

pub(super) fn stratify(
    relations: &[Relation],
    rules: &[Rule],
    found: &mut Vec<Diagnostic>,
) -> Vec<Stratum> {
    let mut graph: Vec<Vec<Edge>> = vec![Vec::new(); relations.len()];
    for rule in rules {
        edges(&rule.body, Reads::Plainly, &mut graph[usize::from(rule.head.0)]);
    }
    let components = components(&graph);
    let mut component_of = vec![0; relations.len()];
    for (at, component) in components.iter().enumerate() {
        component.iter().for_each(|&it| component_of[it] = at);
    }
    found.extend(components.iter().enumerate().filter_map(|(at, members)| {
        negative_cycle(&graph, members, |it| component_of[it] == at)
            .map(|(from, path)| cycle_report(relations, from, &path))
    }));
    let mut strata: Vec<Stratum> = components
        .iter()
        .filter(|it| matches!(relations[it[0]].role, Role::Static | Role::Derived))
        .map(|it| stratum(relations, &graph, it))
        .collect();
    // Statics depend on statics only, so this keeps the order valid.
    strata.sort_by_key(|it| !it.is_static);
    strata
}

fn stratum(relations: &[Relation], graph: &[Vec<Edge>], members: &[usize]) -> Stratum {
    let recursive = members.len() > 1 || graph[members[0]].iter().any(|it| it.to == members[0]);
    Stratum {
        relations: members.iter().map(|&it| RelId(it as u16)).collect(),
        recursive,
        is_static: members.iter().all(|&it| relations[it].role == Role::Static),
    }
}

fn edges(body: &[Literal], inside: Reads, out: &mut Vec<Edge>) {
    for literal in body {
        match literal {
            Literal::Atom(atom) => out.push(Edge {
                to: usize::from(atom.rel.0),
                reads: if atom.negated { Reads::Negated } else { inside },
                span: atom.span,
            }),
            Literal::Compare(_) => {}
            Literal::Aggregate(aggregate) => edges(&aggregate.body, Reads::Folded, out),
        }
    }
}

/// A visit of a relation in Tarjan's algorithm.
#[derive(Clone, Copy)]
struct Visit {
    /// Visits are numbered in their order.
    number: usize,
    /// The lowest number that is known to be reached in the same component.
    lowest: usize,
    /// Whether its component is not complete.
    is_open: bool,
}

/// Tarjan's algorithm with a stack of its own. A component comes after everything that it reads; members are
/// in declaration order.
fn components(graph: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let new = Visit { number: NEW, lowest: NEW, is_open: false };
    let mut visits = vec![new; graph.len()];
    let (mut stack, mut out, mut counter) = (Vec::new(), Vec::new(), 0);
    for root in 0..graph.len() {
        if visits[root].number != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((node, next)) = calls.pop() {
            if next == 0 {
                visits[node] = Visit { number: counter, lowest: counter, is_open: true };
                counter += 1;
                stack.push(node);
            }
            if let Some(edge) = graph[node].get(next) {
                calls.push((node, next + 1));
                if visits[edge.to].number == NEW {
                    calls.push((edge.to, 0));
                } else if visits[edge.to].is_open {
                    visits[node].lowest = visits[node].lowest.min(visits[edge.to].number);
                }
                continue;
            }
            if visits[node].number == visits[node].lowest {
                let at = stack.iter().rposition(|&it| it == node).unwrap_or(0);
                let mut members = stack.split_off(at);
                members.iter().for_each(|&it| visits[it].is_open = false);
                members.sort_unstable();
                out.push(members);
            }
            if let Some(&(parent, _)) = calls.last() {
                visits[parent].lowest = visits[parent].lowest.min(visits[node].lowest);
            }
        }
    }
    out
}

/// A cycle inside a component that starts by negating or folding a relation: its first relation and its steps.
fn negative_cycle(
    graph: &[Vec<Edge>],
    members: &[usize],
    inside: impl Fn(usize) -> bool,
) -> Option<(usize, Vec<Edge>)> {
    let (from, edge) = members.iter().find_map(|&from| {
        let edge = graph[from].iter().find(|it| it.reads != Reads::Plainly && inside(it.to));
        edge.map(|it| (from, *it))
    })?;
    let mut previous: Vec<Option<(usize, Edge)>> = vec![None; graph.len()];
    let mut queue = VecDeque::from([edge.to]);
    while let Some(node) = queue.pop_front() {
        if node == from {
            break;
        }
        for step in graph[node].iter().filter(|it| inside(it.to)) {
            if previous[step.to].is_none() && step.to != edge.to {
                previous[step.to] = Some((node, *step));
                queue.push_back(step.to);
            }
        }
    }
    let mut path = Vec::new();
    let mut at = from;
    while at != edge.to {
        let (before, step) = previous[at]?;
        path.push(step);
        at = before;
    }
    path.push(edge);
    path.reverse();
    Some((from, path))
}

fn cycle_report(relations: &[Relation], from: usize, path: &[Edge]) -> Diagnostic {
    let steps: Vec<(&str, Reads, Span)> =
        path.iter().map(|it| (relations[it.to].name.as_str(), it.reads, it.span)).collect();
    mistake::negative_cycle(&relations[from].name, &steps)
}
