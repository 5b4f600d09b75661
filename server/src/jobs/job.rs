//! A job: its row and its response (`rest` 6.5).

use schemars::JsonSchema;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tplkit::apply::Report;
use uuid::Uuid;

use super::Status;
use super::error::JobError;
use crate::ids::WorkspaceKey;
use crate::json_schemas::UtcInstant;
use crate::paging::{BoundedRecords, PageRequest};
use crate::store::{Row, StoreError, Tx, bounded_records};

/// A template job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Whose it is.
    pub organization: Uuid,
    /// Where it writes.
    pub workspace: Uuid,
    /// Its own id.
    pub id: Uuid,
    /// What it applies.
    pub template: Uuid,
    /// Who asked for it.
    pub created_by: Option<Uuid>,
    /// How far it is.
    pub status: Status,
    /// `structure`, `rows`, `publish`, `undo`.
    pub phase: String,
    /// Steps, rows or automations done in this phase.
    pub done: i64,
    /// Of how many.
    pub total: i64,
    /// Until when somebody holds it, in microseconds.
    pub locked_until: Option<i64>,
    /// Whether somebody holds it now, by the clock that all go by.
    pub held: bool,
    /// What it did, as JSON text.
    pub report: Option<String>,
    /// Why it stopped, as JSON text.
    pub error: Option<String>,
    /// In microseconds.
    pub created_at: i64,
    /// In microseconds.
    pub updated_at: i64,
}

/// What a statement has to list for [`Job::read`]; `$1` is the time by this process's clock. What takes a job up lists it
/// as `held`: a write returns nothing that depends on the time.
macro_rules! columns {
    () => {
        concat!(
            columns!(@before),
            "coalesce(",
            $crate::store::lease!(held "{clock $1}"),
            ", false)",
            columns!(@behind)
        )
    };
    (held) => {
        concat!(columns!(@before), "true", columns!(@behind))
    };
    (@before) => {
        "organization_id, workspace_id, id, template_id, created_by, status, phase, done, \
         total, locked_until, "
    };
    (@behind) => {
        ", report, error, created_at, updated_at"
    };
}
pub(super) use columns;

impl Job {
    /// The workspace that it writes to.
    pub(super) fn place(&self) -> WorkspaceKey {
        WorkspaceKey {
            organization: self.organization,
            workspace: self.workspace,
        }
    }

    /// Reads a row of the columns above.
    ///
    /// # Errors
    /// When the row has others.
    pub fn read(row: &Row) -> Result<Job, StoreError> {
        let status: String = row.get(5)?;
        let status = Status::read(&status)?;
        Ok(Job {
            organization: row.get(0)?,
            workspace: row.get(1)?,
            id: row.get(2)?,
            template: row.get(3)?,
            created_by: row.get(4)?,
            status,
            phase: row.get(6)?,
            done: row.get(7)?,
            total: row.get(8)?,
            locked_until: row.get(9)?,
            held: row.get(10)?,
            report: row.get(11)?,
            error: row.get(12)?,
            created_at: row.get(13)?,
            updated_at: row.get(14)?,
        })
    }
}

impl Serialize for Job {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = |text: &Option<String>| {
            let raw = text.clone().map(RawValue::from_string).transpose();
            raw.map_err(S::Error::custom)
        };
        let view = JobView {
            id: self.id,
            template_id: self.template,
            workspace_id: self.workspace,
            status: self.status,
            progress: ProgressView {
                phase: &self.phase,
                done: self.done,
                total: self.total,
            },
            locked_until: self.locked_until.map(UtcInstant),
            report: raw(&self.report)?,
            error: raw(&self.error)?,
            created_at: UtcInstant(self.created_at),
            updated_at: UtcInstant(self.updated_at),
        };
        view.serialize(serializer)
    }
}

/// An apply of a template to a workspace.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TemplateJob")]
pub(crate) struct JobView<'a> {
    /// Id of the record.
    id: Uuid,
    /// The template.
    template_id: Uuid,
    /// The workspace.
    workspace_id: Uuid,
    /// How it stands.
    status: Status,
    /// How far it is.
    progress: ProgressView<'a>,
    /// Until then somebody works on it; past or null: it is free to go on.
    locked_until: Option<UtcInstant>,
    /// What it did.
    #[schemars(with = "Option<Report>")]
    report: Option<Box<RawValue>>,
    /// Why it stopped.
    #[schemars(with = "Option<JobError<'_>>")]
    error: Option<Box<RawValue>>,
    /// When it was created.
    created_at: UtcInstant,
    /// When it last changed.
    updated_at: UtcInstant,
}

/// How far a job is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TemplateJobProgress")]
struct ProgressView<'a> {
    /// What it works on.
    phase: &'a str,
    /// How many units are done.
    done: i64,
    /// How many units there are.
    total: i64,
}

/// The job of that id, if the scope sees it.
///
/// # Errors
/// Those of the store.
pub async fn find(tx: &mut Tx, job: Uuid, now: i64) -> Result<Option<Job>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM template_jobs \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND id = $2"
    );
    let row = tx.first(sql, &[now.into(), job.into()]).await?;
    row.as_ref().map(Job::read).transpose()
}

/// Whether a template has jobs, in any workspace that the scope sees.
///
/// # Errors
/// Those of the store.
pub async fn any_of(tx: &mut Tx, template: Uuid) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM template_jobs \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND template_id = $1 LIMIT 1";
    let row = tx.first(sql, &[template.into()]).await?;
    Ok(row.is_some())
}

/// A page of the jobs that the scope sees, of one workspace or of all, and one more if another page follows. It ends
/// early where their reports are large.
///
/// # Errors
/// Those of the store.
pub async fn page(
    tx: &mut Tx,
    workspace: Option<Uuid>,
    page: &PageRequest,
    now: i64,
) -> Result<BoundedRecords<Job>, StoreError> {
    let all = concat!(
        "SELECT ",
        columns!(),
        " FROM template_jobs \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND id > $2 \
         ORDER BY id LIMIT $3 {bounded}"
    );
    let within = concat!(
        "SELECT ",
        columns!(),
        " FROM template_jobs \
         WHERE {tenant organization_id} AND {workspace workspace_id} AND id > $2 \
         AND workspace_id = $4 ORDER BY id LIMIT $3 {bounded}"
    );
    let mut parameters = vec![now.into(), page.from().into(), page.lookahead().into()];
    parameters.extend(workspace.map(Into::into));
    let sql = if workspace.is_some() { within } else { all };
    let rows = tx.last(sql, &parameters).await?;
    bounded_records(rows, Job::read)
}
