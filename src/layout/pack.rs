//! Packs files into a package, and reports everything that is wrong with them.

use std::collections::BTreeSet;
use std::io;

use super::assemble::assemble;
use super::index::unit_of_rows;
use super::name::is_rows;
use super::piece::Handle;
use super::problem::Problem;
use super::{Folder, INDEX, Index, TEMPLATE, is_name};
use crate::json::{Anomaly, Doc, SyntaxError, SyntaxKind};
use crate::package::Source;
use crate::package::canonical::{CanonicalError, Writer, check_lines};

/// Why a folder could not be packed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// It has no index: it was not unpacked here, or not to the end.
    #[error("it holds no unpacked package: there is no `{INDEX}`")]
    NoIndex,
    /// Files are missing, foreign or malformed.
    #[error("{} of the folder cannot be packed", counted(.0.len()))]
    Problems(Vec<Problem>),
    /// A file could not be read.
    #[error("cannot read `{name}`: {source}")]
    Read {
        /// The file.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The output could not be written.
    #[error(transparent)]
    Write(io::Error),
}

fn counted(problems: usize) -> String {
    match problems {
        1 => "one place".to_owned(),
        many => format!("{many} places"),
    }
}

/// Writes the package of a folder in canonical form. Rows are streamed from their files.
///
/// All problems of all files are gathered; nothing is written unless there are none.
pub fn pack(folder: &dyn Folder, sink: &mut dyn io::Write) -> Result<(), PackError> {
    let read = |name: &str| {
        folder.open(name).map_err(|source| PackError::Read {
            name: name.to_owned(),
            source,
        })
    };
    let index = read(INDEX)?.ok_or(PackError::NoIndex)?;
    let text = index
        .text()
        .map_err(|error| PackError::Problems(vec![Problem::file(INDEX, error.to_string())]))?;
    let (index, mut problems) = Index::read(text);
    if index.unfinished {
        problems.push(Problem::line(
            1,
            "the folder is between two states: an `unpack` into it was interrupted; run it again with `--force`",
        ));
        return Err(PackError::Problems(problems));
    }
    let names = folder.names().map_err(|source| PackError::Read {
        name: ".".to_owned(),
        source,
    })?;
    problems.extend(foreign(&names, &index));

    let mut sources = Vec::new();
    for name in index.files() {
        match read(&name)? {
            Some(source) => sources.push((name, source)),
            None => problems.push(missing(&name, &index)),
        }
    }
    let mut files = Opened::default();
    for (name, source) in &sources {
        files.open(name, source, &mut problems);
    }
    if problems.is_empty() {
        let piece = assemble(&index, &files, &mut problems);
        if let (Some((piece, shape)), true) = (piece, problems.is_empty()) {
            let mut writer = Writer::streaming(sink);
            return writer
                .root(Handle::of(&piece), shape)
                .and_then(|()| Ok(writer.finish()?))
                .map(drop)
                .map_err(|error| match error {
                    CanonicalError::Write(error) => PackError::Write(error),
                    other => PackError::Problems(vec![Problem::file(TEMPLATE, other.to_string())]),
                });
        }
    }
    problems.sort_by(|a, b| (&a.name, a.at).cmp(&(&b.name, b.at)));
    Err(PackError::Problems(problems))
}

/// Files of the layout that the index does not name.
fn foreign(names: &[String], index: &Index) -> Vec<Problem> {
    let known: BTreeSet<String> = index.files().into_iter().collect();
    let foreign = names
        .iter()
        .filter(|name| is_name(name) && !known.contains(*name));
    foreign
        .map(|name| {
            Problem::file(
                name,
                format!(
                    "`{INDEX}` does not name it: add it to the lists it belongs to, or remove it"
                ),
            )
        })
        .collect()
}

/// A file that is named and not there.
fn missing(name: &str, index: &Index) -> Problem {
    let named = index.lists.iter().flat_map(|(_, entries)| entries);
    let line = named
        .filter(|entry| entry.name == name || unit_of_rows(&entry.name).as_deref() == Some(name))
        .map(|entry| entry.line)
        .next();
    match line {
        Some(line) => Problem::line(line, format!("there is no file `{name}`")),
        None => Problem::file(name, "there is no such file"),
    }
}

/// The files that could be read.
#[derive(Debug, Default)]
pub(super) struct Opened<'s> {
    /// JSON files by name.
    pub(super) docs: Vec<(&'s str, Doc<'s>)>,
    /// Files of rows by name.
    pub(super) rows: Vec<(&'s str, &'s str)>,
}

impl<'s> Opened<'s> {
    fn open(&mut self, name: &'s str, source: &'s Source, problems: &mut Vec<Problem>) {
        let text = match source.text() {
            Ok(text) => text,
            Err(error) => return problems.push(Problem::file(name, error.to_string())),
        };
        if is_rows(name) {
            let errors = check_lines(text);
            problems.extend(errors.iter().map(|error| problem(name, text, error)));
            self.rows.push((name, text));
            return;
        }
        match Doc::parse(text) {
            Ok(doc) => {
                let repeated = doc.anomalies().iter().filter_map(|anomaly| match anomaly {
                    Anomaly::DuplicateKey(id) => Some(doc.node(*id)),
                    _ => None,
                });
                problems.extend(repeated.map(|member| {
                    let key = member.key().unwrap_or_default();
                    let message = format!("the key {key:?} stands twice in one object");
                    Problem::offset(name, text, member.key_span().start, message)
                }));
                self.docs.push((name, doc));
            }
            Err(error) => problems.push(problem(name, text, &error.into())),
        }
    }

    /// A JSON file.
    pub(super) fn doc(&self, name: &str) -> Option<&(&'s str, Doc<'s>)> {
        let at = self.docs.binary_search_by(|(known, _)| (*known).cmp(name));
        self.docs.get(at.ok()?)
    }

    /// A file of rows.
    pub(super) fn rows(&self, name: &str) -> Option<&'s str> {
        let at = self.rows.binary_search_by(|(known, _)| (*known).cmp(name));
        Some(self.rows.get(at.ok()?)?.1)
    }
}

fn problem(name: &str, text: &str, error: &CanonicalError) -> Problem {
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
            Problem::offset(name, text, *offset, message)
        }
        CanonicalError::DuplicateKey { span, .. } => {
            Problem::offset(name, text, span.start, error.to_string())
        }
        other => Problem::file(name, other.to_string()),
    }
}
