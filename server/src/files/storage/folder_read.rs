//! Reads objects of a folder: a small one in one go, a larger one in pieces that are read before they are asked for.
//!
//! A thread that may wait for the disk reads and hashes pieces as long as there is room for them, and ends; whoever has
//! taken enough of them has it go on. So no thread waits for a client, and none is handed over for each piece.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::bytestream::{Bytestream, other_bytes};

/// What is read at a time.
const BYTES_PER_READ: usize = 256 << 10;
/// How many pieces may be there that nobody has taken.
const MAX_PIECES_AHEAD: usize = 4;

/// Reads a file that has no more than so many bytes, and says how many it has. One that is in the memory of the system is
/// read on this thread, which takes less than the way to another one.
pub(super) async fn read_small(path: &Path, most: usize) -> io::Result<(u64, Bytes)> {
    #[cfg(target_os = "linux")]
    if let Some(read) = read_cached(path, most) {
        return Ok(read);
    }
    let path = path.to_owned();
    let read = spawn_blocking(move || read_waiting(&path, most)).await;
    read.map_err(io::Error::other)?
}

/// The same, on a thread that may wait for the disk.
fn read_waiting(path: &Path, most: usize) -> io::Result<(u64, Bytes)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let Some(room) = room(size, most) else {
        return Ok((size, Bytes::new()));
    };
    let mut bytes = Vec::with_capacity(room);
    file.take(size).read_to_end(&mut bytes)?;
    Ok((size, bytes.into()))
}

fn room(size: u64, most: usize) -> Option<usize> {
    usize::try_from(size).ok().filter(|size| *size <= most)
}

/// The same, as far as nothing has to wait for the disk: neither the names on the way, nor the bytes. Nothing where
/// something would, or where the system does not say so.
#[cfg(target_os = "linux")]
fn read_cached(path: &Path, most: usize) -> Option<(u64, Bytes)> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
    use rustix::io::{ReadWriteFlags, preadv2};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
    let size = u64::try_from(fstat(&file).ok()?.st_size).ok()?;
    let mut bytes = vec![0; room(size, most)?];
    let mut at = 0;
    while at < bytes.len() {
        let mut rest = [io::IoSliceMut::new(&mut bytes[at..])];
        let offset = u64::try_from(at).ok()?;
        match preadv2(&file, &mut rest, offset, ReadWriteFlags::NOWAIT).ok()? {
            0 => return None,
            read => at += read,
        }
    }
    Some((size, bytes.into()))
}

/// A part of a file in pieces. With a digest, which is that of the part, the last piece comes only if all of them are what
/// they were.
pub(super) fn pieces(
    mut file: File,
    range: Range<u64>,
    sha256: Option<[u8; 32]>,
) -> io::Result<Bytestream> {
    file.seek(SeekFrom::Start(range.start))?;
    let (sender, receiver) = mpsc::channel(MAX_PIECES_AHEAD);
    let rest = Rest {
        file,
        left: range.end - range.start,
        check: sha256.map(|sha256| (Sha256::new(), sha256)),
        sender,
        buffers: Buffers::default(),
    };
    let reader = Reader {
        receiver,
        reading: (rest.left > 0).then(|| rest.read_on()),
    };
    let stream = stream::unfold(reader, |mut reader| async move {
        reader.next().await.map(|piece| (piece, reader))
    });
    Ok(stream.boxed())
}

/// What is left to be read of a file.
struct Rest {
    file: File,
    left: u64,
    /// The digest so far, and what it has to be.
    check: Option<(Sha256, [u8; 32])>,
    sender: mpsc::Sender<io::Result<Bytes>>,
    buffers: Buffers,
}

impl Rest {
    /// Reads as long as there is room, on a thread that may wait. Gives what is left then; nothing at the end.
    fn read_on(mut self) -> JoinHandle<Option<Rest>> {
        spawn_blocking(move || {
            while self.sender.capacity() > 0 {
                let piece = self.read();
                let ends = piece.is_err() || self.left == 0;
                // Nobody takes them any more, or there are no others.
                if self.sender.try_send(piece).is_err() || ends {
                    return None;
                }
            }
            Some(self)
        })
    }

    fn read(&mut self) -> io::Result<Bytes> {
        let length =
            usize::try_from(self.left).map_or(BYTES_PER_READ, |left| left.min(BYTES_PER_READ));
        let mut piece = self.buffers.take(length);
        self.file.read_exact(piece.as_mut()).map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                return other_bytes();
            }
            error
        })?;
        self.left -= length as u64;
        if let Some((hash, sha256)) = &mut self.check {
            hash.update(&piece);
            if self.left == 0 && hash.finalize_reset()[..] != *sha256 {
                return Err(other_bytes());
            }
        }
        Ok(Bytes::from_owner(piece))
    }
}

/// Takes the pieces, and has more read.
struct Reader {
    receiver: mpsc::Receiver<io::Result<Bytes>>,
    /// Nothing once all is read.
    reading: Option<JoinHandle<Option<Rest>>>,
}

impl Reader {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            let Some(reading) = &mut self.reading else {
                return self.receiver.recv().await;
            };
            tokio::select! {
                biased;
                piece = self.receiver.recv() => {
                    if self.receiver.len() <= MAX_PIECES_AHEAD / 2 && reading.is_finished() {
                        self.reading = go_on(reading.await);
                    }
                    return piece;
                }
                ended = &mut *reading => self.reading = go_on(ended),
            }
        }
    }
}

/// Reads on where reading ended for want of room. Where it panicked, nothing follows: the response is too short and breaks
/// off.
fn go_on(ended: Result<Option<Rest>, tokio::task::JoinError>) -> Option<JoinHandle<Option<Rest>>> {
    Some(ended.ok()??.read_on())
}

/// Buffers that were sent, to be filled again.
#[derive(Clone, Default)]
struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

/// One of them, while it is in use.
struct Buffer {
    bytes: Vec<u8>,
    length: usize,
    buffers: Buffers,
}

impl Buffers {
    fn take(&self, length: usize) -> Buffer {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let spare = spare.filter(|bytes| bytes.len() >= length);
        Buffer {
            bytes: spare.unwrap_or_else(|| vec![0; length]),
            length,
            buffers: self.clone(),
        }
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut spare = self
            .buffers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        spare.push(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use futures_util::StreamExt as _;
    use sha2::{Digest as _, Sha256};

    use super::{BYTES_PER_READ, MAX_PIECES_AHEAD, pieces, read_small};

    /// A file of so many bytes, and what is in it.
    fn file(length: usize) -> (tempfile::NamedTempFile, Vec<u8>) {
        let bytes: Vec<u8> = (0..length)
            .map(|n| u8::try_from(n / 7 % 251).unwrap_or(0))
            .collect();
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(&file, &bytes).expect("writes");
        (file, bytes)
    }

    fn opened(file: &tempfile::NamedTempFile) -> File {
        File::open(file).expect("opens")
    }

    #[tokio::test]
    async fn every_length_comes_whole() {
        for length in [
            1,
            BYTES_PER_READ - 1,
            BYTES_PER_READ,
            BYTES_PER_READ + 1,
            MAX_PIECES_AHEAD * BYTES_PER_READ,
            3 * MAX_PIECES_AHEAD * BYTES_PER_READ + 5,
        ] {
            let (file, bytes) = file(length);
            let digest = Some(Sha256::digest(&bytes).into());
            let mut stream = pieces(opened(&file), 0..length as u64, digest).expect("seeks");
            let mut read = Vec::new();
            while let Some(piece) = stream.next().await {
                read.extend_from_slice(&piece.expect("a piece"));
                // Now and then reading has to stop for want of room.
                if read.len().is_multiple_of(3) {
                    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                }
            }
            assert!(read == bytes, "{length}");
        }
    }

    #[tokio::test]
    async fn a_part_is_that_part() {
        let (file, bytes) = file(2 * BYTES_PER_READ);
        for range in [
            0..1,
            5..BYTES_PER_READ + 9,
            2 * BYTES_PER_READ - 1..2 * BYTES_PER_READ,
        ] {
            let part = range.start as u64..range.end as u64;
            let mut stream = pieces(opened(&file), part, None).expect("seeks");
            let mut read = Vec::new();
            while let Some(piece) = stream.next().await {
                read.extend_from_slice(&piece.expect("a piece"));
            }
            assert!(read == bytes[range.clone()], "{range:?}");
        }
    }

    #[tokio::test]
    async fn of_other_bytes_the_last_piece_never_comes() {
        for length in [10, BYTES_PER_READ, 6 * BYTES_PER_READ + 1] {
            let (file, bytes) = file(length);
            let mut stream = pieces(opened(&file), 0..length as u64, Some([7; 32])).expect("seeks");
            let mut read = 0;
            let end = loop {
                match stream.next().await {
                    Some(Ok(piece)) => read += piece.len(),
                    end => break end,
                }
            };
            assert!(end.expect("an end").is_err(), "{length}");
            assert!(read < bytes.len(), "{length}");
        }
    }

    #[tokio::test]
    async fn a_file_that_became_shorter_breaks_off() {
        let (file, _) = file(10);
        let mut stream = pieces(opened(&file), 0..11, None).expect("seeks");
        assert!(stream.next().await.expect("an end").is_err());
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn a_small_file_comes_at_once() {
        let (file, bytes) = file(1000);
        for most in [1000, 1001] {
            let (size, read) = read_small(file.path(), most).await.expect("reads");
            assert_eq!((size, &read[..]), (1000, &bytes[..]));
        }
        let (size, read) = read_small(file.path(), 999).await.expect("reads");
        assert_eq!((size, read.len()), (1000, 0));
        let gone = read_small(std::path::Path::new("/nowhere/at/all"), 1).await;
        assert_eq!(
            gone.expect_err("is not there").kind(),
            std::io::ErrorKind::NotFound
        );
    }
}
