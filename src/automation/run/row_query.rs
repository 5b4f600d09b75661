//! Translates the filter of a read into a row query.
//!
//! What a rule means depends on the table: a column that it declares is meant by its name, and what every row has only
//! where no column is called so; and texts compare as texts. So a [`RowQuery`] becomes a [`TableQuery`] once the
//! columns are known.

use uuid::Uuid;

use super::compare::digits;
use super::failure::Failure;
use super::id_field::id_field;
use super::value_text::text_of;
use crate::definitions::Storage;
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
    /// What its rows have to be like: all of them hold.
    rules: Vec<Rule>,
    /// In which order.
    order: Option<Order>,
    /// How many at most.
    limit: usize,
}

/// A column to sort by.
#[derive(Debug, Clone)]
struct Order {
    column: String,
    descending: bool,
}

/// What a column has to be like.
#[derive(Debug, Clone)]
struct Rule {
    column: String,
    tests: Vec<RuleTest>,
    /// For a test that what every row has knows no meaning of.
    refusal: Failure,
}

#[derive(Debug, Clone)]
enum RuleTest {
    /// As filters say it.
    Filter(CellTest),
    /// Before or behind a value, by amount or by text.
    Order(Compare, Value),
    /// Empty, or not.
    Empty(bool),
}

/// What a table knows of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// It declares none of that name.
    Undeclared,
    /// Its cells are texts, whatever they look like.
    Text,
    /// Its cells may be numbers.
    Mixed,
}

impl ColumnKind {
    /// Of a column that stores its cells so; nothing where the definitions do not have its type.
    pub fn of(storage: Option<Storage>) -> ColumnKind {
        match storage {
            Some(
                Storage::String
                | Storage::Masked
                | Storage::Option
                | Storage::Date
                | Storage::Datetime,
            ) => ColumnKind::Text,
            Some(
                Storage::Number
                | Storage::Boolean
                | Storage::Options
                | Storage::Any
                | Storage::Link
                | Storage::None,
            )
            | None => ColumnKind::Mixed,
        }
    }
}

/// A read of a table whose columns are known.
#[derive(Debug, Clone)]
pub struct TableQuery {
    /// What its rows have to be like, as far as filters can say it: all of them hold.
    pub filters: Vec<Filter>,
    /// Cells that are to be empty or not, which no filter says.
    cells: Vec<CellState>,
    /// In which order.
    pub sort: Sort,
    /// How many at most.
    pub limit: usize,
}

/// A cell that is to be empty, or not.
#[derive(Debug, Clone)]
struct CellState {
    key: String,
    is_empty: bool,
}

impl RowQuery {
    /// Reads the resolved config of a `feature.read`; `written` is the config as it stands.
    pub(super) fn of(config: &Object, written: &Object) -> Result<RowQuery, Failure> {
        let mut question = RowQuery {
            feature: id_field(config, "featureId")?,
            rules: Vec::new(),
            order: None,
            limit: DEFAULT_ROWS,
        };
        if let Some(Value::Number(limit)) = config.get("limit") {
            let limit = limit.as_i64().and_then(|limit| usize::try_from(limit).ok());
            question.limit = limit.unwrap_or(DEFAULT_ROWS).min(DEFAULT_ROWS);
        }
        if let Some(order) = config.get("orderBy")
            && let Some(column) = order.get("column").and_then(Value::as_str)
        {
            question.order = Some(Order {
                column: column.to_owned(),
                descending: order.get("desc").and_then(Value::as_bool) == Some(true),
            });
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
            question
                .rules
                .push(Rule::of(rule, &value, to_failure).map_err(to_failure)?);
        }
        Ok(question)
    }

    /// Whether it depends on the columns of the table.
    pub fn asks_for_columns(&self) -> bool {
        let is_own = |column: &str| Column::of(column).key().is_none();
        let is_order = |test: &RuleTest| matches!(test, RuleTest::Order(..));
        let order = self.order.as_ref();
        order.is_some_and(|order| is_own(&order.column))
            || self
                .rules
                .iter()
                .any(|rule| is_own(&rule.column) || rule.tests.iter().any(is_order))
    }

    /// What it asks of a table, which knows its columns by their names.
    ///
    /// # Errors
    /// The failure of a rule that asks of what every row has what cannot be asked of it.
    pub fn of_table(&self, kind: impl Fn(&str) -> ColumnKind) -> Result<TableQuery, Failure> {
        let column = |name: &str| match kind(name) {
            ColumnKind::Undeclared => Column::of(name),
            ColumnKind::Text | ColumnKind::Mixed => Column::Key(name.to_owned()),
        };
        let sort = self.order.as_ref().map(|order| Sort {
            column: column(&order.column),
            descending: order.descending,
        });
        let mut query = TableQuery {
            filters: Vec::new(),
            cells: Vec::new(),
            sort: sort.unwrap_or_default(),
            limit: self.limit,
        };
        for rule in &self.rules {
            match column(&rule.column) {
                Column::Key(key) => {
                    let is_text = kind(&rule.column) == ColumnKind::Text;
                    for test in &rule.tests {
                        query.add_cell_test(&key, test, is_text);
                    }
                }
                Column::Id | Column::CreatedAt | Column::UpdatedAt => {
                    query.add_record_test(rule)?;
                }
            }
        }
        Ok(query)
    }
}

impl Rule {
    fn of(
        rule: &Value,
        value: &Value,
        to_failure: impl Fn(&str) -> Failure,
    ) -> Result<Rule, &'static str> {
        let column = rule.get("columnName").and_then(Value::as_str);
        let column = column.filter(|column| !column.is_empty() && !column.contains('\0'));
        let column = column.ok_or("the rule names no column")?;
        let operator = rule.get("operator").and_then(Value::as_str);
        let known = ["id", "columnName", "operator", "value"];
        let mut members = rule.as_object().into_iter().flatten();
        if members.any(|(key, _)| !known.contains(&key.as_str())) {
            return Err("the rule says more than a read understands");
        }
        let order = |compare| RuleTest::Order(compare, value.clone());
        let text = text_of(value);
        let tests = match operator.unwrap_or_default() {
            "equals" => vec![RuleTest::Filter(CellTest::Text(Compare::Eq, text))],
            "notEquals" => vec![RuleTest::Filter(CellTest::Text(Compare::Neq, text))],
            "contains" => vec![RuleTest::Filter(CellTest::Search(Search::Contains, text))],
            "greaterThan" => vec![order(Compare::Gt)],
            "greaterOrEqual" => vec![order(Compare::Gte)],
            "lessThan" => vec![order(Compare::Lt)],
            "lessOrEqual" => vec![order(Compare::Lte)],
            "between" => {
                let Some([low, high]) = value.as_list() else {
                    return Err("`between` takes a list of two values");
                };
                if [low, high].iter().any(|one| !is_bound(one)) {
                    return Err("`between` takes two values that can be compared with a cell");
                }
                vec![
                    RuleTest::Order(Compare::Gte, low.clone()),
                    RuleTest::Order(Compare::Lte, high.clone()),
                ]
            }
            "isEmpty" => vec![RuleTest::Empty(true)],
            "isNotEmpty" => vec![RuleTest::Empty(false)],
            _ => return Err("the rule has no operator that is known"),
        };
        let refusal = match Column::of(column) {
            Column::Id => "`id` is compared with ids",
            _ => {
                "a time is compared, by order or for equality, with a day or an instant such as 2025-01-31T12:00:00Z"
            }
        };
        Ok(Rule {
            column: column.to_owned(),
            tests,
            refusal: to_failure(refusal),
        })
    }
}

impl TableQuery {
    fn add_cell_test(&mut self, key: &str, test: &RuleTest, is_text: bool) {
        let test = match test {
            RuleTest::Filter(test) => test.clone(),
            RuleTest::Order(compare, value) if is_text => CellTest::Text(*compare, text_of(value)),
            RuleTest::Order(compare, value) => ordered(*compare, value),
            RuleTest::Empty(is_empty) => {
                self.cells.push(CellState {
                    key: key.to_owned(),
                    is_empty: *is_empty,
                });
                if *is_empty {
                    return;
                }
                // What is not empty is no empty text: so the store leaves out most of the others.
                CellTest::Text(Compare::Neq, String::new())
            }
        };
        self.filters.push(Filter {
            negated: false,
            condition: Condition::Cell {
                key: key.to_owned(),
                test,
            },
        });
    }

    /// What every row has is compared as what it is. A rule that cannot be asked is never left out.
    fn add_record_test(&mut self, rule: &Rule) -> Result<(), Failure> {
        for test in &rule.tests {
            let test = match test {
                RuleTest::Filter(test) => test.clone(),
                RuleTest::Order(compare, value) => ordered(*compare, value),
                // It is never empty.
                RuleTest::Empty(is_empty) => {
                    if *is_empty {
                        self.limit = 0;
                    }
                    continue;
                }
            };
            let filter = own(&rule.column, test).ok_or_else(|| rule.refusal.clone())?;
            self.filters.push(filter);
        }
        Ok(())
    }

    /// Whether filters alone find the rows.
    pub fn is_whole(&self) -> bool {
        self.cells.is_empty()
    }

    /// Whether a row is one of those that are asked for, also where filters cannot say it.
    pub fn holds(&self, row: &Row<'_>) -> bool {
        let fits = |state: &CellState| {
            let cell = row.cell(&state.key);
            cell.is_none_or(|cell| Cell::new(cell).is_empty()) == state.is_empty
        };
        self.cells.iter().all(fits) && matches(&self.filters, Match::All, row)
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{ColumnKind, RowQuery};
    use crate::json::{Object, Value};
    use crate::rows::query::{Column, Row};

    const TABLE: &str = "10000000-0000-4000-8000-00000000000a";

    fn query(rule: &str) -> RowQuery {
        let config = format!(
            r#"{{"featureId":"{TABLE}","filterGroup":{{"rules":[{rule}]}},"orderBy":{{"column":"id"}}}}"#
        );
        let config = Value::parse(&config).expect("JSON");
        let config: Object = config.as_object().cloned().expect("an object");
        RowQuery::of(&config, &config).expect("a query")
    }

    fn row(data: &str) -> Row<'_> {
        Row {
            id: Uuid::nil(),
            created_at: 0,
            updated_at: 0,
            data,
        }
    }

    #[test]
    fn a_declared_column_is_meant_by_its_name() {
        let rule = r#"{"columnName":"id","operator":"equals","value":7}"#;
        let declared = query(rule).of_table(|_| ColumnKind::Mixed);
        let declared = declared.expect("can be asked");
        assert!(declared.holds(&row(r#"{"id":7}"#)));
        assert!(!declared.holds(&row(r#"{"id":8}"#)));
        assert_eq!(declared.sort.column, Column::Key("id".to_owned()));
        // The ids of records are no numbers.
        let own = query(rule).of_table(|_| ColumnKind::Undeclared);
        let failure = own.expect_err("cannot be asked").to_string();
        assert!(failure.contains("compared with ids"), "{failure}");
        let nil = format!(
            r#"{{"columnName":"id","operator":"equals","value":"{}"}}"#,
            Uuid::nil()
        );
        let own = query(&nil).of_table(|_| ColumnKind::Undeclared);
        let own = own.expect("can be asked");
        assert!(own.holds(&row(r#"{"id":7}"#)));
        assert_eq!(own.sort.column, Column::Id);
    }

    #[test]
    fn the_type_of_the_column_decides_how_it_orders() {
        let (nine, ten, number) = (r#"{"a":"9"}"#, r#"{"a":"10"}"#, r#"{"a":10}"#);
        for (kind, found) in [
            (ColumnKind::Text, [true, false, false]),
            (ColumnKind::Mixed, [false, false, true]),
        ] {
            let query = query(r#"{"columnName":"a","operator":"greaterThan","value":"5"}"#);
            assert!(query.asks_for_columns());
            let query = query.of_table(|name| match name {
                "a" => kind,
                _ => ColumnKind::Undeclared,
            });
            let query = query.expect("can be asked");
            assert_eq!(
                [nine, ten, number].map(|data| query.holds(&row(data))),
                found
            );
        }
    }

    #[test]
    fn what_is_not_empty_is_whatever_is_not_empty() {
        let asked = |operator: &str, data: &str| {
            let rule = format!(r#"{{"columnName":"a","operator":"{operator}"}}"#);
            let query = query(&rule).of_table(|_| ColumnKind::Undeclared);
            query.expect("can be asked").holds(&row(data))
        };
        for (data, empty) in [
            ("{}", true),
            (r#"{"a":null}"#, true),
            (r#"{"a":""}"#, true),
            (r#"{"a":[]}"#, true),
            (r#"{"a":"[]"}"#, false),
            (r#"{"a":" "}"#, false),
            (r#"{"a":[""]}"#, false),
            (r#"{"a":0}"#, false),
            (r#"{"a":{}}"#, false),
        ] {
            assert_eq!(asked("isEmpty", data), empty, "{data}");
            assert_eq!(asked("isNotEmpty", data), !empty, "{data}");
        }
    }
}
