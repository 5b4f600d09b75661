//! The operators of filters, and how many filters there may be.

use super::filter::{Compare, Search};

/// How many filters a request may have.
pub const MOST_FILTERS: usize = 100;

/// How many bytes one of them may have.
pub const MOST_BYTES: usize = 8 * 1024;

/// An operator, by what its value has to be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operator {
    Text(Compare),
    Search(Search),
    In,
    Is,
    Number(Compare),
}

/// Each with its name.
pub(super) const OPERATORS: [(&str, Operator); 20] = [
    ("eq", Operator::Text(Compare::Eq)),
    ("neq", Operator::Text(Compare::Neq)),
    ("gt", Operator::Text(Compare::Gt)),
    ("gte", Operator::Text(Compare::Gte)),
    ("lt", Operator::Text(Compare::Lt)),
    ("lte", Operator::Text(Compare::Lte)),
    ("like", Operator::Search(Search::Like)),
    ("ilike", Operator::Search(Search::Ilike)),
    ("contains", Operator::Search(Search::Contains)),
    ("ncontains", Operator::Search(Search::Ncontains)),
    ("startswith", Operator::Search(Search::Startswith)),
    ("endswith", Operator::Search(Search::Endswith)),
    ("in", Operator::In),
    ("is", Operator::Is),
    ("eqn", Operator::Number(Compare::Eq)),
    ("neqn", Operator::Number(Compare::Neq)),
    ("gtn", Operator::Number(Compare::Gt)),
    ("gten", Operator::Number(Compare::Gte)),
    ("ltn", Operator::Number(Compare::Lt)),
    ("lten", Operator::Number(Compare::Lte)),
];

/// The names of the operators that compare text, or look at a cell in another way.
pub fn text_operators() -> impl Iterator<Item = &'static str> {
    let others = OPERATORS
        .iter()
        .filter(|(_, operator)| !matches!(operator, Operator::Number(_)));
    others.map(|(name, _)| *name)
}

/// The names of the operators that compare numbers.
pub fn number_operators() -> impl Iterator<Item = &'static str> {
    let numbers = OPERATORS
        .iter()
        .filter(|(_, operator)| matches!(operator, Operator::Number(_)));
    numbers.map(|(name, _)| *name)
}

/// The names of all operators, in a row.
pub(super) fn all_operators() -> String {
    OPERATORS.map(|(name, _)| name).join(", ")
}
