//! One text out of the parts of a folder.
//!
//! Every part is copied as it stands in its file, white space and all; only what holds the parts
//! together (brackets and keys of the lists, commas) is written anew. So a byte of the text that
//! was copied leads back to one byte of a file, and an edit of the text is an edit of a file.

use std::ops::Range;

use super::index::Lines;
use super::structure::{FolderPackage, Holder, SplitElement, SplitList};
use super::unread::UNREAD_ROW;
use super::{INDEX, TEMPLATE};
use crate::json::{Node, write_string};
use crate::package::canonical::{CanonicalError, check_lines, lines};
use crate::package::format::{ENTRY, ENVELOPE, MANIFEST, PLAN, Shape};

/// A text with the way back.
#[derive(Debug, Default)]
pub(super) struct Spliced {
    pub(super) text: String,
    /// In order, without gaps.
    pub(super) parts: Vec<Part>,
    /// The entries of the lists, in the order of the text.
    pub(super) slots: Vec<Slot>,
}

/// A piece of the text.
#[derive(Debug)]
pub(super) struct Part {
    /// Where it begins in the text.
    pub(super) at: usize,
    /// The file, as a number.
    pub(super) file: usize,
    pub(super) from: PieceSource,
}

/// Where a piece comes from.
#[derive(Debug)]
pub(super) enum PieceSource {
    /// From this byte of the file on, byte for byte.
    Copied(usize),
    /// Written anew; these bytes of the file stand for it.
    Made(Range<usize>),
}

/// An entry of a list.
#[derive(Debug)]
pub(super) struct Slot {
    /// Its bytes in the text.
    pub(super) span: Range<usize>,
    /// The file that holds it, and its bytes there.
    pub(super) file: usize,
    pub(super) inside: Range<usize>,
    /// Whether another file holds a part of it.
    pub(super) divided: bool,
    /// The list, by the place of its heading, and the line of the index that names the entry.
    pub(super) heading: usize,
    pub(super) line: Range<usize>,
}

/// Splices a package. `names` are the files, in order, the index among them.
pub(super) fn splice(
    structure: &FolderPackage<'_>,
    lines: &Lines<'_>,
    names: &[String],
) -> Spliced {
    let mut splicer = Splicer {
        names,
        lines,
        out: Spliced::default(),
    };
    splicer.package(structure);
    splicer.out
}

struct Splicer<'n> {
    names: &'n [String],
    lines: &'n Lines<'n>,
    out: Spliced,
}

/// Bytes of a file that stand for something written anew.
struct Anchor {
    /// The file, as a number.
    file: usize,
    range: Range<usize>,
}

/// A member that a file does not have.
struct Insert<'i, 'p> {
    key: &'static str,
    /// The bytes that stand for it in a file.
    anchor: Anchor,
    what: SpliceContent<'i, 'p>,
}

enum SpliceContent<'i, 'p> {
    List(&'i SplitList<'p>),
    Manifest(&'i FolderPackage<'p>),
    Rows(&'p str),
}

/// An object that is copied, with members in between.
struct Split<'i, 'p> {
    file: usize,
    node: Node<'p>,
    shape: &'static Shape,
    /// In the order of the shape.
    inserts: Vec<Insert<'i, 'p>>,
    /// A member that is split itself.
    inner: Option<Box<Split<'i, 'p>>>,
    /// The bytes that stand for its braces, when they do not stand for themselves.
    braces: Option<Anchor>,
}

impl<'p> Splicer<'_> {
    fn file(&self, name: &str) -> usize {
        let found = self
            .names
            .binary_search_by(|known| known.as_str().cmp(name));
        found.unwrap_or_default()
    }

    fn copy(&mut self, file: usize, text: &str, span: Range<usize>) {
        let part = text.get(span.clone()).unwrap_or_default();
        if !part.is_empty() {
            self.out.parts.push(Part {
                at: self.out.text.len(),
                file,
                from: PieceSource::Copied(span.start),
            });
            self.out.text.push_str(part);
        }
    }

    fn make(&mut self, text: &str, anchor: &Anchor) {
        if !text.is_empty() {
            self.out.parts.push(Part {
                at: self.out.text.len(),
                file: anchor.file,
                from: PieceSource::Made(anchor.range.clone()),
            });
            self.out.text.push_str(text);
        }
    }

    fn package(&mut self, structure: &FolderPackage<'p>) {
        let Some(file) = structure.file else {
            let manifest = self.manifest(structure);
            return self.split(&manifest);
        };
        let template = self.file(TEMPLATE);
        let mut inserts = vec![Insert {
            key: "manifest",
            anchor: Anchor {
                file: template,
                range: structure.manifest.key_span(),
            },
            what: SpliceContent::Manifest(structure),
        }];
        inserts.extend(self.lists(structure, Holder::File));
        self.split(&Split {
            file: template,
            node: file,
            shape: &ENVELOPE,
            inserts,
            inner: None,
            braces: Some(Anchor {
                file: template,
                range: 0..0,
            }),
        });
    }

    fn manifest<'i>(&self, structure: &'i FolderPackage<'p>) -> Split<'i, 'p> {
        let file = self.file(TEMPLATE);
        let plan = structure.plan().map(|plan| Split {
            file,
            node: plan,
            shape: &PLAN,
            inserts: self.lists(structure, Holder::Plan),
            inner: None,
            braces: None,
        });
        Split {
            file,
            node: structure.manifest,
            shape: &MANIFEST,
            inserts: self.lists(structure, Holder::Manifest),
            inner: plan.map(Box::new),
            braces: None,
        }
    }

    fn lists<'i>(&self, structure: &'i FolderPackage<'p>, holder: Holder) -> Vec<Insert<'i, 'p>> {
        let index = self.file(INDEX);
        let inserts = structure.lists_of(holder).map(|list| Insert {
            key: list.section.as_str(),
            anchor: Anchor {
                file: index,
                range: self.lines.heading(list.section),
            },
            what: SpliceContent::List(list),
        });
        inserts.collect()
    }

    fn split(&mut self, object: &Split<'_, 'p>) {
        let (node, file) = (object.node, object.file);
        let (text, span) = (node.text(), node.span());
        let members: Vec<Node<'p>> = node.members().collect();
        let gap = members.first().map_or(" ", |first| {
            text.get(span.start + 1..first.key_span().start)
                .unwrap_or(" ")
        });
        let mut copied = span.start;
        if let Some(braces) = &object.braces {
            self.make("{", braces);
            copied += 1;
        }
        let mut inserts = object.inserts.iter().peekable();
        // The end of what stands before, and whether something does.
        let (mut end, mut any) = (span.start + 1, false);
        for member in &members {
            let rank = rank(object.shape, member.key().unwrap_or_default());
            let mut front = None;
            while let Some(insert) =
                inserts.next_if(|insert| self::rank(object.shape, insert.key) < rank)
            {
                self.copy(file, text, copied..end);
                copied = end.max(copied);
                self.insert(insert, any, gap);
                front = Some(&insert.anchor).filter(|_| end == span.start + 1);
                any = true;
            }
            if let Some(anchor) = front {
                self.make(",", anchor);
            }
            if let Some(inner) = object.inner.as_ref().filter(|inner| inner.node == *member) {
                self.copy(file, text, copied..member.span().start);
                self.split(inner);
                copied = member.span().end;
            }
            (end, any) = (member.span().end, true);
        }
        for insert in inserts {
            self.copy(file, text, copied..end);
            copied = end.max(copied);
            self.insert(insert, any, gap);
            any = true;
        }
        match &object.braces {
            Some(braces) => {
                self.copy(file, text, copied..span.end - 1);
                self.make("}", braces);
            }
            None => self.copy(file, text, copied..span.end),
        }
    }

    fn insert(&mut self, insert: &Insert<'_, 'p>, any: bool, gap: &str) {
        let anchor = &insert.anchor;
        let comma = if any { "," } else { "" };
        let key = write_string(insert.key);
        self.make(&format!("{comma}{gap}"), anchor);
        self.make(&format!("{key}: "), anchor);
        match insert.what {
            SpliceContent::Manifest(structure) => {
                let manifest = self.manifest(structure);
                self.split(&manifest);
            }
            SpliceContent::List(list) => {
                self.make("[", anchor);
                for (index, element) in list.elements.iter().enumerate() {
                    self.make(if index > 0 { ",\n" } else { "\n" }, anchor);
                    self.element(element, anchor.range.start);
                }
                self.make("]", anchor);
            }
            SpliceContent::Rows(text) => {
                self.make("[", anchor);
                self.rows(anchor.file, text);
                self.make("]", anchor);
            }
        }
    }

    fn element(&mut self, element: &SplitElement<'p>, heading: usize) {
        let (file, node) = (self.file(element.name), element.node);
        let from = self.out.text.len();
        match element.rows {
            None => self.copy(file, node.text(), node.span()),
            Some((name, text)) => self.split(&Split {
                file,
                node,
                shape: &ENTRY,
                inserts: vec![Insert {
                    key: "rows",
                    anchor: Anchor {
                        file: self.file(name),
                        range: 0..0,
                    },
                    what: SpliceContent::Rows(text),
                }],
                inner: None,
                braces: None,
            }),
        }
        self.out.slots.push(Slot {
            span: from..self.out.text.len(),
            file,
            inside: node.span(),
            divided: element.rows.is_some(),
            heading,
            line: self.lines.line(element.line),
        });
    }

    /// The lines of a file as elements of a list. A line end becomes a comma, so that every row
    /// stays at its offset. For a line that is not JSON stands a value that is no row: the rows after
    /// it keep their numbers, and nobody counts one less.
    fn rows(&mut self, file: usize, text: &str) {
        let mut bytes = text.as_bytes().to_vec();
        let faults = check_lines(text);
        let mut bad = faults
            .into_iter()
            .filter(|(_, error)| matches!(error, CanonicalError::Syntax(_)))
            .map(|(line, _)| line)
            .peekable();
        let mut before: Option<usize> = None;
        let mut unread = Vec::new();
        for line in lines(text) {
            if let Some(end) = before {
                let at = memchr::memchr(b'\n', &bytes[end..line.start]);
                if let Some(at) = at {
                    bytes[end + at] = b',';
                }
            }
            before = Some(line.end);
            unread.extend(bad.next_if(|one| *one == line));
        }
        // One byte of ASCII took the place of another, so this is text.
        let text = String::from_utf8(bytes).unwrap_or_default();
        let mut copied = 0;
        for range in unread {
            self.copy(file, &text, copied..range.start);
            copied = range.end;
            self.make(UNREAD_ROW, &Anchor { file, range });
        }
        self.copy(file, &text, copied..text.len());
    }
}

/// Where a key stands in an object of the format; unknown keys stand last.
fn rank(shape: &Shape, key: &str) -> usize {
    let found = shape.fields.iter().position(|field| field.key == key);
    found.unwrap_or(usize::MAX)
}
