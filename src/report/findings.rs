//! Findings with positions and help, and the result of each promotion rule.

use super::html::Html;
use super::{Page, cut, part};
use crate::finding::render::counted;
use crate::finding::{Located, LocatedVerdict, RelatedSpot, Severity, SourceSpot};

/// Findings that are shown.
const MAX_FINDINGS: usize = 400;
/// Places of a verdict that are shown.
const MAX_PLACES: usize = 40;

pub(super) fn write(page: &Page<'_, '_>, html: &mut Html) {
    let check = page.report.check;
    let findings = &check.findings;
    part(html, "findings", "", |html| {
        if findings.is_empty() {
            html.say("p", "none", "The check found nothing.");
        }
        let kinds: Vec<Severity> = [Severity::Error, Severity::Warning, Severity::Hint]
            .into_iter()
            .filter(|kind| findings.iter().any(|finding| finding.severity == *kind))
            .collect();
        if kinds.len() > 1 {
            filter(&kinds, html);
        }
        // The worst first, each kind in order of place.
        let sorted = [Severity::Error, Severity::Warning, Severity::Hint]
            .into_iter()
            .flat_map(|kind| {
                findings
                    .iter()
                    .filter(move |finding| finding.severity == kind)
            });
        html.with("ul", &[("class", "findings")], |html| {
            for finding in sorted.take(MAX_FINDINGS) {
                show(finding, html);
            }
        });
        if findings.len() > MAX_FINDINGS {
            let message = format!(
                "{} not shown here; `tplkit check` lists all.",
                counted(findings.len() - MAX_FINDINGS, "finding")
            );
            html.say("p", "none", message);
        }
    });
    if let Some(verdicts) = &check.promotion {
        html.with("section", &[("id", "promotion")], |html| {
            html.say("h2", "", "Promotion to system");
            html.with("ul", &[("class", "findings")], |html| {
                for verdict in verdicts {
                    measured(verdict, html);
                }
            });
        });
    }
}

/// Which severities are shown: the style sheet does the rest.
fn filter(kinds: &[Severity], html: &mut Html) {
    html.with("fieldset", &[("class", "filter")], |html| {
        html.say("legend", "", "Show");
        for kind in kinds {
            let (id, word) = match kind {
                Severity::Error => ("show-error", "errors"),
                Severity::Warning => ("show-warning", "warnings"),
                Severity::Hint => ("show-hint", "hints"),
            };
            html.with("label", &[], |html| {
                html.empty(
                    "input",
                    &[("type", "checkbox"), ("id", id), ("checked", "")],
                );
                html.raw(" ").text(word);
            })
            .raw(" ");
        }
    });
}

fn show(finding: &Located, html: &mut Html) {
    let class = format!("finding {}", finding.severity.as_str());
    html.with("li", &[("class", &class)], |html| {
        html.with("p", &[("class", "what")], |html| {
            html.say("span", "severity", finding.severity.as_str())
                .raw(" ");
            html.say(
                "code",
                "",
                format!("{} {}", finding.rule.code, finding.rule.name),
            )
            .raw(" ");
            html.with("strong", &[], |html| {
                html.prose(cut(&finding.message, 600));
            });
        });
        place(&finding.spot, html);
        let excerpt = &finding.excerpt;
        // The page is made to be passed on; what may be a secret is not.
        let secret = ["X002", "X003"].contains(&finding.rule.code);
        if !(secret
            || excerpt.before.is_empty() && excerpt.marked.is_empty() && excerpt.after.is_empty())
        {
            html.with("pre", &[], |html| {
                html.text(if excerpt.cut_before { "…" } else { "" });
                html.text(excerpt.before.trim_start());
                html.say("mark", "", &excerpt.marked).text(&excerpt.after);
                html.text(if excerpt.cut_after { "…" } else { "" });
            });
        }
        if !finding.help.is_empty() {
            html.with("p", &[("class", "help")], |html| {
                html.say("span", "soft", "What to do")
                    .raw(" ")
                    .prose(cut(&finding.help, 600));
            });
        }
        for RelatedSpot { spot, message } in finding.related.iter().take(8) {
            html.with("p", &[("class", "related")], |html| {
                html.say("span", "soft", format!("See line {}", spot.start.line))
                    .raw(" ")
                    .prose(cut(message, 300));
            });
        }
        if let Some(fix) = &finding.fix {
            let how = if fix.safe {
                "tplkit check --fix"
            } else {
                "tplkit check --fix --unsafe-fixes"
            };
            html.with("p", &[("class", "related")], |html| {
                html.say("span", "soft", "Can be fixed")
                    .raw(" ")
                    .text(&fix.title)
                    .raw(": ");
                html.say("code", "", how);
            });
        }
    });
}

fn place(spot: &SourceSpot, html: &mut Html) {
    html.with("p", &[("class", "place")], |html| {
        html.text(format!(
            "line {}, column {}",
            spot.start.line, spot.start.column
        ))
        .raw(" ");
        let pointer = if spot.pointer.is_empty() {
            "the whole file"
        } else {
            &spot.pointer
        };
        html.say("code", "", cut(pointer, 300));
    });
}

fn measured(verdict: &LocatedVerdict, html: &mut Html) {
    let (class, word) = if verdict.passed {
        ("finding passed", "holds")
    } else {
        ("finding failed", "fails")
    };
    html.with("li", &[("class", class)], |html| {
        html.with("p", &[("class", "what")], |html| {
            html.say("span", "severity", word).raw(" ");
            html.say(
                "code",
                "",
                format!("{} {}", verdict.rule.code, verdict.rule.name),
            )
            .raw(" ");
            html.text(verdict.rule.summary);
        });
        for found in verdict.places.iter().take(MAX_PLACES) {
            html.with("p", &[], |html| {
                html.prose(cut(&found.message, 600));
            });
            place(&found.spot, html);
        }
        if verdict.places.len() > MAX_PLACES {
            html.say(
                "p",
                "soft",
                format!("and {} more", verdict.places.len() - MAX_PLACES),
            );
        }
    });
}
