//! From found files to a report: reading, checking and fixing many files on several threads.

use std::path::PathBuf;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use tplkit::finding::FileKind;
use tplkit::finding::render::{FileEntry, Report, counted};
use tplkit::printable;

use super::check_mode::{CheckMode, CheckedFile, FixMode};
use super::error::CliError;
use super::file_check::FileCheck;
use super::session::Session;
use super::settings::{Settings, SettingsFinder};
use super::source::is_stdin;
use super::walk::{self, Files, FoundFile};

/// From this size on, a file is checked alone, by all threads.
const LARGE_FILE_BYTES: u64 = 4 << 20;

/// How to check files.
#[derive(Debug)]
pub(crate) struct Checker {
    /// What is asked.
    pub(crate) mode: CheckMode,
    /// Whether and how to fix.
    pub(crate) fix_mode: Option<FixMode>,
    /// Whether named files that are not packages are skipped, as those of a walk are.
    pub(crate) skip_plain: bool,
    /// Number of threads; as many as the machine has when not given.
    pub(crate) threads: Option<usize>,
}

impl Checker {
    /// Finds and checks everything behind `paths`.
    pub(crate) fn run(
        &self,
        paths: &[PathBuf],
        settings: &mut SettingsFinder,
        session: &Session,
    ) -> Result<Report, CliError> {
        let Files {
            found,
            errors: mut report_errors,
        } = walk::packages(paths);
        let found = found.into_iter().map(|file| {
            let settings = settings.of(&file.path)?;
            Ok((file, settings))
        });
        let found: Vec<_> = found.collect::<Result<_, CliError>>()?;
        let threads = self
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let checked = self.check_files(&found, threads)?;
        let mut files = Vec::with_capacity(checked.len());
        for CheckedFile {
            file,
            error: report_error,
        } in checked
        {
            if let Some(file) = file {
                session.detail(|| describe(&file));
                files.push(file);
            }
            report_errors.extend(report_error);
        }
        Ok(Report {
            files,
            errors: report_errors,
            promotion_only: self.mode == CheckMode::Promote,
            ..Report::default()
        })
    }

    /// Checks files in their order: small ones side by side, large ones one after the other.
    fn check_files(
        &self,
        found: &[(FoundFile, Arc<Settings>)],
        threads: usize,
    ) -> Result<Vec<CheckedFile>, CliError> {
        let check = |(file, settings): &(FoundFile, Arc<Settings>), threads| {
            let check = FileCheck {
                mode: self.mode,
                fix_mode: self.fix_mode,
                skip_plain: self.skip_plain,
                settings,
                threads,
            };
            check.run(file)
        };
        // The size of a stream is not known; alone, it may have all threads.
        if let [only] = found {
            let large = only.0.size >= LARGE_FILE_BYTES || is_stdin(&only.0.path);
            return Ok(vec![check(only, if large { threads } else { 1 })]);
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        let small = |one: &(FoundFile, _)| (one.0.size < LARGE_FILE_BYTES).then(|| check(one, 1));
        let mut results: Vec<_> = pool.install(|| found.par_iter().map(small).collect());
        for (one, result) in found.iter().zip(&mut results) {
            if result.is_none() {
                *result = Some(check(one, threads));
            }
        }
        Ok(results.into_iter().flatten().collect())
    }
}

fn describe(file: &FileEntry) -> String {
    let kind = match file.report.kind {
        FileKind::Package => "package",
        FileKind::Plain => "plain file",
    };
    format!(
        "{}: {kind}, {}, {} fixed",
        printable::line(&file.display()),
        counted(file.report.findings.len(), "finding"),
        file.fixed
    )
}
