//! What merged rows come to: one unit for many, with what the ledger remembers of them.

use std::collections::HashSet;

use crate::apply::ApplyError;
use crate::apply::run::Run;
use crate::apply::run::emptied_counts::{EmptiedCounts, EmptyCause, recorded};
use crate::apply::run::tally::CellConflict;
use crate::problem::Code;
use crate::upgrade::MovedLeaf;
use crate::workspace::ledger::{Cells, CellsOf, CellsPart, Entry, RowDigest};
use crate::workspace::{Change, CommitError, Id, Refused, RowData, RowWrite, Target};

use super::blocked_rows::{RefusedRows, refused_together};
use super::row::{Candidate, ConflictingCell, MergedRow, MergedTable};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Writes merged rows. Returns those to merge again, and notes those that are refused.
    pub(super) async fn write_merged(
        &mut self,
        table: &MergedTable<'a>,
        mut merged: Vec<MergedRow<'a>>,
        refused_rows: &mut RefusedRows<'a>,
    ) -> Result<Vec<Candidate<'a>>, ApplyError<T::Error>> {
        merged.retain(|row| {
            let MergedRow {
                candidate, outcome, ..
            } = row;
            let reported = outcome.moves
                || !outcome.written.is_empty()
                || !outcome.conflicts.is_empty()
                || !outcome.left_out.is_empty()
                || !outcome.emptied.is_empty();
            let stays = RowData::from_cells(outcome.stays());
            let same = self
                .ledger_state
                .stays_so(candidate.id, &stays, &outcome.not_compared);
            if !reported && same {
                let kept = self.tally.table(&table.work.feature_ref);
                kept.kept += outcome.kept;
                self.tally.decided += outcome.decided;
                self.ledger_state.keeps(candidate.id, outcome.kept);
            }
            reported || !same
        });
        for row in &merged {
            // A link shows nothing of a row that whoever the job is for does not see.
            let seen = Some(&row.stored).filter(|_| !row.outcome.hidden);
            self.note_before(row.candidate.theirs.uid, seen);
        }
        let mut again = Vec::new();
        while !merged.is_empty() {
            let (changes, cells) = merged_unit(table, &merged);
            let freed = table.only.is_some().then(|| cells.clone());
            let unit = self.unit("rows", changes, Entry::Cells(cells));
            match self.try_commit(unit).await {
                Ok(()) => {
                    if let Some(cells) = freed {
                        self.ledger_state.frees(&cells);
                    }
                    self.count_merged(table, &merged);
                    self.note_now(&merged);
                    return Ok(again);
                }
                Err(CommitError::Refused(refused)) => {
                    let Some(at) = refused_place(&merged, &refused) else {
                        return Ok(again);
                    };
                    if refused.code == Code::NotEmpty {
                        // It alone is read again: while people work on a table, of many rows one has always changed.
                        again.push(merged.remove(at).candidate);
                        continue;
                    }
                    let places = match refused.code {
                        Code::UniqueViolation => refused_together(&merged, at, &refused),
                        _ => vec![at],
                    };
                    // From the end, so that the places before stay where they are.
                    let places = places.into_iter().rev();
                    let mut rows: Vec<_> = places.map(|at| merged.remove(at).candidate).collect();
                    rows.reverse();
                    self.note_refused(table, rows, &refused, refused_rows);
                }
                Err(error) => {
                    let doing = format!("changing rows of {:?}", table.work.feature_ref);
                    return Err(ApplyError::commit(doing, error));
                }
            }
        }
        Ok(again)
    }

    /// Notes what rows hold now that links point at.
    fn note_now(&mut self, merged: &[MergedRow<'a>]) {
        for MergedRow {
            candidate, outcome, ..
        } in merged
        {
            if outcome.written.is_empty() {
                continue;
            }
            if let Some(place) = self.targets.named(candidate.theirs.uid) {
                self.targets.note_now(place, |name| {
                    let mut written = outcome.written.iter();
                    let cell = written.find(|cell| cell.column == name);
                    cell.map(|cell| cell.after.as_str())
                });
            }
        }
    }

    fn count_merged(&mut self, table: &MergedTable<'a>, merged: &[MergedRow<'a>]) {
        let reference = table.work.feature_ref.as_str();
        let emptied = emptied(table, merged);
        self.tally
            .emptied(&table.work.uid, &table.columns, &emptied);
        for MergedRow {
            candidate, outcome, ..
        } in merged
        {
            let changed = !outcome.written.is_empty() && self.ledger_state.changes(candidate.id);
            let counts = self.tally.table(reference);
            counts.updated += u64::from(changed);
            counts.kept += outcome.kept;
            self.tally.decided += outcome.decided;
            // As a list of tuples: the digest of a plan is one of this text.
            let written = outcome.written.iter();
            let written = written.map(|cell| (&cell.column, &cell.before, &cell.after));
            let written: Vec<_> = written.collect();
            self.tally.note(&(candidate.id, written));
            for slot in &outcome.left_out {
                let column = &table.columns.all[*slot].work.package_name;
                self.tally.leaves_out(reference, column);
            }
            if outcome.hidden {
                let cells = outcome.conflicts.len() as u64;
                if cells > 0 {
                    self.tally.hidden_conflicts(reference, cells);
                }
                continue;
            }
            let uid = candidate.theirs.uid.decoded();
            for ConflictingCell { path, values } in &outcome.conflicts {
                let column = outcome_column(path);
                self.tally.conflict(CellConflict {
                    reference: reference.to_owned(),
                    moved: MovedLeaf {
                        kind: None,
                        reference: reference.to_owned(),
                        uid: Some(uid.clone().into_owned()),
                        id: Some(candidate.id),
                        path: None,
                        column: Some(column),
                        count: None,
                    },
                    path: path.clone(),
                    values: values.clone(),
                });
            }
        }
    }
}

/// Which of these rows a refusal is about; none where nothing was to be written.
fn refused_place(merged: &[MergedRow<'_>], refused: &Refused) -> Option<usize> {
    let mut writing = (0..merged.len()).filter(|at| !merged[*at].outcome.written.is_empty());
    let first = writing.clone().next();
    refused.row.and_then(|row| writing.nth(row)).or(first)
}

/// The last segment of the path of a cell.
fn outcome_column(path: &str) -> String {
    crate::json::path::split_dotted(path)
        .pop()
        .unwrap_or_default()
}

/// By column: cells that become null because the package names a file there.
fn emptied(table: &MergedTable<'_>, merged: &[MergedRow<'_>]) -> Vec<EmptiedCounts> {
    let mut counts = vec![EmptiedCounts::default(); table.columns.all.len()];
    for slot in merged.iter().flat_map(|row| &row.outcome.emptied) {
        counts[*slot].add(EmptyCause::File, 1);
    }
    counts
}

fn merged_unit(table: &MergedTable<'_>, merged: &[MergedRow<'_>]) -> (Vec<Change>, Cells) {
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    let mut seen: HashSet<Id> = HashSet::new();
    for MergedRow {
        candidate,
        stored,
        outcome,
    } in merged
    {
        let written = || outcome.written.iter();
        // A cell that is not there is none, and one that is there as null is null: undo tells them apart.
        let stood = written().filter(|cell| stored.data.cell(&cell.column).is_some());
        let before = stood.map(|cell| (cell.column.as_str(), cell.before.as_str()));
        let before = RowData::from_cells(before);
        let after = written().map(|cell| (cell.column.as_str(), cell.after.as_str()));
        let after = RowData::from_cells(after);
        let now = RowDigest::of(&stored.data);
        let then = RowDigest::of(&stored.data.written(&after, false));
        if !outcome.written.is_empty() && seen.insert(candidate.id) {
            rows.push(RowWrite {
                id: candidate.id,
                cells: after.clone(),
                replace: false,
                digest: Some(now),
            });
        }
        let files = outcome.left_out.iter();
        let files = files.map(|slot| table.columns.all[*slot].work.column.name.clone());
        cells.push(CellsOf {
            id: candidate.id,
            uid: Some(candidate.theirs.uid.decoded().into_owned()),
            hidden: outcome.hidden,
            before,
            after,
            digest: (!outcome.differs).then_some(then),
            stays: RowData::from_cells(outcome.stays()),
            files: files.collect(),
            not_compared: outcome.not_compared.clone(),
            failed: false,
        });
    }
    let feature = table.feature;
    let changes = if rows.is_empty() {
        Vec::new()
    } else {
        vec![Change::UpdateRows { feature, rows }]
    };
    let cells = Cells {
        uid: table.work.uid.clone(),
        reference: table.work.feature_ref.clone(),
        feature,
        kept: merged.iter().map(|row| row.outcome.kept).sum(),
        decided: merged.iter().map(|row| row.outcome.decided).sum(),
        emptied: recorded(&emptied(table, merged), &table.columns),
        part: match table.only {
            None => CellsPart::All,
            Some(_) => CellsPart::UniqueValues,
        },
        rows: cells,
    };
    (changes, cells)
}
