//! Replaces files atomically: readers never see an incomplete file. What was made of a file takes the place of
//! what it was made of, and of nothing that somebody saved meanwhile.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::error::CliError;

/// A file with its bytes: those that were read of it, or those that it is to have.
#[derive(Debug)]
pub(crate) struct FileBytes<'b> {
    path: PathBuf,
    bytes: &'b [u8],
}

impl<'b> FileBytes<'b> {
    pub(crate) fn new(path: PathBuf, bytes: &'b [u8]) -> FileBytes<'b> {
        FileBytes { path, bytes }
    }
}

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

/// Writes what was made of a file over it, while it still holds what was read.
pub(crate) fn rewrite_file(path: &Path, read: &[u8], bytes: &[u8]) -> Result<(), CliError> {
    let read = [FileBytes::new(path.to_owned(), read)];
    rewrite(path, &read, &[FileBytes::new(path.to_owned(), bytes)])
}

/// Writes what was made of a package, a file or an unpacked folder, over files of it: all of them, or none when a
/// file does not hold any more what was read of it.
///
/// Between the comparison and the renames nothing else is done, because no file system renames on a condition: what
/// is saved in that moment is still lost.
pub(crate) fn rewrite(
    package: &Path,
    read: &[FileBytes<'_>],
    new: &[FileBytes<'_>],
) -> Result<(), CliError> {
    let mut staged = Vec::with_capacity(new.len());
    for file in new {
        let stage = Staged::new(&file.path, file.bytes, 0o666);
        staged.push(stage.map_err(failed(&file.path))?);
    }
    for file in read {
        unchanged(package, file)?;
    }
    for (file, staged) in new.iter().zip(staged) {
        staged.put().map_err(failed(&file.path))?;
    }
    Ok(())
}

/// Errs when a file of a package does not hold any more what was read of it.
pub(crate) fn unchanged(package: &Path, read: &FileBytes<'_>) -> Result<(), CliError> {
    let path = &read.path;
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        // It would be waited for, and gives nothing twice.
        return Ok(());
    }
    let since = match holds(path, read.bytes) {
        Ok(true) => return Ok(()),
        Ok(false) => "changed",
        Err(error) if error.kind() == io::ErrorKind::NotFound => "removed",
        Err(source) => return Err(failed(path)(source)),
    };
    Err(CliError::ChangedSince {
        path: path.clone(),
        since,
        package: package.to_owned(),
    })
}

/// Whether a file holds these bytes. It is not held a second time.
fn holds(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut part = vec![0; 64 << 10];
    let mut left = bytes;
    loop {
        let length = file.read(&mut part)?;
        if length == 0 {
            return Ok(left.is_empty());
        }
        let Some(rest) = left.strip_prefix(&part[..length]) else {
            return Ok(false);
        };
        left = rest;
    }
}

fn put(path: &Path, bytes: &[u8], new: u32) -> Result<(), CliError> {
    let staged = Staged::new(path, bytes, new);
    staged.and_then(Staged::put).map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> CliError {
    let path = path.to_owned();
    move |source| CliError::Write { path, source }
}

/// New content that is prepared next to the file, before it is visible.
enum Staged<'b> {
    /// It lies next to the file that it is for, complete.
    File {
        /// Its temporary name, which goes with it when it is not wanted.
        temporary: TempPath,
        /// The name that it gets.
        target: PathBuf,
    },
    /// It goes to something that is no regular file.
    Stream {
        /// What that is.
        target: PathBuf,
        /// What it gets.
        bytes: &'b [u8],
    },
}

impl<'b> Staged<'b> {
    /// `new` are the permissions of a file that did not exist, before the umask takes its share.
    #[cfg_attr(not(unix), expect(unused_variables, reason = "there are none"))]
    fn new(path: &Path, bytes: &'b [u8], new: u32) -> io::Result<Staged<'b>> {
        let target = resolve(path)?;
        let old = match fs::metadata(&target) {
            Ok(metadata) if !metadata.is_file() => return Ok(Staged::Stream { target, bytes }),
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
        // Closed: a folder may have more files than a process may have open.
        let temporary = file.into_temp_path();
        Ok(Staged::File { temporary, target })
    }

    /// Lets it be seen.
    fn put(self) -> io::Result<()> {
        match self {
            Staged::File { temporary, target } => {
                temporary.persist(&target).map_err(|error| error.error)
            }
            Staged::Stream { target, bytes } => fs::OpenOptions::new()
                .write(true)
                .open(&target)?
                .write_all(bytes),
        }
    }
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

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::{FileBytes, rewrite, rewrite_file};
    use crate::cli::exit::Exit;

    /// The names in a folder with what they hold.
    fn files(folder: &TempDir) -> Vec<(String, String)> {
        let entries = fs::read_dir(folder.path()).expect("a folder");
        let mut files: Vec<(String, String)> = entries
            .map(|entry| {
                let entry = entry.expect("an entry");
                let name = entry.file_name().into_string().expect("a text");
                (name, fs::read_to_string(entry.path()).expect("a text"))
            })
            .collect();
        files.sort();
        files
    }

    fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        files.iter().map(owned).collect()
    }

    #[test]
    fn what_was_made_of_a_file_replaces_what_it_was_made_of() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("p.json");
        fs::write(&path, "read").expect("written");
        rewrite_file(&path, b"read", b"fixed").expect("replaced");
        assert_eq!(files(&folder), pairs(&[("p.json", "fixed")]));
    }

    #[test]
    fn what_somebody_saved_meanwhile_stays() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("p.json");
        fs::write(&path, "saved").expect("written");
        let error = rewrite_file(&path, b"read", b"fixed").expect_err("it was changed");
        assert_eq!(files(&folder), pairs(&[("p.json", "saved")]));
        let message = format!(
            "`{}` was changed after it was read: nothing was written to it",
            path.display()
        );
        assert_eq!(error.to_string(), message);
        assert_eq!(error.path(), Some(&path));
        assert!(error.help().is_some());
        assert_eq!(error.exit(), Exit::Usage);
    }

    #[test]
    fn what_somebody_removed_meanwhile_stays_away() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("p.json");
        let error = rewrite_file(&path, b"read", b"fixed").expect_err("it is gone");
        assert_eq!(files(&folder), []);
        assert!(error.to_string().contains("was removed after"), "{error}");
    }

    #[test]
    fn of_a_folder_all_is_written_or_nothing() {
        let folder = TempDir::new().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let read = [
            FileBytes::new(path("a"), b"1"),
            FileBytes::new(path("b"), b"2"),
            FileBytes::new(path("c"), b"3"),
        ];
        let new = [
            FileBytes::new(path("a"), b"one"),
            FileBytes::new(path("b"), b"two"),
        ];
        let write = |name: &str, text: &str| fs::write(path(name), text).expect("written");
        let write_all = || {
            for (name, text) in [("a", "1"), ("b", "2"), ("c", "3")] {
                write(name, text);
            }
        };
        for saved in ["b", "c"] {
            write_all();
            write(saved, "saved");
            let before = files(&folder);
            let error = rewrite(folder.path(), &read, &new).expect_err("it was changed");
            assert_eq!(files(&folder), before);
            let message = error.to_string();
            let whole = format!("nothing was written to `{}`", folder.path().display());
            assert!(
                message.contains(&format!("{saved}` was changed")) && message.ends_with(&whole),
                "{message}"
            );
        }
        write_all();
        rewrite(folder.path(), &read, &new).expect("replaced");
        let after = pairs(&[("a", "one"), ("b", "two"), ("c", "3")]);
        assert_eq!(files(&folder), after);
    }
}
