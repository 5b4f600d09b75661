//! One record that base, package and destination have, merged leaf by leaf (`upgrade` 3.3 and 3.4).

use super::namesakes::Namesakes;
use super::not_carried::{not_carried, other_name};
use super::{MergedRecord, Merging, plain};
use crate::apply::resolve::absent_names;
use crate::apply::resolve::built::DeclaredRecord;
use crate::json::{Object, Value};
use crate::upgrade::{Conflict, ConflictCode, KeptRecord, Merge, Sides, Update};
use crate::workspace::AnyRecord;
use crate::workspace::ledger::{BaseRecord, Created};

impl Merging<'_, '_> {
    pub(super) fn record(
        &mut self,
        reference: &str,
        declared: &DeclaredRecord,
        ours: AnyRecord,
        namesakes: &Namesakes<'_>,
    ) {
        let theirs = plain(&declared.record);
        let nothing = AnyRecord {
            config: Object::new().into(),
            ..ours.clone()
        };
        let known = self.base.get(ours.id);
        let mut base = known.map_or(nothing, |based| based.record.clone());
        // What is created once more is the same record.
        if let Some(config) = self.recreated.apply(&base.config) {
            base.config = config;
        }
        let marked_base = self.mark_namesakes(base, namesakes);
        let base = &plain(&marked_base);
        let stays = self.destination.row_access_stays;
        let forbidden = |_: &AnyRecord, path: &str| {
            stays && matches!(path, "config.rowAccess" | "config.access")
        };
        let sides = Sides {
            base,
            theirs: &theirs,
            ours: &ours,
        };
        let marked = Sides {
            base: &marked_base,
            theirs: &declared.record,
            ours: &ours,
        };
        self.check_values(reference, sides);
        let read = |value: &Value| self.read(value);
        let dead = |element: &Value| self.recreated.apply(element).is_some();
        let living = |element: &Value| self.is_living(&ours, element);
        let merge = Merge {
            dead: &dead,
            living: &living,
            definitions: self.definitions,
            tracked: self.tracked,
            read: &read,
            forbidden: &forbidden,
            absent: &absent_names::refs,
            plain: &absent_names::plain,
        };
        let (mut merged, refused) = merge.merge_valid(reference, sides, marked);
        self.keep_secrets(&mut merged.record, &ours);
        let (kind, id) = (ours.kind, ours.id);
        if let Some(leaves) = refused {
            self.work.conflicts.push(Conflict {
                leaves,
                ..Conflict::of_record(ConflictCode::InvalidTogether, kind, reference, id)
            });
        }
        let renamed = known.and_then(|known| other_name(known, reference, &declared.name));
        self.work.not_carried.extend(renamed);
        self.work.leaves += merged.updates.len() as u64;
        self.work.decided += merged.decided;
        let updates = merged.updates.into_iter();
        self.work.update.extend(updates.map(|leaf| Update {
            kind,
            reference: reference.to_owned(),
            id,
            path: leaf.path,
            base: (leaf.base != leaf.before).then_some(leaf.base),
            before: leaf.before,
            after: leaf.after,
        }));
        let conflicts = merged.conflicts.into_iter();
        let conflicts = conflicts.map(|leaf| {
            let values = [leaf.base, leaf.theirs, leaf.ours];
            match self.tracked.measured(reference, &leaf.path) {
                Some(measured) => measured.conflict(kind, reference, Some(id), &leaf.path, values),
                None => Conflict::changed(kind, reference, id, &leaf.path, values),
            }
        });
        let conflicts: Vec<Conflict> = conflicts.collect();
        for conflict in &conflicts {
            self.losing(conflict);
        }
        self.work.conflicts.extend(conflicts);
        let kept = merged.kept.into_iter();
        self.work.kept.extend(kept.map(|leaf| KeptRecord {
            kind,
            reference: reference.to_owned(),
            id,
            path: Some(leaf.path),
            base: leaf.base,
            ours: leaf.ours,
            because: leaf.because,
        }));
        for leaf in merged.dangling {
            for named in leaf.refs {
                let entry = not_carried(
                    kind,
                    reference,
                    Some(&leaf.path),
                    Some(leaf.base.clone()),
                    Some(leaf.theirs.clone()),
                );
                self.dangling.entry(named).or_default().push(entry);
            }
        }
        let based = BaseRecord::new(reference, &declared.name, merged.base);
        if known != Some(&based) {
            self.built.work.entry.base.push(based);
        }
        if let Some(known) = self.base.get(id)
            && known.reference != reference
        {
            self.note_existing(reference, &ours);
        }
        let standing = MergedRecord {
            reference: reference.to_owned(),
            after: merged.record,
            before: ours,
        };
        self.records.insert(id, standing);
    }

    /// Notes that a ref stands for a record that was there.
    pub(super) fn note_existing(&mut self, reference: &str, record: &AnyRecord) {
        self.built.work.entry.known.push(Created {
            reference: reference.to_owned(),
            kind: record.kind,
            id: record.id,
            name: record.name.clone(),
        });
    }
}
