//! The index: the order of every list of a package, as names of the files that hold its entries.
//!
//! It is plain text with one name per line, because adding to a JSON list also changes its last
//! line. A file with several steps is listed once for each.

use std::fmt::Write as _;
use std::ops::Range;

use super::LayoutFault;
use super::name::{is_name, is_rows};

const FIRST_LINE: &str = "tplkit layout 1";
const UNFINISHED: &str = "tplkit layout 1, unfinished";

/// A list of a package whose entries stand in files of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// `items`
    Items,
    /// `dependencies`
    Dependencies,
    /// `unresolved`
    Unresolved,
    /// `redacted`
    Redacted,
    /// `plan.steps`
    Steps,
    /// `payloads`
    Payloads,
}

impl Section {
    /// All of them, as they are in an index.
    pub const ALL: [Section; 6] = [
        Section::Items,
        Section::Dependencies,
        Section::Unresolved,
        Section::Redacted,
        Section::Steps,
        Section::Payloads,
    ];

    /// Its word: the key of the list.
    pub fn as_str(self) -> &'static str {
        match self {
            Section::Items => "items",
            Section::Dependencies => "dependencies",
            Section::Unresolved => "unresolved",
            Section::Redacted => "redacted",
            Section::Steps => "steps",
            Section::Payloads => "payloads",
        }
    }

    /// The key under which a file holds its entries of the list, and whether it holds a list.
    pub(super) fn key(self) -> (&'static str, bool) {
        match self {
            Section::Items => ("item", false),
            Section::Dependencies => ("dependency", false),
            Section::Payloads => ("payload", false),
            list => (list.as_str(), true),
        }
    }
}

/// An index that was read or is to be written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Index {
    /// Set while files are being replaced: the folder is between two states.
    pub unfinished: bool,
    /// The lists that the package has, in the order of [`Section::ALL`].
    pub lists: Vec<(Section, Vec<Entry>)>,
}

/// One name in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file.
    pub name: String,
    /// The line of the index it stands on, from 1; 0 when it was not read.
    pub line: usize,
}

impl Index {
    /// The names of a list, when the package has it.
    pub fn list(&self, section: Section) -> Option<&[Entry]> {
        let found = self.lists.iter().find(|(known, _)| *known == section);
        found.map(|(_, names)| names.as_slice())
    }

    /// Every file that belongs to the folder (the index itself aside), in order of name. Rows of
    /// a payload are next to the file of their item.
    pub fn files(&self) -> Vec<String> {
        let mut names = vec![super::TEMPLATE.to_owned()];
        for entry in self.lists.iter().flat_map(|(_, entries)| entries) {
            names.push(entry.name.clone());
            names.extend(unit_of_rows(&entry.name));
        }
        names.sort();
        names.dedup();
        names
    }

    /// The text of the file.
    pub fn write(&self) -> String {
        let mut out = String::from(if self.unfinished {
            UNFINISHED
        } else {
            FIRST_LINE
        });
        out.push('\n');
        for (section, entries) in &self.lists {
            // Writing to a String cannot fail, here and below.
            let _ = write!(out, "\n{}\n", section.as_str());
            for entry in entries {
                let _ = writeln!(out, "  {}", entry.name);
            }
        }
        out
    }

    /// Reads the text of a file; what cannot be understood is left out and reported.
    pub fn read(text: &str) -> (Index, Vec<LayoutFault>) {
        let mut index = Index::default();
        let mut faults = Vec::new();
        let mut lines = text.lines().map(str::trim_end).zip(1..);
        match lines.next() {
            Some((FIRST_LINE, _)) => {}
            Some((UNFINISHED, _)) => index.unfinished = true,
            _ => {
                faults.push(LayoutFault::line(
                    1,
                    format!("the first line of an index is `{FIRST_LINE}`"),
                ));
                return (index, faults);
            }
        }
        for (text, line) in lines.filter(|(text, _)| !text.is_empty()) {
            if let Err(message) = index.line(text, line) {
                faults.push(LayoutFault::line(line, message));
            }
        }
        index.lists.sort_by_key(|(section, _)| *section);
        (index, faults)
    }

    fn line(&mut self, text: &str, line: usize) -> Result<(), String> {
        let name = text.trim_start();
        if name.len() == text.len() {
            let section = Section::ALL.into_iter().find(|one| one.as_str() == text);
            let section = section.ok_or_else(|| format!("there is no list `{text}`"))?;
            if self.list(section).is_some() {
                return Err(format!("the list `{text}` appears twice"));
            }
            self.lists.push((section, Vec::new()));
            return Ok(());
        }
        if !is_name(name) || name == super::TEMPLATE {
            return Err(format!(
                "`{name}` is not a name of this layout: `columns/name.json` is, in lower case letters, digits, `_` and `-`"
            ));
        }
        let Some((section, entries)) = self.lists.last_mut() else {
            return Err(format!("`{name}` stands before the first list"));
        };
        if is_rows(name) && *section != Section::Payloads {
            return Err(format!("`{name}` holds rows, not {}", section.as_str()));
        }
        entries.push(Entry {
            name: name.to_owned(),
            line,
        });
        Ok(())
    }
}

/// The lines of an index with their positions.
#[derive(Debug)]
pub(super) struct Lines<'t>(Vec<(usize, &'t str)>);

impl<'t> Lines<'t> {
    /// The lines of a text.
    pub(super) fn of(text: &'t str) -> Lines<'t> {
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let from = at;
            at += line.len();
            (from, line.trim_end())
        });
        Lines(lines.collect())
    }

    /// The bytes of a line, from 1, white space around it aside.
    pub(super) fn line(&self, line: usize) -> Range<usize> {
        let found = line.checked_sub(1).and_then(|index| self.0.get(index));
        found.map_or(0..0, |(at, text)| {
            at + (text.len() - text.trim_start().len())..at + text.len()
        })
    }

    /// The bytes of the heading of a list.
    pub(super) fn heading(&self, section: Section) -> Range<usize> {
        let line = self
            .0
            .iter()
            .position(|(_, text)| *text == section.as_str());
        line.map_or(0..0, |index| self.line(index + 1))
    }
}

/// The file of the rows item next to a file of rows.
pub(super) fn unit_of_rows(name: &str) -> Option<String> {
    name.strip_suffix('l')
        .filter(|_| is_rows(name))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Index, Section};

    #[test]
    fn what_is_written_is_read() {
        let text =
            "tplkit layout 1\n\nitems\n  features/a.json\n\nsteps\n\npayloads\n  rows/a.jsonl\n";
        let (index, faults) = Index::read(text);
        assert_eq!(faults, []);
        assert_eq!(index.write(), text);
        assert_eq!(index.list(Section::Steps), Some(&[][..]));
        assert_eq!(index.list(Section::Redacted), None);
        assert_eq!(
            index.files(),
            [
                "features/a.json",
                "rows/a.json",
                "rows/a.jsonl",
                "template.json"
            ]
        );
        assert_eq!(Index::read(&text.replace('\n', "\r\n")).0, index);
        let unfinished = Index {
            unfinished: true,
            ..index
        };
        assert_eq!(Index::read(&unfinished.write()), (unfinished, Vec::new()));
    }

    #[test]
    fn lines_that_mean_nothing_are_reported() {
        let text = "tplkit layout 1\n  columns/a.json\nitem\nitems\n  ../a.json\n<<<<<<< HEAD\nitems\n  rows/a.jsonl\n";
        let (_, faults) = Index::read(text);
        let lines: Vec<usize> = faults
            .iter()
            .filter_map(|fault| fault.at.map(|at| at.line))
            .collect();
        assert_eq!(lines, [2, 3, 5, 6, 7, 8]);
        assert_eq!(Index::read("").1.len(), 1);
        assert_eq!(Index::read("tplkit layout 2\n").1.len(), 1);
    }
}
