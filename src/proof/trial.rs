//! Checks trials: the action is carried out again by the letter of the rules, and each step, and what is
//! stated about the facts after it, must agree.

use super::transact::{Failure, Transaction};
use super::{Checked, Checker, Fault, Report, ensure};
use crate::facts::{GAME, Session};
use crate::rules::tree::{Finding, Goal, Outcome, Trial, TurnEnd, Turning};
use crate::rules::{Action, Event, Input, Program, RelId, Role};

/// The relation of sides that may not leave the position as it is, then its name in rules of earlier saves.
const UNTENABLE: [&str; 2] = ["untenable", "exposed"];
/// The input for the side that takes an action.
const MOVER: &str = "turn";
/// The relation that says whether the mover keeps the turn.
const KEEPS: &str = "turn_goes_on";

impl Checker {
    /// Checks a finding of any kind.
    ///
    /// # Errors
    /// The first step that is wrong.
    pub fn finding(&mut self, finding: &Finding) -> Result<Report, Fault> {
        let mut sum = Report::default();
        match finding {
            Finding::Proved(all) => {
                all.iter().try_for_each(|it| self.proof(it).map(|it| sum += it))?;
            }
            Finding::Refuted(all) => {
                all.iter().try_for_each(|it| self.refutation(it).map(|it| sum += it))?;
            }
            Finding::Tried(it) => sum += self.trial(it)?,
            Finding::Turned(it) => sum += self.turning(it)?,
            Finding::Unfounded => {}
        }
        Ok(sum)
    }

    /// Checks a trial. The facts are restored afterwards.
    ///
    /// # Errors
    /// The first step that is wrong.
    pub fn trial(&mut self, trial: &Trial) -> Result<Report, Fault> {
        self.report = Report::default();
        let before = self.model.facts().clone();
        let checked = self.try_out(trial, &before);
        self.restore(&before);
        checked.map(|()| self.report)
    }

    /// Checks a statement on whether the mover keeps the turn after an action. The facts are restored
    /// afterwards.
    ///
    /// # Errors
    /// The first step that is wrong.
    pub fn turning(&mut self, turning: &Turning) -> Result<Report, Fault> {
        self.trial(&turning.trial)?;
        let before = self.model.facts().clone();
        let checked = self.turn_end(turning);
        self.restore(&before);
        checked.map(|()| self.report)
    }

    /// Restores the facts after an action. None is under way then, even if it has failed.
    fn restore(&mut self, facts: &Session) {
        self.model.set_origin(None);
        self.change(facts);
    }

    fn turn_end(&mut self, turning: &Turning) -> Checked {
        let program = self.program.clone();
        let fault = |reason: &str| Fault::new(KEEPS, reason.to_owned());
        let keeps = program.relation_named(KEEPS).ok_or_else(|| fault("no such relation"))?;
        let (action, args) = self.action(&program, &turning.trial.action)?;
        let asks = |it: &usize| program.reactions[*it].has_atom_of(keeps);
        let mut transaction = Transaction::new(&program, &mut self.model);
        transaction.watch = Some(turning.steps);
        let done = transaction.run(Event::Action(action.id), &args);
        let Transaction { steps, watched, .. } = transaction;
        self.model.set_origin(None);
        match done {
            Ok(()) => {}
            // What code does is not in the rules: only what comes before it can be checked.
            Err(Failure::Code) if watched.is_none() && turning.steps >= steps.len() => {
                return Ok(());
            }
            Err(Failure::Code) => {}
            Err(Failure::Refused | Failure::Endless) => {
                return Err(fault("the action does not happen"));
            }
        }
        let Some((facts, _)) = watched.filter(|(_, batch)| batch.iter().any(asks)) else {
            let step = turning.steps.saturating_add(1);
            return Err(fault(&format!("no reaction asks for it at step {step}")));
        };
        self.change(&facts);
        match &turning.end {
            TurnEnd::Kept(proof) => {
                ensure(self.prove(proof)?.0 == keeps, || fault("something else is proved"))
            }
            TurnEnd::Passed(it) => {
                ensure(self.goal(&it.goal)?.0 == keeps, || fault("something else is denied"))?;
                self.refute(it, &mut Vec::new())
            }
        }
    }

    fn try_out(&mut self, trial: &Trial, before: &Session) -> Checked {
        let program = self.program.clone();
        let fault = |reason: &str| Fault::new(&trial.action.relation, reason.to_owned());
        let (action, args) = self.action(&program, &trial.action)?;
        self.check_grounds(trial, action, &args)?;
        let mut transaction = Transaction::new(&program, &mut self.model);
        let done = transaction.run(Event::Action(action.id), &args);
        let Transaction { steps, expired, decided, .. } = transaction;
        self.check_size()?;
        if expired != trial.expired {
            return Err(fault("other facts expire as it begins than are stated"));
        }
        let calls_code = done == Err(Failure::Code);
        if calls_code {
            // Up to the step that calls code, everything must agree with the rules.
            let whole = steps.len().saturating_sub(1);
            if trial.steps.get(..whole) != steps.get(..whole) {
                return Err(fault("a step before the call of code is not what happens"));
            }
            self.report.code += 1;
            let is_complete =
                matches!(trial.outcome, Outcome::Untenable(_) | Outcome::Tenable { .. });
            if decided.is_none() || !is_complete {
                return Ok(());
            }
        }
        self.report.effects += expired.len();
        self.report.effects += steps.iter().map(|it| it.effects.len()).sum::<usize>();
        self.report.steps += steps.len();
        let same = steps.iter().zip(&trial.steps).take_while(|(a, b)| a == b).count();
        if !calls_code && same < steps.len().max(trial.steps.len()) {
            let reaction = trial.steps.get(same).or(steps.get(same));
            let place = reaction.map_or("", |it| it.reaction.place.as_str());
            let reason = format!("step {} ({place}) is not what happens", same + 1);
            return Err(fault(&reason));
        }
        let (facts, decided) = decided.unzip();
        if decided != trial.decided {
            return Err(fault("it is decided after another number of steps"));
        }
        if let Some(facts) = facts {
            self.change(&facts);
        }
        self.check_outcome(trial, done, before)
    }

    /// Checks the stated outcome of an action, about the facts that decide it. `done` tells how the action went.
    fn check_outcome(
        &mut self,
        trial: &Trial,
        done: Result<(), Failure>,
        before: &Session,
    ) -> Checked {
        let program = self.program.clone();
        let fault = |reason: &str| Fault::new(&trial.action.relation, reason.to_owned());
        // Once decided, an untenable position stays so whatever later stages do, and a tenable one unless they
        // refuse the action.
        let done = match (done, &trial.outcome) {
            (Err(_), Outcome::Untenable(_)) | (Err(Failure::Endless | Failure::Code), _)
                if trial.decided.is_some() =>
            {
                Ok(())
            }
            (done, _) => done,
        };
        match (&trial.outcome, done) {
            (Outcome::Refused, Err(Failure::Refused))
            | (Outcome::Endless { .. }, Err(Failure::Endless)) => Ok(()),
            (Outcome::Untenable(proof), Ok(())) => {
                let (rel, row) = self.prove(proof)?;
                let decides = Some((rel, row.to_vec())) == forbidden_row(&program, before);
                ensure(decides, || fault("this row does not decide it"))
            }
            (Outcome::Tenable { goal, refutation }, Ok(())) => {
                let (rel, row) = self.goal(goal)?;
                let row: Vec<i64> = row.into_iter().flatten().collect();
                let decides = Some((rel, row.clone())) == forbidden_row(&program, before);
                ensure(decides, || fault("this row does not decide it"))?;
                self.report.absent += 1;
                if self.model.table(rel).contains(&row) {
                    return Err(fault("the mover may not leave the position as it is then"));
                }
                match refutation {
                    None => Ok(()),
                    Some(it) if it.goal == *goal => self.refute(it, &mut Vec::new()),
                    Some(_) => Err(fault("the refutation is of another goal")),
                }
            }
            (_, Ok(())) => Err(fault("the action happens")),
            (_, Err(_)) => Err(fault("the action does not happen")),
        }
    }

    /// The action of a goal, with its arguments. A goal states unlisted arguments only if one of them is not the
    /// default; each that is not must be an allowed value.
    fn action<'p>(&mut self, program: &'p Program, goal: &Goal) -> Checked<(&'p Action, Vec<i64>)> {
        let fault = |reason: &str| Fault::new(&goal.relation, reason.to_owned());
        let rel = program.relation_named(&goal.relation);
        let action = program.actions.iter().find(|it| Some(it.rel) == rel);
        let action = action.ok_or_else(|| fault("it is no action"))?;
        if ![action.listed(), action.columns.len()].contains(&goal.args.len()) {
            return Err(fault("the action has another number of arguments"));
        }
        let mut args = Vec::new();
        for (column, datum) in action.columns.iter().zip(&goal.args) {
            let datum =
                datum.as_ref().ok_or_else(|| fault("an argument of the action is left open"))?;
            self.datum(column.ty, datum).map_err(|it| fault(&it))?;
            args.push(datum.raw);
        }
        if action.shortest(&args) != args {
            return Err(fault("unlisted arguments are stated that are all defaults"));
        }
        for (value, it) in action.given(&args).iter().zip(&action.unlisted) {
            let Some(from) = it.from.filter(|_| *value != it.default) else { continue };
            let alone = program.relation(from).columns.len() == 1;
            let row = if alone { &[][..] } else { action.row(&args) };
            let row: Vec<i64> = row.iter().chain([value]).copied().collect();
            if !self.model.table(from).contains(&row) {
                return Err(fault("an argument has a value that may not be given"));
            }
        }
        Ok((action, args))
    }

    /// Checks that the action is pseudo-legal, and is played out for the stated reason, if one is stated.
    fn check_grounds(&mut self, trial: &Trial, action: &Action, args: &[i64]) -> Checked {
        let fault = |reason: &str| Fault::new(&trial.action.relation, reason.to_owned());
        let candidates = action.candidates();
        let mut proves = |rel: RelId, proof| -> Checked<bool> {
            let (found, row) = self.prove(proof)?;
            Ok(found == rel && row[..] == *action.row(args))
        };
        if !proves(candidates, &trial.tried)? {
            return Err(fault("what is proved is not that it is pseudo-legal"));
        }
        match (&trial.because, action.simulates) {
            (None, _) => Ok(()),
            (Some(proof), Some(rel)) if proves(rel, proof)? => Ok(()),
            (Some(_), _) => Err(fault("what is proved is not why it is played out")),
        }
    }
}

/// The row that must not hold after an action: the mover, in the relation of [`UNTENABLE`].
fn forbidden_row(program: &Program, before: &Session) -> Option<(RelId, Vec<i64>)> {
    let rel = UNTENABLE.iter().find_map(|it| program.relation_named(it))?;
    let Role::Input(Input::Game(mover)) = program.relation(program.relation_named(MOVER)?).role
    else {
        return None;
    };
    Some((rel, vec![before.get_raw(GAME, mover)?]))
}
