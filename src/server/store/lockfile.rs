//! One server at a time for one SQLite file: a file beside it is locked for as long as the server runs.
//! The system releases the lock however the process ends, so the file may stay.
//!
//! Other commands take no lock: `backup` and `doctor` read a consistent snapshot of SQLite; `moderate` and `prune` write
//! in transactions, also while a server runs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::{StoreError, file_of};

/// The right to serve a store, until this is dropped.
#[derive(Debug)]
pub struct StoreLock(#[allow(dead_code, reason = "dropping it releases the lock")] File);

/// Takes the right to serve the store of a URL. `None` for a store that several servers may share, and where
/// the system has no such locks.
///
/// # Errors
/// Another process has it, or the lock file cannot be opened.
pub fn lock_store(url: &str) -> Result<Option<StoreLock>, StoreError> {
    let Some(path) = file_of(url) else { return Ok(None) };
    let unusable =
        |it: std::io::Error| StoreError::Url { url: url.to_owned(), fault: it.to_string() };
    let lock = lock_path(path).map_err(unusable)?;
    let open = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&lock);
    let mut file = open.map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => {
            // Only a hint for the next process that tries.
            let id = format!("process {}", std::process::id());
            let written = file.set_len(0).and_then(|()| file.write_all(id.as_bytes()));
            if let Err(error) = written {
                tracing::warn!(%error, file = %lock.display(), "cannot note which process serves the store");
            }
            Ok(Some(StoreLock(file)))
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let read = file.rewind().and_then(|()| file.read_to_string(&mut holder));
            let process = read.is_ok_and(|it| it > 0).then_some(holder);
            Err(StoreError::Taken { url: url.to_owned(), process })
        }
        Err(TryLockError::Error(error)) => {
            tracing::warn!(%error, "no locks here: see to it that one server at a time has the store");
            Ok(None)
        }
    }
}

/// The path of the lock file: the same for every path that leads to the store.
fn lock_path(path: &Path) -> std::io::Result<PathBuf> {
    let whole = match path.canonicalize() {
        Ok(it) => it,
        // The store does not exist yet.
        Err(_) => {
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
            folder.join(path.file_name().unwrap_or_default())
        }
    };
    let mut name = whole.into_os_string();
    name.push("-serving");
    Ok(name.into())
}
