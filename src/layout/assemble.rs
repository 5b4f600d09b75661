//! Assembles the tree of a package from the files of a folder.

use std::collections::HashMap;

use super::index::{Entry, unit_of_rows};
use super::pack::Opened;
use super::piece::Piece;
use super::problem::Problem;
use super::{Index, Section, TEMPLATE, shape};
use crate::json::{JsonKind, Node};
use crate::package::format::{ENVELOPE, MANIFEST, Shape};

type Members<'p> = Vec<(&'p str, Piece<'p>)>;

/// Puts the package together; gives nothing where there is no template to begin with.
pub(super) fn assemble<'p>(
    index: &Index,
    files: &'p Opened<'_>,
    problems: &mut Vec<Problem>,
) -> Option<(Piece<'p>, &'static Shape)> {
    let mut reading = Assembler {
        files,
        used: HashMap::new(),
        problems,
    };
    reading.check_members();
    let mut lists = Vec::new();
    for (section, entries) in &index.lists {
        lists.push((*section, reading.list(*section, entries)));
    }
    reading.check_left_over();
    reading.template(lists)
}

struct Assembler<'p, 'o, 's> {
    files: &'p Opened<'s>,
    /// How many entries of a file were taken, by file and list.
    used: HashMap<(&'p str, Section), usize>,
    problems: &'o mut Vec<Problem>,
}

impl<'p> Assembler<'p, '_, '_> {
    fn report(&mut self, name: &str, node: Node<'_>, message: String) {
        let at = node.key_span().start;
        let problem = Problem::offset(name, node.text(), at, message);
        self.problems.push(problem);
    }

    /// Every file is an object of known members, lists where lists belong.
    fn check_members(&mut self) {
        for (name, doc) in &self.files.docs {
            let (name, root) = (*name, doc.root());
            if !root.is_object() {
                self.report(
                    name,
                    root,
                    format!("expected an object, found {}", root.type_name()),
                );
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
                    self.report(name, member, format!("`{key}` is none of `{known}`"));
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

    fn list(&mut self, section: Section, entries: &[Entry]) -> Vec<Piece<'p>> {
        let pieces = entries.iter().filter_map(|entry| {
            let piece = self.entry(section, entry);
            if piece.is_none() {
                let (key, _) = section.key();
                let message = format!("`{}` holds no further entry under `{key}`", entry.name);
                self.problems.push(Problem::line(entry.line, message));
            }
            piece
        });
        pieces.collect()
    }

    /// The next entry of a file.
    fn entry(&mut self, section: Section, entry: &Entry) -> Option<Piece<'p>> {
        let unit = unit_of_rows(&entry.name);
        let name = unit.as_deref().unwrap_or(&entry.name);
        let (name, doc) = self.files.doc(name)?;
        let used = self.used.entry((name, section)).or_default();
        let taken = *used;
        *used += 1;
        let (key, is_list) = section.key();
        let value = doc.root().get(key)?;
        if is_list {
            return value.at(taken).map(Piece::Node);
        }
        if taken > 0 {
            return None;
        }
        if unit.is_none() {
            return Some(Piece::Node(value));
        }
        let rows = self.files.rows(&entry.name)?;
        if value.get("rows").is_some() {
            let message = format!("the rows stand in `{}`, so there are none here", entry.name);
            let rows = value.get("rows").unwrap_or(value);
            self.report(name, rows, message);
        }
        let mut members = Piece::without(value, &["rows"]);
        members.push(("rows", Piece::Lines(rows)));
        Some(Piece::Object(members))
    }

    /// Entries that no line of the index asked for would be lost.
    fn check_left_over(&mut self) {
        for (name, doc) in &self.files.docs {
            for section in Section::ALL {
                let (key, is_list) = section.key();
                let Some(value) = doc.root().get(key) else {
                    continue;
                };
                let taken = self
                    .used
                    .get(&(*name, section))
                    .copied()
                    .unwrap_or_default();
                let left = if is_list {
                    value.at(taken)
                } else {
                    Some(value).filter(|_| taken == 0)
                };
                if let Some(left) = left.filter(|_| *name != TEMPLATE) {
                    let list = section.as_str();
                    self.report(
                        name,
                        left,
                        format!("the index has no line for it under `{list}`"),
                    );
                }
            }
        }
    }

    fn template(
        &mut self,
        lists: Vec<(Section, Vec<Piece<'p>>)>,
    ) -> Option<(Piece<'p>, &'static Shape)> {
        let root = self.files.doc(TEMPLATE)?.1.root();
        let Some(template) = root.get("template").filter(|part| part.is_object()) else {
            let message = "`template` is missing, or no object".to_owned();
            self.report(TEMPLATE, root, message);
            return None;
        };
        let file = root.get("file");
        if let Some(file) = file.filter(|file| !file.is_object()) {
            self.report(TEMPLATE, file, "`file` is an object".to_owned());
        }
        let plan = template.get("plan");
        let mut manifest = Piece::without(template, &[]);
        let mut around = file.map(|file| Piece::without(file, &[]));
        for (section, list) in lists {
            let key = section.as_str();
            let holder = match section {
                Section::Steps => plan.filter(|plan| plan.is_object()),
                Section::Payloads => file,
                _ => Some(template),
            };
            let Some(holder) = holder else {
                let owner = if section == Section::Steps {
                    "plan"
                } else {
                    "file"
                };
                let message =
                    format!("the index has `{key}`, and here is no object `{owner}` for them");
                self.report(TEMPLATE, template, message);
                continue;
            };
            if let Some(double) = holder.get(key) {
                let message = format!("`{key}` stands in the index already");
                self.report(TEMPLATE, double, message);
                continue;
            }
            let list = Piece::List(list);
            match (section, &mut around) {
                (Section::Steps, _) => add_to_plan(&mut manifest, holder, (key, list)),
                (Section::Payloads, Some(around)) => around.push((key, list)),
                _ => manifest.push((key, list)),
            }
        }
        Some(match around {
            None => (Piece::Object(manifest), &MANIFEST),
            Some(mut members) => {
                members.push(("manifest", Piece::Object(manifest)));
                (Piece::Object(members), &ENVELOPE)
            }
        })
    }
}

fn add_to_plan<'p>(manifest: &mut Members<'p>, plan: Node<'p>, steps: (&'p str, Piece<'p>)) {
    let mut members = Piece::without(plan, &[]);
    members.push(steps);
    if let Some(member) = manifest.iter_mut().find(|(key, _)| *key == "plan") {
        member.1 = Piece::Object(members);
    }
}
