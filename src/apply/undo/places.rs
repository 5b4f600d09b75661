//! Where records belong that an undo brings back: among their siblings, by position and not by number (`upgrade` 3.3.2).
//!
//! In: the ledger of the job, which says how siblings stood when one of them went, and the last unit of the undo. Out:
//! that unit with numbers by which each record stands after the sibling that it stood after. Where nobody has moved
//! anything all numbers are those of before; what people numbered anew keeps its number unless there is no room.

use std::collections::{HashMap, HashSet};

use crate::upgrade::insert_after;
use crate::workspace::ledger::{Entry, Siblings};
use crate::workspace::{AnyRecord, Change, Id, Structure};

/// Where they belong.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Siblings as they stood before the job, by kind and parent.
    before: Vec<Siblings>,
    /// What comes back.
    deleted: HashSet<Id>,
}

impl Places {
    /// Reads a ledger.
    pub(super) fn of(ledger: &[Entry]) -> Places {
        let mut places = Places::default();
        // Numbers that the job gave to records, and those before.
        let mut moved: HashMap<Id, [i64; 2]> = HashMap::new();
        let mut created = HashSet::new();
        for entry in ledger {
            let Entry::Structure(structure) = entry else {
                continue;
            };
            created.extend(structure.created.iter().map(|made| made.id));
            for changed in &structure.changed {
                let [before, after] = [&changed.before, &changed.after].map(|side| side.order);
                if let (Some(before), Some(after)) = (before, after) {
                    let of = moved.entry(changed.after.id).or_insert([before, after]);
                    of[1] = after;
                }
            }
            let deleted = structure.deleted.iter();
            places.deleted.extend(deleted.map(|based| based.thing.id));
            for siblings in &structure.siblings {
                places.note(siblings);
            }
        }
        for siblings in &mut places.before {
            siblings.positions.retain(|one| !created.contains(&one.id));
            for one in &mut siblings.positions {
                // Whoever moved it since meant that place.
                if let Some([before, after]) = moved.get(&one.id)
                    && one.order == *after
                {
                    one.order = *before;
                }
            }
            siblings.positions.sort_by_key(|one| (one.order, one.id));
        }
        places
    }

    /// Adds siblings; of a record that is there already the first counts.
    fn note(&mut self, siblings: &Siblings) {
        let of = (siblings.kind, siblings.parent);
        let mut known = self.before.iter_mut();
        let Some(known) = known.find(|one| (one.kind, one.parent) == of) else {
            self.before.push(siblings.clone());
            return;
        };
        for one in &siblings.positions {
            if known.positions.iter().all(|position| position.id != one.id) {
                known.positions.push(*one);
            }
        }
    }

    /// Whether nothing comes back that has a place.
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// Gives numbers to records in the last changes of an undo, so that all stand where they belong.
    pub(super) fn renumber(&self, structure: &Structure, changes: &mut Vec<Change>) {
        for siblings in &self.before {
            let there = after(structure, siblings, changes);
            for (id, order) in self.numbers(siblings, &there) {
                let Some(record) = there.iter().find(|one| one.id == id) else {
                    continue;
                };
                let mut to = record.clone();
                to.order = Some(order);
                write(structure, to, changes);
            }
        }
    }

    /// The numbers that become others.
    fn numbers(&self, before: &Siblings, there: &[AnyRecord]) -> Vec<(Id, i64)> {
        let number = |id: &Id| {
            let record = there.iter().find(|one| one.id == *id);
            record.and_then(|one| one.order).unwrap_or_default()
        };
        let is_back = |id: &Id| self.deleted.contains(id);
        let mut sequence: Vec<Id> = there.iter().map(|one| one.id).collect();
        sequence.sort_by_key(|id| (number(id), *id));
        let back: HashSet<Id> = sequence.iter().copied().filter(is_back).collect();
        sequence.retain(|id| !back.contains(id));
        let order: Vec<Id> = before.positions.iter().map(|one| one.id).collect();
        insert_after(&mut sequence, &order, |id| back.contains(id));
        let mut numbers = Vec::new();
        let mut last: Option<Placed> = None;
        for (at, id) in sequence.iter().enumerate() {
            let stands = number(id);
            let follows = |order: i64| last.is_none_or(|last| last.precedes(order, *id));
            let mut later = sequence.iter().skip(at + 1);
            let next = later.find(|next| !back.contains(next));
            let fits = next.is_none_or(|next| (stands, *id) < (number(next), *next));
            let order = match (last, next) {
                _ if follows(stands) && (fits || !back.contains(id)) => stands,
                (Some(last), _) => last.order.saturating_add(1),
                (None, Some(next)) => number(next).saturating_sub(1),
                (None, None) => stands,
            };
            if order != stands {
                numbers.push((*id, order));
            }
            last = Some(Placed {
                order,
                id: *id,
                moved: order != stands,
            });
        }
        numbers
    }
}

/// A sibling that has its number.
#[derive(Clone, Copy)]
struct Placed {
    order: i64,
    id: Id,
    moved: bool,
}

impl Placed {
    /// Whether another one comes after it by its number. One that was moved shares its number with nobody.
    fn precedes(self, order: i64, id: Id) -> bool {
        self.order < order || !self.moved && (self.order, self.id) < (order, id)
    }
}

/// Siblings as they are after some changes.
fn after(structure: &Structure, of: &Siblings, changes: &[Change]) -> Vec<AnyRecord> {
    let mut all = AnyRecord::siblings(structure, of.kind, Some(of.parent));
    for change in changes {
        match change {
            Change::Create(new) => {
                let record = AnyRecord::of_new(new);
                let is_one = (record.kind, record.parent) == (of.kind, Some(of.parent));
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
