//! Loads a package for an apply: checked, in its current version.

use tplkit::check::{CheckOptions, Checked, check_text};
use tplkit::json::{Doc, Node};

use crate::jobs::Part;
use crate::memory;
use crate::refusal::{Code, Refusal};
use crate::templates::manifest;
use crate::templates::package::Package;
use crate::templates::verdict;

/// The text of a package without errors.
#[derive(Debug)]
pub(crate) struct LoadedPackage {
    text: String,
}

impl LoadedPackage {
    /// A package of the store, and whether it is fit: it may have come in parts that do not go together.
    ///
    /// # Errors
    /// When it cannot be read, which is a bug.
    pub(crate) fn of(package: Package) -> Result<(LoadedPackage, Result<(), Refusal>), Refusal> {
        let text = versioned(package)?.text();
        let fit = verdict::accept(&check_text(&text, &CheckOptions::default()));
        memory::between_steps(&text);
        Ok((LoadedPackage { text }, fit))
    }

    /// The text of a package of the store, as a job keeps it.
    ///
    /// # Errors
    /// When it cannot be read, which is a bug.
    pub(crate) fn versioned_text(package: Package) -> Result<String, Refusal> {
        Ok(versioned(package)?.text())
    }

    /// A package that a caller sends.
    ///
    /// # Errors
    /// 422 with every rule that is broken as an error.
    pub(crate) fn sent(text: String) -> Result<LoadedPackage, Refusal> {
        verdict::accept(&check_text(&text, &CheckOptions::default()))?;
        Ok(LoadedPackage { text })
    }

    /// One that was checked before.
    pub(crate) fn trusted(text: String) -> LoadedPackage {
        LoadedPackage { text }
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text of the file, given away.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// The package for the library.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn read(&self) -> Result<Checked<'_>, Refusal> {
        Checked::trusted(&self.text).map_err(|error| bug(&error))
    }

    /// The manifest, then the payload entries in order.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub(super) fn parts(&self) -> Result<Vec<Part>, Refusal> {
        let doc = Doc::parse_package(&self.text).map_err(|error| bug(&error))?;
        let root = doc.root();
        let entries = root.get("payloads").into_iter().flat_map(Node::elements);
        let parts = root.get("manifest").into_iter().chain(entries);
        Ok(parts.map(|part| Part::pack(part.raw())).collect())
    }
}

/// What lacks a version in the store is of the first (`contract` 2.5).
fn versioned(package: Package) -> Result<Package, Refusal> {
    let filled = {
        let doc = Doc::parse(package.manifest()).map_err(|error| bug(&error))?;
        let lacking = doc.root().get(manifest::VERSION).is_none();
        lacking.then(|| manifest::with(doc.root(), &[]))
    };
    Ok(match filled {
        Some(manifest) => package.with_manifest(&manifest),
        None => package,
    })
}

pub(super) fn bug(error: &dyn std::error::Error) -> Refusal {
    tracing::error!(%error, "a package of the store cannot be read");
    Refusal::new(
        Code::Internal,
        "Something went wrong here; it has been recorded.",
    )
}
