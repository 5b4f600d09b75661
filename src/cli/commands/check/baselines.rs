//! Holds a report against the baselines of its files.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use tplkit::finding::baseline::{Baseline, BaselineKey, is_whole};
use tplkit::finding::catalog;
use tplkit::finding::render::{Accepted, FileEntry, Report, counted};
use tplkit::package::Source;
use tplkit::printable;

use crate::cli::error::CliError;
use crate::cli::overwrite::refuse_input;
use crate::cli::replace;
use crate::cli::session::Session;
use crate::cli::settings::{BaselineFile, Settings, SettingsFinder};
use crate::cli::source::{self, is_stdin};

/// A file, and what its baseline knows it by.
struct KnownFile<'f> {
    file: &'f mut FileEntry,
    known: String,
    baseline: BaselineFile,
}

/// What to do with a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaselineMode {
    /// Leave out what it accepts.
    Read,
    /// Accept what was found.
    Write,
    /// Leave out what it accepts, and take out of it what is no more.
    Prune,
}

/// Leaves out accepted findings, and changes the baselines as asked. Each file has the baseline of the
/// command line, else that of its nearest `tplkit.toml`. None of them is the `output`.
pub(super) fn hold_against(
    report: &mut Report,
    settings: &mut SettingsFinder,
    mode: BaselineMode,
    output: Option<&Path>,
    session: &Session,
) -> Result<(), CliError> {
    // Accepted findings of what was not read would be lost.
    let whole = report.errors.is_empty();
    let mut by_baseline: IndexMap<PathBuf, Vec<KnownFile<'_>>> = IndexMap::new();
    for file in &mut report.files {
        if let Some(baseline) = &settings.of(&file.path)?.baseline {
            let files = by_baseline.entry(baseline.path.clone()).or_default();
            files.push(KnownFile {
                known: baseline.known_path(&file.path),
                baseline: baseline.clone(),
                file,
            });
        }
    }
    if by_baseline.is_empty() && mode != BaselineMode::Read {
        return Err(CliError::Usage {
            message: "there is no baseline to change".to_owned(),
            help: "name one with `--baseline FILE`, or as `baseline` in `tplkit.toml`".to_owned(),
        });
    }
    refuse_input(output, by_baseline.keys().map(|path| Some(path.as_path())))?;
    if let Some(path) = by_baseline.keys().find(|path| is_stdin(path))
        && mode != BaselineMode::Read
    {
        return Err(CliError::Usage {
            message: format!("`{}` is no baseline that can be written", path.display()),
            help: "name a file".to_owned(),
        });
    }
    let mut accepted = Accepted::default();
    let any = !by_baseline.is_empty();
    for (path, mut files) in by_baseline {
        let path = &path;
        if mode == BaselineMode::Write && whole {
            accepted.known += write(path, &mut files, session)?;
        } else if mode == BaselineMode::Write {
            left_alone(path, session);
        } else {
            let one = read(
                path,
                &mut files,
                settings,
                mode == BaselineMode::Prune,
                session,
            )?;
            accepted.known += one.known;
            accepted.stale += one.stale;
            accepted.pruned |= one.pruned;
        }
    }
    if any {
        report.accepted = Some(accepted);
    }
    Ok(())
}

fn left_alone(path: &Path, session: &Session) {
    session.note(format!(
        "`{}` is left as it is: not everything could be checked",
        printable::path(path)
    ));
}

/// Accepts everything that was found, and leaves what it accepts of other files that are there. Gives the number of
/// findings of this run. What is there and no baseline stays: it may be a package.
fn write(path: &Path, files: &mut [KnownFile<'_>], session: &Session) -> Result<usize, CliError> {
    let held = match source::read_whole(path) {
        Ok(held) => Some(held),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(source) => {
            let path = path.to_owned();
            return Err(unread(files, CliError::Read { path, source }));
        }
    };
    let before = held.as_ref().map(|held| parse(path, held, files));
    let mut baseline = before.transpose()?.unwrap_or_default();
    let is_other = |known: &str| {
        files.iter().all(|file| file.known != known)
            && files.iter().any(|file| file.baseline.has(known))
    };
    baseline.retain(|known| is_other(&known.path));
    let others = baseline.len();
    for file in &*files {
        baseline.add(&file.known, &file.file.report.findings);
    }
    let written = baseline.write();
    match &held {
        Some(held) => replace::rewrite_file(path, held.bytes(), written.as_bytes())?,
        None => replace::write(path, written.as_bytes())?,
    }
    let known = baseline.len() - others;
    let kept = match others {
        0 => String::new(),
        others => format!(", next to {others} of other files"),
    };
    session.note(format!(
        "{} written to `{}`{kept}",
        counted(known, "finding"),
        printable::path(path)
    ));
    for file in files {
        baseline.suppress(&file.known, &mut file.file.report.findings);
    }
    Ok(known)
}

/// The accepted findings in a file that was read.
fn parse(path: &Path, held: &Source, files: &[KnownFile<'_>]) -> Result<Baseline, CliError> {
    let text = source::text(path, held).map_err(|error| unread(files, error))?;
    Baseline::parse(text).map_err(|source| CliError::Baseline {
        path: path.to_owned(),
        source,
    })
}

/// The error about a baseline of these files, with the place that names it.
fn unread(files: &[KnownFile<'_>], error: CliError) -> CliError {
    match files.first() {
        Some(file) => file.baseline.unread(error),
        None => error,
    }
}

/// Leaves out what was accepted before.
fn read(
    path: &Path,
    files: &mut [KnownFile<'_>],
    settings: &mut SettingsFinder,
    prune: bool,
    session: &Session,
) -> Result<Accepted, CliError> {
    let held = source::read_whole(path).map_err(|source| {
        let path = path.to_owned();
        let error = match source.kind() {
            io::ErrorKind::NotFound => CliError::NoBaseline { path },
            _ => CliError::Read { path, source },
        };
        unread(files, error)
    })?;
    let mut baseline = parse(path, &held, files)?;
    let mut kept = baseline.clone();
    let mut accepted = Accepted {
        pruned: prune,
        ..Accepted::default()
    };
    let mut searches = HashMap::new();
    for KnownFile { file, known, .. } in files {
        accepted.known += baseline.suppress(known, &mut file.report.findings);
        searches.insert(known.clone(), Search::of(file, settings.of(&file.path)?));
    }
    let searched = |known: &BaselineKey| {
        let search = searches.get(&known.path);
        search.is_some_and(|search| search.covers(&known.code))
    };
    for (known, count) in baseline.stale(&searched) {
        accepted.stale += count;
        session.detail(|| {
            format!(
                "stale in the baseline: {} {} {} (times {count})",
                known.path, known.code, known.pointer
            )
        });
    }
    if prune && accepted.stale > 0 {
        kept.prune(&baseline, &searched);
        replace::rewrite_file(path, held.bytes(), kept.write().as_bytes())?;
    }
    Ok(accepted)
}

/// What a run looked for in a file. An accepted finding that it did not look for may still be there.
struct Search {
    settings: Arc<Settings>,
    whole: bool,
    promotion: bool,
}

impl Search {
    fn of(file: &FileEntry, settings: Arc<Settings>) -> Search {
        Search {
            settings,
            whole: is_whole(&file.report.findings),
            promotion: file.report.promotion.is_some(),
        }
    }

    fn covers(&self, code: &str) -> bool {
        let asked = match catalog::find(code) {
            None => true,
            Some(rule) => self.settings.selection.wants(rule, rule.severity),
        };
        self.whole && asked && (self.promotion || !code.starts_with('P'))
    }
}
