//! Row payloads.

use indexmap::IndexMap;

use super::ModelError;
use super::fields::{self, Fields, Read};
use super::tree::{Members, Tree};
use crate::json::path::push_pointer;
use crate::json::scan::Scanner;
use crate::json::{Doc, JsonKind, Node, Object, SyntaxError, skip_value};

/// The rows of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadEntry {
    /// The ref of the table.
    pub feature_ref: String,
    /// uid of the rows item.
    pub item_uid: String,
    /// Number of rows.
    pub count: u64,
    /// Column by which the destination may match rows.
    pub key_column: Option<String>,
    /// Whether its values were found filled and distinct.
    pub key_unique: bool,
    /// The columns that rows carry, in table order.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Identity in the package.
    pub uid: String,
    /// Cells by column name.
    pub data: Object,
    /// By column name: the rows that link cells point at.
    pub refs: Option<IndexMap<String, CellRef>>,
    /// Members that the format does not have.
    pub unknown: Object,
}

/// What a link cell points at: the shape of the cell decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellRef {
    /// A cell with one value.
    One(RowRef),
    /// A cell with a list.
    Many {
        /// The rows that elements point at, in their order; elements without a target are absent.
        rows: Vec<RowRef>,
        /// Members that the format does not have.
        unknown: Object,
    },
}

/// The row that a value points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRef {
    /// uid of the row.
    pub row_uid: String,
    /// The ref of its table.
    pub feature_ref: String,
    /// The column whose value the cell holds; absent in older packages.
    pub value_column: Option<String>,
    /// Members that the format does not have.
    pub unknown: Object,
}

impl PayloadEntry {
    pub(super) fn read(node: Node<'_>) -> Read<PayloadEntry> {
        let mut fields = Fields::of(node)?;
        Ok(PayloadEntry {
            feature_ref: fields.required("featureRef", fields::declaration)?,
            item_uid: fields.required("itemUid", fields::text)?,
            count: fields.required("count", fields::count)?,
            key_column: fields.required("keyColumn", fields::text_or_null)?,
            key_unique: fields.required("keyUnique", fields::flag)?,
            columns: fields.required("columns", fields::texts)?,
            rows: fields.required("rows", read_rows)?,
            unknown: fields.unknown()?,
        })
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        self.tree_with(Tree::Rows(&self.rows))
    }

    /// The entry with a gap where its `count` rows belong.
    pub(super) fn tree_around_rows(&self) -> Tree<'_> {
        self.tree_with(Tree::Gap(self.count > 0))
    }

    fn tree_with<'m>(&'m self, rows: Tree<'m>) -> Tree<'m> {
        Members::with(&self.unknown)
            .text("featureRef", &self.feature_ref)
            .text("itemUid", &self.item_uid)
            .field("count", Tree::count(self.count))
            .field("keyColumn", Tree::text_or_null(self.key_column.as_ref()))
            .field("keyUnique", Tree::flag(self.key_unique))
            .field("columns", Tree::texts(&self.columns))
            .field("rows", rows)
            .object()
    }
}

/// Rows are mostly left unread in a tree: then they are read here one by one.
fn read_rows(node: Node<'_>) -> Read<Vec<Row>> {
    if !matches!(node.kind(), JsonKind::Rows) {
        return fields::list(node, Row::read);
    }
    let text = node.text();
    let broken = |error: SyntaxError| ModelError::at(node, error.to_string());
    let mut scanner = Scanner::new(text, node.span().start + 1);
    let mut rows = Vec::new();
    let mut more = scanner.first_element().map_err(broken)?;
    while more {
        scanner.next_token();
        let start = scanner.pos;
        skip_value(&mut scanner, text).map_err(broken)?;
        let doc = Doc::parse(&text[start..scanner.pos]).map_err(broken)?;
        let row = Row::read(doc.root()).map_err(|error| {
            let mut pointer = node.pointer();
            push_pointer(&mut pointer, &rows.len().to_string());
            error.below(&pointer)
        })?;
        rows.push(row);
        more = scanner.next_element().map_err(broken)?;
    }
    Ok(rows)
}

impl Row {
    fn read(node: Node<'_>) -> Read<Row> {
        let mut fields = Fields::of(node)?;
        Ok(Row {
            uid: fields.required("uid", fields::text)?,
            data: fields.required("data", fields::map)?,
            refs: fields.optional("refs", read_refs)?,
            unknown: fields.unknown()?,
        })
    }

    pub(super) fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("uid", &self.uid)
            .field("data", Tree::Map(&self.data))
            .optional("refs", self.refs.as_ref(), refs_tree)
            .object()
    }
}

fn read_refs(node: Node<'_>) -> Read<IndexMap<String, CellRef>> {
    Fields::of(node)?;
    let cells = node.members();
    cells
        .map(|cell| {
            Ok((
                cell.key().unwrap_or_default().to_owned(),
                CellRef::read(cell)?,
            ))
        })
        .collect()
}

fn refs_tree(cells: &IndexMap<String, CellRef>) -> Tree<'_> {
    Tree::Object(
        cells
            .iter()
            .map(|(column, cell)| (column.as_str(), cell.tree()))
            .collect(),
    )
}

impl CellRef {
    fn read(node: Node<'_>) -> Read<CellRef> {
        if node.get("rows").is_none() {
            return RowRef::read(node).map(CellRef::One);
        }
        let mut fields = Fields::of(node)?;
        Ok(CellRef::Many {
            rows: fields.required("rows", |rows| fields::list(rows, RowRef::read))?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        match self {
            CellRef::One(row) => row.tree(),
            CellRef::Many { rows, unknown } => Members::with(unknown)
                .field("rows", Tree::list(rows, RowRef::tree))
                .object(),
        }
    }
}

impl RowRef {
    fn read(node: Node<'_>) -> Read<RowRef> {
        let mut fields = Fields::of(node)?;
        Ok(RowRef {
            row_uid: fields.required("rowUid", fields::text)?,
            feature_ref: fields.required("featureRef", fields::declaration)?,
            value_column: fields.optional("valueColumn", fields::text)?,
            unknown: fields.unknown()?,
        })
    }

    fn tree(&self) -> Tree<'_> {
        Members::with(&self.unknown)
            .text("rowUid", &self.row_uid)
            .text("featureRef", &self.feature_ref)
            .optional_text("valueColumn", self.value_column.as_ref())
            .object()
    }
}
