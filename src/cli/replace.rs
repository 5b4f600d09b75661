//! Replaces files atomically: readers never see an incomplete file.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::error::CliError;

/// Writes `bytes` to `path` through a temporary file next to it and a rename: killed at any moment,
/// the path holds the old content or the new, whole. A link is followed to the real file, and
/// permissions stay. What is not a regular file (a pipe, a terminal) is written to as it is.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    put(path, bytes, 0o666)
}

/// The same for what only the user may read: a new file is private from its first byte.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    put(path, bytes, 0o600)
}

fn put(path: &Path, bytes: &[u8], new: u32) -> Result<(), CliError> {
    replace(path, bytes, new).map_err(|source| CliError::Write {
        path: path.to_owned(),
        source,
    })
}

/// `new` are the permissions of a file that did not exist, before the umask takes its share.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are none"))]
fn replace(path: &Path, bytes: &[u8], new: u32) -> io::Result<()> {
    let target = resolve(path)?;
    let old = match fs::metadata(&target) {
        Ok(metadata) if !metadata.is_file() => {
            return fs::OpenOptions::new()
                .write(true)
                .open(&target)?
                .write_all(bytes);
        }
        Ok(metadata) if metadata.permissions().readonly() => {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is marked read-only",
            ));
        }
        Ok(metadata) => Some(metadata.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tplkit-").suffix(".tmp");
    // A temporary file would be private.
    #[cfg(unix)]
    if old.is_none() {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(new));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = old {
        file.as_file().set_permissions(permissions)?;
    }
    // Before the rename, or a crash could leave the new name with no content.
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// The real file behind a link, also when that file does not exist yet.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Ok(path.parent().unwrap_or(Path::new("")).join(target)),
            Err(_) => Ok(path.to_owned()),
        },
        Err(error) => Err(error),
    }
}
