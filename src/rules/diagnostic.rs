//! Diagnostics of rule text, as data and as text for people.
//!
//! Deliberately absent: the wording of each kind of mistake, which is in `mistake`.

use std::borrow::Cow;

use ariadne::{CharSet, Config, IndexType, Label as ReportLabel, Report, ReportKind, sources};
use serde::Serialize;

use super::limits;
use super::source::{Source, Span};
use crate::facts::{masked, printable};

/// A place with a message about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The message.
    pub text: String,
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable: `E...` for mistakes, `L...` for limits.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The first label is the place of the mistake; the others are places that explain it.
    pub labels: Vec<Label>,
    /// Further information.
    pub notes: Vec<String>,
    /// How to put it right.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(super) fn new(
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Self {
        let label = Label { span, text: label.into() };
        Self { code, message: message.into(), labels: vec![label], notes: Vec::new(), help: None }
    }

    fn is_about_syntax(&self) -> bool {
        self.code.starts_with("E0")
    }

    pub(super) fn and(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    pub(super) fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub(super) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The place of the mistake.
    pub fn span(&self) -> Span {
        self.labels.first().map(|it| it.span).unwrap_or_default()
    }
}

/// The mistakes of a program, in text order, with the texts that they are about. Beyond a maximum number they
/// are only counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render(false))]
pub struct Diagnostics {
    sources: Vec<Source>,
    list: Vec<Diagnostic>,
    /// Number of further ones that were not kept.
    dropped: usize,
}

/// A place for editors. Line and column are 1-based; the column counts characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The path of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The place in the line, from 1.
    pub column: usize,
    /// Where it begins, in bytes from the start of the file.
    pub start: u32,
    /// Where it ends (exclusive).
    pub end: u32,
    /// The message about it.
    pub text: String,
}

#[derive(Serialize)]
struct Entry<'d> {
    code: &'static str,
    message: &'d str,
    #[serde(flatten)]
    place: Place,
    related: Vec<Place>,
    notes: &'d [String],
    help: Option<&'d str>,
}

impl Diagnostics {
    /// The same, with further information behind the last of them.
    #[cfg(feature = "bin")]
    pub(crate) fn with_note(mut self, text: String) -> Self {
        if let Some(last) = self.list.last_mut() {
            last.notes.push(text);
        }
        self
    }

    /// Those about text that cannot be read, if there are any.
    #[cfg(feature = "bin")]
    pub(crate) fn unread(mut self) -> Option<Self> {
        self.list.retain(Diagnostic::is_about_syntax);
        (!self.list.is_empty()).then_some(Self { dropped: 0, ..self })
    }

    /// Whether some of the text cannot be read, so that what it declares is missing.
    pub fn has_unread(&self) -> bool {
        self.list.iter().any(Diagnostic::is_about_syntax)
    }

    /// What the program has too many of, in a sentence.
    pub fn limit(&self) -> Option<&str> {
        let found = self.list.iter().find(|it| limits::OF_NAMES.contains(&it.code));
        found.map(|it| it.message.as_str())
    }

    /// The names in a file that are not relations of the program, in text order.
    pub fn unknown_relations<'d>(&'d self, path: &'d str) -> impl Iterator<Item = &'d str> {
        let unknown = self.list.iter().filter(|it| it.code == "E201");
        let spans = unknown.filter_map(|it| it.labels.first()).map(|it| it.span);
        spans.filter_map(move |span| {
            let source = self.sources.get(usize::from(span.source))?;
            let text = source.text.get(span.start as usize..span.end as usize);
            text.filter(|_| source.path == path)
        })
    }

    pub(super) fn new(sources: Vec<Source>, mut list: Vec<Diagnostic>) -> Self {
        list.sort_by_key(|it| (it.span().source, it.span().start));
        list.dedup();
        let dropped = list.len().saturating_sub(limits::DIAGNOSTICS);
        list.truncate(limits::DIAGNOSTICS);
        Self { sources, list, dropped }
    }

    /// The mistakes.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// The texts that they are about.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Number of mistakes beyond those that are listed.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The place of a label.
    pub fn place(&self, label: &Label) -> Place {
        let Span { source, start, end, .. } = label.span;
        let (file, text) = match self.sources.get(usize::from(source)) {
            Some(it) => (it.path.clone(), &*it.text),
            None => (String::new(), ""),
        };
        let before = text.get(..start as usize).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Place { file, line, column, start, end, text: label.text.clone() }
    }

    /// The mistakes as JSON: an array of objects with `code`, `message`, `file`, `line`, `column`,
    /// `start`, `end`, `text`, `related`, `notes` and `help`.
    pub fn to_json(&self) -> serde_json::Value {
        let entries: Vec<Entry<'_>> = self.list.iter().map(|it| self.entry(it)).collect();
        serde_json::to_value(entries).unwrap_or_default()
    }

    fn entry<'d>(&self, diagnostic: &'d Diagnostic) -> Entry<'d> {
        let mut places = diagnostic.labels.iter().map(|it| self.place(it));
        let first = Label { span: Span::default(), text: String::new() };
        Entry {
            code: diagnostic.code,
            message: &diagnostic.message,
            place: places.next().unwrap_or_else(|| self.place(&first)),
            related: places.collect(),
            notes: &diagnostic.notes,
            help: diagnostic.help.as_deref(),
        }
    }

    /// The mistakes with the lines they are about.
    pub fn render(&self, color: bool) -> String {
        let mut out = Vec::new();
        let texts: Vec<(String, Cow<'_, str>)> =
            self.sources.iter().map(|it| (name_of(it), masked(&it.text))).collect();
        let mut cache = sources(texts);
        let mut dropped = self.dropped;
        for (at, diagnostic) in self.list.iter().enumerate() {
            // Each mistake is shown with its line, and one line may be as long as a file.
            if out.len() > limits::RENDERED {
                dropped += self.list.len() - at;
                break;
            }
            let report = self.report(diagnostic, color);
            if report.write(&mut cache, &mut out).is_err() {
                out.extend_from_slice(diagnostic.message.as_bytes());
            }
        }
        let mut text = String::from_utf8_lossy(&out).into_owned();
        if dropped > 0 {
            text.push_str(&format!("and {dropped} more\n"));
        }
        text.lines().map(|it| it.trim_end().to_string() + "\n").collect()
    }

    fn report<'r>(
        &self,
        diagnostic: &'r Diagnostic,
        color: bool,
    ) -> Report<'r, (String, std::ops::Range<usize>)> {
        let config = Config::default()
            .with_color(color)
            .with_index_type(IndexType::Byte)
            .with_char_set(if color { CharSet::Unicode } else { CharSet::Ascii });
        let mut report = Report::build(ReportKind::Error, self.range(diagnostic.span()))
            .with_config(config)
            .with_code(diagnostic.code)
            .with_message(printable(&diagnostic.message));
        let mut labels: Vec<&Label> = diagnostic.labels.iter().collect();
        let home = diagnostic.span().source;
        // The file of the mistake comes first. A file whose labels are not in text order is shown in several parts.
        labels.sort_by_key(|it| (it.span.source != home, it.span.source, it.span.start));
        for label in labels {
            report = report.with_label(
                ReportLabel::new(self.range(label.span)).with_message(printable(&label.text)),
            );
        }
        for note in &diagnostic.notes {
            report = report.with_note(printable(note));
        }
        if let Some(help) = &diagnostic.help {
            report = report.with_help(printable(help));
        }
        report.finish()
    }

    fn range(&self, span: Span) -> (String, std::ops::Range<usize>) {
        let path = self.sources.get(usize::from(span.source)).map(name_of);
        (path.unwrap_or_default(), span.start as usize..span.end as usize)
    }
}

/// The name of a file where its lines are shown.
fn name_of(source: &Source) -> String {
    printable(&source.path).into_owned()
}
