//! Reads an object, or a part of it, piece by piece.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use object_store::{GetOptions, GetRange, GetResultPayload, ObjectStore as _};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::{Key, Place, PlaceError};

/// What is read at a time from a folder.
const PIECE: usize = 256 << 10;

/// Bytes as they come.
pub type Bytestream = BoxStream<'static, io::Result<Bytes>>;

impl Place {
    /// How many bytes an object has.
    ///
    /// # Errors
    /// When it is not there, or the place is away.
    pub async fn size(&self, key: &Key) -> Result<u64, PlaceError> {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        Ok(self.objects.get_opts(&key.0, options).await?.meta.size)
    }

    /// Reads an object, whole or in part, and says how many bytes all of it has.
    ///
    /// # Errors
    /// When it is not there, or the place is away.
    pub async fn read(
        &self,
        key: &Key,
        range: Option<Range<u64>>,
    ) -> Result<(u64, Bytestream), PlaceError> {
        let options = GetOptions {
            range: range.map(GetRange::Bounded),
            ..GetOptions::default()
        };
        let found = self.objects.get_opts(&key.0, options).await?;
        let (size, range) = (found.meta.size, found.range);
        let bytes = match found.payload {
            GetResultPayload::File(file, _) => pieces(file, range),
            GetResultPayload::Stream(stream) => stream.map_err(io::Error::other).boxed(),
        };
        Ok((size, bytes))
    }
}

/// A part of a file of the machine. Nothing is read before it is asked for.
fn pieces(file: fs::File, range: Range<u64>) -> Bytestream {
    let stream = stream::try_unfold((file, range), |(mut file, range)| async move {
        if range.is_empty() {
            return Ok(None);
        }
        let read = move || {
            file.seek(SeekFrom::Start(range.start))?;
            let most = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            let mut bytes = vec![0; most.min(PIECE)];
            let count = file.read(&mut bytes)?;
            bytes.truncate(count);
            let next = range.start + count as u64..range.end;
            Ok::<_, io::Error>((count > 0).then(|| (Bytes::from(bytes), (file, next))))
        };
        spawn_blocking(read).await.map_err(io::Error::other)?
    });
    stream.boxed()
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
    let stream = stream::try_unfold(unseen, |mut unseen| async move {
        if unseen.left == 0 {
            return Ok(None);
        }
        let other = || {
            tracing::error!("a file is damaged: its bytes are not those that were uploaded");
            io::Error::other("the bytes are not those that were uploaded")
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
    stream.boxed()
}
