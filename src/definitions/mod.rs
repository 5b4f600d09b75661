//! The definitions registry: every column type, component, config key, view, trigger and step.
//!
//! The registry is data (`schemas/definitions.json`, embedded), and it alone declares where a
//! config can contain a reference, a secret or an expression. Every reader of configs uses the one
//! [`walk()`].

mod field;
mod raw;
mod walk;

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

pub use field::{AbsentTarget, Field, FieldType, Form, Reference, ReferenceKind};
pub use walk::{ConfigFault, DeclaredValue, Visitor, walk, walk_listed, walk_value};

/// Named fields in declaration order.
pub type Fields = IndexMap<String, Field>;

/// A whole registry. Its `version` is the `definitionsVersion` of packages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Definitions {
    /// Raised with every change.
    pub version: String,
    /// By the name that a column's `type` holds.
    #[serde(deserialize_with = "raw::column_types")]
    pub column_types: IndexMap<String, ColumnType>,
    /// Config keys that every column type has.
    pub column_config: Fields,
    /// All component names.
    pub components: Vec<String>,
    /// By the name that a view's `type` holds.
    #[serde(deserialize_with = "raw::view_types")]
    pub view_types: IndexMap<String, ViewType>,
    /// Config keys of the things that have no types.
    pub config_keys: ConfigKeys,
    /// By the `type` of a trigger.
    pub triggers: IndexMap<String, Trigger>,
    /// By the `key` of a step.
    pub steps: IndexMap<String, Step>,
    /// Conventions of row data, passed on to clients.
    #[cfg_attr(
        feature = "schemas",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub row_data: serde_json::Value,
    /// Conventions of file metadata, passed on to clients.
    #[cfg_attr(
        feature = "schemas",
        schemars(with = "serde_json::Map<String, serde_json::Value>")
    )]
    pub file_metadata: serde_json::Value,
}

/// Config keys of organization, workspace, module, rail and feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DefinedConfigKeys")
)]
pub struct ConfigKeys {
    /// Of an organization; never in a package.
    pub organization: Fields,
    /// Of a workspace.
    pub workspace: Fields,
    /// Of a module.
    pub module: Fields,
    /// Of one entry of a rail's list.
    pub rail: Fields,
    /// Of a feature (a table).
    pub feature: Fields,
}

/// What cells of a column may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
pub enum Storage {
    /// Any string.
    String,
    /// A JSON number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `YYYY-MM-DD`.
    Date,
    /// RFC 3339 date-time.
    Datetime,
    /// One of the column's `options`.
    Option,
    /// A list of distinct `options`.
    Options,
    /// A string whose check digits hold.
    Masked,
    /// Any JSON value.
    Any,
    /// A string or number, or a list of them.
    Link,
    /// Nothing but null.
    None,
}

impl Storage {
    /// Whether cells are numbers: so they have an order of their own, and count up in an identity.
    pub const fn is_number(self) -> bool {
        match self {
            Storage::Number => true,
            Storage::String
            | Storage::Boolean
            | Storage::Date
            | Storage::Datetime
            | Storage::Option
            | Storage::Options
            | Storage::Masked
            | Storage::Any
            | Storage::Link
            | Storage::None => false,
        }
    }
}

/// A column type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DefinedColumnType")
)]
pub struct ColumnType {
    /// For people.
    pub label: String,
    /// What its cells hold.
    pub storage: Storage,
    /// Components it can be shown with.
    pub components: Vec<String>,
    /// The one used when none is chosen.
    pub default_component: String,
    /// Config keys of its own.
    pub config: Fields,
    /// Whether rows can be matched by it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub text_key: bool,
    /// Whether its cells point at rows of another table.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// Whether a text in the form of a UUID is the id of a file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub file: bool,
}

/// A view type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DefinedViewType")
)]
pub struct ViewType {
    /// For people.
    pub label: String,
    /// Keys of the one object in a view's config.
    pub config: Fields,
}

/// A trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DefinedTrigger")
)]
pub struct Trigger {
    /// For people.
    pub label: String,
    /// Its settings.
    #[serde(default)]
    pub config: Fields,
    /// Whether the run begins with records.
    pub brings_records: bool,
    /// Whether a row fired it.
    pub trigger_row: bool,
}

/// A step of an automation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "DefinedStep")
)]
pub struct Step {
    /// For people.
    pub label: String,
    /// Its settings.
    pub config: Fields,
    /// Outputs that later steps may name.
    pub outputs: Vec<String>,
    /// Whether it has an effect outside the run.
    pub delivers: bool,
    /// Whether records can be there after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub brings_records: bool,
    /// The setting that names a variable it sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets_variable: Option<String>,
}

/// A registry file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("not a definitions registry: {0}")]
pub struct DefinitionsError(#[from] serde_json::Error);

impl Definitions {
    /// The registry that this library was built with.
    ///
    /// # Panics
    /// Never: the embedded file is parsed by a test.
    pub fn embedded() -> &'static Definitions {
        static EMBEDDED: OnceLock<Definitions> = OnceLock::new();
        EMBEDDED.get_or_init(|| {
            Definitions::parse(include_str!("../../schemas/definitions.json"))
                .expect("the embedded registry parses")
        })
    }

    /// Reads another server's registry: a file in the form of the embedded one, or the response of
    /// `GET /v1/schema/definitions`, whose types may have neither label nor storage. What they
    /// leave out is that of the embedded type of the same name.
    pub fn parse(text: &str) -> Result<Definitions, DefinitionsError> {
        Ok(serde_json::from_str(text)?)
    }

    /// The config fields of a column of that type and component; the type must exist.
    pub fn column_fields(&self, column_type: &str, component: &str) -> Option<Vec<(&str, &Field)>> {
        let own = &self.column_types.get(column_type)?.config;
        // With an unknown component every key of the type may be meant.
        let unknown = !self.components.iter().any(|name| name == component);
        let fits = |field: &Field| {
            unknown
                || field.components.is_empty()
                || field.components.iter().any(|name| name == component)
        };
        let fields = self
            .column_config
            .iter()
            .chain(own)
            .filter(|(_, field)| fits(field));
        Some(fields.map(|(name, field)| (name.as_str(), field)).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Definitions, Storage};

    /// The response of a server that reports its types no more than the specification asks for.
    fn response() -> Value {
        let text = include_str!("../../schemas/definitions.json");
        let mut result: Value = serde_json::from_str(text).expect("JSON");
        result["source"] = "generated".into();
        for kind in ["column_types", "view_types"] {
            for (_, entry) in result[kind].as_object_mut().expect("types") {
                let entry = entry.as_object_mut().expect("an entry");
                entry.retain(|key, _| {
                    ["components", "default_component", "config"].contains(&key.as_str())
                });
            }
        }
        result
    }

    #[test]
    fn a_servers_answer_is_completed_from_the_embedded_registry() {
        let mut result = response();
        let read = Definitions::parse(&result.to_string()).expect("a registry");
        assert_eq!(&read, Definitions::embedded());
        // What the embedded registry does not know can hold anything.
        result["column_types"]["colour"] = result["column_types"]["text"].clone();
        result["view_types"]["wheel"] = serde_json::json!({"config": {}});
        let read = Definitions::parse(&result.to_string()).expect("a registry");
        let colour = read.column_types.get("colour").expect("read");
        assert_eq!(
            (colour.label.as_str(), colour.storage),
            ("colour", Storage::Any)
        );
        assert!(!colour.text_key && !colour.link && !colour.file);
        assert_eq!(
            read.view_types.get("wheel").map(|view| view.label.as_str()),
            Some("wheel")
        );
    }

    #[test]
    fn what_a_registry_says_of_a_type_stands() {
        let mut result = response();
        result["column_types"]["text"]["label"] = "Words".into();
        result["column_types"]["email"]["text_key"] = false.into();
        result["column_types"]["url"]["storage"] = "any".into();
        let read = Definitions::parse(&result.to_string()).expect("a registry");
        let of = |name: &str| {
            let column_type = read.column_types.get(name).expect("known");
            (
                column_type.label.as_str(),
                column_type.storage,
                column_type.text_key,
            )
        };
        assert_eq!(of("text"), ("Words", Storage::String, true));
        assert_eq!(of("email"), ("E-mail", Storage::String, false));
        // Who gives the storage gives the flags too, which are only written when they hold.
        assert_eq!(of("url").1, Storage::Any);
        assert!(!of("url").2);
    }

    #[test]
    fn what_is_not_registry_is_reported_with_its_line() {
        let mut result = response();
        result["column_types"]["text"]["storge"] = "string".into();
        let text = serde_json::to_string_pretty(&result).expect("writes");
        let error = Definitions::parse(&text).expect_err("a misspelt key");
        let message = error.to_string();
        assert!(
            message.contains("`storge`") && message.contains(" at line "),
            "{message}"
        );
    }

    #[test]
    fn the_embedded_registry_parses_and_writes_back_the_same() {
        let text = include_str!("../../schemas/definitions.json");
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let again = serde_json::to_value(Definitions::embedded()).expect("writes");
        assert_eq!(again, value, "a declared property is not understood");
    }
}
