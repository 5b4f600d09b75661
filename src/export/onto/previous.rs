//! The earlier package, read.

use std::borrow::Cow;

use crate::check::Checked;
use crate::context::Ids;
use crate::definitions::Definitions;
use crate::json::Doc;
use crate::migrate;
use crate::package::canonical;
use crate::package::model::{Item, ItemKind, Manifest, ModelError};
use crate::package::payload::RawEntry;

/// An earlier package without errors, of version 2.
#[derive(Debug)]
pub struct PreviousPackage<'t> {
    text: &'t str,
    pub(in crate::export) manifest: Manifest,
    pub(in crate::export) schema: Option<String>,
    payloads: Vec<RawEntry<'t>>,
}

/// The text of a package that was checked without errors, as version 2: one of version 1 becomes what
/// [`migrate`] makes of it.
///
/// # Errors
/// The package cannot be held by the model: it does not check without errors.
pub fn to_version_2<'t>(
    text: &'t str,
    definitions: &Definitions,
    ids: &mut dyn Ids,
) -> Result<Cow<'t, str>, ModelError> {
    let Ok(doc) = Doc::parse_package(text) else {
        return Ok(Cow::Borrowed(text));
    };
    let root = doc.root();
    let version = root.get("manifest").unwrap_or(root).get("templateVersion");
    if version.is_none_or(|version| version.raw() != "1") {
        return Ok(Cow::Borrowed(text));
    }
    let migrated = migrate::to_version_2(&doc, definitions, ids)?;
    let written = migrated.and_then(|migrated| migrated.package.write().ok());
    Ok(written.map_or(Cow::Borrowed(text), Cow::Owned))
}

impl<'t> PreviousPackage<'t> {
    /// Of a package that was checked without errors; `text` is what it was read from, of version 2
    /// ([`to_version_2`]).
    pub fn new(text: &'t str, checked: Checked<'t>) -> PreviousPackage<'t> {
        let doc = Doc::parse_package(text).ok();
        let schema = doc.as_ref().and_then(|doc| doc.root().get_str("$schema"));
        let enveloped = doc
            .as_ref()
            .is_some_and(|doc| doc.root().get("manifest").is_some());
        PreviousPackage {
            text,
            schema: schema.filter(|_| enveloped).map(str::to_owned),
            manifest: checked.manifest,
            payloads: checked.payloads,
        }
    }

    /// The rows of a table, and the uid of their item.
    pub(in crate::export) fn rows(&self, reference: &str) -> Option<&RawEntry<'t>> {
        let mut entries = self.payloads.iter();
        entries.find(|entry| entry.feature_ref == reference)
    }

    /// The item of that ref.
    pub(super) fn item(&self, reference: &str) -> Option<&Item> {
        let mut items = self.manifest.items().iter();
        items.find(|item| item.reference.as_deref() == Some(reference))
    }

    /// The rows items.
    pub(super) fn rows_items(&self) -> impl Iterator<Item = &Item> {
        let items = self.manifest.items().iter();
        items.filter(|item| item.kind == ItemKind::Rows)
    }

    /// The whole package in canonical form.
    pub(in crate::export) fn canonical(&self) -> Option<Cow<'t, str>> {
        canonical::of(self.text).ok()
    }
}
