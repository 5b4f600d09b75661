//! One file through all rules.

use super::finding::{Finding, Place};
use super::rule::Rule;
use crate::definitions::Definitions;

/// How a file is to be judged.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions<'o> {
    /// The registry that configs and cells are held against.
    pub definitions: &'o Definitions,
    /// Whether the five promotion rules are measured too (then P002 speaks instead of X004).
    pub promotion: bool,
    /// Whether the file was named on its own: then a file that is no package is a finding.
    pub named: bool,
    /// How many threads one large file may use.
    pub threads: usize,
}

impl Default for CheckOptions<'static> {
    fn default() -> Self {
        CheckOptions {
            definitions: Definitions::embedded(),
            promotion: false,
            named: true,
            threads: 1,
        }
    }
}

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A template package, good or bad (or something that claims to be one).
    Package,
    /// JSON of another sort.
    Plain,
}

/// One promotion rule, measured.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The rule (P001 to P005).
    pub rule: &'static Rule,
    /// Whether it holds.
    pub passed: bool,
    /// Every place where it does not, with what is wrong there.
    pub places: Vec<(Place, String)>,
}

/// What a check of one file says.
#[derive(Debug, Clone)]
pub struct FileReport {
    /// What it is.
    pub kind: FileKind,
    /// In order of place, then code.
    pub findings: Vec<Finding>,
    /// The five verdicts, when asked for and measurable.
    pub promotion: Option<Vec<Verdict>>,
}

/// Checks the bytes of one file. Offsets in the report do not count a byte-order mark.
pub fn check(bytes: &[u8], options: &CheckOptions<'_>) -> FileReport {
    let _ = (bytes, options);
    FileReport {
        kind: FileKind::Package,
        findings: Vec::new(),
        promotion: None,
    }
}

/// Measures the five promotion rules alone. A file that cannot be measured (no JSON, no object)
/// has one finding and no verdicts.
pub fn promote(bytes: &[u8], options: &CheckOptions<'_>) -> FileReport {
    let _ = (bytes, options);
    FileReport {
        kind: FileKind::Package,
        findings: Vec::new(),
        promotion: None,
    }
}
