//! What an upgrade does to the structure (`upgrade` 3.2 to 3.4).
//!
//! Goes in: what the package says of every record, in the destination's references; what the base says
//! of it, from the ledgers; the destination; what somebody decided. Comes out: changes, what the ledger
//! remembers of them, and what there is to report and to decide. Nothing else is read.

mod absent_records;
mod automations;
mod base;
mod base_rows;
mod dangling_references;
mod decided_values;
mod imported;
mod left_records;
mod legacy_jobs;
mod namesakes;
mod not_carried;
mod orders;
mod pairs;
mod record;
mod request;
mod strict;
mod unused_decisions;

use std::collections::HashSet;

use indexmap::IndexMap;

use self::namesakes::Namesakes;
use super::absent_names;
use super::bindings::{Binding, Bindings};
use super::built::{Built, DeclaredRecord};
use super::counterparts::{Counterpart, Counterparts};
use super::earlier_records::EarlierJobs;
use super::recreated::Recreated;
use super::steps::Steps;
use crate::apply::new_names::Names;
use crate::apply::{Minter, NotCarried, Refusal, RowBase, UpgradeWork};
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::model::Manifest;
use crate::package::payload::RawEntry;
use crate::package::reference::{WORKSPACE, used};
use crate::upgrade::{Conflict, ConflictCode, RecordDecision, TrackedDecisions};
use crate::workspace::ledger::{BaseRecord, Changed};
use crate::workspace::{AnyRecord, Change, Id, RecordKind, Structure};

pub(super) use base::Base;
pub(super) use base_rows::base_rows;
pub(super) use imported::imported;
pub(super) use left_records::{LeftRecords, LeftRules};
pub(super) use not_carried::left_out;
pub(super) use pairs::pair;
pub(super) use request::{begin, check_request};
pub(in crate::apply) use unused_decisions::unfit_decision;

/// What records are merged with.
pub(super) struct Merging<'a, 'p> {
    pub(super) base: &'a Base,
    pub(super) pairs: &'a Counterparts,
    pub(super) tracked: &'a TrackedDecisions<'a>,
    pub(super) bindings: &'a Bindings<'p>,
    pub(super) destination: &'a Structure,
    pub(super) definitions: &'a Definitions,
    pub(super) manifest: &'a Manifest,
    pub(super) steps: &'a Steps<'p>,
    pub(super) earlier: &'a EarlierJobs<'a>,
    pub(super) recreated: &'a Recreated,
    /// What the package no longer has.
    pub(super) left: LeftRecords,
    /// Records that go.
    pub(super) gone: &'a HashSet<Id>,
    pub(super) minter: &'a Minter,
    /// The rows of the package.
    pub(super) payloads: &'a [RawEntry<'a>],
    /// Packages that say what rows held.
    pub(super) row_bases: &'a [RowBase<'a>],
    pub(super) built: &'a mut Built<'p>,
    /// What there is to report.
    pub(super) work: UpgradeWork,
    /// Records that stay away although something names them: by their refs, with what names them.
    pub(super) dangling: IndexMap<String, Vec<NotCarried>>,
    /// Records of the destination as they become, by id: with their refs and what they were.
    pub(super) records: IndexMap<Id, MergedRecord>,
    pub(super) refusals: Vec<Refusal>,
}

/// A record of the destination that may change.
pub(super) struct MergedRecord {
    reference: String,
    before: AnyRecord,
    after: AnyRecord,
}

impl Merging<'_, '_> {
    /// Merges everything.
    pub(super) fn run(mut self) -> Result<UpgradeWork, Vec<Refusal>> {
        self.work.renames.clone_from(&self.pairs.renames);
        self.refuse_taken_names();
        self.merge_records();
        self.new_records();
        self.decide_absent();
        self.absent_columns();
        self.list_left();
        let stay = self.merge_orders();
        self.strict_columns();
        self.bases(&stay);
        self.created();
        self.count_words();
        self.changes();
        self.unused();
        self.name_absent();
        self.work.seen = self.tracked.take_seen();
        if self.refusals.is_empty() {
            Ok(self.work)
        } else {
            Err(self.refusals)
        }
    }

    /// A value in the words of the package as the destination holds it.
    fn read(&self, value: &Value) -> Value {
        let text = |text: &str| {
            let reference = used(text)?;
            match self.bindings.of(reference) {
                Binding::Record(record) if record.kind == RecordKind::Column => {
                    Some(record.name.clone())
                }
                Binding::Record(record) => Some(record.id.to_string()),
                Binding::Outside(id) => Some(id.to_string()),
                Binding::Name(name) => Some(name.clone()),
                Binding::Nothing(_) => None,
            }
        };
        match value {
            Value::String(held) => text(held).unwrap_or_else(|| held.clone()).into(),
            Value::List(elements) => {
                Value::List(elements.iter().map(|one| self.read(one)).collect())
            }
            Value::Object(members) => {
                let members = members.iter().map(|(key, one)| {
                    let key = text(key).unwrap_or_else(|| key.clone());
                    (key, self.read(one))
                });
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }

    /// New things whose name a record of people has, and nobody has said what becomes of that.
    fn refuse_taken_names(&mut self) {
        for (reference, record) in &self.pairs.taken {
            let conflict =
                Conflict::of_record(ConflictCode::NameTaken, record.kind, reference, record.id);
            self.work.conflicts.push(conflict);
        }
    }

    /// Merges every record that base, package and destination have.
    fn merge_records(&mut self) {
        let declared: Vec<(String, DeclaredRecord)> = self
            .built
            .declared
            .iter()
            .filter(|(_, declared)| !declared.fresh && !declared.blueprint)
            .map(|(reference, declared)| ((*reference).to_owned(), declared.clone()))
            .collect();
        let namesakes = Namesakes::of(self.base, self.destination);
        for (reference, declared) in declared {
            let here = match self.pairs.counterpart(&reference) {
                _ if reference == WORKSPACE => AnyRecord::of_workspace(&self.destination.workspace),
                // What it is to be stands in a draft already.
                Counterpart::Present(here) => match self.earlier.drafted(here.id) {
                    Some(changed) => changed.after.clone(),
                    None => self.earlier.waiting.of(here).unwrap_or(here).clone(),
                },
                _ => continue,
            };
            self.record(&reference, &declared, here, &namesakes);
        }
    }

    /// A record of the destination, as it becomes.
    fn merged(&mut self, kind: RecordKind, id: Id) -> &mut AnyRecord {
        let destination = self.destination;
        let base = self.base;
        let standing = self.records.entry(id).or_insert_with(|| {
            // Of people's records no more than the position changes.
            let record = AnyRecord::find(destination, kind, id);
            let record = record.unwrap_or_else(|| AnyRecord::of_workspace(&destination.workspace));
            let known = base.get(id).map(|based| based.reference.clone());
            MergedRecord {
                reference: known.unwrap_or_default(),
                after: record.clone(),
                before: record,
            }
        });
        &mut standing.after
    }

    /// Counts what was decided about whole records and is carried out once they are paired. The other words count where
    /// records go and stay away.
    fn count_words(&mut self) {
        let words = [
            RecordDecision::Rename,
            RecordDecision::Adopt,
            RecordDecision::Create,
        ];
        self.work.decided += self.tracked.used_words(&words) as u64;
    }

    /// What is created once more, and columns that tables get which are there.
    fn created(&mut self) {
        for (reference, declared) in self
            .built
            .declared
            .iter()
            .filter(|(_, declared)| declared.fresh)
        {
            if let Counterpart::Recreated(_) = self.pairs.counterpart(reference) {
                self.work.again.push((*reference).to_owned());
            }
            let record = &declared.record;
            let there = record
                .parent
                .is_some_and(|parent| self.destination.feature(parent).is_some());
            if record.kind == RecordKind::Column && there {
                self.work.fresh_columns.insert(record.id);
            }
        }
    }

    /// Names what stays away and was never there: an id that stands for it says nothing to anybody.
    fn name_absent(&mut self) {
        let never = self.built.declared.iter().filter(|(reference, declared)| {
            *self.pairs.counterpart(reference) == Counterpart::LeftOut
                && self.base.get(declared.record.id).is_none()
        });
        let names = Names::new(
            never.map(|(_, declared)| (declared.record.id.to_string(), declared.name.as_str())),
        );
        for left in &mut self.work.not_carried {
            for value in [&mut left.base, &mut left.theirs].into_iter().flatten() {
                *value = names.replace_ids(std::mem::take(value));
            }
        }
    }

    /// The base of what is created or adopted; where an order is undecided, positions keep theirs.
    fn bases(&mut self, stay: &[(RecordKind, Option<Id>)]) {
        for (reference, declared) in &self.built.declared {
            let adopted = matches!(self.pairs.counterpart(reference), Counterpart::Adopted(_));
            if !declared.blueprint && (declared.fresh || adopted) && *reference != WORKSPACE {
                let based = BaseRecord::new(reference, &declared.name, plain(&declared.record));
                self.built.work.entry.base.push(based);
            }
        }
        note_imported(self.base, &mut self.built.work.entry.base);
        for based in &mut self.built.work.entry.base {
            let record = &mut based.record;
            if stay.contains(&(record.kind, record.parent))
                && let Some(before) = self.base.get(record.id)
            {
                record.order = before.record.order;
            }
        }
        let base = self.base;
        let imported: HashSet<Id> = base.imported().map(|based| based.record.id).collect();
        self.built.work.entry.base.retain(|based| {
            let before = base.get(based.record.id);
            before != Some(based) || imported.contains(&based.record.id)
        });
        let adopted: Vec<(String, AnyRecord)> = self
            .built
            .declared
            .keys()
            .filter_map(|reference| match self.pairs.counterpart(reference) {
                Counterpart::Adopted(record) => Some(((*reference).to_owned(), record.clone())),
                _ => None,
            })
            .collect();
        for (reference, record) in adopted {
            self.note_existing(&reference, &record);
        }
    }

    /// The changes of records that are there.
    fn changes(&mut self) {
        self.built.work.entry.leaves = self.work.leaves;
        for (_, standing) in std::mem::take(&mut self.records) {
            let MergedRecord {
                reference,
                before,
                after,
            } = standing;
            if after.kind == RecordKind::Workflow {
                self.automation(&reference, before, after);
                continue;
            }
            if after == before {
                continue;
            }
            if let Some(column) = self.built.columns.get_mut(reference.as_str()) {
                column.column.label = after.label.clone().unwrap_or_default();
                column.column.column_type = after.own_type.clone().unwrap_or_default();
                column.column.default_component = after.component.clone().unwrap_or_default();
                column.column.config = after.config.as_object().cloned().unwrap_or_default();
            }
            self.built.work.changes.push(Change::Update {
                from: Box::new(before.clone()),
                to: Box::new(after.clone()),
            });
            self.built.work.entry.changed.push(Changed {
                reference,
                before,
                after,
                draft: None,
            });
        }
    }
}

/// Puts what was imported with a dependency into a ledger: the next job has another package, which does not say it.
fn note_imported(base: &Base, noted: &mut Vec<BaseRecord>) {
    for based in base.imported() {
        if !noted.iter().any(|one| one.record.id == based.record.id) {
            noted.push(based.clone());
        }
    }
}

/// A record without marks.
pub(super) fn plain(marked: &AnyRecord) -> AnyRecord {
    AnyRecord {
        config: absent_names::plain(&marked.config),
        ..marked.clone()
    }
}
