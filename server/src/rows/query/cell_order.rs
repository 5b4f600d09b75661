//! How the cells of a column compare, and the segments in which they stand.

use tplkit::rows::AFTER_NUMBERS;
use tplkit::rows::query::Order;

use crate::rows::Table;

/// How the cells of a column are sorted.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyOrder {
    pub(super) order: Order,
    pub(super) descending: bool,
}

/// Cells between two others, by an expression that sorts as they do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    /// From here on, if not from the first.
    pub(super) from: Option<&'static str>,
    /// Below this, if not to the last.
    pub(super) to: Option<&'static str>,
}

const ALL: Segment = Segment {
    from: None,
    to: None,
};

const NUMBERS: Segment = Segment {
    from: None,
    to: Some(AFTER_NUMBERS),
};

const OTHERS: Segment = Segment {
    from: Some(AFTER_NUMBERS),
    to: None,
};

/// How the cells of a column of a table compare.
pub(super) fn order_of(table: &Table, key: &str) -> Order {
    match table.column(key) {
        Some(column) if column.is_number => Order::Number,
        _ => Order::Text,
    }
}

/// The segments in which cells stand by their keys. Ascending, keys stand so by themselves.
pub(super) fn segments(order: Order, descending: bool) -> &'static [Segment] {
    match (order, descending) {
        (Order::Number, true) => &[NUMBERS, OTHERS],
        _ => &[ALL],
    }
}
