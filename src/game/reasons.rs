//! Why a row does not hold, in a few sentences: what a player wants to hear first.
//!
//! Of the rules for the row, those that come furthest are looked at. If one is stopped by something
//! that holds (`!occupied(t)`, and a piece stands there), that is a reason; if by a row that does
//! not hold, the reasons of that row are. Deliberately absent: completeness. A refutation of every
//! rule is for whoever explains.

use std::ops::ControlFlow;

use crate::derive::{Bindings, Rows, collect, solve};
use crate::moves::Contract;
use crate::rules::{Atom, Literal, RelId, Role, Rule, Term, Type};

/// How many rows that do not hold are followed, one because of the other.
const DEPTH: usize = 5;

/// The reasons why a row does not hold; never none.
pub(super) fn reasons(
    rows: &dyn Rows,
    contract: &Contract,
    rel: RelId,
    row: &[i64],
) -> Vec<String> {
    let found = obstacles(rows, contract, rel, row, DEPTH);
    if !found.is_empty() {
        return found;
    }
    let missing = |(rel, row): &(RelId, Vec<i64>)| sentence(rows, contract, *rel, row);
    let mut wanted: Vec<String> = stops(rows, rel, row)
        .iter()
        .filter_map(Stop::missing)
        .map(|it| format!("it is not so that {}", missing(&it)))
        .collect();
    wanted.dedup();
    if wanted.is_empty() {
        wanted.push(format!("it is not so that {}", sentence(rows, contract, rel, row)));
    }
    wanted
}

/// What stands in the way, in sentences; nothing, if rows are only missing.
fn obstacles(
    rows: &dyn Rows,
    contract: &Contract,
    rel: RelId,
    row: &[i64],
    depth: usize,
) -> Vec<String> {
    let mut found = Vec::new();
    for stop in stops(rows, rel, row) {
        let atom = stop.atom;
        if atom.negated {
            let held = collect(rows, atom.rel, &stop.pattern);
            let held = held.first().map(|it| sentence(rows, contract, atom.rel, it));
            found.extend(held);
        } else if let Some((rel, row)) = stop.missing().filter(|_| depth > 0) {
            found.extend(obstacles(rows, contract, rel, &row, depth - 1));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The literal that stops a rule, with what is known of its arguments there.
struct Stop<'p> {
    atom: &'p Atom,
    pattern: Vec<Option<i64>>,
}

impl Stop<'_> {
    /// The one row that would have had to hold.
    fn missing(&self) -> Option<(RelId, Vec<i64>)> {
        let row: Option<Vec<i64>> = self.pattern.iter().copied().collect();
        row.filter(|_| !self.atom.negated).map(|it| (self.atom.rel, it))
    }
}

/// Where the rules for a row stop that come furthest.
fn stops<'r>(rows: &'r dyn Rows, rel: RelId, row: &[i64]) -> Vec<Stop<'r>> {
    let program = rows.program();
    let relation = program.relation(rel);
    if relation.role != Role::Derived {
        return Vec::new();
    }
    let mut furthest = 0;
    let mut stops = Vec::new();
    for &rule in &relation.rules {
        let Some((passed, stop)) = stop(rows, program.rule(rule), row) else { continue };
        if passed > furthest {
            furthest = passed;
            stops.clear();
        }
        if passed == furthest {
            stops.extend(stop);
        }
    }
    stops
}

/// How many literals of a rule hold together, in text order, and the atom that comes next.
fn stop<'r>(rows: &'r dyn Rows, rule: &'r Rule, row: &[i64]) -> Option<(usize, Option<Stop<'r>>)> {
    let mut bindings = head(rule, row)?;
    let mut known = bindings.clone();
    let mut passed = 0;
    while passed < rule.body.len() {
        let mut solution = None;
        let _ = solve(rows, &rule.body[..=passed], &mut bindings, &mut |it| {
            solution = Some(it.to_vec());
            ControlFlow::Break(())
        });
        let Some(solution) = solution else { break };
        known = solution;
        passed += 1;
    }
    let stop = match rule.body.get(passed)? {
        Literal::Atom(atom) => {
            let pattern = atom.args.iter().map(|&it| value(it, &known)).collect();
            Some(Stop { atom, pattern })
        }
        Literal::Compare(_) | Literal::Aggregate(_) => None,
    };
    Some((passed, stop))
}

/// The variables of a rule when its head is the row; `None` if it cannot be.
fn head(rule: &Rule, row: &[i64]) -> Option<Bindings> {
    let mut bindings: Bindings = vec![None; rule.vars.len()];
    for (&term, &raw) in rule.args.iter().zip(row) {
        let agrees = match term {
            Term::Var(var) => *bindings[usize::from(var.0)].get_or_insert(raw) == raw,
            Term::Const(it) => it == raw,
            Term::Wild => true,
        };
        if !agrees {
            return None;
        }
    }
    Some(bindings)
}

fn value(term: Term, known: &[Option<i64>]) -> Option<i64> {
    match term {
        Term::Var(var) => known[usize::from(var.0)],
        Term::Const(raw) => Some(raw),
        Term::Wild => None,
    }
}

/// A row in the words of its relation; pieces go by their squares.
pub(super) fn sentence(rows: &dyn Rows, contract: &Contract, rel: RelId, row: &[i64]) -> String {
    let program = rows.program();
    let relation = program.relation(rel);
    if relation.sentence.is_empty() {
        return program.tuple_name(rel, row);
    }
    let mut text = relation.sentence.clone();
    for (column, &raw) in relation.columns.iter().zip(row) {
        let word = word(rows, contract, column.ty, raw);
        text = text.replace(&format!("{{{}}}", column.name), &word);
    }
    text
}

fn word(rows: &dyn Rows, contract: &Contract, ty: Type, raw: i64) -> String {
    let program = rows.program();
    let entity = program.relation(contract.at.rel).columns.first().map(|it| it.ty);
    let square = match entity == Some(ty) {
        true => collect(rows, contract.at.rel, &[Some(raw), None]).first().map(|it| it[1]),
        false => None,
    };
    match square {
        Some(square) => {
            let square = program.value_name(Type::Domain(contract.board.domain), square);
            format!("the piece on {square}")
        }
        None => program.value_name(ty, raw),
    }
}
