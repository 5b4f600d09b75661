//! A folder as one text that knows, for each of its bytes, the file that it comes from.
//!
//! Goes in: a folder. Comes out: as much of the package as can be put together, as one text for
//! everything that reads packages; and the way back, from bytes of the text to bytes of files, for
//! whoever reports or edits them. The text has the content of the packed file, and not its layout.

use std::ops::Range;

use super::edits;
use super::fault::{LayoutFault, LayoutFaultKind};
use super::files::{Bytes, bare};
use super::index::Lines;
use super::pack::PackError;
use super::splice::{Part, PieceSource, Slot, Spliced, splice};
use super::structure::structure;
use super::{Folder, INDEX};
use crate::finding::{Edit, FileEdit, FileSpan, Fix, Origin};
use crate::package::Source;
use crate::package::canonical::CanonicalError;

/// A package that lies in a folder.
#[derive(Debug)]
pub struct Joined {
    pub(super) text: String,
    pub(super) parts: Vec<Part>,
    pub(super) slots: Vec<Slot>,
    pub(super) files: Vec<JoinedFile>,
    faults: Vec<LayoutFault>,
    whole: bool,
}

/// A file of the folder.
#[derive(Debug)]
pub(super) struct JoinedFile {
    pub(super) name: String,
    pub(super) source: Source,
    /// Its first address: see [`Joined::address`].
    base: usize,
}

impl JoinedFile {
    /// Its bytes without a byte-order mark.
    pub(super) fn bytes(&self) -> &[u8] {
        bare(&self.source)
    }

    /// An edit of it.
    pub(super) fn edit(&self, span: Range<usize>, text: String) -> FileEdit {
        FileEdit {
            file: Some(self.name.clone()),
            mark: self.source.bytes().len() - self.bytes().len(),
            edit: Edit { span, text },
        }
    }
}

/// Joins the files of a folder. Whatever `pack` refuses is among [`Joined::faults`].
///
/// # Errors
/// When there is no index, or a file cannot be read.
pub fn join(folder: &dyn Folder) -> Result<Joined, PackError> {
    let mut bytes = Bytes::read(folder)?;
    let mut faults = std::mem::take(&mut bytes.faults);
    let mut spliced = Spliced::default();
    let mut whole = false;
    if bytes.usable {
        let names: Vec<String> = bytes.sources.iter().map(|(name, _)| name.clone()).collect();
        let index = bytes.sources.iter().find(|(name, _)| name == INDEX);
        let index = index.and_then(|(_, source)| source.text().ok());
        let lines = Lines::of(index.unwrap_or_default());
        let files = bytes.open(&mut faults);
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
        whole,
    })
}

/// Whether a line of rows is not JSON at all.
pub(super) fn is_syntax(error: &CanonicalError) -> bool {
    matches!(error, CanonicalError::Syntax(_))
}

impl Joined {
    /// The package, or as much of it as could be put together; nothing when that is nothing.
    pub fn text(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|text| !text.is_empty())
    }

    /// Whether `pack` would take the folder.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// What `pack` refuses, and [`Joined::text`] does not show: in order of file and place.
    pub fn faults(&self) -> impl Iterator<Item = &LayoutFault> {
        let shown = |fault: &&LayoutFault| fault.kind != LayoutFaultKind::RepeatedKey;
        self.faults.iter().filter(shown)
    }

    /// The bytes at fault as a span for [`Origin::locate`]. Files have addresses after the text.
    pub fn address(&self, fault: &LayoutFault) -> Range<usize> {
        let Some(file) = self.files.iter().find(|file| file.name == fault.name) else {
            return 0..0;
        };
        let span = fault.span.clone().unwrap_or_else(|| {
            let text = std::str::from_utf8(file.bytes()).unwrap_or_default();
            match fault.at {
                Some(at) => Lines::of(text).line(at.line),
                None => 0..0,
            }
        });
        file.base + span.start..file.base + span.end
    }

    /// The byte of the text that stands for a byte of a file (a byte-order mark not counted);
    /// nothing for bytes that are not part of the text.
    pub fn offset(&self, file: &str, at: usize) -> Option<usize> {
        let index = self.files.iter().position(|known| known.name == file)?;
        let holds = |part: &&Part| match part.from {
            PieceSource::Copied(offset) if part.file == index => {
                offset <= at && at <= offset + (self.end_of(part) - part.at)
            }
            _ => false,
        };
        // Of two parts that touch, the byte begins the later one.
        let part = self.parts.iter().rfind(holds)?;
        match part.from {
            PieceSource::Copied(offset) => Some(part.at + (at - offset)),
            PieceSource::Made(_) => None,
        }
    }

    fn find(&self, span: &Range<usize>) -> (usize, Range<usize>) {
        if span.start > self.text.len() {
            let index = self.files.partition_point(|file| file.base <= span.start);
            let index = index.saturating_sub(1);
            let base = self.files.get(index).map_or(0, |file| file.base);
            return (index, span.start - base..span.end.max(span.start) - base);
        }
        let Some(first) = self.part(span.start) else {
            return (0, 0..0);
        };
        let start = match &first.from {
            PieceSource::Made(anchor) => return (first.file, anchor.clone()),
            PieceSource::Copied(offset) => offset + (span.start - first.at),
        };
        let last = self.part(span.end.saturating_sub(1).max(span.start));
        let end = last.and_then(|last| match &last.from {
            PieceSource::Copied(offset) if last.file == first.file => {
                Some(offset + (span.end.max(last.at) - last.at))
            }
            _ => None,
        });
        (first.file, start..end.unwrap_or(start).max(start))
    }

    /// The part that holds a byte; the last one for the end of the text.
    pub(super) fn part(&self, at: usize) -> Option<&Part> {
        let index = self.parts.partition_point(|part| part.at <= at);
        self.parts.get(index.checked_sub(1)?)
    }

    /// The end of a part in the text.
    pub(super) fn end_of(&self, part: &Part) -> usize {
        let index = self.parts.partition_point(|other| other.at <= part.at);
        self.parts
            .get(index)
            .map_or(self.text.len(), |next| next.at)
    }

    /// Changes of the text as changes of files, or nothing when they are none: what holds the
    /// parts together cannot be edited. Entries of a list that change places do so in the index.
    pub fn file_edits(&self, edits: &[&Edit]) -> Option<Vec<FileEdit>> {
        edits::translate(self, edits)
    }

    /// The files that changes make of those that are there, with their byte-order marks.
    pub fn edited(&self, edits: &[FileEdit]) -> Option<Vec<(String, Vec<u8>)>> {
        edits::apply(self, edits)
    }

    /// The bytes of a file, a byte-order mark included.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        let file = self.files.iter().find(|file| file.name == name)?;
        Some(file.source.bytes())
    }

    /// The names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
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
