//! Lists what is in the place, whatever it is.

use std::fs;
use std::path::Path as FilePath;
use std::time::UNIX_EPOCH;

use futures_util::TryStreamExt as _;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use object_store::path::Path;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use tokio::task::spawn_blocking;

use super::own_name::is_own;
use super::{FileStorage, FileStorageError, STAGING, StorageKind};

/// What may still be an upload is left alone for so long after it was written, in microseconds. A part of one is on its way
/// for nine minutes at the most: 512 KiB at 1 KiB/s.
pub const MIN_AGE_MICROS: i64 = 3_600_000_000;

/// Something in the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub key: String,
    /// Bytes.
    pub size: u64,
    /// When it was last written, in microseconds since 1970.
    pub written: i64,
}

/// All that is there, one by one.
pub type Listing = BoxStream<'static, Result<Listed, FileStorageError>>;

impl FileStorage {
    /// Lists all that is there below a name, or all.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn list(&self, below: Option<&str>) -> Result<Listing, FileStorageError> {
        // What other versions have left half written has a name that the crate does not show.
        if let StorageKind::Folder(folder) = &self.kind {
            let (folder, below) = (folder.clone(), below.map(str::to_owned));
            let listed = spawn_blocking(move || {
                let mut listed = Vec::new();
                walk(folder.path(), below.as_deref().unwrap_or(""), &mut listed)?;
                Ok::<_, std::io::Error>(listed)
            });
            let listed = listed
                .await
                .map_err(|error| FileStorageError::Unavailable(error.to_string()))??;
            return Ok(stream::iter(listed.into_iter().map(Ok)).boxed());
        }
        let below = below.map(Path::from);
        let listing = self.objects.list(below.as_ref());
        let listing = listing
            .map_err(FileStorageError::from)
            .map_ok(|meta| Listed {
                key: meta.location.to_string(),
                size: meta.size,
                written: meta.last_modified.timestamp_micros(),
            });
        Ok(listing.boxed())
    }

    /// What uploads have begun to write into a folder, or have written and given no name. A bucket keeps parts to itself,
    /// and memory goes with its process.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn half_written(&self) -> Result<Vec<Listed>, FileStorageError> {
        let StorageKind::Folder(folder) = &self.kind else {
            return Ok(Vec::new());
        };
        let folder = folder.clone();
        let listed = spawn_blocking(move || {
            let mut listed = Vec::new();
            // A link may lead to anything.
            let staging = fs::symlink_metadata(folder.path().join(STAGING));
            if staging.is_ok_and(|staging| staging.is_dir()) {
                walk(folder.path(), STAGING, &mut listed)?;
            }
            listed.retain(|listed| is_own(&listed.key));
            Ok::<_, std::io::Error>(listed)
        });
        let listed = listed.await;
        Ok(listed.map_err(|error| FileStorageError::Unavailable(error.to_string()))??)
    }

    /// Removes what was listed; it may be gone.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn remove_listed(&self, listed: &Listed) -> Result<(), FileStorageError> {
        let removed = match &self.kind {
            StorageKind::Folder(folder) => {
                let path = folder.path().join(&listed.key);
                let removed = spawn_blocking(move || fs::remove_file(path));
                let removed = removed.await;
                removed
                    .map_err(|error| FileStorageError::Unavailable(error.to_string()))?
                    .map_err(FileStorageError::from)
            }
            _ => self
                .objects
                .delete(&Path::from(listed.key.as_str()))
                .await
                .map_err(FileStorageError::from),
        };
        match removed {
            Ok(()) | Err(FileStorageError::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn walk(root: &FilePath, below: &str, listed: &mut Vec<Listed>) -> std::io::Result<()> {
    let entries = match fs::read_dir(root.join(below)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let key = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        // It may be gone by now.
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            walk(root, &key, listed)?;
        } else if meta.is_file() {
            let written = meta
                .modified()?
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            listed.push(Listed {
                key,
                size: meta.len(),
                written: i64::try_from(written.as_micros()).unwrap_or(i64::MAX),
            });
        }
    }
    Ok(())
}
