//! Templates of notation: `{at(piece)}{to}{letter(promotion)}`.
//!
//! Deliberately absent: filling a template in, which needs facts.

use super::super::ast::Name;
use super::super::limits;
use super::super::limits::LimitError;
use super::super::mistake;
use super::super::program::{RelId, Template, TemplatePart, Type};
use super::Checker;
use super::rule::Subject;

/// Maximum number of optional parts of a template. Each doubles the number of forms in which a text is read.
const OPTIONAL: usize = 6;

/// In a template of SAN, the word between a square and its keys. Only so much of the square is written as tells the
/// action from others that have the same values of the keys.
const AMONG: &str = " among ";

/// The purpose of a template, which decides whether it may have [`AMONG`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    San,
    /// Everything else: UCI, further texts of actions, texts of rows.
    Other,
}

impl<'t> Checker<'t> {
    pub(super) fn template(&mut self, rel: RelId, text: Name<'t>, purpose: For) -> Template {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < text.text.len() {
            let rest = &text.text[at..];
            if !rest.starts_with('[') {
                let end = rest.find('[').unwrap_or(rest.len());
                let plain = self.parts(rel, text.part(at, at + end), purpose);
                parts.extend(plain.into_iter().map(|it| self.optional_if_unlisted(rel, it)));
                at += end;
                continue;
            }
            let Some(close) = rest.find(']') else {
                self.report(mistake::stray_bracket(text.part(at, at + 1).span));
                break;
            };
            let inner = text.part(at + 1, at + close);
            // An optional part may not contain `among`.
            parts.push(TemplatePart::Optional(self.parts(rel, inner, For::Other)));
            at += close + 1;
        }
        if parts.iter().filter(|it| matches!(it, TemplatePart::Optional(_))).count() > OPTIONAL {
            self.report(mistake::many_optional_parts(text.span, OPTIONAL));
        }
        Template(parts)
    }

    /// Reports a text of actions that is empty or has blanks: lists of actions are split at blanks.
    pub(super) fn check_is_word(&mut self, text: Name<'t>) {
        let mut is_inside = false;
        let blank = text.text.char_indices().find(|&(_, letter)| {
            is_inside = letter == '{' || is_inside && letter != '}';
            !is_inside && letter.is_whitespace()
        });
        match blank {
            Some((at, letter)) => {
                let place = text.part(at, at + letter.len_utf8()).span;
                self.report(mistake::not_one_word(place, "a blank"));
            }
            None if text.text.is_empty() => self.report(mistake::not_one_word(text.span, "empty")),
            None => {}
        }
    }

    /// Makes a part optional if it mentions an unlisted argument (`given`): it is left out where that has its default.
    fn optional_if_unlisted(&self, rel: RelId, part: TemplatePart) -> TemplatePart {
        let listed = self.relation(rel).columns.len();
        let whole = self.subject(Subject::Whole(rel)).relation.columns.len();
        match (listed..whole).any(|it| part.mentions(it)) {
            true => TemplatePart::Optional(vec![part]),
            false => part,
        }
    }

    /// Parses text, and parts in braces.
    fn parts(&mut self, rel: RelId, text: Name<'t>, purpose: For) -> Vec<TemplatePart> {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < text.text.len() {
            let rest = &text.text[at..];
            let plain = rest.find(['{', '}', '[', ']']).unwrap_or(rest.len());
            if plain > 0 {
                parts.push(TemplatePart::Text(rest[..plain].to_string()));
                at += plain;
                continue;
            }
            let close = rest.find('}').filter(|it| *it > 1 && rest.starts_with('{'));
            let Some(close) = close else {
                let sign = text.part(at, at + if rest.starts_with("{}") { 2 } else { 1 });
                self.report(match rest.starts_with(['[', ']']) {
                    true => mistake::stray_bracket(sign.span),
                    false => mistake::stray_brace("template", sign),
                });
                break;
            };
            parts.extend(self.braced(rel, text.part(at + 1, at + close), purpose));
            at += close + 1;
        }
        parts
    }

    /// Parses the content of braces: a part, or a square, [`AMONG`], and its keys.
    fn braced(&mut self, rel: RelId, text: Name<'t>, purpose: For) -> Option<TemplatePart> {
        let Some(at) = text.text.find(AMONG) else {
            return self.part(rel, text, 0).map(|it| it.0);
        };
        if purpose != For::San {
            self.report(mistake::among_outside_san(text.span));
            return None;
        }
        let square = self.part(rel, text.part(0, at), 0)?.0;
        let mut keys = Vec::new();
        for key in split(text.part(at + AMONG.len(), text.text.len())) {
            keys.push(self.part(rel, key, 0)?.0);
        }
        Some(TemplatePart::Among(Box::new(square), keys))
    }

    /// Parses a column, or a relation that is looked up with an inner part or with several columns; returns it with the
    /// type of its value.
    fn part(
        &mut self,
        rel: RelId,
        name: Name<'t>,
        depth: usize,
    ) -> Option<(TemplatePart, Option<Type>)> {
        if depth > limits::DEPTH {
            self.exceeds(LimitError::Depth, name.span);
            return None;
        }
        let Some(open) = name.text.find('(') else {
            let column = self.template_column(rel, name)?;
            let ty = self.subject(Subject::Whole(rel)).types[column];
            return Some((TemplatePart::Column(column), ty));
        };
        if !name.text.ends_with(')') {
            self.report(mistake::template_parentheses(name.span));
            return None;
        }
        let lookup = name.part(0, open);
        let inner = name.part(open + 1, name.text.len() - 1);
        let table = self.find(lookup);
        if split(inner).len() > 1 {
            return self.lookup_by_columns(rel, lookup, table?, inner);
        }
        let (part, ty) = self.part(rel, inner, depth + 1)?;
        let table = table?;
        let (types, place) = (&self.info(table).types, self.relation(table).span);
        let &[key, value] = types.as_slice() else {
            let report = mistake::template_arity(lookup, types.len(), 1, place);
            self.report(report);
            return None;
        };
        if let (Some(key), Some(ty)) = (key, ty)
            && key != ty
        {
            let (wanted, found) = (self.type_name(key), self.type_name(ty));
            self.report(mistake::template_type(inner.span, wanted, found, lookup, place));
        }
        Some((TemplatePart::Lookup(table, Box::new(part)), value))
    }

    /// The column that a template of an action or relation names.
    fn template_column(&mut self, rel: RelId, name: Name<'t>) -> Option<usize> {
        let columns = &self.subject(Subject::Whole(rel)).relation.columns;
        let found = columns.iter().position(|it| it.name == name.text);
        if found.is_none() {
            let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
            let report = mistake::unknown_column(name.text, name.span, &names);
            self.report(report);
        }
        found
    }

    /// Parses the columns that a relation is looked up with: columns only, no look-ups.
    fn lookup_by_columns(
        &mut self,
        rel: RelId,
        lookup: Name<'t>,
        table: RelId,
        inner: Name<'t>,
    ) -> Option<(TemplatePart, Option<Type>)> {
        let (types, place) = (self.info(table).types.clone(), self.relation(table).span);
        let names = split(inner);
        let has_arity = types.len() == names.len() + 1;
        let mut columns = Vec::new();
        for name in names {
            if name.text.contains(['(', ')']) {
                self.report(mistake::nested_key(inner.span));
                return None;
            }
            let column = self.template_column(rel, name)?;
            let ty = self.subject(Subject::Whole(rel)).types[column];
            if let (Some(Some(key)), Some(ty)) = (types.get(columns.len()), ty)
                && has_arity
                && *key != ty
            {
                let (wanted, found) = (self.type_name(*key), self.type_name(ty));
                self.report(mistake::template_type(name.span, wanted, found, lookup, place));
            }
            columns.push(column);
        }
        if !has_arity {
            self.report(mistake::template_arity(lookup, types.len(), columns.len(), place));
            return None;
        }
        Some((TemplatePart::Row(table, columns), types.last().copied().flatten()))
    }
}

/// The parts of a text between its commas outside of parentheses, without the blanks around them.
fn split(text: Name<'_>) -> Vec<Name<'_>> {
    let (mut depth, mut start) = (0, 0);
    let is_outer_comma = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    let trimmed = |piece: &str| {
        let from = start + piece.len() - piece.trim_start().len();
        start += piece.len() + 1;
        text.part(from, from + piece.trim().len())
    };
    text.text.split(is_outer_comma).map(trimmed).collect()
}
