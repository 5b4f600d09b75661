//! Resolves refs and uids to names, by which two packages can be compared.

use std::collections::HashMap;

use crate::definitions::ReferenceKind;
use crate::json::Node;
use crate::json::path::{push_dotted, split_dotted};
use crate::package::Tool;
use crate::package::reference::{self, undollared};

/// Names by ref and by uid.
#[derive(Debug, Default)]
pub(super) struct Names<'d> {
    /// Ref → word of the kind, name.
    refs: HashMap<&'d str, (&'static str, String)>,
    /// uid → what people call it.
    uids: HashMap<&'d str, String>,
}

impl<'d> Names<'d> {
    /// Reads them off a manifest.
    pub(super) fn read(manifest: Node<'d>) -> Names<'d> {
        let mut names = Names::default();
        let plan = manifest.get("plan");
        names.read_dependencies(manifest);
        names.read_steps(plan.and_then(|plan| plan.get("steps")));
        if let Some(id) = plan.and_then(|plan| plan.get_str("id")) {
            names.uids.insert(id, "workspace".to_owned());
        }
        names.read_items(manifest);
        names
    }

    fn read_dependencies(&mut self, manifest: Node<'d>) {
        for dependency in manifest
            .get("dependencies")
            .into_iter()
            .flat_map(Node::elements)
        {
            let identity = dependency.get("identity");
            let name = identity.and_then(|identity| identity.get_str("name"));
            let name = name.or(dependency.get_str("ref")).unwrap_or_default();
            let kind = dependency.get_str("kind").and_then(ReferenceKind::parse);
            if let Some(reference) = dependency.get_str("ref") {
                let kind = kind.map_or("dependency", word);
                self.refs
                    .insert(undollared(reference), (kind, name.to_owned()));
            }
            let columns = identity.and_then(|identity| identity.get("columns"));
            for column in columns.into_iter().flat_map(Node::elements) {
                if let Some(reference) = column.get_str("ref") {
                    let own = column.get_str("name").unwrap_or_default();
                    let name = format!("{name}.{own}");
                    self.refs.insert(undollared(reference), ("column", name));
                }
            }
        }
    }

    fn read_steps(&mut self, steps: Option<Node<'d>>) {
        let created = |step: Node<'d>| {
            let tool = step.get_str("tool").and_then(Tool::parse)?;
            Some((
                step,
                tool,
                tool.creates()?,
                undollared(step.get_str("ref")?),
            ))
        };
        let steps = || {
            steps
                .into_iter()
                .flat_map(Node::elements)
                .filter_map(created)
        };
        // Parents are not children themselves, so two sweeps find every name.
        for with_parent in [false, true] {
            for (step, tool, kind, reference) in steps() {
                if tool.parent_argument().is_some() == with_parent {
                    let name = self.own_name(step, tool, reference);
                    self.refs.insert(reference, (word(kind), name));
                }
            }
        }
    }

    fn own_name(&self, step: Node<'d>, tool: Tool, reference: &str) -> String {
        let args = step.get("args");
        let name = args.and_then(|args| args.get_str("name"));
        let name = name.unwrap_or(reference);
        let parent = tool
            .parent_argument()
            .and_then(|key| args?.get_str(key))
            .and_then(reference::used)
            .and_then(|parent| self.refs.get(parent));
        match parent {
            Some((_, parent)) => format!("{parent}.{name}"),
            None => name.to_owned(),
        }
    }

    fn read_items(&mut self, manifest: Node<'d>) {
        let items = || manifest.get("items").into_iter().flat_map(Node::elements);
        let by_uid: HashMap<&str, &str> = items()
            .filter_map(|item| Some((item.get_str("uid")?, undollared(item.get_str("ref")?))))
            .collect();
        for item in items() {
            let Some(uid) = item.get_str("uid") else {
                continue;
            };
            let kind = item.get_str("kind").unwrap_or_default();
            let reference = item.get_str("ref").map(undollared);
            let parent = item
                .get_str("parent")
                .and_then(|uid| by_uid.get(uid).copied());
            let name = reference
                .or(parent)
                .and_then(|reference| self.name(reference));
            let name = name.or(item.get_str("label")).unwrap_or_default();
            let label = format!("{kind} {name}");
            self.uids.insert(uid, label);
        }
    }

    /// The name behind a ref.
    pub(super) fn name(&self, reference: &str) -> Option<&str> {
        Some(self.refs.get(reference)?.1.as_str())
    }

    /// What a uid stands for; the uid itself when nothing has it.
    pub(super) fn subject<'n>(&'n self, uid: &'n str) -> &'n str {
        self.uids.get(uid).map_or(uid, String::as_str)
    }

    /// A text as it is compared: a use of a ref becomes kind and name.
    pub(super) fn normal(&self, text: &str) -> String {
        let named = reference::used(text).and_then(|reference| self.refs.get(reference));
        named.map_or_else(|| text.to_owned(), |(kind, name)| format!("${kind}:{name}"))
    }

    /// A dotted path as it is compared: refs can be in it as keys.
    pub(super) fn normal_path(&self, path: &str) -> String {
        let mut normal = String::new();
        for segment in split_dotted(path) {
            push_dotted(&mut normal, &self.normal(&segment));
        }
        normal
    }
}

/// The word of a kind; automations have one, whatever names them.
fn word(kind: ReferenceKind) -> &'static str {
    match kind {
        ReferenceKind::WorkflowV2 => "workflow",
        kind => kind.as_str(),
    }
}
