//! Claims jobs for a worker: any that is free, or a given one.

use std::time::Duration;

use uuid::Uuid;

use super::job::columns;
use super::status::unfinished;
use super::{Job, Lease};
use crate::context::Context;
use crate::store::{Hold, POLLS_AT_ONCE, Scope, Store, StoreError, Tx, lease};

/// Which job may be claimed: one that is unfinished and has no lease, unless two of its organization have one
/// already, in any process. So a process, which runs four, always has places for other organizations, and more
/// processes run no more at a time for one organization. What is said of the others names the organization itself.
macro_rules! waits {
    ($same_organization:literal) => {
        concat!(
            unfinished!(),
            " AND ",
            lease!(free "{clock $1}"),
            " AND (SELECT count(*) FROM template_jobs AS held WHERE ",
            $same_organization,
            " AND ",
            unfinished!(),
            " AND ",
            lease!(held "{clock $1}"),
            ") < 2"
        )
    };
}

/// The organizations of the list `$1` in which a job is unfinished and free at the time `$2`.
const DUE: &str = concat!(
    "SELECT DISTINCT organization_id FROM template_jobs AS job WHERE {any organization_id $1} AND ",
    unfinished!(),
    " AND ",
    lease!(free "{clock $2}"),
    " {across queue}"
);

/// The job that waits longest of those that may be taken up, behind its organization. Looking costs a store less than a
/// write that finds nothing.
async fn waiting(
    store: &Store,
    context: &Context,
    scope: &Scope,
) -> Result<Option<(Uuid, Uuid)>, StoreError> {
    let found = store.read(scope, context.now(), |tx, now| {
        Box::pin(async move {
            let sql = concat!(
                "SELECT organization_id, id FROM template_jobs AS job WHERE {queue organization_id} AND ",
                waits!("{queue held.organization_id} AND held.organization_id = job.organization_id"),
                " ORDER BY id LIMIT 1 {across queue}"
            );
            let rows = tx.last(sql, &[(*now).into()]).await?;
            let free = rows
                .first()
                .map(|row| Ok::<_, StoreError>((row.get(0)?, row.get(1)?)));
            free.transpose()
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
    take_noted(store, context, length, Duration::ZERO).await
}

/// The same. In a distributed database organizations are asked that were noted lately, and all of them every so often.
pub(super) async fn take_noted(
    store: &Store,
    context: &Context,
    length: i64,
    every: Duration,
) -> Result<Option<(Job, Lease)>, StoreError> {
    let scopes = store.queues(DUE, every, context.now()).await?;
    for together in scopes.chunks(POLLS_AT_ONCE) {
        let polls = store.poll(together, |scope| waiting(store, context, scope));
        for (scope, found) in polls.await {
            let taken = match found {
                // What was tried for another one has waited for its worker.
                Ok(_) if store.rests(scope) => continue,
                Ok(found) => take_in(store, context, scope, length, found).await,
                Err(error) => Err(error),
            };
            match taken {
                Ok(None) => {}
                Err(error) => store.pass_over(scope, error)?,
                taken => return taken,
            }
        }
    }
    Ok(None)
}

async fn take_in(
    store: &Store,
    context: &Context,
    scope: &Scope,
    length: i64,
    mut found: Option<(Uuid, Uuid)>,
) -> Result<Option<(Job, Lease)>, StoreError> {
    while let Some((organization, id)) = found {
        let hold = Hold {
            organization,
            id,
            owner: Hold::attempt(),
        };
        let input = (hold, context.now(), length);
        let taken = store.write(scope, input, |tx, (hold, now, length)| {
            Box::pin(take_free(tx, *hold, *now, *length))
        });
        let taken: Option<Job> = taken.await?;
        if let Some(job) = taken {
            let lease = Lease::of(&job, hold.owner, length);
            return Ok(Some((job, lease)));
        }
        // Somebody else was faster; another one may be free.
        found = waiting(store, context, scope).await?;
    }
    Ok(None)
}

/// Takes a job that was found free, if it still is.
async fn take_free(
    tx: &mut Tx,
    hold: Hold,
    now: i64,
    length: i64,
) -> Result<Option<Job>, StoreError> {
    let sql = concat!(
        "UPDATE main.template_jobs SET ",
        lease!(set "$4", "{clock $1} + $5"),
        ", updated_at = $1, \
         status = CASE WHEN status = 'pending' THEN 'structure' ELSE status END \
         WHERE organization_id = $2 AND id = $3 AND ",
        waits!("held.organization_id = $2"),
        " RETURNING ",
        columns!(held)
    );
    let parameters = [
        now.into(),
        hold.organization.into(),
        hold.id.into(),
        hold.owner.into(),
        length.into(),
    ];
    let row = tx.first(sql, &parameters).await?;
    row.as_ref().map(Job::read).transpose()
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
