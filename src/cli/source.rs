//! Reading of the files and streams that are named on the command line.

use std::io::{self, Read as _};
use std::path::Path;

use super::error::CliError;

/// The path that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// Whether the path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

/// The bytes of a file or of standard input.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if is_stdin(path) {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path)
}

/// A file that must be text, such as a registry.
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let error = |source| CliError::Read {
        path: path.to_owned(),
        source,
    };
    let bytes = read(path).map_err(error)?;
    String::from_utf8(bytes).map_err(|_| {
        error(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is not UTF-8 text",
        ))
    })
}
