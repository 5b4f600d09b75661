//! The order of siblings: one leaf of their parent, by position and not by number (`upgrade` 3.3.2).

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::Merging;
use crate::json::Value;
use crate::upgrade::LeafDecision;
use crate::upgrade::rule::{DecidedLeaf, LeafOutcome, verdict};
use crate::upgrade::{Conflict, KeepReason, KeptRecord, Take, Update, insert_after, order_path};
use crate::workspace::ledger::Siblings;
use crate::workspace::{AnyRecord, Change, Id, New, RecordKind};

/// A parent whose children are put in order.
struct Parent<'r> {
    reference: &'r str,
    kind: RecordKind,
    id: Id,
}

/// Names of siblings by their ids.
type Names = HashMap<Id, Value>;

/// Siblings on one side.
type Sequence = Vec<Id>;

/// A record of a package, and the position that it gives.
type Placed = (Id, Option<i64>);

impl Merging<'_, '_> {
    /// Puts the siblings of every parent that is at the destination in order. Gives parents, by the kind
    /// of their children, whose order keeps its base.
    pub(super) fn merge_orders(&mut self) -> Vec<(RecordKind, Option<Id>)> {
        let mut parents = vec![(
            RecordKind::Module,
            Parent {
                reference: crate::package::reference::WORKSPACE,
                kind: RecordKind::Workspace,
                id: self.destination.workspace.id,
            },
        )];
        for (reference, declared) in &self.built.declared {
            let children = match declared.record.kind {
                RecordKind::Module => RecordKind::Rail,
                RecordKind::Feature => RecordKind::Column,
                _ => continue,
            };
            if !declared.fresh && !declared.blueprint {
                let parent = Parent {
                    reference,
                    kind: declared.record.kind,
                    id: declared.record.id,
                };
                parents.push((children, parent));
            }
        }
        let mut stay = Vec::new();
        for (kind, parent) in parents {
            let within = (kind != RecordKind::Module).then_some(parent.id);
            if let Some(path) = order_path(kind)
                && !self.order(kind, within, &parent, path)
            {
                stay.push((kind, within));
            }
        }
        stay
    }

    /// Why a value that is decided for an order is none: it names each of the siblings that base, package and
    /// destination have once, and may name others of the destination.
    fn unfit_order(
        &self,
        order: DecidedLeaf<'_>,
        [_, theirs, ours]: &[Value; 3],
        names: &Names,
    ) -> Option<String> {
        let read = |value: &Value| self.read(value);
        let decided = self.tracked.at(order.reference, order.path, ours, &read);
        let LeafDecision::Take(Take::Value(value)) = decided else {
            return None;
        };
        if theirs == ours {
            return None;
        }
        let value = self.read(value);
        let Some(listed) = value.as_list() else {
            return Some("it is not a list of names".to_owned());
        };
        let wanted = ours.as_list().unwrap_or_default().iter();
        let missing = wanted.filter(|name| !listed.contains(name));
        let unknown = listed
            .iter()
            .filter(|name| !names.values().any(|known| known == *name));
        let repeated = (0..listed.len()).filter(|at| {
            let first = |at: &usize| !listed[..*at].contains(&listed[*at]);
            first(at) && listed[at + 1..].contains(&listed[*at])
        });
        let repeated = repeated.map(|at| &listed[at]);
        let faults = [
            ("missing", quoted(missing)),
            ("unknown", quoted(unknown)),
            ("named more than once", quoted(repeated)),
        ];
        let faults = faults.into_iter().filter(|(_, names)| !names.is_empty());
        let faults: Vec<String> = faults
            .map(|(fault, names)| format!("{fault}: {names}"))
            .collect();
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    /// Puts the children of a parent in order; false when that keeps its base.
    fn order(
        &mut self,
        kind: RecordKind,
        within: Option<Id>,
        parent: &Parent<'_>,
        path: &str,
    ) -> bool {
        let ours = AnyRecord::siblings(self.destination, kind, within);
        let base = self.base.all().map(|based| &based.record);
        let base: Vec<Placed> = base
            .filter(|record| record.kind == kind && record.parent == within)
            .map(|record| (record.id, record.order))
            .collect();
        // What the package does not give keeps the base that it has.
        let based = |id: Id| self.base.get(id).and_then(|based| based.record.order);
        let declared = self.built.declared.values();
        let theirs: Vec<&AnyRecord> = declared
            .filter(|declared| !declared.blueprint)
            .map(|declared| &declared.record)
            .filter(|record| record.kind == kind && record.parent == within)
            .collect();
        // What the package does not give is not a leaf.
        let given = theirs.iter().any(|record| record.order.is_some());
        let theirs: Vec<Placed> = theirs
            .into_iter()
            .map(|record| (record.id, record.order.or_else(|| based(record.id))))
            .collect();
        let compared: HashSet<Id> = theirs
            .iter()
            .filter_map(|(id, order)| order.map(|_| *id))
            .collect();
        let base = as_applied(&base, &ours);
        let theirs = as_applied(&theirs, &ours);
        let names: Names = ours
            .iter()
            .map(|record| (record.id, record.name.as_str().into()))
            .collect();
        let now: Sequence = ours.iter().map(|record| record.id).collect();
        let in_all = |id: &&Id| base.contains(id) && compared.contains(*id) && now.contains(id);
        let common = |list: &Sequence| -> Value {
            let common = list.iter().filter(in_all);
            let names = common.filter_map(|id| names.get(id).cloned());
            Value::List(names.collect())
        };
        let values = [&base, &theirs, &now].map(common);
        let order = DecidedLeaf {
            reference: parent.reference,
            path,
            list: false,
        };
        if given && let Some(why) = self.unfit_order(order, &values, &names) {
            self.refuse_value_because(parent.reference, path, &why);
        }
        let read = |value: &Value| self.read(value);
        let verdict = if given {
            verdict(order, &values, self.tracked, &read)
        } else {
            LeafOutcome::Same
        };
        // What goes with this unit has no place any more.
        let deleted = &self.built.work.entry.deleted;
        let goes = |id: &Id| deleted.iter().any(|based| based.record.id == *id);
        let standing: Sequence = now.iter().filter(|id| !goes(id)).copied().collect();
        let mut sequence = standing.clone();
        let mut moves = true;
        match verdict {
            LeafOutcome::Same => {}
            LeafOutcome::Written(after) => {
                let wanted = after.as_list().unwrap_or_default().iter();
                let of = |name: &Value| names.iter().find(|(_, known)| *known == name);
                let mut order: Sequence = wanted.filter_map(|name| Some(*of(name)?.0)).collect();
                let listed = order.clone();
                insert_after(&mut order, &standing, |id| !listed.contains(id));
                sequence = order;
                self.work.decided += u64::from(values[0] != values[2]);
                self.work.leaves += 1;
                self.work.update.push(Update {
                    kind: parent.kind,
                    reference: parent.reference.to_owned(),
                    id: parent.id,
                    path: path.to_owned(),
                    base: (values[0] != values[2]).then(|| values[0].clone()),
                    before: values[2].clone(),
                    after,
                });
            }
            LeafOutcome::Kept { decided } => {
                self.work.decided += u64::from(decided);
                self.work.kept.push(KeptRecord {
                    kind: parent.kind,
                    reference: parent.reference.to_owned(),
                    id: parent.id,
                    path: Some(path.to_owned()),
                    base: values[0].clone(),
                    ours: values[2].clone(),
                    because: if decided {
                        KeepReason::Decided
                    } else {
                        KeepReason::UnchangedInPackage
                    },
                });
            }
            LeafOutcome::Conflict => {
                moves = false;
                self.work.conflicts.push(Conflict::changed(
                    parent.kind,
                    parent.reference,
                    parent.id,
                    path,
                    values,
                ));
            }
        }
        let fresh = |id: &Id| !now.contains(id) && self.is_fresh(*id);
        if sequence != standing || theirs.iter().any(fresh) {
            // What is given a position stands among what is given one, what is given none after everything.
            let all = || theirs.iter().copied();
            let placed: Sequence = all().filter(|id| compared.contains(id)).collect();
            let before = sequence.clone();
            insert_after(&mut sequence, &placed, |id| {
                !before.contains(id) && fresh(id)
            });
            sequence.extend(all().filter(|id| !compared.contains(id) && fresh(id)));
            self.number(kind, &sequence, &ours);
            let stood = Siblings::of_all(kind, within, Some(parent.reference.to_owned()), &ours);
            self.built.work.entry.siblings.push(stood);
            let stand = Change::CheckOrder {
                kind,
                parent: within,
                order: now,
            };
            // Before anything comes in.
            self.built.work.changes.insert(0, stand);
        }
        moves
    }

    fn is_fresh(&self, id: Id) -> bool {
        let mut declared = self.built.declared.values();
        declared.any(|declared| declared.fresh && declared.record.id == id)
    }

    /// Gives siblings positions that ascend; those that do so already keep theirs.
    fn number(&mut self, kind: RecordKind, sequence: &Sequence, ours: &[AnyRecord]) {
        let there: HashMap<Id, &AnyRecord> =
            ours.iter().map(|record| (record.id, record)).collect();
        let mut new: IndexMap<Id, &mut i64> = IndexMap::new();
        for change in &mut self.built.work.changes {
            let order = match change {
                Change::Create(New::Column { column, .. }) => (column.id, &mut column.order),
                Change::Create(New::Module(module)) => (module.id, &mut module.order),
                Change::Create(New::Rail { rail, .. }) => (rail.id, &mut rail.order),
                _ => continue,
            };
            new.insert(order.0, order.1);
        }
        let mut last: Option<(i64, Id)> = None;
        let mut moved = Vec::new();
        for id in sequence {
            let stands = match (there.get(id), new.get(id)) {
                (Some(record), _) => record.order.unwrap_or_default(),
                (None, Some(order)) => **order,
                (None, None) => continue,
            };
            let order = match last {
                Some(last) if last >= (stands, *id) => last.0.saturating_add(1),
                _ => stands,
            };
            last = Some((order, *id));
            if order == stands {
                continue;
            }
            match new.get_mut(id) {
                Some(slot) => **slot = order,
                None => moved.push((*id, order)),
            }
        }
        for (id, order) in moved {
            self.merged(kind, id).order = Some(order);
        }
    }
}

/// Siblings of a package, in the order in which an apply puts them. What is given no position comes after all that is
/// there (`rest` 3.2): what the package made before it, and what others had made (ids ascend with time).
fn as_applied(records: &[Placed], here: &[AnyRecord]) -> Sequence {
    let known: HashSet<Id> = records.iter().map(|(id, _)| *id).collect();
    let others = || here.iter().filter(|record| !known.contains(&record.id));
    let mut highest = 0;
    let mut placed: Vec<(i64, Id)> = Vec::new();
    for (id, order) in records {
        let order = order.unwrap_or_else(|| {
            let earlier = others().filter(|record| record.id < *id);
            let orders = earlier.filter_map(|record| record.order);
            orders.fold(highest, i64::max).saturating_add(1)
        });
        highest = highest.max(order);
        placed.push((order, *id));
    }
    // Of equal positions the record comes first that was declared first.
    placed.sort_by_key(|(order, _)| *order);
    placed.into_iter().map(|(_, id)| id).collect()
}

/// Names in one line, each as a text is shown.
fn quoted<'v>(names: impl Iterator<Item = &'v Value>) -> String {
    let shown = |name: &Value| match name.as_str() {
        Some(text) => format!("`{text}`"),
        None => format!("`{}`", name.write()),
    };
    names.map(shown).collect::<Vec<_>>().join(", ")
}
