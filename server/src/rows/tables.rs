//! A cache of tables by version.
//!
//! Every transaction reads the version of its table, under its own scope, before it uses a cached
//! table, so an outdated entry is never used.

use std::sync::Arc;

use quick_cache::sync::Cache;
use uuid::Uuid;

use super::column_usage::ColumnUsage;
use super::sizes::RowSizes;
use super::table::{Head, Table};
use crate::ids::TableKey;
use crate::store::{Row, StoreError, Tx};

/// How many tables are kept.
const MAX_TABLES: usize = 4096;

/// Of how many tables it is known where they lie.
const MAX_KEYS: usize = 1 << 16;

/// The tables that this process remembers. Cheap to clone.
#[derive(Clone)]
pub struct Tables {
    kept: Arc<Cache<Uuid, Arc<Table>>>,
    /// Where tables lie, which never changes.
    keys: Arc<Cache<Uuid, TableKey>>,
    /// What is asked of them most.
    pub hot: ColumnUsage,
    /// Whose rows are large.
    pub sizes: RowSizes,
}

/// A table whose rows are about to be written.
#[derive(Debug)]
pub struct OpenTable {
    /// The table; it stays as it is until the transaction ends.
    pub table: Arc<Table>,
    /// How many rows its organization may have.
    pub row_quota: Option<i64>,
}

impl Default for Tables {
    fn default() -> Tables {
        Tables {
            kept: Arc::new(Cache::new(MAX_TABLES)),
            keys: Arc::new(Cache::new(MAX_KEYS)),
            hot: ColumnUsage::default(),
            sizes: RowSizes::default(),
        }
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tables({})", self.kept.len())
    }
}

fn head(row: &Row) -> Result<Head, StoreError> {
    Ok(Head {
        organization: row.get(0)?,
        workspace: row.get(1)?,
        id: row.get(2)?,
        version: row.get(3)?,
        own_rows: row.get(4)?,
    })
}

impl Tables {
    /// The table as it was last seen, by whomever: good for work that is thrown away when
    /// [`open`](Tables::open) gives another version.
    pub fn peek(&self, feature: Uuid) -> Option<Arc<Table>> {
        self.kept.get(&feature)
    }

    /// Where a table lies, if that is known; good for asking about it, and no proof that it is there.
    pub fn peek_key(&self, feature: Uuid) -> Option<TableKey> {
        self.keys.get(&feature)
    }

    /// Where a table lies, if the scope of the transaction sees it.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn key(&self, tx: &mut Tx, feature: Uuid) -> Result<Option<TableKey>, StoreError> {
        let sql = "SELECT organization_id, workspace_id FROM features \
             WHERE {tenant organization_id} AND {workspace workspace_id} AND id = $1";
        let rows = tx.last(sql, &[feature.into()]).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let key = TableKey {
            organization: row.get(0)?,
            workspace: row.get(1)?,
            feature,
        };
        self.keys.insert(feature, key);
        Ok(Some(key))
    }

    /// The table, if the scope of the transaction sees it.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn read(&self, tx: &mut Tx, feature: Uuid) -> Result<Option<Arc<Table>>, StoreError> {
        let sql = "SELECT organization_id, workspace_id, id, version, own_rows FROM features \
             WHERE {tenant organization_id} AND {workspace workspace_id} AND id = $1";
        match tx.first(sql, &[feature.into()]).await? {
            Some(row) => Ok(Some(self.current(tx, head(&row)?).await?)),
            None => Ok(None),
        }
    }

    /// The table, if the scope of the transaction sees it, for writing rows: nobody changes its
    /// columns before the transaction ends. Not for transactions that change columns themselves, which
    /// may be undone: they use [`unkept`](Tables::unkept).
    ///
    /// # Errors
    /// Those of the store.
    pub async fn open(&self, tx: &mut Tx, feature: Uuid) -> Result<Option<OpenTable>, StoreError> {
        let Some((head, row_quota)) = shared(tx, feature).await? else {
            return Ok(None);
        };
        let table = self.current(tx, head).await?;
        Ok(Some(OpenTable { table, row_quota }))
    }

    /// As [`open`](Tables::open), in a transaction that has changed the table itself: what it sees is
    /// kept for nobody else.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn unkept(tx: &mut Tx, feature: Uuid) -> Result<Option<OpenTable>, StoreError> {
        let Some((head, row_quota)) = shared(tx, feature).await? else {
            return Ok(None);
        };
        let table = Arc::new(Table::load(tx, head).await?);
        Ok(Some(OpenTable { table, row_quota }))
    }

    async fn current(&self, tx: &mut Tx, head: Head) -> Result<Arc<Table>, StoreError> {
        if let Some(kept) = self.kept.get(&head.id)
            && (kept.organization, kept.version) == (head.organization, head.version)
        {
            return Ok(kept);
        }
        let table = Arc::new(Table::load(tx, head).await?);
        self.kept.insert(head.id, table.clone());
        Ok(table)
    }
}

async fn shared(tx: &mut Tx, feature: Uuid) -> Result<Option<(Head, Option<i64>)>, StoreError> {
    let sql = "SELECT organization_id FROM features WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND id = $1 {across id}";
    let Some(organization) = tx.organization_of(sql, feature).await? else {
        return Ok(None);
    };
    let sql = "SELECT f.organization_id, f.workspace_id, f.id, f.version, f.own_rows, o.row_quota \
         FROM features f JOIN organizations o ON o.id = f.organization_id \
         WHERE {tenant f.organization_id} AND {workspace f.workspace_id} AND f.organization_id = $1 AND f.id = $2 \
         {share f}";
    let at = [organization.into(), feature.into()];
    match tx.first(sql, &at).await? {
        Some(row) => Ok(Some((head(&row)?, row.get(5)?))),
        None => Ok(None),
    }
}
