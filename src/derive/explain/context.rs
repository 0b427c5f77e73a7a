//! The context that the searches for proofs and refutations share: the rows, the limits, earlier decisions,
//! and the conversion of raw values to data.

use std::collections::HashMap;

use super::Limits;
use crate::derive::metered::Metered;
use crate::derive::rows::{self, Rows, Tuple};
use crate::derive::solve::{self, Bindings};
use crate::rules::tree::{Binding, Comparison, Datum, Goal, Quote, Tally};
use crate::rules::{Aggregate, Compare, Program, RelId, Role, Rule, RuleId, Stratum, Type, Var};

/// How a row is derived.
pub(super) struct Choice {
    pub(super) rule: RuleId,
    pub(super) bindings: Bindings,
    pub(super) height: usize,
}

/// The context of one search.
pub(super) struct Context<'r> {
    pub(super) rows: &'r Metered<'r>,
    pub(super) program: &'r Program,
    pub(super) limits: Limits,
    /// The derivation chosen for a row.
    pub(super) chosen: HashMap<(RelId, Tuple), Choice>,
    /// Number of derivations that may still be compared with others.
    pub(super) tries: usize,
    /// Goals that are being refuted, outermost first.
    pub(super) path: Vec<(RelId, Vec<Option<i64>>)>,
    /// Number of goals of refutations that may still be expanded.
    pub(super) goals: usize,
    /// Number of rows that may still be proved by a rule.
    pub(super) proofs: usize,
    /// The distances of goals from having a row, for those measured; and how many more may be measured.
    pub(super) distances: HashMap<(RelId, Vec<Option<i64>>), u32>,
    pub(super) measures_left: usize,
}

/// Maximum number of goals whose distance is measured in one search.
const MEASURES: usize = 2048;

impl<'r> Context<'r> {
    pub(super) fn new(rows: &'r Metered<'r>, limits: Limits) -> Self {
        Self {
            rows,
            program: rows.program(),
            limits,
            chosen: HashMap::new(),
            tries: limits.tries,
            path: Vec::new(),
            goals: limits.goals,
            proofs: limits.rows,
            distances: HashMap::new(),
            measures_left: MEASURES,
        }
    }

    /// The first row that matches.
    pub(super) fn first(&self, rel: RelId, pattern: &[Option<i64>]) -> Option<Tuple> {
        rows::first(self.rows, rel, pattern)
    }

    /// The recursive stratum of a derived relation, if it is in one.
    pub(super) fn recursion(&self, rel: RelId) -> Option<&'r Stratum> {
        let derived = self.program.relation(rel).role == Role::Derived;
        let mut strata = self.program.strata.iter();
        strata.find(|it| derived && it.recursive && it.relations.contains(&rel))
    }

    pub(super) fn datum(&self, ty: Type, raw: i64) -> Datum {
        Datum::of(self.program, ty, raw)
    }

    pub(super) fn tuple(&self, rel: RelId, tuple: &[i64]) -> Vec<Datum> {
        Datum::row(self.program, &self.program.relation(rel).columns, tuple)
    }

    pub(super) fn goal(&self, rel: RelId, pattern: &[Option<i64>]) -> Goal {
        let relation = self.program.relation(rel);
        let columns = relation.columns.iter().zip(pattern);
        let args = columns.map(|(column, raw)| raw.map(|raw| self.datum(column.ty, raw)));
        Goal { relation: relation.name.clone(), args: args.collect() }
    }

    /// The bound variables of a rule. (There may be more values than variables: those of `_`.)
    pub(super) fn bindings(&self, vars: &[Var], bindings: &[Option<i64>]) -> Vec<Binding> {
        let values = vars.iter().zip(bindings);
        values.filter_map(|(var, &raw)| Some(self.binding(var, raw?))).collect()
    }

    fn binding(&self, var: &Var, raw: i64) -> Binding {
        Binding { var: var.name.clone(), value: self.datum(var.ty, raw) }
    }

    pub(super) fn quote(&self, rule: &Rule) -> Quote {
        Quote::of(self.program, usize::from(rule.id.0), rule.span)
    }

    pub(super) fn comparison(
        &self,
        rule: &Rule,
        compare: &Compare,
        bindings: &[Option<i64>],
    ) -> Comparison {
        let ty = rule.compared(compare);
        let side = |it| solve::value(it, bindings).map(|raw| self.datum(ty, raw));
        Comparison {
            text: self.program.quote(compare.span),
            lhs: side(&compare.lhs),
            op: compare.op.symbol().into(),
            rhs: side(&compare.rhs),
        }
    }

    pub(super) fn tally(&self, rule: &Rule, aggregate: &Aggregate, bindings: &Bindings) -> Tally {
        let member = |values: &Tuple| -> Vec<Binding> {
            let locals = aggregate.locals.iter().zip(values);
            let named = locals.filter_map(|(var, &raw)| {
                let var = rule.vars.get(usize::from(var.0))?;
                (!var.name.starts_with('_')).then(|| self.binding(var, raw))
            });
            named.collect()
        };
        let members = solve::members(self.rows, aggregate, bindings);
        Tally {
            text: self.program.quote(aggregate.span),
            members: members.iter().map(member).collect(),
            value: solve::fold(self.rows, aggregate, bindings).map(|it| it.to_vec()),
        }
    }
}

/// The bindings with which a rule's head is the goal, with room for `extra` more variables; `None`
/// if it concludes other rows.
pub(super) fn match_head(rule: &Rule, goal: &[Option<i64>], extra: usize) -> Option<Bindings> {
    let mut bindings: Bindings = vec![None; rule.vars.len() + extra];
    solve::bind(&rule.args, goal.iter().copied(), &mut bindings).then_some(bindings)
}
