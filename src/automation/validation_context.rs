//! One automation under validation: the data that all rules share.

use super::environment::{Environment, Setting};
use super::graph::Graph;
use super::issue::{Issue, IssueTarget};
use super::parsed_trigger::Trigger;
use crate::definitions::{Definitions, ReferenceKind};
use crate::finding::Finding;
use crate::finding::suggest::short_text as short;
use crate::json::Node;
use crate::json::path::{dotted, push_dotted};

/// Whose fields are validated.
#[derive(Debug, Clone, Copy)]
pub(super) enum Site<'d> {
    /// The trigger: its object.
    Trigger(Node<'d>),
    /// The graph around the steps: its object.
    Graph(Node<'d>),
    /// The step at a position of the graph.
    Step(usize),
}

/// The automation, read, and the world around it.
pub(super) struct ValidationContext<'v, 'd, 'f> {
    pub(super) definitions: &'f Definitions,
    pub(super) trigger: Trigger<'d, 'f>,
    pub(super) graph: Graph<'d, 'f>,
    pub(super) environment: &'v dyn Environment,
}

impl<'d> ValidationContext<'_, 'd, '_> {
    /// An issue whose path is that of `node`, or of the `absent` member below it.
    pub(super) fn issue(
        &self,
        site: Site<'d>,
        node: Node<'d>,
        absent: Option<&str>,
        finding: Finding,
    ) -> Issue {
        let (target, mut path) = match site {
            Site::Trigger(trigger) => (IssueTarget::Trigger, dotted(trigger, node)),
            Site::Graph(graph) => (IssueTarget::Graph, dotted(graph, node)),
            Site::Step(position) => {
                let mut path = self.graph.path(position);
                let field = dotted(self.graph.steps()[position].node, node);
                if !field.is_empty() {
                    path.push('.');
                    path.push_str(&field);
                }
                (IssueTarget::Graph, path)
            }
        };
        if let Some(key) = absent {
            push_dotted(&mut path, key);
        }
        Issue {
            target,
            path,
            absent: absent.map(str::to_owned),
            finding,
        }
    }

    /// An issue of a whole step: its path is the step's, wherever the finding points.
    pub(super) fn step_issue(&self, position: usize, finding: Finding) -> Issue {
        Issue {
            target: IssueTarget::Graph,
            path: self.graph.path(position),
            absent: None,
            finding,
        }
    }

    /// Whether the two values name one table; `None` when one of them names none.
    pub(super) fn same_table(&self, one: &str, other: &str) -> Option<bool> {
        let none =
            |table: &str| self.environment.exists(ReferenceKind::Feature, table) == Some(false);
        if none(one) || none(other) {
            None
        } else {
            self.setting().same_table(one, other)
        }
    }

    /// Whether a value names the automation itself.
    pub(super) fn is_own(&self, value: &str) -> bool {
        let own = self.environment.own_identity();
        own.is_some_and(|own| match self.setting() {
            Setting::Package => value == own,
            Setting::Rest => value.eq_ignore_ascii_case(own),
        })
    }

    pub(super) fn setting(&self) -> Setting {
        self.environment.setting()
    }
}

/// A value as messages quote it, long ones shortened.
pub(super) fn short_text(node: Node<'_>) -> String {
    match node.as_str() {
        Some(text) => format!("`{}`", short(text)),
        None if node.is_array() || node.is_object() => node.type_name().to_owned(),
        None => format!("`{}`", short(node.raw())),
    }
}
