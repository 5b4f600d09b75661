//! Redacts the report of a job for readers other than its creator (`rest` 2.5).
//!
//! A report is written with the visibility of the creator. It would show a reader who sees only
//! their own rows of a table how many rows others have, which keys exist, and what did not fit:
//! such tables are left out. The package's own numbers stay for everybody who may read the
//! template.

use std::collections::{HashMap, HashSet};

use tplkit::apply::{Report, Resolution};
use tplkit::workspace::ledger::Entry;
use tplkit::workspace::{Id, RecordKind};
use uuid::Uuid;

use super::{Job, JobRequest};
use crate::store::{Scope, StoreError, Tx};

/// Takes out of the reports of jobs what the scope of the transaction must not learn.
///
/// # Errors
/// Those of the store.
pub async fn redact(tx: &mut Tx, jobs: &mut [Job]) -> Result<(), StoreError> {
    let Scope::Caller(visible) = tx.scope().clone() else {
        return Ok(());
    };
    if visible.guarded.is_empty() {
        return Ok(());
    }
    for job in jobs {
        if job.created_by == Some(visible.caller) {
            continue;
        }
        let Some(text) = &job.report else {
            continue;
        };
        let bad = |_| StoreError::Internal("a report in the store cannot be read".to_owned());
        let mut report: Report = serde_json::from_str(text).map_err(bad)?;
        let tables = tables(tx, job).await?;
        let is_open = |reference: &str| {
            let tables = tables.get(reference);
            tables.is_some_and(|tables| !visible.guarded.iter().any(|id| tables.contains(id)))
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

/// The tables that a ref may stand for in a job: those that jobs of its template created in its workspace
/// under that ref, and the one that somebody named.
async fn tables(tx: &mut Tx, job: &Job) -> Result<HashMap<String, HashSet<Id>>, StoreError> {
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
    let sql = "SELECT request FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let at = [job.organization.into(), job.id.into()];
    if let Some(row) = tx.first(sql, &at).await? {
        let job_request: String = row.get(0)?;
        for (reference, resolution) in JobRequest::read(&job_request)?.request.resolutions {
            if let Resolution::Map { id, .. } = resolution
                && let Ok(id) = Uuid::parse_str(&id)
            {
                tables.entry(reference).or_default().insert(id);
            }
        }
    }
    Ok(tables)
}
