//! The faults of a filter.

use super::operators::{MOST_BYTES, MOST_FILTERS, all_operators};

/// A filter that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter[{index}]: {reason}")]
pub struct FilterFault {
    /// Which one, from 0.
    pub index: usize,
    /// Why.
    pub reason: FilterReason,
}

/// Why a filter cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterReason {
    /// There are more filters than are accepted; of the first that is one too many.
    #[error("there are more than {MOST_FILTERS} filters")]
    TooMany,
    /// It is longer than accepted.
    #[error("it is longer than {MOST_BYTES} bytes")]
    TooLong,
    /// One of the two colons is missing.
    #[error("a filter is written `column:operator:value`")]
    Malformed,
    /// Nothing is before the first colon.
    #[error("the column is empty: a filter is written `column:operator:value`")]
    NoColumn,
    /// U+0000.
    #[error("it holds U+0000, which no cell can hold")]
    Nul,
    /// `not.not.`
    #[error("`not.` may stand only once")]
    NotTwice,
    /// No such operator.
    #[error("there is no operator {0:?}; the operators are {known}", known = all_operators())]
    UnknownOperator(String),
    /// An operator that a record's own columns do not have.
    #[error("{column} has the operators eq, neq, gt, gte, lt, lte, in and is, not {operator}")]
    NotOfOwn {
        /// The column.
        column: &'static str,
        /// The operator.
        operator: &'static str,
    },
    /// `is` with another value.
    #[error("`is` asks for null, true or false")]
    NotOfIs,
    /// A numeric operator with something else.
    #[error("the value of a numeric operator is a number as JSON writes it")]
    NotANumber,
    /// A numeric operator with a number that no cell can hold.
    #[error("a number has at most 34 significant digits, and 64 digits in plain notation")]
    NumberOutOfRange,
    /// An `id` compared with something else.
    #[error("an id is compared with UUIDs")]
    NotAUuid,
    /// A timestamp compared with something else.
    #[error(
        "a timestamp is compared with RFC 3339 instants, such as 2025-01-31T12:00:00Z (a plus sign is %2B in a query)"
    )]
    NotAnInstant,
}
