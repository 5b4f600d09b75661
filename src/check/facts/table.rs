//! Tables as the package describes them: those its plan creates and those it depends on.

use crate::definitions::{ColumnType, Storage};
use crate::json::Node;

/// Where a table comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A plan step creates it.
    Plan,
    /// It is a dependency; only referenced columns are known.
    Dependency,
}

/// A table with the columns that are known of it, in table order (by `order`, ties by creation).
#[derive(Debug, Clone)]
pub struct PackageTable<'d> {
    /// The ref without a dollar.
    pub reference: &'d str,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether all its columns are known: a step that cannot be read may have created more.
    pub complete: bool,
    /// Its columns.
    pub columns: Vec<Column<'d>>,
}

impl<'d> PackageTable<'d> {
    /// The column of that technical name.
    pub fn column(&self, name: &str) -> Option<&Column<'d>> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// A column with its effective config (after `update_column`).
#[derive(Debug, Clone)]
pub struct Column<'d> {
    /// Technical name; row data is keyed by it.
    pub name: &'d str,
    /// The ref without a dollar, when it has one.
    pub reference: Option<&'d str>,
    /// Its type when the definitions have it.
    pub kind: Option<&'d ColumnType>,
    /// The component's name, `""` when absent.
    pub component: &'d str,
    /// The effective config object.
    pub config: Option<Node<'d>>,
    /// Declared position; in an identity the position in its list.
    pub order: Option<i64>,
}

impl<'d> Column<'d> {
    /// Whether it is a link column.
    pub fn is_link(&self) -> bool {
        self.kind.is_some_and(|kind| kind.link)
    }

    /// Whether the destination mints its values.
    pub fn is_identity(&self) -> bool {
        self.component == "id"
    }

    /// Whether it is the automatic identity, which never travels.
    pub fn is_automatic_identity(&self) -> bool {
        self.is_identity() && self.name == "id"
    }

    /// What its cells hold; unknown types hold anything.
    pub fn storage(&self) -> Storage {
        self.kind.map_or(Storage::Any, |kind| kind.storage)
    }

    /// Whether the config says so (`required`, `unique`).
    pub fn flag(&self, key: &str) -> bool {
        self.config
            .and_then(|config| config.get(key))
            .and_then(Node::as_bool)
            == Some(true)
    }

    /// The ref of the linked table, without a dollar.
    pub fn linked_table(&self) -> Option<&'d str> {
        self.config?.get_str("linkedFeatureId")?.strip_prefix('$')
    }

    /// The ref of the linked table's column whose value the cell holds, without a dollar.
    pub fn linked_value_column(&self) -> Option<&'d str> {
        self.config?.get_str("linkedValueColumn")?.strip_prefix('$')
    }
}
