//! Reads the files and streams named on the command line.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tplkit::package::Source;

use super::error::{CliError, ReadTwice};

/// The path that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// Whether the path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

/// Standard input, once: the second time it is empty, which would count as no decisions or no rows.
fn read_stdin() -> io::Result<Source> {
    static READ: AtomicBool = AtomicBool::new(false);
    if READ.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other(ReadTwice));
    }
    Source::read(io::stdin().lock())
}

/// A file, mapped when it is large, or standard input.
pub(crate) fn read(path: &Path) -> io::Result<Source> {
    if is_stdin(path) {
        return read_stdin();
    }
    Source::open(path)
}

/// Like `read`, never mapped: a mapping shows later changes of the file.
pub(crate) fn read_whole(path: &Path) -> io::Result<Source> {
    if is_stdin(path) {
        return read_stdin();
    }
    Source::read(File::open(path)?)
}

/// What [`read`] gives, or the error that names the path.
pub(crate) fn open(path: &Path) -> Result<Source, CliError> {
    read(path).map_err(|source| CliError::Read {
        path: path.to_owned(),
        source,
    })
}

/// A file that must be text, such as a registry.
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let source = open(path)?;
    text(path, &source).map(str::to_owned)
}

/// The text of a file that was read.
pub(crate) fn text<'s>(path: &Path, source: &'s Source) -> Result<&'s str, CliError> {
    source.text().map_err(|fault| CliError::Read {
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidData, fault),
    })
}
