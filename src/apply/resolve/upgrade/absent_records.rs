//! Records that the package has and people removed (`upgrade` 3.4.4).

use super::not_carried::not_carried;
use super::{Merging, plain};
use crate::apply::NotCarried;
use crate::apply::resolve::counterparts::Counterpart;
use crate::apply::resolve::steps::{text_in, used_in};
use crate::json::Value;
use crate::package::Tool;
use crate::upgrade::{Conflict, ConflictCode, KeepReason, KeptRecord, RecordDecision, differing};
use crate::workspace::ledger::BaseRecord;
use crate::workspace::{AnyRecord, Id};

/// A record that is not there, with everything in it.
struct AbsentRecord {
    reference: String,
    record: AnyRecord,
    /// What the package says of it and of what is in it.
    parts: Vec<BaseRecord>,
}

impl Merging<'_, '_> {
    /// Decides what becomes of them.
    pub(super) fn decide_absent(&mut self) {
        for away in self.away() {
            let parts = away.parts.iter();
            let names: Vec<&str> = parts.map(|part| part.reference.as_str()).collect();
            let mut dangling = Vec::new();
            for name in &names {
                dangling.extend(self.dangling.shift_remove(*name).unwrap_or_default());
            }
            if self.pairs.barred.contains_key(&away.reference) {
                self.leaves_out(dangling);
                self.stays_away(away.parts);
                continue;
            }
            let changed = away.parts.iter().any(|part| self.differs(&part.record));
            let mut barring = self.pairs.barred.values();
            let bars = barring.any(|of| names.contains(&of.as_str()));
            if !changed && dangling.is_empty() && !bars {
                self.work.kept.push(KeptRecord {
                    kind: away.record.kind,
                    reference: away.reference,
                    id: away.record.id,
                    path: None,
                    base: Value::Null,
                    ours: Value::Null,
                    because: KeepReason::RemovedHere,
                });
                continue;
            }
            if !self.tracked.says(&away.reference, RecordDecision::Leave) {
                self.work.conflicts.push(Conflict::of_record(
                    ConflictCode::RemovedHere,
                    away.record.kind,
                    &away.reference,
                    away.record.id,
                ));
                continue;
            }
            self.work.decided += 1;
            self.leaves_out(dangling);
            self.stays_away(away.parts);
        }
    }

    /// Notes the columns that stay away, by the refs of their tables: no row brings cells for them.
    pub(super) fn absent_columns(&mut self) {
        let steps = self.manifest.plan.steps.iter();
        let columns = steps.filter(|step| step.tool == Tool::CreateColumn);
        for step in columns {
            let (Some(reference), Some(table)) =
                (&step.reference, used_in(&step.args, "featureId"))
            else {
                continue;
            };
            if self.is_away(reference) {
                let absent = self.work.absent_columns.entry(table.to_owned());
                let name = text_in(&step.args, "name").to_owned();
                absent.or_default().push(name);
            }
        }
    }

    fn is_away(&self, reference: &str) -> bool {
        matches!(
            self.pairs.counterpart(reference),
            Counterpart::Removed(_) | Counterpart::LeftOut
        )
    }

    /// Lists what would point at records that stay away, once although it names several of them.
    fn leaves_out(&mut self, dangling: Vec<NotCarried>) {
        for entry in dangling {
            if !self.work.not_carried.contains(&entry) {
                self.work.not_carried.push(entry);
            }
        }
    }

    /// Lists what the package says of records that stay away; their base is that.
    fn stays_away(&mut self, parts: Vec<BaseRecord>) {
        for part in parts {
            let (reference, record) = (part.reference.as_str(), &part.record);
            match self.base.get(record.id).map(|based| &based.record) {
                None => {
                    let label = record.called().into();
                    let base = Some(Value::Null);
                    let left = not_carried(record.kind, reference, None, base, Some(label));
                    self.work.not_carried.push(left);
                }
                Some(known) => {
                    let leaves = differing(known, record, self.definitions).into_iter();
                    let left = leaves.map(|(path, base, theirs)| {
                        let (base, theirs) = (Some(base), Some(theirs));
                        not_carried(record.kind, reference, Some(&path), base, theirs)
                    });
                    self.work.not_carried.extend(left);
                }
            }
            self.built.work.entry.base.push(part);
        }
    }

    /// Records that are away while what they are in is not.
    fn away(&self) -> Vec<AbsentRecord> {
        let declared = || {
            let declared = self.built.declared.iter();
            declared.filter(|(_, declared)| !declared.blueprint)
        };
        let gone_ids: Vec<Id> = declared()
            .filter(|(reference, _)| self.is_away(reference))
            .map(|(_, declared)| declared.record.id)
            .collect();
        let inside = |record: &AnyRecord| {
            record
                .parent
                .is_some_and(|parent| gone_ids.contains(&parent))
        };
        let top = declared()
            .filter(|(reference, declared)| self.is_away(reference) && !inside(&declared.record));
        top.map(|(reference, top)| {
            let parts = declared().filter(|(_, declared)| {
                declared.record.id == top.record.id || declared.record.parent == Some(top.record.id)
            });
            AbsentRecord {
                reference: (*reference).to_owned(),
                record: top.record.clone(),
                parts: parts
                    .map(|(reference, declared)| {
                        BaseRecord::new(reference, &declared.name, plain(&declared.record))
                    })
                    .collect(),
            }
        })
        .collect()
    }

    /// Whether the package says something else of a record than the base; one that the base does not have
    /// is new.
    fn differs(&self, record: &AnyRecord) -> bool {
        let known = self.base.get(record.id);
        known.is_none_or(|known| !differing(&known.record, record, self.definitions).is_empty())
    }
}
