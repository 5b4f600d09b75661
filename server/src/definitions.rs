//! The document of the definitions route: the registry as clients see it.
//!
//! Write validation reads the same registry, so the server accepts exactly what this document
//! announces.

use serde_json::Value;
use tplkit::definitions::Definitions;

/// Body of `GET /v1/schema/definitions` in its default form.
///
/// It is the registry itself, in the registry's own order, headed by
/// `"source": "generated"`. Nothing is taken out: stored in a file, the response is a registry that
/// [`Definitions::parse`] reads and `tplkit --definitions FILE` accepts.
///
/// ```
/// use tplkit::definitions::Definitions;
///
/// let document = tplkit_server::definitions::document(Definitions::embedded());
/// assert_eq!(document["source"], "generated");
/// assert_eq!(document["column_types"]["text"]["default_component"], "textfield");
/// ```
///
/// # Panics
/// Never: a registry has string keys only, and therefore always has a JSON form.
pub fn document(definitions: &Definitions) -> Value {
    let mut document = serde_json::to_value(definitions).expect("a registry has a JSON form");
    if let Value::Object(members) = &mut document {
        // First, because people look at this response too.
        members.shift_insert(0, "source".to_owned(), "generated".into());
    }
    document
}

/// Body of `GET /v1/schema/definitions?format=legacy`: the shape that clients knew before, for one
/// release. It reports columns, views and components only.
///
/// # Panics
/// Never, as [`document`].
pub fn legacy(definitions: &Definitions) -> Value {
    let mut generated = document(definitions);
    let mut column = serde_json::Map::new();
    column.insert("types".to_owned(), generated["column_types"].take());
    column.insert("config".to_owned(), generated["column_config"].take());
    let views: Vec<&String> = definitions.view_types.keys().collect();
    let view_config = definitions.view_types.iter();
    let view_config: serde_json::Map<String, Value> = view_config
        .map(|(name, view)| {
            let config = serde_json::to_value(&view.config).expect("fields have a JSON form");
            (name.clone(), config)
        })
        .collect();
    serde_json::json!({
        "source": "legacy",
        "column": column,
        "view": { "types": views },
        "components": generated["components"].take(),
        "view_config": view_config,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tplkit::definitions::Definitions;

    use super::{document, legacy};

    fn keys(value: &Value) -> Vec<&str> {
        let members = value.as_object().expect("an object");
        members.keys().map(String::as_str).collect()
    }

    #[test]
    fn it_has_the_members_of_the_route() {
        let document = document(Definitions::embedded());
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
        let document = document(Definitions::embedded());
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
        let (document, legacy) = (document(definitions), legacy(definitions));
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
        let response = document(Definitions::embedded()).to_string();
        let read = Definitions::parse(&response).expect("a registry");
        assert_eq!(&read, Definitions::embedded());
    }
}
