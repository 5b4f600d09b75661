//! A report with every place as line, column and excerpt, so that it no longer needs its file.
//!
//! [`FileReport`] holds offsets; callers locate it while they have the bytes, and may drop them
//! afterwards. Which file a place is in, its [`Origin`] says.

use std::collections::BTreeMap;
use std::ops::Range;

use super::position::{LineColumn, Positions};
use super::{
    Excerpt, FileEdit, FileKind, FileReport, FileSpan, Finding, Origin, Place, Rule, Severity,
};

/// A place that people and editors can go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSpot {
    /// JSON Pointer into the package as it is packed; empty for the whole file.
    pub pointer: String,
    /// The file, relative to the folder of the package, with `/`; nothing for a packed file.
    pub file: Option<String>,
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
    pub spot: SourceSpot,
    /// What is there.
    pub excerpt: Excerpt,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Other places with what is there.
    pub related: Vec<RelatedSpot>,
    /// A fix.
    pub fix: Option<LocatedFix>,
}

/// Another place that helps to understand a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedSpot {
    /// Where.
    pub spot: SourceSpot,
    /// What is there.
    pub message: String,
}

/// A fix with the files that it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedFix {
    /// What it does, as an imperative.
    pub title: String,
    /// Whether the meaning of the package stays what its author surely meant.
    pub safe: bool,
    /// Edits that do not overlap, in any order.
    pub edits: Vec<FileEdit>,
}

impl Located {
    /// Locates a single finding in the bytes of its file.
    pub fn new(origin: &(impl Origin + ?Sized), finding: Finding) -> Located {
        Locator::new(origin, places_of(&finding)).finding(finding)
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

/// What a check of one package says, without need of its bytes.
#[derive(Debug, Clone)]
pub struct LocatedReport {
    /// What it is.
    pub kind: FileKind,
    /// In order of place, then code.
    pub findings: Vec<Located>,
    /// The five verdicts, when asked for and measurable.
    pub promotion: Option<Vec<LocatedVerdict>>,
}

impl LocatedReport {
    /// Turns the offsets of `report` into places in what it was made from.
    pub fn new(origin: &(impl Origin + ?Sized), report: FileReport) -> LocatedReport {
        let locator = Locator::new(origin, places(&report));
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
            findings,
            promotion,
        }
    }
}

fn places_of(finding: &Finding) -> impl Iterator<Item = &Place> {
    std::iter::once(&finding.place).chain(finding.related.iter().map(|related| &related.place))
}

fn places(report: &FileReport) -> impl Iterator<Item = &Place> {
    let findings = report.findings.iter().flat_map(places_of);
    let verdicts = report.promotion.iter().flatten();
    findings.chain(verdicts.flat_map(|verdict| verdict.places.iter().map(|(place, _)| place)))
}

struct Locator<'o, O: ?Sized> {
    origin: &'o O,
    /// By file.
    positions: BTreeMap<Option<&'o str>, Positions>,
}

impl<'o, O: Origin + ?Sized> Locator<'o, O> {
    /// Every file is read once, however many places are in it.
    fn new<'p>(origin: &'o O, places: impl Iterator<Item = &'p Place>) -> Locator<'o, O> {
        let mut offsets: BTreeMap<Option<&str>, (&[u8], Vec<usize>)> = BTreeMap::new();
        for place in places {
            let FileSpan { file, bytes, span } = origin.locate(&place.span);
            let (_, offsets) = offsets.entry(file).or_insert((bytes, Vec::new()));
            offsets.extend([span.start, span.end]);
        }
        let found = offsets
            .into_iter()
            .map(|(file, (bytes, offsets))| (file, Positions::find(bytes, offsets)));
        Locator {
            origin,
            positions: found.collect(),
        }
    }

    fn finding(&self, finding: Finding) -> Located {
        let FileSpan { file, bytes, span } = self.origin.locate(&finding.place.span);
        let line_start = self
            .positions
            .get(&file)
            .map_or(0, |positions| positions.line_start(span.start));
        let related = finding.related.into_iter();
        Located {
            rule: finding.rule,
            severity: finding.severity,
            excerpt: Excerpt::cut(bytes, line_start, &span),
            spot: self.spot(finding.place),
            message: finding.message,
            help: finding.help,
            related: related
                .map(|other| RelatedSpot {
                    spot: self.spot(other.place),
                    message: other.message,
                })
                .collect(),
            fix: finding.fix.and_then(|fix| {
                Some(LocatedFix {
                    edits: self.origin.edits(&fix)?,
                    title: fix.title,
                    safe: fix.safe,
                })
            }),
        }
    }

    fn spot(&self, place: Place) -> SourceSpot {
        let FileSpan { file, span, .. } = self.origin.locate(&place.span);
        let at = |offset| {
            let positions = self.positions.get(&file);
            positions.map_or(LineColumn::START, |positions| positions.get(offset))
        };
        SourceSpot {
            start: at(span.start),
            end: at(span.end),
            pointer: place.pointer,
            file: file.map(str::to_owned),
            span,
        }
    }
}
