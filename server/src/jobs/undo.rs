//! The undo of a job: in units under a lease, by the request or by any worker.
//!
//! The status `undoing` blocks other jobs of the template or line in the workspace before the undo is
//! decided, so the decision still holds when it starts. A refused undo restores the previous
//! status.

use std::sync::atomic::{AtomicBool, Ordering};

use tplkit::apply::{UNDO_UNIT, UndoError, UndoProgress, undo_in_units};
use tplkit::problem::Code;
use uuid::Uuid;

use super::error::JobError;
use super::line_index::LineIndex;
use super::{Destination, Job, Lease};
use crate::context::Context;
use crate::rows::Tables;
use crate::store::{Hold, Store, StoreError, Tx, lease};
use crate::workspace::ReadError;

/// The right to take a job back.
#[derive(Debug, Clone)]
pub struct Undo {
    /// Under which it is done. It writes for who asked for the undo, whoever asked for the job.
    pub lease: Lease,
    force: bool,
}

/// How far an undo came.
#[derive(Debug)]
pub enum UndoResult {
    /// To its end.
    Done,
    /// It stopped on request, and a worker resumes it.
    Paused,
    /// It has begun, and there is no room for rows that come back: why.
    Waiting(String),
    /// Nothing was removed, and the job is what it was.
    Refused(UndoError<ReadError>),
    /// Others hold the job now.
    Fenced,
    /// The store failed. Something may have been removed.
    Failed(ReadError),
}

impl Undo {
    /// Takes a job that is finished for who asks, and keeps others from it and from its template in the
    /// workspace. Nothing when somebody was faster: with this job, or with another one of the template or line.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn begin(
        store: &Store,
        context: &Context,
        job: &Job,
        by: Uuid,
        force: bool,
        length: i64,
    ) -> Result<Option<Undo>, StoreError> {
        let lease = Lease {
            creator: Some(by),
            ..Lease::of(job, Hold::attempt(), length)
        };
        let start = UndoStart {
            lease: lease.clone(),
            job: job.clone(),
            by,
            force,
            now: context.now(),
        };
        let scope = lease.scope();
        let taken = store.write(&scope, start, |tx, start| Box::pin(begin(tx, start)));
        Ok(taken.await?.then_some(Undo { lease, force }))
    }

    /// Takes up the undo of a job that somebody has begun and left: for who asked for it.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn resume(store: &Store, lease: Lease) -> Result<Undo, StoreError> {
        let scope = lease.scope();
        let reading = store.read(&scope, lease.clone(), |tx, lease| {
            Box::pin(terms(tx, lease.organization, lease.job))
        });
        let UndoTerms { force, by }: UndoTerms = reading.await?;
        // Older programs did not note who asks, and wrote for who asked for the job.
        let creator = by.or(lease.creator);
        Ok(Undo {
            lease: Lease { creator, ..lease },
            force,
        })
    }

    /// Goes on until the end, or until a unit after `stop` was set.
    pub async fn run(
        &self,
        store: &Store,
        context: &Context,
        tables: &Tables,
        stop: &AtomicBool,
    ) -> UndoResult {
        let mut target = Destination::unrestricted(store, context, tables, self.lease.clone());
        let mut go_on = |_| !stop.load(Ordering::Relaxed);
        let ran = undo_in_units(&mut target, self.force, UNDO_UNIT, &mut go_on).await;
        match ran {
            Ok(UndoProgress::Done(_)) => UndoResult::Done,
            Ok(UndoProgress::Paused) => UndoResult::Paused,
            Err(UndoError::Waiting { detail }) => UndoResult::Waiting(detail),
            Err(UndoError::Fenced) => UndoResult::Fenced,
            Err(UndoError::Store { source, .. }) => UndoResult::Failed(source),
            Err(refused) => UndoResult::Refused(refused),
        }
    }

    /// Makes the job what it was before, unless something of it is gone already; false then.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn give_up(&self, store: &Store) -> Result<bool, StoreError> {
        let scope = self.lease.scope();
        let given = store.write(&scope, self.lease.clone(), |tx, lease| {
            Box::pin(give_up(tx, lease))
        });
        given.await
    }

    /// Says in the job why the undo waits, and gives it back: workers try again when `pause` microseconds have gone.
    /// What a failed job says of its failure stays.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn wait(
        &self,
        store: &Store,
        context: &Context,
        detail: &str,
        pause: i64,
    ) -> Result<(), StoreError> {
        let detail = format!(
            "The undo waits: {detail}. Nothing is lost; it goes on by itself when there is room for the rows that \
             come back."
        );
        let error = JobError {
            code: Code::QuotaExceeded.as_str(),
            detail: &detail,
            reference: None,
        };
        let input = (self.lease.clone(), context.now(), pause, error.write());
        let scope = self.lease.scope();
        let work = store.write(&scope, input, |tx, (lease, now, pause, error)| {
            Box::pin(async move {
                let sql = concat!(
                    "UPDATE main.template_jobs SET \
                     error = CASE WHEN before_undo = 'completed' THEN $6 ELSE error END, updated_at = $4, ",
                    lease!(set "NULL", "{clock $4} + $5"),
                    " WHERE ",
                    lease!(fence)
                );
                let own = [(*now).into(), (*pause).into(), error.as_str().into()];
                tx.query(sql, &lease.hold().with(own)).await.map(drop)
            })
        });
        work.await
    }
}

/// What begins an undo.
struct UndoStart {
    lease: Lease,
    job: Job,
    by: Uuid,
    force: bool,
    now: i64,
}

async fn begin(tx: &mut Tx, start: &UndoStart) -> Result<bool, StoreError> {
    let UndoStart { lease, job, .. } = start;
    let index = LineIndex::read(tx, job.place()).await?;
    let Some(line) = index.free_line(job) else {
        return Ok(false);
    };
    let sql = concat!(
        "UPDATE main.template_jobs SET before_undo = status, undo_force = $6, status = 'undoing', \
         line = $7, undone_by = $8, ",
        lease!(set "$3", "{clock $4} + $5"),
        " WHERE ",
        lease!(row),
        " AND status IN ('completed', 'failed') AND ",
        lease!(free "{clock $4}"),
        " RETURNING id"
    );
    let own = [
        start.now.into(),
        lease.length.into(),
        start.force.into(),
        line.into(),
        start.by.into(),
    ];
    let parameters = lease.hold().with(own);
    match tx.first(sql, &parameters).await {
        // Another job of the template or line is unfinished in the workspace.
        Err(StoreError::Unique { .. }) => Ok(false),
        row => {
            let begins = row?.is_some();
            if begins {
                tx.note_queue(lease.organization).await?;
            }
            Ok(begins)
        }
    }
}

/// What is noted of an undo that was begun.
#[derive(Debug, Default)]
struct UndoTerms {
    force: bool,
    /// Who asked for it.
    by: Option<Uuid>,
}

/// Whether the undo of a job, begun or done, is the one that somebody asks for.
///
/// # Errors
/// Those of the store.
pub async fn was_asked(tx: &mut Tx, job: &Job, by: Uuid, force: bool) -> Result<bool, StoreError> {
    let terms = terms(tx, job.organization, job.id).await?;
    Ok(terms.by == Some(by) && terms.force == force)
}

async fn terms(tx: &mut Tx, organization: Uuid, job: Uuid) -> Result<UndoTerms, StoreError> {
    let sql = "SELECT undo_force, undone_by FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let at = [organization.into(), job.into()];
    let Some(row) = tx.first(sql, &at).await? else {
        return Ok(UndoTerms::default());
    };
    Ok(UndoTerms {
        force: row.get(0)?,
        by: row.get(1)?,
    })
}

async fn give_up(tx: &mut Tx, lease: &Lease) -> Result<bool, StoreError> {
    // The first unit says so in the phase.
    let sql = concat!(
        "UPDATE main.template_jobs SET status = before_undo, before_undo = NULL, undone_by = NULL, ",
        lease!(let go),
        " WHERE ",
        lease!(fence),
        " AND status = 'undoing' AND phase <> 'undo' RETURNING id"
    );
    let parameters = lease.hold().with([]);
    Ok(tx.first(sql, &parameters).await?.is_some())
}
