//! Opens the place that a URL names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::local::LocalFileSystem;

use super::folder::Folder;
use super::{FileStorage, StorageKind};

/// What is written at a time into a folder.
const BYTES_PER_WRITE: usize = 512 << 10;

impl FileStorage {
    /// Opens `file:DIR`, `memory:` or `s3://BUCKET/PREFIX`. A folder is made where there is none.
    ///
    /// # Errors
    /// Why there is no such place, in words.
    pub fn open(url: &str) -> Result<FileStorage, String> {
        if url == "memory:" {
            return Ok(FileStorage::memory());
        }
        if let Some(folder) = folder_in(url) {
            return FileStorage::folder(folder);
        }
        #[cfg(feature = "s3")]
        if let Some(bucket) = url.strip_prefix("s3://") {
            return super::s3::open(bucket);
        }
        Err(format!(
            "{url:?} names no place for files: use file:DIR, s3://BUCKET/PREFIX or memory:"
        ))
    }

    /// Opens a place that is there: no folder is made.
    ///
    /// # Errors
    /// As [`FileStorage::open`], and where there is no such folder.
    pub fn open_existing(url: &str) -> Result<FileStorage, String> {
        if let Some(folder) = folder_in(url)
            && !folder.is_dir()
        {
            return Err(format!("there is no folder {}", folder.display()));
        }
        FileStorage::open(url)
    }

    /// Files in a folder of the machine.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder(folder: &Path) -> Result<FileStorage, String> {
        if folder.as_os_str().is_empty() {
            return Err("file: names no folder: use file:DIR".to_owned());
        }
        let fails = |error: &dyn std::fmt::Display| {
            format!("the folder {} cannot hold files: {error}", folder.display())
        };
        std::fs::create_dir_all(folder).map_err(|error| fails(&error))?;
        let folder: PathBuf = folder.canonicalize().map_err(|error| fails(&error))?;
        let objects = LocalFileSystem::new_with_prefix(&folder).map_err(|error| fails(&error))?;
        Ok(FileStorage {
            // What a record names is there after a power cut, too.
            objects: Arc::new(objects.with_fsync(true)),
            kind: StorageKind::Folder(Arc::new(Folder::new(folder))),
            part: BYTES_PER_WRITE,
        })
    }
}

/// The folder that a URL names, if it names one.
fn folder_in(url: &str) -> Option<&Path> {
    let folder = url.strip_prefix("file:")?;
    Some(Path::new(folder.strip_prefix("//").unwrap_or(folder)))
}
