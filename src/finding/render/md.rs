//! Markdown for a comment on a pull request.

use std::fmt::Write as _;

use super::totals::totals;
use super::{FileEntry, Report};
use crate::finding::Severity;
use crate::printable::{code, markdown};

/// Writes a heading, a line of totals, and a table per file that has anything to say.
pub fn md(report: &Report) -> String {
    let mut out = format!("### tplkit: {}\n", report.outcome().as_str());
    if let Some(line) = totals(report, |_, text| text.to_owned()) {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(out, "\n{line}");
    }
    for error in &report.errors {
        let path = error
            .path
            .as_ref()
            .map(|path| format!("{}: ", code(&path.to_string_lossy())));
        let _ = writeln!(
            out,
            "\n- :x: {}{}",
            path.unwrap_or_default(),
            escape(&error.message)
        );
    }
    for file in &report.files {
        write_file(&mut out, file);
    }
    if report.statistics {
        out.push_str("\n| Rule | Findings | With a fix |\n|---|---:|---:|\n");
        for count in report.counts() {
            let _ = writeln!(
                out,
                "| {} {} | {} | {} |",
                count.code, count.name, count.count, count.fixable
            );
        }
    }
    out
}

fn write_file(out: &mut String, file: &FileEntry) {
    let mut rows = String::new();
    let findings = file.report.findings.iter();
    let findings = findings.map(|finding| (sign(finding.severity), finding));
    // What a promotion rule fails on is counted by its verdict, not as an error.
    let failed = file.failed().map(|place| (":x: failed", place));
    for (sign, finding) in findings.chain(failed) {
        let spot = &finding.spot;
        let inside = spot.file.as_ref().map(|_| file.display_of(spot));
        let pointer = if spot.pointer.is_empty() {
            String::new()
        } else {
            format!(" {}", code(&spot.pointer))
        };
        let _ = writeln!(
            rows,
            "| {sign} | **{}** {} | {}{}:{}{pointer} | {}<br>{} |",
            finding.rule.code,
            finding.rule.name,
            inside.map(|path| code(&path) + " ").unwrap_or_default(),
            spot.start.line,
            spot.start.column,
            escape(&finding.message),
            escape(&finding.help),
        );
    }
    let verdicts = file.report.promotion.iter().flatten();
    let verdicts: Vec<String> = verdicts
        .map(|verdict| {
            format!(
                "{} {} {}",
                if verdict.passed {
                    ":white_check_mark:"
                } else {
                    ":x:"
                },
                verdict.rule.code,
                verdict.rule.name
            )
        })
        .collect();
    if rows.is_empty() && verdicts.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n#### {}\n", code(&file.display()));
    if !verdicts.is_empty() {
        let _ = writeln!(out, "Promotion to `system`: {}\n", verdicts.join(", "));
    }
    if !rows.is_empty() {
        let _ = write!(
            out,
            "| Severity | Rule | Place | What and how to fix it |\n|---|---|---|---|\n{rows}"
        );
    }
}

fn sign(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => ":x: error",
        Severity::Warning => ":warning: warning",
        Severity::Hint => ":bulb: hint",
    }
}

/// Text that shows as itself inside a table: no markup, no mention, no reference to an issue.
/// What is in backticks stays code.
fn escape(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd number of parts is an even number of backticks: every one has its partner.
    let paired = parts.len() % 2 == 1;
    let part = |(index, part): (usize, &&str)| match index % 2 {
        1 if paired && !part.is_empty() => code(part),
        _ => markdown(part),
    };
    let parts: Vec<String> = parts.iter().enumerate().map(part).collect();
    if paired {
        parts.concat()
    } else {
        parts.join("\\`")
    }
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn markup_shows_as_itself() {
        assert_eq!(escape("a|b <c> @me #1"), "a\\|b &lt;c&gt; &#64;me &#35;1");
        assert_eq!(escape("*a* `b_c` d"), "\\*a\\* `b_c` d");
        assert_eq!(escape("a ` b_c"), "a \\` b\\_c");
    }
}
