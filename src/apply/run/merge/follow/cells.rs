//! The cells of a row that follow.

use super::{Linking, LinkingRow};
use crate::apply::LinkWork;
use crate::apply::run::Run;
use crate::apply::run::links::{LinkOutcome, OwnLinks, link};
use crate::apply::run::target_value::{Moment, TargetValue};
use crate::rows::{equal, members};
use crate::workspace::ledger::RowDigest;
use crate::workspace::{RowData, StoredRow, Target};

/// A row whose links follow.
pub(super) struct FollowingRow<'a> {
    pub(super) row: LinkingRow<'a>,
    pub(super) hidden: bool,
    pub(super) before: RowData,
    pub(super) after: RowData,
    /// What the row holds, and then.
    pub(super) digests: [RowDigest; 2],
}

impl<'a, T: Target> Run<'_, 'a, T> {
    /// A row with the cells of it that follow, if any do.
    pub(super) fn following(
        &self,
        linking: &Linking<'a>,
        row: &LinkingRow<'a>,
        stored: &StoredRow,
        hidden: bool,
    ) -> Option<FollowingRow<'a>> {
        let mut cells: Vec<(&str, String, String)> = Vec::new();
        for (key, refs) in row.row.refs.into_iter().flat_map(members) {
            let Some(slot) = linking.columns.named(&key.decoded()) else {
                continue;
            };
            let column = &linking.columns.all[slot];
            let fresh = linking.fresh.as_ref().filter(|_| !row.own);
            let stays = fresh.is_some_and(|fresh| !fresh.contains(&column.work.column.id));
            let links = matches!(column.work.link, LinkWork::Refs | LinkWork::Identity { .. });
            let raw = linking.columns.cell(row.row.data, slot);
            let (true, false, Some(raw)) = (links, stays, raw) else {
                continue;
            };
            let shown = |moment| {
                let shown = TargetValue {
                    value: &column.work.linked_value,
                    moment,
                };
                let (mut value, mut cell) = (String::new(), String::new());
                let linked = link(&mut value, raw, refs, OwnLinks::Now, shown, &self.targets);
                let whole = matches!(linked, LinkOutcome::Whole | LinkOutcome::Short);
                (whole && column.rule.write(&value, &mut cell).is_ok()).then_some(cell)
            };
            let Some((before, now)) = shown(Moment::Before).zip(shown(Moment::Now)) else {
                continue;
            };
            let name = column.work.column.name.as_str();
            let holds = stored.data.cell(name).unwrap_or("null");
            if equal(holds, &before) && !equal(&before, &now) {
                cells.push((name, holds.to_owned(), now));
            }
        }
        if cells.is_empty() {
            return None;
        }
        let before = cells
            .iter()
            .map(|(name, before, _)| (*name, before.as_str()));
        let before = RowData::from_cells(before);
        let after = RowData::from_cells(cells.iter().map(|(name, _, now)| (*name, now.as_str())));
        let then = RowDigest::of(&stored.data.written(&after, false));
        Some(FollowingRow {
            row: row.clone(),
            hidden,
            before,
            after,
            digests: [RowDigest::of(&stored.data), then],
        })
    }
}
