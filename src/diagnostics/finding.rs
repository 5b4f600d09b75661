//! A finding as a diagnostic.
//!
//! Packages may be one line of megabytes, and the renderers of `miette` read whole lines: a diagnostic is
//! therefore its own source code and hands out the window of the finding's excerpt, with the true line and
//! column of the file. It needs no text of the file, and no control character of it is drawn.

use std::fmt;

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};

use crate::finding::{Located, RelatedSpot, Severity, SourceSpot};

/// A finding that can be drawn: with the name of its file, and what of it is shown.
#[derive(Debug, Clone)]
pub struct FindingDiagnostic {
    finding: Located,
    file: String,
    /// The window, the part that is marked in it, and its text.
    window: SourceSpan,
    marked: SourceSpan,
    text: String,
    related: Vec<RelatedDiagnostic>,
}

impl Located {
    /// The finding as a diagnostic; `file` is what readers know its file or folder by.
    pub fn in_file(self, file: impl Into<String>) -> FindingDiagnostic {
        let file = printable(&file.into());
        let cut = |cut: bool| if cut { "…" } else { "" };
        let excerpt = &self.excerpt;
        let before = format!("{}{}", cut(excerpt.cut_before), excerpt.before);
        let after = format!("{}{}", excerpt.after, cut(excerpt.cut_after));
        let text = format!("{before}{}{after}", excerpt.marked);
        // The replacement of a control character may be longer than it.
        let begin = self.spot.span.start.saturating_sub(before.len());
        FindingDiagnostic {
            window: (begin, text.len()).into(),
            marked: (begin + before.len(), excerpt.marked.len()).into(),
            text,
            related: self
                .related
                .iter()
                .map(|related| RelatedDiagnostic::new(&file, related))
                .collect(),
            file: path(&file, &self.spot),
            finding: self,
        }
    }
}

impl FindingDiagnostic {
    /// The finding.
    pub fn finding(&self) -> &Located {
        &self.finding
    }
}

/// The file of a place: that of a folder lies in it.
fn path(package: &str, spot: &SourceSpot) -> String {
    match &spot.file {
        Some(file) => format!("{}/{}", package.trim_end_matches('/'), printable(file)),
        None => package.to_owned(),
    }
}

fn printable(text: &str) -> String {
    crate::printable::line(text)
}

impl fmt::Display for FindingDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.finding.message))
    }
}

impl std::error::Error for FindingDiagnostic {}

impl Diagnostic for FindingDiagnostic {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.finding.rule.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Hint => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(printable(&self.finding.help)))
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.finding.rule.address()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_primary_with_span(
            Some(self.finding.rule.name.to_owned()),
            self.marked,
        );
        Some(Box::new(std::iter::once(label)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        let related = self
            .related
            .iter()
            .map(|related| related as &dyn Diagnostic);
        (!self.related.is_empty()).then(|| Box::new(related) as Box<_>)
    }
}

impl SourceCode for FindingDiagnostic {
    /// The whole window, whichever part of it is wanted; its place is that of the marked part.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _lines_before: usize,
        _lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let end = |span: &SourceSpan| span.offset().saturating_add(span.len());
        if span.offset() < self.window.offset() || end(span) > end(&self.window) {
            return Err(MietteError::OutOfBounds);
        }
        let start = self.finding.spot.start;
        let contents = MietteSpanContents::new_named(
            self.file.clone(),
            self.text.as_bytes(),
            self.window,
            start.line - 1,
            start.column - 1,
            1,
        );
        Ok(Box::new(contents.with_language("json")))
    }
}

/// Another place that helps to understand a finding. There is no excerpt of it.
#[derive(Debug, Clone)]
struct RelatedDiagnostic(String);

impl RelatedDiagnostic {
    fn new(package: &str, related: &RelatedSpot) -> RelatedDiagnostic {
        let RelatedSpot { spot, message } = related;
        let at = spot.start;
        RelatedDiagnostic(format!(
            "{}:{}:{} {}: {}",
            path(package, spot),
            at.line,
            at.column,
            printable(&spot.pointer),
            printable(message)
        ))
    }
}

impl fmt::Display for RelatedDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RelatedDiagnostic {}

impl Diagnostic for RelatedDiagnostic {
    fn severity(&self) -> Option<miette::Severity> {
        Some(miette::Severity::Advice)
    }
}
