//! A folder as one text that knows, for each of its bytes, the file that it comes from.
//!
//! Goes in: a folder. Comes out: as much of the package as can be put together, as one text for
//! everything that reads packages; and the way back, from bytes of the text to bytes of files, for
//! what reports or edits them. The text has the content of the packed file, and not its layout.

use std::ops::Range;

use super::edits;
use super::files::Bytes;
use super::index::Lines;
use super::joined::{Joined, JoinedFile};
use super::pack_error::PackError;
use super::splice::{Spliced, splice};
use super::structure::structure;
use super::{Folder, INDEX};
use crate::finding::{Edit, FileEdit, FileSpan, Fix, Origin};
use crate::package::Source;

/// Joins the files of a folder. Whatever `pack` refuses is among [`Joined::faults`].
///
/// # Errors
/// When there is no index, or a file cannot be read.
pub fn join(folder: &dyn Folder) -> Result<Joined, PackError> {
    let mut bytes = Bytes::read(folder)?;
    let mut faults = std::mem::take(&mut bytes.faults);
    let mut spliced = Spliced::default();
    let mut whole = false;
    let mut lost = Vec::new();
    if bytes.usable {
        let names: Vec<String> = bytes.sources.iter().map(|(name, _)| name.clone()).collect();
        let index = bytes.sources.iter().find(|(name, _)| name == INDEX);
        let index = index.and_then(|(_, source)| source.text().ok());
        let lines = Lines::of(index.unwrap_or_default());
        let files = bytes.open(&mut faults);
        let is_lost = |name: &String| !files.has(name);
        lost = bytes.index.files().into_iter().filter(is_lost).collect();
        if let Some(structure) = structure(&bytes, &files, &mut faults) {
            spliced = splice(&structure, &lines, &names);
            whole = faults.is_empty();
        }
    }
    let mut sources = bytes.sources;
    for fault in &faults {
        // A file that is not there, or was not read, is empty to whoever reports it.
        if !sources.iter().any(|(name, _)| *name == fault.name) {
            sources.push((fault.name.clone(), Source::from_bytes(Vec::new())));
        }
    }
    faults.sort_by(|a, b| (&a.name, a.at).cmp(&(&b.name, b.at)));
    let mut base = spliced.text.len() + 1;
    let files = sources.into_iter().map(|(name, source)| {
        let file = JoinedFile { name, source, base };
        base += file.bytes().len() + 1;
        file
    });
    Ok(Joined {
        files: files.collect(),
        text: spliced.text,
        parts: spliced.parts,
        slots: spliced.slots,
        faults,
        lost,
        whole,
    })
}

impl Joined {
    /// Changes of the text as changes of files, or nothing when they are none: what holds the
    /// parts together cannot be edited. Entries of a list that change places do so in the index.
    pub fn file_edits(&self, edits: &[&Edit]) -> Option<Vec<FileEdit>> {
        edits::translate(self, edits)
    }

    /// The files that changes make of those that are there, with their byte-order marks.
    pub fn edited(&self, edits: &[FileEdit]) -> Option<Vec<(String, Vec<u8>)>> {
        edits::apply(self, edits)
    }
}

/// What was written to hold the parts together is stood for by the heading of its list, or by the
/// beginning of `template.json`.
impl Origin for Joined {
    fn locate(&self, span: &Range<usize>) -> FileSpan<'_> {
        let (file, span) = self.find(span);
        let file = self.files.get(file);
        FileSpan {
            file: Some(file.map_or(INDEX, |file| &file.name)),
            bytes: file.map_or(b"", JoinedFile::bytes),
            span,
        }
    }

    fn edits(&self, fix: &Fix) -> Option<Vec<FileEdit>> {
        self.file_edits(&fix.edits.iter().collect::<Vec<_>>())
    }
}
