//! Counts during a job, from which its report is made.

use std::collections::HashMap;

use indexmap::IndexMap;
use sha2::{Digest as _, Sha256};

use super::columns::Columns;
use super::emptied_counts::{EmptiedCounts, EmptyCause};
use super::ledger_state::LedgerState;
use crate::apply::{
    Approved, BatchError, ColumnWork, DraftReason, Dropped, FailureReason, HeldBack, LinkWork,
    NotCarried, NotPublished, Publish, Report, RowStepWork, TableReport, UnresolvedEntry,
};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::json::path::push_dotted;
use crate::package::model::{Action, Reason, UnresolvedForm, WireWord as _};
use crate::problem::Code;
use crate::upgrade::{LeftRecord, MovedLeaf, SeenLeaves, UnusedDecision};
use crate::workspace::{Id, RecordKind};

/// Entries of `errors` that a table has at most, that of a quota aside (`rest` 6.5).
const LISTED: u64 = 100;

/// What happened so far.
#[derive(Debug, Default)]
pub(super) struct Tally<'a> {
    tables: IndexMap<&'a str, TableReport>,
    /// By rows item or step and column of the package: cells that are left empty.
    emptied: IndexMap<(&'a str, &'a str), EmptiedCounts>,
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

/// Cells of an upgrade that somebody has to decide.
#[derive(Debug, Default)]
pub(in crate::apply) struct CellConflicts {
    /// The first of them.
    pub(in crate::apply) first: Vec<CellConflict>,
    /// How many more there are.
    pub(in crate::apply) more: u64,
    /// By the ref of the table: how many.
    pub(in crate::apply) counts: HashMap<String, u64>,
    /// By the ref of the table: how many of them whoever the job is for does not see.
    pub(in crate::apply) hidden: IndexMap<String, u64>,
    /// Decisions about cells that did nothing.
    pub(in crate::apply) unused: Vec<UnusedDecision>,
    /// Decided values that cells cannot hold: the ref of the table, and the path.
    pub(in crate::apply) invalid: Vec<(String, String)>,
    /// By the ref of the table and column: cells that a plain apply leaves as they are, or that keep a file.
    pub(in crate::apply) left_out: IndexMap<(String, String), u64>,
    /// Cells that become null because the package names a file there.
    pub(in crate::apply) files: Vec<NotCarried>,
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
const CONFLICTS: usize = 1000;

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

    /// Something that could not be written and is no row: links of a row, an automation.
    pub(super) fn error(&mut self, reference: &str, failed: FailedRow) {
        let listed = self.listed.entry(reference.to_owned()).or_default();
        if listed[0] == LISTED {
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
        if self.conflicts.first.len() < CONFLICTS {
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

    /// What becomes of cells: those that somebody has to decide, and those that name files.
    pub(super) fn take_conflicts(&mut self, approved: &Approved) -> CellConflicts {
        let mut conflicts = std::mem::take(&mut self.conflicts);
        let mut files: IndexMap<(&str, &str), NotCarried> = IndexMap::new();
        for (uid, reference, column) in written_columns(approved) {
            let name = column.package_name.as_str();
            let cells = self.emptied.get(&(uid, name)).copied().unwrap_or_default();
            let count = cells.of(EmptyCause::File);
            if count > 0 {
                let none = || NotCarried {
                    required: column.column.is_required().then_some(true),
                    ..cells_not_carried(reference, name, 0)
                };
                let entry = files.entry((reference, name)).or_insert_with(none);
                entry.count = Some(entry.count.unwrap_or_default() + count);
            }
        }
        conflicts.files = files.into_values().collect();
        sort_left_out(&mut conflicts.left_out, approved);
        conflicts
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

    /// The report.
    pub(super) fn report(
        mut self,
        approved: &Approved,
        known: &LedgerState,
        definitions: &Definitions,
    ) -> Report {
        let mut unresolved = approved.unresolved.clone();
        for entry in &mut unresolved {
            brought_with_files(entry, approved, definitions);
        }
        for (uid, _, column) in written_columns(approved) {
            let mut cells = known.emptied(uid, &column.package_name);
            let key = (uid, column.package_name.as_str());
            cells.extend(self.emptied.get(&key).copied().unwrap_or_default());
            for cause in EmptyCause::ALL {
                let count = cells.of(cause);
                if count > 0 {
                    unresolved.push(emptied_cells(uid, column, count, cause, approved));
                }
            }
        }
        let mut left_out = std::mem::take(&mut self.conflicts.left_out);
        for table in &approved.tables {
            for column in &table.compared {
                let files = known.files(&table.uid, &column.column.name);
                if files > 0 {
                    let of = (table.feature_ref.clone(), column.package_name.clone());
                    *left_out.entry(of).or_default() += files;
                }
            }
        }
        sort_left_out(&mut left_out, approved);
        let unlisted = |reference: &str| self.listed.get(reference).map_or(0, |listed| listed[1]);
        let tables = self.tables.iter().map(|(reference, table)| {
            let errors_more = unlisted(reference);
            let table = TableReport {
                errors_more,
                ..*table
            };
            ((*reference).to_owned(), table)
        });
        let upgrade = approved.upgrade.as_deref();
        let hidden = self.conflicts.hidden.iter();
        let hidden = hidden.map(|(reference, count)| MovedLeaf::unseen(reference, *count));
        let hidden: Vec<MovedLeaf> = hidden.collect();
        let earlier_cells = upgrade.map_or(&[][..], |_| &known.moved).iter().cloned();
        let cells = self.conflicts.first.into_iter().map(|cell| cell.moved);
        let reported = known.reported.as_ref();
        let reported = reported.and_then(|reported| serde_json::from_str(&reported.write()).ok());
        let reported = reported.unwrap_or_else(|| records(approved));
        let mut taken = self.taken;
        for (id, count) in upgrade.into_iter().flat_map(|_| &known.taken) {
            *taken.entry(*id).or_default() += count;
        }
        let structures = known.structures.iter();
        let earlier: u64 = structures.map(|structure| structure.leaves).sum();
        let not_published = approved.not_published.iter();
        let not_published = not_published
            .filter(|draft| !self.released.contains(&draft.reference.as_str()))
            .cloned();
        Report {
            structure_updated: earlier + upgrade.map_or(0, |upgrade| upgrade.leaves),
            not_carried: reported
                .not_carried
                .into_iter()
                .chain(cells_left_out(&left_out))
                .collect(),
            base: upgrade.and_then(|upgrade| upgrade.base.clone()),
            decided: (reported.decided + self.decided + upgrade.map_or(0, |_| known.decided))
                .saturating_sub(self.stays.len() as u64),
            kept: reported.kept,
            left: left(reported.left, &taken, &self.stays),
            unused: [reported.unused, self.conflicts.unused].concat(),
            moved: reported
                .moved
                .into_iter()
                .chain(earlier_cells)
                .chain(cells)
                .chain(hidden)
                .chain(self.stays.iter().map(|dropped| stays(dropped)))
                .collect(),
            rows: tables.collect(),
            published: self.published,
            not_published: not_published.chain(self.stays_draft).collect(),
            unresolved,
            renamed: reported.renamed,
            dropped_keys: approved.dropped_keys.clone(),
            errors: self.errors,
            undo_left: Vec::new(),
        }
    }
}

/// What the package does not have any more, with what went with it.
fn left(left: Vec<LeftRecord>, taken: &HashMap<Id, u64>, stays: &[&Dropped]) -> Vec<LeftRecord> {
    let left = left.into_iter().map(|left| {
        let taken = taken.get(&left.id).copied();
        let of = |kind| taken.filter(|_| left.kind == kind);
        LeftRecord {
            rows: of(RecordKind::Feature),
            cells: of(RecordKind::Column),
            delete: left.delete && !stays.iter().any(|dropped| dropped.id == left.id),
            ..left
        }
    });
    left.collect()
}

/// What was to go, and stays because people wrote into it since.
fn stays(dropped: &Dropped) -> MovedLeaf {
    MovedLeaf {
        kind: Some(dropped.kind),
        reference: dropped.reference.clone(),
        uid: None,
        id: Some(dropped.id),
        path: None,
        column: None,
        count: None,
    }
}

/// What a report says of records: nothing but what was decided about them.
pub(super) fn records(approved: &Approved) -> Report {
    let upgrade = approved.upgrade.as_deref();
    let conflicts = upgrade.into_iter().flat_map(|upgrade| &upgrade.conflicts);
    // What was undecided when the plan was made never becomes a job: people changed it since.
    let leaves = conflicts.filter_map(|conflict| {
        Some(MovedLeaf {
            kind: RecordKind::parse(&conflict.kind),
            reference: conflict.reference.clone(),
            uid: None,
            id: Some(conflict.id?),
            path: conflict.path.clone(),
            column: None,
            count: None,
        })
    });
    Report {
        not_carried: approved.not_carried.clone(),
        decided: upgrade.map_or(0, |upgrade| upgrade.decided),
        kept: upgrade.map_or(Vec::new(), |upgrade| upgrade.kept.clone()),
        left: upgrade.map_or(Vec::new(), |upgrade| upgrade.left.clone()),
        unused: upgrade.map_or(Vec::new(), |upgrade| upgrade.unused.clone()),
        moved: leaves.collect(),
        renamed: approved.renamed.clone(),
        ..Report::default()
    }
}

/// Cells that an apply leaves as they are, by column.
pub(in crate::apply) fn cells_left_out(
    cells: &IndexMap<(String, String), u64>,
) -> impl Iterator<Item = NotCarried> + '_ {
    let cells = cells.iter();
    cells.map(|((table, column), count)| cells_not_carried(table, column, *count))
}

/// Puts them in the order of the package, whichever table was merged first.
fn sort_left_out(cells: &mut IndexMap<(String, String), u64>, approved: &Approved) {
    cells.sort_by_cached_key(|(table, column), _| {
        let mut tables = approved.tables.iter();
        let at = tables.position(|work| work.feature_ref == *table)?;
        let mut columns = approved.tables[at].compared.iter();
        Some((at, columns.position(|work| work.package_name == *column)))
    });
}

fn cells_not_carried(table: &str, column: &str, count: u64) -> NotCarried {
    NotCarried {
        kind: "rows".to_owned(),
        reference: table.to_owned(),
        path: Some(cells_path(column)),
        base: None,
        theirs: None,
        count: Some(count),
        required: None,
    }
}

/// The path of the cells of a column of the package.
fn cells_path(column: &str) -> String {
    let mut path = "rows[].data".to_owned();
    push_dotted(&mut path, column);
    path
}

/// The columns whose cells are written, each with the rows item or step that brings them and the ref of the
/// table.
fn written_columns(approved: &Approved) -> Vec<(&str, &str, &ColumnWork)> {
    let mut all: Vec<(&str, &str, &ColumnWork)> = Vec::new();
    let tables = approved.tables.iter();
    for table in tables {
        let columns = table.columns.iter();
        all.extend(columns.map(|column| (&*table.uid, &*table.feature_ref, column)));
    }
    for step in &approved.row_steps {
        match &step.work {
            RowStepWork::Insert {
                columns,
                feature_ref,
                ..
            } => {
                let columns = columns.iter();
                all.extend(columns.map(|column| (&*step.uid, &**feature_ref, column)));
            }
            RowStepWork::Update { .. } => {
                // Rows of any table; of columns of one name the first stands for all.
                let first = all.len();
                for table in &approved.tables {
                    for column in &table.columns {
                        let name = &column.package_name;
                        let mut known = all[first..].iter();
                        if !known.any(|(.., known)| known.package_name == *name) {
                            all.push((&*step.uid, &*table.feature_ref, column));
                        }
                    }
                }
            }
            RowStepWork::Nothing => {}
        }
    }
    all
}

/// Adds to what the package says of files that stayed whether the column asks for them.
fn brought_with_files(entry: &mut UnresolvedEntry, approved: &Approved, definitions: &Definitions) {
    if entry.reason != Reason::NotExportable.as_str() || entry.kind != "rows" {
        return;
    }
    let mut columns = approved.tables.iter().flat_map(|table| {
        let columns = table.columns.iter();
        columns.filter(|_| table.uid == entry.uid)
    });
    let required = columns.any(|column| {
        let declared = definitions.column_types.get(&column.column.column_type);
        cells_path(&column.package_name) == entry.path
            && column.column.is_required()
            && declared.is_some_and(|declared| declared.file)
    });
    if required {
        entry.required = Some(true);
    }
}

/// Adds to a count that is only reported when it is not zero.
pub(super) fn add(count: &mut Option<u64>, more: u64) {
    if more > 0 {
        *count = Some(count.unwrap_or_default() + more);
    }
}

fn emptied_cells(
    uid: &str,
    column: &ColumnWork,
    count: u64,
    cause: EmptyCause,
    approved: &Approved,
) -> UnresolvedEntry {
    let dependency = match &column.link {
        LinkWork::Skipped { dependency } if cause == EmptyCause::Skipped => {
            Some(dependency.clone())
        }
        _ => None,
    };
    // The column's own config was emptied with it, and says whether that was required.
    let skipped = dependency.is_some()
        && approved
            .unresolved
            .iter()
            .any(|entry| entry.reference == dependency && entry.required == Some(true));
    let (reason, required) = match cause {
        EmptyCause::RowMissing => (Reason::RowRefDropped, false),
        EmptyCause::Skipped => (Reason::DependencySkipped, skipped),
        EmptyCause::File => (Reason::NotExportable, column.column.is_required()),
    };
    UnresolvedEntry {
        uid: uid.to_owned(),
        path: cells_path(&column.package_name),
        kind: "rows".to_owned(),
        form: UnresolvedForm::Uuid.word().to_owned(),
        source_label: None,
        reason: reason.as_str().to_owned(),
        action: Action::Emptied.as_str().to_owned(),
        count: Some(count),
        reference: dependency,
        required: required.then_some(true),
        source: None,
    }
}
