//! What merged rows come to: one unit for many, with what the ledger remembers of them.

use std::collections::HashSet;

use crate::apply::ApplyError;
use crate::apply::run::Run;
use crate::apply::run::emptied_counts::{EmptiedCounts, EmptyCause, recorded};
use crate::apply::run::tally::CellConflict;
use crate::problem::Code;
use crate::upgrade::MovedLeaf;
use crate::workspace::ledger::{Cells, CellsOf, CellsPart, Entry, RowDigest};
use crate::workspace::{Change, CommitError, Id, RowData, RowWrite, StoredRow, Target};

use super::blocked_rows::{RefusedRows, refused_together};
use super::row::{Candidate, MergedTable, Outcome};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Writes what rows come to. Gives those that have to be looked at anew, and notes those that are refused.
    pub(super) async fn write_merged(
        &mut self,
        table: &MergedTable<'a>,
        mut outcomes: Vec<(Candidate<'a>, StoredRow, Outcome)>,
        refused_rows: &mut RefusedRows<'a>,
    ) -> Result<Vec<Candidate<'a>>, ApplyError<T::Error>> {
        outcomes.retain(|(row, _, outcome)| {
            let reported = outcome.moves
                || !outcome.written.is_empty()
                || !outcome.conflicts.is_empty()
                || !outcome.left_out.is_empty();
            let stays = RowData::from_cells(outcome.stays());
            let same = self
                .ledger_state
                .stays_so(row.id, &stays, &outcome.not_compared);
            if !reported && same {
                let kept = self.tally.table(&table.work.feature_ref);
                kept.kept += outcome.kept;
                self.tally.decided += outcome.decided;
                self.ledger_state.keeps(row.id, outcome.kept);
            }
            reported || !same
        });
        for (row, stored, outcome) in &outcomes {
            // A link shows nothing of a row that whoever the job is for does not see.
            let seen = Some(stored).filter(|_| !outcome.hidden);
            self.note_before(row.theirs.uid, seen);
        }
        while !outcomes.is_empty() {
            let (changes, cells) = merged_unit(table, &outcomes);
            let freed = table.only.is_some().then(|| cells.clone());
            let unit = self.unit("rows", changes, Entry::Cells(cells));
            match self.try_commit(unit).await {
                Ok(()) => {
                    if let Some(cells) = freed {
                        self.ledger_state.frees(&cells);
                    }
                    self.count_merged(table, &outcomes);
                    self.note_now(&outcomes);
                    return Ok(Vec::new());
                }
                Err(CommitError::Refused(refused)) if refused.code == Code::NotEmpty => {
                    return Ok(outcomes.into_iter().map(|(row, ..)| row).collect());
                }
                Err(CommitError::Refused(refused)) => {
                    let writing: Vec<usize> = (0..outcomes.len())
                        .filter(|at| !outcomes[*at].2.written.is_empty())
                        .collect();
                    let at = match writing.as_slice() {
                        [] => return Ok(Vec::new()),
                        [one] => *one,
                        all => refused
                            .row
                            .and_then(|row| all.get(row).copied())
                            .unwrap_or(all[0]),
                    };
                    let places = match refused.code {
                        Code::UniqueViolation => refused_together(&outcomes, at, &refused),
                        _ => vec![at],
                    };
                    // From the end, so that the places before stay where they are.
                    let places = places.into_iter().rev();
                    let mut rows: Vec<_> = places.map(|at| outcomes.remove(at).0).collect();
                    rows.reverse();
                    self.note_refused(table, rows, &refused, refused_rows);
                }
                Err(error) => {
                    let doing = format!("changing rows of {:?}", table.work.feature_ref);
                    return Err(ApplyError::commit(doing, error));
                }
            }
        }
        Ok(Vec::new())
    }

    /// Notes what rows hold now that links point at.
    fn note_now(&mut self, outcomes: &[(Candidate<'a>, StoredRow, Outcome)]) {
        for (row, _, outcome) in outcomes {
            if outcome.written.is_empty() {
                continue;
            }
            if let Some(place) = self.targets.named(row.theirs.uid) {
                self.targets.note_now(place, |name| {
                    let mut written = outcome.written.iter();
                    let cell = written.find(|(column, ..)| column == name);
                    cell.map(|(.., after)| after.as_str())
                });
            }
        }
    }

    fn count_merged(
        &mut self,
        table: &MergedTable<'a>,
        outcomes: &[(Candidate<'a>, StoredRow, Outcome)],
    ) {
        let reference = table.work.feature_ref.as_str();
        let emptied = emptied(table, outcomes);
        self.tally
            .emptied(&table.work.uid, &table.columns, &emptied);
        for (row, _, outcome) in outcomes {
            let changed = !outcome.written.is_empty() && self.ledger_state.changes(row.id);
            let counts = self.tally.table(reference);
            counts.updated += u64::from(changed);
            counts.kept += outcome.kept;
            self.tally.decided += outcome.decided;
            self.tally.note(&(row.id, &outcome.written));
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
            let uid = row.theirs.uid.decoded();
            for (path, values) in &outcome.conflicts {
                let column = outcome_column(path);
                self.tally.conflict(CellConflict {
                    reference: reference.to_owned(),
                    moved: MovedLeaf {
                        kind: None,
                        reference: reference.to_owned(),
                        uid: Some(uid.clone().into_owned()),
                        id: Some(row.id),
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

/// The last segment of the path of a cell.
fn outcome_column(path: &str) -> String {
    crate::json::path::split_dotted(path)
        .pop()
        .unwrap_or_default()
}

/// By column: cells that become null because the package names a file there.
fn emptied(
    table: &MergedTable<'_>,
    outcomes: &[(Candidate<'_>, StoredRow, Outcome)],
) -> Vec<EmptiedCounts> {
    let mut counts = vec![EmptiedCounts::default(); table.columns.all.len()];
    for slot in outcomes.iter().flat_map(|(.., outcome)| &outcome.emptied) {
        counts[*slot].add(EmptyCause::File, 1);
    }
    counts
}

fn merged_unit(
    table: &MergedTable<'_>,
    outcomes: &[(Candidate<'_>, StoredRow, Outcome)],
) -> (Vec<Change>, Cells) {
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    let mut seen: HashSet<Id> = HashSet::new();
    for (row, stored, outcome) in outcomes {
        let pairs = || outcome.written.iter();
        // A cell that is not there is none, and one that is there as null is null: undo tells them apart.
        let stood = pairs().filter(|(name, ..)| stored.data.cell(name).is_some());
        let before =
            RowData::from_cells(stood.map(|(name, before, _)| (name.as_str(), before.as_str())));
        let after =
            RowData::from_cells(pairs().map(|(name, _, after)| (name.as_str(), after.as_str())));
        let now = RowDigest::of(&stored.data);
        let then = RowDigest::of(&stored.data.written(&after, false));
        if !outcome.written.is_empty() && seen.insert(row.id) {
            rows.push(RowWrite {
                id: row.id,
                cells: after.clone(),
                replace: false,
                digest: Some(now),
            });
        }
        let files = outcome.left_out.iter();
        let files = files.map(|slot| table.columns.all[*slot].work.column.name.clone());
        cells.push(CellsOf {
            id: row.id,
            uid: Some(row.theirs.uid.decoded().into_owned()),
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
        kept: outcomes.iter().map(|(.., one)| one.kept).sum(),
        decided: outcomes.iter().map(|(.., one)| one.decided).sum(),
        emptied: recorded(&emptied(table, outcomes), &table.columns),
        part: match table.only {
            None => CellsPart::All,
            Some(_) => CellsPart::UniqueValues,
        },
        rows: cells,
    };
    (changes, cells)
}
