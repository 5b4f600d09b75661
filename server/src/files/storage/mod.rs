//! The place where bytes are: a folder, the memory of the process, or a bucket.
//!
//! Goes in: names that the server makes, bytes. Comes out: objects that are whole or not there. Knows nothing of
//! records: what belongs to whom is the business of the store.

mod bytestream;
#[cfg(feature = "s3")]
mod endpoint;
mod folder;
mod folder_read;
mod listing;
mod mark_object;
mod open_uploads;
mod own_name;
mod pieces;
mod read;
#[cfg(feature = "s3")]
mod s3;
mod url;
mod write;

use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use uuid::Uuid;

pub use bytestream::{Bytestream, OtherBytes};
pub use listing::{Listed, Listing, MIN_AGE_MICROS};
pub use mark_object::{Mark, MarkedAs};
pub use open_uploads::OpenUpload;
pub use pieces::{JOINED_PIECE, SMALL_PIECE};
pub use read::{WholeObject, verified};
pub use write::{Staged, Writer};

use crate::refusal::{Code, Refusal};

/// The name of the mark.
const NAME: &str = "tplkit-store";
/// What is being written lies below it until it has its name.
const STAGING: &str = "uploads";

/// Where the bytes of files are. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FileStorage {
    objects: Arc<dyn ObjectStore>,
    kind: StorageKind,
    /// Bytes that are written at a time.
    part: usize,
}

#[derive(Debug, Clone)]
enum StorageKind {
    Folder(Arc<folder::Folder>),
    Memory,
    #[cfg(feature = "s3")]
    Bucket(Arc<s3::Bucket>),
}

/// Why the place did not do something.
#[derive(Debug, thiserror::Error)]
pub enum FileStorageError {
    /// The object is not there.
    #[error("the object is not there")]
    Missing,
    /// The place is away, full, or may not be written.
    #[error("{0}")]
    Unavailable(String),
}

impl From<object_store::Error> for FileStorageError {
    fn from(error: object_store::Error) -> FileStorageError {
        match error {
            object_store::Error::NotFound { .. } => FileStorageError::Missing,
            error => FileStorageError::Unavailable(error.to_string()),
        }
    }
}

impl From<std::io::Error> for FileStorageError {
    fn from(error: std::io::Error) -> FileStorageError {
        match error.kind() {
            std::io::ErrorKind::NotFound => FileStorageError::Missing,
            _ => FileStorageError::Unavailable(error.to_string()),
        }
    }
}

impl From<FileStorageError> for Refusal {
    fn from(error: FileStorageError) -> Refusal {
        match error {
            FileStorageError::Missing => damaged("the object is missing"),
            FileStorageError::Unavailable(why) => {
                tracing::warn!(why, "the place of files is not available");
                Refusal::unavailable(
                    "The place where files are kept is not available at the moment.",
                )
            }
        }
    }
}

/// The refusal of a file whose bytes are not there as they were.
pub fn damaged(why: &str) -> Refusal {
    tracing::error!(
        why,
        "a file is damaged: `tplkit-server admin verify-files` lists all that are"
    );
    Refusal::new(
        Code::FileDamaged,
        "The bytes of this file are gone or damaged; the operator of the server can find out more with `admin \
         verify-files`.",
    )
}

/// The name of an object: by organization and content, and by an id that is given once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectKey(Path);

impl ObjectKey {
    /// That of an object of an organization.
    pub fn new(organization: Uuid, sha256: &str, object: Uuid) -> ObjectKey {
        let first = sha256.get(..2).unwrap_or_default();
        ObjectKey(Path::from(format!(
            "{organization}/{first}/{sha256}.{}",
            object.simple()
        )))
    }
}

impl std::fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl FileStorage {
    /// A place that goes with the process.
    pub fn memory() -> FileStorage {
        FileStorage {
            objects: Arc::new(object_store::memory::InMemory::new()),
            kind: StorageKind::Memory,
            part: 256 << 10,
        }
    }

    /// Whether it goes with the process.
    pub fn is_memory(&self) -> bool {
        matches!(self.kind, StorageKind::Memory)
    }

    /// Whether it is a folder of the machine.
    pub fn is_folder(&self) -> bool {
        matches!(self.kind, StorageKind::Folder(_))
    }

    /// Removes an object; it may be gone.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn remove(&self, key: &ObjectKey) -> Result<(), FileStorageError> {
        match self
            .objects
            .delete(&key.0)
            .await
            .map_err(FileStorageError::from)
        {
            Ok(()) => Ok(()),
            // Of a place that is away nothing is gone.
            Err(FileStorageError::Missing) => self.is_there().await,
            Err(error) => Err(error),
        }
    }
}
