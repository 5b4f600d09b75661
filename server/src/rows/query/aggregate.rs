//! Counts, sums and averages of rows.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use tplkit::rows::query::{Aggregate, Column, Operation, SAMPLE};
use tplkit::rows::{Decimal, Sum};

use super::chosen_index::IndexChoice;
use super::composed::Composed;
use super::composer::Composer;
use super::execute::execute;
use super::index_choice::plan_is_open;
use super::row_filter::RowFilter;
use super::search::Candidates;
use super::selected_columns::VERSION;
use crate::refusal::Refusal;
use crate::rows::{Table, Tables};
use crate::store::{Dialect, Row, Scope, StoreError, Tx};

/// The largest limit of a count: so many entries of an index are read within a few milliseconds.
pub const MOST_COUNTED: u32 = 10_000;

/// What is to be worked out of which rows.
#[derive(Debug, Clone)]
pub struct AggregateQuery {
    /// Which rows.
    pub filter: RowFilter,
    /// What.
    pub operation: Operation,
    /// Of which key of the data. A count needs none.
    pub column: Option<String>,
    /// How far a count goes. Without one it is exact.
    pub limit: Option<u32>,
}

/// A count, a sum or an average.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Aggregate")]
pub(crate) struct AggregateView<'a> {
    /// What was worked out.
    #[schemars(extend("enum" = ["count", "sum", "avg"]))]
    op: &'static str,
    /// Technical name of the column concerned.
    column: Option<&'a str>,
    /// The number.
    #[schemars(with = "Option<serde_json::Number>")]
    result: Option<Box<RawValue>>,
    /// How many values entered the result.
    rows_considered: u64,
    /// Of a count with `limit`: whether there are more rows than `result`, which then is the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    at_least: Option<bool>,
}

/// A count, a sum or an average that was found.
#[derive(Debug)]
pub struct FoundAggregate {
    /// The JSON document.
    pub document: Vec<u8>,
    /// The columns that the query names and the table does not have.
    pub unknown_columns: Vec<String>,
}

/// Finds a count, a sum or an average.
///
/// # Errors
/// 404 for a table that the caller does not see, and those of the store.
pub async fn aggregate(
    tx: &mut Tx,
    tables: &Tables,
    query: &AggregateQuery,
) -> Result<FoundAggregate, Refusal> {
    // Whoever sees every row need not have them counted.
    let feature = query.filter.feature;
    let counted = query.is_kept(tx.scope());
    let compose = |table: &Table, dialect| Ok(query.compose(table, dialect, counted));
    let (table, rows) = execute(tx, tables, feature, compose).await?;
    query.filter.note(tables, &table, None);
    let (found, at_least) = query.read(&rows)?;
    let result = found.result.map(RawValue::from_string).transpose();
    let document = AggregateView {
        op: query.operation.as_str(),
        column: query.column.as_deref(),
        result: result.map_err(|error| unwritable(&error))?,
        rows_considered: found.rows_considered,
        at_least,
    };
    let document = serde_json::to_vec(&document).map_err(|error| unwritable(&error))?;
    let named = query.column.iter().map(|name| Column::of(name));
    Ok(FoundAggregate {
        document,
        unknown_columns: query.filter.unknown(&table, named),
    })
}

fn unwritable(error: &serde_json::Error) -> StoreError {
    StoreError::Internal(error.to_string())
}

impl AggregateQuery {
    /// Whether the number of all rows is kept as the scope sees it.
    fn is_kept(&self, scope: &Scope) -> bool {
        match scope {
            Scope::Caller(visible) => !visible.guarded.contains(&self.filter.feature),
            Scope::Authentication | Scope::Operator | Scope::OperatorOf(_) => true,
        }
    }

    pub(super) fn compose(&self, table: &Table, dialect: Dialect, counted: bool) -> Composed {
        let mut composer = Composer::new(table, dialect);
        let RowFilter {
            filters,
            matching: together,
            ..
        } = &self.filter;
        let text = if self.operation == Operation::Count && counted && filters.is_empty() {
            format!(
                "SELECT {VERSION}, CAST(coalesce(sum(count), 0) AS bigint) FROM row_counts \
                 WHERE organization_id = $1 AND feature_id = $2 AND {{tenant $1}}"
            )
        } else {
            let found = composer.where_clause(filters, *together);
            let (result, from) = self.over(&mut composer, &found, "{counted rows}");
            format!("SELECT {VERSION}, {result} FROM {from}")
        };
        let mut composed = composer.finish(text);
        if plan_is_open(table, filters, *together) {
            composed.plan_anew();
        }
        if let Some(candidates) = Candidates::of_all(table, filters, *together) {
            let mut composer = Composer::new(table, dialect);
            composer.index_choice = IndexChoice::Ids;
            let found = composer.where_clause(filters, *together);
            let pass = composer.aggregate_of_candidates(&found, &candidates, |composer, found| {
                let (result, from) = self.over(composer, found, "rows");
                format!("SELECT {result} FROM {from}")
            });
            composed.search = Some(Box::new(pass));
        }
        composed
    }

    /// The result over the rows that a condition finds, and what it is selected from. Rows are counted in `counted`.
    fn over(&self, composer: &mut Composer<'_>, found: &str, counted: &str) -> (String, String) {
        if self.operation != Operation::Count {
            let key = composer.data_key(self.column.as_deref().unwrap_or_default());
            let digits = composer.digits(&key);
            let together = match composer.dialect {
                Dialect::Sqlite => "group_concat",
                Dialect::Postgres => "string_agg",
            };
            let sample = format!(
                "(SELECT {digits} AS digits FROM rows WHERE {found} ORDER BY id LIMIT {SAMPLE}) AS sample"
            );
            return (format!("{together}(digits, ' ')"), sample);
        }
        let from = match self.limit {
            None => format!("{counted} WHERE {found}"),
            // One more shows that there are more. A parameter, so that each limit is not a
            // statement of its own: without an order, no plan hangs on it.
            Some(limit) => {
                let look = composer.value(i64::from(limit) + 1);
                format!("(SELECT 1 FROM {counted} WHERE {found} LIMIT {look}) AS counted")
            }
        };
        ("count(*)".to_owned(), from)
    }

    /// The result, and for a count with a limit whether there are more rows.
    fn read(&self, rows: &[Row]) -> Result<(Aggregate, Option<bool>), StoreError> {
        let row = rows.first();
        let row = row.ok_or_else(|| StoreError::Internal("an aggregate of no row".to_owned()))?;
        if self.operation == Operation::Count {
            let count = u64::try_from(row.get::<i64>(1)?).unwrap_or(0);
            let limit = self.limit.map(u64::from);
            let counted = limit.map_or(count, |limit| count.min(limit));
            let at_least = limit.map(|limit| count > limit);
            return Ok((Aggregate::count(counted), at_least));
        }
        let digits: Option<String> = row.get(1)?;
        let mut sum = Sum::default();
        for token in digits.iter().flat_map(|digits| digits.split(' ')) {
            sum.add(&Decimal::new(token));
        }
        let aggregate = match self.operation {
            Operation::Avg => Aggregate::avg(&sum),
            _ => Aggregate::sum(&sum),
        };
        Ok((aggregate, None))
    }
}
