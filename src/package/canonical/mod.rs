//! Canonical writing: the same content gives the same bytes, whoever wrote the file.
//!
//! | What | How |
//! |---|---|
//! | objects of the format | fields in the order of the shape tables of `package::format`, then unknown keys by code point |
//! | every other object | keys by code point: configs, vocabulary, branches inside configs, cells |
//! | a row's `data` and `refs` | keys in the order of the entry's `columns`, then by code point |
//! | lists | in their order |
//! | numbers | with the digits they were written with |
//! | strings | with the shortest escapes, everything else as UTF-8 |
//! | declared refs | without the dollar that readers tolerate |
//! | layout | two spaces per level, one member or element per line, `[]` and `{}`; each payload row on one line; LF, a final one too; no byte-order mark |
//!
//! Configs are not put in the order of the definitions registry on purpose: a newer registry
//! would then rewrite files whose content is the same. A list of words stays one per line, so
//! that adding one changes one line of a diff; a row is one line for the same reason.
//!
//! In: text of any size. Rows are streamed one by one and never held as a tree.
//! A repeated key is refused, because dropping either member would lose what someone wrote.

mod copy;
mod order;
mod row;
mod value;
mod writer;

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::format::{ENVELOPE, MANIFEST, Shape};
use crate::json::{Anomaly, Doc, Node, SyntaxError, validate};

pub(crate) use order::Columns;
pub(crate) use row::{check_lines, lines, write_cell, write_lines};
pub(crate) use value::{Value, View};
pub(crate) use writer::{ROWS_IN_ENTRY, Writer, declared};

/// Why a text has no canonical form, or could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalError {
    /// It is not JSON.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// It is JSON, and no package: no object, or no `templateVersion` in the manifest.
    #[error("not a template package: the manifest has no `templateVersion`")]
    NotAPackage,
    /// A key appears twice in one object (J002): which of the two counts is for people to say.
    #[error("the key {key:?} appears twice in one object")]
    DuplicateKey {
        /// The key, decoded.
        key: String,
        /// JSON Pointer of the second member.
        pointer: String,
        /// Bytes of the second key in the text (a byte-order mark not counted).
        span: Range<usize>,
    },
    /// The output could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// The canonical form of a package file (an envelope or a bare manifest).
///
/// Writing the result again gives the same bytes. As everywhere in this library, the text comes
/// without the byte-order mark that a file may begin with.
///
/// ```
/// let text = r#"{"plan": {}, "templateVersion": 1}"#;
/// let canonical = tplkit::package::canonical::write(text)?;
/// assert_eq!(canonical, "{\n  \"templateVersion\": 1,\n  \"plan\": {}\n}\n");
/// # Ok::<(), tplkit::package::canonical::CanonicalError>(())
/// ```
pub fn write(text: &str) -> Result<String, CanonicalError> {
    let mut writer = Writer::gathering(text.len() + text.len() / 8);
    write_package(text, &mut writer)?;
    Ok(writer.finish()?)
}

/// Writes the canonical form to `sink` piece by piece, holding no more than the manifest and a
/// row in memory next to the text.
///
/// When it fails, the sink may hold a part of the output: write next to a file, then rename.
pub fn write_to(text: &str, sink: &mut dyn io::Write) -> Result<(), CanonicalError> {
    let mut writer = Writer::streaming(sink);
    write_package(text, &mut writer)?;
    writer.finish()?;
    Ok(())
}

/// The canonical form of a package file, which is not copied when it is written so already.
pub(crate) fn of(text: &str) -> Result<Cow<'_, str>, CanonicalError> {
    let mut same = CommonPrefix(text.as_bytes());
    if write_to(text, &mut same).is_ok() && same.0.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    write(text).map(Cow::Owned)
}

/// The canonical form of a payload entry of an envelope that was read by [`Doc::parse_package`], as it is in
/// the canonical form of the envelope. One that is written so already is not copied, however large it is.
pub fn entry(entry: Node<'_>) -> Result<Cow<'_, str>, CanonicalError> {
    let mut same = CommonPrefix(entry.raw().as_bytes());
    let mut writer = Writer::streaming(&mut same);
    let written = writer.entry(entry);
    let ended = written.and_then(|()| Ok(writer.finish()?));
    match ended {
        Ok(_) if same.0.is_empty() => return Ok(Cow::Borrowed(entry.raw())),
        // It differs; what is really wrong with it is reported below.
        Ok(_) | Err(_) => {}
    }
    let length = entry.raw().len();
    let mut writer = Writer::gathering(length + length / 8);
    writer.entry(entry)?;
    Ok(Cow::Owned(writer.finish()?))
}

/// Takes what begins with what is left of a text, and nothing else.
pub(crate) struct CommonPrefix<'t>(pub(crate) &'t [u8]);

impl io::Write for CommonPrefix<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.0.strip_prefix(bytes);
        self.0 = rest.ok_or_else(|| io::Error::other("another text"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the unread `rows` of an entry, one per line.
pub(crate) fn write_rows_as_lines(
    rows: Node<'_>,
    columns: &Columns<'_>,
    sink: &mut dyn io::Write,
) -> Result<(), CanonicalError> {
    let mut writer = Writer::streaming_lines(sink);
    if row::write_rows(rows, &mut writer, columns)? {
        writer.end_line();
    }
    writer.finish()?;
    Ok(())
}

/// Writes rows that stand one per line, one per line.
pub(crate) fn write_lines_as_lines(
    text: &str,
    columns: &Columns<'_>,
    sink: &mut dyn io::Write,
) -> Result<(), CanonicalError> {
    let mut writer = Writer::streaming_lines(sink);
    if write_lines(text, &mut writer, columns)? {
        writer.end_line();
    }
    writer.finish()?;
    Ok(())
}

fn write_package(text: &str, writer: &mut Writer<'_>) -> Result<(), CanonicalError> {
    let (doc, shape) = read(text)?;
    writer.root(doc.root(), shape)
}

/// Reads a package file as it is written: the tree without repeated keys (rows, which are unread,
/// aside), and the shape of its root.
pub(crate) fn read(text: &str) -> Result<(Doc<'_>, &'static Shape), CanonicalError> {
    let mut doc = Doc::parse_package(text).map_err(|error| {
        // Unread rows may hide an earlier error than the one that ended the tree.
        validate(text).err().unwrap_or(error)
    })?;
    let Some(shape) = package_shape(doc.root()) else {
        validate(text)?;
        return Err(CanonicalError::NotAPackage);
    };
    if std::ptr::eq(shape, &raw const MANIFEST) && doc.root().get("payloads").is_some() {
        // A bare manifest has no payloads; what is called so is an unknown field like others.
        doc = Doc::parse(text)?;
    }
    if let Some(error) = duplicate_key(&doc) {
        // What is not JSON at all has no repeated keys to speak of.
        validate(text)?;
        return Err(error);
    }
    Ok((doc, shape))
}

/// The shape of a package's root; nothing when it is not a package.
pub(crate) fn package_shape(root: Node<'_>) -> Option<&'static Shape> {
    let manifest = root.get("manifest");
    manifest.unwrap_or(root).get("templateVersion")?;
    Some(if manifest.is_some() {
        &ENVELOPE
    } else {
        &MANIFEST
    })
}

/// The first repeated key of the tree, rows aside.
pub(crate) fn duplicate_key(doc: &Doc<'_>) -> Option<CanonicalError> {
    let repeated = doc.anomalies().iter().filter_map(|anomaly| match anomaly {
        Anomaly::DuplicateKey(id) => Some(doc.node(*id)),
        _ => None,
    });
    repeated
        .min_by_key(|member| member.key_span().start)
        .map(|member| CanonicalError::DuplicateKey {
            key: member.key().unwrap_or_default().to_owned(),
            pointer: member.pointer(),
            span: member.key_span(),
        })
}
