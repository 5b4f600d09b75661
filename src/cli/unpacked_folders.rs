//! Knows which folders are unpacked packages, and which files belong to one.

use std::fs;
use std::path::{Path, PathBuf};

use tplkit::layout::{INDEX, Index};

/// Whether a folder holds the index of a package.
pub(crate) fn is_package(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(INDEX)).is_ok()
}

/// The folder of a package that a file belongs to: its index, or what the index names.
pub(crate) fn folder_of(file: &Path) -> Option<PathBuf> {
    let name = PathBuf::from(file.file_name()?);
    let near = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if is_package(&near) && (name == Path::new(INDEX) || names(&near, &name)) {
        return Some(near);
    }
    // Files are in the folder itself, or in a folder of it.
    let above = match (near.file_name(), near.parent()) {
        (Some(_), Some(above)) if above.as_os_str().is_empty() => PathBuf::from("."),
        (Some(_), Some(above)) => above.to_owned(),
        _ => near.join(".."),
    };
    let real = std::path::absolute(&near).ok()?;
    let inside = Path::new(real.file_name()?).join(name);
    (is_package(&above) && names(&above, &inside)).then_some(above)
}

/// Whether the index of a folder names a file in it.
pub(crate) fn names(folder: &Path, file: &Path) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(INDEX)) else {
        return false;
    };
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let files = Index::read(text).0.files();
    files.binary_search(&parts.join("/")).is_ok()
}
