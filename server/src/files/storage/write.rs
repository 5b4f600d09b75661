//! Writes an object while its bytes come, and hashes it: first under a temporary name, then under its own.
//!
//! At most two parts are in memory. What is not finished is removed, however the writer ends.

use std::mem::take;

use bytes::Bytes;
use futures_util::future::join;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutPayload};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::folder::GrowingFile;
use super::pieces::Pieces;
use super::{FileStorage, FileStorageError, ObjectKey, STAGING, StorageKind};
use crate::cpu_threads::{MAX_INLINE_BYTES, offer_turn, offload_low_priority};

/// An object whose bytes are still coming.
pub struct Writer {
    place: FileStorage,
    name: Path,
    buffer: Pieces,
    /// Of all parts before, unless the last of them is being written.
    hash: Sha256,
    /// Once there is more than one part.
    upload: Option<Upload>,
}

struct Upload {
    parts: Parts,
    /// The part before. Gives the hash of all bytes up to its end.
    writing: Option<JoinHandle<Result<Sha256, FileStorageError>>>,
}

/// What takes one part after the other.
enum Parts {
    File(GrowingFile),
    Store(Box<dyn MultipartUpload>),
}

impl Parts {
    async fn begin(place: &FileStorage, name: &Path) -> Result<Parts, FileStorageError> {
        if let StorageKind::Folder(folder) = &place.kind {
            return Ok(Parts::File(folder.create(name.as_ref()).await?));
        }
        Ok(Parts::Store(place.objects.put_multipart(name).await?))
    }

    /// Has a part written and hashed, while the next one comes.
    fn write(
        &mut self,
        part: PutPayload,
        hash: Sha256,
    ) -> JoinHandle<Result<Sha256, FileStorageError>> {
        match self {
            Parts::File(file) => tokio::spawn(file.write(part, hash)),
            Parts::Store(parts) => {
                let hashed = hashed(part.clone(), hash);
                let written = parts.put_part(part);
                tokio::spawn(async move {
                    let (hash, written) = join(hashed, written).await;
                    written?;
                    hash
                })
            }
        }
    }

    async fn end(&mut self) -> Result<(), FileStorageError> {
        match self {
            Parts::File(file) => file.end().await,
            Parts::Store(parts) => Ok(parts.complete().await.map(drop)?),
        }
    }

    async fn abort(self) -> Result<(), FileStorageError> {
        match self {
            Parts::File(file) => file.remove().await,
            Parts::Store(mut parts) => Ok(parts.abort().await?),
        }
    }
}

/// The hash with these bytes, worked out where no request waits for it if they are many.
async fn hashed(bytes: PutPayload, mut hash: Sha256) -> Result<Sha256, FileStorageError> {
    let length = bytes.content_length();
    if length <= MAX_INLINE_BYTES {
        for piece in &bytes {
            hash.update(piece);
        }
        return Ok(hash);
    }
    let work = move || {
        for piece in &bytes {
            hash.update(piece);
            offer_turn();
        }
        hash
    };
    Ok(offload_low_priority(work).await?)
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Writer({})", self.name)
    }
}

impl FileStorage {
    /// Begins an object. The id is one that was never given before.
    pub fn write(&self, id: Uuid) -> Writer {
        Writer {
            place: self.clone(),
            name: Path::from(format!("{STAGING}/{id}")),
            buffer: Pieces::default(),
            hash: Sha256::new(),
            upload: None,
        }
    }
}

impl Writer {
    /// Takes more bytes.
    ///
    /// # Errors
    /// When the place is away or full.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), FileStorageError> {
        self.buffer.push(bytes);
        if self.buffer.length() >= self.place.part {
            self.flush().await?;
        }
        Ok(())
    }

    /// Hands a part over, when the one before is written.
    async fn flush(&mut self) -> Result<(), FileStorageError> {
        let payload = self.buffer.take();
        if self.upload.is_none() {
            self.place.is_mounted().await?;
            let parts = Parts::begin(&self.place, &self.name).await?;
            self.upload = Some(Upload {
                parts,
                writing: None,
            });
        }
        self.wait().await?;
        if let Some(upload) = &mut self.upload {
            upload.writing = Some(upload.parts.write(payload, take(&mut self.hash)));
        }
        Ok(())
    }

    /// Waits for the part before.
    async fn wait(&mut self) -> Result<(), FileStorageError> {
        if let Some(upload) = &mut self.upload
            && let Some(hash) = upload.wait().await?
        {
            self.hash = hash;
        }
        Ok(())
    }

    /// All bytes came.
    ///
    /// # Errors
    /// When the place is away or full.
    pub async fn end(mut self) -> Result<Staged, FileStorageError> {
        if self.upload.is_none() {
            let bytes = self.buffer.take();
            let hash = hashed(bytes.clone(), take(&mut self.hash)).await?;
            return Ok(self.staged(hash, Some(bytes)));
        }
        if self.buffer.length() > 0 {
            self.flush().await?;
        }
        self.wait().await?;
        if let Some(upload) = &mut self.upload {
            upload.parts.end().await?;
        }
        self.upload = None;
        let hash = take(&mut self.hash);
        Ok(self.staged(hash, None))
    }

    fn staged(&self, hash: Sha256, bytes: Option<PutPayload>) -> Staged {
        Staged {
            place: self.place.clone(),
            name: self.name.clone(),
            sha256: hash.finalize().into(),
            left: bytes.is_none(),
            bytes,
        }
    }
}

impl Upload {
    async fn wait(&mut self) -> Result<Option<Sha256>, FileStorageError> {
        let Some(writing) = self.writing.take() else {
            return Ok(None);
        };
        let written = writing.await;
        let hash = written.map_err(|error| FileStorageError::Unavailable(error.to_string()))?;
        hash.map(Some)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let (Some(mut upload), Ok(runtime)) = (self.upload.take(), Handle::try_current()) else {
            return;
        };
        runtime.spawn(async move {
            let _ = upload.wait().await;
            if let Err(error) = upload.parts.abort().await {
                tracing::warn!(%error, "what is left of an upload was not removed");
            }
        });
    }
}

/// An object that is whole and has no name of its own yet.
#[derive(Debug)]
pub struct Staged {
    place: FileStorage,
    name: Path,
    sha256: [u8; 32],
    /// One that was never worth writing.
    bytes: Option<PutPayload>,
    /// There is something to remove.
    left: bool,
}

impl Staged {
    /// The digest of its bytes.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// Renames it into place, replacing an older file.
    ///
    /// # Errors
    /// When the storage is unavailable or full.
    pub async fn keep(mut self, key: &ObjectKey) -> Result<(), FileStorageError> {
        if let Some(bytes) = self.bytes.take() {
            if let StorageKind::Folder(folder) = &self.place.kind
                && folder.create_whole(key.0.as_ref(), bytes.clone()).await?
            {
                return Ok(());
            }
            // Others may read what is there: it has to be whole at all times.
            self.place.objects.put(&key.0, bytes).await?;
        } else {
            self.place.objects.rename(&self.name, &key.0).await?;
            self.left = false;
        }
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let (true, Ok(runtime)) = (self.left, Handle::try_current()) else {
            return;
        };
        let (place, name) = (self.place.clone(), self.name.clone());
        runtime.spawn(async move {
            if let Err(error) = place.objects.delete(&name).await {
                tracing::warn!(%error, "what is left of an upload was not removed");
            }
        });
    }
}
