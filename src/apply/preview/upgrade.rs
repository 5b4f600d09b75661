//! What a plan says of an upgrade.

use super::Preview;
use crate::apply::new_names::Names;
use crate::apply::run::{CellConflict, CellConflicts};
use crate::apply::{Refusal, UpgradeWork};
use crate::problem::Code;
use crate::upgrade::{Conflict, ConflictCode, KeptRecord, Update, shorten};

impl Names {
    /// A value as it is shown.
    pub(super) fn shorten(&self, value: crate::json::Value) -> crate::json::Value {
        shorten(self.replace_ids(value))
    }
}

/// The members of a plan about an upgrade.
pub(super) fn preview(work: Option<Box<UpgradeWork>>, names: &Names, preview: Preview) -> Preview {
    let Some(work) = work else { return preview };
    let update = work.update.into_iter().map(|update| Update {
        base: update.base.map(|base| names.shorten(base)),
        before: names.shorten(update.before),
        after: names.shorten(update.after),
        ..update
    });
    // What is decided, and refused, is not asked again.
    let refused = |conflict: &Conflict| {
        let mut losing = work.losing.iter();
        conflict.code == ConflictCode::TypeChangeLoses
            && losing.any(|refusal| refusal.reference.as_ref() == Some(&conflict.reference))
    };
    let conflicts = work
        .conflicts
        .into_iter()
        .filter(|conflict| !refused(conflict));
    let conflicts = conflicts.map(|conflict| conflict.shorten(|value| names.shorten(value)));
    let kept = work.kept.into_iter().map(|kept| KeptRecord {
        base: names.shorten(kept.base),
        ours: names.shorten(kept.ours),
        ..kept
    });
    let preview = Preview {
        base: work.base,
        update: update.collect(),
        conflicts: conflicts.collect(),
        kept: kept.collect(),
        left: work.left,
        renames: work.renames,
        unused: work.unused,
        seen: work.seen,
        refusals: work.losing.clone(),
        ..preview
    };
    preview.refused()
}

impl Preview {
    /// How many conflicts there are, with those that are not listed.
    pub fn conflict_count(&self) -> usize {
        let more = usize::try_from(self.conflicts_more).unwrap_or(usize::MAX);
        self.conflicts.len().saturating_add(more)
    }

    /// Whether an apply would write anything.
    pub fn changes(&self) -> bool {
        let rows = |rows: &super::RowsPreview| rows.insert > 0 || rows.update > 0;
        !self.create.is_empty()
            || !self.replaced_configs.is_empty()
            || !self.update.is_empty()
            || !self.go_live.is_empty()
            || self.left.iter().any(|left| left.delete)
            || self.rows.values().any(rows)
    }

    /// With the cells that somebody has to decide.
    pub(super) fn cells(&mut self, cells: CellConflicts) {
        self.not_carried.extend(cells.not_carried);
        self.conflicts_more = cells.more;
        self.conflicts.extend(cells.first.into_iter().map(cell));
        self.unused.extend(cells.unused);
        self.seen.extend(cells.seen);
        let invalid = cells.invalid.into_iter();
        self.refusals
            .extend(invalid.map(|(reference, path)| super::unfit_decision(&reference, &path)));
        let hidden = cells.hidden.into_iter();
        self.conflicts
            .extend(hidden.map(|(reference, count)| Conflict::unseen(&reference, count)));
        let refused = std::mem::replace(self, Preview::empty(String::new())).refused();
        *self = refused;
    }

    /// Refused while something is to be decided.
    fn refused(mut self) -> Preview {
        let listed = self
            .refusals
            .iter()
            .any(|refusal| refusal.code == Code::UpgradeConflicts);
        if !self.conflicts.is_empty() && !listed {
            self.refusals.push(Refusal::new(
                Code::UpgradeConflicts,
                "this upgrade needs decisions first. `conflicts` lists what somebody has to decide, with the path of each decision.",
            ));
        }
        self
    }
}

fn cell(cell: CellConflict) -> Conflict {
    let conflict = Conflict {
        uid: cell.moved.uid,
        ..Conflict::of(
            ConflictCode::Changed,
            "rows",
            &cell.reference,
            cell.moved.id,
            Some(&cell.path),
            cell.values,
        )
    };
    conflict.shorten(shorten)
}
