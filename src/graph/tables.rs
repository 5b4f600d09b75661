//! Tables with their columns, and the links between them: one edge for each link column.

use std::collections::HashMap;

use super::build::Builder;
use super::refs::outside;
use super::{EdgeKind, Graph, GraphKind, Node, NodeColumn, NodeKind};
use crate::check::facts::Facts;
use crate::finding::render::counted;
use crate::package::Tool;

/// The tables of a package, and the tables outside that they link to.
pub(super) fn tables(facts: &Facts<'_>) -> Graph {
    let mut builder = Builder::new(facts, GraphKind::Er);
    let mut nodes: HashMap<&str, usize> = HashMap::new();
    for step in &facts.steps {
        let Some(reference) = step.reference else {
            continue;
        };
        if step.tool != Some(Tool::CreateFeature) || nodes.contains_key(reference) {
            continue;
        }
        let title = step.title();
        let columns = columns(facts, reference);
        let mut node = Node::new(reference, NodeKind::Table, title.unwrap_or(reference))
            .detail(format!("table, {}", counted(columns.len(), "column")))
            .at(step.node);
        node.columns = columns;
        nodes.insert(reference, builder.node(node));
    }
    let links = facts.tables.iter().flat_map(|table| {
        let of_table = table.columns.iter().filter(|column| column.is_link());
        of_table.filter_map(|column| Some((table.reference, column.name, column.linked_table()?)))
    });
    for (table, column, linked) in links {
        let Some(from) = nodes.get(table).copied() else {
            continue;
        };
        let to = *nodes.entry(linked).or_insert_with(|| {
            builder.node(match facts.outside(linked) {
                Some(other) => outside(&facts.dependencies[other.dependency]),
                None => Node::new(linked, NodeKind::Missing, format!("${linked}"))
                    .detail("declared nowhere"),
            })
        });
        builder.own_edge(from, to, EdgeKind::Links, column);
    }
    builder.finish()
}

/// The columns that the plan creates in a table, in order of the plan.
fn columns(facts: &Facts<'_>, table: &str) -> Vec<NodeColumn> {
    let of_table = facts.steps.iter().filter(|step| {
        step.tool == Some(Tool::CreateColumn) && step.arg_ref("featureId") == Some(table)
    });
    of_table
        .map(|step| {
            let text = |key: &str| step.arg_str(key).unwrap_or_default().to_owned();
            NodeColumn {
                name: text("name"),
                label: text("label"),
                column_type: text("type"),
            }
        })
        .collect()
}
