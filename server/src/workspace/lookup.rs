//! Finds rows by id and by value.

use std::collections::{BTreeMap, HashMap};

use tplkit::rows::{Cell, equal, sorted_to, text_form};
use tplkit::workspace::{Id, StoredRow};

use super::ReadError;
use super::rows::{organization, read};
use crate::rows::{Tables, known_as, query};
use crate::store::{Tx, Value};

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

/// For each JSON value, as rows hold it, whether a row holds it in the unique column, whoever sees that
/// row.
///
/// # Errors
/// When the scope does not see the table, and those of the store.
pub(crate) async fn taken(
    tx: &mut Tx,
    tables: &Tables,
    feature: Id,
    column: &str,
    values: &[String],
) -> Result<Vec<bool>, ReadError> {
    let table = tables.read(tx, feature).await?;
    let table = table.ok_or(ReadError::NoTable(feature))?;
    let Some(column) = table.column(column).filter(|column| column.is_unique) else {
        return Ok(vec![false; values.len()]);
    };
    let known: Vec<Option<[u8; 32]>> = values.iter().map(|value| as_kept(value)).collect();
    let lines = known.iter().flatten().map(|value| -> Vec<Value> {
        vec![
            table.organization.into(),
            table.id.into(),
            column.definition.id.into(),
            (*value).into(),
        ]
    });
    let sql = "SELECT row_id FROM row_values WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND feature_id = $2 \
         AND column_id = $3 AND value = $4";
    let held = tx.each(sql, &lines.collect::<Vec<_>>()).await?;
    let mut held = held.iter().map(|rows| !rows.is_empty());
    let taken = known.iter();
    Ok(taken
        .map(|value| value.is_some() && held.next().unwrap_or_default())
        .collect())
}

/// What a value that a row is to hold is known by.
fn as_kept(value: &str) -> Option<[u8; 32]> {
    let mut kept = String::with_capacity(value.len());
    sorted_to(&mut kept, value);
    known_as(&kept)
}

/// How many rows more the organization of a workspace may have, if there is a limit.
///
/// # Errors
/// Those of the store.
pub(crate) async fn row_capacity(tx: &mut Tx, workspace: Id) -> Result<Option<u64>, ReadError> {
    let sql = "SELECT o.id, o.row_quota FROM organizations o \
         JOIN workspaces w ON w.organization_id = o.id \
         WHERE {tenant o.id} AND {workspace w.id} AND w.id = $1";
    let Some(row) = tx.first(sql, &[workspace.into()]).await? else {
        return Ok(None);
    };
    let (organization, quota): (Id, Option<i64>) = (row.get(0)?, row.get(1)?);
    let Some(quota) = quota else {
        return Ok(None);
    };
    let sql = "SELECT CAST(coalesce(sum(count), 0) AS bigint) FROM row_counts \
         WHERE {tenant organization_id} AND organization_id = $1";
    let row = tx.first(sql, &[organization.into()]).await?;
    let present: i64 = row.map_or(Ok(0), |row| row.get(0))?;
    let room = quota.saturating_sub(present);
    Ok(Some(u64::try_from(room).unwrap_or_default()))
}
