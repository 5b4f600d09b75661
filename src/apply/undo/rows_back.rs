//! Rows that come back although some of them cannot any more: their table is gone, or somebody has taken a unique
//! value of theirs since the undo began.

use super::{UndoError, commit, store};
use crate::workspace::{Change, Id, KeptRow, Progress, Target, fetch_each};

/// Puts back what it can, in parts that get smaller. Gives the rows that stay away.
pub(super) async fn put_rest<T: Target>(
    target: &mut T,
    feature: Id,
    rows: Vec<KeptRow>,
    progress: Progress,
) -> Result<Vec<Id>, UndoError<T::Error>> {
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    let structure = target.structure().await;
    let structure = structure.map_err(store("reading the structure"))?;
    if structure.feature(feature).is_none() {
        return Ok(ids);
    }
    // An earlier attempt may have ended between two parts.
    let there = fetch_each(&*target, feature, &ids, |row| row.is_some()).await;
    let there = there.map_err(store("reading rows"))?;
    let absent = rows.into_iter().zip(there).filter(|(_, there)| !there);
    let absent: Vec<KeptRow> = absent.map(|(row, _)| row).collect();
    let (mut parts, mut away) = (vec![absent], Vec::new());
    while let Some(mut part) = parts.pop() {
        let rows = part.clone();
        let change = Change::PutRows { feature, rows };
        if part.is_empty() || commit(target, change, progress).await?.is_none() {
            continue;
        }
        if let [row] = part.as_slice() {
            away.push(row.id);
            continue;
        }
        let rest = part.split_off(part.len() / 2);
        parts.extend([rest, part]);
    }
    Ok(away)
}
