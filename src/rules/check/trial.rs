//! Trials: relations whose rows are found by playing actions out.
//!
//! The condition of a trial is the body of a reaction to an event of its own, so whatever runs reactions can
//! evaluate it. Nothing that is played out for a trial may depend on the trial's result; which reactions are
//! played out is known only when all files have been checked. Deliberately absent: playing anything out.

use std::collections::BTreeSet;

use super::super::ast::TrialDecl;
use super::super::depends::{relations_of, with_consequences};
use super::super::diagnostic::Diagnostic;
use super::super::limits::{self, LimitError};
use super::super::mistake::{self, Asking};
use super::super::program::{
    Action, ActionId, Effect, Event, EventId, Given, Literal, Program, Reaction, Relation, Role,
    Span, TrialId, TrialRelation,
};
use super::rule::{Body, Subject};
use super::{Checker, Info};

impl<'t> Checker<'t> {
    /// Declares the relation of a trial.
    pub(super) fn declare_trial(&mut self, trial: &TrialDecl<'t>) {
        let decl = &trial.relation;
        let limit = match (decl.columns.len(), self.trials.len()) {
            (columns, _) if columns > limits::COLUMNS => Some(LimitError::Columns(columns)),
            (_, limits::TRIALS) => Some(LimitError::Trials(limits::TRIALS + 1)),
            _ => None,
        };
        if let Some(limit) = limit {
            return self.abandon(decl.name, limit);
        }
        let columns = self.columns(decl);
        let id = TrialId(self.trials.len() as u16);
        let info = self.declared(decl, columns, Role::Given(Given::Trial(id)));
        let Some(rel) = self.add(info) else { return };
        // Its action is known only when everything is declared.
        let (action, event) = (ActionId(0), EventId(0));
        self.trials.push(TrialRelation { id, rel, action, from: None, event, span: trial.span });
    }

    /// The trial of a declaration.
    fn trial_of(&self, decl: &TrialDecl<'t>) -> Option<usize> {
        self.trials.iter().position(|it| it.span == decl.span)
    }

    /// Resolves a trial's action, and declares its event, once actions and events are known.
    pub(super) fn settle_trial(&mut self, decl: &TrialDecl<'t>) {
        let Some(at) = self.trial_of(decl) else { return };
        let rel = self.trials[at].rel;
        let action = self.find(decl.action).and_then(|it| match self.action_of.get(&it) {
            Some(&of) => Some((it, self.actions[of].id)),
            None => {
                let report = mistake::trial_of_no_action(decl.action, self.relation(it).span);
                self.report(report);
                None
            }
        });
        if let Some((of, _)) = action
            && self.info(of).types != self.info(rel).types
        {
            let report = mistake::trial_columns(
                decl.relation.name,
                &self.signature(rel),
                &self.signature(of),
                self.relation(of).span,
            );
            self.report(report);
        }
        let from = decl.from.and_then(|it| self.with_same_columns(rel, it));
        if self.events.len() == limits::EVENTS {
            let limit = LimitError::Events(limits::EVENTS + 1);
            return self.exceeds(limit, decl.relation.name.span);
        }
        let event = EventId(self.events.len() as u16);
        let info = self.info(rel);
        let relation = Relation {
            name: format!("trial {}", info.relation.name),
            role: Role::Derived,
            ..info.relation.clone()
        };
        let (types, name) = (info.types.clone(), info.name);
        self.events.push(Info { relation, types, name });
        let trial = &mut self.trials[at];
        (trial.from, trial.event) = (from, event);
        if let Some((_, action)) = action {
            trial.action = action;
        }
    }

    /// The condition of a trial: a reaction to its event.
    pub(super) fn trial_body(&mut self, decl: &TrialDecl<'t>) {
        let Some(at) = self.trial_of(decl) else { return };
        let event = self.trials[at].event;
        let trigger = Some((Event::Raised(event), Subject::Event(event)));
        let mut body = Body::new(self);
        let lowered = body.lower_reaction(&decl.condition, trigger);
        let vars = body.into_vars();
        let Some((params, body, effects)) = lowered else { return };
        let (event, stage, owner) = (Event::Raised(event), self.default_stage, None);
        let span = decl.span;
        self.reactions.push(Reaction { event, stage, owner, params, body, effects, vars, span });
    }
}

/// A dependency of a trial on another one, or on itself, with its place.
struct Asks {
    trial: usize,
    asking: Asking,
    span: Span,
}

/// The mistakes in what trials depend on: trials that depend on themselves, and those that play out calls of code,
/// whose dependencies cannot be followed.
pub(super) fn dependency_mistakes(program: &Program) -> Vec<Diagnostic> {
    if program.trials.is_empty() {
        return Vec::new();
    }
    let reads = Reads::of(program);
    let asks: Vec<Vec<Asks>> = program.trials.iter().map(|it| reads.asked_by(it)).collect();
    let mut found = Vec::new();
    for trial in &program.trials {
        let name = &program.relation(trial.rel).name;
        let action = program.action(trial.action);
        let played = &program.relation(action.rel).name;
        if let Some(call) = reads.tried(action).into_iter().find(|it| calls(it)) {
            found.push(mistake::trial_calls(name, played, trial.span, call.span));
        }
        let at = usize::from(trial.id.0);
        // The first step of a path back to it.
        let back = asks[at].iter().find(|first| {
            let (mut open, mut seen) = (vec![first.trial], BTreeSet::new());
            while let Some(next) = open.pop() {
                if next == at {
                    return true;
                }
                if seen.insert(next) {
                    open.extend(asks[next].iter().map(|it| it.trial));
                }
            }
            false
        });
        if let Some(first) = back {
            let other = &program.relation(program.trials[first.trial].rel).name;
            let (asking, place) = (first.asking, first.span);
            found.push(mistake::trial_of_itself(name, played, other, asking, trial.span, place));
        }
    }
    found
}

fn calls(reaction: &Reaction) -> bool {
    reaction.effects.iter().any(|it| matches!(it, Effect::Call { .. }))
}

/// For each relation the trials that it depends on, one bit each. State from before the action counts like
/// current state.
struct Reads<'p> {
    program: &'p Program,
    of: Vec<u64>,
}

impl<'p> Reads<'p> {
    fn of(program: &'p Program) -> Self {
        let mut of = vec![0; program.relations.len()];
        for trial in &program.trials {
            of[usize::from(trial.rel.0)] = 1 << trial.id.0;
        }
        let mut reads = Self { program, of };
        for stratum in &program.strata {
            let rules = stratum.relations.iter().flat_map(|&it| &program.relation(it).rules);
            let all = rules.fold(0, |all, &rule| all | reads.in_body(&program.rule(rule).body));
            stratum.relations.iter().for_each(|rel| reads.of[usize::from(rel.0)] |= all);
        }
        // Only reactions read these, so the strata do not depend on them.
        for (at, relation) in program.relations.iter().enumerate() {
            if let Role::Given(Given::Before(of)) = relation.role {
                reads.of[at] = reads.of[usize::from(of.0)];
            }
        }
        reads
    }

    /// The trials that a body depends on.
    fn in_body(&self, body: &[Literal]) -> u64 {
        relations_of(body).iter().fold(0, |all, rel| all | self.of[usize::from(rel.0)])
    }

    /// The trials that a body depends on by `was`.
    fn in_was(&self, body: &[Literal]) -> u64 {
        let hidden = relations_of(body).into_iter().filter(|it| self.program.is_hidden(*it));
        hidden.fold(0, |all, rel| all | self.of[usize::from(rel.0)])
    }

    /// The reactions that are run when an action is played out.
    fn tried(&self, action: &Action) -> Vec<&'p Reaction> {
        let is_late = |it: &&Reaction| action.until.is_some_and(|until| it.stage > until);
        let own = self.program.reactions_to(Event::Action(action.id)).filter(|it| !is_late(it));
        with_consequences(self.program, own.collect(), |_| true)
    }

    /// The trials that are needed to find the rows of one.
    fn asked_by(&self, trial: &TrialRelation) -> Vec<Asks> {
        let program = self.program;
        let action = program.action(trial.action);
        let candidates = action.candidates();
        let from = trial.from.map_or(0, |it| self.of[usize::from(it.0)]);
        let mut all: Vec<(u64, Asking, Span)> = vec![
            (self.of[usize::from(candidates.0)], Asking::Candidates, action.span),
            (from, Asking::Candidates, trial.span),
        ];
        // The state before the action is recorded as a whole, whichever stage reads it.
        let own = program.reactions_to(Event::Action(action.id)).collect();
        let whole = with_consequences(program, own, |_| true);
        let before = |it: &Reaction| (self.in_was(&it.body), Asking::Before, it.span);
        all.extend(whole.into_iter().map(before));
        // What these ask for by `was` is among the above.
        let now = |it: &Reaction| (self.in_body(&it.body), Asking::Reaction, it.span);
        all.extend(self.tried(action).into_iter().map(now));
        let own = |it: &Reaction| (self.in_body(&it.body), Asking::Condition, trial.span);
        all.extend(program.reactions_to(Event::Raised(trial.event)).map(own));
        let bits = |(mask, asking, span): (u64, Asking, Span)| {
            let trials = (0..program.trials.len()).filter(move |at| mask >> at & 1 == 1);
            trials.map(move |trial| Asks { trial, asking, span })
        };
        all.into_iter().flat_map(bits).collect()
    }
}
