//! What taking an action writes: its reactions, solved on the rows before the action.
//!
//! Nothing is written here; the world applies the writes.

use std::ops::ControlFlow;

use super::rows::{Rows, Tuple};
use super::solve::{Bindings, solve, value};
use crate::facts::{AttrId, EntityId, GAME};
use crate::rules::{ActionId, Effect, Event, Expr, Input, Program, Reaction, RelId, Role, Term};

/// One write, in the order in which it is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    Set(EntityId, AttrId, Option<i64>),
    Remove(EntityId),
}

/// The writes of an action, in text order of the reactions; within one reaction by the ascending
/// values of its variables, then in text order of the effects.
pub(super) fn writes(rows: &dyn Rows, action: ActionId, args: &[i64]) -> Vec<Write> {
    let program = rows.program();
    let mut writes = Vec::new();
    for reaction in &program.reactions {
        let params = match reaction.event {
            Event::Action(it) if it == action => args,
            Event::Action(_) => continue,
            Event::Any => &[],
        };
        for solution in solutions(rows, reaction, params) {
            let effects = reaction.effects.iter();
            writes.extend(effects.filter_map(|it| write(program, it, &solution)));
        }
    }
    writes
}

fn solutions(rows: &dyn Rows, reaction: &Reaction, args: &[i64]) -> Vec<Bindings> {
    let mut bindings: Bindings = vec![None; reaction.vars.len()];
    for (&param, &raw) in reaction.params.iter().zip(args) {
        let agrees = match param {
            Term::Wild => true,
            Term::Const(it) => it == raw,
            Term::Var(var) => *bindings[usize::from(var.0)].get_or_insert(raw) == raw,
        };
        if !agrees {
            return Vec::new();
        }
    }
    let mut found = Vec::new();
    let _ = solve(rows, &reaction.body, &mut bindings, &mut |solution| {
        found.push(solution.to_vec());
        ControlFlow::Continue(())
    });
    found.sort_unstable();
    found
}

/// An effect as a write; `None` if its arithmetic has no value.
fn write(program: &Program, effect: &Effect, bindings: &Bindings) -> Option<Write> {
    let values =
        |args: &[Expr]| -> Option<Tuple> { args.iter().map(|it| value(it, bindings)).collect() };
    match effect {
        Effect::Set { rel, args } => {
            let input = input(program, *rel)?;
            let args = values(args)?;
            let raw = match input {
                Input::Key(_) | Input::Game(_) => *args.last()?,
                Input::Flag(_) | Input::GameFlag(_) => 1,
            };
            Some(Write::Set(subject(input, &args)?, input.attr(), Some(raw)))
        }
        Effect::Retract { rel, key } => {
            let input = input(program, *rel)?;
            Some(Write::Set(subject(input, &values(key)?)?, input.attr(), None))
        }
        Effect::Remove { entity } => Some(Write::Remove(entity_id(value(entity, bindings)?)?)),
    }
}

fn input(program: &Program, rel: RelId) -> Option<Input> {
    match program.relation(rel).role {
        Role::Input(input) => Some(input),
        Role::Static | Role::Builtin(_) | Role::Derived => None,
    }
}

/// The entity whose fact an input's row is.
fn subject(input: Input, args: &[i64]) -> Option<EntityId> {
    match input {
        Input::Key(_) | Input::Flag(_) => entity_id(*args.first()?),
        Input::Game(_) | Input::GameFlag(_) => Some(GAME),
    }
}

fn entity_id(raw: i64) -> Option<EntityId> {
    u32::try_from(raw).ok().map(EntityId)
}
