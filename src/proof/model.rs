//! The model of some facts: everything that follows from them. A relation is computed with all that it
//! depends on when it is first needed, stratum by stratum, until no rule adds a row.
//!
//! What does not hold has no finite proof in the tree, so negations and aggregates are decided here. It is
//! slow and shares no code with the evaluators.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::join::{Bindings, Join, bound_in, fold, known, with_values};
use super::table::{Row, Table};
use crate::facts::{GAME, Session};
use crate::rules::{
    Aggregate, Given, Input, Literal, Program, RelId, Role, Rule, VarId, term_vars,
};

/// Maximum number of rows of one relation.
const MAX_ROWS: usize = 1 << 20;
/// Maximum number of rows that a round of rules concludes, repeated ones included.
const MAX_CONCLUDED: usize = 4 * MAX_ROWS;

/// See the module's head.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) program: Arc<Program>,
    facts: Session,
    tables: Vec<Option<Rc<Table>>>,
    /// The facts before the action under way, for reactions that read them.
    origin: Option<Rc<Session>>,
    /// A relation that was too large to compute, or one that is computed together with it. It stays set when the
    /// facts change, since they do so in the middle of an action, too.
    pub(super) too_large: Option<RelId>,
}

impl Model {
    pub(super) fn new(program: &Arc<Program>, facts: &Session) -> Self {
        let tables = vec![None; program.relations.len()];
        Self {
            program: Arc::clone(program),
            facts: facts.clone(),
            tables,
            origin: None,
            too_large: None,
        }
    }

    /// A new model of these facts, under the same rules, which keeps what depends only on statics.
    pub(super) fn with_facts(&self, facts: &Session) -> Self {
        let mut other = Self::new(&self.program, facts);
        for (at, relation) in self.program.relations.iter().enumerate() {
            if relation.is_static() {
                other.tables[at].clone_from(&self.tables[at]);
            }
        }
        other
    }

    /// Sets the facts before the action under way; `None` when it is over.
    pub(super) fn set_origin(&mut self, facts: Option<&Session>) {
        self.origin = facts.map(|it| Rc::new(it.clone()));
        for (table, relation) in self.tables.iter_mut().zip(&self.program.relations) {
            if let Role::Given(Given::Before(_)) = relation.role {
                *table = None;
            }
        }
    }

    /// Changes the facts under the same rules. What depends only on statics is kept, and so is what was before the
    /// action under way.
    pub(super) fn change(&mut self, facts: &Session) {
        self.facts = facts.clone();
        for (table, relation) in self.tables.iter_mut().zip(&self.program.relations) {
            if let Role::Input(_) | Role::Derived | Role::Given(Given::Trial(_)) = relation.role {
                *table = None;
            }
        }
    }

    pub(super) fn facts(&self) -> &Session {
        &self.facts
    }

    /// The rows of a relation.
    pub(super) fn table(&mut self, rel: RelId) -> Rc<Table> {
        self.ensure(rel);
        self.table_so_far(rel)
    }

    /// The members of an aggregate under bindings, and its value.
    pub(super) fn tally(
        &mut self,
        aggregate: &Aggregate,
        bindings: &Bindings,
    ) -> (BTreeSet<Row>, Option<Row>) {
        aggregate.body.iter().for_each(|it| self.ensure_all(it));
        let (tables, bound) = (|rel| self.table_so_far(rel), bound_in(bindings));
        let inner = Join::new(&self.program, &tables, aggregate.body.iter(), &bound);
        fold(aggregate, &inner, bindings)
    }

    /// Calls `visit` with every solution of a body that extends the bindings.
    pub(super) fn solutions(
        &mut self,
        body: &[Literal],
        given: &Bindings,
        visit: &mut dyn FnMut(&Bindings),
    ) {
        body.iter().for_each(|it| self.ensure_all(it));
        let (tables, bound) = (|rel| self.table_so_far(rel), bound_in(given));
        let join = Join::new(&self.program, &tables, body.iter(), &bound);
        join.run(&mut given.clone(), &mut |solution| {
            visit(solution);
            true
        });
    }

    /// The known rows of a relation: all of them, unless its stratum is being computed.
    fn table_so_far(&self, rel: RelId) -> Rc<Table> {
        self.tables[usize::from(rel.0)].clone().unwrap_or_default()
    }

    fn ensure_all(&mut self, literal: &Literal) {
        match literal {
            Literal::Atom(atom) => self.ensure(atom.rel),
            Literal::Compare(_) => {}
            Literal::Aggregate(it) => it.body.iter().for_each(|it| self.ensure_all(it)),
        }
    }

    fn ensure(&mut self, rel: RelId) {
        if self.tables[usize::from(rel.0)].is_some() {
            return;
        }
        let program = Arc::clone(&self.program);
        let table = match &program.relation(rel).role {
            Role::Builtin(rows) => rows.iter().map(|it| Row::from_slice(it)).collect(),
            Role::Input(input) => input_rows(*input, &self.facts),
            Role::Given(Given::Before(of)) => self.rows_before(*of),
            Role::Given(Given::Trial(id)) => self.tried(&program.trials[usize::from(id.0)]),
            Role::Static | Role::Derived => return self.stratum(&program, rel),
        };
        self.set(rel, table);
    }

    /// The rows that a relation had before the action under way.
    fn rows_before(&mut self, of: RelId) -> Vec<Row> {
        let Some(origin) = self.origin.clone() else { return Vec::new() };
        let mut then = self.with_facts(&origin);
        let rows = then.table(of).rows().to_vec();
        self.too_large = self.too_large.or(then.too_large);
        rows
    }

    fn set(&mut self, rel: RelId, rows: Vec<Row>) {
        let mut table = Table::default();
        for row in rows {
            table.insert(row);
        }
        self.tables[usize::from(rel.0)] = Some(Rc::new(table));
    }

    /// Computes the stratum of a relation.
    fn stratum(&mut self, program: &Program, rel: RelId) {
        let stratum = program.strata.iter().find(|it| it.relations.contains(&rel));
        let relations = stratum.map(|it| it.relations.clone()).unwrap_or_else(|| vec![rel]);
        let rules = relations.iter().flat_map(|&it| &program.relation(it).rules);
        let rules: Vec<&Rule> = rules.map(|&it| program.rule(it)).collect();
        // The relations of this stratum exist from now on, empty, so that `ensure` does not come back here.
        relations.iter().for_each(|&it| self.set(it, Vec::new()));
        for rule in &rules {
            rule.body.iter().for_each(|it| self.ensure_all(it));
        }
        let mut heads: Vec<(RelId, Row)> = Vec::new();
        let mut whole = rules.iter().all(|rule| {
            let join = self.join(rule, None, &BTreeSet::new());
            join.run(&mut vec![None; rule.vars.len()], &mut |it| conclude(rule, it, &mut heads))
        });
        let mut fresh = self.add(heads);
        let recursive = stratum.is_some_and(|it| it.recursive);
        while recursive && !fresh.is_empty() && whole && self.too_large.is_none() {
            let mut heads = Vec::new();
            whole = rules.iter().all(|rule| {
                let mut grown =
                    (0..rule.body.len()).filter(|&at| grows(&rule.body[at], &relations));
                grown.all(|at| self.follow(rule, at, &fresh, &mut heads))
            });
            fresh = self.add(heads);
        }
        if !whole {
            self.too_large = Some(rel);
        }
    }

    /// Adds what a rule concludes from new rows that match one of its literals. False if there are too many
    /// rows.
    fn follow(
        &self,
        rule: &Rule,
        at: usize,
        fresh: &[(RelId, Row)],
        heads: &mut Vec<(RelId, Row)>,
    ) -> bool {
        let Literal::Atom(atom) = &rule.body[at] else { return true };
        let join = self.join(rule, Some(at), &term_vars(&atom.args).collect());
        fresh.iter().filter(|(rel, _)| *rel == atom.rel).all(|(_, row)| {
            with_values(&atom.args, row, &mut vec![None; rule.vars.len()], &mut |it| {
                join.run(it, &mut |it| conclude(rule, it, heads))
            })
        })
    }

    fn join<'r>(
        &self,
        rule: &'r Rule,
        without: Option<usize>,
        bound: &BTreeSet<VarId>,
    ) -> Join<'r> {
        let body = rule.body.iter().enumerate().filter(|(at, _)| Some(*at) != without);
        Join::new(&self.program, &|rel| self.table_so_far(rel), body.map(|(_, it)| it), bound)
    }

    /// Adds rows and returns those that are new.
    fn add(&mut self, rows: Vec<(RelId, Row)>) -> Vec<(RelId, Row)> {
        let mut fresh = Vec::new();
        for (rel, row) in rows {
            let Some(table) = &mut self.tables[usize::from(rel.0)] else { continue };
            let table = Rc::make_mut(table);
            if table.insert(row.clone()) {
                fresh.push((rel, row));
            }
            if table.len() > MAX_ROWS {
                self.too_large = Some(rel);
                return Vec::new();
            }
        }
        fresh
    }
}

/// Whether a literal is a positive atom of one of these relations.
fn grows(literal: &Literal, relations: &[RelId]) -> bool {
    matches!(literal, Literal::Atom(atom) if !atom.negated && relations.contains(&atom.rel))
}

/// Adds what a solution concludes. Returns whether there is room for more.
fn conclude(rule: &Rule, solution: &[Option<i64>], heads: &mut Vec<(RelId, Row)>) -> bool {
    let row: Option<Row> = rule.args.iter().map(|it| known(*it, solution)).collect();
    heads.extend(row.map(|it| (rule.head, it)));
    heads.len() <= MAX_CONCLUDED
}

/// The rows of an input, read from the facts.
fn input_rows(input: Input, facts: &Session) -> Vec<Row> {
    let mut rows = Vec::new();
    for (member, attr) in (0..).zip(input.attrs()) {
        rows.extend(facts.entities_with(attr).filter_map(|entity| {
            let (raw, id) = (facts.get_raw(entity, attr)?, i64::from(entity.0));
            match input {
                Input::Key(_) => Some(Row::from_slice(&[id, raw])),
                Input::Flag(_) => (raw != 0).then(|| Row::from_slice(&[id])),
                Input::Game(_) => (entity == GAME).then(|| Row::from_slice(&[raw])),
                Input::GameFlag(_) => (entity == GAME && raw != 0).then(Row::new),
                Input::List(..) => (raw != 0).then(|| Row::from_slice(&[id, member])),
            }
        }));
    }
    rows
}
