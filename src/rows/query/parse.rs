//! Reads `column:op:value`.

use uuid::Uuid;

use super::Column;
use super::fault::{FilterFault, FilterReason};
use super::filter::{CellTest, Compare, Condition, Filter, IsValue, OwnTest};
use super::operators::{MOST_BYTES, MOST_FILTERS, OPERATORS, Operator};
use crate::json::Number;
use crate::rows::Decimal;
use crate::rows::calendar::exact_instant;

/// Reads the filters of a request, or reports all that is wrong with them.
pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Vec<Filter>, Vec<FilterFault>> {
    if texts.len() > MOST_FILTERS {
        return Err(vec![FilterFault {
            index: MOST_FILTERS,
            reason: FilterReason::TooMany,
        }]);
    }
    let (mut filters, mut faults) = (Vec::new(), Vec::new());
    for (index, text) in texts.iter().enumerate() {
        match Filter::parse(text.as_ref()) {
            Ok(filter) => filters.push(filter),
            Err(reason) => faults.push(FilterFault { index, reason }),
        }
    }
    if faults.is_empty() {
        Ok(filters)
    } else {
        Err(faults)
    }
}

impl Filter {
    /// Reads one filter.
    pub fn parse(text: &str) -> Result<Filter, FilterReason> {
        if text.len() > MOST_BYTES {
            return Err(FilterReason::TooLong);
        }
        if text.contains('\0') {
            return Err(FilterReason::Nul);
        }
        let mut parts = text.splitn(3, ':');
        let (Some(column), Some(word), Some(value)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(FilterReason::Malformed);
        };
        if column.is_empty() {
            return Err(FilterReason::NoColumn);
        }
        let (negated, word) = match word.strip_prefix("not.") {
            Some(word) if word.starts_with("not.") => return Err(FilterReason::NotTwice),
            Some(word) => (true, word),
            None => (false, word),
        };
        let known = OPERATORS.iter().find(|(name, _)| *name == word);
        let Some((name, operator)) = known else {
            let shown = word.chars().take(40).collect();
            return Err(FilterReason::UnknownOperator(shown));
        };
        let of_time = |column: &'static str| {
            let test = timestamp(*operator, value);
            test.map_err(|wrong| wrong.reason(column, name, FilterReason::NotAnInstant))
        };
        let (is_opposite, condition) = match Column::of(column) {
            Column::Id => {
                let test = own(*operator, value, uuid);
                let test =
                    test.map_err(|wrong| wrong.reason("id", name, FilterReason::NotAUuid))?;
                (false, Condition::Id(test))
            }
            Column::CreatedAt => {
                let TimestampTest { is_opposite, test } = of_time("created_at")?;
                (is_opposite, Condition::CreatedAt(test))
            }
            Column::UpdatedAt => {
                let TimestampTest { is_opposite, test } = of_time("updated_at")?;
                (is_opposite, Condition::UpdatedAt(test))
            }
            Column::Key(key) => {
                let test = cell(*operator, value)?;
                (false, Condition::Cell { key, test })
            }
        };
        Ok(Filter {
            negated: negated != is_opposite,
            condition,
        })
    }
}

fn cell(operator: Operator, value: &str) -> Result<CellTest, FilterReason> {
    Ok(match operator {
        Operator::Text(compare) => CellTest::Text(compare, value.to_owned()),
        Operator::Search(search) => CellTest::Search(search, value.to_owned()),
        // Of the empty text this is the empty text, not nothing.
        Operator::In => CellTest::In(value.split('|').map(str::to_owned).collect()),
        Operator::Is => CellTest::Is(is(value).ok_or(FilterReason::NotOfIs)?),
        Operator::Number(compare) => {
            let number = Number::parse(value).ok_or(FilterReason::NotANumber)?;
            if !Decimal::new(number.as_str()).is_storable() {
                return Err(FilterReason::NumberOutOfRange);
            }
            CellTest::Number(compare, number)
        }
    })
}

/// Why a test of a record's own column cannot be read.
enum OwnTestFault {
    Operator,
    Is,
    Value,
}

impl OwnTestFault {
    fn reason(
        self,
        column: &'static str,
        operator: &'static str,
        value: FilterReason,
    ) -> FilterReason {
        match self {
            OwnTestFault::Operator => FilterReason::NotOfOwn { column, operator },
            OwnTestFault::Is => FilterReason::NotOfIs,
            OwnTestFault::Value => value,
        }
    }
}

fn own<T>(
    operator: Operator,
    value: &str,
    read: fn(&str) -> Option<T>,
) -> Result<OwnTest<T>, OwnTestFault> {
    match operator {
        Operator::Text(compare) => {
            let value = read(value).ok_or(OwnTestFault::Value)?;
            Ok(OwnTest::Compare(compare, value))
        }
        Operator::In => {
            let values: Option<Vec<T>> = value.split('|').map(read).collect();
            values.map(OwnTest::In).ok_or(OwnTestFault::Value)
        }
        Operator::Is => is(value).map(OwnTest::Is).ok_or(OwnTestFault::Is),
        Operator::Search(_) | Operator::Number(_) => Err(OwnTestFault::Operator),
    }
}

/// A test of a timestamp, or of the opposite of what is asked.
struct TimestampTest {
    is_opposite: bool,
    test: OwnTest<i64>,
}

/// Reads a test of a timestamp, which has no digits beyond the microsecond. An instant that has some is between two
/// timestamps and equals none.
fn timestamp(operator: Operator, value: &str) -> Result<TimestampTest, OwnTestFault> {
    let mut is_opposite = false;
    let test = match own(operator, value, exact_instant)? {
        OwnTest::Compare(compare, at) if at.is_later => match compare {
            Compare::Eq | Compare::Neq => {
                is_opposite = compare == Compare::Neq;
                OwnTest::In(Vec::new())
            }
            Compare::Lt | Compare::Lte => OwnTest::Compare(Compare::Lte, at.microsecond),
            Compare::Gt | Compare::Gte => OwnTest::Compare(Compare::Gt, at.microsecond),
        },
        OwnTest::Compare(compare, at) => OwnTest::Compare(compare, at.microsecond),
        OwnTest::In(instants) => {
            let exact = instants.into_iter().filter(|at| !at.is_later);
            OwnTest::In(exact.map(|at| at.microsecond).collect())
        }
        OwnTest::Is(value) => OwnTest::Is(value),
    };
    Ok(TimestampTest { is_opposite, test })
}

fn is(value: &str) -> Option<IsValue> {
    match value {
        "null" => Some(IsValue::Null),
        "true" => Some(IsValue::True),
        "false" => Some(IsValue::False),
        _ => None,
    }
}

/// A UUID in its one written form, in either case.
fn uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok())?
}

#[cfg(test)]
mod tests;
