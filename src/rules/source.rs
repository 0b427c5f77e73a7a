//! Rule text: its sources (the files of this package, or a folder), and places in it.
//!
//! Deliberately absent: which files make up a game, and their names: `rules/embedded.rs` lists them.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::limits::FILE_BYTES;

#[path = "../../rules/embedded.rs"]
mod embedded;

pub use embedded::EMBEDDED;

/// A file of rule text: the path that diagnostics and proofs show, and the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path of the text, such as `rules/chess/moves.dl`; included files are looked up relative to it.
    pub path: String,
    /// Shared: many programs are made of the same files.
    pub text: Arc<str>,
}

/// A place in a source: byte offsets into its text, and the 1-based line for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The number of the source among those of its program.
    pub source: u16,
    /// Where it begins.
    pub start: u32,
    /// Where it ends (exclusive).
    pub end: u32,
    /// The line on which it begins.
    pub line: u32,
}

impl Source {
    /// The hash of the text (blake3, in hexadecimal), by which saves identify rules.
    pub fn hash(&self) -> String {
        blake3::hash(self.text.as_bytes()).to_hex().to_string()
    }
}

/// The text of a template of `rules/templates`, by its file's name without `.dl.in`. Empty if there is none.
pub(crate) fn template(name: &str) -> &'static str {
    embedded::TEMPLATES.iter().find(|it| it.0 == name).map_or("", |it| it.1)
}

/// The paths at which an included file may be: its name is relative to the folder of the including file, to
/// `rules/modules` or to `rules`. `None` if the name leads out of these.
pub fn included(from: &str, name: &str) -> Option<[String; 3]> {
    let is_plain = |it: &str| !it.is_empty() && !matches!(it, "." | "..");
    if name.contains(['\\', ':']) || !name.split('/').all(is_plain) {
        return None;
    }
    let own = match from.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.to_owned(),
    };
    Some([own, format!("rules/modules/{name}"), format!("rules/{name}")])
}

/// The embedded files of these paths, in the given order; unknown paths are left out.
pub fn embedded_sources(paths: &[&str]) -> Vec<Source> {
    paths
        .iter()
        .filter_map(|path| EMBEDDED.iter().find(|it| it.0 == *path))
        .map(|(path, text)| Source { path: (*path).to_string(), text: (*text).into() })
        .collect()
}

/// The embedded files of a folder such as `rules/core`, by name.
pub fn embedded_folder(folder: &str) -> Vec<Source> {
    let inside = |path: &str| {
        path.strip_prefix(folder)
            .and_then(|it| it.strip_prefix('/'))
            .is_some_and(|it| !it.contains('/'))
    };
    let paths: Vec<&str> = EMBEDDED.iter().map(|it| it.0).filter(|it| inside(it)).collect();
    embedded_sources(&paths)
}

/// All `.dl` files below a folder on disk, by path. Paths keep the folder as it is given. A folder that links lead to as
/// well is read once.
///
/// # Errors
/// A folder or file that cannot be read, or is not UTF-8.
pub fn load_folder(folder: &Path) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    let mut known = HashSet::new();
    while let Some(folder) = folders.pop() {
        if !known.insert(folder.canonicalize().map_err(|it| named(&folder, &it))?) {
            continue;
        }
        for entry in std::fs::read_dir(&folder).map_err(|it| named(&folder, &it))? {
            let path = entry?.path();
            if path.is_dir() {
                // Links last, so that files are called by the paths without them.
                let at = if path.is_symlink() { 0 } else { folders.len() };
                folders.insert(at, path);
            } else if path.extension().is_some_and(|it| it == "dl") {
                sources.push(load_file(&path).map_err(|it| named(&path, &it))?);
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn named(path: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{}: {why}", path.display()))
}

/// A rule file on disk, or all below a folder.
///
/// # Errors
/// A folder or file that cannot be read, or is not UTF-8.
pub fn load_path(path: &Path) -> io::Result<Vec<Source>> {
    if path.is_dir() { load_folder(path) } else { load_file(path).map(|it| vec![it]) }
}

/// One rule file on disk.
///
/// # Errors
/// A file that cannot be read, is too large, or is not UTF-8.
fn load_file(path: &Path) -> io::Result<Source> {
    let mut bytes = Vec::new();
    // A device may be without end.
    File::open(path)?.take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > FILE_BYTES {
        let why = format!("a file may have {FILE_BYTES} bytes, this one has more");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8: save it as UTF-8")
    })?;
    // Some editors put a byte order mark in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = with_line_feeds(text.to_owned());
    Ok(Source { path: path.to_string_lossy().replace('\\', "/"), text: text.into() })
}

/// A text in which every line ends with a line feed: a carriage return alone, which some editors write, becomes one.
pub fn with_line_feeds(text: String) -> String {
    if !text.contains('\r') {
        return text;
    }
    let mut rest = text.chars().peekable();
    let mut lines = String::with_capacity(text.len());
    while let Some(letter) = rest.next() {
        let is_end = letter == '\r' && rest.peek() != Some(&'\n');
        lines.push(if is_end { '\n' } else { letter });
    }
    lines
}
