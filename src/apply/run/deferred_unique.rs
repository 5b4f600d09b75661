//! Columns that become unique by an upgrade that makes their values distinct: they become so once the cells are
//! written, and not before (`upgrade` 3.4.6).

use super::Run;
use crate::apply::{ApplyError, StructureWork};
use crate::json::Value;
use crate::workspace::ledger::{Changed, Entry, WrittenStructure};
use crate::workspace::{AnyRecord, Change, CommitError, Refused, Target};

const KEY: &str = "unique";

impl<T: Target> Run<'_, '_, T> {
    /// Writes the structure without what the store refuses because values are still repeated, and remembers the
    /// rest for later.
    pub(super) async fn structure_before_rows(
        &mut self,
        work: &StructureWork,
        refused: Refused,
    ) -> Result<(), ApplyError<T::Error>> {
        let Some((first, after_rows)) = split(work) else {
            let refused = CommitError::Refused(refused);
            return Err(ApplyError::commit("creating the structure", refused));
        };
        if !first.changes.is_empty() || first.entry != WrittenStructure::default() {
            let unit = self.unit("structure", first.changes, Entry::Structure(first.entry));
            self.commit("creating the structure", unit).await?;
        }
        self.after_rows = Some(after_rows);
        Ok(())
    }

    /// Writes the rest.
    pub(super) async fn structure_after_rows(&mut self) -> Result<(), ApplyError<T::Error>> {
        let Some(after_rows) = self.after_rows.take() else {
            return Ok(());
        };
        let unit = self.unit(
            "structure",
            after_rows.changes,
            Entry::Structure(after_rows.entry),
        );
        self.commit("making columns unique", unit).await
    }
}

/// The structure without columns that become unique, and these.
fn split(work: &StructureWork) -> Option<(StructureWork, StructureWork)> {
    let (mut first, mut after_rows) = (work.clone(), StructureWork::default());
    for change in &mut first.changes {
        let Change::Update { from, to } = change else {
            continue;
        };
        if !becomes_unique(from, to) {
            continue;
        }
        let loose = loosened(from, to);
        after_rows.changes.push(Change::Update {
            from: Box::new(loose.clone()),
            to: to.clone(),
        });
        **to = loose;
    }
    if after_rows.changes.is_empty() {
        return None;
    }
    first.changes.retain(|change| match change {
        Change::Update { from, to } => from != to,
        _ => true,
    });
    for changed in &mut first.entry.changed {
        let Changed { before, after, .. } = changed;
        if !becomes_unique(before, after) {
            continue;
        }
        let loose = loosened(before, after);
        after_rows.entry.changed.push(Changed {
            reference: changed.reference.clone(),
            before: loose.clone(),
            after: std::mem::replace(&mut changed.after, loose.clone()),
            draft: None,
        });
        for based in &mut first.entry.base {
            if based.record.id == loose.id {
                after_rows.entry.base.push(based.clone());
                based.record = loosened(&loose, &based.record);
            }
        }
        after_rows.entry.leaves += 1;
        first.entry.leaves = first.entry.leaves.saturating_sub(1);
    }
    let changed = &mut first.entry.changed;
    changed.retain(|changed| changed.draft.is_some() || changed.before != changed.after);
    Some((first, after_rows))
}

fn becomes_unique(from: &AnyRecord, to: &AnyRecord) -> bool {
    let unique = |record: &AnyRecord| record.as_column().map(|column| column.is_unique());
    (unique(from), unique(to)) == (Some(false), Some(true))
}

/// The second form of a column, as unique as the first.
fn loosened(from: &AnyRecord, to: &AnyRecord) -> AnyRecord {
    let mut loose = to.clone();
    if let Value::Object(config) = &mut loose.config {
        match from.config.get(KEY) {
            Some(unique) => config.insert(KEY.to_owned(), unique.clone()),
            None => config.shift_remove(KEY),
        };
    }
    loose
}
