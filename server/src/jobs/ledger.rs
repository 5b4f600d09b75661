//! The ledgers of jobs: what they wrote.

use std::ops::Range;

use tplkit::apply::{LegacyJob, Resolutions};
use tplkit::check::{Checked, NotChecked};
use tplkit::workspace::ledger::{Entry, is_unnoted};
use uuid::Uuid;

use super::Job;
use super::line_index;
use super::package;
use crate::ids::{TemplateKey, WorkspaceKey};
use crate::spool::SpooledText;
use crate::store::{Row, StoreError, Tx};

const ENTRIES: &str = "SELECT number, entry FROM template_job_entries WHERE {tenant organization_id} \
     AND {workspace workspace_id} AND organization_id = $1 AND job_id = $2 AND number > $3 \
     ORDER BY number LIMIT 50";
/// The limit of that. An entry of rows is some ten kilobytes.
const ENTRIES_PER_QUERY: usize = 50;

/// The entries of a job, in order. Their texts are held a few at a time.
///
/// # Errors
/// Those of the store, and when an entry is of a newer program.
pub async fn own(tx: &mut Tx, organization: Uuid, job: Uuid) -> Result<Vec<Entry>, StoreError> {
    let (mut entries, mut behind) = (Vec::new(), -1_i64);
    loop {
        let parameters = [organization.into(), job.into(), behind.into()];
        let rows = tx.query(ENTRIES, &parameters).await?;
        let count = rows.len();
        for row in rows {
            behind = row.get(0)?;
            entries.push(read(&row)?);
        }
        if count < ENTRIES_PER_QUERY {
            return Ok(entries);
        }
    }
}

/// The entries of a job about records, in order.
async fn records(tx: &mut Tx, organization: Uuid, job: Uuid) -> Result<Vec<Entry>, StoreError> {
    let sql = "SELECT number, entry FROM template_job_entries WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND job_id = $2 AND entry LIKE $3 \
         ORDER BY number";
    let parameters = [organization.into(), job.into(), r#"{"structure"%"#.into()];
    let rows = tx.query(sql, &parameters).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Entry, StoreError> {
    let text: String = row.get(1)?;
    serde_json::from_str(&text)
        .map_err(|error| StoreError::Internal(format!("an entry of a ledger: {error}")))
}

/// What the jobs wrote that an apply continues.
#[derive(Debug, Default)]
pub struct LineLedgers {
    /// Their ledgers, oldest first.
    pub entries: Vec<Entry>,
    /// The jobs, oldest first.
    pub jobs: Vec<LedgerJob>,
    /// The newest of them.
    pub newest: Option<Uuid>,
    /// What was decided about dependencies, the newest word for each.
    pub resolutions: Resolutions,
    /// The jobs among them whose ledgers were written before ledgers held the base.
    pub legacy_jobs: Vec<StoredLegacyJob>,
}

/// A job of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerJob {
    /// Its id.
    pub id: Uuid,
    /// Its entries among those of the line.
    pub entries: Range<usize>,
    /// Whether it is an upgrade with rows.
    pub compares: bool,
}

/// A job whose ledger is read, and whether it is an upgrade with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedLedger {
    /// Its id.
    pub job: Uuid,
    /// Whether it compares rows.
    pub compares: bool,
}

/// A job whose ledger was written before ledgers held the base of what was written.
#[derive(Debug)]
pub struct StoredLegacyJob {
    entries: Range<usize>,
    resolutions: Resolutions,
    text: SpooledText,
}

impl StoredLegacyJob {
    /// The job with its package read.
    ///
    /// # Errors
    /// When what was checked cannot be read, which is a bug.
    pub fn read(&self) -> Result<LegacyJob<'_>, NotChecked> {
        Ok(LegacyJob {
            entries: self.entries.clone(),
            package: Checked::trusted(&self.text)?,
            resolutions: &self.resolutions,
        })
    }
}

/// An entry as it is kept.
pub(super) fn entry_text(entry: &Entry) -> Result<String, StoreError> {
    serde_json::to_string(entry)
        .map_err(|error| StoreError::Internal(format!("an entry of a ledger: {error}")))
}

/// The ledgers that a job is bound to (`rest` 6.4), oldest first, without its own; nothing of jobs that
/// were undone. That of a new job are those of the line of `base_job`, else of the newest line of its
/// template in its workspace. A job that goes on or passes again (`job`) has those of its own line, also
/// of jobs that came after it: what they put in place of what was gone, it finds there.
///
/// # Errors
/// Those of the store.
pub async fn earlier(
    tx: &mut Tx,
    TemplateKey {
        organization,
        workspace,
        template,
    }: TemplateKey,
    job: Option<Uuid>,
    base_job: Option<Uuid>,
) -> Result<LineLedgers, StoreError> {
    let known = line_index::completed(
        tx,
        WorkspaceKey {
            organization,
            workspace,
        },
        job,
    )
    .await?;
    let jobs = known.of(template, job, base_job);
    if let Some(own) = jobs.iter().find(|known| Some(known.id) == job)
        && own.request.copy
        && !was_completed(tx, organization, own.id).await?
    {
        // Nobody has bound to a copy that was never whole.
        return Ok(LineLedgers::default());
    }
    let others = || jobs.iter().filter(|known| Some(known.id) != job);
    let mut resolutions = Resolutions::new();
    for known in others() {
        resolutions.extend(known.resolutions.clone());
    }
    let jobs: Vec<WantedLedger> = others()
        .map(|known| WantedLedger {
            job: known.id,
            compares: known.request.compares_rows(),
        })
        .collect();
    written_by(tx, organization, &jobs, resolutions, LedgerPart::All).await
}

/// What of ledgers and packages is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerPart {
    /// Everything.
    All,
    /// Records alone.
    Records,
}

/// What these jobs wrote, oldest first, with what was decided about dependencies in them.
///
/// # Errors
/// Those of the store.
pub async fn written_by(
    tx: &mut Tx,
    organization: Uuid,
    jobs: &[WantedLedger],
    resolutions: Resolutions,
    what: LedgerPart,
) -> Result<LineLedgers, StoreError> {
    let mut line = LineLedgers {
        resolutions,
        ..LineLedgers::default()
    };
    let mut legacy_jobs = Vec::new();
    for wanted in jobs {
        let other = wanted.job;
        let written = match what {
            LedgerPart::All => own(tx, organization, other).await?,
            LedgerPart::Records => records(tx, organization, other).await?,
        };
        let start = line.entries.len();
        let entries = start..start + written.len();
        if is_unnoted(&written) {
            legacy_jobs.push((other, entries.clone()));
        }
        line.entries.extend(written);
        line.jobs.push(LedgerJob {
            id: other,
            entries,
            compares: wanted.compares,
        });
        line.newest = Some(other);
    }
    for (other, entries) in legacy_jobs {
        let kept = package::read(tx, organization, other, false).await?;
        line.legacy_jobs
            .extend(kept.map(|(order, text)| StoredLegacyJob {
                entries,
                resolutions: order.request.resolutions,
                text,
            }));
    }
    Ok(line)
}

/// The first upgrade that starts from what a job left, and wrote something that stands: while it does, the job is
/// not taken back.
///
/// # Errors
/// Those of the store.
pub async fn upgraded_by(tx: &mut Tx, job: &Job) -> Result<Option<Uuid>, StoreError> {
    let known = line_index::in_effect(
        tx,
        WorkspaceKey {
            organization: job.organization,
            workspace: job.workspace,
        },
    )
    .await?;
    let line = known.of(job.template, Some(job.id), None);
    let later = line.iter().filter(|known| known.id > job.id);
    for upgrade in later.filter(|known| known.request.upgrade) {
        if has_entries(tx, job.organization, upgrade.id).await? {
            return Ok(Some(upgrade.id));
        }
    }
    Ok(None)
}

/// Whether a job has written anything.
async fn has_entries(tx: &mut Tx, organization: Uuid, job: Uuid) -> Result<bool, StoreError> {
    let sql = "SELECT number FROM template_job_entries WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND job_id = $2 LIMIT 1";
    let parameters = [organization.into(), job.into()];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// Whether a job has ever come to its end.
async fn was_completed(tx: &mut Tx, organization: Uuid, job: Uuid) -> Result<bool, StoreError> {
    let sql = "SELECT number FROM template_job_entries WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND job_id = $2 AND entry = $3 LIMIT 1";
    let parameters = [
        organization.into(),
        job.into(),
        entry_text(&Entry::Completed)?.into(),
    ];
    Ok(tx.first(sql, &parameters).await?.is_some())
}

/// As [`earlier`], of a job that exists.
///
/// # Errors
/// Those of the store.
pub(super) async fn kept_entries(tx: &mut Tx, job: &Job) -> Result<LineLedgers, StoreError> {
    let of = TemplateKey {
        organization: job.organization,
        workspace: job.workspace,
        template: job.template,
    };
    earlier(tx, of, Some(job.id), None).await
}
