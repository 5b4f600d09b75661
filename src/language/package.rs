//! A package as editors ask about it: the tree, and what the rules know.

use crate::check::facts::Facts;
use crate::definitions::Definitions;
use crate::json::Doc;

/// A package, good or bad, that is JSON.
#[derive(Debug)]
pub struct Package<'d> {
    pub(super) doc: &'d Doc<'d>,
    pub(super) facts: Facts<'d>,
}

impl<'d> Package<'d> {
    /// Reads a tree of [`Doc::parse_package`]; nothing when it has no manifest.
    pub fn read(doc: &'d Doc<'d>) -> Option<Package<'d>> {
        let root = doc.root();
        let manifest = root.get("manifest").unwrap_or(root);
        manifest.is_object().then(|| Package {
            doc,
            facts: Facts::new(doc, manifest, Definitions::embedded()),
        })
    }

    /// The text that it was read from.
    pub fn text(&self) -> &'d str {
        self.doc.text()
    }
}
