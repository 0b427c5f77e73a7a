//! Templates of notation: `{at(piece)}{to}{letter(promotion)}`.
//!
//! Deliberately absent: writing a template out, which needs facts.

use super::super::ast::Name;
use super::super::limits;
use super::super::limits::LimitError;
use super::super::mistake;
use super::super::program::{Piece, RelId, Span, Template, Type};
use super::Checker;
use super::rule::Subject;

/// Maximum number of optional parts of a template: it is read with and without each.
const OPTIONAL: usize = 6;

/// What stands in a template of SAN between a square and what the actions that it tells apart have in common.
const AMONG: &str = " among ";

/// What a template is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    Uci,
    San,
}

impl<'t> Checker<'t> {
    pub(super) fn template(&mut self, rel: RelId, text: Name<'t>, purpose: For) -> Template {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < text.text.len() {
            let rest = &text.text[at..];
            if !rest.starts_with('[') {
                let end = rest.find('[').unwrap_or(rest.len());
                let plain = Name { text: &rest[..end], span: part(text, at, at + end) };
                let parts = self.parts(rel, plain, purpose);
                pieces.extend(parts.into_iter().map(|it| self.optional_alone(rel, it)));
                at += end;
                continue;
            }
            let Some(close) = rest.find(']') else {
                self.report(mistake::stray_brace("template", part(text, at, at + 1)));
                break;
            };
            let inner = Name { text: &rest[1..close], span: part(text, at + 1, at + close) };
            // What is left out or not is no place for what tells actions apart.
            pieces.push(Piece::Optional(self.parts(rel, inner, For::Uci)));
            at += close + 1;
        }
        if pieces.iter().filter(|it| matches!(it, Piece::Optional(_))).count() > OPTIONAL {
            self.report(mistake::many_optional_parts(text.span, OPTIONAL));
        }
        Template(pieces)
    }

    /// What tells an argument that is not listed is left out where it is the default.
    fn optional_alone(&self, rel: RelId, piece: Piece) -> Piece {
        let listed = self.relation(rel).columns.len();
        let whole = self.subject(Subject::Whole(rel)).relation.columns.len();
        match (listed..whole).any(|it| tells(&piece, it)) {
            true => Piece::Optional(vec![piece]),
            false => piece,
        }
    }

    /// Text and pieces in braces.
    fn parts(&mut self, rel: RelId, text: Name<'t>, purpose: For) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < text.text.len() {
            let rest = &text.text[at..];
            let plain = rest.find(['{', '}', '[', ']']).unwrap_or(rest.len());
            if plain > 0 {
                pieces.push(Piece::Text(rest[..plain].to_string()));
                at += plain;
                continue;
            }
            let close = rest.find('}').filter(|&it| it > 0 && rest.starts_with('{'));
            let Some(close) = close else {
                self.report(mistake::stray_brace("template", part(text, at, at + 1)));
                break;
            };
            let inner = Name { text: &rest[1..close], span: part(text, at + 1, at + close) };
            pieces.extend(self.braced(rel, inner, purpose));
            at += close + 1;
        }
        pieces
    }

    /// What stands in braces: a piece, or a square `among` others.
    fn braced(&mut self, rel: RelId, text: Name<'t>, purpose: For) -> Option<Piece> {
        let Some(at) = text.text.find(AMONG) else {
            return self.piece(rel, text, 0).map(|it| it.0);
        };
        if purpose != For::San {
            self.report(mistake::among_outside_san(text.span));
            return None;
        }
        let square = Name { text: &text.text[..at], span: part(text, 0, at) };
        let square = self.piece(rel, square, 0)?.0;
        let mut from = at + AMONG.len();
        let mut keys = Vec::new();
        for word in text.text[from..].split(',') {
            let start = from + word.len() - word.trim_start().len();
            let key = Name { text: word.trim(), span: part(text, start, from + word.len()) };
            keys.push(self.piece(rel, key, 0)?.0);
            from += word.len() + 1;
        }
        Some(Piece::Among(Box::new(square), keys))
    }

    /// A column, or a relation looked up by an inner piece; with the type of what it yields.
    fn piece(&mut self, rel: RelId, name: Name<'t>, depth: usize) -> Option<(Piece, Option<Type>)> {
        if depth > limits::DEPTH {
            self.report(mistake::limit(LimitError::Depth, name.span));
            return None;
        }
        let Some(open) = name.text.find('(') else {
            let column = self.template_column(rel, name)?;
            let ty = self.subject(Subject::Whole(rel)).types[column];
            return Some((Piece::Column(column), ty));
        };
        let Some(inner) = name.text[open + 1..].strip_suffix(')') else {
            self.report(mistake::template_parentheses(name.span));
            return None;
        };
        let lookup = Name { text: &name.text[..open], span: part(name, 0, open) };
        let inner = Name { text: inner, span: part(name, open + 1, open + 1 + inner.len()) };
        let by = self.find(lookup);
        if inner.text.contains(',') && !inner.text.contains('(') {
            return self.row(rel, lookup, by?, inner);
        }
        let (piece, ty) = self.piece(rel, inner, depth + 1)?;
        let by = by?;
        let types = &self.info(by).types;
        let &[key, value] = types.as_slice() else {
            let report = mistake::template_arity(lookup, types.len(), self.relation(by).span);
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
        Some((Piece::Lookup(by, Box::new(piece)), value))
    }

    /// A relation looked up by several columns.
    fn row(
        &mut self,
        rel: RelId,
        lookup: Name<'t>,
        by: RelId,
        inner: Name<'t>,
    ) -> Option<(Piece, Option<Type>)> {
        let types = self.info(by).types.clone();
        let mut from = 0;
        let mut columns = Vec::new();
        for word in inner.text.split(',') {
            let start = from + word.len() - word.trim_start().len();
            let name = Name { text: word.trim(), span: part(inner, start, from + word.len()) };
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
            let report = mistake::template_arity(lookup, types.len(), self.relation(by).span);
            self.report(report);
            return None;
        }
        Some((Piece::Row(by, columns), types.last().copied().flatten()))
    }
}

/// A part of a name's text, as a place.
fn part(name: Name<'_>, from: usize, to: usize) -> Span {
    let start = name.span.start + from as u32;
    Span { start, end: name.span.start + to as u32, ..name.span }
}

/// Whether a piece tells a column.
pub(super) fn tells(piece: &Piece, column: usize) -> bool {
    match piece {
        Piece::Text(_) => false,
        Piece::Column(at) => *at == column,
        Piece::Row(_, columns) => columns.contains(&column),
        Piece::Lookup(_, inner) | Piece::Among(inner, _) => tells(inner, column),
        Piece::Optional(all) => all.iter().any(|it| tells(it, column)),
    }
}
