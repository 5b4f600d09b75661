//! One declared config field.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Fields;

/// The type of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub enum FieldType {
    /// A string.
    String,
    /// An integer.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// One of `values`.
    Enum,
    /// A list of `items`.
    List,
    /// An object with `fields`.
    Object,
    /// Anything.
    Any,
    /// A list of automation steps.
    Steps,
    /// `HH:MM`.
    Time,
    /// An IANA zone name.
    Timezone,
}

/// What a reference names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub enum ReferenceKind {
    /// A table.
    Feature,
    /// A column.
    Column,
    /// A view.
    View,
    /// A module.
    Module,
    /// A navigation entry.
    Rail,
    /// An automation of the earlier format.
    Workflow,
    /// An automation.
    WorkflowV2,
    /// A named connection of the organization.
    Connection,
    /// A named timer of the organization.
    TimerProfile,
    /// A channel of the organization.
    Channel,
    /// A stored file; cannot travel.
    File,
    /// A mailbox; cannot travel.
    Mailbox,
    /// A person; cannot travel.
    User,
}

impl ReferenceKind {
    /// The word in packages and definitions.
    pub fn as_str(self) -> &'static str {
        match self {
            ReferenceKind::Feature => "feature",
            ReferenceKind::Column => "column",
            ReferenceKind::View => "view",
            ReferenceKind::Module => "module",
            ReferenceKind::Rail => "rail",
            ReferenceKind::Workflow => "workflow",
            ReferenceKind::WorkflowV2 => "workflowV2",
            ReferenceKind::Connection => "connection",
            ReferenceKind::TimerProfile => "timerProfile",
            ReferenceKind::Channel => "channel",
            ReferenceKind::File => "file",
            ReferenceKind::Mailbox => "mailbox",
            ReferenceKind::User => "user",
        }
    }

    /// What people call it.
    pub fn noun(self) -> &'static str {
        match self {
            ReferenceKind::Feature => "table",
            ReferenceKind::Rail => "navigation entry",
            ReferenceKind::Workflow => "automation of the earlier format",
            ReferenceKind::WorkflowV2 => "automation",
            ReferenceKind::TimerProfile => "timer profile",
            _ => self.as_str(),
        }
    }

    /// The kind of that word.
    pub fn parse(word: &str) -> Option<ReferenceKind> {
        ReferenceKind::ALL
            .iter()
            .find(|kind| kind.as_str() == word)
            .copied()
    }

    /// All kinds.
    pub const ALL: [ReferenceKind; 13] = [
        ReferenceKind::Feature,
        ReferenceKind::Column,
        ReferenceKind::View,
        ReferenceKind::Module,
        ReferenceKind::Rail,
        ReferenceKind::Workflow,
        ReferenceKind::WorkflowV2,
        ReferenceKind::Connection,
        ReferenceKind::TimerProfile,
        ReferenceKind::Channel,
        ReferenceKind::File,
        ReferenceKind::Mailbox,
        ReferenceKind::User,
    ];

    /// Whether a template can carry a reference of this kind at all.
    pub fn travels(self) -> bool {
        !matches!(
            self,
            ReferenceKind::File | ReferenceKind::Mailbox | ReferenceKind::User
        )
    }
}

/// How a reference is written over REST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub enum Form {
    /// By id.
    Uuid,
    /// By name.
    Name,
    /// By either.
    UuidOrName,
}

/// What an export does when the target stays behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub enum AbsentTarget {
    /// It becomes a dependency.
    Dependency,
    /// The value is emptied.
    Empty,
    /// The value is kept.
    Keep,
    /// The key is left out.
    Omit,
}

/// A field that names something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DefinedReference")
)]
pub struct Reference {
    /// The declaration holds when these sibling fields have these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub when: BTreeMap<String, String>,
    /// What it names.
    pub kind: ReferenceKind,
    /// How it is written over REST.
    pub form: Form,
    /// For a column: the sibling that names its table, `$feature` or `$envelope`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// What an export does when the target stays behind.
    pub absent_target: AbsentTarget,
    /// What the store writes: `id` for the id of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_as: Option<String>,
    /// A default of navigation, left out when its target stays behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub navigation_default: bool,
    /// A dependency through this field is required although the field is optional.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always_required: bool,
}

/// One declared field of a config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DefinedField")
)]
pub struct Field {
    /// Type of the value.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// Whether it must be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// The value that absence means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    /// For an enum: the allowed values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// For a list: what its elements are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Field>>,
    /// For an object: its fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Fields>,
    /// For an integer: the smallest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<i64>,
    /// For an integer: the largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<i64>,
    /// For a column's key: only with these components.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
    /// Whether `{{tokens}}` are resolved in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expression: bool,
    /// Whether its value must never leave.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// What it names, when that is always the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// What it names, depending on siblings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// For a connection: the kind that is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_kind: Option<String>,
    /// What it is for; becomes a dependency's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Field {
    /// Whether it must be there.
    pub fn is_required(&self) -> bool {
        self.required == Some(true)
    }

    /// What a value has to be, in words: "text", "an integer from 1 to 31", "one of `a`, `b`".
    pub fn expected(&self) -> String {
        match self.kind {
            FieldType::String => "text".to_owned(),
            FieldType::Boolean => "`true` or `false`".to_owned(),
            FieldType::Integer => match (self.minimum, self.maximum) {
                (Some(least), Some(most)) => format!("an integer from {least} to {most}"),
                (Some(least), None) => format!("an integer from {least} on"),
                (None, Some(most)) => format!("an integer up to {most}"),
                (None, None) => "an integer".to_owned(),
            },
            FieldType::Enum => format!("one of `{}`", self.values.join("`, `")),
            FieldType::List => "a list".to_owned(),
            FieldType::Object => "an object".to_owned(),
            FieldType::Any => "a value".to_owned(),
            FieldType::Steps => "a list of steps".to_owned(),
            FieldType::Time => "a time as HH:MM".to_owned(),
            FieldType::Timezone => "the IANA name of a time zone, such as Europe/Lisbon".to_owned(),
        }
    }

    /// The reference declaration that holds, given the values of sibling fields.
    pub fn reference_with<'v>(
        &self,
        sibling: impl Fn(&str) -> Option<&'v str>,
    ) -> Option<&Reference> {
        let holds = |reference: &&Reference| {
            reference
                .when
                .iter()
                .all(|(key, value)| sibling(key) == Some(value.as_str()))
        };
        self.reference.iter().chain(&self.references).find(holds)
    }

    /// Whether it, or anything inside it, may be a secret: automation steps may hold one.
    pub fn may_hold_secret(&self) -> bool {
        let inside = |field: &Field| field.may_hold_secret();
        self.secret
            || self.kind == FieldType::Steps
            || self.items.as_deref().is_some_and(inside)
            || self
                .fields
                .as_ref()
                .is_some_and(|fields| fields.iter().any(|(_, field)| inside(field)))
    }

    /// Whether it names anything, in some circumstance.
    pub fn is_reference(&self) -> bool {
        self.reference.is_some() || !self.references.is_empty()
    }
}
