//! The rules about links between rows, once every entry has been read: R011 to R015, R020, R021.
//!
//! Hashes prove most links valid without reading the file again: the target row exists, and its
//! value has the hash of the cell. A row with an unproven link is read again and checked exactly.
//! The hashes are keyed, and no finding rests on them.

use std::collections::{HashMap, HashSet};

use super::cells::hash_text;
use super::context::RowsContext;
use super::index::Index;
use super::layout::{Layout, Link, Slot};
use super::row_text::RowText;
use super::scan_result::{Links, ScanResult};
use crate::finding::catalog::{R011, R012, R013, R014, R015, R020, R021};
use crate::finding::suggest::short_value;
use crate::finding::{Finding, Place, Related, Rule};
use crate::json::Node;
use crate::package::reference::undollared;
use crate::rows::{self, Cell, equal};

/// All entries, read.
pub(super) struct Entries<'e, 'c> {
    pub(super) text: &'e str,
    pub(super) context: &'e RowsContext<'c>,
    pub(super) state: &'e foldhash::quality::RandomState,
    pub(super) layouts: &'e [Layout<'c>],
    pub(super) results: &'e [ScanResult],
    /// Rows by value, for columns that links without refs are compared with: (entry, column).
    pub(super) sought: HashMap<(usize, usize), Index>,
}

impl<'e, 'c> Entries<'e, 'c> {
    /// Prepares what the checking of links asks for.
    pub(super) fn new(
        text: &'e str,
        context: &'e RowsContext<'c>,
        state: &'e foldhash::quality::RandomState,
        layouts: &'e [Layout<'c>],
        results: &'e [ScanResult],
    ) -> Self {
        let mut entries = Entries {
            text,
            context,
            state,
            layouts,
            results,
            sought: HashMap::new(),
        };
        for (layout, result) in layouts.iter().zip(results) {
            for (slot, links) in layout.columns.iter().zip(&result.links) {
                // Lists may have elements without a ref, too.
                let open = links.loose.is_empty() && links.lists.is_empty();
                if !open || !result.doubtful.is_empty() {
                    entries.seek(slot);
                }
            }
        }
        entries
    }

    /// Sorts the values that the links of a column are compared with.
    fn seek(&mut self, slot: &Slot<'_>) {
        let targets = slot
            .link
            .as_ref()
            .map(|link| self.targets(link))
            .unwrap_or_default();
        for (entry, column) in targets {
            let values = &self.results[entry].values[column];
            self.sought.entry((entry, column)).or_insert_with(|| {
                let filled = values
                    .iter()
                    .copied()
                    .zip(0..)
                    .filter(|(hash, _)| *hash != 0);
                Index::new(&filled.collect::<Vec<_>>())
            });
        }
    }

    /// The columns that hold the values of a link: one per entry of the linked table.
    fn targets(&self, link: &Link<'_>) -> Vec<(usize, usize)> {
        let column = |entry: &usize| Some((*entry, self.layouts[*entry].slot(link.value?)?));
        link.entries
            .iter()
            .filter_map(column)
            .filter(|(entry, column)| self.layouts[*entry].columns[*column].wanted)
            .collect()
    }

    /// Findings about the links of one entry's rows, in order of the rows.
    pub(super) fn check(&self, entry: usize) -> Vec<Finding> {
        let (layout, result) = (&self.layouts[entry], &self.results[entry]);
        let mut rows = result.doubtful.clone();
        for (slot, links) in layout.columns.iter().zip(&result.links) {
            if let Some(link) = &slot.link {
                self.unproved(link, links, &mut rows);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let mut findings = Vec::new();
        for number in rows {
            let start = result.starts[number as usize];
            if let Some(row) = RowText::new(self.text, layout, start, number) {
                LinkCheck {
                    entries: self,
                    layout,
                    row: &row,
                    findings: &mut findings,
                }
                .row();
            }
        }
        findings
    }

    /// Adds the rows whose links the hashes do not prove.
    fn unproved(&self, link: &Link<'_>, links: &Links, rows: &mut Vec<u32>) {
        let targets = self.targets(link);
        // Without a value to compare (the automatic identity does not travel), finding the row is
        // all that can be asked.
        let values = |entry: usize| {
            let column = targets
                .iter()
                .find(|(known, _)| *known == entry)
                .map(|(_, column)| *column);
            column.map(|column| self.results[entry].values[column].as_slice())
        };
        let known: Vec<_> = link
            .entries
            .iter()
            .map(|entry| (&self.results[*entry], values(*entry)))
            .collect();
        // The value that the row of that uid holds, 0 for none; `None` when there is no such row.
        let value_of = |target: u64| {
            known.iter().find_map(|(result, values)| {
                let found = result.uids.rows(target).next()? as usize;
                Some(
                    values
                        .and_then(|values| values.get(found).copied())
                        .unwrap_or(0),
                )
            })
        };
        for ((row, target), value) in links.rows.iter().zip(&links.targets).zip(&links.values) {
            if !value_of(*target).is_some_and(|found| found == 0 || found == *value) {
                rows.push(*row);
            }
        }
        let matches = |hash: u64| {
            targets.iter().any(|key| {
                let index = self.sought.get(key);
                index.is_some_and(|index| index.rows(hash).next().is_some())
            })
        };
        let (mut uids, mut values) = (links.list_targets.as_slice(), links.list_values.as_slice());
        for list in &links.lists {
            let (own_uids, rest) = uids.split_at(list.targets as usize);
            let (own_values, others) = values.split_at(list.values as usize);
            (uids, values) = (rest, others);
            let mut linked = own_uids.iter().map(|uid| value_of(*uid)).peekable();
            // Each element is the next target's value, or that of no row.
            let accounted = if targets.is_empty() {
                // Values that do not travel cannot be compared.
                own_uids.len() <= own_values.len() && linked.by_ref().all(|value| value.is_some())
            } else {
                own_values
                    .iter()
                    .all(|value| linked.next_if_eq(&Some(*value)).is_some() || !matches(*value))
            };
            if !accounted || linked.next().is_some() {
                rows.push(list.row);
            }
        }
        rows.extend(
            links
                .loose
                .iter()
                .filter(|(hash, _)| matches(*hash))
                .map(|(_, row)| *row),
        );
    }

    /// Entries whose rows belong to the table of that ref.
    fn entries_of(&self, reference: &str) -> impl Iterator<Item = usize> + '_ {
        let table = self.context.table_index(reference);
        let reference = reference.to_owned();
        self.layouts
            .iter()
            .enumerate()
            .filter(move |(_, layout)| match (layout.table, table) {
                (Some(own), Some(table)) => own == table,
                (None, None) => {
                    let named = layout.entry.and_then(|entry| entry.get_str("featureRef"));
                    named.map(undollared) == Some(reference.as_str())
                }
                _ => false,
            })
            .map(|(index, _)| index)
    }

    /// Whether all rows of an entry could be read with their uids.
    fn is_readable(&self, entry: usize) -> bool {
        self.layouts[entry].rows.is_some() && !self.results[entry].bad_uids
    }

    /// The row of that uid in an entry.
    fn find(&self, entry: usize, uid: &str) -> Option<RowText<'_>> {
        let result = &self.results[entry];
        let rows = result.uids.rows(hash_text(self.state, uid));
        rows.filter_map(|row| {
            RowText::new(
                self.text,
                &self.layouts[entry],
                result.starts[row as usize],
                row,
            )
        })
        .find(|row| row.root().get_str("uid") == Some(uid))
    }

    /// Whether a row of the linked table holds that value.
    fn has_value(&self, link: &Link<'_>, value: &str) -> bool {
        let hash = rows::hash(self.state, Cell::new(value)).max(1);
        self.targets(link).iter().any(|key| {
            let (result, layout) = (&self.results[key.0], &self.layouts[key.0]);
            let rows = self
                .sought
                .get(key)
                .into_iter()
                .flat_map(|index| index.rows(hash));
            let mut texts = rows.filter_map(|row| {
                RowText::new(self.text, layout, result.starts[row as usize], row)
            });
            texts.any(|row| {
                let cell = row
                    .root()
                    .get("data")
                    .and_then(|data| data.get(layout.columns[key.1].name));
                cell.is_some_and(|cell| equal(cell.raw(), value))
            })
        })
    }
}

/// What a ref leads to.
enum LinkTarget<'e> {
    /// A row of the linked table, and its entry.
    Row(RowText<'e>, usize),
    /// Something wrong that has been reported, or that nothing can be said about.
    Unclear,
}

/// The check of one row.
struct LinkCheck<'j, 'e, 'c> {
    entries: &'j Entries<'e, 'c>,
    layout: &'j Layout<'c>,
    row: &'j RowText<'e>,
    findings: &'j mut Vec<Finding>,
}

impl<'j> LinkCheck<'j, '_, '_> {
    fn row(&mut self) {
        let row = self.row;
        let Some(data) = row.root().get("data").filter(|data| data.is_object()) else {
            return;
        };
        let refs = row.root().get("refs");
        if refs.is_some_and(|refs| !refs.is_object()) {
            return; // J005 speaks; what the refs would have said is unknown.
        }
        let layout = self.layout;
        for slot in &layout.columns {
            let cell = data.get(slot.name);
            let reference = refs.and_then(|refs| refs.get(slot.name));
            match (cell, reference, &slot.link) {
                (None, Some(reference), _) => {
                    self.report(
                        &R011,
                        reference,
                        format!("`data` has no cell `{}`", slot.name),
                    );
                }
                // Of a column that is not known nothing can be said.
                (Some(_), Some(reference), None)
                    if slot.column.is_some_and(|column| column.kind.is_some())
                        && !slot.automatic =>
                {
                    self.report(
                        &R011,
                        reference,
                        format!("`{}` is not a link column", slot.name),
                    );
                }
                (Some(cell), Some(reference), Some(link)) if reference.is_object() => {
                    self.linked(cell, reference, link);
                }
                (Some(cell), None, Some(link)) => self.unlinked(cell, link),
                _ => {}
            }
        }
    }

    fn report(&mut self, rule: &'static Rule, node: Node<'_>, message: String) {
        self.findings
            .push(Finding::new(rule, self.row.place(node), message));
    }

    /// R021 of a cell without a ref: one finding, as one ref is missing.
    fn unlinked(&mut self, cell: Node<'_>, link: &Link<'_>) {
        if cell.is_empty() {
            return;
        }
        let travelling = if cell.is_array() {
            cell.elements()
                .find(|element| self.entries.has_value(link, element.raw()))
        } else {
            Some(cell).filter(|cell| self.entries.has_value(link, cell.raw()))
        };
        if let Some(travelling) = travelling {
            let message = format!(
                "{} is the value of a row that travels, and no ref says so",
                short_value(travelling.raw())
            );
            self.report(&R021, cell, message);
        }
    }

    fn linked(&mut self, cell: Node<'j>, reference: Node<'j>, link: &Link<'_>) {
        let rows = reference.get("rows");
        let is_empty_triple = rows.is_none()
            && reference.get("rowUid").is_none()
            && reference.get("featureRef").is_none();
        if is_empty_triple || !is_linkable(cell) || rows.is_some_and(|rows| !rows.is_array()) {
            return; // J005, J006 or R017 speaks.
        }
        let triples: Vec<Node<'_>> = match rows {
            Some(rows) => rows
                .elements()
                .filter(|triple| triple.is_object())
                .collect(),
            None => vec![reference],
        };
        let fits = match (cell.is_array(), rows) {
            (true, None) => Err("the cell holds a list, and the ref a single row"),
            (false, Some(_)) => Err("the cell holds a single value, and the ref a list of rows"),
            (true, Some(rows)) if rows.len() > cell.len() => {
                Err("the ref has more rows than the cell has elements")
            }
            _ => Ok(()),
        };
        if let Err(message) = fits {
            self.report(&R013, reference, message.to_owned());
        }
        let targets: Vec<LinkTarget<'_>> = triples
            .iter()
            .map(|triple| self.target(*triple, link))
            .collect();
        let pairs: Vec<(Node<'_>, &LinkTarget<'_>)> =
            triples.iter().copied().zip(&targets).collect();
        if fits.is_ok() {
            if cell.is_array() {
                let whole = rows.is_some_and(|rows| rows.len() == pairs.len());
                self.sequence(cell, &pairs, link, whole);
            } else if let [(triple, target)] = pairs.as_slice() {
                self.scalar(cell, *triple, target);
            }
        }
    }

    /// R012, R015 and R020 of one triple.
    fn target(&mut self, triple: Node<'j>, link: &Link<'_>) -> LinkTarget<'j> {
        let named = triple.get("rowUid").is_some() && triple.get("featureRef").is_some();
        if named && triple.get("valueColumn").is_none() {
            self.report(&R015, triple, "the ref names no `valueColumn`".to_owned());
        }
        let (Some(uid), Some(table)) = (triple.get("rowUid"), triple.get("featureRef")) else {
            return LinkTarget::Unclear;
        };
        let (Some(row), Some(name)) = (uid.as_str(), table.as_str().map(undollared)) else {
            return LinkTarget::Unclear;
        };
        let entries = self.entries;
        let here = entries
            .entries_of(name)
            .find_map(|entry| Some((entry, entries.find(entry, row)?)));
        // A column that links to no table (S006, S015) says nothing about its refs.
        let wrong_table = link
            .table
            .is_some_and(|linked| linked != name && entries.context.table(linked).is_some());
        let Some((entry, found)) = here else {
            let strays = (0..entries.layouts.len()).any(|entry| entries.find(entry, row).is_some());
            let travels = entries.entries_of(name).next().is_some();
            if strays || (wrong_table && travels) {
                self.wrong_table(table, name, row, link);
            } else if entries
                .entries_of(name)
                .all(|entry| entries.is_readable(entry))
            {
                let message = format!(
                    "no row of `{name}` that travels has the uid {}",
                    short_value(uid.raw())
                );
                self.report(&R012, uid, message);
            }
            return LinkTarget::Unclear;
        };
        if wrong_table {
            self.wrong_table(table, name, row, link);
            return LinkTarget::Unclear;
        }
        if entries.results[entry]
            .repeated_uids
            .contains(&hash_text(entries.state, row))
        {
            return LinkTarget::Unclear;
        }
        LinkTarget::Row(found, entry)
    }

    /// R020.
    fn wrong_table(&mut self, table: Node<'_>, name: &str, row: &str, link: &Link<'_>) {
        let message = match link.table {
            Some(linked) if linked != name => {
                format!("the column links to `{linked}`, and the ref names `{name}`")
            }
            _ => format!("the row {row} is one of another table than `{name}`"),
        };
        self.report(&R020, table, message);
    }

    /// The value that the target row holds in the ref's `valueColumn`, when it travels.
    fn target_value<'t>(
        &self,
        triple: Node<'_>,
        target: &'t LinkTarget<'_>,
    ) -> Option<(&'t str, Place)> {
        let LinkTarget::Row(row, entry) = target else {
            return None;
        };
        let name = triple.get_str("valueColumn")?;
        let layout = &self.entries.layouts[*entry];
        if layout
            .slot(name)
            .is_some_and(|slot| layout.columns[slot].automatic)
        {
            return None;
        }
        let cell = row.root().get("data")?.get(name)?;
        Some((cell.raw(), row.place(cell)))
    }

    /// R014 of a scalar cell.
    fn scalar(&mut self, cell: Node<'_>, triple: Node<'_>, target: &LinkTarget<'_>) {
        let Some((held, place)) = self.target_value(triple, target) else {
            return;
        };
        if !equal(cell.raw(), held) {
            let message = format!(
                "the cell holds {}, and the row pointed at {}",
                short_value(cell.raw()),
                short_value(held)
            );
            self.report(&R014, cell, message);
            if let Some(finding) = self.findings.last_mut() {
                finding.related.push(Related {
                    place,
                    message: "the row pointed at".to_owned(),
                });
            }
        }
    }

    /// R014 and R021 of a list cell: the targets' values are to be found in it, in this order.
    /// `whole` says that every target could be read.
    fn sequence(
        &mut self,
        cell: Node<'_>,
        pairs: &[(Node<'_>, &LinkTarget<'_>)],
        link: &Link<'_>,
        whole: bool,
    ) {
        let elements: Vec<Node<'_>> = cell.elements().collect();
        let mut taken = HashSet::new();
        let mut from = 0;
        let mut sure = whole;
        for (triple, target) in pairs {
            let Some((held, place)) = self.target_value(*triple, target) else {
                sure = false;
                continue;
            };
            let found = (from..elements.len()).find(|index| equal(elements[*index].raw(), held));
            if let Some(index) = found {
                taken.insert(index);
                from = index + 1;
            } else {
                sure = false;
                let message = format!(
                    "the row pointed at holds {}, which the cell has not at this place",
                    short_value(held)
                );
                self.report(&R014, *triple, message);
                if let Some(finding) = self.findings.last_mut() {
                    finding.related.push(Related {
                        place,
                        message: "the row pointed at".to_owned(),
                    });
                }
            }
        }
        // With a triple that cannot be placed, it may be the one of any element left over.
        for (index, element) in elements.iter().enumerate().filter(|_| sure) {
            if !taken.contains(&index) && self.entries.has_value(link, element.raw()) {
                let message = format!(
                    "{} is the value of a row that travels, and no ref says so",
                    short_value(element.raw())
                );
                self.report(&R021, *element, message);
            }
        }
    }
}

/// Whether a link column can store the value at all.
fn is_linkable(cell: Node<'_>) -> bool {
    let scalar = |node: Node<'_>| !node.is_object() && !node.is_array() && node.as_bool().is_none();
    scalar(cell) || (cell.is_array() && cell.elements().all(scalar))
}
