//! The identity in a manifest that the catalog shows.

use tplkit::json::Node;

/// The fields of a manifest that are in columns, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(super) name: Option<String>,
    pub(super) label: Option<String>,
    pub(super) description: Option<String>,
    pub(super) category: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) semver: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) template_version: i64,
}

impl Identity {
    /// Reads a manifest without errors. One without a version is of version 1, as everything in the
    /// store.
    pub(super) fn of(manifest: Node<'_>) -> Identity {
        let text = |key: &str| manifest.get_str(key).map(str::to_owned);
        let tags = manifest.get("tags").into_iter().flat_map(Node::elements);
        let version = manifest.get("templateVersion").and_then(Node::as_i64);
        Identity {
            name: text("name"),
            label: text("label"),
            description: text("description"),
            category: text("category"),
            scope: text("scope"),
            semver: text("semver"),
            tags: tags
                .filter_map(|tag| tag.as_str().map(str::to_owned))
                .collect(),
            template_version: version.unwrap_or(1),
        }
    }
}
