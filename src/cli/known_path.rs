//! What a baseline calls a package: its path from the folder of the baseline, wherever the command is run and however the
//! package is named.

use std::fs;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use super::source::is_stdin;

/// The name of a package in a baseline whose paths are relative to a folder. A link is what it is called, not what it
/// leads to; a package that is not there yet has the name that it will have.
pub(crate) fn known_path(folder: &Path, package: &Path) -> String {
    if is_stdin(package) {
        return slashed(package);
    }
    let folder = fs::canonicalize(folder).ok();
    let known = folder.and_then(|folder| between(&folder, &place_of(package)?));
    slashed(known.as_deref().unwrap_or(package))
}

/// The path of a file in a real folder.
fn place_of(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let (Some(parent), Some(_)) = (path.parent(), path.file_name()) else {
        return fs::canonicalize(&path).ok();
    };
    // An editor may be ahead of the disk.
    parent.ancestors().find_map(|folder| {
        let real = fs::canonicalize(folder).ok()?;
        Some(real.join(path.strip_prefix(folder).ok()?))
    })
}

/// The way from a folder to a file; none where they lie on different drives.
fn between(folder: &Path, file: &Path) -> Option<PathBuf> {
    let pairs = folder.components().zip(file.components());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    if shared == 0 {
        return None;
    }
    let up = folder.components().skip(shared);
    let up = up.map(|_| Component::ParentDir);
    Some(up.chain(file.components().skip(shared)).collect())
}

/// The path with slashes, as files for every system have it.
fn slashed(path: &Path) -> String {
    let path: PathBuf = path.components().collect();
    path.to_string_lossy().replace(MAIN_SEPARATOR, "/")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{between, known_path};

    #[test]
    fn the_way_leads_up_and_down() {
        for (folder, file, way) in [
            ("/a/b", "/a/b/p.json", "p.json"),
            ("/a/b", "/a/b/c/p.json", "c/p.json"),
            ("/a/b", "/a/p.json", "../p.json"),
            ("/a/b", "/x/p.json", "../../x/p.json"),
            ("/", "/p.json", "p.json"),
            ("/a/b", "/a/b", ""),
        ] {
            let found = between(Path::new(folder), Path::new(file));
            assert_eq!(found.as_deref(), Some(Path::new(way)), "{folder} {file}");
        }
        assert_eq!(between(Path::new("a"), Path::new("b")), None);
        assert_eq!(known_path(Path::new("."), Path::new("-")), "-");
    }
}
