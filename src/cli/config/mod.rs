//! `tplkit.toml`: what a folder of packages says about checks, and the servers that it names.
//!
//! In: a package or a folder. Out: the nearest file of that name, upwards; it alone counts. Paths in it
//! are relative to its folder. It holds no credential.

mod read;
mod target;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use tplkit::finding::selection::Selection;

use super::error::CliError;
use super::source::is_stdin;
use super::toml_file::TomlPlace;

pub(crate) use target::{Target, target};

/// The name of the file.
pub(crate) const NAME: &str = "tplkit.toml";

/// A file that a `tplkit.toml` names, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    pub(crate) path: PathBuf,
    pub(crate) place: TomlPlace,
}

impl NamedFile {
    /// The error about it: one that cannot be read is wrong where it is named.
    pub(crate) fn unread(&self, error: CliError) -> CliError {
        match error {
            CliError::NoBaseline { .. } => self.place.wrong(
                error.to_string(),
                "correct the path, or write one with `--write-baseline`",
            ),
            CliError::Read { .. } => self.place.wrong(error.to_string(), "correct the path"),
            error => error,
        }
    }
}

/// What one file says.
#[derive(Debug, Default)]
pub(crate) struct Config {
    pub(crate) path: PathBuf,
    /// Which rules speak, and how loud.
    pub(crate) selection: Selection,
    /// The file of accepted findings.
    pub(crate) baseline: Option<NamedFile>,
    /// The registry to hold packages against.
    pub(crate) definitions: Option<NamedFile>,
    /// Servers and workspaces, by name.
    pub(crate) targets: IndexMap<String, Target>,
}

/// Finds and reads files, each once.
#[derive(Debug, Default)]
pub(crate) struct Configs {
    /// By folder: that of the nearest file, wherever the search began.
    known: HashMap<PathBuf, Option<Arc<Config>>>,
}

impl Configs {
    /// What holds for a package or a folder: the nearest file from there upwards, from the working
    /// folder for standard input.
    ///
    /// # Errors
    /// The file cannot be read, is a link that leads nowhere, or something in it is wrong.
    pub(crate) fn of(&mut self, path: &Path) -> Result<Option<Arc<Config>>, CliError> {
        let start = if is_stdin(path) {
            Path::new(".")
        } else if path.is_dir() {
            path
        } else {
            match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            }
        };
        let real = std::path::absolute(start).map_err(|source| CliError::Read {
            path: start.to_owned(),
            source,
        })?;
        self.upwards(&real)
    }

    fn upwards(&mut self, folder: &Path) -> Result<Option<Arc<Config>>, CliError> {
        if let Some(known) = self.known.get(folder) {
            return Ok(known.clone());
        }
        let file = folder.join(NAME);
        let found = if file.is_file() {
            Some(Arc::new(read::read(relative_to_here(&file))?))
        } else if let Some(target) = dangling(&file) {
            return Err(CliError::DanglingConfig {
                path: relative_to_here(&file).to_owned(),
                target,
            });
        } else {
            match folder.parent() {
                Some(parent) => self.upwards(parent)?,
                None => None,
            }
        };
        self.known.insert(folder.to_owned(), found.clone());
        Ok(found)
    }
}

/// What a link says that leads nowhere; its author meant it to count, so a file further up does not take its place.
fn dangling(file: &Path) -> Option<PathBuf> {
    let target = file.read_link().ok()?;
    file.metadata().is_err().then_some(target)
}

/// The path as people would write it: from the working folder, when it lies below.
fn relative_to_here(file: &Path) -> &Path {
    let here = std::path::absolute(".").ok();
    let below = here.and_then(|here| file.strip_prefix(here).ok());
    below.unwrap_or(file)
}
