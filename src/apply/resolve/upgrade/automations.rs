//! Automations that an upgrade changes (`upgrade` 3.4.7): each gets a draft, which takes the place of what is in
//! force once all rows are written, unless somebody has to enter something first.

use std::collections::HashSet;

use super::Merging;
use crate::apply::resolve::completeness::{AppliedAutomation, CompletenessCheck};
use crate::apply::resolve::rewrite::object_of;
use crate::apply::resolve::steps::StepWork;
use crate::apply::{DraftReason, HeldBack, NotPublished, Publish};
use crate::automation::keep_secrets;
use crate::upgrade::set_part;
use crate::workspace::ledger::Changed;
use crate::workspace::{AnyRecord, Change, Id, RecordKind};

impl<'p> Merging<'_, 'p> {
    /// Leaves secrets where they are: a step that speaks to another target than before has none.
    pub(super) fn keep_secrets(&self, merged: &mut AnyRecord, ours: &AnyRecord) {
        if merged.kind == RecordKind::Workflow && merged != ours {
            let mut graph = merged.part("graphConfig");
            keep_secrets(self.definitions, &mut graph, &[&ours.part("graphConfig")]);
            set_part(merged, "graphConfig", graph);
        }
    }

    /// Makes a draft of what an automation becomes, or goes on with the one that the job has made already.
    pub(super) fn automation(&mut self, reference: &str, before: AnyRecord, after: AnyRecord) {
        let id = after.id;
        let begun = self.earlier.drafted(id).and_then(|changed| changed.draft);
        if begun.is_none() && before == after {
            return;
        }
        let Some(work) = self.step(reference) else {
            return;
        };
        let version = begun.unwrap_or_else(|| self.minter.id(work.ordinal.unwrap_or_default()));
        self.arrive(reference, work.uid, &after, version, begun.is_some());
        if begun.is_some() {
            return;
        }
        // A draft begins on what is in force, also where an earlier one waits.
        let in_force = AnyRecord::find(self.destination, RecordKind::Workflow, id);
        let before = in_force.unwrap_or(before);
        self.built.work.changes.push(Change::Draft {
            version,
            from: Box::new(before.clone()),
            to: Box::new(after.clone()),
        });
        self.built.work.entry.changed.push(Changed {
            reference: reference.to_owned(),
            before,
            after,
            draft: Some(version),
        });
    }

    /// Decides whether a draft takes the place of what is in force; one of an automation that was never published
    /// is left to people, like that.
    fn arrive(&mut self, reference: &str, uid: &str, after: &AnyRecord, version: Id, begun: bool) {
        let known = &mut self.built.not_published;
        known.retain(|entry| entry.reference != reference);
        let mut automations = self.destination.automations.iter();
        let Some(ours) = automations.find(|found| found.id == after.id) else {
            return;
        };
        let (draft, live) = (ours.draft, ours.active);
        let publish = Publish {
            reference: reference.to_owned(),
            id: after.id,
            name: after.name.clone(),
            draft: Some(version),
            live,
        };
        let because = self.missing(reference, uid, after, self.gone);
        let waits = !because.is_empty();
        if waits {
            self.built.not_published.push(NotPublished {
                reference: reference.to_owned(),
                name: after.name.clone(),
                because,
            });
        }
        if draft {
            return;
        }
        if !waits {
            self.built.publish.push(publish);
        } else if let Some(needs) = self.needs(reference, uid, after) {
            self.work.held_back.push(HeldBack { publish, needs });
        } else {
            return;
        }
        if !begun {
            let pending = &mut self.built.work.entry.pending_publishes;
            pending.push(reference.to_owned());
        }
    }

    /// What it needs of what goes with what it holds, where nothing else keeps it from going live. That may stay: people
    /// may have written into it by then.
    fn needs(&self, reference: &str, uid: &str, after: &AnyRecord) -> Option<Vec<Id>> {
        let dropped: Vec<Id> = self.work.dropped.iter().map(|dropped| dropped.id).collect();
        let mut gone = self.gone.clone();
        gone.retain(|id| !dropped.contains(id));
        if !self.missing(reference, uid, after, &gone).is_empty() {
            return None;
        }
        let needed = |id: &Id| {
            let mut gone = gone.clone();
            gone.insert(*id);
            !self.missing(reference, uid, after, &gone).is_empty()
        };
        let needs: Vec<Id> = dropped.into_iter().filter(needed).collect();
        (!needs.is_empty()).then_some(needs)
    }

    /// What somebody has to enter first, where these records go.
    fn missing(
        &self,
        reference: &str,
        uid: &str,
        after: &AnyRecord,
        gone: &HashSet<Id>,
    ) -> Vec<DraftReason> {
        let arrival = CompletenessCheck {
            manifest: self.manifest,
            destination: self.destination,
            gone,
            bindings: self.bindings,
            columns: &self.built.columns,
            definitions: self.definitions,
        };
        let emptied = self.built.emptied.get(reference);
        arrival.missing(AppliedAutomation {
            uid,
            id: after.id,
            args: &object_of(Some(&after.config)),
            emptied: emptied.map_or(&[], Vec::as_slice),
            since: true,
        })
    }

    fn step(&self, reference: &str) -> Option<StepWork<'p>> {
        let mut steps = self.steps.all.iter();
        let own = steps.find(|work| {
            work.step.tool.is_create() && work.step.reference.as_deref() == Some(reference)
        });
        own.copied()
    }
}
