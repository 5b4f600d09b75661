//! What an editor shows for a uid, a ref or a key under the pointer: its name, its kind, what it is for.

use std::fmt::Write as _;
use std::ops::Range;

use super::Package;
use super::cursor;
use super::refs::ref_at;
use crate::check::facts::Declared;
use crate::definitions::{Field, FieldType};
use crate::json::Node;
use crate::package::reference::WORKSPACE;
use crate::printable::{code, markdown};

/// A text about a part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// The part.
    pub span: Range<usize>,
    /// Markdown.
    pub text: String,
}

/// The text about what is at a byte.
pub fn hover(package: &Package<'_>, offset: usize) -> Option<Hover> {
    if let Some((name, mention)) = ref_at(package, offset) {
        return Some(Hover {
            span: mention.token,
            text: of_ref(package, &name),
        });
    }
    if let Some((uid, span)) = package.uid_at(offset) {
        let text = of_entry(package.entry(uid)?);
        return Some(Hover { span, text });
    }
    let cursor = cursor::find(package.doc, offset)?;
    let node = cursor.node;
    let text = if let Some(field) = package.field(node) {
        of_field(node.key().unwrap_or_default(), field)
    } else {
        // The description of an object is not that of each value in it.
        let declared = package.declared(node).filter(|_| cursor.is_key)?;
        format!("{} — {}", code(declared.field.key), declared.field.doc)
    };
    let span = if cursor.is_key {
        node.key_span()
    } else {
        node.span()
    };
    let scalar = cursor.is_key || !node.is_array() && !node.is_object();
    scalar.then_some(Hover { span, text })
}

/// Name, kind and origin of what a ref stands for.
fn of_ref(package: &Package<'_>, name: &str) -> String {
    let facts = &package.facts;
    let dollar = code(&format!("${name}"));
    if name == WORKSPACE {
        return format!("{dollar} — the workspace that the package is applied to");
    }
    let kind = match facts.kind_of(name) {
        Declared::Kind(kind) => kind.noun(),
        Declared::Workspace => "workspace",
        Declared::Unknown => "something of an unknown kind",
        Declared::Nothing => return format!("{dollar} — nothing in this package declares it"),
    };
    let label = facts.name_of(name).unwrap_or(name);
    let mut text = format!("**{}** — {kind} {dollar}", markdown(label));
    let table = facts.table_of_column(name);
    if let Some(table) = table {
        let label = facts.name_of(table).unwrap_or(table);
        // Writing to a String cannot fail, here and below.
        let _ = write!(text, " of {}", markdown(label));
    }
    let step = facts.declaring_step(name).map(|index| &facts.steps[index]);
    if let Some(step) = step {
        let technical = step.arg_str("name").unwrap_or_default();
        let _ = write!(text, "\n\nTechnical name: {}", code(technical));
        if let Some(kind) = step.arg_str("type") {
            let _ = write!(text, ", type: {}", code(kind));
        }
    } else if let Some(outside) = facts.outside(name) {
        text.push_str("\n\nA dependency: it does not travel, the destination decides what it is.");
        let dependency = facts.dependencies[outside.dependency].node;
        if let Some(purpose) = dependency.get_str("description") {
            let _ = write!(text, " {}", markdown(purpose));
        }
    }
    text
}

/// Name and kind of an entry of `items` or `dependencies`.
fn of_entry(node: Node<'_>) -> String {
    let identity = node.get("identity");
    let label = node.get_str("label");
    let label = label.or_else(|| identity?.get_str("label"));
    let kind = node.get_str("kind").unwrap_or("column");
    let noun = match kind {
        "feature" => "table",
        "rail" => "navigation entry",
        "workflow" | "workflowV2" => "automation",
        other => other,
    };
    let mut text = format!(
        "**{}** — {}",
        markdown(label.unwrap_or_default()),
        markdown(noun)
    );
    if let Some(name) = node.get_str("ref") {
        let _ = write!(text, " {}", code(name));
    }
    if identity.is_some() {
        text.push_str(", a dependency");
    }
    text
}

/// What the definitions say of a config key.
pub(super) fn of_field(key: &str, field: &Field) -> String {
    let mut text = format!("{} — {}", code(key), takes(field));
    if field.is_required() {
        text.push_str(", required");
    }
    if let Some(default) = &field.default {
        let _ = write!(text, ", otherwise {}", code(&default.to_string()));
    }
    if let Some(description) = &field.description {
        let _ = write!(text, "\n\n{}", markdown(description));
    }
    if field.expression {
        let _ = write!(text, "\n\nTakes expressions in {}.", code("{{…}}"));
    }
    if field.secret {
        text.push_str("\n\nSecret: its value never travels.");
    }
    text
}

/// What a field takes, in words.
pub(super) fn takes(field: &Field) -> String {
    if let Some(reference) = &field.reference {
        return format!("a {}", reference.kind.noun());
    }
    match &field.items {
        Some(items) if field.kind == FieldType::List => format!("a list, each {}", takes(items)),
        _ => field.expected(),
    }
}
