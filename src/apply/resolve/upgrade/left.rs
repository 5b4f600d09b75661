//! Records that the package does not have any more (`upgrade` 3.4.3): they stay, unless somebody decided
//! that they go.

use super::Merging;
use crate::apply::{Dropped, Refusal};
use crate::problem::Code;
use crate::upgrade::{Conflict, ConflictCode, EVERYTHING, LeftRecord, RecordDecision, differing};
use crate::workspace::ledger::{BaseRecord, Siblings};
use crate::workspace::{AnyRecord, Change, Id, RecordKind};

impl Merging<'_, '_> {
    /// Lists them, and takes those away that are to go.
    pub(super) fn list_left(&mut self) {
        let gone: Vec<BaseRecord> = self
            .base
            .all()
            .filter(|based| based.thing.kind != RecordKind::Workspace)
            .filter(|based| !self.pairs.claims(based.thing.id))
            .cloned()
            .collect();
        let tables = gone
            .iter()
            .filter(|based| based.thing.kind == RecordKind::Feature);
        let tables: Vec<Id> = tables.map(|based| based.thing.id).collect();
        for based in gone {
            // What is in a table that is gone goes with it. A module does not go, so what is in it stands beside it.
            if based
                .thing
                .parent
                .is_some_and(|parent| tables.contains(&parent))
            {
                continue;
            }
            let Some(ours) = AnyRecord::find(self.destination, based.thing.kind, based.thing.id)
            else {
                continue;
            };
            let delete = self.tracked.says(&based.reference, RecordDecision::Delete);
            self.work.left.push(LeftRecord {
                kind: ours.kind,
                reference: based.reference.clone(),
                id: ours.id,
                name: ours.name.clone(),
                label: ours.called().to_owned(),
                rows: None,
                cells: None,
                delete,
            });
            if !delete {
                continue;
            }
            if let Some(why) = self.stays(&based.thing, &ours) {
                if self.tracked.is_of_job() {
                    self.stays_since(&based.reference, &ours);
                    continue;
                }
                let reference = &based.reference;
                let detail = format!(
                    "`decisions.{reference}`: the {} {:?} cannot go: {why}. Take it away by hand, or leave it.",
                    ours.kind.noun(),
                    ours.called()
                );
                let refusal = Refusal::about(Code::DeleteRefused, reference, detail);
                self.refusals.push(refusal);
                continue;
            }
            if holds(ours.kind) && !self.is_as_planned(&based.reference, &ours) {
                self.stays_since(&based.reference, &ours);
                continue;
            }
            self.work.decided += 1;
            if holds(ours.kind) {
                self.dropped(&based.reference, &ours);
                continue;
            }
            self.built.work.changes.push(Change::CheckRecord {
                stands: Box::new(ours.clone()),
            });
            self.built.work.changes.push(Change::Remove {
                kind: ours.kind,
                id: ours.id,
                force: false,
            });
            let mut automations = self.destination.automations.iter();
            let in_force = automations.any(|one| one.id == ours.id && !one.draft);
            self.built
                .work
                .entry
                .in_force
                .extend(in_force.then_some(ours.id));
            let siblings = Siblings::of(self.destination, &ours);
            self.built.work.entry.siblings.extend(siblings);
            self.built.work.entry.deleted.push(BaseRecord {
                thing: ours,
                ..based
            });
        }
    }

    /// Leaves a record that people changed since the plan said that it goes.
    fn stays_since(&mut self, reference: &str, ours: &AnyRecord) {
        let left = self.work.left.last_mut();
        if let Some(left) = left {
            left.delete = false;
        }
        let conflict = Conflict::whole(ConflictCode::Changed, ours.kind, reference, ours.id);
        self.work.conflicts.push(conflict);
    }

    /// Whether a table or a column is, with what is in it, what the plan saw.
    fn is_as_planned(&self, reference: &str, ours: &AnyRecord) -> bool {
        let mut all = vec![ours.clone()];
        if ours.kind == RecordKind::Feature {
            for kind in [RecordKind::Column, RecordKind::View] {
                all.extend(AnyRecord::siblings(self.destination, kind, Some(ours.id)));
            }
        }
        for record in &mut all {
            // The job itself may have moved it.
            record.order = None;
        }
        self.tracked
            .sees(reference, EVERYTHING, &format!("{all:?}").into())
    }

    /// Takes a record away with what it holds, where losing that is allowed.
    fn dropped(&mut self, reference: &str, ours: &AnyRecord) {
        if !self.work.terms.allow_destructive {
            self.work.destructive.push(reference.to_owned());
            return;
        }
        self.work.dropped.push(Dropped {
            kind: ours.kind,
            reference: reference.to_owned(),
            id: ours.id,
        });
    }

    /// Why a record may not go.
    fn stays(&self, base: &AnyRecord, ours: &AnyRecord) -> Option<&'static str> {
        let mut automations = self.destination.automations.iter();
        let automation = automations.find(|found| found.id == ours.id);
        match ours.kind {
            RecordKind::Workflow if automation.is_some_and(|one| one.active) => {
                return Some("it is live; pause it first");
            }
            // An undo brings back the version in force alone.
            RecordKind::Workflow if automation.is_some_and(|one| one.has_draft) => {
                return Some("it has a draft, which would go with it");
            }
            RecordKind::View | RecordKind::Rail | RecordKind::Workflow => {}
            // What is lost with them is said and allowed, whoever made it.
            kind if holds(kind) => return None,
            _ => {
                return Some(
                    "an upgrade takes tables, columns, views, navigation entries and paused automations away",
                );
            }
        }
        let differs = !differing(base, ours, self.definitions).is_empty();
        differs.then_some("people have changed it since it was applied")
    }
}

/// Whether a record of that kind holds rows or cells.
fn holds(kind: RecordKind) -> bool {
    matches!(kind, RecordKind::Feature | RecordKind::Column)
}
