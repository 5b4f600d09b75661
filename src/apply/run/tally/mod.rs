//! Counts during a job, from which its report is made.

mod report;

use std::collections::HashMap;

use indexmap::IndexMap;
use sha2::{Digest as _, Sha256};

use super::columns::Columns;
use super::emptied_counts::{EmptiedCounts, EmptyCause, OtherFiles};
use super::ledger_state::LedgerState;
use crate::apply::{
    Approved, BatchError, DraftReason, Dropped, FailureReason, HeldBack, NotCarried, NotPublished,
    Publish, RowStepWork, TableReport,
};
use crate::json::Value;
use crate::problem::Code;
use crate::upgrade::{MovedLeaf, SeenLeaves, UnusedDecision};
use crate::workspace::Id;

pub(super) use report::records;

/// Entries of `errors` that a table has at most, that of a quota aside (`rest` 6.5).
const MAX_LISTED_ERRORS: u64 = 100;

/// What happened so far.
#[derive(Debug, Default)]
pub(super) struct Tally<'a> {
    tables: IndexMap<&'a str, TableReport>,
    /// By rows item or step and column of the package: cells that are left empty.
    emptied: IndexMap<(&'a str, &'a str), EmptiedCounts>,
    /// By rows item or step, ref of the table, and column that only the destination has: cells that become null because the
    /// package names a file there.
    other_files: IndexMap<(&'a str, &'a str, String), u64>,
    errors: Vec<BatchError>,
    /// By table: entries of `errors` that are listed, and that are left out.
    listed: HashMap<String, [u64; 2]>,
    /// By table: why its rows failed.
    reasons: HashMap<&'a str, Vec<FailureReason>>,
    /// The rows item or step whose rows the quota ends.
    ended: Option<&'a str>,
    /// Automations that went live.
    pub(super) published: u64,
    /// Drafts that stay so, because somebody published another version meanwhile.
    stays_draft: Vec<NotPublished>,
    /// Refs of drafts that wait no more because what they need has stayed.
    released: Vec<&'a str>,
    /// Cells and their rows that somebody decided.
    pub(super) decided: u64,
    /// How many rows or filled cells went with a table or a column.
    pub(super) taken: HashMap<Id, u64>,
    /// Tables and columns that were to go, and stay.
    pub(super) stays: Vec<&'a Dropped>,
    /// Cells that somebody has to decide.
    conflicts: CellConflicts,
}

/// Cells of an upgrade in conflict, which need a decision.
#[derive(Debug, Default)]
pub(in crate::apply) struct CellConflicts {
    /// The first of them.
    pub(in crate::apply) first: Vec<CellConflict>,
    /// How many more there are.
    pub(in crate::apply) more: u64,
    /// By the ref of the table: how many.
    pub(in crate::apply) counts: HashMap<String, u64>,
    /// By the ref of the table: how many of them are hidden from the user of the job.
    pub(in crate::apply) hidden: IndexMap<String, u64>,
    /// Decisions about cells that did nothing.
    pub(in crate::apply) unused: Vec<UnusedDecision>,
    /// Decided values that cells cannot hold: the ref of the table, and the path.
    pub(in crate::apply) invalid: Vec<(String, String)>,
    /// By the ref of the table and column: cells that a plain apply leaves as they are, or that keep a file.
    left_out: IndexMap<(String, String), u64>,
    /// These, and cells that become null because the package names a file there: one entry for a column.
    pub(in crate::apply) not_carried: Vec<NotCarried>,
    /// A digest of what is written.
    pub(in crate::apply) written: Sha256,
    /// Cells that people changed and somebody decided about.
    pub(in crate::apply) seen: SeenLeaves,
}

/// A cell that both sides changed.
#[derive(Debug, Clone)]
pub(in crate::apply) struct CellConflict {
    /// The ref of its table.
    pub(in crate::apply) reference: String,
    /// What it is called when it turns up while rows are written.
    pub(in crate::apply) moved: MovedLeaf,
    /// Its path.
    pub(in crate::apply) path: String,
    /// Base, theirs, ours.
    pub(in crate::apply) values: [Value; 3],
}

/// Cells that are listed at most (`upgrade` 3.5.4).
const MAX_LISTED_CONFLICTS: usize = 1000;

/// A row that cannot be written.
#[derive(Debug)]
pub(super) struct FailedRow {
    /// Its position in its payload entry or step.
    pub(super) position: usize,
    /// Its uid in the package.
    pub(super) uid: Option<String>,
    /// Why.
    pub(super) code: Code,
    /// The column, as the destination names it.
    pub(super) column: Option<String>,
    /// What is wrong.
    pub(super) message: String,
}

/// What becomes of the rows of a table.
#[derive(Debug, Clone, Default)]
pub(in crate::apply) struct TableCounts {
    /// The counts of the report.
    pub(in crate::apply) table: TableReport,
    /// Link cells that lose their row.
    pub(in crate::apply) dropped_links: u64,
    /// Why rows fail.
    pub(in crate::apply) reasons: Vec<FailureReason>,
}

impl<'a> Tally<'a> {
    /// The counts of a table.
    pub(super) fn table(&mut self, reference: &'a str) -> &mut TableReport {
        self.tables.entry(reference).or_default()
    }

    /// Begins with what an earlier attempt at this job wrote.
    pub(super) fn begin(&mut self, reference: &'a str, uid: &str, known: &LedgerState) {
        let counts = known.counts(uid);
        let table = self.table(reference);
        add(&mut table.recorded, counts.recorded);
        add(&mut table.linked, counts.linked);
        table.updated += counts.updated;
        table.kept += counts.kept;
    }

    /// A draft of an automation of which somebody has published another version since it was planned.
    pub(super) fn stays_draft(&mut self, draft: &Publish) {
        self.stays_draft.push(NotPublished {
            reference: draft.reference.clone(),
            name: draft.name.clone(),
            because: vec![DraftReason {
                path: String::new(),
                reason: "workflow_moved".to_owned(),
            }],
        });
    }

    /// Drafts that waited because of what was to go, and has stayed.
    pub(super) fn release(&mut self, held_back: &'a [HeldBack]) -> Vec<&'a Publish> {
        let stays = |id: &Id| self.stays.iter().any(|dropped| dropped.id == *id);
        let released = held_back.iter().filter(|one| one.needs.iter().all(stays));
        let released: Vec<&Publish> = released.map(|one| &one.publish).collect();
        let references = released.iter().map(|publish| publish.reference.as_str());
        self.released.extend(references);
        released
    }

    /// Rows that were written.
    pub(super) fn inserted(&mut self, reference: &'a str, rows: u64) {
        let table = self.table(reference);
        table.inserted += rows;
        add(&mut table.recorded, rows);
    }

    /// Cells that were emptied, column by column.
    pub(super) fn emptied(
        &mut self,
        uid: &'a str,
        columns: &Columns<'a>,
        counts: &[EmptiedCounts],
    ) {
        for (slot, counts) in columns.all.iter().zip(counts) {
            if *counts != EmptiedCounts::default() {
                let cells = self.emptied.entry((uid, &slot.work.package_name));
                cells.or_default().extend(*counts);
            }
        }
    }

    /// Cells that became null in columns that only the destination has.
    pub(super) fn emptied_others(&mut self, uid: &'a str, table: &'a str, files: &OtherFiles) {
        for (column, cells) in files {
            let of = (uid, table, column.clone());
            *self.other_files.entry(of).or_default() += cells;
        }
    }

    /// Something that could not be written and is not a row: links of a row, an automation.
    pub(super) fn error(&mut self, reference: &str, failed: FailedRow) {
        let listed = self.listed.entry(reference.to_owned()).or_default();
        if listed[0] == MAX_LISTED_ERRORS {
            listed[1] += 1;
            return;
        }
        listed[0] += 1;
        self.errors.push(BatchError {
            reference: reference.to_owned(),
            first: failed.position as u64,
            last: failed.position as u64,
            code: failed.code,
            message: failed.message,
            column: failed.column,
            row_uid: failed.uid,
        });
    }

    /// A row that could not be written.
    pub(super) fn failed(&mut self, reference: &'a str, failed: FailedRow) {
        self.count_failed(reference, failed.code, failed.column.as_deref());
        self.error(reference, failed);
    }

    /// A row for which the organization has no room: one entry for the run of them to the end of
    /// the table, whatever is listed next to it.
    pub(super) fn no_room(
        &mut self,
        reference: &'a str,
        uid: &'a str,
        position: usize,
        last: usize,
        message: &str,
    ) {
        self.count_failed(reference, Code::QuotaExceeded, None);
        if self.ended == Some(uid) {
            return;
        }
        self.ended = Some(uid);
        self.errors.push(BatchError {
            reference: reference.to_owned(),
            first: position as u64,
            last: last as u64,
            code: Code::QuotaExceeded,
            message: format!("rows[{position}] and what follows: {message}"),
            column: None,
            row_uid: None,
        });
    }

    /// A cell that somebody has to decide.
    pub(super) fn conflict(&mut self, conflict: CellConflict) {
        let counts = &mut self.conflicts.counts;
        *counts.entry(conflict.reference.clone()).or_default() += 1;
        if self.conflicts.first.len() < MAX_LISTED_CONFLICTS {
            self.conflicts.first.push(conflict);
        } else {
            self.conflicts.more += 1;
        }
    }

    /// A decision about cells that did nothing.
    pub(super) fn unused_decision(&mut self, reference: &str, path: &str) {
        self.conflicts.unused.push(UnusedDecision {
            reference: reference.to_owned(),
            path: path.to_owned(),
        });
    }

    /// A decided value that a cell cannot hold.
    pub(super) fn invalid_decision(&mut self, reference: &str, path: String) {
        self.conflicts.invalid.push((reference.to_owned(), path));
    }

    /// Cells that people changed and somebody decided about.
    pub(super) fn saw(&mut self, seen: SeenLeaves) {
        self.conflicts.seen = seen;
    }

    /// Cells of a row that somebody has to decide without seeing them.
    pub(super) fn hidden_conflicts(&mut self, reference: &str, cells: u64) {
        let conflicts = &mut self.conflicts;
        *conflicts.counts.entry(reference.to_owned()).or_default() += cells;
        *conflicts.hidden.entry(reference.to_owned()).or_default() += cells;
    }

    /// A cell that stays as it is and is asked about by nobody: the ref of the table, and the column in the
    /// package.
    pub(super) fn leaves_out(&mut self, table: &str, column: &str) {
        let cells = self
            .conflicts
            .left_out
            .entry((table.to_owned(), column.to_owned()));
        *cells.or_default() += 1;
    }

    /// Notes what is written, for the digest of a plan.
    pub(super) fn note(&mut self, written: &dyn std::fmt::Debug) {
        self.conflicts.written.update(format!("{written:?}\u{1f}"));
    }

    fn count_failed(&mut self, reference: &'a str, code: Code, column: Option<&str>) {
        self.table(reference).failed += 1;
        let reasons = self.reasons.entry(reference).or_default();
        let mut known = reasons.iter_mut();
        match known.find(|known| known.code == code && known.column.as_deref() == column) {
            Some(known) => known.count += 1,
            None => reasons.push(FailureReason {
                code,
                column: column.map(str::to_owned),
                count: 1,
            }),
        }
    }

    /// The counts of all tables.
    pub(super) fn counted(mut self, approved: &Approved) -> IndexMap<String, TableCounts> {
        let mut dropped: HashMap<&str, u64> = HashMap::new();
        for ((uid, _), cells) in &self.emptied {
            *dropped.entry(uid).or_default() += cells.of(EmptyCause::RowMissing);
        }
        let mut counted: IndexMap<String, TableCounts> = IndexMap::new();
        for (reference, table) in std::mem::take(&mut self.tables) {
            let reasons = self.reasons.remove(reference).unwrap_or_default();
            let of = TableCounts {
                table,
                dropped_links: 0,
                reasons,
            };
            counted.insert(reference.to_owned(), of);
        }
        let tables = approved.tables.iter();
        let tables = tables.map(|table| (table.uid.as_str(), table.feature_ref.as_str()));
        let steps = approved
            .row_steps
            .iter()
            .filter_map(|step| match &step.work {
                RowStepWork::Insert { feature_ref, .. } => Some((&*step.uid, feature_ref.as_str())),
                _ => None,
            });
        for (uid, reference) in tables.chain(steps) {
            if let (Some(of), Some(cells)) = (counted.get_mut(reference), dropped.remove(uid)) {
                of.dropped_links += cells;
            }
        }
        counted
    }
}

/// Adds to a count that is only reported when it is not zero.
pub(super) fn add(count: &mut Option<u64>, more: u64) {
    if more > 0 {
        *count = Some(count.unwrap_or_default() + more);
    }
}
