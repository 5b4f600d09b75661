//! From found files to a report: reading, checking and fixing many files on several threads.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use similar::TextDiff;
use tplkit::check::fix::{Fixed, apply_fixes};
use tplkit::check::{self, CheckOptions};
use tplkit::definitions::Definitions;
use tplkit::finding::position::without_mark;
use tplkit::finding::render::{FileEntry, Report, ReportError};
use tplkit::finding::selection::Selection;
use tplkit::finding::{FileKind, FileReport, Finding, LocatedReport};
use tplkit::printable;

use super::error::CliError;
use super::folder_check::FolderCheck;
use super::source::{self, is_stdin};
use super::walk::{self, Files, FoundFile};
use super::{replace, session::Session};

/// From this size on, a file is checked alone, by all threads.
const LARGE: u64 = 4 << 20;

/// What is asked of every file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckMode {
    /// All rules; with the five of promotion or without.
    Check {
        /// Whether promotion is measured too.
        promotion: bool,
    },
    /// The five rules of promotion alone.
    Promote,
}

/// What to do with fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixMode {
    /// Whether fixes that may change what a package means are wanted too.
    pub(crate) unsafe_too: bool,
    /// Whether to show the changes instead of making them.
    pub(crate) show_only: bool,
}

/// How to check files.
#[derive(Debug)]
pub(crate) struct Checker {
    /// What is asked.
    pub(crate) mode: CheckMode,
    /// The registry to hold packages against; the embedded one unless another was named.
    pub(crate) definitions: Cow<'static, Definitions>,
    /// Which rules speak.
    pub(crate) selection: Selection,
    /// Whether and how to fix.
    pub(crate) fix_mode: Option<FixMode>,
    /// Number of threads; as many as the machine has when not given.
    pub(crate) threads: Option<usize>,
}

/// What became of one file.
pub(super) struct CheckedFile {
    /// What is said of it, unless it could not be read.
    pub(super) file: Option<FileEntry>,
    /// Why it could not be read, or not be fixed.
    pub(super) error: Option<ReportError>,
}

impl From<FileEntry> for CheckedFile {
    fn from(file: FileEntry) -> CheckedFile {
        CheckedFile {
            file: Some(file),
            error: None,
        }
    }
}

impl Checker {
    /// Reads the registry file that was named, if one was.
    pub(crate) fn definitions(
        file: Option<&PathBuf>,
    ) -> Result<Cow<'static, Definitions>, CliError> {
        let Some(path) = file else {
            return Ok(Cow::Borrowed(Definitions::embedded()));
        };
        let text = source::read_text(path)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let parsed = Definitions::parse(text);
        Ok(Cow::Owned(parsed.map_err(|source| {
            CliError::Definitions {
                path: path.clone(),
                source,
            }
        })?))
    }

    /// Finds and checks everything behind `paths`.
    pub(crate) fn run(&self, paths: &[PathBuf], session: &Session) -> Result<Report, CliError> {
        let Files {
            found,
            errors: mut troubles,
        } = walk::packages(paths);
        let threads = self
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let checked = self.check_files(&found, threads)?;
        let mut files = Vec::with_capacity(checked.len());
        for CheckedFile {
            file,
            error: trouble,
        } in checked
        {
            if let Some(file) = file {
                session.detail(|| describe(&file));
                files.push(file);
            }
            troubles.extend(trouble);
        }
        Ok(Report {
            files,
            errors: troubles,
            promotion_only: self.mode == CheckMode::Promote,
            ..Report::default()
        })
    }

    /// Checks files in their order: small ones side by side, large ones one after the other.
    fn check_files(
        &self,
        found: &[FoundFile],
        threads: usize,
    ) -> Result<Vec<CheckedFile>, CliError> {
        // The size of a stream is not known; alone, it may have all threads.
        if let [file] = found {
            let large = file.size >= LARGE || is_stdin(&file.path);
            return Ok(vec![self.check_file(file, if large { threads } else { 1 })]);
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        let small = |file: &FoundFile| (file.size < LARGE).then(|| self.check_file(file, 1));
        let mut results: Vec<_> = pool.install(|| found.par_iter().map(small).collect());
        for (file, result) in found.iter().zip(&mut results) {
            if result.is_none() {
                *result = Some(self.check_file(file, threads));
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    fn check_file(&self, found: &FoundFile, threads: usize) -> CheckedFile {
        if found.is_folder {
            let folder = FolderCheck {
                checker: self,
                path: &found.path,
                threads,
            };
            return folder.run();
        }
        let source = match source::read(&found.path) {
            Ok(source) => source,
            Err(error) => {
                return CheckedFile {
                    file: None,
                    error: Some(walk::report_error(&found.path, &error)),
                };
            }
        };
        let bytes = source.bytes();
        let report = |bytes: &[u8]| {
            let report = self.report(bytes, found.named, threads);
            FileEntry::new(found.path.clone(), report)
        };
        let Some(fix_mode) = self.fix_mode else {
            return CheckedFile::from(report(bytes));
        };
        let fixed_text = apply_fixes(bytes, |text| {
            self.fixable(text, fix_mode, found.named, threads)
        });
        if fix_mode.show_only {
            let mut file = report(bytes);
            file.diff = fixed_text
                .changed
                .then(|| diff(&found.path, bytes, &fixed_text.bytes));
            file.fixed = fixed_text.count();
            return CheckedFile::from(file);
        }
        match write_back(&found.path, &fixed_text) {
            Ok(text) => {
                let mut file = report(&fixed_text.bytes);
                file.text = text;
                file.fixed = fixed_text.count();
                CheckedFile::from(file)
            }
            // The file is as it was, and so are its findings.
            Err(trouble) => CheckedFile {
                file: Some(report(bytes)),
                error: Some(trouble),
            },
        }
    }

    pub(super) fn options(&self, named: bool, threads: usize) -> CheckOptions<'_> {
        let promotion = self.mode != CheckMode::Check { promotion: false };
        CheckOptions {
            definitions: &self.definitions,
            promotion,
            named,
            threads,
        }
    }

    fn report(&self, bytes: &[u8], named: bool, threads: usize) -> LocatedReport {
        let options = self.options(named, threads);
        let report = match self.mode {
            CheckMode::Check { .. } => check::check(bytes, &options),
            CheckMode::Promote => check::promote(bytes, &options),
        };
        self.located(bytes, report, named)
    }

    fn located(&self, bytes: &[u8], mut report: FileReport, named: bool) -> LocatedReport {
        // In a walked folder a file that is no package is passed over.
        if !named && report.kind == FileKind::Plain {
            report.promotion = None;
        }
        self.selection.apply(&mut report.findings);
        LocatedReport::new(bytes, report)
    }

    /// The findings whose fixes are wanted, and the one that says a text is no JSON.
    fn fixable(
        &self,
        bytes: &[u8],
        fix_mode: FixMode,
        named: bool,
        threads: usize,
    ) -> Vec<Finding> {
        let findings = check::check(bytes, &self.options(named, threads)).findings;
        self.wanted(findings, fix_mode)
    }

    /// The findings, without fixes that are not wanted.
    pub(super) fn wanted(&self, mut findings: Vec<Finding>, fix_mode: FixMode) -> Vec<Finding> {
        self.selection.apply(&mut findings);
        for finding in &mut findings {
            if finding
                .fix
                .as_ref()
                .is_some_and(|fix| !fix.safe && !fix_mode.unsafe_too)
            {
                finding.fix = None;
            }
        }
        findings
    }
}

/// Puts fixed text where it came from; gives back what came from standard input.
fn write_back(path: &Path, fixed_text: &Fixed) -> Result<Option<String>, ReportError> {
    if is_stdin(path) {
        return Ok(Some(
            String::from_utf8_lossy(&fixed_text.bytes).into_owned(),
        ));
    }
    if fixed_text.changed {
        replace::write(path, &fixed_text.bytes).map_err(|error| ReportError {
            path: error.path().cloned(),
            message: error.to_string(),
            help: error.help(),
        })?;
    }
    Ok(None)
}

/// The change as a unified diff. Both sides were valid UTF-8, or nothing would have been fixed.
pub(super) fn diff(path: &Path, old: &[u8], new: &[u8]) -> String {
    let (old, new) = (
        String::from_utf8_lossy(without_mark(old)),
        String::from_utf8_lossy(without_mark(new)),
    );
    let name = path.to_string_lossy();
    let diff = TextDiff::from_lines(old.as_ref(), new.as_ref());
    diff.unified_diff()
        .context_radius(3)
        .header(&name, &name)
        .to_string()
}

fn describe(file: &FileEntry) -> String {
    let kind = match file.report.kind {
        FileKind::Package => "package",
        FileKind::Plain => "plain file",
    };
    format!(
        "{}: {kind}, {} findings, {} fixed",
        printable::line(&file.display()),
        file.report.findings.len(),
        file.fixed
    )
}
