//! Plan and blueprint steps, the refs they declare and the refs they use.

use super::Facts;
use crate::json::Node;
use crate::maps::{HashMap, HashSet};
use crate::package::Tool;
use crate::package::reference::{self, undollared};

/// Where a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepList {
    /// In the plan, at that index.
    Plan(usize),
    /// In the blueprint of that dependency, at that index.
    Blueprint(usize, usize),
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step<'d> {
    /// The entry.
    pub node: Node<'d>,
    /// Where it is.
    pub place: StepList,
    /// Its tool when it exists.
    pub tool: Option<Tool>,
    /// The ref that it declares, without dollar. For a create step without one that can be read:
    /// the ref of the item that surely means it, so that one mistake gives one finding.
    pub reference: Option<&'d str>,
    /// Its args when they are an object.
    pub args: Option<Node<'d>>,
    /// Every ref that its args use.
    pub uses: Vec<RefUse<'d>>,
}

/// One use of a ref.
#[derive(Debug, Clone, Copy)]
pub struct RefUse<'d> {
    /// The ref without dollar.
    pub reference: &'d str,
    /// The string, or the member whose key is the use.
    pub node: Node<'d>,
    /// Whether the use is a map key.
    pub is_key: bool,
}

impl<'d> Step<'d> {
    /// An argument.
    pub fn arg(&self, key: &str) -> Option<Node<'d>> {
        self.args?.get(key)
    }

    /// An argument that is a string.
    pub fn arg_str(&self, key: &str) -> Option<&'d str> {
        self.arg(key)?.as_str()
    }

    /// The name for people of what it makes or changes: its label, else its technical name.
    pub fn title(&self) -> Option<&'d str> {
        self.arg_str("label").or_else(|| self.arg_str("name"))
    }

    /// The ref that an argument uses, without dollar.
    pub fn arg_ref(&self, key: &str) -> Option<&'d str> {
        self.arg_str(key)?.strip_prefix('$')
    }

    /// The ref of what it creates or changes.
    pub fn subject_ref(&self) -> Option<&'d str> {
        match self.tool?.target_argument() {
            Some(argument) => self.arg_ref(argument),
            None => self.reference,
        }
    }

    /// The args that are looked into for refs and ids: everything but row data.
    pub fn scanned_args(&self) -> impl Iterator<Item = Node<'d>> + use<'d> {
        let writes_rows = self.tool.is_some_and(Tool::is_row_tool);
        let is_data =
            move |member: &Node<'d>| writes_rows && matches!(member.key(), Some("data" | "rows"));
        let members = self.args.into_iter().flat_map(Node::members);
        members.filter(move |member| !is_data(member))
    }
}

impl<'d> Facts<'d> {
    pub(super) fn read_steps(&mut self) {
        let list = self.plan.and_then(|plan| plan.get("steps"));
        self.steps = steps(list, StepList::Plan);
        let blueprints: Vec<_> = self
            .dependencies
            .iter()
            .map(|dependency| dependency.blueprint)
            .collect();
        for (index, blueprint) in blueprints.into_iter().enumerate() {
            let list = blueprint.and_then(|blueprint| blueprint.get("steps"));
            self.blueprint_steps
                .extend(steps(list, |at| StepList::Blueprint(index, at)));
        }
        self.declared.reserve(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            // What an unknown tool's step declares is declared, of unknown kind.
            if let Some(reference) = step
                .reference
                .filter(|_| step.tool.is_none_or(Tool::is_create))
            {
                self.declared.entry(reference).or_insert(index);
            }
        }
        self.infer_missing_refs();
        self.index_subjects();
        self.infer_missing_outside();
        self.note_unread();
        self.collect_uses();
    }

    /// A create step without `ref` (S002), or with one that is not a text (J005), stands for the
    /// first item of its kind whose ref nothing declares, one of the same label before others.
    fn infer_missing_refs(&mut self) {
        for index in 0..self.steps.len() {
            let step = &self.steps[index];
            let Some(kind) = step.tool.and_then(Tool::creates) else {
                continue;
            };
            if step.reference.is_some() {
                continue;
            }
            let item_kind = match kind.as_str() {
                "workflowV2" => "workflow",
                other => other,
            };
            let orphans = || {
                self.items.iter().filter(|item| {
                    item.kind == Some(item_kind)
                        && item
                            .reference
                            .is_some_and(|r| !self.declared.contains_key(r))
                })
            };
            let label = step.arg_str("label");
            let same_label = orphans().find(|item| item.node.get_str("label") == label);
            if let Some(reference) = same_label
                .or_else(|| orphans().next())
                .and_then(|i| i.reference)
            {
                self.declared.insert(reference, index);
                self.steps[index].reference = Some(reference);
            }
        }
    }

    fn index_subjects(&mut self) {
        let mut by_subject: HashMap<&'d str, Vec<usize>> = HashMap::default();
        by_subject.reserve(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            if let Some(subject) = self.subject(step) {
                by_subject.entry(subject).or_default().push(index);
            }
        }
        self.steps_by_subject = by_subject;
    }

    fn collect_uses(&mut self) {
        // A ref declared outside the grammar is still meant where it is used.
        let odd: HashSet<&'d str> = self
            .declared
            .keys()
            .chain(self.outside.keys())
            .copied()
            .filter(|reference| !reference::is_declaration(reference))
            .collect();
        let used = |text: &'d str| {
            reference::used(text)
                .or_else(|| text.strip_prefix('$').filter(|name| odd.contains(name)))
        };
        for step in self.steps.iter_mut().chain(&mut self.blueprint_steps) {
            let mut uses = Vec::new();
            for (member, node) in step
                .scanned_args()
                .flat_map(|member| member.descendants().map(move |node| (member, node)))
            {
                if let Some(reference) = node.key().filter(|_| node != member).and_then(used) {
                    uses.push(RefUse {
                        reference,
                        node,
                        is_key: true,
                    });
                }
                if let Some(reference) = node.as_str().and_then(used) {
                    uses.push(RefUse {
                        reference,
                        node,
                        is_key: false,
                    });
                }
            }
            step.uses = uses;
        }
    }
}

fn steps(list: Option<Node<'_>>, place: impl Fn(usize) -> StepList) -> Vec<Step<'_>> {
    let entries = list
        .into_iter()
        .flat_map(Node::elements)
        .filter(|entry| entry.is_object());
    entries
        .map(|node| Step {
            node,
            place: place(node.index()),
            tool: node.get_str("tool").and_then(Tool::parse),
            reference: node.get_str("ref").map(undollared),
            args: node.get("args").filter(|args| args.is_object()),
            uses: Vec::new(),
        })
        .collect()
}
