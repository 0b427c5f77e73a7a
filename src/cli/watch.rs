//! Doing something again whenever rule files change: `--watch`, and the rules that a server offers.
//!
//! Folders are watched, since editors put a new file in the place of the old one. What counts is the texts:
//! a file that is touched, or read, has not changed.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use notify_debouncer_mini::notify::{self, RecommendedWatcher, RecursiveMode};
use notify_debouncer_mini::{DebounceEventResult, Debouncer, new_debouncer};

use super::Verdict;
use super::output::{OrFix, Out, report};
use crate::presets::load_with_included;
use crate::rules::Source;

/// How long nothing may change before a change is taken to be over.
const QUIET: Duration = Duration::from_millis(100);

/// Rule files with what tells when they change.
pub(crate) struct Watched {
    paths: Vec<PathBuf>,
    /// The texts as they were last; none where they could not be read.
    texts: Option<Vec<Source>>,
    changes: Receiver<DebounceEventResult>,
    /// Tells as long as it lives.
    _debouncer: Debouncer<RecommendedWatcher>,
}

impl Watched {
    /// # Errors
    /// A path that is not there, or a system that cannot watch it.
    pub(crate) fn new(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let (sender, changes) = channel();
        let fix = "name rule files (.dl) that are there, or folders of them";
        let watch = || -> notify::Result<_> {
            let mut debouncer = new_debouncer(QUIET, sender)?;
            for path in paths {
                debouncer.watcher().watch(folder(path), RecursiveMode::Recursive)?;
            }
            Ok(debouncer)
        };
        let debouncer = watch().or_fix(fix)?;
        Ok(Self { paths: paths.to_vec(), texts: read(paths), changes, _debouncer: debouncer })
    }

    /// Waits until the texts are others than before.
    ///
    /// # Errors
    /// The system tells no more of changes.
    pub(crate) fn changed(&mut self) -> anyhow::Result<()> {
        loop {
            let fix = "start again";
            self.changes.recv().or_fix(fix)?.or_fix(fix)?;
            let texts = read(&self.paths);
            if texts != self.texts {
                self.texts = texts;
                return Ok(());
            }
        }
    }
}

/// Does something now, and again whenever files change, until the process is stopped. What goes wrong is
/// told, and may be right after the next change.
pub(crate) fn again_and_again(
    paths: &[PathBuf],
    out: &mut Out,
    mut act: impl FnMut(&mut Out) -> anyhow::Result<Verdict>,
) -> anyhow::Result<Verdict> {
    let mut watched = Watched::new(paths)?;
    loop {
        if let Err(why) = act(out) {
            report(&why);
        }
        out.flush()?;
        eprintln!("waiting for the files to change; stop with Ctrl-C");
        watched.changed()?;
    }
}

/// What is watched for a path: the folder that a file stands in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !path.is_dir() && parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) if !path.is_dir() => parent,
        _ => path,
    }
}

fn read(paths: &[PathBuf]) -> Option<Vec<Source>> {
    let mut all = Vec::new();
    for path in paths {
        let (named, included) = load_with_included(path).ok()?;
        all.extend(named.into_iter().chain(included));
    }
    Some(all)
}
