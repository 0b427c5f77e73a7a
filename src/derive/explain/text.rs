//! Proofs and refutations as indented text: one sentence a line, with the place of the rule. What was
//! proved further up is not proved again.
//!
//! What entities are called is the caller's business; see [`Names`].

use std::collections::HashSet;
use std::fmt::Write;

use crate::facts::{DomainId, Shape};
use crate::rules::tree::{
    Attempt, Blocked, Comparison, Datum, Goal, Ground, Lack, Premise, Proof, Refutation, Tally,
};
use crate::rules::{Column, Program, Type};

/// What a value is called: `e4`, `white`, and for an entity whatever the caller likes.
pub type Names<'n> = dyn Fn(Type, i64) -> String + 'n;

/// How explanations are shown.
#[allow(missing_debug_implementations, reason = "a borrowed closure has nothing to show")]
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The program that the explanation is of.
    pub program: &'v Program,
    pub names: &'v Names<'v>,
    /// Also say, for each negated premise, why each rule fails.
    pub negations: bool,
}

impl Proof {
    /// The tree as indented text.
    pub fn render(&self, view: View<'_>) -> String {
        let mut page = Page::new(view);
        page.proof(self, 0);
        page.text
    }

    /// One line: the sentence and the place of the rule.
    pub fn summary(&self, view: View<'_>) -> String {
        format!("{} {}", view.row(&self.relation, &self.tuple), source(&self.ground))
    }
}

impl Refutation {
    /// The tree as indented text.
    pub fn render(&self, view: View<'_>) -> String {
        let mut page = Page::new(view);
        page.refutation(self, 0);
        page.text
    }

    /// One line: what does not hold, and the reason that the most promising rules give.
    pub fn summary(&self, view: View<'_>) -> String {
        let denial = format!("not: {}", view.goal(&self.goal));
        match self.reason(view) {
            Some(reason) => format!("{denial}, because {reason}"),
            None => denial,
        }
    }

    /// What stands in the way, as deep as the most promising rules go; of goals that are missing,
    /// the last one that says everything.
    pub fn reason(&self, view: View<'_>) -> Option<String> {
        let attempt = self.best()?;
        let place = &attempt.rule.place;
        Some(match &attempt.blocked {
            Blocked::Head => return None,
            Blocked::Present(proof) => proof.headline(view),
            Blocked::Compare(it) => format!("not {} [{place}]", view.comparison(it)),
            Blocked::Aggregate(it) => format!("not {} [{place}]", view.tally(it)),
            Blocked::Missing(it) if it.stands_against() || it.has_named_part() => {
                it.reason(view)?
            }
            Blocked::Missing(it) => format!("not: {} [{place}]", view.goal(&it.goal)),
            Blocked::Apart(it) => format!("{} [{place}]", view.apart(it)),
        })
    }

    /// The most promising rules come to something that stands against the goal.
    fn stands_against(&self) -> bool {
        self.best().is_some_and(Attempt::stands_against)
    }

    /// The most promising rule lacks a goal without open places.
    fn has_named_part(&self) -> bool {
        self.best().is_some_and(|it| match &it.blocked {
            Blocked::Missing(it) => {
                matches!(it.lack, Lack::Rules(_)) && it.goal.args.iter().all(Option::is_some)
            }
            _ => false,
        })
    }

    /// What is missing comes down to a static: no position could have it.
    fn is_timeless(&self) -> bool {
        matches!(self.lack, Lack::Static { .. })
            || self.best().is_some_and(|it| match &it.blocked {
                Blocked::Missing(it) => it.is_timeless(),
                _ => false,
            })
    }

    /// The attempt with the fewest literals that fail; of equals the most promising kind.
    fn best(&self) -> Option<&Attempt> {
        let Lack::Rules(attempts) = &self.lack else { return None };
        let tried = attempts.iter().filter(|it| !matches!(it.blocked, Blocked::Head));
        tried.min_by_key(|it| (it.total - it.matched, it.standing()))
    }
}

impl Attempt {
    /// Lower is more telling: first a goal that is missing because something stands against it. A
    /// negated literal that fails outright is often but the mark of another rule's case, and what
    /// no position has is no news.
    fn standing(&self) -> u8 {
        match &self.blocked {
            Blocked::Missing(it) if it.stands_against() => 0,
            Blocked::Missing(it) if it.is_timeless() => 3,
            Blocked::Missing(_) | Blocked::Apart(_) => 1,
            _ => 2,
        }
    }

    fn stands_against(&self) -> bool {
        match &self.blocked {
            Blocked::Head | Blocked::Apart(_) => false,
            Blocked::Present(_) | Blocked::Compare(_) | Blocked::Aggregate(_) => true,
            Blocked::Missing(it) => it.stands_against(),
        }
    }
}

impl View<'_> {
    pub(super) fn row(self, relation: &str, tuple: &[Datum]) -> String {
        let args: Vec<Option<&Datum>> = tuple.iter().map(Some).collect();
        self.sentence(relation, &args)
    }

    pub(super) fn goal(self, goal: &Goal) -> String {
        let args: Vec<Option<&Datum>> = goal.args.iter().map(Option::as_ref).collect();
        self.sentence(&goal.relation, &args)
    }

    fn apart(self, goal: &Goal) -> String {
        format!("never the same twice in: {}", self.goal(goal))
    }

    /// What a value is called whose type is not at hand: entities go by the caller's names.
    fn value(self, datum: &Datum) -> String {
        let mut entities = (0..).zip(self.program.schema.domains()).filter_map(|(at, it)| {
            matches!(it.shape, Shape::Entities { .. }).then_some(Type::Domain(DomainId(at)))
        });
        match entities.next() {
            Some(ty) if self.program.value_name(ty, datum.raw) == datum.name => {
                (self.names)(ty, datum.raw)
            }
            _ => datum.name.clone(),
        }
    }

    fn comparison(self, it: &Comparison) -> String {
        let side = |it: &Option<Datum>| it.as_ref().map_or("no value".into(), |it| self.value(it));
        format!("{} ({} {} {})", it.text, side(&it.lhs), it.op, side(&it.rhs))
    }

    /// An aggregate with what it comes to and its first members.
    fn tally(self, it: &Tally) -> String {
        const SHOWN: usize = 8;
        let value = match &it.value {
            None => "no value".into(),
            Some(values) => values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
        };
        let members = it.members.iter().take(SHOWN).map(|member| {
            let bindings =
                member.iter().map(|it| format!("{} = {}", it.var, self.value(&it.value)));
            bindings.collect::<Vec<_>>().join(", ")
        });
        let members: Vec<String> = members.filter(|it| !it.is_empty()).collect();
        let more = if it.members.len() > SHOWN { "; ..." } else { "" };
        match members.is_empty() {
            true => format!("{} (is {value})", it.text),
            false => format!("{} (is {value}: {}{more})", it.text, members.join("; ")),
        }
    }

    /// The relation's sentence with its placeholders filled, or the bare atom.
    fn sentence(self, name: &str, args: &[Option<&Datum>]) -> String {
        let relation = self.program.relation_named(name).map(|it| self.program.relation(it));
        let Some(relation) = relation.filter(|it| it.columns.len() == args.len()) else {
            let args = args.iter().map(|it| it.map_or("_", |it| it.name.as_str()));
            return format!("{name}({})", args.collect::<Vec<_>>().join(", "));
        };
        self.filled(name, &relation.columns, &relation.sentence, args)
    }

    /// A sentence with its placeholders filled; the bare atom if there is none.
    pub(super) fn filled(
        self,
        name: &str,
        columns: &[Column],
        sentence: &str,
        args: &[Option<&Datum>],
    ) -> String {
        let columns = || columns.iter().zip(args);
        if sentence.is_empty() {
            let args = columns()
                .map(|(column, it)| it.map_or("_".into(), |it| (self.names)(column.ty, it.raw)));
            return format!("{name}({})", args.collect::<Vec<_>>().join(", "));
        }
        let mut text = String::new();
        let mut rest = sentence;
        while let Some((before, (key, after))) =
            rest.split_once('{').and_then(|(before, it)| Some((before, it.split_once('}')?)))
        {
            text.push_str(before);
            match columns().find(|(column, _)| column.name == key) {
                Some((column, Some(it))) => text.push_str(&(self.names)(column.ty, it.raw)),
                Some((column, None)) => {
                    text.push_str("any ");
                    text.push_str(&column.name);
                }
                None => text.push_str(key),
            }
            rest = after;
        }
        text + rest
    }
}

/// A text, so much further in.
pub(super) fn indented(text: &str, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    text.lines().map(|it| format!("{indent}{it}\n")).collect()
}

/// Where a ground comes from, in brackets.
pub(super) fn source(ground: &Ground) -> String {
    match ground {
        Ground::Fact { .. } => "[fact]".into(),
        Ground::Static => "[always]".into(),
        Ground::Deeper => "[...]".into(),
        Ground::Rule { rule, .. } => format!("[{}]", rule.place),
    }
}

/// A text that grows line by line.
struct Page<'v> {
    view: View<'v>,
    text: String,
    /// Rows whose proof is on the page.
    proved: HashSet<(String, Vec<i64>)>,
}

impl<'v> Page<'v> {
    fn new(view: View<'v>) -> Self {
        Self { view, text: String::new(), proved: HashSet::new() }
    }

    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * depth);
    }

    fn proof(&mut self, proof: &Proof, depth: usize) {
        let Ground::Rule { premises, .. } = &proof.ground else {
            return self.line(depth, &proof.summary(self.view));
        };
        let row = (proof.relation.clone(), proof.tuple.iter().map(|it| it.raw).collect());
        if !premises.is_empty() && !self.proved.insert(row) {
            let sentence = self.view.row(&proof.relation, &proof.tuple);
            return self.line(depth, &format!("{sentence} [as above]"));
        }
        self.line(depth, &proof.summary(self.view));
        for premise in premises {
            match premise {
                Premise::Holds(it) => self.proof(it, depth + 1),
                Premise::Compare(it) => self.line(depth + 1, &self.view.comparison(it)),
                Premise::Aggregate(it) => self.line(depth + 1, &self.view.tally(it)),
                Premise::Absent { refutation: Some(it), .. } if self.view.negations => {
                    self.refutation(it, depth + 1);
                }
                Premise::Absent { goal, .. } => {
                    let line = format!("not: {}", self.view.goal(goal));
                    self.line(depth + 1, &line);
                }
            }
        }
    }

    fn refutation(&mut self, refutation: &Refutation, depth: usize) {
        let denial = format!("not: {}", self.view.goal(&refutation.goal));
        match &refutation.lack {
            Lack::Fact { instead: None } => self.line(depth, &format!("{denial} [no such fact]")),
            Lack::Static { instead: None } => self.line(depth, &format!("{denial} [never]")),
            Lack::Fact { instead: Some(it) } | Lack::Static { instead: Some(it) } => {
                self.line(depth, &format!("{denial} [but {}]", it.name));
            }
            Lack::Circular => self.line(depth, &format!("{denial} [asked above]")),
            Lack::Deeper => self.line(depth, &format!("{denial} [...]")),
            Lack::Rules(attempts) => {
                self.line(depth, &denial);
                attempts.iter().for_each(|it| self.attempt(it, depth + 1));
            }
        }
    }

    fn attempt(&mut self, attempt: &Attempt, depth: usize) {
        let Attempt { rule, matched, total, .. } = attempt;
        let view = self.view;
        let mut line = |what: &str| {
            let head = format!("{matched} of {total} hold, but {what} [{}]", rule.place);
            self.line(depth, &head);
        };
        match &attempt.blocked {
            Blocked::Head => {}
            Blocked::Apart(it) => line(&view.apart(it)),
            Blocked::Compare(it) => line(&format!("not {}", view.comparison(it))),
            Blocked::Aggregate(it) => line(&format!("not {}", view.tally(it))),
            Blocked::Missing(it) => {
                line("one is missing:");
                self.refutation(it, depth + 1);
            }
            Blocked::Present(it) => {
                line("one stands against it:");
                self.proof(it, depth + 1);
            }
        }
    }
}
