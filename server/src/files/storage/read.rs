//! Reads an object, or a part of it, piece by piece.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use object_store::{GetOptions, GetRange, GetResult, GetResultPayload, ObjectStore as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::{FileStorage, FileStorageError, ObjectKey};

/// What is read at a time from a folder.
const PIECE: usize = 256 << 10;

/// Bytes as they come.
pub type Bytestream = BoxStream<'static, io::Result<Bytes>>;

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
            GetResultPayload::File(file, _) => pieces(file, range)?,
            GetResultPayload::Stream(stream) => stream.map_err(io::Error::other).boxed(),
        };
        Ok((size, bytes))
    }
}

impl FileStorage {
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

/// A part of a file of the machine. While a piece is sent, the next one is read.
struct FilePart {
    file: fs::File,
    range: Range<u64>,
    /// That of the piece before the last one: by now it is sent.
    spare: BytesMut,
    buffer: BytesMut,
}

impl FilePart {
    /// Reads on, on a thread that may wait for the disk.
    fn read_on(mut self) -> JoinHandle<io::Result<(Bytes, FilePart)>> {
        spawn_blocking(move || {
            let most = usize::try_from(self.range.end - self.range.start).unwrap_or(usize::MAX);
            std::mem::swap(&mut self.spare, &mut self.buffer);
            self.buffer.resize(most.min(PIECE), 0);
            let count = self.file.read(&mut self.buffer)?;
            self.range.start += count as u64;
            let bytes = self.buffer.split_to(count).freeze();
            self.buffer.clear();
            Ok((bytes, self))
        })
    }
}

fn pieces(mut file: fs::File, range: Range<u64>) -> io::Result<Bytestream> {
    file.seek(SeekFrom::Start(range.start))?;
    let part = FilePart {
        file,
        range,
        spare: BytesMut::new(),
        buffer: BytesMut::new(),
    };
    let reading = (!part.range.is_empty()).then(|| part.read_on());
    let stream = stream::try_unfold(reading, |reading| async move {
        let Some(reading) = reading else {
            return Ok(None);
        };
        let (bytes, part) = reading.await.map_err(io::Error::other)??;
        if bytes.is_empty() {
            return Ok(None);
        }
        let next = (!part.range.is_empty()).then(|| part.read_on());
        Ok(Some((bytes, next)))
    });
    Ok(stream.boxed())
}

/// What is left to be seen of an object that is sent whole.
struct Unseen {
    bytes: Bytestream,
    hash: Sha256,
    left: u64,
    sha256: [u8; 32],
}

/// The bytes of an object are not those that were uploaded.
#[derive(Debug, thiserror::Error)]
#[error("the bytes are not those that were uploaded")]
pub struct OtherBytes;

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
        let other = || {
            tracing::error!("a file is damaged: its bytes are not those that were uploaded");
            io::Error::other(OtherBytes)
        };
        let piece = unseen.bytes.next().await.ok_or_else(other)??;
        unseen.hash.update(&piece);
        unseen.left = unseen
            .left
            .checked_sub(piece.len() as u64)
            .ok_or_else(other)?;
        if unseen.left == 0 && unseen.hash.clone().finalize()[..] != unseen.sha256 {
            return Err(other());
        }
        Ok(Some((piece, unseen)))
    });
    // What is one piece has none to be sent meanwhile.
    if size <= PIECE as u64 {
        verified.boxed()
    } else {
        prepared_ahead(verified.boxed())
    }
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
