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
use crate::cli::check::{CheckedFile, Fault, check};
use crate::cli::setup;
use crate::presets::at_its_place;
use crate::rules::{Diagnostics, EMBEDDED, Label, Program, Source, Span};

/// Maximum number of entries of folders that are looked at for the rule files around one: it may be in a home folder.
const AROUND: usize = 4_096;

#[derive(Default)]
pub(super) struct Documents {
    /// By URI.
    open: BTreeMap<String, Document>,
}

struct Document {
    uri: Uri,
    path: PathBuf,
    text: String,
    changed: bool,
    /// The last program without mistakes that it was part of.
    program: Option<Arc<Program>>,
    /// The files of that program that are on disk, by their paths as rule files.
    files: BTreeMap<String, PathBuf>,
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
            changed: true,
            program: None,
            files: BTreeMap::new(),
        });
        document.text = text;
        // The other files may build on it.
        self.open.values_mut().for_each(|it| it.changed = true);
    }

    /// Removes a file that was closed, and its diagnostics.
    pub(super) fn close(&mut self, uri: &Uri) -> Option<PublishDiagnosticsParams> {
        let closed = self.open.remove(uri.as_str())?;
        // For the other files, its text is again the one on disk.
        self.open.values_mut().for_each(|it| it.changed = true);
        Some(PublishDiagnosticsParams::new(closed.uri, Vec::new(), None))
    }

    /// The diagnostics of files that have changed, or that depend on changed ones.
    pub(super) fn check_changed(&mut self) -> Vec<PublishDiagnosticsParams> {
        let changed = |it: &&Document| it.changed;
        let names: Vec<String> =
            self.open.values().filter(changed).map(|it| it.uri.as_str().to_owned()).collect();
        names.iter().filter_map(|it| self.check(it)).collect()
    }

    fn check(&mut self, name: &str) -> Option<PublishDiagnosticsParams> {
        let document = self.open.get(name)?;
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
        let own = own?;
        let found = findings(sources, &own);
        let document = self.open.get_mut(name)?;
        document.changed = false;
        document.files = files;
        let diagnostics = match found {
            Ok(CheckedFile { program, notes }) => {
                document.program = program.or(document.program.take());
                let note = |it: &String| plain(it, DiagnosticSeverity::INFORMATION);
                notes.iter().map(note).collect()
            }
            Err(Fault::Other(message)) => vec![plain(&message, DiagnosticSeverity::ERROR)],
            Err(Fault::Rules(found)) => {
                found.list().iter().map(|it| document.convert(&found, it, &own.path)).collect()
            }
        };
        Some(PublishDiagnosticsParams::new(document.uri.clone(), diagnostics, None))
    }

    /// The rule files around a file and itself, as the editor has them.
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

/// The rule files below a folder, the nearest first, in [`AROUND`] entries. What is hidden or cannot be read is left out.
fn below(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = VecDeque::from([folder.to_path_buf()]);
    let mut left = AROUND;
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
                found.insert(path, text);
            }
        }
    }
    found
}

/// The result of `check` for a file among others.
fn findings(sources: Vec<Source>, own: &Source) -> Result<CheckedFile, Fault> {
    let other = |why: &dyn std::fmt::Display| Fault::Other(why.to_string());
    let mut catalogue = setup::catalogue(&RulesArgs::default()).map_err(|it| other(&it))?;
    for source in sources {
        let is_own = source.path == own.path;
        // A clash in another file is reported there.
        if let Err(clash) = catalogue.add(source)
            && is_own
        {
            return Err(other(&clash));
        }
    }
    check(&catalogue, own)
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
    /// A diagnostic as the editor shows it; one in another file is put on the first line, with its place.
    fn convert(&self, all: &Diagnostics, it: &crate::rules::Diagnostic, own: &str) -> Diagnostic {
        let mut message = it.message.clone();
        let mut related = Vec::new();
        let mut at = Range::default();
        for (number, label) in it.labels.iter().enumerate() {
            let place = all.place(label);
            match number {
                0 if place.file == own => at = range(&self.text, place.start, place.end),
                0 => message = format!("{}:{}: {message}", place.file, place.line),
                _ => related.extend(self.related(all, label)),
            }
            if number == 0 && !label.text.is_empty() && label.text != it.message {
                message.push_str(&format!(": {}", label.text));
            }
        }
        let more = it.notes.iter().map(|it| format!("\nnote: {it}"));
        message.extend(more.chain(it.help.iter().map(|it| format!("\nhelp: {it}"))));
        Diagnostic {
            severity: Some(DiagnosticSeverity::ERROR),
            code: Some(NumberOrString::String(it.code.into())),
            message,
            related_information: (!related.is_empty()).then_some(related),
            ..diagnostic_at(at)
        }
    }

    /// The number of the file in a program; if it is not part of it, a number that no file has.
    fn number(&self, program: &Program) -> u16 {
        let is_it = |it: &Source| self.files.get(&it.path) == Some(&self.path);
        let at = program.sources.iter().position(is_it);
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
    let is_embedded = EMBEDDED.iter().any(|(path, _)| *path == source.path);
    let home = || std::env::var_os("HOME").map(|it| Path::new(&it).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?;
    let path = cache.join("rulemate").join(env!("CARGO_PKG_VERSION")).join(&source.path);
    if !is_embedded {
        return None;
    }
    if std::fs::read(&path).ok().as_deref() != Some(source.text.as_bytes()) {
        std::fs::create_dir_all(path.parent()?).ok()?;
        std::fs::write(&path, source.text.as_bytes()).ok()?;
    }
    Some(path)
}
