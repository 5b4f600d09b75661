//! Claims jobs for a worker: any that is free, or a given one.

use super::job::columns;
use super::status::unfinished;
use super::{Job, Lease};
use crate::context::Context;
use crate::store::{Hold, Scope, Store, StoreError, lease};

/// Which job may be claimed: one that is unfinished and has no lease, unless two of its organization have one
/// already, in any process. So a process, which runs four, always has places for other organizations, and more
/// processes run no more at a time for one organization.
macro_rules! waits {
    () => {
        concat!(
            unfinished!(),
            " AND ",
            lease!(free "{clock $1}"),
            " AND (SELECT count(*) FROM template_jobs AS held \
             WHERE held.organization_id = job.organization_id AND ",
            unfinished!(),
            " AND ",
            lease!(held "{clock $1}"),
            ") < 2"
        )
    };
}

/// Whether there is a job that may be taken up. Looking costs a store less than a write that finds nothing.
async fn waiting(store: &Store, context: &Context) -> Result<bool, StoreError> {
    let found = store.read(&Scope::Operator, context.now(), |tx, now| {
        Box::pin(async move {
            let sql = concat!(
                "SELECT id FROM template_jobs AS job WHERE ",
                waits!(),
                " LIMIT 1"
            );
            Ok::<_, StoreError>(!tx.last(sql, &[(*now).into()]).await?.is_empty())
        })
    });
    found.await
}

/// Claims any free job, if there is one: of an organization two at a time at the most.
///
/// # Errors
/// Those of the store.
pub async fn take_any(
    store: &Store,
    context: &Context,
    length: i64,
) -> Result<Option<(Job, Lease)>, StoreError> {
    if !waiting(store, context).await? {
        return Ok(None);
    }
    let owner = Hold::attempt();
    let input = (owner, context.now(), length);
    let taken = store.write(&Scope::Operator, input, |tx, (owner, now, length)| {
        Box::pin(async move {
            let sql = concat!(
                "UPDATE main.template_jobs SET ",
                lease!(set "$2", "{clock $1} + $3"),
                ", updated_at = $1, \
                 status = CASE WHEN status = 'pending' THEN 'structure' ELSE status END \
                 WHERE (organization_id, id) IN (SELECT organization_id, id FROM template_jobs AS job WHERE ",
                waits!(),
                " ORDER BY id LIMIT 1) AND ",
                unfinished!(),
                " AND ",
                lease!(free "{clock $1}"),
                " RETURNING ",
                columns!()
            );
            let parameters = [(*now).into(), (*owner).into(), (*length).into()];
            let row = tx.first(sql, &parameters).await?;
            row.as_ref().map(Job::read).transpose()
        })
    });
    let taken: Option<Job> = taken.await?;
    Ok(taken.map(|job| {
        let lease = Lease::of(&job, owner, length);
        (job, lease)
    }))
}

/// Takes this job, whatever its status; nothing when somebody holds it.
///
/// # Errors
/// Those of the store.
pub async fn take(
    store: &Store,
    context: &Context,
    job: &Job,
    length: i64,
) -> Result<Option<Lease>, StoreError> {
    let lease = Lease::of(job, Hold::attempt(), length);
    let input = (lease.clone(), context.now());
    let scope = lease.scope();
    let taken = store.write(&scope, input, |tx, (lease, now)| {
        Box::pin(async move {
            let sql = concat!(
                "UPDATE main.template_jobs SET ",
                lease!(set "$3", "{clock $4} + $5"),
                " WHERE ",
                lease!(row),
                " AND ",
                lease!(free "{clock $4}"),
                " RETURNING id"
            );
            let parameters = lease.hold().with([(*now).into(), lease.length.into()]);
            Ok::<_, StoreError>(tx.first(sql, &parameters).await?.is_some())
        })
    });
    Ok(taken.await?.then_some(lease))
}
