//! Records that the package no longer has (`upgrade` 3.4.3): they stay, unless somebody decided
//! that they go.

use std::collections::HashSet;

use super::{Base, Merging};
use crate::apply::resolve::bindings::Bindings;
use crate::apply::resolve::counterparts::Counterparts;
use crate::apply::{Dropped, Refusal};
use crate::definitions::Definitions;
use crate::problem::Code;
use crate::upgrade::{
    Conflict, ConflictCode, EVERYTHING, LeftRecord, RecordDecision, TrackedDecisions, differing,
};
use crate::workspace::ledger::{BaseRecord, Siblings};
use crate::workspace::{AnyRecord, Change, Id, RecordKind, Structure};

/// What becomes of a record that the package no longer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeftOutcome {
    /// Nobody decided that it goes.
    Stays,
    Goes,
    /// It may not go, for this reason.
    Refused(&'static str),
    /// It was to go, and people changed it since the plan said so.
    ChangedSince,
}

/// Such a record.
struct Left {
    based: BaseRecord,
    ours: AnyRecord,
    outcome: LeftOutcome,
}

/// All of them. What becomes of each is decided before anything is merged: what goes is no longer there for anything
/// that is.
#[derive(Default)]
pub(in crate::apply::resolve) struct LeftRecords(Vec<Left>);

impl LeftRecords {
    pub(in crate::apply::resolve) fn of(
        base: &Base,
        pairs: &Counterparts,
        rules: &LeftRules<'_, '_>,
    ) -> Self {
        let unclaimed = || {
            base.all().filter(|based| {
                based.record.kind != RecordKind::Workspace && !pairs.claims(based.record.id)
            })
        };
        let tables = unclaimed().filter(|based| based.record.kind == RecordKind::Feature);
        let tables: HashSet<Id> = tables.map(|based| based.record.id).collect();
        // What is in a table that is gone goes with it. A module does not go, so what is in it stands next to it.
        let inside = |parent| tables.contains(&parent);
        let outermost = unclaimed().filter(|based| !based.record.parent.is_some_and(inside));
        let left = outermost.filter_map(|based| {
            let ours = AnyRecord::find(rules.destination, based.record.kind, based.record.id)?;
            let outcome = rules.outcome(based, &ours);
            let based = based.clone();
            Some(Left {
                based,
                ours,
                outcome,
            })
        });
        LeftRecords(left.collect())
    }

    /// Those that go.
    pub(in crate::apply::resolve) fn gone(&self) -> HashSet<Id> {
        let gone = self
            .0
            .iter()
            .filter(|left| left.outcome == LeftOutcome::Goes);
        gone.map(|left| left.ours.id).collect()
    }
}

/// By what it is decided what becomes of a record.
pub(in crate::apply::resolve) struct LeftRules<'a, 'p> {
    pub(in crate::apply::resolve) tracked: &'a TrackedDecisions<'a>,
    pub(in crate::apply::resolve) bindings: &'a Bindings<'p>,
    pub(in crate::apply::resolve) destination: &'a Structure,
    pub(in crate::apply::resolve) definitions: &'a Definitions,
}

impl LeftRules<'_, '_> {
    fn outcome(&self, based: &BaseRecord, ours: &AnyRecord) -> LeftOutcome {
        if !self.tracked.says(&based.reference, RecordDecision::Delete) {
            return LeftOutcome::Stays;
        }
        match self.stays(&based.record, ours) {
            Some(_) if self.tracked.is_of_job() => LeftOutcome::ChangedSince,
            Some(why) => LeftOutcome::Refused(why),
            None if holds(ours.kind) && !self.is_as_planned(&based.reference, ours) => {
                LeftOutcome::ChangedSince
            }
            None => LeftOutcome::Goes,
        }
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

    /// Why a record may not go.
    fn stays(&self, base: &AnyRecord, ours: &AnyRecord) -> Option<&'static str> {
        // As a dependency, or by a blueprint.
        let mut bound = self.bindings.records();
        if bound.any(|used| !used.gone && (used.id == ours.id || used.parent == Some(ours.id))) {
            return Some("the package uses it");
        }
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

impl Merging<'_, '_> {
    /// Lists them, and takes those away that are to go.
    pub(super) fn list_left(&mut self) {
        let left = std::mem::take(&mut self.left);
        for Left {
            based,
            ours,
            outcome,
        } in left.0
        {
            self.work.left.push(LeftRecord {
                kind: ours.kind,
                reference: based.reference.clone(),
                id: ours.id,
                name: ours.name.clone(),
                label: ours.called().to_owned(),
                rows: None,
                cells: None,
                delete: matches!(outcome, LeftOutcome::Goes | LeftOutcome::Refused(_)),
            });
            match outcome {
                LeftOutcome::Stays => {}
                LeftOutcome::ChangedSince => self.stays_since(&based.reference, &ours),
                LeftOutcome::Refused(why) => self.refuse_deletion(&based.reference, &ours, why),
                LeftOutcome::Goes if holds(ours.kind) => {
                    self.work.decided += 1;
                    self.dropped(&based.reference, &ours);
                }
                LeftOutcome::Goes => {
                    self.work.decided += 1;
                    self.removed(based, ours);
                }
            }
        }
    }

    fn refuse_deletion(&mut self, reference: &str, ours: &AnyRecord, why: &str) {
        let detail = format!(
            "`decisions.{reference}`: the {} {:?} cannot go: {why}. Take it away by hand, or leave it.",
            ours.kind.noun(),
            ours.called()
        );
        let refusal = Refusal::about(Code::DeleteRefused, reference, detail);
        self.refusals.push(refusal);
    }

    /// Takes away what holds nothing else.
    fn removed(&mut self, based: BaseRecord, ours: AnyRecord) {
        let work = &mut self.built.work;
        work.changes.push(Change::CheckRecord {
            stands: Box::new(ours.clone()),
        });
        work.changes.push(Change::Remove {
            kind: ours.kind,
            id: ours.id,
            force: false,
        });
        let mut automations = self.destination.automations.iter();
        let in_force = automations.any(|one| one.id == ours.id && !one.draft);
        work.entry.in_force.extend(in_force.then_some(ours.id));
        let siblings = Siblings::of(self.destination, &ours);
        work.entry.siblings.extend(siblings);
        work.entry.deleted.push(BaseRecord {
            record: ours,
            ..based
        });
    }

    /// Leaves a record that people changed since the plan said that it goes.
    fn stays_since(&mut self, reference: &str, ours: &AnyRecord) {
        let conflict = Conflict::of_record(ConflictCode::Changed, ours.kind, reference, ours.id);
        self.work.conflicts.push(conflict);
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
}

/// Whether a record of that kind holds rows or cells.
fn holds(kind: RecordKind) -> bool {
    matches!(kind, RecordKind::Feature | RecordKind::Column)
}
