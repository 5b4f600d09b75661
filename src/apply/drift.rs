//! What differs from what a line applied (`upgrade` 4): records, and rows read one after the other.
//!
//! Goes in: what the line wrote, and the workspace as whoever asks sees it. Nothing is written. What the
//! base says of rows comes from the executor, run over a target that keeps nothing.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::preview::DryRun;
use super::resolve::{AppliedRows, WaitingDrafts, applied_rows, base_things};
use super::run::{self, DriftScope};
use super::{ApplyError, JobHistory, Request};
use crate::definitions::Definitions;
use crate::upgrade::{BaseView, Drift, StructureDrift, drifted};
use crate::workspace::{AnyRecord, Id, Lookup, RecordKind, Structure};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct DriftInput<'q> {
    /// The template.
    pub template: Id,
    /// What the line wrote. Without its newest package rows are not compared.
    pub past: JobHistory<'q>,
    /// How that package was applied.
    pub request: &'q Request,
    /// Rows of the line that whoever asks would not see if they were there.
    pub unseen: &'q HashSet<Id>,
    /// Whether cells are shown, and count.
    pub cells: bool,
    /// The definitions of the destination.
    pub definitions: &'q Definitions,
}

/// The records of a line compared with a workspace.
pub fn structure_drift(
    past: JobHistory<'_>,
    destination: &Structure,
    definitions: &Definitions,
) -> StructureDrift {
    let base = base_things(past, destination, definitions);
    let base: Vec<_> = base
        .iter()
        .map(|based| (based.reference.as_str(), &based.thing))
        .collect();
    let steps = past.base.map(|base| &base.package.manifest.plan.steps);
    let refs: Option<HashSet<&str>> = steps.map(|steps| {
        let refs = steps.iter().filter_map(|step| step.reference.as_deref());
        refs.collect()
    });
    let current = |reference: &str| refs.as_ref().is_none_or(|refs| refs.contains(reference));
    let waiting = WaitingDrafts::read(past.entries);
    let drafted = |here: AnyRecord| waiting.of(&here).cloned().unwrap_or(here);
    drifted(&base, destination, &current, &drafted, definitions)
}

/// The automations of a line.
pub fn base_automations(
    past: JobHistory<'_>,
    destination: &Structure,
    definitions: &Definitions,
) -> Vec<Id> {
    let base = base_things(past, destination, definitions).into_iter();
    let things = base.map(|based| based.thing);
    let automations = things.filter(|thing| thing.kind == RecordKind::Workflow);
    automations.map(|thing| thing.id).collect()
}

/// A line compared with a workspace.
pub async fn drift<T: Lookup + Sync>(
    target: &T,
    destination: &Structure,
    input: DriftInput<'_>,
) -> Result<Drift, ApplyError<T::Error>> {
    let structure = structure_drift(input.past, destination, input.definitions);
    let base = input.past.base;
    let mut drift = Drift {
        template_id: input.template,
        base: BaseView {
            job_id: base.and_then(|base| base.job),
            semver: base.and_then(|base| base.package.manifest.catalog.semver.clone()),
        },
        drift: !structure.is_empty(),
        changed: structure.changed,
        removed: structure.removed,
        added: structure.added,
        rows: IndexMap::new(),
        cells: None,
        cells_more: None,
    };
    let Some(base) = base else { return Ok(drift) };
    let request = Request {
        resolutions: base.resolutions.clone(),
        copy: false,
        ..input.request.clone()
    };
    let things = base_things(input.past, destination, input.definitions);
    let tables = things.iter().filter(|based| {
        let table = &based.thing;
        table.kind == RecordKind::Feature && destination.feature(table.id).is_some()
    });
    let tables: Vec<(String, Id)> = tables
        .map(|based| (based.reference.clone(), based.thing.id))
        .collect();
    let AppliedRows { approved, updates } = applied_rows(
        base.package,
        &request,
        input.past,
        destination,
        input.definitions,
    );
    let payloads = &base.package.payloads;
    let read = run::columns_read(&approved, payloads);
    let dry = DryRun::new(target, destination, &approved, read).await;
    let mut dry = dry.map_err(ApplyError::store("reading the workspace"))?;
    let question = DriftScope {
        tables: &tables,
        updates: &updates,
        unseen: input.unseen,
    };
    let found = run::drift(
        &mut dry,
        &approved,
        payloads,
        input.past,
        input.definitions,
        question,
    )
    .await?;
    drift.rows = found.rows;
    if input.cells {
        drift.drift |= !found.cells.is_empty();
        drift.cells = Some(found.cells);
        drift.cells_more = Some(found.more);
    }
    Ok(drift)
}
