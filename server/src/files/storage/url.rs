//! Opens the place that a URL names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::local::LocalFileSystem;

use super::folder::Folder;
use super::{FileStorage, Kind};

/// What is written at a time into a folder.
const PART: usize = 512 << 10;

impl FileStorage {
    /// Opens `file:DIR`, `memory:` or `s3://BUCKET/PREFIX`. A folder is made where there is none.
    ///
    /// # Errors
    /// Why there is no such place, in words.
    pub fn open(url: &str) -> Result<FileStorage, String> {
        if url == "memory:" {
            return Ok(FileStorage::memory());
        }
        if let Some(folder) = url.strip_prefix("file:") {
            let folder = folder.strip_prefix("//").unwrap_or(folder);
            return FileStorage::folder(Path::new(folder));
        }
        #[cfg(feature = "s3")]
        if let Some(bucket) = url.strip_prefix("s3://") {
            return super::s3::open(bucket);
        }
        Err(format!(
            "{url:?} names no place for files: use file:DIR, s3://BUCKET/PREFIX or memory:"
        ))
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
            kind: Kind::Folder(Arc::new(Folder::new(folder))),
            part: PART,
        })
    }
}
