//! Keeps a result from going over what it was made of.

use std::fs;
use std::path::{Path, PathBuf};

use tplkit::printable;

use super::error::CliError;
use super::source::is_stdin;
use super::unpacked_folders;

/// Errs when a result would go over one of the inputs that it is made of.
pub(crate) fn refuse_input<'p>(
    target: Option<&Path>,
    inputs: impl IntoIterator<Item = Option<&'p Path>>,
) -> Result<(), CliError> {
    let Some(target) = target else {
        return Ok(());
    };
    if inputs
        .into_iter()
        .flatten()
        .any(|input| is_input(target, input))
    {
        return Err(CliError::Usage {
            message: format!(
                "`{}` is an input of this command, and the result would go over it",
                printable::path(target)
            ),
            help: "name another file".to_owned(),
        });
    }
    Ok(())
}

/// Whether a target is the input, or a file of it where that is an unpacked folder.
pub(crate) fn is_input(target: &Path, input: &Path) -> bool {
    // A pipe, a terminal or a device holds nothing that could be lost.
    if fs::metadata(target).is_ok_and(|about| !about.is_file()) {
        return false;
    }
    let Some(place) = place_of(target) else {
        return false;
    };
    let folder = unpacked_folders::folder_of(&place);
    place_of(input).is_some_and(|input| input == place)
        || folder.is_some_and(|folder| place_of(&folder) == place_of(&package_of(input)))
}

/// Where a file is, or would be: a baseline may be read, or written, that is not there yet.
fn place_of(path: &Path) -> Option<PathBuf> {
    if is_stdin(path) {
        return None;
    }
    let parent = path.parent();
    let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let real = fs::canonicalize(path).ok();
    real.or_else(|| Some(fs::canonicalize(parent).ok()?.join(path.file_name()?)))
}

/// A file of an unpacked folder means all of it.
fn package_of(input: &Path) -> PathBuf {
    unpacked_folders::folder_of(input).unwrap_or_else(|| input.to_owned())
}
