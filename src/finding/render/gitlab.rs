//! GitLab's code quality report: a list of issues, each with a digest that stays.

use serde::Serialize;

use super::{Report, digests, portable};
use crate::finding::Severity;
use crate::printable;

#[derive(Serialize)]
struct Issue<'r> {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location<'r>,
}

#[derive(Serialize)]
struct Location<'r> {
    path: &'r str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// Writes the list.
pub fn gitlab(report: &Report) -> String {
    let paths: Vec<String> = report.files.iter().map(portable).collect();
    let files = report.files.iter().zip(&paths);
    let issues: Vec<Issue<'_>> = files
        .flat_map(|(file, path)| {
            digests(file).map(move |(finding, fingerprint)| Issue {
                description: printable::line(&format!(
                    "{} {}: {}",
                    finding.rule.code, finding.rule.name, finding.message
                )),
                check_name: finding.rule.code,
                fingerprint,
                severity: match finding.severity {
                    Severity::Error => "major",
                    Severity::Warning => "minor",
                    Severity::Hint => "info",
                },
                location: Location {
                    path,
                    lines: Lines {
                        begin: finding.spot.start.line,
                        end: finding.spot.end.line,
                    },
                },
            })
        })
        .collect();
    // Plain structs of texts and numbers always serialize.
    let text = serde_json::to_string_pretty(&issues).unwrap_or_default();
    printable::json(&(text + "\n"))
}
