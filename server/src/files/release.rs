//! Removes uses of files, and notes when a file lost a use: the parts of statements, and how they run.

use uuid::Uuid;

use crate::store::{StoreError, Tx, Value};

/// Notes when files lost a use: those of organization `$1` of which more is said. The later of what stands there
/// and the time counts: a process whose clock is behind shortens no grace.
macro_rules! unused_since {
    ($now:literal, $which:expr) => {
        concat!(
            "UPDATE main.files SET unused_since = CASE WHEN coalesce(unused_since, created_at) > ",
            $now,
            " THEN coalesce(unused_since, created_at) ELSE ",
            $now,
            " END WHERE {tenant organization_id} AND {workspace workspace_id} AND organization_id = $1 AND ",
            $which
        )
    };
}

/// Ends records of a table that keep files: those of organization `$1` of which more is said.
macro_rules! release {
    ($table:literal, $which:expr) => {
        concat!(
            "DELETE FROM main.",
            $table,
            " WHERE {tenant organization_id} AND {workspace workspace_id} AND organization_id = $1 AND ",
            $which
        )
    };
}

/// Both for holds of which something is said, at the time of a parameter.
macro_rules! release_holds {
    ($now:literal, $which:literal) => {
        [
            $crate::files::release::unused_since!(
                $now,
                concat!(
                    "id IN (",
                    "SELECT file_id FROM file_holds WHERE organization_id = $1 AND ",
                    $which,
                    ")"
                )
            ),
            $crate::files::release::release!("file_holds", $which),
        ]
    };
}

pub(crate) use {release, release_holds, unused_since};

/// Lets go of holds of an organization, whoever sees their files. `of` are the parameters of both statements; the first has
/// the time behind them.
///
/// # Errors
/// Those of the store.
pub(crate) async fn holds(
    tx: &mut Tx,
    organization: Uuid,
    [since, end]: [&'static str; 2],
    of: &[Value],
    now: i64,
) -> Result<(), StoreError> {
    let before = tx.set_administered(vec![organization]).await?;
    let parameters: Vec<Value> = of.iter().cloned().chain([now.into()]).collect();
    tx.query(since, &parameters).await?;
    tx.query(end, of).await?;
    tx.set_administered(before).await?;
    Ok(())
}
