//! Counts while a job runs, and the report that they become.

use indexmap::IndexMap;

use super::columns::Columns;
use super::known::Known;
use crate::apply::{
    Approved, BatchError, ColumnWork, LinkWork, Report, RowStepWork, TableReport, UnresolvedEntry,
};
use crate::package::model::{Action, Reason, UnresolvedForm, Word as _};
use crate::problem::Code;

/// What happened so far.
#[derive(Debug, Default)]
pub(super) struct Tally<'a> {
    tables: IndexMap<&'a str, TableReport>,
    /// By rows item or step and column of the package: cells dropped, cells skipped.
    emptied: IndexMap<(&'a str, &'a str), [u64; 2]>,
    errors: Vec<BatchError>,
    /// Automations that went live.
    pub(super) published: u64,
}

impl<'a> Tally<'a> {
    /// The counts of a table.
    pub(super) fn table(&mut self, reference: &'a str) -> &mut TableReport {
        self.tables.entry(reference).or_default()
    }

    /// Begins with what an earlier attempt at this job wrote.
    pub(super) fn begin(&mut self, reference: &'a str, uid: &str, known: &Known) {
        let counts = known.counts(uid);
        let table = self.table(reference);
        add(&mut table.recorded, counts.recorded);
        add(&mut table.linked, counts.linked);
        table.updated += counts.updated;
    }

    /// Rows that were written.
    pub(super) fn inserted(&mut self, reference: &'a str, rows: u64) {
        let table = self.table(reference);
        table.inserted += rows;
        add(&mut table.recorded, rows);
    }

    /// Cells that were emptied, column by column.
    pub(super) fn emptied(&mut self, uid: &'a str, columns: &Columns<'a>, counts: &[[u64; 2]]) {
        for (slot, counts) in columns.all.iter().zip(counts) {
            if *counts != [0; 2] {
                let cells = self.emptied.entry((uid, &slot.work.package_name));
                let cells = cells.or_default();
                cells[0] += counts[0];
                cells[1] += counts[1];
            }
        }
    }

    /// Rows that could not be written.
    pub(super) fn error(
        &mut self,
        reference: &str,
        first: usize,
        last: usize,
        code: Code,
        message: String,
    ) {
        self.errors.push(BatchError {
            reference: reference.to_owned(),
            first: first as u64,
            last: last as u64,
            code,
            message,
        });
    }

    /// The report.
    pub(super) fn report(self, approved: &Approved, known: &Known) -> Report {
        let mut unresolved = approved.unresolved.clone();
        let mut tell = |uid: &str, columns: &[ColumnWork]| {
            for column in columns {
                let key = (uid, column.package_name.as_str());
                let before = known.emptied(uid, &column.package_name);
                let now = self.emptied.get(&key).copied().unwrap_or_default();
                for skipped in [false, true] {
                    let at = usize::from(skipped);
                    let count = before[at] + now[at];
                    if count > 0 {
                        let entry = emptied_cells(uid, column, count, skipped, approved);
                        unresolved.push(entry);
                    }
                }
            }
        };
        for table in &approved.tables {
            tell(&table.uid, &table.columns);
        }
        for step in &approved.row_steps {
            if let RowStepWork::Insert { columns, .. } = &step.work {
                tell(&step.uid, columns);
            }
        }
        let tables = self.tables.into_iter();
        Report {
            rows: tables
                .map(|(reference, table)| (reference.to_owned(), table))
                .collect(),
            published: self.published,
            not_published: approved.not_published.clone(),
            unresolved,
            renamed: approved.renamed.clone(),
            dropped_keys: approved.dropped_keys.clone(),
            errors: self.errors,
        }
    }
}

/// Adds to a count that is only told when there is something to tell.
pub(super) fn add(count: &mut Option<u64>, more: u64) {
    if more > 0 {
        *count = Some(count.unwrap_or_default() + more);
    }
}

fn emptied_cells(
    uid: &str,
    column: &ColumnWork,
    count: u64,
    skipped: bool,
    approved: &Approved,
) -> UnresolvedEntry {
    let dependency = match &column.link {
        LinkWork::Skipped { dependency } if skipped => Some(dependency.clone()),
        _ => None,
    };
    // The column's own config was emptied with it, and says whether that was required.
    let required = dependency.is_some()
        && approved
            .unresolved
            .iter()
            .any(|entry| entry.reference == dependency && entry.required == Some(true));
    let reason = if skipped {
        Reason::DependencySkipped
    } else {
        Reason::RowRefDropped
    };
    UnresolvedEntry {
        uid: uid.to_owned(),
        path: format!("rows[].data.{}", column.package_name),
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
