//! What can be written at a place: refs of the kind that belongs there, keys, words, outputs of steps.
//!
//! Accepting a proposal leaves JSON: it brings its quotes, and the colon or the commas that are missing.

use super::Package;
use super::completion::{Completion, CompletionKind, Completions};
use super::cursor;
use super::expressions;
use super::hover::{of_field, takes};
use super::place::Declared as DeclaredPlace;
use super::repair::{Repaired, repair};
use crate::check::facts::Declared;
use crate::definitions::{Field, FieldType, Form, ReferenceKind};
use crate::json::{Doc, Node, write_string};
use crate::package::Tool;
use crate::package::format::{
    CREATE_COLUMN, CREATE_VIEW, ENTRY, GRAPH_STEP, IDENTITY_COLUMN, ITEM, PLAN, STEP,
    TRIGGER_CONFIG, Type,
};
use crate::printable::code;

/// A proposal before it is written as JSON.
#[derive(Debug)]
struct Proposal {
    label: String,
    detail: String,
    documentation: Option<String>,
    kind: CompletionKind,
    /// The value as JSON.
    json: String,
}

impl Proposal {
    fn string(label: &str, detail: &str, kind: CompletionKind) -> Proposal {
        Proposal {
            label: label.to_owned(),
            detail: detail.to_owned(),
            documentation: None,
            kind,
            json: write_string(label),
        }
    }

    fn word(label: &str, detail: &str) -> Proposal {
        Proposal::string(label, detail, CompletionKind::Word)
    }

    fn literal(json: &str) -> Proposal {
        Proposal {
            json: json.to_owned(),
            ..Proposal::word(json, "")
        }
    }
}

/// The package around a text, given that text and a byte of it: the whole and the same byte there.
pub type Around<'a> = &'a dyn Fn(&str, usize) -> Option<(String, usize)>;

/// What can be written at a byte of a text: that of a package, or of a file of an unpacked folder,
/// which `around` puts into its package.
pub fn complete(text: &str, offset: usize, around: Around<'_>) -> Option<Completions> {
    let repaired = repair(text, offset)?;
    let (whole, at) = around(&repaired.text, repaired.at)?;
    let doc = Doc::parse_package(&whole).ok()?;
    let package = Package::read(&doc)?;
    let here = cursor::find(&doc, at + 1)?;
    if !here.is_key
        && repaired.string
        && let Some(found) =
            expressions::complete(&package, here.node, text, &(repaired.replace.start..offset))
    {
        return Some(found);
    }
    let items = if here.is_key {
        keys(&package, here.node, &repaired)
    } else {
        let values = values(&package, here.node);
        values
            .into_iter()
            .map(|value| repaired.value(value))
            .collect()
    };
    Some(Completions {
        replace: repaired.replace,
        items,
    })
}

impl Repaired {
    fn value(&self, proposal: Proposal) -> Completion {
        self.written(&proposal.json.clone(), proposal)
    }

    fn written(&self, json: &str, proposal: Proposal) -> Completion {
        let comma = if self.comma { "," } else { "" };
        Completion {
            text: format!("{}{json}{comma}", self.before),
            // What the user has typed begins with the quote, where there is one.
            filter: if self.string {
                proposal.json
            } else {
                proposal.label.clone()
            },
            label: proposal.label,
            detail: proposal.detail,
            documentation: proposal.documentation,
            kind: proposal.kind,
        }
    }
}

/// The keys that may stand there and do not yet.
fn keys<'d>(package: &Package<'d>, member: Node<'d>, repaired: &Repaired) -> Vec<Completion> {
    let Some(object) = member.parent() else {
        return Vec::new();
    };
    let absent = |key: &str| {
        let mut others = object.members().filter(|other| *other != member);
        others.all(|other| other.key() != Some(key))
    };
    let mut found: Vec<(Proposal, String)> = Vec::new();
    if let Some(shape) = package.shape(object) {
        for field in shape.fields.iter().filter(|field| absent(field.key)) {
            let mut proposal = Proposal::string(field.key, "", CompletionKind::Key);
            proposal.documentation = Some(field.doc.to_owned());
            found.push((proposal, empty(field.ty).to_owned()));
        }
    }
    // A key that is declared already is one of the known ones, too.
    let known = package.known_keys(member).unwrap_or_default();
    for (key, field) in known.iter().filter(|(key, _)| absent(key)) {
        let mut proposal = Proposal::string(key, &takes(field), CompletionKind::Key);
        proposal.documentation = Some(of_field(key, field));
        found.push((proposal, empty_of(field)));
    }
    let written = found.into_iter().map(|(proposal, value)| {
        let json = if repaired.bare_key {
            format!("{}: {value}", proposal.json)
        } else {
            proposal.json.clone()
        };
        repaired.written(&json, proposal)
    });
    written.collect()
}

/// A value to begin with.
fn empty(ty: Type) -> &'static str {
    match ty {
        Type::Flag => "false",
        Type::True => "true",
        Type::Integer | Type::Count => "0",
        Type::OneOfIntegers(_) => "1",
        Type::List(_) | Type::ListOfConfigs(_) => "[]",
        Type::ListOfOneConfig(_) => "[{}]",
        Type::Object(_)
        | Type::Map
        | Type::MapOf(_)
        | Type::Args
        | Type::Config(_)
        | Type::Data => "{}",
        Type::Any => "null",
        Type::Workspace => "\"$workspace\"",
        _ => "\"\"",
    }
}

fn empty_of(field: &Field) -> String {
    match field.kind {
        FieldType::Boolean => "false".to_owned(),
        FieldType::Integer => field.minimum.unwrap_or(0).to_string(),
        FieldType::List | FieldType::Steps => "[]".to_owned(),
        FieldType::Object => "{}".to_owned(),
        FieldType::Any => "null".to_owned(),
        FieldType::Enum => field
            .values
            .first()
            .map_or_else(|| "\"\"".to_owned(), |value| write_string(value)),
        FieldType::String | FieldType::Time | FieldType::Timezone => "\"\"".to_owned(),
    }
}

fn values<'d>(package: &Package<'d>, node: Node<'d>) -> Vec<Proposal> {
    if let Some((reference, table)) = package.reference(node) {
        // Columns of the current records are named, as the tokens that read them are.
        let names = match reference.form {
            Form::Uuid => false,
            Form::UuidOrName => true,
            Form::Name => reference.kind != ReferenceKind::Column,
        };
        return refs(package, reference.kind, table, names);
    }
    if let Some(field) = package.field(node) {
        return match field.kind {
            FieldType::Boolean => vec![Proposal::literal("true"), Proposal::literal("false")],
            FieldType::Enum => {
                let values = field.values.iter();
                values.map(|value| Proposal::word(value, "")).collect()
            }
            _ => Vec::new(),
        };
    }
    match package.declared(node) {
        Some(declared) => of_format(package, node, declared),
        None => Vec::new(),
    }
}

/// The values of a place outside of configs.
fn of_format<'d>(package: &Package<'d>, node: Node<'d>, declared: DeclaredPlace) -> Vec<Proposal> {
    let definitions = package.facts.definitions;
    let owner = node.parent();
    match declared.ty {
        Type::Use(kind) => refs(package, kind, None, false),
        Type::Workspace => vec![Proposal::string(
            "$workspace",
            "the workspace applied to",
            CompletionKind::Reference,
        )],
        Type::Declaration => declarations(package, node, declared),
        Type::OneOf(words) => words.iter().map(|word| Proposal::word(word, "")).collect(),
        Type::OneOfIntegers(numbers) => {
            let numbers = numbers.iter().map(i64::to_string);
            numbers.map(|number| Proposal::literal(&number)).collect()
        }
        Type::Flag => vec![Proposal::literal("true"), Proposal::literal("false")],
        Type::True => vec![Proposal::literal("true")],
        _ if declared.is(&STEP, "tool") => {
            let tools = Tool::ALL.into_iter();
            tools
                .map(|tool| Proposal::word(tool.as_str(), tool.args().doc))
                .collect()
        }
        _ if declared.is(&CREATE_COLUMN, "type") || declared.is(&IDENTITY_COLUMN, "type") => {
            let types = definitions.column_types.iter();
            types
                .map(|(name, kind)| Proposal::word(name, &kind.label))
                .collect()
        }
        _ if declared.field.key == "defaultComponent" => {
            let kind = owner.and_then(|owner| owner.get_str("type"));
            let kind = kind.and_then(|kind| definitions.column_types.get(kind));
            let components = kind.map_or(&definitions.components, |kind| &kind.components);
            components
                .iter()
                .map(|name| Proposal::word(name, ""))
                .collect()
        }
        _ if declared.is(&CREATE_VIEW, "type") => {
            let types = definitions.view_types.iter();
            types
                .map(|(name, kind)| Proposal::word(name, &kind.label))
                .collect()
        }
        _ if declared.is(&TRIGGER_CONFIG, "type") => {
            let triggers = definitions.triggers.iter();
            triggers
                .map(|(name, kind)| Proposal::word(name, &kind.label))
                .collect()
        }
        _ if declared.is(&GRAPH_STEP, "key") => {
            let steps = definitions.steps.iter();
            steps
                .map(|(name, step)| Proposal::word(name, &step.label))
                .collect()
        }
        _ if declared.is(&ITEM, "parent") => uids(package, &["feature", "module"]),
        _ if declared.is(&ENTRY, "itemUid") => uids(package, &["rows"]),
        _ => Vec::new(),
    }
}

/// Refs of a kind, with their dollar; where a field takes names, those of dependencies by name.
fn refs(
    package: &Package<'_>,
    kind: ReferenceKind,
    table: Option<&str>,
    names: bool,
) -> Vec<Proposal> {
    if !kind.travels() {
        return Vec::new();
    }
    let facts = &package.facts;
    let table =
        table.filter(|table| facts.kind_of(table) == Declared::Kind(ReferenceKind::Feature));
    let mut found: Vec<Proposal> = Vec::new();
    let mut add = |name: &str, label: Option<&str>| {
        let fits = facts.kind_of(name) == Declared::Kind(kind)
            && (kind != ReferenceKind::Column
                || table.is_none_or(|table| facts.table_of_column(name) == Some(table)));
        let text = format!("${name}");
        if fits && found.iter().all(|known| known.label != text) {
            let label = label.unwrap_or_default();
            found.push(Proposal::string(&text, label, CompletionKind::Reference));
        }
    };
    for step in &facts.steps {
        if let Some(name) = step
            .reference
            .filter(|_| step.tool.and_then(Tool::creates) == Some(kind))
        {
            add(name, facts.name_of(name));
        }
    }
    let mut named = Vec::new();
    for dependency in &facts.dependencies {
        let own = dependency.reference;
        if names
            && dependency.form == Some("name")
            && let (Some(name), Some(known)) = (dependency.name, dependency.kind)
            && known == kind.as_str()
        {
            named.push(Proposal::string(
                name,
                "dependency",
                CompletionKind::Reference,
            ));
            continue;
        }
        let columns = dependency
            .columns
            .iter()
            .filter_map(|column| column.reference);
        for name in own.into_iter().chain(columns) {
            add(name, facts.name_of(name));
        }
    }
    found.extend(named);
    found
}

/// Refs that are named without a dollar.
fn declarations<'d>(
    package: &Package<'d>,
    node: Node<'d>,
    declared: DeclaredPlace,
) -> Vec<Proposal> {
    let facts = &package.facts;
    let plain = |names: Vec<&str>| -> Vec<Proposal> {
        let proposals = names.into_iter().map(|name| {
            let label = facts.name_of(name).unwrap_or_default();
            Proposal::string(name, label, CompletionKind::Reference)
        });
        proposals.collect()
    };
    if declared.field.key == "featureRef" {
        let tables = facts.tables.iter().map(|table| table.reference);
        return plain(tables.collect());
    }
    if declared.is(&PLAN, "externalRefs") {
        let outside = facts.dependencies.iter().flat_map(|dependency| {
            let columns = dependency
                .columns
                .iter()
                .filter_map(|column| column.reference);
            dependency.reference.into_iter().chain(columns)
        });
        return plain(outside.collect());
    }
    if declared.is(&ITEM, "ref") {
        let kind = node.parent().and_then(|item| item.get_str("kind"));
        let made = facts.steps.iter().filter(|step| {
            let made = step.tool.and_then(Tool::creates).map(ReferenceKind::as_str);
            let made = if made == Some("workflowV2") {
                Some("workflow")
            } else {
                made
            };
            made.is_some() && (kind.is_none() || made == kind)
        });
        return plain(made.filter_map(|step| step.reference).collect());
    }
    Vec::new()
}

/// The uids of items of some kinds.
fn uids(package: &Package<'_>, kinds: &[&str]) -> Vec<Proposal> {
    let items = package.facts.items.iter();
    let fitting = items
        .filter(|item| !item.uid.is_empty() && item.kind.is_some_and(|kind| kinds.contains(&kind)));
    let proposals = fitting.map(|item| {
        let label = item.node.get_str("label").unwrap_or_default();
        let kind = item.kind.unwrap_or_default();
        Proposal {
            documentation: item.reference.map(code),
            ..Proposal::string(
                item.uid,
                &format!("{label} ({kind})"),
                CompletionKind::Reference,
            )
        }
    });
    proposals.collect()
}
