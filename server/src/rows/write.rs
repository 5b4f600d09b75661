//! Rows into the store: inserted, replaced, removed, each in the transaction of whoever asks.
//!
//! Locks are taken in one order: the table (shared, when it was opened), the organization (when it has
//! a quota), the row, sequences, values, counts.

use tplkit::rows::members;
use uuid::Uuid;

use super::entering::Entered;
use super::table::Table;
use super::tables::Opened;
use super::unique::known_as;
use super::values::{self, Taken};
use super::{counts, sequence, slots};
use crate::http::problem::{Code, Fault, Problem};
use crate::store::{StoreError, Tx, Value};

/// Why rows were not written. The transaction is to be left.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Values of unique columns are taken.
    #[error("values are taken already")]
    Taken(Vec<(usize, String)>),
    /// The organization has as many rows as it may have.
    #[error("the organization has as many rows as it may have")]
    Quota,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Refused {
    fn taken(table: &Table, taken: &[Taken]) -> Refused {
        let name = |taken: &Taken| table.columns[taken.column].name().to_owned();
        Refused::Taken(taken.iter().map(|taken| (taken.row, name(taken))).collect())
    }

    /// The refusal as a client sees it; in a batch it says which rows.
    pub fn problem(self, batch: bool) -> Problem {
        let taken = match self {
            Refused::Taken(taken) => taken,
            Refused::Quota => {
                return Problem::new(
                    Code::QuotaExceeded,
                    "The organization has as many rows as it may have.",
                );
            }
            Refused::Store(error) => return error.into(),
        };
        let column = taken.first().map_or("", |(_, column)| column);
        let problem = Problem::repeated(column);
        let prefix = |row: usize, separator| {
            if batch {
                format!("rows[{row}]{separator}")
            } else {
                String::new()
            }
        };
        let errors = taken.iter().map(|(row, column)| Fault {
            path: format!("{}data.{column}", prefix(*row, ".")),
            code: Code::UniqueViolation.as_str(),
            message: format!("{}the value stands in another row", prefix(*row, ": ")),
        });
        let detail = problem.detail().to_owned();
        let first = taken.first().map_or(0, |(row, _)| *row);
        problem
            .told(prefix(first, ": ") + &detail)
            .with_errors(errors.collect())
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Problem {
        refused.problem(false)
    }
}

/// Inserts rows, and numbers their empty cells of sequences.
///
/// # Errors
/// When a value is taken, or the organization may not have so many rows.
pub async fn insert(
    tx: &mut Tx,
    opened: &Opened,
    (creator, now): (Option<Uuid>, i64),
    rows: &mut [Entered],
) -> Result<(), Refused> {
    let table = &*opened.table;
    let Some(first) = rows.first().map(|row| row.id) else {
        return Ok(());
    };
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    if opened.row_quota.is_some() && !counts::fits(tx, table, count).await? {
        return Err(Refused::Quota);
    }
    sequence::number(tx, table, rows).await?;
    let taken = values::reserve(tx, table, rows).await?;
    if !taken.is_empty() {
        return Err(Refused::taken(table, &taken));
    }
    let lines: Vec<Vec<Value>> = rows
        .iter()
        .map(|row| {
            let mut values = Vec::with_capacity(7 + row.slots.len());
            values.extend([
                table.organization.into(),
                table.workspace.into(),
                table.id.into(),
                row.id.into(),
                creator.into(),
                now.into(),
                row.data.as_str().into(),
            ]);
            values.extend(row.slots.iter().map(|slot| slot.clone().into()));
            values
        })
        .collect();
    tx.each(&table.insert, &lines).await?;
    counts::add(tx, table, first, count).await?;
    let long = rows.iter().flat_map(|row| row.long.iter().copied());
    slots::mark_long(tx, table, long, now).await?;
    Ok(())
}

/// Puts another row in the place of one that is locked and held `before`.
///
/// # Errors
/// When a value is taken.
pub async fn replace(
    tx: &mut Tx,
    table: &Table,
    before: &str,
    mut after: Entered,
    now: i64,
) -> Result<Entered, Refused> {
    sequence::number(tx, table, std::slice::from_mut(&mut after)).await?;
    let held = held(table, before);
    let gone = held.iter().filter(|value| !after.uniques.contains(value));
    let gone: Vec<_> = gone.copied().collect();
    let mut new = after.clone();
    new.uniques.retain(|value| !held.contains(value));
    // Reserved before others are released: who waits for a value has let go of none yet, so nobody
    // waits in a circle.
    let taken = values::reserve(tx, table, std::slice::from_ref(&new)).await?;
    if !taken.is_empty() {
        return Err(Refused::taken(table, &taken));
    }
    values::release(tx, table, after.id, &gone).await?;
    let mut line: Vec<Value> = vec![
        table.organization.into(),
        table.id.into(),
        after.id.into(),
        now.into(),
        after.data.as_str().into(),
    ];
    line.extend(after.slots.iter().map(|slot| slot.clone().into()));
    tx.ask(&table.update, &line).await?;
    slots::mark_long(tx, table, after.long.iter().copied(), now).await?;
    Ok(after)
}

/// Removes a row, if the scope of the transaction sees it; gives what it held.
///
/// # Errors
/// Those of the store.
pub async fn remove(tx: &mut Tx, table: &Table, row: Uuid) -> Result<Option<String>, StoreError> {
    let sql = "DELETE FROM main.rows WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND id = $3 RETURNING {text data}";
    let parameters = [table.organization.into(), table.id.into(), row.into()];
    let Some(removed) = tx.first(sql, &parameters).await? else {
        return Ok(None);
    };
    let data: String = removed.get(0)?;
    values::release(tx, table, row, &held(table, &data)).await?;
    counts::add(tx, table, row, -1).await?;
    Ok(Some(data))
}

/// What the unique columns of a stored row hold.
fn held(table: &Table, data: &str) -> Vec<(usize, [u8; 32])> {
    if !table.columns.iter().any(|column| column.is_unique) {
        return Vec::new();
    }
    let mut values = Vec::new();
    for (key, value) in members(data) {
        let key = key.decoded();
        let at = table.position(&key);
        if let Some(at) = at.filter(|at| table.columns[*at].is_unique) {
            values.extend(known_as(value).map(|known| (at, known)));
        }
    }
    values
}
