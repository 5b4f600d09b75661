//! Decides whether a row matches a filter.

use super::Row;
use super::filter::{CellTest, Condition, Filter, IsValue, OwnTest, Search};
use super::like::like;
use crate::rows::{Cell, Decimal, fold, text_form};

/// How filters are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Match {
    /// Each of them has to hold.
    #[default]
    All,
    /// One has to hold, where there are any.
    Any,
}

impl Match {
    /// The word of the parameter.
    pub fn parse(word: &str) -> Option<Match> {
        match word {
            "all" => Some(Match::All),
            "any" => Some(Match::Any),
            _ => None,
        }
    }
}

/// Whether the filters, taken together, find the row.
pub fn matches(filters: &[Filter], together: Match, row: &Row<'_>) -> bool {
    match together {
        Match::All => filters.iter().all(|filter| filter.matches(row)),
        Match::Any => filters.is_empty() || filters.iter().any(|filter| filter.matches(row)),
    }
}

impl Filter {
    /// Whether it finds the row.
    pub fn matches(&self, row: &Row<'_>) -> bool {
        match &self.condition {
            Condition::Id(test) => test.holds(&row.id) != self.negated,
            Condition::CreatedAt(test) => test.holds(&row.created_at) != self.negated,
            Condition::UpdatedAt(test) => test.holds(&row.updated_at) != self.negated,
            Condition::Cell { key, test } => match row.cell(key) {
                Some(cell) => test.finds(cell, self.negated),
                None => matches!(
                    (self.negated, test),
                    (false, CellTest::Is(IsValue::Null))
                        | (true, CellTest::Is(IsValue::True | IsValue::False))
                ),
            },
        }
    }
}

impl<T: Ord> OwnTest<T> {
    fn holds(&self, own: &T) -> bool {
        match self {
            OwnTest::Compare(compare, value) => compare.holds(own.cmp(value)),
            OwnTest::In(values) => values.contains(own),
            OwnTest::Is(_) => false,
        }
    }
}

impl CellTest {
    /// Whether it finds a cell that is there.
    fn finds(&self, raw: &str, negated: bool) -> bool {
        let cell = Cell::new(raw);
        let text = text_form(raw).unwrap_or_default();
        let holds = match self {
            CellTest::Text(compare, value) => compare.holds(text.as_ref().cmp(value)),
            CellTest::Search(search, value) => search.finds(&text, value),
            CellTest::In(values) => values.iter().any(|value| *value == text),
            CellTest::Is(IsValue::Null) => false,
            CellTest::Is(IsValue::True) => matches!(cell, Cell::Bool(true)),
            CellTest::Is(IsValue::False) => matches!(cell, Cell::Bool(false)),
            CellTest::Number(compare, number) => match cell {
                Cell::Number(token) => {
                    let number = Decimal::new(number.as_str());
                    compare.holds(Decimal::new(token).cmp(&number))
                }
                // Nor does a negation find it.
                _ => return false,
            },
        };
        holds != negated
    }
}

impl Search {
    fn finds(self, text: &str, value: &str) -> bool {
        match self {
            Search::Like => like(value, text),
            Search::Ilike => like(&fold(value), &fold(text)),
            Search::Contains => fold(text).contains(&fold(value)),
            Search::Ncontains => !fold(text).contains(&fold(value)),
            Search::Startswith => fold(text).starts_with(&fold(value)),
            Search::Endswith => fold(text).ends_with(&fold(value)),
        }
    }
}

#[cfg(test)]
mod tests;
