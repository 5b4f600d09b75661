//! What links show of the rows that they point at: values of columns, before this job changes them and now.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{RowLocation, TargetTable, Targets};
use crate::apply::LinkedValue;
use crate::apply::run::target_value::{Moment, TargetValue};
use crate::rows::{Text, members};
use crate::workspace::RowData;

/// A column that cells take their values from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::apply::run) struct WantedColumn<'a> {
    /// Its name at the destination.
    pub(in crate::apply::run) name: &'a str,
    /// Its position among the table's columns; nothing for one of people, in which new rows have nothing.
    pub(in crate::apply::run) slot: Option<usize>,
}

/// The values of one column, row by row, end to end.
#[derive(Debug)]
pub(super) struct Values<'a> {
    pub(super) column: WantedColumn<'a>,
    /// Its name in the package; empty for one that the package does not know.
    pub(super) package_name: &'a str,
    pub(super) text: String,
    pub(super) ends: Vec<usize>,
}

impl<'a> Targets<'a> {
    /// Notes what this job has made of cells of a row: names and what they hold now.
    pub(in crate::apply::run) fn note_now<'c>(
        &mut self,
        place: RowLocation,
        cell: impl Fn(&str) -> Option<&'c str>,
    ) {
        let table = &self.tables[place.table];
        let columns = 0..table.values.len();
        let known = columns.map(|at| table.value(place.row, at, Moment::Now).to_owned());
        let mut now: Vec<String> = known.collect();
        let mut changes = false;
        for (values, now) in table.values.iter().zip(&mut now) {
            if let Some(cell) = cell(values.column.name)
                && cell != now
            {
                cell.clone_into(now);
                changes = true;
            }
        }
        if changes {
            self.tables[place.table].changed.insert(place.row, now);
            self.changed.insert(place);
        }
    }

    /// Notes what a row held before an earlier attempt at this job changed it; what was read of it is what it holds
    /// now.
    pub(in crate::apply::run) fn note_past(&mut self, place: RowLocation, before: &RowData) {
        let table = &mut self.tables[place.table];
        let columns = 0..table.values.len();
        let now = columns.map(|at| table.value(place.row, at, Moment::Now).to_owned());
        let now: Vec<String> = now.collect();
        let mut past = now.clone();
        for (values, past) in table.values.iter().zip(&mut past) {
            if let Some(cell) = before.cell(values.column.name) {
                cell.clone_into(past);
            }
        }
        if past != now {
            table.read.insert(place.row, past);
            table.changed.insert(place.row, now);
            self.changed.insert(place);
        }
    }

    /// The rows that were changed since this was asked the last time.
    pub(in crate::apply::run) fn take_changed(&mut self) -> HashSet<RowLocation> {
        std::mem::take(&mut self.changed)
    }

    /// What a cell that points at the row holds: a value of the row at the destination, or the row's id.
    pub(in crate::apply::run) fn value(
        &self,
        place: RowLocation,
        column: Option<Text<'_>>,
        shown: TargetValue<'_>,
    ) -> Option<Cow<'_, str>> {
        let table = &self.tables[place.table];
        let mut columns = table.values.iter();
        let at = match (shown.value, column) {
            (LinkedValue::Unknown, _) => None,
            (LinkedValue::Column(name), _) => {
                columns.position(|values| values.column.name == *name)
            }
            (LinkedValue::AsPackaged, None) => {
                return Some(Cow::Owned(format!("\"{}\"", self.id(place))));
            }
            (LinkedValue::AsPackaged, Some(column)) => columns.position(|values| {
                !values.package_name.is_empty() && column.is(values.package_name)
            }),
        }?;
        let value = table.value(place.row, at, shown.moment);
        // An empty cell is nothing that could be pointed at.
        (!matches!(value, "" | "null" | "\"\"")).then_some(Cow::Borrowed(value))
    }

    /// What the row holds in the package: the value that a cell had at the source.
    pub(in crate::apply::run) fn source_value(
        &self,
        place: RowLocation,
        column: Text<'_>,
    ) -> Option<&'a str> {
        let table = &self.tables[place.table];
        let row = table.entry?.row(table.rows[place.row].start as usize)?;
        let mut cells = members(row.data);
        let column = column.decoded();
        cells.find_map(|(key, value)| key.is(&column).then_some(value))
    }
}

impl TargetTable<'_> {
    /// The value of a row in a wanted column, empty where there is none.
    fn value(&self, row: usize, at: usize, moment: Moment) -> &str {
        let changed = self.changed.get(&row).filter(|_| moment == Moment::Now);
        if let Some(known) = changed.or_else(|| self.read.get(&row)) {
            return known.get(at).map_or("", String::as_str);
        }
        let values = &self.values[at];
        let start = match row {
            0 => 0,
            row => values.ends[row - 1],
        };
        &values.text[start..values.ends[row]]
    }
}
