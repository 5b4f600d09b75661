//! An HTML page about an upgrade: base, package and destination side by side.
//!
//! In: the plan of an upgrade. Out: a page as [`super::page`] makes one of a package.

use std::borrow::Cow;

use super::html::Html;
use super::{Style, begin, cut, end};
use crate::apply::{Preview, RowsPreview};
use crate::finding::render::counted;
use crate::json::Value;
use crate::upgrade::{Conflict, KeepReason, KeptRecord, LeftRecord};
use crate::workspace::RecordKind;

/// Longer values are cut.
const MAX_VALUE_CHARS: usize = 400;

/// A leaf on all sides.
struct Line<'p> {
    kind: &'p str,
    reference: &'p str,
    path: &'p str,
    /// What the base, the package and the destination have; nothing where the plan does not say it.
    sides: [Option<&'p Value>; 3],
    outcome: Cow<'p, str>,
    good: bool,
}

/// What people call the thing that a ref names, where that is known.
type Labels<'l> = &'l dyn Fn(&str) -> Option<&'l str>;

/// The page of a plan.
pub fn upgrade_page(subject: &str, workspace: &str, plan: &Preview, labels: Labels<'_>) -> String {
    let mut html = Html::default();
    begin(&mut html, &format!("{subject}: upgrade"), Style::Inline);
    html.with("nav", &[("aria-label", "Parts of the report")], |html| {
        html.say("p", "brand", subject);
    });
    html.with("main", &[("id", "main")], |html| {
        html.say("p", "eyebrow", format!("Upgrade of workspace {workspace}"));
        html.say("h1", "", subject);
        html.say("p", "lead", summary(plan));
        for refusal in &plan.refusals {
            html.with("p", &[("class", "none")], |html| {
                html.say("code", "", refusal.code.as_str())
                    .raw(" ")
                    .text(&refusal.detail);
            });
        }
        section(html, "Conflicts", &conflicts(&plan.conflicts), labels);
        if plan.conflicts_more > 0 {
            html.say(
                "p",
                "none",
                format!("… and {} more cells.", plan.conflicts_more),
            );
        }
        section(html, "Changed", &updates(plan), labels);
        section(html, KeptRecord::TITLE, &kept(plan), labels);
        list(
            html,
            "Created",
            plan.create
                .iter()
                .map(|one| format!("{} {} ({})", one.kind.noun(), one.label, one.reference)),
        );
        list(
            html,
            LeftRecord::TITLE,
            plan.left
                .iter()
                .map(|one| format!("{} {} ({})", one.kind.noun(), one.label, one.reference)),
        );
        list(
            html,
            "Rows",
            plan.rows.iter().map(|(table, rows)| {
                let table = labels(table).unwrap_or(table);
                rows_in_words(table, rows)
            }),
        );
    });
    end(&mut html);
    html.finish()
}

fn rows_in_words(table: &str, rows: &RowsPreview) -> String {
    let kept = counted(usize::try_from(rows.kept).unwrap_or(usize::MAX), "cell");
    format!(
        "{table}: {} to insert, {} to update, {} left, {kept} kept, {} to decide",
        rows.insert, rows.update, rows.left, rows.conflicts
    )
}

fn summary(plan: &Preview) -> String {
    let base = match plan.base.as_ref().and_then(|base| base.semver.as_deref()) {
        Some(semver) => format!("From version {semver}: "),
        None => String::new(),
    };
    format!(
        "{base}{}, {}, {}.",
        counted(plan.conflict_count(), "conflict"),
        counted(plan.update.len(), "changed value"),
        counted(plan.create.len(), "new record")
    )
}

fn conflicts(conflicts: &[Conflict]) -> Vec<Line<'_>> {
    let lines = conflicts.iter().map(|one| {
        let outcome = match one.count {
            Some(count) => format!("{}: {count}", one.code.as_str()).into(),
            None => one.code.as_str().into(),
        };
        Line {
            kind: &one.kind,
            reference: &one.reference,
            path: one.path.as_deref().unwrap_or("(whole)"),
            sides: [Some(&one.base), Some(&one.theirs), Some(&one.ours)],
            outcome,
            good: false,
        }
    });
    lines.collect()
}

fn updates(plan: &Preview) -> Vec<Line<'_>> {
    let lines = plan.update.iter().map(|one| Line {
        kind: one.kind.as_str(),
        reference: &one.reference,
        path: &one.path,
        // The base differs from `before` where somebody changed the leaf.
        sides: [
            one.base.as_ref().or(Some(&one.before)),
            Some(&one.after),
            Some(&one.before),
        ],
        outcome: "written".into(),
        good: true,
    });
    lines.collect()
}

fn kept(plan: &Preview) -> Vec<Line<'_>> {
    let lines = plan.kept.iter().map(|one| {
        let unchanged = one.because == KeepReason::UnchangedInPackage;
        let outcome = match one.because {
            KeepReason::UnchangedInPackage => "the package did not change it",
            KeepReason::RemovedHere => "removed here",
            KeepReason::Forbidden => "an admin has to decide it",
            KeepReason::Decided => "decided",
        };
        Line {
            kind: one.kind.as_str(),
            reference: &one.reference,
            path: one.path.as_deref().unwrap_or("(whole)"),
            sides: [
                Some(&one.base),
                Some(&one.base).filter(|_| unchanged),
                Some(&one.ours),
            ],
            outcome: outcome.into(),
            good: true,
        }
    });
    lines.collect()
}

fn section(html: &mut Html, heading: &str, lines: &[Line<'_>], labels: Labels<'_>) {
    if lines.is_empty() {
        return;
    }
    html.with("section", &[], |html| {
        html.say("h2", "", heading);
        let mut rest = lines;
        while let Some(first) = rest.first() {
            let same =
                |line: &&Line<'_>| (line.kind, line.reference) == (first.kind, first.reference);
            let count = rest.iter().take_while(same).count();
            let (group, after) = rest.split_at(count);
            record(html, group, labels);
            rest = after;
        }
    });
}

fn record(html: &mut Html, lines: &[Line<'_>], labels: Labels<'_>) {
    let Some(first) = lines.first() else { return };
    html.with("div", &[("class", "card")], |html| {
        html.with("h3", &[], |html| {
            let known = RecordKind::parse(first.kind);
            html.text(known.map_or(first.kind, |kind| kind.noun()))
                .raw(" ");
            if let Some(label) = labels(first.reference) {
                html.text(label).raw(" ");
            }
            html.say("code", "ref", first.reference);
        });
        html.scroll("Changes", |html| {
            html.with("table", &[], |html| {
                html.heads(&["Path", "Base", "New", "Destination", "Outcome"]);
                html.with("tbody", &[], |html| {
                    for line in lines {
                        html.with("tr", &[], |html| leaf(html, line));
                    }
                });
            });
        });
    });
}

fn leaf(html: &mut Html, line: &Line<'_>) {
    html.with("td", &[("class", "path")], |html| {
        html.say("code", "", line.path);
    });
    for side in line.sides {
        html.with("td", &[], |html| match side {
            Some(Value::Null) | None => {
                html.say("span", "soft", "–");
            }
            Some(value) => {
                html.say("code", "", cut(&value.write(), MAX_VALUE_CHARS));
            }
        });
    }
    let class = if line.good { "good" } else { "bad" };
    html.with("td", &[("class", class)], |html| {
        html.text(&line.outcome);
    });
}

fn list(html: &mut Html, heading: &str, entries: impl Iterator<Item = String>) {
    let mut entries = entries.peekable();
    if entries.peek().is_none() {
        return;
    }
    html.with("section", &[], |html| {
        html.say("h2", "", heading);
        html.with("ul", &[], |html| {
            for entry in entries {
                html.say("li", "", entry);
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::{RowsPreview, rows_in_words};

    #[test]
    fn one_cell_is_kept_in_the_singular() {
        let of = |kept| RowsPreview {
            kept,
            ..RowsPreview::default()
        };
        for (kept, text) in [(1, "1 cell kept"), (2, "2 cells kept")] {
            let line = rows_in_words("Clients", &of(kept));
            assert!(line.contains(text), "{line}");
        }
    }
}
