//! GitLab's code quality report: a list of issues, each with a digest that stays.

use serde::Serialize;

use super::{Report, digests, portable};
use crate::finding::Severity;
use crate::printable;

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// Writes the list.
pub fn gitlab(report: &Report) -> String {
    let issues: Vec<Issue> = (report.files.iter())
        .flat_map(|file| {
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
                    path: portable(&file.path_of(&finding.spot)),
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
