//! Accepts an unpacked folder in place of a package file, and packs it in memory.

use std::fs;
use std::path::{Path, PathBuf};

use tplkit::finding::catalog::J001;
use tplkit::finding::{FileKind, FileReport, Finding, Place};
use tplkit::layout::{self, INDEX, Index, PackError, Problem};

use super::folder::OnDisk;

/// Whether a folder holds the index of a package.
pub(crate) fn is_package(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(INDEX)).is_ok()
}

/// The folder of a package that a file belongs to: its index, or what the index names.
pub(crate) fn folder_of(file: &Path) -> Option<PathBuf> {
    // Files are in the folder itself, or in a folder of it.
    let above = file.ancestors().skip(1).take(2);
    let folder = above.filter(|folder| is_package(folder)).find(|folder| {
        let name = file.strip_prefix(folder).unwrap_or(file);
        name == Path::new(INDEX) || names(folder, name)
    })?;
    let empty = folder.as_os_str().is_empty();
    Some(if empty { ".".into() } else { folder.to_owned() })
}

/// Whether the index of a folder names a file in it.
pub(crate) fn names(folder: &Path, file: &Path) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(INDEX)) else {
        return false;
    };
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    let files = Index::read(&text).0.files();
    files.binary_search(&parts.join("/")).is_ok()
}

/// The package of a folder, in canonical form.
///
/// # Errors
/// What keeps it from being packed.
pub(crate) fn text(folder: &Path) -> Result<Vec<u8>, PackError> {
    let mut bytes = Vec::new();
    layout::pack(&OnDisk(folder.to_owned()), &mut bytes)?;
    Ok(bytes)
}

/// What a check says of a folder that cannot be packed: nothing else of it can be checked.
pub(crate) fn broken(problems: &[Problem]) -> FileReport {
    let finding = |problem: &Problem| {
        let at = problem.at;
        let at = at.map(|at| format!(":{}:{}", at.line, at.column));
        let (name, message) = (&problem.name, &problem.message);
        let message = format!(
            "the folder cannot be packed: {name}{}: {message}",
            at.unwrap_or_default()
        );
        let mut finding = Finding::new(&J001, Place::file(), message);
        "Fix the file that is named; `tplkit pack DIR` says when the folder is whole again."
            .clone_into(&mut finding.help);
        finding
    };
    FileReport {
        kind: FileKind::Package,
        findings: problems.iter().map(finding).collect(),
        promotion: None,
    }
}
