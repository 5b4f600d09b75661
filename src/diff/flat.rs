//! Flattens values into paths and leaves, to compare them.

use std::collections::BTreeMap;

use super::FieldChange;
use super::names::Names;
use crate::definitions::Definitions;
use crate::json::path::push_dotted;
use crate::json::{JsonKind, Node, write_string_to};
use crate::package::uid::is_step_id;

/// JSON of leaves by dotted path.
pub(super) type Fields = BTreeMap<String, String>;

/// Flattens values of one package.
pub(super) struct Flattener<'n, 'd> {
    pub(super) names: &'n Names<'d>,
    pub(super) fields: Fields,
    /// Lists of automation steps that were met, with their paths: they are things of their own.
    pub(super) steps: Vec<(String, Node<'d>)>,
}

impl<'n, 'd> Flattener<'n, 'd> {
    pub(super) fn new(names: &'n Names<'d>) -> Flattener<'n, 'd> {
        Flattener {
            names,
            fields: Fields::new(),
            steps: Vec::new(),
        }
    }

    /// Adds the members of an object, but for some.
    pub(super) fn members(&mut self, path: &str, object: Option<Node<'d>>, without: &[&str]) {
        let members = object.into_iter().flat_map(Node::members);
        for member in members {
            let key = member.key().unwrap_or_default();
            if !without.contains(&key) {
                self.value(&below(path, &self.names.normal(key)), member);
            }
        }
    }

    /// Adds a value. A list of plain values is one leaf: its order counts, its places do not.
    pub(super) fn value(&mut self, path: &str, node: Node<'d>) {
        match node.kind() {
            JsonKind::Object if !node.is_empty() => self.members(path, Some(node), &[]),
            JsonKind::Array if is_steps(node) => self.steps.push((path.to_owned(), node)),
            JsonKind::Array if node.elements().any(Node::is_object) => {
                for (index, element) in node.elements().enumerate() {
                    self.value(&below(path, &index.to_string()), element);
                }
            }
            _ => {
                let text = compact(node, self.names);
                self.fields.insert(path.to_owned(), text);
            }
        }
    }
}

/// A path with one more segment.
pub(super) fn below(path: &str, segment: &str) -> String {
    let mut below = path.to_owned();
    push_dotted(&mut below, segment);
    below
}

/// Whether a list holds automation steps.
fn is_steps(list: Node<'_>) -> bool {
    let known = &Definitions::embedded().steps;
    let is_step = |element: Node<'_>| {
        let key = element.get_str("key");
        key.is_some_and(|key| known.contains_key(key))
            || key.is_some() && element.get_str("id").is_some_and(is_step_id)
    };
    !list.is_empty() && list.elements().all(is_step)
}

/// A value on one line, keys in order, refs by what they name.
pub(super) fn compact(node: Node<'_>, names: &Names<'_>) -> String {
    let mut out = String::new();
    push_compact(&mut out, node, names);
    out
}

fn push_compact(out: &mut String, node: Node<'_>, names: &Names<'_>) {
    match node.kind() {
        JsonKind::String(text) => write_string_to(out, &names.normal(text)),
        JsonKind::Array => {
            out.push('[');
            for (index, element) in node.elements().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                push_compact(out, element, names);
            }
            out.push(']');
        }
        JsonKind::Object => {
            let members = node.members();
            let members: BTreeMap<String, Node<'_>> = members
                .map(|member| (names.normal(member.key().unwrap_or_default()), member))
                .collect();
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_string_to(out, key);
                out.push(':');
                push_compact(out, *member, names);
            }
            out.push('}');
        }
        _ => out.push_str(node.raw()),
    }
}

/// What differs between two sets of leaves, in order of path.
pub(super) fn changes(old: &Fields, new: &Fields) -> Vec<FieldChange> {
    let mut paths: Vec<&String> = old.keys().chain(new.keys()).collect();
    paths.sort();
    paths.dedup();
    let changed = paths
        .into_iter()
        .filter(|path| old.get(*path) != new.get(*path));
    changed
        .map(|path| FieldChange {
            path: path.clone(),
            old: old.get(path).cloned(),
            new: new.get(path).cloned(),
        })
        .collect()
}
