//! A report that has outlived its file: every place turned into line, column and a short excerpt.
//!
//! [`FileReport`] holds offsets; whoever shows it locates it while the bytes are at hand, and may
//! drop them afterwards.

use std::ops::Range;

use super::position::{LineColumn, Positions, without_mark};
use super::{Excerpt, FileKind, FileReport, Finding, Fix, Place, Rule, Severity};

/// A place that people and editors can go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// JSON Pointer; empty for the whole file.
    pub pointer: String,
    /// First character.
    pub start: LineColumn,
    /// Character after the last.
    pub end: LineColumn,
    /// Bytes, a byte-order mark not counted.
    pub span: Range<usize>,
}

/// A finding with its places.
#[derive(Debug, Clone)]
pub struct Located {
    /// The rule that speaks.
    pub rule: &'static Rule,
    /// The weight, after configuration.
    pub severity: Severity,
    /// The narrowest value at fault.
    pub spot: Spot,
    /// What is there.
    pub excerpt: Excerpt,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Other places with what is there.
    pub related: Vec<(Spot, String)>,
    /// A fix.
    pub fix: Option<Fix>,
}

impl Located {
    /// Locates a single finding in the bytes of its file.
    pub fn new(bytes: &[u8], finding: Finding) -> Located {
        let text = without_mark(bytes);
        let places =
            std::iter::once(&finding.place).chain(finding.related.iter().map(|other| &other.place));
        let offsets = places
            .flat_map(|place| [place.span.start, place.span.end])
            .collect();
        Locator {
            text,
            positions: Positions::find(text, offsets),
        }
        .finding(finding)
    }
}

/// A promotion rule, measured, with the places where it fails.
#[derive(Debug, Clone)]
pub struct LocatedVerdict {
    /// The rule.
    pub rule: &'static Rule,
    /// Whether it holds.
    pub passed: bool,
    /// The places, as findings of the rule.
    pub places: Vec<Located>,
}

/// What a check of one file says, without need of the file.
#[derive(Debug, Clone)]
pub struct LocatedReport {
    /// What it is.
    pub kind: FileKind,
    /// Bytes of the byte-order mark that is before the text: 0 or 3.
    pub mark: usize,
    /// In order of place, then code.
    pub findings: Vec<Located>,
    /// The five verdicts, when asked for and measurable.
    pub promotion: Option<Vec<LocatedVerdict>>,
}

impl LocatedReport {
    /// Turns the offsets of `report` into places in the bytes it was made from.
    pub fn new(bytes: &[u8], report: FileReport) -> LocatedReport {
        let text = without_mark(bytes);
        let offsets = places(&report)
            .flat_map(|place| [place.span.start, place.span.end])
            .collect();
        let locator = Locator {
            text,
            positions: Positions::find(text, offsets),
        };
        let promotion = report.promotion.map(|verdicts| {
            let located = verdicts.into_iter().map(|verdict| LocatedVerdict {
                rule: verdict.rule,
                passed: verdict.passed,
                places: (verdict.places.into_iter())
                    .map(|(place, message)| {
                        locator.finding(Finding::new(verdict.rule, place, message))
                    })
                    .collect(),
            });
            located.collect()
        });
        let findings = report
            .findings
            .into_iter()
            .map(|finding| locator.finding(finding))
            .collect();
        LocatedReport {
            kind: report.kind,
            mark: bytes.len() - text.len(),
            findings,
            promotion,
        }
    }
}

fn places(report: &FileReport) -> impl Iterator<Item = &Place> {
    let findings = report.findings.iter().flat_map(|finding| {
        std::iter::once(&finding.place).chain(finding.related.iter().map(|related| &related.place))
    });
    let verdicts = report.promotion.iter().flatten();
    findings.chain(verdicts.flat_map(|verdict| verdict.places.iter().map(|(place, _)| place)))
}

struct Locator<'t> {
    text: &'t [u8],
    positions: Positions,
}

impl Locator<'_> {
    fn finding(&self, finding: Finding) -> Located {
        let start = finding.place.span.start;
        let excerpt = Excerpt::cut(
            self.text,
            self.positions.line_start(start),
            &finding.place.span,
        );
        let related = finding.related.into_iter();
        Located {
            rule: finding.rule,
            severity: finding.severity,
            excerpt,
            spot: self.spot(finding.place),
            message: finding.message,
            help: finding.help,
            related: related
                .map(|other| (self.spot(other.place), other.message))
                .collect(),
            fix: finding.fix,
        }
    }

    fn spot(&self, place: Place) -> Spot {
        Spot {
            start: self.positions.get(place.span.start),
            end: self.positions.get(place.span.end),
            pointer: place.pointer,
            span: place.span,
        }
    }
}
