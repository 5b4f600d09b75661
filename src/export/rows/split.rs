//! The cells of a row by column.

use std::collections::HashMap;

use crate::workspace::RowData;

/// Finds columns by name; rows of a table mostly hold the same keys in the same order.
#[derive(Debug, Default)]
pub(super) struct Columns {
    names: Vec<String>,
    by_name: HashMap<String, usize, foldhash::fast::FixedState>,
}

/// Where the cells of the row before stood.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    order: Vec<Option<usize>>,
}

impl Columns {
    pub(super) fn new(names: impl Iterator<Item = String>) -> Columns {
        let names: Vec<String> = names.collect();
        let by_name = names.iter().cloned().zip(0..).collect();
        Columns { names, by_name }
    }

    /// The position of a column.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl Splitter {
    /// Sets `cells` to the row's, one place per column; keys of no column are passed over.
    pub(super) fn split<'r>(
        &mut self,
        columns: &Columns,
        data: &'r RowData,
        cells: &mut Vec<Option<&'r str>>,
    ) {
        cells.clear();
        cells.resize(columns.names.len(), None);
        for (at, (key, value)) in data.cells().enumerate() {
            let hint = self.order.get(at).copied().flatten();
            let known = hint.filter(|hint| !key.escaped && columns.names[*hint] == key.inner);
            let found = known.or_else(|| {
                let found = columns.position(&key.decoded());
                self.order.resize(self.order.len().max(at + 1), None);
                self.order[at] = found;
                found
            });
            if let Some(found) = found {
                cells[found] = Some(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, Splitter};
    use crate::workspace::RowData;

    #[test]
    fn cells_are_found_in_whatever_order_they_stand() {
        let columns = Columns::new(["a", "b", "é"].map(str::to_owned).into_iter());
        let mut splitter = Splitter::default();
        let mut cells = Vec::new();
        let rows = [
            (r#"{"a":1,"b":2,"x":9}"#, [Some("1"), Some("2"), None]),
            (r#"{"b":3,"a":4}"#, [Some("4"), Some("3"), None]),
            (
                r#"{"x":0,"\u00e9":[5],"a":6}"#,
                [Some("6"), None, Some("[5]")],
            ),
            ("{}", [None, None, None]),
        ];
        let rows = rows.map(|(text, expected)| (RowData::trusted(text), expected));
        for (data, expected) in &rows {
            splitter.split(&columns, data, &mut cells);
            assert_eq!(&cells, expected, "{data:?}");
        }
    }
}
