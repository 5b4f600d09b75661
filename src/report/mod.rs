//! An HTML page about a package: contents, decisions, findings.
//!
//! In: the facts of a package and its findings. Out: self-contained HTML without scripts, fonts or
//! requests, and with a content policy that forbids them, because packages are untrusted. Same
//! package, same bytes.

mod contents;
mod decisions;
mod findings;
mod html;
mod overview;
mod pictures;
mod plan;
mod rows;
#[cfg(test)]
mod tests;
mod upgrade;

use crate::check::facts::Facts;
use crate::contents::Contents;
use crate::finding::LocatedReport;
use crate::graph::{Graph, GraphKind, svg_style};

use html::Html;

pub use upgrade::upgrade_page;

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Report<'r, 'd> {
    /// The package.
    pub facts: &'r Facts<'d>,
    /// What the check says, promotion measured.
    pub check: &'r LocatedReport,
    /// The name of the file, when it has one.
    pub file: Option<&'r str>,
    /// How many rows of each entry are shown.
    pub rows: usize,
    /// Where the style is.
    pub style: Style<'r>,
}

/// Where the style of a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style<'s> {
    /// In the page.
    Inline,
    /// At this address, of `style.css` of this module followed by that of pictures: for a frame of a page
    /// whose policy forbids inline styles.
    Linked(&'s str),
}

/// What the parts of the page share.
struct Page<'r, 'd> {
    report: Report<'r, 'd>,
    contents: Contents,
    plan: Graph,
}

const STYLE: &str = include_str!("style.css");

/// The parts in their order: anchor and heading.
const PARTS: [(&str, &str); 8] = [
    ("findings", "Findings"),
    ("tables", "Tables"),
    ("navigation", "Navigation"),
    ("automations", "Automations"),
    ("decisions", "For the destination"),
    ("rows", "Rows"),
    ("pictures", "Pictures"),
    ("plan", "Plan"),
];

/// Writes the page.
pub fn page(report: Report<'_, '_>) -> String {
    let page = Page {
        contents: Contents::read(report.facts.root),
        plan: Graph::read(report.facts, GraphKind::Plan),
        report,
    };
    let title = page.title();
    let mut html = Html::default();
    begin(&mut html, &format!("{title}: package report"), report.style);
    page.navigation_bar(&mut html);
    html.with("main", &[("id", "main")], |html| {
        overview::write(&page, html);
        findings::write(&page, html);
        contents::tables(&page, html);
        contents::navigation(&page, html);
        contents::automations(&page, html);
        decisions::write(&page, html);
        rows::write(&page, html);
        pictures::write(&page, html);
        plan::write(&page, html);
    });
    end(&mut html);
    html.finish()
}

/// Everything before the content of a page.
fn begin(html: &mut Html, title: &str, style: Style<'_>) {
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n");
    match style {
        Style::Inline => html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\" />\n"),
        // A frame without an origin has no 'self': the policy of the page around it says from where.
        Style::Linked(_) => html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src http: https:; form-action 'none'\" />\n"),
    };
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n")
        .raw("<meta name=\"color-scheme\" content=\"light dark\" />\n<meta name=\"generator\" content=\"tplkit\" />\n")
        .say("title", "", title)
        .raw("\n");
    match style {
        Style::Inline => {
            html.raw("<style>\n")
                .raw(STYLE)
                .raw(svg_style())
                .raw("</style>\n");
        }
        // Without a base of its own, an anchor of the frame would lead to the page around it.
        Style::Linked(address) => {
            html.raw("<base href=\"about:srcdoc\" />\n")
                .empty("link", &[("rel", "stylesheet"), ("href", address)])
                .raw("\n");
        }
    }
    html.raw("</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the content</a>\n<div class=\"page\">\n");
}

/// Everything after it.
fn end(html: &mut Html) {
    html.raw("\n</div>\n</body>\n</html>\n");
}

impl<'r, 'd> Page<'r, 'd> {
    fn facts(&self) -> &'r Facts<'d> {
        self.report.facts
    }

    fn title(&self) -> &str {
        let names = [&self.contents.label, &self.contents.name];
        let mut names = names.into_iter().flatten();
        names
            .find(|name| !name.is_empty())
            .map_or("Package", String::as_str)
    }

    fn navigation_bar(&self, html: &mut Html) {
        html.with("nav", &[("aria-label", "Parts of the report")], |html| {
            html.say("p", "brand", self.title());
            html.with("ul", &[], |html| {
                for (anchor, heading) in PARTS {
                    html.with("li", &[], |html| {
                        html.with("a", &[("href", &format!("#{anchor}"))], |html| {
                            html.say("span", "", heading);
                            if let Some(count) = self.count(anchor) {
                                html.say("span", "count", count.to_string());
                            }
                        });
                        if anchor == "tables" {
                            contents::table_links(self, html);
                        }
                    });
                }
            });
        });
        html.raw("\n");
    }

    /// The number that is next to a heading.
    fn count(&self, anchor: &str) -> Option<usize> {
        use crate::package::Tool;
        let steps = |tool: Tool| {
            let of_tool = self.facts().steps.iter();
            of_tool.filter(|step| step.tool == Some(tool)).count()
        };
        let contents = &self.contents;
        Some(match anchor {
            "tables" => steps(Tool::CreateFeature),
            "navigation" => steps(Tool::CreateModule),
            "automations" => steps(Tool::CreateWorkflowV2),
            "decisions" => contents.dependencies.len(),
            "rows" => {
                let rows: usize = contents.payloads.iter().map(|payload| payload.rows).sum();
                rows + rows::inserted(self.facts())
            }
            "plan" => contents.steps,
            "findings" => self.report.check.findings.len(),
            _ => return None,
        })
    }
}

/// A part of the page under its heading.
fn part(html: &mut Html, anchor: &'static str, about: &str, content: impl FnOnce(&mut Html)) {
    let heading = PARTS.iter().find(|(other, _)| *other == anchor);
    let heading = heading.map_or("", |(_, heading)| heading);
    html.with("section", &[("id", anchor)], |html| {
        html.say("h2", "", heading);
        if !about.is_empty() {
            html.say("p", "about", about);
        }
        content(html);
    });
}

/// A ref, as it is used.
fn reference(html: &mut Html, reference: &str) {
    html.say("code", "ref", format!("${reference}"));
}

/// At most so many characters of a text, cut with an ellipsis.
fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
