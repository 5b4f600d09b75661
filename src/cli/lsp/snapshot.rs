//! A package as it is at one moment, with the way from the places of documents to those of its text.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Value, json};
use tplkit::check::OpenedPackage;
use tplkit::finding::{FileEdit, LocatedReport, Origin as _};
use tplkit::json::Doc;
use tplkit::language::{Document, Encoding, Position};
use tplkit::layout;
use tplkit::package::Source;

use super::documents::{Documents, Overlay, Unit, relative};
use super::rules::Rules;
use super::wire::{self, Refusal};

/// The bytes of a unit.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) unit: Unit,
    pub(super) opened: OpenedPackage,
    /// What holds for it.
    pub(super) rules: Rules,
}

impl Snapshot {
    /// Takes the bytes of a unit; nothing when its folder has no readable index.
    pub(super) fn take(documents: &Documents, unit: &Unit) -> Option<Snapshot> {
        let opened = match unit {
            Unit::Document(uri) => {
                let text = documents.get(uri).ok()?.document.text();
                OpenedPackage::File(Source::from_bytes(text.as_bytes().to_vec()))
            }
            Unit::Folder(root) => {
                let overlay = Overlay {
                    root,
                    documents,
                    instead: None,
                };
                OpenedPackage::Folder(Box::new(layout::join(&overlay).ok()?))
            }
        };
        Some(Snapshot {
            unit: unit.clone(),
            opened,
            rules: Rules::of(documents, unit),
        })
    }

    /// How many bytes a check reads.
    pub(super) fn size(&self) -> usize {
        self.opened.bytes().len()
    }

    /// What `tplkit check` says of it.
    pub(super) fn check(&self, threads: usize) -> LocatedReport {
        let mut report = self.opened.check(&self.rules.options(threads));
        self.rules.select(&mut report.findings);
        let mut report = LocatedReport::new(&self.opened, report);
        self.rules.suppress(&mut report.findings);
        report
    }

    /// Parses it.
    pub(super) fn parse(&self) -> Result<Doc<'_>, Refusal> {
        let parsed = self.opened.text().and_then(Doc::parse_package);
        parsed.map_err(|error| Refusal::failed(format!("the package cannot be read: {error}")))
    }

    /// Every file, relative to the folder; nothing names the one document.
    pub(super) fn files(&self) -> Vec<Option<&str>> {
        match &self.opened {
            OpenedPackage::File(_) => vec![None],
            OpenedPackage::Folder(joined) => joined.names().map(Some).collect(),
        }
    }

    fn root(&self) -> Option<&Path> {
        match &self.unit {
            Unit::Folder(root) => Some(root),
            Unit::Document(_) => None,
        }
    }

    /// The path of a file of the folder.
    pub(super) fn path(&self, file: &str) -> Option<PathBuf> {
        Some(self.root()?.join(file))
    }
}

/// A snapshot seen through the documents that it was taken of.
pub(super) struct View<'v> {
    pub(super) snapshot: &'v Snapshot,
    pub(super) documents: &'v Documents,
    pub(super) encoding: Encoding,
    /// Files that are not open, read once.
    read: RefCell<BTreeMap<Option<String>, Rc<Document>>>,
}

impl<'v> View<'v> {
    pub(super) fn new(
        snapshot: &'v Snapshot,
        documents: &'v Documents,
        encoding: Encoding,
    ) -> View<'v> {
        View {
            snapshot,
            documents,
            encoding,
            read: RefCell::default(),
        }
    }

    /// The URI of a file.
    pub(super) fn uri(&self, file: Option<&str>) -> String {
        match (&self.snapshot.unit, file) {
            (Unit::Document(uri), _) => uri.clone(),
            (Unit::Folder(root), file) => self
                .documents
                .uri(&root.join(file.unwrap_or(layout::INDEX))),
        }
    }

    /// The text of a file with its lines, and how many bytes its byte-order mark has.
    pub(super) fn document(&self, file: Option<&str>) -> (Rc<Document>, usize) {
        let document = if let Ok(open) = self.documents.get(&self.uri(file)) {
            Rc::clone(&open.document)
        } else {
            let mut read = self.read.borrow_mut();
            let read = read.entry(file.map(str::to_owned));
            Rc::clone(read.or_insert_with(|| Rc::new(self.unopened(file))))
        };
        let mark = mark(&document);
        (document, mark)
    }

    fn unopened(&self, file: Option<&str>) -> Document {
        let bytes = match (&self.snapshot.opened, file) {
            (OpenedPackage::Folder(joined), Some(file)) => joined.file(file).unwrap_or_default(),
            (opened, _) => opened.bytes(),
        };
        Document::new(String::from_utf8_lossy(bytes))
    }

    /// The byte of the package's text at a place of a document.
    pub(super) fn offset(&self, uri: &str, at: Position) -> Option<usize> {
        let document = &self.documents.get(uri).ok()?.document;
        let mark = mark(document);
        let offset = document.offset(at, self.encoding).saturating_sub(mark);
        match (&self.snapshot.opened, self.snapshot.root()) {
            (OpenedPackage::Folder(joined), Some(root)) => {
                let path = super::uri::path(uri)?;
                joined.offset(&relative(root, &path)?, offset)
            }
            _ => Some(offset),
        }
    }

    /// Bytes of a file as a range.
    pub(super) fn range(&self, file: Option<&str>, span: &Range<usize>) -> Value {
        let (document, mark) = self.document(file);
        let span = span.start + mark..span.end + mark;
        wire::range_json(&document, &span, self.encoding)
    }

    /// Bytes of the package's text as URI and range.
    pub(super) fn location(&self, span: &Range<usize>) -> Value {
        let place = self.snapshot.opened.locate(span);
        json!({"uri": self.uri(place.file), "range": self.range(place.file, &place.span)})
    }

    /// Edits of files as edits of documents, by URI.
    pub(super) fn edits(&self, edits: &[FileEdit]) -> BTreeMap<String, Vec<Value>> {
        let mut by_uri: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let mut by_file: BTreeMap<Option<&str>, Vec<&FileEdit>> = BTreeMap::new();
        for edit in edits {
            by_file.entry(edit.file.as_deref()).or_default().push(edit);
        }
        for (file, edits) in by_file {
            let (document, mark) = self.document(file);
            let edits = edits.into_iter().map(|edit| {
                let span = edit.edit.span.start + mark..edit.edit.span.end + mark;
                json!({
                    "range": wire::range_json(&document, &span, self.encoding),
                    "newText": edit.edit.text,
                })
            });
            by_uri.insert(self.uri(file), edits.collect());
        }
        by_uri
    }
}

/// Bytes of the byte-order mark, which the offsets of findings do not count.
pub(super) fn mark(document: &Document) -> usize {
    if document.text().starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    }
}
