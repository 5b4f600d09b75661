//! The text of a folder, with the way from its bytes to those of the files and back.

use std::ops::Range;

use super::fault::{LayoutFault, LayoutFaultKind};
use super::files::bare;
use super::index::Lines;
use super::splice::{Part, PieceSource, Slot};
use super::unread::UNREAD_ROW;
use crate::finding::{Edit, FileEdit};
use crate::package::Source;

/// A package that lies in a folder.
#[derive(Debug)]
pub struct Joined {
    pub(super) text: String,
    pub(super) parts: Vec<Part>,
    pub(super) slots: Vec<Slot>,
    pub(super) files: Vec<JoinedFile>,
    pub(super) faults: Vec<LayoutFault>,
    /// Files that the index names and of which nothing is known.
    pub(super) lost: Vec<String>,
    pub(super) whole: bool,
}

/// A file of the folder.
#[derive(Debug)]
pub(super) struct JoinedFile {
    pub(super) name: String,
    pub(super) source: Source,
    /// Its first address: see [`Joined::address`].
    pub(super) base: usize,
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

    /// The bytes at fault as a span for [`Origin::locate`](crate::finding::Origin::locate). Files have addresses after
    /// the text.
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

    /// The names of the files that the index names and that could not be read: they are not there, or not JSON. A file
    /// of rows of which some are JSON is none of them.
    pub fn lost(&self) -> impl Iterator<Item = &str> {
        self.lost.iter().map(String::as_str)
    }

    /// Whether what begins at that byte of the text stands for a row that is not JSON.
    pub fn is_unread_row(&self, at: usize) -> bool {
        self.part(at).is_some_and(|part| {
            let made = matches!(part.from, PieceSource::Made(_));
            made && part.at == at && self.text[at..self.end_of(part)] == *UNREAD_ROW
        })
    }

    pub(super) fn find(&self, span: &Range<usize>) -> (usize, Range<usize>) {
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
