//! The second reading: rows as lines of the package.

use super::scan::stamped;
use super::split::Splitter;
use super::table::{ExportedTable, Link};
use super::uids::Uids;
use super::values::Values;
use crate::export::Fault;
use crate::json::{SyntaxKind, write_string};
use crate::package::canonical::{CanonicalError, ROWS_IN_ENTRY, write_cell};
use crate::rows::{Cell, elements};
use crate::workspace::{Id, StoredRow};

/// The rows of one table, as they are written.
pub(in crate::export) struct RowWriter<'t> {
    table: &'t ExportedTable,
    splitter: Splitter,
    /// The columns that travel, in table order.
    columns: Vec<Column<'t>>,
    row: usize,
    stamp: u64,
}

struct Column<'t> {
    slot: usize,
    /// The key with what is before the value.
    key: String,
    link: Option<LinkedTable<'t>>,
}

/// The rows that the cells of a column may point at.
struct LinkedTable<'t> {
    values: &'t Values,
    uids: &'t Uids,
    /// What follows the uid of the row in a ref.
    rest: String,
}

impl<'t> RowWriter<'t> {
    /// Begins the rows of a table, which may link to all the tables.
    pub(in crate::export) fn new(
        tables: &'t [ExportedTable],
        table: &'t ExportedTable,
    ) -> RowWriter<'t> {
        let slots = table.columns.iter().enumerate();
        let columns = slots.filter(|(_, slot)| slot.travels());
        let columns = columns.map(|(at, slot)| Column {
            slot: at,
            key: format!("{}: ", write_string(&slot.name)),
            link: slot
                .link
                .as_ref()
                .and_then(|link| LinkedTable::new(tables, link)),
        });
        RowWriter {
            table,
            splitter: Splitter::default(),
            columns: columns.collect(),
            row: 0,
            stamp: 0,
        }
    }

    /// Appends the next rows.
    pub(in crate::export) fn write(
        &mut self,
        page: &[StoredRow],
        out: &mut String,
    ) -> Result<(), Fault> {
        let mut cells = Vec::new();
        for row in page {
            if self.row >= self.table.uids.len() {
                return Err(self.changed());
            }
            self.stamp = stamped(self.stamp, row);
            self.splitter
                .split(&self.table.names, &row.data, &mut cells);
            let (before_first, before_next) = ROWS_IN_ENTRY;
            out.push_str(if self.row == 0 {
                before_first
            } else {
                before_next
            });
            out.push_str("{\"uid\": ");
            self.table.uids.write(self.row, out);
            out.push_str(", \"data\": {");
            self.cells(row.id, &cells, out)?;
            out.push('}');
            self.refs(&cells, out);
            out.push('}');
            self.row += 1;
        }
        Ok(())
    }

    /// Ends; the rows must have been those of the first reading.
    pub(in crate::export) fn finish(self) -> Result<(), Fault> {
        if self.row == self.table.uids.len() && self.stamp == self.table.stamp {
            Ok(())
        } else {
            Err(self.changed())
        }
    }

    fn changed(&self) -> Fault {
        Fault::Changed(self.table.label.clone())
    }

    fn cells(&self, row: Id, cells: &[Option<&str>], out: &mut String) -> Result<(), Fault> {
        let mut first = true;
        for column in &self.columns {
            if let Some(value) = cells[column.slot] {
                if !first {
                    out.push_str(", ");
                }
                first = false;
                out.push_str(&column.key);
                let slot = &self.table.columns[column.slot];
                write_cell(&slot.travelling(value), out)
                    .map_err(|error| self.unwritable(row, &slot.name, error))?;
            }
        }
        Ok(())
    }

    /// A cell that no package can hold: the body of a request has room for deeper ones.
    fn unwritable(&self, row: Id, column: &str, error: CanonicalError) -> Fault {
        let what = format!("column {column:?} in row {row} of {}", self.table.label);
        match error {
            CanonicalError::Syntax(error) if error.kind == SyntaxKind::TooDeep => {
                Fault::TooDeep { what, error }
            }
            error => Fault::Unwritable { what, error },
        }
    }

    fn refs(&self, cells: &[Option<&str>], out: &mut String) {
        let mut any = false;
        for column in &self.columns {
            let (Some(link), Some(value)) = (&column.link, cells[column.slot]) else {
                continue;
            };
            let before = out.len();
            let value = self.table.columns[column.slot].travelling(value);
            out.push_str(if any { ", " } else { ", \"refs\": {" });
            out.push_str(&column.key);
            if link.cell(&value, out) {
                any = true;
            } else {
                out.truncate(before);
            }
        }
        if any {
            out.push('}');
        }
    }
}

impl<'t> LinkedTable<'t> {
    fn new(tables: &'t [ExportedTable], link: &Link) -> Option<LinkedTable<'t>> {
        let Link::Rows { table, column } = link else {
            return None;
        };
        let table = tables.get(*table)?;
        let column = table.columns.get(*column)?;
        let feature = write_string(&table.reference);
        let name = write_string(&column.name);
        Some(LinkedTable {
            values: column.values.as_ref()?,
            uids: &table.uids,
            rest: format!(", \"featureRef\": {feature}, \"valueColumn\": {name}}}"),
        })
    }

    /// Appends what a cell points at; the shape of its value decides. Gives false, with `out`
    /// anywhere, when it points at nothing.
    fn cell(&self, value: &str, out: &mut String) -> bool {
        match Cell::new(value) {
            Cell::List(list) => {
                out.push_str("{\"rows\": [");
                let mut any = false;
                for element in elements(list) {
                    let before = out.len();
                    if any {
                        out.push_str(", ");
                    }
                    if self.value(element, out) {
                        any = true;
                    } else {
                        out.truncate(before);
                    }
                }
                out.push_str("]}");
                any
            }
            cell => !cell.is_empty() && self.value(value, out),
        }
    }

    fn value(&self, value: &str, out: &mut String) -> bool {
        // Links hold strings and numbers, nothing else.
        if !matches!(Cell::new(value), Cell::String(_) | Cell::Number(_)) {
            return false;
        }
        let row = self
            .values
            .row(value)
            .and_then(|row| usize::try_from(row).ok());
        let Some(row) = row else { return false };
        out.push_str("{\"rowUid\": ");
        if !self.uids.write(row, out) {
            return false;
        }
        out.push_str(&self.rest);
        true
    }
}
