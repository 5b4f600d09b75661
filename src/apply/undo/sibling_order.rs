//! Where siblings belong when a job is undone: by position and not by number (`upgrade` 3.3.2).
//!
//! In: the ledger of the job, which says how siblings stood before it put them into another order or
//! took one away, and the last unit of the undo. Out: that unit with numbers by which each record stands where
//! it stood. An order that people changed since stays, and is one leaf of the parent (3.6.2). What people
//! numbered anew keeps its number unless there is no room.

use std::collections::{HashMap, HashSet};

use super::sibling_numbers::{Numbered, ascending};
use crate::upgrade::{insert_after, order_path};
use crate::workspace::ledger::{Changed, Entry, MovedLeaf, Siblings};
use crate::workspace::{AnyRecord, Change, Id, RecordKind, Structure};

/// Where they belong.
#[derive(Debug, Default)]
pub(super) struct Places {
    lists: Vec<List>,
    created: HashSet<Id>,
    /// What comes back.
    deleted: HashSet<Id>,
}

/// Siblings before and after the job.
#[derive(Debug)]
struct List {
    kind: RecordKind,
    parent: Option<Id>,
    /// The leaf that their order is.
    leaf: OrderLeaf,
    siblings: Vec<Sibling>,
    /// Whether the ledger names all of them. Ledgers of before named those alone that the job numbered anew.
    is_whole: bool,
}

/// The leaf that the order of siblings is.
#[derive(Debug)]
struct OrderLeaf {
    /// The ref of its record.
    reference: String,
    /// Its path.
    path: &'static str,
    /// The id of its record; nothing for the parent of modules, which is the workspace.
    id: Option<Id>,
}

/// The numbers of one record.
#[derive(Debug, Clone, Copy)]
struct Sibling {
    id: Id,
    before: i64,
    after: i64,
}

/// What an undo does to the order of siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderChange {
    /// It becomes what it was.
    Restore,
    /// It is what it was.
    Keep,
    /// People have changed it since: it stays, and is listed.
    Leave,
}

impl Places {
    /// Reads a ledger.
    pub(super) fn of(ledger: &[Entry]) -> Places {
        let mut places = Places::default();
        let structures = ledger.iter().filter_map(|entry| match entry {
            Entry::Structure(structure) => Some(structure),
            _ => None,
        });
        let mut numbered: Vec<&Changed> = Vec::new();
        for structure in structures {
            let created = structure.created.iter().map(|made| made.id);
            places.created.extend(created);
            let deleted = structure.deleted.iter().map(|based| based.record.id);
            places.deleted.extend(deleted);
            let changed = structure.changed.iter();
            numbered.extend(changed.filter(|one| one.before.order != one.after.order));
            for siblings in &structure.siblings {
                places.note(siblings);
            }
        }
        for changed in numbered {
            places.number(changed);
        }
        for list in &mut places.lists {
            list.siblings
                .retain(|one| !places.created.contains(&one.id));
        }
        places
    }

    fn list(&mut self, kind: RecordKind, parent: Option<Id>) -> Option<&mut List> {
        let mut lists = self.lists.iter_mut();
        lists.find(|list| (list.kind, list.parent) == (kind, parent))
    }

    /// Adds siblings; of a record that is there already the first counts.
    fn note(&mut self, noted: &Siblings) {
        let siblings = noted.positions.iter().map(|one| Sibling {
            id: one.id,
            before: one.order,
            after: one.order,
        });
        let Some(list) = self.list(noted.kind, noted.parent) else {
            let path = order_path(noted.kind).unwrap_or_default();
            let reference = noted.reference.clone().unwrap_or_default();
            self.lists.push(List {
                kind: noted.kind,
                parent: noted.parent,
                leaf: OrderLeaf {
                    reference,
                    path,
                    id: noted.parent,
                },
                siblings: siblings.collect(),
                is_whole: true,
            });
            return;
        };
        for one in siblings {
            if list.siblings.iter().all(|known| known.id != one.id) {
                list.siblings.push(one);
            }
        }
    }

    /// Adds the numbers that the job gave to a record.
    fn number(&mut self, changed: &Changed) {
        let of = &changed.after;
        let (Some(before), Some(after)) = (changed.before.order, of.order) else {
            return;
        };
        let is_known = self.list(of.kind, of.parent).is_some();
        if !is_known {
            self.lists.push(List {
                kind: of.kind,
                parent: of.parent,
                leaf: OrderLeaf {
                    reference: changed.reference.clone(),
                    path: "order",
                    id: Some(of.id),
                },
                siblings: Vec::new(),
                is_whole: false,
            });
        }
        let Some(list) = self.list(of.kind, of.parent) else {
            return;
        };
        match list.siblings.iter_mut().find(|one| one.id == of.id) {
            // The ledger names it as it stood afterwards.
            Some(known) if known.before == after => known.before = before,
            Some(known) => known.after = after,
            None => list.siblings.push(Sibling {
                id: of.id,
                before,
                after,
            }),
        }
    }

    /// Whether no record is anywhere else than before.
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The orders that people changed since, each with the kind of its parent.
    pub(super) fn left(&self, structure: &Structure) -> Vec<MovedLeaf> {
        let lists = self.lists.iter().filter(|list| {
            let there = AnyRecord::siblings(structure, list.kind, list.parent);
            self.way(list, &there).0 == OrderChange::Leave
        });
        lists.map(|list| list.moved(structure)).collect()
    }

    /// Gives numbers to records in the last changes of an undo, so that all stand where they belong.
    pub(super) fn renumber(&self, structure: &Structure, changes: &mut Vec<Change>) {
        for list in &self.lists {
            let there = after(structure, list, changes);
            for (id, order) in self.numbers(list, &there) {
                let Some(record) = there.iter().find(|one| one.id == id) else {
                    continue;
                };
                let mut to = record.clone();
                to.order = Some(order);
                write(structure, to, changes);
            }
        }
    }

    /// What becomes of an order, and the records of before the job that are there, as they stood then.
    fn way(&self, list: &List, there: &[AnyRecord]) -> (OrderChange, Vec<Sibling>) {
        let mut siblings = list.siblings.clone();
        if !list.is_whole {
            let named = |one: &&AnyRecord| {
                self.created.contains(&one.id) || siblings.iter().any(|known| known.id == one.id)
            };
            let others = there.iter().filter(|one| !named(one));
            let others: Vec<Sibling> = others
                .map(|one| {
                    let order = one.order.unwrap_or_default();
                    Sibling {
                        id: one.id,
                        before: order,
                        after: order,
                    }
                })
                .collect();
            siblings.extend(others);
        }
        siblings.sort_by_key(|one| (one.before, one.id));
        let stood: HashMap<Id, Sibling> = siblings.iter().map(|one| (one.id, *one)).collect();
        let mut now: Vec<&AnyRecord> = there
            .iter()
            .filter(|one| stood.contains_key(&one.id) && !self.deleted.contains(&one.id))
            .collect();
        now.sort_by_key(|one| (one.order, one.id));
        let now: Vec<Id> = now.into_iter().map(|one| one.id).collect();
        let in_order = |number: fn(&Sibling) -> i64| {
            let mut ids = now.clone();
            ids.sort_by_key(|id| (number(&stood[id]), *id));
            ids
        };
        let [before, after] = [in_order(|one| one.before), in_order(|one| one.after)];
        let way = match () {
            () if before == after || before == now => OrderChange::Keep,
            () if after == now => OrderChange::Restore,
            () => OrderChange::Leave,
        };
        (way, siblings)
    }

    /// The numbers that become others.
    fn numbers(&self, list: &List, there: &[AnyRecord]) -> Vec<(Id, i64)> {
        let (way, stood) = self.way(list, there);
        let is_back = |id: &Id| self.deleted.contains(id);
        let mut now: Vec<&AnyRecord> = there.iter().collect();
        now.sort_by_key(|one| (one.order, one.id));
        let now = now.into_iter().map(|one| one.id);
        let now: Vec<Id> = now.filter(|id| !is_back(id)).collect();
        let before: Vec<Id> = stood.iter().map(|one| one.id).collect();
        let mut sequence = now.clone();
        if way == OrderChange::Restore {
            sequence = before
                .iter()
                .filter(|id| now.contains(id))
                .copied()
                .collect();
            insert_after(&mut sequence, &now, |id| !before.contains(id));
        }
        let comes = |id: &Id| is_back(id) && there.iter().any(|one| one.id == *id);
        insert_after(&mut sequence, &before, comes);
        let numbered = sequence.iter().map(|id| {
            let stands = there.iter().find(|one| one.id == *id);
            let stands = stands.and_then(|one| one.order).unwrap_or_default();
            let stood = stood.iter().find(|one| one.id == *id);
            let order = match stood {
                Some(stood) if is_back(id) => stood.before,
                // Whoever gave it another number since meant that place.
                Some(stood) if way != OrderChange::Leave && stands == stood.after => stood.before,
                _ => stands,
            };
            Numbered {
                id: *id,
                stands,
                order,
                gives_way: is_back(id),
            }
        });
        ascending(&numbered.collect::<Vec<_>>())
    }
}

impl List {
    /// The leaf that their order is.
    fn moved(&self, structure: &Structure) -> MovedLeaf {
        let OrderLeaf {
            reference,
            path,
            id,
        } = &self.leaf;
        let kind = match (*path, self.kind) {
            ("order", kind) => kind,
            (_, RecordKind::Column) => RecordKind::Feature,
            (_, RecordKind::Rail) => RecordKind::Module,
            _ => RecordKind::Workspace,
        };
        MovedLeaf {
            kind: Some(kind),
            reference: reference.clone(),
            uid: None,
            id: Some(id.unwrap_or(structure.workspace.id)),
            path: Some((*path).to_owned()),
            column: None,
            count: None,
        }
    }
}

/// Siblings as they are after some changes.
fn after(structure: &Structure, of: &List, changes: &[Change]) -> Vec<AnyRecord> {
    let mut all = AnyRecord::siblings(structure, of.kind, of.parent);
    for change in changes {
        match change {
            Change::Create(new) => {
                let record = AnyRecord::of_new(new);
                let is_one = (record.kind, record.parent) == (of.kind, of.parent);
                if is_one && all.iter().all(|one| one.id != record.id) {
                    all.push(record);
                }
            }
            Change::Update { to, .. } => {
                let known = all.iter_mut().find(|one| one.id == to.id);
                if let Some(known) = known {
                    known.clone_from(to);
                }
            }
            Change::Remove { id, .. } => all.retain(|one| one.id != *id),
            _ => {}
        }
    }
    all
}

/// Writes a record with its number where the changes have it, else behind them.
fn write(structure: &Structure, record: AnyRecord, changes: &mut Vec<Change>) {
    for change in changes.iter_mut() {
        match change {
            Change::Create(new) if AnyRecord::of_new(new).id == record.id => {
                if let Some(record) = record.new_record() {
                    *new = record;
                }
                return;
            }
            Change::Update { to, .. } if to.id == record.id => {
                **to = record;
                return;
            }
            _ => {}
        }
    }
    if let Some(stands) = AnyRecord::find(structure, record.kind, record.id) {
        changes.push(Change::Update {
            from: Box::new(stands),
            to: Box::new(record),
        });
    }
}
