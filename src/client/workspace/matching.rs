//! Looks up rows by a cell value, with filters that every server has.

use super::rows::{RowRecord, Stream};
use crate::client::rows::RowQuery;
use crate::client::{Client, Error};
use crate::rows::{Cell, equal};
use crate::workspace::{Id, StoredRow};

/// As many filters as fit an address that every server and proxy takes.
const MAX_FILTERS: usize = 40;
/// Bytes of them, for the same reason.
const MAX_FILTER_BYTES: usize = 3000;

/// For each value the first row, by ascending id, whose cell equals it.
pub(super) fn by_value(
    client: &Client,
    feature: Id,
    column: &str,
    values: &[String],
) -> Result<Vec<Option<StoredRow>>, Error> {
    let is_null = |value: &str| matches!(Cell::new(value), Cell::Null);
    let filled = values.iter().filter(|value| !is_null(value));
    let filters: Option<Vec<String>> = filled.map(|value| filter(column, value)).collect();
    let mut candidates = match filters {
        Some(filters) => request(client, feature, &filters)?,
        // A list or an object has no filter that finds just it.
        None => read_all(client, feature)?,
    };
    candidates.sort_unstable_by_key(|row| row.id);
    let find = |value: &String| {
        let holds = |row: &&StoredRow| row.data.cell(column).is_some_and(|cell| equal(cell, value));
        // Nothing is what an empty cell equals.
        let found = candidates.iter().find(holds).filter(|_| !is_null(value));
        found.cloned()
    };
    Ok(values.iter().map(find).collect())
}

/// The rows of these ids, as far as they exist.
pub(super) fn by_id(
    client: &Client,
    feature: Id,
    rows: &[Id],
) -> Result<Vec<Option<StoredRow>>, Error> {
    let filters: Vec<String> = rows.iter().map(|id| format!("id:eq:{id}")).collect();
    let found = request(client, feature, &filters)?;
    let find = |id: &Id| found.iter().find(|row| row.id == *id).cloned();
    Ok(rows.iter().map(find).collect())
}

/// A filter that finds every row whose cell equals the value; others are sorted out afterwards.
fn filter(column: &str, value: &str) -> Option<String> {
    Some(match Cell::new(value) {
        Cell::String(text) => format!("{column}:eq:{}", text.decoded()),
        Cell::Number(_) => format!("{column}:eqn:{value}"),
        Cell::Bool(value) => format!("{column}:is:{value}"),
        _ => return None,
    })
}

fn request(client: &Client, feature: Id, filters: &[String]) -> Result<Vec<StoredRow>, Error> {
    let mut found = Vec::new();
    let mut rest = filters;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fitting = rest.iter().take(MAX_FILTERS).take_while(|filter| {
            bytes += filter.len();
            bytes <= MAX_FILTER_BYTES
        });
        let count = fitting.count().max(1);
        let (now, later) = rest.split_at(count);
        rest = later;
        let question = RowQuery {
            filters: now.to_vec(),
            any: true,
            ..RowQuery::default()
        };
        for page in client.pages::<RowRecord>(question.request(&feature.to_string()), None) {
            found.extend(page?.items.into_iter().map(StoredRow::from));
        }
    }
    Ok(found)
}

fn read_all(client: &Client, feature: Id) -> Result<Vec<StoredRow>, Error> {
    Stream::after(feature, None).take(client, usize::MAX)
}
