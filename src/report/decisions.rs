//! Dependencies to decide, unresolved references, cleared secrets.

use super::contents::name;
use super::html::Html;
use super::{Page, part, reference};
use crate::check::facts::Dependency as Known;
use crate::contents::Dependency;
use crate::finding::render::counted;
use crate::json::Node as Json;
use crate::package::model::{Action, Reason, WireWord as _};

/// Uses of a dependency that are listed.
const MAX_USES: usize = 12;

pub(super) fn write(page: &Page<'_, '_>, html: &mut Html) {
    let contents = &page.contents;
    let about = "What the package uses and does not carry, and what was left behind.";
    part(html, "decisions", about, |html| {
        if contents.dependencies.is_empty() {
            html.say(
                "p",
                "none",
                "There is nothing to decide: the package depends on nothing.",
            );
        }
        // The facts leave out what is not an object; those have nothing to show.
        let known = page.facts().dependencies.iter();
        let dependencies = contents.dependencies.iter();
        html.with("div", &[("class", "cards")], |html| {
            for dependency in dependencies {
                let same =
                    |known: &&Known<'_>| known.reference == Some(dependency.reference.as_str());
                let known = known.clone().find(same);
                html.with("div", &[("class", "card")], |html| {
                    card(page, dependency, known, html);
                });
            }
        });
        gaps(page, html);
        redacted(page, html);
    });
}

fn card(page: &Page<'_, '_>, dependency: &Dependency, known: Option<&Known<'_>>, html: &mut Html) {
    html.with("h3", &[], |html| {
        html.text(name(page.facts(), &dependency.reference))
            .raw(" ");
        html.say(
            "span",
            "soft",
            format!("{} by {}", dependency.kind, dependency.form),
        );
    });
    html.with("p", &[], |html| {
        reference(html, &dependency.reference);
        html.raw(" ");
        let need = if dependency.required {
            "required"
        } else {
            "optional"
        };
        html.say("span", "chip", need);
    });
    if let Some(text) = &dependency.description {
        html.say("p", "", super::cut(text, 400));
    }
    html.with("p", &[("class", "choices")], |html| {
        html.say("span", "soft", "Decide").raw(" ");
        let choices: &[&str] = if dependency.has_blueprint {
            &["import", "map", "skip"]
        } else {
            &["map", "skip"]
        };
        for choice in choices {
            let class = if *choice == dependency.proposal {
                "chip chosen"
            } else {
                "chip"
            };
            html.say("span", class, *choice).raw(" ");
        }
        if choices.contains(&dependency.proposal.as_str()) {
            html.say("span", "soft", format!("proposed: {}", dependency.proposal));
        }
    });
    if !dependency.columns.is_empty() {
        html.with("p", &[], |html| {
            html.say("span", "soft", "Columns to map").raw(" ");
            html.text(dependency.columns.join(", "));
        });
    }
    let uses = known.and_then(|known| known.node.get("usedBy"));
    let uses: Vec<Json<'_>> = uses.into_iter().flat_map(Json::elements).collect();
    if uses.is_empty() {
        return;
    }
    html.with("details", &[], |html| {
        html.say("summary", "", counted(uses.len(), "use"));
        html.with("ul", &[("class", "uses")], |html| {
            for entry in uses.iter().take(MAX_USES) {
                html.with("li", &[], |html| {
                    let uid = entry.get_str("uid").unwrap_or_default();
                    let item = page.facts().item(uid);
                    let label = item.and_then(|item| item.node.get_str("label"));
                    html.text(label.unwrap_or(uid)).raw(" ");
                    html.say("code", "path", entry.get_str("path").unwrap_or_default());
                });
            }
            if uses.len() > MAX_USES {
                html.say("li", "soft", format!("and {} more", uses.len() - MAX_USES));
            }
        });
    });
}

fn gaps(page: &Page<'_, '_>, html: &mut Html) {
    let entries = &page.contents.unresolved;
    if entries.is_empty() {
        return;
    }
    html.say("h3", "", "Unresolved");
    html.say(
        "p",
        "about",
        "References that could not travel, and what stands in their place.",
    );
    html.scroll("References that could not travel", |html| {
        html.with("table", &[], |html| {
            html.heads(&["Item", "Place", "Reason", "What was done", "Rows"]);
            html.with("tbody", &[], |html| {
                for entry in entries {
                    html.with("tr", &[], |html| {
                        html.say("td", "", &entry.item);
                        html.with("td", &[], |html| {
                            html.say("code", "path", &entry.path);
                        });
                        html.with("td", &[], |html| {
                            html.text(reason(&entry.reason)).raw(" ");
                            html.say("code", "soft", &entry.reason);
                        });
                        html.with("td", &[], |html| {
                            html.text(action(&entry.action)).raw(" ");
                            html.say("code", "soft", &entry.action);
                        });
                        let count = entry.count.map(|count| count.to_string());
                        html.say("td", "number", count.unwrap_or_default());
                    });
                }
            });
        });
    });
}

/// The words of the format in plain ones.
fn reason(word: &str) -> &'static str {
    Reason::parse(word).map_or("", Reason::in_words)
}

fn action(word: &str) -> &'static str {
    Action::parse(word).map_or("", Action::in_words)
}

fn redacted(page: &Page<'_, '_>, html: &mut Html) {
    let entries = &page.contents.redacted;
    if entries.is_empty() {
        return;
    }
    html.say("h3", "", "Cleared secrets");
    html.say("p", "about", "To be entered again at the destination.");
    html.with("ul", &[], |html| {
        for entry in entries {
            html.with("li", &[], |html| {
                html.text(&entry.item).raw(" ");
                html.say("code", "path", &entry.path).raw(" ");
                html.say("span", "soft", &entry.reason);
            });
        }
    });
}
