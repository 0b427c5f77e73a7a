//! Templates of notation: `{at(piece)}{to}{letter(promotion)}`.
//!
//! Deliberately absent: filling a template in, which needs facts.

use super::super::ast::Name;
use super::super::limits;
use super::super::limits::LimitError;
use super::super::mistake;
use super::super::program::{RelId, Span, Template, TemplatePart, Type};
use super::Checker;
use super::rule::Subject;

/// Maximum number of optional parts of a template, which is read with and without each.
const OPTIONAL: usize = 6;

/// The word in a template of SAN between a square and the common values of the actions that it disambiguates.
const AMONG: &str = " among ";

/// The purpose of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    Uci,
    San,
}

impl<'t> Checker<'t> {
    pub(super) fn template(&mut self, rel: RelId, text: Name<'t>, purpose: For) -> Template {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < text.text.len() {
            let rest = &text.text[at..];
            if !rest.starts_with('[') {
                let end = rest.find('[').unwrap_or(rest.len());
                let plain = Name { text: &rest[..end], span: span_in(text, at, at + end) };
                let plain = self.parts(rel, plain, purpose);
                parts.extend(plain.into_iter().map(|it| self.optional_alone(rel, it)));
                at += end;
                continue;
            }
            let Some(close) = rest.find(']') else {
                self.report(mistake::stray_brace("template", span_in(text, at, at + 1)));
                break;
            };
            let inner = Name { text: &rest[1..close], span: span_in(text, at + 1, at + close) };
            // An optional part may not contain a disambiguation.
            parts.push(TemplatePart::Optional(self.parts(rel, inner, For::Uci)));
            at += close + 1;
        }
        if parts.iter().filter(|it| matches!(it, TemplatePart::Optional(_))).count() > OPTIONAL {
            self.report(mistake::many_optional_parts(text.span, OPTIONAL));
        }
        Template(parts)
    }

    /// A part with an unlisted argument is left out if it is the default.
    fn optional_alone(&self, rel: RelId, part: TemplatePart) -> TemplatePart {
        let listed = self.relation(rel).columns.len();
        let whole = self.subject(Subject::Whole(rel)).relation.columns.len();
        match (listed..whole).any(|it| mentions(&part, it)) {
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
            let close = rest.find('}').filter(|&it| it > 0 && rest.starts_with('{'));
            let Some(close) = close else {
                self.report(mistake::stray_brace("template", span_in(text, at, at + 1)));
                break;
            };
            let inner = Name { text: &rest[1..close], span: span_in(text, at + 1, at + close) };
            parts.extend(self.braced(rel, inner, purpose));
            at += close + 1;
        }
        parts
    }

    /// Parses the content of braces: a column, or a square `among` others.
    fn braced(&mut self, rel: RelId, text: Name<'t>, purpose: For) -> Option<TemplatePart> {
        let Some(at) = text.text.find(AMONG) else {
            return self.part(rel, text, 0).map(|it| it.0);
        };
        if purpose != For::San {
            self.report(mistake::among_outside_san(text.span));
            return None;
        }
        let square = Name { text: &text.text[..at], span: span_in(text, 0, at) };
        let square = self.part(rel, square, 0)?.0;
        let mut from = at + AMONG.len();
        let mut keys = Vec::new();
        for word in text.text[from..].split(',') {
            let start = from + word.len() - word.trim_start().len();
            let key = Name { text: word.trim(), span: span_in(text, start, from + word.len()) };
            keys.push(self.part(rel, key, 0)?.0);
            from += word.len() + 1;
        }
        Some(TemplatePart::Among(Box::new(square), keys))
    }

    /// Parses a column, or a relation looked up by an inner part; returns it with the type of its value.
    fn part(
        &mut self,
        rel: RelId,
        name: Name<'t>,
        depth: usize,
    ) -> Option<(TemplatePart, Option<Type>)> {
        if depth > limits::DEPTH {
            self.report(mistake::limit(LimitError::Depth, name.span));
            return None;
        }
        let Some(open) = name.text.find('(') else {
            let column = self.template_column(rel, name)?;
            let ty = self.subject(Subject::Whole(rel)).types[column];
            return Some((TemplatePart::Column(column), ty));
        };
        let Some(inner) = name.text[open + 1..].strip_suffix(')') else {
            self.report(mistake::template_parentheses(name.span));
            return None;
        };
        let lookup = Name { text: &name.text[..open], span: span_in(name, 0, open) };
        let inner = Name { text: inner, span: span_in(name, open + 1, open + 1 + inner.len()) };
        let by = self.find(lookup);
        if inner.text.contains(',') && !inner.text.contains('(') {
            return self.row(rel, lookup, by?, inner);
        }
        let (part, ty) = self.part(rel, inner, depth + 1)?;
        let by = by?;
        let types = &self.info(by).types;
        let &[key, value] = types.as_slice() else {
            let report = mistake::template_arity(lookup, types.len(), 1, self.relation(by).span);
            self.report(report);
            return None;
        };
        if let (Some(key), Some(ty)) = (key, ty)
            && key != ty
        {
            let (wanted, found) = (self.type_name(key), self.type_name(ty));
            let report =
                mistake::template_type(inner.span, wanted, found, lookup, self.relation(by).span);
            self.report(report);
        }
        Some((TemplatePart::Lookup(by, Box::new(part)), value))
    }

    /// A relation looked up by several columns.
    fn row(
        &mut self,
        rel: RelId,
        lookup: Name<'t>,
        by: RelId,
        inner: Name<'t>,
    ) -> Option<(TemplatePart, Option<Type>)> {
        let types = self.info(by).types.clone();
        let mut from = 0;
        let mut columns = Vec::new();
        for word in inner.text.split(',') {
            let start = from + word.len() - word.trim_start().len();
            let name = Name { text: word.trim(), span: span_in(inner, start, from + word.len()) };
            let column = self.template_column(rel, name)?;
            let ty = self.subject(Subject::Whole(rel)).types[column];
            if let (Some(Some(key)), Some(ty)) = (types.get(columns.len()), ty)
                && *key != ty
            {
                let (wanted, found) = (self.type_name(*key), self.type_name(ty));
                let place = self.relation(by).span;
                self.report(mistake::template_type(name.span, wanted, found, lookup, place));
            }
            columns.push(column);
            from += word.len() + 1;
        }
        if types.len() != columns.len() + 1 {
            let (keys, place) = (columns.len(), self.relation(by).span);
            let report = mistake::template_arity(lookup, types.len(), keys, place);
            self.report(report);
            return None;
        }
        Some((TemplatePart::Row(by, columns), types.last().copied().flatten()))
    }
}

/// The place of a part of a name's text.
fn span_in(name: Name<'_>, from: usize, to: usize) -> Span {
    let start = name.span.start + from as u32;
    Span { start, end: name.span.start + to as u32, ..name.span }
}

/// Whether a part contains a column.
pub(super) fn mentions(part: &TemplatePart, column: usize) -> bool {
    match part {
        TemplatePart::Text(_) => false,
        TemplatePart::Column(at) => *at == column,
        TemplatePart::Row(_, columns) => columns.contains(&column),
        TemplatePart::Lookup(_, inner) | TemplatePart::Among(inner, _) => mentions(inner, column),
        TemplatePart::Optional(all) => all.iter().any(|it| mentions(it, column)),
    }
}
