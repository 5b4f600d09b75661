//! The lock on a database file: one process serves it at a time, under any name of the file.
//!
//! On Linux it is an `flock` on the file itself, which does not interfere with SQLite's locks.
//! Elsewhere the two kinds interfere, so the lock is on a file next to the resolved path. The
//! locked file stays open until the process ends, because closing it would drop SQLite's own locks.

use std::fs::{File, TryLockError};
use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use crate::store::StoreError;

/// The lock, held until it is dropped.
#[derive(Debug)]
pub(in crate::store) struct FileLock(ManuallyDrop<File>);

impl FileLock {
    /// Locks a file before anything else is done with it; creates it if it is not there.
    pub(in crate::store) fn take(file: &Path) -> Result<FileLock, StoreError> {
        let unavailable =
            |error: io::Error| StoreError::Unavailable(error.to_string()).of_file(file);
        let claim = FileLock(ManuallyDrop::new(lockable(file).map_err(unavailable)?));
        match claim.0.try_lock() {
            Ok(()) => Ok(claim),
            Err(TryLockError::WouldBlock) => Err(StoreError::Served(file.display().to_string())),
            Err(TryLockError::Error(error)) => Err(unavailable(error)),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // When it fails, the end of the process does it.
        let _ = self.0.unlock();
    }
}

/// As SQLite opens one that may have to be made.
fn open(file: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(file)
}

#[cfg(target_os = "linux")]
fn lockable(file: &Path) -> io::Result<File> {
    open(file)
}

#[cfg(not(target_os = "linux"))]
fn lockable(file: &Path) -> io::Result<File> {
    drop(open(file)?);
    open(&lock_file(file, "-serving")?)
}

/// The name next to the one to which links lead.
fn lock_file(file: &Path, ending: &str) -> io::Result<PathBuf> {
    let mut name = file.canonicalize()?.into_os_string();
    name.push(ending);
    Ok(name.into())
}

/// Refuses a file that a process serves under another name of equal rank (a hard link). The log of what was
/// written lies next to the name that it was opened by: whoever comes by another sees a store of long ago,
/// and destroys it by writing.
pub(in crate::store) fn refuse_other_name(file: &Path) -> Result<(), StoreError> {
    if !has_names(file) || lock_file(file, "-wal").is_ok_and(|log| log.exists()) {
        return Ok(());
    }
    FileLock::take(file).map(drop)
}

#[cfg(target_os = "linux")]
fn has_names(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|found| found.nlink() > 1)
}

#[cfg(not(target_os = "linux"))]
fn has_names(_: &Path) -> bool {
    false
}
