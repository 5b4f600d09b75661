//! Unpacked packages on the disk.
//!
//! A new folder is written under another name and renamed, so it is never incomplete. In an
//! existing folder, the index says *unfinished* before the first file is replaced, and is itself
//! replaced last: `pack` refuses an unfinished folder.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tplkit::layout::{self, FileSink, Folder, INDEX, Index, Section, WriteContent, is_name};
use tplkit::package::Source;
use tplkit::package::canonical::CanonicalError;
use tplkit::printable;

use super::error::CliError;
use super::replace::{self, FileBytes};

/// A folder of an unpacked package, for reading.
pub(crate) struct OnDisk(pub(crate) PathBuf);

impl OnDisk {
    /// The bytes of a file, copied; nothing when there is none.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        if !is_plain(&self.0, name)? {
            return Ok(None);
        }
        fs::read(self.0.join(name)).map(Some)
    }
}

impl Folder for OnDisk {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for (name, entry) in entries(&self.0)? {
            if !entry.file_type()?.is_dir() {
                names.push(name);
            } else if is_name(&format!("{name}/x.json")) {
                let inside = entries(&entry.path())?.into_iter();
                names.extend(inside.map(|(file, _)| format!("{name}/{file}")));
            }
        }
        Ok(names)
    }

    fn open(&self, name: &str) -> io::Result<Option<Source>> {
        if !is_plain(&self.0, name)? {
            return Ok(None);
        }
        Source::open(&self.0.join(name)).map(Some)
    }
}

/// The entries of a folder whose names are text; no other name can be one of ours.
fn entries(folder: &Path) -> io::Result<Vec<(String, fs::DirEntry)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            entries.push((name, entry));
        }
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(entries)
}

/// Whether there is such a file. A link on the way is refused: it could lead out of the folder.
fn is_plain(root: &Path, name: &str) -> io::Result<bool> {
    let mut path = root.to_owned();
    for part in name.split('/') {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(about) if about.is_symlink() => {
                return Err(io::Error::other(
                    "it is a link, which could lead out of the folder",
                ));
            }
            // Whoever opens a pipe waits for somebody to write into it.
            Ok(about) if !about.is_file() && !about.is_dir() => {
                return Err(io::Error::other(
                    "it is a pipe, a socket or a device; put a plain file in its place",
                ));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// A folder that is being filled.
struct FolderSink<'f>(&'f Path);

impl FileSink for FolderSink<'_> {
    fn create(&mut self, name: &str, fill: WriteContent<'_>) -> Result<(), CanonicalError> {
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = io::BufWriter::new(fs::File::create(path)?);
        fill(&mut file)?;
        Ok(file.flush()?)
    }
}

/// What was done.
pub(crate) struct FolderChanges {
    /// Files of the package.
    pub(crate) files: Vec<String>,
    /// Files of an earlier package that were removed.
    pub(crate) removed: Vec<String>,
}

/// Why it was not.
pub(crate) enum NotFilled {
    /// The text is not a package that can be taken apart.
    Package(CanonicalError),
    /// The folder cannot be used.
    Folder(CliError),
}

impl From<CliError> for NotFilled {
    fn from(error: CliError) -> NotFilled {
        NotFilled::Folder(error)
    }
}

/// Unpacks into a folder. Only with `force` into one that holds something; then the files of an
/// earlier package are replaced, and those of nobody else are touched.
pub(crate) fn unpack(text: &str, folder: &Path, force: bool) -> Result<FolderChanges, NotFilled> {
    unpack_into(text, folder, force, &[])
}

/// Unpacks what was made of a folder over it, while its files still hold what was read.
pub(crate) fn unpack_over(
    text: &str,
    folder: &Path,
    read: &[FileBytes<'_>],
) -> Result<FolderChanges, NotFilled> {
    unpack_into(text, folder, true, read)
}

fn unpack_into(
    text: &str,
    folder: &Path,
    force: bool,
    read: &[FileBytes<'_>],
) -> Result<FolderChanges, NotFilled> {
    let failed = |source| CliError::Write {
        path: folder.to_owned(),
        source,
    };
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.next().is_some() && !force {
                return Err(NotFilled::Folder(CliError::Usage {
                    message: format!("the folder `{}` is not empty", printable::path(folder)),
                    help: "name another, or add `--force`: it replaces the files of an earlier `unpack` and leaves all others alone".to_owned(),
                }));
            }
            let stage = stage(folder).map_err(failed)?;
            let index = fill(stage.path(), text, folder)?;
            Ok(replace_files(folder, stage.path(), &index, read)?)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let stage = stage(parent_of(folder)).map_err(failed)?;
            let index = fill(stage.path(), text, folder)?;
            fs::rename(stage.path(), folder).map_err(failed)?;
            // Nothing is left to be removed under the old name.
            let _ = stage.keep();
            Ok(FolderChanges {
                files: index.files(),
                removed: Vec::new(),
            })
        }
        Err(error) => Err(NotFilled::Folder(failed(error))),
    }
}

fn parent_of(folder: &Path) -> &Path {
    folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A folder for the files until all of them are there; on the same disk, or no rename would do.
fn stage(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tplkit-").suffix(".tmp");
    // A temporary folder would be private; this one becomes the folder that was asked for.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(parent)
}

fn fill(stage: &Path, text: &str, folder: &Path) -> Result<Index, NotFilled> {
    match layout::unpack(text, &mut FolderSink(stage)) {
        Ok(unpacked) => Ok(unpacked.index),
        Err(CanonicalError::Write(source)) => Err(NotFilled::Folder(CliError::Write {
            path: folder.to_owned(),
            source,
        })),
        Err(error) => Err(NotFilled::Package(error)),
    }
}

/// Puts the staged files in place of those that an earlier package left, if those that were `read` are still there.
fn replace_files(
    folder: &Path,
    stage: &Path,
    new: &Index,
    read: &[FileBytes<'_>],
) -> Result<FolderChanges, CliError> {
    let old = earlier(folder)?;
    let files = new.files();
    let known: BTreeSet<String> = old.files().into_iter().collect();
    let failed = |name: &str| {
        let path = folder.join(name);
        move |source| CliError::Write { path, source }
    };
    for name in &files {
        let there = is_plain(folder, name).map_err(failed(name))?;
        if there && !known.contains(name) {
            return Err(CliError::Usage {
                message: format!(
                    "`{}` is in the way: it comes from no earlier `unpack`",
                    printable::path(&folder.join(name))
                ),
                help: "move it away, or unpack into another folder".to_owned(),
            });
        }
    }
    for file in read {
        replace::unchanged(folder, file)?;
    }
    let index = folder.join(INDEX);
    // It names the files of both, so that whoever finishes this knows all that is ours.
    replace::write(&index, both(&old, new).write().as_bytes())?;
    for name in &files {
        let (from, to) = (stage.join(name), folder.join(name));
        let parent = to.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::rename(&from, &to))
            .map_err(failed(name))?;
    }
    let mut removed = Vec::new();
    for name in old.files() {
        if files.contains(&name) || !is_plain(folder, &name).map_err(failed(&name))? {
            continue;
        }
        let path = folder.join(&name);
        fs::remove_file(&path).map_err(failed(&name))?;
        if let Some(parent) = path.parent().filter(|parent| *parent != folder) {
            // Only when nothing is left in it.
            fs::remove_dir(parent).ok();
        }
        removed.push(name);
    }
    replace::write(&index, new.write().as_bytes())?;
    Ok(FolderChanges { files, removed })
}

/// The index of an earlier package; an empty one when there is none.
fn earlier(folder: &Path) -> Result<Index, CliError> {
    let path = folder.join(INDEX);
    let failed = |source| CliError::Read {
        path: path.clone(),
        source,
    };
    if !is_plain(folder, INDEX).map_err(failed)? {
        return Ok(Index::default());
    }
    let source = Source::open(&path).map_err(failed)?;
    let text = source
        .text()
        .map_err(|fault| failed(io::Error::new(io::ErrorKind::InvalidData, fault)))?;
    let (index, faults) = Index::read(text);
    match faults.first() {
        None => Ok(index),
        // What is not understood could be somebody's file.
        Some(fault) => Err(failed(io::Error::new(
            io::ErrorKind::InvalidData,
            fault.to_string(),
        ))),
    }
}

/// The unfinished index between two.
fn both(old: &Index, new: &Index) -> Index {
    let entries = |index: &Index, section| index.list(section).unwrap_or_default().to_vec();
    Index {
        unfinished: true,
        lists: Section::ALL
            .into_iter()
            .map(|section| {
                let mut all = entries(old, section);
                all.extend(entries(new, section));
                (section, all)
            })
            .collect(),
    }
}
