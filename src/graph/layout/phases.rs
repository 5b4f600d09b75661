//! A plan: its phases from left to right, the steps of each in their order, in as many columns as
//! keep the picture from growing too high.

use super::{Area, FRAME, LAYER_GAP, Layout, Point, RouteKind, Size, TITLE};
use crate::graph::{EdgeKind, Graph};

/// Room between two steps of a phase.
const STEP_GAP: i64 = 10;
/// Steps per column at least.
const COLUMN: usize = 16;

/// The groups with the nodes in each, then the nodes that stand in none.
fn columns(graph: &Graph) -> Vec<Vec<usize>> {
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); graph.groups.len() + 1];
    for (index, node) in graph.nodes.iter().enumerate() {
        columns[node.group.unwrap_or(graph.groups.len())].push(index);
    }
    columns
}

pub(super) fn arrange(graph: &Graph, sizes: &[Size], layout: &mut Layout) {
    let columns = columns(graph);
    let most = columns.iter().map(Vec::len).max().unwrap_or_default();
    let per_column = COLUMN
        .max((graph.nodes.len() * 3 / 2).isqrt())
        .min(most.max(1));
    let mut x = 0;
    let mut height = 0;
    let mut frames = Vec::new();
    for column in &columns {
        let mut width = 0;
        let mut inner = x + FRAME;
        for part in column.chunks(per_column) {
            let widest = part.iter().map(|node| sizes[*node].width).max();
            let widest = widest.unwrap_or_default();
            let mut y = TITLE + FRAME;
            for node in part {
                layout.nodes[*node] = Point { x: inner, y };
                y += sizes[*node].height + STEP_GAP;
            }
            height = height.max(y - STEP_GAP + FRAME);
            inner += widest + FRAME;
            width = inner - x;
        }
        frames.push(Area {
            at: Point { x, y: 0 },
            size: Size { width, height: 0 },
        });
        if !column.is_empty() {
            x += width + LAYER_GAP;
        }
    }
    frames.truncate(graph.groups.len());
    for frame in &mut frames {
        frame.size.height = height;
    }
    layout.groups = frames;
    layout.size = Size {
        width: (x - LAYER_GAP).max(0),
        height,
    };
    for (index, edge) in graph.edges.iter().enumerate() {
        layout.edges[index] = Some(route_kind(layout, sizes, edge.from, edge.to, edge.kind));
    }
}

/// From the right side of the earlier step to the left side of the later.
fn route_kind(
    layout: &Layout,
    sizes: &[Size],
    from: usize,
    to: usize,
    kind: EdgeKind,
) -> RouteKind {
    let side = |node: usize, right: bool| Point {
        x: layout.nodes[node].x + if right { sizes[node].width } else { 0 },
        y: layout.nodes[node].y + sizes[node].height / 2,
    };
    let (begin, end) = (layout.nodes[from].x, layout.nodes[to].x);
    match kind {
        _ if from == to => RouteKind::Loop,
        _ if begin < end => RouteKind::Through(vec![side(from, true), side(to, false)]),
        _ if begin > end => RouteKind::Through(vec![side(from, false), side(to, true)]),
        // Within a column: a bow on the left.
        _ => RouteKind::Through(vec![side(from, false), side(to, false)]),
    }
}
