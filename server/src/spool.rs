//! Large results: written in parts, to memory while small and to an unnamed file when large. A result is
//! complete before the first byte of it leaves, so a failure is one, and a slow client holds no part of the
//! store.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write};

use bytes::Bytes;
use futures_util::{Stream, stream};
use tempfile::SpooledTempFile;

use crate::refusal::Refusal;

/// What is held in memory.
pub(crate) const MEMORY: usize = 1 << 20;
/// What is read at once when the response leaves.
const PIECE: usize = 64 << 10;

/// A response that is being written.
#[derive(Debug)]
pub struct Spool(SpooledTempFile);

impl Default for Spool {
    fn default() -> Spool {
        Spool(SpooledTempFile::new(MEMORY))
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Spool {
    /// How many bytes were written, and the pieces that they are read in.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(
        mut self,
    ) -> Result<(u64, impl Stream<Item = io::Result<Bytes>> + Send + 'static), Refusal> {
        let length = self.rewind().map_err(|error| no_room(&error))?;
        let pieces = stream::try_unfold(self.0, |file| async move {
            if !file.is_rolled() {
                return piece(file);
            }
            let read = tokio::task::spawn_blocking(move || piece(file)).await;
            read.map_err(io::Error::other).flatten()
        });
        Ok((length, pieces))
    }

    /// Goes to the beginning, and says how much there is.
    fn rewind(&mut self) -> io::Result<u64> {
        let length = self.0.stream_position()?;
        self.0.seek(SeekFrom::Start(0))?;
        Ok(length)
    }
}

/// The next piece and what is left.
fn piece(mut file: SpooledTempFile) -> io::Result<Option<(Bytes, SpooledTempFile)>> {
    let mut bytes = vec![0; PIECE];
    let count = file.read(&mut bytes)?;
    bytes.truncate(count);
    Ok((count > 0).then(|| (bytes.into(), file)))
}

/// The refusal of a response that could not be written down.
pub fn no_room(error: &io::Error) -> Refusal {
    tracing::warn!(%error, "an answer could not be written to a temporary file");
    Refusal::unavailable("There is no room for the answer at the moment.")
}
