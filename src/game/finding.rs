//! Decisions about moves (a proof, a refutation, or the trial of an action that rules alone do not decide), and
//! findings in words, with the game's names for things.

use std::collections::{HashMap, HashSet};

use crate::derive::explain::{
    Case, Effect, Finding, Limits, Line, Outcome, Proof, Trial, Turning, View, try_out, try_turn,
    why_not_within, why_within,
};
use crate::derive::{Exhausted, World};
use crate::facts::{AttrId, EntityId};
use crate::moves::{
    Contract, Decision, Lookup, Move, argument_rows, is_played_out, refused_argument, row,
    value_name,
};
use crate::rules::{RelId, Type};

/// The proofs of all rows that match.
pub(super) fn prove(
    world: &mut World,
    rel: RelId,
    pattern: &[Option<i64>],
    limits: Limits,
) -> Result<Vec<Proof>, Exhausted> {
    let rows = world.matching(rel, pattern);
    let all = world.materialised();
    rows.iter().filter_map(|row| why_within(&all, rel, row, limits).transpose()).collect()
}

/// Decides a move in a game that is not over: whether it is legal, and why.
///
/// # Errors
/// Finding it out took more than the limits allow.
pub fn decide(
    world: &mut World,
    contract: &Contract,
    mv: &Move,
    limits: Limits,
) -> Result<(bool, Finding), Exhausted> {
    if let Some((rel, row)) = refused_argument(world, mv) {
        return Ok((false, refute(world, rel, &row, limits)?));
    }
    if !is_played_out(world, contract, mv) {
        let rel = world.program().action(mv.action).rel;
        let (legal, mut finding) = by_rules(world, rel, mv, limits)?;
        if let Finding::Proved(proofs) = &mut finding {
            let given = argument_rows(world.program(), mv);
            let all = world.materialised();
            for (rel, row) in given {
                proofs.extend(why_within(&all, rel, &row, limits)?);
            }
        }
        return Ok((legal, finding));
    }
    let because = match contract.decisions[usize::from(mv.action.0)] {
        Decision::Except(odd) => Some(odd),
        Decision::Rules | Decision::Simulation | Decision::Never => None,
    };
    match trial(world, contract, mv, because, limits)? {
        Some(it) => {
            let legal = matches!(it.outcome, Outcome::Tenable { .. });
            Ok((legal, Finding::Tried(Box::new(it))))
        }
        None => {
            let action = world.program().action(mv.action);
            by_rules(world, action.candidates(), mv, limits)
        }
    }
}

/// The trial of an action, even if rules alone decide it; `None` if the action is not even pseudo-legal.
pub(super) fn trial(
    world: &mut World,
    contract: &Contract,
    mv: &Move,
    because: Option<RelId>,
    limits: Limits,
) -> Result<Option<Trial>, Exhausted> {
    try_out(world, case(world, contract, mv, because), limits)
}

fn case<'m>(world: &World, contract: &Contract, mv: &'m Move, because: Option<RelId>) -> Case<'m> {
    let mover = contract.mover(world.facts()).unwrap_or_default();
    Case { action: mv.action, args: &mv.args, because, untenable: contract.untenable, mover }
}

/// Whether the mover keeps the turn after an action, and why; `None` if the rules have no relation for that, if the
/// action is not pseudo-legal or fails, or if no reaction that fires asks for that relation.
pub(super) fn turn_after(
    world: &mut World,
    contract: &Contract,
    mv: &Move,
    limits: Limits,
) -> Result<Option<Turning>, Exhausted> {
    let Some(keeps) = contract.keeps_turn else { return Ok(None) };
    try_turn(world, case(world, contract, mv, None), keeps, limits)
}

fn by_rules(
    world: &mut World,
    rel: RelId,
    mv: &Move,
    limits: Limits,
) -> Result<(bool, Finding), Exhausted> {
    let row = row(world, mv);
    if let Some(proof) = why_within(&world.materialised(), rel, row, limits)? {
        return Ok((true, Finding::Proved(vec![proof])));
    }
    Ok((false, refute(world, rel, row, limits)?))
}

/// The refutation of a row.
fn refute(
    world: &mut World,
    rel: RelId,
    row: &[i64],
    limits: Limits,
) -> Result<Finding, Exhausted> {
    let pattern: Vec<Option<i64>> = row.iter().copied().map(Some).collect();
    let refutation = why_not_within(&world.materialised(), rel, &pattern, limits)?;
    Ok(refutation.map_or(Finding::Unfounded, |it| Finding::Refuted(vec![it])))
}

/// Findings about one position in words.
pub(super) struct Describer<'a> {
    pub(super) world: &'a World,
    pub(super) contract: &'a Contract,
}

impl Describer<'_> {
    /// The finding as an indented tree.
    pub(super) fn tree(&self, finding: &Finding) -> String {
        self.lines(finding).iter().map(|it| format!("{it}\n")).collect()
    }

    /// The finding, line by line.
    pub(super) fn lines(&self, finding: &Finding) -> Vec<Line> {
        match finding {
            Finding::Proved(all) => {
                self.now(|view| all.iter().flat_map(|it| it.lines(view)).collect())
            }
            Finding::Refuted(all) => {
                self.now(|view| all.iter().flat_map(|it| it.lines(view)).collect())
            }
            Finding::Tried(it) => self.at_decision(it, |before, after| it.lines(before, after)),
            Finding::Turned(it) => self.at_turn(it, |before, then| it.lines(before, then)),
            Finding::Unfounded => Vec::new(),
        }
    }

    /// In one line, why a move is not legal, why a fact does not hold, or why the turn is kept or passed.
    pub(super) fn reason(&self, finding: &Finding) -> Option<String> {
        match finding {
            Finding::Proved(_) | Finding::Unfounded => None,
            Finding::Refuted(all) => {
                let first = all.first()?;
                self.now(|view| first.reason(view).or_else(|| Some(first.summary(view))))
            }
            Finding::Tried(it) => self.at_decision(it, |before, after| it.reason(before, after)),
            Finding::Turned(it) => self.at_turn(it, |_, then| it.reason(then)),
        }
    }

    /// The effects of a tried action in short, of changed facts only their number. Empty for other findings.
    pub(super) fn sentences(&self, finding: &Finding) -> Vec<String> {
        match finding {
            Finding::Tried(it) => self.before(it, |view| it.summary(view)),
            _ => Vec::new(),
        }
    }

    /// Calls `f` with the names that things have in the position.
    pub(super) fn now<T>(&self, f: impl FnOnce(View<'_>) -> T) -> T {
        let facts = |entity, attr| self.world.facts().get_raw(entity, attr);
        self.named(&facts, f)
    }

    /// Calls `f` with the names of the position, and with those of the moment when the trial is decided.
    fn at_decision<T>(&self, trial: &Trial, f: impl FnOnce(View<'_>, View<'_>) -> T) -> T {
        self.after_steps(trial, trial.decided.unwrap_or(trial.steps.len()), f)
    }

    /// Calls `f` with the names of the position, and with those of the moment when the turn is decided.
    fn at_turn<T>(&self, it: &Turning, f: impl FnOnce(View<'_>, View<'_>) -> T) -> T {
        self.after_steps(&it.trial, it.steps, f)
    }

    /// Calls `f` with the names of the position, and with those after the first `steps` steps of a trial.
    fn after_steps<T>(
        &self,
        trial: &Trial,
        steps: usize,
        f: impl FnOnce(View<'_>, View<'_>) -> T,
    ) -> T {
        let of_steps = trial.steps.iter().take(steps).flat_map(|it| &it.effects);
        let changes = self.changes(trial.expired.iter().chain(of_steps));
        let facts = |entity, attr| {
            let now = || self.world.facts().get_raw(entity, attr);
            changes.get(&(entity, attr)).copied().unwrap_or_else(now)
        };
        self.before(trial, |before| self.named(&facts, |after| f(before, after)))
    }

    /// Calls `f` with the names of the position; what is new in a trial has the names that it has at the end.
    fn before<T>(&self, trial: &Trial, f: impl FnOnce(View<'_>) -> T) -> T {
        let effects = || trial.steps.iter().flat_map(|it| &it.effects);
        let spawned = |it: &Effect| match it {
            Effect::Spawned { entity } => Some(EntityId(*entity)),
            _ => None,
        };
        let new: HashSet<EntityId> = effects().filter_map(spawned).collect();
        let changes = self.changes(effects());
        let facts = |entity, attr| match new.contains(&entity) {
            true => changes.get(&(entity, attr)).copied().flatten(),
            false => self.world.facts().get_raw(entity, attr),
        };
        self.named(&facts, f)
    }

    /// The last value of each fact that effects change.
    fn changes<'e>(
        &self,
        effects: impl Iterator<Item = &'e Effect>,
    ) -> HashMap<(EntityId, AttrId), Option<i64>> {
        let schema = &self.world.program().schema;
        let change = |it: &Effect| match it {
            Effect::Changed { entity, attribute, new, .. } => {
                let attr = schema.attribute_named(attribute)?;
                Some(((EntityId(*entity), attr), new.as_ref().map(|it| it.raw)))
            }
            _ => None,
        };
        effects.filter_map(change).collect()
    }

    fn named<T>(&self, facts: Lookup<'_>, f: impl FnOnce(View<'_>) -> T) -> T {
        let program = self.world.program();
        let names = |ty: Type, raw: i64| value_name(program, facts, self.contract, ty, raw);
        f(View { program, names: &names })
    }
}
