//! Lays out graphs.
//!
//! In: the sizes of nodes, the edges, and the arrangement. Out: a point per node and a route per
//! edge, in whole units, so the same graph gives the same picture on every machine. The renderer
//! decides how nodes look.
//!
//! Layers are drawn from left to right or from top to bottom; inside, a *layer* is a step along
//! that direction and a node's *place* is where it is across it.

mod layers;
mod order;
mod pack;
mod phases;
mod place;

use super::{Graph, GraphKind};

/// A point; `x` to the right, `y` down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Point {
    pub(super) x: i64,
    pub(super) y: i64,
}

/// Width and height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Size {
    pub(super) width: i64,
    pub(super) height: i64,
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Area {
    pub(super) at: Point,
    pub(super) size: Size,
}

/// The way of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RouteKind {
    /// Through these points, the first on the border of its beginning, the last on that of its
    /// end.
    Through(Vec<Point>),
    /// Around the right side of the one node that it leaves and enters.
    Loop,
}

/// Where everything is.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// Upper left corner per node.
    pub(super) nodes: Vec<Point>,
    /// Per edge.
    pub(super) edges: Vec<Option<RouteKind>>,
    /// Per group, when groups are drawn.
    pub(super) groups: Vec<Area>,
    /// Of the whole.
    pub(super) size: Size,
    /// Whether edges run from top to bottom.
    pub(super) downwards: bool,
}

/// Room between two layers from left to right.
pub(super) const LAYER_GAP: i64 = 76;
/// Room between two layers downwards.
pub(super) const STEP_GAP: i64 = 44;
/// Room between two nodes of a layer.
pub(super) const NODE_GAP: i64 = 18;
/// Room between two parts of the picture that no edge connects.
pub(super) const PART_GAP: i64 = 32;
/// Room inside the frame of a group.
pub(super) const FRAME: i64 = 20;
/// Height of the title of a group.
pub(super) const TITLE: i64 = 26;

/// Finds places for the nodes of these sizes.
pub(super) fn layout(graph: &Graph, sizes: &[Size]) -> Layout {
    let mut layout = Layout {
        nodes: vec![Point::default(); graph.nodes.len()],
        edges: vec![None; graph.edges.len()],
        ..Layout::default()
    };
    match graph.kind {
        GraphKind::Plan => phases::arrange(graph, sizes, &mut layout),
        GraphKind::Refs | GraphKind::Deps | GraphKind::Er => pack::parts(graph, sizes, &mut layout),
        GraphKind::Automations => pack::groups(graph, sizes, &mut layout),
    }
    layout
}

/// Whether layers follow each other downwards or to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Right,
    Down,
}

impl Direction {
    /// Size along and across.
    fn of(self, size: Size) -> (i64, i64) {
        match self {
            Direction::Right => (size.width, size.height),
            Direction::Down => (size.height, size.width),
        }
    }

    /// Room between two layers.
    fn gap(self) -> i64 {
        match self {
            Direction::Right => LAYER_GAP,
            Direction::Down => STEP_GAP,
        }
    }

    fn point(self, along: i64, across: i64) -> Point {
        match self {
            Direction::Right => Point {
                x: along,
                y: across,
            },
            Direction::Down => Point {
                x: across,
                y: along,
            },
        }
    }
}

/// A part of a graph that is laid out on its own: its nodes and the edges among them.
#[derive(Debug, Default)]
struct Part {
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

/// A part with places, from the point (0, 0) on.
#[derive(Debug, Default)]
struct Placed {
    nodes: Vec<(usize, Point)>,
    edges: Vec<(usize, RouteKind)>,
    size: Size,
}

impl Placed {
    /// Lays a part out in layers.
    fn of(graph: &Graph, part: &Part, sizes: &[Size], direction: Direction) -> Placed {
        let mut local = std::collections::HashMap::new();
        for (index, node) in part.nodes.iter().enumerate() {
            local.insert(*node, index);
        }
        let mut placed = Placed::default();
        let (mut pairs, mut of_pair) = (Vec::new(), Vec::new());
        for at in &part.edges {
            let edge = &graph.edges[*at];
            match (local.get(&edge.from), local.get(&edge.to)) {
                (Some(from), Some(to)) if from != to => {
                    pairs.push((*from, *to));
                    of_pair.push(*at);
                }
                _ => placed.edges.push((*at, RouteKind::Loop)),
            }
        }
        let spans: Vec<(i64, i64)> = part
            .nodes
            .iter()
            .map(|node| direction.of(sizes[*node]))
            .collect();
        let layered = layers::Layered::new(spans.len(), &pairs);
        let rows = order::order(&layered);
        let across = place::places(&layered, &rows, &spans);
        placed.place_points(&layered, &across, &spans, direction, &part.nodes, &of_pair);
        placed
    }

    /// From layers and places to points.
    fn place_points(
        &mut self,
        layered: &layers::Layered,
        across: &[i64],
        spans: &[(i64, i64)],
        direction: Direction,
        nodes: &[usize],
        edges: &[usize],
    ) {
        let mut depths = vec![0; layered.layers];
        for (node, (along, _)) in spans.iter().enumerate() {
            let depth = &mut depths[layered.layer[node]];
            *depth = (*depth).max(*along);
        }
        let mut begins = Vec::with_capacity(depths.len());
        let mut along = 0;
        for depth in &depths {
            begins.push(along);
            along += depth + direction.gap();
        }
        // Left-aligned columns read like a list; in a flow downwards steps hang from their tops.
        for (local, node) in nodes.iter().enumerate() {
            let begin = begins[layered.layer[local]];
            let corner = across[local] - spans[local].1 / 2;
            self.nodes.push((*node, direction.point(begin, corner)));
        }
        for (edge, chain) in edges.iter().zip(&layered.chains) {
            let mut points = Vec::with_capacity(2 * chain.nodes.len());
            for (index, node) in chain.nodes.iter().enumerate() {
                let begin = begins[layered.layer[*node]];
                let depth = match spans.get(*node) {
                    Some((along, _)) => *along,
                    // The way past a layer is as long as the layer.
                    None => depths[layered.layer[*node]],
                };
                if index > 0 {
                    points.push(direction.point(begin, across[*node]));
                }
                if index + 1 < chain.nodes.len() {
                    points.push(direction.point(begin + depth, across[*node]));
                }
            }
            if chain.reversed {
                points.reverse();
            }
            self.edges.push((*edge, RouteKind::Through(points)));
        }
        let width = (0..spans.len())
            .map(|node| across[node] + spans[node].1 / 2)
            .chain(across.iter().copied())
            .max()
            .unwrap_or_default();
        let extent = direction.point((along - direction.gap()).max(0), width);
        self.size = Size {
            width: extent.x,
            height: extent.y,
        };
        // A loop leaves its node on the right.
        if self.edges.iter().any(|(_, way)| *way == RouteKind::Loop) {
            self.size.width += LAYER_GAP / 2;
        }
    }

    /// Writes it into the whole, moved by `by`.
    fn write(self, by: Point, layout: &mut Layout) {
        let moved = |point: Point| Point {
            x: point.x + by.x,
            y: point.y + by.y,
        };
        for (node, point) in self.nodes {
            layout.nodes[node] = moved(point);
        }
        for (edge, way) in self.edges {
            layout.edges[edge] = Some(match way {
                RouteKind::Through(points) => {
                    RouteKind::Through(points.into_iter().map(moved).collect())
                }
                RouteKind::Loop => RouteKind::Loop,
            });
        }
    }
}
