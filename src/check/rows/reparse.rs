//! Reads one row again as a tree, when the first pass found something that it cannot describe. Rows
//! without findings never get here.

use std::ops::Range;

use super::cells::Cells;
use super::row_text::RowText;
use crate::check::anomalies::anomalies;
use crate::check::sensitive;
use crate::finding::catalog::{I001, J005, J006, J007, R011, X003};
use crate::finding::suggest::{Misspelt, short_value};
use crate::finding::{Finding, Rule};
use crate::json::{Doc, Node};
use crate::package::format::{self, Shape};

/// Appends to `pointer` the path to the value that begins at `at` inside `raw`.
pub(super) fn push_inside(pointer: &mut String, raw: &str, at: usize) {
    if let Ok(doc) = Doc::parse(raw)
        && let Some(node) = doc.all_nodes().find(|node| node.span().start == at)
    {
        pointer.push_str(&node.pointer());
    }
}

/// Reports everything about one row that needs its tree.
#[cold]
pub(super) fn row(cells: &mut Cells<'_, '_>, number: u32, span: Range<usize>) {
    let Some(row) = RowText::of_span(cells.text, cells.layout, span, number) else {
        return;
    };
    for mut finding in anomalies(&row.doc) {
        finding.place = row.moved(&finding.place);
        cells.result.findings.push(finding);
    }
    // Shadowed members too: they travel, whatever readers make of them.
    for node in row.doc.all_nodes() {
        if let Some((kind, place)) = sensitive::secret(node) {
            let message = format!("this looks like {kind}");
            cells
                .result
                .findings
                .push(Finding::new(&X003, row.moved(&place), message));
        }
        if let Some((place, message)) = sensitive::tenant(node) {
            cells.result.tenants.push((row.moved(&place), message));
        }
    }
    if cells.layout.entry.is_some() {
        shape(&row, cells);
        unknown_members(&row, cells, number);
    }
}

/// J005 to J007 of the row and its refs, I001 of a uid that is not a string.
fn shape(row: &RowText<'_>, cells: &mut Cells<'_, '_>) {
    let root = row.root();
    let mut out = ShapeCheck {
        row,
        findings: &mut cells.result.findings,
    };
    if !root.is_object() {
        return out.wrong(root, "`rows`", "objects");
    }
    out.unknown(root, &format::ROW);
    out.required(root, "uid", &format::ROW);
    out.required(root, "data", &format::ROW);
    if let Some(uid) = root.get("uid").filter(|uid| uid.as_str().is_none()) {
        out.report(
            &I001,
            uid,
            format!("{} is not a uid", short_value(uid.raw())),
        );
    }
    if let Some(data) = root.get("data").filter(|data| !data.is_object()) {
        out.wrong(data, "`data`", "an object");
    }
    let Some(refs) = root.get("refs") else { return };
    if !refs.is_object() {
        return out.wrong(refs, "`refs`", "an object");
    }
    for cell in refs.members() {
        out.reference(cell);
    }
}

struct ShapeCheck<'o, 's> {
    row: &'o RowText<'s>,
    findings: &'o mut Vec<Finding>,
}

impl ShapeCheck<'_, '_> {
    fn report(&mut self, rule: &'static Rule, node: Node<'_>, message: String) {
        self.findings
            .push(Finding::new(rule, self.row.place(node), message));
    }

    fn wrong(&mut self, node: Node<'_>, what: &str, expected: &str) {
        let found = if node.is_array() || node.is_object() {
            node.type_name().to_owned()
        } else {
            short_value(node.raw())
        };
        self.report(&J005, node, format!("{what} takes {expected}, not {found}"));
    }

    fn required(&mut self, node: Node<'_>, key: &str, shape: &Shape) {
        if node.get(key).is_none() {
            self.report(&J006, node, format!("{} lacks `{key}`", shape.name));
        }
    }

    fn unknown(&mut self, node: Node<'_>, shape: &Shape) {
        for member in node.members() {
            let key = member.key().unwrap_or_default();
            if shape.field(key).is_none() {
                let message = format!("{} has no field `{key}`", shape.name);
                let fields = shape.fields.iter().map(|field| field.key);
                let mut finding = Finding::new(&J007, self.row.key_place(member), message).meant(
                    key,
                    fields,
                    Misspelt::key(member),
                );
                // The row was read by itself, and knows no place but its own.
                for edit in finding.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
                    edit.span = self.row.in_file(&edit.span);
                }
                self.findings.push(finding);
            }
        }
    }

    /// One triple, or `rows` with triples.
    fn reference(&mut self, cell: Node<'_>) {
        if !cell.is_object() {
            return self.wrong(cell, "`refs`", "objects");
        }
        let Some(rows) = cell.get("rows") else {
            return self.triple(cell);
        };
        self.unknown(cell, &format::CELL_REF);
        for field in ["rowUid", "featureRef", "valueColumn"] {
            if let Some(member) = cell.get(field) {
                let message = format!("a row ref with `rows` has no field `{field}`");
                self.findings
                    .push(Finding::new(&J007, self.row.key_place(member), message));
            }
        }
        if !rows.is_array() {
            return self.wrong(rows, "`rows`", "a list");
        }
        for triple in rows.elements() {
            if !triple.is_object() {
                self.wrong(triple, "`rows`", "objects");
                continue;
            }
            if let Some(member) = triple.get("rows") {
                let message = "a row ref in a list has no field `rows`".to_owned();
                self.findings
                    .push(Finding::new(&J007, self.row.key_place(member), message));
            }
            self.triple(triple);
        }
    }

    fn triple(&mut self, triple: Node<'_>) {
        self.unknown(triple, &format::CELL_REF);
        for key in ["rowUid", "featureRef"] {
            self.required(triple, key, &format::CELL_REF);
        }
        for key in ["rowUid", "featureRef", "valueColumn"] {
            if let Some(member) = triple.get(key).filter(|member| member.as_str().is_none()) {
                self.wrong(member, &format!("`{key}`"), "a string");
            }
        }
    }
}

/// Names that neither the table nor the entry knows: R004 in `data`, R011 in `refs`.
fn unknown_members(row: &RowText<'_>, cells: &mut Cells<'_, '_>, number: u32) {
    let data = row.root().get("data");
    for member in data.into_iter().flat_map(Node::members) {
        let name = member.key().unwrap_or_default();
        if cells.layout.slot(name).is_none() {
            cells.undeclared(name, row.place(member).span, number);
        }
    }
    let refs = row.root().get("refs");
    for member in refs.into_iter().flat_map(Node::members) {
        let name = member.key().unwrap_or_default();
        let has_cell = data.is_some_and(|data| data.get(name).is_some());
        if cells.layout.slot(name).is_none() && !has_cell {
            let message = format!("`data` has no cell `{name}`");
            cells
                .result
                .findings
                .push(Finding::new(&R011, row.place(member), message));
        }
    }
}
