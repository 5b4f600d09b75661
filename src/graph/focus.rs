//! The part of a graph around one ref: its nodes, and what one edge joins to them.

use std::collections::HashSet;

use super::{Graph, GraphKind};
use crate::check::facts::Facts;

impl Graph {
    /// What is around a ref (without a dollar); nothing when the graph does not show it. A column is part of
    /// its table, a ref of the plan the step that declares it, an automation all of its steps.
    #[must_use]
    pub fn focus(&self, facts: &Facts<'_>, reference: &str) -> Option<Graph> {
        let centre = self.nodes_of(facts, reference);
        if centre.is_empty() {
            return None;
        }
        let edges: Vec<_> = self
            .edges
            .iter()
            .filter(|edge| centre.contains(&edge.from) || centre.contains(&edge.to))
            .collect();
        let ends = edges.iter().flat_map(|edge| [edge.from, edge.to]);
        let kept: HashSet<usize> = centre.iter().copied().chain(ends).collect();
        let groups: Vec<usize> = (0..self.groups.len())
            .filter(|group| kept.iter().any(|at| self.nodes[*at].group == Some(*group)))
            .collect();
        let mut places = vec![0; self.nodes.len()];
        let mut nodes = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            if kept.contains(&at) {
                places[at] = nodes.len();
                let mut node = node.clone();
                node.group = node
                    .group
                    .and_then(|old| groups.iter().position(|one| *one == old));
                nodes.push(node);
            }
        }
        let edges = edges.into_iter().map(|edge| {
            let mut edge = edge.clone();
            (edge.from, edge.to) = (places[edge.from], places[edge.to]);
            edge
        });
        Some(Graph {
            edges: edges.collect(),
            nodes,
            groups: groups.iter().map(|at| self.groups[*at].clone()).collect(),
            ..self.clone()
        })
    }

    /// The nodes that stand for a ref.
    fn nodes_of(&self, facts: &Facts<'_>, reference: &str) -> HashSet<usize> {
        let declared = facts.declaring_step(reference);
        let step = declared
            .filter(|_| self.kind == GraphKind::Plan)
            .map(|at| format!("step-{}", facts.steps[at].node.index()));
        let inside = format!("{reference}/");
        let of = |wanted: &str| -> HashSet<usize> {
            let nodes = self.nodes.iter().enumerate();
            let nodes = nodes.filter(|(_, node)| {
                node.id == wanted
                    || node.id.starts_with(&inside)
                    || step.as_ref().is_some_and(|step| node.id == *step)
            });
            nodes.map(|(at, _)| at).collect()
        };
        let found = of(reference);
        match facts.table_of_column(reference) {
            Some(table) if found.is_empty() => of(table),
            _ => found,
        }
    }
}
