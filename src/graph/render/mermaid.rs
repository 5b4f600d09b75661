//! Writes Mermaid flowcharts, as git hosts show them.

use std::fmt::Write as _;

use super::joined;
use crate::graph::{EdgeKind, Graph, GraphKind, NodeKind};
use crate::printable::visible;

/// Writes a flowchart, whose groups are subgraphs, or a diagram of entities.
pub fn mermaid(graph: &Graph) -> String {
    if graph.kind == GraphKind::Er {
        return entities(graph);
    }
    let mut out = String::new();
    let direction = if graph.kind == GraphKind::Automations {
        "TD"
    } else {
        "LR"
    };
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(out, "flowchart {direction}");
    for (index, group) in graph.groups.iter().enumerate() {
        let _ = writeln!(out, "  subgraph g{index}[\"{}\"]", escaped(&group.label));
        // Mermaid lays subgraphs out on their own unless they have a direction.
        if graph.kind == GraphKind::Automations {
            let _ = writeln!(out, "    direction {direction}");
        }
        write_nodes(&mut out, graph, Some(index), "    ");
        out.push_str("  end\n");
    }
    write_nodes(&mut out, graph, None, "  ");
    for edge in &graph.edges {
        let line = match edge.kind {
            EdgeKind::Links => "==>",
            EdgeKind::Shows | EdgeKind::Holds => "-.->",
            EdgeKind::Uses | EdgeKind::Declares | EdgeKind::Late | EdgeKind::Next => "-->",
        };
        let label = joined(&edge.labels);
        let label = if label.is_empty() || graph.kind == GraphKind::Plan {
            String::new()
        } else {
            format!("|\"{}\"|", escaped(&label))
        };
        let _ = writeln!(out, "  n{} {line}{label} n{}", edge.from, edge.to);
    }
    write_classes(&mut out, graph);
    out
}

/// Tables with columns, and links from many rows to one.
fn entities(graph: &Graph) -> String {
    let mut out = String::from("erDiagram\n");
    for (index, node) in graph.nodes.iter().enumerate() {
        // Writing to a String cannot fail, here and below.
        let _ = write!(out, "  n{index}[\"{}\"]", escaped(&node.label));
        if !node.columns.is_empty() {
            out.push_str(" {\n");
            for column in &node.columns {
                let (kind, name) = (word(&column.column_type), word(&column.name));
                let _ = writeln!(out, "    {kind} {name} \"{}\"", escaped(&column.label));
            }
            out.push_str("  }");
        }
        out.push('\n');
    }
    for edge in &graph.edges {
        let label = escaped(&joined(&edge.labels));
        let _ = writeln!(out, "  n{} }}o--o| n{} : \"{label}\"", edge.from, edge.to);
    }
    out
}

/// A word of the format: a letter, then letters, digits, hyphens and underscores.
fn word(text: &str) -> String {
    let known = |character: char| {
        let fits = character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        if fits { character } else { '_' }
    };
    let word: String = text.chars().map(known).collect();
    if word.starts_with(|first: char| first.is_ascii_alphabetic()) {
        word
    } else {
        format!("x{word}")
    }
}

fn write_nodes(out: &mut String, graph: &Graph, group: Option<usize>, indent: &str) {
    let inside = graph.nodes.iter().enumerate();
    for (index, node) in inside.filter(|(_, node)| node.group == group) {
        let (open, close) = match node.kind {
            NodeKind::Table => ("[(", ")]"),
            NodeKind::Automation | NodeKind::Trigger => ("([", "])"),
            NodeKind::Fork => ("{{", "}}"),
            NodeKind::End => ("((", "))"),
            NodeKind::Rail => ("[/", "/]"),
            _ => ("[", "]"),
        };
        let mut text = escaped(&node.label);
        if !node.detail.is_empty() {
            text.push_str("<br/>");
            text.push_str(&escaped(&node.detail));
        }
        let _ = writeln!(out, "{indent}n{index}{open}\"{text}\"{close}");
    }
}

fn write_classes(out: &mut String, graph: &Graph) {
    for (kind, name, look) in [
        (NodeKind::Dependency, "outside", "stroke-dasharray: 4 3"),
        (
            NodeKind::Missing,
            "missing",
            "stroke:#d1242f,stroke-dasharray: 4 3",
        ),
    ] {
        let of_kind = graph.nodes.iter().enumerate();
        let of_kind = of_kind.filter(|(_, node)| node.kind == kind);
        let names: Vec<String> = of_kind.map(|(index, _)| format!("n{index}")).collect();
        if !names.is_empty() {
            let _ = writeln!(
                out,
                "  classDef {name} {look}\n  class {} {name}",
                names.join(",")
            );
        }
    }
}

/// Only letters, digits, spaces and a few marks stand for themselves; anything else of ASCII could
/// mean something to Mermaid, to Markdown or to HTML, and becomes an entity code.
fn escaped(text: &str) -> String {
    // A number and a dot begin a list, which Mermaid refuses to draw.
    let numbered = text.starts_with(|first: char| first.is_ascii_digit());
    let mut out = String::with_capacity(text.len());
    for character in text.chars().map(visible) {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | ',' | ':' | '$' | '_' | '/' => {
                out.push(character);
            }
            '.' if !numbered => out.push('.'),
            // At the beginning it would begin a list.
            '-' if !out.is_empty() => out.push('-'),
            other if other.is_ascii() => {
                // Writing to a String cannot fail.
                let _ = write!(out, "#{};", u32::from(other));
            }
            other => out.push(other),
        }
    }
    out
}
