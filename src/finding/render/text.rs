//! Reports for people at a terminal.
//!
//! A renderer of our own: pointers, fixes and related places have a line each, and a window of a file that is
//! a single line needs no more of it. `diagnostics` gives the same to `miette`.

use std::fmt::Write as _;

use super::fit::{fit, fit_hanging, window};
use super::totals::totals;
use super::{FileEntry, Report};
use crate::finding::{Located, LocatedVerdict, RelatedSpot, Severity, SourceSpot};
use crate::printable::line as printable;

/// How a report for people is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour it.
    pub colour: bool,
    /// Whether to leave out what is not a finding.
    pub quiet: bool,
    /// How many columns a line has at most; without, as many as it takes.
    pub width: Option<usize>,
    /// Whether codes of rules lead to their pages.
    pub links: bool,
}

impl Style {
    /// Breaks lines that are too wide.
    fn fit(self, text: String) -> String {
        match self.width {
            Some(width) => fit(&text, width),
            None => text,
        }
    }

    fn paint(self, style: anstyle::Style, text: &str) -> String {
        if self.colour {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    fn bold(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold(), text)
    }

    fn frame(self, text: &str) -> String {
        self.paint(anstyle::AnsiColor::Blue.on_default().bold(), text)
    }

    fn severity(self, severity: Severity, text: &str) -> String {
        let colour = match severity {
            Severity::Error => anstyle::AnsiColor::Red,
            Severity::Warning => anstyle::AnsiColor::Yellow,
            Severity::Hint => anstyle::AnsiColor::Cyan,
        };
        self.paint(colour.on_default().bold(), text)
    }
}

/// Writes every finding with its place, the verdicts, and a line of totals.
pub fn text(report: &Report, style: Style) -> String {
    let mut out = String::new();
    for file in &report.files {
        // A failed promotion rule shows its places under its verdict.
        for finding in &file.report.findings {
            out.push_str(&diagnostic(&file.display_of(&finding.spot), finding, style));
            out.push('\n');
        }
        if let Some(verdicts) = &file.report.promotion {
            let mut promotion = String::new();
            write_verdicts(&mut promotion, file, verdicts, style);
            out.push_str(&style.fit(promotion));
        }
    }
    if !style.quiet {
        let mut totals = String::new();
        write_totals(&mut totals, report, style);
        out.push_str(&style.fit(totals));
    }
    out
}

/// One finding, with the window of its line.
pub fn diagnostic(path: &str, finding: &Located, style: Style) -> String {
    let rule = finding.rule;
    let number = finding.spot.start.line.to_string();
    let gutter = " ".repeat(number.len());
    let bar = style.frame("|");
    let mark = style.frame("=");
    let head = format!("{}[{} {}]", finding.severity.as_str(), rule.code, rule.name);
    let mut out = String::new();
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        out,
        "{}{}",
        style.severity(finding.severity, &head),
        style.bold(&format!(": {}", printable(&finding.message))),
    );
    let at = finding.spot.start;
    let pointer = printable(&finding.spot.pointer);
    let place = if pointer.is_empty() {
        String::new()
    } else {
        format!("  {pointer}")
    };
    let _ = writeln!(
        out,
        "{gutter}{} {}:{}:{}{place}",
        style.frame("-->"),
        printable(path),
        at.line,
        at.column
    );
    // The number, and the frame.
    let room = style
        .width
        .map(|width| width.saturating_sub(number.len() + 3));
    let (line, carets) = window(&finding.excerpt, room);
    let _ = writeln!(out, "{gutter} {bar}\n{} {bar} {line}", style.frame(&number));
    let _ = writeln!(
        out,
        "{gutter} {bar} {}",
        style.severity(finding.severity, &carets)
    );
    for RelatedSpot { spot, message } in &finding.related {
        let at = spot.start;
        let _ = writeln!(
            out,
            "{gutter} {mark} {}: {}{}:{} {}: {}",
            style.bold("see"),
            printable(&other_file(path, &finding.spot, spot)),
            at.line,
            at.column,
            printable(&spot.pointer),
            printable(message),
        );
    }
    let _ = writeln!(
        out,
        "{gutter} {mark} {}: {}",
        style.bold("help"),
        printable(&finding.help)
    );
    if let Some(fix) = &finding.fix {
        let how = if fix.safe {
            "--fix"
        } else {
            "--fix --unsafe-fixes"
        };
        let _ = writeln!(
            out,
            "{gutter} {mark} {}: {} (`{how}` does it)",
            style.bold("fix"),
            printable(&fix.title)
        );
    }
    let text = style.fit(out);
    if style.links {
        linked(&text, rule.code, &rule.address())
    } else {
        text
    }
}

/// Makes a word of the first line lead to an address, where the terminal has links (OSC 8). Texts are fitted
/// before, so that no link goes over the end of a line.
pub fn linked(text: &str, word: &str, address: &str) -> String {
    let link = format!("\u{1b}]8;;{address}\u{1b}\\{word}\u{1b}]8;;\u{1b}\\");
    text.replacen(word, &link, 1)
}

/// The file of another place with a colon, when it is not the one of the finding, whose `path` this is.
fn other_file(path: &str, here: &SourceSpot, other: &SourceSpot) -> String {
    match (&here.file, &other.file) {
        (Some(here), Some(other)) if here != other => {
            let folder = path.strip_suffix(here.as_str()).unwrap_or_default();
            format!("{folder}{other}:")
        }
        _ => String::new(),
    }
}

fn write_verdicts(out: &mut String, file: &FileEntry, verdicts: &[LocatedVerdict], style: Style) {
    let passed = verdicts.iter().filter(|verdict| verdict.passed).count();
    let heading = format!(
        "promotion to `system`: {passed} of {} rules hold",
        verdicts.len()
    );
    let _ = writeln!(
        out,
        "{} {}",
        style.bold(&printable(&file.display())),
        heading
    );
    for verdict in verdicts {
        let word = if verdict.passed {
            style.paint(anstyle::AnsiColor::Green.on_default().bold(), "passed")
        } else {
            style.severity(Severity::Error, "failed")
        };
        let _ = writeln!(
            out,
            "  {word}  {} {}: {}",
            verdict.rule.code, verdict.rule.name, verdict.rule.summary
        );
        for place in &verdict.places {
            let at = place.spot.start;
            let inside = place
                .spot
                .file
                .as_ref()
                .map(|_| file.display_of(&place.spot) + ":");
            let _ = writeln!(
                out,
                "          {}{}:{} {}: {}",
                printable(&inside.unwrap_or_default()),
                at.line,
                at.column,
                printable(&place.spot.pointer),
                printable(&place.message),
            );
        }
        if !verdict.passed {
            let _ = writeln!(
                out,
                "          {}: {}",
                style.bold("help"),
                printable(verdict.rule.help)
            );
        }
    }
    out.push('\n');
}

fn write_totals(out: &mut String, report: &Report, style: Style) {
    let Some(line) = totals(report, |severity, text| style.severity(severity, text)) else {
        return;
    };
    let findings = report.files.iter().flat_map(|file| &file.report.findings);
    let safe = findings
        .filter(|finding| finding.fix.as_ref().is_some_and(|fix| fix.safe))
        .count();
    let _ = writeln!(out, "{line}");
    if safe > 0 {
        let _ = writeln!(out, "{safe} can be fixed with `--fix`.");
    }
}

/// Counts per rule, as a table.
pub fn statistics(report: &Report, style: Style) -> String {
    let counts = report.counts();
    let width = counts
        .iter()
        .map(|count| count.count.to_string().len())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for count in counts {
        let fixable = if count.fixable > 0 {
            format!(" ({} with a fix)", count.fixable)
        } else {
            String::new()
        };
        let line = format!(
            "{:>width$}  {}  {}{fixable}\n",
            count.count,
            style.bold(count.code),
            count.name
        );
        let names = width + count.code.len() + 4;
        out.push_str(&match style.width {
            Some(columns) => fit_hanging(&line, columns, names),
            None => line,
        });
    }
    out
}
