//! The templates of a workspace: what was applied, and whether something newer is in the catalog
//! (`upgrade` 4.2).

use std::cmp::Ordering;

use tplkit::apply::structure_drift;
use tplkit::automation::empty_secrets;
use tplkit::definitions::Definitions;
use tplkit::json::Value;
use tplkit::package::semver::compare;
use tplkit::upgrade::AppliedTemplate;
use tplkit::workspace::{Source as _, Structure};
use uuid::Uuid;

use super::applied::Applied;
use super::content::is_same;
use super::package::read_spooled;
use super::record::{Record, find};
use crate::automation::find as versions;
use crate::context::rfc3339;
use crate::ids::WorkspaceKey;
use crate::jobs::{self, AppliedLine, LedgerPart};
use crate::refusal::{Code, Refusal};
use crate::rows::Tables;
use crate::store::Tx;
use crate::workspace::Snapshot;

/// What was applied in a workspace, line by line.
///
/// # Errors
/// Those of the store.
pub(crate) async fn applied(
    tx: &mut Tx,
    WorkspaceKey {
        organization,
        workspace,
    }: WorkspaceKey,
    lines: &[AppliedLine],
    tables: &Tables,
) -> Result<Vec<AppliedTemplate>, Refusal> {
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let structure = Snapshot::new(tx, workspace, tables).structure().await?;
    let mut applied = Vec::new();
    for line in lines {
        applied.push(one(tx, organization, line, &structure).await?);
    }
    Ok(applied)
}

async fn one(
    tx: &mut Tx,
    organization: Uuid,
    line: &AppliedLine,
    structure: &Structure,
) -> Result<AppliedTemplate, Refusal> {
    let read = Applied::read(tx, organization, line, LedgerPart::Records).await?;
    let package = read.package()?;
    let legacy_jobs = read.legacy_jobs()?;
    let definitions = Definitions::embedded();
    let past = read.past(&package, &legacy_jobs, &[]);
    let drift = !structure_drift(past, structure, definitions).is_empty();
    let made = tplkit::apply::base_automations(past, structure, definitions);
    let mut secrets_missing = 0;
    for id in made {
        secrets_missing += missing_secrets(tx, id, structure).await?;
    }
    let catalog = &package.manifest.catalog;
    let (mut name, mut label) = (catalog.name.clone(), catalog.label.clone());
    let newest = line.newest();
    let mut newer = None;
    if let Some(template) = visible(tx, line.template).await? {
        let applied = catalog.semver.as_deref();
        newer = later(tx, organization, newest.id, applied, &template).await?;
        (name, label) = (template.name, template.label);
    }
    Ok(AppliedTemplate {
        template_id: line.template,
        name,
        label,
        line: line.id(),
        semver: catalog.semver.clone(),
        job_id: newest.id,
        applied_at: rfc3339(newest.ended),
        newer,
        drift,
        secrets_missing,
    })
}

/// The template in the catalog, if it is there and may be seen.
async fn visible(tx: &mut Tx, template: Uuid) -> Result<Option<Record>, Refusal> {
    match find(tx, template).await {
        Ok(record) => Ok(Some(record)),
        Err(refusal) if refusal.code == Code::NotFound => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// The version of the catalog, when its package holds something else than the one that a job applied, and is not lower.
async fn later(
    tx: &mut Tx,
    organization: Uuid,
    job: Uuid,
    applied: Option<&str>,
    template: &Record,
) -> Result<Option<String>, Refusal> {
    let Some(semver) = template.semver.clone() else {
        return Ok(None);
    };
    let lower = applied.and_then(|applied| compare(&semver, applied));
    if lower == Some(Ordering::Less) {
        return Ok(None);
    }
    let catalog = read_spooled(tx, template).await?;
    let kept = jobs::read_package(tx, organization, job, true).await?;
    let same = match &kept {
        Some((_, text)) => is_same(&catalog, text)?,
        None => false,
    };
    Ok((!same).then_some(semver))
}

/// How many secrets of an automation somebody still has to enter: in its version in force, or in a draft
/// after it.
async fn missing_secrets(tx: &mut Tx, id: Uuid, structure: &Structure) -> Result<u64, Refusal> {
    let definitions = Definitions::embedded();
    let mut automations = structure.automations.iter();
    let in_force = automations.find(|automation| automation.id == id);
    let in_force = in_force.map_or(0, |automation| {
        empty_secrets(definitions, &automation.graph_config.clone().into())
    });
    let newest = versions::newest(tx, id).await?;
    let newest = newest.filter(|version| version.is_draft);
    let graph = newest.and_then(|version| Value::parse(&version.graph_config).ok());
    let waiting = graph.map_or(0, |graph| empty_secrets(definitions, &graph));
    Ok(in_force.max(waiting))
}
