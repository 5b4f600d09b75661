//! Where commands that make a package put it: a file, an unpacked folder, or standard output.

use std::fs;
use std::path::{Path, PathBuf};

use tplkit::package::canonical::CanonicalError;

use super::error::CliError;
use super::folder::{self, FolderChanges, NotFilled};
use super::output::write_data;
use super::overwrite::refuse_input;
use super::package_file::PackageFile;
use super::replace::{self, FileBytes};
use super::source::is_stdin;

/// Writes a package. A folder that is there, or a name that ends in a slash, gets it unpacked, as
/// `unpack --force` does.
pub(crate) fn write(text: &str, target: Option<&Path>) -> Result<(), CliError> {
    let Some(folder) = target.and_then(folder_of) else {
        return write_data(text, target);
    };
    unpacked(folder::unpack(text, &folder, true))
}

/// Writes what was made of a package that was read whole. Over that package itself it goes only while that is still
/// what was read.
pub(crate) fn write_over(
    package: &PackageFile,
    text: &str,
    target: Option<&Path>,
) -> Result<(), CliError> {
    let itself = target.filter(|target| is_same(&package.path, target));
    let Some(target) = itself else {
        refuse_input(target, [Some(package.path.as_path())])?;
        return write(text, target);
    };
    let read = package.files();
    if let Some(folder) = folder_of(target) {
        return unpacked(folder::unpack_over(text, &folder, &read));
    }
    let new = [FileBytes::new(target.to_owned(), text.as_bytes())];
    replace::rewrite(&package.path, &read, &new)
}

/// Whether two names are of one file or folder that is there.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok().filter(|_| !is_stdin(path));
    real(one).is_some_and(|one| real(other) == Some(one))
}

fn unpacked(changes: Result<FolderChanges, NotFilled>) -> Result<(), CliError> {
    match changes {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;
    use tplkit::package::Source;

    use super::write_over;
    use crate::cli::folder;
    use crate::cli::package_file::{self, PackageFile};

    const TINY: &str = include_str!("../../tests/fixtures/cases/valid/base-tiny.json");

    #[test]
    fn a_file_is_written_over_while_it_is_what_was_read() {
        let place = TempDir::new().expect("a folder");
        let (path, other) = (place.path().join("p.json"), place.path().join("q.json"));
        let package = PackageFile::new(&path, Source::from_bytes(b"read".to_vec()));
        let text = |path| fs::read_to_string(path).expect("a text");
        fs::write(&path, "saved").expect("written");
        let error = write_over(&package, "made", Some(&path)).expect_err("it was changed");
        assert!(error.to_string().contains("was changed"), "{error}");
        assert_eq!(text(&path), "saved");
        // Whatever was in another file goes, as it was asked for.
        fs::write(&other, "old").expect("written");
        write_over(&package, "made", Some(&other)).expect("written");
        assert_eq!(text(&other), "made");
        fs::write(&path, "read").expect("written");
        write_over(&package, "made", Some(&path)).expect("written");
        assert_eq!(text(&path), "made");
    }

    #[test]
    fn a_folder_is_written_over_while_it_is_what_was_read() {
        let place = TempDir::new().expect("a folder");
        let folder = place.path().join("lay");
        assert!(folder::unpack(TINY, &folder, false).is_ok());
        let package = package_file::read_whole(&folder).expect("a package");
        let text = |name: &str| fs::read_to_string(folder.join(name)).expect("a text");
        let (template, index) = (text("template.json"), text("tplkit.index"));
        let saved = format!("{template}\n");
        fs::write(folder.join("template.json"), &saved).expect("written");
        let error = write_over(&package, TINY, Some(&folder)).expect_err("it was changed");
        assert!(error.to_string().contains("template.json"), "{error}");
        assert_eq!(
            (text("template.json"), text("tplkit.index")),
            (saved, index)
        );
        fs::write(folder.join("template.json"), &template).expect("written");
        write_over(&package, TINY, Some(&folder)).expect("written");
        assert_eq!(text("template.json"), template);
    }
}
