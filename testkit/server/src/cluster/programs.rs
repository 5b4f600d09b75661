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

/// One installation.
#[derive(Debug, Clone)]
pub struct Programs {
    /// Holds `initdb`, `postgres` and `psql`.
    pub folder: PathBuf,
}

impl Programs {
    /// The first complete installation: `TPLKIT_POSTGRES_BIN`, then `PATH`, then the usual places,
    /// newest version first.
    pub fn find() -> Option<Programs> {
        let named = variable("TPLKIT_POSTGRES_BIN").map(PathBuf::from);
        let path = variable("PATH").unwrap_or_default();
        named
            .into_iter()
            .chain(std::env::split_paths(&path))
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
    let all = ["initdb", "postgres", "psql"];
    all.iter()
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
