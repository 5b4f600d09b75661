//! Translates the filter of a read into a row query.

use uuid::Uuid;

use super::compare::digits;
use super::failure::Failure;
use super::id_field::id_field;
use super::value_text::text_of;
use crate::json::{Number, Object, Value};
use crate::rows::query::{
    CellTest, Column, Compare, Condition, Filter, IsValue, Match, Row, Search, Sort, matches, parse,
};
use crate::rows::{Cell, Decimal};

/// How many rows a read brings when it does not say.
const DEFAULT_ROWS: usize = 10_000;

/// A read.
#[derive(Debug, Clone)]
pub struct RowQuery {
    /// The table.
    pub feature: Uuid,
    /// What its rows have to be like, as far as filters can say it: all of them hold.
    pub filters: Vec<Filter>,
    /// Columns that have to be empty, which no filter says.
    empty: Vec<String>,
    /// In which order.
    pub sort: Sort,
    /// How many at most.
    pub limit: usize,
}

impl RowQuery {
    /// Reads the resolved config of a `feature.read`; `written` is the config as it stands.
    pub(super) fn of(config: &Object, written: &Object) -> Result<RowQuery, Failure> {
        let mut question = RowQuery {
            feature: id_field(config, "featureId")?,
            filters: Vec::new(),
            empty: Vec::new(),
            sort: Sort::default(),
            limit: DEFAULT_ROWS,
        };
        if let Some(Value::Number(limit)) = config.get("limit") {
            let limit = limit.as_i64().and_then(|limit| usize::try_from(limit).ok());
            question.limit = limit.unwrap_or(DEFAULT_ROWS).min(DEFAULT_ROWS);
        }
        if let Some(order) = config.get("orderBy")
            && let Some(column) = order.get("column").and_then(Value::as_str)
        {
            question.sort = Sort {
                column: Column::of(column),
                descending: order.get("desc").and_then(Value::as_bool) == Some(true),
            };
        }
        let group = config.get("filterGroup");
        let combinator = group.and_then(|group| group.get("combinator"));
        if combinator.is_some_and(|word| word.as_str() != Some("and")) {
            let reason = "only rules that hold together reach a read";
            return Err(Failure::at("filterGroup.combinator", reason));
        }
        let members = group.and_then(Value::as_object).into_iter().flatten();
        let known = |key: &str| ["combinator", "rules"].contains(&key);
        if let Some((other, _)) = members.into_iter().find(|(key, _)| !known(key)) {
            let reason = "only rules at the top reach a read: without this part it would find more";
            return Err(Failure::at(format!("filterGroup.{other}"), reason));
        }
        let rules = group.and_then(|group| group.get("rules"));
        for (at, rule) in rules
            .and_then(Value::as_list)
            .into_iter()
            .flatten()
            .enumerate()
        {
            let field = format!("filterGroup.rules.{at}.value");
            let path: Vec<String> = field.split('.').skip(1).map(str::to_owned).collect();
            let expression = written
                .get("filterGroup")
                .and_then(|group| group.at_path(&path));
            let value = rule.get("value").cloned().unwrap_or_default();
            let to_failure = |reason: &str| Failure::at(&field, reason).yields(expression, &value);
            question.rule(rule, &value).map_err(to_failure)?;
        }
        Ok(question)
    }

    fn rule(&mut self, rule: &Value, value: &Value) -> Result<(), &'static str> {
        let column = rule.get("columnName").and_then(Value::as_str);
        let column = column.filter(|column| !column.is_empty() && !column.contains('\0'));
        let column = column.ok_or("the rule names no column")?;
        let operator = rule.get("operator").and_then(Value::as_str);
        let known = ["id", "columnName", "operator", "value"];
        let mut members = rule.as_object().into_iter().flatten();
        if members.any(|(key, _)| !known.contains(&key.as_str())) {
            return Err("the rule says more than a read understands");
        }
        let text = text_of(value);
        let test = match operator.unwrap_or_default() {
            "equals" => CellTest::Text(Compare::Eq, text),
            "notEquals" => CellTest::Text(Compare::Neq, text),
            "contains" => CellTest::Search(Search::Contains, text),
            "greaterThan" => ordered(Compare::Gt, value),
            "greaterOrEqual" => ordered(Compare::Gte, value),
            "lessThan" => ordered(Compare::Lt, value),
            "lessOrEqual" => ordered(Compare::Lte, value),
            "between" => {
                let Some([low, high]) = value.as_list() else {
                    return Err("`between` takes a list of two values");
                };
                if [low, high].iter().any(|one| !is_bound(one)) {
                    return Err("`between` takes two values that can be compared with a cell");
                }
                self.add_filter(column, ordered(Compare::Gte, low))?;
                ordered(Compare::Lte, high)
            }
            "isEmpty" => {
                self.empty.push(column.to_owned());
                return Ok(());
            }
            // What every row has is never empty.
            "isNotEmpty" if Column::of(column).key().is_none() => return Ok(()),
            "isNotEmpty" => {
                self.add_filter(column, CellTest::Text(Compare::Neq, String::new()))?;
                CellTest::Text(Compare::Neq, "[]".to_owned())
            }
            _ => return Err("the rule has no operator that is known"),
        };
        self.add_filter(column, test)
    }

    fn add_filter(&mut self, column: &str, test: CellTest) -> Result<(), &'static str> {
        // What every row has is compared as what it is. A rule that cannot be asked is never left out.
        let refusal = match Column::of(column) {
            Column::Id => "`id` is compared with ids",
            _ => {
                "a time is compared, by order or for equality, with a day or an instant such as 2025-01-31T12:00:00Z"
            }
        };
        let filter = match (Column::of(column), test) {
            (Column::Key(key), test) => Filter {
                negated: false,
                condition: Condition::Cell { key, test },
            },
            (_, test) => own(column, test).ok_or(refusal)?,
        };
        self.filters.push(filter);
        Ok(())
    }

    /// Whether filters alone find the rows.
    pub fn is_whole(&self) -> bool {
        self.empty.is_empty()
    }

    /// Whether the rows are to be asked for more closely than filters can.
    pub fn holds(&self, row: &Row<'_>) -> bool {
        let empty = |column: &String| match Column::of(column) {
            Column::Key(key) => row.cell(&key).is_none_or(|cell| Cell::new(cell).is_empty()),
            _ => false,
        };
        self.empty.iter().all(empty) && matches(&self.filters, Match::All, row)
    }
}

/// Whether a value is one that `between` can begin or end with.
fn is_bound(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_))
}

/// A comparison by amount where the value is a number, else by text.
fn ordered(compare: Compare, value: &Value) -> CellTest {
    let number = digits(value).filter(|digits| Decimal::new(digits).is_storable());
    match number.and_then(|digits| Number::parse(&digits)) {
        Some(number) => CellTest::Number(compare, number),
        None => CellTest::Text(compare, text_of(value)),
    }
}

/// A question about what every row has, as filters write it.
fn own(column: &str, test: CellTest) -> Option<Filter> {
    let (op, value) = match test {
        CellTest::Text(compare, value) => (
            match compare {
                Compare::Eq => "eq",
                Compare::Neq => "neq",
                Compare::Gt => "gt",
                Compare::Gte => "gte",
                Compare::Lt => "lt",
                Compare::Lte => "lte",
            },
            value,
        ),
        CellTest::Is(IsValue::Null | IsValue::True | IsValue::False)
        | CellTest::Search(..)
        | CellTest::In(_)
        | CellTest::Number(..) => return None,
    };
    let parse = |value: &str| parse(&[format!("{column}:{op}:{value}")]).ok();
    // A day stands for its beginning, so that `{{sys.today}}` has a meaning here.
    let parsed = parse(&value).or_else(|| parse(&format!("{value}T00:00:00Z")));
    parsed?.into_iter().next()
}
