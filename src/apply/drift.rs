//! What differs from what a line applied (`upgrade` 4): records, and rows read one after the other.
//!
//! Goes in: what the line wrote, and the workspace as whoever asks sees it. Nothing is written. What the
//! base says of rows comes from the executor, run over a target that keeps nothing.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::preview::DryRun;
use super::resolve::{AppliedRows, WaitingDrafts, applied_rows, base_things};
use super::run::{self, DriftScope, DriftTable, RowsDrifted};
use super::{ApplyError, JobHistory, Request};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::upgrade::{BaseView, Drift, DriftBase, StructureDrift, drifted};
use crate::workspace::ledger::BaseRecord;
use crate::workspace::{AnyRecord, Id, Lookup, RecordKind, Structure};

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub struct DriftInput<'q> {
    /// The template.
    pub template: Id,
    /// What the line wrote. Without its newest package rows are not compared.
    pub past: JobHistory<'q>,
    /// How that package was applied.
    pub request: &'q Request,
    /// Rows of the line that the caller could not see if they existed.
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
        .map(|based| DriftBase {
            reference: &based.reference,
            record: &based.record,
        })
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
    let things = base.map(|based| based.record);
    let automations = things.filter(|record| record.kind == RecordKind::Workflow);
    automations.map(|record| record.id).collect()
}

/// The packages of a line that say what rows held, the newest first, and how many entries of the line were written
/// when each was applied: a table that a newer one does not have any more is still what an older one says.
fn packages(past: JobHistory<'_>) -> Vec<(&Checked<'_>, usize)> {
    let newest = past.base.map(|base| (base.package, usize::MAX));
    let bases = past.row_bases();
    let older = bases.iter().map(|rows| (rows.package, rows.until));
    let mut packages: Vec<(&Checked<'_>, usize)> = newest.into_iter().collect();
    for (package, until) in older {
        if !packages
            .iter()
            .any(|(known, _)| std::ptr::eq(*known, package))
        {
            packages.push((package, until));
        }
    }
    packages
}

/// Tables and columns of the base that are still to be compared.
struct OpenTables {
    /// Tables that no package has spoken of yet, with their refs.
    tables: Vec<(String, Id)>,
    /// Columns of all tables, by table.
    columns: Vec<OpenColumns>,
}

/// Columns of one table that are still to be compared.
struct OpenColumns {
    /// The ref of the table.
    reference: String,
    /// The table.
    table: Id,
    /// The columns.
    ids: HashSet<Id>,
}

impl OpenTables {
    fn of(tables: &[(String, Id)], things: &[BaseRecord], destination: &Structure) -> OpenTables {
        let columns = tables.iter().map(|(reference, table)| {
            let inside = things.iter().map(|based| &based.record);
            let inside = inside.filter(|record| {
                (record.kind, record.parent) == (RecordKind::Column, Some(*table))
                    && AnyRecord::find(destination, record.kind, record.id).is_some()
            });
            OpenColumns {
                reference: reference.clone(),
                table: *table,
                ids: inside.map(|record| record.id).collect(),
            }
        });
        OpenTables {
            columns: columns.collect(),
            tables: tables.to_vec(),
        }
    }

    /// What a package speaks of: its tables, and of those that a newer one has the columns that this one lacks.
    fn take(&mut self, applied: &AppliedRows) -> Vec<DriftTable> {
        let mut here = Vec::new();
        for open in &mut self.columns {
            let feature = open.table;
            let mut works = applied.approved.tables.iter();
            let Some(work) = works.find(|work| work.feature == Some(feature)) else {
                continue;
            };
            let known = work.compared.iter().map(|work| work.column.id);
            let own: HashSet<Id> = known.filter(|id| open.ids.remove(id)).collect();
            let counted = !self.tables.iter().any(|(_, table)| *table == feature);
            if counted && own.is_empty() {
                continue;
            }
            self.tables.retain(|(_, table)| *table != feature);
            here.push(DriftTable {
                reference: open.reference.clone(),
                feature,
                columns: counted.then_some(own),
            });
        }
        here
    }

    /// Whether older packages have nothing to say.
    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.columns.iter().all(|open| open.ids.is_empty())
    }

    /// Tables of which no package has rows.
    fn uncounted(self) -> Vec<DriftTable> {
        let tables = self.tables.into_iter();
        tables
            .map(|(reference, feature)| DriftTable {
                reference,
                feature,
                columns: None,
            })
            .collect()
    }
}

/// Compares the rows of tables with what a package says of them.
async fn compare<T: Lookup + Sync>(
    target: &T,
    destination: &Structure,
    input: DriftInput<'_>,
    package: &Checked<'_>,
    applied: &AppliedRows,
    tables: &[DriftTable],
    found: &mut RowsDrifted,
) -> Result<(), ApplyError<T::Error>> {
    if tables.is_empty() {
        return Ok(());
    }
    let AppliedRows { approved, updates } = applied;
    let payloads = &package.payloads;
    let read = run::columns_read(approved, payloads);
    let dry = DryRun::new(target, destination, approved, read).await;
    let mut dry = dry.map_err(ApplyError::store("reading the workspace"))?;
    let scope = DriftScope {
        tables,
        updates,
        unseen: input.unseen,
    };
    let (past, definitions) = (input.past, input.definitions);
    run::drift(
        &mut dry,
        approved,
        payloads,
        past,
        definitions,
        scope,
        found,
    )
    .await
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
        let table = &based.record;
        table.kind == RecordKind::Feature && destination.feature(table.id).is_some()
    });
    let tables: Vec<(String, Id)> = tables
        .map(|based| (based.reference.clone(), based.record.id))
        .collect();
    let mut found = RowsDrifted::default();
    let mut open = OpenTables::of(&tables, &things, destination);
    for (package, until) in packages(input.past) {
        let applied = applied_rows(
            package,
            until,
            &request,
            input.past,
            destination,
            input.definitions,
        );
        let here = open.take(&applied);
        compare(
            target,
            destination,
            input,
            package,
            &applied,
            &here,
            &mut found,
        )
        .await?;
        if open.is_empty() {
            break;
        }
    }
    // Rows of steps are in no payload, and counted alone.
    let rest = open.uncounted();
    if !rest.is_empty() {
        let applied = applied_rows(
            base.package,
            usize::MAX,
            &request,
            input.past,
            destination,
            input.definitions,
        );
        compare(
            target,
            destination,
            input,
            base.package,
            &applied,
            &rest,
            &mut found,
        )
        .await?;
    }
    let rows = tables.iter();
    let rows = rows.filter_map(|(reference, _)| found.rows.shift_remove_entry(reference));
    drift.rows = rows.collect();
    if input.cells {
        drift.drift |= !found.cells.is_empty();
        drift.cells = Some(found.cells);
        drift.cells_more = Some(found.more);
    }
    Ok(drift)
}
