//! What the files of a folder come to: the parts of one package, each still in its file.
//!
//! Goes in: the index and the files that could be read. Comes out: as much of the package as can
//! be put together, and everything that cannot.

use std::collections::HashMap;

use super::fault::LayoutFault;
use super::files::{Bytes, ParsedFiles};
use super::index::{Entry, unit_of_rows};
use super::piece::Piece;
use super::{Section, TEMPLATE, shape};
use crate::json::{JsonKind, Node};
use crate::package::format::{ENVELOPE, MANIFEST, Shape};

/// A package whose parts lie in several files.
#[derive(Debug)]
pub(super) struct FolderPackage<'p> {
    /// The manifest without its lists.
    pub(super) manifest: Node<'p>,
    /// What stands around the manifest in a file; a bare manifest has none.
    pub(super) file: Option<Node<'p>>,
    /// The lists, in the order of [`Section::ALL`].
    pub(super) lists: Vec<SplitList<'p>>,
}

/// A list whose entries are in files of their own.
#[derive(Debug)]
pub(super) struct SplitList<'p> {
    pub(super) section: Section,
    pub(super) elements: Vec<SplitElement<'p>>,
}

/// An entry of a list.
#[derive(Debug)]
pub(super) struct SplitElement<'p> {
    /// The file that holds it.
    pub(super) name: &'p str,
    pub(super) node: Node<'p>,
    /// The file of its rows, with its text.
    pub(super) rows: Option<(&'p str, &'p str)>,
    /// The line of the index that names it.
    pub(super) line: usize,
}

impl<'p> FolderPackage<'p> {
    /// The plan, when it is one that can hold steps.
    pub(super) fn plan(&self) -> Option<Node<'p>> {
        self.manifest.get("plan").filter(|plan| plan.is_object())
    }

    /// The lists that an object holds.
    pub(super) fn lists_of(&self, holder: Holder) -> impl Iterator<Item = &SplitList<'p>> {
        let holds = move |list: &&SplitList<'p>| Holder::of(list.section) == holder;
        self.lists.iter().filter(holds)
    }

    /// The tree for the canonical writer, and the shape of its root.
    pub(super) fn piece(&self) -> (Piece<'p>, &'static Shape) {
        let mut manifest = Piece::without(self.manifest, &[]);
        manifest.extend(self.lists_of(Holder::Manifest).map(SplitList::piece));
        if let Some(plan) = self.plan() {
            let mut members = Piece::without(plan, &[]);
            members.extend(self.lists_of(Holder::Plan).map(SplitList::piece));
            if let Some(member) = manifest.iter_mut().find(|(key, _)| *key == "plan") {
                member.1 = Piece::Object(members);
            }
        }
        let Some(file) = self.file else {
            return (Piece::Object(manifest), &MANIFEST);
        };
        let mut members = Piece::without(file, &[]);
        members.extend(self.lists_of(Holder::File).map(SplitList::piece));
        members.push(("manifest", Piece::Object(manifest)));
        (Piece::Object(members), &ENVELOPE)
    }
}

impl<'p> SplitList<'p> {
    fn piece(&self) -> (&'p str, Piece<'p>) {
        let elements = self.elements.iter().map(SplitElement::piece);
        (self.section.as_str(), Piece::List(elements.collect()))
    }
}

impl<'p> SplitElement<'p> {
    fn piece(&self) -> Piece<'p> {
        let Some((_, rows)) = self.rows else {
            return Piece::Node(self.node);
        };
        let mut members = Piece::without(self.node, &["rows"]);
        members.push(("rows", Piece::Lines(rows)));
        Piece::Object(members)
    }
}

/// The object that holds a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    File,
    Manifest,
    Plan,
}

impl Holder {
    pub(super) fn of(section: Section) -> Holder {
        match section {
            Section::Steps => Holder::Plan,
            Section::Payloads => Holder::File,
            _ => Holder::Manifest,
        }
    }
}

/// Finds the parts; gives nothing where there is no template to begin with.
pub(super) fn structure<'p>(
    bytes: &Bytes,
    files: &'p ParsedFiles<'_>,
    faults: &mut Vec<LayoutFault>,
) -> Option<FolderPackage<'p>> {
    let mut reading = StructureReader {
        files,
        used: HashMap::new(),
        faults,
    };
    reading.check_members();
    let mut lists = Vec::new();
    for (section, entries) in &bytes.index.lists {
        let elements = reading.list(*section, entries);
        lists.push(SplitList {
            section: *section,
            elements,
        });
    }
    if bytes.understood {
        reading.check_left_over();
    }
    reading.template(lists)
}

struct StructureReader<'p, 'o, 's> {
    files: &'p ParsedFiles<'s>,
    /// How many entries of a file were taken, by file and list.
    used: HashMap<(&'p str, Section), usize>,
    faults: &'o mut Vec<LayoutFault>,
}

/// What a line of the index leads to.
enum IndexTarget<'p> {
    Element(SplitElement<'p>),
    /// Nothing, and its file says nothing about it.
    Absent,
    /// Nothing, and the reason was reported with the file.
    Reported,
}

impl<'p> StructureReader<'p, '_, '_> {
    /// About a value: the key that it has, else the value.
    fn report(&mut self, name: &str, node: Node<'_>, message: String) {
        let fault = LayoutFault::span(name, node.text().as_bytes(), node.key_span(), message);
        self.faults.push(fault);
    }

    /// Every file is an object of known members, lists where lists belong.
    fn check_members(&mut self) {
        for (name, doc) in &self.files.docs {
            let (name, root) = (*name, doc.root());
            if !root.is_object() {
                let found = root.type_name();
                self.report(name, root, format!("expected an object, found {found}"));
                continue;
            }
            let shape = if name == TEMPLATE {
                &shape::TEMPLATE
            } else {
                &shape::UNIT
            };
            for member in root.members() {
                let key = member.key().unwrap_or_default();
                if shape.field(key).is_none() {
                    let known: Vec<&str> = shape.fields.iter().map(|field| field.key).collect();
                    let known = known.join("`, `");
                    self.report(name, member, format!("`{key}` is not one of `{known}`"));
                }
                let lists = Section::ALL.into_iter().map(Section::key);
                let is_list = lists
                    .filter(|(_, list)| *list)
                    .any(|(known, _)| known == key);
                if is_list && !matches!(member.kind(), JsonKind::Array) {
                    let found = member.type_name();
                    self.report(name, member, format!("`{key}` is a list, not {found}"));
                }
            }
        }
    }

    fn list(&mut self, section: Section, entries: &[Entry]) -> Vec<SplitElement<'p>> {
        let elements = entries.iter().filter_map(|entry| {
            match self.entry(section, entry) {
                IndexTarget::Element(element) => return Some(element),
                IndexTarget::Reported => {}
                IndexTarget::Absent => {
                    let (key, _) = section.key();
                    let message = format!("`{}` holds no further entry under `{key}`", entry.name);
                    self.faults.push(LayoutFault::line(entry.line, message));
                }
            }
            None
        });
        elements.collect()
    }

    /// The next entry of a file.
    fn entry(&mut self, section: Section, entry: &Entry) -> IndexTarget<'p> {
        let unit = unit_of_rows(&entry.name);
        let name = unit.as_deref().unwrap_or(&entry.name);
        let Some((name, doc)) = self.files.doc(name) else {
            return IndexTarget::Reported;
        };
        let used = self.used.entry((name, section)).or_default();
        let taken = *used;
        *used += 1;
        let (key, is_list) = section.key();
        let Some(value) = doc.root().get(key) else {
            return if doc.root().is_object() {
                IndexTarget::Absent
            } else {
                IndexTarget::Reported
            };
        };
        let element = |node, rows| {
            IndexTarget::Element(SplitElement {
                name,
                node,
                rows,
                line: entry.line,
            })
        };
        if is_list {
            return match value.at(taken) {
                Some(node) => element(node, None),
                None if value.is_array() => IndexTarget::Absent,
                None => IndexTarget::Reported,
            };
        }
        if taken > 0 {
            return IndexTarget::Absent;
        }
        if unit.is_none() {
            return element(value, None);
        }
        // A file that could not be read has spoken for itself.
        let rows = self.files.rows(&entry.name).unwrap_or_default();
        if !value.is_object() {
            let found = value.type_name();
            let message = format!("`payload` is {found}, and `{}` has its rows", entry.name);
            self.report(name, value, message);
            return IndexTarget::Reported;
        }
        if let Some(double) = value.get("rows") {
            let message = format!("the rows stand in `{}`, so there are none here", entry.name);
            self.report(name, double, message);
            return IndexTarget::Reported;
        }
        element(value, Some(rows))
    }

    /// Entries that no line of the index asked for would be lost.
    fn check_left_over(&mut self) {
        for (name, doc) in &self.files.docs {
            for section in Section::ALL {
                let (key, is_list) = section.key();
                let Some(value) = doc.root().get(key) else {
                    continue;
                };
                let taken = self.used.get(&(*name, section));
                let taken = taken.copied().unwrap_or_default();
                let left = if is_list {
                    value.at(taken)
                } else {
                    Some(value).filter(|_| taken == 0)
                };
                if let Some(left) = left.filter(|_| *name != TEMPLATE) {
                    let list = section.as_str();
                    let message = format!("the index has no line for it under `{list}`");
                    self.report(name, left, message);
                }
            }
        }
    }

    fn template(&mut self, lists: Vec<SplitList<'p>>) -> Option<FolderPackage<'p>> {
        let root = self.files.doc(TEMPLATE)?.1.root();
        let Some(manifest) = root.get("template").filter(|part| part.is_object()) else {
            // What is not an object at all was reported with the other files.
            if root.is_object() {
                let message = "`template` is missing, or no object".to_owned();
                self.report(TEMPLATE, root, message);
            }
            return None;
        };
        let file = root.get("file");
        if let Some(file) = file.filter(|file| !file.is_object()) {
            self.report(TEMPLATE, file, "`file` is an object".to_owned());
        }
        let mut structure = FolderPackage {
            manifest,
            file: file.filter(|file| file.is_object()),
            lists: Vec::new(),
        };
        if let Some(double) = structure.file.and_then(|file| file.get("manifest")) {
            let message = "the manifest stands under `template`".to_owned();
            self.report(TEMPLATE, double, message);
        }
        for list in lists {
            let key = list.section.as_str();
            let (holder, owner) = match Holder::of(list.section) {
                Holder::Plan => (structure.plan(), "plan"),
                Holder::File => (structure.file, "file"),
                Holder::Manifest => (Some(manifest), "template"),
            };
            let Some(holder) = holder else {
                let message =
                    format!("the index has `{key}`, and here is no object `{owner}` for them");
                self.report(TEMPLATE, manifest, message);
                continue;
            };
            if let Some(double) = holder.get(key) {
                let message = format!("`{key}` stands in the index already");
                self.report(TEMPLATE, double, message);
                continue;
            }
            structure.lists.push(list);
        }
        Some(structure)
    }
}
