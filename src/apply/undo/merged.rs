//! What an upgrade changed becomes what it was, leaf by leaf and cell by cell: where somebody has changed
//! it since, it stays (`upgrade` 3.6.2).
//!
//! Going back is the same merge as going forward: the job's values are the base, those before are wanted.

use std::borrow::Cow;

use super::UndoError;
use super::before_job::before;
use super::steps::{UndoStep, UndoSteps};
use super::store;
use super::table_losses::TableLosses;
use crate::rows::equal;
use crate::workspace::ledger::{CellsOf, Changed, MovedLeaf, RowDigest};
use crate::workspace::{
    AnyRecord, Change, Id, RecordKind, RowData, RowWrite, StoredRow, Structure, Target, fetch_each,
};

/// The change that takes a record back, nothing when it is gone or nothing of it is the job's any more;
/// and the leaves that people have changed since. Of a draft that the job did not put in force there are none.
pub(super) fn taken_back(
    structure: &Structure,
    changed: &Changed,
    whole: bool,
) -> (Option<Change>, Vec<MovedLeaf>) {
    let (kind, id) = (changed.after.kind, changed.after.id);
    let Some(ours) = AnyRecord::find(structure, kind, id) else {
        return (None, Vec::new());
    };
    let (record, conflicts) = before(&ours, changed);
    let conflicts = conflicts.into_iter().filter(|_| whole);
    let left = conflicts.map(|path| MovedLeaf {
        kind: Some(kind),
        reference: changed.reference.clone(),
        uid: None,
        id: Some(id),
        path: Some(path),
        column: None,
        count: None,
    });
    let left = left.collect();
    let differs = record != ours;
    let change = match changed.draft {
        Some(version) => Some(Change::RemoveDraft {
            workflow: id,
            version,
            published: differs.then(|| Box::new([ours, record])),
        }),
        None => differs.then(|| Change::Update {
            from: Box::new(ours),
            to: Box::new(record),
        }),
    };
    (change, left)
}

/// The cells of a row that are still what the job wrote, as they were; and the columns of others.
fn cells_back(row: &CellsOf, stored: &StoredRow) -> (Option<RowWrite>, Vec<String>) {
    let mut back: Vec<(Cow<'_, str>, Option<&str>)> = Vec::new();
    let mut left = Vec::new();
    for (key, after) in row.after.cells() {
        let name = key.decoded();
        let before = row.before.cell(&name);
        let stands = stored.data.cell(&name).unwrap_or("null");
        if equal(stands, after) {
            back.push((name, before));
        } else if !equal(stands, before.unwrap_or("null")) {
            left.push(name.into_owned());
        }
    }
    if back.is_empty() {
        return (None, left);
    }
    // To a merge null says that there is no cell: one that was there as null comes back with its whole row.
    let replace = back.iter().any(|(_, before)| *before == Some("null"));
    let cells = if replace {
        with_cells(&stored.data, &back)
    } else {
        let cells = back.iter();
        RowData::from_cells(cells.map(|(name, before)| (&**name, before.unwrap_or("null"))))
    };
    let write = RowWrite {
        id: row.id,
        cells,
        replace,
        digest: Some(RowDigest::of(&stored.data)),
    };
    (Some(write), left)
}

/// A row with these cells as they are given: without those that are not.
fn with_cells(row: &RowData, given: &[(Cow<'_, str>, Option<&str>)]) -> RowData {
    let stands: Vec<(Cow<'_, str>, &str)> = row
        .cells()
        .map(|(key, cell)| (key.decoded(), cell))
        .collect();
    let of = |name: &str| given.iter().find(|(other, _)| other == name);
    let stay = stands.iter().filter_map(|(name, cell)| match of(name) {
        None => Some((&**name, *cell)),
        Some((_, given)) => given.map(|cell| (&**name, cell)),
    });
    let absent = |name: &str| stands.iter().all(|(other, _)| other != name);
    let come = given.iter().filter(|(name, _)| absent(name));
    let come = come.filter_map(|(name, given)| Some((&**name, (*given)?)));
    RowData::from_cells(stay.chain(come))
}

/// The change that takes cells of a table back, and the cells that people have changed since.
pub(super) async fn cells<T: Target>(
    target: &T,
    feature: Id,
    reference: &str,
    rows: &[CellsOf],
) -> Result<(Option<Change>, Vec<MovedLeaf>), UndoError<T::Error>> {
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    let mut remaining = rows.iter();
    let back = fetch_each(target, feature, &ids, |stored| {
        remaining
            .next()
            .zip(stored)
            .map(|(row, stored)| cells_back(row, &stored))
    });
    let back = back.await.map_err(store("reading rows"))?;
    let (mut writes, mut left, mut unseen) = (Vec::new(), Vec::new(), 0);
    for (row, back) in rows.iter().zip(back) {
        let Some((write, columns)) = back else {
            continue;
        };
        writes.extend(write);
        if row.hidden {
            unseen += columns.len() as u64;
            continue;
        }
        left.extend(columns.into_iter().map(|column| MovedLeaf {
            kind: None,
            reference: reference.to_owned(),
            uid: row.uid.clone(),
            id: Some(row.id),
            path: None,
            column: Some(column),
            count: None,
        }));
    }
    left.extend((unseen > 0).then(|| MovedLeaf::unseen(reference, unseen)));
    let rows = writes;
    let change = (!rows.is_empty()).then_some(Change::UpdateRows { feature, rows });
    Ok((change, left))
}

/// The table that a record is, or stands in.
fn table_of(record: &AnyRecord) -> Option<Id> {
    match record.kind {
        RecordKind::Feature => Some(record.id),
        RecordKind::Column | RecordKind::View => record.parent,
        RecordKind::Workspace | RecordKind::Module | RecordKind::Rail | RecordKind::Workflow => {
            None
        }
    }
}

/// What of an upgrade cannot be taken back, because somebody has changed it since.
pub(super) async fn losses<T: Target>(
    target: &T,
    steps: &UndoSteps,
) -> Result<Vec<TableLosses>, UndoError<T::Error>> {
    let is_merged = |step: &UndoStep| matches!(step, UndoStep::Back(..) | UndoStep::Cells { .. });
    if !steps.left().any(is_merged) && steps.places.is_empty() {
        return Ok(Vec::new());
    }
    let structure = target.structure().await;
    let structure = structure.map_err(store("reading the structure"))?;
    let mut lost = Vec::new();
    for step in steps.left() {
        match step {
            UndoStep::Back(changed, whole) => {
                let leaves = taken_back(&structure, changed, *whole).1.len() as u64;
                if leaves > 0 {
                    lost.push(lost_leaves(&changed.after, leaves));
                }
            }
            UndoStep::Cells {
                feature,
                reference,
                rows,
            } => {
                let Some(table) = structure.feature(*feature) else {
                    continue;
                };
                let (_, left) = cells(target, *feature, reference, rows).await?;
                // What is not shown counts, and is not named.
                let mut edited: Vec<Id> = left
                    .iter()
                    .map(|cell| cell.id.unwrap_or_default())
                    .collect();
                edited.dedup();
                if !edited.is_empty() {
                    lost.push(TableLosses {
                        edited,
                        stays: true,
                        ..TableLosses::nothing(table)
                    });
                }
            }
            _ => {}
        }
    }
    for order in steps.places.left(&structure) {
        let record = order.kind.zip(order.id);
        let record = record.and_then(|(kind, id)| AnyRecord::find(&structure, kind, id));
        let Some(record) = record else {
            continue;
        };
        match lost.iter_mut().find(|one| one.feature == record.id) {
            Some(known) => known.leaves += 1,
            None => lost.push(lost_leaves(&record, 1)),
        }
    }
    Ok(lost)
}

/// Leaves of a record that stay as people made them.
fn lost_leaves(record: &AnyRecord, leaves: u64) -> TableLosses {
    TableLosses {
        feature: record.id,
        table: table_of(record),
        kind: record.kind,
        name: record.called().to_owned(),
        edited: Vec::new(),
        foreign: 0,
        leaves,
        stays: true,
    }
}
