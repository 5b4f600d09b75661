//! A package without errors, parsed for the stages after the check.

use super::{CheckOptions, check_text};
use crate::finding::{FileReport, Severity};
use crate::json::{Doc, JsonKind, Node};
use crate::package::model::{Manifest, ModelError};
use crate::package::payload::RawEntry;

/// A package without errors: the manifest as a model, the rows as they are written.
#[derive(Debug, Clone)]
pub struct Checked<'t> {
    /// What the package holds.
    pub manifest: Manifest,
    /// The rows of its tables.
    pub payloads: Vec<RawEntry<'t>>,
}

/// Why a text cannot go further.
#[derive(Debug, thiserror::Error)]
pub enum NotChecked {
    /// It has errors.
    #[error("the package has errors")]
    Errors(Box<FileReport>),
    /// It is not a package at all.
    #[error("not a template package: the manifest has no `templateVersion`")]
    NotAPackage,
    /// The check passed what the model cannot hold: a bug here, reported instead of guessed at.
    #[error("the package cannot be read: {0}")]
    Model(#[from] ModelError),
}

impl<'t> Checked<'t> {
    /// Checks a text without its byte-order mark and reads it. Warnings do not matter.
    pub fn read(text: &'t str, options: &CheckOptions<'_>) -> Result<Checked<'t>, NotChecked> {
        let report = check_text(text, options);
        if report
            .findings
            .iter()
            .any(|finding| finding.severity == Severity::Error)
        {
            return Err(NotChecked::Errors(Box::new(report)));
        }
        Checked::trusted(text)
    }

    /// Reads a text that is known to have no errors: one that an exporter has just written.
    pub fn trusted(text: &'t str) -> Result<Checked<'t>, NotChecked> {
        let doc = Doc::parse_package(text).map_err(|_| NotChecked::NotAPackage)?;
        let root = doc.root();
        let manifest = root.get("manifest");
        if manifest.unwrap_or(root).get("templateVersion").is_none() {
            return Err(NotChecked::NotAPackage);
        }
        let payloads = manifest.and_then(|_| root.get("payloads"));
        Ok(Checked {
            manifest: Manifest::read(manifest.unwrap_or(root))?,
            payloads: payloads
                .into_iter()
                .flat_map(Node::elements)
                .map(|entry| raw_entry(text, entry))
                .collect(),
        })
    }
}

fn raw_entry<'t>(text: &'t str, entry: Node<'_>) -> RawEntry<'t> {
    let string = |key: &str| entry.get_str(key).map(str::to_owned);
    let columns = entry.get("columns").into_iter().flat_map(Node::elements);
    let rows = entry
        .get("rows")
        .filter(|rows| matches!(rows.kind(), JsonKind::Rows | JsonKind::Array));
    RawEntry {
        feature_ref: crate::package::reference::undollared(
            entry.get_str("featureRef").unwrap_or_default(),
        )
        .to_owned(),
        item_uid: string("itemUid").unwrap_or_default(),
        key_column: string("keyColumn"),
        key_unique: entry.get("keyUnique").and_then(Node::as_bool) == Some(true),
        columns: columns
            .filter_map(|column| column.as_str().map(str::to_owned))
            .collect(),
        rows: rows.map_or("[]", |rows| &text[rows.span()]),
    }
}
