//! Finds the files to check.
//!
//! Named files are always taken. Folders are searched for names ending in `.json`; hidden folders
//! are skipped, ignore files apply (inside a git repository or not), and links are followed, but no
//! folder is entered twice: links into folders wait until all real folders are walked. A link to
//! nothing is an error, unless an editor made it to lock a file. A folder with an unpacked package
//! counts as one file; other files in it are walked as usual.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder};
use tplkit::finding::render::ReportError;
use tplkit::printable;

use super::error::reading_help;
use super::source::is_stdin;
use super::unpacked_folders;

/// A file to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    /// As it was named, or found under what was named.
    pub(crate) path: PathBuf,
    /// Whether it was named on its own.
    pub(crate) named: bool,
    /// Its size in bytes, as far as that can be known.
    pub(crate) size: u64,
    /// Whether it is the folder of an unpacked package.
    pub(crate) is_folder: bool,
}

/// What the typed paths come to.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// In order of path, none twice.
    pub(crate) found: Vec<FoundFile>,
    /// Paths that lead nowhere or cannot be read.
    pub(crate) errors: Vec<ReportError>,
}

/// Finds the files behind `paths`, and the folders of unpacked packages as one each.
pub(crate) fn packages(paths: &[PathBuf]) -> Files {
    let mut search = Search::default();
    for path in paths {
        search.named(path);
    }
    while let Some(link) = search.links.pop_front() {
        search.link(&link);
    }
    search.leave_out_parts();
    let mut found: Vec<FoundFile> = search.found.into_values().collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    search.errors.sort_by(|a, b| a.path.cmp(&b.path));
    Files {
        found,
        errors: search.errors,
    }
}

#[derive(Default)]
struct Search {
    /// By the real path.
    found: HashMap<PathBuf, FoundFile>,
    errors: Vec<ReportError>,
    /// Links met in a walk.
    links: VecDeque<PathBuf>,
    /// Real folders that were entered.
    entered: Arc<Mutex<HashSet<PathBuf>>>,
}

impl Search {
    fn named(&mut self, path: &Path) {
        if is_stdin(path) {
            self.add(path.to_owned(), path, true, 0);
            return;
        }
        match fs::metadata(path).and_then(|metadata| Ok((metadata, fs::canonicalize(path)?))) {
            Ok((metadata, real)) if metadata.is_dir() => self.walk(path, &real),
            Ok((metadata, real)) => match unpacked_folders::folder_of(path) {
                Some(folder) => self.part(&folder, path),
                None => self.add(real, path, true, metadata.len()),
            },
            Err(error) => self.add_error(path, &error),
        }
    }

    /// A file of an unpacked package that was named means its folder.
    fn part(&mut self, folder: &Path, path: &Path) {
        match fs::canonicalize(folder) {
            Ok(real) => self.package(real, folder),
            Err(error) => self.add_error(path, &error),
        }
    }

    /// Keeps the folder of an unpacked package. It must be whole, wherever it was met.
    fn package(&mut self, real: PathBuf, path: &Path) {
        self.found.entry(real).or_insert_with(|| FoundFile {
            path: path.to_owned(),
            named: true,
            size: 0,
            is_folder: true,
        });
    }

    /// Files of unpacked packages are checked with their folders, and not on their own.
    fn leave_out_parts(&mut self) {
        let folders: Vec<PathBuf> = self
            .found
            .iter()
            .filter(|(_, found)| found.is_folder)
            .map(|(real, _)| real.clone())
            .collect();
        let is_part = |real: &Path| {
            folders.iter().any(|folder| {
                let name = real.strip_prefix(folder);
                name.is_ok_and(|name| {
                    !name.as_os_str().is_empty() && unpacked_folders::names(folder, name)
                })
            })
        };
        let parts = self.found.iter().filter(|(_, found)| !found.is_folder);
        let parts: Vec<PathBuf> = parts
            .filter(|(real, _)| is_part(real))
            .map(|(real, _)| real.clone())
            .collect();
        for part in parts {
            self.found.remove(&part);
        }
    }

    /// Keeps a file unless it is there already; what was named stays named.
    fn add(&mut self, real: PathBuf, path: &Path, named: bool, size: u64) {
        let known = self.found.entry(real).or_insert_with(|| FoundFile {
            path: path.to_owned(),
            named,
            size,
            is_folder: false,
        });
        if named && !known.named {
            *known = FoundFile {
                path: path.to_owned(),
                named,
                size,
                is_folder: false,
            };
        }
    }

    fn add_error(&mut self, path: &Path, error: &io::Error) {
        self.errors.push(report_error(path, error));
    }

    /// Walks a folder whose real path is `real`, without following links.
    fn walk(&mut self, root: &Path, real: &Path) {
        let entered = Arc::clone(&self.entered);
        if !entered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(real.to_owned())
        {
            return;
        }
        let (base, real_base) = (root.to_owned(), real.to_owned());
        let enter = move |entry: &DirEntry| {
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return true;
            }
            if is_hidden(entry.file_name()) {
                return false;
            }
            // No link lies between the root and here, so this is the real path.
            let inside = entry.path().strip_prefix(&base).unwrap_or(Path::new(""));
            entered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(real_base.join(inside))
        };
        let walk = WalkBuilder::new(root)
            .hidden(false)
            .follow_links(false)
            .require_git(false)
            .filter_entry(enter)
            .build();
        for entry in walk {
            match entry {
                Ok(entry) => self.entry(&entry, root, real),
                Err(error) => self.walk_error(&error, root),
            }
        }
    }

    fn entry(&mut self, entry: &DirEntry, root: &Path, real: &Path) {
        let Some(kind) = entry.file_type() else {
            return;
        };
        if kind.is_dir() || entry.depth() == 0 {
            if unpacked_folders::is_package(entry.path()) {
                let inside = entry.path().strip_prefix(root).unwrap_or(entry.path());
                let (real, path) = (real.join(inside), display_path(entry.path()));
                let here = path.as_os_str().is_empty();
                self.package(real, if here { Path::new(".") } else { &path });
            }
        } else if kind.is_symlink() {
            self.links.push_back(entry.path().to_owned());
        } else if kind.is_file() && is_json(entry.file_name()) {
            let inside = entry.path().strip_prefix(root).unwrap_or(entry.path());
            let size = entry.metadata().map_or(0, |metadata| metadata.len());
            self.add(real.join(inside), &display_path(entry.path()), false, size);
        }
    }

    /// A link that was met in a walk: to a folder, to a file, or to nothing.
    fn link(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default();
        match fs::metadata(path).and_then(|metadata| Ok((metadata, fs::canonicalize(path)?))) {
            Ok((metadata, real)) if metadata.is_dir() => {
                if !is_hidden(name) {
                    self.walk(path, &real);
                }
            }
            Ok((metadata, real)) if metadata.is_file() && is_json(name) => {
                self.add(real, &display_path(path), false, metadata.len());
            }
            Err(error) if is_json(name) && !is_editor_lock(path) => {
                let shown = display_path(path);
                self.errors.push(link_error(path, &shown, &error));
            }
            Ok(_) | Err(_) => {}
        }
    }

    fn walk_error(&mut self, error: &ignore::Error, root: &Path) {
        let path = error_path(error).unwrap_or(root).to_owned();
        match error.io_error() {
            Some(error) => self.add_error(&path, error),
            None => self.errors.push(ReportError {
                path: Some(path),
                message: error.to_string(),
                help: None,
            }),
        }
    }
}

/// The error for a path that cannot be read.
pub(crate) fn report_error(path: &Path, error: &io::Error) -> ReportError {
    ReportError {
        path: Some(path.to_owned()),
        message: format!("cannot read `{}`: {error}", printable::path(path)),
        help: Some(reading_help(error).to_owned()),
    }
}

/// The error for a link that leads to nothing, or to what cannot be read.
fn link_error(link: &Path, shown: &Path, error: &io::Error) -> ReportError {
    let target = fs::read_link(link).ok();
    let target = target.filter(|_| error.kind() == io::ErrorKind::NotFound);
    let Some(target) = target else {
        return report_error(shown, error);
    };
    let (name, target) = (printable::path(shown), printable::path(&target));
    ReportError {
        path: Some(shown.to_owned()),
        message: format!("`{name}` is a link to `{target}`, and no file is there"),
        help: Some("correct the link, or remove it".to_owned()),
    }
}

/// Whether Emacs made it, for as long as the file next to it is changed and not saved: a link to
/// nothing, called `.#NAME`.
pub(crate) fn is_editor_lock(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".#")
        && fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            error_path(err)
        }
        ignore::Error::Partial(errors) => errors.iter().find_map(error_path),
        _ => None,
    }
}

/// `./a.json`, found under `.`, is shown as `a.json`.
fn display_path(path: &Path) -> PathBuf {
    path.strip_prefix(".").unwrap_or(path).to_owned()
}

/// Whether a folder of that name is passed over.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Whether the name ends in `.json`, in any case.
pub(crate) fn is_json(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.len() >= 5 && name[name.len() - 5..].eq_ignore_ascii_case(b".json")
}
