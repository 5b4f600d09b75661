//! Undoes a job from its ledger (`rest` 6.8).
//!
//! Afterwards rows, configs and sequences are as before the job. Changes that others made since
//! refuse the undo, unless it is forced. A small undo is one unit; a larger one takes several, rows
//! before structure, and records its progress in the ledger. All refusals come before the first
//! unit; from then on an undo can only be interrupted and resumed. One that has begun waits for room when there may be
//! no more rows: what is still to come back is in the ledger.

mod before_job;
mod edited_rows;
mod losses;
mod merged;
mod rewritten;
mod room;
mod rows_back;
mod sibling_numbers;
mod sibling_order;
mod steps;

use std::collections::HashSet;

use crate::problem::Code;
use crate::workspace::ledger::{Entry, MovedLeaf, RemovedContent, Updated};
use crate::workspace::{
    Change, CommitError, Id, Progress, RecordKind, Refused, Removal, RowWrite, Structure, Target,
    Unit, fetch_each,
};

pub use losses::forced;
use losses::losses;
use steps::{UndoStep, UndoSteps};
pub use table_losses::TableLosses;

/// Why a job was not undone; nothing was taken away.
#[derive(Debug, thiserror::Error)]
pub enum UndoError<E> {
    /// It was undone before.
    #[error("the job was undone already; there is nothing left of it")]
    Conflict,
    /// Something that people did since would be lost.
    #[error("people have worked on what the job wrote: {}; {}", listed(.0), forced(.0))]
    NotEmpty(Vec<TableLosses>),
    /// The store refused.
    #[error("the undo was refused, and nothing was taken away: {detail}")]
    Refused {
        /// The stable code.
        code: Code,
        /// Why.
        detail: String,
    },
    /// It has begun, and there is no room for rows that come back. What is still to do is in the ledger: the same call
    /// goes on once there is room.
    #[error("the undo waits for room, and nothing is lost: {detail}")]
    Waiting {
        /// Why.
        detail: String,
    },
    /// Somebody else works on the job.
    #[error("another worker has taken the job over; nothing was taken away")]
    Fenced,
    /// The store failed.
    #[error("the store failed {doing}; look at the job before trying again")]
    Store {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: E,
    },
}

fn listed(lost: &[TableLosses]) -> String {
    let texts: Vec<String> = lost.iter().map(TableLosses::to_string).collect();
    texts.join(", ")
}

/// How far an undo has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoProgress {
    /// To its end. What people have changed since stays, and is listed.
    Done(Vec<MovedLeaf>),
    /// It stopped after a unit on request; the next call resumes.
    Paused,
}

/// Rows and records that are taken back in one unit.
pub const UNDO_UNIT: u64 = 2000;

/// Takes away what the job wrote; with `force` also what people did to it.
pub async fn undo<T: Target>(target: &mut T, force: bool) -> Result<(), UndoError<T::Error>> {
    let done = undo_in_units(target, force, UNDO_UNIT, &mut |_| true).await;
    done.map(drop)
}

/// Like [`undo`], in units of `size` rows and records; stops after a unit for which `go_on` returns false.
///
/// An undo that was begun goes on where its last unit ended. What others have edited meanwhile
/// refuses it no more: in a table that goes it goes, elsewhere it stays as they left it.
pub async fn undo_in_units<T: Target>(
    target: &mut T,
    force: bool,
    size: u64,
    go_on: &mut (dyn FnMut(Progress) -> bool + Send),
) -> Result<UndoProgress, UndoError<T::Error>> {
    let ledger = target.ledger().await.map_err(store("reading the ledger"))?;
    if ledger.iter().any(|entry| matches!(entry, Entry::Undone)) {
        return Err(UndoError::Conflict);
    }
    let mut steps = UndoSteps::of(&ledger);
    let begun = ledger.iter().rev().find_map(|entry| match entry {
        Entry::Undoing { done, .. } => Some(*done),
        _ => None,
    });
    let mut left: Vec<MovedLeaf> = ledger.iter().flat_map(left_so_far).cloned().collect();
    drop(ledger);
    let total = steps.weight() as u64;
    let mut done = begun.unwrap_or_default();
    steps.take(done);
    // One unit is checked by the store as it is written.
    if begun.is_none() && !force {
        let lost = if total > size {
            losses(target, &steps).await?
        } else {
            merged::losses(target, &steps).await?
        };
        if !lost.is_empty() {
            return Err(UndoError::NotEmpty(lost));
        }
    }
    if begun.is_none() && total > size {
        room::check(target, &steps).await?;
    }
    let mut first = begun.is_none();
    loop {
        let taken = steps.take(size.max(1));
        done = total - steps.weight() as u64;
        let progress = Progress {
            phase: "undo",
            done: done.max(1),
            total: total.max(1),
        };
        let stays = loop {
            let terms = UndoTerms { force, first };
            let (mut changes, mut stays) = changes(target, taken.clone(), &steps, terms).await?;
            if steps.is_empty() && !steps.places.is_empty() {
                let structure = target.structure().await;
                let structure = structure.map_err(store("reading the structure"))?;
                stays.extend(steps.places.left(&structure));
                steps.places.renumber(&structure, &mut changes);
            }
            let (entry, report) = unit_entry(&steps, done, &left, &stays);
            let unit = Unit {
                changes,
                entry: Some(entry),
                progress,
                report,
            };
            let (ended, entry, report) = match write(target, unit, terms).await? {
                UnitEnd::Written => break stays,
                UnitEnd::OneByOne(changes) => {
                    let away = commit_each(target, changes, &taken, progress, &steps).await?;
                    let new = away.into_iter().filter(|leaf| !stays.contains(leaf));
                    let new: Vec<MovedLeaf> = new.collect();
                    stays.extend(new);
                    let (entry, report) = unit_entry(&steps, done, &left, &stays);
                    (Some(stays), entry, report)
                }
                UnitEnd::Edited => {
                    // It has begun, and what people do from now on refuses it no more.
                    first = false;
                    let left = Vec::new();
                    (None, Entry::Undoing { done: 0, left }, None)
                }
            };
            let unit = Unit {
                changes: Vec::new(),
                entry: Some(entry),
                progress,
                report,
            };
            written(target.commit(unit).await)?;
            if let Some(stays) = ended {
                break stays;
            }
        };
        left.extend(stays);
        first = false;
        if steps.is_empty() {
            return Ok(UndoProgress::Done(left));
        }
        if !go_on(progress) {
            return Ok(UndoProgress::Paused);
        }
    }
}

/// What a unit adds to the ledger, and the report with the last one.
fn unit_entry(
    steps: &UndoSteps,
    done: u64,
    left: &[MovedLeaf],
    stays: &[MovedLeaf],
) -> (Entry, Option<String>) {
    if !steps.is_empty() {
        let left = stays.to_vec();
        return (Entry::Undoing { done, left }, None);
    }
    let all: Vec<&MovedLeaf> = left.iter().chain(stays).collect();
    let report = serde_json::to_string(&all).ok();
    (Entry::Undone, report.filter(|_| !all.is_empty()))
}

/// What earlier units of an undo left as people made it.
fn left_so_far(entry: &Entry) -> &[MovedLeaf] {
    match entry {
        Entry::Undoing { left, .. } => left,
        _ => &[],
    }
}

fn store<E>(doing: &'static str) -> impl FnOnce(E) -> UndoError<E> {
    move |source| UndoError::Store { doing, source }
}

/// What a unit may lose.
#[derive(Debug, Clone, Copy)]
struct UndoTerms {
    /// Everything.
    force: bool,
    /// Nothing is gone yet, so that it may still be refused.
    first: bool,
}

/// What is done to the workspace by some steps, and what stays as people made it.
async fn changes<T: Target>(
    target: &T,
    taken: Vec<UndoStep>,
    steps: &UndoSteps,
    UndoTerms { force, first }: UndoTerms,
) -> Result<(Vec<Change>, Vec<MovedLeaf>), UndoError<T::Error>> {
    let mut structure = None;
    let mut left = Vec::new();
    let mut changes = Vec::with_capacity(taken.len());
    for step in taken {
        match step {
            UndoStep::Restore { feature, rows } => {
                if structure.is_none() {
                    let read = target.structure().await;
                    structure = Some(read.map_err(store("reading the structure"))?);
                }
                let there = |structure: &Structure| structure.feature(feature).is_some();
                if structure.as_ref().is_some_and(there) {
                    changes.extend(restored(target, feature, rows, force).await?);
                }
            }
            UndoStep::Back(changed, whole) => {
                let read = target.structure().await;
                let read = read.map_err(store("reading the structure"))?;
                let (change, stays) = merged::taken_back(&read, &changed, whole);
                changes.extend(change);
                left.extend(stays);
            }
            UndoStep::Cells {
                feature,
                reference,
                rows,
            } => {
                if structure.is_none() {
                    let read = target.structure().await;
                    structure = Some(read.map_err(store("reading the structure"))?);
                }
                let there = |structure: &Structure| structure.feature(feature).is_some();
                if structure.as_ref().is_some_and(there) {
                    let (change, stays) = merged::cells(target, feature, &reference, &rows).await?;
                    changes.extend(change);
                    left.extend(stays);
                }
            }
            UndoStep::Put(taken) => changes.extend(put_back(target, taken).await?),
            UndoStep::Remove { feature, mut rows } => {
                if force || (!first && steps.created.contains(&feature)) {
                    for row in &mut rows {
                        row.digest = None;
                    }
                }
                changes.push(Change::RemoveRows { feature, rows });
            }
            UndoStep::Single(Change::Remove { kind, id, .. }) => changes.push(Change::Remove {
                kind,
                id,
                force: force || (!first && kind == RecordKind::Feature),
            }),
            UndoStep::Single(change) => changes.push(change),
        }
    }
    Ok((changes, left))
}

/// What was taken away comes back: rows, or cells where the rows have no others under that name.
async fn put_back<T: Target>(
    target: &T,
    taken: RemovedContent,
) -> Result<Option<Change>, UndoError<T::Error>> {
    let RemovedContent {
        feature,
        column,
        rows,
    } = taken;
    let Some(column) = column else {
        return Ok(Some(Change::PutRows { feature, rows }));
    };
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    let empty = fetch_each(target, feature, &ids, |row| {
        row.is_some_and(|row| row.data.cell(&column).is_none())
    });
    let empty = empty.await.map_err(store("reading rows"))?;
    let rows = rows.into_iter().zip(empty).filter(|(_, empty)| *empty);
    let rows: Vec<RowWrite> = rows
        .map(|(row, _)| RowWrite {
            id: row.id,
            cells: row.data,
            replace: false,
            digest: None,
        })
        .collect();
    Ok((!rows.is_empty()).then_some(Change::UpdateRows { feature, rows }))
}

/// Rows as they were; those that are gone stay gone.
async fn restored<T: Target>(
    target: &T,
    feature: Id,
    rows: Vec<Updated>,
    force: bool,
) -> Result<Option<Change>, UndoError<T::Error>> {
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    let there = fetch_each(target, feature, &ids, |row| row.is_some()).await;
    let there = there.map_err(store("reading rows"))?;
    let rows = rows.into_iter().zip(there);
    let rows = rows.filter(|(_, there)| *there);
    let rows: Vec<RowWrite> = rows
        .map(|(row, _)| RowWrite {
            id: row.id,
            cells: row.before,
            replace: true,
            digest: (!force).then_some(row.digest),
        })
        .collect();
    Ok((!rows.is_empty()).then_some(Change::UpdateRows { feature, rows }))
}

/// How the writing of a unit ended.
enum UnitEnd {
    Written,
    /// It was refused: what of its changes can still be done is done one by one.
    OneByOne(Vec<Change>),
    /// It would be the first one, and somebody has edited rows since they were read. Nothing is lost by that.
    Edited,
}

/// Writes a unit. The first may be refused. When another one is, its changes are given back: of them those are left out
/// which cannot be done any more, because somebody has edited it since the undo began.
async fn write<T: Target>(
    target: &mut T,
    unit: Unit,
    terms: UndoTerms,
) -> Result<UnitEnd, UndoError<T::Error>> {
    let kept = (!terms.first).then(|| unit.changes.clone());
    let Some(refused) = written(target.commit(unit).await)? else {
        return Ok(UnitEnd::Written);
    };
    if let Some(changes) = kept {
        return waits(Some(refused)).map(|_| UnitEnd::OneByOne(changes));
    }
    let is_edited = refused.code == Code::NotEmpty && refused.row.is_some();
    match explained(target, refused).await? {
        UndoError::NotEmpty(_) if is_edited && terms.force => Ok(UnitEnd::Edited),
        UndoError::Refused { .. } if is_edited => Ok(UnitEnd::Edited),
        why => Err(why),
    }
}

/// An undo that has begun loses nothing when there may be no more rows: it waits.
fn waits<E>(refused: Option<Refused>) -> Result<Option<Refused>, UndoError<E>> {
    match refused {
        Some(refused) if refused.code == Code::QuotaExceeded => Err(UndoError::Waiting {
            detail: refused.message,
        }),
        refused => Ok(refused),
    }
}

/// Writes what of the changes of some steps can still be done. Gives what does not come back.
async fn commit_each<T: Target>(
    target: &mut T,
    changes: Vec<Change>,
    taken: &[UndoStep],
    progress: Progress,
    steps: &UndoSteps,
) -> Result<Vec<MovedLeaf>, UndoError<T::Error>> {
    let (mut left, mut edited) = (Vec::new(), HashSet::new());
    for change in changes {
        let Change::PutRows { feature, rows } = change else {
            edited.extend(commit_rest(target, change, progress).await?);
            continue;
        };
        let away = rows_back::put_rest(target, feature, rows, progress).await?;
        left.extend(away.into_iter().map(|row| MovedLeaf {
            kind: None,
            reference: steps.reference(feature),
            uid: None,
            id: Some(row),
            path: None,
            column: None,
            count: None,
        }));
    }
    left.extend(edited_rows::take_back(target, taken, &edited, progress).await?);
    Ok(left)
}

/// Writes what of a change can still be done. Gives the rows that somebody has edited since they were read.
async fn commit_rest<T: Target>(
    target: &mut T,
    mut change: Change,
    progress: Progress,
) -> Result<HashSet<Id>, UndoError<T::Error>> {
    let mut edited = HashSet::new();
    while let Some(refused) = commit(target, change.clone(), progress).await? {
        // The others stay together: they may take the values of each other.
        match (&mut change, refused.row) {
            (Change::UpdateRows { rows, .. }, Some(at)) if at < rows.len() && rows.len() > 1 => {
                let row = rows.remove(at);
                edited.extend((refused.code == Code::NotEmpty).then_some(row.id));
            }
            _ => {
                for (id, row) in alone(change) {
                    let refused = commit(target, row, progress).await?;
                    let is_edited = refused.is_some_and(|why| why.code == Code::NotEmpty);
                    edited.extend(is_edited.then_some(id));
                }
                break;
            }
        }
    }
    Ok(edited)
}

/// Writes a change that no entry reports: done once more it does nothing. Gives why it was refused.
async fn commit<T: Target>(
    target: &mut T,
    change: Change,
    progress: Progress,
) -> Result<Option<Refused>, UndoError<T::Error>> {
    let unit = Unit {
        changes: vec![change],
        entry: None,
        progress,
        report: None,
    };
    waits(written(target.commit(unit).await)?)
}

/// Why something was refused, if it was.
fn written<E>(outcome: Result<(), CommitError<E>>) -> Result<Option<Refused>, UndoError<E>> {
    match outcome {
        Ok(()) => Ok(None),
        Err(CommitError::Refused(refused)) => Ok(Some(refused)),
        Err(CommitError::Fenced) => Err(UndoError::Fenced),
        Err(CommitError::Store(source)) => Err(UndoError::Store {
            doing: "taking the job back",
            source,
        }),
    }
}

/// A change of rows row by row; nothing of a change that was refused and is about no rows.
fn alone(change: Change) -> Vec<(Id, Change)> {
    match change {
        Change::UpdateRows { feature, rows } => {
            let alone = |row: RowWrite| {
                let (id, rows) = (row.id, vec![row]);
                (id, Change::UpdateRows { feature, rows })
            };
            rows.into_iter().map(alone).collect()
        }
        Change::RemoveRows { feature, rows } => {
            let alone = |row: Removal| {
                let (id, rows) = (row.id, vec![row]);
                (id, Change::RemoveRows { feature, rows })
            };
            rows.into_iter().map(alone).collect()
        }
        _ => Vec::new(),
    }
}

/// Why the store refused the first unit, by name.
async fn explained<T: Target>(
    target: &T,
    refused: Refused,
) -> Result<UndoError<T::Error>, UndoError<T::Error>> {
    if refused.code == Code::NotEmpty {
        let ledger = target.ledger().await.map_err(store("reading the ledger"))?;
        let lost = losses(target, &UndoSteps::of(&ledger)).await?;
        if !lost.is_empty() {
            return Ok(UndoError::NotEmpty(lost));
        }
    }
    Ok(UndoError::Refused {
        code: refused.code,
        detail: refused.message,
    })
}

mod table_losses;
#[cfg(test)]
mod tests;
