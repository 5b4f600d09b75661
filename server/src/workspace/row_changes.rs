//! Changes and removes existing rows, unless someone else edited them.

use std::collections::HashMap;

use tplkit::problem::Code;
use tplkit::workspace::ledger::RowDigest;
use tplkit::workspace::{Id, RecordKind, Refused, Removal, RowData, RowWrite};

use super::Stopped;
use super::error::{missing, refused};
use super::rows::read;
use super::unit::{UnitTransaction, enter, not_storable};
use crate::rows::{Table, remove_all, replace_all};
use crate::store::{Tx, Value};

/// Rows that are removed in one statement.
const PART: usize = 2000;

impl UnitTransaction<'_> {
    pub(super) async fn update_rows(
        &mut self,
        feature: Id,
        writes: &[RowWrite],
    ) -> Result<(), Stopped> {
        let opened = self.open(feature).await?;
        let opened = opened.ok_or_else(|| missing(RecordKind::Feature, feature))?;
        let table = &opened.table;
        let ids: Vec<Id> = writes.iter().map(|write| write.id).collect();
        let held = locked(self.tx, table, &ids).await?;
        let (mut positions, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for (position, write) in writes.iter().enumerate() {
            let Some(data) = held.get(&write.id) else {
                let reported = format!("there is no row {}", write.id);
                return Err(Refused {
                    row: Some(position),
                    ..refused(Code::NotFound, reported)
                }
                .into());
            };
            unedited(position, write.id, write.digest, data)?;
            let written = data.written(&write.cells, write.replace);
            let row = enter(table, &self.here.context, write.id, &written);
            let row = row.ok_or_else(|| not_storable(position))?;
            // What holds already is not written again: no other time, nothing for others to notice.
            if !row.is_complete() || row.data != data.as_str() {
                positions.push(position);
                before.push(data.as_str());
                after.push(row);
            }
        }
        let done = replace_all(self.tx, table, &before, &mut after, self.here.now).await;
        done.map_err(|why| match Stopped::from(why) {
            Stopped::Refused(refused) => Refused {
                row: refused.row.and_then(|row| positions.get(row).copied()),
                ..refused
            }
            .into(),
            stopped => stopped,
        })
    }

    pub(super) async fn remove_rows(
        &mut self,
        feature: Id,
        rows: &[Removal],
    ) -> Result<(), Stopped> {
        // What was in a table that is gone is gone already.
        let Some(opened) = self.open(feature).await? else {
            return Ok(());
        };
        let table = &opened.table;
        for (part, removals) in rows.chunks(PART).enumerate() {
            let ids: Vec<Id> = removals.iter().map(|removal| removal.id).collect();
            if removals.iter().any(|removal| removal.digest.is_some()) {
                let held = locked(self.tx, table, &ids).await?;
                for (at, removal) in removals.iter().enumerate() {
                    if let Some(data) = held.get(&removal.id) {
                        unedited(part * PART + at, removal.id, removal.digest, data)?;
                    }
                }
            }
            remove_all(self.tx, table, ids).await?;
        }
        Ok(())
    }
}

/// What rows hold, kept from others until the transaction ends.
async fn locked(tx: &mut Tx, table: &Table, ids: &[Id]) -> Result<HashMap<Id, RowData>, Stopped> {
    // In the order of their ids, as everybody who locks several.
    let sql = "SELECT id, {text data} FROM rows WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND {row feature_id created_by} \
         AND organization_id = $1 AND feature_id = $2 AND {any id $3} ORDER BY id {lock}";
    let parameters = [
        table.organization.into(),
        table.id.into(),
        Value::Ids(ids.to_vec()),
    ];
    let mut held = HashMap::with_capacity(ids.len());
    for row in &tx.query(sql, &parameters).await? {
        let row = read(row)?;
        held.insert(row.id, row.data);
    }
    Ok(held)
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
    let reported = format!("row {row} was edited since it was written");
    Err(Refused {
        row: Some(position),
        ..refused(Code::NotEmpty, reported)
    })
}
