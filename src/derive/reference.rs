//! The reference evaluator of one session: after a change everything is computed from scratch when read.
//!
//! The bodies of reactions are solved tuple by tuple over its rows. Nothing is written here; `transaction` applies the
//! outputs. Deliberately absent: how rows are computed (`frog`).

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::budget::{Exhausted, REFERENCE_STEPS, Resource};
use super::evaluator::{Basis, Evaluator};
use super::frog::{Frog, Statics};
use super::metered::Metered;
use super::output::{Other, Output};
use super::rows::{Pattern, Rows, Tuple, Visit};
use super::schedule::Schedule;
use super::solve::{Bindings, bind, solve, value};
use super::trace::Said;
use crate::facts::{Change, Ids};
use crate::rules::{
    Effect, Event, Expr, Input, MessagePart, Program, Reaction, RelId, Role, VarId,
};

#[derive(Debug, Clone)]
pub(super) struct Reference {
    statics: Arc<Statics>,
    schedule: Arc<Schedule>,
    /// The rows for the current facts, once one was read.
    rows: Option<Arc<Frog>>,
    /// The budget that ran out for rows that were dropped since.
    ran_out: Option<(Resource, usize)>,
}

impl Reference {
    pub(super) fn new(statics: Arc<Statics>, schedule: Arc<Schedule>) -> Self {
        Self { statics, schedule, rows: None, ran_out: None }
    }

    fn drop_rows(&mut self) {
        self.ran_out = self.exhausted();
        self.rows = None;
    }

    fn rows(&mut self, basis: Basis<'_>) -> &Frog {
        self.rows.get_or_insert_with(|| {
            let given: Vec<_> = basis.given_rows.all(basis.given_relations).collect();
            Arc::new(Frog::over(&self.statics, basis.facts, &given))
        })
    }
}

impl Evaluator for Reference {
    fn follow(&mut self, changes: &[Change]) {
        if !changes.is_empty() {
            self.drop_rows();
        }
    }

    fn undo(&mut self, changes: &[Change]) {
        self.follow(changes);
    }

    fn take_rows(&mut self, _rel: RelId, _rows: &[Tuple]) {
        self.drop_rows();
    }

    fn forget(&mut self) {
        (self.rows, self.ran_out) = (None, None);
    }

    fn contains(&mut self, basis: Basis<'_>, rel: RelId, tuple: &[i64]) -> bool {
        self.rows(basis).contains(rel, tuple)
    }

    fn any(&mut self, basis: Basis<'_>, rel: RelId) -> bool {
        !self.rows(basis).rows(rel).is_empty()
    }

    fn count(&mut self, basis: Basis<'_>, rel: RelId) -> u64 {
        self.rows(basis).rows(rel).len() as u64
    }

    fn for_each(&mut self, basis: Basis<'_>, rel: RelId, pattern: Pattern<'_>, f: Visit<'_>) {
        let _ = self.rows(basis).for_each(rel, pattern, f);
    }

    /// Each relation is computed when it is first read.
    fn materialised(&mut self, basis: Basis<'_>) -> &dyn Rows {
        self.rows(basis)
    }

    fn react(
        &mut self,
        basis: Basis<'_>,
        batch: usize,
        args: &[i64],
        ids: &mut Ids,
        traced: bool,
        outputs: &mut Vec<Output>,
    ) -> Result<(), Exhausted> {
        let schedule = Arc::clone(&self.schedule);
        let meter = Metered::new(self.rows(basis), REFERENCE_STEPS);
        let reactions = &schedule.batches[batch].reactions;
        outputs.extend(outputs_of(&meter, reactions, args, ids, traced));
        meter.check()
    }

    fn exhausted(&self) -> Option<(Resource, usize)> {
        self.ran_out.or_else(|| self.rows.as_ref()?.exhausted())
    }

    fn boxed_clone(&self) -> Box<dyn Evaluator> {
        Box::new(self.clone())
    }
}

/// The outputs of a batch, in text order of the reactions; within one reaction by the ascending
/// values of its named variables, then in text order of the effects.
fn outputs_of(
    rows: &Metered<'_>,
    batch: &[usize],
    args: &[i64],
    ids: &mut Ids,
    traced: bool,
) -> Vec<Output> {
    let program = rows.program();
    let mut outputs = Vec::new();
    for &at in batch {
        let reaction = &program.reactions[at];
        rows.read_for(program.rules.len() + at);
        let params = if reaction.event == Event::Any { &[] } else { args };
        let named = reaction.named();
        for values in solutions(rows, reaction, &named, params) {
            let mut bindings: Bindings = vec![None; reaction.vars.len()];
            for (var, value) in named.iter().zip(&values) {
                bindings[usize::from(var.0)] = Some(*value);
            }
            if traced {
                let solution = Other::Solution { reaction: at, values: values.clone() };
                outputs.push(Output::Other(Box::new(solution)));
            }
            let mut one = Solution { program, at, bindings, ids: &mut *ids };
            let effects = reaction.effects.iter().enumerate();
            outputs.extend(effects.filter_map(|(number, it)| one.output(number, it)));
        }
    }
    outputs
}

/// The distinct values of the named variables over all solutions, ascending.
fn solutions(
    rows: &dyn Rows,
    reaction: &Reaction,
    named: &[VarId],
    args: &[i64],
) -> BTreeSet<Tuple> {
    let mut found = BTreeSet::new();
    let mut bindings: Bindings = vec![None; reaction.vars.len()];
    if !bind(&reaction.params, args.iter().copied().map(Some), &mut bindings) {
        return found;
    }
    let _ = solve(rows, &reaction.body, &mut bindings, &mut |solution| {
        let value = |it: &VarId| solution[usize::from(it.0)].unwrap_or_default();
        found.insert(named.iter().map(value).collect());
        ControlFlow::Continue(())
    });
    found
}

/// One solution of a reaction.
struct Solution<'p, 'i> {
    program: &'p Program,
    /// The reaction's number.
    at: usize,
    bindings: Bindings,
    ids: &'i mut Ids,
}

impl Solution<'_, '_> {
    fn value(&self, expr: &Expr) -> Option<i64> {
        value(expr, &self.bindings)
    }

    fn bound(&self, var: VarId) -> Option<i64> {
        self.bindings[usize::from(var.0)]
    }

    fn values(&self, args: &[Expr]) -> Option<Tuple> {
        args.iter().map(|it| self.value(it)).collect()
    }

    /// An effect with its values; `None` if its arithmetic has no value.
    fn output(&mut self, number: usize, effect: &Effect) -> Option<Output> {
        let other = match effect {
            Effect::Set { rel, args } => {
                let input = input(self.program, *rel)?;
                let args = self.values(args)?;
                let value = match input {
                    Input::Key(_) | Input::Game(_) => *args.last()?,
                    Input::Flag(_) | Input::GameFlag(_) | Input::List(..) => 1,
                };
                let entity = input.owner(&args)?;
                return Some(Output::Write { entity, attr: input.attr(), value: Some(value) });
            }
            Effect::Retract { rel, key } => {
                let input = input(self.program, *rel)?;
                let entity = input.owner(&self.values(key)?)?;
                return Some(Output::Write { entity, attr: input.attr(), value: None });
            }
            Effect::Remove { entity } => {
                return Some(Output::Remove { entity: self.value(entity)? });
            }
            Effect::Forget { preset, of } => {
                let vars = &self.program.reactions[self.at].vars;
                let of = match of {
                    Some(it) => Some((vars[usize::from(it.0)].ty, self.bound(*it)?)),
                    None => None,
                };
                Other::Forget { preset: self.bound(*preset)?, of }
            }
            Effect::Inherit { to, from } => {
                Other::Inherit { to: self.bound(*to)?, from: self.bound(*from)? }
            }
            Effect::Spawn { var } => {
                let entity = self.ids.give_raw();
                self.bindings[usize::from(var.0)] = Some(entity);
                Other::Spawn { entity }
            }
            Effect::Raise { event, args } => {
                Other::Raise { reaction: self.at, event: *event, args: self.values(args)? }
            }
            Effect::Stop => Other::Stop,
            Effect::Pass { args } => Other::Pass { args: self.values(args)? },
            Effect::Emit { event, args } => Other::Emit { event: *event, args: self.values(args)? },
            Effect::Veto { message } => Other::Veto { said: self.message(&message.0) },
            Effect::Note { message } => Other::Note { said: self.message(&message.0) },
            Effect::Rewind { turns } => Other::Rewind { turns: self.value(turns)? },
            Effect::Call { args, .. } => {
                let args = args.iter().map(|it| self.bound(*it)).collect::<Option<Tuple>>()?;
                Other::Call { reaction: self.at, effect: number, args }
            }
        };
        Some(Output::Other(Box::new(other)))
    }

    fn message(&self, parts: &[MessagePart]) -> Said {
        let value = |var| self.bound(var).unwrap_or_default();
        Said::new(self.program, &self.program.reactions[self.at], parts, value)
    }
}

fn input(program: &Program, rel: RelId) -> Option<Input> {
    match program.relation(rel).role {
        Role::Input(input) => Some(input),
        Role::Static | Role::Builtin(_) | Role::Derived | Role::Given(_) => None,
    }
}
