//! Watches rule files for changes: for `--watch`, and for the rules that a server offers.
//!
//! Folders are watched, since editors replace a file by a new one. A file has changed only if its text has, not if it
//! was touched or read. The files are also polled every two seconds, for changes that a system does not report, such as
//! a replaced folder.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Verdict;
use super::output::{OrFix, Out, report, say};
use crate::presets::load_with_included;
use crate::rules::Source;

/// Time without another change after which a change counts as complete.
const QUIET: Duration = Duration::from_millis(100);
/// Interval at which the files are polled if the system reports no change.
const POLL: Duration = Duration::from_secs(2);

/// Rule files, and the system's watcher, which reports when they change.
pub(crate) struct Watched {
    paths: Vec<PathBuf>,
    /// The texts when they were last read; `None` if they could not be read.
    texts: Option<Vec<Source>>,
    changes: Receiver<()>,
    watcher: RecommendedWatcher,
}

impl Watched {
    /// Watches these files and folders.
    ///
    /// # Errors
    /// There is no such path, or the system cannot watch it.
    pub(crate) fn new(paths: &[PathBuf]) -> anyhow::Result<Self> {
        let (sender, changes) = channel();
        let fix = "name rule files (.dl) that are there, or folders of them";
        let forward = move |event: notify::Result<Event>| {
            // Reading is not a change. Errors may be ignored, since files are polled as well.
            if event.is_ok_and(|it| !matches!(it.kind, EventKind::Access(_))) {
                // The receiver may be gone already.
                let _ = sender.send(());
            }
        };
        let mut watcher = notify::recommended_watcher(forward).or_fix(fix)?;
        for path in paths {
            watch(&mut watcher, path).or_fix(fix)?;
        }
        Ok(Self { paths: paths.to_vec(), texts: read(paths), changes, watcher })
    }

    /// Waits until a text has changed.
    pub(crate) fn wait_for_change(&mut self) {
        loop {
            match self.changes.recv_timeout(POLL) {
                Ok(()) => while self.changes.recv_timeout(QUIET).is_ok() {},
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(POLL),
            }
            let texts = read(&self.paths);
            if texts != self.texts {
                self.texts = texts;
                // A folder may have been replaced, so all are watched again. One that cannot be watched is still
                // polled.
                for path in &self.paths {
                    let _ = watch(&mut self.watcher, path);
                }
                return;
            }
        }
    }
}

/// Runs `act` once, or with `watch` again whenever files change, until the process is stopped; errors are then printed
/// and do not end it, since the next change may fix them.
pub(crate) fn run_on_changes(
    watch: bool,
    paths: &[PathBuf],
    out: &mut Out,
    mut act: impl FnMut(&mut Out) -> anyhow::Result<Verdict>,
) -> anyhow::Result<Verdict> {
    if !watch {
        return act(out);
    }
    let mut watched = Watched::new(paths)?;
    loop {
        if let Err(why) = act(out) {
            report(&why);
        }
        out.flush()?;
        say("waiting for the files to change; stop with Ctrl-C");
        watched.wait_for_change();
    }
}

/// Watches a folder with all folders below it; for a file, its folder.
fn watch(watcher: &mut RecommendedWatcher, path: &Path) -> notify::Result<()> {
    if path.is_dir() {
        return watcher.watch(path, RecursiveMode::Recursive);
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    watcher.watch(folder.unwrap_or(Path::new(".")), RecursiveMode::NonRecursive)
}

fn read(paths: &[PathBuf]) -> Option<Vec<Source>> {
    let mut all = Vec::new();
    for path in paths {
        let (named, included) = load_with_included(path).ok()?;
        all.extend(named.into_iter().chain(included));
    }
    Some(all)
}
