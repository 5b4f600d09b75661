//! The overview: name, verdict, and counts.

use super::html::Html;
use super::{Page, cut};
use crate::contents::Item;
use crate::finding::Severity;
use crate::finding::render::counted;
use crate::package::Tool;

/// Characters of a long description.
const MAX_DESCRIPTION_CHARS: usize = 2000;

pub(super) fn write(page: &Page<'_, '_>, html: &mut Html) {
    html.with("header", &[], |html| {
        html.say("p", "eyebrow", "Template package");
        html.say("h1", "", page.title());
        let manifest = page.facts().manifest;
        if let Some(text) = manifest
            .get_str("description")
            .filter(|text| !text.is_empty())
        {
            html.say("p", "lead", cut(text, MAX_DESCRIPTION_CHARS));
        }
        origin(page, html);
        verdicts(page, html);
        totals(page, html);
        tree(page, html);
    });
}

fn origin(page: &Page<'_, '_>, html: &mut Html) {
    let manifest = page.facts().manifest;
    let source = manifest.get("source");
    let version = page.contents.template_version.clone();
    let of = |key| manifest.get_str(key).map(str::to_owned);
    let from = |key| {
        source
            .and_then(|source| source.get_str(key))
            .map(str::to_owned)
    };
    let tags = manifest
        .get("tags")
        .into_iter()
        .flat_map(crate::json::Node::elements);
    let tags: Vec<&str> = tags.filter_map(crate::json::Node::as_str).collect();
    let facts = [
        ("File", page.report.file.map(str::to_owned)),
        ("Name", of("name")),
        ("Template version", version),
        ("Version", of("semver")),
        ("Scope", of("scope")),
        ("Visibility", of("visibility")),
        ("Category", of("category")),
        ("Tags", Some(tags.join(", "))),
        ("From workspace", from("workspaceName")),
        ("Exported", from("generatedAt")),
        ("Definitions", from("definitionsVersion")),
    ];
    html.with("dl", &[("class", "origin")], |html| {
        for (name, value) in facts {
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                continue;
            };
            html.with("div", &[], |html| {
                html.say("dt", "", name);
                html.say("dd", "", cut(&value, 200));
            });
        }
    });
}

/// Fit or not, in two lines that lead to the reasons.
fn verdicts(page: &Page<'_, '_>, html: &mut Html) {
    let check = page.report.check;
    let of = |severity| {
        check
            .findings
            .iter()
            .filter(move |it| it.severity == severity)
            .count()
    };
    let (errors, warnings, hints) = (
        of(Severity::Error),
        of(Severity::Warning),
        of(Severity::Hint),
    );
    let class = match (errors, warnings) {
        (0, 0) => "verdict good",
        (0, _) => "verdict warn",
        _ => "verdict bad",
    };
    html.with("div", &[("class", "verdicts")], |html| {
        html.with("a", &[("class", class), ("href", "#findings")], |html| {
            let word = if errors > 0 {
                "Not fit to apply"
            } else {
                "Fit to apply"
            };
            html.say("strong", "", word);
            let counts = format!(
                "{}, {}, {}",
                counted(errors, "error"),
                counted(warnings, "warning"),
                counted(hints, "hint")
            );
            html.say("span", "", counts);
        });
        let Some(verdicts) = &check.promotion else {
            return;
        };
        let failed = verdicts.iter().filter(|verdict| !verdict.passed).count();
        let class = if failed == 0 {
            "verdict good"
        } else {
            "verdict warn"
        };
        html.with("a", &[("class", class), ("href", "#promotion")], |html| {
            let (word, label) = if failed == 0 {
                (
                    "May become a system template",
                    "all five promotion rules hold".to_owned(),
                )
            } else {
                (
                    "May not become a system template",
                    format!("{failed} of {} promotion rules fail", verdicts.len()),
                )
            };
            html.say("strong", "", word);
            html.say("span", "", label);
        });
    });
}

fn totals(page: &Page<'_, '_>, html: &mut Html) {
    let steps = |tool: Tool| {
        let of_tool = page.facts().steps.iter();
        of_tool.filter(|step| step.tool == Some(tool)).count()
    };
    let contents = &page.contents;
    let rows = page.count("rows").unwrap_or_default();
    let tiles = [
        (steps(Tool::CreateFeature), "table", "tables"),
        (steps(Tool::CreateColumn), "column", "tables"),
        (steps(Tool::CreateView), "view", "tables"),
        (steps(Tool::CreateModule), "module", "navigation"),
        (steps(Tool::CreateRail), "rail", "navigation"),
        (steps(Tool::CreateWorkflowV2), "automation", "automations"),
        (rows, "row", "rows"),
        (contents.dependencies.len(), "decision", "decisions"),
        (contents.unresolved.len(), "gap", "decisions"),
        (contents.redacted.len(), "cleared secret", "decisions"),
    ];
    html.with("ul", &[("class", "tiles")], |html| {
        for (count, word, anchor) in tiles {
            html.with("li", &[], |html| {
                html.with("a", &[("href", &format!("#{anchor}"))], |html| {
                    html.say("strong", "", count.to_string());
                    let label = counted(count, word);
                    html.say(
                        "span",
                        "",
                        label.split_once(' ').map_or("", |(_, word)| word),
                    );
                });
            });
        }
    });
}

/// The items as the manifest lists them.
fn tree(page: &Page<'_, '_>, html: &mut Html) {
    let items = &page.contents.items;
    if items.is_empty() {
        return;
    }
    html.with("details", &[("class", "tree")], |html| {
        html.say("summary", "", "Items as a tree");
        branch(items, html);
    });
}

fn branch(items: &[Item], html: &mut Html) {
    html.with("ul", &[], |html| {
        for item in items {
            html.with("li", &[], |html| {
                html.say("span", "kind", &item.kind)
                    .raw(" ")
                    .text(&item.label);
                if let Some(reference) = &item.reference {
                    html.raw(" ");
                    super::reference(html, reference);
                }
                if let Some(count) = item.count {
                    let class = item.data_class.as_deref().unwrap_or("no class");
                    let rows = usize::try_from(count).unwrap_or_default();
                    html.raw(" ")
                        .say("span", "soft", format!("{}, {class}", counted(rows, "row")));
                }
                if !item.children.is_empty() {
                    branch(&item.children, html);
                }
            });
        }
    });
}
