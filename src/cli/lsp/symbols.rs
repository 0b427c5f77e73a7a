//! Names in rule text: their meaning, their places, and completion.

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, Position, Range};

use crate::facts::Shape;
use crate::rules::{Program, Span, kind, meaning, signature};

/// Maximum number of members of a domain that are named.
const MAX_NAMED: usize = 40;

/// The meaning of a name.
pub(super) struct Symbol {
    /// A description, as Markdown.
    pub(super) about: String,
    pub(super) declared: Option<Span>,
    /// For a relation, the rules that conclude it.
    pub(super) rules: Vec<Span>,
}

impl Symbol {
    /// The meaning of a name in a file of a program. With an apostrophe the name is that of a member; without, that of
    /// a relation, an event, a stage, a domain, or a member in a declaration.
    pub(super) fn find(program: &Program, source: u16, name: &str) -> Option<Self> {
        if let Some(member) = name.strip_prefix('\'') {
            return Self::of_member(program, member);
        }
        // A relation may be called by an earlier name.
        let relation = program.relation_in(source, name).or_else(|| program.relation_known(name));
        if let Some(rel) = relation {
            let relation = program.relation(rel);
            let head = signature(program, &relation.name, &relation.columns);
            let mut about = format!("```\n{head}\n```\n{}", kind(program, relation));
            for (sentence, prefix) in [(&relation.sentence, ""), (&relation.denial, "else: ")] {
                if !sentence.is_empty() {
                    about.push_str(&format!("\n\n{prefix}{}", meaning(sentence)));
                }
            }
            let rules = relation.rules.iter().map(|&it| program.rule(it).span).collect();
            return Some(Self { about, declared: Some(relation.span), rules });
        }
        if let Some(event) = program.event_in(source, name) {
            let event = program.event(event);
            let head = signature(program, &event.name, &event.columns);
            let about = format!("```\n{head}\n```\nevent\n\n{}", meaning(&event.sentence));
            return Some(Self { about, declared: Some(event.span), rules: Vec::new() });
        }
        let stages = program.stages.iter();
        let stages = stages.filter(|it| program.name_in(source, &it.name) == Some(name));
        // If two have the name, here and of domains, the preset's or game's own is meant: its full name is longer.
        if let Some(stage) = stages.max_by_key(|it| it.name.len()) {
            let about = format!("`{name}`: a stage of reactions");
            return Some(Self { about, declared: Some(stage.span), rules: Vec::new() });
        }
        Self::of_domain(program, source, name).or_else(|| Self::of_member(program, name))
    }

    fn of_domain(program: &Program, source: u16, name: &str) -> Option<Self> {
        let domains = program.schema.domains().iter();
        let called = domains.filter(|it| program.name_in(source, &it.name) == Some(name));
        let domain = called.max_by_key(|it| it.name.len())?;
        let members = match &domain.shape {
            Shape::Members(names) => match names.get(..MAX_NAMED) {
                Some(first) if names.len() > MAX_NAMED => format!("{}, ...", first.join(", ")),
                _ => names.join(", "),
            },
            Shape::Grid { files, ranks } => format!("a board of {files} files and {ranks} ranks"),
            Shape::Entities { cap } => format!("entities, at most {cap}"),
        };
        let about = format!("`{name}`: a domain\n\n{members}");
        Some(Self { about, declared: None, rules: Vec::new() })
    }

    fn of_member(program: &Program, name: &str) -> Option<Self> {
        let has_it =
            |shape: &Shape| matches!(shape, Shape::Members(all) if all.iter().any(|it| it == name));
        let domains = program.schema.domains().iter().filter(|it| has_it(&it.shape));
        let domains: Vec<String> = domains.map(|it| format!("`{}`", it.name)).collect();
        let about = format!("`{name}`: a member of {}", domains.join(", "));
        (!domains.is_empty()).then_some(Self { about, declared: None, rules: Vec::new() })
    }
}

/// The names of relations, events, stages, domains and members that a file may use. Names of other presets are among
/// them only if they are exported.
pub(super) fn completions(program: &Program, source: u16) -> Vec<CompletionItem> {
    let item = |label: &str, kind, detail: String, sentence: &str| CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail: Some(detail),
        documentation: (!sentence.is_empty()).then(|| Documentation::String(sentence.to_owned())),
        ..CompletionItem::default()
    };
    let relations = program.nameable().filter_map(|it| {
        let name = program.name_in(source, &it.name)?;
        let head = signature(program, name, &it.columns);
        Some(item(name, CompletionItemKind::FUNCTION, head, &it.sentence))
    });
    // Internal names of the engine contain a space, so that no rule can use them.
    let events = program.events.iter().filter(|it| !it.name.contains(' ')).filter_map(|it| {
        let name = program.name_in(source, &it.name)?;
        let head = signature(program, name, &it.columns);
        Some(item(name, CompletionItemKind::EVENT, head, &it.sentence))
    });
    let stages = program.stages.iter().filter_map(|it| {
        let name = program.name_in(source, &it.name)?;
        Some(item(name, CompletionItemKind::CONSTANT, "stage".into(), ""))
    });
    let mut items: Vec<CompletionItem> = relations.chain(events).chain(stages).collect();
    for domain in program.schema.domains() {
        let Some(name) = program.name_in(source, &domain.name) else { continue };
        items.push(item(name, CompletionItemKind::ENUM, "domain".into(), ""));
        if let Shape::Members(members) = &domain.shape {
            let of = format!("of {name}");
            let member = |it: &String| item(it, CompletionItemKind::ENUM_MEMBER, of.clone(), "");
            items.extend(members.iter().map(member));
        }
    }
    items
}

/// The name at a place in a text, or right before it; for a member, with the apostrophe.
pub(super) fn name_at(text: &str, at: usize) -> Option<&str> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let whole = around(text, at, |it| is_part(it) || it == '-' || it == '\'')?;
    match whole.strip_prefix('\'') {
        Some(member) if !member.contains('\'') => Some(whole),
        _ => around(text, at, is_part),
    }
}

/// The run of matching characters around a place.
fn around(text: &str, at: usize, is_part: impl Fn(char) -> bool) -> Option<&str> {
    let start = text.get(..at)?.trim_end_matches(&is_part).len();
    let rest = &text[start..];
    let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// The byte offset of an editor's position, which counts lines and UTF-16 units.
pub(super) fn offset(text: &str, position: Position) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(position.line as usize).map(str::len).sum();
    let line = text.get(before..).and_then(|it| it.lines().next()).unwrap_or_default();
    let mut units = 0;
    for (at, letter) in line.char_indices() {
        if units >= position.character as usize {
            return before + at;
        }
        units += letter.len_utf16();
    }
    before + line.len()
}

/// The editor's position of a byte offset.
fn position(text: &str, at: usize) -> Position {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    let line = before.bytes().filter(|it| *it == b'\n').count();
    let character = before[start..].encode_utf16().count();
    let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    Position { line: count(line), character: count(character) }
}

/// The editor's range of a part of a text.
pub(super) fn range(text: &str, start: u32, end: u32) -> Range {
    Range { start: position(text, start as usize), end: position(text, end as usize) }
}
