//! The order of rows (`rest` 4.7).

use std::cmp::Ordering;

use super::{Column, Row};
use crate::rows::{Cell, Decimal, text_form};

/// A sort: one column, one direction. The default is by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub column: Column,
    /// Whether the greatest come first.
    pub descending: bool,
}

/// How the cells of the column that is sorted by compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// By their text: all columns but those of numbers, and keys that no column declares.
    Text,
    /// Numbers by amount, and behind them the rest by text: number and currency columns.
    Number,
}

impl Default for Sort {
    fn default() -> Sort {
        Sort {
            column: Column::Id,
            descending: false,
        }
    }
}

impl Sort {
    /// Reads `column` or `-column`; nothing when there is no column, or one that no data can have.
    pub fn parse(text: &str) -> Option<Sort> {
        let (name, descending) = match text.strip_prefix('-') {
            Some(name) => (name, true),
            None => (text, false),
        };
        (!name.is_empty() && !name.contains('\0')).then(|| Sort {
            column: Column::of(name),
            descending,
        })
    }

    /// Which of two rows comes first. `order` says how cells compare and matters to them alone.
    pub fn compare(&self, order: Order, one: &Row<'_>, other: &Row<'_>) -> Ordering {
        let first = match &self.column {
            Column::Id => self.directed(one.id.cmp(&other.id)),
            Column::CreatedAt => self.directed(one.created_at.cmp(&other.created_at)),
            Column::UpdatedAt => self.directed(one.updated_at.cmp(&other.updated_at)),
            Column::Key(key) => match (one.cell(key), other.cell(key)) {
                (Some(one), Some(other)) => self.cells(order, one, other),
                // Empty cells come last in both directions.
                (one, other) => other.is_some().cmp(&one.is_some()),
            },
        };
        first.then_with(|| one.id.cmp(&other.id))
    }

    fn cells(&self, order: Order, one: &str, other: &str) -> Ordering {
        let number = |raw| match (order, Cell::new(raw)) {
            (Order::Number, Cell::Number(token)) => Some(Decimal::new(token)),
            _ => None,
        };
        match (number(one), number(other)) {
            (Some(one), Some(other)) => self.directed(one.cmp(&other)),
            (None, None) => self.directed(text_form(one).cmp(&text_form(other))),
            // Numbers come before all else in both directions.
            (one, other) => other.is_some().cmp(&one.is_some()),
        }
    }

    fn directed(&self, order: Ordering) -> Ordering {
        if self.descending {
            order.reverse()
        } else {
            order
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Order, Row, Sort};

    /// The positions of the cells in the order of a sort.
    fn sorted(sort: &str, order: Order, cells: &[&str]) -> Vec<usize> {
        let sort = Sort::parse(sort).expect("a sort");
        let data: Vec<String> = cells.iter().map(|cell| format!("{{{cell}}}")).collect();
        let mut rows: Vec<Row<'_>> = (0..)
            .zip(&data)
            .map(|(at, data)| Row {
                id: uuid::Uuid::from_u128(at),
                created_at: 100 - i64::try_from(at).expect("few"),
                updated_at: 0,
                data,
            })
            .collect();
        rows.reverse();
        rows.sort_by(|one, other| sort.compare(order, one, other));
        let positions = rows
            .iter()
            .map(|row| usize::try_from(row.id.as_u128()).expect("few"));
        positions.collect()
    }

    const MIXED: [&str; 12] = [
        r#""c":10"#,
        r#""c":9"#,
        r#""c":"b""#,
        r#""c":null"#,
        r#""c":-1.5"#,
        "",
        r#""c":"10""#,
        r#""c":10.0"#,
        r#""c":true"#,
        r#""c":"""#,
        r#""c":[1]"#,
        r#""c":"b""#,
    ];

    #[test]
    fn numbers_come_before_the_rest_and_empty_cells_last() {
        assert_eq!(
            sorted("c", Order::Number, &MIXED),
            [4, 1, 0, 7, 9, 6, 10, 2, 11, 8, 3, 5]
        );
        assert_eq!(
            sorted("-c", Order::Number, &MIXED),
            [0, 7, 1, 4, 8, 2, 11, 10, 6, 9, 3, 5]
        );
    }

    #[test]
    fn other_columns_sort_by_text() {
        assert_eq!(
            sorted("c", Order::Text, &MIXED),
            [9, 4, 0, 6, 7, 1, 10, 2, 11, 8, 3, 5]
        );
        assert_eq!(
            sorted("-c", Order::Text, &MIXED),
            [8, 2, 11, 10, 1, 0, 6, 7, 4, 9, 3, 5]
        );
    }

    #[test]
    fn texts_sort_by_code_point() {
        let cells = [
            "\"c\":\"\u{10000}\"",
            "\"c\":\"é\"",
            "\"c\":\"Z\"",
            "\"c\":\"a\"",
            "\"c\":\"\u{ff5e}\"",
        ];
        assert_eq!(sorted("c", Order::Text, &cells), [2, 3, 1, 4, 0]);
    }

    #[test]
    fn own_columns_sort_by_what_they_are_and_ties_by_id() {
        let cells = [r#""id":"z","created_at":"a""#, r#""id":"a""#, r#""id":"m""#];
        assert_eq!(sorted("id", Order::Text, &cells), [0, 1, 2]);
        assert_eq!(sorted("-id", Order::Text, &cells), [2, 1, 0]);
        assert_eq!(sorted("created_at", Order::Text, &cells), [2, 1, 0]);
        assert_eq!(sorted("-updated_at", Order::Text, &cells), [0, 1, 2]);
        assert_eq!(sorted("-none", Order::Number, &cells), [0, 1, 2]);
    }

    #[test]
    fn a_minus_stands_for_descending() {
        let descending = Sort::parse("-a-b").expect("a sort");
        assert_eq!(descending.column, Column::Key("a-b".to_owned()));
        assert!(descending.descending);
        assert_eq!(Sort::parse("id"), Some(Sort::default()));
        assert_eq!(
            Sort::parse("--a").expect("a sort").column,
            Column::Key("-a".to_owned())
        );
        for wrong in ["", "-", "a\0"] {
            assert_eq!(Sort::parse(wrong), None, "{wrong:?}");
        }
    }
}
