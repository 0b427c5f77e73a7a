//! Ad-hoc questions: a body of literals, compiled against a program and solved over its rows.
//!
//! The language is that of rule bodies, with conveniences for typing: a name that is a value of its column
//! (`e4`, `white`) means that value, any other is a variable; `?p` is always a variable, `'e4` always a
//! value. An entity may be abbreviated, if the caller declares how (see [`Abbreviation`]), or be given by its
//! number, `#12`.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::budget::{Exhausted, SEARCH_STEPS};
use super::metered::Metered;
use super::rows::{Rows, Tuple, first};
use super::solve::{Bindings, pattern, solve};
use crate::facts::DomainId;
use crate::rules::{Diagnostic, Literal, Program, RelId, Source, Type, Var, VarId, compile};

/// A way to name an entity by a value that a relation gives it: with `at(Entity, Square)`, `e4` stands for
/// the piece on e4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abbreviation {
    pub rel: RelId,
    pub values: DomainId,
}

/// A compiled question, which can be asked any number of times.
#[derive(Debug, Clone)]
pub struct Query {
    program: Arc<Program>,
    body: Vec<Literal>,
    vars: Vec<Var>,
    /// Variables that are bound from the start: entities given by number.
    given: Bindings,
    /// The variables of an answer, in the order of the text: each name and its place in `vars`.
    shown: Vec<(String, usize)>,
    /// Number of literals at the end of the body that come from abbreviations.
    short: usize,
}

/// A mistake in a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    pub text: String,
    pub message: String,
    /// Byte offsets into the text.
    pub start: usize,
    pub end: usize,
    pub help: Option<String>,
}

impl std::error::Error for QueryError {}

/// The message, the text, and a mark under the place.
impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let before = self.text.get(..self.start).unwrap_or_default().chars().count();
        let marked = self.text.get(self.start..self.end).unwrap_or_default().chars().count();
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  {}", self.text)?;
        write!(f, "  {:before$}{}", "", "^".repeat(marked.max(1)))
    }
}

/// The answers to a question: the values of its variables, each combination once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solutions {
    pub columns: Vec<(String, Type)>,
    /// In ascending order.
    pub rows: Vec<Tuple>,
}

const HEAD: &str = ".decl query_() \"a question\"\nquery_() :- ";

/// The prefix of the variable for an abbreviated entity: `_0_e4`. A name begins with no digit, so none of the question's
/// own variables is called so.
const ABBREVIATED: &str = "_0_";

/// The names of the relations that rules can name, which are numbered first.
fn nameable(program: &Program) -> impl Iterator<Item = &str> {
    program.nameable().map(|it| it.name.as_str())
}

impl Query {
    /// Compiles a question.
    ///
    /// # Errors
    /// The first mistake: an unknown relation or value, a variable that nothing binds, or the like.
    pub fn compile(
        program: &Arc<Program>,
        text: &str,
        abbreviation: Option<Abbreviation>,
    ) -> Result<Self, QueryError> {
        // The period of a rule may be there.
        let text = text.trim_end();
        let text = text.strip_suffix('.').unwrap_or(text);
        if let Some(mistake) = unclosed(text) {
            return Err(mistake);
        }
        let written = Rewriter::new(program, text, abbreviation).run();
        let mut sources = program.sources.clone();
        let at = sources.len() as u16;
        let Rewritten { out, origins, shown, .. } = &written;
        sources.push(Source { path: "query".into(), text: format!("{HEAD}{out}\n.\n").into() });
        let compiled = compile(sources).map_err(|it| {
            let here = |it: &&Diagnostic| it.span().source == at;
            match it.list().iter().find(here) {
                Some(it) => with_full_names(program, mistake(text, origins, it)),
                None => whole(text, "the question does not fit the rules"),
            }
        })?;
        let (known, rule) = (nameable(program).count(), compiled.rules.last());
        let same = nameable(&compiled).zip(nameable(program)).all(|(a, b)| a == b);
        let Some(rule) = rule.filter(|it| same && usize::from(it.head.0) == known) else {
            return Err(whole(text, "the question declares something of its own"));
        };
        let place = |name: &str| rule.vars.iter().position(|it| it.name == name);
        let mut given: Bindings = vec![None; rule.vars.len()];
        for (name, id) in &written.numbers {
            if let Some(at) = place(name) {
                given[at] = Some(*id);
            }
        }
        let locals: Vec<VarId> = rule.body.iter().flat_map(locals).copied().collect();
        let is_answer = |at: &usize| !locals.iter().any(|it| usize::from(it.0) == *at);
        let shown = shown
            .iter()
            .filter_map(|(name, var)| Some((name.clone(), place(var).filter(is_answer)?)));
        Ok(Self {
            program: Arc::clone(program),
            body: rule.body.clone(),
            vars: rule.vars.clone(),
            given,
            shown: shown.collect(),
            short: written.short,
        })
    }

    /// The program that the question was compiled for.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The variables of an answer, with their types.
    pub fn columns(&self) -> Vec<(String, Type)> {
        self.shown.iter().map(|(name, at)| (name.clone(), self.vars[*at].ty)).collect()
    }

    /// All answers over the rows of its program.
    ///
    /// # Errors
    /// Finding them exceeds the budget of a question.
    pub fn answer(&self, rows: &dyn Rows) -> Result<Solutions, Exhausted> {
        let mut found = BTreeSet::new();
        self.each(rows, &mut |row| {
            found.insert(row);
            ControlFlow::Continue(())
        })?;
        Ok(Solutions { columns: self.columns(), rows: found.into_iter().collect() })
    }

    /// Whether there is any answer.
    ///
    /// # Errors
    /// Finding one exceeds the budget of a question.
    pub fn holds(&self, rows: &dyn Rows) -> Result<bool, Exhausted> {
        let mut any = false;
        self.each(rows, &mut |_| {
            any = true;
            ControlFlow::Break(())
        })?;
        Ok(any)
    }

    /// The rows that the first answer rests on, one for each positive atom, in text order.
    pub fn support(&self, rows: &dyn Rows) -> Vec<(RelId, Tuple)> {
        let mut found = Vec::new();
        let _ = solve(rows, &self.body, &mut self.given.clone(), &mut |solution| {
            for literal in &self.body {
                let Literal::Atom(atom) = literal else { continue };
                let pattern = pattern(atom, solution);
                let row = if atom.negated { None } else { first(rows, atom.rel, &pattern) };
                found.extend(row.map(|it| (atom.rel, it)));
            }
            ControlFlow::Break(())
        });
        found
    }

    /// The positive atoms of the question that no row matches, each taken by itself, with abbreviations
    /// resolved.
    pub fn unmet(&self, rows: &dyn Rows) -> Vec<(RelId, Vec<Option<i64>>)> {
        let (asked, short) = self.body.split_at(self.body.len() - self.short);
        let mut settled = self.given.clone();
        let _ = solve(rows, short, &mut self.given.clone(), &mut |solution| {
            settled = solution.to_vec();
            ControlFlow::Break(())
        });
        let goal = |it: &Literal| match it {
            Literal::Atom(it) if !it.negated => Some((it.rel, pattern(it, &settled).to_vec())),
            Literal::Atom(_) | Literal::Compare(_) | Literal::Aggregate(_) => None,
        };
        let goals = asked.iter().chain(short).filter_map(goal);
        goals.filter(|(rel, goal)| first(rows, *rel, goal).is_none()).collect()
    }

    fn each(
        &self,
        rows: &dyn Rows,
        f: &mut dyn FnMut(Tuple) -> ControlFlow<()>,
    ) -> Result<(), Exhausted> {
        let meter = Metered::new(rows, SEARCH_STEPS);
        let _ = solve(&meter, &self.body, &mut self.given.clone(), &mut |solution| {
            f(self.shown.iter().map(|(_, at)| solution[*at].unwrap_or_default()).collect())
        });
        meter.check()
    }
}

/// The variables that are local to a literal.
fn locals(literal: &Literal) -> &[VarId] {
    match literal {
        Literal::Aggregate(it) => &it.locals,
        Literal::Atom(_) | Literal::Compare(_) => &[],
    }
}

fn whole(text: &str, message: &str) -> QueryError {
    let (message, end) = (message.to_string(), text.len());
    QueryError { text: text.into(), message, start: 0, end, help: None }
}

/// The mistake that a bracket is not closed: the atoms of abbreviations are added behind the text, and would be inside it.
fn unclosed(text: &str) -> Option<QueryError> {
    let mut open = Vec::new();
    for (at, word) in words(text) {
        match word {
            Word::Other(c @ ('(' | '{')) => open.push((at, c)),
            Word::Other(')' | '}') => {
                open.pop();
            }
            _ => {}
        }
    }
    let (start, bracket) = open.pop()?;
    let message = format!("`{bracket}` is not closed");
    Some(QueryError { text: text.into(), message, start, end: start + 1, help: None })
}

/// A mistake at its place in the question's text.
fn mistake(text: &str, origins: &[usize], diagnostic: &Diagnostic) -> QueryError {
    let origin = |at: u32| {
        let at = (at as usize).saturating_sub(HEAD.len()).min(origins.len() - 1);
        origins[at].min(text.len())
    };
    let span = diagnostic.span();
    let start = origin(span.start);
    let end = origin(span.end).max(start);
    let declares = |it: &str| {
        ["`.domain ", "declare it with", "where `.meta "].iter().any(|head| it.starts_with(head))
    };
    let written = text.get(start..end).unwrap_or_default();
    let help = match diagnostic.code {
        // A name that is a value somewhere was taken for that value.
        "E207" if matches!(words(written)[..], [(_, Word::Name(_))]) => {
            Some(format!("`{written}` is a value: write `?{written}` for a variable"))
        }
        // A question declares nothing.
        _ => diagnostic.help.as_deref().filter(|it| !declares(it)).map(plain),
    };
    // The `.` behind the question is not in its text.
    let message = plain(&diagnostic.message).replace("`,` or `.`", "`,` or the end");
    QueryError { text: text.into(), message, start, end, help }
}

/// A message about the rewritten question, with names as the question has them: `_` (alone), `x` for `_x`, `#3` for `_3`,
/// `e4` for `_0_e4`.
fn plain(message: &str) -> String {
    let visible = |it: &str| {
        let text = it.replace("`'", "`").replace(&format!("`{ABBREVIATED}"), "`");
        let text = (0..10).fold(text, |it, at| it.replace(&format!("`_{at}"), &format!("`#{at}")));
        text.replace("`_", "`")
    };
    message.split("`_`").map(visible).collect::<Vec<_>>().join("`_`")
}

/// The mistake; if it is about a private name of several presets, it lists the full names.
fn with_full_names(program: &Program, mistake: QueryError) -> QueryError {
    let name = mistake.text.get(mistake.start..mistake.end).unwrap_or_default();
    match program.full_names(name).as_slice() {
        names @ [_, _, ..] if program.relation_named(name).is_none() => {
            let message = format!("`{name}` is a relation of {} presets", names.len());
            let help = Some(format!("write `{}`", names.join("` or `")));
            QueryError { message, help, ..mistake }
        }
        _ => mistake,
    }
}

/// A question rewritten in the language of rules.
#[derive(Default)]
struct Rewritten {
    out: String,
    /// For each byte of `out`, and its end, the corresponding byte of the question's text.
    origins: Vec<usize>,
    /// The names of variables in the question and in `out`.
    shown: Vec<(String, String)>,
    /// Number of atoms at the end for abbreviations.
    short: usize,
    /// Variables for entities given by number.
    numbers: HashMap<String, i64>,
}

struct Rewriter<'t> {
    program: &'t Program,
    text: &'t str,
    abbreviation: Option<Abbreviation>,
    done: Rewritten,
    /// Atoms for abbreviations: the variable and the value.
    extra: Vec<(String, String)>,
}

/// A word of a question, or what stands between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word<'t> {
    Name(&'t str),
    /// `?p`
    Variable(&'t str),
    /// `'e4`
    Constant(&'t str),
    /// `#12`
    Number(&'t str),
    Text(&'t str),
    Other(char),
}

/// A word in its place.
struct Placed<'t> {
    at: usize,
    word: Word<'t>,
    /// The next word that is not white space.
    next: Option<Word<'t>>,
    /// The argument of an atom that it stands in: the relation, and the column. For the name of the relation, the first
    /// column.
    argument: Option<(RelId, usize)>,
}

impl<'t> Rewriter<'t> {
    fn new(program: &'t Program, text: &'t str, abbreviation: Option<Abbreviation>) -> Self {
        Self { program, text, abbreviation, done: Rewritten::default(), extra: Vec::new() }
    }

    fn run(mut self) -> Rewritten {
        let program = self.program;
        let words = self.placed();
        let variables = self.variables(&words);
        for &Placed { at, word, next, argument } in &words {
            match word {
                Word::Name(name) if next == Some(Word::Other('(')) => {
                    let known = argument.map(|(rel, _)| &*program.relation(rel).name);
                    self.put(at, known.unwrap_or(name));
                }
                Word::Name("_") => self.put(at, "_"),
                Word::Name(name) if is_keyword(name, next) => self.put(at, name),
                Word::Name(name) => {
                    let gets_value = next == Some(Word::Other('='));
                    self.name(at, name, argument, gets_value || variables.contains(name));
                }
                Word::Variable(name) => self.variable(at, name),
                Word::Number(id) => self.number(at, id),
                Word::Constant(it) | Word::Text(it) => self.put(at, it),
                Word::Other(c) => self.put(at, c.encode_utf8(&mut [0; 4])),
            }
        }
        let relation = self.abbreviation.map(|it| &*program.relation(it.rel).name);
        self.done.short = self.extra.len();
        for (variable, value) in std::mem::take(&mut self.extra) {
            let name = relation.unwrap_or_default();
            self.put(self.text.len(), &format!(", {name}({variable}, '{value})"));
        }
        self.done.origins.push(self.text.len());
        self.done
    }

    /// The words of the question in their places.
    fn placed(&self) -> Vec<Placed<'t>> {
        let place = |(at, word)| Placed { at, word, next: None, argument: None };
        let mut words: Vec<Placed<'t>> = words(self.text).into_iter().map(place).collect();
        let mut next = None;
        for it in words.iter_mut().rev() {
            it.next = next;
            if !matches!(it.word, Word::Other(c) if c.is_whitespace()) {
                next = Some(it.word);
            }
        }
        let mut argument = None;
        for it in &mut words {
            match it.word {
                Word::Name(name) if it.next == Some(Word::Other('(')) => {
                    argument = self.program.relation_meant(name).map(|rel| (rel, 0));
                }
                Word::Other(',') => argument = argument.map(|(rel, column)| (rel, column + 1)),
                Word::Other(')') => argument = None,
                _ => {}
            }
            it.argument = argument;
        }
        words
    }

    /// The names that are certainly variables: marked as such, or not a value of their column.
    fn variables(&self, words: &[Placed<'t>]) -> BTreeSet<&'t str> {
        let variable = |it: &Placed<'t>| match it.word {
            Word::Name(_) if it.next == Some(Word::Other('(')) => None,
            Word::Name(name) => {
                it.argument.filter(|_| self.value_of(it.argument, name).is_none()).map(|_| name)
            }
            Word::Variable(name) => Some(name),
            _ => None,
        };
        words.iter().filter_map(variable).collect()
    }

    /// The domain in which a name is a value of the column.
    fn value_of(&self, atom: Option<(RelId, usize)>, name: &str) -> Option<DomainId> {
        let (rel, column) = atom?;
        let ty = self.program.relation(rel).columns.get(column)?.ty;
        let Type::Domain(id) = ty else { return None };
        let is_member = |id: DomainId| self.program.schema.domain(id).member(name).is_some();
        if is_member(id) {
            return Some(id);
        }
        let short = self.abbreviation.filter(|_| self.program.is_entity(ty));
        let short = short.filter(|it| is_member(it.values));
        short.map(|it| it.values)
    }

    fn name(&mut self, at: usize, name: &str, atom: Option<(RelId, usize)>, is_variable: bool) {
        let domains = self.program.schema.domains();
        let is_value = || domains.iter().any(|it| it.member(name).is_some());
        match (atom, self.value_of(atom, name)) {
            (Some((rel, column)), Some(id)) => {
                if self.program.relation(rel).columns[column].ty == Type::Domain(id) {
                    return self.put(at, &format!("'{name}"));
                }
                let variable = format!("{ABBREVIATED}{name}");
                if self.extra.iter().all(|it| it.0 != variable) {
                    self.extra.push((variable.clone(), name.to_string()));
                }
                self.put(at, &variable);
            }
            (None, _) if !is_variable && is_value() => self.put(at, &format!("'{name}")),
            _ => self.variable(at, name),
        }
    }

    fn variable(&mut self, at: usize, name: &str) {
        if name == "_" {
            return self.put(at, name);
        }
        // A leading underscore allows a variable to occur once. Each name gets one more, so that `x` and `_x` differ.
        let hidden = name.starts_with('_');
        let inner = format!("_{name}");
        if !hidden && self.done.shown.iter().all(|it| it.0 != name) {
            self.done.shown.push((name.to_string(), inner.clone()));
        }
        self.put(at, &inner);
    }

    fn number(&mut self, at: usize, id: &str) {
        let variable = format!("_{id}");
        self.done.numbers.insert(variable.clone(), id.parse().unwrap_or(-1));
        self.put(at, &variable);
    }

    fn put(&mut self, at: usize, text: &str) {
        self.done.out.push_str(text);
        self.done.origins.extend(std::iter::repeat_n(at, text.len()));
    }
}

/// `count`, `sum`, `min` and `max` before a brace are not variables.
fn is_keyword(name: &str, next: Option<Word<'_>>) -> bool {
    matches!(name, "count" | "sum" | "min" | "max") && next == Some(Word::Other('{'))
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of a full name, `bank::gold`, that a text begins with; or else of the part of the text in which none
/// begins.
fn full_name(text: &str) -> Result<usize, usize> {
    let of = text.find(|c| !is_part(c) && c != '-').unwrap_or(text.len());
    let name = text[of..].strip_prefix("::").ok_or(of)?;
    let len = name.find(|c| !is_part(c)).unwrap_or(name.len());
    if len > 0 { Ok(of + 2 + len) } else { Err(of) }
}

/// The words of a text with their places.
fn words(text: &str) -> Vec<(usize, Word<'_>)> {
    let mut words = Vec::new();
    let mut at = 0;
    // Before this place no full name begins.
    let mut plain_until = 0;
    while let Some(c) = text[at..].chars().next() {
        if is_part(c) && at >= plain_until {
            match full_name(&text[at..]) {
                Ok(len) => {
                    words.push((at, Word::Name(&text[at..at + len])));
                    at += len;
                    continue;
                }
                Err(len) => plain_until = at + len,
            }
        }
        let rest = &text[at + c.len_utf8()..];
        let run = |more: &dyn Fn(char) -> bool| rest.find(|c| !more(c)).unwrap_or(rest.len());
        let (word, len) = match c {
            '?' if rest.starts_with(is_part) => {
                let len = run(&is_part);
                (Word::Variable(&rest[..len]), 1 + len)
            }
            '#' if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                let len = run(&|c| c.is_ascii_digit());
                (Word::Number(&rest[..len]), 1 + len)
            }
            '\'' => {
                let len = run(&|c| is_part(c) || c == '-');
                (Word::Constant(&text[at..=at + len]), 1 + len)
            }
            '"' => {
                let len = rest.find('"').map_or(rest.len(), |it| it + 1);
                (Word::Text(&text[at..=at + len]), 1 + len)
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let len = run(&is_part);
                (Word::Name(&text[at..=at + len]), 1 + len)
            }
            c if c.is_ascii_digit() => {
                let len = run(&|c| c.is_ascii_digit());
                (Word::Text(&text[at..=at + len]), 1 + len)
            }
            c => (Word::Other(c), c.len_utf8()),
        };
        words.push((at, word));
        at += len;
    }
    words
}
