//! Changes and removes existing rows, unless someone else edited them. What is read of them at once is bounded
//! in bytes.

use std::collections::HashMap;

use tplkit::problem::Code;
use tplkit::workspace::ledger::RowDigest;
use tplkit::workspace::{Id, KeptRow, RecordKind, Refused, Removal, RowData, RowWrite, StoredRow};

use super::UnitError;
use super::error::{missing, refused};
use super::rows::{BYTES_PER_QUERY, fitting, read};
use super::unit::{enter, not_storable};
use super::unit_transaction::UnitTransaction;
use crate::context::changed_at;
use crate::rows::{
    ReplacedRows, RowSizes, Table, ValueMoves, finish_moves, insert, remove_all, replace_part,
};
use crate::store::{Tx, Value};

/// When a row was changed last.
const CHANGED_AT: &str = "UPDATE main.rows SET updated_at = $4 WHERE {tenant organization_id} \
     AND {workspace workspace_id} AND {row feature_id created_by} \
     AND organization_id = $1 AND feature_id = $2 AND id = $3";

/// Rows that are locked together.
struct HeldRows<'h> {
    /// Their positions among the writes.
    positions: &'h [usize],
    /// Those that are there.
    by_id: &'h HashMap<Id, HeldRow>,
}

/// A row that is locked.
struct HeldRow {
    data: RowData,
    /// When it was changed last.
    updated_at: i64,
}

/// Rows that are removed in one statement.
const ROWS_PER_STATEMENT: usize = 2000;

impl UnitTransaction<'_> {
    pub(super) async fn update_rows(
        &mut self,
        feature: Id,
        writes: &[RowWrite],
    ) -> Result<(), UnitError> {
        let opened = self.open(feature).await?;
        let opened = opened.ok_or_else(|| missing(RecordKind::Feature, feature))?;
        let table = &opened.table;
        let mut left: Vec<usize> = (0..writes.len()).collect();
        // In the order of their ids, as everybody who locks several.
        left.sort_by_key(|at| writes[*at].id);
        let mut moves = ValueMoves::default();
        while !left.is_empty() {
            let ids: Vec<Id> = left.iter().map(|at| writes[*at].id).collect();
            let (held, held_count) = locked(self.tx, &self.here.tables.sizes, table, &ids).await?;
            let mut part = left;
            left = part.split_off(held_count);
            part.sort_unstable();
            let held = HeldRows {
                positions: &part,
                by_id: &held,
            };
            self.update_part(table, writes, held, &mut moves).await?;
        }
        Ok(finish_moves(self.tx, table, moves).await?)
    }

    /// Changes those of the rows that are held.
    async fn update_part(
        &mut self,
        table: &Table,
        writes: &[RowWrite],
        held: HeldRows<'_>,
        moves: &mut ValueMoves,
    ) -> Result<(), UnitError> {
        let (mut positions, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let mut now = self.here.now;
        for position in held.positions.iter().copied() {
            let write = &writes[position];
            let Some(HeldRow { data, updated_at }) = held.by_id.get(&write.id) else {
                let detail = format!("there is no row {}", write.id);
                return Err(Refused {
                    row: Some(position),
                    ..refused(Code::NotFound, detail)
                }
                .into());
            };
            unedited(position, write.id, write.digest, data)?;
            let written = data.written(&write.cells, write.replace);
            let row = enter(table, &self.here.context, write.id, &written);
            let row = row.ok_or_else(|| not_storable(position))?;
            // What holds already is not written again: no other time, nothing for others to notice.
            if !row.is_complete() || row.data != data.as_str() {
                now = changed_at(now, *updated_at);
                positions.push(position);
                before.push(data.as_str());
                after.push(row);
            }
        }
        self.keep_ended_uses(table, &before, &after).await?;
        let part = ReplacedRows {
            positions: &positions,
            before: &before,
            after: &mut after,
        };
        Ok(replace_part(self.tx, table, part, moves, now).await?)
    }

    /// Adds rows that were taken away, as they were: whose they are, and when they were written.
    pub(super) async fn put_rows(
        &mut self,
        feature: Id,
        rows: &[KeptRow],
    ) -> Result<(), UnitError> {
        self.fresh.remove(&feature);
        let opened = self.open(feature).await?;
        let opened = opened.ok_or_else(|| missing(RecordKind::Feature, feature))?;
        let now = self.here.now;
        let head = |row: &KeptRow| (row.created_by, row.created_at);
        for part in rows.chunk_by(|one, other| head(one) == head(other)) {
            let entered = part.iter().enumerate().map(|(at, row)| {
                let entered = enter(&opened.table, &self.here.context, row.id, &row.data);
                entered.ok_or_else(|| not_storable(at))
            });
            let mut entered = entered.collect::<Result<Vec<_>, Refused>>()?;
            let Some((creator, created_at)) = part.first().map(head) else {
                continue;
            };
            let created_at = created_at.unwrap_or(now);
            insert(self.tx, &opened, creator, created_at, &mut entered).await?;
            for row in part {
                let changed = row.updated_at.filter(|at| *at != created_at);
                if let Some(updated_at) = changed {
                    let parameters = [
                        opened.table.organization.into(),
                        feature.into(),
                        row.id.into(),
                        updated_at.into(),
                    ];
                    self.tx.query(CHANGED_AT, &parameters).await?;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn remove_rows(
        &mut self,
        feature: Id,
        rows: &[Removal],
    ) -> Result<(), UnitError> {
        // What was in a table that is gone is gone already.
        let Some(opened) = self.open(feature).await? else {
            return Ok(());
        };
        let table = &opened.table;
        let sizes = &self.here.tables.sizes;
        let mut first = 0;
        while first < rows.len() {
            let part = fitting(BYTES_PER_QUERY, sizes.of(feature), ROWS_PER_STATEMENT);
            let mut part: Vec<usize> = (first..rows.len()).take(part).collect();
            first += part.len();
            part.sort_by_key(|at| rows[*at].id);
            let mut left = part.as_slice();
            while !left.is_empty() {
                let mut ids: Vec<Id> = left.iter().map(|at| rows[*at].id).collect();
                if left.iter().any(|at| rows[*at].digest.is_some()) {
                    let (held, held_count) = locked(self.tx, sizes, table, &ids).await?;
                    ids.truncate(held_count);
                    let mut read: Vec<usize> = left[..held_count].to_vec();
                    read.sort_unstable();
                    for at in read {
                        if let Some(row) = held.get(&rows[at].id) {
                            unedited(at, rows[at].id, rows[at].digest, &row.data)?;
                        }
                    }
                }
                left = &left[ids.len()..];
                self.keep_uses_of_rows(table, &ids).await?;
                remove_all(self.tx, table, ids, self.here.now).await?;
            }
        }
        Ok(())
    }
}

/// What the first of these rows hold, kept from others until the transaction ends, and of how many of them it
/// is: of as many as are held at once, and of one at least. Their ids ascend.
async fn locked(
    tx: &mut Tx,
    sizes: &RowSizes,
    table: &Table,
    ids: &[Id],
) -> Result<(HashMap<Id, HeldRow>, usize), UnitError> {
    let sql = "SELECT id, {text data}, updated_at FROM rows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND {any id $3} ORDER BY id {lock} {bounded}";
    let at_once = fitting(BYTES_PER_QUERY, sizes.of(table.id), ids.len()).min(ids.len());
    let parameters = [
        table.organization.into(),
        table.id.into(),
        Value::Ids(ids[..at_once].to_vec()),
    ];
    let mut by_id = HashMap::with_capacity(at_once);
    let (mut bytes, mut largest, mut last) = (0, 0, None);
    for row in tx.query(sql, &parameters).await? {
        // Behind the last one of a response that reached its bound others may be unread.
        if bytes <= BYTES_PER_QUERY {
            largest = largest.max(row.bytes());
            bytes += row.bytes();
            let StoredRow { id, data } = read(&row)?;
            let updated_at = row.get(2)?;
            last = Some(id);
            by_id.insert(id, HeldRow { data, updated_at });
        }
    }
    sizes.note_looked_up(table.id, largest);
    let held_count = match last {
        Some(last) if bytes > BYTES_PER_QUERY => ids[..at_once].partition_point(|id| *id <= last),
        _ => at_once,
    };
    Ok((by_id, held_count))
}

/// Whether a row holds what it has to hold.
fn unedited(
    position: usize,
    row: Id,
    digest: Option<RowDigest>,
    data: &RowData,
) -> Result<(), Refused> {
    if digest.is_none_or(|digest| digest == RowDigest::of(data)) {
        return Ok(());
    }
    let detail = format!("row {row} was edited since it was written");
    Err(Refused {
        row: Some(position),
        ..refused(Code::NotEmpty, detail)
    })
}
