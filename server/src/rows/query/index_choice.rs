//! Chooses the index when both the filters and the sort have one.
//!
//! SQLite plans without values: it does not know whether a filter finds three rows, which are
//! sorted at once, or half of the table, where following the sort index is better. So a bounded
//! probe of the index runs first. PostgreSQL has statistics, but planning with values costs more
//! than most queries: it first fetches a bounded number of rows by the filters, which is the whole
//! response when they find few, and plans with the values only otherwise.

use tplkit::rows::query::{
    CellTest, Column, Compare, Condition, Filter, IsValue, Match, Search, Sort,
};

use super::composed::Composed;
use super::composer::Composer;
use crate::rows::{Slot, Table};

/// How many rows are sorted rather than found in order.
pub(super) const MAX_SORTED_ROWS: usize = 500;

/// How an index finds the rows of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coverage {
    /// As those of one value.
    Value,
    /// As those of several.
    Range,
}

/// The filters of which an index finds the rows, where it is open which way is better.
pub(super) fn open_filters(
    table: &Table,
    filters: &[Filter],
    together: Match,
    sort: &Sort,
) -> Vec<Filter> {
    let has_own_index = match &sort.column {
        Column::Id => false,
        Column::CreatedAt => true,
        Column::Key(key) if slotted(table, key) => true,
        // There is no other index.
        _ => return Vec::new(),
    };
    if together == Match::Any {
        return Vec::new();
    }
    let reached = filters
        .iter()
        .filter_map(|filter| Some((filter, coverage(table, filter)?)));
    let reached: Vec<(&Filter, Coverage)> = reached.collect();
    // Rows of one value are in the index by id.
    if !has_own_index && reached.iter().any(|(_, reach)| *reach == Coverage::Value) {
        return Vec::new();
    }
    reached
        .into_iter()
        .map(|(filter, _)| filter.clone())
        .collect()
}

/// The statement that shows, with as many rows as count, whether the filters find many.
pub(super) fn look_ahead(mut composer: Composer<'_>, filters: &[Filter]) -> Composed {
    let found = composer.where_clause(filters, Match::All);
    let text = format!("SELECT 1 FROM {{whole rows}} WHERE {found} LIMIT {MAX_SORTED_ROWS}");
    composer.finish_all(vec![text], MAX_SORTED_ROWS)
}

/// Whether the best plan depends on the values: an index finds the rows of a range, or of several
/// filters together, and nobody knows how many there are.
pub(super) fn plan_is_open(table: &Table, filters: &[Filter], together: Match) -> bool {
    let mut reached = filters.iter().filter_map(|filter| coverage(table, filter));
    reached.any(|reach| reach == Coverage::Range || together == Match::Any)
}

pub(super) fn slotted(table: &Table, key: &str) -> bool {
    let slot = table.column(key).and_then(|column| column.slot);
    slot.is_some_and(Slot::is_usable)
}

/// Whether an index finds the rows of a filter: the store reads no others.
pub(super) fn is_reached(table: &Table, filter: &Filter) -> bool {
    coverage(table, filter).is_some()
}

fn coverage(table: &Table, filter: &Filter) -> Option<Coverage> {
    let Condition::Cell { key, test } = &filter.condition else {
        return None;
    };
    if filter.negated || !slotted(table, key) {
        return None;
    }
    let of_keys = table.column(key)?.is_number;
    match (test, of_keys) {
        // The index does not have what is absent, and nearly all is not equal.
        (
            CellTest::Is(IsValue::Null)
            | CellTest::Text(Compare::Neq, _)
            | CellTest::Number(Compare::Neq, _),
            _,
        ) => None,
        (CellTest::Text(Compare::Eq, _) | CellTest::Is(_), false)
        | (CellTest::Number(Compare::Eq, _), true) => Some(Coverage::Value),
        (CellTest::Search(Search::Like, pattern), false) => {
            (!pattern.is_empty() && !pattern.starts_with('*')).then_some(Coverage::Range)
        }
        (CellTest::Text(Compare::Eq, _) | CellTest::In(_), _)
        | (CellTest::Text(..), false)
        | (CellTest::Number(..), true) => Some(Coverage::Range),
        _ => None,
    }
}
