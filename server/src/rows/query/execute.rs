//! Executes a composed statement and verifies the version of its table.
//!
//! Every row of the result has the version of the table, or none when the caller does not see the
//! table. So a cached table costs no extra query: when its version differs, the statement is
//! composed again. Nothing is refused by a cached table alone.

use std::sync::Arc;

use uuid::Uuid;

use super::composed::{Composed, FirstPass, SearchPass};
use super::selected_columns::TOO_MANY_COLUMN;
use crate::refusal::{Code, Refusal};
use crate::rows::{Table, Tables};
use crate::store::{BOUND, Dialect, Row, StoreError, Tx};

/// How often a table may change while it is asked.
const ATTEMPTS: usize = 8;

/// The table that the caller sees, and what the statement found in it.
///
/// # Errors
/// 404 for a table that is not seen, those of composing for the table as it is now, and those of the store.
pub(super) async fn execute(
    tx: &mut Tx,
    tables: &Tables,
    feature: Uuid,
    compose: impl Fn(&Table, Dialect) -> Result<Composed, Refusal> + Send,
) -> Result<(Arc<Table>, Vec<Row>), Refusal> {
    let (mut table, mut is_current) = match tables.peek(feature) {
        Some(table) => (table, false),
        None => (current(tx, tables, feature).await?, true),
    };
    for _ in 0..ATTEMPTS {
        let composed = match compose(&table, tx.dialect()?) {
            Ok(composed) => composed,
            Err(refusal) if is_current => return Err(refusal),
            Err(_) => {
                table = current(tx, tables, feature).await?;
                is_current = true;
                continue;
            }
        };
        let rows = composed.execute(tx).await?;
        let version: Option<i64> = rows.first().map_or(Ok(None), |row| row.get(0))?;
        if version == Some(table.version) {
            return Ok((table, rows));
        }
        let now = current(tx, tables, feature).await?;
        // Nothing was found that could have said the version.
        if rows.is_empty() && now.version == table.version && now.organization == table.organization
        {
            return Ok((table, rows));
        }
        table = now;
        is_current = true;
    }
    Err(Refusal::new(
        Code::StoreUnavailable,
        "The table changes too often at the moment.",
    ))
}

impl Composed {
    /// What the statements find, and not more than is enough.
    pub(super) async fn execute(&self, tx: &mut Tx) -> Result<Vec<Row>, StoreError> {
        if let Some(search) = self.search.as_deref()
            && let Some(found) = search.execute(tx).await?
        {
            return Ok(found);
        }
        match self.first.as_deref() {
            Some(FirstPass::Lookahead(ahead, instead))
                if ahead.run(tx).await?.len() < ahead.lookahead =>
            {
                return instead.run(tx).await;
            }
            Some(FirstPass::Few(few)) => {
                let found = few.run(tx).await?;
                if let Some(row) = found.first()
                    && !row.get::<bool>(TOO_MANY_COLUMN)?
                {
                    return Ok(found);
                }
            }
            _ => {}
        }
        self.run(tx).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Row>, StoreError> {
        let mut found = Vec::new();
        for text in &self.texts {
            let rows = tx.execute_last(text, &self.values).await?;
            let ended = bytes(&rows) <= BOUND;
            found.extend(rows);
            // Behind a part that ended early stands what it left unread, not what the next one would find.
            if found.len() >= self.lookahead || !ended {
                break;
            }
        }
        found.truncate(self.lookahead);
        Ok(found)
    }
}

impl SearchPass {
    /// What is found by the index of searched cells; nothing where it has too many candidates.
    async fn execute(&self, tx: &mut Tx) -> Result<Option<Vec<Row>>, StoreError> {
        match self {
            SearchPass::Counted {
                ahead,
                instead,
                most,
            } => {
                let counted = ahead.run(tx).await?;
                let counted = counted.first().map_or(Ok(0), |row| row.get::<i64>(0))?;
                if counted > *most {
                    return Ok(None);
                }
                instead.run(tx).await.map(Some)
            }
            SearchPass::Flagged {
                few,
                column,
                walked,
            } => {
                // Of a caller who sees few of the rows, the first ones may be far apart.
                if let Some(walked) = walked
                    && tx.scope().is_whole()
                {
                    let found = walked.run(tx).await?;
                    if found.len() >= walked.lookahead || bytes(&found) > BOUND {
                        return Ok(Some(found));
                    }
                }
                let mut found = few.run(tx).await?;
                let many = found.first().map_or(Ok(false), |row| row.get(*column))?;
                if many {
                    return Ok(None);
                }
                // The one row of a page on which there is none has no id.
                let is_page = *column == TOO_MANY_COLUMN;
                if let Some(row) = found.first().filter(|_| is_page)
                    && row.get::<Option<Uuid>>(1)?.is_none()
                {
                    found.clear();
                }
                Ok(Some(found))
            }
        }
    }
}

fn bytes(rows: &[Row]) -> usize {
    rows.iter().map(Row::bytes).sum()
}

/// The table, if the caller sees it.
///
/// # Errors
/// 404 for a table that is not seen, and those of the store.
pub(super) async fn current(
    tx: &mut Tx,
    tables: &Tables,
    feature: Uuid,
) -> Result<Arc<Table>, Refusal> {
    let table = tables.read(tx, feature).await?;
    table.ok_or_else(Refusal::not_found)
}
