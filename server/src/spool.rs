//! Large results: written in parts, to memory while small and to an unnamed file when large. A result is
//! complete before the first byte of it leaves, so a failure is one, and a slow client holds no part of the
//! store. A text that is looked at next to another one is read where it lies, so that memory holds one.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::ops::Deref;

use bytes::Bytes;
use futures_util::{Stream, stream};
use tempfile::{SpooledData, SpooledTempFile};
use tplkit::package::Source;

use crate::refusal::Refusal;

/// What is held in memory.
pub(crate) const MAX_BYTES_IN_MEMORY: usize = 1 << 20;
/// What is read at once when the response leaves.
const BYTES_PER_READ: usize = 64 << 10;

/// A text that is read where it lies: a large one in a file without a name, of which the system holds in memory
/// what it has room for.
#[derive(Debug)]
pub struct SpooledText(Source);

impl SpooledText {
    /// Puts a text there.
    ///
    /// # Errors
    /// When there is no room for a file.
    pub(crate) fn of(text: String) -> io::Result<SpooledText> {
        if text.len() <= MAX_BYTES_IN_MEMORY {
            return Ok(SpooledText(Source::from_bytes(text.into_bytes())));
        }
        let mut spool = Spool::default();
        spool.write_all(text.as_bytes())?;
        drop(text);
        spool.into_text()
    }
}

impl Deref for SpooledText {
    type Target = str;

    #[expect(
        unsafe_code,
        reason = "what was found to be text is not looked at again each time"
    )]
    fn deref(&self) -> &str {
        // SAFETY: the bytes were found to be UTF-8 when they were put here, and nobody changes them: the file has
        // no name by which others could open it, and its handle is closed.
        unsafe { str::from_utf8_unchecked(self.0.bytes()) }
    }
}

/// A response that is being written.
#[derive(Debug)]
pub struct Spool(SpooledTempFile);

impl Default for Spool {
    fn default() -> Spool {
        Spool(SpooledTempFile::new(MAX_BYTES_IN_MEMORY))
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
        let length = self.rewind().map_err(|error| disk_full(&error))?;
        let pieces = stream::try_unfold(self.0, |file| async move {
            if !file.is_rolled() {
                return piece(file);
            }
            let read = tokio::task::spawn_blocking(move || piece(file)).await;
            read.map_err(io::Error::other).flatten()
        });
        Ok((length, pieces))
    }

    /// What was written, as a text.
    ///
    /// # Errors
    /// When the file cannot be read, or is not text.
    pub(crate) fn into_text(mut self) -> io::Result<SpooledText> {
        self.rewind()?;
        let source = match self.0.into_inner() {
            SpooledData::InMemory(bytes) => Source::from_bytes(bytes.into_inner()),
            SpooledData::OnDisk(mut file) => Source::of_file(&mut file)?,
        };
        str::from_utf8(source.bytes()).map_err(io::Error::other)?;
        Ok(SpooledText(source))
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
    let mut bytes = vec![0; BYTES_PER_READ];
    let count = file.read(&mut bytes)?;
    bytes.truncate(count);
    Ok((count > 0).then(|| (bytes.into(), file)))
}

/// The refusal of a response that could not be written down.
pub fn disk_full(error: &io::Error) -> Refusal {
    tracing::warn!(%error, "a response could not be written to a temporary file");
    Refusal::unavailable("There is no room for the response at the moment.")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{MAX_BYTES_IN_MEMORY, Spool, SpooledText};

    #[test]
    fn a_text_is_read_as_it_was_written_whether_it_is_large_or_not() {
        for count in [0, 3, MAX_BYTES_IN_MEMORY / 4 + 1] {
            let mut spool = Spool::default();
            for _ in 0..count {
                spool.write_all("zwölf".as_bytes()).expect("room");
            }
            let text = "zwölf".repeat(count);
            assert_eq!(&*spool.into_text().expect("is there"), text);
            assert_eq!(&*SpooledText::of(text.clone()).expect("room"), text);
        }
        let mut spool = Spool::default();
        spool.write_all(b"\xFF").expect("room");
        spool.into_text().expect_err("is not text");
    }
}
