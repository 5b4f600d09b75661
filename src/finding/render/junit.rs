//! JUnit XML in the strict form of the Ant schema, which all readers accept.
//!
//! A file is a suite, a finding a failed case; a file without findings is one passed case.

use std::fmt::Write as _;

use super::{FileEntry, Report, ReportError};
use crate::finding::{Located, Severity};
use crate::printable::visible;

/// Writes the suites. `started` is the time of the run in UTC, `YYYY-MM-DDTHH:MM:SS`, which the
/// schema asks for; the library holds no clock.
pub fn junit(report: &Report, started: &str) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let mut id = 0;
    for error in &report.errors {
        broken(&mut out, error, id, started);
        id += 1;
    }
    for file in &report.files {
        suite(&mut out, file, id, started);
        id += 1;
    }
    out.push_str("</testsuites>\n");
    out
}

fn open(out: &mut String, name: &str, id: usize, started: &str, counts: [usize; 3]) {
    let [tests, failures, errors] = counts;
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        out,
        "  <testsuite id=\"{id}\" name=\"{name}\" package=\"tplkit\" timestamp=\"{started}\" hostname=\"localhost\" \
         tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"0\">\n    <properties/>",
    );
}

fn close(out: &mut String) {
    out.push_str("    <system-out/>\n    <system-err/>\n  </testsuite>\n");
}

fn broken(out: &mut String, error: &ReportError, id: usize, started: &str) {
    let path = error
        .path
        .as_ref()
        .map(|path| path.to_string_lossy().into_owned());
    let name = escape(path.as_deref().unwrap_or("tplkit"));
    let message = escape(&error.message);
    open(out, &name, id, started, [1, 0, 1]);
    let _ = writeln!(
        out,
        "    <testcase name=\"read\" classname=\"{name}\" time=\"0\">\n      <error type=\"failed\" message=\"{message}\"/>\n    </testcase>",
    );
    close(out);
}

fn suite(out: &mut String, file: &FileEntry, id: usize, started: &str) {
    let findings: Vec<&Located> = file.reported().collect();
    let fails = |finding: &&&Located| finding.severity == Severity::Error;
    let failures = findings.iter().filter(fails).count();
    let name = escape(&file.display());
    open(
        out,
        &name,
        id,
        started,
        [findings.len().max(1), failures, 0],
    );
    if findings.is_empty() {
        let _ = writeln!(
            out,
            "    <testcase name=\"check\" classname=\"{name}\" time=\"0\"/>"
        );
    }
    for finding in findings {
        case(
            out,
            &name,
            &escape(&file.display_of(&finding.spot)),
            finding,
        );
    }
    close(out);
}

fn case(out: &mut String, package: &str, file: &str, finding: &Located) {
    let rule = finding.rule;
    let at = finding.spot.start;
    let _ = writeln!(
        out,
        "    <testcase name=\"{} {} {}:{}\" classname=\"{package}\" time=\"0\">",
        rule.code, rule.name, at.line, at.column,
    );
    let body = format!(
        "{file}:{}:{} {}\n{}: {}\nhelp: {}",
        at.line,
        at.column,
        escape(&finding.spot.pointer),
        finding.severity.as_str(),
        escape(&finding.message),
        escape(&finding.help),
    );
    // JUnit has no warnings: what does not fail the run is a skipped case that carries its words.
    if finding.severity == Severity::Error {
        let message = escape(&finding.message);
        let _ = writeln!(
            out,
            "      <failure type=\"{}\" message=\"{message}\">{body}</failure>",
            rule.code
        );
    } else {
        let _ = writeln!(out, "      <skipped>{body}</skipped>");
    }
    out.push_str("    </testcase>\n");
}

/// Text for an attribute or element: the five markup characters escaped, and what XML 1.0 cannot
/// hold at all, or should not be shown, replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(visible(other)),
        }
    }
    out
}
