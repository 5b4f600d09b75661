//! Finds the changes of others that an undo would lose, before anything is removed.

use std::collections::{HashMap, HashSet};

use super::steps::{UndoStep, UndoSteps};
use super::table_losses::TableLosses;
use super::{UndoError, store};
use crate::workspace::ledger::RowDigest;
use crate::workspace::{Feature, Id, StoredRow, Target, fetch_each, is_last_batch};

/// What an undo with force does to what people have done since.
pub fn forced(lost: &[TableLosses]) -> &'static str {
    let stays = lost.iter().filter(|lost| lost.stays).count();
    match stays {
        0 => "undo with force takes that away, too",
        _ if stays == lost.len() => {
            "undo with force leaves that as people made it, and takes back the rest"
        }
        _ => {
            "undo with force takes rows and tables of the job away with that, and leaves what people made of other values"
        }
    }
}

/// Rows that are read at once.
const ROWS_PER_READ: usize = 1000;

/// The newest digests of rows of one table.
type RowDigests = HashMap<Id, RowDigest>;

/// Everything that would be lost, table by table.
pub(super) async fn losses<T: Target>(
    target: &T,
    steps: &UndoSteps,
) -> Result<Vec<TableLosses>, UndoError<T::Error>> {
    let structure = target.structure().await;
    let structure = structure.map_err(store("reading the structure"))?;
    let mut of_tables: HashMap<Id, Vec<&UndoStep>> = HashMap::new();
    for step in steps.left() {
        if let UndoStep::Restore { feature, .. } | UndoStep::Remove { feature, .. } = step {
            of_tables.entry(*feature).or_default().push(step);
        }
    }
    let mut lost = super::merged::losses(target, steps).await?;
    for feature in structure.features.iter().chain(&structure.shared) {
        let own = of_tables.remove(&feature.id).unwrap_or_default();
        let digests = digests(&own);
        let found = if steps.created.contains(&feature.id) {
            of_created(target, feature, &own, &digests).await?
        } else {
            of_other(target, feature, &digests).await?
        };
        if !found.edited.is_empty() || found.foreign > 0 {
            lost.push(found);
        }
    }
    Ok(lost)
}

/// What each row has to hold. Steps go backwards: the first that names a row is the newest.
fn digests(steps: &[&UndoStep]) -> RowDigests {
    let mut digests = RowDigests::new();
    for step in steps {
        match step {
            UndoStep::Restore { rows, .. } => {
                for row in rows {
                    digests.entry(row.id).or_insert(row.digest);
                }
            }
            UndoStep::Remove { rows, .. } => {
                let known = rows.iter().filter_map(|row| Some((row.id, row.digest?)));
                digests.extend(known);
            }
            UndoStep::Cells { .. }
            | UndoStep::Put(_)
            | UndoStep::Back(..)
            | UndoStep::Single(_) => {}
        }
    }
    digests
}

fn is_edited(row: &StoredRow, digests: &RowDigests) -> bool {
    let digest = digests.get(&row.id);
    digest.is_some_and(|digest| *digest != RowDigest::of(&row.data))
}

/// Of a table that goes: every row in it counts.
async fn of_created<T: Target>(
    target: &T,
    feature: &Feature,
    steps: &[&UndoStep],
    digests: &RowDigests,
) -> Result<TableLosses, UndoError<T::Error>> {
    // Rows of others that the job changed stay theirs.
    let changed = steps.iter().filter_map(|step| match step {
        UndoStep::Restore { rows, .. } => Some(rows.iter().map(|row| row.id)),
        _ => None,
    });
    let changed: HashSet<Id> = changed.flatten().collect();
    let mut lost = TableLosses::nothing(feature);
    let mut after = None;
    loop {
        let rows = target.rows(feature.id, after, ROWS_PER_READ).await;
        let rows = rows.map_err(store("reading rows"))?;
        let foreign =
            |row: &&StoredRow| !digests.contains_key(&row.id) || changed.contains(&row.id);
        lost.foreign += rows.iter().filter(foreign).count() as u64;
        let edited = rows.iter().filter(|row| is_edited(row, digests));
        lost.edited.extend(edited.map(|row| row.id));
        after = rows.last().map(|row| row.id);
        if is_last_batch(&rows, ROWS_PER_READ) {
            return Ok(lost);
        }
    }
}

/// Of a table that stays: the rows that the job wrote or changed.
async fn of_other<T: Target>(
    target: &T,
    feature: &Feature,
    digests: &RowDigests,
) -> Result<TableLosses, UndoError<T::Error>> {
    let mut lost = TableLosses::nothing(feature);
    let mut ids: Vec<Id> = digests.keys().copied().collect();
    ids.sort_unstable();
    for ids in ids.chunks(ROWS_PER_READ) {
        let edited = |row: Option<StoredRow>| {
            let edited = row.filter(|row| is_edited(row, digests));
            edited.map(|row| row.id)
        };
        let edited = fetch_each(target, feature.id, ids, edited).await;
        let edited = edited.map_err(store("reading rows"))?;
        lost.edited.extend(edited.into_iter().flatten());
    }
    Ok(lost)
}
