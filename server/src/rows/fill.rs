//! Fills new slots for existing rows, in short transactions next to other work.
//!
//! Writers fill the slots of the rows that they write, because a slot is assigned while nobody
//! writes. After an interruption it starts again and finds most of the work done. When every row is
//! filled and the table has not changed, queries use the slots.

use tplkit::rows::members;
use uuid::Uuid;

use super::slots;
use super::table::Table;
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
    /// The slots that are being filled, since the beginning.
    filling: Vec<SlotFill>,
    now: i64,
}

/// A column whose slot is being filled.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SlotFill {
    column: Uuid,
    number: i64,
    is_number: bool,
}

enum Continuation {
    /// So many rows were changed, up to that row.
    On(Uuid, Vec<SlotFill>, u64),
    /// Every row has been looked at, in this version of the table.
    Through(i64, u64),
    /// The table is no more, or has nothing to fill.
    Nothing,
}

/// Fills slots until there is nothing left to fill, or a good deal was done. Reports how many rows changed.
///
/// # Errors
/// Those of the store.
pub async fn fill_slots(store: &Store, context: &Context) -> Result<u64, StoreError> {
    let mut changed = 0;
    let unready: Vec<(Uuid, Uuid)> = store
        .read(&Scope::Operator, (), |tx, ()| Box::pin(unready(tx)))
        .await?;
    for (organization, feature) in unready {
        let (mut after, mut filling) = (Uuid::nil(), Vec::new());
        while changed < CHANGES {
            let now = context.now();
            let position = Position {
                feature,
                after,
                filling,
                now,
            };
            let step: Continuation = store
                .write(&Scope::Operator, position, |tx, position| {
                    Box::pin(fill(tx, position))
                })
                .await?;
            match step {
                Continuation::On(last, same, count) => {
                    changed += count;
                    (after, filling) = (last, same);
                }
                Continuation::Through(version, count) => {
                    changed += count;
                    let filled = FilledTable {
                        organization,
                        feature,
                        version,
                        now,
                    };
                    let done: bool = store
                        .write(&Scope::Operator, filled, |tx, filled| {
                            Box::pin(finish(tx, *filled))
                        })
                        .await?;
                    if done {
                        break;
                    }
                    (after, filling) = (Uuid::nil(), Vec::new());
                }
                Continuation::Nothing => break,
            }
        }
    }
    Ok(changed)
}

/// Tables with slots to fill, behind their organizations.
async fn unready(tx: &mut Tx) -> Result<Vec<(Uuid, Uuid)>, StoreError> {
    let sql = "SELECT DISTINCT organization_id, feature_id FROM columns \
         WHERE {tenant organization_id} AND slot IS NOT NULL AND NOT slot_ready ORDER BY feature_id {across queue}";
    let rows = tx.last(sql, &[]).await?;
    let tables = rows.iter().map(|row| Ok((row.get(0)?, row.get(1)?)));
    tables.collect()
}

async fn fill(tx: &mut Tx, position: &Position) -> Result<Continuation, StoreError> {
    let Some(opened) = Tables::unkept(tx, position.feature).await? else {
        return Ok(Continuation::Nothing);
    };
    let table = &*opened.table;
    let columns: Vec<usize> = table
        .slotted
        .iter()
        .copied()
        .filter(|at| table.columns[*at].slot.is_some_and(|slot| !slot.ready))
        .collect();
    let filling: Vec<SlotFill> = columns
        .iter()
        .filter_map(|at| {
            let column = &table.columns[*at];
            Some(SlotFill {
                column: column.definition.id,
                number: column.slot?.number,
                is_number: column.is_number,
            })
        })
        .collect();
    if filling.is_empty() {
        return Ok(Continuation::Nothing);
    }
    // Another slot to fill, or in another form: from the beginning.
    let after = if filling == position.filling {
        position.after
    } else {
        Uuid::nil()
    };
    let rows = select(tx, table, &filling, after).await?;
    let Some(last) = rows.last().map(|row| row.id) else {
        return Ok(Continuation::Through(table.version, 0));
    };
    let (mut changed, mut long) = (Vec::new(), Vec::new());
    for row in &rows {
        let keys = keys(table, &columns, &row.data, &mut long);
        if keys != row.slots {
            let mut slots: Vec<Value> =
                vec![table.organization.into(), table.id.into(), row.id.into()];
            slots.extend(keys.into_iter().map(Value::from));
            changed.push(slots);
        }
    }
    tx.each(&update(&filling), &changed).await?;
    slots::mark_long(tx, table, long.into_iter(), position.now).await?;
    let count = u64::try_from(changed.len()).unwrap_or(u64::MAX);
    Ok(Continuation::On(last, filling, count))
}

struct RowToFill {
    id: Uuid,
    data: String,
    slots: Vec<Option<String>>,
}

async fn select(
    tx: &mut Tx,
    table: &Table,
    filling: &[SlotFill],
    after: Uuid,
) -> Result<Vec<RowToFill>, StoreError> {
    let slots = filling.iter().fold(String::new(), |slots, one| {
        slots + ", s" + &one.number.to_string()
    });
    let sql = format!(
        "SELECT id, {{text data}}{slots} FROM rows WHERE {{tenant organization_id}} \
         AND organization_id = $1 AND feature_id = $2 AND id > $3 ORDER BY id LIMIT $4 {{lock}}"
    );
    let parameters = [
        table.organization.into(),
        table.id.into(),
        after.into(),
        ROWS.into(),
    ];
    let rows = tx.execute(&sql, &parameters).await?;
    let rows = rows.iter().map(|row| {
        let slots = (2..2 + filling.len()).map(|at| row.get(at));
        Ok(RowToFill {
            id: row.get(0)?,
            data: row.get(1)?,
            slots: slots.collect::<Result<_, StoreError>>()?,
        })
    });
    rows.collect()
}

fn update(filling: &[SlotFill]) -> String {
    let values = filling.iter().zip(4..);
    let values: Vec<String> = values
        .map(|(one, parameter)| format!("s{} = ${parameter}", one.number))
        .collect();
    format!(
        "UPDATE main.rows SET {} WHERE {{tenant organization_id}} \
         AND organization_id = $1 AND feature_id = $2 AND id = $3",
        values.join(", ")
    )
}

fn keys(
    table: &Table,
    columns: &[usize],
    data: &str,
    long: &mut Vec<usize>,
) -> Vec<Option<String>> {
    let mut keys = vec![None; columns.len()];
    for (key, value) in members(data) {
        let at = table.position(&key.decoded());
        let place = at.and_then(|at| columns.iter().position(|column| *column == at));
        let (Some(at), Some(place)) = (at, place) else {
            continue;
        };
        let (key, cut) = slots::key(table.columns[at].is_number, value);
        keys[place] = key;
        if cut {
            long.push(at);
        }
    }
    keys
}

/// A table of which every row was looked at.
#[derive(Debug, Clone, Copy)]
struct FilledTable {
    organization: Uuid,
    feature: Uuid,
    /// In this version of it.
    version: i64,
    now: i64,
}

/// Declares the slots of a table ready, if it is still the one whose rows were all looked at.
async fn finish(tx: &mut Tx, filled: FilledTable) -> Result<bool, StoreError> {
    let FilledTable {
        organization,
        feature,
        version,
        now,
    } = filled;
    let sql = "SELECT version FROM features \
         WHERE {tenant organization_id} AND organization_id = $1 AND id = $2 {lock}";
    let at = [organization.into(), feature.into()];
    let Some(row) = tx.first(sql, &at).await? else {
        return Ok(true);
    };
    if row.get::<i64>(0)? != version {
        return Ok(false);
    }
    let sql = "UPDATE main.columns SET slot_ready = $3 WHERE {tenant organization_id} \
         AND organization_id = $1 AND feature_id = $2 AND slot IS NOT NULL";
    tx.query(sql, &[organization.into(), feature.into(), true.into()])
        .await?;
    Table::changed(tx, organization, feature, now).await?;
    Ok(true)
}
