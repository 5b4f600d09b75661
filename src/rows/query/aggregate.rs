//! `count`, `sum` and `avg` of the rows that are found (`rest` 4.8).

use super::Row;
use crate::rows::{Cell, Decimal, Sum};

/// How many rows, at most, a sum or an average looks at: the first of those found, in default order.
pub const SAMPLE: usize = 10_000;

/// What is worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// How many rows there are, all of them.
    Count,
    /// What the numbers of a column come to.
    Sum,
    /// What they come to on average.
    Avg,
}

/// A result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregate {
    /// A JSON number in plain form; none for the average of nothing.
    pub result: Option<String>,
    /// How many numbers entered, or, of a count, the result.
    pub rows_considered: u64,
}

impl Operation {
    /// The operation of that word.
    pub fn parse(word: &str) -> Option<Operation> {
        match word {
            "count" => Some(Operation::Count),
            "sum" => Some(Operation::Sum),
            "avg" => Some(Operation::Avg),
            _ => None,
        }
    }

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Count => "count",
            Operation::Sum => "sum",
            Operation::Avg => "avg",
        }
    }

    /// Whether it needs a column.
    pub fn needs_column(self) -> bool {
        self != Operation::Count
    }

    /// What the found rows, in default order, come to. What is not a JSON number does not enter;
    /// nor does the `key` matter to a count.
    pub fn of<'a>(self, key: &str, rows: impl IntoIterator<Item = Row<'a>>) -> Aggregate {
        let rows = rows.into_iter();
        if self == Operation::Count {
            return Aggregate::count(rows.fold(0, |count, _| count + 1));
        }
        let mut sum = Sum::default();
        for row in rows.take(SAMPLE) {
            if let Some(Cell::Number(token)) = row.cell(key).map(Cell::new) {
                sum.add(&Decimal::new(token));
            }
        }
        if self == Operation::Sum {
            Aggregate::sum(&sum)
        } else {
            Aggregate::avg(&sum)
        }
    }
}

impl Aggregate {
    /// The result of a count.
    pub fn count(rows: u64) -> Aggregate {
        Aggregate {
            result: Some(rows.to_string()),
            rows_considered: rows,
        }
    }

    /// The result of a sum.
    pub fn sum(sum: &Sum) -> Aggregate {
        Aggregate {
            result: Some(sum.total()),
            rows_considered: sum.count(),
        }
    }

    /// The result of an average.
    pub fn avg(sum: &Sum) -> Aggregate {
        Aggregate {
            result: sum.average(),
            rows_considered: sum.count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Operation, Row, SAMPLE};

    fn row(data: &str) -> Row<'_> {
        Row {
            id: uuid::Uuid::nil(),
            created_at: 0,
            updated_at: 0,
            data,
        }
    }

    fn of(operation: Operation, cells: &[&str]) -> (Option<String>, u64) {
        let data: Vec<String> = cells
            .iter()
            .map(|cell| format!("{{\"c\":{cell}}}"))
            .collect();
        let response = operation.of("c", data.iter().map(|data| row(data)));
        (response.result, response.rows_considered)
    }

    #[test]
    fn only_numbers_enter() {
        let cells = ["5", "\"5\"", "true", "null", "[1]", "0.5", "{}", "\"\""];
        assert_eq!(of(Operation::Count, &cells), (Some("8".to_owned()), 8));
        assert_eq!(of(Operation::Sum, &cells), (Some("5.5".to_owned()), 2));
        assert_eq!(of(Operation::Avg, &cells), (Some("2.75".to_owned()), 2));
    }

    #[test]
    fn nothing_sums_to_zero_and_has_no_average() {
        for cells in [&[][..], &["\"5\"", "null"]] {
            let rows = cells.len();
            assert_eq!(of(Operation::Count, cells).0, Some(rows.to_string()));
            assert_eq!(of(Operation::Sum, cells), (Some("0".to_owned()), 0));
            assert_eq!(of(Operation::Avg, cells), (None, 0));
        }
    }

    #[test]
    fn a_sum_looks_at_so_many_rows_and_a_count_at_all() {
        let rows = || {
            let number = std::iter::repeat_n(r#"{"c":1}"#, SAMPLE + 1);
            std::iter::once(r#"{"c":"1"}"#).chain(number).map(row)
        };
        // The row without a number is of the sample, too.
        let sum = Operation::Sum.of("c", rows());
        assert_eq!(
            (sum.result.as_deref(), sum.rows_considered),
            (Some("9999"), 9999)
        );
        let avg = Operation::Avg.of("c", rows());
        assert_eq!(
            (avg.result.as_deref(), avg.rows_considered),
            (Some("1"), 9999)
        );
        let count = Operation::Count.of("c", rows());
        assert_eq!(
            (count.result.as_deref(), count.rows_considered),
            (Some("10002"), 10002)
        );
    }

    #[test]
    fn operation_names_round_trip() {
        for word in ["count", "sum", "avg"] {
            assert_eq!(Operation::parse(word).map(Operation::as_str), Some(word));
        }
        assert_eq!(Operation::parse("max"), None);
        assert!(!Operation::Count.needs_column() && Operation::Avg.needs_column());
    }
}
