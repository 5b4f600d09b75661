//! J004 to J007 and M005: types, missing and unknown fields, by the format's tables.

use crate::check::facts::{Facts, Version};
use crate::finding::catalog::{J004, J005, J006, J007, J008, M005};
use crate::finding::suggest::{self, Misspelt};
use crate::finding::{Finding, Severity};
use crate::json::{JsonKind, Node};
use crate::package::Tool;
use crate::package::format::{self, Field, Presence, Shape, Type, VERSION_2_LAYERS};

pub(super) fn run(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    if facts.enveloped {
        envelope(facts, out);
    }
    manifest(facts, out);
    version(facts.manifest, out);
    if let Some(number) = facts.plan.and_then(|plan| plan.get("planVersion"))
        && number.raw() != "1"
    {
        let message = format!(
            "`planVersion` {} is not supported",
            suggest::short_value(number.raw())
        );
        out.push(Finding::at(&J004, number, message));
    }
}

/// The root of a file whose manifest is in an envelope; the manifest itself comes later.
fn envelope(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    for member in facts.root.members() {
        match format::ENVELOPE.field(member.key().unwrap_or_default()) {
            None => unknown(member, &format::ENVELOPE, out),
            Some(field) if field.key == "payloads" && !member.is_array() => {
                out.push(Finding::at(
                    &J008,
                    member,
                    format!("`payloads` is {}, not a list", member.type_name()),
                ));
            }
            Some(field) if field.key != "manifest" => value(member, field, out),
            Some(_) => {}
        }
    }
}

/// `templateVersion`, when it is there.
pub(crate) fn version(manifest: Node<'_>, out: &mut Vec<Finding>) {
    if let Some(number) = manifest.get("templateVersion")
        && !matches!(number.raw(), "1" | "2")
    {
        let message = format!(
            "`templateVersion` {} is not supported",
            suggest::short_value(number.raw())
        );
        out.push(Finding::at(&J004, number, message));
    }
}

fn manifest(facts: &Facts<'_>, out: &mut Vec<Finding>) {
    let layered = facts.version == Version::Two;
    for member in facts.manifest.members() {
        let key = member.key().unwrap_or_default();
        // Version 1 knows the plan alone, and `$schema` belongs to the root of the file.
        let foreign = (!layered && key != "plan" && VERSION_2_LAYERS.contains(&key))
            || (key == "$schema" && facts.enveloped);
        match format::MANIFEST.field(key) {
            Some(field) if !foreign => value(member, field, out),
            _ if foreign && key != "$schema" => {
                let message = format!("version 1 has no `{key}`");
                out.push(
                    Finding::at_key(&J007, member, message)
                        .help("Set `templateVersion` to 2, or remove it."),
                );
            }
            _ => unknown(member, &format::MANIFEST, out),
        }
    }
    if !layered {
        if facts.manifest.get("plan").is_none() {
            out.push(Finding::at(
                &J006,
                facts.manifest,
                "the manifest lacks `plan`",
            ));
        }
    } else if facts.supported {
        for layer in VERSION_2_LAYERS
            .iter()
            .filter(|layer| facts.manifest.get(layer).is_none())
        {
            let message = format!("version 2 needs `{layer}`");
            let finding = Finding::at(&M005, facts.manifest, message);
            out.push(match *layer {
                "source" | "plan" => finding.help(format!("Add `{layer}`, an object.")),
                _ => finding,
            });
        }
    }
}

/// Checks an object against its shape.
pub(super) fn object(node: Node<'_>, shape: &'static Shape, out: &mut Vec<Finding>) {
    for member in node.members() {
        match shape.field(member.key().unwrap_or_default()) {
            Some(field) => value(member, field, out),
            None => unknown(member, shape, out),
        }
    }
    // Nothing is said about the args of an unknown tool (S001, J005).
    let unknown_tool = node
        .get("tool")
        .is_some_and(|tool| tool.as_str().and_then(Tool::parse).is_none());
    for field in shape.fields {
        // Entries whose rows can be counted get the count from whoever counts them.
        let counted = std::ptr::eq(shape, &raw const format::ENTRY)
            && field.key == "count"
            && matches!(node.get("rows").map(Node::kind), Some(JsonKind::Rows));
        let silent = counted || (unknown_tool && matches!(field.ty, Type::Args));
        if field.need == Presence::Required && !silent && node.get(field.key).is_none() {
            out.push(Finding::at(
                &J006,
                node,
                format!("{} lacks `{}`", shape.name, field.key),
            ));
        }
    }
}

/// J007 for members that the shape does not have.
pub(super) fn unknown_fields(node: Node<'_>, shape: &'static Shape, out: &mut Vec<Finding>) {
    for member in node
        .members()
        .filter(|m| shape.field(m.key().unwrap_or_default()).is_none())
    {
        unknown(member, shape, out);
    }
}

/// J007 for one member.
pub(super) fn unknown(member: Node<'_>, shape: &'static Shape, out: &mut Vec<Finding>) {
    let key = member.key().unwrap_or_default();
    if key == "members" && is_channel_identity(member) {
        return; // D011 speaks.
    }
    let mut finding = Finding::at_key(
        &J007,
        member,
        format!("{} has no field `{key}`", shape.name),
    );
    if std::ptr::eq(shape, &raw const format::SOURCE) {
        finding.severity = Severity::Error;
    }
    let fields = shape.fields.iter().map(|field| field.key);
    out.push(finding.meant(key, fields, Misspelt::key(member)));
}

fn is_channel_identity(member: Node<'_>) -> bool {
    let identity = member.parent();
    let dependency = identity
        .filter(|i| i.key() == Some("identity"))
        .and_then(Node::parent);
    dependency.is_some_and(|dependency| dependency.get_str("kind") == Some("channel"))
}

fn value(node: Node<'_>, field: &'static Field, out: &mut Vec<Finding>) {
    // S001 is about words that name no tool; what is not a word at all is of the wrong type.
    let checked = field.rule.is_some() && (field.rule != Some("S001") || node.as_str().is_some());
    typed(node, field.key, &field.ty, checked, out);
}

fn typed(node: Node<'_>, key: &str, ty: &'static Type, checked: bool, out: &mut Vec<Finding>) {
    match ty {
        Type::List(element) if node.is_array() => {
            for child in node.elements() {
                typed(child, key, element, false, out);
            }
        }
        Type::Object(shape) if node.is_object() => object(node, shape, out),
        _ => {
            if !checked && let Some(expected) = mismatch(node, ty) {
                let found = match node.kind() {
                    crate::json::JsonKind::Array
                    | crate::json::JsonKind::Rows
                    | crate::json::JsonKind::Object => node.type_name().to_owned(),
                    _ => suggest::short_value(node.raw()),
                };
                let message = format!("`{key}` takes {expected}, not {found}");
                out.push(Finding::at(&J005, node, message));
            }
        }
    }
}

/// What was expected, when the value is not it.
fn mismatch(node: Node<'_>, ty: &'static Type) -> Option<String> {
    let (fits, expected): (bool, &str) = match ty {
        Type::Any => (true, ""),
        Type::Text
        | Type::Uid
        | Type::Declaration
        | Type::Workspace
        | Type::Instant
        | Type::Name
        | Type::Use(_) => (node.as_str().is_some(), "a string"),
        Type::TextOrNull => (
            node.as_str().is_some() || node.is_null(),
            "a string or null",
        ),
        Type::Flag => (node.as_bool().is_some(), "true or false"),
        Type::True => (node.as_bool() == Some(true), "true"),
        // That a count is negative is for R003 and R025 to say: it is not a number of rows.
        Type::Integer | Type::Count | Type::OneOfIntegers(_) => {
            (node.as_i64().is_some(), integer(node))
        }
        Type::OneOf(words) => {
            let fits = node.as_str().is_some_and(|word| words.contains(&word));
            return (!fits).then(|| format!("one of {}", words.join(", ")));
        }
        Type::List(_) | Type::ListOfOneConfig(_) | Type::ListOfConfigs(_) => {
            (node.is_array(), "a list")
        }
        Type::Object(_)
        | Type::Map
        | Type::MapOf(_)
        | Type::Args
        | Type::Config(_)
        | Type::Data => (node.is_object(), "an object"),
    };
    (!fits).then(|| expected.to_owned())
}

/// The words for the integer that should be there: one with too many digits is none that can be stored.
pub(super) fn integer(node: Node<'_>) -> &'static str {
    if node.is_integer() {
        "an integer of 64 bits"
    } else {
        "an integer"
    }
}
