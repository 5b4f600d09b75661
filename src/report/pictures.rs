//! The pictures of the package. A wide one is shown whole first; at full size it scrolls.

use super::html::Html;
use super::{Page, part};
use crate::graph::{Canvas, Graph, GraphKind, svg};

/// From so many nodes on a picture shows nobody anything, and makes the page slow.
const MAX_NODES: usize = 800;

pub(super) fn write(page: &Page<'_, '_>, html: &mut Html) {
    part(html, "pictures", "", |html| {
        for kind in [
            GraphKind::Refs,
            GraphKind::Er,
            GraphKind::Deps,
            GraphKind::Automations,
            GraphKind::Plan,
        ] {
            let own;
            let graph = match kind {
                GraphKind::Plan => &page.plan,
                other => {
                    own = Graph::read(page.facts(), other);
                    &own
                }
            };
            if !graph.nodes.is_empty() {
                picture(graph, html);
            }
        }
    });
}

fn picture(graph: &Graph, html: &mut Html) {
    let word = graph.kind.as_str();
    let attributes: &[(&str, &str)] = if graph.kind == GraphKind::Refs {
        &[("class", "card"), ("open", "")]
    } else {
        &[("class", "card")]
    };
    html.with("details", attributes, |html| {
        html.with("summary", &[], |html| {
            html.say("strong", "", graph.kind.title()).raw(" ");
            html.say("span", "soft", graph.summary());
        });
        if graph.nodes.len() > MAX_NODES {
            let message =
                format!("Too large to be read here; `tplkit graph --kind {word}` draws it.");
            html.say("p", "none", message);
            return;
        }
        html.with("div", &[("class", "picture")], |html| {
            html.with("label", &[("class", "fit")], |html| {
                html.empty("input", &[("type", "checkbox"), ("checked", "")]);
                html.raw(" Fit to the page");
            });
            html.with(
                "figure",
                &[("tabindex", "0"), ("aria-label", graph.kind.title())],
                |html| {
                    html.picture(&svg(graph, Canvas::Page(word)));
                },
            );
        });
    });
}
