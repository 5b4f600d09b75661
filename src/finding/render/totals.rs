//! The line of totals, which all reports for people have in common.

use std::fmt::Write as _;

use super::plural::counted;
use super::{FileEntry, Report};
use crate::finding::{FileKind, Severity};

/// What was found in how many packages, what was left out, and what can be promoted; nothing where nothing was checked.
/// `paint` writes a number of findings as befits their severity.
pub(super) fn totals(report: &Report, paint: impl Fn(Severity, &str) -> String) -> Option<String> {
    let summary = report.summary();
    let mut parts = Vec::new();
    for (count, noun, severity) in [
        (summary.errors, "error", Severity::Error),
        (summary.warnings, "warning", Severity::Warning),
        (summary.hints, "hint", Severity::Hint),
    ] {
        if count > 0 {
            parts.push(paint(severity, &counted(count, noun)));
        }
    }
    if parts.is_empty() && summary.packages == 0 && !report.errors.is_empty() {
        // Nothing was checked, so nothing can be said to be without findings.
        return None;
    }
    // A file that was named and is not a package has spoken for itself.
    let silent =
        |file: &&FileEntry| file.report.kind == FileKind::Plain && file.report.findings.is_empty();
    let plain = report.files.iter().filter(silent).count();
    let (promotes, measured) = promotions(report);
    let mut line = if report.promotion_only {
        // What could not even be measured cannot be promoted.
        let packages = counted(report.files.len() - plain, "package");
        format!("{promotes} of {packages} can be promoted to `system`")
    } else {
        let nothing_found = parts.is_empty();
        let found = if nothing_found {
            "No findings".to_owned()
        } else {
            parts.join(", ")
        };
        let among = match summary.packages {
            // Files that were named, and are none.
            0 if !nothing_found => counted(report.files.len() - plain, "file"),
            packages => counted(packages, "package"),
        };
        format!("{found} in {among}")
    };
    // Writing to a String cannot fail, here and below.
    if plain > 0 {
        let _ = write!(line, ", {} skipped", counted(plain, "plain file"));
    }
    let fixed: usize = report.files.iter().map(|file| file.fixed).sum();
    if fixed > 0 {
        let _ = write!(line, ", {fixed} fixed");
    }
    if let Some(accepted) = report.accepted {
        let _ = write!(line, ", {} in the baseline", accepted.known);
        if accepted.pruned {
            let _ = write!(line, ", {} stale", accepted.stale);
        }
    }
    if measured > 0 && !report.promotion_only {
        let _ = write!(line, "; {promotes} of {measured} can be promoted");
    }
    Some(line + ".")
}

/// How many packages can be promoted, of how many that were measured.
fn promotions(report: &Report) -> (usize, usize) {
    let measured: Vec<_> = report
        .files
        .iter()
        .filter(|file| file.report.promotion.is_some())
        .collect();
    let promotes = measured.iter().filter(|file| file.promotes()).count();
    (promotes, measured.len())
}
