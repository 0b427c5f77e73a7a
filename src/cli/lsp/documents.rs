//! Files that are open in the editor, and their diagnostics.
//!
//! A file is checked as `rulemate check` does: with the rules of this package, and with the other rule files
//! of its folder (of the folder `rules` around it, if there is one), as the editor has them.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{
    CompletionResponse, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    GotoDefinitionResponse, Hover, HoverContents, Location, MarkupContent, MarkupKind,
    NumberOrString, Position, PublishDiagnosticsParams, Range, Uri,
};

use super::symbols::{Symbol, completions, name_at, offset, range};
use super::{path_of, uri_of};
use crate::cli::args::RulesArgs;
use crate::cli::check::{CheckedFile, Fault, GoOn, check, fault};
use crate::cli::{setup, user_folder};
use crate::presets::{at_its_place, unknown_keys};
use crate::rules::{self, Diagnostics, EMBEDDED, Label, Program, Source, Span, with_line_feeds};

/// Maximum number of entries of folders that are searched for the rule files around a file, which may be in a home
/// folder.
const MAX_ENTRIES: usize = 4_096;

#[derive(Default)]
pub(super) struct Documents {
    /// By URI.
    open: BTreeMap<String, Document>,
}

struct Document {
    uri: Uri,
    path: PathBuf,
    text: String,
    /// How far it was checked since it, or another file that is open, was changed.
    checked: Checked,
    /// What the editor was told last.
    told: Vec<Diagnostic>,
    /// The last program without mistakes that the file was part of.
    program: Option<Arc<Program>>,
    /// The rule files around the file at the last check, by their paths as rule files.
    files: BTreeMap<String, PathBuf>,
}

/// How far a file is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checked {
    No,
    /// With the first of the programs that it is part of.
    Once,
    Wholly,
}

impl Documents {
    /// Records the text of a file that was opened or changed.
    pub(super) fn update(&mut self, uri: Uri, text: String) {
        let Some(path) = path_of(&uri) else { return };
        let known = self.open.entry(uri.as_str().to_owned());
        let document = known.or_insert_with(|| Document {
            uri,
            path,
            text: String::new(),
            checked: Checked::No,
            told: Vec::new(),
            program: None,
            files: BTreeMap::new(),
        });
        document.text = with_line_feeds(text);
        // The other files may build on this one.
        self.open.values_mut().for_each(|it| it.checked = Checked::No);
    }

    /// Removes a file that was closed, and its diagnostics.
    pub(super) fn close(&mut self, uri: &Uri) -> Option<PublishDiagnosticsParams> {
        let closed = self.open.remove(uri.as_str())?;
        // The other files are checked with the text on disk again.
        self.open.values_mut().for_each(|it| it.checked = Checked::No);
        Some(PublishDiagnosticsParams::new(closed.uri, Vec::new(), None))
    }

    /// The name of the file to check next: first those that were not checked at all since the last change. `None` if all
    /// are checked.
    pub(super) fn next_to_check(&self) -> Option<String> {
        let so_far = |wanted: Checked| self.open.iter().find(move |it| it.1.checked == wanted);
        so_far(Checked::No).or_else(|| so_far(Checked::Once)).map(|it| it.0.clone())
    }

    /// Checks a file with the first of the programs that it is part of; if that was done, with all of them, as long as
    /// `is_idle`. Returns its diagnostics if the editor has to be told.
    pub(super) fn check_further(
        &mut self,
        name: &str,
        is_idle: &dyn Fn() -> bool,
    ) -> Option<PublishDiagnosticsParams> {
        let is_first = self.open.get(name)?.checked == Checked::No;
        let mut checked = Checked::Wholly;
        let found = self.check(name, &mut || {
            let goes_on = !is_first && is_idle();
            if !goes_on {
                checked = Checked::Once;
            }
            goes_on
        });
        let document = self.open.get_mut(name)?;
        document.checked = checked;
        let is_news = is_first || checked == Checked::Wholly && found != document.told;
        is_news.then(|| {
            document.told.clone_from(&found);
            PublishDiagnosticsParams::new(document.uri.clone(), found, None)
        })
    }

    /// The diagnostics of a file.
    fn check(&mut self, name: &str, go_on: GoOn<'_>) -> Vec<Diagnostic> {
        let Some(document) = self.open.get(name) else { return Vec::new() };
        let mut sources = Vec::new();
        let mut files = BTreeMap::new();
        let mut own = None;
        for (path, text) in self.around(&document.path) {
            let path_text = path.to_string_lossy().replace('\\', "/");
            let source = at_its_place(Source { path: path_text, text: text.into() });
            if path == document.path {
                own = Some(source.clone());
            }
            files.insert(source.path.clone(), path);
            sources.push(source);
        }
        let Some(own) = own else { return Vec::new() };
        let found = findings(sources, &own, go_on);
        let Some(document) = self.open.get_mut(name) else { return Vec::new() };
        document.files = files;
        match found {
            Ok(CheckedFile { program, notes }) => {
                document.program = program.or(document.program.take());
                let note = |it: &String| plain(it, DiagnosticSeverity::INFORMATION);
                notes.iter().map(note).collect()
            }
            Err(Fault::Other(message)) => vec![plain(&message, DiagnosticSeverity::ERROR)],
            Err(Fault::Rules(found)) => {
                let mistakes =
                    found.list().iter().map(|it| document.convert(&found, it, &own.path));
                let notes = unknown_keys(&own).into_iter();
                mistakes
                    .chain(notes.map(|it| plain(&it, DiagnosticSeverity::INFORMATION)))
                    .collect()
            }
        }
    }

    /// The rule files around a file, and the file itself, as the editor has them.
    fn around(&self, path: &Path) -> BTreeMap<PathBuf, String> {
        let own = path.parent().unwrap_or(path);
        let rules = own.ancestors().find(|it| it.file_name().is_some_and(|it| it == "rules"));
        let mut found = below(rules.unwrap_or(own));
        for open in self.open.values() {
            if open.path == path || found.contains_key(&open.path) {
                found.insert(open.path.clone(), open.text.clone());
            }
        }
        found
    }

    pub(super) fn hover(&self, uri: &Uri, at: Position) -> Option<Hover> {
        let (document, symbol) = self.symbol(uri, at)?;
        let mut value = symbol.about;
        if let (Some(span), Some(program)) = (symbol.declared, &document.program) {
            value.push_str(&format!("\n\n{}", program.place(span)));
        }
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: None })
    }

    pub(super) fn definition(&self, uri: &Uri, at: Position) -> Option<GotoDefinitionResponse> {
        let (document, symbol) = self.symbol(uri, at)?;
        document.location(symbol.declared?).map(GotoDefinitionResponse::Scalar)
    }

    /// The rules that conclude a relation.
    pub(super) fn rules(&self, uri: &Uri, at: Position) -> Option<GotoDefinitionResponse> {
        let (document, symbol) = self.symbol(uri, at)?;
        let places = symbol.rules.iter().filter_map(|&it| document.location(it));
        Some(GotoDefinitionResponse::Array(places.collect()))
    }

    pub(super) fn completion(&self, uri: &Uri) -> Option<CompletionResponse> {
        let document = self.open.get(uri.as_str())?;
        let program = document.program.as_ref()?;
        Some(CompletionResponse::Array(completions(program, document.number(program))))
    }

    fn symbol(&self, uri: &Uri, at: Position) -> Option<(&Document, Symbol)> {
        let document = self.open.get(uri.as_str())?;
        let name = name_at(&document.text, offset(&document.text, at))?;
        let program = document.program.as_ref()?;
        Some((document, Symbol::find(program, document.number(program), name)?))
    }
}

/// The rule files among the first [`MAX_ENTRIES`] entries below a folder, the nearest first. Hidden folders and files that
/// cannot be read are left out.
fn below(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = VecDeque::from([folder.to_path_buf()]);
    let mut left = MAX_ENTRIES;
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            if left == 0 {
                return found;
            }
            left -= 1;
            let path = entry.path();
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            // A link to a folder may lead back to where it is.
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                folders.extend((!is_hidden).then_some(path));
            } else if path.extension().is_some_and(|it| it == "dl")
                && path.is_file()
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                found.insert(path, with_line_feeds(text));
            }
        }
    }
    found
}

/// The result of `check` for one of these files, together with the others.
fn findings(sources: Vec<Source>, own: &Source, go_on: GoOn<'_>) -> Result<CheckedFile, Fault> {
    let catalogue = setup::catalogue(&RulesArgs::default());
    let mut catalogue = catalogue.map_err(|it| Fault::Other(it.to_string()))?;
    for source in sources {
        let is_own = source.path == own.path;
        // A clash in another file is reported there.
        if let Err(clash) = catalogue.add(source)
            && is_own
        {
            return Err(fault(own, clash.to_string()));
        }
    }
    check(&catalogue, own, go_on)
}

/// A diagnostic without a place in the text.
fn plain(message: &str, severity: DiagnosticSeverity) -> Diagnostic {
    Diagnostic {
        severity: Some(severity),
        message: message.to_owned(),
        ..diagnostic_at(Range::default())
    }
}

fn diagnostic_at(range: Range) -> Diagnostic {
    Diagnostic { range, source: Some("rulemate".into()), ..Diagnostic::default() }
}

impl Document {
    /// A diagnostic as the editor shows it; one about another file is put on the first line, with its place.
    fn convert(&self, all: &Diagnostics, found: &rules::Diagnostic, own: &str) -> Diagnostic {
        let mut message = found.message.clone();
        let mut at = Range::default();
        let mut labels = found.labels.iter();
        if let Some(label) = labels.next() {
            let place = all.place(label);
            if place.file == own {
                at = range(&self.text, place.start, place.end);
            } else {
                message = format!("{}:{}: {message}", place.file, place.line);
            }
            if !label.text.is_empty() && label.text != found.message {
                message.push_str(&format!(": {}", label.text));
            }
        }
        let related: Vec<_> = labels.filter_map(|it| self.related(all, it)).collect();
        let more = found.notes.iter().map(|it| format!("\nnote: {it}"));
        message.extend(more.chain(found.help.iter().map(|it| format!("\nhelp: {it}"))));
        Diagnostic {
            severity: Some(DiagnosticSeverity::ERROR),
            code: Some(NumberOrString::String(found.code.into())),
            message,
            related_information: (!related.is_empty()).then_some(related),
            ..diagnostic_at(at)
        }
    }

    /// The number of the file in a program; a number that no file has if the file is not part of it.
    fn number(&self, program: &Program) -> u16 {
        let is_own = |it: &Source| self.files.get(&it.path) == Some(&self.path);
        let at = program.sources.iter().position(is_own);
        at.and_then(|it| u16::try_from(it).ok()).unwrap_or(u16::MAX)
    }

    /// A place that explains a mistake.
    fn related(&self, all: &Diagnostics, label: &Label) -> Option<DiagnosticRelatedInformation> {
        let source = all.sources().get(usize::from(label.span.source))?;
        let location = self.place(source, label.span)?;
        Some(DiagnosticRelatedInformation { location, message: label.text.clone() })
    }

    /// The location of a span of the last program.
    fn location(&self, span: Span) -> Option<Location> {
        let program = self.program.as_ref()?;
        self.place(program.sources.get(usize::from(span.source))?, span)
    }

    fn place(&self, source: &Source, span: Span) -> Option<Location> {
        let path = self.files.get(&source.path).cloned().or_else(|| write_to_cache(source))?;
        Some(Location { uri: uri_of(&path)?, range: range(&source.text, span.start, span.end) })
    }
}

/// Writes an embedded file to the user's cache, so that an editor can open it.
fn write_to_cache(source: &Source) -> Option<PathBuf> {
    if !EMBEDDED.iter().any(|(path, _)| *path == source.path) {
        return None;
    }
    let cache = user_folder("XDG_CACHE_HOME", ".cache")?;
    let path = cache.join(env!("CARGO_PKG_VERSION")).join(&source.path);
    if std::fs::read(&path).ok().as_deref() != Some(source.text.as_bytes()) {
        std::fs::create_dir_all(path.parent()?).ok()?;
        std::fs::write(&path, source.text.as_bytes()).ok()?;
    }
    Some(path)
}
