//! The rules about single rows and cells, applied while an entry is read.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::ops::Range;

use super::index::Index;
use super::layout::{Layout, Slot};
use super::reader::Reader;
use super::row::{ByteRange, Row};
use super::scan_result::{List, ScanResult};
use super::{form, reparse, repeats};
use crate::finding::catalog::{I001, R004, R007, R009, R017, R019, R022, R026, R027};
use crate::finding::suggest::short_value;
use crate::finding::{Edit, Finding, Fix, Place, Rule};
use crate::json::path::push_pointer;
use crate::json::scan::StrToken;
use crate::json::{Node, SyntaxError, decode};
use crate::package::uid;
use crate::rows::{self, Cell, Decimal};

/// Reads and checks all rows of one entry.
pub(super) fn read(
    text: &str,
    layout: &Layout<'_>,
    state: &foldhash::quality::RandomState,
) -> Result<ScanResult, SyntaxError> {
    let mut cells = Cells {
        text,
        layout,
        state,
        result: ScanResult::new(layout),
        uids: Vec::new(),
        uniques: vec![Vec::new(); layout.columns.len()],
        undeclared: HashSet::new(),
        unreported: HashSet::new(),
        lists_columns: layout
            .entry
            .and_then(|entry| entry.get("columns"))
            .is_some_and(Node::is_array),
    };
    let Some(list) = layout.rows else {
        return Ok(cells.result);
    };
    let mut reader = Reader::new(text, layout, list)?;
    let mut row = Row::default();
    let mut number = 0;
    while reader.next(&mut row)? {
        let end = reader.row_end();
        cells.row(&row, number, end);
        number += 1;
    }
    Ok(cells.finish())
}

/// The check of one entry's rows.
pub(super) struct Cells<'s, 'c> {
    pub(super) text: &'s str,
    pub(super) layout: &'s Layout<'c>,
    pub(super) state: &'s foldhash::quality::RandomState,
    pub(super) result: ScanResult,
    uids: Vec<(u64, u32)>,
    /// By column: hash of each value that must not be repeated, with its row.
    uniques: Vec<Vec<(u64, u32)>>,
    /// Names that R004 has been said about: one missing name in `columns` is one mistake.
    undeclared: HashSet<String>,
    /// Columns that R026 has been said about.
    unreported: HashSet<usize>,
    lists_columns: bool,
}

impl Cells<'_, '_> {
    fn row(&mut self, row: &Row, number: u32, end: usize) {
        self.result.starts.push(row.start);
        if self.layout.entry.is_some() {
            self.uid(row.uid, number);
            if row.has_data {
                self.data(row, number);
            } else {
                self.no_data();
            }
            for slot in &row.referring {
                let index = *slot as usize;
                if self.layout.columns[index].link.is_none() || row.cell(index).is_none() {
                    self.mark_doubtful(number);
                }
            }
        }
        if row.needs_reparse {
            reparse::row(self, number, row.start..end);
        }
    }

    fn uid(&mut self, token: Option<StrToken>, number: u32) {
        // A uid that is absent or no string is reported by the second reading that it caused.
        let Some(token) = token else {
            self.result.bad_uids = true;
            return;
        };
        let inner = &self.text[token.inner()];
        let decoded = if token.escaped {
            decode(inner)
        } else {
            inner.into()
        };
        if !uid::is_uid(&decoded) {
            self.result.bad_uids = true;
            let place = Place {
                pointer: format!("{}/{number}/uid", self.layout.pointer),
                span: token.start..token.end,
            };
            let message = format!(
                "{} is not a uid",
                short_value(&self.text[token.start..token.end])
            );
            self.result
                .findings
                .push(Finding::new(&I001, place, message));
        }
        self.uids.push((hash_text(self.state, &decoded), number));
    }

    fn data(&mut self, row: &Row, number: u32) {
        let layout = self.layout;
        for (index, (hot, cell)) in layout.hot.iter().zip(row.cells()).enumerate() {
            match cell {
                Some(cell) => {
                    self.result.carried[index] = true;
                    if hot.has_rules || cell.form & !hot.plain != 0 {
                        self.cell(&layout.columns[index], index, *cell, row, number);
                    }
                }
                None if hot.has_rules => self.absent(&layout.columns[index], index, row, number),
                None => {}
            }
        }
    }

    /// A row without `data` still is a row: lists by row stay in step.
    fn no_data(&mut self) {
        self.result.unread_data = true;
        for (slot, values) in self.layout.columns.iter().zip(&mut self.result.values) {
            if slot.wanted {
                values.push(0);
            }
        }
    }

    #[inline]
    fn absent(&mut self, slot: &Slot<'_>, index: usize, row: &Row, number: u32) {
        if slot.wanted {
            self.result.values[index].push(0);
        }
        if slot.required {
            self.report_data(
                &R019,
                row,
                number,
                format!("the required column `{}` is absent", slot.name),
            );
        }
        if slot.key {
            self.report_data(
                &R009,
                row,
                number,
                format!("the key column `{}` is absent", slot.name),
            );
        }
    }

    #[inline]
    fn cell(&mut self, slot: &Slot<'_>, index: usize, cell: ByteRange, row: &Row, number: u32) {
        if slot.automatic {
            let message = "the automatic identity column travels".to_owned();
            self.report(&R007, slot.name, cell.start..cell.end, number, message);
            return;
        }
        if !slot.listed {
            self.undeclared(slot.name, cell.start..cell.end, number);
        }
        if cell.form & !slot.plain != 0 {
            self.store(slot, cell, number);
        }
        if slot.required && cell.form & form::EMPTY != 0 {
            self.report(
                &R019,
                slot.name,
                cell.start..cell.end,
                number,
                "a required cell is empty".to_owned(),
            );
        }
        if slot.file && cell.form & form::STRING != 0 {
            self.file(slot, cell, number);
        }
        if slot.decimals.is_some() && cell.form & (form::NUMBER | form::ODD_NUMBER) != 0 {
            self.round(slot, cell, number);
        }
        if slot.unique || slot.key || slot.wanted {
            self.compare(slot, index, cell, number);
        }
        if slot.link.is_some() {
            self.link(slot, index, cell, row, number);
        }
    }

    /// R017, for values whose form alone does not settle it.
    fn store(&mut self, slot: &Slot<'_>, cell: ByteRange, number: u32) {
        let raw = cell.raw(self.text);
        let Some(Err(fault)) = slot
            .storable
            .as_ref()
            .map(|storable| storable.check_cell(cell.cell(self.text), raw))
        else {
            return;
        };
        let at = fault.range(raw);
        let mut place = self.place(
            slot.name,
            cell.start + at.start..cell.start + at.end,
            number,
        );
        reparse::push_inside(&mut place.pointer, raw, at.start);
        let message = format!(
            "{} cannot be stored: {}",
            short_value(fault.value),
            fault.kind
        );
        self.result
            .findings
            .push(Finding::new(&R017, place, message));
    }

    /// R027.
    fn file(&mut self, slot: &Slot<'_>, cell: ByteRange, number: u32) {
        let raw = cell.raw(self.text);
        if rows::file_id(raw).is_none() {
            return;
        }
        let place = self.place(slot.name, cell.start..cell.end, number);
        let message = format!(
            "{} is the id of a file, and files do not travel",
            short_value(raw)
        );
        let edits = vec![Edit {
            span: cell.start..cell.end,
            text: "null".to_owned(),
        }];
        self.result
            .findings
            .push(Finding::new(&R027, place, message).fix(Fix {
                title: "Write null".to_owned(),
                safe: true,
                edits,
            }));
    }

    /// R022: a comparison of digits, no arithmetic.
    fn round(&mut self, slot: &Slot<'_>, cell: ByteRange, number: u32) {
        let token = &self.text[cell.start..cell.end];
        let Some(kept) = slot.decimals else { return };
        // Without an exponent, no number has more decimals than characters after its point.
        let point = token.bytes().position(|byte| byte == b'.');
        let after = point.map_or(0, |point| token.len() - point - 1);
        if cell.form & form::NUMBER != 0 && after as u64 <= kept {
            return;
        }
        let value = Decimal::new(token);
        if value.decimals() > kept && value.is_storable() {
            let message = format!(
                "{} has more than {kept} decimals and will be rounded",
                short_value(token)
            );
            self.report(&R022, slot.name, cell.start..cell.end, number, message);
        }
    }

    /// Notes values that are compared with others of the column, or with links to it.
    fn compare(&mut self, slot: &Slot<'_>, index: usize, cell: ByteRange, number: u32) {
        let hash = rows::hash(self.state, cell.cell(self.text));
        if slot.wanted {
            self.result.values[index].push(hash.max(1));
        }
        if slot.key && cell.form & (form::NULL | form::EMPTY_STRING) != 0 {
            self.report(
                &R009,
                slot.name,
                cell.start..cell.end,
                number,
                "a key is empty".to_owned(),
            );
            if !slot.unique {
                return;
            }
        }
        if (slot.key || slot.unique) && cell.form & form::NULL == 0 {
            self.uniques[index].push((hash, number));
        }
    }

    /// Notes what a link cell claims; who it is true of is known only when all entries are read.
    fn link(&mut self, slot: &Slot<'_>, index: usize, cell: ByteRange, row: &Row, number: u32) {
        let Some(link) = &slot.link else { return };
        let raw = &self.text[cell.start..cell.end];
        let Some(spot) = row.reference(index) else {
            if cell.form & form::EMPTY != 0 {
                return;
            }
            if link.unreported && self.unreported.insert(index) {
                let message = format!(
                    "`{}` links to rows of `{}`, which do not travel, and no `unresolved` entry says so",
                    slot.name,
                    link.table.unwrap_or_default(),
                );
                self.report(&R026, slot.name, cell.start..cell.end, number, message);
            }
            if !link.entries.is_empty() && link.value.is_some() {
                let hashes = Cell::new(raw)
                    .parts(raw)
                    .map(|part| (rows::hash(self.state, Cell::new(part)).max(1), number));
                self.result.links[index].loose.extend(hashes);
            }
            return;
        };
        let is_list = cell.form & form::ANY_LIST != 0;
        let targets = row.targets(spot);
        let fits = spot.plain
            && spot.many == is_list
            && !link.entries.is_empty()
            && cell.form & form::EMPTY == 0;
        if !fits {
            return self.mark_doubtful(number);
        }
        let links = &mut self.result.links[index];
        let target = |target: &StrToken| hash_text(self.state, &self.text[target.inner()]);
        let value = |part: &str| rows::hash(self.state, Cell::new(part)).max(1);
        if let ([single], false) = (targets, is_list) {
            links.rows.push(number);
            links.targets.push(target(single));
            links
                .values
                .push(rows::hash(self.state, cell.cell(self.text)).max(1));
        } else {
            links.list_targets.extend(targets.iter().map(target));
            let before = links.list_values.len();
            links
                .list_values
                .extend(Cell::new(raw).parts(raw).map(value));
            let values = links.list_values.len() - before;
            links.lists.push(List {
                row: number,
                targets: u32::try_from(targets.len()).unwrap_or(u32::MAX),
                values: u32::try_from(values).unwrap_or(u32::MAX),
            });
        }
    }

    fn mark_doubtful(&mut self, number: u32) {
        self.result.doubtful.push(number);
    }

    /// R004: a column that the entry does not list, at the first row that has it.
    pub(super) fn undeclared(&mut self, name: &str, span: Range<usize>, number: u32) {
        if self.lists_columns && self.undeclared.insert(name.to_owned()) {
            let message = format!("`columns` does not list `{name}`");
            self.report(&R004, name, span, number, message);
        }
    }

    fn place(&self, column: &str, span: Range<usize>, number: u32) -> Place {
        let mut pointer = format!("{}/{number}/data", self.layout.pointer);
        push_pointer(&mut pointer, column);
        Place { pointer, span }
    }

    #[cold]
    fn report(
        &mut self,
        rule: &'static Rule,
        column: &str,
        span: Range<usize>,
        number: u32,
        message: String,
    ) {
        let place = self.place(column, span, number);
        self.result
            .findings
            .push(Finding::new(rule, place, message));
    }

    #[cold]
    fn report_data(&mut self, rule: &'static Rule, row: &Row, number: u32, message: String) {
        let place = Place {
            pointer: format!("{}/{number}/data", self.layout.pointer),
            span: row.data.clone(),
        };
        self.result
            .findings
            .push(Finding::new(rule, place, message));
    }

    fn finish(mut self) -> ScanResult {
        let uids = Index::new(&self.uids);
        repeats::uids(self.text, self.layout, &uids, &mut self.result);
        self.result.uids = uids;
        for (slot, values) in self.layout.columns.iter().zip(&self.uniques) {
            let index = Index::new(values);
            repeats::values(self.text, self.layout, slot, &index, &mut self.result);
        }
        self.result.shrink();
        self.result
    }
}

/// The hash of a decoded text, for uids.
pub(super) fn hash_text(state: &foldhash::quality::RandomState, text: &str) -> u64 {
    state.hash_one(text)
}
