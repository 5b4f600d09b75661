//! Finds the declaration and the uses of a ref.

use std::ops::Range;

use super::{halves, list};
use crate::finding::suggest::likeness;
use crate::json::{Node, path};
use crate::package::reference::{undollared, used};

/// One place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseSite {
    /// JSON Pointer.
    pub pointer: String,
    /// Bytes in the text.
    pub span: Range<usize>,
    /// What is there, in words.
    pub what: String,
    /// The tool of the plan or blueprint step that it is in.
    pub tool: Option<String>,
}

/// The declarations and uses of one ref.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses {
    /// Where it comes from: steps, dependencies, identity columns.
    pub declared: Vec<UseSite>,
    /// Where it is named next to its declaration: items, `externalRefs`, payload entries.
    pub named: Vec<UseSite>,
    /// Where it is used: args of plan and blueprint steps.
    pub used: Vec<UseSite>,
}

impl Uses {
    /// Looks for `name` (a leading dollar is tolerated).
    pub fn find(root: Node<'_>, name: &str) -> Uses {
        let mut uses = Uses::default();
        visit(root, &mut |role, reference, place| {
            if reference == undollared(name) {
                match role {
                    Role::Declared => uses.declared.push(place),
                    Role::Named => uses.named.push(place),
                    Role::Used => uses.used.push(place),
                }
            }
        });
        uses
    }

    /// Whether the package does not know the ref at all.
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty() && self.named.is_empty() && self.used.is_empty()
    }
}

/// Every ref that the package knows, sorted.
pub fn known_refs(root: Node<'_>) -> Vec<String> {
    let mut known = Vec::new();
    visit(root, &mut |_, reference, _| {
        known.push(reference.to_owned());
    });
    known.sort();
    known.dedup();
    known
}

/// The known ref that resembles `name` most, if any does.
pub fn nearest_ref(root: Node<'_>, name: &str) -> Option<String> {
    let known = known_refs(root)
        .into_iter()
        .map(|known| (likeness(undollared(name), &known), known));
    let (likeness, nearest) = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness >= 0.5).then_some(nearest)
}

#[derive(Clone, Copy)]
enum Role {
    Declared,
    Named,
    Used,
}

type UseVisitor<'t> = &'t mut dyn FnMut(Role, &str, UseSite);

/// Reports every ref of the package with its role, in order of appearance per part.
fn visit(root: Node<'_>, report: UseVisitor<'_>) {
    let (manifest, payloads) = halves(root);
    let plan = manifest.get("plan");
    for step in plan
        .and_then(|plan| plan.get("steps"))
        .into_iter()
        .flat_map(Node::elements)
    {
        visit_step(step, "plan step", report);
    }
    for dependency in list(manifest, "dependencies") {
        declared(dependency, "dependency", None, report);
        let identity = dependency.get("identity");
        for column in identity
            .into_iter()
            .flat_map(|identity| list(identity, "columns"))
        {
            declared(column, "identity column of a dependency", None, report);
        }
        for step in dependency
            .get("blueprint")
            .into_iter()
            .flat_map(|blueprint| list(blueprint, "steps"))
        {
            visit_step(step, "blueprint step", report);
        }
        visit_names(manifest, dependency, report);
    }
    for item in list(manifest, "items") {
        let what = format!(
            "item `{}` ({})",
            item.get_str("label").unwrap_or_default(),
            item.get_str("kind").unwrap_or_default()
        );
        if let Some((reference, node)) = item
            .get("ref")
            .and_then(|node| Some((node.as_str()?, node)))
        {
            report(
                Role::Named,
                undollared(reference),
                use_site(node, what, None),
            );
        }
    }
    for external in plan.into_iter().flat_map(|plan| list(plan, "externalRefs")) {
        if let Some(reference) = external.as_str() {
            report(
                Role::Named,
                undollared(reference),
                use_site(external, "externalRefs".to_owned(), None),
            );
        }
    }
    for node in payloads
        .into_iter()
        .flat_map(Node::elements)
        .filter_map(|entry| entry.get("featureRef"))
    {
        if let Some(reference) = node.as_str() {
            report(
                Role::Named,
                undollared(reference),
                use_site(node, "row payload".to_owned(), None),
            );
        }
    }
}

fn use_site(node: Node<'_>, what: String, tool: Option<&str>) -> UseSite {
    UseSite {
        pointer: node.pointer(),
        span: node.span(),
        what,
        tool: tool.map(str::to_owned),
    }
}

fn declared(owner: Node<'_>, what: &str, tool: Option<&str>, report: UseVisitor<'_>) {
    if let Some((reference, node)) = owner
        .get("ref")
        .and_then(|node| Some((node.as_str()?, node)))
    {
        report(
            Role::Declared,
            undollared(reference),
            use_site(node, what.to_owned(), tool),
        );
    }
}

fn visit_step(step: Node<'_>, what: &str, report: UseVisitor<'_>) {
    let tool = step.get_str("tool");
    declared(step, what, tool, report);
    let Some(args) = step.get("args") else { return };
    let label = args
        .get_str("name")
        .or(args.get_str("label"))
        .map_or_else(|| what.to_owned(), |name| format!("{what} `{name}`"));
    // `data` and `rows` of row steps are data: a text that looks like a ref is none.
    let is_data = |node: &Node<'_>| {
        node.parent() == Some(args) && matches!(node.key(), Some("data" | "rows"))
    };
    for argument in args.members().filter(|argument| !is_data(argument)) {
        for node in argument.descendants() {
            if let Some(reference) = node.as_str().and_then(used) {
                report(Role::Used, reference, use_site(node, label.clone(), tool));
            }
            if let Some(reference) = node.key().and_then(used) {
                let key = UseSite {
                    span: node.key_span(),
                    ..use_site(node, format!("{label}, as a key"), tool)
                };
                report(Role::Used, reference, key);
            }
        }
    }
}

/// A dependency by name is in configs under its name: its uses are where `usedBy` says.
fn visit_names(manifest: Node<'_>, dependency: Node<'_>, report: UseVisitor<'_>) {
    let Some(reference) = dependency
        .get_str("ref")
        .filter(|_| dependency.get_str("form") == Some("name"))
    else {
        return;
    };
    for usage in list(dependency, "usedBy") {
        let item = list(manifest, "items")
            .find(|item| item.get("uid").is_some() && item.get_str("uid") == usage.get_str("uid"));
        let owner = item.and_then(|item| item.get_str("ref")).map(undollared);
        let steps = manifest
            .get("plan")
            .into_iter()
            .flat_map(|plan| list(plan, "steps"));
        for step in
            steps.filter(|step| owner.is_some() && step.get_str("ref").map(undollared) == owner)
        {
            let node = step
                .get("args")
                .zip(usage.get_str("path"))
                .and_then(|(args, at)| path::find(args, at));
            if let Some(node) = node {
                report(
                    Role::Used,
                    undollared(reference),
                    use_site(node, "by name".to_owned(), step.get_str("tool")),
                );
            }
        }
    }
}
