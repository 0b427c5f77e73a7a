//! The `.meta` lines and inputs of a file, read without compiling it.
//!
//! So a catalogue knows the purposes of many files at little cost.
//! Deliberately absent: the meaning of keys, which the layers that read them know.

use super::ast::{ColumnDecl, InputKind, Item, RelationDecl, RelationKind};
use super::limits;
use super::program::{Meta, Source, Span};
use super::syntax;

/// The `.meta` lines of a source, in text order. Mistakes are left for [`compile`](super::compile)
/// to report; spans are as if the source were the only one.
pub fn metas(source: &Source) -> Vec<Meta> {
    if !source.text.contains(".meta") || source.text.len() > limits::FILE_BYTES {
        return Vec::new();
    }
    let file = syntax::parse(0, head_with_metas(&source.text), &mut Vec::new());
    let meta = |it| match it {
        Item::Meta { key, value, span } => {
            Some(Meta { key: key.text.to_string(), value: value.text.to_string(), span })
        }
        _ => None,
    };
    file.items.into_iter().filter_map(meta).collect()
}

/// The text up to the end of the value of its last `.meta`. Most files have these lines at their head, so most of the
/// text need not be parsed.
fn head_with_metas(text: &str) -> &str {
    let end = text.rfind(".meta").and_then(|last| {
        let open = last + opening_quote(&text[last..])? + 1;
        Some(open + text[open..].find('"')? + 1)
    });
    &text[..end.unwrap_or(text.len())]
}

/// The place of the first quotation mark that is not in a comment.
fn opening_quote(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find(['"', '%'])?;
        if text[at..].starts_with('"') {
            return Some(at);
        }
        from = at + text[at..].find('\n')?;
    }
}

/// The text up to the end of its last `.input` or `.export`. Lines that continue a declaration are indented.
fn head_with_inputs(text: &str) -> &str {
    let last = text.rfind(".input").max(text.rfind(".export")).unwrap_or(0);
    let starts = text[last..].match_indices('\n').map(|(at, _)| last + at + 1);
    let mut flush = starts.filter(|&at| text[at..].starts_with(|it: char| !it.is_whitespace()));
    &text[..flush.next().unwrap_or(text.len())]
}

/// An `.input` of a file, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputHead {
    pub relation: String,
    pub attribute: String,
    /// Whether the file exports it, so that other presets may use it.
    pub exported: bool,
    /// Whether its facts are about entities, not about the game or the members of a domain.
    pub of_entities: bool,
    /// The domain whose members its facts are about, if any.
    pub of: Option<String>,
    /// The columns as `(name, type)`; a column without a name has that of its type, in lower case.
    pub columns: Vec<(String, String)>,
    pub span: Span,
}

/// The `.input` declarations of a source, in text order. Mistakes are left for
/// [`compile`](super::compile) to report.
pub fn inputs(source: &Source) -> Vec<InputHead> {
    if !source.text.contains(".input") || source.text.len() > limits::FILE_BYTES {
        return Vec::new();
    }
    let items = syntax::parse(0, head_with_inputs(&source.text), &mut Vec::new()).items;
    let exported: Vec<&str> = items.iter().flat_map(exported_names).collect();
    let column = |it: &ColumnDecl<'_>| {
        let ty = it.ty.text.to_string();
        (it.name.map_or_else(|| ty.to_lowercase(), |it| it.text.to_string()), ty)
    };
    let mut heads = Vec::new();
    for item in &items {
        let Item::Relation(RelationDecl { name, columns, kind, .. }) = item else { continue };
        let RelationKind::Input(input) = kind else { continue };
        heads.push(InputHead {
            relation: name.text.to_string(),
            attribute: input.attr.text.to_string(),
            exported: exported.contains(&name.text),
            of_entities: matches!(input.kind, InputKind::Key | InputKind::Flag | InputKind::List),
            of: input.of.map(|it| it.text.to_string()),
            columns: columns.iter().map(column).collect(),
            span: name.span,
        });
    }
    heads
}

/// The names that an item exports.
fn exported_names<'t>(item: &Item<'t>) -> impl Iterator<Item = &'t str> {
    let names = if let Item::Export(names) = item { names.as_slice() } else { &[] };
    names.iter().map(|it| it.text)
}

#[cfg(test)]
mod tests {
    use super::{Source, metas};

    #[test]
    fn a_comment_with_quotes_may_precede_a_value() {
        let text = ".meta a \"net\"\n.meta include % the \"core\"\n\"%a.dl\"\na(3).";
        let values = metas(&Source { path: "a.dl".into(), text: text.into() });
        let values: Vec<_> = values.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(values, ["net", "%a.dl"]);
    }
}
