//! Reads an object, or a part of it.

use std::io;
use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use object_store::{GetOptions, GetRange, GetResult, GetResultPayload, ObjectStore as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::bytestream::{Bytestream, other_bytes};
use super::folder_read::{pieces, read_small};
use super::{FileStorage, FileStorageError, ObjectKey, StorageKind};

/// How many bytes an object of a folder may have that is read in one go.
const MAX_BYTES_READ_AT_ONCE: usize = 64 << 10;

/// An object that is read from its first byte to its last.
pub enum WholeObject {
    /// All of it, and it is what was uploaded.
    Bytes(Bytes),
    /// As it comes, the last bytes only if all of them are what was uploaded.
    Stream(Bytestream),
}

impl std::fmt::Debug for WholeObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            WholeObject::Bytes(_) => "Bytes",
            WholeObject::Stream(_) => "Stream",
        })
    }
}

impl FileStorage {
    /// How many bytes an object has.
    ///
    /// # Errors
    /// When it is not there, or the place is away.
    pub async fn size(&self, key: &ObjectKey) -> Result<u64, FileStorageError> {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        Ok(self.object(key, options).await?.meta.size)
    }

    /// Reads an object, whole or in part, and says how many bytes all of it has.
    ///
    /// # Errors
    /// When it is not there, or the place is away.
    pub async fn read(
        &self,
        key: &ObjectKey,
        range: Option<Range<u64>>,
    ) -> Result<(u64, Bytestream), FileStorageError> {
        let options = GetOptions {
            range: range.map(GetRange::Bounded),
            ..GetOptions::default()
        };
        let found = self.object(key, options).await?;
        let (size, range) = (found.meta.size, found.range);
        let bytes = match found.payload {
            GetResultPayload::File(file, _) => pieces(file, range, None)?,
            GetResultPayload::Stream(stream) => stream.map_err(io::Error::other).boxed(),
        };
        Ok((size, bytes))
    }

    /// Reads an object of so many bytes from its first to its last, compares it with its digest, and says how many bytes
    /// it has.
    ///
    /// # Errors
    /// When it is not there, or the place is away.
    pub async fn read_whole(
        &self,
        key: &ObjectKey,
        size: u64,
        sha256: [u8; 32],
    ) -> Result<(u64, WholeObject), FileStorageError> {
        if let StorageKind::Folder(folder) = &self.kind
            && size <= MAX_BYTES_READ_AT_ONCE as u64
        {
            let path = folder.path().join(key.0.as_ref());
            return match read_small(&path, MAX_BYTES_READ_AT_ONCE)
                .await
                .map_err(FileStorageError::from)
            {
                Ok((found, bytes)) => Ok((found, compared(bytes, sha256))),
                Err(FileStorageError::Missing) => Err(self.why_missing().await),
                Err(error) => Err(error),
            };
        }
        let found = self.object(key, GetOptions::default()).await?;
        let (found_size, range) = (found.meta.size, found.range);
        let bytes = match found.payload {
            GetResultPayload::File(file, _) => pieces(file, range, Some(sha256))?,
            GetResultPayload::Stream(stream) => {
                let stream = stream.map_err(io::Error::other).boxed();
                let verified = verified(stream, size, sha256);
                // What is one piece has none to be sent meanwhile.
                if size <= MAX_BYTES_READ_AT_ONCE as u64 {
                    verified
                } else {
                    prepared_ahead(verified)
                }
            }
        };
        Ok((found_size, WholeObject::Stream(bytes)))
    }

    async fn object(
        &self,
        key: &ObjectKey,
        options: GetOptions,
    ) -> Result<GetResult, FileStorageError> {
        let found = self.objects.get_opts(&key.0, options).await;
        match found.map_err(FileStorageError::from) {
            Err(FileStorageError::Missing) => Err(self.why_missing().await),
            found => found,
        }
    }
}

/// All bytes of an object, unless they are others.
fn compared(bytes: Bytes, sha256: [u8; 32]) -> WholeObject {
    if Sha256::digest(&bytes)[..] == sha256 {
        return WholeObject::Bytes(bytes);
    }
    WholeObject::Stream(stream::once(async { Err(other_bytes()) }).boxed())
}

/// What is left to be seen of an object that is sent whole.
struct Unseen {
    bytes: Bytestream,
    hash: Sha256,
    left: u64,
    sha256: [u8; 32],
}

/// The same bytes, the last of them only if all of them are what they were. Otherwise the stream fails, and with it
/// the response.
pub fn verified(bytes: Bytestream, size: u64, sha256: [u8; 32]) -> Bytestream {
    let unseen = Unseen {
        bytes,
        hash: Sha256::new(),
        left: size,
        sha256,
    };
    let verified = stream::try_unfold(unseen, |mut unseen| async move {
        if unseen.left == 0 {
            return Ok(None);
        }
        let piece = unseen.bytes.next().await.ok_or_else(other_bytes)??;
        unseen.hash.update(&piece);
        unseen.left = unseen
            .left
            .checked_sub(piece.len() as u64)
            .ok_or_else(other_bytes)?;
        if unseen.left == 0 && unseen.hash.clone().finalize()[..] != unseen.sha256 {
            return Err(other_bytes());
        }
        Ok(Some((piece, unseen)))
    });
    verified.boxed()
}

/// The same pieces, each made by a task of its own while the one before is sent: to hash a piece takes as long as to send
/// it. The task ends with whoever reads them.
fn prepared_ahead(mut pieces: Bytestream) -> Bytestream {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Some(piece) = pieces.next().await {
            if sender.send(piece).await.is_err() {
                break;
            }
        }
    });
    let stream = stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|piece| (piece, receiver))
    });
    stream.boxed()
}
