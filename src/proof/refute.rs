//! Checks a refutation: that no row matches its goal, and that each attempt fails where it says.

use crate::rules::{Atom, Given, Literal, RelId, Role, Rule, Term};

use super::check::fits;
use super::join::{
    Bindings, bind, is_bound, is_closed_by, is_decided, known, pattern, value, with_values,
};
use super::table::Row;
use super::{Checked, Checker, Fault, ensure};
use crate::rules::tree::{
    Attempt, Blocked, Comparison, Datum, Goal, Lack, Proof, Refutation, Tally,
};

/// Goals that are being refuted, outermost first.
type Path = Vec<(RelId, Vec<Option<i64>>)>;

impl Checker {
    pub(super) fn refute(&mut self, refutation: &Refutation, path: &mut Path) -> Checked {
        self.report.steps += 1;
        self.report.absent += 1;
        let (rel, goal) = self.goal(&refutation.goal)?;
        let name = format!("not {}", refutation.goal.relation);
        let fault = |reason: &str| Fault::new(&name, reason.to_string());
        if self.model.table(rel).matches(&goal) {
            return Err(fault("there is such a row"));
        }
        let program = self.program.clone();
        match (&refutation.lack, &program.relation(rel).role) {
            (Lack::Fact { instead }, Role::Input(_))
            | (Lack::Static { instead }, Role::Static | Role::Builtin(_)) => {
                self.instead(rel, &goal, instead).map_err(|it| fault(&it))?;
            }
            (Lack::Circular, Role::Derived) => {
                let is_open = path.iter().any(|(open, wanted)| *open == rel && *wanted == goal);
                ensure(is_open, || fault("no goal above it is the same"))?;
            }
            // Nothing is left to check: the model has played out all that may be tried, and has no such row.
            (Lack::Tried, Role::Given(Given::Trial(_))) => {}
            (Lack::Deeper, Role::Derived) => self.report.open += 1,
            (Lack::Rules(attempts), Role::Derived) => {
                let rules = &program.relation(rel).rules;
                if rules.len() != attempts.len() {
                    return Err(fault(&format!("the relation has {} rules", rules.len())));
                }
                path.push((rel, goal.clone()));
                for (at, (&id, attempt)) in rules.iter().zip(attempts).enumerate() {
                    let rule = program.rule(id);
                    self.attempt(rule, &goal, attempt, path)
                        .map_err(|it| it.within(format!("{name}, rule {}", at + 1)))?;
                }
                path.pop();
            }
            _ => return Err(fault("a goal of this relation is not refuted in this way")),
        }
        self.check_size()
    }

    /// Checks what is stated to be there instead: the value in the last column for the goal's key, if the relation is
    /// functional, the goal states the whole key and there is a value; else nothing.
    fn instead(
        &mut self,
        rel: RelId,
        goal: &[Option<i64>],
        stated: &Option<Datum>,
    ) -> Result<(), String> {
        let program = self.program.clone();
        let relation = program.relation(rel);
        let found = goal.split_last().and_then(|(_, key)| {
            let known = relation.functional && !key.contains(&None);
            let pattern = [key, &[None]].concat();
            known.then(|| self.model.table(rel).first(&pattern)?.last().copied()).flatten()
        });
        if found != stated.as_ref().map(|it| it.raw) {
            return Err("what is there instead is stated wrongly".into());
        }
        match (stated, relation.columns.last()) {
            (Some(datum), Some(column)) => self.datum(column.ty, datum),
            _ => Ok(()),
        }
    }

    fn attempt(
        &mut self,
        rule: &Rule,
        goal: &[Option<i64>],
        attempt: &Attempt,
        path: &mut Path,
    ) -> Checked {
        let fault = |reason: String| Fault::new("", reason);
        if self.rule(&self.program, &attempt.rule).map_err(fault)?.id != rule.id {
            return Err(fault("the rules are not in their order".into()));
        }
        let bindings = self.bindings(rule, &attempt.bindings, false).map_err(fault)?;
        if attempt.total != rule.body.len() {
            return Err(fault(format!("the rule has {} literals", rule.body.len())));
        }
        if matches!(attempt.blocked, Blocked::Head) {
            if bind(&rule.args, goal.iter().copied(), &mut vec![None; rule.vars.len()]) {
                return Err(fault("the rule could conclude the goal".into()));
            }
            let reason =
                "a rule that cannot conclude the goal has no bindings and no literals that match";
            let is_bare = attempt.matched == 0 && attempt.bindings.is_empty();
            return ensure(is_bare, || fault(reason.into()));
        }
        let agrees = bind(&rule.args, goal.iter().copied(), &mut bindings.clone());
        if !agrees || !head_is_bound(rule, goal, &bindings) {
            return Err(fault("the bindings are not those of the goal".into()));
        }
        let not_failing = rule.body.iter().filter(|it| self.may_hold(it, &bindings)).count();
        if attempt.matched != not_failing {
            let stated = attempt.matched;
            return Err(fault(format!(
                "the number of literals that do not fail is {not_failing}, not {stated}"
            )));
        }
        match &attempt.blocked {
            Blocked::Head => Ok(()),
            Blocked::Missing(it) => self.missing(rule, it, &bindings, path),
            Blocked::Apart(it) => self.apart(rule, it, &bindings),
            Blocked::Present(it) => self.present(rule, it, &bindings),
            stated @ (Blocked::Compare(Comparison { text, .. })
            | Blocked::Aggregate(Tally { text, .. })) => {
                self.fails(rule, stated, text, &bindings).map_err(fault)
            }
        }
    }

    fn missing(
        &mut self,
        rule: &Rule,
        refutation: &Refutation,
        bindings: &Bindings,
        path: &mut Path,
    ) -> Checked {
        let (rel, goal) = self.goal(&refutation.goal)?;
        let asks = |it: &Literal| match it {
            Literal::Atom(it) => {
                !it.negated && it.rel == rel && pattern(it, bindings).as_slice() == goal
            }
            Literal::Compare(_) | Literal::Aggregate(_) => false,
        };
        ensure(rule.body.iter().any(asks), || {
            Fault::new(&refutation.goal.relation, "no literal asks for it".into())
        })?;
        self.refute(refutation, path)
    }

    /// Checks that a literal has rows that match, but none that gives each variable one value.
    fn apart(&mut self, rule: &Rule, goal: &Goal, bindings: &Bindings) -> Checked {
        let (rel, wanted) = self.goal(goal)?;
        let mut asks = |it: &Literal| match it {
            Literal::Atom(it) if !it.negated && it.rel == rel => {
                pattern(it, bindings).as_slice() == wanted
                    && self.model.table(rel).matches(&wanted)
                    && !self.has_row(it, bindings)
            }
            _ => false,
        };
        ensure(rule.body.iter().any(&mut asks), || {
            Fault::new(&goal.relation, "no literal lacks a row in this way".into())
        })
    }

    /// Whether an atom has a row that gives each of its variables one value.
    fn has_row(&mut self, atom: &Atom, bindings: &Bindings) -> bool {
        let table = self.model.table(atom.rel);
        if !table.matches(&pattern(atom, bindings)) {
            return false;
        }
        // If no variable occurs twice, any row will do.
        let open: Vec<&Term> = atom.args.iter().filter(|it| is_open(it, bindings)).collect();
        let twice = (1..open.len()).any(|at| open[..at].contains(&open[at]));
        let mut bindings = bindings.clone();
        let fails = |row: &Row| with_values(&atom.args, row, &mut bindings, &mut |_| false);
        !twice || !table.rows().iter().all(fails)
    }

    fn present(&mut self, rule: &Rule, proof: &Proof, bindings: &Bindings) -> Checked {
        let (rel, row) = self.prove(proof)?;
        // With an unbound variable, a row does not contradict the literal.
        let denies = |it: &Literal| match it {
            Literal::Atom(it) => {
                let is_closed = !it.args.iter().any(|it| is_open(it, bindings));
                it.negated && is_closed && it.rel == rel && fits(it, &row, bindings)
            }
            Literal::Compare(_) | Literal::Aggregate(_) => false,
        };
        ensure(rule.body.iter().any(denies), || {
            Fault::new(&proof.relation, "no literal denies it".into())
        })
    }

    /// Checks that the stated comparison or aggregate, of that text, is a literal of the rule, and does not hold.
    fn fails(
        &mut self,
        rule: &Rule,
        stated: &Blocked,
        text: &str,
        bindings: &Bindings,
    ) -> Result<(), String> {
        let mut reason = format!("{text} is not in the rule");
        for literal in &rule.body {
            let holds = match (literal, stated) {
                (Literal::Compare(it), Blocked::Compare(stated))
                    if self.program.quote(it.span) == text =>
                {
                    is_decided(it, bindings).then(|| self.comparison(rule, it, stated, bindings))
                }
                (Literal::Aggregate(it), Blocked::Aggregate(stated))
                    if self.program.quote(it.span) == text =>
                {
                    is_closed_by(it, bindings).then(|| self.tally(rule, it, stated, bindings))
                }
                _ => continue,
            };
            match holds {
                Some(Ok(false)) => return Ok(()),
                Some(Ok(true)) => reason = format!("{text} holds"),
                Some(Err(why)) => reason = why,
                None => reason = format!("{text} cannot be decided with these bindings"),
            }
        }
        Err(reason)
    }

    /// Whether a literal does not fail under the bindings: it holds, has rows, or cannot be decided.
    fn may_hold(&mut self, literal: &Literal, bindings: &Bindings) -> bool {
        match literal {
            Literal::Atom(atom) => {
                let is_undecided = atom.negated && atom.args.iter().any(|it| is_open(it, bindings));
                is_undecided || self.has_row(atom, bindings) != atom.negated
            }
            Literal::Compare(it) => match (value(&it.lhs, bindings), value(&it.rhs, bindings)) {
                (Some(lhs), Some(rhs)) => it.op.holds(lhs, rhs),
                _ => !is_bound(it, bindings),
            },
            Literal::Aggregate(it) => {
                if it.results.iter().any(|it| is_open(it, bindings)) || !is_closed_by(it, bindings)
                {
                    return true;
                }
                let values = self.model.tally(it, bindings).1;
                values.is_some_and(|values| {
                    let mut results = it.results.iter().zip(&values);
                    results.all(|(it, raw)| known(*it, bindings) == Some(*raw))
                })
            }
        }
    }
}

fn is_open(term: &Term, bindings: &Bindings) -> bool {
    matches!(term, Term::Var(var) if bindings[usize::from(var.0)].is_none())
}

/// Whether the variables of the head that the goal determines have values.
fn head_is_bound(rule: &Rule, goal: &[Option<i64>], bindings: &Bindings) -> bool {
    rule.args.iter().zip(goal).all(|(term, wanted)| match term {
        Term::Var(var) => wanted.is_none() || bindings[usize::from(var.0)].is_some(),
        Term::Const(_) | Term::Wild => true,
    })
}
