//! Renders reports of many files, one small module per format.
//!
//! In: a [`Report`]. Out: text. It does not print and knows no terminal or clock. The formats share
//! outcome, totals and the entry of each file, which are computed here.

mod fit;
mod github;
mod gitlab;
mod json;
mod junit;
mod md;
mod plural;
mod sarif;
mod text;
mod totals;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

pub use fit::{cut, fit, fit_hanging};
pub use github::github;
pub use gitlab::gitlab;
pub use json::json;
pub use junit::junit;
pub use md::md;
pub use plural::counted;
pub use sarif::sarif;
pub use text::{Style, diagnostic, linked, statistics, text};

use super::catalog::{J001, J010};
use super::{FileKind, Located, LocatedReport, Severity, SourceSpot};

/// One file of a report.
#[derive(Debug, Clone)]
pub struct FileEntry {
    /// As it was named, or found under what was named.
    pub path: PathBuf,
    /// What was found in it.
    pub report: LocatedReport,
    /// How many fixes were made in it.
    pub fixed: usize,
    /// The text that fixing made of it, when it is not written back (standard input).
    pub text: Option<String>,
    /// What fixing would change, as a unified diff.
    pub diff: Option<String>,
}

impl FileEntry {
    /// A file as it was found, before any fix.
    pub fn new(path: PathBuf, report: LocatedReport) -> FileEntry {
        FileEntry {
            path,
            report,
            fixed: 0,
            text: None,
            diff: None,
        }
    }

    /// The path for people: not every name is UTF-8.
    pub fn display(&self) -> Cow<'_, str> {
        self.path.to_string_lossy()
    }

    /// The file that a place is in: of a packed package the package.
    pub fn path_of(&self, spot: &SourceSpot) -> Cow<'_, Path> {
        self.path_in(spot.file.as_deref())
    }

    fn path_in(&self, file: Option<&str>) -> Cow<'_, Path> {
        match file {
            None => Cow::Borrowed(&self.path),
            Some(file) if self.path == Path::new(".") => Cow::Owned(PathBuf::from(file)),
            Some(file) => Cow::Owned(self.path.join(file)),
        }
    }

    /// The file of a place as text, for people; bytes that are not UTF-8 are replaced.
    pub fn display_of(&self, spot: &SourceSpot) -> String {
        self.path_of(spot).to_string_lossy().into_owned()
    }

    /// The findings and, for every failed promotion rule that is not among them, its places.
    pub fn reported(&self) -> impl Iterator<Item = &Located> {
        self.report.findings.iter().chain(self.failed())
    }

    /// The places of every failed promotion rule that is not among the findings.
    pub fn failed(&self) -> impl Iterator<Item = &Located> {
        let spoken = |code: &str| {
            self.report
                .findings
                .iter()
                .any(|finding| finding.rule.code == code)
        };
        let failed = self
            .report
            .promotion
            .iter()
            .flatten()
            .filter(move |verdict| !verdict.passed && !spoken(verdict.rule.code));
        failed.flat_map(|verdict| &verdict.places)
    }

    /// Whether nothing in it makes a check fail.
    pub fn passes(&self) -> bool {
        let fails = |finding: &Located| {
            finding.severity == Severity::Error || [&J001, &J010].contains(&finding.rule)
        };
        !self.report.findings.iter().any(fails) && self.promotes()
    }

    /// Whether no promotion rule that was measured failed.
    pub fn promotes(&self) -> bool {
        self.report
            .promotion
            .iter()
            .flatten()
            .all(|verdict| verdict.passed)
    }
}

/// A file or other thing that could not be checked at all, or not be fixed.
#[derive(Debug, Clone)]
pub struct ReportError {
    /// Where, when it is about a path.
    pub path: Option<PathBuf>,
    /// What went wrong, and why.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// How it all ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit 0.
    Clean,
    /// Something is wrong with a package.
    Findings,
    /// The job could not be done.
    Failed,
}

impl Outcome {
    /// The word of the JSON document.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Clean => "clean",
            Outcome::Findings => "findings",
            Outcome::Failed => "failed",
        }
    }
}

/// Totals of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Files that were read.
    pub files: usize,
    /// Of them packages.
    pub packages: usize,
    /// Of them JSON of another sort.
    pub plain: usize,
    /// Findings that are errors.
    pub errors: usize,
    /// Findings that are warnings.
    pub warnings: usize,
    /// Findings that are hints.
    pub hints: usize,
    /// Findings that a baseline accepts, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<usize>,
    /// Findings that it accepts and that are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<usize>,
}

/// What baselines say of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Findings that were left out.
    pub known: usize,
    /// Accepted findings of the checked files that are no more.
    pub stale: usize,
    /// Whether these were taken out.
    pub pruned: bool,
}

/// How often a rule spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    /// The rule's code.
    pub code: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Number of findings.
    pub count: usize,
    /// How many of them have a fix.
    pub fixable: usize,
}

/// The result of a run over any number of files.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// In order of path.
    pub files: Vec<FileEntry>,
    /// What could not be checked.
    pub errors: Vec<ReportError>,
    /// Whether a run without any package has failed.
    pub require_package: bool,
    /// Whether counts per rule are wanted.
    pub statistics: bool,
    /// Whether promotion alone was measured, and no other rule was asked.
    pub promotion_only: bool,
    /// What baselines say, where there is one.
    pub accepted: Option<Accepted>,
}

impl Report {
    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        if !self.errors.is_empty() {
            return Outcome::Failed;
        }
        let missing = self.require_package && self.summary().packages == 0;
        let passes = !missing && self.files.iter().all(FileEntry::passes);
        if passes {
            Outcome::Clean
        } else {
            Outcome::Findings
        }
    }

    /// Totals.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary {
            files: self.files.len(),
            baseline: self.accepted.map(|accepted| accepted.known),
            stale: self.accepted.map(|accepted| accepted.stale),
            ..Summary::default()
        };
        for file in &self.files {
            match file.report.kind {
                FileKind::Package => summary.packages += 1,
                FileKind::Plain => summary.plain += 1,
            }
            for finding in &file.report.findings {
                match finding.severity {
                    Severity::Error => summary.errors += 1,
                    Severity::Warning => summary.warnings += 1,
                    Severity::Hint => summary.hints += 1,
                }
            }
        }
        summary
    }

    /// Counts per rule, the most frequent first.
    pub fn counts(&self) -> Vec<Count> {
        let mut counts: Vec<Count> = Vec::new();
        for finding in self.files.iter().flat_map(FileEntry::reported) {
            let index = counts
                .iter()
                .position(|count| count.code == finding.rule.code)
                .unwrap_or_else(|| {
                    counts.push(Count {
                        code: finding.rule.code,
                        name: finding.rule.name,
                        count: 0,
                        fixable: 0,
                    });
                    counts.len() - 1
                });
            if let Some(count) = counts.get_mut(index) {
                count.count += 1;
                count.fixable += usize::from(finding.fix.is_some());
            }
        }
        counts.sort_by(|a, b| b.count.cmp(&a.count).then(a.code.cmp(b.code)));
        counts
    }
}

/// The path as a URI reference: percent-encoded bytes, slashes kept, `file://` before absolute ones.
fn uri(path: &std::path::Path) -> String {
    use std::fmt::Write as _;
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "" });
    for byte in bytes.strip_prefix(b"./").unwrap_or(bytes) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(*byte));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            // Writing to a String cannot fail.
            other => _ = write!(uri, "%{other:02X}"),
        }
    }
    uri
}

/// The path as tools on other machines compare it: slashes, no `./` in front.
fn portable(path: &Path) -> String {
    let path = path.to_string_lossy();
    let path = if cfg!(windows) {
        Cow::Owned(path.replace('\\', "/"))
    } else {
        path
    };
    path.strip_prefix("./")
        .map_or_else(|| path.to_string(), str::to_owned)
}

/// Findings with the digest each is known again by, unique within the report.
fn digests(file: &FileEntry) -> impl Iterator<Item = (&Located, String)> {
    let path = portable(&file.path);
    let mut seen = std::collections::HashMap::<(&str, &str, &str), usize>::new();
    file.reported().map(move |finding| {
        let key = (
            finding.rule.code,
            finding.spot.pointer.as_str(),
            finding.message.as_str(),
        );
        let occurrence = seen.entry(key).or_default();
        let digest = super::digest::finding(&path, finding, *occurrence);
        *occurrence += 1;
        (finding, digest)
    })
}
