//! Fills the index of searched cells for rows that were there before it, and empties it of tables that need it no
//! more, in short transactions next to other work.
//!
//! Writers keep the terms of the rows that they write from the moment in which a column is declared, because nobody
//! writes in that moment. After an interruption the filling starts again, and finds most of the work done. When every
//! row was looked at and the table has not changed, queries use the index.

use std::collections::HashMap;

use uuid::Uuid;

use super::search_index::{self, RowTerms};
use super::search_terms::{digest, of_row};
use super::table::{SearchIndex, Table};
use super::tables::Tables;
use crate::context::Context;
use crate::store::{Scope, Store, StoreError, Tx, Value};

/// How many rows are looked at in one transaction.
const ROWS: i64 = 500;
/// How many rows are changed in one run; then others have their turn.
const CHANGES: u64 = 50_000;

/// Where the filling of a table stands.
struct Position {
    feature: Uuid,
    /// The last row that was looked at.
    after: Uuid,
    /// The searched columns, since the beginning.
    searched: Vec<Uuid>,
}

enum Continuation {
    /// So many rows were changed, up to that row.
    On(Position, u64),
    /// Every row of a table of this organization has been looked at, in this version of the table.
    Through(Uuid, i64),
    /// The table is no more, or has nothing to fill.
    Nothing,
}

/// Fills the index until there is nothing left to fill, or a good deal was done. Reports how many rows it wrote.
///
/// # Errors
/// Those of the store.
pub async fn fill_search(store: &Store, context: &Context) -> Result<u64, StoreError> {
    let mut changed = 0;
    let unready: Vec<Uuid> = store
        .read(&Scope::Operator, (), |tx, ()| Box::pin(unready(tx)))
        .await?;
    for feature in unready {
        let mut position = Position::beginning(feature);
        while changed < CHANGES {
            let step: Continuation = store
                .write(&Scope::Operator, position, |tx, position| {
                    Box::pin(fill(tx, position))
                })
                .await?;
            position = match step {
                Continuation::On(next, count) => {
                    changed += count;
                    next
                }
                Continuation::Through(organization, version) => {
                    let input = ([organization, feature], version, context.now());
                    let done: bool = store
                        .write(&Scope::Operator, input, |tx, (table, version, now)| {
                            Box::pin(finish(tx, *table, *version, *now))
                        })
                        .await?;
                    if done {
                        break;
                    }
                    Position::beginning(feature)
                }
                Continuation::Nothing => break,
            };
        }
    }
    Ok(changed)
}

impl Position {
    fn beginning(feature: Uuid) -> Position {
        Position {
            feature,
            after: Uuid::nil(),
            searched: Vec::new(),
        }
    }
}

async fn unready(tx: &mut Tx) -> Result<Vec<Uuid>, StoreError> {
    let sql = "SELECT DISTINCT feature_id FROM columns \
         WHERE {tenant organization_id} AND is_searched AND NOT search_ready ORDER BY feature_id {across queue}";
    let rows = tx.last(sql, &[]).await?;
    rows.iter().map(|row| row.get(0)).collect()
}

async fn fill(tx: &mut Tx, position: &Position) -> Result<Continuation, StoreError> {
    let Some(opened) = Tables::unkept(tx, position.feature).await? else {
        return Ok(Continuation::Nothing);
    };
    let table = &*opened.table;
    let mut columns = table.columns.iter();
    if !columns.any(|column| column.search == SearchIndex::Unready) {
        return Ok(Continuation::Nothing);
    }
    let searched = table.columns.iter().filter(|column| column.is_searched());
    let searched: Vec<Uuid> = searched.map(|column| column.definition.id).collect();
    // Other columns than before: from the beginning.
    let after = if searched == position.searched {
        position.after
    } else {
        Uuid::nil()
    };
    let rows = rows_behind(tx, table, after).await?;
    let Some((last, _)) = rows.last() else {
        return Ok(Continuation::Through(table.organization, table.version));
    };
    let last = *last;
    let ids = rows.iter().map(|(id, _)| *id).collect();
    let kept = digests(tx, table, ids).await?;
    let mut changed = Vec::new();
    for (row, data) in rows {
        let terms = of_row(table, &data);
        // A row without terms needs no line.
        if kept.get(&row).copied().unwrap_or(digest(&[])) != digest(&terms) {
            changed.push(RowTerms { row, terms });
        }
    }
    search_index::keep(tx, table, &changed).await?;
    let count = u64::try_from(changed.len()).unwrap_or(u64::MAX);
    let next = Position {
        feature: position.feature,
        after: last,
        searched,
    };
    Ok(Continuation::On(next, count))
}

/// The next rows of a table, and what they hold. Nobody writes them meanwhile.
async fn rows_behind(
    tx: &mut Tx,
    table: &Table,
    after: Uuid,
) -> Result<Vec<(Uuid, String)>, StoreError> {
    let sql = "SELECT id, {text data} FROM rows WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 AND id > $3 ORDER BY id LIMIT $4 {lock}";
    let parameters = [
        table.organization.into(),
        table.id.into(),
        after.into(),
        ROWS.into(),
    ];
    let rows = tx.query(sql, &parameters).await?;
    rows.iter()
        .map(|row| Ok((row.get(0)?, row.get(1)?)))
        .collect()
}

/// What is known of the terms of rows.
async fn digests(
    tx: &mut Tx,
    table: &Table,
    rows: Vec<Uuid>,
) -> Result<HashMap<Uuid, i64>, StoreError> {
    let sql = "SELECT row_id, digest FROM row_search WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 AND {any row_id $3}";
    let parameters = [table.organization.into(), table.id.into(), Value::Ids(rows)];
    let rows = tx.query(sql, &parameters).await?;
    rows.iter()
        .map(|row| Ok((row.get(0)?, row.get(1)?)))
        .collect()
}

/// Declares the index of a table ready, if it is still the one whose rows were all looked at.
async fn finish(
    tx: &mut Tx,
    [organization, feature]: [Uuid; 2],
    version: i64,
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "SELECT version FROM features \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2 {lock}";
    let parameters = [organization.into(), feature.into()];
    let Some(row) = tx.first(sql, &parameters).await? else {
        return Ok(true);
    };
    if row.get::<i64>(0)? != version {
        return Ok(false);
    }
    let sql = "UPDATE main.columns SET search_ready = $3 WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 AND is_searched";
    tx.query(sql, &[organization.into(), feature.into(), true.into()])
        .await?;
    Table::changed(tx, organization, feature, now).await?;
    Ok(true)
}

/// Empties the index of tables that are gone or whose columns are searched no more. Reports how many rows it forgot.
///
/// # Errors
/// Those of the store.
pub async fn empty_search(store: &Store) -> Result<u64, StoreError> {
    let mut removed = 0;
    let mut behind = (Uuid::nil(), Uuid::nil());
    while let Some(table) = store
        .read(&Scope::Operator, behind, |tx, behind| {
            Box::pin(next_table(tx, *behind))
        })
        .await?
    {
        behind = table;
        while removed < CHANGES {
            let count: u64 = store
                .write(&Scope::Operator, table, |tx, table| {
                    Box::pin(empty(tx, *table))
                })
                .await?;
            removed += count;
            if count == 0 {
                break;
            }
        }
    }
    Ok(removed)
}

/// The next table of which the index has rows: its organization and its id.
async fn next_table(
    tx: &mut Tx,
    (organization, feature): (Uuid, Uuid),
) -> Result<Option<(Uuid, Uuid)>, StoreError> {
    let sql = "SELECT organization_id, feature_id FROM row_search WHERE {tenant organization_id} \
         AND (organization_id, feature_id) > ($1, $2) ORDER BY organization_id, feature_id LIMIT 1 {across queue}";
    let rows = tx.last(sql, &[organization.into(), feature.into()]).await?;
    let row = rows.first();
    row.map(|row| Ok((row.get(0)?, row.get(1)?))).transpose()
}

/// Forgets some rows of a table, unless one of its columns is searched.
async fn empty(tx: &mut Tx, (organization, feature): (Uuid, Uuid)) -> Result<u64, StoreError> {
    // Whoever declares a column holds the table.
    let sql = "SELECT id FROM features WHERE {tenant organization_id} \
         AND organization_id = $1 AND id = $2 {lock}";
    tx.query(sql, &[organization.into(), feature.into()])
        .await?;
    let sql = "SELECT id FROM columns WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 AND is_searched LIMIT 1";
    let parameters = [organization.into(), feature.into()];
    if tx.first(sql, &parameters).await?.is_some() {
        return Ok(0);
    }
    let sql = "SELECT row_id FROM row_search WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 ORDER BY row_id LIMIT $3";
    let parameters = [organization.into(), feature.into(), ROWS.into()];
    let rows = tx.query(sql, &parameters).await?;
    let rows = rows.iter().map(|row| row.get(0));
    let rows = rows.collect::<Result<Vec<Uuid>, _>>()?;
    let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    search_index::forget(tx, organization, feature, rows).await?;
    Ok(count)
}
