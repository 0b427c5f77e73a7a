//! Checks proofs: every step against the rule text and the facts.

use crate::facts::{AttrId, EntityId, GAME};
use crate::rules::{
    Aggregate, Atom, Compare, Given, Input, Literal, Program, RelId, Role, Rule, Type,
};

use super::join::{Bindings, known, pattern, value};
use super::table::Row;
use super::{Checked, Checker, Fault, ensure};
use crate::rules::tree::{Binding, Comparison, Datum, Goal, Ground, Premise, Proof, Quote, Tally};

impl Checker {
    pub(super) fn prove(&mut self, proof: &Proof) -> Checked<(RelId, Row)> {
        self.report.steps += 1;
        let (rel, row) = self.row(proof)?;
        let name = self.program.tuple_name(rel, &row);
        let fault = |reason: String| Fault::new(&name, reason);
        let role = &self.program.relation(rel).role;
        match (&proof.ground, role) {
            (Ground::Fact { entity, attribute }, Role::Input(input)) => {
                self.fact(*input, &row, *entity, attribute).map_err(fault)?;
            }
            (Ground::Static, Role::Static | Role::Builtin(_))
            | (Ground::Tried, Role::Given(Given::Trial(_))) => self.holds(rel, &row)?,
            (Ground::Deeper, Role::Derived) => {
                self.holds(rel, &row)?;
                self.report.open += 1;
            }
            (Ground::Rule { rule, bindings, premises }, Role::Derived | Role::Static) => {
                let program = self.program.clone();
                let rule = self.rule(&program, rule).map_err(fault)?;
                if rule.head != rel {
                    let other = &program.relation(rule.head).name;
                    return Err(fault(format!("its rule concludes {other}")));
                }
                let bindings = self.bindings(rule, bindings, true).map_err(fault)?;
                let head: Option<Row> = rule.args.iter().map(|it| known(*it, &bindings)).collect();
                if head.as_ref() != Some(&row) {
                    return Err(fault("the rule concludes another row with these bindings".into()));
                }
                if premises.len() != rule.body.len() {
                    let (found, wanted) = (premises.len(), rule.body.len());
                    return Err(fault(format!("the rule has {wanted} premises, not {found}")));
                }
                for (at, (literal, premise)) in rule.body.iter().zip(premises).enumerate() {
                    self.premise(rule, literal, premise, &bindings)
                        .map_err(|it| it.within(format!("{name}, premise {}", at + 1)))?;
                }
            }
            _ => return Err(fault("a row of this relation is not proved in this way".into())),
        }
        self.check_size()?;
        Ok((rel, row))
    }

    fn premise(
        &mut self,
        rule: &Rule,
        literal: &Literal,
        premise: &Premise,
        bindings: &Bindings,
    ) -> Checked {
        let here = |reason: String| Fault::new("", reason);
        match (literal, premise) {
            (Literal::Atom(atom), Premise::Holds(proof)) if !atom.negated => {
                let (rel, row) = self.prove(proof)?;
                ensure(rel == atom.rel && fits(atom, &row, bindings), || {
                    let row = self.program.tuple_name(rel, &row);
                    here(format!("{row} is not what the rule asks for"))
                })
            }
            (Literal::Atom(atom), Premise::Absent { goal, refutation }) if atom.negated => {
                self.absent(atom, goal, bindings).map_err(here)?;
                self.report.absent += 1;
                match refutation {
                    None => Ok(()),
                    Some(it) if it.goal == *goal => self.refute(it, &mut Vec::new()),
                    Some(_) => Err(here("the refutation is of another goal".into())),
                }
            }
            (Literal::Compare(compare), Premise::Compare(stated)) => {
                self.report.comparisons += 1;
                let holds = self.comparison(rule, compare, stated, bindings).map_err(here)?;
                ensure(holds, || here(format!("{} does not hold", stated.text)))
            }
            (Literal::Aggregate(aggregate), Premise::Aggregate(stated)) => {
                self.report.aggregates += 1;
                let holds = self.tally(rule, aggregate, stated, bindings).map_err(here)?;
                ensure(holds, || here(format!("{} has another value", stated.text)))
            }
            _ => Err(here("the premise is of another kind than the rule's literal".into())),
        }
    }

    /// The relation and the row that a proof is of.
    fn row(&self, proof: &Proof) -> Checked<(RelId, Row)> {
        let (rel, pattern) = self.goal(&Goal::of(&proof.relation, &proof.tuple))?;
        Ok((rel, pattern.into_iter().flatten().collect()))
    }

    /// The relation and the pattern of a goal, names checked.
    pub(super) fn goal(&self, goal: &Goal) -> Checked<(RelId, Vec<Option<i64>>)> {
        let fault = |reason: String| Fault::new(&goal.relation, reason);
        let rel = self.program.relation_named(&goal.relation);
        let rel = rel.ok_or_else(|| fault("there is no such relation".into()))?;
        let columns = &self.program.relation(rel).columns;
        if columns.len() != goal.args.len() {
            let (wanted, found) = (columns.len(), goal.args.len());
            return Err(fault(format!("the relation has {wanted} columns, not {found}")));
        }
        for (column, datum) in columns.iter().zip(&goal.args) {
            if let Some(datum) = datum {
                self.datum(column.ty, datum).map_err(fault)?;
            }
        }
        Ok((rel, goal.args.iter().map(|it| it.as_ref().map(|it| it.raw)).collect()))
    }

    /// Checks that value and name belong together.
    pub(super) fn datum(&self, ty: Type, datum: &Datum) -> Result<(), String> {
        let Datum { raw, name } = datum;
        let agrees = self.program.value_name(ty, *raw) == *name && !name.starts_with('?');
        ensure(agrees, || format!("{raw} is not called {name}"))
    }

    fn holds(&mut self, rel: RelId, row: &[i64]) -> Checked {
        ensure(self.model.table(rel).contains(row), || {
            Fault::new(&self.program.tuple_name(rel, row), "it does not hold".into())
        })
    }

    fn fact(&self, input: Input, row: &[i64], entity: u32, attribute: &str) -> Result<(), String> {
        let schema = &self.program.schema;
        let named = |it: &AttrId| schema.attribute(*it).name == attribute;
        let Some(read) = input.attrs().find(named) else {
            let read = &schema.attribute(input.attr()).name;
            return Err(format!("it is read from {read}, not {attribute}"));
        };
        let stated = self.model.facts().get_raw(EntityId(entity), read);
        let member = i64::from(read.0 - input.attr().0);
        let (id, game) = (i64::from(entity), entity == GAME.0);
        let is_set = stated.is_some_and(|it| it != 0);
        let agrees = match (input, row) {
            (Input::Key(_), [it, raw]) => *it == id && stated == Some(*raw),
            (Input::Flag(_), [it]) => *it == id && is_set,
            (Input::Game(_), [raw]) => game && stated == Some(*raw),
            (Input::GameFlag(_), []) => game && is_set,
            (Input::List(..), [it, at]) => *it == id && *at == member && is_set,
            _ => false,
        };
        ensure(agrees, || format!("the facts do not say so of entity {entity}"))
    }

    /// The quoted rule, if the quotation is right.
    pub(super) fn rule<'p>(&self, program: &'p Program, quote: &Quote) -> Result<&'p Rule, String> {
        let rule = program.rules.get(usize::from(quote.rule));
        let rule = rule.ok_or_else(|| format!("there is no rule number {}", quote.rule))?;
        let place = program.place(rule.span);
        let stated = &quote.place;
        ensure(place == *stated, || format!("the rule stands at {place}, not {stated}"))?;
        let is_quoted = self.program.quote(rule.span) == quote.text;
        ensure(is_quoted, || format!("{stated} has another text"))?;
        Ok(rule)
    }

    /// Values by variable, from the bindings that the proof states. They must be in the order of the rule's
    /// variables, without those that only an aggregate has; none may be left out if `complete`.
    pub(super) fn bindings(
        &self,
        rule: &Rule,
        stated: &[Binding],
        complete: bool,
    ) -> Result<Bindings, String> {
        let mut bindings = vec![None; rule.vars.len()];
        let mut stated = stated.iter().peekable();
        for (at, var) in rule.vars.iter().enumerate() {
            if is_local(rule, at) {
                continue;
            }
            match stated.next_if(|it| it.var == var.name) {
                Some(binding) => {
                    self.datum(var.ty, &binding.value)?;
                    bindings[at] = Some(binding.value.raw);
                }
                None if complete => return Err(format!("{} has no value", var.name)),
                None => {}
            }
        }
        match stated.next() {
            None => Ok(bindings),
            Some(it) => Err(format!("{} is no variable of the rule, or out of order", it.var)),
        }
    }

    fn absent(&mut self, atom: &Atom, goal: &Goal, bindings: &Bindings) -> Result<(), String> {
        let (rel, found) = self.goal(goal).map_err(|it| it.to_string())?;
        if rel != atom.rel || found != pattern(atom, bindings).as_slice() {
            return Err("the rule denies something else".into());
        }
        let is_absent = !self.model.table(rel).matches(&found);
        ensure(is_absent, || format!("there is a row of {} after all", goal.relation))
    }

    /// Whether a comparison holds, if the proof states it correctly.
    pub(super) fn comparison(
        &self,
        rule: &Rule,
        compare: &Compare,
        stated: &Comparison,
        bindings: &Bindings,
    ) -> Result<bool, String> {
        let ty = rule.compared(compare);
        let (lhs, rhs) = (value(&compare.lhs, bindings), value(&compare.rhs, bindings));
        for (found, datum) in [(lhs, &stated.lhs), (rhs, &stated.rhs)] {
            if found != datum.as_ref().map(|it| it.raw) {
                return Err(format!("a side of {} has another value", stated.text));
            }
            if let Some(datum) = datum {
                self.datum(ty, datum)?;
            }
        }
        if stated.text != self.program.quote(compare.span) || stated.op != compare.op.symbol() {
            return Err(format!("{} is not in the rule", stated.text));
        }
        Ok(lhs.zip(rhs).is_some_and(|(lhs, rhs)| compare.op.holds(lhs, rhs)))
    }

    /// Whether an aggregate gives its results, if the proof states it correctly.
    pub(super) fn tally(
        &mut self,
        rule: &Rule,
        aggregate: &Aggregate,
        stated: &Tally,
        bindings: &Bindings,
    ) -> Result<bool, String> {
        if stated.text != self.program.quote(aggregate.span) {
            return Err(format!("{} is not in the rule", stated.text));
        }
        let (members, value) = self.model.tally(aggregate, bindings);
        // Proofs leave out variables whose names begin with `_`.
        let named = |row: &Row| -> Vec<(String, i64, String)> {
            let mut named = Vec::new();
            for (id, &raw) in aggregate.locals.iter().zip(row) {
                let var = &rule.vars[usize::from(id.0)];
                if !var.name.starts_with('_') {
                    named.push((var.name.clone(), raw, self.program.value_name(var.ty, raw)));
                }
            }
            named
        };
        let mut found: Vec<_> = members.iter().map(named).collect();
        let member = |it: &Binding| (it.var.clone(), it.value.raw, it.value.name.clone());
        let mut wanted: Vec<Vec<_>> =
            stated.members.iter().map(|it| it.iter().map(member).collect()).collect();
        found.sort();
        wanted.sort();
        if found != wanted {
            return Err(format!("{} has other members", stated.text));
        }
        if value.as_ref().map(|it| it.to_vec()) != stated.value {
            return Err(format!("{} comes to something else", stated.text));
        }
        let gives = |values: Row| {
            let mut results = aggregate.results.iter().zip(&values);
            results.all(|(it, raw)| known(*it, bindings).is_none_or(|it| it == *raw))
        };
        Ok(value.is_some_and(gives))
    }
}

/// Whether the variable occurs within an aggregate of the rule and nowhere else.
fn is_local(rule: &Rule, var: usize) -> bool {
    rule.body.iter().any(|it| match it {
        Literal::Aggregate(it) => it.locals.iter().any(|it| usize::from(it.0) == var),
        Literal::Atom(_) | Literal::Compare(_) => false,
    })
}

/// Whether a row matches an atom.
pub(super) fn fits(atom: &Atom, row: &[i64], bindings: &Bindings) -> bool {
    let pattern = pattern(atom, bindings);
    pattern.len() == row.len()
        && pattern.iter().zip(row).all(|(it, raw)| it.is_none_or(|it| it == *raw))
}
