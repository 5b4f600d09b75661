//! The documents that are open in the editor, and which of them are packages or parts of one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value;
use tplkit::language::{Document, Encoding};
use tplkit::layout::{Folder, INDEX, is_name};
use tplkit::package::Source;

use super::uri;
use super::wire::{self, Refusal};
use crate::cli::folder::OnDisk;
use crate::cli::unpacked_folders;

/// What makes a text a package, wherever in it.
const MARK: &str = "templateVersion";

/// The end of names that say that a file is a package.
const SUFFIX: &str = ".tplkit.json";

/// An open document.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) version: i64,
    pub(super) document: Rc<Document>,
    /// Its path, when it has one.
    path: Option<PathBuf>,
    /// Whether it was a package at any time since it was opened, or is named as one.
    is_package: bool,
}

/// What is checked as one package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// One document, by its URI.
    Document(String),
    /// The files of an unpacked folder.
    Folder(PathBuf),
}

/// All of them, by URI.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<String, Open>);

impl Documents {
    pub(super) fn open(&mut self, uri: &str, version: i64, text: &str) {
        let open = Open {
            version,
            document: Rc::new(Document::new(text)),
            path: uri::path(uri),
            is_package: text.contains(MARK) || uri::name(uri).ends_with(SUFFIX),
        };
        self.0.insert(uri.to_owned(), open);
    }

    /// Makes the changes of one notification, in their order.
    pub(super) fn change(
        &mut self,
        uri: &str,
        version: i64,
        changes: &[Value],
        encoding: Encoding,
    ) -> Result<(), Refusal> {
        let open = self.0.get_mut(uri).ok_or_else(|| not_open(uri))?;
        for change in changes {
            let text = wire::text(change, "/text")?;
            match change.get("range").filter(|range| !range.is_null()) {
                Some(range) => {
                    let range = wire::range(Some(range))?;
                    Rc::make_mut(&mut open.document).replace(range, text, encoding);
                }
                None => open.document = Rc::new(Document::new(text)),
            }
        }
        open.version = version;
        open.is_package |= open.document.text().contains(MARK);
        Ok(())
    }

    pub(super) fn close(&mut self, uri: &str) {
        self.0.remove(uri);
    }

    pub(super) fn get(&self, uri: &str) -> Result<&Open, Refusal> {
        self.0.get(uri).ok_or_else(|| not_open(uri))
    }

    pub(super) fn version(&self, uri: &str) -> Option<i64> {
        Some(self.0.get(uri)?.version)
    }

    /// The open document of a path, with its URI as the editor writes it.
    pub(super) fn at(&self, path: &Path) -> Option<(&str, &Open)> {
        let mut all = self.0.iter();
        all.find(|(_, open)| open.path.as_deref() == Some(path))
            .map(|(uri, open)| (uri.as_str(), open))
    }

    /// The URI of a path: that of the editor, where it has the file open.
    pub(super) fn uri(&self, path: &Path) -> String {
        self.at(path)
            .map_or_else(|| uri::of(path), |(uri, _)| uri.to_owned())
    }

    /// What a document is checked as; nothing for one that is not a package.
    pub(super) fn unit(&self, uri: &str) -> Option<Unit> {
        let open = self.0.get(uri)?;
        if let Some(folder) = open.path.as_deref().and_then(|path| self.folder(path)) {
            return Some(Unit::Folder(folder));
        }
        open.is_package.then(|| Unit::Document(uri.to_owned()))
    }

    /// The open documents of a unit.
    pub(super) fn of<'d>(&'d self, unit: &'d Unit) -> impl Iterator<Item = &'d str> {
        let uris = self.0.keys().map(String::as_str);
        uris.filter(move |uri| self.unit(uri).as_ref() == Some(unit))
    }

    /// The unpacked folder that a file belongs to.
    fn folder(&self, path: &Path) -> Option<PathBuf> {
        let near = path.parent()?;
        let above = near.parent();
        std::iter::once(near).chain(above).find_map(|root| {
            let name = relative(root, path)?;
            let belongs = name == INDEX || is_name(&name);
            let index = root.join(INDEX);
            let is_folder = || unpacked_folders::is_package(root) || self.at(&index).is_some();
            (belongs && is_folder()).then(|| root.to_owned())
        })
    }
}

fn not_open(uri: &str) -> Refusal {
    Refusal::params(format!("the document {uri} is not open"))
}

/// The name of a file in a folder, with `/`.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.iter();
    let parts: Option<Vec<&str>> = parts.map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// A folder as the editor has it: what is open is not read from the disk.
pub(super) struct Overlay<'o> {
    pub(super) root: &'o Path,
    pub(super) documents: &'o Documents,
    /// A text to put in place of one file, for what is still to be written.
    pub(super) instead: Option<(&'o str, &'o str)>,
}

impl Folder for Overlay<'_> {
    fn names(&self) -> io::Result<Vec<String>> {
        // A folder of unsaved files need not be there.
        let mut names = OnDisk(self.root.to_owned()).names().unwrap_or_default();
        let paths = self
            .documents
            .0
            .values()
            .filter_map(|open| open.path.as_deref());
        names.extend(
            paths
                .filter_map(|path| relative(self.root, path))
                .filter(|name| is_name(name)),
        );
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn open(&self, name: &str) -> io::Result<Option<Source>> {
        if let Some((_, text)) = self.instead.filter(|(file, _)| *file == name) {
            return Ok(Some(Source::from_bytes(text.as_bytes().to_vec())));
        }
        match self.documents.at(&self.root.join(name)) {
            Some((_, open)) => {
                let bytes = open.document.text().as_bytes().to_vec();
                Ok(Some(Source::from_bytes(bytes)))
            }
            None => OnDisk(self.root.to_owned()).open(name),
        }
    }
}
