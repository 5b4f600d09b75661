//! Writes rows whose links follow, with what the ledger remembers of them.

use super::cells::FollowingRow;
use super::{Linking, LinkingRow};
use crate::apply::ApplyError;
use crate::apply::run::Run;
use crate::apply::run::tally::FailedRow;
use crate::problem::Code;
use crate::workspace::ledger::{Cells, CellsOf, CellsPart, Entry};
use crate::workspace::{Change, CommitError, Refused, RowData, RowWrite, Target, Unit};

impl<'a, T: Target> Run<'_, 'a, T> {
    /// Writes rows. Returns those with a concurrent change.
    pub(super) async fn write_following(
        &mut self,
        linking: &Linking<'a>,
        mut rows: Vec<FollowingRow<'a>>,
    ) -> Result<Vec<LinkingRow<'a>>, ApplyError<T::Error>> {
        let reference = linking.work.feature_ref.as_str();
        let mut again = Vec::new();
        while !rows.is_empty() {
            let unit = self.following_unit(linking, &rows);
            let refused = match self.try_commit(unit).await {
                Ok(()) => {
                    for row in &rows {
                        self.followed(linking, row);
                    }
                    break;
                }
                Err(CommitError::Refused(refused)) => refused,
                Err(error) => {
                    let doing = format!("letting links of {reference:?} follow");
                    return Err(ApplyError::commit(doing, error));
                }
            };
            let at = refused.row.filter(|row| *row < rows.len());
            let row = rows.remove(at.unwrap_or_default()).row;
            if refused.code == Code::NotEmpty {
                // It alone is read again.
                again.push(row);
            } else {
                self.does_not_follow(reference, &row, &refused);
            }
        }
        Ok(again)
    }

    /// Notes that a row keeps its links as they are.
    pub(super) fn does_not_follow(
        &mut self,
        reference: &str,
        row: &LinkingRow<'a>,
        refused: &Refused,
    ) {
        let failed = FailedRow {
            position: row.position,
            uid: Some(row.row.uid.decoded().into_owned()),
            code: refused.code,
            column: refused.column.clone(),
            message: format!("rows[{}]: {refused}", row.position),
        };
        self.tally.error(reference, failed);
    }

    /// Counts a row, and notes it for links that show its links.
    fn followed(&mut self, linking: &Linking<'a>, row: &FollowingRow<'a>) {
        let LinkingRow {
            id, row: raw, own, ..
        } = &row.row;
        self.ledger_state.counted_kept(*id);
        if !own && self.ledger_state.changes(*id) {
            self.tally.table(&linking.work.feature_ref).updated += 1;
        }
        self.tally.note(&(id, &row.after));
        if let Some(place) = self.targets.named(raw.uid) {
            self.targets.note_now(place, |name| row.after.cell(name));
        }
    }

    fn following_unit(&self, linking: &Linking<'a>, rows: &[FollowingRow<'a>]) -> Unit {
        let writes = rows.iter().map(|row| RowWrite {
            id: row.row.id,
            cells: row.after.clone(),
            replace: false,
            digest: Some(row.digests[0]),
        });
        let changes = vec![Change::UpdateRows {
            feature: linking.feature,
            rows: writes.collect(),
        }];
        let cells = rows.iter().map(|following| {
            let row = &following.row;
            let [now, then] = following.digests;
            let stays = row.stays.clone();
            CellsOf {
                id: row.id,
                uid: Some(row.row.uid.decoded().into_owned()),
                hidden: following.hidden,
                before: following.before.clone(),
                after: following.after.clone(),
                digest: (row.digest == Some(now)).then_some(then),
                stays: stays.unwrap_or_else(|| RowData::trusted("{}")),
                files: Vec::new(),
                not_compared: row.not_compared.clone(),
                failed: false,
            }
        });
        let kept = rows.iter();
        let kept = kept.map(|following| self.ledger_state.kept(following.row.id));
        let entry = Entry::Cells(Cells {
            uid: linking.work.uid.clone(),
            reference: linking.work.feature_ref.clone(),
            feature: linking.feature,
            kept: kept.sum(),
            decided: 0,
            emptied: Vec::new(),
            part: CellsPart::Links,
            rows: cells.collect(),
        });
        self.unit("rows", changes, entry)
    }
}
