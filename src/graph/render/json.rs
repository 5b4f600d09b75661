//! Writes the model as JSON, for programs.

use serde_json::{Value, json};

use crate::graph::{Graph, GraphKind};

/// `kind`, `nodes` (with `columns` where the graph is about them), `edges` and `groups`; edges name nodes by id, nodes name groups by id.
pub fn json(graph: &Graph) -> Value {
    let nodes = graph.nodes.iter().map(|node| {
        let mut document = json!({
            "id": node.id,
            "kind": node.kind.as_str(),
            "label": node.label,
            "detail": node.detail,
            "pointer": node.pointer,
            "group": node.group.map(|group| &graph.groups[group].id),
        });
        if graph.kind == GraphKind::Er {
            let columns = node.columns.iter().map(|column| {
                json!({"name": column.name, "label": column.label, "type": column.column_type})
            });
            document["columns"] = columns.collect();
        }
        document
    });
    let edges = graph.edges.iter().map(|edge| {
        json!({
            "from": graph.nodes[edge.from].id,
            "to": graph.nodes[edge.to].id,
            "kind": edge.kind.as_str(),
            "labels": edge.labels,
        })
    });
    let groups = graph
        .groups
        .iter()
        .map(|group| json!({"id": group.id, "label": group.label}));
    json!({
        "kind": graph.kind.as_str(),
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
    })
}
