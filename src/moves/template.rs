//! The templates by which actions declare their text: filled in, and read backwards.
//!
//! Reading backwards finds every tuple of arguments that could have given the text, by running
//! each lookup from its value to its keys. So a text is understood without listing legal moves, even that of an
//! illegal move: `e2e5` means the piece on e2 and the square e5.

use std::collections::BTreeSet;

use crate::derive::{Tuple, World};
use crate::facts::{Shape, article};
use crate::rules::{
    Action, ActionId, Column, Program, RelId, Template, TemplatePart, Type, Unlisted,
};

use super::action::Move;

/// Maximum number of steps in which a text is matched against a template: rules may be untrusted, and a text may be split
/// among the parts of a template in many ways.
const STEPS: usize = 16_384;
/// Maximum number of matches of a text against a template.
const MATCHES: usize = 64;
/// Maximum number of combinations of values that are tried for a match.
const COMBINATIONS: usize = 1024;

/// How much of a square is written to disambiguate an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SquarePart {
    Nothing,
    File,
    Rank,
    Whole,
}

impl SquarePart {
    /// This part of a square's name. Its file is a letter.
    pub(super) fn of(self, name: &str) -> &str {
        let rank = name.find(|it: char| it.is_ascii_digit()).unwrap_or(name.len());
        match self {
            Self::Nothing => "",
            Self::File => &name[..rank],
            Self::Rank => &name[rank..],
            Self::Whole => name,
        }
    }
}

/// The text of an action, with that part of the square by which it is disambiguated.
pub(super) fn render(
    world: &mut World,
    template: &Template,
    mv: &Move,
    square_part: SquarePart,
) -> String {
    let program = world.program().clone();
    let action = program.action(mv.action);
    Values::of(action, &action.whole(&mv.args)).render(world, template, square_part)
}

/// The text of a relation's row.
pub(super) fn render_row(
    world: &mut World,
    template: &Template,
    columns: &[Column],
    row: &[i64],
) -> String {
    Values { columns, unlisted: &[], args: row }.render(world, template, SquarePart::Whole)
}

/// The values with which a template is filled in: the arguments of an action, or a row.
#[derive(Clone, Copy)]
struct Values<'a> {
    columns: &'a [Column],
    /// The unlisted arguments, which are the last of the columns.
    unlisted: &'a [Unlisted],
    args: &'a [i64],
}

impl<'a> Values<'a> {
    fn of(action: &'a Action, args: &'a [i64]) -> Self {
        Self { columns: &action.columns, unlisted: &action.unlisted, args }
    }

    /// The template filled in. A look-up that finds nothing gives `?`; an optional part with such a look-up is left out.
    fn render(self, world: &mut World, template: &Template, square_part: SquarePart) -> String {
        let mut text = String::new();
        for part in &template.0 {
            match part {
                TemplatePart::Optional(all) if !self.is_written(world, all) => {}
                TemplatePart::Optional(all) => {
                    all.iter().for_each(|it| self.write(world, it, &mut text));
                }
                TemplatePart::Among(square, _) => {
                    let mut name = String::new();
                    self.write(world, square, &mut name);
                    text.push_str(square_part.of(&name));
                }
                part => self.write(world, part, &mut text),
            }
        }
        text
    }

    /// Writes a part, `?` if it has no value.
    fn write(self, world: &mut World, part: &TemplatePart, text: &mut String) {
        match self.filled(world, part) {
            Some(Filled::Text(it)) => text.push_str(it),
            Some(Filled::Value(ty, raw)) => world.program().push_value_name(ty, raw, text),
            None => text.push('?'),
        }
    }

    /// Whether an optional part is written: everything in it has a value, and if it has unlisted arguments, not
    /// all of them are the defaults.
    fn is_written(self, world: &mut World, parts: &[TemplatePart]) -> bool {
        let is_mentioned = |at: usize| parts.iter().any(|it| it.mentions(at));
        let first = self.columns.len() - self.unlisted.len();
        let mut unlisted = (first..).zip(self.unlisted).filter(|it| is_mentioned(it.0)).peekable();
        let is_default = |(at, it): (usize, &Unlisted)| self.args.get(at) == Some(&it.default);
        let is_needed = unlisted.peek().is_none() || !unlisted.all(is_default);
        is_needed && parts.iter().all(|it| self.filled(world, it).is_some())
    }

    /// The text or the value of a part; `None` if it has neither.
    fn filled<'p>(self, world: &mut World, part: &'p TemplatePart) -> Option<Filled<'p>> {
        match part {
            TemplatePart::Text(text) => Some(Filled::Text(text)),
            TemplatePart::Optional(_) => None,
            TemplatePart::Among(inner, _) => self.filled(world, inner),
            TemplatePart::Column(at) => {
                let column = self.columns.get(*at)?;
                Some(Filled::Value(column.ty, *self.args.get(*at)?))
            }
            TemplatePart::Row(table, keys) => {
                let key: Option<Vec<i64>> =
                    keys.iter().map(|it| self.args.get(*it).copied()).collect();
                looked_up(world, *table, &key?)
            }
            TemplatePart::Lookup(table, inner) => match self.filled(world, inner)? {
                Filled::Value(_, key) => looked_up(world, *table, &[key]),
                Filled::Text(_) => None,
            },
        }
    }
}

/// What a part of a template is filled in with.
enum Filled<'a> {
    Text(&'a str),
    Value(Type, i64),
}

/// The last column of the row of a table that begins with this key.
fn looked_up<'a>(world: &mut World, table: RelId, key: &[i64]) -> Option<Filled<'a>> {
    let pattern: Vec<Option<i64>> = key.iter().copied().map(Some).chain([None]).collect();
    let row = world.first(table, &pattern)?;
    let ty = world.program().relation(table).columns.last()?.ty;
    Some(Filled::Value(ty, *row.last()?))
}

/// What disambiguates an action in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disambiguation {
    pub(super) square: String,
    /// The action must differ in its text from those that have the same keys.
    pub(super) keys: Vec<Option<i64>>,
}

/// What disambiguates an action, if its template has an `among`.
pub(super) fn disambiguate(
    world: &mut World,
    template: &Template,
    mv: &Move,
) -> Option<Disambiguation> {
    let among = template.0.iter().find_map(|it| match it {
        TemplatePart::Among(square, keys) => Some((square, keys)),
        _ => None,
    });
    let (square, keys) = among?;
    let program = world.program().clone();
    let action = program.action(mv.action);
    let args = action.whole(&mv.args);
    let values = Values::of(action, &args);
    let mut value = |part: &TemplatePart| match values.filled(world, part) {
        Some(Filled::Value(ty, raw)) => Some((ty, raw)),
        _ => None,
    };
    let (ty, raw) = value(square)?;
    let keys = keys.iter().map(|it| Some(value(it)?.1)).collect();
    Some(Disambiguation { square: program.value_name(ty, raw), keys })
}

/// The furthest point at which a text failed to match templates, and what was expected there (empty before any failure).
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stop {
    pub(super) offset: usize,
    pub(super) expected: String,
}

impl Stop {
    /// Keeps the furthest failure, with everything that was expected there.
    pub(super) fn add(&mut self, offset: usize, expected: &str) {
        if offset > self.offset || self.expected.is_empty() {
            *self = Self { offset, expected: expected.into() };
        } else if offset == self.offset && !self.expected.contains(expected) {
            self.expected = format!("{} or {expected}", self.expected);
        }
    }
}

/// A match of a text against a template.
#[derive(Debug, Clone)]
pub(super) struct Spelling<'t> {
    /// The template's parts, without the optional parts that are left out.
    pub(super) parts: Vec<&'t TemplatePart>,
    /// The values that the text gives, each with the index of its part.
    pub(super) values: Vec<(usize, i64)>,
}

/// The template with and without each of its optional parts.
fn variants(template: &Template) -> Vec<Vec<&TemplatePart>> {
    let mut all: Vec<Vec<&TemplatePart>> = vec![Vec::new()];
    for part in &template.0 {
        match part {
            TemplatePart::Optional(inner) => {
                let mut with_part = all.clone();
                with_part.iter_mut().for_each(|it| it.extend(inner));
                all.append(&mut with_part);
            }
            part => all.iter_mut().for_each(|it| it.push(part)),
        }
    }
    all
}

/// The matches of the text against the template.
///
/// # Errors
/// The text does not match. The error says how far it matches, and what was expected there.
pub(super) fn spellings_of<'t>(
    world: &mut World,
    template: &'t Template,
    action: ActionId,
    text: &str,
) -> Result<Vec<Spelling<'t>>, Stop> {
    let program = world.program().clone();
    let (action, stop) = (program.action(action), Stop::default());
    let found = Vec::new();
    let mut reader = TemplateReader { action, program: &program, text, stop, steps: 0, found };
    let mut spellings = Vec::new();
    for parts in variants(template) {
        reader.read(world, &parts, 0, 0, &mut Vec::new());
        let found = std::mem::take(&mut reader.found);
        let spelling = |values| Spelling { parts: parts.clone(), values };
        spellings.extend(found.into_iter().map(spelling));
    }
    spellings.truncate(MATCHES);
    if spellings.is_empty() { Err(reader.stop) } else { Ok(spellings) }
}

struct TemplateReader<'a> {
    program: &'a Program,
    action: &'a Action,
    text: &'a str,
    stop: Stop,
    /// Number of steps so far.
    steps: usize,
    /// The values of each match, as in [`Spelling`].
    found: Vec<Vec<(usize, i64)>>,
}

impl TemplateReader<'_> {
    /// Reads the text from `offset` on by the parts from `index` on; `values` are those of the parts before.
    fn read(
        &mut self,
        world: &mut World,
        parts: &[&TemplatePart],
        index: usize,
        offset: usize,
        values: &mut Vec<(usize, i64)>,
    ) {
        if self.steps >= STEPS || self.found.len() >= MATCHES {
            return;
        }
        self.steps += 1;
        let rest = &self.text[offset..];
        let Some((part, later)) = parts.split_first() else {
            if rest.is_empty() {
                self.found.push(values.clone());
            } else {
                self.stop.add(offset, "the end");
            }
            return;
        };
        let beginnings = self.beginnings(world, part, rest);
        if beginnings.is_empty() {
            let expected = self.expected(part);
            self.stop.add(offset, &expected);
        }
        for (value, length) in beginnings {
            values.extend(value.map(|it| (index, it)));
            self.read(world, later, index + 1, offset + length, values);
            values.truncate(values.len() - usize::from(value.is_some()));
        }
    }

    /// What the text may begin with by a part: the value, if it gives one, and the length.
    fn beginnings(
        &self,
        world: &mut World,
        part: &TemplatePart,
        text: &str,
    ) -> Vec<(Option<i64>, usize)> {
        match part {
            TemplatePart::Text(it) if text.starts_with(it.as_str()) => vec![(None, it.len())],
            TemplatePart::Text(_) => Vec::new(),
            TemplatePart::Among(square, _) => self.parts_of_square(world, square, text),
            part => self.prefixes(world, part, text).into_iter().map(with_value).collect(),
        }
    }

    /// The parts of a square's name that the text may begin with: all of it, its rank, its file, nothing.
    /// Only the whole name gives a value.
    fn parts_of_square(
        &self,
        world: &mut World,
        square: &TemplatePart,
        text: &str,
    ) -> Vec<(Option<i64>, usize)> {
        let whole = self.prefixes(world, square, text);
        let mut parts: Vec<_> = whole.into_iter().map(with_value).collect();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let letters = usize::from(text.starts_with(|it: char| it.is_ascii_lowercase()));
        parts.extend([digits, letters].into_iter().filter(|it| *it > 0).map(|it| (None, it)));
        parts.push((None, 0));
        parts
    }

    /// The type of a part's values.
    fn output(&self, part: &TemplatePart) -> Option<Type> {
        let column = match part {
            TemplatePart::Among(inner, _) => return self.output(inner),
            TemplatePart::Text(_) | TemplatePart::Optional(_) => None,
            TemplatePart::Column(at) => self.action.columns.get(*at),
            TemplatePart::Lookup(table, _) | TemplatePart::Row(table, _) => {
                self.program.relation(*table).columns.last()
            }
        };
        column.map(|it| it.ty)
    }

    fn expected(&self, part: &TemplatePart) -> String {
        match self.output(part) {
            Some(Type::Domain(id)) => {
                with_article(&self.program.schema.domain(id).name.to_lowercase())
            }
            Some(Type::Int) => "a number".into(),
            Some(Type::Text) | None => match part {
                TemplatePart::Text(literal) => format!("{literal:?}"),
                TemplatePart::Lookup(table, _) | TemplatePart::Row(table, _) => {
                    with_article(&self.program.relation(*table).name)
                }
                _ => "a word".into(),
            },
        }
    }

    /// The values that the text may begin with, longest spelling first.
    fn prefixes(&self, world: &mut World, part: &TemplatePart, text: &str) -> Vec<(i64, usize)> {
        let mut spellings = match self.output(part) {
            Some(Type::Domain(id)) => members(self.program, id, text),
            Some(Type::Int) => integer(text),
            Some(Type::Text) => texts(self.program, world, part, text),
            None => Vec::new(),
        };
        spellings.sort_by_key(|&(value, length)| (std::cmp::Reverse(length), value));
        spellings
    }
}

fn with_value((value, length): (i64, usize)) -> (Option<i64>, usize) {
    (Some(value), length)
}

fn with_article(noun: &str) -> String {
    format!("{} {noun}", article(noun))
}

fn members(program: &Program, id: crate::facts::DomainId, text: &str) -> Vec<(i64, usize)> {
    let domain = program.schema.domain(id);
    match &domain.shape {
        Shape::Members(names) => (0..)
            .zip(names)
            .filter(|(_, name)| !name.is_empty() && text.starts_with(name.as_str()))
            .map(|(index, name)| (index, name.len()))
            .collect(),
        // A letter or `#`, then digits: few prefixes to try.
        Shape::Grid { .. } | Shape::Entities { .. } => {
            let digits = text.bytes().skip(1).take_while(u8::is_ascii_digit).count();
            (2..=1 + digits)
                .filter_map(|length| Some((domain.member(text.get(..length)?)?, length)))
                .collect()
        }
    }
}

fn integer(text: &str) -> Vec<(i64, usize)> {
    let sign = usize::from(text.starts_with('-'));
    let digits = text.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
    let length = sign + digits;
    text.get(..length)
        .and_then(|it| it.parse().ok())
        .map_or_else(Vec::new, |value| vec![(value, length)])
}

fn texts(
    program: &Program,
    world: &mut World,
    part: &TemplatePart,
    text: &str,
) -> Vec<(i64, usize)> {
    let known: BTreeSet<i64> = match part {
        TemplatePart::Lookup(table, _) | TemplatePart::Row(table, _) => {
            world.tuples(*table).iter().filter_map(|row| row.last().copied()).collect()
        }
        _ => (0..program.texts.len() as i64).collect(),
    };
    known
        .into_iter()
        .filter_map(|raw| Some((raw, program.texts.get(usize::try_from(raw).ok()?)?)))
        .filter(|(_, word)| text.starts_with(word.as_str()))
        .map(|(raw, word)| (raw, word.len()))
        .collect()
}

/// The moves of a match. Unlisted arguments that the text does not give are the defaults. A move for which a look-up by
/// several columns has another value than the text gives is left out.
pub(super) fn moves_of(world: &mut World, action: ActionId, spelling: &Spelling<'_>) -> Vec<Move> {
    let program = world.program().clone();
    let action = program.action(action);
    let told = Told::by(world, action, spelling);
    let columns = &told.columns[..action.listed()];
    let combinations = columns.iter().map(|it| it.as_ref().map_or(usize::MAX, BTreeSet::len));
    let listed = match combinations.fold(1, usize::saturating_mul) <= COMBINATIONS {
        true => product(columns),
        false => listed_arguments(world, action, &told.columns),
    };
    told.moves(world, action, &listed)
}

/// The moves of a match that does not name the pieces: `pieces`, which are values of the type `entities`, stand in each
/// column of that type of which the text tells nothing. None if it tells nothing of another column.
pub(super) fn moves_of_pieces(
    world: &mut World,
    action: ActionId,
    spelling: &Spelling<'_>,
    pieces: &BTreeSet<i64>,
    entities: Type,
) -> Vec<Move> {
    let program = world.program().clone();
    let action = program.action(action);
    let mut told = Told::by(world, action, spelling);
    for (values, column) in told.columns.iter_mut().zip(&action.columns) {
        if values.is_none() && column.ty == entities {
            *values = Some(pieces.clone());
        }
    }
    if told.columns.iter().any(Option::is_none) {
        return Vec::new();
    }
    let listed = product(&told.columns[..action.listed()]);
    told.moves(world, action, &listed)
}

/// What a match tells of the arguments.
struct Told<'s> {
    /// The values that each column may have; `None` if the text tells nothing of it.
    columns: Vec<Option<BTreeSet<i64>>>,
    /// The look-ups by several columns, each with the value that the text gives.
    of_rows: Vec<(&'s TemplatePart, i64)>,
}

impl<'s> Told<'s> {
    fn by(world: &mut World, action: &Action, spelling: &Spelling<'s>) -> Self {
        let mut columns: Vec<Option<BTreeSet<i64>>> = vec![None; action.columns.len()];
        let mut of_rows = Vec::new();
        for &(index, value) in &spelling.values {
            let part = spelling.parts[index];
            let (at, values) = keys_of(world, part, BTreeSet::from([value]));
            if at.is_none() {
                of_rows.push((part, value));
            }
            if let Some(column) = at.and_then(|it| columns.get_mut(it)) {
                *column = Some(match column.take() {
                    Some(known) => known.intersection(&values).copied().collect(),
                    None => values,
                });
            }
        }
        for (at, it) in (action.listed()..).zip(&action.unlisted) {
            columns[at].get_or_insert_with(|| BTreeSet::from([it.default]));
        }
        Self { columns, of_rows }
    }

    /// The moves with rows of listed arguments and the unlisted ones, without those that look-ups contradict.
    fn moves(&self, world: &mut World, action: &Action, listed: &[Tuple]) -> Vec<Move> {
        let unlisted = product(&self.columns[action.listed()..]);
        let rows = listed.iter().flat_map(|row| {
            unlisted.iter().map(|it| row.iter().chain(it).copied().collect::<Tuple>())
        });
        let mut rows: Vec<Tuple> = rows.take(listed.len().max(COMBINATIONS)).collect();
        rows.retain(|args| {
            let mut of_rows = self.of_rows.iter();
            let values = Values::of(action, args);
            of_rows.all(|(part, value)| match values.filled(world, part) {
                Some(Filled::Value(_, raw)) => raw == *value,
                _ => true,
            })
        });
        let mv = |it: &Tuple| Move { action: action.id, args: action.shortest(it).into() };
        rows.iter().map(mv).collect()
    }
}

/// The rows of `pseudo_legal`, or else of `refusals`, that have the values given for some columns. So an action that is
/// not even pseudo-legal is still understood if the rules declare why they refuse it.
fn listed_arguments(
    world: &mut World,
    action: &Action,
    columns: &[Option<BTreeSet<i64>>],
) -> Vec<Tuple> {
    let is_meant = |row: &Tuple| {
        let mut pairs = row.iter().zip(columns);
        pairs.all(|(raw, known)| known.as_ref().is_none_or(|it| it.contains(raw)))
    };
    let mut rows = world.listed(action.candidates());
    rows.retain(is_meant);
    if let (true, Some(refusals)) = (rows.is_empty(), action.refusals) {
        rows = world.listed(refusals);
        rows.iter_mut().for_each(|it| it.truncate(action.listed()));
        rows.dedup();
        rows.retain(is_meant);
    }
    rows
}

/// Runs a part backwards: the column that it reads, and the values there that give `values`. If it reads no column,
/// `values` are returned as they are.
pub(super) fn keys_of(
    world: &mut World,
    part: &TemplatePart,
    values: BTreeSet<i64>,
) -> (Option<usize>, BTreeSet<i64>) {
    match part {
        // A row is found by several columns together, so its value says nothing about a single one.
        TemplatePart::Text(_) | TemplatePart::Optional(_) | TemplatePart::Row(..) => (None, values),
        TemplatePart::Column(at) => (Some(*at), values),
        TemplatePart::Among(inner, _) => keys_of(world, inner, values),
        TemplatePart::Lookup(table, inner) => {
            let mut keys = BTreeSet::new();
            for value in values {
                let rows = world.matching(*table, &[None, Some(value)]);
                keys.extend(rows.iter().filter_map(|row| row.first().copied()));
            }
            keys_of(world, inner, keys)
        }
    }
}

/// The combinations of values of the columns that have any, up to [`COMBINATIONS`].
fn product(columns: &[Option<BTreeSet<i64>>]) -> Vec<Tuple> {
    let mut rows = vec![Tuple::new()];
    for values in columns.iter().flatten() {
        let with_values = |row: &Tuple| -> Vec<Tuple> {
            values.iter().map(|value| row.iter().chain([value]).copied().collect()).collect()
        };
        rows = rows.iter().flat_map(with_values).take(COMBINATIONS).collect();
    }
    rows
}
