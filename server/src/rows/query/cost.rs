//! Estimates the cost of a query: by index, or by a scan of rows.
//!
//! It never changes a response; it decides which lane a query uses.

use tplkit::rows::query::{
    CellTest, Column, Compare, Condition, Filter, Match, Operation, OwnTest, Sort,
};

use super::index_choice::{is_reached, slotted};
use super::{AggregateQuery, RowFilter, RowListRequest};
use crate::auth::Caller;
use crate::rows::Table;

/// How many values the filters of a query may name, all together, for it to count as short.
const VALUES: usize = 200;

/// What a query costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// The response is kept, or a page that is in an index.
    Short,
    /// An index finds the rows, and all of them are counted.
    Indexed,
    /// Rows are read that the response does not have, or all are sorted.
    Scan,
}

impl RowListRequest {
    /// What it costs to find the page.
    pub fn cost(&self, table: &Table) -> Cost {
        let sorted = match &self.sort.column {
            Column::Id | Column::CreatedAt => true,
            Column::UpdatedAt => false,
            Column::Key(key) => slotted(table, key),
        };
        // Of what fits one filter or the other no index has the order.
        let together = self.filter.matching == Match::All || self.filter.filters.len() < 2;
        if sorted && together && self.filter.is_indexed(table, &self.sort) {
            Cost::Short
        } else {
            Cost::Scan
        }
    }
}

impl AggregateQuery {
    /// What it costs to work it out for a caller.
    pub fn cost(&self, table: &Table, caller: &Caller) -> Cost {
        let RowFilter { filters, .. } = &self.filter;
        let is_kept = filters.is_empty() && caller.sees_all_rows(self.filter.feature);
        match self.operation {
            Operation::Count if is_kept => Cost::Short,
            Operation::Count if self.filter.is_indexed(table, &Sort::default()) => Cost::Indexed,
            _ => Cost::Scan,
        }
    }
}

impl RowFilter {
    /// Whether indexes find the rows of every filter.
    fn is_indexed(&self, table: &Table, sort: &Sort) -> bool {
        let values: usize = self.filters.iter().map(values).sum();
        let mut filters = self.filters.iter();
        values <= VALUES && filters.all(|filter| finds(table, filter, sort))
    }
}

fn finds(table: &Table, filter: &Filter, sort: &Sort) -> bool {
    match &filter.condition {
        _ if filter.negated => false,
        Condition::Cell { .. } => is_reached(table, filter),
        // Times are in an index of their own, which helps where the rows are wanted in its order.
        Condition::CreatedAt(test) => sort.column == Column::CreatedAt && is_range(test),
        Condition::Id(OwnTest::Compare(Compare::Eq, _) | OwnTest::In(_)) => true,
        Condition::Id(test) => sort.column == Column::Id && is_range(test),
        Condition::UpdatedAt(_) => false,
    }
}

fn is_range<T>(test: &OwnTest<T>) -> bool {
    matches!(test, OwnTest::Compare(compare, _) if *compare != Compare::Neq)
}

/// How many values a filter names.
fn values(filter: &Filter) -> usize {
    match &filter.condition {
        Condition::Cell {
            test: CellTest::In(values),
            ..
        } => values.len(),
        Condition::Id(OwnTest::In(values)) => values.len(),
        Condition::CreatedAt(OwnTest::In(values)) | Condition::UpdatedAt(OwnTest::In(values)) => {
            values.len()
        }
        _ => 1,
    }
}
