//! A parsed filter: the meaning of `column:op:value`.

use std::cmp::Ordering;

use uuid::Uuid;

use super::Column;
use crate::json::Number;

/// One filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Whether those are meant of which the condition does not hold: with `not.` before the operator.
    pub negated: bool,
    /// What is asked.
    pub condition: Condition,
}

/// What is asked of which column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Of the id.
    Id(OwnTest<Uuid>),
    /// Of the time at which the record was made, in microseconds since 1970.
    CreatedAt(OwnTest<i64>),
    /// Of the time at which it was changed last, in microseconds since 1970.
    UpdatedAt(OwnTest<i64>),
    /// Of a cell.
    Cell {
        /// The key of the row data.
        key: String,
        /// What is asked of it.
        test: CellTest,
    },
}

/// What can be asked of a record's own columns, which are never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnTest<T> {
    /// How it compares with a value.
    Compare(Compare, T),
    /// Whether it is one of these.
    In(Vec<T>),
    /// Whether it is `null`, `true`, `false`: it is none of them.
    Is(IsValue),
}

/// What can be asked of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellTest {
    /// How its text form compares with a text, by code point.
    Text(Compare, String),
    /// What its text form contains.
    Search(Search, String),
    /// Whether its text form is one of these.
    In(Vec<String>),
    /// Whether it is this value of JSON.
    Is(IsValue),
    /// How it compares with a number, if it is one; other cells are found by no comparison, and by no
    /// negated one.
    Number(Compare, Number),
}

/// A comparison: `eq`, …, and in numbers `eqn`, ….
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Equal.
    Eq,
    /// Not equal.
    Neq,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
}

impl Compare {
    /// Whether it holds of a value that stands so to the one compared with.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Compare::Eq => order.is_eq(),
            Compare::Neq => order.is_ne(),
            Compare::Gt => order.is_gt(),
            Compare::Gte => order.is_ge(),
            Compare::Lt => order.is_lt(),
            Compare::Lte => order.is_le(),
        }
    }
}

/// How a text is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Search {
    /// A pattern in which `*` is any text, with case.
    Like,
    /// A pattern in which `*` is any text, without case.
    Ilike,
    /// A part, without case.
    Contains,
    /// No such part.
    Ncontains,
    /// The beginning, without case.
    Startswith,
    /// The end, without case.
    Endswith,
}

/// A value that `is` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsValue {
    /// `null`, or absent.
    Null,
    /// The boolean, not the text.
    True,
    /// The boolean, not the text.
    False,
}

impl Filter {
    /// The column that it asks about.
    pub fn column(&self) -> Column {
        match &self.condition {
            Condition::Id(_) => Column::Id,
            Condition::CreatedAt(_) => Column::CreatedAt,
            Condition::UpdatedAt(_) => Column::UpdatedAt,
            Condition::Cell { key, .. } => Column::Key(key.clone()),
        }
    }
}
