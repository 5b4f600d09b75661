//! Checking and fixing of one file.

use std::path::Path;

use similar::TextDiff;
use tplkit::check::fix::{Fixed, apply_fixes};
use tplkit::check::{self, CheckOptions};
use tplkit::finding::catalog::J001;
use tplkit::finding::position::without_mark;
use tplkit::finding::render::{FileEntry, ReportError};
use tplkit::finding::{FileKind, FileReport, Finding, LocatedReport};

use super::check_mode::{CheckMode, CheckedFile, FixMode};
use super::folder_check::FolderCheck;
use super::replace;
use super::settings::Settings;
use super::source::{self, is_stdin};
use super::walk::{self, FoundFile};

/// How one file is checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileCheck<'c> {
    pub(super) mode: CheckMode,
    pub(super) fix_mode: Option<FixMode>,
    /// Whether a named file that is not a package is skipped.
    pub(super) skip_plain: bool,
    /// What holds for this file.
    pub(super) settings: &'c Settings,
    pub(super) threads: usize,
}

impl FileCheck<'_> {
    pub(super) fn run(&self, found: &FoundFile) -> CheckedFile {
        if found.is_folder {
            let folder = FolderCheck {
                check: *self,
                path: &found.path,
            };
            return folder.run();
        }
        let read = match self.fix_mode {
            Some(_) => source::read_whole(&found.path),
            None => source::read(&found.path),
        };
        let source = match read {
            Ok(source) => source,
            Err(error) => {
                return CheckedFile {
                    file: None,
                    error: Some(walk::report_error(&found.path, &error)),
                };
            }
        };
        let bytes = source.bytes();
        let named = found.named && !self.skip_plain;
        let report = |bytes: &[u8]| {
            let report = self.report(bytes, named);
            FileEntry::new(found.path.clone(), report)
        };
        let Some(fix_mode) = self.fix_mode else {
            return CheckedFile::from(report(bytes));
        };
        let fixed_text = apply_fixes(bytes, |text| self.fixable(text, fix_mode, named));
        if fix_mode.show_only {
            let mut file = report(bytes);
            file.diff = fixed_text
                .changed
                .then(|| diff(&found.path, bytes, &fixed_text.bytes));
            file.fixed = fixed_text.count();
            return CheckedFile::from(file);
        }
        match write_back(&found.path, bytes, &fixed_text) {
            Ok(text) => {
                let mut file = report(&fixed_text.bytes);
                file.text = text;
                file.fixed = fixed_text.count();
                CheckedFile::from(file)
            }
            // Nothing was written, so what was found in what was read is still to be fixed.
            Err(report_error) => CheckedFile {
                file: Some(report(bytes)),
                error: Some(report_error),
            },
        }
    }

    pub(super) fn options(&self, named: bool) -> CheckOptions<'_> {
        let promotion = self.mode != CheckMode::Check { promotion: false };
        CheckOptions {
            definitions: &self.settings.definitions,
            promotion,
            named,
            threads: self.threads,
        }
    }

    fn report(&self, bytes: &[u8], named: bool) -> LocatedReport {
        let options = self.options(named);
        let report = match self.mode {
            CheckMode::Check { .. } => check::check(bytes, &options),
            CheckMode::Promote => check::promote(bytes, &options),
        };
        self.located(bytes, report, named)
    }

    fn located(&self, bytes: &[u8], mut report: FileReport, named: bool) -> LocatedReport {
        let speaks = || memchr::memmem::find(bytes, b"templateVersion").is_some();
        let broken = report.findings.iter().any(|finding| finding.rule == &J001);
        if self.skip_plain && broken && !speaks() {
            report.kind = FileKind::Plain;
            report.findings.clear();
        }
        // In a walked folder a file that is not a package is passed over.
        if !named && report.kind == FileKind::Plain {
            report.promotion = None;
        }
        self.select(&mut report.findings);
        LocatedReport::new(bytes, report)
    }

    /// Leaves out findings of rules that do not speak. The verdicts of a promotion are nobody's choice.
    pub(super) fn select(&self, findings: &mut Vec<Finding>) {
        if self.mode != CheckMode::Promote {
            self.settings.selection.apply(findings);
        }
    }

    /// The findings whose fixes are wanted, and the one that says a text is not JSON.
    fn fixable(&self, bytes: &[u8], fix_mode: FixMode, named: bool) -> Vec<Finding> {
        let findings = check::check(bytes, &self.options(named)).findings;
        self.wanted(findings, fix_mode)
    }

    /// The findings, without fixes that are not wanted.
    pub(super) fn wanted(&self, mut findings: Vec<Finding>, fix_mode: FixMode) -> Vec<Finding> {
        self.select(&mut findings);
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

/// Puts fixed text where it was read; gives back what came from standard input.
fn write_back(path: &Path, read: &[u8], fixed_text: &Fixed) -> Result<Option<String>, ReportError> {
    if is_stdin(path) {
        return Ok(Some(
            String::from_utf8_lossy(&fixed_text.bytes).into_owned(),
        ));
    }
    if fixed_text.changed {
        replace::rewrite_file(path, read, &fixed_text.bytes)
            .map_err(|error| error.report_error())?;
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
