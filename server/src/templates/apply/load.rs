//! Loads a package for an apply: checked, in its current version.

use tplkit::apply::{package_digest, write_content};
use tplkit::check::{CheckOptions, Checked, check_text};
use tplkit::json::{Doc, Node};
use tplkit::package::canonical::CanonicalError;

use crate::jobs::PackedPart;
use crate::refusal::Refusal;
use crate::release_memory;
use crate::spool::{Spool, SpooledText};
use crate::templates::package::{no_room_for_package, unreadable};
use crate::templates::package_refusal;

/// The text of a package without errors. It is read where it lies, next to what is made of it and to other
/// packages.
#[derive(Debug)]
pub(crate) struct LoadedPackage {
    text: SpooledText,
    /// Of one that a caller sent, the digest of its content.
    content_digest: Option<String>,
}

impl LoadedPackage {
    /// A package of the store, and whether it is fit: it may have come in parts that do not go together.
    pub(crate) fn of(text: SpooledText) -> (LoadedPackage, Result<(), Refusal>) {
        let fit = package_refusal::accept(&check_text(&text, &CheckOptions::default()));
        release_memory::between_steps(&text);
        (LoadedPackage::trusted(text), fit)
    }

    /// A package that a caller sends as a member of a body. It is held in canonical form, as the store has packages, so
    /// that a plan does not depend on how the file was laid out.
    ///
    /// # Errors
    /// 422 with every rule that is broken as an error, and its place in the body; 503 when there is no room
    /// for it.
    pub(crate) fn sent(text: String, member: &str) -> Result<LoadedPackage, Refusal> {
        let text = spooled(text)?;
        package_refusal::accept_member(&check_text(&text, &CheckOptions::default()), member)?;
        let mut spool = Spool::default();
        let digest = write_content(&text, &mut spool).map_err(|error| match error {
            CanonicalError::Write(error) => no_room_for_package(&error),
            error => Refusal::bug("a checked package has no canonical form", &error),
        })?;
        drop(text);
        let text = spool.into_text();
        Ok(LoadedPackage {
            text: text.map_err(|error| no_room_for_package(&error))?,
            content_digest: Some(digest),
        })
    }

    /// One that was checked before.
    pub(crate) fn trusted(text: SpooledText) -> LoadedPackage {
        LoadedPackage {
            text,
            content_digest: None,
        }
    }

    /// What a plan is bound to: of what the store has its text, of what a caller sent its content.
    pub(super) fn digest(&self) -> String {
        let sent = self.content_digest.clone();
        sent.unwrap_or_else(|| package_digest(&self.text))
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text of the file, given away.
    pub(crate) fn into_text(self) -> SpooledText {
        self.text
    }

    /// The package for the library.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn read(&self) -> Result<Checked<'_>, Refusal> {
        Checked::trusted(&self.text).map_err(|error| unreadable(&error))
    }

    /// The manifest, then the payload entries in order.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn parts(&self) -> Result<Vec<PackedPart>, Refusal> {
        let doc = Doc::parse_package(&self.text).map_err(|error| unreadable(&error))?;
        let root = doc.root();
        let entries = root.get("payloads").into_iter().flat_map(Node::elements);
        let parts = root.get("manifest").into_iter().chain(entries);
        Ok(parts.map(|part| PackedPart::pack(part.raw())).collect())
    }
}

/// Puts a text where it is read.
pub(crate) fn spooled(text: String) -> Result<SpooledText, Refusal> {
    SpooledText::of(text).map_err(|error| no_room_for_package(&error))
}
