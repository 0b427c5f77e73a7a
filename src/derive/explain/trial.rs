//! Trials: an action is played out and taken back. They list its steps one by one, and explain what holds after
//! these.
//!
//! Each step is the justification of its effects: the reaction, the values of its variables, and the
//! event that it reacted to. Deliberately absent: which actions are decided by playing them out.

use std::sync::Arc;

use super::{Limits, why_not_within, why_within};
use crate::derive::trace::{Done, Step, Trace};
use crate::derive::{Exhausted, Refusal, World};
use crate::rules::tree::{
    Binding, Datum, Effect, Goal, Outcome, Quote, Reacted, Trial, TurnEnd, Turning,
};
use crate::rules::{ActionId, Event, EventId, Program, Reaction, RelId};

/// An action to be played out, and the relation that must not hold after it.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub action: ActionId,
    pub args: &'a [i64],
    /// The relation whose row causes this action to be played out, if its kind is decided by rules.
    pub because: Option<RelId>,
    /// The relation of sides that may not leave the position as it is.
    pub untenable: RelId,
    /// The side that takes the action.
    pub mover: i64,
}

/// The effects of the action, and its outcome. `None` if it is not even pseudo-legal.
///
/// # Errors
/// Explaining it exceeded the limits.
pub fn try_out(
    world: &mut World,
    case: Case<'_>,
    limits: Limits,
) -> Result<Option<Trial>, Exhausted> {
    Ok(play_out(world, case, limits)?.map(|it| it.trial))
}

/// A trial with the data that it was made from.
struct PlayedOut {
    trial: Trial,
    trace: Trace,
    /// Whether the action succeeds.
    happens: bool,
}

fn play_out(
    world: &mut World,
    case: Case<'_>,
    limits: Limits,
) -> Result<Option<PlayedOut>, Exhausted> {
    let program = Arc::clone(world.program());
    let action = program.action(case.action);
    let rows = world.materialised();
    let why = |rel: RelId| why_within(&rows, rel, action.row(case.args), limits);
    let Some(tried) = why(action.candidates())? else { return Ok(None) };
    let because = case.because.map(why).transpose()?.flatten();
    let mark = world.mark();
    let (mut found, mut decided) = (None, None);
    let (trace, done) = world.play_out_traced(case.action, case.args, &mut |world, steps| {
        found = Some(outcome(world, case, limits));
        decided = steps;
    });
    let happens = done.is_ok();
    world.rollback(mark);
    let outcome = match (found.transpose()?, done) {
        // It is not legal, whatever its later stages come to.
        (Some(it @ Outcome::Untenable(_)), _) => it,
        (_, Err(Refusal::Veto { .. })) => Outcome::Refused,
        (Some(it), _) => it,
        (None, Err(other)) => Outcome::Endless { reason: other.to_string() },
        // This does not occur: an action that is taken to its end was looked at on the way.
        (None, Ok(())) => Outcome::Endless { reason: String::new() },
    };
    let (relation, args) = (program.relation(action.rel), case.args);
    let action = Goal::of(&relation.name, &Datum::row(&program, &action.columns, args));
    let expired = trace.expired.iter().map(|&it| Effect::changed(&program, it)).collect();
    let steps = steps(&program, &trace);
    let trial = Trial { action, tried, because, expired, steps, decided, outcome };
    Ok(Some(PlayedOut { trial, trace, happens }))
}

/// Whether the mover keeps the turn after the action: whether the relation `keeps` holds when the first reaction
/// that asks for it fires. `None` if the action is not pseudo-legal, if it fails, or if no such reaction fires.
///
/// # Errors
/// Explaining it exceeded the limits.
pub fn try_turn(
    world: &mut World,
    case: Case<'_>,
    keeps: RelId,
    limits: Limits,
) -> Result<Option<Turning>, Exhausted> {
    let played = play_out(world, case, limits)?.filter(|it| it.happens);
    let Some(PlayedOut { trial, trace, .. }) = played else { return Ok(None) };
    let program = Arc::clone(world.program());
    let asks = |it: &Step| program.reactions[it.reaction].has_atom_of(keeps);
    let Some(at) = trace.steps.iter().position(asks) else { return Ok(None) };
    let steps = batch_start(&program, &trace.steps, at);
    let mark = world.mark();
    for change in &trace.expired {
        world.set_raw(change.entity, change.attr, change.new);
    }
    for done in trace.steps[..steps].iter().flat_map(|it| &it.done) {
        if let Done::Changed(change) = done {
            world.set_raw(change.entity, change.attr, change.new);
        }
    }
    let end = turn_end(world, keeps, limits);
    world.rollback(mark);
    Ok(end?.map(|end| Turning { trial, steps, end }))
}

fn turn_end(world: &mut World, keeps: RelId, limits: Limits) -> Result<Option<TurnEnd>, Exhausted> {
    let rows = world.materialised();
    if let Some(proof) = why_within(&rows, keeps, &[], limits)? {
        return Ok(Some(TurnEnd::Kept(proof)));
    }
    Ok(why_not_within(&rows, keeps, &[], limits)?.map(TurnEnd::Passed))
}

/// The first step of the batch that a step belongs to. All steps of a batch see the same facts.
fn batch_start(program: &Program, steps: &[Step], at: usize) -> usize {
    let batch = |it: &Step| {
        let Reaction { stage, owner, .. } = &program.reactions[it.reaction];
        (it.number, *stage, *owner)
    };
    let same = steps[..at].iter().rev().take_while(|it| batch(it) == batch(&steps[at]));
    at - same.count()
}

/// The outcome after the action.
fn outcome(world: &mut World, case: Case<'_>, limits: Limits) -> Result<Outcome, Exhausted> {
    let program = Arc::clone(world.program());
    let rows = world.materialised();
    if let Some(proof) = why_within(&rows, case.untenable, &[case.mover], limits)? {
        return Ok(Outcome::Untenable(proof));
    }
    let relation = program.relation(case.untenable);
    let goal = Goal::of(&relation.name, &Datum::row(&program, &relation.columns, &[case.mover]));
    // Why the relation does not hold is explained to one level, as with premises.
    let limits = Limits { refutation: 1, ..limits };
    let refutation = why_not_within(&rows, case.untenable, &[Some(case.mover)], limits)?;
    Ok(Outcome::Tenable { goal, refutation })
}

/// The steps of a trace, with the names of events, variables and values.
pub fn steps(program: &Program, trace: &Trace) -> Vec<Reacted> {
    trace.steps.iter().map(|it| reacted(program, it)).collect()
}

fn reacted(program: &Program, step: &Step) -> Reacted {
    let reaction = &program.reactions[step.reaction];
    let named = reaction.named();
    let bindings = named.iter().zip(&step.values).filter_map(|(var, &raw)| {
        let var = reaction.vars.get(usize::from(var.0))?;
        let value = Datum::of(program, var.ty, raw);
        Some(Binding { var: var.name.clone(), value })
    });
    Reacted {
        event: program.event_name(step.event).to_owned(),
        args: Datum::row(program, program.event_columns(step.event), &step.args),
        depth: step.depth,
        reaction: Quote::of(program, step.reaction, reaction.span),
        bindings: bindings.collect(),
        effects: step.done.iter().map(|it| effect(program, step.event, it)).collect(),
    }
}

fn effect(program: &Program, event: Event, done: &Done) -> Effect {
    let raised = |event: EventId, args: &[i64]| {
        let declared = program.event(event);
        (declared.name.clone(), Datum::row(program, &declared.columns, args))
    };
    match done {
        Done::Changed(it) => Effect::changed(program, *it),
        Done::Spawned(it) => Effect::Spawned { entity: it.0 },
        Done::Raised { event, args } => {
            let (event, args) = raised(*event, args);
            Effect::Raised { event, args }
        }
        Done::Stopped => Effect::Stopped,
        Done::Passed { args } => {
            Effect::Passed { args: Datum::row(program, program.event_columns(event), args) }
        }
        Done::Emitted { event, args } => {
            let (event, args) = raised(*event, args);
            Effect::Emitted { event, args }
        }
        Done::Noted { said } => Effect::Noted { said: said.text.clone() },
        Done::Vetoed { said } => Effect::Vetoed { said: said.text.clone() },
        Done::Rewound { turns } => Effect::Rewound { turns: *turns },
        Done::Called { name, .. } => Effect::Called { name: name.clone() },
    }
}
