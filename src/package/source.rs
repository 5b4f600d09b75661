//! The bytes of one file, as a text that rules can point into.
//!
//! In: a path, a stream or bytes. Out: UTF-8 text without a byte-order mark, so that
//! offsets never count one; or the [`SyntaxError`] that says why there is no text. Nothing here
//! looks at JSON.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::json::{SyntaxError, SyntaxKind};

/// Files from this size on are mapped; smaller ones are cheaper to copy.
const MAPPED_FROM: u64 = 1 << 20;

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// One file's bytes.
#[derive(Debug)]
pub struct Source {
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Read(Vec<u8>),
    Mapped(memmap2::Mmap),
}

impl Source {
    /// Opens a file: read when it is small or no plain file, mapped when it is large.
    ///
    /// A mapping shows the file as it is, not as it was: whoever shortens a large file while it
    /// is being checked ends this process with `SIGBUS`, and whoever rewrites it in place gets a
    /// report about a mixture. Tools that replace files by renaming disturb nothing.
    pub fn open(path: &Path) -> io::Result<Source> {
        Source::of_file(&mut File::open(path)?)
    }

    /// Like [`open`](Source::open), for an open file, which may have no name any longer. A small file is read from its
    /// current position, a large one is mapped whole.
    pub fn of_file(file: &mut File) -> io::Result<Source> {
        let about = file.metadata()?;
        if about.is_file() && about.len() >= MAPPED_FROM {
            return Ok(Source {
                bytes: Bytes::Mapped(map(file)?),
            });
        }
        let expected = usize::try_from(about.len()).unwrap_or_default();
        let mut bytes = Vec::with_capacity(expected + 1);
        file.read_to_end(&mut bytes)?;
        Ok(Source::from_bytes(bytes))
    }

    /// Reads a stream to its end (standard input, an upload).
    pub fn read(mut stream: impl Read) -> io::Result<Source> {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        Ok(Source::from_bytes(bytes))
    }

    /// Takes bytes that are there already.
    pub fn from_bytes(bytes: Vec<u8>) -> Source {
        Source {
            bytes: Bytes::Read(bytes),
        }
    }

    /// The bytes as they are, a byte-order mark included.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Read(bytes) => bytes,
            Bytes::Mapped(map) => map,
        }
    }

    /// The text without its byte-order mark.
    pub fn text(&self) -> Result<&str, SyntaxError> {
        text_of(self.bytes())
    }
}

/// The text in `bytes`, without a byte-order mark. Offsets of errors do not count one either.
pub fn text_of(bytes: &[u8]) -> Result<&str, SyntaxError> {
    let error = |offset, kind| SyntaxError { offset, kind };
    let body = bytes.strip_prefix(MARK).unwrap_or(bytes);
    if body.starts_with(MARK) {
        return Err(error(0, SyntaxKind::SecondByteOrderMark));
    }
    if is_utf16(bytes) {
        return Err(error(0, SyntaxKind::Utf16));
    }
    simdutf8::compat::from_utf8(body)
        .map_err(|found| error(found.valid_up_to(), SyntaxKind::InvalidUtf8))
}

/// Whether the text begins as UTF-16 does: with its mark, or with an ASCII character (JSON begins
/// with one) that has a zero byte next to it.
fn is_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [0, low, ..] => *low != 0,
        [high, 0, ..] => *high != 0,
        _ => false,
    }
}

#[expect(unsafe_code, reason = "mapping a file cannot be done in safe Rust")]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the mapping is private and read-only, and nobody in this process writes to the
    // file while it is mapped. Other processes may: no Rust code can rule that out, and the
    // alternative, copying hundreds of megabytes, would double the memory of every large check.
    // Rows are read once or twice by offset with checked indexing, so bytes that change under
    // us make wrong findings or a panic on a character boundary, not a wild access; a file that
    // is cut short raises SIGBUS, as it does for every program that maps it.
    unsafe { memmap2::Mmap::map(file) }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Source, text_of};
    use crate::json::SyntaxKind;

    #[test]
    fn one_byte_order_mark_is_not_counted() {
        assert_eq!(text_of(b"\xEF\xBB\xBF{}"), Ok("{}"));
        assert_eq!(text_of(b"{}"), Ok("{}"));
        assert_eq!(text_of(b""), Ok(""));
    }

    #[test]
    fn what_is_not_text_says_why() {
        let cases: [(&[u8], usize, SyntaxKind); 8] = [
            (
                b"\xEF\xBB\xBF\xEF\xBB\xBF{}",
                0,
                SyntaxKind::SecondByteOrderMark,
            ),
            (b"\xFF\xFE{\0}\0", 0, SyntaxKind::Utf16),
            (b"\xFE\xFF\0{\0}", 0, SyntaxKind::Utf16),
            (b"{\0}\0", 0, SyntaxKind::Utf16),
            (b"\0{\0}", 0, SyntaxKind::Utf16),
            (b"{\"a\":\"\xFF\"}", 6, SyntaxKind::InvalidUtf8),
            (b"\xEF\xBB\xBF{\"a\":\"\xC3\"}", 6, SyntaxKind::InvalidUtf8),
            // A surrogate written as UTF-8.
            (b"\"\xED\xA0\x80\"", 1, SyntaxKind::InvalidUtf8),
        ];
        for (bytes, offset, kind) in cases {
            let error = text_of(bytes).expect_err("no text");
            assert_eq!((error.offset, error.kind), (offset, kind), "{bytes:?}");
        }
    }

    #[test]
    fn small_files_are_read_and_large_ones_mapped_alike() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"\xEF\xBB\xBF[1]").expect("written");
        assert_eq!(Source::open(file.path()).expect("opened").text(), Ok("[1]"));
        let rest = vec![b' '; 2 << 20];
        file.write_all(&rest).expect("written");
        let large = Source::open(file.path()).expect("opened");
        let body = large.text().expect("text");
        assert!(body.starts_with("[1] ") && body.len() == 3 + rest.len());
    }

    #[test]
    fn a_missing_file_is_an_error() {
        assert!(Source::open(std::path::Path::new("/nowhere/at/all.json")).is_err());
    }
}
