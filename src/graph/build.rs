//! Builds a graph: makes ids unique, and merges edges of one kind between two nodes.

use std::collections::{HashMap, HashSet};

use super::{Edge, EdgeKind, Graph, GraphKind, Group, Node, NodeKind};
use crate::check::facts::Facts;

/// A graph in the making.
#[derive(Debug)]
pub(super) struct Builder {
    graph: Graph,
    ids: HashSet<String>,
    edges: HashMap<(usize, usize, EdgeKind), usize>,
}

impl Builder {
    pub(super) fn new(facts: &Facts<'_>, kind: GraphKind) -> Builder {
        let name = |key| facts.manifest.get_str(key).filter(|name| !name.is_empty());
        let package = name("label").or_else(|| name("name")).unwrap_or("package");
        Builder {
            graph: Graph {
                kind,
                package: package.to_owned(),
                nodes: Vec::new(),
                edges: Vec::new(),
                groups: Vec::new(),
            },
            ids: HashSet::new(),
            edges: HashMap::new(),
        }
    }

    pub(super) fn group(&mut self, id: &str, label: &str) -> usize {
        self.graph.groups.push(Group {
            id: id.to_owned(),
            label: label.to_owned(),
        });
        self.graph.groups.len() - 1
    }

    /// Adds a node; an id that is taken (a bad package may declare a ref twice) gets a tail.
    pub(super) fn node(&mut self, mut node: Node) -> usize {
        let wanted = node.id.clone();
        let mut tail = 2;
        while !self.ids.insert(node.id.clone()) {
            node.id = format!("{wanted}~{tail}");
            tail += 1;
        }
        self.graph.nodes.push(node);
        self.graph.nodes.len() - 1
    }

    /// Adds an edge, or a label to the one that is there.
    pub(super) fn edge(&mut self, from: usize, to: usize, kind: EdgeKind, label: &str) {
        let edges = &mut self.graph.edges;
        let at = *self.edges.entry((from, to, kind)).or_insert_with(|| {
            edges.push(Edge {
                from,
                to,
                kind,
                labels: Vec::new(),
            });
            edges.len() - 1
        });
        let labels = &mut edges[at].labels;
        if !label.is_empty() && labels.iter().all(|known| known != label) {
            labels.push(label.to_owned());
        }
    }

    /// Adds an edge of its own, whatever else is between the two.
    pub(super) fn own_edge(&mut self, from: usize, to: usize, kind: EdgeKind, label: &str) {
        self.graph.edges.push(Edge {
            from,
            to,
            kind,
            labels: vec![label.to_owned()],
        });
    }

    pub(super) fn kind(&self, node: usize) -> NodeKind {
        self.graph.nodes[node].kind
    }

    pub(super) fn finish(self) -> Graph {
        self.graph
    }
}

impl Node {
    /// A node without detail, place and group.
    pub(super) fn new(id: impl Into<String>, kind: NodeKind, label: impl Into<String>) -> Node {
        Node {
            id: id.into(),
            kind,
            label: label.into(),
            detail: String::new(),
            pointer: String::new(),
            group: None,
            columns: Vec::new(),
        }
    }

    pub(super) fn detail(mut self, detail: impl Into<String>) -> Node {
        self.detail = detail.into();
        self
    }

    pub(super) fn at(mut self, place: crate::json::Node<'_>) -> Node {
        self.pointer = place.pointer();
        self
    }

    pub(super) fn within(mut self, group: usize) -> Node {
        self.group = Some(group);
        self
    }
}
