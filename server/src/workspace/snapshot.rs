//! A workspace read within one transaction, for exports and plans.

use futures_util::lock::Mutex;
use tplkit::workspace::{Id, Lookup, Source, StoredRow, Structure, UnfilteredRow, match_each};

use super::{
    ReadError, RowsAhead, batch, fetch, matching, row_capacity, stands, structure, taken, which,
};
use crate::rows::Tables;
use crate::store::{Scope, Tx};

/// A workspace as a transaction sees it. In one that was begun with
/// [`Store::snapshot`](crate::store::Store::snapshot) it stays the same whatever others write.
pub struct Snapshot<'t> {
    // Reading takes the transaction for itself, and the traits read by shared reference. Nobody waits
    // for the lock: whoever reads a workspace does one thing after the other.
    reading: Mutex<Reading<'t>>,
    workspace: Id,
    tables: Tables,
    /// Whether rows that are kept from the scope count as rows that are not there.
    seen_alone: bool,
}

struct Reading<'t> {
    tx: &'t mut Tx,
    /// Rows that are read meanwhile.
    ahead: Option<RowsAhead>,
}

impl<'t> Snapshot<'t> {
    /// Looks at a workspace through a transaction.
    pub fn new(tx: &'t mut Tx, workspace: Id, tables: &Tables) -> Snapshot<'t> {
        Snapshot {
            reading: Mutex::new(Reading { tx, ahead: None }),
            workspace,
            tables: tables.clone(),
            seen_alone: false,
        }
    }

    /// The same for somebody who may learn nothing of what is kept from them: nothing that it finds depends on rows
    /// that the scope does not see, nor on how many there are.
    #[must_use]
    pub(crate) fn of_seen_rows(mut self, seen_alone: bool) -> Snapshot<'t> {
        self.seen_alone = seen_alone;
        self
    }

    /// Whether rows of the table are kept from the scope, so that they count for nothing.
    async fn leaves_out(&self, feature: Id) -> bool {
        let Reading { tx, .. } = &*self.reading.lock().await;
        self.seen_alone && is_guarded(tx, feature)
    }
}

/// Whether the scope sees the own rows of the table and no others.
fn is_guarded(tx: &Tx, feature: Id) -> bool {
    matches!(tx.scope(), Scope::Caller(visible) if visible.guarded.contains(&feature))
}

impl Source for Snapshot<'_> {
    type Error = ReadError;

    async fn structure(&self) -> Result<Structure, ReadError> {
        structure(self.reading.lock().await.tx, self.workspace).await
    }

    async fn rows(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<StoredRow>, ReadError> {
        let Reading { tx, .. } = &mut *self.reading.lock().await;
        batch(tx, &self.tables.sizes, feature, after, limit).await
    }
}

impl Lookup for Snapshot<'_> {
    async fn matching(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<Option<StoredRow>>, ReadError> {
        let Reading { tx, .. } = &mut *self.reading.lock().await;
        matching(tx, &self.tables, feature, column, values).await
    }

    async fn fetch(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, ReadError> {
        let Reading { tx, ahead } = &mut *self.reading.lock().await;
        let sizes = &self.tables.sizes;
        if let Some(ahead) = ahead.take_if(|ahead| ahead.are(feature, rows))
            && let Some(rows) = ahead.receive(tx, sizes).await?
        {
            return Ok(rows);
        }
        fetch(tx, sizes, feature, rows).await
    }

    async fn fetch_ahead(&self, feature: Id, rows: &[Id]) -> Result<(), ReadError> {
        let Reading { tx, ahead } = &mut *self.reading.lock().await;
        *ahead = RowsAhead::send(tx, &self.tables.sizes, feature, rows).await?;
        Ok(())
    }

    async fn hidden(&self, feature: Id, rows: &[Id]) -> Result<Vec<Option<StoredRow>>, ReadError> {
        let Reading { tx, .. } = &mut *self.reading.lock().await;
        if self.seen_alone || !is_guarded(tx, feature) || rows.is_empty() {
            return Ok(vec![None; rows.len()]);
        }
        let before = tx.set_guarded(Vec::new()).await?;
        let found = fetch(tx, &self.tables.sizes, feature, rows).await?;
        tx.set_guarded(before).await?;
        Ok(found)
    }

    async fn with_hidden(
        &self,
        feature: Id,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<UnfilteredRow>, ReadError> {
        let Reading { tx, .. } = &mut *self.reading.lock().await;
        if self.seen_alone || !is_guarded(tx, feature) {
            let rows = batch(tx, &self.tables.sizes, feature, after, limit).await?;
            let seen = |row| UnfilteredRow { row, hidden: false };
            return Ok(rows.into_iter().map(seen).collect());
        }
        let before = tx.set_guarded(Vec::new()).await?;
        let rows = batch(tx, &self.tables.sizes, feature, after, limit).await?;
        tx.set_guarded(before).await?;
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        let seen = which(tx, feature, &ids).await?;
        let marked = rows.into_iter().map(|row| {
            let hidden = !seen.contains(&row.id);
            UnfilteredRow { row, hidden }
        });
        Ok(marked.collect())
    }

    async fn taken(
        &self,
        feature: Id,
        column: &str,
        values: &[String],
    ) -> Result<Vec<bool>, ReadError> {
        if self.leaves_out(feature).await {
            let found = match_each(self, feature, column, values, |row| row.is_some());
            return Box::pin(found).await;
        }
        let Reading { tx, .. } = &mut *self.reading.lock().await;
        taken(tx, &self.tables, feature, column, values).await
    }

    async fn row_capacity(&self) -> Result<Option<u64>, ReadError> {
        let Reading { tx, .. } = &mut *self.reading.lock().await;
        let restricted = matches!(tx.scope(), Scope::Caller(visible)
            if !(visible.guarded.is_empty() && visible.hidden.is_empty()));
        if self.seen_alone && restricted {
            // The rows of everybody count for it.
            return Ok(None);
        }
        row_capacity(tx, self.workspace).await
    }

    async fn sequence(&self, feature: Id, column: Id) -> Result<Option<u64>, ReadError> {
        if self.leaves_out(feature).await {
            // It says how many rows there were.
            return Ok(None);
        }
        let stands = stands(self.reading.lock().await.tx, feature, column).await?;
        Ok(Some(stands))
    }
}
