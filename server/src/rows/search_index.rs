//! Keeps the index of searched cells along with the rows, in the transaction that writes them.
//!
//! In: rows as they are from now on, or ids of rows that are gone. On PostgreSQL a row of `row_search` holds the terms
//! of a row, and an index of arrays finds them. SQLite has no such index: there a row of `row_search` holds the number
//! by which the words of the row are in a full-text index (`search_terms`). That table has no policy of its own, so
//! each statement that writes it takes its numbers from `row_search`, which has one.

use std::sync::LazyLock;

use uuid::Uuid;

use super::prepare::PreparedRow;
use super::search_terms::{digest, of_row, stored};
use super::slots::differing;
use super::table::Table;
use crate::store::{BulkInsert, Dialect, PipelinedStatement, RowValue, StoreError, Tx, Value};

/// All share $1 organization, $2 workspace, $3 feature; of each row come its id, its digest, and its terms.
static POSTGRES: LazyLock<BulkInsert> = LazyLock::new(|| BulkInsert {
    head: "INSERT INTO main.row_search {into $1} \
           (organization_id, workspace_id, feature_id, row_id, digest, terms)"
        .to_owned(),
    row: "$1, $2, $3, @1, @2, CAST(@3 AS bigint[])".to_owned(),
    tail: " ON CONFLICT (organization_id, feature_id, row_id) \
           DO UPDATE SET digest = excluded.digest, terms = excluded.terms"
        .to_owned(),
    own: vec![RowValue::Id, RowValue::Int, RowValue::Text],
});

/// The same without the terms.
static SQLITE: LazyLock<BulkInsert> = LazyLock::new(|| BulkInsert {
    head: "INSERT INTO main.row_search {into $1} \
           (organization_id, workspace_id, feature_id, row_id, digest)"
        .to_owned(),
    row: "$1, $2, $3, @1, @2".to_owned(),
    tail:
        " ON CONFLICT (organization_id, feature_id, row_id) DO UPDATE SET digest = excluded.digest"
            .to_owned(),
    own: vec![RowValue::Id, RowValue::Int],
});

/// The words of a row, in place of those that it had.
const WORDS: &str = "INSERT OR REPLACE INTO main.search_terms (rowid, terms) SELECT number, $4 FROM row_search \
     WHERE {tenant organization_id} AND {workspace workspace_id} \
     AND organization_id = $1 AND feature_id = $2 AND row_id = $3";

/// The terms that a row has from now on.
#[derive(Debug)]
pub(super) struct RowTerms {
    /// The row.
    pub(super) row: Uuid,
    /// Its terms.
    pub(super) terms: Vec<i64>,
}

/// The terms of new rows: of those that have any.
pub(super) fn of_new(table: &Table, rows: &[PreparedRow]) -> Vec<RowTerms> {
    if !table.is_searched() {
        return Vec::new();
    }
    let rows = rows.iter().map(|row| RowTerms {
        row: row.id,
        terms: of_row(table, &row.data),
    });
    rows.filter(|row| !row.terms.is_empty()).collect()
}

/// The terms of rows that hold other texts than before: of those in which a searched cell changes.
pub(super) fn of_replaced(table: &Table, before: &[&str], after: &[PreparedRow]) -> Vec<RowTerms> {
    if !table.is_searched() {
        return Vec::new();
    }
    let changes = |before: &str, after: &str| {
        let mut columns = differing(table, before, after).into_iter();
        columns.any(|at| table.columns[at].is_searched())
    };
    let pairs = before.iter().zip(after);
    let changed = pairs.filter(|(before, after)| changes(before, &after.data));
    let rows = changed.map(|(_, after)| RowTerms {
        row: after.id,
        terms: of_row(table, &after.data),
    });
    rows.collect()
}

fn shared(table: &Table) -> [Value; 3] {
    [
        table.organization.into(),
        table.workspace.into(),
        table.id.into(),
    ]
}

/// The statement of PostgreSQL that keeps terms; nothing where there are none.
pub(super) fn statement(table: &Table, rows: &[RowTerms]) -> Option<PipelinedStatement> {
    if rows.is_empty() {
        return None;
    }
    let records = rows.iter().map(|row| {
        vec![
            row.row.into(),
            digest(&row.terms).into(),
            stored(&row.terms, Dialect::Postgres).into(),
        ]
    });
    Some(POSTGRES.whole_row(&shared(table), records.collect()))
}

/// Keeps terms, in place of those that the rows had.
pub(super) async fn keep(tx: &mut Tx, table: &Table, rows: &[RowTerms]) -> Result<(), StoreError> {
    if tx.dialect()? == Dialect::Postgres {
        if let Some(statement) = statement(table, rows) {
            tx.pipeline(vec![statement]).await?;
        }
        return Ok(());
    }
    let records = rows
        .iter()
        .map(|row| vec![row.row.into(), digest(&row.terms).into()]);
    let records = records.collect();
    SQLITE.insert(tx, &shared(table), records).await?;
    let words: Vec<Vec<Value>> = rows
        .iter()
        .map(|row| {
            vec![
                table.organization.into(),
                table.id.into(),
                row.row.into(),
                stored(&row.terms, Dialect::Sqlite).into(),
            ]
        })
        .collect();
    tx.each(WORDS, &words).await.map(drop)
}

/// Lets go of the terms of rows that are gone.
pub(super) async fn forget(
    tx: &mut Tx,
    organization: Uuid,
    feature: Uuid,
    rows: Vec<Uuid>,
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let parameters = [organization.into(), feature.into(), Value::Ids(rows)];
    if tx.dialect()? == Dialect::Sqlite {
        // Before the numbers are gone.
        let words = "DELETE FROM main.search_terms WHERE rowid IN (SELECT number FROM row_search \
             WHERE {tenant organization_id} AND {workspace workspace_id} \
             AND organization_id = $1 AND feature_id = $2 AND {any row_id $3})";
        tx.query(words, &parameters).await?;
    }
    let sql = "DELETE FROM main.row_search WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND feature_id = $2 AND {any row_id $3}";
    tx.query(sql, &parameters).await.map(drop)
}
