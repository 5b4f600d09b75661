//! What an upgrade does to the structure (`upgrade` 3.2 to 3.4).
//!
//! Goes in: what the package says of every record, in the destination's references; what the base says
//! of it, from the ledgers; the destination; what somebody decided. Comes out: changes, what the ledger
//! remembers of them, and what there is to report and to decide. Nothing else is read.

mod absent;
mod automations;
mod base;
mod base_rows;
mod left;
mod legacy_jobs;
mod orders;
mod pairs;
mod pointing;
mod strict;
mod unused;
mod valued;

use std::cmp::Ordering;
use std::collections::HashSet;

use indexmap::IndexMap;

use super::bindings::{Binding, Bindings};
use super::earlier::EarlierJobs;
use super::marks;
use super::recreated::Recreated;
use super::steps::Steps;
use super::structure::{Built, DeclaredRecord};
use crate::apply::new_names::Names;
use crate::apply::{JobHistory, Minter, NotCarried, Refusal, Request, RowBase, UpgradeWork};
use crate::check::Checked;
use crate::definitions::Definitions;
use crate::json::Value;
use crate::package::model::Manifest;
use crate::package::payload::RawEntry;
use crate::package::reference::{WORKSPACE, used};
use crate::package::semver::compare;
use crate::problem::Code;
use crate::upgrade::{
    BaseView, Conflict, ConflictCode, KeptRecord, Merge, RecordDecision, Sides, TrackedDecisions,
    Update, differing,
};
use crate::workspace::ledger::{BaseRecord, Changed, Created, Entry};
use crate::workspace::{AnyRecord, Change, Id, RecordKind, Structure};

pub(super) use base::Base;
pub(super) use base_rows::base_rows;
pub(super) use pairs::{Counterpart, Counterparts};
pub(in crate::apply) use unused::unfit_decision;

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
    pub(super) minter: &'a Minter,
    /// The rows of the package.
    pub(super) payloads: &'a [RawEntry<'a>],
    /// Packages that say what rows held.
    pub(super) row_bases: &'a [RowBase<'a>],
    pub(super) built: &'a mut Built<'p>,
    /// What there is to report.
    pub(super) work: UpgradeWork,
    /// Records that stay away although something names them: by their refs, with what names them.
    pub(super) pointing: IndexMap<String, Vec<NotCarried>>,
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
        for (reference, thing) in &self.pairs.taken {
            let conflict =
                Conflict::whole(ConflictCode::NameTaken, thing.kind, reference, thing.id);
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
            self.record(&reference, &declared, here);
        }
    }

    fn record(&mut self, reference: &str, declared: &DeclaredRecord, ours: AnyRecord) {
        let marked = &declared.thing;
        let theirs = plain(marked);
        let nothing = AnyRecord {
            config: crate::json::Object::new().into(),
            ..ours.clone()
        };
        let known = self.base.get(ours.id);
        let mut base = known.map_or(nothing, |based| based.thing.clone());
        // What is created once more is the same record.
        if let Some(config) = self.recreated.apply(&base.config) {
            base.config = config;
        }
        let base = &base;
        let stays = self.destination.row_access_stays;
        let forbidden = |_: &AnyRecord, path: &str| {
            stays && matches!(path, "config.rowAccess" | "config.access")
        };
        let sides = Sides {
            base,
            theirs: &theirs,
            ours: &ours,
        };
        self.check_values(reference, sides);
        let read = |value: &Value| self.read(value);
        let dead = |element: &Value| self.recreated.apply(element).is_some();
        let merge = Merge {
            dead: &dead,
            definitions: self.definitions,
            tracked: self.tracked,
            read: &read,
            forbidden: &forbidden,
            absent: &marks::refs,
            plain: &marks::plain,
        };
        let (mut merged, refused) = merge.merge_valid(reference, sides, marked);
        self.keep_secrets(&mut merged.thing, &ours);
        let (kind, id) = (ours.kind, ours.id);
        if let Some(leaves) = refused {
            self.work.conflicts.push(Conflict {
                leaves,
                ..Conflict::whole(ConflictCode::InvalidTogether, kind, reference, id)
            });
        }
        let renamed = known.and_then(|known| other_name(known, reference, &declared.name));
        self.work.not_carried.extend(renamed);
        self.work.leaves += merged.updates.len() as u64;
        self.work.decided += merged.decided;
        let updates = merged.updates.into_iter();
        self.work
            .update
            .extend(updates.map(|(path, [base, before, after])| Update {
                kind,
                reference: reference.to_owned(),
                id,
                path,
                base: (base != before).then_some(base),
                before,
                after,
            }));
        let conflicts = merged.conflicts.into_iter();
        let conflicts =
            conflicts.map(
                |(path, values)| match self.tracked.measured(reference, &path) {
                    Some(leaf) => leaf.conflict(kind, reference, Some(id), &path, values),
                    None => Conflict::changed(kind, reference, id, &path, values),
                },
            );
        let conflicts: Vec<Conflict> = conflicts.collect();
        for conflict in &conflicts {
            self.losing(conflict);
        }
        self.work.conflicts.extend(conflicts);
        let kept = merged.kept.into_iter();
        self.work
            .kept
            .extend(kept.map(|(path, [base, ours], because)| KeptRecord {
                kind,
                reference: reference.to_owned(),
                id,
                path: Some(path),
                base,
                ours,
                because,
            }));
        for (path, [base, theirs], refs) in merged.pointing {
            for named in refs {
                let entry = not_carried(
                    kind,
                    reference,
                    Some(&path),
                    Some(base.clone()),
                    Some(theirs.clone()),
                );
                self.pointing.entry(named).or_default().push(entry);
            }
        }
        let based = BaseRecord::new(reference, &declared.name, merged.base);
        if known != Some(&based) {
            self.built.work.entry.base.push(based);
        }
        if let Some(known) = self.base.get(id)
            && known.reference != reference
        {
            self.known(reference, &ours);
        }
        let standing = MergedRecord {
            reference: reference.to_owned(),
            after: merged.thing,
            before: ours,
        };
        self.records.insert(id, standing);
    }

    /// Notes that a ref stands for a record that was there.
    fn known(&mut self, reference: &str, thing: &AnyRecord) {
        self.built.work.entry.known.push(Created {
            reference: reference.to_owned(),
            kind: thing.kind,
            id: thing.id,
            name: thing.name.clone(),
        });
    }

    /// A record of the destination, as it becomes.
    fn merged(&mut self, kind: RecordKind, id: Id) -> &mut AnyRecord {
        let destination = self.destination;
        let base = self.base;
        let standing = self.records.entry(id).or_insert_with(|| {
            // Of people's records no more than the position changes.
            let thing = AnyRecord::find(destination, kind, id);
            let thing = thing.unwrap_or_else(|| AnyRecord::of_workspace(&destination.workspace));
            let known = base.get(id).map(|based| based.reference.clone());
            MergedRecord {
                reference: known.unwrap_or_default(),
                after: thing.clone(),
                before: thing,
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
            let thing = &declared.thing;
            let there = thing
                .parent
                .is_some_and(|parent| self.destination.feature(parent).is_some());
            if thing.kind == RecordKind::Column && there {
                self.work.fresh_columns.insert(thing.id);
            }
        }
    }

    /// Names what stays away and was never there: an id that stands for it says nothing to anybody.
    fn name_absent(&mut self) {
        let never = self.built.declared.iter().filter(|(reference, declared)| {
            *self.pairs.counterpart(reference) == Counterpart::LeftOut
                && self.base.get(declared.thing.id).is_none()
        });
        let names = Names::new(
            never.map(|(_, declared)| (declared.thing.id.to_string(), declared.name.as_str())),
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
                let based = BaseRecord::new(reference, &declared.name, plain(&declared.thing));
                self.built.work.entry.base.push(based);
            }
        }
        for based in &mut self.built.work.entry.base {
            let thing = &mut based.thing;
            if stay.contains(&(thing.kind, thing.parent))
                && let Some(before) = self.base.get(thing.id)
            {
                thing.order = before.thing.order;
            }
        }
        let base = self.base;
        self.built.work.entry.base.retain(|based| {
            let before = base.get(based.thing.id);
            before != Some(based)
        });
        let adopted: Vec<(String, AnyRecord)> = self
            .built
            .declared
            .keys()
            .filter_map(|reference| match self.pairs.counterpart(reference) {
                Counterpart::Adopted(thing) => Some(((*reference).to_owned(), thing.clone())),
                _ => None,
            })
            .collect();
        for (reference, thing) in adopted {
            self.known(&reference, &thing);
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

/// A thing without marks.
pub(super) fn plain(marked: &AnyRecord) -> AnyRecord {
    AnyRecord {
        config: marks::plain(&marked.config),
        ..marked.clone()
    }
}

/// A technical name that stays although the package gives the record another one than the base did.
fn other_name(known: &BaseRecord, reference: &str, name: &str) -> Option<NotCarried> {
    let (kind, before) = (known.thing.kind, known.package_name());
    // That of an automation is a leaf, and a workspace is not named by a package.
    let fixed = !matches!(kind, RecordKind::Workflow | RecordKind::Workspace);
    (fixed && before != name).then(|| {
        let [base, theirs] = [before, name].map(|name| Some(Value::from(name)));
        not_carried(kind, reference, Some("name"), base, theirs)
    })
}

pub(super) fn not_carried(
    kind: RecordKind,
    reference: &str,
    path: Option<&str>,
    base: Option<Value>,
    theirs: Option<Value>,
) -> NotCarried {
    NotCarried {
        kind: kind.as_str().to_owned(),
        reference: reference.to_owned(),
        path: path.map(str::to_owned),
        base,
        theirs,
        count: None,
        required: None,
    }
}

/// What a plain apply leaves as it is, although the package says something else than the base.
pub(super) fn left_out(
    base: &Base,
    built: &mut Built<'_>,
    definitions: &Definitions,
) -> Vec<NotCarried> {
    let replaced: HashSet<Id> = built
        .work
        .entry
        .replaced
        .iter()
        .map(|done| done.id)
        .collect();
    let mut left_out = Vec::new();
    let mut bases = Vec::new();
    for (reference, declared) in built
        .declared
        .iter()
        .filter(|(_, declared)| !declared.blueprint)
    {
        let thing = plain(&declared.thing);
        let known = base
            .get(thing.id)
            .filter(|known| known.reference == *reference);
        if declared.fresh || replaced.contains(&thing.id) {
            bases.push(match known {
                // Of what is there the config alone was written.
                Some(known) if !declared.fresh => {
                    let mut known = known.clone();
                    known.thing.config = thing.config;
                    known
                }
                _ => BaseRecord::new(reference, &declared.name, thing),
            });
            continue;
        }
        let Some(known) = known else { continue };
        for (path, base, theirs) in differing(&known.thing, &thing, definitions) {
            left_out.push(not_carried(
                thing.kind,
                reference,
                Some(&path),
                Some(base),
                Some(theirs),
            ));
        }
        left_out.extend(other_name(known, reference, &declared.name));
    }
    built.work.entry.base = bases;
    left_out
}

/// What of an upgrade cannot be, known from what is asked alone.
pub(super) fn check_request(
    package: &Checked<'_>,
    request: &Request,
    past: JobHistory<'_>,
) -> Vec<Refusal> {
    let refuse = |code, detail: String| vec![Refusal::new(code, detail)];
    if !request.upgrade {
        let members = request.terms.members();
        let members: Vec<String> = members
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        if !members.is_empty() {
            let detail = format!(
                "{} without `upgrade`: ask for an upgrade, or leave that out.",
                members.join(", ")
            );
            return refuse(Code::ValidationFailed, detail);
        }
        return Vec::new();
    }
    if request.copy {
        let detail = "`copy` makes a second copy, and `upgrade` changes the one that is there. Ask for one of the two.";
        return refuse(Code::ValidationFailed, detail.to_owned());
    }
    let has_base = |entry: &Entry| matches!(entry, Entry::Structure(done) if !done.base.is_empty());
    if past.base.is_none() && !past.entries.iter().any(has_base) {
        let detail = "nothing of this template is applied here, so that there is nothing to upgrade. Apply it (without `upgrade`), or give the package that the workspace was set up by (`base`).";
        return refuse(Code::NoBase, detail.to_owned());
    }
    let semver = |package: &Checked<'_>| package.manifest.catalog.semver.clone();
    let (new, base) = (
        semver(package),
        past.base.and_then(|base| semver(base.package)),
    );
    if let (Some(new), Some(base), false) = (new, base, request.terms.allow_downgrade)
        && compare(&new, &base) == Some(Ordering::Less)
    {
        let detail = format!(
            "the package is version {new}, and {base} is applied here. Upgrade to a newer version, or allow the downgrade (`allowDowngrade`)."
        );
        return refuse(Code::Downgrade, detail);
    }
    Vec::new()
}

/// What is known of an upgrade before anything is merged.
pub(super) fn begin(request: &Request, past: JobHistory<'_>) -> UpgradeWork {
    UpgradeWork {
        base: past.base.map(|base| BaseView {
            job_id: base.job,
            semver: base.package.manifest.catalog.semver.clone(),
        }),
        terms: request.terms.clone(),
        ..UpgradeWork::default()
    }
}
