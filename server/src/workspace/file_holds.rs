//! Uses of files that a job ends, and files of automations that it changes, kept for its undo.
//!
//! A job that takes rows, cells, columns or tables away keeps in its ledger what they held, and here which of
//! the cells used a file: a text alone would not show that. Until the job is undone or its record goes, the
//! file is kept as any other that is in use, and nobody sees it for that. The undo gives the uses back where
//! cell, column and file are there again.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use tplkit::rows::member;
use tplkit::workspace::{AnyRecord, Id, RecordKind};

use super::UnitError;
use super::unit_transaction::{UnitContext, UnitTransaction};
use crate::files::release::{self, release_holds};
use crate::rows::{OpenTable, PreparedRow, Table, Tables, file_uses};
use crate::store::{Dialect, StoreError, Tx, Value};

/// A statement that keeps uses of which a condition holds, as SQLite and as PostgreSQL mints ids.
macro_rules! keep {
    ($condition:literal) => {
        [
            keep!("randomblob(16)", $condition),
            keep!("gen_random_uuid()", $condition),
        ]
    };
    ($id:literal, $condition:literal) => {
        concat!(
            "INSERT INTO main.file_holds {into $1} (organization_id, workspace_id, id, file_id, job_id, \
             feature_id, row_id, column_id, created_at) SELECT uses.organization_id, uses.workspace_id, ",
            $id,
            ", uses.file_id, $2, uses.feature_id, uses.row_id, uses.column_id, $3 FROM file_uses AS uses \
             WHERE uses.organization_id = $1 AND ",
            $condition,
            " ON CONFLICT DO NOTHING"
        )
    };
}

impl UnitTransaction<'_> {
    async fn keep(
        &mut self,
        [sqlite, postgres]: [&'static str; 2],
        of: impl IntoIterator<Item = Value>,
    ) -> Result<(), UnitError> {
        let Some(job) = self.here.file_uses.keeper() else {
            return Ok(());
        };
        let sql = match self.tx.dialect()? {
            Dialect::Sqlite => sqlite,
            Dialect::Postgres => postgres,
        };
        let mut parameters: Vec<Value> = vec![
            self.here.organization.into(),
            job.into(),
            self.here.now.into(),
        ];
        parameters.extend(of);
        self.tx.query(sql, &parameters).await?;
        Ok(())
    }

    /// Keeps the uses of rows that are about to go.
    pub(super) async fn keep_uses_of_rows(
        &mut self,
        table: &Table,
        rows: &[Id],
    ) -> Result<(), UnitError> {
        if !table.columns.iter().any(|column| column.rule.file) {
            return Ok(());
        }
        let sql = keep!("uses.feature_id = $4 AND {any uses.row_id $5}");
        self.keep(sql, [table.id.into(), Value::Ids(rows.to_vec())])
            .await
    }

    /// Keeps the uses of cells that are about to hold another text.
    pub(super) async fn keep_ended_uses(
        &mut self,
        table: &Table,
        before: &[&str],
        after: &[PreparedRow],
    ) -> Result<(), UnitError> {
        if self.here.file_uses.keeper().is_none() {
            return Ok(());
        }
        let sql = keep!("uses.feature_id = $4 AND uses.column_id = $5 AND {any uses.row_id $6}");
        for (column, rows) in file_uses::ended(table, before, after) {
            let of = [table.id.into(), column.into(), Value::Ids(rows)];
            self.keep(sql, of).await?;
        }
        Ok(())
    }

    /// Keeps the uses by a column or a table that is about to go.
    pub(super) async fn keep_uses_of(&mut self, kind: RecordKind, id: Id) -> Result<(), UnitError> {
        let sql = match kind {
            RecordKind::Column => keep!("uses.column_id = $4"),
            RecordKind::Feature => keep!("uses.feature_id = $4"),
            _ => return Ok(()),
        };
        self.keep(sql, [id.into()]).await
    }

    /// Keeps the uses by a column that is about to get another type.
    pub(super) async fn keep_uses_before(
        &mut self,
        from: &AnyRecord,
        to: &AnyRecord,
    ) -> Result<(), UnitError> {
        if from.kind == RecordKind::Column && from.own_type != to.own_type {
            return self.keep_uses_of(from.kind, from.id).await;
        }
        Ok(())
    }
}

/// Keeps the files that the versions of an automation hold, before the job changes it or takes it away: whoever publishes
/// the next version lets go of those that this one does not name. They stand under the version where a cell has its row.
///
/// # Errors
/// Those of the store.
pub(super) async fn keep_attached(
    tx: &mut Tx,
    here: &UnitContext,
    workflow: Id,
) -> Result<(), UnitError> {
    macro_rules! keep {
        ($id:literal) => {
            concat!(
                "INSERT INTO main.file_holds {into $1} (organization_id, workspace_id, id, file_id, job_id, \
                 feature_id, row_id, column_id, created_at) SELECT holds.organization_id, holds.workspace_id, ",
                $id,
                ", holds.file_id, $2, versions.workflow_id, versions.id, holds.file_id, $3 FROM file_holds AS holds \
                 JOIN workflow_versions AS versions ON versions.organization_id = holds.organization_id \
                 AND versions.id = holds.version_id \
                 WHERE {tenant holds.organization_id} AND {workspace holds.workspace_id} \
                 AND holds.organization_id = $1 AND versions.workflow_id = $4 ON CONFLICT DO NOTHING"
            )
        };
    }
    let Some(job) = here.file_uses.keeper() else {
        return Ok(());
    };
    let sql = match tx.dialect()? {
        Dialect::Sqlite => keep!("randomblob(16)"),
        Dialect::Postgres => keep!("gen_random_uuid()"),
    };
    let parameters = [
        here.organization.into(),
        job.into(),
        here.now.into(),
        workflow.into(),
    ];
    let before = tx.set_administered(vec![here.organization]).await?;
    tx.query(sql, &parameters).await?;
    tx.set_administered(before).await?;
    Ok(())
}

/// Holds that are looked at together.
const PAGE: usize = 200;

/// A cell whose use a job has kept, and the row as it is now.
struct Held {
    id: Id,
    feature: Id,
    row: Id,
    column: Id,
    file: Id,
    data: String,
}

impl Held {
    /// Whether the cell names the file again, in a column of files.
    fn stands(&self, table: &Table) -> bool {
        let mut columns = table.columns.iter();
        let column = columns.find(|known| known.definition.id == self.column);
        column.is_some_and(|column| {
            let cell = member(&self.data, column.name()).unwrap_or("null");
            column.rule.file_id(cell) == Some(self.file)
        })
    }
}

/// Gives back the uses that a job has kept, once it is undone, where row, column and text are there again; lets go of the
/// others.
///
/// # Errors
/// Those of the store.
pub(crate) async fn give_back(
    tx: &mut Tx,
    organization: Id,
    job: Id,
    now: i64,
) -> Result<(), StoreError> {
    let mut tables: HashMap<Id, Option<OpenTable>> = HashMap::new();
    let mut last = Id::nil();
    loop {
        let page = page(tx, organization, job, last).await?;
        let Some(end) = page.last().map(|held| held.id) else {
            break;
        };
        last = end;
        let mut given: BTreeMap<Id, Vec<[Id; 3]>> = BTreeMap::new();
        for held in &page {
            if let Entry::Vacant(unknown) = tables.entry(held.feature) {
                unknown.insert(Tables::unkept(tx, held.feature).await?);
            }
            let opened = tables.get(&held.feature).and_then(Option::as_ref);
            if opened.is_some_and(|opened| held.stands(&opened.table)) {
                let cells = given.entry(held.feature).or_default();
                cells.push([held.row, held.column, held.file]);
            }
        }
        for (feature, cells) in given {
            if let Some(Some(opened)) = tables.get(&feature) {
                file_uses::begin(tx, &opened.table, &cells, now).await?;
            }
        }
    }
    release(tx, organization, job, now).await
}

async fn page(tx: &mut Tx, organization: Id, job: Id, after: Id) -> Result<Vec<Held>, StoreError> {
    let sql = "SELECT holds.id, holds.feature_id, holds.row_id, holds.column_id, holds.file_id, {text stands.data} \
         FROM file_holds AS holds JOIN rows AS stands ON stands.organization_id = holds.organization_id \
         AND stands.feature_id = holds.feature_id AND stands.id = holds.row_id \
         WHERE {tenant holds.organization_id} AND holds.organization_id = $1 AND holds.job_id = $2 \
         AND holds.id > $3 AND NOT EXISTS (SELECT 1 FROM file_uses AS uses \
         WHERE uses.organization_id = holds.organization_id AND uses.feature_id = holds.feature_id \
         AND uses.row_id = holds.row_id AND uses.column_id = holds.column_id) ORDER BY holds.id LIMIT $4";
    let most = i64::try_from(PAGE).unwrap_or(i64::MAX);
    let parameters = [organization.into(), job.into(), after.into(), most.into()];
    let rows = tx.query(sql, &parameters).await?;
    let held = rows.iter().map(|row| {
        Ok(Held {
            id: row.get(0)?,
            feature: row.get(1)?,
            row: row.get(2)?,
            column: row.get(3)?,
            file: row.get(4)?,
            data: row.get(5)?,
        })
    });
    held.collect()
}

/// Lets go of what a job has kept.
async fn release(tx: &mut Tx, organization: Id, job: Id, now: i64) -> Result<(), StoreError> {
    let of: [Value; 2] = [organization.into(), job.into()];
    let holds = release_holds!("$3", "job_id = $2");
    release::holds(tx, organization, holds, &of, now).await
}
