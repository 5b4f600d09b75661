//! Redacts the report of a job for readers other than its creator (`rest` 2.5).
//!
//! A report is written with the visibility of the creator. It would show a reader who sees only
//! their own rows of a table, or not the table at all, how many rows others have, which keys exist,
//! and what did not fit: such tables are left out. The package's own numbers stay for everybody who
//! may read the template.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, HashSet};

use tplkit::apply::{Report, Resolution};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{Id, RecordKind};
use uuid::Uuid;

use super::{Job, JobRequest};
use crate::store::{Scope, StoreError, Tx, Value};

/// Takes out of the reports of jobs what the scope of the transaction must not learn.
///
/// # Errors
/// Those of the store.
pub async fn redact(tx: &mut Tx, jobs: &mut [Job]) -> Result<(), StoreError> {
    let Scope::Caller(visible) = tx.scope().clone() else {
        return Ok(());
    };
    if visible.guarded.is_empty() && visible.hidden.is_empty() {
        return Ok(());
    }
    let guarded: HashSet<Id> = visible.guarded.iter().copied().collect();
    let mut by_workspace: HashMap<Uuid, Vec<MappedTable>> = HashMap::new();
    for job in jobs {
        if job.created_by == Some(visible.caller) {
            continue;
        }
        let Some(text) = &job.report else {
            continue;
        };
        let mapped = match by_workspace.entry(job.workspace) {
            Vacant(entry) => entry.insert(mapped(tx, job).await?),
            Occupied(entry) => entry.into_mut(),
        };
        let mapped = mapped.iter().filter(|table| table.job <= job.id);
        let unseen = if visible.hidden.is_empty() {
            HashSet::new()
        } else {
            let named = mapped.clone().map(|table| table.id);
            unseen(tx, job.organization, named.collect()).await?
        };
        if guarded.is_empty() && unseen.is_empty() {
            continue;
        }
        let bad = |_| StoreError::Internal("a report in the store cannot be read".to_owned());
        let mut report: Report = serde_json::from_str(text).map_err(bad)?;
        let mut tables = created(tx, job).await?;
        for table in mapped.filter(|table| table.template == job.template) {
            let tables = tables.entry(table.reference.clone()).or_default();
            tables.insert(table.id);
        }
        // What a ref stands for that another template of the line named is not known, and counts as hidden.
        let is_open = |reference: &str| {
            let tables = tables.get(reference);
            tables.is_some_and(|tables| tables.is_disjoint(&guarded) && tables.is_disjoint(&unseen))
        };
        let before = report.rows.len();
        report.rows.retain(|reference, _| is_open(reference));
        report.errors.retain(|error| is_open(&error.reference));
        for moved in [&mut report.moved, &mut report.undo_left] {
            moved.retain(|one| one.kind.is_some() || is_open(&one.reference));
        }
        report
            .not_carried
            .retain(|left| left.kind != "rows" || is_open(&left.reference));
        if report.rows.len() < before {
            // These name an item of the package, not its table.
            let package = Some("package");
            report
                .unresolved
                .retain(|entry| entry.kind != "rows" || entry.source.as_deref() == package);
        }
        job.report = Some(serde_json::to_string(&report).map_err(bad)?);
    }
    Ok(())
}

/// The tables that jobs of the template of a job created in its workspace, by ref. They lie there, so the reader sees them.
async fn created(tx: &mut Tx, job: &Job) -> Result<HashMap<String, HashSet<Id>>, StoreError> {
    let sql = "SELECT e.entry FROM template_jobs j JOIN template_job_entries e \
         ON e.organization_id = j.organization_id AND e.job_id = j.id \
         WHERE {tenant j.organization_id} AND {workspace j.workspace_id} \
         AND j.organization_id = $1 AND j.workspace_id = $2 AND j.template_id = $3 AND j.id <= $4 \
         AND e.entry LIKE $5";
    let parameters = [
        job.organization.into(),
        job.workspace.into(),
        job.template.into(),
        job.id.into(),
        r#"{"structure"%"#.into(),
    ];
    let mut tables: HashMap<String, HashSet<Id>> = HashMap::new();
    for row in &tx.query(sql, &parameters).await? {
        let entry: String = row.get(0)?;
        let entry = serde_json::from_str(&entry);
        let bad = |error| StoreError::Internal(format!("an entry of a ledger: {error}"));
        if let Entry::Structure(structure) = entry.map_err(bad)? {
            let created = structure.created.into_iter().chain(structure.known);
            for created in created.filter(|created| created.kind == RecordKind::Feature) {
                let tables = tables.entry(created.reference).or_default();
                tables.insert(created.id);
            }
        }
    }
    Ok(tables)
}

/// A table that somebody named in place of one of a package.
struct MappedTable {
    job: Uuid,
    template: Uuid,
    reference: String,
    id: Id,
}

/// The tables that were named in the workspace of a job. An upgrade goes on with what was decided before it, in jobs of
/// other templates, too.
async fn mapped(tx: &mut Tx, job: &Job) -> Result<Vec<MappedTable>, StoreError> {
    let sql = "SELECT id, template_id, request FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND workspace_id = $2 AND request LIKE $3";
    let parameters = [
        job.organization.into(),
        job.workspace.into(),
        r#"%"map"%"#.into(),
    ];
    let mut mapped = Vec::new();
    for row in &tx.query(sql, &parameters).await? {
        let job: Uuid = row.get(0)?;
        let template: Uuid = row.get(1)?;
        let job_request: String = row.get(2)?;
        for (reference, resolution) in JobRequest::read(&job_request)?.resolutions() {
            if let Resolution::Map { id, .. } = resolution
                && let Ok(id) = Uuid::parse_str(&id)
            {
                mapped.push(MappedTable {
                    job,
                    template,
                    reference,
                    id,
                });
            }
        }
    }
    Ok(mapped)
}

/// Those of them that the scope of the transaction does not see. Of one that is gone nobody can say who saw it.
async fn unseen(
    tx: &mut Tx,
    organization: Uuid,
    mapped: HashSet<Id>,
) -> Result<HashSet<Id>, StoreError> {
    let mut unseen = mapped;
    if unseen.is_empty() {
        return Ok(unseen);
    }
    let ids = Value::Ids(unseen.iter().copied().collect());
    let sql = "SELECT id FROM features WHERE {tenant organization_id} AND {workspace workspace_id} \
         AND organization_id = $1 AND {any id $2}";
    for row in &tx.query(sql, &[organization.into(), ids]).await? {
        let seen: Id = row.get(0)?;
        unseen.remove(&seen);
    }
    Ok(unseen)
}
