//! The contents: tables with columns and views, navigation, automations.

use super::html::Html;
use super::{Page, part, reference};
use crate::check::facts::{Column, Facts, Step};
use crate::finding::render::counted;
use crate::graph::{Graph, GraphKind, Node, NodeKind};
use crate::json::Node as Json;
use crate::package::Tool;

/// Up to so many tables are shown open.
const MAX_OPEN_TABLES: usize = 12;

fn label<'d>(step: &Step<'d>) -> &'d str {
    let label = step.arg_str("label").filter(|label| !label.is_empty());
    label
        .or_else(|| step.arg_str("name"))
        .unwrap_or("(no name)")
}

/// The steps that create things of a sort.
fn created<'f, 'd>(facts: &'f Facts<'d>, tool: Tool) -> impl Iterator<Item = &'f Step<'d>> {
    facts
        .steps
        .iter()
        .filter(move |step| step.tool == Some(tool))
}

/// The name of what a ref stands for; the ref itself when nothing declares it.
pub(super) fn name(facts: &Facts<'_>, reference: &str) -> String {
    facts
        .name_of(reference)
        .map_or_else(|| format!("${reference}"), str::to_owned)
}

fn none(html: &mut Html, what: &'static str) {
    html.say("p", "none", what);
}

/// A link to each table, for the bar of the page: open next to the content, folded up above it, where the bar is
/// on a telephone.
pub(super) fn table_links(page: &Page<'_, '_>, html: &mut Html) {
    let facts = page.facts();
    if created(facts, Tool::CreateFeature).next().is_none() {
        return;
    }
    html.with("details", &[("class", "within")], |html| {
        html.say("summary", "", "Go to a table");
        html.with("ul", &[], |html| {
            for (index, step) in created(facts, Tool::CreateFeature).enumerate() {
                html.with("li", &[], |html| {
                    let anchor = format!("#{}", anchor_of_table(index));
                    html.with("a", &[("href", &anchor)], |html| {
                        html.text(label(step));
                    });
                });
            }
        });
    });
}

/// The place of the table at a position of the plan.
fn anchor_of_table(index: usize) -> String {
    format!("table-{index}")
}

pub(super) fn tables(page: &Page<'_, '_>, html: &mut Html) {
    let facts = page.facts();
    let open = created(facts, Tool::CreateFeature).count() <= MAX_OPEN_TABLES;
    part(html, "tables", "", |html| {
        if created(facts, Tool::CreateFeature).next().is_none() {
            none(html, "No table travels.");
        }
        for (index, step) in created(facts, Tool::CreateFeature).enumerate() {
            let anchor = anchor_of_table(index);
            let attributes = [("class", "card"), ("id", &*anchor), ("open", "")];
            let shown = if open { 3 } else { 2 };
            html.with("details", &attributes[..shown], |html| {
                table(page, step, html);
            });
        }
    });
}

fn table(page: &Page<'_, '_>, step: &Step<'_>, html: &mut Html) {
    let facts = page.facts();
    let known = step.reference.and_then(|reference| facts.table(reference));
    let columns = known.map_or(&[][..], |table| &table.columns);
    let views: Vec<&Step<'_>> = created(facts, Tool::CreateView)
        .filter(|view| step.reference.is_some() && view.arg_ref("featureId") == step.reference)
        .collect();
    let rows = page.contents.payloads.iter();
    let rows = rows.filter(|payload| Some(payload.feature_ref.as_str()) == step.reference);
    let rows: usize = rows.map(|payload| payload.rows).sum();
    html.with("summary", &[], |html| {
        html.say("strong", "", label(step)).raw(" ");
        if let Some(name) = step.reference {
            reference(html, name);
        }
        let counts = [
            counted(columns.len(), "column"),
            counted(views.len(), "view"),
            counted(rows, "row"),
        ];
        html.raw(" ").say("span", "soft", counts.join(", "));
    });
    html.scroll(&format!("Columns of {}", label(step)), |html| {
        html.with("table", &[], |html| {
            html.heads(&["Column", "Name", "Type", "Shown as", "Rules"]);
            html.with("tbody", &[], |html| {
                for column in columns {
                    html.with("tr", &[], |html| column_row(facts, column, html));
                }
            });
        });
    });
    if !views.is_empty() {
        html.with("p", &[("class", "views")], |html| {
            html.say("span", "soft", "Views").raw(" ");
            for view in views {
                let kind = view.arg_str("type").unwrap_or_default();
                let known = facts.definitions.view_types.get(kind);
                html.with("span", &[("class", "chip")], |html| {
                    html.text(label(view)).raw(" ");
                    html.say(
                        "span",
                        "soft",
                        known.map_or(kind, |known| &known.label).to_lowercase(),
                    );
                })
                .raw(" ");
            }
        });
    }
}

fn column_row(facts: &Facts<'_>, column: &Column<'_>, html: &mut Html) {
    let step = column
        .reference
        .and_then(|reference| facts.declaring_step(reference))
        .map(|index| &facts.steps[index]);
    let kind = step
        .and_then(|step| step.arg_str("type"))
        .unwrap_or_default();
    html.say("td", "", step.map_or(column.name, label));
    html.with("td", &[], |html| {
        html.say("code", "", column.name);
    });
    html.say("td", "", column.kind.map_or(kind, |kind| &kind.label));
    html.say("td", "soft", column.component);
    html.with("td", &[], |html| {
        if column.is_identity() {
            html.say("span", "chip", "identity").raw(" ");
        }
        for flag in ["required", "unique"] {
            if column.flag(flag) {
                html.say("span", "chip", flag).raw(" ");
            }
        }
        if let Some(table) = column.linked_table() {
            let by = column.linked_value_column();
            let by = by.map_or(String::new(), |by| format!(", {}", name(facts, by)));
            html.say("span", "link", format!("→ {}{by}", name(facts, table)))
                .raw(" ");
        }
        let options = column.config.and_then(|config| config.get("options"));
        let options = options.into_iter().flat_map(Json::elements);
        let options: Vec<&str> = options.filter_map(Json::as_str).collect();
        if !options.is_empty() {
            html.say("span", "soft", super::cut(&options.join(" · "), 160));
        }
    });
}

pub(super) fn navigation(page: &Page<'_, '_>, html: &mut Html) {
    let facts = page.facts();
    part(html, "navigation", "", |html| {
        if created(facts, Tool::CreateModule).next().is_none() {
            none(html, "No module travels.");
        }
        html.with("div", &[("class", "modules")], |html| {
            for module in created(facts, Tool::CreateModule) {
                html.with("div", &[("class", "card")], |html| {
                    html.with("h3", &[], |html| {
                        html.text(label(module));
                    });
                    let rails = created(facts, Tool::CreateRail).filter(|rail| {
                        module.reference.is_some() && rail.arg_ref("moduleId") == module.reference
                    });
                    html.with("ul", &[("class", "rails")], |html| {
                        for rail in rails {
                            html.with("li", &[], |html| {
                                html.say("strong", "", label(rail)).raw(" ");
                                html.say("span", "soft", views_of(facts, rail).join(" · "));
                            });
                        }
                    });
                });
            }
        });
    });
}

/// The views that a rail shows, each once.
fn views_of(facts: &Facts<'_>, rail: &Step<'_>) -> Vec<String> {
    let mut seen = Vec::new();
    for at in &rail.uses {
        let is_view = Some(at.node) != rail.arg("moduleId");
        if is_view && !seen.contains(&at.reference) {
            seen.push(at.reference);
        }
    }
    seen.into_iter().map(|view| name(facts, view)).collect()
}

pub(super) fn automations(page: &Page<'_, '_>, html: &mut Html) {
    let facts = page.facts();
    let graph = Graph::read(facts, GraphKind::Automations);
    part(html, "automations", "", |html| {
        if graph.groups.is_empty() {
            none(html, "No automation travels.");
        }
        for (index, (step, group)) in created(facts, Tool::CreateWorkflowV2)
            .zip(&graph.groups)
            .enumerate()
        {
            let nodes: Vec<&Node> = graph
                .nodes
                .iter()
                .filter(|node| node.group == Some(index))
                .collect();
            html.with("details", &[("class", "card")], |html| {
                html.with("summary", &[], |html| {
                    html.say("strong", "", &group.label).raw(" ");
                    if let Some(name) = step.reference {
                        reference(html, name);
                    }
                    let trigger = nodes.first().map_or("", |trigger| trigger.label.as_str());
                    let steps = counted(nodes.len().saturating_sub(2), "step");
                    html.raw(" ")
                        .say("span", "soft", format!("{trigger}, {steps}"))
                        .raw(" ");
                    let published = step.arg("published").and_then(Json::as_bool) == Some(true);
                    let word = if published {
                        "published after the rows"
                    } else {
                        "arrives as a draft"
                    };
                    html.say("span", "chip", word);
                });
                html.with("ol", &[("class", "flow")], |html| {
                    for node in nodes.iter().filter(|node| node.kind != NodeKind::End) {
                        flow_step(&graph, node, html);
                    }
                });
            });
        }
    });
}

/// One line of an automation, indented by the branches that it is in.
fn flow_step(graph: &Graph, node: &Node, html: &mut Html) {
    let lists = graph
        .nodes
        .iter()
        .filter(|other| other.kind == NodeKind::Fork && inside(&node.id, &other.id));
    let depth = lists.count().min(6);
    let entry = graph.edges.iter().find(|edge| {
        graph.nodes[edge.to].id == node.id && inside(&node.id, &graph.nodes[edge.from].id)
    });
    let class = format!("deep{depth} {}", node.kind.as_str());
    html.with("li", &[("class", &class)], |html| {
        if let Some(branch) = entry.and_then(|edge| edge.labels.first()) {
            html.say("span", "kind", branch).raw(" ");
        }
        html.say("strong", "", &node.label).raw(" ");
        html.say("span", "soft", super::cut(&node.detail, 160));
    });
}

/// Whether a step is in a branch of another.
fn inside(step: &str, other: &str) -> bool {
    step.strip_prefix(other)
        .is_some_and(|rest| rest.starts_with('.'))
}
