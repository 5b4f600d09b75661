//! The document of the definitions route: the registry as clients see it.
//!
//! Write validation reads the same registry, so the server accepts exactly what this document
//! announces.

use schemars::JsonSchema;
use serde::Serialize;
use tplkit::definitions::{ColumnType, Definitions, Fields};

use indexmap::IndexMap;

/// What column types, components, view types, triggers and steps exist, and which config keys each has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Definitions")]
pub enum DefinitionsDocument<'a> {
    /// The registry itself.
    Generated(Generated<'a>),
    /// The shape that clients knew before.
    Legacy(Legacy<'a>),
}

/// The registry: without a `format`, or with `generated`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "GeneratedDefinitions")]
pub struct Generated<'a> {
    /// Which form it is.
    #[schemars(extend("const" = "generated"))]
    source: &'static str,
    #[serde(flatten)]
    registry: &'a Definitions,
}

/// The shape that clients knew before: with the format `legacy`, for one release.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LegacyDefinitions")]
pub struct Legacy<'a> {
    /// Which form it is.
    #[schemars(extend("const" = "legacy"))]
    source: &'static str,
    /// What there is of columns.
    column: LegacyColumns<'a>,
    /// What there is of views.
    view: LegacyViews<'a>,
    /// All component names.
    components: &'a [String],
    /// By the type of a view: the keys of its config.
    view_config: IndexMap<&'a str, &'a Fields>,
}

/// Columns as the legacy shape has them.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct LegacyColumns<'a> {
    /// By the name that a column's `type` holds.
    types: &'a IndexMap<String, ColumnType>,
    /// Config keys that every column type has.
    config: &'a Fields,
}

/// Views as the legacy shape has them.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct LegacyViews<'a> {
    /// The types that exist.
    types: Vec<&'a str>,
}

/// Body of `GET /v1/schema/definitions` in its default form.
///
/// It is the registry itself, in the registry's own order, headed by
/// `"source": "generated"`, because people look at this response too. Nothing is taken out: stored in a file, the
/// response is a registry that [`Definitions::parse`] reads and `tplkit --definitions FILE` accepts.
///
/// ```
/// use tplkit::definitions::Definitions;
///
/// let document = tplkit_server::definitions::document(Definitions::embedded());
/// let document = serde_json::to_value(document)?;
/// assert_eq!(document["source"], "generated");
/// assert_eq!(document["column_types"]["text"]["default_component"], "textfield");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn document(definitions: &Definitions) -> DefinitionsDocument<'_> {
    DefinitionsDocument::Generated(Generated {
        source: "generated",
        registry: definitions,
    })
}

/// Body of `GET /v1/schema/definitions?format=legacy`. It reports columns, views and components only.
pub fn legacy(definitions: &Definitions) -> DefinitionsDocument<'_> {
    let views = definitions.view_types.iter();
    DefinitionsDocument::Legacy(Legacy {
        source: "legacy",
        column: LegacyColumns {
            types: &definitions.column_types,
            config: &definitions.column_config,
        },
        view: LegacyViews {
            types: definitions.view_types.keys().map(String::as_str).collect(),
        },
        components: &definitions.components,
        view_config: views
            .map(|(name, view)| (name.as_str(), &view.config))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tplkit::definitions::Definitions;

    use super::{DefinitionsDocument, document, legacy};

    fn written(document: DefinitionsDocument<'_>) -> Value {
        serde_json::to_value(document).expect("it has a JSON form")
    }

    fn keys(value: &Value) -> Vec<&str> {
        let members = value.as_object().expect("an object");
        members.keys().map(String::as_str).collect()
    }

    #[test]
    fn it_has_the_members_of_the_route() {
        let document = written(document(Definitions::embedded()));
        assert_eq!(
            keys(&document),
            [
                "source",
                "version",
                "column_types",
                "column_config",
                "components",
                "view_types",
                "config_keys",
                "triggers",
                "steps",
                "row_data",
                "file_metadata",
            ]
        );
        let mut config_keys = keys(&document["config_keys"]);
        config_keys.sort_unstable();
        assert_eq!(
            config_keys,
            ["feature", "module", "organization", "rail", "workspace"]
        );
    }

    #[test]
    fn every_column_type_names_components_that_exist_and_a_default_among_them() {
        let document = written(document(Definitions::embedded()));
        let all = document["components"].as_array().expect("a list");
        let types = document["column_types"].as_object().expect("an object");
        for (name, column_type) in types {
            let own = column_type["components"].as_array().expect("a list");
            assert!(
                own.iter().all(|component| all.contains(component)),
                "{name}"
            );
            assert!(own.contains(&column_type["default_component"]), "{name}");
            assert!(column_type["config"].is_object(), "{name}");
        }
        for (name, view_type) in document["view_types"].as_object().expect("an object") {
            assert!(view_type["config"].is_object(), "{name}");
        }
    }

    #[test]
    fn the_legacy_shape_tells_of_the_same_types() {
        let definitions = Definitions::embedded();
        let document = written(document(definitions));
        let legacy = written(legacy(definitions));
        assert_eq!(
            keys(&legacy),
            ["source", "column", "view", "components", "view_config"]
        );
        assert_eq!(legacy["source"], "legacy");
        assert_eq!(legacy["column"]["types"], document["column_types"]);
        assert_eq!(legacy["components"], document["components"]);
        let config = &document["view_types"]["kanban"]["config"];
        assert_eq!(&legacy["view_config"]["kanban"], config);
    }

    #[test]
    fn a_client_that_stores_the_response_has_the_registry() {
        let response = written(document(Definitions::embedded())).to_string();
        let read = Definitions::parse(&response).expect("a registry");
        assert_eq!(&read, Definitions::embedded());
    }
}
