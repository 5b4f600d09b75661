//! Records that no side refuses and that are refused once they are merged (`upgrade` 3.3.3).

use std::collections::BTreeSet;

use super::decision::{Decision, Decisions, Side, Take, TrackedDecisions};
use super::document::KeepReason;
use super::leaf::{Sides, declared_fields};
use super::merge::{Merge, Merged};
use crate::automation::{Automation, EmptyEnvironment, validate};
use crate::definitions::{ConfigFault, DeclaredValue, Definitions, Visitor, walk_listed};
use crate::finding::Severity;
use crate::json::{Doc, Node};
use crate::workspace::{AnyRecord, RecordKind};

impl Merge<'_> {
    /// As [`merge`](Merge::merge). Of a record that would be refused nothing is written; then the leaves are given
    /// of which one has to be decided otherwise.
    pub fn merge_valid(
        self,
        reference: &str,
        sides: Sides<'_>,
        marked: Sides<'_>,
    ) -> (Merged, Option<Vec<String>>) {
        let merged = self.merge(reference, sides, marked);
        if merged.updates.is_empty() || !is_refused(&merged.record, sides, self.definitions) {
            return (merged, None);
        }
        let written = merged.updates.iter().map(|leaf| &leaf.path);
        let kept = merged.kept.iter();
        let kept = kept.filter(|leaf| leaf.because != KeepReason::Forbidden);
        let leaves: Vec<String> = written
            .chain(kept.map(|leaf| &leaf.path))
            .cloned()
            .collect();
        if let Some(side) = self.tracked.side(reference)
            && self.speaks(reference, &merged)
        {
            let all = leaves
                .iter()
                .map(String::as_str)
                .chain(merged.conflicts.iter().map(|leaf| leaf.path.as_str()));
            let decisions = all_of(reference, all, side);
            let tracked = TrackedDecisions::new(&decisions, None);
            let again = Merge {
                tracked: &tracked,
                ..self
            };
            let again = again.merge(reference, sides, marked);
            if !is_refused(&again.record, sides, self.definitions) {
                return (again, None);
            }
        }
        let stays = Merged {
            record: sides.ours.clone(),
            base: sides.base.clone(),
            updates: Vec::new(),
            kept: Vec::new(),
            decided: 0,
            ..merged
        };
        (stays, Some(leaves))
    }
}

impl Merge<'_> {
    /// Whether the word for a record, or for everything, speaks of what people made of its leaves, and not of what
    /// they made of them since the plan.
    fn speaks(self, reference: &str, merged: &Merged) -> bool {
        let updates = merged.updates.iter();
        let updates = updates.map(|leaf| (&leaf.path, &leaf.base, &leaf.before));
        let conflicts = merged.conflicts.iter();
        let conflicts = conflicts.map(|leaf| (&leaf.path, &leaf.base, &leaf.ours));
        let kept = merged.kept.iter();
        let kept = kept.map(|leaf| (&leaf.path, &leaf.base, &leaf.ours));
        let all = updates.chain(conflicts).chain(kept);
        let mut changed = all.filter(|(_, base, ours)| base != ours);
        changed.all(|(path, _, ours)| self.tracked.sees(reference, path, ours))
    }
}

/// One side for all these leaves.
fn all_of<'p>(reference: &str, paths: impl Iterator<Item = &'p str>, side: Side) -> Decisions {
    let decision = Decision {
        take: Take::Side(side),
        ours: None,
    };
    let of = paths.map(|path| (path.to_owned(), decision.clone()));
    Decisions::from_iter([(reference.to_owned(), of.collect())])
}

/// Whether something is wrong with a record that is wrong with none of the sides.
fn is_refused(merged: &AnyRecord, sides: Sides<'_>, definitions: &Definitions) -> bool {
    let mut wrong = record_faults(merged, definitions);
    if wrong.is_empty() {
        return false;
    }
    for side in [sides.ours, sides.theirs] {
        let known = record_faults(side, definitions);
        wrong.retain(|one| !known.contains(one));
    }
    !wrong.is_empty()
}

/// What whoever writes a record would hear of it.
pub fn record_faults(record: &AnyRecord, definitions: &Definitions) -> BTreeSet<String> {
    let text = record.config.write();
    let Ok(doc) = Doc::parse(&text) else {
        return BTreeSet::new();
    };
    let root = doc.root();
    if record.kind == RecordKind::Workflow {
        return automation_faults(record, root, definitions);
    }
    let fields = declared_fields(record, definitions);
    let mut wrong = RecordFaults::default();
    for object in root.elements().chain((!root.is_array()).then_some(root)) {
        walk_listed(object, &fields, &mut wrong);
    }
    wrong.0
}

fn automation_faults(
    record: &AnyRecord,
    root: Node<'_>,
    definitions: &Definitions,
) -> BTreeSet<String> {
    let automation = Automation {
        trigger: root.get("triggerConfig"),
        graph: root.get("graphConfig"),
    };
    let id = record.id.to_string();
    let around = EmptyEnvironment {
        workflow_id: Some(&id),
    };
    let issues = validate(definitions, &automation, &around).into_iter();
    let errors = issues.filter(|issue| issue.finding.severity == Severity::Error);
    errors
        .map(|issue| format!("{} {}", issue.code(), issue.finding.message))
        .collect()
}

/// Collects what a walk finds wrong.
#[derive(Default)]
struct RecordFaults(BTreeSet<String>);

impl<'d, 'f> Visitor<'d, 'f> for RecordFaults {
    fn field(&mut self, _: DeclaredValue<'d, 'f>) {}

    fn fault(&mut self, fault: ConfigFault<'d, 'f>) {
        self.0.insert(match fault {
            ConfigFault::UnknownKey { member, .. } => {
                format!("unknown {}", member.key().unwrap_or_default())
            }
            ConfigFault::Missing { key, .. } => format!("missing {key}"),
            ConfigFault::Wrong { spot } => {
                let node = spot.node;
                format!("wrong {} {}", node.key().unwrap_or_default(), node.raw())
            }
        });
    }

    fn steps(&mut self, _: DeclaredValue<'d, 'f>) {}
}
