//! A package as a graph of references, plan steps, dependencies or automation steps.
//!
//! In: the facts of a package, valid or not. Out: a [`Graph`], and a text per format. It checks
//! nothing: an undeclared ref is a node of its own kind, so the picture shows the gap.
//!
//! | Module | Is for |
//! |---|---|
//! | `refs` | tables, views, navigation, automations, dependencies, and what they refer to |
//! | `plan` | plan steps by phase, from declaration to use |
//! | `flow` | automations, from trigger to end |
//! | `tables` | tables with their columns, and the links between them |
//! | `focus` | the part of a graph around one ref |
//! | `layout` | positions of nodes and routes of edges, in whole units |
//! | `text_width` | how wide texts are drawn, and where they are cut |
//! | `render` | one file per format |

mod build;
mod flow;
mod focus;
mod layout;
mod plan;
mod refs;
mod render;
mod tables;
#[cfg(test)]
mod tests;
mod text_width;

use crate::check::facts::Facts;

pub use render::{Canvas, dot, json, mermaid, svg, svg_style};

/// The question that a graph answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphKind {
    /// What refers to what.
    Refs,
    /// Which plan step uses what which step declares.
    Plan,
    /// What uses the dependencies.
    Deps,
    /// What happens in the automations.
    Automations,
    /// Which columns the tables have, and which of them link to which table.
    Er,
}

impl GraphKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [GraphKind; 5] = [
        GraphKind::Refs,
        GraphKind::Plan,
        GraphKind::Deps,
        GraphKind::Automations,
        GraphKind::Er,
    ];

    /// The word of the command line and of the JSON document.
    pub fn as_str(self) -> &'static str {
        match self {
            GraphKind::Refs => "refs",
            GraphKind::Plan => "plan",
            GraphKind::Deps => "deps",
            GraphKind::Automations => "automations",
            GraphKind::Er => "er",
        }
    }

    /// What it shows, for a heading.
    pub fn title(self) -> &'static str {
        match self {
            GraphKind::Refs => "References",
            GraphKind::Plan => "Plan steps, from declaration to use",
            GraphKind::Deps => "Dependencies and what uses them",
            GraphKind::Automations => "Automations",
            GraphKind::Er => "Tables, columns and links",
        }
    }
}

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// The workspace that is applied to, or one that the plan creates.
    Workspace,
    /// A module.
    Module,
    /// A navigation entry.
    Rail,
    /// A view.
    View,
    /// A table.
    Table,
    /// An automation.
    Automation,
    /// Something that the destination has to have.
    Dependency,
    /// A ref that nothing declares.
    Missing,
    /// A plan step.
    PlanStep,
    /// What starts an automation.
    Trigger,
    /// A step of an automation.
    Step,
    /// A step of an automation that has branches.
    Fork,
    /// The end of an automation.
    End,
}

impl NodeKind {
    /// The word in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            NodeKind::Workspace => "workspace",
            NodeKind::Module => "module",
            NodeKind::Rail => "rail",
            NodeKind::View => "view",
            NodeKind::Table => "table",
            NodeKind::Automation => "automation",
            NodeKind::Dependency => "dependency",
            NodeKind::Missing => "missing",
            NodeKind::PlanStep => "planStep",
            NodeKind::Trigger => "trigger",
            NodeKind::Step => "step",
            NodeKind::Fork => "fork",
            NodeKind::End => "end",
        }
    }
}

/// What an edge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// A module holds a rail.
    Holds,
    /// A view is one of a table.
    Shows,
    /// A column links rows to another table.
    Links,
    /// Any other reference.
    Uses,
    /// From the step that declares a ref to one that uses it.
    Declares,
    /// Like [`Declares`](EdgeKind::Declares), in the wrong order: the use comes before the declaration.
    Late,
    /// What runs next.
    Next,
}

impl EdgeKind {
    /// The word in every format.
    pub fn as_str(self) -> &'static str {
        match self {
            EdgeKind::Holds => "holds",
            EdgeKind::Shows => "shows",
            EdgeKind::Links => "links",
            EdgeKind::Uses => "uses",
            EdgeKind::Declares => "declares",
            EdgeKind::Late => "late",
            EdgeKind::Next => "next",
        }
    }
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Unique in the graph and stable: a ref, a step, a path in an automation.
    pub id: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// Name for people.
    pub label: String,
    /// A few words more.
    pub detail: String,
    /// Where it is declared in the file (JSON Pointer); empty when nowhere.
    pub pointer: String,
    /// The group that it is in.
    pub group: Option<usize>,
    /// The columns of a table, where the graph is about them.
    pub columns: Vec<NodeColumn>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeColumn {
    /// Technical name.
    pub name: String,
    /// Name for people.
    pub label: String,
    /// Its type.
    pub column_type: String,
}

/// One edge; between two nodes there is one of a kind at most, but for links of [`GraphKind::Er`]: one for
/// each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Index of the node that it leaves.
    pub from: usize,
    /// Index of the node that it enters.
    pub to: usize,
    /// What it says.
    pub kind: EdgeKind,
    /// By what: columns, config keys, steps, branches; in order of appearance, without repeats.
    pub labels: Vec<String>,
}

/// Nodes that belong together: a phase of the plan, an automation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Unique in the graph.
    pub id: String,
    /// Name for people.
    pub label: String,
}

/// A graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The question that it answers.
    pub kind: GraphKind,
    /// Name of the package, for people.
    pub package: String,
    /// In order of the plan.
    pub nodes: Vec<Node>,
    /// In order of appearance.
    pub edges: Vec<Edge>,
    /// In order of the plan.
    pub groups: Vec<Group>,
}

impl Graph {
    /// Reads a graph off a package.
    pub fn read(facts: &Facts<'_>, kind: GraphKind) -> Graph {
        match kind {
            GraphKind::Refs => refs::references(facts),
            GraphKind::Plan => plan::steps(facts),
            GraphKind::Deps => refs::dependencies(facts),
            GraphKind::Automations => flow::automations(facts),
            GraphKind::Er => tables::tables(facts),
        }
    }

    /// The size of the picture in words, for those who do not see it.
    pub fn summary(&self) -> String {
        use crate::finding::render::counted;
        let mut parts = vec![
            counted(self.nodes.len(), "node"),
            counted(self.edges.len(), "edge"),
        ];
        if !self.groups.is_empty() {
            parts.push(counted(self.groups.len(), "group"));
        }
        parts.join(", ")
    }
}
