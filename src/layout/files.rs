//! The files of a folder, read: the index, what it names, and everything that is wrong with them.

use std::collections::BTreeSet;

use super::fault::{LayoutFault, LayoutFaultKind};
use super::index::unit_of_rows;
use super::name::is_rows;
use super::pack_error::PackError;
use super::{Folder, INDEX, Index, is_name};
use crate::json::{Anomaly, Doc, SyntaxError, SyntaxKind};
use crate::package::Source;
use crate::package::canonical::{CanonicalError, check_lines};

/// The bytes of a folder.
#[derive(Debug)]
pub(super) struct Bytes {
    pub(super) index: Index,
    /// The index and every file that it names, in order of name; only files that are there.
    pub(super) sources: Vec<(String, Source)>,
    /// What is wrong with the index, and with what lies next to it.
    pub(super) faults: Vec<LayoutFault>,
    /// Whether the index can be followed.
    pub(super) usable: bool,
    /// Whether each of its lines was understood: only then is what no line names left over.
    pub(super) understood: bool,
}

impl Bytes {
    /// Reads a folder; fails only where a file cannot be read.
    pub(super) fn read(folder: &dyn Folder) -> Result<Bytes, PackError> {
        let open = |name: &str| {
            folder.open(name).map_err(|source| PackError::Read {
                name: name.to_owned(),
                source,
            })
        };
        let source = open(INDEX)?.ok_or(PackError::NoIndex)?;
        let (index, faults) = match source.text() {
            Ok(text) => Index::read(text),
            Err(error) => {
                let at = error.offset..error.offset;
                let fault = LayoutFault::span(INDEX, bare(&source), at, error.to_string());
                (Index::default(), vec![fault])
            }
        };
        let mut bytes = Bytes {
            understood: faults.is_empty(),
            usable: !index.unfinished && (faults.is_empty() || !index.lists.is_empty()),
            index,
            sources: vec![(INDEX.to_owned(), source)],
            faults,
        };
        if bytes.index.unfinished {
            bytes.faults.push(LayoutFault::line(
                1,
                "the folder is between two states: an `unpack` into it was interrupted; run it again with `--force`",
            ));
        }
        if !bytes.usable {
            return Ok(bytes);
        }
        let names = folder.names().map_err(|source| PackError::Read {
            name: ".".to_owned(),
            source,
        })?;
        bytes.faults.extend(foreign(&names, &bytes.index));
        for name in bytes.index.files() {
            match open(&name)? {
                Some(source) => bytes.sources.push((name, source)),
                None => bytes.faults.push(missing(&name, &bytes.index)),
            }
        }
        bytes.sources.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(bytes)
    }

    /// Parses the files.
    pub(super) fn open<'s>(&'s self, faults: &mut Vec<LayoutFault>) -> ParsedFiles<'s> {
        let mut opened = ParsedFiles::default();
        for (name, source) in self.sources.iter().filter(|(name, _)| name != INDEX) {
            opened.open(name, source, faults);
        }
        opened
    }
}

/// The bytes without a byte-order mark, text or not.
pub(super) fn bare(source: &Source) -> &[u8] {
    crate::finding::position::without_mark(source.bytes())
}

/// Files of the layout that the index does not name.
fn foreign(names: &[String], index: &Index) -> Vec<LayoutFault> {
    let known: BTreeSet<String> = index.files().into_iter().collect();
    let foreign = names
        .iter()
        .filter(|name| is_name(name) && !known.contains(*name));
    foreign
        .map(|name| {
            LayoutFault::file(
                name,
                format!(
                    "`{INDEX}` does not name it: add it to the lists it belongs to, or remove it"
                ),
            )
        })
        .collect()
}

/// A file that is named and not there.
fn missing(name: &str, index: &Index) -> LayoutFault {
    let named = index.lists.iter().flat_map(|(_, entries)| entries);
    let line = named
        .filter(|entry| entry.name == name || unit_of_rows(&entry.name).as_deref() == Some(name))
        .map(|entry| entry.line)
        .next();
    match line {
        Some(line) => LayoutFault::line(line, format!("there is no file `{name}`")),
        None => LayoutFault::file(name, "there is no such file"),
    }
}

/// The files that could be parsed.
#[derive(Debug, Default)]
pub(super) struct ParsedFiles<'s> {
    /// JSON files by name.
    pub(super) docs: Vec<(&'s str, Doc<'s>)>,
    /// Files of rows by name.
    pub(super) rows: Vec<(&'s str, &'s str)>,
}

impl<'s> ParsedFiles<'s> {
    fn open(&mut self, name: &'s str, source: &'s Source, faults: &mut Vec<LayoutFault>) {
        let text = match source.text() {
            Ok(text) => text,
            Err(error) => {
                faults.push(fault(name, bare(source), &error.into()));
                return;
            }
        };
        if is_rows(name) {
            let errors = check_lines(text);
            faults.extend(
                errors
                    .iter()
                    .map(|(_, error)| fault(name, text.as_bytes(), error)),
            );
            self.rows.push((name, text));
            return;
        }
        match Doc::parse(text) {
            Ok(doc) => {
                faults.extend(repeated(name, &doc));
                self.docs.push((name, doc));
            }
            Err(error) => faults.push(fault(name, text.as_bytes(), &error.into())),
        }
    }

    /// A JSON file.
    pub(super) fn doc(&self, name: &str) -> Option<&(&'s str, Doc<'s>)> {
        let at = self.docs.binary_search_by(|(known, _)| (*known).cmp(name));
        self.docs.get(at.ok()?)
    }

    /// Whether anything is known of a file.
    pub(super) fn has(&self, name: &str) -> bool {
        let doc = self.doc(name);
        self.rows(name).is_some() || doc.is_some_and(|(_, doc)| doc.root().is_object())
    }

    /// A file of rows, with the name that lives as long as it.
    pub(super) fn rows(&self, name: &str) -> Option<(&'s str, &'s str)> {
        let at = self.rows.binary_search_by(|(known, _)| (*known).cmp(name));
        self.rows.get(at.ok()?).copied()
    }
}

/// Keys that stand twice in one object of a file.
fn repeated(name: &str, doc: &Doc<'_>) -> Vec<LayoutFault> {
    let keys = doc.anomalies().iter().filter_map(|anomaly| match anomaly {
        Anomaly::DuplicateKey(id) => Some(doc.node(*id)),
        _ => None,
    });
    let faults = keys.map(|member| {
        let key = member.key().unwrap_or_default();
        let message = format!("the key {key:?} appears twice in one object");
        let kind = if member.parent() == Some(doc.root()) {
            LayoutFaultKind::RepeatedPart
        } else {
            LayoutFaultKind::RepeatedKey
        };
        LayoutFault::span(name, doc.text().as_bytes(), member.key_span(), message).kind(kind)
    });
    faults.collect()
}

fn fault(name: &str, text: &[u8], error: &CanonicalError) -> LayoutFault {
    match error {
        // On a line of rows the whole file is not what ends.
        CanonicalError::Syntax(SyntaxError { offset, kind }) => {
            let message = match kind {
                SyntaxKind::UnexpectedEnd if is_rows(name) => {
                    "the line ends in the middle of a row".to_owned()
                }
                SyntaxKind::TrailingText if is_rows(name) => {
                    "text after the row: one line holds one row".to_owned()
                }
                kind => kind.to_string(),
            };
            LayoutFault::span(name, text, *offset..*offset, message).kind(LayoutFaultKind::Syntax)
        }
        CanonicalError::DuplicateKey { span, .. } => {
            let fault = LayoutFault::span(name, text, span.clone(), error.to_string());
            fault.kind(LayoutFaultKind::RepeatedKey)
        }
        other => LayoutFault::file(name, other.to_string()),
    }
}
