//! Which record of the base each record of the package is (`upgrade` 3.2).

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::base::Base;
use crate::apply::resolve::bind::kind_of;
use crate::apply::resolve::counterparts::{Counterpart, Counterparts};
use crate::apply::resolve::earlier_records::EarlierJobs;
use crate::apply::resolve::steps::{StepWork, Steps, text_in, used_in};
use crate::definitions::Definitions;
use crate::json::{Object, Value};
use crate::package::reference::used;
use crate::upgrade::{RecordDecision, Rename, TrackedDecisions};
use crate::workspace::{AnyRecord, Id, RecordKind, Structure};

/// Pairs the records of a package with those of the base.
pub(in crate::apply::resolve) fn pair(
    steps: &Steps<'_>,
    base: &Base,
    destination: &Structure,
    earlier: &EarlierJobs<'_>,
    tracked: &TrackedDecisions<'_>,
    definitions: &Definitions,
) -> Counterparts {
    let refs = steps
        .all
        .iter()
        .filter_map(|work| Some((work.step.reference.as_deref()?, kind_of(work.step.tool)?)));
    let pairing = Pairing {
        steps,
        base,
        destination,
        earlier,
        tracked,
        definitions,
        refs: refs.collect(),
    };
    let mut decided: HashMap<String, Id> = HashMap::new();
    loop {
        let mut pairs = pairing.pass(&decided);
        pairs.renames = pairing.renames(&pairs);
        // What is inside a renamed table is paired once that is.
        let mut found = pairs.renames.iter();
        match found.find(|rename| tracked.says(&rename.reference, RecordDecision::Rename)) {
            Some(rename) => drop(decided.insert(rename.reference.clone(), rename.id)),
            None => return pairs,
        }
    }
}

struct Pairing<'a> {
    steps: &'a Steps<'a>,
    base: &'a Base,
    destination: &'a Structure,
    earlier: &'a EarlierJobs<'a>,
    tracked: &'a TrackedDecisions<'a>,
    definitions: &'a Definitions,
    /// Refs that the package has, with their kinds.
    refs: HashSet<(&'a str, RecordKind)>,
}

impl<'a> Pairing<'a> {
    fn pass(&self, renamed: &HashMap<String, Id>) -> Counterparts {
        let mut pairs = Counterparts::default();
        for work in &self.steps.all {
            let (Some(kind), Some(reference)) =
                (kind_of(work.step.tool), work.step.reference.as_deref())
            else {
                continue;
            };
            if work.blueprint {
                continue;
            }
            let parent = work
                .step
                .tool
                .parent_argument()
                .and_then(|argument| used_in(&work.step.args, argument));
            let above = parent.map(|parent| pairs.counterpart(parent).clone());
            let known = self.base_record(work, kind, reference, above.as_ref(), renamed, &pairs);
            let barred = || self.barred_by(work, kind, &pairs).map(str::to_owned);
            let bar = known.is_none().then(barred).flatten();
            let counterpart = match known {
                Some(record) => {
                    pairs.claim(record.id);
                    self.paired(reference, record, above.as_ref())
                }
                None => match bar {
                    Some(bar) => {
                        pairs.barred.insert(reference.to_owned(), bar);
                        Counterpart::LeftOut
                    }
                    None => {
                        self.counterpart_of_new(work, kind, reference, above.as_ref(), &mut pairs)
                    }
                },
            };
            pairs.insert(reference, counterpart);
        }
        pairs
    }

    /// The record of the base that a record of the package is.
    fn base_record(
        &self,
        work: &StepWork<'_>,
        kind: RecordKind,
        reference: &str,
        above: Option<&Counterpart>,
        renamed: &HashMap<String, Id>,
        pairs: &Counterparts,
    ) -> Option<&'a AnyRecord> {
        if let Some(id) = renamed.get(reference) {
            return self.base.get(*id).map(|based| &based.record);
        }
        let parent = match above {
            Some(
                Counterpart::Present(parent)
                | Counterpart::Removed(parent)
                | Counterpart::Recreated(parent)
                // A plain apply may have created something in it.
                | Counterpart::Adopted(parent),
            ) => Some(parent.id),
            Some(Counterpart::New | Counterpart::LeftOut) => return None,
            None => None,
        };
        let inside = |record: &&AnyRecord| record.parent == parent;
        if let Some(record) = self.base.named(reference, kind) {
            return Some(record).filter(inside);
        }
        let name = text_in(&work.step.args, "name");
        let mut all = self.base.all().filter(|based| {
            let own = (based.reference.as_str(), based.record.kind);
            !self.refs.contains(&own) && !pairs.claims(based.record.id)
        });
        let found = all.find(|based| {
            let record = &based.record;
            record.kind == kind && based.package_name() == name && inside(&record)
        });
        found.map(|based| &based.record)
    }

    /// What a record that the base has is at the destination.
    fn paired(
        &self,
        reference: &str,
        record: &AnyRecord,
        above: Option<&Counterpart>,
    ) -> Counterpart {
        let (kind, id) = (record.kind, record.id);
        match above {
            Some(Counterpart::Removed(_)) => Counterpart::Removed(record.clone()),
            Some(Counterpart::Recreated(_)) => Counterpart::Recreated(record.clone()),
            _ => match AnyRecord::find(self.destination, kind, id) {
                Some(here) if here.parent == record.parent => Counterpart::Present(here),
                _ if self.tracked.says(reference, RecordDecision::Create) => {
                    Counterpart::Recreated(record.clone())
                }
                _ => Counterpart::Removed(record.clone()),
            },
        }
    }

    /// What a new record has to name and that stays away, because somebody decided so.
    fn barred_by<'w>(
        &self,
        work: &StepWork<'w>,
        kind: RecordKind,
        pairs: &Counterparts,
    ) -> Option<&'w str> {
        let args = &work.step.args;
        let config = args.get("config");
        let object = match config {
            Some(Value::List(objects)) => objects.first(),
            config => config,
        };
        let own_type = text_in(args, "type");
        let fields: Vec<_> = match kind {
            RecordKind::View => {
                let known = self.definitions.view_types.get(own_type);
                let fields = known.into_iter().flat_map(|known| &known.config);
                fields.map(|(name, field)| (name.as_str(), field)).collect()
            }
            RecordKind::Column => {
                let component = text_in(args, "defaultComponent");
                let fields = self.definitions.column_fields(own_type, component);
                fields.unwrap_or_default()
            }
            _ => return None,
        };
        let required = fields.into_iter().filter(|(_, field)| field.is_required());
        let mut named = required.filter_map(|(name, _)| used(object?.get(name)?.as_str()?));
        named.find(|reference| self.is_left(reference, pairs))
    }

    /// Whether somebody decided that something which people removed stays away, on its own or with what it was
    /// in.
    fn is_left(&self, reference: &str, pairs: &Counterparts) -> bool {
        if pairs.barred.contains_key(reference) {
            return true;
        }
        let left = |reference: &str| {
            matches!(
                pairs.counterpart(reference),
                Counterpart::Removed(_) | Counterpart::LeftOut
            ) && self.tracked.word(reference) == Some(RecordDecision::Leave)
        };
        let parent = self.steps.creating(reference).and_then(|step| {
            let argument = step.tool.parent_argument()?;
            used_in(&step.args, argument)
        });
        left(reference) || parent.is_some_and(left)
    }

    /// What becomes of a record that the base does not have.
    fn counterpart_of_new(
        &self,
        work: &StepWork<'_>,
        kind: RecordKind,
        reference: &str,
        above: Option<&Counterpart>,
        pairs: &mut Counterparts,
    ) -> Counterpart {
        let (parent, adopts) = match above {
            Some(Counterpart::Present(parent)) => (Some(parent.id), false),
            Some(Counterpart::Adopted(parent)) => (Some(parent.id), true),
            Some(Counterpart::New | Counterpart::Recreated(_)) => return Counterpart::New,
            Some(Counterpart::Removed(_) | Counterpart::LeftOut) => return Counterpart::LeftOut,
            None => (None, false),
        };
        // What a blueprint made is an item by now, and no package says any more what that was.
        let made = self.earlier.made(reference, kind, parent, self.destination);
        let made = made.and_then(|(made, _)| AnyRecord::find(self.destination, kind, made.id));
        if let Some(made) = made.filter(|made| self.base.get(made.id).is_none()) {
            return Counterpart::Adopted(made);
        }
        // The name of an automation is free text.
        if matches!(kind, RecordKind::Workflow | RecordKind::Workspace) {
            return Counterpart::New;
        }
        let args = &work.step.args;
        let same = |record: &AnyRecord| {
            record.name == text_in(args, "name")
                && of_type(args, kind) == record.own_type.as_deref()
                && self.base.get(record.id).is_none()
        };
        let siblings = AnyRecord::siblings(self.destination, kind, parent);
        let Some(theirs) = siblings.into_iter().find(same) else {
            return Counterpart::New;
        };
        if adopts || self.tracked.says(reference, RecordDecision::Adopt) {
            return Counterpart::Adopted(theirs);
        }
        if !self.tracked.says(reference, RecordDecision::Create) {
            pairs.taken.push((reference.to_owned(), theirs));
        }
        Counterpart::New
    }

    /// Pairs of one that is gone from the package and one that is new in it.
    fn renames(&self, pairs: &Counterparts) -> Vec<Rename> {
        type Group = (RecordKind, Option<Id>, Option<String>);
        let mut new: IndexMap<Group, Vec<&str>> = IndexMap::new();
        for work in self.steps.all.iter().filter(|work| !work.blueprint) {
            let (Some(kind), Some(reference)) =
                (kind_of(work.step.tool), work.step.reference.as_deref())
            else {
                continue;
            };
            if *pairs.counterpart(reference) != Counterpart::New {
                continue;
            }
            let args = &work.step.args;
            let parent = work.step.tool.parent_argument();
            let parent = match parent.and_then(|argument| used_in(args, argument)) {
                None => None,
                Some(parent) => match pairs.counterpart(parent) {
                    Counterpart::Present(parent) => Some(parent.id),
                    _ => continue,
                },
            };
            let group = (kind, parent, of_type(args, kind).map(str::to_owned));
            new.entry(group).or_default().push(reference);
        }
        let gone = |(kind, parent, own_type): &Group| -> Vec<_> {
            let all = self.base.all().filter(|based| {
                let record = &based.record;
                (record.kind, &record.parent, &record.own_type) == (*kind, parent, own_type)
                    && !pairs.claims(record.id)
                    && AnyRecord::find(self.destination, *kind, record.id).is_some()
            });
            all.collect()
        };
        let renames = new.iter().filter_map(|(group, refs)| {
            let (&[reference], &[from]) = (refs.as_slice(), gone(group).as_slice()) else {
                return None;
            };
            Some(Rename {
                kind: group.0,
                reference: reference.to_owned(),
                from: from.reference.clone(),
                id: from.record.id,
            })
        });
        renames.collect()
    }
}

fn of_type(args: &Object, kind: RecordKind) -> Option<&str> {
    match kind {
        RecordKind::Column | RecordKind::View => Some(text_in(args, "type")),
        _ => None,
    }
}
