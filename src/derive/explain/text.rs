//! Proofs and refutations as lines, each a sentence with its depth and its source. No row is proved, and no goal refuted,
//! twice on a page. As text, lines are indented and have their source in brackets.
//!
//! The caller names entities; see [`Names`].

use std::collections::HashSet;
use std::fmt;

use crate::facts::{Domain, DomainId, Shape, filled};
use crate::rules::tree::{
    Attempt, Binding, Blocked, Comparison, Datum, Goal, Ground, Lack, Premise, Proof, Quote,
    Refutation, Tally,
};
use crate::rules::{Column, Expr, Literal, Program, Type};

/// The prefix of the names of relations as they were before an action, which rules read by `was`.
const BEFORE: &str = "was ";

/// Names a value: `e4`, `white`, and an entity as the caller likes.
pub type Names<'n> = dyn Fn(Type, i64) -> String + 'n;

/// The settings for showing explanations.
#[allow(missing_debug_implementations, reason = "a borrowed closure has nothing to show")]
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The program of the explanation.
    pub program: &'v Program,
    pub names: &'v Names<'v>,
}

/// One line of an explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub depth: usize,
    pub text: String,
    pub source: Source,
}

/// The source of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// None of its own: it belongs to the lines around it.
    None,
    /// A rule or reaction: file and line.
    Place(String),
    /// Anything else, in a few words or dots: `fact`, `always`, `no such fact`, `but e4`, `...`.
    Remark(String),
}

impl Line {
    pub(super) fn plain(depth: usize, text: impl Into<String>) -> Self {
        Self { depth, text: text.into(), source: Source::None }
    }

    pub(super) fn at(depth: usize, text: impl Into<String>, place: &str) -> Self {
        Self { depth, text: text.into(), source: Source::Place(place.to_owned()) }
    }

    /// The same line, indented by a number of further levels.
    pub(super) fn within(self, depth: usize) -> Self {
        Self { depth: self.depth + depth, ..self }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:indent$}{}", "", self.text, indent = 2 * self.depth)?;
        match &self.source {
            Source::None => Ok(()),
            Source::Place(it) | Source::Remark(it) => write!(f, " [{it}]"),
        }
    }
}

/// Lines as one text.
fn joined(lines: &[Line]) -> String {
    lines.iter().map(|it| format!("{it}\n")).collect()
}

impl Proof {
    /// The tree as indented text.
    pub fn render(&self, view: View<'_>) -> String {
        joined(&self.lines(view))
    }

    /// The tree, line by line.
    pub fn lines(&self, view: View<'_>) -> Vec<Line> {
        let mut page = Page::new(view);
        page.proof(self, 0);
        page.lines
    }

    /// The proved row in the sentence of its rule, without a colon at the end; or else in that of its relation.
    pub fn sentence(&self, view: View<'_>) -> String {
        let said = said(view, self).map(|it| it.trim_end_matches(':').to_owned());
        said.unwrap_or_else(|| view.row(&self.relation, &self.tuple))
    }

    /// One line: the row in the sentence of its relation, and its source.
    pub fn summary(&self, view: View<'_>) -> String {
        Line { depth: 0, text: view.row(&self.relation, &self.tuple), source: source(&self.ground) }
            .to_string()
    }
}

impl Refutation {
    /// The tree as indented text.
    pub fn render(&self, view: View<'_>) -> String {
        joined(&self.lines(view))
    }

    /// The tree, line by line.
    pub fn lines(&self, view: View<'_>) -> Vec<Line> {
        let mut page = Page::new(view);
        page.refutation(self, 0);
        page.lines
    }

    /// One line: what does not hold, and the reason that the most promising rules give.
    pub fn summary(&self, view: View<'_>) -> String {
        let negation = format!("not: {}", view.goal(&self.goal));
        match self.reason(view) {
            Some(reason) => format!("{negation}, because {reason}"),
            None => negation,
        }
    }

    /// What blocks the most promising rule, in one line with its place. If that is a missing goal, it is this goal's own
    /// reason, provided that it leads to what forbids something, or to a missing goal without open values.
    pub fn reason(&self, view: View<'_>) -> Option<String> {
        let attempt = self.best()?;
        let place = &attempt.rule.place;
        Some(match &attempt.blocked {
            Blocked::Head => return None,
            Blocked::Present(proof) => proof.headline(view),
            Blocked::Compare(it) => format!("not {} [{place}]", view.comparison(it)),
            Blocked::Aggregate(it) => format!("not {} [{place}]", view.tally(&attempt.rule, it)),
            Blocked::Missing(it) if it.is_opposed() || it.lacks_a_full_goal() => it.reason(view)?,
            Blocked::Missing(it) => format!("{} [{place}]", view.denial(&it.goal)),
            Blocked::Apart(it) => format!("{} [{place}]", view.apart(it)),
        })
    }

    /// Whether the most promising rule lacks a goal that has rules of its own and a value in every column.
    fn lacks_a_full_goal(&self) -> bool {
        self.best().is_some_and(|it| match &it.blocked {
            Blocked::Missing(it) => {
                matches!(it.lack, Lack::Rules(_)) && it.goal.args.iter().all(Option::is_some)
            }
            _ => false,
        })
    }

    /// Whether nothing could satisfy the most promising rules, whatever else holds: they need a static that is missing.
    pub fn is_hopeless(&self) -> bool {
        self.judge().1.hopeless
    }

    /// Whether the most promising rules lead to what forbids the goal: a row, a comparison or an aggregate.
    fn is_opposed(&self) -> bool {
        self.judge().1.against
    }

    /// Whether they lead to a row that forbids the goal, which has a sentence of its own.
    pub fn is_opposed_by_row(&self) -> bool {
        self.judge().1.by_row
    }

    fn best(&self) -> Option<&Attempt> {
        self.judge().0
    }

    /// The most promising attempt, and the verdict on it. Attempts that some position could satisfy come first, among them
    /// those with the fewest failing literals, among these the most informative kind.
    fn judge(&self) -> (Option<&Attempt>, Verdict) {
        let attempts = match &self.lack {
            Lack::Rules(attempts) => attempts,
            Lack::Static { .. } | Lack::Circular => return (None, Verdict::HOPELESS),
            Lack::Fact { .. } | Lack::Tried | Lack::Deeper => return (None, Verdict::OPEN),
        };
        let tried = attempts.iter().filter(|it| !matches!(it.blocked, Blocked::Head));
        let judged = tried.map(|it| (it, it.judge()));
        let order = |(it, verdict): &(&Attempt, Verdict)| {
            (verdict.hopeless, it.total - it.matched, it.standing(*verdict))
        };
        let is_property = matches!(self.goal.args.as_slice(), [Some(only)] if is_entity(only));
        match judged.min_by_key(order) {
            // An entity does not get a property that its nature denies it.
            Some((it, _)) if is_property && it.needs_another_nature() => {
                (Some(it), Verdict::HOPELESS)
            }
            Some((it, verdict)) => (Some(it), verdict),
            None => (None, Verdict::HOPELESS),
        }
    }
}

/// The verdict on an attempt, or on a goal by its most promising attempt.
#[derive(Debug, Clone, Copy)]
struct Verdict {
    /// Whether nothing could satisfy it: a static is missing, the goal could only be supported by itself, or no rule
    /// concludes such a row.
    hopeless: bool,
    /// Whether a row, a comparison or an aggregate forbids it.
    against: bool,
    /// Whether that is a row, which has a sentence of its own.
    by_row: bool,
}

impl Verdict {
    const HOPELESS: Self = Self { hopeless: true, against: false, by_row: false };
    const OPEN: Self = Self { hopeless: false, against: false, by_row: false };
    const BY_ROW: Self = Self { hopeless: false, against: true, by_row: true };
    const BY_NUMBER: Self = Self { hopeless: false, against: true, by_row: false };
}

impl Attempt {
    /// How informative the obstacle is; lower is more. First comes a goal that is missing because a row forbids it.
    /// Late come comparisons and aggregates, which have no sentences, and a negated literal of the rule itself: often it
    /// only leaves the case to another rule. Last comes the nature of one entity: another value that it would need, or a
    /// row about it alone that forbids the rule.
    fn standing(&self, verdict: Verdict) -> u8 {
        match &self.blocked {
            Blocked::Missing(_) if self.needs_another_nature() => 3,
            Blocked::Missing(_) if verdict.by_row => 0,
            Blocked::Missing(_) | Blocked::Apart(_) if !verdict.against => 1,
            Blocked::Present(it) if it.tuple.len() == 1 && is_entity(&it.tuple[0]) => 4,
            _ => 2,
        }
    }

    fn judge(&self) -> Verdict {
        match &self.blocked {
            Blocked::Head | Blocked::Apart(_) => Verdict::OPEN,
            Blocked::Present(_) => Verdict::BY_ROW,
            Blocked::Compare(_) | Blocked::Aggregate(_) => Verdict::BY_NUMBER,
            Blocked::Missing(it) => it.judge().1,
        }
    }

    /// Whether an entity has another value than the one that the rule names, such as another kind. No variable stands for
    /// that value.
    fn needs_another_nature(&self) -> bool {
        let Blocked::Missing(missing) = &self.blocked else { return false };
        match (&missing.lack, missing.goal.args.as_slice()) {
            (Lack::Fact { instead: Some(_) }, [_, .., Some(wanted)]) => {
                self.bindings.iter().all(|it| it.value != *wanted)
            }
            _ => false,
        }
    }
}

/// Whether a datum is an entity: only these have names like `#12`.
fn is_entity(datum: &Datum) -> bool {
    datum.name.starts_with('#')
}

impl View<'_> {
    pub(super) fn row(self, relation: &str, tuple: &[Datum]) -> String {
        let args: Vec<Option<&Datum>> = tuple.iter().map(Some).collect();
        self.sentence(relation, &args, "any")
    }

    pub(super) fn goal(self, goal: &Goal) -> String {
        let args: Vec<Option<&Datum>> = goal.args.iter().map(Option::as_ref).collect();
        self.sentence(&goal.relation, &args, "any")
    }

    /// The sentence of a goal that is met, whatever its open values are.
    pub(super) fn met(self, goal: &Goal) -> String {
        let args: Vec<Option<&Datum>> = goal.args.iter().map(Option::as_ref).collect();
        self.sentence(&goal.relation, &args, "some")
    }

    /// The sentence for the absence of a row: the relation's own, if it has one. Instead of `any piece is not ...` it is
    /// `no piece is ...`.
    pub(super) fn denial(self, goal: &Goal) -> String {
        let relation = self.program.relation_named(&goal.relation);
        let relation = relation.map(|it| self.program.relation(it));
        let args: Vec<Option<&Datum>> = goal.args.iter().map(Option::as_ref).collect();
        match relation.filter(|it| !it.denial.is_empty() && it.columns.len() == args.len()) {
            Some(it)
                if begins_open(&it.columns, &it.denial, &args)
                    && begins_open(&it.columns, &it.sentence, &args) =>
            {
                self.filled(&it.name, &it.columns, &it.sentence, &args, "no")
            }
            Some(it) => self.filled(&it.name, &it.columns, &it.denial, &args, "any"),
            None => format!("not: {}", self.goal(goal)),
        }
    }

    /// The name of a value in a sentence.
    pub(super) fn word(self, ty: Type, raw: i64) -> String {
        let word = self.program.word(ty, raw).map(str::to_owned);
        word.unwrap_or_else(|| (self.names)(ty, raw))
    }

    /// The sentence for rows of which none has equal values in the columns that share a variable.
    fn apart(self, goal: &Goal) -> String {
        format!("no row has equal values where the rule wants them: {}", self.goal(goal))
    }

    /// The name of a value whose type is not known: if it is an entity, the caller's name for it.
    fn value(self, datum: &Datum) -> String {
        match self.entities() {
            Some(ty) if self.program.value_name(ty, datum.raw) == datum.name => {
                (self.names)(ty, datum.raw)
            }
            _ => datum.name.clone(),
        }
    }

    /// The caller's name for an entity.
    pub(super) fn entity(self, number: u32) -> String {
        let name = self.entities().map(|ty| (self.names)(ty, i64::from(number)));
        name.unwrap_or_else(|| format!("#{number}"))
    }

    /// The type of entities.
    fn entities(self) -> Option<Type> {
        let is_of_entities = |it: &Domain| matches!(it.shape, Shape::Entities { .. });
        let domain = self.program.schema.domains().iter().position(is_of_entities);
        domain.map(|at| Type::Domain(DomainId(at as u16)))
    }

    fn comparison(self, comparison: &Comparison) -> String {
        let Comparison { text, lhs, op, rhs } = comparison;
        let side = |it: &Option<Datum>| it.as_ref().map_or("no value".into(), |it| self.value(it));
        format!("{text} ({} {op} {})", side(lhs), side(rhs))
    }

    /// An aggregate of a rule with its value and its first members; a short sum of one variable as its terms.
    fn tally(self, rule: &Quote, tally: &Tally) -> String {
        const SHOWN: usize = 8;
        let Tally { text, members: all, value } = tally;
        if let Some(terms) = self.terms(tally).filter(|_| all.len() <= SHOWN) {
            return format!("{text} = {terms}");
        }
        let value = match value {
            None => "no value".into(),
            Some(values) => self.results(rule, text, values).join(", "),
        };
        let members = all.iter().take(SHOWN).map(|member| {
            let bindings =
                member.iter().map(|it| format!("{} = {}", it.var, self.value(&it.value)));
            bindings.collect::<Vec<_>>().join(", ")
        });
        let members: Vec<String> = members.filter(|it| !it.is_empty()).collect();
        let more = if all.len() > SHOWN { "; ..." } else { "" };
        match members.is_empty() {
            true => format!("{text} (is {value})"),
            false => format!("{text} (is {value}: {}{more})", members.join("; ")),
        }
    }

    /// The names of an aggregate's results: numbers, or the least or greatest members of domains.
    fn results(self, rule: &Quote, text: &str, values: &[i64]) -> Vec<String> {
        let Some(rule) = self.program.rules.get(usize::from(rule.rule)) else {
            return values.iter().map(i64::to_string).collect();
        };
        let exprs = rule.body.iter().find_map(|it| match it {
            Literal::Aggregate(it) if self.program.quote(it.span) == text => Some(&it.exprs),
            _ => None,
        });
        let ty = |at: usize| match exprs.and_then(|it| it.get(at)) {
            Some(Expr::Var(var)) => rule.vars[usize::from(var.0)].ty,
            _ => Type::Int,
        };
        values.iter().enumerate().map(|(at, &raw)| self.word(ty(at), raw)).collect()
    }

    /// The terms of a sum of one variable, each with the other values of its member: `2 (x) - 1 (y, z) = 1`.
    fn terms(self, tally: &Tally) -> Option<String> {
        let body = tally.text.strip_prefix("sum")?.trim_start().strip_prefix('{')?;
        let (var, _) = body.split_once(':')?;
        let [value] = tally.value.as_deref()? else { return None };
        let mut text = String::new();
        for member in &tally.members {
            let (term, rest): (Vec<&Binding>, _) =
                member.iter().partition(|it| it.var == var.trim());
            let raw = term.first()?.value.raw;
            let mut names: Vec<String> = rest.iter().map(|it| self.value(&it.value)).collect();
            names.dedup();
            text += match (text.is_empty(), raw < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text += &raw.unsigned_abs().to_string();
            if !names.is_empty() {
                text += &format!(" ({})", names.join(", "));
            }
        }
        (!text.is_empty()).then(|| format!("{text} = {value}"))
    }

    /// The relation's sentence with its placeholders filled, or the bare atom. `open` stands before the name of a column
    /// without a value.
    fn sentence(self, name: &str, args: &[Option<&Datum>], open: &str) -> String {
        if let Some(now) = name.strip_prefix(BEFORE) {
            return format!("before the action {}", self.sentence(now, args, open));
        }
        let relation = self.program.relation_named(name).map(|it| self.program.relation(it));
        let Some(relation) = relation.filter(|it| it.columns.len() == args.len()) else {
            let args = args.iter().map(|it| it.map_or("_", |it| it.name.as_str()));
            return format!("{name}({})", args.collect::<Vec<_>>().join(", "));
        };
        self.filled(name, &relation.columns, &relation.sentence, args, open)
    }

    /// A sentence with its placeholders filled; the bare atom if the sentence is empty.
    pub(super) fn filled(
        self,
        name: &str,
        columns: &[Column],
        sentence: &str,
        args: &[Option<&Datum>],
        open: &str,
    ) -> String {
        let columns = || columns.iter().zip(args);
        if sentence.is_empty() {
            let args = columns()
                .map(|(column, it)| it.map_or("_".into(), |it| self.word(column.ty, it.raw)));
            return format!("{name}({})", args.collect::<Vec<_>>().join(", "));
        }
        let value = |key: &str| {
            let (column, it) = columns().find(|(column, _)| column.name == key)?;
            Some(match it {
                Some(it) => self.word(column.ty, it.raw),
                None => format!("{open} {}", column.name),
            })
        };
        filled(sentence, &value)
    }
}

/// Whether a sentence begins with the column that is the only one without a value.
fn begins_open(columns: &[Column], sentence: &str, args: &[Option<&Datum>]) -> bool {
    let mut open = columns.iter().zip(args).filter(|it| it.1.is_none()).map(|it| it.0);
    match (open.next(), open.next()) {
        (Some(only), None) => {
            let rest = sentence.strip_prefix('{').and_then(|it| it.strip_prefix(&*only.name));
            rest.is_some_and(|it| it.starts_with('}'))
        }
        _ => false,
    }
}

/// The source of a line about a row with this ground.
pub(super) fn source(ground: &Ground) -> Source {
    let remark = |it: &str| Source::Remark(it.to_owned());
    match ground {
        Ground::Fact { .. } => remark("fact"),
        Ground::Static => remark("always"),
        Ground::Tried => remark("played out"),
        Ground::Deeper => remark("..."),
        Ground::Rule { rule, .. } => Source::Place(rule.place.clone()),
    }
}

/// An explanation that grows line by line.
struct Page<'v> {
    view: View<'v>,
    lines: Vec<Line>,
    /// Rows whose proof is on the page.
    proved: HashSet<(String, Vec<i64>)>,
    /// Goals whose refutation is on the page.
    refuted: HashSet<(String, Vec<Option<i64>>)>,
}

impl<'v> Page<'v> {
    fn new(view: View<'v>) -> Self {
        Self { view, lines: Vec::new(), proved: HashSet::new(), refuted: HashSet::new() }
    }

    fn line(&mut self, depth: usize, text: String, source: Source) {
        self.lines.push(Line { depth, text, source });
    }

    fn proof(&mut self, proof: &Proof, depth: usize) {
        let sentence = self.view.row(&proof.relation, &proof.tuple);
        let Ground::Rule { rule, premises, .. } = &proof.ground else {
            return self.line(depth, sentence, source(&proof.ground));
        };
        let row = (proof.relation.clone(), proof.tuple.iter().map(|it| it.raw).collect());
        if !premises.is_empty() && !self.proved.insert(row) {
            return self.line(depth, sentence, Source::Remark("as above".into()));
        }
        self.line(depth, sentence, source(&proof.ground));
        let view = self.view;
        for premise in premises {
            match premise {
                Premise::Holds(it) => self.proof(it, depth + 1),
                Premise::Compare(it) => self.line(depth + 1, view.comparison(it), Source::None),
                Premise::Aggregate(it) => {
                    self.line(depth + 1, view.tally(rule, it), Source::None);
                }
                Premise::Absent { goal, .. } => {
                    self.line(depth + 1, format!("not: {}", view.goal(goal)), Source::None);
                }
            }
        }
    }

    fn refutation(&mut self, refutation: &Refutation, depth: usize) {
        let goal = &refutation.goal;
        let negation = format!("not: {}", self.view.goal(goal));
        let remark = match &refutation.lack {
            Lack::Rules(attempts) if !attempts.is_empty() => {
                let args = goal.args.iter().map(|it| it.as_ref().map(|it| it.raw)).collect();
                if !self.refuted.insert((goal.relation.clone(), args)) {
                    return self.line(depth, negation, Source::Remark("as above".into()));
                }
                None
            }
            Lack::Rules(_) => None,
            Lack::Fact { instead: Some(it) } | Lack::Static { instead: Some(it) } => {
                Some(format!("but {}", it.name))
            }
            Lack::Fact { instead: None } => Some("no such fact".into()),
            Lack::Static { instead: None } => Some("never".into()),
            Lack::Tried => Some("played out".into()),
            Lack::Circular => Some("asked above".into()),
            Lack::Deeper => Some("...".into()),
        };
        self.line(depth, negation, remark.map_or(Source::None, Source::Remark));
        if let Lack::Rules(attempts) = &refutation.lack {
            attempts.iter().for_each(|it| self.attempt(it, depth + 1));
        }
    }

    fn attempt(&mut self, attempt: &Attempt, depth: usize) {
        let Attempt { rule, matched, total, .. } = attempt;
        let view = self.view;
        let mut line = |what: &str| {
            let text = format!("{matched} of {total} hold, but {what}");
            self.line(depth, text, Source::Place(rule.place.clone()));
        };
        match &attempt.blocked {
            Blocked::Head => {}
            Blocked::Apart(it) => line(&view.apart(it)),
            Blocked::Compare(it) => line(&format!("not {}", view.comparison(it))),
            Blocked::Aggregate(it) => line(&format!("not {}", view.tally(rule, it))),
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

/// The `because "..."` sentence of the rule that concludes the proved row. If it ends with a colon, the caller must
/// add the cause or take the colon off.
pub(super) fn said(view: View<'_>, proof: &Proof) -> Option<String> {
    let Ground::Rule { rule, bindings, .. } = &proof.ground else { return None };
    let rule = view.program.rules.get(usize::from(rule.rule))?;
    let text = rule.because.as_deref()?;
    let value = |key: &str| {
        let ty = rule.vars.iter().find(|it| it.name == key)?.ty;
        let datum = &bindings.iter().find(|it| it.var == key)?.value;
        Some(view.word(ty, datum.raw))
    };
    Some(filled(text, &value))
}
