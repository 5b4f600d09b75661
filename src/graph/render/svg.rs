//! Writes SVG: no scripts, no external resources, light or dark as the reader prefers.

use std::fmt::Write as _;

use super::joined;
use super::style::svg_style;
use crate::graph::layout::{Layout, Point, RouteKind, Size, layout};
use crate::graph::text_width::{cut, drawn_width, title};
use crate::graph::{Edge, EdgeKind, Graph, GraphKind, Node, NodeKind};
use crate::markup::Text;

/// Columns of a label, of a detail and of the label of an edge.
const LABEL_COLUMNS: usize = 30;
const DETAIL_COLUMNS: usize = 38;
const EDGE_COLUMNS: usize = 22;
/// Hundredths of a unit per column in the first two.
const LABEL_WIDTH: i64 = 790;
const DETAIL_WIDTH: i64 = 625;
/// Height of the line of a column, and how many are shown of a table.
const LINE: i64 = 16;
const MOST_LINES: usize = 40;
/// Room around everything.
const MARGIN: i64 = 24;
/// Height of the heading of a picture that stands on its own.
const HEAD: i64 = 52;

/// Where a picture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Canvas<'c> {
    /// In a file of its own, with a heading and its style.
    File,
    /// In a page that has the style and the heading; ids inside begin with this word.
    Page(&'c str),
}

/// Draws a graph.
pub fn svg(graph: &Graph, canvas: Canvas<'_>) -> String {
    let sizes: Vec<Size> = graph.nodes.iter().map(size).collect();
    let layout = layout(graph, &sizes);
    let (name, head) = match canvas {
        Canvas::File => ("graph", HEAD),
        Canvas::Page(name) => (name, 0),
    };
    let heading = format!("{}: {}", graph.package, graph.kind.title());
    let least = match canvas {
        Canvas::File => drawn_width(&cut(&heading, 80), 1000).max(360),
        Canvas::Page(_) => 0,
    };
    let width = layout.size.width.max(least) + 2 * MARGIN;
    let height = layout.size.height + 2 * MARGIN + head;
    let mut out = String::new();
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tpk\" role=\"img\" aria-labelledby=\"{name}-title {name}-desc\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <title id=\"{name}-title\">{}</title>\n<desc id=\"{name}-desc\">{}</desc>",
        Text(&heading),
        Text(&description(graph)),
    );
    if canvas == Canvas::File {
        let _ = writeln!(out, "<style>\n{}</style>", svg_style());
        let _ = writeln!(
            out,
            "<rect class=\"bg\" width=\"{width}\" height=\"{height}\"/>"
        );
        let _ = writeln!(
            out,
            "<text class=\"head\" x=\"{MARGIN}\" y=\"36\">{}</text>\n<text class=\"soft\" x=\"{MARGIN}\" y=\"56\">{}</text>",
            Text(&cut(&heading, 80)),
            Text(&legend(graph)),
        );
    }
    write_tips(&mut out, name, graph);
    let framed = if layout.groups.is_empty() {
        ""
    } else {
        " class=\"framed\""
    };
    let _ = writeln!(
        out,
        "<g transform=\"translate({MARGIN} {})\"{framed}>",
        MARGIN + head
    );
    write_groups(&mut out, graph, &layout);
    out.push_str("<g class=\"edges\">\n");
    for (edge, way) in graph.edges.iter().zip(&layout.edges) {
        if let Some(way) = way {
            write_edge(&mut out, name, graph, edge, way, &layout, &sizes);
        }
    }
    out.push_str("</g>\n");
    for ((node, size), at) in graph.nodes.iter().zip(&sizes).zip(&layout.nodes) {
        write_node(&mut out, node, *size, *at);
    }
    // Over the nodes: a label that a node covers shows nothing.
    for (edge, way) in graph.edges.iter().zip(&layout.edges) {
        if let Some(way) = way {
            write_label(&mut out, edge, way, &layout, &sizes);
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// What the picture says, for those who do not see it.
fn description(graph: &Graph) -> String {
    let mut out = format!("{}.", graph.summary());
    for node in graph.nodes.iter().take(40) {
        let _ = write!(out, " {}", node.label);
        if !node.detail.is_empty() {
            let _ = write!(out, " ({})", node.detail);
        }
        out.push(';');
    }
    if graph.nodes.len() > 40 {
        let _ = write!(out, " and {} more", graph.nodes.len() - 40);
    }
    out
}

/// What lines mean, when that is not plain.
fn legend(graph: &Graph) -> String {
    let lines = match graph.kind {
        GraphKind::Refs => {
            "thick lines: columns that link rows; dotted: views of a table, entries of a module; thin: other uses"
        }
        GraphKind::Plan => "lines run from the step that declares a ref to the steps that use it",
        GraphKind::Deps => "dashed boxes are what the destination has to have",
        GraphKind::Automations => "from the trigger to the end",
        GraphKind::Er => "lines run from a link column to the table that it links to",
    };
    format!("{}; {lines}", graph.summary())
}

fn size(node: &Node) -> Size {
    if node.kind == NodeKind::End {
        return Size {
            width: 56,
            height: 26,
        };
    }
    let label = drawn_width(&cut(&node.label, LABEL_COLUMNS), LABEL_WIDTH);
    let detail = drawn_width(&cut(&node.detail, DETAIL_COLUMNS), DETAIL_WIDTH);
    let columns = lines(node).map(|line| drawn_width(&line, DETAIL_WIDTH));
    let widest = columns.max().unwrap_or_default();
    let shown = i64::try_from(lines(node).count()).unwrap_or_default();
    Size {
        // Even, so that a half is whole.
        width: (label.max(detail).max(widest) + 28).max(96) / 2 * 2,
        height: if node.detail.is_empty() { 30 } else { 44 } + shown * LINE,
    }
}

/// The columns of a table, a line each: of many the first, and how many more there are.
fn lines(node: &Node) -> impl Iterator<Item = String> {
    let more = node.columns.len().saturating_sub(MOST_LINES);
    let shown = node.columns.iter().take(MOST_LINES).map(|column| {
        let line = format!("{}: {}", column.name, column.column_type);
        cut(&line, DETAIL_COLUMNS)
    });
    shown.chain((more > 0).then(|| format!("and {more} more")))
}

fn write_tips(out: &mut String, name: &str, graph: &Graph) {
    out.push_str("<defs>");
    for (class, kind) in [
        ("tip", None),
        ("tip-links", Some(EdgeKind::Links)),
        ("tip-late", Some(EdgeKind::Late)),
    ] {
        if kind.is_none_or(|kind| graph.edges.iter().any(|edge| edge.kind == kind)) {
            let _ = write!(
                out,
                "<marker id=\"{name}-{class}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
                 markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"{class}\" d=\"M0 .5 8 4 0 7.5z\"/></marker>"
            );
        }
    }
    out.push_str("</defs>\n");
}

fn write_groups(out: &mut String, graph: &Graph, layout: &Layout) {
    for (group, area) in graph.groups.iter().zip(&layout.groups) {
        let _ = writeln!(
            out,
            "<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/>\
             <text class=\"title\" x=\"{}\" y=\"{}\"><title>{}</title>{}</text>",
            area.at.x,
            area.at.y,
            area.size.width,
            area.size.height,
            area.at.x + 14,
            area.at.y + 24,
            Text(&group.label),
            Text(&title(&group.label)),
        );
    }
}

fn write_node(out: &mut String, node: &Node, size: Size, at: Point) {
    let Size { width, height } = size;
    let whole = if node.detail.is_empty() {
        node.label.clone()
    } else {
        format!("{}\n{}", node.label, node.detail)
    };
    let _ = write!(
        out,
        "<g class=\"node {}\" transform=\"translate({} {})\"><title>",
        node.kind.as_str(),
        at.x,
        at.y,
    );
    // A tooltip may have two lines.
    for (index, line) in whole.split('\n').enumerate() {
        let _ = write!(out, "{}{}", if index > 0 { "\n" } else { "" }, Text(line));
    }
    out.push_str("</title>");
    if node.kind == NodeKind::End {
        let _ = writeln!(
            out,
            "<rect class=\"box\" width=\"{width}\" height=\"{height}\" rx=\"13\"/>\
             <text class=\"soft\" x=\"{}\" y=\"17\" text-anchor=\"middle\">{}</text></g>",
            width / 2,
            Text(&node.label)
        );
        return;
    }
    let round = if matches!(node.kind, NodeKind::Trigger | NodeKind::Automation) {
        14
    } else {
        5
    };
    let _ = write!(
        out,
        "<rect class=\"box\" width=\"{width}\" height=\"{height}\" rx=\"{round}\"/>\
         <rect class=\"bar\" x=\"7\" y=\"9\" width=\"3\" height=\"{}\" rx=\"1.5\"/>\
         <text class=\"label\" x=\"17\" y=\"{}\">{}</text>",
        height - 18,
        19,
        Text(&cut(&node.label, LABEL_COLUMNS)),
    );
    if !node.detail.is_empty() {
        let _ = write!(
            out,
            "<text class=\"soft\" x=\"17\" y=\"34\">{}</text>",
            Text(&cut(&node.detail, DETAIL_COLUMNS))
        );
    }
    let mut y = 34 + LINE;
    for line in lines(node) {
        let _ = write!(
            out,
            "<text class=\"soft\" x=\"17\" y=\"{y}\">{}</text>",
            Text(&line)
        );
        y += LINE;
    }
    out.push_str("</g>\n");
}

/// The right side of a node, where loops are.
fn loop_points(edge: &Edge, layout: &Layout, sizes: &[Size]) -> (Point, Point) {
    let (at, size) = (layout.nodes[edge.from], sizes[edge.from]);
    let point = |share: i64| Point {
        x: at.x + size.width,
        y: at.y + size.height * share / 4,
    };
    (point(1), point(3))
}

fn write_edge(
    out: &mut String,
    name: &str,
    graph: &Graph,
    edge: &Edge,
    way: &RouteKind,
    layout: &Layout,
    sizes: &[Size],
) {
    let mut path = String::new();
    match way {
        RouteKind::Loop => {
            let (out_of, into) = loop_points(edge, layout, sizes);
            let far = out_of.x + 34;
            let _ = write!(
                path,
                "M{} {}C{far} {} {far} {} {} {}",
                out_of.x,
                out_of.y,
                out_of.y - 8,
                into.y + 8,
                into.x,
                into.y
            );
        }
        RouteKind::Through(points) => {
            for (index, point) in points.iter().enumerate() {
                match index.checked_sub(1).map(|before| points[before]) {
                    None => _ = write!(path, "M{} {}", point.x, point.y),
                    Some(before) if index % 2 == 1 => {
                        curve(&mut path, before, *point, layout.downwards);
                    }
                    Some(_) => _ = write!(path, "L{} {}", point.x, point.y),
                }
            }
        }
    }
    let tip = match edge.kind {
        EdgeKind::Links => "tip-links",
        EdgeKind::Late => "tip-late",
        _ => "tip",
    };
    let (from, to) = (&graph.nodes[edge.from].label, &graph.nodes[edge.to].label);
    let by = if edge.labels.is_empty() {
        String::new()
    } else {
        format!(": {}", joined(&edge.labels))
    };
    let label = format!("{from} {} {to}{by}", verb(edge.kind));
    let _ = writeln!(
        out,
        "<g><title>{}</title><path class=\"edge {}\" marker-end=\"url(#{name}-{tip})\" d=\"{path}\"/></g>",
        Text(&label),
        edge.kind.as_str(),
    );
}

/// The edge as the word between two names.
fn verb(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Holds => "holds",
        EdgeKind::Shows => "shows",
        EdgeKind::Links => "links to",
        EdgeKind::Uses => "uses",
        EdgeKind::Declares => "is used by",
        EdgeKind::Late => "is used before it is declared, by",
        EdgeKind::Next => "→",
    }
}

fn curve(path: &mut String, from: Point, to: Point, downwards: bool) {
    let (first, second) = if downwards {
        let middle = i64::midpoint(from.y, to.y);
        ((from.x, middle), (to.x, middle))
    } else if from.x == to.x {
        let edge = from.x - 14 - ((to.y - from.y).abs() / 12).min(20);
        ((edge, from.y), (edge, to.y))
    } else {
        let middle = i64::midpoint(from.x, to.x);
        ((middle, from.y), (middle, to.y))
    };
    let _ = write!(
        path,
        "C{} {} {} {} {} {}",
        first.0, first.1, second.0, second.1, to.x, to.y
    );
}

/// The label of a link at the middle of its way, that of a branch near its beginning.
fn write_label(out: &mut String, edge: &Edge, way: &RouteKind, layout: &Layout, sizes: &[Size]) {
    if !matches!(edge.kind, EdgeKind::Links | EdgeKind::Next) || edge.labels.is_empty() {
        return;
    }
    let (at, anchor) = match way {
        RouteKind::Loop => {
            let (out_of, into) = loop_points(edge, layout, sizes);
            let at = Point {
                x: out_of.x + 30,
                y: i64::midpoint(out_of.y, into.y),
            };
            (at, "start")
        }
        RouteKind::Through(points) => {
            // A link has its label where its way past a layer is straight, if it is anywhere.
            let first = match edge.kind {
                EdgeKind::Links if points.len() > 2 => (points.len() / 4 * 2).saturating_sub(1),
                _ => 0,
            };
            let Some((from, to)) = points.get(first).zip(points.get(first + 1)) else {
                return;
            };
            let at = Point {
                x: i64::midpoint(from.x, to.x),
                y: i64::midpoint(from.y, to.y),
            };
            (at, "middle")
        }
    };
    let _ = writeln!(
        out,
        "<text class=\"by\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
        at.x,
        at.y + 4,
        Text(&cut(&joined(&edge.labels), EDGE_COLUMNS)),
    );
}
