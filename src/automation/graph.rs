//! The graph as a flat list: every step of every branch in order of execution as written.
//!
//! Nodes of the text are borrowed, never copied. Nesting is walked with an explicit stack, so a
//! graph may be as deep as a file can be. List positions alone decide which steps come before
//! which, in time that grows with depth, not with the number of steps.

use super::declared_values::ConfigReading;
use crate::definitions::{self, Definitions};
use crate::json::Node;
use crate::json::path::{dotted, push_dotted};
use crate::maps::HashMap;

/// One step with what the definitions say about it.
#[derive(Debug)]
pub struct Step<'d, 'f> {
    /// The value that is in the list; an object when all is well.
    pub node: Node<'d>,
    /// Its `key`, when that is a string.
    pub key: Option<&'d str>,
    /// Its `config`, when that is an object.
    pub config: Option<Node<'d>>,
    /// The declaration of its key; `None` for keys that do not exist.
    pub declared: Option<&'f definitions::Step>,
    pub(super) reading: ConfigReading<'d, 'f>,
    /// Position of the step whose branch this one is in.
    pub(super) parent: Option<usize>,
    /// Position of the first step of the list that this one is in.
    first: usize,
}

impl<'d> Step<'d, '_> {
    /// Its `id`, when that is a string.
    pub fn id(&self) -> Option<&'d str> {
        self.node.get_str("id")
    }

    /// Position of the step whose branch it is in.
    pub fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// The lists of steps in its config, in order.
    pub fn branches(&self) -> impl Iterator<Item = Node<'d>> {
        self.reading.branches.iter().map(|spot| spot.node)
    }
}

/// All steps of a graph, each before the steps in its branches, those before its next sibling.
#[derive(Debug, Default)]
pub struct Graph<'d, 'f> {
    steps: Vec<Step<'d, 'f>>,
    /// By id, the positions of the steps that have it, ascending.
    ids: HashMap<&'d str, Vec<usize>>,
    /// Things that look like steps inside the config of a step with an unknown key. Their ids
    /// count (the position is that of the unknown step), nothing else of them is looked at.
    presumed: Vec<(usize, Node<'d>)>,
}

enum Task<'d> {
    List {
        list: Node<'d>,
        parent: Option<usize>,
    },
    Step {
        node: Node<'d>,
        parent: Option<usize>,
        first: usize,
    },
}

impl<'d, 'f> Graph<'d, 'f> {
    /// Reads a list of steps; what is not a list has none.
    pub fn read(definitions: &'f Definitions, steps: Node<'d>) -> Graph<'d, 'f> {
        let mut read = Graph::default();
        let mut stack = vec![Task::List {
            list: steps,
            parent: None,
        }];
        while let Some(task) = stack.pop() {
            // What is pushed comes off in reverse.
            let from = stack.len();
            match task {
                Task::List { list, parent } => {
                    let first = read.steps.len();
                    stack.extend(list.elements().map(|node| Task::Step {
                        node,
                        parent,
                        first,
                    }));
                }
                Task::Step {
                    node,
                    parent,
                    first,
                } => {
                    let position = read.push(node, parent, first, definitions);
                    let branches = &read.steps[position].reading.branches;
                    stack.extend(branches.iter().map(|spot| Task::List {
                        list: spot.node,
                        parent: Some(position),
                    }));
                }
            }
            stack[from..].reverse();
        }
        read
    }

    fn push(
        &mut self,
        node: Node<'d>,
        parent: Option<usize>,
        first: usize,
        definitions: &'f Definitions,
    ) -> usize {
        let position = self.steps.len();
        let key = node.get_str("key");
        let config = node.get("config").filter(|config| config.is_object());
        let declared = key.and_then(|key| definitions.steps.get(key));
        let reading = match (config, declared) {
            (Some(config), Some(declared)) => ConfigReading::of(config, &declared.config),
            _ => ConfigReading::default(),
        };
        let step = Step {
            node,
            key,
            config,
            declared,
            reading,
            parent,
            first,
        };
        if let Some(id) = step.id() {
            self.ids.entry(id).or_default().push(position);
        }
        if let (None, Some(config)) = (declared, config) {
            for inner in config
                .descendants()
                .filter(|inner| looks_like_a_step(*inner))
            {
                self.presumed.push((position, inner));
                if let Some(id) = inner.get_str("id") {
                    self.ids.entry(id).or_default().push(position);
                }
            }
        }
        self.steps.push(step);
        position
    }

    /// The steps, each before those in its branches.
    pub fn steps(&self) -> &[Step<'d, 'f>] {
        &self.steps
    }

    /// The steps with their dotted paths (`0.then.0`, `2.routes.0.steps.1`).
    pub fn with_paths(&self) -> impl Iterator<Item = (String, &Step<'d, 'f>)> {
        self.steps
            .iter()
            .enumerate()
            .map(|(position, step)| (self.path(position), step))
    }

    /// The dotted path of the step at that position: `config` between a step and its branch is
    /// left out.
    pub fn path(&self, position: usize) -> String {
        let chain: Vec<usize> = self.outwards(position).collect();
        let mut path = String::new();
        for at in chain.into_iter().rev() {
            let step = &self.steps[at];
            match step.parent.and_then(|parent| self.steps[parent].config) {
                Some(config) => {
                    path.push('.');
                    path.push_str(&dotted(config, step.node));
                }
                None => push_dotted(&mut path, &step.node.token()),
            }
        }
        path
    }

    /// The step at that position, then the steps around it.
    fn outwards(&self, position: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(position), |at| self.steps[*at].parent)
    }

    /// Positions of the steps with that id, ascending.
    pub(super) fn with_id(&self, id: &str) -> &[usize] {
        self.ids.get(id).map_or(&[], Vec::as_slice)
    }

    /// The ids of steps, in order of the steps.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'d str> {
        self.steps.iter().filter_map(Step::id)
    }

    /// Every `id` that is a string, in order of the steps, branches included.
    pub fn id_nodes(&self) -> Vec<Node<'d>> {
        let presumed = self.presumed.iter().map(|(at, node)| (*at, 1, *node));
        let mut all: Vec<_> = self
            .steps
            .iter()
            .enumerate()
            .map(|(at, step)| (at, 0, step.node))
            .chain(presumed)
            .collect();
        all.sort_by_key(|(at, later, _)| (*at, *later));
        let ids = all.into_iter().filter_map(|(_, _, node)| node.get("id"));
        ids.filter(|id| id.as_str().is_some()).collect()
    }

    /// The last of some steps (`candidates`, ascending) that has run when the step at `position`
    /// begins: it is before it in its list or a list around it, in any branch of such a
    /// step, or is a step around it. A step in another branch of a step around it has not.
    pub(super) fn earlier(&self, candidates: &[usize], position: usize) -> Option<usize> {
        let mut at = position;
        loop {
            let step = &self.steps[at];
            let before = candidates.partition_point(|candidate| *candidate < at);
            if let Some(found) = candidates[..before]
                .last()
                .filter(|found| **found >= step.first)
            {
                return Some(*found);
            }
            at = step.parent?;
            if candidates.binary_search(&at).is_ok() {
                return Some(at);
            }
        }
    }

    /// Whether the innermost step around both has them in different branches, whichever is written first.
    pub(super) fn are_in_different_branches(&self, one: usize, other: usize) -> bool {
        for at in self.outwards(one) {
            let within = self.steps[at].parent;
            let mut others = self.outwards(other);
            if let Some(beside) = others.find(|beside| self.steps[*beside].parent == within) {
                // A list is known by its first step.
                return self.steps[at].first != self.steps[beside].first;
            }
        }
        false
    }
}

fn looks_like_a_step(node: Node<'_>) -> bool {
    node.get_str("key").is_some() && node.parent().is_some_and(Node::is_array)
}

/// Every `id` in a list of steps, branches included; those that are not strings are left out.
pub fn step_ids<'d>(definitions: &Definitions, steps: Node<'d>) -> Vec<Node<'d>> {
    Graph::read(definitions, steps).id_nodes()
}

#[cfg(test)]
mod tests {
    use super::{Graph, step_ids};
    use crate::definitions::Definitions;
    use crate::json::{Doc, Node};

    fn list<'d>(doc: &'d Doc<'d>) -> Node<'d> {
        doc.root().get("steps").expect("steps")
    }

    const TEXT: &str = r#"{"steps": [
        {"key": "delay", "id": "a"},
        {"key": "ifElse", "id": "b", "config": {
            "then": [{"key": "delay", "id": "c"}, {"key": "delay", "id": "d"}],
            "else": [{"key": "switch", "id": "e", "config": {
                "routes": [{"value": 1, "steps": [{"key": "delay", "id": "f"}]}, {"value": 2, "steps": [{"key": "delay", "id": "g"}]}],
                "default": [{"key": "delay", "id": "h"}, 5]}}]}},
        {"key": "unheard", "id": "i", "config": {"inner": [{"key": "delay", "id": "j"}], "id": "no"}},
        {"key": "delay", "id": 7},
        {"key": "delay", "id": "k"}
    ]}"#;

    #[test]
    fn steps_paths_and_ids() {
        let doc = Doc::parse(TEXT).expect("JSON");
        let graph = Graph::read(Definitions::embedded(), list(&doc));
        let paths: Vec<String> = graph.with_paths().map(|(path, _)| path).collect();
        let expected = [
            "0",
            "1",
            "1.then.0",
            "1.then.1",
            "1.else.0",
            "1.else.0.routes.0.steps.0",
            "1.else.0.routes.1.steps.0",
            "1.else.0.default.0",
            "1.else.0.default.1",
            "2",
            "3",
            "4",
        ];
        assert_eq!(paths, expected);
        let ids: Vec<_> = step_ids(Definitions::embedded(), list(&doc))
            .iter()
            .filter_map(|id| id.as_str())
            .collect();
        assert_eq!(ids.concat(), "abcdefghijk");
    }

    #[test]
    fn earlier_steps_of_each_step() {
        let doc = Doc::parse(TEXT).expect("JSON");
        let graph = Graph::read(Definitions::embedded(), list(&doc));
        let mut seen = Vec::new();
        for (at, step) in graph.steps().iter().enumerate() {
            let Some(id) = step.id() else { continue };
            let before = "abcdefghijk".split("").filter(|other| !other.is_empty());
            let run: String = before
                .filter(|other| graph.earlier(graph.with_id(other), at).is_some())
                .collect();
            seen.push(format!("{id}:{run}"));
        }
        let expected = [
            "a:",
            "b:a",
            "c:ab",
            "d:abc",
            "e:ab",
            "f:abe",
            "g:abe",
            "h:abe",
            "i:abcdefgh",
            "k:abcdefghij",
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn branches_are_apart_below_the_step_that_has_them() {
        let doc = Doc::parse(TEXT).expect("JSON");
        let graph = Graph::read(Definitions::embedded(), list(&doc));
        let apart = |one: &str, other: &str| {
            let at = |id| graph.with_id(id)[0];
            let apart = graph.are_in_different_branches(at(one), at(other));
            assert_eq!(apart, graph.are_in_different_branches(at(other), at(one)));
            apart
        };
        for (one, other) in [("c", "e"), ("d", "h"), ("f", "g"), ("f", "h"), ("c", "g")] {
            assert!(apart(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("a", "b"),
            ("a", "c"),
            ("b", "c"),
            ("c", "d"),
            ("b", "h"),
            ("e", "f"),
            ("h", "k"),
            ("c", "c"),
        ] {
            assert!(!apart(one, other), "{one} {other}");
        }
    }
}
