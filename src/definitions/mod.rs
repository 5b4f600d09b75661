//! The definitions registry: every column type, component, config key, view, trigger and step.
//!
//! The registry is data (`schemas/definitions.json`, embedded), and where a reference, a secret
//! or an expression can sit in a config is known here and nowhere else. Everything that looks
//! into configs does so through the one [`walk()`].

mod field;
mod walk;

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

pub use field::{Field, FieldType, Form, Reference, ReferenceKind, Target};
pub use walk::{Problem, Spot, Visitor, walk, walk_listed, walk_value};

/// Named fields in declaration order.
pub type Fields = IndexMap<String, Field>;

/// A whole registry. Its `version` is the `definitionsVersion` of packages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definitions {
    /// Raised with every change.
    pub version: String,
    /// By the name that a column's `type` holds.
    pub column_types: IndexMap<String, ColumnType>,
    /// Config keys that every column type has.
    pub column_config: Fields,
    /// All component names.
    pub components: Vec<String>,
    /// By the name that a view's `type` holds.
    pub view_types: IndexMap<String, ViewType>,
    /// Config keys of the things that have no types.
    pub config_keys: ConfigKeys,
    /// By the `type` of a trigger.
    pub triggers: IndexMap<String, Trigger>,
    /// By the `key` of a step.
    pub steps: IndexMap<String, Step>,
    /// Conventions of row data, passed on to clients.
    pub row_data: serde_json::Value,
    /// Conventions of file metadata, passed on to clients.
    pub file_metadata: serde_json::Value,
}

/// Config keys of organization, workspace, module, rail and feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// A column type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_key: bool,
    /// Whether its cells point at rows of another table.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
}

/// A view type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewType {
    /// For people.
    pub label: String,
    /// Keys of the one object in a view's config.
    pub config: Fields,
}

/// A trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

    /// Reads another server's registry (the answer of `GET /v1/schema/definitions` stored in the
    /// registry's own form).
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
    use super::Definitions;

    #[test]
    fn the_embedded_registry_parses_and_writes_back_the_same() {
        let text = include_str!("../../schemas/definitions.json");
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let again = serde_json::to_value(Definitions::embedded()).expect("writes");
        assert_eq!(again, value, "a declared property is not understood");
    }
}
