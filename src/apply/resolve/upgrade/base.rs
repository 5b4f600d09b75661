//! What an upgrade starts from, read from the ledgers of the line.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::legacy_jobs::legacy_jobs;
use crate::apply::JobHistory;
use crate::definitions::Definitions;
use crate::workspace::ledger::{BaseRecord, Entry};
use crate::workspace::{AnyRecord, Id, RecordKind, Structure};

/// What earlier jobs said of every record that they made or changed.
#[derive(Debug, Default)]
pub(in crate::apply::resolve) struct Base {
    things: IndexMap<Id, BaseRecord>,
    by_ref: HashMap<(String, RecordKind), Id>,
    /// Records that upgrades took away.
    deleted: Vec<BaseRecord>,
    /// Those that no ledger holds yet.
    imported: HashSet<Id>,
}

impl Base {
    /// Reads the ledgers of the line, oldest first.
    pub(in crate::apply::resolve) fn read(
        past: JobHistory<'_>,
        destination: &Structure,
        definitions: &Definitions,
    ) -> Base {
        let mut base = Base::default();
        let mut read = 0;
        let jobs = past.base.map_or(&[][..], |base| base.legacy_jobs).iter();
        for job in jobs.take_while(|job| job.entries.end <= past.entries.len()) {
            let until = past.entries.get(..job.entries.end).unwrap_or_default();
            base.entries(until.get(read..).unwrap_or_default());
            read = until.len();
            for (based, created) in legacy_jobs(job, until, destination, definitions) {
                match base.get(based.record.id) {
                    // Of what was there the config alone was written.
                    Some(known) if !created => {
                        let mut known = known.clone();
                        known.record.config = based.record.config;
                        base.add(&known);
                    }
                    _ => base.add(&based),
                }
            }
        }
        base.entries(past.entries.get(read..).unwrap_or_default());
        base
    }

    fn entries(&mut self, entries: &[Entry]) {
        for entry in entries {
            match entry {
                Entry::Structure(structure) => {
                    for deleted in &structure.deleted {
                        self.remove(deleted.record.id);
                        self.deleted.push(deleted.clone());
                    }
                    for based in &structure.base {
                        self.add(based);
                    }
                }
                Entry::Undoing { .. } | Entry::Undone => *self = Base::default(),
                _ => {}
            }
        }
    }

    /// The same with records that were imported with a dependency, where the ledgers do not know them otherwise.
    #[must_use]
    pub(in crate::apply::resolve) fn with_imported(mut self, records: Vec<BaseRecord>) -> Base {
        for based in records {
            let record = &based.record;
            let was_deleted = self.deleted.iter().any(|one| one.record.id == record.id);
            if !was_deleted
                && self.get(record.id).is_none()
                && self.named(&based.reference, record.kind).is_none()
            {
                self.imported.insert(record.id);
                self.add(&based);
            }
        }
        self
    }

    /// Those that are still to be put into a ledger.
    pub(super) fn imported(&self) -> impl Iterator<Item = &BaseRecord> {
        let records = self.things.values();
        records.filter(|based| self.imported.contains(&based.record.id))
    }

    fn add(&mut self, based: &BaseRecord) {
        let name = (based.reference.clone(), based.record.kind);
        let id = based.record.id;
        if let Some(before) = self.by_ref.insert(name, id)
            && before != id
        {
            self.things.shift_remove(&before);
        }
        if let Some(before) = self.things.insert(id, based.clone())
            && before.reference != based.reference
        {
            self.by_ref.remove(&(before.reference, before.record.kind));
        }
    }

    fn remove(&mut self, id: Id) {
        if let Some(gone) = self.things.shift_remove(&id) {
            self.by_ref.remove(&(gone.reference, gone.record.kind));
        }
    }

    /// What a ref stood for.
    pub(in crate::apply::resolve) fn named(
        &self,
        reference: &str,
        kind: RecordKind,
    ) -> Option<&AnyRecord> {
        let id = self.by_ref.get(&(reference.to_owned(), kind))?;
        self.things.get(id).map(|based| &based.record)
    }

    /// Whether a ref stands for a record, or stood for one that an upgrade took away.
    pub(super) fn knows(&self, reference: &str) -> bool {
        self.ever().any(|based| based.reference == reference)
    }

    /// All records, and those that upgrades took away.
    pub(super) fn ever(&self) -> impl Iterator<Item = &BaseRecord> {
        self.things.values().chain(&self.deleted)
    }

    /// A record by its id.
    pub(super) fn get(&self, id: Id) -> Option<&BaseRecord> {
        self.things.get(&id)
    }

    /// All records, in the order in which they were first recorded.
    pub(in crate::apply::resolve) fn all(&self) -> impl Iterator<Item = &BaseRecord> {
        self.things.values()
    }
}
