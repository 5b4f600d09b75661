//! A record as it was before a job changed it: the same merge as an upgrade, backwards.

use crate::automation::keep_secrets;
use crate::definitions::Definitions;
use crate::upgrade::{Decisions, Merge, Sides, TrackedDecisions, set_part};
use crate::workspace::ledger::Changed;
use crate::workspace::{AnyRecord, RecordKind};

/// A record without what the job changed of it, and the paths of leaves that people have changed since.
pub(super) fn before(ours: &AnyRecord, changed: &Changed) -> (AnyRecord, Vec<String>) {
    let definitions = Definitions::embedded();
    let decisions = Decisions::default();
    let tracked = TrackedDecisions::new(&decisions, None);
    let merge = Merge {
        dead: &|_| false,
        living: &|_| true,
        definitions,
        tracked: &tracked,
        read: &Clone::clone,
        forbidden: &|_, _| false,
        absent: &|_| Vec::new(),
        plain: &Clone::clone,
    };
    let sides = Sides {
        base: &changed.after,
        theirs: &changed.before,
        ours,
    };
    let merged = merge.merge(&changed.reference, sides, sides);
    let mut record = merged.record;
    // A key that says what is so anyway comes back, too.
    if ours.config == changed.after.config {
        record.config.clone_from(&changed.before.config);
    }
    if ours.icon == changed.after.icon {
        record.icon.clone_from(&changed.before.icon);
    }
    // Nobody has touched it: what equals a default stands as it stood.
    if *ours == changed.after {
        record.clone_from(&changed.before);
    }
    // Its place is a leaf of its parent.
    record.order = ours.order;
    if ours.kind == RecordKind::Workflow && record != *ours {
        let graphs = [ours, &changed.before].map(|side| side.part("graphConfig"));
        let mut graph = record.part("graphConfig");
        keep_secrets(definitions, &mut graph, &graphs.each_ref());
        set_part(&mut record, "graphConfig", graph);
    }
    let conflicts = merged.conflicts.into_iter();
    (record, conflicts.map(|leaf| leaf.path).collect())
}
