//! Which tests a package has.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::error::CliError;
use crate::cli::package_file::PackageFile;
use crate::cli::walk::is_editor_lock;

/// The folder of the tests of a package.
pub(super) fn folder(named: Option<&Path>, package: &PackageFile) -> PathBuf {
    const TESTS: &str = "tests";
    match (named, package.is_folder()) {
        (Some(named), _) => named.to_owned(),
        (None, true) => package.path.join(TESTS),
        (None, false) => package.path.parent().unwrap_or(Path::new("")).join(TESTS),
    }
}

/// The tests in it, by name. A folder that was named has to be there.
pub(super) fn tests(folder: &Path, named: bool) -> Result<Vec<PathBuf>, CliError> {
    let failed = |source| CliError::Read {
        path: folder.to_owned(),
        source,
    };
    if !named && !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_test = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        if !is_test || path.is_dir() || is_editor_lock(&path) {
            continue;
        }
        // Reading a pipe would wait for ever.
        if fs::metadata(&path).is_ok_and(|file| !file.is_file()) {
            let source = io::Error::other("it is not a file");
            return Err(CliError::Read { path, source });
        }
        found.push(path);
    }
    found.sort();
    Ok(found)
}
