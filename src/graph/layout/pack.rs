//! Packs unconnected parts and framed groups side by side, in rows like words in lines.

use super::{Area, Direction, FRAME, Layout, PART_GAP, Part, Placed, Point, Size, TITLE};
use crate::graph::Graph;
use crate::graph::text_width::title_width;

/// How much wider than high a picture may be, in tenths.
const ASPECT: i64 = 16;

/// Connected parts, the large ones first.
pub(super) fn parts(graph: &Graph, sizes: &[Size], layout: &mut Layout) {
    let mut parts = connected(graph);
    // Stable: parts of one size stay in order of the plan.
    parts.sort_by_key(|part| std::cmp::Reverse(part.nodes.len()));
    let placed: Vec<Placed> = parts
        .iter()
        .map(|part| Placed::of(graph, part, sizes, Direction::Right))
        .collect();
    let boxes: Vec<Size> = placed.iter().map(|part| part.size).collect();
    let (corners, size) = shelves(&boxes);
    for (part, corner) in placed.into_iter().zip(corners) {
        part.write(corner, layout);
    }
    layout.size = size;
}

/// Groups in frames, each laid out downwards.
pub(super) fn groups(graph: &Graph, sizes: &[Size], layout: &mut Layout) {
    let mut parts: Vec<Part> = graph.groups.iter().map(|_| Part::default()).collect();
    for (index, node) in graph.nodes.iter().enumerate() {
        if let Some(part) = node.group.and_then(|group| parts.get_mut(group)) {
            part.nodes.push(index);
        }
    }
    for (index, edge) in graph.edges.iter().enumerate() {
        let group = graph.nodes[edge.from].group;
        if let Some(part) = group.and_then(|group| parts.get_mut(group)) {
            part.edges.push(index);
        }
    }
    let placed: Vec<Placed> = parts
        .iter()
        .map(|part| Placed::of(graph, part, sizes, Direction::Down))
        .collect();
    let boxes: Vec<Size> = placed
        .iter()
        .zip(&graph.groups)
        .map(|(part, group)| Size {
            width: part.size.width.max(title_width(&group.label)) + 2 * FRAME,
            height: part.size.height + TITLE + 2 * FRAME,
        })
        .collect();
    let (corners, size) = shelves(&boxes);
    for ((part, corner), frame) in placed.into_iter().zip(corners).zip(boxes) {
        let spare = frame.width - 2 * FRAME - part.size.width;
        let inner = Point {
            x: corner.x + FRAME + spare / 2,
            y: corner.y + FRAME + TITLE,
        };
        part.write(inner, layout);
        layout.groups.push(Area {
            at: corner,
            size: frame,
        });
    }
    layout.size = size;
    layout.downwards = true;
}

/// The parts that edges connect, each in order of its first node.
fn connected(graph: &Graph) -> Vec<Part> {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        near[edge.from].push(edge.to);
        near[edge.to].push(edge.from);
    }
    let mut of: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    let mut parts: Vec<Part> = Vec::new();
    for start in 0..graph.nodes.len() {
        if of[start].is_some() {
            continue;
        }
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            if of[node].is_none() {
                of[node] = Some(parts.len());
                stack.extend(&near[node]);
            }
        }
        parts.push(Part::default());
    }
    for (node, part) in of.iter().enumerate() {
        if let Some(part) = part {
            parts[*part].nodes.push(node);
        }
    }
    for (index, edge) in graph.edges.iter().enumerate() {
        if let Some(part) = of[edge.from] {
            parts[part].edges.push(index);
        }
    }
    parts
}

/// Corners of boxes on shelves, and the size of the whole.
fn shelves(boxes: &[Size]) -> (Vec<Point>, Size) {
    let area: i64 = boxes
        .iter()
        .map(|size| (size.width + PART_GAP) * (size.height + PART_GAP))
        .sum();
    let widest = boxes
        .iter()
        .map(|size| size.width)
        .max()
        .unwrap_or_default();
    let limit = widest.max((area * ASPECT / 10).isqrt());
    let mut corners = Vec::with_capacity(boxes.len());
    let (mut corner, mut shelf, mut whole) = (Point::default(), 0, Size::default());
    for size in boxes {
        if corner.x > 0 && corner.x + size.width > limit {
            corner = Point {
                x: 0,
                y: corner.y + shelf + PART_GAP,
            };
            shelf = 0;
        }
        corners.push(corner);
        whole.width = whole.width.max(corner.x + size.width);
        whole.height = whole.height.max(corner.y + size.height);
        shelf = shelf.max(size.height);
        corner.x += size.width + PART_GAP;
    }
    (corners, whole)
}
