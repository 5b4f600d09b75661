//! The rules about whole payload entries, and about the items that declare them.

use super::RowsOutcome;
use super::context::{RowsContext, TableOf};
use super::layout::{Layout, Slot};
use super::scan_result::ScanResult;
use crate::check::facts::{Origin, Version};
use crate::finding::catalog::{
    J006, R001, R002, R003, R005, R006, R007, R008, R010, R016, R023, R024, R025,
};
use crate::finding::render::counted;
use crate::finding::suggest::{Misspelt, short_value};
use crate::finding::{Finding, Fix, Place, edit};
use crate::json::Node;
use crate::maps::HashMap;
use crate::package::reference::undollared;
use crate::package::size::{MOST_BYTES, MOST_ROWS, compact_length};

/// Everything about entries and rows items; `harvests` runs parallel to `layouts`.
pub(super) fn check(
    context: &RowsContext<'_>,
    layouts: &[Layout<'_>],
    results: &[ScanResult],
    outcome: &mut RowsOutcome,
) {
    let mut first_of: HashMap<&str, usize> = HashMap::default();
    let mut meant_for: HashMap<usize, usize> = HashMap::default();
    for (index, (layout, scan)) in layouts.iter().zip(results).enumerate() {
        let Some(entry) = layout.entry else { continue };
        let mut out = Entry {
            context,
            layout,
            result: scan,
            node: entry,
            findings: &mut outcome.findings,
        };
        out.table();
        out.columns();
        out.key();
        out.sizes();
        let uid = entry.get("itemUid");
        if let Some(name) = uid.and_then(Node::as_str) {
            if first_of.contains_key(name) {
                let message = format!("the item {name} has an entry already");
                out.findings
                    .push(Finding::at(&R001, uid.unwrap_or(entry), message));
            }
            first_of.entry(name).or_insert(index);
        }
        if let Some(item) = layout.item {
            meant_for.entry(item).or_insert(index);
        }
        if context.named_by(entry).is_none() {
            let place = uid.unwrap_or(entry);
            let message = match uid {
                Some(uid) => format!("{} is the uid of no rows item", short_value(uid.raw())),
                None => "the entry names no rows item".to_owned(),
            };
            let named = layout.item.is_none() && uid.and_then(Node::as_str).is_some();
            if context.version == Version::Two && context.items_known && named {
                out.findings
                    .push(Finding::at(&R024, place, message.clone()));
            }
            outcome.orphans.push((Place::value(place), message));
        }
    }
    items(context, layouts, results, &first_of, &meant_for, outcome);
}

/// R023 and R025, P003 and P004.
fn items(
    context: &RowsContext<'_>,
    layouts: &[Layout<'_>],
    results: &[ScanResult],
    first_of: &HashMap<&str, usize>,
    meant_for: &HashMap<usize, usize>,
    outcome: &mut RowsOutcome,
) {
    for (index, item) in context.items.iter().enumerate() {
        let named = first_of.get(item.uid);
        let meant = named.or_else(|| meant_for.get(&index));
        // A promotion goes by the uids alone.
        if named.is_none() {
            let message = "the rows item has no payload entry".to_owned();
            if meant.is_none() && context.payloads.is_some() && context.version == Version::Two {
                outcome
                    .findings
                    .push(Finding::at(&R023, item.node, message.clone()));
            }
            outcome
                .without_payload
                .push((Place::value(item.node), message));
        }
        let Some(entry) = meant else { continue };
        let rows = results[*entry].count();
        let count = item.node.get("count");
        // An absent count is I011, one that is not a number J005; a promotion fails on either.
        let declared = count.and_then(Node::as_i64);
        if declared == i64::try_from(rows).ok() {
            continue;
        }
        let place = count.unwrap_or(item.node);
        let message = match count {
            Some(count) => format!(
                "the item counts {} {}, its entry has {rows}",
                short_value(count.raw()),
                if declared == Some(1) { "row" } else { "rows" }
            ),
            None => format!("the item does not count its {}", counted(rows, "row")),
        };
        // Rows that cannot be read (J005, J006) cannot be counted.
        let countable = layouts[*entry].rows.is_some() && context.version == Version::Two;
        if let (Some(count), true) = (count.filter(|count| count.is_integer()), countable) {
            outcome
                .findings
                .push(Finding::at(&R025, count, message.clone()).fix(Fix {
                    title: format!("Write {rows}"),
                    safe: true,
                    edits: vec![edit::replace(count, rows.to_string())],
                }));
        }
        if named.is_some() {
            outcome
                .count_mismatches
                .push((Place::value(place), message));
        }
    }
}

/// One entry that is an object.
struct Entry<'e, 'c> {
    context: &'e RowsContext<'c>,
    layout: &'e Layout<'c>,
    result: &'e ScanResult,
    node: Node<'c>,
    findings: &'e mut Vec<Finding>,
}

impl Entry<'_, '_> {
    /// R002.
    fn table(&mut self) {
        let Some(item) = self.layout.item.map(|item| &self.context.items[item]) else {
            return;
        };
        let Some(node) = self.node.get("featureRef") else {
            return;
        };
        let Some(named) = node.as_str().map(undollared) else {
            return;
        };
        let message = match item.table {
            TableOf::Known(table) if table != named => {
                format!("the item's table is `{table}`, not `{named}`")
            }
            // A table of the plan is the business of I016: the item lacks its parent.
            TableOf::NoParent
                if !self
                    .context
                    .tables
                    .iter()
                    .any(|table| table.reference == named) =>
            {
                format!("`{named}` is not a table that the package carries or depends on")
            }
            _ => return,
        };
        let mut finding = Finding::at(&R002, node, message);
        if let TableOf::Known(table) = item.table {
            finding = finding.fix(Fix {
                title: format!("Write `{table}`"),
                safe: false,
                edits: vec![edit::replace(node, crate::json::write_string(table))],
            });
        }
        self.findings.push(finding);
    }

    /// R005, R006 and R007 of `columns`.
    fn columns(&mut self) {
        let Some(list) = self.node.get("columns") else {
            return;
        };
        let mut highest = None;
        let mut unplaced = Vec::new();
        for node in list.elements() {
            let Some(index) = node.as_str().and_then(|name| self.layout.slot(name)) else {
                continue;
            };
            let slot = &self.layout.columns[index];
            if slot.automatic {
                let message = "the automatic identity column is listed";
                self.findings.push(Finding::at(&R007, node, message));
                continue;
            }
            if slot.column.is_none()
                && self
                    .layout
                    .table
                    .is_some_and(|table| self.context.tables[table].complete)
            {
                self.not_in_table(node);
                continue;
            }
            let known = |table: usize| self.context.tables[table].complete;
            if slot.column.is_none() && self.layout.table.is_some_and(|table| !known(table)) {
                continue; // Its place in the table is unknown.
            }
            let placed = slot.is_placed();
            let misplaced = if placed {
                highest.is_some_and(|highest| index <= highest)
            } else {
                unplaced.contains(&index)
            };
            if misplaced {
                let message = format!("`{}` stands out of the table's order", slot.name);
                let mut finding = Finding::at(&R006, node, message)
                    .help("List columns in the table's order, once each.");
                finding.fix = self.in_table_order(list);
                self.findings.push(finding);
            } else {
                if placed {
                    highest = Some(index);
                } else {
                    unplaced.push(index);
                }
                let carried = self.result.carried.get(index).copied().unwrap_or(false);
                // What a row without readable `data` (J005, J006) carries is unknown.
                let unused = !carried && !self.result.unread_data;
                if unused && self.rows().is_some() {
                    let message = format!("no row has the column `{}`", slot.name);
                    self.findings.push(Finding::at(&R006, node, message));
                }
            }
        }
    }

    /// Lists the columns once each, in the table's order, when that is known of all of them.
    fn in_table_order(&self, list: Node<'_>) -> Option<Fix> {
        let names = list.elements().filter_map(Node::as_str);
        let mut slots: Vec<usize> = names.filter_map(|name| self.layout.slot(name)).collect();
        slots.sort_unstable();
        slots.dedup();
        let slots = || slots.iter().map(|slot| &self.layout.columns[*slot]);
        slots().all(Slot::is_placed).then(|| Fix {
            title: "List the columns in the table's order".to_owned(),
            safe: true,
            edits: vec![edit::replace(
                list,
                edit::string_list(slots().map(|slot| slot.name)),
            )],
        })
    }

    fn not_in_table(&mut self, node: Node<'_>) {
        let name = node.as_str().unwrap_or_default();
        let Some(table) = self.layout.table.map(|table| &self.context.tables[table]) else {
            return;
        };
        let whose = match table.origin {
            Origin::Plan => "the table",
            Origin::Dependency => "the dependency's identity",
        };
        let message = format!("{whose} `{}` has no column `{name}`", table.reference);
        let layout = self.layout;
        let is_listed = |name: &str| {
            let slot = layout.slot(name);
            slot.is_some_and(|slot| layout.columns[slot].listed)
        };
        // A name that is none (S021), or stands in the list already, is not what was meant.
        let columns = table.columns.iter().map(|column| column.name);
        let columns = columns.filter(|name| !name.is_empty() && !is_listed(name));
        let finding = Finding::at(&R005, node, message);
        self.findings
            .push(finding.meant_or_known(name, columns, Misspelt::value(node)));
    }

    /// R007, R008 and R010 of the key.
    fn key(&mut self) {
        let Some(node) = self.node.get("keyColumn") else {
            return;
        };
        let flag = self
            .node
            .get("keyUnique")
            .filter(|flag| flag.as_bool().is_some());
        let key = node.as_str();
        if let Some(flag) = flag
            && (key.is_some() || node.is_null())
            && flag.as_bool() != Some(key.is_some())
        {
            let message = if key.is_some() {
                "a key column is named and said not to be unique"
            } else {
                "no key column is named, and it is said to be unique"
            };
            self.findings.push(Finding::at(&R010, flag, message));
        }
        let Some(name) = key else { return };
        let slot = self
            .layout
            .slot(name)
            .map(|index| &self.layout.columns[index]);
        if slot.is_some_and(|slot| slot.automatic) {
            self.findings.push(Finding::at(
                &R007,
                node,
                "the automatic identity column is the key",
            ));
            return;
        }
        let message = match slot {
            Some(slot) if slot.listed => match slot.column {
                Some(column) if column.is_link() => format!("the key `{name}` is a link column"),
                _ if slot.can_be_key() == Some(false) => {
                    format!("the type of `{name}` is not a text key")
                }
                _ => return,
            },
            _ if self.node.get("columns").is_some_and(Node::is_array) => {
                format!("the key `{name}` is not in `columns`")
            }
            _ => return,
        };
        self.findings.push(Finding::at(&R008, node, message));
    }

    fn rows(&self) -> Option<usize> {
        self.layout.rows.map(|_| self.result.count())
    }

    /// R003 and R016.
    fn sizes(&mut self) {
        let Some(rows) = self.rows() else { return };
        if self.node.get("count").is_none() {
            let finding = Finding::at(&J006, self.node, "a payload entry lacks `count`");
            self.findings.push(finding.fix(Fix {
                title: format!("Write {rows}"),
                safe: true,
                edits: vec![edit::add_member(self.node, "count", &rows.to_string())],
            }));
        }
        // What does not fit is no number of rows either.
        let count = self.node.get("count");
        if let Some(count) = count.filter(|count| count.is_integer())
            && count.as_i64() != i64::try_from(rows).ok()
        {
            let declared = short_value(count.raw());
            let noun = if declared == "1" { "row" } else { "rows" };
            let message = format!("the entry counts {declared} {noun} and has {rows}");
            self.findings
                .push(Finding::at(&R003, count, message).fix(Fix {
                    title: format!("Write {rows}"),
                    safe: true,
                    edits: vec![edit::replace(count, rows.to_string())],
                }));
        }
        // Counted only when the entry as it stands is over the limit.
        let raw = self.node.raw();
        let bytes = if raw.len() > MOST_BYTES {
            compact_length(raw)
        } else {
            raw.len()
        };
        if rows > MOST_ROWS || bytes > MOST_BYTES {
            let message = if rows > MOST_ROWS {
                format!("the entry has {rows} rows, over {MOST_ROWS}")
            } else {
                format!("the entry has {bytes} bytes, over 4 MiB")
            };
            self.findings.push(Finding::at(&R016, self.node, message));
        }
    }
}
