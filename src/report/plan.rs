//! The steps of the plan in order, by phase.

use super::html::Html;
use super::{Page, part};
use crate::finding::render::counted;
use crate::graph::NodeKind;

pub(super) fn write(page: &Page<'_, '_>, html: &mut Html) {
    let graph = &page.plan;
    let about = page.contents.summary.as_deref().unwrap_or_default();
    part(html, "plan", &super::cut(about, 1000), |html| {
        let mut first = 1;
        for (index, group) in graph.groups.iter().enumerate() {
            let steps = graph.nodes.iter().filter(|node| node.group == Some(index));
            let steps: Vec<_> = steps
                .filter(|node| node.kind == NodeKind::PlanStep)
                .collect();
            if steps.is_empty() {
                continue;
            }
            html.with("details", &[("class", "card")], |html| {
                html.with("summary", &[], |html| {
                    html.say("code", "", &group.label).raw(" ");
                    html.say("span", "soft", counted(steps.len(), "step"));
                });
                html.with("ul", &[("class", "steps")], |html| {
                    for step in &steps {
                        html.with("li", &[], |html| {
                            html.text(&step.label)
                                .raw(" ")
                                .say("span", "soft", &step.detail);
                        });
                    }
                });
            });
            first += steps.len();
        }
        if first == 1 {
            html.say("p", "none", "The plan has no steps.");
        }
    });
}
