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
    thing: AnyRecord,
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
            let changed = away.parts.iter().any(|part| self.differs(&part.thing));
            let mut barring = self.pairs.barred.values();
            let bars = barring.any(|of| names.contains(&of.as_str()));
            if !changed && dangling.is_empty() && !bars {
                self.work.kept.push(KeptRecord {
                    kind: away.thing.kind,
                    reference: away.reference,
                    id: away.thing.id,
                    path: None,
                    base: Value::Null,
                    ours: Value::Null,
                    because: KeepReason::RemovedHere,
                });
                continue;
            }
            if !self.tracked.says(&away.reference, RecordDecision::Leave) {
                self.work.conflicts.push(Conflict::whole(
                    ConflictCode::RemovedHere,
                    away.thing.kind,
                    &away.reference,
                    away.thing.id,
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
            let (reference, thing) = (part.reference.as_str(), &part.thing);
            match self.base.get(thing.id).map(|based| &based.thing) {
                None => {
                    let label = thing.called().into();
                    let left = not_carried(thing.kind, reference, None, None, Some(label));
                    self.work.not_carried.push(left);
                }
                Some(known) => {
                    let leaves = differing(known, thing, self.definitions).into_iter();
                    let left = leaves.map(|(path, base, theirs)| {
                        let (base, theirs) = (Some(base), Some(theirs));
                        not_carried(thing.kind, reference, Some(&path), base, theirs)
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
            .map(|(_, declared)| declared.thing.id)
            .collect();
        let inside = |thing: &AnyRecord| {
            thing
                .parent
                .is_some_and(|parent| gone_ids.contains(&parent))
        };
        let top = declared()
            .filter(|(reference, declared)| self.is_away(reference) && !inside(&declared.thing));
        top.map(|(reference, top)| {
            let parts = declared().filter(|(_, declared)| {
                declared.thing.id == top.thing.id || declared.thing.parent == Some(top.thing.id)
            });
            AbsentRecord {
                reference: (*reference).to_owned(),
                thing: top.thing.clone(),
                parts: parts
                    .map(|(reference, declared)| {
                        BaseRecord::new(reference, &declared.name, plain(&declared.thing))
                    })
                    .collect(),
            }
        })
        .collect()
    }

    /// Whether the package says something else of a record than the base; one that the base does not have
    /// is new.
    fn differs(&self, thing: &AnyRecord) -> bool {
        let known = self.base.get(thing.id);
        known.is_none_or(|known| !differing(&known.thing, thing, self.definitions).is_empty())
    }
}
