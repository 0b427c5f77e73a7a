//! Audits: a game played again, under both evaluators, with its proofs checked.
//!
//! At the start and after every action each relation that depends on facts must have the same rows from the
//! incremental evaluator, which has followed the game, as from the reference evaluator, which derives them from the
//! facts alone; the action itself must write the same facts under both. What a save states (facts, moves, hashes,
//! proofs) must be reproduced; the first difference is reported, with a proof if there is one. Deliberately absent:
//! reading files, and what an audit looks like on a terminal.

pub mod combine;
mod reference;

use std::iter;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::derive::Tuple;
use crate::derive::explain::Limits;
use crate::game::{Game, PlayError, decide};
use crate::moves::{Move, argument_rows, is_played_out};
use crate::presets::save::{
    Difference, Doubt, Next, RestoreError, RulesFrom, Save, SavedMove, Step,
};
use crate::presets::{Catalogue, Past, Ruleset, switch_place};
use crate::proof::{Checker, Report};
use crate::rules::tree::{Finding, Goal, Outcome, Proof};
use crate::rules::{Program, RelId, plural};

pub use reference::ReferenceEvaluator;

/// The statistics of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub plies: usize,
    /// Positions whose rows were compared.
    pub positions: usize,
    /// Rows that both evaluators gave.
    pub rows: usize,
    /// Moves whose proofs or trials were checked.
    pub proofs: usize,
    /// Time from the first position on, without loading the rules of the start.
    pub time: std::time::Duration,
    /// The statistics of the checks of proofs and trials.
    pub report: Report,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.plies += other.plies;
        self.positions += other.positions;
        self.rows += other.rows;
        self.proofs += other.proofs;
        self.time += other.time;
        self.report += other.report;
    }
}

/// Called at the start, after each ply and after each change of presets with the statistics so far; for a save, also at
/// the first difference.
pub type Progress<'p> = &'p mut dyn FnMut(&Tally);

/// Audits a save. A list of facts (version 1) is read as one of the given game.
///
/// # Errors
/// It cannot be read, its rules are not there, or the first difference in it.
pub fn save(
    bytes: &[u8],
    game: &str,
    catalogue: &Catalogue,
    from: RulesFrom,
    progress: Progress<'_>,
) -> Result<Tally, RestoreError> {
    let (save, doubt) = Save::read(bytes, game)?;
    let tally = read_save(&save, catalogue, from, progress)?;
    doubt.map_or(Ok(tally), |it: Doubt| Err(it.into()))
}

/// Audits a save that was read already.
///
/// # Errors
/// Its rules are not there, or the first difference in it.
pub fn read_save(
    save: &Save,
    catalogue: &Catalogue,
    from: RulesFrom,
    progress: Progress<'_>,
) -> Result<Tally, RestoreError> {
    let mut tally = Tally::default();
    let mut reference: Option<ReferenceEvaluator> = None;
    let mut started = None;
    save.restore_visiting(catalogue, from, &mut |step| {
        let visited = visit(step, &mut reference, &mut tally);
        // Evaluating the first position computes the statics, for all later ones.
        tally.time = started.get_or_insert_with(std::time::Instant::now).elapsed();
        progress(&tally);
        visited
    })?;
    Ok(tally)
}

fn visit(
    step: Step<'_>,
    reference: &mut Option<ReferenceEvaluator>,
    tally: &mut Tally,
) -> Result<(), Difference> {
    let at = place(step.ply, &step.next);
    let reference = reference.get_or_insert_with(|| ReferenceEvaluator::new(step.game));
    compare_position(step.game, reference, tally)
        .map_err(|it| Difference { at: at.clone(), ..it })?;
    tally.plies = step.ply;
    let (saved, mv) = match &step.next {
        Next::Move(saved, mv) => (saved, mv),
        Next::Switch { to, catalogue, rules } => {
            let switched = reference.switch(step.game, catalogue, rules, &to.presets);
            return switched.map_err(|it| Difference::new(at, it.to_string()));
        }
        Next::End => return Ok(()),
    };
    let contract = step.game.contract().clone();
    let is_tried = is_played_out(step.game.world_mut(), &contract, mv);
    let checker = reference.checker(step.game.facts());
    let report = match is_tried {
        true => check_saved_trial(checker, saved),
        false => check_saved_proofs(checker, step.game.program(), saved, mv),
    };
    tally.report +=
        report.map_err(|it| Difference::new(at, format!("its proof is wrong: {it}")))?;
    tally.proofs += 1;
    reference.take(mv);
    Ok(())
}

fn place(ply: usize, next: &Next<'_>) -> String {
    match next {
        Next::Move(next, _) => format!("move {} ({})", ply + 1, next.uci),
        Next::Switch { to, .. } => to.place(),
        Next::End => "the end".to_string(),
    }
}

/// Compares the rows of a position, and the facts that its last action left.
fn compare_position(
    game: &mut Game,
    reference: &mut ReferenceEvaluator,
    tally: &mut Tally,
) -> Result<(), Difference> {
    reference.follow(game)?;
    tally.rows += reference.compare(game)?;
    tally.positions += 1;
    Ok(())
}

/// Checks the trial that a save has of a move that is decided by playing it out.
fn check_saved_trial(checker: &mut Checker, saved: &SavedMove) -> Result<Report, String> {
    let Finding::Tried(trial) = read(&saved.proof)? else {
        return Err("the move is decided by playing it out, and this is no trial".into());
    };
    if !matches!(trial.outcome, Outcome::Tenable { .. }) {
        return Err("the move is not legal by it".into());
    }
    check_goal(&trial.action, &saved.action)?;
    checker.trial(&trial).map_err(|it| it.to_string())
}

/// Checks the proofs that a save has of any other move: of its row, then of each unlisted argument that is not the
/// default.
fn check_saved_proofs(
    checker: &mut Checker,
    program: &Program,
    saved: &SavedMove,
    mv: &Move,
) -> Result<Report, String> {
    let proofs: Vec<Proof> = match &saved.proof {
        Value::Array(_) => read(&saved.proof)?,
        one => vec![read(one)?],
    };
    let action = program.action(mv.action);
    let listed = (action.rel, Tuple::from_slice(action.row(&mv.args)));
    let wanted: Vec<(RelId, Tuple)> =
        iter::once(listed).chain(argument_rows(program, mv)).collect();
    if proofs.len() != wanted.len() {
        return Err(format!("it has {}, not {}", plural(proofs.len(), "part"), wanted.len()));
    }
    let mut report = Report::default();
    for (proof, (rel, row)) in proofs.iter().zip(&wanted) {
        check_goal(&Goal::of(&proof.relation, &proof.tuple), &program.tuple_name(*rel, row))?;
        report += checker.proof(proof).map_err(|it| it.to_string())?;
    }
    Ok(report)
}

fn read<T: DeserializeOwned>(proof: &Value) -> Result<T, String> {
    T::deserialize(proof).map_err(|it| it.to_string())
}

/// Checks that a proof is of the wanted goal.
fn check_goal(goal: &Goal, wanted: &str) -> Result<(), String> {
    let goal = goal.to_string();
    if goal == wanted { Ok(()) } else { Err(format!("it is of {goal}, not {wanted}")) }
}

/// Audits what was played from a game's position. Presets are changed by the catalogue; the rules only say which game it is.
///
/// # Errors
/// A move that is not legal, presets that cannot be active, or rows that differ.
pub fn past(
    game: &mut Game,
    (catalogue, rules): (&Catalogue, &Ruleset),
    past: &[Past],
    progress: Progress<'_>,
) -> Result<Tally, Difference> {
    let mut tally = Tally::default();
    let mut reference = ReferenceEvaluator::new(game);
    compare_position(game, &mut reference, &mut tally)
        .map_err(|it| Difference { at: "the start".into(), ..it })?;
    let started = std::time::Instant::now();
    progress(&tally);
    let mut progress = |tally: &mut Tally| {
        tally.time = started.elapsed();
        progress(tally);
    };
    for entry in past {
        match entry {
            Past::Turn(text) => turn(game, &mut reference, text, &mut tally, &mut progress)?,
            Past::Presets(presets) => {
                let at = switch_place(tally.plies);
                reference
                    .switch(game, catalogue, rules, presets)
                    .and_then(|()| catalogue.set_active(rules, game, presets))
                    .map_err(|it| Difference::new(&at, it.to_string()))?;
                compare_position(game, &mut reference, &mut tally)
                    .map_err(|it| Difference { at, ..it })?;
                progress(&mut tally);
            }
        }
    }
    Ok(tally)
}

/// Audits the actions of a turn.
fn turn(
    game: &mut Game,
    reference: &mut ReferenceEvaluator,
    text: &str,
    tally: &mut Tally,
    progress: &mut dyn FnMut(&mut Tally),
) -> Result<(), Difference> {
    let place = |played: usize| format!("move {} ({text})", played + 1);
    let turn = game.find_turn(text);
    for mv in turn.map_err(|it| refused(&place(tally.plies), it, game))? {
        let at = place(tally.plies);
        check_trial(game, reference, &mv, tally).map_err(|it| Difference::new(&at, it))?;
        reference.take(&mv);
        let played = game.play(&mv).map(|_| ());
        played.map_err(|it| refused(&at, it, game))?;
        compare_position(game, reference, tally).map_err(|it| Difference { at, ..it })?;
        tally.plies += 1;
        progress(tally);
    }
    Ok(())
}

/// Checks the trial of a move, if it is decided by playing it out: no row that the evaluators have tells that it is
/// legal.
fn check_trial(
    game: &mut Game,
    reference: &mut ReferenceEvaluator,
    mv: &Move,
    tally: &mut Tally,
) -> Result<(), String> {
    let contract = game.contract().clone();
    if !is_played_out(game.world_mut(), &contract, mv) {
        return Ok(());
    }
    let (legal, finding) =
        decide(game.world_mut(), &contract, mv, Limits::default()).map_err(|it| it.to_string())?;
    if !legal {
        return Err("it is among the legal moves, and is not legal when it is played out".into());
    }
    let report = reference.checker(game.facts()).finding(&finding);
    tally.report += report.map_err(|it| format!("its trial is wrong: {it}"))?;
    tally.proofs += 1;
    Ok(())
}

fn refused(at: &str, why: PlayError, game: &mut Game) -> Difference {
    let proof = match &why {
        PlayError::Illegal(it) => Some(game.tree(&it.finding)),
        _ => None,
    };
    Difference { at: at.to_string(), what: why.to_string(), proof }
}
