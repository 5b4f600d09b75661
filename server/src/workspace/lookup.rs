//! Rows by their ids, and by what they hold.

use std::collections::{BTreeMap, HashMap};

use tplkit::rows::{Cell, equal, text_form};
use tplkit::workspace::{Id, StoredRow};

use super::ReadError;
use super::rows::{organization, read};
use crate::rows::{Tables, query};
use crate::store::Tx;

/// The rows of these ids, as far as the scope sees them, in the order asked.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn fetch(
    tx: &mut Tx,
    feature: Id,
    ids: &[Id],
) -> Result<Vec<Option<StoredRow>>, ReadError> {
    let organization = organization(tx, feature).await?;
    let sql = "SELECT id, {text data} FROM rows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND {any id $3}";
    let parameters = [
        organization.into(),
        feature.into(),
        crate::store::Value::Ids(ids.to_vec()),
    ];
    let mut found: HashMap<Id, StoredRow> = HashMap::new();
    for row in &tx.query(sql, &parameters).await? {
        let row = read(row)?;
        found.insert(row.id, row);
    }
    Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
}

/// For each JSON value the first row whose cell in the column equals it.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn matching(
    tx: &mut Tx,
    tables: &Tables,
    feature: Id,
    column: &str,
    values: &[String],
) -> Result<Vec<Option<StoredRow>>, ReadError> {
    let table = tables.read(tx, feature).await?;
    let table = table.ok_or(ReadError::NoTable(feature))?;
    // Equal values have equal text forms; the values themselves decide.
    let mut forms: Vec<String> = values
        .iter()
        .filter_map(|value| text_form(value).map(std::borrow::Cow::into_owned))
        .collect();
    forms.sort_unstable();
    forms.dedup();
    if forms.is_empty() {
        return Ok(vec![None; values.len()]);
    }
    if table
        .column(column)
        .is_none_or(|known| known.slot.is_none())
    {
        tables.hot.note(feature, column);
    }
    let mut by_form: BTreeMap<String, Vec<StoredRow>> = BTreeMap::new();
    for row in &query::holding(tx, &table, column, forms).await? {
        let row = read(row)?;
        let cell = row.data.cell(column).and_then(text_form);
        if let Some(form) = cell.map(std::borrow::Cow::into_owned) {
            by_form.entry(form).or_default().push(row);
        }
    }
    let first = |value: &String| {
        let form = text_form(value)?;
        let holds = |row: &&StoredRow| row.data.cell(column).is_some_and(|cell| equal(cell, value));
        by_form.get(form.as_ref())?.iter().find(holds).cloned()
    };
    Ok(values
        .iter()
        .map(|value| match Cell::new(value) {
            Cell::Null => None,
            _ => first(value),
        })
        .collect())
}
