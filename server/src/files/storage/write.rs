//! Writes an object while its bytes come: first under a temporary name, then under its own.
//!
//! At most two parts are in memory. What is not finished is removed, however the writer ends.

use std::mem::take;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutPayload};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::folder::GrowingFile;
use super::{FileStorage, FileStorageError, ObjectKey, STAGING, StorageKind};

/// An object whose bytes are still coming.
pub struct Writer {
    place: FileStorage,
    name: Path,
    buffer: Vec<Bytes>,
    buffered: usize,
    /// Once there is more than one part.
    upload: Option<Upload>,
}

struct Upload {
    parts: Parts,
    /// The part before.
    writing: Option<JoinHandle<Result<(), FileStorageError>>>,
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

    /// Has a part written, while the next one comes.
    fn write(&mut self, part: PutPayload) -> JoinHandle<Result<(), FileStorageError>> {
        match self {
            Parts::File(file) => tokio::spawn(file.write(part)),
            Parts::Store(parts) => {
                let written = parts.put_part(part);
                tokio::spawn(async move { Ok(written.await?) })
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
            buffer: Vec::new(),
            buffered: 0,
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
        self.buffered += bytes.len();
        self.buffer.push(bytes);
        if self.buffered >= self.place.part {
            self.flush().await?;
        }
        Ok(())
    }

    /// Hands a part over, when the one before is written.
    async fn flush(&mut self) -> Result<(), FileStorageError> {
        self.buffered = 0;
        let payload = PutPayload::from_iter(take(&mut self.buffer));
        if self.upload.is_none() {
            self.place.is_mounted().await?;
            let parts = Parts::begin(&self.place, &self.name).await?;
            self.upload = Some(Upload {
                parts,
                writing: None,
            });
        }
        if let Some(upload) = &mut self.upload {
            upload.wait().await?;
            upload.writing = Some(upload.parts.write(payload));
        }
        Ok(())
    }

    /// All bytes came.
    ///
    /// # Errors
    /// When the place is away or full.
    pub async fn end(mut self) -> Result<Staged, FileStorageError> {
        let small = self.upload.is_none();
        if small {
            self.place.is_mounted().await?;
        }
        let bytes = if small {
            Some(PutPayload::from_iter(take(&mut self.buffer)))
        } else {
            if self.buffered > 0 {
                self.flush().await?;
            }
            if let Some(upload) = &mut self.upload {
                upload.wait().await?;
                upload.parts.end().await?;
            }
            self.upload = None;
            None
        };
        Ok(Staged {
            place: self.place.clone(),
            name: self.name.clone(),
            bytes,
            left: !small,
        })
    }
}

impl Upload {
    async fn wait(&mut self) -> Result<(), FileStorageError> {
        let Some(writing) = self.writing.take() else {
            return Ok(());
        };
        let written = writing.await;
        written.map_err(|error| FileStorageError::Unavailable(error.to_string()))?
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
    /// One that was never worth writing.
    bytes: Option<PutPayload>,
    /// There is something to remove.
    left: bool,
}

impl Staged {
    /// Gives it its name, in place of whatever has it.
    ///
    /// # Errors
    /// When the place is away or full.
    pub async fn keep(mut self, key: &ObjectKey) -> Result<(), FileStorageError> {
        if let Some(bytes) = self.bytes.take() {
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
