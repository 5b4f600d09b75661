//! What `tplkit.toml` says of a package that is open: rules, registry, accepted findings.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tplkit::check::CheckOptions;
use tplkit::definitions::Definitions;
use tplkit::finding::baseline::Baseline;
use tplkit::finding::selection::Selection;
use tplkit::finding::{Finding, Located};

use super::documents::{Documents, Unit};
use super::uri;
use crate::cli::error::CliError;
use crate::cli::settings::{BaselineFile, Flags, Settings, SettingsFinder};

/// What holds for a package at one moment.
#[derive(Debug, Default)]
pub(super) struct Rules {
    settings: Option<Arc<Settings>>,
    /// The accepted findings.
    pub(super) accepted: Option<Accepted>,
    /// Why something of it does not hold.
    pub(super) config_error: Option<String>,
}

/// A baseline, and what it calls the package.
#[derive(Debug)]
pub(super) struct Accepted {
    /// The file.
    pub(super) path: PathBuf,
    /// Its text; nothing where there is no such file yet.
    pub(super) text: Option<String>,
    /// The name of the package in it.
    pub(super) package: String,
    baseline: Baseline,
}

impl Rules {
    /// Reads what holds for a unit. A file that cannot be used is as good as none, and named.
    pub(super) fn of(documents: &Documents, unit: &Unit) -> Rules {
        let path = match unit {
            Unit::Document(document) => uri::path(document),
            Unit::Folder(root) => Some(root.clone()),
        };
        let Some(path) = path else {
            return Rules::default();
        };
        // Anew each time: nobody says when a file that is not open has changed.
        match SettingsFinder::new(Flags::default()).of(&path) {
            Ok(settings) => {
                let baseline = settings.baseline.clone();
                let accepted = baseline.map(|file| Accepted::read(documents, &file, &path));
                let (accepted, config_error) = match accepted {
                    Some(Ok(accepted)) => (Some(accepted), None),
                    Some(Err(error)) => (None, Some(message_of(&error))),
                    None => (None, None),
                };
                Rules {
                    settings: Some(settings),
                    accepted,
                    config_error,
                }
            }
            Err(error) => Rules {
                config_error: Some(message_of(&error)),
                ..Rules::default()
            },
        }
    }

    /// How it is checked.
    pub(super) fn options(&self, threads: usize) -> CheckOptions<'_> {
        let definitions: &Definitions = match &self.settings {
            Some(settings) => {
                let read: &Cow<'static, Definitions> = &settings.definitions;
                read
            }
            None => Definitions::embedded(),
        };
        CheckOptions {
            definitions,
            threads,
            ..CheckOptions::default()
        }
    }

    /// Leaves out findings of rules that are silent, and weighs the others.
    pub(super) fn select(&self, findings: &mut Vec<Finding>) {
        match &self.settings {
            Some(settings) => settings.selection.apply(findings),
            None => Selection::default().apply(findings),
        }
    }

    /// Leaves out what is accepted.
    pub(super) fn suppress(&self, findings: &mut Vec<Located>) {
        if let Some(accepted) = &self.accepted {
            accepted
                .baseline
                .clone()
                .suppress(&accepted.package, findings);
        }
    }
}

impl Accepted {
    fn read(
        documents: &Documents,
        file: &BaselineFile,
        package: &Path,
    ) -> Result<Accepted, CliError> {
        let path = std::path::absolute(&file.path).map_err(|source| CliError::Read {
            path: file.path.clone(),
            source,
        })?;
        let path = without_parents(&path);
        let text = match documents.at(&path) {
            Some((_, open)) => Some(open.document.text().to_owned()),
            None => std::fs::read_to_string(&path).ok(),
        };
        let baseline = match &text {
            Some(text) => Baseline::parse(text).map_err(|source| CliError::Baseline {
                path: file.path.clone(),
                source,
            })?,
            None => Baseline::default(),
        };
        Ok(Accepted {
            package: file.known_path(package),
            path,
            text,
            baseline,
        })
    }

    /// The text of the file with one more finding; nothing for one that nobody can accept.
    pub(super) fn with(&self, finding: &Located) -> Option<String> {
        let mut baseline = self.baseline.clone();
        baseline.add(&self.package, std::slice::from_ref(finding));
        (baseline != self.baseline).then(|| baseline.write())
    }
}

/// An absolute path without `..`, which editors do not have in theirs. Links stay, as editors keep them, unless one of them
/// is what a `..` leads out of.
fn without_parents(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            short.pop();
        } else {
            short.push(part);
        }
    }
    let folder = |path: &Path| path.parent()?.canonicalize().ok();
    match (folder(path), path.file_name()) {
        (Some(real), Some(name)) if folder(&short).as_ref() != Some(&real) => real.join(name),
        _ => short,
    }
}

fn message_of(error: &CliError) -> String {
    match error.help() {
        Some(help) => format!("{error}: {help}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::without_parents;

    #[test]
    fn a_path_leads_where_it_led() {
        let plain = without_parents(Path::new("/no/such/sub/../known.json"));
        assert_eq!(plain, Path::new("/no/such/known.json"));
        assert_eq!(
            without_parents(Path::new("/known.json")),
            Path::new("/known.json")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_parent_is_that_of_what_a_link_leads_to() {
        let place = tempfile::TempDir::new().expect("a folder");
        let root = place.path().canonicalize().expect("a path");
        std::fs::create_dir_all(root.join("far/sub")).expect("folders");
        std::os::unix::fs::symlink(root.join("far/sub"), root.join("link")).expect("a link");
        let path = |name: &str| without_parents(&root.join(name));
        assert_eq!(path("link/../known.json"), root.join("far/known.json"));
        assert_eq!(path("far/sub/../known.json"), root.join("far/known.json"));
        assert_eq!(path("link/known.json"), root.join("link/known.json"));
    }
}
