//! The typed model of a package: what the exporter builds and the executor works on.
//!
//! Reading is for packages without errors and loses nothing of them: members that the format does
//! not have stay in `unknown`, numbers keep their digits, and what a check only warns about stays
//! as it was. A value that cannot be understood is a [`ModelError`]; `check` says more about it.
//! Writing goes through the canonical writer, so reading and writing a file is formatting it.

mod dependency;
mod fields;
mod manifest;
mod payload;
mod plan;
mod tree;
mod unresolved;

use std::io;

use super::canonical::{CanonicalError, Writer};
use super::format::{ENVELOPE, MANIFEST};
use crate::json::{Doc, Node, Object};
use fields::Fields;
use tree::{Members, Part, Tree};

pub use super::words::{
    Action, DataClass, DependencyForm, ItemKind, Proposal, Reason, Scope, UnresolvedForm,
    Visibility, WireWord,
};
pub use dependency::{Blueprint, Dependency, Identity, IdentityColumn, UsedBy};
pub use manifest::{Catalog, Contents, Item, Layers, Manifest, Source, Variable};
pub use payload::{CellRef, PayloadEntry, Row, RowRef};
pub use plan::{Metadata, Plan, PlanTarget, Step};
pub use unresolved::{Redacted, Unresolved, UnresolvedKind};

/// A package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// What it holds and how it is created.
    pub manifest: Manifest,
    /// What is around the manifest in a file; nothing when the manifest is alone.
    pub envelope: Option<Envelope>,
}

/// The file around a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Envelope {
    /// The JSON Schema that an editor validates the file with.
    pub schema: Option<String>,
    /// The rows; absent reads as empty.
    pub payloads: Option<Vec<PayloadEntry>>,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// A value that the model cannot hold. A package that checks without errors has none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {message}")]
pub struct ModelError {
    /// JSON Pointer to the value, or to the object that lacks one.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

impl ModelError {
    fn at(node: Node<'_>, message: impl Into<String>) -> ModelError {
        ModelError {
            pointer: node.pointer(),
            message: message.into(),
        }
    }

    fn wrong(node: Node<'_>, expected: &str) -> ModelError {
        ModelError::at(
            node,
            format!("expected {expected}, found {}", node.type_name()),
        )
    }

    /// The same error, for a value that was read as the root of a text of its own.
    fn below(mut self, pointer: &str) -> ModelError {
        self.pointer.insert_str(0, pointer);
        self
    }
}

impl Package {
    /// Reads a package file. Rows that the tree left unread are read here.
    ///
    /// ```
    /// use tplkit::json::Doc;
    /// use tplkit::package::model::Package;
    ///
    /// let text = include_str!("../../../examples/crm.json");
    /// let package = Package::read(&Doc::parse_package(text)?)?;
    /// assert!(package.manifest.items().len() > 10 && !package.payloads().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(doc: &Doc<'_>) -> Result<Package, ModelError> {
        let root = doc.root();
        if root.get("manifest").is_none() {
            return Ok(Package {
                manifest: Manifest::read(root)?,
                envelope: None,
            });
        }
        let mut fields = Fields::of(root)?;
        Ok(Package {
            manifest: fields.required("manifest", Manifest::read)?,
            envelope: Some(Envelope {
                schema: fields.optional("$schema", fields::text)?,
                payloads: fields
                    .optional("payloads", |list| fields::list(list, PayloadEntry::read))?,
                unknown: fields.unknown()?,
            }),
        })
    }

    /// The payload entries; none when the file has none.
    pub fn payloads(&self) -> &[PayloadEntry] {
        let payloads = self
            .envelope
            .as_ref()
            .and_then(|envelope| envelope.payloads.as_deref());
        payloads.unwrap_or_default()
    }

    /// The canonical text.
    ///
    /// Fails only when `unknown` members repeat a key that the model has as a field.
    pub fn write(&self) -> Result<String, CanonicalError> {
        let mut writer = Writer::gathering(0);
        self.write_with(&mut writer)?;
        Ok(writer.finish()?)
    }

    /// Writes the canonical text piece by piece.
    pub fn write_to(&self, sink: &mut dyn io::Write) -> Result<(), CanonicalError> {
        let mut writer = Writer::streaming(sink);
        self.write_with(&mut writer)?;
        writer.finish()?;
        Ok(())
    }

    /// The canonical text without any row, cut where the rows of each payload entry belong: one
    /// piece more than there are entries. An entry holds as many rows as its `count` says.
    pub(crate) fn write_around_rows(&self) -> Result<Vec<String>, CanonicalError> {
        let mut writer = Writer::gathering(0);
        let manifest = self.manifest.tree();
        match &self.envelope {
            None => writer.root(Part::of(&manifest), &MANIFEST)?,
            Some(envelope) => {
                let tree = envelope.tree(manifest, PayloadEntry::tree_around_rows);
                writer.root(Part::of(&tree), &ENVELOPE)?;
            }
        }
        Ok(writer.finish_pieces())
    }

    fn write_with(&self, writer: &mut Writer<'_>) -> Result<(), CanonicalError> {
        let manifest = self.manifest.tree();
        match &self.envelope {
            None => writer.root(Part::of(&manifest), &MANIFEST),
            Some(envelope) => {
                let tree = envelope.tree(manifest, PayloadEntry::tree);
                writer.root(Part::of(&tree), &ENVELOPE)
            }
        }
    }
}

impl Envelope {
    fn tree<'m>(
        &'m self,
        manifest: Tree<'m>,
        entry: impl Fn(&'m PayloadEntry) -> Tree<'m>,
    ) -> Tree<'m> {
        let payloads = self.payloads.as_deref();
        Members::with(&self.unknown)
            .optional_text("$schema", self.schema.as_ref())
            .field("manifest", manifest)
            .optional("payloads", payloads, |list| Tree::list(list, entry))
            .object()
    }
}
