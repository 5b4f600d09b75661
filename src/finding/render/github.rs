//! GitHub workflow commands: one annotation per finding.

use std::fmt::Write as _;

use super::{Report, portable};
use crate::finding::Severity;
use crate::printable::visible;

/// Writes `::error file=…,line=…::…` lines.
pub fn github(report: &Report) -> String {
    let mut out = String::new();
    for error in &report.errors {
        let file = error
            .path
            .as_ref()
            .map(|path| format!(" file={}", property(&path.to_string_lossy())));
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "::error{}::{}",
            file.unwrap_or_default(),
            data(&error.message)
        );
    }
    for file in &report.files {
        for finding in file.reported() {
            let path = property(&portable(&file.path_of(&finding.spot)));
            let level = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Hint => "notice",
            };
            let (start, end) = (finding.spot.start, finding.spot.end);
            let _ = write!(out, "::{level} file={path},line={},", start.line);
            // Columns mean something to GitHub only within one line.
            if start.line == end.line {
                let last = end.column.saturating_sub(1).max(start.column);
                let _ = write!(
                    out,
                    "endLine={},col={},endColumn={last},",
                    end.line, start.column
                );
            } else {
                let _ = write!(out, "endLine={},", end.line);
            }
            let title = property(&format!("{} {}", finding.rule.code, finding.rule.name));
            let place = if finding.spot.pointer.is_empty() {
                String::new()
            } else {
                format!("\nat {}", finding.spot.pointer)
            };
            let message = data(&format!(
                "{}{place}\nhelp: {}",
                finding.message, finding.help
            ));
            let _ = writeln!(out, "title={title}::{message}");
        }
    }
    out
}

/// The text of a command: a line end would end it.
fn data(text: &str) -> String {
    let mut data = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => data.push_str("%25"),
            '\r' => data.push_str("%0D"),
            '\n' => data.push_str("%0A"),
            other => data.push(visible(other)),
        }
    }
    data
}

/// A property of a command: commas and colons would end it too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn workflow_commands_are_escaped() {
        assert_eq!(data("a%\r\nb::c,d"), "a%25%0D%0Ab::c,d");
        assert_eq!(property("a%\nb::c,d"), "a%25%0Ab%3A%3Ac%2Cd");
        assert_eq!(
            property("\u{1b}]0;a\u{9c}\u{202e}"),
            "\u{241b}]0;a\u{fffd}\u{fffd}"
        );
    }
}
