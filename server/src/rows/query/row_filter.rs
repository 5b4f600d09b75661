//! The filter of a row query: the table, conditions, and the named columns.

use tplkit::rows::query::{Column, Filter, Match};
use uuid::Uuid;

use crate::rows::{Table, Tables};

/// Which rows are asked about.
#[derive(Debug, Clone)]
pub struct RowFilter {
    /// Of which table.
    pub feature: Uuid,
    /// What they have to be like.
    pub filters: Vec<Filter>,
    /// How the filters are taken together.
    pub matching: Match,
}

impl RowFilter {
    /// Notes which columns would be found faster with a slot: those that the filters and the sort name.
    pub(super) fn note(&self, tables: &Tables, table: &Table, sort: Option<&Column>) {
        let filtered: Vec<Column> = self.filters.iter().map(Filter::column).collect();
        let slotless = |column: &&Column| {
            let column = column.key().and_then(|name| table.column(name));
            column.is_some_and(|column| column.slot.is_none())
        };
        for column in filtered.iter().chain(sort).filter(slotless) {
            if let Some(name) = column.key() {
                tables.hot.note(table.id, name);
            }
        }
    }

    /// The columns that the filters and the `others` name and the table does not have.
    pub(super) fn unknown(
        &self,
        table: &Table,
        others: impl IntoIterator<Item = Column>,
    ) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for column in self.filters.iter().map(Filter::column).chain(others) {
            if let Column::Key(name) = column
                && table.column(&name).is_none()
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        names
    }
}
