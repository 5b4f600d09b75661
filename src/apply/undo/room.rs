//! Whether there is room for the rows that come back, asked before anything is removed.

use super::steps::{UndoStep, UndoSteps};
use super::{UndoError, store};
use crate::problem::Code;
use crate::workspace::ledger::RemovedContent;
use crate::workspace::{Id, Target, fetch_each};

/// Refuses an undo that would stop half way because there may be no more rows.
pub(super) async fn check<T: Target>(
    target: &T,
    steps: &UndoSteps,
) -> Result<(), UndoError<T::Error>> {
    let all: u64 = steps.left().map(come_back).sum();
    if all == 0 {
        return Ok(());
    }
    let room = target.row_capacity().await;
    let room = room.map_err(store("counting rows"))?;
    // Most have so much room that nothing has to be read.
    let Some(room) = room.filter(|room| *room < all) else {
        return Ok(());
    };
    let wanted = wanted(target, steps).await?;
    if wanted <= room {
        return Ok(());
    }
    Err(UndoError::Refused {
        code: Code::QuotaExceeded,
        detail: format!(
            "{wanted} rows more have to fit when those of the job come back, and there is room for {room}"
        ),
    })
}

/// How many rows come back with a step.
fn come_back(step: &UndoStep) -> u64 {
    match step {
        UndoStep::Put(RemovedContent {
            column: None, rows, ..
        }) => rows.len() as u64,
        _ => 0,
    }
}

/// How many rows more than now there are at most, while rows come back and others go.
async fn wanted<T: Target>(target: &T, steps: &UndoSteps) -> Result<u64, UndoError<T::Error>> {
    let structure = target.structure().await;
    let structure = structure.map_err(store("reading the structure"))?;
    let (mut come, mut gone, mut most) = (0_u64, 0_u64, 0_u64);
    for step in steps.left() {
        come += come_back(step);
        if let UndoStep::Remove { feature, rows } = step
            && structure.feature(*feature).is_some()
        {
            // Rows that somebody took away before make no room.
            let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
            let there = fetch_each(target, *feature, &ids, |row| row.is_some()).await;
            let there = there.map_err(store("reading rows"))?;
            gone += there.into_iter().filter(|there| *there).count() as u64;
        }
        most = most.max(come.saturating_sub(gone));
    }
    Ok(most)
}
