//! Where commands that make a package put it: a file, an unpacked folder, or standard output.

use std::path::{Path, PathBuf};

use tplkit::package::canonical::CanonicalError;

use super::error::CliError;
use super::folder::{self, NotFilled};
use super::output::write_data;

/// Writes a package. A folder that is there, or a name that ends in a slash, gets it unpacked, as
/// `unpack --force` does.
pub(crate) fn write(text: &str, target: Option<&Path>) -> Result<(), CliError> {
    let Some(folder) = target.and_then(folder_of) else {
        return write_data(text, target);
    };
    match folder::unpack(text, &folder, true) {
        Ok(_) => Ok(()),
        Err(NotFilled::Folder(error)) => Err(error),
        Err(NotFilled::Package(error)) => Err(not_unpacked(&error)),
    }
}

/// The folder that is meant, without the slash at its end.
pub(crate) fn folder_of(target: &Path) -> Option<PathBuf> {
    let last = target.as_os_str().as_encoded_bytes().last();
    let slash = last.is_some_and(|last| std::path::is_separator(char::from(*last)));
    (slash || target.is_dir()).then(|| target.components().collect())
}

fn not_unpacked(error: &CanonicalError) -> CliError {
    CliError::Usage {
        message: format!("the package cannot be unpacked: {error}"),
        help: "write it to a file, and fix that".to_owned(),
    }
}
