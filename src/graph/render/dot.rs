//! Writes a graph for Graphviz.

use std::fmt::Write as _;

use super::joined;
use crate::graph::{Edge, EdgeKind, Graph, GraphKind, Node, NodeKind};
use crate::printable::visible;

/// Writes a digraph; groups are clusters.
pub fn dot(graph: &Graph) -> String {
    let mut out = String::new();
    let title = format!("{}: {}", graph.package, graph.kind.title());
    let direction = if graph.kind == GraphKind::Automations {
        "TB"
    } else {
        "LR"
    };
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        out,
        "digraph {} {{\n  label={}; labelloc=t; rankdir={direction};\n  \
         node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n  \
         edge [fontname=\"sans-serif\", fontsize=9];",
        quoted(graph.kind.as_str()),
        quoted(&title),
    );
    for (index, group) in graph.groups.iter().enumerate() {
        let _ = writeln!(
            out,
            "  subgraph cluster_{index} {{\n    label={};",
            quoted(&group.label)
        );
        for node in graph.nodes.iter().filter(|node| node.group == Some(index)) {
            write_node(&mut out, node, "    ");
        }
        out.push_str("  }\n");
    }
    for node in graph.nodes.iter().filter(|node| node.group.is_none()) {
        write_node(&mut out, node, "  ");
    }
    for edge in &graph.edges {
        write_edge(&mut out, graph, edge);
    }
    out.push_str("}\n");
    out
}

fn write_node(out: &mut String, node: &Node, indent: &str) {
    let text = if !node.columns.is_empty() {
        // Lines of the format, to the left, between texts that have none.
        let lines = node.columns.iter().map(|column| {
            let line = quoted(&format!("{}: {}", column.name, column.column_type));
            line[1..line.len() - 1].to_owned() + "\\l"
        });
        let label = quoted(&node.label);
        format!(
            "{}\\n{}\"",
            &label[..label.len() - 1],
            lines.collect::<String>()
        )
    } else if node.detail.is_empty() {
        quoted(&node.label)
    } else {
        // The line break of the format, between two texts that have none.
        let (label, detail) = (quoted(&node.label), quoted(&node.detail));
        format!("{}\\n{}", &label[..label.len() - 1], &detail[1..])
    };
    let look = match node.kind {
        NodeKind::Table if node.columns.is_empty() => ", shape=cylinder",
        NodeKind::Table => ", style=solid",
        NodeKind::Automation | NodeKind::Trigger => ", shape=cds",
        NodeKind::Fork => ", shape=hexagon",
        NodeKind::Dependency => ", style=\"rounded,dashed\"",
        NodeKind::Missing => ", style=\"rounded,dashed\", color=red, fontcolor=red",
        NodeKind::Module | NodeKind::Workspace => ", shape=folder",
        NodeKind::Rail => ", shape=tab",
        NodeKind::End => ", shape=oval",
        NodeKind::View | NodeKind::PlanStep | NodeKind::Step => "",
    };
    let _ = writeln!(out, "{indent}{} [label={text}{look}];", quoted(&node.id));
}

fn write_edge(out: &mut String, graph: &Graph, edge: &Edge) {
    let look = match edge.kind {
        EdgeKind::Links => "penwidth=2",
        EdgeKind::Shows | EdgeKind::Holds => "style=dotted",
        EdgeKind::Late => "color=red",
        EdgeKind::Uses | EdgeKind::Declares | EdgeKind::Next => "style=solid",
    };
    let (from, to) = (&graph.nodes[edge.from].id, &graph.nodes[edge.to].id);
    let label = joined(&edge.labels);
    // Many labels make a plan unreadable: there they are shown on hovering.
    let label_attribute = match (label.is_empty(), graph.kind) {
        (true, _) => String::new(),
        (false, GraphKind::Plan) => format!(", edgetooltip={}", quoted(&label)),
        (false, _) => format!(", label={}", quoted(&label)),
    };
    let _ = writeln!(
        out,
        "  {} -> {} [{look}{label_attribute}];",
        quoted(from),
        quoted(to)
    );
}

/// A quoted string. A backslash would begin an escape such as `\N`, so it is doubled.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars().map(visible) {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Entities are read in labels.
            '&' => out.push_str("&amp;"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
