//! The end of a job: what was counted becomes its report, or what its plan says of cells.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;

use super::{CellConflicts, Tally};
use crate::apply::run::emptied_counts::EmptyCause;
use crate::apply::run::ledger_state::LedgerState;
use crate::apply::{
    Approved, ColumnWork, Dropped, LinkWork, NotCarried, Report, RowStepWork, TableReport,
    UnresolvedEntry,
};
use crate::definitions::Definitions;
use crate::json::path::push_dotted;
use crate::package::model::{Action, Reason, UnresolvedForm, WireWord as _};
use crate::upgrade::{LeftRecord, MovedLeaf};
use crate::workspace::{Id, RecordKind};

impl Tally<'_> {
    /// What becomes of cells: those that somebody has to decide, and those that name files.
    pub(in crate::apply::run) fn take_conflicts(
        &mut self,
        approved: &Approved,
        definitions: &Definitions,
    ) -> CellConflicts {
        let mut conflicts = std::mem::take(&mut self.conflicts);
        sort_left_out(&mut conflicts.left_out, approved);
        let mut cells: Vec<NotCarried> =
            cells_left_out(&conflicts.left_out, approved, definitions).collect();
        let mut add = |more: NotCarried| {
            let of =
                |one: &NotCarried| (&one.reference, &one.path) == (&more.reference, &more.path);
            match cells.iter().position(of) {
                Some(known) => {
                    let count = cells[known].count.unwrap_or_default();
                    cells[known].count = Some(count + more.count.unwrap_or_default());
                }
                None => cells.push(more),
            }
        };
        for (uid, reference, column) in written_columns(approved) {
            let name = column.package_name.as_str();
            let emptied = self.emptied.get(&(uid, name)).copied().unwrap_or_default();
            let count = emptied.of(EmptyCause::File);
            if count > 0 {
                add(NotCarried {
                    required: column.column.is_required().then_some(true),
                    ..cells_not_carried(reference, name, count)
                });
            }
        }
        for ((_, reference, column), count) in &self.other_files {
            add(cells_not_carried(reference, column, *count));
        }
        conflicts.not_carried = cells;
        conflicts
    }

    /// The report.
    pub(in crate::apply::run) fn report(
        mut self,
        approved: &Approved,
        known: &LedgerState,
        definitions: &Definitions,
    ) -> Report {
        let mut unresolved = approved.unresolved.clone();
        for entry in &mut unresolved {
            describe_files(entry, approved, definitions);
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
        unresolved.extend(self.other_files(approved, known));
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
        for ((feature, column), cells) in &known.step_files {
            let mut tables = approved.tables.iter();
            if let Some(table) = tables.find(|table| table.feature == Some(*feature)) {
                let of = (table.feature_ref.clone(), column.clone());
                *left_out.entry(of).or_default() += cells;
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
                .chain(cells_left_out(&left_out, approved, definitions))
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

    /// What is said of cells that became null in columns that only the destination has.
    fn other_files(&self, approved: &Approved, known: &LedgerState) -> Vec<UnresolvedEntry> {
        let columns = written_columns(approved).into_iter();
        let columns: HashSet<(&str, &str)> = columns
            .map(|(uid, _, column)| (uid, column.package_name.as_str()))
            .collect();
        let earlier = known.emptied_files();
        let earlier = earlier.filter(|(uid, column, _)| !columns.contains(&(*uid, *column)));
        let now = self.other_files.iter();
        let now = now.map(|((uid, _, column), count)| (*uid, column.as_str(), *count));
        let mut cells: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for (uid, column, count) in earlier.chain(now) {
            *cells.entry((uid, column)).or_default() += count;
        }
        let cells = cells.into_iter().filter(|(_, count)| *count > 0);
        cells
            .map(|((uid, column), count)| emptied_entry(uid, column, count, Reason::NotExportable))
            .collect()
    }
}

/// What the package no longer has, with what went with it.
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
pub(in crate::apply::run) fn records(approved: &Approved) -> Report {
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
fn cells_left_out<'c>(
    cells: &'c IndexMap<(String, String), u64>,
    approved: &'c Approved,
    definitions: &'c Definitions,
) -> impl Iterator<Item = NotCarried> + 'c {
    cells.iter().map(|((table, column), count)| {
        let mut tables = approved.tables.iter();
        let work = tables.find(|work| work.feature_ref == *table);
        let columns = work.into_iter();
        let mut columns = columns.flat_map(|work| work.compared.iter().chain(&work.columns));
        let required =
            columns.any(|work| work.package_name == *column && asks_for_file(work, definitions));
        NotCarried {
            required: required.then_some(true),
            ..cells_not_carried(table, column, *count)
        }
    })
}

/// Whether a column holds files and must not be empty.
fn asks_for_file(column: &ColumnWork, definitions: &Definitions) -> bool {
    let declared = definitions.column_types.get(&column.column.column_type);
    column.column.is_required() && declared.is_some_and(|declared| declared.file)
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
fn describe_files(entry: &mut UnresolvedEntry, approved: &Approved, definitions: &Definitions) {
    if entry.reason != Reason::NotExportable.as_str() || entry.kind != "rows" {
        return;
    }
    let mut columns = approved.tables.iter().flat_map(|table| {
        let columns = table.columns.iter();
        columns.filter(|_| table.uid == entry.uid)
    });
    let required = columns.any(|column| {
        cells_path(&column.package_name) == entry.path && asks_for_file(column, definitions)
    });
    if required {
        entry.required = Some(true);
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
        reference: dependency,
        required: required.then_some(true),
        ..emptied_entry(uid, &column.package_name, count, reason)
    }
}

/// Cells of a column that became empty.
fn emptied_entry(uid: &str, column: &str, count: u64, reason: Reason) -> UnresolvedEntry {
    UnresolvedEntry {
        uid: uid.to_owned(),
        path: cells_path(column),
        kind: "rows".to_owned(),
        form: UnresolvedForm::Uuid.word().to_owned(),
        source_label: None,
        reason: reason.as_str().to_owned(),
        action: Action::Emptied.as_str().to_owned(),
        count: Some(count),
        reference: None,
        required: None,
        source: None,
    }
}
