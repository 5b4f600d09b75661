//! Reads the files and streams named on the command line.

use std::io;
use std::path::Path;

use tplkit::package::Source;

use super::error::CliError;

/// The path that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// Whether the path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

/// A file, mapped when it is large, or standard input.
pub(crate) fn read(path: &Path) -> io::Result<Source> {
    if is_stdin(path) {
        return Source::read(io::stdin().lock());
    }
    Source::open(path)
}

/// The same, or the error that names the path.
pub(crate) fn open(path: &Path) -> Result<Source, CliError> {
    read(path).map_err(|source| CliError::Read {
        path: path.to_owned(),
        source,
    })
}

/// A file that must be text, such as a registry.
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let error = |source| CliError::Read {
        path: path.to_owned(),
        source,
    };
    let source = open(path)?;
    let text = source
        .text()
        .map_err(|fault| error(io::Error::new(io::ErrorKind::InvalidData, fault)))?;
    Ok(text.to_owned())
}
