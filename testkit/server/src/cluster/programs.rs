//! Where the PostgreSQL programs are.

use std::fs;
use std::path::{Path, PathBuf};

use super::variable;

/// Folders that packages install to and leave out of `PATH`: a parent, what the names in it begin
/// with before the version, and what lies below.
const VERSIONED: [(&str, &str, &str); 5] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/usr/libexec", "postgresql", ""),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
];

/// What tests start.
const PROGRAMS: [&str; 3] = ["initdb", "postgres", "psql"];

/// One installation.
#[derive(Debug, Clone)]
pub struct Programs {
    /// Holds `initdb`, `postgres` and `psql`.
    pub folder: PathBuf,
}

impl Programs {
    /// The installation that `TPLKIT_POSTGRES_BIN` names; without it the first complete one of `PATH` and of the usual
    /// places, newest version first.
    ///
    /// # Panics
    /// When the variable names a folder that lacks one of the programs: others would be tested in its place.
    pub fn find() -> Option<Programs> {
        let named = variable("TPLKIT_POSTGRES_BIN").filter(|folder| !folder.is_empty());
        if let Some(named) = named.map(PathBuf::from) {
            let Some(found) = complete(&named) else {
                panic!(
                    "TPLKIT_POSTGRES_BIN: {} lacks one of {}",
                    named.display(),
                    PROGRAMS.join(", ")
                );
            };
            return Some(found);
        }
        let path = variable("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .chain(
                VERSIONED
                    .into_iter()
                    .flat_map(|(parent, prefix, below)| versions(parent, prefix, below)),
            )
            .find_map(|folder| complete(&folder))
    }

    /// The client.
    pub fn psql(&self) -> PathBuf {
        self.folder.join("psql")
    }
}

/// The folder, when it holds everything. A link to one program alone is followed to its home.
fn complete(folder: &Path) -> Option<Programs> {
    let home = fs::canonicalize(folder.join("initdb")).ok()?;
    let folder = home.parent()?.to_owned();
    PROGRAMS
        .iter()
        .all(|program| folder.join(program).is_file())
        .then_some(Programs { folder })
}

/// The folders `parent/<prefix><version>/below`, newest version first.
fn versions(parent: &str, prefix: &str, below: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    let mut found: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.trim_start_matches('@');
            let major = version.split('.').next()?.parse().unwrap_or(0);
            Some((major, entry.path().join(below)))
        })
        .collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found.into_iter().map(|(_, folder)| folder).collect()
}
