//! Executes an [`Approved`]: structure, rows, publish.
//!
//! In: a target, the decisions, the rows of the package as text. Out: a [`Report`]. It decides
//! nothing. Every unit carries its own entry of the job's ledger, so a resumed job writes exactly
//! what is missing: the same ids, the same numbers, nothing twice.

mod batch;
mod columns;
mod compose;
mod deferred_unique;
mod deletions;
mod drift;
mod emptied_counts;
mod keys;
mod ledger_state;
mod links;
mod merge;
mod pending_links;
mod row_outcome;
mod row_steps;
mod rows;
mod self_links;
mod sequence_counter;
mod sequences;
mod split_batch;
mod table;
mod table_base;
mod tally;
mod target_reads;
mod target_value;
mod targets;
mod unfit_cells;
mod unlinked;
mod untouched_links;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::{ApplyError, Approved, JobHistory, Report, RowStepWork, StructureWork};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::payload::RawEntry;
use crate::problem::Code;
use crate::workspace::ledger::{self, Entry};
use crate::workspace::{Change, CommitError, Id, Progress, Target, Unit};
pub(super) use drift::{DriftScope, DriftTable, RowsDrifted, drift};
use ledger_state::LedgerState;
use table_base::BasePayloads;
pub(super) use tally::{CellConflict, CellConflicts, TableCounts};
use tally::{FailedRow, Tally, records};
use targets::Targets;
pub(super) use unfit_cells::fits as cell_fits;

/// Rows that are written together (`service`: limits).
const BATCH: usize = 500;
/// In bytes of their cells as the package has them, behind which a batch ends: each is there several times on
/// its way to the store.
const BATCH_BYTES: usize = 2 << 20;

/// Applies what was approved, or goes on with it.
///
/// `earlier` are the ledgers of the jobs that the package was bound to, oldest first: rows that
/// they know are not written again, unless a separate copy is made. `watch` hears how far the job is after every unit.
pub async fn run<T: Target>(
    target: &mut T,
    approved: &Approved,
    payloads: &[RawEntry<'_>],
    earlier: &[Entry],
    definitions: &Definitions,
    watch: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, ApplyError<T::Error>> {
    let past = JobHistory::of(earlier);
    run_from(target, approved, payloads, past, definitions, watch).await
}

/// Like [`run`], with the jobs in `past`; an upgrade takes its base from them (`upgrade` 3).
pub async fn run_from<T: Target>(
    target: &mut T,
    approved: &Approved,
    payloads: &[RawEntry<'_>],
    past: JobHistory<'_>,
    definitions: &Definitions,
    watch: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, ApplyError<T::Error>> {
    let mut run = through_rows(target, approved, payloads, past, definitions, watch).await?;
    run.empty_cells().await?;
    run.structure_after_rows().await?;
    run.take_away().await?;
    run.publish().await?;
    run.complete().await
}

/// Runs as far as rows go, and gives what becomes of them by the ref of each table.
pub(super) async fn count<T: Target>(
    target: &mut T,
    approved: &Approved,
    payloads: &[RawEntry<'_>],
    past: JobHistory<'_>,
    definitions: &Definitions,
) -> Result<(IndexMap<String, TableCounts>, CellConflicts), ApplyError<T::Error>> {
    let watch = &mut |_| {};
    let mut run = through_rows(target, approved, payloads, past, definitions, watch).await?;
    let conflicts = run.tally.take_conflicts(approved, definitions);
    Ok((run.tally.counted(approved), conflicts))
}

/// The first two phases.
async fn through_rows<'r, 'a, T: Target>(
    target: &'r mut T,
    approved: &'a Approved,
    payloads: &'a [RawEntry<'a>],
    past: JobHistory<'a>,
    definitions: &'a Definitions,
    watch: &'r mut (dyn FnMut(Progress) + Send),
) -> Result<Run<'r, 'a, T>, ApplyError<T::Error>> {
    let own = target
        .ledger()
        .await
        .map_err(ApplyError::store("reading the ledger"))?;
    let earlier = if approved.copy { &[] } else { past.entries };
    let mut known = LedgerState::read(earlier, own);
    for work in &approved.tables {
        if let Some(feature) = work.feature {
            known.enters(&work.uid, feature);
        }
    }
    for step in &approved.row_steps {
        if let RowStepWork::Insert { feature, .. } = step.work {
            known.enters(&step.uid, feature);
        }
    }
    if known.undone {
        return Err(ApplyError::Refused {
            doing: "going on".to_owned(),
            code: Code::Conflict,
            detail: "the job was undone; start a new one".to_owned(),
        });
    }
    let mut run = Run {
        target,
        approved,
        payloads,
        base: BasePayloads::read(past),
        definitions,
        changed: !known.completed,
        ledger_state: known,
        targets: Targets::new(approved, payloads),
        tally: Tally::default(),
        full: None,
        after_rows: None,
        file_columns: HashMap::new(),
        watch,
        done: 0,
        total: 0,
    };
    run.structure().await?;
    run.rows().await?;
    Ok(run)
}

/// The columns, at the destination, whose values links take from rows, by table.
pub(super) fn columns_read(
    approved: &Approved,
    payloads: &[RawEntry<'_>],
) -> HashMap<Id, Vec<String>> {
    let targets = Targets::new(approved, payloads);
    let mut read: HashMap<Id, Vec<String>> = HashMap::new();
    for (position, table) in approved.tables.iter().enumerate() {
        let columns = targets.wanted_columns(position);
        let names = columns.map(|column| column.name.to_owned());
        if let Some(feature) = table.feature {
            read.entry(feature).or_default().extend(names);
        }
    }
    read
}

/// A run in flight.
struct Run<'r, 'a, T> {
    target: &'r mut T,
    approved: &'a Approved,
    payloads: &'a [RawEntry<'a>],
    /// The rows of packages that were applied, newest first.
    base: Vec<BasePayloads<'a>>,
    definitions: &'a Definitions,
    ledger_state: LedgerState,
    targets: Targets<'a>,
    tally: Tally<'a>,
    watch: &'r mut (dyn FnMut(Progress) + Send),
    /// Why no row more can be written, once that is so.
    full: Option<String>,
    /// What of the structure waits for the rows.
    after_rows: Option<StructureWork>,
    /// The columns of files of tables, where somebody has asked for them.
    file_columns: HashMap<Id, HashSet<String>>,
    /// Whether anything was written since the job was last completed.
    changed: bool,
    /// Rows of this phase that were looked at, of how many.
    done: u64,
    total: u64,
}

impl<T: Target> Run<'_, '_, T> {
    fn unit(&self, phase: &'static str, changes: Vec<Change>, entry: Entry) -> Unit {
        Unit {
            changes,
            entry: Some(entry),
            progress: Progress {
                phase,
                done: self.done,
                total: self.total,
            },
            report: None,
        }
    }

    /// Says that the job is done, and in the same unit what it did: whoever asks for a job that is
    /// done finds its report, wherever this process was stopped.
    async fn complete(mut self) -> Result<Report, ApplyError<T::Error>> {
        let report = std::mem::take(&mut self.tally).report(
            self.approved,
            &self.ledger_state,
            self.definitions,
        );
        let reported = serde_json::to_string(&report).map_err(|error| ApplyError::Refused {
            doing: "reporting what was done".to_owned(),
            code: Code::Internal,
            detail: error.to_string(),
        })?;
        let unit = Unit {
            changes: Vec::new(),
            // A pass that wrote nothing leaves no trace.
            entry: self.changed.then_some(Entry::Completed),
            progress: Progress {
                phase: "publish",
                done: self.done,
                total: self.total,
            },
            report: Some(reported),
        };
        self.commit("completing the job", unit).await?;
        Ok(report)
    }

    /// Writes a unit that the store may refuse.
    async fn try_commit(&mut self, unit: Unit) -> Result<(), CommitError<T::Error>> {
        let progress = unit.progress;
        self.target.commit(unit).await?;
        self.changed = true;
        (self.watch)(progress);
        Ok(())
    }

    /// Writes a unit that nothing can be done without.
    async fn commit(&mut self, doing: &str, unit: Unit) -> Result<(), ApplyError<T::Error>> {
        let written = self.try_commit(unit).await;
        written.map_err(|error| ApplyError::commit(doing, error))
    }

    /// The first phase, unless the ledger has it.
    async fn structure(&mut self) -> Result<(), ApplyError<T::Error>> {
        let work = &self.approved.structure;
        let entry = &work.entry;
        let nothing = work.changes.is_empty() && *entry == ledger::WrittenStructure::default();
        self.done = work.changes.len() as u64;
        self.total = self.done;
        let known = |done: &ledger::WrittenStructure| {
            let reported = entry.reported.clone();
            *entry
                == ledger::WrittenStructure {
                    reported,
                    ..done.clone()
                }
        };
        if nothing || self.ledger_state.structures.iter().any(known) {
            return Ok(());
        }
        let work = StructureWork {
            entry: self.with_report(entry),
            ..work.clone()
        };
        let noted = Entry::Structure(work.entry.clone());
        let unit = self.unit("structure", work.changes.clone(), noted);
        match self.try_commit(unit).await {
            Ok(()) => {}
            Err(CommitError::Refused(refused)) if refused.code == Code::UniqueViolation => {
                self.structure_before_rows(&work, refused).await?;
            }
            Err(error) => return Err(ApplyError::commit("creating the structure", error)),
        }
        for reference in &entry.pending_publishes {
            // What is created anew goes live anew.
            self.ledger_state.published.remove(reference);
        }
        Ok(())
    }

    /// An entry with what the report of an upgrade says of records. Of a job that goes on the first attempt counts:
    /// the next one finds records as they are to be.
    fn with_report(&self, entry: &ledger::WrittenStructure) -> ledger::WrittenStructure {
        let first = self.approved.upgrade.is_some() && self.ledger_state.reported.is_none();
        let reported = first.then(|| serde_json::to_string(&records(self.approved)).ok());
        let reported = reported.flatten();
        ledger::WrittenStructure {
            reported: reported.and_then(|reported| Value::parse(&reported).ok()),
            ..entry.clone()
        }
    }

    /// The second phase.
    async fn rows(&mut self) -> Result<(), ApplyError<T::Error>> {
        let approved = self.approved;
        (self.done, self.total) = (0, self.count());
        self.tables().await?;
        for step in &approved.row_steps {
            self.step(step).await?;
        }
        Ok(())
    }

    /// The third phase.
    async fn publish(&mut self) -> Result<(), ApplyError<T::Error>> {
        let approved = self.approved;
        let upgrade = approved.upgrade.as_deref();
        let held_back = upgrade.map_or(&[][..], |upgrade| &upgrade.held_back);
        let released = self.tally.release(held_back);
        (self.done, self.total) = (0, (approved.publish.len() + released.len()) as u64);
        self.tally.published = self.ledger_state.published_now;
        for publish in approved.publish.iter().chain(released) {
            self.done += 1;
            if self.ledger_state.published.contains(&publish.reference) {
                continue;
            }
            let entry = Entry::Published {
                reference: publish.reference.clone(),
                paused: !publish.live,
            };
            let workflow = publish.id;
            let change = match publish.draft {
                Some(version) => Change::PublishDraft { workflow, version },
                None => Change::Publish { workflow },
            };
            let unit = self.unit("publish", vec![change], entry);
            match self.try_commit(unit).await {
                Ok(()) => self.tally.published += u64::from(publish.live),
                Err(CommitError::Refused(refused)) if refused.code == Code::DraftStale => {
                    self.tally.stays_draft(publish);
                }
                // Somebody took it away while rows were written: the rest goes live all the same.
                Err(CommitError::Refused(refused)) => {
                    let message = format!("{:?} does not go live: {refused}", publish.name);
                    let failed = FailedRow {
                        position: 0,
                        uid: None,
                        code: refused.code,
                        column: None,
                        message,
                    };
                    self.tally.error(&publish.reference, failed);
                }
                Err(error) => {
                    return Err(ApplyError::commit(
                        format!("putting {:?} in force", publish.name),
                        error,
                    ));
                }
            }
        }
        Ok(())
    }
}
