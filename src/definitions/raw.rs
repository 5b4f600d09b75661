//! Column and view types as registries write them.
//!
//! The API has to return only the components and config of a type; missing members come from the
//! embedded type of the same name, so the response of a server is as good as its registry file.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};

use super::{ColumnType, Definitions, Fields, Storage, ViewType};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawColumnType {
    label: Option<String>,
    storage: Option<Storage>,
    components: Vec<String>,
    default_component: String,
    config: Fields,
    text_key: Option<bool>,
    link: Option<bool>,
    file: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawViewType {
    label: Option<String>,
    config: Fields,
}

// The embedded registry itself is read here too: it says everything of its types, and so must not
// and does not ask for itself.
impl RawColumnType {
    fn complete(self, name: &str) -> ColumnType {
        let known = || Definitions::embedded().column_types.get(name);
        let label = self
            .label
            .or_else(|| known().map(|known| known.label.clone()));
        // A flag that does not hold is not written: next to a storage, its absence says so.
        let (storage, text_key, link, file) = match self.storage {
            Some(storage) => (storage, false, false, false),
            None => known().map_or((Storage::Any, false, false, false), |known| {
                (known.storage, known.text_key, known.link, known.file)
            }),
        };
        ColumnType {
            label: label.unwrap_or_else(|| name.to_owned()),
            storage,
            components: self.components,
            default_component: self.default_component,
            config: self.config,
            text_key: self.text_key.unwrap_or(text_key),
            link: self.link.unwrap_or(link),
            file: self.file.unwrap_or(file),
        }
    }
}

impl RawViewType {
    fn complete(self, name: &str) -> ViewType {
        let known = || Definitions::embedded().view_types.get(name);
        let label = self
            .label
            .or_else(|| known().map(|known| known.label.clone()));
        ViewType {
            label: label.unwrap_or_else(|| name.to_owned()),
            config: self.config,
        }
    }
}

/// Reads column types by name, completed.
pub(super) fn column_types<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<IndexMap<String, ColumnType>, D::Error> {
    let written = IndexMap::<String, RawColumnType>::deserialize(deserializer)?;
    let complete = |(name, written): (String, RawColumnType)| {
        let column_type = written.complete(&name);
        (name, column_type)
    };
    Ok(written.into_iter().map(complete).collect())
}

/// Reads view types by name, completed.
pub(super) fn view_types<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<IndexMap<String, ViewType>, D::Error> {
    let written = IndexMap::<String, RawViewType>::deserialize(deserializer)?;
    let complete = |(name, written): (String, RawViewType)| {
        let view_type = written.complete(&name);
        (name, view_type)
    };
    Ok(written.into_iter().map(complete).collect())
}
