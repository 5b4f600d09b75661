//! Rows that somebody has edited between the reading and the writing of a unit. They are read again: the cells that the
//! job wrote and nobody else has changed are taken back all the same.

use std::collections::HashSet;

use crate::apply::undo::steps::UndoStep;
use crate::apply::undo::{UndoError, commit_rest, merged};
use crate::workspace::ledger::{CellsOf, MovedLeaf};
use crate::workspace::{Id, Progress, Target};

/// How often they are read again.
const MAX_ATTEMPTS: usize = 20;

/// Takes cells of edited rows back. Gives those that stay.
pub(super) async fn take_back<T: Target>(
    target: &mut T,
    taken: &[UndoStep],
    edited: &HashSet<Id>,
    progress: Progress,
) -> Result<Vec<MovedLeaf>, UndoError<T::Error>> {
    let mut left = Vec::new();
    for step in taken {
        let UndoStep::Cells {
            feature,
            reference,
            rows,
        } = step
        else {
            continue;
        };
        let rows = rows.iter().filter(|row| edited.contains(&row.id));
        let mut rows: Vec<CellsOf> = rows.cloned().collect();
        for _ in 0..MAX_ATTEMPTS {
            if rows.is_empty() {
                break;
            }
            let (change, stays) = merged::cells(target, *feature, reference, &rows).await?;
            let again = match change {
                Some(change) => commit_rest(target, change, progress).await?,
                None => HashSet::new(),
            };
            // What stays of a row is known when it is not read again.
            let is_over = |leaf: &MovedLeaf| leaf.id.is_some_and(|id| !again.contains(&id));
            left.extend(stays.into_iter().filter(is_over));
            rows.retain(|row| again.contains(&row.id));
        }
        left.extend(rows.iter().flat_map(|row| all_cells(reference, row)));
    }
    Ok(left)
}

/// All cells that the job wrote of a row.
fn all_cells(reference: &str, row: &CellsOf) -> Vec<MovedLeaf> {
    if row.hidden {
        return vec![MovedLeaf::unseen(
            reference,
            row.after.cells().count() as u64,
        )];
    }
    let columns = row.after.cells().map(|(key, _)| key.decoded().into_owned());
    let cells = columns.map(|column| MovedLeaf {
        kind: None,
        reference: reference.to_owned(),
        uid: row.uid.clone(),
        id: Some(row.id),
        path: None,
        column: Some(column),
        count: None,
    });
    cells.collect()
}
