//! The lease of a job (`service`: template apply job): one attempt at a time may write. `claim` takes jobs up.
//!
//! [`Hold`] says what a lease is; the clock of the store measures this one. A unit first checks the
//! lease, and its end updates the row of the job only for the same attempt. The row is not locked in
//! between, so the lease can be renewed during a long unit.

use tplkit::apply::Report;
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{Progress, Unit};
use uuid::Uuid;

use super::ledger::entry_text;
use super::permission::may_apply;
use super::{Job, Status};
use crate::context::Context;
use crate::ids::WorkspaceKey;
use crate::store::{Hold, PipelinedStatement, Scope, Store, StoreError, Tx, Value, Visible, lease};
use crate::workspace::UnitError;

/// The right to write for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Whose the job is.
    pub organization: Uuid,
    /// Where it writes.
    pub workspace: Uuid,
    /// The job.
    pub job: Uuid,
    /// Who asked for the job, or for the undo that is done: what it writes is theirs.
    pub creator: Option<Uuid>,
    /// The attempt.
    pub owner: Uuid,
    /// How long it lasts unless it is renewed, in microseconds.
    pub length: i64,
}

impl Lease {
    pub(super) fn of(job: &Job, owner: Uuid, length: i64) -> Lease {
        Lease {
            organization: job.organization,
            workspace: job.workspace,
            job: job.id,
            creator: job.created_by,
            owner,
            length,
        }
    }

    /// The attempt at the row of the job.
    pub(super) fn hold(&self) -> Hold {
        Hold {
            organization: self.organization,
            id: self.job,
            owner: self.owner,
        }
    }

    /// As whom the store is written: one organization, behind both layers. All rows of it are seen,
    /// because whether a table is empty or a value is in it twice is so for everybody.
    pub fn scope(&self) -> Scope {
        Scope::from(Visible {
            caller: self.creator.unwrap_or_default(),
            organizations: vec![self.organization],
            administered: vec![self.organization],
            ..Visible::default()
        })
    }

    /// Makes it last from now on; false when it is over.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn renew(&self, store: &Store, context: &Context) -> Result<bool, StoreError> {
        let input = (self.clone(), context.now());
        let scope = self.scope();
        let work = store.write(&scope, input, |tx, (lease, now)| {
            Box::pin(async move {
                let sql = concat!(
                    "UPDATE main.template_jobs SET ",
                    lease!(renew "{clock $4} + $5"),
                    " WHERE ",
                    lease!(fence),
                    " AND ",
                    lease!(held "{clock $4}"),
                    " RETURNING id"
                );
                let parameters = lease.hold().with([(*now).into(), lease.length.into()]);
                Ok(tx.first(sql, &parameters).await?.is_some())
            })
        });
        work.await
    }

    /// Whether who asked for the job may still carry it out.
    pub(super) async fn has_right(&self, tx: &mut Tx, now: i64) -> Result<bool, StoreError> {
        let place = WorkspaceKey {
            organization: self.organization,
            workspace: self.workspace,
        };
        let who = self.creator.unwrap_or_default();
        may_apply(tx, place, who, now).await
    }

    /// The same, asked outside of the units.
    pub(super) async fn still_has_right(
        &self,
        store: &Store,
        context: &Context,
    ) -> Result<bool, StoreError> {
        let input = (self.clone(), context.now());
        let scope = self.scope();
        let reading = store.read(&scope, input, |tx, (lease, now)| {
            Box::pin(async move { lease.has_right(tx, *now).await })
        });
        reading.await
    }

    /// Gives it back, so that others take the job up; those who work by themselves not before `pause`
    /// microseconds have gone.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn release(
        &self,
        store: &Store,
        context: &Context,
        pause: i64,
    ) -> Result<(), StoreError> {
        let input = (self.clone(), context.now(), pause);
        let scope = self.scope();
        let work = store.write(&scope, input, |tx, (lease, now, pause)| {
            Box::pin(async move {
                let sql = concat!(
                    "UPDATE main.template_jobs SET ",
                    lease!(set "NULL", "{clock $4} + $5"),
                    " WHERE ",
                    lease!(fence)
                );
                let pause = Some(*pause).filter(|pause| *pause > 0);
                let parameters = lease.hold().with([(*now).into(), pause.into()]);
                tx.query(sql, &parameters).await.map(drop)
            })
        });
        work.await
    }

    /// Says why the job stopped, unless others hold it by now.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn fail(
        &self,
        store: &Store,
        context: &Context,
        error: String,
    ) -> Result<(), StoreError> {
        let input = (self.clone(), context.now(), error);
        let scope = self.scope();
        let work = store.write(&scope, input, |tx, (lease, now, error)| {
            Box::pin(async move {
                let sql = concat!(
                    "UPDATE main.template_jobs SET status = 'failed', error = $5, updated_at = $4, ",
                    lease!(let go),
                    " WHERE ",
                    lease!(fence)
                );
                let parameters = lease.hold().with([(*now).into(), error.as_str().into()]);
                tx.query(sql, &parameters).await.map(drop)
            })
        });
        work.await
    }

    /// How many entries the ledger of the job has; nothing when the lease is over.
    pub(super) async fn entries(&self, tx: &mut Tx, now: i64) -> Result<Option<i64>, StoreError> {
        let sql = concat!(
            "SELECT entries FROM template_jobs WHERE ",
            lease!(fence),
            " AND ",
            lease!(held "{clock $4}")
        );
        let parameters = self.hold().with([now.into()]);
        let row = tx.first(sql, &parameters).await?;
        row.map(|row| row.get(0)).transpose()
    }

    /// Notes that a unit is written, in its transaction, in a ledger that has `entries` so far: progress,
    /// the entry, the end of the job; and renews the lease. Gives how many entries there are now.
    pub(super) async fn advance(
        &self,
        tx: &mut Tx,
        unit: &Unit,
        entries: i64,
        now: i64,
    ) -> Result<i64, UnitError> {
        if let (Some(left), true) = (&unit.report, is_undone(unit)) {
            // The last unit gives the lease back, so this goes before it, behind the fence.
            self.report_left(tx, left).await?;
        }
        let update = match &unit.report {
            Some(report) if !is_undone(unit) => self.finish(unit, report, now),
            _ => self.go_on(unit, now),
        };
        let mut statements = vec![update];
        if let Some(entry) = &unit.entry {
            statements.push(entry_statement(self, entries, entry)?);
        }
        let responses = tx.pipeline(statements).await?;
        let updated = responses.first().and_then(|rows| rows.first());
        Ok(updated.ok_or(UnitError::Fenced)?.get(0)?)
    }

    /// Adds what an undo left as people made it to the report of the job.
    async fn report_left(&self, tx: &mut Tx, left: &str) -> Result<(), UnitError> {
        let sql = concat!("SELECT report FROM template_jobs WHERE ", lease!(fence));
        let row = tx.first(sql, &self.hold().with([])).await?;
        let kept: Option<String> = row.ok_or(UnitError::Fenced)?.get(0)?;
        let bad = |error: serde_json::Error| StoreError::Internal(format!("a report: {error}"));
        let mut report: Report = match &kept {
            Some(kept) => serde_json::from_str(kept).map_err(bad)?,
            None => Report::default(),
        };
        report.undo_left = serde_json::from_str(left).map_err(bad)?;
        let report = serde_json::to_string(&report).map_err(bad)?;
        let sql = concat!(
            "UPDATE main.template_jobs SET report = $4 WHERE ",
            lease!(fence),
            " RETURNING id"
        );
        let written = tx.first(sql, &self.hold().with([report.into()])).await?;
        written.map(drop).ok_or(UnitError::Fenced)
    }

    /// An undo that waited for room (`Undo::wait`) waits no more.
    fn go_on(&self, unit: &Unit, now: i64) -> PipelinedStatement {
        let sql = concat!(
            "UPDATE main.template_jobs SET \
             status = CASE WHEN status = 'undone' THEN status ELSE $4 END, phase = $5, \
             done = $6, total = $7, entries = entries + $8, updated_at = $9, \
             error = CASE WHEN $5 = 'undo' AND before_undo = 'completed' THEN NULL ELSE error END, ",
            lease!(
                set "CASE WHEN $4 = 'undone' THEN NULL ELSE lease_owner END",
                "{clock $9} + $10"
            ),
            " WHERE ",
            lease!(fence),
            " RETURNING entries"
        );
        let status = match (&unit.entry, unit.progress.phase) {
            // With this unit the lease goes, too.
            (Some(Entry::Undone), _) => Status::Undone,
            (Some(Entry::Undoing { .. }), _) | (_, "undo") => Status::Undoing,
            (_, "rows") => Status::Rows,
            (_, "publish") => Status::Publish,
            _ => Status::Structure,
        };
        let mut parameters = self.job_row(unit, status, now);
        let length = Some(self.length).filter(|_| status != Status::Undone);
        parameters.push(length.into());
        PipelinedStatement::new(sql, parameters)
    }

    /// The last unit gives the lease back.
    fn finish(&self, unit: &Unit, report: &str, now: i64) -> PipelinedStatement {
        let sql = concat!(
            "UPDATE main.template_jobs SET status = $4, phase = $5, done = $6, total = $7, \
             entries = entries + $8, updated_at = $9, report = $10, error = NULL, ",
            lease!(let go),
            " WHERE ",
            lease!(fence),
            " RETURNING entries"
        );
        let mut parameters = self.job_row(unit, Status::Completed, now);
        parameters.push(report.into());
        PipelinedStatement::new(sql, parameters)
    }

    /// What the row of the job says after a unit.
    fn job_row(&self, unit: &Unit, status: Status, now: i64) -> Vec<Value> {
        let Progress { phase, done, total } = unit.progress;
        self.hold().with([
            status.as_str().into(),
            phase.into(),
            count(done).into(),
            count(total).into(),
            i64::from(unit.entry.is_some()).into(),
            now.into(),
        ])
    }
}

/// Whether a unit is the last of an undo.
fn is_undone(unit: &Unit) -> bool {
    matches!(unit.entry, Some(Entry::Undone))
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The statement that adds an entry; the row of the job counts it.
fn entry_statement(
    lease: &Lease,
    number: i64,
    entry: &Entry,
) -> Result<PipelinedStatement, StoreError> {
    let sql = "INSERT INTO main.template_job_entries {into $1} \
         (organization_id, workspace_id, job_id, number, entry) VALUES ($1, $2, $3, $4, $5)";
    let parameters = vec![
        lease.organization.into(),
        lease.workspace.into(),
        lease.job.into(),
        number.into(),
        entry_text(entry)?.into(),
    ];
    Ok(PipelinedStatement::new(sql, parameters))
}
