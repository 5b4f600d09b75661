//! Runs as they are stored, how one begins, and how it stands. `run_lease` has the attempts at them, `run_steps` their steps.

use uuid::Uuid;

use super::chain::too_deep;
use super::fired_row::FiredRow;
use super::principal::Principal;
use super::processor_time::Meter;
use crate::ids::WorkspaceKey;
use crate::store::{Hold, Row, StoreError, Tx};

/// A run that was claimed.
#[derive(Debug, Clone)]
pub struct Run {
    /// Whose it is.
    pub organization: Uuid,
    /// Where its automation stands.
    pub workspace: Uuid,
    /// Its automation.
    pub workflow: Uuid,
    /// Its own id.
    pub id: Uuid,
    /// The number of the version that is executed.
    pub version: i64,
    /// The id of that version; nothing when it is gone.
    pub version_id: Option<Uuid>,
    /// The table of the row that fired.
    pub feature: Option<Uuid>,
    /// The row that fired.
    pub row: Option<Uuid>,
    /// That row as it was then, as the API writes it.
    pub record: Option<String>,
    /// Whether nothing is to be done.
    pub dry_run: bool,
    /// How deep it was caused.
    pub depth: i64,
    /// The run that began its chain; nothing where that is this one.
    pub(super) began: Option<Uuid>,
    /// Who began it, if it was a person or a key.
    pub caller: Option<Uuid>,
    /// Who published the automation that fired, if nobody began it.
    pub publisher: Option<Uuid>,
    /// How many attempts at it ended without a word.
    pub crashes: i64,
    /// How much processor time it has used.
    pub(super) meter: Meter,
    /// The ids that its version names, once that is known.
    pub named: Vec<Uuid>,
    /// Until when it waits, or waited.
    pub wake_at: Option<i64>,
    /// Whether nobody has executed any of it.
    pub fresh: bool,
    /// This attempt.
    pub owner: Uuid,
    /// What it might do when it was claimed; nothing where nobody has looked, or whoever it works for has
    /// lost access.
    pub(super) allowed: Option<Principal>,
}

impl Run {
    /// The workspace that it works in.
    pub(super) fn workspace_key(&self) -> WorkspaceKey {
        WorkspaceKey {
            organization: self.organization,
            workspace: self.workspace,
        }
    }

    /// The run that began the chain that it belongs to.
    pub(super) fn chain(&self) -> Uuid {
        self.began.unwrap_or(self.id)
    }

    /// With whose visibility it works.
    pub fn principal(&self) -> Option<Uuid> {
        self.caller.or(self.publisher)
    }

    /// This attempt at its row.
    pub(super) fn attempt(&self) -> Hold {
        Hold {
            organization: self.organization,
            id: self.id,
            owner: self.owner,
        }
    }
}

/// A run that is to be.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its id.
    pub id: Uuid,
    /// Whose it is.
    pub organization: Uuid,
    /// Where its automation stands.
    pub workspace: Uuid,
    /// Its automation.
    pub workflow: Uuid,
    /// The number of the version that is executed.
    pub version: i64,
    /// `manual`, `cron` or `automation`.
    pub trigger: &'static str,
    /// The row that fires.
    pub row: Option<FiredRow>,
    /// Whether nothing is to be done.
    pub dry_run: bool,
    /// How deep it is caused.
    pub depth: i64,
    /// The run that causes it.
    pub cause: Option<Uuid>,
    /// The run that began the chain that it belongs to; nothing where no run causes it.
    pub chain: Option<Uuid>,
    /// Who begins it.
    pub caller: Option<Uuid>,
    /// With whose visibility it works if nobody begins it.
    pub publisher: Option<Uuid>,
    /// The instant at which it was due.
    pub due_at: Option<i64>,
    /// The time.
    pub now: i64,
}

/// Writes a run down, to be executed by whoever comes first. One that is due at an instant that has a run
/// already is not written.
///
/// # Errors
/// Those of the store.
pub async fn begin(tx: &mut Tx, new: &NewRun) -> Result<(), StoreError> {
    let sql = "INSERT INTO main.workflow_runs {into $1} (organization_id, workspace_id, workflow_id, id, \
         version, status, trigger_word, feature_id, row_id, record, dry_run, depth, cause, caller, \
         due_at, error, error_code, created_at, finished_at, publisher, chain) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) \
         ON CONFLICT (organization_id, workflow_id, due_at) DO NOTHING";
    let failure = too_deep(new.depth);
    let status = if failure.is_some() {
        "failed"
    } else {
        "queued"
    };
    let row = new.row.as_ref();
    let parameters = [
        new.organization.into(),
        new.workspace.into(),
        new.workflow.into(),
        new.id.into(),
        new.version.into(),
        status.into(),
        new.trigger.into(),
        row.map(|fired| fired.table).into(),
        row.map(|fired| fired.row).into(),
        row.map(|fired| fired.document.as_str()).into(),
        new.dry_run.into(),
        new.depth.into(),
        new.cause.into(),
        new.caller.into(),
        new.due_at.into(),
        failure
            .as_ref()
            .map(|failure| failure.detail.clone())
            .into(),
        failure.as_ref().map(|failure| failure.code).into(),
        new.now.into(),
        failure.map(|_| new.now).into(),
        new.publisher.into(),
        new.chain.into(),
    ];
    tx.query(sql, &parameters).await?;
    tx.note_queue(new.organization).await
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStatus {
    /// Whether it has ended.
    pub over: bool,
    /// Until when it waits, or waited.
    pub wake_at: Option<i64>,
    /// Why it has failed.
    pub error: Option<String>,
}

/// How a run stands; nothing when there is no such run.
///
/// # Errors
/// Those of the store.
pub async fn status(tx: &mut Tx, run: Uuid) -> Result<Option<RunStatus>, StoreError> {
    let sql = "SELECT status, wake_at, error FROM workflow_runs WHERE id = $1 {across operator}";
    let read = |row: Row| {
        let status: String = row.get(0)?;
        Ok(RunStatus {
            over: ["succeeded", "failed"].contains(&status.as_str()),
            wake_at: row.get(1)?,
            error: row.get(2)?,
        })
    };
    tx.first(sql, &[run.into()]).await?.map(read).transpose()
}
